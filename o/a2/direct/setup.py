"""Builds the extension a2_custom_lib: bisheng compiles the kernel, the host's C++ compiler the binding. Never run on an NPU by its author."""
import os
import subprocess

import torch
import torch_npu
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

home = os.environ["ASCEND_HOME_PATH"]
npu = os.path.dirname(os.path.abspath(torch_npu.__file__))
here = os.path.dirname(os.path.abspath(__file__))
os.chdir(here)  # wherever it is called from
kernel = os.path.join(here, "liba2_custom_kernel.so")
subprocess.check_call(["bisheng", "--npu-arch=dav-2201", "-xasc", "-std=c++17", "-fPIC", "-shared", "-O2", "-o", kernel,
                       os.path.join(here, "a2_custom_kernel.cpp")])
setup(
    name="a2_custom_lib",
    ext_modules=[CppExtension(
        "a2_custom_lib", ["a2_custom_binding.cpp"],
        include_dirs=[os.path.join(home, "include"), os.path.join(npu, "include")],
        library_dirs=[os.path.join(home, "lib64"), os.path.join(npu, "lib"), here],
        libraries=["torch_npu", "ascendcl", "tiling_api", "platform", "a2_custom_kernel"],
        runtime_library_dirs=[here],
        extra_compile_args=["-std=c++17"])],
    cmdclass={"build_ext": BuildExtension},
)

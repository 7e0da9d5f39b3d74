"""Traced modules, evaluated by the float64 reference, against the same modules run by a real PyTorch.

usage: crosscheck.py REFDUMP MODULE.py...     exit status 77: no PyTorch here
"""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy
    import torch
except ImportError as e:
    print("skipped: %s (Debian: apt install python3-torch)" % e)
    sys.exit(77)
warnings.simplefilter("ignore")


def load(path):
    spec = importlib.util.spec_from_file_location("module_under_test", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def flat(x):
    if isinstance(x, torch.Tensor):
        return [x]
    x = x.values() if isinstance(x, dict) else x if isinstance(x, (list, tuple)) else []
    return [t for y in x for t in flat(y)]


def tolerance(dtype):
    """Of a result that PyTorch rounds on the way and the reference does not."""
    return {torch.float64: 1e-8, torch.float32: 1e-6, torch.float16: 2e-3, torch.bfloat16: 2e-2}.get(dtype, 0)


def check(refdump, path):
    with tempfile.TemporaryDirectory() as d:
        done = subprocess.run([refdump, path, d], capture_output=True, text=True)
        if done.returncode:
            print(done.stderr)
            return 1
        with open(os.path.join(d, "desc.json")) as f:
            desc = json.load(f)
        inputs = [torch.from_numpy(numpy.fromfile("%s/in%d.bin" % (d, i), dtype=x["dtype"]).reshape(x["shape"]))
                  for i, x in enumerate(desc["inputs"])]
        wants = flat(load(path).Model()(*inputs))
        bad = len(wants) != len(desc["outputs"])
        for i, want in enumerate(wants):
            floating = want.dtype.is_floating_point
            got = numpy.fromfile("%s/out%d.bin" % (d, i), dtype="float64" if floating else "int64")
            want_np = want.detach().double().numpy() if floating else want.long().numpy()
            said = desc["outputs"][i]
            tol = tolerance(want.dtype)
            same = list(want.shape) == said["shape"] and str(want.dtype) == "torch." + said["dtype"] and got.size == want_np.size
            if not same or not numpy.allclose(got, want_np.ravel(), rtol=tol, atol=tol, equal_nan=True):
                print("%s: output %d differs: %s %s, PyTorch has %s %s" % (path, i, said, got[:4], want.dtype, want_np.ravel()[:4]))
                bad += 1
        print("%s: %d outputs, %d differ" % (os.path.basename(path), len(wants), bad))
        return bad


sys.exit(1 if sum(check(sys.argv[1], p) for p in sys.argv[2:]) else 0)

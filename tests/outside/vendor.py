#!/usr/bin/env python3
"""Runs vector kernels of the public operator repositories, unmodified, in the simulator and compares them with numpy.

    tests/outside/vendor.py --build BUILD --ops-nn DIR --ops-math DIR --opbase DIR [--work DIR] [operator ...]

BUILD is a build folder of this project. The three folders are checkouts of the public repositories ops-nn, ops-math and opbase
(the last has the log and helper headers that the others include). Nothing of them is copied into the project: sources are staged in
the work folder as CANN's build stages them (op_kernel folders side by side, so that #include "../other_op/x.h" finds its file).
The operator's own tiling code runs, on the headers in sim/include. Exit 0 if every case matches and raises no unexplained fault.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import values  # noqa: E402
import vendor_cases  # noqa: E402

REGBASE = re.compile(r"arch35|regbase|_apt\.|op_api|fallback|310[pP]|kirin|_cache_tiling|simplified")


def snake(name):
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


class Repositories:
    def __init__(self, args):
        self.roots = [os.path.abspath(args.ops_nn), os.path.abspath(args.ops_math)]
        self.opbase = os.path.abspath(args.opbase)
        self.work = os.path.abspath(args.work)
        self.build = os.path.abspath(args.build)
        self.folders = {}
        for root in self.roots:
            for d in glob.glob(root + "/*/*/") + glob.glob(root + "/experimental/*/*/"):
                if os.path.isdir(d + "op_kernel"):
                    name = os.path.basename(d[:-1])
                    self.folders.setdefault(("experimental/" if "/experimental/" in d else "") + name, d[:-1])

    def stage(self, op, folder):
        """op_kernel of the operator, and of every folder that its sources name by ../."""
        base = self.work + "/stage"
        todo, done = [(op, folder)], set()
        while todo:
            name, src = todo.pop()
            if name in done:
                continue
            done.add(name)
            to = f"{base}/{op}/{name}"
            shutil.rmtree(to, ignore_errors=True)
            shutil.copytree(src + "/op_kernel", to)
            for f in glob.glob(to + "/**/*", recursive=True):
                if os.path.isfile(f):
                    for other in re.findall(r'#include "(?:\.\./)+(\w+)/', open(f, errors="replace").read()):
                        sibling = os.path.dirname(src) + "/" + other
                        if os.path.isdir(sibling + "/op_kernel"):
                            todo.append((other, sibling))
                        elif other in self.folders:
                            todo.append((other, self.folders[other]))
        return f"{base}/{op}/{op}"

    def host(self, folder, case):
        """The operator's definition, tiling and shape functions, and what opbase has beside its headers."""
        files = []
        for pattern in ("", "arch22/", "op_tiling/"):
            files += sorted(glob.glob(f"{folder}/op_host/{pattern}*.cpp"))
        files += [os.path.normpath(folder + "/" + f) for f in case.get("host", [])]
        skip = case.get("skip")
        files = [f for f in files if not REGBASE.search(f[len(folder):]) and not (skip and re.search(skip, f))]
        base = self.opbase + "/src/op_common/"
        return files + [base + f for f in ("log/log.cpp", "op_host/tiling_util.cpp", "op_host/util/shape_util.cpp",
                                           "op_host/util/math_util.cpp")]

    def includes(self, folder):
        nn, math = self.roots
        base = self.opbase + "/include"
        own = nn if folder.startswith(nn) else math
        return [folder + "/op_host", own + "/common/inc", own, own + "/common/inc/op_kernel", base, base + "/op_common",
                base + "/op_common/op_host", self.opbase + "/src", self.opbase + "/pkg_inc", self.opbase + "/pkg_inc/op_common",
                os.path.dirname(folder) + "/foreach_utils/op_host", ROOT + "/sim/include/exe_graph"]


def runner(build, work):
    """The program that makes one run, linked with the libraries of the build folder."""
    out, src = work + "/kernel_run", HERE + "/kernel_run.c"
    libs = [build + f"/libac_{m}.a" for m in ("sim", "isa", "base")]
    if os.path.exists(out) and all(os.path.getmtime(out) > os.path.getmtime(f) for f in libs + [src]):
        return out
    subprocess.run(["cc", "-D_GNU_SOURCE", "-O1", "-I" + ROOT + "/src", "-rdynamic", src, "-o", out, "-Wl,--whole-archive",
                    libs[0], "-Wl,--no-whole-archive", *libs[1:], "-ljansson", "-lseccomp", "-lm", "-ldl", "-lpthread"],
                   check=True)
    return out


def run_case(repos, exe, op, case):
    where = case.get("folder", op)
    folder = repos.folders[where]
    name = os.path.basename(where)
    work = f"{repos.work}/{op}"
    os.makedirs(work, exist_ok=True)
    kernel = repos.stage(name, folder) + "/" + case.get("kernel", name + ".cpp")
    lines = [f"op {case.get('entry', name)}", f"op_type {case['type']}", f"kernel {kernel}",
             f"chip {case.get('chip', 'ascend910b2')}", f"timeout {case.get('timeout', 200)}"]
    lines += ["host " + f for f in repos.host(folder, case)]
    lines += ["inc " + d for d in repos.includes(folder) + [os.path.dirname(kernel), os.path.dirname(os.path.dirname(kernel))]]
    if "blocks" in case:
        lines.append("blocks %d %d" % case["blocks"])
    outs = []
    for k, (tensor, kind) in enumerate(values.flatten(case["tensors"])):
        path = f"{work}/t{k}.bin"
        if kind.split(":")[0] in ("in", "inout"):
            tensor.data.tofile(path)
        if kind.split(":")[0] in ("out", "inout"):
            outs.append((tensor, path))
        shape = " ".join(map(str, tensor.shape))
        lines.append(f"tensor {tensor.name} {tensor.dtype} {kind} {path} {len(tensor.shape)} {shape}")
    for key, v in case.get("attrs", {}).items():
        lines.append("attr " + key + " " + values.attr_text(v))
    spec = work + "/spec"
    open(spec, "w").write("\n".join(lines) + "\n")
    env = dict(os.environ, ASCENDCRAFT_HOME=ROOT)
    r = subprocess.run([exe, spec], capture_output=True, text=True, env=env)
    return r.stdout + r.stderr, outs


def judge(case, text, outs):
    if not text.startswith("STATUS ran"):
        return False, text
    faults = [x for x in text.split("\n") if x.startswith("FAULT")]
    known = case.get("faults", [])
    strange = [x for x in faults if not any(k in x for k in known)]
    notes, ok = [], not strange
    for tensor, path in outs:
        if tensor.golden is None or "blocks" in case:
            continue
        bad = values.compare(tensor, np.fromfile(path, dtype=values.STORE[tensor.dtype]).reshape(tensor.shape))
        if bad:
            ok = False
            notes.append(bad)
    return ok, "\n".join([text.split("\n")[0]] + notes + faults)


def main():
    p = argparse.ArgumentParser()
    for n in ("build", "ops-nn", "ops-math", "opbase"):
        p.add_argument("--" + n, required=True)
    p.add_argument("--work", default="/tmp/ascendcraft-outside")
    p.add_argument("operators", nargs="*")
    args = p.parse_args()
    os.makedirs(args.work, exist_ok=True)
    repos = Repositories(args)
    exe = runner(repos.build, repos.work)
    failed = 0
    for op, cases in vendor_cases.CASES.items():
        if args.operators and op not in args.operators:
            continue
        for label, make in cases:
            case = make()
            text, outs = run_case(repos, exe, op, case)
            ok, notes = judge(case, text, outs)
            failed += not ok
            print(("ok   " if ok else "FAIL ") + f"{op} {label}: " + notes.strip().replace("\n", "\n       ")[:3000], flush=True)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())

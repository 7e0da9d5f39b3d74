#!/usr/bin/python3
"""Runs vector kernels of the public operator repositories, unmodified, in the simulator and compares them with numpy.

    tests/outside/vendor.py [--build BUILD] --ops-nn DIR --ops-math DIR --opbase DIR [--work DIR] [operator ...]

BUILD is a build folder of this project, with `ninja simrun` made. The three folders are checkouts of the public repositories ops-nn, ops-math and opbase
(the last has the log and helper headers that the others include). Nothing of them is copied into the project: sources are staged in
the work folder as CANN's build stages them (op_kernel folders side by side, so that #include "../other_op/x.h" finds its file).
The operator's own tiling code runs, on the headers in sim/include. Exit 0 if every case matches and raises no unexplained fault.
"""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    sys.exit(f"{sys.executable} has no numpy; Debian's /usr/bin/python3 has it from python3-numpy")

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import values  # noqa: E402
import vendor_cases  # noqa: E402
import vendor_cases_math  # noqa: E402, F401

NOT_TILING = re.compile(r"op_api|fallback|_cache_tiling|_proto\.")


class Repositories:
    def __init__(self, args):
        self.roots = [os.path.abspath(args.ops_nn), os.path.abspath(args.ops_math)]
        self.opbase = os.path.abspath(args.opbase)
        self.work = os.path.abspath(args.work)
        self.build = os.path.abspath(args.build)
        self.folders = {}
        self.staged = set()
        for root in self.roots:
            for d in glob.glob(root + "/*/*/") + glob.glob(root + "/experimental/*/*/"):
                if os.path.isdir(d + "op_kernel"):
                    name = ("experimental/" if "/experimental/" in d else "") + os.path.basename(d[:-1])
                    self.folders.setdefault(name, d[:-1])
                    self.folders.setdefault(("ops-nn/" if root == self.roots[0] else "ops-math/") + name, d[:-1])

    def stage(self, op, folder):
        """op_kernel of the operator, and of every folder that its sources name by ../."""
        base = self.work + "/stage"
        if op in self.staged:
            return f"{base}/{op}/{op}"
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
        self.staged.add(op)
        return f"{base}/{op}/{op}"

    def host(self, folder, case):
        """The operator's definition, tiling and shape functions, and what opbase has beside its headers."""
        files = []
        # where several are there, each registers the operator, and CANN's build takes the one of the chip
        arch = next((a + "/" for a in ("arch22", "arch32") if os.path.isdir(f"{folder}/op_host/{a}")), "arch35/")
        for pattern in ("", arch, "op_tiling/"):
            files += sorted(glob.glob(f"{folder}/op_host/{pattern}*.cpp"))
        files += [os.path.normpath(folder + "/" + f) for f in case.get("host", [])]
        skip = case.get("skip")
        files = [f for f in files if not NOT_TILING.search(f[len(folder):]) and not (skip and re.search(skip, f))]
        base = self.opbase + "/src/op_common/"
        return files + [base + f for f in case.get("opbase", [])] + [base + f for f in ("log/log.cpp", "op_host/tiling_util.cpp", "op_host/util/shape_util.cpp",
                                           "op_host/util/math_util.cpp")]

    def includes(self, folder):
        nn, math = self.roots
        base = self.opbase + "/include"
        own = nn if folder.startswith(nn) else math
        return [folder + "/op_host", own + "/common/inc", own, own + "/common/inc/op_kernel", base, base + "/op_common",
                base + "/op_common/op_host", self.opbase + "/src", self.opbase + "/pkg_inc", self.opbase + "/pkg_inc/op_common",
                os.path.dirname(folder) + "/foreach_utils/op_host", ROOT + "/sim/include/exe_graph"]


def run_case(repos, op, case):
    """The result of simrun, and the outputs' files."""
    where = case.get("folder", op)
    folder = repos.folders[where]
    name = os.path.basename(where)
    work = f"{repos.work}/{op}"
    os.makedirs(work, exist_ok=True)
    kernel = repos.stage(name, folder) + "/" + case.get("kernel", name + ".cpp")
    host = repos.host(folder, case)
    tensors, outs = [], []
    for k, (tensor, entry) in enumerate(values.flatten(case["tensors"])):
        entry.update(name=tensor.name, dtype=tensor.dtype, shape=tensor.shape)
        if entry["role"] == "out" or tensor.data is not None:
            entry["file"] = f"{work}/t{k}.bin"
        if entry["role"] != "out" and tensor.data is not None:
            tensor.data.tofile(entry["file"])
        if entry["role"] != "in" and not entry["absent"]:
            outs.append((tensor, entry["file"]))
        tensors.append(entry)
    here = os.path.dirname(kernel)
    spec = dict(form="msopgen", op=case.get("entry", name), op_type=case["type"], kernel=kernel, host=host[0], host_more=host[1:],
                include=repos.includes(folder) + [here, os.path.dirname(here)], timeout=case.get("timeout", 200), only_dtypes=True,
                tensors=tensors, attrs=[dict(name=k, **values.attr(v)) for k, v in case.get("attrs", {}).items()])
    for key in ("blocks", "chips", "hazards", "threads"):
        if key in case:
            spec[key] = case[key]
    with open(work + "/spec.json", "w") as f:
        json.dump(spec, f)
    r = subprocess.run([repos.build + "/simrun", work + "/spec.json"], capture_output=True, text=True, env=dict(os.environ, ASCENDCRAFT_HOME=ROOT))
    return (json.loads(r.stdout) if r.stdout.startswith("{") else dict(built=False, diagnostics=r.stdout + r.stderr)), outs


def judge(case, r, outs):
    if not r.get("ran"):
        return False, r.get("refused") or r["diagnostics"]
    faults = [f"{f['kind']} {os.path.basename(f.get('file') or '-')}:{f['line']} x{f['count']}: {f['message']}" for f in r["faults"]]
    notes, ok = [], all(any(re.search(k, x) for k in case.get("faults", [])) for x in faults)
    for tensor, path in outs:
        if tensor.golden is None or "blocks" in case:
            continue
        bad = values.compare(tensor, np.fromfile(path, dtype=values.STORE[tensor.dtype]).reshape(tensor.shape))
        if bad:
            ok = False
            notes.append(bad)
    head = f"{r['block_dim']} blocks, key {r['tiling_key']}, {r.get('time', {}).get('us', 0):.1f} us modelled"
    return ok, "\n".join([head] + notes + faults)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", default=os.environ.get("AC_BUILD", ROOT + "/build"), help="default: AC_BUILD, or build beside tests")
    for n in ("ops-nn", "ops-math", "opbase"):
        p.add_argument("--" + n, required=True)
    p.add_argument("--work", default="/tmp/ascendcraft-outside")
    p.add_argument("--first", action="store_true", help="only the first case of each operator")
    p.add_argument("operators", nargs="*")
    args = p.parse_args()
    if not os.path.exists(args.build + "/simrun"):
        sys.exit(f"there is no {args.build}/simrun: ninja -C {args.build} simrun, or name another folder by --build")
    os.makedirs(args.work, exist_ok=True)
    repos = Repositories(args)
    failed = 0
    for op, cases in vendor_cases.CASES.items():
        if args.operators and op not in args.operators:
            continue
        for label, make in cases[:1] if args.first else cases:
            case = make()
            r, outs = run_case(repos, op, case)
            ok, notes = judge(case, r, outs)
            failed += not ok
            print(("ok   " if ok else "FAIL ") + f"{op} {label}: " + notes.strip().replace("\n", "\n       ")[:3000], flush=True)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())

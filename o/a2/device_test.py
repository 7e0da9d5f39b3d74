#!/usr/bin/env python3
"""Builds this project on a machine with an Ascend NPU, compares it with the original module and times both.

Never run on an NPU by its author. Needs: the CANN toolkit (set_env.sh sourced), torch, torch_npu.
usage: device_test.py ORIGINAL.py [--json OUT.json] [--warmup N] [--runs N]
ORIGINAL.py is the module that the project was made from (class Model, get_inputs, get_init_inputs).
Raw samples of every run go to the JSON file; ratios are computed from them.
"""
import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys

OP = "a2_custom"
CLASS = "Model"
RTOL = 0.0001
HERE = os.path.dirname(os.path.abspath(__file__))


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build():
    direct = os.path.join(HERE, "direct")
    if not os.path.isdir(direct):
        sys.exit("device_test.py uses the direct-launch form: generate the project with --format direct")
    subprocess.check_call([sys.executable, "setup.py", "build_ext", "--inplace"], cwd=direct)
    sys.path.insert(0, direct)
    return load(os.path.join(direct, OP + ".py"), OP + "_model")


def to_device(x, device):
    return x.to(device) if hasattr(x, "to") else x


def outputs(y):
    return [t for part in y for t in outputs(part)] if isinstance(y, (tuple, list)) else [y]


def samples(torch, model, inputs, warmup, runs):
    times = []
    for i in range(warmup + runs):
        start, end = torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)
        start.record()
        model(*inputs)
        end.record()
        torch.npu.synchronize()
        if i >= warmup:
            times.append(start.elapsed_time(end))
    return times


def main():
    p = argparse.ArgumentParser(description="compare and time on an NPU")
    p.add_argument("original")
    p.add_argument("--json", default="device_test.json")
    p.add_argument("--warmup", type=int, default=3)
    p.add_argument("--runs", type=int, default=100)
    a = p.parse_args()
    import torch
    import torch_npu  # noqa: F401
    new, old = build(), load(a.original, "original")
    init = old.get_init_inputs() if hasattr(old, "get_init_inputs") else []
    device = torch.device("npu:0")
    torch.manual_seed(1024)
    reference = getattr(old, CLASS)(*init).to(device)
    torch.manual_seed(1024)
    candidate = new.ModelNew(*init).to(device)
    ok, errors = True, []
    with torch.no_grad():
        for trial in range(5):
            torch.manual_seed(trial)
            inputs = [to_device(x, device) for x in old.get_inputs()]
            want, got = outputs(reference(*inputs)), outputs(candidate(*inputs))
            for w, g in zip(want, got):
                same = w.shape == g.shape and w.dtype == g.dtype
                error = (w.double() - g.double()).abs().max().item() if same and w.numel() else 0.0
                errors.append(error)
                ok = ok and same and torch.allclose(g, w, rtol=RTOL, atol=RTOL, equal_nan=True)
            ok = ok and len(want) == len(got)
        inputs = [to_device(x, device) for x in old.get_inputs()]
        eager = samples(torch, reference, inputs, a.warmup, a.runs)
        ours = samples(torch, candidate, inputs, a.warmup, a.runs)
    report = {"op": OP, "class": "measured", "device": torch.npu.get_device_name(0), "correct": ok, "max_abs_error": max(errors, default=0.0),
              "eager_ms": eager, "kernel_ms": ours, "ratio_of_medians": statistics.median(eager) / statistics.median(ours)}
    with open(a.json, "w") as f:
        json.dump(report, f, indent=1)
    print(f"{OP}: {'correct' if ok else 'WRONG'}, eager {statistics.median(eager):.4f} ms, kernel {statistics.median(ours):.4f} ms (measured), "
          f"raw samples in {a.json}")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())

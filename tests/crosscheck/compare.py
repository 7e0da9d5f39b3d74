"""The float64 reference against PyTorch in float64, for every module of tests/operators (and further folders given as arguments).

usage: compare.py REFDUMP OPERATORS_DIR [NAME ...]
Prints one line an operator and, last, "N passed, N failed". The tolerance is 1e-12 relative; 1e-15 absolute covers results that are
sums of terms of size one which cancel (the rounding of double itself).
"""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

import numpy
import torch

RTOL, ATOL = 1e-12, 1e-15
NUMPY = {"float64": numpy.float64, "float32": numpy.float32, "bool": numpy.bool_, "int64": numpy.int64, "int32": numpy.int32,
         "uint8": numpy.uint8, "int8": numpy.int8, "int16": numpy.int16}


def load(path):
    spec = importlib.util.spec_from_file_location("module_under_test", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def flatten(x):
    if isinstance(x, torch.Tensor):
        return [x]
    if isinstance(x, dict):
        x = x.values()
    return [t for y in x for t in flatten(y)]


def run_torch(module, init, desc, folder):
    torch.manual_seed(0)
    model = module.Model(*init).double()
    inputs, state = [], []
    for i, d in enumerate(desc["inputs"]):
        if d["role"] == "scalar":
            inputs.append(d["value"])
            continue
        data = numpy.fromfile(f"{folder}/in{i}.bin", dtype=NUMPY[d["dtype"]]).reshape(d["shape"])
        (inputs if d["role"] == "tensor" else state).append(torch.from_numpy(data))
    owned = list(model.parameters()) + list(model.buffers())
    floating = [t for t in owned if t.dtype.is_floating_point]
    if len(state) != len(owned):
        owned = floating  # batch counters of integer type are not inputs
    assert len(state) == len(owned), f"{len(owned)} parameters and buffers, traced {len(state)}"
    with torch.no_grad():
        for t, s in zip(owned, state):
            t.copy_(s)
        results = flatten(model(*inputs))
    return results


def check(refdump, root, item):
    path = f"{root}/{item['category']}/{item['name']}.py"
    module = load(path)
    traced = json.loads(subprocess.run([refdump, path, "--shapes"], check=True, capture_output=True, text=True).stdout)
    results = [{"shape": t["shape"], "dtype": t["dtype"]} for t in traced if t["updates"] < 0]
    assert results == item["outputs"], f"traced outputs {results}, expected {item['outputs']}"
    init = item["small_init"] or module.get_init_inputs()
    with tempfile.TemporaryDirectory() as folder:
        command = [refdump, path, folder, "--init", repr(init)]
        for name, shape in item["small"].items():
            command += ["--shape", f"{name}={','.join(map(str, shape))}"]
        subprocess.run(command, check=True, capture_output=True, text=True)
        desc = json.load(open(f"{folder}/desc.json"))
        want = run_torch(module, init, desc, folder)
        worst = 0.0
        for i, (d, t) in enumerate(zip([o for o in desc["outputs"] if o["updates"] < 0], want, strict=True)):
            assert list(t.shape) == d["shape"], f"shape {d['shape']}, PyTorch {list(t.shape)}"
            got = numpy.fromfile(f"{folder}/out{i}.bin", dtype=numpy.float64 if t.dtype.is_floating_point else numpy.int64)
            ref = t.numpy().reshape(-1).astype(got.dtype)
            assert numpy.array_equal(numpy.isnan(got.astype(float)), numpy.isnan(ref.astype(float))), "NaN in different places"
            error = numpy.abs(got - ref)
            bad = error > RTOL * numpy.abs(ref) + ATOL
            if bad.any():
                k = int(numpy.argmax(error - RTOL * numpy.abs(ref)))
                raise AssertionError(f"output {i}, element {k}: {got[k]!r}, PyTorch {ref[k]!r}")
            if got.size:
                worst = max(worst, float((error / numpy.maximum(numpy.abs(ref), ATOL)).max()))
    return worst


def main():
    refdump, root, only = sys.argv[1], sys.argv[2], sys.argv[3:]
    passed = failed = 0
    for item in json.load(open(f"{root}/expected.json")):
        if only and item["name"] not in only:
            continue
        try:
            worst = check(refdump, root, item)
            print(f"ok    {item['name']:40} relative error {worst:.1e}")
            passed += 1
        except subprocess.CalledProcessError as error:
            print(f"FAIL  {item['name']}: refdump: {error.stderr.strip()[-2000:]}")
            failed += 1
        except Exception as error:  # noqa: BLE001 - every failure is one line of the report
            print(f"FAIL  {item['name']}: {error}")
            failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())

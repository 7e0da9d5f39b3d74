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


def tolerance(dtype):
    """PyTorch itself rounds results of narrower types (int / int is float32); the reference does not."""
    return {torch.float32: 2.0**-22, torch.float16: 2.0**-9, torch.bfloat16: 2.0**-6}.get(dtype, RTOL)


def compare(d, t, path, name):
    """Worst relative error of one output; raises where it is out of tolerance."""
    assert list(t.shape) == d["shape"], f"{name}: shape {d['shape']}, PyTorch {list(t.shape)}"
    dtype = str(t.dtype).removeprefix("torch.")
    assert dtype == d["dtype"], f"{name}: dtype {d['dtype']}, PyTorch {dtype}"
    got = numpy.fromfile(path, dtype=numpy.float64 if t.dtype.is_floating_point else numpy.int64)
    ref = t.detach().double().numpy().reshape(-1) if t.dtype.is_floating_point else t.numpy().reshape(-1).astype(numpy.int64)
    assert numpy.array_equal(numpy.isnan(got.astype(float)), numpy.isnan(ref.astype(float))), f"{name}: NaN in different places"
    with numpy.errstate(invalid="ignore"):
        error = numpy.where((got == ref) | (got != got), 0, numpy.abs(got - ref))
        over = error - tolerance(t.dtype) * numpy.abs(ref) - ATOL
    if got.size and over.max() > 0:
        k = int(numpy.argmax(over))
        raise AssertionError(f"{name}, element {k}: {got[k]!r}, PyTorch {ref[k]!r}")
    finite = numpy.isfinite(ref)
    return float((error[finite] / numpy.maximum(numpy.abs(ref[finite]), ATOL)).max()) if finite.any() else 0.0


def evaluate(refdump, path, module, init, shapes):
    """Yields (what refdump says of an output, PyTorch's output, file of ours) for the results of forward."""
    with tempfile.TemporaryDirectory() as folder:
        command = [refdump, path, folder, "--init", repr(init)]
        for name, shape in shapes.items():
            command += ["--shape", f"{name}={','.join(map(str, shape))}"]
        subprocess.run(command, check=True, capture_output=True, text=True)
        desc = json.load(open(f"{folder}/desc.json"))
        want = run_torch(module, init, desc, folder)
        mine = [(i, o) for i, o in enumerate(desc["outputs"]) if o["updates"] < 0]
        assert len(mine) == len(want), f"{len(mine)} outputs, PyTorch {len(want)}"
        for (i, d), t in zip(mine, want):
            yield d, t, f"{folder}/out{i}.bin"


def check(refdump, root, item):
    path = f"{root}/{item['category']}/{item['name']}.py"
    module = load(path)
    traced = json.loads(subprocess.run([refdump, path, "--shapes"], check=True, capture_output=True, text=True).stdout)
    results = [{"shape": t["shape"], "dtype": t["dtype"]} for t in traced if t["updates"] < 0]
    assert results == item["outputs"], f"traced outputs {results}, expected {item['outputs']}"
    init = item["small_init"] or module.get_init_inputs()
    outputs = evaluate(refdump, path, module, init, item["small"])
    return max(compare(d, t, file, f"output {i}") for i, (d, t, file) in enumerate(outputs))


def check_wide(refdump, path):
    """A file of expressions, one output each: failures are listed one by one."""
    module = load(path)
    worst, wrong = 0.0, []
    for expression, (d, t, file) in zip(module.EXPRESSIONS, evaluate(refdump, path, module, [], {})):
        try:
            worst = max(worst, compare(d, t, file, expression))
        except AssertionError as error:
            wrong.append(str(error))
    assert not wrong, "\n      ".join([f"{len(wrong)} of {len(module.EXPRESSIONS)}"] + wrong)
    return worst


def main():
    refdump, root, only = sys.argv[1], sys.argv[2], sys.argv[3:]
    jobs = [(i["name"], lambda i=i: check(refdump, root, i)) for i in json.load(open(f"{root}/expected.json"))]
    wide = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wide")
    for file in sorted(os.listdir(wide)):
        if file.endswith(".py"):
            jobs.append((file.removesuffix(".py"), lambda file=file: check_wide(refdump, os.path.join(wide, file))))
    passed = failed = 0
    for name, job in jobs:
        if only and name not in only:
            continue
        try:
            print(f"ok    {name:40} relative error {job():.1e}")
            passed += 1
        except subprocess.CalledProcessError as error:
            print(f"FAIL  {name}: refdump: {error.stderr.strip()[-2000:]}")
            failed += 1
        except Exception as error:  # noqa: BLE001 - every failure is one line of the report
            print(f"FAIL  {name}: {error}")
            failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())

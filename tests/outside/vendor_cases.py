"""What vendor.py runs: for each operator its tensors in kernel order, attributes and golden values, all written for this project."""
import numpy as np

from values import Tensor, absent, out, uniform

CASES = {}


def case(op, label):
    def add(f):
        CASES.setdefault(op, []).append((label, f))
        return f
    return add


def many(op, *labels):
    """One case for each (label, arguments)."""
    def add(f):
        for label, args in labels:
            CASES.setdefault(op, []).append((label, lambda args=args: f(*args)))
        return f
    return add


# ---- foreach -------------------------------------------------------------------------------------------------------------

@many("foreach_addcdiv_scalar", ("fp32 2 tensors", ("float32", [(7, 1003), (64, 128)])), ("fp16", ("float16", [(33, 1021)])),
      ("bf16", ("bfloat16", [(5, 13), (300, 301)])))
def foreach_addcdiv_scalar(dtype, shapes):
    x1 = [uniform("x1", dtype, s) for s in shapes]
    x2 = [uniform("x2", dtype, s) for s in shapes]
    x3 = [uniform("x3", dtype, s, 1, 2) for s in shapes]
    s = Tensor("scalar", "float16" if dtype == "float16" else "float32", (1,), np.array([1.5]))
    y = [out("y", dtype, a.value + 1.5 * (b.value / c.value)) for a, b, c in zip(x1, x2, x3)]
    return dict(type="ForeachAddcdivScalar", tensors=[(x1, "in"), (x2, "in"), (x3, "in"), (s, "in"), (y, "out")])

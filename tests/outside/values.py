"""Tensors for the runs in this folder: dtypes (bfloat16 as numpy lacks it), files, comparison."""
import numpy as np

STORE = {"float32": np.float32, "float16": np.float16, "bfloat16": np.uint16, "int8": np.int8, "uint8": np.uint8,
         "int16": np.int16, "uint16": np.uint16, "int32": np.int32, "uint32": np.uint32, "int64": np.int64,
         "bool": np.uint8, "float64": np.float64}
# relative and absolute tolerance: some units in the last place of the stored type
TOLERANCE = {"float32": (2e-5, 1e-6), "float16": (2e-3, 1e-4), "bfloat16": (8e-3, 1e-3), "float64": (1e-12, 0)}


def to_bf16(x):
    u = np.ascontiguousarray(x, dtype=np.float32).view(np.uint32).astype(np.uint64)
    nan = np.isnan(x)
    r = ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(nan, np.uint16(0x7FC0), r)


def from_bf16(u):
    return (np.ascontiguousarray(u).astype(np.uint32) << 16).view(np.float32)


def wide(data, dtype):
    """float64 of what is stored; integers stay."""
    if dtype == "bfloat16":
        return from_bf16(data).astype(np.float64)
    return data.astype(np.float64) if dtype.startswith("float") else data


def narrow(x, dtype):
    with np.errstate(over="ignore", invalid="ignore"):
        x = np.asarray(x)
        return to_bf16(x.astype(np.float32)) if dtype == "bfloat16" else x.astype(STORE[dtype])


class Tensor:
    """An input has data; an output a golden (float64 or integers; None: not compared) and, if need be, a tolerance of its own."""

    def __init__(self, name, dtype, shape, data=None, golden=None, tol=None, wrong=0.0):
        self.name, self.dtype, self.shape = name, dtype, tuple(int(s) for s in shape)
        self.data = None if data is None else narrow(data, dtype).reshape(self.shape)
        self.golden, self.tol = golden, tol
        self.absent = False
        self.wrong = wrong  # part of the elements that may differ (a rounding tie of a quantised value)

    @property
    def value(self):
        return wide(self.data, self.dtype)


_rng = np.random.default_rng(7)


def uniform(name, dtype, shape, low=-2.0, high=2.0):
    if dtype.startswith("int") or dtype.startswith("uint") or dtype == "bool":
        return Tensor(name, dtype, shape, _rng.integers(int(low), int(high) + 1, size=shape))
    return Tensor(name, dtype, shape, _rng.random(size=tuple(shape), dtype=np.float32) * np.float32(high - low) + np.float32(low))


def out(name, dtype, golden, shape=None, tol=None, wrong=0.0):
    return Tensor(name, dtype, golden.shape if shape is None else shape, None, golden, tol, wrong)


def unchecked(name, dtype, shape):
    """An output whose contents are not looked at (one that the operator leaves alone)."""
    return Tensor(name, dtype, shape)


def flatten(tensors):
    """[(tensor or list of tensors, "in"|"out"|"inout", number among the outputs)] one by one; a list is one DYNAMIC parameter."""
    n = 0
    for t, role, *at in tensors:
        n += isinstance(t, list)
        for x in t if isinstance(t, list) else [t]:
            yield x, dict(role=role, list=n if isinstance(t, list) else 0, absent=x.absent, output_at=at[0] if at else 0)


def absent(name, dtype="float32"):
    """An optional parameter that is not given."""
    t = Tensor(name, dtype, ())
    t.absent = True
    return t


def attr(v):
    kinds = {bool: "b", int: "i", float: "f", str: "s", list: "li"}
    return dict(kind=kinds[type(v)], value=v)


def compare(t, got):
    x = wide(got, t.dtype)
    y = np.asarray(t.golden).reshape(t.shape)
    with np.errstate(invalid="ignore", over="ignore"):
        if t.dtype in TOLERANCE:
            y = wide(narrow(y, t.dtype), t.dtype)  # what the exact value becomes when stored
            rel, absolute = t.tol or TOLERANCE[t.dtype]
            bad = ~((x == y) | (np.isnan(x) & np.isnan(y)) | (np.abs(x - y) <= absolute + rel * np.abs(y)))
        else:
            bad = np.abs(x.astype(np.int64) - y.astype(np.int64)) > (t.tol or 0)
    n = int(bad.sum())
    if n <= t.wrong * bad.size:
        return ""
    k = int(np.flatnonzero(bad)[0])
    return f"{t.name}: {n} of {bad.size} differ, [{k}] is {x.flat[k]!r}, expected {y.flat[k]!r}"

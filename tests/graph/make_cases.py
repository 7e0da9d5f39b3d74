#!/usr/bin/env python3
"""Writes cases.txt: what PyTorch gives for the operations of ops.def. Needs torch (1.13 or later); run only to add cases.

A line is   op name=argument ... -> result ...   with tensors as dtype[shape] (a letter behind the dtype chooses the values, see
fill()), results as dtype[shape], and behind "=" the values of float64 results. "refused" stands for an exception.
"""
import os, re, sys, warnings
import torch
import torch.nn.functional as F

warnings.filterwarnings("ignore")
torch.manual_seed(0)
HERE = os.path.dirname(os.path.abspath(__file__))
SHORT = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8, "u8": torch.uint8,
         "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "bool": torch.bool}
NAMES = {v: k for k, v in SHORT.items()}
TENSOR = re.compile(r"^(f32|f64|f16|bf16|i8|u8|i16|i32|i64|bool)([+p]|<\d+|=[-\d]+)?\[([\d,]*)\]$")

rows = {}
for m in re.finditer(r'^O\(AC_G_(\w+), (C_\w+), "([^"]*)", "([^"]*)"\)', open(HERE + "/../../src/graph/ops.def").read(), re.M):
    rows[m[1].lower()] = (m[3], m[4])


def fill(kind, dtype, shape, k):
    """The same values as fill() in test_cases.c: k is the tensor's number in the case."""
    n = 1
    for s in shape:
        n *= s
    raw = [(i * 7 + k * 13 + 3) % 19 for i in range(n)]
    if kind == "+":
        v = [r / 4 + 0.25 for r in raw]
    elif kind == "p":
        v = [(r + 1) / 32 for r in raw]
    elif kind and kind[0] == "<":
        v = [r % int(kind[1:]) for r in raw]
    elif kind and kind[0] == "=":
        v = [int(kind[1:])] * n
    elif dtype == torch.bool:
        v = [r % 3 == 0 for r in raw]
    elif dtype.is_floating_point:
        v = [(r - 9) / 4 for r in raw]
    elif dtype == torch.uint8:
        v = raw
    else:
        v = [r - 9 for r in raw]
    return torch.tensor(v, dtype=torch.float64 if dtype.is_floating_point else torch.int64).to(dtype).reshape(shape)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    F.layer_norm(input, normalized_shape, weight)  # the same shapes are refused
    dims = tuple(range(-len(normalized_shape), 0))
    y = input * torch.rsqrt(input.pow(2).mean(dims, keepdim=True) + (torch.finfo(input.dtype).eps if eps is None else eps))
    return y if weight is None else y * weight


def resize_axis(input, dim, size, scale, mode, align_corners, antialias):
    """interpolate along one of the last two dimensions: the other one keeps its size, which resizes nothing."""
    x = input.reshape((1, -1) + tuple(input.shape[-2:])) if dim in (input.dim() - 2, input.dim() - 1) else None
    at = dim - input.dim()
    mode = "bilinear" if mode == "linear" else mode
    corners = {} if mode.startswith("nearest") else {"align_corners": align_corners, "antialias": antialias}
    if size is None:
        y = F.interpolate(x, scale_factor=[scale if at == k else 1.0 for k in (-2, -1)], mode=mode, **corners)
    else:
        y = F.interpolate(x, size=[size if at == k else x.shape[k] for k in (-2, -1)], mode=mode, **corners)
    return y.reshape(tuple(input.shape[:-2]) + tuple(y.shape[-2:]))


def write(input, index, src):
    out = input.clone()
    if out[index].shape != src.shape:
        raise ValueError("shapes differ")
    out[index] = src
    return out


def call(op, args):
    special = {
        "cast": lambda input, dtype: input.to(dtype),
        "norm": lambda input, p=2, dim=None, keepdim=False, dtype=None: torch.linalg.vector_norm(input, p, dim, keepdim, dtype=dtype),
        "slice": lambda input, dim, start=None, end=None, step=1: input[(slice(None),) * (dim % input.dim()) + (slice(start, end, step),)],
        "index": lambda input, indices, at: input[(slice(None),) * at + tuple(indices)],
        "matmul": torch.matmul, "max": lambda input, dim=None, keepdim=False: torch.max(input) if dim is None else torch.max(input, dim) if torch.is_tensor(dim) else torch.max(input, dim, keepdim),
        "min": lambda input, dim=None, keepdim=False: torch.min(input) if dim is None else torch.min(input, dim) if torch.is_tensor(dim) else torch.min(input, dim, keepdim),
        "softmax": F.softmax, "log_softmax": F.log_softmax, "expand": lambda input, size: input.expand(size),
        "repeat": lambda input, repeats: input.repeat(repeats), "squeeze": lambda input, dim=None: input.squeeze() if dim is None else input.squeeze(dim[0]),
        "unfold": lambda input, dimension, size, step: input.unfold(dimension, size, step),
        "view_as": lambda input, other: input.view_as(other), "expand_as": lambda input, other: input.expand_as(other),
        "where_method": lambda input, condition, other: input.where(condition, other),
        "new_zeros": lambda input, size, dtype=None: input.new_zeros(size, dtype=dtype),
        "new_ones": lambda input, size, dtype=None: input.new_ones(size, dtype=dtype),
        "new_full": lambda input, size, fill_value, dtype=None: input.new_full(size, fill_value, dtype=dtype),
        "full": lambda size, fill_value, dtype=None: torch.full(size, fill_value, dtype=dtype),
        "rsub": lambda input, other, alpha=1: torch.rsub(input, other, alpha=alpha),
        "chunk": lambda input, chunks, dim=0: torch.chunk(input, chunks, dim), "pad": lambda input, pad, mode="constant", value=None: F.pad(input, pad, mode, value),
        "split": lambda input, split_size, dim=0: torch.split(input, split_size[0] if len(split_size) == 1 else split_size, dim),
        "scatter": lambda input, dim, index, src, reduce=None: torch.scatter(input, dim, index, src, **({"reduce": reduce} if reduce else {})),
        "flip": lambda input, dims: torch.flip(input, dims),
        "prelu": lambda input, weight: F.prelu(input, weight),
        "rms_norm": rms_norm,  # torch has it from 2.4 on
        "resize_axis": resize_axis,  # a part of interpolate
        # torch.slice_scatter itself mistakes its arguments in 1.13
        "slice_scatter": lambda input, src, dim=0, start=None, end=None, step=1: write(input, (slice(None),) * dim + (slice(start, end, step),), src),
        "all": lambda input, dim=None, keepdim=False: torch.all(input) if dim is None else torch.all(input, dim[0], keepdim),
        "any": lambda input, dim=None, keepdim=False: torch.any(input) if dim is None else torch.any(input, dim[0], keepdim),
        "prod": lambda input, dim=None, keepdim=False, dtype=None: torch.prod(input, dtype=dtype) if dim is None else torch.prod(input, dim, keepdim, dtype=dtype),
        "sum": lambda input, dim=None, keepdim=False, dtype=None: torch.sum(input, dtype=dtype) if dim is None else torch.sum(input, dim, keepdim, dtype=dtype),
        "mean": lambda input, dim=None, keepdim=False, dtype=None: torch.mean(input, dtype=dtype) if dim is None else torch.mean(input, dim, keepdim, dtype=dtype),
        "torch_norm": lambda input, p="fro", dim=None, keepdim=False, dtype=None: torch.norm(input, p, dim, keepdim, dtype=dtype),
        "amax": lambda input, dim=(), keepdim=False: torch.amax(input, dim, keepdim),
        "amin": lambda input, dim=(), keepdim=False: torch.amin(input, dim, keepdim),
        "diag": torch.diag, "t": torch.t, "lp_pool1d": F.lp_pool1d, "dot": torch.inner, "outer": torch.outer,
    }
    for op1 in ("var", "std", "var_mean"):
        special[op1] = (lambda f: lambda input, dim=None, unbiased=None, keepdim=False, correction=None:
                        f(input, dim, keepdim=keepdim, correction=1 if correction is None and unbiased is not False else (correction or 0)))(getattr(torch, op1))
    if op in special:
        return special[op](**args)
    sig, names = rows[op]
    for name in names.split():
        ns, n = name.split(":", 1)
        home = {"t": torch, "f": F, "s": torch.special, "l": torch.linalg}.get(ns)
        if home is not None and hasattr(home, n):
            f = getattr(home, n)
            break
    else:
        raise SystemExit("no function for " + op)
    order = [p.split(":")[0] for p in sig.split() if p != "*"]
    lead, rest = [], dict(args)
    for p in order:  # leading tensors by position: builtins name them differently
        if p in rest and (torch.is_tensor(rest[p]) or isinstance(rest[p], (list, tuple)) and rest[p] and torch.is_tensor(rest[p][0]) or
                          (not lead and p in ("size", "n", "start")) or p in ("other", "exponent", "end", "weight") and op in rows and lead):
            lead.append(rest.pop(p))
        else:
            break
    return f(*lead, **rest)


def number(x):
    return "nan" if x != x else repr(float(x)).replace("Infinity", "inf")


def text(a):
    if isinstance(a, (list, tuple)):
        return "(" + ",".join(text(x) for x in a) + ")"
    if isinstance(a, torch.dtype):
        return NAMES[a]
    return str(a)


def result(op, args):
    k = 0

    def make(a):
        nonlocal k
        m = isinstance(a, str) and TENSOR.match(a)
        if m:
            k += 1
            return fill(m[2], SHORT[m[1]], [int(x) for x in m[3].split(",") if x], k - 1)
        if isinstance(a, list) and a and isinstance(a[0], str):
            return [make(x) for x in a]
        return a

    made = {n: make(a) for n, a in args.items()}
    # a batch norm writes into its running statistics: those are results too
    running = [made[n] for n in ("running_mean", "running_var") if op in ("batch_norm", "instance_norm") and torch.is_tensor(made.get(n))]
    try:
        out = call(op, made)
    except (RuntimeError, TypeError, IndexError, ValueError, NotImplementedError) as e:
        if os.environ.get("WHY"):
            print(op, args, e, file=sys.stderr)
        return "refused"
    out = list(out) if isinstance(out, (tuple, list)) else [out]
    if running and made.get("training", op == "instance_norm") and made.get("use_input_stats", True):
        out += running
    parts = []
    random = op in ("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "bernoulli", "empty", "empty_like")
    for o in out:
        s = "%s[%s]" % (NAMES[o.dtype], ",".join(map(str, o.shape)))
        if o.dtype in (torch.float64, torch.int64, torch.bool) and o.numel() <= 40 and not random:
            s += "=" + ",".join(number(v) for v in o.reshape(-1).tolist())
        parts.append(s)
    return " ".join(parts)


cases = []


def case(op, *variants, **args):
    cases.append((op, args))


FLOATS, INTS = ["f32", "f64", "bf16"], ["i8", "u8", "i32", "i64"]
unary = [o for o, (sig, names) in rows.items() if sig in ("input:T", "input:T inplace:B=False") and o not in ("t", "ravel", "bernoulli", "clone")
         and any(n[:2] in ("t:", "f:", "s:") for n in names.split())]
for op in unary:
    case(op, input="f64[2,3]")
    case(op, input="f64+[2,3]")
    for d in FLOATS + INTS + ["bool"]:
        if (op, d) not in (("mish", "bf16"), ("hardtanh", "u8")):  # holes of old CPU builds, not rules
            case(op, input=d + "[3]")
    case(op, input="f64[]")
    case(op, input="f64[0,4]")
binary = ["add", "sub", "mul", "div", "floor_divide", "remainder", "fmod", "pow", "maximum", "minimum", "fmax", "fmin", "atan2", "hypot", "xlogy",
          "logaddexp", "copysign", "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or",
          "bitwise_xor", "lshift", "rshift"]
ALL = ["f32", "f64", "f16", "bf16", "i8", "u8", "i16", "i32", "i64", "bool"]
for op in binary:
    y = "+" if op in ("floor_divide", "remainder", "fmod", "pow") else ""
    for a, b in [("f32", "f32"), ("i64", "i64"), ("i32", "i64"), ("u8", "i8"), ("bool", "bool"), ("f32", "i64"), ("i64", "bool"), ("i32", "f64"),
                 ("bf16", "i64")]:
        one = "=1" if (b[0] in "iu" or b == "bool" and a != "bool") and op in ("lshift", "rshift", "floor_divide", "remainder", "fmod", "pow") else ""
        case(op, input=a + "[2,3]", other=b + one + "[2,3]") if op != "pow" else case(op, input=a + "[2,3]", exponent=b + one + "[2,3]")
    if op not in ("bitwise_and", "bitwise_or", "bitwise_xor", "lshift", "rshift"):
        case(op, input="f64[2,3]", **{"exponent" if op == "pow" else "other": "f64%s[3]" % y})
for a in ALL:  # the promotion lattice: two tensors, a zero-dim tensor, a number
    for b in ALL:
        case("mul", input=a + "[2]", other=b + "[2]")
        case("mul", input=a + "[2]", other=b + "[]")
    for v in (2, 2.5, True):
        case("mul", input=a + "[2]", other=v)
        case("mul", input=a + "[]", other=v)
        case("div", input=a + "[2]", other=v)
        case("add", input=a + "[2]", other=v)
for v in (2, 2.5, -1, 0.5):
    for a in ("f64+", "i64", "f32"):
        case("pow", input=a + "[3]", exponent=v)
for x, y in [("2,3", "3"), ("2,1", "1,3"), ("2,3", "2"), ("4,1,3", "5,1"), ("", "2,3"), ("0,3", "1,3"), ("0,3", "2,3"), ("1", "0"), ("2,3,4", "3,1"), ("2,3", "4,2,3")]:
    case("add", input="f64[%s]" % x, other="f64[%s]" % y)
for m in ("floor", "trunc"):
    for a in ("f64", "i64", "u8"):
        case("div", input=a + "[6]", other=a + ("=4" if a == "u8" else "=-4") + "[6]", rounding_mode=m)
case("add", input="f64[3]", other="f64[3]", alpha=2)
case("sub", input="f64[3]", other="f64[3]", alpha=0.5)
case("add", input="i64[3]", other="i64[3]", alpha=0.5)
case("rsub", input="f64[3]", other="f64[3]", alpha=2)
case("where", condition="bool[2,3]", input="f64[3]", other="f64[2,1]")
case("where", condition="bool[2,3]", input="f32[3]", other="f64[2,1]")
case("where", condition="bool[2,3]", input="i64[3]", other=1.5)
case("where", condition="f32[2,3]", input="f32[3]", other="f32[3]")
case("where_method", input="f64[2,3]", condition="bool[2,3]", other="f64[3]")
for v in (2, -1.5, True):
    for a in ("f64", "i64", "f32"):
        case("masked_fill", input=a + "[2,3]", mask="bool[3]", value=v)
case("masked_fill", input="f64[2,3]", mask="bool[2,3]", value="f64[]")
case("masked_fill", input="f64[2,3]", mask="bool[2,3]", value="f64[3]")
for lo, hi in [(-1, 1), (None, 1.5), (0.25, None), (1, -1), (None, None)]:
    for a in ("f64", "i64", "f32"):
        case("clamp", input=a + "[2,4]", min=lo, max=hi)
case("clamp", input="f64[2,4]", min="f64[4]", max="f64[2,1]")
case("clamp_min", input="f64[5]", min=0.5)
case("clamp_max", input="i64[5]", max=2)
for w in (0.25, 0.75, "f64p[4]", "f64[4]"):
    case("lerp", input="f64[4]", end="f64[4]", weight=w)
case("lerp", input="f64[4]", end="f32[4]", weight=0.5)
case("addcmul", input="f64[2,3]", tensor1="f64[3]", tensor2="f64[2,1]", value=0.5)
case("addcmul", input="i64[2,3]", tensor1="i64[3]", tensor2="i64[2,1]")
case("addcdiv", input="f64[2,3]", tensor1="f64[3]", tensor2="f64+[2,1]", value=2)
case("addcdiv", input="i64[2,3]", tensor1="i64[3]", tensor2="i64=2[2,1]")
case("nan_to_num", input="f64[3]", nan=1.0)
for op, extra in [("leaky_relu", dict(negative_slope=0.2)), ("elu", dict(alpha=1.5)), ("celu", dict(alpha=0.5)), ("softplus", dict(beta=2, threshold=3)),
                  ("softshrink", dict(lambd=0.75)), ("hardshrink", dict(lambd=0.75)), ("hardtanh", dict(min_val=-0.5, max_val=2.0)),
                  ("threshold", dict(threshold=0.5, value=-3.0)), ("gelu", dict(approximate="tanh")), ("gelu", dict(approximate="none")), ("gelu", dict(approximate="cos")),
                  ("glu", dict(dim=-1)), ("glu", dict(dim=0)), ("rrelu", {})]:
    for a in ("f64[2,6]", "f32[4,2]", "i64[2,2]"):
        if a[0] == "i" and op in ("hardtanh", "threshold"):
            extra = {k: int(v) for k, v in extra.items()}
        case(op, input=a, **extra)
case("glu", input="f64[3,3]")
for w, x in [("1", "2,3"), ("3", "2,3"), ("3", "2,3,2"), ("2", "2,3"), ("1", "4"), ("1", "")]:
    case("prelu", input="f64[%s]" % x, weight="f64[%s]" % w)

# reductions
red = ["sum", "mean", "prod", "amax", "amin", "all", "any", "argmax", "argmin", "var", "std", "logsumexp", "count_nonzero", "norm", "max", "min", "var_mean"]
for op in red:
    for a in ("f64[2,3,2]", "f32[2,3,2]", "i64[2,3,2]", "i32[2,3]", "bool[2,3]", "u8[2,3]", "f64[]", "f64[0,3]", "f64[3,0]", "bf16[2,3]"):
        integral = a[0] in "iub" and not a.startswith("bf")
        if op == "logsumexp" and integral:
            continue  # differs: refused by 1.13, float32 from 2.0 on
        if op == "prod" and a.startswith("bf16"):
            continue  # a hole of old CPU builds
        if op != "logsumexp":
            case(op, input=a)
        lst = op not in ("prod", "argmax", "argmin", "max", "min")
        nodim = op in ("count_nonzero",)
        for d in (0, -1, 1, 3):
            case(op, input=a, dim=[d] if lst else d)
            if not nodim:
                case(op, input=a, dim=[d] if lst else d, keepdim=True)
    if op in ("sum", "mean", "amax", "var", "std", "norm", "logsumexp", "var_mean", "count_nonzero"):
        case(op, input="f64[2,3,2]", dim=[0, 2])
        case(op, input="f64[2,3,2]", dim=[-1, 0])
        case(op, input="f64[2,3,2]", dim=[1, 1])
case("sum", input="f16[2,3]", dtype=torch.float32)
case("sum", input="i64[2,3]", dtype=torch.float64)
case("mean", input="i64[2,3]", dtype=torch.float64)
case("sum", input="f64[2,3]", dim=[])
case("prod", input="i32[2,3]", dtype=torch.float32)
for kw in (dict(unbiased=False), dict(unbiased=True), dict(correction=0), dict(dim=[1], correction=2)):
    case("var", input="f64[2,4]", **kw)
    case("std", input="f64[2,4]", **kw)
for p in (2, 1, 0, 3, float("inf"), float("-inf"), 0.5):
    case("norm", input="f64[2,4]", p=p)
    case("norm", input="f64[2,4]", p=p, dim=[1], keepdim=True)
    case("vector_norm", x="f64[2,4]", ord=p)
    case("torch_norm", input="f64[2,4]", p=p, dim=[0])
    if p not in (0, 3, 0.5, 2):
        case("linalg_norm", A="f64[3,4]", ord=p)
        case("linalg_norm", A="f64[2,3,4]", ord=p, dim=[0, 2])
        case("linalg_norm", A="f64[2,3,4]", ord=p, dim=[0, 2], keepdim=True)
case("torch_norm", input="f64[2,4]")
case("torch_norm", input="f64[2,4]", dim=[0, 1], keepdim=True)
case("linalg_norm", A="f64[3,4]")
case("linalg_norm", A="f64[3,4]", ord="fro")
case("linalg_norm", A="f64[3,4]", dim=[1])
case("linalg_norm", A="f64[5]", ord=3)
case("max", input="f64[2,3]", dim="f64[3]")
case("min", input="f64[2,3]", dim="f64[3]")
for kw in ({}, dict(p=1.0), dict(dim=0), dict(dim=-1, eps=10.0)):
    case("normalize", input="f64[2,3]", **kw)
for op in ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"):
    for a in ("f64[2,4]", "f32[2,3]", "i64[2,3]", "bool[4]", "f64[]", "f64[0,3]"):
        if op == "logcumsumexp" and a[0] in "ib":
            continue
        for d in (0, -1, 2):
            if d < 2 or op not in ("cummax", "cummin"):  # 1.13 does not look at dim there
                case(op, input=a, dim=d)
case("cumsum", input="i32[2,3]", dim=1, dtype=torch.float64)
for op in ("softmax", "log_softmax", "softmin"):
    for a in ("f64[2,3]", "f64[2,3,2]", "i64[2,3]", "f64[]", "f64[0,3]", "f32[4]"):
        for d in (0, -1, 1):
            case(op, input=a, dim=d)
    case(op, input="i64[2,3]", dim=1, dtype=torch.float64)
    for a in ("f64[3]", "f64[2,3]", "f64[2,3,2]", "f64[1,2,3,2]"):
        case(op, input=a, dim=None)

# normalisations
case("layer_norm", input="f64[2,3,4]", normalized_shape=[4], weight="f64[4]", bias="f64[4]")
case("layer_norm", input="f64[2,3,4]", normalized_shape=[3, 4])
case("layer_norm", input="f64[2,3,4]", normalized_shape=[3])
case("layer_norm", input="f64[2,3,4]", normalized_shape=[4], weight="f64[3]")
for kw in (dict(normalized_shape=[4], weight="f64[4]", eps=0.5), dict(normalized_shape=[3, 4]), dict(normalized_shape=[3])):
    case("rms_norm", input="f64[2,3,4]", **kw)
case("clone", input="f64[2,3]")
case("clone", input="bool[]")
case("group_norm", input="f64[2,4,3]", num_groups=2, weight="f64[4]", bias="f64[4]")
case("group_norm", input="f64[2,4,3]", num_groups=3)
case("group_norm", input="f64[2,4]", num_groups=2)
for t in (True, False):
    case("batch_norm", input="f64[2,3,2]", running_mean="f64[3]", running_var="f64+[3]", weight="f64[3]", bias="f64[3]", training=t, momentum=0.3)
    case("instance_norm", input="f64[2,3,4]", running_mean="f64[3]", running_var="f64+[3]", use_input_stats=t, momentum=0.25)
case("batch_norm", input="f64[3,2]", running_mean=None, running_var=None, training=True)
case("batch_norm", input="f64[1,3]", running_mean=None, running_var=None, training=True)
case("batch_norm", input="f64[2,3]", running_mean="f64[2]", running_var="f64[2]")
case("instance_norm", input="f64[2,3,4]", weight="f64[3]", bias="f64[3]")
case("instance_norm", input="f64[2,3,1]")
for x in ("2,5,3", "2,4,2,2", "1,3,2,1,2"):
    case("local_response_norm", input="f64[%s]" % x, size=3, alpha=0.5, beta=0.75, k=2.0)
    case("local_response_norm", input="f64[%s]" % x, size=2)

# pooling
for n in (5, 6, 7, 8):
    for k, s, p, c in [(2, None, 0, False), (3, 2, 1, False), (3, 2, 1, True), (2, 3, 0, True), (2, 2, 1, True), (4, 3, 2, True), (3, 1, 2, False)]:
        kw = dict(kernel_size=[k], padding=[p], ceil_mode=c)
        if s:
            kw["stride"] = [s]
        case("avg_pool1d", input="f64[1,2,%d]" % n, **kw)
        case("max_pool1d", input="f64[1,2,%d]" % n, **kw)
        case("max_pool2d", input="f64[1,%d,4]" % n, **dict(kw, kernel_size=[k, 2], padding=[p, 0], **({"stride": [s, 1]} if s else {})))
        case("avg_pool2d", input="f64[1,%d,4]" % n, count_include_pad=False, **dict(kw, kernel_size=[k, 2], padding=[p, 0]))
case("max_pool1d", input="f64[2,7]", kernel_size=[3], dilation=[2])
case("max_pool2d", input="f64[2,3,4]", kernel_size=[4])
case("avg_pool1d", input="f64[7]", kernel_size=[2])
case("avg_pool1d", input="f64[0,2,7]", kernel_size=[2])
case("avg_pool2d", input="f64[1,4,4]", kernel_size=[2], divisor_override=3)
case("avg_pool3d", input="f64[1,2,4,4]", kernel_size=[2], stride=[1, 2, 2])
case("max_pool3d", input="f64[1,3,4,4]", kernel_size=[2, 3, 2])
case("max_pool2d", input="f64[1,4,4]", kernel_size=[2], return_indices=True)
for o in (1, 2, 3, 5):
    case("adaptive_avg_pool1d", input="f64[1,2,5]", output_size=[o])
case("adaptive_avg_pool2d", input="f64[1,4,6]", output_size=[3, 2])
case("adaptive_avg_pool3d", input="f64[1,2,4,6]", output_size=[1, 3, 2])
case("lp_pool1d", input="f64+[1,2,6]", norm_type=2.0, kernel_size=3)
case("lp_pool1d", input="f64[1,2,6]", norm_type=3.0, kernel_size=2, stride=1)

# losses
for r in ("mean", "sum", "none", "other"):
    for op in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "poisson_nll_loss", "soft_margin", "hinge_embedding"):
        op = {"poisson_nll_loss": "poisson_nll"}.get(op, op)
        case(op, input="f64[2,3]", target="f64+[2,3]", reduction=r)
    case("smooth_l1_loss", input="f64[2,3]", target="f64[2,3]", reduction=r, beta=0.5)
    case("huber_loss", input="f64[2,3]", target="f64[2,3]", reduction=r, delta=0.75)
    case("mse_loss", input="f64[2,3]", target="f64[3]", reduction=r)
    case("kl_div", input="f64[2,3]", target="f64[2,3]", reduction=r, log_target=True)
    case("kl_div", input="f64[2,3]", target="f64=0[2,3]", reduction=r)
    case("poisson_nll", input="f64+[2,3]", target="f64+[2,3]", reduction=r, log_input=False, full=True)
    case("poisson_nll", input="f64[2,3]", target="f64+[2,3]", reduction=r, full=True)
    case("gaussian_nll", input="f64[2,3]", target="f64[2,3]", var="f64+[2,3]", reduction=r)
    case("gaussian_nll", input="f64[2,3]", target="f64[2,3]", var="f64+[2]", reduction=r, full=True)
    case("gaussian_nll", input="f64[2,3]", target="f64[2,3]", var="f64+[2,1]", reduction=r)
    case("bce", input="f64p[2,3]", target="f64p[2,3]", reduction=r)
    case("bce", input="f64p[2,3]", target="f64p[2,3]", weight="f64[3]", reduction=r)
    case("bce", input="f64=1[2,3]", target="f64p[2,3]", reduction=r)
    case("bce_logits", input="f64[2,3]", target="f64p[2,3]", reduction=r)
    case("bce_logits", input="f64[2,3]", target="f64p[2,3]", weight="f64+[2,1]", pos_weight="f64+[3]", reduction=r)
    case("margin_ranking", input1="f64[4]", input2="f64[4]", target="f64=-1[4]", margin=0.5, reduction=r)
    case("hinge_embedding", input="f64[4]", target="f64=-1[4]", margin=2.0, reduction=r)
    case("hinge_embedding", input="f64[4]", target="f64=1[4]", reduction=r)
    case("cosine_embedding", input1="f64[2,3]", input2="f64[2,3]", target="f64=1[2]", reduction=r)
    case("cosine_embedding", input1="f64[2,3]", input2="f64[2,3]", target="f64=-1[2]", margin=-0.5, reduction=r)
    for kw in ({}, dict(swap=True), dict(p=1.0, margin=0.5)):
        case("triplet", anchor="f64[3,4]", positive="f64[3,4]", negative="f64[3,4]", reduction=r, **kw)
    for x, t in [("4,3", "4"), ("3", ""), ("2,3,4", "2,4"), ("2,3,2,2", "2,2,2"), ("2,3", "3"), ("0,3", "0")]:
        for kw in ({}, dict(weight="f64+[3]"), dict(ignore_index=1), dict(weight="f64+[3]", ignore_index=2), dict(label_smoothing=0.2),
                   dict(weight="f64+[3]", label_smoothing=0.2, ignore_index=0)):
            case("cross_entropy", input="f64[%s]" % x, target="i64<3[%s]" % t, reduction=r, **kw)
            if "label_smoothing" not in kw:
                case("nll_loss", input="f64[%s]" % x, target="i64<3[%s]" % t, reduction=r, **kw)
        for kw in ({}, dict(weight="f64+[3]"), dict(label_smoothing=0.3), dict(weight="f64+[3]", label_smoothing=0.3)):
            case("cross_entropy", input="f64[%s]" % x, target="f64p[%s]" % x, reduction=r, **kw)
case("kl_div", input="f64[2,3]", target="f64+[2,3]", reduction="batchmean")
case("mse_loss", input="f64[2,3]", target="f64[2,3]", size_average=False)
case("mse_loss", input="f64[2,3]", target="f64[2,3]", reduce=False)
case("l1_loss", input="f64[2,3]", target="f64[2,3]", size_average=True, reduce=True, reduction="none")
case("cross_entropy", input="f64[4,3]", target="f32[4]")
case("cross_entropy", input="f64[4,3]", target="i64<3[4]", weight="f64[2]")
for x, y, d in [("2,3", "2,3", 1), ("2,3", "2,3", 0), ("2,3", "3", 1), ("2,1,3", "4,3", -1), ("3", "3", 0), ("2,3", "2,3", 2)]:
    case("cosine_similarity", x1="f64[%s]" % x, x2="f64[%s]" % y, dim=d)
case("cosine_similarity", x1="f64=0[2,3]", x2="f64[2,3]", dim=1, eps=0.5)
for kw in ({}, dict(p=1.0), dict(keepdim=True), dict(p=3.0, eps=0.01)):
    case("pairwise_distance", x1="f64[3,4]", x2="f64[3,4]", **kw)
case("pairwise_distance", x1="f64[4]", x2="f64[4]")

# shapes
for s in ([6], [3, 2], [-1], [2, -1], [-1, 2], [1, 6, 1], [4, 2], [-1, 4], [-1, -1], [6, -1]):
    case("reshape", input="f64[2,3]", shape=s)
for s in ([0, 3], [0, -1], [3, 0], [-1, 3], [0]):
    case("reshape", input="f64[0,3]", shape=s)
case("reshape", input="f64[]", shape=[1, 1])
case("reshape", input="f64[1,1]", shape=[])
for d in ([1, 0], [-1, 0], [0, 0], [0], [0, 2]):
    case("permute", input="f64[2,3]", dims=d)
for s in ([2, 3], [4, 2, 3], [-1, 3], [2, -1], [3], [5, -1, -1], [2, 4], [-1, 2, 3]):
    case("expand", input="f64[2,1]", size=s)
case("expand", input="f64[]", size=[2, 2])
for a, b, st in [(None, None, 1), (1, None, 1), (None, -1, 1), (-3, None, 1), (0, 100, 2), (3, 1, 1), (-100, 3, 1), (1, 5, 3), (6, 9, 1), (1, None, -1), (1, 4, 0)]:
    case("slice", input="f64[2,5]", dim=1, start=a, end=b, step=st)
for i in (0, -1, 2, 3, -4):
    case("select", input="f64[3,2]", dim=0, index=i)
    case("unsqueeze", input="f64[3,2]", dim=i)
case("squeeze", input="f64[1,3,1]")
for d in (0, 1, -1, 3):
    case("squeeze", input="f64[1,3,1]", dim=[d])
for kw in ({}, dict(offset=1), dict(offset=-1), dict(offset=4), dict(dim1=2, dim2=0), dict(dim1=1, dim2=1)):
    case("diagonal", input="f64[2,3,2]", **kw)
for dd, sz, st in [(0, 2, 1), (-1, 3, 2), (1, 6, 1), (1, 5, 1), (1, 2, 0)]:
    case("unfold", input="f64[2,5]", dimension=dd, size=sz, step=st)
case("transpose", input="f64[2,3,2]", dim0=0, dim1=-1)
case("transpose", input="f64[2,3,2]", dim0=0, dim1=3)
case("transpose", input="f64[]", dim0=0, dim1=-1)
for x in ("2,3", "3", "", "2,2,2"):
    case("t", input="f64[%s]" % x)
    case("ravel", input="f64[%s]" % x)
case("movedim", input="f64[2,3,4]", source=[0], destination=[-1])
case("movedim", input="f64[2,3,4]", source=[0, 1], destination=[1, 2])
case("movedim", input="f64[2,3,4]", source=[0, 0], destination=[1, 2])
for a, b in [(0, -1), (1, 2), (0, 1), (2, 1), (1, 1), (0, 5)]:
    case("flatten", input="f64[2,3,2]", start_dim=a, end_dim=b)
case("flatten", input="f64[]")
case("flatten", input="f64[2,0,3]", start_dim=1)
for s in ([2, 3], [-1, 2], [3, -1], [4, 2]):
    case("unflatten", input="f64[2,6]", dim=1, sizes=s)
case("narrow", input="f64[2,5]", dim=1, start=1, length=3)
case("narrow", input="f64[2,5]", dim=1, start=3, length=3)
case("narrow", input="f64[2,5]", dim=1, start=-2, length=2)
case("view_as", input="f64[2,6]", other="f64[3,4]")
case("expand_as", input="f64[2,1]", other="f64[2,4]")
for k in (1, 2, 3, 4, 5, 7):
    case("chunk", input="f64[6,2]", chunks=k)
    case("chunk", input="f64[2,7]", chunks=k, dim=-1)
case("chunk", input="f64[0,2]", chunks=3)
for s in ([2], [4], [6], [9], [1, 2, 3], [2, 2], [0]):
    case("split", input="f64[6,2]", split_size=s)
case("unbind", input="f64[3,2]", dim=1)
case("flip", input="f64[2,3]", dims=[0, -1])
case("flip", input="f64[2,3]", dims=[0, 0])
case("roll", input="f64[2,3]", shifts=[1])
case("roll", input="f64[2,3]", shifts=[1, -1], dims=[0, 1])
case("roll", input="f64[2,3]", shifts=[1, -1], dims=[0])
for r in ([2], [2, 2], [1, 2, 3], [0, 1]):
    case("repeat", input="f64[2,2]", repeats=r) if len(r) > 1 else None
case("repeat_interleave", input="f64[2,2]", repeats=3)
case("repeat_interleave", input="f64[2,2]", repeats=2, dim=1)
case("cat", tensors=["f64[2,3]", "f64[1,3]"])
case("cat", tensors=["f64[2,3]", "f64[2,1]"], dim=-1)
case("cat", tensors=["f64[2,3]", "f64[2,1]"])
case("cat", tensors=["f32[2,3]", "i64[2,3]", "f64[2,3]"])
case("cat", tensors=["f64[0]", "f64[2,3]"])
case("cat", tensors=["f64[2]", "f64[2,3]"])
case("cat", tensors=["f64[]", "f64[]"])
case("stack", tensors=["f64[2,3]", "f64[2,3]"], dim=1)
case("stack", tensors=["f64[2,3]", "f64[2,3]"], dim=-1)
case("stack", tensors=["f64[2,3]", "f64[3,3]"])
for m in ("constant", "reflect", "replicate", "circular"):
    for x, p in [("1,2,4", [1, 2]), ("1,2,4", [3, 0]), ("1,2,4", [4, 0]), ("1,2,4", [5, 0]), ("1,3,4", [1, 1, 2, 0]), ("4", [1, 1]), ("1,2,4", [-1, 1]), ("1,1,2,2,2", [1, 0, 0, 1, 1, 1])]:
        if p[0] < 0 and m in ("replicate", "circular"):
            continue
        case("pad", input="f64[%s]" % x, pad=p, mode=m)
case("pad", input="f64[2,2]", pad=[1, 0, 0, 1], value=2.5)
case("pad", input="i64[2,2]", pad=[1, 0], value=7)
case("pad", input="f64[2,2]", pad=[-3, 0])
case("pad", input="f64[2,2]", pad=[1])
for op in ("tril", "triu"):
    for k in (0, 1, -1, 5):
        case(op, input="f64[3,4]", diagonal=k)
    case(op, input="f64[3]")
for k in (0, 1, -2):
    case("diag", input="f64[3]", diagonal=k)
    case("diag", input="f64[3,3]", diagonal=k)

# indexing
case("gather", input="f64[3,4]", dim=1, index="i64<4[3,2]")
case("gather", input="f64[3,4]", dim=0, index="i64<3[5,4]")
case("gather", input="f64[3,4]", dim=0, index="i64<3[2,5]")
case("gather", input="f64[3,4]", dim=0, index="f64[2,4]")
case("gather", input="f64[3,4]", dim=1, index="i64<3[3]")
case("take_along_dim", input="f64[3,4]", indices="i64<4[3,1]", dim=1)
case("take_along_dim", input="f64[1,4]", indices="i64<4[3,2]", dim=1)
case("take_along_dim", input="f64[3,4]", indices="i64<12[5]")
case("index_select", input="f64[3,4]", dim=0, index="i64<3[5]")
case("index_select", input="f64[3,4]", dim=1, index="i32<4[2]")
case("index_select", input="f64[3,4]", dim=1, index="i64<4[2,2]")
case("index", input="f64[3,4]", indices=["i64<3[2]"], at=0)
case("index", input="f64[3,4]", indices=["i64<3[2,1]", "i64<4[3]"], at=0)
case("index", input="f64[3,4,2]", indices=["i64<4[2,2]"], at=1)
case("index", input="f64[3,4]", indices=["i64<3[2]", "i64<4[3]"], at=0)
case("embedding", input="i64<5[2,3]", weight="f64[5,2]")
case("embedding", input="f64[2,3]", weight="f64[5,2]")
case("one_hot", tensor="i64<4[2,3]", num_classes=4)
case("scatter", input="f64[3,4]", dim=1, index="i64=2[3,1]", src="f64[3,4]")
case("scatter", input="f64[3,4]", dim=1, index="i64=2[3,1]", src=1.5)
case("scatter", input="f64[3,4]", dim=1, index="i64<4[3,2]", src="f64[3,4]", reduce="add")
case("scatter", input="f64[3,4]", dim=0, index="i64<3[2,5]", src="f64[3,5]")
case("scatter", input="f64[3,4]", dim=0, index="i64<3[2,4]", src="f64[1,4]")
case("scatter_add", input="f64[3,4]", dim=0, index="i64<3[2,4]", src="f64[3,4]")
case("index_add", input="f64[3,4]", dim=0, index="i64<3[2]", source="f64[2,4]", alpha=2)
case("index_add", input="f64[3,4]", dim=0, index="i64<3[2]", source="f64[3,4]")
case("index_copy", input="f64[3,4]", dim=1, index="i64<4[2]", source="f64[3,2]")
case("index_fill", input="f64[3,4]", dim=1, index="i64<4[2]", value=5)
case("slice_scatter", input="f64[3,4]", src="f64[3,2]", dim=1, start=1, end=3)
case("slice_scatter", input="f64[3,4]", src="f64[3,3]", dim=1, start=1, end=3)
case("select_scatter", input="f64[3,4]", src="f64[4]", dim=0, index=-1)
case("select_scatter", input="f64[3,4]", src="f64[4]", dim=0, index=3)
for kw in (dict(dim=-1), dict(dim=0, descending=True)):
    case("sort", input="f64[4,3]", **kw)
    case("argsort", input="f64[4,3]", **kw)
for kw in (dict(k=2), dict(k=1, dim=0, largest=False), dict(k=5), dict(k=0)):
    case("topk", input="f64[3,4]", **kw)

# creation
for v in (1, 2.5, True):
    case("full", size=[2, 2], fill_value=v)
    case("full", size=[2], fill_value=v, dtype=torch.float64)
    case("full_like", input="f64[2,3]", fill_value=v)
for op in ("zeros", "ones", "empty", "rand", "randn"):
    case(op, size=[2, 3])
    case(op, size=[0])
    case(op, size=[-1])
    case(op, size=[2], dtype=torch.float64)
for op in ("zeros_like", "ones_like", "empty_like", "rand_like", "randn_like"):
    case(op, input="f64[2,3]")
    case(op, input="i64[2]", dtype=torch.float32)
case("new_zeros", input="f64[2]", size=[3])
case("new_ones", input="i64[2]", size=[3], dtype=torch.float64)
case("new_full", input="f64[2]", size=[3], fill_value=2)
for a in [(0, 5, 1), (1, 6, 2), (5, 0, -2), (0.0, 1.0, 0.3), (0, 0, 1), (0, 5, -1), (2, 5, 0), (0, 1.5, 1)]:
    case("arange", start=a[0], end=a[1], step=a[2])
case("arange", start=0, end=3, step=1, dtype=torch.float64)
case("linspace", start=0, end=1, steps=5, dtype=torch.float64)
case("eye", n=3, dtype=torch.float64)
case("eye", n=2, m=4, dtype=torch.float64)
case("randint", low=0, high=5, size=[2, 3])
case("randint", low=5, high=5, size=[2, 3])
case("randint_like", input="f64[2,3]", low=0, high=5)
case("randperm", n=5)
case("bernoulli", input="f64p[2,3]")

# resizing
for mode, align, anti in [("nearest", False, False), ("nearest-exact", False, False), ("linear", False, False), ("linear", True, False), ("bicubic", False, False), ("bicubic", True, False), ("bilinear", False, True), ("bicubic", False, True)]:
    for dim, size, scale in [(2, 11, None), (2, 3, None), (1, 8, None), (1, 1, None), (2, None, 2.0), (2, None, 0.5), (1, None, 1.5), (2, 0, None), (2, None, 1.125), (1, None, 1.3), (2, None, 0.37)]:
        case("resize_axis", input="f64[2,4,6]", dim=dim, size=size, scale=scale, mode=mode, align_corners=align, antialias=anti)
for mode in ("nearest", "linear"):  # the product of the last two is less than its whole number
    for n, scale in [(10, 0.3), (100, 0.29), (50, 0.58)]:
        case("resize_axis", input="f64[1,1,%d]" % n, dim=2, size=None, scale=scale, mode=mode, align_corners=False, antialias=False)
case("resize_axis", input="f64[2,0,6]", dim=1, size=4, scale=None, mode="linear", align_corners=False, antialias=False)

# matrix products
for x, y in [("2,3", "3,4"), ("3", "3"), ("2,3", "3"), ("3", "3,2"), ("5,2,3", "3,4"), ("5,1,2,3", "4,3,2"), ("2,3", "2,3"), ("5,2,3", "3"), ("", "3"), ("2,0", "0,3"), ("3,2,3", "2,3,2")]:
    case("matmul", input="f64[%s]" % x, other="f64[%s]" % y)
case("matmul", input="f64[2,3]", other="f32[3,2]")
case("linear", input="f64[2,3]", weight="f64[4,3]", bias="f64[4]")
case("linear", input="f64[2,2,3]", weight="f64[4,3]")
case("linear", input="f64[2,3]", weight="f64[3,4]")
case("outer", input="f64[2]", vec2="f64[3]")
case("dot", input="f64[3]", other="f64[3]")
case("dot", input="f64[2,3]", other="f64[4,3]")
case("cast", input="f32[2]", dtype=torch.int64)
case("cast", input="f64[3]", dtype=torch.bool)

seen, lines = set(), []
for op, args in cases:
    key = op + " " + " ".join("%s=%s" % (n, text(a)) for n, a in args.items())
    if key in seen:
        continue
    seen.add(key)
    lines.append(key + " -> " + result(op, args))
with open(HERE + "/cases.txt", "w") as f:
    f.write("# Made by make_cases.py with PyTorch %s; do not edit.\n" % torch.__version__.split("+")[0])
    f.write("\n".join(lines) + "\n")
print(len(lines), "cases,", sum(1 for l in lines if l.endswith("refused")), "refused")

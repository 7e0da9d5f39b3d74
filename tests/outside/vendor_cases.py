"""What vendor.py runs: for each operator its tensors in kernel order, attributes and golden values, all written for this project."""
import numpy as np

from values import Tensor, absent, out, unchecked, uniform

CASES = {}
# Files of op_host that lie in another folder, and files that are left out because they need what is outside op_host.
FOREACH = ["../foreach_utils/op_host/foreach_tiling_func.cpp", "../foreach_utils/op_host/foreach_regbase_tiling.cpp"]
REDUCE = ["../foreach_utils/op_host/foreach_tiling_func.cpp", "../foreach_utils/op_host/foreach_reduce_tiling_func.cpp", "../foreach_utils/op_host/foreach_reduce_regbase_tiling.cpp"]
SWI_GLU = ["../swi_glu_grad/op_host/swi_glu_grad_tiling_regbase.cpp"]


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


def unary(op, kind, f, low=-2.0, high=2.0, tol=None):
    """A foreach operator with one list in and one out."""
    def make(dtype, shapes):
        x = [uniform("x", dtype, s, low, high) for s in shapes]
        return dict(type=kind, host=FOREACH if op == "foreach_sqrt" else [], tensors=[(x, "in"), ([out("y", dtype, f(t.value), tol=tol) for t in x], "out")])
    many(op, ("fp32", ("float32", [(7, 1003), (33,)])), ("fp16", ("float16", [(64, 129)])))(make)


unary("foreach_exp", "ForeachExp", np.exp)
unary("foreach_sqrt", "ForeachSqrt", np.sqrt, 0.1, 5)
unary("foreach_sigmoid", "ForeachSigmoid", lambda x: 1 / (1 + np.exp(-x)))
unary("foreach_abs", "ForeachAbs", np.abs)
unary("foreach_tanh", "ForeachTanh", np.tanh)


@many("foreach_norm", ("L1 fp32 3 tensors", ("float32", [(20, 1024), (33, 65), (5,)], 1)), ("L2 fp16", ("float16", [(3, 7, 11, 101)], 2)),
      ("L2 fp32", ("float32", [(2, 51, 2049), (17,)], 2)), ("L1 bf16", ("bfloat16", [(255, 83)] * 4, 1)))
def foreach_norm(dtype, shapes, order):
    x = [uniform("x", dtype, s) for s in shapes]
    s = Tensor("scalar", "float32", (1,), np.array([order]))
    def norm(v):
        return np.array([np.sqrt((v * v).sum())])
    # of the order 1: Copy of 4 repeats, 1 KiB, into a queue's buffer of 32 bytes (foreach_norm.h:74); the result is not written here
    faults = ["ub-out-of-bounds foreach_norm.h:74", "read-poison foreach_norm.h:417"] if order == 1 else []
    return dict(type="ForeachNorm", host=REDUCE, faults=faults,
                tensors=[(x, "in"), (s, "in"), ([out("y", dtype, norm(t.value) if order == 2 else None, (1,), tol=(1e-3, 0) if dtype != "bfloat16" else None) for t in x], "out")])


@many("foreach_lerp_scalar", ("fp32", ("float32", [(7, 1003), (64, 128)])), ("bf16", ("bfloat16", [(33, 127)])))
def foreach_lerp_scalar(dtype, shapes):
    x1, x2 = ([uniform(n, dtype, s) for s in shapes] for n in ("x1", "x2"))
    w = Tensor("weight", "float32", (1,), np.array([0.25]))
    y = [out("y", dtype, a.value + 0.25 * (b.value - a.value)) for a, b in zip(x1, x2)]
    return dict(type="ForeachLerpScalar", host=FOREACH, tensors=[(x1, "in"), (x2, "in"), (w, "in"), (y, "out")])


# ---- norms ---------------------------------------------------------------------------------------------------------------

def rms(x, gamma, eps):
    rstd = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + eps)
    return x * rstd * gamma, rstd


@many("rms_norm", ("fp32 1024", ("float32", (5, 129, 1024))), ("fp16 4096", ("float16", (3, 40, 4096))),
      ("bf16 4097", ("bfloat16", (2, 103, 4097))), ("fp32 2049", ("float32", (201, 2049))), ("fp32 373", ("float32", (400, 373))),
      ("fp32 128", ("float32", (2, 3, 17, 10, 128))), ("fp16 769", ("float16", (33, 127, 769))), ("bf16 one row", ("bfloat16", (1, 8192))))
def rms_norm(dtype, shape):
    x, g = uniform("x", dtype, shape), uniform("gamma", dtype, shape[-1:])
    y, rstd = rms(x.value, g.value, 1e-6)
    return dict(type="RmsNorm", faults=[
        r"overlap rms_norm_merge_n.h:156",  # BroadCast in place; the documents forbid it, what the library does there keeps row 0
        r"use-after-free rms_norm_merge_n.h:276"],  # rstd freed in CopyOutRstd (318), then read; only the vector unit writes it next
                attrs={"epsilon": 1e-6}, tensors=[(x, "in"), (g, "in"), (out("y", dtype, y), "out"), (out("rstd", "float32", rstd, tol=(1e-4, 0)), "out")])


@many("gemma_rms_norm", ("fp16", ("float16", (70, 1024))), ("fp32", ("float32", (99, 515))))
def gemma_rms_norm(dtype, shape):
    x, g = uniform("x", dtype, shape), uniform("gamma", dtype, shape[-1:])
    y, rstd = rms(x.value, 1 + g.value, 1e-6)
    return dict(type="GemmaRmsNorm", host=["../rms_norm/op_host/rms_norm_tiling.cpp", "../rms_norm/op_host/rms_norm_tiling_arch35.cpp"], attrs={"epsilon": 1e-6}, tensors=[(x, "in"), (g, "in"), (out("y", dtype, y, tol=(3e-3, 3e-4) if dtype == "float16" else None), "out"), (out("rstd", "float32", rstd, tol=(1e-4, 0)), "out")])


@many("inplace_add_rms_norm", ("fp16", ("float16", (70, 1024))), ("fp32", ("float32", (99, 515))), ("bf16", ("bfloat16", (48, 2560))))
def inplace_add_rms_norm(dtype, shape):
    a, b, g = uniform("x1", dtype, shape), uniform("x2", dtype, shape), uniform("gamma", dtype, shape[-1:])
    s = a.value + b.value
    y, rstd = rms(s, g.value, 1e-6)
    a.golden, a.tol, b.golden = y, {"float16": (4e-3, 2e-3), "bfloat16": (2e-2, 2e-2)}.get(dtype), s
    return dict(type="InplaceAddRmsNorm", faults=[r"use-after-free add_rms_norm_merge_n.h:(221|225|366|371)"],  # x freed at 204, read by Cast; only the vector unit writes it next
                host=["../add_rms_norm/op_host/add_rms_norm_tiling.cpp", "../add_rms_norm/op_host/add_rms_norm_tiling_arch35.cpp"], attrs={"epsilon": 1e-6}, tensors=[(a, "inout"), (b, "inout", 3), (g, "in"), (out("rstd", "float32", rstd, tol=(2e-3, 0)), "out", 2)])


@many("add_rms_norm", ("fp16", ("float16", (70, 1024))), ("fp32", ("float32", (99, 515))), ("bf16", ("bfloat16", (48, 2560))))
def add_rms_norm(dtype, shape):
    a, b, g = uniform("x1", dtype, shape), uniform("x2", dtype, shape), uniform("gamma", dtype, shape[-1:])
    s = a.value + b.value
    y, rstd = rms(s, g.value, 1e-6)
    return dict(type="AddRmsNorm", faults=[r"use-after-free add_rms_norm_merge_n.h:(221|225|366|371)"],  # x freed at 204, read by Cast; only the vector unit writes it next
                attrs={"epsilon": 1e-6},
                tensors=[(a, "in"), (b, "in"), (g, "in"), (out("y", dtype, y, tol={"float16": (4e-3, 2e-3), "bfloat16": (2e-2, 2e-2)}.get(dtype)), "out"),
                         (out("rstd", "float32", rstd, tol=(2e-3, 0)), "out"), (out("x", dtype, s), "out")])


@many("group_norm_silu", ("fp32", ("float32", (4, 64, 16, 16), 16, True)), ("fp16 one group", ("float16", (6, 257, 32, 31), 1, False)),
      ("fp16", ("float16", (7, 32, 21, 23), 4, True)), ("bf16", ("bfloat16", (5, 48, 13, 65), 6, True)), ("fp32 5-D", ("float32", (2, 60, 5, 7, 48), 4, True)))
def group_norm_silu(dtype, shape, groups, silu):
    x, g, b = uniform("x", dtype, shape), uniform("gamma", dtype, shape[1:2]), uniform("beta", dtype, shape[1:2])
    n, c = shape[:2]
    v = x.value.reshape(n, groups, -1)
    mean, var = v.mean(-1, keepdims=True), v.var(-1, keepdims=True)
    rstd = 1 / np.sqrt(var + 1e-5)
    y = ((v - mean) * rstd).reshape(n, c, -1) * g.value[:, None] + b.value[:, None]
    if silu:
        y = y / (1 + np.exp(-y))
    tol = {"float32": (1e-4, 1e-5), "float16": (4e-3, 2e-3), "bfloat16": (2e-2, 2e-2)}[dtype]
    return dict(type="GroupNormSilu", attrs={"num_groups": groups, "eps": 1e-5, "activate_silu": silu},
                tensors=[(x, "in"), (g, "in"), (b, "in"), (out("y", dtype, y.reshape(shape), tol=tol), "out"),
                         (out("mean", dtype, mean.reshape(n, groups), tol=(tol[0], 1e-3)), "out"), (out("rstd", dtype, rstd.reshape(n, groups), tol=(tol[0], 1e-3)), "out")])


# ---- activations and quantisation ----------------------------------------------------------------------------------------

def silu(x):
    return x / (1 + np.exp(-x))


@many("swi_glu", ("fp32 last", ("float32", (205, 4096), -1)), ("fp16 first", ("float16", (82, 1638), 0)), ("fp16 1024", ("float16", (2049, 102), 1)),
      ("bf16 first", ("bfloat16", (254, 1638), 0)), ("fp32 100", ("float32", (2, 3, 17, 51, 100), -1)), ("bf16 two columns", ("bfloat16", (1003, 2), 1)))
def swi_glu(dtype, shape, dim):
    x = uniform("x", dtype, shape)
    a, b = np.split(x.value, 2, axis=dim)
    tol = {"float32": (1e-4, 1e-5), "float16": (4e-3, 1e-3), "bfloat16": (1.6e-2, 1e-3)}[dtype]
    return dict(type="SwiGlu", host=SWI_GLU, attrs={"dim": dim}, tensors=[(x, "in"), (out("y", dtype, silu(a) * b, tol=tol), "out")])


def quantise(v):
    """Rows to int8: scale = max|row| / 127."""
    scale = np.abs(v).max(-1, keepdims=True) / 127
    return np.rint(v / scale), scale[..., 0]


@many("dynamic_quant", ("bf16", ("bfloat16", (204, 2048))), ("fp16", ("float16", (82, 8192))), ("bf16 long rows", ("bfloat16", (50, 16384))),
      ("bf16 1021", ("bfloat16", (101, 1021))), ("fp16 373", ("float16", (36, 37, 373))), ("bf16 3 rows", ("bfloat16", (3, 4001))))
def dynamic_quant(dtype, shape):
    x = uniform("x", dtype, shape)
    q, scale = quantise(x.value)
    return dict(type="DynamicQuant", tensors=[(x, "in"), (absent("smooth_scales"), "in"), (absent("group_index", "int32"), "in"),
                                               (out("y", "int8", q, tol=1), "out"), (out("scale", "float32", scale), "out")])


@many("add_rms_norm_dynamic_quant", ("bf16 2048", ("bfloat16", (327, 2048))), ("bf16 14336", ("bfloat16", (41, 14336))), ("bf16 8192", ("bfloat16", (52, 8192))),
      ("bf16 512", ("bfloat16", (327, 512))), ("bf16 4093", ("bfloat16", (57, 4093))), ("fp16 4096", ("float16", (50, 4096))))
def add_rms_norm_dynamic_quant(dtype, shape):
    a, b, g = uniform("x1", dtype, shape), uniform("x2", dtype, shape), uniform("gamma", dtype, shape[-1:])
    s = a.value + b.value
    y, _ = rms(s, g.value, 1e-6)
    q, scale = quantise(y)
    none = [(absent(n), "in") for n in ("smooth_scale1", "smooth_scale2", "beta")]
    return dict(type="AddRmsNormDynamicQuant", faults=["of (y2|scale2) (is|are) never written"], attrs={"epsilon": 1e-6},
                tensors=[(a, "in"), (b, "in"), (g, "in"), *none, (out("y1", "int8", q, tol=1), "out"), (unchecked("y2", "int8", (1,)), "out"),
                         (out("x", dtype, s), "out"), (out("scale1", "float32", scale, tol=(1e-2, 0)), "out"), (unchecked("scale2", "float32", (1,)), "out")])


@many("dequant_swiglu_quant", ("fp16", ("float16", (102, 4096), False, False, False)), ("bf16 scaled", ("bfloat16", (409, 2048), False, False, True)),
      ("int32", ("int32", (102, 4096), True, True, False)), ("int32 scaled", ("int32", (81, 1024), True, True, True)), ("int32 8194", ("int32", (25, 8194), True, True, True)),
      ("bf16 8194", ("bfloat16", (25, 8194), False, False, False)))
def dequant_swiglu_quant(dtype, shape, ws, acs, qs):
    x = uniform("x", dtype, shape, *((-128, 127) if dtype == "int32" else (-1, 1)))
    w = uniform("weight_scale", "float32", (1, shape[1]), -0.1, 0.1) if ws else absent("weight_scale")
    s = uniform("activation_scale", "float32", (shape[0],), -0.5, 0.5) if acs else absent("activation_scale")
    q = uniform("quant_scale", "float32", (1, shape[1] // 2), -1, 1) if qs else absent("quant_scale")
    v = x.value.astype(np.float64)
    if ws:
        v = v * w.value
    if acs:
        v = v * s.value[:, None]
    a, b = np.split(v, 2, axis=1)
    z = silu(b) * a
    if qs:
        z = z * q.value
    y, scale = quantise(z)
    return dict(type="DequantSwigluQuant", faults=[  # SetGlobalBuffer names half of what is read; the size has no effect on the device
        r"gm-out-of-bounds dequant_swiglu_quant_dynamic_(base.hpp:499|performance.hpp:293).* on weight_scale that SetGlobalBuffer gave"],
                attrs={"activate_left": False, "quant_mode": "dynamic"},
                tensors=[(x, "in"), (w, "in"), (s, "in"), (absent("bias"), "in"), (q, "in"), (absent("quant_offset"), "in"), (absent("group_index", "int64"), "in"),
                         (out("y", "int8", y, tol=1), "out"), (out("scale", "float32", scale, tol=(1e-4, 1e-7)), "out")])


# ---- more of both repositories -------------------------------------------------------------------------------------------

WIDE = {"float32": (2e-4, 2e-5), "float16": (5e-3, 2e-3), "bfloat16": (3e-2, 1e-2)}


@many("fatrelu_mul", ("fp32", ("float32", (70, 512))), ("fp16", ("float16", (33, 1000))))
def fatrelu_mul(dtype, shape):
    x, limit = uniform("input", dtype, shape), Tensor("threshold", dtype, (1,), np.array([0.25]))
    a, b = np.split(x.value, 2, axis=-1)
    return dict(type="FatreluMul", faults=["ub-reserved fatrelu_mul.h:202"], tensors=[(x, "in"), (limit, "in"), (out("output", dtype, np.where(a > 0.25, a, 0) * b), "out")])


@many("ge_glu_v2", ("fp32 tanh", ("float32", (90, 1024), 1)), ("fp16 tanh", ("float16", (35, 770), 1)), ("bf16 tanh", ("bfloat16", (200, 256), 1)))
def ge_glu_v2(dtype, shape, approximate):
    x = uniform("x", dtype, shape)
    a, b = np.split(x.value, 2, axis=-1)
    g = 0.5 * b * (1 + np.tanh(np.sqrt(2 / np.pi) * (b + 0.044715 * b**3)))
    return dict(type="GeGluV2", attrs={"dim": -1, "approximate": approximate, "activate_left": False},
                tensors=[(x, "in"), (out("y", dtype, a * g, tol=WIDE[dtype]), "out"), (out("gelu", dtype, g, tol=WIDE[dtype]), "out")])


@many("scaled_masked_softmax_v2", ("fp16", ("float16", (2, 4, 32, 128))), ("fp32", ("float32", (1, 3, 33, 200))), ("bf16", ("bfloat16", (2, 2, 17, 64))))
def scaled_masked_softmax_v2(dtype, shape):
    x, m = uniform("x", dtype, shape), uniform("mask", "bool", shape, 0, 1)
    v = np.where(m.value != 0, -10000.0, 0.5 * x.value)
    e = np.exp(v - v.max(-1, keepdims=True))
    return dict(type="ScaledMaskedSoftmaxV2", attrs={"scale": 0.5, "fixed_triu_mask": False},
                tensors=[(x, "in"), (m, "in"), (out("y", dtype, e / e.sum(-1, keepdims=True), tol=WIDE[dtype]), "out")])


@many("add_layer_norm", ("fp32", ("float32", (99, 512))), ("fp16", ("float16", (70, 1024))), ("bf16 long", ("bfloat16", (50, 5120))))
def add_layer_norm(dtype, shape):
    a, b = uniform("x1", dtype, shape), uniform("x2", dtype, shape)
    g, beta = uniform("gamma", dtype, shape[-1:]), uniform("beta", dtype, shape[-1:])
    s = a.value + b.value
    mean, rstd = s.mean(-1, keepdims=True), 1 / np.sqrt(s.var(-1, keepdims=True) + 1e-5)
    return dict(type="AddLayerNorm", attrs={"epsilon": 1e-5, "additional_output": True},
                tensors=[(a, "in"), (b, "in"), (g, "in"), (beta, "in"), (absent("bias"), "in"), (out("y", dtype, (s - mean) * rstd * g.value + beta.value, tol=WIDE[dtype]), "out"),
                         (out("mean", "float32", mean, tol=(1e-2, 1e-3)), "out"), (out("rstd", "float32", rstd, tol=(1e-2, 0)), "out"), (out("x", dtype, s), "out")])


@many("deep_norm", ("fp32", ("float32", (99, 512))), ("fp16", ("float16", (70, 1024))), ("bf16", ("bfloat16", (48, 2560))))
def deep_norm(dtype, shape):
    x, gx = uniform("x", dtype, shape), uniform("gx", dtype, shape)
    beta, g = uniform("beta", dtype, shape[-1:]), uniform("gamma", dtype, shape[-1:])
    s = 0.3 * x.value + gx.value
    mean, rstd = s.mean(-1, keepdims=True), 1 / np.sqrt(s.var(-1, keepdims=True) + 1e-6)
    return dict(type="DeepNorm", attrs={"alpha": 0.3, "epsilon": 1e-6}, skip="infershape",
                tensors=[(x, "in"), (gx, "in"), (beta, "in"), (g, "in"), (out("mean", "float32", mean, tol=(1e-2, 1e-3)), "out"), (out("rstd", "float32", rstd, tol=(1e-2, 0)), "out"),
                         (out("y", dtype, (s - mean) * rstd * g.value + beta.value, tol=WIDE[dtype]), "out")])


@many("group_norm_swish", ("fp16", ("float16", (7, 32, 21, 23), 4)), ("fp32", ("float32", (4, 64, 16, 16), 16)))
def group_norm_swish(dtype, shape, groups):
    x, g, b = uniform("x", dtype, shape), uniform("gamma", dtype, shape[1:2]), uniform("beta", dtype, shape[1:2])
    n, c = shape[:2]
    v = x.value.reshape(n, groups, -1)
    mean, rstd = v.mean(-1, keepdims=True), 1 / np.sqrt(v.var(-1, keepdims=True) + 1e-5)
    y = silu(((v - mean) * rstd).reshape(n, c, -1) * g.value[:, None] + b.value[:, None])
    return dict(type="GroupNormSwish", attrs={"num_groups": groups, "eps": 1e-5},
                tensors=[(x, "in"), (g, "in"), (b, "in"), (out("y", dtype, y.reshape(shape), tol=WIDE[dtype]), "out"),
                         (out("mean", dtype, mean.reshape(n, groups), tol=(1e-2, 1e-3)), "out"), (out("rstd", dtype, rstd.reshape(n, groups), tol=(1e-2, 1e-3)), "out")])


@many("swi_glu_grad", ("fp32", ("float32", (205, 1024))), ("fp16", ("float16", (99, 258))))
def swi_glu_grad(dtype, shape):
    x, dy = uniform("x", dtype, shape), uniform("y_grad", dtype, (shape[0], shape[1] // 2))
    a, b = np.split(x.value, 2, axis=-1)
    s = 1 / (1 + np.exp(-a))
    d = np.concatenate([dy.value * b * (s + a * s * (1 - s)), dy.value * a * s], axis=-1)
    return dict(type="SwiGluGrad", host=["../swi_glu/op_host/swi_glu_tiling.cpp"], attrs={"dim": -1}, tensors=[(dy, "in"), (x, "in"), (out("x_grad", dtype, d, tol=WIDE[dtype]), "out")])


@many("logit", ("fp32", ("float32", (70, 513))), ("fp16", ("float16", (4096,))))
def logit(dtype, shape):
    x = uniform("input", dtype, shape, 0.01, 0.99)
    return dict(type="Logit", attrs={"eps": -1.0}, tensors=[(x, "in"), (out("output", dtype, np.log(x.value / (1 - x.value)), tol=WIDE[dtype]), "out")])


@many("squared_relu", ("fp32", ("float32", (70, 513))), ("bf16", ("bfloat16", (4099,))))
def squared_relu(dtype, shape):
    x = uniform("input", dtype, shape)
    return dict(type="SquaredRelu", tensors=[(x, "in"), (out("output", dtype, np.maximum(x.value, 0) ** 2), "out")])


@many("layer_norm_v4", ("fp32", ("float32", (99, 512))), ("fp16", ("float16", (70, 1000))), ("bf16 long", ("bfloat16", (50, 5120))), ("fp32 short", ("float32", (4000, 64))))
def layer_norm_v4(dtype, shape):
    x = uniform("x", dtype, shape)
    g, beta = uniform("gamma", dtype, shape[-1:]), uniform("beta", dtype, shape[-1:])
    mean, rstd = x.value.mean(-1, keepdims=True), 1 / np.sqrt(x.value.var(-1, keepdims=True) + 1e-5)
    return dict(type="LayerNormV4", attrs={"epsilon": 1e-5},
                tensors=[(x, "in"), (Tensor("normalized_shape", "int32", (1,), np.array(shape[-1:])), "in"), (g, "in"), (beta, "in"),
                         (out("y", dtype, (x.value - mean) * rstd * g.value + beta.value, tol=WIDE[dtype]), "out"),
                         (out("mean", "float32", mean, tol=(1e-2, 1e-3)), "out"), (out("rstd", "float32", rstd, tol=(1e-2, 0)), "out")])


@many("cross_entropy_loss", ("fp32 mean", ("float32", 70, 1000, "mean")), ("fp16 sum", ("float16", 48, 513, "sum")), ("bf16 none", ("bfloat16", 33, 4096, "none")), ("fp32 weighted", ("float32", 100, 77, "mean", True)))
def cross_entropy_loss(dtype, n, c, reduction, weighted=False):
    x, target = uniform("input", dtype, (n, c)), uniform("target", "int64", (n,), 0, c - 1)
    w = uniform("weight", "float32", (c,), 0.5, 1.5) if weighted else absent("weight")
    v = x.value - x.value.max(-1, keepdims=True)
    logp = v - np.log(np.exp(v).sum(-1, keepdims=True))
    each = -logp[np.arange(n), target.value]
    share = w.value[target.value] if weighted else np.ones(n)
    loss = each * share
    loss = {"none": loss, "sum": np.array([loss.sum()]), "mean": np.array([loss.sum() / share.sum()])}[reduction]
    return dict(type="CrossEntropyLoss", faults=[
        "of (zloss|lse_for_zloss) (is|are) never written",
        r"read-poison cross_entropy_loss(_fp32.h:98|.h:397)",  # 64 partial sums are read in one piece, each core that runs writes one
        r"hazard-war cross_entropy_loss.h:158"],  # a race: the losses are cast over the last piece of log_prob while MTE3 still stores it
                attrs={"reduction": reduction, "ignore_index": -100, "label_smoothing": 0.0, "lse_square_scale_for_zloss": 0.0, "return_zloss": False},
                tensors=[(x, "in"), (target, "in"), (w, "in"), (out("loss", dtype, loss, tol=WIDE[dtype]), "out"), (out("log_prob", dtype, logp, tol=WIDE[dtype]), "out"),
                         (unchecked("zloss", dtype, (1,)), "out"), (unchecked("lse_for_zloss", dtype, (n,)), "out")])

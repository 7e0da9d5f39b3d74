"""What vendor.py runs of ops-math: see vendor_cases.py."""
import numpy as np

from values import Tensor, absent, out, uniform, unchecked
from vendor_cases import WIDE, many

ELEWISE = ["atvoss/elewise/elewise_tiling.cpp", "op_host/infershape_elewise_util.cpp"]  # of opbase


@many("is_finite", ("fp32", ("float32", (70, 513))), ("fp16", ("float16", (8192,))))
def is_finite(dtype, shape):
    x = uniform("x", dtype, shape)
    v = x.value
    v.flat[::7], v.flat[3::11] = np.inf, np.nan
    x = Tensor("x", dtype, shape, v)
    return dict(type="IsFinite", opbase=ELEWISE, tensors=[(x, "in"), (out("y", "bool", np.isfinite(v).astype(np.uint8)), "out")])


@many("grouped_bias_add_grad", ("fp32", ("float32", (8, 64, 256))), ("fp16", ("float16", (5, 33, 520))))
def grouped_bias_add_grad(dtype, shape):
    x = uniform("grad_y", dtype, shape)
    return dict(type="GroupedBiasAddGrad", attrs={"group_idx_type": 0}, tensors=[(x, "in"), (absent("group_idx", "int32"), "in"), (out("grad_bias", dtype, x.value.sum(1), tol=WIDE[dtype]), "out")])


@many("is_inf", ("fp32", ("float32", (70, 513))), ("fp16", ("float16", (8192,))), ("bf16", ("bfloat16", (33, 1001))))
def is_inf(dtype, shape):
    x = uniform("x", dtype, shape)
    v = x.value
    v.flat[::7], v.flat[3::11], v.flat[5::13] = np.inf, np.nan, -np.inf
    return dict(type="IsInf", faults=[r"(gm-out-of-bounds|read-poison) is_inf.h:(126|136)"], opbase=ELEWISE, tensors=[(Tensor("x", dtype, shape, v), "in"), (out("y", "bool", np.isinf(v).astype(np.uint8)), "out")])


@many("mul_addn", ("fp32", ("float32", 3, 8, 33, 128)), ("fp16", ("float16", 2, 5, 64, 80)), ("bf16", ("bfloat16", 4, 60, 7, 64)))
def mul_addn(dtype, n, b, m, k):
    x1, x2 = [uniform("x1", dtype, (b, m, 1)) for _ in range(n)], [uniform("x2", dtype, (b, 1, k)) for _ in range(n)]
    y = sum(p.value * q.value for p, q in zip(x1, x2))
    return dict(type="MulAddn", faults=[r"ub-out-of-bounds mul_addn_align_bf16.h:(157|171)"], attrs={"N": n}, tensors=[(x1, "in"), (x2, "in"), (out("y", dtype, y, tol=WIDE[dtype]), "out")])


@many("non_finite_check", ("fp32 finite", ("float32", [(70, 513), (5,)], False)), ("fp16 not", ("float16", [(8192,), (33, 65)], True)), ("bf16 not", ("bfloat16", [(77, 301)], True)))
def non_finite_check(dtype, shapes, bad):
    x = [uniform("x", dtype, s) for s in shapes]
    if bad:
        v = x[-1].value
        v.flat[v.size // 2] = np.inf
        x[-1] = Tensor("x", dtype, v.shape, v)
    return dict(type="NonFiniteCheck", tensors=[(x, "in"), (out("found_flag", "float32", np.array([float(bad)])), "out")])


@many("pows", ("fp32 sqrt", ("float32", (70, 2048), 0.5)), ("fp16 cube", ("float16", (33, 4096), 3)), ("bf16 inverse square", ("bfloat16", (48, 1024), -2)))
def pows(dtype, shape, exponent):
    x, e = uniform("x1", dtype, shape, 0.5, 3), Tensor("x2", dtype, (1,), np.array([exponent]))
    return dict(type="Pows", tensors=[(x, "in"), (e, "in"), (out("y", dtype, x.value ** e.value, tol=WIDE[dtype]), "out")])


def segments(v):
    n = v.shape[-1]
    s = np.concatenate([np.zeros(v.shape[:-1] + (1,)), np.cumsum(v, -1)], -1)
    d = s[..., 1:, None] - s[..., None, 1:]
    return np.where(np.tril(np.ones((n, n))) > 0, np.exp(d), 0)


@many("segsum", ("fp32", ("float32", (2, 3, 5, 64))), ("fp16", ("float16", (1, 2, 4, 128))), ("bf16", ("bfloat16", (2, 2, 3, 48))))
def segsum(dtype, shape):
    x = uniform("x", dtype, shape, -0.2, 0.1)
    return dict(type="Segsum", tensors=[(x, "in"), (out("y", dtype, segments(x.value), tol=WIDE[dtype]), "out")])


@many("exp_segsum_grad", ("fp32", ("float32", (2, 3, 5, 64))), ("fp16", ("float16", (1, 2, 4, 128))))
def exp_segsum_grad(dtype, shape):
    n = shape[-1]
    g, y = uniform("grad_output", dtype, (*shape, n), -1, 1), uniform("grad_self", dtype, (*shape, n), 0, 1)
    m = np.tril(g.value * y.value, -1)
    c = np.flip(np.cumsum(np.flip(m, -2), -2), -2)
    return dict(type="ExpSegsumGrad", tensors=[(g, "in"), (y, "in"), (out("grad_input", dtype, np.tril(c, -1).sum(-1), tol=(1e-2, 2e-2) if dtype == "float16" else (1e-4, 1e-4)), "out")])


@many("diag_flat", ("fp32", ("float32", 200, 0)), ("fp16 above", ("float16", 77, 3)), ("int32 below", ("int32", 40, -2)), ("uint8", ("uint8", 130, 0)))
def diag_flat(dtype, n, k):
    x = uniform("x", dtype, (n,), 0, 100)
    return dict(type="DiagFlat", faults=[r"hazard-waw diag_flat_nd_to_2d.h:(223|234)", r"hazard-waw diag_flat_nd_to_2d(_with_few)?.h:(342|358) .*of workspace"], attrs={"diagonal": k}, tensors=[(x, "in"), (out("y", dtype, np.diag(x.value, k)), "out")])


@many("diag_v2", ("fp32", ("float32", (200, 130), 0)), ("fp16 above", ("float16", (77, 300), 3)), ("int32 below", ("int32", (400, 40), -2)), ("int64", ("int64", (64, 64), 0)))
def diag_v2(dtype, shape, k):
    x = uniform("x", dtype, shape, 0, 100)
    return dict(type="DiagV2", host=["../diag_flat/op_host/arch32/diag_flat_tiling.cpp"], attrs={"diagonal": k}, tensors=[(x, "in"), (out("y", dtype, np.diag(x.value, k).copy()), "out")])


@many("feeds_repeat", ("fp32", ("float32", "int32", (8, 64))), ("fp16", ("float16", "int64", (5, 33))))
def feeds_repeat(dtype, index, shape):
    x, times = uniform("feeds", dtype, shape), uniform("feeds_repeat_times", index, shape[:1], 0, 4)
    y = np.repeat(x.value, times.value, axis=0)
    size = int(times.value.sum()) + 3
    y = np.concatenate([y, np.zeros((3, *shape[1:]))])
    return dict(type="FeedsRepeat", faults=["ub-out-of-bounds feeds_repeat.h:182", "use-after-free feeds_repeat.h:193"], attrs={"output_feeds_size": size}, tensors=[(x, "in"), (times, "in"), (out("y", dtype, y), "out")])


@many("fill_diagonal_v2", ("fp32", ("float32", (64, 100), False)), ("fp16 wrapped", ("float16", (300, 40), True)), ("int32", ("int32", (33, 33), False)))
def fill_diagonal_v2(dtype, shape, wrap):
    x, v = uniform("x", dtype, shape, -5, 5), Tensor("fill_value", dtype, (1,), np.array([7]))
    y = x.value.copy()
    np.fill_diagonal(y, 7, wrap=wrap)
    x.golden = y
    return dict(type="FillDiagonalV2", faults=["hazard-waw fill_diagonal_v2_sparse.h:70"], attrs={"wrap": wrap}, tensors=[(x, "inout"), (v, "in")])


@many("unfold_grad", ("fp32 last", ("float32", (6, 100), 1, 20, 10)), ("fp16 last", ("float16", (40, 64), 1, 16, 16)), ("bf16 last", ("bfloat16", (3, 200), 1, 32, 24)), ("fp32 second last", ("float32", (5, 60, 64), 1, 8, 4)))
def unfold_grad(dtype, shape, dim, size, step):
    n = (shape[dim] - size) // step + 1
    g = uniform("grad_out", dtype, (*shape[:dim], n, *shape[dim + 1:], size))
    y = np.zeros(shape)
    v, w = np.moveaxis(y, dim, -1), np.moveaxis(g.value, dim, -2)  # views: (..., dim), (..., n, size)
    for k in range(n):
        v[..., k * step:k * step + size] += w[..., k, :]
    return dict(type="UnfoldGrad", attrs={"dim": dim, "size": size, "step": step},
                tensors=[(g, "in"), (Tensor("input_sizes", "int64", (len(shape),), np.array(shape)), "in"), (out("grad_in", dtype, y, tol=WIDE[dtype]), "out")])


@many("transform_bias_rescale_qkv", ("fp32", ("float32", 3, 20, 4, 64)), ("fp16", ("float16", 2, 17, 3, 64)), ("bf16", ("bfloat16", 2, 33, 2, 128)))
def transform_bias_rescale_qkv(dtype, b, t, heads, d):
    x, bias = uniform("qkv", dtype, (b, t, 3 * heads * d)), uniform("qkv_bias", dtype, (3 * heads * d,))
    q, k, v = ((x.value + bias.value).reshape(b, t, 3, heads, d).transpose(2, 0, 3, 1, 4)[i] for i in range(3))
    return dict(type="TransformBiasRescaleQkv", attrs={"num_heads": heads},
                tensors=[(x, "in"), (bias, "in"), *[(out(n, dtype, np.ascontiguousarray(a), tol=WIDE[dtype]), "out") for n, a in (("q", q / np.sqrt(d)), ("k", k), ("v", v))]])


@many("concat_dv2", ("fp32", ("float32", [(8, 512), (24, 512), (16, 512)], 0)), ("fp16", ("float16", [(32, 128), (64, 128)], 0)), ("int8", ("int8", [(96, 1024), (48, 1024)], 0)))
def concat_dv2(dtype, shapes, dim):
    x = [uniform("x", dtype, s, -5, 5) for s in shapes]
    return dict(type="ConcatDV2", attrs={"concat_dim": dim}, tensors=[(x, "in"), (out("y", dtype, np.concatenate([t.value for t in x], dim)), "out")])


@many("circular_pad", ("fp32 2-D", ("float32", (3, 4, 20, 30), (2, 3, 1, 4))), ("fp16 3-D", ("float16", (2, 6, 10, 16), (1, 2, 3, 1, 2, 2))), ("int8", ("int8", (2, 3, 40, 70), (5, 5, 5, 5))))
def circular_pad(dtype, shape, pads):
    x = uniform("x", dtype, shape, -5, 5)
    widths = [(0, 0)] * (len(shape) - len(pads) // 2) + [tuple(pads[i:i + 2]) for i in range(0, len(pads), 2)]
    return dict(type="CircularPad", tensors=[(x, "in"), (Tensor("paddings", "int64", (len(pads),), np.array(pads)), "in"), (out("y", dtype, np.pad(x.value, widths, mode="wrap")), "out")])


@many("transpose_v2", ("fp32 021", ("float32", (5, 64, 128), (0, 2, 1))), ("fp16 021", ("float16", (3, 33, 70), (0, 2, 1))), ("fp16 102", ("float16", (20, 30, 64), (1, 0, 2))))
def transpose_v2(dtype, shape, perm):
    x = uniform("x", dtype, shape)
    return dict(type="TransposeV2", tensors=[(x, "in"), (Tensor("perm", "int32", (len(perm),), np.array(perm)), "in"), (out("y", dtype, np.ascontiguousarray(x.value.transpose(perm))), "out")])


@many("chunk_cat", ("fp32", ("float32", "float32", [(16, 40), (8, 24), (4, 100)], 0, 4)), ("fp16 to fp32", ("float16", "float32", [(8, 64), (8, 32)], 0, 2)), ("bf16", ("bfloat16", "bfloat16", [(32, 33), (32, 17)], 0, 8)))
def chunk_cat(dtype, to, shapes, dim, chunks):
    x = [uniform("x", dtype, s) for s in shapes]
    y = np.concatenate([t.value.reshape(chunks, -1) for t in x], 1)
    return dict(type="ChunkCat", attrs={"dim": dim, "num_chunks": chunks}, tensors=[(x, "in"), (out("y", to, y), "out")])

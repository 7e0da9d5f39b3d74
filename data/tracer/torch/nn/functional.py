"""torch.nn.functional: rows `f:` of the table of operations, and what has state or randomness."""
import _ascendcraft as _c
from .. import Tensor, _lookup, _refuse


def __getattr__(name):
    return _lookup("f", name, "torch.nn.functional.")


def _live_dropout(name, p):
    _refuse("AC0210", "%s(p=%g) is live: PyTorch drops elements at random in training mode, which a kernel cannot reproduce" % (name, p),
            "use p=0, or call eval() on the module (in __init__: self.eval())")


def _dropout(name):
    def drop(input, p=0.5, training=True, inplace=False):
        if training and p > 0:
            _live_dropout(name, p)
        return input
    drop.__name__ = name
    return drop


dropout, dropout1d, dropout2d, dropout3d = (_dropout(n) for n in ("dropout", "dropout1d", "dropout2d", "dropout3d"))
alpha_dropout, feature_alpha_dropout = _dropout("alpha_dropout"), _dropout("feature_alpha_dropout")


def gumbel_softmax(*a, **k):
    _refuse("AC0210", "gumbel_softmax() draws random numbers in forward, which a kernel cannot reproduce", "pass the noise to forward as an input")


def _update(running, batch, momentum):
    running._assign(running * (1 - momentum) + batch.to(running._dtype) * momentum)


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05):
    if training and running_mean is not None:
        dims = [0] + list(range(2, input.dim()))
        _update(running_mean, input.mean(dims), momentum)
        _update(running_var, input.var(dims, unbiased=True), momentum)
        running_mean = running_var = None
    return _c.call("f", "batch_norm", (input, running_mean, running_var, weight, bias, training, momentum, eps))


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-05):
    if use_input_stats and running_mean is not None:
        dims = list(range(2, input.dim()))
        _update(running_mean, input.mean(dims).mean(0), momentum)
        _update(running_var, input.var(dims, unbiased=True).mean(0), momentum)
        running_mean = running_var = None
    return _c.call("f", "instance_norm", (input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps))


def tanh(input):
    return input.tanh()


def sigmoid(input):
    return input.sigmoid()


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    return _c.call("f", "lp_pool1d", (input, norm_type, kernel_size, stride, ceil_mode))


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
    d = distance_function or (lambda a, b: _c.call("f", "pairwise_distance", (a, b)))
    near, far = d(anchor, positive), d(anchor, negative)
    if swap:
        far = far.minimum(d(positive, negative))
    loss = (near - far + margin).clamp(min=0)
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def _wrong(message, help=None):
    _refuse("AC0217", "interpolate: " + message, help)


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False):
    """Axis after axis: those that shrink first, of the others the last one first, so that the least is moved."""
    dims = input.dim() - 2
    ranks = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}
    if mode not in ranks and mode not in ("nearest", "nearest-exact", "area"):
        _wrong("there is no mode %r" % (mode,), "use nearest, nearest-exact, area, linear, bilinear, bicubic or trilinear")
    if dims != ranks.get(mode, dims) or not 1 <= dims <= 3:
        _wrong("mode %r does not take a tensor of %d dimensions" % (mode, input.dim()), "linear: 3, bilinear and bicubic: 4, trilinear: 5, others: 3 to 5")
    if mode not in ranks and align_corners is not None:
        _wrong("align_corners goes with linear, bilinear, bicubic and trilinear only")
    if antialias and mode not in ("bilinear", "bicubic"):
        _wrong("antialias goes with bilinear and bicubic only")
    if (size is None) == (scale_factor is None):
        _wrong("give either size or scale_factor")
    if recompute_scale_factor and size is not None:
        _wrong("recompute_scale_factor goes with scale_factor only")
    given = size if size is not None else scale_factor
    given = tuple(given) if isinstance(given, (tuple, list)) else (given,) * dims
    if len(given) != dims:
        _wrong("%d sizes or scale factors for %d dimensions" % (len(given), dims))
    axes = [(d + 2, n if size is not None else None, None if size is not None else float(n)) for d, n in enumerate(given)]
    if recompute_scale_factor:
        axes = [(d, (input.shape[d] * s).__floor__(), None) for d, _, s in axes]
    if mode == "area":
        if size is None:
            axes = [(d, n if n is not None else (input.shape[d] * s).__floor__(), None) for d, n, s in axes]
        return _c.call("f", "adaptive_avg_pool%dd" % dims, (input, tuple(n for _, n, _ in axes)))
    shrinks = lambda a: a[2] < 1 if a[1] is None else a[1] < input.shape[a[0]]  # noqa: E731
    result = input
    for d, n, s in [a for a in axes if shrinks(a)] + [a for a in reversed(axes) if not shrinks(a)]:
        result = _c.call("f", "_resize_axis", (result, d, n, s, mode, bool(align_corners), bool(antialias)))
    return result.to(input.dtype)


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    return interpolate(input, size, scale_factor, mode, align_corners)


def _upsampling_nearest2d(input, size=None, scale_factor=None):
    return interpolate(input, size, scale_factor, "nearest")


def _upsampling_bilinear2d(input, size=None, scale_factor=None):
    return interpolate(input, size, scale_factor, "bilinear", True)


def unfold(*a, **k):
    _c.unknown("f", "unfold")


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None):
    if dropout_p > 0:
        _live_dropout("scaled_dot_product_attention", dropout_p)
    scores = query.matmul(key.transpose(-2, -1)) * (scale if scale is not None else query.size(-1) ** -0.5)
    if is_causal:
        n, m = query.size(-2), key.size(-2)
        keep = _c.call("t", "ones", (n, m)).tril() != 0
        scores = scores.masked_fill(~keep, -float("inf"))
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, -float("inf")) if str(attn_mask.dtype) == "torch.bool" else scores + attn_mask
    return scores.softmax(-1).matmul(value)

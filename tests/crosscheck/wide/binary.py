"""Functions of two tensors, broadcast."""
import torch
import torch.nn as nn
import torch.nn.functional as F

EXPRESSIONS = [
    'torch.add(x, y)',
    'torch.sub(x, y)',
    'torch.mul(x, y)',
    'torch.div(x, y)',
    'torch.true_divide(x, y)',
    'torch.floor_divide(x, y)',
    'torch.remainder(x, y)',
    'torch.fmod(x, y)',
    'torch.maximum(x, y)',
    'torch.minimum(x, y)',
    'torch.fmax(x, y)',
    'torch.fmin(x, y)',
    'torch.atan2(x, y)',
    'torch.hypot(x, y)',
    'torch.copysign(x, y)',
    'torch.eq(x, y)',
    'torch.ne(x, y)',
    'torch.lt(x, y)',
    'torch.le(x, y)',
    'torch.gt(x, y)',
    'torch.ge(x, y)',
    'torch.logical_and(x, y)',
    'torch.logical_or(x, y)',
    'torch.logical_xor(x, y)',
    'torch.logaddexp(x, y)',
    'torch.pow(x.abs(), y)',
    'torch.xlogy(x, y.abs())',
    'x + y',
    'x - y',
    'x * y',
    'x / y',
    'x // y',
    'x % y',
    'x > y',
    'x == y',
    '3 - x',
    '2 / x',
    '3 + x',
    'x - 1',
    '7 // x',
    '7 % x',
    'torch.add(x, y, alpha=2)',
    'torch.sub(x, y, alpha=0.5)',
    'torch.div(x, y, rounding_mode="floor")',
    'torch.div(x, y, rounding_mode="trunc")',
    'torch.rsub(x, y)',
    'torch.where(x > 0, x, y)',
    'torch.where(x > y, x, torch.zeros_like(x))',
    'x.masked_fill(y > 0, -1.5)',
    'torch.lerp(x, x * 2, 0.3)',
    'torch.addcmul(x, y, y, value=0.5)',
    'torch.addcdiv(x, y, y + 10, value=2)',
    '(x > 0) & (y > 0)',
    '(x > 0) | (y > 0)',
    '(x > 0) ^ (y > 0)',
    '~(x > 0)',
    'x * (y > 0)',
    '(x > 0).float() + y',
]


class Model(nn.Module):
    def forward(self, x, y):
        names = dict(globals(), **{k: v for k, v in locals().items() if k != "self"}, self=self)
        return {e: eval(e, names) for e in EXPRESSIONS}


def get_inputs():
    return [torch.randn(4, 1, 6) * 3, torch.randn(5, 1) * 2]


def get_init_inputs():
    return []

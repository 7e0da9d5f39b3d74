"""Functions of one tensor."""
import torch
import torch.nn as nn
import torch.nn.functional as F

EXPRESSIONS = [
    'torch.neg(x)',
    'torch.abs(x)',
    'torch.sign(x)',
    'torch.exp(x)',
    'torch.exp2(x)',
    'torch.expm1(x)',
    'torch.sin(x)',
    'torch.cos(x)',
    'torch.tan(x)',
    'torch.atan(x)',
    'torch.sinh(x)',
    'torch.cosh(x)',
    'torch.tanh(x)',
    'torch.asinh(x)',
    'torch.erf(x)',
    'torch.erfc(x)',
    'torch.sigmoid(x)',
    'torch.floor(x)',
    'torch.ceil(x)',
    'torch.round(x)',
    'torch.trunc(x)',
    'torch.frac(x)',
    'torch.square(x)',
    'torch.relu(x)',
    'torch.logical_not(x)',
    'torch.isnan(x)',
    'torch.isinf(x)',
    'torch.isfinite(x)',
    'torch.nan_to_num(x)',
    'torch.log(x.abs() + 0.1)',
    'torch.log2(x.abs() + 0.1)',
    'torch.log10(x.abs() + 0.1)',
    'torch.log1p(x.abs() + 0.1)',
    'torch.sqrt(x.abs() + 0.1)',
    'torch.rsqrt(x.abs() + 0.1)',
    'torch.reciprocal(x.abs() + 0.1)',
    'torch.asin(torch.tanh(x))',
    'torch.acos(torch.tanh(x))',
    'torch.atanh(torch.tanh(x))',
    'torch.acosh(x.abs() + 1)',
    '-x',
    'abs(x)',
    'x.clone()',
    'x.contiguous()',
    'x.pow(2)',
    'x ** 3',
    '2 ** x',
    'x ** 0.5',
    'x.abs() ** -0.5',
    '(x / 0.0) ** 0.5',
    '(x / 0.0) ** -0.5',
    '(x * 0.0) ** -0.5',
    '(x / 0.0) ** 1.5',
    '(x * 0.0) ** -2.5',
    'x.long()',
    'x.int() + 1',
    'x.bool()',
    'x.to(torch.float32)',
    'x.half()',
    'x.type(torch.int16)',
    '(x * 100).to(torch.int8)',
    'torch.clamp(x, -1, 1)',
    'x.clamp(min=0.5)',
    'x.clip(max=0.25)',
    'torch.clamp(x, y, z)',
    'x.detach()',
    'torch.special.expit(x)',
    'x.sigmoid()',
    'x.erf()',
]


class Model(nn.Module):
    def forward(self, x, y, z):
        names = dict(globals(), **{k: v for k, v in locals().items() if k != "self"}, self=self)
        return {e: eval(e, names) for e in EXPRESSIONS}


def get_inputs():
    return [torch.randn(3, 5, 7) * 3, torch.randn(3, 5, 7) - 2, torch.randn(3, 5, 7) + 2]


def get_init_inputs():
    return []

"""Integers and bools."""
import torch
import torch.nn as nn
import torch.nn.functional as F

EXPRESSIONS = [
    'torch.add(i, j)',
    'torch.sub(i, j)',
    'torch.mul(i, j)',
    'torch.maximum(i, j)',
    'torch.minimum(i, j)',
    'torch.eq(i, j)',
    'torch.lt(i, j)',
    'torch.bitwise_and(i, j)',
    'torch.bitwise_or(i, j)',
    'torch.bitwise_xor(i, j)',
    'torch.remainder(i, j)',
    'torch.floor_divide(i, j)',
    'i / j',
    'i + 1',
    'i + 1.5',
    'i * b',
    'i.float()',
    'i.sum()',
    'i.sum(dtype=torch.float32)',
    'i.prod(dim=0)',
    'i.max()',
    'i.min(dim=1)[0]',
    'i.min(dim=1)[1]',
    'i.cumsum(0)',
    'b.sum()',
    'b.any()',
    'b.all()',
    'b.any(dim=1)',
    'b.all(dim=0, keepdim=True)',
    '~i',
    '-i',
    'i.abs()',
    'torch.bitwise_not(i)',
    'b.logical_not()',
    'i << 2',
    'i >> 1',
    'i ** 2',
    'torch.exp(i)',
    'torch.sigmoid(b)',
    'i == 3',
    'i.bool()',
    'i.to(torch.uint8)',
    'i.byte() + 250',
    'i.short() * 20000',
    'i.argmax()',
    'i.argmin(dim=0)',
    'b.long()',
    'torch.where(b, i, j)',
    'torch.where(b, 1, i)',
    'i.sort(dim=1)[0]',
    'i.sort(dim=1, descending=True, stable=True)[1]',
    'torch.count_nonzero(i)',
    'torch.count_nonzero(i, dim=1)',
    'torch.relu(i)',
    'torch.sign(i)',
    'i % 3',
    '-7 % j',
    '-7 // j',
    'i // 2',
    'torch.fmod(i, 3)',
    'torch.div(i, j, rounding_mode="trunc")',
    'torch.div(i, j, rounding_mode="floor")',
    'i.flip(0)',
    'b.cumsum(dim=0)',
    'F.one_hot(i.abs(), 12)',
]


class Model(nn.Module):
    def forward(self, i, j, b):
        names = dict(globals(), **{k: v for k, v in locals().items() if k != "self"}, self=self)
        return {e: eval(e, names) for e in EXPRESSIONS}


def get_inputs():
    return [torch.randint(-9, 10, (4, 6)), torch.randint(1, 5, (4, 6)), torch.randint(0, 2, (4, 6)).bool()]


def get_init_inputs():
    return []

"""Reductions, scans, sort."""
import torch
import torch.nn as nn
import torch.nn.functional as F

EXPRESSIONS = [
    'torch.sum(x)',
    'torch.mean(x)',
    'torch.prod(x)',
    'torch.amax(x)',
    'torch.amin(x)',
    'torch.max(x)',
    'torch.min(x)',
    'torch.var(x)',
    'torch.std(x)',
    'torch.argmax(x)',
    'torch.argmin(x)',
    'torch.all(x)',
    'torch.any(x)',
    'torch.norm(x)',
    'torch.count_nonzero(x)',
    'torch.sum(x, dim=1)',
    'torch.sum(x, dim=(0, 2), keepdim=True)',
    'torch.sum(x, -1, keepdim=True)',
    'torch.mean(x, dim=1)',
    'torch.mean(x, dim=(0, 2), keepdim=True)',
    'torch.mean(x, -1, keepdim=True)',
    'torch.amax(x, dim=1)',
    'torch.amax(x, dim=(0, 2), keepdim=True)',
    'torch.amax(x, -1, keepdim=True)',
    'torch.amin(x, dim=1)',
    'torch.amin(x, dim=(0, 2), keepdim=True)',
    'torch.amin(x, -1, keepdim=True)',
    'torch.var(x, dim=1)',
    'torch.var(x, dim=(0, 2), keepdim=True)',
    'torch.var(x, -1, keepdim=True)',
    'torch.std(x, dim=1)',
    'torch.std(x, dim=(0, 2), keepdim=True)',
    'torch.std(x, -1, keepdim=True)',
    'torch.logsumexp(x, dim=1)',
    'torch.logsumexp(x, dim=(0, 2), keepdim=True)',
    'torch.logsumexp(x, -1, keepdim=True)',
    'x.prod(dim=1)',
    'x.prod(-1, keepdim=True)',
    'torch.max(x, dim=1)[0]',
    'torch.max(x, dim=1).indices',
    'torch.min(x, 2, keepdim=True)[1]',
    'x.max(dim=0).values',
    'torch.max(x, x.flip(0))',
    'torch.argmax(x, dim=1)',
    'torch.argmin(x, dim=-1, keepdim=True)',
    'x.sum((0, 1))',
    'x.mean([0, 2])',
    'torch.var(x, dim=1, unbiased=False)',
    'torch.var(x, unbiased=False)',
    'torch.std(x, dim=(1, 2), unbiased=True)',
    'torch.var_mean(x, dim=1)[0]',
    'torch.var_mean(x, dim=1)[1]',
    'torch.norm(x, p=1)',
    'torch.norm(x, p=2, dim=1)',
    'torch.norm(x, dim=(0, 1))',
    "torch.norm(x, p='fro')",
    "torch.norm(x, p='fro', dim=(1, 2), keepdim=True)",
    'torch.norm(x, p=3, dim=2)',
    "torch.norm(x, p=float('inf'))",
    'x.norm()',
    'x.norm(2, -1, True)',
    'torch.linalg.vector_norm(x)',
    'torch.linalg.vector_norm(x, ord=1, dim=1)',
    'torch.linalg.norm(x)',
    'torch.any(x > 1, dim=1)',
    'torch.all(x > -9)',
    'x.logsumexp(dim=(0, 1))',
    'torch.cumsum(x, 1)',
    'x.cumsum(dim=-1)',
    'torch.cumprod(x, 0)',
    'torch.cummax(x, 1)[0]',
    'torch.cummax(x, 1)[1]',
    'torch.cummin(x, 2)[0]',
    'torch.cummin(x, 2)[1]',
    'torch.logcumsumexp(x, 1)',
    'torch.sort(x, 1)[0]',
    'torch.sort(x, descending=True)[1]',
    'torch.argsort(x, dim=0)',
    'torch.topk(x, 3)[0]',
    'torch.topk(x, 2, dim=0, largest=False)[1]',
    'x.sum(dim=-3)',
]


class Model(nn.Module):
    def forward(self, x):
        names = dict(globals(), **{k: v for k, v in locals().items() if k != "self"}, self=self)
        return {e: eval(e, names) for e in EXPRESSIONS}


def get_inputs():
    return [torch.randn(4, 5, 6)]


def get_init_inputs():
    return []

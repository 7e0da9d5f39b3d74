"""Gather, scatter and indexing by tensors."""
import torch
import torch.nn as nn
import torch.nn.functional as F

EXPRESSIONS = [
    'torch.gather(x, 1, i)',
    'x.gather(0, k)',
    'torch.index_select(x, 1, c)',
    'x[c]',
    'x[:, c]',
    'x[c, c]',
    'x[0, c]',
    'x[i]',
    'x.take_along_dim(i, 1)',
    'torch.scatter(x, 1, i, y)',
    'x.scatter(1, i, 2.5)',
    'x.scatter_add(1, i, y)',
    'torch.index_add(x, 0, c, y[:3])',
    'x.index_copy(0, c, y[:3])',
    'x.index_fill(1, c, -1.0)',
    'F.embedding(i, x)',
    'x.masked_fill(m, 0.5)',
    'torch.where(m, x, torch.tensor(0.0, dtype=x.dtype))',
    'torch.select_scatter(x, y[0], 0, 2)',
    "x.scatter(1, i, y, reduce='add')",
    'x * m',
    'x.index_add(1, c, y[:, :3], alpha=2)',
]


class Model(nn.Module):
    def forward(self, x, y, i, k, c, m):
        names = dict(globals(), **{k: v for k, v in locals().items() if k != "self"}, self=self)
        return {e: eval(e, names) for e in EXPRESSIONS}


def get_inputs():
    return [torch.randn(5, 6), torch.randn(5, 6), torch.randint(0, 5, (5, 6)), torch.randint(0, 5, (2, 6)), torch.tensor([3, 0, 1]), torch.randint(0, 2, (5, 6)).bool()]


def get_init_inputs():
    return []

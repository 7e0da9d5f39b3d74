import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Views, writing in place, indexing, buffers that were never registered, a result of mixed structure."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.tril(torch.ones(8, 8)).view(1, 8, 8))
        self.scale = nn.Parameter(torch.ones(8))
        self.table = torch.arange(8).float()
        self.noise = torch.randn(8)
        self.unused = torch.randn(8)

    def forward(self, x, s, flag, names):
        B, T = x.shape
        y = x.clone()
        y[:, 0] = 1.0
        y[1:, ::2] += 2
        z = y.view(-1)
        z.mul_(s)
        a, b = y.chunk(2, dim=1)
        a.add_(1)
        w = torch.where(x > 0.5, y, torch.zeros_like(y))
        w[w > 3] = 0
        q = x[..., None] * self.table + self.noise
        q = q.masked_fill(self.mask[:, :T, :] == 0, float("-inf"))
        u = x[[0, 2]] + x[torch.tensor([1, 3])]
        r = {"y": y, "w": [w, w.sum() / (B * T)], "u": u}
        if T % 2 == 0 and B > 1:
            r["q"] = F.softmax(q / math.sqrt(T), dim=-1) * self.scale
        return r, flag


def get_inputs():
    return [torch.rand(4, 8) * 2 - 1, 3, True, ["a", None]]

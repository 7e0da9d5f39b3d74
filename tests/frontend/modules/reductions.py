import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        v, i = torch.max(x, dim=self.dim)
        return (x.sum(), x.sum(self.dim), torch.mean(x, dim=[1, 2], keepdim=True), torch.min(x, dim=self.dim)[0], v, i,
                x.max(self.dim).values, torch.prod(x, dim=self.dim), x.std(), x.var(1, False), x.argmax(1), torch.amax(x, (0, 2)),
                x.logsumexp(-1), (x > 0).any(), x.max(), torch.maximum(x, -x), torch.max(x, x * 2), x.norm(dim=1),
                torch.linalg.vector_norm(x, dim=-1), torch.special.expm1(x).mean(-1))


def get_inputs():
    return [torch.rand(16, 5, 7)]


def get_init_inputs():
    return [1]

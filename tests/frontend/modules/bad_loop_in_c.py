# expect: AC0207 8 still running
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        n = sum(range(10 ** 12))
        return x + n


def get_inputs():
    return [torch.rand(4, 8)]

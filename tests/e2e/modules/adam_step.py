"""One Adam step that returns the new state as well: four inputs, three outputs."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, param, grad, m, v):
        m = 0.9 * m + 0.1 * grad
        v = 0.999 * v + 0.001 * grad * grad
        step = (m / 0.1) / (torch.sqrt(v / 0.001) + 1e-8)
        return param - 1e-3 * step, m, v


def get_inputs():
    return [torch.randn(16, 16384), torch.randn(16, 16384), torch.randn(16, 16384), torch.rand(16, 16384)]


def get_init_inputs():
    return []

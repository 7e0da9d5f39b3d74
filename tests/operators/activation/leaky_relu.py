"""Leaky rectifier."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, slope=0.01):
        super().__init__()
        self.act = nn.LeakyReLU(negative_slope=slope)

    def forward(self, x):
        return self.act(x)


def get_inputs():
    return [torch.rand(4096, 393216)]


def get_init_inputs():
    return [0.01]

"""average pooling 1d."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, kernel, stride=1, padding=0):
        super().__init__()
        self.pool = nn.AvgPool1d(kernel_size=kernel, stride=stride, padding=padding)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.rand(64, 128, 65536)]


def get_init_inputs():
    return [8, 1, 4]

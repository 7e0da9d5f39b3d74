"""average pooling 2d."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, kernel, stride=None, padding=0):
        super().__init__()
        self.pool = nn.AvgPool2d(kernel_size=kernel, stride=stride, padding=padding)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.rand(16, 64, 512, 512)]


def get_init_inputs():
    return [11]

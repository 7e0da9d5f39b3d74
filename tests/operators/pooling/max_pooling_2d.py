"""max pooling 2d."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, kernel, stride, padding):
        super().__init__()
        self.pool = nn.MaxPool2d(kernel_size=kernel, stride=stride, padding=padding)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.rand(32, 64, 512, 512)]


def get_init_inputs():
    return [4, 1, 1]

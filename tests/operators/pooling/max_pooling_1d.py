"""max pooling 1d."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, kernel, stride=None, padding=0, indices=False):
        super().__init__()
        self.pool = nn.MaxPool1d(kernel_size=kernel, stride=stride, padding=padding, return_indices=indices)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.rand(64, 192, 2048)]


def get_init_inputs():
    return [8, 1, 4, False]

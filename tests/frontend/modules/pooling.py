import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, kernel_size: int, stride: int, padding: int):
        super().__init__()
        self.avg = nn.AvgPool2d(kernel_size=kernel_size, stride=stride, padding=padding)
        self.max = nn.MaxPool2d(kernel_size=kernel_size, stride=stride, padding=padding, dilation=1)
        self.one = nn.MaxPool1d(kernel_size=kernel_size, return_indices=False)
        self.adaptive = nn.AdaptiveAvgPool2d((1, 1))

    def forward(self, x):
        return self.avg(x), self.max(x), self.one(x.flatten(2)), self.adaptive(x).view(x.size(0), -1)


def get_inputs():
    return [torch.rand(2, 3, 16, 20)]


def get_init_inputs():
    return [3, 2, 1]

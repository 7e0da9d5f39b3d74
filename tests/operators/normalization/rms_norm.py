"""Root mean square over the channels."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features, eps=1e-5):
        super().__init__()
        self.features = features
        self.eps = eps

    def forward(self, x):
        rms = torch.sqrt(torch.mean(x ** 2, dim=1, keepdim=True) + self.eps)
        return x / rms


def get_inputs():
    return [torch.rand(128, 64, 512, 512)]


def get_init_inputs():
    return [64]

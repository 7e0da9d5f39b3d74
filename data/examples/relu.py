import torch
import torch.nn as nn


class Model(nn.Module):
    """Rectified linear unit."""

    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.randn(16, 16384)]


def get_init_inputs():
    return []

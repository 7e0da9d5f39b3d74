"""Group normalisation."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features, groups):
        super().__init__()
        self.gn = nn.GroupNorm(num_groups=groups, num_channels=features)

    def forward(self, x):
        return self.gn(x)


def get_inputs():
    return [torch.rand(128, 64, 512, 512)]


def get_init_inputs():
    return [64, 8]

"""Instance normalisation without affine parameters."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.inorm = nn.InstanceNorm2d(num_features=features)

    def forward(self, x):
        return self.inorm(x)


def get_inputs():
    return [torch.rand(128, 64, 512, 512)]


def get_init_inputs():
    return [64]

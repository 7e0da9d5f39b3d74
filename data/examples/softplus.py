import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """A smooth relu, in bfloat16."""

    def forward(self, x):
        return F.softplus(x)


def get_inputs():
    return [torch.randn(16, 16384, dtype=torch.bfloat16)]


def get_init_inputs():
    return []

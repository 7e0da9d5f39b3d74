# expect: AC0208 8 needs more than
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        big = [0] * (1 << 33)
        return x


def get_inputs():
    return [torch.rand(4, 8)]

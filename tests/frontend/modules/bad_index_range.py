# expect: AC0217 8 too many indices
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x[0, 0, 0]


def get_inputs():
    return [torch.rand(4, 8)]

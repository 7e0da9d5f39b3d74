# expect: AC0206 8 nonzero
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.nonzero(x)


def get_inputs():
    return [torch.rand(4, 8)]

# expect: AC0206 8 bool mask
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x[x > 0.5]


def get_inputs():
    return [torch.rand(4, 8)]

# expect: AC0210 8 rand_like() in forward
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x + torch.rand_like(x)


def get_inputs():
    return [torch.rand(4, 8)]

# expect: AC0217 8 missing required argument
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x.cumsum()


def get_inputs():
    return [torch.rand(4, 8)]

# expect: AC0205 8 torch.rellu is not an operation
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.rellu(x)


def get_inputs():
    return [torch.rand(4, 8)]

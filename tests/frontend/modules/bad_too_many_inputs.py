# expect: AC0215 0 takes 1 inputs, and 2 were given
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x + 1


def get_inputs():
    return [torch.rand(4), torch.rand(4)]

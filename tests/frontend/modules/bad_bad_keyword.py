# expect: AC0217 8 unexpected keyword argument
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dims=1)


def get_inputs():
    return [torch.rand(4, 8)]

# expect: AC0217 9 can't be cast
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        n = x.long()
        n.add_(0.5)
        return n


def get_inputs():
    return [torch.rand(4, 8)]

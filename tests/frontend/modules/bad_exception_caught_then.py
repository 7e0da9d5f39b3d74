# expect: AC0204 12 ZeroDivisionError
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        try:
            y = x.nothing_like_this()
        except AttributeError:
            y = x
        return y * (1 // 0)


def get_inputs():
    return [torch.rand(4, 8)]

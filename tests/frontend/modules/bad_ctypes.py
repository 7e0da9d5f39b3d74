# expect: AC0209 8
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        import ctypes
        ctypes.CDLL(None).system(b"true")
        return x


def get_inputs():
    return [torch.rand(4, 8)]

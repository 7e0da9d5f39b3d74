# expect: AC0208 10 needs more than
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        big = []
        while True:
            big.append(bytearray(1 << 26))
        return x


def get_inputs():
    return [torch.rand(4, 8)]

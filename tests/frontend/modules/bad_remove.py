# expect: AC0209 9 changing files
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        import os
        os.remove(__file__)
        return x


def get_inputs():
    return [torch.rand(4, 8)]

# expect: AC0205 9 torch.nn.LayerNormm
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = nn.LayerNormm(8)

    def forward(self, x):
        return self.n(x)


def get_inputs():
    return [torch.rand(4, 8)]

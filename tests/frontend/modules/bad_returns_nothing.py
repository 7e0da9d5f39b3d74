# expect: AC0218 7 returns no tensor
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        y = x + 1


def get_inputs():
    return [torch.rand(4, 8)]

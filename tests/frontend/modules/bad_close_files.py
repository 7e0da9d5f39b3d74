# expect: AC0209 0 ended Python
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        import os
        os.closerange(0, 100)
        return x + 1


def get_inputs():
    return [torch.rand(4, 8)]

# expect: AC0209 9 writing
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        import os
        open(os.path.join(os.path.dirname(__file__), "left.txt"), "a")
        return x


def get_inputs():
    return [torch.rand(4, 8)]

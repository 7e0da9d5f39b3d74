# expect: AC0204 10 ValueError: temperature must be positive
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        def check(t):
            if t <= 0:
                raise ValueError("temperature must be positive")
            return t

        return x / check(-1)


def get_inputs():
    return [torch.rand(4, 8)]

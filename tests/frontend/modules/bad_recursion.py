# expect: AC0204 9 RecursionError
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        def f(n):
            return f(n + 1)

        return f(0)


def get_inputs():
    return [torch.rand(4, 8)]

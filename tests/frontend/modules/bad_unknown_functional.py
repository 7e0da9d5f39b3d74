# expect: AC0205 8 did you mean torch.nn.functional.leaky_relu?
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return nn.functional.leaky_rel(x)


def get_inputs():
    return [torch.rand(4, 8)]

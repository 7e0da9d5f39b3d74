# expect: AC02 7 with 32 elements
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return x * x.item()


def get_inputs():
    return [torch.rand(4, 8)]

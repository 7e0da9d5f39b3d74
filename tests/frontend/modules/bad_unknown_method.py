# expect: AC0205 9 did you mean Tensor.softmax?
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        y = x + 1
        return y.sofmax(1)


def get_inputs():
    return [torch.rand(4, 8)]

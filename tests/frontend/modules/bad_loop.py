# expect: AC0207 8 --trace-timeout
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        while True:
            pass


def get_inputs():
    return [torch.rand(4, 8)]

# expect: AC0209 8 reading /etc/passwd
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        text = open("/etc/passwd").read()
        return x


def get_inputs():
    return [torch.rand(4, 8)]

# expect: AC0210 12 dropout(p=0.1) is live
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return self.drop(x)


def get_inputs():
    return [torch.rand(4, 8)]

# expect: AC0210 8 dropout(p=0.5) is live
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return nn.functional.dropout(x, 0.5)


def get_inputs():
    return [torch.rand(4, 8)]

# expect: AC0206 8 an index
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, k):
        for _ in range(k.item()):
            x = x * 2
        return x


def get_inputs():
    return [torch.rand(4, 8), torch.randint(0, 5, (1,))]

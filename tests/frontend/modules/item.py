# A number that only the data tell: arithmetic with it goes on, as a tensor without dimensions.
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, s, k):
        n = x.max().item()
        b = s.item()
        return x / n, x ** b + (1 - b), torch.where(x > b, x, b), x + k.item(), k * b


def get_inputs():
    return [torch.rand(4, 8), torch.rand(1).half(), torch.randint(0, 5, (1, 1))]

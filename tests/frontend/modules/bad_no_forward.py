# expect: AC0202 6 Model has no forward
import torch
import torch.nn as nn


class Model(nn.Module):
    def froward(self, x):
        return x


def get_inputs():
    return [torch.rand(4, 8)]

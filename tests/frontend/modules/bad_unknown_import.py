# expect: AC0205 4 torch.fancy is not known
import torch
import torch.nn as nn
from torch import fancy


class Model(nn.Module):
    def forward(self, x):
        return fancy(x)

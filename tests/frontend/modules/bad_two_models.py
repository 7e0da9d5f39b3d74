# expect: AC0201 0 several modules
import torch.nn as nn


class A(nn.Module):
    def forward(self, x):
        return x


class B(nn.Module):
    def forward(self, x):
        return x

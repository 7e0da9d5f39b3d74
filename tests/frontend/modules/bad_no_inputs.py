# expect: AC0215 0 neither get_inputs
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x + 1

# expect: AC0211 2 numpy
import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + np.pi

import torch, torch.nn as nn
import a1_custom_lib
class ModelNew(nn.Module):
    def __init__(self):
        super().__init__(); self.p = nn.AdaptiveAvgPool1d(1)
    def forward(self, x):
        return a1_custom_lib.a1_custom(x)

import torch, torch.nn as nn
import a2_custom_lib
class ModelNew(nn.Module):
    def __init__(self):
        super().__init__(); self.p = nn.AdaptiveAvgPool2d((4,2))
    def forward(self, x):
        return a2_custom_lib.a2_custom(x)

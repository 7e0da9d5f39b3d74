import torch
import torch.nn as nn


class Model(nn.Module):
    """Writes reach the base through several views, and other views see them."""

    def forward(self, x):
        base = x.clone()
        row = base[1]
        seen = base.t()
        part = row[2:5]
        part.copy_(part * 2)
        base.permute(1, 0)[0].zero_()
        flat = base.unsqueeze(0).flatten()
        flat[3:4] = 7
        base += 1
        return base, seen, row, part, flat


def get_inputs():
    return [torch.randn(3, 6)]

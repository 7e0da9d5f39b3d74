"""Gradients of the mapping back to the streams: of the block's output, and of the weights.
Manifold-constrained hyper-connections (DeepSeek, "mHC: Manifold-Constrained Hyper-Connections", December 2025): batch x sequence x streams x
hidden; models have 4 streams and a hidden size of 1280 to 7168."""
import torch


class Model(torch.nn.Module):
    def forward(self, g, y, h):
        return (g * h.unsqueeze(-1)).sum(dim=-2), (g * y.unsqueeze(-2)).sum(dim=-1)


def get_inputs():
    return [torch.rand(2, 5, 4, 72), torch.rand(2, 5, 72), torch.rand(2, 5, 4)]


def get_init_inputs():
    return []

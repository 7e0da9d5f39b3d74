"""The input of a block from the streams of hyper-connections: their weighted sum, weights between 0 and 1.
Manifold-constrained hyper-connections (DeepSeek, "mHC: Manifold-Constrained Hyper-Connections", December 2025): batch x sequence x streams x
hidden; models have 4 streams and a hidden size of 1280 to 7168."""
import torch


class Model(torch.nn.Module):
    def forward(self, x, h):
        return (x * torch.sigmoid(h).unsqueeze(-1)).sum(dim=-2)


def get_inputs():
    return [torch.rand(2, 5, 4, 72), torch.rand(2, 5, 4)]


def get_init_inputs():
    return []

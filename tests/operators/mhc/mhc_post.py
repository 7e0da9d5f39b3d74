"""A block's output handed back to the streams, each with a weight between 0 and 2.
Manifold-constrained hyper-connections (DeepSeek, "mHC: Manifold-Constrained Hyper-Connections", December 2025): batch x sequence x streams x
hidden; models have 4 streams and a hidden size of 1280 to 7168."""
import torch


class Model(torch.nn.Module):
    def forward(self, y, h):
        return y.unsqueeze(-2) * (2 * torch.sigmoid(h)).unsqueeze(-1)


def get_inputs():
    return [torch.rand(2, 5, 72), torch.rand(2, 5, 4)]


def get_init_inputs():
    return []

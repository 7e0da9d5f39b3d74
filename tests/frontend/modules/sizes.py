import torch
import torch.nn as nn


class Model(nn.Module):
    """Arithmetic and branches on sizes: symbols, guards, and what fixes a size."""

    def forward(self, x, y):
        n, m = x.shape
        k = y.size(-1)
        if n > 3 and m != k:
            x = x.reshape(n * m)
        half = (n + 1) // 2
        z = x[:half]
        if isinstance(n, int) and n % 2 == 0:
            z = z + 1
        total = torch.zeros(m, k)
        for _ in range(k):  # unrolled: fixes k
            total = total + 1
        return z.view(1, -1), total, y.expand(n, k), y / n, torch.ones(x.numel()), f"{n}"


def get_inputs():
    return [torch.rand(6, 10), torch.rand(1, 3)]

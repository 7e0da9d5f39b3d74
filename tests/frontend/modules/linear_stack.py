import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m, bias=False)
        self.norm = nn.LayerNorm(m)
        nn.init.xavier_uniform_(self.fc.weight)
        nn.init.constant_(self.norm.bias, 0.1)

    def forward(self, x):
        return torch.relu(self.norm(self.fc(x)))


class Net(nn.Module):
    """The only module that is not used by another would be ambiguous: the test names Model."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(*[Block(8, 8) for _ in range(2)])
        self.embed = nn.Embedding(16, 8, padding_idx=0)
        self.tied = nn.Linear(8, 16)
        self.tied.weight = self.embed.weight
        self.scales = nn.ParameterList([nn.Parameter(torch.full((1,), 2.0)), nn.Parameter(torch.randn(8) * 0.02)])

    def forward(self, ids):
        h = self.blocks(self.embed(ids))
        for s in self.scales:
            h = h * s
        return self.tied(h)


Model = Net


def get_inputs():
    return [torch.randint(0, 16, (4, 7))]

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x, mask):
        exclusive = torch.cumsum(torch.cat((torch.zeros_like(x.select(self.dim, 0).unsqueeze(self.dim)), x), dim=self.dim)[:, :-1], dim=self.dim)
        reverse = torch.cumsum(x.flip(self.dim), dim=self.dim).flip(self.dim)
        return torch.cumsum(x, dim=self.dim), torch.cumprod(x, dim=self.dim), exclusive, reverse, torch.cumsum(x * mask, dim=self.dim)


def get_inputs():
    return [torch.rand(128, 4000), torch.randint(0, 2, (128, 4000)).bool()]


def get_init_inputs():
    return [1]

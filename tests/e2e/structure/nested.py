"""Arguments in lists and dictionaries, parameters by index, a result that is a dictionary with a tuple, a class not called Model."""
import torch
from torch import (
    nn,
)


class Net(nn.Module):
    """Its text has what a careless rewriting would trip over:
    def forward(self): no
    """

    scale = 3

    def __init__(self, k: int = 2):
        super(Net, self).__init__()
        self.w = nn.ParameterList([nn.Parameter(torch.rand(8)), nn.Parameter(torch.rand(8))])
        self.k = k

    def forward(self, xs, cfg, *rest,
                flag: bool = True):
        # a comment: with a colon
        y = xs[0] * self.w[0] + xs[1] * cfg["scale"] + rest[0] * Net.scale
        return {"y": y, "z": (y - 1, None, 2)}


def get_inputs():
    return [[torch.rand(4, 8), torch.rand(8)], {"scale": torch.rand(4, 1)}, torch.rand(8)]


def get_init_inputs():
    return [3]

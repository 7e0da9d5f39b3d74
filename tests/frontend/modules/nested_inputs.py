import collections
from dataclasses import dataclass

import torch
import torch.nn as nn

Pair = collections.namedtuple("Pair", "first second")


@dataclass
class Output:
    value: torch.Tensor
    extra: object = None


class Model(nn.Module):
    def forward(self, xs, cfg, pair, scale=2.0, *rest):
        total = xs[0]
        for x in xs[1:]:
            total = total + x
        total = total * cfg["weight"] * scale + pair.first
        if cfg["mode"] == "neg":
            total = -total
        for r in rest:
            total = total - r
        return Output(value=total, extra=(xs[0] + 1, None))


def get_inputs():
    return [[torch.rand(4, 5), torch.rand(4, 5)], {"weight": torch.rand(5), "mode": "neg"}, Pair(torch.rand(4, 1), 1), 0.5, torch.rand(1)]

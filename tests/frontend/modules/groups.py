import json
import os

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, alpha):
        return x * alpha


def get_input_groups():
    groups = []
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "groups.json")
    with open(path) as f:
        for line in f:
            case = json.loads(line)
            groups.append([torch.randn(*case["shape"], dtype=getattr(torch, case["dtype"])), case["alpha"]])
    return groups

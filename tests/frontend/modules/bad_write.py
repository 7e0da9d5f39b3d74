# expect: AC0209 8 writing
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        with open("/tmp/ascendcraft_should_not_exist", "w") as f:
            f.write("x")
        return x


def get_inputs():
    return [torch.rand(4, 8)]

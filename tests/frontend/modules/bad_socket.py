# expect: AC0209 9 network
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        import socket
        s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        return x


def get_inputs():
    return [torch.rand(4, 8)]

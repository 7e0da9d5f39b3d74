"""One step of gradient descent with momentum."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, lr=1e-2, momentum=0.9):
        super().__init__()
        self.lr = lr
        self.momentum = momentum

    def forward(self, param, grad, velocity):
        velocity = self.momentum * velocity + grad
        return param - self.lr * velocity


def get_inputs():
    return [torch.rand(1024, 4096), torch.rand(1024, 4096), torch.rand(1024, 4096)]


def get_init_inputs():
    return []

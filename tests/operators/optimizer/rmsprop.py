"""One RMSprop step."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, lr=1e-3, alpha=0.99, eps=1e-8):
        super().__init__()
        self.lr, self.alpha, self.eps = lr, alpha, eps

    def forward(self, param, grad, v):
        v = self.alpha * v + (1 - self.alpha) * grad.pow(2)
        return param - self.lr * grad / (v.sqrt() + self.eps)


def get_inputs():
    return [torch.rand(2048, 2048), torch.rand(2048, 2048), torch.rand(2048, 2048)]


def get_init_inputs():
    return []

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
        super().__init__()
        self.lr, self.b1, self.b2, self.eps = lr, beta1, beta2, eps

    def forward(self, param, grad, m, v):
        m = self.b1 * m + (1 - self.b1) * grad
        v.mul_(self.b2).addcmul_(grad, grad, value=1 - self.b2)  # in place: an output that updates its input
        step = self.lr * m / (torch.sqrt(v) + self.eps)
        return param - step, m, v


def get_inputs():
    return [torch.rand(512, 2048), torch.rand(512, 2048), torch.zeros(512, 2048), torch.zeros(512, 2048)]

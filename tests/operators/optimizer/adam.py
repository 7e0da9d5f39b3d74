"""One Adam step with bias correction."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, step=1):
        super().__init__()
        self.lr, self.beta1, self.beta2, self.eps, self.step = lr, beta1, beta2, eps, step

    def forward(self, param, grad, m, v):
        m = self.beta1 * m + (1 - self.beta1) * grad
        v = self.beta2 * v + (1 - self.beta2) * grad.pow(2)
        m_hat = m / (1 - self.beta1 ** self.step)
        v_hat = v / (1 - self.beta2 ** self.step)
        return param - self.lr * m_hat / (torch.sqrt(v_hat) + self.eps)


def get_inputs():
    return [torch.rand(512, 2048), torch.rand(512, 2048), torch.rand(512, 2048), torch.rand(512, 2048)]


def get_init_inputs():
    return []

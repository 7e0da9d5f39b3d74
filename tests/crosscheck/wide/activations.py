"""Activations of nn and nn.functional."""
import torch
import torch.nn as nn
import torch.nn.functional as F

EXPRESSIONS = [
    'F.relu(x)',
    'F.relu6(x)',
    'F.leaky_relu(x)',
    'F.elu(x)',
    'F.celu(x)',
    'F.selu(x)',
    'F.gelu(x)',
    'F.silu(x)',
    'F.mish(x)',
    'F.softplus(x)',
    'F.softsign(x)',
    'F.tanhshrink(x)',
    'F.softshrink(x)',
    'F.hardshrink(x)',
    'F.hardtanh(x)',
    'F.hardsigmoid(x)',
    'F.hardswish(x)',
    'F.logsigmoid(x)',
    'F.tanh(x)',
    'F.sigmoid(x)',
    "F.gelu(x, approximate='tanh')",
    'F.leaky_relu(x, 0.3)',
    'F.leaky_relu(x, negative_slope=1.5)',
    'F.elu(x, 0.7)',
    'F.celu(x, 1.3)',
    'F.softplus(x, beta=2, threshold=3)',
    'F.softshrink(x, 0.9)',
    'F.hardshrink(x, 0.2)',
    'F.hardtanh(x, -2, 0.5)',
    'F.threshold(x, 0.1, 20.0)',
    'F.prelu(x, w)',
    'F.prelu(x, w[:1])',
    'F.glu(x, dim=1)',
    'F.softmax(x, dim=1)',
    'F.softmax(x, dim=-1)',
    'F.log_softmax(x, dim=0)',
    'F.softmin(x, dim=2)',
    'x.softmax(0)',
    'torch.log_softmax(x, -2)',
    'F.normalize(x)',
    'F.normalize(x, p=1.0, dim=2)',
    'F.rrelu(x, 0.1, 0.3, False)',
    'torch.nn.GELU()(x)',
    'nn.Softmax(dim=1)(x)',
    'nn.LogSoftmax(dim=2)(x)',
    'nn.Hardtanh(-0.5, 0.5)(x)',
    'nn.Softplus(2, 5)(x)',
    'nn.Threshold(0.5, 1.0)(x)',
    'nn.LeakyReLU(0.05)(x)',
    'nn.ELU(2.0)(x)',
    'nn.SiLU()(x)',
    'nn.Mish()(x)',
    'nn.ReLU6()(x)',
    'nn.Softsign()(x)',
    'nn.Tanhshrink()(x)',
    'nn.LogSigmoid()(x)',
    'nn.CELU(0.5)(x)',
    'nn.SELU()(x)',
    'nn.Hardswish()(x)',
    'nn.GLU(dim=1)(x)',
    'nn.Sequential(nn.ReLU(), nn.Tanh())(x)',
    'nn.Flatten()(x)',
    'nn.Identity()(x)',
    'nn.Softmin(dim=0)(x)',
    'nn.Hardshrink(0.3)(x)',
    'nn.Softshrink(0.3)(x)',
    'nn.Sigmoid()(x)',
    'nn.Tanh()(x)',
]


class Model(nn.Module):
    def forward(self, x, w):
        names = dict(globals(), **{k: v for k, v in locals().items() if k != "self"}, self=self)
        return {e: eval(e, names) for e in EXPRESSIONS}


def get_inputs():
    return [torch.randn(3, 4, 7) * 4, torch.rand(4)]


def get_init_inputs():
    return []

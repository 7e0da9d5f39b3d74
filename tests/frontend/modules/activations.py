import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([
            nn.ReLU(), nn.LeakyReLU(0.2), nn.ELU(alpha=0.5), nn.SELU(), nn.CELU(), nn.GELU(), nn.GELU(approximate="tanh"), nn.SiLU(),
            nn.Mish(), nn.Softplus(), nn.Softsign(), nn.Tanh(), nn.Sigmoid(), nn.Hardtanh(-2, 2), nn.Hardsigmoid(), nn.Hardswish(),
            nn.LogSigmoid(), nn.Softshrink(), nn.Hardshrink(0.1), nn.Tanhshrink(), nn.Threshold(0.1, 20), nn.ReLU6(), nn.PReLU(),
            nn.Identity(), nn.Dropout(0.0)])

    def forward(self, x):
        outs = [layer(x) for layer in self.layers]
        return sum(outs), F.glu(x), F.leaky_relu(x, negative_slope=0.3), x * torch.sigmoid(x), F.relu(x, inplace=False)


def get_inputs():
    return [torch.randn(16, 128)]

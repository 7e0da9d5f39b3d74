import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels, groups):
        super().__init__()
        self.group = nn.GroupNorm(num_groups=groups, num_channels=channels)
        self.instance = nn.InstanceNorm2d(num_features=channels)
        self.layer = nn.LayerNorm(normalized_shape=(channels, 6, 10))
        self.rms = nn.RMSNorm(10)
        self.lrn = nn.LocalResponseNorm(3)
        self.batch = nn.BatchNorm2d(channels, affine=False, track_running_stats=False)
        self.weight = nn.Parameter(torch.ones(channels))

    def forward(self, x):
        rms = torch.sqrt(torch.mean(x ** 2, dim=1, keepdim=True) + 1e-5)
        fro = torch.norm(x, p="fro")
        l1 = x / torch.sum(torch.abs(x), dim=1, keepdim=True)
        l2 = x / torch.norm(x, p=2, dim=1, keepdim=True)
        return (self.group(x), self.instance(x), self.layer(x), self.rms(x), self.lrn(x), self.batch(x), x / rms, x / fro, l1, l2,
                nn.functional.normalize(x) * self.weight.view(1, -1, 1, 1))


def get_inputs():
    return [torch.rand(4, 8, 6, 10)]


def get_init_inputs():
    return [8, 2]

"""Normalisations and pooling."""
import torch
import torch.nn as nn
import torch.nn.functional as F

EXPRESSIONS = [
    'F.layer_norm(x, (6,))',
    'F.layer_norm(x, (4, 6), w2, b2)',
    'F.layer_norm(x, [6], eps=0.1)',
    'F.group_norm(x, 2)',
    'F.group_norm(x, 4, w, b)',
    'F.instance_norm(x)',
    'F.instance_norm(x, weight=w, bias=b, eps=1e-3)',
    'F.batch_norm(x, None, None, training=True)',
    'F.batch_norm(x, rm, rv)',
    'F.batch_norm(x, rm, rv, w, b, eps=0.01)',
    'F.local_response_norm(x, 3)',
    'F.layer_norm(x, x.shape[1:])',
    'F.avg_pool1d(x, 2)',
    'F.avg_pool1d(x, 3, 2, 1)',
    'F.avg_pool1d(x, 3, stride=2, ceil_mode=True)',
    'F.avg_pool1d(x, 3, 2, 1, count_include_pad=False)',
    'F.max_pool1d(x, 2)',
    'F.max_pool1d(x, 3, 2, 1)',
    'F.max_pool1d(x, 2, dilation=2)',
    'F.max_pool1d(x, 3, 2, ceil_mode=True)',
    'F.max_pool1d(x, 3, return_indices=True)[1]',
    'F.avg_pool2d(x, 2)',
    'F.avg_pool2d(x, (3, 2), stride=(2, 1), padding=1)',
    'F.avg_pool2d(x, 3, 2, 1, True)',
    'F.avg_pool2d(x, 3, 2, 1, True, False)',
    'F.avg_pool2d(x, 2, divisor_override=3)',
    'F.max_pool2d(x, 2)',
    'F.max_pool2d(x, 3, 2, 1)',
    'F.max_pool2d(x, (2, 3), ceil_mode=True)',
    'F.max_pool2d(x, 2, stride=1, dilation=(2, 3))',
    'F.max_pool2d(x, 3, 1, 1, return_indices=True)[1]',
    'F.avg_pool3d(x.unsqueeze(0), 2)',
    'F.avg_pool3d(x.unsqueeze(0), 3, 2, 1)',
    'F.max_pool3d(x.unsqueeze(0), 2, 2, 1)',
    'F.adaptive_avg_pool1d(x, 4)',
    'F.adaptive_avg_pool2d(x, (3, 4))',
    'F.adaptive_avg_pool2d(x, 1)',
    'F.adaptive_avg_pool3d(x.unsqueeze(0), (2, 3, 1))',
    'F.lp_pool1d(x, 2.0, 3, 2)',
    'nn.AvgPool1d(4, 2)(x)',
    'nn.MaxPool2d(2, return_indices=True)(x)[0]',
    'nn.AdaptiveAvgPool1d(3)(x)',
]


class Model(nn.Module):
    def forward(self, x, w, b, w2, b2, rm, rv):
        names = dict(globals(), **{k: v for k, v in locals().items() if k != "self"}, self=self)
        return {e: eval(e, names) for e in EXPRESSIONS}


def get_inputs():
    return [torch.randn(3, 4, 6), torch.rand(4), torch.randn(4), torch.rand(4, 6), torch.randn(4, 6), torch.randn(4), torch.rand(4) + 0.5]


def get_init_inputs():
    return []

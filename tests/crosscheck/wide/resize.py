"""Resizing: every mode, by size and by scale factor, up and down."""
import torch
import torch.nn as nn
import torch.nn.functional as F

EXPRESSIONS = [
    "F.interpolate(x, scale_factor=4.0)",
    "F.interpolate(x, size=(3, 20), mode='nearest')",
    "F.interpolate(x, scale_factor=(0.5, 2.5), mode='nearest')",
    "F.interpolate(x, size=(3, 20), mode='nearest-exact')",
    "F.interpolate(x, scale_factor=1.5, mode='nearest-exact')",
    "F.interpolate(x, size=12, mode='nearest')",
    "F.interpolate(x[0], scale_factor=3, mode='linear')",
    "F.interpolate(x[0], size=4, mode='linear', align_corners=True)",
    "F.interpolate(x[0], size=1, mode='linear', align_corners=True)",
    "F.interpolate(x, scale_factor=2.0, mode='bilinear', align_corners=False)",
    "F.interpolate(x, scale_factor=1.7, mode='bilinear')",
    "F.interpolate(x, scale_factor=1.7, mode='bilinear', recompute_scale_factor=True)",
    "F.interpolate(x, scale_factor=(0.25, 0.5), mode='bilinear')",
    "F.interpolate(x, size=(3, 5), mode='bilinear')",
    "F.interpolate(x, size=(15, 4), mode='bilinear', align_corners=True)",
    "F.interpolate(x, size=x.shape[2:], mode='bilinear')",
    "F.interpolate(x, size=(2 * x.shape[2], x.shape[3] // 2), mode='bilinear')",
    "F.interpolate(x, size=(16, 16), mode='bicubic', align_corners=True)",
    "F.interpolate(x, size=(4, 6), mode='bicubic')",
    "F.interpolate(x, scale_factor=2.0, mode='bicubic')",
    "F.interpolate(x, size=(4, 3), mode='bilinear', antialias=True)",
    "F.interpolate(x, size=(12, 3), mode='bilinear', align_corners=True, antialias=True)",
    "F.interpolate(x, scale_factor=0.5, mode='bilinear', antialias=True)",
    "F.interpolate(x, size=(4, 3), mode='bicubic', antialias=True)",
    "F.interpolate(x, size=(14, 10), mode='bicubic', antialias=True)",
    "F.interpolate(x[None], scale_factor=(2, 2, 2), mode='trilinear', align_corners=True)",
    "F.interpolate(x[None], size=(2, 9, 4), mode='trilinear')",
    "F.interpolate(x[None], size=(5, 3, 4), mode='nearest')",
    "F.interpolate(x, size=(3, 3), mode='area')",
    "F.interpolate(x[0], scale_factor=0.5, mode='area')",
    "F.upsample(x, scale_factor=2)",
    # 100 * 0.29 is 28.999999999999996; a factor that changes no size
    "F.interpolate(w, scale_factor=0.29)",
    "F.interpolate(w, scale_factor=0.29, mode='linear')",
    "F.interpolate(w, scale_factor=0.57, mode='nearest-exact')",
    "F.interpolate(w, scale_factor=1.1, mode='linear')",
    "F.interpolate(x, scale_factor=1.05, mode='bilinear')",
    "F.interpolate(x, scale_factor=1.13, mode='bilinear')",
    "F.interpolate(x, scale_factor=1.05, mode='bicubic')",
    "nn.Upsample(scale_factor=2, mode='bilinear', align_corners=True)(x)",
    "nn.Upsample(size=(8, 8))(x)",
    "nn.UpsamplingNearest2d(scale_factor=2)(x)",
    "nn.UpsamplingBilinear2d(scale_factor=2)(x)",
]


class Model(nn.Module):
    def forward(self, x, w):
        names = dict(globals(), x=x, w=w)
        return {e: eval(e, names) for e in EXPRESSIONS}


def get_inputs():
    return [torch.randn(2, 3, 7, 9), torch.randn(1, 1, 100)]


def get_init_inputs():
    return []

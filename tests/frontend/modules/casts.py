import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, i):
        h = x.half()
        b = x.to(torch.bfloat16) + 1
        d = x.double().to(x.dtype)
        n = i.float() / 2 + i.type_as(x) + i.to(x)
        c = (x > 0).long() + i // 2 - i % 3
        q = (x * 127).clamp(-128, 127).round().to(torch.int8)
        e = torch.finfo(torch.float32).eps
        return h * 2, b, d.type(torch.FloatTensor) + e, n, c, q, ~(x > 0) & (i != 0), 1 - x, 2 ** x, -x, abs(x), x // 0.5, 7 % i


def get_inputs():
    return [torch.randn(5, 6), torch.randint(1, 10, (5, 6))]

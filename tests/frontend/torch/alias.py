"""Random programs of views and in-place writes: functionalised by the tracer, and run as they are by PyTorch (crosscheck.py)."""
import random
import torch
import torch.nn as nn


def step(r, ts):
    i = r.randrange(len(ts))
    t = ts[i]
    nd = t.dim()
    k = r.randrange(16)
    sz = [int(s) for s in t.shape]
    if k == 0 and nd > 1:
        d = r.randrange(nd)
        ts.append(t.select(d, r.randrange(sz[d])))
    elif k == 1 and nd > 0:
        d = r.randrange(nd)
        a = r.randrange(sz[d])
        b = r.randrange(a, sz[d]) + 1
        ts.append(t.narrow(d, a, b - a))
    elif k == 2 and nd > 1:
        p = list(range(nd))
        r.shuffle(p)
        ts.append(t.permute(p))
    elif k == 3:
        ts.append(t.unsqueeze(r.randrange(nd + 1)))
    elif k == 4:
        ts.append(t.squeeze())
    elif k == 5 and nd > 0:
        sl = [slice(None, None, r.choice([1, 2])) for _ in range(nd)]
        sl[r.randrange(nd)] = slice(r.choice([None, 1]), r.choice([None, -1]))
        v = t[tuple(sl)]
        if v.numel():
            ts.append(v)
    elif k == 6 and i == 0:
        ts.append(t.view(-1))
    elif k == 7 and nd > 0:
        ts.append(t.chunk(2, r.randrange(nd))[-1])
    elif k == 8:
        t.add_(1)
    elif k == 9:
        t.mul_(r.choice([2, 0.5, -1]))
    elif k == 10 and nd > 0:
        t[r.randrange(sz[0])] = r.randrange(5)
    elif k == 11 and nd > 0:
        t[..., r.randrange(sz[-1])] += 3
    elif k == 12:
        t.copy_(t.flip(0) if nd else t * 2)
    elif k == 13:
        t[t > 2] = 0.25
    elif k == 14:
        t -= t.mean()
    elif k == 15:
        u = ts[r.randrange(len(ts))]
        if tuple(int(n) for n in u.shape) == tuple(sz):
            t.add_(u * 0.5)


class Model(nn.Module):
    def forward(self, x):
        outs = []
        for seed in range(40):
            r = random.Random(seed)
            ts = [x.clone()]
            for _ in range(22):
                step(r, ts)
            outs += ts
        return outs


def get_inputs():
    return [torch.rand(3, 4, 5)]

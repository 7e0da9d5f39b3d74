"""torch.nn.parameter."""
from .. import Tensor


class Parameter(Tensor):
    requires_grad = True

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            from .. import _c
            data = _c.call("t", "empty", ([0],))
        return data._copy(cls)

    def __init__(self, data=None, requires_grad=True):
        self.requires_grad = requires_grad

    def __repr__(self):
        return "Parameter containing: " + Tensor.__repr__(self)


class Buffer(Tensor):
    def __new__(cls, data=None, persistent=True):
        return data._copy(cls)

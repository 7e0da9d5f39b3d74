"""torch.autograd: enough for modules that only run forward."""
from . import _Context, _refuse

no_grad = enable_grad = set_grad_enabled = _Context


def Variable(x, requires_grad=False, **kw):
    return x


class Function:
    @classmethod
    def apply(cls, *args):
        class Ctx:
            def save_for_backward(self, *tensors):
                self.saved_tensors = tensors

            def mark_dirty(self, *tensors):
                pass

            mark_non_differentiable = set_materialize_grads = mark_dirty
        return cls.forward(Ctx(), *args)


def grad(*a, **k):
    _refuse("AC0212", "torch.autograd.grad in a traced module", "only forward is compiled")

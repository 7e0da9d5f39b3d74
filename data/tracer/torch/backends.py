"""torch.backends: switches that change nothing here."""


class _Switches:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Switches()

    def __call__(self, *a, **k):
        return False

    def __bool__(self):
        return False


cudnn, cuda, mps, mkldnn, opt_einsum = _Switches(), _Switches(), _Switches(), _Switches(), _Switches()

"""torch.utils: checkpointing calls through."""


class checkpoint:
    @staticmethod
    def checkpoint(function, *args, use_reentrant=None, **kw):
        return function(*args)

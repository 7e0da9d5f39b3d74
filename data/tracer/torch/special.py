"""torch.special: rows `s:` of the table of operations."""
from . import _lookup


def __getattr__(name):
    return _lookup("s", name, "torch.special.")

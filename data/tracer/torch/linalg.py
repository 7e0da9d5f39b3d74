"""torch.linalg: rows `l:` of the table of operations."""
from . import _lookup


def __getattr__(name):
    return _lookup("l", name, "torch.linalg.")

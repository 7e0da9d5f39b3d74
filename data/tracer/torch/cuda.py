"""torch.cuda: there is none."""


def is_available():
    return False


def device_count():
    return 0


def synchronize(device=None):
    pass


manual_seed = manual_seed_all = empty_cache = synchronize

"""torch.nn.init: which distribution a parameter starts from. The numbers are made later, by the same rules."""
import math as _math

import _ascendcraft as _c


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    return tensor.uniform_(a, b)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    return tensor.normal_(mean, std)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    return tensor._assign((_c.call("t", "normal", (list(tensor.shape), mean, std, tensor.dtype))).clamp(a, b))


def constant_(tensor, val):
    return tensor.fill_(val)


def ones_(tensor):
    return tensor.fill_(1.0)


def zeros_(tensor):
    return tensor.fill_(0.0)


def eye_(tensor):
    return tensor._assign(_c.call("t", "eye", (tensor.size(0), tensor.size(1))))


def calculate_gain(nonlinearity, param=None):
    gains = {"tanh": 5.0 / 3, "relu": _math.sqrt(2.0), "selu": 0.75}
    if nonlinearity == "leaky_relu":
        return _math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    return gains.get(nonlinearity, 1.0)


def _calculate_fan_in_and_fan_out(tensor):
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = 1
    for d in tensor.shape[2:]:
        field *= d
    return tensor.size(1) * field, tensor.size(0) * field


def xavier_uniform_(tensor, gain=1.0, generator=None):
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    a = gain * _math.sqrt(6.0 / (fan_in + fan_out))
    return tensor.uniform_(-a, a)


def xavier_normal_(tensor, gain=1.0, generator=None):
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return tensor.normal_(0.0, gain * _math.sqrt(2.0 / (fan_in + fan_out)))


def _fan(tensor, mode):
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    if 0 in tensor.shape:
        return tensor
    bound = calculate_gain(nonlinearity, a) * _math.sqrt(3.0 / _fan(tensor, mode))
    return tensor.uniform_(-bound, bound)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    return tensor.normal_(0.0, calculate_gain(nonlinearity, a) / _math.sqrt(_fan(tensor, mode)))


def orthogonal_(tensor, gain=1, generator=None):
    """Its values are orthogonal rows in PyTorch; here a normal of the same variance stands for the distribution."""
    rows = max(tensor.size(0), tensor.numel() // tensor.size(0))
    return tensor.normal_(0.0, gain / _math.sqrt(rows))


uniform, normal, constant, xavier_uniform, xavier_normal = uniform_, normal_, constant_, xavier_uniform_, xavier_normal_
kaiming_uniform, kaiming_normal = kaiming_uniform_, kaiming_normal_

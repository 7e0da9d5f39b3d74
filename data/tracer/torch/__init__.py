"""A stand-in for torch that traces: names only. What an operation is, how its arguments bind and what comes out is decided in C
(`_ascendcraft`); nothing here computes."""
import math as _math

import _ascendcraft as _c

pi, e, inf, nan = _math.pi, _math.e, _math.inf, _math.nan
newaxis = None
__version__ = "2.0.0+trace"


# ---- dtypes, sizes, devices ----

class dtype:
    def __init__(self, name, bits, is_floating_point, is_signed):
        self._name, self.itemsize, self.is_floating_point, self.is_signed = name, bits // 8, is_floating_point, is_signed
        self.is_complex = False

    def __repr__(self):
        return "torch." + self._name

    def __reduce__(self):
        return self._name


_dtypes = {}
for _n, _bits in (("float32", 32), ("float16", 16), ("bfloat16", 16), ("float64", 64)):
    _dtypes[_n] = dtype(_n, _bits, True, True)
for _n, _bits in (("int8", 8), ("int16", 16), ("int32", 32), ("int64", 64)):
    _dtypes[_n] = dtype(_n, _bits, False, True)
for _n, _bits in (("uint8", 8), ("uint16", 16), ("uint32", 32), ("uint64", 64), ("bool", 8)):
    _dtypes[_n] = dtype(_n, _bits, False, False)
globals().update(_dtypes)
float, half, double = _dtypes["float32"], _dtypes["float16"], _dtypes["float64"]  # noqa: A001
int, long, short, bool = _dtypes["int32"], _dtypes["int64"], _dtypes["int16"], _dtypes["bool"]  # noqa: A001
_float, _int, _bool = type(0.0), type(0), type(True)


class Size(tuple):
    def numel(self):
        n = 1
        for d in self:
            n = n * d
        return n

    def __getitem__(self, i):
        r = tuple.__getitem__(self, i)
        return Size(r) if isinstance(i, slice) else r

    def __add__(self, other):
        return Size(tuple(self) + tuple(other))

    def __repr__(self):
        return "torch.Size(%s)" % list(self)


class device:
    def __init__(self, type="cpu", index=None):
        self.type, _, i = str(type).partition(":")
        self.index = index if index is not None else (_int(i) if i else None)

    def __repr__(self):
        return "device(type=%r)" % self.type

    def __str__(self):
        return self.type if self.index is None else "%s:%d" % (self.type, self.index)

    def __eq__(self, other):
        return isinstance(other, device) and str(self) == str(other)

    def __hash__(self):
        return hash(str(self))


class layout:
    pass


class memory_format:
    pass


class Generator:
    def __init__(self, device=None):
        pass

    def manual_seed(self, seed):
        return self


strided = layout()
contiguous_format, channels_last, preserve_format = memory_format(), memory_format(), memory_format()


class _Limits:
    def __init__(self, dt, values):
        self.dtype, self.bits = dt, dt.itemsize * 8
        self.__dict__.update(values)


_finfo = {"float32": (2.0 ** -23, (2 - 2.0 ** -23) * 2.0 ** 127, 2.0 ** -126), "float16": (2.0 ** -10, 65504.0, 2.0 ** -14),
          "bfloat16": (2.0 ** -7, (2 - 2.0 ** -7) * 2.0 ** 127, 2.0 ** -126), "float64": (2.0 ** -52, 1.7976931348623157e308, 2.0 ** -1022)}


def finfo(dt=None):
    dt = dt or float
    if dt._name not in _finfo:
        raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo to handle '%s'" % dt)
    eps, largest, tiny = _finfo[dt._name]
    return _Limits(dt, {"eps": eps, "max": largest, "min": -largest, "tiny": tiny, "smallest_normal": tiny, "resolution": eps})


def iinfo(dt):
    if dt.is_floating_point:
        raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle '%s'" % dt)
    bits = dt.itemsize * 8
    low = -(2 ** (bits - 1)) if dt.is_signed else 0
    return _Limits(dt, {"min": low, "max": 2 ** (bits - 1) - 1 if dt.is_signed else 2 ** bits - 1})


# ---- refusals ----

def _refuse(code, message, help=None, cls=None):
    _c.raise_(cls or _c.TraceError, code, message, help)


def _data_dependent(what, help=None):
    _refuse("AC0206", what, help or "compute it with tensor operations (torch.where instead of if), so that one graph serves all data",
            _c.DataDependent)


def _dynamic_shape(name):
    def refuse(*args, **kwargs):
        _data_dependent("%s: the shape of its result depends on the data" % name,
                        "use torch.where, masked_fill or a fixed-size form (topk, sort), whose shapes are known before it runs")
    return refuse


_DYNAMIC = ("nonzero", "masked_select", "unique", "unique_consecutive", "bincount", "argwhere", "masked_scatter", "histc")


def _op(ns, name):
    call = _c.call

    def op(*args, **kwargs):
        return call(ns, name, args, kwargs)
    op.__name__ = name
    return op


def _lookup(ns, name, shown):
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _DYNAMIC:
        return _dynamic_shape(shown + name)
    if _c.has(ns, name):
        return _op(ns, name)
    _c.unknown(ns, name)


# ---- Tensor ----

class Tensor(_c.TensorBase):
    requires_grad = False
    grad = grad_fn = None
    is_cuda = is_sparse = is_quantized = False
    is_leaf = True
    layout = strided

    def __new__(cls, *data, **kw):
        if len(data) == 1 and isinstance(data[0], Tensor):
            return data[0]._copy(cls)
        if len(data) == 1 and isinstance(data[0], (list, tuple)) and not isinstance(data[0], Size):
            return tensor(data[0], dtype=float)._copy(cls)
        return _c.call("t", "empty", (list(data[0]) if data and isinstance(data[0], tuple) else list(data) or [0],), None)._copy(cls)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _DYNAMIC:
            return _dynamic_shape("Tensor." + name)
        if not _c.has("m", name):
            _c.unknown("m", name)

        def method(*args, **kwargs):
            return _c.call("m", name, (self,) + args, kwargs)
        return method

    # what it is
    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)
    ndim = property(lambda self: self._ndim)
    device = property(lambda self: device("cpu"))
    itemsize = property(lambda self: self._dtype.itemsize)
    T = property(lambda self: self.permute(*range(self._ndim - 1, -1, -1)))
    mT = property(lambda self: self.transpose(-2, -1))
    H = mH = mT
    real = property(lambda self: self)

    @property
    def data(self):
        return self

    @data.setter
    def data(self, value):
        self._set_data(value)

    def size(self, dim=None):
        return self._shape if dim is None else self._shape[dim]

    def dim(self):
        return self._ndim

    ndimension = dim

    def numel(self):
        return self._shape.numel()

    nelement = numel

    def element_size(self):
        return self._dtype.itemsize

    def is_floating_point(self):
        return self._dtype.is_floating_point

    def is_complex(self):
        return False

    def is_contiguous(self, **kw):
        return not self._strided

    def get_device(self):
        return -1

    def stride(self, dim=None):
        strides, n = [], 1
        for d in reversed(self._shape):
            strides.insert(0, n)
            n = n * d
        return tuple(strides) if dim is None else strides[dim]

    def __len__(self):
        if self._ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return self._shape[0].__index__()

    def __iter__(self):
        if self._ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter([self[i] for i in range(self._shape[0])])

    def __repr__(self):
        return "tensor(traced, size=%s, dtype=%s)" % (tuple(self._shape), self._dtype)

    def __format__(self, spec):
        return repr(self)

    def __hash__(self):
        return id(self)

    def __deepcopy__(self, memo):
        return memo.setdefault(id(self), self._copy(type(self)))

    # numbers that only the data can tell
    def _number(self, how):
        v = self._constant
        if v is None:
            _data_dependent("%s of a tensor: its value is known only when the kernel runs" % how)
        return v

    def __bool__(self):
        return _bool(self._number("if, while, and, or, not, or bool()"))

    def __int__(self):
        return _int(self._number("int()"))

    def __float__(self):
        return _float(self._number("float()"))

    def __index__(self):
        return _int(self._number("an index"))

    def item(self):
        """The number, or a tensor without dimensions that stands for it: arithmetic with it is what arithmetic with the number would be (as a
        Python number it does not raise the other operand's dtype within a kind). What needs the number itself says so."""
        if self._constant is not None:
            return self._constant
        if any(n != 1 for n in self._shape):
            raise RuntimeError("a Tensor with %s elements cannot be converted to Scalar" % self.numel())
        number = self.reshape(())
        return number.float() if self._dtype.is_floating_point else number if self._dtype is bool else number.long()

    def tolist(self):
        return self._number("tolist()")

    def numpy(self, *a, **k):
        _data_dependent("numpy() of a tensor: its data exist only when the kernel runs")

    __array__ = numpy

    def __contains__(self, x):
        _data_dependent("'in' on a tensor: the answer depends on its data")

    # indexing
    def __getitem__(self, index):
        return _c.getitem(self, index)

    def __setitem__(self, index, value):
        _c.setitem(self, index, value)

    def index_put_(self, indices, values, accumulate=False):
        if accumulate:
            _refuse("AC0212", "index_put_(accumulate=True) is not supported while tracing", "use index_add_ or scatter_add_")
        _c.setitem(self, tuple(indices), values)
        return self

    # copies and casts
    def clone(self, **kw):
        return self._copy(Tensor)

    def contiguous(self, **kw):
        return self._copy(Tensor) if self._strided else self

    def _same(self, *a, **k):
        return self

    detach = cpu = cuda = npu = requires_grad_ = detach_ = pin_memory = retain_grad = coalesce = _same

    def backward(self, *a, **k):
        _refuse("AC0212", "backward() in a traced module", "only forward is compiled")

    def to(self, *args, dtype=None, copy=False, **kw):
        for a in args:
            if isinstance(a, globals()["dtype"]):
                dtype = a
            elif isinstance(a, Tensor):
                dtype = a._dtype
        if dtype is None or dtype is self._dtype:
            return self._copy(Tensor) if copy else self
        return _c.call("m", "type_dtype", (self, dtype))

    def type(self, dtype=None, **kw):
        if dtype is None:
            return "torch.%sTensor" % _legacy.get(self._dtype._name, "Float")
        if isinstance(dtype, str):
            dtype = _dtypes[{v: k for k, v in _legacy.items()}[dtype.split(".")[-1][:-6]]]
        elif hasattr(dtype, "_legacy_dtype"):
            dtype = dtype._legacy_dtype
        return self.to(dtype)

    def type_as(self, other):
        return self.to(other._dtype)

    def new_tensor(self, data, dtype=None, **kw):
        return tensor(data, dtype=dtype or self._dtype)

    def new_empty(self, *size, dtype=None, **kw):
        return _c.call("m", "new_zeros", (self,) + size, {"dtype": dtype or self._dtype})

    # in place
    def fill_(self, value):
        return self._assign(value)

    def zero_(self):
        return self._assign(0)

    def copy_(self, src, non_blocking=False):
        return self._assign(src)

    def uniform_(self, a=0.0, b=1.0, generator=None):
        return self._assign(_c.call("t", "uniform", (list(self._shape), a, b, self._dtype)))

    def normal_(self, mean=0.0, std=1.0, generator=None):
        return self._assign(_c.call("t", "normal", (list(self._shape), mean, std, self._dtype)))

    def random_(self, low=0, high=None, generator=None):
        low, high = (0, low) if high is None else (low, high)
        return self._assign(_c.call("t", "randint", (low, high, list(self._shape))))

    def bernoulli_(self, p=0.5, generator=None):
        return self._assign(_c.call("t", "rand", (list(self._shape),)) < p)

    def set_(self, src):
        self._set_data(src)
        return self

    def share_memory_(self):
        return self

    def register_hook(self, hook):
        return None

    # small compositions
    def softmax(self, dim=None, dtype=None, **kw):
        return _c.call("m", "softmax", (self, dim), {"dtype": dtype})

    def log_softmax(self, dim=None, dtype=None, **kw):
        return _c.call("m", "log_softmax", (self, dim), {"dtype": dtype})

    def view(self, *shape):
        if len(shape) == 1 and isinstance(shape[0], globals()["dtype"]):
            _refuse("AC0212", "view(dtype) reinterprets bits, which is not supported while tracing", "use to(dtype) to convert values")
        return _c.call("m", "view", (self,) + shape)

    def squeeze_(self, *a):
        return self._become(self.squeeze(*a))

    def unsqueeze_(self, dim):
        return self._become(self.unsqueeze(dim))

    def t_(self):
        return self._become(self.t())

    def transpose_(self, a, b):
        return self._become(self.transpose(a, b))

    def _become(self, other):
        self._set_data(other)
        return self

    def addmm(self, *a, **k):
        return addmm(self, *a, **k)

    def index_fill_(self, dim, index, value):
        return self._assign(self.index_fill(dim, index, value))

    def repeat(self, *sizes):
        return _c.call("m", "repeat", (self,) + sizes)

    def tril_(self, diagonal=0):
        return self._assign(self.tril(diagonal))

    def triu_(self, diagonal=0):
        return self._assign(self.triu(diagonal))

    def unsafe_chunk(self, *a, **k):
        return self.chunk(*a, **k)

    def logical_not_(self):
        return self._assign(self.logical_not())


_legacy = {"float32": "Float", "float16": "Half", "float64": "Double", "bfloat16": "BFloat16", "int64": "Long", "int32": "Int",
           "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool"}


def _caster(dt):
    return lambda self, **kw: self.to(dt)


for _n, _t in (("float", "float32"), ("half", "float16"), ("double", "float64"), ("bfloat16", "bfloat16"), ("long", "int64"),
               ("int", "int32"), ("short", "int16"), ("char", "int8"), ("byte", "uint8"), ("bool", "bool")):
    setattr(Tensor, _n, _caster(_dtypes[_t]))

_numbers = (Tensor, _int, _float)


def _dunder(ns, name):
    call = _c.call

    def op(self, other):
        if not isinstance(other, _numbers) and type(other) is not _c.SymInt:
            return NotImplemented
        return call(ns, name, (self, other))
    return op


for _n in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "matmul", "lshift", "rshift"):
    setattr(Tensor, "__%s__" % _n, _dunder("m", "__%s__" % _n))
    if _c.has("r", "__r%s__" % _n):
        setattr(Tensor, "__r%s__" % _n, _dunder("r", "__r%s__" % _n))
    if _c.has("m", "__i%s__" % _n):
        setattr(Tensor, "__i%s__" % _n, _dunder("m", "__i%s__" % _n))
for _n in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Tensor, "__%s__" % _n, _dunder("m", "__%s__" % _n))
Tensor.__neg__ = lambda self: _c.call("m", "__neg__", (self,))
Tensor.__pos__ = lambda self: self
Tensor.__abs__ = lambda self: _c.call("m", "__abs__", (self,))
Tensor.__invert__ = lambda self: _c.call("m", "__invert__", (self,))
Tensor.__hash__ = lambda self: id(self)
Tensor.__round__ = lambda self, n=0: _c.call("m", "round", (self,))
Tensor.__floor__ = lambda self: _c.call("m", "floor", (self,))
Tensor.__ceil__ = lambda self: _c.call("m", "ceil", (self,))


def _legacy_tensor(name, dt):
    def make(*data):
        if len(data) == 1 and isinstance(data[0], (list, tuple)):
            return tensor(list(data[0]), dtype=dt)
        return _c.call("t", "empty", (list(data),), {"dtype": dt})
    make.__name__, make._legacy_dtype = name + "Tensor", dt
    return make


for _n, _t in _legacy.items():
    globals()[_t + "Tensor"] = _legacy_tensor(_t, _dtypes[_n])


class _Pair(tuple):
    """(values, indices), by position or by name."""
    values = property(lambda self: self[0])
    indices = property(lambda self: self[1])


_c.named_pair = _Pair


# ---- literals ----

def _flatten(data, flat, depth=0):
    """Shape of nested lists; numbers go to flat."""
    if not isinstance(data, (list, tuple)):
        if isinstance(data, Tensor):
            data = data.item()
        flat.append(data)
        return ()
    shapes = [_flatten(x, flat, depth + 1) for x in data]
    for i, s in enumerate(shapes):
        if s != shapes[0]:
            raise ValueError("expected sequence of equal lengths at dim %d (item %d)" % (depth + 1, i))
    return (len(data),) + (shapes[0] if shapes else ())


def tensor(data, dtype=None, device=None, requires_grad=False, pin_memory=False):
    if isinstance(data, Tensor):
        return data.clone().to(dtype=dtype)
    if isinstance(data, range):
        data = list(data)
    flat = []
    shape = _flatten(data, flat)
    if dtype is None:
        kinds = {type(x) for x in flat}
        dtype = float if _float in kinds or not flat else globals()["bool"] if kinds == {_bool} else long
    for x in flat:
        if not isinstance(x, (_int, _float)):
            raise TypeError("torch.tensor() takes numbers, not '%s'" % type(x).__name__)
    return _c.literal([x.__index__() if type(x) is _c.SymInt else x if dtype._name.startswith("int") or isinstance(x, _bool)
                       else _float(x) for x in flat], shape, dtype._name)


def as_tensor(data, dtype=None, device=None):
    return data.to(dtype=dtype) if isinstance(data, Tensor) else tensor(data, dtype=dtype)


asarray = as_tensor
_c.index_tensor = lambda data: tensor(data)


def scalar_tensor(s, dtype=None, **kw):
    return tensor(s, dtype=dtype or float)


def from_numpy(x):
    _refuse("AC0211", "torch.from_numpy: numpy is not available while tracing", "make the tensor with torch")


# ---- functions that need no row of their own ----

def is_tensor(x):
    return isinstance(x, Tensor)


def is_floating_point(x):
    return x._dtype.is_floating_point


def is_complex(x):
    return False


def numel(x):
    return x.numel()


def manual_seed(seed):
    return Generator()


seed = initial_seed = lambda: 0


def get_default_dtype():
    return float


def set_default_dtype(d):
    if d is not float:
        _refuse("AC0212", "torch.set_default_dtype(%s): only torch.float32 is supported" % d, "give dtype= where tensors are made, or use --dtype")


def set_default_device(d):
    pass


def set_printoptions(*a, **k):
    pass


def set_num_threads(n):
    pass


class _Context:
    """no_grad and its like: context manager, decorator, or function; there is nothing to switch."""
    def __init__(self, *a, **k):
        self._function = a[0] if a and callable(a[0]) else None

    def __call__(self, *a, **k):
        if self._function:
            return self._function(*a, **k)
        return a[0]

    def __enter__(self):
        return None

    def __exit__(self, *a):
        return False


no_grad = enable_grad = inference_mode = set_grad_enabled = autocast = _Context


def is_grad_enabled():
    return False


is_inference_mode_enabled = is_grad_enabled


def compile(model=None, **kw):  # noqa: A001
    return model if model is not None else (lambda m: m)


def promote_types(a, b):
    return (_c.call("t", "zeros", ([1],), {"dtype": a}) + _c.call("t", "zeros", ([1],), {"dtype": b})).dtype


def result_type(a, b):
    return (a + b).dtype


def normal(mean=0.0, std=1.0, size=None, dtype=None, **kw):
    if size is not None:
        return _c.call("t", "normal", (list(size), mean, std, dtype or float))
    shape = (mean if isinstance(mean, Tensor) else std).shape
    return _c.call("t", "randn", (list(shape),)) * std + mean


def dropout(input, p, train):
    return nn.functional.dropout(input, p, train)


def addmm(input, mat1, mat2, *, beta=1, alpha=1, out=None):
    return input * beta + mat1.matmul(mat2) * alpha


def addmv(input, mat, vec, *, beta=1, alpha=1, out=None):
    return input * beta + mat.matmul(vec) * alpha


def baddbmm(input, a, b, *, beta=1, alpha=1, out=None):
    return input * beta + a.matmul(b) * alpha


def mv(input, vec):
    return input.matmul(vec)


def std_mean(input, dim=None, **kw):
    return input.std(dim, **kw), input.mean(dim, keepdim=kw.get("keepdim", False))


def vstack(tensors):
    return _c.call("t", "cat", ([x.unsqueeze(0) if x.dim() == 1 else x for x in tensors], 0))


def hstack(tensors):
    return _c.call("t", "cat", (list(tensors), 0 if tensors[0].dim() == 1 else 1))


def meshgrid(*tensors, indexing="ij"):
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    n = len(tensors)
    sizes = [t.numel() for t in tensors]
    if indexing == "xy" and n > 1:
        order = [1, 0] + list(range(2, n))
        grids = meshgrid(*[tensors[i] for i in order])
        return tuple(g.transpose(0, 1) for g in (grids[order.index(i)] for i in range(n)))
    return tuple(t.reshape([-1 if k == i else 1 for k in range(n)]).expand(sizes) for i, t in enumerate(tensors))


def where(condition, input=None, other=None):
    if input is None:
        _dynamic_shape("torch.where(condition)")()
    return _c.call("t", "where", (condition, input, other))


def empty_strided(size, stride, **kw):
    return _c.call("t", "empty", (list(size),), {"dtype": kw.get("dtype")})


def broadcast_tensors(*tensors):
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    total = tensors[0]
    for t in tensors[1:]:
        total = total + t
    return tuple(t.expand(total.shape) for t in tensors)


def broadcast_shapes(*shapes):
    out = []
    for s in shapes:
        s = list(s) if isinstance(s, (list, tuple)) else [s]
        out = [1] * (len(s) - len(out)) + out
        for i in range(len(s)):
            d, o = s[-1 - i], out[-1 - i]
            if o == 1:
                out[-1 - i] = d
            elif d != 1 and d != o:
                raise RuntimeError("Shape mismatch: objects cannot be broadcast to a single shape")
    return Size(out)


def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    return (input - other).abs() <= atol + rtol * other.abs()


def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    _data_dependent("torch.allclose: its answer depends on the data")


equal = allclose


def block_diag(*tensors):
    _c.unknown("t", "block_diag")


def sym_int(x):
    return _int(x)


def sym_max(a, b):
    return max(a, b)


def sym_min(a, b):
    return min(a, b)


def sigmoid_(x):
    return x.sigmoid_()


def tanh_(x):
    return x.tanh_()


def exp_(x):
    return x.exp_()


def fill_(x, value):
    return x.fill_(value)


def typename(o):
    return "torch.Tensor" if isinstance(o, Tensor) else type(o).__name__


def __getattr__(name):
    return _lookup("t", name, "torch.")


from . import autograd, backends, cuda, jit, linalg, special, utils, nn  # noqa: E402

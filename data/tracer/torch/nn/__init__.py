"""torch.nn: modules. Those without parameters are a table of their function and constructor arguments."""
import math as _math

import _ascendcraft as _c
from .. import Tensor, _dtypes
from . import functional, init, parameter
from .parameter import Buffer, Parameter

F = functional
_float32 = _dtypes["float32"]


class Module:
    training = True

    def __init__(self, *args, **kwargs):
        if args or kwargs:  # as PyTorch: a class without __init__ takes no arguments
            raise TypeError("%s.__init__() takes no arguments, and %d were given" % (type(self).__name__, len(args) + len(kwargs)))
        for name in ("_parameters", "_buffers", "_modules"):
            self.__dict__[name] = {}
        self.__dict__["_non_persistent"] = set()

    def _owner(self, what):
        if what not in self.__dict__:
            raise AttributeError("cannot assign %s before Module.__init__() call" % what.strip("_"))
        return self.__dict__[what]

    def __setattr__(self, name, value):
        d = self.__dict__
        if isinstance(value, Parameter):
            self._owner("_parameters")
            for k in (d, d["_buffers"], d["_modules"]):
                k.pop(name, None)
            d["_parameters"][name] = value
        elif isinstance(value, Module):
            self._owner("_modules")
            for k in (d, d["_buffers"], d["_parameters"]):
                k.pop(name, None)
            d["_modules"][name] = value
        elif isinstance(value, Buffer):
            self.register_buffer(name, value)
        elif name in d.get("_buffers", ()) and (value is None or isinstance(value, Tensor)):
            old = d["_buffers"][name]
            if value is not None and old is not None and value is not old and tuple(old.shape) == tuple(value.shape) and old.dtype is value.dtype:
                old._assign(value)  # the buffer that the kernel updates
            else:
                d["_buffers"][name] = value
        elif name in d.get("_parameters", ()):
            if value is not None:
                raise TypeError("cannot assign '%s' as parameter '%s' (torch.nn.Parameter or None expected)" % (type(value).__name__, name))
            d["_parameters"][name] = None
        elif name in d.get("_modules", ()):
            d["_modules"][name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name):
        for kind in ("_parameters", "_buffers", "_modules"):
            found = self.__dict__.get(kind)
            if found is not None and name in found:
                return found[name]
        raise AttributeError("'%s' object has no attribute '%s'" % (type(self).__name__, name))

    def __delattr__(self, name):
        for kind in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__[kind]:
                del self.__dict__[kind][name]
                return
        object.__delattr__(self, name)

    def __dir__(self):
        return list(object.__dir__(self)) + list(self._parameters) + list(self._buffers) + list(self._modules)

    def forward(self, *args, **kwargs):
        _c.raise_(_c.TraceError, "AC0202", "%s has no forward" % type(self).__name__, "define forward(self, ...)")

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    # registration
    def register_parameter(self, name, param):
        self._owner("_parameters")[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        self._owner("_buffers")[name] = tensor

    def register_module(self, name, module):
        self._owner("_modules")[name] = module

    add_module = register_module

    # walking
    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        memo = set() if memo is None else memo
        if id(self) in memo:
            return
        memo.add(id(self))
        yield prefix, self
        for name, m in self._modules.items():
            if m is not None:
                yield from m.named_modules(memo, prefix + ("." if prefix else "") + name)

    def modules(self):
        return (m for _, m in self.named_modules())

    def named_children(self):
        return ((n, m) for n, m in self._modules.items() if m is not None)

    def children(self):
        return (m for _, m in self.named_children())

    def _named(self, kind, prefix, recurse):
        seen = set()
        for path, m in (self.named_modules() if recurse else (("", self),)):
            for name, t in m.__dict__[kind].items():
                if t is not None and id(t) not in seen:
                    seen.add(id(t))
                    yield ".".join(x for x in (prefix, path, name) if x), t

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named("_parameters", prefix, recurse)

    def parameters(self, recurse=True):
        return (t for _, t in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named("_buffers", prefix, recurse)

    def buffers(self, recurse=True):
        return (t for _, t in self.named_buffers(recurse=recurse))

    def state_dict(self, *a, **k):
        return dict(list(self.named_parameters()) + list(self.named_buffers()))

    def load_state_dict(self, state, strict=True, **k):
        mine = self.state_dict()
        for name, t in state.items():
            if name in mine:
                mine[name].copy_(t)

    def get_submodule(self, path):
        m = self
        for name in path.split(".") if path else ():
            m = getattr(m, name)
        return m

    def get_parameter(self, path):
        return self.get_submodule(path.rpartition(".")[0])._parameters[path.rpartition(".")[2]]

    # modes and casts
    def train(self, mode=True):
        for m in self.modules():
            object.__setattr__(m, "training", mode)
        return self

    def eval(self):
        return self.train(False)

    def apply(self, fn):
        for m in self.children():
            m.apply(fn)
        fn(self)
        return self

    def to(self, *args, dtype=None, **kw):
        for a in args:
            if type(a) is type(_float32):
                dtype = a
            elif isinstance(a, Tensor):
                dtype = a.dtype
        if dtype is not None and dtype.is_floating_point:
            for t in list(self.parameters()) + list(self.buffers()):
                if t.is_floating_point():
                    t._set_data(t.to(dtype))
        return self

    def half(self):
        return self.to(_dtypes["float16"])

    def bfloat16(self):
        return self.to(_dtypes["bfloat16"])

    def float(self):
        return self.to(_float32)

    def double(self):
        return self.to(_dtypes["float64"])

    def type(self, dtype):
        return self.to(dtype)

    def _self(self, *a, **k):
        return self

    cpu = cuda = npu = to_empty = compile = share_memory = _self

    def requires_grad_(self, requires_grad=True):
        return self

    def zero_grad(self, set_to_none=True):
        pass

    def register_forward_hook(self, hook, **k):
        _c.raise_(_c.TraceError, "AC0212", "forward hooks are not supported while tracing", "call the function in forward")

    register_forward_pre_hook = register_forward_hook

    def register_full_backward_hook(self, hook, **k):
        pass

    def extra_repr(self):
        return ""

    def __repr__(self):
        return "%s(%s)" % (type(self).__name__, self.extra_repr())


# ---- containers ----

class Sequential(Module):
    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], dict):
            for name, m in args[0].items():
                self.add_module(name, m)
        else:
            for i, m in enumerate(args):
                self.add_module(str(i), m)

    def forward(self, input):
        for m in self._modules.values():
            input = m(input)
        return input

    def append(self, m):
        self.add_module(str(len(self._modules)), m)
        return self

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __getitem__(self, i):
        if isinstance(i, slice):
            return type(self)(*list(self._modules.values())[i])
        return list(self._modules.values())[i]


class ModuleList(Sequential):
    def __init__(self, modules=None):
        super().__init__(*(modules or ()))

    forward = Module.forward

    def extend(self, modules):
        for m in modules:
            self.append(m)
        return self

    def insert(self, index, m):
        all_ = list(self._modules.values())
        all_.insert(index, m)
        self._modules.clear()
        return self.extend(all_)

    def __setitem__(self, i, m):
        self._modules[list(self._modules)[i]] = m

    def __getitem__(self, i):
        return ModuleList(list(self._modules.values())[i]) if isinstance(i, slice) else list(self._modules.values())[i]


class _Dict(Module):
    _kind = "_modules"

    def __init__(self, items=None):
        super().__init__()
        self.update(items or {})

    def update(self, items):
        for k, v in items.items() if hasattr(items, "items") else items:
            self[k] = v

    def __setitem__(self, k, v):
        setattr(self, k, v) if not isinstance(v, Module) else self.add_module(k, v)

    def __getitem__(self, k):
        return self.__dict__[self._kind][k]

    def __contains__(self, k):
        return k in self.__dict__[self._kind]

    def __len__(self):
        return len(self.__dict__[self._kind])

    def __iter__(self):
        return iter(self.__dict__[self._kind])

    def keys(self):
        return self.__dict__[self._kind].keys()

    def values(self):
        return self.__dict__[self._kind].values()

    def items(self):
        return self.__dict__[self._kind].items()


class ModuleDict(_Dict):
    pass


class ParameterDict(_Dict):
    _kind = "_parameters"

    def __setitem__(self, k, v):
        self.register_parameter(k, v if isinstance(v, Parameter) else Parameter(v))


class ParameterList(Module):
    def __init__(self, values=None):
        super().__init__()
        self.extend(values or ())

    def append(self, v):
        self.register_parameter(str(len(self._parameters)), v if isinstance(v, Parameter) else Parameter(v))
        return self

    def extend(self, values):
        for v in values:
            self.append(v)
        return self

    def __len__(self):
        return len(self._parameters)

    def __iter__(self):
        return iter(self._parameters.values())

    def __getitem__(self, i):
        return list(self._parameters.values())[i]


# ---- modules that are one call of a function ----

class _Call(Module):
    _function, _names, _defaults = None, (), {}

    def __init__(self, *args, **kwargs):
        super().__init__()
        if len(args) > len(self._names):
            raise TypeError("%s takes at most %d arguments (%d given)" % (type(self).__name__, len(self._names), len(args)))
        given = dict(zip(self._names, args))
        for k, v in kwargs.items():
            if k in ("device", "dtype"):
                continue
            if k not in self._names:
                raise TypeError("%s got an unexpected keyword argument '%s'" % (type(self).__name__, k))
            if k in given:
                raise TypeError("%s got multiple values for argument '%s'" % (type(self).__name__, k))
            given[k] = v
        for n in self._names:
            if n not in given and n not in self._defaults:
                raise TypeError("%s missing 1 required positional argument: '%s'" % (type(self).__name__, n))
            value = given.get(n, self._defaults.get(n))
            if isinstance(value, Tensor):  # the weight of a loss
                self.register_buffer(n, value)
            else:
                object.__setattr__(self, n, value)

    def forward(self, *inputs):
        return getattr(functional, self._function)(*inputs, **{n: getattr(self, n) for n in self._names})


_REDUCTION = "size_average=None reduce=None reduction='mean'"
_POOL = "kernel_size stride=None padding=0 "
for _class, _function, _params in (
        ("ReLU", "relu", "inplace=False"), ("ReLU6", "relu6", "inplace=False"), ("ELU", "elu", "alpha=1.0 inplace=False"),
        ("CELU", "celu", "alpha=1.0 inplace=False"), ("SELU", "selu", "inplace=False"), ("GELU", "gelu", "approximate='none'"),
        ("SiLU", "silu", "inplace=False"), ("Mish", "mish", "inplace=False"), ("Softplus", "softplus", "beta=1 threshold=20"),
        ("Softsign", "softsign", ""), ("Tanh", "tanh", ""), ("Sigmoid", "sigmoid", ""), ("Tanhshrink", "tanhshrink", ""),
        ("Softshrink", "softshrink", "lambd=0.5"), ("Hardshrink", "hardshrink", "lambd=0.5"),
        ("Hardtanh", "hardtanh", "min_val=-1.0 max_val=1.0 inplace=False"), ("Hardsigmoid", "hardsigmoid", "inplace=False"),
        ("Hardswish", "hardswish", "inplace=False"), ("LogSigmoid", "logsigmoid", ""),
        ("LeakyReLU", "leaky_relu", "negative_slope=0.01 inplace=False"), ("Threshold", "threshold", "threshold value inplace=False"),
        ("GLU", "glu", "dim=-1"), ("Softmax", "softmax", "dim=None"), ("LogSoftmax", "log_softmax", "dim=None"),
        ("Softmin", "softmin", "dim=None"), ("AvgPool1d", "avg_pool1d", _POOL + "ceil_mode=False count_include_pad=True"),
        ("AvgPool2d", "avg_pool2d", _POOL + "ceil_mode=False count_include_pad=True divisor_override=None"),
        ("AvgPool3d", "avg_pool3d", _POOL + "ceil_mode=False count_include_pad=True divisor_override=None"),
        ("MaxPool1d", "max_pool1d", _POOL + "dilation=1 return_indices=False ceil_mode=False"),
        ("MaxPool2d", "max_pool2d", _POOL + "dilation=1 return_indices=False ceil_mode=False"),
        ("MaxPool3d", "max_pool3d", _POOL + "dilation=1 return_indices=False ceil_mode=False"),
        ("AdaptiveAvgPool1d", "adaptive_avg_pool1d", "output_size"), ("AdaptiveAvgPool2d", "adaptive_avg_pool2d", "output_size"),
        ("AdaptiveAvgPool3d", "adaptive_avg_pool3d", "output_size"),
        ("Upsample", "interpolate", "size=None scale_factor=None mode='nearest' align_corners=None recompute_scale_factor=None"),
        ("UpsamplingNearest2d", "_upsampling_nearest2d", "size=None scale_factor=None"),
        ("UpsamplingBilinear2d", "_upsampling_bilinear2d", "size=None scale_factor=None"),
        ("LPPool1d", "lp_pool1d", "norm_type kernel_size stride=None ceil_mode=False"),
        ("LocalResponseNorm", "local_response_norm", "size alpha=0.0001 beta=0.75 k=1.0"),
        ("MSELoss", "mse_loss", _REDUCTION), ("L1Loss", "l1_loss", _REDUCTION),
        ("SmoothL1Loss", "smooth_l1_loss", _REDUCTION + " beta=1.0"), ("HuberLoss", "huber_loss", "reduction='mean' delta=1.0"),
        ("KLDivLoss", "kl_div", _REDUCTION + " log_target=False"),
        ("BCEWithLogitsLoss", "binary_cross_entropy_with_logits", "weight=None " + _REDUCTION + " pos_weight=None"),
        ("BCELoss", "binary_cross_entropy", "weight=None " + _REDUCTION),
        ("NLLLoss", "nll_loss", "weight=None size_average=None ignore_index=-100 reduce=None reduction='mean'"),
        ("CrossEntropyLoss", "cross_entropy",
         "weight=None size_average=None ignore_index=-100 reduce=None reduction='mean' label_smoothing=0.0"),
        ("HingeEmbeddingLoss", "hinge_embedding_loss", "margin=1.0 " + _REDUCTION),
        ("MarginRankingLoss", "margin_ranking_loss", "margin=0.0 " + _REDUCTION), ("SoftMarginLoss", "soft_margin_loss", _REDUCTION),
        ("TripletMarginLoss", "triplet_margin_loss", "margin=1.0 p=2.0 eps=1e-06 swap=False " + _REDUCTION),
        ("TripletMarginWithDistanceLoss", "triplet_margin_with_distance_loss",
         "distance_function=None margin=1.0 swap=False reduction='mean'"),
        ("CosineEmbeddingLoss", "cosine_embedding_loss", "margin=0.0 " + _REDUCTION),
        ("CosineSimilarity", "cosine_similarity", "dim=1 eps=1e-08"),
        ("PairwiseDistance", "pairwise_distance", "p=2.0 eps=1e-06 keepdim=False"),
        ("PoissonNLLLoss", "poisson_nll_loss", "log_input=True full=False size_average=None eps=1e-08 reduce=None reduction='mean'"),
        ("GaussianNLLLoss", "gaussian_nll_loss", "full=False eps=1e-06 reduction='mean'"),
        ):
    _names, _defaults = [], {}
    for _p in _params.split():
        _n, _, _v = _p.partition("=")
        _names.append(_n)
        if _v:
            _defaults[_n] = eval(_v)  # constants of the table above
    globals()[_class] = type(_class, (_Call,), {"_function": _function, "_names": tuple(_names), "_defaults": _defaults,
                                                "__module__": "torch.nn"})

class Softmax2d(Module):
    def forward(self, input):
        return functional.softmax(input, dim=-3)


class RReLU(_Call):
    _function, _names, _defaults = "rrelu", ("lower", "upper", "inplace"), {"lower": 0.125, "upper": 1 / 3, "inplace": False}

    def forward(self, input):
        return functional.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class PReLU(Module):
    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(_full(num_parameters, init, dtype))

    def forward(self, input):
        return functional.prelu(input, self.weight)


class Identity(Module):
    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        return input


class Flatten(Module):
    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input):
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Module):
    def __init__(self, dim, unflattened_size):
        super().__init__()
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input):
        return input.unflatten(self.dim, self.unflattened_size)


class Dropout(Module):
    _function = "dropout"

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError("dropout probability has to be between 0 and 1, but got %s" % p)
        self.p, self.inplace = p, inplace

    def forward(self, input):
        return getattr(functional, self._function)(input, self.p, self.training, self.inplace)


for _class, _function in (("Dropout1d", "dropout1d"), ("Dropout2d", "dropout2d"), ("Dropout3d", "dropout3d"),
                          ("AlphaDropout", "alpha_dropout"), ("FeatureAlphaDropout", "feature_alpha_dropout")):
    globals()[_class] = type(_class, (Dropout,), {"_function": _function, "__module__": "torch.nn"})


class _Pad(Module):
    def __init__(self, padding, value=0.0, mode="constant", n=2):
        super().__init__()
        self.padding = [padding] * (2 * n) if isinstance(padding, int) else list(padding)
        self.value, self.mode = value, mode

    def forward(self, input):
        return functional.pad(input, self.padding, self.mode, self.value if self.mode == "constant" else None)


def _pad_class(n, name, mode):
    def __init__(self, padding, value=0.0):
        _Pad.__init__(self, padding, value, mode, n)
    return type(name, (_Pad,), {"__init__": __init__, "__module__": "torch.nn"})


for _n in (1, 2, 3):
    for _name, _mode in (("ZeroPad", "constant"), ("ConstantPad", "constant"), ("ReflectionPad", "reflect"), ("ReplicationPad", "replicate"),
                         ("CircularPad", "circular")):
        globals()["%s%dd" % (_name, _n)] = _pad_class(_n, "%s%dd" % (_name, _n), _mode)


# ---- modules with parameters ----

def _full(shape, value, dtype=None):
    return _c.call("t", "full", ([shape] if isinstance(shape, int) else list(shape), value), {"dtype": dtype or _float32})


def _shape(s):
    return (s,) if isinstance(s, int) else tuple(s)


class LayerNorm(Module):
    def __init__(self, normalized_shape, eps=1e-05, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape, self.eps, self.elementwise_affine = _shape(normalized_shape), eps, elementwise_affine
        if elementwise_affine:
            self.weight = Parameter(_full(self.normalized_shape, 1.0, dtype))
        else:
            self.register_parameter("weight", None)
        if elementwise_affine and bias:
            self.bias = Parameter(_full(self.normalized_shape, 0.0, dtype))
        else:
            self.register_parameter("bias", None)

    def forward(self, input):
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(Module):
    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape, self.eps = _shape(normalized_shape), eps
        self.elementwise_affine = elementwise_affine
        if elementwise_affine:
            self.weight = Parameter(_full(self.normalized_shape, 1.0, dtype))
        else:
            self.register_parameter("weight", None)

    def forward(self, input):
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)


class GroupNorm(Module):
    def __init__(self, num_groups, num_channels, eps=1e-05, affine=True, device=None, dtype=None):
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError("num_channels must be divisible by num_groups")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        if affine:
            self.weight = Parameter(_full(num_channels, 1.0, dtype))
            self.bias = Parameter(_full(num_channels, 0.0, dtype))
        else:
            self.register_parameter("weight", None)
            self.register_parameter("bias", None)

    def forward(self, input):
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


class _Norm(Module):
    _ranks = None

    def __init__(self, num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None):
        super().__init__()
        self.num_features, self.eps, self.momentum, self.affine = num_features, eps, momentum, affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = Parameter(_full(num_features, 1.0, dtype))
            self.bias = Parameter(_full(num_features, 0.0, dtype))
        else:
            self.register_parameter("weight", None)
            self.register_parameter("bias", None)
        if track_running_stats:
            self.register_buffer("running_mean", _full(num_features, 0.0, dtype))
            self.register_buffer("running_var", _full(num_features, 1.0, dtype))
            self.register_buffer("num_batches_tracked", _full((), 0, _dtypes["int64"]))
        else:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, None)

    def _check(self, input):
        if input.dim() not in self._ranks:
            raise ValueError("expected %s input (got %dD input)" % (" or ".join("%dD" % r for r in self._ranks), input.dim()))


class _BatchNorm(_Norm):
    def forward(self, input):
        self._check(input)
        momentum = self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            if momentum is None:
                _c.raise_(_c.TraceError, "AC0212", "BatchNorm with momentum=None (a cumulative average) is not supported in training mode",
                          "give momentum a number, or call eval()")
        batch_stats = self.training or self.running_mean is None
        use = not self.training or self.track_running_stats
        return functional.batch_norm(input, self.running_mean if use else None, self.running_var if use else None, self.weight,
                                     self.bias, batch_stats, 0.0 if momentum is None else momentum, self.eps)


class _InstanceNorm(_Norm):
    def __init__(self, num_features, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False, device=None, dtype=None):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype)

    def forward(self, input):
        self._check(input)
        if input.dim() == self._ranks[0]:
            return self._one(input.unsqueeze(0)).squeeze(0)
        return self._one(input)

    def _one(self, input):
        return functional.instance_norm(input, self.running_mean, self.running_var, self.weight, self.bias,
                                        self.training or not self.track_running_stats, self.momentum, self.eps)


for _n, _ranks in ((1, (2, 3)), (2, (4,)), (3, (5,))):
    globals()["BatchNorm%dd" % _n] = type("BatchNorm%dd" % _n, (_BatchNorm,), {"_ranks": _ranks, "__module__": "torch.nn"})
    globals()["InstanceNorm%dd" % _n] = type("InstanceNorm%dd" % _n, (_InstanceNorm,), {"_ranks": (_n + 1, _n + 2), "__module__": "torch.nn"})
SyncBatchNorm = type("SyncBatchNorm", (_BatchNorm,), {"_ranks": (2, 3, 4, 5), "__module__": "torch.nn"})


class Linear(Module):
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        bound = 1 / _math.sqrt(in_features) if in_features > 0 else 0.0
        self.weight = Parameter(_full((out_features, in_features), 0.0, dtype))
        init.uniform_(self.weight, -bound, bound)
        if bias:
            self.bias = Parameter(_full(out_features, 0.0, dtype))
            init.uniform_(self.bias, -bound, bound)
        else:
            self.register_parameter("bias", None)

    def forward(self, input):
        return functional.linear(input, self.weight, self.bias)


class Embedding(Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                 sparse=False, _weight=None, _freeze=False, device=None, dtype=None):
        super().__init__()
        self.num_embeddings, self.embedding_dim, self.padding_idx, self.max_norm = num_embeddings, embedding_dim, padding_idx, max_norm
        if _weight is not None:
            self.weight = Parameter(_weight)
        else:
            self.weight = Parameter(_full((num_embeddings, embedding_dim), 0.0, dtype))
            init.normal_(self.weight)
            if padding_idx is not None:
                self.weight[padding_idx].fill_(0)

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, **kw):
        return cls(embeddings.size(0), embeddings.size(1), _weight=embeddings, **kw)

    def forward(self, input):
        if self.max_norm is not None:
            _c.raise_(_c.TraceError, "AC0212", "Embedding(max_norm=...) rewrites its weight in forward", "leave max_norm out")
        return functional.embedding(input, self.weight)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    from difflib import get_close_matches
    known = [n for n, v in globals().items() if isinstance(v, type) and not n.startswith("_")]
    near = get_close_matches(name, known, 1)
    _c.raise_(_c.UnknownOperation, "AC0205", "torch.nn.%s is not a module that the tracer knows" % name,
              "did you mean torch.nn.%s?" % near[0] if near else "express it with operations that the tracer knows")

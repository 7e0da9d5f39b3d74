"""Which published device times have a vendor kernel that runs in the simulator, and the launch that each of them was.

The times are CANN-Bench's: PyTorch eager on an Ascend 910B2, one row an operator and case, with the kernels that eager launched. A row is
taken where it is usable (a measurement, not a cap) and exactly one kernel was launched, of an operator in LAUNCH.
"""
import csv
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/../../tests/outside")
from values import Tensor, absent  # noqa: E402
import vendor_cases  # noqa: E402


def t(name, dtype, shape):
    return Tensor(name, dtype, shape)


def addcdiv(shapes, dtypes, attrs):
    lists = [[t(n, dtypes[0], s) for s in v] for n, v in zip(("x1", "x2", "x3"), shapes)]
    scalar = t("scalar", "float16" if dtypes[0] == "float16" else "float32", (1,))
    return dict(type="ForeachAddcdivScalar", tensors=[(x, "in") for x in lists] + [(scalar, "in"), ([t("y", dtypes[0], s) for s in shapes[0]], "out")])


def norm(shapes, dtypes, attrs):
    x = [t("x", dtypes[0], s) for s in shapes[0]]
    p = Tensor("scalar", "float32", (1,), [float(attrs["scalar"])])
    return dict(type="ForeachNorm", host=vendor_cases.REDUCE, tensors=[(x, "in"), (p, "in"), ([t("y", dtypes[0], (1,)) for _ in x], "out")])


def swi_glu(shapes, dtypes, attrs):
    s, dim = list(shapes[0]), attrs["dim"]
    y = list(s)
    y[dim] //= 2
    return dict(type="SwiGlu", host=vendor_cases.SWI_GLU, attrs={"dim": dim}, tensors=[(t("x", dtypes[0], s), "in"), (t("y", dtypes[0], y), "out")])


def dynamic_quant(shapes, dtypes, attrs):
    s = shapes[0]
    return dict(type="DynamicQuant", tensors=[(t("x", dtypes[0], s), "in"), (absent("smooth_scales"), "in"), (absent("group_index", "int32"), "in"),
                                               (t("y", "int8", s), "out"), (t("scale", "float32", s[:-1]), "out")])


def group_norm(shapes, dtypes, attrs):
    s, g = shapes[0], attrs["num_groups"]
    return dict(type="GroupNormSilu", attrs={"num_groups": g, "eps": float(attrs["epsilon"]), "activate_silu": False},
                tensors=[(t(n, dtypes[0], v), "in") for n, v in zip(("x", "gamma", "beta"), shapes)] +
                [(t("y", dtypes[0], s), "out"), (t("mean", dtypes[0], (s[0], g)), "out"), (t("rstd", dtypes[0], (s[0], g)), "out")])


def rms_norm(shapes, dtypes, attrs):
    s = shapes[0]
    return dict(type="RmsNorm", attrs={"epsilon": float(attrs["epsilon"])},
                tensors=[(t("x", dtypes[0], s), "in"), (t("gamma", dtypes[1], shapes[1]), "in"), (t("y", dtypes[0], s), "out"), (t("rstd", "float32", s[:-1] + [1]), "out")])


def add_rms_norm_dynamic_quant(shapes, dtypes, attrs):
    s = shapes[0]
    none = [(absent(n), "in") for n in ("smooth_scale1", "smooth_scale2", "beta")]
    return dict(type="AddRmsNormDynamicQuant", attrs={"epsilon": float(attrs["epsilon"])},
                tensors=[(t("x1", dtypes[0], s), "in"), (t("x2", dtypes[0], s), "in"), (t("gamma", dtypes[0], s[-1:]), "in"), *none, (t("y1", "int8", s), "out"),
                         (t("y2", "int8", (1,)), "out"), (t("x", dtypes[0], s), "out"), (t("scale1", "float32", s[:-1]), "out"), (t("scale2", "float32", (1,)), "out")])


def dequant_swiglu_quant(shapes, dtypes, attrs):
    s = shapes[0]
    def other(k, name, dtype="float32"):
        return (t(name, dtypes[k], shapes[k]), "in") if k < len(shapes) and shapes[k] else (absent(name, dtype), "in")
    return dict(type="DequantSwigluQuant", attrs={"activate_left": bool(attrs["activate_left"]), "quant_mode": "dynamic"},
                tensors=[(t("x", dtypes[0], s), "in"), other(1, "weight_scale"), other(2, "activation_scale"), (absent("bias"), "in"), other(3, "quant_scale"),
                         (absent("quant_offset"), "in"), (absent("group_index", "int64"), "in"), (t("y", "int8", [s[0], s[1] // 2]), "out"), (t("scale", "float32", s[:1]), "out")])


# row's operator: (vendor kernel in eager's trace, operator folder, launch)
LAUNCH = {
    "foreach_addcdiv_scalar": ("ForeachAddcdivScalar", "foreach_addcdiv_scalar", addcdiv),
    "foreach_norm": ("ForeachNorm", "foreach_norm", norm),
    "swi_glu": ("SwiGlu", "swi_glu", swi_glu),
    "dynamic_quant": ("DynamicQuant", "dynamic_quant", dynamic_quant),
    "group_norm": ("GroupNormSilu", "group_norm_silu", group_norm),
    "rms_norm": ("RmsNorm", "rms_norm", rms_norm),
    "add_rms_norm_dynamic_quant": ("AddRmsNormDynamicQuant", "add_rms_norm_dynamic_quant", add_rms_norm_dynamic_quant),
    "dequant_swiglu_quant": ("DequantSwigluQuant", "dequant_swiglu_quant", dequant_swiglu_quant),
}


class Row(tuple):
    """(operator, case number, operator folder, launch, measured us); said: its dtypes and shapes as published"""

    said = ()


def read(path):
    out = []
    for r in csv.DictReader(open(path)):
        if r["op"] not in LAUNCH or r["usable"] != "yes":
            continue
        kernel, folder, make = LAUNCH[r["op"]]
        if not re.fullmatch(kernel + "×1", r["vendor_kernels"]):
            continue
        launch = make(json.loads(r["shapes"]), json.loads(r["dtypes"]), json.loads(r["attrs"]))
        out.append(Row((r["op"], int(r["case"]), folder, launch, float(r["measured_us"]))))
        out[-1].said = (r["dtypes"], r["shapes"])
    return out

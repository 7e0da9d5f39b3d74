/* Reference: element-wise operations, read operand by operand in chunks. Definitions follow PyTorch's documentation of each function;
 * computed in double (int64 for integer results, wrapped to the width of the dtype). */
#include "graph/ref.h"

#include <math.h>
#include <string.h>

/* Reads the range of `v` as if expanded to `out`, as doubles or as int64. */
static void read_broadcast(ac_ref *r, const ac_value *v, const ac_shape *out, int64_t start, int64_t n, bool as_int,
                           ref_buf dst) {
  ref_val *x = ref_of(r, v);
  int64_t st[16], base = 0;
  int pad = out->rank - x->shape.rank;
  bool same = true;
  for (int i = 0; i < out->rank; i++) {
    bool one = i < pad || (x->shape.dim[i - pad] == 1 && out->dim[i] != 1);
    if (one && out->dim[i] != 1) same = false;
    st[i] = one ? 0 : x->stride[i - pad];
  }
  if (same) {
    if (as_int)
      ref_read_i(r, v, start, n, dst.i);
    else
      ref_read_f(r, v, start, n, dst.f);
    return;
  }
  if (x->numel == 1) {
    int64_t k = as_int ? ref_at_i(r, v, 0) : 0;
    double f = as_int ? 0 : ref_at_f(r, v, 0);
    for (int64_t i = 0; i < n; i++)
      if (as_int)
        dst.i[i] = k;
      else
        dst.f[i] = f;
    return;
  }
  ref_walk w;
  ref_walk_init(&w, out, st, base, start);
  int last = out->rank - 1;
  for (int64_t i = 0; i < n;) { /* runs along the innermost dimension */
    int64_t run = w.dim[last] - w.pos[last];
    if (run > n - i) run = n - i;
    if (st[last] == 1) {
      if (as_int)
        ref_read_i(r, v, w.at, run, dst.i + i);
      else
        ref_read_f(r, v, w.at, run, dst.f + i);
    } else { /* stride 0: one value a run */
      int64_t k = as_int ? ref_at_i(r, v, w.at) : 0;
      double f = as_int ? 0 : ref_at_f(r, v, w.at);
      for (int64_t j = 0; j < run; j++)
        if (as_int)
          dst.i[i + j] = k;
        else
          dst.f[i + j] = f;
    }
    i += run;
    w.at += (run - 1) * st[last];
    w.pos[last] += run - 1;
    ref_walk_next(&w);
  }
}

static double sign(double x) {
  return (x > 0) - (x < 0);
}
static double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}
static double maxnan(double a, double b) {
  return isnan(a) ? a : isnan(b) ? b : a > b ? a : b;
}
static double minnan(double a, double b) {
  return isnan(a) ? a : isnan(b) ? b : a < b ? a : b;
}
static double clampnan(double x, double lo, double hi) {
  return minnan(maxnan(x, lo), hi);
}
static double relu(double x) {
  return x < 0 ? 0 : x;
}
static double pymod(double a, double b) {
  double m = fmod(a, b);
  return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}
static double floordiv(double a, double b) {
  if (b == 0) return a / b;
  double m = fmod(a, b), q = (a - m) / b;
  if (m != 0 && (b < 0) != (m < 0)) q -= 1;
  if (q == 0) return copysign(0, a / b);
  double f = floor(q);
  return q - f > 0.5 ? f + 1 : f;
}
static double logaddexp(double a, double b) {
  if (isinf(a) && a == b) return a;
  double m = fmax(a, b);
  return isnan(a) || isnan(b) ? a + b : m + log1p(exp(-fabs(a - b)));
}
static double selu(double x) {
  const double alpha = 1.6732632423543772848170429916717, scale = 1.0507009873554804934193349852946;
  return x > 0 ? scale * x : scale * alpha * expm1(x);
}
static double gelu_tanh(double x) {
  double u = 0.79788456080286535588 * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + tanh(u));
}
static double round_to(double x, ac_dtype d) {
  uint8_t b[8];
  if (d == AC_F64) return x;
  if (d == AC_F32) return (double)(float)x;
  ac_store(d, b, 0, x);
  return ac_load(d, b, 0);
}

static double unary(const ac_node *n, double x, double p, double q) {
  switch (n->op) {
  case AC_G_NEG: return -x;
  case AC_G_ABS: return fabs(x);
  case AC_G_SIGN: return sign(x);
  case AC_G_EXP: return exp(x);
  case AC_G_EXP2: return exp2(x);
  case AC_G_EXPM1: return expm1(x);
  case AC_G_LOG: return log(x);
  case AC_G_LOG2: return log2(x);
  case AC_G_LOG10: return log10(x);
  case AC_G_LOG1P: return log1p(x);
  case AC_G_SQRT: return sqrt(x);
  case AC_G_RSQRT: return 1 / sqrt(x);
  case AC_G_RECIPROCAL: return 1 / x;
  case AC_G_SQUARE: return x * x;
  case AC_G_SIN: return sin(x);
  case AC_G_COS: return cos(x);
  case AC_G_TAN: return tan(x);
  case AC_G_ASIN: return asin(x);
  case AC_G_ACOS: return acos(x);
  case AC_G_ATAN: return atan(x);
  case AC_G_SINH: return sinh(x);
  case AC_G_COSH: return cosh(x);
  case AC_G_TANH: return tanh(x);
  case AC_G_ASINH: return asinh(x);
  case AC_G_ACOSH: return acosh(x);
  case AC_G_ATANH: return atanh(x);
  case AC_G_ERF: return erf(x);
  case AC_G_ERFC: return erfc(x);
  case AC_G_SIGMOID: return sigmoid(x);
  case AC_G_FLOOR: return floor(x);
  case AC_G_CEIL: return ceil(x);
  case AC_G_ROUND: return nearbyint(x);
  case AC_G_TRUNC: return trunc(x);
  case AC_G_FRAC: return x - trunc(x);
  case AC_G_CLONE: return x;
  case AC_G_RELU: return relu(x);
  case AC_G_RELU6: return clampnan(x, 0, 6);
  case AC_G_LEAKY_RELU: return x > 0 ? x : x * p;
  case AC_G_ELU: return x > 0 ? x : p * expm1(x);
  case AC_G_CELU: return x > 0 ? x : p * expm1(x / p);
  case AC_G_SELU: return selu(x);
  case AC_G_SILU: return x / (1 + exp(-x));
  case AC_G_MISH: return x * tanh(x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)));
  case AC_G_SOFTPLUS: return x * p > q ? x : log1p(exp(x * p)) / p;
  case AC_G_SOFTSIGN: return x / (1 + fabs(x));
  case AC_G_TANHSHRINK: return x - tanh(x);
  case AC_G_SOFTSHRINK: return isnan(x) ? x : x > p ? x - p : x < -p ? x + p : 0;
  case AC_G_HARDSHRINK: return x >= -p && x <= p ? 0 : x;
  case AC_G_HARDTANH: return clampnan(x, p, q);
  case AC_G_HARDSIGMOID: return clampnan(x + 3, 0, 6) / 6;
  case AC_G_HARDSWISH: return x * clampnan(x + 3, 0, 6) / 6;
  case AC_G_LOGSIGMOID: return minnan(x, 0) - log1p(exp(-fabs(x)));
  case AC_G_THRESHOLD: return x <= p ? q : x;
  default: return NAN;
  }
}

static double binary(const ac_node *n, double a, double b, double p, int mode) {
  switch (n->op) {
  case AC_G_ADD: return a + p * b;
  case AC_G_SUB: return a - p * b;
  case AC_G_MUL: return a * b;
  case AC_G_DIV: return mode == 1 ? floordiv(a, b) : mode == 2 ? trunc(a / b) : a / b;
  case AC_G_FLOOR_DIVIDE: return floordiv(a, b);
  case AC_G_REMAINDER: return pymod(a, b);
  case AC_G_FMOD: return fmod(a, b);
  case AC_G_POW: return mode == 3 ? sqrt(a) : mode == 4 ? 1 / sqrt(a) : pow(a, b);
  case AC_G_MAXIMUM: return maxnan(a, b);
  case AC_G_MINIMUM: return minnan(a, b);
  case AC_G_FMAX: return fmax(a, b);
  case AC_G_FMIN: return fmin(a, b);
  case AC_G_ATAN2: return atan2(a, b);
  case AC_G_HYPOT: return hypot(a, b);
  case AC_G_XLOGY: return isnan(b) ? b : a == 0 ? 0 : a * log(b);
  case AC_G_LOGADDEXP: return logaddexp(a, b);
  case AC_G_COPYSIGN: return copysign(a, b);
  default: return NAN;
  }
}

static int64_t ipow(int64_t a, int64_t b) {
  uint64_t x = (uint64_t)a, y = 1;
  if (b < 0) return a == 1 ? 1 : a == -1 ? ((b & 1) ? -1 : 1) : 0;
  for (; b; b >>= 1, x *= x)
    if (b & 1) y *= x;
  return (int64_t)y;
}
static int64_t idiv(int64_t a, int64_t b, bool floor_it) {
  if (b == 0) return 0; /* PyTorch raises; a reference has nothing better */
  if (b == -1) return (int64_t)(0 - (uint64_t)a);
  int64_t q = a / b;
  return floor_it && a % b && (a < 0) != (b < 0) ? q - 1 : q;
}

static int64_t ibinary(const ac_node *n, int64_t a, int64_t b, int64_t p, int mode) {
  uint64_t x = (uint64_t)a, y = (uint64_t)b;
  switch (n->op) {
  case AC_G_ADD: return (int64_t)(x + (uint64_t)p * y);
  case AC_G_SUB: return (int64_t)(x - (uint64_t)p * y);
  case AC_G_MUL: return (int64_t)(x * y);
  case AC_G_DIV: return idiv(a, b, mode == 1);
  case AC_G_FLOOR_DIVIDE: return idiv(a, b, true);
  case AC_G_REMAINDER: return (int64_t)(x - (uint64_t)idiv(a, b, true) * y);
  case AC_G_FMOD: return (int64_t)(x - (uint64_t)idiv(a, b, false) * y);
  case AC_G_POW: return ipow(a, b);
  case AC_G_MAXIMUM:
  case AC_G_FMAX: return a > b ? a : b;
  case AC_G_MINIMUM:
  case AC_G_FMIN: return a < b ? a : b;
  case AC_G_BITWISE_AND: return a & b;
  case AC_G_BITWISE_OR: return a | b;
  case AC_G_BITWISE_XOR: return a ^ b;
  case AC_G_LSHIFT: return b < 0 || b > 63 ? 0 : (int64_t)(x << y);
  case AC_G_RSHIFT: return b < 0 || b > 63 ? (a < 0 ? -1 : 0) : a >> b;
  default: return 0;
  }
}
/* p and q: the bounds, which PyTorch casts to the integer dtype first. */
static int64_t iunary(const ac_node *n, int64_t a, int64_t p, int64_t q) {
  switch (n->op) {
  case AC_G_NEG: return (int64_t)(0 - (uint64_t)a);
  case AC_G_ABS: return a < 0 ? (int64_t)(0 - (uint64_t)a) : a;
  case AC_G_SIGN: return (a > 0) - (a < 0);
  case AC_G_SQUARE: return (int64_t)((uint64_t)a * (uint64_t)a);
  case AC_G_BITWISE_NOT: return n->outs[0]->dtype == AC_BOOL ? !a : ~a;
  case AC_G_RELU: return a < 0 ? 0 : a;
  case AC_G_RELU6: return a < 0 ? 0 : a > 6 ? 6 : a;
  case AC_G_HARDTANH: return a < p ? p : a > q ? q : a;
  case AC_G_THRESHOLD: return a <= p ? q : a;
  default: return a; /* clone, floor, ceil, round, trunc */
  }
}
static int64_t compare(ac_op op, double a, double b) {
  switch (op) {
  case AC_G_EQ: return a == b;
  case AC_G_NE: return a != b;
  case AC_G_LT: return a < b;
  case AC_G_LE: return a <= b;
  case AC_G_GT: return a > b;
  case AC_G_GE: return a >= b;
  case AC_G_LOGICAL_AND: return a != 0 && b != 0;
  case AC_G_LOGICAL_OR: return a != 0 || b != 0;
  case AC_G_LOGICAL_XOR: return (a != 0) != (b != 0);
  case AC_G_LOGICAL_NOT: return a == 0;
  case AC_G_ISNAN: return isnan(a);
  case AC_G_ISINF: return isinf(a) != 0;
  case AC_G_ISFINITE: return isfinite(a);
  default: return 0;
  }
}
static int64_t icompare(ac_op op, int64_t a, int64_t b) {
  switch (op) {
  case AC_G_EQ: return a == b;
  case AC_G_NE: return a != b;
  case AC_G_LT: return a < b;
  case AC_G_LE: return a <= b;
  case AC_G_GT: return a > b;
  case AC_G_GE: return a >= b;
  case AC_G_ISNAN:
  case AC_G_ISINF: return 0;
  case AC_G_ISFINITE: return 1;
  default: return compare(op, (double)(a != 0), (double)(b != 0));
  }
}
static bool yields_bool(ac_op op) {
  switch (op) {
  case AC_G_EQ:
  case AC_G_NE:
  case AC_G_LT:
  case AC_G_LE:
  case AC_G_GT:
  case AC_G_GE:
  case AC_G_LOGICAL_AND:
  case AC_G_LOGICAL_OR:
  case AC_G_LOGICAL_XOR:
  case AC_G_LOGICAL_NOT:
  case AC_G_ISNAN:
  case AC_G_ISINF:
  case AC_G_ISFINITE: return true;
  default: return false;
  }
}
static void wrap(ac_dtype d, int64_t *x, int64_t n) {
  uint8_t b[8];
  if (d == AC_I64 || d == AC_U64) return;
  for (int64_t i = 0; i < n; i++) {
    ac_store_int(d, b, 0, x[i]);
    x[i] = ac_load_int(d, b, 0);
  }
}

/* The one or two numbers that an activation takes. */
static void params(const ac_node *n, double *p, double *q) {
  *p = *q = 0;
  switch (n->op) {
  case AC_G_LEAKY_RELU: *p = ref_float(n, "negative_slope", 0.01); break;
  case AC_G_ELU:
  case AC_G_CELU: *p = ref_float(n, "alpha", 1); break;
  case AC_G_SOFTPLUS: *p = ref_float(n, "beta", 1), *q = ref_float(n, "threshold", 20); break;
  case AC_G_SOFTSHRINK:
  case AC_G_HARDSHRINK: *p = ref_float(n, "lambd", 0.5); break;
  case AC_G_HARDTANH: *p = ref_float(n, "min_val", -1), *q = ref_float(n, "max_val", 1); break;
  case AC_G_THRESHOLD: *p = ref_float(n, "threshold", 0), *q = ref_float(n, "value", 0); break;
  case AC_G_ADD:
  case AC_G_SUB: *p = ref_float(n, "alpha", 1); break;
  default: break;
  }
}

static void elt_cast(ac_ref *r, const ac_node *n, int64_t start, int64_t cnt, ref_buf dst) {
  const ac_value *x = n->args[0].t;
  ac_dtype to = n->outs[0]->dtype;
  if (ref_of(r, n->outs[0])->is_int) {
    if (to == AC_BOOL && !ref_of(r, x)->is_int) {
      double f[REF_CHUNK];
      ref_read_f(r, x, start, cnt, f);
      for (int64_t i = 0; i < cnt; i++) dst.i[i] = f[i] != 0;
      return;
    }
    ref_read_i(r, x, start, cnt, dst.i);
    wrap(to, dst.i, cnt);
    return;
  }
  ref_read_f(r, x, start, cnt, dst.f);
  /* An explicit narrowing rounds as it does in PyTorch; widening is exact. */
  bool narrow = ac_dtypes[x->dtype].cls != AC_FLOATING || ac_dtypes[x->dtype].bytes > ac_dtypes[to].bytes ||
                (x->dtype != to && ac_dtypes[x->dtype].bytes == ac_dtypes[to].bytes);
  for (int64_t i = 0; narrow && i < cnt; i++) dst.f[i] = round_to(dst.f[i], to);
}

/* Operands' chunks are filled by read_broadcast as far as they are used, which the analyzer cannot follow. */
// NOLINTBEGIN(clang-analyzer-core.*)
static void elt_where(ac_ref *r, const ac_node *n, const ac_shape *s, int64_t start, int64_t cnt, ref_buf dst) {
  int64_t c[REF_CHUNK], o[REF_CHUNK];
  bool is_int = ref_of(r, n->outs[0])->is_int;
  read_broadcast(r, n->args[0].t, s, start, cnt, true, (ref_buf){.i = c});
  read_broadcast(r, n->args[1].t, s, start, cnt, is_int, dst);
  read_broadcast(r, n->args[2].t, s, start, cnt, is_int, (ref_buf){.i = o});
  for (int64_t i = 0; i < cnt; i++)
    if (!c[i]) dst.i[i] = o[i]; /* 8 bytes of either class */
}

static void elt_nan_to_num(ac_ref *r, const ac_node *n, int64_t start, int64_t cnt, double *dst) {
  ac_dtype d = n->outs[0]->dtype;
  double top = d == AC_F16    ? 65504
               : d == AC_BF16 ? 0x1.fep127
               : d == AC_F64  ? 0x1.fffffffffffffp1023
                              : 0x1.fffffep127;
  double z = ref_float(n, "nan", 0), hi = ref_float(n, "posinf", top), lo = ref_float(n, "neginf", -top);
  ref_read_f(r, n->args[0].t, start, cnt, dst);
  for (int64_t i = 0; i < cnt; i++)
    if (isnan(dst[i]))
      dst[i] = z;
    else if (isinf(dst[i]))
      dst[i] = dst[i] > 0 ? hi : lo;
}

/* Operands' class: integer only when all tensors are. Weak numbers follow the node's promoted class. */
static bool int_operands(ac_ref *r, const ac_node *n) {
  for (int i = 0; i < n->n_args; i++)
    if (n->args[i].kind == AC_K_TENSOR && !n->args[i].absent && !ref_of(r, n->args[i].t)->is_int) return false;
  return true;
}

static void elt_chunk(ac_ref *r, const ac_node *n, int64_t start, int64_t cnt, ref_buf dst) {
  const ac_shape *s = &ref_of(r, n->outs[0])->shape;
  bool two = n->n_args > 1 && n->args[1].kind == AC_K_TENSOR;
  double p, q, a[REF_CHUNK], b[REF_CHUNK];
  int64_t *ia = (int64_t *)a, *ib = (int64_t *)b;
  if (n->op == AC_G_CAST) {
    elt_cast(r, n, start, cnt, dst);
    return;
  }
  if (n->op == AC_G_WHERE) {
    elt_where(r, n, s, start, cnt, dst);
    return;
  }
  bool ints = int_operands(r, n), bools = yields_bool(n->op);
  if (n->op == AC_G_NAN_TO_NUM && !ints) {
    elt_nan_to_num(r, n, start, cnt, dst.f);
    return;
  }
  bool as_int = ints && (bools || ref_of(r, n->outs[0])->is_int);
  params(n, &p, &q);
  int mode = 0;
  const ac_arg *rm = n->op == AC_G_DIV ? ref_arg(n, "rounding_mode") : NULL;
  if (rm && rm->s) mode = rm->s[0] == 'f' ? 1 : rm->s[0] == 't' ? 2 : 0;
  if (n->op == AC_G_POW &&
      n->args[1].t->def->op == AC_G_CONST) { /* PyTorch takes roots for a Python number 0.5 or -0.5 */
    double e = ref_float(n->args[1].t->def, "value", 0);
    mode = e == 0.5 ? 3 : e == -0.5 ? 4 : 0;
  }
  read_broadcast(r, n->args[0].t, s, start, cnt, as_int, (ref_buf){.f = a});
  if (two) read_broadcast(r, n->args[1].t, s, start, cnt, as_int, (ref_buf){.f = b});
  for (int64_t i = 0; i < cnt; i++) {
    if (bools)
      dst.i[i] = as_int ? icompare(n->op, ia[i], two ? ib[i] : 0) : compare(n->op, a[i], two ? b[i] : 0);
    else if (as_int)
      dst.i[i] = two ? ibinary(n, ia[i], ib[i], (int64_t)p, mode) : iunary(n, ia[i], (int64_t)p, (int64_t)q);
    else
      dst.f[i] = two ? binary(n, a[i], b[i], p, mode) : unary(n, a[i], p, q);
  }
  if (n->op == AC_G_GELU) {
    const ac_arg *ap = ref_arg(n, "approximate");
    bool t = ap && ap->s && !strcmp(ap->s, "tanh");
    for (int64_t i = 0; i < cnt; i++)
      dst.f[i] = t ? gelu_tanh(a[i]) : 0.5 * a[i] * erfc(-a[i] * 0.70710678118654752440);
  }
  if (as_int && !bools) wrap(n->outs[0]->dtype, dst.i, cnt);
}

// NOLINTEND(clang-analyzer-core.*)

void ref_elt_read(ac_ref *r, const ac_node *n, int64_t start, int64_t cnt, ref_buf dst) {
  for (int64_t i = 0; i < cnt; i += REF_CHUNK)
    elt_chunk(r, n, start + i, cnt - i < REF_CHUNK ? cnt - i : REF_CHUNK, (ref_buf){.f = dst.f + i});
}

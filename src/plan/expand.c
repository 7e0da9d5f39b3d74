/* Expansions: one graph operation -> vector instructions, in float32 unless the operation is on integers.
 *
 * Accuracy: a few units in the last place of float32 where the operation itself is well conditioned; expm1, log1p, tanh, erf and sigmoid
 * are primitives that lowering composes so that tiny arguments keep their digits.
 * Special values: infinities and NaN come out as in PyTorch. What Max, Min and Relu do with NaN is not documented for Atlas A2 (asc-devkit
 * docs, Max, Min, Relu); the whole program takes it that they pass a NaN on, as lowering's composed primitives and the simulator do. NE is
 * never used: it is the complement of EQ, which is false for NaN.
 */
#include "plan/expand.h"

#include <math.h>
#include <string.h>

/* ---- operands ---- */

pv pl_none(pl_ex *e, const char *why) {
  e->why = why;
  return (pv){.kind = PV_NONE};
}
static pv X(vir *v, pl_ex *e) {
  return pv_to_f32(v, e->in[0]);
}
static pv Y(vir *v, pl_ex *e) {
  return pv_to_f32(v, e->in[1]);
}
static pv N(double d) {
  return pv_num(d);
}
static double num(pl_ex *e, const char *name, double absent) {
  double d = absent;
  if (!pl_number(e->n, name, absent, &d)) e->why = "its number depends on a run-time size";
  return d;
}
bool pl_is_int(ac_dtype d) {
  return ac_dtypes[d].cls == AC_SIGNED || ac_dtypes[d].cls == AC_UNSIGNED;
}
static pv abs_(vir *v, pv x) {
  return x.kind == PV_NUM ? pv_num(fabs(x.num)) : pv_fn(v, "vabs", x);
}
static pv exp_(vir *v, pv x) {
  return x.kind == PV_NUM ? pv_num(exp(x.num)) : pv_fn(v, "vexp", x);
}
static pv ln_(vir *v, pv x) {
  return x.kind == PV_NUM ? pv_num(log(x.num)) : pv_fn(v, "vln", x);
}
static pv sqrt_(vir *v, pv x) {
  return x.kind == PV_NUM ? pv_num(sqrt(x.num)) : pv_fn(v, "vsqrt", x);
}
static pv neg_(vir *v, pv x) {
  return pv_mul(v, x, N(-1));
}
static pv clamp_(vir *v, pv x, double lo, double hi) {
  return pv_min(v, pv_max(v, x, N(lo)), N(hi));
}

/* ---- one operand ---- */

/* One primitive of the language. */
#define FN(name)                         \
  static pv x_##name(vir *v, pl_ex *e) { \
    return pv_fn(v, "v" #name, X(v, e)); \
  }
FN(expm1)
FN(log1p)
FN(tanh)
FN(erf)
FN(sigmoid)
FN(asin)
FN(acos)
FN(atan)
FN(relu)
#undef FN

static pv x_abs(vir *v, pl_ex *e) {
  return abs_(v, X(v, e));
}
static pv x_exp(vir *v, pl_ex *e) {
  return exp_(v, X(v, e));
}
static pv x_log(vir *v, pl_ex *e) {
  return ln_(v, X(v, e));
}
static pv x_log2(vir *v, pl_ex *e) {
  return pv_mul(v, ln_(v, X(v, e)), N(1 / M_LN2));
}
static pv x_log10(vir *v, pl_ex *e) {
  return pv_mul(v, ln_(v, X(v, e)), N(1 / M_LN10));
}
static pv x_sqrt(vir *v, pl_ex *e) {
  return sqrt_(v, X(v, e));
}
static pv x_rsqrt(vir *v, pl_ex *e) {
  return pv_div(v, N(1), sqrt_(v, X(v, e)));
} /* Rsqrt itself misses 1e-4 */
static pv x_reciprocal(vir *v, pl_ex *e) {
  return pv_div(v, N(1), X(v, e));
}

/* b**x for a constant b > 0. x is split into whole and fraction, and ln b into a part of 12 bits and the rest, so that whole * part is
 * exact: rounding x * ln b as it stands would cost |x ln b| / 2 units in the last place. */
static pv power_of(vir *v, double base, pv x) {
  double l = log(base);
  if (x.kind == PV_NUM) return N(pow(base, x.num));
  int e;
  double f = frexp(l, &e), head = ldexp(rint(ldexp(f, 12)), e - 12);
  pv whole = pv_round(v, x, AC_RN_TRUNC), fraction = pv_sub(v, x, whole);
  pv small = pv_add(v, pv_mul(v, whole, N(l - head)), pv_mul(v, fraction, N(l)));
  pv y = pv_mul(v, exp_(v, pv_mul(v, whole, N(head))), exp_(v, small));
  /* an infinite x has no fraction: inf - inf is NaN */
  y = pv_where(v, pv_cmp(v, "eq", x, N(l > 0 ? INFINITY : -INFINITY)), N(INFINITY), y);
  return pv_where(v, pv_cmp(v, "eq", x, N(l > 0 ? -INFINITY : INFINITY)), N(0), y);
}
static pv x_exp2(vir *v, pl_ex *e) {
  return power_of(v, 2, X(v, e));
}

static pv x_neg(vir *v, pl_ex *e) {
  return neg_(v, X(v, e));
}
static pv x_square(vir *v, pl_ex *e) {
  pv x = X(v, e);
  return pv_mul(v, x, x);
}
static pv x_sign(vir *v, pl_ex *e) { /* 0 for NaN, as PyTorch */
  pv x = X(v, e);
  pv one = pv_vec(v, pv_cmp(v, "gt", x, N(0)), AC_F32);
  return pv_where(v, pv_cmp(v, "lt", x, N(0)), N(-1), one);
}
static pv rounded(vir *v, pl_ex *e, ac_round r) {
  if (pl_is_int(e->out)) return e->in[0];
  return pv_round(v, X(v, e), r);
}
static pv x_floor(vir *v, pl_ex *e) {
  return rounded(v, e, AC_RN_FLOOR);
}
static pv x_ceil(vir *v, pl_ex *e) {
  return rounded(v, e, AC_RN_CEIL);
}
static pv x_round(vir *v, pl_ex *e) {
  return rounded(v, e, AC_RN_RINT);
}
static pv x_trunc(vir *v, pl_ex *e) {
  return rounded(v, e, AC_RN_TRUNC);
}
static pv x_frac(vir *v, pl_ex *e) {
  return pv_sub(v, X(v, e), pv_round(v, X(v, e), AC_RN_TRUNC));
}
static pv x_clone(vir *v, pl_ex *e) {
  (void)v;
  return e->in[0];
}

static pv x_isnan(vir *v, pl_ex *e) {
  return pv_cmp(v, "ne", X(v, e), X(v, e));
}
static pv x_isinf(vir *v, pl_ex *e) {
  return pv_cmp(v, "eq", abs_(v, X(v, e)), N(INFINITY));
}
static pv x_isfinite(vir *v, pl_ex *e) {
  return pv_cmp(v, "lt", abs_(v, X(v, e)), N(INFINITY));
}

static pv x_nan_to_num(vir *v, pl_ex *e) {
  pv x = X(v, e);
  double top = e->out == AC_F16 ? 65504 : e->out == AC_BF16 ? 0x1.fep127 : 0x1.fffffep127;
  pv y = pv_where(v, pv_cmp(v, "eq", x, x), x, N(num(e, "nan", 0)));
  y = pv_where(v, pv_not(pv_cmp(v, "eq", x, N(INFINITY))), y, N(num(e, "posinf", top)));
  return pv_where(v, pv_not(pv_cmp(v, "eq", x, N(-INFINITY))), y, N(num(e, "neginf", -top)));
}

/* sinh = (t + t/(t+1))/2 with t = expm1|x|; beyond 20 it is e^|x|/2, taken as a square so that it overflows no earlier than sinh. */
static pv x_sinh(vir *v, pl_ex *e) {
  pv x = X(v, e), a = abs_(v, x), t = pv_fn(v, "vexpm1", pv_min(v, a, N(20)));
  pv small = pv_mul(v, pv_add(v, t, pv_div(v, t, pv_add(v, t, N(1)))), N(0.5));
  pv half = exp_(v, pv_mul(v, a, N(0.5))), large = pv_mul(v, pv_mul(v, half, N(0.5)), half);
  pv y = pv_where(v, pv_cmp(v, "gt", a, N(20)), large, small);
  return pv_where(v, pv_cmp(v, "lt", x, N(0)), neg_(v, y), y);
}
static pv x_cosh(vir *v, pl_ex *e) {
  pv half = exp_(v, pv_mul(v, abs_(v, X(v, e)), N(0.5))), h = pv_mul(v, half, N(0.5));
  return pv_add(v, pv_mul(v, h, half), pv_div(v, N(0.5), pv_mul(v, half, half)));
}
static pv x_atanh(vir *v, pl_ex *e) { /* log1p(2x / (1-x)) / 2, on |x| so that no digits cancel */
  pv x = X(v, e), a = abs_(v, x);
  pv y = pv_mul(v, pv_fn(v, "vlog1p", pv_div(v, pv_mul(v, a, N(2)), pv_sub(v, N(1), a))), N(0.5));
  return pv_where(v, pv_cmp(v, "lt", x, N(0)), neg_(v, y), y);
}
static pv x_asinh(vir *v,
                  pl_ex *e) { /* log1p(a + a^2 / (1 + sqrt(1 + a^2))); beyond 2^20 ln(2a) is the same number */
  pv x = X(v, e), a = abs_(v, x), c = pv_min(v, a, N(1048576)), q = pv_mul(v, c, c);
  pv s = pv_fn(v, "vlog1p", pv_add(v, c, pv_div(v, q, pv_add(v, sqrt_(v, pv_add(v, q, N(1))), N(1)))));
  pv l = pv_add(v, ln_(v, a), N(M_LN2));
  pv y = pv_where(v, pv_cmp(v, "gt", a, N(1048576)), l, s);
  return pv_where(v, pv_cmp(v, "lt", x, N(0)), neg_(v, y), y);
}
static pv x_acosh(vir *v, pl_ex *e) { /* t = x - 1: log1p(t + sqrt(2t + t^2)) */
  pv x = X(v, e), t = pv_sub(v, pv_min(v, x, N(1048576)), N(1));
  pv s = pv_fn(v, "vlog1p", pv_add(v, t, sqrt_(v, pv_mul(v, t, pv_add(v, t, N(2))))));
  pv l = pv_add(v, ln_(v, x), N(M_LN2));
  pv y = pv_where(v, pv_cmp(v, "gt", x, N(1048576)), l, s);
  return pv_where(v, pv_not(pv_cmp(v, "lt", x, N(1))), y, N(NAN));
}

/* ---- activations ---- */

static pv x_relu6(vir *v, pl_ex *e) {
  return clamp_(v, X(v, e), 0, 6);
}
static pv x_leaky_relu(vir *v, pl_ex *e) {
  pv x = X(v, e);
  if (x.kind != PV_VEC) x = pv_vec(v, x, AC_F32);
  return (pv){.kind = PV_VEC, .reg = vir_emit(v, "vleaky_relu", AC_F32, 2, x, N(num(e, "negative_slope", 0.01)))};
}
/* x > 0 ? x : alpha * expm1(x / scale); NaN takes the second branch and stays NaN. */
static pv elu(vir *v, pv x, double alpha, double scale) {
  pv low = pv_mul(v, pv_fn(v, "vexpm1", pv_div(v, x, N(scale))), N(alpha));
  return pv_where(v, pv_cmp(v, "gt", x, N(0)), x, low);
}
static pv x_elu(vir *v, pl_ex *e) {
  return elu(v, X(v, e), num(e, "alpha", 1), 1);
}
static pv x_celu(vir *v, pl_ex *e) {
  return elu(v, X(v, e), num(e, "alpha", 1), num(e, "alpha", 1));
}
static pv x_selu(vir *v, pl_ex *e) {
  return pv_mul(v, elu(v, X(v, e), 1.6732632423543772848170429916717, 1), N(1.0507009873554804934193349852946));
}
/* x sigmoid(u): a quotient is one rounding less than a product with the sigmoid, which may also come out a little above 1. */
static pv gated(vir *v, pv x, pv u) {
  return pv_div(v, x, pv_add(v, exp_(v, neg_(v, u)), N(1)));
}
static pv x_silu(vir *v, pl_ex *e) {
  return gated(v, X(v, e), X(v, e));
}
static pv x_gelu(vir *v, pl_ex *e) {
  pv x = X(v, e);
  if (!strcmp(pl_arg(e->n, "approximate")->s ? pl_arg(e->n, "approximate")->s : "none", "tanh")) {
    /* (1 + tanh u) / 2 is sigmoid(2u): no digits lost where tanh comes near -1 */
    pv cube = pv_mul(v, pv_mul(v, x, x), x), u = pv_add(v, pv_mul(v, cube, N(0.044715)), x);
    return gated(v, x, pv_mul(v, u, N(2 * M_2_SQRTPI * M_SQRT1_2)));
  }
  pv cdf2 = pv_add(v, pv_fn(v, "verf", pv_mul(v, x, N(M_SQRT1_2))), N(1)); /* twice the normal distribution */
  return pv_mul(v, cdf2, pv_mul(v, x, N(0.5)));
}
static pv x_mish(vir *v, pl_ex *e) { /* tanh(log1p(t)) = t(t+2) / (t(t+2)+2) with t = e^x; beyond 20 it is 1 */
  pv x = X(v, e), t = exp_(v, pv_min(v, x, N(20))), q = pv_mul(v, t, pv_add(v, t, N(2)));
  return pv_mul(v, pv_div(v, q, pv_add(v, q, N(2))), x);
}
/* ln(1 + e^b) = max(b, 0) + log1p(e^-|b|) neither overflows nor loses digits. */
static pv softplus(vir *v, pv b) {
  return pv_add(v, pv_fn(v, "vlog1p", exp_(v, neg_(v, abs_(v, b)))), pv_max(v, b, N(0)));
}
static pv x_softplus(vir *v, pl_ex *e) {
  double beta = num(e, "beta", 1), threshold = num(e, "threshold", 20);
  pv x = X(v, e), b = pv_mul(v, x, N(beta)), y = pv_div(v, softplus(v, b), N(beta));
  if (threshold >= 17)
    return y; /* from 17 on, log1p(e^-b) is less than half a unit in the last place of b: y is x already */
  return pv_where(v, pv_cmp(v, "gt", b, N(threshold)), x, y);
}
static pv x_logsigmoid(vir *v, pl_ex *e) {
  pv x = X(v, e);
  return pv_sub(v, pv_min(v, x, N(0)), pv_fn(v, "vlog1p", exp_(v, neg_(v, abs_(v, x)))));
}
static pv x_softsign(vir *v, pl_ex *e) {
  return pv_div(v, X(v, e), pv_add(v, abs_(v, X(v, e)), N(1)));
}
static pv x_tanhshrink(vir *v, pl_ex *e) {
  return pv_sub(v, X(v, e), pv_fn(v, "vtanh", X(v, e)));
}
static pv x_softshrink(vir *v, pl_ex *e) { /* x - clamp(x, -l, l) */
  double l = num(e, "lambd", 0.5);
  pv x = X(v, e);
  return pv_sub(v, x, pv_min(v, pv_max(v, x, N(-l)), N(l)));
}
static pv x_hardshrink(vir *v, pl_ex *e) {
  pv x = X(v, e);
  return pv_where(v, pv_not(pv_cmp(v, "le", abs_(v, x), N(num(e, "lambd", 0.5)))), x, N(0));
}
static pv x_hardtanh(vir *v, pl_ex *e) {
  return clamp_(v, X(v, e), num(e, "min_val", -1), num(e, "max_val", 1));
}
static pv hardsigmoid(vir *v, pv x) {
  return pv_mul(v, pv_min(v, pv_max(v, pv_add(v, x, N(3)), N(0)), N(6)), N(1.0 / 6));
}
static pv x_hardsigmoid(vir *v, pl_ex *e) {
  return hardsigmoid(v, X(v, e));
}
static pv x_hardswish(vir *v, pl_ex *e) {
  return pv_mul(v, hardsigmoid(v, X(v, e)), X(v, e));
}
static pv x_threshold(vir *v, pl_ex *e) { /* NaN stays */
  pv x = X(v, e);
  return pv_where(v, pv_not(pv_cmp(v, "le", x, N(num(e, "threshold", 0)))), x, N(num(e, "value", 0)));
}

/* ---- two operands ---- */

static pv scaled(vir *v, pl_ex *e, pv b) {
  return pv_mul(v, b, N(num(e, "alpha", 1)));
}

static pv x_add(vir *v, pl_ex *e) {
  return pv_add(v, X(v, e), scaled(v, e, Y(v, e)));
}
static pv x_sub(vir *v, pl_ex *e) {
  return pv_sub(v, X(v, e), scaled(v, e, Y(v, e)));
}
static pv x_mul(vir *v, pl_ex *e) {
  return pv_mul(v, X(v, e), Y(v, e));
}
static pv x_div(vir *v, pl_ex *e) {
  const ac_arg *mode = pl_arg(e->n, "rounding_mode");
  pv q = pv_div(v, X(v, e), Y(v, e));
  if (mode->absent || !mode->s) return q;
  if (!strcmp(mode->s, "trunc")) return pv_round(v, q, AC_RN_TRUNC);
  return pl_none(e, "rounding_mode='floor' needs the exact remainder");
}
static pv x_maximum(vir *v, pl_ex *e) {
  return pv_max(v, X(v, e), Y(v, e));
}
static pv x_minimum(vir *v, pl_ex *e) {
  return pv_min(v, X(v, e), Y(v, e));
}
/* NaN gives way to the other operand. */
static pv giving_way(vir *v, pl_ex *e, pv (*f)(vir *, pv, pv)) {
  pv a = pv_vec(v, X(v, e), AC_F32), b = pv_vec(v, Y(v, e), AC_F32);
  pv both = pv_where(v, pv_cmp(v, "eq", b, b), f(v, a, b), a);
  return pv_where(v, pv_cmp(v, "eq", a, a), both, b);
}
static pv x_fmax(vir *v, pl_ex *e) {
  return giving_way(v, e, pv_max);
}
static pv x_fmin(vir *v, pl_ex *e) {
  return giving_way(v, e, pv_min);
}

/* x**n by squaring; n up to 16 keeps the error below n/2 units in the last place. */
static pv whole_power(vir *v, pv x, int n) {
  pv y = N(1), sq = x;
  for (; n; n >>= 1) {
    if (n & 1) y = pv_is(y, 1) ? sq : pv_mul(v, y, sq);
    if (n > 1) sq = pv_mul(v, sq, sq);
  }
  return y;
}
/* e^(y ln|x|), with the rules of C's pow for zero, one, infinities and negative bases. The relative error is |y ln x| * 2^-24. */
static pv general_power(vir *v, pv x, pv y) {
  if (x.kind == PV_NUM && y.kind == PV_NUM) return N(pow(x.num, y.num));
  x = pv_vec(v, x, AC_F32);
  pv a = abs_(v, x), r = exp_(v, pv_mul(v, ln_(v, a), y));
  if (y.kind == PV_NUM) {
    double n = y.num;
    if (n != rint(n)) { /* no negative base, but minus infinity */
      pv below = pv_where(v, pv_cmp(v, "eq", a, N(INFINITY)), r, N(NAN));
      return pv_where(v, pv_not(pv_cmp(v, "lt", x, N(0))), r, below);
    }
    return fmod(n, 2) ? pv_where(v, pv_cmp(v, "lt", x, N(0)), neg_(v, r), r) : r;
  }
  pv whole = pv_round(v, pv_vec(v, y, AC_F32), AC_RN_TRUNC), half = pv_mul(v, whole, N(0.5));
  pv odd = pv_cmp(v, "ne", pv_round(v, half, AC_RN_TRUNC), half);
  pv negative = pv_where(v, pv_cmp(v, "eq", whole, y), pv_where(v, odd, neg_(v, r), r),
                         pv_where(v, pv_cmp(v, "eq", a, N(INFINITY)), r, N(NAN)));
  r = pv_where(v, pv_cmp(v, "lt", x, N(0)), negative, r);
  r = pv_where(v, pv_not(pv_cmp(v, "eq", x, N(1))), r, N(1)); /* 1**y = 1 and x**0 = 1 for NaN too */
  return pv_where(v, pv_not(pv_cmp(v, "eq", y, N(0))), r, N(1));
}
static pv x_pow(vir *v, pl_ex *e) {
  pv x = X(v, e), y = Y(v, e);
  if (y.kind == PV_NUM && x.kind != PV_NUM) {
    double n = y.num, m = fabs(n);
    if (n == 0) return pv_vec(v, N(1), AC_F32);
    if (m == rint(m) && m <= 16) {
      pv r = whole_power(v, x, (int)m);
      return n < 0 ? pv_div(v, N(1), r) : r;
    }
    if (m == 0.5) { /* a square root in PyTorch, too: NaN at -inf */
      pv r = sqrt_(v, x);
      return n < 0 ? pv_div(v, N(1), r) : r;
    }
    if (m == 1.5 || m == 2.5) {
      /* pow(-inf, m) is inf and pow(-0, m) is +0, where a square root has NaN and -0 */
      pv b = pv_where(v, pv_not(pv_cmp(v, "eq", x, N(-INFINITY))), pv_add(v, x, N(0)), N(INFINITY));
      pv r = pv_mul(v, whole_power(v, b, (int)m), sqrt_(v, b));
      return n < 0 ? pv_div(v, N(1), r) : r;
    }
  }
  if (x.kind == PV_NUM && x.num > 0 && x.num != 1 && isfinite(x.num)) return power_of(v, x.num, y);
  return general_power(v, x, y);
}

/* On integers only: see expand_int.c. */
static pv x_remainder(vir *v, pl_ex *e) {
  (void)v;
  return pl_none(e, "remainders of floats are exact only while the quotient is below 2^22; a DSL program that knows "
                    "its operands can "
                    "use tl.vfmod and tl.vmod");
}
static pv x_shift(vir *v, pl_ex *e) {
  (void)v;
  return pl_none(e, "only integers are shifted");
}

static pv x_hypot(vir *v, pl_ex *e) { /* m sqrt(1 + (n/m)^2) with m the larger: no overflow on the way */
  pv a = abs_(v, X(v, e)), b = abs_(v, Y(v, e)), m = pv_max(v, a, b), n = pv_min(v, a, b);
  pv q = pv_div(v, n, m), r = pv_mul(v, sqrt_(v, pv_add(v, pv_mul(v, q, q), N(1))), m);
  r = pv_where(v, pv_not(pv_cmp(v, "eq", m, N(0))), r, N(0));
  r = pv_where(v, pv_not(pv_cmp(v, "eq", a, N(INFINITY))), r, N(INFINITY)); /* infinite even beside NaN */
  return pv_where(v, pv_not(pv_cmp(v, "eq", b, N(INFINITY))), r, N(INFINITY));
}
static pv x_xlogy(vir *v, pl_ex *e) {
  pv x = X(v, e), y = Y(v, e), r = pv_mul(v, ln_(v, y), x);
  pv zero = pv_mul(v, pv_vec(v, y, AC_F32), N(0)),
     safe = pv_where(v, pv_cmp(v, "eq", y, y), N(0), zero); /* 0, or NaN for NaN */
  return pv_where(v, pv_not(pv_cmp(v, "eq", pv_vec(v, x, AC_F32), N(0))), pv_vec(v, r, AC_F32), safe);
}
static pv x_logaddexp(vir *v, pl_ex *e) {
  pv a = pv_vec(v, X(v, e), AC_F32), b = Y(v, e), d = abs_(v, pv_sub(v, a, b));
  d = pv_where(v, pv_not(pv_cmp(v, "eq", a, b)), d, N(0)); /* equal infinities */
  return pv_add(v, pv_fn(v, "vlog1p", exp_(v, neg_(v, d))), pv_max(v, a, b));
}

/* ---- comparison, logic, selection ---- */

/* Integers beyond 24 bits are not exact in float32; against a small constant the comparison is exact all the same, since rounding keeps
 * the order and small integers are their own images. */
static bool comparable(pl_ex *e) {
  for (int k = 0; k < 2; k++) {
    if (e->dt[k] != AC_I32 && e->dt[k] != AC_I64 && e->dt[k] != AC_U32 && e->dt[k] != AC_U64) continue;
    pv o = e->in[1 - k];
    if (e->in[k].kind == PV_NUM && fabs(e->in[k].num) < 16777216) continue;
    if (o.kind != PV_NUM || fabs(o.num) >= 16777216) return false;
  }
  return true;
}
static pv compare(vir *v, pl_ex *e, const char *mode) {
  if (!comparable(e)) return pl_none(e, "32- and 64-bit integers compare only with a constant below 2^24");
  return pv_cmp(v, mode, X(v, e), Y(v, e));
}
static pv x_eq(vir *v, pl_ex *e) {
  return compare(v, e, "eq");
}
static pv x_ne(vir *v, pl_ex *e) {
  return compare(v, e, "ne");
}
static pv x_lt(vir *v, pl_ex *e) {
  return compare(v, e, "lt");
}
static pv x_le(vir *v, pl_ex *e) {
  return compare(v, e, "le");
}
static pv x_gt(vir *v, pl_ex *e) {
  return compare(v, e, "gt");
}
static pv x_ge(vir *v, pl_ex *e) {
  return compare(v, e, "ge");
}

/* Truth values meet as 0 and 1 in float32: products, larger ones and differences are the logical operations. */
static pv truth(vir *v, pv x) {
  return pv_vec(v, pv_mask(v, x), AC_F32);
}
static pv x_logical_not(vir *v, pl_ex *e) {
  return pv_not(pv_mask(v, e->in[0]));
}
static pv x_logical_and(vir *v, pl_ex *e) {
  pv a = truth(v, e->in[0]);
  return pv_mask(v, pv_where(v, pv_mask(v, e->in[1]), a, N(0)));
}
static pv x_logical_or(vir *v, pl_ex *e) {
  pv a = truth(v, e->in[0]);
  return pv_mask(v, pv_where(v, pv_not(pv_mask(v, e->in[1])), a, N(1)));
}
static pv x_logical_xor(vir *v, pl_ex *e) {
  return pv_mask(v, pv_sub(v, truth(v, e->in[0]), truth(v, e->in[1])));
}
static pv bits(vir *v, pl_ex *e, pv (*f)(vir *, pl_ex *)) {
  return e->out == AC_BOOL ? f(v, e) : pl_none(e, "bitwise operations are for integers and bool");
}
static pv x_bitwise_not(vir *v, pl_ex *e) {
  return bits(v, e, x_logical_not);
}
static pv x_bitwise_and(vir *v, pl_ex *e) {
  return bits(v, e, x_logical_and);
}
static pv x_bitwise_or(vir *v, pl_ex *e) {
  return bits(v, e, x_logical_or);
}
static pv x_bitwise_xor(vir *v, pl_ex *e) {
  return bits(v, e, x_logical_xor);
}

static pv x_where(vir *v, pl_ex *e) {
  if (e->out == AC_BOOL) {
    pv a = truth(v, e->in[1]), b = truth(v, e->in[2]);
    return pv_mask(v, pv_where(v, pv_mask(v, e->in[0]), a, b));
  }
  pv a = pv_to_f32(v, e->in[1]), b = pv_to_f32(v, e->in[2]);
  return pv_where(v, pv_mask(v, e->in[0]), a, b);
}

/* ---- dtypes ---- */

static pv cast_to(vir *v, pl_ex *e, pv x, ac_dtype s, ac_dtype d) {
  bool half = d == AC_F16 || d == AC_BF16;
  if (x.kind == PV_NUM || x.kind == PV_TEXT) return x;
  if (d == AC_BOOL) return pv_mask(v, x);
  if (ac_dtypes[d].cls == AC_FLOATING) {
    if (d == AC_F64) return pl_none(e, "the vector unit has no float64");
    pv y = pv_to_f32(v, x);
    if (!half || s == d) return y;
    return pv_to_f32(
        v, (pv){.kind = PV_VEC, .reg = vir_cast(v, y.reg, d, AC_RN_RINT)}); /* the program asked for the rounding */
  }
  return pl_none(e, "there is no conversion to this dtype");
}
static pv x_cast(vir *v, pl_ex *e) {
  return cast_to(v, e, e->in[0], e->dt[0], e->out);
}

static const struct {
  ac_op op;
  pv (*f)(vir *, pl_ex *);
} table[] = {
#define E(OP, fn) {AC_G_##OP, x_##fn},
    // clang-format off
    E(NEG, neg) E(ABS, abs) E(SIGN, sign) E(EXP, exp) E(EXP2, exp2) E(EXPM1, expm1) E(LOG, log) E(LOG2, log2)
    E(LOG10, log10) E(LOG1P, log1p) E(SQRT, sqrt) E(RSQRT, rsqrt) E(RECIPROCAL, reciprocal) E(SQUARE, square)
    E(SINH, sinh) E(COSH, cosh) E(TANH, tanh) E(ASINH, asinh) E(ACOSH, acosh) E(ATANH, atanh) E(ERF, erf)
    E(SIGMOID, sigmoid) E(FLOOR, floor) E(CEIL, ceil) E(ROUND, round) E(TRUNC, trunc) E(FRAC, frac) E(CLONE, clone)
    E(EXPAND, clone) E(ISNAN, isnan) E(ISINF, isinf) E(ISFINITE, isfinite) E(NAN_TO_NUM, nan_to_num) E(CAST, cast)
    E(RELU, relu) E(RELU6, relu6) E(LEAKY_RELU, leaky_relu) E(ELU, elu) E(CELU, celu) E(SELU, selu) E(GELU, gelu)
    E(SILU, silu) E(MISH, mish) E(SOFTPLUS, softplus) E(SOFTSIGN, softsign) E(TANHSHRINK, tanhshrink)
    E(SOFTSHRINK, softshrink) E(HARDSHRINK, hardshrink) E(HARDTANH, hardtanh) E(HARDSIGMOID, hardsigmoid)
    E(HARDSWISH, hardswish) E(LOGSIGMOID, logsigmoid) E(THRESHOLD, threshold) E(ADD, add) E(SUB, sub) E(MUL, mul)
    E(DIV, div) E(POW, pow) E(MAXIMUM, maximum) E(MINIMUM, minimum) E(FMAX, fmax) E(FMIN, fmin) E(HYPOT, hypot)
    E(XLOGY, xlogy) E(LOGADDEXP, logaddexp) E(EQ, eq) E(NE, ne) E(LT, lt) E(LE, le) E(GT, gt) E(GE, ge)
    E(LOGICAL_NOT, logical_not) E(LOGICAL_AND, logical_and) E(LOGICAL_OR, logical_or) E(LOGICAL_XOR, logical_xor)
    E(BITWISE_NOT, bitwise_not) E(BITWISE_AND, bitwise_and) E(BITWISE_OR, bitwise_or) E(BITWISE_XOR, bitwise_xor)
    E(WHERE, where) E(ASIN, asin) E(ACOS, acos) E(ATAN, atan) E(FLOOR_DIVIDE, remainder) E(REMAINDER, remainder)
    E(FMOD, remainder) E(LSHIFT, shift) E(RSHIFT, shift)
// clang-format on
#undef E
};

/* Operations that the DSL has, but not for every argument that PyTorch takes. */
static const char *const small_angles = "its range reduction holds for |x| <= 1e4 only, so larger arguments would "
                                        "come out wrong; a DSL program that knows "
                                        "its arguments can use tl.vsin and tl.vcos";
static const struct {
  ac_op op;
  const char *const *why;
} unfit[] = {{AC_G_SIN, &small_angles}, {AC_G_COS, &small_angles}, {AC_G_TAN, &small_angles}};

const char *pl_unfit(ac_op op) {
  for (size_t i = 0; i < AC_COUNT(unfit); i++)
    if (unfit[i].op == op) return *unfit[i].why;
  return "it is not an element-wise operation of the table";
}

bool pl_expandable(ac_op op) {
  for (size_t i = 0; i < AC_COUNT(table); i++)
    if (table[i].op == op) return true;
  return false;
}

bool pl_expand(vir *v, const ac_node *n, const pv *in, int n_in, pv *out, const char **why) {
  for (size_t i = 0; i < AC_COUNT(table); i++) {
    if (table[i].op != n->op) continue;
    pl_ex e = {.n = n, .out = n->outs[0]->dtype};
    int k = 0;
    for (int a = 0; a < n->n_args && k < n_in; a++)
      if (n->args[a].kind == AC_K_TENSOR && !n->args[a].absent && n->args[a].t) {
        e.in[k] = in[k];
        e.dt[k++] = n->args[a].t->dtype;
      }
    if (!pl_expand_int(v, &e, out)) *out = table[i].f(v, &e);
    *why = e.why;
    return out->kind != PV_NONE && !e.why;
  }
  *why = pl_unfit(n->op);
  return false;
}

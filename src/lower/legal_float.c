/* Recipes of pass "legalise" in float32. Other floating dtypes are computed in float32 and rounded to nearest even at the end.
 *
 * Formulas; bounds are in units of the last place of the result, on top of what Exp, Ln, Sqrt and Div may miss by themselves. NaN and inf
 * come out right provided that Max and Min pass a NaN on, as the simulator assumes too.
 *
 *   sigmoid  1 / (1 + exp(-x))
 *   tanh     odd rational of degree 13/6, clamped to +-7.905 and the result to +-1; coefficients: Eigen,
 *            MathFunctionsImpl.h, generic_fast_tanh_float. At most 7 ulp.
 *   erf      odd rational of degree 13/8 on [-4, 4]; coefficients: Eigen, SpecialFunctionsImpl.h (also XLA, math.cc). At most 7 ulp.
 *   expm1    tanh(x/2) * (exp(x) + 1), an identity without cancellation near 0. At most 8 ulp.
 *   log1p    ln(u) + (x - (u - 1)) / u with u = 1 + x: the second term is what 1 + x lost. 2 ulp.
 *   sin, cos x - k pi with pi in four parts (8, 11, 11 and 24 bits, after Cody and Waite), then an odd polynomial of degree 11
 *            (least squares on Chebyshev nodes); 3 ulp of max(|result|, 1e-3) while |x| <= 10000, worse beyond.
 *   tan      sin / cos; 8 ulp while |x| <= 10000 and |result| <= 1000
 *   exp2     2^k exp(f ln 2), k = rint(x): |f| <= 1/2, and 2^k by two factors made of exponent bits, so that the ends of the range are
 *            right. 3 ulp.
 *   log2, log10   ln(x) / ln 2, ln(x) / ln 10: 2 ulp
 *   pow      exp(b ln |a|), the sign of a where b is an odd integer, NaN where b is none and a < 0, and 1 where b is 0 or a is 1. The
 *            logarithm's rounding is multiplied by b ln |a|: 4 + 3 |b ln |a|| ulp.
 *   atan     t = min(a, 1) / max(a, 1) of a = |x|, odd polynomial of degree 19 (through Chebyshev nodes), pi/2 - p where
 *            a > 1. 5 ulp.
 *   asin     atan(x / sqrt((1 - x) (1 + x))), 10 ulp;   acos   2 atan(sqrt((1 - x) / (1 + x))), 10 ulp
 *   sinh     2 sinh(a/2) cosh(a/2) of a = |x| with m = expm1(a/2): (m + m / (m + 1)) and (e + 1/e); 16 ulp
 *   cosh     2 cosh(a/2)^2 - 1; 16 ulp
 *   asinh    log1p(c + c^2 / (1 + sqrt(c^2 + 1))) + ln(max(a, 2^20) / 2^20) with c = min(a, 2^20): beyond 2^20 asinh(a) is ln(2a). 10 ulp
 *   acosh    log1p(t + sqrt(t (t + 2))) of t = c - 1, with the same second term; 10 ulp
 *   atanh    log1p(2a / (1 - a)) / 2 of a = |x|; 10 ulp
 *   sign     x 2^127 2^23 clamped to +-1: exact, 0 at 0, NaN at NaN
 *   fmod     a - trunc(a / b) b by parts of 12 bits, corrected: exact while |a / b| < 2^22; NaN for b = 0 and infinite a */
#include "lower/legal.h"

#include <string.h>

static ac_aexpr *scalar_one(legal *l) {
  return lx_float(l, 1);
}

/* ---- sigmoid, tanh, erf, expm1, log1p ---- */

static void sigmoid(legal *l, const lx_args *x) {
  lv t = lx_tmp(l, AC_F32), one = lx_tmp(l, AC_F32);
  lx_f(l, AC_I_MULS, t, x->a, -1);
  lx_1(l, AC_I_EXP, t, t);
  lx_f(l, AC_I_ADDS, t, t, 1);
  lx_fill(l, one, scalar_one(l));
  lx_2(l, AC_I_DIV, x->d, one, t);
}

/* d = x * p(x^2) / q(x^2); x is overwritten by nothing, t and u are. Dividing before the last product keeps tiny x out of underflow. */
static void odd_rational(legal *l, lv d, lv x, lv t, lv u, const double *p, int np, const double *q, int nq) {
  lx_2(l, AC_I_MUL, t, x, x);
  lx_horner(l, u, t, p, np);
  lx_horner(l, d, t, q, nq);
  lx_2(l, AC_I_DIV, d, u, d);
  lx_2(l, AC_I_MUL, d, d, x);
  lx_f(l, AC_I_MINS, d, d, 1);
  lx_f(l, AC_I_MAXS, d, d, -1);
}

/* d = tanh(x); x, t and u are overwritten. */
static void tanh_into(legal *l, lv d, lv x, lv t, lv u) {
  /* 1.5 * 2^-23 too large, all of them: at the clamp and beyond the result must be 1 even where Div is a unit too low */
  static const double p[] = {-2.76076897108742e-16, 2.00018826248624e-13, -8.60467306077252e-11, 5.12229800630924e-08,
                             1.48572262284765e-05,  6.37262042826749e-04, 4.89352543394824e-03};
  static const double q[] = {1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03};
  lx_f(l, AC_I_MINS, x, x, 7.90531110763549805);
  lx_f(l, AC_I_MAXS, x, x, -7.90531110763549805);
  odd_rational(l, d, x, t, u, p, AC_COUNT(p), q, AC_COUNT(q));
}
static void tanh_(legal *l, const lx_args *x) {
  lv t0 = lx_tmp(l, AC_F32), t1 = lx_tmp(l, AC_F32), t2 = lx_tmp(l, AC_F32);
  lx_f(l, AC_I_MULS, t0, x->a, 1);
  tanh_into(l, x->d, t0, t1, t2);
}
static void expm1_(legal *l, const lx_args *x) {
  lv t0 = lx_tmp(l, AC_F32), t1 = lx_tmp(l, AC_F32), t2 = lx_tmp(l, AC_F32), t3 = lx_tmp(l, AC_F32);
  lx_1(l, AC_I_EXP, t3, x->a);
  lx_f(l, AC_I_ADDS, t3, t3, 1);
  lx_f(l, AC_I_MULS, t0, x->a, 0.5);
  tanh_into(l, x->d, t0, t1, t2);
  lx_2(l, AC_I_MUL, x->d, x->d, t3);
}
static void erf_(legal *l, const lx_args *x) {
  /* 2^-23 too large, all of them: at 4 and beyond the result must be 1 even where Div is a unit too low, or gelu(-inf) is not NaN */
  static const double p[] = {-2.72614258299577e-10, 2.77068175525229e-08,  -2.10102427128821e-06,
                             -5.69250707321794e-05, -7.34990717944574e-04, -2.95460016075568e-03,
                             -1.60960352450321e-02};
  static const double q[] = {-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03,
                             -7.37332916720468e-03, -1.42647390514189e-02};
  lv t0 = lx_tmp(l, AC_F32), t1 = lx_tmp(l, AC_F32), t2 = lx_tmp(l, AC_F32);
  lx_f(l, AC_I_MINS, t0, x->a, 4);
  lx_f(l, AC_I_MAXS, t0, t0, -4);
  odd_rational(l, x->d, t0, t1, t2, p, AC_COUNT(p), q, AC_COUNT(q));
}
static void log1p_(legal *l, const lx_args *x) {
  lv t0 = lx_tmp(l, AC_F32), t1 = lx_tmp(l, AC_F32), t2 = lx_tmp(l, AC_F32);
  lx_f(l, AC_I_MINS, t0, x->a, 16777216); /* beyond 2^24 nothing is lost, and inf - inf is avoided */
  lx_f(l, AC_I_ADDS, t1, t0, 1);          /* u */
  lx_f(l, AC_I_ADDS, t2, t1, -1);
  lx_2(l, AC_I_SUB, t0, t0, t2);     /* what 1 + x lost, exactly */
  lx_f(l, AC_I_MAXS, t1, t1, 1e-30); /* x = -1: 0 / 0 is avoided */
  lx_2(l, AC_I_DIV, t0, t0, t1);
  lx_f(l, AC_I_ADDS, t1, x->a, 1);
  lx_1(l, AC_I_LN, t1, t1);
  lx_2(l, AC_I_ADD, x->d, t1, t0);
}
static void in_place(legal *l, lx_make f, lv v) {
  lx_args x = {.d = v, .a = v};
  int mark = l->reg;
  f(l, &x);
  l->reg = mark;
}

/* ---- sine, cosine, tangent ---- */

static void sine(legal *l, lv d, lv a, bool cosine) {
  static const double pi[] = {3.140625, 0.0009675025939941406, 1.5099067240953445e-07, 5.126688136514179e-12};
  static const double c[] = {-2.387443664986222e-08, 2.7524549750523875e-06, -0.00019840851018670946,
                             0.008333330973982811, -0.1666666716337204};
  lv t0 = lx_tmp(l, AC_F32), t1 = lx_tmp(l, AC_F32), t2 = lx_tmp(l, AC_F32), t3 = lx_tmp(l, AC_F32);
  lx_f(l, AC_I_MULS, t0, a, 0.31830988618379067);
  if (cosine) lx_f(l, AC_I_ADDS, t0, t0, 0.5);
  lx_cast(l, t0, t0, AC_RN_RINT); /* k */
  if (cosine) lx_f(l, AC_I_ADDS, t3, t0, -0.5);
  for (int i = 0; i < 4; i++) { /* t1 = a - k pi */
    lx_f(l, AC_I_MULS, t2, cosine ? t3 : t0, pi[i]);
    lx_2(l, AC_I_SUB, t1, i ? t1 : a, t2);
  }
  lx_f(l, AC_I_MULS, t2, t0, 0.5); /* (-1)^k = 1 - 2 (k - 2 floor(k / 2)) */
  lx_cast(l, t2, t2, AC_RN_FLOOR);
  lx_f(l, AC_I_MULS, t2, t2, 2);
  lx_2(l, AC_I_SUB, t0, t0, t2);
  lx_f(l, AC_I_MULS, t0, t0, -2);
  lx_f(l, AC_I_ADDS, t0, t0, 1);
  lx_2(l, AC_I_MUL, t2, t1, t1);
  lx_horner(l, t3, t2, c, AC_COUNT(c));
  lx_2(l, AC_I_MUL, t3, t3, t2);
  lx_2(l, AC_I_MUL, t3, t3, t1);
  lx_2(l, AC_I_ADD, t3, t3, t1);
  lx_2(l, AC_I_MUL, d, t3, t0);
}
static void sin_(legal *l, const lx_args *x) {
  sine(l, x->d, x->a, false);
}
static void cos_(legal *l, const lx_args *x) {
  sine(l, x->d, x->a, true);
}
static void tan_(legal *l, const lx_args *x) {
  lv c = lx_tmp(l, AC_F32);
  int mark = l->reg;
  sine(l, c, x->a, true);
  l->reg = mark;
  sine(l, x->d, x->a, false);
  lx_2(l, AC_I_DIV, x->d, x->d, c);
}

/* ---- powers and logarithms ---- */

static void exp2_(legal *l, const lx_args *x) {
  lv k = lx_tmp(l, AC_F32), f = lx_tmp(l, AC_F32), i = lx_tmp(l, AC_I32), j = lx_tmp(l, AC_I32);
  lx_f(l, AC_I_MINS, f, x->a, 130);
  lx_f(l, AC_I_MAXS, f, f, -152);
  lx_cast(l, k, f, AC_RN_RINT);
  lx_2(l, AC_I_SUB, f, f, k);
  lx_f(l, AC_I_MULS, f, f, 0.69314718055994531);
  lx_1(l, AC_I_EXP, f, f);
  lx_cast(l, i, k, AC_RN_RINT);
  lx_i(l, AC_I_SHR, j, i, 1); /* halves of k: 2^j 2^(k - j) */
  lx_2(l, AC_I_SUB, i, i, j);
  for (int half = 0; half < 2; half++) {
    lv h = half ? i : j;
    lx_i(l, AC_I_ADDS, h, h, 127);
    lx_i(l, AC_I_SHL, lx_as(h, AC_U32), lx_as(h, AC_U32), 23);
    lx_2(l, AC_I_MUL, half ? x->d : f, f, lx_as(h, AC_F32));
  }
}
static void log_base(legal *l, const lx_args *x, double factor) {
  lv t = lx_tmp(l, AC_F32);
  lx_1(l, AC_I_LN, t, x->a);
  lx_f(l, AC_I_MULS, x->d, t, factor);
}
static void log2_(legal *l, const lx_args *x) {
  log_base(l, x, 1.4426950408889634);
}
static void log10_(legal *l, const lx_args *x) {
  log_base(l, x, 0.43429448190325183);
}

/* b is odd: b / 2 has a fraction and b has none; beyond 2^24 all floats are even. `one` holds 1. */
static void pow_(legal *l, const lx_args *x) {
  lv p = lx_tmp(l, AC_F32), t = lx_tmp(l, AC_F32), u = lx_tmp(l, AC_F32), m = lx_tmp_mask(l);
  lx_1(l, AC_I_ABS, p, x->a);
  lx_1(l, AC_I_LN, p, p);
  lx_2(l, AC_I_MUL, p, p, x->b);
  lx_1(l, AC_I_EXP, p, p);
  /* t = |b / 2 - rint(b / 2)|, 1/2 where b is an odd integer, 0 where it is an even one; u = 1 - 2 (t == 1/2) */
  lx_f(l, AC_I_MAXS, t, x->b, -16777216);
  lx_f(l, AC_I_MINS, t, t, 16777216);
  lx_f(l, AC_I_MULS, t, t, 0.5);
  lx_cast(l, u, t, AC_RN_TRUNC);
  lx_2(l, AC_I_SUB, t, t, u);
  lx_1(l, AC_I_ABS, t, t);
  lx_fill(l, u, lx_float(l, 1));
  lx_compare_s(l, m, t, lx_float(l, 0.5), AC_CMP_NE);
  lx_select_s(l, u, m, u, lx_float(l, -1)); /* -1 for odd b */
  /* for other b below zero: NaN, which is 0 / 0; 4 t (1 - 2 t) is not 0 there */
  lv v = lx_tmp(l, AC_F32);
  lx_f(l, AC_I_MULS, v, t, -2);
  lx_f(l, AC_I_ADDS, v, v, 1);
  lx_2(l, AC_I_MUL, v, v, t);
  lx_compare_s(l, m, v, lx_float(l, 0), AC_CMP_EQ);
  lx_select_s(l, u, m, u, ac_ae_float(l->c->a, __builtin_nan("")));
  lx_fill(l, v, lx_float(l, 1));
  /* the sign counts where a < 0, -0 included: its sign bit as a number */
  lx_i(l, AC_I_SHR, lx_as(t, AC_U32), lx_as(x->a, AC_U32), 31);
  lx_cast(l, t, lx_as(t, AC_I32), AC_RN_RINT);
  lx_compare_s(l, m, t, lx_float(l, 0), AC_CMP_EQ);
  lx_select(l, u, m, v, u);
  /* (-0)^b and (-inf)^b of a b that is no integer are |a|^b, not NaN */
  lx_2(l, AC_I_MUL, t, p, u);
  lv w = lx_tmp(l, AC_F32);
  lx_compare(l, m, u, u, AC_CMP_EQ);
  lx_select(l, w, m, t, p); /* where u is NaN: the magnitude */
  lx_1(l, AC_I_ABS, v, x->a);
  lx_compare_s(l, m, v, lx_float(l, 0), AC_CMP_EQ);
  lx_select(l, t, m, w, t);
  lx_compare_s(l, m, v, ac_ae_float(l->c->a, __builtin_inf()), AC_CMP_EQ);
  lx_select(l, t, m, w, t);
  /* 1 where b is 0 or a is 1, whatever the other is; (-1)^(+-inf) too */
  lx_fill(l, p, lx_float(l, 1));
  lx_compare_s(l, m, x->b, lx_float(l, 0), AC_CMP_EQ);
  lx_select(l, t, m, p, t);
  lx_1(l, AC_I_ABS, v, x->b);
  lx_compare_s(l, m, v, ac_ae_float(l->c->a, __builtin_inf()), AC_CMP_EQ);
  lx_1(l, AC_I_ABS, v, x->a);
  lx_select(l, w, m, v, x->a);
  lx_compare_s(l, m, w, lx_float(l, 1), AC_CMP_EQ);
  lx_select(l, x->d, m, p, t);
}
static void pow_scalar(legal *l, const lx_args *x) {
  double v = x->s->kind == AC_AE_FLOAT ? x->s->f : x->s->kind == AC_AE_INT ? (double)x->s->i : 1e30;
  if (v == 2) {
    lx_2(l, AC_I_MUL, x->d, x->a, x->a);
  } else if (v == 3 || v == 4) {
    lv t = lx_tmp(l, AC_F32);
    lx_2(l, AC_I_MUL, t, x->a, x->a);
    lx_2(l, AC_I_MUL, x->d, t, v == 3 ? x->a : t);
  } else if (v == 1) {
    lx_f(l, AC_I_MULS, x->d, x->a, 1);
  } else {
    lx_args y = *x;
    y.b = lx_tmp(l, AC_F32);
    lx_fill(l, y.b, x->s);
    pow_(l, &y);
  }
}

/* ---- arcs ---- */

/* d = sign of a: 1, 0, -1 or NaN; exact for every float. d is not a. */
static void sign_into(legal *l, lv d, lv a) {
  lx_f(l, AC_I_MULS, d, a, 0x1p127);
  lx_f(l, AC_I_MULS, d, d, 0x1p23);
  lx_f(l, AC_I_MINS, d, d, 1);
  lx_f(l, AC_I_MAXS, d, d, -1);
}
static void sign_(legal *l, const lx_args *x) {
  lx_f(l, AC_I_MULS, x->d, x->a, 0x1p127);
  lx_f(l, AC_I_MULS, x->d, x->d, 0x1p23);
  lx_f(l, AC_I_MINS, x->d, x->d, 1);
  lx_f(l, AC_I_MAXS, x->d, x->d, -1);
}

/* d = atan(a), d may be a. */
static void atan_into(legal *l, lv d, lv a) {
  static const double c[] = {-0.002386997316724114, 0.013507771427020537, -0.035871538982043365,
                             0.06250169444749563,   -0.08656880430154522, 0.11033764115313455,
                             -0.14278568748210602,  0.1999973932983558,   -0.3333333173306352};
  lv s = lx_tmp(l, AC_F32), t = lx_tmp(l, AC_F32), u = lx_tmp(l, AC_F32), v = lx_tmp(l, AC_F32);
  sign_into(l, s, a);
  lx_1(l, AC_I_ABS, u, a);
  lx_f(l, AC_I_MINS, t, u, 1);
  lx_f(l, AC_I_MAXS, v, u, 1);
  lx_2(l, AC_I_DIV, t, t, v); /* min(a, 1) / max(a, 1) */
  lx_f(l, AC_I_ADDS, u, u, -1);
  lx_f(l, AC_I_MULS, u, u, 0x1p60);
  lx_f(l, AC_I_MINS, u, u, 1);
  lx_f(l, AC_I_MAXS, u, u, 0); /* 1 where a > 1, else 0 */
  lx_2(l, AC_I_MUL, v, t, t);
  lx_horner(l, d, v, c, AC_COUNT(c));
  lx_2(l, AC_I_MUL, d, d, v);
  lx_2(l, AC_I_MUL, d, d, t);
  lx_2(l, AC_I_ADD, d, d, t);
  lx_f(l, AC_I_MULS, v, d, -2); /* p + u (pi/2 - 2 p) */
  lx_f(l, AC_I_ADDS, v, v, 1.5707963267948966);
  lx_2(l, AC_I_MUL, v, v, u);
  lx_2(l, AC_I_ADD, d, d, v);
  lx_2(l, AC_I_MUL, d, d, s);
}
static void atan_(legal *l, const lx_args *x) {
  atan_into(l, x->d, x->a);
}
static void asin_(legal *l, const lx_args *x) {
  lv t = lx_tmp(l, AC_F32), u = lx_tmp(l, AC_F32);
  lx_f(l, AC_I_MULS, t, x->a, -1);
  lx_f(l, AC_I_ADDS, t, t, 1);
  lx_f(l, AC_I_ADDS, u, x->a, 1);
  lx_2(l, AC_I_MUL, t, t, u);
  lx_1(l, AC_I_SQRT, t, t);
  lx_2(l, AC_I_DIV, t, x->a, t);
  l->reg -= 4; /* u */
  atan_into(l, x->d, t);
}
static void acos_(legal *l, const lx_args *x) {
  lv t = lx_tmp(l, AC_F32), u = lx_tmp(l, AC_F32);
  lx_f(l, AC_I_MULS, t, x->a, -1);
  lx_f(l, AC_I_ADDS, t, t, 1);
  lx_f(l, AC_I_ADDS, u, x->a, 1);
  lx_2(l, AC_I_DIV, t, t, u);
  lx_1(l, AC_I_SQRT, t, t);
  l->reg -= 4;
  atan_into(l, x->d, t);
  lx_f(l, AC_I_MULS, x->d, x->d, 2);
}

/* ---- hyperbolic ---- */

static void sinh_(legal *l, const lx_args *x) {
  lv s = lx_tmp(l, AC_F32), m = lx_tmp(l, AC_F32);
  sign_into(l, s, x->a);
  lx_1(l, AC_I_ABS, m, x->a);
  lx_f(l, AC_I_MINS, m, m, 90); /* beyond, the result is inf */
  lx_f(l, AC_I_MULS, m, m, 0.5);
  in_place(l, expm1_, m);
  lv e = lx_tmp(l, AC_F32), t = lx_tmp(l, AC_F32);
  lx_f(l, AC_I_ADDS, e, m, 1);
  lx_2(l, AC_I_DIV, t, m, e);
  lx_2(l, AC_I_ADD, m, m, t); /* 2 sinh(a/2) */
  lx_fill(l, t, scalar_one(l));
  lx_2(l, AC_I_DIV, t, t, e);
  lx_2(l, AC_I_ADD, e, e, t); /* 2 cosh(a/2) */
  lx_f(l, AC_I_MULS, e, e, 0.5);
  lx_2(l, AC_I_MUL, m, m, e);
  lx_2(l, AC_I_MUL, x->d, m, s);
}
static void cosh_(legal *l, const lx_args *x) {
  lv e = lx_tmp(l, AC_F32), t = lx_tmp(l, AC_F32);
  lx_1(l, AC_I_ABS, e, x->a);
  lx_f(l, AC_I_MINS, e, e, 90);
  lx_f(l, AC_I_MULS, e, e, 0.5);
  lx_1(l, AC_I_EXP, e, e);
  lx_fill(l, t, scalar_one(l));
  lx_2(l, AC_I_DIV, t, t, e);
  lx_2(l, AC_I_ADD, e, e, t); /* 2 cosh(a/2) */
  lx_f(l, AC_I_MULS, t, e, 0.5);
  lx_2(l, AC_I_MUL, e, e, t);
  lx_f(l, AC_I_ADDS, x->d, e, -1);
}

/* d = d + ln(max(a, 2^20) / 2^20) */
static void add_beyond(legal *l, lv d, lv a, lv t) {
  lx_f(l, AC_I_MAXS, t, a, 0x1p20);
  lx_f(l, AC_I_MULS, t, t, 0x1p-20);
  lx_1(l, AC_I_LN, t, t);
  lx_2(l, AC_I_ADD, d, d, t);
}
static void asinh_(legal *l, const lx_args *x) {
  lv s = lx_tmp(l, AC_F32), a = lx_tmp(l, AC_F32), c = lx_tmp(l, AC_F32), q = lx_tmp(l, AC_F32),
     r = lx_tmp(l, AC_F32);
  sign_into(l, s, x->a);
  lx_1(l, AC_I_ABS, a, x->a);
  lx_f(l, AC_I_MINS, c, a, 0x1p20);
  lx_2(l, AC_I_MUL, q, c, c);
  lx_f(l, AC_I_ADDS, r, q, 1);
  lx_1(l, AC_I_SQRT, r, r);
  lx_f(l, AC_I_ADDS, r, r, 1);
  lx_2(l, AC_I_DIV, q, q, r);
  lx_2(l, AC_I_ADD, c, c, q);
  l->reg -= 8; /* q and r */
  in_place(l, log1p_, c);
  q = lx_tmp(l, AC_F32);
  add_beyond(l, c, a, q);
  lx_2(l, AC_I_MUL, x->d, c, s);
}
static void acosh_(legal *l, const lx_args *x) {
  lv t = lx_tmp(l, AC_F32), q = lx_tmp(l, AC_F32);
  lx_f(l, AC_I_MINS, t, x->a, 0x1p20);
  lx_f(l, AC_I_MAXS, t, t, -1);
  lx_f(l, AC_I_ADDS, t, t, -1);
  lx_f(l, AC_I_ADDS, q, t, 2);
  lx_2(l, AC_I_MUL, q, q, t);
  lx_1(l, AC_I_SQRT, q, q);
  lx_2(l, AC_I_ADD, t, t, q);
  l->reg -= 4;
  in_place(l, log1p_, t);
  q = lx_tmp(l, AC_F32);
  lx_f(l, AC_I_MAXS, q, x->a, 0x1p20);
  lx_f(l, AC_I_MULS, q, q, 0x1p-20);
  lx_1(l, AC_I_LN, q, q);
  lx_2(l, AC_I_ADD, x->d, t, q);
}
static void atanh_(legal *l, const lx_args *x) {
  lv s = lx_tmp(l, AC_F32), a = lx_tmp(l, AC_F32), t = lx_tmp(l, AC_F32);
  sign_into(l, s, x->a);
  lx_1(l, AC_I_ABS, a, x->a);
  lx_f(l, AC_I_MULS, t, a, -1);
  lx_f(l, AC_I_ADDS, t, t, 1);
  lx_f(l, AC_I_MULS, a, a, 2);
  lx_2(l, AC_I_DIV, a, a, t);
  l->reg -= 4;
  in_place(l, log1p_, a);
  lx_f(l, AC_I_MULS, a, a, 0.5);
  lx_2(l, AC_I_MUL, x->d, a, s);
}

/* ---- rounding, remainders, plain arithmetic ---- */

static void floor_(legal *l, const lx_args *x) {
  lx_cast(l, x->d, x->a, AC_RN_FLOOR);
}
static void ceil_(legal *l, const lx_args *x) {
  lx_cast(l, x->d, x->a, AC_RN_CEIL);
}
static void round_(legal *l, const lx_args *x) {
  lx_cast(l, x->d, x->a, AC_RN_ROUND);
}
static void rint_(legal *l, const lx_args *x) {
  lx_cast(l, x->d, x->a, AC_RN_RINT);
}
static void trunc_(legal *l, const lx_args *x) {
  lx_cast(l, x->d, x->a, AC_RN_TRUNC);
}
static void square(legal *l, const lx_args *x) {
  lx_2(l, AC_I_MUL, x->d, x->a, x->a);
}
static void clamp(legal *l, const lx_args *x) {
  lx_s(l, AC_I_MAXS, x->d, x->a, x->s);
  lx_s(l, AC_I_MINS, x->d, x->d, x->s2);
}
static void neg(legal *l, const lx_args *x) {
  lx_f(l, AC_I_MULS, x->d, x->a, -1);
}
static void sub_scalar(legal *l, const lx_args *x) {
  lx_s(l, AC_I_ADDS, x->d, x->a, lx_minus(l, x->s));
}
static void rsub_scalar(legal *l, const lx_args *x) {
  lx_f(l, AC_I_MULS, x->d, x->a, -1);
  lx_s(l, AC_I_ADDS, x->d, x->d, x->s);
}
static void div_scalar(legal *l, const lx_args *x) {
  lv t = lx_tmp(l, AC_F32);
  lx_fill(l, t, x->s);
  lx_2(l, AC_I_DIV, x->d, x->a, t);
}
static void rdiv_scalar(legal *l, const lx_args *x) {
  lv t = lx_tmp(l, AC_F32);
  lx_fill(l, t, x->s);
  lx_2(l, AC_I_DIV, x->d, t, x->a);
}
static void iota(legal *l, const lx_args *x) {
  lv t = lx_tmp(l, AC_I32);
  lx_iota(l, t, l->first ? l->first : lx_int(l, 0), 1);
  lx_cast(l, x->d, t, AC_RN_RINT);
  lx_s(l, AC_I_MULS, x->d, x->d, x->s2);
  lx_s(l, AC_I_ADDS, x->d, x->d, x->s);
}

/* d -= q b, q an integer below 2^12, by the halves of b: every product and every difference is exact. */
static void fmod_(legal *l, const lx_args *x) {
  lv a = lx_tmp(l, AC_F32), b = lx_tmp(l, AC_F32), q = lx_tmp(l, AC_F32), h = lx_tmp(l, AC_F32),
     t = lx_tmp(l, AC_F32), m = lx_tmp_mask(l);
  lx_1(l, AC_I_ABS, a, x->a);
  lx_1(l, AC_I_ABS, b, x->b);
  /* the high half of b: its low 12 bits cleared */
  lx_i(l, AC_I_SHR, lx_as(h, AC_U32), lx_as(b, AC_U32), 12);
  lx_i(l, AC_I_SHL, lx_as(h, AC_U32), lx_as(h, AC_U32), 12);
  for (int part = 0; part < 3; part++) { /* quotient bits 12..23, 0..11, and what is left over */
    lx_2(l, AC_I_DIV, q, a, b);
    if (part == 0) {
      lx_f(l, AC_I_MULS, q, q, 0x1p-12);
      lx_cast(l, q, q, AC_RN_TRUNC);
      lx_f(l, AC_I_MULS, q, q, 0x1p12);
    } else
      lx_cast(l, q, q, AC_RN_TRUNC);
    lx_2(l, AC_I_MUL, t, q, h);
    lx_2(l, AC_I_SUB, a, a, t);
    lx_2(l, AC_I_SUB, t, b, h);
    lx_2(l, AC_I_MUL, t, t, q);
    lx_2(l, AC_I_SUB, a, a, t);
  }
  /* the quotient was one too large: a < 0; one too small: a >= b */
  lx_2(l, AC_I_ADD, t, a, b);
  lx_compare_s(l, m, a, lx_float(l, 0), AC_CMP_LT);
  lx_select(l, a, m, t, a);
  lx_2(l, AC_I_SUB, t, a, b);
  lx_compare(l, m, a, b, AC_CMP_GE);
  lx_select(l, a, m, t, a);
  /* an infinite b leaves a */
  lx_1(l, AC_I_ABS, t, x->a);
  lx_compare_s(l, m, b, ac_ae_float(l->c->a, __builtin_inf()), AC_CMP_EQ);
  lx_select(l, a, m, t, a);
  lx_1(l, AC_I_ABS, b, x->a); /* an infinite a gives NaN: 0 inf */
  lx_f(l, AC_I_MULS, b, b, 0);
  lx_2(l, AC_I_ADD, a, a, b);
  sign_into(l, t, x->a);
  lx_2(l, AC_I_MUL, x->d, a, t);
}

/* The sign of the divisor: it is added where the remainder has the other one. */
static void mod(legal *l, const lx_args *x) {
  lx_args y = *x;
  y.d = lx_tmp(l, AC_F32);
  int mark = l->reg;
  fmod_(l, &y);
  l->reg = mark;
  lv t = lx_tmp(l, AC_F32), m = lx_tmp_mask(l);
  sign_into(l, t, x->b);
  lx_2(l, AC_I_MUL, t, t, y.d);
  lx_compare_s(l, m, t, lx_float(l, 0), AC_CMP_LT);
  lx_2(l, AC_I_ADD, t, y.d, x->b);
  lx_select(l, x->d, m, t, y.d);
}

/* The scalar in all lanes, then the form of two vectors. */
static void with_scalar(legal *l, const lx_args *x, lx_make make) {
  lx_args y = *x;
  y.b = lx_tmp(l, AC_F32);
  lx_fill(l, y.b, x->s);
  make(l, &y);
}
static void fmod_scalar(legal *l, const lx_args *x) {
  with_scalar(l, x, fmod_);
}
static void mod_scalar(legal *l, const lx_args *x) {
  with_scalar(l, x, mod);
}

static const struct {
  const char *name;
  lx_make make;
} recipes[] = {{"vsigmoid", sigmoid},
               {"vtanh", tanh_},
               {"vexpm1", expm1_},
               {"vlog1p", log1p_},
               {"verf", erf_},
               {"vsin", sin_},
               {"vcos", cos_},
               {"vtan", tan_},
               {"vexp2", exp2_},
               {"vlog2", log2_},
               {"vlog10", log10_},
               {"vpow", pow_},
               {"vpow_scalar", pow_scalar},
               {"vasin", asin_},
               {"vacos", acos_},
               {"vatan", atan_},
               {"vsinh", sinh_},
               {"vcosh", cosh_},
               {"vasinh", asinh_},
               {"vacosh", acosh_},
               {"vatanh", atanh_},
               {"vfloor", floor_},
               {"vceil", ceil_},
               {"vround", round_},
               {"vrint", rint_},
               {"vtrunc", trunc_},
               {"vsign", sign_},
               {"vsquare", square},
               {"vclamp", clamp},
               {"vneg", neg},
               {"vsub_scalar", sub_scalar},
               {"vrsub_scalar", rsub_scalar},
               {"vdiv_scalar", div_scalar},
               {"vrdiv_scalar", rdiv_scalar},
               {"vfmod", fmod_},
               {"vfmod_scalar", fmod_scalar},
               {"vmod", mod},
               {"vmod_scalar", mod_scalar},
               {"iota", iota}};

lx_make lx_float_recipe(const char *name) {
  for (size_t i = 0; i < AC_COUNT(recipes); i++)
    if (!strcmp(recipes[i].name, name)) return recipes[i].make;
  return NULL;
}

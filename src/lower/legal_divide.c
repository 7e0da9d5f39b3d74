/* Recipes of pass "legalise" for the division of integers of 8, 16 and 32 bits, exact for all values.
 *
 * The vector unit divides floats only. A quotient of magnitudes comes from two estimates in float32, each multiplied by 1 - 2^-21: both
 * casts are off by 2^-24, the division by one unit in the last place and the product by half of one, 1.25 * 2^-22 together, so an estimate
 * never exceeds the quotient, and misses it by a part of 2^-20 and 1 at most. Of a < 2^32 and a divisor b the first estimate leaves less
 * than 2^12 + b, the second less than 2 b: one comparison ends it. Remainders are kept in int32, exactly.
 *
 *   magnitudes   kept negative, where -2^31 has one as well
 *   uint32       half of a first: its quotient twice is the quotient, or 1 less
 *   8, 16 bits   in int32; the low bits go back
 *   by 0         as by 1: the quotient is a, the remainder 0 */
#include "lower/legal.h"

bool lx_quotient_of(const char *name, lx_quotient *k) {
  static const struct {
    const char *name;
    lx_quotient k;
  } rows[] = {{"vdiv", {false, false, false, false}},           {"vdiv_scalar", {false, false, true, false}},
              {"vrdiv_scalar", {false, false, true, true}},     {"vfmod", {true, false, false, false}},
              {"vfmod_scalar", {true, false, true, false}},     {"vfloordiv", {false, true, false, false}},
              {"vfloordiv_scalar", {false, true, true, false}}, {"vmod", {true, true, false, false}},
              {"vmod_scalar", {true, true, true, false}}};
  for (size_t i = 0; i < AC_COUNT(rows); i++)
    if (lx_is(name, rows[i].name)) return *k = rows[i].k, true;
  return false;
}

/* q += (q =) an estimate of r / b; r -= it times b. r <= 0, b < 0; fb is b as a float. */
static void estimate(legal *l, lv q, lv r, lv b, lv fb, bool first) {
  int mark = l->reg;
  lv f = lx_tmp(l, AC_F32), e = first ? q : lx_tmp(l, AC_I32);
  lx_cast(l, f, r, AC_RN_RINT);
  lx_2(l, AC_I_DIV, f, f, fb);
  lx_f(l, AC_I_MULS, f, f, 1 - 0x1p-21);
  lx_cast(l, e, f, AC_RN_TRUNC);
  if (!first) lx_2(l, AC_I_ADD, q, q, e);
  lx_2(l, AC_I_MUL, lx_as(f, AC_I32), e, b);
  lx_2(l, AC_I_SUB, r, r, lx_as(f, AC_I32));
  l->reg = mark;
}

/* Where the mask is set, q becomes q + 1 and r becomes r - b. */
static void one_more(legal *l, lv m, lv q, lv r, lv b, lv t) {
  lx_2(l, AC_I_SUB, t, r, b);
  lx_select(l, lx_as(r, AC_F32), m, lx_as(t, AC_F32), lx_as(r, AC_F32));
  lx_i(l, AC_I_ADDS, t, q, 1);
  lx_select(l, lx_as(q, AC_F32), m, lx_as(t, AC_F32), lx_as(q, AC_F32));
}

/* q = r / b, rounded down; r becomes what is left, all of r <= 0 and b < 0. */
static void divide(legal *l, lv q, lv r, lv b) {
  int mark = l->reg;
  lv fb = lx_tmp(l, AC_F32), m = lx_tmp_mask(l);
  lx_cast(l, fb, b, AC_RN_RINT);
  estimate(l, q, r, b, fb, true);
  estimate(l, q, r, b, fb, false);
  lv t = lx_as(fb, AC_I32);
  lx_2(l, AC_I_MAX, t, r, b); /* is b where r <= b */
  lx_compare(l, m, t, b, AC_CMP_EQ);
  one_more(l, m, q, r, b, t);
  l->reg = mark;
}

static void minus_magnitude(legal *l, lv d, lv a) {
  lx_i(l, AC_I_MULS, d, a, -1);
  lx_2(l, AC_I_MIN, d, d, a);
}
/* 1, or -1 where a < 0 */
static void sign(legal *l, lv d, lv a) {
  lx_i(l, AC_I_SHR, d, a, 31);
  lx_i(l, AC_I_MULS, d, d, 2);
  lx_i(l, AC_I_ADDS, d, d, 1);
}

static void divide_signed(legal *l, lx_quotient k, lv d, lv a, lv b) {
  lv q = lx_tmp(l, AC_I32), r = lx_tmp(l, AC_I32), n = lx_tmp(l, AC_I32);
  minus_magnitude(l, r, a);
  minus_magnitude(l, n, b);
  lx_i(l, AC_I_MINS, n, n, -1);
  divide(l, q, r, n);
  lv s = n, both = lx_tmp(l, AC_I32), t = lx_tmp(l, AC_I32);
  sign(l, s, a);
  sign(l, both, b);
  lx_2(l, AC_I_MUL, both, both, s);
  if (k.floor) lx_i(l, AC_I_MAXS, t, r, -1); /* all bits where something is left */
  if (k.remainder) {
    lx_i(l, AC_I_MULS, s, s, -1);
    lx_2(l, AC_I_MUL, q, r, s);
  } else
    lx_2(l, AC_I_MUL, q, q, both);
  if (!k.floor) {
    lx_i(l, AC_I_ADDS, d, q, 0);
    return;
  }
  lx_i(l, AC_I_SHR, both, both, 31);
  lx_bits(l, AC_I_AND, t, t, both); /* and the signs differ */
  if (k.remainder) lx_bits(l, AC_I_AND, t, t, b);
  lx_2(l, AC_I_ADD, d, q, t);
}

static void divide_unsigned(legal *l, lx_quotient k, lv d, lv a, lv b) {
  lv q = lx_tmp(l, AC_I32), r = lx_tmp(l, AC_I32), n = lx_tmp(l, AC_I32), half = lx_tmp(l, AC_I32);
  lv t = q, u = r;
  lx_i(l, AC_I_SHR, lx_as(t, AC_U32), lx_as(b, AC_U32),
       1); /* n = b, or 1 for 0: the halves of b joined are 0 then alone */
  lx_i(l, AC_I_SHL, lx_as(u, AC_U32), lx_as(b, AC_U32), 31);
  lx_i(l, AC_I_SHR, lx_as(u, AC_U32), lx_as(u, AC_U32), 31);
  lx_bits(l, AC_I_OR, t, t, u);
  lx_i(l, AC_I_MINS, t, t, 1);
  lx_i(l, AC_I_MULS, t, t, -1);
  lx_i(l, AC_I_ADDS, t, t, 1);
  lx_2(l, AC_I_ADD, n, b, t);
  minus_magnitude(l, half, n);
  lx_i(l, AC_I_SHR, lx_as(r, AC_U32), lx_as(a, AC_U32), 1);
  lx_i(l, AC_I_MULS, r, r, -1);
  divide(l, q, r, half);
  int mark = l->reg;
  lv m = lx_tmp_mask(l);
  t = half;
  lx_i(l, AC_I_SHR, t, n, 31); /* of a divisor of 2^31 and more half of a holds none */
  lx_bits(l, AC_I_NOT, t, t, t);
  lx_bits(l, AC_I_AND, q, q, t);
  lx_i(l, AC_I_MULS, q, q, 2);
  lx_2(l, AC_I_MUL, t, q, n);
  lx_2(l, AC_I_SUB, r, a, t);
  u = lx_tmp(l, AC_I32);
  lx_i(l, AC_I_ADDS, u, r, INT32_MIN);
  lx_i(l, AC_I_ADDS, t, n, INT32_MIN);
  lx_2(l, AC_I_MAX, t, t, u); /* is r where r >= n */
  lx_compare(l, m, t, u, AC_CMP_EQ);
  one_more(l, m, q, r, n, t);
  lx_i(l, AC_I_ADDS, d, k.remainder ? r : q, 0);
  l->reg = mark;
}

/* The second operand: a vector, or one number in all lanes. */
static lv widened(legal *l, const lx_args *x, lv v, bool number) {
  ac_dtype d = x->d.d;
  bool wide = ac_dtypes[d].bytes == 4;
  if (!number && wide) return lx_as(v, AC_I32);
  lv t = lx_tmp(l, AC_I32);
  if (number)
    lx_fill(l, t, wide ? x->s : lx_wrap(l, x->s, d));
  else
    lx_convert(l, t, v, AC_RN_NONE);
  return t;
}

bool lx_divide(legal *l, const char *name, const lx_args *x) {
  lx_quotient k;
  if (!lx_quotient_of(name, &k)) return false;
  ac_dtype d = x->d.d;
  bool wide = ac_dtypes[d].bytes == 4;
  lv a = widened(l, x, x->a, k.scalar && k.reverse),
     b = widened(l, x, k.scalar ? x->a : x->b, k.scalar && !k.reverse);
  lv to = wide ? lx_as(x->d, AC_I32) : a;
  if (d == AC_U32)
    divide_unsigned(l, k, to, a, b);
  else
    divide_signed(l, k, to, a, b);
  if (wide) return true;
  if (d == AC_I16) { /* -32768 / -1 wraps */
    lx_i(l, AC_I_SHL, lx_as(to, AC_U32), lx_as(to, AC_U32), 16);
    lx_i(l, AC_I_SHR, to, to, 16);
  }
  return lx_convert(l, x->d, to, AC_RN_NONE);
}

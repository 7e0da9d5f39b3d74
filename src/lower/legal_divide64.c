/* Recipes of pass "legalise" for the division of int64, exact for all values: pairs of words, as legal_int64.c has them.
 *
 * Magnitudes are unsigned, up to 2^63. A quotient of r by b comes from four estimates in float32, each multiplied by 1 - 2^-20: a pair as
 * a float is off by three parts in 2^24 (two casts, one sum), the division by two (one unit in the last place) and the product by one, nine
 * together with both floats, fewer than the 16 that are taken off. So an estimate, rounded down, never exceeds the quotient, and leaves less
 * than r 2^-19 + b. Of r <= 2^63 the first leaves less than 2^44 + b, the second 2^26 + 2 b, the third 2^7 + 2 b, the fourth 2 b: one
 * comparison ends it. The sign of r - b, which is in [-2^63, 2^63), is that of its 64 bits.
 *
 * By 0 as by 1, and -2^63 by -1 wraps, as the narrower ints have it (legal_divide.c). The estimates are a loop of four trips in the
 * emitted code: 78 instructions a trip, and some 156 around it (vfloordiv). */
#include "lower/legal.h"

enum { TRIPS = 4 };

static void copy(legal *l, lx_pair d, lx_pair a) {
  lx_each64(l, AC_I_OR, d, a, a);
}
/* {v, 0}, v of 0 or 1 */
static lx_pair bit(legal *l, lv v) {
  lx_pair p = lx_pair_tmp(l);
  lx_i(l, AC_I_ADDS, p.lo, v, 0);
  lx_fill(l, p.hi, lx_int(l, 0));
  return p;
}
static void add_bit(legal *l, lx_pair a, lv v) {
  int mark = l->reg;
  lx_add64(l, a, bit(l, v));
  l->reg = mark;
}

/* a = -a where all bits of s are set, not where none is */
static void negate_where(legal *l, lx_pair a, lv s) {
  int mark = l->reg;
  lx_xor(l, a.lo, a.lo, s);
  l->reg = mark;
  lx_xor(l, a.hi, a.hi, s);
  l->reg = mark;
  lv one = lx_tmp(l, AC_I32);
  lx_i(l, AC_I_MULS, one, s, -1);
  add_bit(l, a, one);
  l->reg = mark;
}
/* a = b where all bits of s are set */
static void replace_where(legal *l, lx_pair a, lx_pair b, lv s) {
  int mark = l->reg;
  lv t = lx_tmp(l, AC_I32), u = lx_tmp(l, AC_I32);
  lx_bits(l, AC_I_NOT, t, s, s);
  for (int k = 0; k < 2; k++) {
    lv x = k ? a.hi : a.lo, y = k ? b.hi : b.lo;
    lx_bits(l, AC_I_AND, x, x, t);
    lx_bits(l, AC_I_AND, u, y, s);
    lx_bits(l, AC_I_OR, x, x, u);
  }
  l->reg = mark;
}

/* z = 1 where a is not 0, else 0 */
static void nonzero(legal *l, lv z, lx_pair a) {
  int mark = l->reg;
  lv t = lx_tmp(l, AC_I32);
  lx_bits(l, AC_I_OR, z, a.lo, a.hi);
  lx_i(l, AC_I_MULS, t, z, -1);
  lx_bits(l, AC_I_OR, z, z, t);
  lx_i(l, AC_I_SHR, lx_as(z, AC_U32), lx_as(z, AC_U32), 31);
  l->reg = mark;
}

/* The magnitude; its sign, all bits or none, in s. */
static void magnitude(legal *l, lx_pair a, lv s) {
  lx_i(l, AC_I_SHR, s, a.hi, 31);
  negate_where(l, a, s);
}

/* a, unsigned and at most 2^63, as a float */
static void as_float(legal *l, lv f, lx_pair a) {
  int mark = l->reg;
  lv t = lx_tmp(l, AC_F32), u = lx_tmp(l, AC_F32);
  lx_cast(l, f, a.hi, AC_RN_RINT);
  lx_1(l, AC_I_ABS, f, f); /* 2^31 reads as -2^31 */
  lx_f(l, AC_I_MULS, f, f, 0x1p32);
  lx_cast(l, t, a.lo, AC_RN_RINT);
  lx_i(l, AC_I_SHR, lx_as(u, AC_I32), a.lo, 31);
  lx_cast(l, u, lx_as(u, AC_I32), AC_RN_RINT);
  lx_f(l, AC_I_MULS, u, u, -0x1p32);
  lx_2(l, AC_I_ADD, t, t, u);
  lx_2(l, AC_I_ADD, f, f, t);
  l->reg = mark;
}

/* d = f / unit, rounded down; f becomes what is left. Exact: both are multiples of f's last place. */
static void digit(legal *l, lv d, lv f, lv t, double unit) {
  lx_f(l, AC_I_MULS, t, f, 1 / unit);
  lx_cast(l, d, t, AC_RN_TRUNC);
  lx_cast(l, t, d, AC_RN_RINT);
  lx_f(l, AC_I_MULS, t, t, -unit);
  lx_2(l, AC_I_ADD, f, f, t);
}
/* q = f, rounded down; 0 <= f < 2^63. f is overwritten. */
static void as_pair(legal *l, lx_pair q, lv f) {
  int mark = l->reg;
  lv t = lx_tmp(l, AC_F32);
  digit(l, q.hi, f, t, 0x1p32);
  digit(l, q.lo, f, t, 0x1p16);
  lx_cast(l, lx_as(t, AC_I32), f, AC_RN_TRUNC);
  lx_i(l, AC_I_SHL, lx_as(q.lo, AC_U32), lx_as(q.lo, AC_U32), 16);
  lx_2(l, AC_I_ADD, q.lo, q.lo, lx_as(t, AC_I32));
  l->reg = mark;
}

/* q += an estimate of r / b; r -= it times b */
static void estimate(legal *l, lx_pair q, lx_pair r, lx_pair b, lv fb) {
  int mark = l->reg;
  lx_pair t = lx_pair_tmp(l), c = lx_pair_tmp(l);
  lv f = c.lo;
  f.d = AC_F32;
  as_float(l, f, r);
  lx_2(l, AC_I_DIV, f, f, fb);
  lx_f(l, AC_I_MULS, f, f, 1 - 0x1p-20);
  as_pair(l, t, f);
  lx_add64(l, q, t);
  copy(l, c, b);
  lx_mul64(l, t, c);
  lx_sub64(l, r, t);
  l->reg = mark;
}

static void estimates(legal *l, lx_pair q, lx_pair r, lx_pair b, lv fb) {
  ac_ablock *out = l->out;
  ac_astmt *loop = ac_as_new(l->c->a, AC_AS_FOR, l->at->loc);
  loop->var = (ac_avar){.name = "acEstimate", .type = AC_AT_INT};
  loop->lo = lx_int(l, 0);
  loop->hi = lx_int(l, TRIPS);
  loop->step = lx_int(l, 1);
  l->out = &loop->body;
  estimate(l, q, r, b, fb);
  l->out = out;
  if (!l->measure) ac_push(l->c->a, out, loop);
}

/* q = r / b, rounded down; r becomes what is left. b is not 0. */
static void divide(legal *l, lx_pair q, lx_pair r, lx_pair b) {
  int mark = l->reg;
  lv s = lx_tmp(l, AC_I32), fb = lx_as(s, AC_F32);
  lx_fill(l, q.lo, lx_int(l, 0));
  lx_fill(l, q.hi, lx_int(l, 0));
  as_float(l, fb, b);
  estimates(l, q, r, b, fb);
  lx_pair t = lx_pair_tmp(l);
  copy(l, t, r);
  lx_sub64(l, t, b);
  lx_i(l, AC_I_SHR, s, t.hi, 31); /* all bits where r < b */
  lx_bits(l, AC_I_NOT, s, s, s);
  replace_where(l, r, t, s);
  lx_i(l, AC_I_MULS, s, s, -1);
  add_bit(l, q, s);
  l->reg = mark;
}

/* The signs, and towards minus infinity where that is asked: of quotients -(q + 1) where something is left, of remainders b - r. */
static void finish(legal *l, lx_quotient k, lx_pair q, lx_pair r, lx_pair b, lv sa, lv sb) {
  lv differ = lx_tmp(l, AC_I32), left = lx_tmp(l, AC_I32);
  int mark = l->reg;
  lx_xor(l, differ, sa, sb);
  l->reg = mark;
  if (k.floor) {
    nonzero(l, left, r);
    lx_bits(l, AC_I_AND, left, left, differ);
  }
  if (!k.remainder) {
    if (k.floor) add_bit(l, q, left);
    negate_where(l, q, differ);
    return;
  }
  if (k.floor) {
    lx_i(l, AC_I_MULS, left, left, -1);
    lx_sub64(l, b, r);
    replace_where(l, r, b, left);
  }
  negate_where(l, r, k.floor ? sb : sa);
}

bool lx_divide64(legal *l, const char *name, const lx_args *x) {
  lx_quotient k;
  if (!lx_quotient_of(name, &k)) return false;
  lx_pair r = k.reverse ? lx_filled64(l, x->s) : lx_split64(l, x->a);
  lx_pair q = lx_pair_tmp(l);
  int mark = l->reg;
  lx_pair b = k.reverse ? lx_split64(l, x->a) : k.scalar ? lx_filled64(l, x->s) : lx_split64(l, x->b);
  lv sa = lx_tmp(l, AC_I32), sb = lx_tmp(l, AC_I32), one = lx_tmp(l, AC_I32);
  magnitude(l, r, sa);
  magnitude(l, b, sb);
  nonzero(l, one, b); /* 0 becomes 1 */
  lx_i(l, AC_I_MULS, one, one, -1);
  lx_i(l, AC_I_ADDS, one, one, 1);
  lx_bits(l, AC_I_OR, b.lo, b.lo, one);
  divide(l, q, r, b);
  finish(l, k, q, r, b, sa, sb);
  l->reg = mark;
  lx_join64(l, x->d, k.remainder ? r : q);
  return true;
}

/* Recipes of pass "legalise" for int64: no vector unit computes it, so every element is two words of 32 bits.
 *
 * Gather takes the words apart, offsets 8 i and 8 i + 4; and puts them together again, out of two registers that follow each other, at
 * offsets that are made from an index: 4 (j / 2), plus the register's size for odd j. In between:
 *
 *   a + b   lo = al + bl; the carry is the highest bit of (al & bl) | ((al | bl) & ~lo); hi = ah + bh + carry
 *   a - b   ~(~a + b), an identity of two's complement
 *   a * b   the low 64 bits, from halves of the low words: every product of halves fits 32 bits, unsigned
 *   a < b   the sign of a - b, corrected where it overflows: highest bit of d ^ ((ah ^ bh) & (d ^ ah)), d the high word of a - b
 *   a == b  (al ^ bl) | (ah ^ bh) is 0 */
#include "lower/legal.h"

lx_pair lx_pair_tmp(legal *l) {
  lx_pair p;
  p.lo = lx_tmp(l, AC_I32);
  p.hi = lx_tmp(l, AC_I32);
  return p;
}

lx_pair lx_split64(legal *l, lv a) {
  lx_pair p = lx_pair_tmp(l);
  int mark = l->reg;
  lv i = lx_tmp(l, AC_I32);
  lx_iota(l, i, lx_int(l, 0), 1);
  lx_i(l, AC_I_MULS, i, i, 8);
  lx_gather(l, p.lo, lx_as(a, AC_I32), i, 0, 1);
  lx_gather(l, p.hi, lx_as(a, AC_I32), i, 4, 1);
  l->reg = mark;
  return p;
}

void lx_join64(legal *l, lv d, lx_pair p) {
  int mark = l->reg;
  int64_t apart = 4 * l->lanes; /* bytes from lo to hi */
  ac_aexpr *n = l->n;
  l->n = ac_ae_bin(l->c->a, AC_AE_MUL, n, lx_int(l, 2)); /* two words a lane */
  lv j = lx_tmp(l, AC_I64), h = lx_tmp(l, AC_I64);
  j = (lv){.t = j.t, .off = j.off, .own = AC_I64, .d = AC_I32};
  h = (lv){.t = h.t, .off = h.off, .own = AC_I64, .d = AC_I32};
  lx_iota(l, j, lx_int(l, 0), 1);
  lx_i(l, AC_I_SHR, h, j, 1);
  lx_i(l, AC_I_MULS, j, j, apart); /* apart j + (4 - 2 apart) (j / 2) */
  lx_i(l, AC_I_MULS, h, h, 4 - 2 * apart);
  lx_2(l, AC_I_ADD, j, j, h);
  lx_gather(l, lx_as(d, AC_I32), p.lo, j, 0, 1);
  l->n = n;
  l->reg = mark;
}

/* ---- 64 bits as pairs ---- */

void lx_each64(legal *l, ac_inst i, lx_pair d, lx_pair a, lx_pair b) {
  lx_bits(l, i, d.lo, a.lo, b.lo);
  lx_bits(l, i, d.hi, a.hi, b.hi);
}
static void xor32(legal *l, lv d, lv a, lv b) {
  int mark = l->reg;
  lx_xor(l, d, a, b);
  l->reg = mark;
}
static void top_bit(legal *l, lv v) {
  lx_i(l, AC_I_SHR, lx_as(v, AC_U32), lx_as(v, AC_U32), 31);
}
/* a += b */
void lx_add64(legal *l, lx_pair a, lx_pair b) {
  int mark = l->reg;
  lv s = lx_tmp(l, AC_I32), t = lx_tmp(l, AC_I32), u = lx_tmp(l, AC_I32);
  lx_2(l, AC_I_ADD, s, a.lo, b.lo);
  lx_bits(l, AC_I_OR, t, a.lo, b.lo);
  lx_bits(l, AC_I_NOT, u, s, s);
  lx_bits(l, AC_I_AND, t, t, u);
  lx_bits(l, AC_I_AND, u, a.lo, b.lo);
  lx_bits(l, AC_I_OR, t, t, u);
  top_bit(l, t);
  lx_2(l, AC_I_ADD, a.hi, a.hi, b.hi);
  lx_2(l, AC_I_ADD, a.hi, a.hi, t);
  lx_i(l, AC_I_ADDS, a.lo, s, 0);
  l->reg = mark;
}
static void not64(legal *l, lx_pair a) {
  lx_each64(l, AC_I_NOT, a, a, a);
}
/* a -= b */
void lx_sub64(legal *l, lx_pair a, lx_pair b) {
  not64(l, a);
  lx_add64(l, a, b);
  not64(l, a);
}

static void halves(legal *l, lv v, lv lo, lv hi) {
  lx_i(l, AC_I_SHL, lx_as(lo, AC_U32), lx_as(v, AC_U32), 16);
  lx_i(l, AC_I_SHR, lx_as(lo, AC_U32), lx_as(lo, AC_U32), 16);
  lx_i(l, AC_I_SHR, lx_as(hi, AC_U32), lx_as(v, AC_U32), 16);
}
/* a *= b; b is overwritten */
void lx_mul64(legal *l, lx_pair a, lx_pair b) {
  int mark = l->reg;
  lv a0 = lx_tmp(l, AC_I32), a1 = lx_tmp(l, AC_I32), b0 = lx_tmp(l, AC_I32), b1 = lx_tmp(l, AC_I32),
     t = lx_tmp(l, AC_I32);
  lx_2(l, AC_I_MUL, a.hi, a.hi, b.lo); /* the high words count modulo 2^32 */
  lx_2(l, AC_I_MUL, b.hi, b.hi, a.lo);
  lx_2(l, AC_I_ADD, a.hi, a.hi, b.hi);
  halves(l, a.lo, a0, a1);
  halves(l, b.lo, b0, b1);
  lx_2(l, AC_I_MUL, a.lo, a.lo, b.lo);
  lx_2(l, AC_I_MUL, t, a1, b1);
  lx_2(l, AC_I_ADD, a.hi, a.hi, t);
  lx_2(l, AC_I_MUL, t, a0, b0);
  lx_2(l, AC_I_MUL, a0, a0, b1); /* cross products */
  lx_2(l, AC_I_MUL, a1, a1, b0);
  lx_i(l, AC_I_SHR, lx_as(t, AC_U32), lx_as(t, AC_U32), 16);
  for (int k = 0; k < 2; k++) {
    lv cross = k ? a1 : a0;
    halves(l, cross, b0, b1);
    lx_2(l, AC_I_ADD, t, t, b0);
    lx_2(l, AC_I_ADD, a.hi, a.hi, b1);
  }
  lx_i(l, AC_I_SHR, lx_as(t, AC_U32), lx_as(t, AC_U32), 16);
  lx_2(l, AC_I_ADD, a.hi, a.hi, t);
  l->reg = mark;
}

/* t = 1 where a < b, else 0; a is overwritten. */
static void less(legal *l, lv t, lx_pair a, lx_pair b) {
  int mark = l->reg;
  lv u = lx_tmp(l, AC_I32), ah = lx_tmp(l, AC_I32);
  xor32(l, t, a.hi, b.hi);
  lx_i(l, AC_I_ADDS, ah, a.hi, 0);
  lx_sub64(l, a, b);
  xor32(l, u, a.hi, ah);
  lx_bits(l, AC_I_AND, t, t, u);
  xor32(l, t, t, a.hi);
  top_bit(l, t);
  l->reg = mark;
}

/* ---- scalars ---- */

lx_pair lx_filled64(legal *l, ac_aexpr *s) {
  ac_arena *a = l->c->a;
  lx_pair p = lx_pair_tmp(l);
  int64_t v;
  if (s->type == AC_AT_FLOAT) s = ac_ae(a, AC_AE_TO_INT, AC_AT_INT, s, NULL);
  if (ac_ae_const(s, &v)) {
    lx_fill(l, p.lo, lx_int(l, (int32_t)(uint32_t)v));
    lx_fill(l, p.hi, lx_int(l, (int32_t)(uint32_t)((uint64_t)v >> 32)));
    return p;
  }
  ac_aexpr *two32 = lx_int(l, (int64_t)1 << 32);
  lx_fill(l, p.lo, ac_ae_bin(a, AC_AE_MOD, s, two32));
  lx_fill(l, p.hi, ac_ae_bin(a, AC_AE_FLOORDIV, s, two32));
  return p;
}

/* Left (or right, arithmetic) by a number of bits from 0 to 63. */
static void shift(legal *l, lx_pair p, ac_aexpr *s, bool right) {
  ac_arena *a = l->c->a;
  ac_aexpr *n32 = lx_int(l, 32), *small = ac_ae_bin(a, AC_AE_LT, s, n32);
  ac_aexpr *near = ac_ae_bin(a, AC_AE_MIN, s, n32), *over = ac_ae_bin(a, AC_AE_SUB, s, n32);
  ac_aexpr *back = ac_ae_bin(a, AC_AE_MAX, ac_ae_bin(a, AC_AE_SUB, n32, s), lx_int(l, 0));
  ac_aexpr *far = ac_ae(a, AC_AE_COND, AC_AT_INT, n32, over), *rest = ac_ae(a, AC_AE_COND, AC_AT_INT, back, n32);
  far->c = rest->c = small;
  int mark = l->reg;
  lv t = lx_tmp(l, AC_U32), u = lx_tmp(l, AC_U32);
  lv from = lx_as(right ? p.hi : p.lo, AC_U32), to = lx_as(right ? p.lo : p.hi, AC_U32);
  ac_inst ahead = right ? AC_I_SHR : AC_I_SHL, behind = right ? AC_I_SHL : AC_I_SHR;
  lx_s(l, ahead, t, to, near);    /* the word's own bits */
  lx_s(l, behind, u, from, rest); /* bits that cross, below 32 */
  lx_bits(l, AC_I_OR, t, t, u);
  if (right) { /* bits that cross, from 32 on: with the sign */
    lv s32 = lx_as(u, AC_I32);
    ac_aexpr *all = ac_ae(a, AC_AE_COND, AC_AT_INT, lx_int(l, 0), over);
    all->c = small;
    lx_s(l, AC_I_SHR, s32, lx_as(from, AC_I32), all);
    ac_aexpr *on = ac_ae(a, AC_AE_COND, AC_AT_INT, lx_int(l, 0), lx_int(l, 1));
    on->c = small;
    lx_s(l, AC_I_MULS, s32, s32, on); /* nothing below 32 */
    lx_bits(l, AC_I_OR, to, t, u);
    ac_aexpr *most = ac_ae_bin(a, AC_AE_MIN, s, lx_int(l, 31));
    lx_s(l, AC_I_SHR, lx_as(from, AC_I32), lx_as(from, AC_I32), most);
  } else {
    lx_s(l, AC_I_SHL, u, from, far);
    lx_bits(l, AC_I_OR, to, t, u);
    lx_s(l, AC_I_SHL, from, from, near);
  }
  l->reg = mark;
}

/* ---- primitives ---- */

static bool compare(legal *l, const char *name, const lx_args *x) {
  bool scalar = lx_is(name, "vcompare_scalar");
  if (!scalar && !lx_is(name, "vcompare")) return false;
  lx_pair a = lx_split64(l, x->a), b = scalar ? lx_filled64(l, x->s) : lx_split64(l, x->b);
  lv t = lx_tmp(l, AC_I32);
  bool swap = x->cmp == AC_CMP_GT || x->cmp == AC_CMP_LE;
  if (x->cmp == AC_CMP_EQ || x->cmp == AC_CMP_NE) {
    xor32(l, t, a.lo, b.lo);
    xor32(l, a.hi, a.hi, b.hi);
    lx_bits(l, AC_I_OR, t, t, a.hi);
    lx_compare_s(l, x->m, t, lx_int(l, 0), AC_CMP_EQ);
    if (x->cmp == AC_CMP_NE) lx_mask_bits(l, AC_I_NOT, x->m, x->m, x->m);
    return true;
  }
  if (swap)
    less(l, t, b, a);
  else
    less(l, t, a, b);
  bool strict = x->cmp == AC_CMP_LT || x->cmp == AC_CMP_GT;
  lx_compare_s(l, x->m, t, lx_int(l, strict ? 1 : 0), AC_CMP_EQ);
  return true;
}

static void choose(legal *l, lx_pair d, lv m, lx_pair a, lx_pair b) {
  lx_select(l, lx_as(d.lo, AC_F32), m, lx_as(a.lo, AC_F32), lx_as(b.lo, AC_F32));
  lx_select(l, lx_as(d.hi, AC_F32), m, lx_as(a.hi, AC_F32), lx_as(b.hi, AC_F32));
}
/* a = the larger (the smaller) of a and b */
static void extreme(legal *l, lx_pair a, lx_pair b, bool larger) {
  int mark = l->reg;
  lv t = lx_tmp(l, AC_I32), m = lx_tmp_mask(l);
  lx_pair c = lx_pair_tmp(l);
  lx_i(l, AC_I_ADDS, c.lo, a.lo, 0);
  lx_i(l, AC_I_ADDS, c.hi, a.hi, 0);
  less(l, t, c, b);
  lx_compare_s(l, m, t, lx_int(l, larger ? 0 : 1), AC_CMP_EQ);
  choose(l, a, m, a, b);
  l->reg = mark;
}

static void indices(legal *l, const lx_args *x, lx_pair *p) {
  *p = lx_pair_tmp(l);
  lx_iota(l, p->lo, l->first ? l->first : lx_int(l, 0), 1);
  lx_fill(l, p->hi, lx_int(l, 0));
  lx_mul64(l, *p, lx_filled64(l, x->s2));
  lx_add64(l, *p, lx_filled64(l, x->s));
}

/* The primitive on pairs; p is the first source and becomes the result. */
static bool on_pairs(legal *l, const char *name, const lx_args *x, lx_pair p) {
  lx_pair b;
  if (lx_is(name, "vneg") || lx_is(name, "vabs")) {
    b = lx_filled64(l, lx_int(l, -1)); /* -a is ~(-1 + a) */
    lx_add64(l, b, p);
    not64(l, b);
    if (lx_is(name, "vneg")) {
      lx_each64(l, AC_I_OR, p, b, b);
      return true;
    }
    extreme(l, p, b, true);
    return true;
  }
  if (lx_is(name, "vadd_scalar") || lx_is(name, "vsub_scalar") || lx_is(name, "vmul_scalar") ||
      lx_is(name, "vmax_scalar") || lx_is(name, "vmin_scalar")) {
    b = lx_filled64(l, x->s);
  } else if (lx_is(name, "vrelu")) {
    extreme(l, p, lx_filled64(l, lx_int(l, 0)), true);
    return true;
  } else if (lx_is(name, "vclamp")) {
    int mark = l->reg;
    extreme(l, p, lx_filled64(l, x->s), true);
    l->reg = mark;
    extreme(l, p, lx_filled64(l, x->s2), false);
    return true;
  } else if (lx_is(name, "vrsub_scalar")) {
    b = lx_filled64(l, x->s);
    lx_sub64(l, b, p);
    lx_each64(l, AC_I_OR, p, b, b);
    return true;
  } else if (lx_is(name, "vsquare")) {
    b = lx_pair_tmp(l);
    lx_each64(l, AC_I_OR, b, p, p);
  } else if (lx_is(name, "vshl_scalar") || lx_is(name, "vshr_scalar")) {
    shift(l, p, x->s, lx_is(name, "vshr_scalar"));
    return true;
  } else if (lx_is(name, "vaxpy") || lx_is(name, "vmul_add")) {
    int mark = l->reg;
    lx_mul64(l, p, lx_is(name, "vaxpy") ? lx_filled64(l, x->s) : lx_split64(l, x->b));
    l->reg = mark;
    lx_add64(l, p, lx_split64(l, x->d));
    return true;
  } else {
    b = lx_split64(l, x->b);
  }
  if (lx_is(name, "vadd") || lx_is(name, "vadd_scalar"))
    lx_add64(l, p, b);
  else if (lx_is(name, "vsub") || lx_is(name, "vsub_scalar"))
    lx_sub64(l, p, b);
  else if (lx_is(name, "vmul") || lx_is(name, "vmul_scalar") || lx_is(name, "vsquare"))
    lx_mul64(l, p, b);
  else if (lx_is(name, "vmax") || lx_is(name, "vmax_scalar"))
    extreme(l, p, b, true);
  else if (lx_is(name, "vmin") || lx_is(name, "vmin_scalar"))
    extreme(l, p, b, false);
  else
    return false;
  return true;
}

static const char *const paired[] = {"vadd",         "vsub",        "vmul",        "vmax",        "vmin",
                                     "vadd_scalar",  "vsub_scalar", "vmul_scalar", "vmax_scalar", "vmin_scalar",
                                     "vneg",         "vabs",        "vrelu",       "vclamp",      "vsquare",
                                     "vrsub_scalar", "vshl_scalar", "vshr_scalar", "vmul_add",    "vaxpy"};

bool lx_int64_recipe(legal *l, const char *name, const lx_args *x) {
  if (compare(l, name, x)) return true;
  if (lx_is(name, "vfloor") || lx_is(name, "vceil") || lx_is(name, "vround") || lx_is(name, "vrint") ||
      lx_is(name, "vtrunc") || lx_is(name, "vcopy"))
    return lx_bits(l, AC_I_OR, x->d, x->a, x->a), true;
  if (lx_is(name, "vsign")) { /* through float32, which keeps the sign */
    lv f = lx_tmp(l, AC_F32);
    lx_cast(l, f, x->a, AC_RN_RINT);
    lx_f(l, AC_I_MINS, f, f, 1);
    lx_f(l, AC_I_MAXS, f, f, -1);
    lx_cast(l, x->d, f, AC_RN_RINT);
    return true;
  }
  if (lx_is(name, "duplicate")) {
    lx_join64(l, x->d, lx_filled64(l, x->s));
    return true;
  }
  if (lx_is(name, "iota")) {
    lx_pair p;
    indices(l, x, &p);
    lx_join64(l, x->d, p);
    return true;
  }
  if (lx_is(name, "vselect") || lx_is(name, "vselect_scalar")) {
    lx_pair a = lx_split64(l, x->a), b = lx_is(name, "vselect") ? lx_split64(l, x->b) : lx_filled64(l, x->s);
    choose(l, a, x->m, a, b);
    lx_join64(l, x->d, a);
    return true;
  }
  if (lx_divide64(l, name, x)) return true;
  for (size_t i = 0; i < AC_COUNT(paired); i++)
    if (lx_is(name, paired[i])) {
      lx_pair p = lx_split64(l, x->a);
      int mark = l->reg;
      if (!on_pairs(l, name, x, p)) return false;
      l->reg = mark;
      lx_join64(l, x->d, p);
      return true;
    }
  return false;
}

/* Recipes of pass "legalise" for integers of 8, 16 and 32 bits, and byte bool.
 *
 *   uint16, uint32   add, subtract, multiply, shift and copy as the signed type of the size, whose bits are the same; order (maximum,
 *                    compare, ...) with the highest bit flipped, x - 2^15 or x - 2^31, which keeps it
 *   int8, uint8      widened through half, exactly, to int16; the result's low 8 bits go back through half to uint8
 *   bool             0 and 1 as uint8
 *   int32            comparisons other than equal through Max: a >= b is max(a, b) == a, and `less` its complement */
#include "lower/legal.h"

static ac_dtype signed_of(ac_dtype d) {
  return d == AC_U16 ? AC_I16 : d == AC_U32 ? AC_I32 : d;
}

/* ---- compares of 32 bits ---- */

static void not_equal(legal *l, lv m) {
  lx_mask_bits(l, AC_I_NOT, m, m, m);
}
static void compare32(legal *l, lv m, lv a, lv b, ac_cmp c) {
  if (c == AC_CMP_EQ || c == AC_CMP_NE) {
    lx_compare(l, m, a, b, AC_CMP_EQ);
  } else { /* greater or equal, and less: of a and b; the others: of b and a */
    bool swap = c == AC_CMP_LE || c == AC_CMP_GT;
    lv x = swap ? b : a, t = lx_tmp(l, AC_I32);
    lx_2(l, AC_I_MAX, t, a, b);
    lx_compare(l, m, t, x, AC_CMP_EQ);
  }
  if (c == AC_CMP_NE || c == AC_CMP_LT || c == AC_CMP_GT) not_equal(l, m);
}

static bool compare(legal *l, const char *name, const lx_args *x) {
  bool scalar = lx_is(name, "vcompare_scalar");
  if (!scalar && !lx_is(name, "vcompare")) return false;
  ac_dtype d = x->a.d;
  lv a = x->a, b = x->b;
  if (ac_dtypes[d].bytes == 4) {
    if (scalar) {
      b = lx_tmp(l, d);
      lx_fill(l, b, x->s);
    }
    bool ordered = x->cmp != AC_CMP_EQ && x->cmp != AC_CMP_NE;
    a = lx_as(a, AC_I32), b = lx_as(b, AC_I32);
    if (d == AC_U32 && ordered) {
      lv s = lx_tmp(l, AC_I32), t = lx_tmp(l, AC_I32);
      lx_i(l, AC_I_ADDS, s, a, INT32_MIN);
      lx_i(l, AC_I_ADDS, t, b, INT32_MIN);
      a = s, b = t;
    }
    compare32(l, x->m, a, b, x->cmp);
    return true;
  }
  /* narrower ones are exact as floats */
  ac_dtype f = ac_dtypes[d].bytes == 1 ? AC_F16 : AC_F32;
  lv fa = lx_tmp(l, f);
  lx_convert(l, fa, a, AC_RN_NONE);
  if (scalar) {
    lx_compare_s(l, x->m, fa, lx_wrap(l, x->s, d), x->cmp);
    return true;
  }
  lv fb = lx_tmp(l, f);
  lx_convert(l, fb, b, AC_RN_NONE);
  lx_compare(l, x->m, fa, fb, x->cmp);
  return true;
}

/* ---- selections: bits move ---- */

bool lx_choice(legal *l, const char *name, const lx_args *x) {
  bool scalar = lx_is(name, "vselect_scalar");
  if (!scalar && !lx_is(name, "vselect")) return false;
  ac_dtype f = ac_dtypes[x->d.d].bytes == 2 ? AC_F16 : AC_F32;
  lv b = x->b;
  if (scalar) {
    b = lx_tmp(l, x->d.d);
    lx_fill(l, b, x->s);
  }
  lx_select(l, lx_as(x->d, f), x->m, lx_as(x->a, f), lx_as(b, f));
  return true;
}
static bool choice_of_bytes(legal *l, const char *name, const lx_args *x) {
  bool scalar = lx_is(name, "vselect_scalar");
  if (!scalar && !lx_is(name, "vselect")) return false;
  lv a = lx_tmp(l, AC_F16), b = lx_tmp(l, AC_F16);
  lx_cast(l, a, lx_as(x->a, AC_U8), AC_RN_NONE);
  if (scalar)
    lx_fill(l, b, lx_wrap(l, x->s, AC_U8));
  else
    lx_cast(l, b, lx_as(x->b, AC_U8), AC_RN_NONE);
  lx_select(l, a, x->m, a, b);
  lx_cast(l, lx_as(x->d, AC_U8), a, AC_RN_RINT);
  return true;
}

/* ---- bits ---- */

static bool bits(legal *l, const char *name, const lx_args *x) {
  if (lx_is(name, "vand"))
    lx_bits(l, AC_I_AND, x->d, x->a, x->b);
  else if (lx_is(name, "vor"))
    lx_bits(l, AC_I_OR, x->d, x->a, x->b);
  else if (lx_is(name, "vnot"))
    lx_bits(l, AC_I_NOT, x->d, x->a, x->a);
  else if (lx_is(name, "vxor"))
    lx_xor(l, x->d, x->a, x->b);
  else
    return false;
  return true;
}

/* ---- order: maximum, minimum, clamp ---- */

typedef struct {
  ac_inst i;
  bool scalar, clamp;
} order;
static bool order_of(const char *name, order *o) {
  static const struct {
    const char *name;
    order o;
  } rows[] = {{"vmax", {AC_I_MAX, false, false}},
              {"vmin", {AC_I_MIN, false, false}},
              {"vmax_scalar", {AC_I_MAXS, true, false}},
              {"vmin_scalar", {AC_I_MINS, true, false}},
              {"vclamp", {AC_I_MAXS, true, true}}};
  for (size_t i = 0; i < AC_COUNT(rows); i++)
    if (lx_is(name, rows[i].name)) return *o = rows[i].o, true;
  return false;
}
static bool ordered(legal *l, const char *name, const lx_args *x) {
  order o;
  if (!order_of(name, &o)) return false;
  ac_dtype d = x->d.d, s = signed_of(d);
  int64_t flip = d == AC_U16 ? INT16_MIN : d == AC_U32 ? INT32_MIN : 0;
  lv to = lx_as(x->d, s), a = lx_as(x->a, s), b = lx_as(x->b, s);
  ac_aexpr *lo = x->s, *hi = x->s2;
  if (flip) {
    lv t = lx_tmp(l, s);
    lx_i(l, AC_I_ADDS, t, a, flip);
    a = t;
    if (!o.scalar) {
      lv u = lx_tmp(l, s);
      lx_i(l, AC_I_ADDS, u, b, flip);
      b = u;
    }
    if (lo) lo = ac_ae_bin(l->c->a, AC_AE_ADD, lo, lx_int(l, flip));
    if (hi) hi = ac_ae_bin(l->c->a, AC_AE_ADD, hi, lx_int(l, flip));
  }
  if (o.scalar)
    lx_s(l, o.i, to, a, lo);
  else
    lx_2(l, o.i, to, a, b);
  if (o.clamp) lx_s(l, AC_I_MINS, to, to, hi);
  if (flip) lx_i(l, AC_I_ADDS, to, to, flip);
  return true;
}

/* ---- arithmetic of 16 and 32 bits ---- */

static bool arithmetic(legal *l, const char *name, const lx_args *x) {
  ac_dtype d = x->d.d, s = signed_of(d);
  bool is_signed = d == s;
  lv to = lx_as(x->d, s), a = lx_as(x->a, s), b = lx_as(x->b, s);
  ac_inst i = lx_direct(name, s);
  bool scaled = lx_is(name, "vadd_scalar") || lx_is(name, "vmul_scalar");
  if (lx_is(name, "vadd") || lx_is(name, "vsub") || lx_is(name, "vmul")) {
    lx_2(l, i, to, a, b);
  } else if (scaled) {
    lx_s(l, i, to, a, x->s);
  } else if (lx_is(name, "vsub_scalar")) {
    lx_s(l, AC_I_ADDS, to, a, lx_minus(l, x->s));
  } else if (lx_is(name, "vrsub_scalar")) {
    lx_i(l, AC_I_MULS, to, a, -1);
    lx_s(l, AC_I_ADDS, to, to, x->s);
  } else if (lx_is(name, "vneg")) {
    lx_i(l, AC_I_MULS, to, a, -1);
  } else if (lx_is(name, "vsquare")) {
    lx_2(l, AC_I_MUL, to, a, a);
  } else if (lx_is(name, "vaxpy")) {
    lv t = lx_tmp(l, s);
    lx_s(l, AC_I_MULS, t, a, x->s);
    lx_2(l, AC_I_ADD, to, to, t);
  } else if (lx_is(name, "vmul_add")) {
    lv t = lx_tmp(l, s);
    lx_2(l, AC_I_MUL, t, a, b);
    lx_2(l, AC_I_ADD, to, to, t);
  } else if (lx_is(name, "vabs") && is_signed) {
    lv t = lx_tmp(l, s);
    lx_i(l, AC_I_MULS, t, a, -1);
    lx_2(l, AC_I_MAX, to, a, t);
  } else if (lx_is(name, "vrelu") && is_signed) {
    lx_i(l, AC_I_MAXS, to, a, 0);
  } else if (lx_is(name, "vsign") && is_signed) {
    lx_i(l, AC_I_MINS, to, a, 1);
    lx_i(l, AC_I_MAXS, to, to, -1);
  } else if (lx_is(name, "vsign")) {
    lx_args y = *x;
    y.s = lx_int(l, 1);
    return ordered(l, "vmin_scalar", &y);
  } else if (lx_is(name, "vshl_scalar")) { /* as unsigned */
    ac_dtype u = ac_dtypes[d].bytes == 2 ? AC_U16 : AC_U32;
    lx_s(l, AC_I_SHL, lx_as(x->d, u), lx_as(x->a, u), x->s);
  } else if (lx_is(name, "vshr_scalar")) {
    lx_s(l, AC_I_SHR, x->d, x->a, x->s);
  } else if (lx_is(name, "vabs") || lx_is(name, "vrelu") || lx_is(name, "vcopy") || lx_is(name, "vfloor") ||
             lx_is(name, "vceil") || lx_is(name, "vround") || lx_is(name, "vrint") ||
             lx_is(name, "vtrunc")) { /* nothing to do but to move */
    lx_i(l, AC_I_ADDS, to, a, 0);
  } else {
    return false;
  }
  return true;
}

static bool iota(legal *l, const char *name, const lx_args *x) {
  if (!lx_is(name, "iota")) return false;
  ac_dtype s = signed_of(x->d.d);
  lv to = lx_as(x->d, s);
  lx_iota(l, to, l->first ? l->first : lx_int(l, 0), 1);
  lx_s(l, AC_I_MULS, to, to, x->s2);
  lx_s(l, AC_I_ADDS, to, to, x->s);
  return true;
}

/* ---- bytes ---- */

static void bytes_in(legal *l, lv d, lv a) {
  int mark = l->reg;
  lv h = lx_tmp(l, AC_F16);
  lx_cast(l, h, a, AC_RN_NONE);
  lx_cast(l, d, h, AC_RN_RINT);
  l->reg = mark;
}
/* The low 8 bits of an int16; a is overwritten. */
static void bytes_out(legal *l, lv d, lv a) {
  lv m = lx_tmp(l, AC_I16);
  lx_fill(l, m, lx_int(l, 255));
  lx_bits(l, AC_I_AND, a, a, m);
  lx_cast(l, lx_as(m, AC_F16), a, AC_RN_RINT);
  lx_cast(l, lx_as(d, AC_U8), lx_as(m, AC_F16), AC_RN_RINT);
}

static bool bytes(legal *l, const char *name, const lx_args *x) {
  ac_dtype d = x->d.d;
  if (lx_is(name, "duplicate")) {
    lv h = lx_tmp(l, AC_F16);
    lx_fill(l, h, lx_wrap(l, x->s, AC_U8));
    lx_cast(l, lx_as(x->d, AC_U8), h, AC_RN_RINT);
    return true;
  }
  if (lx_is(name, "vcopy")) {
    lv h = lx_tmp(l, AC_F16);
    lx_cast(l, h, lx_as(x->a, AC_U8), AC_RN_NONE);
    lx_cast(l, lx_as(x->d, AC_U8), h, AC_RN_RINT);
    return true;
  }
  lx_args y = *x;
  y.d = lx_tmp(l, AC_I16);
  if (x->a.t) {
    y.a = lx_tmp(l, AC_I16);
    bytes_in(l, y.a, x->a);
  }
  if (x->b.t) {
    y.b = lx_tmp(l, AC_I16);
    bytes_in(l, y.b, x->b);
  }
  if (lx_reads_destination(name)) bytes_in(l, y.d, x->d);
  bool shift = lx_is(name, "vshl_scalar") || lx_is(name, "vshr_scalar");
  if (x->s && !shift) y.s = lx_wrap(l, x->s, d);
  if (x->s2) y.s2 = lx_wrap(l, x->s2, d);
  if (!lx_int_recipe(l, name, &y)) return false;
  bytes_out(l, x->d, y.d);
  return true;
}

static bool bools(legal *l, const char *name, const lx_args *x) {
  if (lx_is(name, "vnot")) {
    lx_args y = *x;
    y.s = lx_int(l, 1);
    return bytes(l, "vrsub_scalar", &y);
  }
  bool fits = lx_is(name, "vand") || lx_is(name, "vor") || lx_is(name, "vxor") || lx_is(name, "duplicate") ||
              lx_is(name, "vcopy");
  return fits && bytes(l, name, x);
}

bool lx_int_recipe(legal *l, const char *name, const lx_args *x) {
  ac_dtype d = lx_compares(name) ? x->a.d : x->d.d;
  if (d == AC_I64) return bits(l, name, x) || lx_int64_recipe(l, name, x);
  if (compare(l, name, x)) return true;
  if ((ac_dtypes[d].bytes == 1 ? choice_of_bytes : lx_choice)(l, name, x)) return true;
  if (x->d.boolean) return bools(l, name, x);
  if (ac_dtypes[d].bytes == 1) return bytes(l, name, x);
  if (lx_is(name, "duplicate")) return lx_fill(l, x->d, x->s), true;
  return bits(l, name, x) || ordered(l, name, x) || iota(l, name, x) || lx_divide(l, name, x) ||
         arithmetic(l, name, x);
}

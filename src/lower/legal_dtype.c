/* Element-wise primitives in every dtype: the chip's instruction, a recipe of the dtype, or float32 in between. */
#include "lower/legal.h"

/* One instruction, for a dtype that it has. */
static bool instruction(legal *l, const char *name, const lx_args *x, ac_dtype d) {
  ac_inst i = lx_direct(name, d);
  if (i == AC_INST_COUNT) return false;
  switch (ac_insts[i].form) {
  case AC_FORM_UNARY: lx_1(l, i, x->d, x->a); return true;
  case AC_FORM_BINARY:
  case AC_FORM_FMA: lx_2(l, i, x->d, x->a, x->b); return true;
  case AC_FORM_SCALAR:
  case AC_FORM_FMA_SCALAR: lx_s(l, i, x->d, x->a, x->s); return true;
  case AC_FORM_FILL: lx_fill(l, x->d, x->s); return true;
  case AC_FORM_COMPARE: lx_compare(l, x->m, x->a, x->b, x->cmp); return true;
  case AC_FORM_COMPARE_S: lx_compare_s(l, x->m, x->a, x->s, x->cmp); return true;
  case AC_FORM_SELECT: lx_select(l, x->d, x->m, x->a, x->b); return true;
  case AC_FORM_SELECT_S: lx_select_s(l, x->d, x->m, x->a, x->s); return true;
  default: return false;
  }
}

/* What moves bits and nothing else needs no arithmetic. */
static bool moves(legal *l, const char *name, const lx_args *x) {
  if (lx_is(name, "vcopy")) { /* integer 0 added moves all bits */
    ac_dtype v = ac_dtypes[x->d.d].bytes == 2 ? AC_I16 : AC_I32;
    lx_i(l, AC_I_ADDS, lx_as(x->d, v), lx_as(x->a, v), 0);
    return true;
  }
  return lx_choice(l, name, x);
}

/* In half and bf16: float32 in between. */
static bool widened(legal *l, const char *name, const lx_args *x) {
  lx_args y = *x;
  y.a = lx_tmp(l, AC_F32);
  if (x->a.t) lx_cast(l, y.a, x->a, AC_RN_NONE);
  if (x->b.t) {
    y.b = lx_tmp(l, AC_F32);
    lx_cast(l, y.b, x->b, AC_RN_NONE);
  }
  if (lx_compares(name)) return lx_element(l, name, &y);
  y.d = y.a;
  if (lx_reads_destination(name)) {
    y.d = lx_tmp(l, AC_F32);
    lx_cast(l, y.d, x->d, AC_RN_NONE);
  }
  if (!lx_element(l, name, &y)) return false;
  lx_cast(l, x->d, y.d, AC_RN_RINT);
  return true;
}

/* mask_to_bytes, mask_from_bytes */
static bool mask_bytes(legal *l, const char *name, const lx_args *x) {
  if (lx_is(name, "mask_to_bytes")) {
    lv h = lx_tmp(l, AC_F16);
    lx_fill(l, h, lx_float(l, 1));
    lx_select_s(l, h, x->m, h, lx_float(l, 0));
    lx_cast(l, lx_as(x->d, AC_U8), h, AC_RN_RINT);
    return true;
  }
  if (!lx_is(name, "mask_from_bytes")) return false;
  lv h = lx_tmp(l, AC_F16);
  lx_cast(l, h, x->a, AC_RN_NONE);
  lx_compare_s(l, x->m, h, lx_float(l, 0), AC_CMP_NE);
  return true;
}

/* mask_and, mask_or, mask_xor, mask_not: bits as 16-bit numbers */
static bool mask_logic(legal *l, const char *name, const lx_args *x) {
  if (lx_is(name, "mask_and"))
    lx_mask_bits(l, AC_I_AND, x->d, x->a, x->b);
  else if (lx_is(name, "mask_or"))
    lx_mask_bits(l, AC_I_OR, x->d, x->a, x->b);
  else if (lx_is(name, "mask_not"))
    lx_mask_bits(l, AC_I_NOT, x->d, x->a, x->a);
  else if (lx_is(name, "mask_xor")) { /* (a or b) and not (a and b) */
    lv t = lx_tmp_mask(l);
    lx_mask_bits(l, AC_I_AND, t, x->a, x->b);
    lx_mask_bits(l, AC_I_NOT, t, t, t);
    lx_mask_bits(l, AC_I_OR, x->d, x->a, x->b);
    lx_mask_bits(l, AC_I_AND, x->d, x->d, t);
  } else
    return false;
  return true;
}

bool lx_element(legal *l, const char *name, const lx_args *x) {
  if (mask_logic(l, name, x) || mask_bytes(l, name, x)) return true;
  ac_dtype d = lx_compares(name) ? x->a.d : x->d.d;
  if (lx_is(name, "cast")) return lx_convert(l, x->d, x->a, x->round);
  bool fl = ac_dtypes[d].cls == AC_FLOATING;
  if (fl && lx_compares(name) && x->cmp == AC_CMP_NE) { /* the chip's own says false of a NaN */
    lx_args y = *x;
    y.cmp = AC_CMP_EQ;
    if (!lx_element(l, name, &y)) return false;
    lx_mask_bits(l, AC_I_NOT, x->m, x->m, x->m);
    return true;
  }
  bool order32 = d == AC_I32 && lx_compares(name) && x->cmp != AC_CMP_EQ;
  if (!x->d.boolean && !order32 && instruction(l, name, x, d)) return true;
  if (!fl) return lx_int_recipe(l, name, x);
  if ((d != AC_F32 || lx_is(name, "vcopy")) && moves(l, name, x)) return true;
  if (d == AC_F32) {
    lx_make make = lx_float_recipe(name);
    if (!make) return false;
    make(l, x);
    return true;
  }
  return widened(l, name, x);
}

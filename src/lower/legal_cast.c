/* Casts of pass "legalise": every pair of dtypes, directly or by way of float32, half and int32.
 *
 *   to a floating dtype   from bytes and 16-bit integers exactly to float32 (by half, or int16 to float32) and from there; from uint32 as
 *                         2^16 (x >> 16) + (x & 65535), one rounding; bf16 and half by way of float32. int32, uint32 and int64 to half or bf16
 *                         round to float32 first and then again
 *   to an integer         the value is rounded by the mode and saturates; NaN gives 0. float32 to bytes by int16, clamped there, and half; to
 *                         uint16 by int32; to uint32 in three parts that fit int32
 *   integer to integer    saturates: by int32, clamped to the narrower range
 *   to bool               1 where the value is not 0, NaN included */
#include "lower/legal.h"

static bool direct(lv d, lv a, ac_round r) {
  unsigned set = ac_cast_rounds(d.d, a.d);
  return set & (1u << r);
}
static bool emit_direct(legal *l, lv d, lv a, ac_round r) {
  unsigned set = ac_cast_rounds(d.d, a.d);
  if (!set) return false;
  if (!(set & (1u << r))) r = set & (1u << AC_RN_NONE) ? AC_RN_NONE : AC_RN_RINT;
  lx_cast(l, d, a, r);
  return true;
}
static bool floating(ac_dtype d) {
  return ac_dtypes[d].cls == AC_FLOATING;
}

/* ---- to int32, saturating ---- */

static void to_i32(legal *l, lv d, lv a) {
  int mark = l->reg;
  switch (a.d) {
  case AC_I8:
  case AC_U8: {
    lv h = lx_tmp(l, AC_F16);
    lx_cast(l, h, a, AC_RN_NONE);
    lx_cast(l, d, h, AC_RN_RINT);
    break;
  }
  case AC_I16:
  case AC_U16: {
    lv f = lx_tmp(l, AC_F32), t = lx_as(a, AC_I16);
    if (a.d == AC_U16) { /* x - 2^15 as int16 */
      t = lx_tmp(l, AC_I16);
      lx_i(l, AC_I_ADDS, t, lx_as(a, AC_I16), INT16_MIN);
    }
    lx_cast(l, f, t, AC_RN_NONE);
    lx_cast(l, d, f, AC_RN_RINT);
    if (a.d == AC_U16) lx_i(l, AC_I_ADDS, d, d, 32768);
    break;
  }
  case AC_U32: /* the lesser of x and 2^31 - 1, in the order of unsigned numbers */
    lx_i(l, AC_I_ADDS, d, lx_as(a, AC_I32), INT32_MIN);
    lx_i(l, AC_I_MINS, d, d, -1);
    lx_i(l, AC_I_ADDS, d, d, INT32_MIN);
    break;
  case AC_I64: lx_cast(l, d, a, AC_RN_NONE); break;
  default: lx_i(l, AC_I_ADDS, d, a, 0); break;
  }
  l->reg = mark;
}

/* ---- from int32, saturating; a is overwritten ---- */

static void from_i32(legal *l, lv d, lv a) {
  int mark = l->reg;
  switch (d.d) {
  case AC_I8:
  case AC_U8: {
    lx_i(l, AC_I_MINS, a, a, d.d == AC_I8 ? INT8_MAX : UINT8_MAX);
    lx_i(l, AC_I_MAXS, a, a, d.d == AC_I8 ? INT8_MIN : 0);
    lv t = lx_tmp(l, AC_I16), h = lx_tmp(l, AC_F16);
    lx_cast(l, t, a, AC_RN_NONE);
    lx_cast(l, h, t, AC_RN_RINT);
    lx_cast(l, d, h, AC_RN_RINT);
    break;
  }
  case AC_U16:
    lx_i(l, AC_I_MINS, a, a, UINT16_MAX);
    lx_i(l, AC_I_MAXS, a, a, 0);
    lx_i(l, AC_I_ADDS, a, a, INT16_MIN); /* as int16, and back */
    lx_cast(l, lx_as(d, AC_I16), a, AC_RN_NONE);
    lx_i(l, AC_I_ADDS, lx_as(d, AC_I16), lx_as(d, AC_I16), INT16_MIN);
    break;
  case AC_U32: lx_i(l, AC_I_MAXS, lx_as(d, AC_I32), a, 0); break;
  default: lx_cast(l, d, a, AC_RN_NONE); break;
  }
  l->reg = mark;
}

/* int64 holds uint32: the words are x and 0, or clamped. */
static void wide(legal *l, lv d, lv a) {
  int mark = l->reg;
  if (d.d == AC_I64) {
    lx_pair p = lx_pair_tmp(l);
    lx_i(l, AC_I_ADDS, p.lo, lx_as(a, AC_I32), 0);
    lx_fill(l, p.hi, lx_int(l, 0));
    lx_join64(l, d, p);
    l->reg = mark;
    return;
  }
  lx_pair p = lx_split64(l, a);
  lv m = lx_tmp_mask(l), t = lx_tmp(l, AC_I32), f = lx_as(t, AC_F32), lo = lx_as(p.lo, AC_F32);
  lx_fill(l, t, lx_int(l, -1)); /* hi is not 0: 2^32 - 1 ... */
  lx_compare_s(l, m, p.hi, lx_int(l, 0), AC_CMP_EQ);
  lx_select(l, lo, m, lo, f);
  lx_i(l, AC_I_SHR, p.hi, p.hi, 31); /* ... but 0 below 0 */
  lx_fill(l, t, lx_int(l, 0));
  lx_compare_s(l, m, p.hi, lx_int(l, 0), AC_CMP_EQ);
  lx_select(l, lx_as(d, AC_F32), m, lo, f);
  l->reg = mark;
}

/* ---- to and from float32 ---- */

static void u32_to_f32(legal *l, lv d, lv a) {
  int mark = l->reg;
  lv hi = lx_tmp(l, AC_I32), lo = lx_tmp(l, AC_I32), u = lx_as(a, AC_U32);
  lx_i(l, AC_I_SHR, lx_as(hi, AC_U32), u, 16);
  lx_i(l, AC_I_SHL, lx_as(lo, AC_U32), u, 16);
  lx_i(l, AC_I_SHR, lx_as(lo, AC_U32), lx_as(lo, AC_U32), 16);
  lx_cast(l, lx_as(hi, AC_F32), hi, AC_RN_RINT);
  lx_cast(l, lx_as(lo, AC_F32), lo, AC_RN_RINT);
  lx_f(l, AC_I_MULS, lx_as(hi, AC_F32), lx_as(hi, AC_F32), 65536);
  lx_2(l, AC_I_ADD, d, lx_as(hi, AC_F32), lx_as(lo, AC_F32));
  l->reg = mark;
}
static void to_f32(legal *l, lv d, lv a, ac_round r) {
  if (a.d == AC_U32) {
    u32_to_f32(l, d, a);
  } else if (!emit_direct(l, d, a, r)) {
    int mark = l->reg;
    lv t = lx_tmp(l, ac_dtypes[a.d].bytes == 1 ? AC_F16 : AC_I32);
    if (t.d == AC_F16)
      lx_cast(l, t, a, AC_RN_NONE);
    else
      to_i32(l, t, a);
    emit_direct(l, d, t, AC_RN_NONE);
    l->reg = mark;
  }
}

/* r rounded: to [0, 2^32] and apart as three numbers that fit int32 exactly; the last is what saturation adds. */
static void f32_to_u32(legal *l, lv d, lv a, ac_round r) {
  int mark = l->reg;
  lv x = lx_tmp(l, AC_F32), y = lx_tmp(l, AC_F32), i = lx_tmp(l, AC_I32);
  lv to = lx_as(d, AC_I32);
  lx_cast(l, x, a, r);
  lx_f(l, AC_I_MAXS, x, x, 0);
  lx_f(l, AC_I_MINS, x, x, 0x1p32);
  lx_f(l, AC_I_ADDS, y, x, -4294967040.0);
  lx_f(l, AC_I_MAXS, y, y, 0);
  lx_f(l, AC_I_MINS, y, y, 255);
  lx_cast(l, i, y, AC_RN_RINT);
  lx_f(l, AC_I_MINS, x, x, 4294967040.0);
  lx_f(l, AC_I_MINS, y, x, 2147483520.0);
  lx_2(l, AC_I_SUB, x, x, y);
  lx_cast(l, lx_as(y, AC_I32), y, AC_RN_RINT);
  lx_2(l, AC_I_ADD, i, i, lx_as(y, AC_I32));
  lx_cast(l, lx_as(x, AC_I32), x, AC_RN_RINT);
  lx_2(l, AC_I_ADD, to, i, lx_as(x, AC_I32));
  l->reg = mark;
}

static void to_bool(legal *l, lv d, lv a) {
  int mark = l->reg;
  lv m = lx_tmp_mask(l), h = lx_tmp(l, AC_F16);
  if (ac_dtypes[a.d].bytes >= 4 && a.d != AC_F32) {
    if (a.d == AC_I64) { /* float32 keeps what is not 0 */
      lv f = lx_tmp(l, AC_F32);
      lx_cast(l, f, a, AC_RN_RINT);
      a = f;
    } else
      a = lx_as(a, AC_I32);
  } else if (a.d != AC_F32 && a.d != AC_F16) {
    lv f = lx_tmp(l, AC_F32);
    to_f32(l, f, a, AC_RN_NONE);
    a = f;
  }
  lx_compare_s(l, m, a, floating(a.d) ? lx_float(l, 0) : lx_int(l, 0), AC_CMP_EQ);
  lx_fill(l, h, lx_float(l, 0));
  lx_select_s(l, h, m, h, lx_float(l, 1));
  lx_cast(l, lx_as(d, AC_U8), h, AC_RN_RINT);
  l->reg = mark;
}

static void from_f32(legal *l, lv d, lv a, ac_round r) {
  int mark = l->reg;
  if (d.d == AC_U32) {
    f32_to_u32(l, d, a, r);
  } else if (d.d == AC_U16) {
    lv i = lx_tmp(l, AC_I32);
    lx_cast(l, i, a, r);
    from_i32(l, d, i);
  } else if (ac_dtypes[d.d].bytes == 1) {
    lv t = lx_tmp(l, AC_I16), h = lx_tmp(l, AC_F16);
    lx_cast(l, t, a, r);
    lx_i(l, AC_I_MINS, t, t, d.d == AC_I8 ? INT8_MAX : UINT8_MAX);
    lx_i(l, AC_I_MAXS, t, t, d.d == AC_I8 ? INT8_MIN : 0);
    lx_cast(l, h, t, AC_RN_RINT);
    lx_cast(l, d, h, AC_RN_RINT);
  } else {
    emit_direct(l, d, a, r);
  }
  l->reg = mark;
}

bool lx_convert(legal *l, lv d, lv a, ac_round r) {
  if (d.boolean) return to_bool(l, d, a), true;
  if (direct(d, a, r) && !(d.d == AC_F32 && a.d == AC_F32)) return lx_cast(l, d, a, r), true;
  int mark = l->reg;
  if (floating(a.d)) {
    lv f = a;
    if (a.d != AC_F32) {
      f = lx_tmp(l, AC_F32);
      lx_cast(l, f, a, AC_RN_NONE);
    }
    if (d.d == a.d && floating(d.d)) { /* to an integral value of the same dtype */
      lv t = a.d == AC_F32 ? d : f;
      lx_cast(l, t, f, r);
      if (a.d != AC_F32) lx_cast(l, d, t, AC_RN_RINT);
    } else {
      from_f32(l, d, f, r);
    }
  } else if (d.d == AC_F32) {
    to_f32(l, d, a, r);
  } else if (floating(d.d)) {
    if (!emit_direct(l, d, a, r)) {
      lv f = lx_tmp(l, AC_F32);
      to_f32(l, f, a, r);
      from_f32(l, d, f, r == AC_RN_NONE ? AC_RN_RINT : r);
    }
  } else if ((a.d == AC_U32 && d.d == AC_I64) || (a.d == AC_I64 && d.d == AC_U32)) {
    wide(l, d, a);
  } else if (a.d == d.d) {
    if (!a.boolean) return false;
    lv h = lx_tmp(l, AC_F16); /* 0 and 1, and already uint8 */
    lx_cast(l, h, a, AC_RN_NONE);
    lx_cast(l, d, h, AC_RN_RINT);
  } else if (emit_direct(l, d, a, AC_RN_NONE)) {
    return true;
  } else if (a.d == AC_I32) {
    lv t = lx_tmp(l, AC_I32);
    lx_i(l, AC_I_ADDS, t, a, 0);
    from_i32(l, d, t);
  } else if (d.d == AC_I32) {
    to_i32(l, d, a);
  } else {
    lv t = lx_tmp(l, AC_I32);
    to_i32(l, t, a);
    from_i32(l, d, t); /* what int32 cannot hold is beyond the narrower dtypes too */
  }
  l->reg = mark;
  return true;
}

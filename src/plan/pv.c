/* Arithmetic of the element-wise language: the operands are numbers, scalars of the kernel, vectors or masks, and each case takes the
 * cheapest form that the vector unit has. Numbers fold here, in double. */
#include "plan/internal.h"

#include <math.h>
#include <string.h>

static bool scalar(pv x) {
  return x.kind == PV_NUM || x.kind == PV_TEXT;
}
static pv vec(int reg) {
  return (pv){.kind = PV_VEC, .reg = reg};
}
static ac_dtype dtype_of(const vir *v, pv x) {
  return x.kind == PV_VEC ? v->regs.data[x.reg].dtype : AC_F32;
}

static const char *text_of(vir *v, pv x) {
  if (x.kind == PV_TEXT) return x.text;
  if (isinf(x.num) || isnan(x.num))
    return isnan(x.num) ? "float(\"nan\")" : x.num > 0 ? "float(\"inf\")" : "-float(\"inf\")";
  ac_buf s;
  ac_buf_init(&s, v->p->a);
  ac_put_double(&s, x.num);
  return ac_buf_str(&s);
}

static pv scalars(vir *v, char op, pv a, pv b) {
  if (a.kind == PV_NUM && b.kind == PV_NUM)
    return pv_num(op == '+' ? a.num + b.num : op == '-' ? a.num - b.num : op == '*' ? a.num * b.num : a.num / b.num);
  return pv_text(ac_sprintf(v->p->a, "(%s %c %s)", text_of(v, a), op, text_of(v, b)), false);
}

pv pv_vec(vir *v, pv x, ac_dtype d) {
  if (x.kind == PV_VEC) return x;
  if (x.kind == PV_MASK) { /* select(mask, 1, 0); a complement exchanges the two */
    pv one = vec(vir_emit(v, "duplicate", AC_F32, 1, pv_num(x.neg ? 0 : 1)));
    pv other = pv_num(x.neg ? 1 : 0);
    x.neg = false;
    return vec(vir_emit(v, "vselect_scalar", AC_F32, 3, x, one, other));
  }
  return vec(vir_emit(v, "duplicate", d, 1, x));
}

pv pv_to_f32(vir *v, pv x) {
  if (scalar(x)) return x;
  if (x.kind == PV_MASK) return pv_vec(v, x, AC_F32);
  switch (dtype_of(v, x)) {
  case AC_F32: return x;
  case AC_I8:
  case AC_U8:
  case AC_BOOL: /* bytes widen through half, exactly */
    return vec(vir_cast(v, vir_cast(v, x.reg, AC_F16, AC_RN_NONE), AC_F32, AC_RN_NONE));
  case AC_I32:
  case AC_I64: return vec(vir_cast(v, x.reg, AC_F32, AC_RN_RINT));
  default: return vec(vir_cast(v, x.reg, AC_F32, AC_RN_NONE));
  }
}

pv pv_add(vir *v, pv a, pv b) {
  if (scalar(a) && scalar(b)) return scalars(v, '+', a, b);
  if (scalar(a)) return pv_add(v, b, a);
  return scalar(b) ? vec(vir_emit(v, "vadd_scalar", dtype_of(v, a), 2, a, b))
                   : vec(vir_emit(v, "vadd", dtype_of(v, a), 2, a, b));
}

pv pv_sub(vir *v, pv a, pv b) {
  if (scalar(a) && scalar(b)) return scalars(v, '-', a, b);
  if (b.kind == PV_NUM) return vec(vir_emit(v, "vadd_scalar", dtype_of(v, a), 2, a, pv_num(-b.num)));
  if (scalar(b)) return vec(vir_emit(v, "vsub_scalar", dtype_of(v, a), 2, a, b));
  if (scalar(a)) return pv_add(v, pv_mul(v, b, pv_num(-1)), a); /* s - x = -x + s, the same bits */
  return vec(vir_emit(v, "vsub", dtype_of(v, a), 2, a, b));
}

pv pv_mul(vir *v, pv a, pv b) {
  if (pv_is(b, 1)) return a;
  if (scalar(a) && scalar(b)) return scalars(v, '*', a, b);
  if (scalar(a)) return pv_mul(v, b, a);
  return scalar(b) ? vec(vir_emit(v, "vmul_scalar", dtype_of(v, a), 2, a, b))
                   : vec(vir_emit(v, "vmul", dtype_of(v, a), 2, a, b));
}

pv pv_div(vir *v, pv a, pv b) {
  if (scalar(a) && scalar(b)) return scalars(v, '/', a, b);
  if (b.kind == PV_NUM) {
    int e;
    if (b.num != 0 && fabs(frexp(b.num, &e)) == 0.5 && e > -120 && e < 120)
      return pv_mul(v, a, pv_num(1 / b.num)); /* exact */
  }
  if (scalar(b)) return vec(vir_emit(v, "vdiv_scalar", AC_F32, 2, a, b));
  return vec(vir_emit(v, "vdiv", AC_F32, 2, pv_vec(v, a, AC_F32), b));
}

static pv extreme(vir *v, const char *prim, const char *prim_s, pv a, pv b) {
  if (scalar(a) && scalar(b)) a = pv_vec(v, a, AC_F32);
  if (scalar(a)) return extreme(v, prim, prim_s, b, a);
  return scalar(b) ? vec(vir_emit(v, prim_s, dtype_of(v, a), 2, a, b))
                   : vec(vir_emit(v, prim, dtype_of(v, a), 2, a, b));
}
pv pv_max(vir *v, pv a, pv b) {
  if (a.kind == PV_NUM && b.kind == PV_NUM) return pv_num(fmax(a.num, b.num));
  return extreme(v, "vmax", "vmax_scalar", a, b);
}
pv pv_min(vir *v, pv a, pv b) {
  if (a.kind == PV_NUM && b.kind == PV_NUM) return pv_num(fmin(a.num, b.num));
  return extreme(v, "vmin", "vmin_scalar", a, b);
}

pv pv_fn(vir *v, const char *prim, pv x) {
  if (scalar(x)) x = pv_vec(v, x, AC_F32);
  return vec(vir_emit(v, prim, dtype_of(v, x), 1, x));
}

pv pv_round(vir *v, pv x, ac_round r) {
  if (scalar(x)) x = pv_vec(v, x, AC_F32);
  return vec(vir_cast(v, x.reg, AC_F32, r));
}

static const char *mirrored(const char *mode) {
  return !strcmp(mode, "lt")   ? "gt"
         : !strcmp(mode, "le") ? "ge"
         : !strcmp(mode, "gt") ? "lt"
         : !strcmp(mode, "ge") ? "le"
                               : mode;
}

pv pv_cmp(vir *v, const char *mode, pv a, pv b) {
  if (!strcmp(mode, "ne")) return pv_not(pv_cmp(v, "eq", a, b)); /* true for NaN, whatever the hardware's NE says */
  if (scalar(a) && scalar(b)) a = pv_vec(v, a, AC_F32);
  if (scalar(a)) return pv_cmp(v, mirrored(mode), b, a);
  return (pv){.kind = PV_MASK, .reg = vir_compare(v, a, b, mode)};
}

pv pv_not(pv mask) {
  mask.neg = !mask.neg;
  return mask;
}

pv pv_where(vir *v, pv mask, pv a, pv b) {
  if (mask.neg) return pv_where(v, pv_not(mask), b, a);
  a = pv_vec(v, a, AC_F32);
  if (scalar(b)) return vec(vir_emit(v, "vselect_scalar", AC_F32, 3, mask, a, b));
  return vec(vir_emit(v, "vselect", AC_F32, 3, mask, a, b));
}

pv pv_mask(vir *v, pv x) {
  if (x.kind == PV_MASK) return x;
  if (x.kind == PV_VEC) {
    ac_dtype d = dtype_of(v, x);
    if (d == AC_BOOL || d == AC_U8 || d == AC_I8)
      return pv_cmp(v, "ne", vec(vir_cast(v, x.reg, AC_F16, AC_RN_NONE)), pv_num(0));
    if (d == AC_F16) return pv_cmp(v, "ne", x, pv_num(0));
    x = pv_to_f32(v, x);
  }
  return pv_cmp(v, "ne", x, pv_num(0));
}

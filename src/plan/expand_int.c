/* Expansions on integers, in their own dtypes: exact, and wrapping as PyTorch's. Division rounds as asked; by zero PyTorch raises an
 * error, and the quotient is that by 1 here (docs/craft.md, tl.vdiv). */
#include "plan/expand.h"

#include <math.h>
#include <string.h>

static pv vec(int reg) {
  return (pv){.kind = PV_VEC, .reg = reg};
}
static bool scalar(pv x) {
  return x.kind == PV_NUM || x.kind == PV_TEXT;
}
static ac_dtype dtype_of(const vir *v, pv x) {
  return v->regs.data[x.reg].dtype;
}
static bool holds(ac_dtype d, double x) {
  int bits = ac_dtypes[d].bytes * 8;
  bool is_signed = ac_dtypes[d].cls == AC_SIGNED;
  return x == trunc(x) && x >= (is_signed ? -ldexp(1, bits - 1) : 0) && x < ldexp(1, bits - is_signed);
}

/* The operand in integer dtype d: scalars as they are, vectors converted. PyTorch's promotion only widens. */
static pv as(vir *v, pv x, ac_dtype d) {
  if (scalar(x)) return x;
  if (x.kind == PV_MASK) x = pv_vec(v, x, AC_F32);
  ac_dtype s = dtype_of(v, x);
  if (s == d) return x;
  return vec(vir_cast(v, x.reg, d, ac_dtypes[s].cls == AC_FLOATING ? AC_RN_TRUNC : AC_RN_NONE));
}

/* ---- arithmetic ---- */

/* f on two operands of which one is a vector; `scalars` names the form with a scalar second, NULL: there is none. */
static pv two(vir *v, const char *prim, const char *scalars, bool commutes, pv a, pv b, ac_dtype d) {
  if (scalar(a) && (scalar(b) || !commutes)) a = pv_vec(v, a, d);
  if (scalar(a)) return two(v, prim, scalars, commutes, b, a, d);
  if (scalar(b) && scalars) return vec(vir_emit(v, scalars, d, 2, a, b));
  return vec(vir_emit(v, prim, d, 2, a, pv_vec(v, b, d)));
}

typedef struct {
  ac_op op;
  const char *prim, *scalars;
  bool commutes, divides;
} binary;
static const binary binaries[] = {{AC_G_ADD, "vadd", "vadd_scalar", true, false},
                                  {AC_G_SUB, "vsub", "vsub_scalar", false, false},
                                  {AC_G_MUL, "vmul", "vmul_scalar", true, false},
                                  {AC_G_MAXIMUM, "vmax", "vmax_scalar", true, false},
                                  {AC_G_FMAX, "vmax", "vmax_scalar", true, false},
                                  {AC_G_MINIMUM, "vmin", "vmin_scalar", true, false},
                                  {AC_G_FMIN, "vmin", "vmin_scalar", true, false},
                                  {AC_G_BITWISE_AND, "vand", NULL, true, false},
                                  {AC_G_BITWISE_OR, "vor", NULL, true, false},
                                  {AC_G_BITWISE_XOR, "vxor", NULL, true, false},
                                  {AC_G_FLOOR_DIVIDE, "vfloordiv", NULL, false, true},
                                  {AC_G_REMAINDER, "vmod", NULL, false, true},
                                  {AC_G_FMOD, "vfmod", NULL, false, true}};

static pv divide(vir *v, pl_ex *e, const char *prim) {
  if (e->in[1].kind == PV_NUM && e->in[1].num == 0) return pl_none(e, "it divides by zero");
  return two(v, prim, NULL, false, as(v, e->in[0], e->out), as(v, e->in[1], e->out), e->out);
}

static pv x_div(vir *v, pl_ex *e) {
  const ac_arg *mode = pl_arg(e->n, "rounding_mode");
  return divide(v, e, !mode->absent && mode->s && !strcmp(mode->s, "floor") ? "vfloordiv" : "vdiv");
}

static bool fold(const binary *b, pv x, pv y, pv *out) {
  if (x.kind != PV_NUM || y.kind != PV_NUM || b->divides || !b->scalars) return false;
  switch (b->op) {
  case AC_G_ADD: *out = pv_num(x.num + y.num); return true;
  case AC_G_SUB: *out = pv_num(x.num - y.num); return true;
  case AC_G_MUL: *out = pv_num(x.num * y.num); return true;
  case AC_G_MAXIMUM:
  case AC_G_FMAX: *out = pv_num(fmax(x.num, y.num)); return true;
  default: *out = pv_num(fmin(x.num, y.num)); return true;
  }
}

static pv x_binary(vir *v, pl_ex *e, const binary *b) {
  if (b->divides) return divide(v, e, b->prim);
  pv x = as(v, e->in[0], e->out), y = as(v, e->in[1], e->out), folded;
  double alpha = 1;
  if (b->op == AC_G_ADD || b->op == AC_G_SUB) {
    if (!pl_number(e->n, "alpha", 1, &alpha)) return pl_none(e, "its number depends on a run-time size");
    if (alpha != 1)
      y = y.kind == PV_NUM ? pv_num(y.num * alpha) : two(v, "vmul", "vmul_scalar", true, y, pv_num(alpha), e->out);
  }
  return fold(b, x, y, &folded) ? folded : two(v, b->prim, b->scalars, b->commutes, x, y, e->out);
}

static pv x_shift(vir *v, pl_ex *e, const char *prim) {
  pv n = e->in[1];
  if (n.kind != PV_NUM || n.num < 0 || n.num >= ac_dtypes[e->out].bytes * 8)
    return pl_none(e, "shifts are covered by a constant from 0 to the width less 1");
  return vec(vir_emit(v, prim, e->out, 2, pv_vec(v, as(v, e->in[0], e->out), e->out), n));
}

static pv x_pow(vir *v, pl_ex *e) {
  pv y = e->in[1], sq = as(v, e->in[0], e->out), r = pv_num(1);
  if (y.kind != PV_NUM || y.num != trunc(y.num) || y.num < 0 || y.num > 64)
    return pl_none(e, "powers of integers are covered for a constant exponent from 0 to 64");
  sq = pv_vec(v, sq, e->out);
  for (int n = (int)y.num; n; n >>= 1) {
    if (n & 1) r = pv_is(r, 1) ? sq : two(v, "vmul", "vmul_scalar", true, r, sq, e->out);
    if (n > 1) sq = two(v, "vmul", "vmul_scalar", true, sq, sq, e->out);
  }
  return r;
}

static pv one(vir *v, pl_ex *e, const char *prim) {
  return vec(vir_emit(v, prim, e->out, 1, pv_vec(v, as(v, e->in[0], e->out), e->out)));
}

/* ---- selection and comparison ---- */

static pv x_where(vir *v, pl_ex *e) {
  pv mask = pv_mask(v, e->in[0]), a = as(v, e->in[1], e->out), b = as(v, e->in[2], e->out);
  if (mask.neg) {
    pv t = a;
    a = b;
    b = t;
    mask.neg = false;
  }
  a = pv_vec(v, a, e->out);
  if (scalar(b)) return vec(vir_emit(v, "vselect_scalar", e->out, 3, mask, a, b));
  return vec(vir_emit(v, "vselect", e->out, 3, mask, a, b));
}

/* The dtype in which two integer operands compare exactly: the wider one's, or wider still where a constant does not fit. */
static ac_dtype meeting(const vir *v, const pl_ex *e) {
  static const ac_dtype rising[] = {AC_U8, AC_I8, AC_I16, AC_I32, AC_I64};
  for (size_t i = 0; i < AC_COUNT(rising); i++) {
    bool fits = true;
    for (int k = 0; k < 2; k++) {
      pv x = e->in[k];
      if (x.kind == PV_NUM) fits = fits && holds(rising[i], x.num);
      ac_dtype d = x.kind == PV_VEC ? dtype_of(v, x) : x.kind == PV_TEXT ? AC_I64 : AC_U8;
      if (x.kind == PV_NUM || d == rising[i]) continue;
      fits = fits && ac_dtypes[rising[i]].cls == AC_SIGNED && ac_dtypes[rising[i]].bytes > ac_dtypes[d].bytes;
    }
    if (fits) return rising[i];
  }
  return AC_NODTYPE;
}

static const struct {
  ac_op op;
  const char *mode, *mirrored;
} compares[] = {{AC_G_EQ, "eq", "eq"}, {AC_G_NE, "eq", "eq"}, {AC_G_LT, "lt", "gt"},
                {AC_G_LE, "le", "ge"}, {AC_G_GT, "gt", "lt"}, {AC_G_GE, "ge", "le"}};

/* NE is the complement of EQ. */
static bool compare(vir *v, pl_ex *e, pv *out) {
  for (size_t i = 0; i < AC_COUNT(compares); i++) {
    if (compares[i].op != e->n->op) continue;
    ac_dtype d = meeting(v, e);
    if (d == AC_NODTYPE) return false;
    pv a = as(v, e->in[0], d), b = as(v, e->in[1], d);
    const char *mode = compares[i].mode;
    if (scalar(a) && scalar(b)) a = pv_vec(v, a, d);
    if (scalar(a)) {
      pv t = a;
      a = b;
      b = t;
      mode = compares[i].mirrored;
    }
    *out = (pv){.kind = PV_MASK, .reg = vir_compare(v, a, b, mode), .neg = e->n->op == AC_G_NE};
    return true;
  }
  return false;
}

/* ---- dtypes ---- */

/* Narrowing wraps, as in C: the bits that do not fit are shifted out and the sign is drawn over them; then nothing saturates. */
static pv narrowed(vir *v, pv x, ac_dtype d) {
  ac_dtype s = dtype_of(v, x);
  int from = ac_dtypes[s].bytes * 8, to = ac_dtypes[d].bytes * 8;
  bool to_signed = ac_dtypes[d].cls == AC_SIGNED;
  if (from < to)
    return vec(
        vir_cast(v, x.reg, d, AC_RN_NONE)); /* the only unsigned dtype of a graph is a byte: nothing widens to it */
  if (from == to) {                         /* int8 and uint8 */
    s = AC_I16;
    from = 16;
    x = vec(vir_cast(v, x.reg, s, AC_RN_NONE));
  }
  if (!to_signed) {
    x = vec(vir_emit(v, "vand", s, 2, x, pv_vec(v, pv_num(ldexp(1, to) - 1), s)));
  } else {
    pv n = pv_num(from - to);
    x = vec(vir_emit(v, "vshr_scalar", s, 2, vec(vir_emit(v, "vshl_scalar", s, 2, x, n)), n));
  }
  return vec(vir_cast(v, x.reg, d, AC_RN_NONE));
}

static pv x_cast(vir *v, pl_ex *e) {
  pv x = e->in[0];
  if (x.kind == PV_NUM) return pv_num(trunc(x.num));
  if (x.kind == PV_TEXT) return x.text_int ? x : pv_vec(v, x, AC_F32);
  if (x.kind == PV_MASK || ac_dtypes[dtype_of(v, x)].cls == AC_FLOATING) return as(v, x, e->out);
  return dtype_of(v, x) == e->out ? x : narrowed(v, x, e->out);
}

/* ---- entry ---- */

static bool arithmetic(vir *v, pl_ex *e, pv *out) {
  switch (e->n->op) {
  case AC_G_NEG: *out = one(v, e, "vneg"); return true;
  case AC_G_ABS: *out = one(v, e, "vabs"); return true;
  case AC_G_SIGN: *out = one(v, e, "vsign"); return true;
  case AC_G_RELU: *out = one(v, e, "vrelu"); return true;
  case AC_G_BITWISE_NOT: *out = one(v, e, "vnot"); return true;
  case AC_G_SQUARE: {
    pv x = pv_vec(v, as(v, e->in[0], e->out), e->out);
    *out = vec(vir_emit(v, "vmul", e->out, 2, x, x));
    return true;
  }
  case AC_G_DIV: *out = x_div(v, e); return true;
  case AC_G_LSHIFT: *out = x_shift(v, e, "vshl_scalar"); return true;
  case AC_G_RSHIFT: *out = x_shift(v, e, "vshr_scalar"); return true;
  case AC_G_POW: *out = x_pow(v, e); return true;
  case AC_G_WHERE: *out = x_where(v, e); return true;
  case AC_G_CAST: *out = x_cast(v, e); return true;
  default: break;
  }
  for (size_t i = 0; i < AC_COUNT(binaries); i++)
    if (binaries[i].op == e->n->op) return *out = x_binary(v, e, &binaries[i]), true;
  return false;
}

bool pl_expand_int(vir *v, pl_ex *e, pv *out) {
  if (pl_is_int(e->out)) return arithmetic(v, e, out);
  if (e->out != AC_BOOL) return false;
  for (int k = 0; k < 2; k++) {
    bool whole =
        e->in[k].kind == PV_NUM ? e->in[k].num == trunc(e->in[k].num) : pl_is_int(e->dt[k]) || e->dt[k] == AC_BOOL;
    if (!whole) return false;
  }
  return compare(v, e, out);
}

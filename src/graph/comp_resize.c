/* C_COMP rows that resize: one axis of torch.nn.functional.interpolate.
 *
 * Where a result lies in the source is a ratio of integers, so that no rounding of sizes or scale factors moves it: output i of an axis is at
 * (a * i + b) / d of the source (PyTorch's area_pixel_compute_source_index, ATen/native/UpSample.h, where it is computed in floating point).
 * Where the position is a whole number, float32 may miss it in PyTorch: nearest from 2 to 82 elements takes element 0 at 41, here 1.
 * The positions are int32, the fractions float32, as are values between the axes. */
#include "graph/internal.h"

#include <math.h>

typedef struct {
  ac_value *x;
  int dim;
  const ac_sym *in, *out;
  const ac_sym *num, *den; /* of the scale: sizes of source and result, or what scale_factor says */
  bool align;
  ac_dtype acc;
} axis;

static const ac_sym *sym(ac_rule *r, int64_t v) {
  return ac_sym_int(r->g, v);
}
static ac_value *size(ac_rule *r, const ac_sym *s) {
  return ac_graph_integer(r->g, s);
}
static ac_value *real(ac_rule *r, double v) {
  return ac_graph_number(r->g, v);
}
static ac_value *bin(ac_rule *r, ac_op op, ac_value *x, ac_value *y) {
  return AP(r, op, A_T(x), A_T(y));
}
static ac_value *between(ac_rule *r, ac_value *x, ac_value *lo, ac_value *hi) {
  return bin(r, AC_G_MINIMUM, bin(r, AC_G_MAXIMUM, x, lo), hi);
}
static ac_value *cast(ac_rule *r, ac_value *x, ac_dtype d) {
  return x ? ac_graph_cast(r->g, x, d, r->loc) : NULL;
}

/* The scale factor as a fraction of small numbers: by continued fractions. */
static bool fraction(double v, int64_t *num, int64_t *den) {
  int64_t p0 = 0, q0 = 1, p1 = 1, q1 = 0;
  double x = v;
  for (int k = 0; k < 24; k++) {
    double whole = floor(x);
    if (!(whole < 1e6)) return false;
    int64_t a = (int64_t)whole, p = a * p1 + p0, q = a * q1 + q0;
    if (q > 1000 || p > 1000000) return false;
    p0 = p1, q0 = q1, p1 = p, q1 = q;
    if (fabs((double)p / (double)q - v) <= 1e-9 * v) {
      *num = p, *den = q;
      return p > 0;
    }
    x = 1 / (x - whole);
  }
  return false;
}

/* floor(in * scale), as PyTorch computes it in double, with scale = num / den but for its rounding: that only matters where the quotient is
 * whole (100 * 0.29 is 28.999999999999996, so that 28 elements come of it). Such a size is fixed, all others stay symbolic. */
static const ac_sym *scaled(ac_rule *r, const ac_sym *in, double scale, int64_t num, int64_t den) {
  ac_graph *g = r->g;
  const ac_sym *n = s_muli(g, in, num), *out = s_div(g, n, sym(r, den));
  int64_t at = 0;
  if (!(den & (den - 1))) return out; /* the product is exact */
  if (!ac_sym_guard(g, AC_GUARD_EQ, ac_sym_op(g, AC_SYM_MOD, n, sym(r, den)), sym(r, 0), r->loc,
                    "interpolate: the scaled size is whole"))
    return out;
  return ac_rule_pin(r, in, "a size whose scaled size is whole", &at) ? sym(r, (int64_t)floor((double)at * scale))
                                                                      : NULL;
}

/* Sizes and scale of the axis that the arguments name. */
static bool axis_of(ac_rule *r, axis *t) {
  const ac_arg *want = &r->args[2], *scale = &r->args[3];
  *t = (axis){.x = r->args[0].t, .align = r->args[5].b};
  if (!ac_rule_dim(r, 1, t->x->rank, &t->dim)) return false;
  if (!ac_is_float(t->x->dtype))
    return ac_rule_fail(r, AC0303, "convert it with .float()", "takes floating-point tensors, got %s",
                        ac_value_text(r, t->x));
  t->acc = t->x->dtype == AC_F64 ? AC_F64 : AC_F32;
  t->in = t->x->shape[t->dim];
  if (!ac_rule_le(r, sym(r, 1), t->in, "interpolate: there is something to resize"))
    return ac_rule_fail(r, AC0304, "give it at least one element", "dimension %d of %s is empty", t->dim,
                        ac_value_text(r, t->x));
  int64_t p = 0, q = 0;
  if (!scale->absent && !fraction(scale->f, &p, &q))
    return ac_rule_fail(r, AC0304, "use a ratio of numbers up to 1000, such as 2, 1.5 or 0.25, or give size",
                        "scale_factor %g is no ratio of small numbers", scale->f);
  t->out = want->absent ? scaled(r, t->in, scale->f, p, q) : want->i;
  if (!t->out) return false;
  t->num = scale->absent ? t->in : sym(r, q);
  t->den = scale->absent ? t->out : sym(r, p);
  if (!ac_rule_le(r, sym(r, 1), t->out, "interpolate: the result is not empty"))
    return ac_rule_fail(r, AC0304, NULL, "a size of %lld along dimension %d", (long long)t->out->example, t->dim);
  return true;
}

/* a * i + b for the results i, below 2^31. */
static ac_value *positions(ac_rule *r, const axis *t, const ac_sym *a, const ac_sym *b, const ac_sym *d) {
  ac_graph *g = r->g;
  const ac_sym *most = s_add(g, s_add(g, s_mul(g, a, t->out), s_muli(g, d, 4)), sym(r, 0));
  if (!ac_rule_le(r, most, sym(r, INT32_MAX), "interpolate: positions fit 32 bits"))
    return ac_rule_fail(r, AC0304, "resize in parts", "sizes %lld and %lld along dimension %d are too large together",
                        (long long)t->in->example, (long long)t->out->example, t->dim),
           NULL;
  const ac_arg zero = {.kind = AC_K_INT, .i = sym(r, 0), .is_int = true},
               end = {.kind = AC_K_INT, .i = t->out, .is_int = true},
               one = {.kind = AC_K_INT, .i = sym(r, 1), .is_int = true};
  ac_value *i = AP(r, AC_G_ARANGE, zero, end, one, A_D(AC_I32));
  return bin(r, AC_G_ADD, bin(r, AC_G_MUL, i, size(r, a)), size(r, b));
}

/* Elements of the source, in the dtype that sums are made in. */
static ac_value *taken(ac_rule *r, const axis *t, ac_value *at) {
  return cast(r, AP(r, AC_G_INDEX_SELECT, A_T(t->x), A_I(sym(r, t->dim)), A_T(at)), t->acc);
}
/* A number a result along the axis, seen in all dimensions. */
static ac_value *along(ac_rule *r, const axis *t, ac_value *w) {
  int n = t->x->rank - t->dim;
  const ac_sym **s = AC_NEW_N(r->g->arena, const ac_sym *, n);
  for (int i = 0; i < n; i++) s[i] = i ? sym(r, 1) : t->out;
  return n == 1 ? w : AP(r, AC_G_RESHAPE, A_T(w), A_IS(s, n));
}

/* Where the results lie: (a i + b) / d. */
typedef struct {
  const ac_sym *a, *b, *d;
} line;
static line centres(ac_rule *r, const axis *t) {
  ac_graph *g = r->g;
  if (t->align && t->out->example > 1) return (line){s_addi(g, t->in, -1), sym(r, 0), s_addi(g, t->out, -1)};
  if (t->align) return (line){sym(r, 0), sym(r, 0), sym(r, 1)};
  const ac_sym *minus = s_muli(g, t->den, -1);
  return (line){s_muli(g, t->num, 2), s_add(g, t->num, minus), s_muli(g, t->den, 2)};
}

static ac_value *nearest(ac_rule *r, const axis *t, bool exact) {
  ac_graph *g = r->g;
  line l = exact ? (line){s_muli(g, t->num, 2), t->num, s_muli(g, t->den, 2)} : (line){t->num, sym(r, 0), t->den};
  ac_value *at = bin(r, AC_G_FLOOR_DIVIDE, positions(r, t, l.a, l.b, l.d), size(r, l.d));
  at = bin(r, AC_G_MINIMUM, at, size(r, s_addi(g, t->in, -1)));
  return AP(r, AC_G_INDEX_SELECT, A_T(t->x), A_I(sym(r, t->dim)), A_T(at));
}

/* The element at or before a position, and how far behind it, as a fraction. */
static ac_value *split(ac_rule *r, const axis *t, const line *l, ac_value *n, ac_value **behind) {
  ac_value *at = bin(r, AC_G_FLOOR_DIVIDE, n, size(r, l->d));
  ac_value *rest = bin(r, AC_G_SUB, n, bin(r, AC_G_MUL, at, size(r, l->d)));
  *behind = bin(r, AC_G_DIV, cast(r, rest, t->acc), size(r, l->d));
  return at;
}

static ac_value *linear(ac_rule *r, const axis *t) {
  line l = centres(r, t);
  ac_value *last = size(r, s_addi(r->g, t->in, -1)), *w;
  ac_value *n = bin(r, AC_G_MAXIMUM, positions(r, t, l.a, l.b, l.d), size(r, sym(r, 0)));
  ac_value *at = bin(r, AC_G_MINIMUM, split(r, t, &l, n, &w), last);
  ac_value *next = bin(r, AC_G_MINIMUM, bin(r, AC_G_ADD, at, size(r, sym(r, 1))), last);
  w = along(r, t, w);
  ac_value *keep = bin(r, AC_G_SUB, real(r, 1), w);
  return bin(r, AC_G_ADD, bin(r, AC_G_MUL, taken(r, t, at), keep), bin(r, AC_G_MUL, taken(r, t, next), w));
}

/* Keys' cubic with parameter c: within one element of the centre, and between one and two. */
static ac_value *near_cubic(ac_rule *r, ac_value *x, double c) {
  ac_value *p = bin(r, AC_G_SUB, bin(r, AC_G_MUL, x, real(r, c + 2)), real(r, c + 3));
  return bin(r, AC_G_ADD, bin(r, AC_G_MUL, p, bin(r, AC_G_MUL, x, x)), real(r, 1));
}
static ac_value *far_cubic(ac_rule *r, ac_value *x, double c) {
  ac_value *p = bin(r, AC_G_SUB, bin(r, AC_G_MUL, x, real(r, c)), real(r, 5 * c));
  p = bin(r, AC_G_ADD, bin(r, AC_G_MUL, p, x), real(r, 8 * c));
  return bin(r, AC_G_SUB, bin(r, AC_G_MUL, p, x), real(r, 4 * c));
}

static ac_value *cubic(ac_rule *r, const axis *t) {
  static const double c = -0.75; /* ATen/native/UpSample.h, get_cubic_upsample_coefficients */
  line l = centres(r, t);
  ac_value *w, *sum = NULL;
  ac_value *at = split(r, t, &l, positions(r, t, l.a, l.b, l.d), &w);
  for (int k = -1; k <= 2; k++) {
    ac_value *p =
        between(r, bin(r, AC_G_ADD, at, size(r, sym(r, k))), size(r, sym(r, 0)), size(r, s_addi(r->g, t->in, -1)));
    ac_value *x = k == 0 ? w : k == -1 ? bin(r, AC_G_ADD, w, real(r, 1)) : bin(r, AC_G_SUB, real(r, k), w);
    ac_value *weight = along(r, t, (k == 0 || k == 1 ? near_cubic : far_cubic)(r, x, c));
    ac_value *term = bin(r, AC_G_MUL, taken(r, t, p), weight);
    sum = sum ? bin(r, AC_G_ADD, sum, term) : term;
  }
  return sum;
}

/* Antialiased: a filter as wide as a result's share of the source, its weights summing to 1 (ATen/native/cpu/UpSampleKernel.cpp,
 * _compute_indices_min_size_weights_aa). `reach`: half the filter's width, 1 or 2 elements. */
static ac_value *antialiased(ac_rule *r, const axis *t, int reach) {
  static const double c = -0.5;
  ac_graph *g = r->g;
  const ac_sym *num = t->num, *den = t->den;
  if (t->align) {
    num = t->out->example > 1 ? s_addi(g, t->in, -1) : sym(r, 0);
    den = t->out->example > 1 ? s_addi(g, t->out, -1) : sym(r, 1);
  }
  bool down = num->example >= den->example;
  if (!ac_rule_le(r, down ? den : num, down ? num : den, "interpolate: larger or smaller")) return NULL;
  const ac_sym *wide = s_muli(g, down ? num : den, reach),
               *unit = s_muli(g, den, 2); /* half the filter, in 1 / den */
  int64_t taps;
  if (!ac_rule_pin(r, s_addi(g, s_muli(g, s_div(g, s_addi(g, s_add(g, wide, den), -1), den), 2), 1),
                   "the width of the filter", &taps))
    return NULL;
  if (taps > 128)
    return ac_rule_fail(r, AC0304, "resize in steps", "the filter along dimension %d takes %lld elements", t->dim,
                        (long long)taps),
           NULL;
  /* twice the centre, in 1 / (2 den): (2 i + 1) num */
  ac_value *twice = positions(r, t, s_muli(g, num, 2), num, unit);
  ac_value *first = bin(r, AC_G_ADD, twice, size(r, s_add(g, den, s_muli(g, wide, -2))));
  first = bin(r, AC_G_MAXIMUM, bin(r, AC_G_FLOOR_DIVIDE, first, size(r, unit)), size(r, sym(r, 0)));
  ac_value **at = AC_NEW_N(g->arena, ac_value *, taps), **weight = AC_NEW_N(g->arena, ac_value *, taps),
           *total = NULL, *sum = NULL;
  const ac_sym *scale = s_muli(g, down ? num : den, 2);
  for (int64_t k = 0; k < taps; k++) {
    at[k] = bin(r, AC_G_ADD, first, size(r, sym(r, k)));
    ac_value *m = bin(r, AC_G_SUB, bin(r, AC_G_ADD, bin(r, AC_G_MUL, at[k], size(r, unit)), size(r, den)), twice);
    ac_value *x = AP(r, AC_G_ABS, A_T(bin(r, AC_G_DIV, cast(r, m, t->acc), size(r, scale))));
    ac_value *w = bin(r, AC_G_SUB, real(r, 1), x), *zero = real(r, 0);
    if (reach == 1)
      w = bin(r, AC_G_MAXIMUM, w, zero);
    else {
      w = AP(r, AC_G_WHERE, A_T(bin(r, AC_G_LT, x, real(r, 1))), A_T(near_cubic(r, x, c)), A_T(far_cubic(r, x, c)));
      w = AP(r, AC_G_WHERE, A_T(bin(r, AC_G_LT, x, real(r, 2))), A_T(w), A_T(zero));
    }
    weight[k] = AP(r, AC_G_WHERE, A_T(bin(r, AC_G_LT, at[k], size(r, t->in))), A_T(w), A_T(zero));
    total = total ? bin(r, AC_G_ADD, total, weight[k]) : weight[k];
  }
  for (int64_t k = 0; k < taps; k++) {
    ac_value *p = bin(r, AC_G_MINIMUM, at[k], size(r, s_addi(g, t->in, -1)));
    ac_value *term = bin(r, AC_G_MUL, taken(r, t, p), along(r, t, bin(r, AC_G_DIV, weight[k], total)));
    sum = sum ? bin(r, AC_G_ADD, sum, term) : term;
  }
  return sum;
}

/* A linear mode copies where a scale factor gives the size that is there (upsample_linear1d and kin, "special case: just copy"), although
 * the factor is not 1. Only factors between 1 and 2 do that. */
static bool copied(ac_rule *r, const axis *t) {
  if (r->args[3].absent || r->args[3].f <= 1 || r->args[3].f >= 2) return false;
  return ac_sym_guard(r->g, AC_GUARD_EQ, t->in, t->out, r->loc, "interpolate: the scaled size is the same");
}

static bool resize_axis(ac_rule *r) {
  axis t;
  const char *mode = r->args[4].s;
  if (!axis_of(r, &t)) return false;
  if (s_eq(mode, "nearest") || s_eq(mode, "nearest-exact")) return ac_rule_give(r, nearest(r, &t, mode[7] != 0));
  bool four = s_eq(mode, "bicubic");
  if (r->args[6].b) return ac_rule_give(r, antialiased(r, &t, four ? 2 : 1));
  if (!four && copied(r, &t)) return ac_rule_give(r, cast(r, t.x, t.acc));
  return ac_rule_give(r, four ? cubic(r, &t) : linear(r, &t));
}

bool ac_expand_resize(ac_rule *r, bool *ok) {
  switch (r->op) {
  case AC_G_RESIZE_AXIS: *ok = resize_axis(r); break;
  default: return false;
  }
  return true;
}

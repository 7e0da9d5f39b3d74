/* C_COMP rows written out in the other operations, as PyTorch defines them: dispatch and the arithmetic ones. */
#include "graph/internal.h"

#include <math.h>
#include <string.h>

static ac_value *num(ac_rule *r, double v) {
  return ac_graph_number(r->g, v);
}
static const ac_sym *sym(ac_rule *r, int64_t v) {
  return ac_sym_int(r->g, v);
}
static ac_arg scalar(ac_rule *r, double v) {
  return A_T(num(r, v));
}

/* A Python number kept as attribute, as a weak constant. */
static ac_value *number_of(ac_rule *r, const ac_arg *a) {
  return a->is_bool ? ac_graph_boolean(r->g, a->f != 0) : a->is_int ? ac_graph_integer(r->g, a->i) : num(r, a->f);
}

static bool is_one(const ac_arg *a) {
  return a->f == 1 && (!a->is_int || a->i->kind == AC_SYM_CONST);
}

/* Every result is like PyTorch's only in `d`. */
static ac_value *cast_to(ac_rule *r, ac_value *x, ac_dtype d) {
  return x ? ac_graph_cast(r->g, x, d, r->loc) : NULL;
}

/* ---- clamps, selections ---- */

/* min(max(x, lo), hi): NaN passes, and hi wins where the bounds cross. */
static bool clamp(ac_rule *r, const ac_arg *lo, const ac_arg *hi) {
  ac_value *x = r->args[0].t;
  if (lo && lo->absent) lo = NULL;
  if (hi && hi->absent) hi = NULL;
  if (!lo && !hi) return ac_rule_fail(r, AC0304, "pass min, max or both", "both bounds are None");
  if (x->dtype == AC_BOOL) return ac_rule_fail(r, AC0303, "convert with .int() first", "does not take bool tensors");
  if (lo) x = AP(r, AC_G_MAXIMUM, A_T(x), *lo);
  if (hi) x = AP(r, AC_G_MINIMUM, A_T(x), *hi);
  return ac_rule_give(r, x);
}

/* The value takes the input's dtype, and must be a number or have no dimensions. */
static bool masked_fill(ac_rule *r) {
  ac_value *x = r->args[0].t, *mask = r->args[1].t, *v = r->args[2].t;
  if (v->rank)
    return ac_rule_fail(r, AC0301, "use torch.where for values with dimensions",
                        "the value must have no dimensions, got %s", ac_value_text(r, v));
  if (mask->dtype != AC_BOOL)
    return ac_rule_fail(r, AC0303, "compare it with something, as in (mask != 0)", "the mask must be bool, got %s",
                        ac_value_text(r, mask));
  ac_value *y = AP(r, AC_G_WHERE, A_T(mask), A_T(v), A_T(x));
  if (y && y->dtype != x->dtype) y = AP(r, AC_G_WHERE, A_T(mask), A_T(cast_to(r, v, x->dtype)), A_T(x));
  return ac_rule_give(r, y);
}

static bool same_floats(ac_rule *r, const ac_value *x, const ac_value *y) {
  if (!ac_is_float(x->dtype))
    return ac_rule_fail(r, AC0303, "convert with .float() first", "does not take %s tensors, only floating ones",
                        ac_dtypes[x->dtype].name);
  return y->weak || x->dtype == y->dtype ||
         ac_rule_fail(r, AC0303, "convert one of them first", "dtypes differ: %s and %s", ac_value_text(r, x),
                      ac_value_text(r, y));
}

/* Two forms, by the size of the weight, so that both ends are exact. */
static bool lerp(ac_rule *r) {
  ac_value *x = r->args[0].t, *e = r->args[1].t, *w = r->args[2].t;
  if (!same_floats(r, x, e) || !same_floats(r, x, w)) return false;
  bool known = w->weak && w->def->op == AC_G_CONST;
  ac_value *d = AP(r, AC_G_SUB, A_T(e), A_T(x)), *near = NULL, *far = NULL;
  if (!known || fabs(w->def->args[0].f) < 0.5) near = AP(r, AC_G_ADD, A_T(x), A_T(AP(r, AC_G_MUL, A_T(w), A_T(d))));
  if (!known || !near)
    far = AP(r, AC_G_SUB, A_T(e), A_T(AP(r, AC_G_MUL, A_T(d), A_T(AP(r, AC_G_SUB, scalar(r, 1), A_T(w))))));
  if (known) return ac_rule_give(r, near ? near : far);
  ac_value *small = AP(r, AC_G_LT, A_T(AP(r, AC_G_ABS, A_T(w))), scalar(r, 0.5));
  return ac_rule_give(r, AP(r, AC_G_WHERE, A_T(small), A_T(near), A_T(far)));
}

/* input + value * t1 * t2, input + value * t1 / t2 */
static bool addc(ac_rule *r, ac_op op) {
  ac_value *t1 = r->args[1].t;
  if (op == AC_G_DIV) { /* true division of integers is refused, as in PyTorch */
    ac_dtype d = ac_promote_values((ac_value *[]){r->args[0].t, t1, r->args[2].t}, 3);
    if (!ac_is_float(d))
      return ac_rule_fail(r, AC0303, "convert with .float() first", "does not take integer tensors");
  }
  if (!is_one(&r->args[3])) t1 = AP(r, AC_G_MUL, A_T(number_of(r, &r->args[3])), A_T(t1));
  return ac_rule_give(r, AP(r, AC_G_ADD, A_T(r->args[0].t), A_T(AP(r, op, A_T(t1), r->args[2]))));
}

/* ---- activations ---- */

/* x > 0 ? x : w * x, with one weight or one a channel (dimension 1). */
static bool prelu(ac_rule *r) {
  ac_graph *g = r->g;
  ac_value *x = r->args[0].t, *w = r->args[1].t;
  if (!same_floats(r, x, w)) return false;
  const ac_sym *n = ac_numel(g, w->rank, (const ac_sym *const *)w->shape);
  if (n->example == 1) { /* without dimensions it meets any input */
    w = AP(r, AC_G_RESHAPE, A_T(w), A_IS(NULL, 0));
  } else {
    int rank = x->rank;
    if (rank < 2 || w->rank != 1 || !ac_rule_equal(r, w->shape[0], x->shape[1], "prelu: one weight a channel"))
      return ac_rule_fail(r, AC0301, "give one weight, or one a channel (dimension 1)", "%lld weights for %s",
                          (long long)n->example, ac_value_text(r, x));
    const ac_sym **s = AC_NEW_N(g->arena, const ac_sym *, rank);
    for (int i = 0; i < rank; i++) s[i] = i == 1 ? w->shape[0] : sym(r, 1);
    w = AP(r, AC_G_RESHAPE, A_T(w), A_IS(s + 1, rank - 1)); /* (C, 1, 1, ...): the batch is in front of it */
  }
  ac_value *pos = AP(r, AC_G_GT, A_T(x), A_T(ac_graph_integer(g, sym(r, 0))));
  return ac_rule_give(r, AP(r, AC_G_WHERE, A_T(pos), A_T(x), A_T(AP(r, AC_G_MUL, A_T(w), A_T(x)))));
}

static bool glu(ac_rule *r) {
  ac_graph *g = r->g;
  ac_value *x = r->args[0].t;
  int d;
  if (!x->rank) return ac_rule_fail(r, AC0302, NULL, "a tensor without dimensions has no halves");
  if (!same_floats(r, x, x)) return false;
  if (!ac_rule_dim(r, 1, x->rank, &d)) return false;
  const ac_sym *odd = ac_sym_op(g, AC_SYM_MOD, x->shape[d], sym(r, 2));
  if (odd->example)
    return ac_rule_fail(r, AC0301, "the halved dimension must be even", "dimension %d of %s is odd", d,
                        ac_value_text(r, x));
  ac_sym_guard(g, AC_GUARD_EQ, odd, sym(r, 0), r->loc, "glu: the halved dimension is even");
  const ac_sym *half = ac_sym_op(g, AC_SYM_FLOORDIV, x->shape[d], sym(r, 2));
  ac_value *a = AP(r, AC_G_SLICE, A_T(x), r->args[1], A_NONE(), A_I(half));
  ac_value *b = AP(r, AC_G_SLICE, A_T(x), r->args[1], A_I(half), A_NONE());
  return ac_rule_give(r, AP(r, AC_G_MUL, A_T(a), A_T(AP(r, AC_G_SIGMOID, A_T(b)))));
}

static bool rrelu(ac_rule *r) {
  if (r->args[3].b) return ac_rule_fail(r, AC0311, "call .eval() on the module", "training mode draws random slopes");
  ac_arg slope = {.kind = AC_K_SCALAR, .f = (r->args[1].f + r->args[2].f) / 2};
  return ac_rule_give(r, AP(r, AC_G_LEAKY_RELU, r->args[0], slope));
}

/* ---- reductions ---- */

/* max(x), max(x, dim) -> values and indices, max(x, y) */
static bool max_min(ac_rule *r, bool max) {
  ac_value *other = r->args[1].t;
  ac_op amax = max ? AC_G_AMAX : AC_G_AMIN;
  if (r->args[1].absent) return ac_rule_give(r, AP(r, amax, r->args[0]));
  const bool number =
      other->weak && (other->def->op == AC_G_CONST || other->def->op == AC_G_SIZE) && other->dtype != AC_BOOL;
  if (!number) return ac_rule_give(r, AP(r, max ? AC_G_MAXIMUM : AC_G_MINIMUM, r->args[0], A_T(other)));
  const ac_arg *n = &other->def->args[0];
  if (!n->i) return ac_rule_fail(r, AC0304, "use clamp to limit by a number", "a float is no dimension");
  ac_value **o = AC_NEW_N(r->g->arena, ac_value *, 2);
  o[0] = AP(r, amax, r->args[0], A_I(n->i), r->args[2]);
  ac_value *x = r->args[0].t;
  if (x->dtype == AC_BOOL) x = cast_to(r, x, AC_U8); /* argmax refuses bools, max with a dimension does not */
  if (o[0]) o[1] = AP(r, max ? AC_G_ARGMAX : AC_G_ARGMIN, A_T(x), A_I(n->i), r->args[2]);
  return ac_rule_give_all(r, o, 2);
}

static ac_value *var_like(ac_rule *r) {
  return AP(r, AC_G_VAR, r->args[0], r->args[1], r->args[2], r->args[3], r->args[4]);
}

static bool var_mean(ac_rule *r) {
  ac_value **o = AC_NEW_N(r->g->arena, ac_value *, 2);
  o[0] = var_like(r);
  o[1] = AP(r, AC_G_MEAN, r->args[0], r->args[1], r->args[3]);
  return ac_rule_give_all(r, o, 2);
}

static ac_arg number_arg(double v) {
  return (ac_arg){.kind = AC_K_SCALAR, .f = v};
}

/* torch.norm: 'fro' and None are the 2-norm over the given (or all) dimensions. */
static bool torch_norm(ac_rule *r) {
  ac_arg p = r->args[1];
  if (p.kind == AC_K_STR && !s_eq(p.s, "fro"))
    return ac_rule_fail(r, AC0311, "use p='fro' or a number", "p='%s' needs singular values", p.s);
  if (p.absent || p.kind == AC_K_STR) p = number_arg(2);
  return ac_rule_give(r, AP(r, AC_G_NORM, r->args[0], p, r->args[2], r->args[3], r->args[4]));
}

/* Matrix norms of order 1 and inf: the largest (smallest, for the negative ones) sum of absolute values along one dimension. */
static bool matrix_norm(ac_rule *r, const ac_sym **dims, int n) {
  ac_value *x = r->args[0].t;
  double ord = r->args[1].f;
  int a, b;
  bool inf = isinf(ord);
  if (n != 2 || (!inf && fabs(ord) != 1))
    return ac_rule_fail(r, AC0311, "use a vector norm, 'fro', 1 or inf",
                        "order %g over %d dimensions needs singular values", ord, n);
  if (!ac_rule_dim_of(r, dims[0], x->rank, &a) || !ac_rule_dim_of(r, dims[1], x->rank, &b)) return false;
  if (a == b) return ac_rule_fail(r, AC0302, "name two different dimensions", "dimension %d appears twice", a);
  /* order inf adds along the second dimension */
  const ac_sym **along = AC_NEW_N(r->g->arena, const ac_sym *, 2);
  along[0] = dims[inf ? 1 : 0];
  along[1] = dims[inf ? 0 : 1];
  ac_value *s = AP(r, AC_G_SUM, A_T(AP(r, AC_G_ABS, A_T(x))), A_IS(along, 1), A_B(true), r->args[4]);
  s = AP(r, ord > 0 ? AC_G_AMAX : AC_G_AMIN, A_T(s), A_IS(along + 1, 1), A_B(true));
  if (r->args[3].b || !s) return ac_rule_give(r, s);
  return ac_rule_give(r, AP(r, AC_G_SQUEEZE, A_T(s), A_IS(dims, 2)));
}

static bool linalg_norm(ac_rule *r) {
  ac_value *x = r->args[0].t;
  const ac_arg *ord = &r->args[1], *dim = &r->args[2];
  bool word = ord->kind == AC_K_STR && !ord->absent;
  if (word && !s_eq(ord->s, "fro"))
    return ac_rule_fail(r, AC0311, "use 'fro' or a number", "ord='%s' needs singular values", ord->s);
  int n = dim->absent ? x->rank : dim->n;
  if (!ord->absent && dim->absent && x->rank > 2)
    return ac_rule_fail(r, AC0304, "pass dim", "an order needs 1 or 2 dimensions, got %s", ac_value_text(r, x));
  if (!ord->absent && (n > 2 || (word && n != 2)))
    return ac_rule_fail(r, AC0304, NULL, "this order does not work over %d dimensions", n);
  if (!ord->absent && !word && n == 2) {
    const ac_sym *both[2] = {sym(r, -2), sym(r, -1)};
    const ac_sym **keep = AC_NEW_N(r->g->arena, const ac_sym *, 2);
    memcpy(keep, dim->absent ? both : (const ac_sym *const *)dim->is, sizeof both);
    return matrix_norm(r, keep, 2);
  }
  ac_arg p = ord->absent || word ? number_arg(2) : *ord;
  return ac_rule_give(r, AP(r, AC_G_NORM, A_T(x), p, *dim, r->args[3], r->args[4]));
}

static bool normalize(ac_rule *r) {
  ac_value *x = r->args[0].t;
  const ac_sym **d = AC_NEW_N(r->g->arena, const ac_sym *, 1);
  d[0] = r->args[2].i;
  ac_value *n = AP(r, AC_G_NORM, A_T(x), r->args[1], A_IS(d, 1), A_B(true));
  return ac_rule_give(r, AP(r, AC_G_DIV, A_T(x), A_T(AP(r, AC_G_MAXIMUM, A_T(n), scalar(r, r->args[3].f)))));
}

/* x / (k + alpha * mean of x^2 over `size` neighbouring channels)^beta; channels outside count as 0. */
static bool local_response_norm(ac_rule *r) {
  ac_value *x = r->args[0].t;
  int64_t size;
  if (x->rank < 3) return ac_rule_fail(r, AC0301, NULL, "needs at least 3 dimensions, got %s", ac_value_text(r, x));
  if (!ac_rule_int(r, 1, &size)) return false;
  if (size < 1) return ac_rule_fail(r, AC0304, NULL, "size must be at least 1, got %lld", (long long)size);
  int n = 2 * (x->rank - 1);
  const ac_sym **p = AC_NEW_N(r->g->arena, const ac_sym *, n);
  for (int i = 0; i < n; i++) p[i] = sym(r, i < n - 2 ? 0 : i == n - 2 ? size / 2 : (size - 1) / 2);
  const ac_sym **last = AC_NEW_N(r->g->arena, const ac_sym *, 1);
  last[0] = sym(r, -1);
  ac_value *w = AP(r, AC_G_PAD, A_T(AP(r, AC_G_MUL, A_T(x), A_T(x))), A_IS(p, n));
  w = AP(r, AC_G_UNFOLD, A_T(w), A_I(sym(r, 1)), A_I(sym(r, size)), A_I(sym(r, 1)));
  w = AP(r, AC_G_MEAN, A_T(w), A_IS(last, 1));
  w = AP(r, AC_G_ADD, A_T(AP(r, AC_G_MUL, A_T(w), scalar(r, r->args[2].f))), scalar(r, r->args[4].f));
  w = AP(r, AC_G_POW, A_T(w), scalar(r, r->args[3].f));
  return ac_rule_give(r, AP(r, AC_G_DIV, A_T(x), A_T(w)));
}

/* (sum of x^p in a window)^(1/p), with the sign and relu that PyTorch puts around a mean times the window. */
static bool lp_pool(ac_rule *r) {
  double p = r->args[1].f;
  const ac_arg *k = &r->args[2];
  ac_arg stride = A_NONE(), kernel = A_IS(AC_NEW_N(r->g->arena, const ac_sym *, 1), 1);
  kernel.is[0] = k->i;
  if (!r->args[3].absent) {
    stride = A_IS(AC_NEW_N(r->g->arena, const ac_sym *, 1), 1);
    stride.is[0] = r->args[3].i;
  }
  const ac_sym **none = AC_NEW_N(r->g->arena, const ac_sym *, 1);
  none[0] = sym(r, 0);
  ac_value *m = AP(r, AC_G_POW, r->args[0], scalar(r, p));
  m = AP(r, AC_G_AVG_POOL1D, A_T(m), kernel, stride, A_IS(none, 1), r->args[4]);
  ac_value *s = AP(r, AC_G_MUL, A_T(AP(r, AC_G_SIGN, A_T(m))), A_T(AP(r, AC_G_RELU, A_T(AP(r, AC_G_ABS, A_T(m))))));
  s = AP(r, AC_G_MUL, A_T(s), A_T(ac_graph_integer(r->g, k->i)));
  return ac_rule_give(r, AP(r, AC_G_POW, A_T(s), scalar(r, 1 / p)));
}

/* ---- products ---- */

static ac_value *transposed(ac_rule *r, ac_value *x) {
  return AP(r, AC_G_T, A_T(x));
}

static bool linear(ac_rule *r) {
  ac_value *w = r->args[1].t;
  if (w->rank > 2 || !w->rank)
    return ac_rule_fail(r, AC0301, NULL, "the weight must have 1 or 2 dimensions, got %s", ac_value_text(r, w));
  ac_value *y = AP(r, AC_G_MATMUL, r->args[0], A_T(transposed(r, w)));
  return ac_rule_give(r, r->args[2].absent || !y ? y : AP(r, AC_G_ADD, A_T(y), r->args[2]));
}

static bool outer(ac_rule *r) {
  ac_value *x = r->args[0].t, *y = r->args[1].t;
  if (x->rank != 1 || y->rank != 1)
    return ac_rule_fail(r, AC0301, "flatten them", "both operands must have one dimension: %s and %s",
                        ac_value_text(r, x), ac_value_text(r, y));
  return ac_rule_give(r, AP(r, AC_G_MUL, A_T(AP(r, AC_G_UNSQUEEZE, A_T(x), A_I(sym(r, 1)))), A_T(y)));
}

/* dot, and inner for one dimension each; more: sums over both last dimensions. */
static bool dot(ac_rule *r) {
  ac_value *x = r->args[0].t, *y = r->args[1].t;
  if (!x->rank || !y->rank) return ac_rule_give(r, AP(r, AC_G_MUL, A_T(x), A_T(y)));
  if (x->dtype != y->dtype)
    return ac_rule_fail(r, AC0303, "convert one of them first", "dtypes differ: %s and %s", ac_value_text(r, x),
                        ac_value_text(r, y));
  if (!ac_rule_equal(r, x->shape[x->rank - 1], y->shape[y->rank - 1], "dot: lengths"))
    return ac_rule_fail(r, AC0301, NULL, "last sizes of %s and %s differ", ac_value_text(r, x), ac_value_text(r, y));
  if (x->rank == 1 && y->rank == 1) return ac_rule_give(r, AP(r, AC_G_SUM, A_T(AP(r, AC_G_MUL, A_T(x), A_T(y)))));
  if (y->rank == 1) return ac_rule_give(r, AP(r, AC_G_MATMUL, A_T(x), A_T(y)));
  int rank = x->rank + y->rank - 2;
  if (rank > AC_MAX_RANK) return ac_rule_fail(r, AC0307, NULL, "too many dimensions");
  const ac_sym **flat = AC_NEW_N(r->g->arena, const ac_sym *, 2),
               **shape = AC_NEW_N(r->g->arena, const ac_sym *, rank);
  flat[0] = ac_numel(r->g, y->rank - 1, (const ac_sym *const *)y->shape);
  flat[1] = y->shape[y->rank - 1];
  memcpy(shape, x->shape, (size_t)(x->rank - 1) * sizeof *shape);
  memcpy(shape + x->rank - 1, y->shape, (size_t)(y->rank - 1) * sizeof *shape);
  ac_value *m = AP(r, AC_G_MATMUL, A_T(x), A_T(transposed(r, AP(r, AC_G_RESHAPE, A_T(y), A_IS(flat, 2)))));
  return ac_rule_give(r, AP(r, AC_G_RESHAPE, A_T(m), A_IS(shape, rank)));
}

/* ---- dispatch ---- */

bool ac_expand_math(ac_rule *r, bool *ok) {
  ac_arg *a = r->args;
  switch (r->op) {
  case AC_G_RSUB: *ok = ac_rule_give(r, AP(r, AC_G_SUB, a[1], a[0], a[2])); break;
  case AC_G_WHERE_METHOD: *ok = ac_rule_give(r, AP(r, AC_G_WHERE, a[1], a[0], a[2])); break;
  case AC_G_MASKED_FILL: *ok = masked_fill(r); break;
  case AC_G_CLAMP: *ok = clamp(r, &a[1], &a[2]); break;
  case AC_G_CLAMP_MIN: *ok = clamp(r, &a[1], NULL); break;
  case AC_G_CLAMP_MAX: *ok = clamp(r, NULL, &a[1]); break;
  case AC_G_LERP: *ok = lerp(r); break;
  case AC_G_ADDCMUL: *ok = addc(r, AC_G_MUL); break;
  case AC_G_ADDCDIV: *ok = addc(r, AC_G_DIV); break;
  case AC_G_PRELU: *ok = prelu(r); break;
  case AC_G_GLU: *ok = glu(r); break;
  case AC_G_RRELU: *ok = rrelu(r); break;
  case AC_G_MAX: *ok = max_min(r, true); break;
  case AC_G_MIN: *ok = max_min(r, false); break;
  case AC_G_STD: *ok = ac_rule_give(r, AP(r, AC_G_SQRT, A_T(var_like(r)))); break;
  case AC_G_VAR_MEAN: *ok = var_mean(r); break;
  case AC_G_TORCH_NORM: *ok = torch_norm(r); break;
  case AC_G_VECTOR_NORM: *ok = ac_rule_give(r, AP(r, AC_G_NORM, a[0], a[1], a[2], a[3], a[4])); break;
  case AC_G_LINALG_NORM: *ok = linalg_norm(r); break;
  case AC_G_NORMALIZE: *ok = normalize(r); break;
  case AC_G_SOFTMIN: *ok = ac_rule_give(r, AP(r, AC_G_SOFTMAX, A_T(AP(r, AC_G_NEG, a[0])), a[1], a[2], a[3])); break;
  case AC_G_LOCAL_RESPONSE_NORM: *ok = local_response_norm(r); break;
  case AC_G_LP_POOL1D: *ok = lp_pool(r); break;
  case AC_G_LINEAR: *ok = linear(r); break;
  case AC_G_OUTER: *ok = outer(r); break;
  case AC_G_DOT: *ok = dot(r); break;
  default: return false;
  }
  return true;
}

bool ac_rule_expand(ac_rule *r) {
  bool ok = false;
  if (ac_expand_math(r, &ok) || ac_expand_shape(r, &ok) || ac_expand_new(r, &ok) || ac_expand_loss(r, &ok) ||
      ac_expand_resize(r, &ok))
    return ok;
  return ac_rule_fail(r, AC0311, NULL, "has no expansion");
}

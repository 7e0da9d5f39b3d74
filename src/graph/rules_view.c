/* Shape rules of views, joins and padding. */
#include "graph/internal.h"

#include <string.h>

static const ac_sym *num(ac_rule *r, int64_t v) {
  return ac_sym_int(r->g, v);
}

static bool too_many(ac_rule *r, int rank) {
  if (rank <= AC_MAX_RANK) return false;
  ac_rule_fail(r, AC0307, "merge dimensions first", "a result of %d dimensions; %d are supported", rank, AC_MAX_RANK);
  return true;
}

/* ---- reshape ---- */

static bool reshape_mismatch(ac_rule *r, const ac_arg *want) {
  const ac_value *x = r->args[0].t;
  return ac_rule_fail(
      r, AC0305, "the number of elements must stay the same; -1 stands for one size that follows from the others",
      "%s does not fit shape %s", ac_value_text(r, x), ac_sizes_text(r, want->n, want->is));
}

/* The size that -1 stands for. PyTorch refuses it when the other sizes multiply to 0. */
static const ac_sym *missing_size(ac_rule *r, const ac_sym *numel, const ac_sym *others, const ac_arg *want) {
  ac_graph *g = r->g;
  if (!others->example) {
    ac_rule_fail(r, AC0305, "give every size", "-1 can be any size here: the other sizes of %s multiply to 0",
                 ac_sizes_text(r, want->n, want->is));
    return NULL;
  }
  ac_sym_guard(g, AC_GUARD_NE, others, num(r, 0), r->loc, "reshape: the sizes beside -1 must not multiply to 0");
  const ac_sym *rest = ac_sym_op(g, AC_SYM_MOD, numel, others);
  if (rest->example) {
    reshape_mismatch(r, want);
    return NULL;
  }
  ac_sym_guard(g, AC_GUARD_EQ, rest, num(r, 0), r->loc, "reshape: the number of elements must divide");
  return ac_sym_resolve(g, s_div(g, numel, others));
}

static bool reshape(ac_rule *r) {
  ac_graph *g = r->g;
  const ac_value *x = r->args[0].t;
  const ac_arg *want = &r->args[1];
  if (too_many(r, want->n)) return false;
  const ac_sym *numel = ac_sym_resolve(g, ac_numel(g, x->rank, x->shape)), *others = num(r, 1);
  int hole = -1;
  for (int i = 0; i < want->n; i++) {
    if (s_is(want->is[i], -1)) {
      if (hole >= 0) return ac_rule_fail(r, AC0304, "write the other sizes out", "only one size can be -1");
      hole = i;
      continue;
    }
    if (want->is[i]->example < 0)
      return ac_rule_fail(r, AC0304, "use -1 for the size to be found", "size %lld is negative",
                          (long long)want->is[i]->example);
    others = s_mul(g, others, want->is[i]);
  }
  ac_rule_set(&r->out[0], x->dtype, want->n, want->is);
  r->n_out = 1;
  if (hole >= 0) return (r->out[0].shape[hole] = missing_size(r, numel, others, want)) != NULL;
  others = ac_sym_resolve(g, others);
  if (numel->example != others->example) return reshape_mismatch(r, want);
  ac_sym_cancel(g, &numel, &others);
  ac_sym_guard(g, AC_GUARD_EQ, numel, others, r->loc, "reshape: the number of elements must stay the same");
  return true;
}

/* ---- permute, expand ---- */

static bool permute(ac_rule *r) {
  const ac_value *x = r->args[0].t;
  const ac_arg *p = &r->args[1];
  bool seen[AC_MAX_RANK] = {0};
  if (p->n != x->rank)
    return ac_rule_fail(r, AC0302, "name every dimension once", "%d dimension%s given for %s", p->n,
                        p->n == 1 ? "" : "s", ac_value_text(r, x));
  for (int i = 0; i < p->n; i++) {
    int d;
    if (!ac_rule_dim_of(r, p->is[i], x->rank, &d)) return false;
    if (seen[d]) return ac_rule_fail(r, AC0302, "name every dimension once", "dimension %d appears twice", d);
    seen[d] = true;
    r->out[0].shape[i] = x->shape[d];
  }
  r->out[0].dtype = x->dtype;
  r->out[0].rank = x->rank;
  r->n_out = 1;
  return true;
}

/* `have` seen as size `want`. */
static const ac_sym *expand_dim(ac_rule *r, const ac_sym *have, const ac_sym *want, int dim) {
  ac_graph *g = r->g;
  if (s_is(want, -1) || ac_sym_equal(g, have, want)) return have;
  if (s_is(have, 1)) return want;
  const char *why = ac_sprintf(g->arena, "expand: dimension %d", dim);
  if (ac_rule_equal(r, have, want, why)) return want;
  if (have->example != 1) return NULL;
  ac_sym_guard(g, AC_GUARD_EQ, have, num(r, 1), r->loc, why);
  return want;
}

static bool expand(ac_rule *r) {
  const ac_value *x = r->args[0].t;
  const ac_arg *w = &r->args[1];
  int lead = w->n - x->rank;
  if (too_many(r, w->n)) return false;
  if (lead < 0)
    return ac_rule_fail(r, AC0301, "expand adds dimensions in front, it never drops any", "%d sizes for %s", w->n,
                        ac_value_text(r, x));
  for (int i = 0; i < w->n; i++) {
    bool fresh = i < lead;
    if (fresh && w->is[i]->example < 0)
      return ac_rule_fail(r, AC0304, "-1 keeps the size of a dimension that is there; write the size of a new one",
                          "new dimension %d has no size", i);
    const ac_sym *want = w->is[i], *have = fresh ? want : x->shape[i - lead];
    const ac_sym *s = fresh ? want : expand_dim(r, have, want, i);
    if (!s && have && want)
      return ac_rule_fail(r, AC0301, "only dimensions of size 1 can be expanded",
                          "%s cannot expand to %s: dimension %d is %lld, not 1 or %lld", ac_value_text(r, x),
                          ac_sizes_text(r, w->n, w->is), i, (long long)have->example, (long long)want->example);
    r->out[0].shape[i] = s;
  }
  r->out[0].dtype = x->dtype;
  r->out[0].rank = w->n;
  r->n_out = 1;
  return true;
}

/* ---- slices ---- */

/* One end of a slice of a dimension of size n: Python's meaning of negative ends, PyTorch's clamping. Which side of the clamp
 * holds is a guard, so that the result's size stays a plain expression. */
static const ac_sym *slice_end(ac_rule *r, const ac_sym *n, const ac_sym *s) {
  ac_graph *g = r->g;
  const int64_t far = INT64_C(1) << 62; /* x[:sys.maxsize] */
  int64_t v;
  if (ac_sym_is_const(s, &v) && (v > far || v < -far)) return v > 0 ? n : num(r, 0);
  const char *why = "slice: which side of its ends a dimension is on";
  if (ac_sym_guard(g, AC_GUARD_LT, s, num(r, 0), r->loc, why)) {
    s = s_add(g, n, s);
    return ac_sym_guard(g, AC_GUARD_LE, num(r, 0), s, r->loc, why) ? s : num(r, 0);
  }
  return ac_sym_guard(g, AC_GUARD_LE, s, n, r->loc, why) ? s : n;
}

bool ac_slice_range(ac_rule *r, const ac_sym *n, const ac_arg *start, const ac_arg *end, int64_t step,
                    const ac_sym **from, const ac_sym **len) {
  ac_graph *g = r->g;
  if (step < 1)
    return ac_rule_fail(r, AC0304, "use flip for the other direction", "a slice's step must be at least 1, got %lld",
                        (long long)step);
  *from = start->absent ? num(r, 0) : slice_end(r, n, start->i);
  const ac_sym *to = end->absent ? n : slice_end(r, n, end->i);
  if (ac_sym_guard(g, AC_GUARD_LE, *from, to, r->loc, "slice: the start is not behind the end"))
    *len = ac_sym_resolve(g, s_div(g, s_addi(g, ac_sym_sub(g, to, *from), step - 1), num(r, step)));
  else
    *len = num(r, 0);
  return true;
}

static bool scalar_has_no_dims(ac_rule *r, const ac_value *x) {
  return x->rank || ac_rule_fail(r, AC0302, "give it a dimension with unsqueeze first",
                                 "a tensor without dimensions cannot be indexed");
}

static bool slice(ac_rule *r) {
  const ac_value *x = r->args[0].t;
  int d;
  int64_t step;
  const ac_sym *from, *len = NULL;
  if (!scalar_has_no_dims(r, x) || !ac_rule_dim(r, 1, x->rank, &d) || !ac_rule_int(r, 4, &step) ||
      !ac_slice_range(r, x->shape[d], &r->args[2], &r->args[3], step, &from, &len))
    return false;
  ac_rule_set(&r->out[0], x->dtype, x->rank, (const ac_sym *const *)x->shape);
  r->out[0].shape[d] = len;
  r->n_out = 1;
  return true;
}

/* -n <= index < n, guarded. */
static bool index_in_range(ac_rule *r, const ac_sym *i, const ac_sym *n, int dim) {
  ac_graph *g = r->g;
  if (i->example < n->example && i->example >= -n->example) {
    ac_sym_guard(g, AC_GUARD_LT, i, n, r->loc, "index must be inside its dimension");
    ac_sym_guard(g, AC_GUARD_LE, s_muli(g, n, -1), i, r->loc, "index must be inside its dimension");
    return true;
  }
  return ac_rule_fail(r, AC0302, NULL, "index %lld is out of range for dimension %d of size %lld",
                      (long long)i->example, dim, (long long)n->example);
}

static bool select_dim(ac_rule *r) {
  const ac_value *x = r->args[0].t;
  int d;
  if (!scalar_has_no_dims(r, x) || !ac_rule_dim(r, 1, x->rank, &d) ||
      !index_in_range(r, r->args[2].i, x->shape[d], d))
    return false;
  for (int i = 0, n = 0; i < x->rank; i++)
    if (i != d) r->out[0].shape[n++] = x->shape[i];
  r->out[0].dtype = x->dtype;
  r->out[0].rank = x->rank - 1;
  r->n_out = 1;
  return true;
}

static bool unsqueeze(ac_rule *r) {
  const ac_value *x = r->args[0].t;
  int d;
  if (too_many(r, x->rank + 1) || !ac_rule_dim(r, 1, x->rank + 1, &d)) return false;
  for (int i = 0, n = 0; i <= x->rank; i++) r->out[0].shape[i] = i == d ? num(r, 1) : x->shape[n++];
  r->out[0].dtype = x->dtype;
  r->out[0].rank = x->rank + 1;
  r->n_out = 1;
  return true;
}

/* A list of dimensions: PyTorch 2.0. */
static bool squeeze(ac_rule *r) {
  const ac_value *x = r->args[0].t;
  bool dims[AC_MAX_RANK];
  if (!ac_rule_dims(r, 1, x->rank, dims)) return false;
  if (!r->args[1].absent && !r->args[1].n) memset(dims, 0, sizeof dims); /* an empty list squeezes nothing */
  r->out[0].dtype = x->dtype;
  for (int i = 0; i < x->rank; i++) {
    bool gone =
        dims[i] && ac_sym_guard(r->g, AC_GUARD_EQ, x->shape[i], num(r, 1), r->loc, "squeeze: is the dimension 1?");
    if (!gone) r->out[0].shape[r->out[0].rank++] = x->shape[i];
  }
  r->n_out = 1;
  return true;
}

static bool diagonal(ac_rule *r) {
  ac_graph *g = r->g;
  const ac_value *x = r->args[0].t;
  int64_t off;
  int a, b;
  if (x->rank < 2) return ac_rule_fail(r, AC0302, NULL, "needs at least 2 dimensions, got %s", ac_value_text(r, x));
  if (!ac_rule_int(r, 1, &off) || !ac_rule_dim(r, 2, x->rank, &a) || !ac_rule_dim(r, 3, x->rank, &b)) return false;
  if (a == b) return ac_rule_fail(r, AC0302, "name two different dimensions", "dim1 and dim2 are both %d", a);
  const ac_sym *rows = s_addi(g, x->shape[a], off < 0 ? off : 0),
               *cols = s_addi(g, x->shape[b], off > 0 ? -off : 0); /* off > 0: its negative exists */
  const char *why = "diagonal: which side is shorter";
  const ac_sym *len = ac_sym_guard(g, AC_GUARD_LE, rows, cols, r->loc, why) ? rows : cols;
  if (!ac_sym_guard(g, AC_GUARD_LE, num(r, 0), len, r->loc, why)) len = num(r, 0);
  for (int i = 0; i < x->rank; i++)
    if (i != a && i != b) r->out[0].shape[r->out[0].rank++] = x->shape[i];
  r->out[0].shape[r->out[0].rank++] = len;
  r->out[0].dtype = x->dtype;
  r->n_out = 1;
  return true;
}

static bool unfold(ac_rule *r) {
  ac_graph *g = r->g;
  const ac_value *x = r->args[0].t;
  int64_t step;
  int d;
  if (too_many(r, x->rank + 1) || !ac_rule_dim(r, 1, x->rank, &d) || !ac_rule_int(r, 3, &step)) return false;
  const ac_sym *n = x->rank ? x->shape[d] : num(r, 1), *size = r->args[2].i;
  if (step < 1) return ac_rule_fail(r, AC0304, NULL, "step must be at least 1, got %lld", (long long)step);
  if (size->example < 0 || !ac_rule_le(r, size, n, "unfold: a window must fit"))
    return ac_rule_fail(r, AC0304, "use a smaller window", "a window of %lld in dimension %d of %s",
                        (long long)size->example, d, ac_value_text(r, x));
  ac_rule_set(&r->out[0], x->dtype, x->rank, (const ac_sym *const *)x->shape);
  if (x->rank) r->out[0].shape[d] = s_addi(g, s_div(g, ac_sym_sub(g, n, size), num(r, step)), 1);
  r->out[0].shape[r->out[0].rank++] = size;
  r->n_out = 1;
  return true;
}

bool ac_rule_view(ac_rule *r) {
  switch (r->op) {
  case AC_G_RESHAPE: return reshape(r);
  case AC_G_PERMUTE: return permute(r);
  case AC_G_EXPAND: return expand(r);
  case AC_G_SLICE: return slice(r);
  case AC_G_SELECT: return select_dim(r);
  case AC_G_UNSQUEEZE: return unsqueeze(r);
  case AC_G_SQUEEZE: return squeeze(r);
  case AC_G_DIAGONAL: return diagonal(r);
  case AC_G_UNFOLD: return unfold(r);
  default: return false;
  }
}

/* ---- joins ---- */

/* A tensor of shape [0] joins anything and adds nothing (PyTorch keeps this for old code). */
static bool legacy_empty(ac_rule *r, const ac_value *v, int rank) {
  return v->rank == 1 && rank != 1 && ac_rule_equal(r, v->shape[0], num(r, 0), "cat: an empty vector adds nothing");
}

static bool cat(ac_rule *r) {
  ac_graph *g = r->g;
  const ac_arg *a = &r->args[0];
  int d;
  if (!a->n) return ac_rule_fail(r, AC0304, NULL, "the list of tensors is empty");
  const ac_value *first = a->ts[0];
  for (int i = 0; i < a->n; i++)
    if (a->ts[i]->rank != 1 || a->ts[i]->shape[0]->example) {
      first = a->ts[i];
      break;
    }
  if (!first->rank) return ac_rule_fail(r, AC0301, "use stack", "tensors without dimensions cannot be joined");
  if (!ac_rule_dim(r, 1, first->rank, &d)) return false;
  ac_rule_set(&r->out[0], ac_promote_values(a->ts, a->n), first->rank, (const ac_sym *const *)first->shape);
  const ac_sym *sum = num(r, 0);
  for (int i = 0; i < a->n; i++) {
    const ac_value *v = a->ts[i];
    if (legacy_empty(r, v, first->rank)) continue;
    if (v->rank != first->rank)
      return ac_rule_fail(r, AC0301, "give all tensors the same number of dimensions",
                          "%s and %s have different ranks", ac_value_text(r, first), ac_value_text(r, v));
    for (int k = 0; k < v->rank; k++) {
      if (k == d) continue;
      if (!ac_rule_equal(r, first->shape[k], v->shape[k], "cat: sizes beside the joined dimension"))
        return ac_rule_fail(r, AC0301, "sizes must agree in every other dimension",
                            "%s and %s differ in dimension %d, and are joined along %d", ac_value_text(r, first),
                            ac_value_text(r, v), k, d);
      if (v->shape[k]->kind == AC_SYM_CONST) r->out[0].shape[k] = v->shape[k];
    }
    sum = s_add(g, sum, v->shape[d]);
  }
  if (r->out[0].dtype == AC_NODTYPE)
    return ac_rule_fail(r, AC0303, "convert them first", "the tensors' dtypes do not promote to a common one");
  r->out[0].shape[d] = sum;
  r->n_out = 1;
  return true;
}

static bool pad_limits(ac_rule *r, const char *mode, const ac_sym *n, const ac_sym *p, int dim) {
  bool reflect = s_eq(mode, "reflect"), circular = s_eq(mode, "circular");
  const ac_sym *most = reflect ? s_addi(r->g, n, -1) : n;
  if ((reflect || circular) &&
      !ac_rule_le(r, p, most, ac_sprintf(r->g->arena, "pad: %s padding is limited by the size", mode)))
    return ac_rule_fail(r, AC0304, "pad less, or with mode='constant'",
                        "%s padding of %lld in dimension %d of size %lld", mode, (long long)p->example, dim,
                        (long long)n->example);
  return true;
}

static bool pad(ac_rule *r) {
  ac_graph *g = r->g;
  const ac_value *x = r->args[0].t;
  const ac_arg *p = &r->args[1];
  const char *mode = r->args[2].s;
  const bool constant = s_eq(mode, "constant");
  if (!constant && !s_eq(mode, "reflect") && !s_eq(mode, "replicate") && !s_eq(mode, "circular"))
    return ac_rule_fail(r, AC0304, "use constant, reflect, replicate or circular", "mode '%s' is unknown", mode);
  int k = p->n / 2;
  if (p->n % 2 || k > x->rank)
    return ac_rule_fail(r, AC0304, "give two numbers a dimension, the last dimension first",
                        "%d padding sizes for %s", p->n, ac_value_text(r, x));
  if (!constant && (k < 1 || k > 3 || (x->rank != k + 1 && x->rank != k + 2)))
    return ac_rule_fail(r, AC0304, "pad the last 1, 2 or 3 dimensions of a tensor with 1 or 2 more",
                        "%s padding of %d dimension%s of %s", mode, k, k == 1 ? "" : "s", ac_value_text(r, x));
  if (s_eq(mode, "circular") && x->rank != k + 2)
    return ac_rule_fail(r, AC0304, "add a batch dimension with unsqueeze",
                        "circular padding needs all dimensions but the first two, got %s", ac_value_text(r, x));
  ac_rule_set(&r->out[0], x->dtype, x->rank, (const ac_sym *const *)x->shape);
  for (int i = 0; i < k; i++) {
    int d = x->rank - 1 - i;
    const ac_sym *lo = p->is[2 * i], *hi = p->is[2 * i + 1], *n = x->shape[d];
    const ac_sym *out = s_add(g, s_add(g, n, lo), hi);
    if (!pad_limits(r, mode, n, lo, d) || !pad_limits(r, mode, n, hi, d)) return false;
    if (!ac_rule_le(r, num(r, 0), out, "pad: the result's size"))
      return ac_rule_fail(r, AC0304, "crop less", "padding %lld and %lld leaves nothing of dimension %d of size %lld",
                          (long long)lo->example, (long long)hi->example, d, (long long)n->example);
    r->out[0].shape[d] = out;
  }
  r->n_out = 1;
  return true;
}

bool ac_rule_join(ac_rule *r) {
  return r->op == AC_G_CAT ? cat(r) : pad(r);
}

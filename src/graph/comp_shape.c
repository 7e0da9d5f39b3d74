/* C_COMP rows that change shapes, index, or create. */
#include "graph/internal.h"

#include <string.h>

static const ac_sym *num(ac_rule *r, int64_t v) {
  return ac_sym_int(r->g, v);
}

static const ac_sym **sizes(ac_rule *r, int n) {
  return AC_NEW_N(r->g->arena, const ac_sym *, n);
}

/* ---- permutations ---- */

static bool permute_to(ac_rule *r, ac_value *x, const int *order) {
  const ac_sym **p = sizes(r, x->rank);
  for (int i = 0; i < x->rank; i++) p[i] = num(r, order[i]);
  return ac_rule_give(r, AP(r, AC_G_PERMUTE, A_T(x), A_IS(p, x->rank)));
}

static bool swap_dims(ac_rule *r, ac_value *x, int a, int b) {
  int order[AC_MAX_RANK];
  for (int i = 0; i < x->rank; i++) order[i] = i == a ? b : i == b ? a : i;
  return permute_to(r, x, order);
}

static bool transpose(ac_rule *r) {
  ac_value *x = r->args[0].t;
  int a, b;
  if (!ac_rule_dim(r, 1, x->rank, &a) || !ac_rule_dim(r, 2, x->rank, &b)) return false;
  return swap_dims(r, x, a, b);
}

static bool matrix_t(ac_rule *r) {
  ac_value *x = r->args[0].t;
  if (x->rank > 2)
    return ac_rule_fail(r, AC0301, "use .transpose(-1, -2) or .mT", "takes at most 2 dimensions, got %s",
                        ac_value_text(r, x));
  return x->rank == 2 ? swap_dims(r, x, 0, 1) : permute_to(r, x, (int[]){0});
}

static bool movedim(ac_rule *r) {
  ac_value *x = r->args[0].t;
  const ac_arg *s = &r->args[1], *d = &r->args[2];
  int order[AC_MAX_RANK], from[AC_MAX_RANK];
  bool used[AC_MAX_RANK] = {0};
  if (s->n != d->n || s->n > x->rank)
    return ac_rule_fail(r, AC0304, "name as many destinations as sources", "%d sources and %d destinations", s->n,
                        d->n);
  for (int i = 0; i < x->rank; i++) order[i] = -1;
  for (int i = 0; i < s->n; i++) {
    int to;
    if (!ac_rule_dim_of(r, s->is[i], x->rank, &from[i]) || !ac_rule_dim_of(r, d->is[i], x->rank, &to)) return false;
    if (used[from[i]] || order[to] >= 0)
      return ac_rule_fail(r, AC0304, "name every dimension once", "a dimension appears twice");
    used[from[i]] = true;
    order[to] = from[i];
  }
  for (int i = 0, next = 0; i < x->rank; i++) {
    if (order[i] >= 0) continue;
    while (used[next]) next++;
    order[i] = next++;
  }
  return permute_to(r, x, order);
}

/* ---- reshapes ---- */

static ac_value *reshape(ac_rule *r, ac_value *x, const ac_sym **s, int n) {
  return AP(r, AC_G_RESHAPE, A_T(x), A_IS(s, n));
}

static bool flatten(ac_rule *r) {
  ac_value *x = r->args[0].t;
  int a, b, n = 0;
  if (!ac_rule_dim(r, 1, x->rank, &a) || !ac_rule_dim(r, 2, x->rank, &b)) return false;
  if (a > b) return ac_rule_fail(r, AC0302, "swap them", "start_dim %d is behind end_dim %d", a, b);
  const ac_sym **s = sizes(r, x->rank + 1);
  for (int i = 0; i < a; i++) s[n++] = x->shape[i];
  s[n++] = x->rank ? ac_numel(r->g, b - a + 1, (const ac_sym *const *)x->shape + a) : num(r, 1);
  for (int i = b + 1; i < x->rank; i++) s[n++] = x->shape[i];
  return ac_rule_give(r, reshape(r, x, s, n));
}

static bool unflatten(ac_rule *r) {
  ac_graph *g = r->g;
  ac_value *x = r->args[0].t;
  const ac_arg *u = &r->args[2];
  int d, n = 0;
  if (!x->rank || !u->n) return ac_rule_fail(r, AC0304, NULL, "needs a dimension and sizes to split it into");
  if (!ac_rule_dim(r, 1, x->rank, &d)) return false;
  /* -1 is resolved against this dimension alone, so that an empty batch is no trouble */
  const ac_sym *others = num(r, 1), *hole = NULL;
  for (int i = 0; i < u->n; i++)
    if (!s_is(u->is[i], -1)) others = s_mul(g, others, u->is[i]);
  if (others->example && x->shape[d]->example % others->example == 0) hole = s_div(g, x->shape[d], others);
  const ac_sym **s = sizes(r, x->rank + u->n);
  for (int i = 0; i < d; i++) s[n++] = x->shape[i];
  const ac_sym *product = num(r, 1);
  for (int i = 0; i < u->n; i++) {
    s[n] = s_is(u->is[i], -1) && hole ? hole : u->is[i];
    product = s_mul(g, product, s[n++]);
  }
  if (product->example != x->shape[d]->example)
    return ac_rule_fail(r, AC0305, "the sizes must multiply to the dimension's",
                        "sizes %s do not multiply to dimension %d of %s", ac_sizes_text(r, u->n, u->is), d,
                        ac_value_text(r, x));
  ac_sym_guard(g, AC_GUARD_EQ, product, x->shape[d], r->loc, "unflatten: the sizes multiply to the dimension's");
  for (int i = d + 1; i < x->rank; i++) s[n++] = x->shape[i];
  return ac_rule_give(r, reshape(r, x, s, n));
}

static bool ravel(ac_rule *r) {
  ac_value *x = r->args[0].t;
  const ac_sym **s = sizes(r, 1);
  s[0] = ac_numel(r->g, x->rank, (const ac_sym *const *)x->shape);
  return ac_rule_give(r, reshape(r, x, s, 1));
}

/* ---- pieces ---- */

static ac_value *slice(ac_rule *r, ac_value *x, int d, const ac_sym *from, const ac_sym *to) {
  return AP(r, AC_G_SLICE, A_T(x), A_I(num(r, d)), A_I(from), A_I(to));
}

static bool narrow(ac_rule *r) {
  ac_graph *g = r->g;
  ac_value *x = r->args[0].t;
  int d;
  if (!x->rank) return ac_rule_fail(r, AC0302, NULL, "a tensor without dimensions cannot be narrowed");
  if (!ac_rule_dim(r, 1, x->rank, &d)) return false;
  const ac_sym *n = x->shape[d], *from = r->args[2].i, *len = r->args[3].i;
  if (from->example < 0) from = s_add(g, n, from);
  const ac_sym *to = s_add(g, from, len);
  if (len->example < 0 || from->example < 0 || !ac_rule_le(r, to, n, "narrow: the piece is inside"))
    return ac_rule_fail(r, AC0302, "stay inside the dimension", "start %lld and length %lld in dimension %d of %s",
                        (long long)r->args[2].i->example, (long long)len->example, d, ac_value_text(r, x));
  return ac_rule_give(r, AP(r, AC_G_SLICE, A_T(x), r->args[1], A_I(from), A_I(to)));
}

/* `count` pieces of `size` along d; the last takes what is left. */
static bool pieces(ac_rule *r, ac_value *x, int d, const ac_sym *size, int64_t count) {
  ac_graph *g = r->g;
  if (count > 4096) return ac_rule_fail(r, AC0311, "split into fewer pieces", "%lld pieces", (long long)count);
  ac_value **o = AC_NEW_N(g->arena, ac_value *, count);
  for (int64_t i = 0; i < count; i++) {
    const ac_sym *from = s_muli(g, size, i), *to = i == count - 1 ? x->shape[d] : s_muli(g, size, i + 1);
    o[i] = slice(r, x, d, from, to);
    if (!o[i]) return false;
  }
  return ac_rule_give_all(r, o, (int)count);
}

/* Pieces of a fixed size: their number is fixed by guards. */
static bool split_by(ac_rule *r, ac_value *x, int d, const ac_sym *size) {
  ac_graph *g = r->g;
  const ac_sym *n = x->shape[d];
  if (size->example < 0 || (!size->example && n->example))
    return ac_rule_fail(r, AC0304, "use a size of at least 1", "pieces of size %lld", (long long)size->example);
  int64_t count = n->example && size->example ? (n->example - 1) / size->example + 1 : 1;
  const char *why = ac_sprintf(g->arena, "%s: the number of pieces", ac_op_info(r->op)->id);
  if (count > 1) ac_sym_guard(g, AC_GUARD_LT, s_muli(g, size, count - 1), n, r->loc, why);
  ac_sym_guard(g, AC_GUARD_LE, n, s_muli(g, size, count), r->loc, why);
  return pieces(r, x, d, size, count);
}

static bool chunk(ac_rule *r) {
  ac_graph *g = r->g;
  ac_value *x = r->args[0].t;
  int64_t k;
  int d;
  if (!x->rank) return ac_rule_fail(r, AC0302, NULL, "a tensor without dimensions has no pieces");
  if (!ac_rule_int(r, 1, &k) || !ac_rule_dim(r, 2, x->rank, &d)) return false;
  if (k < 1) return ac_rule_fail(r, AC0304, NULL, "%lld chunks", (long long)k);
  const ac_sym *n = x->shape[d], *rest = ac_sym_op(g, AC_SYM_MOD, n, num(r, k));
  if (rest->example == 0) { /* equal chunks stay symbolic */
    ac_sym_guard(g, AC_GUARD_EQ, rest, num(r, 0), r->loc, "chunk: the chunks are equal");
    return pieces(r, x, d, ac_sym_resolve(g, s_div(g, n, num(r, k))), k);
  }
  return split_by(r, x, d, s_div(g, s_addi(g, n, k - 1), num(r, k)));
}

static bool split(ac_rule *r) {
  ac_graph *g = r->g;
  ac_value *x = r->args[0].t;
  const ac_arg *s = &r->args[1];
  int d;
  if (!x->rank) return ac_rule_fail(r, AC0302, NULL, "a tensor without dimensions has no pieces");
  if (!ac_rule_dim(r, 2, x->rank, &d)) return false;
  if (s->n == 1) return split_by(r, x, d, s->is[0]);
  const ac_sym *sum = num(r, 0);
  ac_value **o = AC_NEW_N(g->arena, ac_value *, s->n);
  for (int i = 0; i < s->n; i++) sum = s_add(g, sum, s->is[i]);
  if (!s->n || !ac_rule_equal(r, sum, x->shape[d], "split: the sizes add up"))
    return ac_rule_fail(r, AC0304, "the sizes must add up to the dimension's",
                        "sizes %s do not add up to dimension %d of %s", ac_sizes_text(r, s->n, s->is), d,
                        ac_value_text(r, x));
  const ac_sym *from = num(r, 0);
  for (int i = 0; i < s->n; i++) {
    const ac_sym *to = s_add(g, from, s->is[i]);
    if (!(o[i] = slice(r, x, d, from, to))) return false;
    from = to;
  }
  return ac_rule_give_all(r, o, s->n);
}

static bool unbind(ac_rule *r) {
  ac_value *x = r->args[0].t;
  int d;
  int64_t n;
  if (!x->rank) return ac_rule_fail(r, AC0302, NULL, "a tensor without dimensions has no entries");
  if (!ac_rule_dim(r, 1, x->rank, &d) || !ac_rule_pin(r, x->shape[d], "the number of entries", &n)) return false;
  if (n > 4096) return ac_rule_fail(r, AC0311, "work on the whole tensor", "%lld entries", (long long)n);
  ac_value **o = AC_NEW_N(r->g->arena, ac_value *, n);
  for (int64_t i = 0; i < n; i++)
    if (!(o[i] = AP(r, AC_G_SELECT, A_T(x), r->args[1], A_I(num(r, i))))) return false;
  return ac_rule_give_all(r, o, (int)n);
}

static bool stack(ac_rule *r) {
  const ac_arg *a = &r->args[0];
  int d;
  if (!a->n) return ac_rule_fail(r, AC0304, NULL, "the list of tensors is empty");
  if (!ac_rule_dim(r, 1, a->ts[0]->rank + 1, &d)) return false;
  ac_value **o = AC_NEW_N(r->g->arena, ac_value *, a->n);
  for (int i = 0; i < a->n; i++) {
    const ac_value *x = a->ts[0], *y = a->ts[i];
    bool same = x->rank == y->rank;
    for (int k = 0; same && k < x->rank; k++)
      same = ac_rule_equal(r, x->shape[k], y->shape[k], "stack: equal shapes");
    if (!same)
      return ac_rule_fail(r, AC0301, "stack needs equal shapes; use cat for others", "%s and %s differ",
                          ac_value_text(r, x), ac_value_text(r, y));
    if (!(o[i] = AP(r, AC_G_UNSQUEEZE, A_T(a->ts[i]), r->args[1]))) return false;
  }
  return ac_rule_give(r, AP(r, AC_G_CAT, A_TS(o, a->n), r->args[1]));
}

/* A vector becomes a matrix with it on a diagonal: spread over the rows, cut to the diagonal, and moved by padding. */
static bool diag(ac_rule *r) {
  ac_value *x = r->args[0].t;
  int64_t k;
  if (!ac_rule_int(r, 1, &k)) return false;
  if (x->rank == 2) return ac_rule_give(r, AP(r, AC_G_DIAGONAL, A_T(x), r->args[1]));
  if (x->rank != 1)
    return ac_rule_fail(r, AC0302, "use diagonal for more", "takes 1 or 2 dimensions, got %s", ac_value_text(r, x));
  const ac_sym **s = sizes(r, 2), **p = sizes(r, 4);
  s[0] = s[1] = x->shape[0];
  ac_value *m = AP(r, AC_G_TRIL, A_T(AP(r, AC_G_TRIU, A_T(AP(r, AC_G_EXPAND, A_T(x), A_IS(s, 2))))));
  if (!k) return ac_rule_give(r, m);
  if (k == INT64_MIN) return ac_rule_fail(r, AC0304, NULL, "diagonal %lld is out of reach", (long long)k);
  p[0] = num(r, k > 0 ? k : 0);  /* columns in front */
  p[1] = num(r, k < 0 ? -k : 0); /* columns behind */
  p[2] = p[1];                   /* rows above */
  p[3] = p[0];
  return ac_rule_give(r, AP(r, AC_G_PAD, A_T(m), A_IS(p, 4)));
}

/* ---- indexing ---- */

/* Both broadcast in every dimension but d, then gather. Without a dimension both are flat. */
static bool take_along_dim(ac_rule *r) {
  ac_value *x = r->args[0].t, *i = r->args[1].t;
  int d;
  if (r->args[2].absent) {
    ac_value *fx = AP(r, AC_G_RAVEL, A_T(x)), *fi = AP(r, AC_G_RAVEL, A_T(i));
    return ac_rule_give(r, AP(r, AC_G_GATHER, A_T(fx), A_I(num(r, 0)), A_T(fi)));
  }
  if (x->rank != i->rank)
    return ac_rule_fail(r, AC0301, NULL, "%s and indices %s need the same number of dimensions", ac_value_text(r, x),
                        ac_value_text(r, i));
  if (!ac_rule_dim(r, 2, x->rank, &d)) return false;
  const ac_sym **sx = sizes(r, x->rank), **si = sizes(r, x->rank);
  ac_value vx = *x, vi = *i;
  for (int k = 0; k < x->rank; k++) { /* dimension by dimension, so that d keeps its own sizes */
    vx.rank = vi.rank = 1;
    vx.shape = &x->shape[k];
    vi.shape = &i->shape[k];
    ac_type t = ac_type_of(&vx);
    if (k != d && !ac_rule_broadcast(r, &t, &vi)) return false;
    sx[k] = t.shape[0];
    si[k] = k == d ? i->shape[k] : t.shape[0];
  }
  ac_value *ex = AP(r, AC_G_EXPAND, A_T(x), A_IS(sx, x->rank)), *ei = AP(r, AC_G_EXPAND, A_T(i), A_IS(si, x->rank));
  return ac_rule_give(r, AP(r, AC_G_GATHER, A_T(ex), r->args[2], A_T(ei)));
}

static bool one_hot(ac_rule *r) {
  ac_value *x = r->args[0].t;
  if (x->dtype != AC_I64)
    return ac_rule_fail(r, AC0303, "convert it with .long()", "takes int64 class numbers, got %s",
                        ac_value_text(r, x));
  if (s_is(r->args[1].i, -1))
    return ac_rule_fail(r, AC0313, "pass num_classes", "without num_classes the result's size depends on the data");
  if (r->args[1].i->example < 1)
    return ac_rule_fail(r, AC0304, NULL, "%lld classes", (long long)r->args[1].i->example);
  const ac_arg zero = {.kind = AC_K_INT, .i = num(r, 0)};
  ac_value *classes = AP(r, AC_G_ARANGE, zero, r->args[1]);
  ac_value *eq = AP(r, AC_G_EQ, A_T(AP(r, AC_G_UNSQUEEZE, A_T(x), A_I(num(r, -1)))), A_T(classes));
  return ac_rule_give(r, AP(r, AC_G_CAST, A_T(eq), A_D(AC_I64)));
}

static bool index_fill(ac_rule *r) {
  ac_value *x = r->args[0].t, *i = r->args[2].t, *v = r->args[3].t;
  int d;
  if (v->rank) return ac_rule_fail(r, AC0301, NULL, "the value must have no dimensions, got %s", ac_value_text(r, v));
  if (!ac_rule_dim(r, 1, x->rank, &d)) return false;
  const ac_sym **s = sizes(r, x->rank);
  for (int k = 0; k < x->rank; k++) s[k] = k == d ? (i->rank ? i->shape[0] : num(r, 1)) : x->shape[k];
  ac_value *source = AP(r, AC_G_EXPAND, A_T(AP(r, AC_G_CAST, A_T(v), A_D(x->dtype))), A_IS(s, x->rank));
  return ac_rule_give(r, AP(r, AC_G_INDEX_COPY, A_T(x), r->args[1], A_T(i), A_T(source)));
}

static bool argsort(ac_rule *r) {
  int n;
  ac_value **o = ac_sub_all(r, AC_G_SORT, r->args, 4, &n);
  return o && ac_rule_give(r, o[1]);
}

static ac_arg shape_of(const ac_value *v) {
  return A_IS(v->shape, v->rank);
}

bool ac_expand_shape(ac_rule *r, bool *ok) {
  ac_arg *a = r->args;
  switch (r->op) {
  case AC_G_TRANSPOSE: *ok = transpose(r); break;
  case AC_G_T: *ok = matrix_t(r); break;
  case AC_G_MOVEDIM: *ok = movedim(r); break;
  case AC_G_FLATTEN: *ok = flatten(r); break;
  case AC_G_UNFLATTEN: *ok = unflatten(r); break;
  case AC_G_RAVEL: *ok = ravel(r); break;
  case AC_G_NARROW: *ok = narrow(r); break;
  case AC_G_VIEW_AS: *ok = ac_rule_give(r, AP(r, AC_G_RESHAPE, a[0], shape_of(a[1].t))); break;
  case AC_G_EXPAND_AS: *ok = ac_rule_give(r, AP(r, AC_G_EXPAND, a[0], shape_of(a[1].t))); break;
  case AC_G_CHUNK: *ok = chunk(r); break;
  case AC_G_SPLIT: *ok = split(r); break;
  case AC_G_UNBIND: *ok = unbind(r); break;
  case AC_G_STACK: *ok = stack(r); break;
  case AC_G_DIAG: *ok = diag(r); break;
  case AC_G_TAKE_ALONG_DIM: *ok = take_along_dim(r); break;
  case AC_G_ONE_HOT: *ok = one_hot(r); break;
  case AC_G_INDEX_FILL: *ok = index_fill(r); break;
  case AC_G_ARGSORT: *ok = argsort(r); break;
  default: return false;
  }
  return true;
}

/* ---- creation ---- */

static ac_arg dtype_or(const ac_arg *a, ac_dtype d) {
  return a->absent ? A_D(d) : *a;
}

static ac_arg fill(ac_rule *r, int64_t v) {
  return (ac_arg){.kind = AC_K_SCALAR, .is_int = true, .i = num(r, v), .f = (double)v};
}

static ac_value *full(ac_rule *r, ac_arg size, ac_arg value, ac_arg dtype) {
  return AP(r, AC_G_FULL, size, value, dtype);
}

bool ac_expand_new(ac_rule *r, bool *ok) {
  ac_arg *a = r->args;
  const ac_value none = {.dtype = AC_F32}; /* for the rows that take sizes */
  const ac_value *x = a[0].kind == AC_K_TENSOR && a[0].t ? a[0].t : &none;
  ac_value *v = NULL;
  switch (r->op) {
  case AC_G_FULL_LIKE: v = full(r, shape_of(x), a[1], dtype_or(&a[2], x->dtype)); break;
  case AC_G_ZEROS:
  case AC_G_EMPTY: v = full(r, a[0], fill(r, 0), dtype_or(&a[1], AC_F32)); break;
  case AC_G_ONES: v = full(r, a[0], fill(r, 1), dtype_or(&a[1], AC_F32)); break;
  case AC_G_ZEROS_LIKE:
  case AC_G_EMPTY_LIKE: v = full(r, shape_of(x), fill(r, 0), dtype_or(&a[1], x->dtype)); break;
  case AC_G_ONES_LIKE: v = full(r, shape_of(x), fill(r, 1), dtype_or(&a[1], x->dtype)); break;
  case AC_G_NEW_ZEROS: v = full(r, a[1], fill(r, 0), dtype_or(&a[2], x->dtype)); break;
  case AC_G_NEW_ONES: v = full(r, a[1], fill(r, 1), dtype_or(&a[2], x->dtype)); break;
  case AC_G_NEW_FULL: v = full(r, a[1], a[2], dtype_or(&a[3], x->dtype)); break;
  case AC_G_RAND_LIKE: v = AP(r, AC_G_RAND, shape_of(x), dtype_or(&a[1], x->dtype)); break;
  case AC_G_RANDN_LIKE: v = AP(r, AC_G_RANDN, shape_of(x), dtype_or(&a[1], x->dtype)); break;
  case AC_G_RANDINT_LIKE: v = AP(r, AC_G_RANDINT, a[1], a[2], shape_of(x), dtype_or(&a[3], x->dtype)); break;
  case AC_G_BERNOULLI:
    v = AP(r, AC_G_LT, A_T(AP(r, AC_G_RAND, shape_of(x), A_D(x->dtype))), a[0]);
    v = AP(r, AC_G_CAST, A_T(v), A_D(x->dtype));
    break;
  default: return false;
  }
  *ok = v && ac_rule_give(r, v);
  return true;
}

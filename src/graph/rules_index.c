/* Shape rules of rearrangements, indexing by tensors, sorting, creation and matrix products. */
#include "graph/internal.h"

#include <math.h>
#include <string.h>

static const ac_sym *num(ac_rule *r, int64_t v) {
  return ac_sym_int(r->g, v);
}

static bool like(ac_rule *r, const ac_value *x) {
  ac_rule_set(&r->out[0], x->dtype, x->rank, (const ac_sym *const *)x->shape);
  r->n_out = 1;
  return true;
}

/* ---- rearrangements ---- */

static bool flip(ac_rule *r) {
  bool dims[AC_MAX_RANK];
  return ac_rule_dims(r, 1, r->args[0].t->rank, dims) && like(r, r->args[0].t);
}

static bool roll(ac_rule *r) {
  const ac_value *x = r->args[0].t;
  int shifts = r->args[1].n, d;
  if (r->args[2].absent || !r->args[2].n) /* flattened, rolled, and put back into shape */
    return shifts == 1 ? like(r, x)
                       : ac_rule_fail(r, AC0304, "give one shift, or `dims` too", "%d shifts without dims", shifts);
  if (r->args[2].n != shifts)
    return ac_rule_fail(r, AC0304, "give one shift a dimension", "%d shifts for %d dims", shifts, r->args[2].n);
  for (int i = 0; i < shifts; i++)
    if (!ac_rule_dim_of(r, r->args[2].is[i], x->rank, &d)) return false;
  return like(r, x);
}

/* repeat; tile too, which puts ones in front of too few numbers. */
static bool repeat(ac_rule *r) {
  const ac_value *x = r->args[0].t;
  const ac_arg *a = &r->args[1];
  int rank = a->n > x->rank ? a->n : x->rank;
  if (rank > AC_MAX_RANK)
    return ac_rule_fail(r, AC0307, NULL, "a result of %d dimensions; %d are supported", rank, AC_MAX_RANK);
  for (int i = 0; i < rank; i++) {
    int xi = i - (rank - x->rank), ai = i - (rank - a->n);
    const ac_sym *n = xi < 0 ? num(r, 1) : x->shape[xi], *k = ai < 0 ? num(r, 1) : a->is[ai];
    if (k->example < 0) return ac_rule_fail(r, AC0304, NULL, "%lld repeats", (long long)k->example);
    r->out[0].shape[i] = s_mul(r->g, n, k);
  }
  r->out[0].dtype = x->dtype;
  r->out[0].rank = rank;
  r->n_out = 1;
  return true;
}

static bool repeat_interleave(ac_rule *r) {
  const ac_value *x = r->args[0].t;
  const ac_sym *k = r->args[1].i;
  int d;
  if (k->example < 0) return ac_rule_fail(r, AC0304, NULL, "%lld repeats", (long long)k->example);
  like(r, x);
  if (r->args[2].absent) {
    r->out[0].rank = 1;
    r->out[0].shape[0] = s_mul(r->g, ac_numel(r->g, x->rank, x->shape), k);
    return true;
  }
  if (!ac_rule_dim(r, 2, x->rank, &d)) return false;
  if (x->rank) r->out[0].shape[d] = s_mul(r->g, x->shape[d], k);
  return true;
}

static bool triangle(ac_rule *r) {
  const ac_value *x = r->args[0].t;
  int64_t k;
  if (x->rank < 2) return ac_rule_fail(r, AC0302, NULL, "needs at least 2 dimensions, got %s", ac_value_text(r, x));
  return ac_rule_int(r, 1, &k) && like(r, x);
}

/* ---- indexing ---- */

static bool check_index(ac_rule *r, const ac_value *i, bool int32_too) {
  if (i->dtype == AC_I64 || (int32_too && i->dtype == AC_I32)) return true;
  if (i->dtype == AC_BOOL || i->dtype == AC_U8)
    return ac_rule_fail(r, AC0313, "use torch.where or multiply by the mask, which keep the shape",
                        "the size of the result would depend on the mask's values");
  return ac_rule_fail(r, AC0303, "convert it with .long()", "the index must be int64%s, got %s",
                      int32_too ? " or int32" : "", ac_value_text(r, i));
}

/* index no larger than x, in every dimension but d. */
static bool index_fits(ac_rule *r, const ac_value *index, const ac_value *x, int d, const char *what) {
  if (index->rank != x->rank && (index->rank > 1 || x->rank > 1))
    return ac_rule_fail(r, AC0301, "they need the same number of dimensions", "%s %s and index %s", what,
                        ac_value_text(r, x), ac_value_text(r, index));
  for (int i = 0; i < index->rank && i < x->rank; i++)
    if (i != d && !ac_rule_le(r, index->shape[i], x->shape[i],
                              ac_sprintf(r->g->arena, "%s: the index is no larger than %s", r->info->id, what)))
      return ac_rule_fail(r, AC0301, "make the index smaller there", "index %s is larger than %s %s in dimension %d",
                          ac_value_text(r, index), what, ac_value_text(r, x), i);
  return true;
}

static bool gather(ac_rule *r) {
  const ac_value *x = r->args[0].t, *i = r->args[2].t;
  int d;
  if (!ac_rule_dim(r, 1, x->rank, &d) || !check_index(r, i, false) || !index_fits(r, i, x, d, "input")) return false;
  like(r, i);
  r->out[0].dtype = x->dtype;
  return true;
}

static bool index_select(ac_rule *r) {
  const ac_value *x = r->args[0].t, *i = r->args[2].t;
  int d;
  if (!ac_rule_dim(r, 1, x->rank, &d) || !check_index(r, i, true)) return false;
  if (i->rank > 1)
    return ac_rule_fail(r, AC0301, "flatten it", "the index must have one dimension, got %s", ac_value_text(r, i));
  like(r, x);
  if (x->rank) r->out[0].shape[d] = i->rank ? i->shape[0] : num(r, 1);
  return true;
}

static bool index_tensors(ac_rule *r) {
  const ac_value *x = r->args[0].t;
  const ac_arg *is = &r->args[1];
  int64_t at;
  if (!ac_rule_int(r, 2, &at)) return false;
  if (at < 0 || at + is->n > x->rank)
    return ac_rule_fail(r, AC0302, NULL, "%d index tensors from dimension %lld on for %s", is->n, (long long)at,
                        ac_value_text(r, x));
  if (!is->n) return like(r, x);
  ac_type b = ac_type_of(is->ts[0]);
  for (int k = 0; k < is->n; k++) /* int32: from PyTorch 2.0 on */
    if (!check_index(r, is->ts[k], true) || !ac_rule_broadcast(r, &b, is->ts[k])) return false;
  int rank = x->rank - is->n + b.rank;
  if (rank > AC_MAX_RANK)
    return ac_rule_fail(r, AC0307, NULL, "a result of %d dimensions; %d are supported", rank, AC_MAX_RANK);
  int n = 0;
  for (int i = 0; i < at; i++) r->out[0].shape[n++] = x->shape[i];
  for (int i = 0; i < b.rank; i++) r->out[0].shape[n++] = b.shape[i];
  for (int i = (int)at + is->n; i < x->rank; i++) r->out[0].shape[n++] = x->shape[i];
  r->out[0].dtype = x->dtype;
  r->out[0].rank = n;
  r->n_out = 1;
  return true;
}

static bool embedding(ac_rule *r) {
  const ac_value *i = r->args[0].t, *w = r->args[1].t;
  if (!r->args[3].absent)
    return ac_rule_fail(r, AC0311, "normalise the weight before", "max_norm changes the weight while it runs");
  if (!check_index(r, i, true)) return false;
  if (w->rank != 2)
    return ac_rule_fail(r, AC0301, NULL, "the weight must have 2 dimensions, got %s", ac_value_text(r, w));
  if (i->rank + 1 > AC_MAX_RANK) return ac_rule_fail(r, AC0307, NULL, "too many dimensions");
  like(r, i);
  r->out[0].dtype = w->dtype;
  r->out[0].shape[r->out[0].rank++] = w->shape[1];
  return true;
}

static bool same_dtype(ac_rule *r, const ac_value *x, const ac_value *y, const char *what) {
  if (y->weak || x->dtype == y->dtype) return true;
  return ac_rule_fail(r, AC0303, "convert it with .to(input.dtype)", "%s must have the input's dtype: %s and %s",
                      what, ac_value_text(r, x), ac_value_text(r, y));
}

static bool scatter(ac_rule *r) {
  const ac_value *x = r->args[0].t, *i = r->args[2].t, *src = r->args[3].t;
  int d;
  if (!ac_rule_dim(r, 1, x->rank, &d) || !check_index(r, i, false) || !index_fits(r, i, x, d, "input") ||
      !same_dtype(r, x, src, "src"))
    return false;
  if (!src->weak && !index_fits(r, i, src, -1, "src")) return false;
  if (r->op == AC_G_SCATTER && !r->args[4].absent && !s_eq(r->args[4].s, "add") && !s_eq(r->args[4].s, "multiply"))
    return ac_rule_fail(r, AC0304, "use 'add' or 'multiply'", "reduce='%s' is unknown", r->args[4].s);
  return like(r, x);
}

/* index_add, index_copy: source as input, with the index's length along d. */
static bool index_write(ac_rule *r) {
  const ac_value *x = r->args[0].t, *i = r->args[2].t, *s = r->args[3].t;
  int d;
  bool add = r->op == AC_G_INDEX_ADD;
  if (!ac_rule_dim(r, 1, x->rank, &d) || !check_index(r, i, add) || !same_dtype(r, x, s, "source")) return false;
  if (i->rank > 1)
    return ac_rule_fail(r, AC0301, "flatten it", "the index must have one dimension, got %s", ac_value_text(r, i));
  if (s->rank != x->rank && !(x->rank <= 1 && s->rank <= 1))
    return ac_rule_fail(r, AC0301, NULL, "source %s and input %s have different ranks", ac_value_text(r, s),
                        ac_value_text(r, x));
  for (int k = 0; k < s->rank; k++) {
    const ac_sym *want = k == d ? (i->rank ? i->shape[0] : num(r, 1)) : x->shape[k];
    if (!ac_rule_equal(r, s->shape[k], want, ac_sprintf(r->g->arena, "%s: sizes of the source", r->info->id)))
      return ac_rule_fail(r, AC0301, "the source has the index's length there and the input's sizes elsewhere",
                          "source %s: dimension %d should be %lld", ac_value_text(r, s), k, (long long)want->example);
  }
  return like(r, x);
}

static bool slice_scatter(ac_rule *r) {
  const ac_value *x = r->args[0].t, *s = r->args[1].t;
  int d;
  int64_t step;
  const ac_sym *from, *len;
  if (!ac_rule_dim(r, 2, x->rank, &d) || !ac_rule_int(r, 5, &step)) return false;
  if (!x->rank || s->rank != x->rank)
    return ac_rule_fail(r, AC0301, NULL, "src %s does not fit a slice of %s", ac_value_text(r, s),
                        ac_value_text(r, x));
  if (!ac_slice_range(r, x->shape[d], &r->args[3], &r->args[4], step, &from, &len)) return false;
  for (int k = 0; k < x->rank; k++) {
    const ac_sym *want = k == d ? len : x->shape[k];
    if (!ac_rule_equal(r, s->shape[k], want, "slice_scatter: src has the slice's shape"))
      return ac_rule_fail(r, AC0301, "give src the shape of the slice", "src %s: dimension %d should be %lld",
                          ac_value_text(r, s), k, (long long)want->example);
  }
  return like(r, x);
}

static bool select_scatter(ac_rule *r) {
  const ac_value *x = r->args[0].t, *s = r->args[1].t;
  int d;
  int64_t i;
  if (!x->rank || s->rank != x->rank - 1)
    return ac_rule_fail(r, AC0301, NULL, "src %s does not fit one entry of %s", ac_value_text(r, s),
                        ac_value_text(r, x));
  if (!ac_rule_dim(r, 2, x->rank, &d) || !ac_rule_int(r, 3, &i)) return false;
  bool far = i == INT64_MIN || i == INT64_MAX;
  if (far || !ac_rule_le(r, num(r, i < 0 ? -i : i + 1), x->shape[d], "select_scatter: the index is inside"))
    return ac_rule_fail(r, AC0302, NULL, "index %lld is out of range for dimension %d of %s", (long long)i, d,
                        ac_value_text(r, x));
  for (int k = 0, n = 0; k < x->rank; k++) {
    if (k == d) continue;
    if (!ac_rule_equal(r, s->shape[n], x->shape[k], "select_scatter: src has the entry's shape"))
      return ac_rule_fail(r, AC0301, "give src the shape of one entry", "src %s: dimension %d should be %lld",
                          ac_value_text(r, s), n, (long long)x->shape[k]->example);
    n++;
  }
  return like(r, x);
}

bool ac_rule_index(ac_rule *r) {
  switch (r->op) {
  case AC_G_FLIP: return flip(r);
  case AC_G_ROLL: return roll(r);
  case AC_G_REPEAT: return repeat(r);
  case AC_G_REPEAT_INTERLEAVE: return repeat_interleave(r);
  case AC_G_TRIL:
  case AC_G_TRIU: return triangle(r);
  case AC_G_GATHER: return gather(r);
  case AC_G_INDEX_SELECT: return index_select(r);
  case AC_G_INDEX: return index_tensors(r);
  case AC_G_EMBEDDING: return embedding(r);
  case AC_G_SCATTER:
  case AC_G_SCATTER_ADD: return scatter(r);
  case AC_G_INDEX_ADD:
  case AC_G_INDEX_COPY: return index_write(r);
  case AC_G_SLICE_SCATTER: return slice_scatter(r);
  case AC_G_SELECT_SCATTER: return select_scatter(r);
  default: return false;
  }
}

/* ---- sorting ---- */

bool ac_rule_sort(ac_rule *r) {
  const ac_value *x = r->args[0].t;
  bool topk = r->op == AC_G_TOPK;
  int d;
  if (!ac_rule_dim(r, topk ? 2 : 1, x->rank, &d)) return false;
  like(r, x);
  if (topk) {
    const ac_sym *k = r->args[1].i, *n = x->rank ? x->shape[d] : num(r, 1);
    if (k->example < 0 || !ac_rule_le(r, k, n, "topk: k is no larger than the dimension"))
      return ac_rule_fail(r, AC0304, "use a smaller k", "k = %lld of dimension %d with %lld elements",
                          (long long)k->example, d, (long long)n->example);
    if (x->rank) r->out[0].shape[d] = k;
  }
  r->out[1] = r->out[0];
  r->out[1].dtype = AC_I64;
  r->n_out = 2;
  return true;
}

/* ---- creation ---- */

static bool create(ac_rule *r, const ac_arg *size, ac_dtype d) {
  if (size->n > AC_MAX_RANK)
    return ac_rule_fail(r, AC0307, NULL, "%d dimensions; %d are supported", size->n, AC_MAX_RANK);
  for (int i = 0; i < size->n; i++)
    if (size->is[i]->example < 0)
      return ac_rule_fail(r, AC0304, "sizes start at 0", "size %lld is negative", (long long)size->is[i]->example);
  ac_rule_set(&r->out[0], d, size->n, size->is);
  r->n_out = 1;
  return true;
}

static ac_dtype given_or(const ac_arg *a, ac_dtype d) {
  return a->absent ? d : a->d;
}
static ac_dtype number_dtype(const ac_arg *a) {
  return a->is_bool ? AC_BOOL : a->is_int ? AC_I64 : AC_F32;
}

/* ceil((end - start) / step) elements */
static bool arange(ac_rule *r) {
  ac_graph *g = r->g;
  const ac_arg *s = &r->args[0], *e = &r->args[1], *st = &r->args[2];
  bool ints = s->is_int && e->is_int && st->is_int;
  if (st->f == 0) return ac_rule_fail(r, AC0304, NULL, "the step must not be 0");
  if ((st->f > 0 && e->f < s->f) || (st->f < 0 && e->f > s->f))
    return ac_rule_fail(r, AC0304, "change the sign of the step", "from %g to %g with step %g never ends", s->f, e->f,
                        st->f);
  const ac_sym *n;
  if (ints) {
    int64_t step;
    if (!ac_rule_pin(r, st->i, "step", &step)) return false;
    const ac_sym *span = step > 0 ? ac_sym_sub(g, e->i, s->i) : ac_sym_sub(g, s->i, e->i);
    if (step == INT64_MIN) step++;
    if (step < 0) step = -step;
    ac_sym_guard(g, AC_GUARD_LE, num(r, 0), span, r->loc, "arange: the end is not before the start");
    n = s_div(g, s_addi(g, span, step - 1), num(r, step));
  } else {
    double k = ceil((e->f - s->f) / st->f);
    if (!(k < 0x1p62))
      return ac_rule_fail(r, AC0304, "use finite bounds", "from %g to %g with step %g has no finite length", s->f,
                          e->f, st->f);
    for (int i = 0; i < 3; i++) {
      int64_t v;
      if (r->args[i].is_int && !ac_rule_pin(r, r->args[i].i, r->info->params[i].name, &v)) return false;
    }
    n = num(r, (int64_t)k);
  }
  r->out[0].shape[0] = n;
  r->out[0].rank = 1;
  r->out[0].dtype = given_or(&r->args[3], ints ? AC_I64 : AC_F32);
  r->n_out = 1;
  return true;
}

bool ac_rule_new(ac_rule *r) {
  ac_arg *a = r->args;
  ac_arg one = A_IS(AC_NEW_N(r->g->arena, const ac_sym *, 2), 1);
  switch (r->op) {
  case AC_G_FULL: return create(r, &a[0], given_or(&a[2], number_dtype(&a[1])));
  case AC_G_ARANGE: return arange(r);
  case AC_G_LINSPACE: one.is[0] = a[2].i; return create(r, &one, given_or(&a[3], AC_F32));
  case AC_G_EYE:
    one.is[0] = a[0].i;
    one.is[1] = a[1].absent ? a[0].i : a[1].i;
    one.n = 2;
    return create(r, &one, given_or(&a[2], AC_F32));
  case AC_G_RANDPERM: one.is[0] = a[0].i; return create(r, &one, given_or(&a[1], AC_I64));
  case AC_G_RANDINT:
    if (a[0].i->example >= a[1].i->example)
      return ac_rule_fail(r, AC0304, "high is exclusive: make it larger than low", "no integer from %lld up to %lld",
                          (long long)a[0].i->example, (long long)a[1].i->example);
    return create(r, &a[2], given_or(&a[3], AC_I64));
  case AC_G_RAND:
  case AC_G_RANDN: {
    ac_dtype d = given_or(&a[1], AC_F32);
    if (!ac_is_float(d))
      return ac_rule_fail(r, AC0303, "use randint, or a floating dtype", "cannot fill %s", ac_dtypes[d].name);
    return create(r, &a[0], d);
  }
  case AC_G_UNIFORM:
  case AC_G_NORMAL: return create(r, &a[0], a[3].d);
  default: return false;
  }
}

/* ---- matrix products ---- */

static bool inner_sizes(ac_rule *r, const ac_value *x, const ac_value *y, const ac_sym *p, const ac_sym *q) {
  if (ac_rule_equal(r, p, q, "matmul: inner sizes")) return true;
  return ac_rule_fail(
      r, AC0301,
      "the first one's last size must equal the second one's last but one (or only) size; transpose one of them",
      "inner sizes %lld and %lld of %s and %s differ", (long long)p->example, (long long)q->example,
      ac_value_text(r, x), ac_value_text(r, y));
}

bool ac_rule_matmul(ac_rule *r) {
  const ac_value *x = r->args[0].t, *y = r->args[1].t;
  if (!x->rank || !y->rank)
    return ac_rule_fail(r, AC0301, "use * for numbers", "both operands need dimensions: %s and %s",
                        ac_value_text(r, x), ac_value_text(r, y));
  if (x->dtype != y->dtype)
    return ac_rule_fail(r, AC0303, "convert one of them first", "the operands' dtypes differ: %s and %s",
                        ac_value_text(r, x), ac_value_text(r, y));
  if (x->dtype == AC_BOOL)
    return ac_rule_fail(r, AC0303, "convert with .float() first", "does not take bool tensors");
  if (!inner_sizes(r, x, y, x->shape[x->rank - 1], y->shape[y->rank > 1 ? y->rank - 2 : 0])) return false;
  ac_type b = {.dtype = x->dtype, .rank = x->rank > 2 ? x->rank - 2 : 0};
  memcpy(b.shape, x->shape, (size_t)b.rank * sizeof *b.shape);
  ac_value batch = *y;
  batch.rank = y->rank > 2 ? y->rank - 2 : 0;
  if (!ac_rule_broadcast(r, &b, &batch)) return false;
  if (x->rank > 1) b.shape[b.rank++] = x->shape[x->rank - 2];
  if (y->rank > 1) b.shape[b.rank++] = y->shape[y->rank - 1];
  r->out[0] = b;
  r->n_out = 1;
  return true;
}

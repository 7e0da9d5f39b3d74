/* Parts of buffers with several dimensions, and the primitives that work along axes: reductions, broadcasts, scans, transposes,
 * gathers, sorts.
 *
 * A part is a box: an index or a range in each dimension. What is valid of such a buffer is a box from its first element on; a write
 * to a part makes it larger where the two join to a box again. */
#include "craft/check.h"

#include <string.h>

static const ac_cbuffer *buffer(ac_chk *c, const ac_kval *v) {
  return c->fn->f->buffers.data[v->buf];
}
static const char *size_text(ac_chk *c, ac_sym *x) {
  return x ? ac_sy_text(&c->s, x) : "an unknown number of";
}

/* ---- b[i], b[a:c, d:e] ---- */

static ac_cexpr *binary(ac_chk *c, ac_cop op, ac_cexpr *x, ac_cexpr *y) {
  if (!x || !y) return NULL;
  if (op == AC_OP_ADD && x->kind == AC_CE_INT && x->i == 0) return y;
  ac_cexpr *e = ac_chk_new(c, AC_CE_BINARY, y->loc);
  e->op = op;
  e->a = x;
  e->b = y;
  return e;
}

static ac_kval refused(ac_chk *c, const ac_cexpr *e, const char *what, const char *help) {
  ac_diag *g = ac_error(ac_chk_d(c), AC0525, e->loc, "%s: `%s`", what, text(c, e));
  ac_help(ac_chk_d(c), g, "%s", help);
  return none;
}

static void whole(ac_chk *c, const ac_kval *v, ac_kview *n) {
  n->rank = buffer(c, v)->rank;
  for (int d = 0; d < n->rank; d++) {
    n->dim[d].kept = true;
    n->dim[d].step = 1;
    n->dim[d].lo = ac_sy_int(&c->s, 0);
  }
}

/* The part ends inside its dimension. */
static void check_end(ac_chk *c, const ac_cexpr *e, const ac_kval *b, int d, ac_sym *end) {
  ac_oblig o = {.x = end, .y = c->fn->dims[b->buf][d], .code = AC0516, .loc = e->loc};
  if (!o.y || ac_chk_settled(c, &o)) return;
  o.refuted = ac_sprintf(c->a, "`%s` reaches element %s of dimension %d of '%s', which has %s", text(c, e),
                         ac_sy_text(&c->s, end), d, buffer(c, b)->name, ac_sy_text(&c->s, o.y));
  o.help = "shorten the part, or declare the buffer larger";
  ac_chk_unsettled(c, o);
}

void ac_chk_from_zero(ac_chk *c, const ac_cexpr *e, int buf, ac_sym *at) {
  ac_oblig o = {.x = ac_sy_int(&c->s, 0), .y = at, .code = AC0514, .loc = e->loc};
  if (ac_chk_settled(c, &o)) return;
  o.refuted = ac_sprintf(c->a, "`%s` is element %s of '%s', which begins at 0", text(c, e), ac_sy_text(&c->s, at),
                         ac_chk_buf_name(c, buf));
  o.help = "count from the front: no index of a buffer is negative";
  ac_chk_unsettled(c, o);
}

static bool set_index(ac_chk *c, ac_cexpr *e, const ac_kval *b, ac_kview *n, int d, ac_cexpr *x) {
  ac_kval at = ac_chk_int(c, x, "an index");
  if (at.kind != AC_CT_INT) return false;
  n->dim[d].lo = ac_sy_add(&c->s, n->dim[d].lo,
                           n->dim[d].step == 1 ? at.sym : ac_sy_mul(&c->s, at.sym, ac_sy_int(&c->s, n->dim[d].step)));
  n->dim[d].lo_e = n->dim[d].step == 1 ? (n->dim[d].lo_e ? binary(c, AC_OP_ADD, n->dim[d].lo_e, x) : x) : NULL;
  n->dim[d].kept = false;
  n->rank--;
  ac_chk_from_zero(c, e, b->buf, n->dim[d].lo);
  check_end(c, e, b, d, ac_sy_add(&c->s, n->dim[d].lo, ac_sy_int(&c->s, 1)));
  return true;
}

static bool set_range(ac_chk *c, ac_cexpr *e, const ac_kval *b, ac_kview *n, int d, ac_cexpr *x) {
  ac_syms *s = &c->s;
  int64_t step = 1;
  if (!x->a && !x->b && !x->c) return true; /* all of it */
  if (x->c) {
    ac_kval k = ac_chk_int(c, x->c, "a step");
    if (k.kind != AC_CT_INT) return false;
    if (!ac_sy_const(k.sym, &step) || step < 1) {
      refused(c, e, "a step is a constant, at least 1", "b[a:c:2]");
      return false;
    }
    if (step > 1 && d == buffer(c, b)->rank - 1) {
      refused(c, e, "the last axis has no step: its elements lie in one block of UB",
              "step along an outer axis, or pick elements with tl.gather");
      return false;
    }
  }
  ac_kval lo = x->a ? ac_chk_int(c, x->a, "an index") : int_value(ac_sy_int(s, 0));
  ac_kval hi = x->b ? ac_chk_int(c, x->b, "an index") : none;
  if (lo.kind != AC_CT_INT || (x->b && hi.kind != AC_CT_INT)) return false;
  if (n->dim[d].step != 1 || (n->dim[d].len && !x->b)) {
    refused(c, e, "a part of a part", "write it as one part of the buffer");
    return false;
  }
  n->dim[d].lo = ac_sy_add(s, n->dim[d].lo, lo.sym);
  if (x->a) n->dim[d].lo_e = n->dim[d].lo_e ? binary(c, AC_OP_ADD, n->dim[d].lo_e, x->a) : x->a;
  n->dim[d].step = step;
  ac_chk_from_zero(c, e, b->buf, n->dim[d].lo);
  if (!x->b) return true;
  ac_sym *span = ac_sy_sub(s, hi.sym, lo.sym);
  n->dim[d].len = step == 1 ? span : ac_sy_fn(s, AC_SY_CDIV, span, ac_sy_int(s, step));
  n->dim[d].len_e = step != 1 ? NULL : x->a ? NULL : x->b;
  check_end(c, e, b, d, ac_sy_add(s, n->dim[d].lo, span));
  return true;
}

ac_kval ac_chk_part(ac_chk *c, ac_cexpr *e, ac_kval b) {
  ac_kview *n = AC_NEW(c->a, ac_kview);
  if (b.off) return refused(c, e, "a part of a part", "write it as one part of the buffer");
  if (b.nd)
    *n = *b.nd;
  else
    whole(c, &b, n);
  if (e->n_args > n->rank) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0525, e->loc, "`%s` has %d indices, and %d dimension%s to index", text(c, e),
                          e->n_args, n->rank, n->rank == 1 ? "" : "s");
    ac_help(ac_chk_d(c), g, "'%s' was declared with %d", buffer(c, &b)->name, buffer(c, &b)->rank);
    return none;
  }
  int d = 0;
  for (int i = 0; i < e->n_args; i++, d++) {
    while (!n->dim[d].kept) d++;
    ac_cexpr *x = e->args[i];
    if (x->kind == AC_CE_NONE) return refused(c, e, "a part has no new axes", "index with numbers and ranges");
    if (!(x->kind == AC_CE_SLICE ? set_range(c, e, &b, n, d, x) : set_index(c, e, &b, n, d, x))) return none;
  }
  b.nd = n;
  return b;
}

/* ---- shapes ---- */

/* How many places a part has in dimension d where it goes up to `end`. */
static ac_sym *places(ac_chk *c, const ac_kval *v, int d, ac_sym *end) {
  ac_sym *n = ac_sy_sub(&c->s, end, v->nd->dim[d].lo);
  int64_t step = v->nd->dim[d].step;
  return step == 1 ? n : ac_sy_fn(&c->s, AC_SY_CDIV, n, ac_sy_int(&c->s, step));
}

int ac_chk_shape(ac_chk *c, const ac_kval *v, ac_sym *ext[4]) {
  const ac_kbuf *k = &c->st->bufs[v->buf];
  int rank = buffer(c, v)->rank, n = 0;
  memset(ext, 0, 4 * sizeof *ext);
  if (rank == 1) return ext[0] = ac_chk_extent(c, v), 1;
  bool known = k->set != AC_UNSET && k->rank == rank;
  if (!v->nd) {
    for (int d = 0; d < rank; d++) ext[d] = known ? k->ext[d] : NULL;
    return rank;
  }
  for (int d = 0; d < rank; d++) {
    if (!v->nd->dim[d].kept) continue;
    ac_sym *x = v->nd->dim[d].len;
    if (!x && known && k->ext[d]) x = places(c, v, d, k->ext[d]);
    ext[n++] = x;
  }
  return n;
}

ac_sym *ac_chk_room(ac_chk *c, const ac_kval *v, int d) {
  ac_sym *all = c->fn->dims[v->buf][d];
  if (!v->nd) return all;
  return v->nd->dim[d].len ? v->nd->dim[d].len : places(c, v, d, all);
}

/* One past the last element that a part with this extent has in dimension d. */
static ac_sym *end_of(ac_chk *c, const ac_kval *v, int d, ac_sym *ext) {
  ac_syms *s = &c->s;
  if (!v->nd) return ext;
  ac_sym *lo = v->nd->dim[d].lo, *one = ac_sy_int(s, 1);
  if (!v->nd->dim[d].kept) return ac_sy_add(s, lo, one);
  if (v->nd->dim[d].step == 1) return ac_sy_add(s, lo, ext);
  return ac_sy_add(s, ac_sy_add(s, lo, one), ac_sy_mul(s, ac_sy_sub(s, ext, one), ac_sy_int(s, v->nd->dim[d].step)));
}

static bool kept(const ac_kval *v, int d) {
  return !v->nd || v->nd->dim[d].kept;
}

void ac_chk_part_read(ac_chk *c, const ac_kval *v, ac_sym *const ext[4], ac_loc loc) {
  const ac_kbuf *k = &c->st->bufs[v->buf];
  const ac_cbuffer *b = buffer(c, v);
  for (int d = 0, n = 0; d < b->rank; d++) {
    ac_sym *own = kept(v, d) ? ext[n++] : NULL;
    if (k->rank != b->rank || !k->ext[d] || (kept(v, d) && !own)) continue;
    ac_oblig o = {.x = end_of(c, v, d, own), .y = k->ext[d], .code = AC0514, .loc = loc, .other = k->loc};
    if (ac_chk_settled(c, &o)) continue;
    o.refuted =
        ac_sprintf(c->a, "element %s of dimension %d of '%s' is read, of which %s are valid",
                   ac_sy_text(&c->s, ac_sy_sub(&c->s, o.x, ac_sy_int(&c->s, 1))), d, b->name, ac_sy_text(&c->s, o.y));
    o.help = "a shorter part, or fill the buffer first";
    ac_chk_unsettled(c, o);
  }
}

/* A loop that starts at 0 wrote what lies before: the atom's least value is 0. */
static bool counts_from_zero(ac_chk *c, ac_sym *lo) {
  int64_t v;
  ac_satom *a = ac_sy_atom(&c->s, lo);
  if (!a && lo->n == 1 && lo->t[0].k == 1) a = &c->s.atoms.data[lo->t[0].atom[0]];
  return a && a->slo && ac_sy_const(a->slo, &v) && v == 0;
}

void ac_chk_part_written(ac_chk *c, const ac_kval *v, ac_sym *const ext[4], ac_loc loc) {
  ac_syms *s = &c->s;
  ac_kbuf *k = &c->st->bufs[v->buf];
  const ac_cbuffer *b = buffer(c, v);
  bool had = k->set == AC_SET && k->rank == b->rank, steps = false, first = true, chain = true;
  int grows = 0;
  ac_kbuf n = {.set = AC_SET, .rank = b->rank, .loc = loc};
  for (int d = 0, at = 0; d < b->rank; d++) {
    int64_t zero;
    ac_sym *own = kept(v, d) ? ext[at++] : NULL, *lo = v->nd ? v->nd->dim[d].lo : ac_sy_int(s, 0);
    ac_sym *end = kept(v, d) && !own ? NULL : end_of(c, v, d, own), *old = had ? k->ext[d] : NULL;
    bool begins = ac_sy_const(lo, &zero) && zero == 0;
    steps = steps || (v->nd && v->nd->dim[d].kept && v->nd->dim[d].step != 1);
    first = first && begins;
    chain = chain && (begins || counts_from_zero(c, lo));
    n.ext[d] = begins ? end : NULL;
    if (!had || !old || !end) continue;
    if (old == end || ac_sy_le(s, end, old, c->st->facts)) { /* inside of what is valid */
      n.ext[d] = old;
      if (!begins || old != end) grows += 2; /* it does not cover this axis */
    } else if (ac_sy_le(s, lo, old, c->st->facts)) {
      grows++;
      n.ext[d] = ac_sy_le(s, old, end, c->st->facts) ? end : ac_sy_fn(s, AC_SY_MAX, old, end);
    } else {
      grows += 4;
      n.ext[d] = NULL;
    }
  }
  if (had) {
    bool inside = true;
    for (int d = 0; d < b->rank; d++) inside = inside && n.ext[d] == k->ext[d];
    if (inside || steps) {
      n = *k;
    } else if (grows > 1 && !first) {
      for (int d = 0; d < b->rank; d++) n.ext[d] = k->ext[d] && n.ext[d] == k->ext[d] ? k->ext[d] : NULL;
    }
  } else if (!chain || steps) {
    n.set = k->set == AC_SET ? AC_SET : AC_MAYBE;
  }
  n.loc = loc;
  *k = n;
}

bool ac_chk_part_same(ac_chk *c, const ac_kval *x, const ac_kval *y) {
  ac_kview a = {0}, b = {0};
  if (x->buf != y->buf) return false;
  if (x->nd)
    a = *x->nd;
  else
    whole(c, x, &a);
  if (y->nd)
    b = *y->nd;
  else
    whole(c, y, &b);
  for (int d = 0; d < buffer(c, x)->rank; d++)
    if (a.dim[d].lo != b.dim[d].lo || a.dim[d].step != b.dim[d].step || a.dim[d].kept != b.dim[d].kept) return false;
  return true;
}

bool ac_chk_view(ac_chk *c, ac_cexpr *e, const ac_kval *v, ac_sym *const ext[4]) {
  const ac_cbuffer *b = buffer(c, v);
  if (c->quiet) return true;
  ac_cview *w = AC_NEW(c->a, ac_cview);
  w->rank = b->rank;
  for (int d = 0, n = 0; d < b->rank; d++) {
    w->dim[d].kept = kept(v, d);
    w->dim[d].step = v->nd ? v->nd->dim[d].step : 1;
    ac_sym *lo = v->nd ? v->nd->dim[d].lo : b->rank == 1 ? v->off : NULL;
    ac_cexpr *lo_e = v->nd ? v->nd->dim[d].lo_e : v->off_e;
    int64_t zero;
    if (lo && !(ac_sy_const(lo, &zero) && zero == 0)) {
      w->dim[d].from = ac_chk_write(c, lo, lo_e, false);
      if (!w->dim[d].from) goto stale;
    }
    if (!w->dim[d].kept) continue;
    w->dim[d].extent = ac_chk_write(c, ext[n++], v->nd ? v->nd->dim[d].len_e : NULL, false);
    if (!w->dim[d].extent) goto stale;
  }
  e->view = w;
  return true;
stale:;
  ac_diag *g = ac_error(c->diags, AC0511, e->loc,
                        "`%s`: a size of it was computed from a name that has a new value by now", text(c, e));
  ac_help(c->diags, g, "write the part with names that hold their values: b[0:rows, 0:cols]");
  return false;
}

/* ---- primitives along axes ---- */

bool ac_chk_is_shape_prim(ac_cprim p) {
  return p >= AC_P_REDUCE_SUM && p <= AC_P_INSERT_SCALAR;
}

typedef struct {
  ac_chk *c;
  ac_cexpr *e;
  const ac_sig *s;
  ac_kval *v;
  ac_sym *places; /* what dst_index counts; NULL: it has none */
} call;

static int operand(const call *x, const char *name) {
  for (int i = 0; i < x->s->n; i++)
    if (!strcmp(x->s->op[i].name, name)) return i;
  return -1;
}
static bool given(const call *x, const char *name) {
  int i = operand(x, name);
  return i >= 0 && x->e->args[i];
}

static bool dtype_is(call *x, const char *name, uint32_t set, const char *must) {
  int i = operand(x, name);
  ac_dtype d = buffer(x->c, &x->v[i])->dtype;
  if (set & AC_BIT(d)) return true;
  ac_diag *g = ac_error(ac_chk_d(x->c), AC0508, x->e->args[i]->loc, "'%s' of tl.%s must be %s; '%s' is %s", name,
                        x->s->name, must, buffer(x->c, &x->v[i])->name, ac_dtypes[d].name);
  ac_help(ac_chk_d(x->c), g, "declare it with another dtype, or cast first: tl.cast(tmp, src)");
  return false;
}

static bool same_dtype(call *x, const char *a, const char *b) {
  const ac_cbuffer *p = buffer(x->c, &x->v[operand(x, a)]), *q = buffer(x->c, &x->v[operand(x, b)]);
  if (p->dtype == q->dtype) return true;
  ac_diag *g = ac_error(ac_chk_d(x->c), AC0508, x->e->loc, "tl.%s mixes %s ('%s') and %s ('%s')", x->s->name,
                        ac_dtypes[p->dtype].name, p->name, ac_dtypes[q->dtype].name, q->name);
  ac_help(ac_chk_d(x->c), g, "cast first: tl.cast(tmp, %s)", q->name);
  return false;
}

static void note_computed(ac_chk *c, const ac_kval *v) {
  if (!c->quiet) c->fn->f->buffers.data[v->buf]->computed = true;
}

/* A source: readable, aligned, its axes known. -1 after an error. */
static int source(call *x, const char *name, ac_sym *ext[4]) {
  ac_chk *c = x->c;
  int i = operand(x, name);
  ac_kval *v = &x->v[i];
  ac_cexpr *e = x->e->args[i];
  if (!e) return -1; /* the signature has said so */
  note_computed(c, v);
  if (!ac_chk_readable(c, v, e->loc)) return -1;
  ac_chk_aligned(c, v, e);
  int rank = ac_chk_shape(c, v, ext);
  if (rank == 1 && given(x, "count")) {
    ac_sym *n = x->v[operand(x, "count")].sym;
    ac_oblig o = {.x = n, .y = ext[0], .code = AC0514, .loc = e->loc, .other = c->st->bufs[v->buf].loc};
    if (o.y && !ac_chk_settled(c, &o)) {
      o.refuted = ac_sprintf(c->a, "tl.%s reads %s elements of '%s', of which %s are valid", x->s->name,
                             size_text(c, n), buffer(c, v)->name, size_text(c, ext[0]));
      ac_chk_unsettled(c, o);
    }
    ext[0] = n;
  } else if (given(x, "count")) {
    ac_diag *g =
        ac_error(ac_chk_d(c), AC0522, x->e->loc, "tl.%s: `count=` is for buffers with one dimension; `%s` has %d",
                 x->s->name, text(c, e), rank);
    ac_help(ac_chk_d(c), g, "say it with a part: b[0:rows, 0:cols]");
    return -1;
  }
  for (int d = 0; d < rank; d++)
    if (!ext[d]) {
      if (c->st->bufs[v->buf].wrong) return -1;
      ac_diag *g = ac_error(ac_chk_d(c), AC0513, e->loc,
                            "how much of '%s' is valid here is not known, so tl.%s needs to be told",
                            buffer(c, v)->name, x->s->name);
      ac_help(ac_chk_d(c), g, rank == 1 ? "tl.%s(..., count=n)" : "give it a part: tl.%s(..., b[0:rows, 0:cols])",
              x->s->name);
      return -1;
    }
  if (buffer(c, v)->rank > 1) ac_chk_part_read(c, v, ext, e->loc);
  if (rank && v->nd && !v->nd->dim[buffer(c, v)->rank - 1].kept) {
    refused(c, e, "elements of a column lie a row apart", "take whole rows, or tl.transpose first");
    return -1;
  }
  return ac_chk_view(c, e, v, ext) ? rank : -1;
}

/* The destination takes a shape. */
static bool deliver(call *x, const char *name, int rank, ac_sym *const ext[4]) {
  ac_chk *c = x->c;
  int i = operand(x, name);
  ac_kval *v = &x->v[i];
  ac_cexpr *e = x->e->args[i];
  note_computed(c, v);
  ac_chk_aligned(c, v, e);
  int have = rank_of(c, v);
  if (have != rank) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0522, e->loc, "tl.%s: the result has %d dimension%s, `%s` has %d",
                          x->s->name, rank, rank == 1 ? "" : "s", text(c, e), have);
    ac_help(ac_chk_d(c), g, "declare '%s' with the dimensions of the result, or give a part of it",
            buffer(c, v)->name);
    return false;
  }
  if (v->nd && !v->nd->dim[buffer(c, v)->rank - 1].kept) {
    refused(c, e, "elements of a column lie a row apart", "write whole rows, or tl.transpose after");
    return false;
  }
  for (int d = 0, n = 0; v->nd && d < buffer(c, v)->rank; d++) {
    if (!v->nd->dim[d].kept) continue;
    ac_oblig o = {.x = ext[n], .y = v->nd->dim[d].len, .code = AC0516, .loc = e->loc};
    if (o.y && !ac_chk_settled(c, &o)) {
      o.refuted = ac_sprintf(c->a, "tl.%s: dimension %d of the result has %s elements, `%s` takes %s", x->s->name, n,
                             size_text(c, ext[n]), text(c, e), size_text(c, o.y));
      ac_chk_unsettled(c, o);
    }
    n++;
  }
  if (!ac_chk_view(c, e, v, ext)) return false;
  if (v->nd) {
    ac_chk_part_written(c, v, ext, x->e->loc);
  } else if (rank > 1) {
    ac_kbuf shape = {.rank = rank};
    memcpy(shape.ext, ext, sizeof shape.ext);
    ac_chk_written(c, v, NULL, &shape, false, x->e->loc);
  } else {
    ac_chk_written(c, v, ext[0], NULL, false, x->e->loc);
  }
  return true;
}

/* The axis as a constant, 0 to rank - 1. */
static bool axis_of(call *x, int rank, int fallback, int *axis) {
  *axis = fallback;
  int i = operand(x, "axis");
  if (i < 0 || !x->e->args[i]) return true;
  int64_t k;
  if (!ac_sy_const(x->v[i].sym, &k) || k < -rank || k >= rank) {
    ac_diag *g = ac_error(ac_chk_d(x->c), AC0505, x->e->args[i]->loc,
                          "axis= of tl.%s is a constant from %d to %d here, not `%s`", x->s->name, -rank, rank - 1,
                          text(x->c, x->e->args[i]));
    ac_help(ac_chk_d(x->c), g, "-1 is the last axis: along each row");
    return false;
  }
  *axis = (int)(k < 0 ? k + rank : k);
  return true;
}

static void without(ac_sym *const ext[4], int rank, int axis, ac_sym *out[4]) {
  memset(out, 0, 4 * sizeof *out);
  for (int d = 0, n = 0; d < rank; d++)
    if (d != axis) out[n++] = ext[d];
}

/* dst may not be (a part of) src, unless the primitive works in place. */
static bool apart(call *x, const char *a, const char *b) {
  if (x->v[operand(x, a)].buf != x->v[operand(x, b)].buf) return true;
  ac_diag *g = ac_error(ac_chk_d(x->c), AC0523, x->e->loc, "tl.%s cannot write to its own source '%s'", x->s->name,
                        buffer(x->c, &x->v[operand(x, a)])->name);
  ac_help(ac_chk_d(x->c), g, "give it a buffer of its own");
  return false;
}

enum {
  WHOLE = -1, /* axis: all of them */
  NUMERIC = AC_BIT(AC_F32) | AC_BIT(AC_F16) | AC_BIT(AC_BF16) | AC_BIT(AC_I8) | AC_BIT(AC_U8) | AC_BIT(AC_I16) |
            AC_BIT(AC_U16) | AC_BIT(AC_I32) | AC_BIT(AC_U32) | AC_BIT(AC_I64),
  SORTABLE = AC_BIT(AC_F32) | AC_BIT(AC_F16)
};

/* The plain case is one instruction of the chip: float32 with one dimension. It keeps its form (dst, src, work, count). */
static bool plain_reduction(call *x, int rank) {
  static const ac_inst insts[] = {AC_I_RSUM, AC_I_RMAX, AC_I_RMIN};
  ac_cexpr *e = x->e;
  if (rank != 1 || x->s->prim == AC_P_REDUCE_PROD) return false;
  const ac_cbuffer *b = buffer(x->c, &x->v[1]);
  bool half = b->dtype == AC_F16 && x->s->prim != AC_P_REDUCE_SUM;
  if ((b->dtype != AC_F32 && !half) || b->rank != 1) return false;
  e->inst = insts[x->s->prim - AC_P_REDUCE_SUM];
  e->prim = AC_P_INST;
  return true;
}

static bool reduce(call *x) {
  ac_sym *ext[4], *out[4] = {0};
  int axis;
  if (!same_dtype(x, "dst", "src") || !dtype_is(x, "src", NUMERIC, "numbers")) return false;
  if (plain_reduction(x, rank_of(x->c, &x->v[1]))) return true;
  int rank = source(x, "src", ext);
  if (rank < 0 || !axis_of(x, rank, WHOLE, &axis)) return false;
  if (rank > 1 && !apart(x, "dst", "src")) return false;
  if (axis == WHOLE || rank == 1) {
    out[0] = ac_sy_int(&x->c->s, 1);
    return deliver(x, "dst", 1, out);
  }
  without(ext, rank, axis, out);
  return deliver(x, "dst", rank - 1, out);
}

static bool arg_reduce(call *x) {
  ac_sym *ext[4], *out[4] = {0};
  int axis;
  if (!dtype_is(x, "dst_index", AC_BIT(AC_I32), "int32") || !dtype_is(x, "src", NUMERIC, "numbers")) return false;
  if (given(x, "dst_value") && !same_dtype(x, "dst_value", "src")) return false;
  int rank = source(x, "src", ext);
  if (rank < 0) return false;
  if (rank > 1 && !given(x, "axis")) {
    ac_diag *g = ac_error(ac_chk_d(x->c), AC0505, x->e->loc, "tl.%s of a buffer with %d dimensions needs `axis=`",
                          x->s->name, rank);
    ac_help(ac_chk_d(x->c), g, "tl.%s(..., axis=-1): one index a row", x->s->name);
    return false;
  }
  if (!axis_of(x, rank, 0, &axis) || !apart(x, "dst_index", "src")) return false;
  if (given(x, "dst_value") && !apart(x, "dst_value", "src")) return false;
  without(ext, rank, axis, out);
  x->places = ext[axis];
  if (rank == 1) out[0] = ac_sy_int(&x->c->s, 1);
  int n = rank == 1 ? 1 : rank - 1;
  return deliver(x, "dst_index", n, out) && (!given(x, "dst_value") || deliver(x, "dst_value", n, out));
}

/* The size of the new axis is that of the destination: its part's, or its capacity. */
static bool broadcast(call *x) {
  ac_chk *c = x->c;
  ac_sym *ext[4], *out[4] = {0};
  const ac_kval *d = &x->v[0];
  int axis, rank = rank_of(c, d);
  if (!same_dtype(x, "dst", "src") || !axis_of(x, rank, 0, &axis) || !apart(x, "dst", "src")) return false;
  int n = source(x, "src", ext);
  if (n < 0) return false;
  if (n != rank - 1) {
    ac_diag *g =
        ac_error(ac_chk_d(c), AC0522, x->e->loc, "tl.broadcast: `%s` has %d dimension%s, so '%s' must have %d",
                 text(c, x->e->args[0]), rank, rank == 1 ? "" : "s", text(c, x->e->args[1]), rank - 1);
    ac_help(ac_chk_d(c), g, "the source lacks the axis that is named");
    return false;
  }
  for (int k = 0, from = 0, at = 0; k < buffer(c, d)->rank; k++) {
    if (!kept(d, k)) continue;
    ac_sym *room = ac_chk_room(c, d, k);
    out[at] = at == axis ? room : ext[from];
    from += at++ != axis;
  }
  return deliver(x, "dst", rank, out);
}

static bool scan(call *x) {
  ac_sym *ext[4];
  int axis;
  if (!same_dtype(x, "dst", "src") || !dtype_is(x, "src", NUMERIC, "numbers")) return false;
  int rank = source(x, "src", ext);
  if (rank < 0) return false;
  if (rank > 1 && !given(x, "axis")) {
    ac_diag *g = ac_error(ac_chk_d(x->c), AC0505, x->e->loc, "tl.%s of a buffer with %d dimensions needs `axis=`",
                          x->s->name, rank);
    ac_help(ac_chk_d(x->c), g, "tl.%s(dst, src, axis=-1) runs along each row", x->s->name);
    return false;
  }
  return axis_of(x, rank, 0, &axis) && deliver(x, "dst", rank, ext);
}

static bool transpose(call *x) {
  ac_sym *ext[4], *out[4] = {0};
  if (!same_dtype(x, "dst", "src") || !apart(x, "dst", "src")) return false;
  int rank = source(x, "src", ext);
  if (rank < 0) return false;
  if (rank != 2) {
    ac_error(ac_chk_d(x->c), AC0522, x->e->loc, "tl.transpose takes two dimensions; `%s` has %d",
             text(x->c, x->e->args[1]), rank);
    return false;
  }
  out[0] = ext[1];
  out[1] = ext[0];
  return deliver(x, "dst", 2, out);
}

static bool gather(call *x) {
  ac_sym *ext[4], *n[4];
  if (!same_dtype(x, "dst", "src") || !dtype_is(x, "index", AC_BIT(AC_I32), "int32") || !apart(x, "dst", "src") ||
      !apart(x, "dst", "index"))
    return false;
  int count = operand(x, "count");
  ac_cexpr *given_count = x->e->args[count];
  x->e->args[count] = NULL; /* it counts results */
  int rank = source(x, "src", ext);
  x->e->args[count] = given_count;
  if (rank < 0) return false;
  int m = source(x, "index", n);
  if (m < 0) return false;
  if (rank != 1 || m != 1) {
    ac_diag *g = ac_error(ac_chk_d(x->c), AC0522, x->e->loc, "tl.gather takes buffers with one dimension");
    ac_help(ac_chk_d(x->c), g, "gather row by row: tl.gather(dst[i], src[i], index)");
    return false;
  }
  if (!deliver(x, "dst", 1, n)) return false;
  ac_chk_inside(x->c, &x->v[operand(x, "index")], n[0], buffer(x->c, &x->v[operand(x, "src")])->name, ext[0],
                x->e->loc);
  return true;
}

static bool sort(call *x) {
  ac_sym *ext[4], *out[4] = {0};
  if (!same_dtype(x, "dst", "src") || !dtype_is(x, "src", SORTABLE, "float32 or float16") ||
      !dtype_is(x, "dst_index", AC_BIT(AC_I32), "int32"))
    return false;
  int rank = source(x, "src", ext);
  if (rank < 0) return false;
  if (rank != 1) {
    ac_diag *g = ac_error(ac_chk_d(x->c), AC0522, x->e->loc, "tl.%s takes one dimension; `%s` has %d", x->s->name,
                          text(x->c, x->e->args[2]), rank);
    ac_help(ac_chk_d(x->c), g, "sort row by row: tl.%s(v[i], k[i], src[i])", x->s->name);
    return false;
  }
  out[0] = x->places = ext[0];
  if (x->s->prim == AC_P_TOPK) {
    ac_oblig o = {.x = x->v[operand(x, "k")].sym, .y = ext[0], .code = AC0514, .loc = x->e->loc};
    if (!ac_chk_settled(x->c, &o)) {
      o.refuted =
          ac_sprintf(x->c->a, "the %s largest of %s elements", ac_sy_text(&x->c->s, o.x), ac_sy_text(&x->c->s, o.y));
      o.help = "k is at most the number of elements";
      ac_chk_unsettled(x->c, o);
    }
    out[0] = o.x;
  }
  if (ac_sy_range(&x->c->s, ext[0], x->c->st->facts).lo > 8192) {
    ac_diag *g = ac_error(ac_chk_d(x->c), AC0516, x->e->loc, "tl.%s of %s elements: it takes at most 8192",
                          x->s->name, ac_sy_text(&x->c->s, ext[0]));
    ac_help(ac_chk_d(x->c), g, "sort parts and merge their best in a further pass");
    return false;
  }
  return deliver(x, "dst", 1, out) && deliver(x, "dst_index", 1, out);
}

static ac_sym *sized(call *x, ac_sym *n, int64_t times, int64_t unit) {
  ac_syms *s = &x->c->s;
  ac_sym *u = ac_sy_int(s, unit);
  return ac_sy_mul(s, ac_sy_mul(s, ac_sy_fn(s, AC_SY_CDIV, n, u), u), ac_sy_int(s, times));
}

/* Records take two elements each: a value and a number. */
static bool records(call *x) {
  ac_chk *c = x->c;
  ac_sym *ext[4], *more[4], *out[4] = {0};
  const char *from = x->s->prim == AC_P_MERGE_RECORDS ? "a" : "src";
  if (!dtype_is(x, "dst", AC_BIT(AC_F32), "float32") || !dtype_is(x, from, AC_BIT(AC_F32), "float32") ||
      !apart(x, "dst", from))
    return false;
  ac_cexpr **count = x->s->prim == AC_P_SPLIT_RECORDS ? &x->e->args[operand(x, "count")] : NULL,
           *n = count ? *count : NULL;
  if (count) *count = NULL; /* it counts records */
  int rank = source(x, from, ext);
  if (count) *count = n;
  if (rank < 0) return false;
  if (rank != 1) {
    ac_error(ac_chk_d(c), AC0522, x->e->loc, "tl.%s takes buffers with one dimension", x->s->name);
    return false;
  }
  if (x->s->prim == AC_P_SORT_RECORDS) {
    out[0] = sized(x, ext[0], 2, 32);
    return deliver(x, "dst", 1, out);
  }
  if (x->s->prim == AC_P_MERGE_RECORDS) {
    if (!dtype_is(x, "b", AC_BIT(AC_F32), "float32") || !apart(x, "dst", "b") || source(x, "b", more) != 1)
      return false;
    out[0] = ac_sy_add(&c->s, ext[0], more[0]);
    return deliver(x, "dst", 1, out);
  }
  if (!dtype_is(x, "dst_index", AC_BIT(AC_I32), "int32")) return false;
  out[0] = n ? x->v[operand(x, "count")].sym : ac_sy_fn(&c->s, AC_SY_FLOORDIV, ext[0], ac_sy_int(&c->s, 2));
  ac_oblig o = {.x = ac_sy_mul(&c->s, out[0], ac_sy_int(&c->s, 2)), .y = ext[0], .code = AC0514, .loc = x->e->loc};
  if (!ac_chk_settled(c, &o)) {
    o.refuted = ac_sprintf(c->a, "%s records of %s elements: a record takes two", ac_sy_text(&c->s, out[0]),
                           ac_sy_text(&c->s, ext[0]));
    ac_chk_unsettled(c, o);
  }
  return deliver(x, "dst", 1, out) && deliver(x, "dst_index", 1, out);
}

/* Its value, how many were kept, is the destination's extent. */
static bool compress(call *x, ac_kval *kept_count) {
  ac_sym *ext[4];
  uint32_t words = AC_BIT(AC_F32) | AC_BIT(AC_I32) | AC_BIT(AC_U32) | AC_BIT(AC_F16) | AC_BIT(AC_BF16) |
                   AC_BIT(AC_I16) | AC_BIT(AC_U16);
  if (!same_dtype(x, "dst", "src") || !dtype_is(x, "src", words, "of 2 or 4 bytes") || !apart(x, "dst", "src"))
    return false;
  int rank = source(x, "src", ext);
  if (rank < 0) return false;
  const ac_kval *mask = &x->v[operand(x, "mask")];
  if (!ac_chk_readable(x->c, mask, x->e->args[operand(x, "mask")]->loc)) return false;
  note_computed(x->c, mask);
  const char *mask_name = buffer(x->c, mask)->name;
  if (buffer(x->c, mask)->dtype != AC_MASK) {
    ac_diag *g = ac_error(ac_chk_d(x->c), AC0508, x->e->args[2]->loc, "tl.compress takes a mask; '%s' is %s",
                          mask_name, ac_dtypes[buffer(x->c, mask)->dtype].name);
    ac_help(ac_chk_d(x->c), g, "%s = tl.alloc_ub(lanes, tl.mask); of bytes: tl.mask_from_bytes(mask, %s)", mask_name,
            mask_name);
    return false;
  }
  if (rank != 1 || x->v[0].nd || buffer(x->c, &x->v[0])->rank != 1) {
    ac_error(ac_chk_d(x->c), AC0522, x->e->loc, "tl.compress takes buffers with one dimension");
    return false;
  }
  ac_sym *n = ac_sy_fresh(&x->c->s, "the number kept");
  ac_sy_learn(&x->c->s, n)->slo = ac_sy_int(&x->c->s, 0);
  ac_sy_learn(&x->c->s, n)->shi = ext[0];
  note_computed(x->c, &x->v[0]);
  ac_chk_aligned(x->c, &x->v[0], x->e->args[0]);
  ac_chk_written(x->c, &x->v[0], n, NULL, true, x->e->loc); /* what lay behind stays */
  *kept_count = int_value(n);
  return true;
}

static bool insert(call *x) {
  ac_chk *c = x->c;
  ac_kval v = x->v[0];
  const ac_cbuffer *b = buffer(c, &v);
  ac_syms *s = &c->s;
  ac_sym *one = ac_sy_int(s, 1), *ext[4] = {one};
  note_computed(c, &v);
  if (ac_dtypes[b->dtype].cls != AC_FLOATING && x->v[2].kind == AC_CT_FLOAT) {
    ac_error(ac_chk_d(c), AC0508, x->e->args[2]->loc, "'%s' is of %s and takes an int; `%s` is a float", b->name,
             ac_dtypes[b->dtype].name, text(c, x->e->args[2]));
    return false;
  }
  if (rank_of(c, &v) != 1 || (v.nd && !v.nd->dim[b->rank - 1].kept)) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0522, x->e->loc, "tl.insert_scalar takes one row; `%s` is none",
                          text(c, x->e->args[0]));
    ac_help(ac_chk_d(c), g, "tl.insert_scalar(b[i], j, value)");
    return false;
  }
  if (b->rank == 1) {
    v.off = v.off ? ac_sy_add(s, v.off, x->v[1].sym) : x->v[1].sym;
    v.len = NULL;
    ac_chk_from_zero(c, x->e, v.buf, v.off);
    ac_chk_written(c, &v, one, NULL, true, x->e->loc);
    return true;
  }
  if (!ac_chk_view(c, x->e->args[0], &v, ext)) return false;
  ac_kview at = *v.nd;
  at.dim[b->rank - 1].lo = ac_sy_add(s, at.dim[b->rank - 1].lo, x->v[1].sym);
  at.dim[b->rank - 1].len = one;
  v.nd = &at;
  ac_chk_from_zero(c, x->e, v.buf, at.dim[b->rank - 1].lo);
  check_end(c, x->e, &v, b->rank - 1, ac_sy_add(s, at.dim[b->rank - 1].lo, one));
  ac_chk_part_written(c, &v, ext, x->e->loc);
  return true;
}

ac_kval ac_chk_shape_prim(ac_chk *c, ac_cexpr *e, const ac_sig *s, ac_kval *v) {
  call x = {c, e, s, v, NULL};
  ac_kval value = none;
  bool ok;
  int at = operand(&x, "dst_index"), to = at < 0 ? 0 : at;
  const ac_kbuf was = v[to].kind == AC_CT_BUFFER ? c->st->bufs[v[to].buf] : (ac_kbuf){0};
  int src = operand(&x, "src"), n = operand(&x, "count");
  ac_sym *count = n >= 0 && e->args[n]                      ? v[n].sym
                  : src >= 0 && v[src].kind == AC_CT_BUFFER ? ac_chk_extent(c, &v[src])
                                                            : NULL;
  const ac_kspan *made = at < 0 ? ac_chk_made(c, e, s, v, count) : NULL;
  switch ((int)s->prim) {
  case AC_P_REDUCE_SUM:
  case AC_P_REDUCE_MAX:
  case AC_P_REDUCE_MIN:
  case AC_P_REDUCE_PROD: ok = reduce(&x); break;
  case AC_P_ARGMAX:
  case AC_P_ARGMIN: ok = arg_reduce(&x); break;
  case AC_P_BROADCAST: ok = broadcast(&x); break;
  case AC_P_CUMSUM:
  case AC_P_CUMPROD:
  case AC_P_CUMMAX:
  case AC_P_CUMMIN: ok = scan(&x); break;
  case AC_P_TRANSPOSE: ok = transpose(&x); break;
  case AC_P_GATHER: ok = gather(&x); break;
  case AC_P_SORT:
  case AC_P_TOPK: ok = sort(&x); break;
  case AC_P_SORT_RECORDS:
  case AC_P_MERGE_RECORDS:
  case AC_P_SPLIT_RECORDS: ok = records(&x); break;
  case AC_P_COMPRESS: ok = compress(&x, &value); break;
  default: ok = insert(&x); break;
  }
  if (!ok) return ac_chk_failed(c, e);
  if (e->prim == AC_P_INST) { /* reduce: one instruction does it */
    ac_sig one = ac_sig_inst(e->inst);
    e->n_args = one.n;
    return ac_chk_compute(c, e, &one, v);
  }
  if (x.places) made = ac_chk_span_below(c, x.places);
  bool beside = s->prim == AC_P_COMPRESS || s->prim == AC_P_INSERT_SCALAR; /* what lay there stays */
  ac_chk_spans(c, &v[to], &was, beside, made);
  return value;
}

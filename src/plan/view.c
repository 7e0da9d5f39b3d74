/* Layout moves as boxes: each operation that only moves elements, as parts of the result that are strided copies of a source. */
#include "plan/move.h"

#include <string.h>

/* ---- symbols ---- */

static ac_graph *graph(const pl_ctx *p) {
  return (ac_graph *)p->g;
}
static const ac_sym *num(const pl_ctx *p, int64_t v) {
  return ac_sym_int(graph(p), v);
}
static const ac_sym *op(const pl_ctx *p, ac_symkind k, const ac_sym *a, const ac_sym *b) {
  return ac_sym_resolve(graph(p), ac_sym_op(graph(p), k, a, b));
}
static const ac_sym *add(const pl_ctx *p, const ac_sym *a, const ac_sym *b) {
  return op(p, AC_SYM_ADD, a, b);
}
static const ac_sym *sub(const pl_ctx *p, const ac_sym *a, const ac_sym *b) {
  return ac_sym_resolve(graph(p), ac_sym_sub(graph(p), a, b));
}
static const ac_sym *mul(const pl_ctx *p, const ac_sym *a, const ac_sym *b) {
  return op(p, AC_SYM_MUL, a, b);
}
static bool equal(const pl_ctx *p, const ac_sym *a, const ac_sym *b) {
  return a == b || ac_sym_equal(p->g, a, b);
}

/* ---- views ---- */

static pl_view whole(const pl_ctx *p, const ac_value *v) {
  pl_view w = {.base = v, .at = num(p, 0), .rank = v->rank};
  const ac_sym *step = num(p, 1);
  for (int i = v->rank - 1; i >= 0; i--) {
    w.size[i] = v->shape[i];
    w.stride[i] = step;
    step = mul(p, step, v->shape[i]);
  }
  return w;
}

bool pl_view_contiguous(const pl_ctx *p, const pl_view *w) {
  const ac_sym *step = num(p, 1);
  for (int i = w->rank - 1; i >= 0; i--) {
    if (pl_sym_is(p, w->size[i], 1)) continue;
    if (!equal(p, w->stride[i], step)) return false;
    step = mul(p, step, w->size[i]);
  }
  return true;
}

bool pl_view_joins(const pl_ctx *p, const pl_view *w, int outer, int inner) {
  return equal(p, w->stride[outer], mul(p, w->size[inner], w->stride[inner]));
}

int64_t pl_view_run(const pl_ctx *p, const pl_view *w) {
  int64_t run = 1;
  int last = -1;
  for (int i = w->rank - 1; i >= 0; i--) {
    if (pl_sym_is(p, w->size[i], 1)) continue;
    if (last < 0 && !pl_sym_is(p, w->stride[i], 1)) return 0;
    if (last >= 0 && !pl_view_joins(p, w, i, last)) break;
    run *= w->size[i]->example;
    last = i;
  }
  return run;
}

/* In another shape of as many elements: the same places where only dimensions of 1 come and go, or where it is one piece. */
static pl_view reshaped(pl_ctx *p, const ac_value *v) {
  const ac_value *x = v->def->args[0].t;
  pl_view from = pl_view_of(p, x), to = whole(p, v);
  int k = 0;
  bool units = true;
  for (int i = 0; i < v->rank && units; i++) {
    if (pl_sym_is(p, v->shape[i], 1)) {
      to.stride[i] = num(p, 0);
      continue;
    }
    while (k < from.rank && pl_sym_is(p, from.size[k], 1)) k++;
    units = k < from.rank && equal(p, from.size[k], v->shape[i]);
    if (units) to.stride[i] = from.stride[k++];
  }
  while (k < from.rank && pl_sym_is(p, from.size[k], 1)) k++;
  if (units && k == from.rank) {
    to.base = from.base;
    to.at = from.at;
    return to;
  }
  to = whole(p, v);
  bool piece = pl_view_contiguous(p, &from);
  to.base = piece ? from.base : x;
  to.at = piece ? from.at : num(p, 0);
  return to;
}

/* Where a slice begins: negative counts from the back, and what is outside is brought inside. Which of these holds is a guard of the
 * graph, so the example tells. */
static const ac_sym *begin(const pl_ctx *p, const ac_arg *start, const ac_sym *n) {
  const int64_t far = INT64_C(1) << 62;
  int64_t c;
  if (start->absent || !start->i) return num(p, 0);
  const ac_sym *s = start->i;
  if (ac_sym_is_const(s, &c) && (c > far || c < -far)) return c > 0 ? n : num(p, 0);
  if (s->example < 0) {
    s = add(p, n, s);
    return s->example < 0 ? num(p, 0) : s;
  }
  return s->example > n->example ? n : s;
}

static int dim_of(const ac_node *n, const char *name, int rank) {
  return ac_dim_index(pl_arg(n, name)->i->example, rank);
}

static void drop(pl_view *w, int d) {
  for (int i = d; i + 1 < w->rank; i++) {
    w->size[i] = w->size[i + 1];
    w->stride[i] = w->stride[i + 1];
  }
  w->rank--;
}

static pl_view diagonal(pl_ctx *p, const ac_node *n, pl_view w) {
  int a = dim_of(n, "dim1", w.rank), b = dim_of(n, "dim2", w.rank);
  int64_t off = pl_arg(n, "offset")->i->example;
  const ac_sym *step = add(p, w.stride[a], w.stride[b]);
  w.at = add(p, w.at, mul(p, num(p, off < 0 ? -off : off), w.stride[off < 0 ? a : b]));
  drop(&w, a > b ? a : b);
  drop(&w, a > b ? b : a);
  w.stride[w.rank] = step;
  w.size[w.rank++] = n->outs[0]->shape[n->outs[0]->rank - 1];
  return w;
}

static pl_view permuted(const ac_node *n, pl_view w) {
  pl_view to = w;
  const ac_arg *dims = pl_arg(n, "dims");
  for (int i = 0; i < dims->n; i++) {
    int d = ac_dim_index(dims->is[i]->example, w.rank);
    to.size[i] = w.size[d];
    to.stride[i] = w.stride[d];
  }
  return to;
}

static pl_view expanded(pl_ctx *p, const ac_value *v, pl_view w) {
  pl_view to = {.base = w.base, .at = w.at, .rank = v->rank};
  for (int i = 0; i < v->rank; i++) {
    int k = i - (v->rank - w.rank);
    bool one = k < 0 || (pl_sym_is(p, w.size[k], 1) && !pl_sym_is(p, v->shape[i], 1));
    to.size[i] = v->shape[i];
    to.stride[i] = one ? num(p, 0) : w.stride[k];
  }
  return to;
}

static pl_view flipped(pl_ctx *p, const ac_node *n, pl_view w) {
  const ac_arg *dims = pl_arg(n, "dims");
  for (int i = 0; i < dims->n; i++) {
    int d = ac_dim_index(dims->is[i]->example, w.rank);
    w.at = add(p, w.at, mul(p, sub(p, w.size[d], num(p, 1)), w.stride[d]));
    w.stride[d] = mul(p, num(p, -1), w.stride[d]);
  }
  return w;
}

static bool constants(const ac_arg *a) {
  int64_t c;
  for (int i = 0; i < a->n; i++)
    if (!ac_sym_is_const(a->is[i], &c)) return false;
  return true;
}

pl_view pl_view_of(pl_ctx *p, const ac_value *v) {
  const ac_node *n = v->def;
  if (!n || pl_tensor_of(p, v) >= 0 || !n->n_args || n->args[0].kind != AC_K_TENSOR) return whole(p, v);
  const ac_value *x = n->args[0].t;
  pl_view w;
  int d;
  switch (n->op) {
  case AC_G_RESHAPE:
  case AC_G_UNSQUEEZE:
  case AC_G_SQUEEZE: return reshaped(p, v);
  case AC_G_CLONE: return pl_view_of(p, x);
  case AC_G_PERMUTE: return permuted(n, pl_view_of(p, x));
  case AC_G_EXPAND: return expanded(p, v, pl_view_of(p, x));
  case AC_G_FLIP: return constants(pl_arg(n, "dims")) ? flipped(p, n, pl_view_of(p, x)) : whole(p, v);
  case AC_G_SLICE:
    w = pl_view_of(p, x);
    d = dim_of(n, "dim", w.rank);
    w.at = add(p, w.at, mul(p, begin(p, pl_arg(n, "start"), w.size[d]), w.stride[d]));
    w.stride[d] = mul(p, w.stride[d], pl_arg(n, "step")->i);
    w.size[d] = v->shape[d];
    return w;
  case AC_G_SELECT:
    w = pl_view_of(p, x);
    d = dim_of(n, "dim", w.rank);
    const ac_sym *i = pl_arg(n, "index")->i;
    if (i->example < 0) i = add(p, w.size[d], i);
    w.at = add(p, w.at, mul(p, i, w.stride[d]));
    drop(&w, d);
    return w;
  case AC_G_DIAGONAL: return diagonal(p, n, pl_view_of(p, x));
  case AC_G_UNFOLD:
    w = pl_view_of(p, x);
    if (!w.rank) return whole(p, v);
    d = dim_of(n, "dimension", w.rank);
    w.stride[w.rank] = w.stride[d];
    w.size[w.rank++] = v->shape[v->rank - 1];
    w.stride[d] = mul(p, w.stride[d], pl_arg(n, "step")->i);
    w.size[d] = v->shape[d];
    return w;
  default: return whole(p, v);
  }
}

/* ---- boxes ---- */

/* Leaves out dimensions of 1 and joins those that lie behind one another. */
static void tidy(const pl_ctx *p, move_box *b) {
  int n = 0;
  for (int i = 0; i < b->n; i++) {
    move_dim d = b->dim[i], *o = n ? &b->dim[n - 1] : NULL;
    if (pl_sym_is(p, d.size, 1)) continue;
    bool joins = o && equal(p, o->out, mul(p, d.size, d.out)) && (!b->src || equal(p, o->in, mul(p, d.size, d.in)));
    if (joins)
      *o = (move_dim){.size = mul(p, o->size, d.size), .in = d.in, .out = d.out};
    else
      b->dim[n++] = d;
  }
  b->n = n;
  const ac_sym *one = num(p, 1);
  if (!n || !equal(p, b->dim[n - 1].out, one)) b->dim[b->n++] = (move_dim){.size = one, .in = one, .out = one};
}

static bool push(move_boxes *to, const pl_ctx *p, move_box b) {
  for (int i = 0; i < b.n; i++)
    if (pl_sym_is(p, b.dim[i].size, 0)) return true; /* nothing in it */
  if (to->n == MOVE_MAX_BOXES) return false;
  tidy(p, &b);
  to->box[to->n++] = b;
  return true;
}

/* A view that goes to the result's dimensions, from place `at` on. */
static move_box box_of(const pl_ctx *p, const pl_view *w, const pl_view *result) {
  move_box b = {.src = w->base, .n = w->rank, .in_at = w->at, .out_at = num(p, 0)};
  for (int i = 0; i < w->rank; i++)
    b.dim[i] = (move_dim){.size = w->size[i], .in = w->stride[i], .out = result->stride[i]};
  return b;
}

static bool too_many(pl_ctx *p, const ac_node *n) {
  return pl_refuse(p, n->loc, ac_op_info(n->op)->id, "its result has more than %d parts", MOVE_MAX_BOXES);
}

static bool is_fill(const ac_value *v, double *number) {
  const ac_node *n = pl_stripped(v)->def;
  return n && n->op == AC_G_FULL && pl_number(n, "fill_value", 0, number);
}

static bool split_cat(pl_ctx *p, const ac_node *n, const pl_view *y, move_boxes *to) {
  const ac_arg *parts = pl_arg(n, "tensors");
  const ac_value *v = n->outs[0];
  int d = dim_of(n, "dim", v->rank);
  const ac_sym *at = num(p, 0);
  for (int i = 0; i < parts->n; i++) {
    const ac_value *x = parts->ts[i];
    if (x->rank != v->rank) continue; /* an empty vector */
    if (x->dtype != v->dtype)
      return pl_refuse(p, n->loc, "cat", "a part of %s in a result of %s; convert it first", ac_dtypes[x->dtype].name,
                       ac_dtypes[v->dtype].name);
    double number;
    bool fill = is_fill(x, &number);
    pl_view w = fill ? whole(p, x) : pl_view_of(p, x);
    move_box b = box_of(p, &w, y);
    if (fill) b.src = NULL, b.fill = number;
    b.out_at = mul(p, at, y->stride[d]);
    if (!push(to, p, b)) return too_many(p, n);
    at = add(p, at, x->shape[d]);
  }
  return true;
}

/* Along dimension d of the boxes [from, to->n): each is replaced by the parts of it that `cut` makes. */
typedef struct {
  const ac_sym *size, *from, *step, *to; /* elements, first one in the source, distance there, place in the result */
} piece;

/* Boxes of all combinations of pieces, dimension by dimension. `count[d]` 0: as it is. */
static bool combine(pl_ctx *p, const pl_view *x, const pl_view *y, piece (*pieces)[3], const int *count, int d,
                    move_box b, move_boxes *to) {
  if (d == x->rank) return push(to, p, b);
  if (!count[d]) return combine(p, x, y, pieces, count, d + 1, b, to);
  for (int k = 0; k < count[d]; k++) {
    const piece *c = &pieces[d][k];
    if (pl_sym_is(p, c->size, 0)) continue;
    move_box q = b;
    q.dim[d] = (move_dim){.size = c->size, .in = mul(p, c->step, x->stride[d]), .out = y->stride[d]};
    q.in_at = add(p, q.in_at, mul(p, c->from, x->stride[d]));
    q.out_at = add(p, q.out_at, mul(p, c->to, y->stride[d]));
    if (!combine(p, x, y, pieces, count, d + 1, q, to)) return false;
  }
  return true;
}

static bool split_roll(pl_ctx *p, const ac_node *n, const pl_view *y, move_boxes *to) {
  const ac_arg *dims = pl_arg(n, "dims"), *shifts = pl_arg(n, "shifts");
  bool flat = dims->absent || !dims->n;
  pl_view x = flat ? whole(p, pl_arg(n, "input")->t) : pl_view_of(p, pl_arg(n, "input")->t), out = *y;
  piece pieces[AC_MAX_RANK][3];
  int count[AC_MAX_RANK] = {0};
  const ac_sym *total[AC_MAX_RANK] = {NULL}, *one = num(p, 1);
  if (flat) {
    const ac_sym *all = one;
    for (int i = 0; i < x.rank; i++) all = mul(p, all, x.size[i]);
    x.rank = out.rank = 1;
    x.size[0] = all;
    x.stride[0] = out.stride[0] = one;
  }
  for (int i = 0; i < shifts->n; i++) {
    int d = flat ? 0 : ac_dim_index(dims->is[i]->example, x.rank);
    total[d] = total[d] ? add(p, total[d], shifts->is[i]) : shifts->is[i];
  }
  for (int d = 0; d < x.rank; d++) {
    if (!total[d] || pl_sym_is(p, total[d], 0)) continue;
    const ac_sym *s = op(p, AC_SYM_MOD, total[d], op(p, AC_SYM_MAX, x.size[d], one)), *rest = sub(p, x.size[d], s);
    pieces[d][0] = (piece){.size = s, .from = rest, .step = one, .to = num(p, 0)};
    pieces[d][1] = (piece){.size = rest, .from = num(p, 0), .step = one, .to = s};
    count[d] = 2;
  }
  return combine(p, &x, &out, pieces, count, 0, box_of(p, &x, &out), to) || too_many(p, n);
}

/* What is not the number: the source less what negative paddings cut off. Around it slabs, the outermost dimension's first. */
static bool constant_pad(pl_ctx *p, const ac_node *n, const pl_view *x, const pl_view *y, double fill,
                         move_boxes *to) {
  const ac_arg *pad = pl_arg(n, "pad");
  const ac_sym *zero = num(p, 0);
  move_box b = box_of(p, x, y), slab = {.fill = fill, .n = y->rank, .in_at = zero, .out_at = zero};
  for (int d = 0; d < y->rank; d++)
    slab.dim[d] = (move_dim){.size = n->outs[0]->shape[d], .in = zero, .out = y->stride[d]};
  for (int d = 0; d < y->rank; d++) {
    int k = y->rank - 1 - d;
    if (2 * k + 1 >= pad->n) continue;
    const ac_sym *lo = pad->is[2 * k], *hi = pad->is[2 * k + 1];
    const ac_sym *front = op(p, AC_SYM_MAX, lo, zero), *back = op(p, AC_SYM_MAX, hi, zero);
    const ac_sym *cut = op(p, AC_SYM_MAX, sub(p, zero, lo), zero),
                 *mid = sub(p, sub(p, n->outs[0]->shape[d], front), back);
    move_box s = slab;
    s.dim[d].size = front;
    if (!push(to, p, s)) return too_many(p, n);
    s.dim[d].size = back;
    s.out_at = add(p, slab.out_at, mul(p, add(p, front, mid), y->stride[d]));
    if (!push(to, p, s)) return too_many(p, n);
    slab.dim[d].size = mid;
    slab.out_at = add(p, slab.out_at, mul(p, front, y->stride[d]));
    b.dim[d].size = mid;
    b.in_at = add(p, b.in_at, mul(p, cut, x->stride[d]));
    b.out_at = add(p, b.out_at, mul(p, front, y->stride[d]));
  }
  return push(to, p, b) || too_many(p, n);
}

static bool split_pad(pl_ctx *p, const ac_node *n, const pl_view *y, move_boxes *to) {
  const ac_arg *pad = pl_arg(n, "pad");
  const char *mode = pl_arg(n, "mode")->s;
  pl_view x = pl_view_of(p, pl_arg(n, "input")->t);
  double fill = 0;
  if (!strcmp(mode, "constant")) {
    if (!pl_arg(n, "value")->absent && !pl_number(n, "value", 0, &fill))
      return pl_refuse(p, n->loc, "pad", "its value must be a constant");
    return constant_pad(p, n, &x, y, fill, to);
  }
  bool reflect = !strcmp(mode, "reflect"), circular = !strcmp(mode, "circular");
  piece pieces[AC_MAX_RANK][3];
  int count[AC_MAX_RANK] = {0};
  const ac_sym *zero = num(p, 0), *one = num(p, 1), *step = num(p, reflect ? -1 : circular ? 1 : 0);
  for (int k = 0; 2 * k + 1 < pad->n; k++) {
    int d = x.rank - 1 - k;
    const ac_sym *lo = pad->is[2 * k], *hi = pad->is[2 * k + 1], *size = x.size[d];
    if (lo->example < 0 || hi->example < 0)
      return pl_refuse(p, n->loc, "pad", "a negative padding in mode '%s'; slice the tensor instead", mode);
    const ac_sym *end = sub(p, size, one);
    const ac_sym *front = reflect    ? lo
                          : circular ? sub(p, size, lo)
                                     : zero,
                 *back = reflect    ? sub(p, end, one)
                         : circular ? zero
                                    : end;
    pieces[d][0] = (piece){.size = lo, .from = front, .step = step, .to = zero};
    pieces[d][1] = (piece){.size = size, .from = zero, .step = one, .to = lo};
    pieces[d][2] = (piece){.size = hi, .from = back, .step = step, .to = add(p, lo, size)};
    count[d] = 3;
  }
  return combine(p, &x, y, pieces, count, 0, box_of(p, &x, y), to) || too_many(p, n);
}

static bool split_repeat(pl_ctx *p, const ac_node *n, const pl_view *y, move_boxes *to) {
  const ac_arg *times = pl_arg(n, "repeats");
  pl_view x = pl_view_of(p, pl_arg(n, "input")->t);
  move_box b = {.src = x.base, .in_at = x.at, .out_at = num(p, 0)};
  for (int i = 0; i < y->rank; i++) {
    int k = i - (y->rank - x.rank), t = i - (y->rank - times->n);
    const ac_sym *size = k < 0 ? num(p, 1) : x.size[k], *r = t < 0 ? num(p, 1) : times->is[t];
    b.dim[b.n++] = (move_dim){.size = r, .in = num(p, 0), .out = mul(p, size, y->stride[i])};
    if (k >= 0) b.dim[b.n++] = (move_dim){.size = size, .in = x.stride[k], .out = y->stride[i]};
  }
  return push(to, p, b) || too_many(p, n);
}

static bool split_interleave(pl_ctx *p, const ac_node *n, const pl_view *y, move_boxes *to) {
  const ac_sym *r = pl_arg(n, "repeats")->i, *one = num(p, 1);
  const ac_arg *dim = pl_arg(n, "dim");
  pl_view x = dim->absent ? whole(p, pl_arg(n, "input")->t) : pl_view_of(p, pl_arg(n, "input")->t);
  move_box b = {.src = x.base, .in_at = x.at, .out_at = num(p, 0)};
  int at = dim->absent ? x.rank - 1 : dim_of(n, "dim", x.rank);
  if (dim->absent) {
    const ac_sym *all = one;
    for (int i = 0; i < x.rank; i++) all = mul(p, all, x.size[i]);
    b.dim[b.n++] = (move_dim){.size = all, .in = one, .out = r};
    b.dim[b.n++] = (move_dim){.size = r, .in = num(p, 0), .out = one};
    return push(to, p, b) || too_many(p, n);
  }
  for (int i = 0; i < x.rank; i++) {
    const ac_sym *out = i == at ? mul(p, r, y->stride[i]) : y->stride[i];
    b.dim[b.n++] = (move_dim){.size = x.size[i], .in = x.stride[i], .out = out};
    if (i == at) b.dim[b.n++] = (move_dim){.size = r, .in = num(p, 0), .out = y->stride[i]};
  }
  return push(to, p, b) || too_many(p, n);
}

/* The source between two slabs of the input. */
static bool split_insert(pl_ctx *p, const ac_node *n, const pl_view *y, move_boxes *to) {
  pl_view x = pl_view_of(p, pl_arg(n, "input")->t), s = pl_view_of(p, pl_arg(n, "src")->t);
  int d = dim_of(n, "dim", x.rank);
  const ac_sym *one = num(p, 1), *from, *many = one;
  if (n->op == AC_G_SLICE_SCATTER) {
    if (!pl_sym_is(p, pl_arg(n, "step")->i, 1))
      return pl_refuse(p, n->loc, "slice_scatter", "a step of more than 1; step 1 is covered");
    from = begin(p, pl_arg(n, "start"), x.size[d]);
    many = s.size[d];
  } else {
    from = pl_arg(n, "index")->i;
    if (from->example < 0) from = add(p, x.size[d], from);
    for (int i = s.rank; i > d; i--) s.size[i] = s.size[i - 1], s.stride[i] = s.stride[i - 1];
    s.rank++;
    s.size[d] = one;
    s.stride[d] = num(p, 0);
  }
  if (pl_arg(n, "src")->t->dtype != n->outs[0]->dtype)
    return pl_refuse(p, n->loc, ac_op_info(n->op)->id, "its source has another dtype; convert it first");
  move_box b = box_of(p, &x, y), mid = box_of(p, &s, y), after = b;
  b.dim[d].size = from;
  mid.out_at = mul(p, from, y->stride[d]);
  const ac_sym *end = add(p, from, many);
  after.dim[d].size = sub(p, x.size[d], end);
  after.in_at = add(p, after.in_at, mul(p, end, x.stride[d]));
  after.out_at = mul(p, end, y->stride[d]);
  return (push(to, p, b) && push(to, p, mid) && push(to, p, after)) || too_many(p, n);
}

bool move_takes(const ac_node *n) {
  switch (n->op) {
  case AC_G_PERMUTE:
  case AC_G_SLICE:
  case AC_G_SELECT:
  case AC_G_DIAGONAL:
  case AC_G_UNFOLD:
  case AC_G_EXPAND:
  case AC_G_FLIP:
  case AC_G_ROLL:
  case AC_G_REPEAT:
  case AC_G_REPEAT_INTERLEAVE:
  case AC_G_CAT:
  case AC_G_PAD:
  case AC_G_SLICE_SCATTER:
  case AC_G_SELECT_SCATTER: return true;
  default: return false;
  }
}

static bool split(pl_ctx *p, const ac_node *n, move_boxes *to) {
  const ac_value *v = n->outs[0];
  pl_view y = whole(p, v);
  switch (n->op) {
  case AC_G_CAT: return split_cat(p, n, &y, to);
  case AC_G_PAD: return split_pad(p, n, &y, to);
  case AC_G_ROLL: return split_roll(p, n, &y, to);
  case AC_G_REPEAT: return split_repeat(p, n, &y, to);
  case AC_G_REPEAT_INTERLEAVE: return split_interleave(p, n, &y, to);
  case AC_G_SLICE_SCATTER:
  case AC_G_SELECT_SCATTER: return split_insert(p, n, &y, to);
  default: break;
  }
  pl_view w = pl_view_of(p, v);
  if (w.base == v) return pl_refuse(p, n->loc, ac_op_info(n->op)->id, "its dimensions must be constants");
  return push(to, p, box_of(p, &w, &y)) || too_many(p, n);
}

bool move_split(pl_ctx *p, const ac_node *n, move_boxes *to) {
  if (!split(p, n, to)) return false;
  if (to->n) return true;
  const ac_sym *none = num(p, 0), *one = num(p, 1); /* an empty result */
  to->box[to->n++] =
      (move_box){.n = 1, .dim = {{.size = none, .in = one, .out = one}}, .in_at = none, .out_at = none};
  return true;
}

/* Reference: views, index operations, joins, pooling and creation. */
#include "graph/ref.h"

#include <math.h>
#include <string.h>

static int64_t norm_index(int64_t i, int64_t n) {
  return i < 0 ? i + n : i;
}

/* Position of a linear index in a shape. */
static void unravel(const ac_shape *s, int64_t lin, int64_t *pos) {
  for (int i = s->rank - 1; i >= 0; i--) {
    pos[i] = lin % s->dim[i];
    lin /= s->dim[i];
  }
}
static int64_t ravel(const ref_val *x, const int64_t *pos) {
  int64_t at = 0;
  for (int i = 0; i < x->shape.rank; i++) at += pos[i] * x->stride[i];
  return at;
}
static void put(ref_buf dst, int64_t i, bool is_int, ac_ref *r, const ac_value *v, int64_t at) {
  if (is_int)
    dst.i[i] = ref_at_i(r, v, at);
  else
    dst.f[i] = ref_at_f(r, v, at);
}

/* PyTorch's clamping of slice bounds. */
static int64_t slice_start(const ac_node *n, int64_t len) {
  int64_t s = norm_index(ref_int(n, "start", 0), len);
  return s < 0 ? 0 : s > len ? len : s;
}

/* ---- views: an affine map of indices ---------------------------------------------------------------------- */

static bool same_order(const ac_node *n) {
  return n->op == AC_G_RESHAPE || n->op == AC_G_UNSQUEEZE || n->op == AC_G_SQUEEZE;
}

bool ref_view_prep(ac_ref *r, const ac_node *n) {
  return same_order(n) || n->args[0].t->def->op == AC_G_INPUT || ref_materialise(r, n->args[0].t);
}

static void view_map(ac_ref *r, const ac_node *n, int64_t *st, int64_t *base) {
  ref_val *x = ref_of(r, n->args[0].t), *y = ref_of(r, n->outs[0]);
  int rank = x->shape.rank, out = y->shape.rank;
  *base = 0;
  if (n->op == AC_G_PERMUTE) {
    const ac_arg *a = ref_arg(n, "dims");
    for (int i = 0; i < out; i++) st[i] = x->stride[norm_index(a->is[i]->example, rank)];
  } else if (n->op == AC_G_EXPAND) {
    for (int i = 0; i < out; i++) {
      int k = i - (out - rank);
      st[i] = k < 0 || (x->shape.dim[k] == 1 && y->shape.dim[i] != 1) ? 0 : x->stride[k];
    }
  } else if (n->op == AC_G_SLICE) {
    int d = ref_dim(n, "dim", rank);
    for (int i = 0; i < out; i++) st[i] = x->stride[i];
    *base = slice_start(n, x->shape.dim[d]) * x->stride[d];
    st[d] *= ref_int(n, "step", 1);
  } else if (n->op == AC_G_SELECT) {
    int d = ref_dim(n, "dim", rank);
    *base = norm_index(ref_int(n, "index", 0), x->shape.dim[d]) * x->stride[d];
    for (int i = 0; i < out; i++) st[i] = x->stride[i < d ? i : i + 1];
  } else if (n->op == AC_G_DIAGONAL) {
    int d1 = ref_dim(n, "dim1", rank), d2 = ref_dim(n, "dim2", rank), k = 0;
    int64_t off = ref_int(n, "offset", 0);
    for (int i = 0; i < rank; i++)
      if (i != d1 && i != d2) st[k++] = x->stride[i];
    st[k] = x->stride[d1] + x->stride[d2];
    *base = off >= 0 ? off * x->stride[d2] : -off * x->stride[d1];
  } else { /* unfold */
    int d = ref_dim(n, "dimension", rank);
    for (int i = 0; i < rank; i++) st[i] = x->stride[i];
    st[d] *= ref_int(n, "step", 1);
    st[rank] = rank ? x->stride[d] : 1;
  }
}

void ref_view_read(ac_ref *r, const ac_value *v, int64_t start, int64_t cnt, ref_buf dst) {
  const ac_node *n = v->def;
  const ac_value *x = n->args[0].t;
  if (same_order(n)) {
    ref_read(r, x, start, cnt, dst);
    return;
  }
  int64_t st[16], base;
  view_map(r, n, st, &base);
  ref_walk w;
  ref_walk_init(&w, &ref_of(r, v)->shape, st, base, start);
  bool is_int = ref_of(r, v)->is_int;
  for (int64_t i = 0; i < cnt; i++, ref_walk_next(&w)) put(dst, i, is_int, r, x, w.at);
}

/* ---- index operations ------------------------------------------------------------------------------------------ */

static bool bad_index(ac_ref *r, const ac_node *n, int64_t k, int64_t len) {
  return !ref_fail(r, n, AC0394, "%s: index %lld is out of range for a dimension of size %lld", ac_op_info(n->op)->id,
                   (long long)k, (long long)len);
}

/* out = copy of input, then elements of src go to the indexed places, in row-major order of src (the last one wins). */
static bool scatter(ac_ref *r, const ac_node *n) {
  const ac_value *xv = n->args[0].t;
  const ac_arg *sa = ref_arg(n, "src");
  const ac_value *sv = sa ? sa->t : ref_arg(n, "source")->t;
  ref_val *x = ref_of(r, xv), *y = ref_of(r, n->outs[0]), *s = ref_of(r, sv);
  int rank = x->shape.rank, d = ref_dim(n, "dim", rank);
  const ac_arg *ia = ref_arg(n, "index"), *red = ref_arg(n, "reduce");
  bool whole = n->op == AC_G_INDEX_ADD || n->op == AC_G_INDEX_COPY; /* index is one-dimensional */
  bool add = n->op == AC_G_SCATTER_ADD || n->op == AC_G_INDEX_ADD || (red && red->s && !strcmp(red->s, "add"));
  bool mul = red && red->s && !strncmp(red->s, "mul", 3);
  double alpha = n->op == AC_G_INDEX_ADD ? ref_float(n, "alpha", 1) : 1;
  if (!ia) return ref_fail(r, n, AC0391, "%s without an index", ac_op_info(n->op)->id);
  if (!ref_random(r, xv) || !ref_random(r, sv) || !ref_random(r, ia->t)) return false;
  if (!(y->mat.p = ref_alloc(r, y->numel, 8))) return false;
  for (int64_t i = 0; i < x->numel; i++) put(y->mat, i, y->is_int, r, xv, i);
  const ac_shape *over = whole ? &s->shape : &ref_of(r, ia->t)->shape;
  int64_t total = ac_shape_numel(over), len = rank ? x->shape.dim[d] : 1, pos[16];
  for (int64_t e = 0; e < total; e++) {
    unravel(over, e, pos);
    int64_t from = s->numel == 1 ? 0 : ravel(s, pos);
    int64_t k = ref_at_i(r, ia->t, whole ? (rank ? pos[d] : 0) : e);
    k = whole ? norm_index(k, len) : k;
    if (k < 0 || k >= len) return !bad_index(r, n, k, len);
    if (rank) pos[d] = k;
    int64_t to = ravel(y, pos);
    if (y->is_int) {
      int64_t v = ref_at_i(r, sv, from);
      y->mat.i[to] = add   ? (int64_t)((uint64_t)y->mat.i[to] + (uint64_t)v * (uint64_t)(int64_t)alpha)
                     : mul ? y->mat.i[to] * v
                           : v;
    } else {
      double v = ref_at_f(r, sv, from);
      y->mat.f[to] = add ? y->mat.f[to] + alpha * v : mul ? y->mat.f[to] * v : v;
    }
  }
  return true;
}

/* slice_scatter, select_scatter: a copy of input with one strided part replaced. */
static bool part_scatter(ac_ref *r, const ac_node *n) {
  const ac_value *xv = n->args[0].t, *sv = ref_arg(n, "src")->t;
  ref_val *x = ref_of(r, xv), *y = ref_of(r, n->outs[0]), *s = ref_of(r, sv);
  int rank = x->shape.rank, d = ref_dim(n, "dim", rank);
  bool select = n->op == AC_G_SELECT_SCATTER;
  if (!ref_random(r, xv) || !ref_random(r, sv) || !(y->mat.p = ref_alloc(r, y->numel, 8))) return false;
  for (int64_t i = 0; i < x->numel; i++) put(y->mat, i, y->is_int, r, xv, i);
  int64_t first = select ? norm_index(ref_int(n, "index", 0), x->shape.dim[d]) : slice_start(n, x->shape.dim[d]);
  int64_t step = select ? 1 : ref_int(n, "step", 1), pos[16], to[16];
  for (int64_t e = 0; e < s->numel; e++) {
    unravel(&s->shape, e, pos);
    for (int i = 0, k = 0; i < rank; i++) to[i] = i == d ? (select ? first : first + step * pos[k++]) : pos[k++];
    put(y->mat, ravel(y, to), y->is_int, r, sv, e);
  }
  return true;
}

bool ref_index_prep(ac_ref *r, const ac_node *n) {
  switch (n->op) {
  case AC_G_SCATTER:
  case AC_G_SCATTER_ADD:
  case AC_G_INDEX_ADD:
  case AC_G_INDEX_COPY: return scatter(r, n);
  case AC_G_SLICE_SCATTER:
  case AC_G_SELECT_SCATTER: return part_scatter(r, n);
  case AC_G_CAT: return true;
  default: break;
  }
  for (int i = 0; i < n->n_args; i++) {
    const ac_arg *a = &n->args[i];
    if (!a->absent && a->kind == AC_K_TENSOR && !ref_random(r, a->t)) return false;
    for (int k = 0; a->kind == AC_K_TENSORS && k < a->n; k++)
      if (a->ts[k] && !ref_random(r, a->ts[k])) return false;
  }
  return true;
}

static void cat_read(ac_ref *r, const ac_node *n, int64_t start, int64_t cnt, ref_buf dst) {
  ref_val *y = ref_of(r, n->outs[0]);
  const ac_arg *a = &n->args[0];
  int64_t outer, len, inner, i = 0;
  ref_split(&y->shape, ref_dim(n, "dim", y->shape.rank), &outer, &len, &inner);
  int d = ref_dim(n, "dim", y->shape.rank);
  while (i < cnt) { /* one run inside one operand at a time */
    int64_t lin = start + i, o = lin / (len * inner), k = lin / inner % len, off = 0, part = 0;
    int t = 0;
    for (; t < a->n; t++, off += part) {
      ref_val *x = ref_of(r, a->ts[t]);
      if (x->shape.rank != y->shape.rank) { /* legacy: an empty one-dimensional operand is skipped */
        part = 0;
        continue;
      }
      part = x->shape.dim[d];
      if (k < off + part) break;
    }
    int64_t in_row = (k - off) * inner + lin % inner, run = part * inner - in_row;
    if (run > cnt - i) run = cnt - i;
    const ac_value *src = a->ts[t];
    if (y->is_int)
      ref_read_i(r, src, o * part * inner + in_row, run, dst.i + i);
    else
      ref_read_f(r, src, o * part * inner + in_row, run, dst.f + i);
    i += run;
  }
}

/* Where a padded index comes from: -1 means the fill value. */
static int64_t pad_source(int64_t k, int64_t len, char mode) {
  if (k >= 0 && k < len) return k;
  switch (mode) {
  case 'r': /* reflect, without repeating the edge */
    if (len == 1) return 0;
    k = (k < 0 ? -k : k) % (2 * (len - 1));
    return k < len ? k : 2 * (len - 1) - k;
  case 'e': return k < 0 ? 0 : len - 1; /* replicate */
  case 'c': /* circular */ k %= len; return k < 0 ? k + len : k;
  default: return -1;
  }
}
static void pad_one(ac_ref *r, const ac_node *n, int64_t *pos, ref_buf dst, int64_t i) {
  ref_val *x = ref_of(r, n->args[0].t), *y = ref_of(r, n->outs[0]);
  const ac_arg *p = ref_arg(n, "pad"), *m = ref_arg(n, "mode");
  const char *mode = m && m->s ? m->s : "constant";
  char how = !strcmp(mode, "reflect")     ? 'r'
             : !strcmp(mode, "replicate") ? 'e'
             : !strcmp(mode, "circular")  ? 'c'
                                          : 'k';
  for (int d = 0; d < x->shape.rank; d++) {
    int back = x->shape.rank - 1 - d; /* pairs count from the last dimension */
    int64_t k = pos[d] - (2 * back < p->n ? p->is[(size_t)(2 * back)]->example : 0);
    pos[d] = pad_source(k, x->shape.dim[d], how);
    if (pos[d] < 0) {
      if (y->is_int)
        dst.i[i] = n->outs[0]->dtype == AC_BOOL ? ref_float(n, "value", 0) != 0 : ref_int(n, "value", 0);
      else
        dst.f[i] = ref_float(n, "value", 0);
      return;
    }
  }
  put(dst, i, y->is_int, r, n->args[0].t, ravel(x, pos));
}

static void index_one(ac_ref *r, const ac_node *n, int64_t *pos, ref_buf dst, int64_t i, int64_t lin) {
  const ac_value *xv = n->args[0].t;
  ref_val *x = ref_of(r, xv), *y = ref_of(r, n->outs[0]);
  int rank = x->shape.rank;
  int64_t k, to[16];
  switch (n->op) {
  case AC_G_FLIP: {
    const ac_arg *a = ref_arg(n, "dims");
    for (int j = 0; j < a->n; j++) {
      int64_t d = norm_index(a->is[j]->example, rank);
      pos[d] = x->shape.dim[d] - 1 - pos[d];
    }
    break;
  }
  case AC_G_ROLL: {
    const ac_arg *a = ref_arg(n, "dims"), *s = ref_arg(n, "shifts");
    if (!a || a->n == 0) { /* flattened */
      k = (lin - s->is[0]->example) % x->numel;
      put(dst, i, y->is_int, r, xv, k < 0 ? k + x->numel : k);
      return;
    }
    for (int j = 0; j < a->n; j++) {
      int64_t d = norm_index(a->is[j]->example, rank);
      pos[d] = (pos[d] - s->is[j]->example) % x->shape.dim[d];
      if (pos[d] < 0) pos[d] += x->shape.dim[d];
    }
    break;
  }
  case AC_G_REPEAT:
    for (int d = 0; d < rank; d++) to[d] = pos[y->shape.rank - rank + d] % x->shape.dim[d];
    memcpy(pos, to, sizeof to);
    break;
  case AC_G_REPEAT_INTERLEAVE:
    if (!ref_arg(n, "dim")) {
      put(dst, i, y->is_int, r, xv, lin / ref_int(n, "repeats", 1));
      return;
    }
    pos[ref_dim(n, "dim", rank)] /= ref_int(n, "repeats", 1);
    break;
  case AC_G_TRIL:
  case AC_G_TRIU: {
    int64_t diff = pos[rank - 1] - pos[rank - 2], diag = ref_int(n, "diagonal", 0);
    if (n->op == AC_G_TRIL ? diff > diag : diff < diag) {
      dst.i[i] = 0; /* also the bits of 0.0 */
      return;
    }
    break;
  }
  case AC_G_GATHER:
    k = ref_at_i(r, ref_arg(n, "index")->t, lin);
    if (!rank) break;
    if (k < 0 || k >= x->shape.dim[ref_dim(n, "dim", rank)]) {
      bad_index(r, n, k, x->shape.dim[ref_dim(n, "dim", rank)]);
      return;
    }
    pos[ref_dim(n, "dim", rank)] = k;
    break;
  case AC_G_INDEX_SELECT: {
    int d = ref_dim(n, "dim", rank);
    k = ref_at_i(r, ref_arg(n, "index")->t, rank ? pos[d] : 0);
    int64_t len = rank ? x->shape.dim[d] : 1;
    if (k < 0 || k >= len) {
      bad_index(r, n, k, len);
      return;
    }
    if (rank) pos[d] = k;
    break;
  }
  case AC_G_EMBEDDING: {
    ref_val *w = ref_of(r, n->args[1].t);
    k = ref_at_i(r, xv, lin / w->shape.dim[1]);
    if (k < 0 || k >= w->shape.dim[0]) {
      bad_index(r, n, k, w->shape.dim[0]);
      return;
    }
    put(dst, i, false, r, n->args[1].t, k * w->shape.dim[1] + lin % w->shape.dim[1]);
    return;
  }
  case AC_G_INDEX: { /* x[..., i0, i1, ..., :]: index shape replaces the dimensions [at, at + n) */
    const ac_arg *a = ref_arg(n, "indices");
    int at = (int)ref_int(n, "at", 0), ir = y->shape.rank - (rank - a->n);
    for (int d = 0; d < at; d++) to[d] = pos[d];
    for (int t = 0; t < a->n; t++) {
      ref_val *ix = ref_of(r, a->ts[t]);
      int64_t li = 0;
      for (int d = 0; d < ix->shape.rank; d++) {
        int64_t q = pos[at + ir - ix->shape.rank + d];
        li += (ix->shape.dim[d] == 1 ? 0 : q) * ix->stride[d];
      }
      k = norm_index(ref_at_i(r, a->ts[t], li), x->shape.dim[at + t]);
      if (k < 0 || k >= x->shape.dim[at + t]) {
        bad_index(r, n, k, x->shape.dim[at + t]);
        return;
      }
      to[at + t] = k;
    }
    for (int d = at + a->n; d < rank; d++) to[d] = pos[d - a->n + ir];
    memcpy(pos, to, sizeof to);
    break;
  }
  default: ref_fail(r, n, AC0391, "the reference does not know '%s'", ac_op_info(n->op)->id); return;
  }
  put(dst, i, y->is_int, r, xv, ravel(x, pos));
}

bool ref_index_read(ac_ref *r, const ac_value *v, int64_t start, int64_t cnt, ref_buf dst) {
  const ac_node *n = v->def;
  if (n->op == AC_G_CAT) {
    cat_read(r, n, start, cnt, dst);
    return true;
  }
  int64_t pos[16];
  for (int64_t i = 0; i < cnt && !r->failed; i++) {
    unravel(&ref_of(r, v)->shape, start + i, pos);
    if (n->op == AC_G_PAD)
      pad_one(r, n, pos, dst, i);
    else
      index_one(r, n, pos, dst, i, start + i);
  }
  return !r->failed;
}

/* ---- pooling ------------------------------------------------------------------------------------------------------- */

typedef struct {
  int nd, lead; /* spatial dimensions; leading ones */
  int64_t k[3], s[3], p[3], d[3];
  bool max, adaptive, include_pad;
  int64_t divisor;
} pool;
static pool pool_of(ac_ref *r, const ac_node *n) {
  pool q = {.divisor = 0};
  switch (n->op) {
  case AC_G_AVG_POOL1D:
  case AC_G_MAX_POOL1D:
  case AC_G_ADAPTIVE_AVG_POOL1D: q.nd = 1; break;
  case AC_G_AVG_POOL2D:
  case AC_G_MAX_POOL2D:
  case AC_G_ADAPTIVE_AVG_POOL2D: q.nd = 2; break;
  default: q.nd = 3;
  }
  q.max = n->op == AC_G_MAX_POOL1D || n->op == AC_G_MAX_POOL2D || n->op == AC_G_MAX_POOL3D;
  q.adaptive =
      n->op == AC_G_ADAPTIVE_AVG_POOL1D || n->op == AC_G_ADAPTIVE_AVG_POOL2D || n->op == AC_G_ADAPTIVE_AVG_POOL3D;
  q.lead = ref_of(r, n->args[0].t)->shape.rank - q.nd;
  if (q.adaptive) return q;
  ref_ints(n, "kernel_size", q.nd, 1, q.k);
  ref_ints(n, "padding", q.nd, 0, q.p);
  if (ref_arg(n, "stride") && !(ref_arg(n, "stride")->kind == AC_K_INTS && ref_arg(n, "stride")->n == 0))
    ref_ints(n, "stride", q.nd, 1, q.s);
  else
    memcpy(q.s, q.k, sizeof q.s);
  for (int i = 0; i < q.nd; i++) q.d[i] = 1;
  if (q.max)
    ref_ints(n, "dilation", q.nd, 1, q.d);
  else
    q.include_pad = ref_bool(n, "count_include_pad"),
    q.divisor = n->op == AC_G_AVG_POOL1D ? 0 : ref_int(n, "divisor_override", 0);
  return q;
}
bool ref_pool_prep(ac_ref *r, const ac_node *n) {
  return ref_random(r, n->args[0].t);
}

typedef struct {
  double v;
  int64_t iv, at;
  long double sum;
  int64_t area; /* divisor of an average */
  bool any;
} window;

/* pos holds lead + nd coordinates. */
// NOLINTBEGIN(clang-analyzer-core.UndefinedBinaryOperatorResult)
static window pool_window(ac_ref *r, const ac_node *n, const pool *q, const int64_t *pos) {
  const ac_value *xv = n->args[0].t;
  ref_val *x = ref_of(r, xv), *y = ref_of(r, n->outs[0]);
  window w = {.v = -INFINITY, .at = -1, .area = 1};
  int64_t lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1}, st[3] = {1, 1, 1}, base = 0, dims[3] = {1, 1, 1}, sx[3] = {0, 0, 0};
  for (int i = 0; i < q->lead; i++) base += pos[i] * x->stride[i];
  for (int i = 0; i < q->nd; i++) {
    int64_t len = x->shape.dim[q->lead + i], o = pos[q->lead + i];
    dims[i] = len;
    sx[i] = x->stride[q->lead + i];
    if (q->adaptive) {
      int64_t out = y->shape.dim[q->lead + i];
      lo[i] = o * len / out;
      hi[i] = ((o + 1) * len + out - 1) / out;
      w.area *= hi[i] - lo[i];
      continue;
    }
    st[i] = q->d[i];
    lo[i] = o * q->s[i] - q->p[i];
    hi[i] = lo[i] + (q->k[i] - 1) * q->d[i] + 1;
    int64_t padded = hi[i] < len + q->p[i] ? hi[i] : len + q->p[i]; /* ceil_mode: the window ends with the padding */
    if (q->include_pad) w.area *= padded - lo[i];
    while (lo[i] < 0) lo[i] += st[i];
    if (hi[i] > len) hi[i] = len;
    if (!q->include_pad && !q->max) w.area *= hi[i] > lo[i] ? hi[i] - lo[i] : 0;
  }
  if (q->divisor) w.area = q->divisor;
  for (int64_t a = lo[0]; a < hi[0]; a += st[0])
    for (int64_t b = lo[1]; b < hi[1]; b += st[1])
      for (int64_t c = lo[2]; c < hi[2]; c += st[2]) {
        int64_t e = base + a * sx[0] + b * sx[1] + c * sx[2];
        double f = ref_at_f(r, xv, e);
        w.sum += f;
        if (!w.any || f > w.v || isnan(f)) w.v = f, w.iv = ref_at_i(r, xv, e), w.at = (a * dims[1] + b) * dims[2] + c;
        w.any = true;
      }
  return w;
}

// NOLINTEND(clang-analyzer-core.UndefinedBinaryOperatorResult)

bool ref_pool_read(ac_ref *r, const ac_value *v, int64_t start, int64_t cnt, ref_buf dst) {
  const ac_node *n = v->def;
  pool q = pool_of(r, n);
  int64_t pos[16];
  for (int64_t i = 0; i < cnt; i++) {
    unravel(&ref_of(r, v)->shape, start + i, pos);
    window w = pool_window(r, n, &q, pos);
    if (v->out == 1)
      dst.i[i] = w.at;
    else if (ref_of(r, v)->is_int)
      dst.i[i] = w.iv;
    else
      dst.f[i] = q.max ? w.v : (double)(w.sum / w.area);
  }
  return true;
}

/* ---- creation --------------------------------------------------------------------------------------------------------- */

/* SplitMix64's finaliser over (seed, stream, index): Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014). */
uint64_t ac_ref_bits(uint64_t seed, uint64_t stream, uint64_t i) {
  uint64_t z =
      seed * 0xd1342543de82ef95u + stream * 0x9e3779b97f4a7c15u + i * 0xbf58476d1ce4e5b9u + 0x94d049bb133111ebu;
  for (int k = 0; k < 2; k++) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
  }
  return z;
}
double ac_ref_uniform(uint64_t seed, uint64_t stream, uint64_t i) {
  return (double)(ac_ref_bits(seed, stream, i) >> 11) * 0x1p-53;
}
static double gaussian(uint64_t seed, uint64_t stream, uint64_t i) {
  double u = 1 - ac_ref_uniform(seed, stream, 2 * i), v = ac_ref_uniform(seed, stream, 2 * i + 1);
  return sqrt(-2 * log(u)) * cos(6.283185307179586476925 * v);
}
/* A permutation of 0..n-1 by a four-round Feistel network over the next power of four, walked until inside. */
static int64_t permuted(uint64_t seed, uint64_t stream, int64_t i, int64_t n) {
  int half = 1;
  while ((1ll << (2 * half)) < n) half++;
  uint64_t mask = (1ull << half) - 1, x = (uint64_t)i;
  do {
    uint64_t l = x >> half, h = x & mask;
    for (uint64_t k = 0; k < 4; k++) {
      uint64_t t = l ^ (ac_ref_bits(seed + k, stream, h) & mask);
      l = h;
      h = t;
    }
    x = l << half | h;
  } while (x >= (uint64_t)n);
  return (int64_t)x;
}

void ref_new_read(ac_ref *r, const ac_node *n, int64_t start, int64_t cnt, ref_buf dst) {
  ref_val *y = ref_of(r, n->outs[0]);
  uint64_t id = (uint64_t)n->outs[0]->id + 1;
  for (int64_t i = 0; i < cnt; i++) {
    int64_t e = start + i, k = 0;
    double f = 0;
    switch (n->op) {
    case AC_G_FULL: f = ref_float(n, "fill_value", 0), k = ref_int(n, "fill_value", 0); break;
    case AC_G_ARANGE:
      k = ref_int(n, "start", 0) + e * ref_int(n, "step", 1);
      f = ref_float(n, "start", 0) + (double)e * ref_float(n, "step", 1);
      break;
    case AC_G_LINSPACE: {
      double lo = ref_float(n, "start", 0), hi = ref_float(n, "end", 0),
             step = y->numel > 1 ? (hi - lo) / (double)(y->numel - 1) : 0;
      f = e < y->numel / 2 ? lo + step * (double)e
                           : hi - step * (double)(y->numel - 1 - e); /* symmetric, as PyTorch */
      if (y->numel == 1) f = lo;
      k = (int64_t)f;
      break;
    }
    case AC_G_EYE: f = (double)(k = e / y->shape.dim[1] == e % y->shape.dim[1]); break;
    case AC_G_RAND: f = ac_ref_uniform(r->seed, id, (uint64_t)e); break;
    case AC_G_RANDN: f = gaussian(r->seed, id, (uint64_t)e); break;
    case AC_G_RANDINT: {
      int64_t lo = ref_int(n, "low", 0), hi = ref_int(n, "high", 1);
      k = lo + (int64_t)(ac_ref_bits(r->seed, id, (uint64_t)e) % (uint64_t)(hi > lo ? hi - lo : 1));
      f = (double)k;
      break;
    }
    case AC_G_RANDPERM: f = (double)(k = permuted(r->seed, id, e, y->numel)); break;
    case AC_G_UNIFORM: {
      double lo = ref_float(n, "low", 0);
      f = lo + (ref_float(n, "high", 1) - lo) * ac_ref_uniform(r->seed, id, (uint64_t)e);
      break;
    }
    case AC_G_NORMAL:
      f = ref_float(n, "mean", 0) + ref_float(n, "std", 1) * gaussian(r->seed, id, (uint64_t)e);
      break;
    default: break;
    }
    if (y->is_int)
      dst.i[i] = k;
    else
      dst.f[i] = f;
  }
}

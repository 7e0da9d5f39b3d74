/* Reference: reductions, scans, softmax, normalisations, sort and matrix product. Sums are taken in extended precision, so that the
 * reference's own rounding stays below one ulp of double. */
#include "graph/ref.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef long double wide;

/* Calls fn for every element in order with its index in the reduced shape. */
typedef void (*red_fn)(void *u, int64_t out, int64_t lin, double f, int64_t i);
// NOLINTBEGIN(clang-analyzer-core.CallAndMessage): f is filled by ref_read
static void red_walk(ac_ref *r, const ac_value *x, unsigned dims, red_fn fn, void *u) {
  ref_val *v = ref_of(r, x);
  int64_t st[16], s = 1;
  for (int i = v->shape.rank - 1; i >= 0; i--) {
    st[i] = dims >> i & 1 ? 0 : s;
    if (st[i]) s *= v->shape.dim[i];
  }
  ref_walk w;
  ref_walk_init(&w, &v->shape, st, 0, 0);
  double f[REF_CHUNK];
  int64_t *k = (int64_t *)f;
  for (int64_t at = 0; at < v->numel; at += REF_CHUNK) {
    int64_t n = v->numel - at < REF_CHUNK ? v->numel - at : REF_CHUNK;
    ref_read(r, x, at, n, (ref_buf){.f = f});
    for (int64_t j = 0; j < n; j++, ref_walk_next(&w))
      fn(u, w.at, at + j, v->is_int ? (double)k[j] : f[j], v->is_int ? k[j] : 0);
  }
}

// NOLINTEND(clang-analyzer-core.CallAndMessage)

typedef struct {
  const ac_node *n;
  wide *acc, *acc2;
  int64_t *idx, *ki;
  uint8_t *seen;
  double p;
  bool is_int;
  unsigned dims;
  const ac_shape *shape;
} red;

/* Position of a linear index within the reduced dimensions, row-major over them. */
static int64_t red_pos(const red *c, int64_t lin) {
  int64_t pos = 0, mul = 1;
  for (int i = c->shape->rank - 1; i >= 0; i--) {
    int64_t k = lin % c->shape->dim[i];
    lin /= c->shape->dim[i];
    if (c->dims >> i & 1) {
      pos += k * mul;
      mul *= c->shape->dim[i];
    }
  }
  return pos;
}

static void red_step(void *u, int64_t o, int64_t lin, double f, int64_t k) {
  red *c = u;
  wide *a = &c->acc[o];
  bool first = !c->seen[o];
  c->seen[o] = 1;
  switch (c->n->op) {
  case AC_G_SUM:
    *a += f;
    c->ki[o] = (int64_t)((uint64_t)c->ki[o] + (uint64_t)k);
    break;
  case AC_G_MEAN: *a += f; break;
  case AC_G_PROD:
    *a = first ? f : *a * f;
    c->ki[o] = first ? k : (int64_t)((uint64_t)c->ki[o] * (uint64_t)k);
    break;
  case AC_G_AMAX:
  case AC_G_ARGMAX:
    if (c->is_int ? first || k > c->ki[o] : first || f > *a || (isnan(f) && !isnan((double)*a)))
      *a = f, c->ki[o] = k, c->idx[o] = red_pos(c, lin);
    break;
  case AC_G_AMIN:
  case AC_G_ARGMIN:
    if (c->is_int ? first || k < c->ki[o] : first || f < *a || (isnan(f) && !isnan((double)*a)))
      *a = f, c->ki[o] = k, c->idx[o] = red_pos(c, lin);
    break;
  case AC_G_ALL: c->ki[o] = (first || c->ki[o]) && f != 0; break;
  case AC_G_ANY: c->ki[o] |= f != 0; break;
  case AC_G_COUNT_NONZERO: c->ki[o] += f != 0; break;
  case AC_G_LOGSUMEXP: /* running maximum in acc, sum in acc2 */
    if (isnan(f))
      *a = f;
    else if (first)
      *a = f, c->acc2[o] = 1;
    else if (f > *a)
      c->acc2[o] = c->acc2[o] * (isinf((double)*a) ? 0 : expl(*a - f)) + 1, *a = f;
    else if (!isinf(f) || f > 0)
      c->acc2[o] += isinf(f) ? 0 : expl(f - *a);
    break;
  case AC_G_NORM:
    if (isinf(c->p))
      *a = first               ? (wide)fabs(f)
           : isnan((double)*a) ? *a
           : isnan(f)          ? (wide)f
           : c->p > 0          ? fmaxl(*a, fabsl(f))
                               : fminl(*a, fabsl(f));
    else if (c->p == 0)
      *a += f != 0;
    else if (c->p == 1)
      *a += fabs(f);
    else if (c->p == 2)
      *a += (wide)f * f;
    else
      *a += powl(fabsl((wide)f), c->p);
    break;
  default: break;
  }
}

typedef struct {
  wide *mean, *m2;
} red_var;
static void mean_step(void *u, int64_t o, int64_t lin, double f, int64_t k) {
  (void)lin, (void)k;
  ((red_var *)u)->mean[o] += f;
}
static void var_step(void *u, int64_t o, int64_t lin, double f, int64_t k) {
  (void)lin, (void)k;
  red_var *v = u;
  wide d = f - v->mean[o];
  v->m2[o] += d * d;
}

static bool red_variance(ac_ref *r, const ac_node *n, unsigned dims, int64_t count, double *out, int64_t outs) {
  red_var v = {ref_alloc(r, outs, sizeof(wide)), ref_alloc(r, outs, sizeof(wide))};
  if (!v.mean || !v.m2) return false;
  red_walk(r, n->args[0].t, dims, mean_step, &v);
  for (int64_t i = 0; i < outs; i++) v.mean[i] /= count;
  red_walk(r, n->args[0].t, dims, var_step, &v);
  const ac_arg *un = ref_arg(n, "unbiased");
  int64_t corr = ref_int(n, "correction", un ? un->b : 1);
  for (int64_t i = 0; i < outs; i++) out[i] = (double)(v.m2[i] / (count > corr ? count - corr : 0));
  return true;
}

static double red_finish(const red *c, int64_t o, int64_t count) {
  wide a = c->acc[o];
  switch (c->n->op) {
  case AC_G_MEAN: return (double)(a / count);
  case AC_G_PROD: return c->seen[o] ? (double)a : 1;
  case AC_G_LOGSUMEXP:
    return !c->seen[o]                            ? -INFINITY
           : isinf((double)a) || isnan((double)a) ? (double)a
                                                  : (double)(a + logl(c->acc2[o]));
  case AC_G_NORM:
    return isinf(c->p) || c->p == 0 || c->p == 1 ? (double)a
           : c->p == 2                           ? (double)sqrtl(a)
                                                 : (double)powl(a, 1 / (wide)c->p);
  default: return (double)a;
  }
}

bool ref_red_prep(ac_ref *r, const ac_node *n) {
  ref_val *x = ref_of(r, n->args[0].t), *y = ref_of(r, n->outs[0]);
  unsigned dims = ref_dims(n, "dim", x->shape.rank);
  int64_t outs = y->numel, count = 1;
  for (int i = 0; i < x->shape.rank; i++)
    if (dims >> i & 1) count *= x->shape.dim[i];
  if (!(y->mat.p = ref_alloc(r, outs, 8))) return false;
  if (n->op == AC_G_VAR) return red_variance(r, n, dims, count, y->mat.f, outs);
  bool minmax = n->op == AC_G_AMAX || n->op == AC_G_AMIN || n->op == AC_G_ARGMAX || n->op == AC_G_ARGMIN;
  if (minmax && count == 0 && outs)
    return ref_fail(r, n, AC0393, "%s over an empty dimension has no value", ac_op_info(n->op)->id);
  red c = {.n = n,
           .acc = ref_alloc(r, outs, sizeof(wide)),
           .acc2 = ref_alloc(r, outs, sizeof(wide)),
           .idx = ref_alloc(r, outs, 8),
           .ki = ref_alloc(r, outs, 8),
           .seen = ref_alloc(r, outs, 1),
           .p = ref_float(n, "p", 2),
           .is_int = x->is_int,
           .dims = dims,
           .shape = &x->shape};
  if (!c.acc || !c.acc2 || !c.idx || !c.ki || !c.seen) return false;
  red_walk(r, n->args[0].t, dims, red_step, &c);
  for (int64_t o = 0; o < outs; o++) {
    if (n->op == AC_G_ARGMAX || n->op == AC_G_ARGMIN)
      y->mat.i[o] = c.idx[o];
    else if (y->is_int && n->op == AC_G_PROD && !c.seen[o])
      y->mat.i[o] = 1;
    else if (y->is_int && n->op == AC_G_ALL && !c.seen[o])
      y->mat.i[o] = 1;
    else if (y->is_int)
      y->mat.i[o] = c.ki[o];
    else
      y->mat.f[o] = red_finish(&c, o, count);
  }
  return true;
}

/* ---- scans --------------------------------------------------------------------------------------------------- */

bool ref_scan_prep(ac_ref *r, const ac_node *n) {
  const ac_value *xv = n->args[0].t;
  ref_val *x = ref_of(r, xv), *y = ref_of(r, n->outs[0]), *ix = n->n_outs > 1 ? ref_of(r, n->outs[1]) : NULL;
  int64_t outer, len, inner;
  ref_split(&x->shape, ref_dim(n, "dim", x->shape.rank), &outer, &len, &inner);
  if (!(y->mat.p = ref_alloc(r, y->numel, 8))) return false;
  if (ix && !(ix->mat.p = ref_alloc(r, ix->numel, 8))) return false;
  wide *acc = ref_alloc(r, inner, sizeof(wide)), *sum = ref_alloc(r, inner, sizeof(wide));
  int64_t *at = ref_alloc(r, inner, 8);
  double *row = ref_alloc(r, inner, 8);
  if (!acc || !sum || !at || !row) return false;
  for (int64_t o = 0; o < outer; o++)
    for (int64_t k = 0; k < len; k++) {
      int64_t base = (o * len + k) * inner;
      if (y->is_int)
        ref_read_i(r, xv, base, inner, (int64_t *)row);
      else
        ref_read_f(r, xv, base, inner, row);
      for (int64_t i = 0; i < inner; i++) {
        int64_t e = ((int64_t *)row)[i], prev = k ? y->mat.i[base - inner + i] : 0;
        double f = row[i];
        bool take;
        switch (n->op) {
        case AC_G_CUMSUM:
          if (y->is_int)
            y->mat.i[base + i] = k ? (int64_t)((uint64_t)prev + (uint64_t)e) : e;
          else
            acc[i] = k ? acc[i] + f : f, y->mat.f[base + i] = (double)acc[i];
          break;
        case AC_G_CUMPROD:
          if (y->is_int)
            y->mat.i[base + i] = k ? (int64_t)((uint64_t)prev * (uint64_t)e) : e;
          else
            acc[i] = k ? acc[i] * f : f, y->mat.f[base + i] = (double)acc[i];
          break;
        case AC_G_LOGCUMSUMEXP:
          if (!k)
            acc[i] = f, sum[i] = 1;
          else if (isnan(f) || isnan((double)acc[i]))
            acc[i] = NAN;
          else if (f > acc[i])
            sum[i] = sum[i] * (isinf((double)acc[i]) ? 0 : expl(acc[i] - f)) + 1, acc[i] = f;
          else if (!isinf(f))
            sum[i] += expl(f - acc[i]);
          y->mat.f[base + i] = isinf((double)acc[i]) ? (double)acc[i] : (double)(acc[i] + logl(sum[i]));
          break;
        default: /* cummax, cummin: the last of equal ones, NaN stays */
          if (y->is_int)
            take = !k || (n->op == AC_G_CUMMAX ? e >= prev : e <= prev);
          else
            take = !k || (isnan(f) || (!isnan((double)acc[i]) && (n->op == AC_G_CUMMAX ? f >= acc[i] : f <= acc[i])));
          if (take) acc[i] = f, at[i] = k;
          if (y->is_int)
            y->mat.i[base + i] = take ? e : prev;
          else
            y->mat.f[base + i] = (double)acc[i];
          if (ix) ix->mat.i[base + i] = at[i];
        }
      }
    }
  return true;
}

/* ---- softmax family: max and sum a row are stored, rows are streamed ------------------------------------------- */

/* Which statistic belongs to an element of outer x len x inner, from one to the next without a division. */
typedef struct {
  int64_t k, in, along, len, inner;
} row_walk;
static row_walk row_at(int64_t i, int64_t len, int64_t inner) {
  int64_t in = i % inner, row = i / inner;
  return (row_walk){row / len * inner + in, in, row % len, len, inner};
}
static inline void row_next(row_walk *w) {
  w->k++;
  if (++w->in < w->inner) return;
  w->in = 0;
  w->k -= w->inner;
  if (++w->along < w->len) return;
  w->along = 0;
  w->k += w->inner;
}

bool ref_row_prep(ac_ref *r, const ac_node *n) {
  const ac_value *xv = n->args[0].t;
  ref_val *x = ref_of(r, xv), *y = ref_of(r, n->outs[0]);
  int64_t outer, len, inner;
  ref_split(&x->shape, ref_dim(n, "dim", x->shape.rank), &outer, &len, &inner);
  double *m = y->stat0 = ref_alloc(r, outer * inner, 8), *s = y->stat1 = ref_alloc(r, outer * inner, 8);
  if (!m || !s) return false;
  for (int64_t i = 0; i < outer * inner; i++) m[i] = -INFINITY;
  double f[REF_CHUNK];
  for (int pass = 0; pass < 2; pass++)
    for (int64_t at = 0; at < x->numel; at += REF_CHUNK) {
      int64_t c = x->numel - at < REF_CHUNK ? x->numel - at : REF_CHUNK;
      ref_read_f(r, xv, at, c, f);
      row_walk w = row_at(at, len, inner);
      for (int64_t j = 0; j < c; j++, row_next(&w)) {
        int64_t k = w.k;
        if (pass == 0)
          m[k] = isnan(m[k]) ? m[k] : isnan(f[j]) || f[j] > m[k] ? f[j] : m[k];
        else
          s[k] += exp(f[j] - m[k]);
      }
    }
  return true;
}
void ref_row_read(ac_ref *r, const ac_node *n, int64_t start, int64_t cnt, double *dst) {
  ref_val *x = ref_of(r, n->args[0].t), *y = ref_of(r, n->outs[0]);
  int64_t outer, len, inner;
  ref_split(&x->shape, ref_dim(n, "dim", x->shape.rank), &outer, &len, &inner);
  ref_read_f(r, n->args[0].t, start, cnt, dst);
  row_walk w = row_at(start, len, inner);
  for (int64_t j = 0; j < cnt; j++, row_next(&w)) {
    double d = dst[j] - y->stat0[w.k];
    dst[j] = n->op == AC_G_LOG_SOFTMAX ? d - log(y->stat1[w.k]) : exp(d) / y->stat1[w.k];
  }
}

/* ---- normalisations ------------------------------------------------------------------------------------------------ */

/* Which statistic and which affine parameter belong to element `lin`. */
typedef struct {
  ac_op op;
  int64_t stats, per_stat; /* how many statistics; elements behind each */
  int64_t m, channels, spatial;
} norm_map;
static norm_map norm_of(ac_ref *r, const ac_node *n) {
  const ac_shape *s = &ref_of(r, n->args[0].t)->shape;
  norm_map k = {.op = n->op, .m = 1, .channels = s->rank > 1 ? s->dim[1] : 1, .spatial = 1};
  int64_t numel = ac_shape_numel(s);
  for (int i = 2; i < s->rank; i++) k.spatial *= s->dim[i];
  switch (n->op) {
  case AC_G_LAYER_NORM:
  case AC_G_RMS_NORM: {
    const ac_arg *a = ref_arg(n, "normalized_shape");
    for (int i = s->rank - a->n; i < s->rank; i++) k.m *= s->dim[i];
    k.per_stat = k.m;
    k.stats = k.m ? numel / k.m : 0;
    break;
  }
  case AC_G_GROUP_NORM: {
    int64_t groups = ref_int(n, "num_groups", 1);
    k.per_stat = k.channels / groups * k.spatial;
    k.stats = s->dim[0] * groups;
    break;
  }
  case AC_G_INSTANCE_NORM:
    k.per_stat = k.spatial;
    k.stats = s->dim[0] * k.channels;
    break;
  default: /* batch norm */ k.per_stat = s->dim[0] * k.spatial; k.stats = k.channels;
  }
  return k;
}
static int64_t norm_stat(const norm_map *k, int64_t lin) {
  return k->op == AC_G_BATCH_NORM ? lin / k->spatial % k->channels : lin / k->per_stat;
}
static int64_t norm_param(const norm_map *k, int64_t lin) {
  return k->op == AC_G_LAYER_NORM || k->op == AC_G_RMS_NORM ? lin % k->m : lin / k->spatial % k->channels;
}
static bool norm_own_stats(const ac_node *n) {
  return n->op == AC_G_BATCH_NORM      ? ref_bool(n, "training") || !ref_arg(n, "running_mean")
         : n->op == AC_G_INSTANCE_NORM ? ref_bool(n, "use_input_stats")
                                       : true;
}

static bool norm_moments(ac_ref *r, const ac_node *n, const norm_map *k, wide *mean, wide *m2) {
  ref_val *x = ref_of(r, n->args[0].t);
  double f[REF_CHUNK];
  for (int pass = n->op == AC_G_RMS_NORM; pass < 2; pass++) {
    for (int64_t at = 0; at < x->numel; at += REF_CHUNK) {
      int64_t c = x->numel - at < REF_CHUNK ? x->numel - at : REF_CHUNK;
      ref_read_f(r, n->args[0].t, at, c, f);
      for (int64_t j = 0; j < c; j++) {
        int64_t s = norm_stat(k, at + j);
        if (pass == 0)
          mean[s] += f[j];
        else
          m2[s] += (f[j] - mean[s]) * (f[j] - mean[s]);
      }
    }
    for (int64_t s = 0; s < k->stats; s++)
      if (pass == 0)
        mean[s] /= k->per_stat;
      else
        m2[s] /= k->per_stat;
  }
  return true;
}

/* Batch and instance norm in training: outputs 1 and 2 are the new running statistics (unbiased variance), averaged over the batch
 * for instance norm. */
static bool norm_running(ac_ref *r, const ac_node *n, const norm_map *k, const wide *mean, const wide *m2) {
  double mom = ref_float(n, "momentum", 0.1);
  for (int o = 1; o < n->n_outs; o++) {
    const ac_arg *old = ref_arg(n, o == 1 ? "running_mean" : "running_var");
    ref_val *y = ref_of(r, n->outs[o]);
    if (!old || !(y->mat.p = ref_alloc(r, y->numel, 8))) return false;
    int64_t rep = k->stats / (k->channels ? k->channels : 1);
    for (int64_t c = 0; c < y->numel; c++) {
      wide v = 0;
      for (int64_t b = 0; b < rep; b++)
        v += o == 1 ? mean[b * k->channels + c] : m2[b * k->channels + c] * k->per_stat / (k->per_stat - 1);
      y->mat.f[c] = (double)((1 - (wide)mom) * ref_at_f(r, old->t, c) + (wide)mom * v / rep);
    }
  }
  return true;
}

bool ref_norm_prep(ac_ref *r, const ac_node *n) {
  norm_map k = norm_of(r, n);
  ref_val *y = ref_of(r, n->outs[0]);
  const char *aff[] = {"weight", "bias", "running_mean", "running_var"};
  for (int i = 0; i < 4; i++) {
    const ac_arg *a = ref_arg(n, aff[i]);
    if (a && !ref_random(r, a->t)) return false;
  }
  y->stat0 = ref_alloc(r, k.stats, 8);
  y->stat1 = ref_alloc(r, k.stats, 8);
  wide *mean = ref_alloc(r, k.stats, sizeof(wide)), *m2 = ref_alloc(r, k.stats, sizeof(wide));
  if (!y->stat0 || !y->stat1 || !mean || !m2) return false;
  double eps = ref_float(n, "eps", n->op == AC_G_RMS_NORM ? (n->outs[0]->dtype == AC_F64 ? 0x1p-52 : 0x1p-23) : 1e-5);
  if (norm_own_stats(n)) {
    if (!norm_moments(r, n, &k, mean, m2) || !norm_running(r, n, &k, mean, m2)) return false;
  } else {
    for (int64_t s = 0; s < k.stats; s++) {
      mean[s] = ref_at_f(r, ref_arg(n, "running_mean")->t, s % k.channels);
      m2[s] = ref_at_f(r, ref_arg(n, "running_var")->t, s % k.channels);
    }
  }
  for (int64_t s = 0; s < k.stats; s++) {
    y->stat0[s] = (double)mean[s];
    y->stat1[s] = (double)(1 / sqrtl(m2[s] + eps));
  }
  return true;
}
void ref_norm_read(ac_ref *r, const ac_node *n, int64_t start, int64_t cnt, double *dst) {
  norm_map k = norm_of(r, n);
  ref_val *y = ref_of(r, n->outs[0]);
  const ac_arg *w = ref_arg(n, "weight"), *b = ref_arg(n, "bias");
  ref_read_f(r, n->args[0].t, start, cnt, dst);
  for (int64_t j = 0; j < cnt; j++) {
    int64_t s = norm_stat(&k, start + j), p = norm_param(&k, start + j);
    dst[j] = (dst[j] - y->stat0[s]) * y->stat1[s];
    if (w) dst[j] *= ref_at_f(r, w->t, p);
    if (b) dst[j] += ref_at_f(r, b->t, p);
  }
}

/* ---- sort ------------------------------------------------------------------------------------------------------------ */

typedef struct {
  double f;
  int64_t i, at;
} sort_item;
typedef struct {
  bool desc, is_int;
} sort_how;
static int sort_cmp(const void *a, const void *b, void *u) {
  const sort_item *x = a, *y = b;
  const sort_how *h = u;
  int c;
  if (h->is_int)
    c = (x->i > y->i) - (x->i < y->i);
  else if (isnan(x->f) || isnan(y->f))
    c = (isnan(x->f) != 0) - (isnan(y->f) != 0); /* NaN is largest */
  else
    c = (x->f > y->f) - (x->f < y->f);
  if (h->desc) c = -c;
  return c ? c : (x->at > y->at) - (x->at < y->at);
}
bool ref_sort_prep(ac_ref *r, const ac_node *n) {
  const ac_value *xv = n->args[0].t;
  ref_val *x = ref_of(r, xv), *y = ref_of(r, n->outs[0]), *ix = ref_of(r, n->outs[1]);
  if (!ref_random(r, xv)) return false;
  int64_t outer, len, inner;
  ref_split(&x->shape, ref_dim(n, "dim", x->shape.rank), &outer, &len, &inner);
  int64_t keep = n->op == AC_G_TOPK ? ref_int(n, "k", len) : len;
  sort_how h = {.desc = n->op == AC_G_TOPK ? ref_bool(n, "largest") : ref_bool(n, "descending"), .is_int = x->is_int};
  sort_item *row = ref_alloc(r, len, sizeof *row);
  y->mat.p = ref_alloc(r, y->numel, 8);
  ix->mat.p = ref_alloc(r, ix->numel, 8);
  if (!row || !y->mat.p || !ix->mat.p) return false;
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < inner; i++) {
      for (int64_t k = 0; k < len; k++) {
        int64_t e = (o * len + k) * inner + i;
        row[k] = (sort_item){x->is_int ? 0 : ref_at_f(r, xv, e), x->is_int ? ref_at_i(r, xv, e) : 0, k};
      }
      qsort_r(row, (size_t)len, sizeof *row, sort_cmp, &h);
      for (int64_t k = 0; k < keep; k++) {
        int64_t e = (o * keep + k) * inner + i;
        if (x->is_int)
          y->mat.i[e] = row[k].i;
        else
          y->mat.f[e] = row[k].f;
        ix->mat.i[e] = row[k].at;
      }
    }
  return true;
}

/* ---- matrix product: (..., n, k) x (..., k, m), vectors and broadcasting as torch.matmul ---------------------------------- */

bool ref_matmul_prep(ac_ref *r, const ac_node *node) {
  const ac_value *av = node->args[0].t, *bv = node->args[1].t;
  if (!ref_materialise(r, av) || !ref_materialise(r, bv)) return false;
  ref_val *a = ref_of(r, av), *b = ref_of(r, bv), *y = ref_of(r, node->outs[0]);
  int ra = a->shape.rank, rb = b->shape.rank;
  int64_t n = ra > 1 ? a->shape.dim[ra - 2] : 1, k = a->shape.dim[ra - 1], m = rb > 1 ? b->shape.dim[rb - 1] : 1;
  if (!(y->mat.p = ref_alloc(r, y->numel, 8))) return false;
  int batch_rank = (ra > rb ? ra : rb) - 2;
  ac_shape bs = {.rank = batch_rank > 0 ? batch_rank : 0};
  int64_t sa[16], sb[16], batches = 1;
  for (int i = bs.rank - 1; i >= 0; i--) {
    int ia = i - (bs.rank - (ra - 2)), ib = i - (bs.rank - (rb - 2));
    int64_t da = ra > 2 && ia >= 0 ? a->shape.dim[ia] : 1, db = rb > 2 && ib >= 0 ? b->shape.dim[ib] : 1;
    bs.dim[i] = da == 1 ? db : da;
    sa[i] = da == 1 ? 0 : a->stride[ia];
    sb[i] = db == 1 ? 0 : b->stride[ib];
    batches *= bs.dim[i];
  }
  ref_walk wa, wb;
  ref_walk_init(&wa, &bs, sa, 0, 0);
  ref_walk_init(&wb, &bs, sb, 0, 0);
  for (int64_t t = 0; t < batches; t++, ref_walk_next(&wa), ref_walk_next(&wb))
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < m; j++) {
        wide s = 0;
        uint64_t si = 0;
        for (int64_t l = 0; l < k; l++)
          if (y->is_int)
            si += (uint64_t)a->mat.i[wa.at + i * k + l] * (uint64_t)b->mat.i[wb.at + l * m + j];
          else
            s += (wide)a->mat.f[wa.at + i * k + l] * b->mat.f[wb.at + l * m + j];
        if (y->is_int)
          y->mat.i[(t * n + i) * m + j] = (int64_t)si;
        else
          y->mat.f[(t * n + i) * m + j] = (double)s;
      }
  return true;
}

/* Comparison of results that are too large to hold a float64 reference beside them: by slices of rows, each with the reference of a smaller
 * graph (slice.c), on several threads. What it finds is what a comparison of the whole would find; memory goes with the slices. */
#include "verify/internal.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

enum { SLICE_ELEMENTS = 1 << 20, MOST_SECOND = 8 };
static const int64_t STREAM_ELEMENTS = 8 << 20; /* below, the reference is small enough to keep */

/* Four lanes of 64 bits over the bytes: whether a run in another order has made the same again. */
typedef struct {
  uint64_t lane[4];
} digest;
struct ac_slice {
  ac_comparison c;
  digest d;
  double scale; /* largest finite magnitude of the reference */
  bool made;    /* c holds for results of this digest */
};

typedef struct {
  ac_vcase *v;
  int out;
  const ac_sim_tensor *t;
  const char *got;
  const ac_tolerance *tol;
  int64_t rows, row; /* of the tensor; elements of a row */
  int64_t per, n;    /* rows of a slice; slices */
  double scale;      /* of the whole output; 0: each slice its own */
  bool lenient, failed, function;
  ac_slice *slices;
  pthread_mutex_t lock; /* graphs are cut one at a time */
} stream;

bool ac_stream_wanted(const ac_vcase *v) {
  if (v->sampled || v->elements < STREAM_ELEMENTS || !ac_rows_apart(v->whole)) return false;
  for (int i = 0; i < v->n_outputs; i++) {
    const ac_value *o = v->graph->outputs.data[i].value;
    if (ac_dtypes[o->dtype].cls != AC_FLOATING || ac_value_example(o).dim[0] < 2) return false;
  }
  return true;
}

static digest digest_of(const void *data, int64_t bytes) {
  static const uint64_t p1 = 0x9E3779B185EBCA87u, p2 = 0xC2B2AE3D27D4EB4Fu; /* xxHash64's round (Collet 2012) */
  digest d = {{1, 2, 3, (uint64_t)bytes}};
  for (int64_t at = 0; at < bytes; at += 32) {
    uint64_t w[4] = {0};
    memcpy(w, (const char *)data + at, bytes - at < 32 ? (size_t)(bytes - at) : 32);
    for (int k = 0; k < 4; k++) {
      uint64_t x = d.lane[k] + w[k] * p2;
      d.lane[k] = (x << 31 | x >> 33) * p1;
    }
  }
  return d;
}

/* Rows of slice i: never one alone, which could be taken for a broadcast. */
static int64_t first_row(const stream *s, int64_t i) {
  return i >= s->n ? s->rows : i * s->per;
}

/* The comparison of rows [lo, hi) with their reference. */
static bool compare_rows(stream *s, int64_t lo, int64_t hi, ac_slice *to) {
  ac_arena *a = ac_arena_new();
  ac_diags quiet;
  ac_diags_init(&quiet, a);
  pthread_mutex_lock(&s->lock);
  ac_rows cut = ac_rows_cut(a, s->v->whole, s->v->graph, s->v->ref_inputs, lo, hi);
  pthread_mutex_unlock(&s->lock);
  int64_t n = (hi - lo) * s->row;
  double *ref = AC_NEW_N(a, double, n + 1);
  ac_ref_opts o = {.inputs = cut.inputs, .threads = 1};
  ac_ref *r = cut.graph ? ac_ref_new(a, cut.graph, &o, &quiet) : NULL;
  bool ok = r && ac_ref_read(r, s->out, 0, n, ref);
  if (ok) {
    to->scale = ac_largest_finite(ref, n);
    double scale = s->scale > 0 ? s->scale : to->scale;
    ac_excuse excuse = {0};
    if (s->scale > 0 && s->lenient) excuse = ac_honest(a, cut.graph, cut.inputs, s->out, ref, n);
    ac_comparison c = {.first_bad = -1, .last_bad = -1, .worst = -1};
    const char *got = s->got + lo * s->row * ac_dtypes[s->t->dtype].bytes;
    ac_compare_float(s->t->dtype, s->tol, s->function ? fmax(1, scale) : scale, ref, excuse.honest ? &excuse : NULL,
                     got, 0, n, &c);
    int64_t base = lo * s->row;
    if (c.first_bad >= 0) c.first_bad += base, c.last_bad += base;
    if (c.worst >= 0) c.worst += base;
    to->c = c;
  }
  ac_ref_free(r);
  ac_arena_free(a);
  return ok;
}

static void one_slice(void *user, int64_t i) {
  stream *s = user;
  ac_slice *x = &s->slices[i];
  int64_t lo = first_row(s, i), hi = first_row(s, i + 1), size = s->row * ac_dtypes[s->t->dtype].bytes;
  digest d = digest_of(s->got + lo * size, (hi - lo) * size);
  if (x->made && !memcmp(&d, &x->d, sizeof d)) return;
  x->d = d;
  x->made = compare_rows(s, lo, hi, x);
  if (!x->made) __atomic_store_n(&s->failed, true, __ATOMIC_RELAXED);
}

static void join(ac_comparison *c, const ac_comparison *k) {
  if (k->bad && !c->bad) {
    c->first_bad = k->first_bad;
    c->expected = k->expected;
    c->got = k->got;
    c->allowed = k->allowed;
  }
  if (k->bad) c->last_bad = k->last_bad;
  c->n += k->n;
  c->bad += k->bad;
  c->max_abs = fmax(c->max_abs, k->max_abs);
  if (k->worst >= 0 && (c->worst < 0 || k->max_rel > c->max_rel)) {
    c->max_rel = k->max_rel;
    c->worst = k->worst;
  }
  c->narrowed.n += k->narrowed.n;
  c->narrowed.changes += k->narrowed.changes;
  c->narrowed.toward_zero += k->narrowed.toward_zero;
  c->narrowed.below += k->narrowed.below;
  c->narrowed.near += k->narrowed.near;
  c->narrowed.far += k->narrowed.far;
}

/* The first time a slice is held against its own largest value, which is at most that of the whole: what passes passes. What does not is
 * looked at again as a comparison of the whole would. After some that stay wrong the others count as they are. */
static void second_look(stream *s) {
  int64_t wrong = 0;
  for (int64_t i = 0; i < s->n; i++) s->scale = fmax(s->scale, s->slices[i].scale);
  for (int64_t i = 0; i < s->n && wrong < MOST_SECOND && s->scale > 0; i++) {
    ac_slice *x = &s->slices[i];
    if (!x->c.bad) continue;
    if (!compare_rows(s, first_row(s, i), first_row(s, i + 1), x)) s->failed = true;
    wrong += x->c.bad > 0;
  }
}

ac_comparison ac_stream_compare(ac_vcase *v, int out, const void *got, const ac_tolerance *t, bool lenient) {
  const ac_sim_tensor *o = &v->tensors[v->n_in + out];
  stream s = {
      .v = v, .out = out, .t = o, .got = got, .tol = t, .rows = o->shape[0], .lock = PTHREAD_MUTEX_INITIALIZER};
  s.lenient = lenient && t->rtol > 0;
  s.function = ac_graph_error_class(v->graph) == AC_ERR_FUNCTION;
  s.row = o->bytes / ac_dtypes[o->dtype].bytes / s.rows;
  s.per = s.row > 0 && SLICE_ELEMENTS / s.row > 2 ? SLICE_ELEMENTS / s.row : 2;
  s.n = s.rows / s.per;
  if (s.n < 1) s.n = 1;
  bool own = got == o->data;
  if (own && !v->slices[out]) v->slices[out] = AC_NEW_N(v->a, ac_slice, s.n);
  s.slices = own ? v->slices[out] : AC_NEW_N(v->a, ac_slice, 1);
  /* a decoy (other results than the run's) need only be found out: its first rows */
  ac_parallel(v->threads, own ? s.n : 1, one_slice, &s);
  if (own) second_look(&s);
  ac_comparison c = {.first_bad = -1, .last_bad = -1, .worst = -1};
  for (int64_t i = 0; i < (own ? s.n : 1); i++) join(&c, &s.slices[i].c);
  pthread_mutex_destroy(&s.lock);
  if (s.failed) c.bad++, c.first_bad = c.last_bad = 0; /* not compared is not right */
  return c;
}

/* Random graphs for the planner: drawn by seed, run in the simulator without a compiler, compared with the float64 reference. */
#ifndef GRAPH_SUPPORT_H
#define GRAPH_SUPPORT_H

#include "../plan/graphs.h"
#include "direct_support.h"

#include <math.h>

/* splitmix64 */
static inline uint64_t rng_next(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static inline int64_t rng_below(uint64_t *state, int64_t n) {
  return (int64_t)(rng_next(state) % (uint64_t)n);
}

static inline ac_arg aints(world *w, int n, const int64_t *v) {
  const ac_sym **s = AC_NEW_N(w->a, const ac_sym *, n + 1);
  for (int i = 0; i < n; i++) s[i] = ac_sym_int(w->g, v[i]);
  return (ac_arg){.kind = AC_K_INTS, .n = n, .is = s};
}

/* The planned text on those tensors, without a fault. */
static inline void graph_run(world *w, const char *name, const char *text, args *x) {
  ac_program *p = lowered(&b, name, text);
  ac_sim_result r = {0};
  ac_sim_opts o = {.threads = 1};
  bool ok = ac_sim_run_program(b.a, p, w->chip, x->t, x->n, x->attrs, x->n_attrs, &o, &r, &b.d);
  if (ok && r.ran && !r.faults.len) return;
  ac_diags_print(&b.d, stderr, false);
  print_message("%s%s", ac_graph_text(w->a, w->g), text);
  fail_msg("%s: %s", name, r.faults.len ? r.faults.data[0].message : "did not run");
}

/* Relatively where it is above 1; a NaN is a NaN. */
static inline bool graph_near(double got, double want, double tol) {
  if (isnan(want) || isnan(got)) return isnan(want) && isnan(got);
  if (isinf(want) || isinf(got)) return got == want;
  return fabs(got - want) <= tol * fmax(1, fabs(want));
}

/* What rounding once to the dtype, and float32 inside, leave. */
static inline double graph_tolerance(ac_dtype d) {
  return d == AC_F32 ? 1e-5 : d == AC_F16 ? 1e-3 : 8e-3;
}

/* Every output with the reference's: whole numbers exactly, floats within tol(their dtype); NULL: exactly. */
static inline void graph_compare(const ac_graph *g, const args *x, const char *name, double (*tol)(ac_dtype)) {
  const void *in[16];
  ac_arena *a = ac_arena_new();
  ac_diags d;
  ac_diags_init(&d, a);
  for (size_t i = 0; i < g->inputs.len; i++) in[i] = x->t[i].data;
  ac_ref *r = ac_ref_new(a, g, &(ac_ref_opts){.inputs = in}, &d);
  assert_non_null(r);
  for (size_t o = 0; o < g->outputs.len; o++) {
    const ac_sim_tensor *t = &x->t[g->inputs.len + o];
    int64_t n = t->bytes / ac_dtypes[t->dtype].bytes, *whole = AC_NEW_N(a, int64_t, n + 1);
    double *want = AC_NEW_N(a, double, n + 1);
    bool floats = ac_dtypes[t->dtype].cls == AC_FLOATING;
    assert_true(floats ? ac_ref_read(r, (int)o, 0, n, want) : ac_ref_read_int(r, (int)o, 0, n, whole));
    for (int64_t i = 0; i < n; i++) {
      int64_t k = floats                ? 0
                  : t->dtype == AC_BOOL ? ((const uint8_t *)t->data)[i]
                                        : ac_load_int(t->dtype, t->data, i);
      double got = floats ? ac_load(t->dtype, t->data, i) : (double)k;
      if (floats ? graph_near(got, want[i], tol ? tol(t->dtype) : 0) : k == whole[i]) continue;
      print_message("%s", ac_graph_text(a, g));
      fail_msg("%s: %s[%lld] is %.17g, it must be %.17g", name, t->name, (long long)i, got,
               floats ? want[i] : (double)whole[i]);
    }
  }
  ac_ref_free(r);
  ac_arena_free(a);
}

/* one(seed, show) for each of `count` seeds, or of as many as variable `how_many` says, or for that of variable `alone` only. How many. */
static inline int each_seed(const char *alone, const char *how_many, int count, void (*one)(uint64_t, bool)) {
  const char *only = getenv(alone), *n = getenv(how_many);
  if (only) {
    one(strtoull(only, NULL, 10), true);
    return 0;
  }
  if (n) count = atoi(n);
  for (int i = 0; i < count; i++) {
    one((uint64_t)i + 1, false);
    if (i % 30 == 29) { /* memory of programs that are done with */
      bench_close(&b);
      bench_open(&b);
    }
  }
  return count;
}

#endif

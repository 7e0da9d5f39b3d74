/* Pooling of random sizes, windows, strides, paddings and options: planned, checked, lowered, run in the simulator without a compiler and
 * compared with the float64 reference; maxima and indices exactly. AC_POOLS=N draws N (default 100), AC_POOL_SEED=S that one alone, and
 * shows its program. */
#include "../plan/graphs.h"
#include "direct_support.h"

#include <math.h>

typedef struct {
  uint64_t state;
} draw;

static uint64_t next(draw *d) {
  d->state += 0x9e3779b97f4a7c15u;
  uint64_t z = d->state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static int64_t below(draw *d, int64_t n) {
  return (int64_t)(next(d) % (uint64_t)n);
}

static ac_arg ints(world *w, int n, const int64_t *v) {
  const ac_sym **s = AC_NEW_N(w->a, const ac_sym *, n + 1);
  for (int i = 0; i < n; i++) s[i] = ac_sym_int(w->g, v[i]);
  return (ac_arg){.kind = AC_K_INTS, .n = n, .is = s};
}
static ac_arg flag(bool b) {
  return (ac_arg){.kind = AC_K_BOOL, .b = b};
}

static const ac_op ops[3][3] = {{AC_G_AVG_POOL1D, AC_G_AVG_POOL2D, AC_G_AVG_POOL3D},
                                {AC_G_MAX_POOL1D, AC_G_MAX_POOL2D, AC_G_MAX_POOL3D},
                                {AC_G_ADAPTIVE_AVG_POOL1D, AC_G_ADAPTIVE_AVG_POOL2D, AC_G_ADAPTIVE_AVG_POOL3D}};

/* Windows that fit: the padding at most half of them. */
static void windows(draw *d, int nd, bool max, const int64_t *size, int64_t k[3], int64_t s[3], int64_t p[3],
                    int64_t dil[3]) {
  for (int i = 0; i < nd; i++) {
    dil[i] = max && below(d, 3) == 0 ? 1 + below(d, 3) : 1;
    do {
      k[i] = 1 + below(d, below(d, 8) ? 5 : 12);
      p[i] = below(d, 2) ? below(d, ((k[i] - 1) * dil[i] + 1) / 2 + 1) : 0;
    } while ((k[i] - 1) * dil[i] + 1 > size[i] + 2 * p[i]);
    s[i] = 1 + below(d, below(d, 3) ? 3 : 7);
  }
}

static world *graph_of(uint64_t seed, int *kind) {
  static const ac_dtype dtypes[] = {AC_F32, AC_F32, AC_F16, AC_BF16};
  static const int64_t sizes[] = {1, 2, 3, 5, 7, 8, 9, 13, 16, 17, 31, 40, 65};
  draw d = {.state = seed};
  world *w = world_new("pooling");
  int nd = 1 + (int)below(&d, 3);
  int64_t dims[5], k[3], s[3], p[3], dil[3];
  *kind = (int)below(&d, 3);
  for (int i = 0; i < 2 + nd; i++) dims[i] = i < 2 ? 1 + below(&d, 3) : sizes[below(&d, nd == 3 ? 9 : 13)];
  if (nd == 1 && below(&d, 4) == 0) dims[2] = 500 + below(&d, *kind == 2 ? 2000 : 9000);
  if (nd == 2 && below(&d, 8) == 0) dims[3] = 300 + below(&d, 900);
  ac_value *x = tensor(w, "x", dtypes[below(&d, 4)], 2 + nd, dims);
  windows(&d, nd, *kind == 1, dims + 2, k, s, p, dil);
  ac_arg args[8] = {at(x), ints(w, nd, k), ints(w, nd, s), ints(w, nd, p)};
  int n = 0, n_outs = 0;
  bool ceil = below(&d, 2), other = below(&d, 2);
  if (*kind == 0) {
    args[4] = flag(ceil);
    args[5] = flag(other);
    args[6] = below(&d, 4) ? (ac_arg){.kind = AC_K_INT, .absent = true} : aint(w, 1 + below(&d, 9));
    n = nd == 1 ? 6 : 7;
  } else if (*kind == 1) {
    args[4] = ints(w, nd, dil);
    args[5] = flag(ceil);
    args[6] = flag(other);
    n = 7;
  } else {
    int64_t o[3];
    for (int i = 0; i < nd; i++) o[i] = below(&d, 3) ? 1 + below(&d, 9) : dims[2 + i];
    args[1] = ints(w, nd, o);
    n = 2;
  }
  ac_value **v = ac_graph_apply(w->g, ops[*kind][nd - 1], args, n, line(10), &n_outs);
  if (!v) ac_diags_print(&w->d, stderr, false);
  assert_non_null(v);
  for (int i = 0; v && i < n_outs; i++) out(w, i ? "places" : "y", v[i]);
  ac_graph_prune(w->g);
  return w;
}

/* Equal ones, a NaN here and there, rows of -inf: what decides which index wins. */
static void spoil(ac_sim_tensor *x, uint64_t seed) {
  draw d = {.state = seed ^ 0x5eed};
  int64_t n = x->bytes / ac_dtypes[x->dtype].bytes, how = below(&d, 4);
  for (int64_t i = 0; i < n && how; i++) {
    double v = (double)below(&d, 5) - 2;
    if (how == 2 && below(&d, 9) == 0) v = NAN;
    if (how == 3 && below(&d, 2)) v = -INFINITY;
    ac_store(x->dtype, x->data, i, v);
  }
}

static bool near(double got, double want, double tol) {
  if (isnan(want) || isnan(got)) return isnan(want) && isnan(got);
  if (isinf(want) || isinf(got)) return got == want;
  return fabs(got - want) <= tol * (1 + fabs(want));
}

static void compare(const ac_graph *g, const args *x, uint64_t seed, bool exact) {
  const void *in[] = {x->t[0].data};
  ac_arena *a = ac_arena_new();
  ac_diags d;
  ac_diags_init(&d, a);
  ac_ref *r = ac_ref_new(a, g, &(ac_ref_opts){.inputs = in}, &d);
  assert_non_null(r);
  for (size_t o = 0; o < g->outputs.len; o++) {
    const ac_sim_tensor *t = &x->t[1 + o];
    int64_t n = t->bytes / ac_dtypes[t->dtype].bytes, *whole = AC_NEW_N(a, int64_t, n + 1);
    double *want = AC_NEW_N(a, double, n + 1);
    if (t->dtype == AC_I64) {
      assert_true(ac_ref_read_int(r, (int)o, 0, n, whole));
      for (int64_t i = 0; i < n; i++) want[i] = (double)whole[i];
    } else
      assert_true(ac_ref_read(r, (int)o, 0, n, want));
    double tol = exact ? 0 : t->dtype == AC_F32 ? 1e-5 : t->dtype == AC_F16 ? 1e-3 : 8e-3;
    for (int64_t i = 0; i < n; i++) {
      double got = ac_load(t->dtype, t->data, i);
      if (t->dtype == AC_I64) got = (double)((const int64_t *)t->data)[i];
      if (near(got, want[i], tol)) continue;
      print_message("%s", ac_graph_text(a, g));
      fail_msg("seed %llu: %s[%lld] is %.9g, it must be %.9g", (unsigned long long)seed, t->name, (long long)i, got,
               want[i]);
    }
  }
  ac_ref_free(r);
  ac_arena_free(a);
}

static void one(uint64_t seed, bool show) {
  int kind;
  world *w = graph_of(seed, &kind);
  ac_cmodule *m = ac_plan(w->a, w->g, w->chip, &w->d);
  if (!m) ac_diags_print(&w->d, stderr, false);
  if (show || !m) print_message("%s\n%s\n", ac_graph_text(w->a, w->g), m ? ac_craft_print(w->a, m) : "refused");
  assert_non_null(m);
  const char *name = ac_sprintf(b.a, "seed %llu", (unsigned long long)seed);
  ac_program *p = lowered(&b, name, ac_craft_print(w->a, m));
  args x;
  graph_args(w->g, AC_VALUES_NORMAL, &x);
  spoil(&x.t[0], seed);
  ac_sim_result r = {0};
  ac_sim_opts o = {.threads = 1};
  bool ok = ac_sim_run_program(b.a, p, w->chip, x.t, x.n, x.attrs, x.n_attrs, &o, &r, &b.d);
  if (!ok || r.faults.len) {
    ac_diags_print(&b.d, stderr, false);
    print_message("%s%s", ac_graph_text(w->a, w->g), ac_craft_print(w->a, m));
    fail_msg("%s: %s", name, r.faults.len ? r.faults.data[0].message : "did not run");
  }
  compare(w->g, &x, seed, kind == 1);
  free_args(&x);
  world_free(w);
}

static void pools_agree(void **state) {
  (void)state;
  const char *only = getenv("AC_POOL_SEED"), *n = getenv("AC_POOLS");
  if (only) {
    one(strtoull(only, NULL, 10), true);
    return;
  }
  int pools = n ? atoi(n) : 100;
  for (int i = 0; i < pools; i++) {
    one((uint64_t)i + 1, false);
    if (i % 50 == 49) { /* memory of programs that are done with */
      bench_close(&b);
      bench_open(&b);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(pools_agree, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

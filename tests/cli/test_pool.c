/* Pooling of random sizes, windows, strides, paddings and options: planned, checked, lowered, run in the simulator without a compiler and
 * compared with the float64 reference; maxima and indices exactly. AC_POOLS=N draws N (default 100), AC_POOL_SEED=S that one alone, and
 * shows its program. */
#include "graph_support.h"

typedef struct {
  uint64_t state;
} draw;

static int64_t below(draw *d, int64_t n) {
  return rng_below(&d->state, n);
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
  ac_arg args[8] = {at(x), aints(w, nd, k), aints(w, nd, s), aints(w, nd, p)};
  int n = 0, n_outs = 0;
  bool ceil = below(&d, 2), other = below(&d, 2);
  if (*kind == 0) {
    args[4] = flag(ceil);
    args[5] = flag(other);
    args[6] = below(&d, 4) ? (ac_arg){.kind = AC_K_INT, .absent = true} : aint(w, 1 + below(&d, 9));
    n = nd == 1 ? 6 : 7;
  } else if (*kind == 1) {
    args[4] = aints(w, nd, dil);
    args[5] = flag(ceil);
    args[6] = flag(other);
    n = 7;
  } else {
    int64_t o[3];
    for (int i = 0; i < nd; i++) o[i] = below(&d, 3) ? 1 + below(&d, 9) : dims[2 + i];
    args[1] = aints(w, nd, o);
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

static void one(uint64_t seed, bool show) {
  int kind;
  world *w = graph_of(seed, &kind);
  ac_cmodule *m = ac_plan(w->a, w->g, w->chip, &w->d);
  if (!m) ac_diags_print(&w->d, stderr, false);
  if (show || !m) print_message("%s\n%s\n", ac_graph_text(w->a, w->g), m ? ac_craft_print(w->a, m) : "refused");
  assert_non_null(m);
  const char *name = ac_sprintf(b.a, "seed %llu", (unsigned long long)seed);
  args x;
  graph_args(w->g, AC_VALUES_NORMAL, &x);
  spoil(&x.t[0], seed);
  graph_run(w, name, ac_craft_print(w->a, m), &x);
  graph_compare(w->g, &x, name, kind == 1 ? NULL : graph_tolerance); /* maxima exactly */
  free_args(&x);
  world_free(w);
}

static void pools_agree(void **state) {
  (void)state;
  each_seed("AC_POOL_SEED", "AC_POOLS", 100, one);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(pools_agree, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

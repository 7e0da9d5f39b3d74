/* argmax, argmin and max(x, dim) of random shapes, axes and dtypes: planned, checked, lowered, run in the simulator without a compiler and
 * compared with the float64 reference, exactly; equal elements, NaNs and infinities included, in and behind element-wise operations.
 * AC_ARGS=N draws N (default 40), AC_ARGS_SEED=S that one alone, and shows its program. */
#include "graph_support.h"

typedef struct {
  uint64_t state;
} draw;

static uint64_t next(draw *d) {
  return rng_next(&d->state);
}
static int64_t below(draw *d, int64_t n) {
  return rng_below(&d->state, n);
}

/* Short rows, long ones, few of them, inner dimensions narrow and wide: every branch of the host function. */
static int shape_of(draw *d, int64_t *dims) {
  static const int64_t sizes[] = {1, 2, 3, 5, 7, 13, 17, 33, 64, 65, 100, 127, 257};
  static const int64_t special[][3] = {{60, 130, 1},  {50, 1, 1500}, {1, 3, 9000},  {30, 1, 5000}, {1, 1, 40000},
                                       {1, 2000, 3},  {70, 2, 300},  {2, 40, 1700}, {1, 1, 1},     {0, 3, 5},
                                       {1, 70000, 1}, {3, 1003, 7},  {49, 64, 64}};
  int k = (int)below(d, 2 * (int64_t)AC_COUNT(special));
  if (k < (int)AC_COUNT(special)) {
    memcpy(dims, special[k], sizeof special[k]);
    return 3;
  }
  int rank = 1 + (int)below(d, 4);
  int64_t n = 1;
  for (int i = 0; i < rank; i++) {
    dims[i] = sizes[below(d, (int64_t)AC_COUNT(sizes))];
    while (n * dims[i] > 30000) dims[i] = (dims[i] + 1) / 2;
    n *= dims[i];
  }
  return rank;
}

static world *graph_of(uint64_t seed) {
  static const ac_dtype dtypes[] = {AC_F32, AC_F32, AC_F16, AC_BF16, AC_I32, AC_I16, AC_U8, AC_I8, AC_I64};
  draw d = {.state = seed};
  world *w = world_new("arg");
  int64_t dims[4];
  int rank = shape_of(&d, dims), dim = (int)below(&d, rank);
  ac_dtype t = dtypes[below(&d, (int64_t)AC_COUNT(dtypes))];
  ac_value *x = tensor(w, "x", t, rank, dims), *v = x;
  if (t == AC_F32 && below(&d, 3) == 0) v = un(w, AC_G_NEG, un(w, AC_G_RELU, v)); /* exact, with many equal ones */
  bool max = below(&d, 2), all = below(&d, 6) == 0, values = below(&d, 2);
  for (int i = 0; i < rank; i++)
    if (dims[i] == 0 && (all || dim == i)) all = false, dim = rank - 1;
  ac_arg along = all ? (ac_arg){.kind = AC_K_INT, .absent = true} : aint(w, dim - (below(&d, 2) ? rank : 0));
  ac_arg keep = {.kind = AC_K_BOOL, .b = below(&d, 2)};
  if (values && below(&d, 2)) out(w, "values", APPLY(w, max ? AC_G_AMAX : AC_G_AMIN, at(v), along, keep));
  out(w, "places", APPLY(w, max ? AC_G_ARGMAX : AC_G_ARGMIN, at(v), along, keep));
  if (values && w->g->outputs.len == 1) out(w, "values", APPLY(w, max ? AC_G_AMAX : AC_G_AMIN, at(v), along, keep));
  ac_graph_prune(w->g);
  return w;
}

/* Equal ones, a NaN here and there, rows of infinities: what decides which place wins. */
static void spoil(ac_sim_tensor *x, uint64_t seed) {
  draw d = {.state = seed ^ 0x5eed};
  int64_t n = x->bytes / ac_dtypes[x->dtype].bytes, how = below(&d, 5);
  bool floats = ac_dtypes[x->dtype].cls == AC_FLOATING;
  for (int64_t i = 0; i < n && (how || !floats); i++) {
    int64_t k = below(&d, 5) - (ac_dtypes[x->dtype].cls == AC_UNSIGNED ? 0 : 2);
    double v = (double)k;
    if (!floats) {
      ac_store_int(x->dtype, x->data, i, how == 1 ? (int64_t)next(&d) >> (64 - 8 * ac_dtypes[x->dtype].bytes) : k);
      continue;
    }
    if (how == 2 && below(&d, 300) == 0) v = NAN;
    if (how == 3) v = below(&d, 2) ? -INFINITY : INFINITY;
    if (how == 4) v = -INFINITY;
    ac_store(x->dtype, x->data, i, v);
  }
}

static int launched(const char *text, const char *name) {
  int n = 0;
  for (const char *s = text; (s = strstr(s, name)); s++) n++;
  return n;
}

static void one(uint64_t seed, bool show) {
  world *w = graph_of(seed);
  ac_cmodule *m = ac_plan(w->a, w->g, w->chip, &w->d);
  if (!m) ac_diags_print(&w->d, stderr, false);
  if (show || !m) print_message("%s\n%s\n", ac_graph_text(w->a, w->g), m ? ac_craft_print(w->a, m) : "refused");
  assert_non_null(m);
  const char *name = ac_sprintf(b.a, "seed %llu", (unsigned long long)seed), *text = ac_craft_print(w->a, m);
  /* values and places are one stage: nothing but this schedule's kernels */
  assert_int_equal(launched(text, "@ascend_kernel"), strstr(text, "_inner_kernel") ? 3 : 4);
  args x;
  graph_args(w->g, AC_VALUES_NORMAL, &x);
  spoil(&x.t[0], seed);
  graph_run(w, name, text, &x);
  graph_compare(w->g, &x, name, NULL);
  free_args(&x);
  world_free(w);
}

static void args_agree(void **state) {
  (void)state;
  each_seed("AC_ARGS_SEED", "AC_ARGS", 40, one);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(args_agree, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

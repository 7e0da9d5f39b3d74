/* The reduction schedule: graphs of reductions over any dimensions with element-wise operations around them, planned, lowered, run on the
 * simulator without a fault and compared with the float64 reference, at shapes on both sides of every branch. */
#include "direct_support.h"

#include <math.h>

typedef struct {
  ac_graph *g;
  ac_value *x; /* of rank 3 */
} model;

static ac_arg T(ac_value *v) {
  return (ac_arg){.kind = AC_K_TENSOR, .t = v};
}
static ac_arg absent(ac_kind k) {
  return (ac_arg){.kind = k, .absent = true};
}
static ac_arg flag(bool v) {
  return (ac_arg){.kind = AC_K_BOOL, .b = v};
}

static ac_value *apply(model *m, ac_op op, int n, const ac_arg *args) {
  int n_out = 0;
  ac_value **v = ac_graph_apply(m->g, op, args, n, AC_NOLOC, &n_out);
  if (!v) ac_diags_print(&b.d, stderr, false);
  assert_non_null(v);
  return v ? v[0] : NULL;
}
#define APPLY(op, ...) apply(m, op, (int)(sizeof((ac_arg[]){__VA_ARGS__}) / sizeof(ac_arg)), (ac_arg[]){__VA_ARGS__})

/* Which dimensions: bit i for dimension i. */
static ac_arg dims(model *m, int mask) {
  const ac_sym **d = AC_NEW_N(b.a, const ac_sym *, 3);
  int n = 0;
  for (int i = 0; i < 3; i++)
    if (mask >> i & 1) d[n++] = ac_sym_int(m->g, i);
  return (ac_arg){.kind = AC_K_INTS, .is = d, .n = n};
}
static void out(model *m, ac_value *v) {
  ac_graph_output(m->g, ac_sprintf(b.a, "y%zu", m->g->outputs.len), v, -1);
}

/* ---- what is computed ---- */

static void sums(model *m, int mask) {
  out(m, APPLY(AC_G_SUM, T(m->x), dims(m, mask)));
}
static void several(model *m, int mask) { /* one stage: the same elements are reduced */
  ac_value *half = APPLY(AC_G_MUL, T(m->x), T(ac_graph_number(m->g, 0.5)));
  out(m, APPLY(AC_G_AMAX, T(half), dims(m, mask), flag(true)));
  out(m, APPLY(AC_G_MEAN, T(APPLY(AC_G_EXP, T(half))), dims(m, mask)));
  out(m, APPLY(AC_G_AMIN, T(m->x), dims(m, mask)));
}
static void variances(model *m, int mask) {
  out(m, APPLY(AC_G_VAR, T(m->x), dims(m, mask)));
}
static void norms(model *m, int mask) { /* x / (|x| + 1) */
  ac_value *n = APPLY(AC_G_NORM, T(m->x), (ac_arg){.kind = AC_K_SCALAR, .f = 2}, dims(m, mask), flag(true));
  out(m, APPLY(AC_G_DIV, T(m->x), T(APPLY(AC_G_ADD, T(n), T(ac_graph_number(m->g, 1))))));
}
static void logs(model *m, int mask) {
  out(m, APPLY(AC_G_LOGSUMEXP, T(m->x), dims(m, mask)));
}
static void counts(model *m, int mask) {
  ac_value *p = APPLY(AC_G_GT, T(m->x), T(ac_graph_number(m->g, 0.25)));
  out(m, APPLY(AC_G_SUM, T(p), dims(m, mask)));
  out(m, APPLY(AC_G_ANY, T(p), dims(m, mask)));
  out(m, APPLY(AC_G_ALL, T(p), dims(m, mask)));
}
static void two_deep(model *m, int mask) { /* reductions of different dimensions: two stages */
  ac_value *s = APPLY(AC_G_SUM, T(m->x), dims(m, mask));
  out(m, APPLY(AC_G_MEAN, T(APPLY(AC_G_MUL, T(s), T(s)))));
}
static void soft(model *m, int mask) {
  int d = mask & 1 ? 0 : mask & 2 ? 1 : 2;
  ac_value *e = APPLY(AC_G_MUL, T(m->x), T(ac_graph_number(m->g, 2)));
  out(m, APPLY(AC_G_SOFTMAX, T(e), (ac_arg){.kind = AC_K_INT, .i = ac_sym_int(m->g, d)}));
}
static void instance(model *m, int mask) {
  (void)mask;
  out(m, APPLY(AC_G_INSTANCE_NORM, T(m->x), absent(AC_K_TENSOR), absent(AC_K_TENSOR)));
}
static void batch(model *m, int mask) {
  (void)mask;
  out(m, APPLY(AC_G_BATCH_NORM, T(m->x), absent(AC_K_TENSOR), absent(AC_K_TENSOR), absent(AC_K_TENSOR),
               absent(AC_K_TENSOR), flag(true)));
}

static const struct {
  const char *name;
  void (*make)(model *, int);
  bool any_mask, empty; /* defined for a reduction of nothing */
} models[] = {
    {"sums", sums, true, true},          {"several", several, true, false}, {"variances", variances, true, false},
    {"norms", norms, true, true},        {"logs", logs, true, false},       {"counts", counts, true, true},
    {"two_deep", two_deep, true, false}, {"soft", soft, false, true},       {"instance", instance, false, false},
    {"batch", batch, false, false}};

static const int64_t shapes[][3] = {{3, 5, 7},     {1, 1, 1},   {70, 4, 33},  {2, 3, 1003},
                                    {130, 2, 64},  {5, 300, 8}, {1, 2, 9001}, {60, 3, 130},
                                    {2, 1030, 17}, {4, 0, 5},   {13, 7, 2}};

static bool near(ac_dtype d, double got, double want) {
  if (isnan(want)) return isnan(got);
  if (ac_dtypes[d].cls != AC_FLOATING) return got == want;
  double eps = d == AC_F16 ? 2e-3 : d == AC_BF16 ? 1.6e-2 : 2e-5;
  return got == want || fabs(got - want) <= eps * (fabs(want) + 0.1);
}

static void compare(const model *m, const args *x, const char *what) {
  const void *inputs[] = {x->t[0].data};
  ac_ref *r = ac_ref_new(b.a, m->g, &(ac_ref_opts){.inputs = inputs, .threads = 1}, &b.d);
  assert_non_null(r);
  for (int o = 1; o < x->n; o++) {
    const ac_sim_tensor *t = &x->t[o];
    int64_t n = t->bytes / ac_dtypes[t->dtype].bytes;
    double *want = AC_NEW_N(b.a, double, n + 1);
    assert_true(ac_ref_read(r, o - 1, 0, n, want));
    for (int64_t i = 0; i < n; i++)
      if (!near(t->dtype, ac_load(t->dtype, t->data, i), want[i]))
        failed(what, "output %d, element %lld of %lld: %.9g, not %.9g", o - 1, (long long)i, (long long)n,
               ac_load(t->dtype, t->data, i), want[i]);
  }
  ac_ref_free(r);
}

static void run_at(const ac_program *p, const model *m, const char *what) {
  args x;
  graph_args(m->g, AC_VALUES_NORMAL, &x);
  ac_sim_result r;
  ac_sim_opts o = {.threads = 2, .in_process = true};
  if (!ac_sim_run_program(b.a, p, p->chip, x.t, x.n, x.attrs, x.n_attrs, &o, &r, &b.d)) {
    ac_diags_print(&b.d, stderr, false);
    failed(what, "could not be run");
  }
  if (r.refused) failed(what, "refused: %s", r.refused);
  if (r.faults.len) failed(what, "line %d: %s", r.faults.data[0].line, r.faults.data[0].message);
  compare(m, &x, what);
  free_args(&x);
  b.runs++;
}

/* Planned once, run at all shapes. */
static void check_model(size_t k, int mask, ac_dtype d) {
  const ac_chip *chip = ac_chip_load(b.a, "ascend910b2", &b.d);
  model m = {.g = ac_graph_new(b.a, &b.d)};
  m.g->name = models[k].name;
  m.x = ac_graph_input(m.g, "x", AC_IN_TENSOR, d, 3, (int64_t[]){6, 5, 7}, NULL);
  models[k].make(&m, mask);
  ac_graph_prune(m.g);
  ac_cmodule *planned = ac_plan(b.a, m.g, chip, &b.d);
  ac_program *p = NULL;
  if (planned && ac_craft_check(b.a, planned, &(ac_craft_check_opts){.chip = chip}, &b.d))
    p = ac_lower(b.a, planned, &(ac_lower_opts){.op = "r_custom", .op_type = "RCustom", .chip = chip}, &b.d);
  if (!p) ac_diags_print(&b.d, stderr, false);
  assert_non_null(p);
  if (!p) return;
  for (size_t s = 0; s < AC_COUNT(shapes); s++) {
    ac_shape shape = {.rank = 3, .dim = {shapes[s][0], shapes[s][1], shapes[s][2]}};
    ac_diags quiet;
    ac_diags_init(&quiet, b.a);
    model at = {.g = ac_graph_respecialise(b.a, m.g, &shape, &quiet)};
    if (!at.g) continue; /* the operation itself is not defined there */
    if (!ac_shape_numel(&shape) && !models[k].empty) continue;
    run_at(p, &at,
           ac_sprintf(b.a, "%s over %d of %s (%lld, %lld, %lld)", models[k].name, mask, ac_dtypes[d].name,
                      (long long)shape.dim[0], (long long)shape.dim[1], (long long)shape.dim[2]));
  }
}

static void all_models(void **state) {
  (void)state;
  static const ac_dtype types[] = {AC_F32, AC_F16, AC_BF16};
  for (size_t k = 0; k < AC_COUNT(models); k++)
    for (int mask = 1; mask < 8; mask++)
      if (models[k].any_mask || mask == 1 || mask == 2 || mask == 4)
        check_model(k, mask, types[(k + (size_t)mask) % 3]);
  assert_true(b.runs > 500);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(all_models, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Parameters that may be missing, outputs in another order than the inputs they are, attributes of every kind. */
#include "host_support.h"

static ac_sim_lib *lib, *positives, *older;

static ac_sim_lib *build(const char *op, const char *type) {
  const ac_sim_spec s = {.form = AC_SIM_MSOPGEN,
                         .op = op,
                         .op_type = type,
                         .kernel_src =
                             ac_sprintf(a, "%s/tests/sim/fixtures/%s/op_kernel/%s.cpp", AC_SOURCE_DIR, op, op),
                         .host_src = ac_sprintf(a, "%s/tests/sim/fixtures/%s/op_host/%s.cpp", AC_SOURCE_DIR, op, op),
                         .chip = ac_chip_load(a, "ascend910b2", &d)};
  ac_sim_lib *l = ac_sim_build(a, &s, &d);
  if (!l) ac_diags_print(&d, stderr, false);
  return l;
}

static int build_all(void **s) {
  if (setup(s)) return -1;
  lib = build("host_params", "HostParams");
  positives = build("positives", "Positives");
  older = build("older_names", "OlderNames");
  return lib && positives && older ? 0 : -1;
}

static ac_sim_tensor t[5];
enum { X, BIAS, SCALE, Y, EXTRA };
static void tensors(bool bias, bool extra) {
  static const char *const names[] = {"x", "bias", "scale", "y", "extra"};
  static const int sizes[] = {8, 5, 3, 16, 4};
  for (int i = 0; i < 5; i++) {
    t[i] = (ac_sim_tensor){.name = names[i], .dtype = i == EXTRA ? AC_I32 : AC_F32, .rank = 1, .shape = {sizes[i]}};
    t[i].bytes = 4 * sizes[i];
    t[i].data = ac_sim_alloc(t[i].bytes);
    assert_non_null(t[i].data);
    t[i].output = i == X || i >= Y;
    float *f = t[i].data;
    for (int k = 0; k < sizes[i]; k++) f[k] = (float)(k + 1);
  }
  t[X].also_input = true;
  t[X].output_at = 3; /* x, the first tensor, is the third output */
  t[Y].output_at = 1;
  t[EXTRA].output_at = 2;
  t[BIAS].absent = !bias;
  t[EXTRA].absent = !extra;
}
static void drop(void) {
  for (int i = 0; i < 5; i++) ac_sim_dealloc(t[i].data, t[i].bytes);
}

static void run(const ac_sim_attr *at, int n, const float want[10]) {
  ac_sim_result r;
  if (!ac_sim_run(a, lib, t, 5, at, n, NULL, &r, &d)) ac_diags_print(&d, stderr, false);
  assert_true(r.ran);
  assert_int_equal(r.faults.len, 0);
  const float *y = t[Y].data, *x = t[X].data;
  for (int i = 0; i < 10; i++) assert_true(y[i] == want[i]);
  for (int i = 0; i < 8; i++) assert_true(x[i] == 8 * (float)(i + 1));
}

static void an_optional_parameter_may_be_missing(void **s) {
  (void)s;
  tensors(false, false);
  run(NULL, 0, (const float[]){-1, 3, 2, 3, 7, 0.75f, 5, 1, 1, 1});
  drop();
}

static void attributes_of_every_kind(void **s) {
  (void)s;
  tensors(true, false);
  const ac_sim_attr at[] = {{.name = "mode", .kind = AC_ATTR_S, .s = "amean"},
                            {.name = "dims", .kind = AC_ATTR_LIST_I, .li = (const int64_t[]){1, 2, 3}, .n = 3},
                            {.name = "weights", .kind = AC_ATTR_LIST_F, .lf = (const double[]){1.5, 2}, .n = 2},
                            {.name = "flags", .kind = AC_ATTR_LIST_I, .li = (const int64_t[]){0, 1, 1, 0}, .n = 4}};
  run(at, 4, (const float[]){5, 3, 3, 5, 123, 3.5f, 6, 0, 1, 1});
  drop();
}

static void refuses(const ac_sim_attr *at, int n, const char *why) {
  ac_sim_result r;
  assert_false(ac_sim_run(a, lib, t, 5, at, n, NULL, &r, &d));
  assert_non_null(strstr(d.list.data[d.list.len - 1]->message, why));
}

static void misfits_are_named(void **s) {
  (void)s;
  tensors(true, false);
  t[SCALE].absent = true;
  refuses(NULL, 0, "scale is not an OPTIONAL parameter");
  t[SCALE].absent = false;
  const ac_sim_attr number = {.name = "mode", .kind = AC_ATTR_I, .i = 1};
  refuses(&number, 1, "attribute mode was given as another kind");
  drop();
}

/* 1, -2, 3, -4 ... : half of them are positive. */
static ac_sim_result run_positives(int64_t lie) {
  enum { N = 10 };
  for (int i = 0; i < 2; i++) {
    t[i] =
        (ac_sim_tensor){.name = i ? "y" : "x", .dtype = AC_F32, .rank = 1, .shape = {N}, .bytes = 4 * N, .output = i};
    t[i].data = ac_sim_alloc(t[i].bytes);
    assert_non_null(t[i].data);
  }
  for (int k = 0; k < N; k++) ((float *)t[0].data)[k] = (float)(k % 2 ? -k - 1 : k + 1);
  const ac_sim_attr at = {.name = "lie", .kind = AC_ATTR_I, .i = lie};
  ac_sim_result r;
  if (!ac_sim_run(a, positives, t, 2, &at, 1, NULL, &r, &d)) ac_diags_print(&d, stderr, false);
  assert_true(r.ran);
  return r;
}
static void drop_positives(void) {
  for (int i = 0; i < 2; i++) ac_sim_dealloc(t[i].data, t[i].bytes);
}

static void a_kernel_says_how_large_its_output_is(void **s) {
  (void)s;
  ac_sim_result r = run_positives(0);
  assert_int_equal(r.faults.len, 0);
  assert_int_equal(t[1].rank, 1);
  assert_int_equal(t[1].shape[0], 5);
  for (int k = 0; k < 5; k++) assert_true(((float *)t[1].data)[k] == (float)(2 * k + 1));
  drop_positives();
}

static void a_kernel_that_claims_too_much(void **s) {
  (void)s;
  ac_sim_result r = run_positives(2); /* two that it has not written */
  assert_int_equal(r.faults.len, 1);
  assert_string_equal(r.faults.data[0].kind, "never-written");
  assert_non_null(strstr(r.faults.data[0].message, "elements 5..6"));
  drop_positives();
  r = run_positives(6); /* more than there is room for */
  assert_true(r.faults.len > 0);
  bool said = false;
  for (size_t i = 0; i < r.faults.len; i++) said = said || !strcmp(r.faults.data[i].kind, "output-shape");
  assert_true(said);
  drop_positives();
}

/* n elements in, 512 out. */
static ac_sim_result run_older(int64_t n) {
  for (int i = 0; i < 2; i++) {
    int64_t elems = i ? 512 : n;
    t[i] = (ac_sim_tensor){
        .name = i ? "y" : "x", .dtype = AC_I16, .rank = 1, .shape = {elems}, .bytes = 2 * elems, .output = i};
    t[i].data = ac_sim_alloc(t[i].bytes);
    assert_non_null(t[i].data);
  }
  for (int64_t k = 0; k < n; k++) ((int16_t *)t[0].data)[k] = (int16_t)k;
  ac_sim_result r;
  if (!ac_sim_run(a, older, t, 2, NULL, 0, NULL, &r, &d)) ac_diags_print(&d, stderr, false);
  return r;
}

static void older_names_of_host_and_kernel(void **s) {
  (void)s;
  ac_sim_result r = run_older(256);
  assert_true(r.ran);
  assert_int_equal(r.faults.len, 0);
  const int16_t *y = t[1].data;
  for (int i = 0; i < 16; i++)
    for (int k = 0; k < 16; k++) assert_int_equal(y[16 * i + k], 16 * k + i);
  for (int k = 256; k < 512; k++) assert_int_equal(y[k], 7);
  for (int i = 0; i < 2; i++) ac_sim_dealloc(t[i].data, t[i].bytes);
  r = run_older(8);
  assert_non_null(r.refused);
  assert_non_null(strstr(r.refused, "E89999: eight is refused, n 8"));
  for (int i = 0; i < 2; i++) ac_sim_dealloc(t[i].data, t[i].bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_optional_parameter_may_be_missing),
      cmocka_unit_test(attributes_of_every_kind),
      cmocka_unit_test(misfits_are_named),
      cmocka_unit_test(a_kernel_says_how_large_its_output_is),
      cmocka_unit_test(a_kernel_that_claims_too_much),
      cmocka_unit_test(older_names_of_host_and_kernel),
  };
  return cmocka_run_group_tests(tests, build_all, teardown);
}

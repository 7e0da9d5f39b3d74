/* A kernel that is a template over its tiling key: the instance that the key names runs, one that is not declared is refused. */
#include "host_support.h"

static ac_sim_lib *build(const char *kernel) {
  const char *dir = AC_SOURCE_DIR "/tests/sim/fixtures/host_template";
  const ac_sim_spec s = {.form = AC_SIM_MSOPGEN,
                         .op = "host_template",
                         .op_type = "HostTemplate",
                         .kernel_src = ac_sprintf(a, "%s/op_kernel/%s", dir, kernel),
                         .host_src = ac_sprintf(a, "%s/op_host/host_template.cpp", dir),
                         .chip = ac_chip_load(a, "ascend910b2", &d)};
  return ac_sim_build(a, &s, &d);
}

enum { N = 8 };
static bool run(const ac_sim_lib *l, ac_dtype type, int step, int twice, ac_sim_result *r, int64_t y[N]) {
  ac_sim_tensor t[3] = {{.name = "x", .dtype = type, .rank = 1, .shape = {N}},
                        {.name = "shift", .dtype = AC_I32, .rank = 1, .shape = {2}},
                        {.name = "y", .dtype = type, .rank = 1, .shape = {N}, .output = true}};
  for (int i = 0; i < 3; i++) {
    t[i].bytes = t[i].shape[0] * ac_dtypes[t[i].dtype].bytes;
    t[i].data = ac_sim_alloc(t[i].bytes);
    assert_non_null(t[i].data);
  }
  ((int32_t *)t[1].data)[0] = step - 3;
  ((int32_t *)t[1].data)[1] = twice;
  bool ok = ac_sim_run(a, l, t, 3, NULL, 0, NULL, r, &d);
  for (int i = 0; ok && i < N; i++) y[i] = type == AC_I32 ? ((int32_t *)t[2].data)[i] : ((int16_t *)t[2].data)[i];
  for (int i = 0; i < 3; i++) ac_sim_dealloc(t[i].data, t[i].bytes);
  return ok;
}

static void the_key_chooses(void **s) {
  (void)s;
  const ac_sim_lib *l = build("host_template.cpp");
  if (!l) ac_diags_print(&d, stderr, false);
  assert_non_null(l);
  const struct {
    ac_dtype type;
    int step, twice;
    int64_t key;
  } cases[] = {{AC_I32, 3, 0, 3},
               {AC_I32, 5, 1, 3 | 2 << 8 | 1 << 12},
               {AC_I32, 6, 1, 3 | 3 << 8 | 1 << 12},
               {AC_I16, 5, 0, 6 | 2 << 8}};
  const int64_t table[N] = {7, 6, 5, 4, 3, 2, 1, 0};
  for (size_t i = 0; i < AC_COUNT(cases); i++) {
    ac_sim_result r;
    int64_t y[N];
    assert_true(run(l, cases[i].type, cases[i].step, cases[i].twice, &r, y));
    assert_int_equal(r.faults.len, 0);
    assert_int_equal(r.tiling_key, cases[i].key);
    for (int k = 0; k < N; k++) assert_int_equal(y[k], table[k] + 10 * cases[i].step + 100 * cases[i].twice);
  }
}

static void an_undeclared_instance_is_refused(void **s) {
  (void)s;
  const ac_sim_lib *l = build("host_template.cpp");
  ac_sim_result r;
  int64_t y[N];
  assert_non_null(l);
  assert_false(run(l, AC_I32, 4, 0, &r, y)); /* may be declared, is not selected */
  assert_non_null(strstr(d.list.data[d.list.len - 1]->message, "the tiling key 259 is none of those"));
  assert_false(run(l, AC_I16, 6, 1, &r, y)); /* selected for the other type */
}

static void a_template_without_declarations(void **s) {
  (void)s;
  assert_null(build("host_template_bare.cpp"));
  assert_non_null(
      strstr(d.list.data[d.list.len - 1]->message, "host_template is a template, and none of its files has"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_key_chooses),
                                     cmocka_unit_test(an_undeclared_instance_is_refused),
                                     cmocka_unit_test(a_template_without_declarations)};
  return cmocka_run_group_tests(tests, setup, teardown);
}

/* op_host in several files; a chip's own parameters in AddConfig; kernels of the wanted dtypes only; tiling keys of templates; what the
 * host code logs as an error is the reason of its refusal. */
#include "host_support.h"

static ac_sim_lib *build(const ac_dtype *dtypes, int n) {
  const char *dir = AC_SOURCE_DIR "/tests/sim/fixtures/host_many";
  const char *more[] = {ac_sprintf(a, "%s/op_host/host_many_tiling.cpp", dir), NULL};
  const ac_sim_spec s = {.form = AC_SIM_MSOPGEN,
                         .op = "host_many",
                         .op_type = "HostMany",
                         .kernel_src = ac_sprintf(a, "%s/op_kernel/host_many.cpp", dir),
                         .host_src = ac_sprintf(a, "%s/op_host/host_many.cpp", dir),
                         .host_more = more,
                         .dtypes = dtypes,
                         .n_dtypes = n,
                         .chip = ac_chip_load(a, "ascend910b2", &d)};
  ac_sim_lib *l = ac_sim_build(a, &s, &d);
  if (!l) ac_diags_print(&d, stderr, false);
  assert_non_null(l);
  return l;
}

static bool run(const ac_sim_lib *l, ac_dtype type, int n, ac_sim_result *r, int32_t *first) {
  ac_sim_tensor t[2] = {{.name = "x"}, {.name = "y", .output = true}};
  for (int i = 0; i < 2; i++) {
    t[i].dtype = type;
    t[i].rank = 1;
    t[i].shape[0] = n;
    t[i].bytes = n * ac_dtypes[type].bytes;
    t[i].data = ac_sim_alloc(t[i].bytes);
    assert_non_null(t[i].data);
  }
  bool ok = ac_sim_run(a, l, t, 2, NULL, 0, NULL, r, &d);
  if (ok && r->ran) *first = type == AC_I32 ? ((int32_t *)t[1].data)[0] : ((int16_t *)t[1].data)[0];
  for (int i = 0; i < 2; i++) ac_sim_dealloc(t[i].data, t[i].bytes);
  return ok;
}

static void several_files_and_a_chips_own_types(void **s) {
  (void)s;
  const ac_sim_lib *l = build(NULL, 0);
  ac_sim_result r;
  int32_t got = 0;
  assert_true(run(l, AC_I32, 8, &r, &got));
  assert_int_equal(got, 48 + 4);
  assert_int_equal(r.tiling_key, 1 | 2 << 1 | 4 << 5);
  assert_true(run(l, AC_I16, 8, &r, &got));
  assert_int_equal(got, 48 + 2);
  assert_false(run(l, AC_F32, 8, &r, &got)); /* declared for the other chips */
  assert_non_null(strstr(d.list.data[d.list.len - 1]->message, "no DataType column"));
}

static void a_refusal_says_what_was_logged(void **s) {
  (void)s;
  ac_sim_result r;
  int32_t got = 0;
  assert_true(run(build(NULL, 0), AC_I32, 3, &r, &got));
  assert_false(r.ran);
  assert_non_null(strstr(r.refused, "[HostMany] 3 elements are too few"));
}

static void only_the_wanted_kernel_is_built(void **s) {
  (void)s;
  const ac_dtype types[] = {AC_I32, AC_I32};
  const ac_sim_lib *l = build(types, 2);
  ac_sim_result r;
  int32_t got = 0;
  assert_true(run(l, AC_I32, 8, &r, &got));
  assert_int_equal(got, 48 + 4);
  assert_false(run(l, AC_I16, 8, &r, &got));
  assert_non_null(strstr(d.list.data[d.list.len - 1]->message, "no kernel was built for dtype column 0"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(several_files_and_a_chips_own_types),
                                     cmocka_unit_test(a_refusal_says_what_was_logged),
                                     cmocka_unit_test(only_the_wanted_kernel_is_built)};
  return cmocka_run_group_tests(tests, setup, teardown);
}

/* name<<<blocks, l2, stream>>>(arguments): read as the vendor's compiler reads it, with its lines. */
#include "host_support.h"

enum { N = 256 };
static ac_sim_tensor t[2];
static ac_sim_result run(double past) {
  const char *source = ac_sprintf(a, "%s/tests/sim/fixtures/launches/run.cpp", AC_SOURCE_DIR);
  const ac_sim_spec spec = {
      .form = AC_SIM_DIRECT, .op = "scale", .kernel_src = source, .chip = ac_chip_load(a, "ascend910b2", &d)};
  const ac_sim_lib *lib = ac_sim_build(a, &spec, &d);
  if (!lib) ac_diags_print(&d, stderr, false);
  assert_non_null(lib);
  for (int i = 0; i < 2; i++) {
    t[i] =
        (ac_sim_tensor){.name = i ? "y" : "x", .dtype = AC_F32, .rank = 1, .shape = {N}, .bytes = 4 * N, .output = i};
    t[i].data = ac_sim_alloc(t[i].bytes);
    assert_non_null(t[i].data);
  }
  for (int i = 0; i < N; i++) ((float *)t[0].data)[i] = (float)i;
  const ac_sim_attr at[] = {{.name = "factor", .kind = AC_ATTR_F, .f = 3},
                            {.name = "past", .kind = AC_ATTR_F, .f = past}};
  ac_sim_result r;
  if (!ac_sim_run(a, lib, t, 2, at, 2, NULL, &r, &d)) ac_diags_print(&d, stderr, false);
  assert_true(r.ran);
  assert_int_equal(r.block_dim, 4);
  return r;
}
static void drop(void) {
  for (int i = 0; i < 2; i++) ac_sim_dealloc(t[i].data, t[i].bytes);
}

static void a_launch_in_an_included_file(void **s) {
  (void)s;
  ac_sim_result r = run(0);
  assert_int_equal(r.faults.len, 0);
  for (int i = 0; i < N; i++) assert_true(((float *)t[1].data)[i] == 3 * (float)i);
  drop();
}

static void lines_stay_where_they_are(void **s) {
  (void)s;
  ac_sim_result r = run(1);
  assert_true(r.faults.len > 0);
  const ac_sim_fault *f = &r.faults.data[0];
  assert_string_equal(f->kind, "gm-out-of-bounds");
  assert_non_null(f->file);
  assert_non_null(strstr(f->file, "launches/scale.cpp"));
  assert_int_equal(f->line, 24);
  drop();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_launch_in_an_included_file),
                                     cmocka_unit_test(lines_stay_where_they_are)};
  return cmocka_run_group_tests(tests, setup, teardown);
}

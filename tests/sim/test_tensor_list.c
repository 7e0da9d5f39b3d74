/* An operator whose parameters are lists of tensors, with a library function whose temporary memory the host sizes. */
#include "host_support.h"

#include <math.h>

enum { LISTS = 2, LENGTH = 3 };

static ac_sim_lib *build(void) {
  const char *from = AC_SOURCE_DIR "/tests/sim/fixtures/list_tanh";
  ac_sim_spec s = {.form = AC_SIM_MSOPGEN,
                   .op = "list_tanh",
                   .op_type = "ListTanh",
                   .kernel_src = ac_path_join(a, from, "op_kernel/list_tanh.cpp"),
                   .host_src = ac_path_join(a, from, "op_host/list_tanh.cpp"),
                   .chip = ac_chip_load(a, "ascend910b2", &d)};
  ac_sim_lib *l = ac_sim_build(a, &s, &d);
  if (!l) ac_diags_print(&d, stderr, false);
  assert_non_null(l);
  return l;
}

static void fill(ac_sim_tensor *t, bool lists) {
  static const int64_t sizes[LENGTH] = {1, 1500, 4096};
  for (int i = 0; i < LISTS * LENGTH; i++) {
    int64_t n = sizes[i % LENGTH];
    t[i] = (ac_sim_tensor){.name = i < LENGTH ? "x" : "y",
                           .dtype = AC_F32,
                           .rank = 1,
                           .shape = {n},
                           .bytes = 4 * n,
                           .output = i >= LENGTH,
                           .list = lists ? 1 + i / LENGTH : 0,
                           .data = ac_sim_alloc(4 * n)};
    assert_non_null(t[i].data);
    for (int64_t k = 0; i < LENGTH && k < n; k++) ((float *)t[i].data)[k] = (float)(k % 97 - 48) / 16;
  }
}
static void drop(ac_sim_tensor *t) {
  for (int i = 0; i < LISTS * LENGTH; i++) ac_sim_dealloc(t[i].data, t[i].bytes);
}

static void values(void **s) {
  (void)s;
  ac_sim_tensor t[LISTS * LENGTH];
  ac_sim_result r;
  fill(t, true);
  bool ok = ac_sim_run(a, build(), t, LISTS * LENGTH, NULL, 0, NULL, &r, &d);
  if (!ok) ac_diags_print(&d, stderr, false);
  assert_true(ok && r.ran);
  for (size_t i = 0; i < r.faults.len; i++)
    print_message("%s: %s\n", r.faults.data[i].kind, r.faults.data[i].message);
  assert_int_equal(r.faults.len, 0);
  assert_int_equal(r.block_dim, LENGTH);
  for (int i = 0; i < LENGTH; i++)
    for (int64_t k = 0; k < t[i].shape[0]; k++)
      assert_true(((float *)t[LENGTH + i].data)[k] == (float)tanh((double)((float *)t[i].data)[k]));
  drop(t);
}

/* Without the marks of a list there are six parameters, and the OpDef has two. */
static void no_lists(void **s) {
  (void)s;
  ac_sim_tensor t[LISTS * LENGTH];
  ac_sim_result r;
  fill(t, false);
  assert_false(ac_sim_run(a, build(), t, LISTS * LENGTH, NULL, 0, NULL, &r, &d));
  assert_true(d.list.len && d.list.data[d.list.len - 1]->code == AC0806);
  drop(t);
}

int main(void) {
  const struct CMUnitTest t[] = {cmocka_unit_test(values), cmocka_unit_test(no_lists)};
  return cmocka_run_group_tests(t, setup, teardown);
}

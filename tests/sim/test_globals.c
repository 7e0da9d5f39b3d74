/* Kernels that call the host's library or keep values in variables of their file: faults; what looks like it and is none: silent. */
#include "host_support.h"

static void check_as(bool launcher, const char *file, const char *entry, const char *kind, const char *const *texts,
                     const int *lines, size_t n_texts) {
  ac_sim_spec spec = {.form = AC_SIM_KERNEL,
                      .op = entry,
                      .opt = true,
                      .kernel_src = ac_path_join(a, AC_SOURCE_DIR "/tests/sim/fixtures", file),
                      .chip = ac_chip_load(a, "ascend910b2", &d)};
  ac_sim_lib *lib = ac_sim_build(a, &spec, &d);
  if (!lib) ac_diags_print(&d, stderr, false);
  assert_non_null(lib);
  ac_sim_tensor y = {
      .name = "y", .dtype = AC_F32, .rank = 1, .shape = {8}, .bytes = 32, .output = true, .data = ac_sim_alloc(32)};
  const ac_sim_karg args[] = {{.kind = AC_KARG_TENSOR, .tensor = 0}, {.kind = AC_KARG_NUMBER, .number = {.f = 2}}};
  ac_sim_launch l = {.args = args, .n_args = 2, .blocks = 1, .launcher = launcher};
  ac_sim_result r;
  bool ok = ac_sim_run_kernel(a, lib, &y, 1, &l, NULL, &r, &d);
  if (!ok) ac_diags_print(&d, stderr, false);
  assert_true(ok && r.ran);
  size_t found = 0;
  for (size_t i = 0; i < r.faults.len; i++) {
    const ac_sim_fault *f = &r.faults.data[i];
    if (!kind || strcmp(f->kind, kind) != 0) fail_msg("%s: %s: %s", entry, f->kind, f->message);
    for (size_t k = 0; k < n_texts; k++) {
      if (!strstr(f->message, texts[k])) continue;
      found++;
      assert_int_equal(f->line, lines[k]);
      assert_true(lines[k] ? f->file && strstr(f->file, file) : !f->file);
    }
  }
  if (found != n_texts) fail_msg("%s: %zu of %zu messages are there", entry, found, n_texts);
  assert_int_equal(r.faults.len, n_texts);
  ac_sim_dealloc(y.data, 32);
}
static void check(const char *file, const char *entry, const char *kind, const char *const *texts, const int *lines,
                  size_t n_texts) {
  check_as(false, file, entry, kind, texts, lines, n_texts);
}
static void none(void **state) {
  (void)state;
  check("globals.cpp", "nothing", NULL, NULL, NULL, 0);
  check("globals.cpp", "scalar", NULL, NULL, NULL, 0);
}
static void variables(void **state) {
  (void)state;
  static const char *const one[] = {"the variable count (4 bytes)"}, *const two[] = {"the variable last (4 bytes)",
                                                                                     "the variable sum (4 bytes)"};
  static const int line[] = {7}, lines[] = {36, 9};
  static const char *const each[] = {"the variable calls (4 bytes) is thread_local"};
  static const int declared[] = {19};
  check("thread_local.cpp", "of_threads", "global-written", each, declared, 1);
  check("globals.cpp", "counts", "global-written", one, line, 1);
  check("globals.cpp", "remembers", "global-written", two, lines, 2);
}
static void functions(void **state) {
  (void)state;
  static const char *const calls[] = {"calls expf, which is in the host's library and not on the device: use Exp on",
                                      "calls malloc", "calls free"};
  static const int lines[] = {22, 25, 28}; /* the declaration of expf is no call */
  check("host_calls.cpp", "exponent", "host-function", calls, lines, 3);
  static const char *const objects[] = {"calls operator new,", "calls operator delete,", "calls operator new[],",
                                        "calls operator delete[],", "calls std::__throw_length_error,"};
  static const int places[5] = {0};
  check("host_objects.cpp", "of_objects", "host-function", objects, places, 5);
}
/* Files that launch their kernels: what the kernels reach, by whatever way, and nothing of the host's part. */
static void functions_beside_host_code(void **state) {
  (void)state;
  static const char *const inside[] = {"a kernel calls expf, which is in the host's library"},
                           *const table[] = {"a kernel calls tanhf,"}, *const method[] = {"a kernel calls cos,"};
  static const int unknown[] = {0}, tanhs[] = {16}, cosines[] = {23};
  check("host_and_kernel.cpp", "plain", NULL, NULL, NULL, 0);
  check("host_and_kernel.cpp", "exponent", "host-function", inside, unknown, 1);
  check("host_and_kernel.cpp", "reaches<1>", "host-function", table, tanhs, 1);
  check("host_and_kernel.cpp", "virtual_cosine", "host-function", method, cosines, 1);
  check_as(true, "host_and_kernel.cpp", "launch", "host-function", table, tanhs, 1);
}
/* A plain pointer behind the tensor's end, on its last page. */
static void behind_the_end(void **state) {
  (void)state;
  static const char *const said[] = {
      "y, which has 32 bytes, was written behind its end through a plain __gm__ pointer: byte 36 is"};
  static const int line[] = {0};
  check("globals.cpp", "behind", "gm-out-of-bounds", said, line, 1);
}
/* Headers by their documented names; assert with and without a message. */
static void own_checks(void **state) {
  (void)state;
  static const char *const said[] = {"the kernel's own check failed: v == 3.0f"};
  static const int lines[] = {40}, line[] = {44};
  check("debug_names.cpp", "holds", NULL, NULL, NULL, 0);
  check("debug_names.cpp", "fails", "assert", said, lines, 1);
  check("debug_names.cpp", "fails_ascendc", "assert", said, line, 1);
}

int main(void) {
  const struct CMUnitTest t[] = {cmocka_unit_test(none),       cmocka_unit_test(variables),
                                 cmocka_unit_test(functions),  cmocka_unit_test(functions_beside_host_code),
                                 cmocka_unit_test(own_checks), cmocka_unit_test(behind_the_end)};
  return cmocka_run_group_tests(t, setup, teardown);
}

/* The host functions of AscendC's library: compiled as op_host code is, with and without the C++ library, and asked. */
#include "sim/sim.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

static void ask(const char *define) {
  ac_arena *a = ac_arena_new();
  char *so = ac_sprintf(a, "%s/sim_library_sizes_%d.so", AC_BINARY_DIR, (int)getpid());
  static const char include[] = AC_SOURCE_DIR "/sim/include",
                    source[] = AC_SOURCE_DIR "/tests/sim/fixtures/library_sizes/library_sizes.cpp";
  const char *argv[] = {getenv("CXX") ? getenv("CXX") : "g++",
                        "-std=c++17",
                        "-O0",
                        "-fPIC",
                        "-shared",
                        "-Wall",
                        "-Wextra",
                        "-Werror",
                        "-I",
                        include,
                        source,
                        "-o",
                        so,
                        define,
                        NULL};
  ac_proc p;
  ac_proc_run(a, &(ac_proc_spec){.argv = argv, .timeout = 120}, &p);
  if (p.status) fail_msg("does not compile:\n%s", p.err);
  void *h = dlopen(so, RTLD_NOW | RTLD_LOCAL);
  if (!h) fail_msg("%s", dlerror());
  unlink(so);
  int (*check)(void);
  *(void **)&check = dlsym(h, "check_library_sizes");
  assert_non_null(check);
  assert_int_equal(check(), 0);
  ac_arena_free(a);
}
static void plain(void **state) {
  (void)state;
  ask(NULL);
}
static void with_the_library(void **state) {
  (void)state;
  ask("-DACSIM_HOST_STL=1");
}

int main(void) {
  const struct CMUnitTest t[] = {cmocka_unit_test(plain), cmocka_unit_test(with_the_library)};
  return cmocka_run_group_tests(t, NULL, NULL);
}

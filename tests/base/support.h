/* What the tests of base share. */
#ifndef AC_TEST_SUPPORT_H
#define AC_TEST_SUPPORT_H

/* cmocka wants these before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each test gets a fresh arena in *state. */
static inline int with_arena(void **state) {
  *state = ac_arena_new();
  return 0;
}

static inline int drop_arena(void **state) {
  ac_arena_free(*state);
  return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, with_arena, drop_arena)

/* Everything that ac_diags_print writes. */
static inline char *printed(ac_arena *a, const ac_diags *d) {
  char *text = NULL;
  size_t n = 0;
  FILE *f = open_memstream(&text, &n);
  ac_diags_print(d, f, false);
  fclose(f);
  char *copy = ac_strndup(a, text, n);
  free(text);
  return copy;
}

/* Result of fn in a child that is not root (uid 65534), where permissions count. 0: it returned true. */
static inline int as_nobody(bool (*fn)(void *), void *user) {
  pid_t pid = fork();
  if (pid == 0) {
    if (getuid() == 0 && (setgid(65534) || setuid(65534))) _exit(99);
    _exit(fn(user) ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

#endif

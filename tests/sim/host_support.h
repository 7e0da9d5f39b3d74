/* What the tests of whole operators share: an arena, diagnostics, and a folder that the compiled libraries go to. */
#ifndef AC_TEST_HOST_SUPPORT_H
#define AC_TEST_HOST_SUPPORT_H

/* cmocka wants these before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/sim.h"

#include <stdlib.h>
#include <string.h>

static ac_arena *a;
static ac_diags d;
static const char *root;

static inline int setup(void **s) {
  (void)s;
  a = ac_arena_new();
  ac_diags_init(&d, a);
  root = ac_temp_dir(a, &d);
  return root && !setenv("XDG_CACHE_HOME", root, 1) ? 0 : -1;
}
static inline int teardown(void **s) {
  (void)s;
  ac_remove_tree(root);
  ac_arena_free(a);
  return 0;
}

#endif

/* What tests of craft begin with: an arena, diagnostics and a chip. */
#ifndef AC_TESTS_CRAFT_WORLD_H
#define AC_TESTS_CRAFT_WORLD_H

#include "craft/craft.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

typedef struct {
  ac_arena *a;
  ac_diags d;
  const ac_chip *chip;
} world;

static void open_world(world *w) {
  w->a = ac_arena_new();
  ac_diags_init(&w->d, w->a);
  w->chip = ac_chip_load(w->a, "ascend910b2", &w->d);
  assert_non_null(w->chip);
}

#endif

/* Symbolic integers: chains of functions that are longer than the stack is deep. */
#include "craft/sym.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void long_chains(void **state) {
  (void)state;
  ac_arena *a = ac_arena_new();
  ac_syms s;
  ac_syms_init(&s, a);
  ac_sym *n = ac_sy_named(&s, "n", "n"), *x = ac_sy_named(&s, "x", "x");
  for (int i = 0; i < 300000; i++) {
    x = ac_sy_fn(&s, AC_SY_MIN, ac_sy_add(&s, x, ac_sy_int(&s, i)), n);
    if (i == 40) assert_true(ac_sy_le(&s, x, n, NULL)); /* what expressions can hold is known in full */
  }
  assert_non_null(ac_sy_text(&s, x));
  assert_ptr_equal(ac_sy_bind(&s, x), x);
  assert_false(ac_sy_nonneg(&s, x, NULL));
  ac_arena_free(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(long_chains)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

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

/* ---- what is remembered ---- */

enum { ATOMS = 6, STEPS = 40 };
typedef struct {
  ac_syms s;
  ac_sym *atom[ATOMS];
  const ac_fact *facts;
  uint64_t seed;
} world;

static int draw(world *w, int n) {
  w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
  return (int)((w->seed >> 33) % (uint64_t)n);
}

static ac_sym *some(world *w, int depth) {
  static const ac_symfn fns[] = {AC_SY_MIN, AC_SY_MAX, AC_SY_FLOORDIV, AC_SY_CDIV, AC_SY_MOD};
  int kind = draw(w, 8);
  if (depth == 0 || kind < 2) return kind == 0 ? ac_sy_int(&w->s, draw(w, 9) - 4) : w->atom[draw(w, ATOMS)];
  ac_sym *x = some(w, depth - 1), *y = some(w, depth - 1);
  if (kind < 4) return ac_sy_add(&w->s, x, y);
  if (kind == 4) return ac_sy_sub(&w->s, x, y);
  if (kind == 5) return ac_sy_mul(&w->s, x, y);
  return ac_sy_fn(&w->s, fns[draw(w, 5)], x, y);
}

/* One more fact, one more bound, or a question, which is asked or not. */
static int step(world *w, bool ask) {
  ac_sym *of = w->atom[draw(w, ATOMS)], *x = some(w, 2), *y = some(w, 2);
  int64_t lo = draw(w, 3) - 1;
  switch (draw(w, 6)) {
  case 0: w->facts = ac_sy_assume(&w->s, w->facts, ac_sy_sub(&w->s, y, x)); return -1;
  case 1: (void)ac_sy_limit(&w->s, of, lo, lo + draw(w, 100)); return -1;
  case 2: ac_sy_learn(&w->s, of)->shi = ac_sy_add(&w->s, ac_sy_int(&w->s, draw(w, 20)), w->atom[0]); return -1;
  case 3:
    if (w->facts) w->facts = w->facts->next;
    return -1;
  default: return ask ? ac_sy_le(&w->s, x, y, w->facts) : -1;
  }
}

static world *fresh_world(ac_arena *a, uint64_t seed) {
  world *w = AC_NEW(a, world);
  ac_syms_init(&w->s, a);
  w->seed = seed;
  for (int i = 0; i < ATOMS; i++) {
    const char *name = ac_sprintf(a, "a%d", i);
    w->atom[i] = ac_sy_named(&w->s, name, name);
    ac_sy_at_least(&w->s, w->atom[i], i % 2);
  }
  return w;
}

/* A prover that was asked before answers as one that was not, after whatever was learnt in between. */
static void answers_do_not_depend_on_earlier_questions(void **state) {
  (void)state;
  int proved = 0, not_proved = 0;
  for (uint64_t seed = 1; seed <= 100; seed++) {
    ac_arena *a = ac_arena_new();
    world *often = fresh_world(a, seed);
    for (int k = 0; k < STEPS; k++) {
      uint64_t before = often->seed;
      int got = step(often, true);
      if (got < 0) continue;
      often->seed = before;
      assert_int_equal(step(often, true), got); /* at once, remembered */
      world *once = fresh_world(a, seed);
      for (int i = 0; i < k; i++) (void)step(once, false);
      if (step(once, true) != got) fail_msg("seed %d, step %d: %d after other questions", (int)seed, k, got);
      *(got ? &proved : &not_proved) += 1;
    }
    ac_arena_free(a);
  }
  if (proved < 100 || not_proved < 100) fail_msg("%d proved, %d not", proved, not_proved);
}

static void equal_lists_of_facts_have_equal_numbers(void **state) {
  (void)state;
  ac_arena *a = ac_arena_new();
  world *w = fresh_world(a, 1);
  const ac_fact *x = NULL, *y = NULL;
  for (int i = 0; i < 1000; i++) {
    ac_sym *p = ac_sy_add(&w->s, w->atom[i % ATOMS], ac_sy_int(&w->s, i));
    x = ac_sy_assume(&w->s, x, p);
    assert_true(!y || x->id != y->id);
    y = ac_sy_assume(&w->s, y, p);
    assert_int_equal(x->id, y->id);
  }
  assert_int_not_equal(ac_sy_assume(&w->s, x->next, w->atom[0])->id, x->id);
  ac_arena_free(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(long_chains),
                                     cmocka_unit_test(answers_do_not_depend_on_earlier_questions),
                                     cmocka_unit_test(equal_lists_of_facts_have_equal_numbers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

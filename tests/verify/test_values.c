/* The kinds of values: what each must contain, and that they are functions of seed and index. */
#include "verify/verify.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { N = 8192, ROW = 256 };
static double values[N];

static void make(ac_values v, ac_dtype d, uint64_t seed) {
  void *cells = calloc(N, 8);
  assert_true(ac_values_fill(v, d, seed, ROW, cells, N));
  for (int i = 0; i < N; i++) values[i] = ac_load(d, cells, i);
  free(cells);
}

static void normal_is_normal(void **s) {
  (void)s;
  make(AC_VALUES_NORMAL, AC_F32, 1);
  double sum = 0, squares = 0, most = 0;
  for (int i = 0; i < N; i++) {
    sum += values[i];
    squares += values[i] * values[i];
    most = fmax(most, fabs(values[i]));
  }
  assert_true(fabs(sum / N) < 0.05);
  assert_true(fabs(squares / N - 1) < 0.06);
  assert_true(most > 3 && most <= 6);
}

static void uniform_has_both_signs(void **s) {
  (void)s;
  make(AC_VALUES_UNIFORM, AC_BF16, 2);
  int negative = 0;
  for (int i = 0; i < N; i++) {
    assert_true(fabs(values[i]) <= 1);
    negative += values[i] < 0;
  }
  assert_in_range(negative, N / 2 - 400, N / 2 + 400);
}

static void tiny_reaches_subnormals(void **s) {
  (void)s;
  static const struct {
    ac_dtype d;
    double normal, most;
  } rows[] = {{AC_F32, 0x1p-126, 1e-6}, {AC_F16, 0x1p-14, 1e-3}, {AC_BF16, 0x1p-126, 1.01e-6}};
  for (size_t k = 0; k < AC_COUNT(rows); k++) {
    make(AC_VALUES_TINY, rows[k].d, 3);
    int subnormal = 0, above = 0;
    for (int i = 0; i < N; i++) {
      assert_true(fabs(values[i]) <= rows[k].most * 1.001);
      subnormal += values[i] != 0 && fabs(values[i]) < rows[k].normal;
      above += fabs(values[i]) >= rows[k].normal;
    }
    assert_true(subnormal > 100 && above > 100);
  }
}

static void large_stays_finite(void **s) {
  (void)s;
  static const ac_dtype d[] = {AC_F32, AC_F16, AC_BF16};
  static const double max[] = {0x1.fffffep127, 65504, 0x1.fep127};
  for (size_t k = 0; k < AC_COUNT(d); k++) {
    make(AC_VALUES_LARGE, d[k], 4);
    double most = 0;
    for (int i = 0; i < N; i++) most = fmax(most, fabs(values[i]));
    assert_true(isfinite(most));
    assert_true(most > max[k] / 4 && most <= max[k] / 2);
  }
}

static void specials_take_turns_by_row(void **s) {
  (void)s;
  make(AC_VALUES_SPECIAL, AC_F32, 5);
  int inf = 0, minus_inf = 0, nan = 0, clean_rows = 0;
  for (int r = 0; r < N / ROW; r++) {
    int odd = 0;
    for (int i = 0; i < ROW; i++) {
      double x = values[r * ROW + i];
      inf += isinf(x) && x > 0;
      minus_inf += isinf(x) && x < 0;
      nan += isnan(x);
      odd += !isfinite(x) || fabs(x) > 100;
    }
    clean_rows += !odd;
  }
  assert_true(inf > 10 && minus_inf > 10 && nan > 10);
  assert_true(clean_rows >= N / ROW / 2);
}

static void constants(void **s) {
  (void)s;
  make(AC_VALUES_ZERO, AC_F16, 6);
  for (int i = 0; i < N; i++) assert_true(values[i] == 0);
  make(AC_VALUES_EQUAL, AC_F16, 6);
  for (int i = 1; i < N; i++) assert_true(values[i] == values[0] && values[0] != 0);
}

static void same_seed_same_values(void **s) {
  (void)s;
  for (ac_values v = AC_VALUES_NORMAL; v <= AC_VALUES_SPECIAL; v++) {
    float a[64], b[64], c[64];
    ac_values_fill(v, AC_F32, 7, 8, a, 64);
    ac_values_fill(v, AC_F32, 7, 8, b, 64);
    ac_values_fill(v, AC_F32, 8, 8, c, 64);
    assert_memory_equal(a, b, sizeof a);
    assert_memory_not_equal(a, c, sizeof a);
    ac_values_fill(v, AC_F32, 7, 8, b, 32); /* a prefix is a prefix */
    assert_memory_equal(a, b, 32 * sizeof *a);
  }
}

static void integers_are_left_to_the_graph(void **s) {
  (void)s;
  int64_t cell;
  assert_false(ac_values_fill(AC_VALUES_NORMAL, AC_I64, 1, 1, &cell, 1));
  assert_false(ac_values_fill(AC_VALUES_ZERO, AC_BOOL, 1, 1, &cell, 1));
}

/* A vector is one row: pieces of it take turns, or only one kind of special value would ever be tried. */
static void vector_specials(void **state) {
  (void)state;
  float x[513];
  int plus = 0, minus = 0, nans = 0;
  assert_true(ac_values_fill(AC_VALUES_SPECIAL, AC_F32, 7, 513, x, 513));
  for (int i = 0; i < 513; i++) {
    plus += isinf(x[i]) && x[i] > 0;
    minus += isinf(x[i]) && x[i] < 0;
    nans += isnan(x[i]) != 0;
  }
  assert_true(plus && minus && nans);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vector_specials),
      cmocka_unit_test(normal_is_normal),
      cmocka_unit_test(uniform_has_both_signs),
      cmocka_unit_test(tiny_reaches_subnormals),
      cmocka_unit_test(large_stays_finite),
      cmocka_unit_test(specials_take_turns_by_row),
      cmocka_unit_test(constants),
      cmocka_unit_test(same_seed_same_values),
      cmocka_unit_test(integers_are_left_to_the_graph),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

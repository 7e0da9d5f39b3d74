/* The rules of comparison, each with a value that must pass and one that must not. */
#include "verify/verify.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static int64_t bad(ac_dtype d, ac_error_class c, double scale, double ref, double got, const double *honest) {
  uint64_t cell = 0;
  ac_store(d, &cell, 0, got);
  ac_tolerance t = ac_tolerance_of(d, c);
  ac_comparison k = {.first_bad = -1, .last_bad = -1, .worst = -1};
  double slack = honest && isfinite(*honest) && isfinite(ref) ? fabs(*honest - ref) : 0;
  ac_excuse e = {honest, &slack, NULL};
  ac_compare_float(d, &t, scale, &ref, honest ? &e : NULL, &cell, 0, 1, &k);
  return k.bad;
}

static void exact_class_wants_the_same_number(void **s) {
  (void)s;
  assert_int_equal(bad(AC_F32, AC_ERR_EXACT, 1, 1.5, 1.5, NULL), 0);
  assert_int_equal(bad(AC_F32, AC_ERR_EXACT, 1, 1.5, 1.5 + 0x1p-23, NULL), 1);
  assert_int_equal(bad(AC_F32, AC_ERR_EXACT, 1, 0.1, 0.1f, NULL), 0); /* the reference is rounded first */
  assert_int_equal(bad(AC_F32, AC_ERR_EXACT, 1, 0.0, -0.0, NULL), 0);
  assert_int_equal(bad(AC_F32, AC_ERR_EXACT, 1, 0x1p-149, 0.0, NULL), 1); /* a copy flushes nothing */
}

static void relative_bound_by_dtype(void **s) {
  (void)s;
  static const struct {
    ac_dtype d;
    ac_error_class c;
    double ok, not_ok;
  } rows[] = {{AC_F32, AC_ERR_FUNCTION, 0x1p-17, 0x1p-15},
              {AC_F32, AC_ERR_ARITHMETIC, 0x1p-21, 0x1p-18},
              {AC_F16, AC_ERR_FUNCTION, 0x1p-10, 0x1p-9},
              {AC_BF16, AC_ERR_FUNCTION, 0x1p-7, 0x1p-6}};
  for (size_t i = 0; i < AC_COUNT(rows); i++) {
    assert_int_equal(bad(rows[i].d, rows[i].c, 1, 1, 1 + rows[i].ok, NULL), 0);
    assert_int_equal(bad(rows[i].d, rows[i].c, 1, 1, 1 + rows[i].not_ok, NULL), 1);
    assert_int_equal(bad(rows[i].d, rows[i].c, 1, -1, 1, NULL), 1);
  }
}

static void floor_grows_with_the_output_only(void **s) {
  (void)s;
  assert_int_equal(bad(AC_F32, AC_ERR_FUNCTION, 1, 1e-9, 0, NULL), 0); /* far below the largest output */
  assert_int_equal(bad(AC_F32, AC_ERR_FUNCTION, 1, 1e-5, 0, NULL), 1);
  assert_int_equal(bad(AC_F32, AC_ERR_ARITHMETIC, 1e-6, 1e-9, 0, NULL),
                   1); /* all outputs are tiny: zeros are wrong */
  assert_int_equal(bad(AC_F32, AC_ERR_ARITHMETIC, 1e-30, 0x1p-130, 0, NULL), 0); /* subnormals may be flushed */
}

/* Truncated halves are within tolerance one by one. Nearest has no side, and neither have few values. */
static const char *side(ac_dtype d, int mode, int values) {
  enum { N = 1000 };
  static double ref[N];
  static uint16_t got[N];
  uint32_t seed = 12345;
  ac_tolerance t = ac_tolerance_of(d, AC_ERR_FUNCTION);
  ac_comparison k = {.first_bad = -1, .last_bad = -1, .worst = -1};
  double step = d == AC_F16 ? 0x1p-10 : 0x1p-7;
  for (int i = 0; i < N; i++) {
    seed = seed * 1664525u + 1013904223u;
    ref[i] = 1 + (double)(seed >> 8) / 0x1p24;
    if (i >= values) ref[i] = ref[i % values];
    double v = ref[i];
    if (i % 2) v = ref[i] = -v;
    if (mode == 1) v = trunc(v / step) * step;
    if (mode == 2) v = floor(v / step) * step;
    ac_store(d, got, i, v);
  }
  ac_compare_float(d, &t, 1, ref, NULL, got, 0, N, &k);
  assert_int_equal(k.bad, 0);
  return ac_one_sided(&k);
}

static void rounding_to_one_side_is_seen(void **s) {
  (void)s;
  static const ac_dtype half[] = {AC_F16, AC_BF16};
  for (int i = 0; i < 2; i++) {
    assert_null(side(half[i], 0, 1000));
    assert_string_equal(side(half[i], 1, 1000), "toward zero");
    assert_string_equal(side(half[i], 2, 1000), "down");
  }
  assert_null(side(AC_F16, 0, 1));
}

static void nan_only_for_nan(void **s) {
  (void)s;
  for (ac_error_class c = AC_ERR_EXACT; c <= AC_ERR_FUNCTION; c++) {
    assert_int_equal(bad(AC_F32, c, 1, NAN, NAN, NULL), 0);
    assert_int_equal(bad(AC_F32, c, 1, NAN, 0, NULL), 1);
    assert_int_equal(bad(AC_F32, c, 1, 1, NAN, NULL), 1);
    assert_int_equal(bad(AC_F32, c, 1, INFINITY, NAN, NULL), 1);
  }
}

static void infinity_by_sign_and_by_range(void **s) {
  (void)s;
  assert_int_equal(bad(AC_F32, AC_ERR_FUNCTION, 1, INFINITY, INFINITY, NULL), 0);
  assert_int_equal(bad(AC_F32, AC_ERR_FUNCTION, 1, INFINITY, -INFINITY, NULL), 1);
  assert_int_equal(bad(AC_F32, AC_ERR_FUNCTION, 1, INFINITY, FLT_MAX, NULL), 1);
  assert_int_equal(bad(AC_F32, AC_ERR_FUNCTION, 1, 1e300, INFINITY, NULL), 0); /* rounds to infinity */
  assert_int_equal(bad(AC_F32, AC_ERR_FUNCTION, 1, -1e300, INFINITY, NULL), 1);
  assert_int_equal(bad(AC_F32, AC_ERR_FUNCTION, 1, 1e300, 1e30, NULL), 1);
  assert_int_equal(bad(AC_F16, AC_ERR_FUNCTION, 1, 65510, INFINITY, NULL),
                   0); /* within a unit of the end of the range */
  assert_int_equal(bad(AC_F16, AC_ERR_FUNCTION, 1, 60000, INFINITY, NULL), 1);
  assert_int_equal(bad(AC_F32, AC_ERR_FUNCTION, 1, 1, INFINITY, NULL), 1);
}

static void an_honest_evaluation_excuses(void **s) {
  (void)s;
  double off = 1 + 1e-3, over = INFINITY, undefined = NAN, good = 1;
  assert_int_equal(bad(AC_F32, AC_ERR_FUNCTION, 1, 1, 1 + 2e-3, &off), 0);  /* a cancellation */
  assert_int_equal(bad(AC_F32, AC_ERR_FUNCTION, 1, 1, 1 + 6e-3, &off), 1);  /* but not any distance */
  assert_int_equal(bad(AC_F32, AC_ERR_FUNCTION, 1, 1, INFINITY, &over), 0); /* an intermediate overflows */
  assert_int_equal(bad(AC_F32, AC_ERR_FUNCTION, 1, 1, -INFINITY, &over), 1);
  assert_int_equal(bad(AC_F32, AC_ERR_FUNCTION, 1, 1, NAN, &undefined), 0);
  assert_int_equal(bad(AC_F32, AC_ERR_FUNCTION, 1, 1, 2, &undefined), 1);
  assert_int_equal(bad(AC_F32, AC_ERR_FUNCTION, 1, 1, 1.01, &good), 1);
  assert_int_equal(bad(AC_F32, AC_ERR_FUNCTION, 1, NAN, 1, &good), 0); /* the root of what cancels to about zero */
  assert_int_equal(bad(AC_F32, AC_ERR_FUNCTION, 1, NAN, 1.01, &good), 1);
  assert_int_equal(bad(AC_F32, AC_ERR_FUNCTION, 1, NAN, 1, &undefined), 1);
  assert_int_equal(bad(AC_F32, AC_ERR_EXACT, 1, 1, 1.001, &off), 1); /* nothing excuses a copy */
}

/* Where rounding decides whether there is a number, nothing can be asked; but only there. */
static void torn_elements_are_not_judged(void **s) {
  (void)s;
  const double ref[] = {3, 3, 3, NAN, NAN}, honest[] = {3, 3, 3, NAN, NAN}, slack[] = {0, 0, 0, 0, 0};
  const bool torn[] = {true, true, false, true, false};
  const float got[] = {NAN, 700, NAN, 700, 700};
  ac_tolerance t = ac_tolerance_of(AC_F32, AC_ERR_FUNCTION);
  ac_comparison k = {.first_bad = -1, .last_bad = -1, .worst = -1};
  ac_excuse e = {honest, slack, torn};
  ac_compare_float(AC_F32, &t, 3, ref, &e, got, 0, 5, &k);
  assert_int_equal(k.bad, 2);
  assert_int_equal(k.first_bad, 2);
  assert_int_equal(k.last_bad, 4);
}

static void integers_and_bools_are_exact(void **s) {
  (void)s;
  int64_t ref[3] = {(1LL << 53) + 1, -1, 0}, got[3] = {1LL << 53, -1, 0};
  ac_comparison k = {.first_bad = -1, .last_bad = -1, .worst = -1};
  ac_compare_int(AC_I64, ref, got, 0, 3, &k);
  assert_int_equal(k.bad, 1); /* a double could not tell */
  assert_int_equal(k.first_bad, 0);
  int64_t truth[2] = {1, 0};
  uint8_t yes_no[2] = {1, 0}, odd[2] = {0xFF, 0};
  k = (ac_comparison){.first_bad = -1, .last_bad = -1, .worst = -1};
  ac_compare_int(AC_BOOL, truth, yes_no, 0, 2, &k);
  assert_int_equal(k.bad, 0);
  ac_compare_int(AC_BOOL, truth, odd, 0, 2, &k);
  assert_int_equal(k.bad, 1); /* 255 is no bool */
}

static void positions_are_kept(void **s) {
  (void)s;
  float got[6] = {0, 1, 9, 3, 9, 5};
  double ref[6] = {0, 1, 2, 3, 4, 5};
  ac_tolerance t = ac_tolerance_of(AC_F32, AC_ERR_ARITHMETIC);
  ac_comparison k = {.first_bad = -1, .last_bad = -1, .worst = -1};
  ac_compare_float(AC_F32, &t, 5, ref, NULL, got, 0, 3, &k);
  ac_compare_float(AC_F32, &t, 5, ref + 3, NULL, got, 3, 3, &k);
  assert_int_equal(k.n, 6);
  assert_int_equal(k.bad, 2);
  assert_int_equal(k.first_bad, 2);
  assert_int_equal(k.last_bad, 4);
  assert_int_equal(k.worst, 2);
  assert_true(k.max_abs == 7 && k.max_rel == 3.5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exact_class_wants_the_same_number),
      cmocka_unit_test(relative_bound_by_dtype),
      cmocka_unit_test(floor_grows_with_the_output_only),
      cmocka_unit_test(rounding_to_one_side_is_seen),
      cmocka_unit_test(nan_only_for_nan),
      cmocka_unit_test(infinity_by_sign_and_by_range),
      cmocka_unit_test(an_honest_evaluation_excuses),
      cmocka_unit_test(torn_elements_are_not_judged),
      cmocka_unit_test(integers_and_bools_are_exact),
      cmocka_unit_test(positions_are_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

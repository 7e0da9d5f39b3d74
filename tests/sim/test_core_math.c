/* The values of core_math.c against the definition, over many more inputs than kernels can carry. */
#include "sim/core_internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static uint32_t seed = 1;
static uint32_t next(void) {
  return seed = seed * 1664525u + 1013904223u;
}
static float float_of(uint32_t u) {
  float f;
  memcpy(&f, &u, 4);
  return f;
}
/* Distance in units of the last place; 0 for equal values and for two NaNs. */
static double ulps(float got, double want) {
  if (isnan(want) || isnan(got)) return isnan(want) && isnan(got) ? 0 : INFINITY;
  float w = (float)want;
  if (got == w) return 0;
  if (isinf(w) || isinf(got)) return INFINITY;
  int e;
  frexp(want, &e);
  return fabs((double)got - want) / ldexp(1, e - 24 < -149 ? -149 : e - 24);
}

enum { MANY = 400000 };

/* Every float bit pattern, sampled; the result may miss the correctly rounded one only in rare near-ties. */
static void exp_and_ln(void **state) {
  (void)state;
  float *x = malloc(MANY * 4), *y = malloc(MANY * 4);
  for (int op = 0; op < 2; op++) {
    for (int i = 0; i < MANY; i++) x[i] = i % 2 ? float_of(next()) : (float)((double)(int32_t)next() / 1e7);
    acsim_math_unary(op ? ACSIM_OP_Ln : ACSIM_OP_Exp, ACSIM_F32, y, x, MANY, false);
    int missed = 0;
    for (int i = 0; i < MANY; i++) {
      double want = op ? log((double)x[i]) : exp((double)x[i]), u = ulps(y[i], want);
      assert_true(u < 0.5001);
      missed += u != 0;
    }
    assert_true(missed < MANY / 100000);
  }
  free(x);
  free(y);
}

/* All halves, through every two-operand and one-operand instruction: one rounding of the exact result. */
static void halves(void **state) {
  (void)state;
  enum { ALL = 65536 };
  uint16_t *x = malloc(ALL * 2), *w = malloc(ALL * 2), *y = malloc(ALL * 2);
  for (int i = 0; i < ALL; i++) x[i] = (uint16_t)i, w[i] = (uint16_t)(next() >> 16);
  static const int ops[] = {ACSIM_OP_Add, ACSIM_OP_Sub, ACSIM_OP_Mul, ACSIM_OP_Div};
  for (int k = 0; k < 4; k++) {
    acsim_math_binary(ops[k], ACSIM_F16, y, x, w, ALL, false);
    for (int i = 0; i < ALL; i++) {
      double a = (double)ac_f16_to_f32(x[i]), b = (double)ac_f16_to_f32(w[i]);
      double v = k == 0 ? a + b : k == 1 ? a - b : k == 2 ? a * b : a / b;
      uint16_t want = ac_f64_to_f16(v, AC_RN_RINT);
      if (isnan(v))
        assert_true((y[i] & 0x7fff) > 0x7c00);
      else
        assert_int_equal(y[i], want);
    }
  }
  acsim_math_unary(ACSIM_OP_Sqrt, ACSIM_F16, y, x, ALL, false);
  for (int i = 0; i < 0x7c01; i++)
    assert_int_equal(y[i], ac_f64_to_f16(sqrt((double)ac_f16_to_f32(x[i])), AC_RN_RINT));
  /* saturating: no inf, no NaN comes out */
  acsim_math_binary(ACSIM_OP_Mul, ACSIM_F16, y, x, w, ALL, true);
  for (int i = 0; i < ALL; i++) assert_true((y[i] & 0x7fff) < 0x7c00);
  free(x);
  free(w);
  free(y);
}

/* The branch-free conversions equal isa's. */
static void conversions(void **state) {
  (void)state;
  float *x = malloc(MANY * 4), *back = malloc(65536 * 4);
  uint16_t *y = malloc(MANY * 2), *all = malloc(65536 * 2);
  for (int i = 0; i < MANY; i++) {
    uint32_t u = next();
    x[i] = i % 2 ? float_of(u) : float_of((u & 0x807fffff) | (103 + u % 48) << 23); /* near half's range */
  }
  for (int t = 0; t < 2; t++) {
    int type = t ? ACSIM_BF16 : ACSIM_F16;
    acsim_math_cast(type, ACSIM_F32, AC_RN_RINT, y, x, MANY, false);
    for (int i = 0; i < MANY; i++) {
      if (isnan(x[i]))
        assert_true(isnan(ac_load((ac_dtype)type, y, i)));
      else
        assert_int_equal(y[i], t ? ac_f32_to_bf16(x[i], AC_RN_RINT) : ac_f32_to_f16(x[i], AC_RN_RINT));
    }
    for (int i = 0; i < 65536; i++) all[i] = (uint16_t)i;
    acsim_math_cast(ACSIM_F32, type, AC_RN_NONE, back, all, 65536, false);
    for (int i = 0; i < 65536; i++) {
      double v = ac_load((ac_dtype)type, all, i);
      assert_true(isnan(v) ? isnan(back[i]) : (double)back[i] == v && !signbit(back[i]) == !signbit(v));
    }
  }
  free(x);
  free(y);
  free(all);
  free(back);
}

static void int_casts(void **state) {
  (void)state;
  const int64_t v[] = {16777217,        -16777217, 16777219, 9007199254740993ll, INT64_MAX, INT64_MIN, 0,
                       (1ll << 25) + 2, 70000,     -40000};
  float f[10];
  acsim_math_cast(ACSIM_F32, ACSIM_I64, AC_RN_FLOOR, f, v, 10, false);
  assert_true(f[0] == 16777216.0f && f[1] == -16777218.0f && f[4] == 0x1.fffffep62f && f[5] == -0x1p63f);
  acsim_math_cast(ACSIM_F32, ACSIM_I64, AC_RN_CEIL, f, v, 10, false);
  assert_true(f[0] == 16777218.0f && f[1] == -16777216.0f && f[4] == 0x1p63f);
  acsim_math_cast(ACSIM_F32, ACSIM_I64, AC_RN_ROUND, f, v, 10, false);
  assert_true(f[0] == 16777218.0f && f[1] == -16777218.0f && f[7] == 33554436.0f);
  acsim_math_cast(ACSIM_F32, ACSIM_I64, AC_RN_TRUNC, f, v, 10, false);
  assert_true(f[0] == 16777216.0f && f[1] == -16777216.0f);
  acsim_math_cast(ACSIM_F32, ACSIM_I64, AC_RN_RINT, f, v, 10, false);
  assert_true(f[0] == 16777216.0f && f[2] == 16777220.0f && f[7] == 33554432.0f);
  int32_t n[10];
  acsim_math_cast(ACSIM_I32, ACSIM_I64, AC_RN_NONE, n, v, 10, false); /* narrower integers saturate */
  assert_true(n[4] == INT32_MAX && n[5] == INT32_MIN && n[0] == 16777217);
  int16_t s[10];
  acsim_math_cast(ACSIM_I16, ACSIM_I32, AC_RN_NONE, s, n, 10, false);
  assert_true(s[8] == INT16_MAX && s[9] == INT16_MIN);
  const float x[] = {2.5f, -2.5f, 3.5f, -0.5f, 2147483648.0f, -3e9f, NAN, 0.49999997f};
  static const int32_t want[][8] = {
      [AC_RN_RINT] = {2, -2, 4, 0, INT32_MAX, INT32_MIN, 0, 0},
      [AC_RN_FLOOR] = {2, -3, 3, -1, INT32_MAX, INT32_MIN, 0, 0},
      [AC_RN_CEIL] = {3, -2, 4, 0, INT32_MAX, INT32_MIN, 0, 1},
      [AC_RN_ROUND] = {3, -3, 4, -1, INT32_MAX, INT32_MIN, 0, 0},
      [AC_RN_TRUNC] = {2, -2, 3, 0, INT32_MAX, INT32_MIN, 0, 0},
  };
  for (int r = AC_RN_RINT; r <= AC_RN_TRUNC; r++) {
    acsim_math_cast(ACSIM_I32, ACSIM_F32, r, n, x, 8, false);
    assert_memory_equal(n, want[r], sizeof want[r]);
  }
}

static void integers_wrap(void **state) {
  (void)state;
  int32_t a[] = {INT32_MAX, INT32_MIN, 65536, -7}, b[] = {1, -1, 65536, 3}, d[4];
  acsim_math_binary(ACSIM_OP_Add, ACSIM_I32, d, a, b, 4, false);
  assert_true(d[0] == INT32_MIN && d[1] == INT32_MAX && d[3] == -4);
  acsim_math_binary(ACSIM_OP_Mul, ACSIM_I32, d, a, b, 4, false);
  assert_true(d[1] == INT32_MIN && d[2] == 0 && d[3] == -21);
  acsim_math_scalar(ACSIM_OP_ShiftRight, ACSIM_I32, d, a, 0, 1, 4, false);
  assert_true(d[3] == -4 && d[1] == INT32_MIN / 2);
}

static void tree(void **state) {
  (void)state;
  float x[64], s;
  for (int i = 0; i < 64; i++) x[i] = 1e8f * (float)(i % 2 ? -1 : 1) + (float)i;
  uint64_t all[2] = {~0ull, 0}, some[2] = {0x15, 0}, none[2] = {0, 0};
  acsim_math_tree_sum(ACSIM_F32, &s, x, all, 64, false);
  float level[64];
  memcpy(level, x, sizeof x);
  for (int n = 64; n > 1; n /= 2)
    for (int i = 0; i < n / 2; i++) level[i] = level[2 * i] + level[2 * i + 1];
  assert_true(s == level[0]);
  acsim_math_tree_sum(ACSIM_F32, &s, x, some, 64, false); /* lanes 0, 2, 4: (x0 + x2) + x4 */
  assert_true(s == (x[0] + x[2]) + x[4]);
  acsim_math_tree_sum(ACSIM_F32, &s, x, none, 64, false);
  assert_true(s == 0);
  uint16_t h[128], r; /* half: every partial sum is rounded; 2048 + 1 stays 2048 */
  for (int i = 0; i < 128; i++) h[i] = ac_f32_to_f16(i == 0 ? 2048 : i == 1 ? 1 : 0, AC_RN_RINT);
  uint64_t full[2] = {~0ull, ~0ull};
  acsim_math_tree_sum(ACSIM_F16, &r, h, full, 128, false);
  assert_true(ac_f16_to_f32(r) == 2048);
}

int main(void) {
  const struct CMUnitTest t[] = {cmocka_unit_test(exp_and_ln),    cmocka_unit_test(halves),
                                 cmocka_unit_test(conversions),   cmocka_unit_test(int_casts),
                                 cmocka_unit_test(integers_wrap), cmocka_unit_test(tree)};
  return cmocka_run_group_tests(t, NULL, NULL);
}

/* Number formats against the definition: every 16-bit pattern, every rounding mode. */
#include "isa/isa.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

/* The value of a pattern, by the definition of the format; inf and NaN through the caller. */
static double value_of(uint16_t h, int mbits) {
  int e = (h & 0x7fff) >> mbits, m = h & ((1 << mbits) - 1), bias = mbits == 10 ? 15 : 127;
  double v = e ? ldexp((1 << mbits) + m, e - bias - mbits) : ldexp(m, 1 - bias - mbits);
  return h & 0x8000 ? -v : v;
}

static void widening_is_exact(void **s) {
  (void)s;
  for (int i = 0; i < 65536; i++) {
    uint16_t h = (uint16_t)i;
    float f = ac_f16_to_f32(h), b = ac_bf16_to_f32(h);
    if ((h & 0x7c00) == 0x7c00) {
      if (h & 0x3ff)
        assert_true(isnan(f));
      else
        assert_true(isinf(f) && !!signbit(f) == h >> 15);
    } else {
      assert_true((double)f == value_of(h, 10) && !!signbit(f) == h >> 15);
    }
    if ((h & 0x7f80) == 0x7f80) {
      if (h & 0x7f)
        assert_true(isnan(b));
      else
        assert_true(isinf(b));
    } else {
      assert_true((double)b == value_of(h, 7));
    }
  }
}

static void every_pattern_survives(void **s) {
  (void)s;
  for (int i = 0; i < 65536; i++)
    for (int r = AC_RN_NONE; r <= AC_RN_ODD; r++) {
      uint16_t h = (uint16_t)i;
      float f = ac_f16_to_f32(h), b = ac_bf16_to_f32(h);
      if (isnan(f))
        assert_true(isnan(ac_f16_to_f32(ac_f32_to_f16(f, (ac_round)r))));
      else
        assert_int_equal(ac_f32_to_f16(f, (ac_round)r), h);
      if (isnan(b))
        assert_true(isnan(ac_bf16_to_f32(ac_f32_to_bf16(b, (ac_round)r))));
      else
        assert_int_equal(ac_f32_to_bf16(b, (ac_round)r), h);
    }
}

/* Between each pair of neighbours: below the middle, the middle, above it. */
static void check_gap(uint16_t lo, uint16_t hi, int mbits, uint16_t (*conv)(double, ac_round)) {
  double a = value_of(lo, mbits), b = value_of(hi, mbits), mid = (a + b) / 2;
  struct {
    double v;
    uint16_t rint, round;
  } t[3] = {{a + (b - a) / 4, lo, lo}, {mid, lo & 1 ? hi : lo, hi}, {a + (b - a) * 0.75, hi, hi}};
  for (int i = 0; i < 3; i++)
    for (int neg = 0; neg < 2; neg++) {
      double v = neg ? -t[i].v : t[i].v;
      uint16_t sign = neg ? 0x8000 : 0;
      assert_int_equal(conv(v, AC_RN_RINT), sign | t[i].rint);
      assert_int_equal(conv(v, AC_RN_NONE), sign | t[i].rint);
      assert_int_equal(conv(v, AC_RN_ROUND), sign | t[i].round);
      assert_int_equal(conv(v, AC_RN_TRUNC), sign | lo);
      assert_int_equal(conv(v, AC_RN_FLOOR), sign | (neg ? hi : lo));
      assert_int_equal(conv(v, AC_RN_CEIL), sign | (neg ? lo : hi));
      assert_int_equal(conv(v, AC_RN_ODD), sign | (lo & 1 ? lo : hi));
    }
}
static void rounding(void **s) {
  (void)s;
  for (int i = 0; i < 0x7bff; i++) check_gap((uint16_t)i, (uint16_t)(i + 1), 10, ac_f64_to_f16);
  for (int i = 0; i < 0x7f7f; i++) check_gap((uint16_t)i, (uint16_t)(i + 1), 7, ac_f64_to_bf16);
}

static void float_path_equals_double_path(void **s) {
  (void)s;
  uint32_t u = 12345;
  for (int i = 0; i < 200000; i++) {
    u = u * 1664525u + 1013904223u;
    float f;
    memcpy(&f, &u, sizeof f);
    if (isnan(f)) continue;
    for (int r = AC_RN_NONE; r <= AC_RN_ODD; r++) {
      assert_int_equal(ac_f32_to_f16(f, (ac_round)r), ac_f64_to_f16((double)f, (ac_round)r));
      assert_int_equal(ac_f32_to_bf16(f, (ac_round)r), ac_f64_to_bf16((double)f, (ac_round)r));
    }
  }
}

static void edges(void **s) {
  (void)s;
  assert_int_equal(ac_f64_to_f16(65519.99, AC_RN_RINT), 0x7bff);
  assert_int_equal(ac_f64_to_f16(65520, AC_RN_RINT), 0x7c00);
  assert_int_equal(ac_f64_to_f16(-1e300, AC_RN_RINT), 0xfc00);
  assert_int_equal(ac_f64_to_f16(1e300, AC_RN_TRUNC), 0x7bff);
  assert_int_equal(ac_f64_to_f16(-1e300, AC_RN_CEIL), 0xfbff);
  assert_int_equal(ac_f64_to_f16(0x1p-1074, AC_RN_CEIL), 1);
  assert_int_equal(ac_f64_to_f16(-0x1p-1074, AC_RN_RINT), 0x8000);
  assert_int_equal(ac_f64_to_f16(0x1p-25, AC_RN_RINT), 0);
  assert_int_equal(ac_f64_to_f16(0x1.0000000001p-25, AC_RN_RINT), 1);
  /* one rounding: through binary32 this would land on the tie and go down to 1.0 */
  assert_int_equal(ac_f64_to_f16(1 + 0x1p-11 + 0x1p-40, AC_RN_RINT), 0x3c01);
  assert_int_equal(ac_f64_to_bf16(1 + 0x1p-8 + 0x1p-40, AC_RN_RINT), 0x3f81);
  assert_true(isnan(ac_f16_to_f32(ac_f64_to_f16(NAN, AC_RN_TRUNC))));
  assert_true(isnan(ac_bf16_to_f32(ac_f64_to_bf16(NAN, AC_RN_RINT))));
  uint32_t low_nan = 0x7f800001; /* the payload must not vanish into inf */
  float f;
  memcpy(&f, &low_nan, 4);
  assert_true(isnan(ac_f16_to_f32(ac_f32_to_f16(f, AC_RN_RINT))));
  assert_true(isnan(ac_bf16_to_f32(ac_f32_to_bf16(f, AC_RN_RINT))));
}

static void elements(void **s) {
  (void)s;
  unsigned char buf[64];
  ac_store(AC_I8, buf, 0, 300);
  ac_store(AC_I8, buf, 1, -300);
  ac_store(AC_I8, buf, 2, -3.9);
  ac_store(AC_I8, buf, 3, NAN);
  assert_int_equal(ac_load_int(AC_I8, buf, 0), 127);
  assert_int_equal(ac_load_int(AC_I8, buf, 1), -128);
  assert_int_equal(ac_load_int(AC_I8, buf, 2), -3);
  assert_int_equal(ac_load_int(AC_I8, buf, 3), 0);
  ac_store(AC_U8, buf, 0, -1);
  assert_int_equal(ac_load_int(AC_U8, buf, 0), 0);
  ac_store_int(AC_I16, buf, 1, 65537);
  assert_int_equal(ac_load_int(AC_I16, buf, 1), 1);
  ac_store_int(AC_I64, buf, 1, INT64_MIN + 1);
  assert_true(ac_load_int(AC_I64, buf, 1) == INT64_MIN + 1);
  ac_store(AC_I64, buf, 0, 1e30);
  assert_true(ac_load_int(AC_I64, buf, 0) == INT64_MAX);
  ac_store(AC_BOOL, buf, 0, NAN);
  assert_int_equal(buf[0], 1);
  ac_store(AC_F16, buf, 3, 0.1);
  assert_true(ac_load(AC_F16, buf, 3) == 0.0999755859375);
  ac_store(AC_U64, buf, 0, 1e30);
  assert_true(ac_load(AC_U64, buf, 0) == 0x1p64);
  /* 2^60 + 2^52 + 1 rounds up in bfloat16 only if the last bit is seen */
  ac_store_int(AC_BF16, buf, 0, (1ll << 60) + (1ll << 52) + 1);
  assert_true(ac_load(AC_BF16, buf, 0) == 0x1.02p60);
  ac_store_int(AC_BF16, buf, 0, -((1ll << 60) + (1ll << 52)));
  assert_true(ac_load(AC_BF16, buf, 0) == -0x1p60);
}

int main(void) {
  const struct CMUnitTest t[] = {
      cmocka_unit_test(widening_is_exact),
      cmocka_unit_test(every_pattern_survives),
      cmocka_unit_test(rounding),
      cmocka_unit_test(float_path_equals_double_path),
      cmocka_unit_test(edges),
      cmocka_unit_test(elements),
  };
  return cmocka_run_group_tests(t, NULL, NULL);
}

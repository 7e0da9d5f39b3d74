/* Results that asc-devkit docs/zh, "Boundary values of the memory vector instructions" (Memory矢量计算接口边界值汇总) states for Atlas A2 and A3, with
 * inf and NaN kept and saturating.
 *
 * A source takes MIN, MAX, +0, -0, NaN, inf and -inf in turn. Results: m and M the ends of the range, 0 and z the zeros, n NaN, i and j inf and -inf,
 * 1 and b one and minus one, ? what the page does not say, or says in two ways. */
#include "sim/core_internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { N = 7 };

static double end_of(int type) {
  return type == ACSIM_F16 ? 65504.0 : (double)3.402823466385288598e+38;
}
static void specials(int type, void *to) {
  const double v[N] = {-end_of(type), end_of(type), 0.0, -0.0, NAN, HUGE_VAL, -HUGE_VAL};
  for (int i = 0; i < N; i++) ac_store((ac_dtype)type, to, i, v[i]);
}
static char letter(int type, const void *from, int i) {
  double x = ac_load((ac_dtype)type, from, i);
  return x != x               ? 'n'
         : x == HUGE_VAL      ? 'i'
         : x == -HUGE_VAL     ? 'j'
         : x == 0             ? (signbit(x) ? 'z' : '0')
         : x == end_of(type)  ? 'M'
         : x == -end_of(type) ? 'm'
         : x == 1             ? '1'
         : x == -1            ? 'b'
                              : '?';
}
static void expect(const char *name, int type, bool saturate, const void *got, const char *want) {
  char text[N + 1] = "";
  bool same = true;
  for (int i = 0; i < N; i++) {
    text[i] = letter(type, got, i);
    same = same && (want[i] == '?' || want[i] == text[i]);
  }
  if (!same)
    fail_msg("%s of %s%s: %s, documented %.7s", name, ac_dtypes[type].name, saturate ? ", saturating" : "", text,
             want);
}

typedef struct {
  const char *name;
  int op, type;
  const char *results[2]; /* inf and NaN kept; saturating */
} row;

#define U(op, type, keep, saturating)   \
  {                                     \
#op, ACSIM_OP_##op, ACSIM_##type, { \
      keep, saturating                  \
    }                                   \
  }
static const row unary[] = {
    U(Exp, F16, "0i11ni0", "0M110M0"),        U(Exp, F32, "0i11ni0", "0i11ni0"),
    U(Ln, F16, "n?jjnin", "0?mm0M0"),         U(Ln, F32, "n?jjnin", "n?jjnin"),
    U(Abs, F16, "MM00nii", "MM000MM"),        U(Abs, F32, "MM00nii", "MM00?ii"),
    U(Reciprocal, F16, "??ijn0z", "??Mm00z"), U(Reciprocal, F32, "??ijn0z", "??ijn0z"),
    U(Sqrt, F16, "n?0znin", "0?0z0M0"),       U(Sqrt, F32, "n?0znin", "n?0znin"),
    U(Rsqrt, F16, "n?ijn0n", "0?Mm000"),      U(Rsqrt, F32, "n?ijn0n", "n?ijn0n"),
    U(Relu, F16, "0M00ni0", "0M000M0"),       U(Relu, F32, "0M00ni0", "0M00ni0"),
};
static void one_source(void **state) {
  (void)state;
  for (size_t k = 0; k < AC_COUNT(unary); k++)
    for (int saturate = 0; saturate < 2; saturate++) {
      const row *r = &unary[k];
      uint8_t x[4 * N], d[4 * N];
      specials(r->type, x);
      acsim_math_unary(r->op, r->type, d, x, N, saturate);
      expect(r->name, r->type, saturate, d, r->results[saturate]);
    }
}

/* A group of results for each value of the first source; in it, one for each of the second or of the scalar. */
#define ADD_KEEP "j0mmnij 0iMMnij mM00nij mM0znij nnnnnnn iiiinin jjjjnnj"
#define ADD_LIMIT "m0mm0Mm 0MMM0Mm mM000Mm mM0z0Mm 0000000 MMMM0M0 mmmm00m"
#define SUB_KEEP "0jmmnji i0MMnji Mm00nji Mmz0nji nnnnnnn iiiinni jjjjnjn"
#define MUL_KEEP "ijz0nji ji0znij z00znnn 0zz0nnn nnnnnnn jinnnij ijnnnji"
#define MUL_LIMIT "Mmz00mM mM0z0Mm z00z000 0zz0000 0000000 mM000Mm Mm000mM"
#define DIV_KEEP "1bjinz0 b1ijn0z z0nnn0z 0znnnz0 nnnnnnn jiijnnn ijjinnn"
#define MAX_KEEP "mM0znim MMMMniM 0M00ni0 zM0zniz nnnnnnn iiiinii mM0znij"
#define MAX_LIMIT "mM0z0Mm MMMM0MM 0M000M0 zM0z0Mz 0000000 MMMM0MM mM0z0Mm"
#define MIN_KEEP "mmmmnmj mM0znMj m00zn0j mzzznzj nnnnnnn mM0znij jjjjnjj"
#define MIN_LIMIT "mmmm0mm mM0z0Mm m00z00m mzzz0zm 0000000 mM0z0Mm mmmm0mm"
#define LEAKY_KEEP "ijz0nji MMMMMMM 0000000 0zz0nnn nnnnnnn iiiiiii ijnnnji"
static const row binary[] = {
    U(Add, F16, ADD_KEEP, ADD_LIMIT),
    U(Add, F32, ADD_KEEP, ADD_KEEP),
    U(Sub, F16, SUB_KEEP, "0mmm0mM M0MM0mM Mm000mM Mmz00mM 0000000 MMMM00M mmmm0m0"),
    U(Sub, F32, SUB_KEEP, SUB_KEEP),
    U(Mul, F16, MUL_KEEP, MUL_LIMIT),
    U(Mul, F32, MUL_KEEP, MUL_KEEP),
    U(Div, F16, DIV_KEEP, "1bmM0z0 b1Mm00z z00000z 0z000z0 0000000 mMMm000 MmmM000"),
    U(Div, F32, DIV_KEEP, DIV_KEEP),
    U(Max, F16, MAX_KEEP, MAX_LIMIT),
    U(Max, F32, MAX_KEEP, MAX_KEEP),
    U(Min, F16, MIN_KEEP, MIN_LIMIT),
    U(Min, F32, MIN_KEEP, MIN_KEEP),
};
static const row scalar[] = {
    U(Adds, F16, ADD_KEEP, ADD_LIMIT),
    U(Adds, F32, ADD_KEEP, ADD_KEEP),
    U(Muls, F16, MUL_KEEP, MUL_LIMIT),
    U(Muls, F32, MUL_KEEP, MUL_KEEP),
    U(Maxs, F16, MAX_KEEP, MAX_LIMIT),
    U(Maxs, F32, MAX_KEEP, MAX_KEEP),
    U(Mins, F16, MIN_KEEP, MIN_LIMIT),
    U(Mins, F32, MIN_KEEP, MIN_KEEP),
    U(LeakyRelu, F16, LEAKY_KEEP, "Mmz00?? MMMMMMM 0000000 0zz0000 0000000 MMMMMMM Mm000mM"),
    U(LeakyRelu, F32, LEAKY_KEEP, LEAKY_KEEP),
};
static void two_sources(void **state) {
  (void)state;
  for (size_t k = 0; k < AC_COUNT(binary) + AC_COUNT(scalar); k++)
    for (int saturate = 0; saturate < 2; saturate++) {
      bool two = k < AC_COUNT(binary);
      const row *r = two ? &binary[k] : &scalar[k - AC_COUNT(binary)];
      int es = r->type == ACSIM_F16 ? 2 : 4;
      uint8_t v[4 * N], a[4 * N], d[4 * N];
      specials(r->type, v);
      for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) memcpy(a + j * es, v + i * es, (size_t)es);
        if (two) acsim_math_binary(r->op, r->type, d, a, v, N, saturate);
        for (int j = 0; !two && j < N; j++)
          acsim_math_scalar(r->op, r->type, d + j * es, a, ac_load((ac_dtype)r->type, v, j), 0, 1, saturate);
        expect(r->name, r->type, saturate, d, r->results[saturate] + i * (N + 1));
      }
    }
}

/* Axpy, MulAddDst (and FusedMulAdd, by the same function): dst = x * y + dst, for every dst. A product beyond the range is infinite before the
 * sum, or the end of the range; one that is NaN counts as 0 where results saturate. */
static void fused(void **state) {
  (void)state;
  static const struct {
    int x, y; /* which of the values */
    const char *results[2];
  } rows[] = {
      {2, 2, {"mM00nij", "mM0?0Mm"}}, {2, 3, {"mM0znij", "mM0z0??"}}, {1, 1, {"iiiinin", "0MMM0Mm"}},
      {0, 0, {"iiiinin", "0MMM0Mm"}}, {5, 5, {"iiiinin", "0MMM0Mm"}}, {1, 0, {"jjjjnnj", "m0mm0Mm"}},
      {5, 6, {"jjjjnnj", "m0mm0Mm"}}, {2, 5, {"nnnnnnn", "mM0?0Mm"}},
  };
  for (size_t k = 0; k < AC_COUNT(rows); k++)
    for (int saturate = 0; saturate < 2; saturate++)
      for (int half = saturate; half < 2; half++) {
        int type = half ? ACSIM_F16 : ACSIM_F32, es = half ? 2 : 4;
        uint8_t v[4 * N], x[4 * N], y[4 * N], d[4 * N];
        specials(type, v);
        for (int j = 0; j < N; j++) {
          memcpy(x + j * es, v + rows[k].x * es, (size_t)es);
          memcpy(y + j * es, v + rows[k].y * es, (size_t)es);
        }
        memcpy(d, v, sizeof d);
        acsim_math_muladd(type, type, d, x, y, N, saturate);
        expect("MulAddDst", type, saturate, d, rows[k].results[saturate]);
        memcpy(d, v, sizeof d);
        acsim_math_axpy(type, type, d, x, ac_load((ac_dtype)type, y, 0), N, saturate);
        expect("Axpy", type, saturate, d, rows[k].results[saturate]);
      }
}

/* NE of a NaN is false, against IEEE 754; all else as there. */
static void compare(void **state) {
  (void)state;
  for (int half = 0; half < 2; half++) {
    int type = half ? ACSIM_F16 : ACSIM_F32, es = half ? 2 : 4;
    uint8_t v[4 * 8] = {0}, a[4 * 8];
    specials(type, v);
    for (int mode = 0; mode < 6; mode++)
      for (int i = 0; i < N; i++) {
        uint8_t two = 0, one[N];
        for (int j = 0; j < 8; j++) memcpy(a + j * es, v + i * es, (size_t)es);
        acsim_math_compare_bits(mode, type, &two, a, v, 0, 0, 8);
        for (int j = 0; j < N; j++) {
          double x = ac_load((ac_dtype)type, v, i), y = ac_load((ac_dtype)type, v, j);
          bool ordered = x == x && y == y;
          bool want = ordered && (mode == 0   ? x < y
                                  : mode == 1 ? x > y
                                  : mode == 2 ? x == y
                                  : mode == 3 ? x <= y
                                  : mode == 4 ? x >= y
                                              : x != y);
          assert_int_equal(two >> j & 1, want);
          acsim_math_compare_bits(mode, type, &one[j], a, NULL, y, 0, 8);
          assert_int_equal(one[j] & 1, want);
        }
      }
  }
}

static void cast(void **state) {
  (void)state;
  float x[N], f[N];
  uint16_t h[N], narrow[N];
  int32_t i32[N];
  int16_t i16[N];
  int64_t i64[N];
  uint8_t u8[N];
  int8_t i8[N];
  specials(ACSIM_F32, x);
  specials(ACSIM_F16, h);
  acsim_math_cast(ACSIM_F32, ACSIM_F32, AC_RN_RINT, f, x, N, false);
  expect("Cast", ACSIM_F32, false, f, "mM00nij"); /* -0 becomes +0 */
  for (int saturate = 0; saturate < 2; saturate++)
    for (int bf = 0; bf < 2; bf++) {
      int to = bf ? ACSIM_BF16 : ACSIM_F16;
      acsim_math_cast(to, ACSIM_F32, AC_RN_RINT, narrow, x, N, saturate);
      for (int k = 0; k < N; k++) {
        double v = ac_load((ac_dtype)to, narrow, k), top = bf ? 0x1.fep127 : 65504, far = saturate ? top : HUGE_VAL;
        const double want[N] = {-far, far, 0.0, -0.0, saturate ? 0 : NAN, far, -far};
        if (want[k] != want[k])
          assert_true(v != v);
        else if (k != 3 || bf) /* of half the page writes "0" */
          assert_true(v == want[k] && signbit(v) == signbit(want[k]));
      }
    }
  acsim_math_cast(ACSIM_I32, ACSIM_F32, AC_RN_RINT, i32, x, N, false);
  acsim_math_cast(ACSIM_I16, ACSIM_F32, AC_RN_RINT, i16, x, N, false);
  acsim_math_cast(ACSIM_I64, ACSIM_F32, AC_RN_RINT, i64, x, N, false);
  acsim_math_cast(ACSIM_U8, ACSIM_F16, AC_RN_RINT, u8, h, N, false);
  acsim_math_cast(ACSIM_I8, ACSIM_F16, AC_RN_RINT, i8, h, N, false);
  for (int k = 0; k < N; k++) {
    int end = k == 0 || k == 6 ? -1 : k == 1 || k == 5 ? 1 : 0;
    assert_int_equal(i32[k], end < 0 ? INT32_MIN : end ? INT32_MAX : 0);
    assert_int_equal(i16[k], end < 0 ? INT16_MIN : end ? INT16_MAX : 0);
    assert_true(i64[k] == (end < 0 ? INT64_MIN : end ? INT64_MAX : 0));
    assert_int_equal(u8[k], end > 0 ? 255 : 0);
    assert_int_equal(i8[k], end < 0 ? -128 : end ? 127 : 0);
  }
}

/* ReduceSum and ReduceMax of 256 halves: ones, and what the row names. The sums show the tree, each partial sum rounded and limited. */
static void one_reduction(const acsim_local *t, const acsim_local *work, int op, bool saturate, const double odd[3],
                          double want) {
  acsim_block *b = acsim_here("the test");
  b->saturation = saturate ? 1 : 2;
  uint8_t *x = acsim_data(b, t, 0);
  for (int i = 0; i < 256; i++) ac_store(AC_F16, x, i, i < 3 ? odd[i] : 1);
  memset(acsim_state(b, t, 0), 0xff, 512);
  acsim_local dst = *t;
  dst.addr += 1024;
  acsim_vector v = {
      .op = (uint8_t)op, .type = ACSIM_F16, .dst_type = ACSIM_F16, .dst = &dst, .a = t, .b = work, .count = 256};
  acsim_vec(&v, "boundary", 1);
  double got = ac_load(AC_F16, acsim_data(b, &dst, 0), 0);
  if (got != want && (got == got || want == want))
    fail_msg("%s of %g, %g, %g and ones%s: %g, documented %g", acsim_op_names[op], odd[0], odd[1], odd[2],
             saturate ? ", saturating" : "", got, want);
}
static void reductions_of(void *user) {
  (void)user;
  static const struct {
    double odd[3], sum[2], most[2];
  } rows[] = {
      {{HUGE_VAL, -HUGE_VAL, NAN}, {NAN, 252}, {NAN, 1}},
      {{HUGE_VAL, -HUGE_VAL, 1}, {NAN, 254}, {HUGE_VAL, 65504}},
      {{HUGE_VAL, NAN, 1}, {NAN, 254}, {NAN, 1}},
      {{-HUGE_VAL, NAN, 1}, {NAN, 254}, {NAN, 1}},
      {{HUGE_VAL, 1, 1}, {HUGE_VAL, 65504}, {HUGE_VAL, 65504}},
      {{-HUGE_VAL, 1, 1}, {-HUGE_VAL, -65248}, {1, 1}},
      {{NAN, 1, 1}, {NAN, 254}, {NAN, 1}},
  };
  char pipe;
  acsim_local t, work;
  acsim_pipe_open(&pipe, "boundary", 1);
  uint16_t q = acsim_tbuf_init(&pipe, ACSIM_POS_VECCALC, 2048, "boundary", 1),
           w = acsim_tbuf_init(&pipe, ACSIM_POS_VECCALC, 2048, "boundary", 1);
  acsim_tbuf_get(q, 0, 2048, &t, "boundary", 1);
  acsim_tbuf_get(w, 0, 2048, &work, "boundary", 1);
  for (size_t k = 0; k < AC_COUNT(rows); k++)
    for (int saturate = 0; saturate < 2; saturate++) {
      one_reduction(&t, &work, ACSIM_OP_ReduceSum, saturate, rows[k].odd, rows[k].sum[saturate]);
      one_reduction(&t, &work, ACSIM_OP_ReduceMax, saturate, rows[k].odd, rows[k].most[saturate]);
    }
  acsim_pipe_close(&pipe);
}
static void reductions(void **state) {
  (void)state;
  ac_arena *a = ac_arena_new();
  ac_diags d;
  ac_diags_init(&d, a);
  acsim_session *s = acsim_open(
      &(acsim_config){.chip = ac_chip_load(a, "ascend910b2", &d), .threads = 1, .hazards = AC_HAZARDS_OFF});
  acsim_launch(s, 1, 0, reductions_of, NULL);
  acsim_finish(s);
  size_t n;
  const ac_sim_fault *f = acsim_faults(s, &n, NULL);
  if (n) fail_msg("%s: %s", f[0].kind, f[0].message);
  acsim_close(s);
  ac_arena_free(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_source), cmocka_unit_test(two_sources),
                                     cmocka_unit_test(fused),      cmocka_unit_test(compare),
                                     cmocka_unit_test(cast),       cmocka_unit_test(reductions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Every level of vector instructions gives the bytes of the plain one: all instructions, odd lengths, in place, NaN payloads. */
#include "sim/core_simd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { N = 5003, ROUNDS = 40, WORDS = N + 5 };
static uint32_t a[WORDS], b[WORDS], start[WORDS], want[WORDS], got[WORDS];
static uint64_t seed = 88172645463325252u;

/* xorshift64 (Marsaglia 2003) */
static uint64_t next(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  return seed ^= seed << 17;
}

static uint32_t any_float(void) {
  static const uint32_t special[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
                                     0xffc00001, 0x7f800001, 0xff812345, 1,          0x80000001,
                                     0x7f7fffff, 0xff7fffff, 0x3f000000, 0x4f000000, 0xcf000000,
                                     0x33000000, 0x477ff000, 0x477fefff, 0x38800000, 0x387fffff};
  uint64_t r = next();
  uint32_t u = (uint32_t)(r >> 32);
  if (r % 8 == 0) return special[u % AC_COUNT(special)];
  return r % 8 < 3 ? u : (u & 0x807fffff) | (uint32_t)(110 + (r >> 8) % 30) << 23;
}
static uint32_t any_half(void) {
  uint64_t r = next();
  uint32_t u = (uint32_t)(r >> 32) & 0xffff;
  return r % 8 ? u : u | 0x7c00;
}
static void fill(uint32_t *p, int type) {
  for (int i = 0; i < WORDS; i++)
    p[i] = type == ACSIM_F32                         ? any_float()
           : type == ACSIM_F16 || type == ACSIM_BF16 ? any_half() << 16 | any_half()
           : next() % 4                              ? (uint32_t)next()
                                                     : (uint32_t)(next() % 200) - 100;
}

/* What is computed, with which type; x and y: operands, d: destination, n: elements. */
typedef struct {
  int op, type, to, round, mode;
  int64_t n;
  double f;
  int64_t i;
  bool saturate;
} what;
typedef void (*compute)(const what *w, uint32_t *d, const uint32_t *x, const uint32_t *y);

static void unary(const what *w, uint32_t *d, const uint32_t *x, const uint32_t *y) {
  (void)y;
  acsim_math_unary(w->op, w->type, d, x, w->n, w->saturate);
}
static void binary(const what *w, uint32_t *d, const uint32_t *x, const uint32_t *y) {
  acsim_math_binary(w->op, w->type, d, x, y, w->n, w->saturate);
}
static void scalar(const what *w, uint32_t *d, const uint32_t *x, const uint32_t *y) {
  (void)y;
  acsim_math_scalar(w->op, w->type, d, x, w->f, w->i, w->n, w->saturate);
}
static void axpy(const what *w, uint32_t *d, const uint32_t *x, const uint32_t *y) {
  (void)y;
  acsim_math_axpy(w->type, w->type, d, x, w->f, w->n, w->saturate);
}
static void muladd(const what *w, uint32_t *d, const uint32_t *x, const uint32_t *y) {
  acsim_math_muladd(w->type, w->type, d, x, y, w->n, w->saturate);
}
static void cast(const what *w, uint32_t *d, const uint32_t *x, const uint32_t *y) {
  (void)y;
  acsim_math_cast(w->to, w->type, w->round, d, x, w->n, w->saturate);
}
static void compare(const what *w, uint32_t *d, const uint32_t *x, const uint32_t *y) {
  acsim_math_compare_bits(w->mode, w->type, (uint8_t *)d, x, w->i % 2 ? NULL : y, w->f, w->i, w->n / 8 * 8);
}
static void choose(const what *w, uint32_t *d, const uint32_t *x, const uint32_t *y) {
  int bytes = acsim_type_bytes(w->type);
  acsim_math_select(bytes, d, (const uint8_t *)a, w->mode ? w->n : 256 / bytes, x, w->i % 2 ? NULL : y, &w->i, w->n);
}
static void tree(const what *w, uint32_t *d, const uint32_t *x, const uint32_t *y) {
  uint64_t mask[2] = {w->mode ? ~0ull : y[0] * 0x100000001ull, w->mode ? ~0ull : y[1] * 0x100000001ull};
  int lanes = w->mode ? 256 / acsim_type_bytes(w->type) : (int)(w->n % 64) + 1;
  for (int i = 0; i < 64; i++) acsim_math_tree_sum(w->type, d + i, x + i * 64, mask, lanes, w->saturate);
}

/* Into memory of its own, and where elements keep their place onto its first operand, and onto both. */
static void check(const char *name, compute f, const what *w) {
  bool moves = f == compare || (f == cast && acsim_type_bytes(w->to) != acsim_type_bytes(w->type));
  for (int where = 0; where < (moves ? 1 : 3); where++) {
    const acsim_simd *const *l = acsim_simd_levels();
    for (int k = 0; l[k]; k++) {
      uint32_t *d = k ? got : want;
      acsim_simd_use(l[k]);
      memcpy(d, where ? a : start, sizeof want);
      f(w, d, where ? d : a, where == 2 ? d : b);
      if (k && memcmp(want, got, sizeof want) != 0) {
        int i = 0;
        while (want[i] == got[i]) i++;
        fail_msg("%s %s of %s, way %d: word %d is %08x, not %08x (from %08x, %08x)", l[k]->name, name,
                 ac_dtypes[w->type].name, where, i, got[i], want[i], a[i], b[i]);
      }
    }
  }
  acsim_simd_use(NULL);
}

static const int types[] = {ACSIM_F32, ACSIM_F16, ACSIM_BF16, ACSIM_I16, ACSIM_U16, ACSIM_I32, ACSIM_U32},
                 cast_types[] = {ACSIM_F32, ACSIM_F16, ACSIM_BF16, ACSIM_I16, ACSIM_I32, ACSIM_I8, ACSIM_U8};
static void one_round(int type, what *w) {
  bool floating = type == ACSIM_F32 || type == ACSIM_F16 || type == ACSIM_BF16;
  static const int ints[] = {ACSIM_OP_Relu, ACSIM_OP_Not,  ACSIM_OP_Add,  ACSIM_OP_Sub,       ACSIM_OP_Mul,
                             ACSIM_OP_Max,  ACSIM_OP_Min,  ACSIM_OP_And,  ACSIM_OP_Or,        ACSIM_OP_Adds,
                             ACSIM_OP_Muls, ACSIM_OP_Maxs, ACSIM_OP_Mins, ACSIM_OP_ShiftLeft, ACSIM_OP_ShiftRight};
  static const int floats[] = {ACSIM_OP_Exp,   ACSIM_OP_Ln,   ACSIM_OP_Abs,  ACSIM_OP_Reciprocal, ACSIM_OP_Sqrt,
                               ACSIM_OP_Rsqrt, ACSIM_OP_Relu, ACSIM_OP_Add,  ACSIM_OP_Sub,        ACSIM_OP_Mul,
                               ACSIM_OP_Div,   ACSIM_OP_Max,  ACSIM_OP_Min,  ACSIM_OP_AddRelu,    ACSIM_OP_SubRelu,
                               ACSIM_OP_Adds,  ACSIM_OP_Muls, ACSIM_OP_Maxs, ACSIM_OP_Mins,       ACSIM_OP_LeakyRelu};
  for (size_t k = 0; k < (floating ? AC_COUNT(floats) : AC_COUNT(ints)); k++) {
    w->op = floating ? floats[k] : ints[k];
    bool one = w->op <= ACSIM_OP_Not, two = w->op >= ACSIM_OP_Add && w->op <= ACSIM_OP_SubRelu;
    check(acsim_op_names[w->op], one ? unary : two ? binary : scalar, w);
  }
  for (w->mode = 0; w->mode < 2; w->mode++) check("Select", choose, w);
  if (type == ACSIM_F32 || type == ACSIM_F16) {
    check("Axpy", axpy, w);
    check("MulAddDst", muladd, w);
    for (w->mode = 0; w->mode < 2; w->mode++) check("the tree of sums", tree, w);
  }
  if (type == ACSIM_F32 || type == ACSIM_F16 || type == ACSIM_I32)
    for (w->mode = 0; w->mode < 6; w->mode++) check("Compare", compare, w);
  for (size_t t = 0; t < AC_COUNT(cast_types); t++)
    for (w->round = 0; w->round < 7; w->round++)
      if (ac_cast_rounds((ac_dtype)(w->to = cast_types[t]), (ac_dtype)type) >> w->round & 1) check("Cast", cast, w);
}

static void levels_agree(void **state) {
  (void)state;
  for (int r = 0; r < ROUNDS; r++)
    for (size_t t = 0; t < AC_COUNT(types); t++) {
      uint32_t u = any_float();
      float f;
      memcpy(&f, &u, 4);
      what w = {.type = types[t], .n = r ? (int64_t)(next() % N) : N, .f = (double)f, .saturate = r % 2};
      w.i = (int64_t)(next() % 70) - 20;
      fill(a, types[t]);
      fill(b, types[t]);
      fill(start, types[t]);
      one_round(types[t], &w);
    }
}

static void small_ones(void **state) {
  (void)state;
  const acsim_simd *const *l = acsim_simd_levels();
  for (int k = 0; l[k]; k++)
    for (int n = 1; n < 700; n++) {
      uint8_t bytes[701];
      memset(bytes, 0xff, sizeof bytes);
      bytes[n] = 0xfe;
      assert_true(l[k]->all_ff(bytes, n));
      bytes[(unsigned)n * 7u % (unsigned)n] = 0x7f;
      assert_true(l[k]->all_ff(bytes, 0));
      assert_false(l[k]->all_ff(bytes, n));
      float x[700], top = 0;
      for (int i = 0; i < n; i++) x[i] = (float)((i * 37 + n) % 101) - 50;
      float most = x[0], least = x[0];
      for (int i = 1; i < n; i++) most = x[i] > most ? x[i] : most, least = x[i] < least ? x[i] : least;
      assert_true(l[k]->peak_f32(x, n, true, &top) && top == most);
      assert_true(l[k]->peak_f32(x, n, false, &top) && top == least);
      memset(&x[n / 3], 0xff, sizeof *x);
      assert_false(l[k]->peak_f32(x, n, true, &top));
    }
}

/* Sums of whole repeats and the first of the largest, against the plain way. */
static void reductions(void **state) {
  (void)state;
  for (int r = 0; r < 40; r++) {
    int type = r % 2 ? ACSIM_F16 : ACSIM_F32, lanes = r % 2 ? 128 : 64;
    int64_t rows = r % 20 + 1, n = rows * lanes - (int64_t)(next() % 60);
    fill(a, type);
    if (r % 3) acsim_math_cast(type, ACSIM_I32, AC_RN_NONE, a, memcpy(b, start, sizeof b), N, false);
    for (int k = 0; r % 3 && k < N; k++) start[k] = (uint32_t)(next() % 2001) - 1000;
    acsim_math_sum_rows(type, got, a, rows, lanes, false);
    for (int64_t i = 0; i < rows; i++) {
      float x[128];
      for (int k = 0; k < lanes; k++) x[k] = (float)ac_load((ac_dtype)type, a, i * lanes + k);
      for (int m = lanes / 2; m >= 1; m /= 2)
        for (int k = 0; k < m; k++) {
          x[k] = x[2 * k] + x[2 * k + 1];
          if (type == ACSIM_F16) x[k] = ac_f16_to_f32(ac_f32_to_f16(x[k], AC_RN_RINT));
        }
      double sum = ac_load((ac_dtype)type, got, i);
      assert_true(sum == (double)x[0] || (sum != sum && x[0] != x[0]));
    }
    for (int largest = 0; largest < 2; largest++) {
      int64_t at = -1, first = 0;
      bool odd = false, found = acsim_math_peak(type, a, n, largest, &at);
      for (int64_t i = 0; i < n; i++) {
        double x = ac_load((ac_dtype)type, a, i), top = ac_load((ac_dtype)type, a, first);
        odd = odd || x != x;
        if (largest ? x > top : x < top) first = i;
      }
      assert_int_equal(found, !odd);
      if (found) assert_int_equal(at, first);
    }
  }
}

/* The level can be asked for, and a name that does not exist changes nothing. */
static void asked_for(void **state) {
  (void)state;
  const acsim_simd *const *l = acsim_simd_levels();
  int n = 0;
  while (l[n]) n++;
  if (!l[0]) fail();
  assert_string_equal(l[0]->name, "base");
  for (int k = 0; k < n; k++) {
    setenv("ASCENDCRAFT_SIMD", l[k]->name, 1);
    acsim_simd_use(NULL);
    assert_ptr_equal(acsim_simd_now(), l[k]);
  }
  setenv("ASCENDCRAFT_SIMD", "abacus", 1);
  acsim_simd_use(NULL);
  assert_ptr_equal(acsim_simd_now(), l[n - 1]);
  unsetenv("ASCENDCRAFT_SIMD");
  acsim_simd_use(NULL);
  assert_ptr_equal(acsim_simd_now(), l[n - 1]);
}

int main(void) {
  const struct CMUnitTest t[] = {cmocka_unit_test(levels_agree), cmocka_unit_test(small_ones),
                                 cmocka_unit_test(reductions), cmocka_unit_test(asked_for)};
  return cmocka_run_group_tests(t, NULL, NULL);
}

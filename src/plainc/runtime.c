/* What the emitted text calls: helpers with a fixed text, and a function an instruction and dtype, made from meanings.def and the
 * forms of isa. Only what a program uses is written. */
#include "plainc/internal.h"

#include <string.h>

static const struct {
  const char *of_float, *of_int;
} meanings[AC_INST_COUNT] = {
#define M(inst, f, i) [inst] = {f, i},
#include "plainc/meanings.def"
#undef M
};

/* ---- helpers: name as it is called, text; later ones may use earlier ones ---- */

static const ac_pcfunc helpers[] = {
    {"ac_min(", "static int64_t ac_min(int64_t a, int64_t b) { return a < b ? a : b; }\n"},
    {"ac_max(", "static int64_t ac_max(int64_t a, int64_t b) { return a > b ? a : b; }\n"},
    {"ac_min_f(", "static float ac_min_f(float a, float b) { return a < b ? a : b; }\n"},
    {"ac_max_f(", "static float ac_max_f(float a, float b) { return a > b ? a : b; }\n"},
    {"ac_min_d(", "static double ac_min_d(double a, double b) { return a < b ? a : b; }\n"},
    {"ac_max_d(", "static double ac_max_d(double a, double b) { return a < b ? b : a; }\n"},
    {"ac_power_d(", "static double ac_power_d(double a, double b) { return pow(a, b); }\n"},
    {"ac_floor_div(", "/* Toward minus infinity. */\n"
                      "static int64_t ac_floor_div(int64_t a, int64_t b) {\n"
                      "  int64_t q = a / b;\n"
                      "  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;\n}\n"},
    {"ac_floor_mod(", "/* With the divisor's sign. */\n"
                      "static int64_t ac_floor_mod(int64_t a, int64_t b) {\n"
                      "  int64_t r = a % b;\n"
                      "  return r != 0 && (r < 0) != (b < 0) ? r + b : r;\n}\n"},
    {"ac_ceil_div(", "static int64_t ac_ceil_div(int64_t a, int64_t b) { return -ac_floor_div(-a, b); }\n"},
    {"ac_align_up(", "static int64_t ac_align_up(int64_t a, int64_t to) { return ac_ceil_div(a, to) * to; }\n"},
    {"ac_align_down(", "static int64_t ac_align_down(int64_t a, int64_t to) { return ac_floor_div(a, to) * to; }\n"},
    {"ac_larger(", "/* NaN wins; +0 is more than -0. */\n"
                   "static float ac_larger(float x, float y) {\n"
                   "  return x == y ? (signbit(x) ? y : x) : x > y || x != x ? x : y;\n}\n"},
    {"ac_smaller(", "static float ac_smaller(float x, float y) {\n"
                    "  return x == y ? (signbit(x) ? x : y) : x < y || x != x ? x : y;\n}\n"},
    {"ac_fused_f32(", "/* d + x * y, rounded once; a product beyond the range is infinite before the sum. */\n"
                      "static float ac_fused_f32(float d, float x, float y) {\n"
                      "  double p = (double)x * (double)y;\n"
                      "  return isinf((float)p) ? (float)p + d : (float)(p + (double)d);\n}\n"},
    {"ac_fused_f16(",
     "static float ac_fused_f16(float d, float x, float y) {\n"
     "  double p = (double)x * (double)y;\n"
     "  return p >= 65520.0 ? d + INFINITY : p <= -65520.0 ? d - INFINITY : (float)(p + (double)d);\n}\n"},
    {"ac_to_int(",
     "/* Toward zero; what does not fit becomes the least integer, as the conversion instructions of hosts have "
     "it. */\n"
     "static int64_t ac_to_int(float x) {\n"
     "  return x >= -9223372036854775808.0f && x < 9223372036854775808.0f ? (int64_t)x : INT64_MIN;\n}\n"},
    {"ac_to_int32(", "static int64_t ac_to_int32(float x) {\n"
                     "  return x >= -2147483648.0f && x < 2147483648.0f ? (int64_t)x : INT32_MIN;\n}\n"},

    {"ac_round_to(",
     "/* A finite number to an integral one. Modes: 0 nearest, halves to even; 1 down; 2 up; 3 nearest, "
     "halves away from zero; 4 toward zero;\n   5 to odd where it is not exact. */\n"
     "static double ac_round_to(double x, int mode) {\n"
     "  double down = floor(x), rest = x - down;\n"
     "  bool even = fmod(down, 2.0) == 0.0;\n"
     "  if (rest == 0.0) return x;\n"
     "  switch (mode) {\n"
     "  case 0: return rest < 0.5 || (rest == 0.5 && even) ? down : down + 1.0;\n"
     "  case 1: return down;\n"
     "  case 2: return down + 1.0;\n"
     "  case 3: return rest < 0.5 || (rest == 0.5 && x < 0.0) ? down : down + 1.0;\n"
     "  case 4: return x < 0.0 ? down + 1.0 : down;\n"
     "  default: return even ? down + 1.0 : down;\n  }\n}\n"},
    {"ac_narrow(",
     "/* To a format of 16 bits with `digits` significant bits and exponents from `least` to 1 - `least`: rounded "
     "once. "
     "NaN stays NaN. */\n"
     "static uint16_t ac_narrow(double x, int digits, int least, int mode) {\n"
     "  int fraction = digits - 1, e = 0;\n"
     "  uint32_t sign = signbit(x) ? 0x8000u : 0u, infinite = ((uint32_t)(2 * (1 - least) + 1)) << fraction;\n"
     "  if (x != x) return (uint16_t)(sign | infinite | 1u << (fraction - 1));\n"
     "  if (x == 0.0) return (uint16_t)sign;\n"
     "  double limit = ldexp(1.0, 2 - least), size = fabs(x);\n"
     "  if (size < limit * 2.0) {\n"
     "    (void)frexp(size, &e);\n"
     "    int unit = (e - 1 < least ? least : e - 1) - fraction;\n"
     "    size = fabs(ldexp(ac_round_to(ldexp(x, -unit), mode), unit));\n"
     "  }\n"
     "  if (size >= limit) { /* what points toward zero stops at the largest number */\n"
     "    bool finite = !isinf(x) && (mode == 4 || mode == 5 || (mode == 1 && !sign) || (mode == 2 && sign));\n"
     "    return (uint16_t)(sign | (finite ? infinite - 1u : infinite));\n"
     "  }\n"
     "  if (size == 0.0) return (uint16_t)sign;\n"
     "  (void)frexp(size, &e);\n"
     "  e = e - 1 < least ? least : e - 1;\n"
     "  /* a normal number's leading bit adds one to the exponent below it */\n"
     "  uint32_t whole = (uint32_t)ldexp(size, fraction - e);\n"
     "  return (uint16_t)(sign | (((uint32_t)(e - least) << fraction) + whole));\n}\n"},
    {"ac_to_f16(", "/* binary16: 11 significant bits, exponents from -14. */\n"
                   "static uint16_t ac_to_f16(double x, int mode) { return ac_narrow(x, 11, -14, mode); }\n"},
    {"ac_to_bf16(", "/* bfloat16: 8 significant bits, exponents from -126. */\n"
                    "static uint16_t ac_to_bf16(double x, int mode) { return ac_narrow(x, 8, -126, mode); }\n"},
    {"ac_of_f16(",
     "static float ac_of_f16(uint16_t u) {\n"
     "  int e = u >> 10 & 31, m = u & 1023;\n"
     "  float x = e == 31 ? (m ? NAN : INFINITY) : ldexpf((float)(e ? m + 1024 : m), (e ? e : 1) - 25);\n"
     "  return u & 0x8000 ? -x : x;\n}\n"},
    {"ac_of_bf16(",
     "static float ac_of_bf16(uint16_t u) {\n"
     "  int e = u >> 7 & 255, m = u & 127;\n"
     "  float x = e == 255 ? (m ? NAN : INFINITY) : ldexpf((float)(e ? m + 128 : m), (e ? e : 1) - 134);\n"
     "  return u & 0x8000 ? -x : x;\n}\n"},
    {"ac_int_to_f32(",
     "/* A 64-bit integer to float32 in one rounding of the given mode. */\n"
     "static float ac_int_to_f32(int64_t v, int mode) {\n"
     "  uint64_t m = v < 0 ? 0 - (uint64_t)v : (uint64_t)v, low;\n"
     "  int drop = 0;\n"
     "  while (m >> drop >= (uint64_t)1 << 24) drop++;\n"
     "  low = m & (((uint64_t)1 << drop) - 1);\n"
     "  /* the bits that go matter as less than, equal to or more than half */\n"
     "  double rest = !low ? 0.0 : low < (uint64_t)1 << (drop - 1) ? 0.25 : low == (uint64_t)1 << (drop - 1) ? "
     "0.5 : 0.75;\n"
     "  double x = ac_round_to(v < 0 ? -((double)(m >> drop) + rest) : (double)(m >> drop) + rest, mode);\n"
     "  return (float)ldexp(x, drop);\n}\n"},
    {"ac_saturate(",
     "/* To an integral number by the mode, held between least and most; NaN becomes 0. Both ends are exact in "
     "double. "
     "*/\n"
     "static int64_t ac_saturate(double x, int mode, double least, double most, int64_t low, int64_t high) {\n"
     "  if (x != x) return 0;\n"
     "  if (!isinf(x)) x = ac_round_to(x, mode);\n"
     "  return x <= least ? low : x >= most ? high : (int64_t)x;\n}\n"},
    {"ac_hold(", "static int64_t ac_hold(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? "
                 "high : v; }\n"},

    /* Elements by number. Memory is bytes: a buffer may be seen as another dtype. */
    {"ac_get_f32(", "static float ac_get_f32(const void *p, int64_t i) {\n"
                    "  float x;\n  memcpy(&x, (const char *)p + i * 4, 4);\n  return x;\n}\n"},
    {"ac_put_f32(", "static void ac_put_f32(void *p, int64_t i, float x) { memcpy((char *)p + i * 4, &x, 4); }\n"},
    {"ac_get_f16(", "static float ac_get_f16(const void *p, int64_t i) {\n"
                    "  uint16_t u;\n  memcpy(&u, (const char *)p + i * 2, 2);\n  return ac_of_f16(u);\n}\n"},
    {"ac_put_f16(", "static void ac_put_f16(void *p, int64_t i, float x) {\n"
                    "  uint16_t u = ac_to_f16((double)x, 0);\n  memcpy((char *)p + i * 2, &u, 2);\n}\n"},
    {"ac_get_bf16(", "static float ac_get_bf16(const void *p, int64_t i) {\n"
                     "  uint16_t u;\n  memcpy(&u, (const char *)p + i * 2, 2);\n  return ac_of_bf16(u);\n}\n"},
    {"ac_put_bf16(", "static void ac_put_bf16(void *p, int64_t i, float x) {\n"
                     "  uint16_t u = ac_to_bf16((double)x, 0);\n  memcpy((char *)p + i * 2, &u, 2);\n}\n"},
#define INTS(name, T, bytes)                                                                                        \
  {                                                                                                                 \
    "ac_get_" name "(", "static int64_t ac_get_" name "(const void *p, int64_t i) {\n  " T                          \
                        " x;\n  memcpy(&x, (const char *)p + i * " bytes ", " bytes ");\n  return (int64_t)x;\n}\n" \
  }
#define PUTS(name, U, bytes)                                                                            \
  {                                                                                                     \
    "ac_put_" name "(", "static void ac_put_" name "(void *p, int64_t i, int64_t v) {\n  " U " x = (" U \
                        ")v;\n  memcpy((char *)p + i * " bytes ", &x, " bytes ");\n}\n"                 \
  }
    INTS("i8", "int8_t", "1"),
    INTS("u8", "uint8_t", "1"),
    INTS("i16", "int16_t", "2"),
    INTS("u16", "uint16_t", "2"),
    INTS("i32", "int32_t", "4"),
    INTS("u32", "uint32_t", "4"),
    INTS("i64", "int64_t", "8"),
    PUTS("i8", "uint8_t", "1"), /* by unsigned types, which wrap */
    PUTS("u8", "uint8_t", "1"),
    PUTS("i16", "uint16_t", "2"),
    PUTS("u16", "uint16_t", "2"),
    PUTS("i32", "uint32_t", "4"),
    PUTS("u32", "uint32_t", "4"),
    PUTS("i64", "uint64_t", "8"),
#undef INTS
#undef PUTS
    {"ac_round_f32(", "static float ac_round_f32(float x) { return x; }\n"},
    {"ac_round_f16(", "static float ac_round_f16(float x) { return ac_of_f16(ac_to_f16((double)x, 0)); }\n"},
    {"ac_round_bf16(", "static float ac_round_bf16(float x) { return ac_of_bf16(ac_to_bf16((double)x, 0)); }\n"},
#define WRAP(name, T)                                                                                 \
  {                                                                                                   \
    "ac_round_" name "(", "static int64_t ac_round_" name "(int64_t v) {\n  " T " x;\n  ac_put_" name \
                          "(&x, 0, v);\n  return ac_get_" name "(&x, 0);\n}\n"                        \
  }
    WRAP("i8", "int8_t"),
    WRAP("u8", "uint8_t"),
    WRAP("i16", "int16_t"),
    WRAP("u16", "uint16_t"),
    WRAP("i32", "int32_t"),
    WRAP("u32", "uint32_t"),
    WRAP("i64", "int64_t"),
#undef WRAP
    {"ac_copy(", "/* n elements of `size` bytes. */\n"
                 "static void ac_copy(void *to, const void *from, int64_t n, int64_t size) {\n"
                 "  if (n > 0) memmove(to, from, (size_t)(n * size));\n}\n"},
    {"ac_copy_rows(",
     "/* Rows of `cols` elements; strides from row to row are in elements. */\n"
     "static void ac_copy_rows(void *to, int64_t to_stride, const void *from, int64_t from_stride, int64_t rows, "
     "int64_t cols, int64_t size) {\n"
     "  for (int64_t r = 0; cols > 0 && r < rows; r++)\n"
     "    memmove((char *)to + r * to_stride * size, (const char *)from + r * from_stride * size, (size_t)(cols * "
     "size));\n}\n"},
/* Of a copy with a pad value: the lanes behind its n elements, up to the next 32 bytes. */
#define PAD(name, T, size)                                                                                  \
  {                                                                                                         \
    "ac_pad_" name "(", "static void ac_pad_" name "(void *p, int64_t n, " T " v) {\n"                      \
                        "  for (int64_t i = n; i * " size " % 32 != 0; i++) ac_put_" name "(p, i, v);\n}\n" \
  }
    PAD("f32", "float", "4"),
    PAD("f16", "float", "2"),
    PAD("bf16", "float", "2"),
    PAD("i8", "int64_t", "1"),
    PAD("u8", "int64_t", "1"),
    PAD("i16", "int64_t", "2"),
    PAD("u16", "int64_t", "2"),
    PAD("i32", "int64_t", "4"),
    PAD("u32", "int64_t", "4"),
    PAD("i64", "int64_t", "8"),
#undef PAD
/* Atomic stores: blocks come one after the other here, so what they combine with is what the one before left. */
#define ATOMIC(op, name, T, value)                                                                             \
  {                                                                                                            \
    "ac_atomic_" op "_" name "(",                                                                              \
        "static void ac_atomic_" op "_" name                                                                   \
        "(void *to, int64_t to_stride, const void *from, int64_t from_stride, int64_t rows, int64_t cols) {\n" \
        "  for (int64_t r = 0; r < rows; r++)\n    for (int64_t i = 0; i < cols; i++) {\n"                     \
        "      const " T " a = ac_get_" name "(to, r * to_stride + i), b = ac_get_" name                       \
        "(from, r * from_stride + i);\n      ac_put_" name "(to, r * to_stride + i, " value ");\n    }\n}\n"   \
  }
#define ATOMIC_FLOATS(name)                                                                                       \
  ATOMIC("add", name, "float", "a + b"), ATOMIC("max", name, "float", "a != a ? a : b != b ? b : a > b ? a : b"), \
      ATOMIC("min", name, "float", "a != a ? a : b != b ? b : a < b ? a : b")
#define ATOMIC_INTS(name)                                                                   \
  ATOMIC("add", name, "int64_t", "a + b"), ATOMIC("max", name, "int64_t", "a > b ? a : b"), \
      ATOMIC("min", name, "int64_t", "a < b ? a : b")
    ATOMIC_FLOATS("f32"),
    ATOMIC_FLOATS("f16"),
    ATOMIC_FLOATS("bf16"),
    ATOMIC_INTS("i8"),
    ATOMIC_INTS("i16"),
    ATOMIC_INTS("i32"),
#undef ATOMIC
#undef ATOMIC_FLOATS
#undef ATOMIC_INTS
    {"ac_allot(", "/* Memory of a buffer: whole blocks, at least one. What is never written is 0xa5. */\n"
                  "static bool ac_allot(void **p, int64_t elements, int64_t size, int64_t to) {\n"
                  "  int64_t n = (elements * size + to - 1) / to * to;\n"
                  "  size_t bytes = (size_t)(n < to ? to : n);\n"
                  "  *p = malloc(bytes);\n"
                  "  if (*p) memset(*p, 0xa5, bytes);\n"
                  "  return *p != NULL;\n}\n"},
    {"AC_SYNC_ALL(", "/* Leaves Process; it goes on behind here when every block has come. */\n"
                     "#define AC_SYNC_ALL(k)     \\\n"
                     "  do {                     \\\n"
                     "    (k)->ac_at = __LINE__; \\\n"
                     "    return false;          \\\n"
                     "  case __LINE__:;          \\\n"
                     "  } while (0)\n"},

    {"ac_refuse(", "/* The first reason is the one to tell. */\n"
                   "static void ac_refuse(ac_host *h, const char *reason) {\n"
                   "  if (!h->why[0]) strncpy(h->why, reason, sizeof h->why - 1);\n}\n"},
    {"ac_checked_add(", "static int64_t ac_checked_add(ac_host *h, int64_t a, int64_t b) {\n"
                        "  if (b > 0 ? a <= INT64_MAX - b : a >= INT64_MIN - b) return a + b;\n"
                        "  ac_refuse(h, \"a size does not fit 64 bits\");\n  return 0;\n}\n"},
    {"ac_checked_sub(", "static int64_t ac_checked_sub(ac_host *h, int64_t a, int64_t b) {\n"
                        "  if (b > 0 ? a >= INT64_MIN + b : a <= INT64_MAX + b) return a - b;\n"
                        "  ac_refuse(h, \"a size does not fit 64 bits\");\n  return 0;\n}\n"},
    {"ac_checked_mul(", "static int64_t ac_checked_mul(ac_host *h, int64_t a, int64_t b) {\n"
                        "  bool fits = a == 0 || b == 0 || a == 1 || b == 1;\n"
                        "  if (!fits && a > 0) fits = b > 0 ? a <= INT64_MAX / b : b >= INT64_MIN / a;\n"
                        "  else if (!fits) fits = b > 0 ? a >= INT64_MIN / b : a >= INT64_MAX / b;\n"
                        "  if (fits) return a * b;\n"
                        "  ac_refuse(h, \"a size does not fit 64 bits\");\n  return 0;\n}\n"},
    {"ac_checked_floor_div(", "static int64_t ac_checked_floor_div(ac_host *h, int64_t a, int64_t b) {\n"
                              "  if (b == 0 || (b == -1 && a == INT64_MIN)) {\n"
                              "    ac_refuse(h, \"division by zero in the tiling code\");\n    return 0;\n  }\n"
                              "  return ac_floor_div(a, b);\n}\n"},
    {"ac_checked_floor_mod(",
     "static int64_t ac_checked_floor_mod(ac_host *h, int64_t a, int64_t b) {\n"
     "  return ac_checked_sub(h, a, ac_checked_mul(h, ac_checked_floor_div(h, a, b), b));\n}\n"},
    {"ac_checked_ceil_div(",
     "static int64_t ac_checked_ceil_div(ac_host *h, int64_t a, int64_t b) {\n"
     "  return ac_checked_sub(h, 0, ac_checked_floor_div(h, ac_checked_sub(h, 0, a), b));\n}\n"},
    {"ac_checked_align_up(", "static int64_t ac_checked_align_up(ac_host *h, int64_t a, int64_t to) {\n"
                             "  return ac_checked_mul(h, ac_checked_ceil_div(h, a, to), to);\n}\n"},
    {"ac_checked_align_down(", "static int64_t ac_checked_align_down(ac_host *h, int64_t a, int64_t to) {\n"
                               "  return ac_checked_mul(h, ac_checked_floor_div(h, a, to), to);\n}\n"},
    {"ac_checked_min(", "static int64_t ac_checked_min(ac_host *h, int64_t a, int64_t b) {\n"
                        "  (void)h;\n  return a < b ? a : b;\n}\n"},
    {"ac_checked_max(", "static int64_t ac_checked_max(ac_host *h, int64_t a, int64_t b) {\n"
                        "  (void)h;\n  return a < b ? b : a;\n}\n"},
    {"ac_checked_power(",
     "static int64_t ac_checked_power(ac_host *h, int64_t a, int64_t b) {\n"
     "  int64_t r = 1;\n"
     "  if (a == -1 && b > 1) return b % 2 ? -1 : 1;\n"
     "  for (int64_t i = 0; i < b && !h->why[0] && (r > 1 || r < -1 || i < 2); i++) r = ac_checked_mul(h, r, a);\n"
     "  return r;\n}\n"},
    {"ac_truncate(", "static int64_t ac_truncate(ac_host *h, double a) {\n"
                     "  if (a > -9.2e18 && a < 9.2e18) return (int64_t)a;\n"
                     "  ac_refuse(h, \"a number does not fit 64 bits\");\n  return 0;\n}\n"},
    {"ac_dim(",
     "/* Size i of a tensor; negative i count from the end. */\n"
     "static int64_t ac_dim(ac_host *h, const SHAPE *s, int64_t i) {\n"
     "  int64_t n = i < 0 ? i + s->rank : i;\n"
     "  if (n >= 0 && n < s->rank) return s->dims[n];\n"
     "  if (!h->why[0])\n"
     "    sprintf(h->why, \"dimension %\" PRId64 \" does not exist in a tensor of rank %d\", i, s->rank);\n"
     "  return 0;\n}\n"},
    {"ac_product(", "/* Product of sizes [from, to), by Python's rules for slices; 0 where one of them is 0. */\n"
                    "static int64_t ac_product(ac_host *h, const SHAPE *s, int64_t from, int64_t to) {\n"
                    "  int64_t a = from < 0 ? from + s->rank : from, b = to < 0 ? to + s->rank : to, r = 1;\n"
                    "  if (a < 0) a = 0;\n"
                    "  for (int64_t i = a; i < b && i < s->rank; i++)\n"
                    "    if (s->dims[i] == 0) return 0;\n"
                    "  for (int64_t i = a; i < b && i < s->rank; i++) r = ac_checked_mul(h, r, s->dims[i]);\n"
                    "  return r;\n}\n"},
    {"ac_checked_blocks(",
     "/* Blocks of a launch: all of those that the program asks for, or none. */\n"
     "static int64_t ac_checked_blocks(ac_host *h, int64_t wanted, int64_t most) {\n"
     "  if (wanted > most && !h->why[0])\n"
     "    sprintf(h->why, \"%\" PRId64 \" blocks are wanted, a launch has %\" PRId64 \" at most here\", "
     "wanted, most);\n"
     "  return wanted < most ? wanted : most;\n}\n"},
    {"ac_bytes(", "/* Bytes of UB that a buffer takes on the chip. */\n"
                  "static int64_t ac_bytes(ac_host *h, int64_t elements, int64_t size, int64_t to) {\n"
                  "  int64_t n = ac_checked_align_up(h, ac_checked_mul(h, elements, size), to);\n"
                  "  return n < to ? to : n;\n}\n"},
    {"ac_check_ub(", "static void ac_check_ub(ac_host *h, const char *kernel, int64_t needed, int64_t have) {\n"
                     "  if (needed > have && !h->why[0])\n"
                     "    sprintf(h->why, \"%.80s needs %\" PRId64 \" bytes of UB, there are %\" PRId64 \": take a "
                     "smaller tile\", kernel,\n"
                     "            needed, have);\n}\n"},
};

static const char *replaced(ac_arena *a, const char *text, const char *what, const char *with) {
  ac_buf b;
  ac_buf_init(&b, a);
  for (const char *at; (at = strstr(text, what)); text = at + strlen(what))
    ac_printf(&b, "%.*s%s", (int)(at - text), text, with);
  ac_puts(&b, text);
  return ac_strdup(a, ac_buf_str(&b));
}

char *ac_pc_runtime(ac_pc *t, const char *text) {
  const char *parts[AC_COUNT(helpers)] = {0};
  ac_buf all, out;
  ac_buf_init(&all, t->a);
  ac_puts(&all, text);
  for (size_t i = 0; i < t->uses.len; i++) ac_puts(&all, t->uses.data[i].text);
  const char *shape = ac_sprintf(t->a, "%s_shape", t->p->op);
  for (size_t i = AC_COUNT(helpers); i-- > 0;) {
    if (!strstr(ac_buf_str(&all), helpers[i].name)) continue;
    parts[i] = replaced(t->a, helpers[i].text, "SHAPE", shape);
    ac_puts(&all, parts[i]);
  }
  ac_buf_init(&out, t->a);
  for (size_t i = 0; i < AC_COUNT(helpers); i++)
    if (parts[i]) ac_printf(&out, "%s\n", parts[i]);
  for (size_t i = 0; i < t->uses.len; i++) ac_printf(&out, "%s\n", t->uses.data[i].text);
  return ac_strdup(t->a, ac_buf_str(&out));
}

/* ---- functions of instructions ---- */

static const char *const round_names[] = {
    [AC_RN_NONE] = "rint",   [AC_RN_RINT] = "rint",   [AC_RN_FLOOR] = "floor", [AC_RN_CEIL] = "ceil",
    [AC_RN_ROUND] = "round", [AC_RN_TRUNC] = "trunc", [AC_RN_ODD] = "odd"};
static const int round_codes[] = {[AC_RN_NONE] = 0,  [AC_RN_RINT] = 0,  [AC_RN_FLOOR] = 1, [AC_RN_CEIL] = 2,
                                  [AC_RN_ROUND] = 3, [AC_RN_TRUNC] = 4, [AC_RN_ODD] = 5};
static const char *const compares[] = {[AC_CMP_LT] = "<",  [AC_CMP_GT] = ">",  [AC_CMP_EQ] = "==",
                                       [AC_CMP_LE] = "<=", [AC_CMP_GE] = ">=", [AC_CMP_NE] = "!="};
static const char *const compare_names[] = {[AC_CMP_LT] = "lt", [AC_CMP_GT] = "gt", [AC_CMP_EQ] = "eq",
                                            [AC_CMP_LE] = "le", [AC_CMP_GE] = "ge", [AC_CMP_NE] = "ne"};

static bool floating(ac_dtype d) {
  return ac_dtypes[d].cls == AC_FLOATING;
}
static const char *lane(ac_dtype d) {
  return floating(d) ? "float" : "int64_t";
}
static const char *meaning_of(ac_inst i, ac_dtype d) {
  const char *m = floating(d) ? meanings[i].of_float : meanings[i].of_int;
  return m && *m ? m : NULL;
}

bool ac_plainc_knows(ac_inst i, ac_dtype d) {
  if (d == AC_F64 || d == AC_U64) return false;
  switch (ac_insts[i].form) {
  case AC_FORM_UNARY:
  case AC_FORM_BINARY:
  case AC_FORM_SCALAR:
  case AC_FORM_FMA_SCALAR:
  case AC_FORM_FMA:
  case AC_FORM_FILL: return meaning_of(i, d) != NULL;
  case AC_FORM_REDUCE: return (i == AC_I_RSUM || i == AC_I_RMAX || i == AC_I_RMIN) && floating(d);
  case AC_FORM_CAST:
  case AC_FORM_COMPARE:
  case AC_FORM_COMPARE_S:
  case AC_FORM_SELECT:
  case AC_FORM_SELECT_S:
  case AC_FORM_COPY: return true;
  case AC_FORM_WHOLE: return floating(d);
  case AC_FORM_INDEX:
  case AC_FORM_GATHER:
  case AC_FORM_ROWS:
  case AC_FORM_BLOCKS:
  case AC_FORM_TILE:
  case AC_FORM_SORT:
  case AC_FORM_MERGE:
  case AC_FORM_PICK: return (ac_insts[i].dtypes & AC_BIT(d)) != 0;
  default: return false;
  }
}

/* Lane by lane: what x, y and d are follows from the form. */
static void elementwise(ac_pc *t, ac_buf *b, const char *name, ac_inst i, ac_dtype d) {
  const char *s = ac_pc_suffix(d), *m = replaced(t->a, meaning_of(i, d), "@", s);
  ac_form f = ac_insts[i].form;
  bool none = f == AC_FORM_FILL, two = f == AC_FORM_BINARY || f == AC_FORM_FMA;
  bool scalar = f == AC_FORM_SCALAR || f == AC_FORM_FMA_SCALAR || none;
  ac_printf(b, "static void %s(void *dst%s%s%s, int64_t n) {\n", name, none ? "" : ", const void *a",
            two ? ", const void *b" : "", scalar ? ac_sprintf(t->a, ", %s y", lane(d)) : "");
  if (scalar) ac_printf(b, "  y = ac_round_%s(y);\n", s);
  ac_puts(b, "  for (int64_t i = 0; i < n; i++) {\n");
  if (!none) ac_printf(b, "    %s x = ac_get_%s(a, i);\n", lane(d), s);
  if (two) ac_printf(b, "    %s y = ac_get_%s(b, i);\n", lane(d), s);
  if (f == AC_FORM_FMA_SCALAR || f == AC_FORM_FMA) ac_printf(b, "    %s d = ac_get_%s(dst, i);\n", lane(d), s);
  ac_printf(b, "    ac_put_%s(dst, i, %s);\n  }\n}\n", s, m);
}

static void cast(ac_buf *b, const char *name, ac_dtype d, ac_dtype from, ac_round r) {
  const char *x;
  int mode = round_codes[r], bits = ac_dtypes[d].bytes * 8;
  ac_printf(b,
            "static void %s(void *dst, const void *a, int64_t n) {\n  for (int64_t i = 0; i < n; i++) {\n"
            "    %s x = ac_get_%s(a, i);\n",
            name, lane(from), ac_pc_suffix(from));
  x = floating(from) ? "(double)x" : "x";
  if (d == AC_F16 || d == AC_BF16)
    ac_printf(b, "    uint16_t u = ac_to_%s((double)x, %d);\n    memcpy((char *)dst + i * 2, &u, 2);\n",
              ac_pc_suffix(d), mode);
  else if (d == AC_F32 && from == AC_F32)
    ac_printf(b, "    ac_put_f32(dst, i, x != x || isinf(x) ? x : (float)(ac_round_to((double)x, %d) + 0.0));\n",
              mode);
  else if (d == AC_F32 && !floating(from))
    ac_printf(b, "    ac_put_f32(dst, i, ac_int_to_f32(x, %d));\n", mode);
  else if (d == AC_F32)
    ac_puts(b, "    ac_put_f32(dst, i, x);\n");
  else {
    bool sign = ac_dtypes[d].cls == AC_SIGNED;
    const char *low = sign ? (bits == 8    ? "INT8_MIN"
                              : bits == 16 ? "INT16_MIN"
                              : bits == 32 ? "INT32_MIN"
                                           : "INT64_MIN")
                           : "0";
    const char *high = bits == 8    ? (sign ? "INT8_MAX" : "UINT8_MAX")
                       : bits == 16 ? (sign ? "INT16_MAX" : "UINT16_MAX")
                       : bits == 32 ? (sign ? "INT32_MAX" : "UINT32_MAX")
                                    : "INT64_MAX";
    if (floating(from))
      ac_printf(b, "    ac_put_%s(dst, i, ac_saturate(%s, %d, %sldexp(1.0, %d), ldexp(1.0, %d), %s, %s));\n",
                ac_pc_suffix(d), x, mode, sign ? "-" : "0 * ", bits - sign, bits - sign, low, high);
    else
      ac_printf(b, "    ac_put_%s(dst, i, ac_hold(x, %s, %s));\n", ac_pc_suffix(d), low, high);
  }
  ac_puts(b, "  }\n}\n");
}

static void compare(ac_pc *t, ac_buf *b, const char *name, bool scalar, ac_dtype d, ac_cmp c) {
  const char *s = ac_pc_suffix(d);
  ac_printf(b, "static void %s(void *mask, const void *a, %s, int64_t n) {\n", name,
            scalar ? ac_sprintf(t->a, "%s y", lane(d)) : "const void *b");
  if (scalar) ac_printf(b, "  y = ac_round_%s(y);\n", s);
  ac_printf(b, "  for (int64_t i = 0; i < n; i++) {\n    %s x = ac_get_%s(a, i);\n", lane(d), s);
  if (!scalar) ac_printf(b, "    %s y = ac_get_%s(b, i);\n", lane(d), s);
  ac_printf(b,
            "    int64_t byte = ac_get_u8(mask, i / 8), bit = (int64_t)1 << i %% 8;\n"
            "    ac_put_u8(mask, i / 8, %s ? byte | bit : byte & ~bit);\n  }\n}\n",
            /* a NaN is unequal to nothing (docs/zh, boundary values: Compare) */
            c == AC_CMP_NE && floating(d) ? "x < y || x > y" : ac_sprintf(t->a, "x %s y", compares[c]));
}

static void select_(ac_pc *t, ac_buf *b, const char *name, bool scalar, ac_dtype d) {
  const char *s = ac_pc_suffix(d);
  ac_printf(b, "static void %s(void *dst, const void *mask, const void *a, %s, int64_t n) {\n", name,
            scalar ? ac_sprintf(t->a, "%s y", lane(d)) : "const void *b");
  int size = ac_dtypes[d].bytes; /* bits move: those of a NaN, or of integers that are looked at as floats, too */
  ac_printf(b, "  for (int64_t i = 0; i < n; i++) {\n    bool set = ac_get_u8(mask, i / 8) >> i %% 8 & 1;\n");
  if (scalar)
    ac_printf(b,
              "    if (set)\n      memmove((char *)dst + i * %d, (const char *)a + i * %d, %d);\n    else\n      "
              "ac_put_%s(dst, i, y);\n",
              size, size, size, s);
  else
    ac_printf(b, "    memmove((char *)dst + i * %d, (const char *)(set ? a : b) + i * %d, %d);\n", size, size, size);
  ac_puts(b, "  }\n}\n");
}

static void reduce(ac_buf *b, const char *name, ac_inst i, ac_dtype d) {
  const char *s = ac_pc_suffix(d);
  int lanes = 256 / ac_dtypes[d].bytes;
  if (i != AC_I_RSUM) {
    ac_printf(b,
              "static void %s(void *dst, const void *a, int64_t n) {\n  float top = ac_get_%s(a, 0);\n"
              "  for (int64_t i = 1; i < n; i++) {\n    float x = ac_get_%s(a, i);\n"
              "    top = %s(top, x);\n  }\n  ac_put_%s(dst, 0, top);\n}\n",
              name, s, s, i == AC_I_RMAX ? "ac_larger" : "ac_smaller", s);
    return;
  }
  ac_printf(
      b,
      "/* %d lanes at a time as a tree over neighbours; the trees' sums one after another. Every sum is rounded. */\n"
      "static void %s(void *dst, const void *a, int64_t n) {\n  float sum = 0.0f;\n"
      "  for (int64_t at = 0; at < n; at += %d) {\n    float x[%d];\n"
      "    int64_t w = n - at < %d ? n - at : %d;\n"
      "    for (int64_t i = 0; i < w; i++) x[i] = ac_get_%s(a, at + i);\n"
      "    for (; w > 1; w = (w + 1) / 2) {\n"
      "      for (int64_t i = 0; i < w / 2; i++) x[i] = ac_round_%s(x[2 * i] + x[2 * i + 1]);\n"
      "      if (w %% 2) x[w / 2] = x[w - 1];\n    }\n"
      "    sum = at ? ac_round_%s(sum + x[0]) : x[0];\n  }\n  ac_put_%s(dst, 0, sum);\n}\n",
      lanes, name, lanes, lanes, lanes, lanes, s, s, s, s);
}

static char *lower_case(ac_arena *a, const char *s) {
  char *r = ac_strdup(a, s);
  for (char *c = r; *c; c++)
    if (*c >= 'A' && *c <= 'Z') *c = (char)(*c + 32);
  return r;
}

static bool used(const ac_pc *t, const char *name) {
  for (size_t i = 0; i < t->uses.len; i++)
    if (!strcmp(t->uses.data[i].name, name)) return true;
  return false;
}
const char *ac_pc_use(ac_pc *t, const char *name, const char *text) {
  ac_pcfunc u = {name, text};
  if (!used(t, name)) ac_push(t->a, &t->uses, u);
  return name;
}

const char *ac_pc_inst(ac_pc *t, const ac_astmt *s, ac_dtype d, ac_dtype from) {
  const ac_inst_info *info = &ac_insts[s->inst];
  ac_form f = info->form;
  bool knows = ac_plainc_knows(s->inst, d) && (f != AC_FORM_CAST || ac_plainc_knows(AC_I_CAST, from));
  if (!knows) {
    ac_pc_fail(t, s->loc, "%s of %s", info->asc, ac_dtypes[d].name);
    return NULL;
  }
  char *name = ac_sprintf(t->a, "ac_%s_%s", lower_case(t->a, info->asc), ac_pc_suffix(d));
  bool scalar = f == AC_FORM_COMPARE_S || f == AC_FORM_SELECT_S;
  if (f == AC_FORM_CAST) name = ac_sprintf(t->a, "%s_%s_%s", name, ac_pc_suffix(from), round_names[s->round]);
  if (f == AC_FORM_COMPARE || f == AC_FORM_COMPARE_S) name = ac_sprintf(t->a, "%s_%s", name, compare_names[s->cmp]);
  if (f == AC_FORM_SELECT_S) name = ac_sprintf(t->a, "%s_scalar", name);
  if (used(t, name)) return name;
  ac_buf b;
  ac_buf_init(&b, t->a);
  switch (f) {
  case AC_FORM_CAST: cast(&b, name, d, from, s->round); break;
  case AC_FORM_COMPARE:
  case AC_FORM_COMPARE_S: compare(t, &b, name, scalar, d, s->cmp); break;
  case AC_FORM_SELECT:
  case AC_FORM_SELECT_S: select_(t, &b, name, scalar, d); break;
  case AC_FORM_REDUCE: reduce(&b, name, s->inst, d); break;
  case AC_FORM_COPY:
    ac_printf(&b, "static void %s(void *dst, const void *a, int64_t n) { ac_copy(dst, a, n, %d); }\n", name,
              ac_dtypes[d].bytes);
    break;
  default: elementwise(t, &b, name, s->inst, d); break;
  }
  return ac_pc_use(t, name, ac_strdup(t->a, ac_buf_str(&b)));
}

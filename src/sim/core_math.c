/* The values of instructions: plain loops over n elements that a compiler can vectorise.
 *
 * float: IEEE single operations; exp and ln through a double polynomial, so that the float result is the correctly rounded one
 * but for a few cases in 10^8. half: computed in float and rounded once more, which for + - * / and sqrt equals a single
 * rounding (24 >= 2 * 11 + 2 bits). */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3,no-math-errno,no-trapping-math")
#endif
#include "sim/core_internal.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 1024 };

static float f32_of(uint32_t u) {
  float f;
  memcpy(&f, &u, 4);
  return f;
}
static uint32_t u32_of(float f) {
  uint32_t u;
  memcpy(&u, &f, 4);
  return u;
}
static double f64_of(uint64_t u) {
  double d;
  memcpy(&d, &u, 8);
  return d;
}
static uint64_t u64_of(double d) {
  uint64_t u;
  memcpy(&u, &d, 8);
  return u;
}

/* ---- half and bfloat16 <-> float, without branches ---- */

static inline float widen16(uint16_t h) {
  uint32_t a = (uint32_t)(h & 0x7fff) << 13;
  float f = f32_of(a) * 0x1p112f;                              /* also makes subnormals right */
  uint32_t u = u32_of(f) | (a >= 0x0f800000 ? 0x7f800000 : 0); /* inf and NaN keep their payload */
  return f32_of(u | (uint32_t)(h & 0x8000) << 16);
}
static inline uint16_t narrow16(float f) {
  uint32_t u = u32_of(f), sign = u >> 16 & 0x8000, a = u & 0x7fffffff;
  /* normal results: round in the integer domain */
  uint32_t n = (a - 0x38000000 + 0xfff + (a >> 13 & 1)) >> 13;
  /* subnormal results: adding 0.5 leaves the rounded value in the low bits (units of 2^-24) */
  uint32_t s = u32_of(f32_of(a) + 0.5f) - 0x3f000000;
  uint32_t r = a < 0x38800000 ? s : n;
  r = a >= 0x477ff000 ? 0x7c00 : r;
  r = a > 0x7f800000 ? (0x7e00 | (a >> 13 & 0x3ff)) : r;
  return (uint16_t)(sign | r);
}
static inline uint16_t narrow_bf(float f) {
  uint32_t u = u32_of(f);
  uint32_t r = (u + 0x7fff + (u >> 16 & 1)) >> 16;
  return (uint16_t)((u & 0x7fffffff) > 0x7f800000 ? (u >> 16 | 0x40) : r);
}
static inline float widen_bf(uint16_t b) {
  return f32_of((uint32_t)b << 16);
}

static void from_half(float *d, const void *src, int64_t n) {
  const uint16_t *a = src;
  for (int64_t i = 0; i < n; i++) d[i] = widen16(a[i]);
}
static void to_half(void *dst, const float *a, int64_t n, bool saturate) {
  uint16_t *d = dst;
  for (int64_t i = 0; i < n; i++) d[i] = narrow16(a[i]);
  if (!saturate) return;
  for (int64_t i = 0; i < n; i++) {
    uint16_t m = d[i] & 0x7fff;
    d[i] = m < 0x7c00 ? d[i] : m > 0x7c00 ? 0 : (uint16_t)((d[i] & 0x8000) | 0x7bff);
  }
}
static void from_bf(float *d, const void *src, int64_t n) {
  const uint16_t *a = src;
  for (int64_t i = 0; i < n; i++) d[i] = widen_bf(a[i]);
}
static void to_bf(void *dst, const float *a, int64_t n, bool saturate) {
  uint16_t *d = dst;
  for (int64_t i = 0; i < n; i++) d[i] = narrow_bf(a[i]);
  if (!saturate) return;
  for (int64_t i = 0; i < n; i++) {
    uint16_t m = d[i] & 0x7fff;
    d[i] = m < 0x7f80 ? d[i] : m > 0x7f80 ? 0 : (uint16_t)((d[i] & 0x8000) | 0x7f7f);
  }
}
static void to_float(int type, float *d, const void *a, int64_t n) {
  if (type == ACSIM_F16)
    from_half(d, a, n);
  else if (type == ACSIM_BF16)
    from_bf(d, a, n);
  else
    memcpy(d, a, (size_t)n * 4);
}
static void from_float(int type, void *d, const float *a, int64_t n, bool saturate) {
  if (type == ACSIM_F16)
    to_half(d, a, n, saturate);
  else if (type == ACSIM_BF16)
    to_bf(d, a, n, saturate);
  else
    memcpy(d, a, (size_t)n * 4);
}

/* ---- exp and ln ---- */

/* e^x to about 1e-13 relative: x = k ln 2 + r, |r| <= ln 2 / 2, Taylor of degree 11. */
static inline double exp_d(double x) {
  double c = x < -200 ? -200 : x > 200 ? 200 : x; /* beyond float's range anyway; NaN stays */
  double k = c * 1.4426950408889634 + 0x1.8p52;
  uint64_t bits = u64_of(k) << 52; /* k * 2^52 modulo 2^64: adds k to an exponent */
  k -= 0x1.8p52;
  double r = (c - k * 0x1.62e42feep-1) - k * 0x1.a39ef35793c76p-33;
  double p = 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  double y = f64_of(u64_of(p) + bits);
  return c != c ? c : y;
}
/* ln x: x = m 2^e, sqrt(1/2) <= m < sqrt(2); ln m = 2 atanh((m - 1) / (m + 1)). */
static inline double ln_d(double x) {
  uint64_t u = u64_of(x), top = u - 0x3fe6a09e667f3bcdull; /* exponent relative to sqrt(1/2) */
  double e = (double)(int32_t)((int64_t)top >> 52);
  double m = f64_of(u - (top & 0xfff0000000000000ull));
  double s = (m - 1) / (m + 1), z = s * s;
  double p = 1.0 / 19;
  p = p * z + 1.0 / 17;
  p = p * z + 1.0 / 15;
  p = p * z + 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  double y = 2 * s * (1 + z * p) + e * 0x1.62e42fefa39efp-1;
  y = x == HUGE_VAL ? HUGE_VAL : y;
  y = x == 0 ? -HUGE_VAL : y;
  return x < 0 || x != x ? (double)NAN : y;
}

/* ---- float loops ---- */

#define LOOP1(expr)                 \
  for (int64_t i = 0; i < n; i++) { \
    float x = a[i];                 \
    d[i] = (expr);                  \
  }                                 \
  break
static void unary_f32(int op, float *d, const float *a, int64_t n) {
  switch (op) {
  case ACSIM_OP_Exp: LOOP1((float)exp_d((double)x));
  case ACSIM_OP_Ln: LOOP1((float)ln_d((double)x));
  case ACSIM_OP_Abs: LOOP1(fabsf(x));
  case ACSIM_OP_Reciprocal: LOOP1(1.0f / x);
  case ACSIM_OP_Sqrt: LOOP1(sqrtf(x));
  case ACSIM_OP_Rsqrt: LOOP1((float)(1.0 / sqrt((double)x)));
  case ACSIM_OP_Relu: LOOP1(x > 0 || x != x ? x : 0.0f);
  }
}
#define LOOP2(expr)                 \
  for (int64_t i = 0; i < n; i++) { \
    float x = a[i], y = b[i];       \
    d[i] = (expr);                  \
  }                                 \
  break
/* A NaN operand gives NaN in Max and Min (assumed: the documents do not say). */
#define MAX2(x, y) ((x) > (y) || (x) != (x) ? (x) : (y))
#define MIN2(x, y) ((x) < (y) || (x) != (x) ? (x) : (y))
static void binary_f32(int op, float *d, const float *a, const float *b, int64_t n) {
  switch (op) {
  case ACSIM_OP_Add: LOOP2(x + y);
  case ACSIM_OP_Sub: LOOP2(x - y);
  case ACSIM_OP_Mul: LOOP2(x * y);
  case ACSIM_OP_Div: LOOP2(x / y);
  case ACSIM_OP_Max: LOOP2(MAX2(x, y));
  case ACSIM_OP_Min: LOOP2(MIN2(x, y));
  case ACSIM_OP_AddRelu: LOOP2(x + y > 0 || x + y != x + y ? x + y : 0.0f);
  case ACSIM_OP_SubRelu: LOOP2(x - y > 0 || x - y != x - y ? x - y : 0.0f);
  }
}
static void scalar_f32(int op, float *d, const float *a, float y, int64_t n) {
  switch (op) {
  case ACSIM_OP_Adds: LOOP1(x + y);
  case ACSIM_OP_Muls: LOOP1(x * y);
  case ACSIM_OP_Maxs: LOOP1(MAX2(x, y));
  case ACSIM_OP_Mins: LOOP1(MIN2(x, y));
  case ACSIM_OP_LeakyRelu: LOOP1(x > 0 ? x : x * y);
  }
}

/* ---- integer loops: arithmetic wraps ---- */

#define INT_LOOPS(T, U, name)                                                                                   \
  static void unary_##name(int op, T *d, const T *a, int64_t n) {                                               \
    for (int64_t i = 0; i < n; i++) d[i] = op == ACSIM_OP_Not ? (T)~a[i] : a[i] > 0 ? a[i] : 0; /* Not, Relu */ \
  }                                                                                                             \
  static void binary_##name(int op, T *d, const T *a, const T *b, int64_t n) {                                  \
    switch (op) {                                                                                               \
    case ACSIM_OP_Add:                                                                                          \
      for (int64_t i = 0; i < n; i++) d[i] = (T)((U)a[i] + (U)b[i]);                                            \
      break;                                                                                                    \
    case ACSIM_OP_Sub:                                                                                          \
      for (int64_t i = 0; i < n; i++) d[i] = (T)((U)a[i] - (U)b[i]);                                            \
      break;                                                                                                    \
    case ACSIM_OP_Mul:                                                                                          \
      for (int64_t i = 0; i < n; i++) d[i] = (T)((uint64_t)a[i] * (uint64_t)b[i]);                              \
      break;                                                                                                    \
    case ACSIM_OP_Max:                                                                                          \
      for (int64_t i = 0; i < n; i++) d[i] = a[i] > b[i] ? a[i] : b[i];                                         \
      break;                                                                                                    \
    case ACSIM_OP_Min:                                                                                          \
      for (int64_t i = 0; i < n; i++) d[i] = a[i] < b[i] ? a[i] : b[i];                                         \
      break;                                                                                                    \
    case ACSIM_OP_And:                                                                                          \
      for (int64_t i = 0; i < n; i++) d[i] = (T)(a[i] & b[i]);                                                  \
      break;                                                                                                    \
    case ACSIM_OP_Or:                                                                                           \
      for (int64_t i = 0; i < n; i++) d[i] = (T)(a[i] | b[i]);                                                  \
      break;                                                                                                    \
    }                                                                                                           \
  }                                                                                                             \
  static void scalar_##name(int op, T *d, const T *a, int64_t v, int64_t n) {                                   \
    const T y = (T)v;                                                                                           \
    const int bits = (int)sizeof(T) * 8;                                                                        \
    switch (op) {                                                                                               \
    case ACSIM_OP_Adds:                                                                                         \
      for (int64_t i = 0; i < n; i++) d[i] = (T)((U)a[i] + (U)y);                                               \
      break;                                                                                                    \
    case ACSIM_OP_Muls:                                                                                         \
      for (int64_t i = 0; i < n; i++) d[i] = (T)((uint64_t)a[i] * (uint64_t)y);                                 \
      break;                                                                                                    \
    case ACSIM_OP_Maxs:                                                                                         \
      for (int64_t i = 0; i < n; i++) d[i] = a[i] > y ? a[i] : y;                                               \
      break;                                                                                                    \
    case ACSIM_OP_Mins:                                                                                         \
      for (int64_t i = 0; i < n; i++) d[i] = a[i] < y ? a[i] : y;                                               \
      break;                                                                                                    \
    case ACSIM_OP_ShiftLeft:                                                                                    \
      for (int64_t i = 0; i < n; i++) d[i] = v >= bits || v < 0 ? 0 : (T)((U)a[i] << v);                        \
      break;                                                                                                    \
    case ACSIM_OP_ShiftRight:                                                                                   \
      for (int64_t i = 0; i < n; i++) d[i] = (T)(a[i] >> (v >= bits || v < 0 ? bits - 1 : v));                  \
      break;                                                                                                    \
    }                                                                                                           \
  }
INT_LOOPS(int16_t, uint16_t, i16)
INT_LOOPS(uint16_t, uint16_t, u16)
INT_LOOPS(int32_t, uint32_t, i32)
INT_LOOPS(uint32_t, uint32_t, u32)

/* ---- dispatch; half goes through float in chunks ---- */

void acsim_math_unary(int op, int type, void *d, const void *a, int64_t n, bool saturate) {
  switch (type) {
  case ACSIM_F32: unary_f32(op, d, a, n); return;
  case ACSIM_I16: unary_i16(op, d, a, n); return;
  case ACSIM_U16: unary_u16(op, d, a, n); return;
  case ACSIM_I32: unary_i32(op, d, a, n); return;
  case ACSIM_U32: unary_u32(op, d, a, n); return;
  default: break;
  }
  float x[CHUNK];
  for (int64_t at = 0; at < n; at += CHUNK) {
    int64_t m = n - at < CHUNK ? n - at : CHUNK;
    to_float(type, x, (const uint16_t *)a + at, m);
    unary_f32(op, x, x, m);
    from_float(type, (uint16_t *)d + at, x, m, saturate);
  }
}

void acsim_math_binary(int op, int type, void *d, const void *a, const void *b, int64_t n, bool saturate) {
  switch (type) {
  case ACSIM_F32: binary_f32(op, d, a, b, n); return;
  case ACSIM_I16: binary_i16(op, d, a, b, n); return;
  case ACSIM_U16: binary_u16(op, d, a, b, n); return;
  case ACSIM_I32: binary_i32(op, d, a, b, n); return;
  case ACSIM_U32: binary_u32(op, d, a, b, n); return;
  default: break;
  }
  float x[CHUNK], y[CHUNK];
  for (int64_t at = 0; at < n; at += CHUNK) {
    int64_t m = n - at < CHUNK ? n - at : CHUNK;
    to_float(type, x, (const uint16_t *)a + at, m);
    to_float(type, y, (const uint16_t *)b + at, m);
    binary_f32(op, x, x, y, m);
    from_float(type, (uint16_t *)d + at, x, m, saturate);
  }
}

void acsim_math_scalar(int op, int type, void *d, const void *a, double f, int64_t v, int64_t n, bool saturate) {
  switch (type) {
  case ACSIM_F32: scalar_f32(op, d, a, (float)f, n); return;
  case ACSIM_I16: scalar_i16(op, d, a, v, n); return;
  case ACSIM_U16: scalar_u16(op, d, a, v, n); return;
  case ACSIM_I32: scalar_i32(op, d, a, v, n); return;
  case ACSIM_U32: scalar_u32(op, d, a, v, n); return;
  default: break;
  }
  float x[CHUNK];
  for (int64_t at = 0; at < n; at += CHUNK) {
    int64_t m = n - at < CHUNK ? n - at : CHUNK;
    to_float(type, x, (const uint16_t *)a + at, m);
    scalar_f32(op, x, x, (float)f, m);
    from_float(type, (uint16_t *)d + at, x, m, saturate);
  }
}

/* Fused: one rounding of the sum. */
static void fma_f32(float *d, const float *a, const float *b, float s, int64_t n) {
  for (int64_t i = 0; i < n; i++) d[i] = (float)((double)d[i] + (double)a[i] * (double)(b ? b[i] : s));
}
static void muladd(int dtype, int type, void *d, const void *a, const void *b, double f, int64_t n, bool saturate) {
  float x[CHUNK], y[CHUNK], z[CHUNK];
  int ds = acsim_type_bytes(dtype), es = acsim_type_bytes(type);
  for (int64_t at = 0; at < n; at += CHUNK) {
    int64_t m = n - at < CHUNK ? n - at : CHUNK;
    to_float(dtype, z, (const uint8_t *)d + at * ds, m);
    to_float(type, x, (const uint8_t *)a + at * es, m);
    if (b) to_float(type, y, (const uint8_t *)b + at * es, m);
    fma_f32(z, x, b ? y : NULL, (float)f, m);
    from_float(dtype, (uint8_t *)d + at * ds, z, m, saturate);
  }
}
void acsim_math_axpy(int dtype, int type, void *d, const void *a, double f, int64_t n, bool saturate) {
  muladd(dtype, type, d, a, NULL, f, n, saturate);
}
void acsim_math_muladd(int dtype, int type, void *d, const void *a, const void *b, int64_t n, bool saturate) {
  muladd(dtype, type, d, a, b, 0, n, saturate);
}

static bool is_floating(int type) {
  return type == ACSIM_F32 || type == ACSIM_F16 || type == ACSIM_BF16 || type == ACSIM_F64;
}

void acsim_math_fill(int type, void *d, double f, int64_t v, int64_t n) {
  uint64_t one = 0;
  if (is_floating(type))
    ac_store((ac_dtype)type, &one, 0, f);
  else
    ac_store_int((ac_dtype)type, &one, 0, v);
  switch (acsim_type_bytes(type)) {
  case 1: memset(d, (int)(one & 0xff), (size_t)n); break;
  case 2:
    for (int64_t i = 0; i < n; i++) ((uint16_t *)d)[i] = (uint16_t)one;
    break;
  case 4:
    for (int64_t i = 0; i < n; i++) ((uint32_t *)d)[i] = (uint32_t)one;
    break;
  default:
    for (int64_t i = 0; i < n; i++) ((uint64_t *)d)[i] = one;
    break;
  }
}

void acsim_math_iota(int type, void *d, double f, int64_t v, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    if (is_floating(type))
      ac_store((ac_dtype)type, d, i, f + (double)i);
    else
      ac_store_int((ac_dtype)type, d, i, v + i);
  }
}

/* ---- casts ---- */

/* To an integral value, by the mode; exact in double for every source but int64. */
static inline double round_to_int(double x, int r) {
  switch (r) {
  case AC_RN_FLOOR: return floor(x);
  case AC_RN_CEIL: return ceil(x);
  case AC_RN_ROUND: return round(x);
  case AC_RN_TRUNC: return trunc(x);
  default: return rint(x);
  }
}
/* int64 to float in any mode: the nearest float, then a step where the mode asks for the other side. */
static float int_to_float(int64_t v, int r) {
  float f = (float)v;
  if (r == AC_RN_NONE || r == AC_RN_RINT) return f;
  long double exact = (long double)v, got = (long double)f;
  if (got == exact) return f;
  float other = nextafterf(f, got > exact ? -HUGE_VALF : HUGE_VALF);
  float lo = got < exact ? f : other, hi = got < exact ? other : f;
  if (r == AC_RN_FLOOR || (r == AC_RN_TRUNC && v > 0)) return lo;
  if (r == AC_RN_CEIL || r == AC_RN_TRUNC) return hi;
  long double below = exact - (long double)lo, above = (long double)hi - exact; /* ROUND: halves away from zero */
  return below == above ? (v > 0 ? hi : lo) : f;
}

static void cast_slow(int dtype, int type, int r, void *d, const void *a, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    if (!is_floating(type)) {
      int64_t v = ac_load_int((ac_dtype)type, a, i);
      if (dtype == ACSIM_F32)
        ((float *)d)[i] = int_to_float(v, r);
      else if (dtype == ACSIM_F16)
        ((uint16_t *)d)[i] = ac_f64_to_f16((double)v, (ac_round)r);
      else
        ac_store((ac_dtype)dtype, d, i, (double)v); /* narrower integers saturate */
      if (dtype == ACSIM_I64) ac_store_int(AC_I64, d, i, v);
      continue;
    }
    double x = ac_load((ac_dtype)type, a, i);
    if (dtype == ACSIM_F16)
      ((uint16_t *)d)[i] = ac_f64_to_f16(x, (ac_round)r);
    else if (dtype == ACSIM_BF16)
      ((uint16_t *)d)[i] = ac_f64_to_bf16(x, (ac_round)r);
    else if (dtype == ACSIM_F32 && type == ACSIM_F32)
      ((float *)d)[i] = (float)round_to_int(x, r);
    else if (dtype == ACSIM_F32)
      ((float *)d)[i] = (float)x;
    else
      ac_store((ac_dtype)dtype, d, i, round_to_int(x, r)); /* saturates; NaN gives 0 */
  }
}

static void float_to_i32(int32_t *d, const float *a, int r, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    float x = r == AC_RN_TRUNC ? a[i] : (float)round_to_int((double)a[i], r);
    d[i] = x != x ? 0 : x >= 0x1p31f ? INT32_MAX : x <= -0x1p31f ? INT32_MIN : (int32_t)x;
  }
}

void acsim_math_cast(int dtype, int type, int r, void *d, const void *a, int64_t n, bool saturate) {
  bool nearest = r == AC_RN_NONE || r == AC_RN_RINT;
  if (type == ACSIM_F16 && dtype == ACSIM_F32)
    from_half(d, a, n);
  else if (type == ACSIM_BF16 && dtype == ACSIM_F32)
    from_bf(d, a, n);
  else if (type == ACSIM_F32 && dtype == ACSIM_F16 && nearest)
    to_half(d, a, n, saturate);
  else if (type == ACSIM_F32 && dtype == ACSIM_BF16 && nearest)
    to_bf(d, a, n, saturate);
  else if (type == ACSIM_F32 && dtype == ACSIM_I32)
    float_to_i32(d, a, r, n);
  else if (type == ACSIM_I32 && dtype == ACSIM_F32 && nearest)
    for (int64_t i = 0; i < n; i++) ((float *)d)[i] = (float)((const int32_t *)a)[i];
  else
    cast_slow(dtype, type, r, d, a, n);
}

/* ---- atomics, compares, the adding tree ---- */

void acsim_math_atomic(int op, int type, void *d, const void *a, int64_t n, bool saturate) {
  int vec = op == ACSIM_ATOMIC_ADD ? ACSIM_OP_Add : op == ACSIM_ATOMIC_MAX ? ACSIM_OP_Max : ACSIM_OP_Min;
  if (type != ACSIM_I8) {
    acsim_math_binary(vec, type, d, d, a, n, saturate);
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    int8_t x = ((int8_t *)d)[i], y = ((const int8_t *)a)[i];
    ((int8_t *)d)[i] = op == ACSIM_ATOMIC_ADD   ? (int8_t)(x + y)
                       : op == ACSIM_ATOMIC_MAX ? (x > y ? x : y)
                                                : (x < y ? x : y);
  }
}

#define CMP_BITS(T, get, scalar)                                \
  for (int64_t i = 0; i < n; i += 8) {                          \
    unsigned byte = 0;                                          \
    for (int k = 0; k < 8; k++) {                               \
      T x = get(a, i + k), y = b ? get(b, i + k) : (T)(scalar); \
      int hit = mode == 0   ? x < y                             \
                : mode == 1 ? x > y                             \
                : mode == 2 ? x == y                            \
                : mode == 3 ? x <= y                            \
                : mode == 4 ? x >= y                            \
                            : x != y;                           \
      byte |= (unsigned)hit << k;                               \
    }                                                           \
    bits[i / 8] = (uint8_t)byte;                                \
  }
static inline float get_f32(const void *p, int64_t i) {
  return ((const float *)p)[i];
}
static inline float get_f16(const void *p, int64_t i) {
  return widen16(((const uint16_t *)p)[i]);
}
static inline int32_t get_i32(const void *p, int64_t i) {
  return ((const int32_t *)p)[i];
}

void acsim_math_compare_bits(int mode, int type, uint8_t *bits, const void *a, const void *b, double f, int64_t v,
                             int64_t n) {
  if (type == ACSIM_F32) {
    CMP_BITS(float, get_f32, f)
  } else if (type == ACSIM_F16) {
    CMP_BITS(float, get_f16, f)
  } else {
    CMP_BITS(int32_t, get_i32, v)
  }
}

#define SELECT_LOOP(T)                                      \
  for (int64_t i = 0; i < n; i++) {                         \
    int64_t k = i % period;                                 \
    T x = ((const T *)a)[i], y = b ? ((const T *)b)[i] : s; \
    ((T *)d)[i] = bits[k / 8] >> (k % 8) & 1 ? x : y;       \
  }
void acsim_math_select(int bytes, void *d, const uint8_t *bits, int64_t period, const void *a, const void *b,
                       const void *scalar, int64_t n) {
  if (bytes == 2) {
    uint16_t s;
    memcpy(&s, scalar, 2);
    SELECT_LOOP(uint16_t)
  } else {
    uint32_t s;
    memcpy(&s, scalar, 4);
    SELECT_LOOP(uint32_t)
  }
}

void acsim_math_tree_sum(int type, void *d, const void *a, const uint64_t mask[2], int lanes, bool saturate) {
  float x[128] = {0};
  uint8_t live[128] = {0};
  to_float(type, x, a, lanes);
  for (int i = 0; i < lanes; i++) live[i] = mask[i / 64] >> (i % 64) & 1;
  for (int n = lanes; n > 1; n = (n + 1) / 2) {
    for (int i = 0; i < n / 2; i++) {
      float s = live[2 * i] && live[2 * i + 1] ? x[2 * i] + x[2 * i + 1] : live[2 * i] ? x[2 * i] : x[2 * i + 1];
      live[i] = live[2 * i] | live[2 * i + 1];
      x[i] = s;
    }
    if (n % 2) x[n / 2] = x[n - 1], live[n / 2] = live[n - 1];
    if (type != ACSIM_F32) { /* every partial sum is rounded */
      uint16_t h[64];
      from_float(type, h, x, (n + 1) / 2, saturate);
      to_float(type, x, h, (n + 1) / 2);
    }
  }
  if (!live[0]) x[0] = 0;
  from_float(type, d, x, 1, saturate);
}

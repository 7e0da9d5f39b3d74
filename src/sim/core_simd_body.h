/* The loops of core_simd.h. Included by core_simd.c, core_simd_avx2.c and core_simd_avx512.c, each with its own compiler flags; the
 * compiler makes vectors of them. LEVEL_NAME and LEVEL_TABLE say which instance this is.
 *
 * All is static: nothing compiled for a better processor may be what the linker takes for everybody. For the same reason only
 * headers without inline functions of their own are used. */
#include <math.h>
#include <string.h>

static inline float f32_of(uint32_t u) {
  float f;
  memcpy(&f, &u, 4);
  return f;
}
static inline uint32_t u32_of(float f) {
  uint32_t u;
  memcpy(&u, &f, 4);
  return u;
}
static inline double f64_of(uint64_t u) {
  double d;
  memcpy(&d, &u, 8);
  return d;
}
static inline uint64_t u64_of(double d) {
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

static void from_half(float *d, const uint16_t *a, int64_t n) {
  for (int64_t i = 0; i < n; i++) d[i] = widen16(a[i]);
}
static void to_half(uint16_t *d, const float *a, int64_t n, bool saturate) {
  for (int64_t i = 0; i < n; i++) d[i] = narrow16(a[i]);
  if (!saturate) return;
  for (int64_t i = 0; i < n; i++) {
    uint16_t m = d[i] & 0x7fff;
    d[i] = m < 0x7c00 ? d[i] : m > 0x7c00 ? 0 : (uint16_t)((d[i] & 0x8000) | 0x7bff);
  }
}
static void from_bf(float *d, const uint16_t *a, int64_t n) {
  for (int64_t i = 0; i < n; i++) d[i] = widen_bf(a[i]);
}
static void to_bf(uint16_t *d, const float *a, int64_t n, bool saturate) {
  for (int64_t i = 0; i < n; i++) d[i] = narrow_bf(a[i]);
  if (!saturate) return;
  for (int64_t i = 0; i < n; i++) {
    uint16_t m = d[i] & 0x7fff;
    d[i] = m < 0x7f80 ? d[i] : m > 0x7f80 ? 0 : (uint16_t)((d[i] & 0x8000) | 0x7f7f);
  }
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
  double e = (double)((int32_t)(top >> 32) >> 20);
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

/* Which NaN comes out of two is the first operand's, made quiet: compilers are free to exchange the operands of + and *, and the machine
 * takes the one that it gets first. */
static inline float first_nan(float x, float r) {
  return x != x ? f32_of(u32_of(x) | 0x400000) : r;
}
static inline double first_nan_d(double x, double r) {
  return x != x ? f64_of(u64_of(x) | 0x8000000000000) : r;
}
static inline float add(float x, float y) {
  return first_nan(x, x + y);
}
static inline float mul(float x, float y) {
  return first_nan(x, x * y);
}
/* Through double: the product is exact there. One beyond the range is infinite, whatever is added (docs/zh, boundary values: Axpy). */
static inline float fma_d(float d, float x, float y) {
  double p = first_nan_d((double)x, (double)x * (double)y);
  float r = (float)first_nan_d(p, p + (double)d), far = (float)p;
  return fabsf(far) == HUGE_VALF ? add(far, d) : r;
}
static inline float relu(float x) {
  return x > 0 || x != x ? x : 0.0f;
}

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
  case ACSIM_OP_Relu: LOOP1(relu(x));
  }
}
#define LOOP2(expr)                 \
  for (int64_t i = 0; i < n; i++) { \
    float x = a[i], y = b[i];       \
    d[i] = (expr);                  \
  }                                 \
  break
/* A NaN operand gives NaN in Max and Min, and +0 is more than -0 (docs/zh, boundary values). */
static inline float max2(float x, float y) {
  return x == y ? f32_of(u32_of(x) & u32_of(y)) : x > y || x != x ? x : y;
}
static inline float min2(float x, float y) {
  return x == y ? f32_of(u32_of(x) | u32_of(y)) : x < y || x != x ? x : y;
}
/* -0 takes the slope (docs/zh, boundary values). */
static inline float leaky(float x, float y) {
  return x > 0 || u32_of(x) == 0 ? x : mul(x, y);
}
static void binary_f32(int op, float *d, const float *a, const float *b, int64_t n) {
  switch (op) {
  case ACSIM_OP_Add: LOOP2(add(x, y));
  case ACSIM_OP_Sub: LOOP2(x - y);
  case ACSIM_OP_Mul: LOOP2(mul(x, y));
  case ACSIM_OP_Div: LOOP2(x / y);
  case ACSIM_OP_Max: LOOP2(max2(x, y));
  case ACSIM_OP_Min: LOOP2(min2(x, y));
  case ACSIM_OP_AddRelu: LOOP2(relu(add(x, y)));
  case ACSIM_OP_SubRelu: LOOP2(relu(x - y));
  }
}
static void scalar_f32(int op, float *d, const float *a, float y, int64_t n) {
  switch (op) {
  case ACSIM_OP_Adds: LOOP1(add(x, y));
  case ACSIM_OP_Muls: LOOP1(mul(x, y));
  case ACSIM_OP_Maxs: LOOP1(max2(x, y));
  case ACSIM_OP_Mins: LOOP1(min2(x, y));
  case ACSIM_OP_LeakyRelu: LOOP1(leaky(x, y));
  }
}
static void fma_f32(float *d, const float *a, const float *b, float s, int64_t n) {
  if (b)
    for (int64_t i = 0; i < n; i++) d[i] = fma_d(d[i], a[i], b[i]);
  else
    for (int64_t i = 0; i < n; i++) d[i] = fma_d(d[i], a[i], s);
}

/* ---- integer loops: arithmetic wraps ---- */

#define INT_LOOPS(T, U, name)                                                                                     \
  static void unary_##name(int op, T *d, const T *a, int64_t n) {                                                 \
    if (op == ACSIM_OP_Not)                                                                                       \
      for (int64_t i = 0; i < n; i++) d[i] = (T)~a[i];                                                            \
    else /* Relu */                                                                                               \
      for (int64_t i = 0; i < n; i++) d[i] = a[i] > 0 ? a[i] : 0;                                                 \
  }                                                                                                               \
  static void binary_##name(int op, T *d, const T *a, const T *b, int64_t n) {                                    \
    switch (op) {                                                                                                 \
    case ACSIM_OP_Add:                                                                                            \
      for (int64_t i = 0; i < n; i++) d[i] = (T)((U)a[i] + (U)b[i]);                                              \
      break;                                                                                                      \
    case ACSIM_OP_Sub:                                                                                            \
      for (int64_t i = 0; i < n; i++) d[i] = (T)((U)a[i] - (U)b[i]);                                              \
      break;                                                                                                      \
    case ACSIM_OP_AddRelu:                                                                                        \
      for (int64_t i = 0; i < n; i++) {                                                                           \
        T x = (T)((U)a[i] + (U)b[i]);                                                                             \
        d[i] = x > 0 ? x : 0;                                                                                     \
      }                                                                                                           \
      break;                                                                                                      \
    case ACSIM_OP_SubRelu:                                                                                        \
      for (int64_t i = 0; i < n; i++) {                                                                           \
        T x = (T)((U)a[i] - (U)b[i]);                                                                             \
        d[i] = x > 0 ? x : 0;                                                                                     \
      }                                                                                                           \
      break;                                                                                                      \
    case ACSIM_OP_Mul:                                                                                            \
      for (int64_t i = 0; i < n; i++) d[i] = (T)((uint32_t)a[i] * (uint32_t)b[i]);                                \
      break;                                                                                                      \
    case ACSIM_OP_Max:                                                                                            \
      for (int64_t i = 0; i < n; i++) d[i] = a[i] > b[i] ? a[i] : b[i];                                           \
      break;                                                                                                      \
    case ACSIM_OP_Min:                                                                                            \
      for (int64_t i = 0; i < n; i++) d[i] = a[i] < b[i] ? a[i] : b[i];                                           \
      break;                                                                                                      \
    case ACSIM_OP_And:                                                                                            \
      for (int64_t i = 0; i < n; i++) d[i] = (T)(a[i] & b[i]);                                                    \
      break;                                                                                                      \
    case ACSIM_OP_Or:                                                                                             \
      for (int64_t i = 0; i < n; i++) d[i] = (T)(a[i] | b[i]);                                                    \
      break;                                                                                                      \
    }                                                                                                             \
  }                                                                                                               \
  static void scalar_##name(int op, T *d, const T *a, int64_t v, int64_t n) {                                     \
    const T y = (T)v;                                                                                             \
    const int bits = (int)sizeof(T) * 8;                                                                          \
    const bool beyond = v >= bits || v < 0;                                                                       \
    const int by = beyond ? bits - 1 : (int)v;                                                                    \
    const uint32_t sign = (T)-1 > 0 ? 0 : 1u << (bits - 1); /* stays in arithmetic shifts (docs/zh, ShiftLeft) */ \
    switch (op) {                                                                                                 \
    case ACSIM_OP_Adds:                                                                                           \
      for (int64_t i = 0; i < n; i++) d[i] = (T)((U)a[i] + (U)y);                                                 \
      break;                                                                                                      \
    case ACSIM_OP_Muls:                                                                                           \
      for (int64_t i = 0; i < n; i++) d[i] = (T)((uint32_t)a[i] * (uint32_t)y);                                   \
      break;                                                                                                      \
    case ACSIM_OP_Maxs:                                                                                           \
      for (int64_t i = 0; i < n; i++) d[i] = a[i] > y ? a[i] : y;                                                 \
      break;                                                                                                      \
    case ACSIM_OP_Mins:                                                                                           \
      for (int64_t i = 0; i < n; i++) d[i] = a[i] < y ? a[i] : y;                                                 \
      break;                                                                                                      \
    case ACSIM_OP_ShiftLeft:                                                                                      \
      for (int64_t i = 0; i < n; i++)                                                                             \
        d[i] = (T)(U)((beyond ? 0 : ((uint32_t)(U)a[i] << by) & ~sign) | ((U)a[i] & sign));                       \
      break;                                                                                                      \
    case ACSIM_OP_ShiftRight:                                                                                     \
      for (int64_t i = 0; i < n; i++) d[i] = beyond && !sign ? 0 : (T)(a[i] >> by);                               \
      break;                                                                                                      \
    }                                                                                                             \
  }
INT_LOOPS(int16_t, uint16_t, i16)
INT_LOOPS(uint16_t, uint16_t, u16)
INT_LOOPS(int32_t, uint32_t, i32)
INT_LOOPS(uint32_t, uint32_t, u32)

/* ---- casts ---- */

static void i32_to_f32(float *d, const int32_t *a, int64_t n) {
  for (int64_t i = 0; i < n; i++) d[i] = (float)a[i];
}

/* The saturated integer of an integral float. The conversion is only made of numbers that fit. */
static inline int32_t int_of(float x) {
  float fits = x >= 0x1p31f || x < -0x1p31f || x != x ? 0.0f : x;
  int32_t k = (int32_t)fits;
  k = x >= 0x1p31f ? INT32_MAX : k;
  return x < -0x1p31f ? INT32_MIN : k;
}
static void f32_to_i32(int32_t *d, const float *a, int r, int64_t n) {
  switch (r) {
  case AC_RN_TRUNC:
    for (int64_t i = 0; i < n; i++) d[i] = int_of(a[i]);
    break;
  case AC_RN_FLOOR:
    for (int64_t i = 0; i < n; i++) d[i] = int_of(floorf(a[i]));
    break;
  case AC_RN_CEIL:
    for (int64_t i = 0; i < n; i++) d[i] = int_of(ceilf(a[i]));
    break;
  case AC_RN_ROUND: /* halves away from zero: the sum is exact in double */
    for (int64_t i = 0; i < n; i++) d[i] = int_of((float)trunc((double)a[i] + copysign(0.5, (double)a[i])));
    break;
  default:
    for (int64_t i = 0; i < n; i++) d[i] = int_of(rintf(a[i]));
    break;
  }
}

#define NARROW(T, least, most)                                                                         \
  for (int64_t i = 0; i < n; i++) ((T *)d)[i] = (T)(a[i] < least ? least : a[i] > most ? most : a[i]); \
  break
static void narrow_i32(int dtype, void *d, const int32_t *a, int64_t n) {
  switch (dtype) {
  case ACSIM_I16: NARROW(int16_t, INT16_MIN, INT16_MAX);
  case ACSIM_I8: NARROW(int8_t, INT8_MIN, INT8_MAX);
  case ACSIM_U8: NARROW(uint8_t, 0, UINT8_MAX);
  default: memcpy(d, a, (size_t)n * sizeof *a); break;
  }
}

/* ---- compare and select ---- */

enum { FEW = 64 };

/* Eight bytes that are 0 or 1 to eight bits. */
static inline uint8_t pack8(const uint8_t *hit) {
  uint64_t w;
  memcpy(&w, hit, 8);
  return (uint8_t)(w * 0x0102040810204080ull >> 56);
}
#define HITS(expr)                                                         \
  for (int64_t i = 0; i < n; i += FEW) {                                   \
    int64_t m = n - i < FEW ? n - i : FEW;                                 \
    for (int64_t k = 0; k < m; k++) hit[k] = (expr);                       \
    for (int64_t k = 0; k < m; k += 8) bits[(i + k) / 8] = pack8(hit + k); \
  }                                                                        \
  break
/* NE of a NaN is false, too (docs/zh, boundary values: Compare). */
#define COMPARE_LOOPS(T, name)                                                         \
  static void name##_two(int mode, uint8_t *bits, const T *a, const T *b, int64_t n) { \
    uint8_t hit[FEW];                                                                  \
    switch (mode) {                                                                    \
    case 0: HITS(a[i + k] < b[i + k]);                                                 \
    case 1: HITS(a[i + k] > b[i + k]);                                                 \
    case 2: HITS(a[i + k] == b[i + k]);                                                \
    case 3: HITS(a[i + k] <= b[i + k]);                                                \
    case 4: HITS(a[i + k] >= b[i + k]);                                                \
    default: HITS(a[i + k]<b[i + k] || a[i + k]> b[i + k]);                            \
    }                                                                                  \
  }                                                                                    \
  static void name##_one(int mode, uint8_t *bits, const T *a, T y, int64_t n) {        \
    uint8_t hit[FEW];                                                                  \
    switch (mode) {                                                                    \
    case 0: HITS(a[i + k] < y);                                                        \
    case 1: HITS(a[i + k] > y);                                                        \
    case 2: HITS(a[i + k] == y);                                                       \
    case 3: HITS(a[i + k] <= y);                                                       \
    case 4: HITS(a[i + k] >= y);                                                       \
    default: HITS(a[i + k]<y || a[i + k]> y);                                          \
    }                                                                                  \
  }                                                                                    \
  static void name(int mode, uint8_t *bits, const T *a, const T *b, T y, int64_t n) {  \
    if (b)                                                                             \
      name##_two(mode, bits, a, b, n);                                                 \
    else                                                                               \
      name##_one(mode, bits, a, y, n);                                                 \
  }
COMPARE_LOOPS(float, compare_f32)
COMPARE_LOOPS(int32_t, compare_i32)

/* n (at most FEW) bits to bytes that are 0 or 0xff. */
static inline void spread(uint8_t *on, const uint8_t *bits, int64_t n) {
  for (int64_t k = 0; k < n; k++) on[k] = (uint8_t)(0 - (bits[k / 8] >> (k % 8) & 1));
}
#define SELECT_LOOPS(T, name)                                                           \
  static void name(T *d, const uint8_t *bits, const T *a, const T *b, T s, int64_t n) { \
    uint8_t on[FEW];                                                                    \
    for (int64_t i = 0; i < n; i += FEW) {                                              \
      int64_t m = n - i < FEW ? n - i : FEW;                                            \
      spread(on, bits + i / 8, m);                                                      \
      if (b)                                                                            \
        for (int64_t k = 0; k < m; k++) {                                               \
          T x = a[i + k], y = b[i + k];                                                 \
          d[i + k] = on[k] ? x : y;                                                     \
        }                                                                               \
      else                                                                              \
        for (int64_t k = 0; k < m; k++) {                                               \
          T x = a[i + k];                                                               \
          d[i + k] = on[k] ? x : s;                                                     \
        }                                                                               \
    }                                                                                   \
  }
SELECT_LOOPS(uint16_t, select16)
SELECT_LOOPS(uint32_t, select32)

/* ---- reductions ---- */

static void pairs_f32(float *d, const float *a, int64_t n) {
  float sum[FEW];
  for (int64_t i = 0; i < n; i += FEW) { /* through a buffer: d may be a */
    int64_t m = n - i < FEW ? n - i : FEW;
    for (int64_t k = 0; k < m; k++) sum[k] = add(a[2 * (i + k)], a[2 * (i + k) + 1]);
    memcpy(d + i, sum, (size_t)m * sizeof *sum);
  }
}

/* The compiler's vector types, as wide as the level has them: it would not split a maximum by itself. */
#if defined(__AVX512F__)
enum { LANES = 16 };
#elif defined(__AVX2__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
typedef float lanes_f __attribute__((vector_size(LANES * 4)));
typedef int32_t lanes_i __attribute__((vector_size(LANES * 4)));
static bool peak_f32(const float *a, int64_t n, bool largest, float *value) {
  float sign = largest ? 1.0f : -1.0f, m = sign * a[0];
  int32_t nan = m != m;
  int64_t i = 0;
  if (n >= LANES) {
    lanes_f x, top;
    lanes_i odd = {0};
    memcpy(&top, a, sizeof top);
    top *= sign;
    for (; i + LANES <= n; i += LANES) {
      memcpy(&x, a + i, sizeof x);
      x *= sign;
      lanes_i more = x > top;
      top = (lanes_f)(((lanes_i)x & more) | ((lanes_i)top & ~more));
      odd |= x != x; // NOLINT(misc-redundant-expression): NaN
    }
    for (int k = 0; k < LANES; k++) {
      m = top[k] > m ? top[k] : m;
      nan |= odd[k];
    }
  }
  for (; i < n; i++) {
    float x = sign * a[i];
    m = x > m ? x : m;
    nan |= x != x;
  }
  *value = sign * m;
  return !nan;
}

static bool all_ff(const uint8_t *p, int64_t n) {
  int64_t i = 0;
  for (; i + 256 <= n; i += 256) {
    uint8_t all = 0xff;
    for (int k = 0; k < 256; k++) all &= p[i + k];
    if (all != 0xff) return false;
  }
  uint8_t rest = 0xff;
  for (; i < n; i++) rest &= p[i];
  return rest == 0xff;
}

const acsim_simd LEVEL_TABLE = {
    .name = LEVEL_NAME,
    .unary_f32 = unary_f32,
    .binary_f32 = binary_f32,
    .scalar_f32 = scalar_f32,
    .fma_f32 = fma_f32,
#define X(type, T) .unary_##type = unary_##type, .binary_##type = binary_##type, .scalar_##type = scalar_##type,
    ACSIM_SIMD_INTS(X)
#undef X
        .from_half = from_half,
    .to_half = to_half,
    .from_bf = from_bf,
    .to_bf = to_bf,
    .f32_to_i32 = f32_to_i32,
    .i32_to_f32 = i32_to_f32,
    .narrow_i32 = narrow_i32,
    .compare_f32 = compare_f32,
    .compare_i32 = compare_i32,
    .select16 = select16,
    .select32 = select32,
    .pairs_f32 = pairs_f32,
    .peak_f32 = peak_f32,
    .all_ff = all_ff,
};

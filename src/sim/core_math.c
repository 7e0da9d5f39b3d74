/* The values of instructions. The loops are core_simd_body.h's.
 *
 * float: IEEE single operations; exp and ln through a double polynomial, so that the float result is the correctly rounded one
 * but for a few cases in 10^8. half: computed in float and rounded once more, which for + - * / and sqrt equals a single
 * rounding (24 >= 2 * 11 + 2 bits). */
#include "sim/core_simd.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 1024 };

static void to_float(int type, float *d, const void *a, int64_t n) {
  if (type == ACSIM_F16)
    acsim_simd_now()->from_half(d, a, n);
  else if (type == ACSIM_BF16)
    acsim_simd_now()->from_bf(d, a, n);
  else
    memcpy(d, a, (size_t)n * 4);
}
static void from_float(int type, void *d, const float *a, int64_t n, bool saturate) {
  if (type == ACSIM_F16)
    acsim_simd_now()->to_half(d, a, n, saturate);
  else if (type == ACSIM_BF16)
    acsim_simd_now()->to_bf(d, a, n, saturate);
  else
    memcpy(d, a, (size_t)n * 4);
}

/* ---- dispatch; half goes through float in chunks ---- */

void acsim_math_unary(int op, int type, void *d, const void *a, int64_t n, bool saturate) {
  const acsim_simd *s = acsim_simd_now();
  switch (type) {
  case ACSIM_F32: s->unary_f32(op, d, a, n); return;
  case ACSIM_I16: s->unary_i16(op, d, a, n); return;
  case ACSIM_U16: s->unary_u16(op, d, a, n); return;
  case ACSIM_I32: s->unary_i32(op, d, a, n); return;
  case ACSIM_U32: s->unary_u32(op, d, a, n); return;
  default: break;
  }
  float x[CHUNK];
  for (int64_t at = 0; at < n; at += CHUNK) {
    int64_t m = n - at < CHUNK ? n - at : CHUNK;
    to_float(type, x, (const uint16_t *)a + at, m);
    s->unary_f32(op, x, x, m);
    from_float(type, (uint16_t *)d + at, x, m, saturate);
  }
}

void acsim_math_binary(int op, int type, void *d, const void *a, const void *b, int64_t n, bool saturate) {
  const acsim_simd *s = acsim_simd_now();
  switch (type) {
  case ACSIM_F32: s->binary_f32(op, d, a, b, n); return;
  case ACSIM_I16: s->binary_i16(op, d, a, b, n); return;
  case ACSIM_U16: s->binary_u16(op, d, a, b, n); return;
  case ACSIM_I32: s->binary_i32(op, d, a, b, n); return;
  case ACSIM_U32: s->binary_u32(op, d, a, b, n); return;
  default: break;
  }
  float x[CHUNK], y[CHUNK];
  for (int64_t at = 0; at < n; at += CHUNK) {
    int64_t m = n - at < CHUNK ? n - at : CHUNK;
    to_float(type, x, (const uint16_t *)a + at, m);
    to_float(type, y, (const uint16_t *)b + at, m);
    s->binary_f32(op, x, x, y, m);
    from_float(type, (uint16_t *)d + at, x, m, saturate);
  }
}

void acsim_math_scalar(int op, int type, void *d, const void *a, double f, int64_t v, int64_t n, bool saturate) {
  const acsim_simd *s = acsim_simd_now();
  switch (type) {
  case ACSIM_F32: s->scalar_f32(op, d, a, (float)f, n); return;
  case ACSIM_I16: s->scalar_i16(op, d, a, v, n); return;
  case ACSIM_U16: s->scalar_u16(op, d, a, v, n); return;
  case ACSIM_I32: s->scalar_i32(op, d, a, v, n); return;
  case ACSIM_U32: s->scalar_u32(op, d, a, v, n); return;
  default: break;
  }
  float x[CHUNK];
  for (int64_t at = 0; at < n; at += CHUNK) {
    int64_t m = n - at < CHUNK ? n - at : CHUNK;
    to_float(type, x, (const uint16_t *)a + at, m);
    s->scalar_f32(op, x, x, (float)f, m);
    from_float(type, (uint16_t *)d + at, x, m, saturate);
  }
}

void acsim_math_shift_round(int type, void *d, const void *a, int bits, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    int64_t x = type == ACSIM_I16 ? ((const int16_t *)a)[i] : ((const int32_t *)a)[i];
    x = (x >> bits) + (x >> (bits - 1) & 1);
    if (type == ACSIM_I16)
      ((int16_t *)d)[i] = (int16_t)x;
    else
      ((int32_t *)d)[i] = (int32_t)x;
  }
}

/* Where a product of halves is beyond their range: infinite before the sum, or with saturation the largest number (of NaN: 0). */
static void far_products(float *z, const float *before, const float *x, const float *y, float f, int64_t n,
                         bool saturate) {
  for (int64_t i = 0; i < n; i++) {
    float p = x[i] * (y ? y[i] : f), limit = saturate ? 65504.0f : HUGE_VALF;
    bool nan = p != p;
    if (nan ? !saturate : fabsf(p) < 65520) continue;
    z[i] = before[i] + (nan ? 0 : copysignf(limit, p));
  }
}

/* Fused: one rounding of the sum. */
static void muladd(int dtype, int type, void *d, const void *a, const void *b, double f, int64_t n, bool saturate) {
  const acsim_simd *s = acsim_simd_now();
  if (dtype == ACSIM_F32 && type == ACSIM_F32) {
    s->fma_f32(d, a, b, (float)f, n);
    return;
  }
  float x[CHUNK], y[CHUNK], z[CHUNK];
  int ds = acsim_type_bytes(dtype), es = acsim_type_bytes(type);
  for (int64_t at = 0; at < n; at += CHUNK) {
    int64_t m = n - at < CHUNK ? n - at : CHUNK;
    to_float(dtype, z, (const uint8_t *)d + at * ds, m);
    to_float(type, x, (const uint8_t *)a + at * es, m);
    if (b) to_float(type, y, (const uint8_t *)b + at * es, m);
    float before[CHUNK];
    bool halves = dtype == ACSIM_F16 && type == ACSIM_F16;
    if (halves) memcpy(before, z, (size_t)m * sizeof *z);
    s->fma_f32(z, x, b ? y : NULL, (float)f, m);
    if (halves) far_products(z, before, x, b ? y : NULL, (float)f, m, saturate);
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
      ((float *)d)[i] = (float)(round_to_int(x, r) + 0.0); /* never -0 (docs/zh, boundary values: Cast) */
    else if (dtype == ACSIM_F32)
      ((float *)d)[i] = (float)x;
    else
      ac_store((ac_dtype)dtype, d, i, round_to_int(x, r)); /* saturates; NaN gives 0 */
  }
}

/* inf to the largest number, NaN to 0; the nearest modes do this as they round. */
void acsim_math_saturate(int type, void *to, int64_t n) {
  uint16_t *d = to;
  if (type != ACSIM_F16 && type != ACSIM_BF16) return;
  uint16_t inf = type == ACSIM_F16 ? 0x7c00 : 0x7f80;
  for (int64_t i = 0; i < n; i++) {
    uint16_t m = d[i] & 0x7fff;
    d[i] = m < inf ? d[i] : m > inf ? 0 : (uint16_t)((d[i] & 0x8000) | (inf - 1));
  }
}

static bool is_small_int(int type) {
  return type == ACSIM_I32 || type == ACSIM_I16 || type == ACSIM_I8 || type == ACSIM_U8;
}
/* Rounded to 32 bits, which saturate, and from there into the narrower range. */
static void float_to_int(int dtype, int type, int r, void *d, const void *a, int64_t n) {
  const acsim_simd *s = acsim_simd_now();
  int es = acsim_type_bytes(type), ds = acsim_type_bytes(dtype);
  for (int64_t at = 0; at < n; at += CHUNK) {
    float x[CHUNK];
    int32_t k[CHUNK];
    int64_t m = n - at < CHUNK ? n - at : CHUNK;
    to_float(type, x, (const uint8_t *)a + at * es, m);
    s->f32_to_i32(k, x, r, m);
    s->narrow_i32(dtype, (uint8_t *)d + at * ds, k, m);
  }
}

void acsim_math_cast(int dtype, int type, int r, void *d, const void *a, int64_t n, bool saturate) {
  const acsim_simd *s = acsim_simd_now();
  bool nearest = r == AC_RN_NONE || r == AC_RN_RINT;
  if (type == ACSIM_F16 && dtype == ACSIM_F32)
    s->from_half(d, a, n);
  else if (type == ACSIM_BF16 && dtype == ACSIM_F32)
    s->from_bf(d, a, n);
  else if (type == ACSIM_F32 && dtype == ACSIM_F16 && nearest)
    s->to_half(d, a, n, saturate);
  else if (type == ACSIM_F32 && dtype == ACSIM_BF16 && nearest)
    s->to_bf(d, a, n, saturate);
  else if (type == ACSIM_F32 && dtype == ACSIM_I32)
    s->f32_to_i32(d, a, r, n);
  else if (type == ACSIM_I32 && dtype == ACSIM_F32 && nearest)
    s->i32_to_f32(d, a, n);
  else if ((type == ACSIM_F32 || type == ACSIM_F16 || type == ACSIM_BF16) && is_small_int(dtype))
    float_to_int(dtype, type, r, d, a, n);
  else
    cast_slow(dtype, type, r, d, a, n);
  if (saturate && !nearest) acsim_math_saturate(dtype, d, n);
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

void acsim_math_compare_bits(int mode, int type, uint8_t *bits, const void *a, const void *b, double f, int64_t v,
                             int64_t n) {
  const acsim_simd *s = acsim_simd_now();
  if (type == ACSIM_F32) {
    s->compare_f32(mode, bits, a, b, (float)f, n);
  } else if (type == ACSIM_F16) {
    float x[CHUNK], y[CHUNK];
    for (int64_t at = 0; at < n; at += CHUNK) {
      int64_t m = n - at < CHUNK ? n - at : CHUNK;
      s->from_half(x, (const uint16_t *)a + at, m);
      if (b) s->from_half(y, (const uint16_t *)b + at, m);
      s->compare_f32(mode, bits + at / 8, x, b ? y : NULL, (float)f, m);
    }
  } else {
    s->compare_i32(mode, bits, a, b, (int32_t)v, n);
  }
}

void acsim_math_select(int bytes, void *d, const uint8_t *bits, int64_t period, const void *a, const void *b,
                       const void *scalar, int64_t n) {
  const acsim_simd *s = acsim_simd_now();
  uint32_t one = 0;
  if (!b) memcpy(&one, scalar, (size_t)bytes);
  for (int64_t at = 0; at < n; at += period) {
    int64_t m = n - at < period ? n - at : period;
    if (bytes == 2)
      s->select16((uint16_t *)d + at, bits, (const uint16_t *)a + at, b ? (const uint16_t *)b + at : NULL,
                  (uint16_t)one, m);
    else
      s->select32((uint32_t *)d + at, bits, (const uint32_t *)a + at, b ? (const uint32_t *)b + at : NULL, one, m);
  }
}

/* Their trees level by level, many at a time. */
void acsim_math_sum_rows(int type, void *d, const void *a, int64_t rows, int lanes, bool saturate) {
  const acsim_simd *s = acsim_simd_now();
  enum { ROWS = 16, MOST = 128 };
  int bytes = acsim_type_bytes(type);
  for (int64_t at = 0; at < rows; at += ROWS) {
    float x[ROWS * MOST];
    uint16_t h[ROWS * MOST / 2];
    int64_t m = rows - at < ROWS ? rows - at : ROWS;
    const uint8_t *from = (const uint8_t *)a + at * lanes * bytes;
    if (type != ACSIM_F32) to_float(type, x, from, m * lanes);
    for (int64_t n = m * lanes / 2; n >= m; n /= 2) {
      s->pairs_f32(x, type == ACSIM_F32 && n == m * lanes / 2 ? (const float *)(const void *)from : x, n);
      if (type == ACSIM_F32) continue;
      from_float(type, h, x, n, saturate); /* every partial sum is rounded */
      to_float(type, x, h, n);
    }
    from_float(type, (uint8_t *)d + at * bytes, x, m, saturate);
  }
}

bool acsim_math_peak(int type, const void *a, int64_t n, bool largest, int64_t *index) {
  const acsim_simd *s = acsim_simd_now();
  float x[CHUNK], top = 0;
  if (type != ACSIM_F32 && type != ACSIM_F16) return false;
  *index = -1;
  for (int64_t at = 0; at < n; at += CHUNK) {
    int64_t m = n - at < CHUNK ? n - at : CHUNK;
    const float *p = (const float *)a + at;
    float t = 0;
    if (type == ACSIM_F16) s->from_half(x, (const uint16_t *)a + at, m);
    if (type == ACSIM_F16) p = x;
    if (!s->peak_f32(p, m, largest, &t)) return false;
    if (*index >= 0 && !(largest ? t > top : t < top)) continue;
    top = t;
    int64_t k = 0;
    while (p[k] != t) k++;
    *index = at + k;
  }
  return true;
}

void acsim_math_tree_sum(int type, void *d, const void *a, const uint64_t mask[2], int lanes, bool saturate) {
  if ((type == ACSIM_F32 && lanes == 64 && mask[0] == ~0ull) ||
      (type != ACSIM_F32 && lanes == 128 && (mask[0] & mask[1]) == ~0ull)) {
    acsim_math_sum_rows(type, d, a, 1, lanes, saturate);
    return;
  }
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

/* ---- the scalar unit ---- */

float acsim_scalar_sqrt(float x) {
  return sqrtf(x);
}
double acsim_scalar_round(double x, int32_t mode) {
  switch (mode) {
  case AC_RN_RINT: return rint(x);
  case AC_RN_FLOOR: return floor(x);
  case AC_RN_CEIL: return ceil(x);
  case AC_RN_ROUND: return round(x);
  case AC_RN_TRUNC: return trunc(x);
  default: return x;
  }
}

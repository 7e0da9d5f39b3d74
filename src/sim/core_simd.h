/* The inner loops of the core: one source (core_simd_body.h), compiled once for each level of vector instructions that a host may
 * have, chosen when the program runs. A level changes how fast a loop is, never a bit of what it gives: IEEE operations one by one,
 * nothing fused, sums in the order that the source says.
 *
 * Loops take n elements; a destination may be one of the sources. */
#ifndef AC_SIM_CORE_SIMD_H
#define AC_SIM_CORE_SIMD_H

#include "sim/core_internal.h"

/* unary, binary and scalar of one integer type; op is an ACSIM_OP_... */
#define ACSIM_SIMD_INTS(X) X(i16, int16_t) X(u16, uint16_t) X(i32, int32_t) X(u32, uint32_t)

typedef struct {
  const char *name; /* "base", "avx2", "avx512" */
  /* float: exp and ln are the correctly rounded values but for near-ties */
  void (*unary_f32)(int op, float *d, const float *a, int64_t n);
  void (*binary_f32)(int op, float *d, const float *a, const float *b, int64_t n);
  void (*scalar_f32)(int op, float *d, const float *a, float y, int64_t n);
  /* d += a * b, or a * s where b is NULL: in double, rounded once */
  void (*fma_f32)(float *d, const float *a, const float *b, float s, int64_t n);
#define X(name, T)                                                        \
  void (*unary_##name)(int op, T *d, const T *a, int64_t n);              \
  void (*binary_##name)(int op, T *d, const T *a, const T *b, int64_t n); \
  void (*scalar_##name)(int op, T *d, const T *a, int64_t v, int64_t n);
  ACSIM_SIMD_INTS(X)
#undef X
  /* half and bfloat16 from and to float, to nearest even; payloads of NaN stay */
  void (*from_half)(float *d, const uint16_t *a, int64_t n);
  void (*to_half)(uint16_t *d, const float *a, int64_t n, bool saturate);
  void (*from_bf)(float *d, const uint16_t *a, int64_t n);
  void (*to_bf)(uint16_t *d, const float *a, int64_t n, bool saturate);
  /* NaN gives 0, what is beyond the range its end; r: an ac_round */
  void (*f32_to_i32)(int32_t *d, const float *a, int r, int64_t n);
  void (*i32_to_f32)(float *d, const int32_t *a, int64_t n);
  /* to ACSIM_I32, I16, I8 or U8: saturates */
  void (*narrow_i32)(int dtype, void *d, const int32_t *a, int64_t n);
  /* mode as acsim_math_compare_bits; n a multiple of 8; b NULL: the scalar */
  void (*compare_f32)(int mode, uint8_t *bits, const float *a, const float *b, float y, int64_t n);
  void (*compare_i32)(int mode, uint8_t *bits, const int32_t *a, const int32_t *b, int32_t y, int64_t n);
  /* d[i] = bit i of bits ? a[i] : b[i]; b NULL: the scalar */
  void (*select16)(uint16_t *d, const uint8_t *bits, const uint16_t *a, const uint16_t *b, uint16_t s, int64_t n);
  void (*select32)(uint32_t *d, const uint8_t *bits, const uint32_t *a, const uint32_t *b, uint32_t s, int64_t n);
  /* d[i] = a[2i] + a[2i+1], n of them; d may be a */
  void (*pairs_f32)(float *d, const float *a, int64_t n);
  /* Largest (sign 1) or, of the negated, smallest (sign -1) of n > 0 elements none of which is a NaN; a NaN among them: false. */
  bool (*peak_f32)(const float *a, int64_t n, bool largest, float *value);
  /* Are all bytes 0xff? */
  bool (*all_ff)(const uint8_t *p, int64_t n);
} acsim_simd;

/* The level in use: the best that the host has, or what ASCENDCRAFT_SIMD names ("base", "avx2", "avx512"; one that the host does not have
 * is as if nothing were named). */
const acsim_simd *acsim_simd_now(void);
/* Every level that this host can run, "base" first; ends with NULL. */
const acsim_simd *const *acsim_simd_levels(void);
/* Changes the level for the whole process (tests, measurements). NULL: as at the start. */
void acsim_simd_use(const acsim_simd *level);

extern const acsim_simd acsim_simd_base;
#if defined(__x86_64__)
extern const acsim_simd acsim_simd_avx2, acsim_simd_avx512;
#endif

#endif

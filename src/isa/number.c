/* Exact conversions between binary64/32 and the 16-bit formats: binary16 (5 exponent bits, 11 significant) and bfloat16
 * (8 exponent bits, 8 significant). Every conversion rounds once.
 *
 * Overflow follows IEEE 754 for the mode: nearest modes give inf; a directed mode that points toward zero, and ODD, give the
 * largest finite number. NaN stays NaN (quiet, sign kept). */
#include "isa/isa.h"

#include <string.h>

static uint64_t bits64(double d) {
  uint64_t u;
  memcpy(&u, &d, sizeof u);
  return u;
}
static float float_of(uint32_t u) {
  float f;
  memcpy(&f, &u, sizeof f);
  return f;
}
static uint32_t bits32(float f) {
  uint32_t u;
  memcpy(&u, &f, sizeof u);
  return u;
}

float ac_f16_to_f32(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = (h >> 10) & 31, m = h & 0x3ff;
  if (e == 31) return float_of(sign | 0x7f800000 | m << 13);
  if (e) return float_of(sign | (e + 112) << 23 | m << 13);
  float f = (float)m * 0x1p-24f; /* subnormal or zero: exact in binary32 */
  return sign ? -f : f;
}
float ac_bf16_to_f32(uint16_t b) {
  return float_of((uint32_t)b << 16);
}

/* Drops the low `drop` bits of the significand m of a number with the given sign. */
static uint64_t round_bits(uint64_t m, int drop, bool neg, ac_round r) {
  if (drop <= 0) return m << -drop;
  if (drop > 62) { /* everything goes: only whether it was zero matters */
    bool any = m != 0;
    bool up = any && ((r == AC_RN_CEIL && !neg) || (r == AC_RN_FLOOR && neg) || r == AC_RN_ODD);
    return up ? 1 : 0;
  }
  uint64_t q = m >> drop, rest = m & ((1ull << drop) - 1), half = 1ull << (drop - 1);
  if (!rest) return q;
  switch (r) {
  case AC_RN_NONE:
  case AC_RN_RINT: return q + (rest > half || (rest == half && (q & 1)));
  case AC_RN_ROUND: return q + (rest >= half);
  case AC_RN_FLOOR: return q + neg;
  case AC_RN_CEIL: return q + !neg;
  case AC_RN_TRUNC: return q;
  case AC_RN_ODD: return q | 1;
  }
  return q;
}

/* `sig` significant bits with the hidden one, `ebits` exponent bits. */
static uint16_t narrow(double d, int sig, int ebits, ac_round r) {
  uint64_t u = bits64(d);
  bool neg = u >> 63;
  uint16_t sign = neg ? 0x8000 : 0;
  int e = (int)(u >> 52 & 0x7ff), bias = (1 << (ebits - 1)) - 1, mbits = sig - 1;
  uint64_t m = u & 0xfffffffffffffull;
  uint16_t inf = (uint16_t)(((1u << ebits) - 1) << mbits);
  if (e == 0x7ff) return sign | inf | (m ? (uint16_t)(1u << (mbits - 1) | (uint16_t)(m >> (52 - mbits))) : 0);
  if (e)
    m |= 1ull << 52;
  else
    e = 1;
  int exp = e - 1023;    /* value = m * 2^(exp - 52) */
  int emin = 1 - bias;   /* smallest normal exponent */
  int drop = 52 - mbits; /* of a normal result */
  if (exp < emin) drop += emin - exp;
  uint64_t q = round_bits(m, drop, neg, r);
  /* q has at most sig + 1 bits; encode so that a carry runs into the exponent by itself */
  uint64_t code = exp < emin ? q : q + ((uint64_t)(exp + bias - 1) << mbits);
  if (code >= inf) {
    bool toward_zero = r == AC_RN_TRUNC || r == AC_RN_ODD || (r == AC_RN_FLOOR && !neg) || (r == AC_RN_CEIL && neg);
    code = toward_zero ? (uint64_t)inf - 1 : inf;
  }
  return sign | (uint16_t)code;
}

uint16_t ac_f64_to_f16(double d, ac_round r) {
  return narrow(d, 11, 5, r);
}
uint16_t ac_f64_to_bf16(double d, ac_round r) {
  return narrow(d, 8, 8, r);
}

uint16_t ac_f32_to_f16(float f, ac_round r) {
  uint32_t u = bits32(f), a = u & 0x7fffffff;
  if ((r == AC_RN_RINT || r == AC_RN_NONE) && a >= 0x38800000 &&
      a < 0x477ff000) { /* normal, no overflow: the usual case */
    uint32_t v = a - 0x38000000;
    v += 0xfff + (v >> 13 & 1);
    return (uint16_t)((u >> 16 & 0x8000) | v >> 13);
  }
  return narrow((double)f, 11, 5, r);
}
uint16_t ac_f32_to_bf16(float f, ac_round r) {
  uint32_t u = bits32(f);
  if ((r == AC_RN_RINT || r == AC_RN_NONE) && (u & 0x7fffffff) < 0x7f7f8000)
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
  return narrow((double)f, 8, 8, r);
}

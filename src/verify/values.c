/* Input values of each kind: functions of (kind, dtype, seed, index), so that any part can be made alone and every run is the same. */
#include "verify/verify.h"

#include <float.h>
#include <math.h>

static const char *const names[] = {
#define V(id, name) [id] = name,
    AC_VALUE_KINDS(V)
#undef V
};
const char *ac_values_name(ac_values v) {
  return (unsigned)v < AC_VALUES_COUNT ? names[v] : "?";
}

/* splitmix64 (Steele, Lea and Flood 2014): a counter is enough of a state. */
static uint64_t bits(uint64_t seed, uint64_t i) {
  uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}
static double uniform(uint64_t seed, uint64_t i) {
  return (double)(bits(seed, i) >> 11) * 0x1p-53;
} /* [0, 1) */

/* Sum of twelve halves the cost of a logarithm and a sine; tails to six deviations are far enough. */
static double normal(uint64_t seed, uint64_t i) {
  uint64_t a = bits(seed, 3 * i), b = bits(seed, 3 * i + 1), c = bits(seed, 3 * i + 2);
  double s = 0;
  for (int k = 0; k < 4; k++) {
    s += (double)(a & 0xFFFF) + (double)(b & 0xFFFF) + (double)(c & 0xFFFF);
    a >>= 16;
    b >>= 16;
    c >>= 16;
  }
  return s * 0x1p-16 - 6 + 6 * 0x1p-16; /* the mean of 16 random bits is half a step below one half */
}

typedef struct {
  double max, min_normal, min_step;
  int lowest, highest; /* decimal exponents of TINY */
} limits;
static limits limits_of(ac_dtype d) {
  switch (d) {
  case AC_F16: return (limits){65504, 0x1p-14, 0x1p-24, -7, -3};
  case AC_BF16: return (limits){0x1.FEp127, FLT_MIN, 0x1p-133, -30, -6};
  default: return (limits){FLT_MAX, FLT_MIN, 0x1p-149, -30, -6};
  }
}

static double tiny(const limits *l, uint64_t seed, uint64_t i) {
  double u = uniform(seed, 2 * i), sign = bits(seed, 2 * i + 1) & 1 ? -1 : 1;
  if ((bits(seed, 2 * i + 1) >> 1) % 16 == 0)
    return sign * floor(u * 64) * l->min_step; /* subnormal, zero included */
  return sign * pow(10, l->lowest + u * (l->highest - l->lowest));
}

/* Half of the format's largest number at most, over 24 binary orders of magnitude. */
static double large(const limits *l, uint64_t seed, uint64_t i) {
  double u = uniform(seed, 2 * i);
  return (bits(seed, 2 * i + 1) & 1 ? -1 : 1) * l->max * exp2(-1 - (l->max > 1e5 ? 24 : 8) * u);
}

/* Rows take turns: a row has one kind of special value, every other row none, so that what spreads along a row (a sum, a softmax)
 * hides neither the other specials nor the ordinary rows. */
static double special(const limits *l, uint64_t seed, uint64_t row, uint64_t i) {
  double list[] = {INFINITY, -INFINITY, NAN, -0.0, l->max, -l->max, l->min_normal, -l->min_step};
  if (row % 2 == 0 && bits(seed ^ 0x5Eu, i) % 11 == 0) return list[row / 2 % AC_COUNT(list)];
  return normal(seed, i);
}

bool ac_values_fill(ac_values v, ac_dtype d, uint64_t seed, int64_t inner, void *data, int64_t n) {
  if (ac_dtypes[d].cls != AC_FLOATING) return false;
  limits l = limits_of(d);
  /* A vector has no further rows that could take their turn: pieces of it do. */
  uint64_t row_length = inner > 1 && inner < n ? (uint64_t)inner : 16;
  double equal = 0.25 + floor(uniform(seed, 0) * 8) * 0.25;
  for (int64_t k = 0; k < n; k++) {
    uint64_t i = (uint64_t)k;
    double x = 0;
    switch (v) {
    case AC_VALUES_NORMAL: x = normal(seed, i); break;
    case AC_VALUES_OWN:
    case AC_VALUES_UNIFORM: x = 2 * uniform(seed, i) - 1; break;
    case AC_VALUES_TINY: x = tiny(&l, seed, i); break;
    case AC_VALUES_LARGE: x = large(&l, seed, i); break;
    case AC_VALUES_SPECIAL: x = special(&l, seed, i / row_length, i); break;
    case AC_VALUES_EQUAL: x = equal; break;
    default: break;
    }
    ac_store(d, data, k, x);
  }
  return true;
}

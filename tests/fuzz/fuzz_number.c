/* Number formats by their definition: a value is sign * m * 2^q, and rounding looks for m. Slow and plain on purpose. */
#include "fuzz.h"

#include <math.h>
#include <string.h>

const int fz_bytes[FZ_TYPES] = {4, 2, 2, 8, 1, 1, 2, 2, 4, 4, 8, 8, 1, 1}; /* int4: of the byte that two share */
const char *const fz_type_names[FZ_TYPES] = {"float",  "half",  "bfloat16", "double", "int8",   "uint8", "int16",
                                             "uint16", "int32", "uint32",   "int64",  "uint64", "bool",  "int4"};

uint64_t fz_mix(uint64_t a, uint64_t b) {
  uint64_t z = a + 0x9e3779b97f4a7c15ull * (b + 1);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}
uint64_t fz_u64(fz_rng *r) {
  r->s += 0x9e3779b97f4a7c15ull;
  uint64_t z = r->s;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}
int64_t fz_in(fz_rng *r, int64_t lo, int64_t hi) {
  return lo >= hi ? lo : lo + (int64_t)(fz_u64(r) % (uint64_t)(hi - lo + 1));
}
bool fz_one_in(fz_rng *r, int n) {
  return fz_u64(r) % (uint64_t)n == 0;
}

bool fz_is_float(int type) {
  return type == ACSIM_F32 || type == ACSIM_F16 || type == ACSIM_BF16 || type == ACSIM_F64;
}
bool fz_is_signed(int type) {
  return type == ACSIM_I8 || type == ACSIM_I16 || type == ACSIM_I32 || type == ACSIM_I64;
}

/* mantissa bits without the hidden one, exponent bits */
static void format(int type, int *mantissa, int *exponent) {
  *mantissa = type == ACSIM_F16 ? 10 : type == ACSIM_BF16 ? 7 : 23;
  *exponent = type == ACSIM_F16 ? 5 : 8;
}

/* 2^n: the library's ldexp is what this program would spend its time in. */
static long double pow2(int n) {
  enum { MOST = 1200 };
  static long double table[2 * MOST + 1];
  if (n < -MOST || n > MOST) return ldexpl(1, n);
  if (table[n + MOST] == 0) table[n + MOST] = ldexpl(1, n);
  return table[n + MOST];
}

double fz_get(int type, const uint8_t *p) {
  if (type == ACSIM_F64) {
    double d;
    memcpy(&d, p, 8);
    return d;
  }
  if (!fz_is_float(type)) {
    int64_t v = fz_get_int(type, p);
    return type == ACSIM_U64 ? (double)(uint64_t)v : (double)v;
  }
  uint32_t u = 0;
  memcpy(&u, p, (size_t)fz_bytes[type]);
  int mb, eb;
  format(type, &mb, &eb);
  int bias = (1 << (eb - 1)) - 1, e = (int)(u >> mb) & ((1 << eb) - 1);
  double m = (double)(u & ((1u << mb) - 1)), sign = u >> (mb + eb) & 1 ? -1.0 : 1.0;
  if (e == (1 << eb) - 1) return m != 0 ? (double)NAN : sign * HUGE_VAL;
  if (!e) return sign * m * (double)pow2(1 - bias - mb);
  return sign * (m + (double)pow2(mb)) * (double)pow2(e - bias - mb);
}

int64_t fz_get_int(int type, const uint8_t *p) {
  uint64_t u = 0;
  int n = fz_bytes[type];
  for (int i = 0; i < n; i++) u |= (uint64_t)p[i] << (8 * i);
  if (fz_is_signed(type) && n < 8 && u >> (8 * n - 1) & 1) u |= ~0ull << (8 * n);
  return (int64_t)u;
}
void fz_put_int(int type, uint8_t *p, int64_t v) {
  for (int i = 0; i < fz_bytes[type]; i++) p[i] = (uint8_t)((uint64_t)v >> (8 * i));
}

long double fz_round_int(long double x, int round) {
  long double lo = floorl(x), rest = x - lo; /* rest: exact, 0 <= rest < 1 */
  if (!(rest > 0)) return x;                 /* integral, infinite or NaN */
  long double r;
  switch (round) {
  case FZ_FLOOR: r = lo; break;
  case FZ_CEIL: r = lo + 1; break;
  case FZ_TRUNC: r = x < 0 ? lo + 1 : lo; break;
  case FZ_ROUND: r = rest > 0.5 || (rest == 0.5 && x > 0) ? lo + 1 : lo; break;
  case FZ_ODD: r = fmodl(lo, 2) != 0 ? lo : lo + 1; break;
  default: r = rest > 0.5 || (rest == 0.5 && fmodl(lo, 2) != 0) ? lo + 1 : lo; break;
  }
  return copysignl(r, x);
}

static void put_bits(int type, uint8_t *p, uint32_t u) {
  memcpy(p, &u, (size_t)fz_bytes[type]);
}

void fz_put(int type, uint8_t *p, long double x, int round, bool saturate) {
  if (type == ACSIM_F64) {
    double d = (double)x;
    memcpy(p, &d, 8);
    return;
  }
  if (type == ACSIM_F32 &&
      (round == FZ_RINT || round == FZ_NONE)) { /* C's own conversion rounds once, to nearest even */
    float f = (float)x;
    memcpy(p, &f, 4);
    return;
  }
  int mb, eb;
  format(type, &mb, &eb);
  int bias = (1 << (eb - 1)) - 1;
  uint32_t sign = signbit(x) ? 1u << (mb + eb) : 0, inf = ((1u << eb) - 1) << mb;
  saturate = saturate && type != ACSIM_F32;
  if (x != x) {
    put_bits(type, p, saturate ? 0 : inf | 1u << (mb - 1));
    return;
  }
  long double a = fabsl(x);
  if (a == HUGE_VAL) {
    put_bits(type, p, sign | (saturate ? inf - 1 : inf));
    return;
  }
  int e = 0;
  frexpl(a, &e); /* a = f * 2^e, 0.5 <= f < 1 */
  int q = e - 1 - mb, lowest = 1 - bias - mb;
  if (a == 0 || q < lowest) q = lowest;
  /* x / 2^q has at most 64 bits: exact; odd and even are of the last bit that stays */
  long double m = fabsl(fz_round_int(x * pow2(-q), round));
  long double top = (pow2(mb + 1) - 1) * pow2(bias - mb); /* the largest number */
  long double y = m * pow2(q);
  if (y > top) {
    bool toward_zero =
        round == FZ_TRUNC || round == FZ_ODD || (round == FZ_FLOOR && !sign) || (round == FZ_CEIL && sign);
    put_bits(type, p, sign | (toward_zero || saturate ? inf - 1 : inf));
    return;
  }
  if (m >= pow2(mb + 1)) m /= 2, q++;
  uint32_t mi = (uint32_t)m;
  bool normal = mi >= 1u << mb;
  put_bits(type, p, sign | (normal ? (uint32_t)(q + mb + bias) << mb | (mi & ((1u << mb) - 1)) : mi));
}

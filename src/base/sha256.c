/* SHA-256 (FIPS 180-4), for source hashes in manifests. */
#include "base/base.h"
#include "base/internal.h"

#include <string.h>

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t ror(uint32_t x, int n) {
  return x >> n | x << (32 - n);
}

#define ROUND(a, b, c, d, e, f, g, h, i)                                                         \
  do {                                                                                           \
    uint32_t t = h + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + w[i]; \
    d += t;                                                                                      \
    h = t + (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));               \
  } while (0)

static void blocks(uint32_t h[8], const unsigned char *p, size_t n) {
  for (; n--; p += 64) {
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
      w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
    for (int i = 16; i < 64; i++) {
      uint32_t a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + (ror(a, 7) ^ ror(a, 18) ^ a >> 3) + w[i - 7] + (ror(b, 17) ^ ror(b, 19) ^ b >> 10);
    }
    memcpy(s, h, sizeof s);
    for (int i = 0; i < 64; i += 8) {
      ROUND(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], i);
      ROUND(s[7], s[0], s[1], s[2], s[3], s[4], s[5], s[6], i + 1);
      ROUND(s[6], s[7], s[0], s[1], s[2], s[3], s[4], s[5], i + 2);
      ROUND(s[5], s[6], s[7], s[0], s[1], s[2], s[3], s[4], i + 3);
      ROUND(s[4], s[5], s[6], s[7], s[0], s[1], s[2], s[3], i + 4);
      ROUND(s[3], s[4], s[5], s[6], s[7], s[0], s[1], s[2], i + 5);
      ROUND(s[2], s[3], s[4], s[5], s[6], s[7], s[0], s[1], i + 6);
      ROUND(s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[0], i + 7);
    }
    for (int i = 0; i < 8; i++) h[i] += s[i];
  }
}

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

/* The same with the processor's own instructions: a manifest hashes everything that was written. They keep the state as (a b e f) and
 * (c d g h). An instruction waits for the one before, so two texts at once take little longer than one: lanes is 1 or 2. */
__attribute__((target("sha,sse4.1,ssse3"), always_inline)) static inline void
lanes_sha(uint32_t (*const h)[8], const unsigned char **p, size_t n, const int lanes) {
  const __m128i big = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  __m128i abef[2], cdgh[2];
  for (int k = 0; k < lanes; k++) {
    __m128i lo = _mm_loadu_si128((const __m128i *)(const void *)h[k]),
            hi = _mm_loadu_si128((const __m128i *)(const void *)(h[k] + 4));
    __m128i t = _mm_shuffle_epi32(lo, 0xB1), x = _mm_shuffle_epi32(hi, 0x1B);
    abef[k] = _mm_alignr_epi8(t, x, 8);
    cdgh[k] = _mm_blend_epi16(x, t, 0xF0);
  }
  for (; n--;) {
    __m128i m[2][4], a0[2], c0[2];
#pragma GCC unroll 2 /* so that all of it stays in registers */
    for (int k = 0; k < lanes; k++) {
      a0[k] = abef[k];
      c0[k] = cdgh[k];
#pragma GCC unroll 4
      for (int i = 0; i < 4; i++)
        m[k][i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p[k] + 16 * i)), big);
      p[k] += 64;
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) {
#pragma GCC unroll 2
      for (int k = 0; k < lanes; k++) {
        __m128i w = m[k][i & 3], r = _mm_add_epi32(w, _mm_loadu_si128((const __m128i *)(const void *)(K + 4 * i)));
        cdgh[k] = _mm_sha256rnds2_epu32(cdgh[k], abef[k], r);
        abef[k] = _mm_sha256rnds2_epu32(abef[k], cdgh[k], _mm_shuffle_epi32(r, 0x0E));
        if (i >= 12) continue;
        __m128i m1 = m[k][(i + 1) & 3], m2 = m[k][(i + 2) & 3],
                m3 = m[k][(i + 3) & 3]; /* w: the word of round i + 4 */
        w = _mm_add_epi32(_mm_sha256msg1_epu32(w, m1), _mm_alignr_epi8(m3, m2, 4));
        m[k][i & 3] = _mm_sha256msg2_epu32(w, m3);
      }
    }
#pragma GCC unroll 2
    for (int k = 0; k < lanes; k++) {
      abef[k] = _mm_add_epi32(abef[k], a0[k]);
      cdgh[k] = _mm_add_epi32(cdgh[k], c0[k]);
    }
  }
  for (int k = 0; k < lanes; k++) {
    __m128i t = _mm_shuffle_epi32(abef[k], 0x1B), x = _mm_shuffle_epi32(cdgh[k], 0xB1);
    _mm_storeu_si128((__m128i *)(void *)h[k], _mm_blend_epi16(t, x, 0xF0));
    _mm_storeu_si128((__m128i *)(void *)(h[k] + 4), _mm_alignr_epi8(x, t, 8));
  }
}

__attribute__((target("sha,sse4.1,ssse3"))) static void one_sha(uint32_t (*h)[8], const unsigned char **p, size_t n) {
  lanes_sha(h, p, n, 1);
}
__attribute__((target("sha,sse4.1,ssse3"))) static void two_sha(uint32_t (*h)[8], const unsigned char **p, size_t n) {
  lanes_sha(h, p, n, 2);
}

static bool has_sha(void) {
  unsigned a, b, c, d, c1;
  return __get_cpuid(1, &a, &b, &c1, &d) && (c1 & bit_SSE4_1) && (c1 & bit_SSSE3) &&
         __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & 1u << 29);
}

static bool use_sha(void) {
  static _Atomic int known; /* 1: no, 2: yes */
  int k = known;
  if (!k) known = k = has_sha() ? 2 : 1;
  return k == 2;
}
#else
static bool use_sha(void) {
  return false;
}
static void one_sha(uint32_t (*h)[8], const unsigned char **p, size_t n) {
  blocks(h[0], p[0], n);
}
static void two_sha(uint32_t (*h)[8], const unsigned char **p, size_t n) {
  for (int k = 0; k < 2; k++) blocks(h[k], p[k], n);
}
#endif

/* n blocks of the lane, or of both where both is set. */
static void run(uint32_t (*h)[8], const unsigned char **p, size_t n, bool both, bool fast) {
  if (fast) {
    (both ? two_sha : one_sha)(h, p, n);
    return;
  }
  for (int k = 0; k < 1 + both; k++) {
    blocks(h[k], p[k], n);
    p[k] += 64 * n;
  }
}

static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/* The rest of a text behind its whole blocks, and the hash as text. */
static char *end(ac_arena *a, uint32_t (*h)[8], const unsigned char *p, size_t len, bool fast) {
  unsigned char tail[128] = {0};
  const unsigned char *from = tail;
  size_t rest = len % 64, n = rest < 56 ? 64 : 128;
  if (rest) memcpy(tail, p, rest);
  tail[rest] = 0x80;
  for (int i = 0; i < 8; i++) tail[n - 1 - (size_t)i] = (unsigned char)((uint64_t)len * 8 >> 8 * i);
  run(h, &from, n / 64, false, fast);
  char text[64];
  for (int i = 0; i < 64; i++) text[i] = "0123456789abcdef"[h[0][i / 8] >> (28 - 4 * (i % 8)) & 15];
  return ac_strndup(a, text, sizeof text);
}

void ac_sha256_by(ac_arena *a, size_t n, const ac_bytes *texts, char **out, bool portable) {
  bool fast = !portable && use_sha();
  uint32_t h[2][8];
  const unsigned char *p[2];
  size_t left[2], at[2] = {n, n}, next = 0;
  for (int used = 0;; used--) { /* lanes at work: the first ones */
    for (; used < 2 && next < n; used++) {
      memcpy(h[used], start, sizeof start);
      p[used] = texts[next].data;
      left[used] = texts[next].len / 64;
      at[used] = next++;
    }
    if (!used) return;
    size_t both = used == 2 && left[1] < left[0] ? left[1] : left[0];
    if (both) run(h, p, both, used == 2, fast);
    for (int k = 0; k < used; k++) left[k] -= both;
    int done = used == 2 && left[0] ? 1 : 0;
    out[at[done]] = end(a, &h[done], p[done], texts[at[done]].len, fast);
    if (done || used == 1) continue;
    memcpy(h[0], h[1], sizeof h[0]);
    p[0] = p[1];
    left[0] = left[1];
    at[0] = at[1];
  }
}

void ac_sha256_all(ac_arena *a, size_t n, const ac_bytes *texts, char **out) {
  ac_sha256_by(a, n, texts, out, false);
}

char *ac_sha256(ac_arena *a, const void *data, size_t len) {
  char *out;
  ac_sha256_all(a, 1, &(ac_bytes){data, len}, &out);
  return out;
}

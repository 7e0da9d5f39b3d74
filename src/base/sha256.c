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
 * (c d g h). */
__attribute__((target("sha,sse4.1,ssse3"))) static void blocks_sha(uint32_t h[8], const unsigned char *p, size_t n) {
  const __m128i big = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  __m128i lo = _mm_loadu_si128((const __m128i *)(const void *)h),
          hi = _mm_loadu_si128((const __m128i *)(const void *)(h + 4));
  __m128i t = _mm_shuffle_epi32(lo, 0xB1), x = _mm_shuffle_epi32(hi, 0x1B);
  __m128i abef = _mm_alignr_epi8(t, x, 8), cdgh = _mm_blend_epi16(x, t, 0xF0);
  for (; n--; p += 64) {
    __m128i m[4], a0 = abef, c0 = cdgh;
#pragma GCC unroll 4 /* so that the words stay in registers */
    for (int i = 0; i < 4; i++)
      m[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i)), big);
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) {
      __m128i w = m[i & 3], k = _mm_add_epi32(w, _mm_loadu_si128((const __m128i *)(const void *)(K + 4 * i)));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, k);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(k, 0x0E));
      if (i >= 12) continue;
      __m128i m1 = m[(i + 1) & 3], m2 = m[(i + 2) & 3], m3 = m[(i + 3) & 3]; /* w becomes the word of round i + 4 */
      w = _mm_add_epi32(_mm_sha256msg1_epu32(w, m1), _mm_alignr_epi8(m3, m2, 4));
      m[i & 3] = _mm_sha256msg2_epu32(w, m3);
    }
    abef = _mm_add_epi32(abef, a0);
    cdgh = _mm_add_epi32(cdgh, c0);
  }
  t = _mm_shuffle_epi32(abef, 0x1B);
  x = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128((__m128i *)(void *)h, _mm_blend_epi16(t, x, 0xF0));
  _mm_storeu_si128((__m128i *)(void *)(h + 4), _mm_alignr_epi8(x, t, 8));
}

static bool has_sha(void) {
  unsigned a, b, c, d, c1;
  return __get_cpuid(1, &a, &b, &c1, &d) && (c1 & bit_SSE4_1) && (c1 & bit_SSSE3) &&
         __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & 1u << 29);
}

static void hash(uint32_t h[8], const unsigned char *p, size_t n) {
  static _Atomic int known; /* 1: no, 2: yes */
  int k = known;
  if (!k) known = k = has_sha() ? 2 : 1;
  (k == 2 ? blocks_sha : blocks)(h, p, n);
}
#else
static void hash(uint32_t h[8], const unsigned char *p, size_t n) {
  blocks(h, p, n);
}
#endif

char *ac_sha256_by(ac_arena *a, const void *data, size_t len, bool portable) {
  uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const unsigned char *p = data;
  size_t full = len / 64, rest = len % 64;
  (portable ? blocks : hash)(h, p, full);
  unsigned char tail[128] = {0};
  if (rest) memcpy(tail, p + 64 * full, rest);
  tail[rest] = 0x80;
  size_t tail_len = rest < 56 ? 64 : 128;
  for (int i = 0; i < 8; i++) tail[tail_len - 1 - (size_t)i] = (unsigned char)((uint64_t)len * 8 >> 8 * i);
  (portable ? blocks : hash)(h, tail, tail_len / 64);
  return ac_sprintf(a, "%08x%08x%08x%08x%08x%08x%08x%08x", h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]);
}

char *ac_sha256(ac_arena *a, const void *data, size_t len) {
  return ac_sha256_by(a, data, len, false);
}

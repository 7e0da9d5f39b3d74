/* The plain level, and the choice between levels. */
#include "sim/core_simd.h"

#include <stdlib.h>

#define LEVEL_NAME "base"
#define LEVEL_TABLE acsim_simd_base
#include "sim/core_simd_body.h"

#if defined(__x86_64__)
/* What -march=x86-64-v3 and -v4 let a compiler use (x86-64 psABI, micro-architecture levels). */
static bool has_avx2(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("fma") && __builtin_cpu_supports("popcnt");
}
static bool has_avx512(void) {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#endif

enum { MOST_LEVELS = 4 };
static const acsim_simd *levels[MOST_LEVELS]; /* the same values whoever writes them */
static const acsim_simd *chosen;

const acsim_simd *const *acsim_simd_levels(void) {
  int n = 0;
  const acsim_simd *found[MOST_LEVELS] = {0};
  found[n++] = &acsim_simd_base;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (has_avx2()) found[n++] = &acsim_simd_avx2;
  if (has_avx512()) found[n++] = &acsim_simd_avx512;
#endif
  for (int i = 0; i < n; i++) __atomic_store_n(&levels[i], found[i], __ATOMIC_RELAXED);
  return levels;
}

static const acsim_simd *choose(void) {
  const acsim_simd *const *have = acsim_simd_levels();
  const char *asked = getenv("ASCENDCRAFT_SIMD");
  const acsim_simd *best = have[0];
  for (int i = 0; i < MOST_LEVELS && have[i]; i++) {
    best = have[i];
    if (asked && !strcmp(asked, best->name)) break;
  }
  return best;
}

const acsim_simd *acsim_simd_now(void) {
  const acsim_simd *s = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
  if (!s) __atomic_store_n(&chosen, s = choose(), __ATOMIC_RELAXED);
  return s;
}

void acsim_simd_use(const acsim_simd *level) {
  __atomic_store_n(&chosen, level, __ATOMIC_RELAXED);
}

/* The loops for processors with AVX2: compiled with -march=x86-64-v3 (CMakeLists.txt). */
#if defined(__x86_64__)
#include "sim/core_simd.h"

#define LEVEL_NAME "avx2"
#define LEVEL_TABLE acsim_simd_avx2
#include "sim/core_simd_body.h"
#else
typedef int acsim_simd_avx2_is_for_x86; /* ISO C wants something in a file */
#endif

/* The loops for processors with AVX-512: compiled with -march=x86-64-v4 (CMakeLists.txt). */
#if defined(__x86_64__)
#include "sim/core_simd.h"

#define LEVEL_NAME "avx512"
#define LEVEL_TABLE acsim_simd_avx512
#include "sim/core_simd_body.h"
#else
typedef int acsim_simd_avx512_is_for_x86; /* ISO C wants something in a file */
#endif

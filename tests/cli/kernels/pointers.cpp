#include "kernel_operator.h"

/* What plain pointers may do wrong: nothing sees them write. */
extern "C" __global__ __aicore__ void pointers(GM_ADDR x, GM_ADDR z, GM_ADDR tiling, int32_t how) {
  auto in = (__gm__ float *)x;
  auto out = (__gm__ float *)z;
  for (int i = 0; i < 64; i++) out[i] = how == 4 ? 0.0f : in[i] + 1;
  if (how & 1) in[3] = 7.0f;
  if (how & 2) tiling[9] = 77;
}

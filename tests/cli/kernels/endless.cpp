#include "kernel_operator.h"
extern "C" __global__ __aicore__ void endless(GM_ADDR x) {
  volatile int n = 0;
  PRINTF("begins\n");
  while (AscendC::GetBlockNum()) n = n + 1;
}

// Its tiling struct stands in a header of the host code.
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void later(GM_ADDR y, GM_ADDR tiling) {
  GET_TILING_DATA(t, tiling);
  AscendC::GlobalTensor<int32_t> yGm;
  yGm.SetGlobalBuffer((__gm__ int32_t *)y, 8);
  int32_t values[8] = {t.n, t.few[0], t.few[1], t.few[2], static_cast<int32_t>(t.by * 4), 0, 0, 0};
  for (int i = 0; i < 8; i++) yGm.SetValue(i, values[i]);
}

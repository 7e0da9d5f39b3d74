#include "kernel_operator.h"
using namespace AscendC;

/* Copies x[from, from + 256) to z[to, to + 256), wherever that is. */
extern "C" __global__ __aicore__ void beyond(GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t from, int64_t to) {
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
  pipe.InitBuffer(queue, 1, 1024);
  GlobalTensor<float> xGm, yGm, zGm;
  xGm.SetGlobalBuffer((__gm__ float *)x);
  yGm.SetGlobalBuffer((__gm__ float *)y);
  zGm.SetGlobalBuffer((__gm__ float *)z);
  if (from == 0) from = yGm.GetPhyAddr() - xGm.GetPhyAddr();
  if (to == 0) to = yGm.GetPhyAddr() - zGm.GetPhyAddr();
  auto a = queue.AllocTensor<float>();
  DataCopy(a, xGm[from], 256);
  queue.EnQue(a);
  a = queue.DeQue<float>();
  DataCopy(zGm[to], a, 256);
  queue.FreeTensor(a);
}

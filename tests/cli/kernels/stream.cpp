// Streams x through UB to y; how many buffers a queue has is the command line's.
#include "kernel_operator.h"
using namespace AscendC;
constexpr int32_t TILE = 4096;

extern "C" __global__ __aicore__ void stream(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  pipe.InitBuffer(in, BUFFERS, TILE * sizeof(float));
  pipe.InitBuffer(out, BUFFERS, TILE * sizeof(float));
  GlobalTensor<float> from, to;
  from.SetGlobalBuffer((__gm__ float *)x);
  to.SetGlobalBuffer((__gm__ float *)y);
  for (int32_t i = 0; i < 16; i++) {
    int32_t at = (GetBlockIdx() * 16 + i) * TILE;
    LocalTensor<float> a = in.AllocTensor<float>();
    DataCopy(a, from[at], TILE);
    in.EnQue(a);
    a = in.DeQue<float>();
    LocalTensor<float> b = out.AllocTensor<float>();
    Exp(b, a, TILE);
    Sqrt(b, b, TILE);
    out.EnQue(b);
    in.FreeTensor(a);
    b = out.DeQue<float>();
    DataCopy(to[at], b, TILE);
    out.FreeTensor(b);
  }
}

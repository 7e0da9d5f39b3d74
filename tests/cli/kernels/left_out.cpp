// A kernel that a macro makes; a host entry whose stream may be left out; one that takes doubles by type.
#include "kernel_operator.h"
using namespace AscendC;
#define KERNEL extern "C" __global__ __aicore__ void

template <typename T> __aicore__ inline void copy(GM_ADDR source, GM_ADDR target, int32_t n) {
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
  pipe.InitBuffer(queue, 1, 1024);
  GlobalTensor<T> from, to;
  from.SetGlobalBuffer((__gm__ T *)source);
  to.SetGlobalBuffer((__gm__ T *)target);
  LocalTensor<T> t = queue.AllocTensor<T>();
  DataCopy(t, from, n);
  queue.EnQue(t);
  t = queue.DeQue<T>();
  DataCopy(to, t, n);
  queue.FreeTensor(t);
}

KERNEL made_by_macro(GM_ADDR x, GM_ADDR y) {
  copy<float>(x, y, 64);
}
// what is shown, too
extern "C" __global__ __aicore__ void beyond_the_end(GM_ADDR source, GM_ADDR target) {
  copy<float>(source, target, 72);
}
void launch_it(uint32_t blocks, void *stream, uint8_t *source, uint8_t *target) {
  beyond_the_end<<<blocks, nullptr, stream>>>(source, target);
}
extern "C" __global__ __aicore__ void of_doubles(__gm__ double *source, GM_ADDR target) {
  copy<int64_t>((GM_ADDR)source, target, 32);
}

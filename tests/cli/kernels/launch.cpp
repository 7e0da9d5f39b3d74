// A file with several kernels and the host functions that launch them: templates, scalars and a struct by value as arguments.
#include "kernel_operator.h"

#ifndef SHIFT
#define SHIFT 0
#endif

struct Shape {
  int32_t rows;
  int32_t columns;
};

template <typename T> __aicore__ inline void Each(__gm__ T *x, __gm__ T *y, int64_t n, float by) {
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
  AscendC::GlobalTensor<T> xGm, yGm;
  pipe.InitBuffer(buffer, n * sizeof(T));
  int64_t first = n * AscendC::GetBlockIdx();
  xGm.SetGlobalBuffer(x + first, n);
  yGm.SetGlobalBuffer(y + first, n);
  AscendC::LocalTensor<T> t = buffer.Get<T>();
  AscendC::DataCopy(t, xGm, n);
  AscendC::PipeBarrier<PIPE_ALL>();
  AscendC::Adds(t, t, static_cast<T>(by + SHIFT), n);
  AscendC::PipeBarrier<PIPE_ALL>();
  AscendC::DataCopy(yGm, t, n);
}

namespace kernels {
template <typename T> __global__ __aicore__ void shift(__gm__ T *x, __gm__ T *y, int64_t n, float by) {
  Each<T>(x, y, n, by);
}
} // namespace kernels

__global__ __aicore__ void by_shape(GM_ADDR x, GM_ADDR y, Shape shape, bool negative) {
  if (TILING_KEY_IS(7)) {
    Each<float>((__gm__ float *)x, (__gm__ float *)y, shape.rows * shape.columns, negative ? -1.0f : 1.0f);
  } else if (TILING_KEY_IS(10000000000000001101UL)) { // more than a double or an int64_t holds
    Each<float>((__gm__ float *)x, (__gm__ float *)y, shape.rows * shape.columns, 2.0f);
  }
}

// In place, with a store by a scalar that a later load needs and nothing orders: a hazard.
__global__ __aicore__ void careless(GM_ADDR x) {
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
  AscendC::GlobalTensor<float> xGm;
  pipe.InitBuffer(buffer, 256);
  xGm.SetGlobalBuffer((__gm__ float *)x, 64);
  AscendC::LocalTensor<float> t = buffer.Get<float>();
  AscendC::DataCopy(t, xGm, 64);
  AscendC::Adds(t, t, 1.0f, 64); // not ordered after the load
  AscendC::PipeBarrier<PIPE_ALL>();
  AscendC::DataCopy(xGm, t, 64);
}

extern "C" int launch_shift(GM_ADDR x, GM_ADDR y, int64_t n, uint32_t blocks, void *stream) {
  kernels::shift<half><<<blocks, nullptr, stream>>>((__gm__ half *)x, (__gm__ half *)y, n / blocks, 2.0f);
  return 0;
}

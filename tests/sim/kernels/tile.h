/* A tile in, a tile out: what most test kernels need around the call they are about. */
#ifndef TILE_H
#define TILE_H

#include "kernel_operator.h"
#include "sim_test.h"
using namespace AscendC;

/* Loads nx elements of x; f(dst, src, scratch) works; stores ny results. */
template <typename T, typename D = T, typename F> static void on_tile(GM_ADDR a, GM_ADDR b, int nx, int ny, F f) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  TBuf<TPosition::VECCALC> tmp;
  GlobalTensor<T> x;
  GlobalTensor<D> y;
  x.SetGlobalBuffer((__gm__ T *)a, nx);
  y.SetGlobalBuffer((__gm__ D *)b, ny);
  pipe.InitBuffer(in, 1, 16384);
  pipe.InitBuffer(out, 1, 16384);
  pipe.InitBuffer(tmp, 65536);
  LocalTensor<T> s = in.AllocTensor<T>();
  DataCopyPad(s, x, {1, static_cast<uint32_t>(nx * sizeof(T)), 0, 0, 0}, {false, 0, 0, T(0)});
  in.EnQue(s);
  s = in.DeQue<T>();
  LocalTensor<D> d = out.AllocTensor<D>();
  f(d, s, tmp);
  out.EnQue(d);
  d = out.DeQue<D>();
  DataCopyPad(y, d, {1, static_cast<uint32_t>(ny * sizeof(D)), 0, 0, 0});
  out.FreeTensor(d);
  in.FreeTensor(s);
}

/* Different values, in no order, with pairs of equal ones. */
[[maybe_unused]] static float value(int64_t i) {
  return static_cast<float>((i * 37 % 101) - 50) * 0.37f;
}
[[maybe_unused]] static void fill_values(void *p, int64_t n) {
  for (int64_t i = 0; i < n; i++) static_cast<float *>(p)[i] = value(i);
}

#define CHECK(name, T, count, want)                                                            \
  static int64_t name(const void *px, const void *py) {                                        \
    [[maybe_unused]] const T *x = static_cast<const T *>(px), *y = static_cast<const T *>(py); \
    for (int64_t i = 0; i < (count); i++) {                                                    \
      T w = static_cast<T>(want);                                                              \
      if (y[i] != w) return i;                                                                 \
    }                                                                                          \
    return -1;                                                                                 \
  }
#endif

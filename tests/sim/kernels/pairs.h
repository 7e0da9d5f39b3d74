/* What the files of pairs share: three buffers, and a kernel made twice, with a fault and mended. */
#ifndef PAIRS_H
#define PAIRS_H
#include "kernel_operator.h"
#include "sim_test.h"
using namespace AscendC;

constexpr int N = 256; /* floats of each buffer */

template <HardEvent event> static void order(bool on, int id = 0) {
  if (!on) return;
  SetFlag<event>(id);
  WaitFlag<event>(id);
}

/* Two buffers that no queue orders, and a third for whatever is made of them. */
struct Bufs {
  TPipe pipe;
  TBuf<TPosition::VECCALC> a, b, c;
  GlobalTensor<float> x, y, w;
  LocalTensor<float> A, B, C;
  Bufs(GM_ADDR gx, GM_ADDR gy, GM_ADDR gw) {
    x.SetGlobalBuffer((__gm__ float *)gx, 4 * N);
    y.SetGlobalBuffer((__gm__ float *)gy, 4 * N);
    w.SetGlobalBuffer((__gm__ float *)gw, 4 * N);
    pipe.InitBuffer(a, N * 4);
    pipe.InitBuffer(b, N * 4);
    pipe.InitBuffer(c, N * 4);
    A = a.Get<float>();
    B = b.Get<float>();
    C = c.Get<float>();
  }
};
#define KERNEL(name)     \
  template <bool mended> \
  static void name([[maybe_unused]] GM_ADDR gx, [[maybe_unused]] GM_ADDR gy, [[maybe_unused]] GM_ADDR gw)
#define FRAME Bufs f(gx, gy, gw)
/* For kernels with buffers of their own. */
#define FRAME_GM                                \
  GlobalTensor<float> x, y;                     \
  x.SetGlobalBuffer((__gm__ float *)gx, 4 * N); \
  y.SetGlobalBuffer((__gm__ float *)gy, 4 * N); \
  (void)gw

enum { ON, STRICT };
#define ONE(fn, is_mended, suffix, blocks, fault, text, mode) \
  { #fn suffix, fn < is_mended>, blocks, 4, 4 * N, 4 * N, 16 * N, fault, text, nullptr, nullptr, 1, 0, 0, mode }
#define PAIR(fn, blocks, fault, text, mode) \
  ONE(fn, false, "", blocks, fault, text, mode), ONE(fn, true, " mended", blocks, nullptr, nullptr, mode)
#define RAW "hazard-raw"
#define WAR "hazard-war"
#define WAW "hazard-waw"
/* Every place that the report names must be marked in the source: where it is reported late, all others early. */
#define MARKED(fn, is_mended, suffix, blocks, fault, text, extra...)                                             \
  {                                                                                                              \
#fn suffix, fn < is_mended>, blocks, 4, 4 * N, 4 * N, 16 * N, fault, text, nullptr, nullptr, 1, 0, 0, ON, 1, \
        extra                                                                                                    \
  }
#define MPAIR(fn, blocks, fault, text, extra...) \
  MARKED(fn, false, "", blocks, fault, text, extra), MARKED(fn, true, " mended", blocks, nullptr, nullptr, extra)
#endif

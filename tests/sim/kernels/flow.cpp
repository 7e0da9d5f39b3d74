/* Whole kernels: double buffering over many blocks, atomics, barriers, workspaces; what only works when blocks are ordered. */
#include "kernel_operator.h"
#include "sim_test.h"
using namespace AscendC;

static void fill(void *p, int64_t n) {
  float *x = static_cast<float *>(p);
  for (int64_t i = 0; i < n; i++) x[i] = static_cast<float>(i % 1000) * 0.25f - 3;
}

/* ---- tiles through two buffers, tails everywhere: 9973 elements over 7 blocks, tiles of 512 ---- */

constexpr int64_t TOTAL = 9973, TILE = 512;
class Relu2 {
public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y) {
    int64_t per = (TOTAL + GetBlockNum() - 1) / GetBlockNum(), first = per * GetBlockIdx();
    count_ = TOTAL - first < per ? TOTAL - first : per;
    x_.SetGlobalBuffer((__gm__ float *)x + first, count_);
    y_.SetGlobalBuffer((__gm__ float *)y + first, count_);
    pipe_.InitBuffer(in_, 2, TILE * sizeof(float));
    pipe_.InitBuffer(out_, 2, TILE * sizeof(float));
  }
  __aicore__ inline void Process() {
    for (int64_t at = 0; at < count_; at += TILE) {
      uint32_t n = count_ - at < TILE ? count_ - at : TILE;
      auto x = in_.AllocTensor<float>();
      DataCopyPad(x, x_[at], {1, static_cast<uint32_t>(n * sizeof(float)), 0, 0, 0}, {false, 0, 0, 0.0f});
      in_.EnQue(x);
      x = in_.DeQue<float>();
      auto y = out_.AllocTensor<float>();
      Relu(y, x, n);
      Adds(y, y, 1.0f, n);
      out_.EnQue(y);
      in_.FreeTensor(x);
      y = out_.DeQue<float>();
      DataCopyPad(y_[at], y, {1, static_cast<uint32_t>(n * sizeof(float)), 0, 0, 0});
      out_.FreeTensor(y);
    }
  }

private:
  TPipe pipe_;
  TQue<QuePosition::VECIN, 2> in_;
  TQue<QuePosition::VECOUT, 2> out_;
  GlobalTensor<float> x_, y_;
  int64_t count_;
};
static void k_tiles(GM_ADDR x, GM_ADDR y, GM_ADDR) {
  Relu2 op;
  op.Init(x, y);
  op.Process();
}
static int64_t c_tiles(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int64_t i = 0; i < TOTAL; i++)
    if (y[i] != (x[i] > 0 ? x[i] : 0) + 1) return i;
  return -1;
}

/* ---- atomics: every block adds its own number times x; the order of the sums is the order of the blocks ---- */

template <HardEvent event> static void order() {
  SetFlag<event>(EVENT_ID0);
  WaitFlag<event>(EVENT_ID0);
}

static void k_atomic(GM_ADDR x, GM_ADDR y, GM_ADDR) {
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> q;
  GlobalTensor<float> gx, gy;
  gx.SetGlobalBuffer((__gm__ float *)x, 64);
  gy.SetGlobalBuffer((__gm__ float *)y, 64);
  pipe.InitBuffer(q, 1, 256);
  auto t = q.AllocTensor<float>();
  DataCopy(t, gx, 64);
  q.EnQue(t);
  t = q.DeQue<float>();
  order<HardEvent::MTE2_V>(); /* the queue's own event is MTE2_MTE3 */
  Muls(t, t, 0.1f * static_cast<float>(GetBlockIdx() + 1), 64);
  order<HardEvent::V_MTE3>();
  SetAtomicAdd<float>();
  DataCopy(gy, t, 64);
  SetAtomicNone();
  q.FreeTensor(t);
}
static int64_t c_atomic(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int64_t i = 0; i < 64; i++) {
    float forth = 0, back = 0;
    for (int k = 1; k <= 20; k++)
      forth += x[i] * (0.1f * static_cast<float>(k)), back += x[i] * (0.1f * static_cast<float>(21 - k));
    if (y[i] != forth && y[i] != back) return i;
  }
  return -1;
}

/* ---- a barrier: each block writes its sum to the workspace, then all read all sums ---- */

static void k_barrier(GM_ADDR x, GM_ADDR y, GM_ADDR w) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> a, b;
  GlobalTensor<float> gx, gy, gw;
  gx.SetGlobalBuffer((__gm__ float *)x, 64 * GetBlockNum());
  gy.SetGlobalBuffer((__gm__ float *)y, GetBlockNum());
  gw.SetGlobalBuffer((__gm__ float *)w, 8 * GetBlockNum());
  pipe.InitBuffer(a, 256);
  pipe.InitBuffer(b, 8 * 48 * 4);
  auto t = a.Get<float>(), s = b.Get<float>();
  DataCopy(t, gx[64 * GetBlockIdx()], 64);
  PipeBarrier<PIPE_ALL>();
  ReduceSum(t, t, s, 64);
  PipeBarrier<PIPE_ALL>();
  Duplicate(s, t.GetValue(0), 8);
  order<HardEvent::V_MTE3>();
  DataCopy(gw[8 * GetBlockIdx()], s, 8);
  SyncAll();
  DataCopy(s, gw, static_cast<int32_t>(8 * GetBlockNum()));
  float total = 0;
  for (int k = 0; k < GetBlockNum(); k++) total += s.GetValue(8 * k);
  SyncAll();
  Duplicate(s, total + static_cast<float>(GetBlockIdx()), 8);
  order<HardEvent::V_MTE3>();
  DataCopyPad(gy[GetBlockIdx()], s, {1, 4, 0, 0, 0}); /* SetValue of neighbours would share a cache line */
}
static int64_t c_barrier(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  float total = 0; /* multiples of 1/4, small: every order of addition is exact */
  for (int i = 0; i < 64 * 48; i++) total += x[i];
  for (int i = 0; i < 48; i++)
    if (y[i] != total + static_cast<float>(i)) return i;
  return -1;
}

/* ---- a pipe that is reset between two phases, with other buffers after it ---- */

static void k_phases(GM_ADDR x, GM_ADDR y, GM_ADDR) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  GlobalTensor<float> gx, gy;
  gx.SetGlobalBuffer((__gm__ float *)x, 64);
  gy.SetGlobalBuffer((__gm__ float *)y, 128);
  for (int phase = 0; phase < 2; phase++) {
    pipe.InitBuffer(in, 1, phase ? 100 * 1024 : 150 * 1024);
    auto t = in.AllocTensor<float>();
    DataCopy(t, gx, 64);
    in.EnQue(t);
    t = in.DeQue<float>();
    event_t e = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::MTE2_MTE3));
    SetFlag<HardEvent::MTE2_MTE3>(e);
    WaitFlag<HardEvent::MTE2_MTE3>(e);
    DataCopy(gy[64 * phase], t, 64);
    in.FreeTensor(t);
    order<HardEvent::MTE3_MTE2>(); /* the queue's own event is V_MTE2 */
    pipe.Reset();
  }
}
static int64_t c_phases(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int i = 0; i < 128; i++)
    if (y[i] != x[i % 64]) return i;
  return -1;
}

/* ---- nothing to do: empty tensors, counts of zero ---- */

static void k_empty(GM_ADDR x, GM_ADDR y, GM_ADDR) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  GlobalTensor<float> gx, gy;
  gx.SetGlobalBuffer((__gm__ float *)x, 0);
  gy.SetGlobalBuffer((__gm__ float *)y, 0);
  pipe.InitBuffer(in, 1, 32);
  auto t = in.AllocTensor<float>();
  DataCopyPad(t, gx, {1, 0, 0, 0, 0}, {false, 0, 0, 0.0f});
  Adds(t, t, 1.0f, 0);
  DataCopyPad(gy, t, {0, 4, 0, 0, 0});
  in.FreeTensor(t);
}

static const sim_case table[] = {
    {"tiles", k_tiles, 7, 4, TOTAL, TOTAL, 0, nullptr, nullptr, fill, c_tiles, 0, 0, 0},
    {"atomic", k_atomic, 20, 4, 64, 64, 0, nullptr, nullptr, fill, c_atomic, 1, 0, 0},
    {"barrier", k_barrier, 48, 4, 64 * 48, 48, 8 * 48 * 4, nullptr, nullptr, fill, c_barrier, 0, 0, 0},
    {"phases", k_phases, 1, 4, 64, 128, 0, nullptr, nullptr, fill, c_phases, 0, 0, 0},
    {"empty", k_empty, 3, 4, 0, 0, 0, nullptr, nullptr, nullptr, nullptr, 0, 0, 0},
};
SIM_CASES(table);

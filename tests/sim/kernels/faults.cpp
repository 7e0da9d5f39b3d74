/* One kernel a mistake: each must be noticed, and nothing else reported. All of them copy x to y in some broken way. */
#include "kernel_operator.h"
#include "sim_test.h"
using namespace AscendC;

constexpr int N = 256; /* floats */

/* The usual frame: x -> UB -> y in one tile of N floats. */
struct Frame {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  GlobalTensor<float> x, y;
  Frame(GM_ADDR a, GM_ADDR b, int buffers = 1) {
    x.SetGlobalBuffer((__gm__ float *)a, N);
    y.SetGlobalBuffer((__gm__ float *)b, N);
    pipe.InitBuffer(in, buffers, N * sizeof(float));
    pipe.InitBuffer(out, buffers, N * sizeof(float));
  }
  LocalTensor<float> load() {
    LocalTensor<float> t = in.AllocTensor<float>();
    DataCopy(t, x, N);
    in.EnQue(t);
    t = in.DeQue<float>();
    SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0); /* some of the kernels store it as it is */
    WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
    return t;
  }
  void store(LocalTensor<float> t) {
    out.EnQue(t);
    t = out.DeQue<float>();
    DataCopy(y, t, N);
    out.FreeTensor(t);
  }
};

static void good(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  auto t = f.load();
  auto o = f.out.AllocTensor<float>();
  Adds(o, t, 1.0f, N);
  f.in.FreeTensor(t);
  f.store(o);
}
static void gm_read_past(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  good(a, b, nullptr);
  Frame f(a, b);
  f.x.SetGlobalBuffer((__gm__ float *)a);
  auto t = f.in.AllocTensor<float>();
  DataCopyPad(t, f.x[N - 8], {1, 64, 0, 0, 0}, {false, 0, 0, 0.0f});
  f.in.FreeTensor(t);
}
static void gm_write_past(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  f.y.SetGlobalBuffer((__gm__ float *)b);
  auto t = f.load();
  DataCopyPad(f.y[N], t, {1, 4, 0, 0, 0});
  auto o = f.out.AllocTensor<float>();
  Adds(o, t, 1.0f, N);
  f.in.FreeTensor(t);
  f.store(o);
}
static void gm_view_past(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  good(a, b, nullptr);
  Frame f(a, b);
  GlobalTensor<float> half;
  half.SetGlobalBuffer((__gm__ float *)a, N / 2);
  auto t = f.in.AllocTensor<float>();
  DataCopy(t, half, N);
  f.in.FreeTensor(t);
}
static void ub_overflow(GM_ADDR, GM_ADDR, GM_ADDR) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TBuf<TPosition::VECCALC> tmp;
  pipe.InitBuffer(in, 2, 64 * 1024);
  pipe.InitBuffer(tmp, 64 * 1024 + 1);
}
/* The buffer that does not fit is used as far as the memory goes: the device computes that, and so do we. */
static void ub_overflow_unharmed(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  TBuf<TPosition::VECCALC> most, tmp;
  f.pipe.InitBuffer(most, 189 * 1024); /* with the frame's 2 KB, 1 KB is left */
  f.pipe.InitBuffer(tmp, N * sizeof(float) + 4096);
  auto t = f.load();
  auto m = tmp.Get<float>();
  Adds(m, t, 1.0f, N);
  auto o = f.out.AllocTensor<float>();
  Adds(o, m, 1.0f, m.GetSize() == N + 1024 ? N : 8);
  f.in.FreeTensor(t);
  f.store(o);
}
static void ub_write_past(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  auto t = f.load();
  auto o = f.out.AllocTensor<float>();
  Adds(o, t, 1.0f, N);
  Adds(o[N - 8], t, 1.0f, 16); /* dst: 8 floats too many */
  f.in.FreeTensor(t);
  f.store(o);
}
/* What lies behind the buffer gets it, as on the device: the first 8 results are made of that. */
static void ub_write_past_lands(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  TBuf<TPosition::VECCALC> next;
  f.pipe.InitBuffer(next, 32);
  auto t = f.load();
  auto o = f.out.AllocTensor<float>();
  Adds(o, t, 2.0f, N);
  Adds(o[N - 8], t, 1.0f, 16);
  Adds(o[N - 8], t, 2.0f, 8);
  Adds(o, next.Get<float>(), 1.0f, 8);
  f.in.FreeTensor(t);
  f.store(o);
}
static void freed_is_still_there(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  auto t = f.load();
  f.in.FreeTensor(t);
  auto o = f.out.AllocTensor<float>();
  Adds(o, t, 2.0f, N);
  f.store(o);
}
/* The library reads its source before it writes: the right values, and the fault. */
static void broadcast_in_place(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  auto t = f.load();
  auto o = f.out.AllocTensor<float>();
  Adds(o, t, 2.0f, N);
  Muls(o[N / 2], t, 0.0f, N / 2);
  f.in.FreeTensor(t);
  const uint32_t to[] = {2, N / 2}, from[] = {1, N / 2};
  BroadCast<float, 2, 0>(o, o, to, from);
  f.store(o);
}
static void too_little_for_select(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  TBuf<TPosition::VECCALC> mask, tmp;
  f.pipe.InitBuffer(mask, N);
  f.pipe.InitBuffer(tmp, 128);
  auto t = f.load();
  auto o = f.out.AllocTensor<float>();
  Duplicate(mask.Get<uint16_t>(), uint16_t(0x0101), N / 2);
  SelectWithBytesMaskShapeInfo info;
  info.firstAxis = 1;
  info.srcLastAxis = info.maskLastAxis = N;
  SelectWithBytesMask(o, t, 2.0f, mask.Get<uint8_t>(), tmp.Get<uint8_t>(), info);
  f.in.FreeTensor(t);
  f.store(o);
}
/* isPad without padding: the lanes up to 32 bytes are the block's first element, not the pad value. y: 2 everywhere, from x = 0. */
static void pad_of_nothing(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  auto t = f.in.AllocTensor<float>();
  DataCopyPad(t, f.x, {1, (N - 3) * 4, 0, 0, 0}, {true, 0, 0, 9.0f});
  f.in.EnQue(t);
  t = f.in.DeQue<float>();
  auto o = f.out.AllocTensor<float>();
  Adds(o, t, 2.0f, N);
  f.in.FreeTensor(t);
  f.store(o);
}
static void misaligned(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  auto t = f.load();
  auto o = f.out.AllocTensor<float>();
  Adds(o, t, 1.0f, N);
  Adds(o, t[4], 1.0f, 8);
  f.in.FreeTensor(t);
  f.store(o);
}
static void use_after_free(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  auto t = f.load();
  auto o = f.out.AllocTensor<float>();
  f.in.FreeTensor(t);
  Adds(o, t, 1.0f, N);
  Duplicate(o, 0.0f, N);
  f.store(o);
}
static void use_after_realloc(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  auto t = f.load();
  f.in.FreeTensor(t);
  auto u = f.load();
  auto o = f.out.AllocTensor<float>();
  Adds(o, t, 1.0f, N);
  Adds(o, u, 1.0f, N);
  f.in.FreeTensor(u);
  f.store(o);
}
static void double_free(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  auto t = f.load();
  auto o = f.out.AllocTensor<float>();
  Adds(o, t, 1.0f, N);
  f.in.FreeTensor(t);
  f.in.FreeTensor(t);
  f.store(o);
}
static void foreign(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  auto t = f.load();
  auto o = f.out.AllocTensor<float>();
  Adds(o, t, 1.0f, N);
  f.in.EnQue(o);
  f.in.FreeTensor(t);
  f.store(o);
}
static void while_queued(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  auto t = f.in.AllocTensor<float>();
  DataCopy(t, f.x, N);
  f.in.EnQue(t);
  DataCopy(t, f.x, N); /* into a buffer already handed on */
  t = f.in.DeQue<float>();
  auto o = f.out.AllocTensor<float>();
  Adds(o, t, 1.0f, N);
  f.in.FreeTensor(t);
  f.store(o);
}
static void alloc_deadlock(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  good(a, b, nullptr);
  Frame f(a, b);
  f.in.AllocTensor<float>();
  f.in.AllocTensor<float>();
}
static void deque_empty(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  good(a, b, nullptr);
  Frame f(a, b);
  f.in.DeQue<float>();
}
static void no_init(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  good(a, b, nullptr);
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  in.AllocTensor<float>();
}
static void never_freed(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  auto t = f.load();
  auto o = f.out.AllocTensor<float>();
  Adds(o, t, 1.0f, N);
  f.store(o);
}
static void poison_vector(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  auto t = f.in.AllocTensor<float>();
  DataCopyPad(t, f.x, {1, 13 * 4, 0, 0, 0}, {false, 0, 0, 0.0f}); /* fills 16 lanes */
  f.in.EnQue(t);
  t = f.in.DeQue<float>();
  auto o = f.out.AllocTensor<float>();
  Adds(o, t, 1.0f, N);
  f.in.FreeTensor(t);
  f.store(o);
}
/* 13 elements in a tile of 64 lanes: what lies behind them is computed, in the count and in the repeat form, and not stored. */
static void rounded_up(GM_ADDR a, GM_ADDR b, int stored) {
  Frame f(a, b);
  auto t = f.in.AllocTensor<float>();
  DataCopyPad(t, f.x, {1, 13 * 4, 0, 0, 0}, {false, 0, 0, 0.0f}); /* fills 16 lanes */
  f.in.EnQue(t);
  t = f.in.DeQue<float>();
  auto o = f.out.AllocTensor<float>();
  Adds(o, t, 1.0f, 64);
  Mul(o, o, o, 64, 1, {1, 1, 1, 8, 8, 8});
  Axpy(o, t, 2.0f, 64);
  f.in.FreeTensor(t);
  f.out.EnQue(o);
  o = f.out.DeQue<float>();
  DataCopyPad(f.y, o, {1, (uint32_t)stored * 4, 0, 0, 0});
  f.out.FreeTensor(o);
}
static void undefined_lanes_unused(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  rounded_up(a, b, 13);
}
static void undefined_lanes_stored(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  rounded_up(a, b, 20);
}
/* No lane of the source was ever written: a fault at once. */
static void nothing_loaded(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  auto t = f.in.AllocTensor<float>();
  auto o = f.out.AllocTensor<float>();
  Mul(o, t, t, 64, 4, {1, 1, 1, 8, 8, 8});
  f.in.FreeTensor(t);
  f.store(o);
}
static int64_t c_thirteen(const void *x, const void *y) {
  const float *a = (const float *)x, *b = (const float *)y;
  for (int i = 0; i < 13; i++) {
    float v = a[i] + 1.0f;
    if (b[i] != v * v + 2.0f * a[i]) return i;
  }
  return -1;
}
static void fill_small(void *x, int64_t n) {
  for (int64_t i = 0; i < n; i++) ((float *)x)[i] = (float)(i % 50) - 8.0f;
}
static void poison_store(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  auto t = f.load();
  auto o = f.out.AllocTensor<float>();
  Adds(o, t, 1.0f, N - 8);
  f.in.FreeTensor(t);
  f.store(o);
}
static void poison_scalar(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  auto t = f.load();
  auto o = f.out.AllocTensor<float>();
  o.GetValue(3);
  Adds(o, t, 1.0f, N);
  f.in.FreeTensor(t);
  f.store(o);
}
static void poison_workspace(GM_ADDR a, GM_ADDR b, GM_ADDR w) {
  good(a, b, nullptr);
  Frame f(a, b);
  GlobalTensor<float> ws;
  ws.SetGlobalBuffer((__gm__ float *)w, 64);
  auto t = f.in.AllocTensor<float>();
  DataCopy(t, ws, 8);
  f.in.FreeTensor(t);
}
static void system_workspace(GM_ADDR a, GM_ADDR b, GM_ADDR w) {
  good(a, b, nullptr);
  Frame f(a, b);
  GlobalTensor<float> ws;
  auto t = f.load();
  ws.SetGlobalBuffer((__gm__ float *)GetUserWorkspace(w), 64);
  DataCopy(ws, t, 64); /* right */
  ws.SetGlobalBuffer((__gm__ float *)w, 64);
  DataCopy(ws, t, 64); /* the system's part */
  f.in.FreeTensor(t);
}
static void stale_lanes(GM_ADDR a, GM_ADDR b,
                        GM_ADDR) { /* what an earlier tensor left in the slot is not the new one's */
  Frame f(a, b);
  auto t = f.load();
  f.in.FreeTensor(t);
  t = f.in.AllocTensor<float>();
  auto o = f.out.AllocTensor<float>();
  Adds(o, t, 1.0f, N);
  f.in.FreeTensor(t);
  f.store(o);
}
static void never_written(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  auto t = f.load();
  DataCopyPad(f.y, t, {1, (N - 3) * 4, 0, 0, 0});
  f.in.FreeTensor(t);
}
static void written_twice(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  auto t = f.load();
  DataCopy(f.y, t, N);
  PipeBarrier<PIPE_MTE3>(); /* in order: no hazard, a warning */
  DataCopyPad(f.y[10], t[16], {1, 5 * 4, 0, 0, 0});
  f.in.FreeTensor(t);
}
static void blocks_overlap(GM_ADDR a, GM_ADDR b, GM_ADDR) { /* every block writes the whole */
  Frame f(a, b);
  auto t = f.load();
  DataCopy(f.y, t, N); /* early, late */
  f.in.FreeTensor(t);
}
static void write_input(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  auto t = f.load();
  DataCopy(f.x, t, N);
  DataCopy(f.y, t, N);
  f.in.FreeTensor(t);
}
static void truncated(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  auto t = f.load();
  DataCopy(f.y, t, N);
  f.in.FreeTensor(t);
  SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
  WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
  t = f.in.AllocTensor<float>();
  DataCopy(t, f.x, 13);
  f.in.FreeTensor(t);
}
static void copy_fields(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  good(a, b, nullptr);
  Frame f(a, b);
  auto t = f.in.AllocTensor<float>();
  DataCopyPad(t, f.x, {4096, 4, 0, 0, 0}, {false, 0, 0, 0.0f});
  DataCopyPad(t, f.x, {1, 8, 0, 0, 0}, {true, 9, 0, 0.0f});
  f.in.FreeTensor(t);
}
static void repeat_limit(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  good(a, b, nullptr);
  Frame f(a, b);
  auto t = f.load();
  Adds(t, t, 1.0f, 64, 256, {1, 1, 0, 0});
  f.in.FreeTensor(t);
}
static void shifted(GM_ADDR a, GM_ADDR b, GM_ADDR) { /* a later repeat reads what an earlier one wrote */
  good(a, b, nullptr);
  Frame f(a, b);
  auto t = f.load();
  Adds(t[64], t, 1.0f, N - 64);
  f.in.FreeTensor(t);
}
static void compare_count(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  good(a, b, nullptr);
  Frame f(a, b);
  auto t = f.load();
  auto m = f.out.AllocTensor<uint8_t>();
  CompareScalar(m, t, 0.0f, CMPMODE::GT, 70);
  f.in.FreeTensor(t);
  f.out.FreeTensor(m);
}
static void no_dtype(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  good(a, b, nullptr);
  Frame f(a, b);
  auto t = f.load().ReinterpretCast<bfloat16_t>();
  Add(t, t, t, 64);
  f.in.FreeTensor(t);
}
static void no_cast(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  good(a, b, nullptr);
  Frame f(a, b);
  auto t = f.load();
  auto o = f.out.AllocTensor<bfloat16_t>();
  Cast(o, t, RoundMode::CAST_ODD, 64);
  f.in.FreeTensor(t);
  f.out.FreeTensor(o);
}
/* CAST_NONE is for conversions that lose nothing: here the library issues no instruction at all */
static void no_cast_none(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  good(a, b, nullptr);
  Frame f(a, b);
  auto t = f.load();
  auto o = f.out.AllocTensor<int32_t>();
  Cast(o, t, RoundMode::CAST_NONE, 64);
  f.in.FreeTensor(t);
  f.out.FreeTensor(o);
}
static void flag_twice(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  good(a, b, nullptr);
  SetFlag<HardEvent::V_S>(EVENT_ID1);
  SetFlag<HardEvent::V_S>(EVENT_ID1);
  WaitFlag<HardEvent::V_S>(EVENT_ID1);
}
static void flag_left(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  good(a, b, nullptr);
  SetFlag<HardEvent::V_S>(EVENT_ID1);
}
static void flag_missing(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  good(a, b, nullptr);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID1);
}
static void events_gone(GM_ADDR a, GM_ADDR b, GM_ADDR) { /* nine tensors enqueued at once */
  good(a, b, nullptr);
  TPipe pipe;
  TQue<TPosition::VECIN, 9> in;
  pipe.InitBuffer(in, 9, 32);
  for (int i = 0; i < 9; i++) {
    auto t = in.AllocTensor<float>();
    in.EnQue(t);
  }
  for (int i = 0; i < 9; i++) {
    auto t = in.DeQue<float>();
    in.FreeTensor(t); /* and each holds an id of V_MTE2 until its buffer is allocated again */
  }
}
static void select_reserved(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TBuf<TPosition::VECCALC> big;
  GlobalTensor<float> x, y;
  x.SetGlobalBuffer((__gm__ float *)a, N);
  y.SetGlobalBuffer((__gm__ float *)b, N);
  pipe.InitBuffer(in, 1, N * 4);
  pipe.InitBuffer(big, 190 * 1024);
  auto t = in.AllocTensor<float>();
  DataCopy(t, x, N);
  PipeBarrier<PIPE_ALL>();
  auto m = big.Get<uint8_t>();
  Duplicate(m.ReinterpretCast<uint16_t>(), (uint16_t)0xffff, 64);
  Select(t, m, t, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, N);
  PipeBarrier<PIPE_ALL>();
  DataCopy(y, t, N);
  in.FreeTensor(t);
}
static void sync_mismatch(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  if (GetBlockIdx() == 0) good(a, b, nullptr);
  if (GetBlockIdx() != 2) SyncAll();
}
static void sync_too_many(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  if (GetBlockIdx() == 0) good(a, b, nullptr);
  SyncAll();
}
static void own_assert(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  good(a, b, nullptr);
  ASSERT(GetBlockNum() == 2 && "two blocks");
}
static void atomic_unwritten(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  auto t = f.load();
  SetAtomicAdd<float>();
  DataCopy(f.y, t, N);
  SetAtomicNone();
  f.in.FreeTensor(t);
}
static void pad_on_310(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  auto t = f.load();
  DataCopyPad(f.y, t, {1, N * 4, 0, 0, 0});
  f.in.FreeTensor(t);
}
static void gather_past(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  good(a, b, nullptr);
  Frame f(a, b);
  auto t = f.load();
  auto o = f.out.AllocTensor<uint32_t>();
  Duplicate(o, (uint32_t)(N * 4), 8);
  Gather(t, t, o, 0u, 8);
  f.in.FreeTensor(t);
  f.out.FreeTensor(o);
}

/* Not allowed in place, and right all the same where no lane reads what another has written: so the run goes on. */
static void gather_in_place(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  Frame f(a, b);
  TBuf<TPosition::VECCALC> buf;
  f.pipe.InitBuffer(buf, N * sizeof(int32_t));
  auto t = f.load();
  auto o = buf.Get<int32_t>();
  CreateVecIndex(o, (int32_t)0, N);
  ShiftRight(o, o, (int32_t)3, N);
  ShiftLeft(o, o, (int32_t)5, N);
  Gather(t, t, o.ReinterpretCast<uint32_t>(), 0u, N);
  auto d = f.out.AllocTensor<float>();
  Adds(d, t, 0.0f, N);
  f.in.FreeTensor(t);
  f.store(d);
}
static void count_up(void *x, int64_t n) {
  for (int64_t i = 0; i < n; i++) static_cast<float *>(x)[i] = (float)i;
}
static int64_t first_of_eight(const void *, const void *y) {
  for (int i = 0; i < N; i++)
    if (static_cast<const float *>(y)[i] != (float)(i / 8 * 8)) return i;
  return -1;
}

static int64_t twos(const void *, const void *y) {
  for (int i = 0; i < N; i++)
    if (static_cast<const float *>(y)[i] != 2.0f) return i;
  return -1;
}

#define CASE(fn, fault, text) \
  { #fn, fn, 1, 4, N, N, 0, fault, text, nullptr, nullptr, 0, 0, 0 }
static const sim_case table[] = {
    CASE(good, nullptr, nullptr),
    CASE(gm_read_past, "gm-out-of-bounds", "elements 248..263 of x, which has 256"),
    CASE(gm_write_past, "gm-out-of-bounds", "DataCopyPad writes elements 256..256 of y, which has 256"),
    CASE(gm_view_past, "gm-out-of-bounds", "that SetGlobalBuffer gave 512 bytes"),
    {"ub_overflow", ub_overflow, 1, 4, N, 0, 0, "ub-overflow", "VECIN queue of line", nullptr, nullptr, 0, 0, 0},
    {"ub_overflow_unharmed", ub_overflow_unharmed, 1, 4, N, N, 0, "ub-overflow", nullptr, nullptr, twos, 0, 0, 0},
    CASE(ub_write_past, "ub-out-of-bounds", "dst writes bytes 992..1056 of a VECOUT buffer of 1024 bytes"),
    {"ub_write_past_lands", ub_write_past_lands, 1, 4, N, N, 0, "ub-out-of-bounds", nullptr, nullptr, twos, 0, 0, 0},
    {"freed_is_still_there", freed_is_still_there, 1, 4, N, N, 0, "use-after-free", nullptr, nullptr, twos, 0, 0, 0},
    {"broadcast_in_place", broadcast_in_place, 1, 4, N, N, 0, "overlap", "dst and src overlap", nullptr, twos, 0, 0,
     0},
    {"too_little_for_select", too_little_for_select, 1, 4, N, N, 0, "lib-temporary-memory", "has 128", nullptr, twos,
     0, 0, 0},
    {"pad_of_nothing", pad_of_nothing, 1, 4, N, N, 0, nullptr, nullptr, nullptr, twos, 0, 0, 0},
    CASE(misaligned, "misaligned", "src starts at byte 16"),
    CASE(use_after_free, "use-after-free", "src was freed"),
    CASE(use_after_realloc, "use-after-free", "allocated anew"),
    CASE(double_free, "double-free", nullptr),
    CASE(foreign, "foreign-tensor", "another queue"),
    CASE(while_queued, "use-while-queued", "EnQue"),
    CASE(alloc_deadlock, "queue-deadlock", "all 1 buffers of the VECIN queue"),
    CASE(deque_empty, "queue-empty", nullptr),
    CASE(no_init, "queue-not-initialised", nullptr),
    CASE(never_freed, "never-freed", "VECIN"),
    CASE(poison_vector, "read-poison", "of which 960 were never written (the first at byte 64"),
    {"undefined_lanes_unused", undefined_lanes_unused, 1, 4, N, 13, 0, nullptr, nullptr, fill_small, c_thirteen, 0, 0,
     0},
    {"undefined_lanes_stored", undefined_lanes_stored, 1, 4, N, 20, 0, "read-poison",
     "of which 16 were never written", fill_small, c_thirteen, 0, 0, 0},
    CASE(nothing_loaded, "read-poison", "none of the 256 elements of src0 was ever written"),
    CASE(poison_store, "read-poison", "the first at byte 992 of the VECOUT"),
    CASE(poison_scalar, "read-poison", "GetValue"),
    {"poison_workspace", poison_workspace, 1, 4, N, N, 256, "read-poison", "32 elements of workspace", nullptr,
     nullptr, 0, 0, 0},
    {"system_workspace", system_workspace, 1, 4, N, N, 512 + 256, "system-workspace", "first 512 bytes", nullptr,
     nullptr, 0, 0, 512},
    CASE(stale_lanes, "read-poison", nullptr),
    CASE(never_written, "never-written", "elements 253..255 of y are never written (3 of 256)"),
    CASE(written_twice, "written-twice", "elements 10..14 of y are written more than once (5 of 256)"),
    {"blocks_overlap", blocks_overlap, 7, 4, N, N, 0, "hazard-waw", "elements 0..255 of y", nullptr, nullptr, 0, 0,
     0},
    CASE(write_input, "write-to-input", "x"),
    CASE(truncated, "copy-truncated", "13 elements (52 bytes) moves only 32"),
    CASE(copy_fields, "field-limit", "blockCount is 4096"),
    CASE(repeat_limit, "field-limit", "repeatTimes is 256"),
    CASE(shifted, "overlap", nullptr),
    CASE(compare_count, "count-not-256", "(64 elements)"),
    CASE(no_dtype, "no-such-dtype", "Add of bfloat16_t"),
    CASE(no_cast, "no-such-cast", "CAST_ODD"),
    CASE(no_cast_none, "no-such-cast", "CAST_NONE"),
    CASE(flag_twice, "flag-set-twice", "V_S"),
    CASE(flag_left, "flag-left-set", "V_S, id 1"),
    CASE(flag_missing, "flag-not-set", "MTE2_V"),
    CASE(events_gone, "event-ids-exhausted", "MTE2_V"),
    CASE(select_reserved, "ub-reserved", "last 8192 bytes"),
    {"sync_mismatch", sync_mismatch, 4, 4, N, N, 0, "sync-mismatch", nullptr, nullptr, nullptr, 0, 0, 0},
    {"sync_too_many", sync_too_many, 49, 4, N, N, 0, "sync-too-many-blocks", "48 vector cores", nullptr, nullptr, 0,
     0, 0},
    CASE(own_assert, "assert", "two blocks"),
    CASE(atomic_unwritten, "read-poison",
         "256 elements of y that were never written (the first is element 0): an atomic store"),
    {"pad_on_310", pad_on_310, 1, 4, N, N, 0, "not-on-chip", "Ascend310P3", nullptr, nullptr, 0, 1, 0},
    CASE(gather_past, "ub-out-of-bounds", "src (at offsets, which count bytes) reads"),
    {"gather_in_place", gather_in_place, 1, 4, N, N, 0, "overlap", "share byte", count_up, first_of_eight, 0, 0, 0},
};
SIM_CASES(table);

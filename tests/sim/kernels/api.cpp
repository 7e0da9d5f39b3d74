/* One real use of every name of the API table (tests/sim/api/names.csv) that no other test kernel has. */
#include "tile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

constexpr int N = 256;
static void fill_words(void *p, int64_t n) {
  for (int64_t i = 0; i < n; i++) static_cast<uint32_t *>(p)[i] = static_cast<uint32_t>(i * 2654435761u);
}
static void fill_half(void *p, int64_t n) {
  for (int64_t i = 0; i < n; i++) static_cast<half *>(p)[i] = half(value(i));
}
static int64_t far(float got, double want) {
  return !(fabs(static_cast<double>(got) - want) <= 2e-4 * (1 + fabs(want)));
}

/* ---- moving ---- */

static void k_strided(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, N, [](auto d, auto s, auto &) {
    DataCopyParams odd; /* every second block, then every second place */
    odd.blockCount = N / 16, odd.blockLen = 1, odd.srcStride = 1, odd.dstStride = 1;
    DataCopy(d, s, odd);
    DataCopy(d[8], s, odd, DataCopyEnhancedParams());
  });
}
CHECK(c_strided, float, N, x[i / 16 * 16 + i % 8])

static void k_copy(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, N, [](auto d, auto s, auto &) {
    Duplicate(d, 0.0f, N);
    Copy(d, s, 40, 4, CopyRepeatParams(1, 1, 8, 8));
    uint64_t high[] = {1ull << 63, 0};
    Copy(d, s, high, 4, CopyRepeatParams(1, 1, 8, 8));
  });
}
CHECK(c_copy, float, N, i % 64 < 40 || i % 64 == 63 ? x[i] : 0.0f)

static void k_brcb(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, N, [](auto d, auto s, auto &) {
    BrcbRepeatParams every;
    every.dstBlkStride = 1, every.dstRepStride = 8;
    Brcb(d, s, N / 64, every);
  });
}
CHECK(c_brcb, float, N, x[i / 8])

static void k_blocked(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  TPipe pipe;
  TBuf<TPosition::VECIN> buf;
  GlobalTensor<half> x, y;
  x.SetGlobalBuffer((__gm__ half *)a, 1024);
  y.SetGlobalBuffer((__gm__ half *)b, 1024);
  y.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE); /* values do not depend on it */
  pipe.InitBuffer(buf, 2048);
  LocalTensor<half> t = buf.Get<half>();
  DataCopy(t, x, 1024);
  SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  DataCopy(y, t, Nz2NdParamsFull(1, 32, 32, 1, 32, 32, 1)); /* two columns of 16 wide fractals */
}
static int64_t c_blocked(const void *px, const void *py) {
  const uint16_t *x = static_cast<const uint16_t *>(px), *y = static_cast<const uint16_t *>(py);
  for (int64_t i = 0; i < 1024; i++)
    if (y[i] != x[i % 32 / 16 * 512 + i / 32 * 16 + i % 16]) return i;
  return -1;
}

static void k_pad_value(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  TPipe pipe;
  TBuf<TPosition::VECIN> buf;
  GlobalTensor<float> x, y;
  x.SetGlobalBuffer((__gm__ float *)a, N);
  y.SetGlobalBuffer((__gm__ float *)b, N);
  pipe.InitBuffer(buf, N * 4);
  LocalTensor<float> t = buf.Get<float>();
  SetPadValue(7.5f);
  /* rows of 5; isPad false leaves what fills the block to the register */
  DataCopyPad(t, x, DataCopyParams(N / 8, 20, 12, 0), DataCopyPadParams(false, 0, 0, 0));
  SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  DataCopy(y, t, N);
}
CHECK(c_pad_value, float, N, i % 8 < 5 ? x[i] : 7.5f)

static void k_fill(GM_ADDR, GM_ADDR b, GM_ADDR) {
  GlobalTensor<float> y;
  y.SetGlobalBuffer((__gm__ float *)b, N);
  TPipe pipe;
  Fill(y, N, 2.5f);
}
CHECK(c_fill, float, N, 2.5f)

template <typename F> static void atomically(GM_ADDR a, GM_ADDR b, F f) {
  TPipe pipe;
  TBuf<TPosition::VECIN> buf;
  GlobalTensor<float> x, y;
  x.SetGlobalBuffer((__gm__ float *)a, N);
  y.SetGlobalBuffer((__gm__ float *)b, N);
  pipe.InitBuffer(buf, N * 4);
  LocalTensor<float> t = buf.Get<float>();
  DataCopy(t, x, N);
  SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  f();
  DataCopy(y, t, N);
  SetAtomicNone();
}
static void k_atomic_max(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  atomically(a, b, [] { SetAtomicMax<float>(); });
}
CHECK(c_atomic_max, float, N, x[i] > 0 ? x[i] : 0)
static void k_atomic_min(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  atomically(a, b, [] { SetAtomicMin<float>(); });
}
CHECK(c_atomic_min, float, N, x[i] < 0 ? x[i] : 0)
/* what a kernel starts with: stores set, they do not add */
static void k_state(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  atomically(a, b, [] {
    SetAtomicAdd<float>();
    InitSocState();
  });
}
CHECK(c_state, float, N, x[i])

static void k_workspace(GM_ADDR a, GM_ADDR b, GM_ADDR w) {
  __gm__ uint8_t *system = GetSysWorkSpacePtr();
  ASSERT(system == w && GetUserWorkspace(w) == w + 512);
  atomically(a, b, [] {});
}

/* ---- vector instructions ---- */

static void k_bits(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<uint32_t>(a, b, N, N, [](auto d, auto s, auto &t) {
    LocalTensor<uint32_t> u = t.template Get<uint32_t>();
    ShiftLeft(u, s, 3u, N);
    ShiftRight(d, s, 5u, N);
    LocalTensor<uint16_t> x = d.template ReinterpretCast<uint16_t>(), y = u.template ReinterpretCast<uint16_t>();
    Or(x, x, y, 2 * N);
  });
}
CHECK(c_bits, uint32_t, N, (x[i] << 3) | (x[i] >> 5))
/* right, rounded by the last bit that leaves: by bits, by lanes, in place; an unsigned number is not rounded */
static void k_shift_round(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<int32_t>(a, b, N, N, [](auto d, auto s, auto &) {
    uint64_t mask[2] = {~0ull, 0};
    ShiftRight(d, s, 5, mask, 1, {1, 1, 8, 8}, true);
    ShiftRight(d[64], s[64], 31, static_cast<uint64_t>(64), 1, {1, 1, 8, 8}, true);
    ShiftRight(s[128], s[128], 5, static_cast<uint64_t>(64), 1, {1, 1, 8, 8}, false);
    Adds(d[128], s[128], 0, 64);
    auto u = s.template ReinterpretCast<uint32_t>();
    ShiftRight(u[192], u[192], 5u, static_cast<uint64_t>(64), 1, {1, 1, 8, 8}, true);
    Adds(d[192], s[192], 0, 64);
  });
}
CHECK(c_shift_round, int32_t, N,
      i < 64    ? (x[i] >> 5) + (x[i] >> 4 & 1)
      : i < 128 ? (x[i] >> 31) + (x[i] >> 30 & 1)
      : i < 192 ? x[i] >> 5
                : static_cast<int32_t>(static_cast<uint32_t>(x[i]) >> 5))
/* dst = a < b and the other five, of whole tensors */
static void k_compare_op(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, 6 * N / 32, [](auto d, auto s, auto &t) {
    LocalTensor<float> c = t.template Get<float>();
    Duplicate(c, value(5), N);
    s.SetSize(N);
    c.SetSize(N);
    LocalTensor<uint8_t> bits = d.template ReinterpretCast<uint8_t>(), to[6];
    for (int i = 0; i < 6; i++) to[i] = bits[i * N / 8];
    to[0] = s < c;
    to[1] = s > c;
    to[2] = s <= c;
    to[3] = s >= c;
    to[4] = s == c;
    to[5] = s != c;
  });
}
static int64_t c_compare_op(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), c = value(5);
  for (int i = 0; i < N; i++) {
    bool want[] = {x[i]<c, x[i]> c, x[i] <= c, x[i] >= c, x[i] == c, x[i] != c};
    for (int k = 0; k < 6; k++)
      if ((static_cast<const uint8_t *>(py)[(k * N + i) / 8] >> i % 8 & 1) != want[k]) return i;
  }
  return -1;
}
/* more lanes than a repeat has: all of them */
static void k_mask_cut(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, N, [](auto d, auto s, auto &) {
    Duplicate(d, 0.0f, N);
    Adds(d, s, 1.0f, static_cast<uint64_t>(N), 2, {1, 1, 8, 8});
  });
}
CHECK(c_mask_cut, float, N, i < 128 ? x[i] + 1 : 0)
static void k_xor(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<uint16_t>(a, b, N, N / 2,
                    [](auto d, auto s, auto &t) { Xor(d, s, s[N / 2], t.template Get<uint8_t>(), N / 2); });
}
CHECK(c_xor, uint16_t, N / 2, x[i] ^ x[i + N / 2])

static void k_fused(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, N, [](auto d, auto s, auto &) {
    Duplicate(d, 3.0f, N);
    MulAddDst(d, s, s, N);   /* x*x + 3 */
    FusedMulAdd(d, s, s, N); /* (x*x + 3) * x + x */
  });
}
static int64_t c_fused(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int i = 0; i < N; i++)
    if (far(y[i], (double(x[i]) * x[i] + 3) * x[i] + x[i])) return i;
  return -1;
}

static void k_reduce(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, 40, [](auto d, auto s, auto &) {
    Duplicate(d, 0.0f, 8);
    WholeReduceSum(d, s, 64, 4, 1, 1, 8);
    BlockReduceMax(d[8], s, 4, 64, 1, 1, 8);
  });
}
static int64_t c_reduce(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int r = 0; r < 4; r++) {
    double sum = 0;
    for (int i = 0; i < 64; i++) sum += x[r * 64 + i];
    if (far(y[r], sum)) return r;
  }
  for (int r = 0; r < 32; r++) {
    float top = x[r * 8];
    for (int i = 1; i < 8; i++) top = x[r * 8 + i] > top ? x[r * 8 + i] : top;
    if (y[8 + r] != top) return 8 + r;
  }
  return -1;
}

static void k_gather_mask(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, N / 2, [](auto d, auto s, auto &) {
    uint64_t kept = 0;
    GatherMask<float, GatherMaskMode::VERSION_V2>(d, s, 2, false, 0, GatherMaskParams(1, 4, 8, 0),
                                                  kept); /* odd ones */
    ASSERT(kept == N / 2);
  });
}
CHECK(c_gather_mask, float, N / 2, x[2 * i + 1])

static void k_sort_length(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, 128, [](auto d, auto s, auto &t) {
    ASSERT(GetSortLen<float>(32) == 64 && GetSortLen<half>(32) == 128 && GetSortOffset<float>(16) == 32);
    LocalTensor<uint32_t> index = t.template Get<uint32_t>();
    LocalTensor<float> sorted = t.template GetWithOffset<float>(512, 1024);
    ArithProgression<int32_t>(index.template ReinterpretCast<int32_t>(), 0, 1, 64);
    Sort32(sorted, s, index, 2);
    uint16_t lengths[] = {32, 32, 0, 0};
    Duplicate(d, 0.0f, 128);
    MrgSort(d, MrgSortSrcList<float>(sorted, sorted[GetSortLen<float>(32)], sorted, sorted),
            MrgSort4Info(lengths, true, 3, 1));
    uint16_t n[4];
    GetMrgSortResult(n[0], n[1], n[2], n[3]);
    ASSERT((n[0] == 32) != (n[1] == 32) && n[0] <= 32 && n[1] <= 32);
    SetFlag<HardEvent::V_S>(EVENT_ID0);
    WaitFlag<HardEvent::V_S>(EVENT_ID0);
    for (int i = 1; i < n[0] + n[1]; i++) ASSERT(d.GetValue(2 * i) <= d.GetValue(2 * i - 2));
  });
}

/* of the 310P: records of eight halves, the score in the fifth */
static void k_proposals(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  TBuf<TPosition::VECCALC> one, two;
  GlobalTensor<half> x, y;
  x.SetGlobalBuffer((__gm__ half *)a, N);
  y.SetGlobalBuffer((__gm__ half *)b, 32);
  pipe.InitBuffer(in, 1, N * 2);
  pipe.InitBuffer(out, 1, 64);
  pipe.InitBuffer(one, 512);
  pipe.InitBuffer(two, 512);
  LocalTensor<half> s = in.AllocTensor<half>(), r = one.Get<half>(), m = two.Get<half>();
  DataCopy(s, x, N);
  in.EnQue(s);
  s = in.DeQue<half>();
  Duplicate(r, half(0.0f), 256);
  ProposalConcat(r, s, 2, 4);
  RpSort16(r, r, 2);
  uint16_t lengths[] = {16, 16, 0, 0};
  MrgSort4(m, MrgSortSrcList<half>(r, r[128], r, r), MrgSort4Info(lengths, false, 3, 1));
  LocalTensor<half> d = out.AllocTensor<half>();
  ProposalExtract(d, m, 2, 4);
  out.EnQue(d);
  d = out.DeQue<half>();
  DataCopy(y, d, 32);
  out.FreeTensor(d);
  in.FreeTensor(s);
}
static int64_t c_proposals(const void *px, const void *py) {
  const half *x = static_cast<const half *>(px), *y = static_cast<const half *>(py);
  for (int i = 0; i < 32; i++) {
    int larger = 0, same = 0;
    for (int k = 0; k < 32; k++) {
      larger += static_cast<float>(x[k]) > static_cast<float>(y[i]);
      same += static_cast<float>(x[k]) == static_cast<float>(y[i]);
    }
    if (!same || larger > i || larger + same <= i) return i;
  }
  return -1;
}

/* ---- queues, events, tensors ---- */

static void k_events(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  {
    TPipe first;
    TBuf<TPosition::VECIN> all;
    first.InitBuffer(all, 150 * 1024);
    first.Destroy(); /* what it had is free again */
  }
  TPipe pipe;
  TQue<TPosition::VECOUT, 1> out;
  TBuf<TPosition::VECIN> buf;
  GlobalTensor<float> x, y;
  x.SetGlobalBuffer((__gm__ float *)a, N);
  y.SetGlobalBuffer((__gm__ float *)b, N);
  pipe.InitBuffer(buf, 100 * 1024);
  pipe.InitBuffer(out, 2, N * 4);
  LocalTensor<float> t = buf.Get<float>();
  DataCopy(t, x, N);
  TEventID id = GetTPipePtr()->AllocEventID<HardEvent::MTE2_V>();
  SetFlag<HardEvent::MTE2_V>(id);
  WaitFlag<HardEvent::MTE2_V>(id);
  GetTPipePtr()->ReleaseEventID<HardEvent::MTE2_V>(id);
  LocalTensor<float> d = out.AllocTensor<float>();
  ASSERT(!out.HasTensorInQue());
  Adds(d, t, 1.0f, N);
  out.EnQue(d);
  ASSERT(out.HasTensorInQue());
  d = out.DeQue<float>();
  TQueSync<PIPE_V, PIPE_MTE3> sync;
  TEventID other = GetTPipePtr()->FetchEventID<HardEvent::V_MTE3>();
  sync.SetFlag(other);
  sync.WaitFlag(other);
  DataCopy(y, d, N);
  out.FreeTensor(d);
  out.FreeAllEvent();
}
CHECK(c_events, float, N, x[i] + 1)

static void k_tensors(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, N, [](auto d, auto s, auto &t) {
    static_assert(IsSameType<typename decltype(s)::PrimType, float>::value, "");
    static_assert(GetDataBlockSizeInBytes<float>() == 32, "");
    uint32_t dims[] = {4, 64};
    s.SetShapeInfo(ShapeInfo(2, dims, DataFormat::ND));
    ShapeInfo info = s.GetShapeInfo();
    ASSERT(info.shapeDim == 2 && GetShapeSize(info) == 256 && info.shape[1] == 64 &&
           info.dataFormat == DataFormat::ND);
    LocalTensor<float> rest;
    ASSERT((PopStackBuffer<float, TPosition::LCM>(rest)) && rest.GetSize() >= N);
    LocalTensor<float> half_of = t.template Get<float>();
    half_of.SetBufferLen(N * 4);
    ASSERT(half_of.GetSize() == N);
    Adds(rest, s, 2.0f, N);
    Muls(half_of, rest, 2.0f, N);
    DataCopy(d, half_of, N);
  });
}
CHECK(c_tensors, float, N, (x[i] + 2) * 2)
/* A list of one 4 x 64 tensor: the record, its dimensions, then the address. */
static void k_list(GM_ADDR a, GM_ADDR b, GM_ADDR w) {
  uint64_t *list = reinterpret_cast<uint64_t *>(w);
  const uint64_t words[] = {32, 2, 4, 64, reinterpret_cast<uint64_t>(a)};
  GlobalTensor<uint64_t> table;
  table.SetGlobalBuffer(list, 5);
  for (int i = 0; i < 5; i++) table.SetValue(i, words[i]);
  ListTensorDesc lists(w);
  TensorDesc<float> desc;
  uint64_t shape[8] = {};
  desc.SetShapeAddr(shape);
  lists.GetDesc(desc, 0);
  ASSERT(lists.GetSize() == 1 && desc.GetDim() == 2 && desc.GetShape(0) == 4 && desc.GetShape(1) == 64);
  on_tile<float>(reinterpret_cast<GM_ADDR>(desc.GetDataPtr()), b, N, N,
                 [](auto d, auto s, auto &) { Adds(d, s, 1.0f, N); });
}

static void k_scm(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<half>(a, b, N, N, [](auto d, auto s, auto &) {
    TSCM<TPosition::VECIN> l1; /* in L1: it takes no UB */
    GetTPipePtr()->InitBuffer(l1, 1, 400 * 1024);
    LocalTensor<half> t = l1.template AllocTensor<half>();
    ASSERT(t.GetSize() == 200 * 1024);
    l1.EnQue(t);
    t = l1.template DeQue<half>();
    l1.FreeTensor(t);
    DataCopy(d, s, N);
  });
}
static int64_t c_same(const void *px, const void *py) {
  return memcmp(px, py, 2 * N) ? 0 : -1;
}

static void k_print(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, N, [](auto d, auto s, auto &) {
    DataCopy(d, s, N);
    PRINTF("api.cpp: %u elements\n", s.GetSize());
  });
}
static void k_trap(GM_ADDR a, GM_ADDR b, GM_ADDR w) {
  k_print(a, b, w);
  Trap();
}

/* a queue without types: the tensor is made from where the buffer lies */
static void k_untyped(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> que;
  GlobalTensor<float> x, y;
  x.SetGlobalBuffer((__gm__ float *)a, N);
  y.SetGlobalBuffer((__gm__ float *)b, N);
  pipe.InitBuffer(que, 1, N * 4);
  TBufHandle handle = que.AllocBuffer();
  LocalTensor<float> t;
  t.SetAddr(que.GetBufferAddr(handle));
  ASSERT(t.GetSize() == N && que.GetBufferAddr(handle).dataLen == N * 4);
  DataCopy(t, x, N);
  que.EnQue(handle);
  handle = que.DeQue();
  t.SetAddr(que.GetBufferAddr(handle));
  DataCopy(y, t, N);
  que.FreeBuffer(handle);
}

/* ---- layouts ---- */

/* N, C, D, H, W = 2, 18, 2, 3, 4: 12 elements padded to 16, 18 channels to 32 */
constexpr int TN = 2, TC = 18, TD = 2, HW = 12, ROW = 16, PC = 32;
constexpr int TX = TN * TC * TD * ROW, T5 = TN * PC * TD * HW, TZ = 16 * PC * TD * HW;
static constexpr TransDataConfig to5 = {DataFormat::NCDHW, DataFormat::NDC1HWC0};
static constexpr TransDataConfig from5 = {DataFormat::NDC1HWC0, DataFormat::NCDHW};
static constexpr TransDataConfig toz = {DataFormat::NCDHW, DataFormat::FRACTAL_Z_3D};
static constexpr TransDataConfig fromz = {DataFormat::FRACTAL_Z_3D, DataFormat::NCDHW};
template <typename F> static void on_halves(GM_ADDR a, GM_ADDR b, int nx, int ny, F f) {
  TPipe pipe;
  TBuf<TPosition::VECIN> in;
  TBuf<TPosition::VECOUT> out;
  TBuf<TPosition::VECCALC> buf;
  GlobalTensor<half> x, y;
  x.SetGlobalBuffer((__gm__ half *)a, nx);
  y.SetGlobalBuffer((__gm__ half *)b, ny);
  pipe.InitBuffer(in, static_cast<uint32_t>(nx * 2));
  pipe.InitBuffer(out, static_cast<uint32_t>(ny * 2));
  pipe.InitBuffer(buf, 120 * 1024);
  LocalTensor<half> s = in.Get<half>(), d = out.Get<half>();
  DataCopy(s, x, nx);
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  f(d, s, buf);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(y, d, ny);
}
static auto plain_layout() {
  return MakeLayout(MakeShape(TN, TC, TD, 3, 4), MakeStride());
}
static auto blocked_layout(int c1 = PC / 16) {
  return MakeLayout(MakeShape(TN, TD, c1, 3, 4, 16), MakeStride());
}
static void k_transdata(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_halves(a, b, TX, T5, [](auto d, auto s, auto &buf) {
    auto plain = plain_layout();
    auto blocked = blocked_layout();
    TransDataParams<decltype(plain), decltype(blocked)> there = {plain, blocked};
    TransDataParams<decltype(blocked), decltype(plain)> back = {blocked, plain};
    LocalTensor<half> other = buf.template Get<half>();
    LocalTensor<uint8_t> tmp = buf.template GetWithOffset<uint8_t>(8192, 65536);
    TransData<to5>(d, s, tmp, there);
    Duplicate(other, half(0.0f), TX);
    TransData<from5>(other, d, tmp, back);
    TransData<to5>(d, other, there); /* there, back and there again */
  });
}
static uint16_t plain_at(const uint16_t *x, int n, int c, int d, int i) {
  return n < TN && c < TC ? x[((n * TC + c) * TD + d) * ROW + i] : 0;
}
static int64_t c_transdata(const void *px, const void *py) {
  const uint16_t *x = static_cast<const uint16_t *>(px), *y = static_cast<const uint16_t *>(py);
  for (int n = 0; n < TN; n++)
    for (int d = 0; d < TD; d++)
      for (int c = 0; c < PC; c++)
        for (int i = 0; i < HW; i++) {
          int at = (((n * TD + d) * 2 + c / 16) * HW + i) * 16 + c % 16;
          if (y[at] != plain_at(x, n, c, d, i)) return at;
        }
  return -1;
}
static void k_fractal(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_halves(a, b, TX, TZ, [](auto d, auto s, auto &buf) {
    auto plain = plain_layout();
    auto blocked = MakeLayout(MakeShape(TD, PC / 16, 3, 4, 1, 16, 16), MakeStride());
    TransDataParams<decltype(plain), decltype(blocked)> there = {plain, blocked};
    TransDataParams<decltype(blocked), decltype(plain)> back = {blocked, plain};
    LocalTensor<half> other = buf.template Get<half>();
    LocalTensor<uint8_t> tmp = buf.template GetWithOffset<uint8_t>(80 * 1024, 16384);
    TransData<toz>(d, s, tmp, there);
    Duplicate(other, half(0.0f), TX);
    TransData<fromz>(other, d, tmp.template ReinterpretCast<uint8_t>(), back);
    PipeBarrier<PIPE_V>();
    TransData<toz>(d, other, tmp, there);
  });
}
static int64_t c_fractal(const void *px, const void *py) {
  const uint16_t *x = static_cast<const uint16_t *>(px), *y = static_cast<const uint16_t *>(py);
  for (int d = 0; d < TD; d++)
    for (int c = 0; c < PC; c++)
      for (int i = 0; i < HW; i++)
        for (int n = 0; n < 16; n++) {
          int at = (((d * 2 + c / 16) * HW + i) * 16 + n) * 16 + c % 16;
          if (y[at] != plain_at(x, n, c, d, i)) return at;
        }
  return -1;
}
/* S = 16 rows of H = 80 columns in NZ; 4 heads of 20 columns, which NZ pads to 32 */
constexpr int HS = 16, HN = 4, HD = 20, HH = HN * HD, HX = HS * HH;
static void k_heads(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_halves(a, b, HX, 3 * HX, [](auto d, auto s, auto &buf) {
    ::ConfusionTransposeTiling t;
    t.param0 = 1, t.param1 = HN, t.param2 = HS, t.param3 = HD;
    LocalTensor<half> heads = buf.template Get<half>();
    LocalTensor<uint8_t> tmp = buf.template GetWithOffset<uint8_t>(1024, 65536);
    Transpose(d, s, tmp, TransposeType::TRANSPOSE_NZ2ND_012_WITH_N, t);
    Transpose(heads, s, tmp, TransposeType::TRANSPOSE_NZ2NZ_012_WITH_N, t);
    Transpose(d[HX], heads, tmp, TransposeType::TRANSPOSE_NZ2NZ_012_WITHOUT_N, t);
    Transpose(d[2 * HX], heads, tmp, TransposeType::TRANSPOSE_NZ2ND_012_WITHOUT_N, t);
  });
}
static int64_t c_heads(const void *px, const void *py) {
  const uint16_t *x = static_cast<const uint16_t *>(px), *y = static_cast<const uint16_t *>(py);
  for (int s = 0; s < HS; s++)
    for (int h = 0; h < HH; h++) {
      uint16_t want = x[(h / 16 * HS + s) * 16 + h % 16];
      int head = ((h / HD) * HS + s) * HD + h % HD;
      if (y[head] != want) return head;
      if (y[HX + (h / 16 * HS + s) * 16 + h % 16] != want) return HX;
      if (y[2 * HX + s * HH + h] != want) return 2 * HX + s * HH + h;
    }
  return -1;
}
static void k_heads_tmp(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_halves(a, b, HX, HX, [](auto d, auto s, auto &buf) {
    ::ConfusionTransposeTiling t;
    t.param0 = 1, t.param1 = HN, t.param2 = HS, t.param3 = HD;
    Transpose(d, s, buf.template GetWithOffset<uint8_t>(992, 0), TransposeType::TRANSPOSE_NZ2ND_012_WITH_N, t);
  });
}

template <int c1, int bytes> static void bad_transdata(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_halves(a, b, TX, T5, [](auto d, auto s, auto &buf) {
    auto plain = plain_layout();
    auto blocked = blocked_layout(c1);
    TransDataParams<decltype(plain), decltype(blocked)> there = {plain, blocked};
    Duplicate(d, half(0.0f), T5);
    TransData<to5>(d, s, buf.template GetWithOffset<uint8_t>(bytes, 0), there);
  });
}

/* ---- the library ---- */

#define WANT(name, want)                                                                   \
  static int64_t name(const void *px, const void *py) {                                    \
    const float *xs = static_cast<const float *>(px), *y = static_cast<const float *>(py); \
    for (int i = 0; i < N; i++) {                                                          \
      [[maybe_unused]] double x = xs[i];                                                   \
      if (far(y[i], want)) return i;                                                       \
    }                                                                                      \
    return -1;                                                                             \
  }
#define COMMA ,
#define LIBRARY(k, c, call, want)                              \
  static void k(GM_ADDR a, GM_ADDR b, GM_ADDR) {               \
    on_tile<float>(a, b, N, N, [](auto d, auto s, auto &buf) { \
      LocalTensor<uint8_t> t = buf.template Get<uint8_t>();    \
      call;                                                    \
    });                                                        \
  }                                                            \
  WANT(c, want)
LIBRARY(k_silu, c_silu, (void)t; Silu(d, s, N), x / (1 + exp(-x)))
LIBRARY(k_faster_gelu, c_faster_gelu, FasterGelu(d, s, t, N), x / (1 + exp(-1.702 * x)))
LIBRARY(k_swish, c_swish, (void)t; Swish(d, s, N, 1.5f), x / (1 + exp(-1.5 * x)))
LIBRARY(k_clamp, c_clamp, ClampMin(d, s, t, -2.0f, N); ClampMax(d, d, t, 3.0f, N), x<-2 ? -2 : x> 3 ? 3 : x)
LIBRARY(k_frac, c_frac, Frac(d, s, t, N), x - trunc(x))
LIBRARY(k_fmod, c_fmod, LocalTensor<float> m = buf.template GetWithOffset<float>(N, 32768); Duplicate(m, 1.75f, N);
        Fmod(d, s, m, t, N), fmod(x, 1.75))
LIBRARY(k_acosh, c_acosh, LocalTensor<float> m = buf.template GetWithOffset<float>(N, 32768); Abs(m, s, N);
        Adds(m, m, 1.5f, N); Acosh(d, m, t, N), acosh(fabs(x) + 1.5))
LIBRARY(k_arange, c_arange, (void)t; (void)s; Arange(d, 2.0f, 0.5f, N), 2 + 0.5 * i)
LIBRARY(k_broadcast, c_broadcast, uint32_t to[] = {4 COMMA 64} COMMA from[] = {1 COMMA 64};
        Broadcast<float COMMA 2 COMMA 0>(d, s, to, from, t), static_cast<double>(xs[i % 64]))

static void k_softmax(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, N, [](auto d, auto s, auto &t) {
    LocalTensor<float> sum = t.template Get<float>(), max = t.template GetWithOffset<float>(64, 1024);
    LocalTensor<uint8_t> tmp = t.template GetWithOffset<uint8_t>(16384, 4096);
    SoftMaxTiling tiling;
    SoftMaxShapeInfo shape = {4, 64, 4, 64};
    Duplicate(sum, 2.0f, 32);
    Duplicate(max, 1.0f, 32);
    SimpleSoftMax(d, sum, max, s, tmp, tiling, shape);
  });
}
WANT(c_softmax, exp(x - 1) / 2)
static void k_gradient_front(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, 32, [](auto d, auto s, auto &t) {
    LocalTensor<float> grad = t.template Get<float>();
    LocalTensor<uint8_t> tmp = t.template GetWithOffset<uint8_t>(16384, 4096);
    SoftMaxTiling tiling;
    Adds(grad, s, 1.0f, N);
    SoftmaxGradFront(d, grad, s, tmp, tiling, SoftMaxShapeInfo{4, 64, 4, 64});
  });
}
static int64_t c_gradient_front(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int r = 0; r < 4; r++) {
    double sum = 0;
    for (int i = 0; i < 64; i++) sum += (double(x[r * 64 + i]) + 1) * x[r * 64 + i];
    for (int i = 0; i < 8; i++)
      if (far(y[r * 8 + i], sum)) return r * 8 + i;
  }
  return -1;
}

#define CASE(k, c) \
  { #k, k, 1, 4, N, N, 0, nullptr, nullptr, fill_values, c, 0, 0, 0 }
static const sim_case table[] = {
    CASE(k_strided, c_strided),
    CASE(k_copy, c_copy),
    CASE(k_brcb, c_brcb),
    {"k_blocked", k_blocked, 1, 2, 1024, 1024, 0, nullptr, nullptr, fill_half, c_blocked, 0, 0, 0},
    CASE(k_pad_value, c_pad_value),
    CASE(k_fill, c_fill),
    {"k_atomic_max", k_atomic_max, 1, 4, N, N, 0, nullptr, nullptr, fill_values, c_atomic_max, 1, 0, 0},
    {"k_atomic_min", k_atomic_min, 1, 4, N, N, 0, nullptr, nullptr, fill_values, c_atomic_min, 1, 0, 0},
    {"k_state", k_state, 1, 4, N, N, 0, nullptr, nullptr, fill_values, c_state, 1, 0, 0},
    {"k_workspace", k_workspace, 1, 4, N, N, 1024, nullptr, nullptr, fill_values, c_state, 0, 0, 512},
    {"k_bits", k_bits, 1, 4, N, N, 0, nullptr, nullptr, fill_words, c_bits, 0, 0, 0},
    {"k_shift_round", k_shift_round, 1, 4, N, N, 0, nullptr, nullptr, fill_words, c_shift_round, 0, 0, 0},
    {"k_compare_op", k_compare_op, 1, 4, N, 6 * N / 32, 0, nullptr, nullptr, fill_values, c_compare_op, 0, 0, 0},
    {"k_mask_cut", k_mask_cut, 1, 4, N, N, 0, "mask-too-long", "a mask of 256 lanes: a repeat has 64", fill_values,
     c_mask_cut, 0, 0, 0},
    {"k_xor", k_xor, 1, 2, N, N / 2, 0, nullptr, nullptr, fill_half, c_xor, 0, 0, 0},
    CASE(k_fused, c_fused),
    {"k_reduce", k_reduce, 1, 4, N, 40, 0, nullptr, nullptr, fill_values, c_reduce, 0, 0, 0},
    {"k_gather_mask", k_gather_mask, 1, 4, N, N / 2, 0, nullptr, nullptr, fill_values, c_gather_mask, 0, 0, 0},
    {"k_sort_length", k_sort_length, 1, 4, N, 128, 0, nullptr, nullptr, fill_values, nullptr, 0, 0, 0},
    {"k_proposals", k_proposals, 1, 2, N, 32, 0, nullptr, nullptr, fill_half, c_proposals, 0, 1, 0},
    CASE(k_events, c_events),
    CASE(k_tensors, c_tensors),
    {"k_list", k_list, 1, 4, N, N, 64, nullptr, nullptr, fill_values, nullptr, 0, 0, 0},
    {"k_scm", k_scm, 1, 2, N, N, 0, nullptr, nullptr, fill_half, c_same, 0, 0, 0},
    CASE(k_print, c_state),
    {"k_trap", k_trap, 1, 4, N, N, 0, "trap", nullptr, fill_values, nullptr, 0, 0, 0},
    CASE(k_untyped, c_state),
    {"k_transdata", k_transdata, 1, 2, TX, T5, 0, nullptr, nullptr, fill_half, c_transdata, 0, 0, 0},
    {"k_fractal", k_fractal, 1, 2, TX, TZ, 0, nullptr, nullptr, fill_half, c_fractal, 0, 0, 0},
    {"k_heads", k_heads, 1, 2, HX, 3 * HX, 0, nullptr, nullptr, fill_half, c_heads, 0, 0, 0},
    {"k_heads_tmp", k_heads_tmp, 1, 2, HX, HX, 0, "lib-temporary-memory", nullptr, fill_half, nullptr, 0, 0, 0},
    {"transdata_shape", bad_transdata<1, 8192>, 1, 2, TX, T5, 0, "lib-shape", "layouts", fill_half, nullptr, 0, 0, 0},
    {"transdata_tmp", bad_transdata<2, 1024>, 1, 2, TX, T5, 0, "lib-temporary-memory", nullptr, fill_half, nullptr, 0,
     0, 0},
    CASE(k_silu, c_silu),
    CASE(k_faster_gelu, c_faster_gelu),
    CASE(k_swish, c_swish),
    CASE(k_clamp, c_clamp),
    CASE(k_frac, c_frac),
    CASE(k_fmod, c_fmod),
    CASE(k_acosh, c_acosh),
    CASE(k_arange, c_arange),
    CASE(k_broadcast, c_broadcast),
    CASE(k_softmax, c_softmax),
    {"k_gradient_front", k_gradient_front, 1, 4, N, 32, 0, nullptr, nullptr, fill_values, c_gradient_front, 0, 0, 0},
};
SIM_CASES(table);

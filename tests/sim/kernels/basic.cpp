/* Fixed addresses, buffer pools, newer names, quantising conversions, registers, access past the data cache, printing. */
#include "kernel_operator.h"
#include "sim_test.h"

#include <math.h>
#include <string.h>
using namespace AscendC;

static void ramp(void *p, int64_t n) {
  for (int64_t i = 0; i < n; i++) static_cast<float *>(p)[i] = static_cast<float>(i - n / 2) * 0.25f;
}

/* ---- without TPipe ---- */

constexpr int N = 256;
static void copy_in(const LocalTensor<float> &t, GM_ADDR a, int n) {
  GlobalTensor<float> x;
  x.SetGlobalBuffer((__gm__ float *)a, n);
  DataCopy(t, x, n);
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
}
static void copy_out(GM_ADDR b, const LocalTensor<float> &t, int n) {
  GlobalTensor<float> y;
  y.SetGlobalBuffer((__gm__ float *)b, n);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(y, t, n);
}
static void k_allocator(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  LocalMemAllocator<Hardware::UB> ub;
  ASSERT(ub.GetCurAddr() == 0);
  LocalTensor<float> s = ub.Alloc<TPosition::VECIN, float, N>();
  LocalTensor<float> d = ub.Alloc<float>(N + 1);
  ASSERT(ub.GetCurAddr() == N * 4 + N * 4 + 32);
  LocalTensor<half> h = ub.Alloc<TPosition::VECCALC, half>(8);
  ASSERT(h.GetSize() == 8);
  copy_in(s, a, N);
  Adds(d, s, 1.0f, N);
  copy_out(b, d, N);
}
static int64_t c_plus_one(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int i = 0; i < N; i++)
    if (y[i] != x[i] + 1) return i;
  return -1;
}
static void k_fixed(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  LocalTensor<float> s(TPosition::VECIN, 1024, N);
  copy_in(s, a, N);
  LocalTensor<float> again(TPosition::VECIN, 1024, N), d(TPosition::VECOUT, 4096, N);
  Adds(d, again, 1.0f, N); /* the same place is the same buffer */
  copy_out(b, d, N);
}
static void k_fixed_beyond(GM_ADDR, GM_ADDR, GM_ADDR) {
  LocalTensor<float> s(TPosition::VECIN, 192 * 1024 - 64, N);
}
static void k_fixed_misaligned(GM_ADDR, GM_ADDR, GM_ADDR) {
  LocalTensor<float> s(TPosition::VECIN, 4, N);
}
static void k_fixed_small(GM_ADDR, GM_ADDR, GM_ADDR) {
  LocalTensor<float> s(TPosition::VECIN, 0, 8);
  Duplicate(s, 1.0f, 16);
}

/* ---- pools ---- */

static void k_pools(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  TPipe pipe;
  GlobalTensor<float> x, y;
  x.SetGlobalBuffer((__gm__ float *)a, N);
  y.SetGlobalBuffer((__gm__ float *)b, N);
  TBufPool<TPosition::VECCALC> first, second;
  TBufPool<TPosition::VECCALC, 8> whole;
  TQue<TPosition::VECIN, 1> in, in2;
  TQue<TPosition::VECOUT, 1> out, out2;
  TBuf<TPosition::VECCALC> scratch;
  pipe.InitBufPool(whole, 65536);
  whole.InitBufPool(first, 4096);
  whole.InitBufPool(second, 4096, first);
  first.InitBuffer(in, 1, N * 4);
  first.InitBuffer(out, 1, N * 4);
  second.InitBuffer(scratch, 64);
  second.InitBuffer(in2, 1, N * 4);
  second.InitBuffer(out2, 1, N * 4);
  LocalTensor<float> s = in.AllocTensor<float>(), d;
  DataCopy(s, x, N / 2);
  in.EnQue(s);
  s = in.DeQue<float>();
  d = out.AllocTensor<float>();
  Adds(d, s, 1.0f, N / 2);
  in.FreeTensor(s);
  out.EnQue(d);
  d = out.DeQue<float>();
  DataCopy(y, d, N / 2);
  out.FreeTensor(d);
  first.Reset();
  s = in2.AllocTensor<float>();
  DataCopy(s, x[N / 2], N / 2);
  in2.EnQue(s);
  s = in2.DeQue<float>();
  PipeBarrier<PIPE_ALL>(); /* out2 lies where out was: the store from there must be over */
  d = out2.AllocTensor<float>();
  Adds(d, s, 1.0f, N / 2);
  out2.EnQue(d);
  d = out2.DeQue<float>();
  DataCopy(y[N / 2], d, N / 2);
  out2.FreeTensor(d);
  in2.FreeTensor(s);
  second.Reset();
}
static void k_pool_small(GM_ADDR, GM_ADDR, GM_ADDR) {
  TPipe pipe;
  TBufPool<TPosition::VECCALC> pool;
  TBuf<TPosition::VECCALC> buf;
  pipe.InitBufPool(pool, 1024);
  pool.InitBuffer(buf, 2048);
}
static void k_pool_share(GM_ADDR, GM_ADDR, GM_ADDR) {
  TPipe pipe;
  TBufPool<TPosition::VECCALC> pool, larger;
  pipe.InitBufPool(pool, 1024);
  pipe.InitBufPool(larger, 2048, pool);
}
class OwnPool {
public:
  OwnPool() { Init(); }
  template <class T> bool InitBuffer(T &que, uint8_t num, uint32_t len) {
    uint32_t at = this->GetCurAddr();
    auto handle = this->GetBufHandle(this->GetCurBufSize());
    que.InitStartBufHandle(handle, num, len);
    for (uint8_t i = 0; i < num; i++) que.InitBufHandle(this, i, handle, at + i * len, len);
    this->SetCurAddr(at + num * len);
    this->SetCurBufSize(this->GetCurBufSize() + num);
    return true;
  }
  EXTERN_IMPL_BUFPOOL(OwnPool, TPosition::VECCALC, 16)
};
static void k_own_pool(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  TPipe pipe;
  GlobalTensor<float> x, y;
  x.SetGlobalBuffer((__gm__ float *)a, N);
  y.SetGlobalBuffer((__gm__ float *)b, N);
  OwnPool pool;
  pipe.InitBufPool(pool, 8192);
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  pool.InitBuffer(in, 2, N * 4);
  pool.InitBuffer(out, 1, N * 4);
  LocalTensor<float> s = in.AllocTensor<float>();
  DataCopy(s, x, N);
  in.EnQue(s);
  s = in.DeQue<float>();
  LocalTensor<float> d = out.AllocTensor<float>();
  Adds(d, s, 1.0f, N);
  out.EnQue(d);
  d = out.DeQue<float>();
  DataCopy(y, d, N);
  out.FreeTensor(d);
  in.FreeTensor(s);
  pool.Reset();
}
static void k_own_pool_beyond(GM_ADDR, GM_ADDR, GM_ADDR) {
  TPipe pipe;
  OwnPool pool;
  TQue<TPosition::VECIN, 1> in;
  pipe.InitBufPool(pool, 1024);
  pool.InitBuffer(in, 2, 1024);
}

/* ---- newer names ---- */

template <typename F> static void on_ub(GM_ADDR a, GM_ADDR b, F f) {
  LocalTensor<float> s(TPosition::VECIN, 0, N), d(TPosition::VECOUT, 4096, N);
  copy_in(s, a, N);
  Duplicate(d, 0.0f, N);
  f(d, s);
  copy_out(b, d, N);
}
static void k_reduce(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_ub(a, b, [](auto d, auto s) {
    uint64_t all[2] = {~0ull, 0};
    ReduceDataBlock<ReduceType::SUM>(d, s, 64, 4, 1, 1, 8);
    ReduceDataBlock<ReduceType::MAX>(d[32], s, all, 4, 1, 1, 8);
    ReducePairElem<ReduceType::SUM>(d[64], s, 64, 1, 1, 1, 8);
    ReduceRepeat<ReduceType::MIN>(d[96], s, 64, 4, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
    ReduceRepeat<ReduceType::SUM>(d[104], s, all, 4, 1, 1, 8);
    RepeatReduceSum(d[112], s, 4, 64, 1, 1, 1, 8);
    float top, at;
    ReduceRepeat<ReduceType::MAX>(d[120], s, 64, 1, 1, 1, 8);
    GetReduceRepeatMaxMinSpr(top, at);
    uint32_t k;
    memcpy(&k, &at, 4);
    ASSERT(k == 63 && top == s.GetValue(63));
    SetVectorMask<float>(0, ~0ull);
    vcadd((__ubuf__ float *)nullptr, (__ubuf__ float *)s.GetPhyAddr(), 1, 1, 1, 8, true);
    d.SetValue(128, GetReduceRepeatSumSpr<float>());
  });
}
static int64_t c_reduce(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  float sums[4] = {0, 0, 0, 0};
  for (int i = 0; i < N; i++) sums[i / 64] += x[i];
  for (int i = 0; i < 32; i++) {
    float s = 0;
    for (int k = 0; k < 8; k++) s += x[i * 8 + k];
    if (y[i] != s || y[32 + i] != x[i * 8 + 7] || y[64 + i] != x[2 * i] + x[2 * i + 1]) return i;
  }
  for (int i = 0; i < 4; i++)
    if (y[96 + i] != x[i * 64] || y[104 + i] != sums[i] || y[112 + i] != sums[i]) return 96 + i;
  return y[128] == sums[0] ? -1 : 128;
}
static void k_compares(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_ub(a, b, [](auto d, auto s) {
    LocalTensor<uint8_t> m(TPosition::VECCALC, 8192, 64), m2(TPosition::VECCALC, 8448, 64);
    Compares(m, s, 0.0f, CMPMODE::GT, N);
    Compares(m2, s, 0.0f, CMPMODE::GT, uint64_t(64), 4, UnaryRepeatParams(1, 1, 8, 8));
    And(m.template ReinterpretCast<uint16_t>(), m.template ReinterpretCast<uint16_t>(),
        m2.template ReinterpretCast<uint16_t>(), N / 16);
    Select(d, m, s, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, N);
  });
}
static int64_t c_compares(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int i = 0; i < N; i++)
    if (y[i] != (x[i] > 0 ? x[i] : 0)) return i;
  return -1;
}
static void k_mul_add_relu(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_ub(a, b, [](auto d, auto s) {
    Duplicate(d, 2.0f, N);
    MulAddRelu(d, s, s, N); /* 2 * x + x */
  });
}
static int64_t c_mul_add_relu(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int i = 0; i < N; i++)
    if (y[i] != (x[i] > 0 ? 3 * x[i] : 0)) return i;
  return -1;
}

/* ---- quantising ---- */

static void k_cast_deq(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_ub(a, b, [](auto d, auto s) {
    LocalTensor<int16_t> q(TPosition::VECCALC, 8192, N);
    LocalTensor<int32_t> w(TPosition::VECCALC, 16384, N);
    LocalTensor<int8_t> p(TPosition::VECCALC, 12288, 2 * N);
    LocalTensor<half> h(TPosition::VECCALC, 20480, N);
    LocalTensor<uint64_t> vdeq(TPosition::VECCALC, 24576, 16);
    Cast(w, s, RoundMode::CAST_RINT, N);
    SetDeqScale(half(1.0f));
    Cast(h, w, RoundMode::CAST_NONE, N);
    Cast(q, h, RoundMode::CAST_RINT, N);
    Duplicate(p.template ReinterpretCast<int16_t>(), int16_t(0), N);
    SetDeqScale(2.0f, -3, true);
    CastDeq<int8_t, int16_t, false, false>(p, q, 128); /* low halves */
    VdeqInfo info;
    for (int i = 0; i < 16; i++)
      info.vdeqScale[i] = 0.5f * i, info.vdeqOffset[i] = int16_t(i), info.vdeqSignMode[i] = true;
    SetDeqScale(vdeq, info);
    CastDequant<int8_t, int16_t, true, true>(p, q, 128); /* high halves */
    Cast(h, p, RoundMode::CAST_NONE, N);
    Cast(d, h, RoundMode::CAST_NONE, N);
  });
}
static double clamp8(double v) {
  return v < -128 ? -128 : v > 127 ? 127 : v;
}
static int64_t c_cast_deq(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int i = 0; i < 128; i++) {
    double q = rint(x[i]);
    int at = i / 16 * 32 + i % 16;
    if (y[at] != clamp8(q * 2 - 3)) return at;
    if (y[at + 16] != clamp8(rint(q * (0.5 * (i % 16)) + i % 16))) return at + 16;
  }
  return -1;
}
static void k_add_deq_relu(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_ub(a, b, [](auto d, auto s) {
    LocalTensor<int32_t> w(TPosition::VECCALC, 16384, N);
    LocalTensor<half> h(TPosition::VECCALC, 20480, N);
    Cast(w, s, RoundMode::CAST_RINT, N);
    SetDeqScale(half(0.25f));
    AddDeqRelu(h, w, w, N);
    Cast(d, h, RoundMode::CAST_NONE, N);
  });
}
static int64_t c_add_deq_relu(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int i = 0; i < N; i++)
    if (y[i] != fmax(0, rint(x[i]) * 2 * 0.25)) return i;
  return -1;
}
static void k_deq_missing(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_ub(a, b, [](auto d, auto s) {
    LocalTensor<int32_t> w(TPosition::VECCALC, 16384, N);
    LocalTensor<half> h(TPosition::VECCALC, 20480, N);
    Cast(w, s, RoundMode::CAST_RINT, N);
    Duplicate(h, half(0.0f), N);
    Cast(h, w, RoundMode::CAST_NONE, N);
    Cast(d, h, RoundMode::CAST_NONE, N);
  });
}
/* of int32: as Cast, and in place behind itself */
static void k_dequant(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_ub(a, b, [](auto d, auto s) {
    LocalTensor<int32_t> w(TPosition::VECCALC, 16384, N);
    LocalTensor<half> h(TPosition::VECCALC, 20480, N), g(TPosition::VECCALC, 16384, N);
    Cast(w, s, RoundMode::CAST_RINT, N);
    SetDeqScale(half(0.25f));
    CastDequant<half, int32_t, false>(h, w, 64);
    CastDequant(h[64], w[64], int32_t(64), 1, UnaryRepeatParams(1, 1, 4, 8));
    CastDequant(g, w, N);
    Cast(d, h, RoundMode::CAST_NONE, 128);
    Cast(d[128], g[128], RoundMode::CAST_NONE, N - 128);
  });
}
static int64_t c_dequant(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int i = 0; i < N; i++)
    if (y[i] != rint(x[i]) * 0.25) return i;
  return -1;
}
/* DEQSCALE is one register: the form that was set last is the one that it holds */
template <int form> static void k_deq_other(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_ub(a, b, [](auto d, auto s) {
    LocalTensor<int32_t> w(TPosition::VECCALC, 16384, N);
    LocalTensor<int16_t> q(TPosition::VECCALC, 8192, N);
    LocalTensor<half> h(TPosition::VECCALC, 20480, N);
    LocalTensor<int8_t> p(TPosition::VECCALC, 12288, 2 * N);
    Cast(w, s, RoundMode::CAST_RINT, N);
    Duplicate(q, int16_t(1), N);
    Duplicate(h, half(0.0f), N);
    if (form == 0) {
      SetDeqScale(half(1.0f));
      SetDeqScale(1.0f, 0, true);
      Cast(h, w, RoundMode::CAST_NONE, N);
    } else {
      SetDeqScale(1.0f, 0, true);
      SetDeqScale(half(1.0f));
      CastDequant<int8_t, int16_t, false, false>(p, q, 128);
    }
    Cast(d, h, RoundMode::CAST_NONE, N);
  });
}
/* Select without a mask of its own in modes 1 and 2: the scalar, or the mask's address, is in CMPMASK (docs/zh, SetCmpMask) */
static void k_select_register(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_ub(a, b, [](auto d, auto s) {
    LocalTensor<uint8_t> sel(TPosition::VECCALC, 8192, 64);
    LocalTensor<float> one(TPosition::VECCALC, 12288, 8), z(TPosition::VECCALC, 16384, N);
    LocalTensor<uint32_t> address(TPosition::VECCALC, 20480, 8);
    BinaryRepeatParams p(1, 1, 1, 8, 8, 8);
    Adds(d, s, 0.0f, N);
    Duplicate(sel.template ReinterpretCast<uint16_t>(), uint16_t(0x5555), 32);
    Duplicate(one, 7.0f, 8);
    Duplicate(z, -1.0f, N);
    SetCmpMask(one);
    SetVectorMask<float>(64);
    Select(d, sel, s, 1, p);
    Duplicate(address, static_cast<uint32_t>(reinterpret_cast<uint64_t>(sel[32].GetPhyAddr())), 8);
    SetCmpMask(address);
    SetVectorMask<float>(64);
    Select<float, SELMODE::VSEL_TENSOR_TENSOR_MODE>(d[64], s[64], z, 1, p);
  });
}
static int64_t c_select_register(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int i = 0; i < 128; i++)
    if (y[i] != (i % 2 == 0 ? x[i] : i < 64 ? 7 : -1)) return i;
  return -1;
}
/* A Select with a mask of its own leaves CMPMASK with a scalar or an address of the interface's */
static void k_select_lost(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_ub(a, b, [](auto d, auto s) {
    LocalTensor<uint8_t> sel(TPosition::VECCALC, 8192, 64);
    Duplicate(sel.template ReinterpretCast<uint16_t>(), uint16_t(0x5555), 32);
    SetCmpMask(sel);
    Select(d, sel, s, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, N);
    SetVectorMask<float>(64);
    Select<float, SELMODE::VSEL_CMPMASK_SPR>(d, s, s, 1, BinaryRepeatParams(1, 1, 1, 8, 8, 8));
  });
}
/* A Cast of 4-bit integers by count ends with a full mask in normal mode, as any other */
static void k_int4_mask(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_ub(a, b, [](auto d, auto s) {
    LocalTensor<half> h(TPosition::VECCALC, 20480, N);
    LocalTensor<int4b_t> q(TPosition::VECCALC, 8192, N);
    Cast(h, s, RoundMode::CAST_NONE, N);
    SetVectorMask<half>(0, 1);
    Cast(q, h, RoundMode::CAST_FLOOR, N);
    Adds<float, false>(d, s, 1.0f, MASK_PLACEHOLDER, N / 64, UnaryRepeatParams(1, 1, 8, 8));
  });
}
static void k_int4(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_ub(a, b, [](auto d, auto s) {
    LocalTensor<half> h(TPosition::VECCALC, 20480, N);
    LocalTensor<int8_t> raw(TPosition::VECCALC, 8192, N / 2);
    LocalTensor<int4b_t> q = raw.template ReinterpretCast<int4b_t>();
    ASSERT(q.GetSize() == N);
    Cast(h, s, RoundMode::CAST_NONE, N);
    Cast(q, h, RoundMode::CAST_FLOOR, N);
    Cast(h[64], q[64], RoundMode::CAST_NONE, N - 64);
    Cast(h, q, RoundMode::CAST_NONE, 64);
    Cast(d, h, RoundMode::CAST_NONE, N);
  });
}
static int64_t c_int4(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int i = 0; i < N; i++)
    if (y[i] != fmax(-8, fmin(7, floor(x[i])))) return i;
  return -1;
}
static void k_int4_odd(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_ub(a, b, [](auto, auto s) {
    LocalTensor<half> h(TPosition::VECCALC, 20480, N);
    LocalTensor<int4b_t> q(TPosition::VECCALC, 8192, N);
    Cast(h, s, RoundMode::CAST_NONE, N);
    Cast(q, h, RoundMode::CAST_FLOOR, 33);
  });
}

/* ---- registers ---- */

static void k_saturation(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_ub(a, b, [](auto d, auto s) {
    LocalTensor<half> h(TPosition::VECCALC, 20480, N);
    int64_t before = GetCtrlSpr<48, 48>();
    ASSERT(before == 1 && get_ctrl() == 1ull << 48); /* usual on Atlas A2: inf */
    set_ctrl(sbitset0(get_ctrl(), 48));
    ASSERT((GetSaturationFlag<SaturationMode::FLOAT>()));
    AscendCUtils::SetOverflow(1);
    ASSERT((!GetSaturationFlag<SaturationMode::FLOAT>()));
    SetSaturationFlag<SaturationMode::CAST>(true); /* as they are anyway */
    SetSaturationFlag<SaturationMode::INT>(false);
    ASSERT((GetSaturationFlag<SaturationMode::CAST>() && !GetSaturationFlag<SaturationMode::INT>()));
    SetCtrlSpr<48, 48>(0);
    ASSERT((GetSaturationFlag<SaturationMode::FLOAT>()));
    Muls(d, s, 1e30f, N);
    Cast(h, d, RoundMode::CAST_RINT, N);
    Cast(d, h, RoundMode::CAST_NONE, N);
    SetSaturationFlag<SaturationMode::FLOAT>(false);
    LocalTensor<float> u(TPosition::VECCALC, 8192, 64);
    Muls(u, s, 1e30f, 64);
    Cast(h, u, RoundMode::CAST_RINT, 64);
    Cast(d, h, RoundMode::CAST_NONE, 64);
    SetCtrlSpr<48, 48>(before);
  });
}
static int64_t c_saturation(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int i = 0; i < N; i++) {
    double top = i < 64 ? INFINITY : 65504;
    if (y[i] != (x[i] == 0 ? 0 : x[i] < 0 ? -top : top)) return i;
  }
  return -1;
}
static void k_ctrl_other(GM_ADDR, GM_ADDR, GM_ADDR) {
  SetCtrlSpr<60, 60>(1);
}
static void k_ctrl_all(GM_ADDR, GM_ADDR, GM_ADDR) {
  set_ctrl(sbitset1(get_ctrl(), 60));
}
static void k_cast_wraps(GM_ADDR, GM_ADDR, GM_ADDR) {
  SetSaturationFlag<SaturationMode::CAST>(false);
}
static void k_int_saturates(GM_ADDR, GM_ADDR, GM_ADDR) {
  SetSaturationFlag<SaturationMode::INT>(true);
}
static void k_no_ctrl(GM_ADDR, GM_ADDR, GM_ADDR) {
  SetCtrlSpr<48, 48>(1);
}
/* 310P saturates, and cannot do otherwise */
static void k_half_310(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_ub(a, b, [](auto d, auto s) {
    LocalTensor<half> h(TPosition::VECCALC, 20480, N);
    ASSERT(get_ctrl() == 0);
    Muls(d, s, 1e30f, N);
    Cast(h, d, RoundMode::CAST_NONE, N);
    Muls(h, h, half(2.0f), N);
    Cast(d, h, RoundMode::CAST_NONE, N);
  });
}
static int64_t c_half_310(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int i = 0; i < N; i++)
    if (y[i] != (x[i] == 0 ? 0 : x[i] < 0 ? -65504 : 65504)) return i;
  return -1;
}
static void k_atomic_config(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_ub(a, b, [b](auto d, auto s) {
    GlobalTensor<float> y;
    y.SetGlobalBuffer((__gm__ float *)b, N);
    uint16_t type, op;
    Adds(d, s, 0.0f, N);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID1);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID1);
    SetStoreAtomicConfig<AtomicDtype::ATOMIC_F32, AtomicOp::ATOMIC_SUM>();
    GetStoreAtomicConfig(type, op);
    ASSERT(type == 1 && op == 0);
    DataCopy(y, d, N);
    SetAtomicAdd<half>();
    SetAtomicType<float>();
    DataCopy(y, d, N);
    DisableDmaAtomic();
    GetStoreAtomicConfig(type, op);
    ASSERT(type == 0);
    SetAtomicAdd<float>();
    SetFlag<HardEvent::MTE3_V>(EVENT_ID1);
    WaitFlag<HardEvent::MTE3_V>(EVENT_ID1);
    Duplicate(d, 1.0f, N);
  });
  DisableDmaAtomic();
}
static int64_t c_atomic_config(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int i = 0; i < N; i++)
    if (y[i] != 2 * x[i] + 1) return i;
  return -1;
}

/* ---- the scalar unit ---- */

static void k_scalar(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  __gm__ int32_t *x = (__gm__ int32_t *)a, *y = (__gm__ int32_t *)b;
  for (int i = 0; i < 8; i++) WriteGmByPassDCache<int32_t>(y + i, ReadGmByPassDCache<int32_t>(x + i) + 1);
  DataSyncBarrier<MemDsbT::ALL>();
  SetNextTaskStart();
  WaitPreTaskEnd();
  ICachePreLoad(2);
  uint32_t version = 0;
  GetArchVersion(version);
  ASSERT(version == 220 && GetICachePreloadStatus() == 0 && GetProgramCounter() != 0);
  ASSERT(GetBitCount<1>(0xffff) == 16 && GetBitCount<0>(0xffff) == 48);
  ASSERT(CountLeadingZero(1) == 63 && GetSFFValue<1>(8) == 3 && GetSFFValue<0>(7) == 3);
  ASSERT((Cast<float, int32_t, RoundMode::CAST_ROUND>(2.5f) == 3));
  ASSERT(GetTaskRatio() == 1 && GetSubBlockIdx() == 0 && GetSubBlockNum() == 1 && GetTaskRation() == 1);
  int64_t before = GetSystemCycle();
  PipeBarrier<PIPE_ALL>();
  ASSERT(GetSystemCycle() >= before);
  Async<EngineType::AIC, k_ctrl_other>(a, b, b);
  for (uint32_t d = 1; d < 2000; d++) {
    uint32_t magic, shift;
    GetUintDivMagicAndShift(magic, shift, d);
    const uint32_t values[] = {0u, 1u, d - 1, d, d + 1, 12345u, 7 * d - 1, 0x7fffffffu};
    for (uint32_t v : values) {
      uint64_t high = (static_cast<uint64_t>(v) * magic) >> 32;
      ASSERT(((high + v) >> shift) == v / d);
    }
  }
  uint64_t magic, shift;
  GetUintDivMagicAndShift(magic, shift, uint64_t(10));
  ASSERT(static_cast<uint64_t>((static_cast<unsigned __int128>(magic) * 1000007 >> 64) + 1000007) >> shift == 100000);
}
static void fill_int(void *p, int64_t n) {
  for (int64_t i = 0; i < n; i++) static_cast<int32_t *>(p)[i] = static_cast<int32_t>(i * 3);
}
static int64_t c_scalar(const void *px, const void *py) {
  const int32_t *x = static_cast<const int32_t *>(px), *y = static_cast<const int32_t *>(py);
  for (int i = 0; i < 8; i++)
    if (y[i] != x[i] + 1) return i;
  return -1;
}
/* Two blocks in one line of the cache: safe past it. */
static void k_bypass_line(GM_ADDR, GM_ADDR b, GM_ADDR) {
  WriteGmByPassDCache<int32_t>((__gm__ int32_t *)b + GetBlockIdx(), 7);
}
static int64_t c_seven(const void *, const void *py) {
  const int32_t *y = static_cast<const int32_t *>(py);
  return y[0] != 7 ? 0 : y[1] != 7 ? 1 : -1;
}
static void k_bypass_beyond(GM_ADDR, GM_ADDR b, GM_ADDR) {
  WriteGmByPassDCache<int32_t>((__gm__ int32_t *)b, 7);
  WriteGmByPassDCache<int32_t>((__gm__ int32_t *)b + 1000, 7);
}

/* ---- printing ---- */

static void k_print(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_ub(a, b, [a](auto d, auto s) {
    GlobalTensor<float> x;
    x.SetGlobalBuffer((__gm__ float *)a, N);
    DumpTensor(s, 5, 4);
    DumpTensor(x, 6, 4);
    DumpAccChkPoint(s, 7, 8, 4);
    s.Print(4);
    ASSERT(s.ToFile("/dev/null") == 0 && s.ToFile("/nowhere/at/all") != 0);
    PrintTimeStamp(65577);
    Adds(d, s, 1.0f, N);
  });
}

#define OK(title, kernel, fill, check) \
  { title, kernel, 1, 4, N, N, 0, nullptr, nullptr, fill, check, 0, 0, 0 }
#define BAD(kernel, kind) \
  { #kernel, kernel, 1, 4, 8, 0, 0, kind, nullptr, nullptr, nullptr, 0, 0, 0 }
#define BAD_OUT(kernel, kind) \
  { #kernel, kernel, 1, 4, N, N, 0, kind, nullptr, ramp, nullptr, 0, 0, 0 }
static const sim_case cases[] = {
    OK("LocalMemAllocator", k_allocator, ramp, c_plus_one),
    OK("fixed addresses", k_fixed, ramp, c_plus_one),
    BAD(k_fixed_beyond, "ub-overflow"),
    BAD(k_fixed_misaligned, "misaligned"),
    BAD(k_fixed_small, "ub-out-of-bounds"),
    OK("pools", k_pools, ramp, c_plus_one),
    BAD(k_pool_small, "ub-overflow"),
    BAD(k_pool_share, "bad-buffer"),
    OK("a pool of the kernel's own", k_own_pool, ramp, c_plus_one),
    BAD(k_own_pool_beyond, "bad-buffer"),
    OK("reductions by their newer names", k_reduce, ramp, c_reduce),
    OK("Compares", k_compares, ramp, c_compares),
    OK("MulAddRelu", k_mul_add_relu, ramp, c_mul_add_relu),
    OK("CastDeq", k_cast_deq, ramp, c_cast_deq),
    OK("AddDeqRelu", k_add_deq_relu, ramp, c_add_deq_relu),
    BAD_OUT(k_deq_missing, "deq-not-set"),
    OK("CastDequant of int32", k_dequant, ramp, c_dequant),
    BAD_OUT(k_deq_other<0>, "deq-not-set"),
    BAD_OUT(k_deq_other<1>, "deq-not-set"),
    OK("Select by CMPMASK", k_select_register, ramp, c_select_register),
    BAD_OUT(k_select_lost, "read-poison"),
    BAD_OUT(k_int4_mask, "mask-mode"),
    OK("int4", k_int4, ramp, c_int4),
    BAD_OUT(k_int4_odd, "bad-count"),
    OK("saturation", k_saturation, ramp, c_saturation),
    BAD(k_ctrl_other, "not-on-chip"),
    BAD(k_ctrl_all, "not-modelled"),
    BAD(k_cast_wraps, "not-modelled"),
    BAD(k_int_saturates, "not-modelled"),
    {"no register", k_no_ctrl, 1, 4, 8, 0, 0, "not-on-chip", nullptr, nullptr, nullptr, 0, 1, 0},
    {"half on 310P", k_half_310, 1, 4, N, N, 0, nullptr, nullptr, ramp, c_half_310, 0, 1, 0},
    {"atomics by register", k_atomic_config, 1, 4, N, N, 0, nullptr, nullptr, ramp, c_atomic_config, 1, 0, 0},
    {"scalar unit", k_scalar, 1, 4, 8, 8, 0, nullptr, nullptr, fill_int, c_scalar, 0, 0, 0},
    {"past the cache", k_bypass_line, 2, 4, 8, 2, 0, nullptr, nullptr, nullptr, c_seven, 0, 0, 0},
    {"past the cache, beyond", k_bypass_beyond, 1, 4, 8, 1, 0, "gm-out-of-bounds", nullptr, nullptr, nullptr, 0, 0,
     0},
    OK("printing", k_print, ramp, c_plus_one),
};
SIM_CASES(cases);

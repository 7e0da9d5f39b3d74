/* The mask register, exact function types, gathers, sorts, transposes, blocked copies, fills and flags: values against plain C++,
 * and the faults of each family. */
#include "tile.h"

#include <math.h>
#include <string.h>

constexpr int N = 256;

static void fill_bytes(void *p, int64_t n) {
  for (int64_t i = 0; i < n; i++) static_cast<uint16_t *>(p)[i] = static_cast<uint16_t>(i * 331 + 7);
}
/* ---- the mask register ---- */

static void k_counter(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, 200, [](auto d, auto s, auto &) {
    SetMaskCount();
    SetVectorMask<float, MaskMode::COUNTER>(0, 200);
    Adds<float, false>(d, s, 1.0f, MASK_PLACEHOLDER, 1, {1, 1, 8, 8});
    SetMaskNorm();
    ResetMask();
  });
}
CHECK(c_counter, float, 200, x[i] + 1)

static void k_register(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, N, [](auto d, auto s, auto &) {
    DataCopy(d, s, N);
    SetVectorMask<float, MaskMode::NORMAL>(0, 0xaaaaaaaaaaaaaaaaull);
    Muls<float, false>(d, s, 2.0f, MASK_PLACEHOLDER, 4, {1, 1, 8, 8});
    SetVectorMask<float, MaskMode::NORMAL>(8);
    Muls<float, false>(d, s, 3.0f, MASK_PLACEHOLDER, 1, {1, 1, 8, 8});
    ResetMask();
  });
}
CHECK(c_register, float, N, i < 8 ? x[i] * 3 : i % 2 ? x[i] * 2 : x[i])

/* in counter mode a mask given with the call counts elements, too */
static void k_counter_call(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, 150, [](auto d, auto s, auto &) {
    SetMaskCount();
    Muls(d, s, 2.0f, 150, 1, {1, 1, 8, 8});
    SetMaskNorm();
    ResetMask();
  });
}
CHECK(c_counter_call, float, 150, x[i] * 2)

static void k_peak(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, 2, [](auto d, auto s, auto &) {
    SetMaskCount();
    SetVectorMask<float, MaskMode::COUNTER>(0, 200);
    LocalTensor<float> w = s;
    WholeReduceMax<float, false>(d[8], w, MASK_PLACEHOLDER, 1, 1, 1, 8);
    SetMaskNorm();
    ResetMask();
    SetFlag<HardEvent::V_S>(EVENT_ID0);
    WaitFlag<HardEvent::V_S>(EVENT_ID0);
    float v = 0, i = 0;
    GetReduceMaxMinCount<float>(v, i);
    uint32_t index;
    memcpy(&index, &i, 4);
    d.SetValue(0, v);
    d.SetValue(1, static_cast<float>(index));
    SetFlag<HardEvent::S_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::S_MTE3>(EVENT_ID0);
  });
}
static int64_t c_peak(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  int best = 0;
  for (int i = 1; i < 200; i++)
    if (x[i] > x[best]) best = i;
  return y[0] != x[best] ? 0 : y[1] != static_cast<float>(best) ? 1 : -1;
}

/* ---- instructions as template arguments, by their documented types ---- */

template <typename T> using by_count = void(const LocalTensor<T> &, const LocalTensor<T> &, const int32_t &);
template <typename T>
using scalar_count = void(const LocalTensor<T> &, const LocalTensor<T> &, const T &, const int32_t &);
template <typename T>
using by_repeat = void(const LocalTensor<T> &, const LocalTensor<T> &, const LocalTensor<T> &, uint64_t,
                       const uint8_t, const BinaryRepeatParams &);
template <typename T> using library = void(const LocalTensor<T> &, const LocalTensor<T> &, const uint32_t);
template <by_count<float> *f, scalar_count<float> *g, by_repeat<float> *h, library<float> *l>
static void with_arguments(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, N, [](auto d, auto s, auto &t) {
    LocalTensor<float> u = t.template Get<float>();
    f(u, s, N);
    g(u, u, 1.0f, N);
    h(u[N], u, s, 64, 4, {1, 1, 1, 8, 8, 8});
    l(d, u[N], N);
  });
}
CHECK(c_arguments, float, N, floorf(fabsf(x[i]) + 1 - x[i]))

/* ---- by address ---- */

static void k_gather(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, 128, [](auto d, auto s, auto &t) {
    LocalTensor<int32_t> o = t.template Get<int32_t>();
    CreateVecIndex(o, int32_t(0), 64, 2, 1, 8);
    Muls(o, o, int32_t(-4), 128);
    Adds(o, o, int32_t(4 * (N - 1)), 128);
    Duplicate(d, 0.0f, 128);
    uint64_t mask[2] = {0x5555555555555555ull, 0};
    Gather(d, s, o.template ReinterpretCast<uint32_t>(), 0, mask, 2, 8);
  });
}
CHECK(c_gather, float, 128, i % 2 ? 0 : x[N - 1 - i])

static void k_gatherb(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, 128, [](auto d, auto s, auto &t) {
    LocalTensor<int32_t> o = t.template Get<int32_t>();
    CreateVecIndex(o, int32_t(0), 16);
    Muls(o, o, int32_t(-32), 16);
    Adds(o, o, int32_t(32 * 15), 16);
    Gatherb(d.template ReinterpretCast<uint32_t>(), s.template ReinterpretCast<uint32_t>(),
            o.template ReinterpretCast<uint32_t>(), 2,
            {1, 8}); /* uint16_t and uint32_t are all it takes (docs/zh, Gatherb) */
  });
}
CHECK(c_gatherb, float, 128, x[(15 - i / 8) * 8 + i % 8])

static void k_compare_register(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, 128, [](auto d, auto s, auto &t) {
    LocalTensor<float> z = t.template Get<float>();
    LocalTensor<uint8_t> saved = t.template GetWithOffset<uint8_t>(32, 4096);
    Duplicate(z, 0.0f, 64);
    BinaryRepeatParams p;
    Compare(s, z, CMPMODE::GT, 64, p);
    GetCmpMask(saved);
    Compare(s, z, CMPMODE::LT, 64, p);
    SetCmpMask(saved);
    Select<float, SELMODE::VSEL_CMPMASK_SPR>(d, s, z, 1, p);
    Select<float, SELMODE::VSEL_CMPMASK_SPR>(d[64], z, s, 1, p);
  });
}
CHECK(c_compare_register, float, 128, i<64 ? (x[i] > 0 ? x[i] : 0) : x[i - 64]> 0 ? 0 : x[i - 64])

/* ---- sorting ---- */

static void k_sort(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, 2 * 128, [](auto d, auto s, auto &t) {
    LocalTensor<int32_t> index = t.template GetWithOffset<int32_t>(128, 0);
    LocalTensor<float> four = t.template GetWithOffset<float>(256, 4096),
                       one = t.template GetWithOffset<float>(256, 8192);
    CreateVecIndex(index, int32_t(0), 128);
    Sort32(four, s, index.template ReinterpretCast<uint32_t>(), 4);
    MrgSort4Info info;
    for (uint16_t &n : info.elementLengths) n = 32;
    info.validBit = 15;
    MrgSort(one, MrgSortSrcList<float>(four, four[GetSortOffset<float>(32)], four[128], four[192]), info);
    Extract(d, d[128].template ReinterpretCast<uint32_t>(), one, 4);
  });
}
static int64_t c_sort(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  int order[128];
  for (int i = 0; i < 128; i++) {
    int k = i;
    for (; k > 0 && x[order[k - 1]] < x[i]; k--) order[k] = order[k - 1];
    order[k] = i;
  }
  for (int i = 0; i < 128; i++) {
    int32_t index;
    memcpy(&index, y + 128 + i, 4);
    if (y[i] != x[order[i]] || index != order[i]) return i;
  }
  return -1;
}

/* the first list runs out and stops the merge: the counts say how far each came */
static void k_merge_stops(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, 2, [](auto d, auto s, auto &t) {
    LocalTensor<int32_t> index = t.template GetWithOffset<int32_t>(64, 0);
    LocalTensor<float> lists = t.template GetWithOffset<float>(128, 4096),
                       one = t.template GetWithOffset<float>(128, 8192),
                       big = t.template GetWithOffset<float>(64, 16384);
    CreateVecIndex(index, int32_t(0), 64);
    Adds(big, s, 1000.0f, 32);
    DataCopy(big[32], s, 32);
    Sort32(lists, big, index.template ReinterpretCast<uint32_t>(), 2);
    const uint16_t lengths[4] = {32, 32, 0, 0};
    uint32_t done[4];
    MrgSort<float, true>(one, MrgSortSrcList<float>(lists, lists[64], lists, lists), lengths, done, 3, 1);
    SetFlag<HardEvent::V_S>(EVENT_ID0);
    WaitFlag<HardEvent::V_S>(EVENT_ID0);
    d.SetValue(0, static_cast<float>(done[0]));
    d.SetValue(1, static_cast<float>(done[1]));
    SetFlag<HardEvent::S_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::S_MTE3>(EVENT_ID0);
  });
}
CHECK(c_merge_stops, float, 2, i ? 0 : 32)

/* ---- transposes ---- */

static void k_transpose(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<uint16_t>(a, b, 256, 512, [](auto d, auto s, auto &) {
    Transpose(d, s);
    LocalTensor<uint16_t> from[16], to[16];
    for (int i = 0; i < 16; i++) from[i] = s[i * 16], to[i] = d[256 + i * 16];
    TransDataTo5HD<uint16_t>(to, from, TransDataTo5HDParams(false, false, 1, 0, 0));
  });
}
CHECK(c_transpose, uint16_t, 512, x[i % 256 % 16 * 16 + i % 256 / 16])

/* 16 rows of 8 to 8 rows of 16, twice, the lists given as addresses */
static void k_5hd_float(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, 256, 256, [](auto d, auto s, auto &) {
    uint64_t from[16], to[16];
    for (int i = 0; i < 16; i++) {
      from[i] = reinterpret_cast<uint64_t>(s[i * 8].GetPhyAddr());
      to[i] = reinterpret_cast<uint64_t>(d[i * 8].GetPhyAddr());
    }
    TransDataTo5HD<float>(to, from, TransDataTo5HDParams(false, false, 2, 16, 16));
  });
}
CHECK(c_5hd_float, float, 256, x[i / 128 * 128 + i % 16 * 8 + i % 128 / 16])

static void k_nd2nz(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  GlobalTensor<float> x, y;
  x.SetGlobalBuffer((__gm__ float *)a, N);
  y.SetGlobalBuffer((__gm__ float *)b, 64);
  pipe.InitBuffer(in, 1, 4096);
  LocalTensor<float> s = in.AllocTensor<float>();
  DataCopy(s, x, Nd2NzParams(1, 4, 12, 0, 20, 4, 1, 0)); /* 4 rows of 12, 20 apart, to two columns of 4 blocks */
  in.EnQue(s);
  s = in.DeQue<float>();
  SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  DataCopy(y, s, 64);
  in.FreeTensor(s);
}
CHECK(c_nd2nz, float, 64, i / 32 * 8 + i % 8 < 12 ? x[i % 32 / 8 * 20 + i / 32 * 8 + i % 8] : 0)

/* ---- fused conversions, registers, fills ---- */

static void k_fused(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float, half>(a, b, N, N, [](auto d, auto s, auto &t) {
    LocalTensor<float> u = t.template Get<float>();
    Duplicate(u, 0.5f, N);
    SubReluCast(d, s, u, N);
  });
}
static int64_t c_fused(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px);
  const uint16_t *y = static_cast<const uint16_t *>(py);
  for (int i = 0; i < N; i++)
    if (y[i] != acsim_float_to_half(x[i] - 0.5f > 0 ? x[i] - 0.5f : 0)) return i;
  return -1;
}

static void k_accumulate(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, 1, [](auto d, auto s, auto &) {
    AscendCUtils::SetMask<float>(64);
    vcadd(nullptr, s.GetPhyAddr(), 4, 1, 1, 8, true);
    ResetMask();
    SetFlag<HardEvent::V_S>(EVENT_ID0);
    WaitFlag<HardEvent::V_S>(EVENT_ID0);
    uint64_t bits = static_cast<uint64_t>(GetAccVal());
    float v;
    memcpy(&v, &bits, 4);
    d.SetValue(0, v);
    SetFlag<HardEvent::S_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::S_MTE3>(EVENT_ID0);
  });
}
static int64_t c_accumulate(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px);
  double sum = 0, all = 0;
  for (int i = 0; i < N; i++) sum += x[i], all += fabs(x[i]);
  return fabs(*static_cast<const float *>(py) - sum) > all * 1e-6 ? 0 : -1;
}

/* The cores fill their parts, wait for each other, and add to all of it. */
static void k_fill_add(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  GlobalTensor<float> x, y;
  x.SetGlobalBuffer((__gm__ float *)a, N);
  y.SetGlobalBuffer((__gm__ float *)b, N);
  InitOutput<float>(y[GetBlockIdx() * 128], 128, 1.0f);
  CrossCoreSetFlag<0, PIPE_MTE3>(3);
  CrossCoreWaitFlag(3);
  pipe.InitBuffer(in, 1, 4096);
  LocalTensor<float> s = in.AllocTensor<float>();
  DataCopy(s, x, N);
  in.EnQue(s);
  s = in.DeQue<float>();
  SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  SetAtomicAdd<float>();
  DataCopy(y, s, N);
  SetAtomicNone();
  in.FreeTensor(s);
}
CHECK(c_fill_add, float, N, (1.0f + x[i]) + x[i])

static void k_fill_twice(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  GlobalTensor<float> y;
  y.SetGlobalBuffer((__gm__ float *)b, N);
  InitGlobalMemory(y, N, 2.0f);
  on_tile<float>(a, b, N, N, [](auto d, auto s, auto &) { DataCopy(d, s, N); });
  PipeBarrier<PIPE_ALL>(); /* in order: a warning */
  on_tile<float>(a, b, N, N, [](auto d, auto s, auto &) { DataCopy(d, s, N); });
}

/* ---- the scalar unit; constants ---- */

constexpr half HALF_THIRD = 1.0 / 3;
static void k_scalar(GM_ADDR, GM_ADDR b, GM_ADDR) {
  GlobalTensor<int32_t> y;
  y.SetGlobalBuffer((__gm__ int32_t *)b, 8);
  y.SetValue(0, ScalarCast<float, int32_t, RoundMode::CAST_RINT>(2.5f));
  y.SetValue(1, ScalarCast<float, int32_t, RoundMode::CAST_CEIL>(-2.5f));
  y.SetValue(2, static_cast<int32_t>(ScalarGetCountOfValue<1>(0xf0f0)));
  y.SetValue(3, static_cast<int32_t>(ScalarCountLeadingZero(1)));
  y.SetValue(4, static_cast<int32_t>(ScalarGetSFFValue<0>(0x7)));
  y.SetValue(5, static_cast<int32_t>(CountBitsCntSameAsSignBit(1)));
  y.SetValue(6, HALF_THIRD.bits);
  int32_t wrong = 0; /* constants and the core round alike, on values between all pairs of neighbours */
  for (uint32_t u = 0; u < 0x7c00; u++) {
    double low = acsim_half_to_float(static_cast<uint16_t>(u)),
           high = acsim_half_to_float(static_cast<uint16_t>(u + 1));
    const double all[] = {low, (low + high) / 2, low * 0.51 + high * 0.49, low * 0.49 + high * 0.51};
    for (double v : all)
      wrong += half(v).bits != acsim_double_to_half(v) || bfloat16_t(v).bits != acsim_double_to_bf16(v) ||
               half(-v).bits != acsim_double_to_half(-v);
  }
  y.SetValue(7, wrong);
}
static int64_t c_scalar(const void *, const void *py) {
  static const int32_t want[] = {2, -2, 8, 63, 3, 62, 0x3555, 0};
  const int32_t *y = static_cast<const int32_t *>(py);
  for (int i = 0; i < 8; i++)
    if (y[i] != want[i]) return i;
  return -1;
}

/* ---- faults ---- */

#define FAULTY(name, code)                                                                                      \
  static void name(GM_ADDR a, GM_ADDR b, GM_ADDR) {                                                             \
    on_tile<float>(a, b, N, N, []([[maybe_unused]] auto d, [[maybe_unused]] auto s, [[maybe_unused]] auto &t) { \
      DataCopy(d, s, N);                                                                                        \
      [[maybe_unused]] LocalTensor<float> u = t.template Get<float>();                                          \
      [[maybe_unused]] LocalTensor<uint32_t> o = t.template GetWithOffset<uint32_t>(N, 8192);                   \
      Duplicate(o.template ReinterpretCast<int32_t>(), int32_t(0), N);                                          \
      code;                                                                                                     \
    });                                                                                                         \
  }
FAULTY(f_scatter, Scatter(u, s, o, 0, 64))
FAULTY(f_proposals, RpSort16(u, s, 1))
FAULTY(f_merge_long, MrgSort4Info m; m.elementLengths[0] = 5000; m.validBit = 3;
       MrgSort(u, MrgSortSrcList<float>(s, s, s, s), m))
FAULTY(f_merge_bits, MrgSort4Info m; m.elementLengths[0] = 4; m.validBit = 5;
       MrgSort(u, MrgSortSrcList<float>(s, s, s, s), m))
FAULTY(f_merge_overlap, MrgSort4Info m; m.elementLengths[0] = m.elementLengths[1] = 4; m.validBit = 3;
       DataCopy(u, s, N); MrgSort(u, MrgSortSrcList<float>(u, u[8], u, u), m))
FAULTY(f_sort_dst, Sort32(u[32], s, o, 1); Sort32(u[64], s, o, 1))
FAULTY(f_sort_src0, Sort32(u, s[16], o, 1); Sort32(u, s[32], o, 1))
FAULTY(f_sort_src1, Sort32(u, s, o[8], 1); Sort32(u, s, o[32], 1))
FAULTY(f_sort_half, LocalTensor<half> h = s.template ReinterpretCast<half>();
       LocalTensor<half> r = u.template ReinterpretCast<half>(); Sort32(r, h[16], o, 1); Sort32(r, h[32], o, 1))
FAULTY(f_sort_dtype, Sort32(o, o, o, 1))
FAULTY(f_sort_poison, Sort32(u[2048], u, o, 1))
FAULTY(f_gather_far, Duplicate(o.template ReinterpretCast<int32_t>(), int32_t(1 << 20), 64);
       Gather(u, s, o, 0, 64, 1, 8))
FAULTY(f_gather_odd, Duplicate(o.template ReinterpretCast<int32_t>(), int32_t(2), 64); Gather(u, s, o, 0, 64, 1, 8))
FAULTY(f_select_unset, (Select<float, SELMODE::VSEL_CMPMASK_SPR>(u, s, s, 1, BinaryRepeatParams())))
FAULTY(f_transpose_dtype, Transpose(u, s))
FAULTY(f_5hd_misaligned, LocalTensor<float> l[16]; for (auto &v
                                                        : l) v = s[1];
       LocalTensor<float> k[16]; for (auto &v
                                      : k) v = u;
       TransDataTo5HD<float>(k, l, TransDataTo5HDParams()))
FAULTY(f_counter_bounds, Duplicate(u, 1.0f, 8000); SetMaskCount(); Muls(d, u, 2.0f, 5000, 1, {1, 1, 8, 8});
       SetMaskNorm(); ResetMask())
FAULTY(f_flag_unset, CrossCoreWaitFlag(2))
FAULTY(f_flag_mode, (CrossCoreSetFlag<2, PIPE_MTE3>(2)))

#define CASE(k, nx, ny, c) \
  { #k, k, 1, 4, nx, ny, 0, nullptr, nullptr, fill_values, c, 0, 0, 0 }
#define FAULT(k, kind, text) \
  { #k, k, 1, 4, N, N, 0, kind, text, fill_values, nullptr, 0, 0, 0 }
static const sim_case table[] = {
    CASE(k_counter, N, 200, c_counter),
    CASE(k_register, N, N, c_register),
    CASE(k_counter_call, N, 150, c_counter_call),
    CASE(k_peak, N, 2, c_peak),
    {"arguments", with_arguments<Abs<float>, Adds<float>, Sub<float>, Floor<float>>, 1, 4, N, N, 0, nullptr, nullptr,
     fill_values, c_arguments, 0, 0, 0},
    CASE(k_gather, N, 128, c_gather),
    CASE(k_gatherb, N, 128, c_gatherb),
    CASE(k_compare_register, N, 128, c_compare_register),
    CASE(k_sort, N, 256, c_sort),
    CASE(k_merge_stops, N, 2, c_merge_stops),
    {"transpose", k_transpose, 1, 2, 256, 512, 0, nullptr, nullptr, fill_bytes, c_transpose, 0, 0, 0},
    CASE(k_5hd_float, N, N, c_5hd_float),
    CASE(k_nd2nz, N, 64, c_nd2nz),
    {"fused", k_fused, 1, 4, N, N / 2, 0, nullptr, nullptr, fill_values, c_fused, 0, 0, 0},
    CASE(k_accumulate, N, 1, c_accumulate),
    {"fill_add", k_fill_add, 2, 4, N, N, 0, nullptr, nullptr, fill_values, c_fill_add, 0, 0, 0},
    {"scalar", k_scalar, 1, 4, N, 8, 0, nullptr, nullptr, fill_values, c_scalar, 0, 0, 0},
    {"fill_twice", k_fill_twice, 1, 4, N, N, 0, "written-twice", "elements 0..255", fill_values, nullptr, 0, 0, 0},
    FAULT(f_scatter, "not-on-chip", "Scatter"),
    FAULT(f_proposals, "not-on-chip", "RpSort16"),
    FAULT(f_merge_long, "field-limit", "5000"),
    FAULT(f_merge_bits, "field-limit", "validBit is 5"),
    FAULT(f_merge_overlap, "overlap", "list 1"),
    FAULT(f_sort_dst, "misaligned", "dst"),
    FAULT(f_sort_src0, "misaligned", "src0"),
    FAULT(f_sort_src1, "misaligned", "src1"),
    FAULT(f_sort_half, "misaligned", "of 64 bytes"),
    FAULT(f_sort_dtype, "no-such-dtype", "Sort32 of uint32_t"),
    FAULT(f_sort_poison, "read-poison", "src0"),
    FAULT(f_gather_far, "ub-out-of-bounds", "src"),
    FAULT(f_gather_odd, "misaligned", "src"),
    FAULT(f_select_unset, "read-poison", "compare mask register"),
    FAULT(f_transpose_dtype, "no-such-dtype", "float"),
    FAULT(f_5hd_misaligned, "misaligned", "src"),
    FAULT(f_counter_bounds, "ub-out-of-bounds", "dst"),
    {"f_flag_unset", f_flag_unset, 1, 4, N, N, 0, "deadlock", "flag 2", fill_values, nullptr, 1, 0, 0},
    FAULT(f_flag_mode, "not-modelled", "mode 2"),
};
SIM_CASES(table);

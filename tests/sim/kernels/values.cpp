/* Values of instructions, judged by plain C++ in double. */
#include "tile.h"

#include <math.h>
#include <string.h>

constexpr int N = 200; /* elements used: no whole number of repeats, and a tail within a block */

static void fill_f32(void *p, int64_t n) {
  float *x = static_cast<float *>(p);
  fill_values(p, n);
  x[3] = -0.0f, x[5] = 1e-40f, x[6] = INFINITY, x[7] = -INFINITY, x[8] = NAN;
}
static bool same(float a, float b) {
  return (a != a && b != b) || (a == b && signbit(a) == signbit(b));
}
#define CHECK_F32(name, want)                                                             \
  static int64_t name(const void *px, const void *py) {                                   \
    const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py); \
    for (int64_t i = 0; i < N; i++) {                                                     \
      [[maybe_unused]] double v = x[i];                                                   \
      if (!same(y[i], static_cast<float>(want))) return i;                                \
    }                                                                                     \
    return -1;                                                                            \
  }

/* ---- one instruction each ---- */

#define UNARY_F32(name, want)                                                  \
  static void k_##name(GM_ADDR a, GM_ADDR b, GM_ADDR) {                        \
    on_tile<float>(a, b, N, N, [](auto d, auto s, auto &) { name(d, s, N); }); \
  }                                                                            \
  CHECK_F32(c_##name, want)
UNARY_F32(Exp, exp(v))
UNARY_F32(Ln, log(v))
UNARY_F32(Abs, fabs(v))
UNARY_F32(Sqrt, sqrt(v))
UNARY_F32(Reciprocal, 1.0f / x[i])
UNARY_F32(Rsqrt, 1.0 / sqrt(v))
UNARY_F32(Relu, v > 0 || v != v ? v : 0.0)
#define BINARY_F32(name, want)                               \
  static void k_##name(GM_ADDR a, GM_ADDR b, GM_ADDR) {      \
    on_tile<float>(a, b, N, N, [](auto d, auto s, auto &t) { \
      auto u = t.template Get<float>();                      \
      Adds(u, s, 3.0f, N);                                   \
      name(d, s, u, N);                                      \
    });                                                      \
  }                                                          \
  CHECK_F32(c_##name, want)
#define U (static_cast<float>(x[i]) + 3.0f)
BINARY_F32(Add, x[i] + U)
BINARY_F32(Sub, x[i] - U)
BINARY_F32(Mul, x[i] * U)
BINARY_F32(Div, x[i] / U)
BINARY_F32(Max, U)
BINARY_F32(Min, x[i])
BINARY_F32(AddRelu, (x[i] + U > 0 || x[i] != x[i] ? x[i] + U : 0.0f))
#define SCALAR_F32(name, s_, want)                                                 \
  static void k_##name(GM_ADDR a, GM_ADDR b, GM_ADDR) {                            \
    on_tile<float>(a, b, N, N, [](auto d, auto s, auto &) { name(d, s, s_, N); }); \
  }                                                                                \
  CHECK_F32(c_##name, want)
SCALAR_F32(Adds, 0.1f, x[i] + 0.1f)
SCALAR_F32(Muls, 0.1f, x[i] * 0.1f)
SCALAR_F32(Maxs, 0.5f, x[i] > 0.5f || v != v ? x[i] : 0.5f)
SCALAR_F32(Mins, 0.5f, x[i] < 0.5f || v != v ? x[i] : 0.5f)
SCALAR_F32(LeakyRelu, 0.01f, x[i] > 0 ? x[i] : x[i] * 0.01f)

static void k_Axpy(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, N, [](auto d, auto s, auto &) {
    Duplicate(d, 1.5f, N);
    Axpy(d, s, 0.3f, N);
  });
}
CHECK_F32(c_Axpy, 1.5 + v * static_cast<double>(0.3f))

/* in place, with the repeat form: 64 lanes, then a mask of 8 */
static void k_repeat(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, N, [](auto d, auto s, auto &) {
    Muls(d, s, 2.0f, 64, 3, {1, 1, 8, 8});
    Muls(d[192], s[192], 2.0f, 8, 1, {1, 1, 8, 8});
    uint64_t odd[2] = {0xaaaaaaaaaaaaaaaaull, 0};
    Adds(d, d, 1.0f, odd, 3, {1, 1, 8, 8});
  });
}
CHECK_F32(c_repeat, i < 192 && i % 2 ? x[i] * 2 + 1 : x[i] * 2)

/* accumulate 3 repeats into one: destination repeat stride 0 */
static void k_accumulate(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, 64, [](auto d, auto s, auto &) {
    Duplicate(d, 0.0f, 64);
    Add(d, s, d, 64, 3,
        {1, 1, 1, 0, 8, 0}); /* the sum is src1: only there may a repeat read what the one before wrote */
  });
}
static int64_t c_accumulate(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int i = 0; i < 64; i++)
    if (y[i] != 0.0f + x[i] + x[i + 64] + x[i + 128]) return i;
  return -1;
}

/* ---- half: one rounding of the exact result ---- */

static void fill_half(void *p, int64_t n) {
  uint16_t *x = static_cast<uint16_t *>(p);
  for (int64_t i = 0; i < n; i++) x[i] = static_cast<uint16_t>(i * 331 + 7);
}
template <typename F> static int64_t judge_half(const void *px, const void *py, F f) {
  const uint16_t *x = static_cast<const uint16_t *>(px), *y = static_cast<const uint16_t *>(py);
  for (int64_t i = 0; i < N; i++) {
    double v = acsim_half_to_float(x[i]), w = acsim_half_to_float(x[N - 1 - i]);
    uint16_t want = acsim_double_to_half(f(v, w));
    bool nan = (want & 0x7fff) > 0x7c00;
    if (nan ? (y[i] & 0x7fff) <= 0x7c00 : y[i] != want) return i;
  }
  return -1;
}
static void k_half_mul(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<half>(a, b, N, N, [](auto d, auto s, auto &t) { /* the tile, reversed by the scalar unit */
                                                          auto r = t.template Get<half>();
                                                          for (int i = 0; i < N; i++)
                                                            r.SetValue(i, s.GetValue(N - 1 - i));
                                                          Mul(d, s, r, N);
  });
}
static int64_t c_half_mul(const void *x, const void *y) {
  return judge_half(x, y, [](double v, double w) { return v * w; });
}
static void k_half_exp(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<half>(a, b, N, N, [](auto d, auto s, auto &) { Exp(d, s, N); });
}
static int64_t c_half_exp(const void *x, const void *y) {
  return judge_half(x, y, [](double v, double) { return exp(v); });
}

/* ---- casts ---- */

static void k_cast_half(GM_ADDR a, GM_ADDR b,
                        GM_ADDR) { /* float -> half -> float, in place from the upper half of the buffer */
  on_tile<float>(a, b, N, N, [](auto d, auto s, auto &) {
    auto h = d.template ReinterpretCast<half>()[208];
    Cast(h, s, RoundMode::CAST_RINT, N);
    Cast(d, h, RoundMode::CAST_NONE, N);
  });
}
CHECK_F32(c_cast_half, acsim_half_to_float(acsim_double_to_half(v)))
static void k_cast_int(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, N, [](auto d, auto s, auto &) {
    Cast(d.template ReinterpretCast<int32_t>(), s, RoundMode::CAST_FLOOR, N);
  });
}
static int64_t c_cast_int(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px);
  const int32_t *y = static_cast<const int32_t *>(py);
  for (int64_t i = 0; i < N; i++) {
    double f = floor(static_cast<double>(x[i]));
    int32_t want = x[i] != x[i]        ? 0
                   : f > 2147483647.0  ? 2147483647
                   : f < -2147483648.0 ? -2147483647 - 1
                                       : static_cast<int32_t>(f);
    if (y[i] != want) return i;
  }
  return -1;
}
static void k_cast_bf16(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, N, [](auto d, auto s, auto &t) {
    auto h = t.template Get<bfloat16_t>();
    Cast(h, s, RoundMode::CAST_RINT, N);
    Cast(d, h, RoundMode::CAST_NONE, N);
  });
}
CHECK_F32(c_cast_bf16, acsim_bf16_to_float(acsim_double_to_bf16(v)))

/* ---- compare and select over a partly defined last repeat: its undefined mask bits are never used ---- */

static void k_select(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, N, [](auto d, auto s, auto &t) {
    auto m = t.template Get<uint8_t>(64);
    auto z = t.template GetWithOffset<float>(256, 256);
    Duplicate(z, 2.0f, 256);
    Compare(m, s, z, CMPMODE::GE, 256); /* reads 256 lanes, of which 200 are defined */
    Select(d, m, s, z, SELMODE::VSEL_TENSOR_TENSOR_MODE, N);
  });
}
CHECK_F32(c_select, v >= 2 ? v : 2.0)
static void k_select_scalar(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, N, [](auto d, auto s, auto &t) {
    auto m = t.template Get<uint8_t>(64);
    CompareScalar(m, s, 1.0f, CMPMODE::LT, 256);
    Not(m.template ReinterpretCast<uint16_t>(), m.template ReinterpretCast<uint16_t>(), 16);
    Select(d, m, s, -7.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, N);
  });
}
CHECK_F32(c_select_scalar, !(v < 1) ? v : -7.0)

/* ---- reductions ---- */

static float tree(const float *x, int n) {
  return n == 1 ? x[0] : tree(x, n / 2) + tree(x + n / 2, n / 2);
}
static void k_sum(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, 192, 2, [](auto d, auto s, auto &t) {
    auto w = t.template Get<float>();
    ReduceSum(d, s, w, 192);
    ReduceSum(d[1], s, w, 64, 3, 8);
  });
}
static int64_t c_sum(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  float t0 = tree(x, 64), t1 = tree(x + 64, 64), t2 = tree(x + 128, 64);
  return y[0] != t0 + t1 + t2 ? 0 : y[1] != (t0 + t1) + t2 ? 1 : -1;
}
static void k_max(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, 8, [](auto d, auto s, auto &t) {
    auto w = t.template Get<float>();
    ReduceMax(d, s, w, N, true);
    ReduceMin(d[2], s, w, N, true);
    ReduceMax(d[4], s, w, N);
    WholeReduceMin(d[6], s, 40, 1, 1, 1, 8);
    float top = d.GetValue(4);
    d.SetValue(5, top + 1);
  });
}
static int64_t c_max(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  int hi = 0, lo = 0, lo40 = 0;
  for (int i = 1; i < N; i++) {
    if (x[i] > x[hi]) hi = i;
    if (x[i] < x[lo]) lo = i;
    if (i < 40 && x[i] < x[lo40]) lo40 = i;
  }
  int32_t index[4];
  memcpy(index, y, 16);
  if (y[0] != x[hi] || index[1] != hi) return 0;
  if (y[2] != x[lo] || index[3] != lo) return 2;
  if (y[4] != x[hi] || y[5] != x[hi] + 1) return 4;
  memcpy(index, y + 7, 4);
  return y[6] != x[lo40] || index[0] != lo40 ? 6 : -1;
}
static void k_parts(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, 128, 48, [](auto d, auto s, auto &) {
    BlockReduceSum(d, s, 2, 64, 1, 1, 8);
    PairReduceSum(d[16], s, 1, 64, 1, 1, 8);
  });
}
static int64_t c_parts(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int i = 0; i < 16; i++)
    if (y[i] != tree(x + 8 * i, 8)) return i;
  for (int i = 0; i < 32; i++)
    if (y[16 + i] != x[2 * i] + x[2 * i + 1]) return 16 + i;
  return -1;
}

/* ---- moving elements ---- */

static void k_move(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, 64 + 64 + 13, [](auto d, auto s, auto &t) {
    Brcb(d, s, 1, {1, 8});
    auto index = t.template Get<int32_t>(64);
    CreateVecIndex(index, 5, 64u);
    Muls(index, index, 4, 64);
    Gather(d[64], s, index.template ReinterpretCast<uint32_t>(), 8u, 64);
    uint64_t n = 0;
    GatherMask(t.template GetWithOffset<float>(64, 1024), s, 4, true, 52, {1, 1, 0, 0}, n);
    Adds(d[128], t.template GetWithOffset<float>(64, 1024), static_cast<float>(n) - 13, 13);
  });
}
static int64_t c_move(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int i = 0; i < 64; i++)
    if (y[i] != x[i / 8]) return i;
  for (int i = 0; i < 64; i++)
    if (y[64 + i] != x[5 + i + 2]) return 64 + i;
  for (int i = 0; i < 13; i++)
    if (y[128 + i] != x[4 * i + 1]) return 128 + i;
  return -1;
}

/* rows with pads on both sides, a pitch in UB and a stride in GM */
static void k_rows(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> q;
  GlobalTensor<float> x, y;
  x.SetGlobalBuffer((__gm__ float *)a, N);
  y.SetGlobalBuffer((__gm__ float *)b, 4 * 16);
  pipe.InitBuffer(q, 2, 1024);
  auto t = q.AllocTensor<float>();
  DataCopyPad(t, x, {4, 11 * 4, 3 * 4, 1, 0},
              {true, 1, 4, -1.0f}); /* rows of 11, 14 apart; 1 + 11 + 4 = 16, then a gap of 8 */
  q.EnQue(t);
  t = q.DeQue<float>();
  DataCopyPad(y, t, {4, 16 * 4, 1, 0, 0});
  q.FreeTensor(t);
}
static int64_t c_rows(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int i = 0; i < 64; i++) {
    int r = i / 16, k = i % 16;
    if (y[i] != (k == 0 || k > 11 ? -1.0f : x[14 * r + k - 1])) return i;
  }
  return -1;
}
static void k_first_element(GM_ADDR a, GM_ADDR b,
                            GM_ADDR) { /* no pad asked for: the block's first element fills up */
  on_tile<float>(a, b, N, 16, [](auto d, auto s, auto &t) {
    (void)s;
    (void)t;
    Adds(d, s[192], 0.0f, 8);
    Adds(d[8], s[192], 0.0f, 8);
  });
}
static int64_t c_first_element(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int i = 0; i < 16; i++)
    if (y[i] != x[192 + i % 8]) return i;
  return -1;
}

/* the scalar types */
static void k_scalars(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, 8, 8, [](auto d, auto s, auto &) {
    half h = 0.1, g = h * h + 1;
    bfloat16_t f = 0.1f;
    h += 2;
    d.SetValue(0, h);
    d.SetValue(1, g);
    d.SetValue(2, f);
    d.SetValue(3, static_cast<half>(f));
    d.SetValue(4, g > h ? 1 : 2);
    d.SetValue(5, s(1));
    d(6) = s(2) + 1;
    d.SetValue(7, static_cast<float>(half(65536)));
  });
}
static int64_t c_scalars(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  const float h = 0.0999755859375f;
  const float want[] = {acsim_half_to_float(acsim_float_to_half(h + 2)),
                        acsim_half_to_float(acsim_float_to_half(h * h + 1)),
                        0.10009765625f,
                        0.10009765625f,
                        2,
                        x[1],
                        x[2] + 1,
                        INFINITY};
  for (int i = 0; i < 8; i++)
    if (y[i] != want[i]) return i;
  return -1;
}

#define F32(name) \
  { #name, k_##name, 1, 4, N, N, 0, nullptr, nullptr, fill_f32, c_##name, 0, 0, 0 }
#define SHAPED(name, nx, ny) \
  { #name, k_##name, 1, 4, nx, ny, 0, nullptr, nullptr, fill_values, c_##name, 0, 0, 0 }
static const sim_case table[] = {
    F32(Exp),
    F32(Ln),
    F32(Abs),
    F32(Sqrt),
    F32(Reciprocal),
    F32(Rsqrt),
    F32(Relu),
    F32(Add),
    F32(Sub),
    F32(Mul),
    F32(Div),
    SHAPED(Max, N, N),
    SHAPED(Min, N, N),
    F32(AddRelu),
    F32(Adds),
    F32(Muls),
    F32(Maxs),
    F32(Mins),
    F32(LeakyRelu),
    F32(Axpy),
    SHAPED(repeat, N, N),
    SHAPED(accumulate, N, 64),
    {"half_mul", k_half_mul, 1, 2, N, N, 0, nullptr, nullptr, fill_half, c_half_mul, 0, 0, 0},
    {"half_exp", k_half_exp, 1, 2, N, N, 0, nullptr, nullptr, fill_half, c_half_exp, 0, 0, 0},
    F32(cast_half),
    F32(cast_int),
    F32(cast_bf16),
    F32(select),
    F32(select_scalar),
    SHAPED(sum, 192, 2),
    SHAPED(max, N, 8),
    SHAPED(parts, 128, 48),
    SHAPED(move, N, 64 + 64 + 13),
    SHAPED(rows, N, 64),
    SHAPED(first_element, N, 16),
    SHAPED(scalars, 8, 8),
};
SIM_CASES(table);

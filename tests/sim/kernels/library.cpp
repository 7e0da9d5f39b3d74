/* The high-level library: values against the C library in double, and its rules about memory. */
#include "tile.h"
#include "lib/activation/softmax.h"
#include "lib/math/kernel_operator_sin_intf.h"

#include <math.h>
#include <string.h>

constexpr int N = 200;

/* (0, 1): inside the domain of every function but Acosh */
static void fill(void *p, int64_t n) {
  for (int64_t i = 0; i < n; i++) static_cast<float *>(p)[i] = static_cast<float>(i * 37 % 101 + 1) / 104.0f;
}
static void fill_wide(void *p, int64_t n) {
  float *x = static_cast<float *>(p);
  for (int64_t i = 0; i < n; i++) x[i] = static_cast<float>(i * 37 % 101 - 50) * 0.37f + 0.0625f;
  x[1] = 0.5f, x[2] = 1.5f, x[3] = -2.5f, x[4] = 0, x[5] = -0.0f, x[6] = INFINITY, x[7] = -INFINITY, x[8] = NAN;
}
static bool same(float a, float b) {
  return (a != a && b != b) || a == b;
}
#undef CHECK /* with a tolerance here */
#define CHECK(name, want)                                                                 \
  static int64_t name(const void *px, const void *py) {                                   \
    const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py); \
    for (int64_t i = 0; i < N; i++) {                                                     \
      [[maybe_unused]] double v = x[i];                                                   \
      if (!same(y[i], static_cast<float>(want))) return i;                                \
    }                                                                                     \
    return -1;                                                                            \
  }
/* With the library's own memory and with the caller's. */
#define FUNCTION(name, want)                                        \
  static void k_##name(GM_ADDR a, GM_ADDR b, GM_ADDR) {             \
    on_tile<float>(a, b, N, N, [](auto d, auto s, auto &t) {        \
      LocalTensor<uint8_t> tmp = t.template Get<uint8_t>();         \
      LocalTensor<float> u = tmp.template ReinterpretCast<float>(); \
      name(d, s, N);                                                \
      LocalTensor<uint8_t> rest = tmp[4096];                        \
      name(u, s, rest, N);                                          \
      Add(d, d, u, N);                                              \
      Muls(d, d, 0.5f, N);                                          \
    });                                                             \
  }                                                                 \
  CHECK(c_##name, want)
FUNCTION(Sin, sin(v))
FUNCTION(Cos, cos(v))
FUNCTION(Tan, tan(v))
FUNCTION(Asin, asin(v))
FUNCTION(Acos, acos(v))
FUNCTION(Atan, atan(v))
FUNCTION(Sinh, sinh(v))
FUNCTION(Cosh, cosh(v))
FUNCTION(Asinh, asinh(v))
FUNCTION(Atanh, atanh(v))
FUNCTION(Tanh, tanh(v))
FUNCTION(Erf, erf(v))
FUNCTION(Erfc, erfc(v))
FUNCTION(Log2, log2(v))
FUNCTION(Sigmoid, 1 / (1 + exp(-v)))
FUNCTION(Floor, floor(v))
FUNCTION(Ceil, ceil(v))
FUNCTION(Trunc, trunc(v))
FUNCTION(Round, rint(v))
FUNCTION(Sign, v > 0 ? 1 : v < 0 ? -1 : v)
FUNCTION(Gelu, 0.5 * v * (1 + tanh(0.7978845608028654 * (v + 0.044715 * v * v * v))))

static void k_log(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, N, [](auto d, auto s, auto &) {
    Log(d, s, N);
    Log10(d, d, N); /* one instruction each: they work in place */
  });
}
CHECK(c_log, log10(static_cast<double>(static_cast<float>(log(v)))))

static void k_power(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, N, [](auto d, auto s, auto &t) {
    LocalTensor<float> u = t.template Get<float>(), w = u[1024];
    Power(u, s, s, N);
    Power(w, s, 2.5f, N);
    Add(d, u, w, N);
    Power(u, 2.0f, s, N);
    Add(d, d, u, N);
  });
}
CHECK(c_power, (static_cast<float>(pow(v, v)) + static_cast<float>(pow(v, 2.5))) + static_cast<float>(pow(2, v)))

static void k_int_power(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<int32_t>(a, b, N, N, [](auto d, auto s, auto &t) {
    LocalTensor<int32_t> e = t.template Get<int32_t>();
    ArithProgression(e, int32_t(0), int32_t(1), N);
    Power(d, s, e, N);
  });
}
static void fill_int(void *p, int64_t n) {
  for (int64_t i = 0; i < n; i++) static_cast<int32_t *>(p)[i] = static_cast<int32_t>(i % 7 - 3);
}
static int64_t c_int_power(const void *px, const void *py) {
  const int32_t *x = static_cast<const int32_t *>(px), *y = static_cast<const int32_t *>(py);
  for (int i = 0; i < N; i++) {
    uint32_t w = 1;
    for (int k = 0; k < i; k++) w *= static_cast<uint32_t>(x[i]);
    if (static_cast<uint32_t>(y[i]) != w) return i;
  }
  return -1;
}

/* ---- rows ---- */

/* 5 rows of 40, the first 37 of each count */
static void k_sum(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, 16, [](auto d, auto s, auto &) {
    Sum(d, s, SumParams{5, 40, 37});
    Mean(d[8], s, MeanParams{5, 40, 37});
    Duplicate(d[16], 0.0f, 8);
    uint64_t three[2] = {0xe0, 0};
    Duplicate(d, -1.0f, three, 1, 1, 8);
    Duplicate(d[8], -1.0f, three, 1, 1, 8);
  });
}
static int64_t c_sum(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int r = 0; r < 5; r++) {
    double s = 0;
    for (int i = 0; i < 37; i++) s += x[r * 40 + i];
    if (fabs(y[r] - s) > 1e-5 * s || fabs(y[8 + r] - s / 37) > 1e-6) return r;
  }
  return -1;
}

static void k_broadcast(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, 256, [](auto d, auto s, auto &) {
    const uint32_t to[] = {8, 16}, column[] = {8, 1}, row[] = {1, 16};
    BroadCast<float, 2, 1>(d, s, to, column);
    BroadCast<float, 2, 0>(d[128], s, to, row);
  });
}
static int64_t c_broadcast(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int i = 0; i < 256; i++)
    if (y[i] != (i < 128 ? x[i / 16] : x[i % 16])) return i;
  return -1;
}

static void k_select(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, 128, [](auto d, auto s, auto &t) {
    LocalTensor<uint8_t> m = t.template Get<uint8_t>(), tmp = m[1024];
    Duplicate(m.template ReinterpretCast<int16_t>(), int16_t(0x100), 64); /* 0, 1, 0, 1 ... */
    SelectWithBytesMask(d, s, -7.0f, m, tmp, SelectWithBytesMaskShapeInfo(4, 32, 32));
  });
}
static int64_t c_select(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int i = 0; i < 128; i++)
    if (y[i] != (i % 2 ? -7 : x[i])) return i;
  return -1;
}

/* 3 rows of 64: softmax, and the gradient of it for a gradient of x */
static void k_softmax(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  on_tile<float>(a, b, N, 432, [](auto d, auto s, auto &) {
    SoftMaxTiling tiling;
    tiling.srcM = 3, tiling.srcK = 64;
    SoftMax<float>(d, d[384], d[408], s, tiling);
    SoftmaxGrad<float>(d[192], s, d, tiling);
  });
}
static int64_t c_softmax(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int r = 0; r < 3; r++) {
    double top = x[r * 64], sum = 0, dot = 0, p[64];
    for (int i = 0; i < 64; i++) top = fmax(top, x[r * 64 + i]);
    for (int i = 0; i < 64; i++) sum += p[i] = exp(x[r * 64 + i] - top);
    for (int i = 0; i < 64; i++) p[i] /= sum, dot += p[i] * x[r * 64 + i];
    for (int i = 0; i < 64; i++) {
      int at = r * 64 + i;
      if (fabs(y[at] - p[i]) > 1e-6 || fabs(y[192 + at] - (x[at] - dot) * p[i]) > 1e-6) return at;
    }
    for (int i = 0; i < 8; i++)
      if (fabs(y[384 + r * 8 + i] - sum) > 1e-5 * sum || y[408 + r * 8 + i] != static_cast<float>(top))
        return 384 + r;
  }
  return -1;
}

/* ---- its rules ---- */

#define FAULTY(name, ...)                                                                                       \
  static void name(GM_ADDR a, GM_ADDR b, GM_ADDR) {                                                             \
    on_tile<float>(a, b, N, N, []([[maybe_unused]] auto d, [[maybe_unused]] auto s, [[maybe_unused]] auto &t) { \
      DataCopy(d, s, 200);                                                                                      \
      [[maybe_unused]] LocalTensor<uint8_t> tmp = t.template Get<uint8_t>();                                    \
      __VA_ARGS__;                                                                                              \
    });                                                                                                         \
  }
FAULTY(f_little, LocalTensor<uint8_t> few = tmp; few.SetSize(512); Sin(d, s, few, N))
FAULTY(f_in_place, Sin(d, d, tmp, N))
FAULTY(f_tmp_overlap, LocalTensor<uint8_t> same = s.template ReinterpretCast<uint8_t>(); Tanh(d, s, same, N))
FAULTY(f_tmp_used, Sin(d, s, tmp, N); Add(d, d, tmp.template ReinterpretCast<float>(), 64))
FAULTY(f_reused, (Sin<float, true>(d, s, tmp, N)); Add(d, d, s, 64))
FAULTY(f_dtype, LocalTensor<int32_t> i = s.template ReinterpretCast<int32_t>();
       Sin(d.template ReinterpretCast<int32_t>(), i, tmp, N))
FAULTY(f_sum_row, Sum(d, s, SumParams{2, 37, 37}))
FAULTY(f_softmax_row, SoftMaxTiling k; k.srcM = 1; k.srcK = 37; SoftMax<float>(d, s, k))
FAULTY(f_broadcast, const uint32_t to[] = {8, 4}; const uint32_t from[] = {1, 4};
       (BroadCast<float, 2, 0>(d, s, to, from)))

/* TPipe's buffers leave too little of UB for the library */
static void f_stack(GM_ADDR, GM_ADDR, GM_ADDR) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> a;
  pipe.InitBuffer(a, 192 * 1024 - 256 - 512);
  LocalTensor<float> s = a.Get<float>();
  Duplicate(s, 0.5f, 64);
  Sin(s[1024], s, 64);
}

#define CASE(name, f) \
  { #name, k_##name, 1, 4, N, N, 0, nullptr, nullptr, f, c_##name, 0, 0, 0 }
#define ROWS(name, ny) \
  { #name, k_##name, 1, 4, N, ny, 0, nullptr, nullptr, fill, c_##name, 0, 0, 0 }
#define FAULT(k, kind, text) \
  { #k, k, 1, 4, N, N, 0, kind, text, fill, nullptr, 1, 0, 0 }
static const sim_case table[] = {
    CASE(Sin, fill_wide),
    CASE(Cos, fill_wide),
    CASE(Tan, fill_wide),
    CASE(Asin, fill),
    CASE(Acos, fill),
    CASE(Atan, fill_wide),
    CASE(Sinh, fill_wide),
    CASE(Cosh, fill_wide),
    CASE(Asinh, fill_wide),
    CASE(Atanh, fill),
    CASE(Tanh, fill_wide),
    CASE(Erf, fill_wide),
    CASE(Erfc, fill_wide),
    CASE(Log2, fill_wide),
    CASE(Sigmoid, fill_wide),
    CASE(Floor, fill_wide),
    CASE(Ceil, fill_wide),
    CASE(Trunc, fill_wide),
    CASE(Round, fill_wide),
    CASE(Sign, fill_wide),
    CASE(Gelu, fill),
    CASE(log, fill_wide),
    CASE(power, fill),
    CASE(int_power, fill_int),
    ROWS(sum, 16),
    ROWS(broadcast, 256),
    ROWS(select, 128),
    ROWS(softmax, 432),
    FAULT(f_little, "lib-temporary-memory", "needs 768 bytes"),
    FAULT(f_in_place, "overlap", "dst and src"),
    FAULT(f_tmp_overlap, "overlap", "temporary memory and src"),
    FAULT(f_tmp_used, "read-poison", "src1"),
    FAULT(f_reused, "read-poison", "src1"),
    FAULT(f_dtype, "no-such-dtype", "Sin of int32_t"),
    FAULT(f_sum_row, "lib-shape", "inner 37"),
    FAULT(f_softmax_row, "lib-shape", "whole blocks"),
    FAULT(f_broadcast, "lib-shape", "BroadCast"),
    FAULT(f_stack, "lib-temporary-memory", "leave 512 bytes"),
};
SIM_CASES(table);

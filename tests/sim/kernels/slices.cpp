/* DataCopy with SliceInfo: values against the definition, element by element, and the fault of each constraint. */
#include "tile.h"

#include <string.h>

constexpr int ROW = 87, ROWS = 3, NX = ROW * ROWS * 4, NY = 512;

static void fill(void *p, int64_t n) {
  for (int64_t i = 0; i < n; i++) static_cast<float *>(p)[i] = static_cast<float>(i + 1);
}
static void fill_half(void *p, int64_t n) {
  for (int64_t i = 0; i < n; i++) static_cast<uint16_t *>(p)[i] = static_cast<uint16_t>(i + 1);
}

/* x -> UB by the first two arrays, UB -> y by the last two. UB is cleared before. */
template <typename T>
static void slices(GM_ADDR a, GM_ADDR b, const SliceInfo *ub, const SliceInfo *from, const SliceInfo *to,
                   const SliceInfo *ub_out, uint32_t dims, bool shapes = false) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buf;
  pipe.InitBuffer(buf, 32768);
  GlobalTensor<T> x, y;
  x.SetGlobalBuffer((__gm__ T *)a, NX);
  y.SetGlobalBuffer((__gm__ T *)b, NY);
  LocalTensor<T> t = buf.Get<T>();
  Duplicate(t, T(0), 4096);
  SetFlag<HardEvent::V_MTE2>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);
  if (shapes) {
    uint32_t sx[] = {ROW, ROWS}, st[] = {48, 2};
    x.SetShapeInfo(ShapeInfo(2, sx));
    t.SetShapeInfo(ShapeInfo(2, st));
  }
  if (ub) DataCopy(t, x, ub, from, dims);
  SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  if (to) DataCopy(y, t, to, ub_out, dims);
}

/* The definition: the elements of a side, in order; a dimension's index counts if it lies in a slice. */
static int listed(const SliceInfo *s, int dims, int per, int *to) {
  int n = 0, total = 1;
  for (int d = 0; d < dims; d++) total *= static_cast<int>(s[d].shapeValue);
  for (int e = 0; e < total; e++) {
    bool in = true;
    for (int d = 0, rest = e; d < dims; rest /= static_cast<int>(s[d].shapeValue), d++) {
      int i = rest % static_cast<int>(s[d].shapeValue) - static_cast<int>(s[d].startIndex);
      int unit = d ? 1 : static_cast<int>(s[d].burstLen) * per;
      in = in && i >= 0 && i <= static_cast<int>(s[d].endIndex - s[d].startIndex) &&
           i % (unit + static_cast<int>(s[d].stride)) < unit;
    }
    if (in) to[n++] = e;
  }
  return n;
}
template <typename T>
static int64_t wrong(const void *px, const void *py, const SliceInfo *ub, const SliceInfo *from, const SliceInfo *to,
                     const SliceInfo *ub_out, int dims) {
  static int f[NX], l[NX];
  static T t[4096], y[NY];
  const T *x = static_cast<const T *>(px);
  memset(t, 0, sizeof t);
  memset(y, 0, sizeof y);
  int per = 32 / static_cast<int>(sizeof(T)), n = listed(from, dims, per, f);
  if (!n || n != listed(ub, dims, per, l)) return 0;
  for (int i = 0; i < n; i++) t[l[i]] = x[f[i]];
  n = listed(ub_out, dims, per, f);
  if (!n || n != listed(to, dims, per, l)) return 0;
  for (int i = 0; i < n; i++) y[l[i]] = t[f[i]];
  for (int i = 0; i < NY; i++)
    if (memcmp(&y[i], static_cast<const T *>(py) + i, sizeof(T))) return i;
  return -1;
}

#define MOVES(name, T, dims)                                                                 \
  static void k_##name(GM_ADDR a, GM_ADDR b, GM_ADDR) {                                      \
    slices<T>(a, b, name##_ub, name##_from, name##_to, name##_out, dims);                    \
  }                                                                                          \
  static int64_t c_##name(const void *x, const void *y) {                                    \
    return wrong<decltype(T(0))>(x, y, name##_ub, name##_from, name##_to, name##_out, dims); \
  }

/* the page's example, there and packed */
static const SliceInfo page_from[] = {{16, 70, 7, 3, 87}, {0, 2, 1, 1, 3}};
static const SliceInfo page_ub[] = {{0, 47, 0, 3, 48}, {0, 1, 0, 1, 2}};
#define page_to page_ub
#define page_out page_ub
MOVES(page, float, 2)

/* one dimension; gaps on every side, in global memory no multiple of 32 bytes */
static const SliceInfo line_from[] = {{3, 3 + 3 * 16 + 2 * 5 - 1, 5, 2, 200}};
static const SliceInfo line_ub[] = {{8, 8 + 3 * 16 + 2 * 8 - 1, 8, 2, 128}};
static const SliceInfo line_to[] = {{1, 1 + 3 * 16 + 2 * 3 - 1, 3, 2, 100}};
#define line_out line_ub
MOVES(line, float, 1)

/* three dimensions; rows in another order of dimensions in UB */
static const SliceInfo cube_from[] = {{2, 49, 16, 1, 60}, {0, 4, 1, 1, 6}, {1, 2, 0, 1, 3}};
static const SliceInfo cube_ub[] = {{0, 31, 0, 1, 32}, {0, 1, 0, 1, 3}, {0, 2, 0, 1, 3}};
static const SliceInfo cube_to[] = {{0, 33, 2, 1, 34}, {0, 2, 0, 1, 3}, {0, 1, 0, 1, 2}};
#define cube_out cube_ub
MOVES(cube, half, 3)

static void k_shapes(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  SliceInfo from[] = {{16, 70, 7, 3}, {0, 2, 1, 1}}, ub[] = {{0, 47, 0, 3}, {0, 1, 0, 1}};
  slices<float>(a, b, ub, from, page_to, page_out, 2, true);
}

#define FAULTY(name, ub, from)                                           \
  static void f_##name(GM_ADDR a, GM_ADDR b, GM_ADDR) {                  \
    SliceInfo u[] = ub, f[] = from;                                      \
    slices<float>(a, b, u, f, nullptr, nullptr, sizeof u / sizeof u[0]); \
  }
#define L(...) \
  { __VA_ARGS__ }
#define S(a, b, c, d, e) SliceInfo(a, b, c, d, e)
FAULTY(backwards, L(S(0, 7, 0, 1, 8)), L(S(9, 8, 0, 1, 40)))
FAULTY(beyond_shape, L(S(0, 7, 0, 1, 8)), L(S(0, 7, 0, 1, 6)))
FAULTY(no_whole, L(S(0, 15, 0, 1, 16)), L(S(0, 16, 0, 1, 40)))
FAULTY(one_row, L(S(0, 7, 0, 1, 8), S(0, 0, 0, 1, 1)), L(S(0, 7, 0, 1, 8), S(0, 0, 0, 1, 1)))
FAULTY(outer_burst, L(S(0, 7, 0, 1, 8), S(0, 1, 0, 2, 2)), L(S(0, 7, 0, 1, 8), S(0, 1, 0, 2, 2)))
FAULTY(two_bursts, L(S(0, 15, 0, 2, 16)), L(S(0, 15, 0, 1, 16)))
FAULTY(other_rows, L(S(0, 7, 0, 1, 8), S(0, 1, 0, 1, 2)), L(S(0, 7, 0, 1, 8), S(0, 2, 0, 1, 3)))
FAULTY(no_shape, L(S(0, 7, 0, 1, 8), S(0, 1, 0, 1, 2), S(0, 1, 0, 1, 2)),
       L(S(0, 7, 0, 1, 8), S(0, 1, 0, 1, 0), S(0, 1, 0, 1, 2)))
FAULTY(many_rows, L(S(0, 7, 0, 1, 8), S(0, 1999, 0, 1, 2000)), L(S(0, 7, 0, 1, 8), S(0, 1999, 0, 1, 2000)))
FAULTY(wide, L(S(0, 15, 0, 1, 16)), L(S(0, 15 + 16385, 16385, 1, 20000)))
FAULTY(askew, L(S(0, 16, 1, 1, 24)), L(S(0, 15, 0, 1, 16)))
FAULTY(start_askew, L(S(4, 11, 0, 1, 16)), L(S(0, 7, 0, 1, 8)))
FAULTY(past_ub, L(S(0, 15, 0, 1, 4096), S(2, 3, 0, 1, 4)), L(S(0, 15, 0, 1, 16), S(0, 1, 0, 1, 2)))
FAULTY(past_gm, L(S(0, 15, 0, 1, 16), S(0, 1, 0, 1, 2)), L(S(0, 15, 0, 1, NX - 8), S(0, 1, 0, 1, 2)))
static void f_dims(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  SliceInfo s[9];
  slices<float>(a, b, s, s, nullptr, nullptr, 9);
}
static void f_double(GM_ADDR a, GM_ADDR, GM_ADDR) {
  GlobalTensor<int64_t> x;
  x.SetGlobalBuffer((__gm__ int64_t *)a, 4);
  SliceInfo s[] = {{0, 3, 0, 1, 4}};
  DataCopy(LocalTensor<int64_t>(TPosition::VECCALC, 64, 4), x, s, s);
}
/* nobody waits between the load and the store */
static void f_hazard(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buf;
  pipe.InitBuffer(buf, 4096);
  GlobalTensor<float> x, y;
  x.SetGlobalBuffer((__gm__ float *)a, NX);
  y.SetGlobalBuffer((__gm__ float *)b, NY);
  LocalTensor<float> t = buf.Get<float>();
  DataCopy(t, x, page_ub, page_from, 2); /* early */
  DataCopy(y, t, page_to, page_ub, 2);   /* late */
}
/* the program has the wait before its set: the copy waits with its pipe */
static void k_late(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buf;
  pipe.InitBuffer(buf, 4096);
  GlobalTensor<float> x, y;
  x.SetGlobalBuffer((__gm__ float *)a, NX);
  y.SetGlobalBuffer((__gm__ float *)b, NY);
  LocalTensor<float> t = buf.Get<float>();
  WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  SetAtomicAdd<float>();
  DataCopy(y, t, page_to, page_ub, 2);
  SetAtomicNone();
  DataCopy(t, x, page_ub, page_from, 2);
  SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
}
static void k_odd(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  slices<float>(a, b, line_ub, line_from, nullptr, nullptr, 1);
}

#define CASE(name, elem, fill, c) \
  { #name, k_##name, 1, elem, NX, NY, 0, nullptr, nullptr, fill, c, 1, 0, 0 }
#define FAULT(name, kind, text) \
  { #name, f_##name, 1, 4, NX, NY, 0, kind, text, fill, nullptr, 1, 0, 0 }
static const sim_case table[] = {
    CASE(page, 4, fill, c_page),
    CASE(line, 4, fill, c_line),
    CASE(cube, 2, fill_half, c_cube),
    CASE(shapes, 4, fill, c_page),
    CASE(late, 4, fill, c_page),
    FAULT(backwards, "field-limit", "startIndex < endIndex <= shapeValue"),
    FAULT(beyond_shape, "field-limit", "shapeValue 6"),
    FAULT(no_whole, "field-limit", "no whole number of slices of 8"),
    FAULT(one_row, "field-limit", "startIndex 0, endIndex 0"),
    FAULT(outer_burst, "field-limit", "burstLen is 2, it must be 1"),
    FAULT(two_bursts, "field-limit", "burstLen is 2 in dst and 1 in src"),
    FAULT(other_rows, "field-limit", "3 rows of 1 slices in src, 2 rows of 1 in dst"),
    FAULT(no_shape, "field-limit", "src, dimension 1: shapeValue is 0"),
    FAULT(many_rows, "field-limit", "2000 rows"),
    FAULT(wide, "field-limit", "65540 bytes"),
    FAULT(dims, "field-limit", "dimValue is 9"),
    FAULT(askew, "misaligned", "dst"),
    FAULT(start_askew, "misaligned", "dst"),
    FAULT(past_ub, "ub-out-of-bounds", "dst"),
    FAULT(past_gm, "gm-out-of-bounds", nullptr),
    FAULT(double, "no-such-dtype", "int64_t"),
    FAULT(hazard, "hazard-raw", nullptr),
    {"odd_on_310", k_odd, 1, 4, NX, NY, 0, "not-on-chip", "20 bytes", fill, nullptr, 1, 1, 0},
};
SIM_CASES(table);

/* The kernels of bench/throughput.c, as one would write them for Atlas A2: vector add, gelu (tanh form), softmax and layer norm of rows.
 * Blocks share the elements, or the rows, evenly. half rows are computed in float. */
#include "kernel_operator.h"
using namespace AscendC;

constexpr int32_t TILE = 8192; /* elements of an element-wise tile */
constexpr int32_t COLS = 4096; /* of a row */

/* Loads tiles of x (and w), computes, stores y: the frame of all four. */
template <typename T> class Stream {
public:
  TPipe pipe;
  TQue<TPosition::VECIN, 2> in, more;
  TQue<TPosition::VECOUT, 2> out;
  GlobalTensor<T> x, w, y;
  __aicore__ inline void Init(GM_ADDR px, GM_ADDR pw, GM_ADDR py, int32_t tile, bool second) {
    x.SetGlobalBuffer((__gm__ T *)px);
    w.SetGlobalBuffer((__gm__ T *)pw);
    y.SetGlobalBuffer((__gm__ T *)py);
    pipe.InitBuffer(in, 2, tile * sizeof(T));
    if (second) pipe.InitBuffer(more, 2, tile * sizeof(T));
    pipe.InitBuffer(out, 2, tile * sizeof(T));
  }
  __aicore__ inline LocalTensor<T> Load(TQue<TPosition::VECIN, 2> &q, GlobalTensor<T> &g, int64_t at, int32_t n) {
    LocalTensor<T> t = q.template AllocTensor<T>();
    DataCopy(t, g[at], n);
    q.EnQue(t);
    return q.template DeQue<T>();
  }
  __aicore__ inline void Store(LocalTensor<T> &t, int64_t at, int32_t n) {
    out.EnQue(t);
    t = out.template DeQue<T>();
    DataCopy(y[at], t, n);
    out.FreeTensor(t);
  }
};

/* [first, last) tiles of this block, of `all`. */
__aicore__ inline void Share(int64_t all, int64_t &first, int64_t &last) {
  first = all * GetBlockIdx() / GetBlockNum();
  last = all * (GetBlockIdx() + 1) / GetBlockNum();
}

template <typename T> __aicore__ inline void VectorAdd(GM_ADDR x, GM_ADDR w, GM_ADDR y, int64_t n) {
  Stream<T> s;
  s.Init(x, w, y, TILE, true);
  int64_t first, last;
  Share(n / TILE, first, last);
  for (int64_t i = first; i < last; i++) {
    LocalTensor<T> a = s.Load(s.in, s.x, i * TILE, TILE), b = s.Load(s.more, s.w, i * TILE, TILE);
    LocalTensor<T> d = s.out.template AllocTensor<T>();
    Add(d, a, b, TILE);
    s.in.FreeTensor(a);
    s.more.FreeTensor(b);
    s.Store(d, i * TILE, TILE);
  }
}

/* To float in `f` (float: a copy is not needed), and back. */
__aicore__ inline LocalTensor<float> Widen(LocalTensor<float> &x, LocalTensor<float> &, int32_t) {
  return x;
}
__aicore__ inline LocalTensor<float> Widen(LocalTensor<half> &x, LocalTensor<float> &f, int32_t n) {
  Cast(f, x, RoundMode::CAST_NONE, n);
  return f;
}
__aicore__ inline LocalTensor<float> Target(LocalTensor<float> &d, LocalTensor<float> &) {
  return d;
}
__aicore__ inline LocalTensor<float> Target(LocalTensor<half> &, LocalTensor<float> &f) {
  return f;
}
__aicore__ inline void Narrow(LocalTensor<float> &, LocalTensor<float> &, int32_t) {}
__aicore__ inline void Narrow(LocalTensor<half> &d, LocalTensor<float> &f, int32_t n) {
  Cast(d, f, RoundMode::CAST_RINT, n);
}

/* x * sigmoid(1.595769 (x + 0.044715 x^3)) */
template <typename T> __aicore__ inline void GeluTanh(GM_ADDR x, GM_ADDR y, int64_t n) {
  constexpr int32_t tile = TILE / 2;
  Stream<T> s;
  TBuf<TPosition::VECCALC> wide, work, result;
  s.Init(x, x, y, tile, false);
  s.pipe.InitBuffer(wide, tile * sizeof(float));
  s.pipe.InitBuffer(work, tile * sizeof(float));
  s.pipe.InitBuffer(result, tile * sizeof(float));
  LocalTensor<float> f = wide.Get<float>(), t = work.Get<float>(), r = result.Get<float>();
  int64_t first, last;
  Share(n / tile, first, last);
  for (int64_t i = first; i < last; i++) {
    LocalTensor<T> a = s.Load(s.in, s.x, i * tile, tile), d = s.out.template AllocTensor<T>();
    LocalTensor<float> v = Widen(a, f, tile), o = Target(d, r);
    Mul(t, v, v, tile);
    Mul(t, t, v, tile);
    Muls(t, t, 0.044715f, tile);
    Add(t, t, v, tile);
    Muls(t, t, -1.5957691f, tile);
    Exp(t, t, tile);
    Adds(t, t, 1.0f, tile);
    Div(o, v, t, tile);
    Narrow(d, o, tile);
    s.in.FreeTensor(a);
    s.Store(d, i * tile, tile);
  }
}

__aicore__ inline float Scalar(const LocalTensor<float> &t) {
  event_t id = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::V_S));
  SetFlag<HardEvent::V_S>(id);
  WaitFlag<HardEvent::V_S>(id);
  return t.GetValue(0);
}

template <typename T> __aicore__ inline void RowSoftmax(GM_ADDR x, GM_ADDR y, int64_t n) {
  Stream<T> s;
  TBuf<TPosition::VECCALC> wide, work, result, one;
  s.Init(x, x, y, COLS, false);
  s.pipe.InitBuffer(wide, COLS * sizeof(float));
  s.pipe.InitBuffer(work, COLS * sizeof(float));
  s.pipe.InitBuffer(result, COLS * sizeof(float));
  s.pipe.InitBuffer(one, 32);
  LocalTensor<float> f = wide.Get<float>(), t = work.Get<float>(), r = result.Get<float>(), top = one.Get<float>();
  int64_t first, last;
  Share(n / COLS, first, last);
  for (int64_t i = first; i < last; i++) {
    LocalTensor<T> a = s.Load(s.in, s.x, i * COLS, COLS), d = s.out.template AllocTensor<T>();
    LocalTensor<float> v = Widen(a, f, COLS), o = Target(d, r);
    ReduceMax(top, v, t, COLS, false);
    Adds(v, v, -Scalar(top), COLS);
    Exp(v, v, COLS);
    ReduceSum(top, v, t, COLS);
    Muls(o, v, 1.0f / Scalar(top), COLS);
    Narrow(d, o, COLS);
    s.in.FreeTensor(a);
    s.Store(d, i * COLS, COLS);
  }
}

/* (x - mean) / sqrt(variance + eps) * gamma + beta; w holds gamma and beta, a row each. */
template <typename T> __aicore__ inline void RowNorm(GM_ADDR x, GM_ADDR w, GM_ADDR y, int64_t n) {
  Stream<T> s;
  TBuf<TPosition::VECCALC> wide, work, result, affine, one;
  s.Init(x, w, y, COLS, true);
  s.pipe.InitBuffer(wide, COLS * sizeof(float));
  s.pipe.InitBuffer(work, COLS * sizeof(float));
  s.pipe.InitBuffer(affine, 2 * COLS * sizeof(float));
  s.pipe.InitBuffer(one, 32);
  LocalTensor<float> f = wide.Get<float>(), t = work.Get<float>(), both = affine.Get<float>(), sum = one.Get<float>();
  LocalTensor<float> gamma = both, beta = both[COLS];
  for (int32_t k = 0; k < 2; k++) {
    LocalTensor<T> p = s.Load(s.more, s.w, k * COLS, COLS);
    LocalTensor<float> to = k ? beta : gamma;
    Adds(to, Widen(p, t, COLS), 0.0f, COLS);
    s.more.FreeTensor(p);
  }
  int64_t first, last;
  Share(n / COLS, first, last);
  for (int64_t i = first; i < last; i++) {
    LocalTensor<T> a = s.Load(s.in, s.x, i * COLS, COLS), d = s.out.template AllocTensor<T>();
    LocalTensor<float> v = Widen(a, f, COLS), o = Target(d, t);
    ReduceSum(sum, v, t, COLS);
    Adds(v, v, -Scalar(sum) / COLS, COLS);
    Mul(t, v, v, COLS);
    ReduceSum(sum, t, t, COLS);
    float variance = Scalar(sum) / COLS;
    Muls(v, v, 1.0f / sqrt(variance + 1e-5f), COLS);
    Mul(v, v, gamma, COLS);
    Add(o, v, beta, COLS);
    Narrow(d, o, COLS);
    s.in.FreeTensor(a);
    s.Store(d, i * COLS, COLS);
  }
}

extern "C" __global__ __aicore__ void add_float32(GM_ADDR x, GM_ADDR w, GM_ADDR y, int64_t n) {
  VectorAdd<float>(x, w, y, n);
}
extern "C" __global__ __aicore__ void add_float16(GM_ADDR x, GM_ADDR w, GM_ADDR y, int64_t n) {
  VectorAdd<half>(x, w, y, n);
}
extern "C" __global__ __aicore__ void gelu_float32(GM_ADDR x, GM_ADDR, GM_ADDR y, int64_t n) {
  GeluTanh<float>(x, y, n);
}
extern "C" __global__ __aicore__ void gelu_float16(GM_ADDR x, GM_ADDR, GM_ADDR y, int64_t n) {
  GeluTanh<half>(x, y, n);
}
extern "C" __global__ __aicore__ void softmax_float32(GM_ADDR x, GM_ADDR, GM_ADDR y, int64_t n) {
  RowSoftmax<float>(x, y, n);
}
extern "C" __global__ __aicore__ void softmax_float16(GM_ADDR x, GM_ADDR, GM_ADDR y, int64_t n) {
  RowSoftmax<half>(x, y, n);
}
extern "C" __global__ __aicore__ void layernorm_float32(GM_ADDR x, GM_ADDR w, GM_ADDR y, int64_t n) {
  RowNorm<float>(x, w, y, n);
}
extern "C" __global__ __aicore__ void layernorm_float16(GM_ADDR x, GM_ADDR w, GM_ADDR y, int64_t n) {
  RowNorm<half>(x, w, y, n);
}

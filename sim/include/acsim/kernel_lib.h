/* Kernel side, part 8: the high-level library. Every function is one call to the core, which computes it in float32 (see
 * docs/simulator.md for the error bounds) and checks the temporary memory that the device's version needs. Signatures as CANN
 * 8.1's lib/ headers declare them. */
#ifndef ACSIM_KERNEL_LIB_H
#define ACSIM_KERNEL_LIB_H

#include "acsim/kernel_basic.h"

namespace acsim {
template <typename D, typename T>
void library(uint8_t op, const acsim_local *dst, const acsim_local *a, const acsim_local *b, const acsim_local *tmp,
             int64_t count, bool reuse, const char *file, int32_t line) {
  acsim_library c = {};
  c.op = op;
  c.type = type_of<T>::id;
  c.dst_type = type_of<D>::id;
  c.reuse = reuse;
  c.dst = dst;
  c.a = a;
  c.b = b;
  c.tmp = tmp;
  c.count = count;
  acsim_lib(&c, file, line);
}
template <typename T> acsim_library scalar_call(uint8_t op, double f, int64_t i, bool first, const acsim_local *tmp) {
  acsim_library c = {};
  c.op = op;
  c.type = c.dst_type = type_of<T>::id;
  c.f = f;
  c.i = i;
  c.scalar_first = first;
  c.tmp = tmp;
  return c;
}
template <typename T> double scalar_float(T v) {
  return static_cast<double>(static_cast<float>(v));
}
} // namespace acsim

namespace AscendC {
/* Pop the rest of UB as a tensor: what TPipe's buffers leave. */
template <typename T, TPosition pos> bool PopStackBuffer(LocalTensor<T> &t, ACSIM_AT) {
  return acsim_stack_buffer(&t.view_, file, line) != 0;
}

#define ACSIM_LIB_UNARY(Name)                                                                                        \
  template <typename T, bool isReuseSource = false, typename C, ACSIM_IF_NUMBER(C)>                                  \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, const C count,    \
            ACSIM_AT) {                                                                                              \
    acsim::library<T, T>(ACSIM_LIB_##Name, &dst.view_, &src.view_, nullptr, &tmp.view_, static_cast<int64_t>(count), \
                         isReuseSource, file, line);                                                                 \
  }                                                                                                                  \
  template <typename T, bool isReuseSource = false, typename C, ACSIM_IF_NUMBER(C)>                                  \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const C count, ACSIM_AT) {                         \
    acsim::library<T, T>(ACSIM_LIB_##Name, &dst.view_, &src.view_, nullptr, nullptr, static_cast<int64_t>(count),    \
                         isReuseSource, file, line);                                                                 \
  }                                                                                                                  \
  template <typename T, bool isReuseSource = false>                                                                  \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, ACSIM_AT) {       \
    acsim::library<T, T>(ACSIM_LIB_##Name, &dst.view_, &src.view_, nullptr, &tmp.view_, src.GetSize(),               \
                         isReuseSource, file, line);                                                                 \
  }                                                                                                                  \
  template <typename T, bool isReuseSource = false>                                                                  \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, ACSIM_AT) {                                        \
    acsim::library<T, T>(ACSIM_LIB_##Name, &dst.view_, &src.view_, nullptr, nullptr, src.GetSize(), isReuseSource,   \
                         file, line);                                                                                \
  }                                                                                                                  \
  /* the documented types exactly, for use as a template argument (see ACSIM_FORMS) */                               \
  template <typename T, bool isReuseSource = false, typename C, typename L>                                          \
  void Name(const L &dst, const LocalTensor<T> &src, C count) {                                                      \
    acsim::library<T, T>(ACSIM_LIB_##Name, &dst.view_, &src.view_, nullptr, nullptr, static_cast<int64_t>(count),    \
                         isReuseSource, nullptr, 0);                                                                 \
  }                                                                                                                  \
  template <typename T, bool isReuseSource = false, typename C, typename L>                                          \
  void Name(const L &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, C count) {                     \
    acsim::library<T, T>(ACSIM_LIB_##Name, &dst.view_, &src.view_, nullptr, &tmp.view_, static_cast<int64_t>(count), \
                         isReuseSource, nullptr, 0);                                                                 \
  }
#define X(name, half, single, reuse) ACSIM_LIB_UNARY(name)
ACSIM_LIBRARY_UNARY(X)
#undef X
#undef ACSIM_LIB_UNARY

/* The Taylor form of Exp. */
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
void Exp(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, const uint32_t count,
         ACSIM_AT) {
  acsim::library<T, T>(ACSIM_LIB_ExpTaylor, &dst.view_, &src.view_, nullptr, &tmp.view_, count, isReuseSource, file,
                       line);
}

template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
void Exp(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t count, ACSIM_AT) {
  acsim::library<T, T>(ACSIM_LIB_ExpTaylor, &dst.view_, &src.view_, nullptr, nullptr, count, isReuseSource, file,
                       line);
}

template <typename T, bool isReuseSource = false>
void Swish(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t count, const T scalar, ACSIM_AT) {
  acsim_library c = acsim::scalar_call<T>(ACSIM_LIB_Swish, acsim::scalar_float(scalar), 0, false, nullptr);
  c.dst = &dst.view_, c.a = &src.view_, c.count = count, c.reuse = isReuseSource;
  acsim_lib(&c, file, line);
}
#define ACSIM_CLAMP(Name)                                                                                           \
  template <typename T, bool isReuseSource = false>                                                                 \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, const T scalar,  \
            const uint32_t count, ACSIM_AT) {                                                                       \
    acsim_library c = acsim::scalar_call<T>(ACSIM_LIB_##Name, acsim::scalar_float(scalar), 0, false, &tmp.view_);   \
    c.dst = &dst.view_, c.a = &src.view_, c.count = count, c.reuse = isReuseSource;                                 \
    acsim_lib(&c, file, line);                                                                                      \
  }                                                                                                                 \
  template <typename T, bool isReuseSource = false>                                                                 \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T scalar, const uint32_t count, ACSIM_AT) { \
    acsim_library c = acsim::scalar_call<T>(ACSIM_LIB_##Name, acsim::scalar_float(scalar), 0, false, nullptr);      \
    c.dst = &dst.view_, c.a = &src.view_, c.count = count, c.reuse = isReuseSource;                                 \
    acsim_lib(&c, file, line);                                                                                      \
  }
ACSIM_CLAMP(ClampMax)
ACSIM_CLAMP(ClampMin)
#undef ACSIM_CLAMP

#define ACSIM_LIB_BINARY(Name)                                                                                     \
  template <typename T, bool isReuseSource = false>                                                                \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,                     \
            const LocalTensor<uint8_t> &tmp, uint32_t count, ACSIM_AT) {                                           \
    acsim::library<T, T>(ACSIM_LIB_##Name, &dst.view_, &src0.view_, &src1.view_, &tmp.view_, count, isReuseSource, \
                         file, line);                                                                              \
  }                                                                                                                \
  template <typename T, bool isReuseSource = false>                                                                \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, uint32_t count,     \
            ACSIM_AT) {                                                                                            \
    acsim::library<T, T>(ACSIM_LIB_##Name, &dst.view_, &src0.view_, &src1.view_, nullptr, count, isReuseSource,    \
                         file, line);                                                                              \
  }                                                                                                                \
  template <typename T, bool isReuseSource = false>                                                                \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,                     \
            const LocalTensor<uint8_t> &tmp, ACSIM_AT) {                                                           \
    acsim::library<T, T>(ACSIM_LIB_##Name, &dst.view_, &src0.view_, &src1.view_, &tmp.view_, src0.GetSize(),       \
                         isReuseSource, file, line);                                                               \
  }                                                                                                                \
  template <typename T, bool isReuseSource = false>                                                                \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, ACSIM_AT) {         \
    acsim::library<T, T>(ACSIM_LIB_##Name, &dst.view_, &src0.view_, &src1.view_, nullptr, src0.GetSize(),          \
                         isReuseSource, file, line);                                                               \
  }
ACSIM_LIB_BINARY(Power)
ACSIM_LIB_BINARY(Xor)
ACSIM_LIB_BINARY(Fmod)
#undef ACSIM_LIB_BINARY

/* Power with a scalar exponent or base. */
#define ACSIM_POWER(PARAMS, TENSOR, SCALAR, FIRST)                                                            \
  template <typename T, bool isReuseSource = false>                                                           \
  void Power(const LocalTensor<T> &dst, PARAMS, const LocalTensor<uint8_t> &tmp, uint32_t count, ACSIM_AT) {  \
    acsim_library c = acsim::scalar_call<T>(ACSIM_LIB_Power, acsim::scalar_float(SCALAR),                     \
                                            static_cast<int64_t>(SCALAR), FIRST, &tmp.view_);                 \
    c.dst = &dst.view_, c.a = &TENSOR.view_, c.count = count, c.reuse = isReuseSource;                        \
    acsim_lib(&c, file, line);                                                                                \
  }                                                                                                           \
  template <typename T, bool isReuseSource = false>                                                           \
  void Power(const LocalTensor<T> &dst, PARAMS, uint32_t count, ACSIM_AT) {                                   \
    acsim_library c = acsim::scalar_call<T>(ACSIM_LIB_Power, acsim::scalar_float(SCALAR),                     \
                                            static_cast<int64_t>(SCALAR), FIRST, nullptr);                    \
    c.dst = &dst.view_, c.a = &TENSOR.view_, c.count = count, c.reuse = isReuseSource;                        \
    acsim_lib(&c, file, line);                                                                                \
  }                                                                                                           \
  template <typename T, bool isReuseSource = false>                                                           \
  void Power(const LocalTensor<T> &dst, PARAMS, const LocalTensor<uint8_t> &tmp, ACSIM_AT) {                  \
    Power<T, isReuseSource>(dst, ACSIM_POWER_ARGS, tmp, TENSOR.GetSize(), file, line);                        \
  }                                                                                                           \
  template <typename T, bool isReuseSource = false> void Power(const LocalTensor<T> &dst, PARAMS, ACSIM_AT) { \
    Power<T, isReuseSource>(dst, ACSIM_POWER_ARGS, TENSOR.GetSize(), file, line);                             \
  }
#define ACSIM_POWER_ARGS src, scalar
#define ACSIM_COMMA ,
ACSIM_POWER(const LocalTensor<T> &src ACSIM_COMMA const T &scalar, src, scalar, false)
#undef ACSIM_POWER_ARGS
#define ACSIM_POWER_ARGS scalar, src
ACSIM_POWER(const T &scalar ACSIM_COMMA const LocalTensor<T> &src, src, scalar, true)
#undef ACSIM_POWER_ARGS
#undef ACSIM_POWER
#undef ACSIM_COMMA

template <typename T, typename U, bool isReuseSource = false>
void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U scalar, const LocalTensor<uint8_t> &tmp,
          const uint32_t count, ACSIM_AT) {
  acsim_library c = acsim::scalar_call<U>(ACSIM_LIB_LibAxpy, acsim::scalar_float(scalar), 0, false, &tmp.view_);
  c.dst_type = acsim::type_of<T>::id;
  c.dst = &dst.view_, c.a = &src.view_, c.count = count, c.reuse = isReuseSource;
  acsim_lib(&c, file, line);
}

template <typename T>
void ArithProgression(const LocalTensor<T> &dst, const T firstValue, const T diffValue, const int32_t count,
                      ACSIM_AT) {
  double f = acsim::scalar_float(firstValue), d = acsim::scalar_float(diffValue);
  acsim_lib_progression(acsim::type_of<T>::id, &dst.view_, f, static_cast<int64_t>(firstValue), d,
                        static_cast<int64_t>(diffValue), count, file, line);
}
template <typename T>
void Arange(const LocalTensor<T> &dst, const T firstValue, const T diffValue, const int32_t count, ACSIM_AT) {
  ArithProgression<T>(dst, firstValue, diffValue, count, file, line);
}

/* ---- reductions ---- */

template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
void Sum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, const SumParams &p,
         ACSIM_AT) {
  acsim_lib_sum(0, acsim::type_of<T>::id, acsim::type_of<T>::id, &dst.view_, &src.view_, &tmp.view_, p.outter,
                p.inner, p.n, file, line);
}
template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
void Sum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const SumParams &p, ACSIM_AT) {
  acsim_lib_sum(0, acsim::type_of<T>::id, acsim::type_of<T>::id, &dst.view_, &src.view_, nullptr, p.outter, p.inner,
                p.n, file, line);
}
template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false,
          int32_t reduceDim = -1>
void Mean(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, const MeanParams &p,
          ACSIM_AT) {
  acsim_lib_sum(1, acsim::type_of<T>::id, acsim::type_of<accType>::id, &dst.view_, &src.view_, &tmp.view_, p.outter,
                p.inner, p.n, file, line);
}
template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false,
          int32_t reduceDim = -1>
void Mean(const LocalTensor<T> &dst, const LocalTensor<T> &src, const MeanParams &p, ACSIM_AT) {
  acsim_lib_sum(1, acsim::type_of<T>::id, acsim::type_of<accType>::id, &dst.view_, &src.view_, nullptr, p.outter,
                p.inner, p.n, file, line);
}

/* ---- broadcasting and selecting ---- */

#define ACSIM_BROADCAST(Name)                                                                                        \
  template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>                                       \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t dstShape[dim],                      \
            const uint32_t srcShape[dim], const LocalTensor<uint8_t> &tmp, ACSIM_AT) {                               \
    acsim_lib_broadcast(acsim::type_of<T>::id, dim, axis, &dst.view_, &src.view_, &tmp.view_, dstShape, srcShape,    \
                        file, line);                                                                                 \
  }                                                                                                                  \
  template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>                                       \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t dstShape[dim],                      \
            const uint32_t srcShape[dim], ACSIM_AT) {                                                                \
    acsim_lib_broadcast(acsim::type_of<T>::id, dim, axis, &dst.view_, &src.view_, nullptr, dstShape, srcShape, file, \
                        line);                                                                                       \
  }
ACSIM_BROADCAST(BroadCast)
ACSIM_BROADCAST(Broadcast)
#undef ACSIM_BROADCAST

template <typename T, typename U, bool isReuseMask = true>
void SelectWithBytesMask(const LocalTensor<T> &dst, const LocalTensor<T> &src0, T src1, const LocalTensor<U> &mask,
                         const LocalTensor<uint8_t> &tmp, const SelectWithBytesMaskShapeInfo &s, ACSIM_AT) {
  acsim_lib_select(acsim::type_of<T>::id, acsim::type_of<U>::id, 0, &dst.view_, &src0.view_,
                   acsim::scalar_float(src1), &mask.view_, &tmp.view_, s.firstAxis, s.srcLastAxis, s.maskLastAxis,
                   file, line);
}
template <typename T, typename U, bool isReuseMask = true>
void SelectWithBytesMask(const LocalTensor<T> &dst, T src0, const LocalTensor<T> &src1, const LocalTensor<U> &mask,
                         const LocalTensor<uint8_t> &tmp, const SelectWithBytesMaskShapeInfo &s, ACSIM_AT) {
  acsim_lib_select(acsim::type_of<T>::id, acsim::type_of<U>::id, 1, &dst.view_, &src1.view_,
                   acsim::scalar_float(src0), &mask.view_, &tmp.view_, s.firstAxis, s.srcLastAxis, s.maskLastAxis,
                   file, line);
}

/* ---- softmax ---- */

namespace acsim_detail {
/* Rows and columns: the shape given, else those of the tiling data. */
inline acsim_softmax softmax_shape(uint8_t kind, const ::SoftMaxTiling &t, const SoftMaxShapeInfo &s) {
  acsim_softmax c = {};
  c.kind = kind;
  c.m = s.srcM ? s.srcM : t.srcM;
  c.k = s.srcK ? s.srcK : t.srcK;
  c.valid_m = s.oriSrcM ? s.oriSrcM : c.m;
  c.valid_k = s.oriSrcK ? s.oriSrcK : c.k;
  return c;
}
template <typename T, typename S>
void softmax(acsim_softmax c, const LocalTensor<T> &dst, const LocalTensor<S> *sum, const LocalTensor<S> *max,
             const LocalTensor<T> &src, const LocalTensor<uint8_t> *tmp, const char *file, int32_t line) {
  c.type = acsim::type_of<T>::id;
  c.sum_type = acsim::type_of<S>::id;
  c.dst = &dst.view_;
  c.src = &src.view_;
  c.sum = sum ? &sum->view_ : nullptr;
  c.max = max ? &max->view_ : nullptr;
  c.tmp = tmp ? &tmp->view_ : nullptr;
  acsim_lib_softmax(&c, file, line);
}
} // namespace acsim_detail
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG, typename S>
void SoftMax(const LocalTensor<T> &dst, const LocalTensor<S> &sum, const LocalTensor<S> &max,
             const LocalTensor<T> &src, const ::SoftMaxTiling &tiling, const SoftMaxShapeInfo &shape = {}, ACSIM_AT) {
  static_assert(!isDataFormatNZ, "the simulator has SoftMax in ND only");
  acsim_detail::softmax(acsim_detail::softmax_shape(ACSIM_SOFTMAX, tiling, shape), dst, &sum, &max, src,
                        static_cast<const LocalTensor<uint8_t> *>(nullptr), file, line);
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG, typename S>
void SoftMax(const LocalTensor<T> &dst, const LocalTensor<S> &sum, const LocalTensor<S> &max,
             const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, const ::SoftMaxTiling &tiling,
             const SoftMaxShapeInfo &shape = {}, ACSIM_AT) {
  static_assert(!isDataFormatNZ, "the simulator has SoftMax in ND only");
  acsim_detail::softmax(acsim_detail::softmax_shape(ACSIM_SOFTMAX, tiling, shape), dst, &sum, &max, src, &tmp, file,
                        line);
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false,
          const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG>
void SoftMax(const LocalTensor<T> &dst, const LocalTensor<T> &src, const ::SoftMaxTiling &tiling,
             const SoftMaxShapeInfo &shape = {}, ACSIM_AT) {
  const LocalTensor<T> *none = nullptr;
  acsim_detail::softmax(acsim_detail::softmax_shape(ACSIM_SOFTMAX, tiling, shape), dst, none, none, src,
                        static_cast<const LocalTensor<uint8_t> *>(nullptr), file, line);
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false,
          const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG>
void SoftMax(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp,
             const ::SoftMaxTiling &tiling, const SoftMaxShapeInfo &shape = {}, ACSIM_AT) {
  const LocalTensor<T> *none = nullptr;
  acsim_detail::softmax(acsim_detail::softmax_shape(ACSIM_SOFTMAX, tiling, shape), dst, none, none, src, &tmp, file,
                        line);
}
/* SimpleSoftMax: sum and max are inputs. */
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG, typename S>
void SimpleSoftMax(const LocalTensor<T> &dst, const LocalTensor<S> &sum, const LocalTensor<S> &max,
                   const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, const ::SoftMaxTiling &tiling,
                   const SoftMaxShapeInfo &shape = {}, ACSIM_AT) {
  acsim_detail::softmax(acsim_detail::softmax_shape(ACSIM_SOFTMAX_SIMPLE, tiling, shape), dst, &sum, &max, src, &tmp,
                        file, line);
}
/* SoftmaxGrad: dst = (grad - sum(grad * src)) * src; the front part alone stores the sums. */
template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
void SoftmaxGrad(const LocalTensor<T> &dst, const LocalTensor<T> &grad, const LocalTensor<T> &src,
                 const LocalTensor<uint8_t> &tmp, const ::SoftMaxTiling &tiling, bool isFront = false,
                 const SoftMaxShapeInfo &shape = {}, ACSIM_AT) {
  acsim_softmax c =
      acsim_detail::softmax_shape(isFront ? ACSIM_SOFTMAX_GRAD_FRONT : ACSIM_SOFTMAX_GRAD, tiling, shape);
  acsim_detail::softmax(c, dst, &grad, &grad, src, &tmp, file, line);
}
template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
void SoftmaxGrad(const LocalTensor<T> &dst, const LocalTensor<T> &grad, const LocalTensor<T> &src,
                 const ::SoftMaxTiling &tiling, bool isFront = false, const SoftMaxShapeInfo &shape = {}, ACSIM_AT) {
  acsim_softmax c =
      acsim_detail::softmax_shape(isFront ? ACSIM_SOFTMAX_GRAD_FRONT : ACSIM_SOFTMAX_GRAD, tiling, shape);
  acsim_detail::softmax(c, dst, &grad, &grad, src, static_cast<const LocalTensor<uint8_t> *>(nullptr), file, line);
}
template <typename T, bool isBasicBlock = false, bool isDataFormatNZ = false>
void SoftmaxGradFront(const LocalTensor<T> &dst, const LocalTensor<T> &grad, const LocalTensor<T> &src,
                      const LocalTensor<uint8_t> &tmp, const ::SoftMaxTiling &tiling,
                      const SoftMaxShapeInfo &shape = {}, ACSIM_AT) {
  acsim_detail::softmax(acsim_detail::softmax_shape(ACSIM_SOFTMAX_GRAD_FRONT, tiling, shape), dst, &grad, &grad, src,
                        &tmp, file, line);
}
} // namespace AscendC
#endif

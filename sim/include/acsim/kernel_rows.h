/* Kernel side, part 11: Sort and TopK, quantisation, running sums, padding, dropout, reductions by pattern, changes of layout, gated linear
 * units. Signatures as asc-devkit's include/adv_api declares them; the values are core_topk.c's, core_quant.c's and core_tensor.c's. */
#ifndef ACSIM_KERNEL_ROWS_H
#define ACSIM_KERNEL_ROWS_H

#include "acsim/kernel_flash.h"

namespace AscendC {
/* ---- sorting ---- */

template <typename T, bool isFullSort>
void Sort(const LocalTensor<T> &dst, const LocalTensor<T> &concat, const LocalTensor<uint32_t> &index,
          const LocalTensor<T> &tmp, const int32_t repeatTime, ACSIM_AT) {
  acsim_rows c = acsim::rows_of(ACSIM_ROWS_Sort, dst, concat, index, tmp);
  c.n[0] = repeatTime;
  c.flags = isFullSort ? ACSIM_SORT_FULL : 0;
  acsim_lib_rows(&c, file, line);
}
struct TopKInfo {
  int32_t outter = 1, inner, n;
};
#define ACSIM_TOPK(TMP, SET_TMP)                                                                                   \
  template <typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,               \
            enum TopKMode topkMode = TopKMode::TOPK_NORMAL>                                                        \
  void TopK(const LocalTensor<T> &dstValueLocal, const LocalTensor<int32_t> &dstIndexLocal,                        \
            const LocalTensor<T> &srcLocal, const LocalTensor<int32_t> &srcIndexLocal,                             \
            const LocalTensor<bool> &finishLocal TMP, const int32_t k, const ::TopkTiling &, const TopKInfo &info, \
            const bool isLargest = true, ACSIM_AT) {                                                               \
    acsim_rows c =                                                                                                 \
        acsim::rows_of(ACSIM_ROWS_TopK, dstValueLocal, dstIndexLocal, srcLocal, srcIndexLocal, finishLocal);       \
    c.n[0] = info.outter, c.n[1] = info.inner, c.n[2] = info.n, c.n[3] = k;                                        \
    c.flags = (isInitIndex ? ACSIM_TOPK_INDEX : 0) | (isHasfinish ? ACSIM_TOPK_FINISH : 0) |                       \
              (topkMode == TopKMode::TOPK_NSMALL ? ACSIM_TOPK_SMALL : 0) | (isLargest ? ACSIM_TOPK_LARGEST : 0);   \
    SET_TMP;                                                                                                       \
    acsim_lib_rows(&c, file, line);                                                                                \
  }
ACSIM_TOPK(, (void)0)
ACSIM_TOPK(ACSIM_COMMA const LocalTensor<uint8_t> &tmpLocal, c.tmp = &tmpLocal.view_)
#undef ACSIM_TOPK

/* ---- quantisation: the forms that Atlas A2 has ---- */

struct AscendQuantConfig {
  constexpr AscendQuantConfig(const uint32_t calc, const uint32_t offset, const uint32_t scale, const uint32_t work)
      : calcCount(calc), offsetCount(offset), scaleCount(scale), workLocalSize(work) {}
  uint32_t calcCount = 0, offsetCount = 0, scaleCount = 0, workLocalSize = 0;
};
constexpr AscendQuantConfig ASCEND_QUANT_DEFAULT_CFG = {0, 0, 0, 0};
#define ACSIM_QUANT_TEMPLATE \
  template <typename T, bool isReuseSource = false, const AscendQuantConfig &config = ASCEND_QUANT_DEFAULT_CFG>
#define ACSIM_QUANT(TMP, SET_TMP)                                                                                   \
  ACSIM_QUANT_TEMPLATE void AscendQuant(const LocalTensor<int8_t> &dst, const LocalTensor<T> &src TMP,              \
                                        const float scale, const float offset, const uint32_t calCount, ACSIM_AT) { \
    acsim_rows c = acsim::rows_of(ACSIM_ROWS_AscendQuant, dst, src);                                                \
    c.n[0] = calCount, c.f[0] = static_cast<double>(scale), c.f[1] = static_cast<double>(offset);                   \
    SET_TMP;                                                                                                        \
    acsim_lib_rows(&c, file, line);                                                                                 \
  }                                                                                                                 \
  ACSIM_QUANT_TEMPLATE void AscendQuant(const LocalTensor<int8_t> &dst, const LocalTensor<T> &src TMP,              \
                                        const float scale, const float offset, ACSIM_AT) {                          \
    acsim_rows c = acsim::rows_of(ACSIM_ROWS_AscendQuant, dst, src);                                                \
    c.n[0] = src.GetSize(), c.f[0] = static_cast<double>(scale), c.f[1] = static_cast<double>(offset);              \
    SET_TMP;                                                                                                        \
    acsim_lib_rows(&c, file, line);                                                                                 \
  }                                                                                                                 \
  ACSIM_QUANT_TEMPLATE void AscendQuant(const LocalTensor<int8_t> &dst, const LocalTensor<T> &src TMP,              \
                                        const LocalTensor<T> &scale, const T offset, const uint32_t scaleCount,     \
                                        const uint32_t calCount, ACSIM_AT) {                                        \
    acsim_rows c = acsim::rows_of(ACSIM_ROWS_AscendQuant, dst, src, scale);                                         \
    c.n[0] = calCount, c.n[1] = scaleCount, c.f[1] = acsim::scalar_float(offset);                                   \
    SET_TMP;                                                                                                        \
    acsim_lib_rows(&c, file, line);                                                                                 \
  }                                                                                                                 \
  ACSIM_QUANT_TEMPLATE void AscendQuant(const LocalTensor<int8_t> &dst, const LocalTensor<T> &src TMP,              \
                                        const LocalTensor<T> &scale, const T offset, ACSIM_AT) {                    \
    acsim_rows c = acsim::rows_of(ACSIM_ROWS_AscendQuant, dst, src, scale);                                         \
    c.n[0] = src.GetSize(), c.n[1] = scale.GetSize(), c.f[1] = acsim::scalar_float(offset);                         \
    SET_TMP;                                                                                                        \
    acsim_lib_rows(&c, file, line);                                                                                 \
  }                                                                                                                 \
  ACSIM_QUANT_TEMPLATE void AscendQuant(                                                                            \
      const LocalTensor<int8_t> &dst, const LocalTensor<T> &src TMP, const LocalTensor<T> &scale,                   \
      const LocalTensor<T> &offset, const uint32_t scaleCount, const uint32_t, const uint32_t calCount, ACSIM_AT) { \
    acsim_rows c = acsim::rows_of(ACSIM_ROWS_AscendQuant, dst, src, scale, offset);                                 \
    c.n[0] = calCount, c.n[1] = scaleCount;                                                                         \
    SET_TMP;                                                                                                        \
    acsim_lib_rows(&c, file, line);                                                                                 \
  }                                                                                                                 \
  ACSIM_QUANT_TEMPLATE void AscendQuant(const LocalTensor<int8_t> &dst, const LocalTensor<T> &src TMP,              \
                                        const LocalTensor<T> &scale, const LocalTensor<T> &offset, ACSIM_AT) {      \
    acsim_rows c = acsim::rows_of(ACSIM_ROWS_AscendQuant, dst, src, scale, offset);                                 \
    c.n[0] = src.GetSize(), c.n[1] = scale.GetSize();                                                               \
    SET_TMP;                                                                                                        \
    acsim_lib_rows(&c, file, line);                                                                                 \
  }
ACSIM_QUANT(, (void)0)
ACSIM_QUANT(ACSIM_COMMA const LocalTensor<uint8_t> &sharedTmpBuffer, c.tmp = &sharedTmpBuffer.view_)
#undef ACSIM_QUANT
#undef ACSIM_QUANT_TEMPLATE

enum class DeQuantMode { DEQUANT_WITH_SINGLE_ROW, DEQUANT_WITH_MULTI_ROW };
struct DequantParams {
  uint32_t m, n, calCount;
};
namespace acsim_detail {
/* One row whose count divides it is taken as several rows, in the mode of that name. (docs/zh, AscendDequant) */
template <typename D> void dequant_shape(acsim_rows &c, DequantParams p, DeQuantMode mode) {
  bool split = mode == DeQuantMode::DEQUANT_WITH_SINGLE_ROW && p.m == 1 && p.calCount &&
               p.calCount * sizeof(D) % 32 == 0 && p.n % p.calCount == 0;
  c.n[0] = split ? p.n / p.calCount : p.m;
  c.n[1] = split ? p.calCount : p.n;
  c.n[2] = p.calCount;
}
} // namespace acsim_detail
#define ACSIM_DEQUANT_TEMPLATE \
  template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
#define ACSIM_DEQUANT(TMP, SET_TMP)                                                                           \
  ACSIM_DEQUANT_TEMPLATE void AscendDequant(const LocalTensor<dstT> &dst, const LocalTensor<int32_t> &src,    \
                                            const LocalTensor<scaleT> &deqScale TMP, DequantParams params,    \
                                            ACSIM_AT) {                                                       \
    acsim_rows c = acsim::rows_of(ACSIM_ROWS_AscendDequant, dst, src, deqScale);                              \
    acsim_detail::dequant_shape<dstT>(c, params, mode);                                                       \
    SET_TMP;                                                                                                  \
    acsim_lib_rows(&c, file, line);                                                                           \
  }                                                                                                           \
  ACSIM_DEQUANT_TEMPLATE void AscendDequant(const LocalTensor<dstT> &dst, const LocalTensor<int32_t> &src,    \
                                            const scaleT deqScale TMP, DequantParams params, ACSIM_AT) {      \
    acsim_rows c = acsim::rows_of(ACSIM_ROWS_AscendDequant, dst, src);                                        \
    acsim_detail::dequant_shape<dstT>(c, params, mode);                                                       \
    c.f[0] = acsim::scalar_float(deqScale);                                                                   \
    SET_TMP;                                                                                                  \
    acsim_lib_rows(&c, file, line);                                                                           \
  }                                                                                                           \
  ACSIM_DEQUANT_TEMPLATE void AscendDequant(const LocalTensor<dstT> &dst, const LocalTensor<int32_t> &src,    \
                                            const LocalTensor<scaleT> &deqScale TMP, const uint32_t calCount, \
                                            ACSIM_AT) {                                                       \
    acsim_rows c = acsim::rows_of(ACSIM_ROWS_AscendDequant, dst, src, deqScale);                              \
    acsim_detail::dequant_shape<dstT>(c, DequantParams{1, src.GetSize(), calCount}, mode);                    \
    SET_TMP;                                                                                                  \
    acsim_lib_rows(&c, file, line);                                                                           \
  }                                                                                                           \
  ACSIM_DEQUANT_TEMPLATE void AscendDequant(const LocalTensor<dstT> &dst, const LocalTensor<int32_t> &src,    \
                                            const LocalTensor<scaleT> &deqScale TMP, ACSIM_AT) {              \
    acsim_rows c = acsim::rows_of(ACSIM_ROWS_AscendDequant, dst, src, deqScale);                              \
    acsim_detail::dequant_shape<dstT>(c, DequantParams{1, src.GetSize(), deqScale.GetSize()}, mode);          \
    SET_TMP;                                                                                                  \
    acsim_lib_rows(&c, file, line);                                                                           \
  }
ACSIM_DEQUANT(, (void)0)
ACSIM_DEQUANT(ACSIM_COMMA const LocalTensor<uint8_t> &sharedTmpBuffer, c.tmp = &sharedTmpBuffer.view_)
#undef ACSIM_DEQUANT
#undef ACSIM_DEQUANT_TEMPLATE

struct AntiQuantShapeInfo {
  uint32_t offsetHeight = 0, offsetWidth = 0, scaleHeight = 0, scaleWidth = 0;
};
namespace acsim_detail {
/* k: the rows of src; transposed, its columns. */
inline void antiquant_shape(acsim_rows &c, uint32_t elements, uint32_t k, bool turned) {
  c.n[0] = turned ? (k ? elements / k : 0) : k;
  c.n[1] = turned ? k : (k ? elements / k : 0);
  c.flags = turned ? ACSIM_QUANT_TRANSPOSE : 0;
}
inline uint32_t antiquant_scales(const AntiQuantShapeInfo &s, uint32_t given) {
  return s.scaleHeight && s.scaleWidth ? s.scaleHeight * s.scaleWidth : given;
}
} // namespace acsim_detail
#define ACSIM_ANTI_TEMPLATE template <typename InputDataType, typename OutputDataType, bool isTranspose>
#define ACSIM_ANTIQUANT(TMP, SET_TMP)                                                                             \
  ACSIM_ANTI_TEMPLATE void AscendAntiQuant(                                                                       \
      const LocalTensor<OutputDataType> &dst, const LocalTensor<InputDataType> &src,                              \
      const LocalTensor<OutputDataType> &offset, const LocalTensor<OutputDataType> &scale TMP, const uint32_t k,  \
      const AntiQuantShapeInfo &shapeInfo = {}, ACSIM_AT) {                                                       \
    acsim_rows c = acsim::rows_of(ACSIM_ROWS_AscendAntiQuant, dst, src, offset, scale);                           \
    acsim_detail::antiquant_shape(c, src.GetSize(), k, isTranspose);                                              \
    c.n[2] = acsim_detail::antiquant_scales(shapeInfo, scale.GetSize());                                          \
    SET_TMP;                                                                                                      \
    acsim_lib_rows(&c, file, line);                                                                               \
  }                                                                                                               \
  ACSIM_ANTI_TEMPLATE void AscendAntiQuant(                                                                       \
      const LocalTensor<OutputDataType> &dst, const LocalTensor<InputDataType> &src, const OutputDataType offset, \
      const OutputDataType scale TMP, const uint32_t k, const AntiQuantShapeInfo & = {}, ACSIM_AT) {              \
    acsim_rows c = acsim::rows_of(ACSIM_ROWS_AscendAntiQuant, dst, src);                                          \
    acsim_detail::antiquant_shape(c, src.GetSize(), k, isTranspose);                                              \
    c.f[0] = acsim::scalar_float(offset), c.f[1] = acsim::scalar_float(scale);                                    \
    SET_TMP;                                                                                                      \
    acsim_lib_rows(&c, file, line);                                                                               \
  }
ACSIM_ANTIQUANT(, (void)0)
ACSIM_ANTIQUANT(ACSIM_COMMA const LocalTensor<uint8_t> &sharedTmpBuffer, c.tmp = &sharedTmpBuffer.view_)
#undef ACSIM_ANTIQUANT
ACSIM_ANTI_TEMPLATE void AscendAntiQuant(const LocalTensor<OutputDataType> &dst,
                                         const LocalTensor<InputDataType> &src,
                                         const LocalTensor<OutputDataType> &scale,
                                         const LocalTensor<uint8_t> &sharedTmpBuffer, const uint32_t k,
                                         const AntiQuantShapeInfo &shapeInfo = {}, ACSIM_AT) {
  acsim_rows c = acsim::rows_of(ACSIM_ROWS_AscendAntiQuant, dst, src);
  acsim::operand(c, 3, scale);
  acsim_detail::antiquant_shape(c, src.GetSize(), k, isTranspose);
  c.n[2] = acsim_detail::antiquant_scales(shapeInfo, scale.GetSize());
  c.tmp = &sharedTmpBuffer.view_;
  acsim_lib_rows(&c, file, line);
}
ACSIM_ANTI_TEMPLATE void AscendAntiQuant(const LocalTensor<OutputDataType> &dst,
                                         const LocalTensor<InputDataType> &src, const OutputDataType scale,
                                         const LocalTensor<uint8_t> &sharedTmpBuffer, const uint32_t k,
                                         const AntiQuantShapeInfo & = {}, ACSIM_AT) {
  acsim_rows c = acsim::rows_of(ACSIM_ROWS_AscendAntiQuant, dst, src);
  acsim_detail::antiquant_shape(c, src.GetSize(), k, isTranspose);
  c.f[1] = acsim::scalar_float(scale);
  c.tmp = &sharedTmpBuffer.view_;
  acsim_lib_rows(&c, file, line);
}
#undef ACSIM_ANTI_TEMPLATE

/* ---- running sums, padding, dropout ---- */

enum class CumSumAlgorithm { CUMSUM_ALGORITHM_LINEBYLINE = 0, CUMSUM_ALGORITHM_SKLANSKY = 1 };
struct CumSumConfig {
  bool isLastAxis{true}, isReuseSource{false}, outputLastRow{false};
  CumSumAlgorithm algorithm{CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE};
};
constexpr CumSumConfig defaultCumSumConfig = {true, false, true};
struct CumSumInfo {
  uint32_t outter{0}, inner{0};
};
ACSIM_WITH_TMP(
    CumSum, template <typename T ACSIM_COMMA const CumSumConfig &config = defaultCumSumConfig>,
    const LocalTensor<T> &dst ACSIM_COMMA const LocalTensor<T> &lastRow ACSIM_COMMA const LocalTensor<T> &src,
    const CumSumInfo &info,
    static_assert(config.algorithm == CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE,
                  "CumSum goes line by line on Atlas A2");
    acsim_rows c = acsim::rows_of(ACSIM_ROWS_CumSum, dst, lastRow, src); c.n[0] = info.outter; c.n[1] = info.inner;
    c.flags = (config.isLastAxis ? ACSIM_CUMSUM_LAST_AXIS : 0) | (config.outputLastRow ? ACSIM_CUMSUM_LAST_ROW : 0);)

struct PadParams {
  uint16_t leftPad = 0, rightPad = 0;
  int32_t padValue = 0;
};
struct UnPadParams {
  uint16_t leftPad = 0, rightPad = 0;
};
#define ACSIM_PAD(TMP, SET_TMP)                                                                                     \
  template <typename T>                                                                                             \
  void Pad(const LocalTensor<T> &dst, const LocalTensor<T> &src, const PadParams &p TMP, const ::PadTiling &tiling, \
           ACSIM_AT) {                                                                                              \
    acsim_rows c = acsim::rows_of(ACSIM_ROWS_Pad, dst, src);                                                        \
    c.n[0] = tiling.srcHeight, c.n[1] = tiling.srcWidth, c.n[2] = tiling.srcOriWidth;                               \
    c.n[3] = p.leftPad, c.n[4] = p.rightPad, c.f[0] = p.padValue;                                                   \
    SET_TMP;                                                                                                        \
    acsim_lib_rows(&c, file, line);                                                                                 \
  }                                                                                                                 \
  template <typename T>                                                                                             \
  void UnPad(const LocalTensor<T> &dst, const LocalTensor<T> &src, const UnPadParams &p TMP,                        \
             const ::UnPadTiling &tiling, ACSIM_AT) {                                                               \
    acsim_rows c = acsim::rows_of(ACSIM_ROWS_UnPad, dst, src);                                                      \
    c.n[0] = tiling.srcHeight, c.n[1] = tiling.srcWidth, c.n[2] = p.rightPad;                                       \
    SET_TMP;                                                                                                        \
    acsim_lib_rows(&c, file, line);                                                                                 \
  }
ACSIM_PAD(, (void)0)
ACSIM_PAD(ACSIM_COMMA const LocalTensor<uint8_t> &sharedTmpBuffer, c.tmp = &sharedTmpBuffer.view_)
#undef ACSIM_PAD

struct DropOutShapeInfo {
  DropOutShapeInfo() {}
  uint32_t firstAxis = 0, srcLastAxis = 0, maskLastAxis = 0;
};
constexpr uint32_t DROPOUT_MODE_BYTE_MISALIGN = 1, DROPOUT_MODE_BYTE_ALIGN = 2, DROPOUT_MODE_BIT_ALIGN = 3,
                   DROPOUT_MODE_BIT_MISALIGN = 4;
#define ACSIM_DROPOUT(TMP, SET_TMP)                                                                        \
  template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>                              \
  void DropOut(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &mask TMP, \
               const float keepProb, const DropOutShapeInfo &info, ACSIM_AT) {                             \
    acsim_rows c = acsim::rows_of(ACSIM_ROWS_DropOut, dst, src, mask);                                     \
    c.n[0] = info.firstAxis, c.n[1] = info.srcLastAxis, c.n[2] = info.maskLastAxis;                        \
    /* by the shapes: one byte an element, one bit an element, either with padding */                      \
    c.n[3] = dropOutMode                                  ? dropOutMode                                    \
             : info.srcLastAxis == info.maskLastAxis      ? DROPOUT_MODE_BYTE_ALIGN                        \
             : info.srcLastAxis < info.maskLastAxis       ? DROPOUT_MODE_BYTE_MISALIGN                     \
             : info.srcLastAxis == info.maskLastAxis * 8u ? DROPOUT_MODE_BIT_ALIGN                         \
                                                          : DROPOUT_MODE_BIT_MISALIGN;                     \
    c.f[0] = static_cast<double>(keepProb);                                                                \
    SET_TMP;                                                                                               \
    acsim_lib_rows(&c, file, line);                                                                        \
  }
ACSIM_DROPOUT(, (void)0)
ACSIM_DROPOUT(ACSIM_COMMA const LocalTensor<uint8_t> &sharedTmpBuffer, c.tmp = &sharedTmpBuffer.view_)
#undef ACSIM_DROPOUT

/* ---- reductions by pattern ---- */

namespace Pattern {
namespace Reduce {
struct R {};
struct AR {};
struct RA {};
} // namespace Reduce
} // namespace Pattern
#define ACSIM_PATTERN_FORM(Name, what, TMP, SET_TMP)                                                               \
  template <class T, class pattern, bool isReuseSource = false>                                                    \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src TMP, const uint32_t srcShape[], bool srcInnerPad, \
            ACSIM_AT) {                                                                                            \
    constexpr bool ar = IsSameType<pattern, Pattern::Reduce::AR>::value;                                           \
    static_assert(ar || IsSameType<pattern, Pattern::Reduce::RA>::value, #Name " has the patterns AR and RA");     \
    acsim_rows c = acsim::rows_of(ACSIM_ROWS_ReduceLib, dst, src);                                                 \
    c.n[0] = srcInnerPad ? srcShape[0] : 0; /* 0 is reported: only padded rows exist on Atlas A2 */                \
    c.n[1] = srcShape[1], c.n[2] = what, c.n[3] = ar;                                                              \
    c.reuse = isReuseSource;                                                                                       \
    c.name = #Name;                                                                                                \
    SET_TMP;                                                                                                       \
    acsim_lib_rows(&c, file, line);                                                                                \
  }
#define ACSIM_PATTERN(Name, what)           \
  ACSIM_PATTERN_FORM(Name, what, , (void)0) \
  ACSIM_PATTERN_FORM(Name, what, ACSIM_COMMA const LocalTensor<uint8_t> &tmp, c.tmp = &tmp.view_)
ACSIM_PATTERN(ReduceSum, ACSIM_RED_SUM)
ACSIM_PATTERN(ReduceMean, ACSIM_RED_MEAN)
ACSIM_PATTERN(ReduceMax, ACSIM_RED_MAX)
ACSIM_PATTERN(ReduceMin, ACSIM_RED_MIN)
ACSIM_PATTERN(ReduceProd, ACSIM_RED_PROD)
ACSIM_PATTERN(ReduceAny, ACSIM_RED_ANY)
ACSIM_PATTERN(ReduceAll, ACSIM_RED_ALL)
#undef ACSIM_PATTERN
#undef ACSIM_PATTERN_FORM

ACSIM_WITH_TMP(ReduceXorSum, template <typename T ACSIM_COMMA bool isReuseSource = false>,
               const LocalTensor<T> &dst ACSIM_COMMA const LocalTensor<T> &src0
                   ACSIM_COMMA const LocalTensor<T> &src1,
               const uint32_t calCount, acsim_rows c = acsim::rows_of(ACSIM_ROWS_ReduceXorSum, dst, src0, src1);
               c.n[0] = calCount; c.reuse = isReuseSource;)

/* ---- layouts ---- */

/* The tiling data of these holds what its host function wrote: B, N, S, H / N in the first four fields. */
#define ACSIM_TRANSPOSE_TILING                                                                    \
  acsim_rows c = acsim::rows_of(ACSIM_ROWS_TransposeLib, dst, src);                               \
  c.n[0] = tiling.param0, c.n[1] = tiling.param1, c.n[2] = tiling.param2, c.n[3] = tiling.param3; \
  c.n[4] = static_cast<int64_t>(transposeType);
#define ACSIM_TRANSPOSE(Name)                                                                                  \
  template <typename T>                                                                                        \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &sharedTmpBuffer, \
            TransposeType transposeType, const ::ConfusionTransposeTiling &tiling, ACSIM_AT) {                 \
    ACSIM_TRANSPOSE_TILING                                                                                     \
    c.name = #Name;                                                                                            \
    c.tmp = &sharedTmpBuffer.view_;                                                                            \
    acsim_lib_rows(&c, file, line);                                                                            \
  }                                                                                                            \
  template <typename T>                                                                                        \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, TransposeType transposeType,                 \
            const ::ConfusionTransposeTiling &tiling, ACSIM_AT) {                                              \
    ACSIM_TRANSPOSE_TILING                                                                                     \
    c.name = #Name;                                                                                            \
    acsim_lib_rows(&c, file, line);                                                                            \
  }
ACSIM_TRANSPOSE(Transpose)
ACSIM_TRANSPOSE(ConfusionTranspose)
#undef ACSIM_TRANSPOSE
#undef ACSIM_TRANSPOSE_TILING

/* ---- gated linear units: src0 * f(src1) ---- */

#define ACSIM_GLU(Name)                                                                                              \
  template <typename T, bool isReuseSource = false>                                                                  \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,                       \
            const LocalTensor<uint8_t> &tmp, uint32_t count, ACSIM_AT) {                                             \
    acsim::library<T, T>(ACSIM_LIB_##Name, &dst.view_, &src0.view_, &src1.view_, &tmp.view_, count, false, file,     \
                         line);                                                                                      \
  }                                                                                                                  \
  template <typename T, bool isReuseSource = false>                                                                  \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, uint32_t count,       \
            ACSIM_AT) {                                                                                              \
    acsim::library<T, T>(ACSIM_LIB_##Name, &dst.view_, &src0.view_, &src1.view_, nullptr, count, false, file, line); \
  }                                                                                                                  \
  template <typename T, bool isReuseSource = false>                                                                  \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,                       \
            const LocalTensor<uint8_t> &tmp, ACSIM_AT) {                                                             \
    acsim::library<T, T>(ACSIM_LIB_##Name, &dst.view_, &src0.view_, &src1.view_, &tmp.view_, src0.GetSize(), false,  \
                         file, line);                                                                                \
  }                                                                                                                  \
  template <typename T, bool isReuseSource = false>                                                                  \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, ACSIM_AT) {           \
    acsim::library<T, T>(ACSIM_LIB_##Name, &dst.view_, &src0.view_, &src1.view_, nullptr, src0.GetSize(), false,     \
                         file, line);                                                                                \
  }
ACSIM_GLU(GeGLU)
ACSIM_GLU(ReGlu)
#undef ACSIM_GLU
namespace acsim_detail {
template <typename T>
void swiglu(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, float beta,
            const LocalTensor<uint8_t> *tmp, uint32_t count, const char *file, int32_t line) {
  acsim_library c =
      acsim::scalar_call<T>(ACSIM_LIB_SwiGLU, static_cast<double>(beta), 0, false, tmp ? &tmp->view_ : nullptr);
  c.dst = &dst.view_, c.a = &src0.view_, c.b = &src1.view_, c.count = count;
  acsim_lib(&c, file, line);
}
} // namespace acsim_detail
template <typename T, bool isReuseSource = false>
void SwiGLU(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
            const float &scalarValue, const LocalTensor<uint8_t> &tmp, const uint32_t count, ACSIM_AT) {
  acsim_detail::swiglu(dst, src0, src1, scalarValue, &tmp, count, file, line);
}
template <typename T, bool isReuseSource = false>
void SwiGLU(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
            const float &scalarValue, const LocalTensor<uint8_t> &tmp, ACSIM_AT) {
  acsim_detail::swiglu(dst, src0, src1, scalarValue, &tmp, src0.GetSize(), file, line);
}
template <typename T, bool isReuseSource = false>
void SwiGLU(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
            const float &scalarValue, const uint32_t count, ACSIM_AT) {
  acsim_detail::swiglu(dst, src0, src1, scalarValue, static_cast<const LocalTensor<uint8_t> *>(nullptr), count, file,
                       line);
}
template <typename T, bool isReuseSource = false>
void SwiGLU(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
            const float &scalarValue, ACSIM_AT) {
  acsim_detail::swiglu(dst, src0, src1, scalarValue, static_cast<const LocalTensor<uint8_t> *>(nullptr),
                       src0.GetSize(), file, line);
}

/* ---- shapes with strides, and what takes them ---- */

/* The numbers of MakeShape and MakeStride. (docs/zh, Layout: only what TransData needs of it) */
template <int N> struct acsim_extents { int64_t at[N ? N : 1]; };
template <typename... Ts> constexpr acsim_extents<sizeof...(Ts)> MakeShape(const Ts &...v) {
  return {{static_cast<int64_t>(v)...}};
}
template <typename... Ts> constexpr acsim_extents<sizeof...(Ts)> MakeStride(const Ts &...v) {
  return {{static_cast<int64_t>(v)...}};
}
template <typename S, typename T> struct Layout {
  S shape;
  T stride;
  constexpr const S &GetShape() const { return shape; }
  constexpr const T &GetStride() const { return stride; }
};
template <typename S, typename T> constexpr Layout<S, T> MakeLayout(const S &shape, const T &stride) {
  return {shape, stride};
}
template <typename T, typename U> struct TransDataParams {
  T srcLayout;
  U dstLayout;
};
namespace acsim_detail {
template <int N, int M, typename A, typename B>
void transdata(acsim_rows &c, int what, const Layout<acsim_extents<N>, A> &plain,
               const Layout<acsim_extents<M>, B> &blocked) {
  static_assert(N == 5, "NCDHW has five dimensions");
  const int64_t *p = plain.shape.at, *q = blocked.shape.at;
  for (int i = 0; i < 5; i++) c.n[i] = p[i];
  c.n[5] = what;
  int64_t c1 = (p[1] + 15) / 16, n1 = (p[0] + 15) / 16;
  if constexpr (M == 6)
    c.n[6] = q[0] == p[0] && q[1] == p[2] && q[2] == c1 && q[3] == p[3] && q[4] == p[4] && q[5] == 16;
  if constexpr (M == 7)
    c.n[6] = q[0] == p[2] && q[1] == c1 && q[2] == p[3] && q[3] == p[4] && q[4] == n1 && q[5] == 16 && q[6] == 16;
}
} // namespace acsim_detail
ACSIM_WITH_TMP(
    TransData,
    template <const TransDataConfig &config ACSIM_COMMA typename T ACSIM_COMMA typename U ACSIM_COMMA typename S>,
    const LocalTensor<T> &dst ACSIM_COMMA const LocalTensor<T> &src, const TransDataParams<U ACSIM_COMMA S> &params,
    constexpr DataFormat from = config.srcFormat;
    constexpr DataFormat to = config.dstFormat; constexpr bool back = to == DataFormat::NCDHW;
    constexpr DataFormat other = back ? from : to;
    static_assert((back || from == DataFormat::NCDHW) &&
                      (other == DataFormat::NDC1HWC0 || other == DataFormat::FRACTAL_Z_3D),
                  "TransData goes between NCDHW and NDC1HWC0 or FRACTAL_Z_3D");
    acsim_rows c = acsim::rows_of(ACSIM_ROWS_TransData, dst, src);
    constexpr int what = (other == DataFormat::FRACTAL_Z_3D ? 2 : 0) + back;
    if constexpr (back) acsim_detail::transdata(c, what, params.dstLayout, params.srcLayout);
    else acsim_detail::transdata(c, what, params.srcLayout, params.dstLayout);)
} // namespace AscendC
#undef ACSIM_WITH_TMP
#undef ACSIM_COMMA
#endif

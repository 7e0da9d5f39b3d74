/* Kernel side, part 10: the flash forms of softmax, LogSoftMax, AdjustSoftMaxRes. Signatures as asc-devkit's include/adv_api/activation
 * declares them; the values are core_flash.c's. */
#ifndef ACSIM_KERNEL_FLASH_H
#define ACSIM_KERNEL_FLASH_H

#include "acsim/kernel_norm.h"

namespace AscendC {
struct SoftMaxParams {
  uint32_t srcM = 0, srcK = 0, oriSrcM = 0, oriSrcK = 0, loopCnt = 1, splitMeanCnt = 8;
  float alpha = 0.9375f;
};
namespace acsim_detail {
template <typename Tiling> void flash_shape(acsim_rows &c, const Tiling &t, const SoftMaxShapeInfo &s) {
  c.n[0] = s.srcM ? s.srcM : t.srcM;
  c.n[1] = s.srcK ? s.srcK : t.srcK;
  c.n[2] = s.oriSrcM ? s.oriSrcM : c.n[0];
  c.n[3] = s.oriSrcK ? s.oriSrcK : c.n[1];
}
} // namespace acsim_detail

/* The sizes of a split that the kernel computes for itself. (docs/zh, SoftmaxFlashV2) */
inline ::SoftMaxTiling SoftMaxFlashV2TilingFunc(const SoftMaxShapeInfo &shape, const uint32_t dataTypeSize1,
                                                const uint32_t dataTypeSize2, const uint32_t localWorkSpaceSize,
                                                const bool = false, const bool isBasicBlock = false,
                                                const bool = false, const bool isFlashOutputBrc = false) {
  ::SoftMaxTiling t;
  const uint32_t per = 32 / dataTypeSize2,
                 base = static_cast<uint32_t>(acsim_split_flash2(shape.srcM, shape.srcK, dataTypeSize1, dataTypeSize2,
                                                                 localWorkSpaceSize, isBasicBlock, isFlashOutputBrc));
  t.srcM = t.outMaxM = shape.srcM;
  t.srcK = t.splitK = shape.srcK;
  t.srcSize = t.srcM * t.srcK;
  t.outMaxK = t.reduceK = per;
  t.outMaxSize = t.srcM * per;
  t.splitM = t.reduceM = base;
  t.splitSize = base * t.srcK;
  t.reduceSize = base * per;
  t.rangeM = base ? t.srcM / base : 0;
  t.tailM = base ? t.srcM % base : 0;
  t.tailSplitSize = t.tailM * t.srcK;
  t.tailReduceSize = t.tailM * per;
  return t;
}

#define ACSIM_FLASH_CALL(OP, FLAGS)                                            \
  acsim_rows c = acsim::rows_of(OP, dst, sum, max, src, expMax, inSum, inMax); \
  acsim_detail::flash_shape(c, tiling, shape);                                 \
  c.flags = FLAGS;
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, typename S>
void SoftmaxFlash(const LocalTensor<T> &dst, const LocalTensor<S> &sum, const LocalTensor<S> &max,
                  const LocalTensor<T> &src, const LocalTensor<T> &expMax, const LocalTensor<S> &inSum,
                  const LocalTensor<S> &inMax, const ::SoftMaxTiling &tiling, bool isUpdate = false,
                  const SoftMaxShapeInfo &shape = {}, ACSIM_AT) {
  ACSIM_FLASH_CALL(ACSIM_ROWS_SoftmaxFlash, isUpdate ? ACSIM_FLASH_UPDATE : 0)
  acsim_lib_rows(&c, file, line);
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, typename S>
void SoftmaxFlash(const LocalTensor<T> &dst, const LocalTensor<S> &sum, const LocalTensor<S> &max,
                  const LocalTensor<T> &src, const LocalTensor<T> &expMax, const LocalTensor<S> &inSum,
                  const LocalTensor<S> &inMax, const LocalTensor<uint8_t> &sharedTmpBuffer,
                  const ::SoftMaxTiling &tiling, bool isUpdate = false, const SoftMaxShapeInfo &shape = {},
                  ACSIM_AT) {
  ACSIM_FLASH_CALL(ACSIM_ROWS_SoftmaxFlash, isUpdate ? ACSIM_FLASH_UPDATE : 0)
  c.tmp = &sharedTmpBuffer.view_;
  acsim_lib_rows(&c, file, line);
}

#define ACSIM_FLASH2_FLAGS              \
  (isUpdate ? ACSIM_FLASH_UPDATE : 0) | \
      (config.mode == SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC ? ACSIM_FLASH_NARROW : 0) | (isBasicBlock ? 256u : 0)
#define ACSIM_FLASH2_TEMPLATE                                                                         \
  template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false, \
            bool isDataFormatNZ = false, const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG, typename S>
ACSIM_FLASH2_TEMPLATE
void SoftmaxFlashV2(const LocalTensor<T> &dst, const LocalTensor<S> &sum, const LocalTensor<S> &max,
                    const LocalTensor<T> &src, const LocalTensor<T> &expMax, const LocalTensor<S> &inSum,
                    const LocalTensor<S> &inMax, const ::SoftMaxTiling &tiling, const SoftMaxShapeInfo &shape = {},
                    ACSIM_AT) {
  static_assert(!isDataFormatNZ, "the simulator has SoftmaxFlashV2 in ND only");
  ACSIM_FLASH_CALL(ACSIM_ROWS_SoftmaxFlashV2, ACSIM_FLASH2_FLAGS)
  acsim_lib_rows(&c, file, line);
}
ACSIM_FLASH2_TEMPLATE
void SoftmaxFlashV2(const LocalTensor<T> &dst, const LocalTensor<S> &sum, const LocalTensor<S> &max,
                    const LocalTensor<T> &src, const LocalTensor<T> &expMax, const LocalTensor<S> &inSum,
                    const LocalTensor<S> &inMax, const LocalTensor<uint8_t> &sharedTmpBuffer,
                    const ::SoftMaxTiling &tiling, const SoftMaxShapeInfo &shape = {}, ACSIM_AT) {
  static_assert(!isDataFormatNZ, "the simulator has SoftmaxFlashV2 in ND only");
  ACSIM_FLASH_CALL(ACSIM_ROWS_SoftmaxFlashV2, ACSIM_FLASH2_FLAGS)
  c.tmp = &sharedTmpBuffer.view_;
  acsim_lib_rows(&c, file, line);
}
/* With the rows' own maxima; one value a row only. */
#define ACSIM_FLASH2_MAX                                                                                         \
  static_assert(config.mode == SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC,                                          \
                "SoftmaxFlashV2 with outReduceMax does nothing in the normal mode");                             \
  acsim_rows c = acsim::rows_of(ACSIM_ROWS_SoftmaxFlashV2, dst, sum, max, src, expMax, inSum, inMax, reduceMax); \
  acsim_detail::flash_shape(c, tiling, shape);                                                                   \
  c.flags = ACSIM_FLASH2_FLAGS;
template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG>
void SoftmaxFlashV2(const LocalTensor<T> &dst, const LocalTensor<T> &reduceMax, const LocalTensor<T> &sum,
                    const LocalTensor<T> &max, const LocalTensor<T> &src, const LocalTensor<T> &expMax,
                    const LocalTensor<T> &inSum, const LocalTensor<T> &inMax, const ::SoftMaxTiling &tiling,
                    const SoftMaxShapeInfo &shape = {}, ACSIM_AT) {
  ACSIM_FLASH2_MAX
  acsim_lib_rows(&c, file, line);
}
template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG>
void SoftmaxFlashV2(const LocalTensor<T> &dst, const LocalTensor<T> &reduceMax, const LocalTensor<T> &sum,
                    const LocalTensor<T> &max, const LocalTensor<T> &src, const LocalTensor<T> &expMax,
                    const LocalTensor<T> &inSum, const LocalTensor<T> &inMax,
                    const LocalTensor<uint8_t> &sharedTmpBuffer, const ::SoftMaxTiling &tiling,
                    const SoftMaxShapeInfo &shape = {}, ACSIM_AT) {
  ACSIM_FLASH2_MAX
  c.tmp = &sharedTmpBuffer.view_;
  acsim_lib_rows(&c, file, line);
}
#undef ACSIM_FLASH2_MAX
#undef ACSIM_FLASH2_TEMPLATE
#undef ACSIM_FLASH2_FLAGS
#undef ACSIM_FLASH_CALL

ACSIM_WITH_TMP(
    SoftmaxFlashV3,
    template <typename T ACSIM_COMMA typename U ACSIM_COMMA bool isUpdate = false ACSIM_COMMA bool isReuseSource =
                  false ACSIM_COMMA bool isBasicBlock = false ACSIM_COMMA bool isDataFormatNZ =
                      false ACSIM_COMMA const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG>
    ,
    const LocalTensor<T> &dst ACSIM_COMMA const LocalTensor<U> &mean ACSIM_COMMA const LocalTensor<U> &sum
        ACSIM_COMMA const LocalTensor<U> &max ACSIM_COMMA const LocalTensor<T> &src
            ACSIM_COMMA const LocalTensor<T> &expMax ACSIM_COMMA const LocalTensor<U> &inMean
                ACSIM_COMMA const LocalTensor<U> &inSum ACSIM_COMMA const LocalTensor<U> &inMax,
    const ::SoftMaxTiling &tiling ACSIM_COMMA const SoftMaxParams &params,
    acsim_rows c = acsim::rows_of(ACSIM_ROWS_SoftmaxFlashV3, dst, mean, sum, max, src, expMax, inMean, inSum, inMax);
    acsim_detail::flash_shape(c, tiling, SoftMaxShapeInfo{params.srcM, params.srcK, params.oriSrcM, params.oriSrcK});
    c.n[4] = params.splitMeanCnt; c.n[5] = params.loopCnt; c.f[0] = static_cast<double>(params.alpha);
    c.flags = isUpdate ? ACSIM_FLASH_UPDATE : 0;)

template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
void LogSoftMax(const LocalTensor<T> &dst, const LocalTensor<T> &sum, const LocalTensor<T> &max,
                const LocalTensor<T> &src, const LocalTensor<uint8_t> &sharedTmpBuffer,
                const ::LogSoftMaxTiling &tiling, const SoftMaxShapeInfo &shape = {}, ACSIM_AT) {
  static_assert(!isDataFormatNZ, "the simulator has LogSoftMax in ND only");
  acsim_rows c = acsim::rows_of(ACSIM_ROWS_LogSoftMax, dst, sum, max, src);
  acsim_detail::flash_shape(c, tiling, shape);
  c.tmp = &sharedTmpBuffer.view_;
  acsim_lib_rows(&c, file, line);
}

/* Rows whose maximum has the bits `from` become `to`. */
template <typename T1, typename T2, bool isDataFormatNZ = false, uint8_t stepSizeMode = 0>
bool AdjustSoftMaxRes(const LocalTensor<T1> &softMaxRes, const LocalTensor<T2> &maxTensor, const uint32_t from,
                      const T1 to, const SoftMaxShapeInfo &shape, ACSIM_AT) {
  static_assert(!isDataFormatNZ, "the simulator has AdjustSoftMaxRes in ND only");
  acsim_rows c = acsim::rows_of(ACSIM_ROWS_AdjustSoftMaxRes, softMaxRes, maxTensor);
  acsim_detail::flash_shape(c, shape, shape);
  c.n[4] = stepSizeMode ? 1 : 32 / sizeof(T2);
  c.n[5] = from;
  c.f[0] = acsim::scalar_float(to);
  return acsim_lib_rows(&c, file, line) != 0;
}
} // namespace AscendC
#endif

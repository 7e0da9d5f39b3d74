/* Kernel side, part 9: the library's normalisations. Signatures as asc-devkit's include/adv_api/normalization declares them; the values are
 * core_norm.c's. Every function has a form with the caller's temporary memory and one without. */
#ifndef ACSIM_KERNEL_NORM_H
#define ACSIM_KERNEL_NORM_H

#include "acsim/kernel_abi_lib.h"
#include "acsim/kernel_lib.h"
#include "acsim/library_sizes.h"

namespace acsim {
template <typename T> void operand(acsim_rows &c, int k, const AscendC::LocalTensor<T> &t) {
  c.t[k] = &t.view_;
  c.type[k] = type_of<T>::id;
}
/* A call with its operands in order. */
template <typename... L> acsim_rows rows_of(uint8_t op, const L &...tensors) {
  acsim_rows c = {};
  int k = 0;
  c.op = op;
  (operand(c, k++, tensors), ...);
  return c;
}
inline const acsim_local *tmp_of(const AscendC::LocalTensor<uint8_t> *t) {
  return t ? &t->view_ : nullptr;
}
/* Rows, row length, and how much of a row counts. */
inline void shape(acsim_rows &c, int64_t m, int64_t k, int64_t valid) {
  c.n[0] = m, c.n[1] = k, c.n[2] = valid ? valid : k;
}
} // namespace acsim

namespace AscendC {
struct LayerNormConfig {
  bool isNoBeta = false, isNoGamma = false, isOnlyOutput = false, isOutputRstd = true;
};
constexpr LayerNormConfig LNCFG_NORM = {false, false, false, true};
constexpr LayerNormConfig LNCFG_NOBETA = {true, false, false, true};
constexpr LayerNormConfig LNCFG_NOGAMMA = {false, true, false, true};
constexpr LayerNormConfig LNCFG_ONLYOUTPUT = {false, false, true, true};
constexpr LayerNormConfig LNCFG_NOBETAGAMMA = {true, true, false, true};
struct LayerNormPara {
  uint32_t aLength, rLength, rLengthWithPadding;
};
struct LayerNormGradShapeInfo {
  DataFormat dataFormat = DataFormat::ND;
};
struct NormalizeConfig {
  ReducePattern reducePattern = ReducePattern::AR;
  int32_t aLength = -1;
  bool isNoBeta = false, isNoGamma = false, isOnlyOutput = false;
};
constexpr NormalizeConfig NLCFG_NORM = {ReducePattern::AR, -1, false, false, false};
constexpr NormalizeConfig NLCFG_NOBETA = {ReducePattern::AR, -1, true, false, false};
constexpr NormalizeConfig NLCFG_NOGAMMA = {ReducePattern::AR, -1, false, true, false};
constexpr NormalizeConfig NLCFG_ONLYOUTPUT = {ReducePattern::AR, -1, false, false, true};
constexpr NormalizeConfig NLCFG_NOBETAGAMMA = {ReducePattern::AR, -1, true, true, false};
struct NormalizePara {
  uint32_t aLength, rLength, rLengthWithPadding;
};
struct WelfordUpdateConfig {
  bool isInplace = false;
};
constexpr WelfordUpdateConfig WFUPDATE_DEFAULT_CFG = {false};
struct WelfordUpdateParam {
  uint32_t rnLength, abLength, abComputeLength;
  float nRec;
};
struct WelfordFinalizePara {
  uint32_t rnLength, abLength, headCount, headCountLength, tailCount, tailCountLength;
  float abRec, rRec, rRecWithCorrection;
};

/* The form with the caller's memory and the form without it. TEMPLATE, BEFORE: the tensors; AFTER: what follows the memory. */
#define ACSIM_COMMA ,
#define ACSIM_WITH_TMP(Name, TEMPLATE, BEFORE, AFTER, BODY)                                  \
  TEMPLATE void Name(BEFORE, const LocalTensor<uint8_t> &sharedTmpBuffer, AFTER, ACSIM_AT) { \
    const LocalTensor<uint8_t> *tmp = &sharedTmpBuffer;                                      \
    BODY c.tmp = acsim::tmp_of(tmp);                                                         \
    acsim_lib_rows(&c, file, line);                                                          \
  }                                                                                          \
  TEMPLATE void Name(BEFORE, AFTER, ACSIM_AT) {                                              \
    BODY acsim_lib_rows(&c, file, line);                                                     \
  }

ACSIM_WITH_TMP(LayerNorm, template <typename T ACSIM_COMMA bool isReuseSource = false>,
               const LocalTensor<T> &output ACSIM_COMMA const LocalTensor<T> &outputMean
                   ACSIM_COMMA const LocalTensor<T> &outputVariance ACSIM_COMMA const LocalTensor<T> &inputX
                       ACSIM_COMMA const LocalTensor<T> &gamma ACSIM_COMMA const LocalTensor<T> &beta,
               const T epsilon ACSIM_COMMA const ::LayerNormTiling &tiling,
               acsim_rows c = acsim::rows_of(ACSIM_ROWS_LayerNorm, output, outputMean, outputVariance, inputX, gamma,
                                             beta);
               acsim::shape(c, static_cast<int64_t>(tiling.bLength) * tiling.sLength, tiling.hLength,
                            tiling.originalHLength);
               c.f[0] = acsim::scalar_float(epsilon); c.reuse = isReuseSource;)

template <typename U, typename T, bool isReuseSource = false, const LayerNormConfig &config = LNCFG_NORM>
void LayerNorm(const LocalTensor<T> &output, const LocalTensor<float> &outputMean,
               const LocalTensor<float> &outputRstd, const LocalTensor<T> &inputX, const LocalTensor<U> &gamma,
               const LocalTensor<U> &beta, const float epsilon, const LocalTensor<uint8_t> &sharedTmpBuffer,
               const LayerNormPara &para, const ::LayerNormSeparateTiling &, ACSIM_AT) {
  static_assert(config.isOutputRstd && !config.isOnlyOutput, "LayerNorm gives y, mean and rstd on Atlas A2");
  acsim_rows c = acsim::rows_of(ACSIM_ROWS_LayerNormRstd, output, outputMean, outputRstd, inputX, gamma, beta);
  acsim::shape(c, para.aLength, para.rLengthWithPadding, para.rLength);
  c.f[0] = static_cast<double>(epsilon);
  c.flags =
      ACSIM_NORM_RSTD | (config.isNoGamma ? ACSIM_NORM_NO_GAMMA : 0) | (config.isNoBeta ? ACSIM_NORM_NO_BETA : 0);
  c.tmp = &sharedTmpBuffer.view_;
  c.name = "LayerNorm";
  acsim_lib_rows(&c, file, line);
}
template <typename U, typename T, bool isReuseSource = false, const LayerNormConfig &config = LNCFG_NORM>
void LayerNorm(const LocalTensor<T> &output, const LocalTensor<float> &outputMean,
               const LocalTensor<float> &outputRstd, const LocalTensor<T> &inputX, const LocalTensor<U> &gamma,
               const LocalTensor<U> &beta, const float epsilon, const LayerNormPara &para,
               const ::LayerNormSeparateTiling &, ACSIM_AT) {
  static_assert(config.isOutputRstd && !config.isOnlyOutput, "LayerNorm gives y, mean and rstd on Atlas A2");
  acsim_rows c = acsim::rows_of(ACSIM_ROWS_LayerNormRstd, output, outputMean, outputRstd, inputX, gamma, beta);
  acsim::shape(c, para.aLength, para.rLengthWithPadding, para.rLength);
  c.f[0] = static_cast<double>(epsilon);
  c.flags =
      ACSIM_NORM_RSTD | (config.isNoGamma ? ACSIM_NORM_NO_GAMMA : 0) | (config.isNoBeta ? ACSIM_NORM_NO_BETA : 0);
  c.name = "LayerNorm";
  acsim_lib_rows(&c, file, line);
}

ACSIM_WITH_TMP(RmsNorm, template <typename T ACSIM_COMMA bool isBasicBlock = false>,
               const LocalTensor<T> &dstLocal ACSIM_COMMA const LocalTensor<T> &srcLocal
                   ACSIM_COMMA const LocalTensor<T> &gammaLocal,
               const T epsilon ACSIM_COMMA const ::RmsNormTiling &tiling,
               acsim_rows c = acsim::rows_of(ACSIM_ROWS_RmsNorm, dstLocal, srcLocal, gammaLocal);
               acsim::shape(c, static_cast<int64_t>(tiling.bLength) * tiling.sLength, tiling.hLength,
                            tiling.originalHLength);
               c.f[0] = acsim::scalar_float(epsilon);)

ACSIM_WITH_TMP(
    DeepNorm, template <typename T ACSIM_COMMA bool isReuseSrc = false ACSIM_COMMA bool isBasicBlock = false>,
    const LocalTensor<T> &dstLocal ACSIM_COMMA const LocalTensor<T> &meanLocal ACSIM_COMMA const LocalTensor<T>
        &rstdLocal ACSIM_COMMA const LocalTensor<T> &srcLocal ACSIM_COMMA const LocalTensor<T> &gxLocal
            ACSIM_COMMA const LocalTensor<T> &betaLocal ACSIM_COMMA const LocalTensor<T> &gammaLocal,
    const T alpha ACSIM_COMMA const T epsilon ACSIM_COMMA const ::DeepNormTiling &tiling,
    acsim_rows c = acsim::rows_of(ACSIM_ROWS_DeepNorm, dstLocal, meanLocal, rstdLocal, srcLocal, gxLocal, betaLocal,
                                  gammaLocal);
    acsim::shape(c, static_cast<int64_t>(tiling.bLength) * tiling.sLength, tiling.hLength, tiling.originalHLength);
    c.f[0] = acsim::scalar_float(alpha); c.f[1] = acsim::scalar_float(epsilon); c.reuse = isReuseSrc;)

ACSIM_WITH_TMP(
    LayerNormGrad, template <typename T ACSIM_COMMA bool isReuseSource = false>,
    const LocalTensor<T> &outputPdX ACSIM_COMMA const LocalTensor<T> &resForGamma ACSIM_COMMA const LocalTensor<T>
        &inputDy ACSIM_COMMA const LocalTensor<T> &inputX ACSIM_COMMA const LocalTensor<T> &inputVariance
            ACSIM_COMMA const LocalTensor<T> &inputMean ACSIM_COMMA const LocalTensor<T> &inputGamma,
    T epsilon ACSIM_COMMA const ::LayerNormGradTiling &tiling ACSIM_COMMA const LayerNormGradShapeInfo & = {},
    acsim_rows c = acsim::rows_of(ACSIM_ROWS_LayerNormGrad, outputPdX, resForGamma, inputDy, inputX, inputVariance,
                                  inputMean, inputGamma);
    acsim::shape(c, static_cast<int64_t>(tiling.bLength) * tiling.sLength, tiling.hLength, tiling.originalHLength);
    c.f[0] = acsim::scalar_float(epsilon); c.reuse = isReuseSource;)

ACSIM_WITH_TMP(LayerNormGradBeta, template <typename T ACSIM_COMMA bool isReuseSource = false>,
               const LocalTensor<T> &outputPdGamma ACSIM_COMMA const LocalTensor<T> &outputPdBeta
                   ACSIM_COMMA const LocalTensor<T> &resForGamma ACSIM_COMMA const LocalTensor<T> &inputDy,
               const ::LayerNormGradBetaTiling &tiling,
               acsim_rows c = acsim::rows_of(ACSIM_ROWS_LayerNormGradBeta, outputPdGamma, outputPdBeta, resForGamma,
                                             inputDy);
               acsim::shape(c, static_cast<int64_t>(tiling.bLength) * tiling.sLength, tiling.hLength, tiling.hLength);
               c.reuse = isReuseSource;)

ACSIM_WITH_TMP(Normalize,
               template <typename U ACSIM_COMMA typename T ACSIM_COMMA bool isReuseSource =
                             false ACSIM_COMMA const NormalizeConfig &config = NLCFG_NORM>
               ,
               const LocalTensor<T> &output ACSIM_COMMA const LocalTensor<float> &outputRstd
                   ACSIM_COMMA const LocalTensor<float> &inputMean ACSIM_COMMA const LocalTensor<float> &inputVariance
                       ACSIM_COMMA const LocalTensor<T> &inputX ACSIM_COMMA const LocalTensor<U> &gamma
                           ACSIM_COMMA const LocalTensor<U> &beta,
               const float epsilon ACSIM_COMMA const NormalizePara &para,
               acsim_rows c = acsim::rows_of(ACSIM_ROWS_Normalize, output, outputRstd, inputMean, inputVariance,
                                             inputX, gamma, beta);
               acsim::shape(c, para.aLength, para.rLengthWithPadding, para.rLength);
               c.f[0] = static_cast<double>(epsilon);
               c.flags = (config.isNoGamma ? ACSIM_NORM_NO_GAMMA : 0) | (config.isNoBeta ? ACSIM_NORM_NO_BETA : 0) |
                         (config.isOnlyOutput ? ACSIM_NORM_NO_STATS : 0);)

ACSIM_WITH_TMP(WelfordUpdate,
               template <typename T ACSIM_COMMA typename U ACSIM_COMMA bool isReuseSource =
                             false ACSIM_COMMA const WelfordUpdateConfig &config = WFUPDATE_DEFAULT_CFG>
               ,
               const LocalTensor<U> &outputMean ACSIM_COMMA const LocalTensor<U> &outputVariance
                   ACSIM_COMMA const LocalTensor<U> &inputMean ACSIM_COMMA const LocalTensor<U> &inputVariance
                       ACSIM_COMMA const LocalTensor<T> &inputX,
               const WelfordUpdateParam &para,
               acsim_rows c = acsim::rows_of(ACSIM_ROWS_WelfordUpdate, outputMean, outputVariance, inputMean,
                                             inputVariance, inputX);
               acsim::shape(c, para.rnLength, para.abLength, para.abComputeLength);
               c.f[0] = static_cast<double>(para.nRec); c.reuse = isReuseSource;)

#define ACSIM_FINALIZE                                                                                    \
  c.n[0] = para.rnLength, c.n[1] = para.abLength, c.n[2] = para.headCount, c.n[3] = para.headCountLength, \
  c.n[4] = para.tailCount, c.n[5] = para.tailCountLength;                                                 \
  c.f[0] = static_cast<double>(para.abRec);                                                               \
  c.f[1] = static_cast<double>(para.rRec);
ACSIM_WITH_TMP(
    WelfordFinalize, template <bool isReuseSource = false>,
    const LocalTensor<float> &outputMean ACSIM_COMMA const LocalTensor<float> &outputVariance
        ACSIM_COMMA const LocalTensor<float> &inputMean ACSIM_COMMA const LocalTensor<float> &inputVariance,
    const WelfordFinalizePara &para,
    acsim_rows c = acsim::rows_of(ACSIM_ROWS_WelfordFinalize, outputMean, outputVariance, inputMean, inputVariance);
    ACSIM_FINALIZE)
ACSIM_WITH_TMP(WelfordFinalize, template <bool isReuseSource = false>,
               const LocalTensor<float> &outputMean ACSIM_COMMA const LocalTensor<float> &outputVariance
                   ACSIM_COMMA const LocalTensor<float> &inputMean ACSIM_COMMA const LocalTensor<float> &inputVariance
                       ACSIM_COMMA const LocalTensor<int32_t> &counts,
               const WelfordFinalizePara &para,
               acsim_rows c = acsim::rows_of(ACSIM_ROWS_WelfordFinalize, outputMean, outputVariance, inputMean,
                                             inputVariance, counts);
               ACSIM_FINALIZE)
#undef ACSIM_FINALIZE

ACSIM_WITH_TMP(GroupNorm, template <typename T ACSIM_COMMA bool isReuseSource = false>,
               const LocalTensor<T> &output ACSIM_COMMA const LocalTensor<T> &outputMean
                   ACSIM_COMMA const LocalTensor<T> &outputVariance ACSIM_COMMA const LocalTensor<T> &inputX
                       ACSIM_COMMA const LocalTensor<T> &gamma ACSIM_COMMA const LocalTensor<T> &beta,
               const T epsilon ACSIM_COMMA const ::GroupNormTiling &tiling,
               acsim_rows c = acsim::rows_of(ACSIM_ROWS_GroupNorm, output, outputMean, outputVariance, inputX, gamma,
                                             beta);
               c.n[0] = tiling.n; c.n[1] = tiling.c; c.n[2] = tiling.hw; c.n[3] = tiling.hwAlignSize;
               c.n[4] = tiling.g; c.f[0] = acsim::scalar_float(epsilon); c.reuse = isReuseSource;)

ACSIM_WITH_TMP(BatchNorm,
               template <typename T ACSIM_COMMA bool isReuseSource = false ACSIM_COMMA bool isBasicBlock = false>,
               const LocalTensor<T> &output ACSIM_COMMA const LocalTensor<T> &outputMean
                   ACSIM_COMMA const LocalTensor<T> &outputVariance ACSIM_COMMA const LocalTensor<T> &inputX
                       ACSIM_COMMA const LocalTensor<T> &gamm ACSIM_COMMA const LocalTensor<T> &beta,
               const T epsilon ACSIM_COMMA const ::BatchNormTiling &tiling,
               acsim_rows c = acsim::rows_of(ACSIM_ROWS_BatchNorm, output, outputMean, outputVariance, inputX, gamm,
                                             beta);
               c.n[0] = tiling.originalBLength; c.n[1] = tiling.meanVarSize; c.f[0] = acsim::scalar_float(epsilon);
               c.flags = isBasicBlock;)
} // namespace AscendC
#endif

/* Host side, part 8: sizes of temporary memory and tiling data of the library's functions over rows. Formulas: asc-devkit
 * impl/adv_api/tiling, arch 2201; the least sizes are library_sizes.h's, which the core checks. Of the tiling data, the fields that
 * describe the shape and the split into rounds are set; positions that only the device's own code reads stay 0 where they are not. */
#ifndef ACSIM_HOST_ROWS_H
#define ACSIM_HOST_ROWS_H

#include "acsim/host_library.h"
#include "acsim/host_platform.h"
#include "acsim/library_enums.h"
#include "acsim/library_sizes.h"

namespace AscendC {
/* The same data as plain structs, as the kernel has them. */
namespace tiling {
ACSIM_LIBRARY_STRUCTS
} // namespace tiling

namespace acsim_detail {
#define ACSIM_FIELD(type, name) t.set_##name(p.name);
#define X(name)                                                \
  inline void give(const tiling::name &p, tiling::name &t) {   \
    t = p;                                                     \
  }                                                            \
  inline void give(const tiling::name &p, optiling::name &t) { \
    ACSIM_FIELDS_##name(ACSIM_FIELD)                           \
  }
ACSIM_LIBRARY_TILINGS(X)
#undef X
#undef ACSIM_FIELD
inline uint32_t dim(const ge::Shape &s, size_t i) {
  return i < s.GetDimNum() && s.GetDim(i) > 0 ? static_cast<uint32_t>(s.GetDim(i)) : 1;
}
inline uint32_t dims(const ge::Shape &s) {
  return static_cast<uint32_t>(s.GetShapeSize());
}
inline void both(int64_t most, int64_t least, uint32_t &maxValue, uint32_t &minValue) {
  maxValue = static_cast<uint32_t>(most), minValue = static_cast<uint32_t>(least);
}
inline uint32_t least_of(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}
} // namespace acsim_detail

/* ---- normalisations ---- */

namespace acsim_detail {
/* LayerNorm and DeepNorm split alike: rounds of as many rows as fit into two or three buffers of floats. */
template <typename P> bool split_norm(P &p, uint32_t bytes, uint32_t es, bool reuse, bool basic) {
  uint32_t rows = p.bLength * p.sLength, all = rows * p.hLength, buffers = reuse && es == 4 ? 2 : 3;
  uint32_t stats = up(rows, 8), before = es == 4 ? 0 : 2 * stats, floats = bytes / 4;
  uint32_t one = floats > before ? (floats - before) / buffers / p.hLength * p.hLength : 0;
  if (one > all) one = all;
  if (basic && one / (8 * p.hLength)) one = one / (8 * p.hLength) * (8 * p.hLength);
  if (!one) return false;
  p.inputXSize = all, p.meanVarSize = rows, p.numberOfTmpBuf = buffers;
  p.meanTmpTensorSize = p.varianceTmpTensorPos = p.varianceTmpTensorSize = stats;
  p.tmpBufSize = floats, p.oneTmpSize = one;
  p.firstTmpStartPos = before, p.secondTmpStartPos = before + one, p.thirdTmpStartPos = before + 2 * one;
  p.loopRound = all / one, p.inputRoundSize = p.bshCurLength = one;
  p.inputTailSize = all % one, p.inputTailPos = all - all % one;
  p.meanVarRoundSize = p.bsCurLength = one / p.hLength;
  p.meanVarTailSize = p.inputTailSize / p.hLength, p.meanVarTailPos = rows - p.meanVarTailSize;
  p.lastDimValueBack = 1.0f / static_cast<float>(p.originalHLength);
  return true;
}
template <typename P> void shape_bsh(P &p, const ge::Shape &s, uint32_t original) {
  p.bLength = dim(s, 0), p.sLength = dim(s, 1), p.hLength = dim(s, 2), p.originalHLength = original;
}
} // namespace acsim_detail
inline void GetLayerNormMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool isReuseSource,
                                      uint32_t &maxValue, uint32_t &minValue) {
  using namespace acsim_detail;
  int64_t m = int64_t(dim(s, 0)) * dim(s, 1), k = dim(s, 2);
  int64_t buffers = isReuseSource && typeSize == 4 ? 2 : 3;
  both(buffers * acsim_up(m * k * 4, 32) + 2 * acsim_up(m * 4, 32),
       acsim_tmp_layernorm(m, k, typeSize, isReuseSource), maxValue, minValue);
}
template <typename T>
void GetLayerNormNDTilingInfo(const ge::Shape &s, const uint32_t stackBufferSize, const uint32_t typeSize,
                              const bool isReuseSource, T &out) {
  tiling::LayerNormTiling p;
  acsim_detail::shape_bsh(p, s, acsim_detail::dim(s, 3));
  if (acsim_detail::split_norm(p, stackBufferSize, typeSize, isReuseSource, false)) acsim_detail::give(p, out);
}
template <typename T>
void GetLayerNormNDTillingInfo(const ge::Shape &s, const uint32_t stackBufferSize, const uint32_t typeSize,
                               const bool isReuseSource, T &out) {
  GetLayerNormNDTilingInfo(s, stackBufferSize, typeSize, isReuseSource, out);
}
inline void GetNormalizeMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSizeU, const uint32_t typeSizeT,
                                      const bool, const bool, const bool, uint32_t &maxValue, uint32_t &minValue) {
  using namespace acsim_detail;
  int64_t a = dim(s, 0), k = acsim_up(dim(s, 1), typeSizeT ? 32 / typeSizeT : 1);
  both(2 * acsim_up(k * 4, 32) + 2 * acsim_up(acsim_up(a, 8) * k * 4, 32), acsim_tmp_normalize(a, k, typeSizeU),
       maxValue, minValue);
}
/* the form with 1 / standard deviation */
inline void GetLayerNormMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool isReuseSource,
                                      const bool isComputeRstd, const bool isOnlyOutput, uint32_t &maxValue,
                                      uint32_t &minValue) {
  using namespace acsim_detail;
  int64_t a = dim(s, 0), k = acsim_up(dim(s, 1), 32 / typeSize);
  uint32_t most, least;
  GetNormalizeMaxMinTmpSize(s, typeSize, typeSize, isReuseSource, isComputeRstd, isOnlyOutput, most, least);
  both(acsim_up(a * 4, 32) + acsim_most(2 * acsim_up(a * k * 4, 32), most), acsim_tmp_layernorm_rstd(a, k, typeSize),
       maxValue, minValue);
}
template <typename T>
void GetLayerNormNDTilingInfo(const ge::Shape &s, const uint32_t stackBufferSize, const uint32_t typeSize, const bool,
                              const bool, T &out) {
  using namespace acsim_detail;
  tiling::LayerNormSeparateTiling p;
  p.aLength = p.meanVarSize = dim(s, 0), p.rLength = dim(s, 1);
  uint32_t k = up(p.rLength, 32 / typeSize), all = p.aLength * k, stats = up(p.aLength, 8);
  uint32_t floats = stackBufferSize / 4, one = floats > stats ? (floats - stats) / 2 / k * k : 0;
  if (one > all) one = all;
  if (!one) return;
  p.inputXSize = all, p.numberOfTmpBuf = 2, p.varianceTmpTensorSize = p.firstTmpStartPos = stats;
  p.tmpBufSize = floats, p.oneTmpSize = one, p.secondTmpStartPos = stats + one;
  p.loopRound = all / one, p.inputRoundSize = p.arCurLength = one;
  p.inputTailSize = all % one, p.inputTailPos = all - all % one;
  p.meanVarRoundSize = p.aCurLength = one / k;
  p.meanVarTailSize = p.inputTailSize / k, p.meanVarTailPos = p.aLength - p.meanVarTailSize;
  p.rValueBack = 1.0f / static_cast<float>(p.rLength);
  give(p, out);
}
inline bool GetDeepNormMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool isReuseSource,
                                     const bool isBasicBlock, uint32_t &maxValue, uint32_t &minValue) {
  using namespace acsim_detail;
  if (isBasicBlock && (dim(s, 2) % 64 || dim(s, 0) * dim(s, 1) % 8)) return false;
  GetLayerNormMaxMinTmpSize(s, typeSize, isReuseSource, maxValue, minValue);
  return true;
}
namespace acsim_detail {
inline bool same_but_last(const ge::Shape &s, const ge::Shape &origin, uint32_t es) {
  return s.GetDimNum() == 3 && origin.GetDimNum() == 3 && dim(s, 0) == dim(origin, 0) &&
         dim(s, 1) == dim(origin, 1) && origin.GetDim(2) > 0 && dim(origin, 2) <= dim(s, 2) &&
         dim(s, 2) * es % 32 == 0;
}
} // namespace acsim_detail
template <typename T>
bool GetDeepNormTilingInfo(const ge::Shape &s, const ge::Shape &originSrcShape, const uint32_t stackBufferSize,
                           const uint32_t typeSize, const bool isReuseSource, const bool isBasicBlock, T &out) {
  using namespace acsim_detail;
  uint32_t most, least;
  if (!GetDeepNormMaxMinTmpSize(s, typeSize, isReuseSource, isBasicBlock, most, least) || stackBufferSize < least ||
      !same_but_last(s, originSrcShape, typeSize) || dim(s, 2) > 2040 ||
      (isBasicBlock && dim(originSrcShape, 2) != dim(s, 2)))
    return false;
  tiling::DeepNormTiling p;
  shape_bsh(p, s, dim(originSrcShape, 2));
  if (!split_norm(p, stackBufferSize, typeSize, isReuseSource, isBasicBlock)) return false;
  give(p, out);
  return true;
}
inline bool GetRmsNormMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, uint32_t &maxValue,
                                    uint32_t &minValue, const bool isBasicBlock = false) {
  using namespace acsim_detail;
  int64_t m = int64_t(dim(s, 0)) * dim(s, 1), k = dim(s, 2);
  if (isBasicBlock && (k % 64 || m % 8 || k >= 2048)) return false;
  both((m * k * (typeSize == 2 ? 2 : 1) + acsim_up(m, 32 / typeSize)) * 4, acsim_tmp_rmsnorm(k, typeSize), maxValue,
       minValue);
  return true;
}
template <typename T>
bool GetRmsNormTilingInfo(const ge::Shape &s, const ge::Shape &originSrcShape, const uint32_t stackBufferByteSize,
                          const uint32_t typeSize, T &out, const bool isBasicBlock = false) {
  using namespace acsim_detail;
  uint32_t most, least;
  if (!same_but_last(s, originSrcShape, typeSize) ||
      !GetRmsNormMaxMinTmpSize(s, typeSize, most, least, isBasicBlock) || stackBufferByteSize < least)
    return false;
  tiling::RmsNormTiling p;
  shape_bsh(p, s, dim(originSrcShape, 2));
  p.reciprocalOfHLength = 1.0f / static_cast<float>(p.originalHLength);
  uint32_t floats = stackBufferByteSize / 4, rows = 1, each = p.hLength * (typeSize == 4 ? 1 : 2);
  while (floats >= (rows + 1) * each + up(rows + 1, 8)) rows++;
  rows = least_of(rows, p.bLength * p.sLength);
  if (isBasicBlock)
    rows = rows < 8 ? rows : rows / 8 * 8;
  else
    rows = least_of(rows, 255);
  uint32_t one = rows * p.hLength, all = p.bLength * p.sLength * p.hLength;
  p.mainBshLength = one, p.mainBsLength = rows, p.mainBsLengthAlign = up(rows, 8);
  p.loopRound = all / one, p.tailBshLength = all % one, p.inputTailPos = all - all % one;
  p.tailBsLength = p.tailBshLength / p.hLength;
  give(p, out);
  return true;
}
inline void GetLayerNormGradMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool isReuseSource,
                                          uint32_t &maxValue, uint32_t &minValue) {
  using namespace acsim_detail;
  int64_t m = int64_t(dim(s, 0)) * dim(s, 1), k = dim(s, 2), buffers = typeSize == 2 ? 9 : isReuseSource ? 4 : 6;
  both(acsim_most(m * k, k * k) * buffers * typeSize, acsim_tmp_layernorm_grad(m, k, typeSize, isReuseSource),
       maxValue, minValue);
}
template <typename T>
void GetLayerNormGradNDTilingInfo(const ge::Shape s, const uint32_t stackBufferSize, const uint32_t typeSize,
                                  const bool isReuseSource, T &out) {
  using namespace acsim_detail;
  tiling::LayerNormGradTiling p;
  shape_bsh(p, s, dim(s, 3));
  uint32_t buffers = typeSize == 2 ? 9 : isReuseSource ? 4 : 6, all = p.bLength * p.sLength * p.hLength;
  p.stackBufferSize = stackBufferSize;
  p.nohCalSize = up(stackBufferSize / 4 / buffers / p.hLength, 32 / typeSize);
  p.oneCalSize = p.nohCalSize * p.hLength;
  if (!p.oneCalSize) return;
  p.loopNum = all / p.oneCalSize, p.tailSize = all % p.oneCalSize, p.nohTailSize = p.tailSize / p.hLength;
  float back = 1.0f / static_cast<float>(p.originalHLength), twice = 2 * back;
  ::memcpy(&p.lastDimValueBack, &back, 4);
  ::memcpy(&p.lastDimValueBackMulTwo, &twice, 4);
  give(p, out);
}
inline void GetLayerNormGradBetaMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool,
                                              uint32_t &maxValue, uint32_t &minValue) {
  using namespace acsim_detail;
  int64_t m = int64_t(dim(s, 0)) * dim(s, 1), least = acsim_tmp_layernorm_grad_beta(dim(s, 2), typeSize);
  both(m * least, least, maxValue, minValue);
}
template <typename T>
void GetLayerNormGradBetaNDTilingInfo(const ge::Shape s, const uint32_t stackBufferSize, const uint32_t typeSize,
                                      const bool, T &out) {
  using namespace acsim_detail;
  tiling::LayerNormGradBetaTiling p;
  shape_bsh(p, s, dim(s, 3));
  uint32_t h = p.hLength, one = stackBufferSize / 4;
  p.stackBufferSize = one, p.bsLength = p.bLength * p.sLength, p.bshLength = p.bsLength * h;
  if (one < 2 * h) return;
  p.numberOfTmpBuf = typeSize == 2 ? 2 : 1;
  if (typeSize == 2) one = (one - 2 * h) / 2;
  one = least_of(one / h * h, p.bshLength);
  if (!one) return;
  p.oneCalSize = p.bshCurLength = one, p.bsCurLength = one / h;
  p.loopRound = p.bshLength / one, p.inputTailSize = p.bshLength % one;
  p.inputTailPos = p.bshLength - p.inputTailSize, p.bsTailSize = p.inputTailSize / h;
  if (typeSize == 2) p.betaTempTensorPos = h, p.inputDyTmpTensorPos = 2 * h, p.resForGammaTmpTensorPos = 2 * h + one;
  give(p, out);
}
inline void GetWelfordUpdateMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSizeT, const uint32_t,
                                          const bool isReuseSource, const bool, uint32_t &maxValue,
                                          uint32_t &minValue) {
  using namespace acsim_detail;
  int64_t least = acsim_tmp_welford_update(typeSizeT, isReuseSource), n = int64_t(dim(s, 0)) * dim(s, 1);
  both((n + 63) / 64 * least, least, maxValue, minValue);
}
inline void GetWelfordFinalizeMaxMinTmpSize(const ge::Shape &s, const uint32_t, const bool, uint32_t &maxValue,
                                            uint32_t &minValue) {
  int64_t n = acsim_detail::dim(s, 0), least = acsim_tmp_welford_finalize();
  acsim_detail::both(n <= 64 ? least : (128 + 2 * n) * 4, least, maxValue, minValue);
}
inline void GetGroupNormMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool isReuseSource,
                                      const uint32_t groupNum, uint32_t &maxValue, uint32_t &minValue) {
  using namespace acsim_detail;
  int64_t n = dim(s, 0), c = dim(s, 1), hw = acsim_up(int64_t(dim(s, 2)) * dim(s, 3), 32 / typeSize);
  int64_t least = acsim_tmp_groupnorm(n, c, hw, groupNum, typeSize, isReuseSource);
  int64_t buffers = isReuseSource && typeSize == 4 ? 2 : 3;
  both(least + buffers * (n * c - c / groupNum) * hw * 4, least, maxValue, minValue);
}
template <typename T>
void GetGroupNormNDTilingInfo(const ge::Shape &s, const uint32_t stackBufferSize, const uint32_t typeSize,
                              const bool isReuseSource, const uint32_t groupNum, T &out) {
  using namespace acsim_detail;
  tiling::GroupNormTiling p;
  p.n = dim(s, 0), p.c = dim(s, 1), p.hw = dim(s, 2) * dim(s, 3), p.g = groupNum;
  if (!groupNum || p.c % groupNum) return;
  p.d = p.c / groupNum, p.hwAlignSize = up(p.hw, 32 / typeSize), p.dhwAlignSize = p.d * p.hwAlignSize;
  p.inputXSize = p.n * p.c * p.hwAlignSize, p.meanVarSize = p.n * p.g;
  uint32_t stats = up(p.meanVarSize, 8), before = typeSize == 4 ? 0 : 2 * stats, group = p.dhwAlignSize;
  p.numberOfTmpBuf = isReuseSource && typeSize == 4 ? 2 : 3;
  p.tmpBufSize = stackBufferSize / 32 * 8;
  uint32_t groups = p.tmpBufSize > before ? (p.tmpBufSize - before) / p.numberOfTmpBuf / group : 0, k = 8;
  while (group / 8 % k) k--;
  p.smallShape = p.hwAlignSize <= 64 && group <= 64 * k;
  if (p.smallShape) {
    uint32_t mask = group > 64 ? 64 : group;
    while (mask && group % mask) mask -= 8;
    if (mask) groups = least_of(groups, 255 / (group / mask) / 8 * 8);
  }
  groups = least_of(groups, p.meanVarSize);
  uint32_t one = groups * group;
  if (!one || (typeSize == 2 && one < p.c)) return;
  p.oneTmpSize = p.inputRoundSize = p.bshCurLength = one, p.bsCurLength = groups;
  p.meanTmpTensorSize = p.varianceTmpTensorPos = p.varianceTmpTensorSize = stats;
  p.firstTmpStartPos = before, p.secondTmpStartPos = before + one, p.thirdTmpStartPos = before + 2 * one;
  p.loopRound = p.inputXSize / one, p.inputTailSize = p.inputXSize % one;
  p.inputTailPos = p.inputXSize - p.inputTailSize;
  p.meanVarRoundSize = one / group, p.meanVarTailSize = p.inputTailSize / group;
  p.meanVarTailPos = p.meanVarSize - p.meanVarTailSize;
  p.factor = 1.0f / static_cast<float>(p.d * p.hw);
  give(p, out);
}
inline bool GetBatchNormMaxMinTmpSize(const ge::Shape &s, const ge::Shape &originSrcShape, const uint32_t typeSize,
                                      const bool, uint32_t &maxValue, uint32_t &minValue,
                                      const bool isBasicBlock = false) {
  using namespace acsim_detail;
  int64_t b = dim(originSrcShape, 0), sh = int64_t(dim(s, 1)) * dim(s, 2);
  if (isBasicBlock && (sh % 64 || b % 8)) return false;
  both(3 * acsim_up(b * sh * 4, 32) + 2 * acsim_up(sh * 4, 32), acsim_tmp_batchnorm(b, sh, typeSize, isBasicBlock),
       maxValue, minValue);
  return true;
}
template <typename T>
bool GetBatchNormNDTilingInfo(const ge::Shape &s, const ge::Shape &originSrcShape, const uint32_t stackBufferByteSize,
                              const uint32_t typeSize, const bool isReuseSource, T &out,
                              const bool isBasicBlock = false) {
  using namespace acsim_detail;
  uint32_t most, least, b = dim(originSrcShape, 0), sh = dim(s, 1) * dim(s, 2), all = b * sh;
  if (s.GetDimNum() != 3 || originSrcShape.GetDimNum() != 3 || sh * typeSize % 32 ||
      !GetBatchNormMaxMinTmpSize(s, originSrcShape, typeSize, isReuseSource, most, least, isBasicBlock) ||
      stackBufferByteSize < least)
    return false;
  tiling::BatchNormTiling p;
  uint32_t stats = up(sh, 8), before = typeSize == 4 ? 0 : 2 * stats, step = b * (typeSize == 4 ? 8 : 16);
  uint32_t floats = stackBufferByteSize / 4, one = floats > before ? (floats - before) / 3 / step * step : 0;
  one = least_of(one, all);
  if (isBasicBlock) one = one / b / 64 * 64 * b;
  if (!one) return false;
  p.originalBLength = b, p.meanVarSize = sh, p.varianceTmpTensorPos = stats, p.tmpBufSize = floats;
  p.oneTmpSize = p.bshCurLength = one, p.shCurLength = one / b;
  p.firstTmpStartPos = before, p.secondTmpStartPos = before + one, p.thirdTmpStartPos = before + 2 * one;
  p.loopRound = all / one, p.inputTailSize = all % one, p.inputTailPos = (all - all % one) / b;
  p.meanVarTailSize = p.inputTailSize / b, p.meanVarTailPos = sh - p.meanVarTailSize;
  p.firstDimValueBack = 1.0f / static_cast<float>(b), p.castHalfRepStride = 4;
  p.shCurLengthBlockNum = p.shCurLength / 8, p.castHalfOutRepStride = sh / 16;
  give(p, out);
  return true;
}

/* ---- softmax ---- */

namespace acsim_detail {
inline uint32_t grad_row(uint32_t typeSize, uint32_t k, bool front) {
  uint32_t per = 32 / typeSize;
  return typeSize == 2 ? 2 * per + 3 * k + 64 : (front ? per : 2 * per) + k + 64;
}
/* base: rows at a time; per: elements of a block */
template <typename T> void split_softmax(const ge::Shape &s, uint32_t per, int64_t base, T &out) {
  tiling::SoftMaxTiling p;
  uint32_t m, k, rows_at = static_cast<uint32_t>(base);
  rows(s, m, k);
  p.srcM = p.outMaxM = m, p.srcK = p.splitK = k, p.srcSize = m * k;
  p.outMaxK = p.reduceK = per, p.outMaxSize = m * per;
  p.splitM = p.reduceM = rows_at, p.splitSize = rows_at * k, p.reduceSize = rows_at * per;
  p.rangeM = rows_at ? m / rows_at : 0, p.tailM = rows_at ? m % rows_at : 0;
  p.tailSplitSize = p.tailM * k, p.tailReduceSize = p.tailM * per;
  give(p, out);
}
/* The bytes of a row, and what splits by rows of that size. */
template <typename T> void by_rows(const ge::Shape &s, uint32_t per, uint32_t row, uint32_t bytes, T &out) {
  uint32_t m, k;
  rows(s, m, k);
  split_softmax(s, per, acsim_split_rows(m, k, row, bytes, 0), out);
}
inline uint32_t row_count(const ge::Shape &s) {
  uint32_t m, k;
  rows(s, m, k);
  return m;
}
inline uint32_t row_length(const ge::Shape &s) {
  uint32_t m, k;
  rows(s, m, k);
  return k;
}
inline uint32_t plain_row(const ge::Shape &s, uint32_t es) {
  return 32 / es + row_length(s) + 64;
}
} // namespace acsim_detail
#define ACSIM_SOFTMAX(name)                                                                                       \
  inline uint32_t Get##name##MinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool) {                \
    return acsim_detail::plain_row(s, typeSize) * 4;                                                              \
  }                                                                                                               \
  inline uint32_t Get##name##MaxTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool) {                \
    return acsim_detail::row_count(s) * acsim_detail::plain_row(s, typeSize) * 4;                                 \
  }                                                                                                               \
  template <typename T>                                                                                           \
  void name##TilingFunc(const ge::Shape &s, const uint32_t typeSize, const uint32_t localWorkSpaceSize, T &out) { \
    acsim_detail::by_rows(s, 32 / typeSize, acsim_detail::plain_row(s, typeSize), localWorkSpaceSize, out);       \
  }
ACSIM_SOFTMAX(SoftMax)
ACSIM_SOFTMAX(LogSoftMax)
#undef ACSIM_SOFTMAX
inline uint32_t GetSoftMaxGradMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool isFront,
                                         const bool) {
  return acsim_detail::grad_row(typeSize, acsim_detail::row_length(s), isFront) * 4;
}
inline uint32_t GetSoftMaxGradMaxTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool isFront,
                                         const bool isReuseSource) {
  return acsim_detail::row_count(s) * GetSoftMaxGradMinTmpSize(s, typeSize, isFront, isReuseSource);
}
template <typename T>
void SoftMaxGradTilingFunc(const ge::Shape &s, const uint32_t typeSize, const uint32_t localWorkSpaceSize, T &out,
                           const bool isFront = false) {
  acsim_detail::by_rows(s, 32 / typeSize, GetSoftMaxGradMinTmpSize(s, typeSize, isFront, false) / 4,
                        localWorkSpaceSize, out);
}
inline uint32_t GetSoftMaxFlashMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool isUpdate,
                                          const bool) {
  return static_cast<uint32_t>(acsim_tmp_softmax_flash(acsim_detail::row_length(s), typeSize, isUpdate));
}
inline uint32_t GetSoftMaxFlashMaxTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool isUpdate,
                                          const bool isReuseSource) {
  return acsim_detail::row_count(s) * GetSoftMaxFlashMinTmpSize(s, typeSize, isUpdate, isReuseSource);
}
template <typename T>
void SoftMaxFlashTilingFunc(const ge::Shape &s, const uint32_t typeSize, const uint32_t localWorkSpaceSize, T &out,
                            const bool isUpdate = false) {
  acsim_detail::by_rows(s, 32 / typeSize, GetSoftMaxFlashMinTmpSize(s, typeSize, isUpdate, false) / 4,
                        localWorkSpaceSize, out);
}
inline uint32_t GetSoftMaxFlashV2MinTmpSize(const ge::Shape &s, const uint32_t dataTypeSize1,
                                            const uint32_t dataTypeSize2, const bool, const bool isBasicBlock = false,
                                            const bool isFlashOutputBrc = false) {
  uint32_t k = acsim_detail::row_length(s),
           least = acsim_detail::least_of(32 / dataTypeSize1, acsim_detail::row_count(s));
  int64_t n = acsim_tmp_softmax_flash2(k, dataTypeSize1, dataTypeSize2, isBasicBlock);
  if (isFlashOutputBrc) n = (isBasicBlock && k % 64 == 0 ? n / 8 : n) * least;
  return static_cast<uint32_t>(n);
}
inline uint32_t GetSoftMaxFlashV2MaxTmpSize(const ge::Shape &s, const uint32_t dataTypeSize1,
                                            const uint32_t dataTypeSize2, const bool, const bool isBasicBlock = false,
                                            const bool = false) {
  uint32_t m = acsim_detail::row_count(s), k = acsim_detail::row_length(s);
  bool basic = isBasicBlock && k % 64 == 0 && m % 8 == 0;
  if (basic)
    while (m * k >= 64 * 256) m /= 2;
  int64_t row = acsim_tmp_softmax_flash2(k, dataTypeSize1, dataTypeSize2, basic) / (basic ? 8 : 1);
  return static_cast<uint32_t>(m * row);
}
template <typename T>
void SoftMaxFlashV2TilingFunc(const ge::Shape &s, const uint32_t dataTypeSize1, const uint32_t dataTypeSize2,
                              const uint32_t localWorkSpaceSize, T &out, const bool, const bool isBasicBlock = false,
                              const bool isFlashOutputBrc = false) {
  acsim_detail::split_softmax(s, 32 / dataTypeSize2,
                              acsim_split_flash2(acsim_detail::row_count(s), acsim_detail::row_length(s),
                                                 dataTypeSize1, dataTypeSize2, localWorkSpaceSize, isBasicBlock,
                                                 isFlashOutputBrc),
                              out);
}
inline void GetSoftMaxFlashV3MaxMinTmpSize(const ge::Shape &s, const uint32_t, const uint32_t dataTypeSize2,
                                           uint32_t &maxValue, uint32_t &minValue, const bool, const bool = false) {
  int64_t least = acsim_tmp_softmax_flash3(acsim_detail::row_length(s), dataTypeSize2);
  acsim_detail::both(acsim_detail::row_count(s) * least, least, maxValue, minValue);
}
template <typename T>
void SoftMaxFlashV3TilingFunc(const ge::Shape &s, const uint32_t, const uint32_t dataTypeSize2,
                              const uint32_t localWorkSpaceSize, T &out, const bool, const bool = false) {
  uint32_t m = acsim_detail::row_count(s);
  int64_t row = acsim_tmp_softmax_flash3(acsim_detail::row_length(s), dataTypeSize2);
  int64_t base = acsim_least(localWorkSpaceSize / row, m);
  if (base < m && base > 8) base = base / 8 * 8;
  acsim_detail::split_softmax(s, 32 / dataTypeSize2, base, out);
}
template <typename T> bool acsim_basic_block(uint32_t k, uint32_t tail, T typeSize) {
  return typeSize && tail == 0 && k >= 256 / typeSize && k < 2048 && k % 64 == 0;
}
inline bool IsBasicBlockInSoftMax(optiling::SoftMaxTiling &t, const uint32_t dataTypeSize = 2) {
  return acsim_basic_block(t.get_srcK(), t.get_tailM(), dataTypeSize);
}
inline bool IsBasicBlockInSoftMax(tiling::SoftMaxTiling &t, const uint32_t dataTypeSize = 2) {
  return acsim_basic_block(t.srcK, t.tailM, dataTypeSize);
}

/* ---- sorting ---- */

inline bool GetTopKMaxMinTmpSize(const platform_ascendc::PlatformAscendC &, const int32_t inner, const int32_t outter,
                                 const bool, const bool isInitIndex, enum TopKMode mode, const bool isLargest,
                                 const uint32_t, uint32_t &maxValue, uint32_t &minValue) {
  int64_t n = acsim_tmp_topk(outter, inner, mode == TopKMode::TOPK_NSMALL, isInitIndex, isLargest);
  acsim_detail::both(n, n, maxValue, minValue);
  return true;
}
template <typename T>
bool TopKTilingFunc(const platform_ascendc::PlatformAscendC &platform, const int32_t inner, const int32_t outter,
                    const int32_t k, const uint32_t dataTypeSize, const bool isInitIndex, enum TopKMode mode,
                    const bool isLargest, T &out) {
  tiling::TopkTiling p;
  uint32_t most, least;
  if (!dataTypeSize) return false;
  GetTopKMaxMinTmpSize(platform, inner, outter, false, isInitIndex, mode, isLargest, dataTypeSize, most, least);
  bool small = mode == TopKMode::TOPK_NSMALL;
  int32_t es = static_cast<int32_t>(dataTypeSize), four = (k + 7) / 8 * 8, two = (k + 15) / 16 * 16;
  p.allDataSize = inner * outter;
  p.tmpLocalSize = static_cast<int32_t>(least) / es;
  p.innerDataSize = (small ? inner * outter : inner) * (8 / es);
  p.kAlignFourBytes = four;
  if (!small) {
    p.kAlignTwoBytes = two;
    p.sortRepeat = static_cast<uint32_t>(inner / 32), p.mrgSortRepeat = inner / 4;
    p.copyUbToUbBlockCount = static_cast<uint32_t>(inner * 8 / 32);
    p.maskVreducev2FourBytes = 2 * k, p.maskVreducev2TwoBytes = 4 * k;
    p.mrgSortSrc1offset = p.mrgSortTwoQueueSrc1Offset = 8 / es;
    p.mrgSortSrc2offset = 16 / es, p.mrgSortSrc3offset = 24 / es;
    p.mrgFourQueueTailPara1 = 2 * inner, p.mrgFourQueueTailPara2 = 4 / es;
    if (!isInitIndex) p.srcIndexOffset = 16 * inner / es;
  }
  p.maskOffset = outter * (small ? k : es == 2 ? two : four);
  acsim_detail::give(p, out);
  return true;
}
inline uint32_t GetConcatTmpSize(const platform_ascendc::PlatformAscendC &platform, const uint32_t elemCount,
                                 const uint32_t dataTypeSize) {
  return platform.GetCurNpuArch() == NpuArch::DAV_2201 ? 0 : elemCount * 8 * dataTypeSize;
}
inline uint32_t GetSortTmpSize(const platform_ascendc::PlatformAscendC &platform, const uint32_t elemCount,
                               const uint32_t dataTypeSize) {
  return elemCount * 8 * (platform.GetCurNpuArch() == NpuArch::DAV_2201 ? 1 : dataTypeSize);
}

/* ---- quantisation ---- */

inline void GetAscendQuantMaxMinTmpSize(const ge::Shape &s, const uint32_t, uint32_t &maxValue, uint32_t &minValue) {
  int64_t least = acsim_tmp_quant();
  acsim_detail::both(acsim_up(acsim_most(acsim_detail::dims(s) * 2ll, least), 32), least, maxValue, minValue);
}
inline void GetAscendDequantMaxMinTmpSize(const ge::Shape &s, const uint32_t, uint32_t &maxValue,
                                          uint32_t &minValue) {
  bool two = s.GetDimNum() == 2;
  int64_t n = acsim_detail::dim(s, two ? 1 : 0), m = two ? acsim_detail::dim(s, 0) : 1;
  acsim_detail::both((64 + m * n + n + 8) * 4, acsim_tmp_dequant(n), maxValue, minValue);
}
inline uint32_t GetAscendAntiQuantMinTmpSize(const ge::Shape &s, const ge::Shape &scaleShape, bool isTranspose,
                                             ge::DataType, ge::DataType outputDataType) {
  return static_cast<uint32_t>(acsim_tmp_antiquant(acsim_detail::dim(s, 0), scaleShape.GetShapeSize(), isTranspose,
                                                   outputDataType == ge::DT_FLOAT16));
}
inline uint32_t GetAscendAntiQuantMaxTmpSize(const ge::Shape &s, const ge::Shape &scaleShape, bool isTranspose,
                                             ge::DataType inputDataType, ge::DataType outputDataType) {
  if (outputDataType != ge::DT_FLOAT16 && scaleShape.GetShapeSize() == 1) return acsim_detail::dims(s) * 4;
  return GetAscendAntiQuantMinTmpSize(s, scaleShape, isTranspose, inputDataType, outputDataType);
}
inline void GetAscendAntiQuantMaxMinTmpSize(const ge::Shape &s, const ge::Shape &scaleShape, bool isTranspose,
                                            ge::DataType inputDataType, ge::DataType outputDataType,
                                            uint32_t &maxValue, uint32_t &minValue) {
  maxValue = GetAscendAntiQuantMaxTmpSize(s, scaleShape, isTranspose, inputDataType, outputDataType);
  minValue = GetAscendAntiQuantMinTmpSize(s, scaleShape, isTranspose, inputDataType, outputDataType);
}

/* ---- the rest ---- */

inline void GetCumSumMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool isLastAxis, const bool,
                                   uint32_t &maxValue, uint32_t &minValue) {
  int64_t outer = acsim_detail::dim(s, 0), inner = acsim_detail::dim(s, 1);
  int64_t least = acsim_tmp_cumsum(outer, inner, typeSize, isLastAxis);
  acsim_detail::both(isLastAxis ? least * ((outer + 15) / 16) : least, least, maxValue, minValue);
}
inline void GetPadMaxMinTmpSize(const ge::Shape &s, const uint32_t, uint32_t &maxValue, uint32_t &minValue) {
  int64_t n = acsim_up(acsim_detail::dims(s), 16);
  acsim_detail::both(n * 64, acsim_tmp_pad(), maxValue, minValue);
}
inline void GetUnPadMaxMinTmpSize(const platform_ascendc::PlatformAscendC &platform, const ge::Shape &s,
                                  const uint32_t typeSize, uint32_t &maxValue, uint32_t &minValue) {
  GetPadMaxMinTmpSize(s, typeSize, maxValue, minValue);
  if (platform.GetCurNpuArch() == NpuArch::DAV_2201) maxValue = minValue = 0;
}
namespace acsim_detail {
template <typename P> void split_width(P &p, uint32_t bytes, uint32_t es) {
  p.tmpBuffer1BlockNum = bytes / es / (512 / es) / 2;
  p.tmpBuffer2Offset = p.tmpBuffer1BlockNum * (512 / es);
  p.tmpBuffer1RowNum = p.widthTiling = 16 * p.tmpBuffer1BlockNum;
  if (!p.widthTiling) return;
  p.widthFractal = p.srcWidth / p.widthTiling, p.widthFractalTail = p.srcWidth % p.widthTiling;
}
} // namespace acsim_detail
template <typename T>
void PadTilingFunc(const ge::Shape s, const ge::Shape oriSrcShape, const uint32_t stackBufferSize,
                   const uint32_t typeSize, T &out) {
  using namespace acsim_detail;
  tiling::PadTiling p;
  p.srcHeight = dim(s, 0), p.srcWidth = dim(s, 1), p.srcOriWidth = dim(oriSrcShape, 1);
  p.widthWithoutLastBlock = p.srcWidth - 32 / typeSize, p.blocksPerRow = p.srcWidth * typeSize / 32;
  p.heightTiling = 255, p.heightFractal = p.srcHeight / 255, p.heightFractalTail = p.srcHeight % 255;
  p.mainLoopOffset = 255 * p.srcWidth;
  p.tailBlockOffset = p.heightFractal * 255 * p.srcWidth + p.widthWithoutLastBlock;
  split_width(p, stackBufferSize, typeSize);
  if (p.widthTiling) {
    uint32_t all = p.srcHeight * p.srcWidth;
    p.widthFractalTailAlingned = up(p.widthFractalTail, 32 / typeSize);
    p.brcbTiling = p.widthTiling, p.brcbFractal = all / p.brcbTiling, p.brcbFractalTail = all % p.brcbTiling;
    p.maxRepeatTimes = 254;
    p.brcbTilingRepeatTimes = p.brcbTiling / 8 / 254, p.brcbTilingRepeatTimesTail = p.brcbTiling / 8 % 254;
    p.brcbFractalTailRepeatTimes = p.brcbFractalTail / 8 / 254;
    p.brcbFractalTailRepeatTimesTail = p.brcbFractalTail / 8 % 254;
  }
  give(p, out);
}
template <typename T>
void UnPadTilingFunc(const ge::Shape s, const uint32_t stackBufferSize, const uint32_t typeSize, T &out) {
  using namespace acsim_detail;
  tiling::UnPadTiling p;
  p.srcHeight = dim(s, 0), p.srcWidth = dim(s, 1);
  split_width(p, stackBufferSize, typeSize);
  if (p.widthTiling && p.widthFractalTail)
    p.widthFractal++;
  else
    p.widthFractalTail = p.widthTiling;
  give(p, out);
}
inline uint32_t GetDropOutMinTmpSize(const ge::Shape &, const uint32_t, const bool) {
  return static_cast<uint32_t>(acsim_tmp_dropout());
}
inline uint32_t GetDropOutMaxTmpSize(const ge::Shape &s, const uint32_t, const bool) {
  uint32_t n = 8 * acsim_detail::dims(s), least = static_cast<uint32_t>(acsim_tmp_dropout());
  return n > least ? n : least;
}
inline void GetDropOutMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool isReuseSource,
                                    uint32_t &maxValue, uint32_t &minValue) {
  maxValue = GetDropOutMaxTmpSize(s, typeSize, isReuseSource);
  minValue = GetDropOutMinTmpSize(s, typeSize, isReuseSource);
}
#define ACSIM_REDUCE(name, kind)                                                                                     \
  inline void GetReduce##name##MaxMinTmpSize(const ge::Shape &s, const ge::DataType dataType, ReducePattern pattern, \
                                             bool, bool isReuseSource, uint32_t &maxValue, uint32_t &minValue) {     \
    int64_t es = dataType == ge::DT_FLOAT || dataType == ge::DT_INT32 ? 4 : dataType == ge::DT_FLOAT16 ? 2 : 1;      \
    int64_t n = acsim_tmp_reduce(kind, acsim_detail::dim(s, 0), acsim_detail::dim(s, 1), es,                         \
                                 pattern == ReducePattern::AR, isReuseSource);                                       \
    acsim_detail::both(n, n, maxValue, minValue);                                                                    \
  }
ACSIM_REDUCE(Sum, ACSIM_REDUCE_ADD)
ACSIM_REDUCE(Mean, ACSIM_REDUCE_ADD)
ACSIM_REDUCE(Max, ACSIM_REDUCE_PICK)
ACSIM_REDUCE(Min, ACSIM_REDUCE_PICK)
ACSIM_REDUCE(Prod, ACSIM_REDUCE_MULTIPLY)
ACSIM_REDUCE(Any, ACSIM_REDUCE_LOGIC)
ACSIM_REDUCE(All, ACSIM_REDUCE_LOGIC)
#undef ACSIM_REDUCE
inline void GetReduceXorSumMaxMinTmpSize(const ge::Shape &s, const uint32_t, const bool isReuseSource,
                                         uint32_t &maxValue, uint32_t &minValue) {
  int64_t n = acsim_tmp_reduce_xor(acsim_detail::dims(s), isReuseSource);
  acsim_detail::both(n, n, maxValue, minValue);
}
inline bool GetTransDataMaxMinTmpSize(const platform_ascendc::PlatformAscendC &, const ge::Shape &srcShape,
                                      const ge::Shape &dstShape, const ge::DataType dataType,
                                      const TransDataConfig &config, uint32_t &maxValue, uint32_t &minValue) {
  using namespace acsim_detail;
  bool back = config.dstFormat == DataFormat::NCDHW;
  const ge::Shape &p = back ? dstShape : srcShape, &q = back ? srcShape : dstShape;
  DataFormat other = back ? config.srcFormat : config.dstFormat;
  bool fractal = other == DataFormat::FRACTAL_Z_3D;
  uint32_t n = dim(p, 0), c = dim(p, 1), d = dim(p, 2), h = dim(p, 3), w = dim(p, 4), c1 = (c + 15) / 16;
  bool two =
      dataType == ge::DT_FLOAT16 || dataType == ge::DT_BF16 || dataType == ge::DT_UINT16 || dataType == ge::DT_INT16;
  if (!two || (!back && config.srcFormat != DataFormat::NCDHW) || (!fractal && other != DataFormat::NDC1HWC0) ||
      p.GetDimNum() != 5 || q.GetDimNum() != (fractal ? 7u : 6u))
    return false;
  bool fits = fractal ? dim(q, 0) == d && dim(q, 1) == c1 && dim(q, 2) == h && dim(q, 3) == w &&
                            dim(q, 4) == (n + 15) / 16 && dim(q, 5) == 16 && dim(q, 6) == 16
                      : dim(q, 0) == n && dim(q, 1) == d && dim(q, 2) == c1 && dim(q, 3) == h && dim(q, 4) == w &&
                            dim(q, 5) == 16;
  if (!fits) return false;
  int64_t bytes = acsim_tmp_transdata((fractal ? 2 : 0) + back, n, c, d, int64_t(h) * w);
  both(bytes, bytes, maxValue, minValue);
  return true;
}

/* transposeTypeIn: 1, 2 the 0213 forms; 3 to 6 the 012 forms; 7 of a plain matrix. Shapes: 0213 [B, N, S, H / N]; 012 [B, N, S, H / N];
 * plain [S, H / N]. What the fields mean is the simulator's own. */
inline void GetTransposeMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const uint32_t transposeTypeIn,
                                      uint32_t &maxValue, uint32_t &minValue) {
  maxValue = minValue = 0;
  if (transposeTypeIn == 1 || transposeTypeIn == 2) {
    maxValue = acsim_detail::up(acsim_detail::dim(s, 2), 16) * 16 * typeSize;
    minValue = 256 * typeSize;
  } else if (transposeTypeIn >= 3 && transposeTypeIn <= 6) {
    maxValue = minValue = 512 * typeSize;
  }
}
inline void GetConfusionTransposeMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize,
                                               const uint32_t transposeTypeIn, uint32_t &maxValue,
                                               uint32_t &minValue) {
  GetTransposeMaxMinTmpSize(s, typeSize, transposeTypeIn, maxValue, minValue);
}
template <typename T>
void GetTransposeTilingInfo(const ge::Shape &s, const uint32_t, const uint32_t, const uint32_t transposeTypeIn,
                            T &out) {
  using namespace acsim_detail;
  tiling::ConfusionTransposeTiling p;
  bool plain = transposeTypeIn == 7;
  p.param0 = plain ? 1 : dim(s, 0), p.param1 = plain ? 1 : dim(s, 1);
  p.param2 = dim(s, plain ? 0 : 2), p.param3 = dim(s, plain ? 1 : 3);
  give(p, out);
}
template <typename T>
void GetConfusionTransposeTilingInfo(const ge::Shape &s, const uint32_t stackBufferSize, const uint32_t typeSize,
                                     const uint32_t transposeTypeIn, T &out) {
  GetTransposeTilingInfo(s, stackBufferSize, typeSize, transposeTypeIn, out);
}
template <typename T>
void GetConfusionTransposeOnlyTilingInfo(const ge::Shape &s, const uint32_t stackBufferSize, const uint32_t typeSize,
                                         T &out) {
  GetTransposeTilingInfo(s, stackBufferSize, typeSize, 7, out);
}
} // namespace AscendC
#endif

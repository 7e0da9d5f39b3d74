/* Host side, part 7: sizes of temporary memory and tiling data of the high-level library. Facts: asc-devkit
 * impl/adv_api/tiling, arch 2201 (the table in library_table.h has the numbers of the element-wise functions). */
#ifndef ACSIM_HOST_LIBRARY_H
#define ACSIM_HOST_LIBRARY_H

#include "acsim/host_context.h"
#include "acsim/library_table.h"
#include "acsim/library_tilings.h"

namespace ge {
/* A shape of any rank, as graph/tensor.h has it. */
class Shape {
public:
  Shape() = default;
#ifdef ACSIM_HOST_STL
  explicit Shape(const std::vector<int64_t> &dims) {
    d_.assign(dims);
  }
  std::vector<int64_t> GetDims() const {
    return std::vector<int64_t>(d_.data(), d_.data() + d_.size());
  }
#else
  explicit Shape(std::initializer_list<int64_t> dims) {
    d_.assign(dims);
  }
#endif
  size_t GetDimNum() const {
    return d_.size();
  }
  int64_t GetDim(size_t i) const {
    return i < d_.size() ? d_[i] : 0;
  }
  bool SetDim(size_t i, int64_t v) {
    return i < d_.size() ? (d_[i] = v, true) : false;
  }
  int64_t GetShapeSize() const {
    int64_t n = d_.size() ? 1 : 0;
    for (size_t i = 0; i < d_.size(); i++) n *= d_[i];
    return n;
  }

private:
  acsim_host::list<int64_t> d_;
};
} // namespace ge

namespace optiling {
#define X(name)               \
  BEGIN_TILING_DATA_DEF(name) \
  ACSIM_FIELDS_##name(TILING_DATA_FIELD_DEF) END_TILING_DATA_DEF
ACSIM_LIBRARY_TILINGS(X)
#undef X
using LogSoftMaxTiling = SoftMaxTiling;
} // namespace optiling

namespace AscendC {
using TensorShape = ge::Shape;
using TensorDataType = ge::DataType;

namespace acsim_detail {
inline void sizes(int64_t n, uint32_t typeSize, bool reuse, uint32_t half, uint32_t single, uint32_t reused,
                  uint32_t &maxValue, uint32_t &minValue) {
  uint32_t f = typeSize == 4 ? (reuse ? reused : single) : half;
  minValue = f * 256;
  uint32_t all = static_cast<uint32_t>(n) * f * typeSize;
  maxValue = all > minValue ? all : minValue;
}
inline uint32_t up(uint32_t n, uint32_t to) {
  return (n + to - 1) / to * to;
}
/* Rows and row length. */
inline void rows(const ge::Shape &s, uint32_t &m, uint32_t &k) {
  k = s.GetDimNum() ? static_cast<uint32_t>(s.GetDim(s.GetDimNum() - 1)) : 1;
  m = k ? static_cast<uint32_t>(s.GetShapeSize()) / k : 0;
}
} // namespace acsim_detail

#define X(name, half, single, reuse)                                                                                 \
  inline void Get##name##MaxMinTmpSize(const ge::Shape &srcShape, const uint32_t typeSize, const bool isReuseSource, \
                                       uint32_t &maxValue, uint32_t &minValue) {                                     \
    acsim_detail::sizes(srcShape.GetShapeSize(), typeSize, isReuseSource, half, single, reuse, maxValue, minValue);  \
  }                                                                                                                  \
  inline void Get##name##TmpBufferFactorSize(const uint32_t typeSize, uint32_t &maxLiveNodeCount,                    \
                                             uint32_t &extraBuf) {                                                   \
    maxLiveNodeCount = typeSize == 4 ? single : half;                                                                \
    extraBuf = 0;                                                                                                    \
  }
ACSIM_LIBRARY_UNARY(X)
#undef X
/* Gelu's take no isReuseSource. */
inline void GetGeluMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, uint32_t &maxValue,
                                 uint32_t &minValue) {
  (void)typeSize;
  acsim_detail::sizes(s.GetShapeSize(), 4, false, 3, 3, 3, maxValue, minValue);
}
inline void GetPowerMaxMinTmpSize(const ge::Shape &a, const ge::Shape &b, const bool typeIsInt,
                                  const uint32_t typeSize, const bool, uint32_t &maxValue, uint32_t &minValue) {
  bool one_a = a.GetDimNum() == 1 && a.GetDim(0) == 1, one_b = b.GetDimNum() == 1 && b.GetDim(0) == 1;
  bool tensors = !one_a && !one_b;
  uint32_t n = static_cast<uint32_t>((one_a ? b : a).GetShapeSize());
  uint32_t f = typeIsInt ? (tensors ? 6 : 7) : typeSize == 4 ? (tensors ? 4 : 5) : 14;
  uint32_t least = typeIsInt || typeSize == 4 ? 256 : 128, extra = typeIsInt ? 0 : 256;
  minValue = least * f + extra;
  maxValue = (n * typeSize > least ? n * typeSize : least) * f + extra;
}
inline void GetSumMaxMinTmpSize(const uint32_t n, const uint32_t typeSize, const bool, uint32_t &maxSize,
                                uint32_t &minSize) {
  uint32_t repeats = (n + 256 / typeSize - 1) / (256 / typeSize);
  maxSize = minSize = acsim_detail::up(repeats, 32 / typeSize) * typeSize;
}
inline void GetMeanMaxMinTmpSize(const uint32_t n, const uint32_t srcTypeSize, const uint32_t accTypeSize, const bool,
                                 uint32_t &maxSize, uint32_t &minSize) {
  uint32_t lanes = 256 / (srcTypeSize == 2 && accTypeSize == 4 ? 4 : srcTypeSize);
  minSize = acsim_detail::up((n + lanes - 1) / lanes, 32);
  if (srcTypeSize == 2 && accTypeSize == 4) minSize += acsim_detail::up(n * 2, 32) / 2 * 4;
  maxSize = minSize;
}
#define X(name, half, single, reuse)                                                               \
  inline void acsim_get_##name(const ge::Shape &s, uint32_t typeSize, bool reused, uint32_t &most, \
                               uint32_t &least) {                                                  \
    acsim_detail::sizes(s.GetShapeSize(), typeSize, reused, half, single, reuse, most, least);     \
  }
ACSIM_LIBRARY_OTHER(X)
#undef X
#define ACSIM_LIKE(name, row)                                                                                        \
  inline void Get##name##MaxMinTmpSize(const ge::Shape &srcShape, const uint32_t typeSize, const bool isReuseSource, \
                                       uint32_t &maxValue, uint32_t &minValue) {                                     \
    acsim_get_##row(srcShape, typeSize, isReuseSource, maxValue, minValue);                                          \
  }
ACSIM_LIKE(Xor, Xor)
ACSIM_LIKE(Fmod, Fmod)
ACSIM_LIKE(Axpy, LibAxpy)
ACSIM_LIKE(GeGLU, GeGLU)
#undef ACSIM_LIKE
inline void GetReGluMaxMinTmpSize(const ge::Shape &srcShape, const uint32_t typeSize, const bool, uint32_t &maxValue,
                                  uint32_t &minValue) {
  acsim_get_ReGlu(srcShape, typeSize, false, maxValue, minValue);
  if (typeSize == 4) maxValue = minValue;
}
inline void GetSwiGLUMaxMinTmpSize(const ge::Shape &srcShape, const uint32_t typeSize, uint32_t &maxValue,
                                   uint32_t &minValue, const bool) {
  acsim_get_SwiGLU(srcShape, typeSize, false, maxValue, minValue);
}
/* counted in bytes of the mask that it compares into */
inline void GetClampMaxMinTmpSize(const ge::Shape &srcShape, const uint32_t typeSize, const bool, uint32_t &maxValue,
                                  uint32_t &minValue) {
  uint32_t n = static_cast<uint32_t>(srcShape.GetShapeSize());
  minValue = typeSize == 4 ? 64 : 128;
  maxValue = n > minValue ? n : minValue;
}
inline void GetExpMaxMinTmpSize(const ge::Shape &srcShape, const uint32_t typeSize, const bool isReuseSource,
                                uint32_t &maxValue, uint32_t &minValue) {
  uint32_t n = static_cast<uint32_t>(srcShape.GetShapeSize()) * 4, f = typeSize != 4 ? 4 : isReuseSource ? 2 : 3;
  minValue = f * 256;
  maxValue = f * (n > 256 ? n : 256);
}
#define ACSIM_NOTHING(name)                                                                         \
  inline void Get##name##TmpSize(const ge::Shape &, const uint32_t, const bool, uint32_t &maxValue, \
                                 uint32_t &minValue) {                                              \
    maxValue = minValue = 0;                                                                        \
  }
ACSIM_NOTHING(Swish)
ACSIM_NOTHING(Silu)
#undef ACSIM_NOTHING
inline void GetArithProgressionMaxMinTmpSize(uint32_t &maxValue, uint32_t &minValue) {
  maxValue = minValue = 0;
}
inline void GetArangeMaxMinTmpSize(uint32_t &maxValue, uint32_t &minValue) {
  maxValue = minValue = 0;
}
} // namespace AscendC

#include "acsim/host_rows.h"
#endif

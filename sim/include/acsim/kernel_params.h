/* Kernel side, part 1b: parameter structs of the less common instructions and of the high-level library. Members and their order
 * as CANN 8.1's kernel_struct_*.h and the *_utils.h of its library give them: kernels fill them positionally. */
#ifndef ACSIM_KERNEL_PARAMS_H
#define ACSIM_KERNEL_PARAMS_H

#include "acsim/kernel_tensor.h"
#include "acsim/library_tilings.h"

namespace AscendC {
struct MrgSort4Info {
  MrgSort4Info() {}
  MrgSort4Info(const uint16_t lengths[4], const bool suspend, const uint16_t valid, const uint16_t repeat)
      : ifExhaustedSuspension(suspend), validBit(valid), repeatTimes(static_cast<uint8_t>(repeat)) {
    for (int i = 0; i < 4; i++) elementLengths[i] = lengths[i];
  }
  uint16_t elementLengths[4] = {0, 0, 0, 0};
  bool ifExhaustedSuspension = false;
  uint16_t validBit = 0;
  uint8_t repeatTimes = 1;
};
template <typename T> struct MrgSortSrcList {
  MrgSortSrcList() {}
  MrgSortSrcList(const LocalTensor<T> &a, const LocalTensor<T> &b, const LocalTensor<T> &c, const LocalTensor<T> &d)
      : src1(a), src2(b), src3(c), src4(d) {}
  LocalTensor<T> src1, src2, src3, src4;
};
struct GatherRepeatParams {
  GatherRepeatParams() {}
  GatherRepeatParams(const uint8_t dstBlk, const uint8_t dstRep) : dstRepStride(dstRep), dstBlkStride(dstBlk) {}
  uint32_t blockNumber = 8;
  uint16_t dstRepStride = 8;
  uint8_t dstBlkStride = 1;
};
enum class GatherMaskMode : uint8_t { VERSION_V1 = 0, VERSION_V2 = 1 };
constexpr GatherMaskMode defaultGatherMaskMode = GatherMaskMode::VERSION_V2;

constexpr int32_t NCHW_CONV_ADDR_LIST_SIZE = 16;
struct TransDataTo5HDParams {
  TransDataTo5HDParams() {}
  TransDataTo5HDParams(const bool dstHigh, const bool srcHigh, const uint8_t repeat, const uint16_t dstRep,
                       const uint16_t srcRep)
      : dstHighHalf(dstHigh), srcHighHalf(srcHigh), repeatTimes(repeat), dstRepStride(dstRep), srcRepStride(srcRep) {}
  bool dstHighHalf = false, srcHighHalf = false;
  uint8_t repeatTimes = 1;
  uint16_t dstRepStride = 0, srcRepStride = 0;
};
enum class TransposeType : uint8_t {
  TRANSPOSE_TYPE_NONE,
  TRANSPOSE_NZ2ND_0213,
  TRANSPOSE_NZ2NZ_0213,
  TRANSPOSE_NZ2NZ_012_WITH_N,
  TRANSPOSE_NZ2ND_012_WITH_N,
  TRANSPOSE_NZ2ND_012_WITHOUT_N,
  TRANSPOSE_NZ2NZ_012_WITHOUT_N,
  TRANSPOSE_ND2ND_ONLY,
  TRANSPOSE_ND_UB_GM,
  TRANSPOSE_GRAD_ND_UB_GM,
  TRANSPOSE_ND2ND_B16,
  TRANSPOSE_NCHW2NHWC,
  TRANSPOSE_NHWC2NCHW
};
struct TransposeParamsExt {
  TransposeParamsExt() {}
  TransposeParamsExt(const uint16_t n, const uint16_t c, const uint16_t h, const uint16_t w, const TransposeType type)
      : nSize(n), cSize(c), hSize(h), wSize(w), transposeType(type) {}
  uint16_t nSize = 0, cSize = 0, hSize = 0, wSize = 0;
  TransposeType transposeType = TransposeType::TRANSPOSE_ND2ND_B16;
};
struct Nd2NzParams {
  Nd2NzParams() {}
  Nd2NzParams(const uint16_t nd, const uint16_t n, const uint16_t d, const uint16_t srcMatrix, const uint16_t srcD,
              const uint16_t dstC0, const uint16_t dstN, const uint16_t dstMatrix)
      : ndNum(nd), nValue(n), dValue(d), srcNdMatrixStride(srcMatrix), srcDValue(srcD), dstNzC0Stride(dstC0),
        dstNzNStride(dstN), dstNzMatrixStride(dstMatrix) {}
  uint16_t ndNum = 0, nValue = 0, dValue = 0, srcNdMatrixStride = 0, srcDValue = 0, dstNzC0Stride = 0,
           dstNzNStride = 0, dstNzMatrixStride = 0;
};
struct Nz2NdParamsFull {
  Nz2NdParamsFull() {}
  Nz2NdParamsFull(const uint16_t nd, const uint16_t n, const uint16_t d, const uint16_t srcMatrix,
                  const uint16_t srcN, const uint16_t dstD, const uint16_t dstMatrix)
      : ndNum(nd), nValue(n), dValue(d), srcNdMatrixStride(srcMatrix), srcNStride(srcN), dstDStride(dstD),
        dstNdMatrixStride(dstMatrix) {}
  uint16_t ndNum = 1, nValue = 0, dValue = 0, srcNdMatrixStride = 1, srcNStride = 0, dstDStride = 0,
           dstNdMatrixStride = 1;
};

/* ---- the library ---- */

struct SumParams {
  uint32_t outter = 1, inner = 1, n = 1;
};
struct MeanParams {
  uint32_t outter = 1, inner = 1, n = 1;
};
struct SoftMaxShapeInfo {
  uint32_t srcM = 0, srcK = 0, oriSrcM = 0, oriSrcK = 0;
};
using LastAxisShapeND = SoftMaxShapeInfo;
struct SelectWithBytesMaskShapeInfo {
  SelectWithBytesMaskShapeInfo() {}
  SelectWithBytesMaskShapeInfo(const uint32_t first, const uint32_t src, const uint32_t mask)
      : firstAxis(first), srcLastAxis(src), maskLastAxis(mask) {}
  uint32_t firstAxis = 0, srcLastAxis = 0, maskLastAxis = 0;
};
enum class SoftmaxMode { SOFTMAX_NORMAL = 0, SOFTMAX_OUTPUT_WITHOUT_BRC = 1 };
struct SoftmaxConfig {
  bool isCheckTiling = true;
  uint32_t oriSrcM = 0, oriSrcK = 0;
  SoftmaxMode mode = SoftmaxMode::SOFTMAX_NORMAL;
};
constexpr SoftmaxConfig SOFTMAX_DEFAULT_CFG = {true, 0, 0, SoftmaxMode::SOFTMAX_NORMAL};
} // namespace AscendC

/* The library's own tiling data: plain numbers that its host functions fill. (kernel_tiling.h, 8.1) */
ACSIM_LIBRARY_STRUCTS
#endif

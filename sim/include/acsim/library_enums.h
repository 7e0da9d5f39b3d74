/* Enumerations and configurations of the high-level library that its kernel side and its host side share. C++ only. */
#ifndef ACSIM_LIBRARY_ENUMS_H
#define ACSIM_LIBRARY_ENUMS_H

#include <stdint.h>

namespace AscendC {
enum class DataFormat : uint8_t { ND, NZ, NCHW, NC1HWC0, NHWC, NCDHW, NDC1HWC0, FRACTAL_Z_3D };
struct TransDataConfig {
  DataFormat srcFormat, dstFormat;
};
enum class TopKMode { TOPK_NORMAL, TOPK_NSMALL };
enum class ReducePattern : uint32_t {
  AR = 0,
  RA = 1,
  R,
  ARA,
  ARAR,
  ARARA,
  ARARAR,
  ARARARA,
  ARARARAR,
  ARARARARA,
  RAR,
  RARA
};
} // namespace AscendC
#endif

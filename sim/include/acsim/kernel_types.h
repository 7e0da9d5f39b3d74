/* Kernel side, part 1: qualifiers, half and bfloat16_t, enumerations, parameter structs. Names and values as AscendC's
 * documentation and headers give them; nothing of the C++ library. */
#ifndef ACSIM_KERNEL_TYPES_H
#define ACSIM_KERNEL_TYPES_H

#include "acsim/kernel_abi.h"
#include "acsim/library_enums.h"

/* Set by whoever compiles a source that says std::. CANN's own headers bring this in, and kernels lean on that. */
#ifdef ACSIM_KERNEL_STL
#include <type_traits>
#endif

#define __aicore__
#define __global__
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __biasbuf__
#define __fbuf__
#define __inout_pipe__(p)
#define __in_pipe__(p)
#define __out_pipe__(p)
#define __sync_alias__
#define __force_inline__ inline
#define GM_ADDR __gm__ uint8_t *
#ifndef likely
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#endif

/* Default arguments that tell the core which line of the kernel called. */
#define ACSIM_AT const char *file = __builtin_FILE(), int32_t line = __builtin_LINE()

namespace acsim {
/* A double rounded to nearest even to a 16-bit format with `mant` bits of fraction and the exponent bias `bias`. A constant
 * expression, since kernels have constants of these types; the core's functions give the same bits. */
constexpr uint16_t round16(double v, int mant, int bias) {
  uint64_t u = __builtin_bit_cast(uint64_t, v), m = u & 0xfffffffffffffull;
  int e = static_cast<int>(u >> 52 & 0x7ff), top = 2 * bias + 1;
  uint16_t sign = static_cast<uint16_t>(u >> 63 << 15), inf = static_cast<uint16_t>(top << mant);
  if (e == 0x7ff) return static_cast<uint16_t>(sign | inf | (m ? 1u << (mant - 1) : 0u));
  if (!e) return sign; /* a subnormal double is far below half of the least number */
  int x = e - 1023 + bias, drop = 52 - mant;
  m |= 1ull << 52;
  if (x <= 0) drop += 1 - x, x = 0;
  if (drop > 54) return sign;
  uint64_t q = m >> drop, rest = m & ((1ull << drop) - 1), half = 1ull << (drop - 1);
  if (rest > half || (rest == half && (q & 1))) q++;
  /* a carry runs into the exponent by itself; the leading one of a normal number counts for 1 in it */
  uint64_t bits = x ? (static_cast<uint64_t>(x - 1) << mant) + q : q;
  return static_cast<uint16_t>(sign | (bits > inf ? inf : bits));
}
constexpr uint16_t double_to_half_bits(double v) {
  return round16(v, 10, 15);
}
constexpr uint16_t double_to_bf16_bits(double v) {
  return round16(v, 7, 127);
}
} // namespace acsim

/* A 16-bit float: stored as bits, computed in float and rounded to nearest even, as CPU debug mode does. */
#define ACSIM_FLOAT16(Name, to_float, from_double)                                      \
  struct Name {                                                                         \
    uint16_t bits;                                                                      \
    Name() = default;                                                                   \
    constexpr Name(float v) : bits(from_double(static_cast<double>(v))) {}              \
    constexpr Name(double v) : bits(from_double(v)) {}                                  \
    constexpr Name(int v) : bits(from_double(v)) {}                                     \
    constexpr Name(unsigned v) : bits(from_double(v)) {}                                \
    constexpr Name(long v) : bits(from_double(static_cast<double>(v))) {}               \
    constexpr Name(unsigned long v) : bits(from_double(static_cast<double>(v))) {}      \
    constexpr Name(long long v) : bits(from_double(static_cast<double>(v))) {}          \
    constexpr Name(unsigned long long v) : bits(from_double(static_cast<double>(v))) {} \
    operator float() const { return to_float(bits); }                                   \
    Name operator-() const {                                                            \
      Name r;                                                                           \
      r.bits = static_cast<uint16_t>(bits ^ 0x8000);                                    \
      return r;                                                                         \
    }                                                                                   \
    Name &operator+=(float v) { return *this = Name(to_float(bits) + v); }              \
    Name &operator-=(float v) { return *this = Name(to_float(bits) - v); }              \
    Name &operator*=(float v) { return *this = Name(to_float(bits) * v); }              \
    Name &operator/=(float v) { return *this = Name(to_float(bits) / v); }              \
  }
ACSIM_FLOAT16(half, acsim_half_to_float, acsim::double_to_half_bits);
ACSIM_FLOAT16(bfloat16_t, acsim_bf16_to_float, acsim::double_to_bf16_bits);
#undef ACSIM_FLOAT16

using float16_t = half;
using float32_t = float;

enum pipe_t {
  PIPE_S = 0,
  PIPE_V,
  PIPE_M,
  PIPE_MTE1,
  PIPE_MTE2,
  PIPE_MTE3,
  PIPE_ALL,
  PIPE_MTE4,
  PIPE_MTE5,
  PIPE_V2,
  PIPE_FIX
};
enum event_t { EVENT_ID0 = 0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };
enum KernelMetaType : uint8_t {
  KERNEL_TYPE_AIV_ONLY,
  KERNEL_TYPE_AIC_ONLY,
  KERNEL_TYPE_MIX_AIV_1_0,
  KERNEL_TYPE_MIX_AIC_1_0,
  KERNEL_TYPE_MIX_AIC_1_1,
  KERNEL_TYPE_MIX_AIC_1_2,
  KERNEL_TYPE_AICORE,
  KERNEL_TYPE_VECTORCORE,
  KERNEL_TYPE_MIX_AICORE,
  KERNEL_TYPE_MIX_VECTOR_CORE,
  KERNEL_TYPE_MAX
};

namespace AscendC {
using ::bfloat16_t;
using ::half;

enum class TPosition : uint8_t {
  GM,
  A1,
  A2,
  B1,
  B2,
  C1,
  C2,
  CO1,
  CO2,
  VECIN,
  VECOUT,
  VECCALC,
  LCM = VECCALC,
  SPM,
  SHM = SPM,
  TSCM,
  C2PIPE2GM,
  C2PIPE2LOCAL,
  MAX
};
using QuePosition = TPosition;
enum class HardEvent : uint8_t {
  MTE2_MTE1,
  MTE1_MTE2,
  MTE1_M,
  M_MTE1,
  MTE2_V,
  V_MTE2,
  MTE3_V,
  V_MTE3,
  M_V,
  V_M,
  V_V,
  MTE3_MTE1,
  MTE1_MTE3,
  MTE1_V,
  MTE2_M,
  M_MTE2,
  V_MTE1,
  M_FIX,
  FIX_M,
  MTE3_MTE2,
  MTE2_MTE3,
  S_V,
  V_S,
  S_MTE2,
  MTE2_S,
  S_MTE3,
  MTE3_S,
  MTE2_FIX,
  FIX_MTE2,
  FIX_S,
  M_S,
  FIX_MTE3,
  MTE1_FIX,
  FIX_MTE1,
  FIX_FIX,
  MAX
};
enum class RoundMode : uint8_t { CAST_NONE, CAST_RINT, CAST_FLOOR, CAST_CEIL, CAST_ROUND, CAST_TRUNC, CAST_ODD };
enum class CMPMODE : uint8_t { LT, GT, EQ, LE, GE, NE };
enum class SELMODE : uint8_t { VSEL_CMPMASK_SPR, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };
enum class ReduceOrder : uint8_t { ORDER_VALUE_INDEX, ORDER_INDEX_VALUE, ORDER_ONLY_VALUE, ORDER_ONLY_INDEX };
enum class MaskMode : uint8_t { NORMAL, COUNTER };
enum class CacheMode {
  CACHE_MODE_DISABLE = 0,
  CACHE_MODE_NORMAL = 1,
  CACHE_MODE_LAST = 2,
  CACHE_MODE_PERSISTENT = 4
};
enum class CacheRwMode { READ = 1, WRITE = 2, RW = 3 };
enum class CacheLine : uint64_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum class DcciDst : uint64_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };

/* A signed 4-bit integer: two in a byte, the first in the low bits. Only a type to name: tensors count in elements. */
struct int4b_t {
  uint8_t storage;
};
using TEventID = int8_t;
using TTagType = int32_t;
constexpr int32_t MIX = 0, AIC = 1, AIV = 2;
constexpr int32_t BRCB_BROADCAST_NUMBER = 8;
constexpr uint32_t ONE_BLK_FLOAT_NUM = 8, ONE_BLK_HALF_NUM = 16, ONE_REPEAT_FLOAT_SIZE = 64,
                   ONE_REPEAT_HALF_SIZE = 128;
struct TQueConfig {
  bool nd2nz = false, nz2nd = false, scmBlockGroup = false;
  uint32_t bufferLen = 0, bufferNumber = 0, consumerSize = 0;
  TPosition consumer[8] = {};
  bool enableStaticEvtId = false, enableLoopQueue = false;
};
constexpr int32_t DEFAULT_BLK_NUM = 8, DEFAULT_BLK_STRIDE = 1, MAX_REPEAT_TIMES = 255;
constexpr uint8_t DEFAULT_REPEAT_STRIDE = 8;
constexpr uint16_t ONE_BLK_SIZE = 32;
constexpr int32_t ONE_REPEAT_BYTE_SIZE = 256;
constexpr int32_t K_MAX_SHAPE_DIM = 8, K_MAX_DIM = 8;
constexpr int32_t ONE_BYTE_BIT_SIZE = 8, DEFAULT_REPEAT_TIMES = 1;
constexpr uint32_t ONE_DUMP_BACKUP_SIZE = 1024;
constexpr uint64_t FULL_MASK = 0xffffffffffffffff;
constexpr int32_t MASK_PLACEHOLDER = 0;

template <typename T> using PrimT = T;
template <typename T> constexpr uint32_t GetDataBlockSizeInBytes() {
  return 32;
}
constexpr uint32_t AlignUp(uint32_t a, uint32_t b) {
  return b ? (a + b - 1) / b * b : 0;
}
constexpr uint32_t DivCeil(uint32_t a, uint32_t b) {
  return b ? (a + b - 1) / b : 0;
}
template <typename A, typename B> struct IsSameType { static constexpr bool value = false; };
template <typename A> struct IsSameType<A, A> { static constexpr bool value = true; };

struct UnaryRepeatParams {
  UnaryRepeatParams() {}
  UnaryRepeatParams(uint16_t dstBlk, uint16_t srcBlk, uint8_t dstRep, uint8_t srcRep)
      : dstBlkStride(dstBlk), srcBlkStride(srcBlk), dstRepStride(dstRep), srcRepStride(srcRep) {}
  uint32_t blockNumber = 8;
  uint16_t dstBlkStride = 1, srcBlkStride = 1;
  uint8_t dstRepStride = 8, srcRepStride = 8;
};
struct BinaryRepeatParams {
  BinaryRepeatParams() {}
  BinaryRepeatParams(uint8_t dstBlk, uint8_t src0Blk, uint8_t src1Blk, uint8_t dstRep, uint8_t src0Rep,
                     uint8_t src1Rep)
      : dstBlkStride(dstBlk), src0BlkStride(src0Blk), src1BlkStride(src1Blk), dstRepStride(dstRep),
        src0RepStride(src0Rep), src1RepStride(src1Rep) {}
  uint32_t blockNumber = 8;
  uint8_t dstBlkStride = 1, src0BlkStride = 1, src1BlkStride = 1, dstRepStride = 8, src0RepStride = 8,
          src1RepStride = 8;
};
struct BrcbRepeatParams {
  BrcbRepeatParams() {}
  BrcbRepeatParams(uint16_t dstBlk, uint16_t dstRep) : dstRepStride(dstRep), dstBlkStride(dstBlk) {}
  uint32_t blockNumber = 8;
  uint16_t dstRepStride = 8, dstBlkStride = 1;
};
struct CopyRepeatParams {
  CopyRepeatParams() {}
  CopyRepeatParams(uint16_t dst, uint16_t src, uint16_t dstRepeat, uint16_t srcRepeat)
      : dstStride(dst), srcStride(src), dstRepeatSize(dstRepeat), srcRepeatSize(srcRepeat) {}
  uint16_t dstStride = 1, srcStride = 1, dstRepeatSize = 8, srcRepeatSize = 8;
};
struct GatherMaskParams {
  GatherMaskParams() {}
  GatherMaskParams(uint8_t block, uint16_t repeat, uint16_t src0Rep, uint8_t src1Rep)
      : src0BlockStride(block), repeatTimes(repeat), src0RepeatStride(src0Rep), src1RepeatStride(src1Rep) {}
  uint8_t src0BlockStride = 1;
  uint16_t repeatTimes = 0, src0RepeatStride = 8;
  uint8_t src1RepeatStride = 8;
};

/* Strides of DataCopyParams: 32-byte blocks. DataCopyPad: bytes on the global side, 32-byte blocks on the local side. */
struct DataCopyParams {
  DataCopyParams() {}
  DataCopyParams(uint16_t count, uint16_t len, uint16_t src, uint16_t dst)
      : blockCount(count), blockLen(len), srcStride(src), dstStride(dst) {}
  uint16_t blockCount = 1, blockLen = 0, srcStride = 0, dstStride = 0;
};
struct DataCopyEnhancedParams {};
struct DataCopyExtParams {
  DataCopyExtParams() {}
  DataCopyExtParams(uint16_t count, uint32_t len, uint32_t src, uint32_t dst, uint32_t reserved)
      : blockCount(count), blockLen(len), srcStride(src), dstStride(dst), rsv(reserved) {}
  uint16_t blockCount = 1;
  uint32_t blockLen = 0, srcStride = 0, dstStride = 0, rsv = 0;
};
struct DataCopyPadParams {
  DataCopyPadParams() {}
  DataCopyPadParams(bool pad, uint8_t left, uint8_t right, uint64_t value)
      : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
  bool isPad = false;
  uint8_t leftPadding = 0, rightPadding = 0;
  uint64_t paddingValue = 0;
};
template <typename T> struct DataCopyPadExtParams {
  DataCopyPadExtParams() {}
  DataCopyPadExtParams(bool pad, uint8_t left, uint8_t right, T value)
      : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
  bool isPad = false;
  uint8_t leftPadding = 0, rightPadding = 0;
  T paddingValue = 0;
};
} // namespace AscendC

/* The kind of core that the source is compiled for. */
#if __NPU_ARCH__ == 2002
constexpr int32_t g_coreType = AscendC::MIX;
#else
constexpr int32_t g_coreType = AscendC::AIV;
#endif

namespace acsim {
template <typename T> struct type_of;
#define ACSIM_TYPE(T, value)                \
  template <> struct type_of<T> {           \
    static constexpr uint8_t id = value;    \
    static constexpr bool floating = false; \
  }
#define ACSIM_FLOATING(T, value)           \
  template <> struct type_of<T> {          \
    static constexpr uint8_t id = value;   \
    static constexpr bool floating = true; \
  }
ACSIM_FLOATING(float, ACSIM_F32);
ACSIM_FLOATING(half, ACSIM_F16);
ACSIM_FLOATING(bfloat16_t, ACSIM_BF16);
ACSIM_FLOATING(double, ACSIM_F64);
ACSIM_TYPE(int8_t, ACSIM_I8);
ACSIM_TYPE(uint8_t, ACSIM_U8);
ACSIM_TYPE(int16_t, ACSIM_I16);
ACSIM_TYPE(uint16_t, ACSIM_U16);
ACSIM_TYPE(int32_t, ACSIM_I32);
ACSIM_TYPE(uint32_t, ACSIM_U32);
ACSIM_TYPE(int64_t, ACSIM_I64);
ACSIM_TYPE(uint64_t, ACSIM_U64);
ACSIM_TYPE(bool, ACSIM_BOOL);
ACSIM_TYPE(AscendC::int4b_t, ACSIM_I8); /* moved as the bytes it lies in */
#undef ACSIM_TYPE
#undef ACSIM_FLOATING
} // namespace acsim
#endif

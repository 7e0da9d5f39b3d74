/* Kernel side, part 7b: fixed addresses and buffer pools, newer names of instructions, quantising conversions, the control register,
 * access past the data cache, system variables, printing. Signatures as asc-devkit's include/basic_api declares them. */
#ifndef ACSIM_KERNEL_BASIC_H
#define ACSIM_KERNEL_BASIC_H

#include "acsim/kernel_abi_basic.h"
#include "acsim/kernel_more.h"

namespace AscendC {
/* ---- memory without TPipe ---- */

enum class Hardware : uint8_t { GM, UB, L1, L0A, L0B, L0C, BIAS, FIXBUF, MAX };

/* Hands out one memory from its start on. One object a memory, and no TPipe beside it (docs/zh, LocalMemAllocator). */
template <Hardware hard = Hardware::UB> class LocalMemAllocator {
public:
  uint32_t GetCurAddr() const { return head_; }
  template <TPosition pos, class T, uint32_t tileSize> LocalTensor<T> Alloc(ACSIM_AT) {
    return take<T>(static_cast<int32_t>(pos), tileSize, file, line);
  }
  template <TPosition pos, class T> LocalTensor<T> Alloc(uint32_t tileSize, ACSIM_AT) {
    return take<T>(static_cast<int32_t>(pos), tileSize, file, line);
  }
  template <class T, uint32_t tileSize> LocalTensor<T> Alloc(ACSIM_AT) {
    return take<T>(position(), tileSize, file, line);
  }
  template <class T> LocalTensor<T> Alloc(uint32_t tileSize, ACSIM_AT) {
    return take<T>(position(), tileSize, file, line);
  }

private:
  static constexpr int32_t position() {
    return hard == Hardware::L1    ? ACSIM_POS_A1
           : hard == Hardware::L0A ? ACSIM_POS_A2
           : hard == Hardware::L0B ? ACSIM_POS_B2
           : hard == Hardware::L0C ? ACSIM_POS_CO1
                                   : ACSIM_POS_VECCALC;
  }
  template <class T> LocalTensor<T> take(int32_t pos, uint32_t n, const char *file, int32_t line) {
    LocalTensor<T> t;
    uint64_t bytes = static_cast<uint64_t>(n) * sizeof(T);
    acsim_static_local(pos, head_, bytes, &t.view_, file, line);
    head_ += static_cast<uint32_t>((bytes + 31) / 32 * 32);
    return t;
  }
  uint32_t head_ = 0;
};

/* ---- buffer pools ---- */

/* A part of UB that TPipe::InitBufPool cuts out; pools may share their place, one after another. */
template <TPosition pos, uint32_t bufIDSize = 4> class TBufPool {
public:
  TBufPool() {}
  ~TBufPool() {}
  template <class Q> bool InitBuffer(Q &que, uint32_t num, uint32_t len, ACSIM_AT) {
    acsim_pool_enter(&pool_, num, len, file, line);
    que.acsim_init(acsim_pipe_current(), num, len, file, line);
    acsim_pool_leave(&pool_);
    return true;
  }
  template <TPosition p> bool InitBuffer(TBuf<p> &buf, uint32_t len, ACSIM_AT) {
    acsim_pool_enter(&pool_, 1, len, file, line);
    buf.acsim_init(acsim_pipe_current(), len, file, line);
    acsim_pool_leave(&pool_);
    return true;
  }
  template <class P> bool InitBufPool(P &pool, uint32_t len, ACSIM_AT) {
    acsim_pool_init(&pool.pool_, &pool_, nullptr, static_cast<int32_t>(P::poolPos), len, file, line);
    return true;
  }
  template <class P, class U> bool InitBufPool(P &pool, uint32_t len, U &share, ACSIM_AT) {
    acsim_pool_init(&pool.pool_, &pool_, &share.pool_, static_cast<int32_t>(P::poolPos), len, file, line);
    return true;
  }
  void Reset(ACSIM_AT) { acsim_pool_reset(&pool_, file, line); }
  static constexpr TPosition poolPos = pos;
  acsim_pool pool_ = {};
};
template <class P> bool TPipe::InitBufPool(P &pool, uint32_t len, const char *file, int32_t line) {
  acsim_pool_init(&pool.pool_, nullptr, nullptr, static_cast<int32_t>(P::poolPos), len, file, line);
  return true;
}
template <class P, class U> bool TPipe::InitBufPool(P &pool, uint32_t len, U &share, const char *file, int32_t line) {
  acsim_pool_init(&pool.pool_, nullptr, &share.pool_, static_cast<int32_t>(P::poolPos), len, file, line);
  return true;
}
/* What a class of the kernel's own needs to be a pool. */
#define EXTERN_IMPL_BUFPOOL(EXT_BUFPOOL, POSITION, BUFID_SIZE) \
public:                                                        \
  static constexpr AscendC::TPosition poolPos = POSITION;      \
  static constexpr int32_t bufIDSize = BUFID_SIZE;             \
  void Init() {                                                \
    pool_ = {};                                                \
    blocks_ = 0;                                               \
  }                                                            \
  void Reset(ACSIM_AT) {                                       \
    acsim_pool_reset(&pool_, file, line);                      \
    blocks_ = 0;                                               \
  }                                                            \
  AscendC::TBufHandle GetBufHandle(uint8_t) {                  \
    return {};                                                 \
  }                                                            \
  void SetCurAddr(uint32_t addr) {                             \
    pool_.head = addr;                                         \
  }                                                            \
  uint32_t GetCurAddr() {                                      \
    return pool_.head;                                         \
  }                                                            \
  void SetCurBufSize(uint8_t n) {                              \
    blocks_ = n;                                               \
  }                                                            \
  uint8_t GetCurBufSize() {                                    \
    return blocks_;                                            \
  }                                                            \
  acsim_pool pool_ = {};                                       \
                                                               \
private:                                                       \
  uint8_t blocks_ = 0;                                         \
                                                               \
public:

/* ---- newer names ---- */

enum class ReduceType : uint8_t { SUM, MAX, MIN, NONE };
template <typename T, typename U, typename C, ACSIM_IF_NUMBER(C)>
void Compares(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T src1, CMPMODE mode, const C count,
              ACSIM_AT) {
  CompareScalar(dst, src0, src1, mode, count, file, line);
}
template <typename T, typename U, bool isSetMask = true, typename M>
void Compares(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T src1, CMPMODE mode, M mask,
              uint8_t repeatTime, const UnaryRepeatParams &p, ACSIM_AT) {
  CompareScalar<T, U, isSetMask>(dst, src0, src1, mode, mask, repeatTime, p, file, line);
}
#define ACSIM_REDUCE_NEW(Name, Sum, Max, Min, MASK)                                                         \
  template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                           \
  void Name(const LocalTensor<T> &dst, const LocalTensor<U> &src, MASK, const int32_t repeatTime,           \
            const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride, ACSIM_AT) { \
    static_assert(IsSameType<T, U>::value, #Name ": dst and src have one type on Atlas A2");                \
    if constexpr (reduceType == ReduceType::SUM)                                                            \
      Sum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride, file, line);  \
    else if constexpr (reduceType == ReduceType::MAX)                                                       \
      Max<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride, file, line);  \
    else                                                                                                    \
      Min<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride, file, line);  \
  }
ACSIM_REDUCE_NEW(ReduceDataBlock, BlockReduceSum, BlockReduceMax, BlockReduceMin, const int32_t mask)
ACSIM_REDUCE_NEW(ReduceDataBlock, BlockReduceSum, BlockReduceMax, BlockReduceMin, const uint64_t mask[])
#undef ACSIM_REDUCE_NEW
#define ACSIM_REDUCE_REPEAT(MASK)                                                                                  \
  template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                                  \
  void ReducePairElem(const LocalTensor<T> &dst, const LocalTensor<U> &src, MASK, const int32_t repeatTime,        \
                      const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,          \
                      ACSIM_AT) {                                                                                  \
    static_assert(reduceType == ReduceType::SUM, "ReducePairElem has sums only");                                  \
    PairReduceSum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride, file, line); \
  }                                                                                                                \
  template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                                  \
  void ReduceRepeat(const LocalTensor<T> &dst, const LocalTensor<U> &src, MASK, const int32_t repeatTime,          \
                    const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,            \
                    ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, ACSIM_AT) {                                \
    static_assert(IsSameType<T, U>::value, "ReduceRepeat: dst and src have one type on Atlas A2");                 \
    if constexpr (reduceType == ReduceType::SUM)                                                                   \
      WholeReduceSum<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, file,     \
                                   line);                                                                          \
    else if constexpr (reduceType == ReduceType::MAX)                                                              \
      WholeReduceMax<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, order,    \
                                   file, line);                                                                    \
    else                                                                                                           \
      WholeReduceMin<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, order,    \
                                   file, line);                                                                    \
  }
ACSIM_REDUCE_REPEAT(const int32_t mask)
ACSIM_REDUCE_REPEAT(const uint64_t mask[])
#undef ACSIM_REDUCE_REPEAT
/* The sum of each repeat, mask after the repeat times. */
template <typename T, bool isSetMask = true>
void RepeatReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime,
                     const int32_t mask, const int32_t dstBlkStride, const int32_t srcBlkStride,
                     const int32_t dstRepStride, const int32_t srcRepStride, ACSIM_AT) {
  (void)dstBlkStride; /* one result a repeat: there is no block of dst to step */
  WholeReduceSum<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, file, line);
}
template <typename T> T GetReduceRepeatSumSpr() {
  return GetAccVal<T>();
}
template <typename T> void GetReduceRepeatMaxMinSpr(T &value, T &index) {
  GetReduceMaxMinCount(value, index);
}
template <typename T> void GetReduceRepeatMaxMinSpr(T &value) {
  T index;
  GetReduceMaxMinCount(value, index);
}
template <typename T> void GetReduceMaxMinCount(T &value) {
  GetReduceRepeatMaxMinSpr(value);
}
#define ACSIM_MULADD_RELU(REST, ARGS)                                                                      \
  template <typename T>                                                                                    \
  void MulAddRelu(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, REST, \
                  ACSIM_AT) {                                                                              \
    FusedMulAddRelu(dst, src0, src1, ARGS, file, line);                                                    \
  }
#define ACSIM_COMMA ,
ACSIM_MULADD_RELU(const int32_t &count, count)
ACSIM_MULADD_RELU(uint64_t mask ACSIM_COMMA const uint8_t repeatTime ACSIM_COMMA const BinaryRepeatParams &p,
                  mask ACSIM_COMMA repeatTime ACSIM_COMMA p)
ACSIM_MULADD_RELU(uint64_t mask[] ACSIM_COMMA const uint8_t repeatTime ACSIM_COMMA const BinaryRepeatParams &p,
                  mask ACSIM_COMMA repeatTime ACSIM_COMMA p)
#undef ACSIM_MULADD_RELU

/* ---- quantising conversions ---- */

constexpr int32_t VDEQ_TENSOR_SIZE = 16;
struct VdeqInfo {
  VdeqInfo() {}
  VdeqInfo(const float scale[VDEQ_TENSOR_SIZE], const int16_t offset[VDEQ_TENSOR_SIZE],
           const bool sign[VDEQ_TENSOR_SIZE]) {
    for (int i = 0; i < VDEQ_TENSOR_SIZE; i++)
      vdeqScale[i] = scale[i], vdeqOffset[i] = offset[i], vdeqSignMode[i] = sign[i];
  }
  float vdeqScale[VDEQ_TENSOR_SIZE] = {};
  int16_t vdeqOffset[VDEQ_TENSOR_SIZE] = {};
  bool vdeqSignMode[VDEQ_TENSOR_SIZE] = {};
};
inline void SetDeqScale(float scale, int16_t offset, bool signMode) {
  acsim_set_deq_word(scale, offset, signMode);
}
template <typename T> void SetDeqScale(const LocalTensor<T> &vdeq, const VdeqInfo &info, ACSIM_AT) {
  uint8_t sign[VDEQ_TENSOR_SIZE];
  for (int i = 0; i < VDEQ_TENSOR_SIZE; i++) sign[i] = info.vdeqSignMode[i];
  acsim_set_deq_vector(&vdeq.view_, info.vdeqScale, info.vdeqOffset, sign, file, line);
}
/* Mode bits of the instruction: the vector form; the upper half of each block of dst. */
#define ACSIM_CAST_DEQ(Name)                                                                                 \
  template <typename T, typename U, bool isVecDeq = true, bool halfBlock = true>                             \
  void Name(const LocalTensor<T> &dst, const LocalTensor<U> &src, const uint32_t count, ACSIM_AT) {          \
    acsim_vector v = acsim::make<T, U>(ACSIM_OP_CastDeq, &dst.view_, &src.view_, nullptr);                   \
    v.mode = isVecDeq | halfBlock << 1;                                                                      \
    acsim::run(v, static_cast<int64_t>(count), file, line);                                                  \
  }                                                                                                          \
  template <typename T, typename U, bool isSetMask = true, bool isVecDeq = true, bool halfBlock = true>      \
  void Name(const LocalTensor<T> &dst, const LocalTensor<U> &src, const int32_t mask, uint8_t repeatTime,    \
            const UnaryRepeatParams &p, ACSIM_AT) {                                                          \
    acsim_vector v = acsim::make<T, U>(ACSIM_OP_CastDeq, &dst.view_, &src.view_, nullptr);                   \
    v.mode = isVecDeq | halfBlock << 1;                                                                      \
    acsim::run(v, acsim::repeat_of<isSetMask>(mask, repeatTime, p), file, line);                             \
  }                                                                                                          \
  template <typename T, typename U, bool isSetMask = true, bool isVecDeq = true, bool halfBlock = true>      \
  void Name(const LocalTensor<T> &dst, const LocalTensor<U> &src, const uint64_t mask[], uint8_t repeatTime, \
            const UnaryRepeatParams &p, ACSIM_AT) {                                                          \
    acsim_vector v = acsim::make<T, U>(ACSIM_OP_CastDeq, &dst.view_, &src.view_, nullptr);                   \
    v.mode = isVecDeq | halfBlock << 1;                                                                      \
    acsim::run(v, acsim::repeat_of<isSetMask>(mask, repeatTime, p), file, line);                             \
  }
ACSIM_CAST_DEQ(CastDeq)
ACSIM_CAST_DEQ(CastDequant)
#undef ACSIM_CAST_DEQ
#define ACSIM_ADD_DEQ_RELU(REST, HOW)                                                                      \
  template <typename T = half, typename U = int32_t, bool isSetMask = true>                                \
  void AddDeqRelu(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1, REST, \
                  ACSIM_AT) {                                                                              \
    acsim_vector v = acsim::make<T, U>(ACSIM_OP_AddDeqRelu, &dst.view_, &src0.view_, &src1.view_);         \
    acsim::run(v, HOW, file, line);                                                                        \
  }
ACSIM_ADD_DEQ_RELU(const int32_t &count, static_cast<int64_t>(count))
ACSIM_ADD_DEQ_RELU(uint64_t mask ACSIM_COMMA const uint8_t repeatTime ACSIM_COMMA const BinaryRepeatParams &p,
                   acsim::repeat_of<isSetMask>(mask ACSIM_COMMA repeatTime ACSIM_COMMA p))
ACSIM_ADD_DEQ_RELU(uint64_t mask[] ACSIM_COMMA const uint8_t repeatTime ACSIM_COMMA const BinaryRepeatParams &p,
                   acsim::repeat_of<isSetMask>(mask ACSIM_COMMA repeatTime ACSIM_COMMA p))
#undef ACSIM_ADD_DEQ_RELU
#undef ACSIM_COMMA

/* ---- registers ---- */

template <int8_t startBit, int8_t endBit> void SetCtrlSpr(int64_t value, ACSIM_AT) {
  static_assert(startBit >= 0 && endBit <= 63 && startBit <= endBit, "SetCtrlSpr: bits 0..63");
  acsim_ctrl_set(startBit, endBit, value, file, line);
}
template <int8_t startBit, int8_t endBit> int64_t GetCtrlSpr(ACSIM_AT) {
  static_assert(startBit >= 0 && endBit <= 63 && startBit <= endBit, "GetCtrlSpr: bits 0..63");
  return acsim_ctrl_get(startBit, endBit, file, line);
}
enum class SaturationMode : uint8_t { FLOAT, FLOAT8, INT, CAST };
template <SaturationMode mode> void SetSaturationFlag(bool enableSat, ACSIM_AT) {
  static_assert(mode != SaturationMode::FLOAT8, "SetSaturationFlag: FLOAT8 is not of this chip");
  if (mode == SaturationMode::FLOAT)
    acsim_ctrl_set(48, 48, !enableSat, file, line);
  else
    acsim_ctrl_integers(mode == SaturationMode::CAST, enableSat, file, line);
}
template <SaturationMode mode> bool GetSaturationFlag(ACSIM_AT) {
  static_assert(mode != SaturationMode::FLOAT8, "GetSaturationFlag: FLOAT8 is not of this chip");
  return mode == SaturationMode::FLOAT ? !acsim_ctrl_get(48, 48, file, line) : mode == SaturationMode::CAST;
}
inline void DisableDmaAtomic() {
  SetAtomicNone();
}
template <typename T> void SetAtomicType(ACSIM_AT) {
  acsim_atomic_type(acsim::type_of<T>::id, file, line);
}
enum class AtomicDtype { ATOMIC_NONE = 0, ATOMIC_F32, ATOMIC_F16, ATOMIC_S16, ATOMIC_S32, ATOMIC_S8, ATOMIC_BF16 };
enum class AtomicOp { ATOMIC_SUM = 0 };
template <AtomicDtype type, AtomicOp op> void SetStoreAtomicConfig(ACSIM_AT) {
  constexpr int32_t types[] = {-1, ACSIM_F32, ACSIM_F16, ACSIM_I16, ACSIM_I32, ACSIM_I8, ACSIM_BF16};
  acsim_atomic(type == AtomicDtype::ATOMIC_NONE ? ACSIM_ATOMIC_NONE : ACSIM_ATOMIC_ADD, types[static_cast<int>(type)],
               file, line);
}
inline void GetStoreAtomicConfig(uint16_t &atomicType, uint16_t &atomicOp) {
  constexpr int32_t types[] = {ACSIM_F32, ACSIM_F16, ACSIM_I16, ACSIM_I32, ACSIM_I8, ACSIM_BF16};
  int32_t op, type = acsim_atomic_state(&op);
  atomicType = atomicOp = 0;
  for (uint16_t i = 0; i < 6; i++)
    if (type == types[i]) atomicType = static_cast<uint16_t>(i + 1);
}

/* ---- order and caches ---- */

enum class MemDsbT : uint64_t { ALL, DDR, UB, SEQ };
/* The scalar unit waits for its own accesses; they are in order here anyway. */
template <MemDsbT arg0> void DataSyncBarrier() {}
/* docs/zh: on Atlas A2 these two only compile. */
inline void SetNextTaskStart() {}
inline void WaitPreTaskEnd() {}
inline void ICachePreLoad(const int64_t) {}
inline int64_t GetICachePreloadStatus() {
  return 0;
}
template <typename T> void DataCachePreload(const GlobalTensor<uint64_t> &, const T) {}
template <typename T> T ReadGmByPassDCache(__gm__ T *addr, ACSIM_AT) {
  T v;
  acsim_bypass_get(addr, sizeof(T), &v, file, line);
  return v;
}
template <typename T> void WriteGmByPassDCache(__gm__ T *addr, T value, ACSIM_AT) {
  acsim_bypass_set(addr, sizeof(T), &value, file, line);
}

/* ---- the scalar unit ---- */

template <int countValue> int64_t GetBitCount(uint64_t valueIn) {
  return ScalarGetCountOfValue<countValue>(valueIn);
}
inline int64_t CountLeadingZero(uint64_t valueIn) {
  return ScalarCountLeadingZero(valueIn);
}
template <int countValue> int64_t GetSFFValue(uint64_t valueIn) {
  return ScalarGetSFFValue<countValue>(valueIn);
}
template <typename T, typename U, RoundMode roundMode> U Cast(T valueIn) {
  return ScalarCast<T, U, roundMode>(valueIn);
}
/* So that x / divisor = (x + mulhi(x, magic)) >> shift for every x of T that is no negative number of its signed kin. */
template <typename T> void GetUintDivMagicAndShift(T &magic, T &shift, T divisor) {
  constexpr int width = sizeof(T) * 8;
  int bits = 64 - static_cast<int>(CountLeadingZero(divisor));
  bool power = GetBitCount<1>(divisor) == 1;
  shift = static_cast<T>(power ? bits - 1 : bits);
  unsigned __int128 one = 1;
  magic = static_cast<T>((one << width) * ((one << shift) - divisor) / (divisor ? divisor : 1) + 1);
}

/* ---- the core's own numbers ---- */

inline int64_t GetTaskRatio() {
  return GetTaskRation();
}
inline void GetArchVersion(uint32_t &coreVersion) {
  coreVersion = acsim_arch_version();
}
/* Not a place in the kernel's device code: the host's return address, for telling calls apart. */
__attribute__((noinline)) inline int64_t GetProgramCounter() {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(__builtin_return_address(0)) & 0xffffffffffff);
}
enum class EngineType : int32_t { AIC, AIV };
template <EngineType engine, auto funPtr, class... Args> void Async(Args... args) {
  if constexpr (engine == EngineType::AIV) funPtr(args...);
}

/* ---- printing ---- */

template <typename T> void DumpTensor(const LocalTensor<T> &t, uint32_t desc, uint32_t n, ACSIM_AT) {
  acsim_dump_local(&t.view_, acsim::type_of<T>::id, 0, n, desc, "DumpTensor", file, line);
}
template <typename T> void DumpTensor(const GlobalTensor<T> &t, uint32_t desc, uint32_t n, ACSIM_AT) {
  acsim_dump_global(&t.view_, acsim::type_of<T>::id, 0, n, desc, file, line);
}
template <typename T>
void DumpAccChkPoint(const LocalTensor<T> &t, uint32_t index, uint32_t countOff, uint32_t n, ACSIM_AT) {
  acsim_dump_local(&t.view_, acsim::type_of<T>::id, countOff, n, index, "DumpAccChkPoint", file, line);
}
template <typename T>
void DumpAccChkPoint(const GlobalTensor<T> &t, uint32_t index, uint32_t countOff, uint32_t n, ACSIM_AT) {
  acsim_dump_global(&t.view_, acsim::type_of<T>::id, countOff, n, index, file, line);
}
inline void PrintTimeStamp(uint32_t descId) {
  acsim_kernel_printf("descId is %u, rsv is 0, timeStamp is %lld\n", descId, static_cast<long long>(acsim_cycles()));
}
inline void MetricsProfStart() {}
inline void MetricsProfStop() {}
} // namespace AscendC
#endif

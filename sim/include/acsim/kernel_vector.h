/* Kernel side, part 5: vector instructions, in their count, mask-and-repeat and bit-mask-and-repeat forms. */
#ifndef ACSIM_KERNEL_VECTOR_H
#define ACSIM_KERNEL_VECTOR_H

#include "acsim/kernel_copy.h"

namespace acsim {
/* The first n lanes. More than a repeat has is left for the core to cut; in counter mode n counts elements. */
inline void mask_of(acsim_repeat &r, uint64_t n) {
  r.mask[0] = n >= 64 ? ~0ull : (1ull << n) - 1;
  r.mask[1] = n >= 128 ? ~0ull : n > 64 ? (1ull << (n - 64)) - 1 : 0;
  r.form = ACSIM_MASK_FIRST;
  r.first = n;
}
inline void mask_of(acsim_repeat &r, int32_t n) {
  mask_of(r, static_cast<uint64_t>(n < 0 ? 0 : n));
}
inline void mask_of(acsim_repeat &r, const uint64_t *m) {
  r.mask[0] = m[0];
  r.mask[1] = m[1];
  r.form = ACSIM_MASK_BITS;
}
inline void strides(acsim_repeat &r, const AscendC::UnaryRepeatParams &p) {
  r.dst_block = p.dstBlkStride;
  r.a_block = p.srcBlkStride;
  r.dst_repeat = p.dstRepStride;
  r.a_repeat = p.srcRepStride;
}
inline void strides(acsim_repeat &r, const AscendC::BinaryRepeatParams &p) {
  r.dst_block = p.dstBlkStride;
  r.a_block = p.src0BlkStride;
  r.b_block = p.src1BlkStride;
  r.dst_repeat = p.dstRepStride;
  r.a_repeat = p.src0RepStride;
  r.b_repeat = p.src1RepStride;
}
inline void strides(acsim_repeat &r, const AscendC::CopyRepeatParams &p) {
  r.dst_block = p.dstStride;
  r.a_block = p.srcStride;
  r.dst_repeat = p.dstRepeatSize;
  r.a_repeat = p.srcRepeatSize;
}
/* set: isSetMask; false takes the mask that the mask register holds. */
template <bool set = true, typename M, typename P> acsim_repeat repeat_of(M mask, int64_t times, const P &p) {
  acsim_repeat r = {};
  mask_of(r, mask);
  if (!set) r.form = ACSIM_MASK_REGISTER;
  r.repeat = static_cast<int32_t>(times);
  strides(r, p);
  return r;
}
/* The type of a count or of repeat times, whichever integer or enumeration the kernel writes. */
template <typename T> struct number_ok { static constexpr bool value = __is_enum(T); };
#define ACSIM_NUMBER(T) \
  template <> struct number_ok<T> { static constexpr bool value = true; }
ACSIM_NUMBER(bool);
ACSIM_NUMBER(char);
ACSIM_NUMBER(signed char);
ACSIM_NUMBER(unsigned char);
ACSIM_NUMBER(short);
ACSIM_NUMBER(unsigned short);
ACSIM_NUMBER(int);
ACSIM_NUMBER(unsigned);
ACSIM_NUMBER(long);
ACSIM_NUMBER(unsigned long);
ACSIM_NUMBER(long long);
ACSIM_NUMBER(unsigned long long);
ACSIM_NUMBER(float);
ACSIM_NUMBER(double);
#undef ACSIM_NUMBER
template <bool ok> struct only_if {};
template <> struct only_if<true> { using type = int; };
#define ACSIM_IF_NUMBER(T) typename acsim::only_if<acsim::number_ok<T>::value>::type = 0

template <typename T> constexpr uint8_t operand_type() {
  return AscendC::IsSameType<T, AscendC::int4b_t>::value ? static_cast<uint8_t>(ACSIM_I4) : type_of<T>::id;
}
template <typename D, typename T>
acsim_vector make(uint8_t op, const acsim_local *dst, const acsim_local *a, const acsim_local *b) {
  acsim_vector v = {};
  v.op = op;
  v.type = operand_type<T>();
  v.dst_type = operand_type<D>();
  v.dst = dst;
  v.a = a;
  v.b = b;
  return v;
}
inline acsim_repeat gather_mask_repeat(const AscendC::GatherMaskParams &p) {
  acsim_repeat r = {};
  r.mask[0] = r.mask[1] = ~0ull;
  r.repeat = p.repeatTimes;
  r.a_block = p.src0BlockStride;
  r.a_repeat = p.src0RepeatStride;
  r.b_repeat = p.src1RepeatStride;
  return r;
}
/* The scalar in the member that its type uses. */
template <typename T> void set_scalar(acsim_vector &v, T value) {
  if constexpr (type_of<T>::floating)
    v.f = static_cast<double>(static_cast<float>(value));
  else
    v.i = static_cast<int64_t>(value);
}
inline void run(acsim_vector &v, int64_t count, const char *file, int32_t line) {
  v.count = count;
  acsim_vec(&v, file, line);
}
inline uint64_t run(acsim_vector &v, const acsim_repeat &r, const char *file, int32_t line) {
  v.repeat = &r;
  return acsim_vec(&v, file, line);
}
} // namespace acsim

namespace AscendC {
/* The forms of an instruction. DST: type of dst. REST: parameters between dst and the count or mask. SETUP: makes the call `v`.
 *
 * Beside the three that kernels call there are three whose type is exactly the documented one, for kernels that pass an
 * instruction as a template argument (`template <void (*op)(const LocalTensor<T> &, ...)>`); the default arguments of the
 * others would be part of their type. The exact ones deduce the type of dst, so that a plain call always prefers the others. */
#define ACSIM_FORMS(Name, TYPES, DST, REST, Params, SETUP)                                                        \
  template <TYPES, bool isSetMask = true, typename C, ACSIM_IF_NUMBER(C)>                                         \
  void Name(const LocalTensor<DST> &dst ACSIM_COMMA REST, const C count, ACSIM_AT) {                              \
    SETUP;                                                                                                        \
    v.by_register = !isSetMask;                                                                                   \
    acsim::run(v, static_cast<int64_t>(count), file, line);                                                       \
  }                                                                                                               \
  template <TYPES, bool isSetMask = true, typename R, ACSIM_IF_NUMBER(R)>                                         \
  void Name(const LocalTensor<DST> &dst ACSIM_COMMA REST, uint64_t mask, const R repeatTime,                      \
            const Params &repeatParams, ACSIM_AT) {                                                               \
    SETUP;                                                                                                        \
    acsim::run(v, acsim::repeat_of<isSetMask>(mask, static_cast<int64_t>(repeatTime), repeatParams), file, line); \
  }                                                                                                               \
  template <TYPES, bool isSetMask = true, typename R, ACSIM_IF_NUMBER(R)>                                         \
  void Name(const LocalTensor<DST> &dst ACSIM_COMMA REST, const uint64_t mask[], const R repeatTime,              \
            const Params &repeatParams, ACSIM_AT) {                                                               \
    SETUP;                                                                                                        \
    acsim::run(v, acsim::repeat_of<isSetMask>(mask, static_cast<int64_t>(repeatTime), repeatParams), file, line); \
  }                                                                                                               \
  template <TYPES, bool isSetMask = true, typename C, typename L>                                                 \
  void Name(const L &dst ACSIM_COMMA REST, const C &count) {                                                      \
    SETUP;                                                                                                        \
    v.by_register = !isSetMask;                                                                                   \
    acsim::run(v, static_cast<int64_t>(count), nullptr, 0);                                                       \
  }                                                                                                               \
  template <TYPES, bool isSetMask = true, typename C, typename L>                                                 \
  void Name(const L &dst ACSIM_COMMA REST, C count) {                                                             \
    SETUP;                                                                                                        \
    v.by_register = !isSetMask;                                                                                   \
    acsim::run(v, static_cast<int64_t>(count), nullptr, 0);                                                       \
  }                                                                                                               \
  template <TYPES, bool isSetMask = true, typename R, typename L>                                                 \
  void Name(const L &dst ACSIM_COMMA REST, uint64_t mask, const R repeatTime, const Params &repeatParams) {       \
    SETUP;                                                                                                        \
    acsim::run(v, acsim::repeat_of<isSetMask>(mask, static_cast<int64_t>(repeatTime), repeatParams), nullptr, 0); \
  }
#define ACSIM_COMMA ,

#define ACSIM_UNARY(Name)                                                        \
  ACSIM_FORMS(Name, typename T, T, const LocalTensor<T> &src, UnaryRepeatParams, \
              acsim_vector v = acsim::make<T ACSIM_COMMA T>(ACSIM_OP_##Name, &dst.view_, &src.view_, nullptr))
ACSIM_UNARY(Exp)
ACSIM_UNARY(Ln)
ACSIM_UNARY(Abs)
ACSIM_UNARY(Reciprocal)
ACSIM_UNARY(Sqrt)
ACSIM_UNARY(Rsqrt)
ACSIM_UNARY(Relu)
ACSIM_UNARY(Not)
#undef ACSIM_UNARY

#define ACSIM_BINARY(Name)                                                                            \
  ACSIM_FORMS(Name, typename T, T, const LocalTensor<T> &src0 ACSIM_COMMA const LocalTensor<T> &src1, \
              BinaryRepeatParams,                                                                     \
              acsim_vector v = acsim::make<T ACSIM_COMMA T>(ACSIM_OP_##Name, &dst.view_, &src0.view_, &src1.view_))
ACSIM_BINARY(Add)
ACSIM_BINARY(Sub)
ACSIM_BINARY(Mul)
ACSIM_BINARY(Div)
ACSIM_BINARY(Max)
ACSIM_BINARY(Min)
ACSIM_BINARY(And)
ACSIM_BINARY(Or)
ACSIM_BINARY(AddRelu)
ACSIM_BINARY(SubRelu)
ACSIM_BINARY(FusedMulAdd)
ACSIM_BINARY(FusedMulAddRelu)
#undef ACSIM_BINARY

ACSIM_FORMS(MulAddDst, typename T ACSIM_COMMA typename U, T,
            const LocalTensor<U> &src0 ACSIM_COMMA const LocalTensor<U> &src1, BinaryRepeatParams,
            acsim_vector v = acsim::make<T ACSIM_COMMA U>(ACSIM_OP_MulAddDst, &dst.view_, &src0.view_, &src1.view_))

#define ACSIM_SCALAR(Name)                                                                                        \
  ACSIM_FORMS(Name, typename T, T, const LocalTensor<T> &src ACSIM_COMMA const T &scalarValue, UnaryRepeatParams, \
              acsim_vector v = acsim::make<T ACSIM_COMMA T>(ACSIM_OP_##Name, &dst.view_, &src.view_, nullptr);    \
              acsim::set_scalar<T>(v, scalarValue))
ACSIM_SCALAR(Adds)
ACSIM_SCALAR(Muls)
ACSIM_SCALAR(Maxs)
ACSIM_SCALAR(Mins)
ACSIM_SCALAR(LeakyRelu)
ACSIM_SCALAR(ShiftLeft)
ACSIM_SCALAR(ShiftRight)
#undef ACSIM_SCALAR

/* roundEn: the last bit that leaves rounds. */
template <typename T, bool isSetMask = true>
void ShiftRight(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, uint64_t mask,
                const int64_t repeatTime, const UnaryRepeatParams &repeatParams, bool roundEn, ACSIM_AT) {
  acsim_vector v = acsim::make<T, T>(ACSIM_OP_ShiftRight, &dst.view_, &src.view_, nullptr);
  acsim::set_scalar<T>(v, scalarValue);
  v.mode = roundEn;
  acsim::run(v, acsim::repeat_of<isSetMask>(mask, repeatTime, repeatParams), file, line);
}
template <typename T, bool isSetMask = true>
void ShiftRight(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, const uint64_t mask[],
                const int64_t repeatTime, const UnaryRepeatParams &repeatParams, bool roundEn, ACSIM_AT) {
  acsim_vector v = acsim::make<T, T>(ACSIM_OP_ShiftRight, &dst.view_, &src.view_, nullptr);
  acsim::set_scalar<T>(v, scalarValue);
  v.mode = roundEn;
  acsim::run(v, acsim::repeat_of<isSetMask>(mask, repeatTime, repeatParams), file, line);
}

ACSIM_FORMS(Axpy, typename T ACSIM_COMMA typename U, T, const LocalTensor<U> &src ACSIM_COMMA const U &scalarValue,
            UnaryRepeatParams,
            acsim_vector v = acsim::make<T ACSIM_COMMA U>(ACSIM_OP_Axpy, &dst.view_, &src.view_, nullptr);
            acsim::set_scalar<U>(v, scalarValue))

ACSIM_FORMS(Cast, typename T ACSIM_COMMA typename U, T,
            const LocalTensor<U> &src ACSIM_COMMA const RoundMode &roundMode, UnaryRepeatParams,
            acsim_vector v = acsim::make<T ACSIM_COMMA U>(ACSIM_OP_Cast, &dst.view_, &src.view_, nullptr);
            v.mode = static_cast<uint8_t>(roundMode))

ACSIM_FORMS(Compare, typename T ACSIM_COMMA typename U, U,
            const LocalTensor<T> &src0 ACSIM_COMMA const LocalTensor<T> &src1 ACSIM_COMMA CMPMODE cmpMode,
            BinaryRepeatParams,
            acsim_vector v = acsim::make<U ACSIM_COMMA T>(ACSIM_OP_Compare, &dst.view_, &src0.view_, &src1.view_);
            v.mode = static_cast<uint8_t>(cmpMode))
ACSIM_FORMS(CompareScalar, typename T ACSIM_COMMA typename U, U,
            const LocalTensor<T> &src0 ACSIM_COMMA const T src1 ACSIM_COMMA CMPMODE cmpMode, UnaryRepeatParams,
            acsim_vector v = acsim::make<U ACSIM_COMMA T>(ACSIM_OP_CompareScalar, &dst.view_, &src0.view_, nullptr);
            v.mode = static_cast<uint8_t>(cmpMode); acsim::set_scalar<T>(v, src1))

ACSIM_FORMS(Select, typename T ACSIM_COMMA typename U, T,
            const LocalTensor<U> &selMask ACSIM_COMMA const LocalTensor<T> &src0
                ACSIM_COMMA const LocalTensor<T> &src1 ACSIM_COMMA SELMODE selMode,
            BinaryRepeatParams,
            acsim_vector v = acsim::make<T ACSIM_COMMA T>(ACSIM_OP_Select, &dst.view_, &src0.view_, &src1.view_);
            v.c = &selMask.view_; v.mode = static_cast<uint8_t>(selMode))
ACSIM_FORMS(Select, typename T ACSIM_COMMA typename U, T,
            const LocalTensor<U> &selMask ACSIM_COMMA const LocalTensor<T> &src0 ACSIM_COMMA T src1 ACSIM_COMMA
                SELMODE selMode,
            BinaryRepeatParams,
            acsim_vector v = acsim::make<T ACSIM_COMMA T>(ACSIM_OP_Select, &dst.view_, &src0.view_, nullptr);
            v.c = &selMask.view_; v.mode = static_cast<uint8_t>(selMode); acsim::set_scalar<T>(v, src1))
#undef ACSIM_FORMS

template <typename T> void Duplicate(const LocalTensor<T> &dst, const T &scalarValue, const int64_t count, ACSIM_AT) {
  acsim_vector v = acsim::make<T, T>(ACSIM_OP_Duplicate, &dst.view_, nullptr, nullptr);
  acsim::set_scalar<T>(v, scalarValue);
  acsim::run(v, count, file, line);
}
namespace acsim_detail {
template <typename T, bool set, typename M>
void duplicate(const LocalTensor<T> &dst, const T &value, M mask, int64_t times, uint16_t block, uint8_t repeat,
               const char *file, int32_t line) {
  acsim_vector v = acsim::make<T, T>(ACSIM_OP_Duplicate, &dst.view_, nullptr, nullptr);
  acsim::set_scalar<T>(v, value);
  acsim::run(v, acsim::repeat_of<set>(mask, times, UnaryRepeatParams(block, 0, repeat, 0)), file, line);
}
} // namespace acsim_detail
template <typename T, bool isSetMask = true>
void Duplicate(const LocalTensor<T> &dst, const T &scalarValue, uint64_t mask, const int64_t repeatTime,
               const uint16_t dstBlockStride, const uint8_t dstRepeatStride, ACSIM_AT) {
  acsim_detail::duplicate<T, isSetMask>(dst, scalarValue, mask, repeatTime, dstBlockStride, dstRepeatStride, file,
                                        line);
}
template <typename T, bool isSetMask = true>
void Duplicate(const LocalTensor<T> &dst, const T &scalarValue, const uint64_t mask[], const int64_t repeatTime,
               const uint16_t dstBlockStride, const uint8_t dstRepeatStride, ACSIM_AT) {
  acsim_detail::duplicate<T, isSetMask>(dst, scalarValue, mask, repeatTime, dstBlockStride, dstRepeatStride, file,
                                        line);
}

template <typename T, bool isSetMask = true>
void Copy(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint64_t mask, const int64_t repeatTime,
          const CopyRepeatParams &p, ACSIM_AT) {
  acsim_vector v = acsim::make<T, T>(ACSIM_OP_Copy, &dst.view_, &src.view_, nullptr);
  acsim::run(v, acsim::repeat_of<isSetMask>(mask, repeatTime, p), file, line);
}
template <typename T, bool isSetMask = true>
void Copy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask[], const int64_t repeatTime,
          const CopyRepeatParams &p, ACSIM_AT) {
  acsim_vector v = acsim::make<T, T>(ACSIM_OP_Copy, &dst.view_, &src.view_, nullptr);
  acsim::run(v, acsim::repeat_of<isSetMask>(mask, repeatTime, p), file, line);
}

/* ---- reductions ---- */

#define ACSIM_REDUCE(Name, EXTRA, MODE)                                                                              \
  template <typename T, bool isSetMask = true>                                                                       \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work,                        \
            const int32_t count EXTRA, ACSIM_AT) {                                                                   \
    acsim_vector v = acsim::make<T, T>(ACSIM_OP_##Name, &dst.view_, &src.view_, &work.view_);                        \
    v.mode = MODE;                                                                                                   \
    acsim::run(v, count, file, line);                                                                                \
  }                                                                                                                  \
  template <typename T>                                                                                              \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work, const int32_t mask,    \
            const int32_t repeatTime, const int32_t srcRepStride EXTRA, ACSIM_AT) {                                  \
    acsim_vector v = acsim::make<T, T>(ACSIM_OP_##Name, &dst.view_, &src.view_, &work.view_);                        \
    acsim_repeat r = {};                                                                                             \
    acsim::mask_of(r, static_cast<uint64_t>(mask));                                                                  \
    r.repeat = repeatTime, r.a_block = 1, r.a_repeat = static_cast<uint16_t>(srcRepStride);                          \
    v.mode = MODE;                                                                                                   \
    acsim::run(v, r, file, line);                                                                                    \
  }                                                                                                                  \
  template <typename T>                                                                                              \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work, const uint64_t mask[], \
            const int32_t repeatTime, const int32_t srcRepStride EXTRA, ACSIM_AT) {                                  \
    acsim_vector v = acsim::make<T, T>(ACSIM_OP_##Name, &dst.view_, &src.view_, &work.view_);                        \
    acsim_repeat r = {};                                                                                             \
    acsim::mask_of(r, mask);                                                                                         \
    r.repeat = repeatTime, r.a_block = 1, r.a_repeat = static_cast<uint16_t>(srcRepStride);                          \
    v.mode = MODE;                                                                                                   \
    acsim::run(v, r, file, line);                                                                                    \
  }
ACSIM_REDUCE(ReduceSum, , 0)
ACSIM_REDUCE(ReduceMax, ACSIM_COMMA bool calIndex = false, calIndex)
ACSIM_REDUCE(ReduceMin, ACSIM_COMMA bool calIndex = false, calIndex)
#undef ACSIM_REDUCE

/* Whole: (mask, repeat, ...); Block and Pair: (repeat, mask, ...). */
#define ACSIM_PART(Name, FIRST, SECOND, REPEAT, EXTRA, MODE)                                                 \
  template <typename T, bool isSetMask = true>                                                               \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, FIRST, SECOND, const int32_t dstRepStride, \
            const int32_t srcBlkStride, const int32_t srcRepStride EXTRA, ACSIM_AT) {                        \
    acsim_vector v = acsim::make<T, T>(ACSIM_OP_##Name, &dst.view_, &src.view_, nullptr);                    \
    acsim_repeat r = {};                                                                                     \
    acsim::mask_of(r, mask);                                                                                 \
    if (!isSetMask) r.form = ACSIM_MASK_REGISTER;                                                            \
    r.repeat = REPEAT;                                                                                       \
    r.dst_repeat = static_cast<uint16_t>(dstRepStride);                                                      \
    r.a_block = static_cast<uint16_t>(srcBlkStride);                                                         \
    r.a_repeat = static_cast<uint16_t>(srcRepStride);                                                        \
    v.mode = MODE;                                                                                           \
    acsim::run(v, r, file, line);                                                                            \
  }
ACSIM_PART(WholeReduceSum, const uint64_t mask[], const int32_t times, times, , 0)
ACSIM_PART(WholeReduceSum, const int32_t mask, const int32_t times, times, , 0)
ACSIM_PART(WholeReduceMax, const uint64_t mask[], const int32_t times, times,
           ACSIM_COMMA ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, static_cast<uint8_t>(order))
ACSIM_PART(WholeReduceMax, const int32_t mask, const int32_t times, times,
           ACSIM_COMMA ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, static_cast<uint8_t>(order))
ACSIM_PART(WholeReduceMin, const uint64_t mask[], const int32_t times, times,
           ACSIM_COMMA ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, static_cast<uint8_t>(order))
ACSIM_PART(WholeReduceMin, const int32_t mask, const int32_t times, times,
           ACSIM_COMMA ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, static_cast<uint8_t>(order))
#define ACSIM_BLOCK(Name)                                               \
  ACSIM_PART(Name, const int32_t times, const int32_t mask, times, , 0) \
  ACSIM_PART(Name, const int32_t times, const uint64_t mask[], times, , 0)
ACSIM_BLOCK(BlockReduceSum)
ACSIM_BLOCK(BlockReduceMax)
ACSIM_BLOCK(BlockReduceMin)
ACSIM_BLOCK(PairReduceSum)
#undef ACSIM_BLOCK
#undef ACSIM_PART

/* ---- moving elements about ---- */

template <typename T>
void Brcb(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int64_t repeatTime, const BrcbRepeatParams &p,
          ACSIM_AT) {
  acsim_vector v = acsim::make<T, T>(ACSIM_OP_Brcb, &dst.view_, &src.view_, nullptr);
  acsim_repeat r = {};
  r.repeat = static_cast<int32_t>(repeatTime);
  r.dst_block = p.dstBlkStride;
  r.dst_repeat = p.dstRepStride;
  acsim::run(v, r, file, line);
}
template <typename T> void CreateVecIndex(LocalTensor<T> dst, const T &firstValue, uint32_t count, ACSIM_AT) {
  acsim_vector v = acsim::make<T, T>(ACSIM_OP_CreateVecIndex, &dst.view_, nullptr, nullptr);
  acsim::set_scalar<T>(v, firstValue);
  acsim::run(v, count, file, line);
}
template <typename T>
void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &srcOffset,
            const uint32_t srcBaseAddr, const uint32_t count, ACSIM_AT) {
  acsim_vector v = acsim::make<T, T>(ACSIM_OP_Gather, &dst.view_, &src.view_, &srcOffset.view_);
  v.i = srcBaseAddr;
  acsim::run(v, count, file, line);
}
/* reduceMode: only the first `mask` elements of each repeat count. */
template <typename T, auto mode = 0>
void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const uint8_t src1Pattern,
                const bool reduceMode, const uint32_t mask, const GatherMaskParams &p, uint64_t &rsvdCnt, ACSIM_AT) {
  acsim_vector v = acsim::make<T, T>(ACSIM_OP_GatherMask, &dst.view_, &src0.view_, nullptr);
  acsim_repeat r = acsim::gather_mask_repeat(p);
  v.mode = src1Pattern;
  v.count = reduceMode ? mask : 0;
  rsvdCnt = acsim::run(v, r, file, line);
}
template <typename T, typename U, auto mode = 0>
void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<U> &src1Pattern,
                const bool reduceMode, const uint32_t mask, const GatherMaskParams &p, uint64_t &rsvdCnt, ACSIM_AT) {
  acsim_vector v = acsim::make<T, T>(ACSIM_OP_GatherMask, &dst.view_, &src0.view_, &src1Pattern.view_);
  acsim_repeat r = acsim::gather_mask_repeat(p);
  v.count = reduceMode ? mask : 0;
  rsvdCnt = acsim::run(v, r, file, line);
}
#undef ACSIM_COMMA

/* ---- the scalar unit's conversions ---- */

inline float ToFloat(const bfloat16_t &v) {
  return static_cast<float>(v);
}
inline bfloat16_t ToBfloat16(const float &v) {
  return bfloat16_t(v);
}
} // namespace AscendC
#endif

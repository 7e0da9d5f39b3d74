/* Kernel side, part 7: gathers and scatters in every form, sorts, transposes, blocked copies, filling of global memory, the scalar
 * unit's bit functions, tensor lists. */
#ifndef ACSIM_KERNEL_MORE_H
#define ACSIM_KERNEL_MORE_H

#include "acsim/kernel_mask.h"
#include "acsim/kernel_params.h"

namespace AscendC {
/* ---- gather and scatter ---- */

#define ACSIM_INDEXED(Name, MASK)                                                                          \
  template <typename T>                                                                                    \
  void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &offset,     \
            const uint32_t baseAddr, MASK, const uint8_t repeatTime, const uint16_t repStride, ACSIM_AT) { \
    acsim_vector v = acsim::make<T, T>(ACSIM_OP_##Name, &dst.view_, &src.view_, &offset.view_);            \
    v.i = baseAddr;                                                                                        \
    acsim_repeat r = {};                                                                                   \
    acsim::mask_of(r, mask);                                                                               \
    r.repeat = repeatTime;                                                                                 \
    r.dst_repeat = repStride;                                                                              \
    acsim::run(v, r, file, line);                                                                          \
  }
ACSIM_INDEXED(Gather, const uint64_t mask)
ACSIM_INDEXED(Gather, const uint64_t mask[])
ACSIM_INDEXED(Scatter, const uint64_t mask)
ACSIM_INDEXED(Scatter, const uint64_t mask[])
#undef ACSIM_INDEXED
template <typename T>
void Scatter(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &dstOffset,
             const uint32_t dstBaseAddr, const uint32_t count, ACSIM_AT) {
  acsim_vector v = acsim::make<T, T>(ACSIM_OP_Scatter, &dst.view_, &src.view_, &dstOffset.view_);
  v.i = dstBaseAddr;
  acsim::run(v, count, file, line);
}
template <typename T>
void Gatherb(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<uint32_t> &offset,
             const uint8_t repeatTime, const GatherRepeatParams &p, ACSIM_AT) {
  acsim_vector v = acsim::make<T, T>(ACSIM_OP_Gatherb, &dst.view_, &src0.view_, &offset.view_);
  acsim_repeat r = {};
  r.repeat = repeatTime;
  r.dst_block = p.dstBlkStride;
  r.dst_repeat = p.dstRepStride;
  acsim::run(v, r, file, line);
}

#define ACSIM_INDEX_REPEAT(MASK)                                                                                 \
  template <typename T>                                                                                          \
  void CreateVecIndex(const LocalTensor<T> &dst, const T &firstValue, MASK, uint8_t repeatTime,                  \
                      uint16_t dstBlkStride, uint8_t dstRepStride, ACSIM_AT) {                                   \
    acsim_vector v = acsim::make<T, T>(ACSIM_OP_CreateVecIndex, &dst.view_, nullptr, nullptr);                   \
    acsim::set_scalar<T>(v, firstValue);                                                                         \
    acsim::run(v, acsim::repeat_of(mask, repeatTime, UnaryRepeatParams(dstBlkStride, 0, dstRepStride, 0)), file, \
               line);                                                                                            \
  }
ACSIM_INDEX_REPEAT(uint64_t mask)
ACSIM_INDEX_REPEAT(uint64_t mask[])
#undef ACSIM_INDEX_REPEAT

/* ---- compare and select through the CMPMASK register ---- */

#define ACSIM_COMPARE_REGISTER(MASK)                                                          \
  template <typename T, bool isSetMask = true>                                                \
  void Compare(const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode, MASK, \
               const BinaryRepeatParams &p, ACSIM_AT) {                                       \
    acsim_vector v = acsim::make<T, T>(ACSIM_OP_Compare, nullptr, &src0.view_, &src1.view_);  \
    v.mode = static_cast<uint8_t>(cmpMode);                                                   \
    acsim::run(v, acsim::repeat_of<isSetMask>(mask, 1, p), file, line);                       \
  }
ACSIM_COMPARE_REGISTER(const uint64_t mask)
ACSIM_COMPARE_REGISTER(const uint64_t mask[])
#undef ACSIM_COMPARE_REGISTER
template <typename T, SELMODE selMode>
void Select(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, uint8_t repeatTime,
            const BinaryRepeatParams &p, ACSIM_AT) {
  acsim_vector v = acsim::make<T, T>(ACSIM_OP_Select, &dst.view_, &src0.view_, &src1.view_);
  v.mode = static_cast<uint8_t>(selMode);
  acsim::run(v, acsim::repeat_of<false>(uint64_t(0), repeatTime, p), file, line);
}
/* Mode 1: the scalar is in CMPMASK. */
template <typename T, typename U>
void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, uint8_t repeatTime,
            const BinaryRepeatParams &p, ACSIM_AT) {
  acsim_vector v = acsim::make<T, T>(ACSIM_OP_Select, &dst.view_, &src0.view_, nullptr);
  v.c = &selMask.view_;
  v.mode = static_cast<uint8_t>(SELMODE::VSEL_TENSOR_SCALAR_MODE);
  v.by_register = 1;
  acsim::run(v, acsim::repeat_of<false>(uint64_t(0), repeatTime, p), file, line);
}

/* ---- sort ---- */

template <typename T>
void Sort32(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<uint32_t> &src1,
            const int32_t repeatTime, ACSIM_AT) {
  acsim_sort(ACSIM_SORT32, acsim::type_of<T>::id, &dst.view_, nullptr, &src0.view_, &src1.view_, repeatTime, 0, file,
             line);
}
template <typename T>
void RpSort16(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime, ACSIM_AT) {
  acsim_sort(ACSIM_RP_SORT16, acsim::type_of<T>::id, &dst.view_, nullptr, &src.view_, nullptr, repeatTime, 0, file,
             line);
}
template <typename T>
void ProposalConcat(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime,
                    const int32_t modeNumber, ACSIM_AT) {
  acsim_sort(ACSIM_PROPOSAL_CONCAT, acsim::type_of<T>::id, &dst.view_, nullptr, &src.view_, nullptr, repeatTime,
             modeNumber, file, line);
}
template <typename T>
void ProposalExtract(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime,
                     const int32_t modeNumber, ACSIM_AT) {
  acsim_sort(ACSIM_PROPOSAL_EXTRACT, acsim::type_of<T>::id, &dst.view_, nullptr, &src.view_, nullptr, repeatTime,
             modeNumber, file, line);
}
/* Scores and indices out of sorted records, 32 a repeat. */
template <typename T>
void Extract(const LocalTensor<T> &dstValue, const LocalTensor<uint32_t> &dstIndex, const LocalTensor<T> &sorted,
             const int32_t repeatTime, ACSIM_AT) {
  acsim_sort(ACSIM_EXTRACT, acsim::type_of<T>::id, &dstValue.view_, &dstIndex.view_, &sorted.view_, nullptr,
             repeatTime, 0, file, line);
}
/* On A2 the values are what is sorted: nothing is combined with them first. */
template <typename T>
void Concat(LocalTensor<T> &concat, const LocalTensor<T> &src, const LocalTensor<T> &, const int32_t) {
  concat = src;
}
template <typename T> uint32_t GetSortOffset(const uint32_t elemOffset) {
  return elemOffset * 8 / static_cast<uint32_t>(sizeof(T));
}
template <typename T> uint32_t GetSortLen(const uint32_t elemCount) {
  return elemCount * 8 / static_cast<uint32_t>(sizeof(T));
}
namespace acsim_detail {
template <typename T>
void merge(const LocalTensor<T> &dst, const MrgSortSrcList<T> &l, acsim_merge m, const char *file, int32_t line) {
  const acsim_local *src[4] = {&l.src1.view_, &l.src2.view_, &l.src3.view_, &l.src4.view_};
  m.type = acsim::type_of<T>::id;
  acsim_merge_sort(&dst.view_, src, &m, file, line);
}
inline acsim_merge merge_of(const MrgSort4Info &p, bool proposals) {
  acsim_merge m = {};
  m.proposals = proposals;
  m.suspend = p.ifExhaustedSuspension;
  m.valid = p.validBit;
  m.repeat = p.repeatTimes;
  for (int i = 0; i < 4; i++) m.length[i] = p.elementLengths[i];
  return m;
}
} // namespace acsim_detail
template <typename T>
void MrgSort(const LocalTensor<T> &dst, const MrgSortSrcList<T> &src, const MrgSort4Info &params, ACSIM_AT) {
  acsim_detail::merge(dst, src, acsim_detail::merge_of(params, false), file, line);
}
template <typename T>
void MrgSort4(const LocalTensor<T> &dst, const MrgSortSrcList<T> &src, const MrgSort4Info &params, ACSIM_AT) {
  acsim_detail::merge(dst, src, acsim_detail::merge_of(params, true), file, line);
}
template <typename T, bool isExhaustedSuspension = false>
void MrgSort(const LocalTensor<T> &dst, const MrgSortSrcList<T> &sortList, const uint16_t elementCountList[4],
             uint32_t sortedNum[4], uint16_t validBit, const int32_t repeatTime, ACSIM_AT) {
  acsim_merge m = acsim_detail::merge_of(
      MrgSort4Info(elementCountList, isExhaustedSuspension, validBit, static_cast<uint16_t>(repeatTime)), false);
  acsim_detail::merge(dst, sortList, m, file, line);
  uint16_t n[4];
  acsim_merged(n);
  if (isExhaustedSuspension)
    for (int i = 0; i < 4; i++) sortedNum[i] = n[i];
}

/* ---- transposes ---- */

template <typename T> void Transpose(const LocalTensor<T> &dst, const LocalTensor<T> &src, ACSIM_AT) {
  acsim_transpose16(acsim::type_of<T>::id, &dst.view_, &src.view_, file, line);
}
template <typename T>
void Transpose(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &sharedTmpBuffer,
               const TransposeParamsExt &p, ACSIM_AT) {
  const int64_t nchw[4] = {p.nSize, p.cSize, p.hSize, p.wSize};
  acsim_transpose_shape(static_cast<int32_t>(p.transposeType), acsim::type_of<T>::id, &dst.view_, &src.view_,
                        &sharedTmpBuffer.view_, nchw, file, line);
}
namespace acsim_detail {
template <typename T>
void to_5hd(const acsim_local *dst, const acsim_local *src, const TransDataTo5HDParams &p, const char *file,
            int32_t line) {
  acsim_5hd c = {};
  c.type = acsim::type_of<T>::id;
  c.dst_high = p.dstHighHalf;
  c.src_high = p.srcHighHalf;
  c.repeat = p.repeatTimes;
  c.dst_step = p.dstRepStride;
  c.src_step = p.srcRepStride;
  acsim_trans_5hd(dst, src, &c, file, line);
}
} // namespace acsim_detail
template <typename T>
void TransDataTo5HD(const LocalTensor<T> (&dst)[NCHW_CONV_ADDR_LIST_SIZE],
                    const LocalTensor<T> (&src)[NCHW_CONV_ADDR_LIST_SIZE], const TransDataTo5HDParams &p, ACSIM_AT) {
  acsim_local d[16], s[16];
  for (int i = 0; i < 16; i++) d[i] = dst[i].view_, s[i] = src[i].view_;
  acsim_detail::to_5hd<T>(d, s, p, file, line);
}
/* The lists hold addresses, as GetPhyAddr gives them. */
template <typename T>
void TransDataTo5HD(uint64_t dst[NCHW_CONV_ADDR_LIST_SIZE], uint64_t src[NCHW_CONV_ADDR_LIST_SIZE],
                    const TransDataTo5HDParams &p, ACSIM_AT) {
  acsim_local d[16], s[16];
  for (int i = 0; i < 16; i++) {
    d[i] = acsim::view_of(reinterpret_cast<const void *>(dst[i]));
    s[i] = acsim::view_of(reinterpret_cast<const void *>(src[i]));
  }
  acsim_detail::to_5hd<T>(d, s, p, file, line);
}
/* The functions behind the interface, which public kernels call with pointers (CANN 8.1, basic_api/impl). */
template <typename T>
void TransDataTo5HDImpl(T *(&dst)[NCHW_CONV_ADDR_LIST_SIZE], T *(&src)[NCHW_CONV_ADDR_LIST_SIZE],
                        const TransDataTo5HDParams &p, ACSIM_AT) {
  acsim_local d[16], s[16];
  for (int i = 0; i < 16; i++) d[i] = acsim::view_of(dst[i]), s[i] = acsim::view_of(src[i]);
  acsim_detail::to_5hd<T>(d, s, p, file, line);
}
template <typename T> void DuplicateImpl(T *dst, const T &value, const int32_t &count, ACSIM_AT) {
  LocalTensor<T> to;
  to.view_ = acsim::view_of(dst);
  Duplicate(to, value, static_cast<int64_t>(count), file, line);
}
template <typename T> void DataCopyUB2GMImpl(T *dst, T *src, const DataCopyParams &p, ACSIM_AT) {
  GlobalTensor<T> to;
  LocalTensor<T> from;
  to.SetGlobalBuffer(dst);
  from.view_ = acsim::view_of(src);
  DataCopy(to, from, p, file, line);
}
template <typename T> void DataCopyGM2UBImpl(T *dst, T *src, const DataCopyParams &p, ACSIM_AT) {
  LocalTensor<T> to;
  GlobalTensor<T> from;
  to.view_ = acsim::view_of(dst);
  from.SetGlobalBuffer(src);
  DataCopy(to, from, p, file, line);
}

/* ---- blocked copies ---- */

namespace acsim_detail {
template <typename T> acsim_nz nz_of(const Nd2NzParams &p) {
  acsim_nz c = {};
  c.type = acsim::type_of<T>::id;
  c.nd_num = p.ndNum, c.n_value = p.nValue, c.d_value = p.dValue;
  c.nd_matrix = p.srcNdMatrixStride, c.nd_row = p.srcDValue;
  c.nz_c0 = p.dstNzC0Stride, c.nz_n = p.dstNzNStride, c.nz_matrix = p.dstNzMatrixStride;
  return c;
}
} // namespace acsim_detail
template <typename T>
void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const Nd2NzParams &p, ACSIM_AT) {
  acsim_nz c = acsim_detail::nz_of<T>(p);
  acsim_copy_nd_to_nz(&dst.view_, &src.view_, nullptr, &c, file, line);
}
template <typename T>
void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const Nd2NzParams &p, ACSIM_AT) {
  acsim_nz c = acsim_detail::nz_of<T>(p);
  acsim_copy_nd_to_nz(&dst.view_, nullptr, &src.view_, &c, file, line);
}
template <typename T>
void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const Nz2NdParamsFull &p, ACSIM_AT) {
  acsim_nz c = {};
  c.type = acsim::type_of<T>::id;
  c.nd_num = p.ndNum, c.n_value = p.nValue, c.d_value = p.dValue;
  c.nd_matrix = p.dstNdMatrixStride, c.nd_row = p.dstDStride;
  c.nz_c0 = p.srcNStride, c.nz_n = 1, c.nz_matrix = p.srcNdMatrixStride * 256ll;
  acsim_copy_nz_to_nd(&dst.view_, &src.view_, &c, file, line);
}

/* ---- filling global memory ---- */

template <typename T> void InitOutput(GlobalTensor<T> gm, uint32_t size, T value = 0, ACSIM_AT) {
  acsim_fill_gm(&gm.view_, acsim::type_of<T>::id, &value, size, "InitOutput", file, line);
}
template <typename T> void InitGlobalMemory(GlobalTensor<T> &gm, const uint64_t size, const T value, ACSIM_AT) {
  acsim_fill_gm(&gm.view_, acsim::type_of<T>::id, &value, static_cast<int64_t>(size), "InitGlobalMemory", file, line);
}
template <typename T> void Fill(GlobalTensor<T> &gm, const uint64_t size, const T value, ACSIM_AT) {
  acsim_fill_gm(&gm.view_, acsim::type_of<T>::id, &value, static_cast<int64_t>(size), "Fill", file, line);
}

/* ---- the scalar unit ---- */

template <int countValue> int64_t ScalarGetCountOfValue(uint64_t valueIn) {
  return countValue ? __builtin_popcountll(valueIn) : 64 - __builtin_popcountll(valueIn);
}
inline int64_t ScalarCountLeadingZero(uint64_t valueIn) {
  return valueIn ? __builtin_clzll(valueIn) : 64;
}
/* Bits after the sign bit that equal it. (docs/zh: 0 and -1 give -1) */
inline int64_t CountBitsCntSameAsSignBit(int64_t valueIn) {
  return valueIn == 0 || valueIn == -1 ? -1 : __builtin_clrsbll(valueIn);
}
template <int countValue> int64_t ScalarGetSFFValue(uint64_t valueIn) {
  uint64_t v = countValue ? valueIn : ~valueIn;
  return v ? __builtin_ctzll(v) : -1;
}
template <typename srcT, typename dstT, RoundMode roundMode> dstT ScalarCast(srcT valueIn) {
  double x = static_cast<double>(static_cast<float>(valueIn));
  double r = acsim_scalar_round(x, static_cast<int32_t>(roundMode));
  if constexpr (acsim::type_of<dstT>::floating) return static_cast<dstT>(static_cast<float>(x));
  constexpr double top = sizeof(dstT) >= 8 ? 9223372036854774784.0 : double((1ull << (sizeof(dstT) * 8 - 1)) - 1);
  constexpr double low = sizeof(dstT) >= 8 ? -9223372036854775808.0 : -double(1ull << (sizeof(dstT) * 8 - 1));
  return r != r ? dstT(0) : static_cast<dstT>(r < low ? low : r > top ? top : r);
}
inline float ToFloat(const half &v) {
  return static_cast<float>(v);
}
inline half ToHalf(const float &v) {
  return half(v);
}
/* Scalar Max, Min and the like of kernel_operator's constexpr helpers. */
template <typename T, typename U> constexpr auto CeilDivision(T a, U b) {
  return b == 0 ? a : (a + b - 1) / b;
}

/* ---- lists of tensors: the first word is the byte offset of the address table; (docs/zh, ListTensorDesc) ---- */

template <class T> class TensorDesc {
public:
  void SetShapeAddr(uint64_t *p) { shape_ = p; }
  uint64_t GetDim() const { return dim_; }
  uint64_t GetIndex() const { return index_; }
  uint64_t GetShape(uint32_t i) const { return shape_ && i < dim_ ? shape_[i] : 0; }
  T *GetDataPtr() const { return data_; }
  GlobalTensor<T> GetDataObj() const {
    GlobalTensor<T> g;
    g.SetGlobalBuffer(data_);
    return g;
  }
  uint64_t *shape_ = nullptr;
  uint64_t dim_ = 0, index_ = 0;
  T *data_ = nullptr;
};
class ListTensorDesc {
public:
  ListTensorDesc() {}
  ListTensorDesc(const void *data, uint32_t length = 0xffffffff, uint32_t shapeSize = 0xffffffff, ACSIM_AT) {
    Init(data, length, shapeSize, file, line);
  }
  void Init(const void *data, uint32_t = 0xffffffff, uint32_t = 0xffffffff, ACSIM_AT) {
    base_ = static_cast<const uint8_t *>(data);
    file_ = file, line_ = line;
    offset_ = word(0);
  }
  /* Walks the records: a word with the dimensions in its low half and the tensor's number in its high half, then its dimensions. */
  template <class T> void GetDesc(TensorDesc<T> &d, uint32_t index) const {
    for (uint64_t at = 8; at < offset_;) {
      uint64_t head = word(at), dims = head & 0xffffffff;
      if (head >> 32 == index) {
        d.dim_ = dims;
        d.index_ = index;
        if (d.shape_)
          for (uint64_t i = 0; i < dims; i++) d.shape_[i] = word(at + 8 + 8 * i);
      }
      at += 8 + 8 * dims;
    }
    d.data_ = GetDataPtr<T>(index);
  }
  template <class T> T *GetDataPtr(uint32_t index) const {
    return reinterpret_cast<T *>(word(offset_ + 8ull * index));
  }
  uint32_t GetSize() const {
    uint32_t n = 0;
    for (uint64_t at = 8; at < offset_; n++) at += 8 + 8 * (word(at) & 0xffffffff);
    return n;
  }

private:
  uint64_t word(uint64_t at) const {
    uint64_t v = 0;
    acsim_read_gm(&v, base_ + at, sizeof v, file_, line_);
    return v;
  }
  const uint8_t *base_ = nullptr;
  uint64_t offset_ = 0;
  const char *file_ = nullptr;
  int32_t line_ = 0;
};

/* ---- fused conversions ---- */

#define ACSIM_COMMA ,
#define ACSIM_FUSED(Name)                                                                                       \
  template <typename T, typename U>                                                                             \
  void Name(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1, uint32_t count,  \
            ACSIM_AT) {                                                                                         \
    acsim_vector v = acsim::make<T, U>(ACSIM_OP_##Name, &dst.view_, &src0.view_, &src1.view_);                  \
    acsim::run(v, count, file, line);                                                                           \
  }                                                                                                             \
  template <typename T, typename U, bool isSetMask = true>                                                      \
  void Name(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1, uint64_t mask,   \
            const uint8_t repeatTime, const BinaryRepeatParams &p, ACSIM_AT) {                                  \
    acsim_vector v = acsim::make<T, U>(ACSIM_OP_##Name, &dst.view_, &src0.view_, &src1.view_);                  \
    acsim::run(v, acsim::repeat_of<isSetMask>(mask, repeatTime, p), file, line);                                \
  }                                                                                                             \
  template <typename T, typename U, bool isSetMask = true>                                                      \
  void Name(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1, uint64_t mask[], \
            const uint8_t repeatTime, const BinaryRepeatParams &p, ACSIM_AT) {                                  \
    acsim_vector v = acsim::make<T, U>(ACSIM_OP_##Name, &dst.view_, &src0.view_, &src1.view_);                  \
    acsim::run(v, acsim::repeat_of<isSetMask>(mask, repeatTime, p), file, line);                                \
  }
ACSIM_FUSED(MulCast)
ACSIM_FUSED(AddReluCast)
ACSIM_FUSED(SubReluCast)
#undef ACSIM_FUSED
#undef ACSIM_COMMA

} // namespace AscendC
#endif

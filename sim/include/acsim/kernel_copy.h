/* Kernel side, part 4: DataCopy and DataCopyPad. */
#ifndef ACSIM_KERNEL_COPY_H
#define ACSIM_KERNEL_COPY_H

#include "acsim/kernel_pipe.h"

namespace AscendC {
/* (kernel_struct_data_copy.h) */
struct SliceInfo {
  SliceInfo() {}
  SliceInfo(const uint32_t start, const uint32_t end, const uint32_t between, const uint32_t burst,
            const uint32_t shape = 0)
      : startIndex(start), endIndex(end), stride(between), burstLen(burst), shapeValue(shape) {}
  uint32_t startIndex = 0, endIndex = 31, stride = 0, burstLen = 32, shapeValue = 0;
};
} // namespace AscendC

namespace acsim {
template <typename T> acsim_copy copy_count(int64_t count) {
  acsim_copy c = {};
  c.form = ACSIM_COPY_COUNT;
  c.type = type_of<T>::id;
  c.blocks = 1;
  c.bytes = AscendC::IsSameType<T, AscendC::int4b_t>::value ? count / 2 : count * static_cast<int64_t>(sizeof(T));
  return c;
}
template <typename T> acsim_copy copy_blocks(const AscendC::DataCopyParams &p) {
  acsim_copy c = {};
  c.form = ACSIM_COPY_BLOCKS;
  c.type = type_of<T>::id;
  c.blocks = p.blockCount;
  c.bytes = p.blockLen * 32ll;
  c.src_gap = p.srcStride * 32ll;
  c.dst_gap = p.dstStride * 32ll;
  return c;
}
/* in: the source is global memory */
template <typename T, typename P> acsim_copy copy_pad(const P &p, bool ext, bool in) {
  acsim_copy c = {};
  c.form = ACSIM_COPY_PAD;
  c.type = type_of<T>::id;
  c.ext = ext;
  c.blocks = p.blockCount;
  c.bytes = p.blockLen;
  c.src_gap = p.srcStride * (in ? 1ll : 32ll);
  c.dst_gap = p.dstStride * (in ? 32ll : 1ll);
  return c;
}
template <typename T, typename P> void pad_with(acsim_copy &c, const P &p) {
  T value = static_cast<T>(p.paddingValue);
  c.is_pad = p.isPad;
  c.left = p.leftPadding;
  c.right = p.rightPadding;
  __builtin_memcpy(&c.pad_bits, &value, sizeof(T));
}
/* DataCopyPadParams carries the value's bits. */
template <typename T> void pad_bits(acsim_copy &c, const AscendC::DataCopyPadParams &p) {
  c.is_pad = p.isPad;
  c.left = p.leftPadding;
  c.right = p.rightPadding;
  c.pad_bits = p.paddingValue;
}
inline void slices(acsim_slice to[], const AscendC::SliceInfo from[], uint32_t dims, bool of_tensor,
                   const AscendC::ShapeInfo &shape) {
  for (uint32_t i = 0; i < dims && i < AscendC::K_MAX_SHAPE_DIM; i++) {
    const AscendC::SliceInfo &f = from[i];
    to[i] = {f.startIndex, f.endIndex, f.stride, f.burstLen, of_tensor ? shape.shape[i] : f.shapeValue};
  }
}
/* Where the source's first shapeValue is 0, the tensors' ShapeInfo says how long each dimension is. */
struct slice_copy {
  acsim_slice dst[AscendC::K_MAX_SHAPE_DIM], src[AscendC::K_MAX_SHAPE_DIM];
  template <typename D, typename S>
  slice_copy(const D &d, const AscendC::SliceInfo to[], const S &s, const AscendC::SliceInfo from[], uint32_t dims) {
    bool of_tensor = dims && !from[0].shapeValue;
    slices(dst, to, dims, of_tensor, d.GetShapeInfo());
    slices(src, from, dims, of_tensor, s.GetShapeInfo());
  }
};
} // namespace acsim

namespace AscendC {
template <typename T>
void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const int64_t count, ACSIM_AT) {
  acsim_copy c = acsim::copy_count<T>(count);
  acsim_copy_in(&dst.view_, &src.view_, &c, file, line);
}
template <typename T>
void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const int64_t count, ACSIM_AT) {
  acsim_copy c = acsim::copy_count<T>(count);
  acsim_copy_out(&dst.view_, &src.view_, &c, file, line);
}
template <typename T>
void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int64_t count, ACSIM_AT) {
  acsim_copy c = acsim::copy_count<T>(count);
  acsim_copy_local(&dst.view_, &src.view_, &c, file, line);
}
template <typename T>
void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &p, ACSIM_AT) {
  acsim_copy c = acsim::copy_blocks<T>(p);
  acsim_copy_in(&dst.view_, &src.view_, &c, file, line);
}
template <typename T>
void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &p, ACSIM_AT) {
  acsim_copy c = acsim::copy_blocks<T>(p);
  acsim_copy_out(&dst.view_, &src.view_, &c, file, line);
}
template <typename T>
void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &p, ACSIM_AT) {
  acsim_copy c = acsim::copy_blocks<T>(p);
  acsim_copy_local(&dst.view_, &src.view_, &c, file, line);
}

template <typename T>
void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &p,
                 const DataCopyPadParams &pad, ACSIM_AT) {
  acsim_copy c = acsim::copy_pad<T>(p, false, true);
  acsim::pad_bits<T>(c, pad);
  acsim_copy_in(&dst.view_, &src.view_, &c, file, line);
}
template <typename T>
void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyExtParams &p,
                 const DataCopyPadExtParams<T> &pad, ACSIM_AT) {
  acsim_copy c = acsim::copy_pad<T>(p, true, true);
  acsim::pad_with<T>(c, pad);
  acsim_copy_in(&dst.view_, &src.view_, &c, file, line);
}
template <typename T>
void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &p, ACSIM_AT) {
  acsim_copy c = acsim::copy_pad<T>(p, false, false);
  acsim_copy_out(&dst.view_, &src.view_, &c, file, line);
}
template <typename T>
void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyExtParams &p, ACSIM_AT) {
  acsim_copy c = acsim::copy_pad<T>(p, true, false);
  acsim_copy_out(&dst.view_, &src.view_, &c, file, line);
}
/* Slices. */
template <typename T>
void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const SliceInfo dstSliceInfo[],
              const SliceInfo srcSliceInfo[], const uint32_t dimValue = 1, ACSIM_AT) {
  acsim::slice_copy both(dst, dstSliceInfo, src, srcSliceInfo, dimValue);
  acsim_copy_slices(&dst.view_, &src.view_, true, acsim::type_of<T>::id, both.dst, both.src, dimValue, file, line);
}
template <typename T>
void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const SliceInfo dstSliceInfo[],
              const SliceInfo srcSliceInfo[], const uint32_t dimValue = 1, ACSIM_AT) {
  acsim::slice_copy both(dst, dstSliceInfo, src, srcSliceInfo, dimValue);
  acsim_copy_slices(&src.view_, &dst.view_, false, acsim::type_of<T>::id, both.dst, both.src, dimValue, file, line);
}
/* With DataCopyEnhancedParams: its fields only matter to copies out of L0C. */
template <typename T>
void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &p,
              const DataCopyEnhancedParams &, ACSIM_AT) {
  DataCopy(dst, src, p, file, line);
}
template <typename T>
void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &p,
              const DataCopyEnhancedParams &, ACSIM_AT) {
  DataCopy(dst, src, p, file, line);
}
template <typename T>
void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &p,
              const DataCopyEnhancedParams &, ACSIM_AT) {
  DataCopy(dst, src, p, file, line);
}
template <typename T, TPosition pos = TPosition::MAX> void SetPadValue(T value) {
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  acsim_set_pad_value(bits);
}
} // namespace AscendC
#endif

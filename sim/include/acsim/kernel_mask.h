/* Kernel side, part 6: the mask register, the other registers that vector instructions leave, and the intrinsics on plain
 * pointers that public kernels call. */
#ifndef ACSIM_KERNEL_MASK_H
#define ACSIM_KERNEL_MASK_H

#include "acsim/kernel_vector.h"

namespace AscendC {
/* A file's name that no number turns into: SetVectorMask<T>(0, 0) must not mean the form with one number. */
struct acsim_file {
  template <typename P, typename acsim::only_if<IsSameType<P, const char *>::value>::type = 0>
  acsim_file(P n) : name(n) {}
  const char *name;
};
#define ACSIM_PLACE acsim_file file = __builtin_FILE(), int32_t line = __builtin_LINE()

template <typename T, MaskMode mode = MaskMode::NORMAL>
void SetVectorMask(const uint64_t maskHigh, const uint64_t maskLow, ACSIM_PLACE) {
  acsim_mask_set(maskHigh, maskLow, mode == MaskMode::COUNTER ? ACSIM_MASK_ELEMENTS : ACSIM_MASK_AS_MODE, file.name,
                 line);
}
template <typename T, MaskMode mode = MaskMode::NORMAL> void SetVectorMask(int32_t len, ACSIM_PLACE) {
  if (mode == MaskMode::COUNTER) {
    acsim_mask_set(0, static_cast<uint64_t>(len), ACSIM_MASK_ELEMENTS, file.name, line);
    return;
  }
  constexpr int32_t lanes = sizeof(T) == 1 ? 128 : 256 / static_cast<int32_t>(sizeof(T));
  acsim_mask_lanes(len, lanes, "SetVectorMask", file.name, line);
  acsim_repeat r = {};
  acsim::mask_of(r, len);
  acsim_mask_set(r.mask[1], r.mask[0], ACSIM_MASK_LANES, file.name, line);
}
inline void SetMaskCount(ACSIM_AT) {
  acsim_mask_counter(1, file, line);
}
inline void SetMaskNorm(ACSIM_AT) {
  acsim_mask_counter(0, file, line);
}
inline void ResetMask(ACSIM_AT) {
  acsim_mask_set(~0ull, ~0ull, ACSIM_MASK_FULL, file, line);
}

/* Index: the bits of an integer, as on the device. */
template <typename T> void GetReduceMaxMinCount(T &maxMinValue, T &maxMinIndex) {
  acsim_reduce_peak(acsim::type_of<T>::id, &maxMinValue, &maxMinIndex);
}
inline int64_t GetGatherMaskRemainCount() {
  return acsim_gather_count();
}
inline void GetMrgSortResult(uint16_t &a, uint16_t &b, uint16_t &c, uint16_t &d) {
  uint16_t n[4];
  acsim_merged(n);
  a = n[0], b = n[1], c = n[2], d = n[3];
}
/* The register's 64 bits; a float's are the low 32. */
inline int64_t GetAccVal() {
  float f = static_cast<float>(acsim_accumulated());
  uint32_t bits;
  __builtin_memcpy(&bits, &f, sizeof bits);
  return static_cast<int64_t>(bits);
}
template <typename T> T GetAccVal() {
  return static_cast<T>(static_cast<float>(acsim_accumulated()));
}
inline void SetDeqScale(half scale) {
  acsim_set_deq_scale(scale.bits);
}
template <typename T> void GetCmpMask(const LocalTensor<T> &dst, ACSIM_AT) {
  acsim_cmp_mask_get(&dst.view_, file, line);
}
template <typename T> void SetCmpMask(const LocalTensor<T> &src, ACSIM_AT) {
  acsim_cmp_mask_set(&src.view_, file, line);
}

class AscendCUtils {
public:
  static int32_t GetBitSize(int32_t byteSize) { return byteSize * 8; }
  static int32_t GetC0Size() { return 32; }
  static int32_t GetC0Count(const int32_t dtypeSize) { return 32 / dtypeSize; }
  static int32_t GetDefaultBlockNum() { return 8; }
  static int64_t GetRsvdCnt() { return acsim_gather_count(); }
  static void SetMask(const uint64_t &high, const uint64_t &low, ACSIM_AT) {
    acsim_mask_set(high, low, ACSIM_MASK_AS_MODE, file, line);
  }
  template <typename T, bool isSetMask = true>
  static void SetMask(const uint64_t &high, const uint64_t &low, ACSIM_PLACE) {
    if (isSetMask) acsim_mask_set(high, low, ACSIM_MASK_AS_MODE, file.name, line);
  }
  template <typename T, bool isSetMask = true> static void SetMask(int32_t len, ACSIM_PLACE) {
    if (isSetMask) SetVectorMask<T, MaskMode::NORMAL>(len, file, line);
  }
  template <typename T> static void SetMaskCount(ACSIM_AT) { acsim_mask_counter(1, file, line); }
  template <typename T> static void SetMaskNorm(ACSIM_AT) { acsim_mask_counter(0, file, line); }
  template <bool isSetMask = true> static void ResetMask(ACSIM_AT) {
    if (isSetMask) acsim_mask_set(~0ull, ~0ull, ACSIM_MASK_FULL, file, line);
  }
  static void SetOverflow(uint64_t ctrlValue, ACSIM_AT) { acsim_ctrl_set(48, 48, ctrlValue == 1, file, line); }
};
} // namespace AscendC

inline uint64_t get_ctrl() {
  return acsim_ctrl_all();
}
inline void set_ctrl(uint64_t value, ACSIM_AT) {
  acsim_ctrl_set_all(value, file, line);
}
inline uint64_t sbitset0(uint64_t value, int64_t bit) {
  return value & ~(1ull << (bit & 63));
}
inline uint64_t sbitset1(uint64_t value, int64_t bit) {
  return value | 1ull << (bit & 63);
}
inline void set_vector_mask(uint64_t high, uint64_t low, ACSIM_AT) {
  bool full = (high & low) == ~0ull;
  acsim_mask_set(high, low, full ? ACSIM_MASK_FULL : ACSIM_MASK_AS_MODE, file, line);
}
inline void set_mask_count(ACSIM_AT) {
  acsim_mask_counter(1, file, line);
}
inline void set_mask_norm(ACSIM_AT) {
  acsim_mask_counter(0, file, line);
}

namespace acsim {
inline acsim_local view_of(const void *p) {
  acsim_local t;
  acsim_local_of(p, &t);
  return t;
}
} // namespace acsim

/* Sums of the repeats; with `whole` one sum of all of them, in the accumulation register, and nothing in dst. */
template <typename T, typename D>
void vcadd(D dst, T *src, int64_t repeat, uint16_t dstRepeatStride, uint16_t srcBlockStride, uint16_t srcRepeatStride,
           bool whole, ACSIM_AT) {
  acsim_local d = acsim::view_of(static_cast<T *>(dst)), s = acsim::view_of(src);
  acsim_vector v =
      acsim::make<T, T>(whole ? ACSIM_OP_AccumulateSum : ACSIM_OP_WholeReduceSum, whole ? nullptr : &d, &s, nullptr);
  acsim_repeat r = {};
  r.form = ACSIM_MASK_REGISTER;
  r.repeat = static_cast<int32_t>(repeat);
  r.dst_repeat = dstRepeatStride;
  r.a_block = srcBlockStride;
  r.a_repeat = srcRepeatStride;
  acsim::run(v, r, file, line);
}
inline int64_t get_acc_val() {
  return AscendC::GetAccVal();
}
template <typename T, typename S>
void vector_dup(T *dst, S value, uint8_t repeat, uint16_t dstBlockStride, uint16_t, uint16_t dstRepeatStride,
                uint16_t, ACSIM_AT) {
  acsim_local d = acsim::view_of(dst);
  acsim_vector v = acsim::make<T, T>(ACSIM_OP_Duplicate, &d, nullptr, nullptr);
  acsim::set_scalar<T>(v, static_cast<T>(value));
  acsim_repeat r = {};
  r.form = ACSIM_MASK_REGISTER;
  r.repeat = repeat;
  r.dst_block = dstBlockStride;
  r.dst_repeat = dstRepeatStride;
  acsim::run(v, r, file, line);
}
/* The element-wise intrinsics: dst, sources, repeat, block strides, repeat strides; the mask register is in force. */
#define ACSIM_RAW_BINARY(name, Op)                                                                                   \
  template <typename T>                                                                                              \
  void name(T *dst, T *a, T *b, uint8_t repeat, uint8_t dstBlock, uint8_t aBlock, uint8_t bBlock, uint8_t dstRepeat, \
            uint8_t aRepeat, uint8_t bRepeat, ACSIM_AT) {                                                            \
    acsim_local d = acsim::view_of(dst), x = acsim::view_of(a), y = acsim::view_of(b);                               \
    acsim_vector v = acsim::make<T, T>(ACSIM_OP_##Op, &d, &x, &y);                                                   \
    acsim::run(                                                                                                      \
        v,                                                                                                           \
        acsim::repeat_of<false>(uint64_t(0), repeat,                                                                 \
                                AscendC::BinaryRepeatParams(dstBlock, aBlock, bBlock, dstRepeat, aRepeat, bRepeat)), \
        file, line);                                                                                                 \
  }
ACSIM_RAW_BINARY(vadd, Add)
ACSIM_RAW_BINARY(vsub, Sub)
ACSIM_RAW_BINARY(vmul, Mul)
ACSIM_RAW_BINARY(vdiv, Div)
ACSIM_RAW_BINARY(vmax, Max)
ACSIM_RAW_BINARY(vmin, Min)
ACSIM_RAW_BINARY(vor, Or)
ACSIM_RAW_BINARY(vand, And)
#undef ACSIM_RAW_BINARY

inline void vtranspose(uint16_t *dst, uint16_t *src, ACSIM_AT) {
  acsim_local d = acsim::view_of(dst), s = acsim::view_of(src);
  acsim_transpose16(ACSIM_U16, &d, &s, file, line);
}
/* Address registers: lists of eight addresses, two of them to a list of TransDataTo5HD. */
enum ub_addr8_t { VA0, VA1, VA2, VA3, VA4, VA5, VA6, VA7 };
inline void set_va_reg_sb(ub_addr8_t reg, uint64_t *addresses) {
  acsim_address_register(reg, addresses);
}
inline void scatter_vnchwconv_b16(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dstStride,
                                  uint16_t srcStride, ACSIM_AT) {
  acsim_local d[16], s[16];
  acsim_5hd c = {};
  c.type = ACSIM_U16;
  c.repeat = repeat;
  c.dst_step = dstStride;
  c.src_step = srcStride;
  for (int i = 0; i < 16; i++) {
    d[i] = acsim::view_of(reinterpret_cast<const void *>(acsim_address(dst + i / 8, i % 8)));
    s[i] = acsim::view_of(reinterpret_cast<const void *>(acsim_address(src + i / 8, i % 8)));
  }
  acsim_trans_5hd(d, s, &c, file, line);
}

inline void copy_ubuf_to_ubuf(void *dst, const void *src, uint8_t, uint16_t blocks, uint16_t length, uint16_t srcGap,
                              uint16_t dstGap, ACSIM_AT) {
  acsim_local d = acsim::view_of(dst), s = acsim::view_of(src);
  acsim_copy c = acsim::copy_blocks<uint8_t>(AscendC::DataCopyParams(blocks, length, srcGap, dstGap));
  acsim_copy_local(&d, &s, &c, file, line);
}
#endif

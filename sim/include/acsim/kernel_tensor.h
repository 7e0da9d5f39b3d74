/* Kernel side, part 2: GlobalTensor and LocalTensor. */
#ifndef ACSIM_KERNEL_TENSOR_H
#define ACSIM_KERNEL_TENSOR_H

#include "acsim/kernel_abi_basic.h"
#include "acsim/kernel_types.h"

namespace AscendC {
struct ShapeInfo {
  ShapeInfo() {}
  ShapeInfo(uint8_t dim, const uint32_t dims[], DataFormat format = DataFormat::ND)
      : shapeDim(dim), originalShapeDim(dim), dataFormat(format) {
    for (int i = 0; i < dim && i < K_MAX_SHAPE_DIM; i++) shape[i] = originalShape[i] = dims[i];
  }
  uint8_t shapeDim = 0, originalShapeDim = 0;
  uint32_t shape[K_MAX_SHAPE_DIM] = {}, originalShape[K_MAX_SHAPE_DIM] = {};
  DataFormat dataFormat = DataFormat::ND;
};

/* Elements of a shape. */
inline uint64_t GetShapeSize(const ShapeInfo &s) {
  uint64_t n = 1;
  for (int i = 0; i < s.shapeDim && i < K_MAX_SHAPE_DIM; i++) n *= s.shape[i];
  return n;
}

template <typename T> class LocalTensor;

/* A tensor without a type, as the untyped forms of a queue hand it out; and where it lies. */
struct TBufHandle {
  acsim_local view_ = {};
};
struct TBuffAddr {
  uint32_t dataLen = 0, bufferAddr = 0;
  TBufHandle bufferHandle;
  uint8_t logicPos = 0;
};

/* Bytes of n elements: two 4-bit integers share a byte. */
template <typename T> constexpr uint32_t acsim_bytes_of(uint32_t n) {
  return IsSameType<T, int4b_t>::value ? n / 2 : n * static_cast<uint32_t>(sizeof(T));
}

/* What tensor(i) gives: an element that can be read and assigned. */
template <typename T> struct ElementOfLocal {
  const acsim_local &t;
  uint32_t index;
  const char *file;
  int32_t line;
  operator T() const {
    T v;
    acsim_local_get(&t, index, sizeof(T), &v, file, line);
    return v;
  }
  const ElementOfLocal &operator=(const T &v) const {
    acsim_local_set(&t, index, sizeof(T), &v, file, line);
    return *this;
  }
};

/* dst = a + b and the like: whole-tensor operators. */
template <typename T> struct TensorExpression {
  uint8_t op;
  const LocalTensor<T> &a, &b;
  const char *file;
  int32_t line;
};

template <typename T> struct CompareExpression {
  CMPMODE mode;
  const LocalTensor<T> &a, &b;
};

template <typename T> class LocalTensor {
public:
  using PrimType = T;
  LocalTensor() {}
  /* At a fixed address, without TPipe (docs/zh, LocalTensor constructors). */
  LocalTensor(TPosition pos, uint32_t addr, uint32_t tileSize, ACSIM_AT) {
    acsim_static_local(static_cast<int32_t>(pos), addr, acsim_bytes_of<T>(tileSize), &view_, file, line);
  }
  LocalTensor(const LocalTensor &) = default;
  LocalTensor &operator=(const LocalTensor &) = default;

  LocalTensor operator[](const uint32_t offset) const {
    LocalTensor r(*this);
    uint32_t bytes = acsim_bytes_of<T>(offset);
    r.view_.addr += bytes;
    r.view_.len = bytes < view_.len ? view_.len - bytes : 0;
    return r;
  }
  T GetValue(const uint32_t offset, ACSIM_AT) const {
    T v;
    acsim_local_get(&view_, offset, sizeof(T), &v, file, line);
    return v;
  }
  template <typename U> void SetValue(const uint32_t index, const U value, ACSIM_AT) const {
    T v = static_cast<T>(value);
    acsim_local_set(&view_, index, sizeof(T), &v, file, line);
  }
  ElementOfLocal<T> operator()(const uint32_t offset, ACSIM_AT) const {
    return ElementOfLocal<T>{view_, offset, file, line};
  }
  template <typename U> LocalTensor<U> ReinterpretCast() const {
    LocalTensor<U> r;
    r.view_ = view_;
    return r;
  }
  template <typename U> void SetAddrWithOffset(LocalTensor<U> &src, uint32_t offset) {
    view_ = src.view_;
    view_.addr += offset * static_cast<uint32_t>(sizeof(U));
  }
  void SetAddr(const TBuffAddr &a) { view_ = a.bufferHandle.view_; }
  __ubuf__ T *GetPhyAddr(ACSIM_AT) const { return static_cast<T *>(acsim_local_ptr(&view_, 0, file, line)); }
  __ubuf__ T *GetPhyAddr(const uint32_t offset, ACSIM_AT) const {
    return static_cast<T *>(acsim_local_ptr(&view_, static_cast<int64_t>(offset) * sizeof(T), file, line));
  }
  uint32_t GetSize() const {
    return IsSameType<T, int4b_t>::value ? view_.len * 2 : view_.len / static_cast<uint32_t>(sizeof(T));
  }
  void SetSize(const uint32_t size) { view_.len = acsim_bytes_of<T>(size); }
  uint32_t GetLength() const { return view_.len; }
  void SetBufferLen(uint32_t bytes) { view_.len = bytes; }
  int32_t GetPosition() const { return view_.pos; }
  void SetUserTag(const TTagType tag) { tag_ = tag; }
  TTagType GetUserTag() const { return tag_; }
  void SetShapeInfo(const ShapeInfo &s) { shapeInfo_ = s; }
  ShapeInfo GetShapeInfo() const { return shapeInfo_; }
  /* To stderr, 32 bytes a line; and to a file of raw bytes. */
  void Print(uint32_t len, ACSIM_AT) const {
    acsim_dump_local(&view_, acsim::type_of<T>::id, 0, len, -1, "Print", file, line);
  }
  void Print() const { Print(GetSize()); }
  int32_t ToFile(const char *fileName, ACSIM_AT) const { return acsim_local_to_file(&view_, fileName, file, line); }

  void operator=(const TensorExpression<T> &e) { acsim_assign(e, e.file, e.line); }
  TensorExpression<T> operator+(const LocalTensor &b) const { return {ACSIM_OP_Add, *this, b, nullptr, 0}; }
  TensorExpression<T> operator-(const LocalTensor &b) const { return {ACSIM_OP_Sub, *this, b, nullptr, 0}; }
  TensorExpression<T> operator*(const LocalTensor &b) const { return {ACSIM_OP_Mul, *this, b, nullptr, 0}; }
  TensorExpression<T> operator/(const LocalTensor &b) const { return {ACSIM_OP_Div, *this, b, nullptr, 0}; }
  TensorExpression<T> operator|(const LocalTensor &b) const { return {ACSIM_OP_Or, *this, b, nullptr, 0}; }
  TensorExpression<T> operator&(const LocalTensor &b) const { return {ACSIM_OP_And, *this, b, nullptr, 0}; }

  /* dst = a < b: bits of whole tensors. */
  template <typename U> void operator=(const CompareExpression<U> &e) {
    acsim_vector v = {};
    v.op = ACSIM_OP_Compare;
    v.mode = static_cast<uint8_t>(e.mode);
    v.type = acsim::type_of<U>::id;
    v.dst_type = acsim::type_of<T>::id;
    v.dst = &view_;
    v.a = &e.a.view_;
    v.b = &e.b.view_;
    v.count = e.a.GetSize();
    acsim_vec(&v, nullptr, 0);
  }
  CompareExpression<T> operator<(const LocalTensor &b) const { return {CMPMODE::LT, *this, b}; }
  CompareExpression<T> operator>(const LocalTensor &b) const { return {CMPMODE::GT, *this, b}; }
  CompareExpression<T> operator<=(const LocalTensor &b) const { return {CMPMODE::LE, *this, b}; }
  CompareExpression<T> operator>=(const LocalTensor &b) const { return {CMPMODE::GE, *this, b}; }
  CompareExpression<T> operator==(const LocalTensor &b) const { return {CMPMODE::EQ, *this, b}; }
  CompareExpression<T> operator!=(const LocalTensor &b) const { return {CMPMODE::NE, *this, b}; }

  acsim_local view_ = {};
  ShapeInfo shapeInfo_;

private:
  void acsim_assign(const TensorExpression<T> &e, const char *file, int32_t line) {
    acsim_vector v = {};
    v.op = e.op;
    v.type = v.dst_type = acsim::type_of<T>::id;
    v.dst = &view_;
    v.a = &e.a.view_;
    v.b = &e.b.view_;
    v.count = GetSize();
    acsim_vec(&v, file, line);
  }
  TTagType tag_ = 0;
};

template <typename T> struct ElementOfGlobal {
  const acsim_global &t;
  uint64_t index;
  const char *file;
  int32_t line;
  operator T() const {
    T v;
    acsim_global_get(&t, static_cast<int64_t>(index), sizeof(T), &v, file, line);
    return v;
  }
  const ElementOfGlobal &operator=(const T &v) const {
    acsim_global_set(&t, static_cast<int64_t>(index), sizeof(T), &v, file, line);
    return *this;
  }
};

template <typename T> class GlobalTensor {
public:
  using PrimType = T;
  GlobalTensor() {}
  void SetGlobalBuffer(__gm__ T *buffer, uint64_t size) {
    view_.ptr = view_.base = const_cast<uint8_t *>(reinterpret_cast<const volatile uint8_t *>(buffer));
    view_.bytes = size * sizeof(T);
    bufferSize_ = size;
  }
  void SetGlobalBuffer(__gm__ T *buffer) { SetGlobalBuffer(buffer, 0); }
  const __gm__ T *GetPhyAddr() const { return reinterpret_cast<const T *>(view_.ptr); }
  __gm__ T *GetPhyAddr(const uint64_t offset) const { return reinterpret_cast<T *>(view_.ptr + offset * sizeof(T)); }
  T GetValue(const uint64_t offset, ACSIM_AT) const {
    T v;
    acsim_global_get(&view_, static_cast<int64_t>(offset), sizeof(T), &v, file, line);
    return v;
  }
  void SetValue(const uint64_t offset, T value, ACSIM_AT) {
    acsim_global_set(&view_, static_cast<int64_t>(offset), sizeof(T), &value, file, line);
  }
  ElementOfGlobal<T> operator()(const uint64_t offset, ACSIM_AT) const {
    return ElementOfGlobal<T>{view_, offset, file, line};
  }
  GlobalTensor operator[](const uint64_t offset) const {
    GlobalTensor r(*this);
    r.view_.ptr += offset * sizeof(T);
    return r;
  }
  template <typename U> GlobalTensor<U> ReinterpretCast() const {
    GlobalTensor<U> r;
    r.view_ = view_;
    r.bufferSize_ = bufferSize_ * sizeof(T) / sizeof(U);
    return r;
  }
  uint64_t GetSize() const { return bufferSize_; }
  void SetShapeInfo(const ShapeInfo &s) { shapeInfo_ = s; }
  ShapeInfo GetShapeInfo() const { return shapeInfo_; }
  template <CacheRwMode mode = CacheRwMode::RW> void SetL2CacheHint(CacheMode) {}

  acsim_global view_ = {};
  uint64_t bufferSize_ = 0;
  ShapeInfo shapeInfo_;
};
} // namespace AscendC
#endif

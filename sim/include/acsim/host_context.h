/* Host side, part 4: namespace gert - shapes, tensors, attributes and the three contexts that op_host functions are given.
 * Interfaces as CANN's exe_graph/runtime headers have them; the storage is our own: a context points at the runner's call. */
#ifndef ACSIM_HOST_CONTEXT_H
#define ACSIM_HOST_CONTEXT_H

#include "acsim/host_platform.h"
#include "acsim/host_tiling.h"

namespace gert {
struct Shape {
  static constexpr size_t kMaxDimNum = 25;
  static constexpr int64_t kInvalidDimValue = INT64_MIN;
  Shape() = default;
  Shape(const std::initializer_list<int64_t> &dims) {
    if (dims.size() > kMaxDimNum) return;
    for (int64_t d : dims) dims_[dim_num_++] = d;
  }
  bool operator==(const Shape &o) const {
    if (dim_num_ != o.dim_num_) return false;
    for (size_t i = 0; i < dim_num_; i++)
      if (dims_[i] != o.dims_[i]) return false;
    return true;
  }
  bool operator!=(const Shape &o) const { return !(*this == o); }
  int64_t GetShapeSize() const {
    int64_t n = 1;
    for (size_t i = 0; i < dim_num_; i++)
      if (__builtin_mul_overflow(n, dims_[i], &n)) return kInvalidDimValue;
    return n;
  }
  bool IsScalar() const { return dim_num_ == 0; }
  void SetScalar() { dim_num_ = 0; }
  size_t GetDimNum() const { return dim_num_; }
  void SetDimNum(size_t n) { dim_num_ = n <= kMaxDimNum ? n : kMaxDimNum; }
  int64_t GetDim(size_t i) const { return i < kMaxDimNum ? dims_[i] : kInvalidDimValue; }
  const int64_t &operator[](size_t i) const { return dims_[i < kMaxDimNum ? i : kMaxDimNum - 1]; }
  int64_t &operator[](size_t i) { return dims_[i < kMaxDimNum ? i : kMaxDimNum - 1]; }
  void SetDim(size_t i, int64_t v) {
    if (i >= kMaxDimNum) return;
    dims_[i] = v;
    if (dim_num_ < i) dim_num_ = i; /* as CANN does it: setting dimension n does not count it */
  }
  Shape &AppendDim(int64_t v) {
    if (dim_num_ < kMaxDimNum) dims_[dim_num_++] = v;
    return *this;
  }

private:
  size_t dim_num_ = 0;
  int64_t dims_[kMaxDimNum] = {0};
};

struct StorageShape {
  StorageShape() = default;
  StorageShape(const std::initializer_list<int64_t> &origin, const std::initializer_list<int64_t> &storage)
      : origin_(origin), storage_(storage) {}
  const Shape &GetOriginShape() const { return origin_; }
  const Shape &GetStorageShape() const { return storage_; }
  Shape &MutableOriginShape() { return origin_; }
  Shape &MutableStorageShape() { return storage_; }
  bool operator==(const StorageShape &o) const { return origin_ == o.origin_ && storage_ == o.storage_; }
  bool operator!=(const StorageShape &o) const { return !(*this == o); }

private:
  Shape origin_, storage_;
};

struct StorageFormat {
  ge::Format GetOriginFormat() const { return origin; }
  ge::Format GetStorageFormat() const { return storage; }
  ge::Format origin = ge::FORMAT_ND, storage = ge::FORMAT_ND;
};

class CompileTimeTensorDesc {
public:
  ge::DataType GetDataType() const { return type; }
  ge::Format GetOriginFormat() const { return format.origin; }
  ge::Format GetStorageFormat() const { return format.storage; }
  const StorageFormat &GetFormat() const { return format; }
  ge::DataType type = ge::DT_UNDEFINED;
  StorageFormat format;
};

class Tensor {
public:
  int64_t GetShapeSize() const { return shape.GetStorageShape().GetShapeSize(); }
  template <class T> const T *GetData() const { return static_cast<const T *>(data); }
  const void *GetAddr() const { return data; }
  size_t GetSize() const {
    int64_t n = ge::GetSizeInBytes(GetShapeSize(), type);
    return n < 0 ? 0 : static_cast<size_t>(n);
  }
  ge::DataType GetDataType() const { return type; }
  const StorageShape &GetShape() const { return shape; }
  const Shape &GetStorageShape() const { return shape.GetStorageShape(); }
  const Shape &GetOriginShape() const { return shape.GetOriginShape(); }
  ge::Format GetStorageFormat() const { return ge::FORMAT_ND; }
  ge::Format GetOriginFormat() const { return ge::FORMAT_ND; }
  StorageShape shape;
  ge::DataType type = ge::DT_UNDEFINED;
  const void *data = nullptr; /* only where the OpDef says ValueDepend, as on the real host */
};

/* The values of a list attribute; the typed form adds nothing but the type, so that GetAttrPointer may ask for either. */
class ContinuousVector {
public:
  ContinuousVector() = default;
  ContinuousVector(const ContinuousVector &o) { acsim_set(o.data_, o.n_, o.elem_); }
  ContinuousVector &operator=(const ContinuousVector &o) {
    if (this != &o) acsim_set(o.data_, o.n_, o.elem_);
    return *this;
  }
  ~ContinuousVector() { ::free(data_); }
  const void *GetData() const { return data_; }
  void *MutableData() { return data_; }
  size_t GetSize() const { return n_; }
  size_t GetCapacity() const { return n_; }
  void acsim_set(const void *from, size_t n, size_t elem) {
    ::free(data_);
    data_ = n ? ::malloc(n * elem) : nullptr;
    if (n && !data_) ::abort();
    if (n) ::memcpy(data_, from, n * elem);
    n_ = n;
    elem_ = elem;
  }

private:
  void *data_ = nullptr;
  size_t n_ = 0, elem_ = 0;
};
template <class T> class TypedContinuousVector : public ContinuousVector {
public:
  const T *GetData() const { return static_cast<const T *>(ContinuousVector::GetData()); }
  T *MutableData() { return static_cast<T *>(ContinuousVector::MutableData()); }
  template <class L> void acsim_assign(const L &l) {
    acsim_host::list<T> v;
    v.assign(l);
    acsim_set(v.data(), v.size(), sizeof(T));
  }
};

class RuntimeAttrs {
public:
  template <class T> const T *GetAttrPointer(size_t i) const {
    return i < slots.size() ? static_cast<const T *>(slots[i]) : nullptr;
  }
  const int64_t *GetInt(size_t i) const { return GetAttrPointer<int64_t>(i); }
  const float *GetFloat(size_t i) const { return GetAttrPointer<float>(i); }
  const bool *GetBool(size_t i) const { return GetAttrPointer<bool>(i); }
  const char *GetStr(size_t i) const { return GetAttrPointer<char>(i); }
  const TypedContinuousVector<int64_t> *GetListInt(size_t i) const {
    return GetAttrPointer<TypedContinuousVector<int64_t>>(i);
  }
  const TypedContinuousVector<float> *GetListFloat(size_t i) const {
    return GetAttrPointer<TypedContinuousVector<float>>(i);
  }
  const TypedContinuousVector<bool> *GetListBool(size_t i) const {
    return GetAttrPointer<TypedContinuousVector<bool>>(i);
  }
  size_t GetAttrNum() const { return slots.size(); }
  acsim_host::list<const void *> slots;
};

class TilingData {
public:
  size_t GetCapacity() const { return capacity; }
  size_t GetDataSize() const { return size; }
  void SetDataSize(size_t n) { size = n; }
  void *GetData() { return data; }
  const void *GetData() const { return data; }
  template <class T> ge::graphStatus Append(const T &v) {
    if (capacity - size < sizeof(T)) return ge::GRAPH_FAILED;
    ::memcpy(static_cast<uint8_t *>(data) + size, &v, sizeof(T));
    size += sizeof(T);
    return ge::GRAPH_SUCCESS;
  }
  void *data = nullptr;
  size_t capacity = 0, size = 0;
};

/* The tensors of one parameter among all inputs. */
class AnchorInstanceInfo {
public:
  size_t GetInstanceNum() const { return count; }
  size_t GetInstanceStart() const { return start; }
  size_t start = 0, count = 0;
};
class ComputeNodeInfo {
public:
  const AnchorInstanceInfo *GetInputInstanceInfo(size_t i) const { return i < n ? v + i : nullptr; }
  size_t GetIrInputsNum() const { return n; }
  size_t GetInputsNum() const { return n_in; }
  size_t GetOutputsNum() const { return n_out; }
  const char *GetNodeType() const { return type; }
  const char *GetNodeName() const { return type; }
  const AnchorInstanceInfo *v = nullptr;
  size_t n = 0, n_in = 0, n_out = 0;
  const char *type = "";
};

/* What every context knows of the node. */
class ExtendedKernelContext {
public:
  const ComputeNodeInfo *GetComputeNodeInfo() const {
    node_info.v = instances;
    node_info.n = n_params;
    node_info.n_in = n_in;
    node_info.n_out = n_out;
    node_info.type = type;
    return &node_info;
  }
  const AnchorInstanceInfo *GetIrInputInstanceInfo(size_t i) const { return i < n_params ? &instances[i] : nullptr; }
  const CompileTimeTensorDesc *GetInputDesc(size_t i) const { return at(in_desc, n_in, i); }
  const CompileTimeTensorDesc *GetOptionalInputDesc(size_t i) const { return at(in_desc, n_in, dynamic(i, 0)); }
  const CompileTimeTensorDesc *GetRequiredInputDesc(size_t i) const { return at(in_desc, n_in, dynamic(i, 0)); }
  const CompileTimeTensorDesc *GetDynamicInputDesc(size_t i, size_t r) const {
    return at(in_desc, n_in, dynamic(i, r));
  }
  const CompileTimeTensorDesc *GetOutputDesc(size_t i) const { return at(out_desc, n_out, i); }
  size_t GetComputeNodeInputNum() const { return n_in; }
  size_t GetComputeNodeOutputNum() const { return n_out; }
  const RuntimeAttrs *GetAttrs() const { return &attrs; }
  const char *GetNodeType() const { return type; }
  const char *GetNodeName() const { return type; }

  /* storage, filled by acsim_host::fill */
  static constexpr size_t kMax = ACSIM_HOST_TENSORS;
  CompileTimeTensorDesc in_desc[kMax], out_desc[kMax];
  Tensor in[kMax], out[kMax];
  size_t n_in = 0, n_out = 0, n_params = 0;
  AnchorInstanceInfo instances[kMax];
  mutable ComputeNodeInfo node_info;
  RuntimeAttrs attrs;
  const char *type = "";
  acsim_host_call *call = nullptr;

protected:
  /* Number r of parameter i among all inputs; kMax: there is none. */
  size_t dynamic(size_t i, size_t r) const {
    return i < n_params && r < instances[i].count ? instances[i].start + r : kMax;
  }
  template <class T> static const T *at(const T *v, size_t n, size_t i) { return i < n ? v + i : nullptr; }
};

class TilingContext : public ExtendedKernelContext {
public:
  const StorageShape *GetInputShape(size_t i) const { return i < n_in ? &in[i].shape : nullptr; }
  const StorageShape *GetOptionalInputShape(size_t i) const { return GetInputShape(dynamic(i, 0)); }
  const StorageShape *GetRequiredInputShape(size_t i) const { return GetInputShape(dynamic(i, 0)); }
  const StorageShape *GetDynamicInputShape(size_t i, size_t r) const { return GetInputShape(dynamic(i, r)); }
  const StorageShape *GetOutputShape(size_t i) const { return i < n_out ? &out[i].shape : nullptr; }
  const Tensor *GetInputTensor(size_t i) const { return at(in, n_in, i); }
  const Tensor *GetOptionalInputTensor(size_t i) const { return at(in, n_in, dynamic(i, 0)); }
  const Tensor *GetRequiredInputTensor(size_t i) const { return at(in, n_in, dynamic(i, 0)); }
  const Tensor *GetDynamicInputTensor(size_t i, size_t r) const { return at(in, n_in, dynamic(i, r)); }
  const void *GetCompileInfo() const { return compile_info; }
  template <class T> const T *GetCompileInfo() const { return static_cast<const T *>(compile_info); }
  ge::graphStatus SetTilingKey(uint64_t key) { return call->tiling_key = key, ge::GRAPH_SUCCESS; }
  uint64_t GetTilingKey() const { return call->tiling_key; }
  ge::graphStatus SetBlockDim(uint32_t n) {
    call->block_dim = n;
    call->block_dim_set = 1;
    return ge::GRAPH_SUCCESS;
  }
  ge::graphStatus SetSimdNumBlocks(uint32_t n) { return SetBlockDim(n); }
  uint32_t GetBlockDim() const { return call->block_dim; }
  ge::graphStatus SetScheduleMode(uint32_t m) { return call->schedule_mode = m, ge::GRAPH_SUCCESS; }
  uint32_t GetScheduleMode() const { return call->schedule_mode; }
  ge::graphStatus SetNeedAtomic(bool on) { return call->need_atomic = on, ge::GRAPH_SUCCESS; }
  bool NeedAtomic() const { return call->need_atomic != 0; }
  ge::graphStatus SetTilingCond(int32_t c) { return tiling_cond = c, ge::GRAPH_SUCCESS; }
  int32_t GetTilingCond() const { return tiling_cond; }
  ge::graphStatus SetLocalMemorySize(uint32_t n) { return local_memory = n, ge::GRAPH_SUCCESS; }
  uint32_t GetLocalMemorySize() const { return local_memory; }
  int32_t GetDeterministic() const { return call->deterministic; }
  TilingData *GetRawTilingData() { return &tiling; }
  template <class T> T *GetTilingData() {
    if (tiling.GetCapacity() < sizeof(T)) return nullptr;
    tiling.SetDataSize(sizeof(T));
    return static_cast<T *>(tiling.GetData());
  }
  size_t *GetWorkspaceSizes(size_t n) {
    if (n > ACSIM_HOST_WORKSPACES) return nullptr;
    n_workspaces = n;
    return workspaces;
  }
  size_t GetWorkspaceNum() const { return n_workspaces; }
  fe::PlatFormInfos *GetPlatformInfo() const { return &platform; }

  TilingData tiling;
  size_t workspaces[ACSIM_HOST_WORKSPACES] = {0};
  size_t n_workspaces = 0;
  mutable fe::PlatFormInfos platform;
  const void *compile_info = nullptr;
  int32_t tiling_cond = 0;
  uint32_t local_memory = 0;
};

/* TilingParse's function sees the chip once and leaves what TilingContext::GetCompileInfo hands out. */
class TilingParseContext : public ExtendedKernelContext {
public:
  fe::PlatFormInfos *GetPlatformInfo() const { return &platform; }
  template <class T> T *GetCompiledInfo() { return static_cast<T *>(compile_info); }
  const char *GetCompiledJson() const { return "{}"; }
  mutable fe::PlatFormInfos platform;
  void *compile_info = nullptr;
};
using KernelContext = TilingParseContext;

class InferShapeContext : public ExtendedKernelContext {
public:
  const Shape *GetInputShape(size_t i) const { return i < n_in ? &in[i].shape.GetStorageShape() : nullptr; }
  const Shape *GetOptionalInputShape(size_t i) const { return GetInputShape(dynamic(i, 0)); }
  const Shape *GetRequiredInputShape(size_t i) const { return GetInputShape(dynamic(i, 0)); }
  const Shape *GetDynamicInputShape(size_t i, size_t r) const { return GetInputShape(dynamic(i, r)); }
  const Tensor *GetInputTensor(size_t i) const { return at(in, n_in, i); }
  const Tensor *GetOptionalInputTensor(size_t i) const { return at(in, n_in, dynamic(i, 0)); }
  const Tensor *GetRequiredInputTensor(size_t i) const { return at(in, n_in, dynamic(i, 0)); }
  Shape *GetOutputShape(size_t i) { return i < n_out ? &shapes[i] : nullptr; }
  Shape shapes[kMax];
};

class InferDataTypeContext : public ExtendedKernelContext {
public:
  ge::DataType GetInputDataType(size_t i) const { return i < n_in ? in[i].type : ge::DT_UNDEFINED; }
  ge::DataType GetOptionalInputDataType(size_t i) const { return GetInputDataType(dynamic(i, 0)); }
  ge::DataType GetRequiredInputDataType(size_t i) const { return GetInputDataType(dynamic(i, 0)); }
  ge::DataType GetDynamicInputDataType(size_t i, size_t r) const { return GetInputDataType(dynamic(i, r)); }
  ge::DataType GetOutputDataType(size_t i) const { return i < n_out ? types[i] : ge::DT_UNDEFINED; }
  ge::graphStatus SetOutputDataType(size_t i, ge::DataType t) {
    if (i >= n_out) return ge::GRAPH_FAILED;
    types[i] = t;
    return ge::GRAPH_SUCCESS;
  }
  ge::DataType types[kMax];
};
template <class T> class Range {
public:
  Range() = default;
  Range(T *min, T *max) : min_(min), max_(max) {}
  const T *GetMin() const { return min_; }
  const T *GetMax() const { return max_; }
  T *GetMin() { return min_; }
  T *GetMax() { return max_; }
  void SetMin(T *v) { min_ = v; }
  void SetMax(T *v) { max_ = v; }

private:
  T *min_ = nullptr, *max_ = nullptr;
};
/* Of graphs with unknown shapes, which are never run here: functions that take it are stored, not called. */
class InferShapeRangeContext : public ExtendedKernelContext {
public:
  const Range<Shape> *GetInputShapeRange(size_t) const { return nullptr; }
  Range<Shape> *GetOutputShapeRange(size_t) { return nullptr; }
};
class OpExecuteContext : public ExtendedKernelContext {};

using TilingKernelFunc = ge::graphStatus (*)(TilingContext *);
using InferShapeKernelFunc = ge::graphStatus (*)(InferShapeContext *);
using InferDataTypeKernelFunc = ge::graphStatus (*)(InferDataTypeContext *);
using TilingParseFunc = ge::graphStatus (*)(TilingParseContext *);

/* IMPL_OP and friends: the older registration beside OpDef. */
struct acsim_impl {
  const char *op;
  TilingKernelFunc tiling;
  InferShapeKernelFunc infer_shape;
  InferDataTypeKernelFunc infer_dtype;
  TilingParseFunc parse;
  void *(*compile_info)();
  uint64_t needs_data; /* a bit an input: its values are there */
  acsim_impl *next;
};
inline acsim_impl *acsim_impl_first = nullptr;
class OpImplRegisterV2 {
public:
  using TilingKernelFunc = gert::TilingKernelFunc;
  using InferShapeKernelFunc = gert::InferShapeKernelFunc;
  using InferDataTypeKernelFunc = gert::InferDataTypeKernelFunc;
  using InferShapeRangeKernelFunc = ge::graphStatus (*)(InferShapeRangeContext *);
  explicit OpImplRegisterV2(const char *op) : node_(static_cast<acsim_impl *>(::calloc(1, sizeof(acsim_impl)))) {
    if (!node_) ::abort();
    node_->op = op;
    node_->next = acsim_impl_first;
    acsim_impl_first = node_;
  }
  OpImplRegisterV2 &Tiling(TilingKernelFunc f, size_t = 2048) { return node_->tiling = f, *this; }
  OpImplRegisterV2 &InferShape(InferShapeKernelFunc f) { return node_->infer_shape = f, *this; }
  OpImplRegisterV2 &InferDataType(InferDataTypeKernelFunc f) { return node_->infer_dtype = f, *this; }
  OpImplRegisterV2 &InferShapeRange(InferShapeRangeKernelFunc) { return *this; }
  template <class T> OpImplRegisterV2 &TilingParse(TilingParseFunc f) {
    node_->parse = f;
    node_->compile_info = []() -> void * {
      static T info;
      return &info;
    };
    return *this;
  }
  template <class F> OpImplRegisterV2 &GenSimplifiedKey(F) { return *this; }
  OpImplRegisterV2 &InputsDataDependency(std::initializer_list<int32_t> inputs) { return needs(inputs); }
  OpImplRegisterV2 &TilingInputsDataDependency(std::initializer_list<int32_t> inputs) { return needs(inputs); }
  template <class P> OpImplRegisterV2 &TilingInputsDataDependency(std::initializer_list<int32_t> inputs, P) {
    return needs(inputs);
  }

private:
  OpImplRegisterV2 &needs(std::initializer_list<int32_t> inputs) {
    for (int32_t i : inputs)
      if (i >= 0 && i < 64) node_->needs_data |= 1ull << i;
    return *this;
  }
  acsim_impl *node_;
};
} // namespace gert

#define IMPL_OP(op_type) static gert::OpImplRegisterV2 acsim_impl_##op_type = gert::OpImplRegisterV2(#op_type)
#define IMPL_OP_OPTILING(op_type) \
  static gert::OpImplRegisterV2 acsim_impl_tiling_##op_type = gert::OpImplRegisterV2(#op_type)
#define IMPL_OP_INFERSHAPE(op_type) \
  static gert::OpImplRegisterV2 acsim_impl_shape_##op_type = gert::OpImplRegisterV2(#op_type)
#endif

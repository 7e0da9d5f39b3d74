/* Host side, part 5: namespace ops - the operator's definition, and OP_ADD. */
#ifndef ACSIM_HOST_OPDEF_H
#define ACSIM_HOST_OPDEF_H

#include "acsim/host_context.h"

namespace ops {
enum Option { IGNORE = 0, OPTIONAL = 1, REQUIRED = 2, DYNAMIC = 3, VIRTUAL = 4 };
enum class FormatCheckOption : uint32_t { DEFAULT = 0, STRICT = 1, MAX };
enum class DependScope : uint32_t { ALL = 0, TILING = 1, INVALID_SCOPE };
enum class FollowType : uint32_t { ALL = 0, DTYPE = 1, FORMAT = 2, SHAPE = 3, INVALID_TYPE };
enum class CommentSection : uint32_t {
  CATEGORY = 0,
  BRIEF,
  CONSTRAINTS,
  RESTRICTIONS,
  SEE,
  THIRDPARTYFWKCOMPAT,
  SECTION_MAX
};

class OpParamDef {
public:
  OpParamDef() = default;
  explicit OpParamDef(const char *n) : name(n) {}
  using types = std::initializer_list<ge::DataType>;
  using layouts = std::initializer_list<ge::Format>;
  OpParamDef &ParamType(Option o) { return option = o, *this; }
  OpParamDef &DataType(types t) { return dtypes.assign(t), *this; }
  OpParamDef &DataTypeList(types t) { return dtypes.assign(t), is_list = true, *this; }
  OpParamDef &Format(layouts f) { return formats.assign(f), *this; }
  OpParamDef &FormatList(layouts f) { return formats.assign(f), *this; }
  OpParamDef &UnknownShapeFormat(layouts) { return *this; }
  OpParamDef &DataTypeForBinQuery(types) { return *this; }
  OpParamDef &FormatForBinQuery(layouts) { return *this; }
#ifdef ACSIM_HOST_STL
  OpParamDef &DataType(const std::vector<ge::DataType> &t) {
    return dtypes.assign(t), *this;
  }
  OpParamDef &DataTypeList(const std::vector<ge::DataType> &t) {
    return dtypes.assign(t), is_list = true, *this;
  }
  OpParamDef &Format(const std::vector<ge::Format> &f) {
    return formats.assign(f), *this;
  }
  OpParamDef &FormatList(const std::vector<ge::Format> &f) {
    return formats.assign(f), *this;
  }
  OpParamDef &UnknownShapeFormat(const std::vector<ge::Format> &) {
    return *this;
  }
#endif
  OpParamDef &ValueDepend(Option o) {
    return depend = o, *this;
  }
  OpParamDef &ValueDepend(Option o, DependScope) {
    return depend = o, *this;
  }
  OpParamDef &IgnoreContiguous() {
    return *this;
  }
  OpParamDef &AutoContiguous() {
    return *this;
  }
  OpParamDef &Scalar() {
    return *this;
  }
  OpParamDef &ScalarList() {
    return *this;
  }
  OpParamDef &To(ge::DataType) {
    return *this;
  }
  OpParamDef &To(const char *) {
    return *this;
  }
  OpParamDef &Version(uint32_t) {
    return *this;
  }
  OpParamDef &InitValue(uint64_t v) {
    return init = v, has_init = true, *this;
  }
  OpParamDef &OutputShapeDependOnCompute() {
    return computed = true, *this;
  }
  OpParamDef &Follow(const char *n) {
    return follow = n, *this;
  }
  OpParamDef &Follow(const char *n, FollowType) {
    return follow = n, *this;
  }
  OpParamDef &Comment(const char *) {
    return *this;
  }

  const char *name = "", *follow = nullptr;
  Option option = REQUIRED, depend = IGNORE;
  acsim_host::list<ge::DataType> dtypes;
  acsim_host::list<ge::Format> formats;
  uint64_t init = 0;
  bool has_init = false, is_list = false;
  bool computed = false; /* its shape is known when the kernel has run */
};

class OpAttrDef {
public:
  enum kind { NONE, BOOL, FLOAT, INT, STRING, LIST_BOOL, LIST_FLOAT, LIST_INT, LIST_LIST_INT };
  OpAttrDef() = default;
  explicit OpAttrDef(const char *n) : name(n) {}
  OpAttrDef &AttrType(Option o) { return option = o, *this; }
  OpAttrDef &Bool() { return type = BOOL, *this; }
  OpAttrDef &Bool(bool v) { return type = BOOL, has = true, b = v, *this; }
  OpAttrDef &Float() { return type = FLOAT, *this; }
  OpAttrDef &Float(float v) { return type = FLOAT, has = true, f = v, *this; }
  OpAttrDef &Int() { return type = INT, *this; }
  OpAttrDef &Int(int64_t v) { return type = INT, has = true, i = v, *this; }
  OpAttrDef &String() { return type = STRING, *this; }
  OpAttrDef &String(const char *v) { return type = STRING, has = true, s = v, *this; }
  OpAttrDef &ListBool() { return type = LIST_BOOL, *this; }
  OpAttrDef &ListBool(std::initializer_list<bool> v) {
    return type = LIST_BOOL, has = true, lb.acsim_assign(v), *this;
  }
  OpAttrDef &ListFloat() { return type = LIST_FLOAT, *this; }
  OpAttrDef &ListFloat(std::initializer_list<float> v) {
    return type = LIST_FLOAT, has = true, lf.acsim_assign(v), *this;
  }
  OpAttrDef &ListInt() { return type = LIST_INT, *this; }
  OpAttrDef &ListInt(std::initializer_list<int64_t> v) {
    return type = LIST_INT, has = true, li.acsim_assign(v), *this;
  }
  OpAttrDef &ListListInt() { return type = LIST_LIST_INT, *this; }
#ifdef ACSIM_HOST_STL
  OpAttrDef &ListBool(const std::vector<bool> &v) {
    return type = LIST_BOOL, has = true, lb.acsim_assign(v), *this;
  }
  OpAttrDef &ListFloat(const std::vector<float> &v) {
    return type = LIST_FLOAT, has = true, lf.acsim_assign(v), *this;
  }
  OpAttrDef &ListInt(const std::vector<int64_t> &v) {
    return type = LIST_INT, has = true, li.acsim_assign(v), *this;
  }
#endif
  OpAttrDef &Version(uint32_t) {
    return *this;
  }
  OpAttrDef &Comment(const char *) {
    return *this;
  }

  const char *name = "";
  Option option = REQUIRED;
  kind type = NONE;
  bool has = false, b = false;
  float f = 0;
  int64_t i = 0;
  const char *s = "";
  gert::TypedContinuousVector<int64_t> li;
  gert::TypedContinuousVector<float> lf;
  gert::TypedContinuousVector<bool> lb;
};

class OpAICoreConfig {
public:
  OpParamDef &Input(const char *n) { return inputs.add(OpParamDef(n)); }
  OpParamDef &Output(const char *n) { return outputs.add(OpParamDef(n)); }
  OpAICoreConfig &DynamicCompileStaticFlag(bool) { return *this; }
  OpAICoreConfig &DynamicFormatFlag(bool) { return *this; }
  OpAICoreConfig &DynamicRankSupportFlag(bool) { return *this; }
  OpAICoreConfig &DynamicShapeSupportFlag(bool) { return *this; }
  OpAICoreConfig &NeedCheckSupportFlag(bool) { return *this; }
  OpAICoreConfig &PrecisionReduceFlag(bool) { return *this; }
  OpAICoreConfig &ExtendCfgInfo(const char *, const char *) { return *this; }
  acsim_host::list<OpParamDef> inputs, outputs;
};

class OpAICoreDef {
public:
  OpAICoreDef &SetTiling(gert::TilingKernelFunc f) { return tiling = f, *this; }
  template <class F> OpAICoreDef &SetCheckSupport(F) { return *this; }
  template <class F> OpAICoreDef &SetOpSelectFormat(F) { return *this; }
  template <class F> OpAICoreDef &SetOpSupportInfo(F) { return *this; }
  template <class F> OpAICoreDef &SetOpSpecInfo(F) { return *this; }
  template <class F> OpAICoreDef &SetParamGeneralize(F) { return *this; }
  OpAICoreDef &AddConfig(const char *soc) { return socs.add(soc), *this; }
  OpAICoreDef &AddConfig(const char *soc, OpAICoreConfig &c) {
    configs.add({soc, c});
    return socs.add(soc), *this;
  }
  struct acsim_config {
    const char *soc;
    OpAICoreConfig config;
  };
  gert::TilingKernelFunc tiling = nullptr;
  acsim_host::list<const char *> socs;
  acsim_host::list<acsim_config> configs;
};

class OpDef {
public:
  explicit OpDef(const char *t) : type(t) {}
  OpParamDef &Input(const char *n) { return inputs.add(OpParamDef(n)); }
  OpParamDef &Output(const char *n) { return outputs.add(OpParamDef(n)); }
  OpAttrDef &Attr(const char *n) { return attrs.add(OpAttrDef(n)); }
  OpDef &Comment(CommentSection, const char *) { return *this; }
  OpDef &SetInferShape(gert::InferShapeKernelFunc f) { return infer_shape = f, *this; }
  template <class F> OpDef &SetInferShapeRange(F) { return *this; }
  OpDef &SetInferDataType(gert::InferDataTypeKernelFunc f) { return infer_dtype = f, *this; }
  OpAICoreDef &AICore() { return core; }
  OpDef &FormatMatchMode(FormatCheckOption) { return *this; }
  OpDef &EnableFallBack() { return *this; }

  /* AddConfig's own parameters take the place of the operator's of that name on that chip ("ascend910b" for Ascend910B2). */
  void acsim_resolve(const char *soc) {
    for (size_t i = 0; i < core.configs.size(); i++) {
      const char *name = core.configs[i].soc;
      size_t n = ::strlen(name);
      if (::strncasecmp(name, soc, n) || (soc[n] && (soc[n] < '0' || soc[n] > '9'))) continue;
      replace(inputs, core.configs[i].config.inputs);
      replace(outputs, core.configs[i].config.outputs);
    }
  }

  const char *type;
  acsim_host::list<OpParamDef> inputs, outputs;
  acsim_host::list<OpAttrDef> attrs;
  OpAICoreDef core;
  gert::InferShapeKernelFunc infer_shape = nullptr;
  gert::InferDataTypeKernelFunc infer_dtype = nullptr;

private:
  static void replace(acsim_host::list<OpParamDef> &v, const acsim_host::list<OpParamDef> &by) {
    for (size_t i = 0; i < v.size(); i++)
      for (size_t k = 0; k < by.size(); k++)
        if (!::strcmp(v[i].name, by[k].name)) v[i] = by[k];
  }
};
} // namespace ops

namespace acsim_host {
/* Operators of this library. */
struct op_node {
  const char *type;
  ops::OpDef *(*make)();
  op_node *next;
};
inline op_node *op_first = nullptr;
struct op_register {
  op_node node;
  op_register(const char *type, ops::OpDef *(*make)()) : node{type, make, op_first} { op_first = &node; }
};
} // namespace acsim_host

#define OP_ADD(opType, ...)                                                          \
  static acsim_host::op_register acsim_op_##opType(#opType, []() -> ::ops::OpDef * { \
    static opType acsim_def(#opType);                                                \
    return &acsim_def;                                                               \
  })

#include "acsim/host_operator.h"
#include "acsim/host_run.h"
#endif

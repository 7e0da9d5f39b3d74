/* Host side: an operator of a graph and the description of its tensors (CANN's graph/operator.h, graph/tensor.h), for the functions that
 * op_host sources give to SetCheckSupport and its kin. Graphs are not run here: such functions are stored, and a test may call them. */
#ifndef ACSIM_HOST_OPERATOR_H
#define ACSIM_HOST_OPERATOR_H

#include "acsim/host_library.h"

#ifdef ACSIM_HOST_STL
namespace ge {
class TensorDesc {
public:
  TensorDesc() = default;
  explicit TensorDesc(const Shape &shape, Format format = FORMAT_ND, DataType type = DT_FLOAT)
      : shape_(shape), origin_(shape), format_(format), origin_format_(format), type_(type) {}
  Shape GetShape() const { return shape_; }
  void SetShape(const Shape &s) { shape_ = s; }
  Shape GetOriginShape() const { return origin_; }
  void SetOriginShape(const Shape &s) { origin_ = s; }
  Format GetFormat() const { return format_; }
  void SetFormat(Format f) { format_ = f; }
  Format GetOriginFormat() const { return origin_format_; }
  void SetOriginFormat(Format f) { origin_format_ = f; }
  DataType GetDataType() const { return type_; }
  void SetDataType(DataType t) { type_ = t; }

private:
  Shape shape_, origin_;
  Format format_ = FORMAT_ND, origin_format_ = FORMAT_ND;
  DataType type_ = DT_FLOAT;
};

class Operator {
public:
  Operator() = default;
  Operator(const char *name, const char *type) : name_(name), type_(type) {}
  graphStatus GetName(AscendString &to) const { return to = AscendString(name_.c_str()), GRAPH_SUCCESS; }
  graphStatus GetOpType(AscendString &to) const { return to = AscendString(type_.c_str()), GRAPH_SUCCESS; }
  size_t GetInputsSize() const { return inputs_.size(); }
  size_t GetOutputsSize() const { return outputs_.size(); }
  TensorDesc GetInputDesc(uint32_t i) const { return at(inputs_, i); }
  TensorDesc GetInputDesc(const std::string &name) const { return named(inputs_, name); }
  TensorDesc GetInputDescByName(const char *name) const { return named(inputs_, name); }
  graphStatus TryGetInputDesc(const char *name, TensorDesc &to) const {
    for (const auto &d : inputs_)
      if (d.first == name) return to = d.second, GRAPH_SUCCESS;
    return GRAPH_FAILED;
  }
  TensorDesc GetOutputDesc(uint32_t i) const { return at(outputs_, i); }
  TensorDesc GetOutputDesc(const std::string &name) const { return named(outputs_, name); }
  TensorDesc GetOutputDescByName(const char *name) const { return named(outputs_, name); }
  graphStatus UpdateInputDesc(const std::string &name, const TensorDesc &d) { return update(inputs_, name, d); }
  graphStatus UpdateOutputDesc(const std::string &name, const TensorDesc &d) { return update(outputs_, name, d); }

  Operator &SetAttr(const char *name, int64_t v) { return ints_[name] = {v}, *this; }
  Operator &SetAttr(const char *name, float v) { return floats_[name] = {v}, *this; }
  Operator &SetAttr(const char *name, bool v) { return ints_[name] = {v}, *this; }
  Operator &SetAttr(const char *name, const AscendString &v) { return texts_[name] = v.GetString(), *this; }
  Operator &SetAttr(const char *name, const std::vector<int64_t> &v) { return ints_[name] = v, *this; }
  Operator &SetAttr(const char *name, const std::vector<float> &v) { return floats_[name] = v, *this; }
  graphStatus GetAttr(const char *name, int64_t &to) const { return one(ints_, name, to); }
  graphStatus GetAttr(const char *name, int32_t &to) const { return one(ints_, name, to); }
  graphStatus GetAttr(const char *name, uint32_t &to) const { return one(ints_, name, to); }
  graphStatus GetAttr(const char *name, bool &to) const { return one(ints_, name, to); }
  graphStatus GetAttr(const char *name, float &to) const { return one(floats_, name, to); }
  graphStatus GetAttr(const char *name, std::vector<int64_t> &to) const { return all(ints_, name, to); }
  graphStatus GetAttr(const char *name, std::vector<float> &to) const { return all(floats_, name, to); }
  graphStatus GetAttr(const char *name, std::string &to) const { return all(texts_, name, to); }
  graphStatus GetAttr(const char *name, AscendString &to) const {
    std::string s;
    if (all(texts_, name, s) != GRAPH_SUCCESS) return GRAPH_FAILED;
    return to = AscendString(s.c_str()), GRAPH_SUCCESS;
  }

private:
  using descs = std::vector<std::pair<std::string, TensorDesc>>;
  static TensorDesc at(const descs &v, uint32_t i) { return i < v.size() ? v[i].second : TensorDesc(); }
  static TensorDesc named(const descs &v, const std::string &name) {
    for (const auto &d : v)
      if (d.first == name) return d.second;
    return TensorDesc();
  }
  static graphStatus update(descs &v, const std::string &name, const TensorDesc &desc) {
    for (auto &d : v)
      if (d.first == name) return d.second = desc, GRAPH_SUCCESS;
    return v.emplace_back(name, desc), GRAPH_SUCCESS;
  }
  template <class M, class T> static graphStatus one(const M &m, const char *name, T &to) {
    auto found = m.find(name);
    if (found == m.end() || found->second.empty()) return GRAPH_FAILED;
    return to = static_cast<T>(found->second[0]), GRAPH_SUCCESS;
  }
  template <class M, class T> static graphStatus all(const M &m, const char *name, T &to) {
    auto found = m.find(name);
    if (found == m.end()) return GRAPH_FAILED;
    return to = found->second, GRAPH_SUCCESS;
  }
  std::string name_, type_;
  descs inputs_, outputs_;
  std::map<std::string, std::vector<int64_t>> ints_;
  std::map<std::string, std::vector<float>> floats_;
  std::map<std::string, std::string> texts_;
};
} // namespace ge
#endif
#endif

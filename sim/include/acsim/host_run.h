/* Host side, part 6: the three functions that the runner calls (acsim/host_abi.h). Included through OP_ADD's header. */
#ifndef ACSIM_HOST_RUN_H
#define ACSIM_HOST_RUN_H

#include "acsim/host_opdef.h"

namespace acsim_host {
inline const ops::OpDef *find_op(const char *type, const char *soc) {
  for (op_node *o = op_first; o; o = o->next)
    if (!type || !::strcmp(o->type, type)) {
      ops::OpDef *op = o->make();
      op->acsim_resolve(soc);
      return op;
    }
  return nullptr;
}
inline const gert::acsim_impl *find_impl(const char *type) {
  for (gert::acsim_impl *o = gert::acsim_impl_first; o; o = o->next)
    if (!::strcmp(o->op, type) && o->tiling) return o;
  return nullptr;
}

/* The declared dtype of a parameter in one column; a single entry serves every column. */
inline int32_t declared(const ops::OpDef &op, const ops::OpParamDef &p, size_t column) {
  if (p.dtypes.size() == 0 && p.follow) {
    for (size_t i = 0; i < op.inputs.size(); i++)
      if (!::strcmp(op.inputs[i].name, p.follow)) return declared(op, op.inputs[i], column);
  }
  if (p.dtypes.size() == 0) return ge::DT_UNDEFINED;
  return p.dtypes[p.dtypes.size() == 1 ? 0 : column < p.dtypes.size() ? column : p.dtypes.size() - 1];
}
inline size_t columns(const ops::OpDef &op) {
  size_t n = 1;
  for (size_t i = 0; i < op.inputs.size(); i++) n = op.inputs[i].dtypes.size() > n ? op.inputs[i].dtypes.size() : n;
  for (size_t i = 0; i < op.outputs.size(); i++)
    n = op.outputs[i].dtypes.size() > n ? op.outputs[i].dtypes.size() : n;
  return n;
}

inline bool complain(acsim_host_call *c, int32_t status, const char *fmt, const char *a, long long x, long long y) {
  c->status = status;
  ::snprintf(c->message, sizeof c->message, fmt, a, x, y);
  return false;
}

/* Where the tensors of each parameter begin: start[n] is behind the last. Returns how many parameters there are. */
inline int32_t parameters(const acsim_host_tensor *t, int32_t n, int32_t *start) {
  int32_t count = 0;
  for (int32_t i = 0; i < n; i++)
    if (!i || !t[i].list || t[i].list != t[i - 1].list) start[count++] = i;
  start[count] = n;
  return count;
}
/* Do the tensors of every parameter have the dtype that column `col` declares? */
inline bool column_fits(const ops::OpDef &op, const acsim_host::list<ops::OpParamDef> &v, const acsim_host_tensor *t,
                        const int32_t *start, size_t col) {
  for (size_t i = 0; i < v.size(); i++)
    for (int32_t k = start[i]; k < start[i + 1]; k++)
      if (!t[k].absent && declared(op, v[i], col) != t[k].dtype) return false;
  return true;
}
/* Only OPTIONAL parameters may be left out. */
inline bool may_be_absent(const acsim_host::list<ops::OpParamDef> &v, const acsim_host_tensor *t,
                          const int32_t *start, acsim_host_call *c) {
  for (size_t i = 0; i < v.size(); i++)
    if (start[i] < start[i + 1] && t[start[i]].absent && v[i].option != ops::OPTIONAL)
      return complain(c, ACSIM_HOST_BAD_CALL, "%s is not an OPTIONAL parameter and was not given", v[i].name, 0, 0);
  return true;
}
/* Counts and dtypes against the OpDef; sets the column. */
inline bool check_call(const ops::OpDef &op, acsim_host_call *c) {
  int32_t in[ACSIM_HOST_TENSORS + 1], out[ACSIM_HOST_TENSORS + 1];
  int32_t n_in = parameters(c->inputs, c->n_inputs, in), n_out = parameters(c->outputs, c->n_outputs, out);
  if (static_cast<size_t>(n_in) != op.inputs.size())
    return complain(c, ACSIM_HOST_BAD_CALL, "the OpDef of %s declares %lld inputs, the graph has %lld", op.type,
                    static_cast<long long>(op.inputs.size()), n_in);
  if (static_cast<size_t>(n_out) != op.outputs.size())
    return complain(c, ACSIM_HOST_BAD_CALL, "the OpDef of %s declares %lld outputs, the graph has %lld", op.type,
                    static_cast<long long>(op.outputs.size()), n_out);
  if (!may_be_absent(op.inputs, c->inputs, in, c) || !may_be_absent(op.outputs, c->outputs, out, c)) return false;
  for (size_t col = 0; col < columns(op); col++)
    if (column_fits(op, op.inputs, c->inputs, in, col) && column_fits(op, op.outputs, c->outputs, out, col)) {
      c->dtype_column = static_cast<int32_t>(col);
      return true;
    }
  char got[200] = "";
  size_t at = 0;
  for (int32_t i = 0; i < c->n_inputs + c->n_outputs && at < sizeof got; i++)
    at += static_cast<size_t>(
        ::snprintf(got + at, sizeof got - at, " %s",
                   ge::acsim_dtype_name((i < c->n_inputs ? c->inputs[i] : c->outputs[i - c->n_inputs]).dtype)));
  return complain(c, ACSIM_HOST_BAD_CALL, "no DataType column of the OpDef fits the tensors'%s", got, 0, 0);
}

inline void fill_tensor(gert::Tensor &t, gert::CompileTimeTensorDesc &d, const acsim_host_tensor &from) {
  t.type = d.type = static_cast<ge::DataType>(from.dtype);
  for (int32_t i = 0; i < from.rank && i < ACSIM_HOST_RANK; i++) {
    t.shape.MutableOriginShape().AppendDim(from.shape[i]);
    t.shape.MutableStorageShape().AppendDim(from.shape[i]);
  }
}

/* Values live here for the time of the call. */
struct attr_value {
  bool b;
  float f;
  int64_t i;
  gert::TypedContinuousVector<int64_t> li;
  gert::TypedContinuousVector<float> lf;
  gert::TypedContinuousVector<bool> lb;
};
inline bool is_list(int32_t kind) {
  return kind == ACSIM_ATTR_LIST_FLOAT || kind == ACSIM_ATTR_LIST_INT;
}
/* A list in the element type of the OpDef, from integers or floats. */
template <class T> const void *given_list(gert::TypedContinuousVector<T> &to, const acsim_host_attr &from) {
  acsim_host::list<T> v;
  for (int32_t i = 0; i < from.n; i++)
    v.add(from.kind == ACSIM_ATTR_LIST_INT ? static_cast<T>(from.li[i]) : static_cast<T>(from.lf[i]));
  to.acsim_set(v.data(), v.size(), sizeof(T));
  return &to;
}
inline bool kind_fits(ops::OpAttrDef::kind want, int32_t got) {
  switch (want) {
  case ops::OpAttrDef::STRING: return got == ACSIM_ATTR_STRING;
  case ops::OpAttrDef::LIST_INT:
  case ops::OpAttrDef::LIST_FLOAT:
  case ops::OpAttrDef::LIST_BOOL: return is_list(got);
  default: return got != ACSIM_ATTR_STRING && !is_list(got);
  }
}
inline bool fill_attrs(gert::ExtendedKernelContext &x, const ops::OpDef &op, acsim_host_call *c, attr_value *store) {
  for (size_t i = 0; i < op.attrs.size(); i++) {
    const ops::OpAttrDef &a = op.attrs[i];
    const acsim_host_attr *given = nullptr;
    for (int32_t k = 0; k < c->n_attrs; k++)
      if (!::strcmp(c->attrs[k].name, a.name)) given = &c->attrs[k];
    if (!given && !a.has && a.option == ops::REQUIRED)
      return complain(c, ACSIM_HOST_BAD_CALL, "attribute %s is required and was not given", a.name, 0, 0);
    if (given && !kind_fits(a.type, given->kind))
      return complain(c, ACSIM_HOST_BAD_CALL,
                      "attribute %s was given as another kind of value than the OpDef declares", a.name, 0, 0);
    double number = !given ? 0 : given->kind == ACSIM_ATTR_FLOAT ? given->f : static_cast<double>(given->i);
    int64_t whole = !given ? 0 : given->kind == ACSIM_ATTR_FLOAT ? static_cast<int64_t>(given->f) : given->i;
    switch (a.type) {
    case ops::OpAttrDef::FLOAT:
      store[i].f = given ? static_cast<float>(number) : a.f;
      x.attrs.slots.add(&store[i].f);
      break;
    case ops::OpAttrDef::INT:
      store[i].i = given ? whole : a.i;
      x.attrs.slots.add(&store[i].i);
      break;
    case ops::OpAttrDef::BOOL:
      store[i].b = given ? whole != 0 : a.b;
      x.attrs.slots.add(&store[i].b);
      break;
    case ops::OpAttrDef::STRING: x.attrs.slots.add(given ? given->s : a.s); break;
    case ops::OpAttrDef::LIST_INT: x.attrs.slots.add(given ? given_list(store[i].li, *given) : &a.li); break;
    case ops::OpAttrDef::LIST_FLOAT: x.attrs.slots.add(given ? given_list(store[i].lf, *given) : &a.lf); break;
    case ops::OpAttrDef::LIST_BOOL: x.attrs.slots.add(given ? given_list(store[i].lb, *given) : &a.lb); break;
    default: x.attrs.slots.add(nullptr); break;
    }
  }
  for (int32_t k = 0; k < c->n_attrs; k++) {
    bool known = false;
    for (size_t i = 0; i < op.attrs.size(); i++) known = known || !::strcmp(c->attrs[k].name, op.attrs[i].name);
    if (!known) return complain(c, ACSIM_HOST_BAD_CALL, "the OpDef has no attribute %s", c->attrs[k].name, 0, 0);
  }
  return true;
}

/* The values of an input are there where the OpDef says ValueDepend, or the registration TilingInputsDataDependency. */
inline bool has_data(const ops::OpDef &op, int32_t input) {
  if (op.inputs[static_cast<size_t>(input)].depend != ops::IGNORE) return true;
  for (const gert::acsim_impl *i = gert::acsim_impl_first; i; i = i->next)
    if (!::strcmp(i->op, op.type) && input < 64 && i->needs_data >> input & 1) return true;
  return false;
}

inline bool fill(gert::ExtendedKernelContext &x, const ops::OpDef &op, acsim_host_call *c, attr_value *store) {
  x.call = c;
  x.type = op.type;
  x.n_in = 0; /* a parameter that is not given has no place among the inputs, and no instance */
  int32_t start[ACSIM_HOST_TENSORS + 1], n = parameters(c->inputs, c->n_inputs, start);
  for (int32_t i = 0; i < n; i++) {
    x.instances[i].start = x.n_in;
    for (int32_t k = start[i]; k < start[i + 1]; k++) {
      if (c->inputs[k].absent) continue;
      fill_tensor(x.in[x.n_in], x.in_desc[x.n_in], c->inputs[k]);
      if (has_data(op, i)) x.in[x.n_in].data = c->inputs[k].data;
      x.n_in++;
    }
    x.instances[i].count = x.n_in - x.instances[i].start;
  }
  x.n_params = static_cast<size_t>(n);
  x.n_out = static_cast<size_t>(c->n_outputs);
  for (size_t i = 0; i < x.n_out; i++)
    if (!c->outputs[i].absent) fill_tensor(x.out[i], x.out_desc[i], c->outputs[i]);
  return fill_attrs(x, op, c, store);
}

inline int32_t run_tiling(acsim_host_call *c) {
  const ops::OpDef *op = find_op(c->op_type, c->chip.soc);
  if (!op)
    return complain(c, ACSIM_HOST_NO_OP, "the host file has no OP_ADD(%s)", c->op_type ? c->op_type : "?", 0, 0),
           c->status;
  if (!check_call(*op, c)) return c->status;
  const gert::acsim_impl *impl = find_impl(op->type);
  gert::TilingKernelFunc tiling = op->core.tiling ? op->core.tiling : impl ? impl->tiling : nullptr;
  if (!tiling)
    return complain(c, ACSIM_HOST_NO_OP, "%s has no tiling function (SetTiling)", op->type, 0, 0), c->status;
  static gert::TilingContext x;
  static attr_value store[ACSIM_HOST_ATTRS];
  if (!fill(x, *op, c, store)) return c->status;
  x.platform.chip = &c->chip;
  platform_ascendc::acsim_chip = &c->chip;
  if (impl && impl->parse) {
    static gert::TilingParseContext parse;
    parse.type = op->type;
    parse.platform.chip = &c->chip;
    parse.compile_info = impl->compile_info();
    if (impl->parse(&parse) != ge::GRAPH_SUCCESS) return c->status = ACSIM_HOST_REFUSED;
    x.compile_info = parse.compile_info;
  }
  x.tiling.data = c->tiling;
  x.tiling.capacity = static_cast<size_t>(c->tiling_capacity);
  if (tiling(&x) != ge::GRAPH_SUCCESS) return c->status = ACSIM_HOST_REFUSED;
  c->tiling_size = x.tiling.size;
  for (size_t i = 0; c->need_atomic && i < op->outputs.size(); i++) {
    c->output_filled[i] = op->outputs[i].has_init;
    c->output_fill[i] = op->outputs[i].init;
  }
  for (size_t i = 0; i < op->outputs.size(); i++) c->output_computed[i] = op->outputs[i].computed;
  c->library_workspace = platform_ascendc::PlatformAscendC(&c->chip).GetLibApiWorkSpaceSize();
  c->n_workspaces = static_cast<int32_t>(x.n_workspaces);
  for (size_t i = 0; i < x.n_workspaces; i++) c->workspaces[i] = x.workspaces[i];
  return c->status = ACSIM_HOST_OK;
}

inline int32_t run_infer(acsim_host_call *c) {
  for (int32_t i = 0; i < c->n_outputs; i++) c->inferred[i].rank = -1, c->inferred[i].dtype = -1;
  const ops::OpDef *op = find_op(c->op_type, c->chip.soc);
  if (!op || !check_call(*op, c)) return c->status;
  platform_ascendc::acsim_chip = &c->chip;
  fe::acsim_chip() = &c->chip;
  static attr_value store[ACSIM_HOST_ATTRS];
  if (op->infer_shape) {
    static gert::InferShapeContext x;
    if (!fill(x, *op, c, store)) return c->status;
    if (op->infer_shape(&x) != ge::GRAPH_SUCCESS) return c->status = ACSIM_HOST_SHAPE_FAILED;
    for (size_t i = 0; i < x.n_out; i++) {
      c->inferred[i].rank = static_cast<int32_t>(x.shapes[i].GetDimNum());
      for (size_t k = 0; k < x.shapes[i].GetDimNum(); k++) c->inferred[i].shape[k] = x.shapes[i].GetDim(k);
    }
  }
  if (op->infer_dtype) {
    static gert::InferDataTypeContext x;
    if (!fill(x, *op, c, store)) return c->status;
    for (size_t i = 0; i < x.n_out; i++) x.types[i] = ge::DT_UNDEFINED;
    if (op->infer_dtype(&x) != ge::GRAPH_SUCCESS) return c->status = ACSIM_HOST_SHAPE_FAILED;
    for (size_t i = 0; i < x.n_out; i++) c->inferred[i].dtype = x.types[i];
  }
  return c->status = ACSIM_HOST_OK;
}

/* Text that is cut at n but counted in full. */
struct text {
  char *p;
  int64_t n, len;
  void put(const char *s) {
    for (; *s; s++, len++)
      if (len + 1 < n) p[len] = *s;
  }
  void number(unsigned long long v) {
    char b[24];
    ::snprintf(b, sizeof b, "%llu", v);
    put(b);
  }
};
/* One of the library's own tiling structs. */
inline bool is_library_tiling(const char *name) {
#define X(known) \
  if (!::strcmp(name, #known)) return true;
  ACSIM_LIBRARY_TILINGS(X)
#undef X
  return !::strcmp(name, "LogSoftMaxTiling");
}
inline void put_struct(const optiling::TilingDef &d, void *user) {
  text *t = static_cast<text *>(user);
  for (size_t i = 0; i < d.GetFieldInfo().size(); i++) { /* its headers have the struct */
    const char *s = d.GetFieldInfo()[i].structType_;
    if (s && is_library_tiling(s)) t->put("#include \"kernel_tiling/kernel_tiling.h\"\n");
  }
  t->put("struct alignas(8) ");
  t->put(d.GetTilingClassName());
  t->put(" {\n");
  for (size_t i = 0; i < d.GetFieldInfo().size(); i++) {
    const optiling::FieldInfo &f = d.GetFieldInfo()[i];
    t->put("  ");
    t->put(f.structType_ ? f.structType_ : f.dtype_);
    t->put(" ");
    t->put(f.name_);
    if (f.arrSize_) t->put("["), t->number(f.arrSize_), t->put("]");
    t->put(";\n");
  }
  t->put("};\nstatic_assert(sizeof(");
  t->put(d.GetTilingClassName());
  t->put(") == ");
  t->number(d.GetDataSize());
  t->put(", \"host and kernel lay the tiling data out differently\");\n");
}
inline void put_macro_name(text &t, const char *name) {
  char b[2] = {0, 0};
  for (; *name; name++) {
    b[0] = *name >= 'a' && *name <= 'z' ? static_cast<char>(*name - 32) : *name;
    t.put(b);
  }
}
inline void put_column(text &t, const ops::OpDef &op, const acsim_host::list<ops::OpParamDef> &v, size_t col) {
  for (size_t i = 0; i < v.size(); i++) {
    int32_t type = declared(op, v[i], col);
    t.put(" DTYPE_");
    put_macro_name(t, v[i].name);
    t.put("=");
    t.put(ge::acsim_cpp_type(type));
    t.put(" ORIG_DTYPE_");
    put_macro_name(t, v[i].name);
    t.put("=");
    t.put(ge::acsim_dtype_name(type));
  }
}
inline int64_t describe(const char *op_type, const char *soc, char *out, int64_t n) {
  text t = {out, n, 0};
  t.put("#include <stdint.h>\n");
  /* numbers, so that a kernel's #if ORIG_DTYPE_X == DT_BF16 compares */
  static const struct {
    const char *name;
    int value;
  } dtypes[] = {
#define G(name, value, bytes, cpp) {#name, value},
      ACSIM_GE_DTYPES(G)
#undef G
  };
  for (const auto &d : dtypes) {
    t.put("#define ");
    t.put(d.name);
    t.put(" ");
    t.number(static_cast<unsigned long long>(d.value));
    t.put("\n");
  }
  const char *own = nullptr;
  for (tiling_class *c = tiling_first; c; c = c->next) {
    bool again = false; /* one class may serve several operators or tiling keys */
    for (tiling_class *e = tiling_first; e != c; e = e->next) again = again || !::strcmp(e->name, c->name);
    if (!again) c->visit(put_struct, &t);
    if (op_type && !::strcmp(c->op, op_type)) own = c->name;
  }
  if (own) t.put("//@ struct "), t.put(own), t.put("\n");
  const ops::OpDef *op = find_op(op_type, soc);
  if (op)
    for (size_t col = 0; col < columns(*op); col++) {
      t.put("//@ column");
      put_column(t, *op, op->inputs, col);
      put_column(t, *op, op->outputs, col);
      t.put("\n");
    }
  if (n > 0) out[t.len < n ? t.len : n - 1] = 0;
  return t.len;
}
} // namespace acsim_host

#define ACSIM_EXPORT extern "C" __attribute__((visibility("default"), used, weak))
ACSIM_EXPORT int32_t acsim_host_tiling(acsim_host_call *c) {
  return acsim_host::run_tiling(c);
}
ACSIM_EXPORT int32_t acsim_host_infer(acsim_host_call *c) {
  return acsim_host::run_infer(c);
}
ACSIM_EXPORT int64_t acsim_host_describe(const char *op, const char *soc, char *text, int64_t n) {
  return acsim_host::describe(op, soc, text, n);
}
#undef ACSIM_EXPORT
#endif

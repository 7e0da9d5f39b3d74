/* The msopgen form: a custom-operator project whose host and kernel files stand as they are simulated. */
#include "ascendc/internal.h"

#include <ctype.h>
#include <string.h>

char *ac_msopgen_stem(ac_arena *a, const char *op_type) {
  ac_buf b;
  ac_buf_init(&b, a);
  for (const char *p = op_type; *p; p++) {
    if (isupper((unsigned char)*p) && p > op_type && !isupper((unsigned char)p[-1])) ac_puts(&b, "_");
    ac_printf(&b, "%c", tolower((unsigned char)*p));
  }
  return ac_strdup(a, ac_buf_str(&b));
}

/* What callers know an attribute by: the graph's own name of the scalar (names in C++ text may differ from it). */
const char *ac_attr_name(const ac_emit_ctx *c, size_t i) {
  const ac_graph *g = c->o->graph;
  size_t n = 0;
  for (size_t k = 0; g && k < g->inputs.len; k++)
    if (g->inputs.data[k].role == AC_IN_SCALAR && n++ == i && g->inputs.data[k].name) return g->inputs.data[k].name;
  return c->p->attrs.data[i].name;
}

/* ---- <op>.json ---- */

static const char *type_text(ac_dtype d) {
  return d == AC_F32    ? "float"
         : d == AC_F16  ? "half"
         : d == AC_BF16 ? "bfloat16"
         : d == AC_F64  ? "double"
                        : ac_dtypes[d].name;
}
static void word_list(ac_jw *w, const char *key, const char *word) {
  ac_jw_open(w, key, AC_JW_LINE);
  ac_jw_str(w, NULL, word);
  ac_jw_close(w, AC_JW_LINE);
}
static void desc(ac_emit_ctx *c, ac_jw *w, const char *key, ac_tensor_dir without) {
  bool any = false;
  for (size_t i = 0; i < c->p->tensors.len; i++) any |= c->p->tensors.data[i].dir != without;
  ac_jw_kind kind = any ? AC_JW_ARRAY : AC_JW_LINE;
  ac_jw_open(w, key, kind);
  for (size_t i = 0; i < c->p->tensors.len; i++) {
    const ac_aparam *t = &c->p->tensors.data[i];
    if (t->dir == without) continue;
    ac_jw_open(w, NULL, AC_JW_OBJECT);
    ac_jw_str(w, "name", t->name);
    ac_jw_str(w, "param_type", "required");
    word_list(w, "format", "ND");
    word_list(w, "type", type_text(t->dtype));
    ac_jw_close(w, AC_JW_OBJECT);
  }
  ac_jw_close(w, kind);
}

static void attrs(ac_emit_ctx *c, ac_jw *w) {
  if (!c->p->attrs.len) return;
  ac_jw_open(w, "attr", AC_JW_ARRAY);
  for (size_t i = 0; i < c->p->attrs.len; i++) {
    const ac_aattr *t = &c->p->attrs.data[i];
    ac_jw_open(w, NULL, AC_JW_OBJECT);
    ac_jw_str(w, "name", ac_attr_name(c, i));
    ac_jw_str(w, "param_type", t->has_default ? "optional" : "required");
    ac_jw_str(w, "type", t->type == AC_AT_FLOAT ? "float" : t->type == AC_AT_BOOL ? "bool" : "int");
    if (t->has_default)
      ac_jw_str(w, "default_value",
                t->type == AC_AT_FLOAT ? ac_sprintf(c->a, "%.9g", t->value)
                                       : ac_sprintf(c->a, "%lld", (long long)t->value));
    ac_jw_close(w, AC_JW_OBJECT);
  }
  ac_jw_close(w, AC_JW_ARRAY);
}

char *ac_msopgen_json(ac_emit_ctx *c, const char *op_type) {
  ac_jw w;
  ac_jw_init(&w, c->a);
  ac_jw_open(&w, NULL, AC_JW_ARRAY);
  ac_jw_open(&w, NULL, AC_JW_OBJECT);
  ac_jw_str(&w, "op", op_type);
  ac_jw_str(&w, "language", "cpp");
  desc(c, &w, "input_desc", AC_TENSOR_OUT);
  desc(c, &w, "output_desc", AC_TENSOR_IN);
  attrs(c, &w);
  ac_jw_close(&w, AC_JW_OBJECT);
  ac_jw_close(&w, AC_JW_ARRAY);
  return ac_jw_text(&w);
}

/* ---- op_host ---- */

char *ac_msopgen_tiling_h(ac_emit_ctx *c, const char *op_type) {
  ac_cpp t;
  ac_cpp_init(&t, c->a, c->p);
  char *guard = ac_sprintf(c->a, "%s_tiling_h", c->p->op);
  for (char *p = guard; *p; p++) *p = (char)toupper((unsigned char)*p);
  ac_cpp_head(c, &t, ac_sprintf(c->a, "Tiling data of %s: what the host decides and the kernel reads.", op_type));
  ac_line(&t, "#ifndef %s", guard);
  ac_line(&t, "#define %s", guard);
  ac_line(&t, "#include \"register/tilingdata_base.h\"");
  ac_line(&t, "%s", "");
  ac_line(&t, "namespace optiling {");
  ac_line(&t, "BEGIN_TILING_DATA_DEF(%sTilingData)", op_type);
  for (size_t i = 0; i < c->p->fields.len; i++)
    ac_line(&t, "TILING_DATA_FIELD_DEF(%s, %s);", c->p->fields.data[i].type == AC_AT_FLOAT ? "float" : "int64_t",
            c->p->fields.data[i].name);
  ac_line(&t, "END_TILING_DATA_DEF;");
  ac_line(&t, "REGISTER_TILING_DATA_CLASS(%s, %sTilingData)", op_type, op_type);
  ac_line(&t, "} // namespace optiling");
  ac_line(&t, "#endif");
  return (char *)ac_buf_str(&t.b);
}

static void attr_reads(ac_emit_ctx *c, ac_cpp *t) {
  if (!c->p->attrs.len) return;
  ac_line(t, "const gert::RuntimeAttrs *values = context->GetAttrs();");
  ac_open(t, "if (values == nullptr)");
  ac_line(t, "return ge::GRAPH_FAILED;");
  ac_close(t, "");
  for (size_t i = 0; i < c->p->attrs.len; i++) {
    const ac_aattr *x = &c->p->attrs.data[i];
    const char *type = x->type == AC_AT_FLOAT ? "float" : x->type == AC_AT_BOOL ? "bool" : "int64_t";
    ac_line(t, "const %s *%sValue = values->GetAttrPointer<%s>(%zu);", type, x->name, type, i);
    ac_open(t, "if (%sValue == nullptr)", x->name);
    ac_line(t, "return ge::GRAPH_FAILED;");
    ac_close(t, "");
    ac_line(t, "const %s %s = *%sValue;", x->type == AC_AT_FLOAT ? "double" : "int64_t", x->name, x->name);
  }
}

static void read_shape(ac_cpp *t) {
  ac_line(t, "ShapeView Read(const gert::Shape &shape, int64_t (&dims)[32])");
  ac_open(t, "%s", "");
  ac_line(t, "const int32_t rank = static_cast<int32_t>(shape.GetDimNum());");
  ac_open(t, "for (int32_t i = 0; i < rank && i < 32; i++)");
  ac_line(t, "dims[i] = shape.GetDim(static_cast<size_t>(i));");
  ac_close(t, "");
  ac_line(t, "return ShapeView{dims, rank};");
  ac_close(t, "");
}

static void shapes_of(ac_emit_ctx *c, ac_cpp *t, bool tiling) {
  int n = tiling ? c->n_in + c->n_out : c->n_in, refs = 0; /* tensors updated in place are the first outputs */
  for (int i = 0; i < c->n_in; i++) refs += c->p->tensors.data[i].dir == AC_TENSOR_INOUT;
  ac_line(t, "int64_t sizes[%d][32];", n > 0 ? n : 1);
  ac_line(t, "ShapeView shapes[%d];", n > 0 ? n : 1);
  for (int i = 0; i < n; i++) {
    const char *get = i < c->n_in ? ac_sprintf(c->a, "GetInputShape(%d)", i)
                                  : ac_sprintf(c->a, "GetOutputShape(%d)", refs + i - c->n_in);
    ac_open(t, "if (context->%s == nullptr)", get);
    ac_line(t, "return ge::GRAPH_FAILED;");
    ac_close(t, "");
    ac_line(t, "shapes[%d] = Read(%scontext->%s%s, sizes[%d]); // %s", i, tiling ? "" : "*", get,
            tiling ? "->GetStorageShape()" : "", i, c->p->tensors.data[i].name);
  }
}

static void tiling_func(ac_emit_ctx *c, ac_cpp *t, const char *op_type) {
  ac_line(t, "namespace optiling {");
  ac_line(t, "static ge::graphStatus TilingFunc(gert::TilingContext *context)");
  ac_open(t, "%s", "");
  shapes_of(c, t, true);
  attr_reads(c, t);
  ac_line(t, "platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());");
  ac_line(t, "uint64_t ub = 0;");
  ac_line(t, "platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ub);");
  ac_line(t, "%s plan;", c->plan);
  ac_line(t,
          "const char *why = ComputeTiling(shapes%s, static_cast<int64_t>(platform.GetCoreNumAiv()), "
          "static_cast<int64_t>(ub), %splan);",
          ac_host_attr_args(c), c->p->deterministic ? "context->GetDeterministic() != 0, " : "");
  ac_open(t, "if (why != nullptr)");
  ac_line(t, "fprintf(stderr, \"%s: %%s\\n\", why);", c->p->op);
  ac_line(t, "return ge::GRAPH_FAILED;");
  ac_close(t, "");
  ac_line(t, "%sTilingData tiling;", op_type);
  for (size_t i = 0; i < c->p->fields.len; i++)
    ac_line(t, "tiling.set_%s(plan.%s);", c->p->fields.data[i].name, c->p->fields.data[i].name);
  ac_line(t,
          "tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());");
  ac_line(t, "context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());");
  ac_line(t, "context->SetTilingKey(static_cast<uint64_t>(plan.tilingKey));");
  ac_line(t, "context->SetBlockDim(static_cast<uint32_t>(plan.blockDim));");
  if (ac_cpp_syncs(c->p)) ac_line(t, "context->SetScheduleMode(1); // SyncAll: all blocks start together");
  ac_line(t, "size_t *workspaces = context->GetWorkspaceSizes(1);");
  ac_line(t, "workspaces[0] = platform.GetLibApiWorkSpaceSize() + static_cast<size_t>(plan.workspaceBytes);");
  ac_line(t, "return ge::GRAPH_SUCCESS;");
  ac_close(t, "");
  ac_line(t, "} // namespace optiling");
  ac_line(t, "%s", "");
}

static void infer(ac_emit_ctx *c, ac_cpp *t) {
  ac_line(t, "namespace ge {");
  ac_line(t, "static graphStatus InferShape(gert::InferShapeContext *context)");
  ac_open(t, "%s", "");
  shapes_of(c, t, false);
  attr_reads(c, t);
  ac_line(t, "int64_t dims[%d][16];", c->n_out > 0 ? c->n_out : 1);
  ac_line(t, "ShapeView outputs[%d];", c->n_out > 0 ? c->n_out : 1);
  ac_line(t, "refusal[0] = 0;");
  ac_line(t, "OutputShapes(shapes%s, dims, outputs);", ac_host_attr_args(c));
  ac_open(t, "if (refusal[0] != 0)");
  ac_line(t, "return GRAPH_FAILED;");
  ac_close(t, "");
  int ref = 0, at = 0;
  for (size_t i = 0; i < c->p->tensors.len; i++) {
    if (c->p->tensors.data[i].dir != AC_TENSOR_INOUT) continue;
    ac_line(t, "*context->GetOutputShape(%d) = *context->GetInputShape(%zu);", ref++, i);
  }
  for (int o = 0; o < c->n_out; o++) {
    at = ref + o;
    ac_line(t, "context->GetOutputShape(%d)->SetDimNum(static_cast<size_t>(outputs[%d].rank));", at, o);
    ac_open(t, "for (int32_t i = 0; i < outputs[%d].rank; i++)", o);
    ac_line(t, "context->GetOutputShape(%d)->SetDim(static_cast<size_t>(i), outputs[%d].dims[i]);", at, o);
    ac_close(t, "");
  }
  ac_line(t, "return GRAPH_SUCCESS;");
  ac_close(t, "");
  ac_line(t, "static graphStatus InferDataType(gert::InferDataTypeContext *context)");
  ac_open(t, "%s", "");
  ref = 0;
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < c->p->tensors.len; i++)
      if (c->p->tensors.data[i].dir == (pass ? AC_TENSOR_OUT : AC_TENSOR_INOUT))
        ac_line(t, "context->SetOutputDataType(%d, ge::%s);", ref++, ac_dtypes[c->p->tensors.data[i].dtype].ge);
  ac_line(t, "return GRAPH_SUCCESS;");
  ac_close(t, "");
  ac_line(t, "} // namespace ge");
  ac_line(t, "%s", "");
}

static void op_tensor(ac_cpp *t, const ac_aparam *x, bool output) {
  ac_line(t, "this->%s(\"%s\")", output ? "Output" : "Input", x->name);
  t->indent++;
  ac_line(t, ".ParamType(REQUIRED)");
  ac_line(t, ".DataType({ge::%s})", ac_dtypes[x->dtype].ge);
  ac_line(t, ".Format({ge::FORMAT_ND})");
  ac_line(t, ".UnknownShapeFormat({ge::FORMAT_ND})%s", output ? ";" : "");
  if (!output) ac_line(t, ".AutoContiguous();");
  t->indent--;
}

/* The chip, and others that are like it: the tiling code asks each for its cores and its UB. */
static void configs(ac_emit_ctx *c, ac_cpp *t, const char *more) {
  ac_line(t, "this->AICore().AddConfig(\"%s\"%s);", c->p->chip->config, more);
  for (const char *const *x = c->p->chip->also; *x; x++) ac_line(t, "this->AICore().AddConfig(\"%s\"%s);", *x, more);
}

static void op_def(ac_emit_ctx *c, ac_cpp *t, const char *op_type) {
  ac_line(t, "namespace ops {");
  ac_open(t, "class %s : public OpDef", op_type);
  t->indent--;
  ac_line(t, "public:");
  t->indent++;
  ac_line(t, "explicit %s(const char *name) : OpDef(name)", op_type);
  ac_open(t, "%s", "");
  for (size_t i = 0; i < c->p->tensors.len; i++)
    if (c->p->tensors.data[i].dir != AC_TENSOR_OUT) op_tensor(t, &c->p->tensors.data[i], false);
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < c->p->tensors.len; i++)
      if (c->p->tensors.data[i].dir == (pass ? AC_TENSOR_OUT : AC_TENSOR_INOUT))
        op_tensor(t, &c->p->tensors.data[i], true);
  for (size_t i = 0; i < c->p->attrs.len; i++) {
    const ac_aattr *x = &c->p->attrs.data[i];
    const char *v = !x->has_default          ? ""
                    : x->type == AC_AT_FLOAT ? ac_sprintf(c->a, "static_cast<float>(%.9g)", x->value)
                                             : ac_sprintf(c->a, "%lld", (long long)x->value);
    ac_line(t, "this->Attr(\"%s\").AttrType(%s).%s(%s);", ac_attr_name(c, i),
            x->has_default ? "OPTIONAL" : "REQUIRED",
            x->type == AC_AT_FLOAT  ? "Float"
            : x->type == AC_AT_BOOL ? "Bool"
                                    : "Int",
            x->has_default && x->type == AC_AT_BOOL ? (x->value != 0 ? "true" : "false") : v);
  }
  ac_line(t, "this->SetInferShape(ge::InferShape).SetInferDataType(ge::InferDataType);");
  ac_line(t, "this->AICore().SetTiling(optiling::TilingFunc);");
  if (strcmp(ac_msopgen_stem(c->a, op_type), c->p->op)) {
    ac_comment(
        t, ac_sprintf(c->a,
                      "The toolkit would look for %s.cpp; the kernel's file and entry keep the operator's own name.",
                      ac_msopgen_stem(c->a, op_type)));
    ac_line(t, "OpAICoreConfig config;");
    ac_line(t, "config.ExtendCfgInfo(\"opFile.value\", \"%s\").ExtendCfgInfo(\"opInterface.value\", \"%s\");",
            c->p->op, c->p->op);
    configs(c, t, ", config");
  } else
    configs(c, t, "");
  ac_close(t, "");
  ac_close(t, ";");
  ac_line(t, "%s", "");
  ac_line(t, "OP_ADD(%s);", op_type);
  ac_line(t, "} // namespace ops");
}

char *ac_msopgen_host(ac_emit_ctx *c, const char *op_type, const char *file_stem) {
  ac_cpp t;
  ac_cpp_init(&t, c->a, c->p);
  t.host = true;
  ac_cpp_head(c, &t, ac_sprintf(c->a, "Host side of %s: tiling, shapes, registration.", op_type));
  ac_line(&t, "#include \"%s_tiling.h\"", file_stem);
  ac_line(&t, "#include \"register/op_def_registry.h\"");
  ac_line(&t, "#include \"tiling/platform/platform_ascendc.h\"");
  ac_line(&t, "#include <cmath>\n#include <cstdint>\n#include <cstdio>");
  ac_line(&t, "%s", "");
  ac_host_core(c, &t);
  ac_line(&t, "%s", "");
  ac_line(&t, "namespace {");
  read_shape(&t);
  ac_line(&t, "} // namespace");
  ac_line(&t, "%s", "");
  tiling_func(c, &t, op_type);
  infer(c, &t);
  op_def(c, &t, op_type);
  return (char *)ac_buf_str(&t.b);
}

/* ---- op_kernel ---- */

static const char *gm_name(void *who, int tensor) {
  ac_emit_ctx *c = who;
  return c->p->tensors.data[tensor].name;
}

static bool has_nothing(const ac_ablock *b) {
  for (size_t i = 0; i < b->len; i++)
    if (b->data[i]->kind == AC_AS_NOTHING || b->data[i]->kind == AC_AS_END || has_nothing(&b->data[i]->body) ||
        has_nothing(&b->data[i]->orelse))
      return true;
  return false;
}

char *ac_msopgen_kernel(ac_emit_ctx *c, const char *entry) {
  ac_cpp t;
  ac_cpp_init(&t, c->a, c->p);
  ac_cpp_head(c, &t, ac_sprintf(c->a, "Device side of %s.", c->p->op_type));
  ac_line(&t, "#include \"kernel_operator.h\"");
  ac_line(&t, "%s", "");
  ac_cpp_kernels(c, &t);
  ac_line(&t, "%s", "");
  ac_buf args;
  ac_buf_init(&args, c->a);
  for (size_t i = 0; i < c->p->tensors.len; i++)
    if (c->p->tensors.data[i].dir != AC_TENSOR_OUT) ac_printf(&args, "GM_ADDR %s, ", c->p->tensors.data[i].name);
  for (size_t i = 0; i < c->p->tensors.len; i++)
    if (c->p->tensors.data[i].dir == AC_TENSOR_INOUT) ac_printf(&args, "GM_ADDR %sRef, ", c->p->tensors.data[i].name);
  for (size_t i = 0; i < c->p->tensors.len; i++)
    if (c->p->tensors.data[i].dir == AC_TENSOR_OUT) ac_printf(&args, "GM_ADDR %s, ", c->p->tensors.data[i].name);
  ac_line(&t, "extern \"C\" __global__ __aicore__ void %s(%sGM_ADDR workspace, GM_ADDR tiling)", entry,
          ac_buf_str(&args));
  ac_open(&t, "%s", "");
  ac_line(&t, "GET_TILING_DATA(tilingData, tiling);");
  if (c->p->workspaces.len) ac_line(&t, "GM_ADDR userWorkspace = AscendC::GetUserWorkspace(workspace);");
  ac_line(&t, "AscendC::TPipe pipe;");
  for (size_t i = 0; i < c->p->paths.len; i++) {
    ac_open(&t, "%s (TILING_KEY_IS(%zu))", i ? "} else if" : "if", i + 1);
    ac_cpp_run_path(&t, c->p->paths.data[i], "tilingData", "userWorkspace", gm_name, c);
    if (i + 1 < c->p->paths.len || has_nothing(&c->p->host)) t.indent--;
  }
  if (has_nothing(&c->p->host)) {
    ac_open(&t, "} else if (TILING_KEY_IS(0))");
    ac_comment(&t, "Nothing to do for this shape.");
  }
  ac_close(&t, "");
  ac_close(&t, "");
  return (char *)ac_buf_str(&t.b);
}

/* ---- binding: torch calls aclnn<OpType> ---- */

char *ac_msopgen_binding(ac_emit_ctx *c, const char *op_type) {
  ac_cpp t;
  ac_cpp_init(&t, c->a, c->p);
  ac_cpp_head(c, &t,
              ac_sprintf(c->a, "PyTorch binding of aclnn%s: allocates the outputs and calls the operator.", op_type));
  ac_line(&t, "#include <torch/extension.h>\n#include \"pytorch_npu_helper.hpp\"\n#include <cmath>\n#include "
              "<cstdint>\n#include <cstdio>\n#include <tuple>");
  ac_line(&t, "%s", "");
  ac_line(&t, "namespace {");
  ac_host_shapes(c, &t);
  ac_line(&t, "} // namespace");
  ac_line(&t, "%s", "");
  ac_binding_function(c, &t, true, op_type);
  ac_line(&t, "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)");
  ac_open(&t, "%s", "");
  ac_line(&t, "m.def(\"%s\", &%s, \"%s\");", c->p->op, c->p->op, c->p->op_type);
  ac_close(&t, "");
  return (char *)ac_buf_str(&t.b);
}

/* ---- the project around them ---- */

static const char build_sh[] =
    "#!/bin/sh\n"
    "# Builds the operator package with the CANN toolkit: build_out/custom_opp_*.run\n"
    "# Needs ASCEND_HOME_PATH (source set_env.sh of the toolkit first). Never run on a machine with CANN by its "
    "author.\n"
    "set -eu\n"
    "cd \"$(dirname \"$0\")\"\n"
    ": \"${ASCEND_HOME_PATH:?source the set_env.sh of your CANN toolkit first}\"\n"
    "template=\"$ASCEND_HOME_PATH/tools/op_project_templates/ascendc/customize\"\n"
    "if [ ! -d \"$template/cmake\" ]; then\n"
    "    echo \"no operator template in $template: is the toolkit complete?\" >&2\n"
    "    exit 2\n"
    "fi\n"
    "# The toolkit's own build rules, as msopgen would copy them.\n"
    "for part in cmake scripts; do\n"
    "    [ -d \"$part\" ] || cp -r \"$template/$part\" .\n"
    "done\n"
    "rm -rf build_out\n"
    "cmake -S . -B build_out -DCMAKE_BUILD_TYPE=Release -DENABLE_SOURCE_PACKAGE=True -DENABLE_BINARY_PACKAGE=True "
    "\\\n"
    "    -DASCEND_COMPUTE_UNIT=%s -DENABLE_TEST=False -Dvendor_name=customize -DASCEND_PYTHON_EXECUTABLE=python3 \\\n"
    "    -DASCEND_CANN_PACKAGE_PATH=\"$ASCEND_HOME_PATH\" -DCMAKE_INSTALL_PREFIX=\"$PWD/build_out\" "
    "-DENABLE_CROSS_COMPILE=False\n"
    "cmake --build build_out --target binary\n"
    "cmake --build build_out --target package\n"
    "ls build_out/*.run\n";

static const char cmake_root[] =
    "# The toolkit's template does the work; this project brings op_host/ and op_kernel/. Started by build.sh.\n"
    "cmake_minimum_required(VERSION 3.16.0)\n"
    "project(opp)\n"
    "set(OPERATOR_TEMPLATE ${ASCEND_CANN_PACKAGE_PATH}/tools/op_project_templates/ascendc/customize)\n"
    "include(${OPERATOR_TEMPLATE}/CMakeLists.txt)\n";

static char *presets(ac_emit_ctx *c) {
  static const char *const vars[][3] = {{"CMAKE_BUILD_TYPE", "STRING", "Release"},
                                        {"ENABLE_SOURCE_PACKAGE", "BOOL", "True"},
                                        {"ENABLE_BINARY_PACKAGE", "BOOL", "True"},
                                        {"ASCEND_COMPUTE_UNIT", "STRING", NULL},
                                        {"ENABLE_TEST", "BOOL", "False"},
                                        {"vendor_name", "STRING", "customize"},
                                        {"ASCEND_CANN_PACKAGE_PATH", "PATH", "$env{ASCEND_HOME_PATH}"},
                                        {"ASCEND_PYTHON_EXECUTABLE", "STRING", "python3"},
                                        {"CMAKE_INSTALL_PREFIX", "PATH", "${sourceDir}/build_out"},
                                        {"ENABLE_CROSS_COMPILE", "BOOL", "False"}};
  ac_jw w;
  ac_jw_init(&w, c->a);
  ac_jw_open(&w, NULL, AC_JW_OBJECT);
  ac_jw_int(&w, "version", 1);
  ac_jw_open(&w, "cmakeMinimumRequired", AC_JW_OBJECT);
  ac_jw_int(&w, "major", 3);
  ac_jw_int(&w, "minor", 19);
  ac_jw_int(&w, "patch", 0);
  ac_jw_close(&w, AC_JW_OBJECT);
  ac_jw_open(&w, "configurePresets", AC_JW_ARRAY);
  ac_jw_open(&w, NULL, AC_JW_OBJECT);
  ac_jw_str(&w, "name", "default");
  ac_jw_str(&w, "displayName", "Default");
  ac_jw_str(&w, "generator", "Unix Makefiles");
  ac_jw_str(&w, "binaryDir", "${sourceDir}/build_out");
  ac_jw_open(&w, "cacheVariables", AC_JW_OBJECT);
  for (size_t i = 0; i < AC_COUNT(vars); i++) {
    ac_jw_open(&w, vars[i][0], AC_JW_OBJECT);
    ac_jw_str(&w, "type", vars[i][1]);
    ac_jw_str(&w, "value", vars[i][2] ? vars[i][2] : c->p->chip->config);
    ac_jw_close(&w, AC_JW_OBJECT);
  }
  ac_jw_close(&w, AC_JW_OBJECT);
  ac_jw_close(&w, AC_JW_OBJECT);
  ac_jw_close(&w, AC_JW_ARRAY);
  ac_jw_close(&w, AC_JW_OBJECT);
  return ac_jw_text(&w);
}

static char *readme(ac_emit_ctx *c) {
  ac_buf b;
  ac_buf_init(&b, c->a);
  const char *op = c->p->op, *type = c->p->op_type;
  ac_printf(&b, "# %s: custom-operator project\n\n", type);
  ac_printf(&b, "Host code in `op_host/`, kernel in `op_kernel/`, description for msopgen in `%s.json`.\n\n", op);
  ac_puts(&b, "Build and install (on a machine with the CANN toolkit, 8.1 or later):\n\n");
  ac_puts(&b,
          "    . /usr/local/Ascend/ascend-toolkit/set_env.sh\n    ./build.sh\n    ./build_out/custom_opp_*.run\n\n");
  ac_printf(&b,
            "Call: `aclnn%sGetWorkspaceSize` and `aclnn%s` from C++, or the PyTorch binding `op.cpp` with "
            "`EXEC_NPU_CMD` (it needs\n"
            "`pytorch_npu_helper.hpp` of the Ascend samples).\n\n",
            type, type);
  ac_puts(&b, "With msopgen instead of build.sh: ");
  ac_printf(&b,
            "`msopgen gen -i %s.json -c ai_core-%s -lan cpp -out project`, then copy `op_host/` and `op_kernel/` "
            "over the generated ones.\n",
            op, c->p->chip->soc);
  if (strcmp(ac_msopgen_stem(c->a, type), op))
    ac_printf(&b,
              "\nmsopgen turns the name %s back into `%s`, which is not `%s`: remove the files that it generates "
              "under that name.\n"
              "The operator's own file name is set in `op_host/%s.cpp` (opFile.value), untested with a toolkit; the "
              "direct-launch form has no such problem.\n",
              type, ac_msopgen_stem(c->a, type), op, op);
  return (char *)ac_buf_str(&b);
}

void ac_msopgen_files(ac_emit_ctx *c, ac_project *out) {
  const char *op = c->p->op, *type = c->p->op_type;
  ac_add_file(c, out, ac_sprintf(c->a, "msopgen/%s.json", op), ac_msopgen_json(c, type), false);
  ac_add_file(c, out, ac_sprintf(c->a, "msopgen/op_host/%s_tiling.h", op), ac_msopgen_tiling_h(c, type), false);
  ac_add_file(c, out, ac_sprintf(c->a, "msopgen/op_host/%s.cpp", op), ac_msopgen_host(c, type, op), false);
  ac_add_file(c, out, ac_sprintf(c->a, "msopgen/op_kernel/%s.cpp", op), ac_msopgen_kernel(c, op), false);
  ac_add_file(c, out, "msopgen/op.cpp", ac_msopgen_binding(c, type), false);
  ac_add_file(c, out, "msopgen/build.sh", ac_sprintf(c->a, build_sh, c->p->chip->config), true);
  ac_add_file(c, out, "msopgen/CMakeLists.txt", cmake_root, false);
  ac_add_file(c, out, "msopgen/CMakePresets.json", presets(c), false);
  ac_add_file(c, out, "msopgen/op_host/CMakeLists.txt",
              "# Libraries of the host side: the toolkit's rules over this folder's "
              "sources.\ninclude(${OPERATOR_TEMPLATE}/op_host/CMakeLists.txt)\n",
              false);
  ac_add_file(c, out, "msopgen/op_kernel/CMakeLists.txt",
              "# Kernel binaries: the toolkit's rules over this folder's "
              "sources.\ninclude(${OPERATOR_TEMPLATE}/op_kernel/CMakeLists.txt)\n",
              false);
  ac_add_file(c, out, "msopgen/README.md", readme(c), false);
}

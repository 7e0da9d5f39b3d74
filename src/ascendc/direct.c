/* The direct-launch form: kernel and tiling code in one file behind C functions, and a torch extension that calls them. */
#include "ascendc/internal.h"

#include <string.h>

static const char *gm_name(void *who, int tensor) {
  ac_emit_ctx *c = who;
  return c->p->tensors.data[tensor].name;
}

/* Blocks that wait for each other need the scheduler that a MIX type brings (asc-devkit docs, SyncAll and CrossCoreSetFlag, constraints);
 * that type wants a workspace, which every call gets. */
static void kernel_type(ac_cpp *t, bool syncs) {
  ac_line(t, "#if !defined(ASCENDC_CPU_DEBUG) && defined(KERNEL_TASK_TYPE_DEFAULT)");
  ac_line(t, "KERNEL_TASK_TYPE_DEFAULT(%s);", syncs ? "KERNEL_TYPE_MIX_AIV_1_0" : "KERNEL_TYPE_AIV_ONLY");
  ac_line(t, "#endif");
}

static char *parameters(ac_emit_ctx *c) {
  ac_buf args;
  ac_buf_init(&args, c->a);
  for (size_t i = 0; i < c->p->tensors.len; i++) ac_printf(&args, "GM_ADDR %s, ", c->p->tensors.data[i].name);
  return ac_sprintf(c->a, "%sGM_ADDR workspace, %s plan", ac_buf_str(&args), c->plan);
}

static void entry(ac_emit_ctx *c, ac_cpp *t) {
  bool syncs = false;
  for (size_t i = 0; i < c->p->kernels.len; i++) syncs |= c->p->kernels.data[i]->sync_all;
  ac_line(t, "extern \"C\" __global__ __aicore__ void %s(%s)", c->p->op, parameters(c));
  ac_open(t, "%s", "");
  kernel_type(t, syncs);
  ac_line(t, "AscendC::TPipe pipe;");
  for (size_t i = 0; i < c->p->launches.len; i++) {
    ac_open(t, "%s (plan.tilingKey == %zu)", i ? "} else if" : "if", i + 1);
    ac_cpp_run(t, c->p->launches.data[i], "plan", "workspace", gm_name, c);
    if (i + 1 < c->p->launches.len) t->indent--;
  }
  ac_close(t, "");
  ac_close(t, "");
  ac_line(t, "%s", "");
}

/* Where a path launches several times, every launch is a kernel of its own. */
static void entries(ac_emit_ctx *c, ac_cpp *t) {
  if (!c->p->phased) {
    entry(c, t);
    return;
  }
  for (size_t i = 0; i < c->p->launches.len; i++) {
    const ac_alaunch *l = c->p->launches.data[i];
    ac_line(t, "extern \"C\" __global__ __aicore__ void %s_launch%zu(%s)", c->p->op, i + 1, parameters(c));
    ac_open(t, "%s", "");
    kernel_type(t, c->p->kernels.data[l->kernel]->sync_all);
    ac_line(t, "AscendC::TPipe pipe;");
    ac_cpp_run(t, l, "plan", "workspace", gm_name, c);
    ac_close(t, "");
    ac_line(t, "%s", "");
  }
}

static const char arguments[] =
    "uint32_t cores, uint64_t ub, const int64_t *const *shapes, const int32_t *ranks, const double *attrs";

static void make_plan(ac_emit_ctx *c, ac_cpp *t) {
  size_t n = c->p->tensors.len;
  ac_line(t, "static int32_t MakePlan(%s, %s &plan, char *msg, uint32_t len)", arguments, c->plan);
  ac_open(t, "%s", "");
  ac_line(t, "ShapeView views[%zu];", n ? n : 1);
  ac_open(t, "for (int32_t i = 0; i < %zu; i++)", n);
  ac_line(t, "views[i] = ShapeView{shapes[i], ranks[i]};");
  ac_close(t, "");
  if (c->p->deterministic)
    ac_comment(t, ac_sprintf(c->a, "attrs[%zu]: equal inputs shall give equal bits, always.", c->p->attrs.len));
  else if (!c->p->attrs.len)
    ac_line(t, "(void)attrs;");
  ac_buf args;
  ac_buf_init(&args, c->a);
  for (size_t i = 0; i < c->p->attrs.len; i++)
    ac_printf(&args, c->p->attrs.data[i].type == AC_AT_FLOAT ? ", attrs[%zu]" : ", static_cast<int64_t>(attrs[%zu])",
              i);
  ac_line(t,
          "const char *why = ComputeTiling(views%s, static_cast<int64_t>(cores), static_cast<int64_t>(ub), %splan);",
          ac_buf_str(&args), c->p->deterministic ? ac_sprintf(c->a, "attrs[%zu] != 0, ", c->p->attrs.len) : "");
  ac_open(t, "if (why != nullptr)");
  ac_line(t, "snprintf(msg, len, \"%s: %%s\", why);", c->p->op);
  ac_line(t, "return 1;");
  ac_close(t, "");
  ac_line(t, "return 0;");
  ac_close(t, "");
  ac_line(t, "%s", "");
}

static void workspace(ac_emit_ctx *c, ac_cpp *t) {
  ac_comment(t, "Bytes of workspace that a call needs. Arrays: inputs, then outputs.");
  ac_line(t, "extern \"C\" int32_t %s_workspace(%s, int64_t *bytes,", c->p->op, arguments);
  ac_line(t, "    char *msg, uint32_t len)");
  ac_open(t, "%s", "");
  ac_line(t, "%s plan;", c->plan);
  ac_line(t, "*bytes = 0;");
  ac_open(t, "if (MakePlan(cores, ub, shapes, ranks, attrs, plan, msg, len) != 0)");
  ac_line(t, "return 1;");
  ac_close(t, "");
  ac_line(t, "*bytes = plan.workspaceBytes;");
  ac_line(t, "return 0;");
  ac_close(t, "");
  ac_line(t, "%s", "");
}

static void launch(ac_cpp *t, const char *kernel, const char *blocks, const char *args) {
  ac_line(t, "#ifdef ASCENDC_CPU_DEBUG");
  ac_line(t, "ICPU_RUN_KF(%s, static_cast<uint32_t>(%s), %sscratch, plan);", kernel, blocks, args);
  ac_line(t, "#else");
  ac_line(t, "%s<<<static_cast<uint32_t>(%s), nullptr, stream>>>(%sscratch, plan);", kernel, blocks, args);
  ac_line(t, "#endif");
}

/* One stream runs its launches in order: each sees what those before it stored. */
static void launch_path(ac_emit_ctx *c, ac_cpp *t, const ac_apath *x, const char *args) {
  ac_open(t, "if (plan.tilingKey == %d)", x->key);
  for (size_t i = 0; i < x->phases.len; i++) {
    const ac_alaunch *l = x->phases.data[i];
    const char *blocks = ac_sprintf(c->a, "plan.%s", c->p->fields.data[l->blocks_field].name);
    ac_open(t, "if (%s > 0)", blocks);
    launch(t, ac_sprintf(c->a, "%s_launch%d", c->p->op, l->index + 1), blocks, args);
    ac_close(t, "");
  }
  ac_close(t, "");
}

static void run(ac_emit_ctx *c, ac_cpp *t) {
  ac_comment(t, "Plans and launches one call; returns 0, or 1 with the reason in msg.");
  ac_line(t, "extern \"C\" int32_t %s_run(%s, void *const *data,", c->p->op, arguments);
  ac_line(t, "    void *workspace, void *stream, char *msg, uint32_t len)");
  ac_open(t, "%s", "");
  ac_line(t, "%s plan;", c->plan);
  ac_open(t, "if (MakePlan(cores, ub, shapes, ranks, attrs, plan, msg, len) != 0)");
  ac_line(t, "return 1;");
  ac_close(t, "");
  ac_open(t, "if (plan.tilingKey == 0)");
  ac_line(t, "return 0; // nothing to do for this shape");
  ac_close(t, "");
  ac_buf args;
  ac_buf_init(&args, c->a);
  for (size_t i = 0; i < c->p->tensors.len; i++) {
    ac_line(t, "uint8_t *%s = static_cast<uint8_t *>(data[%zu]);", c->p->tensors.data[i].name, i);
    ac_printf(&args, "%s, ", c->p->tensors.data[i].name);
  }
  ac_line(t, "uint8_t *scratch = static_cast<uint8_t *>(workspace);");
  ac_line(t, "#ifdef ASCENDC_CPU_DEBUG");
  ac_line(t, "(void)stream;");
  ac_line(t, "#endif");
  if (!c->p->phased) launch(t, c->p->op, "plan.blockDim", ac_buf_str(&args));
  for (size_t i = 0; c->p->phased && i < c->p->paths.len; i++)
    launch_path(c, t, c->p->paths.data[i], ac_buf_str(&args));
  ac_line(t, "return 0;");
  ac_close(t, "");
}

char *ac_direct_kernel(ac_emit_ctx *c) {
  ac_cpp t;
  ac_cpp_init(&t, c->a, c->p);
  ac_cpp_head(c, &t, ac_sprintf(c->a, "%s: kernel, tiling code and launch.", c->p->op_type));
  ac_line(&t, "#include \"kernel_operator.h\"");
  ac_line(&t, "#if defined(ASCENDC_CPU_DEBUG) && !defined(ICPU_RUN_KF)\n#include \"tikicpulib.h\"\n#endif");
  ac_line(&t, "#include <cmath>\n#include <cstdint>\n#include <cstdio>");
  ac_line(&t, "%s", "");
  ac_cpp_kernels(c, &t);
  ac_line(&t, "%s", "");
  t.host = true;
  ac_host_core(c, &t);
  ac_line(&t, "%s", "");
  entries(c, &t);
  make_plan(c, &t);
  workspace(c, &t);
  run(c, &t);
  return (char *)ac_buf_str(&t.b);
}

/* ---- the torch function ---- */

typedef struct {
  int tensor; /* index of the program's tensor, or -1 - attribute */
} argument;

/* Arguments in the graph's order, so that ModelNew passes what forward got; without a graph tensors come first. */
static int arguments_of(ac_emit_ctx *c, argument *out) {
  const ac_graph *g = c->o->graph;
  int n = 0, tensors = 0, attrs = 0;
  if (g)
    for (size_t k = 0; k < g->inputs.len; k++) {
      bool s = g->inputs.data[k].role == AC_IN_SCALAR;
      if (s ? attrs < (int)c->p->attrs.len : tensors < c->n_in) out[n++].tensor = s ? -1 - attrs++ : tensors++;
    }
  for (; tensors < c->n_in;) out[n++].tensor = tensors++;
  for (; attrs < (int)c->p->attrs.len;) out[n++].tensor = -1 - attrs++;
  return n;
}

/* Input that output o updates in place, or -1. */
static int updates(const ac_emit_ctx *c, int o) {
  const ac_graph *g = c->o->graph;
  if (!g || (int)g->outputs.len != c->n_out || g->outputs.data[o].updates < 0) return -1;
  int n = 0;
  for (int k = 0; k < g->outputs.data[o].updates; k++) n += g->inputs.data[k].role != AC_IN_SCALAR;
  return n < c->n_in ? n : -1;
}

static int results(const ac_emit_ctx *c) {
  int n = 0;
  for (int o = 0; o < c->n_out; o++) n += updates(c, o) < 0;
  return n;
}

static void call_aclnn(ac_emit_ctx *c, ac_cpp *t, const char *op_type) {
  ac_buf b;
  ac_buf_init(&b, c->a);
  for (int i = 0; i < c->n_in; i++) ac_printf(&b, ", %sIn", c->p->tensors.data[i].name);
  ac_puts(&b, ac_host_attr_args(c));
  for (int i = 0; i < c->n_in; i++)
    if (c->p->tensors.data[i].dir == AC_TENSOR_INOUT) ac_printf(&b, ", %sIn", c->p->tensors.data[i].name);
  for (int o = 0; o < c->n_out; o++) ac_printf(&b, ", %s", c->p->tensors.data[c->n_in + o].name);
  ac_line(t, "EXEC_NPU_CMD(aclnn%s%s);", op_type, ac_buf_str(&b));
}

static void call_direct(ac_emit_ctx *c, ac_cpp *t) {
  size_t n = c->p->tensors.len;
  ac_line(t, "const int64_t *sizes[%zu];", n + 1);
  ac_line(t, "int32_t ranks[%zu];", n + 1);
  ac_line(t, "void *data[%zu];", n + 1);
  for (size_t i = 0; i < n; i++) {
    const char *name = c->p->tensors.data[i].name, *tail = (int)i < c->n_in ? "In" : "";
    ac_line(t, "sizes[%zu] = %s%s.sizes().data();", i, name, tail);
    ac_line(t, "ranks[%zu] = static_cast<int32_t>(%s%s.dim());", i, name, tail);
    ac_line(t, "data[%zu] = %s%s.data_ptr();", i, name, tail);
  }
  ac_buf b;
  ac_buf_init(&b, c->a);
  for (size_t i = 0; i < c->p->attrs.len; i++) ac_printf(&b, "static_cast<double>(%s), ", c->p->attrs.data[i].name);
  ac_line(t, "const double attrs[] = {%s%s};", ac_buf_str(&b),
          c->p->deterministic ? "at::globalContext().deterministicAlgorithms() ? 1.0 : 0.0" : "0.0");
  ac_line(t, "auto *platform = platform_ascendc::PlatformAscendCManager::GetInstance();");
  ac_line(t, "const uint32_t cores = platform->GetCoreNumAiv();");
  ac_line(t, "uint64_t ub = 0;");
  ac_line(t, "platform->GetCoreMemSize(platform_ascendc::CoreMemType::UB, ub);");
  ac_line(t, "char msg[320] = {0};");
  ac_line(t, "int64_t bytes = 0;");
  ac_line(t, "TORCH_CHECK(%s_workspace(cores, ub, sizes, ranks, attrs, &bytes, msg, sizeof(msg)) == 0, msg);",
          c->p->op);
  ac_line(t, "at::Tensor workspace = at::empty({bytes > 0 ? bytes : 1}, %sIn.options().dtype(at::kByte));",
          c->p->tensors.data[0].name);
  ac_line(t, "void *stream = c10_npu::getCurrentNPUStream().stream();");
  ac_line(t,
          "TORCH_CHECK(%s_run(cores, ub, sizes, ranks, attrs, data, workspace.data_ptr(), stream, msg, sizeof(msg)) "
          "== 0, msg);",
          c->p->op);
}

void ac_binding_function(ac_emit_ctx *c, ac_cpp *t, bool aclnn, const char *op_type) {
  argument *args = AC_NEW_N(c->a, argument, c->p->tensors.len + c->p->attrs.len + 1);
  int n = arguments_of(c, args), r = results(c);
  ac_buf b;
  ac_buf_init(&b, c->a);
  for (int i = 0; i < n; i++) {
    int x = args[i].tensor;
    ac_printf(&b, "%s", i ? ", " : "");
    if (x >= 0)
      ac_printf(&b, "const at::Tensor &%s", c->p->tensors.data[x].name);
    else
      ac_printf(&b, "%s %s", c->p->attrs.data[-1 - x].type == AC_AT_FLOAT ? "double" : "int64_t",
                c->p->attrs.data[-1 - x].name);
  }
  const char *type = "at::Tensor";
  if (r != 1) {
    ac_buf tuple;
    ac_buf_init(&tuple, c->a);
    for (int i = 0; i < r; i++) ac_printf(&tuple, "%sat::Tensor", i ? ", " : "");
    type = ac_sprintf(c->a, "std::tuple<%s>", ac_buf_str(&tuple));
  }
  ac_line(t, "%s %s(%s)", type, c->p->op, ac_buf_str(&b));
  ac_open(t, "%s", "");
  for (int i = 0; i < c->n_in; i++) {
    const ac_aparam *x = &c->p->tensors.data[i];
    ac_line(t, "TORCH_CHECK(%s.scalar_type() == %s, \"%s: %s must be %s\");", x->name, ac_dtypes[x->dtype].aten,
            c->p->op, x->name, ac_dtypes[x->dtype].name);
    ac_line(t, "at::Tensor %sIn = %s.contiguous();", x->name, x->name);
  }
  ac_line(t, "ShapeView shapes[%d];", c->n_in > 0 ? c->n_in : 1);
  for (int i = 0; i < c->n_in; i++)
    ac_line(t, "shapes[%d] = ShapeView{%sIn.sizes().data(), static_cast<int32_t>(%sIn.dim())};", i,
            c->p->tensors.data[i].name, c->p->tensors.data[i].name);
  ac_line(t, "int64_t dims[%d][16];", c->n_out > 0 ? c->n_out : 1);
  ac_line(t, "ShapeView outputs[%d];", c->n_out > 0 ? c->n_out : 1);
  ac_line(t, "refusal[0] = 0;");
  ac_line(t, "OutputShapes(shapes%s, dims, outputs);", ac_host_attr_args(c));
  ac_line(t, "TORCH_CHECK(refusal[0] == 0, refusal);");
  ac_buf empty;
  ac_buf_init(&empty, c->a);
  for (int o = 0; o < c->n_out; o++) {
    const ac_aparam *x = &c->p->tensors.data[c->n_in + o];
    ac_line(t,
            "at::Tensor %s = at::empty(at::IntArrayRef(outputs[%d].dims, static_cast<size_t>(outputs[%d].rank)), "
            "%sIn.options().dtype(%s));",
            x->name, o, o, c->p->tensors.data[0].name, ac_dtypes[x->dtype].aten);
    ac_printf(&empty, "%s%s.numel() != 0", o ? " || " : "", x->name);
  }
  if (c->n_out) ac_open(t, "if (%s)", ac_buf_str(&empty));
  if (aclnn)
    call_aclnn(c, t, op_type);
  else
    call_direct(c, t);
  for (int o = 0; o < c->n_out; o++)
    if (updates(c, o) >= 0)
      ac_line(t, "%s.copy_(%s);", c->p->tensors.data[updates(c, o)].name, c->p->tensors.data[c->n_in + o].name);
  for (int i = 0; i < c->n_in; i++)
    if (c->p->tensors.data[i].dir == AC_TENSOR_INOUT)
      ac_line(t, "%s.copy_(%sIn);", c->p->tensors.data[i].name, c->p->tensors.data[i].name);
  if (c->n_out) ac_close(t, "");
  ac_buf ret;
  ac_buf_init(&ret, c->a);
  for (int o = 0, k = 0; o < c->n_out; o++)
    if (updates(c, o) < 0) ac_printf(&ret, "%s%s", k++ ? ", " : "", c->p->tensors.data[c->n_in + o].name);
  if (r == 1)
    ac_line(t, "return %s;", ac_buf_str(&ret));
  else
    ac_line(t, "return %s(%s);", type, ac_buf_str(&ret));
  ac_close(t, "");
  ac_line(t, "%s", "");
}

char *ac_direct_binding(ac_emit_ctx *c) {
  ac_cpp t;
  ac_cpp_init(&t, c->a, c->p);
  ac_cpp_head(c, &t, ac_sprintf(c->a, "PyTorch extension that launches %s.", c->p->op));
  ac_line(&t, "#include <torch/extension.h>\n#include \"torch_npu/csrc/core/npu/NPUStream.h\"\n#include "
              "\"tiling/platform/platform_ascendc.h\"\n#include <cmath>\n#include <cstdint>\n#include "
              "<cstdio>\n#include <tuple>");
  ac_line(&t, "%s", "");
  ac_line(&t, "extern \"C\" int32_t %s_workspace(%s, int64_t *bytes,", c->p->op, arguments);
  ac_line(&t, "    char *msg, uint32_t len);");
  ac_line(&t, "extern \"C\" int32_t %s_run(%s, void *const *data,", c->p->op, arguments);
  ac_line(&t, "    void *workspace, void *stream, char *msg, uint32_t len);");
  ac_line(&t, "%s", "");
  ac_line(&t, "namespace {");
  ac_host_shapes(c, &t);
  ac_line(&t, "} // namespace");
  ac_line(&t, "%s", "");
  ac_binding_function(c, &t, false, c->p->op_type);
  ac_line(&t, "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)");
  ac_open(&t, "%s", "");
  ac_line(&t, "m.def(\"%s\", &%s, \"%s\");", c->p->op, c->p->op, c->p->op_type);
  ac_close(&t, "");
  return (char *)ac_buf_str(&t.b);
}

/* ---- files ---- */

static char *setup_py(ac_emit_ctx *c) {
  const char *op = c->p->op;
  ac_buf b;
  ac_buf_init(&b, c->a);
  ac_printf(&b,
            "\"\"\"Builds the extension %s_lib: bisheng compiles the kernel, the host's C++ compiler the binding. "
            "Never run on an NPU by its author.\"\"\"\n",
            op);
  ac_puts(&b, "import os\nimport subprocess\n\nimport torch\nimport torch_npu\nfrom setuptools import setup\nfrom "
              "torch.utils.cpp_extension import BuildExtension, CppExtension\n\n");
  ac_puts(&b,
          "home = os.environ[\"ASCEND_HOME_PATH\"]\nnpu = os.path.dirname(os.path.abspath(torch_npu.__file__))\nhere "
          "= os.path.dirname(os.path.abspath(__file__))\nos.chdir(here)  # wherever it is called from\n");
  ac_printf(&b, "kernel = os.path.join(here, \"lib%s_kernel.so\")\n", op);
  ac_printf(&b,
            "subprocess.check_call([\"bisheng\", \"--npu-arch=dav-%d\", \"-xasc\", \"-std=c++17\", \"-fPIC\", "
            "\"-shared\", \"-O2\", \"-o\", kernel,\n"
            "                       os.path.join(here, \"%s_kernel.cpp\")])\n",
            c->p->chip->npu_arch, op);
  ac_printf(
      &b, "setup(\n    name=\"%s_lib\",\n    ext_modules=[CppExtension(\n        \"%s_lib\", [\"%s_binding.cpp\"],\n",
      op, op, op);
  ac_puts(&b, "        include_dirs=[os.path.join(home, \"include\"), os.path.join(npu, \"include\")],\n"
              "        library_dirs=[os.path.join(home, \"lib64\"), os.path.join(npu, \"lib\"), here],\n");
  ac_printf(&b, "        libraries=[\"torch_npu\", \"ascendcl\", \"tiling_api\", \"platform\", \"%s_kernel\"],\n",
            op);
  ac_puts(&b, "        runtime_library_dirs=[here],\n        extra_compile_args=[\"-std=c++17\"])],\n    "
              "cmdclass={\"build_ext\": BuildExtension},\n)\n");
  return (char *)ac_buf_str(&b);
}

static char *cmake(ac_emit_ctx *c) {
  const char *op = c->p->op;
  return ac_sprintf(
      c->a,
      "# Compiles the kernel library alone (for callers from C or C++): lib%s_kernel.so with %s_workspace and "
      "%s_run.\n"
      "cmake_minimum_required(VERSION 3.16.0)\nproject(%s NONE)\nfind_program(BISHENG bisheng REQUIRED)\n"
      "add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/lib%s_kernel.so\n"
      "    COMMAND ${BISHENG} --npu-arch=dav-%d -xasc -std=c++17 -fPIC -shared -O2 -o "
      "${CMAKE_BINARY_DIR}/lib%s_kernel.so\n"
      "            ${CMAKE_SOURCE_DIR}/%s_kernel.cpp\n    DEPENDS ${CMAKE_SOURCE_DIR}/%s_kernel.cpp)\n"
      "add_custom_target(kernel ALL DEPENDS ${CMAKE_BINARY_DIR}/lib%s_kernel.so)\n",
      op, op, op, op, op, c->p->chip->npu_arch, op, op, op, op);
}

static char *readme(ac_emit_ctx *c) {
  const char *op = c->p->op;
  return ac_sprintf(c->a,
                    "# %s: direct launch\n\n`%s_kernel.cpp` holds the kernel, the tiling code and the launch; "
                    "`%s_binding.cpp` is the PyTorch extension,\n"
                    "`%s.py` the module `ModelNew`. No msopgen, no operator package.\n\nBuild and call (CANN toolkit "
                    "with bisheng, torch, torch_npu):\n\n"
                    "    . /usr/local/Ascend/ascend-toolkit/set_env.sh\n    python3 setup.py build_ext --inplace\n   "
                    " python3 -c 'import %s'\n\n"
                    "From C: `%s_workspace(...)`, then `%s_run(...)`; arrays follow the tensors, inputs first.\n",
                    c->p->op_type, op, op, op, op, op, op);
}

void ac_direct_files(ac_emit_ctx *c, ac_project *out) {
  const char *op = c->p->op;
  ac_add_file(c, out, ac_sprintf(c->a, "direct/%s_kernel.cpp", op), ac_direct_kernel(c), false);
  ac_add_file(c, out, ac_sprintf(c->a, "direct/%s_binding.cpp", op), ac_direct_binding(c), false);
  ac_add_file(c, out, ac_sprintf(c->a, "direct/%s.py", op), ac_model_new(c, "", ac_sprintf(c->a, "%s_lib", op), op),
              false);
  ac_add_file(c, out, "direct/setup.py", setup_py(c), false);
  ac_add_file(c, out, "direct/CMakeLists.txt", cmake(c), false);
  ac_add_file(c, out, "direct/README.md", readme(c), false);
}

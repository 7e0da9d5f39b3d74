/* What the files of ascendc share. Not for other modules. */
#ifndef AC_ASCENDC_INTERNAL_H
#define AC_ASCENDC_INTERNAL_H

#include "ascendc/ascendc.h"

typedef struct {
  ac_arena *a;
  const ac_program *p;
  const ac_emit_opts *o;
  ac_diags *d;
  const char *plan; /* C++ name of the struct that the tiling code fills: "ReluCustomPlan" */
  int n_in, n_out;  /* tensors; in-place ones count as inputs */
  const char *kernels, *host_shapes, *host_core; /* what several files contain, once it is made */
} ac_emit_ctx;

/* ---- C++ text (cpp.c) ---- */
typedef struct {
  ac_buf b;
  ac_arena *a;
  int indent;
  bool host; /* host text: checked integers, double; else kernel text: int64_t, float */
  const ac_program *p;
  const ac_akernel *k;
  ac_strvec declared; /* LocalTensor names that are in scope */
} ac_cpp;
void ac_cpp_init(ac_cpp *t, ac_arena *a, const ac_program *p);
/* One line at the current indentation; a line may be empty. */
void ac_line(ac_cpp *t, const char *fmt, ...) AC_PRINTF(2, 3);
void ac_open(ac_cpp *t, const char *fmt, ...) AC_PRINTF(2, 3); /* the line, " {", deeper */
void ac_close(ac_cpp *t, const char *tail);                    /* "}" and tail */
void ac_comment(ac_cpp *t, const char *text); /* "// text", safe against line splicing; "" is an empty line */
char *ac_cpp_expr(ac_cpp *t, const ac_aexpr *e);
/* The same as the left side of a product: a sum in parentheses. */
char *ac_cpp_factor(ac_cpp *t, const ac_aexpr *e);
/* Helper functions and the classes of all kernels, without includes and without an entry. */
void ac_cpp_kernels(ac_emit_ctx *c, ac_cpp *t);
/* Statements that build and run the kernel of a launch: Init(...), Process(). `data` is the tiling variable, `user` the workspace. */
void ac_cpp_run(ac_cpp *t, const ac_alaunch *l, const char *data, const char *user, const char *(*gm)(void *, int),
                void *who);
/* The launches of a path as phases of one kernel. */
void ac_cpp_run_path(ac_cpp *t, const ac_apath *x, const char *data, const char *user, const char *(*gm)(void *, int),
                     void *who);
/* Blocks wait for each other somewhere in the one-operator forms. */
bool ac_cpp_syncs(const ac_program *p);
/* C++ type of elements in kernel text: bool is uint8_t there. */
const char *ac_cpp_dtype(ac_dtype d);
/* Comment line at the head of a file: what it is and how it was made. */
void ac_cpp_head(ac_emit_ctx *c, ac_cpp *t, const char *what);

/* ---- tiling code (host.c, shapes.c) ---- */
/* The plan struct, checked integers, shape guards, OutputShapes and ComputeTiling: the same text in every form. */
void ac_host_core(ac_emit_ctx *c, ac_cpp *t);
/* Only what a binding needs: shape views and OutputShapes. */
void ac_host_shapes(ac_emit_ctx *c, ac_cpp *t);
void ac_host_guards(ac_emit_ctx *c, ac_cpp *t);
void ac_host_output_shapes(ac_emit_ctx *c, ac_cpp *t);
/* "double alpha, int64_t n": attributes as C++ parameters, with a leading comma when there are any. */
char *ac_host_attr_params(ac_emit_ctx *c);
char *ac_host_attr_args(ac_emit_ctx *c);
/* Index k of the input whose shape output `o` has in every rank, or -1. */
int ac_shape_like(const ac_emit_ctx *c, int o);

const char *ac_attr_name(const ac_emit_ctx *c, size_t i);

/* ---- files ---- */
void ac_add_file(ac_emit_ctx *c, ac_project *out, const char *path, const char *text, bool executable);
char *ac_msopgen_json(ac_emit_ctx *c, const char *op_type);
char *ac_msopgen_tiling_h(ac_emit_ctx *c, const char *op_type);
char *ac_msopgen_host(ac_emit_ctx *c, const char *op_type, const char *file_stem);
char *ac_msopgen_kernel(ac_emit_ctx *c, const char *entry);
char *ac_msopgen_binding(ac_emit_ctx *c, const char *op_type);
/* The C++ function `<op>` of a torch extension; `aclnn`: through EXEC_NPU_CMD, else through <op>_run. */
void ac_binding_function(ac_emit_ctx *c, ac_cpp *t, bool aclnn, const char *op_type);
void ac_msopgen_files(ac_emit_ctx *c, ac_project *out);
char *ac_direct_kernel(ac_emit_ctx *c);
char *ac_direct_binding(ac_emit_ctx *c);
void ac_direct_files(ac_emit_ctx *c, ac_project *out);
/* Python text that defines ModelNew, calling `module`.`function`; `before` goes before the import of the module. */
char *ac_model_new(ac_emit_ctx *c, const char *before, const char *module, const char *function);
void ac_benchmark_files(ac_emit_ctx *c, ac_project *out);
char *ac_device_test(ac_emit_ctx *c);
char *ac_project_readme(ac_emit_ctx *c);
char *ac_manifest(ac_emit_ctx *c, const ac_project *files);
/* The name that msopgen derives from an op type for its files: "AveragePooling1dCustom" gives "average_pooling1d_custom". */
char *ac_msopgen_stem(ac_arena *a, const char *op_type);

#endif

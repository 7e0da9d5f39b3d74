/* ascendc: AscendC program -> C++ text and buildable projects in each output format. Takes no decisions.
 */
#ifndef AC_ASCENDC_H
#define AC_ASCENDC_H

#include "graph/graph.h"
#include "lower/lower.h"

/* Output formats (F: enum, --format name, folder or file in the project). */
#define AC_FORMATS(F)                                                                                               \
  F(AC_FMT_MSOPGEN, "msopgen",                                                                                      \
    "msopgen")                         /* custom-operator project: op_host, op_kernel, JSON, CMake, build script */ \
  F(AC_FMT_DIRECT, "direct", "direct") /* <<<>>> launch + torch extension */                                        \
  F(AC_FMT_SIXSTRING, "six-string", "benchmark")   /* MultiKernelBench ascendc text */                              \
  F(AC_FMT_DIRECTJSON, "direct-json", "benchmark") /* MultiKernelBench ascendc_direct_launch JSON */
typedef enum {
#define F(id, name, dir) id,
  AC_FORMATS(F)
#undef F
      AC_FMT_COUNT
} ac_format;
#define AC_FMT_ALL ((1u << AC_FMT_COUNT) - 1)
const char *ac_format_name(ac_format f);
bool ac_format_of(const char *name, ac_format *f);

typedef struct {
  const char *path; /* relative to the project */
  const char *text;
  size_t len;
  bool executable;
} ac_file;
typedef struct {
  AC_VEC(ac_file) files; /* sorted by path */
} ac_project;

typedef struct {
  unsigned
      formats; /* bit set of ac_format; what others need (six-string needs msopgen's texts) is made but not written */
  const ac_graph *graph;   /* NULL when the input was a DSL file: then outputs take the first input's shape */
  const char *source;      /* the user's Python text, or NULL; ModelNew keeps its imports and __init__ */
  const char *source_name; /* base name, for comments */
  const char *craft_text;  /* the DSL program, written as <op>.craft */
  const char *command;     /* how it was made, for the README of the project (no times, no paths of this machine) */
  /* What the frontend knows of the module (frontend.h, ac_module_info); without it ModelNew goes by the text alone. */
  const char *class_name; /* NULL: "Model" */
  const char *const
      *paths; /* one a graph input: Python expression that forward's arguments reach it by ("x", "xs[0]"); entries, or
                             * the array, may be NULL: the input's name */
  const char *
      result; /* Python expression of forward's result over `out`, the list of its output tensors; NULL: one tensor or a tuple */
  const ac_file
      *extra; /* files that another back end made, n_extra of them, and their line in the project's README */
  int n_extra;
  const char *extra_note;
} ac_emit_opts;
/* Complete project in memory: formats, manifest.json, README.md, device_test.py, <op>.craft. False on errors. Deterministic. */
bool ac_emit(ac_arena *a, const ac_program *p, const ac_emit_opts *o, ac_project *out, ac_diags *d);
/* Writes into a fresh or empty folder by staging + rename; nothing half-written remains. */
bool ac_project_write(ac_arena *a, const ac_project *p, const char *dir, bool force, ac_diags *d);

#endif

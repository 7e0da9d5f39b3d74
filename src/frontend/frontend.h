/* frontend: a PyTorch source file becomes a graph.
 *
 * The file is executed by the host's CPython, in a sandboxed child (`ascendcraft-trace`), with a tracing stand-in for torch; what
 * comes back is the graph. Knows nothing of schedules or of AscendC. The Python side is data/tracer/, the child's C side is trace/.
 */
#ifndef AC_FRONTEND_H
#define AC_FRONTEND_H

#include "graph/graph.h"

/* An input's example shape, replacing what get_inputs() says (or standing for it where the file has no get_inputs). */
typedef struct {
  const char *input; /* name of the argument of forward ("x"; "xs_0": first of a list), or its position ("0") */
  int rank;
  const int64_t *dims;
  ac_dtype dtype; /* AC_NODTYPE: as get_inputs() says, else float32 */
} ac_shape_override;

/* How one argument of forward reaches the kernel. */
typedef struct {
  const char *name;    /* forward's argument, "self" left out */
  const char *path;    /* Python expression of this leaf: "x", "xs[0]", "cfg['scale']" */
  int input;           /* index into graph->inputs; -1: not an input, but the Python constant below */
  const char *literal; /* input < 0: the value that it was traced with, as Python text ("None", "'mean'", "True") */
} ac_forward_arg;

/* What the emitter needs of the module besides its graph. */
typedef struct {
  const char *file, *text; /* absolute path; the whole source */
  const char *class_name;
  int class_first, class_last; /* line range of the class, from 1, inclusive (decorators too); 0: it is imported */
  AC_VEC(ac_forward_arg) args; /* leaves in the order of forward's arguments */
  /* Python expression of forward's result over `out`: "out[0]", "(out[0], {'a': out[1]})". Outputs that update an input
   * in place (`updates` >= 0) follow the results and are not named here. */
  const char *result;
  const char *python; /* version of the CPython that ran it: "3.11.2" */
} ac_module_info;

typedef struct {
  const char *class_name; /* NULL: `Model`, else the only nn.Module of the file */
  AC_VEC(ac_shape_override) shapes;
  ac_dtype dtype;  /* AC_NODTYPE: as written; else floating inputs, parameters and buffers have it (`--dtype`) */
  double timeout;  /* wall seconds; 0: 20 */
  uint64_t memory; /* bytes of address space; 0: 2 GiB */
  const char *libpython; /* NULL: $ASCENDCRAFT_LIBPYTHON, else search */
  const char
      *init; /* Python literal of the constructor's arguments ("[64, 1e-5]") instead of get_init_inputs(); NULL */
  ac_module_info *info; /* filled in when not NULL */
} ac_trace_opts;
#define AC_TRACE_DEFAULTS ((ac_trace_opts){.dtype = AC_NODTYPE})

/* Traces the module of `py_file`. NULL with diagnostics (AC02xx of the file: line and way out; AC03xx of shapes and dtypes) on any
 * failure. `o` NULL: AC_TRACE_DEFAULTS. Limits and refusals: no network, no writing, no new process, `timeout`, `memory`; only the file's
 * own folder, Python's library and our data can be read. A layer of the sandbox that the host lacks is a warning. */
ac_graph *ac_trace(ac_arena *a, const char *py_file, const ac_trace_opts *o, ac_diags *d);

/* Parses "x=7,1003", "0=7,1003", "x=" (rank 0) or "x=8,8:float16"; false and AC0103. */
bool ac_parse_shape(ac_arena *a, const char *text, ac_shape_override *s, ac_diags *d);

#endif

/* AscendCraft as a library: operator in, verified AscendC project out. The command `ascendcraft` is its first user.
 *
 * One context serves one thread; contexts are independent. Every function returns an exit code (0 is success) and leaves its messages in
 * the context. Strings that come back live until the next call on the same context.
 *
 *   ac_context *c = ac_context_new();
 *   ac_gen_options o = AC_GEN_OPTIONS_INIT;
 *   o.input = "softmax.py";
 *   o.output = "out/softmax";
 *   if (ac_generate(c, &o) != AC_EXIT_OK) fputs(ac_context_messages(c), stderr);
 *   ac_context_free(c);
 */
#ifndef ASCENDCRAFT_API_H
#define ASCENDCRAFT_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AC_API __attribute__((visibility("default")))

/* Exit codes, the same for the library and for every sub-command. */
enum {
  AC_EXIT_OK = 0,          /* done */
  AC_EXIT_FAILED = 1,      /* a verification or a check failed */
  AC_EXIT_BAD_INPUT = 2,   /* bad input or usage */
  AC_EXIT_UNSUPPORTED = 3, /* understood, but not supported */
  AC_EXIT_LIMIT = 4,       /* a limit of time, memory or size was hit */
  AC_EXIT_INTERNAL = 5     /* a fault of AscendCraft */
};

typedef struct ac_context ac_context;
AC_API ac_context *ac_context_new(void);    /* NULL when there is no memory */
AC_API void ac_context_free(ac_context *c); /* NULL is fine */
/* Diagnostics of the last call as text: "file:line:col: error[AC0203]: ..." with source line and caret. Never NULL. */
AC_API const char *ac_context_messages(ac_context *c);
/* The last call's result as JSON text: {"command", "exit", "diagnostics": [...], and what the command makes}. Never NULL. */
AC_API const char *ac_context_json(ac_context *c);
/* Where progress lines go while something takes longer than two seconds (a terminal); NULL: nowhere. */
AC_API void ac_context_progress(ac_context *c, FILE *terminal);
/* Prints the last call's diagnostics; `colour` for terminals only. */
AC_API void ac_context_print(ac_context *c, FILE *out, bool colour);
AC_API const char *ac_version(void);

/* Common to the commands that read an operator: PyTorch source (.py) or a DSL program (.craft). */
typedef struct {
  const char *input;         /* path of the .py or .craft file */
  const char *output;        /* folder to write; NULL: ./<operator> */
  bool force;                /* replace a non-empty output folder that holds a manifest.json of ours */
  const char *target;        /* chip, e.g. "ascend910b2" (default when NULL) */
  const char *name;          /* operator name in snake case; NULL: from the file */
  const char *class_name;    /* NULL: Model, else the only nn.Module of the file */
  const char *init;          /* constructor arguments as a Python list; NULL: get_init_inputs() */
  const char *dtype;         /* NULL: as written; "float32", "float16", "bfloat16" */
  const char *const *shapes; /* "x=7,1003"; n_shapes of them */
  int n_shapes;
  const char *const *formats; /* "msopgen", "direct", "six-string", "direct-json"; n_formats 0: all */
  int n_formats;
  bool no_verify;           /* ac_generate: stop after writing the project */
  const char *dump;         /* ac_lower_file: name of a pass or "all": the program after it goes to dump_to */
  FILE *dump_to;            /* NULL: stdout */
  const char *libpython;    /* NULL: $ASCENDCRAFT_LIBPYTHON, else search */
  double trace_timeout;     /* seconds; 0: 20 */
  int64_t max_elements;     /* verification budget a case; 0: the default */
  uint64_t seed;            /* of verification inputs; 0: the default */
  const char *const *tunes; /* "name=value": choices for a DSL program's tunables; n_tunes of them */
  int n_tunes;
  bool verbose; /* ac_check_file: a line for each property in ac_context_text() */
} ac_gen_options;
#define AC_GEN_OPTIONS_INIT ((ac_gen_options){0})

/* The main job: trace, plan, check, lower, emit, write, verify. */
AC_API int ac_generate(ac_context *c, const ac_gen_options *o);
/* Traces a PyTorch file; ac_context_text() is the graph as text. */
AC_API int ac_trace_file(ac_context *c, const ac_gen_options *o);
/* Checks a DSL program (or the one planned for a .py file). */
AC_API int ac_check_file(ac_context *c, const ac_gen_options *o);
/* Lowers; ac_context_text() is the DSL program for a .py, the kernel's C++ for a .craft. */
AC_API int ac_lower_file(ac_context *c, const ac_gen_options *o);

typedef struct {
  const char *const *files; /* n_files DSL programs; "-": standard input, and ac_context_text() is the result */
  int n_files;
  bool check; /* nothing is written; AC_EXIT_FAILED, and the files named, when one is not in canonical form */
} ac_format_options;
/* Rewrites DSL programs in their canonical form. Comments are kept; what would become another program is not written. */
AC_API int ac_format_files(ac_context *c, const ac_format_options *o);
/* ac_context_text() is the page of the error book about a code ("AC0512", "512"); NULL: the list of codes. */
AC_API int ac_explain(ac_context *c, const char *code);

typedef struct {
  const char *project;       /* folder with manifest.json */
  const char *const *shapes; /* "x=7,1003": shapes in place of the module's own; n_shapes of them, one an input */
  int n_shapes;
  const char *const *formats; /* "msopgen", "direct"; n_formats 0: all that the project holds */
  int n_formats;
  bool only;   /* that shape alone, with its own values: no further values, no ladder of shapes */
  bool all;    /* list the passing cases too */
  bool colour; /* in ac_context_text() */
  int64_t max_elements;
  uint64_t seed;
  int hazards; /* an ac_hazard_check */
  int64_t
      sample_blocks; /* of a shape too large to run in full: so many blocks, chosen by the seed; 0: the first, the last, one more */
} ac_verify_options;
/* Verifies a project; ac_context_text() is the report. */
AC_API int ac_verify_project(ac_context *c, const ac_verify_options *o);
/* Runs one case (the first shape, else the module's own) and reports launch, tiling key, faults and error. */
AC_API int ac_run_project(ac_context *c, const ac_verify_options *o);
/* Runs one launch of a PyTorch module or a DSL program on the simulator without a compiler: traced, planned, checked, lowered, and the
 * lowered program interpreted. A DSL program has no shapes of its own: o->shapes names those of its tensors. */
AC_API int ac_run_file(ac_context *c, const ac_gen_options *o);
/* ---- running anything on the simulator ---- */

/* One thing that a kernel gets, in the order of its parameters. `text`, by kind:
 *   IN         FILE.npy[:DTYPE]              an input; DTYPE says what the elements are (uint16 as bfloat16)
 *   OUT        FILE.npy:DTYPE:DIM[xDIM...]   an output, poisoned before the run; a project knows dtype and shape itself
 *   INOUT      FILE.npy[:DTYPE][:OUT.npy]    both; written to OUT.npy, or back
 *   WORKSPACE  BYTES                         scratch memory
 *   SCALAR     [TYPE:]VALUE, or null         a number, converted to the parameter's type */
typedef enum { AC_GIVE_IN, AC_GIVE_OUT, AC_GIVE_INOUT, AC_GIVE_WORKSPACE, AC_GIVE_SCALAR } ac_give;
typedef struct {
  ac_give kind;
  const char *text;
} ac_run_argument;

typedef enum { AC_CHECK_ON, AC_CHECK_STRICT, AC_CHECK_OFF } ac_hazard_check;
/* Results of functions whose last bits are not known (docs/simulator.md, error bounds): as computed, at the upper or the lower edge of the
 * bound, or at either edge, by the seed and the result. */
typedef enum { AC_RESULTS_NOMINAL, AC_RESULTS_UP, AC_RESULTS_DOWN, AC_RESULTS_MIXED } ac_results;
/* What float16 and bfloat16 results beyond the format become, until the kernel sets CTRL bit 48 itself: what is usual on the chip, inf, or the
 * largest number (and 0 for NaN). */
typedef enum { AC_HALF_OVERFLOW_CHIP, AC_HALF_OVERFLOW_INF, AC_HALF_OVERFLOW_SATURATE } ac_half_overflow;

typedef struct {
  const char *input; /* project folder, FILE.py, FILE.craft, or a kernel's source (.cpp, .cc, .cxx, .asc) */
  ac_gen_options
      source; /* for .py and .craft: shapes, dtype, class ...; `target` and `seed` count for every kind of input */
  const char *const *formats; /* of a project: "msopgen" or "direct"; n_formats 0: the first that it holds */
  int n_formats;
  const ac_run_argument *args; /* n_args of them, in the order of the kernel's parameters */
  int n_args;
  /* the rest is for a kernel's source, unless it says otherwise */
  const char *entry; /* "add_custom", "ns::add<float>"; NULL: the only one */
  int64_t blocks;    /* of the launch */
  const char *const
      *tiling; /* a binary file, or "key=value,key=[1,2],..." which set fields of the tiling struct by name */
  int n_tiling;
  uint64_t tiling_key;
  const char *tiling_struct;         /* NULL: found in the source */
  const char *const *tiling_headers; /* where it stands, if the source does not include it */
  int n_tiling_headers;
  const char *const *include_dirs;
  int n_include_dirs;
  const char *const *defines; /* "NAME=VALUE" */
  int n_defines;
  bool optimise;           /* compile with -O1 in place of -O0 */
  bool reverse;            /* every input: blocks start, and atomics take effect, from the last to the first */
  bool deterministic;      /* every input: tl.deterministic() and the tiling context's GetDeterministic() say yes */
  int threads;             /* every input: host threads; 0: all */
  double timeout;          /* every input: seconds for the run; 0: 60 */
  ac_hazard_check hazards; /* every input: accesses that nothing orders */
  int64_t sample_blocks;   /* every input: run only so many blocks, chosen by source.seed; 0: all */
  ac_results perturb;      /* every input; the seed is source.seed */
  ac_half_overflow half_overflow; /* every input */
} ac_run_options;
#define AC_RUN_OPTIONS_INIT ((ac_run_options){0})
/* One launch. ac_context_text() says what happened; 0 only if it ran without hazard or fault. Output files are written after the run, a
 * faulty one, too, so that one can look at what came out. */
AC_API int ac_run(ac_context *c, const ac_run_options *o);

typedef struct {
  const char *trace;    /* file for a trace in Chrome's format, or NULL */
  const char *plot;     /* file for a picture (SVG), or NULL */
  int64_t trace_blocks; /* both show the first blocks of each launch; 0: 2 */
  int64_t trace_spans;  /* instructions at most; 0: 100000 */
} ac_profile_options;
/* One launch and its modelled time: utilisation of each unit, what holds it up, the longest stalls. Modelled from the chip's data file,
 * not measured. */
AC_API int ac_profile_run(ac_context *c, const ac_run_options *o, const ac_profile_options *p);
/* Text that the last call made for people (graph, program, report); "" if none. */
AC_API const char *ac_context_text(ac_context *c);

#ifdef __cplusplus
}
#endif
#endif

/* sim: the machine. Builds emitted (or anybody's) AscendC sources with g++ against sim/include and runs every block of the
 * launch on the C core, in a sandboxed child.
 *
 * Two parts: the core (src/sim/core.h, acsim_* functions that the C++ headers call; memories, queues, instructions, checks) and
 * the runner below. The kernel's shared object leaves acsim_* undefined; the `ascendcraft` executable exports them.
 */
#ifndef AC_SIM_H
#define AC_SIM_H

#include "isa/isa.h"
#include "lower/air.h"

/* ---- building ------------------------------------------------------------------------------------------------- */

typedef enum {
  AC_SIM_MSOPGEN, /* op_host/<op>.cpp (tiling by gert::TilingContext, OP_ADD) + op_kernel/<op>.cpp: both are compiled */
  AC_SIM_DIRECT, /* one file with the kernel, its <<<>>> launch (ICPU_RUN_KF in CPU debug) and the extern "C" functions below */
  AC_SIM_KERNEL, /* one kernel of anybody's source by itself: its arguments are given (ac_sim_run_kernel) */
} ac_sim_form;
/* The C functions that a direct-launch project exports, <op> in snake case; arrays follow the kernel's tensor order
 * (inputs, then outputs), `attrs` the scalar attributes. They return 0, or fill msg and return 1 (a refused shape).
 *   int32_t <op>_workspace(uint32_t cores, uint64_t ub, const int64_t *const *shapes, const int32_t *ranks,
 *                          const double *attrs, int64_t *bytes, char *msg, uint32_t msg_len);
 *   int32_t <op>_run(uint32_t cores, uint64_t ub, const int64_t *const *shapes, const int32_t *ranks, const double *attrs,
 *                    void *const *data, void *workspace, void *stream, char *msg, uint32_t msg_len); */

typedef struct {
  ac_sim_form form;
  const char *op;                  /* snake case, e.g. "softmax_custom": the kernel's entry is extern "C" <op>(...) */
  const char *op_type;             /* "SoftmaxCustom" as in OP_ADD; msopgen only */
  const char *kernel_src;          /* path of the kernel's .cpp */
  const char *host_src;            /* path of op_host's .cpp; msopgen only */
  const char *const *include_dirs; /* NULL-ended, more -I */
  const ac_chip *chip;
  int opt; /* g++ -O level: 0 or 1 */
  const ac_dtype *
      dtypes; /* n_dtypes, or NULL: the parameters' dtypes, inputs before outputs (AC_NODTYPE: any). Only kernels for them
                             are compiled; a DYNAMIC parameter counts once */
  int n_dtypes;
  const char *const *host_more; /* NULL-ended: further .cpp files of op_host, compiled into the same library */
  /* AC_SIM_KERNEL: `op` is the entry as C++ reaches it: "add_custom", "ns::add<float>" */
  const char *const *defines;       /* NULL-ended, "NAME=VALUE" */
  const char *const *headers;       /* NULL-ended, included before the source: where its tiling struct is */
  const char *tiling_struct;        /* as C++ reaches it; NULL: none */
  const char *const *tiling_fields; /* NULL-ended: what ac_sim_launch.fields may name */
} ac_sim_spec;
typedef struct ac_sim_lib ac_sim_lib;
/* Compiles (cached by content hash under $XDG_CACHE_HOME/ascendcraft) in a sandbox; NULL and AC08xx with the compiler's own
 * message on failure. */
ac_sim_lib *ac_sim_build(ac_arena *a, const ac_sim_spec *s, ac_diags *d);

/* ---- running ------------------------------------------------------------------------------------------------------ */

typedef struct {
  const char *name;
  ac_dtype dtype;
  int rank;
  int64_t shape
      [AC_MAX_RANK]; /* of an output with OutputShapeDependOnCompute: the largest before, the real one after the run */
  void *
      data; /* from ac_sim_alloc: shared with the child. Only the tensor's own bytes: the core checks bounds itself */
  int64_t bytes;
  bool output;     /* poisoned before the run; every element must be written */
  bool also_input; /* in place: not poisoned, may be written once */
  int list;    /* neighbours with the same number above 0 are one DYNAMIC parameter: the kernel gets a list of them */
  bool absent; /* an OPTIONAL parameter that is not given: only `name` and `output` count, the kernel gets NULL */
  int host_type; /* 0, or ge::DataType + 1: what the host code is told where the type has none here (complex64 as 8 bytes) */
  bool
      updated; /* an input that the kernel writes although no output stands for it; an output that was filled before */
  int output_at; /* outputs: 1 for the first output, and so on; 0 in all of them: they come in the order of the tensors */
} ac_sim_tensor;
/* Anonymous shared memory of n bytes (n may be 0), not touched until used; NULL when the host refuses. */
void *ac_sim_alloc(int64_t n);
void ac_sim_dealloc(void *p, int64_t n);

typedef struct {
  const char *name;
  enum { AC_ATTR_F, AC_ATTR_I, AC_ATTR_B, AC_ATTR_S, AC_ATTR_LIST_F, AC_ATTR_LIST_I } kind;
  double f;
  int64_t i;
  const char *s;     /* AC_ATTR_S */
  const double *lf;  /* AC_ATTR_LIST_F: n of them */
  const int64_t *li; /* AC_ATTR_LIST_I, for lists of bools, too: n of them */
  int n;
} ac_sim_attr;

typedef enum { AC_ORDER_FORWARD, AC_ORDER_REVERSE } ac_block_order;
/* Whether accesses that the program does not order are faults. */
typedef enum {
  AC_HAZARDS_ON,     /* yes, and the vendor compiler's automatic synchronisation is on, as it is by default there */
  AC_HAZARDS_STRICT, /* yes, as if compiled with --cce-auto-sync=off */
  AC_HAZARDS_OFF
} ac_hazards;
/* What becomes of results whose error bound (ac_error_bounds) is above half a unit in the last place. */
typedef enum {
  AC_PERTURB_NONE, /* the nominal result */
  AC_PERTURB_UP,   /* the bound above it, */
  AC_PERTURB_DOWN, /* below it, */
  AC_PERTURB_MIXED /* or either, by a seed and the result itself */
} ac_perturb;
/* What half and bfloat16 results beyond the format become, until the kernel sets CTRL bit 48 itself. */
typedef enum {
  AC_OVERFLOW_CHIP, /* what is usual on the chip (its file says) */
  AC_OVERFLOW_INF,
  AC_OVERFLOW_SATURATE /* the largest number; and 0 for NaN */
} ac_overflow;
typedef struct {
  ac_block_order order;
  int threads;      /* host threads that share the blocks; 0: as many as there are cores */
  double timeout;   /* wall seconds for the child; 0: 60, and a second for every 20 MB of tensors */
  uint64_t memory;  /* limit of the child beside the tensors, bytes; 0: 4 GiB */
  bool tiling_only; /* run the host code, no block: for shapes too large to simulate */
  int64_t first_block,
      n_blocks; /* run only these blocks (n_blocks 0: all); unwritten elements are then not an error */
  ac_hazards hazards;
  bool
      in_process; /* ac_sim_run_program only: no child. For loops over many small runs; out of memory ends this process */
  bool no_time;                      /* do not model time: a little faster on this host */
  int64_t trace_blocks, trace_spans; /* keep the instructions of the first blocks of each launch, so many at most */
  int64_t
      sample; /* run only so many blocks, those of ac_sim_sample; 0: all. Unwritten elements are then not an error */
  uint64_t sample_seed;
  FILE *progress; /* a terminal, for a line once the run takes more than two seconds; NULL: none */
  ac_perturb perturb;
  uint64_t perturb_seed;
  const char *perturb_only; /* only the results of this function; NULL: all */
  ac_overflow overflow;
  bool deterministic; /* the caller wants equal bits from equal inputs: GetDeterministic() of the tiling context */
} ac_sim_opts;

/* Which n of `blocks` blocks a sample with this seed takes: ascending in `to`, which has room for n; every set is equally likely. Returns how
 * many: fewer than n only where there are fewer. */
int64_t ac_sim_sample(int64_t n, uint64_t seed, int64_t blocks, int64_t *to);

/* A fault that the machine reports: out of bounds, misaligned, use before write, queue misuse, element never or twice written... */
typedef struct {
  const char *
      kind; /* stable word: "gm-out-of-bounds", "ub-overflow", "never-written", "written-twice", "read-poison", ... */
  const char *message; /* a sentence with the sizes and names */
  const char *file;    /* emitted source, or NULL */
  int line;
  int64_t block; /* -1: not of one block */
  int64_t count; /* how often the same place did it */
} ac_sim_fault;
/* All kinds there are (fault_kinds.def). A warning is reported and fails nothing. */
typedef struct {
  const char *kind;
  bool warning;
  const char *what;
} ac_sim_fault_kind;
extern const ac_sim_fault_kind ac_sim_fault_kinds[];
extern const size_t ac_sim_n_fault_kinds;
const ac_sim_fault_kind *ac_sim_fault_kind_of(const char *kind); /* NULL: no such kind */

/* ---- modelled time: from the chip's cost file, never a measurement (docs/simulator.md, "Time") ---- */

typedef struct {
  double cycles;              /* until its last block's end */
  double busy[AC_PIPE_COUNT]; /* cycles that each unit had work */
  int64_t blocks;
} ac_sim_core_time;
/* A unit stood still because of one edge of the order: summed over all blocks. */
typedef struct {
  ac_pipe pipe;      /* that waited */
  const char *what;  /* the call that makes it wait: "DeQue", "WaitFlag", "PipeBarrier", "GetValue", "issue" ... */
  const char *event; /* "MTE2_V", or "" */
  const char *file;  /* of that call; NULL: none */
  int line;
  ac_pipe from;        /* the unit waited for, and its instruction */
  const char *from_op; /* "" : none */
  const char *from_file;
  int from_line;
  double cycles;
  int64_t count;
} ac_sim_stall;
/* One instruction on its unit, or a wait of the scalar unit. */
typedef struct {
  const char *op;
  const char *file; /* NULL: none */
  int line;
  ac_pipe pipe;
  bool wait;
  int core;
  int64_t block;
  double start, end; /* cycles since the first launch began */
  int64_t from;      /* number of the span whose end it waited for; -1: of none */
  const char *edge;  /* by which event: "MTE2_V" ... */
} ac_sim_span;
typedef struct {
  bool modelled; /* false: switched off, or nothing ran */
  int launches;
  double us;             /* all of it: launches, cores, shared memory */
  double cycles;         /* the same without the launches' overhead, at mhz */
  double mhz, launch_us; /* overhead of the launches */
  double core_cycles;    /* what the slowest core took (each launch's, summed) */
  double memory_us;      /* what the memory that cores share takes at least; more than core_cycles: it is the bound */
  bool resident;         /* tensors fit in L2 and are taken to be there */
  int64_t bytes_in, bytes_out; /* moved by the cores' copies: GM to UB, UB to GM */
  int64_t must_in,
      must_out;      /* must move once: L2 lines of inputs that were read, bytes of outputs that were written */
  double must_far;   /* of those, what goes between L2 and memory */
  int64_t hbm_bytes; /* between L2 and memory */
  double hbm_gb_s, l2_gb_s;       /* what the chip's file says; l2: reading and writing */
  int64_t blocks_run, blocks_all; /* fewer run than all: the others are taken to be like them */
  AC_VEC(ac_sim_core_time) cores;
  AC_VEC(ac_sim_stall) stalls; /* longest first */
  AC_VEC(ac_sim_span)
  spans;                 /* what opts.trace_blocks asked for: launch by launch, block by block, in program order */
  int64_t spans_dropped; /* instructions of those blocks beyond opts.trace_spans */
} ac_sim_time;

typedef struct {
  bool ran;            /* false: see refused, or diagnostics */
  const char *refused; /* the tiling code's own message when it refuses the shape; NULL otherwise */
  int64_t block_dim, tiling_key, workspace;
  int64_t tiling_bytes;
  AC_VEC(ac_sim_fault) faults;
  int64_t ub_peak;               /* bytes of UB in use at most in a block */
  double wall;                   /* seconds on this host: not device time */
  unsigned sandbox_missing;      /* see ac_sandbox_missing */
  AC_VEC(ac_sim_fault) warnings; /* apart from the faults: a run with warnings alone is a good one */
  ac_sim_time time;
  ac_strvec bounded; /* functions that ran whose results --perturb would move */
  const char *said;  /* what the kernel and the host code printed; NULL: nothing */
  /* fields of its tiling data that were given in part, as "a[2..3], b but for b.n"; NULL: none */
  const char *tiling_partial;
} ac_sim_result;
/* Runs host tiling, then the blocks. False when the child could not be run or died (diagnostics say how: signal, time-out, memory). */
bool ac_sim_run(ac_arena *a, const ac_sim_lib *lib, ac_sim_tensor *tensors, int n, const ac_sim_attr *attrs,
                int n_attrs, const ac_sim_opts *opts, ac_sim_result *r, ac_diags *d);

/* ---- one kernel by itself ---- */

typedef struct {
  bool whole, negative; /* an integer (beyond INT64_MAX: its bits in i), or a float */
  int64_t i;
  double f;
} ac_sim_number;
typedef struct {
  enum { AC_KARG_TENSOR, AC_KARG_WORKSPACE, AC_KARG_TILING, AC_KARG_NUMBER, AC_KARG_NULL } kind;
  int tensor;    /* its index */
  int64_t bytes; /* of a workspace; 0: the kernel gets NULL */
  ac_sim_number number;
  const char *written; /* for messages: the option as it was given */
} ac_sim_karg;
typedef struct {
  const char *path; /* "tileNum", "cube.m", "sizes[2]" */
  const ac_sim_number *values;
  int n;
} ac_sim_field;
typedef struct {
  const ac_sim_karg *args; /* in the kernel's order */
  int n_args;
  bool launcher;  /* the entry is a host function that launches: it is called once, and says the blocks itself */
  int64_t blocks; /* of the launch */
  uint64_t tiling_key;
  const void *tiling; /* ready-made bytes, or NULL: the struct with `fields` set */
  int64_t tiling_bytes;
  const ac_sim_field *fields;
  int n_fields;
  const char *const *params; /* for messages: names of the parameters, n_params of them */
  int n_params;
  const char *const *known_fields; /* for messages, NULL-ended */
} ac_sim_launch;
/* Runs one kernel with the arguments as given. The compiler knows the types of its parameters and of its tiling struct: what does not
 * fit them is AC0808. */
bool ac_sim_run_kernel(ac_arena *a, const ac_sim_lib *lib, ac_sim_tensor *tensors, int n, const ac_sim_launch *l,
                       const ac_sim_opts *opts, ac_sim_result *r, ac_diags *d);

/* Gives the outputs the shapes that the program says (`y: tl.out[...]`), from those of its inputs; the others stay as they are. */
typedef struct ac_dprogram ac_sim_compiled;
ac_sim_compiled *ac_sim_compile(ac_arena *a, const ac_program *p, ac_diags *d); /* once for all questions */
bool ac_sim_output_shapes(ac_arena *a, const ac_sim_compiled *x, ac_sim_tensor *tensors, int n,
                          const ac_sim_attr *attrs, int n_attrs, ac_diags *d);
/* The same run without a compiler: the program's tiling code and kernels are interpreted on the same core, and the calls that
 * they make there are those of the emitted custom-operator project, in its order: the same bytes, faults, block dim, tiling key
 * and UB peak. Faults name lines of the DSL source. Tensors in the order of p->tensors (which see for dtypes and directions);
 * attributes by name. What the graph demands of shapes (guards) is not in a program: ac_graph_respecialise asks for it. An
 * integer division by zero in a kernel is the fault "division" here, where compiled code dies of it. False as ac_sim_run, or
 * when tensors do not fit the program (AC0806). */
bool ac_sim_run_program(ac_arena *a, const ac_program *p, const ac_chip *chip, ac_sim_tensor *tensors, int n,
                        const ac_sim_attr *attrs, int n_attrs, const ac_sim_opts *opts, ac_sim_result *r,
                        ac_diags *d);

#endif

/* Shared by the runner's files only: build*.c (compiling), run.c (the parent), run_child.c and run_kernel.c (inside the sandbox), run_time.c
 * (modelled time, on both sides), direct*.c (programs without a compiler). */
#ifndef AC_SIM_RUN_INTERNAL_H
#define AC_SIM_RUN_INTERNAL_H

#include "../../sim/include/acsim/entry_abi.h"
#include "../../sim/include/acsim/host_abi.h"
#include "sim/core.h"
#include "sim/sim.h"

struct ac_sim_lib {
  ac_sim_spec spec;    /* with strings of the library's own arena */
  const char *root;    /* folder that the file names in faults are relative to */
  const char *host_so; /* msopgen only */
  const char **kernel_so;
  int n_kernels; /* one for every column of the OpDef's dtypes when the kernel asks for DTYPE_..., else one */
  unsigned sandbox_missing;
  bool host_code; /* the kernel's file launches kernels: it has functions of the host, too */
};
/* Marks a library of the cache as used now, so that no other process clears it away; false where it is not there. */
bool ac_run_used(const char *path);

/* The kernel's wrapper exports these (see entry_text in build.c). */
typedef int32_t (*acsim_entry_args_fn)(void);
/* Of a kernel that is a template: whether it has an instance for this tiling key. */
typedef int32_t (*acsim_entry_has_fn)(unsigned long key);
typedef void (*acsim_entry_run_fn)(void *const *args);

/* How far the child came; kept in shared memory so that the parent can say where it died. */
typedef enum { AC_STAGE_LOAD, AC_STAGE_SHAPES, AC_STAGE_TILING, AC_STAGE_BLOCKS, AC_STAGE_DONE } ac_run_stage;

enum { AC_RUN_FAULTS = 200, AC_RUN_TILING = 64 << 10, AC_RUN_BOUNDS = 512 };
typedef struct {
  char kind[40], message[600], file[300];
  int32_t line;
  int64_t block, count;
} ac_run_fault;

/* Modelled time, as the child leaves it: ac_sim_time without its lists, and those. */
enum { AC_RUN_CORES = 256, AC_RUN_STALLS = 64 };
typedef struct {
  ac_sim_stall s; /* without its strings */
  char what[24], event[24], file[300], from_op[40], from_file[300];
} ac_run_stall;
typedef struct {
  ac_sim_time sum;
  int32_t n_cores, n_stalls;
  ac_sim_core_time cores[AC_RUN_CORES];
  ac_run_stall stalls[AC_RUN_STALLS];
} ac_run_time;
/* A trace, where one is asked for: its own shared memory. Texts are offsets into `text`; 0 is none. */
enum { AC_RUN_TEXT = 1 << 20 };
typedef struct {
  double start, end;
  int64_t from, block;
  uint32_t op, file, edge;
  int32_t line, core;
  uint8_t pipe, wait;
} ac_run_span;
typedef struct {
  uint32_t n_text;
  char text[AC_RUN_TEXT];
  int64_t n, cap;
  ac_run_span spans[];
} ac_run_trace;
/* NULL for none. */
ac_run_trace *ac_run_trace_new(const ac_sim_opts *o);
void ac_run_trace_free(ac_run_trace *t);
void ac_run_time_put(ac_run_time *to, ac_run_trace *trace, const acsim_session *s);

/* The shape that the kernel gave an output. */
typedef struct {
  bool known;
  int32_t rank;
  int64_t shape[8];
} ac_run_dims;
/* An instruction; no op: not known. */
typedef struct {
  char op[40], file[300];
  int32_t line;
} ac_run_last;
/* What the child leaves behind; anonymous shared memory. Nothing in it is trusted. */
typedef struct {
  int32_t stage;
  bool no_memory;      /* it ended itself for want of memory: an exit status of AC_LIMIT says nothing of that */
  int64_t crash_block; /* block + 1 that took the fatal signal; 0: none or unknown */
  ac_run_last last;    /* of a block that ended the process by itself */
  char last_file[300]; /* the last AscendC call of crash_block, or at the time limit of a block at work */
  int32_t last_line;
  bool last_outside;  /* that call ended the process because no kernel was running */
  bool ok, late;      /* late: its blocks gave up at the deadline */
  int32_t problem;    /* 0; else ac_run_problem */
  char message[1000]; /* of the problem or the refusal */
  int64_t block_dim, tiling_key, tiling_bytes, workspace, ub_peak;
  uint32_t n_faults;
  ac_run_fault faults[AC_RUN_FAULTS];
  ac_run_dims computed[ACSIM_HOST_TENSORS]; /* by tensor of the job */
  int64_t live[2];                          /* as acsim_config.live */
  bool bounded[AC_RUN_BOUNDS];              /* rows of ac_error_bounds */
  acsim_host_call call;
  uint8_t tiling[AC_RUN_TILING];
  char tiling_partial[600];
  ac_run_time time;
} ac_run_shared;
typedef enum {
  AC_RUN_NONE,
  AC_RUN_REFUSED,
  AC_RUN_HOST_MISFIT,
  AC_RUN_NO_LOAD,
  AC_RUN_NO_MEMORY,
  AC_RUN_ARGUMENTS /* a kernel by itself: its arguments do not fit it */
} ac_run_problem;

typedef struct ac_direct_job ac_direct_job;
typedef struct {
  const ac_sim_lib *lib;
  ac_direct_job *direct; /* an AscendC program in place of compiled code (direct.c); then `lib` only names things */
  double timeout;        /* seconds; of the child */
  double deadline;       /* ac_now(); 0: none. For a run in this process */
  ac_sim_tensor *tensors;
  int n_tensors;
  const ac_sim_attr *attrs;
  int n_attrs;
  const ac_sim_opts *opts;
  ac_run_shared *out;
  const ac_sim_launch *launch; /* of AC_SIM_KERNEL */
  ac_run_trace *trace;         /* NULL: none */
} ac_run_job;
/* In the child; its result is the exit status. */
int ac_run_child(void *job);
int ac_direct_child(const ac_run_job *j);
/* From the child's record; `place` turns a file name of a fault into one to show. */
typedef const char *(*ac_run_place_fn)(ac_arena *a, const ac_sim_lib *lib, const char *file);
void ac_run_time_take(ac_arena *a, const ac_run_job *j, ac_run_place_fn place, ac_sim_time *t);
/* Makes the run, in the child or (opts->in_process) here, and says what came of it. opts may be NULL. */
bool ac_run_do(ac_arena *a, ac_run_job *j, ac_sim_result *r, ac_diags *d);
/* A session over the job's tensors; closing it leaves the faults and figures in the shared result. */
acsim_session *ac_run_session_open(const ac_run_job *j);
void ac_run_session_close(const ac_run_job *j, acsim_session *s);
/* Bytes of the whole pages that ac_sim_alloc gives a tensor of n. */
size_t ac_sim_own_bytes(int64_t n);
/* Around the blocks, in the child: what lies on a tensor's last page behind it must stay as it is (run_canary.c). */
void ac_run_canary_set(const ac_run_job *j);
void ac_run_canary_check(const ac_run_job *j, acsim_session *s);
int ac_run_kernel_child(const ac_run_job *j);
/* Notes the problem; 0, the child's status. */
AC_PRINTF(3, 4) int ac_run_problem_note(ac_run_shared *o, ac_run_problem p, const char *fmt, ...);
/* dlopen and dlsym that note the problem; NULL then. */
void *ac_run_load(ac_run_shared *o, const char *so);
/* run_constants.c. What the kernel's library holds of constants may be read as global memory. */
void ac_run_add_constants(acsim_session *s, void *library);
/* run_globals.c. Around the launches: which variables of the library's file they write (not asked of a host function that launches kernels); and
 * which functions of the host it calls: all of the file, or where that has host code, too, what the kernels reach. NULL: its file cannot be read. */
typedef struct ac_run_globals ac_run_globals;
ac_run_globals *ac_run_globals_open(void *library, bool device_only, bool launcher);
/* run_symbol.c: the file and line of a fault of which only the symbol is known, where the kernel's sources have one place of it; else none. In the
 * parent: the child may not read them. */
void ac_run_symbol_place(ac_arena *a, const ac_sim_spec *spec, const char *symbol, ac_sim_fault *f);
/* `entry`: of the kernel, where it was run by itself. */
void ac_run_globals_close(ac_run_globals *g, acsim_session *s, const void *entry);
/* Zero pages that cost nothing until touched; NULL for none, or with the problem noted. */
void *ac_run_map(ac_run_shared *o, int64_t bytes);

/* dlsym returns a data pointer; ISO C has no cast from that to a function. */
typedef void (*ac_run_fn)(void);
ac_run_fn ac_run_symbol(void *handle, const char *name);                 /* NULL if absent */
ac_run_fn ac_run_need(ac_run_shared *o, void *handle, const char *name); /* ..., and the problem noted */

/* ge::DataType's number of a dtype (graph/types.h of CANN). */
int32_t ac_run_ge(ac_dtype d);
const char *ac_run_cpp(ac_dtype d);
/* What platform_ascendc's GetCoreMemSize(UB) says on this chip. */
uint64_t ac_run_usable_ub(const ac_chip *chip);
acsim_host_chip ac_run_host_chip(const ac_chip *chip);
/* The sandbox of everything that runs compiled code: no network, no exec, no writing; `memory` beside what is mapped already. */
ac_sandbox ac_run_sandbox(ac_arena *a, const ac_sim_lib *lib, uint64_t memory);

#endif

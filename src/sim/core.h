/* core: the machine that runs a kernel's blocks. Part of sim; run.c is its user, the C++ headers under sim/include call its
 * other side (sim/include/acsim/kernel_abi.h).
 *
 * Life of a run, all in one process (the runner's sandboxed child):
 *   acsim_session *s = acsim_open(&config);           registers the global-memory buffers
 *   acsim_launch(s, block_dim, key, call, user);      once per kernel launch, or through ICPU_RUN_KF by the emitted code
 *   acsim_finish(s);                                  checks that every output element was written
 *   acsim_faults(s, &n) ... acsim_close(s);
 * Values are computed in program order of each block; blocks run in parallel on host threads. Results, faults and their
 * order do not depend on the number of threads.
 */
#ifndef AC_SIM_CORE_H
#define AC_SIM_CORE_H

#include "sim/sim.h"

typedef enum {
  ACSIM_INPUT,     /* read only: a write is the fault "write-to-input" */
  ACSIM_OUTPUT,    /* every element must be written; reading an element before that is "read-poison" */
  ACSIM_INOUT,     /* holds data already; as an output otherwise */
  ACSIM_WORKSPACE, /* written any number of times; reading an unwritten byte is "read-poison" */
  ACSIM_TILING,    /* the tiling data: read only */
  ACSIM_CONSTANT,  /* what the kernel's binary holds: read only, no argument of the launch */
} acsim_kind;

enum { ACSIM_POISON = 0xa5 };
/* Bytes of address space on either side of a block's UB that nobody may touch. */
enum { ACSIM_GUARD = 17 << 20 };

typedef struct {
  const char *name; /* for messages; kept by reference */
  void *data;       /* host address = GM address; only [data, data + bytes) may be touched */
  int64_t bytes;
  int elem; /* bytes of an element: outputs are checked element by element; workspace: 1 */
  acsim_kind kind;
  bool zeroed; /* an output that the framework fills before the launch (InitValue): readable, may stay unwritten, and
                     * atomic adds may hit it many times */
  bool poisoned; /* an output that is all ACSIM_POISON at first; else zeros and that both pass for unwritten */
  int64_t
      system; /* a workspace whose first bytes are the system's (GetLibApiWorkSpaceSize): GetUserWorkspace steps over
                     * them, and the kernel must not touch them */
} acsim_buffer;

/* What a block did last; readable from a signal handler while the blocks run. */
typedef struct {
  int64_t block;    /* its number + 1; 0: none is here */
  bool waits;       /* for other blocks */
  const char *file; /* of its last call that has a place; NULL: none yet */
  int line;
} acsim_seat;
enum { ACSIM_SEATS = 1024 };

typedef struct {
  const ac_chip *chip;
  const acsim_buffer *buffers; /* copied */
  int n_buffers;
  int threads;                   /* blocks at work at one time; 0: as many as the host has processors */
  ac_block_order order;          /* order in which blocks start, and in which atomics take effect */
  int64_t first_block, n_blocks; /* run only these (n_blocks 0: all); unwritten elements are then no fault */
  ac_hazards hazards;            /* accesses that nothing orders: "hazard-raw", "hazard-war", "hazard-waw" */
  bool
      saturate; /* half and bfloat16 overflow: false gives inf and keeps NaN, true gives the largest number and 0 for NaN */
  bool no_time;                      /* do not model time */
  int64_t trace_blocks, trace_spans; /* as ac_sim_opts */
  acsim_seat *seats;                 /* ACSIM_SEATS of them, for blocks by rank modulo that; NULL: nobody looks */
  int64_t *live;  /* shared memory: blocks done and blocks in all, as they go; NULL: nobody looks */
  int64_t sample; /* run only so many blocks of each launch (0, or as many as there are: all), chosen by ... */
  uint64_t sample_seed;
  ac_perturb perturb; /* as ac_sim_opts */
  uint64_t perturb_seed;
  const char *perturb_only;
  size_t knowledge; /* bytes that may be spent on what blocks know of each other by flags between cores; 0: 512 MB */
} acsim_config;

typedef struct acsim_session acsim_session;
/* Of the output at `data`, only the first `elements` have to be written. */
void acsim_expect(acsim_session *s, const void *data, int64_t elements);
/* Makes the session current in this thread (one at a time: emitted code reaches it through ICPU_RUN_KF). Never NULL. */
acsim_session *acsim_open(const acsim_config *c);
/* More buffers (a workspace whose size the tiling code decides). Call between launches only. */
void acsim_add_buffer(acsim_session *s, const acsim_buffer *b);
/* Runs call(user) once for every block 0 .. block_dim-1; inside, GetBlockIdx() and the rest of the API refer to that block.
 * Returns after the last block. */
void acsim_launch(acsim_session *s, int64_t block_dim, uint64_t tiling_key, void (*call)(void *user), void *user);
/* The key that ICPU_RUN_KF launches use (ICPU_SET_TILING_KEY does the same). */
void acsim_set_tiling_key(acsim_session *s, uint64_t key);
/* What the tiling code said by SetScheduleMode (0: nothing). Not called: not known, and not asked for. */
void acsim_set_schedule_mode(acsim_session *s, int mode);
/* The checks of the whole run: elements never written, written twice. Idempotent. */
void acsim_finish(acsim_session *s);
/* Faults so far, sorted by source place; a place (kind, file, line) once with its count and its lowest block. Valid until
 * acsim_close. At most 200 places are kept; *dropped (may be NULL) counts the rest. */
const ac_sim_fault *acsim_faults(const acsim_session *s, size_t *n, int64_t *dropped);
/* The same for what is reported and fails nothing. */
const ac_sim_fault *acsim_warnings(const acsim_session *s, size_t *n);
int64_t acsim_ub_peak(const acsim_session *s); /* most bytes of UB that TPipe buffers of one block took */
/* Name of row i of ac_error_bounds if its function ran and its bound leaves it room; else NULL. */
const char *acsim_bounded(const acsim_session *s, int i);
int64_t acsim_blocks_run(const acsim_session *s); /* over all launches */
int64_t acsim_last_block_dim(const acsim_session *s);
/* Modelled time so far (docs/simulator.md, "Time"); modelled is false without it. Lists are sorted, in memory of `a`. */
void acsim_time_result(const acsim_session *s, ac_arena *a, ac_sim_time *r);
/* Elements that vector instructions computed, lane by lane that the mask lets through, and that copies moved, over all launches. */
void acsim_work(const acsim_session *s, int64_t *vector, int64_t *copied);
void acsim_close(acsim_session *s);

#endif

/* Between the files of the time model. */
#ifndef AC_SIM_CORE_TIME_INTERNAL_H
#define AC_SIM_CORE_TIME_INTERNAL_H

#include "sim/core_time.h"

enum { TIME_OPERANDS = 6, TIME_RECENT = 4, TIME_QUEUE = 64, TIME_STALLS = 64, TIME_CACHE = 512 };

/* Why a unit had to wait: for whom, and by which call. */
typedef struct {
  const char *what, *event; /* "DeQue", "MTE2_V"; both static */
  acsim_at at;
  acsim_stamp from;
} time_edge;

typedef struct {
  ac_pipe pipe; /* that waits */
  time_edge edge;
  int64_t ticks, count;
} time_stall;
typedef struct {
  time_stall *data;
  size_t len, cap;
  uint32_t hint[64]; /* where an edge was found last, by its place */
} time_stalls;
/* `pipe` has waited t ticks for e, `count` times. Edges beyond `limit` are counted as one a unit; 0: none. */
void acsim_stall_add(time_stalls *v, ac_pipe pipe, const time_edge *e, int64_t t, int64_t count, size_t limit);

/* One instruction, for a trace. */
typedef struct {
  const char *op, *edge;
  acsim_at at;
  int64_t start, end;
  uint32_t from; /* 1 + number of the span that it waited for */
  uint8_t pipe;
  bool wait;
} time_span;
typedef struct {
  time_span *data;
  size_t len, cap;
} time_spans;

/* What one instruction touches, so far. */
typedef struct {
  bool open;
  ac_pipe pipe;
  const char *op;
  acsim_at at;
  bool known;    /* the vector unit's time was told */
  int64_t ticks; /* then */
  const ac_op_cost *row;
  struct {
    const char *name;
    int64_t lo, hi, bytes;
    uint16_t buf;
    uint8_t mem, how;
  } x[TIME_OPERANDS];
  int n;
  int64_t gm_ticks; /* of its global side */
  bool atomic;
} time_pending;

/* The last conflicting accesses of a buffer, for the scalar unit. */
typedef struct {
  acsim_stamp write, read;
} time_buffer;

typedef struct {
  uint64_t key; /* page + 1; 0: free */
  uint64_t bits[8];
} time_page;

struct acsim_time {
  const ac_costs *c;
  int64_t now;                  /* the scalar unit */
  int64_t free[AC_PIPE_COUNT];  /* the unit may take the next instruction */
  int64_t done[AC_PIPE_COUNT];  /* all that it was given is over */
  int64_t ready[AC_PIPE_COUNT]; /* what it was told to wait for is over */
  time_edge why[AC_PIPE_COUNT]; /* ready's reason */
  acsim_stamp last[AC_PIPE_COUNT];
  int64_t busy[AC_PIPE_COUNT];
  int64_t starts[AC_PIPE_COUNT][TIME_QUEUE];
  uint32_t n_starts[AC_PIPE_COUNT];
  int64_t scalar_until; /* end of the scalar unit's last wait, and its reason */
  time_edge scalar_why;
  time_edge edge; /* room for one */
  time_pending p;
  struct {
    int64_t lo, hi, until;
    acsim_stamp by;
    uint8_t mem;
  } recent[TIME_RECENT]; /* vector results that are on their way */
  int n_recent;
  time_buffer *buffers; /* by slot */
  size_t n_buffers;
  time_stalls stalls;
  bool traced;
  time_spans spans;
  int64_t spans_dropped;
  uint32_t arrow[AC_PIPE_COUNT]; /* the last thing that the unit's next instruction waits for */
  const char *arrow_edge[AC_PIPE_COUNT];
  int64_t bytes_in, bytes_out;
  uint64_t cache[TIME_CACHE]; /* of the scalar unit: line + 1 */
  time_page *pages;           /* what this block has touched in global memory */
  size_t n_pages, cap_pages;
  struct {
    const char *op;
    const ac_op_cost *row;
  } rows[64]; /* rows by the address of the name */
};

typedef struct {
  int64_t ticks, busy[AC_PIPE_COUNT];
  time_spans spans;
} time_block;

/* A session's: what its launches took. */
struct acsim_times {
  const ac_costs *c;
  double mhz;
  const ac_op_cost *rows[ACSIM_OPS];
  /* of the running launch */
  int cores;    /* at work */
  double miss;  /* part of what a core touches for the first time that is not in L2 */
  double spill; /* part of what a launch writes for the first time that does not stay in L2 */
  double launch_us;
  bool resident;                                 /* its tensors fit in L2: every access is to L2 */
  double l2_read, l2_write, hbm_read, hbm_write; /* ticks a byte of one core */
  int64_t arrived, joined;                       /* SyncAll: the last block so far; when all went on */
  time_block *blocks;                            /* by rank */
  int64_t in, out;                               /* bytes that the cores move */
  /* over all launches */
  int64_t ticks;         /* of the slowest core of each launch */
  int launches, n_cores; /* cores that had something to do */
  double memory_us;      /* least that the shared memory takes, of each launch */
  double us;             /* launches, cores and memory */
  int64_t bytes_in, bytes_out, hbm_bytes, blocks_run, blocks_all;
  bool all_resident;
  time_block *of_core;
  int64_t *blocks_of_core;
  time_stalls stalls;
  AC_VEC(ac_sim_span) spans;
  int64_t spans_dropped;
};

#endif

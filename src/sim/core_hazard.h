/* The happens-before engine's interface inside the core. docs/simulator.md ("Order") says what it models. */
#ifndef AC_SIM_CORE_HAZARD_H
#define AC_SIM_CORE_HAZARD_H

#include "sim/core_time.h"

/* A block's engine; NULL in acsim_block when the session has it switched off: every function below then does nothing. */
acsim_order *acsim_order_new(acsim_session *s);
void acsim_order_free(acsim_order *o);
/* What is still pending of the last instruction. */
void acsim_order_end(acsim_block *b);

/* Operation and type of the block's atomic stores; those of one kind may meet in any order. 0: no atomic store. */
static inline uint16_t acsim_atomic_kind(const acsim_block *b, acsim_gm_how how) {
  return how == GM_UPDATE ? (uint16_t)(b->atomic << 8 | b->atomic_type) : 0;
}

/* A new instruction starts. Two touches of one pipe and source place without this between them count as one instruction. */
void acsim_order_begin(acsim_block *b);
void acsim_order_local(acsim_block *b, ac_pipe pipe, const char *op, acsim_at at, const acsim_access *x);
void acsim_order_global(acsim_block *b, ac_pipe pipe, const char *op, acsim_at at, const acsim_gm *m,
                        const uint8_t *p, int64_t bytes, acsim_gm_how how);

/* SetFlag on `from`: everything that `from` was given so far, and all that came before that. */
void acsim_order_set(acsim_block *b, ac_pipe from, acsim_clock *flag);
/* WaitFlag on `to`. */
void acsim_order_wait(acsim_block *b, ac_pipe to, const acsim_clock *flag);
/* PipeBarrier; AC_PIPE_COUNT: of all pipes. */
void acsim_order_barrier(acsim_block *b, ac_pipe pipe);

/* What the scalar unit has waited for: reads it, or puts it back. */
void acsim_order_scalar(acsim_block *b, acsim_clock *c, bool set);
/* What another core may rely on after CrossCoreSetFlag in that pipe (AC_PIPE_COUNT: after a barrier of all). */
acsim_clock acsim_order_publish(acsim_block *b, ac_pipe pipe);
/* The wait for it: all pipes have waited for that much of this block's own. */
void acsim_order_learn(acsim_block *b, const acsim_clock *own);

/* ---- between blocks (core_hazard_gm.c): what each block did to global memory since the last SyncAll ---- */

struct acsim_trace {
  acsim_at at;
  const char *op;
  const acsim_gm *m;
  uint64_t start, stride; /* `count` ranges of `bytes`, `stride` apart */
  uint64_t bytes, count;
  int64_t block;
  acsim_gm_how how;
  uint16_t atomic; /* acsim_atomic_kind */
  bool scalar;
  ac_pipe pipe;
  uint32_t epoch;   /* of the pipe, at its last range */
  uint32_t segment; /* of the block, see acsim_sync_known */
  int64_t rank;
};
/* Notes a range; joins it to an earlier one where both are steps of one stride. */
void acsim_trace_add(acsim_traces *t, const acsim_trace *x);
/* The block tells others how far it is, or learns it of them: adds its traces to the session's. With the session's lock held. */
void acsim_trace_hand_over(acsim_block *b);
/* With the session's lock held, when every block has reached SyncAll or its end. */
void acsim_trace_compare(acsim_session *s);
acsim_traces *acsim_order_traces(acsim_order *o);

#endif

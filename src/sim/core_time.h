/* Time inside the core: when each instruction starts and ends on its unit. docs/simulator.md ("Time") says what is modelled.
 *
 * Everything is computed from the calls that a block makes, in their order, and from the chip's file: not from the host's clock, its
 * threads or the order in which blocks happen to run. Times are whole ticks, so that sums do not depend on their order.
 */
#ifndef AC_SIM_CORE_TIME_H
#define AC_SIM_CORE_TIME_H

#include "isa/cost.h"
#include "sim/core_internal.h"

enum { ACSIM_TICKS = 256 }; /* of a cycle */

/* Calls that only the scalar unit works at. */
typedef enum { ACSIM_CALL_QUEUE, ACSIM_CALL_FLAG, ACSIM_CALL_INIT, ACSIM_CALL_MASK, ACSIM_CALL_OTHER } acsim_call;

/* A block's clock; NULL in acsim_block when the session models no time: every function below then does nothing. */
acsim_time *acsim_time_new(acsim_block *b);
/* The last instruction that was begun, and where; NULL: none, or time is not modelled. */
const char *acsim_time_last(const acsim_block *b, acsim_at *at);
void acsim_time_free(acsim_time *t);

/* A new instruction starts: the one before is complete. */
void acsim_time_begin(acsim_block *b);
/* What the instruction touches (from acsim_touch and acsim_gm_touch). */
void acsim_time_local(acsim_block *b, ac_pipe pipe, const char *op, acsim_at at, const acsim_access *x, int n);
void acsim_time_global(acsim_block *b, ac_pipe pipe, const char *op, acsim_at at, acsim_gm *m, const uint8_t *p,
                       int64_t bytes, acsim_gm_how how);
/* What a vector instruction does beside that: its repeats. Without this, the bytes of its largest operand count. */
void acsim_time_vector(acsim_block *b, const acsim_vector *v, int64_t repeats);
void acsim_time_call(acsim_block *b, acsim_call what);

/* GetSystemCycle: a counter of its own frequency; calls so far where time is not modelled. */
int64_t acsim_time_counter(const acsim_block *b);

/* SetFlag and what stands for it; `event` in words ("MTE2_V"). */
void acsim_time_set(acsim_block *b, ac_pipe from, acsim_stamp *flag);
void acsim_time_wait(acsim_block *b, ac_pipe to, const char *event, const char *what, acsim_at at,
                     const acsim_stamp *flag);
/* PipeBarrier; AC_PIPE_COUNT: of all pipes. */
void acsim_time_barrier(acsim_block *b, ac_pipe pipe, acsim_at at);

/* SyncAll: with the session's lock held, a block comes; everybody is there; a block goes on. */
void acsim_time_arrive(acsim_block *b);
void acsim_time_join(acsim_session *s);
void acsim_time_go_on(acsim_block *b, acsim_at at);

/* The session's part. */
void acsim_time_open(acsim_session *s);
void acsim_time_close(acsim_session *s);
void acsim_time_buffer(acsim_session *s, acsim_gm *g);
void acsim_time_launch(acsim_session *s);   /* before its blocks */
void acsim_time_hand_over(acsim_block *b);  /* a block has ended; with the session's lock held */
void acsim_time_launched(acsim_session *s); /* after its blocks */

#endif

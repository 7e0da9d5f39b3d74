/* Pipes that wait for a flag which the program sets later. Inside the core only. */
#ifndef AC_SIM_CORE_DEFER_H
#define AC_SIM_CORE_DEFER_H

#include "sim/core_hazard.h"

/* True: the pipe waits, and the instruction has been kept. Ask only when b->stalled is not 0 (acsim_defer_wait: always). */
bool acsim_defer_vector(acsim_block *b, const acsim_vector *v, acsim_at at);
bool acsim_defer_copy(acsim_block *b, ac_pipe pipe, const acsim_local *dst, const acsim_local *src,
                      const acsim_global *g, const acsim_copy *c, acsim_at at);
bool acsim_defer_set(acsim_block *b, ac_pipe from, int event, int id, acsim_at at);
bool acsim_defer_wait(acsim_block *b, ac_pipe to, int event, int id, acsim_at at);
bool acsim_defer_barrier(acsim_block *b, ac_pipe pipe, acsim_at at);
/* A flag has been set: whoever waited for it goes on. */
void acsim_defer_resume(acsim_block *b);

#endif

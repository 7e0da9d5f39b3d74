/* Waiting for other blocks, and what it orders. Inside the core only. */
#ifndef AC_SIM_CORE_SYNC_H
#define AC_SIM_CORE_SYNC_H

#include "sim/core_hazard.h"

/* What a block waits for. Lives on the waiting thread's stack. */
struct acsim_wait {
  const char *what; /* "SyncAll" ... */
  acsim_at at;
  acsim_block *block;
  /* With the session's lock held. */
  bool (*ready)(const acsim_wait *w);
  int64_t (*needs)(const acsim_wait *w); /* rank of a block that has to come first; -1: no one in particular */
  void *channel;
  int64_t number; /* which time round */
};
/* With the session's lock held: gives the thread away until it is ready. False: it never will be, which has been reported. */
bool acsim_wait_for(acsim_block *b, acsim_wait *w);
/* With the lock held, after whatever may let others go on. */
void acsim_progress(acsim_session *s);

void acsim_sync_open(acsim_session *s); /* at the start of a launch, when s->count is known */
void acsim_sync_close(acsim_session *s);
/* What block `rank` knew of all blocks (by rank) in that segment of its run; NULL: nothing. */
const acsim_clock *acsim_sync_known(const acsim_session *s, int64_t rank, uint32_t segment);
/* Was there more to know since the blocks last met than may be kept? Then they cannot be compared. */
bool acsim_sync_dropped(const acsim_session *s);
/* Has anything but SyncAll ordered blocks in this launch? */
bool acsim_sync_partial(const acsim_session *s);
/* Do these bytes of global memory belong to a synchronisation through memory? All cores may set them to zero at the start. */
bool acsim_sync_owns(const acsim_session *s, uint64_t lo, uint64_t hi);
/* All blocks have met: what was known before is of no use any more. */
void acsim_sync_forget(acsim_session *s);
/* ---- the scalar unit's data cache (core_cache.c) ---- */
void acsim_cache_free(acsim_cache *c);
/* An access to global memory that may be written. */
void acsim_cache_touch(acsim_block *b, ac_pipe pipe, const char *op, acsim_at at, const acsim_gm *m, const uint8_t *p,
                       int64_t bytes, acsim_gm_how how);
/* With the session's lock held. */
void acsim_cache_learn(acsim_block *b, const acsim_clock *known);
void acsim_cache_tell(acsim_block *b, ac_pipe pipe, uint32_t epoch);

/* Of a launch: a deadlock of all that wait. */
void acsim_report_deadlock(acsim_session *s);

#endif

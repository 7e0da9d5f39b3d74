/* What `profile` makes of modelled time. Private to cli. */
#ifndef AC_CLI_PROFILE_H
#define AC_CLI_PROFILE_H

#include "cli/target.h"

/* What holds the run up. */
typedef enum {
  AC_BOUND_LAUNCH,  /* the overhead of launching */
  AC_BOUND_MEMORY,  /* memory that the cores share */
  AC_BOUND_UNIT,    /* one unit of the cores is busy */
  AC_BOUND_LATENCY, /* no unit is: they wait for each other */
} ac_bound;
typedef struct {
  ac_bound bound;
  ac_pipe unit;                /* the busiest, by the mean over cores */
  double busy;                 /* its share of the cores' time */
  double share[AC_PIPE_COUNT]; /* the same of every unit */
  double most[AC_PIPE_COUNT];  /* of the core where it is largest */
  double fastest, slowest;     /* core, cycles */
  double roof_us;              /* bytes that must move once, at the bandwidth of where they are */
  double roof_share;           /* of all the modelled time */
  bool roof_far;               /* ... between L2 and memory, not between the cores and L2 */
} ac_profile;
ac_profile ac_profile_of(const ac_sim_time *t);
/* What would help against a stall; NULL: nothing is known. */
const char *ac_stall_hint(const ac_sim_stall *s);

/* Chrome's trace format (Perfetto reads it): a process a core, a thread a unit, an arrow for what an instruction waited for. */
bool ac_profile_trace(const char *path, const char *name, const ac_sim_time *t, ac_diags *d);
/* A picture of the first cores' units over time, as SVG. */
bool ac_profile_plot(const char *path, const char *name, const ac_sim_time *t, ac_diags *d);

/* One run with its modelled time as text and as keys of `result`. Returns an exit code. */
int ac_profile_target(ac_arena *a, const ac_target *t, const ac_run_options *o, const ac_profile_options *p,
                      ac_buf *text, json_t *result, ac_diags *d);

#endif

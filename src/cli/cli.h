/* Private to cli. */
#ifndef AC_CLI_H
#define AC_CLI_H

#include "ascendcraft/ascendcraft.h"
#include "base/base.h"
#include "graph/graph.h"
#include "lower/air.h"
#include "sim/sim.h"

/* One simulated launch of a project; text for people into `text`, keys into `result`. Returns an exit code. */
int ac_run_once(ac_arena *a, const ac_verify_options *o, ac_buf *text, json_t *result, ac_diags *d);
/* One direct launch of a lowered program; inputs are those of `g`, or (NULL) made for the shapes of o->shapes. */
int ac_run_program(ac_arena *a, const ac_program *p, const ac_graph *g, const ac_gen_options *o, ac_buf *text,
                   json_t *result, ac_diags *d);

/* Modelled time: one line for people; an object, or null where nothing was modelled. */
const char *ac_unit_name(ac_pipe p);
void ac_time_line(ac_buf *b, const ac_sim_time *t);
json_t *ac_time_json(const ac_sim_time *t);

#endif

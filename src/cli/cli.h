/* Private to cli. */
#ifndef AC_CLI_H
#define AC_CLI_H

#include "ascendcraft/ascendcraft.h"
#include "base/base.h"
#include "graph/graph.h"
#include "lower/air.h"
#include "sim/sim.h"

/* Modelled time: one line for people; an object, or null where nothing was modelled. */
const char *ac_unit_name(ac_pipe p);
void ac_time_line(ac_buf *b, const ac_sim_time *t);
json_t *ac_time_json(const ac_sim_time *t);

#endif

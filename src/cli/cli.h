/* Private to cli. */
#ifndef AC_CLI_H
#define AC_CLI_H

#include "ascendcraft/ascendcraft.h"
#include "base/base.h"
#include "graph/graph.h"
#include "lower/air.h"
#include "sim/sim.h"

struct ac_context {
  ac_arena *arena; /* of the last call */
  ac_diags diags;
  FILE *progress;
  const char *command;
  char *messages, *json_text;
  ac_buf text;
  json_t *result; /* what the command adds to the JSON answer */
  int exit;
};

/* A call begins: what the last one left is gone. It ends: the exit code that its worst error asks for, else `code`. */
void ac_cli_fresh(ac_context *c, const char *command);
int ac_cli_done(ac_context *c, int code);
/* The first error's code that has a page in the error book; NULL: none. */
const char *ac_cli_explained(ac_context *c);

/* Modelled time: one line for people; an object, or null where nothing was modelled. */
const char *ac_unit_name(ac_pipe p);
void ac_time_line(ac_buf *b, const ac_sim_time *t);
json_t *ac_time_json(const ac_sim_time *t);

#endif

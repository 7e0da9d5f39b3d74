/* Private to cli. */
#ifndef AC_CLI_H
#define AC_CLI_H

#include "ascendcraft/ascendcraft.h"
#include "base/base.h"

/* One simulated launch of a project; text for people into `text`, keys into `result`. Returns an exit code. */
int ac_run_once(ac_arena *a, const ac_verify_options *o, ac_buf *text, json_t *result, ac_diags *d);

#endif

/* plainc: AscendC program -> one file of portable C99. The second back end: an independent meaning of the program, and something
 * that runs where there is neither a device nor the simulator.
 *
 * It takes the program as the last pass leaves it, so that tiles are rows and composed primitives are instructions. Queues, events
 * and barriers order units that work at the same time; in C one statement follows the other, so they mean nothing and are left
 * out. The meaning of each instruction is written again here (meanings.def, runtime.c): nothing is shared with the simulator.
 */
#ifndef AC_PLAINC_H
#define AC_PLAINC_H

#include "lower/air.h"

typedef struct {
  const char *source; /* <op>.c: includes the header, needs libm */
  const char *header; /* <op>.h: the one function */
  const char *driver; /* <op>_main.c: raw files in, raw files out */
  const char *readme;
} ac_plainc_text;
/* False after AC0690, which names what has no form in plain C. Deterministic. */
bool ac_plainc(ac_arena *a, const ac_program *p, ac_plainc_text *out, ac_diags *d);
/* Does the instruction have a meaning in plain C, for elements of this dtype (of the destination)? */
bool ac_plainc_knows(ac_inst i, ac_dtype d);

#endif

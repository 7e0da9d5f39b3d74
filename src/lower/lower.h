/* lower: an annotated DSL module -> AscendC program, in named passes (passes.def), each followed by its invariant check.
 *
 * The program (air.h) is structured: host tiling code, kernels with members and methods, statements close to the AscendC text.
 * Knows nothing of files on disk.
 */
#ifndef AC_LOWER_H
#define AC_LOWER_H

#include "craft/craft.h"
#include "lower/air.h"

typedef struct {
  const char *op;      /* snake case, e.g. "softmax_custom" */
  const char *op_type; /* Pascal case, e.g. "SoftmaxCustom" */
  const ac_chip *chip;
  const char *dump_after; /* name of a pass: its result is written to `dump`; "all" for every pass */
  FILE *dump;
} ac_lower_opts;

/* `m` has passed ac_craft_check. NULL on errors (AC06xx). Deterministic. */
ac_program *ac_lower(ac_arena *a, const ac_cmodule *m, const ac_lower_opts *o, ac_diags *d);
/* Pass names in order, for --dump and its help; `dump_after` takes "all" and "memory" (the map of UB, ac_air_memory) as well. */
ac_strvec ac_lower_passes(ac_arena *a);
/* Checks the invariants that hold after `pass`; a message naming the violated one, or NULL. Tests break programs on purpose. */
const char *ac_program_check(ac_arena *a, const ac_program *p, const char *pass);

#endif

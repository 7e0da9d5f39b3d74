/* A project folder, as its manifest.json says it: for whoever runs or verifies one. */
#ifndef AC_VERIFY_PROJECT_H
#define AC_VERIFY_PROJECT_H

#include "verify/verify.h"

enum { AC_FORMS = 2 }; /* AC_SIM_MSOPGEN, AC_SIM_DIRECT */

typedef struct {
  const char *op, *op_type;
  const ac_chip *chip;
  uint64_t seed;
  ac_graph *graph;
  bool has[AC_FORMS];
  const char *kernel[AC_FORMS], *host[AC_FORMS];
  ac_strvec edited; /* "path was changed after it was generated" */
} ac_vproject;
bool ac_vproject_read(ac_arena *a, const char *dir, ac_vproject *p, ac_diags *d);
/* Reads DIR/manifest.json; false with AC0901 where it is none, or was made from a DSL program (without a graph). */
#endif

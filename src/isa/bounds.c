/* Error bounds of everything that computes, in one table. */
#include "isa/isa.h"

#include <string.h>

const ac_error_bound ac_error_bounds[] = {
#define I(id, dsl, asc, form, dtypes, pipe, cost, flags, ulp, half, src) {asc, ulp, half, src},
#include "isa/insts.def"
#undef I
#define B(name, ulp, half, src) {name, ulp, half, src},
#include "isa/bounds.def"
#undef B
};
const int ac_n_error_bounds = (int)AC_COUNT(ac_error_bounds);

int ac_error_bound_of(const char *name) {
  for (int i = 0; name && i < ac_n_error_bounds; i++)
    if (!strcmp(ac_error_bounds[i].name, name)) return i;
  return -1;
}

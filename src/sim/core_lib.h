/* What the files of the high-level library share. */
#ifndef AC_SIM_CORE_LIB_H
#define AC_SIM_CORE_LIB_H

#include "sim/core_hazard.h"

/* Are there `need` bytes of temporary memory, in tmp or (NULL) on the library's stack? What was in it is lost. Where they are not, that is
 * reported; the function goes on, as on the device, and its result is what it would have been. */
bool acsim_lib_tmp(acsim_block *b, const char *name, acsim_at at, const acsim_local *tmp, int64_t need);
/* Reports an overlap of two operands. */
bool acsim_lib_apart(acsim_block *b, const char *name, acsim_at at, const acsim_local *x, int64_t nx,
                     const acsim_local *y, int64_t ny, const char *what);

/* A tree over neighbours inside a repeat, then over the repeats' results, in the type acc. */
double acsim_lib_tree(acsim_block *b, int acc, const uint8_t *row, int64_t n);
/* Scratch memory of the host, used again by the next call; different numbers (0..5) are apart. */
void *acsim_lib_scratch(acsim_block *b, int which, int64_t bytes);
/* Where to read the tensor: in place, or, when it is not apart from dst, a copy of how it was. */
const uint8_t *acsim_lib_source(acsim_block *b, const acsim_local *t, int64_t bytes, bool apart, int which);

#endif

/* CANN has assert here; as there, no guard: it is AscendC's assert behind this, whichever it was before. */
#include "kernel_operator.h"
#include "acsim/kernel_assert.h"

#include "plan/internal.h"
bool pl_softmax(pl_ctx *p) { return pl_refuse(p, AC_NOLOC, "softmax", "being written"); }

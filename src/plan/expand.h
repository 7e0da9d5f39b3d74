/* What the files of the expansions share. */
#ifndef AC_PLAN_EXPAND_H
#define AC_PLAN_EXPAND_H

#include "plan/internal.h"

/* One operation being expanded: its tensor operands in order, with the dtypes of the graph's values, and the dtype of its result. */
typedef struct {
  const ac_node *n;
  pv in[4];
  ac_dtype dt[4];
  ac_dtype out;
  const char *why;
} pl_ex;

bool pl_is_int(ac_dtype d);
/* No expansion, for this reason. */
pv pl_none(pl_ex *e, const char *why);

/* Operations whose result is an integer, and comparisons of integers: exact, wrapping, in the result's own dtype. False: not one of
 * them. */
bool pl_expand_int(vir *v, pl_ex *e, pv *out);

#endif

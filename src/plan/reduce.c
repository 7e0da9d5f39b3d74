/* Schedule: reductions over one set of dimensions, with element-wise operations before, between and after them. */
#include "plan/reduce.h"

#include <string.h>

static bool joins(const pl_ctx *p, const ac_node *a, const ac_node *b) {
  red_space s, t;
  return red_space_of(p, a, &s) && red_space_of(p, b, &t) && red_same_space(p, &s, &t);
}

/* Results that vary along more than the space (a broadcast after the reduction) are another stage's. */
static bool fuses(pl_ctx *p, const ac_node *n, const ac_value *v) {
  red_space s;
  return red_space_of(p, n, &s) && red_seen(p, &s, n, pl_stripped(v)) != NULL;
}

/* Softmax of a tensor in memory and nothing else has a schedule of its own. */
static bool plain_softmax(const pl_ctx *p, const ac_node *n, const int *outs, int n_outs) {
  return (n->op == AC_G_SOFTMAX || n->op == AC_G_LOG_SOFTMAX) && n_outs == 1 &&
         p->tensors.data[outs[0]].v == n->outs[0] && pl_tensor_of(p, pl_arg(n, "input")->t) >= 0;
}

static bool plan(pl_ctx *p, const ac_node *n, const int *outs, int n_outs) {
  red_space s;
  if (plain_softmax(p, n, outs, n_outs)) return pl_softmax_class.plan(p, n, outs, n_outs);
  bool ok = false;
  if (red_columns(p, n, outs, n_outs, &ok)) return ok;
  if (!red_space_of(p, n, &s))
    return pl_refuse(p, n->loc, ac_op_info(n->op)->id, "its dimensions must be constants, at most %d", PL_MAX_RANK);
  return red_passes(p, n, &s, outs, n_outs);
}

const pl_class pl_reduce_class = {.name = "reduce", .takes = red_takes, .joins = joins, .fuses = fuses, .plan = plan};

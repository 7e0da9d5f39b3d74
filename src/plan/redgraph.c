/* The stage as one piece of vector code: how deep reductions lie in each other, and what one pass over the data computes. */
#include "plan/reduce.h"

#include <string.h>

bool red_varies(const red_graph *g, int reg) {
  return (g->c->v.regs.data[reg].axes & g->reduced) != 0;
}

static bool is_reg(const pv *a) {
  return a->kind == PV_VEC || a->kind == PV_MASK;
}

/* Operations stand in the order of emission: operands before results. */
void red_levels(red_graph *g) {
  const vir *v = &g->c->v;
  g->level = AC_NEW_N(g->c->p->a, int, v->regs.len);
  g->levels = 0;
  for (size_t i = 0; i < v->ops.len; i++) {
    const vir_op *o = &v->ops.data[i];
    int most = 0;
    for (int k = 0; k < o->n_args; k++)
      if (is_reg(&o->arg[k]) && g->level[o->arg[k].reg] > most) most = g->level[o->arg[k].reg];
    g->level[o->dst] = most + (red_kind_of(o->prim) != RED_NONE);
    if (g->level[o->dst] > g->levels) g->levels = g->level[o->dst];
  }
}

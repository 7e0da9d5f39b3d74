/* plan: tensor-operator graph -> DSL syntax tree, by expert schedules.
 *
 * stage.c says which results one schedule computes together, and what stands in memory between stages. One file a schedule class: elt.c
 * (fused element-wise chains with any broadcasting), softmax.c, pool.c (windows), reduce.c (reductions and normalisations with what is
 * around them), arg.c (places of the largest and smallest); chain.c is the element-wise code that they share. A schedule writes the
 * tree with craft's builder, comments included: why this partition of the cores, why this tile, what the tails do. The program that comes
 * out serves every size that satisfies the graph's guards and, where the operation allows it, every rank.
 * Knows the DSL and the graph; nothing of AscendC's text.
 */
#ifndef AC_PLAN_H
#define AC_PLAN_H

#include "craft/craft.h"
#include "graph/graph.h"

/* A complete module: kernels first, then the host function `<graph name>_host(tensor inputs, outputs, scalar inputs)` in the
 * graph's order; an output that updates an input is a parameter of its own. NULL with AC07xx at the operation's line when no schedule
 * covers the graph. The tree is bare: run ac_craft_check on it. Lives in `a`; the graph must too. */
ac_cmodule *ac_plan(ac_arena *a, const ac_graph *g, const ac_chip *chip, ac_diags *d);

/* Names of the operations that the schedules cover, sorted; for help texts and tests. */
ac_strvec ac_plan_covered(ac_arena *a);

#endif

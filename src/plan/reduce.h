/* What the files of the reduction schedule share. */
#ifndef AC_PLAN_REDUCE_H
#define AC_PLAN_REDUCE_H

#include "plan/internal.h"

/* ---- anchors: what an operation reduces, and its value in terms of reductions ------------------------------------------------------ */

/* The dimensions that a reduction goes over: those of its operand, kept (0) or reduced (1). */
typedef struct {
  int rank;
  const ac_sym *const *dim;
  int cls[PL_MAX_RANK];
} red_space;

bool red_takes(const ac_node *n);
/* False: the operation's dimensions depend on something that is not constant, or are too many. */
bool red_space_of(const pl_ctx *p, const ac_node *n, red_space *s);
bool red_same_space(const pl_ctx *p, const red_space *a, const red_space *b);
bool red_any_rank(const ac_node *n);
/* Is the result as large as the operand (softmax, the norms), not one number for each kept position? */
bool red_is_full(const ac_node *n);
/* The shape with 1 for every reduced dimension. */
const ac_sym *const *red_kept_shape(pl_ctx *p, const red_space *s);

/* Finds the leaves of an anchor's operands; its value. `c->self` is a red_build. */
typedef struct {
  const red_space *space;
  const char *count; /* host expression: how many elements are reduced to one */
} red_build;
bool red_collect(pl_chain *c, const ac_value *v);
bool red_eval(pl_chain *c, const ac_value *v, pv *out);

/* Is the operation of vector code a reduction, and of which kind? */
typedef enum { RED_NONE = -1, RED_SUM, RED_MAX, RED_MIN, RED_PROD } red_kind;
red_kind red_kind_of(const char *prim);
/* The value that joined with x gives x. */
pv red_identity(red_kind k, ac_dtype d);
/* The primitive that joins two. */
const char *red_join(red_kind k);

/* ---- graph: the stage as one piece of vector code, cut into passes ------------------------------------------------------------------ */

/* All values of the stage on registers (c->v); which pass of the data computes them. */
typedef struct {
  pl_chain *c;
  const red_space *space;
  uint64_t reduced; /* groups */
  int *
      level; /* by register: reductions that must be complete before; a reduction's result is one above its operand's */
  int levels; /* reductions that depend on each other */
} red_graph;
void red_levels(red_graph *g);
/* Does the register vary along what is reduced? */
bool red_varies(const red_graph *g, int reg);

/* How the stage looks at an output: in the space's shape, or with 1 for what is reduced; NULL: neither. */
const ac_sym *const *red_seen(pl_ctx *p, const red_space *s, const ac_node *n, const ac_value *v);
bool red_passes(pl_ctx *p, const ac_node *n, const red_space *s, const int *outs, int n_outs);

/* Sums and means over leading or middle dimensions and nothing else have a schedule of their own (columns.c): was it one? */
bool red_columns(pl_ctx *p, const ac_node *n, const int *outs, int n_outs, bool *ok);

#endif

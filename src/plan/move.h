/* Layout moves: what view.c makes of them, move.c copies. Not for other modules. */
#ifndef AC_PLAN_MOVE_H
#define AC_PLAN_MOVE_H

#include "plan/internal.h"

enum { MOVE_MAX_DIMS = 2 * AC_MAX_RANK, MOVE_MAX_BOXES = 32 };

/* A value as places in a tensor that stands in memory row by row: element (i, j, ...) is at + i * stride[0] + j * stride[1] + ... */
struct pl_view {
  const ac_value *base; /* not yet needed (pl_need) */
  const ac_sym *at;
  int rank;
  const ac_sym *size[AC_MAX_RANK], *stride[AC_MAX_RANK];
};

/* Follows views, expansions, flips and copies back to what must stand in memory. Never fails: at worst the value itself is the base. */
pl_view pl_view_of(pl_ctx *p, const ac_value *v);
bool pl_view_contiguous(const pl_ctx *p, const pl_view *w);
/* Do elements of neighbouring dimensions lie behind one another, so that the two are one? */
bool pl_view_joins(const pl_ctx *p, const pl_view *w, int outer, int inner);
/* Elements that lie in one piece at the end, by the example; 0 where the last dimension is not in one piece. */
int64_t pl_view_run(const pl_ctx *p, const pl_view *w);

typedef struct {
  const ac_sym *size, *in, *out; /* elements, and how far the next one is in the source and in the result */
} move_dim;

/* Part of the result: a copy of a source with strides, or a number everywhere. Dimensions of 1 are left out, neighbours that lie behind
 * one another in both are one. The last has stride 1 in the result. */
typedef struct {
  const ac_value *src; /* NULL: `fill` */
  double fill;
  int n;
  move_dim dim[MOVE_MAX_DIMS];
  const ac_sym *in_at, *out_at;
} move_box;

typedef struct {
  int n;
  move_box box[MOVE_MAX_BOXES];
} move_boxes;

bool move_takes(const ac_node *n);
/* The boxes that make up the node's result; false after a refusal. */
bool move_split(pl_ctx *p, const ac_node *n, move_boxes *to);

#endif

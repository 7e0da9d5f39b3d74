/* What the schedules of reading and writing by index tensors share. Not for other modules. */
#ifndef AC_PLAN_GATHER_H
#define AC_PLAN_GATHER_H

#include "plan/internal.h"

enum { IX_MAX = 4, IX_BATCH = 32 }; /* index tensors side by side; pieces under way at once */

/* Index tensors in memory, whose elements k count along dimensions of `axis[k]` elements of the tensor that is indexed; together they are
 * one number, row by row. */
typedef struct {
  pl_ctx *p;
  int n;
  const char *name[IX_MAX]; /* in the host function */
  ac_dtype dtype[IX_MAX];
  bool negative;                 /* -1 is the last element */
  const char *axis_text[IX_MAX]; /* host expressions */
} ix_set;

/* Stands the index tensors in memory. */
bool ix_need(ix_set *s, pl_ctx *p, const ac_node *n, const ac_value *const *t, int count);
/* Parameters of a kernel, and what a launch passes for them. */
void ix_params(const ix_set *s);
typedef AC_VEC(ac_cexpr *) ix_args;
void ix_arguments(const ix_set *s, ix_args *a);
/* Buffers `at` (int32) and those that it is made in, of `size` elements. */
void ix_alloc(const ix_set *s, const char *size);
/* Bytes of UB an index, double buffering included. */
int ix_bytes(const ix_set *s);
/* Loads the indices at `offs` (an affine tile of `m` elements) and brings them inside: `at`. */
void ix_read(const ix_set *s, const char *offs);
/* In the host function: sizes along the dimensions, and what int32 cannot hold. `some`: condition under which an index is used. */
void ix_sizes(const ix_set *s, const char *some);

/* ---- host text ---- */

void ix_arg(pl_ctx *p, ix_args *a, const char *text);
/* `width`: parts of pieces of `inner` elements, IX_BATCH of which have `room` elements together. */
void ix_width(pl_ctx *p, int64_t room, ac_dtype d);
/* A statement that is a call, in DSL text. */
void ix_call(pl_ctx *p, const char *fmt, ...) AC_PRINTF(2, 3);
/* A stage block of one call. */
void ix_stage(pl_ctx *p, ac_cstage stage, const char *fmt, ...) AC_PRINTF(3, 4);
/* `name = units a core`, `n_cores`: whole units; where there are many, so many that no two cores write to one 64-byte line. */
void ix_split(pl_ctx *p, const char *units, ac_dtype d);

#endif

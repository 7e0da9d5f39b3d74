/* Passes over the data: what its two files share. passes.c cuts the stage into pieces of code, passtext.c writes kernels and host. */
#ifndef AC_PLAN_PASSES_H
#define AC_PLAN_PASSES_H

#include "plan/reduce.h"

/* A buffer of the kernel. */
typedef struct {
  const char *name;
  ac_dtype dtype;
  bool mask, loaded, stored;
  bool narrow;   /* one number, not a tile */
  int leaf, out; /* whose copy it is; -1 */
} kbuf;

/* Code between loads and stores: of one tile, or of the numbers of a unit. */
typedef struct {
  vir q;
  bool kept; /* the numbers of a unit */
  int level;
  pv *map; /* by register of the graph */
  bool any;
} part;

typedef struct red_once red_once;

/* A kernel: which of the parameters that its form has are left. */
typedef struct {
  const char *name;
  const bool *kept;
} red_kernel;

typedef struct {
  pl_ctx *p;
  pl_chain c;
  pl_names *names; /* of the kernel */
  red_space space;
  red_build build;
  red_graph g;
  AC_VEC(int) outs;
  const char **out_ptr;
  const char *kernel;
  bool rows; /* the lanes are reduced */
  int lanes; /* their group; -1 when there is none */
  bool *live, *constant;
  const char **home, **acc, **text; /* by register: buffers and scalars of what has one value a unit */
  const char **here; /* by register: a sum over the repetitions at hand; NULL: it goes on in acc or home */
  bool *wanted;      /* by register: read by another part */
  bool *text_wanted;
  AC_VEC(kbuf) bufs;
  AC_VEC(int) temps;                                             /* buffers that parts share */
  part *full, *kept;                                             /* by level */
  bool leaf_in_unit[PL_MAX_LEAVES], leaf_in_loop[PL_MAX_LEAVES]; /* scalars: where they are read */
  bool used[PL_MAX_RANK];                                        /* groups whose sizes the kernel needs */
  bool index[PL_MAX_RANK];                                       /* groups whose position has a name */
  int64_t tile;
  bool split;         /* several cores share a unit: what the kernel that is being written does */
  const char **share; /* by register: workspace for the cores' results */
  red_once *once;     /* NULL: the stage has no such form */
  bool any_rank;      /* inputs may have more dimensions than the traced ones */
  bool alone; /* the only stage: cores that share units may meet at a barrier; else they do between launches */
  bool keeps; /* some dimension is kept: there may be more than one unit */
  AC_VEC(red_kernel) kernels;
  AC_VEC(const char *) locals; /* of the host: plain name, the stage's own */
  int line;                    /* elements of the shortest result in 64 bytes */
} red;

bool red_full_out(const red *r, size_t o); /* is the output as large as the data? */
uint64_t red_kept_groups(const red *r);
void red_params(red *r); /* of the kernel that is open: the tensors that are read, then those that are written */
/* Rows that fit UB, some at a time: can the stage be written so? Writes the kernel. */
red_once *red_rows_at_once(red *r);
/* Host: branches `if cols <= ...: launch`, left open; how many. */
void red_once_host(red *r, red_once *o);
/* Host expression or statement with the stage's own names of its locals. */
const char *red_here(red *r, const char *text);
/* Launches a kernel with `args` in the order of its parameters, less those that it does not have any more. */
void red_launch(red *r, const char *kernel, const char *cores, const char *const *args, size_t n);
void red_finish(red *r, ac_cfunc *f);
/* Writes the kernels. */
void red_kernels(red *r);
/* Writes the host part. */
void red_host(pl_ctx *p, void *self);

#endif

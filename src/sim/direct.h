/* direct: an AscendC program (lower/air.h) on the simulated machine, without a compiler. For sim's files direct*.c only.
 *
 * The program is first made compact: every name becomes a slot, every expression a tree whose types are settled, every
 * instruction the acsim_vector that the C++ headers would fill. Then host code and kernels are interpreted, and each statement
 * makes the calls of sim/include/acsim/kernel_abi.h that its C++ text (ascendc, custom-operator form) makes, in that order.
 */
#ifndef AC_SIM_DIRECT_H
#define AC_SIM_DIRECT_H

#include "../../sim/include/acsim/kernel_abi.h"
#include "lower/air.h"
#include "sim/sim.h"

/* ---- expressions --------------------------------------------------------------------------------------------------- */

enum {                    /* beside ac_aekind */
       AC_DX_TRUTH = 100, /* a != 0, of an integer or a float */
       AC_DX_PLAN,        /* host: a tiling field that was set already, as an integer */
};
typedef struct ac_dexpr ac_dexpr;
struct ac_dexpr {
  uint8_t op, type; /* type of the value; bool counts as an integer of 0 or 1 */
  uint8_t of;       /* comparisons, AC_DX_TRUTH: type of what is compared */
  int32_t slot;     /* AC_AE_VAR: slot; AC_DX_PLAN: field; of a shape: tensor */
  int64_t i;
  double f; /* kernel code: rounded to float */
  ac_dexpr *a, *b, *c;
};
/* Kernel values; floats are float there, double in host code. */
typedef union {
  int64_t i;
  float f;
  double d;
} ac_dvalue;

/* ---- statements ------------------------------------------------------------------------------------------------------ */

typedef struct ac_dstmt ac_dstmt;
typedef struct {
  ac_dstmt *at;
  int n;
} ac_dblock;

typedef struct {
  int32_t tensor; /* slot; -1: no operand */
  int32_t size;   /* bytes of an element of the view */
  ac_dexpr *offset;
} ac_doperand;

typedef enum { AC_DC_INT32, AC_DC_UINT32, AC_DC_EXACT } ac_dcount; /* how the C++ text converts the count */
typedef struct {
  acsim_vector v; /* op, types, mode */
  ac_doperand dst, a, b, c;
  ac_dexpr *scalar;
  ac_dtype scalar_type;
  ac_dexpr *count;
  uint8_t how;  /* ac_dcount */
  bool copy;    /* DataCopy within UB, which is no vector instruction of the core */
  uint8_t form; /* ac_form */
  bool repeats; /* the fields below, and no count */
  int32_t a_block;
  ac_dexpr *mask, *repeat, *dst_rep, *a_rep, *b_rep;
} ac_dinst;

typedef struct {
  bool to_ub, exact, by_element;
  ac_atomic atomic;
  ac_dtype type;
  int32_t gm;
  ac_doperand ub;
  ac_dexpr *gm_offset, *rows, *cols, *gm_stride, *ub_pitch, *pad;
} ac_dcopy;

struct ac_dstmt {
  uint8_t kind, type; /* ac_askind; ac_atype of the variable */
  int32_t slot;       /* variable, tensor or queue's tensor */
  int32_t queue;
  bool outward; /* ac_astmt.outward */
  int32_t line;
  const char *file;
  ac_dexpr *value, *lo, *hi, *step;
  ac_dblock body, orelse;
  int32_t method, n_args; /* CALL; FLAG: method is the event */
  ac_dexpr **args;
  ac_doperand op; /* GETVALUE, SETVALUE; tensor -1: global memory `gm` */
  int32_t gm;
  ac_dtype dtype;
  ac_dinst *inst;
  ac_dcopy *copy;
  const char *text;          /* REFUSE */
  struct ac_dlaunch *launch; /* LAUNCH */
  int path;                  /* END */
};

/* ---- programs ---------------------------------------------------------------------------------------------------------- */

typedef struct {
  int32_t slot;
  uint8_t type;
} ac_dvar;
typedef struct {
  int n_params;
  ac_dvar *params;
  ac_dblock body;
} ac_dmethod;
typedef struct {
  const ac_abuffer *b;
  ac_dexpr *elements;
} ac_dbuffer;
typedef struct {
  const ac_akernel *k;
  int n_values, n_tensors, n_fields, n_gms, n_buffers;
  ac_dvar *fields; /* slots of k->fields */
  ac_dbuffer *buffers;
  ac_dmethod *methods;
} ac_dkernel;

typedef struct ac_dlaunch {
  const ac_alaunch *l;
  ac_dexpr *blocks, **values; /* values in k->fields order, of the tiling field's type */
  ac_dexpr **elements;        /* of the kernel's buffers, over the plan */
  ac_dexpr **workspaces;      /* elements, NULL for those that this launch does not use */
} ac_dlaunch;

typedef struct ac_dprogram {
  const ac_program *p;
  ac_dkernel *kernels;
  ac_dlaunch *launches; /* in the order of ac_program.launches */
  ac_dblock host;
  int n_values; /* of host code; attributes come first */
  int64_t tiling_bytes;
  int32_t *field_at;        /* byte offsets in the tiling data */
  const char *file;         /* the DSL source, for messages */
  struct ac_doutdim **dims; /* one a tensor: the sizes that the program says, or NULL */
} ac_dprogram;

typedef struct ac_doutdim {
  ac_dexpr *size, *from, *to; /* as ac_aoutdim */
  int tensor;
} ac_doutdim;

/* NULL: something in the program cannot be run (AC0600, our own fault). The result points into `p`. */
ac_dprogram *ac_direct_compile(ac_arena *a, const ac_program *p, ac_diags *d);

/* ---- the tiling code --------------------------------------------------------------------------------------------------- */

typedef struct {
  char refusal[256]; /* why the shape is refused; empty: it is not */
  int64_t key, block_dim, workspace;
  ac_dvalue *fields; /* int64 or float, as their types say */
} ac_dplan;
/* Tensors in the order of ac_program.tensors; attrs one a program attribute. `fields` has room for all. */
void ac_direct_tiling(const ac_dprogram *p, const ac_sim_tensor *tensors, const ac_dvalue *attrs, int64_t cores,
                      int64_t ub, bool deterministic, ac_dvalue *scratch, ac_dplan *plan);
/* The shape that the program says for output i, given the inputs; false: it says none. A refusal goes to `plan`. */
bool ac_direct_shape(const ac_dprogram *p, const ac_sim_tensor *tensors, const ac_dvalue *attrs, size_t i,
                     ac_dvalue *scratch, ac_dplan *plan, int *rank, int64_t dims[AC_MAX_RANK]);

/* ---- the blocks ---------------------------------------------------------------------------------------------------------- */

typedef struct {
  const ac_dprogram *p;
  const ac_dplan *plan;
  const ac_sim_tensor *tensors;
  uint8_t *workspace;
  const void *tiling;
  double deadline; /* ac_now() after which blocks give up; 0: never (a child is stopped from outside) */
  int late;        /* set by a block that gave up */
} ac_dcall;
/* acsim_launch calls this once a block; user is an ac_dcall. */
void ac_direct_block(void *user);

#endif

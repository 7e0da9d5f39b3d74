/* What plan's files share. Not for other modules. */
#ifndef AC_PLAN_INTERNAL_H
#define AC_PLAN_INTERNAL_H

#include "plan/plan.h"

/* ---- names: identifiers of the program, unique, never a word that the DSL or the schedule needs ------------------------- */

typedef struct {
  ac_arena *a;
  ac_map *used;
} pl_names;
void pl_names_init(pl_names *n, ac_arena *a);
/* `wish` made an identifier, with _2, _3 ... when taken. */
const char *pl_name(pl_names *n, const char *wish);

/* ---- the context of one plan -------------------------------------------------------------------------------------------- */

typedef struct {
  const char *name; /* parameter of the kernel, same name on the host side */
  const char *host; /* host expression that fills it; NULL: a host parameter or local of the same name */
} pl_scalar;

/* A tensor in memory that stages read or write: the graph's inputs first (same indices), its outputs, then workspace between stages. */
typedef struct {
  const ac_value *v;
  const char *name; /* in the host function */
  bool input, output;
  bool scalar; /* a run-time number of the host */
  bool ready;  /* may be read: an input, or a stage before writes it */
  bool busy;   /* the stage that writes it is being planned */
} pl_tensor;

typedef struct pl_ctx pl_ctx;

typedef struct {
  void (*host)(pl_ctx *p, void *self); /* writes its part of the host function, launches included */
  void *self;
  const char *doc;
} pl_stage;

struct pl_ctx {
  ac_arena *a;
  const ac_graph *g;
  const ac_chip *chip;
  ac_diags *d;
  ac_cbuild b;
  pl_names names;       /* host parameters and locals */
  pl_names local_names; /* of numbers that stages keep in the host function: tile, units */
  AC_VEC(pl_tensor) tensors;
  AC_VEC(pl_stage) stages; /* in the order of their launches */
  ac_map *stage_names;
  int nesting; /* stages that wait for others to be planned */
  bool failed;
  ac_map *ranked; /* inputs whose number of dimensions the host function has checked */
  bool
      strict; /* places are computed from sizes: what was traced to broadcast must have these sizes, in these ranks */
};

/* ---- stages: kernels that follow each other, tensors in memory between them ------------------------------------------------ */

/* Index of the tensor that holds the value and may be read; -1. */
int pl_tensor_of(const pl_ctx *p, const ac_value *v);
/* Plans what is missing so that the value stands in memory (workspace when it is no input and no output). False after a diagnostic. */
bool pl_need(pl_ctx *p, const ac_value *v);
/* Adds the stage that was just planned; its host part is written later, after those of the stages before. */
void pl_stage_host(pl_ctx *p, const char *doc, void (*host)(pl_ctx *, void *), void *self);
/* What names of kernels of a stage that writes the tensor begin with: the graph's name, for workspace the tensor's too; never twice. */
const char *pl_stage_name(pl_ctx *p, int tensor);
/* In the host function: `name = tl.empty(...)` when the tensor is workspace. */
void pl_declare(pl_ctx *p, int tensor);
/* Host expression of the number of elements of a value, by symbols. */
const char *pl_numel_text(const pl_ctx *p, const ac_value *v);
/* Of the dimensions [from, to) only. */
const char *pl_product_text(const pl_ctx *p, const ac_value *v, int from, int to);
/* Plans stages for all outputs. */
bool pl_outputs(pl_ctx *p);
/* Does a schedule take the operation as its anchor? */
bool pl_anchored(ac_op op);
/* Is the operation computed within element-wise chains: expansions, constants, views that move nothing? */
bool pl_inline(ac_op op);
bool pl_is_view(ac_op op);
bool pl_same_shape(const pl_ctx *p, int ra, const ac_sym *const *a, int rb, const ac_sym *const *b);

/* A schedule for operations that are not element-wise (its anchors). */
typedef struct {
  const char *name;
  /* Does the schedule compute this operation? Called before any planning; the details may still be refused. */
  bool (*takes)(const ac_node *n);
  /* May results that follow from anchor `a` and from anchor `b` be computed by one stage? NULL: only results of one anchor. */
  bool (*joins)(const pl_ctx *p, const ac_node *a, const ac_node *b);
  /* Can the stage of anchor `n` write value `v`, which element-wise operations make of its results? NULL, or false: outs are results of
   * the anchor itself. */
  bool (*fuses)(pl_ctx *p, const ac_node *n, const ac_value *v);
  /* Plans a stage that writes tensors `outs` (they live as long as p->a), whose last anchor is `n`: needs (pl_need), kernels,
   * pl_stage_host. */
  bool (*plan)(pl_ctx *p, const ac_node *n, const int *outs, int n_outs);
  /* Can the stage of anchor `n` also write the result of `other`, an anchor of another class? NULL: no. */
  bool (*adopts)(const pl_ctx *p, const ac_node *n, const ac_node *other);
} pl_class;
extern const pl_class pl_softmax_class, pl_reduce_class, pl_pool_class, pl_gather_class, pl_scatter_class,
    pl_place_class, pl_scan_class, pl_arg_class, pl_move_class, pl_create_class;

/* AC0700 at the node's line; always false. `why` completes "softmax: ". */
bool pl_refuse(pl_ctx *p, ac_loc loc, const char *what, const char *fmt, ...) AC_PRINTF(4, 5);
/* Parameter of a node's operation by name; never NULL (aborts on a wrong name). */
const ac_arg *pl_arg(const ac_node *n, const char *name);
/* A Python number or float argument as a constant; false when it is a run-time size. Absent: `absent`. */
bool pl_number(const ac_node *n, const char *name, double absent, double *v);
/* A size or dimension that is given, as one number known now. */
bool pl_const_int(const ac_node *n, const char *name, int64_t *v);
/* Host expression of a symbolic size, through the shapes of the inputs. */
const char *pl_sym_text(const pl_ctx *p, const ac_sym *s);
/* Bytes of UB that buffers may take. */
int64_t pl_ub_budget(const pl_ctx *p);
/* Annotation of a tensor parameter: tl.tensor[tl.float32]. */
ac_cexpr *pl_tensor_type(pl_ctx *p, ac_dtype d);
/* `if cond: tl.refuse(message)` in the host function. */
void pl_refuse_if(pl_ctx *p, const char *cond, const char *message);
/* The guards that are not of broadcasting: refusals in the host function. */
void pl_guards(pl_ctx *p);
/* The shape's symbols name dimensions of the inputs: other ranks than the traced are refused in the host function, once. */
void pl_rank_guards(pl_ctx *p, const ac_value *v);
void pl_rank_guard(pl_ctx *p, const ac_sym *s);
/* An input of another rank than the traced is refused in the host function, once. */
void pl_input_rank(pl_ctx *p, const pl_tensor *t);
bool pl_sym_is(const pl_ctx *p, const ac_sym *s, int64_t v);
/* tl.load / tl.store statements of the tile `ptr + offs`. */
void pl_load(pl_ctx *p, const char *ptr, const char *offs, const char *buf);
void pl_store(pl_ctx *p, const char *ptr, const char *offs, const char *buf);
void pl_alloc(pl_ctx *p, const char *buf, const char *size, ac_dtype d, bool once); /* once: buffers=1 */
/* Comment lines for the next statement, filled to the width of the page. */
void pl_note(pl_ctx *p, const char *fmt, ...) AC_PRINTF(2, 3);
/* Leaves out of a finished kernel what nothing in it reads; which of the parameters it had are still there. */
bool *pl_trim(pl_ctx *p, ac_cfunc *f);
/* The comments above one statement stand above another from now on, before its own. */
void pl_hand_on(ac_arena *a, const ac_cstmt *from, ac_cstmt *to);
/* Takes out assignments to names that nothing reads; the names that are read. */
ac_map *pl_drop_unread(pl_ctx *p, ac_cfunc *f);
/* Leaves out of the finished host function what fixed sizes decide against, and kernels that nothing launches. */
void pl_prune(pl_ctx *p);
/* x = <expression in DSL text> */
void pl_let(pl_ctx *p, const char *name, const char *fmt, ...) AC_PRINTF(3, 4);

/* ---- the element-wise schedule: returns false after a diagnostic ------------------------------------------------------------ */

/* One kernel that writes the tensors, a phase for those of each shape. What is not element-wise on the way is needed first. */
bool pl_elementwise(pl_ctx *p, const int *outs, int n);

/* ---- vir: straight-line vector code on virtual registers ----------------------------------------------------------------- */

typedef enum { PV_NONE, PV_NUM, PV_TEXT, PV_VEC, PV_MASK } pv_kind;
/* A value of the element-wise language: a number, a scalar expression of the kernel, a vector of a tile, or a mask (one bit a lane). */
typedef struct {
  pv_kind kind;
  double num;
  const char *text;
  bool text_int; /* TEXT: an integer expression */
  int reg;
  bool neg; /* MASK: means the complement (NaN makes `not (a < b)` differ from `a >= b`) */
} pv;

typedef struct {
  const char *prim; /* after `tl.` */
  int dst;
  pv arg[3];
  int n_args;
  const char *mode; /* compares */
  ac_round round;   /* casts */
  int cls;          /* of its register */
} vir_op;

typedef struct {
  ac_dtype dtype;
  bool mask;
  int leaf;      /* loaded in copyin: index of the leaf; -1 */
  int def, last; /* positions in ops; leaf: -1 */
  int buf;
  int pinned;    /* index of the stored output that lives in this register; -1 */
  int home;      /* buffer that the schedule gave it (vir_home); -1 */
  int cls;       /* the schedule's: buffers hold values of one class only */
  uint64_t axes; /* groups of dimensions that the value varies along, where the schedule asks for it */
} vir_reg;

typedef struct {
  const char *name;
  ac_dtype dtype;
  bool mask, loaded, stored;
  int owner_leaf, owner_out; /* or -1 */
  int free_from;             /* first position at which it may be overwritten */
  int pinned_at;             /* stored: position that writes the result; the buffer is free for others before it */
  int cls;
  bool outside; /* the schedule's own, alive before and after the code */
} vir_buf;

typedef struct {
  int reg;        /* what is stored */
  ac_dtype dtype; /* of the tensor */
  int buf;
  int index; /* the schedule's own number for it */
} vir_out;

typedef struct {
  pl_ctx *p;
  AC_VEC(vir_op) ops;
  AC_VEC(vir_reg) regs;
  AC_VEC(vir_buf) bufs;
  AC_VEC(vir_out) outs;
  bool selects;      /* Select is used: it takes the last 8 KiB of UB */
  AC_VEC(int) roots; /* registers that are needed beside the outputs */
  bool
      apart; /* buffers that are stored hold nothing but the result: the compiler can double them, whatever is written in parts */
} vir;

pv pv_num(double v);
pv pv_text(const char *text, bool is_int);
bool pv_is(pv v, double n);
int vir_leaf(vir *v, int leaf, ac_dtype d);
/* Emits an operation (or finds the equal one): its destination register. */
int vir_emit(vir *v, const char *prim, ac_dtype d, int n, ...); /* n arguments of type pv */
int vir_cast(vir *v, int reg, ac_dtype d, ac_round r);
int vir_compare(vir *v, pv a, pv b, const char *mode); /* at least one vector, `a`; mask register */
/* An operation taken over from other code. */
int vir_copy(vir *v, vir_op op, ac_dtype d, bool mask);
void vir_output(vir *v, int reg, ac_dtype d);
/* A register in a buffer of the schedule's own, which holds its value before the code runs. */
int vir_home(vir *v, const char *buf, ac_dtype d);
/* buf = prim(buf, x), joined at the end of the code. */
void vir_accumulate(vir *v, const char *prim, int home, int x);
/* buf = x: an operation whose result goes to a buffer of the schedule's own. */
void vir_settle(vir *v, int reg, const char *buf);
/* Assigns buffers: few of them, so that the tile is large. `name_of_leaf` and `name_of_out` give wishes. */
void vir_assign(vir *v, const char *const *leaf_names, const char *const *out_names, pl_names *names);
/* Bytes that one element takes over all buffers, double buffering of loaded and stored ones included; masks count an eighth. */
double vir_bytes(const vir *v);
/* Bytes of the scratch that lowering adds for composed primitives, whatever the tile. */
int64_t vir_scratch(const vir *v);
/* One line a buffer kind for the comment: "2 x 4 (x) + ...". */
const char *vir_bytes_text(const vir *v);
bool vir_has_masks(const vir *v);
void vir_alloc(vir *v, const char *tile); /* tl.alloc_ub statements */
/* The call of one operation, into `dst` (NULL: the buffer of its register). */
ac_cexpr *vir_call(vir *v, const vir_op *o, ac_cexpr *dst);
/* The statements of the compute block; `all`: each says its count. */
void vir_compute(vir *v, const char *count, bool all);
bool vir_in_place(const char *prim);

/* ---- scalar-or-vector arithmetic on pv (float32 unless the registers are integers) ----------------------------------------- */

pv pv_vec(vir *v, pv x, ac_dtype d); /* as a vector: numbers and scalars are spread, masks become 0 and 1 */
pv pv_add(vir *v, pv a, pv b);
pv pv_sub(vir *v, pv a, pv b);
pv pv_mul(vir *v, pv a, pv b);
pv pv_div(vir *v, pv a, pv b);
pv pv_max(vir *v, pv a, pv b); /* a NaN passes on, as the simulator has it and lowering relies on */
pv pv_min(vir *v, pv a, pv b);
pv pv_fn(vir *v, const char *prim, pv x);        /* unary primitive */
pv pv_round(vir *v, pv x, ac_round r);           /* to a float32 integer */
pv pv_cmp(vir *v, const char *mode, pv a, pv b); /* mask; modes lt le gt ge eq ne */
pv pv_not(pv mask);
pv pv_where(vir *v, pv mask, pv a, pv b);
pv pv_to_f32(vir *v, pv x);
pv pv_mask(vir *v, pv x); /* x != 0 as a mask */

/* ---- expand: one graph operation on pv operands ---------------------------------------------------------------------------- */

/* Operands are in the order of the node's tensor parameters, each in float32, int32, int16 or as a mask (bool). False: no expansion;
 * `*why` says what is missing. */
bool pl_expand(vir *v, const ac_node *n, const pv *in, int n_in, pv *out, const char **why);
bool pl_expandable(ac_op op);
/* Why an operation that is not expandable is not. */
const char *pl_unfit(ac_op op);

/* ---- chain: element-wise code over one iteration space, between tensors in memory -------------------------------------------- */

enum { PL_MAX_RANK = AC_MAX_RANK, PL_MAX_LEAVES = 62 };

typedef struct pl_view pl_view; /* move.h */

/* A tensor that the chain reads. */
typedef struct {
  int tensor;
  const ac_value *v;
  int rank;
  const ac_sym *const *shape; /* as the chain looks at it */
  bool own;                   /* its own shape, not a reshaped one */
  uint64_t has;               /* bit q: it varies along group q */
  bool full, row;             /* all groups; the innermost group */
  const char *buf, *ptr, *scalar;
  const pl_view *view; /* read by strides: `v` is a view of the tensor; NULL: it is the tensor */
} pl_leaf;

/* Neighbouring dimensions of the space that all leaves treat alike, as one. */
typedef struct {
  int from, to;     /* dimensions of the space */
  uint64_t leaves;  /* bit k: leaf k varies along it */
  int cls;          /* what the schedule said of its dimensions */
  const char *name; /* host local and kernel parameter with its size */
  const char *size; /* host expression */
  int anchor;       /* leaf that `size` is read from; -1 */
  bool used;        /* the kernel needs it */
} pl_group;

typedef struct {
  const ac_value *v;
  const ac_sym *const *shape;
  int rank;
  bool own; /* the schedule computes it */
  pv val;
  bool strided; /* a leaf that is a view */
} pl_memo;

typedef struct pl_chain pl_chain;
struct pl_chain {
  pl_ctx *p;
  vir v;
  pl_names *names; /* of the kernel */
  int rank;        /* of the iteration space */
  const ac_sym *const *dim;
  int cls[PL_MAX_RANK]; /* by dimension, for the schedule: dimensions of different classes are never one group */
  pl_leaf leaves[PL_MAX_LEAVES];
  int n_leaves;
  pl_group groups[PL_MAX_RANK];
  int n_groups;
  bool rows; /* some leaf varies along some groups only */
  AC_VEC(pl_memo) memos;
  AC_VEC(pl_scalar) scalars; /* run-time scalars from the host */
  int depth;
  /* What the schedule computes itself. `own`: is the value one of them? It must collect the operands (chain_collect). `eval_own`: the
   * value on registers. Both NULL: nothing. */
  bool (*own)(pl_chain *c, const ac_value *v, int rank, const ac_sym *const *shape);
  bool (*eval_own)(pl_chain *c, const ac_value *v, int rank, const ac_sym *const *shape, pv *out);
  void *self;
  void *self_stage;
  bool
      vectors; /* every leaf is a register with the groups it varies along, for schedules that place them themselves */
  bool views;  /* leaves may be views with long rows: the schedule reads them by their strides */
  bool once; /* what is costly and varies along some dimensions only is computed before, once for all of the others */
};
/* A chain over the space of v's shape, with nothing in it. */
pl_chain chain_over(pl_ctx *p, const ac_value *v);
/* Finds the leaves of a value; `_as`: looked at in another shape of as many elements. */
bool chain_collect(pl_chain *c, const ac_value *v);
bool chain_collect_as(pl_chain *c, const ac_value *v, int rank, const ac_sym *const *shape);
/* After collecting: sorts the leaves, makes the groups. */
void chain_groups(pl_chain *c);
/* Is the evaluated code fit for tiles of two dimensions: every tensor has an element for each of the space, no masks, no number that
 * must be spread? */
bool chain_plain(const pl_chain *c);
/* Names and host expressions of the groups' sizes. */
void chain_sizes(pl_chain *c, pl_names *host);
/* Along dimension i of the space, does the leaf vary (1), not vary (0), or both the same (-1: the dimension is 1)? */
int chain_varies(const pl_chain *c, const pl_leaf *l, int i);
/* Host expression: elements of dimensions [from, to) of the space, read from the leaf; for inputs in a form that holds for more
 * dimensions in front. */
const char *chain_extent(const pl_chain *c, const pl_leaf *l, int from, int to);
/* In the host function: tensors must have the sizes that broadcasting was traced with; in terms of groups, so that other ranks pass. */
void chain_checks(pl_chain *c);
/* The value behind views that move nothing. */
const ac_value *pl_stripped(const ac_value *v);
/* Kernel parameter that holds a host expression. */
const char *chain_scalar(pl_chain *c, const char *wish, const char *host);
bool chain_eval(pl_chain *c, const ac_value *v, pv *out);
bool chain_eval_as(pl_chain *c, const ac_value *v, int rank, const ac_sym *const *shape, pv *out);
/* The value in the dtype of its tensor, ready to be stored: an output of the vector code. */
bool chain_finish(pl_chain *c, const ac_value *v, pv x);

#endif

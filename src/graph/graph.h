/* graph: the tensor-operator graph - symbolic sizes and guards, PyTorch's shape, dtype and broadcasting rules, text dump, JSON,
 * verifier, and the float64 reference evaluation.
 *
 * Knows nothing of AscendC or the DSL. In SSA form: in-place updates and views were resolved by the frontend.
 */
#ifndef AC_GRAPH_H
#define AC_GRAPH_H

#include "isa/isa.h"

typedef struct ac_graph ac_graph;
typedef struct ac_node ac_node;
typedef struct ac_value ac_value;
typedef struct ac_sym ac_sym;

/* ---- symbolic sizes: immutable, hash-consed in their graph; each carries its example value ----------------------- */

typedef enum {
  AC_SYM_CONST,
  AC_SYM_VAR,
  AC_SYM_ADD,
  AC_SYM_MUL,
  AC_SYM_FLOORDIV,
  AC_SYM_MOD,
  AC_SYM_MIN,
  AC_SYM_MAX
} ac_symkind;
struct ac_sym {
  ac_symkind kind;
  int64_t example; /* value at the traced example */
  int var;         /* AC_SYM_VAR: index into g->vars */
  const ac_sym *a, *b;
};
typedef struct {
  const char *name; /* "s0" */
  int64_t example;
  int input,
      dim; /* where it was first seen: dimension `dim` of input `input`; dim -1: the value of an int scalar input */
} ac_symvar;
const ac_sym *ac_sym_int(ac_graph *g, int64_t v);
/* A fresh variable. dim >= 0: a size, never negative, dimension `dim` of input `input` (input -1: of none yet, as the sizes in a
 * generator graph are); dim -1: an int of any sign, the value of the scalar input `input`. */
const ac_sym *ac_sym_fresh(ac_graph *g, int64_t example, int input, int dim);
const ac_sym *ac_sym_var(ac_graph *g, int var); /* the variable with that index */
/* Simplified (constants folded, sums and products in a canonical order, x - x = 0, (a*b)//b = a); 64-bit overflow of the example
 * reports AC03xx through g->diags and yields a constant 0. */
const ac_sym *ac_sym_op(ac_graph *g, ac_symkind k, const ac_sym *a, const ac_sym *b);
const ac_sym *ac_sym_sub(ac_graph *g, const ac_sym *a, const ac_sym *b);
bool ac_sym_is_const(const ac_sym *s, int64_t *v);
/* Equal for all values that satisfy the guards so far (equality guards merge variables). */
bool ac_sym_equal(const ac_graph *g, const ac_sym *a, const ac_sym *b);
char *ac_sym_text(ac_arena *a, const ac_graph *g, const ac_sym *s); /* "s0*s1 + 1" */
/* The form under the guards so far: merged variables replaced, pinned ones constant. Equal symbols give the same pointer. */
const ac_sym *ac_sym_resolve(ac_graph *g, const ac_sym *s);
/* Value with `values[i]` for variable i; false on overflow or division by zero. */
bool ac_sym_eval(const ac_sym *s, const int64_t *values, int64_t *v);

typedef enum { AC_GUARD_EQ, AC_GUARD_NE, AC_GUARD_LT, AC_GUARD_LE } ac_guardkind;
typedef struct {
  ac_guardkind kind;
  const ac_sym *a, *b;
  ac_loc loc;         /* the user's line that asked */
  const char *reason; /* "broadcast of dimension 1", "if on a size" */
  bool rule;          /* asked by a shape rule (replaying the rule asks again), not by the user's program */
} ac_guard;
/* The truth of `a kind b` at the example; records the guard (or its negation) unless it holds or fails for all values. */
bool ac_guard_holds(ac_guardkind k, int64_t a, int64_t b);
bool ac_sym_guard(ac_graph *g, ac_guardkind k, const ac_sym *a, const ac_sym *b, ac_loc loc, const char *reason);

/* ---- operations ---------------------------------------------------------------------------------------------------- */

typedef enum {
  C_LEAF,
  C_ELT,
  C_RED,
  C_SCAN,
  C_ROW,
  C_NORM,
  C_POOL,
  C_VIEW,
  C_INDEX,
  C_JOIN,
  C_SORT,
  C_NEW,
  C_MATMUL,
  C_COMP
} ac_opclass;
typedef enum {
#define O(id, cls, sig, names) id,
#include "graph/ops.def"
#undef O
  AC_OP_COUNT
} ac_op;

/* Argument kinds, as in the signatures of ops.def. */
typedef enum {
  AC_K_TENSOR,
  AC_K_TENSORS,
  AC_K_SCALAR,
  AC_K_INT,
  AC_K_INTS,
  AC_K_FLOAT,
  AC_K_BOOL,
  AC_K_STR,
  AC_K_DTYPE
} ac_kind;
typedef struct {
  const char *name;
  ac_kind kind;
  bool optional; /* `?`: may be absent */
  bool has_default;
  const char *default_text; /* as written in the signature; NULL: required */
} ac_opparam;
typedef struct {
  const char *id; /* "softmax": lower case of the enum without AC_G_; used in dumps and JSON */
  ac_opclass cls;
  ac_opparam *params;
  int n_params, n_positional; /* the rest is keyword-only */
  const char *names;
} ac_opinfo;
const ac_opinfo *ac_op_info(ac_op op);
/* Dimensions that the windows of a pooling operation go over: 1 to 3; of others 0. */
int ac_op_windows(ac_op op);
ac_op ac_op_of(const char *id); /* AC_OP_COUNT if unknown */
/* Python name in a namespace ('t', 'm', 'r', 'f', 's', 'l'): fills swapped (r:) and in-place; AC_OP_COUNT if unknown. */
ac_op ac_op_by_name(char ns, const char *name, bool *swapped, bool *inplace);
/* The nearest known name in that namespace, or NULL. */
const char *ac_op_nearest(char ns, const char *name);

typedef struct {
  ac_kind kind;
  bool absent;          /* None */
  bool is_int, is_bool; /* SCALAR: Python int / bool */
  bool b;               /* BOOL */
  int n;                /* of ts or is */
  ac_dtype d;           /* DTYPE */
  ac_value *t;          /* TENSOR */
  ac_value **ts;        /* TENSORS */
  const ac_sym *i;      /* INT; SCALAR when is_int */
  const ac_sym **is;    /* INTS */
  double f;             /* FLOAT; SCALAR: its value, at the example when is_int */
  const char *s;        /* STR */
} ac_arg;

struct ac_value {
  int id;
  const char *name; /* input's name, or NULL */
  ac_dtype dtype;
  bool weak; /* a Python number: does not raise others' dtype above its class */
  int rank;
  const ac_sym **shape;
  ac_node *def;
  int out; /* which output of def */
};
struct ac_node {
  ac_op op;
  ac_arg *args; /* one per parameter of the signature, tensors included, defaults filled in */
  int n_args;
  ac_value **outs;
  int n_outs;
  ac_loc loc; /* the user's line */
};

/* The argument of the parameter with that name; NULL when the operation has no such parameter. */
const ac_arg *ac_node_arg(const ac_node *n, const char *name);
/* Python's dimension d (negative: from the end) among `rank` (0 counts as 1); -1 when out of range. */
int ac_dim_index(int64_t d, int rank);
/* Which of `rank` dimensions an INT or INTS argument names; absent or an empty list: all. Arguments keep what the user gave. */
void ac_arg_dims(const ac_arg *a, int rank, bool dims[AC_MAX_RANK]);
/* Example value of entry i of an INTS argument; one entry stands for all (kernel_size=3). */
int64_t ac_arg_int(const ac_arg *a, int i);

typedef enum { AC_IN_TENSOR, AC_IN_SCALAR, AC_IN_PARAM, AC_IN_BUFFER } ac_inrole;
typedef struct {
  const char *name;
  ac_inrole role;  /* order: forward's own, then parameters, then buffers */
  ac_value *value; /* scalar: rank 0, weak */
  double scalar;   /* AC_IN_SCALAR: example value */
  ac_value *gen;   /* value in g->gen that makes it, or NULL: uniform [0,1) of its dtype */
} ac_input;
typedef struct {
  const char *name;
  ac_value *value;
  int updates; /* index of the input (buffer) whose new value this is; -1: a result of forward */
} ac_output;

struct ac_graph {
  ac_arena *arena;
  ac_diags *diags;
  AC_VEC(ac_symvar) vars;
  AC_VEC(ac_guard) guards;
  AC_VEC(ac_value *) values;
  AC_VEC(ac_node *) nodes; /* topological */
  AC_VEC(ac_input) inputs;
  AC_VEC(ac_output) outputs;
  ac_graph *gen; /* get_inputs() and the parameters' initialisers as a graph of creation operations; NULL: default */
  const char *name; /* "softmax": the file's base name, else the class */
  uint64_t seed;
  struct ac_graph_private *priv;
};

ac_graph *ac_graph_new(ac_arena *a, ac_diags *d);
/* A new input; its sizes become fresh variables where fixed[i] is false (fixed NULL: all fresh). */
ac_value *ac_graph_input(ac_graph *g, const char *name, ac_inrole role, ac_dtype dtype, int rank,
                         const int64_t *sizes, const bool *fixed);
void ac_graph_output(ac_graph *g, const char *name, ac_value *v, int updates);
/* Weakly typed constants: a Python float / int / bool, or a size. */
ac_value *ac_graph_number(ac_graph *g, double v);
ac_value *ac_graph_integer(ac_graph *g, const ac_sym *v);
ac_value *ac_graph_boolean(ac_graph *g, bool v);
/* Applies op to args (one an op parameter; missing tail = defaults): infers shapes and dtypes, expands C_COMP rows, records guards.
 * Returns the outputs (n_out of them), or NULL with a diagnostic in g->diags that names sizes and the way out. */
ac_value **ac_graph_apply(ac_graph *g, ac_op op, const ac_arg *args, int n_args, ac_loc loc, int *n_out);
/* Short forms for one-output operations on tensors. */
ac_value *ac_graph_op1(ac_graph *g, ac_op op, ac_value *x, ac_loc loc);
ac_value *ac_graph_op2(ac_graph *g, ac_op op, ac_value *x, ac_value *y, ac_loc loc);
ac_value *ac_graph_cast(ac_graph *g, ac_value *x, ac_dtype d, ac_loc loc);
/* PyTorch's promotion of two values. */
ac_dtype ac_graph_promote(const ac_value *x, const ac_value *y);
/* Drops nodes that no output needs, and those that change nothing (clones, casts and views to what is there already). Afterwards nodes
 * stand in the order in which the outputs need them, values are numbered by it, and shapes are resolved: sizes that are equal by the
 * guards are one pointer, those pinned by a guard are constants. A graph without outputs is left as it is; one without inputs (a
 * generator graph) keeps its outputs' own nodes, which another graph points to. */
void ac_graph_prune(ac_graph *g);
/* Invariants: topological order, shapes and dtypes re-inferred equal; a message or NULL. */
const char *ac_graph_verify(ac_graph *g);
char *ac_graph_text(ac_arena *a, const ac_graph *g); /* readable dump: inputs, guards, nodes with shapes, outputs */
json_t *ac_graph_to_json(const ac_graph *g);         /* deterministic; caller decrefs */
ac_graph *ac_graph_from_json(ac_arena *a, const json_t *j, ac_diags *d);

/* ---- concrete shapes ------------------------------------------------------------------------------------------------ */

typedef struct {
  int rank;
  int64_t dim[AC_MAX_RANK];
} ac_shape;
/* A copy of the graph for concrete input shapes (one a graph input; parameters may change only if they were symbolic): replays every
 * shape rule, so that ranks may differ from the traced ones where the operations allow it. NULL with a diagnostic (the violated guard and
 * its line) if the guards refuse. `quiet` shapes only: pass a scratch ac_diags. */
ac_graph *ac_graph_respecialise(ac_arena *a, const ac_graph *g, const ac_shape *inputs, ac_diags *d);
ac_shape ac_value_example(const ac_value *v); /* sizes at the example */
int64_t ac_shape_numel(const ac_shape *s);    /* -1 on overflow */

/* ---- reference evaluation in float64 (int64 for integers) --------------------------------------------------------------- */

typedef struct {
  const void *const
      *inputs; /* data of each graph input in its dtype, contiguous; scalars: pointer to double (or int64 for ints) */
  int threads; /* 0: as many as cores */
  uint64_t max_bytes; /* limit for materialised intermediates; 0: 8 GiB. Over it: AC_LIMIT diagnostic */
} ac_ref_opts;
typedef struct ac_ref ac_ref;
/* `g` has concrete shapes (its examples are used). Element-wise chains, views, softmax and norms are streamed: only reductions' results,
 * scans, sorts and scatters are stored. */
ac_ref *ac_ref_new(ac_arena *a, const ac_graph *g, const ac_ref_opts *o, ac_diags *d);
/* Elements [start, start + n) of output `out`, row-major, as doubles / as int64 (integer and bool outputs). False: AC03xx diagnostic. */
bool ac_ref_read(ac_ref *r, int out, int64_t start, int64_t n, double *dst);
bool ac_ref_read_int(ac_ref *r, int out, int64_t start, int64_t n, int64_t *dst);
void ac_ref_free(ac_ref *r);
/* Fills `data` (dtype of the input, contiguous) for graph input `index` by its generator at these concrete shapes, seeded; not PyTorch's
 * random stream. `g` concrete. */
bool ac_gen_input(const ac_graph *g, int index, uint64_t seed, void *data, ac_diags *d);

#endif

/* What the files of graph share among themselves. Not for other modules. */
#ifndef AC_GRAPH_INTERNAL_H
#define AC_GRAPH_INTERNAL_H

#include "graph/graph.h"

#include <string.h>

/* ---- state that no other module sees ---------------------------------------------------------------------------- */

typedef struct {
  const ac_sym *a, *d;
} ac_divides; /* a % d == 0, by a guard */

struct ac_graph_private {
  struct ac_isym **slots; /* hash-consing table of symbolic integers */
  size_t n_slots, n_syms;
  AC_VEC(const ac_sym *) subst; /* a variable -> what an equality guard made of it, or NULL */
  AC_VEC(int64_t) lo;           /* range of each variable, from guards */
  AC_VEC(int64_t) hi;
  AC_VEC(ac_divides) divides;
  AC_VEC(const ac_sym *) diffs; /* a - b of each guard */
  int epoch;                    /* counts facts: what was resolved before is stale */
  bool frozen;                  /* rules are re-run only to compare: guards must be there already */
  int missing;                  /* guards that were not, in frozen mode */
  bool failed;                  /* an overflow or a division by zero in a size since the flag was cleared */
  int depth;                    /* nesting of ac_graph_apply */
  ac_op outer;                  /* the user's operation, for messages */
  ac_loc loc;
};

/* ---- sizes ----------------------------------------------------------------------------------------------------------- */

/* Adds what a guard says to the facts (substitutions, ranges, divisibility). */
void ac_sym_learn(ac_graph *g, ac_guardkind k, const ac_sym *a, const ac_sym *b);
void ac_sym_record(ac_graph *g, ac_guard guard); /* pushes the guard and learns it */
bool ac_sym_contains(const ac_sym *s, int var);
/* Divides both by what every term of both has in common, for a guard a == b. (Where that is 0 the guard without it asks for more than
 * the sizes need: an empty tensor then is refused although its shape would do.) */
void ac_sym_cancel(ac_graph *g, const ac_sym **a, const ac_sym **b);

static inline const ac_sym *s_add(ac_graph *g, const ac_sym *a, const ac_sym *b) {
  return ac_sym_op(g, AC_SYM_ADD, a, b);
}
static inline const ac_sym *s_mul(ac_graph *g, const ac_sym *a, const ac_sym *b) {
  return ac_sym_op(g, AC_SYM_MUL, a, b);
}
static inline const ac_sym *s_addi(ac_graph *g, const ac_sym *a, int64_t b) {
  return s_add(g, a, ac_sym_int(g, b));
}
static inline const ac_sym *s_muli(ac_graph *g, const ac_sym *a, int64_t b) {
  return s_mul(g, a, ac_sym_int(g, b));
}
static inline const ac_sym *s_div(ac_graph *g, const ac_sym *a, const ac_sym *b) {
  return ac_sym_op(g, AC_SYM_FLOORDIV, a, b);
}
static inline bool s_is(const ac_sym *s, int64_t v) {
  return s->kind == AC_SYM_CONST && s->example == v;
}

static inline bool s_eq(const char *a, const char *b) {
  return strcmp(a, b) == 0;
}

/* ---- rules ------------------------------------------------------------------------------------------------------------- */

/* A tensor's type. */
typedef struct {
  ac_dtype dtype;
  bool weak;
  int rank;
  const ac_sym *shape[AC_MAX_RANK];
} ac_type;

/* One application of an operation: arguments complete and of the right kinds. A rule fills `out`; an expansion fills `res`. */
typedef struct {
  ac_graph *g;
  ac_op op;
  const ac_opinfo *info;
  ac_arg *args;
  ac_loc loc;
  ac_type out[3];
  int n_out;
  ac_value **res;
  int n_res;
} ac_rule;

bool ac_rule_infer(ac_rule *r);  /* rules.c: every operation but C_COMP */
bool ac_rule_expand(ac_rule *r); /* composite.c: C_COMP */

/* Fills args (one a parameter) from what the caller gave; false with a diagnostic. */
bool ac_rule_bind(ac_rule *r, const ac_arg *given, int n);
ac_arg ac_default_arg(ac_graph *g, const ac_opparam *p);
/* A new node with the types in r->out. */
ac_value **ac_rule_emit(ac_rule *r);

/* "op: message"; false. The returned diagnostic of ac_rule_error takes help. */
ac_diag *ac_rule_error(ac_rule *r, ac_code code, const char *fmt, ...) AC_PRINTF(3, 4);
bool ac_rule_fail(ac_rule *r, ac_code code, const char *help, const char *fmt, ...) AC_PRINTF(4, 5);
const char *ac_value_text(ac_rule *r, const ac_value *v);             /* "x float32[16, 128]" */
const char *ac_sizes_text(ac_rule *r, int n, const ac_sym *const *s); /* "[16, 128]", sizes at the example */

/* Typed access to arguments (by index in the signature). */
bool ac_rule_int(ac_rule *r, int i, int64_t *v); /* a symbolic value is pinned to its example by a guard */
bool ac_rule_pin(ac_rule *r, const ac_sym *s, const char *what, int64_t *v);
/* Python's dimension of `rank` dimensions (rank 0 counts as 1); false with a diagnostic. */
bool ac_rule_dim(ac_rule *r, int i, int rank, int *dim);
bool ac_rule_dim_of(ac_rule *r, const ac_sym *s, int rank, int *dim);
/* Reduced dimensions of an I*? argument; absent or empty: all. Duplicates are an error. */
bool ac_rule_dims(ac_rule *r, int i, int rank, bool dims[AC_MAX_RANK]);
bool ac_rule_equal(ac_rule *r, const ac_sym *a, const ac_sym *b, const char *reason); /* guard a == b; plain truth */
bool ac_rule_le(ac_rule *r, const ac_sym *a, const ac_sym *b, const char *reason);    /* guard a <= b */

bool ac_rule_broadcast(ac_rule *r, ac_type *acc, const ac_value *v); /* acc's shape with v's */
void ac_rule_set(ac_type *t, ac_dtype d, int rank, const ac_sym *const *shape);
ac_type ac_type_of(const ac_value *v);
const ac_sym *ac_numel(ac_graph *g, int rank, const ac_sym *const *shape);
bool ac_is_float(ac_dtype d);
bool ac_is_integer(ac_dtype d);                     /* not bool */
ac_dtype ac_promote_dtypes(ac_dtype a, ac_dtype b); /* of equal priority; AC_NODTYPE if PyTorch refuses */
ac_dtype ac_promote_values(ac_value *const *v, int n);

/* rules_*.c */
bool ac_rule_view(ac_rule *r);
bool ac_rule_index(ac_rule *r);
bool ac_rule_norm(ac_rule *r);
bool ac_rule_pool(ac_rule *r);
bool ac_rule_new(ac_rule *r);
bool ac_rule_matmul(ac_rule *r);
bool ac_rule_join(ac_rule *r);
bool ac_rule_sort(ac_rule *r);
/* The size that pooling gives along one dimension. NULL with a diagnostic. */
const ac_sym *ac_pool_size(ac_rule *r, const ac_sym *in, int64_t kernel, int64_t stride, int64_t pad,
                           int64_t dilation, bool ceil_mode);
/* Start and length of PyTorch's slice of a dimension. */
bool ac_slice_range(ac_rule *r, const ac_sym *n, const ac_arg *start, const ac_arg *end, int64_t step,
                    const ac_sym **from, const ac_sym **len);

/* ---- for expansions: a NULL operand gives NULL (its diagnostic is out already) ------------------------------------------ */

static inline ac_arg A_T(ac_value *v) {
  return (ac_arg){.kind = AC_K_TENSOR, .t = v};
}
static inline ac_arg A_I(const ac_sym *s) {
  return (ac_arg){.kind = AC_K_INT, .i = s};
}
static inline ac_arg A_B(bool b) {
  return (ac_arg){.kind = AC_K_BOOL, .b = b};
}
static inline ac_arg A_F(double f) {
  return (ac_arg){.kind = AC_K_FLOAT, .f = f};
}
static inline ac_arg A_D(ac_dtype d) {
  return (ac_arg){.kind = AC_K_DTYPE, .d = d};
}
static inline ac_arg A_S(const char *s) {
  return (ac_arg){.kind = AC_K_STR, .s = s};
}
static inline ac_arg A_IS(const ac_sym **is, int n) {
  return (ac_arg){.kind = AC_K_INTS, .is = is, .n = n};
}
static inline ac_arg A_TS(ac_value **ts, int n) {
  return (ac_arg){.kind = AC_K_TENSORS, .ts = ts, .n = n};
}
static inline ac_arg A_NONE(void) {
  return (ac_arg){.absent = true};
}
ac_value **ac_sub_all(ac_rule *r, ac_op op, const ac_arg *args, int n, int *n_out);
ac_value *ac_sub(ac_rule *r, ac_op op, const ac_arg *args, int n); /* first output */
#define AP(r, op, ...) ac_sub((r), (op), (ac_arg[]){__VA_ARGS__}, (int)AC_COUNT(((ac_arg[]){__VA_ARGS__})))
bool ac_rule_give(ac_rule *r, ac_value *v); /* the expansion's only result */
bool ac_rule_give_all(ac_rule *r, ac_value **v, int n);
/* comp_*.c: true when the row is theirs; *ok says how it went. */
bool ac_expand_loss(ac_rule *r, bool *ok);
bool ac_expand_shape(ac_rule *r, bool *ok);
bool ac_expand_new(ac_rule *r, bool *ok);
bool ac_expand_math(ac_rule *r, bool *ok);
bool ac_expand_resize(ac_rule *r, bool *ok);

#endif

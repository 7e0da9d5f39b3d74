/* Shape and dtype rules: dispatch, helpers, element-wise operations, reductions, scans. */
#include "graph/internal.h"

#include <math.h>
#include <string.h>

/* ---- helpers ---- */

ac_type ac_type_of(const ac_value *v) {
  ac_type t = {.dtype = v->dtype, .weak = v->weak, .rank = v->rank};
  if (v->rank) memcpy(t.shape, v->shape, (size_t)v->rank * sizeof *v->shape);
  return t;
}

void ac_rule_set(ac_type *t, ac_dtype d, int rank, const ac_sym *const *shape) {
  t->dtype = d;
  t->weak = false;
  t->rank = rank;
  if (rank) memmove(t->shape, shape, (size_t)rank * sizeof *shape);
}

const ac_sym *ac_numel(ac_graph *g, int rank, const ac_sym *const *shape) {
  const ac_sym *n = ac_sym_int(g, 1);
  for (int i = 0; i < rank; i++) n = s_mul(g, n, shape[i]);
  return n;
}

bool ac_rule_equal(ac_rule *r, const ac_sym *a, const ac_sym *b, const char *reason) {
  if (a == b) return true;
  if (a->example != b->example) return false;
  return ac_sym_guard(r->g, AC_GUARD_EQ, a, b, r->loc, reason);
}

bool ac_rule_le(ac_rule *r, const ac_sym *a, const ac_sym *b, const char *reason) {
  if (a->example > b->example) return false;
  return ac_sym_guard(r->g, AC_GUARD_LE, a, b, r->loc, reason);
}

bool ac_rule_pin(ac_rule *r, const ac_sym *s, const char *what, int64_t *v) {
  if (!ac_sym_is_const(s, v)) {
    *v = s->example;
    ac_sym_guard(r->g, AC_GUARD_EQ, s, ac_sym_int(r->g, *v), r->loc,
                 ac_sprintf(r->g->arena, "%s: `%s` must be known", r->info->id, what));
  }
  return true;
}

bool ac_rule_int(ac_rule *r, int i, int64_t *v) {
  return ac_rule_pin(r, r->args[i].i, r->info->params[i].name, v);
}

bool ac_rule_dim_of(ac_rule *r, const ac_sym *s, int rank, int *dim) {
  int64_t d;
  if (!ac_rule_pin(r, s, "dim", &d)) return false;
  *dim = ac_dim_index(d, rank);
  if (*dim >= 0) return true;
  int n = rank ? rank : 1;
  return ac_rule_fail(r, AC0302, ac_sprintf(r->g->arena, "use %d to %d", -n, n - 1),
                      "dimension %lld is out of range: the tensor has %d dimension%s", (long long)d, rank,
                      rank == 1 ? "" : "s");
}

bool ac_rule_dim(ac_rule *r, int i, int rank, int *dim) {
  return ac_rule_dim_of(r, r->args[i].i, rank, dim);
}

bool ac_rule_dims(ac_rule *r, int i, int rank, bool dims[AC_MAX_RANK]) {
  const ac_arg *a = &r->args[i];
  bool all = a->absent || (a->kind == AC_K_INTS && !a->n);
  for (int k = 0; k < AC_MAX_RANK; k++) dims[k] = all && k < rank;
  if (all) return true;
  int n = a->kind == AC_K_INTS ? a->n : 1;
  for (int k = 0; k < n; k++) {
    int d;
    if (!ac_rule_dim_of(r, a->kind == AC_K_INTS ? a->is[k] : a->i, rank, &d)) return false;
    if (d < rank && dims[d])
      return ac_rule_fail(r, AC0304, "name every dimension once", "dimension %d appears twice in `dim`", d);
    dims[d] = d < rank;
  }
  return true;
}

/* ---- broadcasting ---- */

/* One dimension of two that meet. NULL: they do not fit. Guards: a size that is 1 at the example stays 1; two sizes that are
 * equal at the example stay equal. */
static const ac_sym *meet(ac_rule *r, const ac_sym *a, const ac_sym *b, int from_end) {
  ac_graph *g = r->g;
  if (a == b || s_is(b, 1)) return a;
  if (s_is(a, 1)) return b;
  if (ac_sym_equal(g, a, b)) return a->kind == AC_SYM_CONST ? a : b->kind == AC_SYM_CONST ? b : a;
  const char *why = ac_sprintf(g->arena, "%s: broadcast of dimension %d", r->info->id, -1 - from_end);
  if (a->example == b->example) {
    ac_sym_guard(g, AC_GUARD_EQ, a, b, r->loc, why);
    return b->kind == AC_SYM_CONST ? b : a;
  }
  const ac_sym *one = a->example == 1 ? a : b->example == 1 ? b : NULL;
  if (!one) return NULL;
  ac_sym_guard(g, AC_GUARD_EQ, one, ac_sym_int(g, 1), r->loc, why);
  return one == a ? b : a;
}

bool ac_rule_broadcast(ac_rule *r, ac_type *acc, const ac_value *v) {
  int rank = acc->rank > v->rank ? acc->rank : v->rank;
  const ac_sym *out[AC_MAX_RANK];
  for (int i = 0; i < rank; i++) {
    int x = acc->rank - 1 - i, y = v->rank - 1 - i;
    const ac_sym *a = x >= 0 ? acc->shape[x] : NULL, *b = y >= 0 ? v->shape[y] : NULL;
    out[rank - 1 - i] = a && b ? meet(r, a, b, i) : a ? a : b;
    if (out[rank - 1 - i] || !a || !b) continue;
    return ac_rule_fail(r, AC0301,
                        "sizes must be equal, or one of them 1; align them with unsqueeze, reshape or transpose",
                        "shapes %s and %s do not broadcast: dimension %d is %lld against %lld",
                        ac_sizes_text(r, acc->rank, acc->shape), ac_value_text(r, v), -1 - i, (long long)a->example,
                        (long long)b->example);
  }
  acc->rank = rank;
  memcpy(acc->shape, out, (size_t)rank * sizeof *out);
  return true;
}

/* ---- dtype classes of element-wise operations ---- */

typedef enum {
  D_NONE,
  D_SAME,      /* any dtype, kept */
  D_NUMBER,    /* not bool; kept */
  D_SQUARE,    /* kept, bool becomes int64 */
  D_FLOAT,     /* integers and bool become float32 */
  D_FLOAT_NB,  /* as D_FLOAT, bool refused */
  D_FLOATONLY, /* floating only */
  D_TEST,      /* bool result */
  D_BITS,      /* integers and bool */
  D_INTS,      /* integers */
  D_NO_BOOLS,  /* numbers; two bools refused */
  D_ANY_BOOL,  /* numbers; any bool operand refused */
  D_DIV,       /* as `rounding_mode` says */
  D_POW,
} dclass;

/* Which dtypes an operation takes is PyTorch's (1.13 and 2.x agree on these; half types count as floating on every device,
 * although old CPU builds lack some). */
static const unsigned char dclasses[AC_OP_COUNT] = {
    [AC_G_NEG] = D_NUMBER,
    [AC_G_ABS] = D_NUMBER,
    [AC_G_SIGN] = D_SAME,
    [AC_G_EXP] = D_FLOAT,
    [AC_G_EXP2] = D_FLOAT,
    [AC_G_EXPM1] = D_FLOAT,
    [AC_G_LOG] = D_FLOAT,
    [AC_G_LOG2] = D_FLOAT,
    [AC_G_LOG10] = D_FLOAT,
    [AC_G_LOG1P] = D_FLOAT,
    [AC_G_SQRT] = D_FLOAT,
    [AC_G_RSQRT] = D_FLOAT,
    [AC_G_RECIPROCAL] = D_FLOAT,
    [AC_G_SQUARE] = D_SQUARE,
    [AC_G_SIN] = D_FLOAT,
    [AC_G_COS] = D_FLOAT,
    [AC_G_TAN] = D_FLOAT,
    [AC_G_ASIN] = D_FLOAT,
    [AC_G_ACOS] = D_FLOAT,
    [AC_G_ATAN] = D_FLOAT,
    [AC_G_SINH] = D_FLOAT,
    [AC_G_COSH] = D_FLOAT,
    [AC_G_TANH] = D_FLOAT,
    [AC_G_ASINH] = D_FLOAT,
    [AC_G_ACOSH] = D_FLOAT,
    [AC_G_ATANH] = D_FLOAT,
    [AC_G_ERF] = D_FLOAT,
    [AC_G_ERFC] = D_FLOAT,
    [AC_G_SIGMOID] = D_FLOAT,
    [AC_G_FLOOR] = D_NUMBER,
    [AC_G_CEIL] = D_NUMBER,
    [AC_G_ROUND] = D_NUMBER,
    [AC_G_TRUNC] = D_NUMBER,
    [AC_G_FRAC] = D_FLOATONLY,
    [AC_G_LOGICAL_NOT] = D_TEST,
    [AC_G_BITWISE_NOT] = D_BITS,
    [AC_G_ISNAN] = D_TEST,
    [AC_G_ISINF] = D_TEST,
    [AC_G_ISFINITE] = D_TEST,
    [AC_G_CLONE] = D_SAME,
    [AC_G_NAN_TO_NUM] = D_SAME,
    [AC_G_RELU] = D_NUMBER,
    [AC_G_RELU6] = D_NUMBER,
    [AC_G_LEAKY_RELU] = D_FLOATONLY,
    [AC_G_ELU] = D_FLOATONLY,
    [AC_G_CELU] = D_FLOATONLY,
    [AC_G_SELU] = D_FLOATONLY,
    [AC_G_GELU] = D_FLOATONLY,
    [AC_G_SILU] = D_FLOATONLY,
    [AC_G_MISH] = D_FLOATONLY,
    [AC_G_SOFTPLUS] = D_FLOATONLY,
    [AC_G_SOFTSIGN] = D_FLOAT_NB,
    [AC_G_TANHSHRINK] = D_FLOAT_NB,
    [AC_G_SOFTSHRINK] = D_FLOATONLY,
    [AC_G_HARDSHRINK] = D_FLOATONLY,
    [AC_G_HARDTANH] = D_NUMBER,
    [AC_G_HARDSIGMOID] = D_FLOATONLY,
    [AC_G_HARDSWISH] = D_FLOATONLY,
    [AC_G_LOGSIGMOID] = D_FLOATONLY,
    [AC_G_THRESHOLD] = D_NUMBER,
    [AC_G_ADD] = D_SAME,
    [AC_G_SUB] = D_ANY_BOOL,
    [AC_G_MUL] = D_SAME,
    [AC_G_DIV] = D_DIV,
    [AC_G_FLOOR_DIVIDE] = D_NO_BOOLS,
    [AC_G_REMAINDER] = D_NO_BOOLS,
    [AC_G_FMOD] = D_NO_BOOLS,
    [AC_G_POW] = D_POW,
    [AC_G_MAXIMUM] = D_SAME,
    [AC_G_MINIMUM] = D_SAME,
    [AC_G_FMAX] = D_SAME,
    [AC_G_FMIN] = D_SAME,
    [AC_G_ATAN2] = D_FLOAT,
    [AC_G_HYPOT] = D_FLOATONLY,
    [AC_G_XLOGY] = D_FLOAT,
    [AC_G_LOGADDEXP] = D_FLOATONLY,
    [AC_G_COPYSIGN] = D_FLOAT,
    [AC_G_EQ] = D_TEST,
    [AC_G_NE] = D_TEST,
    [AC_G_LT] = D_TEST,
    [AC_G_LE] = D_TEST,
    [AC_G_GT] = D_TEST,
    [AC_G_GE] = D_TEST,
    [AC_G_LOGICAL_AND] = D_TEST,
    [AC_G_LOGICAL_OR] = D_TEST,
    [AC_G_LOGICAL_XOR] = D_TEST,
    [AC_G_BITWISE_AND] = D_BITS,
    [AC_G_BITWISE_OR] = D_BITS,
    [AC_G_BITWISE_XOR] = D_BITS,
    [AC_G_LSHIFT] = D_INTS,
    [AC_G_RSHIFT] = D_INTS,
};

static bool refuse_dtype(ac_rule *r, ac_dtype d, const char *takes, const char *help) {
  return ac_rule_fail(r, AC0303, help, "does not take %s tensors, only %s", ac_dtypes[d].name, takes);
}

/* pow: integers to a negative constant power have no integer result. */
static bool check_pow(ac_rule *r, ac_dtype d) {
  const ac_value *e = r->args[1].t;
  if (d == AC_BOOL) return refuse_dtype(r, d, "numbers", "convert with .int() or .float() first");
  if (!ac_is_integer(d) || !e->weak || !e->def || e->def->op != AC_G_CONST || e->def->args[0].f >= 0) return true;
  return ac_rule_fail(r, AC0303, "convert the base with .float() first",
                      "an integer tensor cannot be raised to the negative power %g", e->def->args[0].f);
}

/* The result's dtype for operands that promote to d. */
static bool result_dtype(ac_rule *r, dclass c, ac_dtype d, bool any_bool, bool all_bool, ac_dtype *out) {
  const char *to_float = "convert with .float() first", *to_int = "convert with .int() first";
  bool f = ac_is_float(d);
  *out = d;
  switch (c) {
  case D_SAME: return true;
  case D_NUMBER: return d != AC_BOOL || refuse_dtype(r, d, "numbers", to_int);
  case D_SQUARE:
    if (d == AC_BOOL) *out = AC_I64;
    return true;
  case D_FLOAT_NB:
    if (d == AC_BOOL) return refuse_dtype(r, d, "numbers", to_float);
    *out = f ? d : AC_F32;
    return true;
  case D_FLOAT: *out = f ? d : AC_F32; return true;
  case D_FLOATONLY: return f || refuse_dtype(r, d, "floating ones", to_float);
  case D_TEST: *out = AC_BOOL; return true;
  case D_BITS: return !f || refuse_dtype(r, d, "integers and bools", to_int);
  case D_INTS: return ac_is_integer(d) || refuse_dtype(r, d, "integers", to_int);
  case D_NO_BOOLS: return !all_bool || refuse_dtype(r, AC_BOOL, "numbers", to_int);
  case D_ANY_BOOL:
    return !any_bool || refuse_dtype(r, AC_BOOL, "numbers", "use logical_xor, or convert with .int() first");
  case D_DIV:
    if (!r->args[2].absent) {
      if (!s_eq(r->args[2].s, "floor") && !s_eq(r->args[2].s, "trunc"))
        return ac_rule_fail(r, AC0304, "use None, 'floor' or 'trunc'", "rounding_mode '%s' is unknown", r->args[2].s);
      return !all_bool || refuse_dtype(r, AC_BOOL, "numbers", to_int);
    }
    *out = f ? d : AC_F32;
    return true;
  case D_POW: return check_pow(r, d);
  case D_NONE: break;
  }
  return false;
}

static int tensor_args(const ac_rule *r, ac_value **v) {
  int n = 0;
  for (int i = 0; i < r->info->n_params; i++)
    if (r->args[i].kind == AC_K_TENSOR && !r->args[i].absent) v[n++] = r->args[i].t;
  return n;
}

static bool check_attrs(ac_rule *r) {
  if (r->op == AC_G_GELU && !s_eq(r->args[1].s, "none") && !s_eq(r->args[1].s, "tanh"))
    return ac_rule_fail(r, AC0304, "use 'none' or 'tanh'", "approximate='%s' is unknown", r->args[1].s);
  if (r->op == AC_G_HARDTANH && r->args[1].f > r->args[2].f)
    return ac_rule_fail(r, AC0304, "swap the bounds", "min_val %g is above max_val %g", r->args[1].f, r->args[2].f);
  bool alpha = r->op == AC_G_ADD || r->op == AC_G_SUB;
  if (alpha && !r->args[2].is_int && !ac_is_float(r->out[0].dtype))
    return ac_rule_fail(r, AC0303, "convert the tensors with .float() first",
                        "a floating alpha cannot scale %s tensors", ac_dtypes[r->out[0].dtype].name);
  return true;
}

static bool elementwise(ac_rule *r) {
  ac_value *v[4] = {NULL};
  int n = tensor_args(r, v);
  if (!n) return false; /* every row has a tensor */
  ac_type *o = &r->out[0];
  bool where = r->op == AC_G_WHERE, weak = true, any_bool = false, all_bool = true;
  *o = ac_type_of(v[0]);
  for (int i = 1; i < n; i++)
    if (!ac_rule_broadcast(r, o, v[i])) return false;
  for (int i = where; i < n; i++) {
    weak &= v[i]->weak;
    any_bool |= v[i]->dtype == AC_BOOL;
    all_bool &= v[i]->dtype == AC_BOOL;
  }
  if (where && v[0]->dtype != AC_BOOL && v[0]->dtype != AC_U8) /* uint8 masks: deprecated, still taken */
    return ac_rule_fail(r, AC0303, "compare it with something, as in (x != 0)", "the condition must be bool, got %s",
                        ac_value_text(r, v[0]));
  ac_dtype d = ac_promote_values(v + where, n - where);
  if (d == AC_NODTYPE)
    return ac_rule_fail(r, AC0303, "convert one of them first", "%s and %s do not promote to a common dtype",
                        ac_value_text(r, v[where]), ac_value_text(r, v[where + 1]));
  o->weak = weak && !where;
  /* where() of two numbers makes a tensor: float32, int64 or bool */
  r->n_out = 1;
  if (r->op == AC_G_CAST) {
    o->dtype = r->args[1].d;
    o->weak = false;
    return true;
  }
  if (where) {
    o->dtype = d;
    return true;
  }
  return result_dtype(r, (dclass)dclasses[r->op], d, any_bool, all_bool, &o->dtype) && check_attrs(r);
}

/* ---- reductions ---- */

static void reduce_shape(ac_rule *r, const ac_value *x, const bool *dims, bool keep, ac_type *o) {
  o->rank = 0;
  for (int i = 0; i < x->rank; i++)
    if (!dims[i] || keep) o->shape[o->rank++] = dims[i] ? ac_sym_int(r->g, 1) : x->shape[i];
}

/* amax and kin have no value for an empty set. */
static bool not_empty(ac_rule *r, const ac_value *x, const bool *dims) {
  for (int i = 0; i < x->rank; i++)
    if (dims[i] && !ac_rule_le(r, ac_sym_int(r->g, 1), x->shape[i],
                               ac_sprintf(r->g->arena, "%s: dimension %d must not be empty", r->info->id, i)))
      return ac_rule_fail(r, AC0309, "there is no value for an empty set; give the tensor at least one element there",
                          "dimension %d of %s is empty", i, ac_value_text(r, x));
  return true;
}

static bool param(const ac_rule *r, const char *name, int *at) {
  for (int i = 0; i < r->info->n_params; i++)
    if (s_eq(r->info->params[i].name, name)) {
      *at = i;
      return true;
    }
  return false;
}

static bool flag(const ac_rule *r, const char *name) {
  int at;
  return param(r, name, &at) && !r->args[at].absent && r->args[at].b;
}

/* Result dtype of a reduction; `dtype=` casts first. */
static bool reduce_dtype(ac_rule *r, ac_dtype d, ac_dtype *out) {
  int at;
  bool given = param(r, "dtype", &at) && !r->args[at].absent;
  if (given) d = r->args[at].d;
  *out = d;
  switch (r->op) {
  case AC_G_SUM:
  case AC_G_PROD:
  case AC_G_CUMSUM:
  case AC_G_CUMPROD:
    if (!given && !ac_is_float(d)) *out = AC_I64;
    return true;
  case AC_G_ALL:
  case AC_G_ANY: *out = d == AC_U8 ? AC_U8 : AC_BOOL; return true; /* uint8 stays uint8, for history's sake */
  case AC_G_ARGMAX:
  case AC_G_ARGMIN: *out = AC_I64; return d != AC_BOOL || refuse_dtype(r, d, "numbers", "convert with .int() first");
  case AC_G_COUNT_NONZERO: *out = AC_I64; return true;
  case AC_G_LOGSUMEXP: /* integers: from 2.0 on (1.13 refuses them) */
    if (!ac_is_float(d)) *out = AC_F32;
    return true;
  case AC_G_AMAX:
  case AC_G_AMIN:
  case AC_G_CUMMAX:
  case AC_G_CUMMIN: return true;
  default:
    return ac_is_float(d) || refuse_dtype(r, d, "floating ones",
                                          "convert with .float(), or pass dtype=torch.float32 where it is taken");
  }
}

static bool reduction(ac_rule *r) {
  const ac_value *x = r->args[0].t;
  ac_type *o = &r->out[0];
  bool dims[AC_MAX_RANK];
  int at;
  if (!param(r, "dim", &at) || !ac_rule_dims(r, at, x->rank, dims) || !reduce_dtype(r, x->dtype, &o->dtype))
    return false;
  bool extreme = r->op == AC_G_AMAX || r->op == AC_G_AMIN || r->op == AC_G_ARGMAX || r->op == AC_G_ARGMIN;
  if (extreme && !not_empty(r, x, dims)) return false;
  if (r->op == AC_G_NORM && (isinf(r->args[1].f) || r->args[1].f < 0) && !not_empty(r, x, dims)) return false;
  reduce_shape(r, x, dims, flag(r, "keepdim"), o);
  r->n_out = 1;
  return true;
}

static bool scan(ac_rule *r) {
  const ac_value *x = r->args[0].t;
  int dim;
  if (!ac_rule_dim(r, 1, x->rank, &dim)) return false;
  r->out[0] = ac_type_of(x);
  r->out[0].weak = false;
  if (!reduce_dtype(r, x->dtype, &r->out[0].dtype)) return false;
  r->n_out = 1;
  if (r->op == AC_G_CUMMAX || r->op == AC_G_CUMMIN) {
    r->out[1] = r->out[0];
    r->out[1].dtype = AC_I64;
    r->n_out = 2;
  }
  return true;
}

/* softmax(x) without dim: 0 for 0, 1 and 3 dimensions, else 1 (deprecated in PyTorch, and still so). The node records what was chosen. */
static bool softmax(ac_rule *r) {
  const ac_value *x = r->args[0].t;
  int dim;
  if (r->args[1].absent) r->args[1] = A_I(ac_sym_int(r->g, x->rank <= 1 || x->rank == 3 ? 0 : 1));
  if (!ac_rule_dim(r, 1, x->rank, &dim)) return false;
  r->out[0] = ac_type_of(x);
  r->out[0].weak = false;
  if (!r->args[3].absent) r->out[0].dtype = r->args[3].d;
  r->n_out = 1;
  return ac_is_float(r->out[0].dtype) ||
         refuse_dtype(r, r->out[0].dtype, "floating ones", "convert with .float(), or pass dtype=torch.float32");
}

/* ---- leaves ---- */

static bool count_numbers(const char *s, int64_t *n) {
  *n = 0;
  while (*s) {
    while (*s == ' ') s++;
    if (*s) ++*n;
    while (*s && *s != ' ') s++;
  }
  return true;
}

static bool leaf(ac_rule *r) {
  ac_type *o = &r->out[0];
  r->n_out = 1;
  const ac_arg *a = &r->args[0];
  switch (r->op) {
  case AC_G_CONST:
    o->dtype = a->is_bool ? AC_BOOL : a->is_int ? AC_I64 : AC_F32;
    o->weak = true;
    return true;
  case AC_G_SIZE:
    o->dtype = AC_I64;
    o->weak = true;
    return true;
  case AC_G_TENSOR: {
    int64_t have, want;
    if (r->args[1].n > AC_MAX_RANK) break;
    ac_rule_set(o, r->args[2].d, r->args[1].n, r->args[1].is);
    count_numbers(a->s, &have);
    if (ac_sym_is_const(ac_numel(r->g, o->rank, o->shape), &want) && want == have) return true;
    return ac_rule_fail(r, AC0304, NULL, "a literal of shape %s has %lld numbers",
                        ac_sizes_text(r, o->rank, o->shape), (long long)have);
  }
  default: break;
  }
  return ac_rule_fail(r, AC0304, "declare inputs with the graph's own function", "cannot be applied");
}

bool ac_rule_infer(ac_rule *r) {
  switch (r->info->cls) {
  case C_LEAF: return leaf(r);
  case C_ELT: return elementwise(r);
  case C_RED: return reduction(r);
  case C_SCAN: return scan(r);
  case C_ROW: return softmax(r);
  case C_NORM: return ac_rule_norm(r);
  case C_POOL: return ac_rule_pool(r);
  case C_VIEW: return ac_rule_view(r);
  case C_INDEX: return ac_rule_index(r);
  case C_JOIN: return ac_rule_join(r);
  case C_SORT: return ac_rule_sort(r);
  case C_NEW: return ac_rule_new(r);
  case C_MATMUL: return ac_rule_matmul(r);
  case C_COMP: break;
  }
  return false;
}

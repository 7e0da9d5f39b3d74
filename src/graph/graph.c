/* Building graphs: inputs, numbers, binding of arguments, nodes, pruning. */
#include "graph/internal.h"

#include <math.h>
#include <string.h>

ac_graph *ac_graph_new(ac_arena *a, ac_diags *d) {
  ac_graph *g = AC_NEW(a, ac_graph);
  g->arena = a;
  g->diags = d;
  g->priv = AC_NEW(a, struct ac_graph_private);
  return g;
}

static ac_value *new_value(ac_graph *g, const ac_type *t, ac_node *def, int out) {
  ac_value *v = AC_NEW(g->arena, ac_value);
  v->id = (int)g->values.len;
  v->dtype = t->dtype;
  v->weak = t->weak;
  v->rank = t->rank;
  v->shape = AC_NEW_N(g->arena, const ac_sym *, t->rank);
  if (t->rank) memcpy(v->shape, t->shape, (size_t)t->rank * sizeof *v->shape);
  v->def = def;
  v->out = out;
  ac_push(g->arena, &g->values, v);
  return v;
}

static ac_node *new_node(ac_graph *g, ac_op op, const ac_arg *args, int n, ac_loc loc) {
  ac_node *x = AC_NEW(g->arena, ac_node);
  x->op = op;
  x->n_args = n;
  x->args = AC_NEW_N(g->arena, ac_arg, n);
  if (n) memcpy(x->args, args, (size_t)n * sizeof *args);
  x->loc = loc;
  ac_push(g->arena, &g->nodes, x);
  return x;
}

static ac_value *leaf(ac_graph *g, ac_op op, ac_arg arg, const ac_type *t) {
  ac_node *x = new_node(g, op, &arg, 1, AC_NOLOC);
  x->outs = AC_NEW_N(g->arena, ac_value *, 1);
  x->n_outs = 1;
  return x->outs[0] = new_value(g, t, x, 0);
}

ac_value *ac_graph_input(ac_graph *g, const char *name, ac_inrole role, ac_dtype dtype, int rank,
                         const int64_t *sizes, const bool *fixed) {
  ac_type t = {.dtype = dtype, .weak = role == AC_IN_SCALAR, .rank = rank};
  int index = (int)g->inputs.len;
  if (rank > AC_MAX_RANK) {
    ac_diag *x =
        ac_error(g->diags, AC0307, AC_NOLOC, "input %s has %d dimensions; %d are supported", name, rank, AC_MAX_RANK);
    ac_help(g->diags, x, "merge dimensions with reshape before they come in");
    t.rank = AC_MAX_RANK;
  }
  int64_t numel = 1;
  for (int i = 0; i < t.rank; i++) {
    if (sizes[i] && __builtin_mul_overflow(numel, sizes[i], &numel)) {
      ac_diag *x = ac_error(g->diags, AC0306, AC_NOLOC, "input %s: the number of elements overflows 64 bits", name);
      ac_help(g->diags, x, "element counts and offsets are 64-bit; use a smaller shape");
      numel = 1;
    }
    t.shape[i] = fixed && fixed[i] ? ac_sym_int(g, sizes[i]) : ac_sym_fresh(g, sizes[i], index, i);
  }
  ac_value *v = leaf(g, AC_G_INPUT, A_I(ac_sym_int(g, index)), &t);
  v->name = ac_strdup(g->arena, name);
  ac_input in = {.name = v->name, .role = role, .value = v};
  ac_push(g->arena, &g->inputs, in);
  return v;
}

void ac_graph_output(ac_graph *g, const char *name, ac_value *v, int updates) {
  ac_output o = {ac_strdup(g->arena, name), v, updates};
  ac_push(g->arena, &g->outputs, o);
}

ac_value *ac_graph_number(ac_graph *g, double v) {
  const ac_type t = {.dtype = AC_F32, .weak = true};
  return leaf(g, AC_G_CONST, (ac_arg){.kind = AC_K_SCALAR, .f = v}, &t);
}

ac_value *ac_graph_integer(ac_graph *g, const ac_sym *v) {
  const ac_type t = {.dtype = AC_I64, .weak = true};
  if (v->kind != AC_SYM_CONST) return leaf(g, AC_G_SIZE, A_I(v), &t);
  return leaf(g, AC_G_CONST, (ac_arg){.kind = AC_K_SCALAR, .i = v, .is_int = true, .f = (double)v->example}, &t);
}

ac_value *ac_graph_boolean(ac_graph *g, bool v) {
  const ac_type t = {.dtype = AC_BOOL, .weak = true};
  return leaf(g, AC_G_CONST,
              (ac_arg){.kind = AC_K_SCALAR, .i = ac_sym_int(g, v), .is_int = true, .is_bool = true, .f = v}, &t);
}

/* ---- messages ---- */

ac_diag *ac_rule_error(ac_rule *r, ac_code code, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = ac_vsprintf(r->g->arena, fmt, ap);
  va_end(ap);
  const char *outer = ac_op_info(r->g->priv->outer)->id;
  if (r->g->priv->outer == r->op) return ac_error(r->g->diags, code, r->loc, "%s: %s", outer, text);
  return ac_error(r->g->diags, code, r->loc, "%s (its %s): %s", outer, r->info->id, text);
}

bool ac_rule_fail(ac_rule *r, ac_code code, const char *help, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = ac_vsprintf(r->g->arena, fmt, ap);
  va_end(ap);
  ac_diag *x = ac_rule_error(r, code, "%s", text);
  if (help) ac_help(r->g->diags, x, "%s", help);
  return false;
}

const char *ac_sizes_text(ac_rule *r, int n, const ac_sym *const *s) {
  ac_buf b;
  ac_buf_init(&b, r->g->arena);
  ac_puts(&b, "[");
  for (int i = 0; i < n; i++) ac_printf(&b, "%s%lld", i ? ", " : "", (long long)s[i]->example);
  ac_puts(&b, "]");
  return b.data;
}

const char *ac_value_text(ac_rule *r, const ac_value *v) {
  if (v->weak)
    return ac_sprintf(r->g->arena, "a Python %s",
                      v->dtype == AC_BOOL     ? "bool"
                      : ac_is_float(v->dtype) ? "float"
                                              : "int");
  return ac_sprintf(r->g->arena, "%s%s%s%s", v->name ? v->name : "", v->name ? " " : "", ac_dtypes[v->dtype].name,
                    ac_sizes_text(r, v->rank, v->shape));
}

/* ---- binding ---- */

static bool is_scalar_kind(ac_kind k) {
  return k == AC_K_SCALAR || k == AC_K_INT || k == AC_K_FLOAT || k == AC_K_BOOL;
}

static const char *kind_text(const ac_arg *a) {
  static const char *const text[] = {[AC_K_TENSOR] = "a tensor",     [AC_K_TENSORS] = "a list of tensors",
                                     [AC_K_SCALAR] = "a number",     [AC_K_INT] = "an int",
                                     [AC_K_INTS] = "a list of ints", [AC_K_FLOAT] = "a float",
                                     [AC_K_BOOL] = "a bool",         [AC_K_STR] = "a string",
                                     [AC_K_DTYPE] = "a dtype"};
  return text[a->kind];
}

/* A number as SCALAR: floats have f; ints and bools have i and f. */
static ac_arg to_scalar(ac_graph *g, ac_arg a) {
  ac_arg s = {.kind = AC_K_SCALAR, .f = a.f, .i = a.i, .is_int = a.is_int, .is_bool = a.is_bool};
  if (a.kind == AC_K_INT) s.is_int = true;
  if (a.kind == AC_K_BOOL) {
    s.is_int = s.is_bool = true;
    s.i = ac_sym_int(g, a.b);
  }
  if (s.is_int && !s.i) s.i = ac_sym_int(g, fabs(s.f) < 0x1p63 ? (int64_t)s.f : 0);
  if (s.is_int) s.f = (double)s.i->example;
  return s;
}

static ac_value *to_tensor(ac_graph *g, ac_arg a) {
  a = to_scalar(g, a);
  return a.is_bool ? ac_graph_boolean(g, a.f != 0) : a.is_int ? ac_graph_integer(g, a.i) : ac_graph_number(g, a.f);
}

/* The value of a weak constant as an int, where a number came in as a tensor. */
static bool const_int_value(const ac_value *v, const ac_sym **s) {
  if (!v->weak || !v->def || (v->def->op != AC_G_CONST && v->def->op != AC_G_SIZE)) return false;
  const ac_arg *a = &v->def->args[0];
  if (a->kind == AC_K_SCALAR && !a->is_int) return false;
  *s = a->i;
  return true;
}

/* `a` as the parameter's kind; false when it cannot be. */
static bool convert(ac_rule *r, const ac_opparam *p, ac_arg *a) {
  ac_graph *g = r->g;
  const ac_sym *s;
  if (a->kind == AC_K_TENSOR && p->kind == AC_K_INT && const_int_value(a->t, &s)) *a = A_I(s);
  if (a->kind == p->kind) return true;
  switch (p->kind) {
  case AC_K_TENSOR:
    if (!is_scalar_kind(a->kind)) return false;
    a->t = to_tensor(g, *a);
    break;
  case AC_K_TENSORS:
    if (a->kind != AC_K_TENSOR) return false;
    a->ts = AC_NEW_N(g->arena, ac_value *, 1);
    a->ts[0] = a->t;
    a->n = 1;
    break;
  case AC_K_SCALAR:
    if (a->kind == AC_K_STR)
      return r->op == AC_G_TORCH_NORM || r->op == AC_G_LINALG_NORM; /* 'fro': the expansion looks at it */
    if (!is_scalar_kind(a->kind)) return false;
    *a = to_scalar(g, *a);
    break;
  case AC_K_INT:
  case AC_K_INTS: {
    if (!is_scalar_kind(a->kind)) return false;
    ac_arg n = to_scalar(g, *a);
    if (!n.is_int) return false;
    a->i = n.i;
    a->is_int = true; /* INTS: one int was given */
    if (p->kind == AC_K_INT) break;
    a->is = AC_NEW_N(g->arena, const ac_sym *, 1);
    a->is[0] = n.i;
    a->n = 1;
    break;
  }
  case AC_K_FLOAT: {
    if (!is_scalar_kind(a->kind)) return false;
    ac_arg n = to_scalar(g, *a);
    int64_t v;
    if (n.is_int && !ac_rule_pin(r, n.i, p->name, &v)) return false;
    a->f = n.f;
    break;
  }
  case AC_K_BOOL: {
    if (!is_scalar_kind(a->kind)) return false;
    ac_arg n = to_scalar(g, *a);
    a->b = n.f != 0;
    break;
  }
  default: return false;
  }
  a->kind = p->kind;
  return true;
}

/* var(x, False): the second positional argument is `unbiased` when it is a bool. */
static int shift_bool(ac_rule *r, const ac_arg *given, int n, ac_arg *moved) {
  bool var = r->op == AC_G_VAR || r->op == AC_G_STD || r->op == AC_G_VAR_MEAN;
  if (!var || n < 2 || n >= r->info->n_params || given[1].kind != AC_K_BOOL || given[1].absent) return 0;
  moved[0] = given[0];
  moved[1] = A_NONE();
  for (int i = 1; i < n; i++) moved[i + 1] = given[i];
  return n + 1;
}

bool ac_rule_bind(ac_rule *r, const ac_arg *given, int n) {
  const ac_opinfo *o = r->info;
  ac_arg *moved = AC_NEW_N(r->g->arena, ac_arg, n + 1);
  int m = shift_bool(r, given, n, moved);
  if (m) {
    given = moved;
    n = m;
  }
  if (n > o->n_params)
    return ac_rule_fail(r, AC0304, NULL, "takes %d argument%s, got %d", o->n_params, o->n_params == 1 ? "" : "s", n);
  r->args = AC_NEW_N(r->g->arena, ac_arg, o->n_params);
  for (int i = 0; i < o->n_params; i++) {
    const ac_opparam *p = &o->params[i];
    ac_arg a = i < n ? given[i] : ac_default_arg(r->g, p);
    if (a.kind == AC_K_TENSOR && !a.t) a.absent = true;
    if (i >= n && !p->has_default && !p->optional)
      return ac_rule_fail(r, AC0304, "pass it by position or by name", "argument `%s` is missing", p->name);
    if (a.absent) {
      if (!p->optional && !(p->default_text && s_eq(p->default_text, "None"))) {
        if (!p->has_default)
          return ac_rule_fail(r, AC0304, "pass a value", "argument `%s` must not be None", p->name);
        a = ac_default_arg(r->g, p); /* stride=None and kin: as if it had not been given */
      } else {
        a.kind = p->kind;
        a.t = NULL;
      }
    }
    if (!a.absent && !convert(r, p, &a)) {
      ac_arg want = {.kind = p->kind};
      return ac_rule_fail(r, AC0304, NULL, "argument `%s` must be %s, got %s", p->name, kind_text(&want),
                          kind_text(&a));
    }
    r->args[i] = a;
  }
  return true;
}

/* ---- applying ---- */

ac_value **ac_rule_emit(ac_rule *r) {
  ac_graph *g = r->g;
  for (int k = 0; k < r->n_out; k++) {
    int64_t n = 1;
    for (int i = 0; i < r->out[k].rank; i++) {
      int64_t s = r->out[k].shape[i]->example;
      if (s < 0) {
        ac_rule_fail(r, AC0304, "sizes must not be negative", "dimension %d of the result would be %lld", i,
                     (long long)s);
        return NULL;
      }
      if (s && __builtin_mul_overflow(n, s, &n)) {
        ac_rule_fail(r, AC0306, "element counts and offsets are 64-bit; use a smaller shape",
                     "a result of shape %s has more than 2^63 elements",
                     ac_sizes_text(r, r->out[k].rank, r->out[k].shape));
        return NULL;
      }
    }
  }
  ac_node *x = new_node(g, r->op, r->args, r->info->n_params, r->loc);
  x->n_outs = r->n_out;
  x->outs = AC_NEW_N(g->arena, ac_value *, r->n_out);
  for (int k = 0; k < r->n_out; k++) x->outs[k] = new_value(g, &r->out[k], x, k);
  return x->outs;
}

ac_value **ac_graph_apply(ac_graph *g, ac_op op, const ac_arg *args, int n_args, ac_loc loc, int *n_out) {
  struct ac_graph_private *pr = g->priv;
  ac_rule r = {.g = g, .op = op, .info = ac_op_info(op), .loc = loc};
  if (!pr->depth++) {
    pr->outer = op;
    pr->loc = loc;
    pr->failed = false;
  }
  ac_value **outs = NULL;
  bool ok = ac_rule_bind(&r, args, n_args);
  if (ok && r.info->cls == C_COMP) {
    ok = ac_rule_expand(&r) && !pr->failed;
    outs = ok ? r.res : NULL;
    if (n_out) *n_out = ok ? r.n_res : 0;
  } else if (ok) {
    ok = ac_rule_infer(&r) && !pr->failed;
    outs = ok ? ac_rule_emit(&r) : NULL;
    if (n_out) *n_out = outs ? r.n_out : 0;
  } else if (n_out) {
    *n_out = 0;
  }
  pr->depth--;
  return outs;
}

ac_value *ac_graph_op1(ac_graph *g, ac_op op, ac_value *x, ac_loc loc) {
  ac_arg a = A_T(x);
  ac_value **o = x ? ac_graph_apply(g, op, &a, 1, loc, NULL) : NULL;
  return o ? o[0] : NULL;
}

ac_value *ac_graph_op2(ac_graph *g, ac_op op, ac_value *x, ac_value *y, ac_loc loc) {
  ac_arg a[2] = {A_T(x), A_T(y)};
  ac_value **o = x && y ? ac_graph_apply(g, op, a, 2, loc, NULL) : NULL;
  return o ? o[0] : NULL;
}

ac_value *ac_graph_cast(ac_graph *g, ac_value *x, ac_dtype d, ac_loc loc) {
  if (!x || (x->dtype == d && !x->weak)) return x;
  ac_arg a[2] = {A_T(x), A_D(d)};
  ac_value **o = ac_graph_apply(g, AC_G_CAST, a, 2, loc, NULL);
  return o ? o[0] : NULL;
}

/* ---- for expansions ---- */

ac_value **ac_sub_all(ac_rule *r, ac_op op, const ac_arg *args, int n, int *n_out) {
  const ac_opinfo *o = ac_op_info(op);
  for (int i = 0; i < n && i < o->n_params; i++) {
    if (args[i].absent) continue;
    if (args[i].kind == AC_K_TENSOR && !args[i].t) return NULL;
    for (int k = 0; args[i].kind == AC_K_TENSORS && k < args[i].n; k++)
      if (!args[i].ts[k]) return NULL;
  }
  return ac_graph_apply(r->g, op, args, n, r->loc, n_out);
}

ac_value *ac_sub(ac_rule *r, ac_op op, const ac_arg *args, int n) {
  ac_value **o = ac_sub_all(r, op, args, n, NULL);
  return o ? o[0] : NULL;
}

bool ac_rule_give_all(ac_rule *r, ac_value **v, int n) {
  for (int i = 0; i < n; i++)
    if (!v[i]) return false;
  r->res = v;
  r->n_res = n;
  return true;
}

bool ac_rule_give(ac_rule *r, ac_value *v) {
  ac_value **o = AC_NEW_N(r->g->arena, ac_value *, 1);
  o[0] = v;
  return ac_rule_give_all(r, o, 1);
}

/* ---- pruning ---- */

static bool same_shape(const ac_graph *g, const ac_value *x, const ac_value *y) {
  if (x->rank != y->rank) return false;
  for (int i = 0; i < x->rank; i++)
    if (!ac_sym_equal(g, x->shape[i], y->shape[i])) return false;
  return true;
}

/* A node that passes its operand on unchanged: copies, casts to the same dtype, views to the same shape. */
static ac_value *passes(const ac_graph *g, const ac_node *n) {
  ac_value *x = n->n_args && n->args[0].kind == AC_K_TENSOR ? n->args[0].t : NULL;
  if (!x || x->weak) return NULL;
  switch (n->op) {
  case AC_G_CLONE: return x;
  case AC_G_CAST: return x->dtype == n->outs[0]->dtype ? x : NULL;
  case AC_G_RESHAPE:
  case AC_G_EXPAND: return same_shape(g, x, n->outs[0]) ? x : NULL;
  case AC_G_PERMUTE:
    for (int i = 0; i < n->args[1].n; i++)
      if (ac_dim_index(n->args[1].is[i]->example, x->rank) != i) return NULL;
    return x;
  default: return NULL;
  }
}

static ac_value *forward_to(const ac_graph *g, ac_value *v) {
  for (ac_value *x; v && v->def && (x = passes(g, v->def));) v = x;
  return v;
}

static void forward(ac_graph *g) {
  for (size_t i = 0; i < g->nodes.len; i++) {
    ac_node *n = g->nodes.data[i];
    for (int k = 0; k < n->n_args; k++) {
      n->args[k].t = forward_to(g, n->args[k].t);
      for (int j = 0; n->args[k].kind == AC_K_TENSORS && j < n->args[k].n; j++)
        n->args[k].ts[j] = forward_to(g, n->args[k].ts[j]);
    }
  }
  if (!g->inputs.len) return; /* a generator graph: another graph points to what it makes */
  for (size_t i = 0; i < g->outputs.len;
       i++) { /* an output that is an input, or a literal, keeps a node that copies it */
    ac_value *to = forward_to(g, g->outputs.data[i].value);
    if (to && to->def && ac_op_info(to->def->op)->cls != C_LEAF) g->outputs.data[i].value = to;
  }
}

/* Operands of a node, one after the other. NULL at the end; absent ones are skipped. */
static ac_value *operand(const ac_node *n, int k) {
  for (int i = 0; i < n->n_args; i++) {
    const ac_arg *a = &n->args[i];
    int here = a->kind == AC_K_TENSORS ? (a->absent ? 0 : a->n) : a->kind == AC_K_TENSOR && a->t;
    if (k < here) return a->kind == AC_K_TENSORS ? a->ts[k] : a->t;
    k -= here;
  }
  return NULL;
}

typedef struct {
  ac_node *node;
  int next; /* operand to visit */
} visit;
typedef AC_VEC(ac_node *) node_vec;

/* Appends what v needs and then v's node, depth first in the order of operands: the order of nodes then follows from the graph alone,
 * not from the order in which an expansion happened to build them. seen[i]: value i. */
static void collect(ac_arena *a, ac_value *v, bool *seen, node_vec *order) {
  AC_VEC(visit) stack = {0};
  visit first = {v->def, 0};
  if (!seen[v->def->outs[0]->id]) ac_push(a, &stack, first);
  seen[v->def->outs[0]->id] = true;
  while (stack.len) {
    visit *top = &stack.data[stack.len - 1];
    ac_value *x = operand(top->node, top->next++);
    if (!x) {
      ac_push(a, order, top->node);
      stack.len--;
    } else if (!seen[x->def->outs[0]->id]) {
      seen[x->def->outs[0]->id] = true;
      visit deeper = {x->def, 0};
      ac_push(a, &stack, deeper);
    }
  }
}

void ac_graph_prune(ac_graph *g) {
  if (!g->outputs.len) return; /* nobody has said what is needed */
  forward(g);
  bool *seen = AC_NEW_N(g->arena, bool, g->values.len);
  node_vec order = {0};
  for (size_t i = 0; i < g->inputs.len; i++) collect(g->arena, g->inputs.data[i].value, seen, &order);
  for (size_t i = 0; i < g->outputs.len; i++) collect(g->arena, g->outputs.data[i].value, seen, &order);
  g->nodes.data = order.data;
  g->nodes.len = order.len;
  g->nodes.cap = order.cap;
  g->values.len = 0;
  for (size_t i = 0; i < order.len; i++)
    for (int k = 0; k < order.data[i]->n_outs; k++) {
      ac_value *v = order.data[i]->outs[k];
      v->id = (int)g->values.len;
      ac_push(g->arena, &g->values, v);
      for (int j = 0; j < v->rank; j++) v->shape[j] = ac_sym_resolve(g, v->shape[j]);
    }
}

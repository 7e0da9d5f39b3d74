/* Concrete shapes: the graph replayed through its rules with the sizes of the variables put in.
 *
 * Inputs of the traced rank bind their variables and every guard is checked. An input of another rank leaves its variables without a
 * meaning (dimension 1 from the front may be another one now): what the user's program did with them - a guard of its own, a size used
 * as a number or attribute - refuses; guards that the rules asked for are asked again by the replay, and element-wise operations must
 * broadcast in the way that was traced. */
#include "graph/internal.h"

#include <string.h>

typedef struct {
  const ac_graph *g;
  ac_graph *out;
  ac_diags *d;
  const ac_shape *inputs; /* NULL for a generator graph */
  int64_t *value;         /* of each variable */
  bool *known;
  bool rank_changed;
  ac_value **map; /* by old id; NULL: not there (generator graphs) */
} replay;

static const char *shape_text(replay *r, const ac_shape *s) {
  ac_buf b;
  ac_buf_init(&b, r->out->arena);
  ac_puts(&b, "[");
  for (int i = 0; i < s->rank; i++) ac_printf(&b, "%s%lld", i ? ", " : "", (long long)s->dim[i]);
  ac_puts(&b, "]");
  return b.data;
}

ac_shape ac_value_example(const ac_value *v) {
  ac_shape s = {.rank = v->rank};
  for (int i = 0; i < v->rank; i++) s.dim[i] = v->shape[i]->example;
  return s;
}

int64_t ac_shape_numel(const ac_shape *s) {
  int64_t n = 1;
  bool empty = false, over = false;
  for (int i = 0; i < s->rank; i++) {
    empty |= s->dim[i] == 0;
    over |= s->dim[i] < 0 || __builtin_mul_overflow(n, s->dim[i], &n);
  }
  return empty ? 0 : over ? -1 : n;
}

/* ---- variables ---- */

/* The first variable in s without a value; -1: none. */
static int unknown(const replay *r, const ac_sym *s) {
  if (s->kind == AC_SYM_CONST) return -1;
  if (s->kind == AC_SYM_VAR) return r->known[s->var] ? -1 : s->var;
  int v = unknown(r, s->a);
  return v >= 0 ? v : unknown(r, s->b);
}

static void explain_rank(replay *r, ac_diag *x, int var) {
  const ac_symvar *v = &r->g->vars.data[var];
  const ac_input *in = &r->g->inputs.data[v->input];
  ac_help(r->d, x,
          "it was traced with %d dimension%s of %s and reads the size of dimension %d; trace it again at rank %d",
          in->value->rank, in->value->rank == 1 ? "" : "s", in->name, v->dim, r->inputs[v->input].rank);
}

static const ac_sym *put_in(replay *r, const ac_sym *s, const ac_node *n) {
  int64_t v;
  int u = unknown(r, s);
  if (u < 0 && ac_sym_eval(s, r->value, &v)) return ac_sym_int(r->out, v);
  ac_diag *x;
  if (u >= 0) {
    x = ac_error(r->d, AC0308, n->loc, "%s depends on a size of an input that now has another rank",
                 ac_op_info(n->op)->id);
    explain_rank(r, x, u);
  } else {
    x = ac_error(r->d, AC0306, n->loc, "%s: size %s overflows 64 bits or divides by zero at these shapes",
                 ac_op_info(n->op)->id, ac_sym_text(r->out->arena, r->g, s));
    ac_help(r->d, x, "use smaller sizes");
  }
  return NULL;
}

static bool bind(replay *r) {
  const ac_graph *g = r->g;
  for (size_t i = 0; i < g->vars.len; i++) {
    const ac_symvar *v = &g->vars.data[i];
    bool bound = v->input >= 0 && v->input < (int)g->inputs.len;
    r->value[i] = v->example;
    r->known[i] = true;
    if (!bound || v->dim < 0) continue;
    const ac_shape *s = &r->inputs[v->input];
    r->known[i] = s->rank == g->inputs.data[v->input].value->rank;
    if (r->known[i]) r->value[i] = s->dim[v->dim];
  }
  return true;
}

/* ---- guards ---- */

static bool refuse(replay *r, const ac_guard *x, int64_t a, int64_t b) {
  static const char *const rel[] = {
      [AC_GUARD_EQ] = "==", [AC_GUARD_NE] = "!=", [AC_GUARD_LT] = "<", [AC_GUARD_LE] = "<="};
  ac_arena *ar = r->out->arena;
  ac_diag *e = ac_error(r->d, AC0308, x->loc, "the shapes break the guard %s %s %s (%lld against %lld): %s",
                        ac_sym_text(ar, r->g, x->a), rel[x->kind], ac_sym_text(ar, r->g, x->b), (long long)a,
                        (long long)b, x->reason ? x->reason : "");
  ac_buf names;
  ac_buf_init(&names, ar);
  for (size_t i = 0; i < r->g->vars.len; i++) {
    const ac_symvar *v = &r->g->vars.data[i];
    bool used = ac_sym_contains(x->a, (int)i) || ac_sym_contains(x->b, (int)i);
    if (!used || v->input < 0 || v->input >= (int)r->g->inputs.len) continue;
    ac_printf(&names, "%s%s is ", names.len ? ", " : "", v->name);
    if (v->dim >= 0) ac_printf(&names, "dimension %d of ", v->dim);
    ac_puts(&names, r->g->inputs.data[v->input].name);
  }
  ac_help(r->d, e, "%s; use shapes that satisfy it, or trace the module again at these shapes", ac_buf_str(&names));
  return false;
}

static bool check_guard(replay *r, const ac_guard *x) {
  int u = unknown(r, x->a);
  if (u < 0) u = unknown(r, x->b);
  if (u >= 0 && x->rule) return true; /* the rule asks again */
  if (u >= 0) {
    ac_diag *e = ac_error(r->d, AC0308, x->loc,
                          "a decision of the program (%s) is about a size of an input that now has another rank",
                          x->reason ? x->reason : "");
    explain_rank(r, e, u);
    return false;
  }
  int64_t a, b;
  if (!ac_sym_eval(x->a, r->value, &a) || !ac_sym_eval(x->b, r->value, &b)) {
    ac_error(r->d, AC0306, x->loc, "a guard overflows 64 bits or divides by zero at these shapes");
    return false;
  }
  return ac_guard_holds(x->kind, a, b) || refuse(r, x, a, b);
}

static bool check_guards(replay *r) {
  for (size_t i = 0; i < r->g->guards.len; i++)
    if (!check_guard(r, &r->g->guards.data[i])) return false;
  return true;
}

/* Is dimension k of input i a variable of its own? (Guards may have put another expression in its place.) */
static bool variable_dim(const ac_graph *g, int i, int k) {
  for (size_t v = 0; v < g->vars.len; v++)
    if (g->vars.data[v].input == i && g->vars.data[v].dim == k) return true;
  return false;
}

static bool check_fixed(replay *r, int i) {
  const ac_input *in = &r->g->inputs.data[i];
  const ac_shape *s = &r->inputs[i];
  bool same_rank = s->rank == in->value->rank;
  for (int k = 0; k < in->value->rank; k++) {
    if (variable_dim(r->g, i, k) || (same_rank && s->dim[k] == in->value->shape[k]->example)) continue;
    ac_shape own = ac_value_example(in->value);
    ac_diag *x = ac_error(r->d, AC0308, AC_NOLOC, "%s has the fixed shape %s, not %s", in->name, shape_text(r, &own),
                          shape_text(r, s));
    ac_help(r->d, x, "its sizes come from the module's constructor; change them there and trace again");
    return false;
  }
  return true;
}

/* ---- nodes ---- */

static bool map_arg(replay *r, const ac_node *n, const ac_arg *from, ac_arg *to) {
  *to = *from;
  if (from->absent) return true;
  if (from->kind == AC_K_TENSOR) return (to->t = r->map[from->t->id]) != NULL;
  if (from->kind == AC_K_TENSORS) {
    to->ts = AC_NEW_N(r->out->arena, ac_value *, from->n);
    for (int i = 0; i < from->n; i++)
      if (!(to->ts[i] = r->map[from->ts[i]->id])) return false;
  }
  if (from->kind == AC_K_INTS) {
    to->is = AC_NEW_N(r->out->arena, const ac_sym *, from->n);
    for (int i = 0; i < from->n; i++)
      if (!(to->is[i] = put_in(r, from->is[i], n))) return false;
  }
  if (from->i) {
    if (!(to->i = put_in(r, from->i, n))) return false;
    if (from->kind == AC_K_SCALAR) to->f = (double)to->i->example;
  }
  return true;
}

/* Does operand v stretch along dimension k from the end of a result (size `size` there)? */
static bool stretches(const ac_graph *g, const ac_value *v, const ac_value *out, int k) {
  if (k >= v->rank) return true;
  return !ac_sym_equal(g, v->shape[v->rank - 1 - k], out->shape[out->rank - 1 - k]);
}

/* At another rank an element-wise operation must broadcast as it was traced; dimensions beyond the traced ones do as the first traced
 * one does. Otherwise a program planned for the traced graph would compute something else. */
static bool same_broadcast(replay *r, const ac_node *n, const ac_node *m) {
  const ac_value *was = n->outs[0], *now = m->outs[0];
  for (int i = 0; i < n->n_args; i++) {
    const ac_value *a = n->args[i].t, *b = m->args[i].t;
    if (n->args[i].kind != AC_K_TENSOR || n->args[i].absent || !a->rank) continue;
    for (int k = 0; k < now->rank && was->rank; k++) {
      int at = k < was->rank ? k : was->rank - 1;
      if (now->shape[now->rank - 1 - k]->example == 1 || s_is(was->shape[was->rank - 1 - at], 1)) continue;
      if (stretches(r->g, a, was, at) == stretches(r->out, b, now, k)) continue;
      ac_diag *x = ac_error(r->d, AC0308, n->loc,
                            "%s broadcasts in another way than it was traced: dimension %d of operand `%s`",
                            ac_op_info(n->op)->id, -1 - k, ac_op_info(n->op)->params[i].name);
      ac_help(r->d, x, "trace the module again at these shapes");
      return false;
    }
  }
  return true;
}

/* With every variable known, the traced expressions give the same sizes as the replay. */
static bool same_sizes(replay *r, const ac_node *n, const ac_node *m) {
  for (int k = 0; k < n->n_outs; k++) {
    const ac_value *a = n->outs[k], *b = m->outs[k];
    bool same = a->rank == b->rank && a->dtype == b->dtype;
    for (int i = 0; same && i < a->rank; i++) {
      int64_t v;
      same = ac_sym_eval(a->shape[i], r->value, &v) && v == b->shape[i]->example;
    }
    if (same) continue;
    ac_error(r->d, AC0308, n->loc, "%s: at these shapes its result is not what the traced graph says",
             ac_op_info(n->op)->id);
    return false;
  }
  return true;
}

static bool replay_node(replay *r, const ac_node *n) {
  struct ac_graph_private *pr = r->out->priv;
  ac_rule rule = {.g = r->out, .op = n->op, .info = ac_op_info(n->op), .loc = n->loc};
  rule.args = AC_NEW_N(r->out->arena, ac_arg, n->n_args);
  for (int i = 0; i < n->n_args; i++)
    if (!map_arg(r, n, &n->args[i], &rule.args[i])) return false;
  pr->outer = n->op;
  pr->loc = n->loc;
  pr->failed = false;
  if (!ac_rule_infer(&rule) || pr->failed || !ac_rule_emit(&rule)) return false;
  const ac_node *m = r->out->nodes.data[r->out->nodes.len - 1];
  for (int k = 0; k < n->n_outs && k < m->n_outs; k++) r->map[n->outs[k]->id] = m->outs[k];
  if (n->n_outs != m->n_outs) return false;
  if (r->rank_changed) return rule.info->cls != C_ELT || same_broadcast(r, n, m);
  return same_sizes(r, n, m);
}

static void start(replay *r, ac_arena *a, const ac_graph *g, ac_diags *d) {
  r->g = g;
  r->d = d;
  r->out = ac_graph_new(a, d);
  r->out->name = g->name;
  r->out->seed = g->seed;
  r->value = AC_NEW_N(a, int64_t, g->vars.len);
  r->known = AC_NEW_N(a, bool, g->vars.len);
  r->map = AC_NEW_N(a, ac_value *, g->values.len);
}

/* ---- generators ---- */

typedef struct {
  const ac_value *made; /* in the old generator graph */
  const ac_shape *want;
} wish;

/* Sets the variables that are sizes of what an input's generator makes. */
static void bind_gen(replay *r, const ac_graph *g, const ac_shape *inputs) {
  for (size_t i = 0; i < g->inputs.len; i++) {
    const ac_value *v = g->inputs.data[i].gen;
    if (!v || v->rank != inputs[i].rank) continue;
    for (int k = 0; k < v->rank; k++)
      if (v->shape[k]->kind == AC_SYM_VAR) r->value[v->shape[k]->var] = inputs[i].dim[k];
  }
}

/* A creation whose sizes are those of an input's generator, of another rank now: the new sizes in their place. */
static bool new_rank(replay *r, const ac_graph *g, const ac_shape *inputs, const ac_arg *size, ac_arg *out) {
  for (size_t i = 0; i < g->inputs.len; i++) {
    const ac_value *v = g->inputs.data[i].gen;
    if (!v || v->rank != size->n || v->rank == inputs[i].rank ||
        (size->n && memcmp(v->shape, size->is, (size_t)size->n * sizeof *size->is) != 0))
      continue;
    const ac_sym **s = AC_NEW_N(r->out->arena, const ac_sym *, inputs[i].rank);
    for (int k = 0; k < inputs[i].rank; k++) s[k] = ac_sym_int(r->out, inputs[i].dim[k]);
    *out = A_IS(s, inputs[i].rank);
    return true;
  }
  return false;
}

static void replay_gen_node(replay *r, const ac_graph *g, const ac_shape *inputs, const ac_node *n) {
  const ac_opinfo *o = ac_op_info(n->op);
  ac_node copy = *n;
  copy.args = AC_NEW_N(r->out->arena, ac_arg, n->n_args);
  if (n->n_args) memcpy(copy.args, n->args, (size_t)n->n_args * sizeof *n->args);
  for (int i = 0; i < n->n_args && o->cls == C_NEW; i++)
    if (s_eq(o->params[i].name, "size") && n->args[i].kind == AC_K_INTS)
      new_rank(r, g, inputs, &n->args[i], &copy.args[i]);
  replay_node(r, &copy);
}

/* The generator graph at the inputs' shapes; an input whose generator cannot follow loses it, with a warning. */
static void replay_gen(replay *main, ac_arena *a, const ac_graph *g, const ac_shape *inputs) {
  ac_diags quiet;
  ac_diags_init(&quiet, a);
  replay r = {.rank_changed = true};
  start(&r, a, g->gen, &quiet);
  for (size_t i = 0; i < g->gen->vars.len; i++) {
    r.value[i] = g->gen->vars.data[i].example;
    r.known[i] = true;
  }
  bind_gen(&r, g, inputs);
  for (size_t i = 0; i < g->gen->nodes.len; i++) replay_gen_node(&r, g, inputs, g->gen->nodes.data[i]);
  r.out->diags = main->d;
  main->out->gen = r.out;
  for (size_t i = 0; i < g->inputs.len; i++) {
    const ac_input *in = &g->inputs.data[i];
    if (!in->gen) continue;
    ac_value *v = r.map[in->gen->id];
    ac_shape s = v ? ac_value_example(v) : (ac_shape){0};
    bool fits = v && s.rank == inputs[i].rank && !memcmp(s.dim, inputs[i].dim, (size_t)s.rank * sizeof s.dim[0]);
    if (fits) {
      main->out->inputs.data[i].gen = v;
      ac_graph_output(r.out, in->name, v, -1);
      continue;
    }
    ac_diag *x = ac_warn(
        main->d, AC0312, AC_NOLOC,
        "%s cannot be generated at shape %s: its generator makes its own sizes only; it is drawn uniformly instead",
        in->name, shape_text(main, &inputs[i]));
    ac_help(main->d, x, "create it with sizes that are its dimensions, as torch.rand(n, m) does");
  }
}

/* ---- all ---- */

static bool replay_inputs(replay *r) {
  static const bool fixed[AC_MAX_RANK] = {true, true, true, true, true, true, true, true,
                                          true, true, true, true, true, true, true, true};
  for (size_t i = 0; i < r->g->inputs.len; i++) {
    const ac_input *in = &r->g->inputs.data[i];
    const ac_shape *s = &r->inputs[i];
    if (s->rank > AC_MAX_RANK || s->rank < 0 || ac_shape_numel(s) < 0) {
      ac_diag *x =
          ac_error(r->d, AC0306, AC_NOLOC, "%s: the number of elements of its shape overflows 64 bits", in->name);
      ac_help(r->d, x, "use a smaller shape");
      return false;
    }
    r->rank_changed |= s->rank != in->value->rank;
    if (!check_fixed(r, (int)i)) return false;
    ac_value *v = ac_graph_input(r->out, in->name, in->role, in->value->dtype, s->rank, s->dim, fixed);
    v->weak = in->value->weak;
    r->out->inputs.data[i].scalar = in->scalar;
    r->map[in->value->id] = v;
  }
  return true;
}

ac_graph *ac_graph_respecialise(ac_arena *a, const ac_graph *g, const ac_shape *inputs, ac_diags *d) {
  replay r = {.inputs = inputs};
  start(&r, a, g, d);
  if (!bind(&r) || !check_guards(&r) || !replay_inputs(&r)) return NULL;
  for (size_t i = 0; i < g->nodes.len; i++)
    if (g->nodes.data[i]->op != AC_G_INPUT && !replay_node(&r, g->nodes.data[i])) return NULL;
  for (size_t i = 0; i < g->outputs.len; i++) {
    const ac_output *o = &g->outputs.data[i];
    ac_graph_output(r.out, o->name, r.map[o->value->id], o->updates);
  }
  if (g->gen) replay_gen(&r, a, g, inputs);
  return r.out;
}

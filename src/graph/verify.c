/* Invariants: topological order, arguments as the signatures say, shapes and dtypes as the rules infer them, guards recorded. */
#include "graph/internal.h"

#include <stdarg.h>
#include <string.h>

static const char *say(ac_graph *g, const char *fmt, ...) AC_PRINTF(2, 3);
static const char *say(ac_graph *g, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *s = ac_vsprintf(g->arena, fmt, ap);
  va_end(ap);
  return s;
}

static bool defined(const ac_graph *g, const bool *seen, const ac_value *v) {
  return v && v->id >= 0 && v->id < (int)g->values.len && g->values.data[v->id] == v && seen[v->id];
}

static const char *check_args(ac_graph *g, const ac_node *n, const bool *seen) {
  const ac_opinfo *o = ac_op_info(n->op);
  if (o->cls == C_COMP) return say(g, "%s: a composite operation was not expanded", o->id);
  if (n->n_args != o->n_params) return say(g, "%s: %d arguments instead of %d", o->id, n->n_args, o->n_params);
  for (int i = 0; i < n->n_args; i++) {
    const ac_arg *a = &n->args[i];
    if (a->absent) continue;
    if (a->kind != o->params[i].kind)
      return say(g, "%s: argument `%s` is of another kind than the signature says", o->id, o->params[i].name);
    if (a->kind == AC_K_TENSOR && !defined(g, seen, a->t))
      return say(g, "%s: argument `%s` is used before it is made", o->id, o->params[i].name);
    for (int k = 0; a->kind == AC_K_TENSORS && k < a->n; k++)
      if (!defined(g, seen, a->ts[k]))
        return say(g, "%s: argument `%s` is used before it is made", o->id, o->params[i].name);
  }
  return NULL;
}

static const char *compare(ac_graph *g, const ac_node *n, const ac_rule *r) {
  const char *op = r->info->id;
  if (n->n_outs != r->n_out) return say(g, "%s: %d outputs, the rule gives %d", op, n->n_outs, r->n_out);
  for (int k = 0; k < n->n_outs; k++) {
    const ac_value *v = n->outs[k];
    const ac_type *t = &r->out[k];
    if (v->dtype != t->dtype || v->weak != t->weak || v->rank != t->rank)
      return say(g, "%s: %%%d is %s with %d dimensions, the rule gives %s with %d", op, v->id,
                 ac_dtypes[v->dtype].name, v->rank, ac_dtypes[t->dtype].name, t->rank);
    for (int i = 0; i < v->rank; i++)
      if (!ac_sym_equal(g, v->shape[i], t->shape[i]))
        return say(g, "%s: dimension %d of %%%d is %s, the rule gives %s", op, i, v->id,
                   ac_sym_text(g->arena, g, v->shape[i]), ac_sym_text(g->arena, g, t->shape[i]));
  }
  return NULL;
}

/* The rule once more, with the guards that are there. */
static const char *reinfer(ac_graph *g, const ac_node *n) {
  struct ac_graph_private *pr = g->priv;
  ac_diags mine, *theirs = g->diags;
  ac_diags_init(&mine, g->arena);
  ac_rule r = {.g = g, .op = n->op, .info = ac_op_info(n->op), .args = n->args, .loc = n->loc};
  g->diags = &mine;
  pr->frozen = true;
  pr->missing = 0;
  pr->failed = false;
  pr->outer = n->op;
  bool ok = ac_rule_infer(&r) && !pr->failed;
  pr->frozen = false;
  g->diags = theirs;
  if (!ok) return say(g, "%s: refused by its rule: %s", r.info->id, mine.list.len ? mine.list.data[0]->message : "?");
  if (pr->missing)
    return say(g, "%s: %d guard%s that it needs missing", r.info->id, pr->missing,
               pr->missing == 1 ? " is" : "s are");
  return compare(g, n, &r);
}

static const char *check_node(ac_graph *g, const ac_node *n, bool *seen) {
  const char *m = n->op == AC_G_INPUT ? NULL : check_args(g, n, seen);
  if (!m && n->op != AC_G_INPUT) m = reinfer(g, n);
  if (m) return m;
  for (int k = 0; k < n->n_outs; k++) {
    const ac_value *v = n->outs[k];
    if (v->def != n || v->out != k) return say(g, "%s: output %d points elsewhere", ac_op_info(n->op)->id, k);
    if (v->id < 0 || v->id >= (int)g->values.len || g->values.data[v->id] != v)
      return say(g, "value %%%d is not in the graph's list", v->id);
    if (seen[v->id]) return say(g, "value %%%d is made twice", v->id);
    seen[v->id] = true;
  }
  return NULL;
}

const char *ac_graph_verify(ac_graph *g) {
  bool *seen = AC_NEW_N(g->arena, bool, g->values.len);
  for (size_t i = 0; i < g->nodes.len; i++) {
    const char *m = check_node(g, g->nodes.data[i], seen);
    if (m) return m;
  }
  for (size_t i = 0; i < g->inputs.len; i++)
    if (!defined(g, seen, g->inputs.data[i].value)) return say(g, "input %s has no value", g->inputs.data[i].name);
  for (size_t i = 0; i < g->outputs.len; i++) {
    const ac_output *o = &g->outputs.data[i];
    if (!defined(g, seen, o->value)) return say(g, "output %s has no value", o->name);
    if (o->updates >= (int)g->inputs.len) return say(g, "output %s updates an input that is not there", o->name);
  }
  for (size_t i = 0; i < g->guards.len; i++) {
    const ac_guard *x = &g->guards.data[i];
    if (!ac_guard_holds(x->kind, x->a->example, x->b->example))
      return say(g, "guard %zu does not hold at the example", i);
  }
  return NULL;
}

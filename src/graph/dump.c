/* The readable dump. Numbers and sizes stand where they are used; arguments at their defaults are left out. */
#include "graph/internal.h"

#include <string.h>

static void put_shape(ac_buf *b, const ac_graph *g, const ac_value *v) {
  ac_printf(b, "%s[", ac_dtypes[v->dtype].name);
  for (int i = 0; i < v->rank; i++) ac_printf(b, "%s%s", i ? ", " : "", ac_sym_text(b->arena, g, v->shape[i]));
  ac_puts(b, "]");
}

static void put_number(ac_buf *b, const ac_graph *g, const ac_arg *a) {
  if (a->is_bool)
    ac_puts(b, a->f != 0 ? "True" : "False");
  else if (a->is_int)
    ac_puts(b, ac_sym_text(b->arena, g, a->i));
  else
    ac_put_double(b, a->f);
}

static bool inlined(const ac_value *v) {
  return v->def && (v->def->op == AC_G_CONST || v->def->op == AC_G_SIZE);
}

static void put_value(ac_buf *b, const ac_graph *g, const ac_value *v) {
  if (!inlined(v)) {
    ac_printf(b, "%%%d", v->id);
    return;
  }
  const ac_arg *a = &v->def->args[0];
  if (a->kind == AC_K_INT)
    ac_puts(b, ac_sym_text(b->arena, g, a->i));
  else
    put_number(b, g, a);
}

static void put_arg(ac_buf *b, const ac_graph *g, const ac_arg *a) {
  if (a->absent) {
    ac_puts(b, "None");
    return;
  }
  switch (a->kind) {
  case AC_K_TENSOR: put_value(b, g, a->t); break;
  case AC_K_TENSORS:
    ac_puts(b, "[");
    for (int i = 0; i < a->n; i++) {
      if (i) ac_puts(b, ", ");
      put_value(b, g, a->ts[i]);
    }
    ac_puts(b, "]");
    break;
  case AC_K_SCALAR: put_number(b, g, a); break;
  case AC_K_INT: ac_puts(b, ac_sym_text(b->arena, g, a->i)); break;
  case AC_K_INTS:
    ac_puts(b, "[");
    for (int i = 0; i < a->n; i++) ac_printf(b, "%s%s", i ? ", " : "", ac_sym_text(b->arena, g, a->is[i]));
    ac_puts(b, "]");
    break;
  case AC_K_FLOAT: ac_put_double(b, a->f); break;
  case AC_K_BOOL: ac_puts(b, a->b ? "True" : "False"); break;
  case AC_K_STR: ac_printf(b, "'%s'", a->s); break;
  case AC_K_DTYPE: ac_puts(b, ac_dtypes[a->d].name); break;
  }
}

static bool is_default(ac_buf *b, const ac_graph *g, const ac_opparam *p, const ac_arg *a) {
  if (a->absent) return true;
  if (!p->default_text || s_eq(p->default_text, "None") || a->kind == AC_K_TENSOR || a->kind == AC_K_TENSORS)
    return false;
  ac_arg d = ac_default_arg((ac_graph *)(uintptr_t)g, p); /* only interns constants */
  ac_buf x, y;
  ac_buf_init(&x, b->arena);
  ac_buf_init(&y, b->arena);
  put_arg(&x, g, a);
  put_arg(&y, g, &d);
  return d.kind == a->kind && s_eq(x.data, y.data);
}

static void put_node(ac_buf *b, const ac_graph *g, const ac_node *n) {
  const ac_opinfo *o = ac_op_info(n->op);
  ac_puts(b, "  ");
  for (int i = 0; i < n->n_outs; i++) {
    ac_printf(b, "%s%%%d: ", i ? ", " : "", n->outs[i]->id);
    put_shape(b, g, n->outs[i]);
  }
  ac_printf(b, " = %s(", o->id);
  bool named = false, first = true;
  for (int i = 0; i < n->n_args; i++) {
    if (is_default(b, g, &o->params[i], &n->args[i])) {
      named = true;
      continue;
    }
    ac_printf(b, "%s", first ? "" : ", ");
    first = false;
    if (named || (n->args[i].kind != AC_K_TENSOR && n->args[i].kind != AC_K_TENSORS))
      ac_printf(b, "%s=", o->params[i].name);
    put_arg(b, g, &n->args[i]);
  }
  ac_puts(b, ")");
  if (n->loc.line) ac_printf(b, "  # line %d", n->loc.line);
  ac_puts(b, "\n");
}

static void put_var(ac_buf *b, const ac_graph *g, const ac_symvar *v) {
  ac_printf(b, "  size %s = ", v->name);
  if (v->input >= 0 && v->input < (int)g->inputs.len && g->inputs.data[v->input].name)
    ac_puts(b, g->inputs.data[v->input].name);
  else
    ac_puts(b, "?");
  if (v->dim >= 0) ac_printf(b, ".shape[%d]", v->dim);
  ac_printf(b, "  # %lld\n", (long long)v->example);
}

char *ac_graph_text(ac_arena *a, const ac_graph *g) {
  static const char *const roles[] = {
      [AC_IN_TENSOR] = "input", [AC_IN_SCALAR] = "number", [AC_IN_PARAM] = "parameter", [AC_IN_BUFFER] = "buffer"};
  static const char *const rel[] = {
      [AC_GUARD_EQ] = "==", [AC_GUARD_NE] = "!=", [AC_GUARD_LT] = "<", [AC_GUARD_LE] = "<="};
  ac_buf b;
  ac_buf_init(&b, a);
  ac_printf(&b, "graph %s\n", g->name ? g->name : "?");
  for (size_t i = 0; i < g->vars.len; i++) put_var(&b, g, &g->vars.data[i]);
  for (size_t i = 0; i < g->guards.len; i++) {
    const ac_guard *x = &g->guards.data[i];
    ac_printf(&b, "  guard %s %s %s  # %s", ac_sym_text(a, g, x->a), rel[x->kind], ac_sym_text(a, g, x->b),
              x->reason ? x->reason : "");
    if (x->loc.line) ac_printf(&b, " (line %d)", x->loc.line);
    ac_puts(&b, "\n");
  }
  for (size_t i = 0; i < g->inputs.len; i++) {
    const ac_input *x = &g->inputs.data[i];
    ac_printf(&b, "  %s %%%d: ", roles[x->role], x->value->id);
    put_shape(&b, g, x->value);
    ac_printf(&b, "  # %s\n", x->name);
  }
  for (size_t i = 0; i < g->nodes.len; i++) {
    const ac_node *n = g->nodes.data[i];
    if (n->op != AC_G_INPUT && !inlined(n->outs[0])) put_node(&b, g, n);
  }
  for (size_t i = 0; i < g->outputs.len; i++) {
    const ac_output *o = &g->outputs.data[i];
    ac_printf(&b, "  output ");
    put_value(&b, g, o->value);
    ac_printf(&b, "  # %s", o->name);
    if (o->updates >= 0) ac_printf(&b, ", new value of %s", g->inputs.data[o->updates].name);
    ac_puts(&b, "\n");
  }
  return b.data;
}

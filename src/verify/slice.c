/* The reference of a few leading rows only: where every operation keeps the rows of dimension 0 apart, the result of some rows is the result
 * of a smaller graph. Without it, a softmax over a sampled tensor of gigabytes would be summed in full for one row of it. */
#include "verify/internal.h"

#include <string.h>

/* Dimension 0 of `v` is the batch (`b` everywhere), or v has no batch at all: 1, 0; anything else: -1. */
static int batch_of(const ac_graph *g, const ac_value *v, const ac_sym *b) {
  bool first = v->rank > 0 && ac_sym_equal(g, v->shape[0], b);
  for (int k = first ? 1 : 0; k < v->rank; k++)
    if (ac_sym_equal(g, v->shape[k], b)) return first ? 1 : -1; /* a square tensor: only dimension 0 is cut */
  return first;
}

static int64_t normal_dim(const ac_sym *s, int rank) {
  return s->example < 0 ? s->example + rank : s->example;
}

static const ac_arg *arg_named(const ac_node *n, const char *name) {
  const ac_opinfo *i = ac_op_info(n->op);
  for (int k = 0; k < i->n_params && k < n->n_args; k++)
    if (!strcmp(i->params[k].name, name)) return &n->args[k];
  return NULL;
}

/* A dim argument (one or several) that leaves dimension 0 alone. */
static bool dims_spare_zero(const ac_node *n, int rank) {
  const ac_arg *d = arg_named(n, "dim");
  if (!d || d->absent) return false;
  if (d->i) return normal_dim(d->i, rank) != 0;
  for (int k = 0; k < d->n; k++)
    if (normal_dim(d->is[k], rank) == 0) return false;
  return d->n > 0;
}

static bool elementwise_spares(const ac_graph *g, const ac_node *n, const ac_sym *b) {
  const ac_value *out = n->outs[0];
  bool batched = false;
  for (int i = 0; i < n->n_args; i++) {
    const ac_value *t = n->args[i].absent ? NULL : n->args[i].t;
    if (!t) continue;
    int is = batch_of(g, t, b);
    if (is < 0 || (is == 1 && t->rank != out->rank)) return false;
    batched = batched || is == 1;
  }
  return batched == (batch_of(g, out, b) == 1);
}

static bool node_spares(const ac_graph *g, const ac_node *n, const ac_sym *b) {
  const ac_value *x = n->n_args && !n->args[0].absent ? n->args[0].t : NULL;
  switch (ac_op_info(n->op)->cls) {
  case C_LEAF: return n->op != AC_G_SIZE && batch_of(g, n->outs[0], b) >= 0;
  case C_ELT: return elementwise_spares(g, n, b);
  case C_RED:
  case C_ROW:
  case C_SCAN: return x && batch_of(g, x, b) == 1 && dims_spare_zero(n, x->rank);
  case C_NORM: {
    const ac_arg *shape = arg_named(n, "normalized_shape");
    return shape && x && batch_of(g, x, b) == 1 && shape->n < x->rank;
  }
  default: return false;
  }
}

bool ac_rows_apart(const ac_graph *g) {
  const ac_sym *b = NULL;
  for (size_t i = 0; i < g->outputs.len; i++) {
    const ac_value *v = g->outputs.data[i].value;
    if (v->rank < 1 || (b && !ac_sym_equal(g, v->shape[0], b))) return false;
    b = v->shape[0];
  }
  int64_t fixed;
  if (!b || ac_sym_is_const(b, &fixed)) return false;
  for (size_t i = 0; i < g->nodes.len; i++)
    if (!node_spares(g, g->nodes.data[i], b)) return false;
  return true;
}

/* The concrete graph `g` of the whole, `apart` its symbolic original. */
ac_rows ac_rows_cut(ac_arena *a, const ac_graph *apart, const ac_graph *g, const void *const *inputs, int64_t from,
                    int64_t to) {
  ac_diags quiet;
  ac_diags_init(&quiet, a);
  const ac_sym *b = apart->outputs.data[0].value->shape[0];
  ac_shape *shapes = AC_NEW_N(a, ac_shape, g->inputs.len + 1);
  const void **data = AC_NEW_N(a, const void *, g->inputs.len + 1);
  for (size_t i = 0; i < g->inputs.len; i++) {
    const ac_value *v = g->inputs.data[i].value;
    shapes[i] = ac_value_example(v);
    data[i] = inputs[i];
    if (g->inputs.data[i].role == AC_IN_SCALAR || batch_of(apart, apart->inputs.data[i].value, b) != 1) continue;
    int64_t row = ac_dtypes[v->dtype].bytes;
    for (int k = 1; k < shapes[i].rank; k++) row *= shapes[i].dim[k];
    data[i] = (const char *)inputs[i] + from * row;
    shapes[i].dim[0] = to - from;
  }
  ac_graph *cut = ac_graph_respecialise(a, apart, shapes, &quiet);
  return (ac_rows){cut, data};
}

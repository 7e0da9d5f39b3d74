/* The honest evaluation: one operation at a time, each result rounded to its dtype, as an eager framework computes. Where even that
 * is far from the float64 reference (a cancellation, an overflow half way), no kernel can be blamed for being as far.
 *
 * Each node becomes a graph of its own that the reference evaluates; only failing cases come here, so speed does not matter. */
#include "verify/internal.h"

#include <string.h>

static const int64_t MOST_ELEMENTS = 64 << 20; /* of all intermediates together */

typedef struct {
  ac_arena *a; /* of this evaluation */
  const ac_graph *g;
  const void *const *inputs;
  const void **data; /* by value id: its elements in its dtype */
  int64_t left;
  uint64_t
      variant; /* 0: every result is the nearest number of its dtype; else it is one of the two beside it, by this seed */
} eager;

static bool is_number(const ac_value *v) {
  return v->def && (v->def->op == AC_G_CONST || v->def->op == AC_G_SIZE);
}

static ac_value *number(ac_graph *mini, const ac_value *v) {
  const ac_arg *x = &v->def->args[0];
  if (v->def->op == AC_G_SIZE) return ac_graph_integer(mini, ac_sym_int(mini, x->i->example));
  if (x->is_bool) return ac_graph_boolean(mini, x->is_int ? x->i->example != 0 : x->f != 0);
  return x->is_int ? ac_graph_integer(mini, ac_sym_int(mini, x->i->example)) : ac_graph_number(mini, x->f);
}

typedef struct {
  ac_graph *mini;
  AC_VEC(const void *) inputs;
} step;

static ac_value *operand(eager *e, step *s, const ac_value *v) {
  if (is_number(v)) return number(s->mini, v);
  ac_shape shape = ac_value_example(v);
  bool fixed[AC_MAX_RANK];
  memset(fixed, 1, sizeof fixed);
  if (!e->data[v->id]) return NULL;
  ac_push(e->a, &s->inputs, e->data[v->id]);
  ac_value *x = ac_graph_input(s->mini, ac_sprintf(e->a, "v%d", v->id), v->weak ? AC_IN_SCALAR : AC_IN_TENSOR,
                               v->dtype, shape.rank, shape.dim, fixed);
  return x;
}

static bool copy_args(eager *e, step *s, const ac_node *n, ac_arg *args) {
  for (int i = 0; i < n->n_args; i++) {
    args[i] = n->args[i];
    if (args[i].absent) continue;
    if (args[i].t && !(args[i].t = operand(e, s, n->args[i].t))) return false;
    if (args[i].ts) {
      args[i].ts = AC_NEW_N(e->a, ac_value *, args[i].n + 1);
      for (int k = 0; k < args[i].n; k++)
        if (!(args[i].ts[k] = operand(e, s, n->args[i].ts[k]))) return false;
    }
    if (args[i].i) args[i].i = ac_sym_int(s->mini, n->args[i].i->example);
    if (args[i].is) {
      args[i].is = AC_NEW_N(e->a, const ac_sym *, args[i].n + 1);
      for (int k = 0; k < args[i].n; k++) args[i].is[k] = ac_sym_int(s->mini, n->args[i].is[k]->example);
    }
  }
  return true;
}

/* One unit in the last place up or down, for what is finite and not zero. */
static void nudge(ac_dtype d, void *data, int64_t i, uint64_t seed) {
  double v = ac_load(d, data, i);
  uint64_t h = (seed + (uint64_t)i) * 0x9E3779B97F4A7C15u;
  int by = (h >> 40) & 1 ? 1 : -1;
  if (v == 0 || v - v != 0) return;
  if (ac_dtypes[d].bytes == 2) {
    ((uint16_t *)data)[i] = (uint16_t)(((uint16_t *)data)[i] + by);
  } else if (d == AC_F32) {
    ((uint32_t *)data)[i] += (uint32_t)by;
  }
}

static bool read_output(eager *e, ac_ref *r, int out, const ac_value *v, bool rounds) {
  ac_shape shape = ac_value_example(v);
  int64_t n = ac_shape_numel(&shape);
  if (n < 0 || n > e->left) return false;
  e->left -= n;
  bool whole = ac_dtypes[v->dtype].cls != AC_FLOATING;
  void *data = ac_alloc_n(e->a, (size_t)n + 1, (size_t)ac_dtypes[v->dtype].bytes);
  void *wide = ac_alloc_n(e->a, (size_t)n + 1, 8);
  if (!(whole ? ac_ref_read_int(r, out, 0, n, wide) : ac_ref_read(r, out, 0, n, wide))) return false;
  for (int64_t i = 0; i < n; i++) {
    if (whole) {
      ac_store_int(v->dtype, data, i, ((int64_t *)wide)[i]);
      continue;
    }
    ac_store(v->dtype, data, i, ((double *)wide)[i]);
    if (e->variant && rounds) nudge(v->dtype, data, i, e->variant * 1000003 + (uint64_t)v->id * 8191);
  }
  e->data[v->id] = data;
  return true;
}

static bool evaluate(eager *e, const ac_node *n) {
  if (n->op == AC_G_INPUT) {
    e->data[n->outs[0]->id] = e->inputs[n->args[0].i->example];
    return true;
  }
  if (n->op == AC_G_CONST || n->op == AC_G_SIZE) return true;
  ac_diags quiet;
  ac_diags_init(&quiet, e->a);
  step s = {.mini = ac_graph_new(e->a, &quiet)};
  ac_arg *args = AC_NEW_N(e->a, ac_arg, n->n_args + 1);
  if (!copy_args(e, &s, n, args)) return false;
  int n_out = 0;
  ac_value **outs = ac_graph_apply(s.mini, n->op, args, n->n_args, n->loc, &n_out);
  if (!outs || n_out != n->n_outs) return false;
  for (int i = 0; i < n_out; i++) {
    if (outs[i]->dtype != n->outs[i]->dtype) return false;
    ac_graph_output(s.mini, ac_sprintf(e->a, "o%d", i), outs[i], -1);
  }
  ac_ref_opts opts = {.inputs = s.inputs.data, .threads = 1};
  ac_ref *r = ac_ref_new(e->a, s.mini, &opts, &quiet);
  bool ok = r != NULL;
  for (int i = 0; ok && i < n_out; i++)
    ok = read_output(e, r, i, n->outs[i], ac_op_error_class(n->op) != AC_ERR_EXACT);
  ac_ref_free(r);
  return ok;
}

double *ac_eager_output(ac_arena *a, const ac_graph *g, const void *const *inputs, int out, uint64_t variant) {
  eager e = {.a = ac_arena_new(), .g = g, .inputs = inputs, .left = MOST_ELEMENTS, .variant = variant};
  int top = 0;
  for (size_t i = 0; i < g->values.len; i++)
    if (g->values.data[i]->id > top) top = g->values.data[i]->id;
  e.data = AC_NEW_N(e.a, const void *, top + 1);
  bool ok = true;
  for (size_t i = 0; ok && i < g->nodes.len; i++) ok = evaluate(&e, g->nodes.data[i]);
  const ac_value *v = g->outputs.data[out].value;
  double *result = NULL;
  if (ok && e.data[v->id]) {
    ac_shape shape = ac_value_example(v);
    int64_t n = ac_shape_numel(&shape);
    result = AC_NEW_N(a, double, n + 1);
    for (int64_t i = 0; i < n; i++) result[i] = ac_load(v->dtype, e.data[v->id], i);
  }
  ac_arena_free(e.a);
  return result;
}

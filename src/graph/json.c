/* Graphs as JSON, both ways. Version 1.
 *
 *   {"version": 1, "name": ..., "seed": ..., "vars": [...], "guards": [...], "inputs": [...], "nodes": [...], "outputs": [...], "gen": {...}}
 *
 * A size is an int, a variable's name "s0", or ["+" | "*" | "//" | "%" | "min" | "max", size, size]. Values are numbered in the order of
 * the nodes' outputs. What is read is not trusted: every node goes through its rule again and must give the recorded types. */
#include "graph/internal.h"

#include <math.h>
#include <string.h>

static const char *const ops[] = {[AC_SYM_ADD] = "+", [AC_SYM_MUL] = "*",   [AC_SYM_FLOORDIV] = "//",
                                  [AC_SYM_MOD] = "%", [AC_SYM_MIN] = "min", [AC_SYM_MAX] = "max"};
static const char *const guard_kinds[] = {
    [AC_GUARD_EQ] = "==", [AC_GUARD_NE] = "!=", [AC_GUARD_LT] = "<", [AC_GUARD_LE] = "<="};
static const char *const roles[] = {
    [AC_IN_TENSOR] = "input", [AC_IN_SCALAR] = "number", [AC_IN_PARAM] = "parameter", [AC_IN_BUFFER] = "buffer"};

/* ---- writing ---- */

static json_t *sym_json(const ac_graph *g, const ac_sym *s) {
  if (s->kind == AC_SYM_CONST) return json_integer(s->example);
  if (s->kind == AC_SYM_VAR) return json_string(g->vars.data[s->var].name);
  json_t *a = json_array();
  json_array_append_new(a, json_string(ops[s->kind]));
  json_array_append_new(a, sym_json(g, s->a));
  json_array_append_new(a, sym_json(g, s->b));
  return a;
}

static json_t *syms_json(const ac_graph *g, int n, const ac_sym *const *s) {
  json_t *a = json_array();
  for (int i = 0; i < n; i++) json_array_append_new(a, sym_json(g, s[i]));
  return a;
}

/* JSON has no inf and nan: they are words. */
static json_t *real_json(double v) {
  if (isnan(v)) return json_string("nan");
  if (isinf(v)) return json_string(v > 0 ? "inf" : "-inf");
  return json_real(v);
}

static json_t *arg_json(const ac_graph *g, const ac_arg *a) {
  json_t *j;
  switch (a->kind) {
  case AC_K_TENSOR: return json_integer(a->t->id);
  case AC_K_TENSORS:
    j = json_array();
    for (int i = 0; i < a->n; i++) json_array_append_new(j, json_integer(a->ts[i]->id));
    return j;
  case AC_K_SCALAR:
    j = json_object();
    if (a->is_bool)
      json_object_set_new(j, "bool", json_boolean(a->f != 0));
    else if (a->is_int)
      json_object_set_new(j, "int", sym_json(g, a->i));
    else
      json_object_set_new(j, "float", real_json(a->f));
    return j;
  case AC_K_INT: return sym_json(g, a->i);
  case AC_K_INTS: return syms_json(g, a->n, (const ac_sym *const *)a->is);
  case AC_K_FLOAT: return real_json(a->f);
  case AC_K_BOOL: return json_boolean(a->b);
  case AC_K_STR: return json_string(a->s);
  case AC_K_DTYPE: return json_string(ac_dtypes[a->d].name);
  }
  return json_null();
}

static void loc_json(json_t *o, ac_loc l) {
  if (l.file) json_object_set_new(o, "file", json_string(l.file));
  if (l.line) json_object_set_new(o, "line", json_integer(l.line));
  if (l.col) json_object_set_new(o, "col", json_integer(l.col));
  if (l.end_col) json_object_set_new(o, "end_col", json_integer(l.end_col));
}

static json_t *value_json(const ac_graph *g, const ac_value *v) {
  json_t *o = json_object();
  json_object_set_new(o, "dtype", json_string(ac_dtypes[v->dtype].name));
  json_object_set_new(o, "shape", syms_json(g, v->rank, (const ac_sym *const *)v->shape));
  if (v->weak) json_object_set_new(o, "weak", json_true());
  return o;
}

static json_t *node_json(const ac_graph *g, const ac_node *n) {
  const ac_opinfo *o = ac_op_info(n->op);
  json_t *j = json_object(), *args = json_object(), *outs = json_array();
  json_object_set_new(j, "op", json_string(o->id));
  for (int i = 0; i < n->n_args; i++)
    if (!n->args[i].absent) json_object_set_new(args, o->params[i].name, arg_json(g, &n->args[i]));
  for (int i = 0; i < n->n_outs; i++) json_array_append_new(outs, value_json(g, n->outs[i]));
  json_object_set_new(j, "args", args);
  json_object_set_new(j, "outs", outs);
  loc_json(j, n->loc);
  return j;
}

static json_t *vars_json(const ac_graph *g) {
  json_t *a = json_array();
  for (size_t i = 0; i < g->vars.len; i++) {
    const ac_symvar *v = &g->vars.data[i];
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string(v->name));
    json_object_set_new(o, "example", json_integer(v->example));
    json_object_set_new(o, "input", json_integer(v->input));
    json_object_set_new(o, "dim", json_integer(v->dim));
    json_array_append_new(a, o);
  }
  return a;
}

static json_t *guards_json(const ac_graph *g) {
  json_t *a = json_array();
  for (size_t i = 0; i < g->guards.len; i++) {
    const ac_guard *x = &g->guards.data[i];
    json_t *o = json_object();
    json_object_set_new(o, "kind", json_string(guard_kinds[x->kind]));
    json_object_set_new(o, "a", sym_json(g, x->a));
    json_object_set_new(o, "b", sym_json(g, x->b));
    json_object_set_new(o, "reason", json_string(x->reason ? x->reason : ""));
    json_object_set_new(o, "rule", json_boolean(x->rule));
    loc_json(o, x->loc);
    json_array_append_new(a, o);
  }
  return a;
}

/* The id of v in g, or -1: a generator may have been dropped. */
static int id_in(const ac_graph *g, const ac_value *v) {
  return g && v && v->id >= 0 && v->id < (int)g->values.len && g->values.data[v->id] == v ? v->id : -1;
}

static json_t *inputs_json(const ac_graph *g) {
  json_t *a = json_array();
  for (size_t i = 0; i < g->inputs.len; i++) {
    const ac_input *x = &g->inputs.data[i];
    int gen = id_in(g->gen, x->gen);
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string(x->name));
    json_object_set_new(o, "role", json_string(roles[x->role]));
    json_object_set_new(o, "value", json_integer(x->value->id));
    if (x->role == AC_IN_SCALAR) json_object_set_new(o, "scalar", real_json(x->scalar));
    if (gen >= 0) json_object_set_new(o, "gen", json_integer(gen));
    json_array_append_new(a, o);
  }
  return a;
}

static json_t *outputs_json(const ac_graph *g) {
  json_t *a = json_array();
  for (size_t i = 0; i < g->outputs.len; i++) {
    const ac_output *x = &g->outputs.data[i];
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string(x->name ? x->name : ""));
    json_object_set_new(o, "value", json_integer(x->value->id));
    json_object_set_new(o, "updates", json_integer(x->updates));
    json_array_append_new(a, o);
  }
  return a;
}

json_t *ac_graph_to_json(const ac_graph *g) {
  json_t *j = json_object(), *nodes = json_array();
  for (size_t i = 0; i < g->nodes.len; i++) json_array_append_new(nodes, node_json(g, g->nodes.data[i]));
  json_object_set_new(j, "version", json_integer(1));
  json_object_set_new(j, "name", g->name ? json_string(g->name) : json_null());
  json_object_set_new(j, "seed", json_integer((json_int_t)g->seed));
  json_object_set_new(j, "vars", vars_json(g));
  json_object_set_new(j, "guards", guards_json(g));
  json_object_set_new(j, "inputs", inputs_json(g));
  json_object_set_new(j, "nodes", nodes);
  json_object_set_new(j, "outputs", outputs_json(g));
  if (g->gen) json_object_set_new(j, "gen", ac_graph_to_json(g->gen));
  return j;
}

/* ---- reading ---- */

typedef struct {
  ac_graph *g;
  ac_diags *d;
  const char *where; /* "node 3 (add)" */
} reader;

static bool bad(reader *r, const char *fmt, ...) AC_PRINTF(2, 3);
static bool bad(reader *r, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = ac_vsprintf(r->g->arena, fmt, ap);
  va_end(ap);
  ac_diag *x = ac_error(r->d, AC0310, AC_NOLOC, "%s: %s", r->where, text);
  ac_help(r->d, x, "the file was changed by hand or written by another version; make it again from the source");
  return false;
}

static const char *text_of(const json_t *o, const char *key) {
  return json_string_value(json_object_get(o, key));
}

static bool int_of(const json_t *o, const char *key, int64_t lo, int64_t hi, int64_t *v) {
  const json_t *x = json_object_get(o, key);
  *v = json_integer_value(x);
  return json_is_integer(x) && *v >= lo && *v <= hi;
}

static const ac_sym *sym_of(reader *r, const json_t *j, int depth) {
  ac_graph *g = r->g;
  if (json_is_integer(j)) return ac_sym_int(g, json_integer_value(j));
  if (json_is_string(j))
    for (size_t i = 0; i < g->vars.len; i++)
      if (s_eq(g->vars.data[i].name, json_string_value(j))) return ac_sym_var(g, (int)i);
  const char *op = json_array_size(j) == 3 ? json_string_value(json_array_get(j, 0)) : NULL;
  for (size_t k = AC_SYM_ADD; op && depth < 200 && k < AC_COUNT(ops); k++) {
    if (!s_eq(ops[k], op)) continue;
    const ac_sym *a = sym_of(r, json_array_get(j, 1), depth + 1),
                 *b = a ? sym_of(r, json_array_get(j, 2), depth + 1) : NULL;
    const ac_sym *s = b ? ac_sym_op(g, (ac_symkind)k, a, b) : NULL;
    if (b && g->priv->failed) bad(r, "a size overflows");
    return g->priv->failed ? NULL : s;
  }
  bad(r, "not a size");
  return NULL;
}

static const ac_sym **syms_of(reader *r, const json_t *j, int *n) {
  if (!json_is_array(j) || json_array_size(j) > 1 << 16) {
    bad(r, "not a list of sizes");
    return NULL;
  }
  *n = (int)json_array_size(j);
  const ac_sym **s = AC_NEW_N(r->g->arena, const ac_sym *, *n);
  for (int i = 0; i < *n; i++)
    if (!(s[i] = sym_of(r, json_array_get(j, (size_t)i), 0))) return NULL;
  return s;
}

static bool real_of(const json_t *j, double *v) {
  const char *s = json_string_value(j);
  if (s) {
    *v = s_eq(s, "nan") ? NAN : s_eq(s, "inf") ? INFINITY : -INFINITY;
    return s_eq(s, "nan") || s_eq(s, "inf") || s_eq(s, "-inf");
  }
  *v = json_number_value(j);
  return json_is_number(j);
}

static ac_value *value_of(reader *r, const json_t *j) {
  int64_t id = json_integer_value(j);
  if (json_is_integer(j) && id >= 0 && id < (int64_t)r->g->values.len) return r->g->values.data[id];
  bad(r, "refers to a value that is not made before it");
  return NULL;
}

static bool scalar_of(reader *r, const json_t *j, ac_arg *a) {
  const json_t *b = json_object_get(j, "bool"), *i = json_object_get(j, "int"), *f = json_object_get(j, "float");
  a->is_bool = json_is_boolean(b);
  a->is_int = b || i;
  if (f) return real_of(f, &a->f) || bad(r, "not a number");
  if (b && !a->is_bool) return bad(r, "not a bool");
  if (!b && !i) return bad(r, "not a number");
  a->i = b ? ac_sym_int(r->g, json_is_true(b)) : sym_of(r, i, 0);
  if (a->i) a->f = (double)a->i->example;
  return a->i != NULL;
}

static bool tensors_of(reader *r, const json_t *j, ac_arg *a) {
  if (!json_is_array(j) || json_array_size(j) > 1 << 16) return bad(r, "not a list of values");
  a->n = (int)json_array_size(j);
  a->ts = AC_NEW_N(r->g->arena, ac_value *, a->n);
  for (int i = 0; i < a->n; i++)
    if (!(a->ts[i] = value_of(r, json_array_get(j, (size_t)i)))) return false;
  return true;
}

static bool arg_of(reader *r, const ac_opparam *p, const json_t *j, ac_arg *a) {
  *a = (ac_arg){.kind = p->kind, .absent = !j};
  if (!j) {
    bool may = p->optional || (p->default_text && s_eq(p->default_text, "None"));
    return may || bad(r, "argument `%s` is missing", p->name);
  }
  switch (p->kind) {
  case AC_K_TENSOR: return (a->t = value_of(r, j)) != NULL;
  case AC_K_TENSORS: return tensors_of(r, j, a);
  case AC_K_SCALAR: return scalar_of(r, j, a);
  case AC_K_INT: return (a->i = sym_of(r, j, 0)) != NULL;
  case AC_K_INTS: return (a->is = syms_of(r, j, &a->n)) != NULL;
  case AC_K_FLOAT: return real_of(j, &a->f) || bad(r, "argument `%s` is not a number", p->name);
  case AC_K_BOOL: a->b = json_is_true(j); return json_is_boolean(j) || bad(r, "argument `%s` is not a bool", p->name);
  case AC_K_STR:
    if (!json_is_string(j)) return bad(r, "argument `%s` is not a string", p->name);
    a->s = ac_strdup(r->g->arena, json_string_value(j));
    return true;
  case AC_K_DTYPE:
    a->d = ac_dtype_of(json_string_value(j));
    return a->d != AC_NODTYPE || bad(r, "argument `%s` is not a dtype", p->name);
  }
  return false;
}

static ac_loc loc_of(reader *r, const json_t *o) {
  ac_loc l = {0};
  const char *file = text_of(o, "file");
  if (file) l.file = ac_strdup(r->g->arena, file);
  l.line = (int)json_integer_value(json_object_get(o, "line"));
  l.col = (int)json_integer_value(json_object_get(o, "col"));
  l.end_col = (int)json_integer_value(json_object_get(o, "end_col"));
  return l;
}

static bool type_of(reader *r, const json_t *o, ac_type *t) {
  int n;
  t->dtype = ac_dtype_of(text_of(o, "dtype"));
  if (t->dtype == AC_NODTYPE) return bad(r, "unknown dtype");
  const ac_sym **s = syms_of(r, json_object_get(o, "shape"), &n);
  if (!s) return false;
  if (n > AC_MAX_RANK) return bad(r, "%d dimensions", n);
  t->rank = n;
  if (n) memcpy(t->shape, s, (size_t)n * sizeof *s);
  t->weak = json_is_true(json_object_get(o, "weak"));
  for (int i = 0; i < n; i++)
    if (s[i]->example < 0) return bad(r, "a negative size");
  return true;
}

/* The recorded type against the rule's; the recorded (resolved) sizes are kept. */
static bool same_type(reader *r, ac_type *t, const json_t *j) {
  ac_type want = {0};
  if (!type_of(r, j, &want)) return false;
  bool same = t->dtype == want.dtype && t->weak == want.weak && t->rank == want.rank;
  for (int i = 0; same && i < t->rank; i++) same = ac_sym_equal(r->g, t->shape[i], want.shape[i]);
  if (!same) return bad(r, "its recorded type is not what its rule gives");
  *t = want;
  return true;
}

static bool read_node(reader *r, const json_t *j) {
  ac_graph *g = r->g;
  const char *id = text_of(j, "op");
  ac_op op = id ? ac_op_of(id) : AC_OP_COUNT;
  if (op == AC_OP_COUNT || ac_op_info(op)->cls == C_COMP) return bad(r, "unknown operation '%s'", id ? id : "");
  ac_rule rule = {.g = g, .op = op, .info = ac_op_info(op), .loc = loc_of(r, j), .n_out = 1};
  const json_t *args = json_object_get(j, "args"), *outs = json_object_get(j, "outs");
  rule.args = AC_NEW_N(g->arena, ac_arg, rule.info->n_params);
  for (int i = 0; i < rule.info->n_params; i++)
    if (!arg_of(r, &rule.info->params[i], json_object_get(args, rule.info->params[i].name), &rule.args[i]))
      return false;
  if (op == AC_G_INPUT) {
    if (!type_of(r, json_array_get(outs, 0), &rule.out[0])) return false;
  } else {
    g->priv->frozen = true;
    g->priv->missing = 0;
    g->priv->outer = op;
    bool ok = ac_rule_infer(&rule) && !g->priv->failed;
    g->priv->frozen = false;
    if (!ok) return false;
    if (g->priv->missing) return bad(r, "guards that it needs are missing");
  }
  if ((int)json_array_size(outs) != rule.n_out) return bad(r, "wrong number of outputs");
  for (int k = 0; op != AC_G_INPUT && k < rule.n_out; k++)
    if (!same_type(r, &rule.out[k], json_array_get(outs, (size_t)k))) return false;
  return ac_rule_emit(&rule) != NULL;
}

static bool read_var(reader *r, const json_t *j, int64_t n_inputs) {
  int64_t example, input, dim;
  const char *name = text_of(j, "name");
  if (!name || !int_of(j, "example", INT64_MIN, INT64_MAX, &example) ||
      !int_of(j, "input", -1, n_inputs - 1, &input) || !int_of(j, "dim", -1, AC_MAX_RANK - 1, &dim) ||
      (dim >= 0 && example < 0))
    return bad(r, "not a variable");
  ac_sym_fresh(r->g, example, (int)input, (int)dim);
  r->g->vars.data[r->g->vars.len - 1].name = ac_strdup(r->g->arena, name);
  return true;
}

static bool read_guard(reader *r, const json_t *j) {
  const char *kind = text_of(j, "kind"), *reason = text_of(j, "reason");
  ac_guard x = {.loc = loc_of(r, j),
                .reason = ac_strdup(r->g->arena, reason ? reason : ""),
                .rule = json_is_true(json_object_get(j, "rule"))};
  size_t k = 0;
  while (kind && k < AC_COUNT(guard_kinds) && !s_eq(guard_kinds[k], kind)) k++;
  if (!kind || k == AC_COUNT(guard_kinds)) return bad(r, "unknown kind");
  x.kind = (ac_guardkind)k;
  x.a = sym_of(r, json_object_get(j, "a"), 0);
  x.b = x.a ? sym_of(r, json_object_get(j, "b"), 0) : NULL;
  if (!x.b) return false;
  if (!ac_guard_holds(x.kind, x.a->example, x.b->example)) return bad(r, "does not hold at the example");
  ac_sym_record(r->g, x);
  return !r->g->priv->failed;
}

static bool read_input(reader *r, const json_t *j) {
  ac_graph *g = r->g;
  const char *name = text_of(j, "name"), *role = text_of(j, "role");
  size_t k = 0;
  while (role && k < AC_COUNT(roles) && !s_eq(roles[k], role)) k++;
  ac_input in = {.name = ac_strdup(g->arena, name ? name : "")};
  if (!name || !role || k == AC_COUNT(roles)) return bad(r, "unknown role or no name");
  in.role = (ac_inrole)k;
  in.value = value_of(r, json_object_get(j, "value"));
  if (!in.value) return false;
  if (in.value->def->op != AC_G_INPUT || !s_is(in.value->def->args[0].i, (int64_t)g->inputs.len))
    return bad(r, "its value is not this input");
  if (in.role == AC_IN_SCALAR && !real_of(json_object_get(j, "scalar"), &in.scalar)) return bad(r, "no value");
  in.value->name = in.name;
  const json_t *gen = json_object_get(j, "gen");
  if (gen) {
    reader inner = {g->gen, r->d, r->where};
    if (!g->gen) return bad(r, "no generator graph");
    if (!(in.gen = value_of(&inner, gen))) return false;
  }
  ac_push(g->arena, &g->inputs, in);
  return true;
}

static bool read_output(reader *r, const json_t *j) {
  ac_graph *g = r->g;
  int64_t updates;
  ac_value *v = value_of(r, json_object_get(j, "value"));
  if (!v) return false;
  if (!int_of(j, "updates", -1, (int64_t)g->inputs.len - 1, &updates))
    return bad(r, "updates an input that is not there");
  ac_graph_output(g, text_of(j, "name") ? text_of(j, "name") : "", v, (int)updates);
  return true;
}

typedef bool (*read_fn)(reader *, const json_t *);

static bool each(reader *r, const json_t *j, const char *key, const char *what, read_fn f) {
  const json_t *a = json_object_get(j, key);
  r->where = what;
  if (!json_is_array(a)) return bad(r, "`%s` is not a list", key);
  for (size_t i = 0; i < json_array_size(a); i++) {
    const json_t *x = json_array_get(a, i);
    const char *op = text_of(x, "op");
    r->where = ac_sprintf(r->g->arena, "%s %zu%s%s%s", what, i, op ? " (" : "", op ? op : "", op ? ")" : "");
    int before = r->d->errors;
    if (f(r, x)) continue;
    /* a rule's own message went to the quiet list */
    const ac_diags *quiet = r->g->diags;
    return r->d->errors > before
               ? false
               : bad(r, "%s", quiet->list.len ? quiet->list.data[quiet->list.len - 1]->message : "not valid");
  }
  return true;
}

ac_graph *ac_graph_from_json(ac_arena *a, const json_t *j, ac_diags *d) {
  ac_diags quiet; /* the rules' own messages: ours says where */
  ac_diags_init(&quiet, a);
  ac_graph *g = ac_graph_new(a, &quiet);
  reader r = {g, d, "graph"};
  int64_t version, seed;
  if (!int_of(j, "version", 1, 1, &version)) {
    bad(&r, json_is_object(j) ? "not version 1" : "not an object");
    return NULL;
  }
  int_of(j, "seed", INT64_MIN, INT64_MAX, &seed);
  g->seed = (uint64_t)seed;
  if (text_of(j, "name")) g->name = ac_strdup(a, text_of(j, "name"));
  const json_t *gen = json_object_get(j, "gen"), *vars = json_object_get(j, "vars");
  if (gen && !(g->gen = ac_graph_from_json(a, gen, d))) return NULL;
  /* a generator graph's variables belong to the inputs of the graph around it */
  int64_t n_inputs = (int64_t)json_array_size(json_object_get(j, "inputs"));
  for (size_t i = 0; i < json_array_size(vars); i++) {
    r.where = "vars";
    if (!read_var(&r, json_array_get(vars, i), n_inputs ? n_inputs : INT32_MAX)) return NULL;
  }
  if (!each(&r, j, "guards", "guard", read_guard) || !each(&r, j, "nodes", "node", read_node) ||
      !each(&r, j, "inputs", "input", read_input) || !each(&r, j, "outputs", "output", read_output))
    return NULL;
  g->diags = d;
  return g;
}

/* Pass "host": the host function becomes tiling code.
 *
 * Every scalar that a kernel parameter needs is a tiling field; every path is one tiling key (phases.c). A path that launches nothing
 * gets key 0. Names stay those of the program, so that the generated code can be read beside it. */
#include "lower/internal.h"

#include <string.h>

typedef struct {
  ac_lower_ctx *c;
  ac_lvars vars;
  ac_lscope scope;
  bool ok;
} host;

static bool block(host *h, const ac_cstmt *first, ac_ablock *out);

/* ---- kernels and fields ---- */

static ac_akernel *kernel_of(ac_lower_ctx *c, ac_cfunc *f, int *index) {
  for (size_t i = 0; i < c->kernels.len; i++)
    if (c->kernels.data[i]->fn == f) return *index = (int)i, c->kernels.data[i]->k;
  ac_lkernel *lk = AC_NEW(c->a, ac_lkernel);
  ac_akernel *k = lk->k = AC_NEW(c->a, ac_akernel);
  lk->fn = f;
  k->name = f->name;
  const char *base = f->name;
  size_t n = strlen(base);
  if (n > 7 && !strcmp(base + n - 7, "_kernel")) base = ac_strndup(c->a, base, n - 7);
  k->cls = ac_sprintf(c->a, "Kernel%s", ac_lower_pascal(c->a, base));
  k->comments = f->comments;
  k->doc = f->doc;
  k->loc = f->loc;
  k->tensors = AC_NEW_N(c->a, const char *, f->n_params);
  ac_lower_scope(c->a, f, &lk->vars);
  for (int i = 0; i < f->n_params; i++) {
    const ac_cparam *p = &f->params[i];
    const char *name = ac_lower_name(c->a, p->name);
    if (p->type == AC_CT_POINTER) {
      size_t len = strlen(name);
      const char *stem = len > 4 && !strcmp(name + len - 4, "_ptr") ? ac_strndup(c->a, name, len - 4) : name;
      ac_agm g = {.name = ac_lower_unique(c->a, lk, ac_sprintf(c->a, "%sGm", stem)),
                  .dtype = p->dtype,
                  .param = k->n_tensors,
                  .in = p->in,
                  .out = p->out};
      k->tensors[k->n_tensors++] = name;
      if (p->in || p->out) ac_push(c->a, &k->gms, g);
    } else {
      ac_akfield fld = {.name = name, .type = ac_lvar_find(&lk->vars, name)->type, .field = -1};
      ac_push(c->a, &k->fields, fld);
    }
  }
  ac_push(c->a, &c->kernels, lk);
  ac_push(c->a, &c->p->kernels, k);
  return *index = (int)c->kernels.len - 1, k;
}

/* ---- statements ---- */

static void fail(host *h, const ac_cstmt *s, const char *what) {
  ac_diag *x = ac_error(h->c->d, AC0608, s->loc, "%s has no form in tiling code", what);
  ac_help(h->c->d, x, "the host function computes sizes, branches on them and launches kernels");
  h->ok = false;
}

static ac_aexpr *expr(host *h, const ac_cexpr *e) {
  ac_lconv v = {.c = h->c};
  ac_aexpr *r = ac_lower_expr(&v, e);
  if (!r) h->ok = false;
  return r;
}

static ac_aexpr *condition(host *h, const ac_cexpr *e) {
  ac_aexpr *r = expr(h, e);
  return r ? ac_ae_to_bool(h->c->a, r) : NULL;
}

static ac_astmt *add(host *h, ac_ablock *out, ac_askind k, const ac_cstmt *s) {
  for (size_t i = 0; i < s->comments.len; i++) {
    ac_astmt *cm = ac_as_comment(h->c->a, s->comments.data[i], s->loc);
    ac_push(h->c->a, out, cm);
  }
  ac_astmt *n = ac_as_new(h->c->a, k, s->loc);
  n->trailing = s->trailing;
  ac_push(h->c->a, out, n);
  return n;
}

static int find_tensor(host *h, const ac_cexpr *e) {
  const char *n = e->kind == AC_CE_NAME ? ac_lower_name(h->c->a, e->s) : "";
  for (size_t i = 0; i < h->c->p->tensors.len; i++)
    if (!strcmp(h->c->p->tensors.data[i].name, n)) return (int)i;
  for (size_t i = h->c->p->workspaces.len; i-- > 0;) /* the last one of the name: branches may have their own */
    if (!strcmp(h->c->p->workspaces.data[i].name, n)) return -1 - (int)i;
  return INT32_MAX;
}

static bool positive(const ac_program *p, const ac_aexpr *e, int depth);

/* Everything that the variable is set to so far is at least 1; launches stand outside of loops, so later text does not matter. */
static bool set_positive(const ac_program *p, const ac_ablock *b, const char *name, int depth, bool *found) {
  for (size_t i = 0; i < b->len; i++) {
    const ac_astmt *s = b->data[i];
    bool here =
        (s->kind == AC_AS_DECL || s->kind == AC_AS_ASSIGN || s->kind == AC_AS_FOR) && !strcmp(s->var.name, name);
    if (here && (s->kind == AC_AS_FOR || !positive(p, s->value, depth))) return false;
    *found |= here;
    if (!set_positive(p, &s->body, name, depth, found) || !set_positive(p, &s->orelse, name, depth, found))
      return false;
  }
  return true;
}

/* At least 1 whatever the shapes are. */
static bool positive(const ac_program *p, const ac_aexpr *e, int depth) {
  bool found = false;
  if (!e || depth > 8) return false;
  switch (e->kind) {
  case AC_AE_INT: return e->i >= 1;
  case AC_AE_CORES: return true;
  case AC_AE_MAX: return positive(p, e->a, depth + 1) || positive(p, e->b, depth + 1);
  case AC_AE_MIN: return positive(p, e->a, depth + 1) && positive(p, e->b, depth + 1);
  case AC_AE_VAR: return set_positive(p, &p->host, e->name, depth + 1, &found) && found;
  default: return false;
  }
}

/* A launch of no blocks does nothing: then its path ends without one; of several launches the others count. */
static ac_astmt *launch_statement(host *h, const ac_cstmt *s, ac_aexpr *blocks, ac_ablock *out) {
  if (h->c->p->phased || !blocks || positive(h->c->p, blocks, 0)) return add(h, out, AC_AS_LAUNCH, s);
  ac_astmt *some = add(h, out, AC_AS_IF, s), *none = ac_as_new(h->c->a, AC_AS_NOTHING, s->loc),
           *st = ac_as_new(h->c->a, AC_AS_LAUNCH, s->loc);
  some->cond = ac_ae_bin(h->c->a, AC_AE_LT, blocks, ac_ae_int(h->c->a, 1));
  some->trailing = NULL;
  ac_push(h->c->a, &some->body, none);
  ac_push(h->c->a, &some->orelse, st);
  return st;
}

static void launch(host *h, const ac_cstmt *s, ac_ablock *out) {
  ac_lower_ctx *c = h->c;
  ac_cfunc *f = ac_craft_launch_kernel(c->m, s);
  ac_aexpr *blocks = expr(h, ac_craft_launch_cores(s));
  ac_astmt *st = launch_statement(h, s, blocks, out);
  ac_alaunch *l = st->launch = AC_NEW(c->a, ac_alaunch);
  ac_akernel *k = kernel_of(c, f, &l->kernel);
  l->blocks = blocks;
  l->values = AC_NEW_N(c->a, ac_aexpr *, k->fields.len);
  l->tensors = AC_NEW_N(c->a, int, k->n_tensors);
  int nf = 0, nt = 0, at = 0;
  const ac_cexpr *call = s->value;
  for (int i = 0; i < f->n_params; i++) {
    const ac_cexpr *arg = NULL;
    for (int j = 0; j < call->n_args; j++) {
      if (call->kw && call->kw[j] ? !strcmp(call->kw[j], f->params[i].name) : j == at) arg = call->args[j];
    }
    if (arg && at < call->n_args && arg == call->args[at]) at++;
    if (!arg) arg = f->params[i].init;
    if (!arg) {
      fail(h, s, "a launch that leaves out a parameter");
      return;
    }
    if (f->params[i].type == AC_CT_POINTER) {
      int t = find_tensor(h, arg);
      if (t == INT32_MAX) {
        fail(h, s, "a launch with anything but a tensor where the kernel takes one");
        return;
      }
      l->tensors[nt++] = t;
    } else {
      ac_aexpr *v = expr(h, arg);
      if (!v) return;
      if (k->fields.data[nf].type == AC_AT_FLOAT && v->type != AC_AT_FLOAT) v = ac_ae_to_float(c->a, v);
      l->values[nf++] = v;
    }
  }
  ac_push(c->a, &c->p->launches, l);
}

static void workspace(host *h, const ac_cstmt *s) {
  ac_aworkspace w = {.name = ac_lower_name(h->c->a, s->target->s)};
  w.elements = expr(h, s->value->args[0]);
  w.dtype = s->value->args[1] ? s->value->args[1]->dtype : AC_F32;
  ac_afield f = {.name = ac_sprintf(h->c->a, "%sOffset", w.name), .type = AC_AT_INT};
  for (size_t i = 0; i < h->c->p->fields.len; i++)
    if (!strcmp(h->c->p->fields.data[i].name, f.name))
      f.name = ac_sprintf(h->c->a, "%sOffset%zu", w.name, h->c->p->workspaces.len + 1);
  w.field = (int)h->c->p->fields.len;
  ac_push(h->c->a, &h->c->p->fields, f);
  ac_push(h->c->a, &h->c->p->workspaces, w);
}

static void set(host *h, const ac_cstmt *s, const ac_cexpr *target, ac_aexpr *value, ac_ablock *out) {
  ac_arena *a = h->c->a;
  const char *name = ac_lower_name(a, target->s);
  ac_lvar *v = ac_lvar_find(&h->vars, name);
  if (!v || !value) return;
  bool known = v->hoist || v->param || ac_scope_has(&h->scope, name);
  ac_astmt *n = add(h, out, known ? AC_AS_ASSIGN : AC_AS_DECL, s);
  n->var = (ac_avar){.name = name, .type = v->type};
  n->value = v->type == AC_AT_FLOAT ? ac_ae_to_float(a, value) : value;
  if (!known) ac_scope_add(a, &h->scope, name);
}

/* `a, b = x.shape` */
static ac_aexpr *shape_part(host *h, const ac_cexpr *value, int i) {
  if (value->kind == AC_CE_TUPLE) return i < value->n_args ? expr(h, value->args[i]) : NULL;
  ac_aexpr *e = ac_ae(h->c->a, AC_AE_DIM, AC_AT_INT, ac_ae_int(h->c->a, i), NULL);
  e->tensor = value->kind == AC_CE_ATTR ? find_tensor(h, value->a) : -1;
  return e->tensor >= 0 && e->tensor != INT32_MAX ? e : NULL;
}

static void assign(host *h, const ac_cstmt *s, ac_ablock *out) {
  static const ac_aekind aug[] = {
      [AC_OP_ADD] = AC_AE_ADD, [AC_OP_SUB] = AC_AE_SUB,           [AC_OP_MUL] = AC_AE_MUL,
      [AC_OP_DIV] = AC_AE_DIV, [AC_OP_FLOORDIV] = AC_AE_FLOORDIV, [AC_OP_MOD] = AC_AE_MOD};
  if (s->value->prim == AC_P_EMPTY) {
    workspace(h, s);
    return;
  }
  if (s->target->kind == AC_CE_TUPLE) {
    for (int i = 0; i < s->target->n_args; i++) {
      ac_aexpr *v = shape_part(h, s->value, i);
      if (!v) {
        fail(h, s, "this assignment to several names");
        return;
      }
      set(h, s, s->target->args[i], v, out);
    }
    return;
  }
  if (!ac_is_scalar(s->value)) {
    if (s->value->type == AC_CT_NONE) fail(h, s, "this assignment");
    return;
  }
  ac_aexpr *v = expr(h, s->value);
  if (v && s->op != AC_OP_NOP) v = ac_ae_bin(h->c->a, aug[s->op], expr(h, s->target), v);
  set(h, s, s->target, v, out);
}

static void loop(host *h, const ac_cstmt *s, ac_ablock *out) {
  ac_astmt *n = add(h, out, AC_AS_FOR, s);
  ac_lvar *v = ac_lvar_find(&h->vars, ac_lower_name(h->c->a, s->target->s));
  n->var = (ac_avar){.name = v->name, .type = AC_AT_INT};
  n->lo = expr(h, s->lo);
  n->hi = expr(h, s->hi);
  n->step = s->step ? expr(h, s->step) : ac_ae_int(h->c->a, 1);
  if (v->hoist) {
    fail(h, s, "a loop whose variable is used after it");
    return;
  }
  size_t mark = h->scope.names.len;
  ac_scope_add(h->c->a, &h->scope, v->name);
  block(h, s->body, &n->body);
  ac_scope_cut(&h->scope, mark);
}

static void statement(host *h, const ac_cstmt *s, ac_ablock *out) {
  ac_astmt *n;
  switch (s->kind) {
  case AC_CS_ASSIGN: assign(h, s, out); return;
  case AC_CS_EXPR:
    if (s->value->kind == AC_CE_STR) return;
    if (s->value->prim == AC_P_REFUSE) {
      n = add(h, out, AC_AS_REFUSE, s);
      n->text = s->value->args[0]->s;
      n->n_args = s->value->n_args - 1;
      n->args = AC_NEW_N(h->c->a, ac_aexpr *, n->n_args + 1);
      for (int i = 0; i < n->n_args; i++)
        if (!(n->args[i] = expr(h, s->value->args[i + 1]))) return;
    } else if (ac_craft_launch_kernel(h->c->m, s)) {
      for (const ac_cstmt *g = s->guards; g; g = g->next) statement(h, g, out);
      launch(h, s, out);
    } else
      fail(h, s, "this statement");
    return;
  case AC_CS_IF:
    n = add(h, out, AC_AS_IF, s);
    n->cond = condition(h, s->value);
    block(h, s->body, &n->body);
    block(h, s->orelse, &n->orelse);
    return;
  case AC_CS_FOR: loop(h, s, out); return;
  case AC_CS_WHILE:
    n = add(h, out, AC_AS_WHILE, s);
    n->cond = condition(h, s->value);
    block(h, s->body, &n->body);
    return;
  case AC_CS_RETURN: add(h, out, AC_AS_NOTHING, s); return;
  case AC_CS_BREAK: add(h, out, AC_AS_BREAK, s); return;
  case AC_CS_PASS: return;
  default: fail(h, s, "this statement"); return;
  }
}

/* A launch is the end of its path, unless others follow somewhere in the program. */
static bool ends(const ac_program *p, const ac_ablock *b);
static bool stmt_ends(const ac_program *p, const ac_astmt *s) {
  if (s->kind == AC_AS_REFUSE || s->kind == AC_AS_NOTHING) return true;
  if (s->kind == AC_AS_LAUNCH) return !p->phased;
  return s->kind == AC_AS_IF && ends(p, &s->body) && ends(p, &s->orelse);
}
static bool ends(const ac_program *p, const ac_ablock *b) {
  return b->len && stmt_ends(p, b->data[b->len - 1]);
}

static bool block(host *h, const ac_cstmt *first, ac_ablock *out) {
  size_t mark = h->scope.names.len;
  for (const ac_cstmt *s = first; s; s = s->next) {
    bool over = out->len && stmt_ends(h->c->p, out->data[out->len - 1]);
    size_t at = out->len;
    if (over && s->kind == AC_CS_RETURN) break;
    statement(h, s, out);
    if (over && at < out->len) { /* nothing runs after a launch or a refusal */
      out->len = at;
      break;
    }
  }
  ac_scope_cut(&h->scope, mark);
  return h->ok;
}

/* An `if` that launches and lets the rest of the function go on: the rest becomes its else, so that every path ends once. */
static void settle(ac_lower_ctx *c, ac_ablock *b) {
  for (size_t i = 0; i < b->len; i++) {
    ac_astmt *s = b->data[i];
    if (s->kind != AC_AS_IF) continue;
    if (i + 1 < b->len && ends(c->p, &s->body) && !s->orelse.len) {
      for (size_t j = i + 1; j < b->len; j++) ac_push(c->a, &s->orelse, b->data[j]);
      b->len = i + 1;
    }
    settle(c, &s->body);
    settle(c, &s->orelse);
  }
}

static void close_paths(ac_lower_ctx *c, ac_ablock *b, ac_loc loc) {
  if (ends(c->p, b)) return;
  ac_astmt *s = b->len ? b->data[b->len - 1] : NULL;
  if (s && s->kind == AC_AS_IF) {
    close_paths(c, &s->body, loc);
    close_paths(c, &s->orelse, loc);
    return;
  }
  ac_astmt *n = ac_as_new(c->a, AC_AS_NOTHING, loc);
  ac_push(c->a, b, n);
}

/* ---- the pass ---- */

static void tensors(ac_lower_ctx *c, const ac_cfunc *f, bool outputs) {
  for (int i = 0; i < f->n_params; i++) {
    const ac_cparam *p = &f->params[i];
    if (p->type != AC_CT_POINTER || (p->out && !p->in) != outputs) continue;
    ac_aparam t = {.name = ac_lower_name(c->a, p->name),
                   .dtype = p->dtype,
                   .loc = p->loc,
                   .dir = p->out ? p->in ? AC_TENSOR_INOUT : AC_TENSOR_OUT : AC_TENSOR_IN};
    ac_push(c->a, &c->p->tensors, t);
  }
}

static bool shape_part_of(ac_lower_ctx *c, const ac_cexpr *e, ac_aoutdim *d) {
  ac_lconv v = {.c = c};
  const ac_cexpr *shape = e->kind == AC_CE_INDEX ? e->a : e;
  host h = {.c = c};
  d->tensor = find_tensor(&h, shape->a);
  const ac_cexpr *s = e->kind == AC_CE_INDEX && e->n_args == 1 ? e->args[0] : NULL;
  if (s && s->a && !(d->from = ac_lower_expr(&v, s->a))) return false;
  if (s && s->b && !(d->to = ac_lower_expr(&v, s->b))) return false;
  return d->tensor >= 0 && d->tensor != INT32_MAX && !(s && s->c);
}

/* The shapes that the program says: once all tensors have their numbers. */
static bool output_shapes(ac_lower_ctx *c, const ac_cfunc *f) {
  for (size_t i = 0; i < c->p->tensors.len; i++) {
    ac_aparam *t = &c->p->tensors.data[i];
    for (int k = 0; k < f->n_params; k++) {
      const ac_cparam *p = &f->params[k];
      if (!p->dims || t->dir != AC_TENSOR_OUT || strcmp(ac_lower_name(c->a, p->name), t->name) != 0) continue;
      t->dims = AC_NEW_N(c->a, ac_aoutdim, p->n_dims + 1);
      t->n_dims = p->n_dims;
      for (int d = 0; d < p->n_dims; d++) {
        const ac_cexpr *e = p->dims[d];
        ac_lconv v = {.c = c};
        bool ok = e->type == AC_CT_SHAPE ? shape_part_of(c, e, &t->dims[d])
                                         : (t->dims[d].size = ac_lower_expr(&v, e)) != NULL;
        if (ok) continue;
        ac_diag *x = ac_error(c->d, AC0609, e->loc, "the shape of '%s' has no form in tiling code: %s", p->name,
                              ac_cexpr_text(c->a, e));
        ac_help(c->d, x, "use sizes of inputs, x.shape[a:b], attributes and constants");
        return false;
      }
    }
  }
  return true;
}

static void attributes(ac_lower_ctx *c, const ac_cfunc *f, ac_lvars *vars) {
  for (int i = 0; i < f->n_params; i++) {
    const ac_cparam *p = &f->params[i];
    if (p->type == AC_CT_POINTER) continue;
    ac_aattr t = {.name = ac_lower_name(c->a, p->name)};
    t.type = ac_lvar_find(vars, t.name)->type;
    if (p->init) {
      ac_lconv v = {.c = c};
      ac_aexpr *e = ac_lower_expr(&v, p->init);
      t.has_default = e && (e->kind == AC_AE_INT || e->kind == AC_AE_FLOAT || e->kind == AC_AE_BOOL);
      if (t.has_default) t.value = e->kind == AC_AE_FLOAT ? e->f : (double)e->i;
    }
    ac_push(c->a, &c->p->attrs, t);
  }
}

bool ac_lower_host(ac_lower_ctx *c) {
  const ac_cfunc *f = ac_craft_host(c->m);
  host h = {.c = c, .ok = true};
  ac_lower_scope(c->a, f, &h.vars);
  tensors(c, f, false);
  tensors(c, f, true);
  if (!c->p->tensors.len) {
    ac_diag *x = ac_error(c->d, AC0611, f->loc, "no parameter of '%s' is a tensor that a kernel uses", f->name);
    ac_help(c->d, x, "an operator has inputs and outputs: load from one parameter, store to another");
    return false;
  }
  bool stores = false;
  for (size_t i = 0; i < c->p->tensors.len; i++) stores |= c->p->tensors.data[i].dir != AC_TENSOR_IN;
  if (!stores) {
    ac_diag *x = ac_error(c->d, AC0611, f->loc, "no kernel stores to a parameter of '%s': the operator has no output",
                          f->name);
    ac_help(c->d, x, "store the result: tl.store(y + ..., buf) in a copyout block");
    return false;
  }
  attributes(c, f, &h.vars);
  if (!output_shapes(c, f)) return false;
  c->p->comments = c->m->comments;
  c->p->host_doc = f->doc;
  c->p->phased = ac_lower_phased(c, f);
  for (size_t i = 0; i < h.vars.len; i++) {
    ac_lvar *v = &h.vars.data[i];
    /* what follows a branch that launches is copied into it: one C++ variable must serve both */
    if (c->p->phased && v->many_homes && !v->loop) v->hoist = true;
    if (!v->hoist || v->param) continue;
    ac_astmt *n = ac_as_new(c->a, AC_AS_DECL, f->loc);
    n->var = (ac_avar){.name = v->name, .type = v->type};
    n->value = v->type == AC_AT_FLOAT ? ac_ae_float(c->a, 0) : ac_ae_int(c->a, 0);
    ac_push(c->a, &c->p->host, n);
  }
  if (!block(&h, f->body, &c->p->host)) return false;
  if (!c->p->phased) {
    settle(c, &c->p->host);
    close_paths(c, &c->p->host, f->loc);
  }
  if (!c->p->launches.len) {
    ac_error(c->d, AC0600, f->loc, "the host function launches no kernel"); /* the checker says so before */
    return false;
  }
  if (!ac_lower_paths(c, f->loc)) return false;
  ac_lower_fields(c);
  return true;
}

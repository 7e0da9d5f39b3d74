/* Which scalars a function has, their types, and where C++ must declare them. */
#include "lower/internal.h"

#include <string.h>

typedef struct {
  ac_arena *a;
  ac_lvars *out;
  const ac_cstmt *blocks[64]; /* first statements of the open blocks */
  int depth;
  const ac_cstmt *stage;
} scan;

ac_lvar *ac_lvar_find(ac_lvars *v, const char *name) {
  size_t at = v->index ? (size_t)(uintptr_t)ac_map_get(v->index, name) : 0;
  return at ? &v->data[at - 1] : NULL;
}

static ac_lvar *add(ac_arena *a, ac_lvars *to, ac_lvar v) {
  if (!to->index) to->index = ac_map_new(a);
  if (!ac_map_has(to->index, v.name)) ac_map_put(to->index, v.name, (void *)(uintptr_t)(to->len + 1));
  ac_push(a, to, v);
  return &to->data[to->len - 1];
}

static size_t times(const ac_lscope *s, const char *name) {
  return s->times ? (size_t)(uintptr_t)ac_map_get(s->times, name) : 0;
}
bool ac_scope_has(const ac_lscope *s, const char *name) {
  return times(s, name) > 0;
}
void ac_scope_add(ac_arena *a, ac_lscope *s, const char *name) {
  if (!s->times) s->times = ac_map_new(a);
  ac_map_put(s->times, name, (void *)(uintptr_t)(times(s, name) + 1));
  ac_push(a, &s->names, name);
}
void ac_scope_cut(ac_lscope *s, size_t len) {
  while (s->names.len > len) {
    const char *name = s->names.data[--s->names.len];
    ac_map_put(s->times, name, (void *)(uintptr_t)(times(s, name) - 1));
  }
}

bool ac_is_scalar(const ac_cexpr *e) {
  return e && (e->type == AC_CT_INT || e->type == AC_CT_FLOAT || e->type == AC_CT_BOOL);
}

static void each(const ac_cexpr *e, void (*f)(void *, const ac_cexpr *), void *user);

static void each_tile(const ac_ctile *t, void (*f)(void *, const ac_cexpr *), void *user) {
  each(t->base, f, user);
  for (int i = 0; i < t->rank; i++) {
    each(t->axis[i].extent, f, user);
    each(t->axis[i].stride, f, user);
    if (t->axis[i].index) each(t->axis[i].index->offset, f, user);
  }
}

static void each(const ac_cexpr *e, void (*f)(void *, const ac_cexpr *), void *user) {
  if (!e) return;
  if (e->tile) {
    each_tile(e->tile, f, user);
    return;
  }
  if (e->buffer) {
    f(user, e);
    each(e->offset, f, user);
    for (int d = 0; e->view && d < e->view->rank; d++) {
      each(e->view->dim[d].from, f, user);
      each(e->view->dim[d].extent, f, user);
      each(e->view->dim[d].room, f, user);
    }
    return;
  }
  f(user, e);
  if (e->kind == AC_CE_ATTR) return;
  if (e->kind != AC_CE_CALL)
    each(e->a, f, user);
  else if (e->a && e->a->kind == AC_CE_INDEX) /* a launch: the number of blocks */
    for (int i = 0; i < e->a->n_args; i++) each(e->a->args[i], f, user);
  each(e->b, f, user);
  each(e->c, f, user);
  for (int i = 0; i < e->n_args; i++) each(e->args[i], f, user);
}

/* A tile, buffer or dtype assigned to a name is a name for the checker only: nothing is evaluated there. */
static bool evaluates(const ac_cstmt *s) {
  if (s->kind == AC_CS_ASSIGN && s->target->kind == AC_CE_NAME) return ac_is_scalar(s->value) && !s->value->tile;
  return true;
}

void ac_each_expr(const ac_cstmt *s, void (*f)(void *, const ac_cexpr *), void *user) {
  if (!evaluates(s) || s->kind == AC_CS_WITH) return;
  if (s->kind == AC_CS_ASSIGN && s->op != AC_OP_NOP) each(s->target, f, user);
  each(s->value, f, user);
  if (s->kind != AC_CS_FOR) return;
  each(s->lo, f, user);
  each(s->hi, f, user);
  each(s->step, f, user);
}

static bool open_block(const scan *c, const ac_cstmt *home) {
  for (int i = 0; i < c->depth; i++)
    if (c->blocks[i] == home) return true;
  return false;
}

/* `fresh`: a plain assignment, which may open a new C++ variable of the same name in another block. */
static ac_lvar *occurs(scan *c, const char *dsl, bool fresh) {
  const char *name = ac_lower_name(c->a, dsl);
  ac_lvar *v = ac_lvar_find(c->out, name);
  if (!v) v = add(c->a, c->out, (ac_lvar){.name = name, .stage = c->stage, .type = AC_AT_BOOL});
  if (v->param) return v;
  if (v->home && !open_block(c, v->home)) {
    if (fresh) {
      v->home = c->blocks[c->depth - 1];
      v->many_homes = true;
    } else
      v->hoist = true;
  }
  if (v->stage != c->stage) v->many_stages = true;
  return v;
}

static void use(void *user, const ac_cexpr *e) {
  scan *c = user;
  if (e->kind != AC_CE_NAME || e->buffer || e->type == AC_CT_POINTER || e->type == AC_CT_DTYPE ||
      e->type == AC_CT_KERNEL || e->type == AC_CT_MODULE || e->type == AC_CT_SHAPE || e->type == AC_CT_TILE)
    return;
  if (e->type == AC_CT_NONE) return; /* `tl`, names of functions */
  occurs(c, e->s, false)->uses++;
}

static void assign(scan *c, const ac_cexpr *target, const ac_cexpr *value, bool fresh, bool loop) {
  if (target->kind == AC_CE_TUPLE) {
    for (int i = 0; i < target->n_args; i++)
      assign(c, target->args[i], value && value->kind == AC_CE_TUPLE && i < value->n_args ? value->args[i] : NULL,
             fresh, false);
    return;
  }
  ac_lvar *v = occurs(c, target->s, fresh);
  ac_atype t = value ? ac_lower_type(value) : AC_AT_INT;
  if (v->param) t = v->type == AC_AT_FLOAT ? AC_AT_FLOAT : t;
  if (!v->assigns) {
    v->type = t;
    v->home = c->blocks[c->depth - 1];
    v->value = c->depth == 1 ? value : NULL;
  } else {
    if (v->type != t) v->type = v->type == AC_AT_FLOAT || t == AC_AT_FLOAT ? AC_AT_FLOAT : AC_AT_INT;
    v->value = NULL;
  }
  v->assigns++;
  v->loop |= loop;
  v->in_stage |= c->stage != NULL;
}

static void block(scan *c, const ac_cstmt *first);

static void statement(scan *c, const ac_cstmt *s) {
  for (const ac_cstmt *g = s->guards; g; g = g->next) statement(c, g);
  ac_each_expr(s, use, c);
  if (s->kind == AC_CS_ASSIGN && evaluates(s)) {
    if (s->target->kind == AC_CE_TUPLE || ac_is_scalar(s->value))
      assign(c, s->target, s->value, s->op == AC_OP_NOP, false);
  }
  if (s->kind == AC_CS_WITH) {
    const ac_cstmt *outer = c->stage;
    c->stage = s;
    block(c, s->body);
    c->stage = outer;
    return;
  }
  if (s->kind == AC_CS_FOR && s->body && c->depth < 64) {
    c->blocks[c->depth++] = s->body;
    assign(c, s->target, s->lo, true, true);
    c->depth--;
  }
  block(c, s->body);
  block(c, s->orelse);
}

static void block(scan *c, const ac_cstmt *first) {
  if (!first || c->depth == 64) return;
  c->blocks[c->depth++] = first;
  for (const ac_cstmt *s = first; s; s = s->next) statement(c, s);
  c->depth--;
}

void ac_lower_scope(ac_arena *a, const ac_cfunc *f, ac_lvars *out) {
  scan c = {.a = a, .out = out};
  for (int i = 0; i < f->n_params; i++) {
    if (f->params[i].type == AC_CT_POINTER) continue;
    ac_lvar v = {.name = ac_lower_name(a, f->params[i].name),
                 .param = true,
                 .type = f->params[i].type == AC_CT_FLOAT  ? AC_AT_FLOAT
                         : f->params[i].type == AC_CT_BOOL ? AC_AT_BOOL
                                                           : AC_AT_INT};
    add(a, out, v);
  }
  block(&c, f->body);
  /* What a stage block assigns and anybody else sees, or what its next run sees again, lives in the class. */
  for (size_t i = 0; i < out->len; i++)
    out->data[i].member = out->data[i].in_stage && (out->data[i].many_stages || out->data[i].hoist);
}

/* Faults in the syntax tree, as it comes from the parser. */
#include "mutate.h"

#include <string.h>

typedef struct {
  ac_arena *a;
  fault f;
  int by;       /* how much */
  int at, want; /* the next place; the one to change, -1: only count */
  char **where;
  bool kernel;
  ac_cmodule *module;
} mutator;

static bool here(mutator *m, ac_loc loc, const char *what) {
  if (m->at++ != m->want) return false;
  if (m->where) *m->where = ac_sprintf(m->a, "line %d: %s", loc.line, what);
  return true;
}

/* ---- expressions ---- */

static ac_cexpr *number(mutator *m, int64_t v) {
  ac_cexpr *e = AC_NEW(m->a, ac_cexpr);
  e->kind = AC_CE_INT;
  e->i = v;
  return e;
}
static ac_cexpr *binary(mutator *m, ac_cop op, ac_cexpr *x, ac_cexpr *y) {
  ac_cexpr *e = AC_NEW(m->a, ac_cexpr);
  e->kind = AC_CE_BINARY;
  e->op = op;
  e->loc = x->loc;
  e->a = x;
  e->b = y;
  return e;
}
static bool calls(const ac_cexpr *e, const char *name) {
  if (!e || e->kind != AC_CE_CALL || !e->a) return false;
  if (e->a->kind == AC_CE_NAME) return !strcmp(e->a->s, name);
  return e->a->kind == AC_CE_ATTR && e->a->a->kind == AC_CE_NAME && !strcmp(e->a->a->s, "tl") &&
         !strcmp(e->a->s, name);
}
static bool mentions(const ac_cexpr *e, const char *name) {
  if (!e) return false;
  if (e->kind == AC_CE_NAME && !strcmp(e->s, name)) return true;
  for (int i = 0; i < e->n_args; i++)
    if (mentions(e->args[i], name)) return true;
  return mentions(e->a, name) || mentions(e->b, name) || mentions(e->c, name);
}

static void expression(mutator *m, ac_cexpr **slot);

static void call(mutator *m, ac_cexpr **slot) {
  ac_cexpr *e = *slot;
  if (m->kernel && calls(e, "min") && e->n_args == 2) {
    int plain = e->args[0]->kind == AC_CE_NAME ? 0 : e->args[1]->kind == AC_CE_NAME ? 1 : -1;
    if (m->f == TAIL_DROP && plain >= 0 && e->args[1 - plain]->kind != AC_CE_NAME &&
        here(m, e->loc, ac_cexpr_text(m->a, e)))
      *slot = e->args[plain];
    if (m->f == TAIL_OVER && here(m, e->loc, ac_cexpr_text(m->a, e))) *slot = binary(m, AC_OP_ADD, e, number(m, 1));
  }
  if (m->f == OFFSET && (calls(e, "load") || calls(e, "store")) && e->n_args > 1 &&
      here(m, e->loc, ac_cexpr_text(m->a, e)))
    e->args[0] = binary(m, AC_OP_ADD, e->args[0], number(m, 1));
  if (calls(e, "alloc_ub") && e->n_args > 1) {
    ac_cexpr **size = &e->args[0], *dtype = e->args[1];
    if ((*size)->kind == AC_CE_TUPLE) size = &(*size)->args[(*size)->n_args - 1];
    if (m->f == SHRINK && here(m, e->loc, ac_cexpr_text(m->a, e)))
      *size = binary(m, AC_OP_FLOORDIV, *size, number(m, m->by));
    static const char *const swaps[][2] = {{"float32", "float16"},
                                           {"float16", "float32"},
                                           {"int32", "int16"},
                                           {"int16", "int32"},
                                           {"bfloat16", "float16"}};
    for (size_t i = 0; m->f == DTYPE && i < AC_COUNT(swaps); i++)
      if (dtype->kind == AC_CE_ATTR && !strcmp(dtype->s, swaps[i][0])) {
        if (here(m, e->loc, ac_cexpr_text(m->a, e))) dtype->s = swaps[i][1];
        break;
      }
  }
  for (int i = 0; i < e->n_args; i++)
    if (m->f == COUNT && m->kernel && e->kw && e->kw[i] && !strcmp(e->kw[i], "count") &&
        here(m, e->loc, ac_cexpr_text(m->a, e)))
      e->args[i] = binary(m, AC_OP_ADD, e->args[i], number(m, 1));
}

static void product(mutator *m, ac_cexpr **slot) {
  ac_cexpr *e = *slot;
  bool block = m->kernel && (mentions(e->a, "pid") || mentions(e->b, "pid"));
  bool whole = e->a->kind == AC_CE_NAME && !strcmp(e->a->s, "pid");
  if (m->f == LATE && block && whole && here(m, e->loc, ac_cexpr_text(m->a, e)))
    *slot = binary(m, AC_OP_ADD, e, number(m, 1));
  if (m->f == TWICE && block && whole && here(m, e->loc, ac_cexpr_text(m->a, e)))
    e->b = binary(m, AC_OP_SUB, e->b, number(m, 1));
  if (m->f == STRIDE && m->kernel && !block && e->b->kind == AC_CE_NAME && e->a->kind == AC_CE_NAME &&
      here(m, e->loc, ac_cexpr_text(m->a, e)))
    e->b = binary(m, AC_OP_ADD, e->b, number(m, 1));
}

static void expression(mutator *m, ac_cexpr **slot) {
  ac_cexpr *e = *slot;
  if (!e) return;
  /* children first: a place inside keeps its number whatever is done around it */
  expression(m, &e->a);
  expression(m, &e->b);
  expression(m, &e->c);
  for (int i = 0; i < e->n_args; i++) expression(m, &e->args[i]);
  if (e->kind == AC_CE_CALL) call(m, slot);
  if (e->kind == AC_CE_BINARY && e->op == AC_OP_MUL) product(m, slot);
}

/* ---- statements ---- */

static bool launches(const ac_cstmt *s) {
  return s->kind == AC_CS_EXPR && s->value->kind == AC_CE_CALL && s->value->a->kind == AC_CE_INDEX;
}
static bool asks_for_programs(const ac_cexpr *e) {
  if (!e) return false;
  if (calls(e, "num_programs")) return true;
  for (int i = 0; i < e->n_args; i++)
    if (asks_for_programs(e->args[i])) return true;
  return asks_for_programs(e->a) || asks_for_programs(e->b) || asks_for_programs(e->c);
}
static bool loops_by_programs(const ac_cstmt *first) {
  for (const ac_cstmt *s = first; s; s = s->next)
    if ((s->kind == AC_CS_FOR && asks_for_programs(s->step)) || loops_by_programs(s->body) ||
        loops_by_programs(s->orelse))
      return true;
  return false;
}
static bool turns(mutator *m, const ac_cstmt *launch) {
  const char *name = launch->value->a->a->s;
  for (size_t i = 0; i < m->module->funcs.len; i++)
    if (name && !strcmp(m->module->funcs.data[i]->name, name))
      return loops_by_programs(m->module->funcs.data[i]->body);
  return false;
}
static void vanish(ac_cstmt *s) {
  s->kind = AC_CS_PASS;
  s->value = NULL;
}

static void statements(mutator *m, ac_cstmt *first) {
  for (ac_cstmt *s = first; s; s = s->next) {
    bool load = s->kind == AC_CS_EXPR && calls(s->value, "load"),
         store = s->kind == AC_CS_EXPR && calls(s->value, "store"),
         sync = s->kind == AC_CS_EXPR && calls(s->value, "sync_all");
    const char *text = s->value ? ac_cexpr_text(m->a, s->value) : "";
    if (((m->f == NO_STORE && store) || (m->f == NO_LOAD && load) || (m->f == NO_SYNC && sync)) &&
        here(m, s->loc, text))
      vanish(s);
    /* blocks that take turns by tl.num_programs do the same work in any number */
    if (m->f == FEWER && launches(s) && !turns(m, s) && here(m, s->loc, text)) {
      ac_cexpr *index = s->value->a;
      index->args[0] = binary(m, AC_OP_SUB, index->args[0], number(m, 1));
    }
    if (m->f == STEP && m->kernel && s->kind == AC_CS_FOR && s->step && s->step->kind == AC_CE_NAME &&
        here(m, s->loc, ac_cexpr_text(m->a, s->step)))
      s->step = binary(m, AC_OP_MUL, s->step, number(m, 2));
    expression(m, &s->value);
    expression(m, &s->lo);
    expression(m, &s->hi);
    expression(m, &s->step);
    statements(m, s->body);
    statements(m, s->orelse);
  }
}

static void everything(mutator *m, ac_cmodule *x) {
  m->module = x;
  for (size_t i = 0; i < x->funcs.len; i++) {
    m->kernel = x->funcs.data[i]->kernel;
    statements(m, x->funcs.data[i]->body);
  }
}
int mutate_dsl_sites(ac_arena *a, ac_cmodule *x, fault f) {
  mutator m = {.a = a, .f = f, .want = -1};
  everything(&m, x);
  return m.at;
}
void mutate_dsl(ac_arena *a, ac_cmodule *x, fault f, int site, int by, char **where) {
  mutator m = {.a = a, .f = f, .by = by, .want = site, .where = where};
  everything(&m, x);
}

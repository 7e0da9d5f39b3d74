/* From a checked tree to its sketch. */
#include "craft/sketch.h"
#include "craft/check.h"

#include <string.h>

typedef struct {
  ac_sketch *s;
  ac_skfunc *f;
  bool host;
  ac_skstmt ***tail;    /* where the next statement goes */
  bool asks, addresses; /* what statements ask; accesses to global memory */
} maker;

/* ---- nodes ---- */

static ac_sknode *node(ac_sketch *s, ac_skop op, ac_sknode *a, ac_sknode *b) {
  ac_sknode *n = AC_NEW(s->a, ac_sknode);
  *n = (ac_sknode){.op = op, .a = a, .b = b};
  return n;
}

static ac_sknode *constant(ac_sketch *s, int64_t v) {
  ac_sknode *n = node(s, AC_SK_INT, NULL, NULL);
  n->i = v;
  return n;
}

static bool equal(const ac_sknode *x, const ac_sknode *y) {
  if (x == y) return true;
  if (!x || !y || x->op != y->op || x->i != y->i || x->from != y->from || x->to != y->to || x->op == AC_SK_DATA)
    return false;
  return equal(x->a, y->a) && equal(x->b, y->b) && equal(x->c, y->c);
}

static int slot_of(maker *k, const char *name) {
  intptr_t i = (intptr_t)ac_map_get(k->f->index, name);
  if (i) return (int)i - 1;
  ac_map_put(k->f->index, name, (void *)(intptr_t)++k->f->n_slots);
  return k->f->n_slots - 1;
}

static int tensor_of(maker *k, const ac_cexpr *e) {
  if (e->kind != AC_CE_NAME) return -1;
  for (int i = (int)k->s->tensors.len - 1; i >= 0; i--)
    if (k->s->tensors.data[i].name && !strcmp(k->s->tensors.data[i].name, e->s)) return i;
  return -1;
}

static ac_sknode *expr(maker *k, const ac_cexpr *e);

static ac_sknode *data(maker *k) {
  return node(k->s, AC_SK_DATA, NULL, NULL);
}

/* x.shape[from:to] as a number. */
static ac_sknode *size(maker *k, const ac_cexpr *tensor, int from, int to, bool slice) {
  int t = tensor_of(k, tensor);
  if (t < 0) return data(k);
  if (slice && to >= 0 && from >= to) return constant(k->s, 1); /* of no dimensions: one element */
  ac_sktensor *x = &k->s->tensors.data[t];
  if (x->declared) return from == 0 && to == AC_SK_END ? x->declared : data(k);
  ac_sknode *n = node(k->s, AC_SK_SIZE, NULL, NULL);
  n->i = t;
  n->from = from;
  n->to = to;
  ac_skpiece piece = {from, to};
  ac_push(k->s->a, &x->pieces, piece);
  x->asked = true;
  x->first = x->first || from == 0;
  x->last = x->last || to == AC_SK_END || to < 0;
  int least = from < 0 ? -from : to == AC_SK_END ? from + slice : to < 0 ? from - to + slice : to > from ? to : from;
  if (least > x->rank) x->rank = least;
  if (!x->rank) x->rank = 1;
  return n;
}

static bool literal(const ac_cexpr *e, int *v) {
  bool minus = e->kind == AC_CE_UNARY && e->op == AC_OP_NEG;
  if (minus) e = e->a;
  if (e->kind != AC_CE_INT || e->i > 64) return false;
  *v = minus ? -(int)e->i : (int)e->i;
  return true;
}

static ac_sknode *shape_index(maker *k, const ac_cexpr *e) {
  const ac_cexpr *shape = e->a, *i = e->args[0];
  int from = 0, to = AC_SK_END;
  if (shape->kind != AC_CE_ATTR || e->n_args != 1) return data(k);
  if (i->kind == AC_CE_SLICE) {
    if ((i->a && !literal(i->a, &from)) || (i->b && !literal(i->b, &to))) return data(k);
  } else {
    if (!literal(i, &from)) return data(k);
    to = from == -1 ? AC_SK_END : from + 1;
  }
  return size(k, shape->a, from, to, i->kind == AC_CE_SLICE);
}

static ac_sknode *rank(maker *k, const ac_cexpr *tensor) {
  int t = tensor_of(k, tensor);
  if (t < 0) return data(k);
  ac_sknode *n = node(k->s, AC_SK_RANK, NULL, NULL);
  n->i = t;
  k->s->tensors.data[t].ranked = true;
  return n;
}

static ac_sknode *numel(maker *k, const ac_cexpr *tensor) {
  return size(k, tensor, 0, AC_SK_END, true);
}

static ac_sknode *product(maker *k, const ac_cexpr *x) {
  if (x->kind == AC_CE_INDEX) return shape_index(k, x);
  if (x->kind == AC_CE_ATTR) return numel(k, x->a);
  if (x->kind != AC_CE_TUPLE) return data(k);
  ac_sknode *r = constant(k->s, 1);
  for (int i = 0; i < x->n_args; i++) r = node(k->s, AC_SK_MUL, r, expr(k, x->args[i]));
  return r;
}

/* Of an output's declaration: a size, or part of a shape. */
static ac_sknode *dimension(maker *k, const ac_cexpr *x) {
  bool shape = x->kind == AC_CE_ATTR && !strcmp(x->s, "shape");
  if (shape) return numel(k, x->a);
  if (x->kind == AC_CE_INDEX && x->n_args == 1 && x->args[0]->kind == AC_CE_SLICE) return shape_index(k, x);
  return expr(k, x);
}

static ac_sknode *method(maker *k, const ac_cexpr *e) {
  const char *m = e->a->s;
  int i;
  if (!strcmp(m, "numel")) return numel(k, e->a->a);
  if (!strcmp(m, "dim")) return rank(k, e->a->a);
  if (!strcmp(m, "size") && e->n_args == 1 && literal(e->args[0], &i))
    return size(k, e->a->a, i, i == -1 ? AC_SK_END : i + 1, false);
  return data(k);
}

static ac_sknode *call(maker *k, const ac_cexpr *e) {
  ac_sketch *s = k->s;
  bool prim = e->a->kind != AC_CE_ATTR || (e->a->a->kind == AC_CE_NAME && !strcmp(e->a->a->s, "tl"));
  if (!prim) return method(k, e);
  if (e->a->kind == AC_CE_NAME && e->n_args == 1) {
    if (!strcmp(e->a->s, "int")) return e->args[0]->type == AC_CT_INT ? expr(k, e->args[0]) : data(k);
    if (!strcmp(e->a->s, "len")) return e->args[0]->kind == AC_CE_ATTR ? rank(k, e->args[0]->a) : data(k);
  }
  switch ((int)e->prim) {
  case AC_P_PROGRAM_ID: return node(s, AC_SK_PID, NULL, NULL);
  case AC_P_NUM_PROGRAMS: return node(s, AC_SK_BLOCKS, NULL, NULL);
  case AC_P_NUM_CORES: return node(s, AC_SK_CORES, NULL, NULL);
  case AC_P_UB_SIZE: return node(s, AC_SK_UB, NULL, NULL);
  case AC_P_NUMEL: return numel(k, e->args[0]);
  case AC_P_PROD: return product(k, e->args[0]);
  case AC_P_CDIV: return node(s, AC_SK_CDIV, expr(k, e->args[0]), expr(k, e->args[1]));
  case AC_P_ALIGN_UP:
  case AC_P_ALIGN_DOWN: {
    ac_sknode *to = expr(k, e->args[1]);
    ac_skop op = e->prim == AC_P_ALIGN_UP ? AC_SK_CDIV : AC_SK_FLOORDIV;
    return node(s, AC_SK_MUL, node(s, op, expr(k, e->args[0]), to), to);
  }
  case AC_P_SPLIT: { /* min(n, cdiv(n, unit) * index // parts * unit) */
    ac_sknode *n = expr(k, e->args[0]), *unit = e->args[3] ? expr(k, e->args[3]) : constant(s, 1);
    ac_sknode *units = node(s, AC_SK_MUL, node(s, AC_SK_CDIV, n, unit), expr(k, e->args[2]));
    ac_sknode *first = node(s, AC_SK_FLOORDIV, units, expr(k, e->args[1]));
    return node(s, AC_SK_MIN, n, node(s, AC_SK_MUL, first, unit));
  }
  case AC_P_TUNE: return constant(s, e->i);
  case AC_P_DETERMINISTIC: return node(s, AC_SK_FLAG, NULL, NULL);
  case AC_P_MIN:
  case AC_P_MAX: {
    ac_sknode *r = expr(k, e->args[0]);
    for (int i = 1; i < e->n_args; i++)
      r = node(s, e->prim == AC_P_MIN ? AC_SK_MIN : AC_SK_MAX, r, expr(k, e->args[i]));
    return r;
  }
  default: return data(k);
  }
}

static ac_sknode *binary(maker *k, const ac_cexpr *e) {
  static const ac_skop ops[] = {
      [AC_OP_ADD] = AC_SK_ADD, [AC_OP_SUB] = AC_SK_SUB, [AC_OP_MUL] = AC_SK_MUL, [AC_OP_FLOORDIV] = AC_SK_FLOORDIV,
      [AC_OP_MOD] = AC_SK_MOD, [AC_OP_AND] = AC_SK_AND, [AC_OP_OR] = AC_SK_OR,   [AC_OP_EQ] = AC_SK_EQ,
      [AC_OP_NE] = AC_SK_NE,   [AC_OP_LT] = AC_SK_LT,   [AC_OP_LE] = AC_SK_LE,   [AC_OP_GT] = AC_SK_GT,
      [AC_OP_GE] = AC_SK_GE};
  if (e->a->type == AC_CT_FLOAT || e->b->type == AC_CT_FLOAT) return data(k);
  if (e->op == AC_OP_POW && e->b->kind == AC_CE_INT && e->b->i >= 0 && e->b->i <= 8) {
    ac_sknode *r = constant(k->s, 1), *x = expr(k, e->a);
    for (int64_t i = 0; i < e->b->i; i++) r = node(k->s, AC_SK_MUL, r, x);
    return r;
  }
  if ((size_t)e->op >= AC_COUNT(ops) || !ops[e->op]) return data(k);
  return node(k->s, ops[e->op], expr(k, e->a), expr(k, e->b));
}

/* Numbers in the host function are where it changes its mind, and the edges of tiles. */
static void note_constant(ac_sketch *s, int64_t v) {
  for (size_t i = 0; i < s->consts.len; i++)
    if (s->consts.data[i] == v) return;
  ac_push(s->a, &s->consts, v);
}

/* What comes from memory, in a kernel: some int, between two numbers if these are known. */
static ac_sknode *unseen(maker *k, const ac_cexpr *e) {
  ac_sknode *n = data(k);
  if (k->host || e->type != AC_CT_INT) return n;
  n->i = 1;
  if (e->between) {
    n->a = expr(k, e->between[0]);
    n->b = expr(k, e->between[1]);
  }
  return n;
}

static ac_sknode *expr(maker *k, const ac_cexpr *e) {
  if (!e || e->type == AC_CT_FLOAT) return data(k);
  switch (e->kind) {
  case AC_CE_INT:
    if (k->host && e->i > 8 && e->i < 1 << 24) note_constant(k->s, e->i);
    return constant(k->s, e->i);
  case AC_CE_BOOL: return constant(k->s, e->i);
  case AC_CE_NAME: {
    ac_sknode *n = node(k->s, AC_SK_VAR, NULL, NULL);
    n->i = slot_of(k, e->s);
    return n;
  }
  case AC_CE_ATTR: return !strcmp(e->s, "ndim") ? rank(k, e->a) : data(k);
  case AC_CE_INDEX: return shape_index(k, e);
  case AC_CE_CALL: {
    ac_sknode *n = call(k, e);
    return n->op == AC_SK_DATA ? unseen(k, e) : n;
  }
  case AC_CE_UNARY:
    if (e->op == AC_OP_NOT) return node(k->s, AC_SK_NOT, expr(k, e->a), NULL);
    return node(k->s, AC_SK_SUB, constant(k->s, 0), expr(k, e->a));
  case AC_CE_BINARY: return binary(k, e);
  case AC_CE_COND: {
    ac_sknode *n = node(k->s, AC_SK_COND, expr(k, e->a), expr(k, e->b));
    n->c = expr(k, e->c);
    return n;
  }
  default: return data(k);
  }
}

/* ---- statements ---- */

static ac_skstmt *add(maker *k, int kind, ac_loc loc) {
  ac_skstmt *t = AC_NEW(k->s->a, ac_skstmt);
  t->kind = kind;
  t->loc = loc;
  **k->tail = t;
  *k->tail = &t->next;
  return t;
}

static void block(maker *k, const ac_cstmt *s, ac_skstmt **first);

/* Offsets from memory: anywhere, or anywhere between their least and greatest. */
static void offsets(maker *k, const ac_ctile *t, int d, ac_skaccess *acc) {
  if (t->axis[d].first && t->axis[d].step) { /* no data: numbers in equal steps, as an arange has them */
    acc->base = node(k->s, AC_SK_ADD, acc->base, node(k->s, AC_SK_MUL, expr(k, t->axis[d].first), acc->stride[d]));
    acc->stride[d] = node(k->s, AC_SK_MUL, expr(k, t->axis[d].step), acc->stride[d]);
    return;
  }
  acc->within = true;
  if (!t->axis[d].lo || !t->axis[d].hi) {
    acc->base = data(k);
    return;
  }
  ac_sknode *lo = expr(k, t->axis[d].lo), *places = node(k->s, AC_SK_SUB, expr(k, t->axis[d].hi), lo);
  acc->base = node(k->s, AC_SK_ADD, acc->base, node(k->s, AC_SK_MUL, lo, acc->stride[d]));
  acc->extent[d] = node(k->s, AC_SK_ADD, places, constant(k->s, 1));
}

/* Operand i of a primitive is an address of global memory: what reads and what writes says the signature, so that a new primitive of the
 * table is understood. `dst` is written, everything else is read; `atomic` makes a store one that adds up. */
static void access(maker *k, const ac_cexpr *e, const ac_sig *sig, int i) {
  const ac_cexpr *x = e->args[i];
  if (!k->addresses || !x || (x->type != AC_CT_TILE && x->type != AC_CT_POINTER)) return;
  ac_skaccess *acc = AC_NEW(k->s->a, ac_skaccess);
  *acc = (ac_skaccess){.param = -1, .store = !strcmp(sig->op[i].name, "dst")};
  ac_sknode *index = NULL;
  for (int j = 0; j < sig->n; j++) {
    if (!strcmp(sig->op[j].name, "atomic") && e->args[j]) acc->atomic = true;
    if (!strcmp(sig->op[j].name, "index") && e->args[j]) index = expr(k, e->args[j]);
  }
  if (x->tile) {
    acc->param = x->tile->param;
    acc->base = expr(k, x->tile->base);
    acc->rank = x->tile->rank;
    for (int d = 0; d < acc->rank; d++) {
      acc->extent[d] = expr(k, x->tile->axis[d].extent);
      acc->stride[d] = expr(k, x->tile->axis[d].stride);
      if (x->tile->axis[d].index) offsets(k, x->tile, d, acc);
    }
  } else if (x->kind == AC_CE_NAME) {
    for (int p = 0; p < k->f->f->n_params; p++)
      if (!strcmp(k->f->f->params[p].name, x->s)) acc->param = p;
    acc->base = constant(k->s, 0);
  }
  if (acc->param < 0) {
    if (!k->s->opaque) k->s->opaque = "an address comes from memory";
    return;
  }
  if (index) acc->base = node(k->s, AC_SK_ADD, acc->base, index);
  add(k, AC_SKS_ACCESS, e->loc)->access = acc;
}

/* Accesses in an expression: primitives with addresses among their operands, wherever they stand. */
static void accesses(maker *k, const ac_cexpr *e) {
  if (!e) return;
  accesses(k, e->a);
  accesses(k, e->b);
  accesses(k, e->c);
  for (int i = 0; i < e->n_args; i++) accesses(k, e->args[i]);
  if (e->kind != AC_CE_CALL || k->host || e->prim == AC_P_NONE || e->a->kind != AC_CE_ATTR) return;
  ac_sig sig = ac_sig_find(e->a->s);
  for (int i = 0; i < sig.n && i < e->n_args; i++)
    if (strchr(sig.op[i].kinds, 'T') || strchr(sig.op[i].kinds, 'P')) access(k, e, &sig, i);
}

/* `x = a if c else b` is a branch. */
static void set(maker *k, ac_loc loc, int slot, ac_sknode *v) {
  if (v->op != AC_SK_COND) {
    ac_skstmt *t = add(k, AC_SKS_SET, loc);
    t->slot = slot;
    t->value = v;
    return;
  }
  ac_skstmt *t = add(k, AC_SKS_IF, loc), **yes = &t->body, **no = &t->orelse, ***was = k->tail;
  t->value = v->c;
  k->tail = &yes;
  set(k, loc, slot, v->a);
  k->tail = &no;
  set(k, loc, slot, v->b);
  k->tail = was;
}

/* An argument that is a choice gets a name of its own. */
static ac_sknode *named(maker *k, ac_loc loc, ac_sknode *v) {
  if (v->op != AC_SK_COND) return v;
  ac_sknode *n = node(k->s, AC_SK_VAR, NULL, NULL);
  n->i = slot_of(k, ac_sprintf(k->s->a, "%d.", k->f->n_slots));
  set(k, loc, (int)n->i, v);
  return n;
}

static void launch(maker *k, const ac_cstmt *s, const ac_cfunc *f) {
  const ac_cexpr *e = s->value;
  ac_sknode *blocks = named(k, s->loc, expr(k, ac_craft_launch_cores(s)));
  ac_sknode **args = AC_NEW_N(k->s->a, ac_sknode *, f->n_params + 1);
  for (int i = 0; i < f->n_params; i++)
    if (f->params[i].type != AC_CT_POINTER)
      args[i] = f->params[i].type == AC_CT_FLOAT ? data(k) : named(k, s->loc, expr(k, e->args[i]));
  ac_skstmt *t = add(k, AC_SKS_LAUNCH, s->loc);
  t->of = (ac_cstmt *)(uintptr_t)s;
  for (size_t i = 0; i < k->s->m->funcs.len; i++)
    if (k->s->m->funcs.data[i] == f) t->kernel = (int)i;
  t->value = blocks;
  t->args = args;
  t->tensors = AC_NEW_N(k->s->a, int, f->n_params + 1);
  t->n_args = f->n_params;
  for (int i = 0; i < f->n_params; i++) {
    t->tensors[i] = -1;
    if (f->params[i].type != AC_CT_POINTER) continue;
    t->tensors[i] = tensor_of(k, e->args[i]);
    if (t->tensors[i] < 0 && !k->s->opaque) k->s->opaque = "a tensor has no name";
  }
}

static void assign(maker *k, const ac_cstmt *s) {
  accesses(k, s->value);
  if (s->target->kind != AC_CE_NAME) {
    k->s->opaque = "an assignment was not understood";
    return;
  }
  if (s->value->kind == AC_CE_CALL && s->value->prim == AC_P_EMPTY) {
    ac_sktensor t = {.name = s->target->s, .workspace = true, .like = -1, .twin = -1, .loc = s->loc};
    t.elements = s->value->args[0];
    ac_skstmt *made = add(k, AC_SKS_EMPTY, s->loc);
    made->slot = (int)k->s->tensors.len;
    made->value = expr(k, s->value->args[0]);
    ac_push(k->s->a, &k->s->tensors, t);
    return;
  }
  if (s->target->type == AC_CT_BUFFER || s->target->type == AC_CT_TILE || s->target->type == AC_CT_POINTER) return;
  ac_sknode *v;
  if (s->op == AC_OP_NOP) {
    v = expr(k, s->value);
  } else {
    ac_cexpr name = {.kind = AC_CE_NAME, .s = s->target->s, .type = s->target->type};
    ac_cexpr sum = {.kind = AC_CE_BINARY, .op = s->op, .a = &name, .b = (ac_cexpr *)(uintptr_t)s->value};
    sum.type = s->target->type == AC_CT_FLOAT ? AC_CT_FLOAT : AC_CT_INT;
    v = expr(k, &sum);
  }
  set(k, s->loc, slot_of(k, s->target->s), v);
}

/* What has to hold where the statement runs. */
static void musts(maker *k, const ac_cstmt *s) {
  for (const ac_cmust *x = k->asks ? s->musts : NULL; x; x = x->next) {
    if (!x->asked) continue;
    ac_skstmt *t = add(k, AC_SKS_MUST, x->loc);
    t->value = node(k->s, AC_SK_LE, expr(k, x->x), expr(k, x->y));
    t->must = x;
  }
}

static void one(maker *k, const ac_cstmt *s) {
  ac_skstmt *t;
  const ac_cfunc *f;
  musts(k, s);
  switch (s->kind) {
  case AC_CS_ASSIGN: assign(k, s); return;
  case AC_CS_EXPR:
    if (k->host && s->value->kind == AC_CE_CALL && s->value->a->kind == AC_CE_INDEX) {
      if ((f = ac_craft_launch_kernel(k->s->m, s))) launch(k, s, f);
      return;
    }
    if (s->value->kind == AC_CE_CALL && s->value->prim == AC_P_REFUSE)
      add(k, AC_SKS_REFUSE, s->loc);
    else if (s->value->kind == AC_CE_CALL && s->value->prim == AC_P_SYNC_ALL)
      add(k, AC_SKS_SYNC, s->loc);
    else
      accesses(k, s->value);
    return;
  case AC_CS_IF:
    accesses(k, s->value);
    t = add(k, AC_SKS_IF, s->loc);
    t->value = expr(k, s->value);
    block(k, s->body, &t->body);
    block(k, s->orelse, &t->orelse);
    return;
  case AC_CS_FOR:
    t = add(k, AC_SKS_FOR, s->loc);
    t->slot = slot_of(k, s->target->s);
    t->lo = expr(k, s->lo);
    t->hi = expr(k, s->hi);
    t->step = expr(k, s->step);
    block(k, s->body, &t->body);
    return;
  case AC_CS_WHILE:
    t = add(k, AC_SKS_WHILE, s->loc);
    t->value = expr(k, s->value);
    block(k, s->body, &t->body);
    return;
  case AC_CS_WITH: {
    for (const ac_cstmt *x = s->body; x; x = x->next) one(k, x);
    return;
  }
  case AC_CS_RETURN: add(k, AC_SKS_RETURN, s->loc); return;
  case AC_CS_BREAK: add(k, AC_SKS_BREAK, s->loc); return;
  case AC_CS_PASS: return;
  default: k->s->opaque = "a statement was not understood";
  }
}

static void block(maker *k, const ac_cstmt *s, ac_skstmt **first) {
  ac_skstmt **at = first, ***was = k->tail;
  k->tail = &at;
  for (; s; s = s->next) one(k, s);
  k->tail = was;
}

/* ---- what steers nothing goes ---- */

static bool need(ac_skfunc *f, const ac_sknode *n) {
  if (!n) return false;
  bool more = false;
  if (n->op == AC_SK_VAR && !f->needed[n->i]) f->needed[n->i] = more = true;
  more |= need(f, n->a);
  more |= need(f, n->b);
  return need(f, n->c) || more;
}

static bool need_all(ac_skfunc *f, const ac_skstmt *s) {
  bool more = false;
  for (; s; s = s->next) {
    if (s->kind != AC_SKS_SET || f->needed[s->slot]) more |= need(f, s->value);
    more |= need(f, s->lo);
    more |= need(f, s->hi);
    more |= need(f, s->step);
    for (int i = 0; s->access && i < s->access->rank; i++) {
      more |= need(f, s->access->extent[i]);
      more |= need(f, s->access->stride[i]);
    }
    if (s->access) more |= need(f, s->access->base);
    for (int i = 0; i < s->n_args; i++) more |= need(f, s->args[i]);
    more |= need_all(f, s->body);
    more |= need_all(f, s->orelse);
  }
  return more;
}

/* Drops assignments nobody needs, branches and loops with nothing in them. */
static ac_skstmt *prune(const ac_skfunc *f, ac_skstmt *s) {
  ac_skstmt *first = NULL, **tail = &first;
  for (; s; s = s->next) {
    s->body = prune(f, s->body);
    s->orelse = prune(f, s->orelse);
    if (s->kind == AC_SKS_SET && !f->needed[s->slot]) continue;
    if (s->kind == AC_SKS_IF && !s->body && !s->orelse) continue;
    if (s->kind == AC_SKS_FOR && !s->body && !f->needed[s->slot]) continue;
    *tail = s;
    tail = &s->next;
  }
  *tail = NULL;
  return first;
}

static void trim(ac_sketch *s, ac_skfunc *f) {
  f->needed = AC_NEW_N(s->a, bool, f->n_slots + 1);
  for (int i = 0; i < 20; i++) { /* pruning takes conditions away, and with them what they needed */
    memset(f->needed, 0, (size_t)f->n_slots + 1);
    for (size_t t = 0; t < s->tensors.len && f == s->host; t++) (void)need(f, s->tensors.data[t].declared);
    while (need_all(f, f->body)) {
    }
    ac_skstmt *was = f->body;
    f->body = prune(f, f->body);
    if (was == f->body && i > 2) break;
  }
}

static void host_tensors(ac_sketch *s, const ac_cfunc *host) {
  for (int i = 0; i < host->n_params; i++) {
    const ac_cparam *p = &host->params[i];
    ac_sktensor t = {.like = -1, .twin = -1};
    if (p->type == AC_CT_POINTER)
      t = (ac_sktensor){.name = p->name,
                        .in = p->in,
                        .out = p->out,
                        .like = -1,
                        .twin = -1,
                        .loc = p->loc.line ? p->loc : host->loc};
    ac_push(s->a, &s->tensors, t);
  }
}

/* What the parameters say of outputs: sizes and parts of shapes, or nothing: then they are like the first input. */
static void outputs(maker *k) {
  ac_sketch *s = k->s;
  int first = -1;
  for (size_t i = 0; i < s->tensors.len && first < 0; i++)
    if (s->tensors.data[i].in && !s->tensors.data[i].out) first = (int)i;
  for (int i = 0; i < k->f->f->n_params; i++) {
    const ac_cparam *p = &k->f->f->params[i];
    if (p->type != AC_CT_POINTER || !p->out || p->in) continue;
    if (!p->dims) {
      s->tensors.data[i].like = first;
      continue;
    }
    ac_sknode *n = constant(s, 1);
    for (int d = 0; d < p->n_dims; d++) n = node(s, AC_SK_MUL, n, dimension(k, p->dims[d]));
    s->tensors.data[i].declared = n;
  }
}

/* ---- twins ---- */

typedef AC_VEC(const ac_skaccess *) accesses_of;

static void list_accesses(ac_sketch *s, const ac_skstmt *t, accesses_of *to) {
  for (; t; t = t->next) {
    if (t->access) ac_push(s->a, to, t->access);
    list_accesses(s, t->body, to);
    list_accesses(s, t->orelse, to);
  }
}

static bool same_place(const ac_skaccess *x, const ac_skaccess *y) {
  if (!x->rank || x->within || y->within || x->rank != y->rank || x->base->op == AC_SK_INT ||
      !equal(x->base, y->base))
    return false;
  for (int d = 0; d < x->rank; d++)
    if (!equal(x->extent[d], y->extent[d]) || !equal(x->stride[d], y->stride[d])) return false;
  return true;
}

static void pair(ac_sketch *s, const ac_skstmt *launch, const ac_skaccess *store, const ac_skaccess *load) {
  int to = launch->tensors[store->param], from = launch->tensors[load->param];
  if (to < 0 || from < 0 || to == from || !s->tensors.data[from].asked || s->tensors.data[from].out) return;
  if (s->tensors.data[to].twin < 0 && same_place(store, load)) s->tensors.data[to].twin = from;
}

static void twins(ac_sketch *s, const ac_skstmt *t) {
  for (; t; t = t->next) {
    twins(s, t->body);
    twins(s, t->orelse);
    if (t->kind != AC_SKS_LAUNCH) continue;
    accesses_of all = {0};
    list_accesses(s, s->funcs.data[t->kernel]->body, &all);
    for (size_t i = 0; i < all.len; i++)
      for (size_t k = 0; k < all.len; k++)
        if (all.data[i]->store && !all.data[k]->store) pair(s, t, all.data[i], all.data[k]);
  }
}

static ac_sketch *sketch(ac_arena *a, const ac_cmodule *m, const ac_chip *chip, bool asks, bool addresses) {
  ac_sketch *s = AC_NEW(a, ac_sketch);
  *s = (ac_sketch){.a = a, .m = m, .chip = chip};
  host_tensors(s, ac_craft_host(m));
  for (size_t i = 0; i < m->funcs.len; i++) {
    ac_skfunc *f = AC_NEW(a, ac_skfunc);
    *f = (ac_skfunc){.f = m->funcs.data[i], .index = ac_map_new(a)};
    ac_push(a, &s->funcs, f);
    maker k = {.s = s, .f = f, .host = !f->f->kernel, .asks = asks, .addresses = addresses};
    if (k.host) s->host = f;
    for (int p = 0; p < f->f->n_params; p++) (void)slot_of(&k, f->f->params[p].name);
    if (k.host) outputs(&k);
    block(&k, f->f->body, &f->body);
    trim(s, f);
  }
  if (s->host) twins(s, s->host->body); /* a checked program has one */
  return s;
}

ac_sketch *ac_sketch_of(ac_arena *a, const ac_cmodule *m, const ac_chip *chip) {
  return sketch(a, m, chip, false, true);
}

ac_sketch *ac_sketch_asking(ac_arena *a, const ac_cmodule *m, bool accesses) {
  return sketch(a, m, NULL, true, accesses);
}

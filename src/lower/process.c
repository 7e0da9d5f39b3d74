/* Pass "process": the kernel function becomes Process and one method a stage block, with the queue operations of pass "place"
 * where it put them. Scalars that a block reads are its parameters; what it assigns for others is a class member. */
#include "lower/internal.h"

#include <string.h>

typedef struct {
  ac_lower_ctx *c;
  ac_lkernel *k;
  int temps, getters;
  int count[4]; /* methods so far, by kind */
  ac_lscope scope;
  const ac_cstmt *stage; /* the block at work, or NULL */
  bool ok;
  bool axes; /* operands with one axis have it written too */
} maker;

static void list(maker *m, const ac_cstmt *first, ac_ablock *out);

static ac_lconv conv(maker *m, ac_ablock *pre) {
  return (ac_lconv){.c = m->c, .k = m->k, .pre = pre, .temps = &m->temps};
}
static ac_aexpr *expr(maker *m, const ac_cexpr *e, ac_ablock *pre) {
  ac_lconv v = conv(m, pre);
  ac_aexpr *r = e ? ac_lower_expr(&v, e) : NULL;
  if (e && !r) m->ok = false;
  return r;
}
static void fail(maker *m, ac_loc loc, const char *what) {
  ac_diag *x = ac_error(m->c->d, AC0608, loc, "%s has no form in kernel code", what);
  ac_help(m->c->d, x, "a kernel is loops, branches and sizes around stage blocks of loads, computing and stores");
  m->ok = false;
}

static ac_astmt *push(maker *m, ac_ablock *out, ac_astmt *s) {
  ac_push(m->c->a, out, s);
  return s;
}
static void comments(maker *m, const ac_strvec *v, ac_ablock *out, ac_loc loc) {
  for (size_t i = 0; i < v->len; i++) push(m, out, ac_as_comment(m->c->a, v->data[i], loc));
}

/* ---- queue operations ---- */

static ac_astmt *queue_op(maker *m, ac_askind k, ac_atensor *t, ac_loc loc, ac_ablock *out) {
  ac_astmt *s = push(m, out, ac_as_new(m->c->a, k, loc));
  s->tensor = t;
  return s;
}
/* Of a statement's events, which pass "place" has put side by side. */
static size_t first_event(const ac_lkernel *k, const ac_cstmt *s) {
  size_t from = 0, to = k->events.len;
  while (from < to) {
    size_t at = from + (to - from) / 2;
    if ((uintptr_t)k->events.data[at].at < (uintptr_t)s)
      from = at + 1;
    else
      to = at;
  }
  return from;
}
static void events(maker *m, const ac_cstmt *s, bool after, ac_ablock *out) {
  static const ac_askind kinds[] = {
      [AC_LV_ALLOC] = AC_AS_ALLOC, [AC_LV_ENQUE] = AC_AS_ENQUE,     [AC_LV_DEQUE] = AC_AS_DEQUE,
      [AC_LV_FREE] = AC_AS_FREE,   [AC_LV_ENQUE_OUT] = AC_AS_ENQUE, [AC_LV_DEQUE_OUT] = AC_AS_DEQUE};
  size_t from = first_event(m->k, s), to = from;
  while (to < m->k->events.len && m->k->events.data[to].at == s) to++;
  for (int free = 0; free < 2; free++) /* hand on first, give back last */
    for (size_t i = from; i < to; i++) {
      const ac_levent *e = &m->k->events.data[i];
      if (e->after != after || (e->op == AC_LV_FREE) != free) continue;
      ac_astmt *q = queue_op(m, kinds[e->op], m->k->infos.data[e->info].handle, s->loc, out);
      q->outward = e->op == AC_LV_ENQUE_OUT || e->op == AC_LV_DEQUE_OUT;
    }
}

typedef struct {
  maker *m;
  ac_ablock *out;
  int id;
} getter;

static void get(getter *g, ac_linfo *f, ac_loc loc) {
  if (!f || f->queued || f->got == g->id) return;
  f->got = g->id;
  queue_op(g->m, AC_AS_GET, f->handle, loc, g->out);
}

static void get_call(getter *g, const ac_cexpr *e) {
  if (!e) return;
  if (e->kind == AC_CE_CALL && e->prim != AC_P_ALLOC_UB)
    for (int i = 0; i < e->n_args; i++) {
      if (!e->args[i] || e->args[i]->type != AC_CT_BUFFER || !e->args[i]->buffer) continue;
      ac_linfo *f = ac_lower_info(g->m->k, e->args[i]->buffer);
      get(g, f, e->loc);
    }
  for (int i = 0; e->tile && i < e->tile->rank; i++) { /* offsets that a copy reads */
    const ac_cexpr *x = e->tile->axis[i].index;
    ac_linfo *f = x ? ac_lower_info(g->m->k, x->buffer) : NULL;
    get(g, f, e->loc);
  }
  get_call(g, e->a);
  get_call(g, e->b);
  get_call(g, e->c);
  for (int i = 0; i < e->n_args; i++) get_call(g, e->args[i]);
}
/* TBuf tensors that the statements use; `into_stages` false: only what stands outside of stage blocks. */
static void gets(getter *g, const ac_cstmt *first, bool into_stages) {
  for (const ac_cstmt *s = first; s; s = s->next) {
    get_call(g, s->value);
    get_call(g, s->lo);
    get_call(g, s->hi);
    get_call(g, s->step);
    if (s->kind == AC_CS_WITH && !into_stages) continue;
    gets(g, s->body, into_stages);
    gets(g, s->orelse, into_stages);
  }
}

/* ---- parts of buffers ---- */

/* Distance of neighbours in dimension d of a buffer whose rows are on a pitch. */
static ac_aexpr *step_of(maker *m, const ac_abuffer *b, int d) {
  ac_aexpr *n = d == b->rank - 1 ? ac_ae_int(m->c->a, 1) : b->pitch ? b->pitch : b->dims[b->rank - 1];
  for (int i = b->rank - 2; i > d; i--) n = ac_ae_bin(m->c->a, AC_AE_MUL, n, b->dims[i]);
  return n;
}

/* The first element of a part and, where wanted, its axes. */
static ac_aexpr *part(maker *m, const ac_cexpr *e, const ac_abuffer *b, ac_aview *axes, ac_ablock *out) {
  ac_arena *a = m->c->a;
  ac_aexpr *at = NULL;
  for (int d = 0; d < e->view->rank; d++) {
    ac_aexpr *step = step_of(m, b, d), *from = expr(m, e->view->dim[d].from, out);
    if (from) from = ac_ae_bin(a, AC_AE_MUL, from, step);
    if (from) at = at ? ac_ae_bin(a, AC_AE_ADD, at, from) : from;
    if (!e->view->dim[d].kept || !axes) continue;
    axes->extent[axes->rank] = expr(m, e->view->dim[d].extent, out);
    axes->stride[axes->rank++] = ac_ae_bin(a, AC_AE_MUL, step, ac_ae_int(a, e->view->dim[d].step));
  }
  return at;
}

/* ---- copies ---- */

static void rows_of(maker *m, ac_astmt *s, ac_aexpr *rows, ac_aexpr *cols, ac_ablock *out);

static int gm_of(maker *m, int cparam) {
  int n = -1;
  for (int i = 0; i <= cparam; i++) n += m->k->fn->params[i].type == AC_CT_POINTER;
  for (size_t i = 0; i < m->k->k->gms.len; i++)
    if (m->k->k->gms.data[i].param == n) return (int)i;
  return -1;
}

static ac_acopy *make_copy(maker *m, const ac_cexpr *tile, const ac_cexpr *ub, const ac_cexpr *count,
                           ac_ablock *out) {
  ac_arena *a = m->c->a;
  const ac_ctile *t = tile->tile;
  ac_acopy *c = AC_NEW(a, ac_acopy);
  c->gm = gm_of(m, t->param);
  c->gm_offset = t->base ? expr(m, t->base, out) : ac_ae_int(a, 0);
  const ac_abuffer *b = &m->k->k->buffers.data[ac_lower_info(m->k, ub->buffer)->buffer];
  ac_aview axes = {0};
  bool strided = ub->view && b->pitch; /* a part, or all, of a buffer whose rows are on a pitch */
  c->ub_offset = strided ? part(m, ub, b, &axes, out) : expr(m, ub->offset, out);
  c->rank = t->rank;
  for (int i = 0; i < t->rank; i++) {
    c->axis[i].extent = expr(m, t->axis[i].extent, out);
    c->axis[i].stride = expr(m, t->axis[i].stride, out);
    if (!t->axis[i].index) continue;
    c->axis[i].index = ac_lower_info(m->k, t->axis[i].index->buffer)->handle;
    c->axis[i].index_at = expr(m, t->axis[i].index->offset, out);
  }
  if (count && t->rank <= 1) { /* count shortens a one-dimensional tile */
    c->rank = 1;
    c->axis[0].extent = expr(m, count, out);
    if (!t->rank) c->axis[0].stride = ac_ae_int(a, 1);
  }
  for (int i = 0; strided && i < c->rank; i++) c->axis[i].ub = i < axes.rank ? axes.stride[i] : NULL;
  if (c->gm < 0) fail(m, tile->loc, "a copy of this tensor");
  return c;
}

/* What a pad value fills of a part. */
static ac_aview *filled(maker *m, const ac_cexpr *ub, const ac_abuffer *b, ac_ablock *out) {
  ac_aview *v = AC_NEW(m->c->a, ac_aview);
  for (int d = 0; d < ub->view->rank; d++) {
    if (!ub->view->dim[d].room) continue;
    v->extent[v->rank] = expr(m, ub->view->dim[d].room, out);
    v->stride[v->rank++] = ac_ae_bin(m->c->a, AC_AE_MUL, step_of(m, b, d), ac_ae_int(m->c->a, ub->view->dim[d].step));
  }
  return v->rank ? v : NULL;
}

static void load(maker *m, const ac_cstmt *s, ac_ablock *out) {
  const ac_cexpr *e = s->value;
  ac_linfo *f = ac_lower_info(m->k, e->args[1]->buffer);
  ac_acopy *c = make_copy(m, e->args[0], e->args[1], e->args[2], out);
  c->to_ub = true;
  c->ub = f->handle;
  c->pad = e->n_args > 3 ? expr(m, e->args[3], out) : NULL;
  if (c->pad && e->args[1]->view) c->fills = filled(m, e->args[1], &m->k->k->buffers.data[f->buffer], out);
  ac_astmt *n = push(m, out, ac_as_new(m->c->a, AC_AS_COPY, s->loc));
  n->copy = c;
  n->trailing = s->trailing;
}

static ac_aexpr *elements_of(maker *m, const ac_acopy *c) {
  ac_aexpr *n = ac_ae_int(m->c->a, 1);
  for (int i = 0; i < c->rank; i++) n = ac_ae_bin(m->c->a, AC_AE_MUL, n, c->axis[i].extent);
  return n;
}

static void store(maker *m, const ac_cstmt *s, ac_ablock *out) {
  ac_arena *a = m->c->a;
  const ac_cexpr *e = s->value;
  ac_linfo *f = ac_lower_info(m->k, e->args[1]->buffer);
  ac_acopy *c = make_copy(m, e->args[0], e->args[1], e->args[2], out);
  c->ub = f->handle;
  if (e->n_args > 3 && e->args[3]) (void)ac_atomic_of(e->args[3]->s, &c->atomic);
  if (f->out_buffer >= 0) { /* an input queue cannot feed MTE3: the stored copy goes through a queue of its own */
    ac_atensor *t = AC_NEW(a, ac_atensor);
    t->name = ac_sprintf(a, "%sOut%d", f->handle->name, m->temps++);
    t->buffer = f->out_buffer;
    ac_push(a, &m->k->k->handles, t);
    queue_op(m, AC_AS_ALLOC, t, s->loc, out);
    ac_astmt *cp = push(m, out, ac_as_new(a, AC_AS_INST, s->loc));
    cp->inst = AC_I_COPY;
    cp->ops[0].tensor = t;
    cp->ops[1].tensor = f->handle;
    cp->ops[0].offset = cp->ops[1].offset = c->ub_offset;
    cp->n_ops = 2;
    cp->count = elements_of(m, c);
    out->len--;
    bool two = c->rank == 2, axes = c->rank > 1 && c->axis[0].ub;
    for (int k = 0; axes && k < 2; k++) {
      ac_aview *v = cp->ops[k].nd = AC_NEW(a, ac_aview);
      v->rank = c->rank;
      for (int i = 0; i < c->rank; i++) v->extent[i] = c->axis[i].extent, v->stride[i] = c->axis[i].ub;
    }
    if (axes || (c->rank && c->axis[0].ub))
      push(m, out, cp);
    else
      rows_of(m, cp, two ? c->axis[0].extent : NULL, two ? c->axis[1].extent : NULL, out);
    queue_op(m, AC_AS_ENQUE, t, s->loc, out);
    queue_op(m, AC_AS_DEQUE, t, s->loc, out);
    c->ub = t;
  }
  ac_astmt *n = push(m, out, ac_as_new(a, AC_AS_COPY, s->loc));
  n->copy = c;
  n->trailing = s->trailing;
  if (f->out_buffer >= 0) queue_op(m, AC_AS_FREE, c->ub, s->loc, out);
}

/* ---- instructions ---- */

static bool compare_mode(const char *s, ac_cmp *r) {
  static const char *const names[] = {[AC_CMP_LT] = "lt", [AC_CMP_GT] = "gt", [AC_CMP_EQ] = "eq",
                                      [AC_CMP_LE] = "le", [AC_CMP_GE] = "ge", [AC_CMP_NE] = "ne"};
  for (size_t i = 0; s && i < AC_COUNT(names); i++)
    if (!strcmp(names[i], s)) return *r = (ac_cmp)i, true;
  return false;
}

static void operand(maker *m, const ac_cexpr *e, ac_aoperand *o, ac_ablock *out) {
  if (e->type == AC_CT_BUFFER) {
    ac_linfo *f = ac_lower_info(m->k, e->buffer);
    const ac_abuffer *b = &m->k->k->buffers.data[f->buffer];
    o->tensor = f->handle;
    if (e->view && (b->pitch || e->view->rank == 1)) {
      ac_aview *axes = AC_NEW(m->c->a, ac_aview);
      o->offset = part(m, e, b, axes, out);
      if (axes->rank > 1 || m->axes) o->nd = axes;
    } else
      o->offset = expr(m, e->offset, out);
    if (e->dtype != e->buffer->dtype) o->view = e->dtype; /* a bitcast */
  } else
    o->scalar = expr(m, e, out);
}

static const ac_abuffer *pitched(maker *m, const ac_aoperand *o) {
  const ac_abuffer *b = o->tensor ? &m->k->k->buffers.data[o->tensor->buffer] : NULL;
  return b && b->pitch ? b : NULL;
}

/* Rows and columns of a count over two-dimensional buffers: the checker writes it as rows * columns; a fill takes the whole shape. */
static void factors(maker *m, const ac_cexpr *e, ac_aexpr **rows, ac_aexpr **cols, ac_ablock *out) {
  const ac_cexpr *n = e->args[e->n_args - 1];
  const ac_cbuffer *b = e->args[0] ? e->args[0]->buffer : NULL;
  bool sources = false;
  for (int i = 1; i < e->n_args; i++) sources |= e->args[i] && e->args[i]->type == AC_CT_BUFFER;
  if (!b || b->rank != 2) return;
  if (sources && (!n || n->kind != AC_CE_BINARY || n->op != AC_OP_MUL)) return;
  *rows = expr(m, sources ? n->a : b->shape[0], out);
  *cols = expr(m, sources ? n->b : b->shape[1], out);
}

/* An instruction over buffers whose rows are on a pitch goes row by row, or at once where rows fill their pitch. */
static void rows_of(maker *m, ac_astmt *s, ac_aexpr *rows, ac_aexpr *cols, ac_ablock *out) {
  ac_arena *a = m->c->a;
  const ac_abuffer *two = NULL;
  bool all = true;
  for (int i = 0; i < s->n_ops; i++) {
    if (!s->ops[i].tensor) continue;
    const ac_abuffer *x = pitched(m, &s->ops[i]);
    all &= x != NULL;
    if (x) two = x;
  }
  if (!two) {
    push(m, out, s);
    return;
  }
  ac_aexpr *full = NULL;
  bool reduce = s->kind == AC_AS_INST && ac_insts[s->inst].form == AC_FORM_REDUCE;
  if (!all || reduce || !rows || !cols) {
    ac_diag *x = ac_error(m->c->d, AC0606, s->loc,
                          "rows of '%s' are apart in UB, and this primitive takes them in one piece", two->buffer);
    ac_help(m->c->d, x, "use one-dimensional buffers and copy row by row, or a tile without gaps");
    m->ok = false;
    return;
  }
  ac_astmt *once = ac_as_new(a, AC_AS_IF, s->loc), *each = ac_as_new(a, AC_AS_FOR, s->loc),
           *row = AC_NEW(a, ac_astmt), *flat = AC_NEW(a, ac_astmt);
  *row = *flat = *s;
  each->var = (ac_avar){.name = "acRow", .type = AC_AT_INT};
  each->lo = ac_ae_int(a, 0);
  each->hi = rows;
  each->step = ac_ae_int(a, 1);
  row->count = cols;
  for (int i = 0; i < s->n_ops; i++) {
    const ac_abuffer *x = pitched(m, &s->ops[i]);
    if (!x) continue;
    row->ops[i].offset = ac_ae_bin(a, AC_AE_MUL, ac_ae_var(a, "acRow", AC_AT_INT), x->pitch);
    ac_aexpr *fits = ac_ae_bin(a, AC_AE_EQ, cols, x->pitch);
    bool have = full && (ac_ae_equal(full, fits) ||
                         (full->kind == AC_AE_AND && (ac_ae_equal(full->b, fits) || ac_ae_equal(full->a, fits))));
    if (!have) full = full ? ac_ae_bin(a, AC_AE_AND, full, fits) : fits;
  }
  push(m, &each->body, row);
  push(m, &once->body, flat);
  push(m, &once->orelse, each);
  once->cond = full;
  push(m, out, once);
}

static void instruction(maker *m, const ac_cstmt *s, ac_ablock *out) {
  const ac_cexpr *e = s->value;
  bool prim = e->prim != AC_P_INST;
  ac_astmt *n = ac_as_new(m->c->a, prim ? AC_AS_PRIM : AC_AS_INST, s->loc);
  n->trailing = s->trailing;
  int last = e->n_args - 1; /* the count */
  if (prim)
    n->prim = (int)e->prim;
  else {
    n->inst = e->inst;
    n->round = e->round;
  }
  for (int i = 0; i < last; i++) {
    const ac_cexpr *x = e->args[i];
    if (!x || x->type == AC_CT_STR || x->type == AC_CT_NONE || x->kind == AC_CE_STR) {
      if (x && x->kind == AC_CE_STR) compare_mode(x->s, &n->cmp);
      continue;
    }
    if (n->n_ops < (int)AC_COUNT(n->ops)) operand(m, x, &n->ops[n->n_ops++], out);
  }
  n->count = e->args[last] ? expr(m, e->args[last], out) : NULL;
  if (!n->count)
    fail(m, s->loc, "an instruction without a count");
  else {
    ac_aexpr *rows = NULL, *cols = NULL;
    bool axes = false; /* pass "rows" sees to them */
    for (int i = 0; i < n->n_ops; i++) axes |= n->ops[i].nd != NULL;
    for (int i = 0; i < last && !axes; i++) axes = e->args[i] && e->args[i]->view && m->k->pitched;
    if (axes) {
      push(m, out, n);
      return;
    }
    factors(m, e, &rows, &cols, out);
    rows_of(m, n, rows, cols, out);
  }
}

static const ac_cexpr *argument(const ac_cexpr *e, const char *name) {
  int p = ac_cprim_operand(e->prim, name);
  return p >= 0 && p < e->n_args ? e->args[p] : NULL;
}

/* Primitives along axes: operands with all their axes, in the order of their signatures; the axis and how. */
static ac_astmt *along_axes(maker *m, const ac_cexpr *e, ac_loc loc, ac_ablock *out) {
  ac_astmt *n = ac_as_new(m->c->a, AC_AS_PRIM, loc);
  static const struct {
    const char *name;
    unsigned how;
  } flags[] = {{"reverse", AC_HOW_REVERSE}, {"exclusive", AC_HOW_EXCLUSIVE}, {"descending", AC_HOW_DESCENDING}};
  const ac_cexpr *axis = argument(e, "axis"), *work = argument(e, "work"), *count = argument(e, "count");
  n->prim = (int)e->prim;
  n->axis = -1;
  m->axes = true;
  for (int i = 0; i < e->n_args; i++) {
    const ac_cexpr *x = e->args[i];
    bool flag = x && x->type == AC_CT_BOOL;
    if (!x || x == axis || x == work || x == count || flag) continue;
    if (n->n_ops < (int)AC_COUNT(n->ops)) operand(m, x, &n->ops[n->n_ops++], out);
  }
  m->axes = false;
  for (size_t i = 0; i < AC_COUNT(flags); i++) {
    const ac_cexpr *x = argument(e, flags[i].name);
    if (x && x->i) n->how |= flags[i].how;
  }
  if (axis) {
    const ac_aexpr *k = expr(m, axis, out);
    int64_t v = 0;
    const ac_aview *widest = n->ops[0].nd;
    if (n->n_ops > 1 && n->ops[1].nd && n->ops[1].nd->rank > widest->rank) widest = n->ops[1].nd;
    if (!k || !ac_ae_const(k, &v)) fail(m, loc, "an axis that is no constant");
    n->axis = (int)(v < 0 ? v + widest->rank : v);
  }
  return n;
}

/* ---- scalars and control ---- */

static void set(maker *m, const ac_cstmt *s, const ac_cexpr *target, ac_aexpr *value, ac_ablock *out) {
  static const ac_aekind aug[] = {
      [AC_OP_ADD] = AC_AE_ADD, [AC_OP_SUB] = AC_AE_SUB,           [AC_OP_MUL] = AC_AE_MUL,
      [AC_OP_DIV] = AC_AE_DIV, [AC_OP_FLOORDIV] = AC_AE_FLOORDIV, [AC_OP_MOD] = AC_AE_MOD};
  ac_arena *a = m->c->a;
  ac_lvar *v = ac_lvar_find(&m->k->vars, ac_lower_name(a, target->s));
  if (!v || !value) return;
  if (s->op != AC_OP_NOP) value = ac_ae_bin(a, aug[s->op], ac_ae_var(a, v->name, v->type), value);
  if (!v->uses && !v->member && !v->hoist) return; /* only sized a buffer or a tile */
  bool known = v->member || v->param || v->hoist || ac_scope_has(&m->scope, v->name);
  if (v->type == AC_AT_FLOAT) value = ac_ae_to_float(a, value);
  ac_astmt *last = out->len ? out->data[out->len - 1] : NULL;
  if (!known && last && last->kind == AC_AS_GETVALUE && value->kind == AC_AE_VAR && value->name == last->var.name) {
    last->var.name = v->name; /* the scalar read declares the variable itself */
    last->trailing = s->trailing;
    ac_scope_add(a, &m->scope, v->name);
    return;
  }
  ac_astmt *n = push(m, out, ac_as_new(a, known ? AC_AS_ASSIGN : AC_AS_DECL, s->loc));
  n->var = (ac_avar){.name = v->name, .type = v->type};
  n->value = value;
  n->trailing = s->trailing;
  if (!known) ac_scope_add(a, &m->scope, v->name);
}

static void assign(maker *m, const ac_cstmt *s, ac_ablock *out) {
  if (s->target->kind == AC_CE_TUPLE) {
    if (s->value->kind != AC_CE_TUPLE || s->value->n_args != s->target->n_args) {
      fail(m, s->loc, "this assignment to several names");
      return;
    }
    ac_aexpr *v[16];
    int n = s->value->n_args < 16 ? s->value->n_args : 16;
    for (int i = 0; i < n; i++) { /* all right sides first */
      ac_aexpr *x = expr(m, s->value->args[i], out);
      if (!x) return;
      ac_astmt *t = push(m, out, ac_as_new(m->c->a, AC_AS_DECL, s->loc));
      t->var = (ac_avar){.name = ac_sprintf(m->c->a, "part%d", m->temps++), .type = x->type};
      t->value = x;
      v[i] = ac_ae_var(m->c->a, t->var.name, x->type);
    }
    for (int i = 0; i < n; i++) set(m, s, s->target->args[i], v[i], out);
    return;
  }
  if (s->value->kind == AC_CE_CALL && s->value->prim == AC_P_COMPRESS) {
    ac_astmt *n = push(m, out, along_axes(m, s->value, s->loc, out));
    n->var = (ac_avar){.name = ac_sprintf(m->c->a, "kept%d", m->temps++), .type = AC_AT_INT};
    set(m, s, s->target, ac_ae_var(m->c->a, n->var.name, AC_AT_INT), out);
    return;
  }
  if (s->value->prim == AC_P_ALLOC_UB || !ac_is_scalar(s->value) || s->value->tile) return;
  set(m, s, s->target, expr(m, s->value, out), out);
}

static bool assigned_in(const ac_cstmt *first, const char *dsl) {
  for (const ac_cstmt *s = first; s; s = s->next) {
    if ((s->kind == AC_CS_ASSIGN || s->kind == AC_CS_FOR) && s->target->kind == AC_CE_NAME &&
        !strcmp(s->target->s, dsl))
      return true;
    if (assigned_in(s->body, dsl) || assigned_in(s->orelse, dsl)) return true;
  }
  return false;
}

/* Python evaluates the bounds of a range once. */
static bool stable(const ac_aexpr *e) {
  return !e || e->kind == AC_AE_INT || e->kind == AC_AE_VAR;
}

static ac_aexpr *bound(maker *m, const ac_cexpr *e, const ac_cstmt *loop, const char *what, ac_ablock *out) {
  ac_aexpr *x = expr(m, e, out);
  if (!x) return NULL;
  bool changes = x->kind == AC_AE_VAR && (e->kind != AC_CE_NAME || assigned_in(loop->body, e->s));
  if (stable(x) && !changes) return x;
  ac_astmt *n = push(m, out, ac_as_new(m->c->a, AC_AS_DECL, loop->loc));
  n->var = (ac_avar){.name = ac_sprintf(m->c->a, "%s%s%d", ac_lower_name(m->c->a, loop->target->s), what, m->temps++),
                     .type = AC_AT_INT};
  n->value = x;
  return ac_ae_var(m->c->a, n->var.name, AC_AT_INT);
}

static void loop(maker *m, const ac_cstmt *s, ac_ablock *out) {
  ac_arena *a = m->c->a;
  ac_lvar *v = ac_lvar_find(&m->k->vars, ac_lower_name(a, s->target->s));
  bool outside = v && (v->member || v->hoist || v->param);
  ac_astmt *n = ac_as_new(a, AC_AS_FOR, s->loc);
  n->trailing = s->trailing;
  n->lo = expr(m, s->lo, out);
  n->hi = bound(m, s->hi, s, "End", out);
  n->step = s->step ? bound(m, s->step, s, "Step", out) : ac_ae_int(a, 1);
  const char *name = ac_lower_name(a, s->target->s);
  bool copy =
      outside || assigned_in(s->body, s->target->s); /* assigning a loop variable does not move a Python loop */
  n->var = (ac_avar){.name = copy ? ac_sprintf(a, "%sLoop%d", name, m->temps++) : name, .type = AC_AT_INT};
  push(m, out, n);
  size_t mark = m->scope.names.len;
  if (copy) {
    ac_astmt *b = push(m, &n->body, ac_as_new(a, outside ? AC_AS_ASSIGN : AC_AS_DECL, s->loc));
    b->var = (ac_avar){.name = name, .type = AC_AT_INT};
    b->value = ac_ae_var(a, n->var.name, AC_AT_INT);
  }
  if (!outside) ac_scope_add(a, &m->scope, name);
  list(m, s->body, &n->body);
  ac_scope_cut(&m->scope, mark);
}

static void while_loop(maker *m, const ac_cstmt *s, ac_ablock *out) {
  ac_arena *a = m->c->a;
  ac_ablock pre = {0};
  ac_aexpr *cond = expr(m, s->value, &pre);
  if (cond) cond = ac_ae_to_bool(a, cond);
  ac_astmt *n = push(m, out, ac_as_new(a, AC_AS_WHILE, s->loc));
  n->cond = cond;
  size_t mark = m->scope.names.len;
  if (pre.len && cond) { /* the condition reads memory: while (true) { read; if (!cond) break; ... } */
    n->cond = ac_ae(a, AC_AE_BOOL, AC_AT_BOOL, NULL, NULL);
    n->cond->i = 1;
    n->body = pre;
    ac_astmt *leave = push(m, &n->body, ac_as_new(a, AC_AS_IF, s->loc));
    leave->cond = ac_ae(a, AC_AE_NOT, AC_AT_BOOL, cond, NULL);
    push(m, &leave->body, ac_as_new(a, AC_AS_BREAK, s->loc));
  }
  list(m, s->body, &n->body);
  ac_scope_cut(&m->scope, mark);
}

/* ---- stage blocks ---- */

typedef struct {
  maker *m;
  ac_amethod *method;
  ac_astmt *call;
  AC_VEC(ac_aexpr *) args;
} params;

static void add_param(params *p, const char *dsl) {
  ac_arena *a = p->m->c->a;
  ac_lvar *v = ac_lvar_find(&p->m->k->vars, ac_lower_name(a, dsl));
  if (!v || v->member || v->param || !(v->hoist ? v->stage == NULL : ac_scope_has(&p->m->scope, v->name))) return;
  for (size_t i = 0; i < p->method->params.len; i++)
    if (!strcmp(p->method->params.data[i].name, v->name)) return;
  ac_avar q = {.name = v->name, .type = v->type};
  ac_push(a, &p->method->params, q);
  ac_aexpr *arg = ac_ae_var(a, v->name, v->type);
  ac_push(a, &p->args, arg);
}
static void param_expr(void *user, const ac_cexpr *e) {
  if (e->kind == AC_CE_NAME && ac_is_scalar(e)) add_param(user, e->s);
}
static void params_of(params *p, const ac_cstmt *first) {
  for (const ac_cstmt *s = first; s; s = s->next) {
    ac_each_expr(s, param_expr, p);
    params_of(p, s->body);
    params_of(p, s->orelse);
  }
}

static void hoisted(maker *m, const ac_cstmt *stage, ac_ablock *out) {
  for (size_t i = 0; i < m->k->vars.len; i++) {
    ac_lvar *v = &m->k->vars.data[i];
    if (!v->hoist || v->member || v->param || v->stage != stage) continue;
    ac_astmt *n = push(m, out, ac_as_new(m->c->a, AC_AS_DECL, m->k->fn->loc));
    n->var = (ac_avar){.name = v->name, .type = v->type};
    n->value = v->type == AC_AT_FLOAT ? ac_ae_float(m->c->a, 0) : ac_ae_int(m->c->a, 0);
  }
}

static void stage(maker *m, const ac_cstmt *s, ac_ablock *out) {
  static const char *const names[] = {
      [AC_AM_COPYIN] = "CopyIn", [AC_AM_COMPUTE] = "Compute", [AC_AM_COPYOUT] = "CopyOut"};
  ac_amkind kind = s->stage == AC_STAGE_COPYIN    ? AC_AM_COPYIN
                   : s->stage == AC_STAGE_COMPUTE ? AC_AM_COMPUTE
                                                  : AC_AM_COPYOUT;
  ac_arena *a = m->c->a;
  ac_amethod method = {.kind = kind, .name = ac_sprintf(a, "%s%d", names[kind], ++m->count[kind])};
  params p = {.m = m, .method = &method};
  params_of(&p, s->body);
  ac_astmt *call = push(m, out, ac_as_new(a, AC_AS_CALL, s->loc));
  call->args = p.args.data;
  call->n_args = (int)p.args.len;
  call->trailing = s->trailing;
  ac_lscope outer = m->scope;
  m->scope = (ac_lscope){0};
  for (size_t i = 0; i < method.params.len; i++) ac_scope_add(a, &m->scope, method.params.data[i].name);
  m->stage = s;
  events(m, s, false, &method.body);
  getter g = {.m = m, .out = &method.body, .id = ++m->getters};
  gets(&g, s->body, true);
  hoisted(m, s, &method.body);
  list(m, s->body, &method.body);
  comments(m, &s->tail_comments, &method.body, s->loc);
  events(m, s, true, &method.body);
  m->stage = NULL;
  m->scope = outer;
  call->method = (int)m->k->k->methods.len;
  ac_push(a, &m->k->k->methods, method);
}

static void call(maker *m, const ac_cstmt *s, ac_ablock *out) {
  const ac_cexpr *e = s->value;
  if (e->kind == AC_CE_STR) return;
  if (e->kind != AC_CE_CALL) {
    fail(m, s->loc, "this statement");
    return;
  }
  switch ((int)e->prim) {
  case AC_P_LOAD: load(m, s, out); return;
  case AC_P_STORE: store(m, s, out); return;
  case AC_P_SYNC_ALL:
    push(m, out, ac_as_new(m->c->a, AC_AS_SYNC_ALL, s->loc));
    m->k->k->sync_all = true;
    return;
  case AC_P_EXTRACT_SCALAR: expr(m, e, out); return;
  case AC_P_NONE: fail(m, s->loc, "this statement"); return;
  default:
    if (e->prim >= AC_P_REDUCE_SUM && e->prim <= AC_P_INSERT_SCALAR)
      push(m, out, along_axes(m, e, s->loc, out))->trailing = s->trailing;
    else
      instruction(m, s, out);
    return;
  }
}

static void statement(maker *m, const ac_cstmt *s, ac_ablock *out) {
  ac_astmt *n;
  switch (s->kind) {
  case AC_CS_ASSIGN: assign(m, s, out); return;
  case AC_CS_EXPR: call(m, s, out); return;
  case AC_CS_IF: {
    ac_aexpr *cond = expr(m, s->value, out);
    n = push(m, out, ac_as_new(m->c->a, AC_AS_IF, s->loc));
    n->cond = cond ? ac_ae_to_bool(m->c->a, cond) : NULL;
    n->trailing = s->trailing;
    list(m, s->body, &n->body);
    list(m, s->orelse, &n->orelse);
    return;
  }
  case AC_CS_FOR: loop(m, s, out); return;
  case AC_CS_WHILE: while_loop(m, s, out); return;
  case AC_CS_WITH:
    if (m->stage)
      fail(m, s->loc, "a stage block inside a stage block");
    else
      stage(m, s, out);
    return;
  case AC_CS_BREAK: push(m, out, ac_as_new(m->c->a, AC_AS_BREAK, s->loc)); return;
  case AC_CS_PASS: return;
  case AC_CS_RETURN:
    if (m->stage)
      fail(m, s->loc, "return inside a stage block");
    else
      push(m, out, ac_as_new(m->c->a, AC_AS_RETURN, s->loc));
    return;
  default: fail(m, s->loc, "this statement"); return;
  }
}

static void list(maker *m, const ac_cstmt *first, ac_ablock *out) {
  size_t mark = m->scope.names.len;
  for (const ac_cstmt *s = first; s && m->ok; s = s->next) {
    comments(m, &s->comments, out, s->loc);
    if (s->kind != AC_CS_WITH) events(m, s, false, out);
    statement(m, s, out);
    if (s->kind != AC_CS_WITH) events(m, s, true, out);
  }
  ac_scope_cut(&m->scope, mark);
}

bool ac_lower_process(ac_lower_ctx *c) {
  for (size_t i = 0; i < c->kernels.len; i++) {
    ac_lkernel *k = c->kernels.data[i];
    maker m = {.c = c, .k = k, .ok = true};
    ac_amethod process = {.kind = AC_AM_PROCESS, .name = "Process"};
    ac_push(c->a, &k->k->methods, process);
    for (size_t j = 0; j < k->vars.len; j++) {
      ac_avar v = {.name = k->vars.data[j].name, .type = k->vars.data[j].type};
      if (k->vars.data[j].member && !k->vars.data[j].param) ac_push(c->a, &k->k->members, v);
    }
    ac_ablock body = {0}; /* methods may move while they are added */
    getter g = {.m = &m, .out = &body, .id = ++m.getters};
    gets(&g, k->fn->body, false);
    hoisted(&m, NULL, &body);
    list(&m, k->fn->body, &body);
    comments(&m, &k->fn->tail_comments, &body, k->fn->loc);
    k->k->methods.data[0].body = body;
    if (!m.ok) return false;
  }
  return true;
}

/* Pass "place": each DSL buffer becomes a queue or a TBuf.
 *
 * loaded                        TQue VECIN      loaded and stored, nothing else   TQueBind VECIN to VECOUT
 * computed, stored              TQue VECOUT     loaded, then computed on, then    TQueBind VECIN to VECOUT in two legs: the vector unit
 * anything else                 TBuf VECCALC    stored                            works on the slot between them
 *                                               the same, computed on between     TQue VECIN, and a VECOUT queue that a copy goes through
 *                                               or after stores
 *
 * A queue needs its operations in step on every path. They are placed in the one statement list that holds all accesses of the
 * buffer (recursively where a statement holds whole lives of it): Alloc before the first write, EnQue after the last write of the
 * group, DeQue before the first use, Free after the last. Since all four stand in the same list, a loop that runs zero times
 * cannot leave a queue with an EnQue and no DeQue. Where that shape does not fit (a value that a loop carries round, a load under
 * a condition inside a loop), the buffer becomes a TBuf and pass "sync" orders its copies by flags. */
#include "lower/internal.h"

#include <stdlib.h>
#include <string.h>

enum { LOAD = 1, USE = 2, STORE = 4 }; /* MTE2 writes; vector unit or scalar unit; MTE3 reads */

typedef struct {
  ac_lower_ctx *c;
  ac_lkernel *k;
  const ac_cbuffer *b;
  int info;
  int first, second; /* masks: the writing half of a life and the using half */
  size_t events;     /* where this buffer's events start */
  bool looped;       /* an episode stands inside a loop */
  bool dead;         /* written and never used: every write is a life of its own */
} analysis;

/* ---- what touches a buffer ---- */

typedef struct {
  const ac_cbuffer *b;
  int mask;
  int *all; /* not NULL: the masks of all buffers of the kernel are wanted, not only that of b */
} touch;

static void note(touch *t, const ac_cbuffer *b, int m) {
  if (t->all)
    t->all[b->index] |= m;
  else if (b == t->b)
    t->mask |= m;
}

static void touch_args(const ac_cexpr *e, touch *t) {
  if (e->prim == AC_P_BITCAST) return; /* what takes the view counts */
  for (int i = 0; i < e->n_args; i++) {
    const ac_cexpr *x = e->args[i];
    if (!x || !x->buffer || x->type != AC_CT_BUFFER) continue;
    note(t, x->buffer, e->prim == AC_P_LOAD ? LOAD : e->prim == AC_P_STORE ? STORE : USE);
  }
}

static void touch_call(const ac_cexpr *e, touch *t) {
  if (!e) return;
  if (e->kind == AC_CE_CALL) touch_args(e, t);
  touch_call(e->a, t);
  touch_call(e->b, t);
  touch_call(e->c, t);
  for (int i = 0; i < e->n_args; i++) touch_call(e->args[i], t);
  if (e->tile) {
    touch_call(e->tile->base, t);
    for (int i = 0; i < e->tile->rank; i++) {
      touch_call(e->tile->axis[i].extent, t);
      touch_call(e->tile->axis[i].stride, t);
      if (e->tile->axis[i].index && e->tile->axis[i].index->buffer) note(t, e->tile->axis[i].index->buffer, USE);
    }
  }
}

static void touch_list(const ac_cstmt *first, touch *t);
static void touch_statement(const ac_cstmt *s, touch *t) {
  if (s->value && s->value->prim != AC_P_ALLOC_UB) touch_call(s->value, t);
  touch_call(s->lo, t);
  touch_call(s->hi, t);
  touch_call(s->step, t);
  touch_list(s->body, t);
  touch_list(s->orelse, t);
}
static void touch_list(const ac_cstmt *first, touch *t) {
  for (const ac_cstmt *s = first; s; s = s->next) touch_statement(s, t);
}
static int touches(const ac_cstmt *s, const ac_cbuffer *b) {
  touch t = {.b = b};
  touch_statement(s, &t);
  return t.mask;
}

/* ---- is the first access of a life a write that starts at element 0 and happens on every path? ---- */

static const ac_cexpr *destination(const ac_cexpr *call, const ac_cbuffer *b) {
  if (call->kind != AC_CE_CALL || !call->n_args) return NULL;
  if (call->prim == AC_P_LOAD) return call->args[1];
  if (call->prim == AC_P_STORE || call->prim == AC_P_EXTRACT_SCALAR) return NULL;
  int second = ac_cprim_second(call->prim);
  const ac_cexpr *x = second > 0 && second < call->n_args ? call->args[second] : NULL;
  return x && x->buffer == b ? x : call->args[0];
}

/* The offset is 0 in the first round of the loops in `vars`: a sum of products that each hold a loop variable that starts at 0. */
static bool starts_at_zero(const ac_cexpr *e, const ac_strvec *vars) {
  if (!e || (e->kind == AC_CE_INT && e->i == 0)) return true;
  if (e->kind == AC_CE_NAME) {
    for (size_t i = 0; i < vars->len; i++)
      if (!strcmp(vars->data[i], e->s)) return true;
    return false;
  }
  if (e->kind != AC_CE_BINARY) return false;
  if (e->op == AC_OP_MUL) return starts_at_zero(e->a, vars) || starts_at_zero(e->b, vars);
  return e->op == AC_OP_ADD && starts_at_zero(e->a, vars) && starts_at_zero(e->b, vars);
}

typedef enum { NOT_YET, DEFINES, FAILS } verdict;

static verdict defines(ac_arena *a, const ac_cstmt *s, const ac_cbuffer *b, ac_strvec *vars, bool sure) {
  if (!touches(s, b)) return NOT_YET;
  if (s->kind == AC_CS_WITH || s->kind == AC_CS_FOR) {
    size_t mark = vars->len;
    if (s->kind == AC_CS_FOR) {
      if (s->lo && s->lo->kind == AC_CE_INT && s->lo->i == 0)
        ac_push(a, vars, s->target->s);
      else
        sure = false;
    }
    verdict v = NOT_YET;
    for (const ac_cstmt *x = s->body; x && v == NOT_YET; x = x->next) v = defines(a, x, b, vars, sure);
    vars->len = mark;
    return v;
  }
  if ((s->kind != AC_CS_EXPR && s->kind != AC_CS_ASSIGN) || !sure) return FAILS;
  const ac_cexpr *call = s->value, *d = destination(call, b);
  /* scratch of a reduction: what it held before is lost, and nobody may read it after */
  bool reduces = call->kind == AC_CE_CALL && call->prim == AC_P_INST && ac_insts[call->inst].form == AC_FORM_REDUCE;
  if (reduces && call->args[2] && call->args[2]->buffer == b && call->args[0]->buffer != b &&
      call->args[1]->buffer != b)
    return DEFINES;
  if (!d || d->buffer != b || !starts_at_zero(d->offset, vars)) return FAILS;
  /* the rest of a box, and what an element or a compressed row is put into, stays as it was: it must still be there */
  if (d->kind == AC_CE_INDEX && b->rank > 1) return FAILS;
  if (call->prim == AC_P_INSERT_SCALAR || call->prim == AC_P_COMPRESS) return FAILS;
  if (call->prim == AC_P_INST && (ac_insts[call->inst].flags & AC_INST_DST_IN)) return FAILS;
  for (int i = 0; i < call->n_args; i++) {
    touch t = {.b = b};
    if (call->args[i] == d || !call->args[i]) continue;
    /* the work tensor of a reduction is scratch: not read before it is written */
    if (call->prim == AC_P_INST && ac_insts[call->inst].form == AC_FORM_REDUCE && i == 2) continue;
    if (call->args[i]->buffer == b) return FAILS;
    touch_call(call->args[i], &t);
    if (t.mask) return FAILS;
  }
  return DEFINES;
}

static bool definite(analysis *x, const ac_cstmt *s) {
  ac_strvec vars = {0};
  return defines(x->c->a, s, x->b, &vars, true) == DEFINES;
}

/* ---- lives in a list ---- */

static void event(analysis *x, const ac_cstmt *at, bool after, ac_lop op, bool in_loop) {
  ac_levent e = {.at = at, .after = after, .op = op, .info = x->info};
  ac_push(x->c->a, &x->k->events, e);
  x->looped |= in_loop;
}

static bool lives(analysis *x, const ac_cstmt *first, bool in_loop);

static bool lives_inside(analysis *x, const ac_cstmt *s, bool in_loop) {
  if (s->kind == AC_CS_FOR || s->kind == AC_CS_WHILE) return lives(x, s->body, true);
  if (s->kind == AC_CS_IF) return lives(x, s->body, in_loop) && lives(x, s->orelse, in_loop);
  return false; /* one stage block both fills and uses it */
}

/* Ends the life at hand. `use` NULL: written and never used; then a queue that was filled is emptied at once. */
static void end_life(analysis *x, const ac_cstmt *write, const ac_cstmt *use, bool in_loop) {
  if (!use) {
    event(x, write, true, AC_LV_ENQUE, in_loop);
    event(x, write, true, AC_LV_DEQUE, in_loop);
    event(x, write, true, AC_LV_FREE, in_loop);
  } else
    event(x, use, true, AC_LV_FREE, in_loop);
}

/* The statement may leave the list it stands in: a return, or a break of a loop around it. */
static bool leaves(const ac_cstmt *s, bool inside) {
  if (s->kind == AC_CS_RETURN || (s->kind == AC_CS_BREAK && !inside)) return true;
  bool loop = inside || s->kind == AC_CS_FOR || s->kind == AC_CS_WHILE;
  for (const ac_cstmt *c = s->body; c; c = c->next)
    if (leaves(c, loop)) return true;
  for (const ac_cstmt *c = s->orelse; c; c = c->next)
    if (leaves(c, loop)) return true;
  return false;
}

static bool lives(analysis *x, const ac_cstmt *first, bool in_loop) {
  const ac_cstmt *write = NULL, *use = NULL; /* last of each in the life at hand */
  bool any = false, left = false;            /* left: control may have left since the life began */
  for (const ac_cstmt *s = first; s; s = s->next) {
    int m = touches(s, x->b);
    if (write && leaves(s, false)) left = true;
    if (!m) continue;
    bool w = m & x->first, u = m & x->second;
    if (left && !(w && use)) return false; /* a slot would stay in the queue */
    if (w && use) left = false;
    if ((w || u) && !(w && u) && leaves(s, false)) return false;
    bool compound = s->kind == AC_CS_FOR || s->kind == AC_CS_WHILE || s->kind == AC_CS_IF;
    if ((w && u) || (x->dead && compound)) {
      touch own = {.b = x->b}; /* a condition that reads the buffer while its block fills it */
      touch_call(s->value, &own);
      if (own.mask) return false;
      if (write) end_life(x, write, use, in_loop);
      write = use = NULL;
      if (!lives_inside(x, s, in_loop)) return false;
    } else if (w) {
      if (write && !use) { /* the group grows */
        write = s;
        any = true;
        continue;
      }
      if (!definite(x, s) && (in_loop || any)) return false;
      if (!definite(x, s) && x->first == USE) return false;
      if (write) end_life(x, write, use, in_loop);
      use = NULL;
      write = s;
      event(x, s, false, AC_LV_ALLOC, in_loop);
    } else {
      if (!write) return false;
      if (!use) {
        event(x, write, true, AC_LV_ENQUE, in_loop);
        event(x, s, false, AC_LV_DEQUE, in_loop);
      }
      use = s;
    }
    any = true;
  }
  if (write) end_life(x, write, use, in_loop);
  return true;
}

/* ---- loaded, updated, stored: the second leg ---- */

typedef AC_VEC(ac_levent) event_list;

/* Of a life from DeQue to Free: the last statement that computes and the first that stores; false where they are not in this order. */
static bool legs(analysis *x, const ac_cstmt *from, const ac_cstmt *to, const ac_cstmt **use,
                 const ac_cstmt **store) {
  for (const ac_cstmt *s = from;; s = s->next) {
    int m = touches(s, x->b);
    if ((m & USE) && ((m & STORE) || *store)) return false;
    if (m & USE) *use = s;
    if ((m & STORE) && !*store) *store = s;
    if (s == to) return true;
  }
}

static void leg(analysis *x, event_list *out, const ac_cstmt *at, bool after, ac_lop op) {
  ac_levent e = {.at = at, .after = after, .op = op, .info = x->info};
  ac_push(x->c->a, out, e);
}

/* Every life gets a second leg, one that stores nothing too: Free tells MTE2 that MTE3 is done, not that the vector unit is. */
static bool outward(analysis *x) {
  event_list out = {0};
  const ac_cstmt *from = NULL;
  bool dead = false;
  for (size_t i = x->events; i < x->k->events.len; i++) {
    const ac_levent *e = &x->k->events.data[i];
    const ac_cstmt *use = NULL, *store = NULL;
    if (e->op == AC_LV_DEQUE) from = e->at, dead = e->after;
    if (e->op == AC_LV_FREE) {
      if (!dead && !(from && legs(x, from, e->at, &use, &store))) return false;
      leg(x, &out, use ? use : store ? store : e->at, use || !store, AC_LV_ENQUE_OUT);
      leg(x, &out, store ? store : e->at, !store, AC_LV_DEQUE_OUT);
    }
    ac_push(x->c->a, &out, *e);
  }
  x->k->events.len = x->events;
  for (size_t i = 0; i < out.len; i++) ac_push(x->c->a, &x->k->events, out.data[i]);
  return true;
}

/* ---- sizes: buffers are made in Init, before any statement of the kernel runs ---- */

typedef struct {
  ac_lower_ctx *c;
  ac_lkernel *k;
  int depth;
  bool ok;
} sizing;

static ac_aexpr *known_before(void *user, const char *name) {
  sizing *z = user;
  ac_lvar *v = ac_lvar_find(&z->k->vars, name);
  if (!v || (v->param && !v->assigns)) return NULL;
  if (!v->param && v->assigns == 1 && v->value && !v->loop && z->depth < 32) {
    ac_lconv conv = {.c = z->c, .k = z->k};
    ac_aexpr *e = ac_lower_expr(&conv, v->value);
    z->depth++;
    if (e) e = ac_ae_subst(z->c->a, e, known_before, z);
    z->depth--;
    if (e) return e;
  }
  z->ok = false;
  return NULL;
}

static bool uses_block(const ac_aexpr *e) {
  return e && (e->kind == AC_AE_BLOCK_IDX || e->kind == AC_AE_BLOCK_NUM || uses_block(e->a) || uses_block(e->b) ||
               uses_block(e->c));
}

static ac_aexpr *capacity(ac_lower_ctx *c, ac_lkernel *k, const ac_cbuffer *b, ac_aexpr **row, ac_aexpr *dims[4]) {
  ac_lconv conv = {.c = c, .k = k};
  ac_aexpr *n = ac_ae_int(c->a, 1);
  int bytes = ac_dtypes[b->dtype].bytes;
  for (int i = 0; i < b->rank; i++) {
    ac_aexpr *e = ac_lower_expr(&conv, b->shape[i]);
    if (!e) return NULL;
    if (i == b->rank - 1 && b->rank > 1) e = *row = ac_ae_bin(c->a, AC_AE_ALIGN_UP, e, ac_ae_int(c->a, 32 / bytes));
    n = ac_ae_bin(c->a, AC_AE_MUL, n, e);
    dims[i] = e;
  }
  sizing z = {.c = c, .k = k, .ok = true};
  n = ac_ae_subst(c->a, n, known_before, &z);
  *row = ac_ae_subst(c->a, *row, known_before, &z);
  for (int i = 0; i < b->rank; i++) dims[i] = ac_ae_subst(c->a, dims[i], known_before, &z);
  if (z.ok && !uses_block(n)) return n;
  ac_error(c->d, AC0600, b->loc, "the size of buffer '%s' depends on values that only the running kernel knows",
           b->name); /* the checker says so before: AC0519 */
  return NULL;
}

/* ---- two-dimensional buffers ---- */

static bool gapped_call(ac_lower_ctx *c, ac_lkernel *k, const ac_cexpr *e) {
  if (!e || e->kind != AC_CE_CALL || (e->prim != AC_P_LOAD && e->prim != AC_P_STORE)) return false;
  const ac_cexpr *tile = e->args[0], *ub = e->args[1];
  if (!tile || !tile->tile || tile->tile->rank < 2 || !ub->buffer || ub->buffer->rank < 2) return false;
  if (e->prim == AC_P_LOAD && e->n_args > 3 && e->args[3]) return true; /* rows end before their padding does */
  ac_diags quiet;
  ac_diags_init(&quiet, c->a);
  ac_lower_ctx trial = *c;
  trial.d = &quiet;
  ac_lconv conv = {.c = &trial, .k = k};
  ac_acopy copy = {.rank = tile->tile->rank};
  for (int i = 0; i < copy.rank; i++) {
    copy.axis[i].extent = ac_lower_expr(&conv, tile->tile->axis[i].extent);
    copy.axis[i].stride = ac_lower_expr(&conv, tile->tile->axis[i].stride);
    if (!copy.axis[i].extent || !copy.axis[i].stride) return true;
  }
  return !ac_lower_merge(c->a, &copy, true);
}
static bool gapped(ac_lower_ctx *c, ac_lkernel *k, const ac_cstmt *first) {
  for (const ac_cstmt *s = first; s; s = s->next)
    if ((s->kind == AC_CS_EXPR && gapped_call(c, k, s->value)) || gapped(c, k, s->body) || gapped(c, k, s->orelse))
      return true;
  return false;
}

/* Rows go to or come from places that memory names. */
static bool indexed(const ac_cexpr *e) {
  const ac_ctile *t = e->kind == AC_CE_CALL && (e->prim == AC_P_LOAD || e->prim == AC_P_STORE) && e->args[0]
                          ? e->args[0]->tile
                          : NULL;
  return t && t->rank > 1 && t->axis[0].index;
}

/* A part of such a buffer is used, or a primitive that works along its axes. */
static bool parts_call(const ac_cexpr *e) {
  if (!e) return false;
  if (indexed(e)) return true;
  bool axes = e->kind == AC_CE_CALL && e->prim >= AC_P_REDUCE_SUM && e->prim <= AC_P_INSERT_SCALAR;
  for (int i = 0; i < e->n_args; i++) {
    const ac_cexpr *x = e->args[i];
    if (x && x->buffer && x->type == AC_CT_BUFFER && x->buffer->rank > 1 && (axes || x->kind == AC_CE_INDEX))
      return true;
    if (parts_call(x)) return true;
  }
  return parts_call(e->a) || parts_call(e->b) || parts_call(e->c);
}
static bool parts(const ac_cstmt *first) {
  for (const ac_cstmt *s = first; s; s = s->next)
    if (parts_call(s->value) || parts_call(s->lo) || parts_call(s->hi) || parts(s->body) || parts(s->orelse))
      return true;
  return false;
}

/* ---- masks and compares ---- */

static void mark_call(ac_lkernel *k, const ac_cexpr *e) {
  if (!e || e->kind != AC_CE_CALL || e->prim != AC_P_INST) return;
  ac_form f = ac_insts[e->inst].form;
  if (f != AC_FORM_COMPARE && f != AC_FORM_COMPARE_S) return;
  for (int j = 1; j < e->n_args; j++) {
    ac_linfo *n = e->args[j] ? ac_lower_info(k, e->args[j]->buffer) : NULL;
    if (n) n->whole_repeats = true;
  }
}
static void mark(ac_lkernel *k, const ac_cstmt *first) {
  for (const ac_cstmt *s = first; s; s = s->next) {
    if (s->kind == AC_CS_EXPR) mark_call(k, s->value);
    mark(k, s->body);
    mark(k, s->orelse);
  }
}

/* ---- placing ---- */

static int add_buffer(ac_lower_ctx *c, ac_lkernel *k, const ac_cbuffer *b, const char *suffix, ac_amem mem,
                      ac_aexpr *n) {
  ac_abuffer q = {.name = ac_lower_unique(c->a, k, ac_sprintf(c->a, "%s%s", ac_lower_name(c->a, b->name), suffix)),
                  .buffer = b->name,
                  .mem = mem,
                  .dtype = b->dtype,
                  .depth = 1,
                  .elements = n,
                  .round_to = 32,
                  .loc = b->loc};
  ac_push(c->a, &k->k->buffers, q);
  return (int)k->k->buffers.len - 1;
}

static void remember(ac_abuffer *q, const ac_cbuffer *b, ac_aexpr *row, ac_aexpr *const dims[4], bool pitched) {
  if (pitched) q->pitch = row;
  q->rank = b->rank;
  memcpy(q->dims, dims, sizeof q->dims);
}

static void place(ac_lower_ctx *c, ac_lkernel *k, size_t i, ac_aexpr *n, ac_aexpr *row, ac_aexpr *const dims[4],
                  int m) {
  ac_linfo *f = &k->infos.data[i];
  analysis x = {.c = c, .k = k, .b = f->b, .info = (int)i, .events = k->events.len};
  x.first = m & LOAD ? LOAD : USE;
  x.second = m & LOAD ? USE | STORE : STORE;
  x.dead = !(m & x.second);
  f->queued = (m & (LOAD | STORE)) && lives(&x, k->fn->body, false);
  if (!f->queued) k->events.len = x.events;
  bool update = f->queued && m == (LOAD | USE | STORE) && outward(&x);
  ac_amem mem = !f->queued                  ? AC_MEM_VECCALC
                : update                    ? AC_MEM_UPDATE
                : !(m & LOAD)               ? AC_MEM_VECOUT
                : (m & STORE) && !(m & USE) ? AC_MEM_BIND
                                            : AC_MEM_VECIN;
  f->buffer = add_buffer(c, k, f->b, f->queued ? "Queue" : "Buf", mem, n);
  ac_abuffer *q = &k->k->buffers.data[f->buffer];
  q->sync = !f->queued && (m & (LOAD | STORE));
  if (f->queued) q->depth = f->b->pinned ? f->b->pinned : !x.looped ? 1 : update ? 3 : 2;
  q->pinned = f->b->pinned > 0;
  if (f->whole_repeats) q->round_to = 256;
  remember(q, f->b, row, dims, k->pitched);
  if (f->b->dtype ==
      AC_MASK) { /* a compare writes the bits of whole repeats: 128 lanes of the shortest elements, 32 bytes a block */
    q->dtype = AC_U8;
    q->elements =
        ac_ae_bin(c->a, AC_AE_MUL, ac_ae_bin(c->a, AC_AE_CDIV, n, ac_ae_int(c->a, 256)), ac_ae_int(c->a, 32));
  }
  f->handle = AC_NEW(c->a, ac_atensor);
  f->handle->name = ac_lower_name(c->a, f->b->name);
  f->handle->buffer = f->buffer;
  ac_push(c->a, &k->k->handles, f->handle);
  f->out_buffer = -1;
  if (mem == AC_MEM_VECIN && (m & STORE)) {
    f->out_buffer = add_buffer(c, k, f->b, "OutQueue", AC_MEM_VECOUT, n);
    q = &k->k->buffers.data[f->buffer]; /* it may have moved */
    k->k->buffers.data[f->out_buffer].depth = q->depth;
    remember(&k->k->buffers.data[f->out_buffer], f->b, row, dims, k->pitched);
  }
}

/* TBufs whose lives do not meet share bytes, as the checker found (craft/live.c): `home` is the largest of them. */
static void share(ac_lkernel *k) {
  for (size_t i = 0; i < k->infos.len; i++) {
    const ac_linfo *f = &k->infos.data[i];
    ac_abuffer *b = &k->k->buffers.data[f->buffer];
    if (b->mem != AC_MEM_VECCALC || !f->b->shares) continue;
    b->from = f->b->from;
    b->to = f->b->to;
    const ac_linfo *h = ac_lower_info(k, f->b->home);
    if (!h) continue;
    ac_abuffer *home = &k->k->buffers.data[h->buffer];
    b->home = h->buffer + 1;
    if (b->round_to > home->round_to) home->round_to = b->round_to;
  }
}

/* At most 8 events of a kind can be live, and a queue takes one a slot; one stays free for flags. The last of those with most
 * slots gives one up until the sum fits. Source: CANN 8.1 basic_api, kernel_tquebind_impl.h and kernel_tpipe_impl.h. */
static void limit_depths(ac_akernel *k, ac_amem mem) {
  for (;;) {
    int sum = 0, last = -1;
    for (size_t i = 0; i < k->buffers.len; i++) {
      const ac_abuffer *b = &k->buffers.data[i];
      int n = ac_lower_events(b, mem);
      sum += n;
      bool spare = n > 1 && b->depth > 1 && !b->pinned;
      if (spare && (last < 0 || b->depth >= k->buffers.data[last].depth)) last = (int)i;
    }
    if (sum <= ac_lower_event_limit(mem) || last < 0) return;
    k->buffers.data[last].depth--;
  }
}

static int total_events(const ac_akernel *k, ac_amem mem) {
  int sum = 0;
  for (size_t i = 0; i < k->buffers.len; i++) sum += ac_lower_events(&k->buffers.data[i], mem);
  return sum;
}

/* Queues beyond those that events allow give way to flags: always right, only slower. A flag needs a free event itself. */
static void limit_queues(ac_lkernel *k, ac_amem mem) {
  for (int limit = ac_lower_event_limit(mem); total_events(k->k, mem) > limit; limit = 7) {
    size_t i = k->infos.len;
    while (i-- > 0) {
      const ac_linfo *f = &k->infos.data[i];
      if (f->queued && f->out_buffer < 0 && ac_lower_events(&k->k->buffers.data[f->buffer], mem)) break;
    }
    if (i == (size_t)-1) return;
    ac_abuffer *b = &k->k->buffers.data[k->infos.data[i].buffer];
    b->mem = AC_MEM_VECCALC;
    b->sync = true;
    b->depth = 1;
    k->infos.data[i].queued = false;
    size_t w = 0;
    for (size_t r = 0; r < k->events.len; r++)
      if (k->events.data[r].info != (int)i) k->events.data[w++] = k->events.data[r];
    k->events.len = w;
  }
}

/* A handle whose queue operations stand in different methods, or in Process itself, is a class member. */
static void decide_members(ac_lkernel *k) {
  const ac_cstmt *at = NULL;
  for (size_t j = 0; j < k->events.len; j++) { /* those of one buffer follow each other */
    const ac_levent *e = &k->events.data[j];
    if (!j || e->info != k->events.data[j - 1].info) at = NULL;
    bool starts = e->op == AC_LV_ALLOC || e->op == AC_LV_DEQUE;
    if (e->at->kind != AC_CS_WITH || (!starts && at != e->at)) k->infos.data[e->info].handle->member = true;
    if (starts) at = e->at;
  }
}

/* Events of one statement side by side, in the order in which they were made; where a statement is in memory decides no more than how
 * it is found. */
static int by_statement(const void *x, const void *y) {
  const ac_levent *a = x, *b = y;
  if (a->at != b->at) return (uintptr_t)a->at < (uintptr_t)b->at ? -1 : 1;
  return a->order < b->order ? -1 : a->order > b->order;
}
static void group_events(ac_lkernel *k) {
  for (size_t i = 0; i < k->events.len; i++) k->events.data[i].order = i;
  if (k->events.len) qsort(k->events.data, k->events.len, sizeof *k->events.data, by_statement);
}

bool ac_lower_place(ac_lower_ctx *c) {
  for (size_t n = 0; n < c->kernels.len; n++) {
    ac_lkernel *k = c->kernels.data[n];
    for (size_t i = 0; i < k->fn->buffers.len; i++) {
      ac_linfo f = {.b = k->fn->buffers.data[i], .out_buffer = -1};
      ac_push(c->a, &k->infos, f);
    }
    mark(k, k->fn->body);
    touch t = {.all = AC_NEW_N(c->a, int, k->infos.len + 1)};
    touch_list(k->fn->body, &t);
    k->pitched = parts(k->fn->body) || gapped(c, k, k->fn->body) || ac_lower_widths_differ(c, k);
    for (size_t i = 0; i < k->infos.len; i++) {
      ac_aexpr *row = NULL, *dims[4] = {0}, *e = capacity(c, k, k->infos.data[i].b, &row, dims);
      if (!e) return false;
      place(c, k, i, e, row, dims, t.all[i]);
    }
    share(k);
    static const ac_amem kinds[] = {AC_MEM_VECIN, AC_MEM_VECOUT, AC_MEM_UPDATE};
    for (size_t i = 0; i < AC_COUNT(kinds); i++) limit_depths(k->k, kinds[i]);
    for (size_t i = 0; i < AC_COUNT(kinds); i++) limit_queues(k, kinds[i]);
    decide_members(k);
    group_events(k);
  }
  return true;
}

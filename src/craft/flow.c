/* The walk over statements with a state of values and extents: branches are joined, loops run to a fixed point first. */
#include "craft/check.h"

#include <string.h>

/* ---- states ---- */

static size_t n_pages(const ac_chk *c) {
  return (c->fn->v.len + AC_KPAGE - 1) / AC_KPAGE;
}

static ac_kpage *new_page(ac_chk *c) {
  ac_kpage *p = c->spare_page;
  if (p)
    c->spare_page = p->next;
  else
    p = AC_NEW(c->a, ac_kpage);
  p->users = 1;
  return p;
}

static ac_kstate *new_state(ac_chk *c) {
  ac_kstate *n = AC_NEW(c->a, ac_kstate);
  n->pages = AC_NEW_N(c->a, ac_kpage *, n_pages(c));
  n->bufs = AC_NEW_N(c->a, ac_kbuf, c->fn->n_bufs);
  return n;
}

/* States are many and short-lived: dropped ones are used again. */
static ac_kstate *copy_state(ac_chk *c, const ac_kstate *s) {
  size_t nb = c->fn->n_bufs;
  ac_kstate *n = c->spare;
  if (n)
    c->spare = n->next;
  else
    n = new_state(c);
  for (size_t i = 0; i < n_pages(c); i++) {
    n->pages[i] = s->pages[i];
    n->pages[i]->users++;
  }
  if (nb) memcpy(n->bufs, s->bufs, nb * sizeof *n->bufs);
  n->dead = s->dead;
  n->facts = s->facts;
  return n;
}

static void drop_state(ac_chk *c, ac_kstate *s) {
  if (!s) return;
  for (size_t i = 0; i < n_pages(c); i++) {
    ac_kpage *p = s->pages[i];
    if (--p->users) continue;
    p->next = c->spare_page;
    c->spare_page = p;
  }
  s->next = c->spare;
  c->spare = s;
}

ac_kvar *ac_chk_set(ac_chk *c, ac_kstate *s, int i) {
  ac_kpage **p = &s->pages[i / AC_KPAGE];
  if ((*p)->users > 1) {
    ac_kpage *own = new_page(c);
    memcpy(own->v, (*p)->v, sizeof own->v);
    (*p)->users--;
    *p = own;
  }
  return &(*p)->v[i % AC_KPAGE];
}

static bool same_tile(const ac_ktile *a, const ac_ktile *b) {
  if (a == b) return true;
  if (!a || !b || a->param != b->param || a->base != b->base || a->rank != b->rank) return false;
  for (int d = 0; d < a->rank; d++) {
    const ac_kdim *x = &a->dim[d], *y = &b->dim[d];
    if (x->axis != y->axis || x->index != y->index || (x->axis && (x->extent != y->extent || x->stride != y->stride)))
      return false;
  }
  return true;
}

/* A value that is x where the facts fx hold and y where fy do: known by its bounds only. */
static ac_sym *either(ac_chk *c, const char *name, ac_sym *x, const ac_fact *fx, ac_sym *y, const ac_fact *fy) {
  ac_sym *r = ac_sy_fresh(&c->s, name);
  ac_chk_choice(c, r, x, fx, y, fy);
  return r;
}

static ac_kvar join_var(ac_chk *c, int i, const ac_kstate *x, const ac_kstate *y) {
  ac_kvar a = *ac_chk_get(x, i), b = *ac_chk_get(y, i);
  if (a.set == AC_UNSET && b.set == AC_UNSET) return a;
  if (a.set == AC_UNSET || b.set == AC_UNSET) {
    ac_kvar r = a.set == AC_UNSET ? b : a;
    r.set = AC_MAYBE;
    return r;
  }
  if (b.set < a.set) a.set = b.set;
  if (a.v.kind == AC_CT_INT && b.v.kind == AC_CT_INT) {
    if (a.v.sym != b.v.sym) a.v.sym = either(c, c->fn->v.data[i].name, a.v.sym, x->facts, b.v.sym, y->facts);
  } else if (a.v.kind != b.v.kind) {
    bool known = a.v.kind != AC_CT_NONE && b.v.kind != AC_CT_NONE && c->fn->v.data[i].buf < 0;
    a.v = (ac_kval){.kind = known ? c->fn->v.data[i].kind : AC_CT_NONE, .buf = -1, .dtype = AC_NODTYPE};
    if (a.v.kind == AC_CT_INT) a.v.sym = ac_sy_fresh(&c->s, c->fn->v.data[i].name);
    if (a.v.kind == AC_CT_BUFFER) a.v.kind = AC_CT_NONE;
  } else if (!same_tile(a.v.tile, b.v.tile)) {
    a.v.tile = NULL;
  }
  return a;
}

static ac_kbuf join_buf(const ac_kbuf *x, const ac_kbuf *y) {
  if (x->set == AC_UNSET && y->set == AC_UNSET) return x->clobbered ? *x : *y;
  if (x->set == AC_UNSET || y->set == AC_UNSET) {
    ac_kbuf r = x->set == AC_UNSET ? *y : *x;
    r.set = AC_MAYBE;
    r.span = NULL; /* it may speak of a counter of the trip before */
    return r;
  }
  ac_kbuf r = *x;
  r.wrong = x->wrong || y->wrong;
  if (!ac_chk_same_span(x->span, y->span)) r.span = NULL;
  if (y->set < r.set) r.set = y->set;
  if (x->rank != y->rank) {
    r.rank = 1;
    memset(r.ext, 0, sizeof r.ext);
    return r;
  }
  for (int d = 0; d < r.rank; d++)
    if (x->ext[d] != y->ext[d]) r.ext[d] = NULL;
  return r;
}

static const ac_fact *common_facts(const ac_fact *a, const ac_fact *b) {
  while (a != b) {
    if (a && (!b || a->len >= b->len))
      a = a->next;
    else
      b = b->next;
  }
  return a;
}

static ac_kstate *join(ac_chk *c, ac_kstate *x, ac_kstate *y) {
  if (!x || (x->dead && y)) return y;
  if (!y || y->dead) return x;
  ac_kstate *r = copy_state(c, x);
  for (int i = 0; i < (int)c->fn->v.len; i++) {
    if (i % AC_KPAGE == 0 && x->pages[i / AC_KPAGE] == y->pages[i / AC_KPAGE])
      i += AC_KPAGE - 1; /* the same in both */
    else
      *ac_chk_set(c, r, i) = join_var(c, i, x, y);
  }
  for (size_t i = 0; i < c->fn->n_bufs; i++) r->bufs[i] = join_buf(&x->bufs[i], &y->bufs[i]);
  r->facts = common_facts(x->facts, y->facts);
  return r;
}

/* *into joined with y. What is only an intermediate state is given back: a program may have many loops. */
static void join_into(ac_chk *c, ac_kstate **into, bool *mine, ac_kstate *y) {
  ac_kstate *r = join(c, *into, y);
  if (*mine && r != *into) drop_state(c, *into);
  *mine = (*mine && r == *into) || (r != *into && r != y);
  *into = r;
}

/* ---- assignments ---- */

static void run(ac_chk *c, ac_cstmt *s);

static void set_var(ac_chk *c, ac_cexpr *target, ac_kval v) {
  int i = ac_chk_var(c->fn, target->s);
  ac_vinfo *info = &c->fn->v.data[i];
  if (v.kind == AC_CT_NONE) { /* an error was reported: no others about the same name */
    v.kind = info->kind;
    if (v.kind == AC_CT_INT) v.sym = ac_sy_fresh(&c->s, info->name);
    if (v.kind == AC_CT_BUFFER) v.kind = AC_CT_NONE;
    if (info->buf >= 0) return;
    if (v.kind == AC_CT_NONE || v.kind == AC_CT_TILE || v.kind == AC_CT_POINTER || v.kind == AC_CT_SHAPE ||
        v.kind == AC_CT_DTYPE || v.kind == AC_CT_STR) {
      *ac_chk_set(c, c->st, i) = (ac_kvar){AC_SET, (ac_kval){.kind = AC_CT_NONE, .buf = -1, .dtype = AC_NODTYPE}};
      return;
    }
  }
  if (v.kind == AC_CT_BUFFER && info->buf < 0 && ac_chk_get(c->st, i)->set == AC_UNSET &&
      c->view) { /* a bitcast has a name */
    target->type = AC_CT_BUFFER;
    *ac_chk_set(c, c->st, i) = (ac_kvar){AC_SET, v};
    return;
  }
  if (info->buf >= 0 || v.kind == AC_CT_BUFFER) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0519, target->loc,
                          "buffers have no second name and cannot be assigned: '%s'", target->s);
    ac_help(ac_chk_d(c), g, "use the buffer's own name; copy with tl.vcopy(dst, src)");
    return;
  }
  bool offsets = v.kind == AC_CT_TILE || v.kind == AC_CT_POINTER;
  bool widened = info->kind == AC_CT_FLOAT && (v.kind == AC_CT_INT || v.kind == AC_CT_BOOL);
  if (v.kind != info->kind && !widened && !(offsets && (info->kind == AC_CT_TILE || info->kind == AC_CT_POINTER)) &&
      info->kind != AC_CT_NONE) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0521, target->loc, "'%s' was %s and becomes %s", target->s,
                          ac_chk_kind_name(info->kind), ac_chk_kind_name(v.kind));
    if (info->loc.line && info->loc.line != target->loc.line)
      ac_note(ac_chk_d(c), g, info->loc, "it was first set here");
    ac_help(ac_chk_d(c), g, "use another name");
    v.kind = info->kind;
    v.sym = v.kind == AC_CT_INT ? ac_sy_fresh(&c->s, info->name) : NULL;
  }
  if (v.kind == AC_CT_SHAPE || v.kind == AC_CT_STR || v.kind == AC_CT_DTYPE || v.kind == AC_CT_KERNEL ||
      v.kind == AC_CT_MODULE) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0525, target->loc, "%s cannot be given a name", ac_chk_kind_name(v.kind));
    ac_help(ac_chk_d(c), g, "write it where it is used");
    return;
  }
  if (widened) v = (ac_kval){.kind = AC_CT_FLOAT, .buf = -1, .dtype = AC_NODTYPE};
  target->type = v.kind;
  if (info->param >= 0 && v.kind == AC_CT_POINTER) {
    ac_error(ac_chk_d(c), AC0521, target->loc, "the tensor '%s' cannot be assigned", target->s);
    return;
  }
  *ac_chk_set(c, c->st, i) = (ac_kvar){AC_SET, v};
}

static ac_cstmt *new_stmt(ac_chk *c, ac_cskind kind, ac_loc loc) {
  ac_cstmt *s = AC_NEW(c->a, ac_cstmt);
  s->kind = kind;
  s->loc = loc;
  return s;
}

static ac_cexpr *new_attr(ac_chk *c, ac_cexpr *a, const char *name) {
  ac_cexpr *e = ac_chk_new(c, AC_CE_ATTR, a->loc);
  e->a = a;
  e->s = name;
  return e;
}

/* `if x.ndim != n: tl.refuse("...")`: what Python's unpacking of a shape demands. */
static ac_cstmt *rank_guard(ac_chk *c, ac_cstmt *s, ac_cexpr *tensor, int n) {
  ac_cstmt *guard = new_stmt(c, AC_CS_IF, s->loc), *refuse = new_stmt(c, AC_CS_EXPR, s->loc);
  ac_cexpr *cond = ac_chk_new(c, AC_CE_BINARY, s->loc), *call = ac_chk_new(c, AC_CE_CALL, s->loc),
           *why = ac_chk_new(c, AC_CE_STR, s->loc);
  cond->op = AC_OP_NE;
  cond->a = new_attr(c, tensor, "ndim");
  cond->b = ac_chk_new_int(c, n, s->loc);
  why->s = ac_sprintf(c->a, "%s must have %d dimension%s", tensor->s, n, n == 1 ? "" : "s");
  call->a = new_attr(c, ac_chk_new_name(c, "tl", s->loc), "refuse");
  call->n_args = 1;
  call->args = AC_NEW_N(c->a, ac_cexpr *, 1);
  call->kw = AC_NEW_N(c->a, const char *, 1);
  call->args[0] = why;
  refuse->value = call;
  guard->value = cond;
  guard->body = refuse;
  return guard;
}

static bool mentions(const ac_cexpr *e, const char *name) {
  if (!e) return false;
  if (e->kind == AC_CE_NAME && !strcmp(e->s, name)) return true;
  for (int i = 0; i < e->n_args; i++)
    if (mentions(e->args[i], name)) return true;
  return mentions(e->a, name) || mentions(e->b, name) || mentions(e->c, name);
}

/* Turns `a, b = x.shape` and `a, b = e, f` into single assignments, in place. */
static bool unpack(ac_chk *c, ac_cstmt *s) {
  ac_cexpr *t = s->target, *v = s->value;
  bool shape = v->kind == AC_CE_ATTR && !strcmp(v->s, "shape") && v->a->kind == AC_CE_NAME;
  bool tuple = v->kind == AC_CE_TUPLE && v->n_args == t->n_args;
  for (int i = 1; tuple && i < t->n_args; i++)
    for (int k = 0; k < i; k++) tuple = tuple && !mentions(v->args[i], t->args[k]->s);
  if (!shape && !tuple) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0525, s->loc, "this cannot be unpacked: `%s`", text(c, v));
    ac_help(ac_chk_d(c), g, "assign the names one by one");
    return false;
  }
  ac_cstmt *rest = s->next, first = *s;
  ac_cstmt head = {0}, *tail = &head;
  if (shape) tail = tail->next = rank_guard(c, s, v->a, t->n_args);
  for (int i = 0; i < t->n_args; i++) {
    ac_cstmt *n = new_stmt(c, AC_CS_ASSIGN, s->loc);
    n->target = t->args[i];
    n->value = tuple ? v->args[i] : ac_chk_new(c, AC_CE_INDEX, v->loc);
    if (shape) {
      n->value->a = v;
      n->value->n_args = 1;
      n->value->args = AC_NEW_N(c->a, ac_cexpr *, 1);
      n->value->args[0] = ac_chk_new_int(c, i, v->loc);
    }
    tail = tail->next = n;
  }
  tail->next = rest;
  tail->trailing = first.trailing;
  ac_cstmt *made = head.next;
  made->comments = first.comments;
  *s = *made;
  return true;
}

static void run_assign(ac_chk *c, ac_cstmt *s) {
  if (s->op == AC_OP_NOP && ac_chk_is_alloc(s->value)) {
    if (c->quiet) return;
    ac_chk_alloc(c, s);
    return;
  }
  if (s->op == AC_OP_NOP) {
    ac_kval v = ac_chk_eval(c, s->value);
    c->view = s->value->kind == AC_CE_CALL && s->value->prim == AC_P_BITCAST;
    if (c->view && c->loop_depth && v.kind == AC_CT_BUFFER) {
      ac_diag *g =
          ac_error(ac_chk_d(c), AC0519, s->target->loc, "the view '%s' gets its name inside a loop", s->target->s);
      ac_help(ac_chk_d(c), g, "name it in front of the loop, or write %s where it is used",
              ac_cexpr_text(c->a, s->value));
      v = (ac_kval){.kind = AC_CT_NONE, .buf = -1, .dtype = AC_NODTYPE};
    }
    set_var(c, s->target, v);
    c->view = false;
    return;
  }
  ac_cexpr sum = {.kind = AC_CE_BINARY,
                  .op = s->op,
                  .loc = s->loc,
                  .a = ac_chk_new_name(c, s->target->s, s->target->loc),
                  .b = s->value,
                  .prim = AC_P_NONE,
                  .dtype = AC_NODTYPE};
  ac_cexpr *e = AC_NEW(c->a, ac_cexpr); /* tiles keep parts of it */
  *e = sum;
  set_var(c, s->target, ac_chk_eval(c, e));
}

/* ---- loops ---- */

static void havoc_assigned(ac_chk *c, const ac_cstmt *s, ac_kstate *st) {
  for (; s; s = s->next) {
    if ((s->kind == AC_CS_ASSIGN || s->kind == AC_CS_FOR) && s->target->kind == AC_CE_NAME) {
      int i = ac_chk_var(c->fn, s->target->s);
      if (c->fn->v.data[i].buf < 0 && ac_chk_get(st, i)->set != AC_UNSET) {
        ac_kvar *v = ac_chk_set(c, st, i);
        if (v->v.kind == AC_CT_INT) v->v.sym = ac_sy_fresh(&c->s, s->target->s);
        v->v.tile = NULL;
      }
    }
    havoc_assigned(c, s->body, st);
    havoc_assigned(c, s->orelse, st);
  }
}

static bool same_bufs(ac_chk *c, const ac_kstate *x, const ac_kstate *y) {
  for (size_t i = 0; i < c->fn->n_bufs; i++) {
    const ac_kbuf *a = &x->bufs[i], *b = &y->bufs[i];
    if (a->set != b->set || a->rank != b->rank || memcmp(a->ext, b->ext, sizeof a->ext) != 0 ||
        !ac_chk_same_span(a->span, b->span))
      return false;
  }
  return true;
}

static void forget_bufs(ac_chk *c, ac_kstate *st) {
  for (size_t i = 0; i < c->fn->n_bufs; i++)
    if (st->bufs[i].set == AC_UNSET)
      st->bufs[i] = (ac_kbuf){.set = AC_MAYBE, .rank = 1};
    else {
      memset(st->bufs[i].ext, 0, sizeof st->bufs[i].ext);
      st->bufs[i].span = NULL;
    }
}

typedef struct {
  ac_kstate *head, *end; /* at the loop's head, and behind its body */
  ac_kloop loop;
} loop_run;

static void run_body(ac_chk *c, ac_cstmt *s, loop_run *l, const ac_kstate *head) {
  c->st = copy_state(c, head);
  l->loop = (ac_kloop){.outer = c->loop};
  c->loop = &l->loop;
  c->loop_depth++;
  if (s->kind == AC_CS_WHILE) {
    ac_kval v = ac_chk_eval(c, s->value);
    if (v.kind != AC_CT_BOOL && v.kind != AC_CT_INT && v.kind != AC_CT_NONE)
      ac_error(ac_chk_d(c), AC0506, s->value->loc, "a condition is true or false; `%s` is %s", text(c, s->value),
               ac_chk_kind_name(v.kind));
    l->head = copy_state(c, c->st);
    c->st->facts = ac_chk_assume(c, c->st->facts, s->value, true);
  }
  run(c, s->body);
  c->loop_depth--;
  c->loop = l->loop.outer;
  l->end = c->st;
}

/* Extents at the loop's head: those before it joined with those behind its body, until nothing changes. */
static void run_loop(ac_chk *c, ac_cstmt *s, ac_kstate *head, loop_run *l) {
  enum { TRIALS = 6, DEEP = 4 };
  l->head = NULL;
  if (c->loop_depth >= DEEP) {
    forget_bufs(c, head);
  } else {
    for (int i = 0;; i++) {
      c->quiet++;
      run_body(c, s, l, head);
      c->quiet--;
      ac_kstate *next = copy_state(c, head);
      for (size_t k = 0; !l->end->dead && k < c->fn->n_bufs; k++)
        next->bufs[k] = join_buf(&head->bufs[k], &l->end->bufs[k]);
      drop_state(c, l->end);
      drop_state(c, l->head);
      l->head = NULL;
      for (size_t k = 0; k < l->loop.breaks.len; k++) drop_state(c, l->loop.breaks.data[k]);
      bool same = same_bufs(c, next, head);
      if (!same) memcpy(head->bufs, next->bufs, c->fn->n_bufs * sizeof *head->bufs);
      drop_state(c, next);
      if (same) break;
      if (i == TRIALS) forget_bufs(c, head);
      if (i > TRIALS) break;
    }
  }
  run_body(c, s, l, head);
}

static void run_for(ac_chk *c, ac_cstmt *s) {
  ac_syms *y = &c->s;
  ac_kval lo = ac_chk_int(c, s->lo, "a range's start"), hi = ac_chk_int(c, s->hi, "a range's end"),
          step = ac_chk_int(c, s->step, "a range's step");
  int var = ac_chk_var(c->fn, s->target->s);
  int64_t by = 0;
  bool known = step.kind == AC_CT_INT && ac_sy_const(step.sym, &by);
  if (known && by == 0) ac_error(ac_chk_d(c), AC0524, s->step->loc, "the step of a range is 0");
  if (c->fn->v.data[var].kind != AC_CT_INT) {
    ac_error(ac_chk_d(c), AC0521, s->target->loc, "'%s' is %s; a loop counts in ints", s->target->s,
             ac_chk_kind_name(c->fn->v.data[var].kind));
    return;
  }
  s->target->type = AC_CT_INT;
  ac_kstate *entry = c->st, *head = copy_state(c, c->st);
  havoc_assigned(c, s->body, head);
  ac_sym *i = ac_sy_fresh(y, s->target->s);
  bool trips = false;
  if (lo.kind == AC_CT_INT && hi.kind == AC_CT_INT) {
    ac_sym *one = ac_sy_int(y, 1), *up = ac_sy_sub(y, hi.sym, one), *down = ac_sy_add(y, hi.sym, one);
    bool pos =
        known ? by > 0 : step.kind == AC_CT_INT; /* a step that is no constant is positive: a rule of the language */
    ac_satom *a = ac_sy_learn(y, i);
    if (pos) {
      a->slo = lo.sym;
      a->shi = up;
      trips = ac_sy_le(y, lo.sym, up, head->facts);
      if (!known) head->facts = ac_sy_assume(y, head->facts, ac_sy_sub(y, step.sym, one));
      head->facts = ac_sy_assume(y, head->facts, ac_sy_sub(y, up, lo.sym)); /* the body runs only then */
    } else if (known && by < 0) {
      a->slo = down;
      a->shi = lo.sym;
      trips = ac_sy_le(y, down, lo.sym, head->facts);
    }
  }
  ac_kval v = {.kind = AC_CT_INT, .sym = i, .buf = -1, .dtype = AC_NODTYPE};
  *ac_chk_set(c, head, var) = (ac_kvar){AC_SET, v};
  loop_run l = {0};
  run_loop(c, s, head, &l);
  ac_kstate *all = trips ? l.end : entry;
  bool mine = false; /* made by a join */
  if (!trips) join_into(c, &all, &mine, l.end);
  for (size_t k = 0; k < l.loop.breaks.len; k++) join_into(c, &all, &mine, l.loop.breaks.data[k]);
  ac_kstate *out = copy_state(c, all);
  if (mine) drop_state(c, all);
  for (size_t k = 0; k < l.loop.breaks.len; k++)
    if (l.loop.breaks.data[k] != all) drop_state(c, l.loop.breaks.data[k]);
  out->facts = common_facts(out->facts, entry->facts);
  if (entry->dead) out->dead = true;
  ac_kvar *left = ac_chk_set(c, out, var);
  if (!trips && left->set == AC_SET && ac_chk_get(entry, var)->set != AC_SET) left->set = AC_MAYBE;
  left->v = v;
  left->v.sym = ac_sy_fresh(y, s->target->s);
  c->st = out;
  drop_state(c, entry);
  drop_state(c, head);
  drop_state(c, l.end);
}

static bool always(const ac_cexpr *e) {
  return (e->kind == AC_CE_BOOL || e->kind == AC_CE_INT) && e->i;
}

static void run_while(ac_chk *c, ac_cstmt *s) {
  ac_kstate *entry = c->st, *head = copy_state(c, c->st);
  havoc_assigned(c, s->body, head);
  loop_run l = {0};
  run_loop(c, s, head, &l);
  ac_kstate *out = NULL;
  if (!always(s->value)) {
    c->st = out = copy_state(c, l.head); /* the condition failed with the values at the head */
    out->facts = ac_chk_assume(c, out->facts, s->value, false);
  } else if (!l.loop.breaks.len) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0524, s->loc, "this loop never ends");
    ac_help(ac_chk_d(c), g, "give it a condition or a `break`");
  }
  for (size_t k = 0; k < l.loop.breaks.len; k++) out = join(c, out, l.loop.breaks.data[k]);
  c->st = copy_state(c, out ? out : entry);
  if (entry->dead) c->st->dead = true;
}

/* ---- other statements ---- */

static void run_if(ac_chk *c, ac_cstmt *s) {
  ac_kval v = ac_chk_eval(c, s->value);
  if (v.kind != AC_CT_BOOL && v.kind != AC_CT_INT && v.kind != AC_CT_NONE)
    ac_error(ac_chk_d(c), AC0506, s->value->loc, "a condition is true or false; `%s` is %s", text(c, s->value),
             ac_chk_kind_name(v.kind));
  ac_kstate *before = c->st, *yes = copy_state(c, before), *no = copy_state(c, before);
  yes->facts = ac_chk_assume(c, before->facts, s->value, true);
  no->facts = ac_chk_assume(c, before->facts, s->value, false);
  yes->dead |= ac_chk_never(c, before->facts, s->value, true);
  no->dead |= ac_chk_never(c, before->facts, s->value, false);
  c->st = yes;
  run(c, s->body);
  yes = c->st;
  c->st = no;
  run(c, s->orelse);
  no = c->st;
  c->st = join(c, yes, no);
  if (c->st != yes) drop_state(c, yes);
  if (c->st != no) drop_state(c, no);
  drop_state(c, before);
}

static void run_with(ac_chk *c, ac_cstmt *s) {
  static const char *const stages[] = {"", "copyin", "compute", "copyout"};
  if (!c->fn->f->kernel || c->stage != AC_STAGE_NONE) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0507, s->loc,
                          c->stage == AC_STAGE_NONE ? "stage blocks belong into kernels"
                                                    : "a %s block inside another stage block",
                          stages[s->stage]);
    if (c->stage != AC_STAGE_NONE) ac_help(ac_chk_d(c), g, "stage blocks follow each other");
    return;
  }
  c->stage = s->stage;
  run(c, s->body);
  c->stage = AC_STAGE_NONE;
}

/* kernel[n](args...): arguments into the order of the parameters, defaults filled in. */
static bool bind_launch(ac_chk *c, ac_cexpr *e, const ac_cfunc *k) {
  ac_cexpr **args = AC_NEW_N(c->a, ac_cexpr *, k->n_params + 1);
  for (int i = 0, at = 0; i < e->n_args; i++) {
    int to = at;
    if (e->kw && e->kw[i]) {
      for (to = 0; to < k->n_params && strcmp(k->params[to].name, e->kw[i]) != 0; to++) {
      }
    } else {
      at++;
    }
    if (to >= k->n_params) {
      ac_diag *g =
          e->kw && e->kw[i]
              ? ac_error(ac_chk_d(c), AC0520, e->args[i]->loc, "'%s' has no parameter '%s'", k->name, e->kw[i])
              : ac_error(ac_chk_d(c), AC0520, e->args[i]->loc, "'%s' has %d parameters; this is argument %d", k->name,
                         k->n_params, to + 1);
      ac_note(ac_chk_d(c), g, k->loc, "declared here");
      return false;
    }
    if (args[to]) {
      ac_error(ac_chk_d(c), AC0520, e->args[i]->loc, "parameter '%s' is given twice", k->params[to].name);
      return false;
    }
    args[to] = e->args[i];
  }
  for (int i = 0; i < k->n_params; i++) {
    if (!args[i]) args[i] = k->params[i].init;
    if (args[i]) continue;
    ac_diag *g = ac_error(ac_chk_d(c), AC0520, e->loc, "the launch of '%s' misses '%s'", k->name, k->params[i].name);
    ac_note(ac_chk_d(c), g, k->params[i].loc.line ? k->params[i].loc : k->loc, "declared here");
    return false;
  }
  e->args = args;
  e->kw = AC_NEW_N(c->a, const char *, k->n_params + 1);
  e->n_args = k->n_params;
  return true;
}

static bool launch_arg(ac_chk *c, ac_cexpr *e, const ac_cparam *p, const ac_kval *v, const ac_cfunc *k) {
  bool number = (p->type == AC_CT_FLOAT && (v->kind == AC_CT_INT || v->kind == AC_CT_BOOL)) ||
                (p->type == AC_CT_INT && v->kind == AC_CT_BOOL);
  if (v->kind == AC_CT_NONE) return false;
  if (v->kind != p->type && !number) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0520, e->loc, "parameter '%s' of '%s' is %s; `%s` is %s", p->name, k->name,
                          ac_chk_kind_name(p->type), text(c, e), ac_chk_kind_name(v->kind));
    ac_note(ac_chk_d(c), g, p->loc.line ? p->loc : k->loc, "declared here");
    if (p->type == AC_CT_INT && v->kind == AC_CT_FLOAT) ac_help(ac_chk_d(c), g, "use // instead of /, or int(...)");
    return false;
  }
  if (p->type != AC_CT_POINTER) return true;
  if (e->kind != AC_CE_NAME) {
    ac_error(ac_chk_d(c), AC0520, e->loc, "tensors are passed by name; offsets belong into the kernel: `%s`",
             text(c, e));
    return false;
  }
  return true;
}

/* Reading, writing and dtype of host tensors follow from the kernels that get them. */
static void propagate(ac_chk *c, ac_cexpr *e, const ac_cparam *p) {
  int i = ac_chk_var(c->fn, e->s);
  ac_vinfo *info = &c->fn->v.data[i];
  if (info->param < 0) { /* workspace */
    (void)ac_chk_launched(c, e, p);
    if (p->dtype != AC_NODTYPE && info->dtype != AC_NODTYPE && p->dtype != info->dtype)
      ac_error(ac_chk_d(c), AC0508, e->loc, "'%s' is of %s here and of %s in the kernel", e->s,
               ac_dtypes[info->dtype].name, ac_dtypes[p->dtype].name);
    return;
  }
  ac_cparam *h = &c->fn->f->params[info->param];
  h->in = ac_chk_launched(c, e, p) || h->in;
  h->out = h->out || p->out;
  if (h->dtype == AC_NODTYPE) h->dtype = p->dtype;
  if (p->dtype != AC_NODTYPE && h->dtype != p->dtype) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0508, e->loc, "'%s' is of %s, but the kernel takes it as %s", h->name,
                          ac_dtypes[h->dtype].name, ac_dtypes[p->dtype].name);
    ac_help(ac_chk_d(c), g, "load with the tensor's own dtype and cast in the kernel");
  }
}

static void run_launch(ac_chk *c, ac_cstmt *s) {
  ac_cexpr *e = s->value;
  const char *name = e->a->a->s;
  ac_cfunc *k = ac_craft_kernel(c->m, name);
  c->bad_launch = c->bad_launch || !k || c->fn->f->kernel || c->loop_depth;
  if (!k) {
    ac_strvec names = {0};
    for (size_t i = 0; i < c->fns.len; i++)
      if (c->fns.data[i]->f->kernel) ac_push(c->a, &names, c->fns.data[i]->f->name);
    const char *near = ac_nearest(name, names.data, names.len);
    ac_diag *g = ac_error(ac_chk_d(c), AC0520, e->a->a->loc, "there is no kernel '%s'", name);
    if (near) ac_help(ac_chk_d(c), g, "did you mean '%s'?", near);
    return;
  }
  if (c->fn->f->kernel || c->loop_depth) {
    ac_diag *g =
        ac_error(ac_chk_d(c), AC0520, e->loc, c->fn->f->kernel ? "a kernel cannot launch" : "a launch inside a loop");
    ac_help(ac_chk_d(c), g, c->fn->f->kernel ? "launch from the host function" : "let the kernel loop");
    return;
  }
  e->a->a->type = AC_CT_KERNEL;
  e->type = AC_CT_NONE;
  if (!bind_launch(c, e, k)) {
    c->bad_launch = true;
    return;
  }
  ac_kval cores = ac_chk_int(c, e->a->args[0], "the number of blocks");
  int64_t n;
  if (cores.kind == AC_CT_INT && ac_sy_const(cores.sym, &n) && n < 1)
    ac_error(ac_chk_d(c), AC0520, e->a->args[0]->loc, "a launch needs at least one block, not %lld", (long long)n);
  ac_klaunch l = {.s = s, .kernel = ac_chk_fn(c, k), .facts = c->st->facts, .dead = c->st->dead};
  l.args = AC_NEW_N(c->a, ac_kval, k->n_params);
  bool ok = cores.kind == AC_CT_INT;
  for (int i = 0; i < k->n_params; i++) {
    l.args[i] = ac_chk_eval(c, e->args[i]);
    bool fits = launch_arg(c, e->args[i], &k->params[i], &l.args[i], k);
    ok = ok && fits;
    if (fits && k->params[i].type == AC_CT_POINTER) propagate(c, e->args[i], &k->params[i]);
  }
  ac_push(c->a, &c->fn->f->launches, s);
  if (ok) ac_push(c->a, &c->launches, l);
}

static bool is_launch(const ac_cexpr *e) {
  return e->kind == AC_CE_CALL && e->a->kind == AC_CE_INDEX && e->a->a->kind == AC_CE_NAME && e->a->n_args == 1;
}

static void run_return(ac_chk *c, ac_cstmt *s) {
  if (s->value && c->fn->f->kernel) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0506, s->value->loc, "a kernel returns nothing");
    ac_help(ac_chk_d(c), g, "store results with tl.store");
  } else if (s->value && s->value->kind == AC_CE_TUPLE) {
    for (int i = 0; i < s->value->n_args; i++) (void)ac_chk_eval(c, s->value->args[i]);
  } else if (s->value && s->value->kind != AC_CE_NONE) {
    ac_kval v = ac_chk_eval(c, s->value);
    if (v.kind != AC_CT_POINTER && v.kind != AC_CT_NONE)
      ac_error(ac_chk_d(c), AC0506, s->value->loc, "the host function returns tensors; `%s` is %s", text(c, s->value),
               ac_chk_kind_name(v.kind));
  }
  c->st->dead = true;
}

static void run_stmt(ac_chk *c, ac_cstmt *s) {
  bool plain_values = s->kind == AC_CS_ASSIGN || s->kind == AC_CS_EXPR || s->kind == AC_CS_IF;
  c->at = plain_values ? s : NULL;
  if (!c->quiet) s->musts = NULL;
  switch (s->kind) {
  case AC_CS_ASSIGN:
    if (s->target->kind == AC_CE_TUPLE && !unpack(c, s)) {
      for (int i = 0; i < s->target->n_args; i++)
        set_var(c, s->target->args[i], (ac_kval){.kind = AC_CT_NONE, .buf = -1});
      return;
    }
    if (s->kind == AC_CS_IF)
      run_if(c, s);
    else
      run_assign(c, s);
    return;
  case AC_CS_EXPR:
    if (is_launch(s->value)) {
      run_launch(c, s);
    } else {
      c->statement = s->value;
      (void)ac_chk_eval(c, s->value);
      if (s->value->kind != AC_CE_CALL) {
        ac_diag *g = ac_warn(ac_chk_d(c), AC0526, s->loc, "this value is not used: `%s`", text(c, s->value));
        if (s->value->kind == AC_CE_STR) ac_help(ac_chk_d(c), g, "comments begin with #");
      }
    }
    return;
  case AC_CS_IF: run_if(c, s); return;
  case AC_CS_FOR: run_for(c, s); return;
  case AC_CS_WHILE: run_while(c, s); return;
  case AC_CS_WITH: run_with(c, s); return;
  case AC_CS_RETURN: run_return(c, s); return;
  case AC_CS_BREAK:
    if (c->loop && !c->st->dead) ac_push(c->a, &c->loop->breaks, copy_state(c, c->st));
    c->st->dead = true;
    return;
  case AC_CS_PASS: return;
  }
}

static void run(ac_chk *c, ac_cstmt *s) {
  for (; s; s = s->next) run_stmt(c, s);
}

/* ---- functions ---- */

static void set_params(ac_chk *c, ac_finfo *f) {
  f->param_syms = AC_NEW_N(c->a, ac_sym *, f->f->n_params);
  for (int i = 0; i < f->f->n_params; i++) {
    ac_cparam *p = &f->f->params[i];
    ac_vinfo *info = &f->v.data[ac_chk_var(f, p->name)];
    bool usual = info->kind == AC_CT_INT || info->kind == AC_CT_FLOAT || info->kind == AC_CT_BOOL ||
                 info->kind == AC_CT_POINTER;
    if (!usual) info->kind = AC_CT_INT;
    p->type = info->kind;
    p->dtype = p->type == AC_CT_POINTER ? info->dtype : AC_NODTYPE;
    p->in = p->out = p->plain = p->atomic = false;
    ac_kval v = {.kind = p->type, .buf = -1, .dtype = p->dtype};
    if (p->type == AC_CT_INT)
      v.sym = f->param_syms[i] = ac_sy_named(&c->s, ac_sprintf(c->a, "%s.%s", f->f->name, p->name), p->name);
    if (p->type == AC_CT_POINTER) {
      v.tile = AC_NEW(c->a, ac_ktile);
      *v.tile = (ac_ktile){.param = i, .base = ac_sy_int(&c->s, 0), .base_e = ac_chk_new(c, AC_CE_INT, AC_NOLOC)};
    }
    *ac_chk_set(c, c->st, ac_chk_var(f, p->name)) = (ac_kvar){AC_SET, v};
    if (p->init)
      p->init->type = p->init->kind == AC_CE_INT     ? AC_CT_INT
                      : p->init->kind == AC_CE_FLOAT ? AC_CT_FLOAT
                      : p->init->kind == AC_CE_BOOL  ? AC_CT_BOOL
                                                     : AC_CT_NONE;
    if (p->init && p->init->type == AC_CT_NONE)
      ac_error(ac_chk_d(c), AC0506, p->init->loc, "a default is a number: `%s`", text(c, p->init));
  }
}

static size_t count_allocs(const ac_cstmt *s) {
  size_t n = 0;
  for (; s; s = s->next)
    n += (s->kind == AC_CS_ASSIGN && ac_chk_is_alloc(s->value)) + count_allocs(s->body) + count_allocs(s->orelse);
  return n;
}

static void run_function(ac_chk *c, ac_finfo *f) {
  size_t n = f->v.len;
  c->fn = f;
  c->stage = AC_STAGE_NONE;
  c->loop = NULL;
  c->loop_depth = 0;
  f->n_bufs = count_allocs(f->f->body);
  c->spare = NULL;
  c->st = new_state(c);
  for (size_t i = 0; i < n_pages(c); i++) {
    c->st->pages[i] = new_page(c);
    memset(c->st->pages[i]->v, 0, sizeof c->st->pages[i]->v);
  }
  f->caps = AC_NEW_N(c->a, ac_sym *, n);
  f->dims = ac_alloc_n(c->a, n, sizeof *f->dims);
  f->whole_bufs = AC_NEW_N(c->a, bool, n);
  f->f->buffers.len = f->f->launches.len = 0;
  set_params(c, f);
  ac_chk_outputs(c);
  run(c, f->f->body);
  ac_chk_control(c, f);
  for (int i = 0; i < f->f->n_params; i++) {
    ac_vinfo *v = &f->v.data[ac_chk_var(f, f->f->params[i].name)];
    if (v->used || *v->name == '_' || c->diags->errors) continue;
    ac_warn(c->diags, AC0526, v->loc, "parameter '%s' of '%s' is never used", v->name, f->f->name);
  }
}

static bool check_functions(ac_chk *c) {
  ac_cfunc *host = NULL;
  int kernels = 0;
  bool ok = true;
  for (size_t i = 0; i < c->m->funcs.len; i++) {
    ac_cfunc *f = c->m->funcs.data[i];
    kernels += f->kernel;
    if (!f->kernel && host) {
      ac_diag *g = ac_error(c->diags, AC0501, f->loc, "a second host function, '%s'", f->name);
      ac_note(c->diags, g, host->loc, "the first is here");
      ac_help(c->diags, g, "a program has one host function; mark kernels with @ascend_kernel");
      ok = false;
    }
    if (!f->kernel && !host) host = f;
  }
  ac_loc top = {c->m->file, 1, 0, 0};
  if (!host) {
    ac_diag *g = ac_error(c->diags, AC0501, top, "the program has no host function");
    ac_help(c->diags, g, "def op(x, y): ...; my_kernel[n_cores](x, y, ...)");
  }
  if (!kernels) {
    ac_diag *g = ac_error(c->diags, AC0501, top, "the program has no kernel");
    ac_help(c->diags, g, "mark it with @ascend_kernel");
  }
  return ok && host && kernels;
}

static void check_launched(ac_chk *c) {
  if (c->bad_launch) return;
  for (size_t i = 0; i < c->fns.len; i++) {
    bool found = !c->fns.data[i]->f->kernel;
    ac_cfunc *host = ac_craft_host(c->m);
    for (size_t k = 0; k < host->launches.len; k++)
      found = found || ac_craft_launch_kernel(c->m, host->launches.data[k]) == c->fns.data[i]->f;
    if (!found)
      ac_warn(c->diags, AC0526, c->fns.data[i]->f->loc, "kernel '%s' is never launched", c->fns.data[i]->f->name);
  }
  ac_cfunc *host = ac_craft_host(c->m);
  if (host->launches.len) return;
  ac_diag *g = ac_error(c->diags, AC0520, host->loc, "'%s' launches no kernel", host->name);
  ac_help(c->diags, g, "my_kernel[n_cores](...)");
}

bool ac_craft_check(ac_arena *a, ac_cmodule *m, const ac_craft_check_opts *o, ac_diags *d) {
  ac_diags own;
  if (!d) ac_diags_init(d = &own, a);
  int before = d->errors;
  size_t first = d->list.len;
  ac_chk *c = AC_NEW(a, ac_chk);
  c->a = a;
  c->m = m;
  c->chip = o ? o->chip : NULL;
  c->diags = d;
  c->tunes = o ? o->tunes : NULL;
  c->n_tunes = o ? o->n_tunes : 0;
  c->tune_used = AC_NEW_N(a, bool, c->n_tunes + 1);
  m->tunes.len = 0;
  ac_syms_init(&c->s, a);
  if (!check_functions(c)) return false;
  ac_chk_published(c);
  ac_chk_infer(c);
  for (size_t i = 0; i < c->fns.len; i++)
    if (c->fns.data[i]->f->kernel) run_function(c, c->fns.data[i]);
  run_function(c, ac_chk_fn(c, ac_craft_host(m)));
  check_launched(c);
  ac_chk_directions(c);
  ac_chk_tunes_used(c);
  for (size_t i = 0; i < c->fns.len && c->chip && d->errors == before; i++)
    if (c->fns.data[i]->f->kernel) ac_chk_lives(c, c->fns.data[i]);
  ac_chk_launches(c);
  ac_craft_sort_diags(d, first);
  return d->errors == before;
}

/* Guards: what the checks could not prove, asked by the tiling code of the shape at hand (docs/checks.md).
 *
 * The sketch of a launch's kernel, with nothing in it but the integers that lead to an open question, becomes statements of the host function
 * before the launch: all blocks, their loops and branches, and a refusal where what has to hold does not. They are ordinary statements, so that
 * every form of output and the simulator have them. What depends on what is in memory is left out: a branch on data may be taken or not, and a
 * refusal must be certain. */
#include "craft/sketch.h"

#include <string.h>

typedef struct {
  ac_sketch *k;
  ac_verdicts *v;
  const ac_skfunc *fn;
  const ac_skstmt *launch;
  int number;         /* of the launch: part of names */
  bool *data;         /* by slot: its value depends on what is in memory */
  const char **names; /* by slot */
  bool *counted;      /* by tensor: the elements that are stored are counted */
  bool *uncounted;    /* by tensor: of some store it is not known how much it writes */
  bool bounds, outputs;
  bool lost;      /* no guard for this launch: what it does depends on data */
  bool asks, pid; /* something is asked; the block's number is used */
  bool *used;     /* by slot: some question reads it */
  bool given;     /* bounds: of the inputs alone that the host function does not ask for their size */
  bool taken;     /* it is not asked of one of these: it is taken to be long enough */
} guard;

/* ---- expressions and statements of the tree ---- */

static ac_cexpr *expr_new(guard *g, ac_cekind kind, ac_ctkind type) {
  ac_cexpr *e = AC_NEW(g->k->a, ac_cexpr);
  e->kind = kind;
  e->type = type;
  e->prim = AC_P_NONE;
  return e;
}
static ac_cexpr *number(guard *g, int64_t v) {
  ac_cexpr *e = expr_new(g, AC_CE_INT, AC_CT_INT);
  e->i = v;
  return e;
}
static ac_cexpr *name_of(guard *g, const char *name) {
  ac_cexpr *e = expr_new(g, AC_CE_NAME, AC_CT_INT);
  e->s = name;
  return e;
}
static ac_cexpr *binary(guard *g, ac_cop op, ac_cexpr *x, ac_cexpr *y) {
  ac_cexpr *e = expr_new(g, AC_CE_BINARY, op >= AC_OP_AND ? AC_CT_BOOL : AC_CT_INT);
  e->op = op;
  e->a = x;
  e->b = y;
  return e;
}
static ac_cexpr *call(guard *g, ac_cprim prim, ac_cexpr *x, ac_cexpr *y) {
  ac_cexpr *e = expr_new(g, AC_CE_CALL, AC_CT_INT);
  e->prim = prim;
  e->a = expr_new(g, AC_CE_NAME, AC_CT_NONE);
  e->a->s = ac_cprim_name(prim);
  e->n_args = y ? 2 : 1;
  e->args = AC_NEW_N(g->k->a, ac_cexpr *, 2);
  e->args[0] = x;
  e->args[1] = y;
  return e;
}

static ac_cstmt *add(guard *g, ac_cstmt ***tail, ac_cskind kind) {
  ac_cstmt *s = AC_NEW(g->k->a, ac_cstmt);
  s->kind = kind;
  s->loc = g->launch->of->loc;
  **tail = s;
  *tail = &s->next;
  return s;
}
static void assign(guard *g, ac_cstmt ***tail, const char *name, ac_cexpr *value) {
  ac_cstmt *s = add(g, tail, AC_CS_ASSIGN);
  s->target = name_of(g, name);
  s->value = value;
}

/* if cond: tl.refuse(text, args...) */
static void refuse_if(guard *g, ac_cstmt ***tail, ac_cexpr *cond, const char *text, ac_cexpr *const *args, int n) {
  ac_cstmt *s = add(g, tail, AC_CS_IF), **first = &s->body, ***body = &first;
  s->value = cond;
  ac_cexpr *e = call(g, AC_P_REFUSE, NULL, NULL);
  e->type = AC_CT_NONE;
  e->n_args = n + 1;
  e->args = AC_NEW_N(g->k->a, ac_cexpr *, n + 1);
  e->args[0] = expr_new(g, AC_CE_STR, AC_CT_STR);
  e->args[0]->s = text;
  memcpy(e->args + 1, args, (size_t)n * sizeof *args);
  add(g, body, AC_CS_EXPR)->value = e;
  g->asks = true;
}

/* ---- from the sketch ---- */

static const char *own_name(guard *g, const char *what) {
  return ac_sprintf(g->k->a, "ask%d_%s", g->number, what);
}

/* How many elements of the tensor were written; a parameter of the kernel may have the tensor's name, and means something else. */
static const char *count_name(guard *g, const char *tensor) {
  return own_name(g, ac_sprintf(g->k->a, "count_%s", tensor));
}

/* NULL: it depends on data. */
static ac_cexpr *expr(guard *g, const ac_sknode *n) {
  static const ac_cop ops[] = {[AC_SK_ADD] = AC_OP_ADD,
                               [AC_SK_SUB] = AC_OP_SUB,
                               [AC_SK_MUL] = AC_OP_MUL,
                               [AC_SK_MOD] = AC_OP_MOD,
                               [AC_SK_FLOORDIV] = AC_OP_FLOORDIV,
                               [AC_SK_EQ] = AC_OP_EQ,
                               [AC_SK_NE] = AC_OP_NE,
                               [AC_SK_LT] = AC_OP_LT,
                               [AC_SK_LE] = AC_OP_LE,
                               [AC_SK_GT] = AC_OP_GT,
                               [AC_SK_GE] = AC_OP_GE,
                               [AC_SK_AND] = AC_OP_AND,
                               [AC_SK_OR] = AC_OP_OR};
  switch (n->op) {
  case AC_SK_INT: return number(g, n->i);
  case AC_SK_VAR: g->used[n->i] = true; return g->data[n->i] ? NULL : name_of(g, g->names[n->i]);
  case AC_SK_PID: g->pid = true; return name_of(g, own_name(g, "block"));
  case AC_SK_BLOCKS: return name_of(g, own_name(g, "blocks"));
  case AC_SK_CORES:
  case AC_SK_UB:
  case AC_SK_SIZE:
  case AC_SK_RANK:
  case AC_SK_FLAG: /* questions of host functions */
  case AC_SK_DATA: return NULL;
  default: break;
  }
  ac_cexpr *x = expr(g, n->a), *y = x && n->b ? expr(g, n->b) : NULL;
  if (!x || (n->b && !y)) return NULL;
  if (n->op == AC_SK_MIN) return call(g, AC_P_MIN, x, y);
  if (n->op == AC_SK_MAX) return call(g, AC_P_MAX, x, y);
  if (n->op == AC_SK_CDIV) return call(g, AC_P_CDIV, x, y);
  if (n->op == AC_SK_NOT) {
    ac_cexpr *e = expr_new(g, AC_CE_UNARY, AC_CT_BOOL);
    e->op = AC_OP_NOT;
    e->a = x;
    return e;
  }
  if (n->op != AC_SK_COND) return binary(g, ops[n->op], x, y);
  ac_cexpr *e = expr_new(g, AC_CE_COND, AC_CT_INT);
  e->a = x;
  e->b = y;
  e->c = expr(g, n->c);
  return e->c ? e : NULL;
}

static bool of_data(const guard *g, const ac_sknode *n) {
  if (!n) return false;
  if (n->op == AC_SK_DATA || (n->op == AC_SK_VAR && g->data[n->i])) return true;
  return of_data(g, n->a) || of_data(g, n->b) || of_data(g, n->c);
}

static bool steered_by_data(const guard *g, const ac_skstmt *s) {
  return s->kind == AC_SKS_FOR ? of_data(g, s->lo) || of_data(g, s->hi) || of_data(g, s->step)
                               : (s->kind == AC_SKS_IF || s->kind == AC_SKS_WHILE) && of_data(g, s->value);
}

/* Values that depend on data, directly or since a branch on data assigns them. True: one more was found. */
static bool spread(guard *g, const ac_skstmt *s, bool under) {
  bool more = false;
  for (; s; s = s->next) {
    bool here = under || steered_by_data(g, s);
    bool sets = s->kind == AC_SKS_SET || s->kind == AC_SKS_FOR;
    if (sets && !g->data[s->slot] && (here || (s->kind == AC_SKS_SET && of_data(g, s->value))))
      g->data[s->slot] = more = true;
    more |= spread(g, s->body, here);
    more |= spread(g, s->orelse, here);
  }
  return more;
}

static bool leaves(const ac_skstmt *s) {
  for (; s; s = s->next)
    if (s->kind == AC_SKS_RETURN || s->kind == AC_SKS_BREAK || leaves(s->body) || leaves(s->orelse)) return true;
  return false;
}

/* ---- questions ---- */

/* How often the host function sets a name. */
static int times_set(const ac_cstmt *s, const char *name) {
  int n = 0;
  for (; s; s = s->next) {
    bool sets = (s->kind == AC_CS_ASSIGN || s->kind == AC_CS_FOR) && s->target->kind == AC_CE_NAME;
    bool many = s->kind == AC_CS_ASSIGN && s->target->kind == AC_CE_TUPLE; /* a shape: counts for all names */
    n += many + (sets && !strcmp(s->target->s, name)) + times_set(s->body, name) + times_set(s->orelse, name);
  }
  return n;
}

/* An expression of the host function that is at a launch what it was where it stands. */
static bool steady(const guard *g, const ac_cexpr *e) {
  if (!e) return true;
  if (e->kind == AC_CE_NAME && times_set(g->k->host->f->body, e->s) > 1) return false;
  for (int i = 0; i < e->n_args; i++)
    if (!steady(g, e->args[i])) return false;
  return steady(g, e->a) && steady(g, e->b) && steady(g, e->c);
}

/* Elements of a tensor, as the host function sees them; NULL: it does not any more. */
static ac_cexpr *numel(guard *g, int tensor) {
  const ac_sktensor *t = &g->k->tensors.data[tensor];
  if (t->workspace) return steady(g, t->elements) ? (ac_cexpr *)(uintptr_t)t->elements : NULL;
  ac_cexpr *name = name_of(g, t->name);
  name->type = AC_CT_POINTER;
  return call(g, AC_P_NUMEL, name, NULL);
}

static bool unsized(const guard *g, int tensor) {
  const ac_sktensor *t = &g->k->tensors.data[tensor];
  return t->in && !t->asked && !t->workspace && !t->declared;
}

/* What the access of s reaches cannot be said here. */
static void not_asked(guard *g, const ac_skstmt *s) {
  int t = g->launch->tensors[s->access->param];
  g->v->data[AC_CLAIM_BOUNDS] |= g->bounds;
  g->v->data[AC_CLAIM_OUTPUTS] |= g->outputs && s->access->store;
  g->taken |= unsized(g, t);
  if (s->access->store) g->uncounted[t] = true;
}

static void open_to_data(guard *g, const ac_skstmt *s) {
  for (; s; s = s->next) {
    if (s->kind == AC_SKS_MUST) ac_sk_claims_of(s->must->code, g->v->data);
    if (s->kind == AC_SKS_ACCESS) not_asked(g, s);
    open_to_data(g, s->body);
    open_to_data(g, s->orelse);
  }
}

static void must(guard *g, const ac_skstmt *s, ac_cstmt ***tail) {
  ac_cexpr *x = expr(g, s->value->a), *y = x ? expr(g, s->value->b) : NULL;
  if (!y) {
    ac_sk_claims_of(s->must->code, g->v->data);
    return;
  }
  ac_sk_claims_of(s->must->code, g->v->asked);
  ac_cexpr *args[] = {x, y};
  refuse_if(g, tail, binary(g, AC_OP_GT, x, y),
            ac_sprintf(g->k->a, "line %d: %s: here {} against {}", s->loc.line, s->must->text), args, 2);
}

typedef struct {
  ac_cexpr *first, *last, *elements; /* of what a copy touches */
  ac_cexpr *some;                    /* it touches anything; NULL: it does */
} reach;

static bool reach_of(guard *g, const ac_skaccess *a, reach *r) {
  *r = (reach){.elements = number(g, 1)};
  if (a->within || !(r->first = expr(g, a->base))) return false; /* a refusal is certain: what may be is not enough */
  r->last = r->first;
  for (int d = 0; d < a->rank; d++) {
    ac_cexpr *extent = expr(g, a->extent[d]), *stride = extent ? expr(g, a->stride[d]) : NULL;
    if (!stride) return false;
    ac_cexpr *way = binary(g, AC_OP_MUL, stride, binary(g, AC_OP_SUB, extent, number(g, 1)));
    bool forward = stride->kind == AC_CE_INT && stride->i >= 0;
    if (!forward) r->first = binary(g, AC_OP_ADD, r->first, call(g, AC_P_MIN, number(g, 0), way));
    r->last = binary(g, AC_OP_ADD, r->last, forward ? way : call(g, AC_P_MAX, number(g, 0), way));
    ac_cexpr *some = binary(g, AC_OP_GT, extent, number(g, 0));
    r->some = r->some ? binary(g, AC_OP_AND, r->some, some) : some;
    r->elements = binary(g, AC_OP_MUL, r->elements, extent);
  }
  return true;
}

/* A copy that touches something outside of its tensor is refused. */
static void inside(guard *g, const ac_skstmt *s, const reach *r, ac_cstmt ***tail) {
  int t = g->launch->tensors[s->access->param];
  ac_cexpr *n = numel(g, t), *low = binary(g, AC_OP_LT, r->first, number(g, 0)),
           *wrong = expr_new(g, AC_CE_COND, AC_CT_INT);
  if (!n) {
    g->v->data[AC_CLAIM_BOUNDS] |= g->bounds;
    return;
  }
  wrong->a = r->first;
  wrong->b = r->last;
  wrong->c = low;
  ac_cexpr *args[] = {name_of(g, own_name(g, "block")), wrong, n};
  g->pid = true;
  refuse_if(g, tail, binary(g, AC_OP_OR, low, binary(g, AC_OP_GE, r->last, n)),
            ac_sprintf(g->k->a, "line %d: block {} %s element {} of '%s', which has {}", s->loc.line,
                       s->access->store ? "writes" : "reads", g->k->tensors.data[t].name),
            args, 3);
  g->v->asked[AC_CLAIM_BOUNDS] |= g->bounds;
}

static void access(guard *g, const ac_skstmt *s, ac_cstmt ***tail) {
  const ac_skaccess *a = s->access;
  int t = g->launch->tensors[a->param];
  reach r;
  if (!reach_of(g, a, &r)) {
    not_asked(g, s);
    return;
  }
  bool bounds = g->bounds || (g->given && unsized(g, t));
  if (!bounds && !(a->store && g->counted[t])) return;
  ac_cstmt **body, ***to = tail;
  if (r.some) {
    ac_cstmt *touches = add(g, tail, AC_CS_IF);
    touches->value = r.some;
    body = &touches->body;
    to = &body;
  }
  if (bounds) inside(g, s, &r, to);
  if (a->store && g->counted[t]) {
    const char *n = count_name(g, g->k->tensors.data[t].name);
    assign(g, to, n, binary(g, AC_OP_ADD, name_of(g, n), r.elements));
  }
}

static void list(guard *g, const ac_skstmt *s, ac_cstmt ***tail, bool top);

/* `if c: return` at the top of a kernel: what follows is its other side. True: it was one. */
static bool early_exit(guard *g, const ac_skstmt *s, ac_cexpr *cond, ac_cstmt ***tail) {
  if (!s->body || s->body->kind != AC_SKS_RETURN || leaves(s->orelse)) return false;
  ac_cstmt *n = add(g, tail, AC_CS_IF), **body = &n->body, **orelse = &n->orelse, ***in = &body, ***to = &orelse;
  n->value = cond;
  add(g, in, AC_CS_PASS);
  list(g, s->orelse, to, false);
  list(g, s->next, to, true);
  if (!n->orelse) add(g, to, AC_CS_PASS);
  return true;
}

static void branch(guard *g, const ac_skstmt *s, ac_cstmt ***tail) {
  ac_cstmt *n = AC_NEW(g->k->a, ac_cstmt), **body = &n->body, **orelse = &n->orelse;
  ac_cexpr *cond = expr(g, s->value);
  if (!cond) {
    g->lost |= leaves(s->body) || leaves(s->orelse);
    open_to_data(g, s->body);
    open_to_data(g, s->orelse);
    return;
  }
  *n = (ac_cstmt){.kind = AC_CS_IF, .loc = g->launch->of->loc, .value = cond};
  ac_cstmt ***b = &body, ***o = &orelse;
  list(g, s->body, b, false);
  list(g, s->orelse, o, false);
  if (!n->body && !n->orelse) return;
  if (!n->body) add(g, b, AC_CS_PASS);
  **tail = n;
  *tail = &n->next;
}

static bool reads(const ac_sknode *n, const bool *slots) {
  if (!n) return false;
  return (n->op == AC_SK_VAR && slots[n->i]) || reads(n->a, slots) || reads(n->b, slots) || reads(n->c, slots);
}

static void mark_assigned(const ac_skstmt *s, bool *slots) {
  for (; s; s = s->next) {
    if (s->kind == AC_SKS_SET || s->kind == AC_SKS_FOR) slots[s->slot] = true;
    mark_assigned(s->body, slots);
    mark_assigned(s->orelse, slots);
  }
}

/* A trip reads one of the slots: the counter, or what is assigned in the loop and perhaps not yet in this trip; or it counts elements. */
static bool trips_differ(const guard *g, const ac_skstmt *s, bool *slots, bool top) {
  for (; s; s = s->next) {
    const ac_skaccess *a = s->access;
    if (s->kind == AC_SKS_WHILE || s->kind == AC_SKS_BREAK || s->kind == AC_SKS_RETURN) return true;
    if (reads(s->value, slots) || reads(s->lo, slots) || reads(s->hi, slots) || reads(s->step, slots)) return true;
    if (a && (reads(a->base, slots) || (a->store && g->counted[g->launch->tensors[a->param]]))) return true;
    for (int d = 0; a && d < a->rank; d++)
      if (reads(a->extent[d], slots) || reads(a->stride[d], slots)) return true;
    if (s->kind == AC_SKS_FOR) slots[s->slot] = false;
    if (trips_differ(g, s->body, slots, false) || trips_differ(g, s->orelse, slots, false)) return true;
    if (s->kind == AC_SKS_FOR) slots[s->slot] = true;
    if (s->kind == AC_SKS_SET && top) slots[s->slot] = false;
  }
  return false;
}

/* What one trip asks, the others ask as well. */
static bool one_trip_will_do(const guard *g, const ac_skstmt *s) {
  if (s->kind != AC_SKS_FOR || s->step->op != AC_SK_INT || s->step->i < 1) return false;
  bool *slots = AC_NEW_N(g->k->a, bool, g->fn->n_slots + 1);
  mark_assigned(s, slots);
  return !trips_differ(g, s->body, slots, true);
}

/* Where a loop that goes up begins, so that it has its last trip alone, or none. */
static ac_cexpr *last_trip(guard *g, const ac_skstmt *s) {
  ac_cexpr *trips = call(g, AC_P_CDIV, binary(g, AC_OP_SUB, expr(g, s->hi), expr(g, s->lo)), expr(g, s->step));
  ac_cexpr *skipped = call(g, AC_P_MAX, number(g, 0), binary(g, AC_OP_SUB, trips, number(g, 1)));
  return binary(g, AC_OP_ADD, expr(g, s->lo), binary(g, AC_OP_MUL, skipped, expr(g, s->step)));
}

static void loop(guard *g, const ac_skstmt *s, ac_cstmt ***tail) {
  ac_cstmt *n = AC_NEW(g->k->a, ac_cstmt), **body = &n->body, ***b = &body;
  *n = (ac_cstmt){.kind = s->kind == AC_SKS_FOR ? AC_CS_FOR : AC_CS_WHILE, .loc = g->launch->of->loc};
  bool endless = s->kind == AC_SKS_WHILE && g->v->of[AC_CLAIM_LOOPS] != AC_VERDICT_PROVED;
  if (endless || steered_by_data(g, s)) { /* what it assigns is of data, too, or it would not be skipped */
    g->lost |= endless;
    open_to_data(g, s->body);
    return;
  }
  if (s->kind == AC_SKS_FOR) {
    n->target = name_of(g, g->names[s->slot]);
    n->lo = one_trip_will_do(g, s) ? last_trip(g, s) : expr(g, s->lo);
    n->hi = expr(g, s->hi);
    n->step = expr(g, s->step);
  } else {
    n->value = expr(g, s->value);
  }
  list(g, s->body, b, false);
  if (!n->body) return;
  **tail = n;
  *tail = &n->next;
}

static void list(guard *g, const ac_skstmt *s, ac_cstmt ***tail, bool top) {
  for (; s && !g->lost; s = s->next) {
    ac_cexpr *cond;
    switch (s->kind) {
    case AC_SKS_SET:
      if (!g->data[s->slot]) assign(g, tail, g->names[s->slot], expr(g, s->value));
      break;
    case AC_SKS_IF:
      if (top && (cond = expr(g, s->value)) && early_exit(g, s, cond, tail)) return;
      branch(g, s, tail);
      break;
    case AC_SKS_FOR:
    case AC_SKS_WHILE: loop(g, s, tail); break;
    case AC_SKS_BREAK: add(g, tail, AC_CS_BREAK); break;
    case AC_SKS_RETURN: g->lost |= !top; return; /* of all blocks: nothing follows */
    case AC_SKS_ACCESS: access(g, s, tail); break;
    case AC_SKS_MUST: must(g, s, tail); break;
    default: break;
    }
  }
}

/* ---- a launch ---- */

static bool stores_to(const ac_sketch *k, const ac_skstmt *launch, const ac_skstmt *s, int tensor) {
  for (; s; s = s->next)
    if ((s->access && s->access->store && launch->tensors[s->access->param] == tensor) ||
        stores_to(k, launch, s->body, tensor) || stores_to(k, launch, s->orelse, tensor))
      return true;
  return false;
}
static bool adds_to(const ac_skstmt *launch, const ac_skstmt *s, int tensor) {
  for (; s; s = s->next)
    if ((s->access && s->access->atomic && launch->tensors[s->access->param] == tensor) ||
        adds_to(launch, s->body, tensor) || adds_to(launch, s->orelse, tensor))
      return true;
  return false;
}
static int launches_storing(const ac_sketch *k, const ac_skstmt *s, int tensor) {
  int n = 0;
  for (; s; s = s->next)
    n += (s->kind == AC_SKS_LAUNCH && stores_to(k, s, k->funcs.data[s->kernel]->body, tensor)) +
         launches_storing(k, s->body, tensor) + launches_storing(k, s->orelse, tensor);
  return n;
}

static void start(guard *g) {
  ac_sketch *k = g->k;
  const ac_cfunc *f = g->fn->f;
  g->data = AC_NEW_N(k->a, bool, g->fn->n_slots + 1);
  g->used = AC_NEW_N(k->a, bool, g->fn->n_slots + 1);
  g->names = AC_NEW_N(k->a, const char *, g->fn->n_slots + 1);
  g->counted = AC_NEW_N(k->a, bool, k->tensors.len + 1);
  g->uncounted = AC_NEW_N(k->a, bool, k->tensors.len + 1);
  for (int i = 0; i < g->fn->n_slots; i++) g->names[i] = ac_sprintf(k->a, "ask%d_v%d", g->number, i);
  for (int i = 0; i < f->n_params; i++) {
    g->names[i] = own_name(g, ac_sprintf(k->a, "arg_%s", f->params[i].name));
    g->data[i] = f->params[i].type != AC_CT_INT;
  }
  while (spread(g, g->fn->body, false)) {
  }
  for (size_t t = 0; t < k->tensors.len; t++) {
    const ac_sktensor *x = &k->tensors.data[t];
    g->counted[t] = g->outputs && x->out && !x->in && !x->workspace && stores_to(k, g->launch, g->fn->body, (int)t) &&
                    !adds_to(g->launch, g->fn->body, (int)t) && launches_storing(k, k->host->body, (int)t) == 1;
  }
}

/* Fewer elements were written than the output has. */
static void check_counts(guard *g, ac_cstmt ***tail) {
  for (size_t t = 0; t < g->k->tensors.len; t++) {
    if (!g->counted[t]) continue;
    const char *name = g->k->tensors.data[t].name;
    ac_cexpr *n = numel(g, (int)t), *args[] = {name_of(g, count_name(g, name)), n};
    refuse_if(g, tail, binary(g, AC_OP_LT, args[0], n),
              ac_sprintf(g->k->a, "line %d: this launch writes {} elements of '%s', which has {}",
                         g->launch->of->loc.line, name),
              args, 2);
    g->v->asked[AC_CLAIM_OUTPUTS] = true;
  }
}

/* All blocks of the launch, one after the other; one for all where they do not differ. */
static void blocks(guard *g, ac_cstmt ***tail, ac_cstmt *body) {
  enum { MOST = 65535 }; /* that a launch may have: more are refused anyway */
  ac_cexpr *n = name_of(g, own_name(g, "blocks"));
  bool all = g->pid;
  for (size_t t = 0; t < g->k->tensors.len; t++) all = all || g->counted[t];
  ac_cstmt *s = add(g, tail, all ? AC_CS_FOR : AC_CS_IF);
  s->body = body;
  if (all) {
    s->target = name_of(g, own_name(g, "block"));
    s->lo = number(g, 0);
    s->hi = call(g, AC_P_MIN, n, number(g, MOST));
    s->step = number(g, 1);
  } else {
    s->value = binary(g, AC_OP_GT, n, number(g, 0));
  }
}

/* The statements before a launch: what it passes, its blocks, and what they wrote together. */
static void one_launch(guard *g) {
  ac_cstmt *s = g->launch->of, *inner = NULL, **at = &inner, ***body = &at, **first = &s->guards, ***tail = &first;
  start(g);
  list(g, g->fn->body, body, true);
  bool counts = false;
  for (size_t t = 0; t < g->k->tensors.len; t++) {
    g->counted[t] = g->counted[t] && !g->uncounted[t];
    counts |= g->counted[t];
  }
  if (g->lost) {
    open_to_data(g, g->fn->body);
    return;
  }
  if (!g->asks && !counts) return;
  assign(g, tail, own_name(g, "blocks"), ac_craft_launch_cores(s));
  for (int i = 0; i < g->fn->f->n_params; i++)
    if (g->used[i] && !g->data[i]) assign(g, tail, g->names[i], s->value->args[i]);
  for (size_t t = 0; t < g->k->tensors.len; t++)
    if (g->counted[t]) assign(g, tail, count_name(g, g->k->tensors.data[t].name), number(g, 0));
  blocks(g, tail, inner);
  check_counts(g, tail);
}

static void launches(ac_sketch *k, ac_verdicts *v, const ac_skstmt *s, int *number_of, bool *taken) {
  for (; s; s = s->next) {
    if (s->kind == AC_SKS_LAUNCH) {
      guard g = {.k = k,
                 .v = v,
                 .fn = k->funcs.data[s->kernel],
                 .launch = s,
                 .number = ++*number_of,
                 .bounds = v->of[AC_CLAIM_BOUNDS] == AC_VERDICT_UNKNOWN,
                 .outputs = v->of[AC_CLAIM_OUTPUTS] == AC_VERDICT_UNKNOWN,
                 .given = v->given[AC_CLAIM_BOUNDS]};
      one_launch(&g);
      *taken |= g.taken;
    }
    launches(k, v, s->body, number_of, taken);
    launches(k, v, s->orelse, number_of, taken);
  }
}

static void forget(ac_cstmt *s) {
  for (; s; s = s->next) {
    s->guards = NULL;
    forget(s->body);
    forget(s->orelse);
  }
}

void ac_sk_guard(ac_arena *a, ac_cmodule *m, ac_verdicts *v) {
  bool accesses = v->of[AC_CLAIM_BOUNDS] == AC_VERDICT_UNKNOWN || v->of[AC_CLAIM_OUTPUTS] == AC_VERDICT_UNKNOWN;
  bool any = v->given[AC_CLAIM_BOUNDS], taken = false;
  accesses |= any;
  for (int q = 0; q < AC_CLAIM_COUNT; q++) any |= v->of[q] == AC_VERDICT_UNKNOWN;
  forget(ac_craft_host(m)->body);
  if (!any) return;
  ac_sketch *k = ac_sketch_asking(a, m, accesses);
  int n = 0;
  if (k->opaque) return;
  launches(k, v, k->host->body, &n, &taken);
  if (!taken) v->given[AC_CLAIM_BOUNDS] = NULL; /* it is asked: the host function refuses what is too short */
}

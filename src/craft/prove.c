/* Proofs for all shapes: the sketch is walked once with symbolic integers, and every access to global memory becomes a family of intervals,
 * one for each trip of the loops around it (the block's number is such a loop). A loop is taken away where the interval of each trip ends
 * where that of the next begins: the family is then one longer interval. What is left is compared with the tensor. docs/checks.md. */
#include "craft/prove.h"

#include <string.h>

enum { MAX_PATHS = 48, MAX_DIMS = 8 };

struct ac_pstate {
  ac_sym **slot;
  const ac_fact *facts;
  ac_sym *branch[AC_PV_BRANCHES];
  int n_branch;
  ac_ploop loop[AC_PV_LOOPS];
  int n_loops;
  int maybe; /* on how many values it depends whether this is reached */
  int epoch;
  bool epoch_known;
};

typedef struct ac_pcont {
  const ac_skstmt *s;
  const struct ac_pcont *next;
} cont;

/* What follows the `if`s around an arm that is walked to its end. */
struct ac_pbehind {
  const cont *rest;
  const struct ac_pbehind *next;
};

/* ---- values ---- */

static bool asked_for(const ac_pwalk *w, int tensor, int from, int to) {
  const ac_sktensor *t = &w->k->tensors.data[tensor];
  for (size_t i = 0; i < t->pieces.len; i++)
    if (t->pieces.data[i].from == from && t->pieces.data[i].to == to) return true;
  return false;
}

static ac_sym *tied(ac_pwalk *w, ac_sym *x);

static ac_sym *size_of(ac_pwalk *w, int tensor, int from, int to) {
  const ac_sktensor *t = &w->k->tensors.data[tensor];
  for (int i = 0; i < w->n_size; i++)
    if (w->size[i].tensor == tensor && w->size[i].from == from && w->size[i].to == to) return w->size[i].is;
  bool all = from == 0 && to == AC_SK_END;
  if (all && asked_for(w, tensor, -1, AC_SK_END) && !asked_for(w, tensor, 0, 1)) /* rows, and the length of one */
    return ac_sy_mul(&w->y, size_of(w, tensor, 0, -1), size_of(w, tensor, -1, AC_SK_END));
  ac_sym *product = ac_pw_int(w, 1); /* x.shape[0], x.shape[1] and so on, piece after piece to the end */
  for (int at = 0, steps = 0; all && steps < MAX_DIMS; steps++) {
    int next = 0;
    for (size_t i = 0; !next && i < t->pieces.len; i++) {
      ac_skpiece p = t->pieces.data[i];
      if (p.from == at && (at || p.to != AC_SK_END)) next = p.to;
    }
    if (!next && at == t->rank && (t->ranked || !asked_for(w, tensor, 0, AC_SK_END))) return product;
    if (!next) break;
    product = ac_sy_mul(&w->y, product, size_of(w, tensor, at, next));
    if (next == AC_SK_END) return product;
    at = next;
  }
  ac_sym *x = ac_sy_named(&w->y, ac_sprintf(w->k->a, "%d %d %d", tensor, from, to),
                          ac_sprintf(w->k->a, "the size of %s", t->name));
  int i = 0;
  while (i < w->n_open && (w->open[i].tensor != tensor || w->open[i].from != from || w->open[i].to != to)) i++;
  if (i < w->n_open && i == w->zero) return ac_pw_int(w, 0);
  ac_sy_at_least(&w->y, x, i < w->n_open && i < w->zero);
  return tied(w, x);
}

static ac_sym *value(ac_pwalk *w, ac_pstate *st, const ac_sknode *n);

/* By its range, or as a product with a common factor: rows * cols - rows. */
static bool plainly_nonneg(ac_pwalk *w, ac_sym *x) {
  if (ac_sy_range(&w->y, x, NULL).lo >= 0) return true;
  for (int j = 0; x->n > 1 && j < x->t[x->n - 1].k; j++) {
    ac_sym *factor = ac_sy_of(&w->y, x->t[x->n - 1].atom[j]), *rest = ac_sy_divide(&w->y, x, factor);
    if (rest && ac_sy_range(&w->y, factor, NULL).lo >= 0 && ac_sy_range(&w->y, rest, NULL).lo >= 0) return true;
  }
  return false;
}

static ac_sym *divided(ac_pwalk *w, ac_pstate *st, ac_symfn fn, ac_sym *a, ac_sym *b) {
  int64_t c;
  if (ac_sy_const(b, &c) && c == 0) return NULL;
  if (!ac_sy_const(b, &c) && ac_sy_range(&w->y, b, st->facts).lo == 0) /* a division by zero ends the program */
    st->facts = ac_sy_assume(&w->y, st->facts, ac_pw_sub(w, b, ac_pw_int(w, 1)));
  ac_sym *exact = ac_sy_divide(&w->y, a, b);
  return exact ? exact : ac_sy_fn(&w->y, fn, a, b);
}

/* A number from memory. What is concluded of it holds for any: whoever asks for one and the same each time looks at ac_pw_data. */
static ac_sym *from_memory(ac_pwalk *w, ac_pstate *st, const ac_sknode *n) {
  if (!n->i || !w->pid) return NULL;
  ac_sym *x = ac_sy_fresh(&w->y, w->unseen), *lo = n->a ? value(w, st, n->a) : NULL,
         *hi = n->b ? value(w, st, n->b) : NULL;
  if (lo) st->facts = ac_sy_assume(&w->y, st->facts, ac_pw_sub(w, x, lo));
  if (hi) st->facts = ac_sy_assume(&w->y, st->facts, ac_pw_sub(w, hi, x));
  return x;
}

static ac_sym *value(ac_pwalk *w, ac_pstate *st, const ac_sknode *n) {
  ac_sym *a, *b;
  switch (n->op) {
  case AC_SK_INT: return ac_pw_int(w, n->i);
  case AC_SK_VAR: return st->slot[n->i];
  case AC_SK_PID: return w->pid;
  case AC_SK_BLOCKS: return w->blocks;
  case AC_SK_CORES: {
    ac_sym *x = ac_sy_named(&w->y, "cores", w->made);
    (void)ac_sy_limit(&w->y, x, 1, w->k->chip ? w->k->chip->vector_cores : 65535);
    return x;
  }
  case AC_SK_FLAG: {
    ac_sym *x = ac_sy_named(&w->y, "flag", "tl.deterministic()");
    (void)ac_sy_limit(&w->y, x, 0, 1);
    return x;
  }
  case AC_SK_UB: {
    ac_sym *x = ac_sy_named(&w->y, "ub", "tl.ub_size()");
    ac_sy_at_least(&w->y, x, 1);
    return x;
  }
  case AC_SK_SIZE: return size_of(w, (int)n->i, n->from, n->to);
  case AC_SK_RANK: {
    ac_sym *x = ac_sy_named(&w->y, ac_sprintf(w->k->a, "rank %d", (int)n->i), "a rank");
    ac_sy_at_least(&w->y, x, 0);
    return x;
  }
  case AC_SK_DATA: return from_memory(w, st, n);
  case AC_SK_ADD:
  case AC_SK_SUB:
  case AC_SK_MUL:
  case AC_SK_MIN:
  case AC_SK_MAX:
  case AC_SK_FLOORDIV:
  case AC_SK_CDIV:
  case AC_SK_MOD: break;
  default: return NULL;
  }
  if (!(a = value(w, st, n->a)) || !(b = value(w, st, n->b))) return NULL;
  switch (n->op) {
  case AC_SK_ADD: return ac_pw_add(w, a, b);
  case AC_SK_SUB: return ac_pw_sub(w, a, b);
  case AC_SK_MUL: return ac_sy_mul(&w->y, a, b);
  case AC_SK_MIN:
  case AC_SK_MAX: {
    if (plainly_nonneg(w, ac_pw_sub(w, b, a))) return n->op == AC_SK_MIN ? a : b;
    if (plainly_nonneg(w, ac_pw_sub(w, a, b))) return n->op == AC_SK_MIN ? b : a;
    return ac_sy_fn(&w->y, n->op == AC_SK_MIN ? AC_SY_MIN : AC_SY_MAX, a, b);
  }
  case AC_SK_FLOORDIV: return divided(w, st, AC_SY_FLOORDIV, a, b);
  case AC_SK_CDIV: return divided(w, st, AC_SY_CDIV, a, b);
  default: { /* x % y is x - y * (x // y): one unknown less */
    ac_sym *q = divided(w, st, AC_SY_FLOORDIV, a, b);
    return q ? ac_pw_sub(w, a, ac_sy_mul(&w->y, b, q)) : NULL;
  }
  }
}

/* ---- conditions: sums of alternatives, each a list of what is >= 0 ---- */

typedef struct {
  ac_sym *is[4];
  int n;
} alternative;
typedef struct {
  alternative alt[4];
  int n;      /* 0: never */
  bool known; /* false: depends on values; then there is one alternative that says nothing */
} condition;

static condition one(ac_sym *x) {
  return (condition){.alt = {{.is = {x}, .n = 1}}, .n = 1, .known = true};
}

static condition join_any(condition a, condition b) {
  if (a.n + b.n > 4) return (condition){.n = 1};
  for (int i = 0; i < b.n; i++) a.alt[a.n++] = b.alt[i];
  a.known = a.known && b.known;
  return a;
}

static condition join_all(condition a, condition b) {
  condition r = {.known = a.known && b.known};
  for (int i = 0; i < a.n; i++)
    for (int j = 0; j < b.n; j++) {
      if (r.n == 4) return (condition){.n = 1};
      alternative x = a.alt[i];
      for (int k = 0; k < b.alt[j].n; k++)
        if (x.n < 4)
          x.is[x.n++] = b.alt[j].is[k];
        else
          return (condition){.n = 1};
      r.alt[r.n++] = x;
    }
  return r;
}

static condition holds(ac_pwalk *w, ac_pstate *st, const ac_sknode *n, bool yes);

static condition compared(ac_pwalk *w, ac_skop op, ac_sym *a, ac_sym *b) {
  ac_sym *one_ = ac_pw_int(w, 1);
  switch (op) {
  case AC_SK_LE: return one(ac_pw_sub(w, b, a));
  case AC_SK_LT: return one(ac_pw_sub(w, ac_pw_sub(w, b, a), one_));
  case AC_SK_GE: return one(ac_pw_sub(w, a, b));
  case AC_SK_GT: return one(ac_pw_sub(w, ac_pw_sub(w, a, b), one_));
  case AC_SK_EQ: return join_all(one(ac_pw_sub(w, b, a)), one(ac_pw_sub(w, a, b)));
  default: return join_any(compared(w, AC_SK_LT, a, b), compared(w, AC_SK_GT, a, b));
  }
}

static condition holds(ac_pwalk *w, ac_pstate *st, const ac_sknode *n, bool yes) {
  static const ac_skop opposite[] = {[AC_SK_EQ] = AC_SK_NE, [AC_SK_NE] = AC_SK_EQ, [AC_SK_LT] = AC_SK_GE,
                                     [AC_SK_LE] = AC_SK_GT, [AC_SK_GT] = AC_SK_LE, [AC_SK_GE] = AC_SK_LT};
  condition vague = {.n = 1};
  if (n->op == AC_SK_NOT) return holds(w, st, n->a, !yes);
  if (n->op == AC_SK_AND || n->op == AC_SK_OR) {
    condition a = holds(w, st, n->a, yes), b = holds(w, st, n->b, yes);
    return (n->op == AC_SK_AND) == yes ? join_all(a, b) : join_any(a, b);
  }
  if (n->op >= AC_SK_EQ && n->op <= AC_SK_GE) {
    ac_sym *a = value(w, st, n->a), *b = value(w, st, n->b);
    return a && b ? compared(w, yes ? n->op : opposite[n->op], a, b) : vague;
  }
  ac_sym *x = value(w, st, n);
  return x ? compared(w, yes ? AC_SK_NE : AC_SK_EQ, x, ac_pw_int(w, 0)) : vague;
}

static bool speaks_of_loops(ac_pwalk *w, const ac_pstate *st, const ac_sym *x) {
  for (int i = 0; i < st->n_loops; i++)
    if (ac_lg_has(&w->y, x, st->loop[i].atom)) return true;
  return false;
}

/* ---- kernels ---- */

static ac_pstate *copy(ac_pwalk *w, const ac_pstate *st, const ac_skfunc *fn) {
  ac_pstate *n = AC_NEW(w->k->a, ac_pstate);
  *n = *st;
  n->slot = AC_NEW_N(w->k->a, ac_sym *, fn->n_slots + 1);
  memcpy(n->slot, st->slot, (size_t)fn->n_slots * sizeof *n->slot);
  return n;
}

static void kernel(ac_pwalk *w, ac_pstate *st, const ac_skstmt *s, const cont *then);

static void resume(ac_pwalk *w, ac_pstate *st, const cont *c) {
  if (c) kernel(w, st, c->s, c->next);
}

/* One alternative of a branch. False: it cannot be. `others` are walked too, and stand for the rest of what can be: then what is the
 * same for all trips is as much a condition of what happens here as what is not, and no fact of the whole walk. */
static bool enter(ac_pwalk *w, ac_pstate *st, const alternative *a, bool known, bool others) {
  if (!known) {
    st->maybe++;
    return true;
  }
  for (int i = 0; i < a->n; i++) {
    int64_t c;
    if (ac_sy_const(a->is[i], &c)) {
      if (c < 0) return false;
      continue;
    }
    if (ac_pw_data(w, a->is[i])) {
      st->maybe++;
    } else if (others || speaks_of_loops(w, st, a->is[i])) {
      if (st->n_branch == AC_PV_BRANCHES) {
        w->lost = true;
        return false;
      }
      st->branch[st->n_branch++] = a->is[i];
    }
    st->facts = ac_sy_assume(&w->y, st->facts, a->is[i]);
  }
  return true;
}

static bool of_loops(ac_pwalk *w, const ac_pstate *st, const condition *c) {
  for (int i = 0; i < c->n; i++)
    for (int k = 0; k < c->alt[i].n; k++)
      if (speaks_of_loops(w, st, c->alt[i].is[k])) return true;
  return false;
}

/* A condition that is the same for all blocks and trips: the walk makes a choice, and is done again with the other. */
static bool choose(ac_pwalk *w, ac_sym *about) {
  for (int i = 0; i < w->n_choices; i++)
    if (w->chosen[i] == about) return w->choice[i];
  if (w->n_choices == AC_PW_CHOICES) {
    w->lost = true;
    return true;
  }
  bool way = w->n_choices < w->forced ? w->choice[w->n_choices] : true;
  w->chosen[w->n_choices] = about;
  w->choice[w->n_choices++] = way;
  return way;
}

static bool possible(ac_pwalk *w, const ac_pstate *st, const alternative *a) {
  for (int i = 0; i < a->n; i++)
    if (ac_sy_range(&w->y, a->is[i], st->facts).hi < 0) return false;
  return true;
}

static void drop_impossible(ac_pwalk *w, const ac_pstate *st, condition *c) {
  int n = 0;
  for (int i = 0; c->known && i < c->n; i++)
    if (possible(w, st, &c->alt[i])) c->alt[n++] = c->alt[i];
  if (c->known) c->n = n;
}

/* A condition on data: whether it holds is not the same each time. With alternatives it is not followed. */
static bool of_data(ac_pwalk *w, condition *c) {
  bool data = !c->known;
  for (int i = 0; i < c->n; i++)
    for (int k = 0; k < c->alt[i].n; k++) data = data || ac_pw_data(w, c->alt[i].is[k]);
  if (data && c->n > 1) *c = (condition){.n = 1};
  return data;
}

/* How often the statements assign a slot. */
static int assigned(const ac_skstmt *s, int slot) {
  int n = 0;
  for (; s; s = s->next)
    n += ((s->kind == AC_SKS_SET || s->kind == AC_SKS_FOR) && s->slot == slot) + assigned(s->body, slot) +
         assigned(s->orelse, slot);
  return n;
}

static bool leaves(const ac_skstmt *s) {
  for (; s; s = s->next)
    if (s->kind == AC_SKS_BREAK || s->kind == AC_SKS_RETURN || leaves(s->body) || leaves(s->orelse)) return true;
  return false;
}

/* What a slot holds behind an `if` whose arms leave a and b in it. False: it cannot be said. */
static bool either(ac_pwalk *w, ac_sym *a, const ac_pstate *yes, ac_sym *b, const ac_pstate *no, ac_sym **is) {
  if (!a || !b || ac_pw_data(w, a) || ac_pw_data(w, b)) return false;
  *is = ac_pw_either(w, a, yes->facts, b, no->facts);
  return *is != NULL;
}

static bool used_behind(const ac_pwalk *w, const cont *rest, int slot) {
  const struct ac_pbehind here = {rest, w->behind};
  for (const struct ac_pbehind *b = &here; b; b = b->next)
    for (const cont *c = b->rest; c; c = c->next)
      if (ac_pw_uses(c->s, slot)) return true;
  return false;
}

/* The state behind an `if` from those at the ends of its arms. False: what follows is walked once behind each. */
static bool meet(ac_pwalk *w, ac_pstate *st, const ac_pstate *yes, const ac_pstate *no, const cont *rest) {
  for (int k = 0; k < w->fn->n_slots; k++) {
    ac_sym *a = yes->slot[k], *b = no->slot[k];
    if (a != b && !used_behind(w, rest, k))
      a = NULL;
    else if (a != b && !either(w, a, yes, b, no, &a))
      return false;
    st->slot[k] = a;
  }
  st->epoch_known = yes->epoch_known && no->epoch_known && yes->epoch == no->epoch;
  st->epoch = yes->epoch;
  st->maybe += w->irregular;
  return true;
}

/* Both arms are walked to their ends, and what follows once: `st` is then what holds behind them. False: nothing was done. */
static bool walk_arms(ac_pwalk *w, ac_pstate *st, const ac_skstmt *s, const condition *yes, const condition *no,
                      const cont *rest) {
  size_t from = w->into->len;
  int paths = w->paths;
  bool split = w->split, ok = !leaves(s->body) && !leaves(s->orelse);
  for (size_t i = 0; i < w->apart.len; i++) ok = ok && w->apart.data[i] != s;
  if (!ok || !yes->n || !no->n) return false;
  ac_parm arm[2];
  ac_pstate *end[2], *after = copy(w, st, w->fn);
  const struct ac_pbehind *behind = w->behind, here = {rest, behind};
  w->split = false;
  w->behind = &here;
  for (int side = 0; side < 2 && ok; side++) {
    const condition *c = side ? no : yes;
    end[side] = copy(w, st, w->fn);
    ok = enter(w, end[side], &c->alt[0], c->known && c->n == 1, true); /* of several alternatives: perhaps */
    arm[side] = (ac_parm){w->into->len, 0, end[side]->n_branch, end[side]->maybe, c->n > 1};
    if (ok) kernel(w, end[side], side ? s->orelse : s->body, NULL);
    arm[side].to = w->into->len;
    ok = ok && !w->split && !w->lost;
  }
  w->split = split;
  w->behind = behind;
  ac_family before = {.facts = st->facts, .n_loops = st->n_loops, .n_branch = st->n_branch, .maybe = st->maybe};
  if (ok && meet(w, after, end[0], end[1], rest) && ac_pw_join(w, arm, &before)) {
    *st = *after;
    return true;
  }
  ac_push(w->k->a, &w->apart, s);
  w->into->len = from;
  w->paths = paths;
  return false;
}

/* True: st is what holds behind it. False: what follows was walked as well. */
static bool branch(ac_pwalk *w, ac_pstate *st, const ac_skstmt *s, const cont *then) {
  condition yes = holds(w, st, s->value, true), no = holds(w, st, s->value, false);
  cont rest = {s->next, then};
  bool seen = !of_data(w, &yes);
  seen = !of_data(w, &no) && seen;
  drop_impossible(w, st, &yes);
  drop_impossible(w, st, &no);
  if (seen && yes.n && no.n && !of_loops(w, st, &yes)) {
    bool way = choose(w, yes.alt[0].is[0]);
    condition *c = way ? &yes : &no;
    while (c->n > 1 && !choose(w, c->alt[0].is[0])) { /* one of its alternatives */
      for (int i = 1; i < c->n; i++) c->alt[i - 1] = c->alt[i];
      c->n--;
    }
    if (enter(w, st, &c->alt[0], true, false)) kernel(w, st, way ? s->body : s->orelse, &rest);
    return false;
  }
  if (walk_arms(w, st, s, &yes, &no, &rest)) return true;
  w->split |= yes.n && no.n;
  w->paths += yes.n && no.n;
  if (w->paths > MAX_PATHS) {
    w->lost = true;
    return false;
  }
  for (int side = 0; side < 2; side++) {
    const condition *c = side ? &no : &yes;
    for (int i = 0; i < c->n; i++) {
      ac_pstate *x = copy(w, st, w->fn);
      if (enter(w, x, &c->alt[i], c->known, yes.n + no.n > 1)) kernel(w, x, side ? s->orelse : s->body, &rest);
    }
  }
  return false;
}

/* What a loop assigns is not known behind it. */
static void forget_assigned(ac_sym **slots, int n, const ac_skstmt *loop) {
  for (int k = 0; k < n; k++)
    if (assigned(loop->body, k) || (loop->kind == AC_SKS_FOR && loop->slot == k)) slots[k] = NULL;
}

static bool constant_in(const ac_sknode *n, const ac_skstmt *body) {
  if (!n) return true;
  if (n->op == AC_SK_DATA || (n->op == AC_SK_VAR && assigned(body, (int)n->i))) return false;
  return constant_in(n->a, body) && constant_in(n->b, body) && constant_in(n->c, body);
}

/* The `v = v + c` of a body, at its top level, the only assignment of v; c does not change in the loop. */
static const ac_sknode *increment(const ac_skstmt *body, int slot) {
  if (assigned(body, slot) != 1) return NULL;
  for (const ac_skstmt *s = body; s; s = s->next) {
    if (s->kind != AC_SKS_SET || s->slot != slot) continue;
    const ac_sknode *v = s->value;
    if (v->op != AC_SK_ADD || v->a->op != AC_SK_VAR || v->a->i != slot || !constant_in(v->b, body)) return NULL;
    return v->b;
  }
  return NULL;
}

static bool syncs(const ac_skstmt *s) {
  for (; s; s = s->next)
    if (s->kind == AC_SKS_SYNC || syncs(s->body) || syncs(s->orelse)) return true;
  return false;
}

/* Values at the head of a loop's body: counters advance with the trips, whatever else the body assigns is not known. */
static void head_values(ac_pwalk *w, ac_pstate *st, const ac_pstate *before, const ac_skstmt *body, ac_sym *i,
                        ac_sym *lo, ac_sym *step) {
  for (int k = 0; k < w->fn->n_slots; k++) {
    if (!assigned(body, k)) continue;
    const ac_sknode *by = increment(body, k);
    ac_sym *c = by && before->slot[k] ? value(w, st, by) : NULL, *gone = i ? ac_pw_sub(w, i, lo) : NULL;
    int64_t s1, c1;
    st->slot[k] = NULL;
    if (!c || !gone) continue;
    if (c == step)
      st->slot[k] = ac_pw_add(w, before->slot[k], gone);
    else if (ac_sy_const(step, &s1) && s1 == 1)
      st->slot[k] = ac_pw_add(w, before->slot[k], ac_sy_mul(&w->y, c, gone));
    else if (ac_sy_const(step, &s1) && ac_sy_const(c, &c1) && s1 > 0 && c1 % s1 == 0)
      st->slot[k] = ac_pw_add(w, before->slot[k], ac_sy_mul(&w->y, ac_pw_int(w, c1 / s1), gone));
  }
}

static void run_loop(ac_pwalk *w, ac_pstate *st, const ac_skstmt *s, int slot, ac_sym *lo, ac_sym *hi, ac_sym *step) {
  ac_pstate *in = copy(w, st, w->fn);
  bool split = w->split;
  if (leaves(s->body)) {
    w->irregular = true;
    in->maybe++;
  }
  if (syncs(s->body)) st->epoch_known = false;
  if (ac_pw_data(w, lo) || ac_pw_data(w, hi)) in->maybe++;
  if (!lo || !hi || !step || ac_pw_data(w, step) || in->n_loops == AC_PV_LOOPS) {
    in->maybe++;
    head_values(w, in, st, s->body, NULL, NULL, NULL);
    if (slot >= 0) in->slot[slot] = NULL;
    kernel(w, in, s->body, NULL);
    w->split = split;
    return;
  }
  ac_syms *y = &w->y;
  ac_sym *i = ac_sy_fresh(y, "i"), *one_ = ac_pw_int(w, 1);
  ac_ploop l = {i->t[0].atom[0], lo, hi, step};
  const ac_fact *some =
      ac_sy_assume(y, st->facts, ac_pw_sub(w, ac_pw_sub(w, hi, one_), lo)); /* without a trip it does not matter */
  if (!ac_lg_nonneg(y, ac_pw_sub(w, step, one_), some)) {
    ac_pw_open(w, AC_CLAIM_LOOPS,
               ac_sprintf(w->k->a, "that the step of the loop in line %d is positive", s->loc.line));
    in->facts = ac_sy_assume(y, in->facts, ac_pw_sub(w, step, one_));
  }
  head_values(w, in, st, s->body, i, lo, step);
  in->slot[slot] = i;
  in->facts = ac_sy_assume(y, in->facts, ac_pw_sub(w, i, lo));
  in->facts = ac_sy_assume(y, in->facts, ac_pw_sub(w, ac_pw_sub(w, hi, one_), i));
  if (ac_sy_range(y, lo, st->facts).lo >= 0) ac_sy_at_least(y, i, 0);
  in->loop[in->n_loops++] = l;
  kernel(w, in, s->body, NULL);
  w->split = split; /* what follows the loop is not walked twice */
}

static void for_loop(ac_pwalk *w, ac_pstate *st, const ac_skstmt *s) {
  ac_sym *lo = value(w, st, s->lo), *hi = value(w, st, s->hi), *step = value(w, st, s->step);
  int64_t c;
  if (step && ac_sy_const(step, &c) && c < 0) step = NULL;
  run_loop(w, st, s, s->slot, lo, hi, step);
}

/* `while i < end: ...; i = i + c` counts as `for i in range(i, end, c)`. */
static void while_loop(ac_pwalk *w, ac_pstate *st, const ac_skstmt *s) {
  const ac_sknode *n = s->value;
  bool counts = (n->op == AC_SK_LT || n->op == AC_SK_LE) && n->a->op == AC_SK_VAR && constant_in(n->b, s->body);
  const ac_sknode *by = counts ? increment(s->body, (int)n->a->i) : NULL;
  const ac_skstmt *last = s->body;
  while (last && last->next) last = last->next;
  counts = by && last && last->kind == AC_SKS_SET && last->slot == (int)n->a->i;
  if (!counts) {
    run_loop(w, st, s, -1, NULL, NULL, NULL);
    return;
  }
  ac_sym *hi = value(w, st, n->b);
  if (hi && n->op == AC_SK_LE) hi = ac_pw_add(w, hi, ac_pw_int(w, 1));
  run_loop(w, st, s, (int)n->a->i, st->slot[n->a->i], hi, value(w, st, by));
}

static void add_access(ac_pwalk *w, ac_pstate *st, const ac_skstmt *s) {
  const ac_skaccess *a = s->access;
  ac_family f = {.tensor = w->launch->tensors[a->param],
                 .store = a->store,
                 .atomic = a->atomic,
                 .maybe = st->maybe,
                 .some = a->within,
                 .facts = st->facts,
                 .n_loops = st->n_loops,
                 .n_branch = st->n_branch,
                 .epoch = st->epoch,
                 .epoch_known = st->epoch_known,
                 .s = s};
  memcpy(f.loop, st->loop, sizeof f.loop);
  memcpy(f.branch, st->branch, sizeof f.branch);
  f.base = value(w, st, a->base);
  f.facts = st->facts; /* and what is known of numbers from memory in it */
  f.some |= ac_pw_data(w, f.base);
  f.len = ac_pw_int(w, 1);
  for (int d = a->rank - 1; f.base && d >= 0; d--) {
    ac_sym *n = value(w, st, a->extent[d]), *step = value(w, st, a->stride[d]);
    if (!n || !step || f.n_loops == AC_PV_LOOPS) {
      f.base = NULL;
      break;
    }
    f.some |= ac_pw_data(w, n) || ac_pw_data(w, step);
    if (step == f.len) { /* row after row without a gap */
      f.len = ac_sy_mul(&w->y, f.len, n);
      continue;
    }
    ac_sym *k = ac_pv_fresh(&w->y, "k", 0);
    ac_ploop l = {k->t[0].atom[0], ac_pw_int(w, 0), n, ac_pw_int(w, 1)};
    f.loop[f.n_loops++] = l;
    f.facts = ac_sy_assume(&w->y, f.facts, ac_pw_sub(w, ac_pw_sub(w, n, ac_pw_int(w, 1)), k));
    f.base = ac_pw_add(w, f.base, ac_sy_mul(&w->y, k, step));
  }
  ac_push(w->k->a, w->into, f);
}

static void kernel(ac_pwalk *w, ac_pstate *st, const ac_skstmt *s, const cont *then) {
  for (; s; s = s->next) {
    if (w->lost) return;
    switch (s->kind) {
    case AC_SKS_SET: st->slot[s->slot] = value(w, st, s->value); break;
    case AC_SKS_IF:
      if (syncs(s->body) || syncs(s->orelse)) st->epoch_known = false;
      if (branch(w, st, s, then)) break;
      return;
    case AC_SKS_FOR:
    case AC_SKS_WHILE:
      if (s->kind == AC_SKS_FOR)
        for_loop(w, st, s);
      else
        while_loop(w, st, s);
      forget_assigned(st->slot, w->fn->n_slots, s);
      if (w->irregular) st->maybe++;
      break;
    case AC_SKS_RETURN:
    case AC_SKS_BREAK: return;
    case AC_SKS_ACCESS: add_access(w, st, s); break;
    case AC_SKS_SYNC: st->epoch++; break;
    default: break;
    }
  }
  resume(w, st, then);
}

/* Elements of a tensor; NULL: the host does not ask. An output of which nothing is said is as large as the first input. */
ac_sym *ac_pw_total(ac_pwalk *w, int t) {
  const ac_sktensor *x = &w->k->tensors.data[t];
  for (int i = 0; i < w->n_size; i++)
    if (w->size[i].tensor == t && w->size[i].from == 0 && w->size[i].to == AC_SK_END) return w->size[i].is;
  if (x->declared) {
    ac_sym *n = value(w, w->start, x->declared);
    return n ? tied(w, n) : NULL;
  }
  if (x->asked) return size_of(w, t, 0, AC_SK_END);
  return x->twin >= 0 ? ac_pw_total(w, x->twin) : x->like >= 0 ? ac_pw_total(w, x->like) : NULL;
}

/* ---- the host ---- */

typedef struct {
  ac_sym **slot;
  const ac_fact *facts;
  ac_families *launches;
  int n_launches;
} path;

enum { MAX_LAUNCHES = 12 };

static void host(ac_pwalk *w, path p, const ac_skstmt *s, const cont *then);

static ac_pstate *as_state(ac_pwalk *w, const path *p) {
  ac_pstate *st = AC_NEW(w->k->a, ac_pstate);
  st->slot = p->slot;
  st->facts = p->facts;
  return st;
}

static void end_of_path(ac_pwalk *w, path *p) {
  if (++w->paths > MAX_PATHS) w->lost = true;
  if (w->lost || ac_lg_nonneg(&w->y, ac_pw_int(w, -1), p->facts)) return; /* nobody comes here */
  ac_pw_outputs(w, p->launches, p->n_launches, p->facts);
}

/* An unknown that equals an expression is that expression from here on. */
static void becomes(ac_pwalk *w, path *p, ac_sym *x, ac_sym *is) {
  ac_satom *a = x && is && x != is ? ac_sy_atom(&w->y, x) : NULL;
  int atom = a ? x->t[0].atom[0] : -1;
  if (!a || a->fn != AC_SY_OPAQUE || w->n_ties == AC_PW_TIES || ac_lg_has(&w->y, is, atom)) return;
  w->tie_of[w->n_ties] = atom;
  w->tie[w->n_ties++] = is;
  for (int i = 0; i < w->k->host->n_slots; i++)
    if (p->slot[i]) p->slot[i] = ac_lg_put(&w->y, p->slot[i], atom, is);
  const ac_fact *facts = NULL;
  for (const ac_fact *f = p->facts; f; f = f->next)
    facts = ac_sy_assume(&w->y, facts, ac_lg_put(&w->y, f->p, atom, is));
  p->facts = facts;
}

static ac_sym *tied(ac_pwalk *w, ac_sym *x) {
  for (int i = 0; i < w->n_ties; i++) x = ac_lg_put(&w->y, x, w->tie_of[i], w->tie[i]);
  return x;
}

static void equalities(ac_pwalk *w, path *p, const ac_sknode *n, bool yes) {
  if (n->op == AC_SK_NOT) {
    equalities(w, p, n->a, !yes);
  } else if (n->op == (yes ? AC_SK_AND : AC_SK_OR)) {
    equalities(w, p, n->a, yes);
    equalities(w, p, n->b, yes);
  } else if (n->op == (yes ? AC_SK_EQ : AC_SK_NE)) {
    ac_sym *a = value(w, as_state(w, p), n->a), *b = value(w, as_state(w, p), n->b);
    int was = w->n_ties;
    becomes(w, p, a, b);
    if (was == w->n_ties) becomes(w, p, b, a);
  }
}

static void host_branch(ac_pwalk *w, const path *p, const ac_skstmt *s, const cont *then) {
  cont rest = {s->next, then};
  for (int side = 0; side < 2 && !w->lost; side++) {
    path q = *p;
    ac_pstate *st = as_state(w, p);
    condition c = holds(w, st, s->value, !side);
    drop_impossible(w, st, &c);
    for (int i = 0; i < c.n; i++) {
      int n_size = w->n_size, n_ties = w->n_ties;
      ac_pstate *x = as_state(w, p);
      x->facts = st->facts;
      if (!enter(w, x, &c.alt[i], c.known, false)) continue;
      q.slot = AC_NEW_N(w->k->a, ac_sym *, w->k->host->n_slots + 1);
      memcpy(q.slot, p->slot, (size_t)w->k->host->n_slots * sizeof *q.slot);
      q.facts = x->facts;
      if (c.n == 1 && c.known) equalities(w, &q, s->value, !side);
      host(w, q, side ? s->orelse : s->body, &rest);
      w->n_size = n_size;
      w->n_ties = n_ties;
    }
  }
}

/* The number of cores says nothing about what is written where: what was computed from it is any number in its range, unless it is a
 * plain quotient by one (the number of blocks). */
static ac_sym *opaque(ac_pwalk *w, path *p, ac_sym *x) {
  bool sizes = false;
  int depth = 0;
  ac_sym *cores = ac_sy_named(&w->y, "cores", w->made);
  if (!x || !ac_pv_of_label(&w->y, x, w->made, &sizes, &depth) || (ac_sy_atom(&w->y, x) && !depth)) return x;
  if (!ac_lg_has(&w->y, x, cores->t[0].atom[0]) && sizes && depth < 3) return x;
  ac_range r = ac_sy_range(&w->y, x, NULL);
  ac_sym *n = ac_sy_fresh(&w->y, w->made);
  (void)ac_sy_limit(&w->y, n, r.lo, r.hi);
  const ac_satom *top = ac_sy_atom(&w->y, x);
  if (top && (top->fn == AC_SY_MIN || top->fn == AC_SY_MAX)) {
    ac_satom t = *top;
    bool min = t.fn == AC_SY_MIN;
    p->facts = ac_sy_assume(&w->y, p->facts, min ? ac_pw_sub(w, t.a, n) : ac_pw_sub(w, n, t.a));
    p->facts = ac_sy_assume(&w->y, p->facts, min ? ac_pw_sub(w, t.b, n) : ac_pw_sub(w, n, t.b));
  }
  ac_sym *part = ac_pv_quotient_by(&w->y, x, cores), *whole = part ? ac_sy_atom(&w->y, part)->a : NULL;
  if (part &&
      ac_lg_nonneg(&w->y, ac_pw_sub(w, x, part), p->facts)) /* so many parts of this size are at least the whole */
    p->facts = ac_sy_assume(&w->y, p->facts, ac_pw_sub(w, ac_sy_mul(&w->y, n, cores), whole));
  return n;
}

static void walk_kernel(ac_pwalk *w, const path *p, const ac_skstmt *s, ac_families *into, const ac_fact **facts) {
  const ac_skfunc *fn = w->k->funcs.data[s->kernel];
  ac_pstate *host_state = as_state(w, p), *st = AC_NEW(w->k->a, ac_pstate);
  ac_sym *one_ = ac_pw_int(w, 1);
  path q = *p; /* what the arguments came from goes into its facts */
  w->blocks = opaque(w, &q, value(w, host_state, s->value));
  if (!w->blocks) {
    w->blocks = ac_pv_fresh(&w->y, "blocks", 1);
  } else if (!ac_lg_nonneg(&w->y, ac_pw_sub(w, w->blocks, one_), host_state->facts)) {
    host_state->facts = ac_sy_assume(&w->y, host_state->facts, ac_pw_sub(w, w->blocks, one_)); /* or it is refused */
  }
  st->slot = AC_NEW_N(w->k->a, ac_sym *, fn->n_slots + 1);
  for (int i = 0; i < s->n_args; i++)
    if (s->args[i]) st->slot[i] = opaque(w, &q, value(w, host_state, s->args[i]));
  for (const ac_fact *f = q.facts; f && f != p->facts; f = f->next)
    host_state->facts = ac_sy_assume(&w->y, host_state->facts, f->p);
  *facts = host_state->facts;
  w->pid = ac_pv_fresh(&w->y, "pid", 0);
  w->fn = fn;
  w->launch = s;
  w->into = into;
  w->irregular = false;
  st->epoch_known = true;
  st->facts = ac_sy_assume(&w->y, *facts, ac_pw_sub(w, ac_pw_sub(w, w->blocks, one_), w->pid));
  st->loop[st->n_loops++] = (ac_ploop){w->pid->t[0].atom[0], ac_pw_int(w, 0), w->blocks, one_};
  kernel(w, st, fn->body, NULL);
  if (w->irregular)
    for (size_t i = 0; i < into->len; i++) into->data[i].maybe = true;
  /* what the choices came to holds on the rest of the path */
  for (int i = 0; i < w->n_choices; i++)
    if (w->choice[i]) *facts = ac_sy_assume(&w->y, *facts, w->chosen[i]);
}

static void host_launch(ac_pwalk *w, const path *p, const ac_skstmt *s, const cont *then) {
  if (p->n_launches == MAX_LAUNCHES) {
    w->lost = true;
    return;
  }
  w->forced = 0;
  do {
    path q = *p;
    q.launches = AC_NEW_N(w->k->a, ac_families, MAX_LAUNCHES);
    memcpy(q.launches, p->launches, (size_t)p->n_launches * sizeof *q.launches);
    ac_families *into = &q.launches[q.n_launches++];
    w->n_choices = 0;
    walk_kernel(w, p, s, into, &q.facts);
    if (w->lost) return;
    int n = w->n_choices;
    bool way[AC_PW_CHOICES];
    memcpy(way, w->choice, sizeof way);
    ac_pw_bounds(w, into);
    ac_pw_order(w, into);
    host(w, q, s->next, then);
    while (n > 0 && !way[n - 1]) n--; /* the last choice that was not yet made the other way */
    if (n) way[n - 1] = false;
    w->forced = n;
    memcpy(w->choice, way, sizeof way);
  } while (w->forced && !w->lost);
}

static void host(ac_pwalk *w, path p, const ac_skstmt *s, const cont *then) {
  for (; s && !w->lost; s = s->next) {
    ac_pstate *st = as_state(w, &p);
    switch (s->kind) {
    case AC_SKS_SET: {
      ac_sym *x = value(w, st, s->value);
      p.facts = st->facts;
      p.slot[s->slot] = opaque(w, &p, x);
      continue;
    }
    case AC_SKS_IF: host_branch(w, &p, s, then); return;
    case AC_SKS_FOR:
    case AC_SKS_WHILE: forget_assigned(p.slot, w->k->host->n_slots, s); break;
    case AC_SKS_REFUSE: return;
    case AC_SKS_RETURN: end_of_path(w, &p); return;
    case AC_SKS_LAUNCH: host_launch(w, &p, s, then); return;
    case AC_SKS_EMPTY: {
      ac_sym *n = value(w, st, s->value);
      if (n && w->n_size < AC_PW_SIZES) w->size[w->n_size++] = (ac_psize){s->slot, 0, AC_SK_END, n};
      break;
    }
    default: break;
    }
    p.facts = st->facts;
  }
  if (then)
    host(w, p, then->s, then->next);
  else
    end_of_path(w, &p);
}

static void one_case(ac_pwalk *w) {
  ac_sketch *k = w->k;
  ac_syms_init(&w->y, k->a);
  w->n_size = w->n_ties = w->paths = 0;
  path p = {.slot = AC_NEW_N(k->a, ac_sym *, k->host->n_slots + 1),
            .launches = AC_NEW_N(k->a, ac_families, MAX_LAUNCHES)};
  for (int i = 0; i < k->host->f->n_params; i++)
    if (k->host->f->params[i].type == AC_CT_INT)
      p.slot[i] = ac_pv_fresh(&w->y, k->host->f->params[i].name, INT64_MIN);
  w->start = copy(w, as_state(w, &p), k->host);
  host(w, p, k->host->body, NULL);
}

/* Sizes that are 0 are cases of their own: everywhere else they are at least 1, which makes most minima and maxima go. */
void ac_sk_prove(ac_sketch *k, ac_verdicts *v) {
  ac_pwalk *w = AC_NEW(k->a, ac_pwalk);
  w->k = k;
  w->v = v;
  w->made = "a number that the cores make";
  w->unseen = "a number from memory";
  for (size_t t = 0; t < k->tensors.len; t++)
    for (size_t i = 0; i < k->tensors.data[t].pieces.len && w->n_open < AC_PW_ZERO; i++) {
      ac_skpiece x = k->tensors.data[t].pieces.data[i];
      if (x.from == 0 && x.to == AC_SK_END && asked_for(w, (int)t, -1, AC_SK_END)) x.to = -1; /* as size_of has it */
      bool seen = false;
      for (int j = 0; j < w->n_open; j++)
        seen |= w->open[j].tensor == (int)t && w->open[j].from == x.from && w->open[j].to == x.to;
      if (!seen && k->tensors.data[t].in) w->open[w->n_open++] = (ac_psize){(int)t, x.from, x.to, NULL};
    }
  for (w->zero = w->n_open; w->zero >= 0 && !k->opaque && !w->lost; w->zero--) one_case(w);
  if (!w->lost && !k->opaque) return;
  static const ac_claim walked[] = {AC_CLAIM_OUTPUTS, AC_CLAIM_BOUNDS, AC_CLAIM_ORDER, AC_CLAIM_LOOPS};
  for (size_t i = 0; i < AC_COUNT(walked); i++)
    ac_pw_open(w, walked[i], k->opaque ? k->opaque : "the program has too many ways through it");
}

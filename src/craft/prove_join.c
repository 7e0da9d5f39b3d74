/* Behind an `if`: what its arms have in common. docs/checks.md. */
#include "craft/prove.h"

#include <string.h>

ac_sym *ac_pw_either(ac_pwalk *w, ac_sym *a, const ac_fact *yes, ac_sym *b, const ac_fact *no) {
  if (a == b) return a;
  if (ac_lg_nonneg(&w->y, ac_pw_sub(w, b, a), yes) && ac_lg_nonneg(&w->y, ac_pw_sub(w, a, b), no))
    return ac_sy_fn(&w->y, AC_SY_MIN, a, b);
  if (ac_lg_nonneg(&w->y, ac_pw_sub(w, a, b), yes) && ac_lg_nonneg(&w->y, ac_pw_sub(w, b, a), no))
    return ac_sy_fn(&w->y, AC_SY_MAX, a, b);
  return NULL;
}

static bool asks(const ac_sknode *n, int slot) {
  if (!n) return false;
  return (n->op == AC_SK_VAR && n->i == slot) || asks(n->a, slot) || asks(n->b, slot) || asks(n->c, slot);
}

bool ac_pw_uses(const ac_skstmt *s, int slot) {
  for (; s; s = s->next) {
    const ac_skaccess *a = s->access;
    if (asks(s->value, slot) || asks(s->lo, slot) || asks(s->hi, slot) || asks(s->step, slot)) return true;
    if (a && asks(a->base, slot)) return true;
    for (int d = 0; a && d < a->rank; d++)
      if (asks(a->extent[d], slot) || asks(a->stride[d], slot)) return true;
    if (ac_pw_uses(s->body, slot) || ac_pw_uses(s->orelse, slot)) return true;
  }
  return false;
}

static const ac_fact *common(ac_pwalk *w, const ac_fact *f, const ac_fact *g) {
  const ac_fact *r = NULL;
  for (; f; f = f->next) {
    const ac_fact *h = g;
    while (h && h->p != f->p) h = h->next;
    if (h) r = ac_sy_assume(&w->y, r, f->p);
  }
  return r;
}

/* g with the counters of f for its own, from loop `from` on. False: their loops are not the same. */
static bool same_counters(ac_pwalk *w, const ac_family *f, ac_family *g, int from) {
  ac_syms *y = &w->y;
  if (f->n_loops != g->n_loops) return false;
  for (int i = from; i < f->n_loops; i++) {
    const ac_ploop *a = &f->loop[i], *b = &g->loop[i];
    if (a->lo != b->lo || a->hi != b->hi || a->step != b->step) return false;
    int was = b->atom;
    ac_sym *is = ac_sy_of(y, a->atom);
    const ac_fact *facts = NULL;
    for (const ac_fact *h = g->facts; h; h = h->next) facts = ac_sy_assume(y, facts, ac_lg_put(y, h->p, was, is));
    g->facts = facts;
    g->base = ac_lg_put(y, g->base, was, is);
    g->len = ac_lg_put(y, g->len, was, is);
    for (int k = i; k < g->n_loops; k++) {
      g->loop[k].lo = ac_lg_put(y, g->loop[k].lo, was, is);
      g->loop[k].hi = ac_lg_put(y, g->loop[k].hi, was, is);
      g->loop[k].step = ac_lg_put(y, g->loop[k].step, was, is);
    }
    g->loop[i].atom = a->atom;
  }
  return true;
}

/* It happens whenever its arm is taken. */
static bool always(const ac_family *f, const ac_parm *arm) {
  return f->store && !f->part && !f->some && f->base && f->n_branch == arm->n_branch && f->maybe == arm->maybe;
}

/* What stands for a store of the one arm and one of the other. */
static bool joined(ac_pwalk *w, const ac_family *f, const ac_family *other, const ac_family *before, ac_family *r) {
  ac_family g = *other;
  if (f->tensor != g.tensor || f->atomic != g.atomic || f->epoch != g.epoch || f->epoch_known != g.epoch_known ||
      !same_counters(w, f, &g, before->n_loops) || f->base != g.base)
    return false;
  *r = *f;
  r->len = ac_pw_either(w, f->len, f->facts, g.len, g.facts);
  r->facts = common(w, f->facts, g.facts);
  r->n_branch = before->n_branch;
  r->maybe = before->maybe;
  r->whole = true;
  return r->len != NULL;
}

bool ac_pw_join(ac_pwalk *w, const ac_parm arm[2], const ac_family *before) {
  for (size_t i = arm[0].from; i < arm[0].to; i++)
    for (size_t k = arm[1].from; k < arm[1].to; k++) {
      ac_family *f = &w->into->data[i], *g = &w->into->data[k], both;
      if (!always(f, &arm[0]) || !always(g, &arm[1]) || !joined(w, f, g, before, &both)) continue;
      f->part = g->part = true;
      ac_push(w->k->a, w->into, both);
    }
  for (int side = 0; side < 2; side++)
    for (size_t i = arm[side].from; i < arm[side].to; i++)
      if (arm[side].loose && w->into->data[i].store && !w->into->data[i].part) return false;
  return true;
}

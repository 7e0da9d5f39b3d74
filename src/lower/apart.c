/* Of a tensor that a kernel loads and stores: does every trip of its loop touch a part of its own?
 *
 * Then nothing that a trip loads was stored by another, and the copies of two trips may overlap. It is so where all its copies stand in
 * one loop, `for v in lo .. hi step s`, each of one row at `v + invariant` that is no longer than s. Inside a trip what is loaded before
 * it is stored is ordered by the vector unit, which waits for the load (DeQue, or the flag after it) before it hands on what is stored. */
#include "lower/internal.h"

#include <string.h>

enum { MAX_STEPS = 512 };
typedef struct {
  ac_arena *a;
  const ac_akernel *k;
  int gm;
  const ac_astmt *loop;
  bool in_branch, ok;
  AC_VEC(const ac_astmt *) steps; /* of a trip, methods inlined, in order */
  ac_strvec set;                  /* names that a trip gives values */
} apart;

static bool touches(const apart *p, const ac_ablock *b, int depth) {
  for (size_t i = 0; i < b->len; i++) {
    const ac_astmt *s = b->data[i];
    if (s->kind == AC_AS_COPY && s->copy->gm == p->gm) return true;
    if (s->kind == AC_AS_GETVALUE && !s->n_ops && s->gm == p->gm) return true;
    if (s->kind == AC_AS_CALL && depth < 8 && touches(p, &p->k->methods.data[s->method].body, depth + 1)) return true;
    if (touches(p, &s->body, depth) || touches(p, &s->orelse, depth)) return true;
  }
  return false;
}

/* The one statement of a list that touches the tensor, or NULL. */
static const ac_astmt *only(const apart *p, const ac_ablock *b) {
  const ac_astmt *found = NULL;
  for (size_t i = 0; i < b->len; i++) {
    ac_ablock one = {.data = &b->data[i], .len = 1};
    if (!touches(p, &one, 0)) continue;
    if (found) return NULL;
    found = b->data[i];
  }
  return found;
}

static void flatten(apart *p, const ac_ablock *b, int depth) {
  for (size_t i = 0; i < b->len && p->ok; i++) {
    const ac_astmt *s = b->data[i];
    bool sets = s->kind == AC_AS_DECL || s->kind == AC_AS_ASSIGN || s->kind == AC_AS_GETVALUE || s->kind == AC_AS_FOR;
    if (sets && s->var.name) ac_push(p->a, &p->set, s->var.name);
    if (s->kind == AC_AS_CALL) {
      const ac_amethod *m = &p->k->methods.data[s->method];
      /* scalars reach a method under their own names */
      for (int j = 0; j < s->n_args; j++)
        p->ok = p->ok && s->args[j]->kind == AC_AE_VAR && !strcmp(s->args[j]->name, m->params.data[j].name);
      p->ok = p->ok && depth < 8;
      if (p->ok) flatten(p, &m->body, depth + 1);
      continue;
    }
    if (s->body.len || s->orelse.len) {
      if (touches(p, &s->body, depth) || touches(p, &s->orelse, depth)) p->ok = false;
      flatten(p, &s->body, depth);
      flatten(p, &s->orelse, depth);
      continue;
    }
    ac_push(p->a, &p->steps, s);
    if (p->steps.len > MAX_STEPS) p->ok = false;
  }
}

static bool invariant(const apart *p, const ac_aexpr *e) {
  if (ac_ae_mentions(e, p->loop->var.name)) return false;
  for (size_t i = 0; i < p->set.len; i++)
    if (ac_ae_mentions(e, p->set.data[i])) return false;
  return true;
}

/* v + invariant */
static bool one_a_step(const apart *p, const ac_aexpr *e) {
  if (!e) return false;
  if (e->kind == AC_AE_VAR) return !strcmp(e->name, p->loop->var.name);
  if (e->kind != AC_AE_ADD) return false;
  return (one_a_step(p, e->a) && invariant(p, e->b)) || (invariant(p, e->a) && one_a_step(p, e->b));
}

static bool at_most_step(const apart *p, const ac_aexpr *e) {
  if (ac_ae_equal(e, p->loop->step)) return true;
  return e->kind == AC_AE_MIN && (at_most_step(p, e->a) || at_most_step(p, e->b));
}

static bool is_copy(const apart *p, const ac_astmt *s, bool to_ub) {
  return s->kind == AC_AS_COPY && s->copy->gm == p->gm && s->copy->to_ub == to_ub;
}

/* Between the load at i and the store at j the vector unit waits for the one and lets the other go. */
static bool ordered(const apart *p, size_t i, size_t j) {
  const ac_acopy *in = p->steps.data[i]->copy, *out = p->steps.data[j]->copy;
  bool waited = p->k->buffers.data[in->ub->buffer].sync, flags = p->k->buffers.data[out->ub->buffer].sync;
  if (p->k->buffers.data[in->ub->buffer].mem == AC_MEM_BIND) return in->ub == out->ub;
  for (size_t n = i + 1; n < j; n++) {
    const ac_astmt *s = p->steps.data[n];
    if (s->kind == AC_AS_DEQUE && s->tensor == in->ub) waited = true;
    bool hands = p->k->buffers.data[out->ub->buffer].mem != AC_MEM_UPDATE || s->outward;
    if (waited && s->kind == AC_AS_ENQUE && s->tensor == out->ub && hands) return true;
  }
  return waited && flags;
}

static bool order_in_a_trip(const apart *p) {
  bool stored = false;
  for (size_t i = 0; i < p->steps.len; i++) {
    const ac_astmt *s = p->steps.data[i];
    stored |= is_copy(p, s, false);
    if (!is_copy(p, s, true)) continue;
    if (stored) return false; /* a load of what the trip itself stored */
    for (size_t j = i + 1; j < p->steps.len; j++)
      if (is_copy(p, p->steps.data[j], false) && !ordered(p, i, j)) return false;
  }
  return true;
}

bool ac_lower_apart(ac_arena *a, const ac_akernel *k, int gm) {
  apart p = {.a = a, .k = k, .gm = gm, .ok = true};
  const ac_astmt *s = only(&p, &k->methods.data[0].body);
  if (!s || s->kind != AC_AS_FOR || !s->step) return false;
  p.loop = s;
  flatten(&p, &s->body, 0);
  if (!p.ok || !invariant(&p, s->step)) return false;
  const ac_aexpr *at = NULL;
  for (size_t i = 0; i < p.steps.len; i++) {
    const ac_astmt *x = p.steps.data[i];
    if (x->kind == AC_AS_GETVALUE && !x->n_ops && x->gm == gm) return false;
    if (x->kind != AC_AS_COPY || x->copy->gm != gm) continue;
    const ac_acopy *c = x->copy;
    if (c->rank || c->rows || c->by_element || !one_a_step(&p, c->gm_offset) || !at_most_step(&p, c->cols))
      return false;
    if (at && !ac_ae_equal(at, c->gm_offset)) return false;
    at = c->gm_offset;
  }
  return at && order_in_a_trip(&p);
}

/* What follows from the accesses of the launches for each claim: copies stay inside of their tensors, outputs are written whole and once, and no
 * block reads what another stores. docs/checks.md. */
#include "craft/prove.h"

#include <string.h>

static bool inside(ac_pwalk *w, const ac_family *f, ac_sym *n) {
  ac_syms *y = &w->y;
  ac_family g = *f;
  if (ac_pv_void(&w->y, &g)) return true;
  if (!f->base) return false;
  const ac_fact *facts = ac_sy_assume(&w->y, f->facts, ac_pw_sub(w, f->len, ac_pw_int(w, 1)));
  for (int i = 0; i < f->n_loops; i++) { /* a counter is its start and a whole number of steps */
    int64_t step;
    if (!ac_sy_const(f->loop[i].step, &step) || step < 2) continue;
    ac_sym *trips = ac_sy_mul(y, ac_pv_fresh(y, "trips", 0), f->loop[i].step);
    ac_sym *more = ac_pw_sub(w, ac_pw_sub(w, ac_sy_of(y, f->loop[i].atom), f->loop[i].lo), trips);
    facts = ac_sy_assume(y, ac_sy_assume(y, facts, more), ac_pw_sub(w, ac_pw_int(w, 0), more));
  }
  if (ac_lg_nonneg(y, f->base, facts) && ac_lg_nonneg(y, ac_pw_sub(w, n, ac_pw_add(w, f->base, f->len)), facts))
    return true;
  int tries = 150;
  return ac_pv_take_away(&w->y, &g, true, -1, &tries) && ac_lg_nonneg(y, g.base, g.facts) &&
         ac_lg_nonneg(y, ac_pw_sub(w, n, ac_pw_add(w, g.base, g.len)), g.facts);
}

/* Of an input whose size the host function does not ask for nothing is known but what is loaded of it. */
static void taken_as_long(ac_pwalk *w, const ac_sktensor *x) {
  const char **given = &w->v->given[AC_CLAIM_BOUNDS];
  const char *name = ac_sprintf(w->k->a, "'%s'", x->name);
  if (!*given)
    *given = ac_sprintf(
        w->k->a, "the host function asks nothing of the size of %s: it is taken to have all that is loaded", name);
  else if (!strstr(*given, name))
    *given = ac_sprintf(w->k->a, "%s; nor of %s", *given, name);
}

void ac_pw_bounds(ac_pwalk *w, ac_families *all) {
  for (size_t i = 0; i < all->len; i++) {
    const ac_family *f = &all->data[i];
    if (f->whole) continue;
    const ac_sktensor *x = &w->k->tensors.data[f->tensor];
    bool sized = x->asked || x->workspace || x->declared;
    ac_sym *n = sized ? ac_pw_total(w, f->tensor) : NULL;
    if (!sized && x->in) taken_as_long(w, x);
    if (sized && (!n || !inside(w, f, n)))
      ac_pw_open(w, AC_CLAIM_BOUNDS,
                 ac_sprintf(w->k->a, "that the copy in line %d stays inside of '%s'%s", f->s->loc.line, x->name,
                            f->some ? ": where it goes is data" : ""));
  }
}

/* The intervals, in any order, from 0 on without a gap, to the end. */
static bool link_up(ac_pwalk *w, ac_families *all, int t, ac_sym *n, const ac_fact *facts) {
  ac_sym *at = ac_pw_int(w, 0);
  bool *used = AC_NEW_N(w->k->a, bool, all->len + 1);
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < all->len; i++) {
      const ac_family *f = &all->data[i];
      if (f->tensor != t || used[i] || !ac_lg_equal(&w->y, f->base, at, f->facts)) continue;
      used[i] = more = true;
      at = ac_pw_add(w, f->base, f->len);
      break;
    }
  }
  for (size_t i = 0; i < all->len; i++)
    if (all->data[i].tensor == t && !used[i] &&
        !ac_lg_nonneg(&w->y, ac_pw_sub(w, ac_pw_int(w, 0), all->data[i].len), all->data[i].facts))
      return false;
  return !n || ac_lg_equal(&w->y, at, n, facts);
}

/* Of the stores to a tensor in one launch: the families without loops. */
static bool store_intervals(ac_pwalk *w, const ac_families *all, int t, bool gaps, ac_families *to,
                            const char **why) {
  for (size_t i = 0; i < all->len; i++) {
    ac_family f = all->data[i];
    int tries = 120;
    if (f.tensor != t || !f.store || f.part) continue;
    *why = ac_sprintf(w->k->a, "line %d", f.s->loc.line);
    if (ac_pv_void(&w->y, &f)) continue;
    if (!f.base || f.maybe || f.some || !ac_pv_take_away(&w->y, &f, gaps, -1, &tries) || f.n_branch) return false;
    ac_push(w->k->a, to, f);
  }
  return true;
}

void ac_pw_outputs(ac_pwalk *w, ac_families *launches, int n_launches, const ac_fact *facts) {
  for (size_t t = 0; t < w->k->tensors.len; t++) {
    const ac_sktensor *x = &w->k->tensors.data[t];
    if (!x->out || x->in || x->workspace) continue;
    const char *why = "no launch";
    ac_families together = {0};
    bool done = !n_launches && link_up(w, &together, (int)t, ac_pw_total(w, (int)t), facts);
    bool all = true;
    for (int i = 0; i < n_launches && !done; i++) {
      ac_families one_launch = {0};
      bool ok = store_intervals(w, &launches[i], (int)t, false, &one_launch, &why);
      done = ok && link_up(w, &one_launch, (int)t, ac_pw_total(w, (int)t), facts);
      for (size_t k = 0; k < one_launch.len; k++) ac_push(w->k->a, &together, one_launch.data[k]);
      for (size_t k = 0; !ok && k < launches[i].len; k++)
        all = all && !(launches[i].data[k].store && launches[i].data[k].tensor == (int)t);
    }
    if (!done && all && n_launches > 1) done = link_up(w, &together, (int)t, ac_pw_total(w, (int)t), facts);
    if (!done)
      ac_pw_open(w, AC_CLAIM_OUTPUTS,
                 ac_sprintf(w->k->a, "that every element of '%s' is written, by one block (%s)", x->name, why));
  }
}

/* Blocks: what one stores no other stores, and what one reads no other stores, unless a barrier is between. */
static bool own_range(ac_pwalk *w, const ac_family *load, const ac_family *store) {
  ac_family f = *store, g = *load;
  int tries = 40, more = 40, pid = w->pid->t[0].atom[0];
  if (!f.base || f.some || !g.base || !ac_pv_take_away(&w->y, &f, true, pid, &tries) ||
      !ac_pv_take_away(&w->y, &g, true, pid, &more))
    return false;
  ac_family whole = f;
  tries = 10;
  if (f.n_loops && !ac_pv_take_away(&w->y, &whole, true, -1, &tries)) return false;
  const ac_fact *facts = g.facts;
  for (const ac_fact *h = f.facts; h; h = h->next) /* what is known of data at the store is another trip's */
    if (!ac_pw_data(w, h->p)) facts = ac_sy_assume(&w->y, facts, h->p);
  return ac_lg_nonneg(&w->y, ac_pw_sub(w, g.base, f.base), facts) &&
         ac_lg_nonneg(&w->y, ac_pw_sub(w, ac_pw_add(w, f.base, f.len), ac_pw_add(w, g.base, g.len)), facts);
}

static bool ordered(ac_pwalk *w, const ac_families *all, int t) {
  for (size_t i = 0; i < all->len; i++)
    for (size_t k = 0; k < all->len; k++) {
      const ac_family *a = &all->data[i], *b = &all->data[k];
      if (a->tensor != t || b->tensor != t || !a->store || b->store || a->part) continue;
      bool apart = a->epoch_known && b->epoch_known && a->epoch != b->epoch;
      if (!apart && !own_range(w, b, a)) return false;
    }
  return true;
}

void ac_pw_order(ac_pwalk *w, const ac_families *all) {
  for (size_t t = 0; t < w->k->tensors.len; t++) {
    const ac_sktensor *x = &w->k->tensors.data[t];
    bool stores = false, loads = false, add = true;
    for (size_t i = 0; i < all->len; i++)
      if (all->data[i].tensor == (int)t) {
        stores |= all->data[i].store;
        loads |= !all->data[i].store;
        add &= all->data[i].atomic || !all->data[i].store;
      }
    if (stores && loads && !ordered(w, all, (int)t))
      ac_pw_open(w, AC_CLAIM_ORDER,
                 ac_sprintf(w->k->a, "that no block reads of '%s' what another stores in the same launch", x->name));
    bool output = x->out && !x->in && !x->workspace; /* these are looked at as outputs */
    ac_families one_launch = {0};
    const char *why = "";
    if (stores && !output && !add && !store_intervals(w, all, (int)t, true, &one_launch, &why))
      ac_pw_open(w, AC_CLAIM_ORDER,
                 ac_sprintf(w->k->a, "that no two blocks store to the same elements of '%s' (%s)", x->name, why));
  }
}

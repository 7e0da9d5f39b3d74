/* Taking loops away from families of intervals. */
#include "craft/family.h"

#include <string.h>

static const ac_fact *without(ac_syms *y, const ac_fact *f, int atom) {
  const ac_fact *r = NULL;
  for (; f; f = f->next)
    if (!ac_lg_has(y, f->p, atom)) r = ac_sy_assume(y, r, f->p);
  return r;
}

/* Minima and maxima (in which atom `with` occurs, if that is >= 0) that the facts decide; inner ones first. */
static ac_sym *tidy(ac_syms *y, ac_sym *x, int with, const ac_fact *f) {
  for (int skip = 0, round = 0; round < 8; round++) {
    int at = ac_lg_min_max(y, x, with, skip);
    if (at < 0) return x;
    const ac_satom a = y->atoms.data[at];
    bool min = a.fn == AC_SY_MIN;
    ac_sym *p = tidy(y, a.a, with, f), *q = tidy(y, a.b, with, f), *is = NULL;
    if (ac_lg_nonneg(y, ac_sy_sub(y, q, p), f))
      is = min ? p : q;
    else if (ac_lg_nonneg(y, ac_sy_sub(y, p, q), f))
      is = min ? q : p;
    else
      skip++;
    if (!is && p == a.a && q == a.b) continue;
    x = ac_lg_put(y, x, at, is ? is : ac_sy_fn(y, a.fn, p, q));
  }
  return x;
}

/* p = slope * atom + rest, neither of which speaks of the atom. */
static bool linear(ac_syms *y, ac_sym *p, int atom, ac_sym **slope, ac_sym **rest) {
  ac_sym *one_ = ac_sy_int(y, 1), *zero = ac_sy_int(y, 0);
  *rest = ac_lg_put(y, p, atom, zero);
  *slope = ac_sy_sub(y, ac_lg_put(y, p, atom, one_), *rest);
  return !ac_lg_has(y, *slope, atom) &&
         ac_sy_sub(y, p, ac_sy_add(y, ac_sy_mul(y, *slope, ac_sy_of(y, atom)), *rest)) == zero;
}

/* Conditions on the counter become bounds of the loop. */
static bool restrict_loop(ac_syms *y, ac_family *f, ac_ploop *l) {
  int n = 0;
  ac_sym *zero = ac_sy_int(y, 0), *one_ = ac_sy_int(y, 1), *slope, *rest;
  for (int i = 0; i < f->n_branch; i++) {
    ac_sym *p = f->branch[i];
    if (!ac_lg_has(y, p, l->atom)) {
      f->branch[n++] = p;
      continue;
    }
    if (!linear(y, p, l->atom, &slope, &rest)) return false;
    const ac_fact *facts = without(y, f->facts, l->atom);
    if (ac_lg_nonneg(y, ac_sy_sub(y, slope, one_), facts)) {
      if (l->step != one_) return false;
      rest = ac_sy_sub(y, zero, rest);
      l->lo = ac_sy_fn(y, AC_SY_MAX, l->lo, slope == one_ ? rest : ac_sy_fn(y, AC_SY_CDIV, rest, slope));
    } else if (ac_lg_nonneg(y, ac_sy_sub(y, ac_sy_sub(y, zero, slope), one_), facts)) {
      slope = ac_sy_sub(y, zero, slope);
      ac_sym *last = slope == one_ ? rest : ac_sy_fn(y, AC_SY_FLOORDIV, rest, slope);
      l->hi = ac_sy_fn(y, AC_SY_MIN, l->hi, ac_sy_add(y, last, one_));
    } else {
      return false;
    }
  }
  f->n_branch = n;
  return true;
}

static void forget_loop(ac_syms *y, ac_family *f, int at) {
  f->facts = without(y, f->facts, f->loop[at].atom);
  memmove(&f->loop[at], &f->loop[at + 1], (size_t)(f->n_loops - 1 - at) * sizeof f->loop[0]);
  f->n_loops--;
}

/* What is proved of a loop whose counter is v: trips v, and v and its successor. */
typedef struct {
  ac_ploop l;
  ac_sym *v, *end, *next, *next_end;        /* of trip v; where trip v + step begins and ends */
  const ac_fact *outer, *trip, *two, *last; /* without v; of a trip; of one that is not the last; of the last */
} looped;

static bool look_at(ac_syms *y, ac_family *f, int at, looped *x) {
  ac_sym *one_ = ac_sy_int(y, 1);
  x->l = f->loop[at];
  if (!restrict_loop(y, f, &x->l)) return false;
  x->outer = without(y, f->facts, x->l.atom);
  x->l.lo = tidy(y, x->l.lo, -1, x->outer);
  x->l.hi = tidy(y, x->l.hi, -1, x->outer);
  x->v = ac_sy_of(y, x->l.atom);
  ac_sym *left = ac_sy_sub(y, ac_sy_sub(y, x->l.hi, one_), x->v), *then = ac_sy_add(y, x->v, x->l.step);
  x->trip = ac_sy_assume(y, ac_sy_assume(y, f->facts, ac_sy_sub(y, x->v, x->l.lo)), left);
  x->two = ac_sy_assume(y, x->trip, ac_sy_sub(y, left, x->l.step));
  x->last = ac_sy_assume(y, x->trip, ac_sy_sub(y, then, x->l.hi));
  x->end = ac_sy_add(y, f->base, f->len);
  x->next = ac_lg_put(y, f->base, x->l.atom, then);
  x->next_end = ac_lg_put(y, x->end, x->l.atom, then);
  return ac_lg_nonneg(y, f->len, x->trip);
}

/* [first, end), or nothing where the loop makes no trip. */
static bool close_loop(ac_syms *y, ac_family *f, int at, const looped *x, ac_sym *end, bool sure) {
  ac_sym *first = tidy(y, ac_lg_put(y, f->base, x->l.atom, x->l.lo), -1, x->outer);
  end = tidy(y, end, -1, x->outer);
  if (!sure) {
    const ac_fact *none = ac_sy_assume(y, x->outer, ac_sy_sub(y, x->l.lo, x->l.hi));
    if (!ac_lg_nonneg(y, ac_sy_sub(y, first, end), none)) return false;
    if (!ac_lg_nonneg(y, ac_sy_sub(y, end, first), x->outer)) end = ac_sy_fn(y, AC_SY_MAX, first, end);
  }
  f->base = first;
  f->len = ac_sy_sub(y, end, first);
  forget_loop(y, f, at);
  return true;
}

/* Trips from some point on do nothing: those before follow each other, and the last of them ends where a bound is that knows no counter. */
static bool chain_idle(ac_syms *y, ac_family *f, int at, const looped *x, bool sure) {
  ac_sym *one_ = ac_sy_int(y, 1), *next_len = ac_sy_sub(y, x->next_end, x->next);
  const ac_fact *next_works = ac_sy_assume(y, x->two, ac_sy_sub(y, next_len, one_));
  if (!ac_lg_equal(y, x->next, x->end, next_works) || !ac_lg_nonneg(y, ac_sy_sub(y, f->len, one_), next_works))
    return false;
  const ac_fact *works = ac_sy_assume(y, x->trip, ac_sy_sub(y, f->len, one_));
  const ac_fact *then_idle =
      ac_sy_assume(y, ac_sy_assume(y, x->two, ac_sy_sub(y, f->len, one_)), ac_sy_sub(y, ac_sy_int(y, 0), next_len));
  const ac_fact *then_over = ac_sy_assume(y, x->last, ac_sy_sub(y, f->len, one_));
  ac_sym *end = tidy(y, tidy(y, x->end, x->l.atom, works), x->l.atom, then_idle);
  if (ac_lg_has(y, end, x->l.atom) || !ac_lg_equal(y, x->end, end, then_over)) return false;
  ac_sym *first = ac_lg_put(y, f->base, x->l.atom, x->l.lo), *first_len = ac_lg_put(y, f->len, x->l.atom, x->l.lo);
  if (!ac_lg_nonneg(y, ac_sy_sub(y, first, end), ac_sy_assume(y, x->outer, ac_sy_sub(y, ac_sy_int(y, 0), first_len))))
    return false;
  return close_loop(y, f, at, x, ac_sy_fn(y, AC_SY_MAX, first, end), sure);
}

/* Takes the loop away if each trip's interval ends where the next one's begins (gaps: or before). */
static bool chain(ac_syms *y, ac_family *f, int at, bool gaps) {
  looped x;
  if (!look_at(y, f, at, &x)) return false;
  ac_sym *one_ = ac_sy_int(y, 1), *end = x.end;
  bool sure = ac_lg_nonneg(y, ac_sy_sub(y, ac_sy_sub(y, x.l.hi, x.l.lo), one_), x.outer);
  bool once = ac_lg_nonneg(y, ac_sy_sub(y, ac_sy_add(y, x.l.lo, x.l.step), x.l.hi), x.outer);
  if (!once) {
    ac_sym *gap = ac_sy_sub(y, x.next, end);
    bool before = ac_lg_nonneg(y, gap, x.two);
    if (!before) return false;
    if (!gaps && !ac_lg_nonneg(y, ac_sy_sub(y, ac_sy_int(y, 0), gap), x.two)) return chain_idle(y, f, at, &x, sure);
  }
  if (once || x.l.step == one_) {
    end = ac_lg_put(y, end, x.l.atom, once ? x.l.lo : ac_sy_sub(y, x.l.hi, one_));
  } else {
    end = tidy(y, end, x.l.atom, x.last);
    if (ac_lg_has(y, end, x.l.atom)) return false;
  }
  return close_loop(y, f, at, &x, end, sure);
}

static bool bounds_speak_of(ac_syms *y, const ac_family *f, int at) {
  int atom = f->loop[at].atom;
  for (int i = 0; i < f->n_loops; i++)
    if (i != at && (ac_lg_has(y, f->loop[i].lo, atom) || ac_lg_has(y, f->loop[i].hi, atom) ||
                    ac_lg_has(y, f->loop[i].step, atom)))
      return true;
  return false;
}

/* `for i in range(block * c, end, blocks * c)`: together the blocks take every c-th. */
static bool deal(ac_syms *y, const ac_family *f, const ac_ploop *out, ac_ploop *in) {
  ac_sym *zero = ac_sy_int(y, 0), *one_ = ac_sy_int(y, 1), *c, *first;
  if (out->lo != zero || out->step != one_ || ac_lg_has(y, in->hi, out->atom)) return false;
  if (!linear(y, in->lo, out->atom, &c, &first) || in->step != ac_sy_mul(y, c, out->hi)) return false;
  if (!ac_lg_nonneg(y, ac_sy_sub(y, c, one_), without(y, f->facts, in->atom))) return false;
  in->lo = first;
  in->step = c;
  return true;
}

/* Two loops as one: the ranges of the inner, one for each trip of the outer, follow each other without a gap. */
static bool join_loops(ac_syms *y, ac_family *f, int out, int in) {
  ac_ploop l = f->loop[in];
  ac_family ranges = *f;
  if (ac_lg_has(y, f->base, f->loop[out].atom) || ac_lg_has(y, f->len, f->loop[out].atom)) return false;
  for (int i = 0; i < f->n_loops; i++)
    if (i != in && i != out &&
        (ac_lg_has(y, f->loop[i].lo, f->loop[out].atom) || ac_lg_has(y, f->loop[i].hi, f->loop[out].atom)))
      return false;
  for (int i = 0; i < f->n_branch; i++)
    if (ac_lg_has(y, f->branch[i], f->loop[out].atom)) return false;
  ac_ploop o = f->loop[out];
  if (deal(y, f, &o, &l)) {
    f->loop[in] = l;
    forget_loop(y, f, out);
    return true;
  }
  if (l.step != ac_sy_int(y, 1)) return false;
  ranges.loop[0] = f->loop[out];
  ranges.n_loops = 1;
  ranges.n_branch = 0;
  for (int i = 0; i < f->n_loops; i++)
    if (i != out) ranges.facts = without(y, ranges.facts, f->loop[i].atom);
  ranges.base = l.lo;
  ac_sym *length = ac_sy_sub(y, l.hi, l.lo);
  ranges.len =
      ac_lg_nonneg(y, length, ranges.facts) ? length : ac_sy_sub(y, ac_sy_fn(y, AC_SY_MAX, l.lo, l.hi), l.lo);
  if (!chain(y, &ranges, 0, false)) return false;
  f->loop[in].lo = ranges.base;
  f->loop[in].hi = ac_sy_add(y, ranges.base, ranges.len);
  ac_sym *v = ac_sy_of(y, l.atom);
  f->facts = ac_sy_assume(y, ac_sy_assume(y, f->facts, ac_sy_sub(y, v, f->loop[in].lo)),
                          ac_sy_sub(y, ac_sy_sub(y, f->loop[in].hi, v), ac_sy_int(y, 1)));
  forget_loop(y, f, out);
  return true;
}

/* The divisor of a quotient of the counter itself, v // d: the loop is two, of v // d and of v % d. */
static ac_sym *divisor(ac_syms *y, const ac_sym *x, int atom, int *quotient) {
  for (int i = 0; i < x->n; i++)
    for (int j = 0; j < x->t[i].k; j++) {
      const ac_satom a = y->atoms.data[x->t[i].atom[j]];
      if (a.fn == AC_SY_FLOORDIV && ac_sy_is_atom(a.a, atom)) return *quotient = x->t[i].atom[j], a.b;
      ac_sym *in = a.fn == AC_SY_OPAQUE ? NULL : divisor(y, a.a, atom, quotient);
      if (!in && a.fn != AC_SY_OPAQUE) in = divisor(y, a.b, atom, quotient);
      if (in) return in;
    }
  return NULL;
}

static ac_sym *put_split(ac_syms *y, ac_sym *x, int quotient, ac_sym *q, int atom, ac_sym *v) {
  return ac_lg_put(y, ac_lg_put(y, x, quotient, q), atom, v);
}

static bool split_loop(ac_syms *y, ac_family *f, int at) {
  ac_ploop l = f->loop[at];
  int quotient = -1;
  ac_sym *zero = ac_sy_int(y, 0), *one_ = ac_sy_int(y, 1), *d = divisor(y, f->base, l.atom, &quotient);
  if (!d) d = divisor(y, f->len, l.atom, &quotient);
  if (!d || l.lo != zero || l.step != one_ || f->n_loops == AC_PV_LOOPS) return false;
  for (int i = 0; i < f->n_branch; i++)
    if (ac_lg_has(y, f->branch[i], l.atom)) return false;
  const ac_fact *outer = without(y, f->facts, l.atom);
  ac_sym *trips = ac_sy_divide(y, l.hi, d);
  if (!trips || !ac_lg_nonneg(y, ac_sy_sub(y, d, one_), outer)) return false;
  ac_sym *q = ac_pv_fresh(y, "q", 0), *r = ac_pv_fresh(y, "r", 0), *v = ac_sy_add(y, ac_sy_mul(y, q, d), r);
  f->base = put_split(y, f->base, quotient, q, l.atom, v);
  f->len = put_split(y, f->len, quotient, q, l.atom, v);
  for (int i = 0; i < f->n_loops; i++) {
    f->loop[i].lo = put_split(y, f->loop[i].lo, quotient, q, l.atom, v);
    f->loop[i].hi = put_split(y, f->loop[i].hi, quotient, q, l.atom, v);
  }
  const ac_fact *facts = NULL;
  for (const ac_fact *g = f->facts; g; g = g->next)
    facts = ac_sy_assume(y, facts, put_split(y, g->p, quotient, q, l.atom, v));
  facts = ac_sy_assume(y, ac_sy_assume(y, facts, ac_sy_sub(y, ac_sy_sub(y, trips, one_), q)),
                       ac_sy_sub(y, ac_sy_sub(y, d, one_), r));
  f->facts = facts;
  f->loop[at] = (ac_ploop){q->t[0].atom[0], zero, trips, one_};
  f->loop[f->n_loops++] = (ac_ploop){r->t[0].atom[0], zero, d, one_};
  return true;
}

/* There is nothing in it: the facts contradict each other, or a loop makes no trip. */
bool ac_pv_void(ac_syms *y, ac_family *f) {
  bool none = ac_lg_nonneg(y, ac_sy_int(y, -1), f->facts);
  for (int i = 0; !none && i < f->n_loops; i++) {
    int64_t c;
    none = ac_sy_const(ac_sy_sub(y, f->loop[i].lo, f->loop[i].hi), &c) && c >= 0;
  }
  if (!none) return false;
  f->base = f->len = ac_sy_int(y, 0);
  f->n_loops = f->n_branch = 0;
  f->facts = NULL;
  return true;
}

/* Takes all loops away but that of atom `but` (-1: all). */
bool ac_pv_take_away(ac_syms *y, ac_family *f, bool gaps, int but, int *tries) {
  int left = 0;
  for (int i = 0; i < f->n_loops; i++) left += f->loop[i].atom != but;
  if (!left) return true;
  for (int i = f->n_loops - 1; i >= 0 && --*tries >= 0; i--) {
    ac_family g = *f;
    if (f->loop[i].atom == but || bounds_speak_of(y, f, i) || !chain(y, &g, i, gaps)) continue;
    if (!ac_pv_take_away(y, &g, gaps, but, tries)) continue;
    *f = g;
    return true;
  }
  for (int out = 0; but < 0 && out < f->n_loops; out++)
    for (int in = out + 1; in < f->n_loops && --*tries >= 0; in++) {
      ac_family g = *f;
      if (!ac_lg_has(y, f->loop[in].lo, f->loop[out].atom) || !join_loops(y, &g, out, in)) continue;
      if (!ac_pv_take_away(y, &g, gaps, but, tries)) continue;
      *f = g;
      return true;
    }
  for (int i = 0; i < f->n_loops && --*tries >= 0; i++) {
    ac_family g = *f;
    if (!split_loop(y, &g, i) || !ac_pv_take_away(y, &g, gaps, but, tries)) continue;
    *f = g;
    return true;
  }
  return false;
}

/* Families of intervals, and how loops around them are taken away. Private to craft; docs/checks.md. */
#ifndef AC_CRAFT_FAMILY_H
#define AC_CRAFT_FAMILY_H

#include "craft/logic.h"
#include "craft/sketch.h"

enum { AC_PV_LOOPS = 10, AC_PV_BRANCHES = 12 };

typedef struct {
  int atom;
  ac_sym *lo, *hi, *step;
} ac_ploop;

/* An access, or what is left of it: [base, base + len) for every trip of the loops. */
typedef struct {
  int tensor;
  bool store, atomic;
  int maybe;          /* on how many values it depends whether it happens at all */
  bool some;          /* not all of it is touched, as values will have it */
  ac_sym *base, *len; /* NULL: not known */
  ac_ploop loop[AC_PV_LOOPS];
  int n_loops;
  const ac_fact *facts;
  ac_sym *branch[AC_PV_BRANCHES]; /* conditions of this path that speak of loops */
  int n_branch;
  int epoch;
  bool epoch_known;
  const ac_skstmt *s;
  bool whole; /* stands for stores of both arms of an `if`; stays inside where they do */
  bool part;  /* one of those: what is written is looked at in the other */
} ac_family;

/* A new unknown that is at least lo. */
static inline ac_sym *ac_pv_fresh(ac_syms *y, const char *label, int64_t lo) {
  ac_sym *x = ac_sy_fresh(y, label);
  ac_sy_atom(y, x)->lo = lo;
  return x;
}

/* Makes the family one interval that depends on the counter of atom `but` alone (-1: on none): each trip's interval ends where the next one's
 * begins, or before (gaps). tries: steps that the search may take. */
bool ac_pv_take_away(ac_syms *y, ac_family *f, bool gaps, int but, int *tries);
/* There is nothing in it; then it is [0, 0) from here on. */
bool ac_pv_void(ac_syms *y, ac_family *f);

/* unknowns.c */
bool ac_pv_mentions(ac_syms *y, const ac_sym *x, const char *label); /* an unknown with this label, anywhere in x */
/* The same; whether others are in it as well, and how deep functions nest. */
bool ac_pv_of_label(ac_syms *y, const ac_sym *x, const char *label, bool *others, int *depth);
ac_sym *ac_pv_quotient_by(ac_syms *y, const ac_sym *x, const ac_sym *by); /* a cdiv(a, by) in x; NULL: none */

#endif

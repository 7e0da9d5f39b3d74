/* A prover for inequalities between symbolic integers: what sym.c's own prover cannot see (products, choices of a minimum). Private to craft. */
#ifndef AC_CRAFT_LOGIC_H
#define AC_CRAFT_LOGIC_H

#include "craft/sym.h"

/* goal >= 0 wherever all facts hold. False: not shown. */
bool ac_lg_nonneg(ac_syms *s, ac_sym *goal, const ac_fact *facts);
bool ac_lg_equal(ac_syms *s, ac_sym *x, ac_sym *y, const ac_fact *facts);
/* x with an atom replaced, inside of min, max, quotients too. */
ac_sym *ac_lg_put(ac_syms *s, ac_sym *x, int atom, ac_sym *by);
bool ac_lg_has(ac_syms *s, const ac_sym *x, int atom);
/* The minimum or maximum that is a factor of x (in which atom `with` occurs, if that is >= 0), after `skip` others; -1: no more. */
int ac_lg_min_max(ac_syms *s, const ac_sym *x, int with, int skip);

#endif

/* The walk of a proof for all shapes, and what its files share. Private to craft; docs/checks.md. */
#ifndef AC_CRAFT_PROVE_H
#define AC_CRAFT_PROVE_H

#include "craft/family.h"

enum { AC_PW_CHOICES = 6, AC_PW_SIZES = 24, AC_PW_TIES = 8, AC_PW_ZERO = 4 };

typedef AC_VEC(ac_family) ac_families;
typedef struct ac_pstate ac_pstate; /* what is known at a statement; prove.c */

typedef struct {
  int tensor, from, to;
  ac_sym *is;
} ac_psize;

typedef struct {
  ac_sketch *k;
  ac_syms y;
  ac_verdicts *v;
  ac_psize
      open[AC_PW_ZERO]; /* sizes: those before `zero` are at least 1, that is 0, of those behind nothing is assumed */
  int n_open, zero;
  ac_psize size[AC_PW_SIZES]; /* what the host's conditions made of sizes */
  int n_size;
  int tie_of[AC_PW_TIES], n_ties; /* unknowns that equal an expression */
  ac_sym *tie[AC_PW_TIES];
  int paths;
  ac_pstate *start;   /* of the host: its parameters */
  const char *made;   /* label of what the number of cores made */
  const char *unseen; /* label of what comes from memory: another number each time that it is read */
  bool lost;          /* too many paths, or something that is not understood */
  /* of the kernel that is walked */
  const ac_skfunc *fn;
  const ac_skstmt *launch;
  ac_sym *pid, *blocks;
  bool irregular;
  bool choice[AC_PW_CHOICES];
  ac_sym *chosen[AC_PW_CHOICES]; /* about what */
  int n_choices, forced;
  bool split;                      /* what follows an `if` was walked once behind each arm */
  AC_VEC(const ac_skstmt *) apart; /* the `if`s of which that has to be */
  ac_families *into;
  const struct ac_pbehind *behind;
} ac_pwalk;

/* Leaves the claim open, for this reason, unless it is already. */
static inline void ac_pw_open(ac_pwalk *w, ac_claim q, const char *why) {
  if (w->v->of[q] != AC_VERDICT_PROVED) return;
  w->v->of[q] = AC_VERDICT_UNKNOWN;
  w->v->why[q] = why;
}

static inline ac_sym *ac_pw_int(ac_pwalk *w, int64_t v) {
  return ac_sy_int(&w->y, v);
}
static inline ac_sym *ac_pw_add(ac_pwalk *w, ac_sym *a, ac_sym *b) {
  return ac_sy_add(&w->y, a, b);
}
static inline ac_sym *ac_pw_sub(ac_pwalk *w, ac_sym *a, ac_sym *b) {
  return ac_sy_sub(&w->y, a, b);
}

/* Of what another number is each time that it is read. */
static inline bool ac_pw_data(ac_pwalk *w, const ac_sym *x) {
  return ac_pv_mentions(&w->y, x, w->unseen);
}

/* Elements of a tensor; NULL: the host does not ask. An output of which nothing is said is as large as the first input. */
ac_sym *ac_pw_total(ac_pwalk *w, int t); /* prove.c */

/* Accesses of one arm of an `if`: into->data[from, to). */
typedef struct {
  size_t from, to;
  int n_branch, maybe; /* conditions, and doubts, that the arm starts with */
  bool loose;          /* its condition has several alternatives: none was assumed */
} ac_parm;

/* prove_join.c: stores that both arms make become one that has not their conditions; `before`: what an access in front of the `if` would
 * have. False: a loose arm has a store that the other has not, of which nothing could be said. */
bool ac_pw_join(ac_pwalk *w, const ac_parm arm[2], const ac_family *before);
/* The minimum or maximum that is a where the facts `yes` hold, and b where the facts `no` do. NULL: not shown. */
ac_sym *ac_pw_either(ac_pwalk *w, ac_sym *a, const ac_fact *yes, ac_sym *b, const ac_fact *no);
/* The statements, or what is inside of them, ask for the slot. */
bool ac_pw_uses(const ac_skstmt *s, int slot);

/* prove_claims.c: what the accesses of one launch, or of all launches of a path, leave open. */
void ac_pw_bounds(ac_pwalk *w, ac_families *all);
void ac_pw_order(ac_pwalk *w, const ac_families *all);
void ac_pw_outputs(ac_pwalk *w, ac_families *launches, int n_launches, const ac_fact *facts);

#endif

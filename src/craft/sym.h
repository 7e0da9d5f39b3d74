/* Symbolic integers: polynomials over atoms, interned, so that equal values are the same pointer; and a small prover.
 * Private to craft. */
#ifndef AC_CRAFT_SYM_H
#define AC_CRAFT_SYM_H

#include "craft/craft.h"

typedef struct ac_sym ac_sym;

typedef enum { AC_SY_MIN, AC_SY_MAX, AC_SY_FLOORDIV, AC_SY_CDIV, AC_SY_MOD, AC_SY_OPAQUE } ac_symfn;

/* Functions nest so deep; what goes deeper is a value that nobody knows more of. More than one expression of the language can hold, so
 * only chains of assignments get there: what walks the values recursively stays far from the end of the stack. */
enum { AC_SYM_DEGREE = 4, AC_SYM_TERMS = 48, AC_SYM_NESTED = 128 };

/* An unknown of a polynomial. */
typedef struct {
  const char *label;       /* for messages */
  ac_symfn fn;             /* AC_SY_OPAQUE: a variable's value, a parameter, a size */
  ac_sym *a, *b;           /* fn's arguments */
  int64_t lo, hi;          /* constant bounds; INT64_MIN and INT64_MAX: none */
  ac_sym *slo, *shi;       /* symbolic bounds or NULL */
  const ac_cexpr *expr;    /* writes it anywhere in its function, or NULL: only through a variable that holds it */
  ac_sym *bound;           /* while a launch is looked at: what it binds this parameter to */
  int nested;              /* functions inside of each other, this one too */
  bool seen;               /* some answer rests on it */
  struct ac_sknown *known; /* its ranges, by depth, once they are asked for */
} ac_satom;

typedef struct {
  int64_t c;
  int k;                   /* number of atoms; 0: the constant term */
  int atom[AC_SYM_DEGREE]; /* ascending */
} ac_sterm;

struct ac_sym {
  int id; /* in order of creation */
  int n;
  ac_sterm *t;   /* ascending, no zero coefficients */
  int nested;    /* the most of its atoms */
  ac_sym *minus; /* of the other sign, once it is asked for */
};

/* Answers of the prover, which is asked the same again and again. `version` and `facts` say of what they hold, `used` how many steps they took:
 * an answer counts as many when it is given again, so that remembering changes nothing but time. */
typedef struct {
  int64_t lo, hi;
} ac_range;
struct ac_sknown {
  int by_facts; /* list that `by` is for */
  ac_range by;
  struct {
    unsigned version;
    int facts, used;
    ac_range r;
  } at[9];
};
typedef struct {
  unsigned version;
  int x, facts, depth, used;
  bool yes;
} ac_stried;
enum { AC_SYM_TRIED = 256 };

typedef struct {
  ac_arena *a;
  AC_VEC(ac_satom) atoms;
  ac_map *fns;
  ac_sym **polys; /* hash table of all polynomials; its size is a power of two, at most half of it is used */
  size_t n_polys, room;
  ac_map *proofs;         /* answers of logic.c by question; made when first asked */
  int budget;             /* steps left for the proof at hand */
  unsigned version;       /* of what is known of atoms */
  ac_stried *tried;       /* AC_SYM_TRIED places, by hash */
  struct ac_slist *lists; /* lists of facts by what they hold: a hash table */
  size_t n_lists, list_room;
  ac_sym *small[3]; /* -1, 0, 1 */
} ac_syms;

/* What is known at a place: every p is >= 0. A persistent list: longer ones share their tails. */
typedef struct ac_fact {
  ac_sym *p;
  const struct ac_fact *next;
  int len;
  int id; /* equal lists have equal numbers, from 1 on; the empty one is 0 */
} ac_fact;

void ac_syms_init(ac_syms *s, ac_arena *a);
ac_sym *ac_sy_int(ac_syms *s, int64_t v);
ac_sym *ac_sy_add(ac_syms *s, ac_sym *x, ac_sym *y);
ac_sym *ac_sy_sub(ac_syms *s, ac_sym *x, ac_sym *y);
ac_sym *ac_sy_mul(ac_syms *s, ac_sym *x, ac_sym *y);
ac_sym *ac_sy_fn(ac_syms *s, ac_symfn fn, ac_sym *x, ac_sym *y);
/* A value that equals no other. */
ac_sym *ac_sy_fresh(ac_syms *s, const char *label);
/* The atom that this key always gives (a size, a parameter). */
ac_sym *ac_sy_named(ac_syms *s, const char *key, const char *label);
ac_satom *ac_sy_atom(ac_syms *s, ac_sym *x); /* x is one atom with coefficient 1; else NULL */
/* The same, to change what is known of it. */
ac_satom *ac_sy_learn(ac_syms *s, ac_sym *x);
/* Its constant bounds. */
ac_satom *ac_sy_limit(ac_syms *s, ac_sym *x, int64_t lo, int64_t hi);
void ac_sy_at_least(ac_syms *s, ac_sym *x, int64_t lo);
ac_sym *ac_sy_of(ac_syms *s, int atom);
/* x = y * q exactly, term by term, with y of one term: q; else NULL. */
ac_sym *ac_sy_divide(ac_syms *s, ac_sym *x, ac_sym *y);
bool ac_sy_is_atom(const ac_sym *x, int atom);
bool ac_sy_const(const ac_sym *x, int64_t *v);
char *ac_sy_text(ac_syms *s, const ac_sym *x);
/* The polynomial with other values for its atoms. */
ac_sym *ac_sy_replace(ac_syms *s, ac_sym *x, ac_sym *(*of)(ac_syms *s, int atom, void *user), void *user);
/* Replaces parameters by what the launch binds them to. */
ac_sym *ac_sy_bind(ac_syms *s, ac_sym *x);

/* Rounds down; b is not 0. */
int64_t ac_sy_floor_div(int64_t a, int64_t b);

/* The facts and one more. */
const ac_fact *ac_sy_assume(ac_syms *s, const ac_fact *f, ac_sym *nonneg);
ac_range ac_sy_range(ac_syms *s, ac_sym *x, const ac_fact *f);
/* x >= 0 for every shape; false: not proved. */
bool ac_sy_nonneg(ac_syms *s, ac_sym *x, const ac_fact *f);
bool ac_sy_le(ac_syms *s, ac_sym *x, ac_sym *y, const ac_fact *f);

#endif

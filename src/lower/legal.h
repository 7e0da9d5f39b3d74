/* What the files of pass "legalise" share: typed values of one piece of lanes, scratch registers, and an assembler of instructions.
 * Private to lower.
 *
 * An element-wise primitive that is no instruction of its dtype becomes a recipe: a function that emits instructions on values. A
 * recipe is written for all lanes at once; the pass runs it over pieces, so that scratch does not grow with the tile. It runs twice: the first
 * run counts the scratch bytes of a lane, from which the lanes of a piece follow (ac_scratch_lanes in craft.h).
 * A recipe reads its sources before it writes the destination, which may be one of them. */
#ifndef AC_LOWER_LEGAL_H
#define AC_LOWER_LEGAL_H

#include "lower/internal.h"

#include <string.h>

typedef struct {
  ac_lower_ctx *c;
  ac_akernel *k;
  ac_atensor *pool;          /* scratch registers of the kernel, one after the other; NULL until needed */
  ac_atensor *work;          /* of reductions */
  bool used_pool, used_work; /* in the method at work */
  ac_ablock *out;
  const ac_astmt *at;  /* the primitive at work */
  ac_aexpr *first, *n; /* the piece: its first lane (NULL: 0), and how many lanes */
  int64_t lanes;       /* of a register */
  int reg, most;       /* scratch bytes a lane: in use, and the most so far */
  bool measure;        /* the first run: nothing is kept */
  bool ok;
} legal;

/* A vector in UB, seen as elements of d. */
typedef struct {
  ac_atensor *t;
  ac_aexpr *off; /* NULL: 0; elements of own */
  ac_dtype own, d;
  bool boolean; /* bytes that are 0 or 1 */
} lv;

/* The operands of a primitive; which of them it has, its signature says. */
typedef struct {
  lv d, a, b, m;    /* destination, sources, mask */
  ac_aexpr *s, *s2; /* scalars */
  ac_cmp cmp;
  ac_round round;
} lx_args;

/* ---- values ---- */
lv lx_operand(legal *l, const ac_aoperand *o);
lv lx_mask_operand(legal *l, const ac_aoperand *o);
lv lx_tmp(legal *l, ac_dtype d);
lv lx_tmp_mask(legal *l);
static inline lv lx_as(lv v, ac_dtype d) {
  v.d = d;
  return v;
}
/* Two 32-bit registers that follow each other. */
typedef struct {
  lv lo, hi;
} lx_pair;

/* ---- expressions ---- */
ac_aexpr *lx_int(legal *l, int64_t v);
ac_aexpr *lx_float(legal *l, double v); /* rounded to float32 */
ac_aexpr *lx_minus(legal *l, ac_aexpr *x);
ac_aexpr *lx_wrap(legal *l, ac_aexpr *s, ac_dtype d); /* an int as an element of d, widened again */

/* ---- instructions; `k`: elements for each lane of the piece ---- */
void lx_1(legal *l, ac_inst i, lv d, lv a);
void lx_2(legal *l, ac_inst i, lv d, lv a, lv b);
void lx_s(legal *l, ac_inst i, lv d, lv a, ac_aexpr *s);
void lx_f(legal *l, ac_inst i, lv d, lv a, double v); /* a float scalar */
void lx_i(legal *l, ac_inst i, lv d, lv a, int64_t v);
void lx_fill(legal *l, lv d, ac_aexpr *s);
void lx_cast(legal *l, lv d, lv a, ac_round r);
void lx_compare(legal *l, lv m, lv a, lv b, ac_cmp c);
void lx_compare_s(legal *l, lv m, lv a, ac_aexpr *s, ac_cmp c);
void lx_select(legal *l, lv d, lv m, lv a, lv b);
void lx_select_s(legal *l, lv d, lv m, lv a, ac_aexpr *s);
void lx_iota(legal *l, lv d, ac_aexpr *first, int k);
void lx_gather(legal *l, lv d, lv table, lv offsets, int64_t base, int k);
void lx_bits(legal *l, ac_inst i, lv d, lv a,
             lv b);                      /* And, Or, Not (b is not looked at) over elements of any even size */
void lx_xor(legal *l, lv d, lv a, lv b); /* elements of any even size; takes a register */
void lx_mask_bits(legal *l, ac_inst i, lv d, lv a, lv b);
/* d = polynomial in z, highest coefficient first. */
void lx_horner(legal *l, lv d, lv z, const double *c, int n);

/* ---- recipes ---- */
typedef void (*lx_make)(legal *l, const lx_args *x);
static inline bool lx_is(const char *name, const char *s) {
  return !strcmp(name, s);
}
static inline bool lx_compares(const char *name) {
  return lx_is(name, "vcompare") || lx_is(name, "vcompare_scalar");
}
static inline bool lx_reads_destination(const char *name) {
  return lx_is(name, "vaxpy") || lx_is(name, "vmul_add");
}
/* legal_float.c: formulas in float32; NULL: none of this name. */
lx_make lx_float_recipe(const char *name);
/* legal_int.c: integers, bytes and bool. False: there is none. */
bool lx_int_recipe(legal *l, const char *name, const lx_args *x);
/* vselect and vselect_scalar of elements of 2 and 4 bytes, which move as floats do. False: it is neither. */
bool lx_choice(legal *l, const char *name, const lx_args *x);
bool lx_int64_recipe(legal *l, const char *name, const lx_args *x);
/* legal_divide.c: quotients and remainders of integers of 8, 16 and 32 bits. False: it is none. */
typedef struct {
  bool remainder, floor, scalar, reverse; /* reverse: of a scalar by a vector */
} lx_quotient;
bool lx_quotient_of(const char *name, lx_quotient *k);
bool lx_divide(legal *l, const char *name, const lx_args *x);
bool lx_divide64(legal *l, const char *name, const lx_args *x); /* legal_divide64.c: the same of int64 */
lx_pair lx_split64(legal *l, lv a);
lx_pair lx_pair_tmp(legal *l);
void lx_join64(legal *l, lv d, lx_pair p);
lx_pair lx_filled64(legal *l, ac_aexpr *s);                           /* a scalar in all lanes */
void lx_each64(legal *l, ac_inst i, lx_pair d, lx_pair a, lx_pair b); /* And, Or, Not of both words */
void lx_add64(legal *l, lx_pair a, lx_pair b);                        /* a += b */
void lx_sub64(legal *l, lx_pair a, lx_pair b);                        /* a -= b */
void lx_mul64(legal *l, lx_pair a, lx_pair b);                        /* a *= b; b is overwritten */
/* legal_cast.c */
bool lx_convert(legal *l, lv d, lv a, ac_round r);
/* legal_dtype.c: any element-wise primitive in any dtype. False: there is no such form. */
bool lx_element(legal *l, const char *name, const lx_args *x);
/* The instruction of this name, if the chip has it for the dtype; else AC_INST_COUNT. */
ac_inst lx_direct(const char *name, ac_dtype d);

#endif

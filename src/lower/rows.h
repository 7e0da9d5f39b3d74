/* What the files of pass "rows" share: a small assembler for statements. Not for other files. */
#ifndef AC_LOWER_ROWS_H
#define AC_LOWER_ROWS_H

#include "lower/internal.h"

enum {
  AC_ROWS_PIECE = 2048, /* lanes worked on at a time */
  AC_ROWS_SCRATCH = 6,
  AC_ROWS_REPEATS = 255 /* of one instruction */
};

typedef struct {
  ac_lower_ctx *c;
  ac_akernel *k;
  ac_atensor *scratch[AC_ROWS_SCRATCH]; /* of the kernel, float32; NULL until needed */
  bool used[AC_ROWS_SCRATCH];           /* in the method at work */
  ac_ablock *out;
  const ac_astmt *at; /* the statement at work */
  int temps;
  bool ok;
} ac_rows;

typedef ac_aexpr X;
typedef ac_aoperand O;

/* ---- expressions ---- */
static inline X *xi(ac_rows *r, int64_t v) {
  return ac_ae_int(r->c->a, v);
}
static inline X *xb(ac_rows *r, ac_aekind k, X *a, X *b) {
  return ac_ae_bin(r->c->a, k, a, b);
}
static inline X *xadd(ac_rows *r, X *a, X *b) {
  return a && b ? xb(r, AC_AE_ADD, a, b) : a ? a : b;
}
static inline X *xsub(ac_rows *r, X *a, X *b) {
  return xb(r, AC_AE_SUB, a, b);
}
static inline X *xmul(ac_rows *r, X *a, X *b) {
  return xb(r, AC_AE_MUL, a, b);
}
static inline X *xmin(ac_rows *r, X *a, X *b) {
  return xb(r, AC_AE_MIN, a, b);
}
static inline X *xover(ac_rows *r, X *a, int64_t by) {
  return xb(r, AC_AE_FLOORDIV, a, xi(r, by));
}
static inline bool x_is(const X *e, int64_t v) {
  int64_t k;
  return e && ac_ae_const(e, &k) && k == v;
}

/* ---- operands ---- */
ac_dtype ac_rows_dtype(const ac_rows *r, const O *o);
O ac_rows_at(ac_rows *r, O o, X *elements); /* so many of its elements further on; no axes */
O ac_rows_as(ac_rows *r, O o, ac_dtype d);  /* the same bytes as another dtype */
O ac_rows_scratch(ac_rows *r, int i, X *floats);
/* How many elements the last axis of an operand's buffer can have, or INT64_MAX. */
int64_t ac_rows_most(const ac_rows *r, const O *o);
/* 32-byte blocks of `elements` elements of an operand. */
X *ac_rows_blocks(ac_rows *r, const O *o, X *elements);

/* ---- statements: operands by value; NULL counts belong to the repeat form ---- */
ac_astmt *ac_rows_inst(ac_rows *r, ac_inst i, X *count, int n, ...); /* n operands, O each */
O ac_rows_scalar(X *x);
ac_arep *ac_rows_rep(ac_rows *r, ac_astmt *s, X *mask, X *repeat, X *dst, X *a, X *b);
void ac_rows_cast(ac_rows *r, O to, O from, ac_round round, X *count);
X *ac_rows_decl(ac_rows *r, const char *name, X *value);
void ac_rows_set(ac_rows *r, X *var, X *value);
X *ac_rows_read(ac_rows *r, O from);            /* one element as a scalar */
void ac_rows_write(ac_rows *r, O to, X *value); /* one element */
/* Blocks: what follows stands inside until the end; the value that they return goes to ac_rows_end. */
ac_ablock *ac_rows_for(ac_rows *r, const char *name, X *lo, X *hi, X *step, X **var);
ac_ablock *ac_rows_if(ac_rows *r, X *cond, ac_astmt **s);
void ac_rows_else(ac_rows *r, ac_astmt *s);
ac_ablock *ac_rows_while(ac_rows *r, X *cond);
void ac_rows_end(ac_rows *r, ac_ablock *outer);
/* Loops over all axes but those in `inside` (bit set); moves the operands' offsets to the place at hand. Every operand has the axes of
 * `shape` or lacks the axis `lacks`. Returns the outermost block. */
ac_ablock *ac_rows_nest(ac_rows *r, const ac_aview *shape, unsigned inside, O *full, O *less, int lacks);

/* ---- transposes ---- */
/* Elements of 2 or 4 bytes: rows and columns of src, whose rows are `step` elements apart, on blocks of 32 bytes, as those of `to` are
 * `to_step` apart. `loose`: what lies behind a row of `to` in its last block may be overwritten. Takes scratch 2 and 3. */
typedef enum {
  AC_TURN_EITHER, /* as the numbers of rows and columns say */
  AC_TURN_DOWN,   /* repeats go down the rows */
  AC_TURN_ACROSS  /* ... across the columns */
} ac_turn;
void ac_rows_turn(ac_rows *r, O to, O src, X *to_step, X *step, X *rows, X *cols, ac_turn how, bool loose);
bool ac_rows_loose(ac_rows *r, const O *o);

/* ---- the primitives ---- */
void ac_rows_reduce(ac_rows *r, const ac_astmt *s);
void ac_rows_arg(ac_rows *r, const ac_astmt *s);
void ac_rows_broadcast(ac_rows *r, const ac_astmt *s);
void ac_rows_transpose(ac_rows *r, const ac_astmt *s);
void ac_rows_gather(ac_rows *r, const ac_astmt *s);
void ac_rows_scan(ac_rows *r, const ac_astmt *s);
void ac_rows_sort(ac_rows *r, const ac_astmt *s);
void ac_rows_records(ac_rows *r, const ac_astmt *s);
void ac_rows_compress(ac_rows *r, const ac_astmt *s);

#endif

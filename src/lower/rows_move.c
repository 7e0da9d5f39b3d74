/* Broadcasts, transposes, gathers, compression: what only moves elements. Bits are kept whatever the dtype: elements of 4 bytes move as
 * int32, of 2 as int16, pairs of bytes too where rows are copied. */
#include "lower/rows.h"

enum { INDEX = 0, BLOCKS = 1, VALUES = 2, TILE = 3 }; /* scratch */
enum {
  TURNS = 64, /* repeats of a transpose whose last columns go to scratch, two blocks a repeat */
  SHORT = 8   /* repeats of one whose results go to scratch, 512 bytes a repeat */
};
enum { ROWS = 240 }; /* of one instruction: at most 255, and whole blocks of 16 elements of 2 bytes */

static int bytes_of(const ac_rows *r, const O *o) {
  return ac_dtypes[ac_rows_dtype(r, o)].bytes;
}

/* The operand as integers that vector instructions move, and how many of them n elements are. */
static O lanes_of(ac_rows *r, O o, X **n, X **step) {
  int bytes = bytes_of(r, &o);
  o.nd = NULL;
  if (bytes == 8) {
    if (n) *n = xmul(r, *n, xi(r, 2));
    if (step) *step = xmul(r, *step, xi(r, 2));
  } else if (bytes == 1) {
    if (n) *n = xb(r, AC_AE_CDIV, *n, xi(r, 2));
    if (step) *step = xover(r, *step, 2);
  }
  return ac_rows_as(r, o, bytes >= 4 ? AC_I32 : AC_I16);
}

/* `count` rows of n lanes, `step` apart, from rows `from_step` apart (0: one row again and again). `blocks`: each row is one block of the
 * source, read for every block of the row. */
static void copy_rows(ac_rows *r, O to, O from, X *count, X *step, X *from_step, X *n, bool blocks) {
  X *c, *i;
  X *lanes = xi(r, 256 / bytes_of(r, &to));
  ac_ablock *outer = ac_rows_for(r, "acColumn", xi(r, 0), n, lanes, &c);
  ac_rows_for(r, "acRow", xi(r, 0), count, xi(r, ROWS), &i);
  O src = blocks ? ac_rows_at(r, from, xmul(r, i, xi(r, 32 / bytes_of(r, &from))))
                 : ac_rows_at(r, from, xadd(r, xmul(r, i, from_step), c));
  ac_astmt *s = ac_rows_inst(r, AC_I_ROWS, NULL, 2, ac_rows_at(r, to, xadd(r, xmul(r, i, step), c)), src);
  ac_arep *p =
      ac_rows_rep(r, s, xmin(r, lanes, xsub(r, n, c)), xmin(r, xi(r, ROWS), xsub(r, count, i)),
                  ac_rows_blocks(r, &to, step), blocks ? xi(r, 1) : ac_rows_blocks(r, &from, from_step), NULL);
  p->a_block = blocks ? 0 : 1;
  ac_rows_end(r, outer);
}

/* Element i of src fills row i. */
static void fill_rows(ac_rows *r, O to, O src, X *count, X *step, X *n) {
  int bytes = bytes_of(r, &src);
  X *i, *j;
  if (bytes == 8) { /* element by element */
    ac_ablock *outer = ac_rows_for(r, "acRow", xi(r, 0), count, xi(r, 1), &i);
    X *v = ac_rows_read(r, ac_rows_at(r, src, i));
    ac_rows_for(r, "acLane", xi(r, 0), n, xi(r, 1), &j);
    ac_rows_write(r, ac_rows_at(r, to, xadd(r, xmul(r, i, step), j)), v);
    ac_rows_end(r, outer);
    return;
  }
  if (bytes == 1) { /* the byte twice, as an integer of 16 bits */
    ac_ablock *outer = ac_rows_for(r, "acRow", xi(r, 0), count, xi(r, 1), &i);
    X *v = ac_rows_read(r, ac_rows_at(r, ac_rows_as(r, src, AC_U8), i));
    O row = ac_rows_as(r, ac_rows_at(r, to, xmul(r, i, step)), AC_I16);
    ac_rows_inst(r, AC_I_DUP, xb(r, AC_AE_CDIV, n, xi(r, 2)), 2, row, ac_rows_scalar(xmul(r, v, xi(r, 257))));
    ac_rows_end(r, outer);
    return;
  }
  O from = lanes_of(r, src, NULL, NULL), rows = lanes_of(r, to, NULL, NULL);
  ac_dtype d = ac_rows_dtype(r, &from);
  O eight = ac_rows_as(r, ac_rows_scratch(r, VALUES, xi(r, 256)), d),
    blocks = ac_rows_as(r, ac_rows_scratch(r, BLOCKS, xi(r, 2048)), d);
  ac_ablock *outer = ac_rows_for(r, "acRows", xi(r, 0), count, xi(r, ROWS), &i);
  X *m = ac_rows_decl(r, "acCount", xmin(r, xi(r, ROWS), xsub(r, count, i)));
  ac_rows_inst(r, AC_I_DUP, xb(r, AC_AE_ALIGN_UP, m, xi(r, 8)), 2, eight,
               ac_rows_scalar(xi(r, 0))); /* Brcb reads whole groups */
  ac_rows_inst(r, AC_I_COPY, m, 2, eight, ac_rows_at(r, from, i));
  ac_rows_rep(r, ac_rows_inst(r, AC_I_BRCB, NULL, 2, blocks, eight), NULL, xb(r, AC_AE_CDIV, m, xi(r, 8)), xi(r, 8),
              NULL, NULL);
  copy_rows(r, ac_rows_at(r, rows, xmul(r, i, step)), blocks, m, step, NULL, n, true);
  ac_rows_end(r, outer);
}

void ac_rows_broadcast(ac_rows *r, const ac_astmt *s) {
  O to = s->ops[0], src = s->ops[1];
  const ac_aview *v = to.nd;
  int last = v->rank - 1, axis = s->axis;
  if (axis == last) {
    ac_ablock *outer = ac_rows_nest(r, v, 1u << last | 1u << (last - 1), &to, &src, axis);
    fill_rows(r, to, src, v->extent[last - 1], v->stride[last - 1], v->extent[last]);
    ac_rows_end(r, outer);
    return;
  }
  ac_ablock *outer = ac_rows_nest(r, v, 1u << last | 1u << axis, &to, &src, axis);
  X *n = v->extent[last], *step = v->stride[axis];
  O rows = lanes_of(r, to, &n, &step), from = lanes_of(r, src, NULL, NULL);
  copy_rows(r, rows, from, v->extent[axis], step, xi(r, 0), n, false);
  ac_rows_end(r, outer);
}

/* Byte offsets into a table of elements of 8 bytes, for each of their words: those of the elements in `index` (int32), or of elements that
 * are `step` bytes apart. `at`: the first of m elements. */
static O offsets_of_words(ac_rows *r, const O *index, X *step, X *at, X *m) {
  O words = ac_rows_as(r, ac_rows_scratch(r, INDEX, xi(r, AC_ROWS_PIECE)), AC_I32),
    odd = ac_rows_as(r, ac_rows_scratch(r, BLOCKS, xi(r, AC_ROWS_PIECE)), AC_I32);
  X *n = xmul(r, m, xi(r, 2));
  ac_rows_inst(r, AC_I_VECINDEX, n, 2, words, ac_rows_scalar(index ? xi(r, 0) : xmul(r, at, xi(r, 2))));
  ac_rows_inst(r, AC_I_COPY, n, 2, odd, words);
  ac_rows_inst(r, AC_I_SHR, n, 3, words, words, ac_rows_scalar(xi(r, 1))); /* whose word it is */
  O twice = ac_rows_as(r, ac_rows_scratch(r, VALUES, xi(r, AC_ROWS_PIECE)), AC_I32);
  ac_rows_inst(r, AC_I_MULS, n, 3, twice, words, ac_rows_scalar(xi(r, 2)));
  ac_rows_inst(r, AC_I_SUB, n, 3, odd, odd, twice); /* 1: the second word */
  ac_rows_inst(r, AC_I_MULS, n, 3, odd, odd, ac_rows_scalar(xi(r, 4)));
  if (index) {
    ac_rows_inst(r, AC_I_MULS, n, 3, words, words, ac_rows_scalar(xi(r, 4)));
    ac_rows_inst(r, AC_I_GATHER, n, 4, twice, ac_rows_at(r, *index, at), ac_rows_as(r, words, AC_U32),
                 ac_rows_scalar(xi(r, 0)));
    ac_rows_inst(r, AC_I_MULS, n, 3, words, twice, ac_rows_scalar(xi(r, 8)));
  } else
    ac_rows_inst(r, AC_I_MULS, n, 3, words, words, ac_rows_scalar(step));
  ac_rows_inst(r, AC_I_ADD, n, 3, words, words, odd);
  return ac_rows_as(r, words, AC_U32);
}

/* Transposes blocks of 16 rows, as wide as 32 bytes, with TransDataTo5HD. */
typedef struct {
  O to, src;
  X *to_step, *step; /* elements */
  X *rows, *cols;    /* of src */
  int wide;          /* elements of 32 bytes */
  bool loose;        /* what follows in the last block of a row of `to` is nobody's */
} turned;

/* h rows, w columns of each repeat, from row i and column j on. */
static void turn_to(ac_rows *r, const turned *t, O to, X *to_step, X *i, X *j, X *h, X *w, X *repeat, bool across) {
  O spare = ac_rows_as(r, ac_rows_scratch(r, VALUES, xi(r, TURNS * 16)), ac_rows_dtype(r, &t->src));
  O from = ac_rows_at(r, t->src, xadd(r, xmul(r, i, t->step), j));
  ac_astmt *s = ac_rows_inst(r, AC_I_TURN, NULL, 3, to, from, spare);
  ac_arep *p = ac_rows_rep(r, s, h, repeat, ac_rows_blocks(r, &to, to_step), ac_rows_blocks(r, &t->src, t->step), w);
  p->mode = across;
}
static void turn(ac_rows *r, const turned *t, X *i, X *j, X *h, X *w, X *repeat, bool across) {
  turn_to(r, t, ac_rows_at(r, t->to, xadd(r, xmul(r, j, t->to_step), i)), t->to_step, i, j, h, w, repeat, across);
}

/* Fewer rows than 16: what they become is `count` short rows, which go to their place by way of scratch. */
static void turn_short(ac_rows *r, const turned *t, X *i, X *j, X *h, X *w, X *repeat, X *count) {
  if (t->loose) {
    turn(r, t, i, j, h, w, repeat, true);
    return;
  }
  O part = ac_rows_as(r, ac_rows_scratch(r, TILE, xi(r, SHORT * 128)), ac_rows_dtype(r, &t->src));
  turn_to(r, t, part, xi(r, 16), i, j, h, w, repeat, true);
  ac_astmt *s = ac_rows_inst(r, AC_I_ROWS, NULL, 2, ac_rows_at(r, t->to, xadd(r, xmul(r, j, t->to_step), i)), part);
  ac_rows_rep(r, s, h, count, ac_rows_blocks(r, &t->to, t->to_step), ac_rows_blocks(r, &part, xi(r, 16)), NULL);
}

/* Repeats go down the rows. */
static void turn_down(ac_rows *r, const turned *t) {
  X *i, *j;
  ac_ablock *outer = ac_rows_for(r, "acColumn", xi(r, 0), t->cols, xi(r, t->wide), &j);
  X *w = ac_rows_decl(r, "acWide", xmin(r, xi(r, t->wide), xsub(r, t->cols, j)));
  X *whole = ac_rows_decl(r, "acWhole", xover(r, t->rows, 16));
  ac_ablock *body = ac_rows_for(r, "acRow", xi(r, 0), whole, xi(r, TURNS), &i);
  turn(r, t, xmul(r, i, xi(r, 16)), j, xi(r, 16), w, xmin(r, xi(r, TURNS), xsub(r, whole, i)), false);
  ac_rows_end(r, body);
  X *done = xmul(r, whole, xi(r, 16));
  body = ac_rows_if(r, xb(r, AC_AE_LT, done, t->rows), NULL);
  turn_short(r, t, done, j, xsub(r, t->rows, done), w, xi(r, 1), w);
  ac_rows_end(r, body);
  ac_rows_end(r, outer);
}

/* Repeats go across the columns: rows from i on, h of them. */
static void turn_row(ac_rows *r, const turned *t, X *i, X *h, bool full) {
  X *j, *wide = xi(r, t->wide), *most = xi(r, full || t->loose ? AC_ROWS_REPEATS : SHORT);
  X *whole = ac_rows_decl(r, "acWhole", xover(r, t->cols, t->wide));
  ac_ablock *body = ac_rows_for(r, "acColumn", xi(r, 0), whole, most, &j);
  X *n = ac_rows_decl(r, "acRepeat", xmin(r, most, xsub(r, whole, j)));
  if (full)
    turn(r, t, i, xmul(r, j, wide), h, wide, n, true);
  else
    turn_short(r, t, i, xmul(r, j, wide), h, wide, n, xmul(r, n, wide));
  ac_rows_end(r, body);
  X *done = xmul(r, whole, wide), *left = xsub(r, t->cols, done);
  body = ac_rows_if(r, xb(r, AC_AE_LT, done, t->cols), NULL);
  if (full)
    turn(r, t, i, done, h, left, xi(r, 1), true);
  else
    turn_short(r, t, i, done, h, left, xi(r, 1), left);
  ac_rows_end(r, body);
}
static void turn_across(ac_rows *r, const turned *t) {
  X *i;
  X *whole = xmul(r, xover(r, t->rows, 16), xi(r, 16));
  ac_ablock *outer = ac_rows_for(r, "acRow", xi(r, 0), whole, xi(r, 16), &i);
  turn_row(r, t, i, xi(r, 16), true);
  ac_rows_end(r, outer);
  outer = ac_rows_if(r, xb(r, AC_AE_LT, whole, t->rows), NULL);
  turn_row(r, t, whole, xsub(r, t->rows, whole), false);
  ac_rows_end(r, outer);
}

void ac_rows_turn(ac_rows *r, O to, O src, X *to_step, X *step, X *rows, X *cols, ac_turn how, bool loose) {
  turned t = {to, src, to_step, step, rows, cols, 32 / bytes_of(r, &src), loose};
  int64_t h, w;
  bool known_h = ac_ae_const(rows, &h), known_w = ac_ae_const(cols, &w);
  if (known_h && known_w && how == AC_TURN_EITHER) how = h >= w ? AC_TURN_DOWN : AC_TURN_ACROSS;
  if (how != AC_TURN_EITHER) {
    (how == AC_TURN_DOWN ? turn_down : turn_across)(r, &t);
    return;
  }
  ac_astmt *s;
  ac_ablock *outer = ac_rows_if(r, xb(r, AC_AE_GE, rows, cols), &s);
  turn_down(r, &t);
  ac_rows_else(r, s);
  turn_across(r, &t);
  ac_rows_end(r, outer);
}

/* Do the rows of an operand with axes end where those of its buffer do, or with a block? */
bool ac_rows_loose(ac_rows *r, const O *o) {
  const ac_abuffer *b = &r->k->buffers.data[o->tensor->buffer];
  X *n = o->nd->extent[o->nd->rank - 1];
  return (b->rank && ac_ae_equal(n, b->dims[b->rank - 1])) || ac_ae_multiple(n, 32 / bytes_of(r, o));
}

/* A row of bytes becomes one of halves, or the other way round, exactly. */
static void byte_rows(ac_rows *r, O to, O from, X *to_step, X *from_step, X *count, X *n) {
  X *k;
  ac_ablock *outer = ac_rows_for(r, "acRow", xi(r, 0), count, xi(r, 1), &k);
  ac_rows_cast(r, ac_rows_at(r, to, xmul(r, k, to_step)), ac_rows_at(r, from, xmul(r, k, from_step)),
               bytes_of(r, &to) == 2 ? AC_RN_NONE : AC_RN_RINT, n);
  ac_rows_end(r, outer);
}

/* Blocks of 32 x 32 bytes, as halves: their quarters of 16 x 16 are transposed. */
static void transpose_bytes(ac_rows *r, O to, O src, const ac_aview *v, X *to_step) {
  enum { SIDE = 32, QUARTER = 16, BLOCK = SIDE * SIDE };
  O in = ac_rows_as(r, ac_rows_scratch(r, TILE, xi(r, AC_ROWS_PIECE)), AC_F16), out = ac_rows_at(r, in, xi(r, BLOCK)),
    part = ac_rows_as(r, ac_rows_at(r, in, xi(r, 2 * BLOCK)), AC_I16), turned = ac_rows_at(r, part, xi(r, 256));
  O words = ac_rows_as(r, in, AC_I16), results = ac_rows_as(r, out, AC_I16);
  X *i, *j, *a, *b, *side = xi(r, SIDE), *quarter = xi(r, QUARTER);
  to = ac_rows_as(r, ac_rows_at(r, to, NULL), AC_U8), src = ac_rows_as(r, ac_rows_at(r, src, NULL), AC_U8);
  ac_rows_inst(r, AC_I_DUP, xi(r, BLOCK), 2, words, ac_rows_scalar(xi(r, 0))); /* what is beyond the edges */
  ac_ablock *outer = ac_rows_for(r, "acRow", xi(r, 0), v->extent[0], side, &i);
  ac_rows_for(r, "acColumn", xi(r, 0), v->extent[1], side, &j);
  X *h = ac_rows_decl(r, "acHigh", xmin(r, side, xsub(r, v->extent[0], i)));
  X *w = ac_rows_decl(r, "acWide", xmin(r, side, xsub(r, v->extent[1], j)));
  byte_rows(r, in, ac_rows_at(r, src, xadd(r, xmul(r, i, v->stride[0]), j)), side, v->stride[0], h, w);
  ac_ablock *body = ac_rows_for(r, "acDown", xi(r, 0), side, quarter, &a);
  ac_rows_for(r, "acAcross", xi(r, 0), side, quarter, &b);
  ac_rows_rep(r, ac_rows_inst(r, AC_I_ROWS, NULL, 2, part, ac_rows_at(r, words, xadd(r, xmul(r, a, side), b))),
              quarter, quarter, xi(r, 1), xi(r, 2), NULL);
  ac_rows_inst(r, AC_I_TRANS16, xi(r, 256), 2, turned, part);
  ac_rows_rep(r, ac_rows_inst(r, AC_I_ROWS, NULL, 2, ac_rows_at(r, results, xadd(r, xmul(r, b, side), a)), turned),
              quarter, quarter, xi(r, 2), xi(r, 1), NULL);
  ac_rows_end(r, body);
  byte_rows(r, ac_rows_at(r, to, xadd(r, xmul(r, j, to_step), i)), out, to_step, side, w, h);
  ac_rows_end(r, outer);
}

void ac_rows_transpose(ac_rows *r, const ac_astmt *s) {
  O to = s->ops[0], src = s->ops[1];
  const ac_aview *v = src.nd;
  X *rows = v->extent[0], *cols = v->extent[1], *step = v->stride[0], *to_step = to.nd->stride[0], *c, *at;
  int bytes = bytes_of(r, &src);
  if (bytes == 2 || bytes == 4) {
    ac_rows_turn(r, lanes_of(r, to, NULL, NULL), lanes_of(r, src, NULL, NULL), to_step, step, rows, cols,
                 AC_TURN_EITHER, ac_rows_loose(r, &to));
    return;
  }
  if (bytes == 1) {
    transpose_bytes(r, to, src, v, to_step);
    return;
  }
  O words = lanes_of(r, to, NULL, NULL), from = lanes_of(r, src, NULL, NULL);
  X *piece = xi(r, AC_ROWS_PIECE / 2);
  ac_ablock *outer = ac_rows_for(r, "acPiece", xi(r, 0), rows, piece, &at);
  X *m = ac_rows_decl(r, "acCount", xmin(r, piece, xsub(r, rows, at)));
  O offsets = offsets_of_words(r, NULL, xmul(r, step, xi(r, 8)), at, m);
  ac_rows_for(r, "acColumn", xi(r, 0), cols, xi(r, 1), &c);
  ac_rows_inst(r, AC_I_GATHER, xmul(r, m, xi(r, 2)), 4,
               ac_rows_at(r, words, xmul(r, xadd(r, xmul(r, c, to_step), at), xi(r, 2))), from, offsets,
               ac_rows_scalar(xmul(r, c, xi(r, 8))));
  ac_rows_end(r, outer);
}

void ac_rows_gather(ac_rows *r, const ac_astmt *s) {
  O to = s->ops[0], src = s->ops[1], index = s->ops[2];
  X *n = index.nd->extent[0], *at, *i;
  int bytes = bytes_of(r, &src);
  if (bytes == 8) {
    X *piece = xi(r, AC_ROWS_PIECE / 2);
    ac_ablock *outer = ac_rows_for(r, "acPiece", xi(r, 0), n, piece, &at);
    X *m = ac_rows_decl(r, "acCount", xmin(r, piece, xsub(r, n, at)));
    O offsets = offsets_of_words(r, &index, NULL, at, m);
    ac_rows_inst(r, AC_I_GATHER, xmul(r, m, xi(r, 2)), 4, lanes_of(r, ac_rows_at(r, to, at), NULL, NULL),
                 lanes_of(r, src, NULL, NULL), offsets, ac_rows_scalar(xi(r, 0)));
    ac_rows_end(r, outer);
    return;
  }
  if (bytes == 1) {
    ac_ablock *outer = ac_rows_for(r, "acLane", xi(r, 0), n, xi(r, 1), &i);
    X *k = ac_rows_read(r, ac_rows_at(r, index, i));
    X *v = ac_rows_read(r, ac_rows_at(r, src, k));
    ac_rows_write(r, ac_rows_at(r, to, i), v);
    ac_rows_end(r, outer);
    return;
  }
  O offsets = ac_rows_as(r, ac_rows_scratch(r, INDEX, xi(r, AC_ROWS_PIECE)), AC_I32);
  ac_ablock *outer = ac_rows_for(r, "acPiece", xi(r, 0), n, xi(r, AC_ROWS_PIECE), &at);
  X *m = ac_rows_decl(r, "acCount", xmin(r, xi(r, AC_ROWS_PIECE), xsub(r, n, at)));
  ac_rows_inst(r, AC_I_MULS, m, 3, offsets, ac_rows_at(r, index, at), ac_rows_scalar(xi(r, bytes)));
  ac_rows_inst(r, AC_I_GATHER, m, 4, ac_rows_at(r, lanes_of(r, to, NULL, NULL), at), lanes_of(r, src, NULL, NULL),
               ac_rows_as(r, offsets, AC_U32), ac_rows_scalar(xi(r, 0)));
  ac_rows_end(r, outer);
}

/* GatherMask wants the mask as words of the elements' size. */
void ac_rows_compress(ac_rows *r, const ac_astmt *s) {
  O to = lanes_of(r, s->ops[0], NULL, NULL), src = lanes_of(r, s->ops[1], NULL, NULL);
  O mask = ac_rows_as(r, ac_rows_at(r, s->ops[2], NULL), bytes_of(r, &src) == 4 ? AC_U32 : AC_U16);
  ac_astmt *n = ac_rows_inst(r, AC_I_PICK, s->ops[1].nd->extent[0], 3, to, src, mask);
  n->var = s->var;
}

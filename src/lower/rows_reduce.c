/* Reductions along an axis, and where the largest or smallest is.
 *
 * Order. A row is worked on in pieces of 2,048 elements. A piece of m elements is folded: for h = 1024, 512, ..., 64 element i + h is
 * added to element i wherever it exists; what is left, at most 64 lanes, is added to the lanes of the pieces before, in their order. The
 * lanes are joined at the end: sums, maxima and minima of floats by WholeReduceSum, Max or Min, a tree of neighbours (docs/simulator.md);
 * products and integers by folding on to 8 lanes and joining these one after another, of 256 rows at a time. A column is worked on in
 * pieces of 32 rows,
 * folded with h = 16, 8, ..., 1, the pieces one after another. A reduction of several axes takes the last first, then what that left as
 * one row.
 *
 * float16 and bfloat16 are computed in float32 and rounded once, at the end. Integers of 8, 16 and 32 bits are computed in 32 and wrap;
 * int64 goes through the scalar unit, element by element. */
#include "lower/rows.h"

enum { T = 0, ACC = 1, LINE = 2, WIDE = 3, INNER = 4, EIGHTS = 5 }; /* scratch */
enum { ROWS = 32, LANES = 64, LINES = 256, FEW = 8, TOGETHER = 512 };

typedef struct {
  ac_inst op, whole; /* whole AC_INST_COUNT: the last lanes one after another */
  ac_aekind scalar;
  ac_dtype acc; /* dtype of the work; AC_NODTYPE: the scalar unit does it */
} way;

static way way_of(const ac_astmt *s, ac_dtype d) {
  static const struct {
    ac_inst op, whole;
    ac_aekind scalar;
  } ops[] = {{AC_I_ADD, AC_I_WHOLE_SUM, AC_AE_ADD},
             {AC_I_MAX, AC_I_WHOLE_MAX, AC_AE_MAX},
             {AC_I_MIN, AC_I_WHOLE_MIN, AC_AE_MIN},
             {AC_I_MUL, AC_INST_COUNT, AC_AE_MUL}};
  int i = s->prim - AC_P_REDUCE_SUM;
  way w = {ops[i].op, ops[i].whole, ops[i].scalar, AC_NODTYPE};
  if (ac_dtypes[d].cls == AC_FLOATING)
    w.acc = AC_F32;
  else {
    w.whole = AC_INST_COUNT;
    if (ac_dtypes[d].bytes <= 4) w.acc = d == AC_U32 ? AC_U32 : AC_I32;
  }
  return w;
}

/* n elements as the dtype of the work. */
static void widen(ac_rows *r, O to, O from, X *n) {
  ac_dtype d = ac_rows_dtype(r, &from), acc = ac_rows_dtype(r, &to);
  if (d == acc)
    ac_rows_inst(r, AC_I_COPY, n, 2, to, from);
  else if (acc == AC_F32)
    ac_rows_cast(r, to, from, AC_RN_NONE, n);
  else { /* by way of floats, exactly; uint16 as int16, whose bits above are cleared then */
    O wide = ac_rows_scratch(r, WIDE, xi(r, AC_ROWS_PIECE)), bits = ac_rows_as(r, to, AC_U32);
    if (ac_dtypes[d].bytes == 1) wide = ac_rows_as(r, wide, AC_F16);
    ac_rows_cast(r, wide, d == AC_U16 ? ac_rows_as(r, from, AC_I16) : from, AC_RN_NONE, n);
    ac_rows_cast(r, to, wide, AC_RN_TRUNC, n);
    if (d != AC_U16) return;
    ac_rows_inst(r, AC_I_SHL, n, 3, bits, bits, ac_rows_scalar(xi(r, 16)));
    ac_rows_inst(r, AC_I_SHR, n, 3, bits, bits, ac_rows_scalar(xi(r, 16)));
  }
}

/* Folds the first `width` lanes of t until at most `least` are left. `unit`: lanes of one step. Returns what is left. */
static X *fold(ac_rows *r, way w, O t, X *width, int64_t from, int64_t least, int64_t unit) {
  X *left = ac_rows_decl(r, "acWidth", width), *half = ac_rows_decl(r, "acHalf", xi(r, from));
  ac_ablock *outer = ac_rows_while(r, xb(r, AC_AE_GE, half, xi(r, least)));
  ac_ablock *body = ac_rows_if(r, xb(r, AC_AE_GT, left, half), NULL);
  ac_rows_inst(r, w.op, xmul(r, xsub(r, left, half), xi(r, unit)), 3, t, t,
               ac_rows_at(r, t, xmul(r, half, xi(r, unit))));
  ac_rows_set(r, left, half);
  ac_rows_end(r, body);
  ac_rows_set(r, half, xover(r, half, 2));
  ac_rows_end(r, outer);
  return left;
}

/* At most 64 lanes to one element. */
static void join(ac_rows *r, way w, O to, O lanes, X *width) {
  if (w.whole != AC_INST_COUNT) {
    ac_arep *p =
        ac_rows_rep(r, ac_rows_inst(r, w.whole, NULL, 2, to, lanes), width, xi(r, 1), xi(r, 1), xi(r, 8), NULL);
    p->mode = 2; /* the value alone */
    return;
  }
  X *left = fold(r, w, lanes, width, 32, FEW, 1), *v, *i;
  X *first = ac_rows_read(r, lanes);
  v = ac_rows_decl(r, "acJoined", first);
  ac_ablock *outer = ac_rows_for(r, "acLane", xi(r, 1), left, xi(r, 1), &i);
  X *x = ac_rows_read(r, ac_rows_at(r, lanes, i));
  ac_rows_set(r, v, xb(r, w.scalar, v, x));
  ac_rows_end(r, outer);
  ac_rows_write(r, to, v);
}

/* One row of n elements to at most 64 lanes of the work's dtype; how many, is in width. */
static O one_row(ac_rows *r, way w, O src, X *n, int64_t most, X **width) {
  O t = ac_rows_as(r, ac_rows_scratch(r, T, xi(r, AC_ROWS_PIECE)), w.acc);
  if (most <= AC_ROWS_PIECE) {
    widen(r, t, src, n);
    *width = most > LANES ? fold(r, w, t, n, AC_ROWS_PIECE / 2, LANES, 1) : n;
    return t;
  }
  O acc = ac_rows_as(r, ac_rows_scratch(r, ACC, xi(r, LANES)), w.acc);
  X *at;
  ac_ablock *outer = ac_rows_for(r, "acPiece", xi(r, 0), n, xi(r, AC_ROWS_PIECE), &at);
  X *m = ac_rows_decl(r, "acCount", xmin(r, xi(r, AC_ROWS_PIECE), xsub(r, n, at)));
  widen(r, t, ac_rows_at(r, src, at), m);
  X *part = fold(r, w, t, m, AC_ROWS_PIECE / 2, LANES, 1);
  ac_astmt *first;
  ac_ablock *body = ac_rows_if(r, xb(r, AC_AE_EQ, at, xi(r, 0)), &first);
  ac_rows_inst(r, AC_I_COPY, part, 2, acc, t);
  ac_rows_else(r, first);
  ac_rows_inst(r, w.op, part, 3, acc, acc, t);
  ac_rows_end(r, body);
  ac_rows_end(r, outer);
  *width = xmin(r, n, xi(r, LANES));
  return acc;
}

/* The rows of a group, at their pitch in t, are folded by the same instructions, a repeat a row. Returns what is left of each. */
static X *fold_together(ac_rows *r, way w, O t, X *g, X *apart, X *n, int64_t least) {
  X *lanes = xi(r, LANES), *c;
  X *left = ac_rows_decl(r, "acWidth", n), *half = ac_rows_decl(r, "acHalf", xi(r, TOGETHER / 2));
  ac_ablock *outer = ac_rows_while(r, xb(r, AC_AE_GE, half, xi(r, least)));
  ac_ablock *body = ac_rows_if(r, xb(r, AC_AE_GT, left, half), NULL);
  X *over = ac_rows_decl(r, "acCount", xsub(r, left, half));
  ac_ablock *each = ac_rows_for(r, "acColumn", xi(r, 0), over, lanes, &c);
  O low = ac_rows_at(r, t, c);
  ac_rows_rep(r, ac_rows_inst(r, w.op, NULL, 3, low, low, ac_rows_at(r, low, half)), xmin(r, lanes, xsub(r, over, c)),
              g, apart, apart, apart);
  ac_rows_end(r, each);
  ac_rows_set(r, left, half);
  ac_rows_end(r, body);
  ac_rows_set(r, half, xover(r, half, 2));
  ac_rows_end(r, outer);
  return left;
}

/* Rows of up to 512 elements, as many at a time as a piece holds. To one element each at `to`, or on to 8 lanes each where no
 * instruction joins those. */
static void rows_together(ac_rows *r, way w, O to, O src, X *m, X *step, X *n) {
  O t = ac_rows_as(r, ac_rows_scratch(r, T, xi(r, AC_ROWS_PIECE)), w.acc);
  bool whole = w.whole != AC_INST_COUNT;
  X *lanes = xi(r, LANES), *i, *c;
  X *pitch = ac_rows_decl(r, "acPitch", xb(r, AC_AE_ALIGN_UP, n, lanes));
  X *group = ac_rows_decl(r, "acGroup", xb(r, AC_AE_FLOORDIV, xi(r, AC_ROWS_PIECE), pitch));
  X *apart = ac_rows_blocks(r, &t, pitch);
  ac_ablock *outer = ac_rows_for(r, "acRow", xi(r, 0), m, group, &i);
  X *g = ac_rows_decl(r, "acRows", xmin(r, group, xsub(r, m, i)));
  O from = ac_rows_at(r, src, xmul(r, i, step));
  ac_ablock *body = r->out;
  if (ac_rows_dtype(r, &src) == w.acc) {
    ac_rows_for(r, "acColumn", xi(r, 0), n, lanes, &c);
    ac_rows_rep(r, ac_rows_inst(r, AC_I_ROWS, NULL, 2, ac_rows_at(r, t, c), ac_rows_at(r, from, c)),
                xmin(r, lanes, xsub(r, n, c)), g, apart, ac_rows_blocks(r, &src, step), NULL);
  } else {
    ac_rows_for(r, "acNext", xi(r, 0), g, xi(r, 1), &c);
    widen(r, ac_rows_at(r, t, xmul(r, c, pitch)), ac_rows_at(r, from, xmul(r, c, step)), n);
  }
  ac_rows_end(r, body);
  X *left = fold_together(r, w, t, g, apart, n, whole ? LANES : FEW);
  O out = ac_rows_at(r, to, whole ? i : xmul(r, i, xi(r, FEW)));
  ac_arep *p =
      ac_rows_rep(r, ac_rows_inst(r, whole ? w.whole : AC_I_ROWS, NULL, 2, out, t), left, g, xi(r, 1), apart, NULL);
  if (whole) p->mode = 2; /* the value alone */
  ac_rows_end(r, outer);
}

/* Many rows whose last 8 lanes no instruction joins: those of 256 rows stand together, and go one lane of all rows after another. */
static void rows_of_eights(ac_rows *r, way w, O to, O src, X *count, X *step, X *n) {
  int64_t most = ac_rows_most(r, &src);
  O eights = ac_rows_as(r, ac_rows_scratch(r, EIGHTS, xi(r, LINES * FEW)), w.acc);
  X *at, *i, *k, *width;
  ac_ablock *outer = ac_rows_for(r, "acLine", xi(r, 0), count, xi(r, LINES), &at);
  X *m = ac_rows_decl(r, "acRows", xmin(r, xi(r, LINES), xsub(r, count, at)));
  O from = ac_rows_at(r, src, xmul(r, at, step));
  ac_astmt *few = NULL;
  ac_ablock *body = r->out;
  if (w.acc != AC_U32) { /* whose maximum is no single instruction */
    ac_rows_if(r, xb(r, AC_AE_LE, n, xi(r, TOGETHER)), &few);
    rows_together(r, w, eights, from, m, step, n);
    ac_rows_else(r, few);
  }
  ac_rows_for(r, "acRow", xi(r, 0), m, xi(r, 1), &i);
  O lanes = one_row(r, w, ac_rows_at(r, from, xmul(r, i, step)), n, most, &width);
  X *left = most > FEW ? fold(r, w, lanes, width, 32, FEW, 1) : width;
  ac_rows_inst(r, AC_I_COPY, left, 2, ac_rows_at(r, eights, xmul(r, i, xi(r, FEW))), lanes);
  ac_rows_end(r, body);
  O offsets = ac_rows_as(r, ac_rows_scratch(r, T, xi(r, AC_ROWS_PIECE)), AC_I32);
  O lane = ac_rows_as(r, ac_rows_at(r, offsets, xi(r, LINES)), w.acc), here = ac_rows_at(r, to, at);
  ac_rows_inst(r, AC_I_VECINDEX, m, 2, offsets, ac_rows_scalar(xi(r, 0)));
  ac_rows_inst(r, AC_I_MULS, m, 3, offsets, offsets, ac_rows_scalar(xi(r, 32)));
  O where = ac_rows_as(r, offsets, AC_U32);
  ac_rows_inst(r, AC_I_GATHER, m, 4, here, eights, where, ac_rows_scalar(xi(r, 0)));
  body = ac_rows_for(r, "acLane", xi(r, 1), xmin(r, n, xi(r, FEW)), xi(r, 1), &k);
  ac_rows_inst(r, AC_I_GATHER, m, 4, lane, eights, where, ac_rows_scalar(xmul(r, k, xi(r, 4))));
  ac_rows_inst(r, w.op, m, 3, here, here, lane);
  ac_rows_end(r, body);
  ac_rows_end(r, outer);
}

/* Rows to one element each, at `to`, one behind another, in the work's dtype. */
static void rows(ac_rows *r, way w, O to, O src, X *count, X *step, X *n) {
  int64_t most = ac_rows_most(r, &src);
  X *i = NULL, *width;
  bool many = !x_is(count, 1);
  if (w.whole == AC_INST_COUNT && many) {
    rows_of_eights(r, w, to, src, count, step, n);
    return;
  }
  bool narrow = w.whole != AC_INST_COUNT && ac_rows_dtype(r, &src) == AC_F32;
  ac_astmt *fits = NULL;
  ac_ablock *outer = r->out;
  if (narrow) { /* 255 rows of up to 64 elements an instruction */
    X *cond = xb(r, AC_AE_AND, xb(r, AC_AE_LE, n, xi(r, LANES)),
                 xb(r, AC_AE_LE, ac_rows_blocks(r, &src, step), xi(r, 255)));
    ac_rows_if(r, cond, &fits);
    ac_ablock *in = ac_rows_for(r, "acRow", xi(r, 0), count, xi(r, AC_ROWS_REPEATS), &i);
    ac_astmt *s = ac_rows_inst(r, w.whole, NULL, 2, ac_rows_at(r, to, i), ac_rows_at(r, src, xmul(r, i, step)));
    ac_rows_rep(r, s, n, xmin(r, xi(r, AC_ROWS_REPEATS), xsub(r, count, i)), xi(r, 1), ac_rows_blocks(r, &src, step),
                NULL)
        ->mode = 2;
    ac_rows_end(r, in);
    ac_rows_else(r, fits);
  }
  if (many) {
    ac_rows_if(r, xb(r, AC_AE_LE, n, xi(r, TOGETHER)), &fits);
    rows_together(r, w, to, src, count, step, n);
    ac_rows_else(r, fits);
    ac_rows_for(r, "acRow", xi(r, 0), count, xi(r, 1), &i);
  }
  O lanes = one_row(r, w, ac_rows_at(r, src, many ? xmul(r, i, step) : NULL), n, most, &width);
  join(r, w, ac_rows_at(r, to, many ? i : NULL), lanes, width);
  ac_rows_end(r, outer);
}

/* Results in the work's dtype to the destination's. */
static void narrow(ac_rows *r, O to, O from, X *n) {
  ac_dtype d = ac_rows_dtype(r, &to), acc = ac_rows_dtype(r, &from);
  if (d == acc) {
    ac_rows_inst(r, AC_I_COPY, n, 2, to, from);
  } else if (acc == AC_F32) {
    ac_rows_cast(r, to, from, AC_RN_RINT, n);
  } else { /* integers wrap: the bits above those of the dtype go, and bytes go by way of half */
    bool byte = ac_dtypes[d].bytes == 1, sign = d == AC_I8 || byte == false;
    O bits = ac_rows_as(r, from, AC_U32), moved = sign ? ac_rows_as(r, from, AC_I32) : bits;
    O past = ac_rows_scalar(xi(r, byte ? 24 : 16));
    ac_rows_inst(r, AC_I_SHL, n, 3, bits, bits, past);
    ac_rows_inst(r, AC_I_SHR, n, 3, moved, moved, past);
    if (!byte) {
      ac_rows_cast(r, ac_rows_as(r, to, AC_I16), ac_rows_as(r, from, AC_I32), AC_RN_NONE, n);
      return;
    }
    O wide = ac_rows_scratch(r, WIDE, xi(r, AC_ROWS_PIECE)), half = ac_rows_as(r, from, AC_F16);
    ac_rows_cast(r, wide, ac_rows_as(r, from, AC_I32), AC_RN_RINT, n);
    ac_rows_cast(r, half, wide, AC_RN_RINT, n);
    ac_rows_cast(r, to, half, AC_RN_RINT, n);
  }
}

/* Rows to the destination, by way of a line of results where the dtypes differ. */
static void rows_out(ac_rows *r, way w, O to, O src, X *count, X *step, X *n) {
  if (ac_rows_dtype(r, &to) == w.acc) {
    rows(r, w, to, src, count, step, n);
    return;
  }
  O line = ac_rows_as(r, ac_rows_scratch(r, LINE, xi(r, 256)), w.acc);
  X *at;
  ac_ablock *outer = ac_rows_for(r, "acLine", xi(r, 0), count, xi(r, 256), &at);
  X *m = ac_rows_decl(r, "acRows", xmin(r, xi(r, 256), xsub(r, count, at)));
  rows(r, w, line, ac_rows_at(r, src, xmul(r, at, step)), m, step, n);
  narrow(r, ac_rows_at(r, to, at), line, m);
  ac_rows_end(r, outer);
}

/* `count` rows that are `step` apart to one row of n elements. */
static void columns(ac_rows *r, way w, O to, O src, X *count, X *step, X *n) {
  O t = ac_rows_as(r, ac_rows_scratch(r, T, xi(r, AC_ROWS_PIECE)), w.acc),
    acc = ac_rows_as(r, ac_rows_scratch(r, ACC, xi(r, LANES)), w.acc);
  X *c, *p, *k;
  ac_ablock *outer = ac_rows_for(r, "acColumn", xi(r, 0), n, xi(r, LANES), &c);
  X *lanes = ac_rows_decl(r, "acLanes", xmin(r, xi(r, LANES), xsub(r, n, c)));
  ac_ablock *body = ac_rows_for(r, "acPiece", xi(r, 0), count, xi(r, ROWS), &p);
  X *m = ac_rows_decl(r, "acCount", xmin(r, xi(r, ROWS), xsub(r, count, p)));
  ac_ablock *each = ac_rows_for(r, "acRow", xi(r, 0), m, xi(r, 1), &k);
  widen(r, ac_rows_at(r, t, xmul(r, k, xi(r, LANES))), ac_rows_at(r, src, xadd(r, xmul(r, xadd(r, p, k), step), c)),
        lanes);
  ac_rows_end(r, each);
  (void)fold(r, w, t, m, ROWS / 2, 1, LANES);
  ac_astmt *first;
  each = ac_rows_if(r, xb(r, AC_AE_EQ, p, xi(r, 0)), &first);
  ac_rows_inst(r, AC_I_COPY, lanes, 2, acc, t);
  ac_rows_else(r, first);
  ac_rows_inst(r, w.op, lanes, 3, acc, acc, t);
  ac_rows_end(r, each);
  ac_rows_end(r, body);
  narrow(r, ac_rows_at(r, to, c), acc, lanes);
  ac_rows_end(r, outer);
}

/* Element by element in the scalar unit: element i of the result joins `count` elements that are `step` apart. */
static void scalars(ac_rows *r, way w, O to, O src, X *n, X *next, X *count, X *step) {
  X *i = xi(r, 0), *k;
  ac_ablock *outer = r->out;
  if (!x_is(n, 1)) ac_rows_for(r, "acLane", xi(r, 0), n, xi(r, 1), &i);
  O from = ac_rows_at(r, src, xmul(r, i, next));
  X *v = ac_rows_decl(r, "acJoined", ac_rows_read(r, from));
  ac_ablock *body = ac_rows_for(r, "acNext", xi(r, 1), count, xi(r, 1), &k);
  X *x = ac_rows_read(r, ac_rows_at(r, from, xmul(r, k, step)));
  ac_rows_set(r, v, xb(r, w.scalar, v, x));
  ac_rows_end(r, body);
  ac_rows_write(r, ac_rows_at(r, to, i), v);
  ac_rows_end(r, outer);
}

static void one_axis(ac_rows *r, way w, O to, O src, int axis) {
  const ac_aview *v = src.nd;
  int last = v->rank - 1, lanes = axis == last ? last - 1 : last;
  unsigned inside = 1u << axis | (lanes >= 0 ? 1u << lanes : 0);
  ac_ablock *outer = ac_rows_nest(r, v, inside, &src, &to, axis);
  X *n = lanes >= 0 ? v->extent[lanes] : xi(r, 1), *next = lanes >= 0 ? v->stride[lanes] : xi(r, 0);
  if (w.acc == AC_NODTYPE)
    scalars(r, w, to, src, n, next, v->extent[axis], v->stride[axis]);
  else if (axis == last)
    rows_out(r, w, to, src, n, next, v->extent[last]);
  else
    columns(r, w, to, src, v->extent[axis], v->stride[axis], n);
  ac_rows_end(r, outer);
}

/* All axes: the last first, the results as one row after it. */
static void all_axes(ac_rows *r, way w, O to, O src) {
  const ac_aview *v = src.nd;
  int last = v->rank - 1;
  if (last == 0) {
    one_axis(r, w, to, src, 0);
    return;
  }
  X *room = xi(r, 1), *n = xi(r, 1);
  const ac_abuffer *b = &r->k->buffers.data[src.tensor->buffer];
  for (int d = 0; d + 1 < b->rank; d++) room = xmul(r, room, b->dims[d]);
  for (int d = 0; d < last; d++) n = xmul(r, n, v->extent[d]);
  ac_dtype d = w.acc == AC_NODTYPE ? AC_I64 : w.acc;
  O inner = ac_rows_as(r, ac_rows_scratch(r, INNER, w.acc == AC_NODTYPE ? xmul(r, room, xi(r, 2)) : room), d),
    at = inner;
  ac_aview line = {.rank = last};
  X *step = xi(r, 1);
  for (int k = last - 1; k >= 0; k--) {
    line.extent[k] = v->extent[k];
    line.stride[k] = step;
    step = xmul(r, step, v->extent[k]);
  }
  at.nd = &line;
  one_axis(r, w, at, src, last);
  if (w.acc == AC_NODTYPE)
    scalars(r, w, to, inner, xi(r, 1), xi(r, 0), n, xi(r, 1));
  else
    rows_out(r, w, to, inner, xi(r, 1), xi(r, 0), n);
}

void ac_rows_reduce(ac_rows *r, const ac_astmt *s) {
  O to = s->ops[0], src = s->ops[1];
  way w = way_of(s, ac_rows_dtype(r, &src));
  if (s->axis < 0)
    all_axes(r, w, to, src);
  else
    one_axis(r, w, to, src, s->axis);
}

/* ---- the index of the largest or smallest ----
 *
 * Rows: the value first; then, in pieces of 2,048, the lanes that equal it (or, when it is a NaN, that are one) keep their number in
 * float32, the others get one beyond all; the least is the first. Columns: row by row, where a row is better or a NaN its number takes the
 * place, unless a NaN is there already. Integers of up to 16 bits are compared as float32, of 32 bits as they are; int64 by the scalar
 * unit. */

enum { IDX = 3, PICK = 4, MASK = 5, FAR = 16777216 };

/* What an argument's elements are compared as; AC_NODTYPE: by the scalar unit. */
static ac_dtype compared_as(ac_dtype d) {
  bool exact = ac_dtypes[d].cls == AC_FLOATING || ac_dtypes[d].bytes <= 2;
  return exact ? AC_F32 : ac_dtypes[d].bytes == 4 ? d : AC_NODTYPE;
}

static void first_in_row(ac_rows *r, ac_dtype acc, O index, O value, O src, X *n) {
  O t = ac_rows_as(r, ac_rows_scratch(r, T, xi(r, AC_ROWS_PIECE)), acc),
    number = ac_rows_scratch(r, IDX, xi(r, AC_ROWS_PIECE)), pick = ac_rows_scratch(r, PICK, xi(r, AC_ROWS_PIECE)),
    mask = ac_rows_as(r, ac_rows_scratch(r, MASK, xi(r, 128)), AC_U8);
  X *best = ac_rows_read(r, value), *at;
  X *found = ac_rows_decl(r, "acFound", xi(r, -1));
  ac_ablock *outer = ac_rows_for(r, "acPiece", xi(r, 0), n, xi(r, AC_ROWS_PIECE), &at);
  ac_ablock *body = ac_rows_if(r, xb(r, AC_AE_LT, found, xi(r, 0)), NULL);
  X *m = ac_rows_decl(r, "acCount", xmin(r, xi(r, AC_ROWS_PIECE), xsub(r, n, at)));
  X *lanes = xb(r, AC_AE_ALIGN_UP, m, xi(r, LANES));
  widen(r, t, ac_rows_at(r, src, at), m);
  ac_astmt *nan;
  ac_ablock *in;
  if (acc == AC_F32) {
    in = ac_rows_if(r, xb(r, AC_AE_EQ, best, best), &nan);
    ac_rows_inst(r, AC_I_CMPS, lanes, 3, mask, t, ac_rows_scalar(best))->cmp = AC_CMP_EQ;
    ac_rows_else(r, nan);
    ac_rows_inst(r, AC_I_CMP, lanes, 3, mask, t, t)->cmp = AC_CMP_NE;
    ac_rows_end(r, in);
  } else { /* the same bits; a compare of 32 bits takes two vectors */
    O all = ac_rows_as(r, pick, AC_I32);
    ac_rows_inst(r, AC_I_DUP, lanes, 2, all, ac_rows_scalar(best));
    ac_rows_inst(r, AC_I_CMP, lanes, 3, mask, ac_rows_as(r, t, AC_I32), all)->cmp = AC_CMP_EQ;
  }
  ac_rows_inst(r, AC_I_VECINDEX, m, 2, number, ac_rows_scalar(ac_ae_float(r->c->a, 0)));
  ac_rows_inst(r, AC_I_SELS, m, 4, pick, mask, number, ac_rows_scalar(ac_ae_float(r->c->a, FAR)));
  r->k->select = true;
  way w = {AC_I_MIN, AC_I_WHOLE_MIN, AC_AE_MIN, AC_F32};
  X *width = fold(r, w, pick, m, AC_ROWS_PIECE / 2, LANES, 1);
  O nearest = ac_rows_as(r, t, AC_F32);
  join(r, w, nearest, pick, width);
  X *least = ac_rows_read(r, nearest);
  in = ac_rows_if(r, xb(r, AC_AE_LT, least, ac_ae_float(r->c->a, FAR)), NULL);
  ac_rows_set(r, found, xadd(r, at, ac_ae(r->c->a, AC_AE_TO_INT, AC_AT_INT, least, NULL)));
  ac_rows_end(r, in);
  ac_rows_end(r, body);
  ac_rows_end(r, outer);
  ac_rows_write(r, index, found);
}

/* int64: in the scalar unit. */
static void first_by_scalars(ac_rows *r, O index, const O *value, O src, X *count, X *step, bool largest) {
  X *k, *best = ac_rows_decl(r, "acBest", ac_rows_read(r, src)), *found = ac_rows_decl(r, "acFound", xi(r, 0));
  ac_ablock *outer = ac_rows_for(r, "acNext", xi(r, 1), count, xi(r, 1), &k);
  X *x = ac_rows_read(r, ac_rows_at(r, src, xmul(r, k, step)));
  ac_ablock *body = ac_rows_if(r, xb(r, largest ? AC_AE_GT : AC_AE_LT, x, best), NULL);
  ac_rows_set(r, best, x);
  ac_rows_set(r, found, k);
  ac_rows_end(r, body);
  ac_rows_end(r, outer);
  ac_rows_write(r, index, found);
  if (value) ac_rows_write(r, *value, best);
}

static void first_in_columns(ac_rows *r, ac_dtype acc, O index, const O *value, O src, X *count, X *step, X *n,
                             bool largest) {
  O best = ac_rows_as(r, ac_rows_scratch(r, T, xi(r, AC_ROWS_PIECE)), acc),
    row = ac_rows_as(r, ac_rows_scratch(r, LINE, xi(r, AC_ROWS_PIECE)), acc),
    number = ac_rows_scratch(r, IDX, xi(r, AC_ROWS_PIECE)), pick = ac_rows_scratch(r, PICK, xi(r, AC_ROWS_PIECE)),
    mask = ac_rows_as(r, ac_rows_scratch(r, MASK, xi(r, 128)), AC_U8);
  X *c, *k;
  ac_ablock *outer = ac_rows_for(r, "acColumn", xi(r, 0), n, xi(r, AC_ROWS_PIECE), &c);
  X *m = ac_rows_decl(r, "acCount", xmin(r, xi(r, AC_ROWS_PIECE), xsub(r, n, c)));
  X *lanes = xb(r, AC_AE_ALIGN_UP, m, xi(r, LANES));
  widen(r, best, ac_rows_at(r, src, c), m);
  ac_rows_inst(r, AC_I_DUP, m, 2, number, ac_rows_scalar(ac_ae_float(r->c->a, 0)));
  ac_ablock *body = ac_rows_for(r, "acRow", xi(r, 1), count, xi(r, 1), &k);
  widen(r, row, ac_rows_at(r, src, xadd(r, xmul(r, k, step), c)), m);
  /* kept where the row is not better: comparisons with a NaN are false, so a NaN in the row takes the place */
  ac_rows_inst(r, AC_I_CMP, lanes, 3, mask, row, best)->cmp = largest ? AC_CMP_LE : AC_CMP_GE;
  bool nans = ac_dtypes[ac_rows_dtype(r, &src)].cls == AC_FLOATING;
  ac_rows_inst(r, AC_I_SELS, m, 4, nans ? pick : number, mask, number, ac_rows_scalar(ac_ae_to_float(r->c->a, k)));
  if (nans) {
    ac_rows_inst(r, AC_I_CMP, lanes, 3, mask, best, best)->cmp = AC_CMP_EQ; /* but not that of a NaN */
    ac_rows_inst(r, AC_I_SEL, m, 4, number, mask, pick, number);
  }
  ac_rows_inst(r, largest ? AC_I_MAX : AC_I_MIN, m, 3, best, best, row);
  r->k->select = true;
  ac_rows_end(r, body);
  ac_rows_cast(r, ac_rows_at(r, index, c), number, AC_RN_RINT, m);
  if (value) narrow(r, ac_rows_at(r, *value, c), best, m);
  ac_rows_end(r, outer);
}

static void arg_rows(ac_rows *r, const ac_astmt *s, O index, const O *value, O src, X *count, X *step, X *n) {
  ac_dtype acc = compared_as(ac_rows_dtype(r, &src));
  way w = {AC_I_MAX, AC_I_WHOLE_MAX, AC_AE_MAX, acc};
  if (s->prim == AC_P_ARGMIN) w = (way){AC_I_MIN, AC_I_WHOLE_MIN, AC_AE_MIN, acc};
  if (acc != AC_F32) w.whole = AC_INST_COUNT;
  O line = ac_rows_as(r, ac_rows_scratch(r, LINE, xi(r, AC_ROWS_PIECE)), acc);
  X *at, *i;
  ac_ablock *outer = ac_rows_for(r, "acLine", xi(r, 0), count, xi(r, 256), &at);
  X *m = ac_rows_decl(r, "acRows", xmin(r, xi(r, 256), xsub(r, count, at)));
  O from = ac_rows_at(r, src, xmul(r, at, step));
  rows(r, w, line, from, m, step, n);
  ac_ablock *body = ac_rows_for(r, "acRow", xi(r, 0), m, xi(r, 1), &i);
  first_in_row(r, acc, ac_rows_at(r, index, xadd(r, at, i)), ac_rows_at(r, line, i),
               ac_rows_at(r, from, xmul(r, i, step)), n);
  ac_rows_end(r, body);
  if (value) narrow(r, ac_rows_at(r, *value, at), line, m);
  ac_rows_end(r, outer);
}

void ac_rows_arg(ac_rows *r, const ac_astmt *s) {
  O index = s->ops[0], src = s->ops[1], value = s->n_ops > 2 ? s->ops[2] : (O){.view = AC_NODTYPE};
  const O *out = s->n_ops > 2 ? &value : NULL;
  const ac_aview *v = src.nd;
  int last = v->rank - 1, axis = s->axis < 0 ? 0 : s->axis, lanes = axis == last ? last - 1 : last;
  bool largest = s->prim == AC_P_ARGMAX;
  ac_ablock *outer = r->out;
  for (int d = 0; d < v->rank; d++) {
    X *i;
    if (d == axis || d == lanes || x_is(v->extent[d], 1)) continue;
    ac_rows_for(r, "acAxis", xi(r, 0), v->extent[d], xi(r, 1), &i);
    src.offset = xadd(r, src.offset, xmul(r, i, v->stride[d]));
    index.offset = xadd(r, index.offset, xmul(r, i, index.nd->stride[d > axis ? d - 1 : d]));
    if (out) value.offset = xadd(r, value.offset, xmul(r, i, value.nd->stride[d > axis ? d - 1 : d]));
  }
  X *n = lanes >= 0 ? v->extent[lanes] : xi(r, 1), *next = lanes >= 0 ? v->stride[lanes] : xi(r, 0), *i;
  ac_dtype acc = compared_as(ac_rows_dtype(r, &src));
  if (acc == AC_NODTYPE) {
    ac_rows_for(r, "acLane", xi(r, 0), n, xi(r, 1), &i);
    O to = ac_rows_at(r, value, i);
    first_by_scalars(r, ac_rows_at(r, index, i), out ? &to : NULL, ac_rows_at(r, src, xmul(r, i, next)),
                     v->extent[axis], v->stride[axis], largest);
  } else if (axis == last)
    arg_rows(r, s, index, out, src, n, next, v->extent[last]);
  else
    first_in_columns(r, acc, index, out, src, v->extent[axis], v->stride[axis], n, largest);
  ac_rows_end(r, outer);
}

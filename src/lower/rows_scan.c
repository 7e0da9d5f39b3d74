/* Prefix sums, products, maxima and minima.
 *
 * Order: one element after another, from the first to the last, or from the last to the first with reverse. Along rows: groups of up to 128
 * rows become lanes; 2,048 elements at a time are transposed, each column is joined to the one before it, and they go back the same way.
 * Along another axis: row after row. float16 and bfloat16 run in float32 and each result is rounded once. Integers of one and eight bytes,
 * and unsigned ones, go through the scalar unit. */
#include "lower/rows.h"

#include <math.h>

enum { KEPT = 0, RUN = 1, COLUMN = 2, TAKEN = 4, WIDE = 5 }; /* scratch; transposes take 2 and 3 */
enum { LANES = 128 };

typedef struct {
  ac_inst op;
  ac_aekind scalar;
  ac_dtype acc; /* AC_NODTYPE: the scalar unit does it */
  X *start;     /* of an exclusive one */
  bool reverse, exclusive;
} way;

static X *least(ac_rows *r, ac_dtype d, bool most) {
  ac_arena *a = r->c->a;
  int bits = ac_dtypes[d].bytes * 8;
  if (ac_dtypes[d].cls == AC_FLOATING) return ac_ae_float(a, most ? INFINITY : -INFINITY);
  if (ac_dtypes[d].cls == AC_UNSIGNED) return ac_ae_int(a, most ? (int64_t)((1ull << bits) - 1) : 0);
  int64_t top = (int64_t)((1ull << (bits - 1)) - 1);
  return ac_ae_int(a, most ? top : -top - 1);
}

static way way_of(ac_rows *r, const ac_astmt *s, ac_dtype d) {
  static const ac_inst insts[] = {AC_I_ADD, AC_I_MUL, AC_I_MAX, AC_I_MIN};
  static const ac_aekind kinds[] = {AC_AE_ADD, AC_AE_MUL, AC_AE_MAX, AC_AE_MIN};
  int i = s->prim - AC_P_CUMSUM;
  bool fl = ac_dtypes[d].cls == AC_FLOATING;
  way w = {.op = insts[i], .scalar = kinds[i], .acc = fl ? AC_F32 : d == AC_I32 || d == AC_I16 ? d : AC_NODTYPE};
  w.reverse = s->how & AC_HOW_REVERSE;
  w.exclusive = s->how & AC_HOW_EXCLUSIVE;
  w.start = i > 1 ? least(r, d, i == 3) : fl ? ac_ae_float(r->c->a, i) : ac_ae_int(r->c->a, i);
  return w;
}

static void take(ac_rows *r, O to, O from, X *n) {
  if (ac_rows_dtype(r, &to) == ac_rows_dtype(r, &from))
    ac_rows_inst(r, AC_I_COPY, n, 2, to, from);
  else
    ac_rows_cast(r, to, from, ac_dtypes[ac_rows_dtype(r, &to)].bytes == 4 ? AC_RN_NONE : AC_RN_RINT, n);
}

/* Element `at` of the order as an index. */
static X *turned(ac_rows *r, const way *w, X *at, X *n) {
  return w->reverse ? xsub(r, xsub(r, n, xi(r, 1)), at) : at;
}

/* run = run joined with value; an exclusive result is what ran before. `first`: nothing did. */
static void advance(ac_rows *r, const way *w, O keep, O run, O value, X *first, X *n) {
  if (w->exclusive) {
    take(r, keep, run, n);
    ac_rows_inst(r, w->op, n, 3, run, run, value);
    return;
  }
  ac_astmt *s;
  ac_ablock *outer = ac_rows_if(r, xb(r, AC_AE_EQ, first, xi(r, 0)), &s);
  take(r, run, value, n);
  ac_rows_else(r, s);
  ac_rows_inst(r, w->op, n, 3, run, run, value);
  ac_rows_end(r, outer);
  take(r, keep, run, n);
}

/* Columns of `lanes` values: kept[c] = value[c] joined with what ran before it, or, exclusive, what ran before it alone. `run` goes on from
 * piece to piece; `piece` 0: nothing ran yet. */
static void join_columns(ac_rows *r, const way *w, O kept, O value, O run, X *piece, X *cols, X *lanes) {
  X *c, *last = turned(r, w, xsub(r, cols, xi(r, 1)), cols), *first = turned(r, w, xi(r, 0), cols);
  O k0 = ac_rows_at(r, kept, xmul(r, first, lanes)), v0 = ac_rows_at(r, value, xmul(r, first, lanes));
  if (w->exclusive)
    take(r, k0, run, lanes);
  else {
    ac_astmt *s;
    ac_ablock *outer = ac_rows_if(r, xb(r, AC_AE_EQ, piece, xi(r, 0)), &s);
    take(r, k0, v0, lanes);
    ac_rows_else(r, s);
    ac_rows_inst(r, w->op, lanes, 3, k0, run, v0);
    ac_rows_end(r, outer);
  }
  ac_ablock *in = ac_rows_for(r, "acColumn", xi(r, 1), cols, xi(r, 1), &c);
  X *at = turned(r, w, c, cols), *before = turned(r, w, xsub(r, c, xi(r, 1)), cols);
  O was = ac_rows_at(r, kept, xmul(r, before, lanes));
  ac_rows_inst(r, w->op, lanes, 3, ac_rows_at(r, kept, xmul(r, at, lanes)), was,
               ac_rows_at(r, value, xmul(r, w->exclusive ? before : at, lanes)));
  ac_rows_end(r, in);
  O end = ac_rows_at(r, kept, xmul(r, last, lanes));
  if (w->exclusive)
    ac_rows_inst(r, w->op, lanes, 3, run, end, ac_rows_at(r, value, xmul(r, last, lanes)));
  else
    take(r, run, end, lanes);
}

/* `count` rows of n elements, `step` apart; results row after row `to_step` apart. `loose`: see ac_rows_turn. */
static void along_rows(ac_rows *r, const way *w, O to, O src, X *count, X *step, X *to_step, X *n, bool loose) {
  ac_dtype d = ac_rows_dtype(r, &src), bits = ac_dtypes[d].bytes == 4 ? AC_I32 : AC_I16;
  bool wide = d != w->acc;
  O kept = ac_rows_as(r, ac_rows_scratch(r, KEPT, xi(r, AC_ROWS_PIECE)), w->acc),
    run = ac_rows_as(r, ac_rows_scratch(r, RUN, xi(r, LANES)), w->acc),
    taken = ac_rows_as(r, ac_rows_scratch(r, TAKEN, xi(r, AC_ROWS_PIECE)), d),
    value = wide ? ac_rows_as(r, ac_rows_scratch(r, WIDE, xi(r, AC_ROWS_PIECE)), w->acc) : taken;
  O all = ac_rows_as(r, src, bits), back = ac_rows_as(r, to, bits), turned_in = ac_rows_as(r, taken, bits);
  X *g, *p;
  ac_ablock *outer = ac_rows_for(r, "acGroup", xi(r, 0), count, xi(r, LANES), &g);
  X *m = ac_rows_decl(r, "acRows", xmin(r, xi(r, LANES), xsub(r, count, g)));
  /* whole blocks of lanes, and of columns: 2,048 is no multiple of 48 lanes */
  X *lanes = ac_rows_decl(r, "acLanes", xb(r, AC_AE_ALIGN_UP, m, xi(r, 32 / ac_dtypes[d].bytes)));
  X *many =
      ac_rows_decl(r, "acColumns",
                   xmin(r, xi(r, 128), xmul(r, xb(r, AC_AE_FLOORDIV, xi(r, AC_ROWS_PIECE / 16), lanes), xi(r, 16))));
  if (w->exclusive) ac_rows_inst(r, AC_I_DUP, lanes, 2, run, ac_rows_scalar(w->start));
  X *pieces = ac_rows_decl(r, "acPieces", xb(r, AC_AE_CDIV, n, many));
  ac_ablock *body = ac_rows_for(r, "acPiece", xi(r, 0), pieces, xi(r, 1), &p);
  X *which = w->reverse ? xsub(r, xsub(r, pieces, xi(r, 1)), p) : p;
  X *c0 = ac_rows_decl(r, "acFirst", xmul(r, which, many));
  X *cols = ac_rows_decl(r, "acCount", xmin(r, many, xsub(r, n, c0)));
  ac_rows_turn(r, turned_in, ac_rows_at(r, all, xadd(r, xmul(r, g, step), c0)), lanes, step, m, cols, AC_TURN_DOWN,
               true);
  if (wide) ac_rows_cast(r, value, taken, AC_RN_NONE, xmul(r, cols, lanes));
  join_columns(r, w, kept, value, run, p, cols, lanes);
  if (wide) ac_rows_cast(r, taken, kept, AC_RN_RINT, xmul(r, cols, lanes));
  O results = ac_rows_as(r, wide ? taken : kept, bits);
  ac_rows_turn(r, ac_rows_at(r, back, xadd(r, xmul(r, g, to_step), c0)), results, to_step, lanes, cols, m,
               AC_TURN_ACROSS, loose);
  ac_rows_end(r, body);
  ac_rows_end(r, outer);
}

/* `count` rows one after another, n lanes. */
static void down(ac_rows *r, const way *w, O to, O src, X *count, X *step, X *to_step, X *n) {
  O run = ac_rows_as(r, ac_rows_scratch(r, KEPT, xi(r, AC_ROWS_PIECE)), w->acc);
  X *c, *i;
  ac_ablock *outer = ac_rows_for(r, "acColumn", xi(r, 0), n, xi(r, AC_ROWS_PIECE), &c);
  X *m = ac_rows_decl(r, "acCount", xmin(r, xi(r, AC_ROWS_PIECE), xsub(r, n, c)));
  O wide = ac_rows_as(r, ac_rows_scratch(r, COLUMN, xi(r, AC_ROWS_PIECE)), w->acc);
  if (w->exclusive) ac_rows_inst(r, AC_I_DUP, m, 2, run, ac_rows_scalar(w->start));
  ac_ablock *body = ac_rows_for(r, "acRow", xi(r, 0), count, xi(r, 1), &i);
  X *at = turned(r, w, i, count);
  O from = ac_rows_at(r, src, xadd(r, xmul(r, at, step), c));
  take(r, wide, from, m); /* dst may be src */
  advance(r, w, ac_rows_at(r, to, xadd(r, xmul(r, at, to_step), c)), run, wide, i, m);
  ac_rows_end(r, body);
  ac_rows_end(r, outer);
}

static void scalars(ac_rows *r, const way *w, O to, O src, X *count, X *step, X *to_step) {
  X *i;
  ac_astmt *s;
  X *run = ac_rows_decl(r, "acRun", w->start);
  ac_ablock *outer = ac_rows_for(r, "acNext", xi(r, 0), count, xi(r, 1), &i);
  X *at = turned(r, w, i, count);
  X *x = ac_rows_read(r, ac_rows_at(r, src, xmul(r, at, step)));
  if (w->exclusive) ac_rows_write(r, ac_rows_at(r, to, xmul(r, at, to_step)), run);
  ac_ablock *body = ac_rows_if(r, xb(r, AC_AE_EQ, i, xi(r, 0)), &s);
  ac_rows_set(r, run, w->exclusive ? xb(r, w->scalar, run, x) : x);
  ac_rows_else(r, s);
  ac_rows_set(r, run, xb(r, w->scalar, run, x));
  ac_rows_end(r, body);
  if (!w->exclusive) ac_rows_write(r, ac_rows_at(r, to, xmul(r, at, to_step)), run);
  ac_rows_end(r, outer);
}

void ac_rows_scan(ac_rows *r, const ac_astmt *s) {
  O to = s->ops[0], src = s->ops[1];
  const ac_aview *v = src.nd;
  way w = way_of(r, s, ac_rows_dtype(r, &src));
  int last = v->rank - 1, axis = s->axis < 0 ? 0 : s->axis, lanes = axis == last ? last - 1 : last;
  ac_ablock *outer = r->out;
  for (int d = 0; d < v->rank; d++) {
    X *i;
    if (d == axis || (d == lanes && w.acc != AC_NODTYPE) || x_is(v->extent[d], 1)) continue;
    ac_rows_for(r, "acAxis", xi(r, 0), v->extent[d], xi(r, 1), &i);
    src.offset = xadd(r, src.offset, xmul(r, i, v->stride[d]));
    to.offset = xadd(r, to.offset, xmul(r, i, to.nd->stride[d]));
  }
  X *step = v->stride[axis], *to_step = to.nd->stride[axis];
  O from = ac_rows_at(r, src, NULL), into = ac_rows_at(r, to, NULL);
  if (w.acc == AC_NODTYPE)
    scalars(r, &w, into, from, v->extent[axis], step, to_step);
  else if (axis == last)
    along_rows(r, &w, into, from, lanes >= 0 ? v->extent[lanes] : xi(r, 1), lanes >= 0 ? v->stride[lanes] : xi(r, 0),
               lanes >= 0 ? to.nd->stride[lanes] : xi(r, 0), v->extent[last], ac_rows_loose(r, &s->ops[0]));
  else
    down(r, &w, into, from, v->extent[axis], step, to_step, v->extent[last]);
  ac_rows_end(r, outer);
}

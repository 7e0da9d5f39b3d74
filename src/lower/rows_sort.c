/* Sorts: records of value and number, 32 at a time by Sort32, then merged four lists at a time (MrgSort); GatherMask takes values and
 * numbers apart. The chip sorts the largest first; ascending order sorts the negated values. Lanes up to a multiple of 32 are filled with
 * -inf. float16 goes through float32. At most 8,192 elements: lists of a merge have at most 4,095 records. */
#include "lower/rows.h"

#include <math.h>

enum { VALUES = 0, NUMBERS = 1, RECORDS = 2, PICKED = 3 }; /* scratch */

/* n float32 values at scratch VALUES, filled up to `all` lanes, to sorted records; where they are. `first`: the number of the first. */
static O sorted(ac_rows *r, O values, X *cap, X *all, X *first) {
  O numbers = ac_rows_as(r, ac_rows_scratch(r, NUMBERS, cap), AC_I32),
    records = ac_rows_scratch(r, RECORDS, xmul(r, cap, xi(r, 4)));
  X *g, *i;
  ac_rows_inst(r, AC_I_VECINDEX, all, 2, numbers, ac_rows_scalar(first));
  X *blocks = ac_rows_decl(r, "acBlocks", xover(r, all, 32));
  ac_ablock *outer = ac_rows_for(r, "acBlock", xi(r, 0), blocks, xi(r, 255), &i);
  ac_astmt *sort = ac_rows_inst(r, AC_I_SORT32, NULL, 3, ac_rows_at(r, records, xmul(r, i, xi(r, 64))),
                                ac_rows_at(r, values, xmul(r, i, xi(r, 32))),
                                ac_rows_at(r, ac_rows_as(r, numbers, AC_U32), xmul(r, i, xi(r, 32))));
  ac_rows_rep(r, sort, NULL, xmin(r, xi(r, 255), xsub(r, blocks, i)), NULL, NULL, NULL);
  ac_rows_end(r, outer);
  /* two halves of the records' room take turns */
  X *run = ac_rows_decl(r, "acRun", xi(r, 32)), *here = ac_rows_decl(r, "acHere", xi(r, 0));
  X *room = xmul(r, cap, xi(r, 2));
  outer = ac_rows_while(r, xb(r, AC_AE_LT, run, all));
  ac_ablock *body = ac_rows_for(r, "acList", xi(r, 0), all, xmul(r, run, xi(r, 4)), &g);
  X *left = ac_rows_decl(r, "acLeft", xmin(r, xmul(r, run, xi(r, 4)), xsub(r, all, g)));
  O in = ac_rows_at(r, records, xadd(r, here, xmul(r, g, xi(r, 2)))),
    out = ac_rows_at(r, records, xadd(r, xsub(r, room, here), xmul(r, g, xi(r, 2))));
  ac_astmt *several;
  ac_ablock *inner = ac_rows_if(r, xb(r, AC_AE_GT, left, run), &several);
  ac_rows_inst(r, AC_I_MERGE, left, 3, out, in, ac_rows_scalar(run));
  ac_rows_else(r, several);
  ac_rows_inst(r, AC_I_COPY, xmul(r, left, xi(r, 2)), 2, ac_rows_as(r, out, AC_I32), ac_rows_as(r, in, AC_I32));
  ac_rows_end(r, inner);
  ac_rows_end(r, body);
  ac_rows_set(r, here, xsub(r, room, here));
  ac_rows_set(r, run, xmul(r, run, xi(r, 4)));
  ac_rows_end(r, outer);
  return ac_rows_at(r, records, here);
}

/* Room of an operand's last axis, up to whole groups of 32. */
static X *room_of(ac_rows *r, const O *o) {
  const ac_abuffer *b = &r->k->buffers.data[o->tensor->buffer];
  return xb(r, AC_AE_ALIGN_UP, b->rank ? b->dims[b->rank - 1] : b->elements, xi(r, 32));
}

/* The source in float32 at scratch VALUES, -inf behind it. Returns how many lanes that are. */
static X *prepare(ac_rows *r, O src, O values, X *n, bool negate) {
  X *all = ac_rows_decl(r, "acAll", xb(r, AC_AE_ALIGN_UP, n, xi(r, 32)));
  ac_rows_inst(r, AC_I_DUP, all, 2, values, ac_rows_scalar(ac_ae_float(r->c->a, -INFINITY)));
  if (ac_rows_dtype(r, &src) == AC_F16)
    ac_rows_cast(r, values, src, AC_RN_NONE, n);
  else
    ac_rows_inst(r, AC_I_COPY, n, 2, values, src);
  if (negate) ac_rows_inst(r, AC_I_MULS, n, 3, values, values, ac_rows_scalar(ac_ae_float(r->c->a, -1)));
  return all;
}

static void split(ac_rows *r, O value, O index, O records, X *n) {
  X *twice = xmul(r, n, xi(r, 2));
  ac_rows_inst(r, AC_I_PICK, twice, 3, value, records, ac_rows_scalar(xi(r, 1)));
  ac_rows_inst(r, AC_I_PICK, twice, 3, index, ac_rows_as(r, records, AC_I32), ac_rows_scalar(xi(r, 2)));
}

void ac_rows_sort(ac_rows *r, const ac_astmt *s) {
  bool top = s->prim == AC_P_TOPK, ascending = !top && !(s->how & AC_HOW_DESCENDING);
  O to = s->ops[0], index = s->ops[1], src = s->ops[2];
  X *n = src.nd->extent[0], *k = top ? s->ops[3].scalar : n, *cap = room_of(r, &src);
  bool half = ac_rows_dtype(r, &src) == AC_F16;
  O values = ac_rows_scratch(r, VALUES, cap);
  X *all = prepare(r, ac_rows_at(r, src, NULL), values, n, ascending);
  O records = sorted(r, values, cap, all, xi(r, 0));
  O value = half ? ac_rows_scratch(r, PICKED, cap) : ac_rows_at(r, to, NULL);
  split(r, value, ac_rows_at(r, index, NULL), records, k);
  if (ascending) ac_rows_inst(r, AC_I_MULS, k, 3, value, value, ac_rows_scalar(ac_ae_float(r->c->a, -1)));
  if (half) ac_rows_cast(r, ac_rows_at(r, to, NULL), value, AC_RN_RINT, k);
}

/* The longer list first, in one room: MrgSort by runs takes lists one behind another, the last of which may be shorter. */
static void merge(ac_rows *r, const ac_astmt *s) {
  O a = s->ops[1], b = s->ops[2];
  X *n = a.nd->extent[0], *m = b.nd->extent[0];
  O both = ac_rows_scratch(r, RECORDS, xmul(r, xadd(r, room_of(r, &a), room_of(r, &b)), xi(r, 1)));
  ac_astmt *longer;
  for (int turn = 0; turn < 2; turn++) {
    X *first = turn ? m : n, *second = turn ? n : m;
    O p = ac_rows_at(r, turn ? b : a, NULL), q = ac_rows_at(r, turn ? a : b, NULL);
    ac_ablock *outer = ac_rows_if(r, xb(r, turn ? AC_AE_LT : AC_AE_GE, n, m), &longer);
    ac_rows_inst(r, AC_I_COPY, first, 2, both, p);
    ac_rows_inst(r, AC_I_COPY, second, 2, ac_rows_at(r, both, first), q);
    ac_rows_inst(r, AC_I_MERGE, xover(r, xadd(r, n, m), 2), 3, ac_rows_at(r, s->ops[0], NULL), both,
                 ac_rows_scalar(xover(r, first, 2)));
    ac_rows_end(r, outer);
  }
}

void ac_rows_records(ac_rows *r, const ac_astmt *s) {
  O to = ac_rows_at(r, s->ops[0], NULL);
  if (s->prim == AC_P_MERGE_RECORDS) {
    merge(r, s);
  } else if (s->prim == AC_P_SPLIT_RECORDS) {
    split(r, to, ac_rows_at(r, s->ops[1], NULL), ac_rows_at(r, s->ops[2], NULL), s->ops[0].nd->extent[0]);
  } else {
    X *cap = room_of(r, &s->ops[1]);
    O values = ac_rows_scratch(r, VALUES, cap);
    X *all = prepare(r, ac_rows_at(r, s->ops[1], NULL), values, s->ops[1].nd->extent[0], false);
    O records = sorted(r, values, cap, all, s->n_ops > 2 ? s->ops[2].scalar : xi(r, 0));
    ac_rows_inst(r, AC_I_COPY, xmul(r, all, xi(r, 2)), 2, ac_rows_as(r, to, AC_I32), ac_rows_as(r, records, AC_I32));
  }
}

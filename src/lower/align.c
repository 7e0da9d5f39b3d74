/* Pass "align": tiles become rows of bytes.
 *
 * One copy statement moves `rows` rows of `cols` elements; further axes are loops around it. Axes that are contiguous in global
 * memory and packed in UB are merged. A row whose bytes are no proved multiple of 32 goes through DataCopyPad. In UB every row
 * starts on 32 bytes: with more than one row, `ub_pitch` says where the next one starts. Compares count whole 256-byte repeats. */
#include "lower/internal.h"

#include <string.h>

typedef struct {
  ac_lower_ctx *c;
  ac_lkernel *lk;
  ac_akernel *k;
  int temps;
  bool ok;
} align;

static void block(align *l, ac_ablock *b);
static void copy(align *l, ac_astmt *s, ac_ablock *out);

static void refuse(align *l, ac_loc loc, const char *what, const char *help) {
  ac_diag *x = ac_error(l->c->d, AC0606, loc, "%s", what);
  ac_help(l->c->d, x, "%s", help);
  l->ok = false;
}

static ac_dtype dtype_of(align *l, const ac_atensor *t) {
  return l->k->buffers.data[t->buffer].dtype;
}
static bool is(const ac_aexpr *e, int64_t v) {
  int64_t x;
  return e && ac_ae_const(e, &x) && x == v;
}

bool ac_lower_merge(ac_arena *a, ac_acopy *c, bool merge) {
  int n = 0;
  for (int i = 0; i < c->rank; i++)
    if (!is(c->axis[i].extent, 1)) c->axis[n++] = c->axis[i];
  c->rank = n;
  for (int i = c->rank - 2; merge && i >= 0; i--) {
    ac_aexpr *inner = ac_ae_bin(a, AC_AE_MUL, c->axis[i + 1].extent, c->axis[i + 1].stride);
    ac_aexpr *swapped = ac_ae_bin(a, AC_AE_MUL, c->axis[i + 1].stride, c->axis[i + 1].extent);
    if (!ac_ae_equal(c->axis[i].stride, inner) && !ac_ae_equal(c->axis[i].stride, swapped)) continue;
    c->axis[i].extent = ac_ae_bin(a, AC_AE_MUL, c->axis[i].extent, c->axis[i + 1].extent);
    c->axis[i].stride = c->axis[i + 1].stride;
    for (int j = i + 1; j < c->rank - 1; j++) c->axis[j] = c->axis[j + 1];
    c->rank--;
  }
  return c->rank <= 1;
}

/* Duplicate knows elements of 2 and 4 bytes: bytes go in pairs, 8 bytes as two words, of which both are alike for 0 only, the one pad value
 * that DataCopyPad has for them (asc-devkit docs/zh, DataCopyPad from GM to UB). `whole`: what follows the n elements in their last pair of
 * bytes is nobody's. */
static ac_astmt *fill(align *l, const ac_astmt *s, ac_aexpr *at, ac_aexpr *n, bool whole) {
  ac_arena *a = l->c->a;
  ac_atensor *t = s->copy->ub;
  ac_dtype d = dtype_of(l, t);
  int64_t v;
  int bytes = ac_dtypes[d].bytes;
  ac_astmt *f = ac_as_new(a, AC_AS_INST, s->loc);
  f->inst = AC_I_DUP;
  f->ops[0] = (ac_aoperand){.tensor = t, .offset = at, .view = AC_NODTYPE};
  f->ops[1].scalar = s->copy->pad;
  f->n_ops = 2;
  f->count = n;
  if (ac_insts[AC_I_DUP].dtypes & AC_BIT(d)) return f;
  bool known = ac_ae_const(s->copy->pad, &v);
  if (bytes == 1 && known && (whole || ac_ae_multiple(n, 2))) {
    f->ops[0].view = AC_I16;
    if (at) f->ops[0].offset = ac_ae_bin(a, AC_AE_FLOORDIV, at, ac_ae_int(a, 2));
    f->ops[1].scalar = ac_ae_int(a, (int16_t)(uint16_t)((v & 255) * 257));
    f->count = ac_ae_bin(a, AC_AE_CDIV, n, ac_ae_int(a, 2));
    return f;
  }
  if (bytes == 8 && known && v == 0) {
    f->ops[0].view = AC_I32;
    if (at) f->ops[0].offset = ac_ae_bin(a, AC_AE_MUL, at, ac_ae_int(a, 2));
    f->count = ac_ae_bin(a, AC_AE_MUL, n, ac_ae_int(a, 2));
    return f;
  }
  refuse(l, s->loc,
         !known       ? "a pad value of 1 or 8 bytes that is not known before the program runs"
         : bytes == 8 ? "a pad value of 8 bytes other than 0"
                      : "a pad value for a part of a buffer that may have an odd number of bytes",
         bytes == 8 || !known ? "pad with a constant (64-bit elements: with 0), or load as another dtype"
                              : "pad whole rows of the buffer, or an even number of elements");
  return NULL;
}

/* Distance of rows in UB: the buffer's pitch, or, packed, the row itself where that is whole blocks. */
static ac_aexpr *pitch(align *l, const ac_astmt *s, const ac_acopy *c, int per_block) {
  ac_aexpr *cols = c->axis[c->rank - 1].extent, *own = l->k->buffers.data[c->ub->buffer].pitch;
  if (own && c->rank == 2) return own;
  if (!own && ac_ae_multiple(cols, per_block)) return cols;
  refuse(l, s->loc,
         own ? "a tile of more than two axes with gaps between its rows"
             : "rows that are apart in global memory go to a one-dimensional buffer, and their bytes are not known "
               "to be a multiple of 32",
         own ? "copy two-dimensional parts of it" : "give the buffer two dimensions, or copy one row at a time");
  return cols;
}

static ac_astmt *order(align *l, ac_ablock *out, ac_event e, ac_loc loc) {
  ac_astmt *s = ac_as_new(l->c->a, AC_AS_FLAG, loc);
  s->event = e;
  ac_push(l->c->a, out, s);
  return s;
}

/* Fills the part from `at` on: its rows one by one, or at once where they join. */
static bool fill_part(align *l, const ac_astmt *s, const ac_aview *v, ac_ablock *out) {
  ac_arena *a = l->c->a;
  ac_aexpr *at = s->copy->ub_offset, *n = ac_ae_int(a, 1);
  int d = v->rank;
  while (d > 0 && ac_ae_equal(v->stride[d - 1], n)) n = ac_ae_bin(a, AC_AE_MUL, v->extent[--d], n);
  for (int i = 0; i < d; i++) {
    if (is(v->extent[i], 1)) continue;
    ac_astmt *f = ac_as_new(a, AC_AS_FOR, s->loc);
    f->var = (ac_avar){.name = ac_sprintf(a, "acAxis%d", l->temps++), .type = AC_AT_INT};
    f->lo = ac_ae_int(a, 0);
    f->hi = v->extent[i];
    f->step = ac_ae_int(a, 1);
    ac_aexpr *step = ac_ae_bin(a, AC_AE_MUL, ac_ae_var(a, f->var.name, AC_AT_INT), v->stride[i]);
    at = at ? ac_ae_bin(a, AC_AE_ADD, at, step) : step;
    ac_push(a, out, f);
    out = &f->body;
  }
  const ac_abuffer *b = &l->k->buffers.data[s->copy->ub->buffer];
  bool whole = v->rank && b->rank && ac_ae_equal(v->extent[v->rank - 1], b->dims[b->rank - 1]);
  ac_astmt *f = fill(l, s, at, n, whole);
  if (!f) return false;
  ac_push(a, out, f);
  return true;
}

/* Fills a buffer, or the part that is loaded, with the pad value before the load. What the vector unit must await of copies before,
 * pass "sync" knows: the first flag, with the copy, is a question to it. */
static bool pad(align *l, const ac_astmt *s, ac_ablock *out) {
  order(l, out, AC_EV_MTE2_V, s->loc)->copy = s->copy;
  if (s->copy->fills) {
    if (!fill_part(l, s, s->copy->fills, out)) return false;
  } else {
    ac_astmt *f = fill(l, s, NULL, l->k->buffers.data[s->copy->ub->buffer].elements, true);
    if (!f) return false;
    ac_push(l->c->a, out, f);
  }
  order(l, out, AC_EV_V_MTE2, s->loc);
  return true;
}

/* One element at a time on its way out: a block of its own, since copies begin at blocks of UB. */
static ac_atensor *stage(align *l, ac_dtype d) {
  ac_arena *a = l->c->a;
  const char *name = ac_sprintf(a, "acOne%s", ac_dtypes[d].name);
  for (size_t i = 0; i < l->k->handles.len; i++)
    if (!strcmp(l->k->handles.data[i]->name, name)) return l->k->handles.data[i];
  return ac_lower_scratch(a, l->k, name, ac_ae_int(a, 32 / ac_dtypes[d].bytes), d, 32);
}

/* An element of UB to the place that the copy names: through a block of its own. */
static void one_out(align *l, const ac_astmt *s, ac_acopy *c, ac_ablock *out) {
  ac_arena *a = l->c->a;
  ac_dtype d = dtype_of(l, c->ub);
  ac_atensor *t = stage(l, d);
  ac_astmt *get = ac_as_new(a, AC_AS_GET, s->loc), *read = ac_as_new(a, AC_AS_GETVALUE, s->loc),
           *put = ac_as_new(a, AC_AS_SETVALUE, s->loc), *copy = ac_as_new(a, AC_AS_COPY, s->loc);
  get->tensor = t;
  read->var = (ac_avar){.name = ac_sprintf(a, "acElement%d", l->temps++),
                        .type = ac_dtypes[d].cls == AC_FLOATING ? AC_AT_FLOAT : AC_AT_INT};
  read->ops[0].tensor = c->ub;
  read->ops[0].offset = c->ub_offset ? c->ub_offset : ac_ae_int(a, 0);
  read->n_ops = put->n_ops = 1;
  put->ops[0].tensor = t;
  put->ops[0].offset = ac_ae_int(a, 0);
  put->value = ac_ae_var(a, read->var.name, read->var.type);
  c->ub = t;
  c->ub_offset = NULL;
  copy->copy = c;
  ac_push(a, out, get);
  ac_push(a, out, read);
  ac_push(a, out, put);
  order(l, out, AC_EV_S_MTE3, s->loc);
  ac_push(a, out, copy);
  order(l, out, AC_EV_MTE3_S, s->loc);
}

/* The outermost axis goes by offsets from memory: one copy for each, in their order. */
static void indexed(align *l, ac_astmt *s, ac_ablock *out) {
  ac_arena *a = l->c->a;
  ac_acopy *c = s->copy, *one = AC_NEW(a, ac_acopy);
  ac_astmt *f = ac_as_new(a, AC_AS_FOR, s->loc), *at = ac_as_new(a, AC_AS_GETVALUE, s->loc),
           *n = ac_as_new(a, AC_AS_COPY, s->loc);
  if (c->pad) {
    refuse(l, s->loc, "a pad value for elements that come by offsets from memory",
           "fill the buffer first: tl.duplicate");
    return;
  }
  f->var = (ac_avar){.name = ac_sprintf(a, "acAxis%d", l->temps++), .type = AC_AT_INT};
  f->lo = ac_ae_int(a, 0);
  f->hi = c->axis[0].extent;
  f->step = ac_ae_int(a, 1);
  f->trailing = s->trailing;
  ac_aexpr *v = ac_ae_var(a, f->var.name, AC_AT_INT);
  at->var = (ac_avar){.name = ac_sprintf(a, "acOffset%d", l->temps++), .type = AC_AT_INT};
  at->ops[0].tensor = c->axis[0].index;
  at->ops[0].offset = c->axis[0].index_at ? ac_ae_bin(a, AC_AE_ADD, c->axis[0].index_at, v) : v;
  at->n_ops = 1;
  *one = *c;
  ac_aexpr *offset = ac_ae_var(a, at->var.name, AC_AT_INT);
  one->gm_offset = ac_ae_bin(a, AC_AE_ADD, c->gm_offset, ac_ae_bin(a, AC_AE_MUL, offset, c->axis[0].stride));
  ac_aexpr *step = ac_ae_bin(a, AC_AE_MUL, v, c->axis[0].ub ? c->axis[0].ub : ac_ae_int(a, 1));
  one->ub_offset = c->ub_offset ? ac_ae_bin(a, AC_AE_ADD, c->ub_offset, step) : step;
  for (int i = 1; i < c->rank; i++) one->axis[i - 1] = c->axis[i];
  one->rank = c->rank - 1;
  n->copy = one;
  ac_push(a, out, f);
  ac_push(a, &f->body, at);
  if (one->rank) {
    /* equal offsets: the later one must stay. An atomic store joins both, whatever the order. */
    if (!one->to_ub && !one->atomic) ac_push(a, &f->body, ac_as_new(a, AC_AS_STORE_BARRIER, s->loc));
    copy(l, n, &f->body);
    return;
  }
  one->cols = ac_ae_int(a, 1);
  one->by_element = one->to_ub;
  one->gm_stride = one->to_ub ? ac_ae_int(a, 1) : NULL;
  if (one->to_ub)
    ac_push(a, &f->body, n);
  else
    one_out(l, s, one, &f->body);
}

/* A tile between global memory and a (part of a) buffer whose rows are on a pitch: both sides have strides of their own. */
static void strided(align *l, ac_astmt *s, ac_ablock *out) {
  ac_arena *a = l->c->a;
  ac_acopy *c = s->copy;
  int n = 0;
  if (c->axis[0].index) {
    indexed(l, s, out);
    return;
  }
  bool row = !is(c->axis[c->rank - 1].extent, 1); /* its last axis is the buffer's */
  if (row && c->rank == 1 && c->to_ub && !is(c->axis[0].stride, 1)) {
    if (c->pad && !pad(l, s, out)) return;
    c->by_element = true;
    c->cols = c->axis[0].extent;
    c->gm_stride = c->axis[0].stride;
    c->rank = 0;
    ac_push(a, out, s);
    return;
  }
  if (row && !is(c->axis[c->rank - 1].stride, 1)) {
    refuse(l, s->loc, "a tile of several axes, the innermost with a stride", "load one row at a time");
    return;
  }
  c->cols = row ? c->axis[--c->rank].extent : (c->rank--, ac_ae_int(a, 1));
  for (int i = 0; i < c->rank; i++)
    if (!is(c->axis[i].extent, 1)) c->axis[n++] = c->axis[i];
  if (c->pad && !pad(l, s, out)) return;
  if (n) {
    c->rows = c->axis[n - 1].extent;
    c->gm_stride = c->axis[n - 1].stride;
    c->ub_pitch = c->axis[n - 1].ub;
  }
  c->exact = !c->rows && !c->pad && ac_ae_multiple(c->cols, 32 / ac_dtypes[dtype_of(l, c->ub)].bytes);
  ac_aexpr *ub = c->ub_offset ? c->ub_offset : ac_ae_int(a, 0);
  for (int i = 0; i + 1 < n; i++) {
    ac_astmt *f = ac_as_new(a, AC_AS_FOR, s->loc);
    f->var = (ac_avar){.name = ac_sprintf(a, "acAxis%d", l->temps++), .type = AC_AT_INT};
    f->lo = ac_ae_int(a, 0);
    f->hi = c->axis[i].extent;
    f->step = ac_ae_int(a, 1);
    ac_aexpr *v = ac_ae_var(a, f->var.name, AC_AT_INT);
    c->gm_offset = ac_ae_bin(a, AC_AE_ADD, c->gm_offset, ac_ae_bin(a, AC_AE_MUL, v, c->axis[i].stride));
    ub = ac_ae_bin(a, AC_AE_ADD, ub, ac_ae_bin(a, AC_AE_MUL, v, c->axis[i].ub));
    ac_push(a, out, f);
    out = &f->body;
  }
  c->ub_offset = is(ub, 0) ? NULL : ub;
  c->rank = 0;
  ac_push(a, out, s);
}

static void copy(align *l, ac_astmt *s, ac_ablock *out) {
  ac_arena *a = l->c->a;
  ac_acopy *c = s->copy;
  int per_block = 32 / ac_dtypes[dtype_of(l, c->ub)].bytes;
  const ac_aexpr *own = l->k->buffers.data[c->ub->buffer].pitch;
  bool keep = own && c->rank == 2; /* its rows are on a pitch, even one row or rows of one element */
  if (c->rank && c->axis[0].index) {
    indexed(l, s, out);
    return;
  }
  if (c->rank && c->axis[0].ub) {
    strided(l, s, out);
    return;
  }
  if (!keep) ac_lower_merge(a, c, !own);
  if (!c->rank) {
    c->cols = ac_ae_int(a, 1);
  } else if (!is(c->axis[c->rank - 1].stride, 1)) {
    c->by_element = true;
    if (!c->to_ub) {
      refuse(l, s->loc, "a store whose neighbouring elements are apart in global memory",
             "store along the axis with stride 1");
      return;
    }
    if (c->rank > 1) {
      refuse(l, s->loc, "a tile of several axes, the innermost with a stride", "load one row at a time");
      return;
    }
    c->cols = c->axis[0].extent;
    c->gm_stride = c->axis[0].stride;
  } else {
    c->cols = c->axis[c->rank - 1].extent;
    if (c->rank > 1) {
      c->rows = c->axis[c->rank - 2].extent;
      c->gm_stride = c->axis[c->rank - 2].stride;
      c->ub_pitch = pitch(l, s, c, per_block);
    }
  }
  c->exact = !c->rows && !c->by_element && !c->pad && ac_ae_multiple(c->cols, per_block);
  ac_ablock *to = out;
  ac_aexpr *gm = c->gm_offset, *ub = c->ub_offset ? c->ub_offset : ac_ae_int(a, 0);
  if (c->pad) {
    if (!pad(l, s, out)) return;
  }
  ac_aexpr *step = c->rows ? ac_ae_bin(a, AC_AE_MUL, c->rows, c->ub_pitch) : NULL;
  for (int i = c->rank - 3; i >= 0; i--) step = i ? ac_ae_bin(a, AC_AE_MUL, step, c->axis[i].extent) : step;
  for (int i = 0; i + 2 < c->rank; i++) { /* loops around, outermost first */
    ac_astmt *f = ac_as_new(a, AC_AS_FOR, s->loc);
    f->var = (ac_avar){.name = ac_sprintf(a, "acAxis%d", l->temps++), .type = AC_AT_INT};
    f->lo = ac_ae_int(a, 0);
    f->hi = c->axis[i].extent;
    f->step = ac_ae_int(a, 1);
    ac_aexpr *v = ac_ae_var(a, f->var.name, AC_AT_INT), *inner = ac_ae_bin(a, AC_AE_MUL, c->rows, c->ub_pitch);
    for (int j = i + 1; j + 2 < c->rank; j++) inner = ac_ae_bin(a, AC_AE_MUL, c->axis[j].extent, inner);
    gm = ac_ae_bin(a, AC_AE_ADD, gm, ac_ae_bin(a, AC_AE_MUL, v, c->axis[i].stride));
    ub = ac_ae_bin(a, AC_AE_ADD, ub, ac_ae_bin(a, AC_AE_MUL, v, inner));
    ac_push(a, to, f);
    to = &f->body;
  }
  c->gm_offset = gm;
  c->ub_offset = is(ub, 0) ? NULL : ub;
  c->rank = 0;
  ac_push(a, to, s);
}

static void block(align *l, ac_ablock *b) {
  ac_ablock out = {0};
  for (size_t i = 0; i < b->len && l->ok; i++) {
    ac_astmt *s = b->data[i];
    block(l, &s->body);
    block(l, &s->orelse);
    if (s->kind == AC_AS_COPY) {
      copy(l, s, &out);
      continue;
    }
    if (s->kind == AC_AS_INST && (ac_insts[s->inst].flags & AC_INST_MASK_PAD)) {
      ac_dtype d = ac_operand_dtype(l->k, &s->ops[1]);
      int lanes = 256 / ac_dtypes[d].bytes;
      if (!ac_ae_multiple(s->count, lanes))
        s->count = ac_ae_bin(l->c->a, AC_AE_ALIGN_UP, s->count, ac_ae_int(l->c->a, lanes));
    }
    ac_push(l->c->a, &out, s);
  }
  *b = out;
}

bool ac_lower_align(ac_lower_ctx *c) {
  for (size_t i = 0; i < c->kernels.len; i++) {
    align l = {.c = c, .lk = c->kernels.data[i], .k = c->kernels.data[i]->k, .ok = true};
    for (size_t m = 0; m < l.k->methods.len && l.ok; m++) block(&l, &l.k->methods.data[m].body);
    if (!l.ok) return false;
    ac_lower_banks(c, l.k);
  }
  return true;
}

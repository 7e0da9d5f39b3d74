/* The assembler of pass "legalise": values, registers, instructions. */
#include "lower/legal.h"

static ac_dtype plain(ac_dtype d) {
  return d == AC_BOOL || d == AC_MASK ? AC_U8 : d;
}
static ac_dtype buffer_dtype(const legal *l, const ac_atensor *t) {
  return plain(l->k->buffers.data[t->buffer].dtype);
}

/* ---- expressions ---- */

ac_aexpr *lx_int(legal *l, int64_t v) {
  return ac_ae_int(l->c->a, v);
}
ac_aexpr *lx_float(legal *l, double v) {
  return ac_ae_float(l->c->a, (double)(float)v);
}
ac_aexpr *lx_minus(legal *l, ac_aexpr *x) {
  if (x->kind == AC_AE_INT && x->i != INT64_MIN) return lx_int(l, -x->i);
  if (x->kind == AC_AE_FLOAT) return ac_ae_float(l->c->a, -x->f);
  return ac_ae(l->c->a, AC_AE_NEG, x->type, x, NULL);
}
ac_aexpr *lx_wrap(legal *l, ac_aexpr *s, ac_dtype d) {
  ac_arena *a = l->c->a;
  if (s->type == AC_AT_FLOAT) s = ac_ae(a, AC_AE_TO_INT, AC_AT_INT, s, NULL);
  int64_t range = (int64_t)1 << (8 * ac_dtypes[d].bytes), half = ac_dtypes[d].cls == AC_SIGNED ? range / 2 : 0, v;
  if (ac_ae_const(s, &v)) {
    int64_t r = (int64_t)((uint64_t)v + (uint64_t)half) % range;
    return lx_int(l, (r < 0 ? r + range : r) - half);
  }
  if (half) s = ac_ae_bin(a, AC_AE_ADD, s, lx_int(l, half));
  s = ac_ae_bin(a, AC_AE_MOD, s, lx_int(l, range));
  return half ? ac_ae_bin(a, AC_AE_SUB, s, lx_int(l, half)) : s;
}

/* An offset in elements of `from` as one in elements of `to`. */
static ac_aexpr *rescale(legal *l, ac_aexpr *off, int from, int to) {
  if (!off || from == to) return off;
  return from > to ? ac_ae_bin(l->c->a, AC_AE_MUL, off, lx_int(l, from / to))
                   : ac_ae_bin(l->c->a, AC_AE_FLOORDIV, off, lx_int(l, to / from));
}

/* ---- values ---- */

lv lx_operand(legal *l, const ac_aoperand *o) {
  ac_dtype own = ac_operand_dtype(l->k, o), d = plain(own);
  ac_aexpr *off = o->offset;
  if (l->first) off = off ? ac_ae_bin(l->c->a, AC_AE_ADD, off, l->first) : l->first;
  return (lv){.t = o->tensor, .off = off, .own = d, .d = d, .boolean = own == AC_BOOL};
}
lv lx_mask_operand(legal *l, const ac_aoperand *o) {
  ac_aexpr *off = o->offset; /* bytes; a piece starts at a multiple of 256 lanes */
  if (l->first) {
    ac_aexpr *f = ac_ae_bin(l->c->a, AC_AE_FLOORDIV, l->first, lx_int(l, 8));
    off = off ? ac_ae_bin(l->c->a, AC_AE_ADD, off, f) : f;
  }
  return (lv){.t = o->tensor, .off = off, .own = AC_U8, .d = AC_U8};
}

static lv reg(legal *l, ac_dtype d, int bytes) {
  static ac_atensor none; /* of the first run */
  lv v = {.t = &none, .own = d, .d = d};
  int64_t at = (int64_t)l->reg * l->lanes / ac_dtypes[d].bytes;
  l->reg += bytes;
  if (l->reg > l->most) l->most = l->reg;
  if (!l->measure) {
    if (!l->pool) l->pool = ac_lower_scratch(l->c->a, l->k, "acScratch", lx_int(l, 0), AC_F32, 256);
    v.t = l->pool;
    l->used_pool = true;
  }
  if (at) v.off = lx_int(l, at);
  return v;
}
lv lx_tmp(legal *l, ac_dtype d) {
  return reg(l, plain(d), ac_dtypes[d].bytes);
}
lv lx_tmp_mask(legal *l) {
  return reg(l, AC_U8, 1); /* an eighth of it is used */
}

static ac_aoperand place(legal *l, lv v) {
  if (l->measure) return (ac_aoperand){.tensor = v.t, .view = AC_NODTYPE};
  ac_aoperand o = {.tensor = v.t, .view = AC_NODTYPE};
  o.offset = rescale(l, v.off, ac_dtypes[v.own].bytes, ac_dtypes[v.d].bytes);
  if (v.t && plain(v.d) != buffer_dtype(l, v.t)) o.view = plain(v.d);
  return o;
}

/* ---- instructions ---- */

static ac_astmt *emit(legal *l, ac_inst i) {
  ac_astmt *s = ac_as_new(l->c->a, AC_AS_INST, l->at->loc);
  s->inst = i;
  s->count = l->n;
  if (i == AC_I_SEL || i == AC_I_SELS) l->k->select |= !l->measure;
  if (!l->measure) ac_push(l->c->a, l->out, s);
  return s;
}
static void times(legal *l, ac_astmt *s, int k) {
  if (k != 1) s->count = ac_ae_bin(l->c->a, AC_AE_MUL, s->count, lx_int(l, k));
}
static void put(legal *l, ac_astmt *s, lv v) {
  s->ops[s->n_ops++] = place(l, v);
}
static void put_scalar(ac_astmt *s, ac_aexpr *e) {
  s->ops[s->n_ops++] = (ac_aoperand){.scalar = e, .view = AC_NODTYPE};
}

void lx_1(legal *l, ac_inst i, lv d, lv a) {
  ac_astmt *s = emit(l, i);
  put(l, s, d);
  put(l, s, a);
}
void lx_2(legal *l, ac_inst i, lv d, lv a, lv b) {
  ac_astmt *s = emit(l, i);
  put(l, s, d);
  put(l, s, a);
  put(l, s, b);
}
void lx_s(legal *l, ac_inst i, lv d, lv a, ac_aexpr *e) {
  ac_astmt *s = emit(l, i);
  put(l, s, d);
  put(l, s, a);
  put_scalar(s, e);
}
void lx_f(legal *l, ac_inst i, lv d, lv a, double v) {
  lx_s(l, i, d, a, lx_float(l, v));
}
void lx_i(legal *l, ac_inst i, lv d, lv a, int64_t v) {
  lx_s(l, i, d, a, lx_int(l, v));
}
void lx_fill(legal *l, lv d, ac_aexpr *e) {
  ac_astmt *s = emit(l, AC_I_DUP);
  put(l, s, d);
  put_scalar(s, e);
}
void lx_cast(legal *l, lv d, lv a, ac_round r) {
  ac_astmt *s = emit(l, AC_I_CAST);
  put(l, s, d);
  put(l, s, a);
  s->round = r;
}
/* A compare reads whole repeats of its sources: from inside of a buffer, up to a repeat less a block beyond what is there. */
static void whole_repeats(legal *l, lv v) {
  if (l->measure) return;
  ac_abuffer *b = &l->k->buffers.data[v.t->buffer];
  b->round_to = 256;
  if (v.off && !b->beyond) {
    b->beyond = true;
    b->elements = ac_ae_bin(l->c->a, AC_AE_ADD, b->elements, ac_ae_int(l->c->a, 224 / ac_dtypes[b->dtype].bytes));
  }
  if (!b->home) return;
  ac_abuffer *home = &l->k->buffers.data[b->home - 1];
  home->round_to = 256;
  if (v.off && !home->beyond) {
    home->beyond = true;
    home->elements =
        ac_ae_bin(l->c->a, AC_AE_ADD, home->elements, ac_ae_int(l->c->a, 224 / ac_dtypes[home->dtype].bytes));
  }
}
void lx_compare(legal *l, lv m, lv a, lv b, ac_cmp c) {
  whole_repeats(l, a);
  whole_repeats(l, b);
  ac_astmt *s = emit(l, AC_I_CMP);
  put(l, s, m);
  put(l, s, a);
  put(l, s, b);
  s->cmp = c;
}
void lx_compare_s(legal *l, lv m, lv a, ac_aexpr *e, ac_cmp c) {
  whole_repeats(l, a);
  ac_astmt *s = emit(l, AC_I_CMPS);
  put(l, s, m);
  put(l, s, a);
  put_scalar(s, e);
  s->cmp = c;
}
void lx_select(legal *l, lv d, lv m, lv a, lv b) {
  ac_astmt *s = emit(l, AC_I_SEL);
  put(l, s, d);
  put(l, s, m);
  put(l, s, a);
  put(l, s, b);
}
void lx_select_s(legal *l, lv d, lv m, lv a, ac_aexpr *e) {
  ac_astmt *s = emit(l, AC_I_SELS);
  put(l, s, d);
  put(l, s, m);
  put(l, s, a);
  put_scalar(s, e);
}
void lx_iota(legal *l, lv d, ac_aexpr *first, int k) {
  ac_astmt *s = emit(l, AC_I_VECINDEX);
  put(l, s, d);
  put_scalar(s, first);
  times(l, s, k);
}
void lx_gather(legal *l, lv d, lv table, lv offsets, int64_t base, int k) {
  ac_astmt *s = emit(l, AC_I_GATHER);
  put(l, s, d);
  put(l, s, table);
  put(l, s, lx_as(offsets, AC_U32));
  put_scalar(s, lx_int(l, base));
  times(l, s, k);
}
void lx_bits(legal *l, ac_inst i, lv d, lv a, lv b) {
  int k = ac_dtypes[d.d].bytes / 2;
  ac_astmt *s = emit(l, i);
  put(l, s, lx_as(d, AC_I16));
  put(l, s, lx_as(a, AC_I16));
  if (i != AC_I_NOT) put(l, s, lx_as(b, AC_I16));
  times(l, s, k);
}
void lx_xor(legal *l, lv d, lv a, lv b) {
  lv t = lx_tmp(l, d.d); /* (a or b) and not (a and b) */
  lx_bits(l, AC_I_AND, t, a, b);
  lx_bits(l, AC_I_NOT, t, t, t);
  lx_bits(l, AC_I_OR, d, a, b);
  lx_bits(l, AC_I_AND, d, d, t);
}
void lx_mask_bits(legal *l, ac_inst i, lv d, lv a, lv b) {
  ac_astmt *s = emit(l, i);
  put(l, s, lx_as(d, AC_U16));
  put(l, s, lx_as(a, AC_U16));
  if (i != AC_I_NOT) put(l, s, lx_as(b, AC_U16));
  s->count = ac_ae_bin(l->c->a, AC_AE_CDIV, s->count, lx_int(l, 16));
}
void lx_horner(legal *l, lv d, lv z, const double *c, int n) {
  lx_f(l, AC_I_MULS, d, z, c[0]);
  for (int i = 1; i < n - 1; i++) {
    lx_f(l, AC_I_ADDS, d, d, c[i]);
    lx_2(l, AC_I_MUL, d, d, z);
  }
  lx_f(l, AC_I_ADDS, d, d, c[n - 1]);
}

ac_inst lx_direct(const char *name, ac_dtype d) {
  ac_inst i = ac_inst_by_dsl(name);
  /* the left shift of a signed type keeps the sign bit (asc-devkit docs/zh, ShiftLeft) */
  if (i == AC_I_SHL && ac_dtypes[d].cls == AC_SIGNED) return AC_INST_COUNT;
  return i < AC_INST_COUNT && (ac_insts[i].dtypes & AC_BIT(d)) ? i : AC_INST_COUNT;
}

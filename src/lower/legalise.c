/* Pass "legalise": composed primitives, and dtypes that an instruction does not have, become instructions; reductions get a work tensor
 * of their own where the program's cannot serve; a UB-to-UB copy of any count becomes exact vector instructions.
 *
 * The recipes and their formulas are in legal_float.c, legal_int.c, legal_int64.c, legal_divide.c, legal_divide64.c, legal_cast.c; legal_dtype.c chooses among them. Work
 * is done in pieces, so that scratch does not grow with the tile: one buffer of registers a kernel, at most AC_SCRATCH_BYTES. */
#include "lower/legal.h"

#include <string.h>

/* ---- scratch ---- */

static ac_aexpr *capacity(legal *l, const ac_atensor *t) {
  return l->k->buffers.data[t->buffer].elements;
}

/* ---- element-wise primitives ---- */

static const char *name_of(const ac_astmt *s) {
  return s->kind == AC_AS_INST ? ac_insts[s->inst].dsl : ac_cprim_name((ac_cprim)s->prim);
}

/* The operands by the roles that the primitive's signature gives them. */
static void arguments(legal *l, const ac_astmt *s, lx_args *x) {
  int scalars = 0, sources = 0;
  char roles[8];
  ac_cprim_roles(name_of(s), roles);
  *x = (lx_args){.cmp = s->cmp, .round = s->round};
  for (int i = 0; i < s->n_ops && roles[i]; i++) {
    const ac_aoperand *o = &s->ops[i];
    if (roles[i] == 'm')
      x->m = lx_mask_operand(l, o);
    else if (roles[i] == 'M') /* of masks alone */
      *(i == 0 ? &x->d : i == 1 ? &x->a : &x->b) = lx_mask_operand(l, o);
    else if (roles[i] == 'd')
      x->d = lx_operand(l, o);
    else if (roles[i] == 's')
      *(scalars++ ? &x->s2 : &x->s) = o->scalar;
    else
      *(sources++ ? &x->b : &x->a) = lx_operand(l, o);
  }
  if (!strcmp(name_of(s), "iota") && !x->s2) x->s2 = lx_int(l, 1);
}

static bool run(legal *l, const ac_astmt *s) {
  lx_args x;
  l->reg = l->most = 0;
  arguments(l, s, &x);
  return lx_element(l, name_of(s), &x);
}

static void refuse(legal *l, const ac_astmt *s) { /* the checker knows the same table, elems.def */
  ac_dtype d = ac_operand_dtype(l->k, &s->ops[0]);
  ac_error(l->c->d, AC0600, s->loc, "tl.%s of '%s' has no form in %s", name_of(s), s->ops[0].tensor->name,
           ac_dtypes[d].name);
  l->ok = false;
}

/* The capacity of the first operand that has elements, where it is known. */
static bool known_capacity(legal *l, const ac_astmt *s, int64_t *cap) {
  char roles[8];
  ac_cprim_roles(name_of(s), roles);
  for (int i = 0; i < s->n_ops && roles[i]; i++)
    if (roles[i] == 'd' || roles[i] == 'a') return ac_ae_const(capacity(l, s->ops[i].tensor), cap);
  return false;
}

static void pieces(legal *l, ac_astmt *s, ac_ablock *out) {
  ac_arena *a = l->c->a;
  int64_t cap, lanes = ac_scratch_lanes(l->most);
  int bytes = l->most;
  if (known_capacity(l, s, &cap) && cap <= lanes) {
    l->lanes = (cap + 255) / 256 * 256;
    l->out = out;
    l->first = NULL;
    l->n = s->count;
    run(l, s);
  } else {
    ac_astmt *loop = ac_as_new(a, AC_AS_FOR, s->loc);
    loop->var = (ac_avar){.name = "acLane", .type = AC_AT_INT};
    loop->lo = ac_ae_int(a, 0);
    loop->hi = s->count;
    loop->step = ac_ae_int(a, lanes);
    l->first = ac_ae_var(a, "acLane", AC_AT_INT);
    ac_astmt *n = ac_as_new(a, AC_AS_DECL, s->loc);
    n->var = (ac_avar){.name = "acCount", .type = AC_AT_INT};
    n->value = ac_ae_bin(a, AC_AE_MIN, ac_ae_int(a, lanes), ac_ae_bin(a, AC_AE_SUB, s->count, l->first));
    ac_push(a, &loop->body, n);
    l->n = ac_ae_var(a, "acCount", AC_AT_INT);
    l->lanes = lanes;
    l->out = &loop->body;
    run(l, s);
    ac_push(a, out, loop);
  }
  if (!l->pool) return;
  ac_abuffer *b = &l->k->buffers.data[l->pool->buffer];
  int64_t have = 0, need = bytes * l->lanes / 4;
  ac_ae_const(b->elements, &have);
  if (need > have) b->elements = ac_ae_int(a, need);
}

/* The chip's own instruction where it has it for the dtype; else a recipe. */
static void element(legal *l, ac_astmt *s, ac_ablock *out) {
  ac_arena *a = l->c->a;
  l->at = s;
  l->measure = true;
  l->lanes = 256;
  l->first = NULL;
  l->n = s->count;
  bool can = run(l, s);
  l->measure = false;
  if (!can) {
    refuse(l, s);
    return;
  }
  size_t before = out->len;
  if (l->most) ac_push(a, out, ac_as_comment(a, name_of(s), s->loc));
  if (l->most) {
    pieces(l, s, out);
  } else {
    l->out = out;
    run(l, s);
  }
  if (out->len > before && s->trailing) out->data[before]->trailing = s->trailing;
}

/* ---- reductions and copies ---- */

static bool same_tensor(const ac_aoperand *x, const ac_aoperand *y) {
  return x->tensor == y->tensor;
}

/* The work tensor may not be the source (it would be overwritten while it is read) nor too small. */
static void reduction(legal *l, ac_astmt *s) {
  ac_arena *a = l->c->a;
  const ac_abuffer *src = &l->k->buffers.data[s->ops[1].tensor->buffer];
  ac_aoperand *w = &s->ops[2];
  int bytes = ac_dtypes[src->dtype].bytes;
  if (s->n_ops == 3 && w->tensor && !same_tensor(w, &s->ops[1]) && !same_tensor(w, &s->ops[0]) && !w->offset &&
      ac_ae_equal(l->k->buffers.data[w->tensor->buffer].elements, src->elements))
    return;
  /* Rule of the count form for a maximum or minimum without index: one result a repeat, in 32-byte blocks. The exact size comes
   * from isa for a constant; a run-time size takes the same rule as an expression. */
  int64_t cap;
  ac_aexpr *n;
  if (ac_ae_const(src->elements, &cap))
    n = ac_ae_int(a, (ac_reduce_work_bytes(s->inst, src->dtype, cap) + bytes - 1) / bytes);
  else {
    ac_aexpr *repeats = ac_ae_bin(a, AC_AE_CDIV, src->elements, ac_ae_int(a, 256 / bytes));
    n = ac_ae_bin(a, AC_AE_ALIGN_UP, ac_ae_bin(a, AC_AE_MUL, repeats, ac_ae_int(a, 2)), ac_ae_int(a, 32 / bytes));
  }
  ac_dtype d = src->dtype;
  if (!l->work)
    l->work = ac_lower_scratch(a, l->k, "acWork", n, d, 32);
  else {
    ac_abuffer *b = &l->k->buffers.data[l->work->buffer];
    if (b->dtype != d) { /* one buffer serves both: count the larger elements */
      if (ac_dtypes[d].bytes > ac_dtypes[b->dtype].bytes) b->dtype = d;
      w->view = d;
    }
    if (!ac_ae_equal(b->elements, n)) b->elements = ac_ae_bin(a, AC_AE_MAX, b->elements, n);
  }
  l->used_work = true;
  w->tensor = l->work;
  w->offset = NULL;
  w->scalar = NULL;
  if (s->n_ops < 3) s->n_ops = 3;
}

/* DataCopy inside UB moves whole 32-byte blocks; other counts are recipes that move bits. */
static bool whole_blocks(legal *l, const ac_astmt *s) {
  return ac_ae_multiple(s->count, 32 / ac_dtypes[ac_operand_dtype(l->k, &s->ops[0])].bytes);
}

/* ---- the pass ---- */

bool ac_lower_has(const ac_astmt *s, ac_dtype d, ac_dtype from) {
  ac_form f = ac_insts[s->inst].form;
  if (!ac_insts[s->inst].dsl) return true; /* of pass "rows" */
  bool compare = f == AC_FORM_COMPARE || f == AC_FORM_COMPARE_S;
  if (f == AC_FORM_CAST) return d != AC_BOOL && (ac_cast_rounds(d, from) & (1u << s->round));
  if (lx_direct(ac_insts[s->inst].dsl, d) == AC_INST_COUNT) return false;
  if (compare && (d == AC_I32 ? s->cmp != AC_CMP_EQ : s->cmp == AC_CMP_NE)) return false;
  return ac_insts[s->inst].dtypes & AC_BIT(d);
}

static bool legal_already(legal *l, const ac_astmt *s) {
  ac_form f = ac_insts[s->inst].form;
  if (f == AC_FORM_COPY) return whole_blocks(l, s);
  bool compare = f == AC_FORM_COMPARE || f == AC_FORM_COMPARE_S;
  ac_dtype d = ac_operand_dtype(l->k, &s->ops[compare ? 1 : 0]);
  return ac_lower_has(s, d, f == AC_FORM_CAST ? ac_operand_dtype(l->k, &s->ops[1]) : d);
}

static void block(legal *l, ac_ablock *b) {
  ac_ablock out = {0};
  for (size_t i = 0; i < b->len && l->ok; i++) {
    ac_astmt *s = b->data[i];
    block(l, &s->body);
    block(l, &s->orelse);
    bool inst = s->kind == AC_AS_INST;
    if (inst && ac_insts[s->inst].form == AC_FORM_REDUCE) reduction(l, s);
    if (inst && (s->inst == AC_I_SEL || s->inst == AC_I_SELS)) l->k->select = true;
    if ((inst && !legal_already(l, s)) || s->kind == AC_AS_PRIM)
      element(l, s, &out);
    else
      ac_push(l->c->a, &out, s);
  }
  *b = out;
}

bool ac_lower_legalise(ac_lower_ctx *c) {
  for (size_t i = 0; i < c->p->kernels.len; i++) {
    legal l = {.c = c, .k = c->p->kernels.data[i], .ok = true};
    for (size_t m = 0; m < l.k->methods.len; m++) {
      ac_amethod *method = &l.k->methods.data[m];
      l.used_pool = l.used_work = false;
      block(&l, &method->body);
      if (!l.ok) return false;
      ac_atensor *const used[] = {l.used_pool ? l.pool : NULL, l.used_work ? l.work : NULL};
      ac_lower_get(c->a, method, used, AC_COUNT(used), l.k->loc);
    }
  }
  return true;
}

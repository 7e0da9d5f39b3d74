/* DSL expressions to AscendC expressions, host and kernel side. Scalar extractions become statements before the one at hand. */
#include "lower/internal.h"

#include <string.h>

ac_atype ac_lower_type(const ac_cexpr *e) {
  return e->type == AC_CT_FLOAT ? AC_AT_FLOAT : e->type == AC_CT_BOOL ? AC_AT_BOOL : AC_AT_INT;
}

static ac_aexpr *bad(ac_lconv *v, const ac_cexpr *e, const char *what) {
  ac_diag *x = ac_error(v->c->d, AC0601, e->loc, "%s has no form in %s code: %s", what, v->k ? "kernel" : "tiling",
                        ac_cexpr_text(v->c->a, e));
  ac_help(v->c->d, x, "compute it from sizes and scalars with + - * // %% min max tl.cdiv tl.align_up");
  return NULL;
}

static const ac_cexpr *shape_of(const ac_cexpr *e) { /* the tensor of `t.shape`, or NULL */
  return e->kind == AC_CE_ATTR && !strcmp(e->s, "shape") && e->a->kind == AC_CE_NAME ? e->a : NULL;
}

/* Index of a host tensor in the program, or -1 (a workspace or no tensor). */
static int tensor_index(ac_lconv *v, const ac_cexpr *e) {
  for (size_t i = 0; e && e->kind == AC_CE_NAME && i < v->c->p->tensors.len; i++)
    if (!strcmp(v->c->p->tensors.data[i].name, ac_lower_name(v->c->a, e->s))) return (int)i;
  return -1;
}

static ac_aexpr *of_tensor(ac_lconv *v, const ac_cexpr *e, const ac_cexpr *t, ac_aekind k, ac_aexpr *a, ac_aexpr *b) {
  int i = tensor_index(v, t);
  if (i < 0 || v->k) return bad(v, e, "the shape of anything but a tensor parameter of the host function");
  ac_aexpr *r = ac_ae(v->c->a, k, AC_AT_INT, a, b);
  r->tensor = i;
  return r;
}

static ac_aexpr *slice_product(ac_lconv *v, const ac_cexpr *e, const ac_cexpr *dims) {
  const ac_cexpr *t = shape_of(dims);
  if (t) return of_tensor(v, e, t, AC_AE_DIMPROD, NULL, NULL);
  if (dims->kind == AC_CE_INDEX && (t = shape_of(dims->a)) && dims->n_args == 1 &&
      dims->args[0]->kind == AC_CE_SLICE) {
    const ac_cexpr *s = dims->args[0];
    ac_aexpr *lo = s->a ? ac_lower_expr(v, s->a) : NULL, *hi = s->b ? ac_lower_expr(v, s->b) : NULL;
    if ((s->a && !lo) || (s->b && !hi) || s->c) return bad(v, e, "this slice");
    return of_tensor(v, e, t, AC_AE_DIMPROD, lo, hi);
  }
  if (dims->kind == AC_CE_TUPLE) {
    ac_aexpr *r = ac_ae_int(v->c->a, 1);
    for (int i = 0; i < dims->n_args; i++) {
      ac_aexpr *x = ac_lower_expr(v, dims->args[i]);
      if (!x) return NULL;
      r = ac_ae_bin(v->c->a, AC_AE_MUL, r, x);
    }
    return r;
  }
  return bad(v, e, "a product of anything but sizes");
}

static ac_aexpr *two(ac_lconv *v, const ac_cexpr *e, ac_aekind k) {
  if (e->n_args < 2) return bad(v, e, "this call");
  ac_aexpr *r = NULL;
  for (int i = 0; i < e->n_args; i++) { /* min and max take any number */
    ac_aexpr *x = e->args[i] ? ac_lower_expr(v, e->args[i]) : NULL;
    if (!x) return e->args[i] ? NULL : bad(v, e, "this call");
    r = r ? ac_ae_bin(v->c->a, k, r, x) : x;
  }
  return r;
}

/* First element of a part of a buffer with several dimensions. */
static ac_aexpr *part_start(ac_lconv *v, const ac_cexpr *e) {
  ac_arena *a = v->c->a;
  const ac_linfo *f = ac_lower_info(v->k, e->buffer);
  const ac_abuffer *b = f ? &v->k->k->buffers.data[f->buffer] : NULL;
  ac_aexpr *at = ac_ae_int(a, 0), *step = ac_ae_int(a, 1);
  if (!b) return bad(v, e, "this part");
  for (int d = b->rank - 1; d >= 0; d--) {
    ac_aexpr *from = e->view->dim[d].from ? ac_lower_expr(v, e->view->dim[d].from) : ac_ae_int(a, 0);
    if (!from) return NULL;
    at = ac_ae_bin(a, AC_AE_ADD, ac_ae_bin(a, AC_AE_MUL, from, step), at);
    step = ac_ae_bin(a, AC_AE_MUL, step, d == b->rank - 1 && b->pitch ? b->pitch : b->dims[d]);
  }
  return at;
}

/* tl.extract_scalar: a statement of its own; the expression is the variable that it fills. */
static ac_aexpr *extract(ac_lconv *v, const ac_cexpr *e) {
  ac_arena *a = v->c->a;
  if (!v->k || !v->pre) return bad(v, e, "a scalar read of memory");
  ac_aexpr *at = ac_lower_expr(v, e->args[1]);
  if (!at) return NULL;
  ac_dtype d = e->args[0]->dtype;
  ac_dclass cls = ac_dtypes[d].cls;
  ac_astmt *s = ac_as_new(a, AC_AS_GETVALUE, e->loc);
  s->var.type = cls == AC_FLOATING ? AC_AT_FLOAT : AC_AT_INT;
  s->var.name = ac_sprintf(a, "scalar%d", (*v->temps)++);
  if (e->args[0]->type == AC_CT_BUFFER) {
    if (e->args[0]->view && e->args[0]->view->rank > 1) {
      ac_aexpr *o = part_start(v, e->args[0]);
      if (!o) return NULL;
      at = ac_ae_bin(a, AC_AE_ADD, o, at);
    } else if (e->args[0]->offset) {
      ac_aexpr *o = ac_lower_expr(v, e->args[0]->offset);
      if (!o) return NULL;
      at = ac_ae_bin(a, AC_AE_ADD, o, at);
    }
    const ac_linfo *f = ac_lower_info(v->k, e->args[0]->buffer);
    if (f) s->ops[0].tensor = f->handle;
    s->ops[0].offset = at;
    if (d != e->args[0]->buffer->dtype) s->ops[0].view = d; /* a bitcast */
    s->n_ops = 1;
  } else {
    const ac_cexpr *g = e->args[0];
    const ac_ctile *t = g->tile;
    if (t) {
      ac_aexpr *base = t->base ? ac_lower_expr(v, t->base) : ac_ae_int(a, 0);
      if (!base) return NULL;
      at = ac_ae_bin(a, AC_AE_ADD, base, at);
    }
    for (size_t i = 0; i < v->k->k->gms.len; i++)
      if (t ? v->k->k->gms.data[i].param == t->param
            : g->kind == AC_CE_NAME && !strcmp(v->k->k->tensors[v->k->k->gms.data[i].param], ac_lower_name(a, g->s)))
        s->gm = (int)i;
    if (s->gm < 0) return bad(v, e, "a scalar read of this");
    s->value = at;
  }
  ac_push(a, v->pre, s);
  return ac_ae_var(a, s->var.name, s->var.type);
}

/* tl.split: min(n, cdiv(n, unit) * index // parts * unit) */
static ac_aexpr *split(ac_lconv *v, const ac_cexpr *e) {
  ac_arena *a = v->c->a;
  ac_aexpr *x[4] = {NULL, NULL, NULL, ac_ae_int(a, 1)};
  for (int i = 0; i < e->n_args && i < 4; i++)
    if (e->args[i] && !(x[i] = ac_lower_expr(v, e->args[i]))) return NULL;
  bool one = x[3]->kind == AC_AE_INT && x[3]->i == 1;
  ac_aexpr *units = one ? x[0] : ac_ae_bin(a, AC_AE_CDIV, x[0], x[3]);
  ac_aexpr *first = ac_ae_bin(a, AC_AE_FLOORDIV, ac_ae_bin(a, AC_AE_MUL, units, x[2]), x[1]);
  return ac_ae_bin(a, AC_AE_MIN, x[0], one ? first : ac_ae_bin(a, AC_AE_MUL, first, x[3]));
}

static ac_aexpr *call(ac_lconv *v, const ac_cexpr *e) {
  ac_arena *a = v->c->a;
  switch ((int)e->prim) {
  case AC_P_PROGRAM_ID: return ac_ae(a, AC_AE_BLOCK_IDX, AC_AT_INT, NULL, NULL);
  case AC_P_NUM_PROGRAMS:
    if (v->k && v->k->blocks) return ac_ae_var(a, v->k->blocks, AC_AT_INT);
    return ac_ae(a, AC_AE_BLOCK_NUM, AC_AT_INT, NULL, NULL);
  case AC_P_SPLIT: return split(v, e);
  case AC_P_TUNE: return ac_ae_int(a, e->i);
  case AC_P_DETERMINISTIC:
    v->c->p->deterministic = true;
    return ac_ae(a, AC_AE_DETERMINISTIC, AC_AT_BOOL, NULL, NULL);
  case AC_P_NUM_CORES: return ac_ae(a, AC_AE_CORES, AC_AT_INT, NULL, NULL);
  case AC_P_UB_SIZE: return ac_ae(a, AC_AE_UB, AC_AT_INT, NULL, NULL);
  case AC_P_MIN: return two(v, e, AC_AE_MIN);
  case AC_P_MAX: return two(v, e, AC_AE_MAX);
  case AC_P_CDIV: return two(v, e, AC_AE_CDIV);
  case AC_P_ALIGN_UP: return two(v, e, AC_AE_ALIGN_UP);
  case AC_P_ALIGN_DOWN: return two(v, e, AC_AE_ALIGN_DOWN);
  case AC_P_EXTRACT_SCALAR: return extract(v, e);
  case AC_P_NUMEL: return of_tensor(v, e, e->n_args ? e->args[0] : e->a->a, AC_AE_NUMEL, NULL, NULL);
  case AC_P_PROD: return slice_product(v, e, e->args[0]);
  default: break;
  }
  const ac_cexpr *f = e->a;
  if (f->kind == AC_CE_NAME && e->n_args == 1) {
    const ac_cexpr *t = shape_of(e->args[0]);
    if (!strcmp(f->s, "len") && t) return of_tensor(v, e, t, AC_AE_RANK, NULL, NULL);
    if (!strcmp(f->s, "int") || !strcmp(f->s, "float")) {
      ac_aexpr *x = ac_lower_expr(v, e->args[0]);
      bool to_int = f->s[0] == 'i';
      if (!x || (x->type == AC_AT_FLOAT) != to_int) return x;
      return ac_ae(a, to_int ? AC_AE_TO_INT : AC_AE_TO_FLOAT, to_int ? AC_AT_INT : AC_AT_FLOAT, x, NULL);
    }
  }
  if (f->kind == AC_CE_ATTR && f->a->kind == AC_CE_NAME && tensor_index(v, f->a) >= 0) {
    if (!strcmp(f->s, "dim") && !e->n_args) return of_tensor(v, e, f->a, AC_AE_RANK, NULL, NULL);
    if (!strcmp(f->s, "size") && e->n_args == 1) {
      ac_aexpr *i = ac_lower_expr(v, e->args[0]);
      return i ? of_tensor(v, e, f->a, AC_AE_DIM, i, NULL) : NULL;
    }
  }
  return bad(v, e, "this call");
}

static ac_aexpr *power(ac_lconv *v, const ac_cexpr *e, ac_aexpr *x, ac_aexpr *y) {
  ac_arena *a = v->c->a;
  if (!v->k) return ac_ae_bin(a, AC_AE_POW, x, y);
  if (y->kind != AC_AE_INT || y->i < 0 || y->i > 8) return bad(v, e, "a power other than a small constant");
  ac_aexpr *r = x->type == AC_AT_FLOAT ? ac_ae_float(a, 1) : ac_ae_int(a, 1);
  for (int64_t i = 0; i < y->i; i++) r = ac_ae_bin(a, AC_AE_MUL, r, x);
  return r;
}

static ac_aexpr *binary(ac_lconv *v, const ac_cexpr *e) {
  static const ac_aekind kinds[] = {[AC_OP_ADD] = AC_AE_ADD,
                                    [AC_OP_SUB] = AC_AE_SUB,
                                    [AC_OP_MUL] = AC_AE_MUL,
                                    [AC_OP_DIV] = AC_AE_DIV,
                                    [AC_OP_FLOORDIV] = AC_AE_FLOORDIV,
                                    [AC_OP_MOD] = AC_AE_MOD,
                                    [AC_OP_AND] = AC_AE_AND,
                                    [AC_OP_OR] = AC_AE_OR,
                                    [AC_OP_EQ] = AC_AE_EQ,
                                    [AC_OP_NE] = AC_AE_NE,
                                    [AC_OP_LT] = AC_AE_LT,
                                    [AC_OP_LE] = AC_AE_LE,
                                    [AC_OP_GT] = AC_AE_GT,
                                    [AC_OP_GE] = AC_AE_GE};
  ac_aexpr *x = ac_lower_expr(v, e->a), *y = x ? ac_lower_expr(v, e->b) : NULL;
  if (!y) return NULL;
  if (e->op == AC_OP_POW) return power(v, e, x, y);
  if ((e->op == AC_OP_FLOORDIV || e->op == AC_OP_MOD) && (x->type == AC_AT_FLOAT || y->type == AC_AT_FLOAT))
    return bad(v, e, "// or % of floats");
  return ac_ae_bin(v->c->a, kinds[e->op], x, y);
}

static ac_aexpr *unary(ac_lconv *v, const ac_cexpr *e) {
  ac_arena *a = v->c->a;
  ac_aexpr *x = ac_lower_expr(v, e->a);
  if (!x) return NULL;
  if (e->op == AC_OP_NOT) return ac_ae(a, AC_AE_NOT, AC_AT_BOOL, ac_ae_to_bool(a, x), NULL);
  if (x->kind == AC_AE_INT && x->i != INT64_MIN) return ac_ae_int(a, -x->i);
  if (x->kind == AC_AE_FLOAT) return ac_ae_float(a, -x->f);
  return ac_ae(a, AC_AE_NEG, x->type, x, NULL);
}

static ac_aexpr *name(ac_lconv *v, const ac_cexpr *e) {
  const char *n = ac_lower_name(v->c->a, e->s);
  const ac_lvar *known = v->k ? ac_lvar_find(&v->k->vars, n) : NULL;
  if (known) return ac_ae_var(v->c->a, n, known->type);
  if (e->type != AC_CT_INT && e->type != AC_CT_FLOAT && e->type != AC_CT_BOOL) return bad(v, e, "this name");
  return ac_ae_var(v->c->a, n, ac_lower_type(e));
}

ac_aexpr *ac_lower_expr(ac_lconv *v, const ac_cexpr *e) {
  ac_arena *a = v->c->a;
  switch (e->kind) {
  case AC_CE_INT: return ac_ae_int(a, e->i);
  case AC_CE_FLOAT: return ac_ae_float(a, e->f);
  case AC_CE_BOOL: {
    ac_aexpr *b = ac_ae(a, AC_AE_BOOL, AC_AT_BOOL, NULL, NULL);
    b->i = e->i;
    return b;
  }
  case AC_CE_NAME: return name(v, e);
  case AC_CE_UNARY: return unary(v, e);
  case AC_CE_BINARY: return binary(v, e);
  case AC_CE_CALL:
    if (e->prim == AC_P_NONE && e->a->kind == AC_CE_NAME && e->n_args == 1 && e->args[0]->kind == AC_CE_FLOAT &&
        !strcmp(e->a->s, "float"))
      return ac_ae_float(a, e->args[0]->f);
    return call(v, e);
  case AC_CE_INDEX: {
    const ac_cexpr *t = shape_of(e->a);
    if (!t || e->n_args != 1 || e->args[0]->kind == AC_CE_SLICE) return bad(v, e, "this index");
    ac_aexpr *i = ac_lower_expr(v, e->args[0]);
    return i ? of_tensor(v, e, t, AC_AE_DIM, i, NULL) : NULL;
  }
  case AC_CE_ATTR:
    if (!strcmp(e->s, "ndim")) return of_tensor(v, e, e->a, AC_AE_RANK, NULL, NULL);
    return bad(v, e, "this attribute");
  case AC_CE_COND: {
    ac_aexpr *cnd = ac_lower_expr(v, e->c), *x = cnd ? ac_lower_expr(v, e->a) : NULL,
             *y = x ? ac_lower_expr(v, e->b) : NULL;
    if (!y) return NULL;
    if (x->type != y->type && (x->type == AC_AT_FLOAT || y->type == AC_AT_FLOAT))
      x = ac_ae_to_float(a, x), y = ac_ae_to_float(a, y);
    ac_aexpr *r = ac_ae(a, AC_AE_COND, x->type, x, y);
    r->c = ac_ae_to_bool(a, cnd);
    return r;
  }
  default: return bad(v, e, "this expression");
  }
}

/* Expressions: types, symbolic values, affine tiles; and the way back from a symbolic value to an expression. */
#include "craft/check.h"

#include <string.h>

ac_cexpr *ac_chk_new(ac_chk *c, ac_cekind kind, ac_loc loc) {
  ac_cexpr *e = AC_NEW(c->a, ac_cexpr);
  e->kind = kind;
  e->loc = loc;
  e->type = AC_CT_INT;
  e->prim = AC_P_NONE;
  e->inst = AC_INST_COUNT;
  e->dtype = AC_NODTYPE;
  return e;
}

ac_cexpr *ac_chk_new_int(ac_chk *c, int64_t v, ac_loc loc) {
  ac_cexpr *e = ac_chk_new(c, AC_CE_INT, loc);
  e->i = v;
  return e;
}

ac_cexpr *ac_chk_new_name(ac_chk *c, const char *name, ac_loc loc) {
  ac_cexpr *e = ac_chk_new(c, AC_CE_NAME, loc);
  e->s = name;
  return e;
}

static ac_cexpr *new_binary(ac_chk *c, ac_cop op, ac_cexpr *x, ac_cexpr *y) {
  if (!x || !y) return NULL;
  int64_t unit = op == AC_OP_MUL;
  if (op == AC_OP_ADD || op == AC_OP_MUL) { /* 0 + y, 1 * y */
    if (x->kind == AC_CE_INT && x->i == unit) return y;
    if (y->kind == AC_CE_INT && y->i == unit) return x;
  }
  ac_cexpr *e = ac_chk_new(c, AC_CE_BINARY, x->loc);
  e->op = op;
  e->a = x;
  e->b = y;
  return e;
}

/* ---- from symbolic values to expressions ---- */

static ac_cexpr *write_sym(ac_chk *c, ac_sym *x, bool params_only);

/* A variable that holds the value now. */
static ac_cexpr *write_var(ac_chk *c, ac_sym *x, bool params_only) {
  for (size_t i = 0; i < c->fn->v.len; i++) {
    const ac_kvar *v = ac_chk_get(c->st, (int)i);
    if (params_only && c->fn->v.data[i].param < 0) continue;
    if (v->set != AC_SET || v->v.kind != AC_CT_INT || v->v.sym != x || c->fn->v.data[i].kind != AC_CT_INT) continue;
    return ac_chk_new_name(c, c->fn->v.data[i].name, AC_NOLOC);
  }
  return NULL;
}

static ac_cexpr *write_call(ac_chk *c, const char *name, ac_cprim prim, bool bare, ac_cexpr *x, ac_cexpr *y) {
  if (!x || !y) return NULL;
  ac_cexpr *e = ac_chk_new(c, AC_CE_CALL, AC_NOLOC);
  ac_cexpr *f = ac_chk_new(c, bare ? AC_CE_NAME : AC_CE_ATTR, AC_NOLOC);
  f->type = AC_CT_NONE;
  f->s = name;
  if (!bare) {
    f->a = ac_chk_new(c, AC_CE_NAME, AC_NOLOC);
    f->a->s = "tl";
    f->a->type = AC_CT_MODULE;
  }
  e->a = f;
  e->prim = prim;
  e->n_args = 2;
  e->args = AC_NEW_N(c->a, ac_cexpr *, 2);
  e->kw = AC_NEW_N(c->a, const char *, 2);
  e->args[0] = x;
  e->args[1] = y;
  return e;
}

static ac_cexpr *write_atom(ac_chk *c, int i, bool params_only) {
  const ac_satom a = c->s.atoms.data[i];
  for (size_t k = 0; k < c->fn->v.len; k++) { /* the atom itself may be what a variable holds */
    const ac_kvar *v = ac_chk_get(c->st, (int)k);
    if (v->set == AC_SET && v->v.kind == AC_CT_INT && v->v.sym && ac_sy_is_atom(v->v.sym, i)) {
      ac_cexpr *e = write_var(c, v->v.sym, params_only);
      if (e) return e;
    }
  }
  if (a.fn == AC_SY_OPAQUE) return params_only ? NULL : (ac_cexpr *)(uintptr_t)a.expr;
  ac_cexpr *x = write_sym(c, a.a, params_only), *y = x ? write_sym(c, a.b, params_only) : NULL;
  if (!y) return NULL;
  switch (a.fn) {
  case AC_SY_MIN: return write_call(c, "min", AC_P_MIN, true, x, y);
  case AC_SY_MAX: return write_call(c, "max", AC_P_MAX, true, x, y);
  case AC_SY_CDIV: return write_call(c, "cdiv", AC_P_CDIV, false, x, y);
  case AC_SY_FLOORDIV: return new_binary(c, AC_OP_FLOORDIV, x, y);
  case AC_SY_MOD: return new_binary(c, AC_OP_MOD, x, y);
  default: return NULL;
  }
}

static ac_cexpr *write_term(ac_chk *c, const ac_sterm *t, bool params_only) {
  ac_cexpr *e = NULL;
  for (int j = 0; j < t->k; j++) {
    ac_cexpr *f = write_atom(c, t->atom[j], params_only);
    if (!f) return NULL;
    e = e ? new_binary(c, AC_OP_MUL, e, f) : f;
  }
  int64_t n = t->c < 0 ? -t->c : t->c;
  if (!e) return ac_chk_new_int(c, n, AC_NOLOC);
  return n == 1 ? e : new_binary(c, AC_OP_MUL, e, ac_chk_new_int(c, n, AC_NOLOC));
}

static ac_cexpr *write_sum(ac_chk *c, ac_sym *x, bool params_only) {
  ac_cexpr *e = NULL;
  for (int sign = 0; sign < 2; sign++)
    for (int i = x->n - 1; i >= 0; i--) {
      if ((x->t[i].c < 0) != (sign == 1)) continue;
      if (x->t[i].c == INT64_MIN) return NULL;
      ac_cexpr *t = write_term(c, &x->t[i], params_only);
      if (!t) return NULL;
      if (!e && sign) e = ac_chk_new_int(c, 0, AC_NOLOC);
      if (!e)
        e = t;
      else if (sign) {
        ac_cexpr *d = ac_chk_new(c, AC_CE_BINARY, AC_NOLOC);
        d->op = AC_OP_SUB;
        d->a = e;
        d->b = t;
        e = d;
      } else
        e = new_binary(c, AC_OP_ADD, e, t);
    }
  return e;
}

static ac_cexpr *write_sym(ac_chk *c, ac_sym *x, bool params_only) {
  int64_t v;
  if (ac_sy_const(x, &v)) return ac_chk_new_int(c, v, AC_NOLOC);
  ac_cexpr *e = write_var(c, x, params_only);
  return e ? e : write_sum(c, x, params_only);
}

/* Only parameters, constants and pure arithmetic. */
static bool only_params(ac_chk *c, const ac_cexpr *e) {
  if (!e) return true;
  if (e->kind == AC_CE_NAME) {
    int i = ac_chk_var(c->fn, e->s);
    return i >= 0 && c->fn->v.data[i].param >= 0;
  }
  if (e->kind == AC_CE_CALL) {
    if (e->prim != AC_P_MIN && e->prim != AC_P_MAX && e->prim != AC_P_CDIV && e->prim != AC_P_ALIGN_UP &&
        e->prim != AC_P_ALIGN_DOWN)
      return false;
    for (int i = 0; i < e->n_args; i++)
      if (!only_params(c, e->args[i])) return false;
    return true;
  }
  return e->kind == AC_CE_INT || (e->kind == AC_CE_BINARY && only_params(c, e->a) && only_params(c, e->b)) ||
         (e->kind == AC_CE_UNARY && only_params(c, e->a));
}

ac_cexpr *ac_chk_write(ac_chk *c, ac_sym *x, ac_cexpr *orig, bool params_only) {
  if (!x) return NULL;
  if (orig && (!params_only || only_params(c, orig))) {
    c->quiet++;
    ac_kval v = ac_chk_eval(c, orig);
    c->quiet--;
    if (v.kind == AC_CT_INT && v.sym == x) return orig;
  }
  ac_cexpr *e = write_sym(c, x, params_only);
  if (e && orig && !e->loc.line) e->loc = orig->loc;
  return e;
}

/* ---- tiles ---- */

static ac_ktile *new_tile(ac_chk *c, int param, ac_sym *base, ac_cexpr *base_e) {
  ac_ktile *t = AC_NEW(c->a, ac_ktile);
  t->param = param;
  t->base = base;
  t->base_e = base_e;
  return t;
}

static ac_kval tile_value(ac_ktile *t) {
  ac_kval v = plain(t->param >= 0 && t->rank == 0 ? AC_CT_POINTER : AC_CT_TILE);
  v.tile = t;
  return v;
}

static ac_kval not_affine(ac_chk *c, const ac_cexpr *e, const char *why) {
  ac_diag *x = ac_error(ac_chk_d(c), AC0510, e->loc, "`%s` is not affine: %s", text(c, e), why);
  ac_help(ac_chk_d(c), x,
          "an address is pointer + start + sum of stride * tl.arange(0, n); tails are given by the arange's end");
  return none;
}

static ac_ktile *as_tile(ac_chk *c, const ac_kval *v) {
  if (v->kind == AC_CT_INT) return new_tile(c, -1, v->sym, NULL);
  return v->tile;
}

static bool join_dim(ac_chk *c, const ac_cexpr *e, ac_kdim *d, const ac_kdim *x, const ac_kdim *y, bool minus) {
  ac_syms *s = &c->s;
  ac_cexpr *ys = y->stride_e;
  if (y->axis && minus) ys = new_binary(c, AC_OP_MUL, ac_chk_new_int(c, -1, e->loc), ys);
  ac_sym *ysym = y->axis && minus ? ac_sy_mul(s, y->stride, ac_sy_int(s, -1)) : y->stride;
  if (!x->axis || !y->axis) {
    *d = x->axis ? *x : *y;
    if (!x->axis && y->axis) {
      d->stride = ysym;
      d->stride_e = ys;
    }
    return true;
  }
  if (x->index || y->index) {
    ac_diag *g =
        ac_error(ac_chk_d(c), AC0510, e->loc, "`%s` adds offsets from memory to others on the same axis", text(c, e));
    ac_help(ac_chk_d(c), g, "place them on axes of their own with [:, None] and [None, :]");
    return false;
  }
  if (x->extent != y->extent) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0510, e->loc,
                          "`%s` adds two aranges of different length (%s and %s) on the same axis", text(c, e),
                          ac_sy_text(s, x->extent), ac_sy_text(s, y->extent));
    ac_help(ac_chk_d(c), g, "place them on axes of their own with [:, None] and [None, :]");
    return false;
  }
  *d = *x; /* the same axis twice: strides add up */
  d->stride = ac_sy_add(s, x->stride, ysym);
  d->stride_e = new_binary(c, AC_OP_ADD, x->stride_e, ys);
  return true;
}

/* A buffer as offsets: one axis, element k of the buffer in place of k. */
static ac_kval offsets_of(ac_chk *c, ac_cexpr *e, const ac_kval *b) {
  ac_cbuffer *buf = c->fn->f->buffers.data[b->buf];
  ac_kval v = *b;
  if (buf->dtype != AC_I32 || buf->rank != 1) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0510, e->loc,
                          "offsets that come from memory are an int32 buffer with one dimension; '%s' is %s with %d",
                          buf->name, ac_dtypes[buf->dtype].name, buf->rank);
    ac_help(ac_chk_d(c), g, "tl.load the indices into tl.alloc_ub(n, tl.int32)");
    return none;
  }
  if (!ac_chk_readable(c, b, e->loc)) return none;
  if (!c->quiet) buf->computed = true; /* the scalar unit reads it */
  ac_sym *n = ac_chk_extent(c, b);
  if (!n) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0513, e->loc, "how many offsets '%s' holds is not known here", buf->name);
    ac_help(ac_chk_d(c), g, "give a part of it: %s[0:n]", buf->name);
    return none;
  }
  ac_cexpr *name = ac_chk_new(c, AC_CE_NAME, e->loc);
  name->s = buf->name;
  name->type = AC_CT_BUFFER;
  name->dtype = buf->dtype;
  name->buffer = buf;
  name->offset = v.off_e;
  ac_ktile *t = AC_NEW(c->a, ac_ktile);
  *t = (ac_ktile){.param = -1, .base = ac_sy_int(&c->s, 0), .base_e = ac_chk_new_int(c, 0, e->loc), .rank = 1};
  t->dim[0] = (ac_kdim){.axis = true,
                        .extent = n,
                        .stride = ac_sy_int(&c->s, 1),
                        .stride_e = ac_chk_new_int(c, 1, e->loc),
                        .index = name,
                        .index_buf = b->buf,
                        .index_off = b->off,
                        .index_set = c->st->bufs[b->buf].loc};
  ac_kval r = plain(AC_CT_TILE);
  r.tile = t;
  return r;
}

static ac_kval tile_sum(ac_chk *c, ac_cexpr *e, const ac_kval *x, const ac_kval *y, bool minus) {
  ac_ktile *p = as_tile(c, x), *q = as_tile(c, y);
  if (!p || !q) return plain(AC_CT_TILE); /* a value that differs by the way here: reported where it is used */
  if (q->param >= 0 && minus) return not_affine(c, e, "a pointer is subtracted");
  if (p->param >= 0 && q->param >= 0) return not_affine(c, e, "two pointers are added");
  ac_sym *base = minus ? ac_sy_sub(&c->s, p->base, q->base) : ac_sy_add(&c->s, p->base, q->base);
  ac_cexpr *pe = x->kind == AC_CT_INT ? e->a : p->base_e, *qe = y->kind == AC_CT_INT ? e->b : q->base_e;
  ac_cexpr *base_e = minus && qe ? ac_chk_new(c, AC_CE_BINARY, e->loc) : new_binary(c, AC_OP_ADD, pe, qe);
  if (minus && qe) {
    base_e->op = AC_OP_SUB;
    base_e->a = pe;
    base_e->b = qe;
  }
  ac_ktile *t = new_tile(c, p->param >= 0 ? p->param : q->param, base, base_e);
  t->rank = p->rank > q->rank ? p->rank : q->rank;
  for (int d = 0; d < t->rank; d++) { /* right-aligned, as in NumPy */
    static const ac_kdim one = {0};
    int i = d - (t->rank - p->rank), j = d - (t->rank - q->rank);
    if (!join_dim(c, e, &t->dim[d], i < 0 ? &one : &p->dim[i], j < 0 ? &one : &q->dim[j], minus)) return none;
  }
  return tile_value(t);
}

static ac_kval tile_scale(ac_chk *c, ac_cexpr *e, const ac_kval *tile, ac_cexpr *factor_e, ac_sym *factor) {
  if (!tile->tile) return plain(AC_CT_TILE);
  if (tile->tile->param >= 0) return not_affine(c, e, "a pointer is multiplied");
  ac_ktile *t = AC_NEW(c->a, ac_ktile);
  *t = *tile->tile;
  t->base = ac_sy_mul(&c->s, t->base, factor);
  t->base_e = t->base_e && t->base_e->kind == AC_CE_INT && t->base_e->i == 0
                  ? t->base_e
                  : new_binary(c, AC_OP_MUL, t->base_e, factor_e);
  for (int d = 0; d < t->rank; d++)
    if (t->dim[d].axis) {
      t->dim[d].stride = ac_sy_mul(&c->s, t->dim[d].stride, factor);
      t->dim[d].stride_e = new_binary(c, AC_OP_MUL, t->dim[d].stride_e, factor_e);
    }
  return tile_value(t);
}

static ac_kval tile_binary(ac_chk *c, ac_cexpr *e, const ac_kval *x, const ac_kval *y) {
  bool tx = x->kind == AC_CT_TILE || x->kind == AC_CT_POINTER, ty = y->kind == AC_CT_TILE || y->kind == AC_CT_POINTER;
  if ((!tx && x->kind != AC_CT_INT) || (!ty && y->kind != AC_CT_INT)) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0506, e->loc, "offsets are ints; `%s` has %s in it", text(c, e),
                          ac_chk_kind_name(tx ? y->kind : x->kind));
    ac_help(ac_chk_d(c), g, "use // for the division of ints, or int(...)");
    return none;
  }
  switch (e->op) {
  case AC_OP_ADD: return tile_sum(c, e, x, y, false);
  case AC_OP_SUB: return tile_sum(c, e, x, y, true);
  case AC_OP_MUL:
    if (tx && ty) return not_affine(c, e, "two aranges are multiplied");
    return tx ? tile_scale(c, e, x, e->b, y->sym) : tile_scale(c, e, y, e->a, x->sym);
  case AC_OP_FLOORDIV:
  case AC_OP_MOD:
  case AC_OP_DIV: return not_affine(c, e, "an arange is divided");
  case AC_OP_POW: return not_affine(c, e, "an arange is raised to a power");
  default:
    return not_affine(
        c, e, "an arange is compared (masks are written as shorter aranges: tl.arange(0, min(tile, end - i)))");
  }
}

/* off[:, None] */
static ac_kval tile_index(ac_chk *c, ac_cexpr *e, const ac_kval *v) {
  if (!v->tile) return plain(AC_CT_TILE);
  ac_ktile *t = new_tile(c, v->tile->param, v->tile->base, v->tile->base_e);
  int from = 0;
  for (int i = 0; i < e->n_args; i++) {
    const ac_cexpr *x = e->args[i];
    bool all = x->kind == AC_CE_SLICE && !x->a && !x->b && !x->c;
    if (!all && x->kind != AC_CE_NONE) return not_affine(c, e, "offsets are indexed with : and None only");
    if (t->rank == 4 || (all && from == v->tile->rank)) return not_affine(c, e, "it has too many axes");
    if (all) t->dim[t->rank] = v->tile->dim[from++];
    t->rank++;
  }
  if (from != v->tile->rank) return not_affine(c, e, "every axis needs its :");
  return tile_value(t);
}

/* ---- buffers ---- */

static ac_kval buffer_plus(ac_chk *c, ac_cexpr *e, ac_kval b, ac_cexpr *k, const ac_sym *sym) {
  if (b.nd) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0525, e->loc, "a part of a part: `%s`", text(c, e));
    ac_help(ac_chk_d(c), g, "write it as one part: b[i, k:]");
    return none;
  }
  if (e->op != AC_OP_ADD || !sym) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0506, e->loc, "buffers have no operator here: `%s`", text(c, e));
    ac_help(ac_chk_d(c), g, "compute with primitives: tl.vadd(dst, a, b); `buffer + k` is the part from element k");
    return none;
  }
  b.off = b.off ? ac_sy_add(&c->s, b.off, (ac_sym *)(uintptr_t)sym) : (ac_sym *)(uintptr_t)sym;
  b.off_e = b.off_e ? new_binary(c, AC_OP_ADD, b.off_e, k) : k;
  b.len = NULL;
  ac_chk_from_zero(c, e, b.buf, b.off);
  return b;
}

static ac_kval buffer_index(ac_chk *c, ac_cexpr *e, ac_kval b) {
  bool axes = false; /* index[:, None]: offsets */
  for (int i = 0; i < e->n_args; i++) axes = axes || e->args[i]->kind == AC_CE_NONE;
  if (axes) {
    ac_kval t = offsets_of(c, e, &b);
    return t.kind == AC_CT_NONE ? none : tile_index(c, e, &t);
  }
  ac_cbuffer *buf = c->fn->f->buffers.data[b.buf];
  if (e->n_args != 1 || buf->rank != 1) return ac_chk_part(c, e, b);
  ac_cexpr *x = e->args[0];
  ac_cexpr *lo = x, *hi = NULL;
  if (x->kind == AC_CE_SLICE) {
    if (x->c) {
      ac_diag *g =
          ac_error(ac_chk_d(c), AC0525, x->loc, "the last axis has no step: its elements lie in one block of UB");
      ac_help(ac_chk_d(c), g, "step along an outer axis of a buffer with several, or pick elements with tl.gather");
      return none;
    }
    lo = x->a ? x->a : ac_chk_new_int(c, 0, x->loc);
    hi = x->b;
  }
  ac_kval from = ac_chk_int(c, lo, "an index"), to = hi ? ac_chk_int(c, hi, "an index") : none;
  if (from.kind != AC_CT_INT || (hi && to.kind != AC_CT_INT)) return none;
  b.off = b.off ? ac_sy_add(&c->s, b.off, from.sym) : from.sym;
  ac_chk_from_zero(c, e, b.buf, b.off);
  b.off_e = b.off_e ? new_binary(c, AC_OP_ADD, b.off_e, lo) : lo;
  b.len = x->kind != AC_CE_SLICE ? ac_sy_int(&c->s, 1) : hi ? ac_sy_sub(&c->s, to.sym, from.sym) : NULL;
  return b;
}

/* ---- names ---- */

bool ac_chk_first(ac_chk *c, const char *name) {
  if (c->quiet) return true;
  if (!c->fn->said) c->fn->said = ac_map_new(c->a);
  if (ac_map_has(c->fn->said, name)) return false;
  ac_map_put(c->fn->said, name, c);
  return true;
}

static ac_kval unknown_name(ac_chk *c, const ac_cexpr *e) {
  if (!ac_chk_first(c, e->s)) return none;
  ac_strvec names = {0};
  for (size_t i = 0; i < c->fn->v.len; i++) ac_push(c->a, &names, c->fn->v.data[i].name);
  const char *near = ac_nearest(e->s, names.data, names.len);
  ac_diag *g = ac_error(ac_chk_d(c), AC0502, e->loc, "there is no '%s' in '%s'", e->s, c->fn->f->name);
  if (ac_dtype_of(e->s) != AC_NODTYPE)
    ac_help(ac_chk_d(c), g, "dtypes are written as tl.%s", ac_dtypes[ac_dtype_of(e->s)].name);
  else if (near)
    ac_help(ac_chk_d(c), g, "did you mean '%s'?", near);
  else if (ac_sig_find(e->s).prim != AC_P_NONE)
    ac_help(ac_chk_d(c), g, "primitives are written with `tl.`: tl.%s", e->s);
  return none;
}

static ac_kval eval_name(ac_chk *c, ac_cexpr *e) {
  if (!strcmp(e->s, "tl")) return plain(AC_CT_MODULE);
  int i = ac_chk_var(c->fn, e->s);
  if (i < 0) return ac_craft_kernel(c->m, e->s) ? plain(AC_CT_KERNEL) : unknown_name(c, e);
  ac_vinfo *info = &c->fn->v.data[i];
  if (!c->quiet) info->used = true;
  const ac_kvar *v = ac_chk_get(c->st, (int)i);
  if (v->set == AC_UNSET && !c->st->dead) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0503, e->loc, "'%s' is used before it gets a value", e->s);
    ac_note(ac_chk_d(c), g, info->loc, "it gets one here");
    return none;
  }
  if (v->set == AC_MAYBE && !c->st->dead) {
    ac_diag *g =
        ac_warn(ac_chk_d(c), AC0503, e->loc, "'%s' may have no value here: it gets one on some ways only", e->s);
    ac_help(ac_chk_d(c), g, "assign it before the branch or the loop");
  }
  return v->v;
}

/* ---- host: sizes ---- */

static ac_sym *size_sym(ac_chk *c, ac_cexpr *e, const char *label, int64_t lo, int64_t hi) {
  ac_sym *x = ac_sy_named(&c->s, ac_sprintf(c->a, "host %s", label), label);
  ac_satom *a = ac_sy_limit(&c->s, x, lo, hi);
  if (!a->expr) a->expr = e;
  return x;
}

static bool tensor_needed(ac_chk *c, const ac_cexpr *e, const ac_kval *v) {
  if (v->kind == AC_CT_NONE) return false;
  int i = e->kind == AC_CE_NAME ? ac_chk_var(c->fn, e->s) : -1;
  if (v->kind == AC_CT_POINTER && !c->fn->f->kernel && i >= 0 && c->fn->v.data[i].param >= 0) return true;
  ac_diag *g = ac_error(ac_chk_d(c), AC0506, e->loc, "'%s' is %s, not a tensor parameter of the host function",
                        text(c, e), ac_chk_kind_name(v->kind));
  if (c->fn->f->kernel) ac_help(ac_chk_d(c), g, "kernels get sizes as parameters: pass them in the launch");
  return false;
}

/* x.shape[i] and x.size(i) */
static ac_kval eval_dim(ac_chk *c, ac_cexpr *e, ac_cexpr *tensor, ac_cexpr *index) {
  ac_kval i = ac_chk_int(c, index, "an axis");
  if (i.kind != AC_CT_INT) return none;
  ac_sym *declared = ac_chk_declared_size(c, tensor, i.sym);
  if (declared) return int_value(declared);
  return int_value(
      size_sym(c, e, ac_sprintf(c->a, "%s.shape[%s]", tensor->s, ac_sy_text(&c->s, i.sym)), 0, INT64_MAX));
}

static ac_kval eval_rank(ac_chk *c, ac_cexpr *e, ac_cexpr *tensor) {
  return int_value(size_sym(c, e, ac_sprintf(c->a, "%s.ndim", tensor->s), 0, 8));
}

static ac_kval eval_attr(ac_chk *c, ac_cexpr *e) {
  ac_kval v = ac_chk_eval(c, e->a);
  if (v.kind == AC_CT_NONE) return none;
  if (v.kind == AC_CT_MODULE) {
    ac_kval d = plain(AC_CT_DTYPE);
    d.dtype = ac_dtype_of(e->s);
    if (d.dtype != AC_NODTYPE && strcmp(ac_dtypes[d.dtype].name, e->s) != 0)
      e->s = ac_dtypes[d.dtype].name; /* tl.half */
    if (d.dtype != AC_NODTYPE) return d;
    ac_error(ac_chk_d(c), AC0502, e->loc, "tl.%s is no dtype and stands here without a call", e->s);
    return none;
  }
  if (!strcmp(e->s, "shape")) return tensor_needed(c, e->a, &v) ? plain(AC_CT_SHAPE) : none;
  if (!strcmp(e->s, "ndim")) return tensor_needed(c, e->a, &v) ? eval_rank(c, e, e->a) : none;
  ac_diag *g = ac_error(ac_chk_d(c), AC0502, e->loc, "%s has no attribute '%s'", ac_chk_kind_name(v.kind), e->s);
  ac_help(ac_chk_d(c), g, "tensors have .shape, .ndim and .numel()");
  return none;
}

static ac_kval eval_index(ac_chk *c, ac_cexpr *e) {
  ac_kval v = ac_chk_eval(c, e->a);
  switch (v.kind) {
  case AC_CT_NONE: return none;
  case AC_CT_BUFFER: return buffer_index(c, e, v);
  case AC_CT_TILE: return tile_index(c, e, &v);
  case AC_CT_SHAPE:
    if (e->n_args != 1) break;
    if (e->a->kind != AC_CE_ATTR) break;
    if (e->args[0]->kind != AC_CE_SLICE) return eval_dim(c, e, e->a->a, e->args[0]);
    if (e->args[0]->c) break;
    if (e->args[0]->a && ac_chk_int(c, e->args[0]->a, "an axis").kind == AC_CT_NONE) return none;
    if (e->args[0]->b && ac_chk_int(c, e->args[0]->b, "an axis").kind == AC_CT_NONE) return none;
    e->args[0]->type = AC_CT_SHAPE;
    return plain(AC_CT_SHAPE);
  default: break;
  }
  ac_error(ac_chk_d(c), AC0506, e->loc, "%s cannot be indexed like this: `%s`", ac_chk_kind_name(v.kind), text(c, e));
  return none;
}

/* ---- operators ---- */

static bool is_number(ac_ctkind k) {
  return k == AC_CT_INT || k == AC_CT_FLOAT || k == AC_CT_BOOL;
}

static ac_kval int_binary(ac_chk *c, const ac_cexpr *e, ac_sym *x, ac_sym *y) {
  ac_syms *s = &c->s;
  int64_t v;
  switch (e->op) {
  case AC_OP_ADD: return int_value(ac_sy_add(s, x, y));
  case AC_OP_SUB: return int_value(ac_sy_sub(s, x, y));
  case AC_OP_MUL: return int_value(ac_sy_mul(s, x, y));
  case AC_OP_FLOORDIV:
  case AC_OP_MOD:
    if (ac_sy_const(y, &v) && v == 0) {
      ac_error(ac_chk_d(c), AC0524, e->loc, "`%s` divides by zero", text(c, e));
      return none;
    }
    return int_value(ac_sy_fn(s, e->op == AC_OP_MOD ? AC_SY_MOD : AC_SY_FLOORDIV, x, y));
  case AC_OP_POW:
    if (!ac_sy_const(y, &v) || v < 0 || v > 8) return int_value(ac_sy_fresh(s, text(c, e)));
    for (y = ac_sy_int(s, 1); v > 0; v--) y = ac_sy_mul(s, y, x);
    return int_value(y);
  default: return none;
  }
}

static ac_kval eval_compare(ac_chk *c, ac_cexpr *e, const ac_kval *x, const ac_kval *y) {
  bool logic = e->op == AC_OP_AND || e->op == AC_OP_OR;
  if (is_number(x->kind) && is_number(y->kind) && (!logic || (x->kind != AC_CT_FLOAT && y->kind != AC_CT_FLOAT)))
    return plain(AC_CT_BOOL);
  ac_diag *g = ac_error(ac_chk_d(c), AC0506, e->loc, "%s and %s cannot be %s: `%s`", ac_chk_kind_name(x->kind),
                        ac_chk_kind_name(y->kind), logic ? "joined" : "compared", text(c, e));
  if (x->kind == AC_CT_BUFFER || y->kind == AC_CT_BUFFER)
    ac_help(
        ac_chk_d(c), g,
        "element by element: tl.vcompare(mask, a, b, \"lt\") and tl.vselect; one element: tl.extract_scalar(buf, i)");
  return none;
}

static ac_kval eval_binary(ac_chk *c, ac_cexpr *e) {
  ac_kval x = ac_chk_eval(c, e->a), y = ac_chk_eval(c, e->b);
  if (x.kind == AC_CT_NONE || y.kind == AC_CT_NONE) return e->op >= AC_OP_AND ? plain(AC_CT_BOOL) : none;
  bool address = x.kind == AC_CT_TILE || y.kind == AC_CT_TILE || x.kind == AC_CT_POINTER || y.kind == AC_CT_POINTER;
  bool scaled = e->op == AC_OP_MUL && (x.kind == AC_CT_INT || y.kind == AC_CT_INT);
  if (x.kind == AC_CT_BUFFER && (address || scaled)) x = offsets_of(c, e->a, &x), address = true;
  if (y.kind == AC_CT_BUFFER && (address || scaled)) y = offsets_of(c, e->b, &y), address = true;
  if (x.kind == AC_CT_NONE || y.kind == AC_CT_NONE) return none;
  if (address) return tile_binary(c, e, &x, &y);
  if (e->op >= AC_OP_AND) return eval_compare(c, e, &x, &y);
  if (x.kind == AC_CT_BUFFER) return buffer_plus(c, e, x, e->b, y.sym);
  if (y.kind == AC_CT_BUFFER) return buffer_plus(c, e, y, e->a, x.sym);
  if (x.kind == AC_CT_INT && y.kind == AC_CT_INT && e->op != AC_OP_DIV) return int_binary(c, e, x.sym, y.sym);
  if (!is_number(x.kind) || !is_number(y.kind)) {
    ac_error(ac_chk_d(c), AC0506, e->loc, "%s and %s have no operator here: `%s`", ac_chk_kind_name(x.kind),
             ac_chk_kind_name(y.kind), text(c, e));
    return none;
  }
  if (e->op == AC_OP_FLOORDIV || e->op == AC_OP_MOD) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0506, e->loc, "// and %% are for ints: `%s`", text(c, e));
    ac_help(ac_chk_d(c), g, "use / for floats, or int(...)");
    return none;
  }
  return plain(AC_CT_FLOAT);
}

static ac_kval eval_unary(ac_chk *c, ac_cexpr *e) {
  ac_kval v = ac_chk_eval(c, e->a);
  if (e->op == AC_OP_NOT) {
    if (v.kind == AC_CT_NONE || v.kind == AC_CT_BOOL || v.kind == AC_CT_INT) return plain(AC_CT_BOOL);
  } else {
    if (v.kind == AC_CT_INT) return int_value(ac_sy_mul(&c->s, v.sym, ac_sy_int(&c->s, -1)));
    if (v.kind == AC_CT_FLOAT || v.kind == AC_CT_NONE) return v;
    if (v.kind == AC_CT_TILE) return tile_scale(c, e, &v, ac_chk_new_int(c, -1, e->loc), ac_sy_int(&c->s, -1));
  }
  ac_error(ac_chk_d(c), AC0506, e->loc, "%s has no operator here: `%s`", ac_chk_kind_name(v.kind), text(c, e));
  return none;
}

/* Bounds of a value that is x where fx hold and y where fy do: "a if a < b else b" has both as upper bounds. */
void ac_chk_choice(ac_chk *c, ac_sym *r, ac_sym *x, const ac_fact *fx, ac_sym *y, const ac_fact *fy) {
  ac_syms *s = &c->s;
  bool hi_y = ac_sy_le(s, x, y, fx), hi_x = ac_sy_le(s, y, x, fy), lo_y = ac_sy_le(s, y, x, fx),
       lo_x = ac_sy_le(s, x, y, fy);
  ac_sym *least = ac_sy_fn(s, AC_SY_MIN, x, y), *most = ac_sy_fn(s, AC_SY_MAX, x, y);
  ac_satom *a = ac_sy_learn(s, r);
  a->shi = hi_x && hi_y ? least : hi_x ? x : hi_y ? y : most;
  a->slo = lo_x && lo_y ? most : lo_x ? x : lo_y ? y : least;
}

static ac_kval eval_cond(ac_chk *c, ac_cexpr *e) {
  ac_kval t = ac_chk_eval(c, e->c);
  const ac_fact *facts = c->st->facts;
  const ac_fact *yes = ac_chk_assume(c, facts, e->c, true), *no = ac_chk_assume(c, facts, e->c, false);
  c->st->facts = yes;
  ac_kval x = ac_chk_eval(c, e->a);
  c->st->facts = no;
  ac_kval y = ac_chk_eval(c, e->b);
  c->st->facts = facts;
  if (t.kind == AC_CT_NONE || x.kind == AC_CT_NONE || y.kind == AC_CT_NONE) return none;
  if (!is_number(x.kind) || !is_number(y.kind) || t.kind == AC_CT_FLOAT || !is_number(t.kind)) {
    ac_error(ac_chk_d(c), AC0506, e->loc, "both results must be numbers and the condition true or false: `%s`",
             text(c, e));
    return none;
  }
  if (x.kind != y.kind) return plain(AC_CT_FLOAT);
  if (x.kind != AC_CT_INT) return plain(x.kind);
  if (x.sym == y.sym) return x;
  ac_sym *r = ac_sy_fresh(&c->s, text(c, e));
  ac_chk_choice(c, r, x.sym, yes, y.sym, no);
  return int_value(r);
}

/* ---- facts from conditions ---- */

static const ac_fact *assume_compare(ac_chk *c, const ac_fact *f, ac_cop op, ac_sym *x, ac_sym *y) {
  ac_syms *s = &c->s;
  ac_sym *one = ac_sy_int(s, 1), *d = ac_sy_sub(s, y, x);
  switch (op) {
  case AC_OP_LE: return ac_sy_assume(s, f, d);
  case AC_OP_LT: return ac_sy_assume(s, f, ac_sy_sub(s, d, one));
  case AC_OP_GE: return ac_sy_assume(s, f, ac_sy_sub(s, x, y));
  case AC_OP_GT: return ac_sy_assume(s, f, ac_sy_sub(s, ac_sy_sub(s, x, y), one));
  case AC_OP_EQ: return ac_sy_assume(s, ac_sy_assume(s, f, d), ac_sy_sub(s, x, y));
  case AC_OP_NE: { /* x != y with x >= y known: x > y */
    ac_range r = ac_sy_range(s, d, f);
    if (r.lo == 0) return ac_sy_assume(s, f, ac_sy_sub(s, d, one));
    if (r.hi == 0) return ac_sy_assume(s, f, ac_sy_sub(s, ac_sy_sub(s, x, y), one));
    return f;
  }
  default: return f;
  }
}

const ac_fact *ac_chk_assume(ac_chk *c, const ac_fact *f, ac_cexpr *cond, bool holds) {
  static const ac_cop opposite[] = {[AC_OP_EQ] = AC_OP_NE, [AC_OP_NE] = AC_OP_EQ, [AC_OP_LT] = AC_OP_GE,
                                    [AC_OP_LE] = AC_OP_GT, [AC_OP_GT] = AC_OP_LE, [AC_OP_GE] = AC_OP_LT};
  if (cond->kind == AC_CE_UNARY && cond->op == AC_OP_NOT) return ac_chk_assume(c, f, cond->a, !holds);
  if (cond->kind != AC_CE_BINARY) return f;
  if (cond->op == (holds ? AC_OP_AND : AC_OP_OR))
    return ac_chk_assume(c, ac_chk_assume(c, f, cond->a, holds), cond->b, holds);
  if (cond->op < AC_OP_EQ) return f;
  c->quiet++;
  ac_kval x = ac_chk_eval(c, cond->a), y = ac_chk_eval(c, cond->b);
  c->quiet--;
  if (x.kind != AC_CT_INT || y.kind != AC_CT_INT) return f;
  return assume_compare(c, f, holds ? cond->op : opposite[cond->op], x.sym, y.sym);
}

/* cond == holds is against the facts: what it guards never runs. Decided by ranges alone, so false is "maybe". */
bool ac_chk_never(ac_chk *c, const ac_fact *f, ac_cexpr *cond, bool holds) {
  if (cond->kind == AC_CE_UNARY && cond->op == AC_OP_NOT) return ac_chk_never(c, f, cond->a, !holds);
  if (cond->kind != AC_CE_BINARY) return false;
  if (cond->op == AC_OP_AND || cond->op == AC_OP_OR) {
    bool either = (cond->op == AC_OP_AND) == holds, a = ac_chk_never(c, f, cond->a, holds);
    return a == either ? a : ac_chk_never(c, f, cond->b, holds);
  }
  if (cond->op < AC_OP_EQ) return false;
  c->quiet++;
  ac_kval x = ac_chk_eval(c, cond->a), y = ac_chk_eval(c, cond->b);
  c->quiet--;
  if (x.kind != AC_CT_INT || y.kind != AC_CT_INT) return false;
  ac_range d = ac_sy_range(&c->s, ac_sy_sub(&c->s, y.sym, x.sym), f);
  switch (cond->op) {
  case AC_OP_LE: return holds ? d.hi < 0 : d.lo >= 0;
  case AC_OP_LT: return holds ? d.hi <= 0 : d.lo > 0;
  case AC_OP_GE: return holds ? d.lo > 0 : d.hi <= 0;
  case AC_OP_GT: return holds ? d.lo >= 0 : d.hi < 0;
  case AC_OP_EQ: return holds ? d.lo > 0 || d.hi < 0 : d.lo == 0 && d.hi == 0;
  case AC_OP_NE: return holds ? d.lo == 0 && d.hi == 0 : d.lo > 0 || d.hi < 0;
  default: return false;
  }
}

/* ---- entry ---- */

static ac_kval eval(ac_chk *c, ac_cexpr *e) {
  switch (e->kind) {
  case AC_CE_INT: return int_value(ac_sy_int(&c->s, e->i));
  case AC_CE_FLOAT: return plain(AC_CT_FLOAT);
  case AC_CE_BOOL: return plain(AC_CT_BOOL);
  case AC_CE_STR: return plain(AC_CT_STR);
  case AC_CE_NAME: return eval_name(c, e);
  case AC_CE_ATTR: return eval_attr(c, e);
  case AC_CE_INDEX: return eval_index(c, e);
  case AC_CE_CALL: return ac_chk_call(c, e);
  case AC_CE_UNARY: return eval_unary(c, e);
  case AC_CE_BINARY: return eval_binary(c, e);
  case AC_CE_COND: return eval_cond(c, e);
  default: break;
  }
  ac_error(ac_chk_d(c), AC0506, e->loc, "`%s` has no value here", text(c, e));
  return none;
}

ac_kval ac_chk_eval(ac_chk *c, ac_cexpr *e) {
  ac_kval v = eval(c, e);
  e->type = v.kind;
  e->dtype = v.dtype;
  if (v.kind == AC_CT_BUFFER) {
    e->buffer = c->fn->f->buffers.data[v.buf];
    e->dtype = v.dtype != AC_NODTYPE ? v.dtype : e->buffer->dtype;
    bool zero = !v.off_e || (v.off_e->kind == AC_CE_INT && v.off_e->i == 0);
    e->offset = zero ? NULL : v.off_e; /* written at this very place, so that its names mean what they meant */
  }
  if (v.kind == AC_CT_POINTER || v.kind == AC_CT_TILE) {
    int p = v.tile ? v.tile->param : -1;
    if (p >= 0) e->dtype = c->fn->f->params[p].dtype;
  }
  return v;
}

ac_kval ac_chk_int(ac_chk *c, ac_cexpr *e, const char *what) {
  ac_kval v = ac_chk_eval(c, e);
  if (v.kind == AC_CT_INT || v.kind == AC_CT_NONE) return v;
  ac_diag *g = ac_error(ac_chk_d(c), AC0506, e->loc, "%s must be an int; `%s` is %s", what, text(c, e),
                        ac_chk_kind_name(v.kind));
  if (v.kind == AC_CT_FLOAT) ac_help(ac_chk_d(c), g, "use // instead of /, or int(...)");
  return none;
}

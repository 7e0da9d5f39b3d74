/* Calls: argument binding, rules of place, and every primitive that is neither a copy nor a computation on buffers. */
#include "craft/check.h"

#include <string.h>

const char *ac_chk_buf_name(ac_chk *c, int buf) {
  return c->fn->f->buffers.data[buf]->name;
}

/* ---- obligations ---- */

bool ac_chk_settled(ac_chk *c, const ac_oblig *o) {
  return c->quiet || c->st->dead || o->x == o->y || ac_sy_le(&c->s, o->x, o->y, c->st->facts);
}

/* The obligation with the values that its statement sees, for the tiling code. */
static ac_cmust *must_of(ac_chk *c, const ac_oblig *o) {
  ac_cexpr *x = c->at && !o->sure && !o->open ? ac_chk_write(c, o->x, NULL, false) : NULL;
  ac_cexpr *y = x ? ac_chk_write(c, o->y, NULL, false) : NULL;
  if (!y) return NULL;
  ac_cmust *m = AC_NEW(c->a, ac_cmust);
  *m = (ac_cmust){.x = x, .y = y, .text = o->refuted, .code = o->code, .loc = o->loc, .next = c->at->musts};
  c->at->musts = m;
  return m;
}

void ac_chk_unsettled(ac_chk *c, ac_oblig o) {
  o.fn = c->fn;
  o.facts = c->st->facts;
  ac_range r = ac_sy_range(&c->s, ac_sy_sub(&c->s, o.y, o.x), o.facts);
  if (r.hi < 0 && !o.open) {
    ac_diag *g = ac_error(c->diags, o.code, o.loc, "%s", o.refuted);
    if (o.other.line) ac_note(c->diags, g, o.other, "it was set here");
    if (o.help) ac_help(c->diags, g, "%s", o.help);
    return;
  }
  o.must = must_of(c, &o);
  ac_push(c->a, &c->obligs, o);
}

/* ---- binding ---- */

static bool bind_failed(ac_chk *c, ac_loc loc, const ac_sig *s, const char *what) {
  ac_diag *g = ac_error(ac_chk_d(c), AC0505, loc, "tl.%s: %s", s->name, what);
  ac_buf b;
  ac_buf_init(&b, c->a);
  for (int i = 0; i < s->n; i++) ac_printf(&b, "%s%s%s", i ? ", " : "", s->op[i].name, s->op[i].optional ? "=" : "");
  ac_help(ac_chk_d(c), g, "tl.%s(%s)", s->name, ac_buf_str(&b));
  return false;
}

/* Puts the arguments into the order of the signature, absent ones NULL. Does nothing to a call that is in order. */
static bool bind(ac_chk *c, ac_cexpr *e, const ac_sig *s) {
  ac_cexpr **args = AC_NEW_N(c->a, ac_cexpr *, s->n + 1);
  const char **kw = AC_NEW_N(c->a, const char *, s->n + 1);
  int at = 0;
  for (int i = 0; i < e->n_args; i++) {
    int to = at;
    if (e->kw && e->kw[i]) {
      const char *k = ac_sig_keyword(s, e->kw[i]);
      for (to = 0; to < s->n && strcmp(s->op[to].name, k) != 0; to++) {
      }
      if (to == s->n)
        return bind_failed(c, e->args[i] ? e->args[i]->loc : e->loc, s,
                           ac_sprintf(c->a, "it has no argument '%s'", e->kw[i]));
    } else {
      at++;
      if (!e->args[i]) continue;
      if (to >= s->n)
        return bind_failed(c, e->args[i]->loc, s,
                           ac_sprintf(c->a,
                                      s->prim == AC_P_GATHER
                                          ? "it takes at most %d arguments: indices count elements, not bytes, "
                                            "and there is no base; write tl.gather(dst, src, index, count=n)"
                                          : "it takes at most %d arguments",
                                      s->n));
    }
    if (!e->args[i]) continue;
    if (args[to]) return bind_failed(c, e->args[i]->loc, s, ac_sprintf(c->a, "'%s' is given twice", s->op[to].name));
    if (e->args[i]->kind == AC_CE_NONE && s->op[to].optional) continue; /* axis=None, work=None: as if absent */
    args[to] = e->args[i];
    kw[to] = e->kw && e->kw[i] ? ac_strdup(c->a, s->op[to].name) : NULL;
  }
  bool gap = false;
  for (int i = 0; i < s->n; i++) {
    if (!args[i] && !s->op[i].optional)
      return bind_failed(c, e->loc, s, ac_sprintf(c->a, "'%s' is missing", s->op[i].name));
    gap = gap || !args[i] || kw[i];
    if (args[i] && gap && !kw[i]) kw[i] = ac_strdup(c->a, s->op[i].name); /* behind a gap only keywords print right */
  }
  e->args = args;
  e->kw = kw;
  e->n_args = s->n;
  e->prim = s->prim;
  e->inst = s->inst;
  return true;
}

static void rename_callee(ac_chk *c, ac_cexpr *e, const char *name) {
  bool bare_ok = !strcmp(name, "min") || !strcmp(name, "max");
  if (e->a->kind == AC_CE_NAME && (!bare_ok || strcmp(e->a->s, name) != 0)) {
    ac_cexpr *f = ac_chk_new(c, AC_CE_ATTR, e->a->loc);
    f->a = ac_chk_new(c, AC_CE_NAME, e->a->loc);
    f->a->s = "tl";
    f->a->type = AC_CT_MODULE;
    f->type = AC_CT_NONE;
    e->a = f;
  }
  e->a->s = name;
}

/* ---- where a primitive may stand ---- */

static bool allowed_here(ac_chk *c, const ac_cexpr *e, const ac_sig *s) {
  static const char here_of[] = {
      [AC_STAGE_NONE] = 'k', [AC_STAGE_COPYIN] = 'i', [AC_STAGE_COMPUTE] = 'c', [AC_STAGE_COPYOUT] = 'o'};
  char here = c->fn->f->kernel ? here_of[c->stage] : 'h';
  if (strchr(s->where, here)) return true;
  ac_diag *g;
  if (!strcmp(s->where, "h")) {
    g = ac_error(ac_chk_d(c), AC0507, e->loc, "tl.%s belongs into the host function", s->name);
    ac_help(ac_chk_d(c), g, "pass the value to the kernel as a parameter");
  } else if (here == 'h') {
    (void)ac_error(ac_chk_d(c), AC0507, e->loc, "tl.%s belongs into a kernel", s->name);
  } else if (!strcmp(s->where, "k")) {
    g = ac_error(ac_chk_d(c), AC0507, e->loc, "tl.%s stands outside the stage blocks", s->name);
    ac_help(ac_chk_d(c), g, "move it in front of the `with`");
  } else {
    const char *block = s->where[0] == 'i' ? "copyin" : s->where[0] == 'o' ? "copyout" : "compute";
    g = ac_error(ac_chk_d(c), AC0507, e->loc, "tl.%s belongs into a %s block", s->name, block);
    ac_help(ac_chk_d(c), g, "with tl.%s():", block);
  }
  return false;
}

/* ---- operands ---- */

static bool operand_fits(const ac_kval *v, const char *kinds) {
  for (; *kinds; kinds++) switch (*kinds) {
    case 'B':
      if (v->kind == AC_CT_BUFFER) return true;
      break;
    case 'T':
      if (v->kind == AC_CT_TILE || v->kind == AC_CT_POINTER) return true;
      break;
    case 'I':
      if (v->kind == AC_CT_INT) return true;
      break;
    case 'F':
    case 'X':
      if (v->kind == AC_CT_INT || v->kind == AC_CT_FLOAT) return true;
      break;
    case 'D':
      if (v->kind == AC_CT_DTYPE) return true;
      break;
    case 'L':
      if (v->kind == AC_CT_BOOL) return true;
      break;
    case 'S':
      if (v->kind == AC_CT_STR) return true;
      break;
    case 'P':
      if (v->kind == AC_CT_POINTER) return true;
      break;
    default: break;
    }
  return false;
}

static const char *kinds_text(char k) {
  switch (k) {
  case 'B': return "a buffer";
  case 'T': return "a tensor plus offsets";
  case 'I': return "an int";
  case 'D': return "a dtype";
  case 'L': return "True or False";
  case 'S': return "a string";
  case 'P': return "a tensor";
  default: return "a number";
  }
}

static bool operand_error(ac_chk *c, const ac_cexpr *e, const ac_sig *s, int i, const ac_kval *v) {
  if (v->kind == AC_CT_NONE) return false;
  ac_diag *g = ac_error(ac_chk_d(c), AC0506, e->args[i]->loc, "'%s' of tl.%s must be %s; `%s` is %s", s->op[i].name,
                        s->name, kinds_text(s->op[i].kinds[0]), text(c, e->args[i]), ac_chk_kind_name(v->kind));
  if (s->op[i].kinds[0] == 'I' && v->kind == AC_CT_FLOAT) ac_help(ac_chk_d(c), g, "use // instead of /, or int(...)");
  if (v->kind == AC_CT_POINTER && s->op[i].kinds[0] == 'B')
    ac_help(ac_chk_d(c), g, "load it into a buffer first: tl.load(tensor + offsets, buffer)");
  return false;
}

static bool eval_operands(ac_chk *c, ac_cexpr *e, const ac_sig *s, ac_kval *v) {
  bool ok = true;
  for (int i = 0; i < AC_MAX_OPERANDS; i++) v[i] = none;
  for (int i = 0; i < s->n; i++) {
    if (!e->args[i]) continue;
    v[i] = ac_chk_eval(c, e->args[i]);
    if (!operand_fits(&v[i], s->op[i].kinds)) ok = operand_error(c, e, s, i, &v[i]);
  }
  return ok;
}

/* After an error in a call: its buffers count as written, so that no error follows from it. A trial walk leaves them as they
 * are: the walk that reports shall meet the same error. */
ac_kval ac_chk_failed(ac_chk *c, const ac_cexpr *e) {
  if (c->quiet) return none;
  for (int i = 0; i < e->n_args; i++) {
    const ac_cexpr *x = e->args[i];
    while (x && (x->kind == AC_CE_BINARY || x->kind == AC_CE_INDEX)) x = x->a;
    int v = x && x->kind == AC_CE_NAME ? ac_chk_var(c->fn, x->s) : -1;
    int b = v < 0 ? -1 : c->fn->v.data[v].buf;
    if (v >= 0) c->fn->v.data[v].used = true;
    if (b >= 0 && (i == 0 || c->st->bufs[b].set != AC_SET))
      c->st->bufs[b] = (ac_kbuf){.set = AC_SET, .rank = 1, .wrong = true, .loc = e->loc};
  }
  return none;
}

/* ---- buffers ---- */

bool ac_chk_is_alloc(const ac_cexpr *e) {
  const char *n = e->kind != AC_CE_CALL                                  ? NULL
                  : e->a->kind == AC_CE_ATTR || e->a->kind == AC_CE_NAME ? e->a->s
                                                                         : NULL;
  return n && !strcmp(n, "alloc_ub");
}

static bool alloc_shape(ac_chk *c, ac_cbuffer *b, ac_sym **dims, ac_sym **cap, ac_cexpr *e) {
  bool tuple = e->kind == AC_CE_TUPLE;
  int n = tuple ? e->n_args : 1;
  if (n < 1 || n > 4) {
    ac_error(ac_chk_d(c), AC0519, e->loc, "a buffer has 1 to 4 dimensions, not %d", n);
    return false;
  }
  *cap = ac_sy_int(&c->s, 1);
  b->rank = n;
  for (int i = 0; i < n; i++) {
    ac_cexpr *x = tuple ? e->args[i] : e;
    ac_kval v = ac_chk_int(c, x, "a buffer's size");
    if (v.kind != AC_CT_INT) return false;
    dims[i] = v.sym;
    *cap = ac_sy_mul(&c->s, *cap, v.sym);
    int64_t k;
    if (ac_sy_const(v.sym, &k) && k <= 0) {
      ac_error(ac_chk_d(c), AC0519, x->loc, "'%s' has the size %lld", b->name, (long long)k);
      return false;
    }
    b->shape[i] = ac_chk_write(c, v.sym, x, true);
    if (!b->shape[i]) {
      ac_diag *g = ac_error(ac_chk_d(c), AC0519, x->loc,
                            "the size of '%s' must follow from the kernel's parameters: `%s`", b->name, text(c, x));
      ac_help(ac_chk_d(c), g, "compute it in the host function and pass it");
      return false;
    }
  }
  return true;
}

static bool declare(ac_chk *c, ac_cstmt *st);

/* A buffer that could not be declared is no reason for errors where it is used. */
void ac_chk_alloc(ac_chk *c, ac_cstmt *st) {
  if (!declare(c, st)) *ac_chk_set(c, c->st, ac_chk_var(c->fn, st->target->s)) = (ac_kvar){AC_SET, none};
}

static bool declare(ac_chk *c, ac_cstmt *st) {
  ac_cexpr *e = st->value;
  ac_sig s = ac_sig_find("alloc_ub");
  int i = ac_chk_var(c->fn, st->target->s);
  ac_vinfo *info = &c->fn->v.data[i];
  if (!bind(c, e, &s) || !allowed_here(c, e, &s)) return false;
  if (c->loop_depth) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0519, e->loc, "'%s' is declared inside a loop", st->target->s);
    ac_help(ac_chk_d(c), g, "buffers live through the whole kernel: declare it at the top");
    return false;
  }
  if (info->buf >= 0 || info->param >= 0) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0519, e->loc, "'%s' is declared twice", st->target->s);
    ac_note(ac_chk_d(c), g, info->loc, "the first is here");
    return info->buf >= 0;
  }
  rename_callee(c, e, "alloc_ub");
  ac_kval d = ac_chk_eval(c, e->args[1]);
  if (d.kind != AC_CT_DTYPE) {
    if (d.kind != AC_CT_NONE)
      ac_error(ac_chk_d(c), AC0506, e->args[1]->loc, "the dtype is written as tl.float32, not `%s`",
               text(c, e->args[1]));
    return false;
  }
  if (d.dtype == AC_F64 || d.dtype == AC_U64) {
    ac_error(ac_chk_d(c), AC0508, e->args[1]->loc, "buffers cannot be %s: the chip has no such vector unit",
             ac_dtypes[d.dtype].name);
    return false;
  }
  if (d.dtype == AC_MASK && e->args[0]->kind == AC_CE_TUPLE && e->args[0]->n_args != 1) {
    ac_error(ac_chk_d(c), AC0519, e->args[0]->loc, "a mask has one dimension: how many lanes");
    return false;
  }
  ac_cbuffer *b = AC_NEW(c->a, ac_cbuffer);
  ac_sym *dims[4] = {0}, *cap;
  *b = (ac_cbuffer){.name = st->target->s, .dtype = d.dtype, .loc = st->target->loc};
  if (!alloc_shape(c, b, dims, &cap, e->args[0])) return false;
  if (e->args[2]) {
    ac_kval n = ac_chk_int(c, e->args[2], "buffers=");
    int64_t k = 0;
    if (n.kind == AC_CT_NONE) return false;
    if (!ac_sy_const(n.sym, &k) || k < 1 || k > 4) {
      ac_error(ac_chk_d(c), AC0519, e->args[2]->loc, "buffers= is a constant from 1 to 4");
      return false;
    }
    b->pinned = (int)k;
  }
  e->type = AC_CT_BUFFER;
  e->dtype = d.dtype;
  e->buffer = b;
  st->target->type = AC_CT_BUFFER;
  st->target->dtype = d.dtype;
  st->target->buffer = b;
  info->buf = (int)c->fn->f->buffers.len;
  info->kind = AC_CT_BUFFER;
  b->index = c->fn->f->buffers.len;
  ac_push(c->a, &c->fn->f->buffers, b);
  c->fn->caps[info->buf] = cap;
  memcpy(c->fn->dims[info->buf], dims, sizeof dims);
  ac_kval v = plain(AC_CT_BUFFER);
  v.buf = info->buf;
  v.dtype = d.dtype;
  *ac_chk_set(c, c->st, i) = (ac_kvar){AC_SET, v};
  return true;
}

/* ---- the others ---- */

static ac_kval arange(ac_chk *c, ac_cexpr *e, const ac_kval *v) {
  int64_t zero;
  if (!ac_sy_const(v[0].sym, &zero) || zero != 0) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0510, e->args[0]->loc, "an arange starts at 0");
    ac_help(ac_chk_d(c), g, "add the start: %s + tl.arange(0, n)", text(c, e->args[0]));
    return none;
  }
  ac_ktile *t = AC_NEW(c->a, ac_ktile);
  ac_cexpr *one = ac_chk_new(c, AC_CE_INT, e->loc);
  one->i = 1;
  *t = (ac_ktile){.param = -1, .base = ac_sy_int(&c->s, 0), .base_e = ac_chk_new(c, AC_CE_INT, e->loc), .rank = 1};
  t->dim[0] = (ac_kdim){
      .axis = true, .extent = v[1].sym, .stride = ac_sy_int(&c->s, 1), .extent_e = e->args[1], .stride_e = one};
  ac_kval r = plain(AC_CT_TILE);
  r.tile = t;
  return r;
}

/* Element `index` of a row, b[i], or of one element, b[i, j]. */
static bool extract_part(ac_chk *c, ac_cexpr *e, const ac_kval *v) {
  const ac_cbuffer *b = c->fn->f->buffers.data[v[0].buf];
  ac_sym *one = ac_sy_int(&c->s, 1), *ext[4] = {one};
  int last = b->rank - 1;
  if (!v[0].nd || v[0].nd->rank > 1 || (v[0].nd->rank == 1 && !v[0].nd->dim[last].kept)) {
    ac_diag *g =
        ac_error(ac_chk_d(c), AC0522, e->loc, "tl.extract_scalar takes one row; `%s` is none", text(c, e->args[0]));
    ac_help(ac_chk_d(c), g, "tl.extract_scalar(%s[i], j)", b->name);
    return false;
  }
  if (!ac_chk_readable(c, &v[0], e->args[0]->loc)) return false;
  ac_kview at = *v[0].nd;
  ac_kval x = v[0];
  x.nd = &at;
  if (at.dim[last].kept) {
    at.dim[last].lo = ac_sy_add(&c->s, at.dim[last].lo, v[1].sym);
    at.dim[last].len = one;
    ac_chk_from_zero(c, e, v[0].buf, at.dim[last].lo);
  }
  ac_chk_part_read(c, &x, ext, e->loc);
  return ac_chk_view(c, e->args[0], &v[0], ext);
}

/* The same bytes, seen as another dtype of the same size. */
static ac_kval bitcast(ac_chk *c, const ac_cexpr *e, const ac_kval *v) {
  ac_dtype from = buf_dtype(c, &v[0]), to = v[1].dtype;
  bool mask = from == AC_MASK || to == AC_MASK || from == AC_BOOL || to == AC_BOOL;
  if (mask || ac_dtypes[from].bytes != ac_dtypes[to].bytes) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0509, e->loc, "elements of %s cannot be seen as %s: `%s`",
                          ac_dtypes[from].name, ac_dtypes[to].name, text(c, e));
    ac_help(ac_chk_d(c), g,
            mask ? "masks: tl.mask_to_bytes, tl.mask_from_bytes; bool: tl.cast"
                 : "a bitcast keeps the size of elements; tl.cast converts values");
    return none;
  }
  ac_kval r = v[0];
  r.dtype = to;
  return r;
}

static ac_kval extract(ac_chk *c, ac_cexpr *e, const ac_kval *v) {
  ac_dtype d;
  if (v[0].kind == AC_CT_BUFFER) {
    d = buf_dtype(c, &v[0]);
    if (!c->quiet) c->fn->f->buffers.data[v[0].buf]->computed = true;
    if (d == AC_MASK) {
      ac_diag *g = ac_error(ac_chk_d(c), AC0508, e->loc, "'%s' is a mask: its bits are no elements",
                            ac_chk_buf_name(c, v[0].buf));
      ac_help(ac_chk_d(c), g, "tl.mask_to_bytes(bytes, mask), and one element of `bytes`");
      return none;
    }
    const ac_cbuffer *b = c->fn->f->buffers.data[v[0].buf];
    if (b->rank > 1) {
      if (!extract_part(c, e, v)) return none;
      e->args[0]->dtype = d;
      return ac_dtypes[d].cls == AC_FLOATING ? plain(AC_CT_FLOAT) : int_value(ac_chk_element(c, e, &v[0]));
    }
    ac_chk_from_zero(c, e, v[0].buf, v[0].off ? ac_sy_add(&c->s, v[0].off, v[1].sym) : v[1].sym);
    if (ac_chk_readable(c, &v[0], e->args[0]->loc) && ac_chk_extent(c, &v[0])) {
      ac_oblig o = {.x = ac_sy_add(&c->s, v[1].sym, ac_sy_int(&c->s, 1)),
                    .y = ac_chk_extent(c, &v[0]),
                    .code = AC0514,
                    .loc = e->loc,
                    .other = c->st->bufs[v[0].buf].loc};
      if (!ac_chk_settled(c, &o)) {
        o.refuted = ac_sprintf(c->a, "element %s of '%s' is read, of which %s are valid", ac_sy_text(&c->s, v[1].sym),
                               ac_chk_buf_name(c, v[0].buf), ac_sy_text(&c->s, o.y));
        ac_chk_unsettled(c, o);
      }
    }
  } else {
    const ac_ktile *t = v[0].tile;
    if (!t || t->param < 0) return none;
    ac_cparam *p = &c->fn->f->params[t->param];
    d = p->dtype;
    p->in = true;
    if (d == AC_NODTYPE) {
      ac_diag *g = ac_error(ac_chk_d(c), AC0508, e->loc, "the dtype of '%s' is not known", p->name);
      ac_help(ac_chk_d(c), g, "write it at the parameter: %s: tl.float32", p->name);
      return none;
    }
    if (t->rank) {
      ac_error(ac_chk_d(c), AC0510, e->args[0]->loc, "a scalar has one address; the arange goes into tl.load");
      return none;
    }
    if (e->args[0]->kind != AC_CE_NAME || t->base->n) {
      ac_ctile *x = AC_NEW(c->a, ac_ctile);
      x->param = t->param;
      x->base = c->quiet ? NULL : ac_chk_write(c, t->base, t->base_e, false);
      if (!c->quiet && !x->base) {
        ac_error(c->diags, AC0511, e->args[0]->loc, "`%s` was computed from a value that has changed since",
                 text(c, e->args[0]));
        return none;
      }
      e->args[0]->tile = x;
      e->args[0]->type = AC_CT_POINTER;
    }
  }
  e->args[0]->dtype = d;
  if (ac_dtypes[d].cls == AC_FLOATING) return plain(AC_CT_FLOAT);
  return int_value(ac_chk_element(c, e, &v[0]));
}

/* min and max take two or more numbers. */
static ac_kval min_max(ac_chk *c, ac_cexpr *e, const ac_sig *s) {
  ac_kval r = none;
  if (e->n_args < 2) {
    ac_error(ac_chk_d(c), AC0505, e->loc, "tl.%s takes two or more numbers", s->name);
    return none;
  }
  bool ok = true;
  for (int i = 0; i < e->n_args; i++) {
    if (e->kw && e->kw[i]) e->kw[i] = NULL; /* a=, b= */
    ac_kval v = ac_chk_eval(c, e->args[i]);
    if (v.kind == AC_CT_TILE) {
      ac_diag *g = ac_error(ac_chk_d(c), AC0510, e->loc, "`%s` is not affine: offsets are clamped", text(c, e));
      ac_help(ac_chk_d(c), g, "shorten the arange instead: tl.arange(0, min(tile, end - i))");
      return none;
    }
    if (v.kind != AC_CT_INT && v.kind != AC_CT_FLOAT) {
      if (v.kind != AC_CT_NONE) {
        ac_diag *g = ac_error(ac_chk_d(c), AC0506, e->args[i]->loc, "tl.%s takes numbers; `%s` is %s", s->name,
                              text(c, e->args[i]), ac_chk_kind_name(v.kind));
        if (v.kind == AC_CT_BUFFER)
          ac_help(ac_chk_d(c), g, "of buffers: tl.v%s(dst, a, b) or tl.reduce_%s(dst, src, work)", s->name, s->name);
      }
      ok = false;
    } else if (i == 0 || r.kind == AC_CT_NONE) {
      r = v;
    } else if (r.kind == AC_CT_INT && v.kind == AC_CT_INT) {
      r.sym = ac_sy_fn(&c->s, s->prim == AC_P_MIN ? AC_SY_MIN : AC_SY_MAX, r.sym, v.sym);
    } else {
      r = plain(AC_CT_FLOAT);
    }
  }
  e->prim = s->prim;
  return ok ? r : none;
}

static bool positive(ac_chk *c, const ac_cexpr *e, const ac_sym *x) {
  int64_t v;
  if (!ac_sy_const(x, &v) || v > 0) return true;
  ac_error(ac_chk_d(c), AC0524, e->loc, "`%s` divides by %lld", text(c, e), (long long)v);
  return false;
}

static ac_kval product(ac_chk *c, ac_cexpr *e) {
  ac_cexpr *x = e->args[0];
  if (x->kind == AC_CE_TUPLE) {
    ac_sym *r = ac_sy_int(&c->s, 1);
    for (int i = 0; i < x->n_args; i++) {
      ac_kval v = ac_chk_int(c, x->args[i], "a size");
      if (v.kind != AC_CT_INT) return none;
      r = ac_sy_mul(&c->s, r, v.sym);
    }
    return int_value(r);
  }
  ac_kval v = ac_chk_eval(c, x);
  if (v.kind != AC_CT_SHAPE) {
    if (v.kind != AC_CT_NONE)
      ac_error(ac_chk_d(c), AC0506, x->loc, "tl.prod takes x.shape, x.shape[a:b] or (a, b); `%s` is %s", text(c, x),
               ac_chk_kind_name(v.kind));
    return none;
  }
  const char *label = ac_sprintf(c->a, "tl.prod(%s)", text(c, x));
  ac_sym *r = ac_sy_named(&c->s, ac_sprintf(c->a, "host %s", label), label);
  ac_sy_at_least(&c->s, r, 0);
  return int_value(r);
}

static ac_kval numel(ac_chk *c, const ac_cexpr *tensor) {
  ac_sym *declared = ac_chk_declared_numel(c, tensor);
  if (declared) return int_value(declared);
  const char *label = ac_sprintf(c->a, "%s.numel()", text(c, tensor));
  ac_sym *r = ac_sy_named(&c->s, ac_sprintf(c->a, "host %s", label), label);
  ac_sy_at_least(&c->s, r, 0);
  return int_value(r);
}

static ac_kval bounded(ac_chk *c, ac_cexpr *e, const char *key, const char *label, int64_t lo, int64_t hi) {
  ac_sym *r = ac_sy_named(&c->s, key, label);
  ac_satom *a = ac_sy_limit(&c->s, r, lo, hi);
  if (!a->expr) a->expr = e;
  return int_value(r);
}

static ac_kval program_id(ac_chk *c, ac_cexpr *e, const ac_kval *v) {
  int64_t axis = 0;
  if (e->args[0] && (!ac_sy_const(v[0].sym, &axis) || axis != 0)) {
    ac_error(ac_chk_d(c), AC0505, e->args[0]->loc, "blocks have one axis: tl.%s(0)",
             e->prim == AC_P_PROGRAM_ID ? "program_id" : "num_programs");
    return none;
  }
  int64_t cores = c->chip ? c->chip->vector_cores : INT64_MAX;
  if (e->prim == AC_P_NUM_PROGRAMS) return bounded(c, e, "num_programs", "tl.num_programs(0)", 1, cores);
  ac_kval id = bounded(c, e, "program_id", "tl.program_id(0)", 0, cores == INT64_MAX ? cores : cores - 1);
  ac_sym *n = ac_sy_named(&c->s, "num_programs", "tl.num_programs(0)");
  ac_sy_at_least(&c->s, n, 1);
  ac_sym *last = ac_sy_sub(&c->s, n, ac_sy_int(&c->s, 1));
  if (ac_sy_atom(&c->s, id.sym)->shi != last) ac_sy_learn(&c->s, id.sym)->shi = last;
  return id;
}

static ac_kval ub_size(ac_chk *c, ac_cexpr *e) {
  if (!c->chip) return bounded(c, e, "ub_size", "tl.ub_size()", 1, INT64_MAX);
  return bounded(c, e, "ub_size", "tl.ub_size()", ac_chip_ub(c->chip, true), ac_chip_ub(c->chip, false));
}

static ac_kval empty_tensor(ac_chk *c, ac_cexpr *e, const ac_kval *v) {
  if (v[1].dtype == AC_MASK) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0508, e->args[1]->loc, "global memory holds no masks");
    ac_help(ac_chk_d(c), g, "keep bytes: tl.empty(n, tl.uint8), and tl.mask_to_bytes in the kernel");
    return none;
  }
  ac_kval r = plain(AC_CT_POINTER);
  r.dtype = v[1].dtype;
  e->dtype = r.dtype;
  return r;
}

static ac_kval primitive(ac_chk *c, ac_cexpr *e, const ac_sig *s) {
  if (s->prim == AC_P_PROD) return bind(c, e, s) && allowed_here(c, e, s) ? product(c, e) : none;
  if (s->prim == AC_P_TUNE) return ac_chk_tune(c, e);
  ac_kval v[AC_MAX_OPERANDS] = {0};
  if (!eval_operands(c, e, s, v)) return ac_chk_failed(c, e);
  ac_syms *y = &c->s;
  switch ((int)s->prim) {
  case AC_P_PROGRAM_ID:
  case AC_P_NUM_PROGRAMS: return program_id(c, e, v);
  case AC_P_ARANGE: return arange(c, e, v);
  case AC_P_LOAD: return ac_chk_load(c, e, v);
  case AC_P_STORE: return ac_chk_store(c, e, v);
  case AC_P_EXTRACT_SCALAR: return extract(c, e, v);
  case AC_P_BITCAST: return bitcast(c, e, v);
  case AC_P_CDIV: return positive(c, e, v[1].sym) ? int_value(ac_sy_fn(y, AC_SY_CDIV, v[0].sym, v[1].sym)) : none;
  case AC_P_ALIGN_UP:
    return positive(c, e, v[1].sym) ? int_value(ac_sy_mul(y, ac_sy_fn(y, AC_SY_CDIV, v[0].sym, v[1].sym), v[1].sym))
                                    : none;
  case AC_P_ALIGN_DOWN:
    return positive(c, e, v[1].sym)
               ? int_value(ac_sy_mul(y, ac_sy_fn(y, AC_SY_FLOORDIV, v[0].sym, v[1].sym), v[1].sym))
               : none;
  case AC_P_SPLIT: return positive(c, e, v[1].sym) ? ac_chk_split(c, e, v) : none;
  case AC_P_DETERMINISTIC: return plain(AC_CT_BOOL);
  case AC_P_NUM_CORES:
    return bounded(c, e, "num_cores", "tl.num_cores()", 1, c->chip ? c->chip->vector_cores : INT64_MAX);
  case AC_P_UB_SIZE: return ub_size(c, e);
  case AC_P_NUMEL: return numel(c, e->args[0]);
  case AC_P_EMPTY: return empty_tensor(c, e, v);
  case AC_P_REFUSE: c->st->dead = true; return plain(AC_CT_NONE);
  case AC_P_SYNC_ALL: return plain(AC_CT_NONE);
  case AC_P_ALLOC_UB: {
    ac_diag *g = ac_error(ac_chk_d(c), AC0519, e->loc, "tl.alloc_ub needs a name");
    ac_help(ac_chk_d(c), g, "x = tl.alloc_ub(n, tl.float32)");
    return none;
  }
  case AC_P_COPYIN:
  case AC_P_COMPUTE:
  case AC_P_COPYOUT: {
    ac_diag *g = ac_error(ac_chk_d(c), AC0507, e->loc, "tl.%s opens a block", s->name);
    ac_help(ac_chk_d(c), g, "with tl.%s():", s->name);
    return none;
  }
  default: return ac_chk_is_shape_prim(s->prim) ? ac_chk_shape_prim(c, e, s, v) : ac_chk_compute(c, e, s, v);
  }
}

/* A scalar where the last source buffer would be picks the scalar form. */
static ac_sig scalar_form(ac_chk *c, ac_cexpr *e, ac_sig s) {
  ac_sig t = ac_sig_scalar(s.name);
  if (t.prim == AC_P_NONE) return s;
  ac_cexpr *last = NULL; /* the last source: the last buffer among the operands */
  for (int i = 1; i < s.n; i++)
    if (s.op[i].kinds[0] == 'B') last = e->args[i];
  if (!last) return s;
  c->quiet++;
  ac_kval v = ac_chk_eval(c, last);
  c->quiet--;
  if (v.kind != AC_CT_INT && v.kind != AC_CT_FLOAT) return s;
  for (int i = 0; i < e->n_args; i++)
    if (e->kw[i]) e->kw[i] = ac_strdup(c->a, t.op[i].name); /* the forms have the same order */
  return t;
}

static bool has_no_value(const ac_sig *s) {
  switch ((int)s->prim) {
  case AC_P_PROGRAM_ID:
  case AC_P_NUM_PROGRAMS:
  case AC_P_ALLOC_UB:
  case AC_P_ARANGE:
  case AC_P_EXTRACT_SCALAR:
  case AC_P_COMPRESS:
  case AC_P_BITCAST:
  case AC_P_CDIV:
  case AC_P_ALIGN_UP:
  case AC_P_ALIGN_DOWN:
  case AC_P_SPLIT:
  case AC_P_TUNE:
  case AC_P_DETERMINISTIC:
  case AC_P_NUM_CORES:
  case AC_P_UB_SIZE:
  case AC_P_NUMEL:
  case AC_P_PROD:
  case AC_P_EMPTY:
  case AC_P_COPYIN: /* these three have an error of their own */
  case AC_P_COMPUTE:
  case AC_P_COPYOUT: return false;
  default: return true;
  }
}

static ac_kval unknown_primitive(ac_chk *c, const ac_cexpr *e, const char *name) {
  if (!ac_chk_first(c, ac_sprintf(c->a, "tl.%s", name))) return none;
  if (ac_chk_cube_name(name)) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0525, e->a->loc,
                          "tl.%s: the cube unit, with L1 and L0, is not in the language yet", name);
    ac_help(ac_chk_d(c), g, "multiply with tl.vmul and add with tl.reduce_sum, or leave this operator to a library");
    return none;
  }
  ac_diag *g = ac_error(ac_chk_d(c), AC0504, e->a->loc, "there is no primitive tl.%s", name);
  const char *near = ac_sig_nearest(name);
  if (near) ac_help(ac_chk_d(c), g, "did you mean tl.%s?", near);
  return none;
}

static ac_kval primitive_call(ac_chk *c, ac_cexpr *e, const char *name) {
  ac_sig s = ac_sig_find(name);
  static const char *const scalar_math[] = {"sqrt", "exp", "log", "rsqrt", "abs", "tanh"};
  for (size_t i = 0; i < AC_COUNT(scalar_math); i++)
    if (!strcmp(name, scalar_math[i]) && e->n_args == 1) {
      ac_diag *g =
          ac_error(ac_chk_d(c), AC0525, e->loc, "tl.%s of a scalar: the scalar unit has no such function", name);
      ac_help(ac_chk_d(c), g,
              "use one element of a buffer: tl.duplicate(t, x, 1); tl.%s(t, t, count=1); tl.extract_scalar(t, 0)",
              s.name);
      return none;
    }
  if (s.prim == AC_P_NONE) return unknown_primitive(c, e, name), ac_chk_failed(c, e);
  if (s.prim == AC_P_MIN || s.prim == AC_P_MAX) {
    rename_callee(c, e, s.name);
    return min_max(c, e, &s);
  }
  if (!bind(c, e, &s)) return ac_chk_failed(c, e);
  s = scalar_form(c, e, s);
  e->prim = s.prim;
  e->inst = s.inst;
  rename_callee(c, e, s.name);
  if (!allowed_here(c, e, &s)) return ac_chk_failed(c, e);
  if (has_no_value(&s) && c->statement != e) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0506, e->loc, "tl.%s has no value", s.name);
    ac_help(ac_chk_d(c), g,
            s.prim == AC_P_INST
                ? "it writes to its first argument; one element as a scalar: tl.extract_scalar(buf, i)"
                : "write it as a statement of its own");
    return ac_chk_failed(c, e);
  }
  return primitive(c, e, &s);
}

static ac_kval conversion(ac_chk *c, ac_cexpr *e, ac_ctkind to) {
  if (e->n_args != 1) {
    ac_error(ac_chk_d(c), AC0505, e->loc, "%s() takes one number", e->a->s);
    return none;
  }
  ac_kval v = ac_chk_eval(c, e->args[0]);
  if (v.kind != AC_CT_INT && v.kind != AC_CT_FLOAT && v.kind != AC_CT_BOOL) {
    if (v.kind != AC_CT_NONE)
      ac_error(ac_chk_d(c), AC0506, e->args[0]->loc, "%s() takes a number; `%s` is %s", e->a->s, text(c, e->args[0]),
               ac_chk_kind_name(v.kind));
    return none;
  }
  if (to == AC_CT_INT) return v.kind == AC_CT_INT ? v : int_value(ac_sy_fresh(&c->s, text(c, e)));
  return plain(AC_CT_FLOAT);
}

static ac_kval length(ac_chk *c, ac_cexpr *e) {
  const ac_cexpr *x = e->n_args == 1 ? e->args[0] : NULL;
  if (!x || x->kind != AC_CE_ATTR || strcmp(x->s, "shape") != 0) {
    ac_error(ac_chk_d(c), AC0505, e->loc, "len() takes x.shape");
    return none;
  }
  if (ac_chk_eval(c, e->args[0]).kind != AC_CT_SHAPE) return none;
  return bounded(c, e, ac_sprintf(c->a, "host %s.ndim", text(c, x->a)), ac_sprintf(c->a, "%s.ndim", text(c, x->a)), 0,
                 8);
}

static ac_kval named_call(ac_chk *c, ac_cexpr *e) {
  const char *n = e->a->s;
  if (ac_chk_var(c->fn, n) < 0) {
    if (!strcmp(n, "int")) return conversion(c, e, AC_CT_INT);
    if (!strcmp(n, "float")) return conversion(c, e, AC_CT_FLOAT);
    if (!strcmp(n, "len")) return length(c, e);
    if (ac_sig_known_bare(n)) return primitive_call(c, e, n);
    if (ac_craft_kernel(c->m, n)) {
      ac_diag *g = ac_error(ac_chk_d(c), AC0520, e->loc, "a launch names the number of blocks");
      ac_help(ac_chk_d(c), g, "%s[n_cores](...)", n);
      return none;
    }
    ac_diag *g = ac_error(ac_chk_d(c), AC0502, e->a->loc, "there is no function '%s'", n);
    if (ac_sig_find(n).prim != AC_P_NONE) ac_help(ac_chk_d(c), g, "primitives are written with `tl.`: tl.%s", n);
    return none;
  }
  ac_error(ac_chk_d(c), AC0506, e->a->loc, "'%s' is no function", n);
  return none;
}

/* x.numel(), x.size(i), x.dim() */
static ac_kval method_call(ac_chk *c, ac_cexpr *e) {
  ac_kval v = ac_chk_eval(c, e->a->a);
  const char *m = e->a->s;
  if (v.kind == AC_CT_NONE) return none;
  int i = e->a->a->kind == AC_CE_NAME ? ac_chk_var(c->fn, e->a->a->s) : -1;
  bool tensor = v.kind == AC_CT_POINTER && !c->fn->f->kernel && i >= 0 && c->fn->v.data[i].param >= 0;
  if (tensor && !strcmp(m, "numel") && !e->n_args) {
    e->prim = AC_P_NUMEL;
    return numel(c, e->a->a);
  }
  const char *name = text(c, e->a->a);
  if (tensor && !strcmp(m, "dim") && !e->n_args)
    return bounded(c, e, ac_sprintf(c->a, "host %s.ndim", name), ac_sprintf(c->a, "%s.ndim", name), 0, 8);
  if (tensor && !strcmp(m, "size") && e->n_args == 1) {
    ac_kval k = ac_chk_int(c, e->args[0], "an axis");
    if (k.kind != AC_CT_INT) return none;
    const char *label = ac_sprintf(c->a, "%s.shape[%s]", name, ac_sy_text(&c->s, k.sym));
    return bounded(c, e, ac_sprintf(c->a, "host %s", label), label, 0, INT64_MAX);
  }
  ac_diag *g = ac_error(ac_chk_d(c), AC0502, e->a->loc, "%s has no method '%s' here", ac_chk_kind_name(v.kind), m);
  ac_help(ac_chk_d(c), g, "in the host function, tensors have .numel(), .size(i) and .dim()");
  return none;
}

ac_kval ac_chk_call(ac_chk *c, ac_cexpr *e) {
  ac_cexpr *f = e->a;
  if (f->kind == AC_CE_ATTR && f->a->kind == AC_CE_NAME && !strcmp(f->a->s, "tl")) return primitive_call(c, e, f->s);
  if (f->kind == AC_CE_ATTR) return method_call(c, e);
  if (f->kind == AC_CE_NAME) return named_call(c, e);
  if (f->kind == AC_CE_INDEX && f->a->kind == AC_CE_NAME && ac_craft_kernel(c->m, f->a->s)) {
    ac_error(ac_chk_d(c), AC0520, e->loc, "a launch is a statement of its own in the host function");
    return none;
  }
  ac_error(ac_chk_d(c), AC0506, f->loc, "`%s` is no function", text(c, f));
  return none;
}

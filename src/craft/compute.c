/* Compute primitives: dtypes, casts, masks, and the count that an absent one stands for. */
#include "craft/check.h"

#include <string.h>

typedef struct {
  int dst, srcs[3], n_srcs, work, mask, scalar, count, mode; /* operand numbers; -1: none */
} roles;

static roles roles_of(const ac_sig *s) {
  roles r = {.dst = 0, .work = -1, .mask = -1, .scalar = -1, .count = -1, .mode = -1};
  for (int i = 1; i < s->n; i++) {
    const char *n = s->op[i].name;
    if (!strcmp(n, "work"))
      r.work = i;
    else if (!strcmp(n, "mask"))
      r.mask = i;
    else if (!strcmp(n, "count"))
      r.count = i;
    else if (!strcmp(n, "mode"))
      r.mode = i;
    else if (s->op[i].kinds[0] == 'B')
      r.srcs[r.n_srcs++] = i;
    else if (r.scalar < 0)
      r.scalar = i;
  }
  return r;
}

static bool is_form(const ac_sig *s, ac_form f) {
  return s->prim == AC_P_INST && ac_insts[s->inst].form == f;
}
/* Its destination is a mask. */
static bool is_compare(const ac_sig *s) {
  return is_form(s, AC_FORM_COMPARE) || is_form(s, AC_FORM_COMPARE_S) || s->prim == AC_P_MASK_FROM_BYTES;
}
static bool is_mask_logic(const ac_sig *s) {
  return s->prim == AC_P_MASK_AND || s->prim == AC_P_MASK_OR || s->prim == AC_P_MASK_XOR || s->prim == AC_P_MASK_NOT;
}

/* dtypes of the element operands: elems.def says, or of an instruction that is not element-wise its own row. */
static uint32_t dtypes_of(const ac_sig *s) {
  uint32_t set = ac_elem_dtypes(s->name);
  if (set) return set;
  if (s->prim == AC_P_INST) return ac_insts[s->inst].dtypes;
  return AC_DTYPES_FLOAT;
}

static const char *dtype_list(ac_chk *c, uint32_t set) {
  ac_buf b;
  ac_buf_init(&b, c->a);
  for (int d = 0; d < AC_DTYPE_COUNT; d++)
    if (set & AC_BIT(d)) ac_printf(&b, "%s%s", b.len ? ", " : "", ac_dtypes[d].name);
  return ac_buf_str(&b);
}

static bool check_cast(ac_chk *c, ac_cexpr *e, const ac_kval *v) {
  static const char *const names[] = {"none", "rint", "floor", "ceil", "round", "trunc", "odd"};
  ac_dtype dst = buf_dtype(c, &v[0]), src = buf_dtype(c, &v[1]);
  unsigned rounds = ac_craft_cast_rounds(dst, src);
  if (!rounds) {
    bool mask = src == AC_MASK || dst == AC_MASK;
    ac_diag *g = ac_error(ac_chk_d(c), AC0509, e->loc, "there is no cast from %s to %s", ac_dtypes[src].name,
                          ac_dtypes[dst].name);
    if (mask)
      ac_help(ac_chk_d(c), g,
              "a mask has one bit a lane: tl.mask_to_bytes(bytes, mask), tl.mask_from_bytes(mask, bytes)");
    else
      ac_help(ac_chk_d(c), g, "copy with tl.vcopy(dst, src)");
    return false;
  }
  int mode = -1;
  if (e->args[2]) {
    for (int i = 0; i < (int)AC_COUNT(names); i++)
      if (!strcmp(names[i], e->args[2]->s)) mode = i;
    if (mode < 0 || !(rounds & 1u << mode)) {
      ac_buf b;
      ac_buf_init(&b, c->a);
      for (int i = 0; i < (int)AC_COUNT(names); i++)
        if (rounds & 1u << i) ac_printf(&b, "%s\"%s\"", b.len ? ", " : "", names[i]);
      ac_diag *g = ac_error(ac_chk_d(c), AC0509, e->args[2]->loc, "the cast from %s to %s has no rounding \"%s\"",
                            ac_dtypes[src].name, ac_dtypes[dst].name, e->args[2]->s);
      ac_help(ac_chk_d(c), g, "it has %s", ac_buf_str(&b));
      return false;
    }
  } else { /* exact casts need no rounding; to ints as C does, else to nearest even */
    bool to_int = ac_dtypes[dst].cls != AC_FLOATING && ac_dtypes[src].cls == AC_FLOATING;
    bool widens = ac_dtypes[dst].cls == AC_FLOATING && ac_dtypes[dst].bytes > ac_dtypes[src].bytes;
    ac_round best[] = {widens ? AC_RN_NONE : to_int ? AC_RN_TRUNC : AC_RN_RINT, AC_RN_RINT, AC_RN_NONE};
    for (size_t i = 0; mode < 0 && i < AC_COUNT(best); i++)
      if (rounds & 1u << best[i]) mode = (int)best[i];
    if (mode < 0) return false;
    ac_cexpr *m = ac_chk_new(c, AC_CE_STR, e->loc);
    m->s = names[mode];
    m->type = AC_CT_STR;
    e->args[2] = m;
    e->kw[2] = "mode";
    if (e->args[3]) e->kw[3] = "count";
  }
  e->round = (ac_round)mode;
  return true;
}

static bool mask_dtype(ac_chk *c, const ac_cexpr *e, const ac_kval *v, const char *what) {
  ac_dtype d = buf_dtype(c, v);
  if (d == AC_MASK) {
    if (!v->off && !v->len) return true;
    ac_diag *g = ac_error(ac_chk_d(c), AC0508, e->loc, "a part of a mask has no form: `%s`", text(c, e));
    ac_help(ac_chk_d(c), g, "give each part a mask of its own");
    return false;
  }
  const char *name = ac_chk_buf_name(c, v->buf);
  ac_diag *g = ac_error(ac_chk_d(c), AC0508, e->loc, "%s must be a mask; '%s' is %s", what, name, ac_dtypes[d].name);
  if (ac_dtypes[d].bytes == 1)
    ac_help(ac_chk_d(c), g,
            "%s = tl.alloc_ub(lanes, tl.mask), one bit a lane; of bytes: tl.mask_from_bytes(mask, %s)", name, name);
  else
    ac_help(ac_chk_d(c), g, "mask = tl.alloc_ub(lanes, tl.mask)");
  return false;
}

static bool dtype_refused(ac_chk *c, const ac_cexpr *e, const ac_sig *s, uint32_t set, ac_dtype d, const char *name) {
  if (set & AC_BIT(d)) return true;
  ac_diag *g = ac_error(ac_chk_d(c), AC0508, e->loc, "tl.%s has no %s form", s->name, ac_dtypes[d].name);
  bool divides = !strcmp(s->name, "vdiv") || !strcmp(s->name, "vdiv_scalar") || !strcmp(s->name, "vrdiv_scalar") ||
                 !strcmp(s->name, "vfmod") || !strcmp(s->name, "vfmod_scalar") || !strcmp(s->name, "vmod") ||
                 !strcmp(s->name, "vmod_scalar") || !strcmp(s->name, "vfloordiv") ||
                 !strcmp(s->name, "vfloordiv_scalar");
  if (d == AC_MASK)
    ac_help(ac_chk_d(c), g, "'%s' holds a mask: tl.vselect chooses by it, tl.mask_and and the like join masks", name);
  else if (set == AC_BIT(AC_MASK))
    ac_help(ac_chk_d(c), g, "it works on masks, tl.alloc_ub(lanes, tl.mask)");
  else if (divides)
    ac_help(ac_chk_d(c), g,
            "vdiv, vfmod and vmod divide floats and ints, vfloordiv ints: cast '%s', or for floats tl.vfloor of vdiv",
            name);
  else
    ac_help(ac_chk_d(c), g, "it has %s%s", dtype_list(c, set),
            (set & AC_BIT(AC_F32)) && ac_craft_cast_rounds(AC_F32, d)
                ? ac_sprintf(c->a, "; cast to float32 first: tl.cast(tmp, %s)", name)
                : "");
  return false;
}

/* A constant that no element of the dtype can be. */
static bool check_scalar(ac_chk *c, const ac_cexpr *e, const ac_sig *s, int i, ac_dtype d, const ac_kval *v) {
  if (ac_dtypes[d].cls == AC_FLOATING) return true;
  if (v->kind == AC_CT_FLOAT) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0508, e->args[i]->loc, "tl.%s of %s buffers takes an int, `%s` is a float",
                          s->name, ac_dtypes[d].name, text(c, e->args[i]));
    ac_help(ac_chk_d(c), g, "write int(%s), or cast the buffer: tl.cast(tmp, ...) to float32", text(c, e->args[i]));
    return false;
  }
  int64_t x, bits = 8 * ac_dtypes[d].bytes;
  if (v->kind != AC_CT_INT || !ac_sy_const(v->sym, &x)) return true;
  bool shift = !strcmp(s->name, "vshl_scalar") || !strcmp(s->name, "vshr_scalar");
  int64_t lo = shift        ? 0
               : bits == 64 ? INT64_MIN
                            : -((int64_t)1 << (bits - 1)),
          hi = shift        ? bits - 1
               : bits == 64 ? INT64_MAX
                            : ((int64_t)1 << bits) - 1;
  if (x >= lo && x <= hi) return true;
  ac_error(ac_chk_d(c), AC0508, e->args[i]->loc, "tl.%s of %s buffers: %lld is outside of %lld..%lld", s->name,
           ac_dtypes[d].name, (long long)x, (long long)lo, (long long)hi);
  return false;
}

static bool check_dtypes(ac_chk *c, ac_cexpr *e, const ac_sig *s, const roles *r, const ac_kval *v) {
  if (is_form(s, AC_FORM_CAST)) return check_cast(c, e, v);
  if (is_compare(s) && !mask_dtype(c, e->args[0], &v[0], "the destination")) return false;
  if (r->mask > 0 && !mask_dtype(c, e->args[r->mask], &v[r->mask], "what selects")) return false;
  int first = is_compare(s) ? 1 : 0;
  ac_dtype d = buf_dtype(c, &v[first]);
  uint32_t set = dtypes_of(s);
  for (int k = 0; k < r->n_srcs + (r->work >= 0); k++) {
    int i = k < r->n_srcs ? r->srcs[k] : r->work;
    ac_dtype x = buf_dtype(c, &v[i]);
    if (is_mask_logic(s) && !mask_dtype(c, e->args[i], &v[i], "a source")) return false;
    if (x == d) continue;
    const char *name = ac_chk_buf_name(c, v[i].buf);
    ac_diag *g = ac_error(ac_chk_d(c), AC0508, e->args[i]->loc, "tl.%s mixes %s ('%s') and %s ('%s')", s->name,
                          ac_dtypes[d].name, ac_chk_buf_name(c, v[first].buf), ac_dtypes[x].name, name);
    if (ac_craft_cast_rounds(d, x))
      ac_help(ac_chk_d(c), g, "nothing converts on its own: tl.cast(tmp, %s) with tmp = tl.alloc_ub(..., tl.%s)",
              name, ac_dtypes[d].name);
    else if (d == AC_MASK || x == AC_MASK)
      ac_help(ac_chk_d(c), g, "a mask is no number: tl.vselect(dst, mask, a, b), or tl.mask_to_bytes(bytes, mask)");
    return false;
  }
  if (is_mask_logic(s) && !mask_dtype(c, e->args[0], &v[0], "the destination")) return false;
  if (!dtype_refused(c, e, s, set, d, ac_chk_buf_name(c, v[first].buf))) return false;
  for (int i = 1; i < s->n; i++)
    if (s->op[i].kinds[0] == 'X' && e->args[i] && !check_scalar(c, e, s, i, d, &v[i])) return false;
  return true;
}

static bool check_mode(ac_chk *c, const ac_cexpr *e, const roles *r) {
  static const char *const modes[] = {"lt", "gt", "eq", "le", "ge", "ne"};
  const ac_cexpr *m = e->args[r->mode];
  for (size_t i = 0; i < AC_COUNT(modes); i++)
    if (!strcmp(m->s, modes[i])) return true;
  ac_diag *g = ac_error(ac_chk_d(c), AC0505, m->loc, "there is no comparison \"%s\"", m->s);
  ac_help(ac_chk_d(c), g, "\"lt\", \"gt\", \"eq\", \"le\", \"ge\" or \"ne\"");
  return false;
}

static const char *extent_text(ac_chk *c, ac_sym *x) {
  return x ? ac_sy_text(&c->s, x) : "not known";
}

static ac_kval ask_count(ac_chk *c, const ac_cexpr *e, const ac_sig *s, const ac_kval *v) {
  const ac_kbuf *b = &c->st->bufs[v->buf];
  if (b->wrong) return none;
  ac_diag *g =
      ac_error(ac_chk_d(c), AC0513, e->loc, "how much of '%s' is valid here is not known, so tl.%s needs `count=`",
               ac_chk_buf_name(c, v->buf), s->name);
  if (b->loc.line) ac_note(ac_chk_d(c), g, b->loc, "it was last written here");
  ac_help(ac_chk_d(c), g, "tl.%s(..., count=n)", s->name);
  return none;
}

static bool find_shape(ac_chk *c, const ac_cexpr *e, const ac_sig *s, const roles *r, const ac_kval *v,
                       ac_kbuf *shape);

/* Elements of a row that is filled: of its part, or to the end of the row. */
static ac_sym *fill_row(ac_chk *c, const ac_kval *v) {
  if (!v->nd->rank) return ac_sy_int(&c->s, 1);
  return ac_chk_room(c, v, c->fn->f->buffers.data[v->buf]->rank - 1);
}

/* The value that the absent count stands for; NULL after an error. */
static ac_sym *implied_count(ac_chk *c, const ac_cexpr *e, const ac_sig *s, const roles *r, const ac_kval *v) {
  if (!r->n_srcs && r->mask < 0) { /* a fill: all of the destination */
    ac_sym *cap = c->fn->caps[v[0].buf];
    if (v[0].nd) {
      ac_kbuf own;
      if (!find_shape(c, e, s, r, v, &own)) return NULL;
      ac_sym *n = ac_sy_int(&c->s, 1);
      if (rank_of(c, &v[0]) < 2) return fill_row(c, &v[0]);
      for (int d = 0; d < own.rank; d++) n = ac_sy_mul(&c->s, n, own.ext[d]);
      return n;
    }
    return v[0].len ? v[0].len : v[0].off ? ac_sy_sub(&c->s, cap, v[0].off) : cap;
  }
  ac_sym *n = NULL;
  int first = -1;
  bool dst_in = s->prim == AC_P_INST && (ac_insts[s->inst].flags & AC_INST_DST_IN);
  for (int k = 0; k < r->n_srcs + (r->mask >= 0) + dst_in; k++) {
    int i = k < r->n_srcs ? r->srcs[k] : k == r->n_srcs && r->mask >= 0 ? r->mask : 0;
    ac_sym *x = ac_chk_extent(c, &v[i]);
    if (!x) {
      (void)ask_count(c, e, s, &v[i]);
      return NULL;
    }
    if (n && x != n) {
      ac_diag *g = ac_error(ac_chk_d(c), AC0512, e->loc, "tl.%s: `%s` holds %s elements and `%s` %s", s->name,
                            text(c, e->args[first]), extent_text(c, n), text(c, e->args[i]), extent_text(c, x));
      ac_note(ac_chk_d(c), g, c->st->bufs[v[first].buf].loc, "'%s' was set here", ac_chk_buf_name(c, v[first].buf));
      if (v[i].buf != v[first].buf)
        ac_note(ac_chk_d(c), g, c->st->bufs[v[i].buf].loc, "'%s' was set here", ac_chk_buf_name(c, v[i].buf));
      ac_help(ac_chk_d(c), g, "say how many: tl.%s(..., count=n)", s->name);
      return NULL;
    }
    n = x;
    if (first < 0) first = i;
  }
  return n;
}

static void check_reads(ac_chk *c, const ac_cexpr *e, const ac_sig *s, int i, const ac_kval *v, ac_sym *count) {
  ac_sym *x = ac_chk_extent(c, v);
  const char *name = ac_chk_buf_name(c, v->buf);
  if (v->nd) {
    ac_sym *ext[4];
    int rank = ac_chk_shape(c, v, ext);
    if (rank == 1) ext[0] = count;
    ac_chk_part_read(c, v, ext, e->args[i]->loc);
    if (rank > 1) return;
  }
  if (x && v->len) { /* the part itself, and what is valid of the buffer */
    ac_kval whole = *v;
    whole.len = NULL;
    check_reads(c, e, s, i, &whole, count);
  }
  if (!x || x == count) return;
  ac_oblig o = {.x = count, .y = x, .code = AC0514, .loc = e->args[i]->loc, .other = c->st->bufs[v->buf].loc};
  if (ac_chk_settled(c, &o)) return;
  o.refuted = ac_sprintf(c->a, "tl.%s reads %s elements of '%s', of which %s are valid", s->name,
                         extent_text(c, count), name, extent_text(c, x));
  o.help = "a smaller count, or a pad value in tl.load";
  ac_chk_unsettled(c, o);
}

static bool same_place(ac_chk *c, const ac_kval *x, const ac_kval *y) {
  ac_sym *zero = ac_sy_int(&c->s, 0);
  if (x->nd || y->nd) return ac_chk_part_same(c, x, y);
  return x->buf == y->buf && (x->off ? x->off : zero) == (y->off ? y->off : zero);
}

static bool check_overlap(ac_chk *c, const ac_cexpr *e, const ac_sig *s, const roles *r, const ac_kval *v) {
  bool inplace = s->prim != AC_P_INST || (ac_insts[s->inst].flags & (AC_INST_INPLACE | AC_INST_WORK));
  if (inplace) return true;
  for (int k = 0; k < r->n_srcs; k++)
    if (same_place(c, &v[0], &v[r->srcs[k]])) {
      ac_diag *g = ac_error(ac_chk_d(c), AC0523, e->loc, "tl.%s cannot write to its own source '%s'", s->name,
                            ac_chk_buf_name(c, v[0].buf));
      ac_help(ac_chk_d(c), g, "give it a buffer of its own");
      return false;
    }
  return true;
}

/* Masks count lanes; that a compare writes whole repeats is the lowering's business. */
static void check_mask_room(ac_chk *c, const ac_cexpr *e, const ac_kval *v, ac_sym *count) {
  ac_oblig o = {.x = count, .y = c->fn->caps[v[0].buf], .code = AC0516, .loc = e->args[0]->loc};
  if (ac_chk_settled(c, &o)) return;
  const char *n = extent_text(c, count), *cap = extent_text(c, o.y), *name = ac_chk_buf_name(c, v[0].buf);
  o.refuted = ac_sprintf(c->a, "a mask of %s lanes does not fit into '%s' of %s lanes", n, name, cap);
  o.unknown = ac_sprintf(c->a, "a mask of %s lanes may not fit into '%s' of %s lanes", n, name, cap);
  o.help = "tl.alloc_ub(lanes, tl.mask)";
  ac_chk_unsettled(c, o);
}

/* Work space of a reduction, as the instruction wants it; only a certain lack is reported. */
static void check_work_room(ac_chk *c, const ac_cexpr *e, const ac_sig *s, int work, const ac_kval *v,
                            ac_sym *count) {
  int64_t n, cap;
  ac_dtype d = buf_dtype(c, &v[work]);
  if (c->quiet || !ac_sy_const(count, &n) || !ac_sy_const(c->fn->caps[v[work].buf], &cap)) return;
  int64_t need = ac_reduce_work_bytes(s->inst, d, n), have = (cap * ac_dtypes[d].bytes + 31) / 32 * 32;
  if (need <= have) return;
  ac_diag *g = ac_error(c->diags, AC0516, e->args[work]->loc,
                        "tl.%s of %lld elements needs %lld bytes of work space; '%s' has %lld", s->name, (long long)n,
                        (long long)need, ac_chk_buf_name(c, v[work].buf), (long long)have);
  ac_help(c->diags, g, "tl.alloc_ub(%lld, tl.%s)", (long long)(need / ac_dtypes[d].bytes), ac_dtypes[d].name);
}

static void note_use(ac_chk *c, const ac_sig *s, const roles *r, const ac_kval *v) {
  if (c->quiet) return;
  int first = is_compare(s) ? 1 : 0;
  int bytes = is_form(s, AC_FORM_CAST) ? ac_cast_scratch(buf_dtype(c, &v[0]), buf_dtype(c, &v[1]))
                                       : ac_elem_scratch(s->name, buf_dtype(c, &v[first]));
  int64_t all = ac_scratch_bytes(bytes);
  if (all > c->fn->scratch) c->fn->scratch = all;
  for (int i = 0; i < s->n; i++)
    if (v[i].kind == AC_CT_BUFFER) {
      c->fn->f->buffers.data[v[i].buf]->computed = true;
      if (is_compare(s) && i) c->fn->whole_bufs[v[i].buf] = true;
    }
  if (r->mask >= 0) c->fn->select = true;
}

/* The shape that a call works on: that of its sources, which must agree; of a fill, its destination's. False after an error. */
static bool find_shape(ac_chk *c, const ac_cexpr *e, const ac_sig *s, const roles *r, const ac_kval *v,
                       ac_kbuf *shape) {
  *shape = (ac_kbuf){.rank = 1};
  for (int k = 0; k < r->n_srcs; k++) {
    const ac_kval *x = &v[r->srcs[k]];
    ac_kbuf b = {.set = AC_SET};
    b.rank = ac_chk_shape(c, x, b.ext);
    if (b.rank > 1 && c->st->bufs[x->buf].rank == 1 && !x->nd) b.rank = 1; /* how its elements lie is forgotten */
    if (k == 0 || (shape->rank < 2 && b.rank < 2)) {
      *shape = b;
      continue;
    }
    bool same = shape->rank == b.rank;
    for (int d = 0; same && d < b.rank; d++) same = shape->ext[d] == b.ext[d];
    if (same) continue;
    ac_diag *g = ac_error(ac_chk_d(c), AC0522, e->loc, "tl.%s: its sources have different shapes", s->name);
    ac_help(ac_chk_d(c), g, "load them with tiles of the same shape into buffers of the same rank");
    return false;
  }
  if (r->n_srcs || rank_of(c, &v[0]) < 2) return true;
  shape->rank = rank_of(c, &v[0]);
  for (int d = 0, n = 0; d < c->fn->f->buffers.data[v[0].buf]->rank; d++) {
    if (v[0].nd && !v[0].nd->dim[d].kept) continue;
    shape->ext[n++] = ac_chk_room(c, &v[0], d);
  }
  return true;
}

/* Buffers with rows: a count must be whole, since the pitch of the rows is the compiler's. */
static bool check_ranks(ac_chk *c, const ac_cexpr *e, const ac_sig *s, const roles *r, const ac_kval *v,
                        ac_sym *count, const ac_kbuf *shape) {
  int dst_rank = rank_of(c, &v[0]);
  if (shape->rank < 2) {
    if (dst_rank < 2) return true;
  } else {
    bool reduce = is_form(s, AC_FORM_REDUCE) || is_compare(s);
    if (reduce) {
      ac_diag *g = ac_error(ac_chk_d(c), AC0525, e->loc, "tl.%s of a buffer with %d dimensions is not supported yet",
                            s->name, shape->rank);
      ac_help(ac_chk_d(c), g, "work row by row: b[i]");
      return false;
    }
    ac_sym *all = ac_sy_int(&c->s, 1);
    for (int d = 0; d < shape->rank; d++)
      all = shape->ext[d] ? ac_sy_mul(&c->s, all, shape->ext[d]) : ac_sy_fresh(&c->s, "?");
    if (dst_rank == shape->rank && (count == all || !r->n_srcs)) return true;
  }
  ac_diag *g = ac_error(ac_chk_d(c), AC0522, e->loc, "tl.%s must work on whole tiles, into a buffer of the same rank",
                        s->name);
  ac_help(ac_chk_d(c), g, "leave out `count=`, and give '%s' the dimensions of the source",
          ac_chk_buf_name(c, v[0].buf));
  return false;
}

/* The count over buffers with two dimensions is written as rows * columns, in this order: what is generated needs both. */
static bool write_rows(ac_chk *c, ac_cexpr *e, int at, const ac_kbuf *shape, const ac_sig *s) {
  ac_cexpr *n = e->args[at];
  if (n && n->kind == AC_CE_BINARY && n->op == AC_OP_MUL) {
    ac_kval rows = ac_chk_eval(c, n->a), cols = ac_chk_eval(c, n->b);
    if (rows.sym == shape->ext[0] && cols.sym == shape->ext[1]) return true;
  }
  ac_cexpr *x = ac_chk_write(c, shape->ext[0], NULL, false), *y = ac_chk_write(c, shape->ext[1], NULL, false);
  if (!x || !y) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0513, e->loc, "tl.%s needs `count=` as rows * columns here", s->name);
    ac_help(ac_chk_d(c), g, "the names that the tile was loaded with have other values by now: keep copies of them");
    return false;
  }
  ac_cexpr *product = ac_chk_new(c, AC_CE_BINARY, e->loc);
  product->op = AC_OP_MUL;
  product->a = x;
  product->b = y;
  product->type = AC_CT_INT;
  e->args[at] = product;
  e->kw[at] = "count";
  return true;
}

/* Operands with several dimensions say which elements they are. */
static bool write_views(ac_chk *c, ac_cexpr *e, const roles *r, const ac_kval *v, ac_sym *count,
                        const ac_kbuf *shape) {
  ac_sym *ext[4];
  memcpy(ext, shape->ext, sizeof ext);
  if (shape->rank == 1) ext[0] = count;
  for (int d = 0; d < shape->rank; d++)
    if (!ext[d]) return true;
  for (int i = 0; i < e->n_args; i++) {
    bool whole = e->args[i] && v[i].kind == AC_CT_BUFFER && c->fn->f->buffers.data[v[i].buf]->rank > 1;
    if (!whole || i == r->work) continue;
    if (v[i].nd && v[i].nd->rank && !v[i].nd->dim[c->fn->f->buffers.data[v[i].buf]->rank - 1].kept) {
      ac_diag *g = ac_error(ac_chk_d(c), AC0525, e->args[i]->loc, "elements of a column lie a row apart: `%s`",
                            text(c, e->args[i]));
      ac_help(ac_chk_d(c), g, "take whole rows, or tl.transpose first");
      return false;
    }
    if (!ac_chk_view(c, e->args[i], &v[i], ext)) return false;
  }
  return true;
}

ac_kval ac_chk_compute(ac_chk *c, ac_cexpr *e, const ac_sig *s, ac_kval *v) {
  roles r = roles_of(s);
  if (r.work >= 0 && !e->args[r.work]) r.work = -1;
  if (!check_dtypes(c, e, s, &r, v) || (r.mode >= 0 && is_compare(s) && !check_mode(c, e, &r)) ||
      !check_overlap(c, e, s, &r, v))
    return ac_chk_failed(c, e);
  bool readable = true, dst_in = s->prim == AC_P_INST && (ac_insts[s->inst].flags & AC_INST_DST_IN);
  for (int k = 0; k < r.n_srcs; k++)
    readable = ac_chk_readable(c, &v[r.srcs[k]], e->args[r.srcs[k]]->loc) && readable;
  if (r.mask >= 0) readable = ac_chk_readable(c, &v[r.mask], e->args[r.mask]->loc) && readable;
  if (dst_in) readable = ac_chk_readable(c, &v[0], e->args[0]->loc) && readable;
  note_use(c, s, &r, v);
  for (int i = 0; i < e->n_args; i++)
    if (e->args[i]) ac_chk_aligned(c, &v[i], e->args[i]);
  ac_sym *count = r.count >= 0 && e->args[r.count] ? v[r.count].sym : readable ? implied_count(c, e, s, &r, v) : NULL;
  if (!count) {
    return ac_chk_failed(c, e);
  }
  ac_kbuf tile, *shape = NULL;
  if (!find_shape(c, e, s, &r, v, &tile) || !check_ranks(c, e, s, &r, v, count, &tile)) return ac_chk_failed(c, e);
  for (int k = 0; k < r.n_srcs; k++) check_reads(c, e, s, r.srcs[k], &v[r.srcs[k]], count);
  if (dst_in) check_reads(c, e, s, 0, &v[0], count);
  if (r.mask >= 0) check_reads(c, e, s, r.mask, &v[r.mask], count);
  if (tile.rank > 1 && (r.n_srcs || v[0].nd)) shape = &tile;
  if (!write_views(c, e, &r, v, count, &tile)) return none;
  if (shape && shape->rank == 2 && r.n_srcs && shape->ext[0] && shape->ext[1] && !c->quiet) {
    if (!write_rows(c, e, r.count, shape, s)) return none;
  } else if (!e->args[r.count] && !c->quiet) {
    ac_cexpr *n = ac_chk_write(c, count, NULL, false);
    if (!n && r.n_srcs) return ask_count(c, e, s, &v[r.srcs[0]]);
    if (!n) {
      ac_error(c->diags, AC0513, e->loc, "tl.%s needs `count=` here", s->name);
      return none;
    }
    e->args[r.count] = n;
    e->kw[r.count] = "count";
  }
  bool keep = dst_in;
  for (int k = 0; k < r.n_srcs; k++) keep = keep || same_place(c, &v[0], &v[r.srcs[k]]);
  const ac_kbuf was = c->st->bufs[v[0].buf];
  const ac_kspan *made = ac_chk_made(c, e, s, v, count);
  if (is_form(s, AC_FORM_REDUCE)) {
    if (r.work >= 0) check_work_room(c, e, s, r.work, v, count);
    if (r.work >= 0) c->st->bufs[v[r.work].buf] = (ac_kbuf){.clobbered = true, .loc = e->loc};
    ac_chk_written(c, &v[0], ac_sy_int(&c->s, 1), NULL, false, e->loc);
  } else if (is_compare(s)) {
    check_mask_room(c, e, v, count);
    c->st->bufs[v[0].buf] = (ac_kbuf){.set = AC_SET, .rank = 1, .ext = {count}, .loc = e->loc};
  } else {
    ac_kbuf copy = shape ? *shape : (ac_kbuf){0};
    ac_chk_written(c, &v[0], count, shape ? &copy : NULL, keep, e->loc);
    bool all = was.rank == 1 && was.ext[0] == count; /* nothing lies beside what was worked on in place */
    ac_chk_spans(c, &v[0], &was, keep && !all, made);
  }
  return none;
}

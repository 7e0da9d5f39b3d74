/* Copies between global memory and UB, and what is valid in a buffer. */
#include "craft/check.h"

#include <string.h>

/* ---- extents ---- */

static ac_sym *whole_extent(ac_chk *c, const ac_kbuf *b) {
  ac_sym *n = ac_sy_int(&c->s, 1);
  for (int d = 0; d < b->rank; d++) {
    if (!b->ext[d]) return NULL;
    n = ac_sy_mul(&c->s, n, b->ext[d]);
  }
  return n;
}

ac_sym *ac_chk_extent(ac_chk *c, const ac_kval *v) {
  const ac_kbuf *b = &c->st->bufs[v->buf];
  if (v->nd) {
    ac_sym *ext[4], *n = ac_sy_int(&c->s, 1);
    int rank = ac_chk_shape(c, v, ext);
    for (int d = 0; n && d < rank; d++) n = ext[d] ? ac_sy_mul(&c->s, n, ext[d]) : NULL;
    return n;
  }
  if (v->len) return v->len;
  if (b->set == AC_UNSET || !b->rank) return NULL;
  ac_sym *n = whole_extent(c, b);
  return n && v->off ? ac_sy_sub(&c->s, n, v->off) : n;
}

bool ac_chk_readable(ac_chk *c, const ac_kval *v, ac_loc loc) {
  ac_kbuf *b = &c->st->bufs[v->buf];
  if (b->set == AC_SET || c->st->dead) return true;
  const char *name = ac_chk_buf_name(c, v->buf);
  if (b->set == AC_MAYBE) {
    ac_diag *g = ac_warn(ac_chk_d(c), AC0515, loc, "'%s' may be read here before anything was written to it", name);
    ac_help(ac_chk_d(c), g, "fill it first: tl.duplicate(%s, 0.0)", name);
    b->set = AC_SET; /* once is enough */
    return true;
  }
  ac_diag *g = ac_error(ac_chk_d(c), AC0515, loc,
                        b->clobbered ? "'%s' was used as work space and holds nothing now"
                                     : "'%s' is read, but nothing was written to it",
                        name);
  if (b->clobbered) {
    ac_note(ac_chk_d(c), g, b->loc, "here");
    ac_help(ac_chk_d(c), g, "give the reduction a work buffer of its own");
  } else {
    ac_help(ac_chk_d(c), g, "load it, fill it with tl.duplicate, or compute into it first");
  }
  if (!c->quiet) *b = (ac_kbuf){.set = AC_SET, .rank = 1, .wrong = true};
  return false;
}

void ac_chk_aligned(ac_chk *c, const ac_kval *v, const ac_cexpr *e) {
  const ac_kval *b = v->kind == AC_CT_BUFFER ? v : NULL;
  int last = b ? c->fn->f->buffers.data[v->buf]->rank - 1 : 0;
  ac_sym *from = !b ? NULL : !v->nd ? v->off : v->nd->dim[last].kept ? v->nd->dim[last].lo : NULL;
  if (!from || c->quiet) return; /* rows start on blocks: only the last axis matters */
  int bytes = ac_dtypes[c->fn->f->buffers.data[v->buf]->dtype].bytes, per_block = 32 / bytes;
  bool whole = true; /* all that varies is in steps of whole blocks */
  int64_t rest = 0;
  for (int i = 0; i < from->n; i++) {
    if (!from->t[i].k)
      rest = from->t[i].c % per_block;
    else if (from->t[i].c % per_block)
      whole = false;
  }
  if (whole && !rest) return;
  const char *name = ac_chk_buf_name(c, v->buf), *off = ac_sy_text(&c->s, from);
  ac_diag *g =
      whole ? ac_error(ac_chk_d(c), AC0527, e->loc,
                       "the part of '%s' from element %s on starts %d bytes into a 32-byte block of UB", name, off,
                       (int)((rest < 0 ? rest + per_block : rest) * bytes))
            : ac_warn(ac_chk_d(c), AC0527, e->loc,
                      "the part of '%s' from element %s on must start on 32 bytes of UB: that it does is not proved",
                      name, off);
  ac_help(ac_chk_d(c), g, "start parts at multiples of %d elements, or give each part a buffer of its own",
          per_block);
}

/* Room from the operand's offset on. */
static ac_sym *room(ac_chk *c, const ac_kval *v) {
  ac_sym *cap = c->fn->caps[v->buf];
  return v->off ? ac_sy_sub(&c->s, cap, v->off) : cap;
}

static const char *elements(ac_chk *c, ac_sym *n) {
  int64_t v;
  return ac_sy_const(n, &v) && v == 1 ? "1 element is" : ac_sprintf(c->a, "%s elements are", ac_sy_text(&c->s, n));
}

static void check_room(ac_chk *c, const ac_kval *v, ac_sym *count, ac_loc loc) {
  ac_oblig o = {.x = count, .y = room(c, v), .code = AC0516, .loc = loc};
  if (ac_chk_settled(c, &o)) return;
  const char *name = ac_chk_buf_name(c, v->buf), *n = elements(c, count), *have = ac_sy_text(&c->s, o.y);
  int64_t few;
  bool block = !v->off && ac_sy_const(count, &few) &&
               few * ac_dtypes[c->fn->f->buffers.data[v->buf]->dtype].bytes <= 32; /* no buffer is smaller */
  o.refuted = ac_sprintf(c->a, "%s written to '%s', which has room for %s", n, name, have);
  o.sure = block;
  if (!block)
    o.unknown =
        ac_sprintf(c->a, "%s written to '%s', which has room for %s: that they fit is not proved", n, name, have);
  o.help = "declare the buffer larger, or bound the count with min(...)";
  ac_chk_unsettled(c, o);
}

/* The new valid length after `count` elements were written at `off`. NULL: not known. */
static ac_sym *grown(ac_chk *c, const ac_kbuf *b, ac_sym *cap, ac_sym *off, ac_sym *count) {
  ac_syms *s = &c->s;
  ac_sym *end = off ? ac_sy_add(s, off, count) : count;
  ac_sym *old = b->set == AC_UNSET ? ac_sy_int(s, 0) : b->rank == 1 ? b->ext[0] : NULL;
  if (old && old == cap && b->set == AC_SET)
    return old; /* all of it was valid; that the part fits is looked at elsewhere */
  if (!old || b->set == AC_MAYBE) return off ? NULL : old ? count : NULL;
  if (old == end || ac_sy_le(s, end, old, c->st->facts)) return old;
  if (off && !ac_sy_le(s, off, old, c->st->facts)) return NULL; /* a hole, perhaps */
  if (ac_sy_le(s, old, end, c->st->facts)) return end;
  return ac_sy_fn(s, AC_SY_MAX, old, end);
}

/* Dimension by dimension: rows have a pitch of their own. */
static void check_dims(ac_chk *c, const ac_kval *v, const ac_kbuf *shape, ac_loc loc) {
  const char *name = ac_chk_buf_name(c, v->buf);
  for (int d = 0; d < shape->rank; d++) {
    ac_oblig o = {.x = shape->ext[d], .y = c->fn->dims[v->buf][d], .code = AC0516, .loc = loc};
    if (!o.x || !o.y || ac_chk_settled(c, &o)) continue;
    o.refuted = ac_sprintf(c->a, "dimension %d of the tile is %s, that of '%s' is %s", d, ac_sy_text(&c->s, o.x),
                           name, ac_sy_text(&c->s, o.y));
    o.unknown = ac_sprintf(c->a, "%s: that it fits is not proved", o.refuted);
    o.help = "declare the buffer larger, or bound the arange with min(...)";
    ac_chk_unsettled(c, o);
  }
}

static void check_part_room(ac_chk *c, const ac_kval *v, ac_sym *const ext[4], ac_loc loc) {
  const ac_kview *w = v->nd;
  for (int d = 0, n = 0; d < c->fn->f->buffers.data[v->buf]->rank; d++) {
    if (!w->dim[d].kept) continue;
    ac_oblig o = {.x = ext[n], .y = ac_chk_room(c, v, d), .code = AC0516, .loc = loc};
    if (o.x && o.y && !ac_chk_settled(c, &o)) {
      o.refuted = ac_sprintf(c->a, "%s written to dimension %d of a part of '%s', which has room for %s",
                             elements(c, o.x), d, ac_chk_buf_name(c, v->buf), ac_sy_text(&c->s, o.y));
      o.unknown = ac_sprintf(c->a, "%s: that it fits is not proved", o.refuted);
      o.help = "a shorter tile, or a larger part";
      ac_chk_unsettled(c, o);
    }
    n++;
  }
}

/* `count` elements go into the buffer from the operand's offset on, and into the part where it is one. */
static void check_short(ac_chk *c, const ac_kval *v, ac_sym *count, ac_loc loc) {
  check_room(c, v, count, loc);
  if (v->len) {
    ac_oblig o = {.x = count, .y = v->len, .code = AC0516, .loc = loc};
    if (!ac_chk_settled(c, &o)) {
      o.refuted = ac_sprintf(c->a, "%s elements are written to a part of '%s' with %s", ac_sy_text(&c->s, count),
                             ac_chk_buf_name(c, v->buf), ac_sy_text(&c->s, v->len));
      ac_chk_unsettled(c, o);
    }
  }
}

void ac_chk_written(ac_chk *c, const ac_kval *v, ac_sym *count, const ac_kbuf *shape, bool keep, ac_loc loc) {
  ac_kbuf *b = &c->st->bufs[v->buf];
  if (v->nd) {
    ac_sym *ext[4] = {count};
    if (shape) memcpy(ext, shape->ext, sizeof ext);
    check_part_room(c, v, ext, loc);
    ac_chk_part_written(c, v, ext, loc);
    return;
  }
  if (count && !shape) check_short(c, v, count, loc);
  if (shape) check_dims(c, v, shape, loc);
  if (shape) {
    ac_kbuf n = *shape;
    n.set = AC_SET;
    n.loc = loc;
    *b = n;
    return;
  }
  int rank = c->fn->f->buffers.data[v->buf]->rank;
  ac_kbuf n = {.set = AC_SET, .rank = 1, .loc = loc};
  if (rank > 1 && count == c->fn->caps[v->buf]) {
    n.rank = rank;
    memcpy(n.ext, c->fn->dims[v->buf], sizeof n.ext);
  } else if (rank > 1 && keep && b->rank == rank) {
    memcpy(n.ext, b->ext, sizeof n.ext);
    n.rank = rank;
  } else {
    n.ext[0] = !count ? NULL : v->off || keep ? grown(c, b, c->fn->caps[v->buf], v->off, count) : count;
    if (v->off && b->set != AC_SET && !n.ext[0]) n.set = AC_MAYBE;
  }
  *b = n;
}

/* ---- tiles of copies ---- */

typedef struct {
  int rank;
  const ac_kdim *dim[4];
  ac_kdim made; /* axis of `load(ptr, buf, count=n)` */
} axes;

static void real_axes(const ac_ktile *t, axes *x) {
  x->rank = 0;
  for (int d = 0; d < t->rank; d++)
    if (t->dim[d].axis) x->dim[x->rank++] = &t->dim[d];
}

/* Rows that follow each other without a gap are one longer row. */
static bool contiguous(ac_chk *c, const axes *x) {
  ac_sym *step = ac_sy_int(&c->s, 1);
  for (int d = x->rank - 1; d >= 0; d--) {
    if (x->dim[d]->stride != step || x->dim[d]->index) return false;
    step = ac_sy_mul(&c->s, step, x->dim[d]->extent);
  }
  return true;
}

static ac_cexpr *one(ac_chk *c, ac_loc loc) {
  ac_cexpr *e = ac_chk_new(c, AC_CE_INT, loc);
  e->i = 1;
  return e;
}

static bool stale(ac_chk *c, const ac_cexpr *e, const char *what) {
  ac_diag *g = ac_error(ac_chk_d(c), AC0511, e->loc,
                        "the %s of `%s` was computed from a name that has a new value by now", what, text(c, e));
  ac_help(ac_chk_d(c), g, "compute the offsets right before they are used");
  return false;
}

/* Between which numbers the offsets of an axis lie, for the proof that the copy stays inside. */
static void write_offsets(ac_chk *c, const ac_cexpr *e, const ac_kdim *from, ac_ctile *to, int d) {
  ac_kval index = plain(AC_CT_BUFFER);
  ac_kspan s;
  index.buf = from->index_buf;
  index.off = from->index_off;
  if (!ac_chk_span(c, &index, from->extent, &s) || !s.lo || !s.hi) return;
  to->axis[d].lo = ac_chk_write(c, s.lo, NULL, false);
  to->axis[d].hi = ac_chk_write(c, s.hi, NULL, false);
  to->axis[d].first = s.step ? ac_chk_write(c, s.first, NULL, false) : NULL;
  to->axis[d].step = s.step ? ac_chk_write(c, s.step, NULL, false) : NULL;
  ac_chk_unwrapped(c, &index, &s, e->loc);
}

/* Writes the tile into the tree. `count` overrides the extent of a one-dimensional tile. */
static ac_ctile *write_tile(ac_chk *c, ac_cexpr *e, const ac_ktile *t, const axes *x, ac_sym *extents[4],
                            ac_cexpr *count_e) {
  ac_ctile *out = AC_NEW(c->a, ac_ctile);
  out->param = t->param;
  out->rank = x->rank;
  out->base = ac_chk_write(c, t->base, t->base_e, false);
  if (!out->base) return stale(c, e, "start"), NULL;
  for (int d = 0; d < x->rank; d++) {
    out->axis[d].extent = ac_chk_write(c, extents[d], d == 0 && count_e ? count_e : x->dim[d]->extent_e, false);
    out->axis[d].stride = ac_chk_write(c, x->dim[d]->stride, x->dim[d]->stride_e, false);
    out->axis[d].index = (ac_cexpr *)(uintptr_t)x->dim[d]->index;
    if (out->axis[d].index) write_offsets(c, e, x->dim[d], out, d);
    if (!out->axis[d].extent) return stale(c, e, "length"), NULL;
    if (!out->axis[d].stride) return stale(c, e, "stride"), NULL;
  }
  return out;
}

static bool check_move_dtype(ac_chk *c, ac_cexpr *e, int param, int buf, const char *prim) {
  ac_cparam *p = &c->fn->f->params[param];
  ac_cbuffer *b = c->fn->f->buffers.data[buf];
  if (b->dtype == AC_MASK) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0508, e->loc, "'%s' is a mask, which global memory does not hold: tl.%s",
                          b->name, prim);
    ac_help(ac_chk_d(c), g, "move bytes, and tl.mask_to_bytes(bytes, %s) or tl.mask_from_bytes(%s, bytes)", b->name,
            b->name);
    return false;
  }
  if (p->dtype == AC_NODTYPE) p->dtype = b->dtype;
  bool bytes = p->dtype == AC_BOOL && (b->dtype == AC_U8 || b->dtype == AC_I8); /* a bool is a byte, 0 or 1 */
  if (p->dtype == b->dtype || bytes) return true;
  ac_diag *g = ac_error(ac_chk_d(c), AC0508, e->loc, "tl.%s between '%s' of %s and '%s' of %s", prim, p->name,
                        ac_dtypes[p->dtype].name, b->name, ac_dtypes[b->dtype].name);
  ac_help(ac_chk_d(c), g, "copies do not convert: use a %s buffer, and tl.cast in a compute block",
          ac_dtypes[p->dtype].name);
  return false;
}

/* ndim of the buffer against that of the tile; a contiguous tile may go to a buffer with one dimension. */
static bool match_rank(ac_chk *c, const ac_cexpr *e, axes *x, const ac_kval *ub, bool *flat) {
  int buf = ub->buf, rank = rank_of(c, ub);
  *flat = x->rank > 1 && rank == 1 && contiguous(c, x);
  if (x->rank == rank || *flat || (x->rank == 0 && rank == 1)) return true;
  ac_diag *g = ac_error(ac_chk_d(c), AC0522, e->loc, "the tile has %d dimension%s, the buffer '%s' has %d", x->rank,
                        x->rank == 1 ? "" : "s", ac_chk_buf_name(c, buf), rank);
  if (rank == 1)
    ac_help(ac_chk_d(c), g,
            "rows start on 32-byte boundaries in UB: declare the buffer as tl.alloc_ub((rows, cols), dtype)");
  else
    ac_help(ac_chk_d(c), g, "declare the buffer with the tile's dimensions");
  return false;
}

typedef struct {
  const ac_ktile *t;
  axes x;
  bool flat;
  ac_sym *ext[4], *total;
  ac_ctile *out;
} move;

static bool analyse(ac_chk *c, ac_cexpr *e, ac_cexpr *gm, const ac_kval *g, const ac_kval *ub, ac_cexpr *count_e,
                    ac_sym *count, move *m, const char *prim) {
  int buf = ub->buf;
  m->t = g->tile;
  if (!m->t) return stale(c, gm, "address");
  if (m->t->param < 0) {
    ac_diag *x = ac_error(ac_chk_d(c), AC0506, gm->loc, "`%s` has offsets, but no tensor", text(c, gm));
    ac_help(ac_chk_d(c), x, "tl.%s(tensor + offsets, buffer)", prim);
    return false;
  }
  real_axes(m->t, &m->x);
  for (int d = 0; d < m->x.rank; d++) {
    const ac_kdim *k = m->x.dim[d];
    const ac_kbuf *now = k->index ? &c->st->bufs[k->index_buf] : NULL;
    if (!now || now->wrong || (now->loc.line == k->index_set.line && now->loc.col == k->index_set.col)) continue;
    ac_diag *x = ac_error(ac_chk_d(c), AC0511, gm->loc, "`%s` has offsets of '%s', which holds other numbers by now",
                          text(c, gm), ac_chk_buf_name(c, k->index_buf));
    ac_note(ac_chk_d(c), x, now->loc, "written here");
    ac_help(ac_chk_d(c), x, "write the address where it is used");
    return false;
  }
  for (int d = 1; d < m->x.rank; d++)
    if (m->x.dim[d]->index) {
      ac_diag *x = ac_error(ac_chk_d(c), AC0510, gm->loc, "offsets from memory belong on the outermost axis: `%s`",
                            text(c, gm));
      ac_help(ac_chk_d(c), x, "index[:, None] * columns + tl.arange(0, columns)[None, :]");
      return false;
    }
  if (m->x.rank == 0 && count) { /* pointer and count: that many elements in a row */
    m->x.made = (ac_kdim){.axis = true,
                          .extent = count,
                          .stride = ac_sy_int(&c->s, 1),
                          .extent_e = count_e,
                          .stride_e = one(c, e->loc)};
    m->x.dim[0] = &m->x.made;
    m->x.rank = 1;
  }
  if (!check_move_dtype(c, e, m->t->param, buf, prim) || !match_rank(c, e, &m->x, ub, &m->flat)) return false;
  if (count && m->x.rank > 1) {
    ac_error(ac_chk_d(c), AC0522, count_e->loc,
             "`count=` is for tiles with one dimension; the aranges say how much of this one");
    return false;
  }
  m->total = ac_sy_int(&c->s, 1);
  for (int d = 0; d < m->x.rank; d++) {
    m->ext[d] = count && m->x.rank == 1 ? count : m->x.dim[d]->extent;
    m->total = ac_sy_mul(&c->s, m->total, m->ext[d]);
  }
  if (count && m->x.rank == 1) {
    ac_oblig o = {.x = count, .y = m->x.dim[0]->extent, .code = AC0514, .loc = count_e->loc};
    if (!ac_chk_settled(c, &o)) {
      o.refuted =
          ac_sprintf(c->a, "count is %s, but the arange has %s", ac_sy_text(&c->s, count), ac_sy_text(&c->s, o.y));
      ac_chk_unsettled(c, o);
    }
  }
  if (c->quiet) return true;
  m->out = write_tile(c, gm, m->t, &m->x, m->ext, count ? count_e : NULL);
  if (!m->out) return false;
  if (m->flat) { /* one long row */
    m->out->axis[0].extent = ac_chk_write(c, m->total, NULL, false);
    m->out->axis[0].stride = one(c, e->loc);
    m->out->rank = 1;
  }
  gm->tile = m->out;
  gm->type = AC_CT_TILE;
  gm->dtype = c->fn->f->params[m->t->param].dtype;
  return true;
}

static void fill_count(ac_chk *c, ac_cexpr *e, int at, const move *m) {
  if (c->quiet || !m->out || e->args[at]) return;
  e->args[at] = m->out->rank == 1 ? m->out->axis[0].extent : ac_chk_write(c, m->total, NULL, false);
  if (e->args[at]) e->kw[at] = "count";
  for (int i = at + 1; i < e->n_args; i++)
    if (e->args[i]) e->kw[i] = e->prim == AC_P_STORE ? "atomic" : "pad";
}

/* The lengths of the tile are those of the buffer's axes. */
static bool move_view(ac_chk *c, ac_cexpr *e, const ac_kval *ub, const move *m) {
  ac_sym *ext[4] = {0};
  if (c->fn->f->buffers.data[ub->buf]->rank == 1) return true;
  memcpy(ext, m->ext, sizeof ext);
  if (m->flat || !m->x.rank) ext[0] = m->total;
  if (ub->nd && ub->nd->rank && !ub->nd->dim[c->fn->f->buffers.data[ub->buf]->rank - 1].kept) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0525, e->args[1]->loc, "elements of a column lie a row apart: `%s`",
                          text(c, e->args[1]));
    ac_help(ac_chk_d(c), g, "copy whole rows");
    return false;
  }
  return ac_chk_view(c, e->args[1], ub, ext);
}

/* A copy into UB writes whole blocks of 32 bytes: what was valid behind a part that ends inside of one is lost there. `n` elements along
 * the buffer's last axis. */
static void lose_block(ac_chk *c, const ac_kval *v, ac_sym *n) {
  ac_kbuf *b = &c->st->bufs[v->buf];
  int last = c->fn->f->buffers.data[v->buf]->rank - 1;
  int64_t per_block = 32 / ac_dtypes[c->fn->f->buffers.data[v->buf]->dtype].bytes;
  ac_sym *from = v->nd ? v->nd->dim[last].lo : v->off;
  if (!n || !from || b->rank != last + 1 || !b->ext[last] || (v->nd && !v->nd->dim[last].kept)) return;
  ac_sym *end = ac_sy_add(&c->s, from, n);
  for (int i = 0; i < end->n && b->ext[last] != end; i++)
    if (end->t[i].c % per_block) b->ext[last] = end;
}

/* A pad value fills the part up to its end, and nothing around it: the part is valid then, all of it. A row of the tile comes in whole
 * blocks, of the pad value where it ends inside of one. */
static void padded_part(ac_chk *c, ac_cexpr *e, const ac_kval *v, const move *m, bool blocks) {
  int rank = c->fn->f->buffers.data[v->buf]->rank, n = 0;
  ac_kbuf shape = {.rank = rank_of(c, v)};
  ac_sym *own[4] = {0}, *ext[4];
  memcpy(ext, m->ext, sizeof ext);
  if (m->flat || !m->x.rank) ext[0] = m->total;
  if (v->nd)
    check_part_room(c, v, ext, e->loc);
  else
    check_short(c, v, m->total, e->loc);
  for (int d = 0; d < rank; d++) {
    if (v->nd && !v->nd->dim[d].kept) continue;
    own[d] = shape.ext[n++] = v->nd ? ac_chk_room(c, v, d) : v->len ? v->len : room(c, v);
  }
  ac_chk_written(c, v, shape.ext[0], v->nd ? &shape : NULL, false, e->loc);
  if (blocks && n) lose_block(c, v, shape.ext[n - 1]);
  if (c->quiet || (rank == 1 && !ac_chk_view(c, e->args[1], v, shape.ext))) return;
  for (int d = 0; d < rank; d++) {
    if (!own[d]) continue;
    e->args[1]->view->dim[d].room = ac_chk_write(c, own[d], NULL, false);
    if (!e->args[1]->view->dim[d].room) stale(c, e->args[1], "size");
  }
}

ac_kval ac_chk_load(ac_chk *c, ac_cexpr *e, ac_kval *v) {
  move m = {0};
  ac_cbuffer *b = c->fn->f->buffers.data[v[1].buf];
  if (!c->quiet) b->loaded = true;
  ac_sym *count = e->args[2] ? v[2].sym : NULL;
  bool multi = e->n_args > 0 && v[0].tile && v[0].tile->rank > 1;
  if (!analyse(c, e, e->args[0], &v[0], &v[1], multi ? NULL : e->args[2], multi ? NULL : count, &m, "load")) {
    if (!c->quiet) c->st->bufs[v[1].buf] = (ac_kbuf){.set = AC_SET, .rank = 1, .wrong = true, .loc = e->loc};
    return none;
  }
  c->fn->f->params[m.t->param].in = true;
  int64_t stride; /* neighbours that are apart in global memory come one by one, to any place */
  bool row = !m.x.rank || (ac_sy_const(m.x.dim[m.x.rank - 1]->stride, &stride) && stride == 1);
  if (row || m.flat) ac_chk_aligned(c, &v[1], e->args[1]);
  if (!e->args[2]) fill_count(c, e, 2, &m);
  if (!move_view(c, e, &v[1], &m)) return none;
  if (e->args[3] && (v[1].nd || v[1].off || v[1].len)) {
    padded_part(c, e, &v[1], &m, row || m.flat);
    return (ac_kval){.kind = AC_CT_NONE, .buf = -1, .dtype = AC_NODTYPE};
  }
  if (v[1].nd) {
    ac_kbuf shape = {.rank = v[1].nd->rank};
    memcpy(shape.ext, m.ext, sizeof shape.ext);
    if (m.flat || !m.x.rank) shape.ext[0] = m.total;
    ac_chk_written(c, &v[1], m.total, &shape, false, e->loc);
    if ((row || m.flat) && shape.rank) lose_block(c, &v[1], shape.ext[shape.rank - 1]);
  } else if (b->rank == 1) {
    ac_chk_written(c, &v[1], m.total, NULL, false, e->loc);
    if (row || m.flat) lose_block(c, &v[1], m.total);
  } else {
    ac_kbuf shape = {.rank = b->rank};
    memcpy(shape.ext, m.ext, sizeof shape.ext);
    ac_chk_written(c, &v[1], NULL, &shape, false, e->loc);
  }
  if (e->args[3]) { /* pad: valid up to the capacity */
    ac_kbuf *k = &c->st->bufs[v[1].buf];
    k->rank = b->rank;
    memcpy(k->ext, c->fn->dims[v[1].buf], sizeof k->ext);
  }
  return (ac_kval){.kind = AC_CT_NONE, .buf = -1, .dtype = AC_NODTYPE};
}

ac_kval ac_chk_store(ac_chk *c, ac_cexpr *e, ac_kval *v) {
  move m = {0};
  ac_cbuffer *b = c->fn->f->buffers.data[v[1].buf];
  if (!c->quiet) b->stored = true;
  bool readable = ac_chk_readable(c, &v[1], e->args[1]->loc);
  bool multi = v[0].tile && v[0].tile->rank > 1;
  if (!analyse(c, e, e->args[0], &v[0], &v[1], multi ? NULL : e->args[2], multi || !e->args[2] ? NULL : v[2].sym, &m,
               "store"))
    return none;
  c->fn->f->params[m.t->param].out = true;
  if (!ac_chk_atomic(c, e, &c->fn->f->params[m.t->param])) return none;
  ac_chk_aligned(c, &v[1], e->args[1]);
  if (!e->args[2]) fill_count(c, e, 2, &m);
  if (!readable || !move_view(c, e, &v[1], &m)) return none;
  const ac_kbuf *k = &c->st->bufs[v[1].buf];
  if (v[1].nd) {
    ac_sym *ext[4];
    memcpy(ext, m.ext, sizeof ext);
    if (m.flat || !m.x.rank) ext[0] = m.total;
    ac_chk_part_read(c, &v[1], ext, e->loc);
    check_part_room(c, &v[1], ext, e->loc);
    return none;
  }
  ac_sym *have = ac_chk_extent(c, &v[1]);
  if (!have) return none; /* how much is valid is not known: no verdict */
  for (int d = 0; d < (b->rank > 1 && k->rank == b->rank ? b->rank : 1); d++) {
    bool rows = b->rank > 1 && k->rank == b->rank;
    ac_oblig o = {
        .x = rows ? m.ext[d] : m.total, .y = rows ? k->ext[d] : have, .code = AC0514, .loc = e->loc, .other = k->loc};
    if (!o.y || ac_chk_settled(c, &o)) continue;
    o.refuted = ac_sprintf(c->a, "tl.store writes %s elements of '%s', of which %s are valid", ac_sy_text(&c->s, o.x),
                           b->name, ac_sy_text(&c->s, o.y));
    o.unknown = ac_sprintf(
        c->a, "tl.store writes %s elements of '%s', of which %s are valid: that these suffice is not proved",
        ac_sy_text(&c->s, o.x), b->name, ac_sy_text(&c->s, o.y));
    o.help = "store with the tile that it was loaded with: the same arange";
    ac_chk_unsettled(c, o);
  }
  return (ac_kval){.kind = AC_CT_NONE, .buf = -1, .dtype = AC_NODTYPE};
}

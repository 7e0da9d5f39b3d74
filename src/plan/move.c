/* Schedule: layout moves: permute, slices, flip, roll, repeat, cat, pad and what is a view of them. The result is cut into boxes (view.c),
 * which are copies with strides or a number everywhere; one kernel writes all boxes, one after another, cores share each.
 *
 *   copy    rows that lie in one piece on both sides: tiles of rows x columns through UB
 *   turn    the result's last dimension is another one in the source: blocks are transposed in UB, so that both copies have long rows
 *   pick    steps or backwards along the last dimension: what lies between is loaded too, tl.gather takes what is wanted
 *   spread  the last dimension repeats one element
 *   strew   elements far apart: one by one, about a hundred times slower than a copy
 *   fill    a number
 */
#include "plan/gather.h"
#include "plan/move.h"

#include <math.h>
#include <string.h>

enum { SCRATCH = 24 * 1024, NEAR = 16 /* steps up to which it pays to load what lies between */ };

typedef enum { COPY, TURN, PICK, SPREAD, STREW, FILL } kind;

typedef struct {
  move_box b;
  kind k;
  int row, col;        /* dimensions of the tile; row -1: none. TURN: row runs along the source's rows */
  int64_t step;        /* PICK */
  int tensor;          /* of the result */
  int64_t room;        /* elements of a tile */
  const char *src, *y; /* parameters */
  const char *suffix;  /* of the host's and the kernel's numbers */
} part;

typedef struct {
  pl_ctx *p;
  AC_VEC(part) parts;
  AC_VEC(int) outs;
  AC_VEC(pl_scalar) scalars;
  AC_VEC(pl_scalar) tensors; /* parameter, host name */
  AC_VEC(ac_dtype) dtypes;   /* of these */
  pl_names names;
  const char *kernel;
} move;

static int bytes_of(const move *g, const part *t) {
  return ac_dtypes[g->p->tensors.data[t->tensor].v->dtype].bytes;
}
static ac_dtype dtype_of(const move *g, const part *t) {
  return g->p->tensors.data[t->tensor].v->dtype;
}

/* ---- which way ---- */

static bool is(const move *g, const ac_sym *s, int64_t v) {
  return pl_sym_is(g->p, s, v);
}

/* The longest dimension beside the last; those that run backwards or stand still come after the others. */
static int longest(const part *t, bool unit) {
  int best = -1;
  for (int i = 0; i + 1 < t->b.n; i++) {
    const move_dim *d = &t->b.dim[i], *o = best >= 0 ? &t->b.dim[best] : NULL;
    if (unit && d->in->example != 1) continue;
    bool ahead = !t->b.src || d->in->example > 0, was = o && (!t->b.src || o->in->example > 0);
    if (!o || (ahead && !was) || (ahead == was && d->size->example >= o->size->example)) best = i;
  }
  return best;
}

static int unit_dim(const move *g, const part *t) {
  int best = -1;
  for (int i = 0; i + 1 < t->b.n; i++)
    if (is(g, t->b.dim[i].in, 1) && (best < 0 || t->b.dim[i].size->example > t->b.dim[best].size->example)) best = i;
  return best;
}

static void choose(const move *g, part *t) {
  const ac_sym *last = t->b.dim[t->b.n - 1].in;
  int64_t step = 0;
  bool known = t->b.src && ac_sym_is_const(last, &step);
  t->col = t->b.n - 1;
  t->row = longest(t, false);
  int unit = unit_dim(g, t);
  if (!t->b.src)
    t->k = FILL;
  else if (known && step == 1)
    t->k = COPY;
  else if (known && step == 0) {
    t->k = SPREAD;
    if (longest(t, true) >= 0) t->row = longest(t, true);
  } else if (known && llabs(step) <= NEAR && (unit < 0 || t->b.dim[unit].size->example < 8)) {
    t->k = PICK;
    t->step = step;
    t->row = -1;
  } else if (unit >= 0) {
    t->k = TURN;
    t->row = t->col;
    t->col = unit;
  } else {
    t->k = STREW;
    t->row = -1;
  }
  if (t->k != SPREAD || t->row >= 0) return;
  const ac_sym *one = ac_sym_int((ac_graph *)g->p->g, 1); /* a row of its own */
  memmove(t->b.dim + 1, t->b.dim, sizeof *t->b.dim * (size_t)t->b.n++);
  t->b.dim[0] = (move_dim){.size = one, .in = one, .out = one};
  t->row = 0;
  t->col++;
}

static int64_t square(int64_t n) {
  int64_t r = (int64_t)sqrt((double)n);
  return r < 32 ? 32 : r / 32 * 32;
}

static void room(const move *g, part *t) {
  int64_t each = (pl_ub_budget(g->p) - SCRATCH) / (int64_t)g->parts.len, b = bytes_of(g, t);
  switch (t->k) {
  case COPY:
  case STREW: t->room = each / (2 * b) / 256 * 256; break;
  case SPREAD: t->room = each / (2 * b + 1) / 2 / 256 * 256; break; /* rows of one element take a block */
  case FILL: t->room = each / b / 256 * 256; break;
  case TURN: t->room = square(each / (4 * b)); break;
  case PICK: t->room = each / (2 * b * llabs(t->step) + 2 * b + 4) / 64 * 64; break;
  }
  if ((t->k == FILL || t->k == SPREAD) && t->room > 16384) t->room = 16384;
}

/* ---- numbers of a kernel ---- */

static const char *par(move *g, const part *t, const char *wish, const char *host) {
  size_t digits = strspn(host, "-0123456789");
  if (!host[digits]) return host[0] == '-' ? ac_sprintf(g->p->a, "(%s)", host) : host;
  for (size_t i = 0; i < g->scalars.len; i++)
    if (!strcmp(g->scalars.data[i].host, host)) return g->scalars.data[i].name;
  pl_scalar s = {.name = pl_name(&g->names, ac_sprintf(g->p->a, "%s%s", wish, t->suffix)), .host = host};
  ac_push(g->p->a, &g->scalars, s);
  return s.name;
}

static const char *sym(move *g, const part *t, const char *wish, const ac_sym *s) {
  return par(g, t, wish, pl_sym_text(g->p, s));
}

static const char *local(const move *g, const part *t, const char *name) {
  return ac_sprintf(g->p->a, "%s%s", name, t->suffix);
}

static const char *times(move *g, const char *x, const char *y) {
  if (!strcmp(x, "0") || !strcmp(y, "0")) return "0";
  if (!strcmp(y, "1")) return x;
  return ac_sprintf(g->p->a, "%s * %s", x, y);
}

static const char *plus(move *g, const char *x, const char *y) {
  if (!strcmp(x, "0")) return y;
  return strcmp(y, "0") ? ac_sprintf(g->p->a, "%s + %s", x, y) : x;
}

static const char *tensor(move *g, const char *host, ac_dtype d) {
  for (size_t i = 0; i < g->tensors.len; i++)
    if (!strcmp(g->tensors.data[i].host, host)) return g->tensors.data[i].name;
  pl_scalar s = {.name = pl_name(&g->names, ac_sprintf(g->p->a, "%s_ptr", host)), .host = host};
  ac_push(g->p->a, &g->tensors, s);
  ac_push(g->p->a, &g->dtypes, d);
  return s.name;
}

/* ---- the kernel ---- */

/* Where in the source and in the result tile `u` begins: `src` and `dst`, `r` and `c` within the tile's dimensions, n x w elements. */
static void place(move *g, const part *t) {
  pl_ctx *p = g->p;
  const char *tile_cols = par(g, t, "tile_cols", local(g, t, "tile_cols")),
             *cb = par(g, t, "col_blocks", ac_sprintf(p->a, "max(1, %s)", local(g, t, "col_blocks"))), *o = NULL;
  pl_let(p, "c", "u %% %s * %s", cb, tile_cols);
  pl_let(p, "w", "min(%s, %s - c)", tile_cols, sym(g, t, "cols", t->b.dim[t->col].size));
  o = ac_sprintf(p->a, "u // %s", cb);
  const char *src = t->b.src ? sym(g, t, "from", t->b.in_at) : "0", *dst = sym(g, t, "to", t->b.out_at);
  const char *r_in = "0", *r_out = "0";
  if (t->row >= 0) {
    const char *tile_rows = par(g, t, "tile_rows", local(g, t, "tile_rows")),
               *rb = par(g, t, "row_blocks", ac_sprintf(p->a, "max(1, %s)", local(g, t, "row_blocks")));
    pl_let(p, "r", "%s %% %s * %s", o, rb, tile_rows);
    pl_let(p, "n", "min(%s, %s - r)", tile_rows, sym(g, t, "rows", t->b.dim[t->row].size));
    o = ac_sprintf(p->a, "%s // %s", o, rb);
    if (t->b.src) r_in = times(g, "r", sym(g, t, "row_in", t->b.dim[t->row].in));
    r_out = times(g, "r", sym(g, t, "row_out", t->b.dim[t->row].out));
  }
  int outer = 0;
  for (int i = 0; i < t->b.n; i++) outer += i != t->row && i != t->col;
  for (int i = t->b.n - 1, left = outer; i >= 0; i--) {
    if (i == t->row || i == t->col) continue;
    const char *at = ac_sprintf(p->a, "i%d", i);
    if (--left) {
      const char *size = par(g, t, "d", ac_sprintf(p->a, "max(1, %s)", pl_sym_text(p, t->b.dim[i].size)));
      pl_let(p, at, "%s %% %s", o, size);
      o = ac_sprintf(p->a, "%s // %s", o, size);
    } else
      pl_let(p, at, "%s", o);
    if (t->b.src) src = plus(g, src, times(g, at, sym(g, t, "step_in", t->b.dim[i].in)));
    dst = plus(g, dst, times(g, at, sym(g, t, "step_out", t->b.dim[i].out)));
  }
  const char *c_in = t->b.src ? times(g, "c", sym(g, t, "col_in", t->b.dim[t->col].in)) : "0";
  if (t->k == PICK && t->step < 0) /* the lowest place: that of the last element */
    c_in = ac_sprintf(p->a, "(c + w - 1) * (%lld)", (long long)t->step);
  if (t->b.src) pl_let(p, "src", "%s", plus(g, plus(g, src, r_in), c_in));
  pl_let(p, "dst", "%s", plus(g, plus(g, dst, r_out), times(g, "c", sym(g, t, "col_out", t->b.dim[t->col].out))));
}

static const char *two(move *g, const char *ptr, const char *at, const char *n, const char *step, const char *w) {
  return ac_sprintf(g->p->a, "%s + %s + tl.arange(0, %s)[:, None] * %s + tl.arange(0, %s)[None, :]", ptr, at, n, step,
                    w);
}

static const char *buf(const move *g, const part *t, const char *name) {
  return ac_sprintf(g->p->a, "%s%s", name, t->suffix);
}

static void buffers(move *g, const part *t) {
  pl_ctx *p = g->p;
  ac_dtype d = dtype_of(g, t);
  const char *rows = t->row >= 0 ? par(g, t, "tile_rows", local(g, t, "tile_rows")) : NULL;
  const char *cols = par(g, t, "tile_cols", local(g, t, "tile_cols"));
  const char *both = rows ? ac_sprintf(p->a, "(%s, %s)", rows, cols) : cols;
  switch (t->k) {
  case TURN:
    pl_alloc(p, buf(g, t, "block"), both, d, false);
    pl_alloc(p, buf(g, t, "turned"), ac_sprintf(p->a, "(%s, %s)", cols, rows), d, false);
    break;
  case PICK:
    pl_alloc(p, buf(g, t, "span"), ac_sprintf(p->a, "%s * %lld", cols, (long long)llabs(t->step)), d, false);
    pl_alloc(p, buf(g, t, "which"), cols, AC_I32, false);
    pl_alloc(p, buf(g, t, "tile"), cols, d, false);
    break;
  case SPREAD:
    pl_alloc(p, buf(g, t, "line"), rows, d, false);
    pl_alloc(p, buf(g, t, "tile"), both, d, false);
    break;
  case FILL: pl_alloc(p, buf(g, t, "tile"), both, d, true); break;
  default: pl_alloc(p, buf(g, t, "tile"), both, d, false);
  }
}

static const char *fill_text(const move *g, const part *t) {
  double v = t->b.fill;
  if (ac_dtypes[dtype_of(g, t)].cls != AC_FLOATING) {
    if (dtype_of(g, t) == AC_BOOL) v = v != 0;
    return ac_sprintf(g->p->a, "%.0f", v);
  }
  if (isnan(v)) return "float(\"nan\")";
  if (isinf(v)) return v < 0 ? "-float(\"inf\")" : "float(\"inf\")";
  return ac_sprintf(g->p->a, "%.9e", v);
}

static void copies(move *g, const part *t) {
  pl_ctx *p = g->p;
  const char *tile = buf(g, t, "tile"), *row_in = "0", *row_out = "0";
  if (t->row >= 0 && t->b.src) row_in = sym(g, t, "row_in", t->b.dim[t->row].in);
  if (t->row >= 0) row_out = sym(g, t, "row_out", t->b.dim[t->row].out);
  const char *store =
      t->row >= 0 ? two(g, t->y, "dst", "n", row_out, "w") : ac_sprintf(p->a, "%s + dst + tl.arange(0, w)", t->y);
  switch (t->k) {
  case COPY:
    ix_stage(p, AC_STAGE_COPYIN, "tl.load(%s, %s)",
             t->row >= 0 ? two(g, t->src, "src", "n", row_in, "w")
                         : ac_sprintf(p->a, "%s + src + tl.arange(0, w)", t->src),
             tile);
    break;
  case STREW:
    ix_stage(p, AC_STAGE_COPYIN, "tl.load(%s + src + tl.arange(0, w) * %s, %s)", t->src,
             sym(g, t, "col_in", t->b.dim[t->col].in), tile);
    break;
  case SPREAD:
    ix_stage(p, AC_STAGE_COPYIN, "tl.load(%s + src + tl.arange(0, n) * %s, %s)", t->src, row_in, buf(g, t, "line"));
    ix_stage(p, AC_STAGE_COMPUTE, "tl.broadcast(%s[0:n, 0:w], %s, axis=1)", tile, buf(g, t, "line"));
    break;
  case PICK:
    ix_stage(p, AC_STAGE_COPYIN, "tl.load(%s + src + tl.arange(0, (w - 1) * %lld + 1), %s)", t->src,
             (long long)llabs(t->step), buf(g, t, "span"));
    ac_cb_with(&p->b, AC_STAGE_COMPUTE);
    if (t->step > 0)
      ix_call(p, "tl.iota(%s, 0, step=%lld, count=w)", buf(g, t, "which"), (long long)t->step);
    else
      ix_call(p, "tl.iota(%s, (w - 1) * %lld, step=%lld, count=w)", buf(g, t, "which"), (long long)-t->step,
              (long long)t->step);
    ix_call(p, "tl.gather(%s, %s, %s, count=w)", tile, buf(g, t, "span"), buf(g, t, "which"));
    ac_cb_end(&p->b);
    break;
  case TURN: /* n rows of the source, w of the result */
    ix_stage(p, AC_STAGE_COPYIN, "tl.load(%s, %s)", two(g, t->src, "src", "n", row_in, "w"), buf(g, t, "block"));
    ix_stage(p, AC_STAGE_COMPUTE, "tl.transpose(%s, %s)", buf(g, t, "turned"), buf(g, t, "block"));
    store = two(g, t->y, "dst", "w", sym(g, t, "col_out", t->b.dim[t->col].out), "n");
    tile = buf(g, t, "turned");
    break;
  case FILL: tile = ac_sprintf(p->a, t->row >= 0 ? "%s[0:n, 0:w]" : "%s[0:w]", tile); break;
  }
  ix_stage(p, AC_STAGE_COPYOUT, "tl.store(%s, %s)", store, tile);
}

static void part_loop(move *g, const part *t) {
  static const char *const what[] = {[COPY] = "a copy",
                                     [TURN] = "blocks, transposed in UB",
                                     [PICK] = "the span is loaded whole, every so many elements of it are taken",
                                     [SPREAD] = "one element a row, repeated",
                                     [STREW] = "elements that lie far apart, one by one",
                                     [FILL] = "a number"};
  pl_ctx *p = g->p;
  ac_cbuild *b = &p->b;
  ac_cb_comment(b, "%s", what[t->k]);
  buffers(g, t);
  if (t->k == FILL) ix_stage(p, AC_STAGE_COMPUTE, "tl.duplicate(%s, %s)", buf(g, t, "tile"), fill_text(g, t));
  const char *units = par(g, t, "units", local(g, t, "units"));
  ac_cb_for(b, "u", ac_ce_parse(b, "tl.split(%s, tl.num_programs(0), pid)", units),
            ac_ce_parse(b, "tl.split(%s, tl.num_programs(0), pid + 1)", units), NULL);
  place(g, t);
  copies(g, t);
  ac_cb_end(b);
}

/* Twice: what the kernel needs as parameters is known once it is written. */
static void kernel(move *g) {
  pl_ctx *p = g->p;
  ac_cbuild *b = &p->b;
  ac_cfunc *f = ac_cb_func(b, g->kernel, true);
  f->doc = g->parts.len == 1 ? "Tile u of the result."
                             : "The result's parts one after another; cores share the tiles of each.";
  for (size_t i = 0; i < g->tensors.len; i++)
    ac_cb_param(b, g->tensors.data[i].name, pl_tensor_type(p, g->dtypes.data[i]));
  pl_let(p, "pid", "tl.program_id(0)");
  for (size_t i = 0; i < g->parts.len; i++) part_loop(g, &g->parts.data[i]);
  for (size_t i = 0; i < g->scalars.len; i++) ac_cb_param(b, g->scalars.data[i].name, NULL);
}

/* ---- the host function ---- */

static void host_part(move *g, const part *t) {
  pl_ctx *p = g->p;
  int align = 32 / bytes_of(g, t);
  const char *all = NULL, *outer = NULL;
  for (int i = 0; i < t->b.n; i++) {
    const char *s = pl_sym_text(p, t->b.dim[i].size);
    all = all ? ac_sprintf(p->a, "%s * %s", all, s) : s;
    if (i != t->row && i != t->col) outer = outer ? ac_sprintf(p->a, "%s * %s", outer, s) : s;
  }
  const char *tile_cols = local(g, t, "tile_cols"), *tile_rows = local(g, t, "tile_rows"),
             *col_blocks = local(g, t, "col_blocks"), *row_blocks = local(g, t, "row_blocks");
  const char *cols = pl_sym_text(p, t->b.dim[t->col].size);
  if (t->k == TURN) {
    pl_let(p, tile_rows, "%lld", (long long)t->room);
    pl_let(p, tile_cols, "%lld", (long long)t->room);
  } else {
    pl_let(p, "share", "max(1024, tl.align_up(tl.cdiv(%s, 2 * tl.num_cores()), 64))", all);
    pl_let(p, tile_cols, "min(%lld, share, max(%d, tl.align_up(%s, %d)))", (long long)t->room, align, cols, align);
    if (t->row >= 0)
      pl_let(p, tile_rows, "max(1, min(%lld // %s, tl.cdiv(share, %s)))", (long long)t->room, tile_cols, tile_cols);
  }
  pl_let(p, col_blocks, "tl.cdiv(%s, %s)", cols, tile_cols);
  const char *units = col_blocks;
  if (t->row >= 0) {
    pl_let(p, row_blocks, "tl.cdiv(%s, %s)", pl_sym_text(p, t->b.dim[t->row].size), tile_rows);
    units = ac_sprintf(p->a, "%s * %s", row_blocks, units);
  }
  if (outer) units = ac_sprintf(p->a, "%s * %s", outer, units);
  pl_let(p, local(g, t, "units"), "%s", units);
}

static void host(pl_ctx *p, void *self) {
  move *g = self;
  for (size_t i = 0; i < g->outs.len; i++) {
    pl_declare(p, g->outs.data[i]);
    pl_rank_guards(p, p->tensors.data[g->outs.data[i]].v);
  }
  for (size_t i = 0; i < g->parts.len; i++)
    if (g->parts.data[i].b.src) pl_rank_guards(p, g->parts.data[i].b.src);
  pl_note(p, "Tiling: tiles of whole rows where they fit UB, up to half of a core's share, so that loads and stores "
             "overlap.");
  const char *units = NULL;
  for (size_t i = 0; i < g->parts.len; i++) {
    const part *t = &g->parts.data[i];
    host_part(g, t);
    const char *u = local(g, t, "units");
    units = units ? ac_sprintf(p->a, "%s + %s", units, u) : u;
  }
  ix_args a = {0};
  for (size_t i = 0; i < g->tensors.len; i++) ix_arg(p, &a, g->tensors.data[i].host);
  for (size_t i = 0; i < g->scalars.len; i++) ix_arg(p, &a, g->scalars.data[i].host);
  ac_cb_launch(&p->b, g->kernel, ac_ce_parse(&p->b, "min(tl.num_cores(), max(1, %s))", units), (int)a.len, a.data);
}

/* ---- planning ---- */

/* The operation that gives the value its elements, in their order. */
static const ac_node *mover(const ac_value *v) {
  while (v->def && !move_takes(v->def) && (pl_is_view(v->def->op) || v->def->op == AC_G_CLONE)) v = v->def->args[0].t;
  return v->def;
}

static bool fuses(pl_ctx *p, const ac_node *n, const ac_value *v) {
  (void)p;
  return mover(v) == n;
}

/* Parts of one kernel: nothing of one reads another. */
static bool joins(const pl_ctx *p, const ac_node *a, const ac_node *b) {
  (void)p;
  return a->op == b->op && (a->op == AC_G_SLICE || a->op == AC_G_SELECT);
}

static bool parts_of(move *g, int out) {
  pl_ctx *p = g->p;
  const ac_value *v = p->tensors.data[out].v;
  const ac_node *n = mover(v);
  move_boxes *to = AC_NEW(p->a, move_boxes);
  if (v->dtype == AC_F64) return pl_refuse(p, n->loc, ac_op_info(n->op)->id, "the vector unit has no float64");
  if (!move_split(p, n, to)) return false;
  for (int i = 0; i < to->n; i++) {
    part t = {.b = to->box[i], .tensor = out};
    ac_push(p->a, &g->parts, t);
  }
  ac_push(p->a, &g->outs, out);
  if (g->parts.len <= MOVE_MAX_BOXES) return true;
  return pl_refuse(p, n->loc, ac_op_info(n->op)->id, "its results have more than %d parts", MOVE_MAX_BOXES);
}

static bool plan(pl_ctx *p, const ac_node *n, const int *outs, int n_outs) {
  move *g = AC_NEW(p->a, move);
  g->p = p;
  p->strict = true;
  pl_names_init(&g->names, p->a);
  static const char *const taken[] = {"pid", "u",    "c",     "w",      "r",    "n",     "o",   "src",
                                      "dst", "tile", "block", "turned", "span", "which", "line"};
  for (size_t i = 0; i < AC_COUNT(taken); i++) (void)pl_name(&g->names, taken[i]);
  for (size_t i = 0; i < p->tensors.len; i++) (void)pl_name(&g->names, p->tensors.data[i].name);
  for (int i = 0; i < n_outs; i++)
    if (!parts_of(g, outs[i])) return false;
  for (size_t i = 0; i < g->parts.len; i++)
    if (g->parts.data[i].b.src && !pl_need(p, g->parts.data[i].b.src)) return false;
  for (size_t i = 0; i < g->parts.len; i++) {
    part *t = &g->parts.data[i];
    t->suffix = g->parts.len > 1 ? ac_sprintf(p->a, "_%zu", i) : "";
    choose(g, t);
    room(g, t);
    if (t->room < 32)
      return pl_refuse(p, n->loc, ac_op_info(n->op)->id, "%zu parts leave too little of UB for each", g->parts.len);
    if (t->b.src) {
      const char *x = p->tensors.data[pl_tensor_of(p, t->b.src)].name;
      t->src = tensor(g, x, t->b.src->dtype);
    }
  }
  for (size_t i = 0; i < g->parts.len; i++) {
    part *t = &g->parts.data[i];
    t->y = tensor(g, p->tensors.data[t->tensor].name, dtype_of(g, t));
  }
  g->kernel = ac_sprintf(p->a, "%s_kernel", pl_stage_name(p, outs[0]));
  kernel(g);
  pl_stage_host(p, ac_sprintf(p->a, "%s: elements to other places.", ac_op_info(n->op)->id), host, g);
  return true;
}

const pl_class pl_move_class = {.name = "move", .takes = move_takes, .joins = joins, .fuses = fuses, .plan = plan};

/* Schedules: reading by index tensors: index_select, embedding, x[i, j], gather.
 *
 * Four forms. Long pieces (an index of a dimension that is not the last) are copied a piece an index, straight between the tensors
 * through UB. Elements along the last dimension are picked in UB, where the row fits: one copy brings it in, tl.gather takes 64
 * elements in a few cycles. Short rows come and go by the dozen, so that a copy is long: what is the same for every tile of rows, the
 * places within it, is computed once. Everything else reads element by element from memory, about a hundred times slower than a copy.
 */
#include "plan/gather.h"

#include <assert.h>

typedef struct {
  pl_ctx *p;
  ix_set ix;
  const ac_value *x; /* what is indexed */
  const ac_value *i; /* shape of the indices */
  const int *outs;   /* tensors that hold the result */
  int n_outs;
  const char *xn, *yn, *op;
  ac_dtype dtype;
  int at, n;    /* dimensions [at, at + n) of x are indexed */
  bool element; /* gather: an index an element of the result; else an index a piece */
  /* gather: */
  int along;    /* dimension of the index that the vectors run along */
  int n_groups; /* of the other dimensions: sizes in the index, strides in x */
  const char *size[AC_MAX_RANK], *stride[AC_MAX_RANK];
  bool in_ub; /* the row may fit UB */
  bool tiled; /* rows of the result and those of x that they take from follow each other alike: many may fit */
} get;

static int bytes_of(const get *g) {
  return ac_dtypes[g->dtype].bytes;
}

/* ---- pieces: x is outer x axis x inner, y is outer x picks x inner ---- */

static int64_t piece_room(const get *g) {
  return (pl_ub_budget(g->p) - IX_BATCH * ix_bytes(&g->ix) - 4096) / 2 / 512 * 512;
}

static void start(const get *g, const char *suffix, const char *doc) {
  pl_ctx *p = g->p;
  ac_cfunc *f = ac_cb_func(&p->b, ac_sprintf(p->a, "%s_%s_kernel", g->op, suffix), true);
  f->doc = doc;
  ac_cb_param(&p->b, "x_ptr", pl_tensor_type(p, g->dtype));
  ix_params(&g->ix);
  ac_cb_param(&p->b, "y_ptr", pl_tensor_type(p, g->dtype));
}

static void params(const get *g, const char *const *names) {
  for (; *names; names++) ac_cb_param(&g->p->b, *names, NULL);
}

static void launch(const get *g, const char *suffix, const char *const *names) {
  pl_ctx *p = g->p;
  ix_args a = {0};
  ix_arg(p, &a, g->xn);
  ix_arguments(&g->ix, &a);
  ix_arg(p, &a, g->yn);
  for (; *names; names++) ix_arg(p, &a, *names);
  ac_cb_launch(&p->b, ac_sprintf(p->a, "%s_%s_kernel", g->op, suffix), ac_ce_name(&p->b, "n_cores"), (int)a.len,
               a.data);
}

static const char *const piece_names[] = {"units", "span", "inner", "picks", "per_core", "width", NULL};

static void piece_kernel(get *g) {
  pl_ctx *p = g->p;
  ac_cbuild *b = &p->b;
  const char *batch = ac_sprintf(p->a, "%d", IX_BATCH);
  start(g, "pieces",
        "Piece u is y[o, j, :] = x[o, index[j], :] with u = o * picks + j. Many pieces are under way at once.");
  params(g, piece_names);
  pl_let(p, "first", "tl.program_id(0) * per_core");
  pl_let(p, "last", "min(first + per_core, units)");
  ix_alloc(&g->ix, batch);
  pl_alloc(p, "part", ac_sprintf(p->a, "(%s, width)", batch), g->dtype, false);
  ac_cb_for(b, "o", ac_ce_parse(b, "first // picks"), ac_ce_parse(b, "tl.cdiv(last, picks)"), NULL);
  pl_let(p, "lo", "max(first, o * picks)");
  pl_let(p, "hi", "min(last, o * picks + picks)");
  ac_cb_for(b, "u", ac_ce_name(b, "lo"), ac_ce_name(b, "hi"), ac_ce_int(b, IX_BATCH));
  pl_let(p, "m", "min(%d, hi - u)", IX_BATCH);
  ix_read(&g->ix, "u - o * picks + tl.arange(0, m)");
  ac_cb_comment(b, "a piece longer than UB goes through in parts");
  ac_cb_for(b, "c", ac_ce_int(b, 0), ac_ce_name(b, "inner"), ac_ce_name(b, "width"));
  pl_let(p, "w", "min(width, inner - c)");
  ix_stage(p, AC_STAGE_COPYIN,
           "tl.load(x_ptr + o * span * inner + c + at[:, None] * inner + tl.arange(0, w)[None, :], part)");
  ix_stage(p, AC_STAGE_COPYOUT,
           "tl.store(y_ptr + u * inner + c + tl.arange(0, m)[:, None] * inner + tl.arange(0, w)[None, :], part)");
  ac_cb_end(b);
  ac_cb_end(b);
  ac_cb_end(b);
}

static void piece_host(get *g) {
  pl_ctx *p = g->p;
  int64_t room = piece_room(g) / bytes_of(g);
  pl_let(p, "outer", "%s", pl_product_text(p, g->x, 0, g->at));
  pl_let(p, "inner", "%s", pl_product_text(p, g->x, g->at + g->n, g->x->rank));
  pl_let(p, "picks", "%s", pl_numel_text(p, g->i));
  pl_let(p, "units", "min(outer * picks, outer * picks * inner)");
  ix_sizes(&g->ix, "units > 0");
  pl_note(p, "Core partitioning: whole pieces, the same number for every core.");
  ix_split(p, "units", g->dtype);
  pl_note(p,
          "Tiling: %d pieces at a time, which together take half of UB, so that the next come in while these go out; "
          "longer pieces go in equal parts.",
          IX_BATCH);
  ix_width(p, room, g->dtype);
  launch(g, "pieces", (const char *const[]){"units", "axis", "inner", "max(1, picks)", "per_core", "width", NULL});
}

/* ---- elements ---- */

enum { PICK_TILE = 2048 };

static int64_t row_room(const get *g) {
  int64_t lanes = PICK_TILE * (ix_bytes(&g->ix) + 2 * bytes_of(g));
  return (pl_ub_budget(g->p) - lanes - 12288) / 2 / bytes_of(g) / 256 * 256;
}

/* Where the part of x begins that row `row` of the result takes from: the row number taken apart. */
static const char *row_base(const get *g) {
  pl_ctx *p = g->p;
  const char *sum = NULL;
  for (int q = 0; q < g->n_groups; q++) {
    const char *t = "row";
    if (q + 1 < g->n_groups) t = ac_sprintf(p->a, "row // below_%d", q);
    if (q) t = ac_sprintf(p->a, "%s %% size_%d", t, q);
    if (q || q + 1 < g->n_groups) t = ac_sprintf(p->a, "(%s)", t);
    t = ac_sprintf(p->a, "%s * stride_%d", t, q);
    sum = sum ? ac_sprintf(p->a, "%s + %s", sum, t) : t;
  }
  return sum ? sum : "0";
}

static void group_params(const get *g) {
  for (int q = 0; q < g->n_groups; q++) {
    if (q + 1 < g->n_groups) ac_cb_param(&g->p->b, ac_sprintf(g->p->a, "below_%d", q), NULL);
    if (q) ac_cb_param(&g->p->b, ac_sprintf(g->p->a, "size_%d", q), NULL);
    ac_cb_param(&g->p->b, ac_sprintf(g->p->a, "stride_%d", q), NULL);
  }
}

static void group_names(const get *g, const char **names) {
  int n = 0;
  while (names[n]) n++;
  for (int q = 0; q < g->n_groups; q++) {
    if (q + 1 < g->n_groups) {
      const char *below = NULL;
      for (int k = q + 1; k < g->n_groups; k++)
        below = below ? ac_sprintf(g->p->a, "%s * %s", below, g->size[k]) : g->size[k];
      names[n++] = ac_sprintf(g->p->a, "max(1, %s)", below);
    }
    if (q) names[n++] = ac_sprintf(g->p->a, "max(1, %s)", g->size[q]);
    names[n++] = g->stride[q];
  }
  names[n] = NULL;
}

static const char *index_offset(const get *g) {
  return g->element ? "row * wide + j + tl.arange(0, m)" : "j + tl.arange(0, m)";
}

static void row_kernel(get *g) {
  pl_ctx *p = g->p;
  ac_cbuild *b = &p->b;
  start(g, "row", "A row of x at a time is brought into UB, where tl.gather takes any of its elements.");
  params(g, (const char *const[]){"rows", "wide", "per_core", "span", "tile", NULL});
  group_params(g);
  pl_let(p, "first", "tl.program_id(0) * per_core");
  pl_let(p, "last", "min(first + per_core, rows)");
  pl_alloc(p, "x", "span", g->dtype, false);
  ix_alloc(&g->ix, "tile");
  pl_alloc(p, "y", "tile", g->dtype, false);
  ac_cb_for(b, "row", ac_ce_name(b, "first"), ac_ce_name(b, "last"), NULL);
  ix_stage(p, AC_STAGE_COPYIN, "tl.load(x_ptr + %s + tl.arange(0, span), x)", row_base(g));
  ac_cb_for(b, "j", ac_ce_int(b, 0), ac_ce_name(b, "wide"), ac_ce_name(b, "tile"));
  pl_let(p, "m", "min(tile, wide - j)");
  ix_read(&g->ix, index_offset(g));
  ix_stage(p, AC_STAGE_COMPUTE, "tl.gather(y, x, at)");
  ix_stage(p, AC_STAGE_COPYOUT, "tl.store(y_ptr + row * wide + j + tl.arange(0, m), y)");
  ac_cb_end(b);
  ac_cb_end(b);
}

/* ---- many short rows a tile ---- */

/* One for all tiles: 4-byte lanes for the table and for two steps on the way to it. */
enum { TABLE_BYTES = 3 * 4, ROWS_SCRATCH = 24576 };

/* number = row of the tile that lane belongs to; exact while there are less than 2^22 lanes, and UB holds no more than 2^16. */
static void lane_rows(pl_ctx *p) {
  ac_cb_comment(&p->b,
                "lane l is element l %% wide of row l // wide; half a lane on, rounding cannot reach the next row");
  ix_call(p, "tl.iota(table, 0, count=lanes)");
  ix_call(p, "tl.cast(ratio, table, mode=\"rint\")");
  ix_call(p, "tl.vadd_scalar(ratio, ratio, 0.5)");
  ix_call(p, "tl.vdiv_scalar(ratio, ratio, wide)");
  ix_call(p, "tl.cast(number, ratio, mode=\"floor\")");
}

/* table = where in a tile of x its rows begin, an element a lane; index_select: where the elements are. */
static void rows_table(const get *g) {
  pl_ctx *p = g->p;
  if (!g->element) ix_read(&g->ix, "tl.arange(0, wide)");
  ac_cb_with(&p->b, AC_STAGE_COMPUTE);
  lane_rows(p);
  if (g->element) {
    ix_call(p, "tl.vmul_scalar(table, number, span)");
  } else {
    ix_call(p, "tl.vmul_scalar(number, number, wide)");
    ix_call(p, "tl.vsub(table, table, number)");
    ix_call(p, "tl.vclamp(table, table, 0, wide - 1)");
    ix_call(p, "tl.gather(number, at, table)");
    ix_call(p, "tl.cast(table, ratio, mode=\"floor\")");
    ix_call(p, "tl.vmul_scalar(table, table, span)");
    ix_call(p, "tl.vadd(table, table, number)");
    ix_call(p, "tl.vclamp(table, table, 0, held - 1)");
  }
  ac_cb_end(&p->b);
}

static void rows_kernel(get *g) {
  pl_ctx *p = g->p;
  ac_cbuild *b = &p->b;
  start(
      g, "rows",
      "Many short rows of x come with one copy; what a lane takes lies at the same place of every tile, in `table`.");
  params(g, (const char *const[]){"rows", "wide", "per_core", "span", "tile", NULL});
  pl_let(p, "first", "tl.program_id(0) * per_core");
  pl_let(p, "last", "min(first + per_core, rows)");
  pl_let(p, "held", "tile * span");
  pl_let(p, "lanes", "tile * wide");
  pl_alloc(p, "x", "held", g->dtype, false);
  ix_alloc(&g->ix, g->element ? "lanes" : "wide");
  pl_alloc(p, "table", "lanes", AC_I32, true);
  pl_alloc(p, "number", "lanes", AC_I32, true);
  pl_alloc(p, "ratio", "lanes", AC_F32, true);
  pl_alloc(p, "y", "lanes", g->dtype, false);
  rows_table(g);
  ac_cb_for(b, "row", ac_ce_name(b, "first"), ac_ce_name(b, "last"), ac_ce_name(b, "tile"));
  pl_let(p, "m", "min(tile, last - row)");
  ix_stage(p, AC_STAGE_COPYIN, "tl.load(x_ptr + row * span + tl.arange(0, m * span), x)");
  if (g->element) {
    ix_read(&g->ix, "row * wide + tl.arange(0, m * wide)");
    ac_cb_with(b, AC_STAGE_COMPUTE);
    ix_call(p, "tl.vadd(at, at, table, count=m * wide)");
    ix_call(p, "tl.gather(y, x, at, count=m * wide)");
    ac_cb_end(b);
  } else {
    ix_stage(p, AC_STAGE_COMPUTE, "tl.gather(y, x, table, count=m * wide)");
  }
  ix_stage(p, AC_STAGE_COPYOUT, "tl.store(y_ptr + row * wide + tl.arange(0, m * wide), y)");
  ac_cb_end(b);
}

/* Elements of a tile of x, and of the result, at most; so that a tile of two rows is one, an index_select has half as many indices. */
static int64_t tile_room(const get *g) {
  int indices = g->element ? ix_bytes(&g->ix) : (ix_bytes(&g->ix) + 1) / 2;
  return (pl_ub_budget(g->p) - ROWS_SCRATCH) / (4 * bytes_of(g) + TABLE_BYTES + indices) / 16 * 16;
}

/* The branch that takes many rows a tile; its `else` is left open. */
static void rows_host(get *g) {
  pl_ctx *p = g->p;
  long long room = tile_room(g);
  pl_let(p, "units", "min(row_count, row_count * wide)");
  ix_split(p, "units", g->dtype);
  pl_note(p,
          "Tiling: rows that UB holds twice, in and out, beside the table; no more than a quarter of a core's where "
          "that is 16 KB or more, so that copies overlap and the table is small against the work. The table costs as "
          "much as two rows on their own wait for their copies.");
  pl_let(p, "fit", "min(%lld // max(1, axis), %lld // max(1, wide))", room, room);
  pl_let(p, "tile", "max(2, min(min(fit, per_core), max(tl.cdiv(per_core, 4), tl.cdiv(%d, max(1, wide)))))",
         16384 / bytes_of(g));
  pl_note(p, "Decided by sizes alone, so that gathers alike are decided once.");
  ac_cb_if(&p->b, ac_ce_parse(
                      &p->b, "row_count > tl.num_cores() and axis > 0 and wide > 0 and axis <= %lld and wide <= %lld",
                      room / 2, room / 2));
  launch(g, "rows", (const char *const[]){"units", "wide", "per_core", "axis", "tile", NULL});
  ac_cb_else(&p->b);
}

static void far_kernel(get *g) {
  pl_ctx *p = g->p;
  ac_cbuild *b = &p->b;
  start(g, "far", "Unit u is part u % parts of row u // parts; every element is read from memory on its own.");
  params(g, (const char *const[]){"units", "parts", "wide", "step", "lane_step", "per_core", "tile", NULL});
  group_params(g);
  pl_let(p, "first", "tl.program_id(0) * per_core");
  pl_let(p, "last", "min(first + per_core, units)");
  ix_alloc(&g->ix, "tile");
  pl_alloc(p, "y", "tile", g->dtype, false);
  pl_alloc(p, "lanes", "tile", AC_I32, true);
  ix_stage(p, AC_STAGE_COMPUTE, "tl.iota(lanes, 0, step=lane_step, count=tile)");
  ac_cb_for(b, "u", ac_ce_name(b, "first"), ac_ce_name(b, "last"), NULL);
  pl_let(p, "row", "u // parts");
  pl_let(p, "j", "u %% parts * tile");
  pl_let(p, "m", "min(tile, wide - j)");
  ix_read(&g->ix, index_offset(g));
  ac_cb_with(b, AC_STAGE_COMPUTE);
  ix_call(p, "tl.vmul_scalar(at, at, step)");
  ix_call(p, "tl.vadd(at, at, lanes, count=m)");
  ac_cb_end(b);
  ix_stage(p, AC_STAGE_COPYIN, "tl.load(x_ptr + (%s + j * lane_step) + at, y)", row_base(g));
  ix_stage(p, AC_STAGE_COPYOUT, "tl.store(y_ptr + row * wide + j + tl.arange(0, m), y)");
  ac_cb_end(b);
}

static void far_host(get *g) {
  pl_ctx *p = g->p;
  bool lanes = g->element && g->along != g->at;
  pl_let(p, "step", "%s", g->element ? pl_product_text(p, g->x, g->at + 1, g->x->rank) : "1");
  pl_let(p, "lane_step", "%s", lanes ? pl_product_text(p, g->x, g->along + 1, g->x->rank) : "0");
  pl_note(p, "Tiling: 2048 elements, fewer where there are too few rows for all cores or where offsets inside of a "
             "tile would not fit 32 bits.");
  pl_let(p, "tile", "min(%d, max(16, tl.align_up(tl.cdiv(row_count * wide, tl.num_cores()), 16)))", PICK_TILE);
  if (lanes) pl_let(p, "tile", "max(16, min(tile, tl.align_down(1073741824 // max(1, lane_step), 16)))");
  pl_refuse_if(p, "axis * step + tile * lane_step > 2147483647",
               "the elements that one index chooses among lie more than 2^31 apart");
  pl_let(p, "parts", "max(1, tl.cdiv(wide, tile))");
  pl_let(p, "units", "min(row_count, row_count * wide) * parts");
  ix_split(p, "units", AC_I64);
  const char *names[64] = {"units", "parts", "wide", "step", "lane_step", "per_core", "tile", NULL};
  group_names(g, names);
  launch(g, "far", names);
}

static const char *row_count(const get *g) {
  const char *rows = NULL;
  for (int q = 0; q < g->n_groups; q++) rows = rows ? ac_sprintf(g->p->a, "%s * %s", rows, g->size[q]) : g->size[q];
  return rows ? rows : "1";
}

static void element_host(get *g) {
  pl_ctx *p = g->p;
  ac_cbuild *b = &p->b;
  int64_t room = row_room(g);
  pl_let(p, "row_count", "%s", row_count(g));
  pl_let(p, "wide", "%s",
         !g->element    ? pl_numel_text(p, g->i)
         : g->along < 0 ? "1"
                        : pl_sym_text(p, g->i->shape[g->along]));
  ix_sizes(&g->ix, "row_count * wide > 0");
  if (g->tiled) rows_host(g);
  if (g->in_ub) {
    ac_cb_if(b, ac_ce_parse(b, "axis <= %lld", (long long)room));
    pl_note(p,
            "Tiling: UB holds two rows of up to %lld elements beside %d indices, so that the next row comes in "
            "meanwhile.",
            (long long)room, PICK_TILE);
    pl_let(p, "units", "min(row_count, row_count * wide)");
    ix_split(p, "units", g->dtype);
    const char *names[64] = {"units", "wide", "per_core", "axis", ac_sprintf(p->a, "%d", PICK_TILE), NULL};
    group_names(g, names);
    launch(g, "row", names);
    ac_cb_else(b);
  }
  far_host(g);
  if (g->in_ub) ac_cb_end(b);
  if (g->tiled) ac_cb_end(b);
}

/* ---- which form? ---- */

static void host(pl_ctx *p, void *self) {
  get *g = self;
  for (int i = 0; i < g->n_outs; i++) pl_declare(p, g->outs[i]);
  pl_rank_guards(p, g->x);
  pl_rank_guards(p, g->i);
  for (int i = 0; i < g->n_outs; i++) {
    g->yn = p->tensors.data[g->outs[i]].name;
    if (i) ac_cb_comment(&p->b, "The same for %s.", g->yn);
    if (g->element || g->at + g->n == g->x->rank)
      element_host(g);
    else
      piece_host(g);
  }
}

/* Dimensions of the index beside `along` as groups: a neighbour joins where it has the same size in both. */
static void group_dims(get *g) {
  pl_ctx *p = g->p;
  int before = -2;
  for (int d = 0; d < g->i->rank; d++) {
    if (d == g->along || pl_sym_is(p, g->i->shape[d], 1)) continue;
    bool joins = before == d - 1 && d != g->at && before != g->at &&
                 (g->i->shape[d] == g->x->shape[d] || ac_sym_equal(p->g, g->i->shape[d], g->x->shape[d]));
    int q = joins ? g->n_groups - 1 : g->n_groups++;
    const char *size = pl_sym_text(p, g->i->shape[d]);
    g->size[q] = joins ? ac_sprintf(p->a, "%s * %s", g->size[q], size) : size;
    g->stride[q] = d == g->at ? "0" : pl_product_text(p, g->x, d + 1, g->x->rank);
    before = d;
  }
}

/* One instruction gathers 64 lanes of 2 or 4 bytes; others are taken apart. */
static bool gathers_in_ub(const get *g) {
  return bytes_of(g) == 2 || bytes_of(g) == 4;
}

/* Between the rows that one group counts and the elements of a row, has x no dimension that the index has not? */
static bool row_follows_row(const get *g) {
  for (int d = g->at - 1; d >= 0 && pl_sym_is(g->p, g->i->shape[d], 1); d--)
    if (!pl_sym_is(g->p, g->x->shape[d], 1)) return false;
  return true;
}

static void plan_gather(get *g) {
  pl_ctx *p = g->p;
  g->along = -1;
  for (int d = 0; d < g->i->rank; d++)
    if (!pl_sym_is(p, g->i->shape[d], 1)) g->along = d;
  group_dims(g);
  bool last = true;
  for (int d = g->at + 1; d < g->x->rank; d++)
    if (!pl_sym_is(p, g->x->shape[d], 1)) last = false;
  g->in_ub = last && g->along == g->at;
  g->tiled = g->in_ub && gathers_in_ub(g) && g->n_groups == 1 && row_follows_row(g);
}

static bool is_gather(ac_op op) {
  return op == AC_G_GATHER || op == AC_G_INDEX_SELECT || op == AC_G_INDEX || op == AC_G_EMBEDDING;
}

static bool takes(const ac_node *n) {
  return is_gather(n->op);
}

static bool plan(pl_ctx *p, const ac_node *n, const int *outs, int n_outs) {
  assert(n_outs >= 1);
  const char *id = ac_op_info(n->op)->id;
  get *g = AC_NEW(p->a, get);
  *g = (get){.p = p, .outs = outs, .n_outs = n_outs, .n = 1, .element = n->op == AC_G_GATHER};
  g->x = pl_arg(n, n->op == AC_G_EMBEDDING ? "weight" : "input")->t;
  const ac_value *one[1], *const *t = one;
  int count = 1;
  if (n->op == AC_G_INDEX) {
    const ac_arg *is = pl_arg(n, "indices");
    t = (const ac_value *const *)is->ts;
    count = g->n = is->n;
    g->ix.negative = true;
  } else {
    one[0] = pl_arg(n, n->op == AC_G_EMBEDDING ? "input" : "index")->t;
  }
  int64_t at = 0;
  if (n->op != AC_G_EMBEDDING && !pl_const_int(n, n->op == AC_G_INDEX ? "at" : "dim", &at))
    return pl_refuse(p, n->loc, id, "its dimension must be a constant");
  g->at = ac_dim_index(at, g->x->rank ? g->x->rank : 1);
  g->dtype = g->x->dtype;
  if (!g->x->rank || !count) return pl_refuse(p, n->loc, id, "a tensor without dimensions is indexed");
  if (g->dtype == AC_F64) return pl_refuse(p, n->loc, id, "the vector unit has no float64");
  if (!pl_need(p, g->x) || !ix_need(&g->ix, p, n, t, count)) return false;
  for (int k = 0; k < count; k++) g->ix.axis_text[k] = pl_sym_text(p, g->x->shape[g->at + k]);
  g->i = t[0];
  g->xn = p->tensors.data[pl_tensor_of(p, g->x)].name;
  g->yn = p->tensors.data[outs[0]].name;
  g->op = pl_stage_name(p, outs[0]);
  if (g->element) {
    plan_gather(g);
  } else if (g->at + g->n == g->x->rank) {
    g->n_groups = 1;
    g->size[0] = pl_product_text(p, g->x, 0, g->at);
    g->stride[0] = pl_product_text(p, g->x, g->at, g->x->rank);
    g->in_ub = true;
    g->tiled = gathers_in_ub(g);
  } else {
    piece_kernel(g);
  }
  if (g->element || g->at + g->n == g->x->rank) {
    if (g->tiled) rows_kernel(g);
    if (g->in_ub) row_kernel(g);
    far_kernel(g);
  }
  pl_stage_host(p, ac_sprintf(p->a, "%s: elements by number.", id), host, g);
  return true;
}

const pl_class pl_gather_class = {.name = "gather", .takes = takes, .plan = plan};

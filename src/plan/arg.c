/* Schedule: argmax, argmin: where the largest or smallest element along an axis, or of all, is; with it the element itself, where
 * max(x, dim) or amax of the same tensor asks for it.
 *
 * The host function sees the tensor as outer x axis x inner. Kernels:
 *   rows    inner is 1, the row is short: several rows at a time, tl.argmax along them
 *   long    inner is 1: tile after tile along a row. Lanes keep the best they have seen, and in which tile; they are joined at the end,
 *           so that nothing waits for the scalar unit on the way
 *   inner   the axis is not the last: inner positions are lanes, each with the best so far and its place
 *   join    with few rows several cores share one; each leaves what it has found in workspace, and the next launch compares
 * Of equal ones the first wins, a NaN wins against everything, as in PyTorch. Places are int32 on the way.
 */
#include "plan/gather.h"
#include "plan/reduce.h"

#include <math.h>
#include <string.h>

enum {
  STEPS = 16,          /* of the axis at a time, where it is not the last */
  SCRATCH = 40 * 1024, /* of tl.argmax: values, rows, numbers and what is picked of them, 2,048 each */
  FEW = 3,             /* fewer rows at a time are no gain */
  NARROW = 256         /* lanes below which cores share the axis rather than the lanes */
};

typedef struct {
  pl_chain c;
  const ac_node *n;
  const ac_value *x;
  bool largest, dims[AC_MAX_RANK];
  ac_dtype acc, out;  /* what is compared, what values are stored as */
  AC_VEC(int) places; /* tensors that hold the result */
  AC_VEC(int) values;
  const char *kernel;
  const char *run; /* buffer that is searched */
  const char *at, *place, *wide, *best, *part, *value, *kept, *nan, *number;
  const char *many, *across, *base;
  double tile_bytes; /* of UB an element of a tile takes */
} arg;

static bool takes(const ac_node *n) {
  return n->op == AC_G_ARGMAX || n->op == AC_G_ARGMIN;
}

/* ---- words ---- */

static const char *prim(const arg *g, const char *what) {
  return ac_sprintf(g->c.p->a, "%s%s", what, g->largest ? "max" : "min");
}

static const char *identity(const arg *g) {
  double d = red_identity(g->largest ? RED_MAX : RED_MIN, g->acc).num;
  if (ac_dtypes[g->acc].cls == AC_FLOATING) return d < 0 ? "-float(\"inf\")" : "float(\"inf\")";
  if (g->acc == AC_I64) return g->largest ? "-9223372036854775807 - 1" : "9223372036854775807";
  return ac_sprintf(g->c.p->a, "%.0f", d);
}

static bool floats(const arg *g) {
  return ac_dtypes[g->acc].cls == AC_FLOATING;
}

static const char *tensor_ptr(const arg *g, int tensor) {
  return ac_sprintf(g->c.p->a, "%s_ptr", g->c.p->tensors.data[tensor].name);
}

/* ---- parts of kernels ---- */

typedef enum { DIRECT, SHARED } form; /* results, or workspace */

static void params(arg *g, bool leaves, form f, const char *const *sizes) {
  pl_ctx *p = g->c.p;
  ac_cbuild *b = &p->b;
  for (int k = 0; k < g->c.n_leaves && leaves; k++)
    if (g->c.leaves[k].ptr) ac_cb_param(b, g->c.leaves[k].ptr, pl_tensor_type(p, g->c.leaves[k].v->dtype));
  if (f == SHARED || !leaves) {
    ac_cb_param(b, "all_places_ptr", pl_tensor_type(p, AC_I32));
    ac_cb_param(b, "all_values_ptr", pl_tensor_type(p, g->acc));
  }
  for (size_t i = 0; i < g->places.len && f == DIRECT; i++)
    ac_cb_param(b, tensor_ptr(g, g->places.data[i]), pl_tensor_type(p, AC_I64));
  for (size_t i = 0; i < g->values.len && f == DIRECT; i++)
    ac_cb_param(b, tensor_ptr(g, g->values.data[i]), pl_tensor_type(p, g->out));
  for (; *sizes; sizes++) ac_cb_param(b, *sizes, NULL);
  for (size_t i = 0; i < g->c.scalars.len && leaves; i++) ac_cb_param(b, g->c.scalars.data[i].name, NULL);
}

static void launch(arg *g, const char *name, const char *cores, bool leaves, form f, const char *const *sizes) {
  pl_ctx *p = g->c.p;
  ix_args a = {0};
  for (int k = 0; k < g->c.n_leaves && leaves; k++)
    if (g->c.leaves[k].ptr) ix_arg(p, &a, p->tensors.data[g->c.leaves[k].tensor].name);
  if (f == SHARED || !leaves) {
    ix_arg(p, &a, "places_found");
    ix_arg(p, &a, "values_found");
  }
  for (size_t i = 0; i < g->places.len && f == DIRECT; i++) ix_arg(p, &a, p->tensors.data[g->places.data[i]].name);
  for (size_t i = 0; i < g->values.len && f == DIRECT; i++) ix_arg(p, &a, p->tensors.data[g->values.data[i]].name);
  for (; *sizes; sizes++) ix_arg(p, &a, *sizes);
  for (size_t i = 0; i < g->c.scalars.len && leaves; i++) ix_arg(p, &a, g->c.scalars.data[i].host);
  ac_cb_launch(&p->b, ac_sprintf(p->a, "%s_%s_kernel", g->kernel, name), ac_ce_parse(&p->b, "%s", cores), (int)a.len,
               a.data);
}

static ac_cfunc *start(arg *g, const char *name, const char *doc) {
  ac_cfunc *f = ac_cb_func(&g->c.p->b, ac_sprintf(g->c.p->a, "%s_%s_kernel", g->kernel, name), true);
  f->doc = doc;
  return f;
}

static void own_range(arg *g, const char *n, int unit) {
  pl_let(g->c.p, "pid", "tl.program_id(0)");
  pl_let(g->c.p, "first", "tl.split(%s, tl.num_programs(0), pid, %d)", n, unit);
  pl_let(g->c.p, "last", "tl.split(%s, tl.num_programs(0), pid + 1, %d)", n, unit);
}

static void tile_buffers(arg *g, const char *size) {
  for (size_t i = 0; i < g->c.v.bufs.len; i++) {
    const vir_buf *b = &g->c.v.bufs.data[i];
    pl_alloc(g->c.p, b->name, size, b->mask ? AC_MASK : b->dtype, false);
  }
}

static void load_tile(arg *g) {
  ac_cbuild *b = &g->c.p->b;
  ac_cb_with(b, AC_STAGE_COPYIN);
  for (int k = 0; k < g->c.n_leaves; k++)
    if (g->c.leaves[k].buf) pl_load(g->c.p, g->c.leaves[k].ptr, "offs", g->c.leaves[k].buf);
  ac_cb_end(b);
}

/* Are values stored in another dtype than they are compared in? */
static bool narrowed(const arg *g, form f) {
  return f == DIRECT && g->values.len && g->out != g->acc;
}

/* What a kernel's results stand in before they are stored. */
static void result_buffers(arg *g, form f, const char *size) {
  pl_ctx *p = g->c.p;
  if (f == DIRECT) pl_alloc(p, g->wide, size, AC_I64, false);
  if (narrowed(g, f)) pl_alloc(p, g->value, size, g->out, false);
}

/* `count` results from element `to` on: `place` and `best` hold them. */
static void store_results(arg *g, form f, const char *place, const char *best, const char *to, const char *count) {
  pl_ctx *p = g->c.p;
  ac_cbuild *b = &p->b;
  if (f == SHARED) {
    ac_cb_with(b, AC_STAGE_COPYOUT);
    ix_call(p, "tl.store(all_places_ptr + %s + tl.arange(0, %s), %s, count=%s)", to, count, place, count);
    ix_call(p, "tl.store(all_values_ptr + %s + tl.arange(0, %s), %s, count=%s)", to, count, best, count);
    ac_cb_end(b);
    return;
  }
  ac_cb_with(b, AC_STAGE_COMPUTE);
  ix_call(p, "tl.cast(%s, %s, count=%s)", g->wide, place, count);
  if (narrowed(g, f)) ix_call(p, "tl.cast(%s, %s, mode=\"rint\", count=%s)", g->value, best, count);
  ac_cb_end(b);
  ac_cb_with(b, AC_STAGE_COPYOUT);
  for (size_t i = 0; i < g->places.len; i++)
    ix_call(p, "tl.store(%s + %s + tl.arange(0, %s), %s, count=%s)", tensor_ptr(g, g->places.data[i]), to, count,
            g->wide, count);
  for (size_t i = 0; i < g->values.len; i++)
    ix_call(p, "tl.store(%s + %s + tl.arange(0, %s), %s, count=%s)", tensor_ptr(g, g->values.data[i]), to, count,
            narrowed(g, f) ? g->value : best, count);
  ac_cb_end(b);
}

/* Lanes that are found better than `best`, or a NaN, take their place: `at`, a buffer, or the number `i`. */
static void compare(arg *g, const char *part, const char *at, const char *count) {
  pl_ctx *p = g->c.p;
  ix_call(p, "tl.vcompare(%s, %s, %s, \"%s\", count=%s)", g->kept, part, g->best, g->largest ? "le" : "ge", count);
  if (floats(g)) {
    ac_cb_comment(&p->b, "what is a NaN already stays; a new one compares as not in order, and wins");
    ix_call(p, "tl.vcompare(%s, %s, %s, \"ne\", count=%s)", g->nan, g->best, g->best, count);
    ix_call(p, "tl.mask_or(%s, %s, %s, count=%s)", g->kept, g->kept, g->nan, count);
  }
  ix_call(p, "tl.%s(%s, %s, %s, %s, count=%s)", strcmp(at, "i") ? "vselect" : "vselect_scalar", g->place, g->kept,
          g->place, at, count);
  ix_call(p, "tl.%s(%s, %s, %s, count=%s)", prim(g, "v"), g->best, g->best, part, count);
}

static void lane_buffers(arg *g, const char *size) {
  pl_ctx *p = g->c.p;
  pl_alloc(p, g->part, size, g->acc, false);
  pl_alloc(p, g->at, size, AC_I32, false);
  pl_alloc(p, g->best, size, g->acc, false);
  pl_alloc(p, g->place, size, AC_I32, false);
  pl_alloc(p, g->kept, size, AC_MASK, false);
  if (floats(g)) pl_alloc(p, g->nan, size, AC_MASK, false);
}

/* Bytes of UB a lane of these takes, and its results. */
static int lane_bytes(const arg *g, form f) {
  int acc = ac_dtypes[g->acc].bytes;
  return acc * 4 + 4 * 4 + 1 + (f == DIRECT ? 16 : 0) + (narrowed(g, f) ? 2 * ac_dtypes[g->out].bytes : 0);
}

static void restart(arg *g, const char *from, const char *count) {
  pl_ctx *p = g->c.p;
  ac_cb_with(&p->b, AC_STAGE_COMPUTE);
  ix_call(p, "tl.duplicate(%s, %s, count=%s)", g->best, identity(g), count);
  ix_call(p, "tl.duplicate(%s, %s, count=%s)", g->place, from, count);
  ac_cb_end(&p->b);
}

/* ---- the kernels ---- */

static const char *const row_sizes[] = {"rows", "axis", "tile_rows", "tile_cols", NULL};

static void rows_kernel(arg *g) {
  pl_ctx *p = g->c.p;
  ac_cbuild *b = &p->b;
  start(g, "rows", "Rows that fit UB, `tile_rows` at a time.");
  params(g, true, DIRECT, row_sizes);
  own_range(g, "rows", 8);
  tile_buffers(g, "(tile_rows, tile_cols)");
  pl_alloc(p, g->at, "tile_rows", AC_I32, false);
  if (g->values.len) pl_alloc(p, g->best, "tile_rows", g->acc, false);
  result_buffers(g, DIRECT, "tile_rows");
  ac_cb_for(b, "row", ac_ce_name(b, "first"), ac_ce_name(b, "last"), ac_ce_name(b, "tile_rows"));
  pl_let(p, g->many, "min(tile_rows, last - row)");
  pl_let(p, "offs", "row * axis + tl.arange(0, %s)[:, None] * axis + tl.arange(0, axis)[None, :]", g->many);
  load_tile(g);
  ac_cb_with(b, AC_STAGE_COMPUTE);
  vir_compute(&g->c.v, NULL, false);
  ix_call(p, "tl.%s(%s, %s%s, axis=-1)", prim(g, "arg"), g->at, g->run,
          g->values.len ? ac_sprintf(p->a, ", dst_value=%s", g->best) : "");
  ac_cb_end(b);
  store_results(g, DIRECT, g->at, g->best, "row", g->many);
  ac_cb_end(b);
}

static const char *const long_sizes[] = {"units", "axis", "tile", NULL};
static const char *const long_shared[] = {"units", "axis", "tile", "rows", "shares", NULL};

/* The lanes' bests joined: the first place among those that have the best of all. */
static void first_of_lanes(arg *g) {
  pl_ctx *p = g->c.p;
  ac_cbuild *b = &p->b;
  ac_cb_with(b, AC_STAGE_COMPUTE);
  ix_call(p, "tl.%s(%s, %s, count=lanes)", prim(g, "reduce_"), g->part, g->best);
  pl_let(p, "most", "tl.extract_scalar(%s, 0)", g->part);
  if (floats(g)) {
    ac_cb_if(b, ac_ce_parse(b, "most == most"));
    ix_call(p, "tl.vcompare_scalar(%s, %s, most, \"eq\", count=lanes)", g->kept, g->best);
    ac_cb_else(b);
    ac_cb_comment(b, "a NaN differs from itself");
    ix_call(p, "tl.vcompare(%s, %s, %s, \"ne\", count=lanes)", g->kept, g->best, g->best);
    ac_cb_end(b);
  } else
    ix_call(p, "tl.vcompare_scalar(%s, %s, most, \"eq\", count=lanes)", g->kept, g->best);
  ix_call(p, "tl.vadd(%s, %s, %s, count=lanes)", g->place, g->place, g->number);
  ix_call(p, "tl.vselect_scalar(%s, %s, %s, 2147483647, count=lanes)", g->place, g->kept, g->place);
  ix_call(p, "tl.reduce_min(%s, %s, count=lanes)", g->at, g->place);
  ac_cb_end(b);
}

static void long_kernel(arg *g, form f) {
  pl_ctx *p = g->c.p;
  ac_cbuild *b = &p->b;
  if (f == DIRECT)
    start(g, "long", "A row at a time, tile after tile; each lane has the best that it has seen, and its tile.");
  else
    start(g, "long_shared", "As _long, but several cores share a row: unit u is part u % shares of row u // shares.");
  params(g, true, f, f == DIRECT ? long_sizes : long_shared);
  own_range(g, "units", 1);
  tile_buffers(g, "tile");
  pl_alloc(p, g->best, "tile", g->acc, false);
  pl_alloc(p, g->place, "tile", AC_I32, false);
  pl_alloc(p, g->number, "tile", AC_I32, false);
  pl_alloc(p, g->kept, "tile", AC_MASK, false);
  if (floats(g)) pl_alloc(p, g->nan, "tile", AC_MASK, false);
  pl_alloc(p, g->part, "8", g->acc, false);
  pl_alloc(p, g->at, "8", AC_I32, false);
  result_buffers(g, f, "8");
  ix_stage(p, AC_STAGE_COMPUTE, "tl.iota(%s, 0)", g->number);
  ac_cb_for(b, "unit", ac_ce_name(b, "first"), ac_ce_name(b, "last"), NULL);
  const char *row = "unit", *to = "unit";
  if (f == SHARED) {
    pl_let(p, "row", "unit // shares");
    pl_let(p, "share", "unit %% shares");
    pl_let(p, "lo", "tl.split(axis, shares, share, 64)");
    pl_let(p, "hi", "tl.split(axis, shares, share + 1, 64)");
    row = "row";
    to = "share * rows + row";
  } else {
    pl_let(p, "lo", "0");
    pl_let(p, "hi", "axis");
  }
  pl_let(p, "lanes", "min(tile, hi - lo)");
  restart(g, "lo", "lanes");
  ac_cb_for(b, "i", ac_ce_name(b, "lo"), ac_ce_name(b, "hi"), ac_ce_name(b, "tile"));
  pl_let(p, "count", "min(tile, hi - i)");
  pl_let(p, "offs", "%s * axis + i + tl.arange(0, count)", row);
  load_tile(g);
  ac_cb_with(b, AC_STAGE_COMPUTE);
  vir_compute(&g->c.v, "count", false);
  compare(g, g->run, "i", "count");
  ac_cb_end(b);
  ac_cb_end(b);
  first_of_lanes(g);
  store_results(g, f, g->at, g->part, to, "1");
  ac_cb_end(b);
}

static const char *const inner_sizes[] = {"units", "axis", "inner", "parts", "width", "tile", NULL};
static const char *const inner_shared[] = {"units", "axis", "inner", "parts", "width", "tile", "n", "shares", NULL};

static void inner_kernel(arg *g, form f) {
  pl_ctx *p = g->c.p;
  ac_cbuild *b = &p->b;
  if (f == DIRECT)
    start(g, "inner", "A unit is `width` neighbouring inner positions, side by side as lanes.");
  else
    start(g, "inner_shared", "As _inner, with `shares` units side by side along the axis.");
  params(g, true, f, f == DIRECT ? inner_sizes : inner_shared);
  own_range(g, "units", 1);
  tile_buffers(g, ac_sprintf(p->a, "(%d, tile)", STEPS));
  lane_buffers(g, "tile");
  result_buffers(g, f, "tile");
  ac_cb_for(b, "unit", ac_ce_name(b, "first"), ac_ce_name(b, "last"), NULL);
  const char *unit = f == SHARED ? "unit // shares" : "unit";
  pl_let(p, "o", "%s // parts", unit);
  pl_let(p, "lane", "%s %% parts * width", unit);
  pl_let(p, "w", "min(width, inner - lane)");
  if (f == SHARED) {
    pl_let(p, "lo", "tl.split(axis, shares, unit %% shares)");
    pl_let(p, "hi", "tl.split(axis, shares, unit %% shares + 1)");
  }
  restart(g, f == SHARED ? "lo" : "0", "w");
  ac_cb_for(b, "i", f == SHARED ? ac_ce_name(b, "lo") : ac_ce_int(b, 0), ac_ce_name(b, f == SHARED ? "hi" : "axis"),
            ac_ce_int(b, STEPS));
  pl_let(p, g->many, "min(%d, %s - i)", STEPS, f == SHARED ? "hi" : "axis");
  pl_let(p, g->base, "(o * axis + i) * inner + lane");
  pl_let(p, "offs", "%s + tl.arange(0, %s)[:, None] * inner + tl.arange(0, w)[None, :]", g->base, g->many);
  load_tile(g);
  ac_cb_with(b, AC_STAGE_COMPUTE);
  vir_compute(&g->c.v, NULL, false);
  ix_call(p, "tl.%s(%s, %s, dst_value=%s, axis=0)", prim(g, "arg"), g->at, g->run, g->part);
  ix_call(p, "tl.vadd_scalar(%s, %s, i, count=w)", g->at, g->at);
  compare(g, g->part, g->at, "w");
  ac_cb_end(b);
  ac_cb_end(b);
  store_results(g, f, g->place, g->best, f == SHARED ? "unit % shares * n + o * inner + lane" : "o * inner + lane",
                "w");
  ac_cb_end(b);
}

static const char *const join_sizes[] = {"n", "shares", "tile", NULL};

static void join_kernel(arg *g) {
  pl_ctx *p = g->c.p;
  ac_cbuild *b = &p->b;
  start(g, "join", "The best of what the cores have found, and its place.");
  params(g, false, DIRECT, join_sizes);
  own_range(g, "n", 64);
  lane_buffers(g, "tile");
  result_buffers(g, DIRECT, "tile");
  ac_cb_for(b, "i", ac_ce_name(b, "first"), ac_ce_name(b, "last"), ac_ce_name(b, "tile"));
  pl_let(p, "w", "min(tile, last - i)");
  restart(g, "0", "w");
  ac_cb_comment(b, "in the order of the axis: of equal ones the first stays");
  ac_cb_for(b, "s", ac_ce_int(b, 0), ac_ce_name(b, "shares"), NULL);
  ac_cb_with(b, AC_STAGE_COPYIN);
  ix_call(p, "tl.load(all_values_ptr + s * n + i + tl.arange(0, w), %s)", g->part);
  ix_call(p, "tl.load(all_places_ptr + s * n + i + tl.arange(0, w), %s)", g->at);
  ac_cb_end(b);
  ac_cb_with(b, AC_STAGE_COMPUTE);
  compare(g, g->part, g->at, "w");
  ac_cb_end(b);
  ac_cb_end(b);
  store_results(g, DIRECT, g->place, g->best, "i", "w");
  ac_cb_end(b);
}

/* ---- the host function ---- */

static const char *size_of(arg *g, int cls) {
  for (int q = 0; q < g->c.n_groups; q++)
    if (g->c.groups[q].cls == cls) return g->c.groups[q].size;
  return "1";
}

static bool has_class(const arg *g, int cls) {
  for (int q = 0; q < g->c.n_groups; q++)
    if (g->c.groups[q].cls == cls) return true;
  return false;
}

static int64_t room(const arg *g) {
  return pl_ub_budget(g->c.p) - SCRATCH - vir_scratch(&g->c.v) - 4096;
}

static const int64_t steps[] = {128, 1024, 4096}; /* longest rows of a branch */

static int64_t rows_for(const arg *g, int64_t cols) {
  double row = 4 + 16 + 2 * ac_dtypes[g->acc].bytes + 2 * ac_dtypes[g->out].bytes;
  int64_t n = (int64_t)((double)room(g) / ((double)cols * g->tile_bytes + row));
  return n > 512 ? 512 : n >= 16 ? n / 16 * 16 : n;
}

static int64_t long_tile(const arg *g) {
  return (int64_t)((double)room(g) / (g->tile_bytes + ac_dtypes[g->acc].bytes + 8.5)) / 256 * 256;
}

static int64_t inner_tile(const arg *g) {
  return (int64_t)((double)room(g) / (STEPS * g->tile_bytes + lane_bytes(g, DIRECT))) / 64 * 64;
}

static void workspace(arg *g, const char *n) {
  pl_ctx *p = g->c.p;
  pl_let(p, "places_found", "tl.empty(%s * shares, tl.int32)", n);
  pl_let(p, "values_found", "tl.empty(%s * shares, tl.%s)", n, ac_dtypes[g->acc].name);
}

static void launch_join(arg *g, const char *n) {
  pl_ctx *p = g->c.p;
  int64_t lanes = room(g) / lane_bytes(g, DIRECT) / 64 * 64;
  const char *tile = ac_sprintf(p->a, "%lld", (long long)lanes);
  const char *const sizes[] = {n, "shares", tile, NULL};
  launch(g, "join", ac_sprintf(p->a, "min(tl.num_cores(), max(1, tl.cdiv(%s, 64)))", n), false, DIRECT, sizes);
}

static void host_rows(arg *g) {
  pl_ctx *p = g->c.p;
  ac_cbuild *b = &p->b;
  int align = 32 / ac_dtypes[g->acc].bytes, open = 0;
  for (int k = 0; k < g->c.n_leaves; k++)
    if (32 / ac_dtypes[g->c.leaves[k].v->dtype].bytes > align) align = 32 / ac_dtypes[g->c.leaves[k].v->dtype].bytes;
  pl_note(p,
          "Short rows: several at a time, whole rows a core, eight or more, so that the cores' results do not mix. "
          "Longer ones tile after tile; with less than a row a core, cores share them.");
  for (size_t i = 0; i < AC_COUNT(steps); i++) {
    int64_t n = rows_for(g, steps[i]);
    if (n < FEW) continue;
    ac_cexpr *cond =
        ac_ce_parse(b, i && i + 1 == AC_COUNT(steps) ? "axis <= %lld and rows >= tl.num_cores()" : "axis <= %lld",
                    (long long)steps[i]);
    if (open++)
      ac_cb_elif(b, cond);
    else
      ac_cb_if(b, cond);
    const char *const sizes[] = {"rows", "axis", ac_sprintf(p->a, "%lld", (long long)n),
                                 ac_sprintf(p->a, "tl.align_up(axis, %d)", align), NULL};
    launch(g, "rows", "min(tl.num_cores(), max(1, tl.cdiv(rows, 8)))", true, DIRECT, sizes);
  }
  ac_cexpr *cond = ac_ce_parse(b, "rows * 2 > tl.num_cores()");
  if (open)
    ac_cb_elif(b, cond);
  else
    ac_cb_if(b, cond);
  const char *tile = ac_sprintf(p->a, "%lld", (long long)long_tile(g));
  const char *const alone[] = {"rows", "axis", tile, NULL};
  launch(g, "long", "min(tl.num_cores(), rows)", true, DIRECT, alone);
  ac_cb_else(b);
  pl_let(p, "shares", "max(1, min(tl.num_cores() // max(1, rows), tl.cdiv(axis, 64)))");
  workspace(g, "rows");
  pl_let(p, "units", "rows * shares");
  const char *const shared[] = {"units", "axis", tile, "rows", "shares", NULL};
  launch(g, "long_shared", "min(tl.num_cores(), max(1, units))", true, SHARED, shared);
  launch_join(g, "rows");
  ac_cb_end(b);
}

static void host_inner(arg *g) {
  pl_ctx *p = g->c.p;
  ac_cbuild *b = &p->b;
  int64_t tile = inner_tile(g);
  const char *t = ac_sprintf(p->a, "%lld", (long long)tile);
  pl_note(
      p,
      "Core partitioning: outer positions times parts of the inner dimensions, of %d lanes at least, so that a step "
      "along the axis pays for its instructions; cores that are left share the axis. Tiling: %d steps of up to %lld "
      "lanes.",
      NARROW, STEPS, (long long)tile);
  pl_let(p, "n", "outer * inner");
  pl_let(p, "wanted", "tl.cdiv(tl.num_cores(), max(1, outer))");
  pl_let(p, "width", "min(%s, max(%d, tl.align_up(tl.cdiv(inner, wanted), 64)))", t, NARROW);
  pl_let(p, "parts", "max(1, tl.cdiv(inner, width))");
  pl_let(p, "units", "min(outer, n) * parts");
  pl_let(p, "shares", "min(tl.num_cores() // max(1, units), axis // %d)", 2 * STEPS);
  ac_cb_if(b, ac_ce_parse(b, "shares < 2"));
  const char *const alone[] = {"units", "axis", "inner", "parts", "width", t, NULL};
  launch(g, "inner", "min(tl.num_cores(), max(1, units))", true, DIRECT, alone);
  ac_cb_else(b);
  workspace(g, "n");
  const char *const shared[] = {"units * shares", "axis", "inner", "parts", "width", t, "n", "shares", NULL};
  launch(g, "inner_shared", "min(tl.num_cores(), max(1, units * shares))", true, SHARED, shared);
  launch_join(g, "n");
  ac_cb_end(b);
}

static void host(pl_ctx *p, void *self) {
  arg *g = self;
  for (size_t i = 0; i < g->places.len; i++) pl_declare(p, g->places.data[i]);
  for (size_t i = 0; i < g->values.len; i++) pl_declare(p, g->values.data[i]);
  pl_rank_guards(p, g->x);
  bool inner = has_class(g, 2);
  static const char *const names[] = {"rows", "axis", "inner"};
  for (int q = 0; q < g->c.n_groups; q++)
    g->c.groups[q].name = inner && !g->c.groups[q].cls ? "outer" : names[g->c.groups[q].cls];
  ac_cb_comment(&p->b, inner ? "The tensor is outer x axis x inner." : "The tensor is rows x axis.");
  pl_let(p, inner ? "outer" : "rows", "%s", size_of(g, 0));
  pl_let(p, "axis", "%s", size_of(g, 1));
  if (inner) pl_let(p, "inner", "%s", size_of(g, 2));
  chain_checks(&g->c);
  pl_refuse_if(p, "axis > 2147418112", "places along more than 2^31 - 2^16 elements");
  if (inner)
    host_inner(g);
  else
    host_rows(g);
}

/* ---- planning ---- */

static bool collect(arg *g, pv *x) {
  g->c = chain_over(g->c.p, g->x);
  bool after = false;
  for (int i = 0; i < g->x->rank; i++) {
    g->c.cls[i] = g->dims[i] ? 1 : after ? 2 : 0;
    after |= g->dims[i];
  }
  if (!chain_collect(&g->c, g->x)) return false;
  chain_groups(&g->c);
  if (!chain_eval(&g->c, g->x, x)) return false;
  bool leaf = x->kind == PV_VEC && g->c.v.regs.data[x->reg].leaf >= 0;
  if (leaf) return true;
  if (ac_dtypes[g->out].cls == AC_FLOATING) *x = pv_vec(&g->c.v, pv_to_f32(&g->c.v, *x), AC_F32);
  return true;
}

/* Several dimensions of one class are one only when they merge. */
static bool merged(const arg *g) {
  for (int q = 1; q < g->c.n_groups; q++)
    if (g->c.groups[q].cls == g->c.groups[q - 1].cls) return false;
  return true;
}

static void name_all(arg *g, pv x) {
  pl_ctx *p = g->c.p;
  pl_names *names = g->c.names;
  const char *wishes[PL_MAX_LEAVES];
  for (int k = 0; k < g->c.n_leaves; k++) wishes[k] = p->tensors.data[g->c.leaves[k].tensor].name;
  bool leaf = g->c.v.regs.data[x.reg].leaf >= 0;
  g->acc = g->c.v.regs.data[x.reg].dtype;
  static const char *const taken[] = {"rows",
                                      "axis",
                                      "inner",
                                      "units",
                                      "shares",
                                      "parts",
                                      "width",
                                      "tile",
                                      "n",
                                      "row",
                                      "unit",
                                      "share",
                                      "lo",
                                      "hi",
                                      "most",
                                      "lanes",
                                      "i",
                                      "s",
                                      "o",
                                      "lane",
                                      "w",
                                      "count",
                                      "offs",
                                      "pid",
                                      "first",
                                      "last",
                                      "outer",
                                      "tile_rows",
                                      "tile_cols",
                                      "all_places_ptr",
                                      "all_values_ptr"};
  for (size_t i = 0; i < AC_COUNT(taken); i++) (void)pl_name(names, taken[i]);
  for (size_t i = 0; i < g->places.len; i++) (void)pl_name(names, tensor_ptr(g, g->places.data[i]));
  for (size_t i = 0; i < g->values.len; i++) (void)pl_name(names, tensor_ptr(g, g->values.data[i]));
  g->run = leaf ? NULL : pl_name(names, "run");
  if (!leaf) vir_settle(&g->c.v, x.reg, g->run);
  vir_assign(&g->c.v, wishes, NULL, names);
  if (leaf) g->run = g->c.v.bufs.data[g->c.v.regs.data[x.reg].buf].name;
  for (size_t i = 0; i < g->c.v.bufs.len; i++) {
    const vir_buf *b = &g->c.v.bufs.data[i];
    g->tile_bytes += ac_dtypes[b->dtype].bytes * (b->loaded ? 2 : 1);
    if (b->owner_leaf < 0) continue;
    g->c.leaves[b->owner_leaf].buf = b->name;
    g->c.leaves[b->owner_leaf].ptr = pl_name(names, ac_sprintf(p->a, "%s_ptr", wishes[b->owner_leaf]));
  }
  const char **const own[] = {&g->at,   &g->place, &g->wide, &g->best, &g->part,  &g->value,
                              &g->kept, &g->nan,   &g->many, &g->base, &g->number};
  static const char *const wish[] = {"at",   "place", "place_wide", "best", "best_here", "value",
                                     "kept", "nan",   "lines",      "base", "numbers"};
  for (size_t i = 0; i < AC_COUNT(own); i++) *own[i] = pl_name(names, wish[i]);
}

static bool dtypes(arg *g, const char *id) {
  ac_dtype d = g->x->dtype;
  g->out = d;
  if (d != AC_F64 && d != AC_BOOL) return true;
  return pl_refuse(g->c.p, g->n->loc, id, "its operand is %s; covered are float32, float16, bfloat16 and integers",
                   ac_dtypes[d].name);
}

/* The dimensions that are searched; false where they are not known. */
static bool searched(const ac_node *n, const ac_value *x, bool dims[AC_MAX_RANK]) {
  const ac_arg *dim = pl_arg(n, "dim");
  int64_t d;
  if (!dim->absent && dim->kind == AC_K_INT && (!dim->i || !ac_sym_is_const(dim->i, &d))) return false;
  for (int i = 0; i < dim->n && !dim->absent && dim->kind == AC_K_INTS; i++)
    if (!ac_sym_is_const(dim->is[i], &d)) return false;
  ac_arg_dims(dim, x->rank, dims);
  return true;
}

/* max(x, dim) is amax and argmax of one tensor. */
static bool adopts(const pl_ctx *p, const ac_node *n, const ac_node *other) {
  (void)p;
  if (!takes(n) || other->op != (n->op == AC_G_ARGMAX ? AC_G_AMAX : AC_G_AMIN)) return false;
  const ac_value *x = pl_arg(n, "input")->t;
  bool a[AC_MAX_RANK] = {false}, b[AC_MAX_RANK] = {false};
  if (pl_arg(other, "input")->t != x || !searched(n, x, a) || !searched(other, x, b)) return false;
  return !memcmp(a, b, sizeof a);
}

static bool plan(pl_ctx *p, const ac_node *n, const int *outs, int n_outs) {
  arg *g = AC_NEW(p->a, arg);
  g->c.p = p;
  for (int i = 0; i < n_outs; i++) {
    const ac_node *def = p->tensors.data[outs[i]].v->def;
    if (takes(def)) g->n = def;
  }
  if (!g->n) g->n = n;
  g->x = pl_arg(g->n, "input")->t;
  g->largest = g->n->op == AC_G_ARGMAX;
  const char *id = ac_op_info(g->n->op)->id;
  for (int i = 0; i < n_outs; i++) {
    int t = outs[i];
    if (takes(p->tensors.data[t].v->def))
      ac_push(p->a, &g->places, t);
    else
      ac_push(p->a, &g->values, t);
  }
  if (!searched(g->n, g->x, g->dims)) return pl_refuse(p, g->n->loc, id, "dim must be a constant");
  if (!dtypes(g, id)) return false;
  pv x;
  if (!collect(g, &x)) return false;
  if ((!chain_plain(&g->c) || !merged(g) || x.kind != PV_VEC) && !(pl_need(p, g->x) && collect(g, &x))) return false;
  chain_sizes(&g->c, &p->names);
  name_all(g, x);
  if (long_tile(g) < 256 || inner_tile(g) < 64)
    return pl_refuse(p, g->n->loc, id, "what is computed before it does not fit UB in one stage; %g bytes an element",
                     g->tile_bytes);
  g->kernel = pl_stage_name(p, outs[0]);
  if (has_class(g, 2)) {
    inner_kernel(g, DIRECT);
    inner_kernel(g, SHARED);
  } else {
    if (rows_for(g, steps[0]) >= FEW) rows_kernel(g);
    long_kernel(g, DIRECT);
    long_kernel(g, SHARED);
  }
  join_kernel(g);
  pl_stage_host(p, ac_sprintf(p->a, "%s%s.", id, g->values.len ? " and the values" : ""), host, g);
  return true;
}

const pl_class pl_arg_class = {.name = "arg", .takes = takes, .adopts = adopts, .plan = plan};

/* Schedule: running sums, products, maxima and minima along one axis, with element-wise operations before them.
 *
 * The host function sees the tensor as outer x axis x inner and picks one of three forms:
 *   rows   inner == 1, many or short rows: up to 64 rows side by side, in tiles along the axis; each row's total is carried into the next
 *          tile
 *   long   inner == 1, few long rows: a tile is 64 neighbouring pieces of one row, scanned side by side; a scan of their totals says where
 *          each begins. Several cores share a row: before, each of them adds up its part (kernel `totals`)
 *   inner  the axis is not the last: lanes are inner positions, so a scan is one operation of whole vectors a step
 * A scan between two flips of its axis runs from the back; a scan of (identity, x without its last) along the axis is the exclusive one
 * of x. Neither moves anything.
 *
 * Floats run in float32 and are rounded once, at the end. Sums begin anew in each tile; what the tiles before have come to, the carry, is
 * compensated (Kahan, Further remarks on reducing truncation errors, 1965), so errors do not grow with the number of tiles.
 */
#include "plan/gather.h"

#include <math.h>
#include <string.h>

enum { LANES = 64, STEPS = 16 }; /* rows side by side; steps along an axis that is not the last */

typedef struct {
  ac_op op;
  const char *scan, *reduce, *join; /* primitives */
  double identity;
} kind;

static const kind kinds[] = {{AC_G_CUMSUM, "cumsum", "reduce_sum", "vadd", 0},
                             {AC_G_CUMPROD, "cumprod", "reduce_prod", "vmul", 1},
                             {AC_G_CUMMAX, "cummax", "reduce_max", "vmax", -INFINITY},
                             {AC_G_CUMMIN, "cummin", "reduce_min", "vmin", INFINITY}};

static const kind *kind_of(ac_op op) {
  for (size_t i = 0; i < AC_COUNT(kinds); i++)
    if (kinds[i].op == op) return &kinds[i];
  return NULL;
}

typedef struct {
  pl_chain c;
  const kind *k;
  const ac_node *n;  /* the scan itself */
  const ac_value *x; /* what is scanned */
  int axis;
  bool reverse, exclusive;
  ac_dtype acc, out;
  int tensor;         /* the output */
  const char *kernel; /* what the kernels' names begin with */
  const char *run;    /* buffer that is scanned, in place */
  const char *y, *y_ptr, *spread, *carry, *part, *many, *wide, *from;
  const char *lost, *next, *whole; /* of compensated sums */
  const char *starts, *line_sums, *found, *totals_ptr;
  int64_t row_tile, inner_tile;
} scan;

/* ---- what is meant ---- */

static bool const_dim(const ac_node *n, const char *name, int rank, int *dim) {
  const ac_arg *a = ac_node_arg(n, name);
  int64_t d;
  if (!a || a->absent) return false;
  const ac_sym *s = a->kind == AC_K_INT ? a->i : a->n == 1 ? a->is[0] : NULL;
  if (!s || !ac_sym_is_const(s, &d)) return false;
  *dim = rank ? ac_dim_index(d, rank) : 0;
  return true;
}

/* flip(scan(flip(x))) along one axis: the scan; else NULL. */
static const ac_node *between_flips(const ac_node *n) {
  int outer, axis, inner;
  if (n->op != AC_G_FLIP || !n->n_args) return NULL;
  const ac_node *s = n->args[0].t->def, *f;
  if (!s || !kind_of(s->op) || n->args[0].t != s->outs[0]) return NULL;
  f = s->args[0].t->def;
  if (!f || f->op != AC_G_FLIP) return NULL;
  int rank = n->outs[0]->rank;
  bool same = const_dim(n, "dims", rank, &outer) && const_dim(s, "dim", rank, &axis) &&
              const_dim(f, "dims", rank, &inner) && outer == axis && axis == inner;
  return same ? s : NULL;
}

/* cat((identity, x[:-1])) along the axis: x; else NULL. */
static const ac_value *shifted(const pl_ctx *p, const ac_value *v, int axis, double identity) {
  const ac_node *n = v->def;
  int dim, along;
  int64_t number;
  double fill;
  if (!n || n->op != AC_G_CAT || !const_dim(n, "dim", v->rank, &dim) || dim != axis) return NULL;
  const ac_arg *parts = pl_arg(n, "tensors");
  if (parts->n != 2) return NULL;
  const ac_value *head = parts->ts[0];
  const ac_node *f = pl_stripped(head)->def, *s = parts->ts[1]->def;
  if (head->rank != v->rank || !pl_sym_is(p, head->shape[axis], 1)) return NULL;
  if (!f || f->op != AC_G_FULL || !pl_number(f, "fill_value", 0, &fill) || fill != identity) return NULL;
  if (!s || s->op != AC_G_SLICE || !const_dim(s, "dim", v->rank, &along) || along != axis) return NULL;
  const ac_arg *start = pl_arg(s, "start"), *step = pl_arg(s, "step");
  if (!start->absent && start->i && !(ac_sym_is_const(start->i, &number) && number == 0)) return NULL;
  if (!step->absent && step->i && !(ac_sym_is_const(step->i, &number) && number == 1)) return NULL;
  const ac_value *x = s->args[0].t; /* as long as the result: the slice leaves one out */
  bool fits = x->dtype == v->dtype &&
              pl_same_shape(p, x->rank, (const ac_sym *const *)x->shape, v->rank, (const ac_sym *const *)v->shape);
  return fits ? x : NULL;
}

static bool takes(const ac_node *n) {
  return kind_of(n->op) != NULL || between_flips(n) != NULL;
}

/* ---- the kernels' text ---- */

static const char *number(const scan *s, double d) {
  if (isinf(d)) return d < 0 ? "-float(\"inf\")" : "float(\"inf\")";
  return ac_sprintf(s->c.p->a, ac_dtypes[s->acc].cls == AC_FLOATING ? "%.1f" : "%.0f", d);
}

static bool compensated(const scan *s) {
  return s->k->op == AC_G_CUMSUM && s->acc == AC_F32;
}

typedef enum { NO_TOTALS, READS_TOTALS, ONLY_TOTALS } use;

static void params(scan *s, use totals, const char *const *sizes) {
  pl_ctx *p = s->c.p;
  for (int k = 0; k < s->c.n_leaves; k++)
    if (s->c.leaves[k].ptr) ac_cb_param(&p->b, s->c.leaves[k].ptr, pl_tensor_type(p, s->c.leaves[k].v->dtype));
  if (totals != NO_TOTALS) ac_cb_param(&p->b, s->totals_ptr, pl_tensor_type(p, s->acc));
  if (totals != ONLY_TOTALS) ac_cb_param(&p->b, s->y_ptr, pl_tensor_type(p, s->out));
  for (; *sizes; sizes++) ac_cb_param(&p->b, *sizes, NULL);
  for (size_t i = 0; i < s->c.scalars.len; i++) ac_cb_param(&p->b, s->c.scalars.data[i].name, NULL);
}

static void input_buffers(scan *s, const char *size) {
  for (size_t i = 0; i < s->c.v.bufs.len; i++) {
    const vir_buf *b = &s->c.v.bufs.data[i];
    pl_alloc(s->c.p, b->name, size, b->mask ? AC_MASK : b->dtype, false);
  }
}

/* What is carried from tile to tile: numbers of `size`. */
static void carry_buffers(scan *s, const char *size) {
  pl_ctx *p = s->c.p;
  pl_alloc(p, s->carry, size, s->acc, false);
  pl_alloc(p, s->part, size, s->acc, false);
  if (!compensated(s)) return;
  pl_alloc(p, s->lost, size, s->acc, false);
  pl_alloc(p, s->next, size, s->acc, false);
  pl_alloc(p, s->whole, size, AC_MASK, false);
}

static void buffers(scan *s, int lines, const char *carry) {
  pl_ctx *p = s->c.p;
  const char *size = ac_sprintf(p->a, "(%d, tile)", lines);
  input_buffers(s, size);
  if (strcmp(s->y, s->run)) pl_alloc(p, s->y, size, s->out, false);
  pl_alloc(p, s->spread, size, s->acc, false);
  carry_buffers(s, carry);
}

/* carry = carry joined with part, `count` of each. */
static void carry_on(scan *s, const char *count) {
  pl_ctx *p = s->c.p;
  if (!compensated(s)) {
    ix_call(p, "tl.%s(%s, %s, %s, count=%s)", s->k->join, s->carry, s->carry, s->part, count);
    return;
  }
  ac_cb_comment(&p->b, "what the last sum could not hold goes into this one; of an infinity, nothing");
  ix_call(p, "tl.vsub(%s, %s, %s, count=%s)", s->part, s->part, s->lost, count);
  ix_call(p, "tl.vadd(%s, %s, %s, count=%s)", s->next, s->carry, s->part, count);
  ix_call(p, "tl.vsub(%s, %s, %s, count=%s)", s->lost, s->next, s->carry, count);
  ix_call(p, "tl.vsub(%s, %s, %s, count=%s)", s->lost, s->lost, s->part, count);
  ix_call(p, "tl.vmul_scalar(%s, %s, 0.0, count=%s)", s->part, s->next, count);
  ix_call(p, "tl.vcompare_scalar(%s, %s, 0.0, \"eq\", count=%s)", s->whole, s->part, count);
  ix_call(p, "tl.vselect_scalar(%s, %s, %s, 0.0, count=%s)", s->lost, s->whole, s->lost, count);
  ix_call(p, "tl.vcopy(%s, %s, count=%s)", s->carry, s->next, count);
}

static void load_tile(scan *s) {
  pl_ctx *p = s->c.p;
  ac_cb_with(&p->b, AC_STAGE_COPYIN);
  for (int k = 0; k < s->c.n_leaves; k++)
    if (s->c.leaves[k].buf) pl_load(p, s->c.leaves[k].ptr, "offs", s->c.leaves[k].buf);
  ac_cb_end(&p->b);
}

/* `run` scanned along `axis`, joined to `spread`, and stored. */
static void scan_tile(scan *s, int axis) {
  pl_ctx *p = s->c.p;
  const char *run = s->run;
  ix_call(p, "tl.%s(%s, %s, axis=%d%s%s)", s->k->scan, run, run, axis, s->reverse ? ", reverse=True" : "",
          s->exclusive ? ", exclusive=True" : "");
  ix_call(p, "tl.%s(%s, %s, %s)", s->k->join, run, run, s->spread);
  if (strcmp(s->y, run)) ix_call(p, "tl.cast(%s, %s, mode=\"rint\")", s->y, run);
  ac_cb_end(&p->b);
  ac_cb_with(&p->b, AC_STAGE_COPYOUT);
  pl_store(p, s->y_ptr, "offs", s->y);
  ac_cb_end(&p->b);
}

/* Tile `offs` of `many` lines, `wide` elements each: loaded, computed, scanned along `axis`, joined to what came before, stored. */
static void tile(scan *s, int axis) {
  pl_ctx *p = s->c.p;
  load_tile(s);
  ac_cb_with(&p->b, AC_STAGE_COMPUTE);
  vir_compute(&s->c.v, NULL, false);
  ix_call(p, "tl.broadcast(%s[0:%s, 0:%s], %s, axis=%d)", s->spread, s->many, s->wide, s->carry, axis < 0 ? 1 : 0);
  ix_call(p, "tl.%s(%s, %s, axis=%d)", s->k->reduce, s->part, s->run, axis);
  carry_on(s, axis < 0 ? s->many : s->wide);
  scan_tile(s, axis);
}

/* `many` neighbouring pieces of one row, of `wide` elements, beginning at `from`. */
static void piece_offsets(scan *s, const char *at) {
  pl_ctx *p = s->c.p;
  if (s->reverse)
    pl_let(p, s->from, "row * axis + axis - %s - %s * %s", at, s->many, s->wide);
  else
    pl_let(p, s->from, "row * axis + %s", at);
  pl_let(p, "offs", "%s + tl.arange(0, %s)[:, None] * %s + tl.arange(0, %s)[None, :]", s->from, s->many, s->wide,
         s->wide);
}

/* The pieces as one tile: a scan of their totals says where each begins. */
static void long_tile(scan *s, const char *at) {
  pl_ctx *p = s->c.p;
  piece_offsets(s, at);
  load_tile(s);
  ac_cb_with(&p->b, AC_STAGE_COMPUTE);
  vir_compute(&s->c.v, NULL, false);
  ix_call(p, "tl.%s(%s, %s, axis=-1)", s->k->reduce, s->line_sums, s->run);
  ix_call(p, "tl.%s(%s, %s, exclusive=True%s, count=%s)", s->k->scan, s->starts, s->line_sums,
          s->reverse ? ", reverse=True" : "", s->many);
  ix_call(p, "tl.%s_scalar(%s, %s, tl.extract_scalar(%s, 0), count=%s)", s->k->join, s->starts, s->starts, s->carry,
          s->many);
  ix_call(p, "tl.broadcast(%s[0:%s, 0:%s], %s, axis=1)", s->spread, s->many, s->wide, s->starts);
  ix_call(p, "tl.%s(%s, %s, count=%s)", s->k->reduce, s->part, s->line_sums, s->many);
  carry_on(s, "1");
  scan_tile(s, -1);
}

/* The same of the totals alone. */
static void totals_tile(scan *s, const char *at) {
  pl_ctx *p = s->c.p;
  piece_offsets(s, at);
  load_tile(s);
  ac_cb_with(&p->b, AC_STAGE_COMPUTE);
  vir_compute(&s->c.v, NULL, false);
  ix_call(p, "tl.%s(%s, %s, axis=-1)", s->k->reduce, s->line_sums, s->run);
  ix_call(p, "tl.%s(%s, %s, count=%s)", s->k->reduce, s->part, s->line_sums, s->many);
  carry_on(s, "1");
  ac_cb_end(&p->b);
}

static void restart(scan *s, const char *count) {
  pl_ctx *p = s->c.p;
  ac_cb_with(&p->b, AC_STAGE_COMPUTE);
  ix_call(p, "tl.duplicate(%s, %s, count=%s)", s->carry, number(s, s->k->identity), count);
  if (compensated(s)) ix_call(p, "tl.duplicate(%s, 0.0, count=%s)", s->lost, count);
  ac_cb_end(&p->b);
}

static void rows_kernel(scan *s) {
  static const char *const sizes[] = {"outer", "axis", "tile", NULL};
  pl_ctx *p = s->c.p;
  ac_cbuild *b = &p->b;
  ac_cfunc *f = ac_cb_func(b, ac_sprintf(p->a, "%s_rows_kernel", s->kernel), true);
  f->doc = "Rows side by side, tile after tile along them; what a row has come to is carried into its next tile.";
  params(s, NO_TOTALS, sizes);
  pl_let(p, "pid", "tl.program_id(0)");
  ac_cb_comment(b, "whole 64-byte lines of a column of rows: no two cores write into one");
  pl_let(p, "first", "tl.split(outer, tl.num_programs(0), pid, 32)");
  pl_let(p, "last", "tl.split(outer, tl.num_programs(0), pid + 1, 32)");
  buffers(s, LANES, ac_sprintf(p->a, "%d", LANES));
  ac_cb_for(b, "row", ac_ce_name(b, "first"), ac_ce_name(b, "last"), ac_ce_int(b, LANES));
  pl_let(p, s->many, "min(%d, last - row)", LANES);
  restart(s, s->many);
  ac_cb_for(b, "i", ac_ce_int(b, 0), ac_ce_name(b, "axis"), ac_ce_name(b, "tile"));
  pl_let(p, s->wide, "min(tile, axis - i)");
  if (s->reverse) ac_cb_comment(b, "from the back");
  pl_let(p, s->from, s->reverse ? "row * axis + axis - i - %s" : "row * axis + i", s->wide);
  pl_let(p, "offs", "%s + tl.arange(0, %s)[:, None] * axis + tl.arange(0, %s)[None, :]", s->from, s->many, s->wide);
  tile(s, -1);
  ac_cb_end(b);
  ac_cb_end(b);
}

/* Unit u is part u % shares of row u // shares; parts are whole lines of the tile, but for the row's last. */
static void parts_of_rows(scan *s) {
  pl_ctx *p = s->c.p;
  pl_let(p, "pid", "tl.program_id(0)");
  pl_let(p, "first", "tl.split(units, tl.num_programs(0), pid, 1)");
  pl_let(p, "last", "tl.split(units, tl.num_programs(0), pid + 1, 1)");
}

/* For each unit its pieces, as many at a time as fit; what is less than a piece at the end. */
static void over_pieces(scan *s, void (*body)(scan *, const char *at)) {
  pl_ctx *p = s->c.p;
  ac_cbuild *b = &p->b;
  pl_let(p, "lo", "tl.split(axis, shares, share, tile)");
  pl_let(p, "hi", "tl.split(axis, shares, share + 1, tile)");
  pl_let(p, "even", "hi - (hi - lo) %% tile");
  ac_cb_for(b, "i", ac_ce_name(b, "lo"), ac_ce_name(b, "even"), ac_ce_parse(b, "%d * tile", LANES));
  pl_let(p, s->many, "min(%d, (even - i) // tile)", LANES);
  pl_let(p, s->wide, "tile");
  body(s, "i");
  ac_cb_end(b);
  ac_cb_comment(b, "the row's end, less than a piece");
  ac_cb_for(b, "i", ac_ce_name(b, "even"), ac_ce_name(b, "hi"), ac_ce_name(b, "tile"));
  pl_let(p, s->many, "1");
  pl_let(p, s->wide, "min(tile, hi - i)");
  body(s, "i");
  ac_cb_end(b);
}

static const char *const long_sizes[] = {"units", "axis", "shares", "tile", NULL};

static void totals_kernel(scan *s) {
  pl_ctx *p = s->c.p;
  ac_cbuild *b = &p->b;
  ac_cfunc *f = ac_cb_func(b, ac_sprintf(p->a, "%s_totals_kernel", s->kernel), true);
  f->doc = "What each unit, part u % shares of row u // shares, comes to.";
  params(s, ONLY_TOTALS, long_sizes);
  parts_of_rows(s);
  input_buffers(s, ac_sprintf(p->a, "(%d, tile)", LANES));
  carry_buffers(s, "8");
  pl_alloc(p, s->line_sums, ac_sprintf(p->a, "%d", LANES), s->acc, false);
  ac_cb_for(b, "unit", ac_ce_name(b, "first"), ac_ce_name(b, "last"), NULL);
  pl_let(p, "row", "unit // shares");
  pl_let(p, "share", "unit %% shares");
  restart(s, "1");
  over_pieces(s, totals_tile);
  ac_cb_with(b, AC_STAGE_COPYOUT);
  ix_call(p, "tl.store(%s + unit + tl.arange(0, 1), %s, count=1)", s->totals_ptr, s->carry);
  ac_cb_end(b);
  ac_cb_end(b);
}

static void long_kernel(scan *s) {
  pl_ctx *p = s->c.p;
  ac_cbuild *b = &p->b;
  ac_cfunc *f = ac_cb_func(b, ac_sprintf(p->a, "%s_long_kernel", s->kernel), true);
  f->doc =
      ac_sprintf(p->a,
                 "Unit u is part u %% shares of row u // shares; a tile is %d neighbouring pieces of it, scanned "
                 "side by side.",
                 LANES);
  params(s, READS_TOTALS, long_sizes);
  parts_of_rows(s);
  const char *lanes = ac_sprintf(p->a, "%d", LANES);
  buffers(s, LANES, "8");
  pl_alloc(p, s->line_sums, lanes, s->acc, false);
  pl_alloc(p, s->starts, lanes, s->acc, false);
  pl_alloc(p, s->found, lanes, s->acc, false);
  ac_cb_for(b, "unit", ac_ce_name(b, "first"), ac_ce_name(b, "last"), NULL);
  pl_let(p, "row", "unit // shares");
  pl_let(p, "share", "unit %% shares");
  restart(s, "1");
  ac_cb_if(b, ac_ce_parse(b, "share > 0"));
  ac_cb_comment(b, "what the row has come to before this part");
  ac_cb_with(b, AC_STAGE_COPYIN);
  ix_call(p, "tl.load(%s + row * shares + tl.arange(0, share), %s)", s->totals_ptr, s->found);
  ac_cb_end(b);
  ac_cb_with(b, AC_STAGE_COMPUTE);
  ix_call(p, "tl.%s(%s, %s, count=share)", s->k->reduce, s->carry, s->found);
  ac_cb_end(b);
  ac_cb_end(b);
  over_pieces(s, long_tile);
  ac_cb_end(b);
}

static void inner_kernel(scan *s) {
  static const char *const sizes[] = {"units", "axis", "inner", "parts", "width", "tile", NULL};
  pl_ctx *p = s->c.p;
  ac_cbuild *b = &p->b;
  ac_cfunc *f = ac_cb_func(b, ac_sprintf(p->a, "%s_inner_kernel", s->kernel), true);
  f->doc = "A unit is `width` neighbouring inner positions, whose scans run side by side as lanes.";
  params(s, NO_TOTALS, sizes);
  pl_let(p, "pid", "tl.program_id(0)");
  pl_let(p, "first", "tl.split(units, tl.num_programs(0), pid, 1)");
  pl_let(p, "last", "tl.split(units, tl.num_programs(0), pid + 1, 1)");
  buffers(s, STEPS, "tile");
  ac_cb_for(b, "unit", ac_ce_name(b, "first"), ac_ce_name(b, "last"), NULL);
  pl_let(p, "lane", "unit %% parts * width");
  ac_cb_comment(b, "the last unit of an outer position is narrower");
  pl_let(p, s->wide, "min(width, inner - lane)");
  restart(s, s->wide);
  ac_cb_for(b, "i", ac_ce_int(b, 0), ac_ce_name(b, "axis"), ac_ce_int(b, STEPS));
  pl_let(p, s->many, "min(%d, axis - i)", STEPS);
  if (s->reverse) ac_cb_comment(b, "from the back");
  pl_let(p, s->from,
         s->reverse ? "(unit // parts * axis + axis - i - %s) * inner + lane"
                    : "(unit // parts * axis + i) * inner + lane",
         s->many);
  pl_let(p, "offs", "%s + tl.arange(0, %s)[:, None] * inner + tl.arange(0, %s)[None, :]", s->from, s->many, s->wide);
  tile(s, 0);
  ac_cb_end(b);
  ac_cb_end(b);
}

/* ---- the host function ---- */

static const char *size_of(scan *s, int cls, const char *name) {
  pl_chain *c = &s->c;
  for (int q = 0; q < c->n_groups; q++)
    if (c->groups[q].cls == cls) {
      c->groups[q].name = name;
      return c->groups[q].size;
    }
  return "1";
}

/* Are there dimensions behind the axis that are not 1? */
static bool has_inner(const scan *s) {
  for (int q = 0; q < s->c.n_groups; q++)
    if (s->c.groups[q].cls == 2) return true;
  return false;
}

static void launch(scan *s, const char *suffix, use totals, const char *cores, const char *const *sizes) {
  pl_ctx *p = s->c.p;
  ix_args args = {0};
  for (int k = 0; k < s->c.n_leaves; k++)
    if (s->c.leaves[k].ptr) ix_arg(p, &args, p->tensors.data[s->c.leaves[k].tensor].name);
  if (totals != NO_TOTALS) ix_arg(p, &args, "totals");
  if (totals != ONLY_TOTALS) ix_arg(p, &args, p->tensors.data[s->tensor].name);
  for (; *sizes; sizes++) ix_arg(p, &args, *sizes);
  for (size_t i = 0; i < s->c.scalars.len; i++) ix_arg(p, &args, s->c.scalars.data[i].host);
  ac_cb_launch(&p->b, ac_sprintf(p->a, "%s_%s_kernel", s->kernel, suffix), ac_ce_parse(&p->b, "%s", cores),
               (int)args.len, args.data);
}

static void host_rows(scan *s) {
  static const char *const sizes[] = {"outer", "axis", "tile", NULL};
  pl_ctx *p = s->c.p;
  ac_cbuild *b = &p->b;
  pl_let(p, "tile", "%lld", (long long)s->row_tile);
  pl_note(p, "Tiling: %d lines of %lld elements fit UB. Many rows, or short ones: a line is a row's.", LANES,
          (long long)s->row_tile);
  ac_cb_if(b, ac_ce_parse(b, "axis <= 4 * tile or outer >= 32 * tl.num_cores()"));
  ac_cb_comment(b, "whole rows, in multiples of 32, so that two cores never write into one 64-byte line");
  launch(s, "rows", NO_TOTALS, "min(tl.num_cores(), max(1, tl.cdiv(outer, 32)))", sizes);
  ac_cb_else(b);
  pl_note(p, "Core partitioning: few long rows, parts of which go to all cores, of a tile at least. With some rows a "
             "core, four parts a core are even enough.");
  pl_let(p, "even",
         "tl.num_cores() // max(1, outer) if outer * 8 <= tl.num_cores() else tl.cdiv(4 * tl.num_cores(), outer)");
  pl_let(p, "shares", "min(%d, max(1, even), tl.cdiv(axis, %d * tile))", LANES, LANES);
  pl_let(p, "units", "outer * shares");
  pl_let(p, "totals", "tl.empty(units, tl.%s)", ac_dtypes[s->acc].name);
  ac_cb_if(b, ac_ce_parse(b, "shares > 1"));
  launch(s, "totals", ONLY_TOTALS, "min(tl.num_cores(), max(1, units))", long_sizes);
  ac_cb_end(b);
  launch(s, "long", READS_TOTALS, "min(tl.num_cores(), max(1, units))", long_sizes);
  ac_cb_end(b);
}

static void host_inner(scan *s) {
  static const char *const sizes[] = {"units", "axis", "inner", "parts", "width", "tile", NULL};
  pl_ctx *p = s->c.p;
  int line = 64 / ac_dtypes[s->out].bytes;
  pl_note(
      p,
      "Core partitioning: outer positions times parts of the inner dimensions; with few outer positions the parts "
      "are narrower than UB allows, so that every core gets one. Tiling: %d steps of up to %lld lanes.",
      STEPS, (long long)s->inner_tile);
  pl_let(p, "tile", "%lld", (long long)s->inner_tile);
  pl_let(p, "wanted", "tl.cdiv(tl.num_cores(), max(1, outer))");
  pl_let(p, "width", "min(tile, max(%d, tl.align_up(tl.cdiv(inner, wanted), %d)))", line, line);
  pl_let(p, "parts", "max(1, tl.cdiv(inner, width))");
  pl_let(p, "units", "min(outer, outer * inner) * parts");
  launch(s, "inner", NO_TOTALS, "min(tl.num_cores(), max(1, units))", sizes);
}

static void host(pl_ctx *p, void *self) {
  scan *s = self;
  ac_cbuild *b = &p->b;
  pl_declare(p, s->tensor);
  pl_rank_guards(p, s->x);
  ac_cb_comment(b, "The tensor is outer x axis x inner.");
  pl_let(p, "outer", "%s", size_of(s, 0, "outer"));
  pl_let(p, "axis", "%s", size_of(s, 1, "axis"));
  const char *inner = size_of(s, 2, "inner");
  bool last = !has_inner(s);
  if (!last) pl_let(p, "inner", "%s", inner);
  chain_checks(&s->c);
  if (last) {
    host_rows(s);
    return;
  }
  ac_cb_if(b, ac_ce_parse(b, "inner == 1"));
  host_rows(s);
  ac_cb_else(b);
  host_inner(s);
  ac_cb_end(b);
}

/* ---- planning ---- */

/* What is scanned, in the dtype that the scan runs in. */
static pv operand(scan *s, pv x) {
  vir *v = &s->c.v;
  if (ac_dtypes[s->acc].cls == AC_FLOATING) return pv_vec(v, pv_to_f32(v, x), AC_F32);
  x = x.kind == PV_MASK ? pv_vec(v, x, AC_F32) : pv_vec(v, x, s->acc);
  if (v->regs.data[x.reg].dtype != s->acc) {
    bool floats = ac_dtypes[v->regs.data[x.reg].dtype].cls == AC_FLOATING;
    x.reg = vir_cast(v, x.reg, s->acc, floats ? AC_RN_TRUNC : AC_RN_NONE);
  }
  return x;
}

static bool collect(scan *s, pv *x) {
  s->c = chain_over(s->c.p, s->x);
  for (int i = 0; i < s->x->rank; i++) s->c.cls[i] = i < s->axis ? 0 : i == s->axis ? 1 : 2;
  if (!chain_collect(&s->c, s->x)) return false;
  chain_groups(&s->c);
  if (!chain_eval(&s->c, s->x, x)) return false;
  *x = operand(s, *x);
  return true;
}

/* A leaf that the scan may overwrite has a copy of its own where other code reads it, or the next tile does not: it is loaded anew. */
static void name_all(scan *s, pv x) {
  pl_ctx *p = s->c.p;
  pl_names *names = s->c.names;
  const char *wishes[PL_MAX_LEAVES];
  for (int k = 0; k < s->c.n_leaves; k++) wishes[k] = p->tensors.data[s->c.leaves[k].tensor].name;
  bool leaf = s->c.v.regs.data[x.reg].leaf >= 0;
  s->run = leaf ? NULL : pl_name(names, "run");
  if (!leaf) vir_settle(&s->c.v, x.reg, s->run);
  vir_assign(&s->c.v, wishes, NULL, names);
  if (leaf) s->run = s->c.v.bufs.data[s->c.v.regs.data[x.reg].buf].name;
  for (size_t i = 0; i < s->c.v.bufs.len; i++) {
    const vir_buf *b = &s->c.v.bufs.data[i];
    if (b->owner_leaf < 0) continue;
    s->c.leaves[b->owner_leaf].buf = b->name;
    s->c.leaves[b->owner_leaf].ptr = pl_name(names, ac_sprintf(p->a, "%s_ptr", wishes[b->owner_leaf]));
  }
  const char *out = p->tensors.data[s->tensor].name;
  s->y = s->out == s->acc ? s->run : pl_name(names, out);
  s->y_ptr = pl_name(names, ac_sprintf(p->a, "%s_ptr", out));
  s->spread = pl_name(names, "before");
  s->carry = pl_name(names, "carry");
  s->part = pl_name(names, "sums");
  s->many = pl_name(names, "lines");
  s->wide = pl_name(names, "count_in_line");
  s->from = pl_name(names, "base");
  s->lost = pl_name(names, "lost");
  s->next = pl_name(names, "next_carry");
  s->whole = pl_name(names, "finite");
  s->starts = pl_name(names, "starts");
  s->line_sums = pl_name(names, "line_sums");
  s->found = pl_name(names, "found");
  s->totals_ptr = pl_name(names, "totals_ptr");
}

/* UB: what is loaded and stored by two, what is both by three. */
static bool tiles(scan *s) {
  int bytes = ac_dtypes[s->acc].bytes; /* `before` */
  for (size_t i = 0; i < s->c.v.bufs.len; i++) {
    const vir_buf *b = &s->c.v.bufs.data[i];
    bytes += ac_dtypes[b->dtype].bytes * (!strcmp(b->name, s->y) ? 3 : b->loaded ? 2 : 1);
  }
  if (strcmp(s->y, s->run)) bytes += ac_dtypes[s->out].bytes * 2;
  int64_t room =
      pl_ub_budget(s->c.p) - vir_scratch(&s->c.v) - 32768; /* of the scan: 2,048 values twice, and its lanes */
  s->row_tile = room / (LANES * bytes) / 32 * 32;
  int carried = compensated(s) ? 17 : 2 * ac_dtypes[s->acc].bytes;
  s->inner_tile = room / (STEPS * bytes + carried) / 64 * 64;
  return (s->row_tile > 0 && s->inner_tile > 0) ||
         pl_refuse(s->c.p, s->n->loc, ac_op_info(s->n->op)->id, "%d bytes an element do not fit UB with %d rows",
                   bytes, LANES);
}

static bool dtypes(scan *s) {
  const char *id = ac_op_info(s->n->op)->id;
  s->out = s->n->outs[0]->dtype;
  bool fl = ac_dtypes[s->out].cls == AC_FLOATING && s->out != AC_F64;
  s->acc = fl ? AC_F32 : s->out;
  if (fl || ((s->out == AC_I32 || s->out == AC_I64) && !isinf(s->k->identity))) return true;
  return pl_refuse(s->c.p, s->n->loc, id, "its result is %s; covered are float32, float16, bfloat16%s",
                   ac_dtypes[s->out].name, isinf(s->k->identity) ? "" : ", int32 and int64");
}

static bool plan(pl_ctx *p, const ac_node *n, const int *outs, int n_outs) {
  scan *s = AC_NEW(p->a, scan);
  const ac_node *inside = between_flips(n);
  s->c.p = p;
  s->n = inside ? inside : n;
  s->k = kind_of(s->n->op);
  s->reverse = inside != NULL;
  s->tensor = outs[0];
  const char *id = ac_op_info(s->n->op)->id;
  s->x = inside ? inside->args[0].t->def->args[0].t : pl_arg(n, "input")->t;
  if (n_outs != 1 || p->tensors.data[outs[0]].v != n->outs[0])
    return pl_refuse(p, n->loc, id, "its indices; the values alone are covered");
  if (!const_dim(s->n, "dim", s->x->rank, &s->axis)) return pl_refuse(p, n->loc, id, "dim must be a constant");
  if (!dtypes(s)) return false;
  const ac_value *whole = shifted(p, s->x, s->axis, s->k->identity);
  s->exclusive = whole != NULL;
  if (whole) s->x = whole;
  pv x;
  if (!collect(s, &x)) return false;
  if (!chain_plain(&s->c) && !(pl_need(p, s->x) && collect(s, &x))) return false;
  chain_sizes(&s->c, &p->names);
  name_all(s, x);
  if (!tiles(s)) return false;
  s->kernel = pl_stage_name(p, outs[0]);
  rows_kernel(s);
  totals_kernel(s);
  long_kernel(s);
  if (has_inner(s)) inner_kernel(s);
  const char *doc = ac_sprintf(p->a, "%s over dimension %d%s%s.", id, s->axis, s->reverse ? ", from the back" : "",
                               s->exclusive ? ", each without itself" : "");
  pl_stage_host(p, doc, host, s);
  return true;
}

const pl_class pl_scan_class = {.name = "scan", .takes = takes, .plan = plan};

/* Schedule: scatter, scatter_add: elements to places by number along one dimension.
 *
 * The result is cut into windows that fit UB, which cores own: a window is brought in, written to by the scalar unit (no instruction of
 * the chip scatters), and stored once. All indices of its row are looked at in order: of values that are set the last stays, sums are
 * added up in order, so the result is the same on every run. Sums of half types are made in float32 and rounded once.
 */
#include "plan/gather.h"

#include <assert.h>
#include <string.h>

enum { CHUNK = 1024 };

/* Neighbouring dimensions before the indexed one: sizes in the input and the index, strides in the index and the source. */
typedef struct {
  const char *size, *have, *index_step, *src_step;
} group;

typedef struct {
  pl_ctx *p;
  ix_set ix;
  const ac_value *x, *i, *src; /* src NULL: a number */
  const int *outs;
  int n_outs, at;
  const char *xn, *sn, *op;
  ac_dtype dtype;
  char act; /* '=', '+' or '*' */
  double fill;
  group groups[AC_MAX_RANK];
  int n_groups;
} place;

static bool sums32(const place *g) {
  return g->act != '=' && (g->dtype == AC_F16 || g->dtype == AC_BF16);
}

/* ---- the kernel ---- */

static void group_params(const place *g) {
  ac_cbuild *b = &g->p->b;
  ac_arena *a = g->p->a;
  for (int q = 0; q < g->n_groups; q++) {
    if (q + 1 < g->n_groups) ac_cb_param(b, ac_sprintf(a, "below_%d", q), NULL);
    if (q) ac_cb_param(b, ac_sprintf(a, "size_%d", q), NULL);
    ac_cb_param(b, ac_sprintf(a, "have_%d", q), NULL);
    ac_cb_param(b, ac_sprintf(a, "index_step_%d", q), NULL);
    if (g->src) ac_cb_param(b, ac_sprintf(a, "src_step_%d", q), NULL);
  }
}

static void group_arguments(const place *g, ix_args *args) {
  pl_ctx *p = g->p;
  for (int q = 0; q < g->n_groups; q++) {
    const char *below = NULL;
    for (int k = q + 1; k < g->n_groups; k++)
      below = below ? ac_sprintf(p->a, "%s * %s", below, g->groups[k].size) : g->groups[k].size;
    if (below) ix_arg(p, args, ac_sprintf(p->a, "max(1, %s)", below));
    if (q) ix_arg(p, args, ac_sprintf(p->a, "max(1, %s)", g->groups[q].size));
    ix_arg(p, args, g->groups[q].have);
    ix_arg(p, args, g->groups[q].index_step);
    if (g->src) ix_arg(p, args, g->groups[q].src_step);
  }
}

/* The row number of the input taken apart: where its indices and its source begin. */
static void take_apart(const place *g) {
  pl_ctx *p = g->p;
  const char *i = "0", *s = "0", *inside = NULL;
  for (int q = 0; q < g->n_groups; q++) {
    const char *t = "row";
    if (q + 1 < g->n_groups) t = ac_sprintf(p->a, "row // below_%d", q);
    if (q) t = ac_sprintf(p->a, "%s %% size_%d", t, q);
    pl_let(p, ac_sprintf(p->a, "c_%d", q), "%s", t);
    const char *in = ac_sprintf(p->a, "c_%d < have_%d", q, q);
    inside = inside ? ac_sprintf(p->a, "%s and %s", inside, in) : in;
    i = ac_sprintf(p->a, "%s%sc_%d * index_step_%d", q ? i : "", q ? " + " : "", q, q);
    s = ac_sprintf(p->a, "%s%sc_%d * src_step_%d", q ? s : "", q ? " + " : "", q, q);
  }
  pl_let(p, "index_from", "%s", i);
  if (g->src) pl_let(p, "src_from", "%s", s);
  if (!inside) {
    pl_let(p, "trips", "lines");
    return;
  }
  ac_cb_comment(&p->b, "rows that the index does not reach stay as they are");
  pl_let(p, "trips", "lines if %s else 0", inside);
}

static void put_one(const place *g, const char *window) {
  pl_ctx *p = g->p;
  const char *value = ac_sprintf(p->a, ac_dtypes[g->dtype].cls == AC_FLOATING ? "%.9e" : "%.0f", g->fill);
  if (g->src) {
    pl_let(p, "value", "tl.extract_scalar(v, e)");
    value = "value";
  }
  if (g->act == '=')
    ix_call(p, "tl.insert_scalar(%s, slot, %s)", window, value);
  else
    ix_call(p, "tl.insert_scalar(%s, slot, tl.extract_scalar(%s, slot) %c %s)", window, window, g->act, value);
}

/* The indices of one line, in chunks. */
static void line_loop(const place *g, const char *window) {
  pl_ctx *p = g->p;
  ac_cbuild *b = &p->b;
  ac_cb_for(b, "j", ac_ce_int(b, 0), ac_ce_name(b, "line"), ac_ce_int(b, CHUNK));
  pl_let(p, "m", "min(%d, line - j)", CHUNK);
  ix_read(&g->ix, "index_from + k * line + j + tl.arange(0, m)");
  if (g->src) ix_stage(p, AC_STAGE_COPYIN, "tl.load(src_ptr + src_from + k * src_line + j + tl.arange(0, m), v)");
  ac_cb_with(b, AC_STAGE_COMPUTE);
  ac_cb_for(b, "e", ac_ce_int(b, 0), ac_ce_name(b, "m"), NULL);
  pl_let(p, "slot", "tl.extract_scalar(at, e) * step + (j + e) * lane_step - lo");
  ac_cb_if(b, ac_ce_parse(b, "slot >= 0 and slot < w"));
  put_one(g, window);
  ac_cb_end(b);
  ac_cb_end(b);
  ac_cb_end(b);
  ac_cb_end(b);
}

static void kernel(const place *g) {
  pl_ctx *p = g->p;
  ac_cbuild *b = &p->b;
  ac_cfunc *f = ac_cb_func(b, ac_sprintf(p->a, "%s_windows_kernel", g->op), true);
  f->doc = "Unit u is window u % windows of row u // windows: brought into UB, written to by number, stored once.";
  ac_cb_param(b, "x_ptr", pl_tensor_type(p, g->dtype));
  ix_params(&g->ix);
  if (g->src) ac_cb_param(b, "src_ptr", pl_tensor_type(p, g->dtype));
  ac_cb_param(b, "y_ptr", pl_tensor_type(p, g->dtype));
  static const char *const numbers[] = {"units", "windows",  "span", "size",      "lines",
                                        "line",  "src_line", "step", "lane_step", "per_core"};
  for (size_t k = 0; k < AC_COUNT(numbers); k++)
    if (g->src || strcmp(numbers[k], "src_line")) ac_cb_param(b, numbers[k], NULL);
  group_params(g);
  pl_let(p, "first", "tl.program_id(0) * per_core");
  pl_let(p, "last", "min(first + per_core, units)");
  const char *chunk = ac_sprintf(p->a, "%d", CHUNK), *window = sums32(g) ? "sums" : "x";
  pl_alloc(p, "x", "size", g->dtype, true);
  if (sums32(g)) pl_alloc(p, "sums", "size", AC_F32, true);
  ix_alloc(&g->ix, chunk);
  if (g->src) pl_alloc(p, "v", chunk, g->dtype, false);
  ac_cb_for(b, "u", ac_ce_name(b, "first"), ac_ce_name(b, "last"), NULL);
  pl_let(p, "row", "u // windows");
  pl_let(p, "lo", "u %% windows * size");
  pl_let(p, "w", "min(size, span - lo)");
  take_apart(g);
  ix_stage(p, AC_STAGE_COPYIN, "tl.load(x_ptr + row * span + lo + tl.arange(0, w), x)");
  if (sums32(g)) ix_stage(p, AC_STAGE_COMPUTE, "tl.cast(sums, x)");
  ac_cb_for(b, "k", ac_ce_int(b, 0), ac_ce_name(b, "trips"), NULL);
  line_loop(g, window);
  ac_cb_end(b);
  if (sums32(g)) ix_stage(p, AC_STAGE_COMPUTE, "tl.cast(x, sums, count=w)");
  ix_stage(p, AC_STAGE_COPYOUT, "tl.store(y_ptr + row * span + lo + tl.arange(0, w), x, count=w)");
  ac_cb_end(b);
}

/* ---- the host function ---- */

static void host(pl_ctx *p, void *self) {
  place *g = self;
  int bytes = ac_dtypes[g->dtype].bytes;
  int64_t room = (pl_ub_budget(p) - CHUNK * (ix_bytes(&g->ix) + 2 * bytes) - 8192) /
                 (2 * bytes + (sums32(g) ? 4 : 0)); /* a window that comes in while one goes out */
  room = room / 256 * 256;
  for (int i = 0; i < g->n_outs; i++) pl_declare(p, g->outs[i]);
  pl_rank_guards(p, g->x);
  pl_rank_guards(p, g->i);
  if (g->src) pl_rank_guards(p, g->src);
  bool last = pl_sym_is(p, g->i->shape[g->at], 1) ? false : true;
  for (int d = g->at + 1; d < g->x->rank; d++)
    if (!pl_sym_is(p, g->x->shape[d], 1)) last = false;
  pl_let(p, "row_count", "%s", pl_product_text(p, g->x, 0, g->at));
  pl_let(p, "step", "%s", pl_product_text(p, g->x, g->at + 1, g->x->rank));
  ix_sizes(&g->ix, ac_sprintf(p->a, "%s > 0", pl_numel_text(p, g->i)));
  pl_let(p, "span", "axis * step");
  pl_refuse_if(p, "span > 2147483647", "the elements that one index chooses among lie more than 2^31 apart");
  ac_cb_comment(
      &p->b,
      last ? "The indices of a row are one line."
           : "The indices of a row are lines along the inner dimensions, one for each place in the indexed one.");
  pl_let(p, "lines", "%s", last ? "1" : pl_sym_text(p, g->i->shape[g->at]));
  pl_let(p, "line", "%s", pl_product_text(p, g->i, last ? g->at : g->at + 1, g->i->rank));
  if (g->src) pl_let(p, "src_line", "%s", last ? "0" : pl_product_text(p, g->src, g->at + 1, g->src->rank));
  pl_note(p,
          "Tiling: windows of equal size, of up to %lld elements; UB holds one beside %d indices. Cores own whole "
          "windows.",
          (long long)room, CHUNK);
  pl_let(p, "windows", "max(1, tl.cdiv(span, %lld))", (long long)room);
  pl_let(p, "size", "min(%lld, max(64, tl.align_up(tl.cdiv(span, windows), 64)))", (long long)room);
  pl_let(p, "units", "min(row_count, row_count * span) * windows");
  ix_split(p, "units", g->dtype);
  for (int i = 0; i < g->n_outs; i++) {
    ix_args a = {0};
    ix_arg(p, &a, g->xn);
    ix_arguments(&g->ix, &a);
    if (g->src) ix_arg(p, &a, g->sn);
    ix_arg(p, &a, p->tensors.data[g->outs[i]].name);
    const char *const numbers[] = {"units", "windows",  "span", "size",           "lines",
                                   "line",  "src_line", "step", last ? "0" : "1", "per_core"};
    for (size_t k = 0; k < AC_COUNT(numbers); k++)
      if (g->src || strcmp(numbers[k], "src_line")) ix_arg(p, &a, numbers[k]);
    group_arguments(g, &a);
    ac_cb_launch(&p->b, ac_sprintf(p->a, "%s_windows_kernel", g->op), ac_ce_name(&p->b, "n_cores"), (int)a.len,
                 a.data);
  }
}

/* ---- does the node fit? ---- */

static bool same(const pl_ctx *p, const ac_sym *a, const ac_sym *b) {
  return a == b || ac_sym_equal(p->g, a, b);
}

static void group_dims(place *g) {
  pl_ctx *p = g->p;
  int before = -2;
  for (int d = 0; d < g->at; d++) {
    const ac_sym *x = g->x->shape[d], *i = g->i->shape[d], *s = g->src ? g->src->shape[d] : i;
    if (pl_sym_is(p, x, 1)) continue;
    bool joins = before == d - 1 && same(p, x, i) && same(p, x, s);
    group *q = &g->groups[joins ? g->n_groups - 1 : g->n_groups++];
    const char *size = pl_sym_text(p, x), *have = pl_sym_text(p, i);
    q->size = joins ? ac_sprintf(p->a, "%s * %s", q->size, size) : size;
    q->have = joins ? ac_sprintf(p->a, "%s * %s", q->have, have) : have;
    q->index_step = pl_product_text(p, g->i, d + 1, g->i->rank);
    if (g->src) q->src_step = pl_product_text(p, g->src, d + 1, g->src->rank);
    before = d;
  }
}

/* A line of the index must be a line of the others: either all inner dimensions agree, or there is only one. */
static bool lines_fit(const place *g) {
  int n = 0, differ = 0;
  for (int d = g->at + 1; d < g->x->rank; d++) {
    if (pl_sym_is(g->p, g->x->shape[d], 1)) continue;
    n++;
    if (!same(g->p, g->x->shape[d], g->i->shape[d]) || (g->src && !same(g->p, g->src->shape[d], g->i->shape[d])))
      differ++;
  }
  return n < 2 || !differ;
}

static bool takes(const ac_node *n) {
  return n->op == AC_G_SCATTER || n->op == AC_G_SCATTER_ADD;
}

static bool dtype_fits(const place *g, const ac_node *n) {
  const char *name = ac_dtypes[g->dtype].name, *id = ac_op_info(n->op)->id;
  if (g->dtype == AC_F64) return pl_refuse(g->p, n->loc, id, "the vector unit has no float64");
  if (g->act != '=' && ac_dtypes[g->dtype].cls != AC_FLOATING && g->dtype != AC_I64 && g->dtype != AC_I32)
    return pl_refuse(g->p, n->loc, id, "sums and products of %s; covered are the floating dtypes, int32 and int64",
                     name);
  return true;
}

static bool plan(pl_ctx *p, const ac_node *n, const int *outs, int n_outs) {
  assert(n_outs >= 1);
  const char *id = ac_op_info(n->op)->id;
  place *g = AC_NEW(p->a, place);
  *g = (place){.p = p, .outs = outs, .n_outs = n_outs, .act = n->op == AC_G_SCATTER_ADD ? '+' : '='};
  g->x = pl_arg(n, "input")->t;
  g->i = pl_arg(n, "index")->t;
  g->src = pl_arg(n, "src")->t;
  g->dtype = g->x->dtype;
  if (n->op == AC_G_SCATTER && !pl_arg(n, "reduce")->absent) g->act = pl_arg(n, "reduce")->s[0] == 'a' ? '+' : '*';
  int64_t at = 0;
  if (!pl_const_int(n, "dim", &at)) return pl_refuse(p, n->loc, id, "its dimension must be a constant");
  if (!g->x->rank || !g->i->rank) return pl_refuse(p, n->loc, id, "tensors without dimensions");
  if (g->src->def && g->src->def->op == AC_G_CONST) {
    if (!pl_number(g->src->def, "value", 0, &g->fill))
      return pl_refuse(p, n->loc, id, "the number must be a constant");
    g->src = NULL;
  } else if (g->src->rank != g->x->rank) {
    return pl_refuse(p, n->loc, id, "the source has no dimensions; expand it to the index's shape");
  }
  g->at = ac_dim_index(at, g->x->rank);
  if (!dtype_fits(g, n)) return false;
  if (!lines_fit(g))
    return pl_refuse(p, n->loc, id,
                     "two or more dimensions after the indexed one whose sizes are not known to be equal in input, "
                     "index and source");
  const ac_value *one[1] = {g->i};
  if (!pl_need(p, g->x) || (g->src && !pl_need(p, g->src)) || !ix_need(&g->ix, p, n, one, 1)) return false;
  g->ix.axis_text[0] = pl_sym_text(p, g->x->shape[g->at]);
  g->xn = p->tensors.data[pl_tensor_of(p, g->x)].name;
  if (g->src) g->sn = p->tensors.data[pl_tensor_of(p, g->src)].name;
  g->op = pl_stage_name(p, outs[0]);
  group_dims(g);
  kernel(g);
  pl_stage_host(p, ac_sprintf(p->a, "%s: elements to places by number.", id), host, g);
  return true;
}

const pl_class pl_place_class = {.name = "place", .takes = takes, .plan = plan};

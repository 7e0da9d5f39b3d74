/* Schedule: sums and means over leading or middle dimensions, of one tensor or of what element-wise code makes of tensors of its size.
 *
 * The tensor is outer x reps x cols; the result is outer x cols. A tile is some rows of up to 1,024 neighbouring columns: one copy, one
 * operation for all of it, added to a tile of sums whose rows are added up once, at the end. Where there are fewer column blocks than cores,
 * cores share the repetitions: each leaves its sums in workspace, and a second launch adds those up, in the order of the shares.
 *
 * An element of the tile of sums takes one number in each trip and the rows of the tile are joined by a tree, so rounding errors grow with the
 * trips, not with the repetitions.
 */
#include "plan/gather.h"
#include "plan/reduce.h"

#include <string.h>

enum { WIDTH = 1024, LINE = 16, SHARES = 64, JOINED = 128 };

typedef struct {
  pl_chain c;
  const ac_node *n;
  const ac_value *x;
  bool mean;
  ac_dtype out;
  int tensor;
  int64_t tile; /* elements */
  const char *kernel, *run, *acc, *sum, *y, *y_ptr;
} columns;

typedef enum { DIRECT, PARTIAL } form;

/* ---- does it fit? ---- */

/* The reduced dimensions lie side by side, and some that are kept follow. */
static bool pattern(columns *g) {
  bool dims[AC_MAX_RANK] = {false};
  const ac_arg *dim = pl_arg(g->n, "dim");
  int64_t d;
  if (dim->absent || dim->kind != AC_K_INTS || !dim->n) return false;
  for (int i = 0; i < dim->n; i++)
    if (!ac_sym_is_const(dim->is[i], &d)) return false;
  ac_arg_dims(dim, g->x->rank, dims);
  int changes = 0;
  for (int i = 1; i < g->x->rank; i++) changes += dims[i] != dims[i - 1];
  if (g->x->rank < 2 || dims[g->x->rank - 1] || changes != 1 + !dims[0]) return false;
  for (int i = 0, after = 0; i < g->x->rank; i++) {
    g->c.cls[i] = dims[i] ? 1 : after ? 2 : 0;
    after |= dims[i];
  }
  return true;
}

static bool merged(const columns *g) {
  for (int q = 1; q < g->c.n_groups; q++)
    if (g->c.groups[q].cls == g->c.groups[q - 1].cls) return false;
  return g->c.n_groups && g->c.groups[g->c.n_groups - 1].cls == 2;
}

static bool all_in_memory(const columns *g, const ac_value *v) {
  v = pl_stripped(v);
  if (pl_tensor_of(g->c.p, v) >= 0)
    return pl_same_shape(g->c.p, v->rank, (const ac_sym *const *)v->shape, g->x->rank,
                         (const ac_sym *const *)g->x->shape);
  if (!v->def || !pl_inline(v->def->op)) return false;
  if (v->def->op == AC_G_CONST) return true;
  for (int i = 0; i < v->def->n_args; i++) {
    const ac_arg *a = &v->def->args[i];
    if (a->kind == AC_K_TENSOR && !a->absent && a->t && !all_in_memory(g, a->t)) return false;
  }
  return v->def->n_args > 0;
}

static columns *fitting(pl_ctx *p, const ac_node *n, const int *outs, int n_outs, pv *x) {
  if ((n->op != AC_G_SUM && n->op != AC_G_MEAN) || n_outs != 1 || p->tensors.data[outs[0]].v != n->outs[0])
    return NULL;
  columns *g = AC_NEW(p->a, columns);
  g->c.p = p;
  g->n = n;
  g->x = pl_arg(n, "input")->t;
  g->mean = n->op == AC_G_MEAN;
  g->out = n->outs[0]->dtype;
  g->tensor = outs[0];
  bool floats = ac_dtypes[g->x->dtype].cls == AC_FLOATING && g->x->dtype != AC_F64;
  if (!floats || ac_dtypes[g->out].cls != AC_FLOATING || g->out == AC_F64 || !all_in_memory(g, g->x)) return NULL;
  g->c = chain_over(p, g->x);
  if (!pattern(g) || !chain_collect(&g->c, g->x)) return NULL;
  chain_groups(&g->c);
  if (!merged(g) || !chain_eval(&g->c, g->x, x) || x->kind != PV_VEC || !chain_plain(&g->c)) return NULL;
  *x = pv_vec(&g->c.v, pv_to_f32(&g->c.v, *x), AC_F32);
  return g;
}

/* ---- kernels ---- */

static const char *const direct_sizes[] = {"reps", "cols", "parts", "width", "units", "at_once", NULL};
static const char *const share_sizes[] = {"reps", "cols", "parts", "width", "shares", "units", "at_once", NULL};
static const char *const join_sizes[] = {"cols", "parts", "shares", "units", NULL};
static const char *const mean_sizes[] = {"reps", "cols", "parts", "shares", "units", NULL};

static void units_of(columns *g, const char *units) {
  pl_let(g->c.p, "pid", "tl.program_id(0)");
  pl_let(g->c.p, "first", "tl.split(%s, tl.num_programs(0), pid, 1)", units);
  pl_let(g->c.p, "last", "tl.split(%s, tl.num_programs(0), pid + 1, 1)", units);
}

/* What a unit has come to: to the result's dtype, and out. */
static void finish(columns *g, const char *at) {
  pl_ctx *p = g->c.p;
  ac_cb_with(&p->b, AC_STAGE_COMPUTE);
  if (g->mean) ix_call(p, "tl.vdiv_scalar(%s, %s, float(reps), count=count)", g->sum, g->sum);
  if (g->out != AC_F32) ix_call(p, "tl.cast(%s, %s, mode=\"rint\", count=count)", g->y, g->sum);
  ac_cb_end(&p->b);
  ac_cb_with(&p->b, AC_STAGE_COPYOUT);
  ix_call(p, "tl.store(%s + %s + tl.arange(0, count), %s)", g->y_ptr, at, g->out != AC_F32 ? g->y : g->sum);
  ac_cb_end(&p->b);
}

static void result_buffers(columns *g, const char *size) {
  pl_alloc(g->c.p, g->sum, size, AC_F32, false);
  if (g->out != AC_F32) pl_alloc(g->c.p, g->y, size, g->out, false);
}

static void columns_kernel(columns *g, form f) {
  pl_ctx *p = g->c.p;
  ac_cbuild *b = &p->b;
  ac_cfunc *k = ac_cb_func(b, ac_sprintf(p->a, "%s_%s_kernel", g->kernel, f == DIRECT ? "columns" : "shares"), true);
  k->doc = f == DIRECT ? "A unit is up to `width` neighbouring columns; `at_once` rows of them are a tile."
                       : "As _columns, but of a share of the rows: what it comes to goes to workspace.";
  for (int i = 0; i < g->c.n_leaves; i++)
    ac_cb_param(b, g->c.leaves[i].ptr, pl_tensor_type(p, g->c.leaves[i].v->dtype));
  ac_cb_param(b, f == DIRECT ? g->y_ptr : "sums_ptr", pl_tensor_type(p, f == DIRECT ? g->out : AC_F32));
  const char *const *sizes = f == DIRECT ? direct_sizes : share_sizes;
  for (int i = 0; sizes[i]; i++) ac_cb_param(b, sizes[i], NULL);
  for (size_t i = 0; i < g->c.scalars.len; i++) ac_cb_param(b, g->c.scalars.data[i].name, NULL);
  units_of(g, "units");
  for (size_t i = 0; i < g->c.v.bufs.len; i++) {
    const vir_buf *v = &g->c.v.bufs.data[i];
    pl_alloc(p, v->name, "(at_once, width)", v->mask ? AC_MASK : v->dtype, false);
  }
  pl_alloc(p, g->acc, "(at_once, width)", AC_F32, false);
  if (f == DIRECT)
    result_buffers(g, "width");
  else
    pl_alloc(p, g->sum, "width", AC_F32, false);
  ac_cb_for(b, "unit", ac_ce_name(b, "first"), ac_ce_name(b, "last"), NULL);
  pl_let(p, "lane", "unit %% parts * width");
  pl_let(p, "count", "min(width, cols - lane)");
  if (f == DIRECT) {
    pl_let(p, "o", "unit // parts");
    pl_let(p, "lo", "0");
    pl_let(p, "hi", "reps");
  } else {
    pl_let(p, "o", "unit // parts // shares");
    pl_let(p, "share", "unit // parts %% shares");
    pl_let(p, "lo", "tl.split(reps, shares, share, 1)");
    pl_let(p, "hi", "tl.split(reps, shares, share + 1, 1)");
  }
  ac_cb_with(b, AC_STAGE_COMPUTE);
  ix_call(p, "tl.duplicate(%s, 0.0)", g->acc);
  ac_cb_end(b);
  ac_cb_for(b, "r", ac_ce_name(b, "lo"), ac_ce_name(b, "hi"), ac_ce_name(b, "at_once"));
  pl_let(p, "lines", "min(at_once, hi - r)");
  pl_let(p, "offs",
         "(o * reps + r) * cols + lane + tl.arange(0, lines)[:, None] * cols + tl.arange(0, count)[None, :]");
  ac_cb_with(b, AC_STAGE_COPYIN);
  for (int i = 0; i < g->c.n_leaves; i++)
    if (g->c.leaves[i].buf) pl_load(p, g->c.leaves[i].ptr, "offs", g->c.leaves[i].buf);
  ac_cb_end(b);
  ac_cb_with(b, AC_STAGE_COMPUTE);
  vir_compute(&g->c.v, NULL, false);
  ix_call(p, "tl.vadd(%s[0:lines, 0:count], %s[0:lines, 0:count], %s)", g->acc, g->acc, g->run);
  ac_cb_end(b);
  ac_cb_end(b);
  ac_cb_with(b, AC_STAGE_COMPUTE);
  ix_call(p, "tl.reduce_sum(%s, %s[0:at_once, 0:count], axis=0)", g->sum, g->acc);
  ac_cb_end(b);
  if (f == DIRECT)
    finish(g, "o * cols + lane");
  else {
    ac_cb_with(b, AC_STAGE_COPYOUT);
    ix_call(p, "tl.store(sums_ptr + (o * shares + share) * cols + lane + tl.arange(0, count), %s)", g->sum);
    ac_cb_end(b);
  }
  ac_cb_end(b);
}

static void join_kernel(columns *g) {
  pl_ctx *p = g->c.p;
  ac_cbuild *b = &p->b;
  ac_cfunc *k = ac_cb_func(b, ac_sprintf(p->a, "%s_join_kernel", g->kernel), true);
  k->doc = ac_sprintf(p->a, "Adds up what the shares have come to, %d columns at a time.", JOINED);
  ac_cb_param(b, "sums_ptr", pl_tensor_type(p, AC_F32));
  ac_cb_param(b, g->y_ptr, pl_tensor_type(p, g->out));
  const char *const *sizes = g->mean ? mean_sizes : join_sizes;
  for (int i = 0; sizes[i]; i++) ac_cb_param(b, sizes[i], NULL);
  units_of(g, "units");
  pl_alloc(p, "sums", ac_sprintf(p->a, "(%d, %d)", SHARES, JOINED), AC_F32, false);
  result_buffers(g, ac_sprintf(p->a, "%d", JOINED));
  ac_cb_for(b, "unit", ac_ce_name(b, "first"), ac_ce_name(b, "last"), NULL);
  pl_let(p, "lane", "unit %% parts * %d", JOINED);
  pl_let(p, "count", "min(%d, cols - lane)", JOINED);
  pl_let(p, "o", "unit // parts");
  ac_cb_with(b, AC_STAGE_COPYIN);
  ix_call(p, "tl.load(sums_ptr + o * shares * cols + lane + tl.arange(0, shares)[:, None] * cols + tl.arange(0, "
             "count)[None, :], sums)");
  ac_cb_end(b);
  ac_cb_with(b, AC_STAGE_COMPUTE);
  ix_call(p, "tl.reduce_sum(%s, sums, axis=0)", g->sum);
  ac_cb_end(b);
  finish(g, "o * cols + lane");
  ac_cb_end(b);
}

/* ---- the host function ---- */

static const char *size_of(const columns *g, int cls) {
  for (int q = 0; q < g->c.n_groups; q++)
    if (g->c.groups[q].cls == cls) return g->c.groups[q].size;
  return "1";
}

static void launch(columns *g, const char *suffix, bool reads, const char *to, const char *from,
                   const char *const *numbers) {
  pl_ctx *p = g->c.p;
  ix_args args = {0};
  for (int i = 0; i < g->c.n_leaves && reads; i++) ix_arg(p, &args, p->tensors.data[g->c.leaves[i].tensor].name);
  if (from) ix_arg(p, &args, from);
  ix_arg(p, &args, to);
  for (; *numbers; numbers++) ix_arg(p, &args, *numbers);
  for (size_t i = 0; i < g->c.scalars.len && reads; i++) ix_arg(p, &args, g->c.scalars.data[i].host);
  ac_cb_launch(&p->b, ac_sprintf(p->a, "%s_%s_kernel", g->kernel, suffix),
               ac_ce_parse(&p->b, "min(tl.num_cores(), max(1, units))"), (int)args.len, args.data);
}

static void host(pl_ctx *p, void *self) {
  columns *g = self;
  ac_cbuild *b = &p->b;
  static const char *const names[] = {"outer", "reps", "cols"};
  const char *y = p->tensors.data[g->tensor].name;
  pl_declare(p, g->tensor);
  pl_rank_guards(p, g->x);
  for (int q = 0; q < g->c.n_groups; q++) g->c.groups[q].name = names[g->c.groups[q].cls];
  ac_cb_comment(b, "The tensor is outer x reps x cols.");
  for (int i = 0; i < 3; i++) pl_let(p, names[i], "%s", size_of(g, i));
  chain_checks(&g->c);
  pl_note(p, "Tiling: up to %d columns, and as many rows of them as make %lld elements.", WIDTH, (long long)g->tile);
  pl_let(p, "width", "min(%d, max(%d, tl.align_up(cols, %d)))", WIDTH, LINE, LINE);
  pl_let(p, "at_once", "max(1, min(%lld // width, reps))", (long long)g->tile);
  pl_let(p, "parts", "max(1, tl.cdiv(cols, width))");
  pl_let(p, "units", "min(outer, outer * cols) * parts");
  pl_note(p, "Core partitioning: blocks of columns; where those are few, shares of the rows, of four tiles at least, "
             "so that every core "
             "has work.");
  pl_let(p, "wanted", "tl.num_cores() // max(1, units)");
  ac_cb_if(b, ac_ce_parse(b, "wanted < 8"));
  pl_let(p, "wanted", "tl.cdiv(4 * tl.num_cores(), max(1, units))");
  ac_cb_end(b);
  pl_let(p, "shares", "max(1, min(%d, wanted, reps // (4 * at_once)))", SHARES);
  ac_cb_if(b, ac_ce_parse(b, "units >= 4 * tl.num_cores() or shares < 2"));
  launch(g, "columns", true, y, NULL, direct_sizes);
  ac_cb_else(b);
  pl_let(p, "sums", "tl.empty(outer * shares * cols, tl.float32)");
  pl_let(p, "units", "units * shares");
  launch(g, "shares", true, "sums", NULL, share_sizes);
  pl_let(p, "parts", "max(1, tl.cdiv(cols, %d))", JOINED);
  pl_let(p, "units", "min(outer, outer * cols) * parts");
  launch(g, "join", false, y, "sums", g->mean ? mean_sizes : join_sizes);
  ac_cb_end(b);
}

/* ---- planning ---- */

static void name_all(columns *g, pv x) {
  pl_ctx *p = g->c.p;
  pl_names *names = g->c.names;
  const char *wishes[PL_MAX_LEAVES];
  static const char *const own[] = {"lines", "at_once", "shares", "share", "sums", "sums_ptr", "reps", "cols", "o"};
  for (size_t i = 0; i < AC_COUNT(own); i++) (void)pl_name(names, own[i]);
  for (int k = 0; k < g->c.n_leaves; k++) wishes[k] = p->tensors.data[g->c.leaves[k].tensor].name;
  bool leaf = g->c.v.regs.data[x.reg].leaf >= 0;
  g->run = leaf ? NULL : pl_name(names, "run");
  if (!leaf) vir_settle(&g->c.v, x.reg, g->run);
  vir_assign(&g->c.v, wishes, NULL, names);
  if (leaf) g->run = g->c.v.bufs.data[g->c.v.regs.data[x.reg].buf].name;
  int bytes = 4;
  for (size_t i = 0; i < g->c.v.bufs.len; i++) {
    const vir_buf *v = &g->c.v.bufs.data[i];
    bytes += ac_dtypes[v->dtype].bytes * (v->loaded ? 2 : 1);
    if (v->owner_leaf < 0) continue;
    g->c.leaves[v->owner_leaf].buf = v->name;
    g->c.leaves[v->owner_leaf].ptr = pl_name(names, ac_sprintf(p->a, "%s_ptr", wishes[v->owner_leaf]));
  }
  const char *out = p->tensors.data[g->tensor].name;
  g->acc = pl_name(names, "acc");
  g->sum = pl_name(names, "sum");
  g->y = pl_name(names, out);
  g->y_ptr = pl_name(names, ac_sprintf(p->a, "%s_ptr", out));
  /* of the reduction: 2,048 values; the results, twice */
  g->tile = (pl_ub_budget(p) - vir_scratch(&g->c.v) - 8192 - WIDTH * 12) / bytes / WIDTH * WIDTH;
}

bool red_columns(pl_ctx *p, const ac_node *n, const int *outs, int n_outs, bool *ok) {
  pv x;
  columns *g = fitting(p, n, outs, n_outs, &x);
  if (!g) return false;
  chain_sizes(&g->c, &p->names);
  name_all(g, x);
  if (g->tile < WIDTH) return false;
  g->kernel = pl_stage_name(p, outs[0]);
  columns_kernel(g, DIRECT);
  columns_kernel(g, PARTIAL);
  join_kernel(g);
  pl_stage_host(p, ac_sprintf(p->a, "%s over rows.", ac_op_info(n->op)->id), host, g);
  return *ok = true;
}

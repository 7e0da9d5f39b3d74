/* Schedule: softmax and log_softmax of one input over one axis.
 *
 * The host function sees the tensor as outer x axis x inner and picks one of four kernels:
 *   row    inner == 1 and two rows fit UB: one read, one write, the next row is loaded while this one is computed
 *   wide   inner == 1 and one row fits UB: the same without double buffering, still one read
 *   long   inner == 1, longer rows: running maximum and sum in one pass, results in a second (two reads, one write)
 *   inner  the axis is not the last: lanes are inner positions, the same running form along the axis
 * The user's `dim` is kept as it was written, so that the program serves other ranks too.
 *
 * Half types are computed in float32. Special values as in PyTorch: a row with NaN or +inf becomes NaN, -inf alone gives weight 0, and a
 * row of nothing but -inf becomes NaN. The running forms start from the lowest finite number, not -inf: then -inf - m is -inf and not NaN.
 */
#include "plan/internal.h"

#include <assert.h>
#include <float.h>
#include <string.h>

typedef struct {
  pl_ctx *p;
  const char *x, *y, *xp, *yp; /* host and kernel names */
  ac_dtype in, out;
  bool log;
  int64_t dim;
  const char *op; /* what the kernels' names begin with */
  int tensor;     /* the output */
  int from;       /* the tensor that is read */
  bool input;     /* x is an input of the graph, not workspace */
  const ac_value *v;
} soft;

static ac_cexpr *name(soft *s, const char *n) {
  return ac_ce_name(&s->p->b, n);
}

/* tl.<prim>(a, b[, c]) on named operands; `count` or NULL. */
static void call(soft *s, const char *prim, const char *a, const char *b, const char *c, const char *count) {
  ac_cbuild *cb = &s->p->b;
  ac_cexpr *e = ac_ce_tl(cb, prim, 2, name(s, a), ac_ce_parse(cb, "%s", b));
  if (c) ac_ce_kwarg(cb, e, NULL, ac_ce_parse(cb, "%s", c));
  if (count) ac_ce_kwarg(cb, e, "count", ac_ce_parse(cb, "%s", count));
  ac_cb_call(cb, e);
}
static void cast(soft *s, const char *dst, const char *src, bool round) {
  ac_cbuild *cb = &s->p->b;
  ac_cexpr *e = ac_ce_tl(cb, "cast", 2, name(s, dst), name(s, src));
  if (round) ac_ce_kwarg(cb, e, "mode", ac_ce_str(cb, "rint"));
  ac_cb_call(cb, e);
}
static void fill(soft *s, const char *dst, double v, const char *count) {
  ac_cbuild *cb = &s->p->b;
  ac_cexpr *e = ac_ce_tl(cb, "duplicate", 2, name(s, dst), ac_ce_float(cb, v));
  ac_cb_call(cb, ac_ce_kwarg(cb, e, "count", ac_ce_parse(cb, "%s", count)));
}
static bool half_in(const soft *s) {
  return s->in != AC_F32;
}
static bool half_out(const soft *s) {
  return s->out != AC_F32;
}
/* Names of the float32 forms of what is loaded and of what is stored. */
static const char *x32(const soft *s) {
  return half_in(s) ? "x32" : "x";
}
static const char *y32(const soft *s) {
  return half_out(s) ? "y32" : "y";
}

static void start_kernel(soft *s, const char *suffix, const char *doc, const char *const *params) {
  pl_ctx *p = s->p;
  ac_cfunc *f = ac_cb_func(&p->b, ac_sprintf(p->a, "%s_%s_kernel", s->op, suffix), true);
  f->doc = doc;
  ac_cb_param(&p->b, "x_ptr", pl_tensor_type(p, s->in));
  ac_cb_param(&p->b, "y_ptr", pl_tensor_type(p, s->out));
  for (; *params; params++) ac_cb_param(&p->b, *params, NULL);
  pl_let(p, "pid", "tl.program_id(0)");
}

static void copy_buffers(soft *s, const char *size, bool once) {
  pl_alloc(s->p, "x", size, s->in, once);
  pl_alloc(s->p, "y", size, s->out, once);
  if (half_in(s)) pl_alloc(s->p, "x32", size, AC_F32, false);
  if (half_out(s)) pl_alloc(s->p, "y32", size, AC_F32, false);
}

static void load_stage(soft *s) {
  ac_cb_with(&s->p->b, AC_STAGE_COPYIN);
  pl_load(s->p, "x_ptr", "offs", "x");
  ac_cb_end(&s->p->b);
}
static void store_stage(soft *s) {
  ac_cb_with(&s->p->b, AC_STAGE_COPYOUT);
  pl_store(s->p, "y_ptr", "offs", "y");
  ac_cb_end(&s->p->b);
}

/* ---- a row in UB ---- */

/* Bytes an element with `depth` buffers for each copy. */
static int row_bytes(const soft *s, int depth) {
  return depth * (ac_dtypes[s->in].bytes + ac_dtypes[s->out].bytes) + (half_in(s) ? 4 : 0) + (half_out(s) ? 4 : 0);
}
static int64_t row_tile(const soft *s, int depth) {
  return (pl_ub_budget(s->p) - 8192) / row_bytes(s, depth) / 256 * 256;
}

static void row_kernel(soft *s, bool wide) {
  pl_ctx *p = s->p;
  ac_cbuild *b = &p->b;
  static const char *const params[] = {"rows", "cols", "rows_per_core", "tile", NULL};
  start_kernel(s, wide ? "wide" : "row",
               wide ? "As the row kernel, for rows of which only one fits UB."
                    : "A row at a time: it is read once, reduced in UB and written once.",
               params);
  pl_let(p, "first", "pid * rows_per_core");
  pl_let(p, "last", "min(first + rows_per_core, rows)");
  if (wide) ac_cb_comment(b, "buffers=1: no double buffering; that would halve the longest row");
  copy_buffers(s, "tile", wide);
  pl_alloc(p, "red", "64", AC_F32, false);
  if (s->log) {
    ac_cb_comment(b, "a reduction works with two values for every 64 lanes");
    pl_alloc(p, "work", "tl.cdiv(tile, 64) * 2", AC_F32, false);
  }
  const char *x = x32(s), *y = y32(s), *work = s->log ? "work" : y;
  ac_cb_for(b, "row", name(s, "first"), name(s, "last"), NULL);
  pl_let(p, "offs", "row * cols + tl.arange(0, cols)");
  load_stage(s);
  ac_cb_with(b, AC_STAGE_COMPUTE);
  if (half_in(s)) cast(s, "x32", "x", false);
  ac_cb_comment(b, "less the maximum, no exponential overflows and the largest is 1");
  call(s, "reduce_max", "red", x, work, NULL);
  pl_let(p, "top", "tl.extract_scalar(red, 0)");
  call(s, "vsub_scalar", x, x, "top", NULL);
  if (s->log) {
    call(s, "vexp", y, x, NULL, NULL);
    call(s, "reduce_sum", "red", y, work, NULL);
    call(s, "vln", "red", "red", NULL, "1");
    pl_let(p, "log_sum", "tl.extract_scalar(red, 0)");
    call(s, "vsub_scalar", y, x, "log_sum", NULL);
  } else {
    call(s, "vexp", x, x, NULL, NULL);
    call(s, "reduce_sum", "red", x, work, NULL);
    pl_let(p, "total", "tl.extract_scalar(red, 0)");
    ac_cb_comment(b, "one division a row, then products");
    call(s, "vmul_scalar", y, x, "1.0 / total", NULL);
  }
  if (half_out(s)) cast(s, "y", "y32", true);
  ac_cb_end(b);
  store_stage(s);
  ac_cb_end(b);
}

/* ---- running maximum and sum ---- */

/* m and s hold, for every lane, the maximum m of what the lane has seen and the sum s of e^(x - m). Takes in x (float32, overwritten). */
static void take_in(soft *s) {
  const char *x = x32(s);
  if (half_in(s)) cast(s, "x32", "x", false);
  call(s, "vmax", "t", "m", x, "count");
  call(s, "vsub", "d", "m", "t", "count");
  call(s, "vexp", "d", "d", NULL, "count");
  call(s, "vmul", "s", "s", "d", "count");
  call(s, "vsub", x, x, "t", "count");
  call(s, "vexp", x, x, NULL, "count");
  call(s, "vadd", "s", "s", x, "count");
  call(s, "vmax", "m", "m", "t", "count");
}
static void state_buffers(soft *s) {
  pl_alloc(s->p, "m", "tile", AC_F32, false);
  pl_alloc(s->p, "s", "tile", AC_F32, false);
  pl_alloc(s->p, "t", "tile", AC_F32, false);
  pl_alloc(s->p, "d", "tile", AC_F32, false);
}
static int state_bytes(const soft *s) {
  return row_bytes(s, 2) + 16;
}
static int64_t tile_for(const soft *s, int bytes) {
  return (pl_ub_budget(s->p) - 2048) / bytes / 256 * 256;
}

static void long_kernel(soft *s) {
  pl_ctx *p = s->p;
  ac_cbuild *b = &p->b;
  static const char *const params[] = {"rows", "cols", "rows_per_core", "tile", NULL};
  start_kernel(s, "long", "Rows longer than UB: lane k keeps maximum and sum of elements k, k + tile, ...", params);
  pl_let(p, "first", "pid * rows_per_core");
  pl_let(p, "last", "min(first + rows_per_core, rows)");
  copy_buffers(s, "tile", false);
  state_buffers(s);
  pl_alloc(p, "red", "64", AC_F32, false);
  const char *x = x32(s), *y = y32(s);
  ac_cb_for(b, "row", name(s, "first"), name(s, "last"), NULL);
  pl_let(p, "base", "row * cols");
  ac_cb_with(b, AC_STAGE_COMPUTE);
  ac_cb_comment(b, "the lowest finite number, so that -inf - m stays -inf");
  fill(s, "m", -(double)FLT_MAX, "tile");
  fill(s, "s", 0, "tile");
  ac_cb_end(b);
  pl_note(p, "First pass. The state is a vector, so no tile waits for a scalar; one reduction a row joins the lanes. "
             "The last tile touches its "
             "first `count` lanes only.");
  ac_cb_for(b, "i", ac_ce_int(b, 0), name(s, "cols"), name(s, "tile"));
  pl_let(p, "count", "min(tile, cols - i)");
  pl_let(p, "offs", "base + i + tl.arange(0, count)");
  load_stage(s);
  ac_cb_with(b, AC_STAGE_COMPUTE);
  take_in(s);
  ac_cb_end(b);
  ac_cb_end(b);
  ac_cb_with(b, AC_STAGE_COMPUTE);
  ac_cb_comment(b, "join the lanes: every sum is brought to the row's maximum");
  call(s, "reduce_max", "red", "m", "t", "tile");
  pl_let(p, "top", "tl.extract_scalar(red, 0)");
  call(s, "vsub_scalar", "m", "m", "top", "tile");
  call(s, "vexp", "m", "m", NULL, "tile");
  call(s, "vmul", "s", "s", "m", "tile");
  call(s, "reduce_sum", "red", "s", "t", "tile");
  if (s->log) call(s, "vln", "red", "red", NULL, "1");
  pl_let(p, s->log ? "log_sum" : "total", "tl.extract_scalar(red, 0)");
  ac_cb_end(b);
  ac_cb_comment(b, "second pass");
  ac_cb_for(b, "i", ac_ce_int(b, 0), name(s, "cols"), name(s, "tile"));
  pl_let(p, "count", "min(tile, cols - i)");
  pl_let(p, "offs", "base + i + tl.arange(0, count)");
  load_stage(s);
  ac_cb_with(b, AC_STAGE_COMPUTE);
  if (half_in(s)) cast(s, "x32", "x", false);
  call(s, "vsub_scalar", x, x, "top", NULL);
  if (s->log)
    call(s, "vsub_scalar", y, x, "log_sum", NULL);
  else {
    call(s, "vexp", x, x, NULL, NULL);
    call(s, "vmul_scalar", y, x, "1.0 / total", NULL);
  }
  if (half_out(s)) cast(s, "y", "y32", true);
  ac_cb_end(b);
  store_stage(s);
  ac_cb_end(b);
  ac_cb_end(b);
}

/* ---- an axis that is not the last ---- */

static void inner_kernel(soft *s) {
  pl_ctx *p = s->p;
  ac_cbuild *b = &p->b;
  static const char *const params[] = {"units", "axis", "inner", "parts", "width", "units_per_core", "tile", NULL};
  start_kernel(s, "inner", "A unit is `width` neighbouring inner positions, whose softmaxes run side by side.",
               params);
  pl_let(p, "first", "pid * units_per_core");
  pl_let(p, "last", "min(first + units_per_core, units)");
  copy_buffers(s, "tile", false);
  state_buffers(s);
  const char *x = x32(s), *y = y32(s);
  ac_cb_for(b, "unit", name(s, "first"), name(s, "last"), NULL);
  pl_let(p, "lane", "unit %% parts * width");
  ac_cb_comment(b, "the last unit of an outer position is narrower");
  pl_let(p, "count", "min(width, inner - lane)");
  pl_let(p, "base", "unit // parts * axis * inner + lane");
  ac_cb_with(b, AC_STAGE_COMPUTE);
  ac_cb_comment(b, "the lowest finite number, so that -inf - m stays -inf");
  fill(s, "m", -(double)FLT_MAX, "count");
  fill(s, "s", 0, "count");
  ac_cb_end(b);
  ac_cb_for(b, "k", ac_ce_int(b, 0), name(s, "axis"), NULL);
  pl_let(p, "offs", "base + k * inner + tl.arange(0, count)");
  load_stage(s);
  ac_cb_with(b, AC_STAGE_COMPUTE);
  take_in(s);
  ac_cb_end(b);
  ac_cb_end(b);
  ac_cb_with(b, AC_STAGE_COMPUTE);
  if (s->log)
    call(s, "vln", "s", "s", NULL, "count");
  else {
    ac_cb_comment(b, "one division a lane, then products");
    fill(s, "d", 1, "count");
    call(s, "vdiv", "s", "d", "s", "count");
  }
  ac_cb_end(b);
  ac_cb_for(b, "k", ac_ce_int(b, 0), name(s, "axis"), NULL);
  pl_let(p, "offs", "base + k * inner + tl.arange(0, count)");
  load_stage(s);
  ac_cb_with(b, AC_STAGE_COMPUTE);
  if (half_in(s)) cast(s, "x32", "x", false);
  call(s, "vsub", x, x, "m", "count");
  if (s->log)
    call(s, "vsub", y, x, "s", "count");
  else {
    call(s, "vexp", x, x, NULL, "count");
    call(s, "vmul", y, x, "s", "count");
  }
  if (half_out(s)) cast(s, "y", "y32", true);
  ac_cb_end(b);
  store_stage(s);
  ac_cb_end(b);
  ac_cb_end(b);
}

/* ---- host ---- */

static void launch(soft *s, const char *suffix, const char *cores, const char *const *args) {
  pl_ctx *p = s->p;
  AC_VEC(ac_cexpr *) v = {0};
  ac_push(p->a, &v, name(s, s->x));
  ac_push(p->a, &v, name(s, s->y));
  for (; *args; args++) ac_push(p->a, &v, ac_ce_parse(&p->b, "%s", *args));
  ac_cb_launch(&p->b, ac_sprintf(p->a, "%s_%s_kernel", s->op, suffix), ac_ce_parse(&p->b, "%s", cores), (int)v.len,
               v.data);
}

static const char *bytes_text(const soft *s, int depth, const char *more, int total) {
  const char *forms = half_in(s) && half_out(s)   ? " + 2*4 (float32 forms)"
                      : half_in(s) || half_out(s) ? " + 4 (float32 form)"
                                                  : "";
  if (depth == 1)
    return ac_sprintf(s->p->a, "%d + %d (x and y)%s%s = %d bytes", ac_dtypes[s->in].bytes, ac_dtypes[s->out].bytes,
                      forms, more, total);
  return ac_sprintf(s->p->a, "2*%d + 2*%d (x and y, double buffered)%s%s = %d bytes", ac_dtypes[s->in].bytes,
                    ac_dtypes[s->out].bytes, forms, more, total);
}

static void rows_branch(soft *s) {
  pl_ctx *p = s->p;
  ac_cbuild *b = &p->b;
  static const char *const args[] = {"rows", "axis", "rows_per_core", "tile", NULL};
  int64_t long_tile = tile_for(s, state_bytes(s));
  int line = 64 / ac_dtypes[s->out].bytes;
  pl_note(p,
          "Core partitioning: whole rows, the same number for every core; when a core has many, a multiple of %d, so "
          "that no two cores write "
          "into one 64-byte line whatever the row length. Empty rows are no rows.",
          line);
  pl_let(p, "rows", "min(outer, outer * axis)");
  pl_let(p, "rows_per_core", "max(1, tl.cdiv(rows, tl.num_cores()))");
  ac_cb_if(b, ac_ce_parse(b, "rows_per_core >= %d", 8 * line));
  pl_let(p, "rows_per_core", "tl.align_up(rows_per_core, %d)", line);
  ac_cb_end(b);
  pl_let(p, "n_cores", "max(1, tl.cdiv(rows, rows_per_core))");
  ac_cb_if(b, ac_ce_parse(b, "axis <= %lld", (long long)row_tile(s, 2)));
  pl_note(p, "Tiling: a row. An element takes %s; %lld bytes hold rows of up to %lld elements beside the work space.",
          bytes_text(s, 2, "", row_bytes(s, 2)), (long long)pl_ub_budget(p), (long long)row_tile(s, 2));
  pl_let(p, "tile", "%lld", (long long)row_tile(s, 2));
  launch(s, "row", "n_cores", args);
  ac_cb_elif(b, ac_ce_parse(b, "axis <= %lld", (long long)row_tile(s, 1)));
  pl_note(p, "Tiling: a row without double buffering, %s: up to %lld elements.",
          bytes_text(s, 1, "", row_bytes(s, 1)), (long long)row_tile(s, 1));
  pl_let(p, "tile", "%lld", (long long)row_tile(s, 1));
  launch(s, "wide", "n_cores", args);
  ac_cb_else(b);
  pl_note(p, "Tiling: longer rows go through in tiles, twice. An element takes %s.",
          bytes_text(s, 2, " + 4*4 (state)", state_bytes(s)));
  pl_let(p, "tile", "%lld", (long long)long_tile);
  launch(s, "long", "n_cores", args);
  ac_cb_end(b);
}

static void inner_branch(soft *s) {
  pl_ctx *p = s->p;
  static const char *const args[] = {"units", "axis", "inner", "parts", "width", "units_per_core", "tile", NULL};
  int64_t tile = tile_for(s, state_bytes(s));
  int line = 64 / ac_dtypes[s->out].bytes;
  pl_note(p, "Tiling: a lane takes %s.", bytes_text(s, 2, " + 4*4 (state)", state_bytes(s)));
  pl_let(p, "tile", "%lld", (long long)tile);
  pl_note(p, "Core partitioning: outer positions times parts of the inner dimensions; with few outer positions the "
             "parts are narrower than UB "
             "allows, so that every core gets one.");
  pl_let(p, "wanted", "tl.cdiv(tl.num_cores(), max(1, outer))");
  pl_let(p, "width", "min(tile, max(%d, tl.align_up(tl.cdiv(inner, wanted), %d)))", line, line);
  pl_let(p, "parts", "max(1, tl.cdiv(inner, width))");
  pl_let(p, "units", "min(outer, outer * inner) * parts");
  pl_let(p, "units_per_core", "max(1, tl.cdiv(units, tl.num_cores()))");
  pl_let(p, "n_cores", "max(1, tl.cdiv(units, units_per_core))");
  launch(s, "inner", "n_cores", args);
}

/* Sizes of the dimensions before, at and after `dim`. The input's own shape serves every rank. */
static void sizes(soft *s) {
  pl_ctx *p = s->p;
  const char *x = s->x;
  long long d = s->dim;
  if (!s->input) {
    int at = ac_dim_index(s->dim, s->v->rank);
    pl_let(p, "outer", "%s", pl_product_text(p, s->v, 0, at));
    pl_let(p, "axis", "%s", pl_product_text(p, s->v, at, at + 1));
    if (d != -1) pl_let(p, "inner", "%s", pl_product_text(p, s->v, at + 1, s->v->rank));
    return;
  }
  pl_let(p, "outer", "tl.prod(%s.shape[:%lld])", x, d);
  if (d == -1)
    pl_let(p, "axis", "tl.prod(%s.shape[-1:])", x); /* 1 for a tensor without dimensions, whose only dim this is */
  else if (d == 0)
    pl_let(p, "axis", "tl.prod(%s.shape[:1])", x);
  else
    pl_let(p, "axis", "%s.shape[%lld]", x, d);
  if (d != -1) pl_let(p, "inner", "tl.prod(%s.shape[%lld:])", x, d + 1);
}

static void host(pl_ctx *p, void *self) {
  soft *s = self;
  ac_cbuild *b = &p->b;
  pl_declare(p, s->tensor);
  if (s->input && !p->tensors.data[s->tensor].output) /* workspace has the traced dimensions */
    pl_input_rank(p, &p->tensors.data[s->from]);
  ac_cb_comment(b, s->dim == -1 ? "The tensor is outer x axis." : "The tensor is outer x axis x inner.");
  sizes(s);
  if (s->dim == -1) {
    rows_branch(s);
    return;
  }
  ac_cb_if(b, ac_ce_parse(b, "inner == 1"));
  rows_branch(s);
  ac_cb_else(b);
  inner_branch(s);
  ac_cb_end(b);
}

/* ---- does the graph fit? ---- */

static bool is_float(ac_dtype d) {
  return d == AC_F32 || d == AC_F16 || d == AC_BF16;
}

static bool takes(const ac_node *n) {
  return n->op == AC_G_SOFTMAX || n->op == AC_G_LOG_SOFTMAX;
}

static bool plan(pl_ctx *p, const ac_node *n, const int *outs, int n_outs) {
  assert(n_outs >= 1);
  const char *id = ac_op_info(n->op)->id;
  const ac_value *x = pl_arg(n, "input")->t;
  soft *s = AC_NEW(p->a, soft);
  *s = (soft){.p = p, .log = n->op == AC_G_LOG_SOFTMAX, .in = x->dtype, .out = n->outs[0]->dtype, .tensor = outs[0]};
  if (!is_float(s->in) || !is_float(s->out))
    return pl_refuse(p, n->loc, id, "its dtypes are %s and %s; covered are float32, float16 and bfloat16",
                     ac_dtypes[s->in].name, ac_dtypes[s->out].name);
  if (!pl_const_int(n, "dim", &s->dim)) return pl_refuse(p, n->loc, id, "dim must be a constant");
  if (!pl_need(p, x)) return false;
  int in = pl_tensor_of(p, x);
  s->v = x;
  s->from = in;
  s->input = p->tensors.data[in].input;
  s->x = p->tensors.data[in].name;
  s->y = p->tensors.data[outs[0]].name;
  s->op = pl_stage_name(p, outs[0]);
  row_kernel(s, false);
  row_kernel(s, true);
  long_kernel(s);
  if (s->dim != -1) inner_kernel(s);
  const char *doc =
      ac_sprintf(p->a, "%s over dimension %lld.", s->log ? "log_softmax" : "softmax", (long long)s->dim);
  pl_stage_host(p, doc, host, s);
  return true;
}

const pl_class pl_softmax_class = {.name = "softmax", .takes = takes, .plan = plan};

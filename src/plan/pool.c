/* Schedule: pooling windows over the last one, two or three dimensions: averages and maxima, with or without indices.
 *
 * The tensor is planes x depth x height x width; what the operation lacks of these is 1 (pooling along one dimension: its rows are the
 * height, with a window of 1). A window is taken apart by its axes. Along depth and height its taps are whole rows, joined as vectors of the
 * width: rows `stride` apart are one stepped slice. Only then, on as many rows as the output has, come the taps along the width: there the
 * neighbours of an element lie in one block of UB, where no slice can be shifted, so a tap is a gather, of all rows of the unit at once.
 * Where more taps than two or so fall on a result, the rows are turned instead: side by side, so that a step along the width is one of whole
 * blocks. Then shifted slices are free, windows double from 1 tap to 2, 4, ..., and two gathers do, whatever the window.
 *
 * Borders: rows beyond the input are left out (ranges are clipped); along the width a row has `edge` lanes to its left and what the
 * last windows need to its right, filled with 0 or -inf. Everything is float32; half types are rounded once, at the end.
 *
 * Of equal maxima the index is that of the first in the order depth, height, width, and a NaN wins over all; so with indices the taps are
 * taken one by one in that order (pool_index.c).
 */
#include "plan/pool.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- what the operation says ---- */

static bool takes(const ac_node *n) {
  return ac_op_windows(n->op) > 0;
}

static bool adaptive(ac_op op) {
  return op == AC_G_ADAPTIVE_AVG_POOL1D || op == AC_G_ADAPTIVE_AVG_POOL2D || op == AC_G_ADAPTIVE_AVG_POOL3D;
}

/* Numbers of an argument into the last `nd` of three; one number stands for all, none at all leaves what is there. */
static void numbers(const ac_node *n, const char *name, int nd, int64_t *v) {
  const ac_arg *a = ac_node_arg(n, name);
  if (!a || a->absent || !a->n) return;
  for (int i = 0; i < nd; i++) v[3 - nd + i] = ac_arg_int(a, i);
}

static bool flag(const ac_node *n, const char *name) {
  const ac_arg *a = ac_node_arg(n, name);
  return a && !a->absent && a->b;
}

static void read_window(pool *q, const ac_node *n) {
  int at = 3 - q->nd;
  for (int i = 0; i < 3; i++) q->k[i] = q->s[i] = q->d[i] = 1;
  if (q->adaptive) return;
  numbers(n, "kernel_size", q->nd, &q->k[0]);
  memcpy(&q->s[at], &q->k[at], (size_t)q->nd * sizeof *q->s);
  numbers(n, "stride", q->nd, q->s);
  assert(q->s[0] > 0 && q->s[1] > 0 && q->s[2] > 0); /* the graph's rules */
  numbers(n, "padding", q->nd, q->p);
  numbers(n, "dilation", q->nd, q->d);
  q->include = flag(n, "count_include_pad");
  q->ceil = flag(n, "ceil_mode");
  const ac_arg *div = ac_node_arg(n, "divisor_override");
  if (div && !div->absent && div->i) q->divisor = (double)div->i->example;
  if (!q->divisor && !q->max && !q->ceil && (q->include || !(q->p[0] + q->p[1] + q->p[2])))
    q->divisor = (double)q->k[0] * (double)q->k[1] * (double)q->k[2];
}

int64_t pool_reach(const pool *q, int axis) {
  return (q->k[axis] - 1) * q->d[axis] + 1;
}

int64_t pool_tail(const pool *q) {
  return (q->edge + pool_reach(q, 2) + POOL_LANES) / POOL_LANES * POOL_LANES;
}

/* Turning the rows takes a gather of all lanes, `stride` a result, and one of the results; else there is one a tap. */
static bool turning_pays(const pool *q) {
  return !q->adaptive && !q->indices && q->k[2] > q->s[2] + 1;
}

/* ---- tiles ---- */

/* Bytes of an element in UB: of a loaded row, of a row of partial results, of a row of results. */
static int64_t in_bytes(const pool *q) {
  return 2 * ac_dtypes[q->in].bytes + (q->in == AC_F32 ? 0 : 4);
}
static int64_t out_bytes(const pool *q) {
  return q->in == AC_F32 ? 8 : 4 + 2 * ac_dtypes[q->in].bytes;
}

/* Room that does not grow with the rows: index vectors, one tap, divisors; scratch of iota and the casts, and of integer division. */
static int64_t fixed_bytes(const pool *q, int64_t cols) {
  return (q->indices || q->adaptive ? 49152 : 20480) + 4 * pool_tail(q) + cols * (q->indices ? 72 : 16);
}

/* The tile with rows of `width` lanes: as many rows of the output as fit; taps in parts when not one does. */
static bool fit(const pool *q, int64_t width, pool_tile *t) {
  int64_t reach = pool_reach(q, 2), cols = (width - q->edge - reach) / q->s[2] + 1;
  *t = (pool_tile){.width = width, .cols = cols / POOL_ROW * POOL_ROW};
  if (q->adaptive) t->cols = (width - POOL_LANES) / POOL_ROW * POOL_ROW;
  if (width <= q->edge + reach || t->cols < POOL_ROW) return false;
  int64_t room = pl_ub_budget(q->p_) - fixed_bytes(q, t->cols);
  int64_t a = in_bytes(q) * width;
  int64_t b = (q->indices ? 4 : 8) * width + (out_bytes(q) + (q->indices ? 20 : q->adaptive ? 24 : 12)) * t->cols;
  if (q->turns) b = 20 * width + 8 * pool_tail(q) + (out_bytes(q) + 4) * t->cols;
  int64_t high = pool_reach(q, 1);
  /* rows * b + ((rows - 1) * stride + high) * a <= room */
  int64_t rows = (room - (high - q->s[1]) * a) / (b + q->s[1] * a);
  if (q->uneven_rows) rows = 0;
  if (q->turns && rows < POOL_LANES) return false;
  if (q->turns) rows = rows / POOL_LANES * POOL_LANES;
  t->rows = rows < 1 ? 1 : rows;
  t->in_rows = (t->rows - 1) * q->s[1] + high;
  t->taps = q->k[1];
  if (rows >= 1) return true;
  t->in_rows = (room - b) / a;
  if (t->in_rows < 1) return false;
  t->taps = (t->in_rows - 1) / q->d[1] + 1;
  t->in_rows = (t->taps - 1) * q->d[1] + 1;
  return true;
}

static int64_t up(int64_t n) {
  return (n + POOL_ROW - 1) / POOL_ROW * POOL_ROW;
}

/* Lanes of a row for as many results as the traced shape has. */
static int64_t traced_width(const pool *q) {
  int64_t in = q->x->shape[q->x->rank - 1]->example, out = up(q->y->shape[q->y->rank - 1]->example);
  if (q->adaptive) return up(in > out ? in : out) + POOL_ROW;
  return up((out - 1) * q->s[2] + pool_reach(q, 2) + q->edge);
}

/* Three widths: of small images, of the traced ones, and the widest that fits, which wider images are cut to. */
static bool choose_tiles(pool *q) {
  static const int64_t most[] = {256, 512, 1024, 2048, 4096, 6144};
  int64_t traced = traced_width(q), small = up(64 * q->s[2] + pool_reach(q, 2) + q->edge);
  pool_tile t;
  if (small < 1024 && fit(q, small, &t)) q->tile[q->n_tiles++] = t;
  if (traced > small && traced < most[AC_COUNT(most) - 1] && fit(q, traced, &t)) q->tile[q->n_tiles++] = t;
  bool wide = false;
  for (size_t i = 0; i < AC_COUNT(most); i++) {
    int64_t width = most[i] + up(q->edge), before = q->n_tiles > wide ? q->tile[q->n_tiles - wide - 1].width : 0;
    if (width <= before || !fit(q, width, &t)) continue;
    if (q->n_tiles && !q->adaptive && (t.taps < q->k[1] || (wide && t.rows < 4))) break; /* rather cut the rows */
    q->tile[wide ? q->n_tiles - 1 : q->n_tiles++] = t;
    wide = true;
  }
  return q->n_tiles > 0;
}

/* ---- the host function ---- */

static const char *mul3(pl_ctx *p, const char *a, const char *b, const char *c) {
  return ac_sprintf(p->a, "%s * %s * %s", a, b, c);
}

static const char *host_name(pool *q, const char *wish) {
  return pl_name(&q->p_->names, wish);
}

/* Sizes of the tensor as planes x depth x height x width, and of the output. */
static void sizes(pool *q) {
  pl_ctx *p = q->p_;
  const ac_value *x = q->x, *y = q->y;
  int lead = x->rank - q->nd, r = x->rank;
  static const char *const in_names[] = {"depth", "height", "width"};
  static const char *const out_names[] = {"out_depth", "out_height", "out_width"};
  q->planes = host_name(q, "planes");
  if (q->nd == 1)
    pl_note(p, "Rows side by side: windows are along the last dimension alone, so all that is before it counts as "
               "the height of one plane.");
  pl_let(p, q->planes, "%s", q->nd == 1 ? "1" : pl_product_text(p, x, 0, lead));
  for (int i = 0; i < 3; i++) {
    q->size[i] = host_name(q, in_names[i]);
    q->out[i] = host_name(q, out_names[i]);
    int d = i - (3 - q->nd); /* spatial dimension of the tensor */
    if (d >= 0) {
      pl_let(p, q->size[i], "%s", pl_sym_text(p, x->shape[r - q->nd + d]));
      pl_let(p, q->out[i], "%s", pl_sym_text(p, y->shape[r - q->nd + d]));
      continue;
    }
    const char *rows = i == 1 && q->nd == 1 ? pl_product_text(p, x, 0, lead) : "1";
    pl_let(p, q->size[i], "%s", rows);
    pl_let(p, q->out[i], "%s", q->size[i]);
  }
  if (q->indices)
    pl_refuse_if(p,
                 ac_sprintf(p->a, "%s >= 2147483648", mul3(p, q->size[0], q->nd == 1 ? "1" : q->size[1], q->size[2])),
                 "indices are computed in 32 bits");
}

static void launch_tile(pool *q, const pool_tile *t) {
  pl_ctx *p = q->p_;
  pl_note(p, "Tiling: rows of %lld lanes; %lld of the input beside %lld of the output%s.", (long long)t->width,
          (long long)t->in_rows, (long long)t->rows,
          t->taps < q->k[1] || q->uneven_rows ? ", whose windows are taken in parts" : "");
  pl_let(p, q->col_blocks, "tl.cdiv(%s, %lld)", q->out[2], (long long)t->cols);
  pl_let(p, q->rows, "max(1, min(%lld, min(%s, tl.cdiv(%s * %s * %s * %s, tl.num_cores()))))", (long long)t->rows,
         q->out[1], q->planes, q->out[0], q->out[1], q->col_blocks);
  pl_let(p, q->row_blocks, "tl.cdiv(%s, %s)", q->out[1], q->rows);
  pl_let(p, q->units, "%s * %s * %s * %s", q->planes, q->out[0], q->row_blocks, q->col_blocks);
  AC_VEC(ac_cexpr *) v = {0};
  ac_push(p->a, &v, ac_ce_name(&p->b, p->tensors.data[pl_tensor_of(p, q->x)].name));
  for (int i = 0; i < 2; i++)
    if (q->tensor[i] >= 0) ac_push(p->a, &v, ac_ce_name(&p->b, p->tensors.data[q->tensor[i]].name));
  /* images of that width come without gaps, in one block */
  ac_push(p->a, &v,
          ac_ce_parse(&p->b, "max(1, min(%lld, tl.cdiv(%s, %d)))", (long long)(t->width / POOL_ROW), q->size[2],
                      POOL_ROW));
  const char *sizes_[] = {q->size[0], q->size[1], q->size[2], q->out[0], q->out[1], q->out[2], q->rows};
  for (size_t i = 0; i < AC_COUNT(sizes_); i++)
    if (q->nd == 3 || (i != 0 && i != 3)) ac_push(p->a, &v, ac_ce_name(&p->b, sizes_[i]));
  ac_push(p->a, &v, ac_ce_parse(&p->b, "max(1, %s)", q->row_blocks));
  ac_push(p->a, &v, ac_ce_parse(&p->b, "max(1, %s)", q->col_blocks));
  ac_push(p->a, &v, ac_ce_name(&p->b, q->units));
  int64_t numbers_[] = {t->width / POOL_ROW, t->cols / POOL_ROW, t->in_rows,
                        q->turns ? t->rows / POOL_LANES : t->rows};
  for (size_t i = 0; i < AC_COUNT(numbers_); i++) ac_push(p->a, &v, ac_ce_int(&p->b, numbers_[i]));
  if (q->parts && !q->uneven_rows) ac_push(p->a, &v, ac_ce_int(&p->b, t->taps));
  ac_cb_launch(&p->b, q->kernel, ac_ce_parse(&p->b, "max(1, min(tl.num_cores(), %s))", q->units), (int)v.len, v.data);
}

static void host(pl_ctx *p, void *self) {
  pool *q = self;
  ac_cbuild *b = &p->b;
  for (int i = 0; i < 2; i++)
    if (q->tensor[i] >= 0) pl_declare(p, q->tensor[i]);
  sizes(q);
  if (q->adaptive)
    pl_refuse_if(
        p, ac_sprintf(p->a, "max(%s, %s) > %lld", q->size[2], q->out[2], (long long)q->tile[q->n_tiles - 1].cols),
        "adaptive pooling of rows that do not fit UB");
  q->rows = host_name(q, "rows");
  q->row_blocks = host_name(q, "row_blocks");
  q->col_blocks = host_name(q, "col_blocks");
  q->units = host_name(q, "n_units");
  pl_note(
      p,
      "Core partitioning: a unit is some rows of one plane of the output; the cores share the units evenly. With few "
      "planes a unit has fewer rows than UB allows, so that every core gets one.");
  for (int i = 0; i < q->n_tiles; i++) {
    const char *wide = q->adaptive ? ac_sprintf(p->a, "max(%s, %s)", q->size[2], q->out[2]) : q->out[2];
    if (i < q->n_tiles - 1) {
      ac_cexpr *c = ac_ce_parse(b, "%s <= %lld", wide, (long long)q->tile[i].cols);
      if (i)
        ac_cb_elif(b, c);
      else
        ac_cb_if(b, c);
    } else if (i)
      ac_cb_else(b);
    launch_tile(q, &q->tile[i]);
  }
  if (q->n_tiles > 1) ac_cb_end(b);
}

/* ---- entry ---- */

static bool is_float(ac_dtype d) {
  return d == AC_F32 || d == AC_F16 || d == AC_BF16;
}

static bool plan(pl_ctx *p, const ac_node *n, const int *outs, int n_outs) {
  const char *id = ac_op_info(n->op)->id;
  pool *q = AC_NEW(p->a, pool);
  *q = (pool){.p_ = p, .x = pl_arg(n, "input")->t, .y = n->outs[0], .nd = ac_op_windows(n->op), .tensor = {-1, -1}};
  q->in = q->x->dtype;
  q->adaptive = adaptive(n->op);
  q->uneven_rows = q->adaptive && q->nd > 1;
  q->max = ac_node_arg(n, "return_indices") != NULL;
  if (!is_float(q->in))
    return pl_refuse(p, n->loc, id, "its dtype is %s; covered are float32, float16 and bfloat16",
                     ac_dtypes[q->in].name);
  for (int i = 0; i < n_outs; i++) q->tensor[p->tensors.data[outs[i]].v == n->outs[0] ? 0 : 1] = outs[i];
  q->indices = q->tensor[1] >= 0;
  read_window(q, n);
  int e; /* the power of two above the elements of a window; adaptive windows may have a million */
  (void)frexp((double)q->k[0] * (double)q->k[1] * (double)q->k[2] - 0.5, &e);
  q->shrink = q->max ? 1 : ldexp(1, q->adaptive ? -20 : -e);
  q->edge = (q->p[2] + POOL_LANES - 1) / POOL_LANES * POOL_LANES;
  q->turns = turning_pays(q);
  if (q->turns && !choose_tiles(q)) q->turns = false; /* the window is too wide for eight rows at once */
  if (!q->n_tiles && !choose_tiles(q))
    return pl_refuse(p, n->loc, id,
                     "along the last dimension its window reaches over %lld elements, in steps of %lld: more than UB "
                     "holds; about 6,000 for both together are covered",
                     (long long)pool_reach(q, 2), (long long)q->s[2]);
  for (int i = 0; i < q->n_tiles; i++) q->parts |= q->uneven_rows || q->tile[i].taps < q->k[1];
  if (!pl_need(p, q->x)) return false;
  q->kernel = ac_sprintf(p->a, "%s_kernel", pl_stage_name(p, outs[0]));
  pool_kernel(q);
  pl_stage_host(p, ac_sprintf(p->a, "%s: windows by whole rows, then along the rows.", id), host, q);
  return true;
}

const pl_class pl_pool_class = {.name = "pool", .takes = takes, .plan = plan};

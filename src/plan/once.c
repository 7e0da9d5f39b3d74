/* Rows that fit UB, as many at a time as fit: everything is read once, and all reductions are made in UB.
 *
 * A buffer holds a tile of rows x columns, one number a row, or one row that all rows share (a weight). What meets a whole tile is spread
 * with tl.broadcast, so that no row waits for a scalar.
 */
#include "plan/passes.h"

#include <string.h>

enum { NONE, PER_ROW = 1, PER_COLUMN = 2, TILE = 3, CLASSES = 4 };
/* With fewer rows at a time the passes over tiles are faster. */
enum { FEW = 3 };
enum {
  SCRATCH = 24 * 1024
}; /* of reductions along rows and broadcasts: two pieces of 2,048 elements and what joins them */

struct red_once {
  vir q;
  int *map;            /* by register and class; -1 */
  const char **shared; /* by leaf: buffer of a row that all rows share */
  const char *kernel;
  double tile_bytes, column_bytes;
  int64_t row_bytes, room, longest;
  const char *lanes; /* buffer of 64 lanes a row; NULL: nothing is reduced */
  int align;         /* elements of the shortest dtype in 32 bytes */
  int open;          /* branches of the host function */
};

static uint64_t kept(const red *r) {
  return red_kept_groups(r);
}

static int class_of(const red *r, int reg) {
  uint64_t a = r->c.v.regs.data[reg].axes;
  return ((a & kept(r)) ? PER_ROW : 0) | ((a & r->g.reduced) ? PER_COLUMN : 0);
}

/* Whole rows or parts of tensors that vary along all kept dimensions or none; masks have one dimension only. */
static bool fits(const red *r) {
  const vir *v = &r->c.v;
  uint64_t k = kept(r), lanes = UINT64_C(1) << r->lanes;
  if (!r->rows || !k || r->g.reduced != lanes) return false;
  for (int i = 0; i < r->c.n_leaves; i++)
    if ((r->c.leaves[i].has & k) && (r->c.leaves[i].has & k) != k) return false;
  for (size_t i = 0; i < v->ops.len; i++) {
    const vir_op *o = &v->ops.data[i];
    const vir_reg *d = &v->regs.data[o->dst];
    if (!r->live[o->dst]) continue;
    if (d->mask && class_of(r, o->dst) != PER_ROW) return false;
    if (!strncmp(o->prim, "vselect", 7) && class_of(r, o->dst) != PER_ROW) return false;
    if (red_kind_of(o->prim) != RED_NONE && (d->dtype != AC_F32 || class_of(r, o->arg[0].reg) != TILE)) return false;
  }
  return true;
}

static int at(red *r, red_once *w, int reg, int cls);

static int emit(red *r, red_once *w, const vir_op *o, int cls) {
  vir_op n = *o;
  n.cls = cls;
  for (int k = 0; k < o->n_args; k++) {
    if (o->arg[k].kind != PV_VEC && o->arg[k].kind != PV_MASK) continue;
    n.arg[k].reg = at(r, w, o->arg[k].reg, red_kind_of(o->prim) != RED_NONE ? TILE : cls);
  }
  const vir_reg *d = &r->c.v.regs.data[o->dst];
  return vir_copy(&w->q, n, d->dtype, d->mask);
}

static int of_leaf(red *r, red_once *w, int reg) {
  const vir_reg *g = &r->c.v.regs.data[reg];
  int x, cls = class_of(r, reg);
  if (cls == PER_COLUMN) {
    if (!w->shared[g->leaf])
      w->shared[g->leaf] = pl_name(r->names, r->p->tensors.data[r->c.leaves[g->leaf].tensor].name);
    x = vir_home(&w->q, w->shared[g->leaf], g->dtype);
  } else
    x = vir_leaf(&w->q, g->leaf, g->dtype);
  w->q.regs.data[x].cls = cls;
  return x;
}

/* The register's value in buffers of a class that has its own class in it. */
static int at(red *r, red_once *w, int reg, int cls) {
  int *known = &w->map[reg * CLASSES + cls], own = class_of(r, reg);
  if (*known >= 0) return *known;
  const vir_reg *g = &r->c.v.regs.data[reg];
  const vir_op *o = g->def >= 0 ? &r->c.v.ops.data[g->def] : NULL;
  int x;
  if (own == cls || (o && r->constant[reg]))
    x = o ? emit(r, w, o, cls) : of_leaf(r, w, reg);
  else {
    vir_op b = {.prim = "broadcast", .n_args = 1, .round = AC_RN_NONE, .cls = cls};
    b.arg[0] = (pv){.kind = PV_VEC, .reg = at(r, w, reg, own)};
    x = vir_copy(&w->q, b, g->dtype, false);
  }
  return w->map[reg * CLASSES + cls] = x;
}

/* A copy that spreads its operand is the broadcast itself. */
static int spread(red *r, red_once *w, int reg) {
  const vir_reg *g = &r->c.v.regs.data[reg];
  const vir_op *o = g->def >= 0 ? &r->c.v.ops.data[g->def] : NULL;
  return at(r, w, o && !strcmp(o->prim, "vcopy") ? o->arg[0].reg : reg, class_of(r, reg));
}

static void assign(red *r, red_once *w) {
  const char *leaves[PL_MAX_LEAVES];
  for (int k = 0; k < r->c.n_leaves; k++) leaves[k] = r->p->tensors.data[r->c.leaves[k].tensor].name;
  const char **outs = AC_NEW_N(r->p->a, const char *, r->outs.len);
  for (size_t o = 0; o < r->outs.len; o++) outs[o] = r->p->tensors.data[r->outs.data[o]].name;
  vir_assign(&w->q, leaves, outs, r->names);
  for (size_t i = 0; i < w->q.bufs.len; i++) {
    const vir_buf *b = &w->q.bufs.data[i];
    int bytes = b->mask ? 1 : ac_dtypes[b->dtype].bytes * (b->loaded || b->stored ? 2 : 1);
    int per = 32 / ac_dtypes[b->dtype].bytes;
    if (!b->mask && per > w->align) w->align = per;
    if (b->outside)
      w->column_bytes += ac_dtypes[b->dtype].bytes;
    else if (b->cls == TILE)
      w->tile_bytes += bytes;
    else if (b->cls == PER_COLUMN)
      w->column_bytes += bytes;
    else
      w->row_bytes += bytes;
  }
  for (size_t i = 0; i < w->q.ops.len && !w->lanes; i++)
    if (red_kind_of(w->q.ops.data[i].prim) != RED_NONE) w->lanes = pl_name(r->names, "lanes");
  if (w->lanes) w->row_bytes += 256;
  w->room = pl_ub_budget(r->p) - SCRATCH - vir_scratch(&w->q) - 64 * (int64_t)w->q.bufs.len;
}

/* ---- the kernel ---- */

static const char *address(int cls) {
  return cls == TILE ? "offs" : cls == PER_ROW ? "row + tl.arange(0, n)" : "tl.arange(0, cols)";
}

static void alloc(red *r, const char *name, ac_dtype d, int cls) {
  pl_alloc(r->p, name, cls == TILE ? "(tile_rows, tile_cols)" : cls == PER_ROW ? "tile_rows" : "tile_cols", d, false);
}

/* Along all rows at once: pieces of 64 columns are joined, one instruction for all rows, and 64 lanes a row are left to be reduced. */
static void reduce_rows(red *r, red_once *w, const vir_op *o) {
  ac_cbuild *b = &r->p->b;
  const char *to = w->q.bufs.data[w->q.regs.data[o->dst].buf].name;
  const char *x = w->q.bufs.data[w->q.regs.data[o->arg[0].reg].buf].name, *l = w->lanes;
  red_kind k = red_kind_of(o->prim);
  ac_cb_call(b, ac_ce_tl(b, "duplicate", 2, ac_ce_parse(b, "%s[0:n, 0:64]", l),
                         ac_ce_float(b, red_identity(k, AC_F32).num)));
  ac_cb_for(b, "piece", ac_ce_int(b, 0), ac_ce_parse(b, "tl.cdiv(cols, 64)"), NULL);
  pl_let(r->p, "w", "min(64, cols - piece * 64)");
  ac_cb_call(b, ac_ce_parse(b, "tl.%s(%s[0:n, 0:w], %s[0:n, 0:w], %s[0:n, piece * 64:piece * 64 + w])", red_join(k),
                            l, l, x));
  ac_cb_end(b);
  ac_cb_call(b, ac_ce_parse(b, "tl.%s(%s, %s[0:n, 0:64], axis=-1)", o->prim, to, l));
}

static void compute(red *r, red_once *w) {
  ac_cbuild *b = &r->p->b;
  for (size_t i = 0; i < w->q.ops.len; i++) {
    const vir_op *o = &w->q.ops.data[i];
    if (red_kind_of(o->prim) != RED_NONE) {
      reduce_rows(r, w, o);
      continue;
    }
    const char *dst = w->q.bufs.data[w->q.regs.data[o->dst].buf].name;
    bool fills = !strcmp(o->prim, "broadcast") || !strcmp(o->prim, "duplicate");
    ac_cexpr *to = fills && o->cls == TILE ? ac_ce_parse(b, "%s[0:n, 0:cols]", dst) : NULL;
    ac_cexpr *call = vir_call(&w->q, o, to);
    if (!strcmp(o->prim, "broadcast"))
      ac_ce_kwarg(b, call, "axis", ac_ce_int(b, w->q.regs.data[o->arg[0].reg].cls == PER_ROW));
    if (!strcmp(o->prim, "duplicate") && o->cls != TILE)
      ac_ce_kwarg(b, call, "count", ac_ce_name(b, o->cls == PER_ROW ? "n" : "cols"));
    ac_cb_call(b, call);
  }
}

static void tile_of_rows(red *r, red_once *w) {
  pl_ctx *p = r->p;
  ac_cbuild *b = &p->b;
  pl_let(p, "n", "min(tile_rows, last - row)");
  pl_let(p, "offs", "row * cols + tl.arange(0, n)[:, None] * cols + tl.arange(0, cols)[None, :]");
  ac_cb_with(b, AC_STAGE_COPYIN);
  for (size_t i = 0; i < w->q.bufs.len; i++) {
    const vir_buf *x = &w->q.bufs.data[i];
    if (x->owner_leaf >= 0) pl_load(p, r->c.leaves[x->owner_leaf].ptr, address(x->cls), x->name);
  }
  ac_cb_end(b);
  ac_cb_with(b, AC_STAGE_COMPUTE);
  compute(r, w);
  ac_cb_end(b);
  ac_cb_with(b, AC_STAGE_COPYOUT);
  for (size_t o = 0; o < w->q.outs.len; o++) {
    const vir_buf *x = &w->q.bufs.data[w->q.outs.data[o].buf];
    pl_store(p, r->out_ptr[o], address(x->cls), x->name);
  }
  ac_cb_end(b);
}

static void params(red *r) {
  ac_cbuild *b = &r->p->b;
  red_params(r);
  static const char *const sizes[] = {"rows", "cols", "per_core", "tile_rows", "tile_cols"};
  for (size_t i = 0; i < AC_COUNT(sizes); i++) ac_cb_param(b, sizes[i], NULL);
  for (size_t i = 0; i < r->c.scalars.len; i++) ac_cb_param(b, r->c.scalars.data[i].name, NULL);
}

static void kernel(red *r, red_once *w) {
  pl_ctx *p = r->p;
  ac_cbuild *b = &p->b;
  w->kernel = ac_sprintf(p->a, "%s_rows", r->kernel);
  ac_cfunc *f = ac_cb_func(b, w->kernel, true);
  f->doc = "Rows that fit UB, `tile_rows` at a time: read once, written once.";
  params(r);
  pl_let(p, "pid", "tl.program_id(0)");
  pl_let(p, "first", "pid * per_core");
  pl_let(p, "last", "min(first + per_core, rows)");
  for (size_t i = 0; i < w->q.bufs.len; i++) {
    const vir_buf *x = &w->q.bufs.data[i];
    alloc(r, x->name, x->mask ? AC_MASK : x->dtype, x->outside ? PER_COLUMN : x->cls);
  }
  if (w->lanes) pl_alloc(p, w->lanes, "(tile_rows, 64)", AC_F32, false);
  bool any = false;
  for (int k = 0; k < r->c.n_leaves; k++) {
    if (!w->shared[k]) continue;
    if (!any) ac_cb_with(b, AC_STAGE_COPYIN);
    if (!any) ac_cb_comment(b, "once for all rows");
    any = true;
    pl_load(p, r->c.leaves[k].ptr, address(PER_COLUMN), w->shared[k]);
  }
  if (any) ac_cb_end(b);
  for (int k = 0; k < r->c.n_leaves; k++)
    if (r->c.leaves[k].scalar && !r->c.leaves[k].has)
      pl_let(p, r->c.leaves[k].scalar, "tl.extract_scalar(%s, 0)", r->c.leaves[k].ptr);
  ac_cb_for(b, "row", ac_ce_name(b, "first"), ac_ce_name(b, "last"), ac_ce_name(b, "tile_rows"));
  tile_of_rows(r, w);
  ac_cb_end(b);
  red_finish(r, f);
}

/* Rows of up to `cols` elements that fit at a time. */
static int64_t rows_for(const red_once *w, int64_t cols) {
  int64_t n = (int64_t)(((double)w->room - (double)cols * w->column_bytes) /
                        ((double)cols * w->tile_bytes + (double)w->row_bytes));
  return n >= 16 ? n / 16 * 16 : n;
}

static const int64_t steps[] = {128, 1024}; /* longest rows of a branch */

red_once *red_rows_at_once(red *r) {
  if (!fits(r)) return NULL;
  red_once *w = AC_NEW(r->p->a, red_once);
  size_t n = r->c.v.regs.len;
  w->q.p = r->p;
  w->q.apart = true;
  w->map = AC_NEW_N(r->p->a, int, n *CLASSES);
  for (size_t i = 0; i < n * CLASSES; i++) w->map[i] = -1;
  w->shared = AC_NEW_N(r->p->a, const char *, PL_MAX_LEAVES);
  for (size_t o = 0; o < r->c.v.outs.len; o++)
    vir_output(&w->q, spread(r, w, r->c.v.outs.data[o].reg), r->c.v.outs.data[o].dtype);
  assign(r, w);
  for (size_t i = 0; i < AC_COUNT(steps); i++)
    if (rows_for(w, steps[i]) >= FEW) w->longest = steps[i];
  int64_t cols = 1, d;
  for (int i = r->c.groups[r->lanes].from; i < r->c.groups[r->lanes].to && cols; i++)
    if (!ac_sym_is_const(r->space.dim[i], &d) || __builtin_mul_overflow(cols, d, &cols)) cols = 0;
  if (cols > w->longest || !w->longest) return NULL;
  kernel(r, w);
  return w;
}

/* ---- the host function ---- */

void red_once_host(red *r, red_once *w) {
  pl_ctx *p = r->p;
  ac_cbuild *b = &p->b;
  const char *cols = r->c.groups[r->lanes].name;
  int64_t longest = w->longest;
  pl_note(p,
          "Tiling: rows of up to %lld elements fit UB, shorter ones several at a time; an element takes %s bytes. "
          "Rows of "
          "whole 32 bytes lie in UB without gaps.",
          (long long)longest, ac_sprintf(p->a, "%g", w->tile_bytes + w->column_bytes));
  for (size_t i = 0; i < AC_COUNT(steps); i++) {
    int64_t n = rows_for(w, steps[i]);
    if (n < FEW) continue;
    ac_cexpr *cond = ac_ce_parse(b, "%s <= %lld", cols, (long long)steps[i]);
    if (!w->open++)
      ac_cb_if(b, cond);
    else
      ac_cb_elif(b, cond);
    const char *args[PL_MAX_LEAVES * 2 + 16];
    size_t k = 0;
    for (int l = 0; l < r->c.n_leaves; l++) args[k++] = p->tensors.data[r->c.leaves[l].tensor].name;
    for (size_t o = 0; o < r->outs.len && k < PL_MAX_LEAVES * 2; o++)
      args[k++] = p->tensors.data[r->outs.data[o]].name;
    args[k++] = red_here(r, "units");
    args[k++] = cols;
    args[k++] = red_here(r, "per_core");
    args[k++] = ac_sprintf(p->a, "%lld", (long long)n);
    args[k++] = ac_sprintf(p->a, "tl.align_up(%s, %d)", cols, w->align);
    for (size_t s = 0; s < r->c.scalars.len && k < AC_COUNT(args); s++) args[k++] = r->c.scalars.data[s].host;
    red_launch(r, w->kernel, red_here(r, "max(1, tl.cdiv(units, per_core))"), args, k);
  }
}

/* Schedule: tensors that positions alone make (arange, eye), and those of which positions keep a part (tril, triu).
 *
 * Cores have equal parts of the elements, in whole 512 bytes. Of a matrix a core's part goes row by row: which columns are kept depends on the
 * row, and the columns' numbers are compared with the one where that ends.
 */
#include "plan/gather.h"

#include <string.h>

typedef struct {
  pl_ctx *p;
  const ac_node *n;
  const ac_value *x; /* what a part is kept of; NULL: nothing is read */
  const ac_value *y;
  int tensor;
  ac_dtype dtype, made; /* of the result; what numbers are made in */
  double start, step;
  int64_t diagonal;
  const char *diagonal_text; /* of the host function, where it is a number that the caller gives; else NULL */
  const char *kernel, *xn, *yn, *x_ptr, *y_ptr, *x_buf, *y_buf;
  int64_t tile;
} create;

static bool takes(const ac_node *n) {
  return n->op == AC_G_ARANGE || n->op == AC_G_EYE || n->op == AC_G_TRIL || n->op == AC_G_TRIU;
}

static const char *number(const create *g, double v) {
  return ac_sprintf(g->p->a, ac_dtypes[g->made].cls == AC_FLOATING ? "%.17g%s" : "%.0f%s", v,
                    ac_dtypes[g->made].cls == AC_FLOATING && v == (double)(int64_t)v ? ".0" : "");
}

/* ---- kernels ---- */

static void begin(create *g, const char *doc, bool matrix) {
  pl_ctx *p = g->p;
  ac_cbuild *b = &p->b;
  ac_cfunc *f = ac_cb_func(b, ac_sprintf(p->a, "%s_kernel", g->kernel), true);
  f->doc = doc;
  if (g->x) ac_cb_param(b, g->x_ptr, pl_tensor_type(p, g->dtype));
  ac_cb_param(b, g->y_ptr, pl_tensor_type(p, g->dtype));
  static const char *const sizes[] = {"n", "per_core", "tile", "rows", "cols"};
  for (int i = 0; i < (matrix ? 5 : 3); i++) ac_cb_param(b, sizes[i], NULL);
  if (g->diagonal_text) ac_cb_param(b, "diagonal", NULL);
  pl_let(p, "pid", "tl.program_id(0)");
  pl_let(p, "start", "pid * per_core");
  pl_let(p, "end", "min(start + per_core, n)");
  if (g->x) pl_alloc(p, g->x_buf, "tile", g->dtype, false);
  pl_alloc(p, g->y_buf, "tile", g->dtype, false);
}

static void store(create *g, const char *from) {
  ac_cb_with(&g->p->b, AC_STAGE_COPYOUT);
  ix_call(g->p, "tl.store(%s + offs, %s)", g->y_ptr, from);
  ac_cb_end(&g->p->b);
}

static void count_kernel(create *g) {
  pl_ctx *p = g->p;
  ac_cbuild *b = &p->b;
  begin(g, "Elements [pid * per_core, (pid + 1) * per_core) of the numbers in equal steps.", false);
  bool narrow = g->made != g->dtype;
  if (narrow) pl_alloc(p, "wide", "tile", g->made, false);
  ac_cb_for(b, "i", ac_ce_name(b, "start"), ac_ce_name(b, "end"), ac_ce_name(b, "tile"));
  pl_let(p, "count", "min(tile, end - i)");
  pl_let(p, "offs", "i + tl.arange(0, count)");
  ac_cb_with(b, AC_STAGE_COMPUTE);
  const char *first = g->start != 0 ? ac_sprintf(p->a, "%s + i * %s", number(g, g->start), number(g, g->step))
                                    : ac_sprintf(p->a, "i * %s", number(g, g->step));
  if (g->start == 0 && g->step == 1) first = ac_dtypes[g->made].cls == AC_FLOATING ? "float(i)" : "i";
  const char *step = g->step != 1 ? ac_sprintf(p->a, ", step=%s", number(g, g->step)) : "";
  ix_call(p, "tl.iota(%s, %s%s, count=count)", narrow ? "wide" : g->y_buf, first, step);
  if (narrow) ix_call(p, "tl.cast(%s, wide, mode=\"rint\", count=count)", g->y_buf);
  ac_cb_end(b);
  store(g, g->y_buf);
  ac_cb_end(b);
}

static void matrix_kernel(create *g) {
  pl_ctx *p = g->p;
  ac_cbuild *b = &p->b;
  begin(g, "Elements [pid * per_core, (pid + 1) * per_core), row by row.", true);
  pl_alloc(p, "column", "tile", AC_I32, false);
  pl_alloc(p, "kept", "tile", AC_MASK, false);
  ac_cb_comment(b, "the first and the last row may belong to this core in part only");
  ac_cb_for(b, "row", ac_ce_parse(b, "start // cols"), ac_ce_parse(b, "tl.cdiv(end, cols)"), NULL);
  pl_let(p, "lo", "max(start, row * cols)");
  pl_let(p, "hi", "min(end, row * cols + cols)");
  ac_cb_for(b, "i", ac_ce_name(b, "lo"), ac_ce_name(b, "hi"), ac_ce_name(b, "tile"));
  pl_let(p, "count", "min(tile, hi - i)");
  pl_let(p, "offs", "i + tl.arange(0, count)");
  if (g->x) {
    ac_cb_with(b, AC_STAGE_COPYIN);
    ix_call(p, "tl.load(%s + offs, %s)", g->x_ptr, g->x_buf);
    ac_cb_end(b);
  }
  ac_cb_with(b, AC_STAGE_COMPUTE);
  const char *diagonal = g->diagonal ? ac_sprintf(p->a, " + %lld", (long long)g->diagonal) : "";
  if (g->diagonal_text) diagonal = " + diagonal";
  if (g->diagonal < 0) diagonal = ac_sprintf(p->a, " - %llu", 0 - (unsigned long long)g->diagonal);
  ix_call(p, "tl.iota(column, i - row * cols, count=count)");
  ix_call(p, "tl.vcompare_scalar(kept, column, row %% rows%s, \"%s\", count=count)", diagonal,
          g->n->op == AC_G_EYE    ? "eq"
          : g->n->op == AC_G_TRIL ? "le"
                                  : "ge");
  bool floats = ac_dtypes[g->dtype].cls == AC_FLOATING;
  if (!g->x) ix_call(p, "tl.duplicate(%s, %s, count=count)", g->y_buf, floats ? "1.0" : "1");
  ix_call(p, "tl.vselect_scalar(%s, kept, %s, %s, count=count)", g->y_buf, g->x ? g->x_buf : g->y_buf,
          floats ? "0.0" : "0");
  ac_cb_end(b);
  store(g, g->y_buf);
  ac_cb_end(b);
  ac_cb_end(b);
}

/* ---- the host function ---- */

static void host(pl_ctx *p, void *self) {
  create *g = self;
  bool matrix = g->n->op != AC_G_ARANGE;
  int part = 512 / ac_dtypes[g->dtype].bytes, rank = g->y->rank;
  pl_declare(p, g->tensor);
  pl_rank_guards(p, g->y);
  pl_let(p, "n", "%s", pl_numel_text(p, g->y));
  if (matrix) {
    pl_let(p, "rows", "%s", pl_sym_text(p, g->y->shape[rank - 2]));
    pl_let(p, "cols", "%s", pl_sym_text(p, g->y->shape[rank - 1]));
  }
  pl_refuse_if(p, matrix ? "max(rows, cols) > 1073741824" : "n > 2147483647",
               matrix ? "matrices with more than 2^30 rows or columns" : "more than 2^31 - 1 numbers");
  if (g->diagonal_text)
    pl_refuse_if(p, ac_sprintf(p->a, "max(%s, -%s) > 1073741824", g->diagonal_text, g->diagonal_text),
                 "a diagonal farther than 2^30 from the main one");
  pl_note(p, "Core partitioning: equal parts, in whole 512 bytes. Tiling: a core with less to do takes smaller "
             "tiles, about four, so that "
             "there is something to overlap.");
  pl_let(p, "per_core", "max(%d, tl.align_up(tl.cdiv(n, tl.num_cores()), %d))", part, part);
  pl_let(p, "tile", "min(%lld, max(1024, tl.align_up(tl.cdiv(per_core, 4), 256)))", (long long)g->tile);
  ix_args args = {0};
  if (g->x) ix_arg(p, &args, g->xn);
  ix_arg(p, &args, g->yn);
  static const char *const sizes[] = {"n", "per_core", "tile", "max(1, rows)", "max(1, cols)"};
  for (int i = 0; i < (matrix ? 5 : 3); i++) ix_arg(p, &args, sizes[i]);
  if (g->diagonal_text) ix_arg(p, &args, g->diagonal_text);
  ac_cb_launch(&p->b, ac_sprintf(p->a, "%s_kernel", g->kernel), ac_ce_parse(&p->b, "max(1, tl.cdiv(n, per_core))"),
               (int)args.len, args.data);
}

/* ---- planning ---- */

static bool numbers(create *g, const char *id) {
  const ac_node *n = g->n;
  bool known = n->op != AC_G_ARANGE || (pl_number(n, "start", 0, &g->start) && pl_number(n, "step", 1, &g->step));
  bool part = n->op == AC_G_TRIL || n->op == AC_G_TRIU;
  if (part && !pl_const_int(n, "diagonal", &g->diagonal))
    g->diagonal_text = pl_sym_text(g->p, pl_arg(n, "diagonal")->i);
  if (!known) return pl_refuse(g->p, n->loc, id, "where it begins must be known now, not a size");
  if (g->diagonal > 1 << 30 || g->diagonal < -(1 << 30))
    return pl_refuse(g->p, n->loc, id, "a diagonal farther than 2^30 from the main one");
  ac_dclass cls = ac_dtypes[g->dtype].cls;
  bool fits = g->dtype != AC_F64 && (g->dtype != AC_BOOL || g->x);
  if (n->op == AC_G_ARANGE && cls != AC_FLOATING) fits = g->dtype == AC_I32 || g->dtype == AC_I64;
  if (!fits) return pl_refuse(g->p, n->loc, id, "its result is %s", ac_dtypes[g->dtype].name);
  g->made = n->op == AC_G_ARANGE && cls == AC_FLOATING ? AC_F32 : g->dtype;
  return true;
}

static bool plan(pl_ctx *p, const ac_node *n, const int *outs, int n_outs) {
  create *g = AC_NEW(p->a, create);
  const char *id = ac_op_info(n->op)->id;
  *g = (create){.p = p, .n = n, .tensor = outs[0], .y = n->outs[0], .dtype = n->outs[0]->dtype, .step = 1};
  if (n_outs != 1 || p->tensors.data[outs[0]].v != g->y) return pl_refuse(p, n->loc, id, "more than one result");
  if (n->op == AC_G_TRIL || n->op == AC_G_TRIU) g->x = pl_arg(n, "input")->t;
  if (!numbers(g, id) || (g->x && !pl_need(p, g->x))) return false;
  pl_names names;
  pl_names_init(&names, p->a);
  static const char *const own[] = {"n", "rows", "cols", "column", "kept", "wide", "diagonal"};
  for (size_t i = 0; i < AC_COUNT(own); i++) (void)pl_name(&names, own[i]);
  g->yn = p->tensors.data[outs[0]].name;
  if (g->x) g->xn = p->tensors.data[pl_tensor_of(p, g->x)].name;
  if (g->x) g->x_buf = pl_name(&names, g->xn), g->x_ptr = pl_name(&names, ac_sprintf(p->a, "%s_ptr", g->xn));
  g->y_buf = pl_name(&names, g->yn);
  g->y_ptr = pl_name(&names, ac_sprintf(p->a, "%s_ptr", g->yn));
  int bytes = ac_dtypes[g->dtype].bytes;
  int an_element = bytes * (g->x ? 4 : 2) + 5 + (g->made != g->dtype ? 4 : 0);
  g->tile = (pl_ub_budget(p) - 16384) / an_element / 256 * 256;
  g->kernel = pl_stage_name(p, outs[0]);
  if (n->op == AC_G_ARANGE)
    count_kernel(g);
  else
    matrix_kernel(g);
  pl_stage_host(p, ac_sprintf(p->a, "%s: by position.", id), host, g);
  return true;
}

const pl_class pl_create_class = {.name = "create", .takes = takes, .plan = plan};

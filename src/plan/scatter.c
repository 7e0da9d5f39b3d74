/* Schedules: writing by index tensors: index_add, index_copy, x[i] = v, scatter, scatter_add.
 *
 * Two cores never write to one place: each owns a part of the result and looks through all indices for those that point into it. What
 * several indices point to is taken in their order, so that results are the same on every run: of values that are set the last stays, sums
 * are added up in order. Whole pieces are found by vectors (compare, compress) and copied or added in memory; elements along a row are
 * placed in UB by the scalar unit, for the chip has no instruction that scatters. Sums of half types are made in float32.
 */
#include "plan/gather.h"

#include <assert.h>

typedef enum { SET, ADD, MULTIPLY } act;

typedef struct {
  pl_ctx *p;
  ix_set ix;
  const ac_value *x, *i, *src; /* src NULL: a number */
  const int *outs;
  int n_outs, at;
  const char *xn, *yn, *sn, *op, *sum; /* sum: workspace of float32 sums; NULL */
  ac_dtype dtype;
  act act;
  bool whole; /* an index a piece, not an element */
  pv scale;   /* index_add's alpha: NONE or a number */
  pv fill;    /* the number that is put everywhere */
  int along, n_groups;
  const char *size[AC_MAX_RANK], *to[AC_MAX_RANK], *from[AC_MAX_RANK];
} put;

static ac_dtype inner_dtype(const put *g) {
  bool half = g->dtype == AC_F16 || g->dtype == AC_BF16;
  return half && g->act != SET ? AC_F32 : g->dtype;
}

static bool converts(const put *g) {
  return inner_dtype(g) != g->dtype;
}

static int width_of(ac_dtype d) {
  return ac_dtypes[d].bytes;
}

static void begin(const put *g, const char *suffix, const char *doc) {
  ac_cfunc *f = ac_cb_func(&g->p->b, ac_sprintf(g->p->a, "%s_%s_kernel", g->op, suffix), true);
  f->doc = doc;
}

static void number_params(const put *g, const char *const *names) {
  for (; *names; names++) ac_cb_param(&g->p->b, *names, NULL);
}

static void launch(const put *g, const char *suffix, ix_args *a, const char *const *names) {
  for (; *names; names++) ix_arg(g->p, a, *names);
  ac_cb_launch(&g->p->b, ac_sprintf(g->p->a, "%s_%s_kernel", g->op, suffix), ac_ce_name(&g->p->b, "n_cores"),
               (int)a->len, a->data);
}

/* ---- everything that is not written by an index is the input's ---- */

static void copy_kernel(const put *g, const char *suffix, ac_dtype from, ac_dtype to, const char *doc) {
  pl_ctx *p = g->p;
  begin(g, suffix, doc);
  ac_cb_param(&p->b, "x_ptr", pl_tensor_type(p, from));
  ac_cb_param(&p->b, "y_ptr", pl_tensor_type(p, to));
  number_params(g, (const char *const[]){"n", "per_core", "tile", NULL});
  pl_let(p, "first", "tl.program_id(0) * per_core");
  pl_let(p, "last", "min(first + per_core, n)");
  pl_alloc(p, "x", "tile", from, false);
  if (from != to) pl_alloc(p, "y", "tile", to, false);
  ac_cb_for(&p->b, "k", ac_ce_name(&p->b, "first"), ac_ce_name(&p->b, "last"), ac_ce_name(&p->b, "tile"));
  pl_let(p, "count", "min(tile, last - k)");
  ix_stage(p, AC_STAGE_COPYIN, "tl.load(x_ptr + k + tl.arange(0, count), x)");
  if (from != to) ix_stage(p, AC_STAGE_COMPUTE, "tl.cast(y, x)");
  ix_stage(p, AC_STAGE_COPYOUT, "tl.store(y_ptr + k + tl.arange(0, count), %s)", from != to ? "y" : "x");
  ac_cb_end(&p->b);
}

static void copy_host(const put *g, const char *suffix, const char *from, const char *to, int bytes) {
  pl_ctx *p = g->p;
  int64_t tile = pl_ub_budget(p) / bytes / 256 * 256;
  pl_let(p, "per_core", "max(512, tl.align_up(tl.cdiv(total, tl.num_cores()), 512))");
  pl_let(p, "n_cores", "max(1, tl.cdiv(total, per_core))");
  ix_args a = {0};
  ix_arg(p, &a, from);
  ix_arg(p, &a, to);
  launch(g, suffix, &a, (const char *const[]){"total", "per_core", ac_sprintf(p->a, "%lld", (long long)tile), NULL});
}

static const char *copied_from(const put *g) {
  return g->sum ? g->sum : g->yn;
}

/* ---- pieces ---- */

enum { CHUNK = 2048 };

static void move_pieces(const put *g) {
  pl_ctx *p = g->p;
  ac_cbuild *b = &p->b;
  ac_cb_for(b, "batch", ac_ce_int(b, 0), ac_ce_parse(b, "tl.cdiv(found, %d)", IX_BATCH), NULL);
  pl_let(p, "k", "batch * %d", IX_BATCH);
  pl_let(p, "q", "min(%d, found - k)", IX_BATCH);
  ac_cb_with(b, AC_STAGE_COMPUTE);
  ix_call(p, "tl.vcopy(to, hits + k, count=q)");
  ix_call(p, "tl.vcopy(which, numbers + k, count=q)");
  ac_cb_end(b);
  ac_cb_for(b, "c", ac_ce_int(b, 0), ac_ce_name(b, "inner"), ac_ce_name(b, "width"));
  pl_let(p, "w", "min(width, inner - c)");
  ix_stage(p, AC_STAGE_COPYIN,
           "tl.load(src_ptr + o * picks * inner + c + which[:, None] * inner + tl.arange(0, w)[None, :], part)");
  const char *what = "part";
  if (converts(g) || g->scale.kind != PV_NONE) {
    ac_cb_with(b, AC_STAGE_COMPUTE);
    if (converts(g)) {
      ix_call(p, "tl.cast(sum, part)");
      what = "sum";
    }
    if (g->scale.kind == PV_NUM)
      ix_call(
          p, ac_dtypes[g->dtype].cls == AC_FLOATING ? "tl.vmul_scalar(%s, %s, %.9g)" : "tl.vmul_scalar(%s, %s, %.0f)",
          what, what, g->scale.num);
    ac_cb_end(b);
  }
  ix_stage(p, AC_STAGE_COPYOUT,
           "tl.store(y_ptr + o * span * inner + c + to[:, None] * inner + tl.arange(0, w)[None, :], %s%s)", what,
           g->act == ADD ? ", atomic=\"add\"" : "");
  ac_cb_end(b);
  ac_cb_end(b);
}

static void piece_kernel(const put *g) {
  pl_ctx *p = g->p;
  ac_cbuild *b = &p->b;
  const char *batch = ac_sprintf(p->a, "%d", IX_BATCH), *part = ac_sprintf(p->a, "(%d, width)", IX_BATCH);
  begin(g, "pieces",
        "This core owns pieces [pid * per_core, (pid + 1) * per_core) of the result and takes in, in order, what "
        "points to them.");
  ix_params(&g->ix);
  ac_cb_param(b, "src_ptr", pl_tensor_type(p, g->dtype));
  ac_cb_param(b, "y_ptr", pl_tensor_type(p, inner_dtype(g)));
  number_params(g, (const char *const[]){"units", "span", "inner", "picks", "per_core", "chunk", "width", NULL});
  pl_let(p, "first", "tl.program_id(0) * per_core");
  pl_let(p, "last", "min(first + per_core, units)");
  ix_alloc(&g->ix, "chunk");
  pl_alloc(p, "number", "chunk", AC_I32, false);
  pl_alloc(p, "hits", "chunk", AC_I32, false);
  pl_alloc(p, "numbers", "chunk", AC_I32, false);
  ac_cb_assign(b, "above", ac_ce_parse(b, "tl.alloc_ub(chunk, tl.mask)"));
  ac_cb_assign(b, "under", ac_ce_parse(b, "tl.alloc_ub(chunk, tl.mask)"));
  pl_alloc(p, "to", batch, AC_I32, false);
  pl_alloc(p, "which", batch, AC_I32, false);
  pl_alloc(p, "part", part, g->dtype, false);
  if (converts(g)) pl_alloc(p, "sum", part, AC_F32, false);
  ac_cb_for(b, "o", ac_ce_parse(b, "first // span"), ac_ce_parse(b, "tl.cdiv(last, span)"), NULL);
  pl_let(p, "lo", "max(first, o * span) - o * span");
  pl_let(p, "hi", "min(last, o * span + span) - o * span");
  ac_cb_for(b, "j", ac_ce_int(b, 0), ac_ce_name(b, "picks"), ac_ce_name(b, "chunk"));
  pl_let(p, "m", "min(chunk, picks - j)");
  ix_read(&g->ix, "j + tl.arange(0, m)");
  ac_cb_with(b, AC_STAGE_COMPUTE);
  ix_call(p, "tl.vcompare_scalar(above, at, lo, \"ge\")");
  ix_call(p, "tl.vcompare_scalar(under, at, hi, \"lt\")");
  ix_call(p, "tl.mask_and(above, above, under)");
  ac_cb_comment(b, "where the pieces go and which they are, in the order of the indices");
  ix_call(p, "tl.iota(number, j, count=m)");
  pl_let(p, "found", "tl.compress(hits, at, above)");
  ix_call(p, "tl.compress(numbers, number, above)");
  ac_cb_end(b);
  move_pieces(g);
  ac_cb_end(b);
  ac_cb_end(b);
}

static void piece_host(const put *g) {
  pl_ctx *p = g->p;
  int bytes = width_of(g->dtype);
  int64_t room = (pl_ub_budget(p) - CHUNK * (ix_bytes(&g->ix) + 20) - 8192) / (2 * bytes + (converts(g) ? 8 : 0));
  room = room / 256 * 256;
  pl_let(p, "units", "min(outer * axis, outer * axis * inner)");
  pl_note(p, "Core partitioning: whole pieces of the result, the same number for every core; each core looks through "
             "all indices.");
  ix_split(p, "units", g->dtype);
  pl_note(p,
          "Tiling: %d indices at a time; of the pieces that they name, %d are under way at once, long ones in equal "
          "parts.",
          CHUNK, IX_BATCH);
  ix_width(p, room, g->dtype);
  ix_args a = {0};
  ix_arguments(&g->ix, &a);
  ix_arg(p, &a, g->sn);
  ix_arg(p, &a, copied_from(g));
  launch(g, "pieces", &a,
         (const char *const[]){"units", "max(1, axis)", "inner", "picks", "per_core", ac_sprintf(p->a, "%d", CHUNK),
                               "width", NULL});
}

static void one_host(put *g) {
  pl_ctx *p = g->p;
  pl_note(p, "First launch: %s. Equal parts, on 512 elements.",
          g->sum ? "the input in float32, in which the sums are made"
                 : "what is not written by an index is the input's");
  copy_host(g, "copy", g->xn, copied_from(g), 2 * width_of(g->dtype) + (g->sum ? 8 : 0));
  piece_host(g);
  if (!g->sum) return;
  pl_note(p, "Last launch: the sums are rounded once.");
  copy_host(g, "round", g->sum, g->yn, 8 + 2 * width_of(g->dtype));
}

static void host(pl_ctx *p, void *self) {
  put *g = self;
  for (int i = 0; i < g->n_outs; i++) pl_declare(p, g->outs[i]);
  pl_rank_guards(p, g->x);
  pl_rank_guards(p, g->i);
  pl_let(p, "outer", "%s", pl_product_text(p, g->x, 0, g->at));
  pl_let(p, "inner", "%s", pl_product_text(p, g->x, g->at + 1, g->x->rank));
  pl_let(p, "picks", "%s", pl_numel_text(p, g->i));
  ix_sizes(&g->ix, "outer * picks * inner > 0");
  pl_let(p, "total", "%s", pl_numel_text(p, g->x));
  if (g->sum)
    ac_cb_assign(&p->b, g->sum,
                 ac_ce_tl(&p->b, "empty", 2, ac_ce_name(&p->b, "total"), ac_ce_parse(&p->b, "tl.float32")));
  for (int i = 0; i < g->n_outs; i++) {
    g->yn = p->tensors.data[g->outs[i]].name;
    if (i) ac_cb_comment(&p->b, "The same for %s.", g->yn);
    one_host(g);
  }
}

static bool takes(const ac_node *n) {
  return n->op == AC_G_INDEX_ADD || n->op == AC_G_INDEX_COPY;
}

static bool atomic(ac_dtype d) {
  return d == AC_F32 || d == AC_I32 || d == AC_I16 || d == AC_I8;
}

static bool plan(pl_ctx *p, const ac_node *n, const int *outs, int n_outs) {
  assert(n_outs >= 1);
  const char *id = ac_op_info(n->op)->id;
  put *g = AC_NEW(p->a, put);
  *g = (put){.p = p, .outs = outs, .n_outs = n_outs, .act = n->op == AC_G_INDEX_ADD ? ADD : SET, .whole = true};
  g->x = pl_arg(n, "input")->t;
  g->i = pl_arg(n, "index")->t;
  g->src = pl_arg(n, "source")->t;
  g->dtype = g->x->dtype;
  int64_t at = 0;
  double alpha = 1;
  if (!pl_const_int(n, "dim", &at)) return pl_refuse(p, n->loc, id, "its dimension must be a constant");
  if (!g->x->rank) return pl_refuse(p, n->loc, id, "a tensor without dimensions is written to");
  if (g->dtype == AC_F64) return pl_refuse(p, n->loc, id, "the vector unit has no float64");
  if (g->act == ADD && !atomic(inner_dtype(g)))
    return pl_refuse(p, n->loc, id, "sums of %s in memory; covered are the floating dtypes, int8, int16 and int32",
                     ac_dtypes[g->dtype].name);
  if (g->act == ADD && !pl_number(n, "alpha", 1, &alpha)) return pl_refuse(p, n->loc, id, "alpha must be a constant");
  if (alpha != 1) g->scale = pv_num(alpha);
  g->at = ac_dim_index(at, g->x->rank);
  g->ix.negative = n->op == AC_G_INDEX_COPY;
  const ac_value *one[1] = {g->i};
  if (!pl_need(p, g->x) || !pl_need(p, g->src) || !ix_need(&g->ix, p, n, one, 1)) return false;
  g->ix.axis_text[0] = pl_sym_text(p, g->x->shape[g->at]);
  g->xn = p->tensors.data[pl_tensor_of(p, g->x)].name;
  g->sn = p->tensors.data[pl_tensor_of(p, g->src)].name;
  g->yn = p->tensors.data[outs[0]].name;
  g->op = pl_stage_name(p, outs[0]);
  if (converts(g)) g->sum = pl_name(&p->names, "sums");
  copy_kernel(g, "copy", g->dtype, inner_dtype(g), g->sum ? "The input in float32." : "The input, copied.");
  piece_kernel(g);
  if (g->sum) copy_kernel(g, "round", AC_F32, g->dtype, "Rounds the sums, once.");
  pl_stage_host(p, ac_sprintf(p->a, "%s: pieces to places by number.", id), host, g);
  return true;
}

const pl_class pl_scatter_class = {.name = "scatter", .takes = takes, .plan = plan};

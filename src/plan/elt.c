/* Schedule: fused element-wise chains with any broadcasting.
 *
 * Outputs of one shape become one phase of the kernel: every input is read once, every output written once, whatever lies between stays in UB. The
 * iteration space is the outputs' shape as a flat range, cut into one contiguous piece a core (so every core gets the same share,
 * whatever the shape). Without broadcasting that is the whole story. With broadcasting, adjacent dimensions that all tensors treat
 * alike are merged into groups; a row is the innermost group, a core walks its rows (or parts of rows) and each tensor has its own
 * position in its memory: full rows, one row used again, or one value a row.
 */
#include "plan/internal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANK = 16, MAX_LEAVES = 64 };

/* A tensor input, as the chain looks at it. */
typedef struct {
  int input;
  const ac_value *v;
  int rank;
  const ac_sym *const *shape;
  bool own;       /* its own shape, not a reshaped one */
  uint64_t has;   /* bit i: it varies along group i */
  bool full, row; /* all groups; the innermost group */
  const char *buf, *ptr, *scalar;
} leaf;

typedef struct {
  int from, to;     /* dimensions of the space */
  uint64_t leaves;  /* bit k: leaf k varies along it */
  const char *name; /* host local and kernel parameter with its size */
  const char *size; /* host expression */
  int anchor;       /* leaf that `size` is read from; -1 */
  bool used;        /* the kernel needs it */
} group;

typedef struct {
  const ac_value *v;
  const ac_sym *const *shape;
  int rank;
  pv val;
} memo;

typedef struct {
  pl_ctx *p;
  int index; /* of the phase */
  vir v;
  int rank; /* iteration space */
  const ac_sym *const *dim;
  AC_VEC(int) outs; /* graph outputs */
  leaf leaves[MAX_LEAVES];
  int n_leaves;
  group groups[MAX_RANK];
  int n_groups;
  AC_VEC(memo) memos;
  AC_VEC(pl_scalar) scalars; /* run-time scalars from the host */
  pl_names *names;           /* of the kernel, shared by its phases */
  const char **out_ptr;
  const char *n, *per_core, *cores,
      *tile_name; /* locals of the host function; all but cores kernel parameters, too */
  int phases;     /* of the kernel: UB is shared out */
  int64_t tile, align;
  bool rows;
} elt;

static bool is_view(ac_op op) {
  return op == AC_G_RESHAPE || op == AC_G_UNSQUEEZE || op == AC_G_SQUEEZE;
}

static bool same_shape(const elt *e, int ra, const ac_sym *const *a, int rb, const ac_sym *const *b) {
  if (ra != rb) return false;
  for (int i = 0; i < ra; i++)
    if (a[i] != b[i] && !ac_sym_equal(e->p->g, a[i], b[i])) return false;
  return true;
}

static int input_of(const ac_graph *g, const ac_value *v) {
  for (size_t i = 0; i < g->inputs.len; i++)
    if (g->inputs.data[i].value == v) return (int)i;
  return -1;
}

static bool one_element(const elt *e, const ac_value *v) {
  for (int i = 0; i < v->rank; i++)
    if (!pl_sym_is(e->p, v->shape[i], 1)) return false;
  return true;
}

static const char *op_name(const ac_value *v) {
  return v->name ? v->name : v->def ? ac_op_info(v->def->op)->id : "?";
}

static bool no(elt *e, const ac_value *v, const char *why) {
  return pl_refuse(e->p, v->def ? v->def->loc : AC_NOLOC, op_name(v), "%s", why);
}

/* ---- what the chain reads ---- */

static int find_leaf(const elt *e, int input, int rank, const ac_sym *const *shape) {
  for (int k = 0; k < e->n_leaves; k++)
    if (e->leaves[k].input == input && same_shape(e, e->leaves[k].rank, e->leaves[k].shape, rank, shape)) return k;
  return -1;
}

static bool add_leaf(elt *e, int input, const ac_value *v, int rank, const ac_sym *const *shape) {
  if (find_leaf(e, input, rank, shape) >= 0) return true;
  if (e->n_leaves == MAX_LEAVES) return no(e, v, "more than 64 tensors in one chain");
  bool own = same_shape(e, rank, shape, v->rank, (const ac_sym *const *)v->shape);
  e->leaves[e->n_leaves++] = (leaf){.input = input, .v = v, .rank = rank, .shape = shape, .own = own};
  return true;
}

/* The shape in which a node that is looked at in `shape` looks at its operand: an element-wise operand follows a reshape of the result
 * when it has the result's shape itself. */
static bool operand_shape(const elt *e, const ac_value *result, int rank, const ac_sym *const *shape,
                          const ac_value *o, int *orank, const ac_sym *const **oshape) {
  const ac_sym *const *own = (const ac_sym *const *)o->shape, *const *res = (const ac_sym *const *)result->shape;
  *orank = o->rank;
  *oshape = own;
  if (same_shape(e, rank, shape, result->rank, res) || one_element(e, o)) return true;
  if (!same_shape(e, o->rank, own, result->rank, res)) return false;
  *orank = rank;
  *oshape = shape;
  return true;
}

static bool collect(elt *e, const ac_value *v, int rank, const ac_sym *const *shape, int depth) {
  int in = input_of(e->p->g, v);
  if (in >= 0) {
    if (e->p->g->inputs.data[in].role == AC_IN_SCALAR) return true;
    if (v->dtype == AC_F64) return no(e, v, "the vector unit has no float64");
    return add_leaf(e, in, v, rank, shape);
  }
  for (size_t i = 0; i < e->memos.len; i++)
    if (e->memos.data[i].v == v && same_shape(e, e->memos.data[i].rank, e->memos.data[i].shape, rank, shape))
      return true;
  memo m = {.v = v, .shape = shape, .rank = rank};
  ac_push(e->p->a, &e->memos, m);
  const ac_node *n = v->def;
  if (depth > 2000) return no(e, v, "the chain is too long");
  if (n->op == AC_G_CONST || n->op == AC_G_SIZE || n->op == AC_G_FULL) return true;
  if (n->op == AC_G_TENSOR) return one_element(e, v) || no(e, v, "literal tensors of several elements");
  if (is_view(n->op)) return collect(e, n->args[0].t, rank, shape, depth + 1);
  if (!pl_expandable(n->op)) return no(e, v, pl_unfit(n->op));
  for (int i = 0; i < n->n_args; i++) {
    if (n->args[i].kind != AC_K_TENSOR || n->args[i].absent || !n->args[i].t) continue;
    int r;
    const ac_sym *const *s;
    if (!operand_shape(e, v, rank, shape, n->args[i].t, &r, &s))
      return no(e, v, "its result is reshaped after a broadcast");
    if (!collect(e, n->args[i].t, r, s, depth + 1)) return false;
  }
  return true;
}

/* ---- groups of dimensions ---- */

/* Along dimension i of the space, does the leaf vary (1), not vary (0), or both the same (-1: the dimension is 1)? */
static int varies(const elt *e, const leaf *l, int i) {
  bool trivial = pl_sym_is(e->p, e->dim[i], 1);
  if (trivial) return -1;
  int k = i - (e->rank - l->rank);
  if (k < 0) return 0;
  if (l->shape[k] == e->dim[i] || ac_sym_equal(e->p->g, l->shape[k], e->dim[i])) return 1;
  return 0;
}

static void make_groups(elt *e) {
  for (int i = 0; i < e->rank; i++) {
    uint64_t m = 0;
    bool trivial = pl_sym_is(e->p, e->dim[i], 1);
    for (int k = 0; k < e->n_leaves; k++)
      if (varies(e, &e->leaves[k], i) == 1) m |= UINT64_C(1) << k;
    group *last = e->n_groups ? &e->groups[e->n_groups - 1] : NULL;
    if (last && (trivial || last->leaves == m))
      last->to = i + 1;
    else if (!trivial)
      e->groups[e->n_groups++] = (group){.from = e->n_groups ? i : 0, .to = i + 1, .leaves = m, .anchor = -1};
  }
  if (e->n_groups) e->groups[0].from = 0;
  for (int k = 0; k < e->n_leaves; k++) {
    leaf *l = &e->leaves[k];
    for (int q = 0; q < e->n_groups; q++)
      if (e->groups[q].leaves >> k & 1) l->has |= UINT64_C(1) << q;
    l->full = l->has == (UINT64_C(1) << e->n_groups) - 1;
    l->row = e->n_groups ? l->has >> (e->n_groups - 1) & 1 : true;
  }
  for (int k = 0; k < e->n_leaves; k++)
    if (e->leaves[k].has && !e->leaves[k].full) e->rows = true;
}

/* The number of elements of dimensions [from, to) of the space, read from leaf `l`, in a form that holds for more dimensions in front. */
static const char *extent_of(const elt *e, const leaf *l, int from, int to) {
  const char *x = e->p->in_name[l->input];
  int a = from - e->rank, b = to - e->rank; /* negative indices; b == 0: to the end */
  ac_arena *ar = e->p->a;
  bool front = from == 0 || from <= e->rank - l->rank;
  if (front && b == 0) return ac_sprintf(ar, "%s.numel()", x);
  if (front) return ac_sprintf(ar, "tl.prod(%s.shape[:%d])", x, b);
  if (to - from == 1) return ac_sprintf(ar, "%s.shape[%d]", x, a);
  if (b == 0) return ac_sprintf(ar, "tl.prod(%s.shape[%d:])", x, a);
  return ac_sprintf(ar, "tl.prod(%s.shape[%d:%d])", x, a, b);
}

static const char *extent_by_symbols(const elt *e, int from, int to) {
  const char *s = NULL;
  for (int i = from; i < to; i++) {
    const char *t = pl_sym_text(e->p, e->dim[i]);
    s = s ? ac_sprintf(e->p->a, "%s * %s", s, t) : t;
  }
  return s ? s : "1";
}

static void size_groups(elt *e, pl_names *host) {
  for (int q = 0; q < e->n_groups; q++) {
    group *gr = &e->groups[q];
    for (int k = 0; k < e->n_leaves && gr->anchor < 0; k++)
      if ((gr->leaves >> k & 1) && e->leaves[k].own && e->leaves[k].full) gr->anchor = k;
    for (int k = 0; k < e->n_leaves && gr->anchor < 0; k++)
      if ((gr->leaves >> k & 1) && e->leaves[k].own) gr->anchor = k;
    gr->size = gr->anchor >= 0 ? extent_of(e, &e->leaves[gr->anchor], gr->from, gr->to)
                               : extent_by_symbols(e, gr->from, gr->to);
    bool inner = q == e->n_groups - 1;
    gr->name = pl_name(host, inner ? "cols" : e->n_groups == 2 ? "rows" : ac_sprintf(e->p->a, "d%d", q));
  }
}

/* ---- the chain as vector code ---- */

static const char *kernel_scalar(elt *e, const char *wish, const char *host) {
  for (size_t i = 0; i < e->scalars.len; i++)
    if (!strcmp(e->scalars.data[i].host, host)) return e->scalars.data[i].name;
  pl_scalar s = {.name = pl_name(e->names, wish), .host = host};
  ac_push(e->p->a, &e->scalars, s);
  return s.name;
}

static pv literal(const ac_value *v) {
  const ac_arg *data = pl_arg(v->def, "data");
  return pv_num(data->s ? strtod(data->s, NULL) : 0);
}

static bool eval(elt *e, const ac_value *v, int rank, const ac_sym *const *shape, pv *out);

static bool eval_leaf(elt *e, const ac_value *v, int in, int rank, const ac_sym *const *shape, pv *out) {
  bool integer = ac_dtypes[v->dtype].cls != AC_FLOATING;
  if (e->p->g->inputs.data[in].role == AC_IN_SCALAR) {
    *out = pv_text(kernel_scalar(e, e->p->in_name[in], e->p->in_name[in]), integer);
    return true;
  }
  int k = find_leaf(e, in, rank, shape);
  leaf *l = &e->leaves[k];
  if (l->row && (l->has || !e->n_groups)) {
    *out = (pv){.kind = PV_VEC, .reg = vir_leaf(&e->v, k, v->dtype)};
    return true;
  }
  if (!l->scalar) l->scalar = pl_name(e->names, ac_sprintf(e->p->a, "%s_value", e->p->in_name[in]));
  *out = pv_text(l->scalar, integer);
  return true;
}

static bool eval_node(elt *e, const ac_value *v, int rank, const ac_sym *const *shape, pv *out) {
  const ac_node *n = v->def;
  double number;
  if (n->op == AC_G_TENSOR) return *out = literal(v), true;
  if (n->op == AC_G_CONST || n->op == AC_G_SIZE || n->op == AC_G_FULL) {
    const char *which = n->op == AC_G_FULL ? "fill_value" : "value";
    if (pl_number(n, which, 0, &number)) return *out = pv_num(number), true;
    const char *host = pl_sym_text(e->p, pl_arg(n, which)->i);
    return *out = pv_text(kernel_scalar(e, "size", host), true), true;
  }
  if (is_view(n->op)) return eval(e, n->args[0].t, rank, shape, out);
  pv in[4] = {{.kind = PV_NONE}};
  int n_in = 0;
  for (int i = 0; i < n->n_args && n_in < 4; i++) {
    if (n->args[i].kind != AC_K_TENSOR || n->args[i].absent || !n->args[i].t) continue;
    int r;
    const ac_sym *const *s;
    operand_shape(e, v, rank, shape, n->args[i].t, &r, &s);
    if (!eval(e, n->args[i].t, r, s, &in[n_in])) return false;
    ac_dtype d = n->args[i].t->dtype;
    if (in[n_in].kind == PV_VEC && ac_dtypes[d].cls == AC_UNSIGNED && d != AC_U8)
      return no(e, v, "there is no conversion from its unsigned operand");
    n_in++;
  }
  const char *why = NULL;
  if (!pl_expand(&e->v, n, in, n_in, out, &why)) return no(e, v, why ? why : "no vector form");
  return true;
}

static bool eval(elt *e, const ac_value *v, int rank, const ac_sym *const *shape, pv *out) {
  int in = input_of(e->p->g, v);
  if (in >= 0) return eval_leaf(e, v, in, rank, shape, out);
  memo *m = NULL;
  for (size_t i = 0; i < e->memos.len; i++)
    if (e->memos.data[i].v == v && same_shape(e, e->memos.data[i].rank, e->memos.data[i].shape, rank, shape))
      m = &e->memos.data[i];
  if (!m) return no(e, v, "internal: not collected");
  if (m->val.kind == PV_NONE && !eval_node(e, v, rank, shape, &m->val)) return false;
  *out = m->val;
  return true;
}

/* The result in the dtype of its tensor, ready to be stored. */
static bool finish(elt *e, const ac_value *v, pv x) {
  vir *q = &e->v;
  int reg;
  if (v->dtype == AC_F64) return no(e, v, "the vector unit has no float64; the result must be float32 or narrower");
  if (v->dtype == AC_BOOL || v->dtype == AC_U8 || v->dtype == AC_I8) {
    ac_dtype byte = v->dtype == AC_I8 ? AC_I8 : AC_U8;
    if (x.kind == PV_VEC && q->regs.data[x.reg].dtype == byte)
      reg = x.reg;
    else {
      if (v->dtype != AC_BOOL) return no(e, v, "arithmetic on bytes is not covered");
      if (x.kind == PV_NUM)
        x = pv_num(x.num != 0);
      else
        x = pv_mask(q, x);
      reg = vir_cast(q, vir_cast(q, pv_vec(q, pv_to_f32(q, x), AC_F32).reg, AC_F16, AC_RN_RINT), byte, AC_RN_RINT);
    }
  } else if (ac_dtypes[v->dtype].cls == AC_FLOATING) {
    bool same = x.kind == PV_VEC && q->regs.data[x.reg].dtype == v->dtype;
    reg = same ? x.reg : pv_vec(q, pv_to_f32(q, x), AC_F32).reg;
    if (!same && v->dtype != AC_F32) reg = vir_cast(q, reg, v->dtype, AC_RN_RINT);
  } else {
    if (x.kind == PV_NUM && v->dtype == AC_I64 && fabs(x.num) >= 16777216)
      return no(e, v, "a constant this large is not exact on the way to int64");
    if (x.kind == PV_NUM && v->dtype != AC_I64) x = pv_vec(q, x, v->dtype);
    if (x.kind != PV_VEC) x = pv_vec(q, x, AC_F32);
    ac_dtype have = q->regs.data[x.reg].dtype;
    if (have != v->dtype && !ac_cast_rounds(v->dtype, have))
      return no(e, v, "there is no conversion to its integer dtype");
    reg = have == v->dtype ? x.reg : vir_cast(q, x.reg, v->dtype, have == AC_F32 ? AC_RN_TRUNC : AC_RN_NONE);
  }
  vir_output(q, reg, v->dtype);
  return true;
}

/* ---- the kernel's text ---- */

/* Multiplies names: "a * b", "1" when there are none. */
static const char *product(elt *e, int from, int to, uint64_t mask) {
  const char *s = NULL;
  for (int q = from; q < to; q++) {
    if (!(mask >> q & 1)) continue;
    e->groups[q].used = true;
    s = s ? ac_sprintf(e->p->a, "%s * %s", s, e->groups[q].name) : e->groups[q].name;
  }
  return s ? s : "1";
}

/* Which row of the leaf belongs to row `row` of the space: the row number taken apart into the groups that the leaf has. */
static const char *leaf_row(elt *e, const leaf *l) {
  int outer = e->n_groups - 1;
  uint64_t all = (UINT64_C(1) << outer) - 1, has = l->has & all;
  if (!has) return "0";
  if (has == all) return "row";
  const char *sum = NULL;
  for (int q = 0; q < outer; q++) {
    if (!(has >> q & 1)) continue;
    int end = q;
    while (end < outer && (has >> end & 1)) end++;
    const char *below = product(e, end, outer, all), *t = "row";
    if (strcmp(below, "1")) t = ac_sprintf(e->p->a, strchr(below, '*') ? "row // (%s)" : "row // %s", below);
    if (q > 0) {
      const char *size = product(e, q, end, all);
      t = ac_sprintf(e->p->a, strchr(size, '*') ? "%s %% (%s)" : "%s %% %s", t, size);
    }
    const char *stride = product(e, end, outer, has);
    if (strcmp(stride, "1")) t = ac_sprintf(e->p->a, "(%s) * %s", t, stride);
    sum = sum ? ac_sprintf(e->p->a, "%s + %s", sum, t) : t;
    q = end;
  }
  return sum;
}

static void loads(elt *e, const char *offs) {
  pl_ctx *p = e->p;
  bool any = false;
  for (int k = 0; k < e->n_leaves; k++) {
    leaf *l = &e->leaves[k];
    if (l->scalar || !l->buf) continue;
    if (!any) ac_cb_with(&p->b, AC_STAGE_COPYIN);
    any = true;
    if (l->full)
      pl_load(p, l->ptr, offs, l->buf);
    else if (!strcmp(leaf_row(e, l), "0"))
      pl_load(p, l->ptr, "col + tl.arange(0, count)", l->buf);
    else
      pl_load(p, l->ptr, ac_sprintf(p->a, "%s_row + col + tl.arange(0, count)", p->in_name[l->input]), l->buf);
  }
  if (any) ac_cb_end(&p->b);
}

static void body(elt *e) {
  pl_ctx *p = e->p;
  ac_cbuild *b = &p->b;
  loads(e, "offs");
  if (e->v.ops.len) {
    ac_cb_with(b, AC_STAGE_COMPUTE);
    vir_compute(&e->v, "count");
    ac_cb_end(b);
  }
  ac_cb_with(b, AC_STAGE_COPYOUT);
  for (size_t o = 0; o < e->outs.len; o++)
    pl_store(p, e->out_ptr[o], "offs", e->v.bufs.data[e->v.outs.data[o].buf].name);
  ac_cb_end(b);
}

static void scalar_loads(elt *e, bool per_row) {
  for (int k = 0; k < e->n_leaves; k++) {
    leaf *l = &e->leaves[k];
    if (!l->scalar || (l->has != 0) != per_row) continue;
    pl_let(e->p, l->scalar, "tl.extract_scalar(%s, %s)", l->ptr, per_row ? leaf_row(e, l) : "0");
  }
}

static void flat_loop(elt *e) {
  ac_cbuild *b = &e->p->b;
  ac_cb_comment(b, "the last trip takes what is left of this core's range");
  ac_cb_for(b, "i", ac_ce_name(b, "start"), ac_ce_name(b, "end"), ac_ce_name(b, e->tile_name));
  pl_let(e->p, "count", "min(%s, end - i)", e->tile_name);
  pl_let(e->p, "offs", "i + tl.arange(0, count)");
  body(e);
  ac_cb_end(b);
}

static void row_loop(elt *e) {
  pl_ctx *p = e->p;
  ac_cbuild *b = &p->b;
  const char *cols = e->groups[e->n_groups - 1].name;
  ac_cb_comment(b, "the first and the last row may belong to this core in part only");
  ac_cb_for(b, "row", ac_ce_parse(b, "start // %s", cols), ac_ce_parse(b, "tl.cdiv(end, %s)", cols), NULL);
  pl_let(p, "lo", "max(start, row * %s)", cols);
  pl_let(p, "hi", "min(end, row * %s + %s)", cols, cols);
  bool cols_too = false;
  for (int k = 0; k < e->n_leaves; k++) {
    leaf *l = &e->leaves[k];
    if (l->full || l->scalar || !l->buf) continue;
    cols_too = true;
    const char *r = leaf_row(e, l), *x = p->in_name[l->input];
    if (!strcmp(r, "0")) continue;
    ac_cb_comment(b, "where the row of %s that belongs to this one starts", x);
    pl_let(p, ac_sprintf(p->a, "%s_row", x), strcmp(r, "row") ? "(%s) * %s" : "%s * %s", r, cols);
  }
  scalar_loads(e, true);
  ac_cb_for(b, "i", ac_ce_name(b, "lo"), ac_ce_name(b, "hi"), ac_ce_name(b, e->tile_name));
  pl_let(p, "count", "min(%s, hi - i)", e->tile_name);
  pl_let(p, "offs", "i + tl.arange(0, count)");
  if (cols_too) pl_let(p, "col", "i - row * %s", cols);
  body(e);
  ac_cb_end(b);
  ac_cb_end(b);
}

static int smallest_element(const elt *e) {
  int s = 8;
  for (size_t i = 0; i < e->v.bufs.len; i++) {
    const vir_buf *b = &e->v.bufs.data[i];
    if ((b->loaded || b->stored) && ac_dtypes[b->dtype].bytes < s) s = ac_dtypes[b->dtype].bytes;
  }
  return s;
}

static bool choose_tile(elt *e) {
  int64_t masks = 0;
  for (size_t i = 0; i < e->v.bufs.len; i++) masks += e->v.bufs.data[i].mask;
  int64_t room = pl_ub_budget(e->p) / e->phases - vir_scratch(&e->v) - 256 * masks;
  e->tile = (int64_t)((double)room / vir_bytes(&e->v)) / 256 * 256;
  e->align = 512 / smallest_element(e);
  return e->tile > 0 ||
         pl_refuse(e->p, AC_NOLOC, e->p->g->name, "its values do not fit UB together, even at 256 elements each");
}

static void params(elt *e) {
  ac_cbuild *b = &e->p->b;
  for (int k = 0; k < e->n_leaves; k++)
    if (e->leaves[k].ptr) ac_cb_param(b, e->leaves[k].ptr, pl_tensor_type(e->p, e->leaves[k].v->dtype));
  for (size_t o = 0; o < e->outs.len; o++)
    ac_cb_param(b, e->out_ptr[o], pl_tensor_type(e->p, e->p->g->outputs.data[e->outs.data[o]].value->dtype));
  ac_cb_param(b, e->n, NULL);
  for (int q = 0; q < e->n_groups; q++)
    if (e->groups[q].used) ac_cb_param(b, e->groups[q].name, NULL);
  ac_cb_param(b, e->per_core, NULL);
  ac_cb_param(b, e->tile_name, NULL);
  for (size_t i = 0; i < e->scalars.len; i++) ac_cb_param(b, e->scalars.data[i].name, NULL);
}

/* Group sizes that the row arithmetic will need must be known before the parameter list is written. */
static void mark_groups(elt *e) {
  if (!e->rows) return;
  e->groups[e->n_groups - 1].used = true;
  for (int k = 0; k < e->n_leaves; k++)
    if (e->leaves[k].ptr && !e->leaves[k].full) (void)leaf_row(e, &e->leaves[k]);
}

static void name_buffers(elt *e) {
  pl_ctx *p = e->p;
  const char *wishes[MAX_LEAVES];
  const char **outs = AC_NEW_N(p->a, const char *, e->outs.len);
  for (int k = 0; k < e->n_leaves; k++) {
    leaf *l = &e->leaves[k];
    wishes[k] = p->in_name[l->input];
    if (!l->scalar) continue;
    l->ptr = pl_name(e->names, ac_sprintf(p->a, "%s_ptr", wishes[k]));
  }
  for (size_t o = 0; o < e->outs.len; o++) outs[o] = p->out_name[e->outs.data[o]];
  vir_assign(&e->v, wishes, outs, e->names);
  for (size_t i = 0; i < e->v.bufs.len; i++) {
    const vir_buf *b = &e->v.bufs.data[i];
    if (b->owner_leaf < 0) continue;
    leaf *l = &e->leaves[b->owner_leaf];
    l->buf = b->name;
    l->ptr = pl_name(e->names, ac_sprintf(p->a, "%s_ptr", wishes[b->owner_leaf]));
  }
  e->out_ptr = AC_NEW_N(p->a, const char *, e->outs.len);
  for (size_t o = 0; o < e->outs.len; o++) e->out_ptr[o] = pl_name(e->names, ac_sprintf(p->a, "%s_ptr", outs[o]));
}

static void phase(elt *e) {
  pl_ctx *p = e->p;
  const char *y = p->out_name[e->outs.data[0]];
  if (e->phases > 1) ac_cb_comment(&p->b, "%s: elements [pid * %s, (pid + 1) * %s)", y, e->per_core, e->per_core);
  pl_let(p, "start", "pid * %s", e->per_core);
  pl_let(p, "end", "min(start + %s, %s)", e->per_core, e->n);
  vir_alloc(&e->v, e->tile_name);
  scalar_loads(e, false);
  if (e->rows)
    row_loop(e);
  else
    flat_loop(e);
}

/* One kernel: a phase for the outputs of each shape. Phases do not read each other's results, so no barrier stands between them. */
static void kernel(pl_ctx *p, elt *const *all, size_t n) {
  assert(n > 0);
  ac_cfunc *f = ac_cb_func(&p->b, ac_sprintf(p->a, "%s_kernel", p->g->name), true);
  const char *y = p->out_name[all[0]->outs.data[0]];
  f->doc = n > 1          ? "A phase for the outputs of each shape, one after the other."
           : all[0]->rows ? ac_sprintf(p->a, "Elements [pid * per_core, (pid + 1) * per_core) of %s, row by row.", y)
                          : ac_sprintf(p->a, "Elements [pid * per_core, (pid + 1) * per_core) of %s.", y);
  for (size_t i = 0; i < n; i++) {
    mark_groups(all[i]);
    params(all[i]);
  }
  pl_let(p, "pid", "tl.program_id(0)");
  for (size_t i = 0; i < n; i++) phase(all[i]);
}

/* ---- the host function ---- */

/* Is every dimension of the leaf one that the checks of its groups look at? */
static bool groups_cover(const elt *e, const leaf *l) {
  for (int i = e->rank - l->rank; i < e->rank; i++)
    if (varies(e, l, i) != 1) return false;
  return l->own;
}

/* Tensors must have the sizes that broadcasting was traced with; in terms of groups, so that other ranks pass. */
static void checks(elt *e) {
  pl_ctx *p = e->p;
  for (int k = 0; k < e->n_leaves; k++) {
    leaf *l = &e->leaves[k];
    const char *x = p->in_name[l->input], *want = NULL;
    for (int q = 0; q < e->n_groups; q++) {
      const group *gr = &e->groups[q];
      if (!(l->has >> q & 1)) continue;
      want = want ? ac_sprintf(p->a, "%s * %s", want, gr->name) : gr->name;
      if (gr->anchor == k || !l->own || e->n_groups == 1) continue;
      pl_refuse_if(p, ac_sprintf(p->a, "%s != %s", extent_of(e, l, gr->from, gr->to), gr->name),
                   ac_sprintf(p->a, "the sizes of %s do not fit", x));
    }
    if (e->n_groups == 1 && l->full && e->groups[0].anchor == k) continue; /* n is its number of elements */
    if (!e->n_groups && l->own) continue;
    if (e->n_groups > 1 && groups_cover(e, l)) continue;
    pl_refuse_if(p, ac_sprintf(p->a, "%s.numel() != %s", x, want ? want : "1"),
                 ac_sprintf(p->a, "the number of elements of %s does not fit", x));
  }
}

static void host(elt *e) {
  pl_ctx *p = e->p;
  const char *y = p->out_name[e->outs.data[0]];
  if (e->n_groups > 1) {
    pl_note(p, "Shape: dimensions that all tensors treat alike count as one; the innermost such group is a row.");
    for (int q = 0; q < e->n_groups; q++) pl_let(p, e->groups[q].name, "%s", e->groups[q].size);
    const char *n = e->groups[0].name;
    for (int q = 1; q < e->n_groups; q++) n = ac_sprintf(p->a, "%s * %s", n, e->groups[q].name);
    pl_let(p, e->n, "%s", n);
  } else {
    int k = 0;
    while (k < e->n_leaves && !(e->leaves[k].full && (e->leaves[k].has || !e->n_groups))) k++;
    if (e->n_groups) e->groups[0].name = e->n;
    if (e->n_groups && k < e->n_leaves) e->groups[0].anchor = k;
    pl_let(p, e->n, "%s.numel()", k < e->n_leaves ? p->in_name[e->leaves[k].input] : y);
  }
  checks(e);
  pl_note(p,
          "Core partitioning: one contiguous range a core, equal to within %lld elements. Ranges start on 512 bytes, "
          "so that transfers are "
          "aligned and no two cores write into one 64-byte line; small tensors take fewer cores.",
          (long long)e->align);
  pl_let(p, e->per_core, "max(%lld, tl.align_up(tl.cdiv(%s, tl.num_cores()), %lld))", (long long)e->align, e->n,
         (long long)e->align);
  pl_let(p, e->cores, "max(1, tl.cdiv(%s, %s))", e->n, e->per_core);
  int64_t scratch = vir_scratch(&e->v);
  pl_note(p,
          "Tiling: an element takes %s = %g bytes of UB (2* is double buffering: copies run beside the computation). "
          "%lld bytes%s%s "
          "hold %lld elements, in whole 256. A core with less to do takes smaller tiles, about four, so that there "
          "is something to overlap.",
          vir_bytes_text(&e->v), vir_bytes(&e->v), (long long)pl_ub_budget(p),
          e->phases > 1 ? ac_sprintf(p->a, " shared by %d phases", e->phases) : "",
          scratch ? ac_sprintf(p->a, " less %lld of scratch", (long long)scratch) : "", (long long)e->tile);
  int64_t least = e->tile < 1024 ? e->tile : 1024;
  pl_let(p, e->tile_name, "min(%lld, max(%lld, tl.align_up(tl.cdiv(%s, 4), 256)))", (long long)e->tile,
         (long long)least, e->per_core);
}

typedef AC_VEC(ac_cexpr *) exprs;

static void arguments(elt *e, exprs *args) {
  pl_ctx *p = e->p;
  ac_cbuild *b = &p->b;
  for (int k = 0; k < e->n_leaves; k++)
    if (e->leaves[k].ptr) ac_push(p->a, args, ac_ce_name(b, p->in_name[e->leaves[k].input]));
  for (size_t o = 0; o < e->outs.len; o++) ac_push(p->a, args, ac_ce_name(b, p->out_name[e->outs.data[o]]));
  ac_push(p->a, args, ac_ce_name(b, e->n));
  for (int q = 0; q < e->n_groups; q++) {
    const group *gr = &e->groups[q];
    if (e->rows && gr->used) ac_push(p->a, args, ac_ce_parse(b, "max(1, %s)", gr->name)); /* divisors */
  }
  ac_push(p->a, args, ac_ce_name(b, e->per_core));
  ac_push(p->a, args, ac_ce_name(b, e->tile_name));
  for (size_t i = 0; i < e->scalars.len; i++) ac_push(p->a, args, ac_ce_parse(b, "%s", e->scalars.data[i].host));
}

static void launch(pl_ctx *p, elt *const *all, size_t n) {
  exprs args = {0};
  const char *cores = all[0]->cores;
  for (size_t i = 0; i < n; i++) {
    arguments(all[i], &args);
    if (i) cores = ac_sprintf(p->a, "max(%s, %s)", cores, all[i]->cores);
  }
  ac_cb_launch(&p->b, ac_sprintf(p->a, "%s_kernel", p->g->name), ac_ce_parse(&p->b, "%s", cores), (int)args.len,
               args.data);
}

/* ---- one phase for the outputs of one shape ---- */

static const ac_value *stripped(const ac_value *v) {
  while (v->def && is_view(v->def->op)) v = v->def->args[0].t;
  return v;
}

/* In the order of the graph's inputs, whatever the order in which the chain meets them. */
static void sort_leaves(elt *e) {
  for (int i = 1; i < e->n_leaves; i++)
    for (int k = i; k > 0 && e->leaves[k - 1].input > e->leaves[k].input; k--) {
      leaf t = e->leaves[k];
      e->leaves[k] = e->leaves[k - 1];
      e->leaves[k - 1] = t;
    }
}

/* Names of the phase's host locals, which are the kernel's parameters, too. */
static void name_locals(elt *e) {
  pl_ctx *p = e->p;
  const char *suffix = e->index ? ac_sprintf(p->a, "_%d", e->index + 1) : "";
  e->n = pl_name(&p->names, "n");
  (void)pl_name(e->names, e->n);
  e->per_core = ac_sprintf(p->a, "per_core%s", suffix);
  e->cores = ac_sprintf(p->a, "n_cores%s", suffix);
  e->tile_name = ac_sprintf(p->a, "tile%s", suffix);
}

static bool build(elt *e) {
  pl_ctx *p = e->p;
  e->v.p = p;
  name_locals(e);
  for (size_t o = 0; o < e->outs.len; o++) {
    const ac_value *v = stripped(p->g->outputs.data[e->outs.data[o]].value);
    if (!collect(e, v, v->rank, (const ac_sym *const *)v->shape, 0)) return false;
  }
  sort_leaves(e);
  make_groups(e);
  size_groups(e, &p->names);
  for (int q = 0; q < e->n_groups; q++) (void)pl_name(e->names, e->groups[q].name);
  for (size_t o = 0; o < e->outs.len; o++) {
    const ac_value *v = stripped(p->g->outputs.data[e->outs.data[o]].value);
    pv x = {.kind = PV_NONE};
    if (!eval(e, v, v->rank, (const ac_sym *const *)v->shape, &x) || !finish(e, v, x)) return false;
  }
  name_buffers(e);
  return choose_tile(e);
}

bool pl_elementwise(pl_ctx *p) {
  AC_VEC(elt *) all = {0};
  pl_names names;
  pl_names_init(&names, p->a);
  for (size_t o = 0; o < p->g->outputs.len; o++) {
    const ac_value *v = stripped(p->g->outputs.data[o].value);
    elt *e = NULL;
    for (size_t i = 0; i < all.len && !e; i++)
      if (same_shape(all.data[i], all.data[i]->rank, all.data[i]->dim, v->rank, (const ac_sym *const *)v->shape))
        e = all.data[i];
    if (!e) {
      e = AC_NEW(p->a, elt);
      *e = (elt){
          .p = p, .index = (int)all.len, .names = &names, .rank = v->rank, .dim = (const ac_sym *const *)v->shape};
      ac_push(p->a, &all, e);
    }
    ac_push(p->a, &e->outs, (int)o);
  }
  for (size_t i = 0; i < all.len; i++) {
    all.data[i]->phases = (int)all.len;
    if (!build(all.data[i])) return false;
  }
  kernel(p, all.data, all.len);
  pl_host_begin(p, all.len == 1 ? "One pass over the tensors." : "One pass for the outputs of each shape.");
  pl_guards(p);
  for (size_t i = 0; i < all.len; i++) host(all.data[i]);
  launch(p, all.data, all.len);
  return true;
}

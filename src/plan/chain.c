/* chain: the element-wise code that lies between tensors in memory, over one iteration space.
 *
 * Collecting walks from a value back to what is in memory (leaves); on the way, what is not element-wise is planned as a stage of its own
 * and becomes a leaf, unless the schedule computes it itself (`own`). Dimensions that all leaves treat alike are merged into groups.
 * Evaluating writes the values as vector code on virtual registers.
 */
#include "plan/move.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool pl_is_view(ac_op op) {
  return op == AC_G_RESHAPE || op == AC_G_UNSQUEEZE || op == AC_G_SQUEEZE;
}

const ac_value *pl_stripped(const ac_value *v) {
  while (v->def && pl_is_view(v->def->op)) v = v->def->args[0].t;
  return v;
}

bool pl_same_shape(const pl_ctx *p, int ra, const ac_sym *const *a, int rb, const ac_sym *const *b) {
  if (ra != rb) return false;
  for (int i = 0; i < ra; i++)
    if (a[i] != b[i] && !ac_sym_equal(p->g, a[i], b[i])) return false;
  return true;
}

static const char *chain_name(const pl_chain *c, const pl_leaf *l) {
  return c->p->tensors.data[l->tensor].name;
}

static bool one_element(const pl_chain *c, const ac_value *v) {
  for (int i = 0; i < v->rank; i++)
    if (!pl_sym_is(c->p, v->shape[i], 1)) return false;
  return true;
}

static const char *op_name(const ac_value *v) {
  return v->name ? v->name : v->def ? ac_op_info(v->def->op)->id : "?";
}

static bool no(pl_chain *c, const ac_value *v, const char *why) {
  return pl_refuse(c->p, v->def ? v->def->loc : AC_NOLOC, op_name(v), "%s", why);
}

/* ---- what the chain reads ---- */

static int find_leaf(const pl_chain *c, int tensor, int rank, const ac_sym *const *shape) {
  for (int k = 0; k < c->n_leaves; k++)
    if (c->leaves[k].tensor == tensor && !c->leaves[k].view &&
        pl_same_shape(c->p, c->leaves[k].rank, c->leaves[k].shape, rank, shape))
      return k;
  return -1;
}

static bool add_leaf(pl_chain *c, int tensor, const ac_value *v, int rank, const ac_sym *const *shape) {
  if (find_leaf(c, tensor, rank, shape) >= 0) return true;
  if (c->n_leaves == PL_MAX_LEAVES) return no(c, v, "more than 64 tensors in one chain");
  bool own = pl_same_shape(c->p, rank, shape, v->rank, (const ac_sym *const *)v->shape);
  c->leaves[c->n_leaves++] = (pl_leaf){.tensor = tensor, .v = v, .rank = rank, .shape = shape, .own = own};
  return true;
}

/* Dimension of `shape` that is dimension d of the result, when the two differ by dimensions of 1 only; false where they do not. */
static bool unit_map(const pl_chain *c, int rank, const ac_sym *const *shape, const ac_value *v, int *at) {
  int k = 0;
  for (int d = 0; d < v->rank; d++) {
    bool one = pl_sym_is(c->p, v->shape[d], 1);
    while (k < rank && shape[k] != v->shape[d] && !ac_sym_equal(c->p->g, shape[k], v->shape[d]) &&
           pl_sym_is(c->p, shape[k], 1))
      k++;
    bool same = k < rank && (shape[k] == v->shape[d] || ac_sym_equal(c->p->g, shape[k], v->shape[d]));
    if (!same && !one) return false;
    at[d] = same ? k++ : -1;
  }
  while (k < rank && pl_sym_is(c->p, shape[k], 1)) k++;
  return k == rank;
}

/* The shape in which a node that is looked at in `shape` looks at its operand: an element-wise operand follows a reshape of the result
 * when it has the result's shape itself, or when the reshape only adds and drops dimensions of 1. */
static bool operand_shape(const pl_chain *c, const ac_value *result, int rank, const ac_sym *const *shape,
                          const ac_value *o, int *orank, const ac_sym *const **oshape) {
  const ac_sym *const *own = (const ac_sym *const *)o->shape, *const *res = (const ac_sym *const *)result->shape;
  *orank = o->rank;
  *oshape = own;
  if (pl_same_shape(c->p, rank, shape, result->rank, res) || one_element(c, o)) return true;
  *orank = rank;
  *oshape = shape;
  if (pl_same_shape(c->p, o->rank, own, result->rank, res)) return true;
  int at[AC_MAX_RANK];
  if (!unit_map(c, rank, shape, result, at)) return false;
  const ac_sym **s = AC_NEW_N(c->p->a, const ac_sym *, rank);
  for (int k = 0; k < rank; k++) s[k] = ac_sym_int((ac_graph *)c->p->g, 1);
  for (int d = 0; d < o->rank; d++) {
    int k = at[d + result->rank - o->rank];
    if (k >= 0) s[k] = o->shape[d];
  }
  *oshape = s;
  return true;
}

static pl_memo *memo_of(const pl_chain *c, const ac_value *v, int rank, const ac_sym *const *shape) {
  for (size_t i = 0; i < c->memos.len; i++) {
    pl_memo *m = &c->memos.data[i];
    if (m->v == v && pl_same_shape(c->p, m->rank, m->shape, rank, shape)) return m;
  }
  return NULL;
}

/* What a chain cannot compute is computed before, by a stage of its own. */
static bool from_memory(pl_chain *c, const ac_value *v, int rank, const ac_sym *const *shape) {
  if (!pl_need(c->p, v)) return false;
  return add_leaf(c, pl_tensor_of(c->p, v), v, rank, shape);
}

/* An expansion that is looked at in a shape in which its operand can be looked at, too. */
static bool expands(const pl_chain *c, const ac_value *v, int rank, const ac_sym *const *shape) {
  int r;
  const ac_sym *const *s;
  return operand_shape(c, v, rank, shape, v->def->args[0].t, &r, &s);
}

enum { LONG_ROW = 512 }; /* elements of a view in one piece from which on reading by strides beats a copy */

static int find_view(const pl_chain *c, const ac_value *v) {
  for (int k = 0; k < c->n_leaves; k++)
    if (c->leaves[k].view && c->leaves[k].v == v) return k;
  return -1;
}

/* Slices and the like are read where they lie, when their rows are long. */
static bool collect_view(pl_chain *c, const ac_value *v, int rank, const ac_sym *const *shape, bool *is) {
  *is = false;
  if (!c->views || !move_takes(v->def) || !pl_same_shape(c->p, rank, shape, v->rank, (const ac_sym *const *)v->shape))
    return true;
  pl_view *w = AC_NEW(c->p->a, pl_view);
  *w = pl_view_of(c->p, v);
  if (w->base == v || w->base->dtype == AC_F64 || pl_view_run(c->p, w) < LONG_ROW) return true;
  if (c->n_leaves == PL_MAX_LEAVES) return no(c, v, "more than 64 tensors in one chain");
  if (!pl_need(c->p, w->base)) return false;
  *is = c->p->strict = true;
  int tensor = pl_tensor_of(c->p, w->base);
  c->leaves[c->n_leaves++] = (pl_leaf){.tensor = tensor, .v = v, .rank = rank, .shape = shape, .view = w};
  return true;
}

/* ---- what is computed once and not again in every row ---- */

enum {
  COSTLY = 8, /* instructions a row from which on a stage of its own pays */
  MANY = 16   /* rows that it serves */
};

static int cost_of_op(ac_op op) {
  switch (op) {
  case AC_G_CONST:
  case AC_G_SIZE:
  case AC_G_FULL:
  case AC_G_TENSOR:
  case AC_G_RESHAPE:
  case AC_G_UNSQUEEZE:
  case AC_G_SQUEEZE:
  case AC_G_EXPAND: return 0;
  case AC_G_FLOOR_DIVIDE:
  case AC_G_REMAINDER:
  case AC_G_FMOD:
  case AC_G_POW: return 8;
  case AC_G_DIV:
  case AC_G_WHERE: return 2;
  case AC_G_ADD:
  case AC_G_SUB:
  case AC_G_MUL:
  case AC_G_NEG:
  case AC_G_ABS:
  case AC_G_MAXIMUM:
  case AC_G_MINIMUM:
  case AC_G_CAST: return 1;
  default: return 4;
  }
}

/* Instructions that a value takes from what is in memory, about; more than `most` need not be told apart. */
static int cost_of(const pl_chain *c, const ac_value *v, int most) {
  if (most <= 0 || !v->def || pl_tensor_of(c->p, v) >= 0 || !pl_inline(v->def->op)) return 0;
  int cost = cost_of_op(v->def->op);
  for (int i = 0; i < v->def->n_args && cost < most; i++)
    if (v->def->args[i].kind == AC_K_TENSOR && !v->def->args[i].absent && v->def->args[i].t)
      cost += cost_of(c, v->def->args[i].t, most - cost);
  return cost;
}

/* Does it vary along some dimensions of the space, and are there many of the others? */
static bool narrow(const pl_chain *c, int rank, const ac_sym *const *shape) {
  int64_t others = 1;
  bool some = false;
  for (int i = 0; i < c->rank; i++) {
    if (pl_sym_is(c->p, c->dim[i], 1)) continue;
    int k = i - (c->rank - rank);
    bool varies = k >= 0 && !pl_sym_is(c->p, shape[k], 1);
    some |= varies;
    if (!varies && others < MANY) others *= c->dim[i]->example > 0 ? c->dim[i]->example : 1;
  }
  return some && others >= MANY;
}

/* The value that is worth a stage of its own: behind cheap operations on it alone, so that `w` and `1 - w` share one. */
static const ac_value *core_of(const pl_chain *c, const ac_value *v) {
  for (;;) {
    const ac_node *n = v->def;
    const ac_value *only = NULL;
    int operands = 0;
    for (int i = 0; i < n->n_args; i++) {
      const ac_arg *a = &n->args[i];
      if (a->kind != AC_K_TENSOR || a->absent || !a->t || !a->t->rank) continue;
      only = a->t;
      operands++;
    }
    if (operands != 1 || cost_of_op(n->op) > 1 || n->op == AC_G_EXPAND || cost_of(c, only, COSTLY) < COSTLY) return v;
    v = only;
  }
}

static bool worth_a_stage(const pl_chain *c, const ac_value *v, int rank, const ac_sym *const *shape) {
  int at[AC_MAX_RANK];
  return c->once && v->dtype != AC_BOOL && v->dtype != AC_F64 && v->rank && narrow(c, rank, shape) &&
         cost_of(c, v, COSTLY) >= COSTLY && core_of(c, v) == v && unit_map(c, rank, shape, v, at);
}

pl_chain chain_over(pl_ctx *p, const ac_value *v) {
  pl_names *names = AC_NEW(p->a, pl_names);
  pl_names_init(names, p->a);
  return (pl_chain){.p = p, .names = names, .rank = v->rank, .dim = (const ac_sym *const *)v->shape, .v = {.p = p}};
}

bool chain_collect_as(pl_chain *c, const ac_value *v, int rank, const ac_sym *const *shape) {
  int in = pl_tensor_of(c->p, v);
  if (in >= 0) {
    if (c->p->tensors.data[in].scalar) return true;
    if (v->dtype == AC_F64) return no(c, v, "the vector unit has no float64");
    return add_leaf(c, in, v, rank, shape);
  }
  if (memo_of(c, v, rank, shape)) return true;
  const ac_node *n = v->def;
  pl_memo m = {.v = v, .shape = shape, .rank = rank, .own = c->own && c->own(c, v, rank, shape)};
  if (!m.own && !pl_inline(n->op) && !collect_view(c, v, rank, shape, &m.strided)) return false;
  bool fits = pl_inline(n->op) && (n->op != AC_G_EXPAND || expands(c, v, rank, shape));
  if (!m.own && !m.strided && (!fits || worth_a_stage(c, v, rank, shape))) return from_memory(c, v, rank, shape);
  ac_push(c->p->a, &c->memos, m);
  if (m.own || m.strided) return true;
  if (n->op == AC_G_CONST || n->op == AC_G_SIZE || n->op == AC_G_FULL) return true;
  if (n->op == AC_G_TENSOR) return one_element(c, v) || no(c, v, "literal tensors of several elements");
  if (c->depth > 2000) return no(c, v, "the chain is too long");
  c->depth++;
  bool ok = true;
  for (int i = 0; i < n->n_args && ok; i++) {
    if (n->args[i].kind != AC_K_TENSOR || n->args[i].absent || !n->args[i].t) continue;
    int r = rank;
    const ac_sym *const *s = shape;
    if (!pl_is_view(n->op) && !operand_shape(c, v, rank, shape, n->args[i].t, &r, &s))
      return no(c, v, "its result is reshaped after a broadcast");
    ok = chain_collect_as(c, n->args[i].t, r, s);
  }
  c->depth--;
  return ok;
}

bool chain_collect(pl_chain *c, const ac_value *v) {
  return chain_collect_as(c, v, v->rank, (const ac_sym *const *)v->shape);
}

/* In the order of the tensors, whatever the order in which the chain meets them. */
static void sort_leaves(pl_chain *c) {
  for (int i = 1; i < c->n_leaves; i++)
    for (int k = i; k > 0 && c->leaves[k - 1].tensor > c->leaves[k].tensor; k--) {
      pl_leaf t = c->leaves[k];
      c->leaves[k] = c->leaves[k - 1];
      c->leaves[k - 1] = t;
    }
}

/* ---- groups of dimensions ---- */

int chain_varies(const pl_chain *c, const pl_leaf *l, int i) {
  bool trivial = pl_sym_is(c->p, c->dim[i], 1);
  if (trivial) return -1;
  int k = i - (c->rank - l->rank);
  if (k < 0) return 0;
  if (l->shape[k] == c->dim[i] || ac_sym_equal(c->p->g, l->shape[k], c->dim[i])) return 1;
  return 0;
}

/* Must neighbouring dimensions of the space stay apart, since a view does not go on from one to the next? */
static bool apart(const pl_chain *c, int outer, int inner) {
  for (int k = 0; k < c->n_leaves; k++) {
    const pl_leaf *l = &c->leaves[k];
    int shift = c->rank - l->rank;
    if (!l->view || outer < shift || chain_varies(c, l, outer) != 1 || chain_varies(c, l, inner) != 1) continue;
    if (!pl_view_joins(c->p, l->view, outer - shift, inner - shift)) return true;
  }
  return false;
}

bool chain_plain(const pl_chain *c) {
  if (!c->n_leaves) return false;
  for (int k = 0; k < c->n_leaves; k++)
    if (!c->leaves[k].full || !c->leaves[k].row) return false;
  for (size_t i = 0; i < c->v.ops.len; i++)
    if (!strcmp(c->v.ops.data[i].prim, "duplicate") || c->v.regs.data[c->v.ops.data[i].dst].mask ||
        !strncmp(c->v.ops.data[i].prim, "vselect", 7))
      return false;
  return true;
}

void chain_groups(pl_chain *c) {
  sort_leaves(c);
  int before = -1; /* the last dimension that is not 1 */
  for (int i = 0; i < c->rank; i++) {
    uint64_t m = 0;
    bool trivial = pl_sym_is(c->p, c->dim[i], 1);
    for (int k = 0; k < c->n_leaves; k++)
      if (chain_varies(c, &c->leaves[k], i) == 1) m |= UINT64_C(1) << k;
    pl_group *last = c->n_groups ? &c->groups[c->n_groups - 1] : NULL;
    if (last && (trivial || (last->leaves == m && last->cls == c->cls[i] && !apart(c, before, i))))
      last->to = i + 1;
    else if (!trivial)
      c->groups[c->n_groups++] =
          (pl_group){.from = c->n_groups ? i : 0, .to = i + 1, .leaves = m, .cls = c->cls[i], .anchor = -1};
    if (!trivial) before = i;
  }
  if (c->n_groups) c->groups[0].from = 0;
  for (int k = 0; k < c->n_leaves; k++) {
    pl_leaf *l = &c->leaves[k];
    for (int q = 0; q < c->n_groups; q++)
      if (c->groups[q].leaves >> k & 1) l->has |= UINT64_C(1) << q;
    l->full = l->has == (UINT64_C(1) << c->n_groups) - 1 && !l->view;
    l->row = c->n_groups ? l->has >> (c->n_groups - 1) & 1 : true;
  }
  for (int k = 0; k < c->n_leaves; k++)
    if (c->leaves[k].has && !c->leaves[k].full) c->rows = true;
}

static const char *by_symbols(const pl_chain *c, int from, int to) {
  const char *s = NULL;
  for (int i = from; i < to; i++) {
    const char *t = pl_sym_text(c->p, c->dim[i]);
    s = s ? ac_sprintf(c->p->a, "%s * %s", s, t) : t;
  }
  return s ? s : "1";
}

/* The number of elements of dimensions [from, to) of the space, read from leaf `l`, in a form that holds for more dimensions in front. */
const char *chain_extent(const pl_chain *c, const pl_leaf *l, int from, int to) {
  const char *x = chain_name(c, l);
  if (!c->p->tensors.data[l->tensor].input) return by_symbols(c, from, to);
  int a = from - c->rank, b = to - c->rank; /* negative indices; b == 0: to the end */
  ac_arena *ar = c->p->a;
  bool front = from == 0 || from <= c->rank - l->rank;
  if (front && b == 0) return ac_sprintf(ar, "%s.numel()", x);
  if (front) return ac_sprintf(ar, "tl.prod(%s.shape[:%d])", x, b);
  if (to - from == 1) return ac_sprintf(ar, "%s.shape[%d]", x, a);
  if (b == 0) return ac_sprintf(ar, "tl.prod(%s.shape[%d:])", x, a);
  return ac_sprintf(ar, "tl.prod(%s.shape[%d:%d])", x, a, b);
}

void chain_sizes(pl_chain *c, pl_names *host) {
  for (int q = 0; q < c->n_groups; q++) {
    pl_group *gr = &c->groups[q];
    for (int k = 0; k < c->n_leaves && gr->anchor < 0; k++)
      if ((gr->leaves >> k & 1) && c->leaves[k].own && c->leaves[k].full) gr->anchor = k;
    for (int k = 0; k < c->n_leaves && gr->anchor < 0; k++)
      if ((gr->leaves >> k & 1) && c->leaves[k].own) gr->anchor = k;
    gr->size =
        gr->anchor >= 0 ? chain_extent(c, &c->leaves[gr->anchor], gr->from, gr->to) : by_symbols(c, gr->from, gr->to);
    bool inner = q == c->n_groups - 1;
    gr->name = pl_name(host, inner ? "cols" : c->n_groups == 2 ? "rows" : ac_sprintf(c->p->a, "d%d", q));
  }
}

/* Is every dimension of the leaf one that the checks of its groups look at? */
static bool groups_cover(const pl_chain *c, const pl_leaf *l) {
  for (int i = c->rank - l->rank; i < c->rank; i++)
    if (chain_varies(c, l, i) != 1) return false;
  return l->own;
}

void chain_checks(pl_chain *c) {
  pl_ctx *p = c->p;
  for (int k = 0; k < c->n_leaves; k++) {
    pl_leaf *l = &c->leaves[k];
    if (l->view || !p->tensors.data[l->tensor].input)
      continue; /* workspace has the size that it was asked for with */
    const char *x = p->tensors.data[l->tensor].name, *want = NULL;
    for (int q = 0; q < c->n_groups; q++) {
      const pl_group *gr = &c->groups[q];
      if (!(l->has >> q & 1)) continue;
      want = want ? ac_sprintf(p->a, "%s * %s", want, gr->name) : gr->name;
      if (gr->anchor == k || !l->own || c->n_groups == 1) continue;
      pl_refuse_if(p, ac_sprintf(p->a, "%s != %s", chain_extent(c, l, gr->from, gr->to), gr->name),
                   ac_sprintf(p->a, "the sizes of %s do not fit", x));
    }
    if (c->n_groups == 1 && l->full && c->groups[0].anchor == k) continue; /* n is its number of elements */
    if (!c->n_groups && l->own) continue;
    if (c->n_groups > 1 && groups_cover(c, l)) continue;
    pl_refuse_if(p, ac_sprintf(p->a, "%s.numel() != %s", x, want ? want : "1"),
                 ac_sprintf(p->a, "the number of elements of %s does not fit", x));
  }
}

/* ---- the chain as vector code ---- */

const char *chain_scalar(pl_chain *c, const char *wish, const char *host) {
  for (size_t i = 0; i < c->scalars.len; i++)
    if (!strcmp(c->scalars.data[i].host, host)) return c->scalars.data[i].name;
  pl_scalar s = {.name = pl_name(c->names, wish), .host = host};
  ac_push(c->p->a, &c->scalars, s);
  return s.name;
}

static pv literal(const ac_value *v) {
  const ac_arg *data = pl_arg(v->def, "data");
  return pv_num(data->s ? strtod(data->s, NULL) : 0);
}

static bool eval_scalar(pl_chain *c, const ac_value *v, int in, pv *out) {
  const char *name = c->p->tensors.data[in].name;
  *out = pv_text(chain_scalar(c, name, name), ac_dtypes[v->dtype].cls != AC_FLOATING);
  return true;
}

static bool eval_leaf(pl_chain *c, const ac_value *v, int k, pv *out) {
  bool integer = ac_dtypes[v->dtype].cls != AC_FLOATING;
  pl_leaf *l = &c->leaves[k];
  if (c->vectors && l->has) {
    *out = (pv){.kind = PV_VEC, .reg = vir_leaf(&c->v, k, v->dtype)};
    c->v.regs.data[out->reg].axes = l->has;
    return true;
  }
  if (l->row && (l->has || !c->n_groups)) {
    *out = (pv){.kind = PV_VEC, .reg = vir_leaf(&c->v, k, v->dtype)};
    return true;
  }
  if (!l->scalar) l->scalar = pl_name(c->names, ac_sprintf(c->p->a, "%s_value", chain_name(c, l)));
  *out = pv_text(l->scalar, integer);
  return true;
}

static bool eval_node(pl_chain *c, const ac_value *v, int rank, const ac_sym *const *shape, pv *out) {
  const ac_node *n = v->def;
  double number;
  if (n->op == AC_G_TENSOR) return *out = literal(v), true;
  if (n->op == AC_G_CONST || n->op == AC_G_SIZE || n->op == AC_G_FULL) {
    const char *which = n->op == AC_G_FULL ? "fill_value" : "value";
    if (pl_number(n, which, 0, &number)) return *out = pv_num(number), true;
    const char *host = pl_sym_text(c->p, pl_arg(n, which)->i);
    return *out = pv_text(chain_scalar(c, "size", host), true), true;
  }
  if (pl_is_view(n->op)) return chain_eval_as(c, n->args[0].t, rank, shape, out);
  if (n->op == AC_G_EXPAND) {
    int r;
    const ac_sym *const *s;
    return operand_shape(c, v, rank, shape, n->args[0].t, &r, &s) && chain_eval_as(c, n->args[0].t, r, s, out);
  }
  pv in[4] = {{.kind = PV_NONE}};
  int n_in = 0;
  for (int i = 0; i < n->n_args && n_in < 4; i++) {
    if (n->args[i].kind != AC_K_TENSOR || n->args[i].absent || !n->args[i].t) continue;
    int r;
    const ac_sym *const *s;
    operand_shape(c, v, rank, shape, n->args[i].t, &r, &s);
    if (!chain_eval_as(c, n->args[i].t, r, s, &in[n_in])) return false;
    ac_dtype d = n->args[i].t->dtype;
    if (in[n_in].kind == PV_VEC && ac_dtypes[d].cls == AC_UNSIGNED && d != AC_U8)
      return no(c, v, "there is no conversion from its unsigned operand");
    n_in++;
  }
  const char *why = NULL;
  if (!pl_expand(&c->v, n, in, n_in, out, &why)) return no(c, v, why ? why : "no vector form");
  return true;
}

bool chain_eval_as(pl_chain *c, const ac_value *v, int rank, const ac_sym *const *shape, pv *out) {
  pl_memo *m = memo_of(c, v, rank, shape);
  int in = m ? -1 : pl_tensor_of(c->p, v);
  if (in >= 0 && c->p->tensors.data[in].scalar) return eval_scalar(c, v, in, out);
  if (in >= 0) return eval_leaf(c, v, find_leaf(c, in, rank, shape), out);
  if (!m) return no(c, v, "internal: not collected");
  if (m->strided) return eval_leaf(c, v, find_view(c, v), out);
  if (m->val.kind == PV_NONE) {
    pv val = {.kind = PV_NONE};
    if (!(m->own ? c->eval_own(c, v, rank, shape, &val) : eval_node(c, v, rank, shape, &val))) return false;
    memo_of(c, v, rank, shape)->val = val;
    *out = val;
    return true;
  }
  *out = m->val;
  return true;
}

bool chain_eval(pl_chain *c, const ac_value *v, pv *out) {
  return chain_eval_as(c, v, v->rank, (const ac_sym *const *)v->shape, out);
}

bool chain_finish(pl_chain *c, const ac_value *v, pv x) {
  vir *q = &c->v;
  int reg;
  if (v->dtype == AC_F64) return no(c, v, "the vector unit has no float64; the result must be float32 or narrower");
  if (v->dtype == AC_BOOL) {
    if (x.kind == PV_VEC && q->regs.data[x.reg].dtype == AC_U8)
      reg = x.reg;
    else {
      x = x.kind == PV_NUM ? pv_num(x.num != 0) : pv_mask(q, x);
      reg = vir_cast(q, vir_cast(q, pv_vec(q, pv_to_f32(q, x), AC_F32).reg, AC_F16, AC_RN_RINT), AC_U8, AC_RN_RINT);
    }
  } else if (ac_dtypes[v->dtype].cls == AC_FLOATING) {
    bool same = x.kind == PV_VEC && q->regs.data[x.reg].dtype == v->dtype;
    reg = same ? x.reg : pv_vec(q, pv_to_f32(q, x), AC_F32).reg;
    if (!same && v->dtype != AC_F32) reg = vir_cast(q, reg, v->dtype, AC_RN_RINT);
  } else {
    if (x.kind == PV_NUM && fabs(x.num) > 9007199254740992.0) return no(c, v, "a constant beyond 2^53");
    x = x.kind == PV_MASK ? pv_vec(q, x, AC_F32) : pv_vec(q, x, v->dtype);
    ac_dtype have = q->regs.data[x.reg].dtype;
    bool from_float = ac_dtypes[have].cls == AC_FLOATING;
    reg = have == v->dtype ? x.reg : vir_cast(q, x.reg, v->dtype, from_float ? AC_RN_TRUNC : AC_RN_NONE);
  }
  vir_output(q, reg, v->dtype);
  return true;
}

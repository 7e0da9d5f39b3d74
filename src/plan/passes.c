/* Reductions in passes over the data: each pass reads its tiles and computes the reductions whose operands are complete by then; the last
 * one writes the results that are as large as the data.
 *
 * The lanes of the vector unit are the innermost dimensions that all tensors treat alike. Where these are reduced (rows), a lane keeps
 * what it has seen of its elements in an accumulator, so that no tile waits for a scalar, and one reduction a unit joins the lanes. Where
 * they are kept (columns), every lane is a result of its own and nothing has to be joined. All other dimensions are loops.
 */
#include "plan/passes.h"

#include <assert.h>
#include <string.h>

static bool is_reg(const pv *a) {
  return a->kind == PV_VEC || a->kind == PV_MASK;
}
static const vir_reg *reg_of(const red *r, int reg) {
  return &r->c.v.regs.data[reg];
}
static const vir_op *def_of(const red *r, int reg) {
  int d = reg_of(r, reg)->def;
  return d < 0 ? NULL : &r->c.v.ops.data[d];
}
static bool on_lanes(const red *r, int reg) {
  return r->lanes >= 0 && (reg_of(r, reg)->axes >> r->lanes & 1);
}
static bool is_reduction(const red *r, int reg) {
  const vir_op *o = def_of(r, reg);
  return o && red_kind_of(o->prim) != RED_NONE;
}

/* ---- which values are needed, and where ---- */

static void mark_live(red *r, int reg) {
  if (r->live[reg]) return;
  r->live[reg] = true;
  const vir_op *o = def_of(r, reg);
  for (int k = 0; o && k < o->n_args; k++)
    if (is_reg(&o->arg[k])) mark_live(r, o->arg[k].reg);
}

static void mark_constants(red *r) {
  const vir *v = &r->c.v;
  for (size_t i = 0; i < v->ops.len; i++) {
    const vir_op *o = &v->ops.data[i];
    bool all = red_kind_of(o->prim) == RED_NONE && !v->regs.data[o->dst].axes;
    for (int k = 0; k < o->n_args; k++)
      if (is_reg(&o->arg[k]) && !r->constant[o->arg[k].reg]) all = false;
    r->constant[o->dst] = all;
  }
}

/* ---- parts: operations of the graph copied into code of their own ---- */

static pv text_of_leaf(red *r, int leaf, bool loop) {
  pl_leaf *l = &r->c.leaves[leaf];
  if (!l->scalar) l->scalar = pl_name(r->names, ac_sprintf(r->p->a, "%s_value", r->p->tensors.data[l->tensor].name));
  (loop ? r->leaf_in_loop : r->leaf_in_unit)[leaf] = true;
  return pv_text(l->scalar, ac_dtypes[l->v->dtype].cls != AC_FLOATING);
}

static const char *home_of(red *r, int reg) {
  static const char *const wish[] = {"sum", "most", "least", "product"};
  if (r->home[reg]) return r->home[reg];
  const vir_op *o = def_of(r, reg);
  red_kind k = o ? red_kind_of(o->prim) : RED_NONE;
  const char *w = k != RED_NONE ? wish[k]
                  : o           ? "kept"
                                : r->p->tensors.data[r->c.leaves[reg_of(r, reg)->leaf].tensor].name;
  r->home[reg] = pl_name(r->names, w);
  kbuf b = {.name = r->home[reg], .dtype = reg_of(r, reg)->dtype, .leaf = -1, .out = -1};
  /* where kept positions have lanes, the code of a unit computes on all of them, numbers for all lanes included */
  b.narrow = !on_lanes(r, reg) && (!o || r->rows || r->lanes < 0);
  b.loaded = !o;
  ac_push(r->p->a, &r->bufs, b);
  return r->home[reg];
}

static pv from_unit(red *r, part *t, int reg) {
  r->wanted[reg] = true;
  if (!t->kept && !on_lanes(r, reg)) {
    r->text_wanted[reg] = true;
    if (!r->text[reg]) r->text[reg] = pl_name(r->names, ac_sprintf(r->p->a, "%s_value", home_of(r, reg)));
    return pv_text(r->text[reg], ac_dtypes[reg_of(r, reg)->dtype].cls != AC_FLOATING);
  }
  return (pv){.kind = PV_VEC, .reg = vir_home(&t->q, home_of(r, reg), reg_of(r, reg)->dtype)};
}

/* An operation some of whose vectors have become scalars. */
static pv adapted(vir *q, const vir_op *o, pv *a, ac_dtype d) {
  static const struct {
    const char *prim;
    pv (*f)(vir *, pv, pv);
  } binary[] = {{"vadd", pv_add}, {"vsub", pv_sub}, {"vmul", pv_mul},
                {"vdiv", pv_div}, {"vmax", pv_max}, {"vmin", pv_min}};
  for (size_t i = 0; i < AC_COUNT(binary); i++) {
    size_t n = strlen(binary[i].prim);
    if (!strncmp(o->prim, binary[i].prim, n) && (!o->prim[n] || !strcmp(o->prim + n, "_scalar")))
      return binary[i].f(q, a[0], a[1]);
  }
  if (!strncmp(o->prim, "vcompare", 8)) return pv_cmp(q, o->mode, a[0], a[1]);
  if (!strncmp(o->prim, "vselect", 7)) return pv_where(q, a[0], a[1], a[2]);
  if (!strcmp(o->prim, "cast")) {
    if (d == AC_F32 && o->round == AC_RN_NONE)
      return a[0].text_int ? pv_text(ac_sprintf(q->p->a, "float(%s)", a[0].text), false) : a[0];
    return (pv){.kind = PV_VEC, .reg = vir_cast(q, pv_vec(q, a[0], AC_F32).reg, d, o->round)};
  }
  if (!strcmp(o->prim, "vcopy")) return pv_vec(q, a[0], d);
  if (o->n_args == 1) return (pv){.kind = PV_VEC, .reg = vir_emit(q, o->prim, d, 1, pv_vec(q, a[0], d))};
  return (pv){.kind = PV_VEC, .reg = vir_emit(q, o->prim, d, 2, pv_vec(q, a[0], d), a[1])};
}

static pv copied(red *r, part *t, int reg);

static pv copy_op(red *r, part *t, const vir_op *o) {
  vir_op n = *o;
  bool changed = false;
  for (int k = 0; k < o->n_args; k++) {
    if (!is_reg(&o->arg[k])) continue;
    pv x = copied(r, t, o->arg[k].reg);
    if (is_reg(&x)) {
      n.arg[k].reg = x.reg;
      if (x.kind == PV_MASK) n.arg[k].neg = x.neg != o->arg[k].neg;
    } else {
      n.arg[k] = x;
      changed = true;
    }
  }
  const vir_reg *d = reg_of(r, o->dst);
  if (changed) return adapted(&t->q, &n, n.arg, d->dtype);
  return (pv){.kind = d->mask ? PV_MASK : PV_VEC, .reg = vir_copy(&t->q, n, d->dtype, d->mask)};
}

static pv copied(red *r, part *t, int reg) {
  if (t->map[reg].kind != PV_NONE) return t->map[reg];
  const vir_reg *g = reg_of(r, reg);
  bool varies = red_varies(&r->g, reg);
  pv x;
  if (g->leaf >= 0 && !on_lanes(r, reg))
    x = text_of_leaf(r, g->leaf, varies);
  else if (g->leaf >= 0 && varies)
    x = (pv){.kind = PV_VEC, .reg = vir_leaf(&t->q, g->leaf, g->dtype)};
  else if (g->leaf >= 0)
    x = from_unit(r, t, reg);
  else if (!varies && !g->mask && !r->constant[reg] &&
           (!t->kept || is_reduction(r, reg) || r->g.level[reg] < t->level))
    x = from_unit(r, t, reg);
  else
    x = copy_op(r, t, def_of(r, reg));
  if (g->leaf < 0 && varies && on_lanes(r, reg) && (x.kind == PV_TEXT || x.kind == PV_NUM))
    x = pv_vec(&t->q, x, g->dtype);
  t->map[reg] = x;
  return x;
}

static part *new_part(red *r, bool kept, int level) {
  part *t = AC_NEW(r->p->a, part);
  *t = (part){.q = {.p = r->p}, .kept = kept, .level = level, .map = AC_NEW_N(r->p->a, pv, r->c.v.regs.len)};
  return t;
}

/* A vector of the tile's lanes, whatever the value is. */
static int vector_of(red *r, part *t, int reg) {
  pv x = copied(r, t, reg);
  if (x.kind == PV_MASK) x = pv_vec(&t->q, x, AC_F32);
  return pv_vec(&t->q, x, reg_of(r, reg)->dtype).reg;
}

void red_params(red *r) {
  pl_ctx *p = r->p;
  for (int k = 0; k < r->c.n_leaves; k++)
    ac_cb_param(&p->b, r->c.leaves[k].ptr, pl_tensor_type(p, r->c.leaves[k].v->dtype));
  for (size_t o = 0; o < r->outs.len; o++)
    ac_cb_param(&p->b, r->out_ptr[o], pl_tensor_type(p, p->tensors.data[r->outs.data[o]].v->dtype));
}

bool red_full_out(const red *r, size_t o) {
  return red_varies(&r->g, r->c.v.outs.data[o].reg) || !r->g.reduced;
}

static const char *tile_buffer(red *r, const char *wish, ac_dtype d) {
  kbuf b = {.name = pl_name(r->names, wish), .dtype = d, .leaf = -1, .out = -1};
  ac_push(r->p->a, &r->bufs, b);
  return b.name;
}

/* Sums of floats over repetitions are sums of sums: one after another, their error would grow with the number of repetitions. */
static bool sums_of_sums(const red *r, red_kind k, ac_dtype d) {
  bool repeats = false;
  for (int q = 0; q < r->c.n_groups; q++) repeats |= r->c.groups[q].cls && q != r->lanes;
  return repeats && k == RED_SUM && ac_dtypes[d].cls == AC_FLOATING;
}

static void full_part(red *r, int level) {
  part *t = new_part(r, false, level);
  for (size_t i = 0; i < r->c.v.ops.len; i++) {
    const vir_op *o = &r->c.v.ops.data[i];
    red_kind k = red_kind_of(o->prim);
    if (k == RED_NONE || !r->live[o->dst] || r->g.level[o->dst] != level + 1) continue;
    int x = vector_of(r, t, o->arg[0].reg);
    const char *h = home_of(r, o->dst);
    ac_dtype d = reg_of(r, o->dst)->dtype;
    if (r->rows && !r->acc[o->dst]) r->acc[o->dst] = tile_buffer(r, ac_sprintf(r->p->a, "lane_%s", h), d);
    if (!r->here[o->dst] && sums_of_sums(r, k, d))
      r->here[o->dst] = tile_buffer(r, ac_sprintf(r->p->a, "%s_here", h), d);
    const char *to = r->here[o->dst] ? r->here[o->dst] : r->rows ? r->acc[o->dst] : h;
    vir_accumulate(&t->q, red_join(k), vir_home(&t->q, to, d), x);
    t->any = true;
  }
  for (size_t o = 0; o < r->c.v.outs.len; o++) {
    int reg = r->c.v.outs.data[o].reg;
    if (!red_full_out(r, o) || r->g.level[reg] != level) continue;
    vir_output(&t->q, vector_of(r, t, reg), r->c.v.outs.data[o].dtype);
    t->q.outs.data[t->q.outs.len - 1].index = (int)o;
    t->any = true;
  }
  r->full[level] = *t;
}

static void kept_part(red *r, int level) {
  part *t = new_part(r, true, level);
  for (size_t o = 0; o < r->c.v.outs.len; o++)
    if (!red_full_out(r, o)) r->wanted[r->c.v.outs.data[o].reg] = true;
  for (size_t reg = 0; reg < r->c.v.regs.len; reg++) {
    int i = (int)reg;
    if (!r->wanted[i] || red_varies(&r->g, i) || r->g.level[i] != level || is_reduction(r, i)) continue;
    if (reg_of(r, i)->leaf >= 0 && on_lanes(r, i)) { /* loaded once a unit */
      (void)home_of(r, i);
      t->any = true;
      continue;
    }
    int x = vector_of(r, t, i);
    if (t->q.regs.data[x].home >= 0) /* it is there under another name */
      x = vir_emit(&t->q, "vcopy", reg_of(r, i)->dtype, 1, (pv){.kind = PV_VEC, .reg = x});
    vir_settle(&t->q, x, home_of(r, i));
    t->any = true;
  }
  r->kept[level] = *t;
}

uint64_t red_kept_groups(const red *r) {
  uint64_t m = 0;
  for (int q = 0; q < r->c.n_groups; q++)
    if (!r->c.groups[q].cls) m |= UINT64_C(1) << q;
  return m;
}

/* ---- buffers ---- */

static kbuf *find_buf(red *r, const char *name) {
  for (size_t i = 0; i < r->bufs.len; i++)
    if (!strcmp(r->bufs.data[i].name, name)) return &r->bufs.data[i];
  return NULL;
}

/* The kernel's buffer for a buffer of a part: copies of one tensor share theirs, temporaries take turns. */
static const char *shared_buf(red *r, const vir_buf *b, bool narrow, bool *taken, int index) {
  for (size_t i = 0; i < r->bufs.len; i++) {
    kbuf *k = &r->bufs.data[i];
    if (taken[i] || k->mask != b->mask || k->dtype != b->dtype || k->narrow != narrow) continue;
    bool same = b->owner_leaf >= 0  ? k->leaf == b->owner_leaf
                : b->owner_out >= 0 ? k->out == index
                                    : k->leaf < 0 && k->out < 0;
    bool temp = false;
    for (size_t n = 0; n < r->temps.len; n++) temp |= r->temps.data[n] == (int)i;
    if (!same || (b->owner_leaf < 0 && b->owner_out < 0 && !temp)) continue;
    taken[i] = true;
    k->loaded |= b->loaded;
    k->stored |= b->stored;
    return k->name;
  }
  const char *wish = b->owner_leaf >= 0  ? r->p->tensors.data[r->c.leaves[b->owner_leaf].tensor].name
                     : b->owner_out >= 0 ? r->p->tensors.data[r->outs.data[index]].name
                     : b->mask           ? "mask"
                                         : "t";
  kbuf k = {.name = pl_name(r->names, wish),
            .dtype = b->dtype,
            .mask = b->mask,
            .loaded = b->loaded,
            .stored = b->stored,
            .narrow = narrow,
            .leaf = b->owner_leaf,
            .out = b->owner_out >= 0 ? index : -1};
  ac_push(r->p->a, &r->bufs, k);
  if (b->owner_leaf < 0 && b->owner_out < 0) ac_push(r->p->a, &r->temps, (int)r->bufs.len - 1);
  taken[r->bufs.len - 1] = true;
  return k.name;
}

static void assign(red *r, part *t) {
  pl_names scratch;
  pl_names_init(&scratch, r->p->a);
  const char *leaves[PL_MAX_LEAVES];
  for (int k = 0; k < r->c.n_leaves; k++) leaves[k] = "x";
  const char **outs = AC_NEW_N(r->p->a, const char *, t->q.outs.len + 1);
  for (size_t o = 0; o < t->q.outs.len; o++) outs[o] = "y";
  vir_assign(&t->q, leaves, outs, &scratch);
  bool narrow = t->kept && (r->rows || r->lanes < 0);
  bool *taken = AC_NEW_N(r->p->a, bool, r->bufs.len + t->q.bufs.len + 1);
  for (size_t i = 0; i < t->q.bufs.len; i++) {
    vir_buf *b = &t->q.bufs.data[i];
    if (b->outside) continue;
    int index = b->owner_out >= 0 ? t->q.outs.data[b->owner_out].index : -1;
    b->name = shared_buf(r, b, narrow, taken, index);
  }
}

/* ---- building ---- */

static bool own(pl_chain *c, const ac_value *v, int rank, const ac_sym *const *shape) {
  red *r = c->self_stage;
  red_space s;
  if (!v->def || !red_takes(v->def) || !red_space_of(c->p, v->def, &s) || !red_same_space(c->p, &s, &r->space))
    return false;
  if (red_is_full(v->def)) {
    if (!pl_same_shape(c->p, rank, shape, s.rank, s.dim)) return false;
  } else
    for (int i = 0; i < s.rank; i++) {
      int k = i - (s.rank - rank);
      if (k < 0      ? !(s.cls[i] || pl_sym_is(c->p, s.dim[i], 1))
          : s.cls[i] ? !pl_sym_is(c->p, shape[k], 1)
                     : !ac_sym_equal(c->p->g, shape[k], s.dim[i]))
        return false;
    }
  r->any_rank &= red_any_rank(v->def);
  return red_collect(c, v);
}

static bool eval_own(pl_chain *c, const ac_value *v, int rank, const ac_sym *const *shape, pv *out) {
  (void)rank;
  (void)shape;
  return red_eval(c, v, out);
}

const ac_sym *const *red_seen(pl_ctx *p, const red_space *s, const ac_node *n, const ac_value *v) {
  const ac_sym *const *own_shape = (const ac_sym *const *)v->shape;
  if (pl_same_shape(p, v->rank, own_shape, s->rank, s->dim)) return s->dim;
  const ac_value *x = n->outs[0];
  if (red_is_full(n) && pl_same_shape(p, v->rank, own_shape, x->rank, (const ac_sym *const *)x->shape)) return s->dim;
  int k = 0;
  for (int i = 0; i < s->rank; i++) {
    if (s->cls[i] || pl_sym_is(p, s->dim[i], 1)) {
      if (k < v->rank && pl_sym_is(p, v->shape[k], 1)) k++;
      continue;
    }
    if (k == v->rank || !ac_sym_equal(p->g, v->shape[k], s->dim[i])) return NULL;
    k++;
  }
  while (k < v->rank && pl_sym_is(p, v->shape[k], 1)) k++;
  return k == v->rank ? red_kept_shape(p, s) : NULL;
}

static const char *reduced_count(red *r) {
  const char *s = NULL;
  for (int i = 0; i < r->space.rank; i++)
    if (r->space.cls[i]) {
      const char *t = pl_sym_text(r->p, r->space.dim[i]);
      s = s ? ac_sprintf(r->p->a, "%s * %s", s, t) : t;
    }
  return s ? s : "1";
}

/* A result must vary along all that its tensor has. */
static void spread_outs(red *r, uint64_t all) {
  vir *v = &r->c.v;
  for (size_t o = 0; o < v->outs.len; o++) {
    bool full = v->outs.data[o].index;
    uint64_t want = full ? all : red_kept_groups(r);
    int reg = v->outs.data[o].reg;
    if ((v->regs.data[reg].axes & want) != want) {
      reg = vir_emit(v, "vcopy", v->regs.data[reg].dtype, 1, (pv){.kind = PV_VEC, .reg = reg});
      v->regs.data[reg].axes |= want;
      v->outs.data[o].reg = reg;
    }
  }
}

static bool build_graph(red *r, const ac_node *n) {
  pl_ctx *p = r->p;
  pl_chain *c = &r->c;
  const ac_sym *const **shapes = AC_NEW_N(p->a, const ac_sym *const *, r->outs.len);
  for (size_t o = 0; o < r->outs.len; o++) {
    const ac_value *v = pl_stripped(p->tensors.data[r->outs.data[o]].v);
    shapes[o] = red_seen(p, &r->space, n, v);
    assert(shapes[o]);
    if (!chain_collect_as(c, v, r->space.rank, shapes[o])) return false;
  }
  chain_groups(c);
  if (!c->n_groups) c->groups[c->n_groups++] = (pl_group){.from = 0, .to = c->rank, .anchor = -1};
  chain_sizes(c, &p->names);
  for (int q = 0; q < c->n_groups; q++) (void)pl_name(c->names, c->groups[q].name);
  for (size_t o = 0; o < r->outs.len; o++) {
    const ac_value *v = pl_stripped(p->tensors.data[r->outs.data[o]].v);
    pv x = {.kind = PV_NONE};
    if (!chain_eval_as(c, v, r->space.rank, shapes[o], &x) || !chain_finish(c, v, x)) return false;
    c->v.outs.data[o].index = shapes[o] == r->space.dim;
  }
  spread_outs(r, (UINT64_C(1) << c->n_groups) - 1);
  return true;
}

static bool choose_tile(red *r) {
  double bytes = 0;
  int64_t scratch = 0, small = 0, smallest = 8;
  for (size_t i = 0; i < r->bufs.len; i++) {
    const kbuf *k = &r->bufs.data[i];
    double one = k->mask ? 0.125 : ac_dtypes[k->dtype].bytes * (k->loaded || k->stored ? 2 : 1);
    if (k->narrow)
      small += 512 * 2;
    else {
      bytes += one;
      small += k->mask ? 256 : 0;
    }
  }
  for (int l = 0; l <= r->g.levels; l++) {
    int64_t a = vir_scratch(&r->full[l].q), k = vir_scratch(&r->kept[l].q);
    if (a > scratch) scratch = a;
    if (k > scratch) scratch = k;
  }
  for (size_t o = 0; o < r->outs.len; o++) {
    int64_t s = ac_dtypes[r->c.v.outs.data[o].dtype].bytes;
    if (s < smallest) smallest = s;
  }
  r->line = 64 / (int)smallest;
  r->tile = (int64_t)((double)(pl_ub_budget(r->p) - scratch - small - 8192) / bytes) / 256 * 256;
  return r->tile > 0 ||
         pl_refuse(r->p, AC_NOLOC, r->p->g->name, "its values do not fit UB together, even at 256 elements each");
}

static void name_pointers(red *r) {
  pl_ctx *p = r->p;
  for (int k = 0; k < r->c.n_leaves; k++)
    r->c.leaves[k].ptr = pl_name(r->names, ac_sprintf(p->a, "%s_ptr", p->tensors.data[r->c.leaves[k].tensor].name));
  r->out_ptr = AC_NEW_N(p->a, const char *, r->outs.len);
  for (size_t o = 0; o < r->outs.len; o++)
    r->out_ptr[o] = pl_name(r->names, ac_sprintf(p->a, "%s_ptr", p->tensors.data[r->outs.data[o]].name));
}

static void parts(red *r) {
  size_t n = r->c.v.regs.len;
  ac_arena *a = r->p->a;
  r->g = (red_graph){.c = &r->c, .space = &r->space};
  for (int q = 0; q < r->c.n_groups; q++)
    if (r->c.groups[q].cls) r->g.reduced |= UINT64_C(1) << q;
  red_levels(&r->g);
  r->lanes = r->c.n_groups - 1;
  r->rows = r->lanes >= 0 && r->c.groups[r->lanes].cls;
  r->live = AC_NEW_N(a, bool, n);
  r->constant = AC_NEW_N(a, bool, n);
  r->home = AC_NEW_N(a, const char *, n);
  r->acc = AC_NEW_N(a, const char *, n);
  r->here = AC_NEW_N(a, const char *, n);
  r->text = AC_NEW_N(a, const char *, n);
  r->wanted = AC_NEW_N(a, bool, n);
  r->text_wanted = AC_NEW_N(a, bool, n);
  r->full = AC_NEW_N(a, part, (size_t)r->g.levels + 1);
  r->kept = AC_NEW_N(a, part, (size_t)r->g.levels + 1);
  for (size_t o = 0; o < r->c.v.outs.len; o++) mark_live(r, r->c.v.outs.data[o].reg);
  mark_constants(r);
  for (int l = 0; l <= r->g.levels; l++) full_part(r, l);
  for (int l = r->g.levels; l >= 0; l--) kept_part(r, l);
  for (int l = 0; l <= r->g.levels; l++) {
    assign(r, &r->kept[l]);
    assign(r, &r->full[l]);
  }
  for (size_t o = 0; o < r->c.v.outs.len; o++) {
    kbuf *k = red_full_out(r, o) ? NULL : find_buf(r, r->home[r->c.v.outs.data[o].reg]);
    if (k) k->stored = true;
  }
}

bool red_passes(pl_ctx *p, const ac_node *n, const red_space *s, const int *outs, int n_outs) {
  red *r = AC_NEW(p->a, red);
  r->p = p;
  r->space = *s;
  r->any_rank = true;
  r->names = AC_NEW(p->a, pl_names);
  pl_names_init(r->names, p->a);
  for (int o = 0; o < n_outs; o++) ac_push(p->a, &r->outs, outs[o]);
  r->c = (pl_chain){.p = p,
                    .names = r->names,
                    .rank = s->rank,
                    .dim = s->dim,
                    .own = own,
                    .eval_own = eval_own,
                    .self = &r->build,
                    .self_stage = r,
                    .vectors = true};
  r->c.v.p = p;
  memcpy(r->c.cls, s->cls, sizeof r->c.cls);
  r->build = (red_build){.space = &r->space};
  r->build.count = reduced_count(r);
  if (!build_graph(r, n)) return false;
  name_pointers(r);
  parts(r);
  if (!choose_tile(r)) return false;
  r->kernel = ac_sprintf(p->a, "%s_kernel", pl_stage_name(p, outs[0]));
  for (int o = 0; o < n_outs; o++) /* sizes of workspace and of smaller results are said dimension by dimension */
    r->any_rank &= p->tensors.data[outs[o]].output && red_full_out(r, (size_t)o);
  r->alone = !p->nesting && !p->stages.len && (size_t)n_outs == p->g->outputs.len;
  red_kernels(r);
  pl_stage_host(p, ac_sprintf(p->a, "%s and what follows from it.", ac_op_info(n->op)->id), red_host, r);
  return true;
}

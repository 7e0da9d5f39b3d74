/* The kernels and the host part of reductions in passes.
 *
 * Three ways to share out the work: whole units (rows) or parts of the kept lanes (columns) a core; or, where units are few, several cores
 * a unit: each reduces its part of every pass, and after a barrier all of them join the results of all, in the order of the parts.
 */
#include "plan/passes.h"

#include <ctype.h>
#include <string.h>

enum { BLOCK = 256 }; /* repetitions whose sums are apart */

static const vir_reg *reg_of(const red *r, int reg) {
  return &r->c.v.regs.data[reg];
}

/* ---- positions in memory ---- */

static bool kept_outer(const red *r, int q) {
  return !r->c.groups[q].cls && q != r->lanes;
}
static bool reduced_outer(const red *r, int q) {
  return r->c.groups[q].cls && q != r->lanes;
}

static int count_groups(const red *r, bool (*is)(const red *, int)) {
  int n = 0;
  for (int q = 0; q < r->c.n_groups; q++) n += is(r, q);
  return n;
}

/* Position along group q, outside of the lanes. */
static const char *position(red *r, int q) {
  bool kept = kept_outer(r, q);
  if (count_groups(r, kept ? kept_outer : reduced_outer) == 1) return kept ? (r->rows ? "unit" : "outer") : "r";
  r->index[q] = true;
  return ac_sprintf(r->p->a, "%s_%d", kept ? "unit" : "r", q);
}

/* Elements of a tensor with the groups `has` between two positions along group q. */
static const char *stride(red *r, uint64_t has, int q) {
  const char *s = NULL;
  for (int i = q + 1; i < r->c.n_groups; i++) {
    if (!(has >> i & 1)) continue;
    r->used[i] = true;
    s = s ? ac_sprintf(r->p->a, "%s * %s", s, r->c.groups[i].name) : r->c.groups[i].name;
  }
  return s;
}

/* Where the tile begins: of a tensor that varies along the groups `has`; `lane` is the first lane's position, or NULL. */
static const char *address(red *r, uint64_t has, const char *lane) {
  const char *sum = NULL;
  for (int q = 0; q < r->c.n_groups; q++) {
    if (!(has >> q & 1)) continue;
    const char *t = q == r->lanes ? lane : position(r, q), *s = q == r->lanes ? NULL : stride(r, has, q);
    if (!t) continue;
    if (s) t = ac_sprintf(r->p->a, "%s * %s", t, s);
    sum = sum ? ac_sprintf(r->p->a, "%s + %s", sum, t) : t;
  }
  return sum ? sum : "0";
}

/* ---- the kernel's text ---- */

static const char *lane_start(const red *r) {
  return r->rows ? "i" : "lane";
}

static const char *tile_of(red *r, uint64_t has) {
  if (r->lanes < 0) return address(r, has, NULL);
  return ac_sprintf(r->p->a, "%s + tl.arange(0, count)", address(r, has, lane_start(r)));
}

static void names_of_positions(red *r, bool (*is)(const red *, int), const char *whole) {
  const char *below = NULL;
  for (int q = r->c.n_groups - 1; q >= 0; q--) {
    if (!is(r, q)) continue;
    bool outermost = true;
    for (int k = 0; k < q; k++) outermost &= !is(r, k);
    const char *t = below ? ac_sprintf(r->p->a, "%s // (%s)", whole, below) : whole;
    if (!outermost) t = ac_sprintf(r->p->a, "%s %% %s", t, r->c.groups[q].name);
    if (r->index[q]) pl_let(r->p, ac_sprintf(r->p->a, "%s_%d", is == kept_outer ? "unit" : "r", q), "%s", t);
    below = below ? ac_sprintf(r->p->a, "%s * %s", r->c.groups[q].name, below) : r->c.groups[q].name;
  }
}

static void scalar_lets(red *r, const bool *which) {
  for (int k = 0; k < r->c.n_leaves; k++)
    if (which[k])
      pl_let(r->p, r->c.leaves[k].scalar, "tl.extract_scalar(%s, %s)", r->c.leaves[k].ptr,
             address(r, r->c.leaves[k].has, NULL));
}

static void kept_code(red *r, int level, bool store) {
  part *t = &r->kept[level];
  ac_cbuild *b = &r->p->b;
  bool loads = false;
  for (size_t i = 0; i < r->c.v.regs.len && level == 0; i++) {
    int leaf = r->c.v.regs.data[i].leaf;
    if (leaf < 0 || !r->home[i]) continue;
    if (!loads) ac_cb_with(b, AC_STAGE_COPYIN);
    loads = true;
    pl_load(r->p, r->c.leaves[leaf].ptr, tile_of(r, r->c.leaves[leaf].has), r->home[i]);
  }
  if (loads) ac_cb_end(b);
  if (t->q.ops.len) {
    ac_cb_with(b, AC_STAGE_COMPUTE);
    vir_compute(&t->q, r->rows || r->lanes < 0 ? "1" : "count", true);
    ac_cb_end(b);
  }
  for (size_t i = 0; i < r->c.v.regs.len; i++)
    if (r->text_wanted[i] && r->g.level[i] == level) pl_let(r->p, r->text[i], "tl.extract_scalar(%s, 0)", r->home[i]);
  bool stores = false;
  for (size_t o = 0; o < r->c.v.outs.len && store; o++) {
    int reg = r->c.v.outs.data[o].reg;
    if (red_full_out(r, o) || r->g.level[reg] != level) continue;
    if (!stores && r->split) ac_cb_if(b, ac_ce_parse(b, "part == 0"));
    if (!stores) ac_cb_with(b, AC_STAGE_COPYOUT);
    stores = true;
    ac_cexpr *call =
        ac_ce_tl(b, "store", 2,
                 ac_ce_parse(b, "%s + %s", r->out_ptr[o],
                             r->rows ? address(r, red_kept_groups(r), NULL) : tile_of(r, red_kept_groups(r))),
                 ac_ce_name(b, r->home[reg]));
    if (r->rows) ac_ce_kwarg(b, call, "count", ac_ce_int(b, 1));
    ac_cb_call(b, call);
  }
  if (stores) ac_cb_end(b);
  if (stores && r->split) ac_cb_end(b);
}

/* The reduction that op i is, when the pass of the level makes it; RED_NONE: none. */
static red_kind reduced_at(const red *r, size_t i, int level) {
  const vir_op *o = &r->c.v.ops.data[i];
  return r->live[o->dst] && r->g.level[o->dst] == level + 1 ? red_kind_of(o->prim) : RED_NONE;
}

static const char *accumulator(const red *r, int reg) {
  return r->rows ? r->acc[reg] : r->home[reg];
}

/* What is accumulated begins at what changes nothing; here: for the repetitions at hand. */
static void start_accumulators(red *r, int level, bool here) {
  ac_cbuild *b = &r->p->b;
  bool any = false;
  for (size_t i = 0; i < r->c.v.ops.len; i++) {
    int dst = r->c.v.ops.data[i].dst;
    red_kind k = reduced_at(r, i, level);
    if (k == RED_NONE || (here && !r->here[dst])) continue;
    if (!any) ac_cb_with(b, AC_STAGE_COMPUTE);
    any = true;
    pv id = red_identity(k, reg_of(r, dst)->dtype);
    ac_cexpr *call = ac_ce_tl(b, "duplicate", 1, ac_ce_name(b, here ? r->here[dst] : accumulator(r, dst)));
    bool whole = ac_dtypes[reg_of(r, dst)->dtype].cls != AC_FLOATING;
    ac_ce_kwarg(b, call, NULL, whole ? ac_ce_int(b, (int64_t)id.num) : ac_ce_float(b, id.num));
    ac_ce_kwarg(b, call, "count", ac_ce_name(b, r->rows ? "wide" : "count"));
    ac_cb_call(b, call);
  }
  if (any) ac_cb_end(b);
}

static bool in_blocks(const red *r, int level) {
  for (size_t i = 0; i < r->c.v.ops.len; i++)
    if (reduced_at(r, i, level) != RED_NONE && r->here[r->c.v.ops.data[i].dst]) return true;
  return false;
}

static void join_block(red *r, int level) {
  pl_ctx *p = r->p;
  ac_cb_with(&p->b, AC_STAGE_COMPUTE);
  for (size_t i = 0; i < r->c.v.ops.len; i++) {
    int dst = r->c.v.ops.data[i].dst;
    red_kind k = reduced_at(r, i, level);
    if (k == RED_NONE || !r->here[dst]) continue;
    const char *to = accumulator(r, dst);
    ac_cb_call(&p->b, ac_ce_parse(&p->b, "tl.%s(%s, %s, %s, count=%s)", red_join(k), to, to, r->here[dst],
                                  r->rows ? "wide" : "count"));
  }
  ac_cb_end(&p->b);
}

static void join_lanes(red *r, int level) {
  ac_cbuild *b = &r->p->b;
  bool any = false;
  for (size_t i = 0; i < r->c.v.ops.len && r->rows; i++) {
    const vir_op *o = &r->c.v.ops.data[i];
    if (reduced_at(r, i, level) == RED_NONE) continue;
    if (!any) ac_cb_with(b, AC_STAGE_COMPUTE);
    any = true;
    ac_cexpr *call = ac_ce_tl(b, o->prim, 2, ac_ce_name(b, r->home[o->dst]), ac_ce_name(b, r->acc[o->dst]));
    ac_cb_call(b, ac_ce_kwarg(b, call, "count", ac_ce_name(b, "wide")));
  }
  if (any) ac_cb_end(b);
}

/* Is the leaf loaded by the part? */
static const vir_buf *loaded_by(const part *t, int leaf) {
  for (size_t i = 0; i < t->q.bufs.len; i++)
    if (t->q.bufs.data[i].owner_leaf == leaf) return &t->q.bufs.data[i];
  return NULL;
}

static void tile_code(red *r, part *t) {
  pl_ctx *p = r->p;
  ac_cbuild *b = &p->b;
  bool any = false;
  for (int k = 0; k < r->c.n_leaves; k++) {
    const vir_buf *x = loaded_by(t, k);
    if (!x) continue;
    if (!any) ac_cb_with(b, AC_STAGE_COPYIN);
    any = true;
    pl_load(p, r->c.leaves[k].ptr, tile_of(r, r->c.leaves[k].has), x->name);
  }
  if (any) ac_cb_end(b);
  if (t->q.ops.len) {
    ac_cb_with(b, AC_STAGE_COMPUTE);
    vir_compute(&t->q, "count", true);
    ac_cb_end(b);
  }
  if (!t->q.outs.len) return;
  ac_cb_with(b, AC_STAGE_COPYOUT);
  for (size_t o = 0; o < t->q.outs.len; o++)
    pl_store(p, r->out_ptr[t->q.outs.data[o].index], tile_of(r, (UINT64_C(1) << r->c.n_groups) - 1),
             t->q.bufs.data[t->q.outs.data[o].buf].name);
  ac_cb_end(b);
}

static bool reads_scalars(const red *r) {
  for (int k = 0; k < r->c.n_leaves; k++)
    if (r->leaf_in_loop[k]) return true;
  return false;
}

typedef enum { PUT, GET, JOIN } exchange_step;

/* Several cores share a unit: each stores what it has found, then reads and joins what all have. */
static void exchange(red *r, int level, exchange_step step) {
  static const ac_cstage stages[] = {AC_STAGE_COPYOUT, AC_STAGE_COPYIN, AC_STAGE_COMPUTE};
  pl_ctx *p = r->p;
  ac_cbuild *b = &p->b;
  bool any = false;
  for (size_t i = 0; i < r->c.v.ops.len; i++) {
    const vir_op *o = &r->c.v.ops.data[i];
    if (reduced_at(r, i, level) == RED_NONE) continue;
    const char *all = r->share[o->dst], *ws = ac_sprintf(p->a, "%s_ptr", all), *home = r->home[o->dst];
    if (!any) ac_cb_with(b, stages[step]);
    any = true;
    ac_cexpr *call;
    switch (step) {
    case PUT:
      call = ac_ce_tl(b, "store", 2, ac_ce_parse(b, "%s + pid * 16", ws), ac_ce_name(b, home));
      ac_cb_call(b, ac_ce_kwarg(b, call, "count", ac_ce_int(b, 1)));
      break;
    case GET:
      pl_load(p, ws, r->keeps ? "unit * parts * 16 + tl.arange(0, parts) * 16" : "tl.arange(0, parts) * 16", all);
      break;
    case JOIN:
      call = ac_ce_tl(b, o->prim, 2, ac_ce_name(b, home), ac_ce_name(b, all));
      ac_cb_call(b, ac_ce_kwarg(b, call, "count", ac_ce_name(b, "parts")));
      break;
    }
  }
  if (any) ac_cb_end(b);
}

/* The loop over repetitions, in blocks where a block's sums are apart: how many loops are open. */
static int open_repetitions(red *r, int level, const char *name, const char *lo, const char *hi) {
  ac_cbuild *b = &r->p->b;
  if (!in_blocks(r, level)) {
    ac_cb_for(b, name, ac_ce_parse(b, "%s", lo), ac_ce_parse(b, "%s", hi), NULL);
    return 1;
  }
  ac_cb_comment(
      b, "sums of %d at most, which are added up: rounding errors do not grow with the number of repetitions", BLOCK);
  ac_cb_for(b, "block", ac_ce_parse(b, "%s", lo), ac_ce_parse(b, "%s", hi), ac_ce_int(b, BLOCK));
  start_accumulators(r, level, true);
  ac_cb_for(b, name, ac_ce_name(b, "block"), ac_ce_parse(b, "min(block + %d, %s)", BLOCK, hi), NULL);
  return 2;
}

/* The loops over what is reduced; how many are open. */
static int open_loops(red *r, int level) {
  pl_ctx *p = r->p;
  ac_cbuild *b = &p->b;
  bool outer = count_groups(r, reduced_outer) > 0;
  const char *cols = r->c.groups[r->lanes].name;
  int open = 0;
  if (outer && r->split) {
    open = open_repetitions(r, level, "t", "tl.split(trips, parts, part)", "tl.split(trips, parts, part + 1)");
    pl_let(p, "r", "t // tiles");
    names_of_positions(r, reduced_outer, "r");
    if (reads_scalars(r)) scalar_lets(r, r->leaf_in_loop);
    pl_let(p, "i", "t %% tiles * tile");
    pl_let(p, "count", "min(tile, %s - i)", cols);
    return open;
  }
  if (outer) {
    open = open_repetitions(r, level, "r", "0", "reps");
    names_of_positions(r, reduced_outer, "r");
  }
  if (reads_scalars(r)) scalar_lets(r, r->leaf_in_loop);
  if (!r->rows) return open;
  ac_cb_for(b, "i", r->split ? ac_ce_name(b, "lo") : ac_ce_int(b, 0), ac_ce_name(b, r->split ? "hi" : cols),
            ac_ce_name(b, "tile"));
  pl_let(p, "count", "min(tile, %s - i)", r->split ? "hi" : cols);
  return open + 1;
}

static void pass(red *r, int level) {
  start_accumulators(r, level, false);
  int loops = open_loops(r, level), blocks = in_blocks(r, level);
  tile_code(r, &r->full[level]);
  while (loops-- > blocks) ac_cb_end(&r->p->b);
  if (blocks) {
    join_block(r, level);
    ac_cb_end(&r->p->b);
  }
  join_lanes(r, level);
  if (r->split) exchange(r, level, PUT);
}

static void join_parts(red *r, int level) {
  exchange(r, level, GET);
  exchange(r, level, JOIN);
}

/* Is it the first of its kind outside of the lanes? Its size takes no number apart. */
static bool outermost(const red *r, int q) {
  for (int k = 0; k < q; k++)
    if (r->c.groups[k].cls == r->c.groups[q].cls && k != r->lanes) return false;
  return true;
}

/* What the kernel's text will name, found by writing the addresses once. */
static void mark_positions(red *r) {
  uint64_t all = (UINT64_C(1) << r->c.n_groups) - 1;
  for (int k = 0; k < r->c.n_leaves; k++) (void)address(r, r->c.leaves[k].has, "i");
  for (size_t o = 0; o < r->c.v.outs.len; o++) (void)address(r, red_full_out(r, o) ? all : red_kept_groups(r), "i");
  if (r->lanes >= 0) r->used[r->lanes] = true;
  for (int q = 0; q < r->c.n_groups; q++) /* sizes that take a number apart */
    if (r->index[q])
      for (int k = 0; k < r->c.n_groups; k++)
        if (r->c.groups[k].cls == r->c.groups[q].cls && k != r->lanes && k >= q && !outermost(r, k))
          r->used[k] = true;
}

static void params(red *r) {
  pl_ctx *p = r->p;
  ac_cbuild *b = &p->b;
  red_params(r);
  if (r->split)
    for (size_t i = 0; i < r->c.v.regs.len; i++)
      if (r->share[i])
        ac_cb_param(b, ac_sprintf(p->a, "%s_ptr", r->share[i]), pl_tensor_type(p, reg_of(r, (int)i)->dtype));
  if (!r->split) ac_cb_param(b, "units", NULL);
  for (int q = 0; q < r->c.n_groups; q++)
    if (r->used[q]) ac_cb_param(b, r->c.groups[q].name, NULL);
  if (count_groups(r, reduced_outer)) ac_cb_param(b, "reps", NULL);
  if (!r->rows || r->split) ac_cb_param(b, "parts", NULL);
  if (!r->rows) ac_cb_param(b, "width", NULL);
  if (!r->split) ac_cb_param(b, "per_core", NULL);
  ac_cb_param(b, "tile", NULL);
  for (size_t i = 0; i < r->c.scalars.len; i++) ac_cb_param(b, r->c.scalars.data[i].name, NULL);
}

static void alloc(red *r) {
  for (size_t i = 0; i < r->bufs.len; i++) {
    const kbuf *k = &r->bufs.data[i];
    pl_alloc(r->p, k->name, k->narrow ? "64" : "tile", k->mask ? AC_MASK : k->dtype, false);
  }
}

/* All levels in one kernel. */
static void levels(red *r) {
  for (int l = 0; l <= r->g.levels; l++) {
    kept_code(r, l, true);
    if (!r->full[l].any) continue;
    pass(r, l);
    if (!r->split || l == r->g.levels) continue;
    ac_cb_comment(&r->p->b, "every core joins what all have found, in the order of the parts: the same bits on each");
    ac_cb_call(&r->p->b, ac_ce_tl(&r->p->b, "sync_all", 0));
    join_parts(r, l);
  }
}

/* One level, from what the launches before have left in workspace. */
static void one_level(red *r, int level) {
  for (int l = 0; l < level; l++) {
    kept_code(r, l, false);
    join_parts(r, l);
  }
  kept_code(r, level, true);
  if (r->full[level].any) pass(r, level);
}

static ac_cfunc *start(red *r, const char *kernel, const char *doc) {
  ac_cfunc *f = ac_cb_func(&r->p->b, kernel, true);
  f->doc = doc;
  mark_positions(r);
  params(r);
  pl_let(r->p, "pid", "tl.program_id(0)");
  for (int k = 0; k < r->c.n_leaves; k++) /* one number for all */
    if (r->c.leaves[k].scalar && !r->c.leaves[k].has)
      pl_let(r->p, r->c.leaves[k].scalar, "tl.extract_scalar(%s, 0)", r->c.leaves[k].ptr);
  return f;
}

void red_finish(red *r, ac_cfunc *f) {
  red_kernel k = {.name = f->name, .kept = pl_trim(r->p, f)};
  ac_push(r->p->a, &r->kernels, k);
}

static void units_kernel(red *r) {
  pl_ctx *p = r->p;
  ac_cbuild *b = &p->b;
  ac_cfunc *f =
      start(r, r->kernel,
            r->rows ? "A unit is one set of elements that are reduced to one; lanes take turns on its elements."
                    : "A unit is `width` neighbouring kept positions, each on a lane of its own.");
  pl_let(p, "first", "pid * per_core");
  pl_let(p, "last", "min(first + per_core, units)");
  alloc(r);
  if (r->rows) pl_let(p, "wide", "min(tile, max(1, %s))", r->c.groups[r->lanes].name);
  ac_cb_for(b, "unit", ac_ce_name(b, "first"), ac_ce_name(b, "last"), NULL);
  if (!r->rows) {
    pl_let(p, "lane", "unit %% parts * width");
    pl_let(p, "count", "min(width, %s - lane)", r->c.groups[r->lanes].name);
    if (count_groups(r, kept_outer)) pl_let(p, "outer", "unit // parts");
    names_of_positions(r, kept_outer, "outer");
  } else
    names_of_positions(r, kept_outer, "unit");
  scalar_lets(r, r->leaf_in_unit);
  levels(r);
  ac_cb_end(b);
  red_finish(r, f);
}

static const char *shared_name(red *r, int level) {
  return r->alone ? ac_sprintf(r->p->a, "%s_shared", r->kernel)
                  : ac_sprintf(r->p->a, "%s_pass%d", r->kernel, level + 1);
}

/* A level of the form with several cores a unit; all levels where a barrier joins them. */
static void shared_kernel(red *r, int level) {
  pl_ctx *p = r->p;
  const char *cols = r->c.groups[r->lanes].name;
  r->split = true;
  ac_cfunc *f = start(r, shared_name(r, level),
                      r->keeps ? "`parts` cores share a unit; what they have found meets in workspace."
                               : "All cores share the elements; what they have found meets in workspace.");
  if (r->keeps) pl_let(p, "unit", "pid // parts");
  pl_let(p, "part", r->keeps ? "pid %% parts" : "pid");
  if (r->alone || r->full[level].any) {
    if (count_groups(r, reduced_outer)) {
      pl_let(p, "tiles", "tl.cdiv(%s, tile)", cols);
      pl_let(p, "trips", "reps * tiles");
    } else {
      pl_let(p, "lo", "tl.split(%s, parts, part, 128)", cols);
      pl_let(p, "hi", "tl.split(%s, parts, part + 1, 128)", cols);
    }
  }
  alloc(r);
  for (size_t i = 0; i < r->c.v.regs.len; i++)
    if (r->share[i]) pl_alloc(p, r->share[i], "64", reg_of(r, (int)i)->dtype, false);
  pl_let(p, "wide", "min(tile, max(1, %s))", cols);
  names_of_positions(r, kept_outer, "unit");
  scalar_lets(r, r->leaf_in_unit);
  if (r->alone)
    levels(r);
  else
    one_level(r, level);
  red_finish(r, f);
  r->split = false;
}

static void name_shares(red *r) {
  r->share = AC_NEW_N(r->p->a, const char *, r->c.v.regs.len);
  for (size_t i = 0; i < r->c.v.ops.len; i++) {
    const vir_op *o = &r->c.v.ops.data[i];
    if (red_kind_of(o->prim) == RED_NONE || !r->live[o->dst]) continue;
    const char *name = pl_name(&r->p->names, ac_sprintf(r->p->a, "%s_parts", r->home[o->dst]));
    r->share[o->dst] = pl_name(r->names, name);
    (void)pl_name(r->names, ac_sprintf(r->p->a, "%s_ptr", r->share[o->dst]));
  }
}

void red_kernels(red *r) {
  r->keeps = red_kept_groups(r) != 0;
  if (r->rows) name_shares(r);
  if (r->keeps && r->rows) r->once = red_rows_at_once(r);
  if (r->keeps || !r->rows) units_kernel(r);
  for (int l = 0; r->rows && l <= (r->alone ? 0 : r->g.levels); l++) shared_kernel(r, l);
}

/* ---- the host function ---- */

static const char *const host_locals[] = {"units", "parts", "tile", "per_core", "outer", "width", "wanted"};

/* The stage's own name of a host local: stages follow each other in one function. */
static const char *local(red *r, const char *wish) {
  for (size_t i = 0; i < r->locals.len; i += 2)
    if (!strcmp(r->locals.data[i], wish)) return r->locals.data[i + 1];
  const char *name = pl_name(&r->p->local_names, wish);
  while (strcmp(name, wish) != 0 && ac_map_has(r->p->names.used, name)) name = pl_name(&r->p->local_names, wish);
  ac_push(r->p->a, &r->locals, wish);
  ac_push(r->p->a, &r->locals, name);
  return r->locals.data[r->locals.len - 1];
}

/* A host expression in which the locals' plain names stand for the stage's own. */
const char *red_here(red *r, const char *text) {
  ac_buf s;
  ac_buf_init(&s, r->p->a);
  for (const char *c = text; *c;) {
    size_t n = 0;
    while (isalnum((unsigned char)c[n]) || c[n] == '_') n++;
    if (!n) {
      ac_printf(&s, "%c", *c++);
      continue;
    }
    const char *word = ac_sprintf(r->p->a, "%.*s", (int)n, c);
    bool known = false;
    for (size_t i = 0; i < AC_COUNT(host_locals); i++) known |= !strcmp(host_locals[i], word);
    ac_puts(&s, known && (c == text || c[-1] != '.') ? local(r, word) : word);
    c += n;
  }
  return ac_buf_str(&s);
}

static void let(red *r, const char *name, const char *fmt, ...) AC_PRINTF(3, 4);
static void let(red *r, const char *name, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = ac_vsprintf(r->p->a, fmt, ap);
  va_end(ap);
  pl_let(r->p, local(r, name), "%s", red_here(r, text));
}

static const char *product(red *r, bool (*is)(const red *, int)) {
  const char *s = NULL;
  for (int q = 0; q < r->c.n_groups; q++)
    if (is(r, q)) s = s ? ac_sprintf(r->p->a, "%s * %s", s, r->c.groups[q].name) : r->c.groups[q].name;
  return s ? s : "1";
}

typedef AC_VEC(const char *) texts;

static void push(red *r, texts *v, const char *text) {
  ac_push(r->p->a, v, red_here(r, text));
}

void red_launch(red *r, const char *kernel, const char *cores, const char *const *args, size_t n) {
  ac_cbuild *b = &r->p->b;
  AC_VEC(ac_cexpr *) v = {0};
  for (size_t k = 0; k < r->kernels.len; k++) {
    if (strcmp(r->kernels.data[k].name, kernel) != 0) continue;
    for (size_t j = 0; j < n; j++)
      if (r->kernels.data[k].kept[j]) ac_push(r->p->a, &v, ac_ce_parse(b, "%s", args[j]));
  }
  ac_cb_launch(b, kernel, ac_ce_parse(b, "%s", cores), (int)v.len, v.data);
}

static void launch(red *r, const char *kernel) {
  pl_ctx *p = r->p;
  texts v = {0};
  for (int k = 0; k < r->c.n_leaves; k++) push(r, &v, p->tensors.data[r->c.leaves[k].tensor].name);
  for (size_t o = 0; o < r->outs.len; o++) push(r, &v, p->tensors.data[r->outs.data[o]].name);
  for (size_t i = 0; r->split && i < r->c.v.regs.len; i++)
    if (r->share[i]) push(r, &v, r->share[i]);
  if (!r->split) push(r, &v, "units");
  for (int q = 0; q < r->c.n_groups; q++)
    if (r->used[q])
      push(r, &v, q == r->lanes ? r->c.groups[q].name : ac_sprintf(p->a, "max(1, %s)", r->c.groups[q].name));
  if (count_groups(r, reduced_outer)) push(r, &v, product(r, reduced_outer));
  if (!r->rows || r->split) push(r, &v, "parts");
  if (!r->rows) push(r, &v, "width");
  if (!r->split) push(r, &v, "per_core");
  push(r, &v, "tile");
  for (size_t i = 0; i < r->c.scalars.len; i++) push(r, &v, r->c.scalars.data[i].host);
  const char *cores = !r->split ? "max(1, tl.cdiv(units, per_core))" : r->keeps ? "units * parts" : "parts";
  red_launch(r, kernel, red_here(r, cores), v.data, v.len);
}

/* Parts of 4096 elements at least: a barrier and the exchange take as long as a core needs to read so many. */
static void host_shared(red *r) {
  pl_ctx *p = r->p;
  r->split = true;
  const char *n = r->c.groups[r->lanes].name;
  bool outer = count_groups(r, reduced_outer) > 0;
  if (outer) n = ac_sprintf(p->a, "%s * %s", product(r, reduced_outer), n);
  pl_note(p,
          "Core partitioning: %s shares, of 4096 elements at least. Tiles are a quarter of a share, so that copies "
          "run beside the "
          "computation.",
          r->keeps ? "the cores are dealt out to the units; the cores of a unit get equal" : "equal");
  let(r, "parts", "max(1, min(tl.num_cores()%s, tl.cdiv(%s, 4096)))", r->keeps ? " // units" : "", n);
  let(r, "tile", "min(%lld, max(1024, tl.align_up(tl.cdiv(%s, 4 * parts), 256)))", (long long)r->tile, n);
  ac_cb_comment(&p->b, "what a core has found, in a 64-byte line of its own");
  for (size_t i = 0; i < r->c.v.regs.len; i++) {
    if (!r->share[i]) continue;
    ac_cexpr *d = ac_ce_attr(&p->b, ac_ce_name(&p->b, "tl"), ac_dtypes[reg_of(r, (int)i)->dtype].name);
    ac_cb_assign(&p->b, r->share[i],
                 ac_ce_tl(&p->b, "empty", 2,
                          ac_ce_parse(&p->b, "%s", red_here(r, r->keeps ? "units * parts * 16" : "parts * 16")), d));
  }
  for (int l = 0; l <= (r->alone ? 0 : r->g.levels); l++) launch(r, shared_name(r, l));
  r->split = false;
}

static void host_units(red *r) {
  pl_ctx *p = r->p;
  pl_note(p,
          "Core partitioning: whole units, the same number for every core; when a core has many, a multiple of %d, "
          "so that no two cores write into one 64-byte line.",
          r->line);
  let(r, "per_core", "max(1, tl.cdiv(units, tl.num_cores()))");
  ac_cb_if(&p->b, ac_ce_parse(&p->b, "%s >= %d", local(r, "per_core"), 8 * r->line));
  let(r, "per_core", "tl.align_up(per_core, %d)", r->line);
  ac_cb_end(&p->b);
  if (r->once) {
    red_once_host(r, r->once);
    ac_cb_else(&p->b);
  }
  let(r, "tile", "%lld", (long long)r->tile);
  launch(r, r->kernel);
  if (r->once) ac_cb_end(&p->b);
}

static void host_rows(red *r) {
  pl_ctx *p = r->p;
  if (!r->keeps) {
    host_shared(r);
    return;
  }
  let(r, "units", "%s", product(r, kept_outer));
  ac_cb_if(&p->b, ac_ce_parse(&p->b, "%s", red_here(r, "0 < units and 2 * units <= tl.num_cores()")));
  host_shared(r);
  ac_cb_else(&p->b);
  host_units(r);
  ac_cb_end(&p->b);
}

static void host_columns(red *r) {
  pl_ctx *p = r->p;
  const char *inner = r->c.groups[r->lanes].name;
  let(r, "tile", "%lld", (long long)r->tile);
  pl_note(p, "Core partitioning: outer positions times parts of the inner dimensions; with few outer positions the "
             "parts are narrower than "
             "UB allows, so that every core gets one.");
  let(r, "outer", "%s", product(r, kept_outer));
  let(r, "wanted", "tl.cdiv(tl.num_cores(), max(1, outer))");
  let(r, "width", "min(tile, max(%d, tl.align_up(tl.cdiv(%s, wanted), %d)))", r->line, inner, r->line);
  let(r, "parts", "max(1, tl.cdiv(%s, width))", inner);
  let(r, "units", "min(outer, outer * %s) * parts", inner);
  let(r, "per_core", "max(1, tl.cdiv(units, tl.num_cores()))");
  launch(r, r->kernel);
}

void red_host(pl_ctx *p, void *self) {
  red *r = self;
  for (size_t o = 0; o < r->outs.len; o++) pl_declare(p, r->outs.data[o]);
  for (int k = 0; k < r->c.n_leaves && !r->any_rank; k++) {
    const pl_tensor *t = &p->tensors.data[r->c.leaves[k].tensor];
    if (t->input) pl_input_rank(p, t);
  }
  for (int q = 0; q < r->c.n_groups; q++) pl_let(p, r->c.groups[q].name, "%s", r->c.groups[q].size);
  chain_checks(&r->c);
  if (r->rows)
    host_rows(r);
  else
    host_columns(r);
}

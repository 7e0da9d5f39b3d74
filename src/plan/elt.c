/* Schedule: fused element-wise chains with any broadcasting.
 *
 * Outputs of one shape become one phase of the kernel: every input is read once, every output written once, whatever lies between stays in UB. The
 * iteration space is the outputs' shape as a flat range, cut into one contiguous piece a core (so every core gets the same share,
 * whatever the shape). Without broadcasting that is the whole story. With broadcasting, adjacent dimensions that all tensors treat
 * alike are merged into groups; a row is the innermost group, a core walks its rows (or parts of rows) and each tensor has its own
 * position in its memory: full rows, one row used again, or one value a row.
 */
#include "plan/move.h"

#include <assert.h>
#include <string.h>

typedef struct {
  pl_chain c;
  int index;        /* of the phase */
  AC_VEC(int) outs; /* tensors */
  const char **out_ptr;
  const char *kernel;
  const char *n, *per_core, *cores,
      *tile_name; /* locals of the host function; all but cores kernel parameters, too */
  int phases;     /* of the kernel: UB is shared out */
  int64_t tile, align;
} elt;

/* ---- the kernel's text ---- */

/* Multiplies names: "a * b", "1" when there are none. */
static const char *product(elt *e, int from, int to, uint64_t mask) {
  const char *s = NULL;
  for (int q = from; q < to; q++) {
    if (!(mask >> q & 1)) continue;
    e->c.groups[q].used = true;
    s = s ? ac_sprintf(e->c.p->a, "%s * %s", s, e->c.groups[q].name) : e->c.groups[q].name;
  }
  return s ? s : "1";
}

/* Where the row of a view begins that belongs to row `row` of the space. */
static const char *view_row(elt *e, const pl_leaf *l) {
  pl_ctx *p = e->c.p;
  int outer = e->c.n_groups - 1, shift = e->c.rank - l->rank;
  uint64_t all = outer > 0 ? (UINT64_C(1) << outer) - 1 : 0;
  int64_t c;
  const char *sum = NULL;
  if (!ac_sym_is_const(l->view->at, &c) || c)
    sum =
        chain_scalar(&e->c, ac_sprintf(p->a, "%s_at", p->tensors.data[l->tensor].name), pl_sym_text(p, l->view->at));
  for (int q = 0; q < outer; q++) {
    if (!(l->has >> q & 1)) continue;
    int d = e->c.groups[q].to - 1;
    while (chain_varies(&e->c, l, d) != 1) d--;
    const char *below = product(e, q + 1, outer, all), *t = "row";
    if (strcmp(below, "1")) t = ac_sprintf(p->a, strchr(below, '*') ? "row // (%s)" : "row // %s", below);
    if (q > 0) t = ac_sprintf(p->a, "%s %% %s", t, product(e, q, q + 1, all));
    const char *step = chain_scalar(&e->c, ac_sprintf(p->a, "%s_step", p->tensors.data[l->tensor].name),
                                    pl_sym_text(p, l->view->stride[d - shift]));
    t = ac_sprintf(p->a, "(%s) * %s", t, step);
    sum = sum ? ac_sprintf(p->a, "%s + %s", sum, t) : t;
  }
  return sum ? sum : "0";
}

/* Which row of the leaf belongs to row `row` of the space: the row number taken apart into the groups that the leaf has. */
static const char *leaf_row(elt *e, const pl_leaf *l) {
  if (l->view) return view_row(e, l);
  int outer = e->c.n_groups - 1;
  uint64_t all = (UINT64_C(1) << outer) - 1, has = l->has & all;
  if (!has) return "0";
  if (has == all) return "row";
  const char *sum = NULL;
  for (int q = 0; q < outer; q++) {
    if (!(has >> q & 1)) continue;
    int end = q;
    while (end < outer && (has >> end & 1)) end++;
    const char *below = product(e, end, outer, all), *t = "row";
    if (strcmp(below, "1")) t = ac_sprintf(e->c.p->a, strchr(below, '*') ? "row // (%s)" : "row // %s", below);
    if (q > 0) {
      const char *size = product(e, q, end, all);
      t = ac_sprintf(e->c.p->a, strchr(size, '*') ? "%s %% (%s)" : "%s %% %s", t, size);
    }
    const char *stride = product(e, end, outer, has);
    if (strcmp(stride, "1")) t = ac_sprintf(e->c.p->a, "(%s) * %s", t, stride);
    sum = sum ? ac_sprintf(e->c.p->a, "%s + %s", sum, t) : t;
    q = end;
  }
  return sum;
}

/* The place where the leaf's row begins; of several leaves of one tensor each has its own. */
static const char *row_name(const elt *e, int k) {
  const pl_leaf *l = &e->c.leaves[k];
  int before = 0;
  for (int i = 0; i < k; i++) before += e->c.leaves[i].tensor == l->tensor;
  const char *x = e->c.p->tensors.data[l->tensor].name;
  return before ? ac_sprintf(e->c.p->a, "%s_row_%d", x, before + 1) : ac_sprintf(e->c.p->a, "%s_row", x);
}

static void loads(elt *e, const char *offs) {
  pl_ctx *p = e->c.p;
  bool any = false;
  for (int k = 0; k < e->c.n_leaves; k++) {
    pl_leaf *l = &e->c.leaves[k];
    if (l->scalar || !l->buf) continue;
    if (!any) ac_cb_with(&p->b, AC_STAGE_COPYIN);
    any = true;
    if (l->full)
      pl_load(p, l->ptr, offs, l->buf);
    else if (!strcmp(leaf_row(e, l), "0"))
      pl_load(p, l->ptr, "col + tl.arange(0, count)", l->buf);
    else
      pl_load(p, l->ptr, ac_sprintf(p->a, "%s + col + tl.arange(0, count)", row_name(e, k)), l->buf);
  }
  if (any) ac_cb_end(&p->b);
}

static void body(elt *e) {
  pl_ctx *p = e->c.p;
  ac_cbuild *b = &p->b;
  loads(e, "offs");
  if (e->c.v.ops.len) {
    ac_cb_with(b, AC_STAGE_COMPUTE);
    vir_compute(&e->c.v, "count", false);
    ac_cb_end(b);
  }
  ac_cb_with(b, AC_STAGE_COPYOUT);
  for (size_t o = 0; o < e->outs.len; o++)
    pl_store(p, e->out_ptr[o], "offs", e->c.v.bufs.data[e->c.v.outs.data[o].buf].name);
  ac_cb_end(b);
}

static void scalar_loads(elt *e, bool per_row) {
  for (int k = 0; k < e->c.n_leaves; k++) {
    pl_leaf *l = &e->c.leaves[k];
    if (!l->scalar || (l->has != 0) != per_row) continue;
    pl_let(e->c.p, l->scalar, "tl.extract_scalar(%s, %s)", l->ptr, per_row ? leaf_row(e, l) : "0");
  }
}

static void flat_loop(elt *e) {
  ac_cbuild *b = &e->c.p->b;
  ac_cb_comment(b, "the last trip takes what is left of this core's range");
  ac_cb_for(b, "i", ac_ce_name(b, "start"), ac_ce_name(b, "end"), ac_ce_name(b, e->tile_name));
  pl_let(e->c.p, "count", "min(%s, end - i)", e->tile_name);
  pl_let(e->c.p, "offs", "i + tl.arange(0, count)");
  body(e);
  ac_cb_end(b);
}

static void row_loop(elt *e) {
  pl_ctx *p = e->c.p;
  ac_cbuild *b = &p->b;
  const char *cols = e->c.groups[e->c.n_groups - 1].name;
  ac_cb_comment(b, "the first and the last row may belong to this core in part only");
  ac_cb_for(b, "row", ac_ce_parse(b, "start // %s", cols), ac_ce_parse(b, "tl.cdiv(end, %s)", cols), NULL);
  pl_let(p, "lo", "max(start, row * %s)", cols);
  pl_let(p, "hi", "min(end, row * %s + %s)", cols, cols);
  bool cols_too = false;
  for (int k = 0; k < e->c.n_leaves; k++) {
    pl_leaf *l = &e->c.leaves[k];
    if (l->full || l->scalar || !l->buf) continue;
    cols_too = true;
    const char *r = leaf_row(e, l), *x = p->tensors.data[l->tensor].name;
    if (!strcmp(r, "0")) continue;
    ac_cb_comment(b, "where the row of %s that belongs to this one starts", x);
    if (l->view)
      pl_let(p, row_name(e, k), "%s", r);
    else
      pl_let(p, row_name(e, k), strcmp(r, "row") ? "(%s) * %s" : "%s * %s", r, cols);
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
  for (size_t i = 0; i < e->c.v.bufs.len; i++) {
    const vir_buf *b = &e->c.v.bufs.data[i];
    if ((b->loaded || b->stored) && ac_dtypes[b->dtype].bytes < s) s = ac_dtypes[b->dtype].bytes;
  }
  return s;
}

static bool choose_tile(elt *e) {
  int64_t masks = 0;
  for (size_t i = 0; i < e->c.v.bufs.len; i++) masks += e->c.v.bufs.data[i].mask;
  int64_t room = pl_ub_budget(e->c.p) / e->phases - vir_scratch(&e->c.v) - 256 * masks;
  e->tile = (int64_t)((double)room / vir_bytes(&e->c.v)) / 256 * 256;
  e->align = 512 / smallest_element(e);
  return e->tile > 0 ||
         pl_refuse(e->c.p, AC_NOLOC, e->c.p->g->name, "its values do not fit UB together, even at 256 elements each");
}

static void params(elt *e) {
  ac_cbuild *b = &e->c.p->b;
  for (int k = 0; k < e->c.n_leaves; k++)
    if (e->c.leaves[k].ptr) ac_cb_param(b, e->c.leaves[k].ptr, pl_tensor_type(e->c.p, e->c.leaves[k].v->dtype));
  for (size_t o = 0; o < e->outs.len; o++)
    ac_cb_param(b, e->out_ptr[o], pl_tensor_type(e->c.p, e->c.p->tensors.data[e->outs.data[o]].v->dtype));
  ac_cb_param(b, e->n, NULL);
  for (int q = 0; q < e->c.n_groups; q++)
    if (e->c.groups[q].used) ac_cb_param(b, e->c.groups[q].name, NULL);
  ac_cb_param(b, e->per_core, NULL);
  ac_cb_param(b, e->tile_name, NULL);
  for (size_t i = 0; i < e->c.scalars.len; i++) ac_cb_param(b, e->c.scalars.data[i].name, NULL);
}

/* Group sizes that the row arithmetic will need must be known before the parameter list is written. */
static void mark_groups(elt *e) {
  if (!e->c.rows) return;
  e->c.groups[e->c.n_groups - 1].used = true;
  for (int k = 0; k < e->c.n_leaves; k++)
    if (e->c.leaves[k].ptr && !e->c.leaves[k].full) (void)leaf_row(e, &e->c.leaves[k]);
}

static void name_buffers(elt *e) {
  pl_ctx *p = e->c.p;
  const char *wishes[PL_MAX_LEAVES];
  const char **outs = AC_NEW_N(p->a, const char *, e->outs.len);
  for (int k = 0; k < e->c.n_leaves; k++) {
    pl_leaf *l = &e->c.leaves[k];
    wishes[k] = p->tensors.data[l->tensor].name;
    if (!l->scalar) continue;
    l->ptr = pl_name(e->c.names, ac_sprintf(p->a, "%s_ptr", wishes[k]));
  }
  for (size_t o = 0; o < e->outs.len; o++) outs[o] = p->tensors.data[e->outs.data[o]].name;
  vir_assign(&e->c.v, wishes, outs, e->c.names);
  for (size_t i = 0; i < e->c.v.bufs.len; i++) {
    const vir_buf *b = &e->c.v.bufs.data[i];
    if (b->owner_leaf < 0) continue;
    pl_leaf *l = &e->c.leaves[b->owner_leaf];
    l->buf = b->name;
    l->ptr = pl_name(e->c.names, ac_sprintf(p->a, "%s_ptr", wishes[b->owner_leaf]));
  }
  e->out_ptr = AC_NEW_N(p->a, const char *, e->outs.len);
  for (size_t o = 0; o < e->outs.len; o++) e->out_ptr[o] = pl_name(e->c.names, ac_sprintf(p->a, "%s_ptr", outs[o]));
}

static void phase(elt *e) {
  pl_ctx *p = e->c.p;
  const char *y = p->tensors.data[e->outs.data[0]].name;
  if (e->phases > 1) ac_cb_comment(&p->b, "%s: elements [pid * %s, (pid + 1) * %s)", y, e->per_core, e->per_core);
  pl_let(p, "start", "pid * %s", e->per_core);
  pl_let(p, "end", "min(start + %s, %s)", e->per_core, e->n);
  vir_alloc(&e->c.v, e->tile_name);
  scalar_loads(e, false);
  if (e->c.rows)
    row_loop(e);
  else
    flat_loop(e);
}

/* One kernel: a phase for the outputs of each shape. Phases do not read each other's results, so no barrier stands between them. */
static void kernel(pl_ctx *p, elt *const *all, size_t n) {
  assert(n > 0);
  ac_cfunc *f = ac_cb_func(&p->b, all[0]->kernel, true);
  const char *y = p->tensors.data[all[0]->outs.data[0]].name;
  f->doc = n > 1 ? "A phase for the outputs of each shape, one after the other."
           : all[0]->c.rows
               ? ac_sprintf(p->a, "Elements [pid * per_core, (pid + 1) * per_core) of %s, row by row.", y)
               : ac_sprintf(p->a, "Elements [pid * per_core, (pid + 1) * per_core) of %s.", y);
  for (size_t i = 0; i < n; i++) {
    mark_groups(all[i]);
    params(all[i]);
  }
  pl_let(p, "pid", "tl.program_id(0)");
  for (size_t i = 0; i < n; i++) phase(all[i]);
}

/* ---- the host function ---- */

static void host(elt *e) {
  pl_ctx *p = e->c.p;
  for (size_t o = 0; o < e->outs.len; o++) pl_declare(p, e->outs.data[o]);
  for (int k = 0; k < e->c.n_leaves; k++)
    if (e->c.leaves[k].view) pl_rank_guards(p, e->c.leaves[k].view->base);
  const char *y = p->tensors.data[e->outs.data[0]].name;
  if (e->c.n_groups > 1) {
    pl_note(p, "Shape: dimensions that all tensors treat alike count as one; the innermost such group is a row.");
    for (int q = 0; q < e->c.n_groups; q++) pl_let(p, e->c.groups[q].name, "%s", e->c.groups[q].size);
    const char *n = e->c.groups[0].name;
    for (int q = 1; q < e->c.n_groups; q++) n = ac_sprintf(p->a, "%s * %s", n, e->c.groups[q].name);
    pl_let(p, e->n, "%s", n);
  } else {
    int k = 0;
    while (k < e->c.n_leaves && !(e->c.leaves[k].full && (e->c.leaves[k].has || !e->c.n_groups))) k++;
    if (e->c.n_groups) e->c.groups[0].name = e->n;
    if (e->c.n_groups && k < e->c.n_leaves) e->c.groups[0].anchor = k;
    const pl_tensor *out = &p->tensors.data[e->outs.data[0]];
    pl_let(p, e->n, "%s",
           k < e->c.n_leaves ? chain_extent(&e->c, &e->c.leaves[k], 0, e->c.rank)
           : out->output     ? ac_sprintf(p->a, "%s.numel()", y)
                             : pl_numel_text(p, out->v));
  }
  chain_checks(&e->c);
  pl_note(p,
          "Core partitioning: one contiguous range a core, equal to within %lld elements. Ranges start on 512 bytes, "
          "so that transfers are "
          "aligned and no two cores write into one 64-byte line; small tensors take fewer cores.",
          (long long)e->align);
  pl_let(p, e->per_core, "max(%lld, tl.align_up(tl.cdiv(%s, tl.num_cores()), %lld))", (long long)e->align, e->n,
         (long long)e->align);
  pl_let(p, e->cores, "max(1, tl.cdiv(%s, %s))", e->n, e->per_core);
  int64_t scratch = vir_scratch(&e->c.v);
  pl_note(p,
          "Tiling: an element takes %s = %g bytes of UB (2* is double buffering: copies run beside the computation). "
          "%lld bytes%s%s "
          "hold %lld elements, in whole 256. A core with less to do takes smaller tiles, about four, so that there "
          "is something to overlap.",
          vir_bytes_text(&e->c.v), vir_bytes(&e->c.v), (long long)pl_ub_budget(p),
          e->phases > 1 ? ac_sprintf(p->a, " shared by %d phases", e->phases) : "",
          scratch ? ac_sprintf(p->a, " less %lld of scratch", (long long)scratch) : "", (long long)e->tile);
  int64_t least = e->tile < 1024 ? e->tile : 1024;
  pl_let(p, e->tile_name, "min(%lld, max(%lld, tl.align_up(tl.cdiv(%s, 4), 256)))", (long long)e->tile,
         (long long)least, e->per_core);
}

typedef AC_VEC(ac_cexpr *) exprs;

static void arguments(elt *e, exprs *args) {
  pl_ctx *p = e->c.p;
  ac_cbuild *b = &p->b;
  for (int k = 0; k < e->c.n_leaves; k++)
    if (e->c.leaves[k].ptr) ac_push(p->a, args, ac_ce_name(b, p->tensors.data[e->c.leaves[k].tensor].name));
  for (size_t o = 0; o < e->outs.len; o++) ac_push(p->a, args, ac_ce_name(b, p->tensors.data[e->outs.data[o]].name));
  ac_push(p->a, args, ac_ce_name(b, e->n));
  for (int q = 0; q < e->c.n_groups; q++) {
    const pl_group *gr = &e->c.groups[q];
    if (e->c.rows && gr->used) ac_push(p->a, args, ac_ce_parse(b, "max(1, %s)", gr->name)); /* divisors */
  }
  ac_push(p->a, args, ac_ce_name(b, e->per_core));
  ac_push(p->a, args, ac_ce_name(b, e->tile_name));
  for (size_t i = 0; i < e->c.scalars.len; i++) ac_push(p->a, args, ac_ce_parse(b, "%s", e->c.scalars.data[i].host));
}

static void launch(pl_ctx *p, elt *const *all, size_t n) {
  exprs args = {0};
  const char *cores = all[0]->cores;
  for (size_t i = 0; i < n; i++) {
    arguments(all[i], &args);
    if (i) cores = ac_sprintf(p->a, "max(%s, %s)", cores, all[i]->cores);
  }
  ac_cb_launch(&p->b, all[0]->kernel, ac_ce_parse(&p->b, "%s", cores), (int)args.len, args.data);
}

/* ---- one phase for the outputs of one shape ---- */

/* Names of the phase's host locals, which are the kernel's parameters, too. */
static void name_locals(elt *e) {
  pl_ctx *p = e->c.p;
  const char *suffix = e->index ? ac_sprintf(p->a, "_%d", e->index + 1) : "";
  e->n = pl_name(&p->names, "n");
  (void)pl_name(e->c.names, e->n);
  e->per_core = ac_sprintf(p->a, "per_core%s", suffix);
  e->cores = ac_sprintf(p->a, "n_cores%s", suffix);
  e->tile_name = ac_sprintf(p->a, "tile%s", suffix);
}

static bool build(elt *e) {
  pl_ctx *p = e->c.p;
  pl_chain *c = &e->c;
  c->v.p = p;
  c->views = true;
  c->once = true;
  for (size_t o = 0; o < e->outs.len; o++)
    if (!chain_collect(c, pl_stripped(p->tensors.data[e->outs.data[o]].v))) return false;
  name_locals(e);
  chain_groups(c);
  chain_sizes(c, &p->names);
  for (int q = 0; q < c->n_groups; q++) (void)pl_name(c->names, c->groups[q].name);
  for (size_t o = 0; o < e->outs.len; o++) {
    const ac_value *v = pl_stripped(p->tensors.data[e->outs.data[o]].v);
    pv x = {.kind = PV_NONE};
    if (!chain_eval(c, v, &x) || !chain_finish(c, v, x)) return false;
  }
  name_buffers(e);
  return choose_tile(e);
}

typedef struct {
  AC_VEC(elt *) phases;
} elts;

static void write_host(pl_ctx *p, void *self) {
  elts *all = self;
  for (size_t i = 0; i < all->phases.len; i++) host(all->phases.data[i]);
  launch(p, all->phases.data, all->phases.len);
}

bool pl_elementwise(pl_ctx *p, const int *outs, int n) {
  elts *all = AC_NEW(p->a, elts);
  pl_names *names = AC_NEW(p->a, pl_names);
  pl_names_init(names, p->a);
  for (int o = 0; o < n; o++) {
    const ac_value *v = pl_stripped(p->tensors.data[outs[o]].v);
    elt *e = NULL;
    for (size_t i = 0; i < all->phases.len && !e; i++) {
      const pl_chain *c = &all->phases.data[i]->c;
      if (pl_same_shape(p, c->rank, c->dim, v->rank, (const ac_sym *const *)v->shape)) e = all->phases.data[i];
    }
    if (!e) {
      e = AC_NEW(p->a, elt);
      *e = (elt){.index = (int)all->phases.len,
                 .c = {.p = p, .names = names, .rank = v->rank, .dim = (const ac_sym *const *)v->shape}};
      ac_push(p->a, &all->phases, e);
    }
    ac_push(p->a, &e->outs, outs[o]);
  }
  for (size_t i = 0; i < all->phases.len; i++) {
    all->phases.data[i]->phases = (int)all->phases.len;
    if (!build(all->phases.data[i])) return false;
  }
  all->phases.data[0]->kernel = ac_sprintf(p->a, "%s_kernel", pl_stage_name(p, outs[0]));
  kernel(p, all->phases.data, all->phases.len);
  pl_stage_host(p, all->phases.len == 1 ? "One pass over the tensors." : "One pass for the outputs of each shape.",
                write_host, all);
  return true;
}

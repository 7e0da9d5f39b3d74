/* Straight-line vector code on virtual registers: common subexpressions are found while it is written, buffers are shared when a
 * value has died (few buffers make a large tile, and large transfers are what the memory system wants). */
#include "plan/internal.h"

#include <math.h>
#include <string.h>

pv pv_num(double v) {
  return (pv){.kind = PV_NUM, .num = v};
}
pv pv_text(const char *text, bool is_int) {
  return (pv){.kind = PV_TEXT, .text = text, .text_int = is_int};
}
bool pv_is(pv v, double n) {
  return v.kind == PV_NUM && v.num == n;
}

static int new_reg(vir *v, ac_dtype d, bool mask) {
  vir_reg r = {.dtype = d, .mask = mask, .leaf = -1, .def = -1, .last = -1, .buf = -1, .pinned = -1, .home = -1};
  ac_push(v->p->a, &v->regs, r);
  return (int)v->regs.len - 1;
}

int vir_leaf(vir *v, int leaf, ac_dtype d) {
  for (size_t i = 0; i < v->regs.len; i++)
    if (v->regs.data[i].leaf == leaf) return (int)i;
  int r = new_reg(v, d == AC_BOOL ? AC_U8 : d, false); /* a bool is a byte, 0 or 1 */
  v->regs.data[r].leaf = leaf;
  return r;
}

static bool is_reg(const pv *a) {
  return a->kind == PV_VEC || a->kind == PV_MASK;
}

static bool same_pv(const pv *a, const pv *b) {
  if (a->kind != b->kind) return false;
  if (a->kind == PV_NUM) {
    if (isnan(a->num) || isnan(b->num)) return isnan(a->num) && isnan(b->num);
    return a->num == b->num && !signbit(a->num) == !signbit(b->num);
  }
  if (a->kind == PV_TEXT) return a->text && b->text && !strcmp(a->text, b->text);
  return a->reg == b->reg;
}

static int add_op(vir *v, vir_op op, ac_dtype d, bool mask) {
  for (size_t i = 0; i < v->ops.len; i++) {
    const vir_op *o = &v->ops.data[i];
    const vir_reg *r = &v->regs.data[o->dst];
    if (strcmp(o->prim, op.prim) || o->n_args != op.n_args || o->cls != op.cls || o->round != op.round ||
        r->dtype != d || r->mask != mask)
      continue;
    if (op.mode && strcmp(o->mode, op.mode)) continue;
    int k = 0;
    while (k < op.n_args && same_pv(&o->arg[k], &op.arg[k])) k++;
    if (k == op.n_args) return o->dst;
  }
  op.dst = new_reg(v, d, mask);
  vir_reg *r = &v->regs.data[op.dst];
  r->def = (int)v->ops.len;
  r->cls = op.cls;
  for (int k = 0; k < op.n_args; k++)
    if (is_reg(&op.arg[k])) r->axes |= v->regs.data[op.arg[k].reg].axes;
  ac_push(v->p->a, &v->ops, op);
  return op.dst;
}

static int home_buf(vir *v, const char *name, ac_dtype d) {
  for (size_t i = 0; i < v->bufs.len; i++)
    if (v->bufs.data[i].outside && !strcmp(v->bufs.data[i].name, name)) return (int)i;
  vir_buf b = {.name = name, .dtype = d, .owner_leaf = -1, .owner_out = -1, .free_from = INT32_MAX, .outside = true};
  ac_push(v->p->a, &v->bufs, b);
  return (int)v->bufs.len - 1;
}

int vir_emit(vir *v, const char *prim, ac_dtype d, int n, ...) {
  vir_op op = {.prim = prim, .n_args = n, .round = AC_RN_NONE};
  va_list ap;
  va_start(ap, n);
  for (int i = 0; i < n; i++) op.arg[i] = va_arg(ap, pv);
  va_end(ap);
  if (!strncmp(prim, "vselect", 7)) v->selects = true;
  return add_op(v, op, d, false);
}

int vir_cast(vir *v, int reg, ac_dtype d, ac_round r) {
  vir_op op = {.prim = "cast", .n_args = 1, .round = r, .arg = {{.kind = PV_VEC, .reg = reg}}};
  return add_op(v, op, d, false);
}

int vir_compare(vir *v, pv a, pv b, const char *mode) {
  vir_op op = {.prim = b.kind == PV_VEC ? "vcompare" : "vcompare_scalar",
               .n_args = 2,
               .arg = {a, b},
               .mode = mode,
               .round = AC_RN_NONE};
  return add_op(v, op, AC_U8, true);
}

int vir_copy(vir *v, vir_op op, ac_dtype d, bool mask) {
  if (!strncmp(op.prim, "vselect", 7)) v->selects = true;
  return add_op(v, op, d, mask);
}

void vir_output(vir *v, int reg, ac_dtype d) {
  vir_out o = {.reg = reg, .dtype = d, .buf = -1};
  ac_push(v->p->a, &v->outs, o);
}

int vir_home(vir *v, const char *buf, ac_dtype d) {
  for (size_t i = 0; i < v->regs.len; i++)
    if (v->regs.data[i].home >= 0 && v->regs.data[i].def < 0 && !strcmp(v->bufs.data[v->regs.data[i].home].name, buf))
      return (int)i;
  int r = new_reg(v, d, false);
  v->regs.data[r].home = home_buf(v, buf, d);
  return r;
}

void vir_settle(vir *v, int reg, const char *buf) {
  v->regs.data[reg].home = home_buf(v, buf, v->regs.data[reg].dtype);
  ac_push(v->p->a, &v->roots, reg);
}

void vir_accumulate(vir *v, const char *prim, int home, int x) {
  vir_op op = {.prim = prim,
               .n_args = 2,
               .arg = {{.kind = PV_VEC, .reg = home}, {.kind = PV_VEC, .reg = x}},
               .round = AC_RN_NONE};
  int r = add_op(v, op, v->regs.data[home].dtype, false);
  v->regs.data[r].home = v->regs.data[home].home;
  ac_push(v->p->a, &v->roots, r);
}

/* ---- buffers ---- */

/* May the destination be a source? Instructions by their table row; composed primitives read their source before they write. */
bool vir_in_place(const char *prim) {
  ac_inst i = ac_inst_by_dsl(prim);
  return i == AC_INST_COUNT || (ac_insts[i].flags & AC_INST_INPLACE) != 0;
}

/* A leaf that is only passed on needs no copy; every other output must be written by an operation of its own. */
static void settle_outputs(vir *v) {
  for (size_t i = 0; i < v->ops.len; i++)
    for (int k = 0; k < v->ops.data[i].n_args; k++)
      if (is_reg(&v->ops.data[i].arg[k])) v->regs.data[v->ops.data[i].arg[k].reg].last = (int)i;
  for (size_t o = 0; o < v->outs.len; o++) {
    vir_reg *r = &v->regs.data[v->outs.data[o].reg];
    if (r->leaf >= 0 && r->last >= 0) { /* also computed on: the store gets a copy */
      vir_op op = {
          .prim = "vcopy", .n_args = 1, .arg = {{.kind = PV_VEC, .reg = v->outs.data[o].reg}}, .round = AC_RN_NONE};
      int c = add_op(v, op, r->dtype, false);
      v->regs.data[v->outs.data[o].reg].last = v->regs.data[c].def;
      v->outs.data[o].reg = c;
      r = &v->regs.data[c];
    }
    if (r->pinned < 0) r->pinned = (int)o;
  }
  for (size_t i = 0; i < v->regs.len; i++)
    if (v->regs.data[i].last < v->regs.data[i].def) v->regs.data[i].last = v->regs.data[i].def;
}

/* The order of operations depends on the outputs alone: depth first, the longer operand first (fewer values alive), and what no output
 * needs is dropped. (The order in which C evaluates arguments of calls is the compiler's choice, so the order of emission is none.) */
typedef struct {
  vir *v;
  int *depth; /* by register; 0: unknown */
  int *placed;
  AC_VEC(vir_op) ops;
} order;

static int depth_of(order *o, int reg) {
  if (o->depth[reg]) return o->depth[reg];
  int most = 0, def = o->v->regs.data[reg].def;
  for (int k = 0; def >= 0 && k < o->v->ops.data[def].n_args; k++) {
    const pv *a = &o->v->ops.data[def].arg[k];
    int d = is_reg(a) ? depth_of(o, a->reg) : 0;
    if (d > most) most = d;
  }
  return o->depth[reg] = most + 1;
}

static void place(order *o, int reg) {
  int def = o->v->regs.data[reg].def;
  if (def < 0 || o->placed[reg]) return;
  const vir_op *op = &o->v->ops.data[def];
  bool done[3] = {false};
  for (int round = 0; round < op->n_args; round++) {
    int best = -1;
    for (int k = 0; k < op->n_args; k++)
      if (!done[k] && is_reg(&op->arg[k]) &&
          (best < 0 || depth_of(o, op->arg[k].reg) > depth_of(o, op->arg[best].reg)))
        best = k;
    if (best < 0) break;
    done[best] = true;
    place(o, op->arg[best].reg);
  }
  o->placed[reg] = 1;
  ac_push(o->v->p->a, &o->ops, *op);
}

static void schedule(vir *v) {
  order o = {.v = v, .depth = AC_NEW_N(v->p->a, int, v->regs.len), .placed = AC_NEW_N(v->p->a, int, v->regs.len)};
  for (size_t i = 0; i < v->outs.len; i++) place(&o, v->outs.data[i].reg);
  for (size_t i = 0; i < v->roots.len; i++) place(&o, v->roots.data[i]);
  v->selects = false;
  for (size_t i = 0; i < o.ops.len; i++) {
    v->regs.data[o.ops.data[i].dst].def = (int)i;
    if (!strncmp(o.ops.data[i].prim, "vselect", 7)) v->selects = true;
  }
  v->ops.len = 0;
  for (size_t i = 0; i < o.ops.len; i++) ac_push(v->p->a, &v->ops, o.ops.data[i]);
}

static int add_buf(vir *v, vir_buf b) {
  ac_push(v->p->a, &v->bufs, b);
  return (int)v->bufs.len - 1;
}

static bool fits(const vir *v, const vir_buf *b, int at, int reg, bool in_place) {
  const vir_reg *r = &v->regs.data[reg];
  if (b->outside || (v->apart && b->owner_out >= 0)) return false;
  if (b->dtype != r->dtype || b->mask != r->mask || b->cls != r->cls) return false;
  if (b->free_from > at || (b->free_from == at && !in_place)) return false;
  if (b->owner_out >= 0 && b->pinned_at > at) { /* a store's buffer before its result is there */
    const char *last = v->ops.data[b->pinned_at].prim;
    return r->last < b->pinned_at || (r->last == b->pinned_at && vir_in_place(last));
  }
  return b->owner_out < 0;
}

/* Picks a buffer for the destination of operation `at`: a dying source first, so that chains run in place. */
static int pick(vir *v, int at, pl_names *names, int *n_temps) {
  const vir_op *o = &v->ops.data[at];
  bool in_place = vir_in_place(o->prim);
  for (int k = 0; k < o->n_args && in_place; k++) {
    if (!is_reg(&o->arg[k])) continue;
    int b = v->regs.data[o->arg[k].reg].buf;
    if (v->bufs.data[b].free_from == at && fits(v, &v->bufs.data[b], at, o->dst, true)) return b;
  }
  for (size_t b = 0; b < v->bufs.len; b++)
    if (fits(v, &v->bufs.data[b], at, o->dst, false)) return (int)b;
  const vir_reg *r = &v->regs.data[o->dst];
  const char *wish = r->mask ? "mask" : ac_sprintf(v->p->a, "t%d", (*n_temps)++);
  return add_buf(v, (vir_buf){.name = pl_name(names, wish),
                              .dtype = r->dtype,
                              .mask = r->mask,
                              .cls = r->cls,
                              .owner_leaf = -1,
                              .owner_out = -1});
}

void vir_assign(vir *v, const char *const *leaf_names, const char *const *out_names, pl_names *names) {
  schedule(v);
  settle_outputs(v);
  for (size_t i = 0; i < v->regs.len; i++) {
    vir_reg *r = &v->regs.data[i];
    if (r->home >= 0) r->buf = r->home;
    if (r->leaf < 0) continue;
    r->buf = add_buf(v, (vir_buf){.name = pl_name(names, leaf_names[r->leaf]),
                                  .dtype = r->dtype,
                                  .cls = r->cls,
                                  .loaded = true,
                                  .owner_leaf = r->leaf,
                                  .owner_out = -1,
                                  .free_from = r->last,
                                  .stored = r->pinned >= 0});
    if (r->pinned >= 0) v->bufs.data[r->buf].free_from = INT32_MAX;
  }
  for (size_t o = 0; o < v->outs.len; o++) {
    vir_reg *r = &v->regs.data[v->outs.data[o].reg];
    if (r->buf < 0)
      r->buf = add_buf(v, (vir_buf){.name = pl_name(names, out_names[o]),
                                    .dtype = r->dtype,
                                    .cls = r->cls,
                                    .stored = true,
                                    .owner_leaf = -1,
                                    .owner_out = (int)o,
                                    .free_from = -1,
                                    .pinned_at = r->def});
    v->outs.data[o].buf = r->buf;
  }
  int n_temps = 0;
  for (size_t i = 0; i < v->ops.len; i++) {
    vir_reg *r = &v->regs.data[v->ops.data[i].dst];
    if (r->buf < 0) r->buf = pick(v, (int)i, names, &n_temps);
    v->bufs.data[r->buf].free_from = r->pinned >= 0 || r->home >= 0 ? INT32_MAX : r->last;
  }
}

int64_t vir_scratch(const vir *v) {
  int64_t most = 0;
  for (size_t i = 0; i < v->ops.len; i++) {
    const vir_op *o = &v->ops.data[i];
    const vir_reg *r = &v->regs.data[o->dst];
    ac_dtype first = o->arg[0].kind == PV_VEC ? v->regs.data[o->arg[0].reg].dtype : AC_F32;
    int bytes = !strcmp(o->prim, "cast") ? ac_cast_scratch(r->dtype, first)
                                         : ac_elem_scratch(o->prim, r->mask ? first : r->dtype);
    int64_t n = ac_scratch_bytes(bytes);
    if (n > most) most = n;
  }
  return most;
}

static double buf_bytes(const vir_buf *b) {
  if (b->mask) return 1.0 / 8;
  return (double)ac_dtypes[b->dtype].bytes * (b->loaded || b->stored ? 2 : 1);
}

bool vir_has_masks(const vir *v) {
  for (size_t i = 0; i < v->bufs.len; i++)
    if (v->bufs.data[i].mask) return true;
  return false;
}

double vir_bytes(const vir *v) {
  double sum = 0;
  for (size_t i = 0; i < v->bufs.len; i++)
    if (!v->bufs.data[i].outside) sum += buf_bytes(&v->bufs.data[i]);
  return sum;
}

const char *vir_bytes_text(const vir *v) {
  ac_buf s;
  ac_buf_init(&s, v->p->a);
  for (size_t i = 0; i < v->bufs.len; i++) {
    const vir_buf *b = &v->bufs.data[i];
    if (b->mask)
      ac_printf(&s, "%s1/8 (%s)", i ? " + " : "", b->name);
    else if (b->loaded || b->stored)
      ac_printf(&s, "%s2*%d (%s)", i ? " + " : "", ac_dtypes[b->dtype].bytes, b->name);
    else
      ac_printf(&s, "%s%d (%s)", i ? " + " : "", ac_dtypes[b->dtype].bytes, b->name);
  }
  return ac_buf_str(&s);
}

void vir_alloc(vir *v, const char *tile) {
  for (size_t i = 0; i < v->bufs.len; i++) {
    const vir_buf *b = &v->bufs.data[i];
    pl_alloc(v->p, b->name, tile, b->mask ? AC_MASK : b->dtype, false);
  }
}

static ac_cexpr *operand(vir *v, const pv *a, ac_dtype d) {
  ac_cbuild *b = &v->p->b;
  switch (a->kind) {
  case PV_NUM: return ac_dtypes[d].cls == AC_FLOATING ? ac_ce_float(b, a->num) : ac_ce_int(b, (int64_t)a->num);
  case PV_TEXT: return ac_ce_parse(b, "%s", a->text);
  default: return ac_ce_name(b, v->bufs.data[v->regs.data[a->reg].buf].name);
  }
}

/* In whose dtype an operation takes its scalars: a comparison in that of what it compares. */
static ac_dtype scalar_dtype(const vir *v, const vir_op *o) {
  const vir_reg *r = &v->regs.data[o->dst];
  for (int k = 0; k < o->n_args && r->mask; k++)
    if (o->arg[k].kind == PV_VEC) return v->regs.data[o->arg[k].reg].dtype;
  return r->dtype;
}

static const char *const round_names[] = {"none", "rint", "floor", "ceil", "round", "trunc", "odd"};

ac_cexpr *vir_call(vir *v, const vir_op *o, ac_cexpr *dst) {
  ac_cbuild *b = &v->p->b;
  if (!dst) dst = ac_ce_name(b, v->bufs.data[v->regs.data[o->dst].buf].name);
  ac_cexpr *call = ac_ce_tl(b, o->prim, 1, dst);
  for (int k = 0; k < o->n_args; k++) ac_ce_kwarg(b, call, NULL, operand(v, &o->arg[k], scalar_dtype(v, o)));
  if (o->mode) ac_ce_kwarg(b, call, NULL, ac_ce_str(b, o->mode));
  if (o->round != AC_RN_NONE) ac_ce_kwarg(b, call, "mode", ac_ce_str(b, round_names[o->round]));
  return call;
}

void vir_compute(vir *v, const char *count, bool all) {
  ac_cbuild *b = &v->p->b;
  for (size_t i = 0; i < v->ops.len; i++) {
    const vir_op *o = &v->ops.data[i];
    const vir_buf *dst = &v->bufs.data[v->regs.data[o->dst].buf];
    bool reused = dst->owner_leaf >= 0;
    for (int k = 0; k < o->n_args; k++)
      if (is_reg(&o->arg[k]) && v->regs.data[o->arg[k].reg].buf == v->regs.data[o->dst].buf) reused = false;
    if (reused) ac_cb_comment(b, "%s as loaded is used up: its buffer takes the next value", dst->name);
    ac_cexpr *call = vir_call(v, o, NULL);
    if (all || !strcmp(o->prim, "duplicate")) ac_ce_kwarg(b, call, "count", ac_ce_parse(b, "%s", count));
    ac_cb_call(b, call);
  }
}

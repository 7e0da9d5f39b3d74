/* Stages: which schedule computes which results, and what stands in memory between them.
 *
 * The outputs are looked at one by one: walking back from an output over what is element-wise, the last operation that is not (its anchor)
 * says which schedule it takes. Results that one schedule can compute together become one stage. What a schedule cannot take in is a stage
 * of its own before it, handed over in workspace.
 */
#include "plan/internal.h"

#include <stdlib.h>
#include <string.h>

static const pl_class *const classes[] = {&pl_reduce_class,  &pl_pool_class,  &pl_gather_class,
                                          &pl_scatter_class, &pl_place_class, &pl_scan_class,
                                          &pl_arg_class,     &pl_move_class,  &pl_create_class};

enum { MAX_NESTING = 64 };

bool pl_inline(ac_op op) {
  return pl_expandable(op) || pl_is_view(op) || op == AC_G_CONST || op == AC_G_SIZE || op == AC_G_FULL ||
         op == AC_G_TENSOR || op == AC_G_EXPAND;
}

static const pl_class *class_of(const ac_node *n) {
  for (size_t i = 0; i < AC_COUNT(classes); i++)
    if (classes[i]->takes(n)) return classes[i];
  return NULL;
}

bool pl_anchored(ac_op op) {
  return class_of(&(ac_node){.op = op}) != NULL;
}

/* ---- tensors ---- */

int pl_tensor_of(const pl_ctx *p, const ac_value *v) {
  for (size_t i = 0; i < p->tensors.len; i++)
    if (p->tensors.data[i].v == v && p->tensors.data[i].ready) return (int)i;
  return -1;
}

const char *pl_product_text(const pl_ctx *p, const ac_value *v, int from, int to) {
  const char *s = NULL;
  for (int i = from; i < to; i++) {
    int64_t c;
    if (ac_sym_is_const(v->shape[i], &c) && c == 1) continue;
    const char *t = pl_sym_text(p, v->shape[i]);
    s = s ? ac_sprintf(p->a, "%s * %s", s, t) : t;
  }
  return s ? s : "1";
}

const char *pl_numel_text(const pl_ctx *p, const ac_value *v) {
  return pl_product_text(p, v, 0, v->rank);
}

void pl_declare(pl_ctx *p, int tensor) {
  const pl_tensor *t = &p->tensors.data[tensor];
  if (t->input || t->output) return;
  pl_rank_guards(p, t->v);
  ac_cbuild *b = &p->b;
  ac_cexpr *dtype = ac_ce_attr(b, ac_ce_name(b, "tl"), ac_dtypes[t->v->dtype].name);
  ac_cb_assign(b, t->name, ac_ce_tl(b, "empty", 2, ac_ce_parse(b, "%s", pl_numel_text(p, t->v)), dtype));
}

/* ---- stages ---- */

void pl_stage_host(pl_ctx *p, const char *doc, void (*host)(pl_ctx *, void *), void *self) {
  pl_stage s = {.host = host, .self = self, .doc = doc};
  ac_push(p->a, &p->stages, s);
}

const char *pl_stage_name(pl_ctx *p, int tensor) {
  const pl_tensor *t = &p->tensors.data[tensor];
  const char *base = p->g->name;
  if (!t->output || ac_map_has(p->stage_names, base)) base = ac_sprintf(p->a, "%s_%s", base, t->name);
  const char *name = base;
  for (int k = 2; ac_map_has(p->stage_names, name); k++) name = ac_sprintf(p->a, "%s_%d", base, k);
  ac_map_put(p->stage_names, name, p);
  return name;
}

static bool later(const ac_node *a, const ac_node *b) {
  return !b || a->outs[0]->id > b->outs[0]->id;
}

/* The last operation before the value that no chain computes and that memory does not hold; NULL. */
static const ac_node *anchor_of(const pl_ctx *p, ac_map *seen, const ac_value *v) {
  const char *key = ac_sprintf(p->a, "%d", v->id);
  if (ac_map_has(seen, key) || pl_tensor_of(p, v) >= 0) return NULL;
  ac_map_put(seen, key, seen);
  const ac_node *n = v->def, *last = NULL;
  if (!n) return NULL;
  if (!pl_inline(n->op)) return n;
  for (int i = 0; i < n->n_args; i++) {
    if (n->args[i].kind != AC_K_TENSOR || n->args[i].absent || !n->args[i].t) continue;
    const ac_node *a = anchor_of(p, seen, n->args[i].t);
    if (a && later(a, last)) last = a;
  }
  return last;
}

static bool result_of(const ac_node *n, const ac_value *v) {
  for (int i = 0; i < n->n_outs; i++)
    if (n->outs[i] == v) return true;
  return false;
}

typedef struct {
  const ac_node *anchor; /* NULL: element-wise */
  const pl_class *cls;
  AC_VEC(int) outs;
} bundle;

/* By which anchor a tensor is computed: NULL when a chain does it, anchors needed first included. */
static bool look(pl_ctx *p, int tensor, bundle *b) {
  const ac_value *v = p->tensors.data[tensor].v;
  *b = (bundle){.anchor = anchor_of(p, ac_map_new(p->a), v)};
  if (!b->anchor) return true;
  b->cls = class_of(b->anchor);
  if (!b->cls) return pl_refuse(p, b->anchor->loc, ac_op_info(b->anchor->op)->id, "%s", pl_unfit(b->anchor->op));
  if (!result_of(b->anchor, v) && !(b->cls->fuses && b->cls->fuses(p, b->anchor, v))) *b = (bundle){.anchor = NULL};
  return true;
}

static bool run(pl_ctx *p, const bundle *b) {
  for (size_t i = 0; i < b->outs.len; i++) p->tensors.data[b->outs.data[i]].busy = true;
  bool ok = b->anchor ? b->cls->plan(p, b->anchor, b->outs.data, (int)b->outs.len)
                      : pl_elementwise(p, b->outs.data, (int)b->outs.len);
  for (size_t i = 0; i < b->outs.len; i++) {
    p->tensors.data[b->outs.data[i]].busy = false;
    p->tensors.data[b->outs.data[i]].ready = ok;
  }
  return ok;
}

bool pl_need(pl_ctx *p, const ac_value *v) {
  if (pl_tensor_of(p, v) >= 0) return true;
  int t = -1;
  for (size_t i = 0; i < p->tensors.len && t < 0; i++)
    if (p->tensors.data[i].v == v && !p->tensors.data[i].busy) t = (int)i;
  if (t < 0) {
    const char *wish = v->def ? ac_op_info(v->def->op)->id : "value";
    pl_tensor w = {.v = v, .name = pl_name(&p->names, wish)};
    ac_push(p->a, &p->tensors, w);
    t = (int)p->tensors.len - 1;
  }
  if (p->nesting == MAX_NESTING)
    return pl_refuse(p, v->def ? v->def->loc : AC_NOLOC, p->g->name, "more than %d stages wait for each other",
                     MAX_NESTING);
  p->nesting++;
  bundle b;
  bool ok = look(p, t, &b);
  if (ok) ac_push(p->a, &b.outs, t);
  ok = ok && run(p, &b);
  p->nesting--;
  return ok;
}

static bool together(const pl_ctx *p, const bundle *a, const bundle *b) {
  if (!a->anchor || !b->anchor) return a->anchor == b->anchor;
  return a->anchor == b->anchor || (a->cls == b->cls && a->cls->joins && a->cls->joins(p, a->anchor, b->anchor));
}

static bool bare(const pl_ctx *p, const bundle *b) {
  for (size_t i = 0; i < b->outs.len; i++)
    if (!result_of(b->anchor, p->tensors.data[b->outs.data[i]].v)) return false;
  return true;
}

/* Results of `b`'s anchor, with nothing after it, that the stage of `a` writes too. */
static bool adopted(const pl_ctx *p, const bundle *a, const bundle *b) {
  return a->anchor && b->anchor && a->cls != b->cls && a->cls->adopts && a->cls->adopts(p, a->anchor, b->anchor) &&
         bare(p, a) && bare(p, b);
}

static int by_anchor(const void *x, const void *y) {
  const bundle *a = x, *b = y;
  if (!a->anchor || !b->anchor)
    return (a->anchor == NULL) - (b->anchor == NULL); /* element-wise last: may read the others */
  return later(a->anchor, b->anchor) ? 1 : -1;
}

bool pl_outputs(pl_ctx *p) {
  AC_VEC(bundle) all = {0};
  for (size_t i = 0; i < p->tensors.len; i++) {
    bundle b;
    if (!p->tensors.data[i].output) continue;
    if (!look(p, (int)i, &b)) return false;
    bundle *to = NULL, alone = b;
    ac_push(p->a, &alone.outs, (int)i);
    for (size_t k = 0; k < all.len && !to; k++)
      if (together(p, &all.data[k], &b) || adopted(p, &all.data[k], &alone) || adopted(p, &alone, &all.data[k]))
        to = &all.data[k];
    if (!to) {
      ac_push(p->a, &all, b);
      to = &all.data[all.len - 1];
    }
    if (adopted(p, &alone, to)) to->cls = b.cls, to->anchor = b.anchor;
    if (to->cls == b.cls && b.anchor && later(b.anchor, to->anchor)) to->anchor = b.anchor;
    ac_push(p->a, &to->outs, (int)i);
  }
  if (all.len > 1) qsort(all.data, all.len, sizeof *all.data, by_anchor);
  for (size_t k = 0; k < all.len; k++) {
    bundle todo = {.anchor = all.data[k].anchor, .cls = all.data[k].cls};
    for (size_t i = 0; i < all.data[k].outs.len; i++)
      if (!p->tensors.data[all.data[k].outs.data[i]].ready) ac_push(p->a, &todo.outs, all.data[k].outs.data[i]);
    if (todo.outs.len && !run(p, &todo)) return false;
  }
  return true;
}

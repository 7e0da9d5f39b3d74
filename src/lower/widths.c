/* Are tiles of several axes alike in width? A packed buffer has its rows one behind another, as long as the tile's that was loaded or stored:
 * a tile of other inner lengths finds other elements there. Buffers that one call joins have rows of one length. */
#include "lower/internal.h"

typedef struct {
  ac_lower_ctx *c;
  ac_lkernel *k;
  int *group;            /* by buffer: one of its group, itself for the first */
  const ac_ctile **tile; /* by group: the first tile */
  bool joined, differ;   /* joined: the second walk */
} widths;

static int first_of(const widths *w, int i) {
  while (w->group[i] != i) i = w->group[i];
  return i;
}

static int buffer_of(const widths *w, const ac_cexpr *e) {
  const ac_linfo *f = e && e->type == AC_CT_BUFFER && e->buffer->rank > 1 ? ac_lower_info(w->k, e->buffer) : NULL;
  return f ? (int)(f - w->k->infos.data) : -1;
}

static bool same_length(const widths *w, const ac_cexpr *x, const ac_cexpr *y) {
  ac_lconv v = {.c = w->c, .k = w->k};
  ac_aexpr *a = ac_lower_expr(&v, x), *b = a ? ac_lower_expr(&v, y) : NULL;
  return b && ac_ae_equal(a, b);
}

static void call(widths *w, const ac_cexpr *e) {
  if (!e || e->kind != AC_CE_CALL) return;
  bool copies = e->prim == AC_P_LOAD || e->prim == AC_P_STORE;
  int before = -1;
  for (int i = 0; !w->joined && !copies && i < e->n_args; i++) {
    int at = buffer_of(w, e->args[i]);
    if (at < 0) continue;
    if (before >= 0) w->group[first_of(w, at)] = first_of(w, before);
    before = at;
  }
  if (!w->joined || !copies || !e->args[0]->tile || buffer_of(w, e->args[1]) < 0) return;
  const ac_ctile *t = e->args[0]->tile, **own = &w->tile[first_of(w, buffer_of(w, e->args[1]))];
  if (!*own) *own = t;
  w->differ |= (*own)->rank != t->rank;
  for (int i = 1; i < t->rank && !w->differ; i++)
    w->differ = !same_length(w, (*own)->axis[i].extent, t->axis[i].extent);
}

static void list(widths *w, const ac_cstmt *first) {
  for (const ac_cstmt *s = first; s; s = s->next) {
    call(w, s->value);
    list(w, s->body);
    list(w, s->orelse);
  }
}

bool ac_lower_widths_differ(ac_lower_ctx *c, ac_lkernel *k) {
  size_t n = k->infos.len + 1;
  ac_diags quiet;
  ac_diags_init(&quiet, c->a);
  ac_lower_ctx trial = *c;
  trial.d = &quiet;
  widths w = {.c = &trial, .k = k, .group = AC_NEW_N(c->a, int, n), .tile = AC_NEW_N(c->a, const ac_ctile *, n)};
  for (size_t i = 0; i < n; i++) w.group[i] = (int)i;
  list(&w, k->fn->body);
  w.joined = true;
  list(&w, k->fn->body);
  return w.differ;
}

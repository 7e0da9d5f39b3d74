/* Small questions to a tree. */
#include "craft/internal.h"

#include <string.h>

ac_cfunc *ac_craft_host(const ac_cmodule *m) {
  for (size_t i = 0; i < m->funcs.len; i++)
    if (!m->funcs.data[i]->kernel) return m->funcs.data[i];
  return NULL;
}

ac_cfunc *ac_craft_kernel(const ac_cmodule *m, const char *name) {
  for (size_t i = 0; i < m->funcs.len; i++)
    if (m->funcs.data[i]->kernel && !strcmp(m->funcs.data[i]->name, name)) return m->funcs.data[i];
  return NULL;
}

/* kernel[cores](...): the index expression, or NULL when s is no launch. */
static const ac_cexpr *launch_head(const ac_cstmt *s) {
  if (s->kind != AC_CS_EXPR || !s->value || s->value->kind != AC_CE_CALL) return NULL;
  const ac_cexpr *e = s->value->a;
  return e && e->kind == AC_CE_INDEX && e->n_args == 1 && e->a->kind == AC_CE_NAME ? e : NULL;
}

ac_cfunc *ac_craft_launch_kernel(const ac_cmodule *m, const ac_cstmt *s) {
  const ac_cexpr *e = launch_head(s);
  return e ? ac_craft_kernel(m, e->a->s) : NULL;
}

ac_cexpr *ac_craft_launch_cores(const ac_cstmt *s) {
  const ac_cexpr *e = launch_head(s);
  return e ? e->args[0] : NULL;
}

bool ac_craft_same_text(const char *a, const char *b) {
  return a == b || (a && b && !strcmp(a, b));
}

/* NaN equals itself, 0 does not equal -0: what matters is that the same code comes out. */
static bool same_bits(double x, double y) {
  uint64_t a, b;
  memcpy(&a, &x, sizeof a);
  memcpy(&b, &y, sizeof b);
  return a == b;
}

bool ac_cexpr_equal(const ac_cexpr *a, const ac_cexpr *b) {
  if (a == b) return true;
  if (!a || !b || a->kind != b->kind || a->op != b->op || a->n_args != b->n_args) return false;
  if (a->i != b->i || !same_bits(a->f, b->f) || !ac_craft_same_text(a->s, b->s)) return false;
  for (int i = 0; i < a->n_args; i++) {
    if (!ac_craft_same_text(a->kw ? a->kw[i] : NULL, b->kw ? b->kw[i] : NULL)) return false;
    if (!ac_cexpr_equal(a->args[i], b->args[i])) return false;
  }
  return ac_cexpr_equal(a->a, b->a) && ac_cexpr_equal(a->b, b->b) && ac_cexpr_equal(a->c, b->c);
}

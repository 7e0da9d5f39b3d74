/* Leaves out of a function what nothing in it reads: numbers, buffers and parameters that only other forms of the schedule need. */
#include "plan/internal.h"

#include <string.h>

static void names_in(ac_map *seen, const ac_cexpr *e) {
  if (!e) return;
  if (e->kind == AC_CE_NAME) ac_map_put(seen, e->s, seen);
  names_in(seen, e->a);
  names_in(seen, e->b);
  names_in(seen, e->c);
  for (int i = 0; i < e->n_args; i++) names_in(seen, e->args[i]);
}

static void names_read(ac_map *seen, const ac_cstmt *s) {
  for (; s; s = s->next) {
    names_in(seen, s->value);
    names_in(seen, s->lo);
    names_in(seen, s->hi);
    names_in(seen, s->step);
    names_read(seen, s->body);
    names_read(seen, s->orelse);
  }
}

void pl_hand_on(ac_arena *a, const ac_cstmt *from, ac_cstmt *to) {
  ac_strvec all = {0};
  for (size_t i = 0; i < from->comments.len; i++) ac_push(a, &all, from->comments.data[i]);
  for (size_t i = 0; i < to->comments.len; i++) ac_push(a, &all, to->comments.data[i]);
  to->comments = all;
}

/* Takes out assignments to names that nothing reads; were there any? Comments of a host function are about what follows, and stay. */
static bool drop(ac_arena *a, ac_cstmt **at, const ac_map *seen, bool host) {
  bool any = false;
  while (*at) {
    ac_cstmt *s = *at;
    if (s->kind == AC_CS_ASSIGN && s->target->kind == AC_CE_NAME && !ac_map_has(seen, s->target->s)) {
      *at = s->next;
      if (host && *at) pl_hand_on(a, s, *at);
      any = true;
      continue;
    }
    any |= drop(a, &s->body, seen, host);
    any |= drop(a, &s->orelse, seen, host);
    at = &s->next;
  }
  return any;
}

ac_map *pl_drop_unread(pl_ctx *p, ac_cfunc *f) {
  ac_map *seen;
  do {
    seen = ac_map_new(p->a);
    names_read(seen, f->body);
  } while (drop(p->a, &f->body, seen, !f->kernel));
  return seen;
}

bool *pl_trim(pl_ctx *p, ac_cfunc *f) {
  ac_map *seen = pl_drop_unread(p, f);
  bool *kept = AC_NEW_N(p->a, bool, f->n_params + 1);
  int n = 0;
  for (int i = 0; i < f->n_params; i++) {
    kept[i] = ac_map_has(seen, f->params[i].name);
    if (kept[i]) f->params[n++] = f->params[i];
  }
  f->n_params = n;
  return kept;
}

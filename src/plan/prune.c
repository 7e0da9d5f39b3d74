/* Sizes that the graph fixes decide branches of the host function: what never runs is left out, and with it kernels that nothing launches.
 * Schedules write all their forms, once, for any size; a reader of the program for one fixed size sees only those that serve it. */
#include "plan/internal.h"

#include <string.h>

typedef struct {
  ac_arena *a;
  ac_map *values; /* name -> its constant where the walk stands; NULL: it is none, or another on some way */
} known;

static bool decided(const known *k, const ac_cexpr *e, int64_t *v);

static bool connected(const known *k, const ac_cexpr *e, int64_t *v) {
  bool rest = e->op == AC_OP_AND; /* what a part must be for the other to matter */
  int64_t a = 0, b = 0;
  bool has_a = decided(k, e->a, &a), has_b = decided(k, e->b, &b);
  if ((has_a && !!a != rest) || (has_b && !!b != rest)) return *v = !rest, true;
  *v = rest;
  return has_a && has_b;
}

static bool binary(const known *k, const ac_cexpr *e, int64_t *v) {
  if (e->op == AC_OP_AND || e->op == AC_OP_OR) return connected(k, e, v);
  int64_t a, b;
  if (!decided(k, e->a, &a) || !decided(k, e->b, &b)) return false;
  switch (e->op) {
  case AC_OP_ADD: return !__builtin_add_overflow(a, b, v);
  case AC_OP_SUB: return !__builtin_sub_overflow(a, b, v);
  case AC_OP_MUL: return !__builtin_mul_overflow(a, b, v);
  case AC_OP_EQ: return *v = a == b, true;
  case AC_OP_NE: return *v = a != b, true;
  case AC_OP_LT: return *v = a < b, true;
  case AC_OP_LE: return *v = a <= b, true;
  case AC_OP_GT: return *v = a > b, true;
  case AC_OP_GE: return *v = a >= b, true;
  default: return false;
  }
}

/* An integer or the truth of a condition; false: it is known only when the host function runs. */
static bool decided(const known *k, const ac_cexpr *e, int64_t *v) {
  switch (e->kind) {
  case AC_CE_INT:
  case AC_CE_BOOL: return *v = e->i, true;
  case AC_CE_NAME: {
    const int64_t *x = ac_map_get(k->values, e->s);
    return x && (*v = *x, true);
  }
  case AC_CE_UNARY:
    if (e->op != AC_OP_NOT || !decided(k, e->a, v)) return false;
    return *v = !*v, true;
  case AC_CE_BINARY: return binary(k, e, v);
  default: return false;
  }
}

/* `certain`: every way to what follows comes by here. */
static void learn(known *k, const ac_cstmt *s, bool certain) {
  if ((s->kind != AC_CS_ASSIGN && s->kind != AC_CS_FOR) || s->target->kind != AC_CE_NAME) return;
  int64_t v, *x = NULL;
  if (certain && s->kind == AC_CS_ASSIGN && s->op == AC_OP_NOP && decided(k, s->value, &v)) {
    x = AC_NEW(k->a, int64_t);
    *x = v;
  }
  ac_map_put(k->values, s->target->s, x);
}

/* What is assigned somewhere inside is not known behind, nor at the head of a loop. */
static void forget(known *k, const ac_cstmt *s) {
  for (; s; s = s->next) {
    learn(k, s, false);
    forget(k, s->body);
    forget(k, s->orelse);
  }
}

/* The branch in place of the `if`, with the comments above it. */
static void put_in_place(ac_arena *a, ac_cstmt **at, ac_cstmt *branch) {
  ac_cstmt *s = *at, *next = s->next;
  ac_cstmt *heir = branch ? branch : next;
  if (heir) pl_hand_on(a, s, heir);
  *at = branch;
  while (*at) at = &(*at)->next;
  *at = next;
}

static void prune(known *k, ac_cstmt **at) {
  while (*at) {
    ac_cstmt *s = *at;
    int64_t v;
    if (s->kind == AC_CS_IF && decided(k, s->value, &v)) {
      ac_cstmt *branch = v ? s->body : s->orelse;
      put_in_place(k->a, at, branch); /* and walk over it as over the rest */
      continue;
    }
    if (s->body || s->orelse) {
      if (s->kind != AC_CS_IF) {
        learn(k, s, false);
        forget(k, s->body);
      }
      prune(k, &s->body);
      forget(k, s->body);
      prune(k, &s->orelse);
      forget(k, s->orelse);
    } else
      learn(k, s, true);
    at = &s->next;
  }
}

static void launched(const ac_cmodule *m, ac_map *seen, const ac_cstmt *s) {
  for (; s; s = s->next) {
    const ac_cfunc *f = ac_craft_launch_kernel(m, s);
    if (f) ac_map_put(seen, f->name, seen);
    launched(m, seen, s->body);
    launched(m, seen, s->orelse);
  }
}

void pl_prune(pl_ctx *p) {
  ac_cmodule *m = p->b.module;
  ac_cfunc *host = ac_craft_host(m);
  known k = {p->a, ac_map_new(p->a)};
  prune(&k, &host->body);
  pl_drop_unread(p, host);
  ac_map *seen = ac_map_new(p->a);
  launched(m, seen, host->body);
  size_t n = 0;
  for (size_t i = 0; i < m->funcs.len; i++)
    if (!m->funcs.data[i]->kernel || ac_map_has(seen, m->funcs.data[i]->name)) m->funcs.data[n++] = m->funcs.data[i];
  m->funcs.len = n;
}

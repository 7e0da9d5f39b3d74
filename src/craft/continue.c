/* `continue` in the way that the language has: what follows it becomes the other branch. */
#include "craft/internal.h"

static void move_comments(ac_arena *a, ac_strvec *to, const ac_strvec *from) {
  for (size_t i = 0; i < from->len; i++) ac_push(a, to, from->data[i]);
}

void ac_craft_collect_comments(ac_arena *a, ac_strvec *to, const ac_cstmt *s) {
  for (; s; s = s->next) {
    move_comments(a, to, &s->comments);
    if (s->trailing) ac_push(a, to, s->trailing);
    ac_craft_collect_comments(a, to, s->body);
    move_comments(a, to, &s->tail_comments);
    ac_craft_collect_comments(a, to, s->orelse);
    move_comments(a, to, &s->else_comments);
  }
}

static bool is_continue(const ac_cstmt *s) {
  return s->kind == AC_CS_BREAK && s->again;
}

/* The statement of the list that is a `continue` of this loop, or has one in it. */
static const ac_cstmt *continues(const ac_cstmt *s) {
  for (; s; s = s->next) {
    bool block = s->kind == AC_CS_IF || s->kind == AC_CS_WITH;
    if (is_continue(s) || (block && (continues(s->body) || continues(s->orelse)))) return s;
  }
  return NULL;
}

/* Every way through the list ends in a `continue`. */
static bool ends(const ac_cstmt *s) {
  for (; s; s = s->next)
    if (is_continue(s) || (s->kind == AC_CS_IF && ends(s->body) && ends(s->orelse))) return true;
  return false;
}

static void append(ac_cstmt **list, ac_cstmt *s) {
  while (*list) list = &(*list)->next;
  *list = s;
}

/* A branch may be empty now: `if c: (nothing) else: B` is `if not c: B`. */
static void tidy_if(ac_arena *a, ac_cstmt *s) {
  if (s->body) return;
  if (!s->orelse) {
    s->body = AC_NEW(a, ac_cstmt);
    s->body->kind = AC_CS_PASS;
    s->body->loc = s->loc;
    return;
  }
  ac_cexpr *n = AC_NEW(a, ac_cexpr);
  *n = (ac_cexpr){.kind = AC_CE_UNARY,
                  .op = AC_OP_NOT,
                  .loc = s->value->loc,
                  .a = s->value,
                  .prim = AC_P_NONE,
                  .inst = AC_INST_COUNT,
                  .dtype = AC_NODTYPE};
  ac_strvec before = s->tail_comments;
  move_comments(a, &before, &s->orelse->comments);
  s->value = n;
  s->body = s->orelse;
  s->body->comments = ac_craft_tidy_comments(a, &before);
  s->tail_comments = s->else_comments;
  s->orelse = NULL;
  s->else_comments = (ac_strvec){0};
}

/* Takes the `continue`s out of a list; `tail`: the comments behind it. NULL, or the statement at which that cannot be done without
 * writing what follows twice. */
static const ac_cstmt *take_out(ac_arena *a, ac_cstmt **at, ac_strvec *tail) {
  const ac_cstmt *hit = continues(*at), *bad;
  if (!hit) return NULL;
  while (*at != hit) at = &(*at)->next;
  ac_cstmt *s = *at, *rest = s->next;
  if (is_continue(s)) { /* what follows is never reached */
    ac_strvec all = {0};
    ac_craft_collect_comments(a, &all, s);
    move_comments(a, &all, tail);
    *tail = ac_craft_tidy_comments(a, &all);
    *at = NULL;
    return NULL;
  }
  bool other = ends(s->body); /* what follows belongs to the other branch */
  if (s->kind != AC_CS_IF || (rest && !other && !ends(s->orelse))) return s;
  if (rest) {
    s->next = NULL;
    append(other ? &s->orelse : &s->body, rest);
    move_comments(a, other ? &s->else_comments : &s->tail_comments, tail);
    *tail = (ac_strvec){0};
  }
  if ((bad = take_out(a, &s->body, &s->tail_comments)) || (bad = take_out(a, &s->orelse, &s->else_comments)))
    return bad;
  tidy_if(a, s);
  return NULL;
}

void ac_craft_continues(ac_arena *a, ac_diags *d, ac_cstmt *loop) {
  const ac_cstmt *bad = take_out(a, &loop->body, &loop->tail_comments);
  if (!bad) return;
  ac_diag *x =
      ac_error(d, AC0408, bad->loc, "a 'continue' in here has no other form: what follows would be needed twice");
  ac_help(d, x, "put the rest of the loop's body under an `if`");
}

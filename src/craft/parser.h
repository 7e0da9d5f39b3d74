/* The parser's parts: tokens and expressions. Private to craft. */
#ifndef AC_CRAFT_PARSER_H
#define AC_CRAFT_PARSER_H

#include "craft/internal.h"

#include <setjmp.h>
#include <string.h>

typedef struct ac_parser {
  ac_arena *a;
  ac_diags *d;
  const char *file;
  ac_ctoken *t; /* current token; the last one is AC_TK_END and is never passed */
  jmp_buf give_up;
  int depth;  /* of expressions */
  int blocks; /* of statements */
  int loops;
  bool bare; /* no locations: text of our own */
} parser;

/* ---- tokens ---- */

/* The first character decides nearly always. */
static inline bool same_word(const char *x, const char *y) {
  return *x == *y && !strcmp(x, y);
}
static inline bool is_op(const parser *p, const char *s) {
  return p->t->kind == AC_TK_OP && same_word(p->t->s, s);
}
static inline bool is_word(const parser *p, const char *s) {
  return p->t->kind == AC_TK_NAME && same_word(p->t->s, s);
}
static inline void advance(parser *p) {
  if (p->t->kind != AC_TK_END) p->t++;
}

AC_NORETURN static inline void give_up(parser *p) {
  longjmp(p->give_up, 1);
}

static inline bool accept_op(parser *p, const char *s) {
  if (!is_op(p, s)) return false;
  advance(p);
  return true;
}

static inline bool accept_word(parser *p, const char *s) {
  if (!is_word(p, s)) return false;
  advance(p);
  return true;
}

/* Reports, unless the lexer found fault with this line already, and gives the statement up. */
AC_NORETURN void ac_pa_expected(parser *p, const char *what);
AC_NORETURN void ac_pa_refuse(parser *p, ac_code code, ac_loc loc, const char *what, const char *help);
void ac_pa_need_op(parser *p, const char *s);
const char *ac_pa_need_name(parser *p, const char *what);

/* ---- expressions (parse_expr.c) ---- */

ac_cexpr *ac_pa_node(parser *p, ac_cekind kind, ac_loc loc);
/* From the start of one to the end of the other, as far as they share a line. */
ac_loc ac_pa_span(ac_loc from, ac_loc to);
void ac_pa_push_arg(parser *p, ac_cexpr *e, const char *kw, ac_cexpr *value);
ac_cexpr *ac_pa_atom(parser *p);
ac_cexpr *ac_pa_test(parser *p);
ac_cexpr *ac_pa_tests(parser *p); /* one, or a tuple without brackets */

#endif

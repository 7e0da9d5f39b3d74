/* craft's own parts: tokens and tables shared between its files. Not for other modules. */
#ifndef AC_CRAFT_INTERNAL_H
#define AC_CRAFT_INTERNAL_H

#include "craft/craft.h"

/* ---- lexer ---- */

typedef enum {
  AC_TK_NAME, /* identifiers and keywords: s */
  AC_TK_INT,  /* i; big: exactly 2^63, allowed only behind a minus */
  AC_TK_FLOAT,
  AC_TK_STR, /* s, escapes resolved */
  AC_TK_OP,  /* s */
  AC_TK_NEWLINE,
  AC_TK_INDENT,
  AC_TK_DEDENT,
  AC_TK_END,
  AC_TK_BAD, /* reported by the lexer; the parser gives up the statement without a second message */
} ac_ctokkind;

typedef struct {
  ac_ctokkind kind;
  ac_loc loc;
  const char *s;
  int64_t i;
  double f;
  bool big;
  /* Comment lines: of the first token of a logical line those before it, of a DEDENT those that close its block.
   * A blank line is "" (as many as there were). */
  ac_strvec comments;
  const char *trailing; /* NEWLINE: the comment at the end of the line */
} ac_ctoken;

typedef AC_VEC(ac_ctoken) ac_ctokens;

/* Always ends with AC_TK_END. Every error is reported and leaves an AC_TK_BAD. */
void ac_craft_lex(ac_arena *a, const char *file, const char *text, ac_diags *d, ac_ctokens *out);
bool ac_craft_is_keyword(const char *s);

enum {
  AC_CRAFT_MAX_BRACKETS =
      90, /* CPython 3.11 stops at 200 brackets and 100 indents; every program of ours is one of its */
  AC_CRAFT_MAX_BLOCKS = 60,
  AC_CRAFT_MAX_CHAIN = 400, /* operators in one chain, links of one elif */
};

/* ---- parser ---- */

/* One expression up to the end of the text; NULL after errors. */
ac_cexpr *ac_craft_parse_expr(ac_arena *a, const char *file, const char *text, ac_diags *d);

/* `if c: A; continue` and what follows it in the body of `loop` become `if c: A else: what follows`. */
void ac_craft_continues(ac_arena *a, ac_diags *d, ac_cstmt *loop);
/* All comments of statements that are dropped. */
void ac_craft_collect_comments(ac_arena *a, ac_strvec *to, const ac_cstmt *s);

/* Equal, or both NULL. */
bool ac_craft_same_text(const char *a, const char *b);

/* Diagnostics from index `from` on, by line. */
void ac_craft_sort_diags(ac_diags *d, size_t from);

/* ---- printer ---- */

/* Blank lines at both ends dropped, runs of them made one. */
ac_strvec ac_craft_tidy_comments(ac_arena *a, const ac_strvec *v);

#endif

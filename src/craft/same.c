/* Is one text the other in another form? The question behind a formatter that may be trusted: the trees are equal, comments are kept,
 * and formatting again changes nothing. */
#include "craft/internal.h"

#include <stdlib.h>
#include <string.h>

static bool same_stmts(const ac_cstmt *a, const ac_cstmt *b) {
  for (; a && b; a = a->next, b = b->next) {
    if (a->kind != b->kind || a->op != b->op || a->stage != b->stage) return false;
    if (!ac_cexpr_equal(a->target, b->target) || !ac_cexpr_equal(a->value, b->value)) return false;
    if (!ac_cexpr_equal(a->lo, b->lo) || !ac_cexpr_equal(a->hi, b->hi) || !ac_cexpr_equal(a->step, b->step))
      return false;
    if (!same_stmts(a->body, b->body) || !same_stmts(a->orelse, b->orelse)) return false;
  }
  return a == b;
}

/* An empty block is written with `pass`. */
static const ac_cstmt *block(const ac_cstmt *s) {
  return s && s->kind == AC_CS_PASS && !s->next ? NULL : s;
}

static bool same_funcs(const ac_cfunc *a, const ac_cfunc *b) {
  if (strcmp(a->name, b->name) != 0 || a->kernel != b->kernel || a->n_params != b->n_params ||
      !ac_craft_same_text(a->doc, b->doc))
    return false;
  for (int i = 0; i < a->n_params; i++) {
    const ac_cparam *x = &a->params[i], *y = &b->params[i];
    if (strcmp(x->name, y->name) != 0 || !ac_cexpr_equal(x->annotation, y->annotation) ||
        !ac_cexpr_equal(x->init, y->init))
      return false;
  }
  return same_stmts(block(a->body), block(b->body));
}

/* Equal but for places, comments and blank lines. */
static bool same_modules(const ac_cmodule *a, const ac_cmodule *b) {
  if (a->funcs.len != b->funcs.len || a->imports.len != b->imports.len) return false;
  for (size_t i = 0; i < a->imports.len; i++)
    if (strcmp(a->imports.data[i], b->imports.data[i]) != 0) return false;
  for (size_t i = 0; i < a->funcs.len; i++)
    if (!same_funcs(a->funcs.data[i], b->funcs.data[i])) return false;
  return true;
}

/* ---- comments ---- */

static int by_text(const void *x, const void *y) {
  return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static void push_comment(ac_arena *a, ac_strvec *v, const char *s) {
  while (*s == ' ' || *s == '\t') s++;
  if (*s) ac_push(a, v, s);
}

/* Every comment of a text, sorted; bare ones left out. */
static ac_strvec comments_of(ac_arena *a, const char *text) {
  ac_diags d;
  ac_diags_init(&d, a);
  ac_ctokens t = {0};
  ac_strvec v = {0};
  ac_craft_lex(a, "comments", text, &d, &t);
  for (size_t i = 0; i < t.len; i++) {
    for (size_t k = 0; k < t.data[i].comments.len; k++) push_comment(a, &v, t.data[i].comments.data[k]);
    if (t.data[i].trailing) push_comment(a, &v, t.data[i].trailing);
  }
  if (v.len) qsort(v.data, v.len, sizeof *v.data, by_text);
  return v;
}

/* A comment of `before` that `after` has not, or not as often. */
static const char *lost_comment(ac_arena *a, const char *before, const char *after) {
  ac_strvec x = comments_of(a, before), y = comments_of(a, after);
  size_t k = 0;
  for (size_t i = 0; i < x.len; i++, k++) {
    while (k < y.len && strcmp(y.data[k], x.data[i]) < 0) k++;
    if (k == y.len || strcmp(y.data[k], x.data[i]) != 0) return x.data[i];
  }
  return NULL;
}

const char *ac_craft_unlike(ac_arena *a, const char *before, const char *after) {
  ac_diags d;
  ac_diags_init(&d, a);
  ac_cmodule *x = ac_craft_parse(a, "before", before, &d), *y = ac_craft_parse(a, "after", after, &d);
  if (!x) return "it does not parse";
  if (!y) return ac_sprintf(a, "formatted, it does not parse: %s", d.list.len ? d.list.data[0]->message : "?");
  if (!same_modules(x, y)) return "formatted, it is another program";
  if (strcmp(ac_craft_print(a, y), after) != 0) return "formatted twice, it changes again";
  const char *lost = lost_comment(a, before, after);
  return lost ? ac_sprintf(a, "formatted, it has no comment '%s'", lost) : NULL;
}

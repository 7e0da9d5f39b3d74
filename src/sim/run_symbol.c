/* Where a kernel's sources name a symbol of its library. The text is searched, not the debugging data: they would make every compile slower.
 * A place is given only where it is the only one; macros that paste names hide theirs. */
#include "sim/run_internal.h"
#include "sim/source.h"

#include <ctype.h>
#include <string.h>

static bool word_char(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

/* Is the word that ends before `end` the type of a declaration? After `return x` and its kin comes a value. */
static bool ends_in_type(const char *text, const char *end) {
  static const char *const values[] = {"return", "else", "do", "case", "co_return"};
  while (end > text && isspace((unsigned char)end[-1])) end--;
  const char *from = end;
  while (from > text && word_char(from[-1])) from--;
  if (from == end) return false;
  for (size_t i = 0; i < AC_COUNT(values); i++)
    if (strlen(values[i]) == (size_t)(end - from) && !strncmp(values[i], from, (size_t)(end - from))) return false;
  return true;
}

typedef enum { CALLED, DECLARED, NAMED } use;
static bool is_use(const char *text, const char *p, size_t n, use u) {
  const char *after = p + n + strspn(p + n, " \t\r\n");
  switch (u) {
  case CALLED: return *after == '(' && !ends_in_type(text, p);
  case DECLARED: return *after && strchr("=;[{,", *after) && ends_in_type(text, p);
  default: return true;
  }
}

typedef struct {
  const char *file;
  int line, count;
} found;
static void look(const char *file, const char *text, const char *word, use u, found *f) {
  size_t n = strlen(word);
  int line = 1;
  const char *counted = text;
  for (const char *p = text; (p = strstr(p, word)); p += n) {
    if ((p > text && word_char(p[-1])) || word_char(p[n]) || !is_use(text, p, n, u)) continue;
    for (; counted < p; counted++) line += *counted == '\n';
    if (f->count && f->line == line && f->file == file) continue; /* twice in a line: one place */
    *f = (found){file, line, f->count + 1};
  }
}

static found look_in(ac_arena *a, const ac_sources *c, const char *word, use u) {
  found f = {0};
  for (size_t i = 0; i < ac_map_len(c->seen); i++)
    look(ac_map_key(c->seen, i), ac_source_blank(a, ac_map_value(c->seen, i)), word, u, &f);
  return f;
}

void ac_run_symbol_place(ac_arena *a, const ac_sim_spec *spec, const char *symbol, ac_sim_fault *f) {
  ac_sources c = ac_sources_of(a, spec->kernel_src, spec->headers, spec->include_dirs);
  size_t n = strlen(symbol);
  bool variable = !strcmp(f->kind, "global-written");
  bool makes = !strncmp(symbol, "_Znw", 4) || !strncmp(symbol, "_Zna", 4);
  bool frees = !strncmp(symbol, "_Zdl", 4) || !strncmp(symbol, "_Zda", 4);
  found at = look_in(a, &c,
                     makes   ? "new"
                     : frees ? "delete"
                             : symbol,
                     variable         ? DECLARED
                     : makes || frees ? NAMED
                                      : CALLED);
  if (!at.count && !variable && n > 1 && symbol[n - 1] == 'f') /* std::exp of a float is expf */
    at = look_in(a, &c, ac_strndup(a, symbol, n - 1), CALLED);
  f->file = at.count == 1 ? at.file : NULL;
  f->line = at.count == 1 ? at.line : 0;
}

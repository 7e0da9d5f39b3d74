/* Reading a kernel's source text: no C++ parser, but one walk over the tokens at namespace scope. */
#include "sim/source.h"

#include <ctype.h>
#include <string.h>

enum { MAX_SOURCE = 4 << 20, MAX_FILES = 200, MAX_DEPTH = 64, MAX_PARAMS = 256 };

/* ---- files ---- */

static void add_source(ac_sources *c, const char *path);

const char *ac_source_include(const ac_sources *c, const char *from, const char *hash) {
  const char *q = hash + 1;
  q += strspn(q, " \t");
  if (strncmp(q, "include", 7)) return NULL;
  q += 7;
  q += strspn(q, " \t");
  if (*q != '"') return NULL;
  const char *name = ac_strndup(c->a, q + 1, strcspn(q + 1, "\"\n"));
  char *p = ac_path_join(c->a, ac_dirname(c->a, from), name);
  if (ac_exists(p)) return ac_absolute(c->a, p);
  for (size_t i = 0; c->include_dirs && c->include_dirs[i]; i++) {
    p = ac_path_join(c->a, c->include_dirs[i], name);
    if (ac_exists(p)) return ac_absolute(c->a, p);
  }
  return NULL; /* one of ours, hashed as a whole, or the system's; the compiler will complain otherwise */
}

static void scan_includes(ac_sources *c, const char *path, const char *text) {
  for (const char *p = text; (p = strchr(p, '#')); p++) {
    const char *found = ac_source_include(c, path, p);
    if (found) add_source(c, found);
  }
}

static void add_source(ac_sources *c, const char *path) {
  if (ac_map_has(c->seen, path) || ac_map_len(c->seen) >= MAX_FILES) return;
  char *text = ac_read_file(c->a, path, MAX_SOURCE, NULL, NULL);
  if (!text) return;
  ac_map_put(c->seen, path, text);
  if (strstr(text, "std::") || strstr(text, "ASCENDC_TPL_")) c->std = true;
  scan_includes(c, path, text);
}

ac_sources ac_sources_of(ac_arena *a, const char *path, const char *const *more, const char *const *include_dirs) {
  ac_sources s = {.seen = ac_map_new(a), .a = a, .include_dirs = include_dirs};
  add_source(&s, ac_absolute(a, path));
  for (size_t i = 0; more && more[i]; i++) add_source(&s, ac_absolute(a, more[i]));
  return s;
}

/* ---- blanks ---- */

static void blank(char *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (p[i] != '\n') p[i] = ' ';
}

/* Length of a string or character literal that begins at p (with its quotes), raw strings too. */
static size_t literal(const char *p, const char *start) {
  if (*p == '"' && p > start && p[-1] == 'R') {
    size_t n = strcspn(p + 1, "(\n");
    if (p[1 + n] == '(' && n < 17) {
      char end[20] = ")";
      memcpy(end + 1, p + 1, n);
      memcpy(end + 1 + n, "\"", 2);
      const char *e = strstr(p, end);
      return e ? (size_t)(e - p) + n + 2 : strlen(p);
    }
  }
  size_t i = 1;
  while (p[i] && p[i] != '\n' && p[i] != *p) i += p[i] == '\\' && p[i + 1] ? 2 : 1;
  return p[i] == *p ? i + 1 : i;
}

static size_t comment(const char *p) {
  if (p[1] == '/') {
    size_t i = 2;
    while (p[i] && (p[i] != '\n' || p[i - 1] == '\\')) i++;
    return i;
  }
  const char *e = strstr(p + 2, "*/");
  return e ? (size_t)(e - p) + 2 : strlen(p);
}

/* A digit separator is no literal: 1'000. */
static bool separator(const char *p, const char *start) {
  return *p == '\'' && p > start && isalnum((unsigned char)p[-1]) && isxdigit((unsigned char)p[1]);
}

static void blank_literals(char *t) {
  for (char *p = t; *p;) {
    size_t n = 1;
    if (*p == '/' && (p[1] == '/' || p[1] == '*')) {
      blank(p, n = comment(p));
    } else if ((*p == '"' || *p == '\'') && !separator(p, t)) {
      n = literal(p, t);
      if (n > 2) blank(p + 1, n - 2);
    }
    p += n;
  }
}

char *ac_source_blank(ac_arena *a, const char *text) {
  char *t = ac_strdup(a, text);
  blank_literals(t);
  bool fresh = true; /* nothing but blanks since the line began */
  for (char *p = t; *p; p++) {
    if (*p == '#' && fresh) {
      size_t n = 0;
      while (p[n] && (p[n] != '\n' || (n && p[n - 1] == '\\'))) n++;
      blank(p, n);
      if (!p[n]) break;
    }
    fresh = *p == '\n' || (fresh && isspace((unsigned char)*p));
  }
  return t;
}

/* ---- tokens of a blanked text ---- */

typedef struct {
  ac_arena *a;
  const char *text, *file;
  size_t at, tok, len; /* the token is text[tok, tok + len) */
} walk;

static bool word_char(char c) {
  return isalnum((unsigned char)c) || c == '_';
}
static bool next(walk *w) {
  const char *t = w->text;
  while (isspace((unsigned char)t[w->at])) w->at++;
  w->tok = w->at;
  if (!t[w->at]) return w->len = 0, false;
  if (word_char(t[w->at])) {
    while (word_char(t[w->at])) w->at++;
  } else {
    w->at++;
  }
  w->len = w->at - w->tok;
  return true;
}
static bool is(const walk *w, const char *s) {
  return strlen(s) == w->len && !memcmp(w->text + w->tok, s, w->len);
}
static bool is_word(const walk *w) {
  return w->len && (isalpha((unsigned char)w->text[w->tok]) || w->text[w->tok] == '_');
}
static const char *token(const walk *w) {
  return ac_strndup(w->a, w->text + w->tok, w->len);
}

/* The place behind the bracket that closes the one at `open`; the text's end where none does. */
static size_t closing(const char *t, size_t open) {
  int depth = 0;
  for (size_t i = open; t[i]; i++) {
    if (strchr("([{", t[i])) depth++;
    if (strchr(")]}", t[i]) && !--depth) return i + 1;
  }
  return strlen(t);
}
static int line_of(const char *t, size_t at) {
  int n = 1;
  for (size_t i = 0; i < at; i++) n += t[i] == '\n';
  return n;
}

static const char *slice(ac_arena *a, const char *t, size_t from, size_t to) {
  while (from < to && isspace((unsigned char)t[from])) from++;
  while (to > from && isspace((unsigned char)t[to - 1])) to--;
  return ac_strndup(a, t + from, to - from);
}

/* Splits "A x, B *y = 0" at its commas into types and names. */
static void split_params(ac_arena *a, const char *t, size_t from, size_t to, ac_source_entry *e) {
  int depth = 0;
  size_t start = from;
  for (size_t i = from; i <= to && e->params.len < MAX_PARAMS; i++) {
    if (i < to && strchr("([{<", t[i])) depth++;
    if (i < to && strchr(")]}>", t[i])) depth--;
    if (i < to && (t[i] != ',' || depth)) continue;
    size_t end = start;
    while (end < i && t[end] != '=') end++;
    while (end > start && isspace((unsigned char)t[end - 1])) end--;
    size_t name = end;
    while (name > start && word_char(t[name - 1])) name--;
    const char *type = slice(a, t, start, name), *whole = slice(a, t, start, end);
    start = i + 1;
    if (!*whole || !strcmp(whole, "void")) continue;
    bool unnamed = !*type || name == end;
    ac_push(a, &e->types, unnamed ? whole : type);
    ac_push(a, &e->params, unnamed ? "" : ac_strndup(a, t + name, end - name));
  }
}

/* ---- the walk: scopes, functions, structs ---- */

typedef struct {
  walk w;
  ac_source_facts *f;
  const char *scope[MAX_DEPTH]; /* names of the open namespaces; "" for extern "C" and nameless ones */
  int depth;
  size_t declaration; /* where the declaration at hand begins */
} scanner;

static const char *qualified(scanner *s, const char *name) {
  ac_buf b;
  ac_buf_init(&b, s->w.a);
  for (int i = 0; i < s->depth; i++)
    if (*s->scope[i]) ac_printf(&b, "%s::", s->scope[i]);
  ac_puts(&b, name);
  return ac_buf_str(&b);
}

static bool mentions(const char *t, size_t from, size_t to, const char *word) {
  size_t n = strlen(word);
  for (size_t i = from; i + n <= to; i++)
    if (!memcmp(t + i, word, n)) return true;
  return false;
}

/* At the '(' of `name(`, at namespace scope: a definition of a kernel or of what launches one is an entry. The walk goes on behind it. */
static void function(scanner *s, const char *name, size_t name_at) {
  const char *t = s->w.text;
  size_t open = s->w.tok, close = closing(t, open);
  s->w.at = close;
  while (next(&s->w) && (is(&s->w, "const") || is(&s->w, "noexcept"))) {
  }
  size_t after = s->w.tok;
  s->w.at = close;
  if (t[after] != '{') return;
  size_t end = closing(t, after);
  bool kernel = mentions(t, s->declaration, name_at, "__global__");
  bool launcher = !kernel && (mentions(t, after, end, "<<<") || mentions(t, after, end, "ICPU_RUN_KF"));
  s->w.at = end;
  if (kernel || launcher) {
    ac_source_entry e = {.name = qualified(s, name),
                         .file = s->w.file,
                         .line = line_of(t, name_at),
                         .is_template = mentions(t, s->declaration, name_at, "template"),
                         .launcher = launcher};
    split_params(s->w.a, t, open + 1, close - 1, &e);
    ac_push(s->w.a, &s->f->entries, e);
  }
  s->declaration = end;
}

/* Field names of "T a; T b[4] = {0}; void f(); ..." */
static void plain_fields(ac_arena *a, const char *t, size_t from, size_t to, ac_strvec *fields) {
  size_t start = from;
  for (size_t i = from; i < to; i++) {
    if (t[i] == '{' || t[i] == '(') {
      size_t end = closing(t, i);
      size_t k = end;
      while (k < to && isspace((unsigned char)t[k])) k++;
      if (t[i] == '(' || (k < to && t[k] != ';' && t[k] != ',')) start = end; /* a function, or its body */
      i = end - 1;
      continue;
    }
    if (t[i] == ':' && i + 1 < to && t[i + 1] != ':' && t[i - 1] != ':') start = i + 1; /* public: */
    if (t[i] != ';' && t[i] != ',') continue;
    size_t end = start;
    while (end < i && !strchr("=[{", t[end])) end++;
    while (end > start && isspace((unsigned char)t[end - 1])) end--;
    size_t name = end;
    while (name > start && word_char(t[name - 1])) name--;
    bool typed = name > start || (start > from && t[start - 1] == ',');
    if (name < end && typed && !isdigit((unsigned char)t[name]))
      ac_push(a, fields, ac_strndup(a, t + name, end - name));
    start = i + 1;
  }
}

/* At `struct`: with a body, the struct is kept. */
static void structure(scanner *s) {
  const char *t = s->w.text;
  const char *name = NULL;
  while (next(&s->w)) {
    if (is(&s->w, "(")) {
      s->w.at = closing(t, s->w.tok); /* alignas(8), __attribute__(()) */
    } else if (is_word(&s->w) && !is(&s->w, "alignas") && !is(&s->w, "final") && !is(&s->w, "__attribute__")) {
      name = token(&s->w);
    } else if (is(&s->w, "{") && name) {
      size_t open = s->w.tok, end = closing(t, open);
      ac_source_struct x = {.name = qualified(s, name)};
      plain_fields(s->w.a, t, open + 1, end - 1, &x.fields);
      ac_push(s->w.a, &s->f->structs, x);
      s->w.at = end;
      return;
    } else if (is(&s->w, ":") && name) { /* bases */
      while (t[s->w.at] && !strchr("{;", t[s->w.at])) s->w.at++;
    } else if (is(&s->w, ";") || is(&s->w, "=") || is(&s->w, "{")) {
      if (is(&s->w, "{")) s->w.at = closing(t, s->w.tok);
      return;
    }
  }
}

/* The last argument of a macro call at '('; the walk goes on behind it. */
static const char *last_argument(scanner *s, int which) {
  const char *t = s->w.text;
  if (!next(&s->w) || !is(&s->w, "(")) return NULL;
  size_t open = s->w.tok, end = closing(t, open), start = open + 1;
  s->w.at = end;
  int depth = 0, k = 0;
  for (size_t i = open + 1; i < end; i++) {
    if (strchr("([{<", t[i])) depth++;
    if (i + 1 < end && strchr(")]}>", t[i])) depth--;
    if ((t[i] == ',' && !depth) || i + 1 == end) {
      if (k++ == which) return slice(s->w.a, t, start, i);
      start = i + 1;
    }
  }
  return NULL;
}

/* BEGIN_TILING_DATA_DEF(Name) ... END_TILING_DATA_DEF */
static void macro_structure(scanner *s) {
  const char *name = last_argument(s, 0);
  if (!name) return;
  ac_source_struct x = {.name = qualified(s, name), .macro = true};
  while (next(&s->w) && !is(&s->w, "END_TILING_DATA_DEF")) {
    int which = is(&s->w, "TILING_DATA_FIELD_DEF") || is(&s->w, "TILING_DATA_FIELD_DEF_STRUCT") ? 1
                : is(&s->w, "TILING_DATA_FIELD_DEF_ARR")                                        ? 2
                                                                                                : -1;
    const char *field = which >= 0 ? last_argument(s, which) : NULL;
    if (field) ac_push(s->w.a, &x.fields, field);
  }
  ac_push(s->w.a, &s->f->structs, x);
}

static void open_namespace(scanner *s) {
  const char *name = "";
  ac_buf b;
  ac_buf_init(&b, s->w.a);
  while (next(&s->w) && !is(&s->w, "{")) {
    if (is(&s->w, ";") || is(&s->w, "=")) return;
    ac_puts(&b, token(&s->w));
    name = ac_buf_str(&b);
  }
  if (s->depth < MAX_DEPTH) s->scope[s->depth++] = name;
  s->declaration = s->w.at;
}

static void scope(scanner *s) {
  const char *name = "";
  size_t name_at = 0;
  while (next(&s->w)) {
    const walk *w = &s->w;
    if (is(w, "namespace")) {
      open_namespace(s);
    } else if (is(w, "using") || is(w, "typedef")) {
      while (next(&s->w) && !is(&s->w, ";"))
        if (is(&s->w, "{")) s->w.at = closing(w->text, w->tok);
      s->declaration = s->w.at;
    } else if ((is(w, "struct") || is(w, "class")) && !mentions(w->text, s->declaration, w->tok, "template")) {
      structure(s);
      s->declaration = s->w.at;
    } else if (is(w, "BEGIN_TILING_DATA_DEF")) {
      macro_structure(s);
      s->declaration = s->w.at;
    } else if (is(w, "alignas") || is(w, "__attribute__") || is(w, "__mix__") || is(w, "__launch_bounds__")) {
      if (next(&s->w)) s->w.at = closing(w->text, w->tok);
    } else if (is(w, "(") && *name) {
      function(s, name, name_at);
      name = "";
    } else if (is(w, "{")) {
      if (mentions(w->text, s->declaration, w->tok, "extern") && s->depth < MAX_DEPTH)
        s->scope[s->depth++] = "";
      else
        s->w.at = closing(w->text, w->tok);
      s->declaration = s->w.at;
    } else if (is(w, "}")) {
      if (s->depth) s->depth--;
      s->declaration = s->w.at;
    } else if (is(w, ";")) {
      s->declaration = s->w.at;
    } else if (is_word(w)) {
      name = token(w);
      name_at = w->tok;
    }
  }
}

/* ---- which structs the tiling data may be: anywhere in the text ---- */

static void ask_for(ac_arena *a, ac_source_facts *f, const char *name) {
  for (size_t i = 0; i < f->asked.len; i++)
    if (!strcmp(f->asked.data[i], name)) return;
  ac_push(a, &f->asked, name);
}

static void tiling_uses(scanner *s) {
  static const struct {
    const char *macro;
    int which;
  } uses[] = {{"GET_TILING_DATA_WITH_STRUCT", 0},
              {"GET_TILING_DATA_MEMBER", 0},
              {"REGISTER_TILING_DEFAULT", 0},
              {"REGISTER_TILING_FOR_TILINGKEY", 1},
              {"REGISTER_TILING_DATA_CLASS", 1}};
  s->w.at = 0;
  while (next(&s->w)) {
    if (is(&s->w, "GET_TILING_DATA")) s->f->reads_tiling = true;
    for (size_t i = 0; i < AC_COUNT(uses); i++) {
      if (!is(&s->w, uses[i].macro)) continue;
      const char *name = last_argument(s, uses[i].which);
      if (name && *name) ask_for(s->w.a, s->f, name);
      break;
    }
  }
}

void ac_source_scan(ac_arena *a, const char *file, const char *text, ac_source_facts *f) {
  scanner s = {.w = {.a = a, .text = ac_source_blank(a, text), .file = file}, .f = f};
  scope(&s);
  tiling_uses(&s);
}

/* Diagnostics: collecting, and printing with the source line and a caret. */
#include "base/base.h"
#include "base/internal.h"

#include <string.h>
#include <sys/stat.h>

static const struct {
  const char *name, *title;
  ac_exit exit_class;
} codes[AC_DIAG_COUNT] = {
#define D(code, exit_class, title) [code] = {#code, title, exit_class},
#include "diag.def"
#undef D
};

const char *ac_code_name(ac_code c) {
  return codes[c].name;
}
const char *ac_code_title(ac_code c) {
  return codes[c].title;
}
ac_exit ac_code_exit(ac_code c) {
  return codes[c].exit_class;
}

void ac_diags_init(ac_diags *d, ac_arena *a) {
  *d = (ac_diags){.arena = a, .sources = ac_map_new(a), .max_errors = 20};
}

void ac_diags_source(ac_diags *d, const char *file, const char *text) {
  ac_map_put(d->sources, file, (void *)(uintptr_t)text);
}

static ac_diag *add(ac_diags *d, ac_severity s, ac_code code, ac_loc loc, const char *fmt, va_list ap) {
  ac_diag *x = AC_NEW(d->arena, ac_diag);
  x->severity = s;
  x->code = code;
  x->loc = loc;
  x->message = ac_vsprintf(d->arena, fmt, ap);
  bool keep = true;
  if (s == AC_ERROR) {
    keep = d->max_errors <= 0 || d->errors < d->max_errors;
    d->errors++;
    if (ac_code_exit(code) > d->worst) d->worst = ac_code_exit(code);
  } else if (s == AC_WARNING) {
    d->warnings++;
  }
  if (keep) ac_push(d->arena, &d->list, x);
  return x;
}

/* For callers that pass no collector: something to return that nobody looks at. */
static _Thread_local ac_diag nobody;

ac_diag *ac_error(ac_diags *d, ac_code code, ac_loc loc, const char *fmt, ...) {
  if (!d) return &nobody;
  va_list ap;
  va_start(ap, fmt);
  ac_diag *x = add(d, AC_ERROR, code, loc, fmt, ap);
  va_end(ap);
  return x;
}

ac_diag *ac_warn(ac_diags *d, ac_code code, ac_loc loc, const char *fmt, ...) {
  if (!d) return &nobody;
  va_list ap;
  va_start(ap, fmt);
  ac_diag *x = add(d, AC_WARNING, code, loc, fmt, ap);
  va_end(ap);
  return x;
}

void ac_help(ac_diags *d, ac_diag *x, const char *fmt, ...) {
  if (!d) return;
  va_list ap;
  va_start(ap, fmt);
  const char *text = ac_vsprintf(d->arena, fmt, ap);
  va_end(ap);
  ac_push(d->arena, &x->help, text);
}

void ac_note(ac_diags *d, ac_diag *x, ac_loc loc, const char *fmt, ...) {
  if (!d) return;
  va_list ap;
  va_start(ap, fmt);
  struct ac_diag_note n = {loc, ac_vsprintf(d->arena, fmt, ap)};
  va_end(ap);
  ac_push(d->arena, &x->notes, n);
}

ac_exit ac_diags_exit(const ac_diags *d) {
  return d->errors ? d->worst : AC_OK;
}

/* ---- printing ---- */

typedef struct {
  FILE *out;
  bool colour;
  const ac_diags *d;
  ac_arena *arena; /* for the sources read from disk, which live until the printing ends */
  ac_map *files;
} printer;

/* One UTF-8 sequence at s (n bytes left): its length; *cp is the code point, or -1 for a byte that is not UTF-8. */
static size_t utf8_next(const char *s, size_t n, int32_t *cp) {
  const unsigned char *u = (const unsigned char *)s;
  size_t len = u[0] < 0x80                   ? 1
               : u[0] >= 0xC2 && u[0] < 0xE0 ? 2
               : u[0] >= 0xE0 && u[0] < 0xF0 ? 3
               : u[0] >= 0xF0 && u[0] < 0xF5 ? 4
                                             : 0;
  *cp = -1;
  if (!len || len > n) return 1;
  int32_t c = len == 1 ? u[0] : u[0] & (0x7F >> len);
  for (size_t i = 1; i < len; i++) {
    if ((u[i] & 0xC0) != 0x80) return 1;
    c = c << 6 | (u[i] & 0x3F);
  }
  static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (c < least[len] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return 1;
  *cp = c;
  return len;
}

/* Columns that a terminal gives to a code point: wide for East Asian and emoji blocks, none for combining marks. */
static int width(int32_t c) {
  static const struct {
    int32_t lo, hi;
    int w;
  } blocks[] = {{0x300, 0x36F, 0},    {0x200B, 0x200F, 0}, {0xFE00, 0xFE0F, 0},   {0x1100, 0x115F, 2},
                {0x2E80, 0xA4CF, 2},  {0xAC00, 0xD7A3, 2}, {0xF900, 0xFAFF, 2},   {0xFE30, 0xFE6F, 2},
                {0xFF00, 0xFF60, 2},  {0xFFE0, 0xFFE6, 2}, {0x1F300, 0x1F64F, 2}, {0x1F900, 0x1F9FF, 2},
                {0x20000, 0x3FFFD, 2}};
  for (size_t i = 0; i < AC_COUNT(blocks); i++)
    if (c >= blocks[i].lo && c <= blocks[i].hi) return blocks[i].w;
  return 1;
}

enum { TAB = 4, WIDEST = 160, BEFORE_CARET = 100 };

/* Text of a source as the terminal will show it: tabs expanded, control and broken bytes replaced; at[i] is the
 * column at which byte i is shown (at[n] the width of all). */
static char *shown(ac_arena *a, const char *s, size_t n, size_t *at) {
  ac_buf b;
  ac_buf_init(&b, a);
  size_t col = 0;
  for (size_t i = 0; i < n;) {
    int32_t cp;
    size_t len = utf8_next(s + i, n - i, &cp);
    for (size_t k = 0; k < len; k++) at[i + k] = col;
    if (cp == '\t') {
      size_t to = (col / TAB + 1) * TAB;
      ac_putn(&b, "    ", to - col);
      col = to;
    } else if (cp < 0x20 || cp == 0x7F || (cp >= 0x80 && cp < 0xA0)) { /* -1 too */
      ac_puts(&b, "?");
      col++;
    } else {
      ac_putn(&b, s + i, len);
      col += (size_t)width(cp);
    }
    i += len;
  }
  at[n] = col;
  return b.data ? b.data : ac_strdup(a, "");
}

/* Messages quote what users wrote; no byte of it may steer the terminal. */
static void put_clean(FILE *out, const char *s, const char *newline) {
  for (size_t n = strlen(s); n;) {
    int32_t cp;
    size_t len = utf8_next(s, n, &cp);
    if (cp == '\n') {
      fputs(newline, out);
    } else if (cp == '\t') {
      fputc(' ', out);
    } else if (cp < 0x20 || cp == 0x7F || (cp >= 0x80 && cp < 0xA0)) {
      for (size_t i = 0; i < len; i++) fprintf(out, "\\x%02x", (unsigned char)s[i]);
    } else {
      fwrite(s, 1, len, out);
    }
    s += len;
    n -= len;
  }
}

static const char *source_of(printer *p, const char *file) {
  if (ac_map_has(p->d->sources, file)) return ac_map_get(p->d->sources, file);
  if (!ac_map_has(p->files, file)) {
    struct stat st; /* a pipe or a device would block or never end */
    char *text = !stat(file, &st) && S_ISREG(st.st_mode) ? ac_read_file(p->arena, file, 0, NULL, NULL) : NULL;
    ac_map_put(p->files, file, text);
  }
  return ac_map_get(p->files, file);
}

static const char *line_of(const char *text, int line, size_t *len) {
  for (int i = 1; i < line; i++) {
    text = strchr(text, '\n');
    if (!text) return NULL;
    text++;
  }
  *len = strcspn(text, "\n");
  if (*len && text[*len - 1] == '\r') --*len;
  return text;
}

/* Cuts a very long line to a window that holds the caret. Columns are counted, wide characters being rare in such
 * lines. */
static const char *window(ac_arena *a, const char *text, size_t *from, size_t total) {
  size_t start = *from > BEFORE_CARET ? *from - BEFORE_CARET : 0, i = 0, col = 0, first = 0;
  if (total <= WIDEST) return text;
  size_t n = strlen(text), end = n;
  while (i < n) {
    int32_t cp;
    size_t len = utf8_next(text + i, n - i, &cp);
    if (col <= start) first = i;
    if (col >= start + WIDEST) {
      end = i;
      break;
    }
    col += (size_t)width(cp);
    i += len;
  }
  *from -= start;
  if (start) *from += 3;
  return ac_sprintf(a, "%s%.*s%s", start ? "..." : "", (int)(end - first), text + first, end < n ? "..." : "");
}

static void put_snippet(printer *p, ac_loc loc) {
  const char *text = loc.file && loc.line > 0 ? source_of(p, loc.file) : NULL;
  size_t n;
  const char *line = text ? line_of(text, loc.line, &n) : NULL;
  if (!line) return;
  size_t *at = AC_NEW_N(p->arena, size_t, n + 1);
  const char *show = shown(p->arena, line, n, at);
  size_t from = 0, to = 1;
  if (loc.col > 0) {
    size_t b = (size_t)loc.col - 1, e = loc.end_col > loc.col ? (size_t)loc.end_col - 1 : 0;
    from = b <= n ? at[b] : at[n] + (b - n); /* a column past the end points there */
    to = !e ? from + 1 : e <= n ? at[e] : at[n];
    if (to <= from) to = from + 1;
  }
  size_t span = to - from;
  show = window(p->arena, show, &from, at[n]);
  if (span > WIDEST) span = WIDEST;
  char number[16];
  int w = snprintf(number, sizeof number, "%d", loc.line);
  fprintf(p->out, " %s | %s\n", number, show);
  if (loc.col <= 0) return;
  fprintf(p->out, " %*s | %*s%s^", w, "", (int)from, "", p->colour ? "\033[1;32m" : "");
  for (size_t i = 1; i < span; i++) fputc('~', p->out);
  fprintf(p->out, "%s\n", p->colour ? "\033[0m" : "");
}

static void put_place(printer *p, ac_loc loc) {
  if (!loc.file) return;
  if (p->colour) fputs("\033[1m", p->out);
  put_clean(p->out, loc.file, " ");
  if (loc.line > 0) fprintf(p->out, ":%d", loc.line);
  if (loc.line > 0 && loc.col > 0) fprintf(p->out, ":%d", loc.col);
  fputs(p->colour ? ":\033[0m " : ": ", p->out);
}

static const char *const severities[] = {[AC_NOTE] = "note", [AC_WARNING] = "warning", [AC_ERROR] = "error"};
static const char *const colours[] = {
    [AC_NOTE] = "\033[1;36m", [AC_WARNING] = "\033[1;35m", [AC_ERROR] = "\033[1;31m"};

static void put_diag(printer *p, const ac_diag *x) {
  put_place(p, x->loc);
  fprintf(p->out, "%s%s[%s]:%s ", p->colour ? colours[x->severity] : "", severities[x->severity],
          ac_code_name(x->code), p->colour ? "\033[0m" : "");
  put_clean(p->out, x->message, "\n  ");
  fputc('\n', p->out);
  put_snippet(p, x->loc);
  for (size_t i = 0; i < x->notes.len; i++) {
    put_place(p, x->notes.data[i].loc);
    fprintf(p->out, "%snote:%s ", p->colour ? colours[AC_NOTE] : "", p->colour ? "\033[0m" : "");
    put_clean(p->out, x->notes.data[i].message, "\n  ");
    fputc('\n', p->out);
    put_snippet(p, x->notes.data[i].loc);
  }
  for (size_t i = 0; i < x->help.len; i++) {
    fprintf(p->out, "  %shelp:%s ", p->colour ? "\033[1;32m" : "", p->colour ? "\033[0m" : "");
    put_clean(p->out, x->help.data[i], "\n        ");
    fputc('\n', p->out);
  }
}

void ac_diags_print(const ac_diags *d, FILE *out, bool colour) {
  printer p = {.out = out, .colour = colour, .d = d, .arena = ac_arena_new()};
  p.files = ac_map_new(p.arena);
  int kept = 0;
  for (size_t i = 0; i < d->list.len; i++) {
    put_diag(&p, d->list.data[i]);
    kept += d->list.data[i]->severity == AC_ERROR;
  }
  if (d->errors > kept)
    fprintf(out, "%d more error%s not shown\n", d->errors - kept, d->errors - kept == 1 ? "" : "s");
  ac_arena_free(p.arena);
}

/* ---- JSON ---- */

/* jansson refuses text that is not UTF-8; a file name may be anything. */
static json_t *json_text(ac_arena *a, const char *s) {
  ac_buf b;
  ac_buf_init(&b, a);
  for (size_t n = strlen(s); n;) {
    int32_t cp;
    size_t len = utf8_next(s, n, &cp);
    if (cp < 0)
      ac_puts(&b, "\xEF\xBF\xBD"); /* U+FFFD */
    else
      ac_putn(&b, s, len);
    s += len;
    n -= len;
  }
  return json_string(ac_buf_str(&b));
}

static void json_place(ac_arena *a, json_t *o, ac_loc loc) {
  if (!loc.file) return;
  json_object_set_new(o, "file", json_text(a, loc.file));
  if (loc.line > 0) json_object_set_new(o, "line", json_integer(loc.line));
  if (loc.col > 0) json_object_set_new(o, "column", json_integer(loc.col));
  if (loc.end_col > loc.col) json_object_set_new(o, "end_column", json_integer(loc.end_col));
}

json_t *ac_diags_json(const ac_diags *d) {
  ac_arena *a = ac_arena_new();
  json_t *all = json_array();
  for (size_t i = 0; i < d->list.len; i++) {
    const ac_diag *x = d->list.data[i];
    json_t *o = json_object(), *notes = json_array(), *help = json_array();
    json_object_set_new(o, "severity", json_string(severities[x->severity]));
    json_object_set_new(o, "code", json_string(ac_code_name(x->code)));
    json_object_set_new(o, "title", json_string(ac_code_title(x->code)));
    json_place(a, o, x->loc);
    json_object_set_new(o, "message", json_text(a, x->message));
    for (size_t k = 0; k < x->notes.len; k++) {
      json_t *n = json_object();
      json_place(a, n, x->notes.data[k].loc);
      json_object_set_new(n, "message", json_text(a, x->notes.data[k].message));
      json_array_append_new(notes, n);
    }
    for (size_t k = 0; k < x->help.len; k++) json_array_append_new(help, json_text(a, x->help.data[k]));
    json_object_set_new(o, "notes", notes);
    json_object_set_new(o, "help", help);
    json_array_append_new(all, o);
  }
  ac_arena_free(a);
  return all;
}

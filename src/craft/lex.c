/* The lexer: Python's layout rules (indentation, line joining in brackets) with comments kept. */
#include "craft/internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *text; /* NULL: a blank line */
  int col;
} comment;

typedef struct {
  ac_arena *a;
  ac_diags *d;
  const char *file, *text, *p, *line_start;
  int line;
  ac_ctokens *out;
  AC_VEC(comment) pending;
  int indents[AC_CRAFT_MAX_BLOCKS + 2], n_indents;
  struct {
    char c;
    ac_loc loc;
  } brackets[AC_CRAFT_MAX_BRACKETS + 1];
  int n_brackets;
  size_t first; /* token that starts the current logical line */
  bool in_line; /* a logical line has begun */
} lexer;

static const char *const keywords[] = {"False",  "None",   "True",    "and",      "as",       "assert", "async",
                                       "await",  "break",  "class",   "continue", "def",      "del",    "elif",
                                       "else",   "except", "finally", "for",      "from",     "global", "if",
                                       "import", "in",     "is",      "lambda",   "nonlocal", "not",    "or",
                                       "pass",   "raise",  "return",  "try",      "while",    "with",   "yield"};

bool ac_craft_is_keyword(const char *s) {
  static ac_names index = AC_NAMES_OF(keywords);
  return ac_names_find(&index, s) >= 0;
}

/* Longest first. */
static const char *const ops[] = {
    "**=", "//=", "<<=", ">>=", "...", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "->", "+=", "-=",
    "*=",  "/=",  "%=",  "&=",  "|=",  "^=", "@=", ":=", "+",  "-",  "*",  "/",  "%",  "<",  ">",  "=",
    "(",   ")",   "[",   "]",   "{",   "}",  ",",  ":",  ".",  ";",  "@",  "&",  "|",  "^",  "~"};

static ac_loc here(const lexer *l, const char *from, const char *to) {
  int col = (int)(from - l->line_start) + 1;
  return (ac_loc){l->file, l->line, col, to > from ? col + (int)(to - from) : 0};
}

static ac_ctoken *emit(lexer *l, ac_ctokkind kind, ac_loc loc) {
  ac_ctoken t = {.kind = kind, .loc = loc};
  ac_push(l->a, l->out, t);
  return &l->out->data[l->out->len - 1];
}

static ac_diag *bad(lexer *l, ac_code code, ac_loc loc, const char *message) {
  emit(l, AC_TK_BAD, loc);
  return ac_error(l->d, code, loc, "%s", message);
}

/* ---- comments ---- */

static const char *line_end(const char *p) {
  while (*p && *p != '\n') p++;
  return p;
}

/* Text of the comment at p ('#'), without "# " and blanks at its end; a bare '#' is " ", since "" is a blank line. */
static const char *comment_text(lexer *l, const char *p) {
  const char *end = line_end(p);
  p++;
  if (*p == ' ') p++;
  while (end > p && (end[-1] == ' ' || end[-1] == '\r' || end[-1] == '\t')) end--;
  return end == p ? " " : ac_strndup(l->a, p, (size_t)(end - p));
}

static void take_comments(lexer *l, ac_strvec *to, size_t n) {
  if (!n) return;
  for (size_t i = 0; i < n; i++) {
    const char *text = l->pending.data[i].text;
    ac_push(l->a, to, text ? text : "");
  }
  memmove(l->pending.data, l->pending.data + n, (l->pending.len - n) * sizeof *l->pending.data);
  l->pending.len -= n;
}

/* How many waiting lines close the block indented by `indent`: up to the last comment that is indented so far. */
static size_t closing_comments(const lexer *l, int indent) {
  size_t n = 0;
  for (size_t i = 0; i < l->pending.len; i++) {
    if (!l->pending.data[i].text) continue;
    if (l->pending.data[i].col <= indent) break;
    n = i + 1;
  }
  return n;
}

/* ---- layout ---- */

static void dedent_to(lexer *l, int width, ac_loc loc) {
  while (l->n_indents && l->indents[l->n_indents - 1] > width) {
    int level = l->indents[l->n_indents - 1];
    size_t n = closing_comments(l, level);
    ac_ctoken *t = emit(l, AC_TK_DEDENT, loc);
    if (n) take_comments(l, &t->comments, n);
    l->n_indents--;
  }
}

static void begin_line(lexer *l, int width, ac_loc loc) {
  int top = l->n_indents ? l->indents[l->n_indents - 1] : 0;
  if (width > top) {
    emit(l, AC_TK_INDENT, loc);
    if (l->n_indents >= AC_CRAFT_MAX_BLOCKS) {
      ac_help(l->d, bad(l, AC0410, loc, "blocks are nested too deeply"), "at most %d levels", AC_CRAFT_MAX_BLOCKS);
      l->n_indents--; /* keep the stack within its array; the program is refused anyway */
    }
    l->indents[l->n_indents++] = width;
  } else if (width < top) {
    dedent_to(l, width, loc);
    int now = l->n_indents ? l->indents[l->n_indents - 1] : 0;
    if (width != now) {
      ac_diag *x = ac_error(l->d, AC0402, loc, "this line is indented by %d, which matches no open block", width);
      ac_help(l->d, x, "indent it like the block it belongs to");
      emit(l, AC_TK_BAD, loc);
    }
  }
  l->in_line = true;
  l->first = l->out->len;
}

/* Behind the last token of a logical line. */
static void end_line(lexer *l, const char *trailing) {
  ac_ctoken *t = emit(l, AC_TK_NEWLINE, here(l, l->p, l->p));
  t->trailing = trailing;
  l->in_line = false;
}

static void next_line(lexer *l) {
  if (*l->p == '\r') l->p++;
  if (*l->p == '\n') {
    l->p++;
    l->line++;
    l->line_start = l->p;
  }
}

static bool at_eol(const lexer *l) {
  return !*l->p || *l->p == '\n' || (l->p[0] == '\r' && l->p[1] == '\n');
}

/* ---- numbers ---- */

static bool word_char(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

/* Digits with single underscores between them; false when an underscore stands elsewhere. */
static bool digits(const char **p, int base, ac_buf *b) {
  bool any = false, ok = true;
  for (;; (*p)++) {
    int c = tolower((unsigned char)**p);
    int v = isdigit(c) ? c - '0' : c >= 'a' && c <= 'f' && base == 16 ? c - 'a' + 10 : 99;
    if (c == '_') {
      ok = ok && any && (*p)[-1] != '_';
      continue;
    }
    if (v >= base) break;
    char ch = (char)c;
    ac_putn(b, &ch, 1);
    any = true;
  }
  return ok && (!any || (*p)[-1] != '_');
}

static bool lex_float_tail(const char **p, ac_buf *b) {
  bool ok = true;
  if (**p == '.') {
    ac_puts(b, ".");
    (*p)++;
    if (**p == '_') ok = false;
    ok = digits(p, 10, b) && ok;
  }
  if (**p == 'e' || **p == 'E') {
    ac_puts(b, "e");
    (*p)++;
    if (**p == '+' || **p == '-') ac_putn(b, (*p)++, 1);
    if (!isdigit((unsigned char)**p)) ok = false;
    ok = digits(p, 10, b) && ok;
  }
  return ok;
}

static void lex_number(lexer *l) {
  const char *start = l->p, *p = l->p;
  ac_buf b;
  ac_buf_init(&b, l->a);
  int base = 10;
  if (p[0] == '0' && p[1] && strchr("xXbBoO", p[1])) {
    base = tolower((unsigned char)p[1]) == 'x' ? 16 : tolower((unsigned char)p[1]) == 'b' ? 2 : 8;
    p += 2;
  }
  bool ok = *p == '.' || digits(&p, base, &b);
  bool is_float = base == 10 && (*p == '.' || *p == 'e' || *p == 'E');
  if (is_float) ok = lex_float_tail(&p, &b) && ok;
  ok = ok && b.len > 0 && !word_char(*p) && *p != '.';
  while (word_char(*p)) p++;
  ac_loc loc = here(l, start, p);
  l->p = p;
  if (!ok) {
    bad(l, AC0404, loc, "this is not a number");
    return;
  }
  if (is_float) {
    emit(l, AC_TK_FLOAT, loc)->f = strtod(ac_buf_str(&b), NULL);
    return;
  }
  const char *text = ac_buf_str(&b);
  if (base == 10 && text[0] == '0' && text[strspn(text, "0")]) {
    ac_help(l->d, bad(l, AC0404, loc, "a decimal number must not begin with 0"), "write %s",
            text + strspn(text, "0"));
    return;
  }
  errno = 0;
  uint64_t v = strtoull(text, NULL, base);
  if (errno || v > (uint64_t)INT64_MAX + 1) {
    bad(l, AC0404, loc, "integers are 64 bit: this one does not fit");
    return;
  }
  ac_ctoken *t = emit(l, AC_TK_INT, loc);
  t->big = v == (uint64_t)INT64_MAX + 1;
  t->i = t->big ? INT64_MIN : (int64_t)v;
}

/* ---- strings ---- */

static void put_utf8(ac_buf *b, uint32_t c) {
  char s[4];
  size_t n = 1;
  if (c < 0x80) {
    s[0] = (char)c;
  } else if (c < 0x800) {
    s[0] = (char)(0xC0 | c >> 6);
    s[1] = (char)(0x80 | (c & 63));
    n = 2;
  } else {
    s[0] = (char)(0xE0 | c >> 12);
    s[1] = (char)(0x80 | (c >> 6 & 63));
    s[2] = (char)(0x80 | (c & 63));
    n = 3;
  }
  ac_putn(b, s, n);
}

/* At p, behind a backslash. NULL: an escape that we do not have. */
static const char *escape(ac_buf *b, const char *p) {
  static const char from[] = "ntr\\'\"abfv", to[] = "\n\t\r\\'\"\a\b\f\v";
  const char *hit = *p ? strchr(from, *p) : NULL;
  if (hit) {
    ac_putn(b, &to[hit - from], 1);
    return p + 1;
  }
  int want = *p == 'x' ? 2 : *p == 'u' ? 4 : 0;
  uint32_t v = 0;
  for (int i = 1; i <= want; i++) {
    int c = tolower((unsigned char)p[i]);
    if (!isxdigit(c)) return NULL;
    v = v * 16 + (uint32_t)(isdigit(c) ? c - '0' : c - 'a' + 10);
  }
  if (!want || v == 0 || (v >= 0xD800 && v < 0xE000)) return NULL;
  put_utf8(b, v);
  return p + 1 + want;
}

static void lex_string(lexer *l) {
  const char *start = l->p;
  ac_loc loc = here(l, start, start + 1);
  char quote = *start;
  bool triple = start[1] == quote && start[2] == quote;
  l->p += triple ? 3 : 1;
  ac_buf b;
  ac_buf_init(&b, l->a);
  bool ok = true;
  for (;;) {
    if (!*l->p || (!triple && *l->p == '\n')) {
      bad(l, AC0403, loc, "this string is never closed");
      return;
    }
    if (*l->p == quote && (!triple || (l->p[1] == quote && l->p[2] == quote))) break;
    if (*l->p == '\r' && l->p[1] == '\n') l->p++;
    if (*l->p == '\n') {
      ac_puts(&b, "\n");
      next_line(l);
    } else if (*l->p == '\\') {
      const char *after = escape(&b, l->p + 1);
      if (!after && ok) bad(l, AC0406, here(l, l->p, l->p + 2), "strings have no such escape");
      ok = ok && after;
      l->p = after ? after : l->p[1] && l->p[1] != '\n' ? l->p + 2 : l->p + 1;
    } else {
      ac_putn(&b, l->p++, 1);
    }
  }
  l->p += triple ? 3 : 1;
  if (l->line == loc.line) loc.end_col = (int)(l->p - l->line_start) + 1;
  if (ok) emit(l, AC_TK_STR, loc)->s = ac_buf_str(&b);
}

/* ---- brackets and operators ---- */

static char closer(char c) {
  return c == '(' ? ')' : c == '[' ? ']' : '}';
}

static void unclosed(lexer *l) {
  for (int i = l->n_brackets - 1; i >= 0; i--) {
    char c = l->brackets[i].c;
    ac_diag *x = ac_error(l->d, AC0403, l->brackets[i].loc, "'%c' is never closed", c);
    ac_help(l->d, x, "add the missing '%c'", closer(c));
  }
  l->n_brackets = 0;
  emit(l, AC_TK_BAD, here(l, l->p, l->p));
}

static bool bracket(lexer *l, char c, ac_loc loc) {
  if (strchr("([{", c)) {
    if (l->n_brackets >= AC_CRAFT_MAX_BRACKETS) {
      bad(l, AC0410, loc, "brackets are nested too deeply");
      l->n_brackets = 0;
      l->p = line_end(l->p);
      return false;
    }
    l->brackets[l->n_brackets].c = c;
    l->brackets[l->n_brackets++].loc = loc;
  } else if (strchr(")]}", c)) {
    if (!l->n_brackets || closer(l->brackets[l->n_brackets - 1].c) != c) {
      ac_diag *x =
          ac_error(l->d, AC0407, loc,
                   l->n_brackets ? "'%c' does not match the bracket that is open" : "'%c' closes nothing", c);
      if (l->n_brackets) ac_note(l->d, x, l->brackets[l->n_brackets - 1].loc, "opened here");
      emit(l, AC_TK_BAD, loc);
      if (l->n_brackets) l->n_brackets--;
      return false;
    }
    l->n_brackets--;
  }
  return true;
}

static void lex_op(lexer *l) {
  enum { LONG = 24 }; /* so many have two letters or three, and one of these at the second place */
  size_t first = strchr("*/<>=.", l->p[1]) ? 0 : LONG;
  for (size_t i = first; i < AC_COUNT(ops); i++) {
    if (ops[i][0] != *l->p) continue;
    size_t n = strlen(ops[i]);
    if (strncmp(l->p, ops[i], n) != 0) continue;
    ac_loc loc = here(l, l->p, l->p + n);
    l->p += n;
    if (n > 1 || bracket(l, *ops[i], loc)) emit(l, AC_TK_OP, loc)->s = ops[i];
    return;
  }
  size_t n = 1;
  while (((unsigned char)l->p[n] & 0xC0) == 0x80) n++;
  ac_loc loc = here(l, l->p, l->p + n);
  if ((unsigned char)*l->p >= 0x80) {
    ac_help(l->d, bad(l, AC0405, loc, "names are written in ASCII letters"),
            "non-ASCII text may stand in comments and strings");
  } else {
    bad(l, AC0405, loc,
        ac_sprintf(l->a,
                   *l->p >= 32 ? "the character '%c' has no meaning here"
                               : "the control character 0x%02x has no meaning here",
                   *l->p));
  }
  l->p += n;
}

/* Inside brackets a line that begins like a statement shows that a bracket was forgotten before it. */
static bool starts_statement(const char *p) {
  static const char *const words[] = {"def", "with", "while", "return", "for", "class", "import"};
  for (size_t i = 0; i < AC_COUNT(words); i++) {
    size_t n = strlen(words[i]);
    if (!strncmp(p, words[i], n) && !word_char(p[n])) return true;
  }
  return *p == '@';
}

/* ---- lines ---- */

/* At the start of a physical line outside brackets: blank and comment lines are set aside. True if code follows. */
static bool line_head(lexer *l) {
  const char *p = l->p;
  while (*p == ' ') p++;
  const char *q = p;
  while (*q == ' ' || *q == '\t') q++;
  l->p = q;
  if (at_eol(l) || *q == '#') {
    comment c = {*q == '#' ? comment_text(l, q) : NULL, (int)(q - l->line_start) + 1};
    if (*q || q > l->line_start) ac_push(l->a, &l->pending, c);
    l->p = line_end(q);
    if (l->p > q && l->p[-1] == '\r') l->p--;
    next_line(l);
    return false;
  }
  if (q > p) {
    l->in_line = true;
    l->first = l->out->len;
    ac_help(l->d, bad(l, AC0401, here(l, p, q), "a tab in the indentation"), "indent with spaces, 4 a level");
    return true;
  }
  begin_line(l, (int)(p - l->line_start), here(l, p, p));
  return true;
}

static void lex_word(lexer *l) {
  const char *start = l->p;
  while (word_char(*l->p)) l->p++;
  ac_loc loc = here(l, start, l->p);
  char *s = ac_strndup(l->a, start, (size_t)(l->p - start));
  if (*l->p == '"' || *l->p == '\'') {
    ac_diag *x = bad(l, AC0406, loc, "strings have no prefix here");
    ac_help(l->d, x, "write a plain string; there are no format, raw or byte strings");
    return;
  }
  emit(l, AC_TK_NAME, loc)->s = s;
}

static void lex_token(lexer *l) {
  if (isdigit((unsigned char)*l->p) || (*l->p == '.' && isdigit((unsigned char)l->p[1])))
    lex_number(l);
  else if (word_char(*l->p))
    lex_word(l);
  else if (*l->p == '"' || *l->p == '\'')
    lex_string(l);
  else
    lex_op(l);
}

/* The end of a physical line within a logical one. */
static void line_tail(lexer *l, const char *trailing) {
  if (l->n_brackets) {
    if (trailing) {
      comment c = {trailing, 1};
      ac_push(l->a, &l->pending, c); /* comments inside brackets move before the statement */
    }
    next_line(l);
    const char *p = l->p;
    while (*p == ' ') p++;
    if (!*p || starts_statement(p)) {
      unclosed(l);
      end_line(l, NULL);
    }
    return;
  }
  end_line(l, trailing);
  next_line(l);
}

static void lex_line(lexer *l) {
  while (l->in_line) {
    while (*l->p == ' ' || *l->p == '\t') l->p++;
    if (l->p[0] == '\\' && (l->p[1] == '\n' || (l->p[1] == '\r' && l->p[2] == '\n'))) {
      l->p++;
      next_line(l);
      if (!*l->p) {
        bad(l, AC0407, here(l, l->p, l->p), "the file ends behind a line continuation");
        end_line(l, NULL);
      }
      continue;
    }
    const char *trailing = NULL;
    if (*l->p == '#') {
      trailing = comment_text(l, l->p);
      l->p = line_end(l->p);
      if (l->p[-1] == '\r') l->p--;
    }
    if (at_eol(l)) {
      line_tail(l, trailing);
      if (!*l->p && l->n_brackets) {
        unclosed(l);
        end_line(l, NULL);
      }
    } else {
      lex_token(l);
    }
  }
}

/* Comment lines wait until the logical line is complete, so that those inside its brackets come along. */
static void attach_comments(lexer *l) {
  if (l->first < l->out->len) take_comments(l, &l->out->data[l->first].comments, l->pending.len);
}

static bool check_text(lexer *l) {
  const unsigned char *p = (const unsigned char *)l->text;
  const char *start = l->text;
  for (int line = 1; *p; p++) {
    if (*p == '\n') {
      line++;
      start = (const char *)p + 1;
    }
    if (*p < 0x80) continue;
    int n = *p >= 0xF0 && *p < 0xF5 ? 3 : *p >= 0xE0 && *p < 0xF0 ? 2 : *p >= 0xC2 && *p < 0xE0 ? 1 : -1;
    bool ok = n > 0 && !(*p == 0xE0 && p[1] < 0xA0) && !(*p == 0xED && p[1] >= 0xA0) &&
              !(*p == 0xF0 && p[1] < 0x90) && !(*p == 0xF4 && p[1] >= 0x90);
    for (int i = 1; ok && i <= n; i++) ok = (p[i] & 0xC0) == 0x80;
    if (!ok) {
      ac_loc loc = {l->file, line, (int)((const char *)p - start) + 1, 0};
      ac_help(l->d, ac_error(l->d, AC0411, loc, "this byte (0x%02x) is not UTF-8 text", *p),
              "save the file as UTF-8");
      return false;
    }
    p += n;
  }
  return true;
}

void ac_craft_lex(ac_arena *a, const char *file, const char *text, ac_diags *d, ac_ctokens *out) {
  lexer *l = AC_NEW(a, lexer);
  *l = (lexer){.a = a, .d = d, .file = file, .text = text, .p = text, .line_start = text, .line = 1, .out = out};
  if (!check_text(l)) {
    emit(l, AC_TK_BAD, AC_NOLOC);
    emit(l, AC_TK_END, AC_NOLOC);
    return;
  }
  if (!strncmp(text, "\xEF\xBB\xBF", 3)) l->line_start = l->p += 3;
  out->cap = strlen(text) / 3 + 16; /* about as many */
  out->data = AC_NEW_N(a, ac_ctoken, out->cap);
  while (*l->p) {
    if (!line_head(l)) continue;
    lex_line(l);
    attach_comments(l);
  }
  dedent_to(l, 0, here(l, l->p, l->p));
  ac_ctoken *end = emit(l, AC_TK_END, here(l, l->p, l->p));
  take_comments(l, &end->comments, l->pending.len);
}

bool ac_craft_whole(const char *file, const char *text, size_t len, ac_diags *d) {
  size_t n = strlen(text);
  if (n == len) return true;
  ac_loc loc = {.file = file, .line = 1, .col = 1};
  for (size_t i = 0; i < n; i++)
    loc = text[i] == '\n' ? (ac_loc){.file = file, .line = loc.line + 1, .col = 1}
                          : (ac_loc){.file = file, .line = loc.line, .col = loc.col + 1};
  ac_diag *x = ac_error(d, AC0405, loc, "the file has a NUL byte here, %zu bytes before its end", len - n);
  ac_help(d, x, "take it out; a program is text in UTF-8");
  return false;
}

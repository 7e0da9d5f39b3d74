/* JSON text in and out, over jansson's values. */
#include "base/base.h"
#include "base/internal.h"

#include <string.h>
#include <time.h>

double ac_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Place of the last byte that the parser had read. jansson counts characters in its column and bytes in its position;
 * ours are bytes. */
static ac_loc place(const char *file, const char *text, size_t len, int position) {
  size_t at = position > 0 ? (size_t)position - 1 : 0;
  if (at > len) at = len;
  ac_loc loc = {.file = file, .line = 1, .col = 1};
  for (size_t i = 0; i < at; i++) {
    loc.col++;
    if (text[i] == '\n') {
      loc.line++;
      loc.col = 1;
    }
  }
  return loc;
}

json_t *ac_json_parse(const char *file, const char *text, size_t len, ac_diags *d) {
  json_error_t e;
  json_t *j = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
  if (j || !d) return j;
  ac_diags_source(d, file, ac_strndup(d->arena, text, len));
  ac_error(d, AC0105, place(ac_strdup(d->arena, file), text, len, e.position), "%s", e.text);
  return NULL;
}

/* ---- text out ---- */

/* Bytes of the character that begins here, 0: this is no UTF-8. */
static size_t utf8(const unsigned char *s, size_t n) {
  size_t more = *s >= 0xC2 && *s < 0xE0 ? 1 : *s >= 0xE0 && *s < 0xF0 ? 2 : *s >= 0xF0 && *s < 0xF5 ? 3 : 0;
  if (!more || n <= more) return 0;
  for (size_t i = 1; i <= more; i++)
    if ((s[i] & 0xC0) != 0x80) return 0;
  bool beyond = (*s == 0xE0 && s[1] < 0xA0) || (*s == 0xED && s[1] > 0x9F) || (*s == 0xF0 && s[1] < 0x90) ||
                (*s == 0xF4 && s[1] > 0x8F); /* too long a form, a surrogate, none of Unicode's */
  return beyond ? 0 : more + 1;
}

/* How many of eight bytes stand before the first that is a control character, a quote, a backslash, 0x7F or not ASCII. */
static size_t plain(const char *s) {
  const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
  uint64_t v;
  memcpy(&v, s, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  v = __builtin_bswap64(v);
#endif
  uint64_t quote = v ^ ones * '"', slash = v ^ ones * '\\', del = v ^ ones * 0x7F;
  /* A byte below k: taking k away borrows from its high bit. That reaches bytes behind one that is found, never one before it. */
  uint64_t found = (v | (v - ones * 0x20) | (quote - ones) | (slash - ones) | (del - ones)) & high;
  return found ? (size_t)__builtin_ctzll(found) / 8 : 8;
}

/* One character at s, which is not plain ASCII or stands at the end; how many bytes it has. */
static size_t put_char(ac_buf *b, const char *s, size_t n) {
  unsigned char c = (unsigned char)*s;
  size_t wide = c < 0x80 ? 0 : utf8((const unsigned char *)s, n);
  char letter = c == '"' || c == '\\' ? (char)c : c == '\n' ? 'n' : c == '\t' ? 't' : c == '\r' ? 'r' : 0;
  if (letter) {
    ac_buf_reserve(b, 2);
    b->data[b->len++] = '\\';
    b->data[b->len++] = letter;
  } else if (wide || (c >= 0x20 && c < 0x7F))
    ac_putn(b, s, wide ? wide : 1);
  else
    ac_printf(b, "\\u%04x", c < 0x80 ? c : 0xFFFD);
  return wide ? wide : 1;
}

static void put_string(ac_buf *b, const char *s, size_t n) {
  ac_buf_reserve(b, n + n / 8 + 2);
  ac_putn(b, "\"", 1);
  for (size_t i = 0; i < n;) {
    while (n - i >= 8) { /* eight are copied, as many as are plain stay */
      ac_buf_reserve(b, 8);
      memcpy(b->data + b->len, s + i, 8);
      size_t k = plain(s + i);
      b->len += k;
      i += k;
      if (k < 8) break;
    }
    if (i < n) i += put_char(b, s + i, n - i);
  }
  ac_putn(b, "\"", 1);
}

void ac_jw_init(ac_jw *w, ac_arena *a) {
  *w = (ac_jw){0};
  ac_buf_init(&w->b, a);
}

static void new_line(ac_jw *w) {
  ac_putn(&w->b, "\n", 1);
  for (int i = 0; i < w->depth; i++) ac_putn(&w->b, " ", 1);
}

/* What stands before a value: the comma, its place, its name. */
static void before(ac_jw *w, const char *key) {
  if (w->some) ac_putn(&w->b, w->line ? ", " : ",", w->line ? 2 : 1);
  if (w->depth && !w->line) new_line(w);
  w->some = true;
  if (!key) return;
  put_string(&w->b, key, strlen(key));
  ac_putn(&w->b, ": ", 2);
}

void ac_jw_open(ac_jw *w, const char *key, ac_jw_kind kind) {
  before(w, key);
  ac_putn(&w->b, kind == AC_JW_OBJECT ? "{" : "[", 1);
  w->some = false;
  w->line = kind == AC_JW_LINE;
  w->depth++;
}

void ac_jw_close(ac_jw *w, ac_jw_kind kind) {
  w->depth--;
  if (w->some && !w->line) new_line(w);
  ac_putn(&w->b, kind == AC_JW_OBJECT ? "}" : "]", 1);
  w->some = true;
  w->line = false; /* a line holds plain values only, so it lies in no other */
}

static void put_text(ac_jw *w, const char *key, const char *s, size_t n) {
  before(w, key);
  put_string(&w->b, s, n);
}
void ac_jw_str(ac_jw *w, const char *key, const char *s) {
  put_text(w, key, s, strlen(s));
}
void ac_jw_int(ac_jw *w, const char *key, int64_t v) {
  before(w, key);
  ac_printf(&w->b, "%lld", (long long)v);
}
void ac_jw_double(ac_jw *w, const char *key, double v) {
  before(w, key);
  ac_put_double(&w->b, v);
}

/* Arrays of plain values stay on one line: shapes and names read better so. */
static void put_array(ac_jw *w, const char *key, const json_t *j) {
  size_t n = json_array_size(j);
  ac_jw_kind kind = AC_JW_LINE;
  for (size_t i = 0; i < n; i++) {
    const json_t *v = json_array_get(j, i);
    if (json_is_object(v) || json_is_array(v)) kind = AC_JW_ARRAY;
  }
  ac_jw_open(w, key, kind);
  for (size_t i = 0; i < n; i++) ac_jw_value(w, NULL, json_array_get(j, i));
  ac_jw_close(w, kind);
}

static void put_object(ac_jw *w, const char *key, const json_t *j) {
  const char *name;
  json_t *v;
  ac_jw_open(w, key, AC_JW_OBJECT);
  json_object_foreach((json_t *)(uintptr_t)j, name, v) ac_jw_value(w, name, v);
  ac_jw_close(w, AC_JW_OBJECT);
}

static void put_word(ac_jw *w, const char *key, const char *word) {
  before(w, key);
  ac_puts(&w->b, word);
}

void ac_jw_value(ac_jw *w, const char *key, const json_t *j) {
  switch (json_typeof(j)) {
  case JSON_OBJECT: put_object(w, key, j); break;
  case JSON_ARRAY: put_array(w, key, j); break;
  case JSON_STRING: put_text(w, key, json_string_value(j), json_string_length(j)); break;
  case JSON_INTEGER: ac_jw_int(w, key, json_integer_value(j)); break;
  case JSON_REAL: ac_jw_double(w, key, json_real_value(j)); break;
  case JSON_TRUE: put_word(w, key, "true"); break;
  case JSON_FALSE: put_word(w, key, "false"); break;
  case JSON_NULL: put_word(w, key, "null"); break;
  }
}

char *ac_jw_text(ac_jw *w) {
  ac_putn(&w->b, "\n", 1);
  return w->b.data;
}

char *ac_json_text(ac_arena *a, const json_t *j) {
  ac_jw w;
  ac_jw_init(&w, a);
  ac_jw_value(&w, NULL, j);
  return ac_jw_text(&w);
}

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

static void put_string(ac_buf *b, const char *s, size_t n) {
  ac_putn(b, "\"", 1);
  size_t from = 0;
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)s[i];
    if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7F) continue;
    ac_putn(b, s + from, i - from);
    from = i + 1;
    const char *two = c == '"'    ? "\\\""
                      : c == '\\' ? "\\\\"
                      : c == '\n' ? "\\n"
                      : c == '\t' ? "\\t"
                      : c == '\r' ? "\\r"
                                  : NULL;
    if (two)
      ac_putn(b, two, 2);
    else
      ac_printf(b, "\\u%04x", c);
  }
  ac_putn(b, s + from, n - from);
  ac_putn(b, "\"", 1);
}

static void put(ac_buf *b, const json_t *j, int depth);

static void new_line(ac_buf *b, int depth) {
  ac_putn(b, "\n", 1);
  while (depth-- > 0) ac_putn(b, " ", 1);
}

static void put_object(ac_buf *b, const json_t *j, int depth) {
  const char *key;
  json_t *v;
  bool first = true;
  ac_puts(b, "{");
  json_object_foreach((json_t *)(uintptr_t)j, key, v) {
    ac_puts(b, first ? "" : ",");
    first = false;
    new_line(b, depth + 1);
    put_string(b, key, strlen(key));
    ac_puts(b, ": ");
    put(b, v, depth + 1);
  }
  if (!first) new_line(b, depth);
  ac_puts(b, "}");
}

/* Arrays of plain values stay on one line: shapes and names read better so. */
static void put_array(ac_buf *b, const json_t *j, int depth) {
  size_t n = json_array_size(j);
  bool plain = true;
  for (size_t i = 0; i < n; i++) {
    const json_t *v = json_array_get(j, i);
    if (json_is_object(v) || json_is_array(v)) plain = false;
  }
  ac_puts(b, "[");
  for (size_t i = 0; i < n; i++) {
    ac_puts(b, i == 0 ? "" : plain ? ", " : ",");
    if (!plain) new_line(b, depth + 1);
    put(b, json_array_get(j, i), depth + 1);
  }
  if (!plain) new_line(b, depth);
  ac_puts(b, "]");
}

static void put(ac_buf *b, const json_t *j, int depth) {
  switch (json_typeof(j)) {
  case JSON_OBJECT: put_object(b, j, depth); break;
  case JSON_ARRAY: put_array(b, j, depth); break;
  case JSON_STRING: put_string(b, json_string_value(j), json_string_length(j)); break;
  case JSON_INTEGER: ac_printf(b, "%" JSON_INTEGER_FORMAT, json_integer_value(j)); break;
  case JSON_REAL: ac_put_double(b, json_real_value(j)); break;
  case JSON_TRUE: ac_puts(b, "true"); break;
  case JSON_FALSE: ac_puts(b, "false"); break;
  case JSON_NULL: ac_puts(b, "null"); break;
  }
}

char *ac_json_text(ac_arena *a, const json_t *j) {
  ac_buf b;
  ac_buf_init(&b, a);
  put(&b, j, 0);
  ac_puts(&b, "\n");
  return b.data;
}

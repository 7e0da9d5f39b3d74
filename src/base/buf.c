/* The text buffer. */
#include "base/base.h"
#include "base/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ac_buf_init(ac_buf *b, ac_arena *a) {
  *b = (ac_buf){.arena = a};
}

void ac_buf_grow(ac_buf *b, size_t n) {
  size_t cap = b->cap ? b->cap : 128;
  while (cap - b->len <= n) {
    if (cap > SIZE_MAX / 4) (void)ac_alloc_n(b->arena, SIZE_MAX, 2); /* does not return: out of memory */
    cap *= 2;
  }
  b->data = ac_regrow(b->arena, b->data, b->cap, cap);
  b->cap = cap;
}

void ac_buf_room(ac_buf *b, size_t n) {
  ac_buf_reserve(b, n);
}

void ac_putn(ac_buf *b, const char *s, size_t n) {
  ac_buf_reserve(b, n);
  if (n) memcpy(b->data + b->len, s, n);
  b->len += n;
  b->data[b->len] = 0;
}

void ac_puts(ac_buf *b, const char *s) {
  ac_putn(b, s, strlen(s));
}

void ac_vprintf(ac_buf *b, const char *fmt, va_list ap) {
  va_list again;
  va_copy(again, ap);
  ac_buf_reserve(b, 64);
  size_t room = b->cap - b->len;
  int n = ac_format(b->data + b->len, room, fmt, ap); /* one pass where it fits */
  if (n >= 0 && (size_t)n >= room) {
    ac_buf_reserve(b, (size_t)n);
    ac_format(b->data + b->len, (size_t)n + 1, fmt, again);
  }
  if (n > 0) b->len += (size_t)n;
  b->data[b->len] = 0;
  va_end(again);
}

void ac_printf(ac_buf *b, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  ac_vprintf(b, fmt, ap);
  va_end(ap);
}

void ac_put_line(ac_buf *b, int blanks, const char *tail, const char *fmt, va_list ap) {
  static const char room[] = "                                                                ";
  const int most = (int)sizeof room - 1;
  size_t start = b->len;
  for (int left = blanks; left > 0; left -= most) ac_putn(b, room, (size_t)(left < most ? left : most));
  size_t text = b->len;
  ac_vprintf(b, fmt, ap);
  bool empty = b->len == text;
  if (empty && !*tail) b->len = start;
  ac_puts(b, empty && *tail == ' ' ? tail + 1 : tail);
  ac_putn(b, "\n", 1);
}

void ac_put_double(ac_buf *b, double v) {
  if (isnan(v)) {
    ac_puts(b, "nan");
  } else if (isinf(v)) {
    ac_puts(b, v < 0 ? "-inf" : "inf");
  } else {
    char text[40];
    int digits = 1;
    for (; digits < 17; digits++) {
      snprintf(text, sizeof text, "%.*e", digits - 1, v);
      if (strtod(text, NULL) == v) break;
    }
    snprintf(text, sizeof text, "%.*e", digits - 1, v);
    int exp = atoi(strchr(text, 'e') + 1);
    if (exp < -4 || exp >= 16) /* as Python writes them */
      ac_puts(b, text);
    else
      ac_printf(b, "%.*f", digits - 1 - exp > 1 ? digits - 1 - exp : 1, v);
  }
}

const char *ac_buf_str(ac_buf *b) {
  return b->data ? b->data : "";
}

/* vsnprintf for the formats that nearly all text is made of: %s, %.*s, %d, %ld, %lld, %zu, %c, %%. Anything else goes to the C library. */
#include "base/base.h"
#include "base/internal.h"

#include <string.h>

typedef struct {
  char *to;
  size_t room, len;
} out;

static void put(out *o, const char *s, size_t n) {
  if (o->len < o->room) memcpy(o->to + o->len, s, n < o->room - o->len ? n : o->room - o->len);
  o->len += n;
}

static void put_number(out *o, unsigned long long v, bool negative) {
  char text[24], *p = text + sizeof text;
  do *--p = (char)('0' + v % 10);
  while (v /= 10);
  if (negative) *--p = '-';
  put(o, p, (size_t)(text + sizeof text - p));
}

static void put_signed(out *o, long long v) {
  put_number(o, v < 0 ? 0 - (unsigned long long)v : (unsigned long long)v, v < 0);
}

/* Length of a directive that is known here, behind its '%'; 0: none of ours. */
static size_t directive(const char *p) {
  switch (*p) {
  case 's':
  case 'd':
  case 'c':
  case '%': return 1;
  case 'l': return p[1] == 'd' ? 2 : p[1] == 'l' && p[2] == 'd' ? 3 : 0;
  case 'z': return p[1] == 'u' ? 2 : 0;
  case '.': return p[1] == '*' && p[2] == 's' ? 3 : 0;
  default: return 0;
  }
}

static void put_text(out *o, const char *s, long most) {
  if (!s) s = "(null)";
  put(o, s, most < 0 ? strlen(s) : strnlen(s, (size_t)most));
}

static void one(out *o, const char *p, size_t n, va_list *ap) {
  switch (p[n - 1]) {
  case '%': put(o, "%", 1); break;
  case 'c': {
    char c = (char)va_arg(*ap, int);
    put(o, &c, 1);
    break;
  }
  case 's': {
    long most = n > 1 ? va_arg(*ap, int) : -1;
    put_text(o, va_arg(*ap, const char *), most);
    break;
  }
  case 'u': put_number(o, va_arg(*ap, size_t), false); break;
  default: put_signed(o, n == 1 ? va_arg(*ap, int) : n == 2 ? va_arg(*ap, long) : va_arg(*ap, long long)); break;
  }
}

int ac_format(char *to, size_t room, const char *fmt, va_list list) {
  va_list ap;
  va_copy(ap, list);
  out o = {to, room, 0};
  for (const char *p = fmt, *next; *p; p = next) {
    next = *p == '%' ? p : strchrnul(p, '%');
    if (next > p) put(&o, p, (size_t)(next - p));
    if (!*next) break;
    size_t n = directive(++next);
    if (!n) { /* all of it anew, by the library */
      va_end(ap);
      return vsnprintf(to, room, fmt, list);
    }
    one(&o, next, n, &ap);
    next += n;
  }
  va_end(ap);
  if (room) to[o.len < room ? o.len : room - 1] = 0;
  return (int)o.len;
}

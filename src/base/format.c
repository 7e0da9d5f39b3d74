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
  static const char *const all[] = {"s", "d", "c", "%", "lld", "zu", "ld", ".*s"};
  for (size_t i = 0; i < AC_COUNT(all); i++) {
    size_t n = strlen(all[i]);
    if (*p == all[i][0] && !strncmp(p, all[i], n)) return n;
  }
  return 0;
}

static bool simple(const char *fmt) {
  for (const char *p = fmt; (p = strchr(p, '%'));) {
    size_t n = directive(p + 1);
    if (!n) return false;
    p += 1 + n;
  }
  return true;
}

static void put_text(out *o, const char *s, long most) {
  if (!s) s = "(null)";
  put(o, s, most < 0 ? strlen(s) : strnlen(s, (size_t)most));
}

static const char *one(out *o, const char *p, va_list *ap) {
  size_t n = directive(p);
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
  return p + n;
}

int ac_format(char *to, size_t room, const char *fmt, va_list list) {
  if (!simple(fmt)) return vsnprintf(to, room, fmt, list);
  va_list ap;
  va_copy(ap, list);
  out o = {to, room, 0};
  for (const char *p = fmt; *p;) {
    size_t n = strcspn(p, "%");
    put(&o, p, n);
    p += n;
    if (*p) p = one(&o, p + 1, &ap);
  }
  va_end(ap);
  if (room) to[o.len < room ? o.len : room - 1] = 0;
  return (int)o.len;
}

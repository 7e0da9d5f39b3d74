/* The bounds-checked C functions that CANN ships, as far as op_host sources and their logging headers use them: 0 when the copy fits,
 * else an error number and nothing copied. */
#ifndef ACSIM_SECUREC_H
#define ACSIM_SECUREC_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef int errno_t;
#ifndef EOK
#define EOK 0
#endif

static inline errno_t memcpy_s(void *to, size_t room, const void *from, size_t n) {
  if (!to || !from || n > room) return ERANGE;
  memcpy(to, from, n);
  return EOK;
}
static inline errno_t memmove_s(void *to, size_t room, const void *from, size_t n) {
  if (!to || !from || n > room) return ERANGE;
  memmove(to, from, n);
  return EOK;
}
static inline errno_t memset_s(void *to, size_t room, int c, size_t n) {
  if (!to || n > room) return ERANGE;
  memset(to, c, n);
  return EOK;
}
static inline errno_t strcpy_s(char *to, size_t room, const char *from) {
  return !from ? EINVAL : memcpy_s(to, room, from, strlen(from) + 1);
}
static inline errno_t strcat_s(char *to, size_t room, const char *from) {
  size_t n = to ? strlen(to) : 0;
  return !to || !from ? EINVAL : n > room ? ERANGE : memcpy_s(to + n, room - n, from, strlen(from) + 1);
}
/* Characters written, or -1 when they do not fit. */
static inline int vsnprintf_s(char *to, size_t room, size_t most, const char *format, va_list ap) {
  int n = vsnprintf(to, room, format, ap);
  return n < 0 || (size_t)n >= room || (size_t)n > most ? -1 : n;
}
static inline int snprintf_s(char *to, size_t room, size_t most, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  int n = vsnprintf_s(to, room, most, format, ap);
  va_end(ap);
  return n;
}
static inline int sprintf_s(char *to, size_t room, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  int n = vsnprintf_s(to, room, room, format, ap);
  va_end(ap);
  return n;
}
#endif

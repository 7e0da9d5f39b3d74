/* Kernel launches as CANN's compiler takes them, name<<<blocks, l2, stream>>>(arguments), for a compiler that does not: the operator
 * becomes `name % ::acsim::grid(blocks, l2, stream)(arguments)` (kernel_operator.h). Lines stay where they are. A file that has launches
 * and is included by another is put in its place, with #line; all others are included as ever.
 */
#include "sim/build_internal.h"

#include <string.h>

/* The end of the comment, string or character that starts at p; p itself where none does. */
static const char *skip_quoted(const char *p) {
  if (p[0] == '/' && p[1] == '/') return p + strcspn(p, "\n");
  if (p[0] == '/' && p[1] == '*') {
    const char *end = strstr(p + 2, "*/");
    return end ? end + 2 : p + strlen(p);
  }
  if (*p != '"' && *p != '\'') return p;
  const char *q = p + 1;
  for (; *q && *q != *p && *q != '\n'; q++)
    if (*q == '\\' && q[1]) q++;
  return *q == *p ? q + 1 : q; /* 1'000 has a lone one */
}

/* The ">>>" of the launch whose "<<<" is at p, or NULL: not a launch. */
static const char *launch_end(const char *p) {
  for (p += 3; *p && *p != ';' && *p != '{';) {
    const char *q = skip_quoted(p);
    if (q != p) {
      p = q;
    } else if (!strncmp(p, ">>>", 3)) {
      q = p + 3;
      q += strspn(q, " \t\r\n");
      return *q == '(' ? p : NULL;
    } else {
      p++;
    }
  }
  return NULL;
}

/* The next launch that begins in [p, end), or NULL. */
static const char *next_launch(const char *p, const char *end) {
  while (p < end) {
    const char *q = skip_quoted(p);
    if (q == p && !strncmp(p, "<<<", 3) && launch_end(p)) return p;
    p = q == p ? p + 1 : q;
  }
  return NULL;
}

typedef struct {
  const ac_sources *c;
  ac_arena *a;
  ac_strvec *folders;
  ac_map *done; /* files that were put in already */
  ac_buf out;
} unit;

/* Whether the file, or one that it includes, has launches. `known`: files that were looked at. */
static bool launches_in(const ac_sources *c, const char *path, ac_map *known) {
  const char *text = ac_map_get(c->seen, path);
  if (!text || ac_map_has(known, path)) return false;
  ac_map_put(known, path, "");
  if (next_launch(text, text + strlen(text))) return true;
  for (const char *p = text; (p = strchr(p, '#')); p++) {
    const char *inner = ac_source_include(c, path, p);
    if (inner && launches_in(c, inner, known)) return true;
  }
  return false;
}
bool ac_launches_in(const ac_sources *c, const char *path) {
  return launches_in(c, path, ac_map_new(c->a));
}

static void put_file(unit *u, const char *path);

/* A line whose '#' begins an #include of a file with launches: that file instead. False: it is something else. */
static bool put_include(unit *u, const char *path, const char *hash, int number) {
  const char *inner = ac_source_include(u->c, path, hash);
  if (!inner || !ac_launches_in(u->c, inner)) return false;
  put_file(u, inner);
  ac_printf(&u->out, "#line %d \"%s\"\n", number + 1, path);
  return true;
}

static void put_text(unit *u, const char *p, const char *end) {
  const char *at;
  while ((at = next_launch(p, end))) {
    const char *close = launch_end(at);
    ac_putn(&u->out, p, (size_t)(at - p));
    ac_puts(&u->out, " % ::acsim::grid(");
    ac_putn(&u->out, at + 3, (size_t)(close - at - 3));
    ac_puts(&u->out, ")");
    p = close + 3;
  }
  if (p < end) ac_putn(&u->out, p, (size_t)(end - p));
}

static void put_file(unit *u, const char *path) {
  if (ac_map_has(u->done, path)) return; /* #pragma once is not heeded in a main file; a second copy is never meant */
  ac_map_put(u->done, path, "");
  ac_push(u->a, u->folders, ac_dirname(u->a, path));
  ac_printf(&u->out, "#line 1 \"%s\"\n", path);
  const char *text = ac_map_get(u->c->seen, path), *from = text; /* what was not put out yet */
  int number = 1;
  for (const char *p = text; *p; number++) {
    size_t n = strcspn(p, "\n");
    const char *next = p + n + (p[n] == '\n'), *hash = p + strspn(p, " \t");
    if (*hash == '#') {
      put_text(u, from, p);
      from = put_include(u, path, hash, number) ? next : p;
    }
    p = next;
  }
  put_text(u, from, text + strlen(text));
  ac_puts(&u->out, "\n");
}

char *ac_launch_unit(ac_arena *a, const char *path, const ac_sources *c, ac_strvec *folders) {
  if (!ac_launches_in(c, path)) return NULL;
  unit u = {.c = c, .a = a, .folders = folders, .done = ac_map_new(a)};
  ac_buf_init(&u.out, a);
  put_file(&u, path);
  return (char *)ac_buf_str(&u.out);
}

/* Numbers and tiling fields as the command line gives them. */
#include "cli/target.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool ac_number_parse(const char *text, ac_sim_number *v) {
  char *end;
  *v = (ac_sim_number){0};
  if (!strcmp(text, "true") || !strcmp(text, "false")) {
    v->whole = true;
    v->i = *text == 't';
    return true;
  }
  if (!*text || isspace((unsigned char)*text)) return false;
  errno = 0;
  if (*text == '-') {
    v->i = strtoll(text, &end, 0);
    v->negative = v->i < 0;
  } else {
    v->i = (int64_t)strtoull(text, &end, 0);
  }
  v->f = (double)v->i;
  if (!*end && end != text && !errno) return v->whole = true;
  v->negative = false;
  v->i = 0;
  v->f = strtod(text, &end);
  return !*end && end != text;
}

typedef struct {
  ac_arena *a;
  const char *p;
  ac_diags *d;
} reader;

static bool refuse(const reader *r, const char *at, const char *what) {
  ac_diag *x = ac_error(r->d, AC0103, AC_NOLOC, "--tiling: %s at '%.40s'", what, at);
  ac_help(r->d, x, "write key=value,key=[1,2,3]: the fields of the tiling struct by name");
  ac_help(r->d, x,
          "a value is a whole number, as 1000, -7 or 0x3e8, one with a fraction, as 0.25 or 1e-5, or true or false");
  return false;
}

static void blanks(reader *r) {
  while (isspace((unsigned char)*r->p)) r->p++;
}

/* A path that C++ may be given as it is: names, dots, indices. */
static const char *path(reader *r) {
  const char *s = r->p;
  bool start = true;
  while (isalnum((unsigned char)*r->p) || *r->p == '_' || (!start && *r->p && strchr(".[]", *r->p))) {
    if (start && isdigit((unsigned char)*r->p)) break;
    start = *r->p == '.';
    r->p++;
  }
  return r->p > s ? ac_strndup(r->a, s, (size_t)(r->p - s)) : NULL;
}

static bool value(reader *r, ac_sim_number *v) {
  blanks(r);
  const char *s = r->p;
  while (*r->p && !strchr(",]", *r->p) && !isspace((unsigned char)*r->p)) r->p++;
  if (!ac_number_parse(ac_strndup(r->a, s, (size_t)(r->p - s)), v)) return refuse(r, s, "a number is due");
  blanks(r);
  return true;
}

static bool values(reader *r, ac_sim_field *f) {
  AC_VEC(ac_sim_number) v = {0};
  ac_sim_number x;
  blanks(r);
  if (*r->p != '[') {
    if (!value(r, &x)) return false;
    ac_push(r->a, &v, x);
  } else {
    const char *open = r->p++;
    do {
      if (!value(r, &x)) return false;
      ac_push(r->a, &v, x);
    } while (*r->p == ',' && r->p++);
    if (*r->p++ != ']') return refuse(r, open, "no ']'");
    blanks(r);
  }
  f->values = v.data;
  f->n = (int)v.len;
  return true;
}

bool ac_tiling_parse(ac_arena *a, const char *text, ac_tiling_fields *to, ac_diags *d) {
  reader r = {a, text, d};
  do {
    blanks(&r);
    const char *at = r.p;
    ac_sim_field f = {.path = path(&r)};
    if (!f.path) return refuse(&r, at, "a field's name is due");
    blanks(&r);
    if (*r.p++ != '=') return refuse(&r, at, "no '='");
    if (!values(&r, &f)) return false;
    for (size_t i = 0; i < to->len; i++)
      if (!strcmp(to->data[i].path, f.path)) return refuse(&r, at, "the field stands twice");
    ac_push(a, to, f);
    if (!*r.p) return true;
  } while (*r.p++ == ',');
  return refuse(&r, r.p - 1, "',' or the end is due");
}

/* The operation table: signatures of ops.def parsed once, and look-up by name. */
#include "graph/internal.h"

#include <ctype.h>
#include <pthread.h>
#include <string.h>

static const struct {
  const char *id, *sig, *names;
  ac_opclass cls;
} rows[AC_OP_COUNT] = {
#define O(id, cls, sig, names) [id] = {#id, sig, names, cls},
#include "graph/ops.def"
#undef O
};

static ac_opinfo infos[AC_OP_COUNT];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static ac_arena *arena;         /* lives as long as the program */
static ac_map *by_id, *by_name; /* by_name: "t:softmax" -> its row */

static ac_kind kind_of(const char *s, size_t n, bool *optional) {
  *optional = s[n - 1] == '?';
  if (*optional) n--;
  bool many = s[n - 1] == '*';
  switch (s[0]) {
  case 'T': return many ? AC_K_TENSORS : AC_K_TENSOR;
  case 'I': return many ? AC_K_INTS : AC_K_INT;
  case 'S': return n == 1 ? AC_K_SCALAR : AC_K_STR;
  case 'F': return AC_K_FLOAT;
  case 'B': return AC_K_BOOL;
  default: return AC_K_DTYPE;
  }
}

static void parse(ac_opinfo *o, const char *sig) {
  AC_VEC(ac_opparam) v = {0};
  int positional = -1;
  for (const char *p = sig; *p;) {
    size_t n = strcspn(p, " ");
    if (n == 1 && *p == '*') {
      positional = (int)v.len;
    } else {
      const char *colon = memchr(p, ':', n), *eq = memchr(p, '=', n), *end = p + n;
      ac_opparam x = {.name = ac_strndup(arena, p, (size_t)(colon - p))};
      x.kind = kind_of(colon + 1, (size_t)((eq ? eq : end) - colon - 1), &x.optional);
      x.has_default = eq != NULL;
      if (eq) x.default_text = ac_strndup(arena, eq + 1, (size_t)(end - eq - 1));
      ac_push(arena, &v, x);
    }
    p += n;
    while (*p == ' ') p++;
  }
  o->params = v.data;
  o->n_params = (int)v.len;
  o->n_positional = positional < 0 ? o->n_params : positional;
}

static void load(void) {
  arena = ac_arena_new();
  by_id = ac_map_new(arena);
  by_name = ac_map_new(arena);
  for (int i = 0; i < AC_OP_COUNT; i++) {
    char *id = ac_strdup(arena, rows[i].id + strlen("AC_G_"));
    for (char *c = id; *c; c++) *c = (char)tolower((unsigned char)*c);
    infos[i] = (ac_opinfo){.id = id, .cls = rows[i].cls, .names = rows[i].names};
    parse(&infos[i], rows[i].sig);
    ac_map_put(by_id, id, &infos[i]);
    for (const char *p = rows[i].names; *p;) {
      size_t len = strcspn(p, " ");
      const char *full = ac_strndup(arena, p, len);
      if (!ac_map_has(by_name, full)) ac_map_put(by_name, full, &infos[i]);
      p += len;
      while (*p == ' ') p++;
    }
  }
}

const ac_opinfo *ac_op_info(ac_op op) {
  pthread_once(&once, load);
  return &infos[op];
}

ac_op ac_op_of(const char *id) {
  pthread_once(&once, load);
  const ac_opinfo *o = id ? ac_map_get(by_id, id) : NULL;
  return o ? (ac_op)(o - infos) : AC_OP_COUNT;
}

static const ac_opinfo *find(char ns, const char *name) {
  char full[80];
  int n = snprintf(full, sizeof full, "%c:%s", ns, name);
  return n < (int)sizeof full ? ac_map_get(by_name, full) : NULL;
}

/* add_; __iadd__ where the row has __add__ too. */
static bool is_inplace(const ac_opinfo *o, const char *name) {
  size_t n = strlen(name);
  if (n > 1 && name[n - 1] == '_' && name[n - 2] != '_') return true;
  if (n < 8 || n > 60 || strncmp(name, "__i", 3) != 0) return false;
  char plain[64];
  snprintf(plain, sizeof plain, "__%s", name + 3);
  return find('m', plain) == o;
}

ac_op ac_op_by_name(char ns, const char *name, bool *swapped, bool *inplace) {
  pthread_once(&once, load);
  const ac_opinfo *r = ns == 'm' || ns == 'r' ? find('r', name) : NULL;
  const ac_opinfo *o = r ? r : find(ns, name);
  if (!o) return AC_OP_COUNT;
  if (swapped) *swapped = r != NULL;
  if (inplace) *inplace = !r && is_inplace(o, name);
  return (ac_op)(o - infos);
}

const char *ac_op_nearest(char ns, const char *name) {
  pthread_once(&once, load);
  ac_arena *scratch = ac_arena_new();
  ac_strvec v = {0};
  for (size_t i = 0; i < ac_map_len(by_name); i++) {
    const char *full = ac_map_key(by_name, i); /* lives as long as the program */
    if (full[0] == ns && strncmp(full + 2, "__", 2) != 0) ac_push(scratch, &v, full + 2);
  }
  const char *best = ac_nearest(name, v.data, v.len);
  ac_arena_free(scratch);
  return best;
}

/* ---- default values, and reading arguments ---- */

ac_arg ac_default_arg(ac_graph *g, const ac_opparam *p) {
  ac_arg a = {.kind = p->kind};
  const char *t = p->default_text;
  if (!t || s_eq(t, "None")) {
    a.absent = true;
    return a;
  }
  switch (p->kind) {
  case AC_K_BOOL: a.b = s_eq(t, "True"); break;
  case AC_K_FLOAT: a.f = strtod(t, NULL); break;
  case AC_K_INT: a.i = ac_sym_int(g, strtoll(t, NULL, 10)); break;
  case AC_K_INTS:
    a.is = AC_NEW_N(g->arena, const ac_sym *, 1);
    a.is[0] = ac_sym_int(g, strtoll(t, NULL, 10));
    a.n = 1;
    break;
  case AC_K_SCALAR:
    if (*t != '\'') {
      a.is_int = !strpbrk(t, ".e");
      a.f = strtod(t, NULL);
      if (a.is_int) a.i = ac_sym_int(g, strtoll(t, NULL, 10));
      break;
    }
    a.kind = AC_K_STR; /* a word where a number may stand, as in norm(p='fro') */
    __attribute__((fallthrough));
  case AC_K_STR: a.s = ac_strndup(g->arena, t + 1, strlen(t) - 2); break;
  default: a.absent = true;
  }
  return a;
}

const ac_arg *ac_node_arg(const ac_node *n, const char *name) {
  const ac_opinfo *o = ac_op_info(n->op);
  for (int i = 0; i < n->n_args; i++)
    if (s_eq(o->params[i].name, name)) return &n->args[i];
  return NULL;
}

int ac_dim_index(int64_t d, int rank) {
  int r = rank ? rank : 1;
  return d >= -r && d < r ? (int)(d < 0 ? d + r : d) : -1;
}

void ac_arg_dims(const ac_arg *a, int rank, bool dims[16]) {
  bool all = !a || a->absent || (a->kind == AC_K_INTS && !a->n);
  for (int i = 0; i < 16; i++) dims[i] = all && i < rank;
  if (all) return;
  const ac_sym *const *s = a->kind == AC_K_INTS ? a->is : &a->i;
  for (int i = 0; i < (a->kind == AC_K_INTS ? a->n : 1); i++) {
    int d = ac_dim_index(s[i]->example, rank);
    if (d >= 0 && d < rank) dims[d] = true;
  }
}

int64_t ac_arg_int(const ac_arg *a, int i) {
  if (a->kind == AC_K_INT) return a->i->example;
  return a->is[a->n == 1 ? 0 : i]->example;
}

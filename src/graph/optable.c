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
static ac_arena *arena; /* lives as long as the program */
static ac_map *by_id;

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
  for (int i = 0; i < AC_OP_COUNT; i++) {
    char *id = ac_strdup(arena, rows[i].id + strlen("AC_G_"));
    for (char *c = id; *c; c++) *c = (char)tolower((unsigned char)*c);
    infos[i] = (ac_opinfo){.id = id, .cls = rows[i].cls, .names = rows[i].names};
    parse(&infos[i], rows[i].sig);
    ac_map_put(by_id, id, &infos[i]);
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

/* Does the row's list hold ns:name? */
static bool lists(const char *names, char ns, const char *name, size_t n) {
  for (const char *p = names; *p;) {
    size_t len = strcspn(p, " ");
    if (len == n + 2 && p[0] == ns && !memcmp(p + 2, name, n)) return true;
    p += len;
    while (*p == ' ') p++;
  }
  return false;
}

/* __iadd__ where the row has __add__ too; add_. */
static bool is_inplace(const char *names, const char *name) {
  size_t n = strlen(name);
  if (n > 1 && name[n - 1] == '_' && name[n - 2] != '_') return true;
  if (n < 8 || strncmp(name, "__i", 3)) return false;
  char plain[64];
  int w = snprintf(plain, sizeof plain, "__%s", name + 3);
  return w < (int)sizeof plain && lists(names, 'm', plain, (size_t)w);
}

ac_op ac_op_by_name(char ns, const char *name, bool *swapped, bool *inplace) {
  pthread_once(&once, load);
  size_t n = strlen(name);
  for (int i = 0; i < AC_OP_COUNT; i++) {
    bool r = (ns == 'm' || ns == 'r') && lists(rows[i].names, 'r', name, n);
    if (!r && (ns == 'r' || !lists(rows[i].names, ns, name, n))) continue;
    if (swapped) *swapped = r;
    if (inplace) *inplace = !r && is_inplace(rows[i].names, name);
    return (ac_op)i;
  }
  return AC_OP_COUNT;
}

const char *ac_op_nearest(char ns, const char *name) {
  pthread_once(&once, load);
  ac_arena *a = ac_arena_new();
  ac_strvec v = {0};
  for (int i = 0; i < AC_OP_COUNT; i++)
    for (const char *p = rows[i].names; *p;) {
      size_t len = strcspn(p, " ");
      if (p[0] == ns && strncmp(p + 2, "__", 2)) ac_push(a, &v, ac_strndup(a, p + 2, len - 2));
      p += len;
      while (*p == ' ') p++;
    }
  const char *best = ac_nearest(name, v.data, v.len), *keep = NULL;
  for (int i = 0; best && !keep && i < AC_OP_COUNT; i++)
    if (lists(rows[i].names, ns, best, strlen(best))) { /* text that outlives the scratch arena: an entry of its own */
      static _Thread_local char text[64];
      snprintf(text, sizeof text, "%s", best);
      keep = text;
    }
  ac_arena_free(a);
  return keep;
}

/* ---- default values, and reading arguments ---- */

ac_arg ac_default_arg(ac_graph *g, const ac_opparam *p) {
  ac_arg a = {.kind = p->kind};
  const char *t = p->default_text;
  if (!t || !strcmp(t, "None")) {
    a.absent = true;
    return a;
  }
  switch (p->kind) {
  case AC_K_BOOL: a.b = !strcmp(t, "True"); break;
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
    a.kind = AC_K_STR; /* fall through: a word where a number may stand, as in norm(p='fro') */
  case AC_K_STR: a.s = ac_strndup(g->arena, t + 1, strlen(t) - 2); break;
  default: a.absent = true;
  }
  return a;
}

const ac_arg *ac_node_arg(const ac_node *n, const char *name) {
  const ac_opinfo *o = ac_op_info(n->op);
  for (int i = 0; i < n->n_args; i++)
    if (!strcmp(o->params[i].name, name)) return &n->args[i];
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

/* Building, folding and asking about AscendC expressions. */
#include "lower/internal.h"

#include <math.h>
#include <string.h>

ac_aexpr *ac_ae(ac_arena *a, ac_aekind k, ac_atype t, ac_aexpr *x, ac_aexpr *y) {
  ac_aexpr *e = AC_NEW(a, ac_aexpr);
  e->kind = k;
  e->type = t;
  e->a = x;
  e->b = y;
  e->tensor = -1;
  return e;
}
ac_aexpr *ac_ae_int(ac_arena *a, int64_t v) {
  ac_aexpr *e = ac_ae(a, AC_AE_INT, AC_AT_INT, NULL, NULL);
  e->i = v;
  return e;
}
ac_aexpr *ac_ae_float(ac_arena *a, double v) {
  ac_aexpr *e = ac_ae(a, AC_AE_FLOAT, AC_AT_FLOAT, NULL, NULL);
  e->f = v;
  return e;
}
ac_aexpr *ac_ae_var(ac_arena *a, const char *name, ac_atype t) {
  ac_aexpr *e = ac_ae(a, AC_AE_VAR, t, NULL, NULL);
  e->name = name;
  return e;
}

bool ac_ae_const(const ac_aexpr *e, int64_t *v) {
  if (e && e->kind != AC_AE_INT) return false;
  *v = e ? e->i : 0;
  return true;
}

static bool compares(ac_aekind k) {
  return k >= AC_AE_EQ && k <= AC_AE_OR;
}

static int64_t floordiv(int64_t x, int64_t y) {
  int64_t q = x / y;
  return x % y && (x < 0) != (y < 0) ? q - 1 : q;
}

/* Integer constants, unless the result overflows or divides by zero: that is left for run time to refuse. */
static bool fold(ac_aekind k, int64_t x, int64_t y, int64_t *r) {
  int64_t up;
  switch (k) {
  case AC_AE_ADD: return !__builtin_add_overflow(x, y, r);
  case AC_AE_SUB: return !__builtin_sub_overflow(x, y, r);
  case AC_AE_MUL: return !__builtin_mul_overflow(x, y, r);
  case AC_AE_MIN: *r = x < y ? x : y; return true;
  case AC_AE_MAX: *r = x > y ? x : y; return true;
  case AC_AE_FLOORDIV:
    if (y == 0 || (x == INT64_MIN && y == -1)) return false;
    *r = floordiv(x, y);
    return true;
  case AC_AE_MOD:
    if (y == 0 || y == -1) return false;
    *r = x - floordiv(x, y) * y;
    return true;
  case AC_AE_CDIV:
    if (y <= 0 || __builtin_add_overflow(x, y - 1, &up)) return false;
    *r = floordiv(up, y);
    return true;
  case AC_AE_ALIGN_UP:
    if (y <= 0 || __builtin_add_overflow(x, y - 1, &up)) return false;
    *r = floordiv(up, y) * y;
    return true;
  case AC_AE_ALIGN_DOWN:
    if (y <= 0 || x < 0) return false;
    *r = floordiv(x, y) * y;
    return true;
  default: return false;
  }
}

ac_aexpr *ac_ae_to_float(ac_arena *a, ac_aexpr *x) {
  if (x->type == AC_AT_FLOAT) return x;
  if (x->kind == AC_AE_INT) return ac_ae_float(a, (double)x->i);
  return ac_ae(a, AC_AE_TO_FLOAT, AC_AT_FLOAT, x, NULL);
}

ac_aexpr *ac_ae_to_bool(ac_arena *a, ac_aexpr *x) {
  if (x->type == AC_AT_BOOL) return x;
  return ac_ae_bin(a, AC_AE_NE, x, x->type == AC_AT_FLOAT ? ac_ae_float(a, 0) : ac_ae_int(a, 0));
}

ac_aexpr *ac_ae_bin(ac_arena *a, ac_aekind k, ac_aexpr *x, ac_aexpr *y) {
  bool mixed = x->type == AC_AT_FLOAT || y->type == AC_AT_FLOAT;
  if (k == AC_AE_AND || k == AC_AE_OR) return ac_ae(a, k, AC_AT_BOOL, ac_ae_to_bool(a, x), ac_ae_to_bool(a, y));
  if (k == AC_AE_DIV || mixed) {
    x = ac_ae_to_float(a, x);
    y = ac_ae_to_float(a, y);
  }
  if (compares(k)) return ac_ae(a, k, AC_AT_BOOL, x, y);
  if (x->type == AC_AT_FLOAT) return ac_ae(a, k, AC_AT_FLOAT, x, y);
  int64_t r, cx = 0, cy = 0;
  bool kx = x->kind == AC_AE_INT, ky = y->kind == AC_AE_INT;
  if (kx) cx = x->i;
  if (ky) cy = y->i;
  if (kx && ky && fold(k, cx, cy, &r)) return ac_ae_int(a, r);
  if (ky && cy == 0 && (k == AC_AE_ADD || k == AC_AE_SUB)) return x;
  if (kx && cx == 0 && k == AC_AE_ADD) return y;
  if (ky && cy == 1 &&
      (k == AC_AE_MUL || k == AC_AE_FLOORDIV || k == AC_AE_CDIV || k == AC_AE_ALIGN_UP || k == AC_AE_ALIGN_DOWN))
    return x;
  if (kx && cx == 1 && k == AC_AE_MUL) return y;
  if (k == AC_AE_MUL && ((kx && cx == 0) || (ky && cy == 0))) return ac_ae_int(a, 0);
  return ac_ae(a, k, AC_AT_INT, x, y);
}

static bool same_name(const char *x, const char *y) {
  return x == y || (x && y && !strcmp(x, y));
}

/* 0 and -0 differ, a NaN equals itself. */
static uint64_t bits_of(double v) {
  uint64_t u;
  memcpy(&u, &v, sizeof u);
  return u;
}

bool ac_ae_equal(const ac_aexpr *x, const ac_aexpr *y) {
  if (x == y) return true;
  if (!x || !y || x->kind != y->kind || x->type != y->type || x->i != y->i || x->tensor != y->tensor) return false;
  if (bits_of(x->f) != bits_of(y->f) || !same_name(x->name, y->name)) return false;
  return ac_ae_equal(x->a, y->a) && ac_ae_equal(x->b, y->b) && ac_ae_equal(x->c, y->c);
}

bool ac_ae_multiple(const ac_aexpr *e, int64_t n) {
  if (!e || n == 1) return true;
  switch (e->kind) {
  case AC_AE_INT: return e->i % n == 0;
  case AC_AE_NEG: return ac_ae_multiple(e->a, n);
  case AC_AE_MUL: return ac_ae_multiple(e->a, n) || ac_ae_multiple(e->b, n);
  case AC_AE_ADD:
  case AC_AE_SUB:
  case AC_AE_MIN:
  case AC_AE_MAX:
  case AC_AE_COND: return ac_ae_multiple(e->a, n) && ac_ae_multiple(e->b, n);
  case AC_AE_ALIGN_UP:
  case AC_AE_ALIGN_DOWN: return ac_ae_multiple(e->b, n);
  default: return false;
  }
}

ac_aexpr *ac_ae_subst(ac_arena *a, const ac_aexpr *e, ac_aexpr *(*look)(void *, const char *), void *user) {
  if (!e) return NULL;
  if (e->kind == AC_AE_VAR) {
    ac_aexpr *r = look(user, e->name);
    if (r) return r;
  }
  ac_aexpr *n = AC_NEW(a, ac_aexpr);
  *n = *e;
  n->a = ac_ae_subst(a, e->a, look, user);
  n->b = ac_ae_subst(a, e->b, look, user);
  n->c = ac_ae_subst(a, e->c, look, user);
  return n;
}

bool ac_ae_mentions(const ac_aexpr *e, const char *name) {
  if (!e) return false;
  if (e->kind == AC_AE_VAR && same_name(e->name, name)) return true;
  return ac_ae_mentions(e->a, name) || ac_ae_mentions(e->b, name) || ac_ae_mentions(e->c, name);
}

/* ---- names ---- */

/* Variables of CANN's ICPU_RUN_KF (kern_fwk.h, 8.1), which names the kernel's arguments inside of them; keywords of C++, macros of AscendC, names that the emitted text uses itself. */
static const char *const taken[] = {"act",
                                    "argn",
                                    "blks",
                                    "idx",
                                    "kargs",
                                    "processNum",
                                    "alignas",
                                    "alignof",
                                    "and",
                                    "asm",
                                    "auto",
                                    "bitand",
                                    "bitor",
                                    "bool",
                                    "break",
                                    "case",
                                    "catch",
                                    "char",
                                    "class",
                                    "compl",
                                    "const",
                                    "constexpr",
                                    "continue",
                                    "decltype",
                                    "default",
                                    "delete",
                                    "do",
                                    "double",
                                    "else",
                                    "enum",
                                    "explicit",
                                    "export",
                                    "extern",
                                    "false",
                                    "float",
                                    "for",
                                    "friend",
                                    "goto",
                                    "half",
                                    "if",
                                    "inline",
                                    "int",
                                    "long",
                                    "mutable",
                                    "namespace",
                                    "new",
                                    "noexcept",
                                    "not",
                                    "nullptr",
                                    "operator",
                                    "or",
                                    "private",
                                    "protected",
                                    "public",
                                    "register",
                                    "return",
                                    "short",
                                    "signed",
                                    "sizeof",
                                    "static",
                                    "struct",
                                    "switch",
                                    "template",
                                    "this",
                                    "throw",
                                    "true",
                                    "try",
                                    "typedef",
                                    "typeid",
                                    "typename",
                                    "union",
                                    "unsigned",
                                    "using",
                                    "virtual",
                                    "void",
                                    "volatile",
                                    "wchar_t",
                                    "while",
                                    "xor",
                                    "bfloat16_t",
                                    "pipe",
                                    "tiling",
                                    "workspace",
                                    "bufferNum",
                                    "plan",
                                    "shapes",
                                    "cores",
                                    "ub",
                                    "block_idx",
                                    "block_num",
                                    "stdin",
                                    "stdout",
                                    "stderr",
                                    "errno",
                                    "assert",
                                    "inf",
                                    "nan",
                                    "NULL",
                                    "EOF",
                                    "INFINITY",
                                    "NAN",
                                    "main",
                                    "linux",
                                    "unix",
                                    "blockDim",
                                    "tilingKey",
                                    "tilingData",
                                    "ops",
                                    "ge",
                                    "gert",
                                    "optiling",
                                    "AscendC",
                                    "std",
                                    "at",
                                    "torch",
                                    "c10",
                                    "acl",
                                    "context",
                                    "Int",
                                    "Shape",
                                    "msg",
                                    "event",
                                    "Init",
                                    "Process",
                                    "bisheng",
                                    "abs",
                                    "min",
                                    "max",
                                    "printf",
                                    "data",
                                    "stream",
                                    "attrs",
                                    "ranks",
                                    "workspaceBytes",
                                    "xor_eq",
                                    "and_eq",
                                    "or_eq",
                                    "not_eq",
                                    "thread_local",
                                    "char16_t",
                                    "char32_t",
                                    "const_cast",
                                    "dynamic_cast",
                                    "reinterpret_cast",
                                    "static_cast",
                                    "static_assert",
                                    "concept",
                                    "requires",
                                    "co_await",
                                    "co_return",
                                    "co_yield",
                                    "aicore",
                                    "cce",
                                    "refusal",
                                    "fixed",
                                    "doubled",
                                    "bytes",
                                    "dims",
                                    "outputs",
                                    "sizes",
                                    "views",
                                    "len",
                                    "scratch",
                                    "blocks",
                                    "platform",
                                    "values",
                                    "pow",
                                    "op",
                                    "why",
                                    "Blocks",
                                    "Dim",
                                    "Product",
                                    "Checked",
                                    "ShapeView",
                                    "Min",
                                    "Max",
                                    "FloorDiv",
                                    "FloorMod",
                                    "CeilDiv",
                                    "AlignUp",
                                    "AlignDown",
                                    "Power",
                                    "Truncate",
                                    "ToDouble",
                                    "Refuse",
                                    "Refusal",
                                    "SameShape",
                                    "BufferBytes",
                                    "OutputShapes",
                                    "ComputeTiling",
                                    "userWorkspace",
                                    "opInterface",
                                    "home",
                                    "self"};

const char *ac_lower_name(ac_arena *a, const char *dsl) {
  static ac_names index = AC_NAMES_OF(taken);
  if (ac_names_find(&index, dsl) >= 0) return ac_sprintf(a, "%s_", dsl);
  size_t n = strlen(dsl);
  if (dsl[0] == '_' || (n && strstr(dsl, "__"))) { /* reserved in C++ */
    char *s = ac_sprintf(a, "v%s%s", dsl[0] == '_' ? "" : "_", dsl), *w = s;
    for (char *r = s; *r; r++)
      if (!(r[0] == '_' && w > s && w[-1] == '_')) *w++ = *r;
    *w = 0;
    return s;
  }
  return dsl;
}

static void take(ac_lkernel *k, const char *name) {
  ac_map_put(k->names, name, k);
}

/* Scalars, buffers and tensors of the program, and what was added since. */
static void take_all(ac_arena *a, ac_lkernel *k) {
  if (!k->names) {
    k->names = ac_map_new(a);
    for (size_t i = 0; i < k->fn->buffers.len; i++) take(k, ac_lower_name(a, k->fn->buffers.data[i]->name));
    for (int i = 0; i < k->fn->n_params; i++) take(k, ac_lower_name(a, k->fn->params[i].name));
  }
  for (; k->seen_vars < k->vars.len; k->seen_vars++) take(k, k->vars.data[k->seen_vars].name);
  for (; k->seen_buffers < k->k->buffers.len; k->seen_buffers++) take(k, k->k->buffers.data[k->seen_buffers].name);
  for (; k->seen_gms < k->k->gms.len; k->seen_gms++) take(k, k->k->gms.data[k->seen_gms].name);
}
const char *ac_lower_unique(ac_arena *a, ac_lkernel *k, const char *name) {
  take_all(a, k);
  while (ac_map_has(k->names, name)) name = ac_sprintf(a, "%s_", name);
  return name;
}

ac_linfo *ac_lower_info(ac_lkernel *k, const ac_cbuffer *b) {
  ac_linfo *f = b && b->index < k->infos.len ? &k->infos.data[b->index] : NULL;
  return f && f->b == b ? f : NULL;
}

char *ac_lower_pascal(ac_arena *a, const char *snake) {
  char *s = AC_NEW_N(a, char, strlen(snake) + 1), *w = s;
  bool up = true;
  for (const char *p = snake; *p; p++) {
    if (*p == '_') {
      up = true;
      continue;
    }
    *w++ = up && *p >= 'a' && *p <= 'z' ? (char)(*p - 32) : *p;
    up = false;
  }
  return s;
}

/* ---- statements ---- */

ac_astmt *ac_as_new(ac_arena *a, ac_askind k, ac_loc loc) {
  ac_astmt *s = AC_NEW(a, ac_astmt);
  s->kind = k;
  s->loc = loc;
  s->gm = -1;
  s->prim = AC_P_NONE;
  s->inst = AC_INST_COUNT;
  for (size_t i = 0; i < AC_COUNT(s->ops); i++) s->ops[i].view = AC_NODTYPE;
  return s;
}
ac_astmt *ac_as_comment(ac_arena *a, const char *text, ac_loc loc) {
  ac_astmt *s = ac_as_new(a, AC_AS_COMMENT, loc);
  s->text = text;
  return s;
}
ac_atensor *ac_lower_scratch(ac_arena *a, ac_akernel *k, const char *name, ac_aexpr *elements, ac_dtype d,
                             int round_to) {
  ac_abuffer b = {.name = ac_sprintf(a, "%sBuf", name),
                  .buffer = name,
                  .mem = AC_MEM_VECCALC,
                  .dtype = d,
                  .depth = 1,
                  .elements = elements,
                  .round_to = round_to,
                  .loc = k->loc};
  ac_push(a, &k->buffers, b);
  ac_atensor *t = AC_NEW(a, ac_atensor);
  t->name = name;
  t->buffer = (int)k->buffers.len - 1;
  ac_push(a, &k->handles, t);
  return t;
}
void ac_lower_get(ac_arena *a, ac_amethod *m, ac_atensor *const *get, size_t n, ac_loc loc) {
  ac_ablock out = {0};
  for (size_t i = 0; i < n; i++) {
    if (!get[i]) continue;
    ac_astmt *s = ac_as_new(a, AC_AS_GET, loc);
    s->tensor = get[i];
    ac_push(a, &out, s);
  }
  for (size_t i = 0; i < m->body.len; i++) ac_push(a, &out, m->body.data[i]);
  m->body = out;
}
void ac_as_walk(ac_ablock *b, void (*f)(void *, ac_astmt *), void *user) {
  for (size_t i = 0; i < b->len; i++) {
    f(user, b->data[i]);
    ac_as_walk(&b->data[i]->body, f, user);
    ac_as_walk(&b->data[i]->orelse, f, user);
  }
}

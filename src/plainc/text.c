/* Lines, names and expressions of the C text. */
#include "plainc/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines ---- */

void ac_pc_line(ac_pc *t, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  ac_put_line(&t->b, t->indent * 2, "", fmt, ap);
  va_end(ap);
}
void ac_pc_open(ac_pc *t, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  ac_put_line(&t->b, t->indent * 2, " {", fmt, ap);
  va_end(ap);
  t->indent++;
}
void ac_pc_close(ac_pc *t, const char *tail) {
  t->indent--;
  ac_pc_line(t, "}%s", tail);
}

/* The program's comments must not end or open one here, nor make a trigraph. */
static char *tame(ac_arena *a, const char *s) {
  ac_buf b;
  ac_buf_init(&b, a);
  for (char last = 0; *s; last = *s++) {
    bool pair = (last == '*' && *s == '/') || (last == '/' && *s == '*') || (last == '?' && *s == '?');
    ac_printf(&b, "%s%c", pair ? " " : "", (unsigned char)*s < 32 ? ' ' : *s);
  }
  return ac_strdup(a, ac_buf_str(&b));
}
void ac_pc_comment(ac_pc *t, const char *text) {
  if (!*text)
    ac_pc_line(t, "%s", "");
  else
    ac_pc_line(t, "/* %s */", tame(t->a, text));
}
char *ac_pc_trailing(ac_pc *t, const char *text) {
  return text && *text ? ac_sprintf(t->a, " /* %s */", tame(t->a, text)) : "";
}

void ac_pc_fail(ac_pc *t, ac_loc loc, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *what = ac_vsprintf(t->a, fmt, ap);
  va_end(ap);
  if (!t->failed) {
    ac_diag *x = ac_error(t->d, AC0690, loc, "%s has no form in plain C", what);
    ac_help(t->d, x, "the other formats serve this program: leave --format c out");
  }
  t->failed = true;
}

/* ---- names ---- */

/* Keywords and macros of C that may be names in C++ and Python; `ac_` is what this text uses itself. */
const char *ac_pc_name(ac_arena *a, const char *name) {
  static const char *const taken[] = {"restrict", "errno",    "NULL",   "EOF",    "NAN",  "INFINITY",
                                      "HUGE_VAL", "main",     "k",      "h",      "why",  "blocks_",
                                      "shapes",   "stdin",    "stdout", "stderr", "unix", "linux",
                                      "I",        "_Complex", "assert", "in",     "out"};
  bool clash = !strncmp(name, "ac_", 3) && !strchr(name, '.'); /* a member of ours is no name of theirs */
  for (size_t i = 0; i < AC_COUNT(taken); i++) clash |= !strcmp(taken[i], name);
  return clash ? ac_sprintf(a, "%s_v", name) : name;
}

const char *ac_pc_type(ac_atype t, bool host) {
  return t == AC_AT_INT ? "int64_t" : t == AC_AT_FLOAT ? (host ? "double" : "float") : "bool";
}
const char *ac_pc_dtype(ac_dtype d) {
  static const char *const unsigned_bits[] = {[1] = "uint8_t", [2] = "uint16_t", [4] = "uint32_t", [8] = "uint64_t"};
  if (d == AC_F32 || d == AC_F64) return d == AC_F32 ? "float" : "double";
  if (ac_dtypes[d].cls == AC_SIGNED) return ac_dtypes[d].cpp;
  return unsigned_bits[ac_dtypes[d].bytes];
}
const char *ac_pc_suffix(ac_dtype d) {
  static const char *const names[AC_DTYPE_COUNT] = {
      [AC_F32] = "f32", [AC_F16] = "f16", [AC_BF16] = "bf16", [AC_F64] = "f64", [AC_I8] = "i8",
      [AC_U8] = "u8",   [AC_I16] = "i16", [AC_U16] = "u16",   [AC_I32] = "i32", [AC_U32] = "u32",
      [AC_I64] = "i64", [AC_U64] = "u64", [AC_BOOL] = "u8"};
  return d < AC_DTYPE_COUNT && names[d] ? names[d] : ac_dtypes[d].name;
}

/* ---- expressions ---- */

char *ac_pc_float(ac_arena *a, double v, bool host) {
  char s[40];
  if (!host) v = (double)(float)v;
  if (isnan(v)) return host ? "(double)NAN" : "NAN";
  if (isinf(v)) return v > 0 ? (host ? "(double)INFINITY" : "INFINITY") : host ? "-(double)INFINITY" : "-INFINITY";
  for (int n = 1; n < 18; n++) {
    snprintf(s, sizeof s, "%.*g", n, v);
    if (host ? strtod(s, NULL) == v : strtof(s, NULL) == (float)v) break;
  }
  return ac_sprintf(a, "%s%s%s", s, strpbrk(s, ".e") ? "" : ".0", host ? "" : "f");
}

char *ac_pc_quoted(ac_arena *a, const char *s) {
  ac_buf b;
  ac_buf_init(&b, a);
  for (; *s; s++) {
    if (*s == '"' || *s == '\\')
      ac_printf(&b, "\\%c", *s);
    else
      ac_printf(&b, "%s%c", *s == '?' ? "\\" : "", (unsigned char)*s < 32 ? ' ' : *s);
  }
  return ac_strdup(a, ac_buf_str(&b));
}

static const char *const infix[] = {[AC_AE_ADD] = "+", [AC_AE_SUB] = "-", [AC_AE_MUL] = "*",  [AC_AE_DIV] = "/",
                                    [AC_AE_EQ] = "==", [AC_AE_NE] = "!=", [AC_AE_LT] = "<",   [AC_AE_LE] = "<=",
                                    [AC_AE_GT] = ">",  [AC_AE_GE] = ">=", [AC_AE_AND] = "&&", [AC_AE_OR] = "||"};
/* Host integers refuse the shape instead of wrapping; all of these are calls there. */
static const char *const calls[] = {[AC_AE_ADD] = "add",
                                    [AC_AE_SUB] = "sub",
                                    [AC_AE_MUL] = "mul",
                                    [AC_AE_FLOORDIV] = "floor_div",
                                    [AC_AE_MOD] = "floor_mod",
                                    [AC_AE_MIN] = "min",
                                    [AC_AE_MAX] = "max",
                                    [AC_AE_POW] = "power",
                                    [AC_AE_CDIV] = "ceil_div",
                                    [AC_AE_ALIGN_UP] = "align_up",
                                    [AC_AE_ALIGN_DOWN] = "align_down"};

/* Binding strength; higher binds tighter. Everything but + and * in chains of its own kind gets parentheses inside another operator,
 * which also keeps gcc's -Wparentheses quiet. */
static int level(const ac_pc *t, const ac_aexpr *e) {
  bool call = t->host && e->type == AC_AT_INT && (size_t)e->kind < AC_COUNT(calls) && calls[e->kind];
  if (call) return 11;
  switch (e->kind) {
  case AC_AE_MUL:
  case AC_AE_DIV: return 9;
  case AC_AE_ADD:
  case AC_AE_SUB: return 8;
  case AC_AE_LT:
  case AC_AE_LE:
  case AC_AE_GT:
  case AC_AE_GE:
  case AC_AE_EQ:
  case AC_AE_NE: return 6;
  case AC_AE_AND: return 3;
  case AC_AE_OR: return 2;
  case AC_AE_COND: return 1;
  case AC_AE_NEG:
  case AC_AE_NOT: return 10;
  case AC_AE_INT: return e->i < 0 ? 10 : 11;
  case AC_AE_FLOAT: return e->f < 0 || signbit(e->f) ? 10 : 11;
  default: return 11;
  }
}
static char *inner(ac_pc *t, const ac_aexpr *e, int outer) {
  char *s = ac_pc_expr(t, e);
  return level(t, e) < outer ? ac_sprintf(t->a, "(%s)", s) : s;
}

static bool lives_in_block(const ac_pc *t, const char *name) {
  if (!t->k) return false;
  for (size_t i = 0; i < t->k->fields.len; i++)
    if (!strcmp(t->k->fields.data[i].name, name)) return true;
  for (size_t i = 0; i < t->k->members.len; i++)
    if (!strcmp(t->k->members.data[i].name, name)) return true;
  return t->kept;
}

static char *of_shape(ac_pc *t, const ac_aexpr *e) {
  const char *a = e->a ? ac_pc_expr(t, e->a) : "0",
             *b = e->b ? ac_pc_expr(t, e->b) : ac_sprintf(t->a, "shapes[%d].rank", e->tensor);
  switch (e->kind) {
  case AC_AE_RANK: return ac_sprintf(t->a, "(int64_t)shapes[%d].rank", e->tensor);
  case AC_AE_NUMEL: return ac_sprintf(t->a, "ac_product(h, &shapes[%d], 0, shapes[%d].rank)", e->tensor, e->tensor);
  case AC_AE_DIM: return ac_sprintf(t->a, "ac_dim(h, &shapes[%d], %s)", e->tensor, a);
  default: return ac_sprintf(t->a, "ac_product(h, &shapes[%d], %s, %s)", e->tensor, a, b);
  }
}

static char *call(ac_pc *t, const ac_aexpr *e) {
  const char *f = calls[e->kind], *x = ac_pc_expr(t, e->a), *y = ac_pc_expr(t, e->b);
  if (e->type == AC_AT_FLOAT) return ac_sprintf(t->a, "ac_%s_%s(%s, %s)", f, t->host ? "d" : "f", x, y);
  return t->host ? ac_sprintf(t->a, "ac_checked_%s(h, %s, %s)", f, x, y) : ac_sprintf(t->a, "ac_%s(%s, %s)", f, x, y);
}

static char *binary(ac_pc *t, const ac_aexpr *e) {
  int l = level(t, e);
  bool chain = (e->kind == AC_AE_ADD || e->kind == AC_AE_MUL) && e->type == AC_AT_INT;
  bool logic = e->kind == AC_AE_AND || e->kind == AC_AE_OR;
  const char *y = inner(t, e->b, logic && e->b->kind != e->kind ? 6 : chain ? l : l + 1);
  const char *x = inner(t, e->a, logic && e->a->kind != e->kind ? 6 : l == 6 ? 7 : l);
  return ac_sprintf(t->a, "%s %s %s", x, infix[e->kind], y);
}

char *ac_pc_expr(ac_pc *t, const ac_aexpr *e) {
  ac_arena *a = t->a;
  const char *name;
  switch (e->kind) {
  case AC_AE_INT:
    if (e->i == INT64_MIN) return "INT64_MIN";
    return e->i > INT32_MAX || e->i < -INT32_MAX ? ac_sprintf(a, "INT64_C(%lld)", (long long)e->i)
                                                 : ac_sprintf(a, "%lld", (long long)e->i);
  case AC_AE_FLOAT: return ac_pc_float(a, e->f, t->host);
  case AC_AE_BOOL: return e->i ? "true" : "false";
  case AC_AE_VAR:
    name = ac_pc_name(a, e->name);
    return lives_in_block(t, e->name) ? ac_sprintf(a, "k->%s", name) : ac_strdup(a, name);
  case AC_AE_NEG:
    if (t->host && e->type == AC_AT_INT) return ac_sprintf(a, "ac_checked_sub(h, 0, %s)", ac_pc_expr(t, e->a));
    return ac_sprintf(a, "-%s", inner(t, e->a, 11));
  case AC_AE_NOT: return ac_sprintf(a, "!%s", inner(t, e->a, 11));
  case AC_AE_COND: return ac_sprintf(a, "%s ? %s : %s", inner(t, e->c, 2), inner(t, e->a, 2), inner(t, e->b, 2));
  case AC_AE_TO_FLOAT: return ac_sprintf(a, "(%s)%s", t->host ? "double" : "float", inner(t, e->a, 11));
  case AC_AE_TO_INT:
    return t->host ? ac_sprintf(a, "ac_truncate(h, %s)", ac_pc_expr(t, e->a))
                   : ac_sprintf(a, "ac_to_int(%s)", ac_pc_expr(t, e->a));
  case AC_AE_BLOCK_IDX: return "k->ac_block";
  case AC_AE_BLOCK_NUM: return "k->ac_blocks";
  case AC_AE_DETERMINISTIC: return "false"; /* blocks come one after the other here: every strategy is */
  case AC_AE_CORES: return "(int64_t)AC_CORES";
  case AC_AE_UB: return "(int64_t)AC_UB";
  case AC_AE_DIM:
  case AC_AE_RANK:
  case AC_AE_NUMEL:
  case AC_AE_DIMPROD: return of_shape(t, e);
  default: break;
  }
  bool by_call = (size_t)e->kind < AC_COUNT(calls) && calls[e->kind];
  bool by_sign = (size_t)e->kind < AC_COUNT(infix) && infix[e->kind];
  if (by_call && (!by_sign || (t->host && e->type == AC_AT_INT))) return call(t, e);
  if (by_sign) return binary(t, e);
  ac_pc_fail(t, t->k ? t->k->loc : AC_NOLOC, "an expression of kind %d", (int)e->kind);
  return "0";
}

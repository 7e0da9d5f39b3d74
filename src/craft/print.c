/* The printer: canonical text. parse(print(m)) prints the same bytes. */
#include "craft/internal.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 100, STEP = 4 };

/* ---- expressions ---- */

enum { L_COND = 1, L_OR, L_AND, L_NOT, L_COMPARE, L_SUM, L_TERM, L_UNARY, L_POWER, L_ATOM };

static const struct {
  const char *text;
  int level;
} ops[] = {[AC_OP_NOP] = {"=", 0},         [AC_OP_ADD] = {"+", L_SUM},     [AC_OP_SUB] = {"-", L_SUM},
           [AC_OP_MUL] = {"*", L_TERM},    [AC_OP_DIV] = {"/", L_TERM},    [AC_OP_FLOORDIV] = {"//", L_TERM},
           [AC_OP_MOD] = {"%", L_TERM},    [AC_OP_POW] = {"**", L_POWER},  [AC_OP_NEG] = {"-", L_UNARY},
           [AC_OP_NOT] = {"not ", L_NOT},  [AC_OP_AND] = {"and", L_AND},   [AC_OP_OR] = {"or", L_OR},
           [AC_OP_EQ] = {"==", L_COMPARE}, [AC_OP_NE] = {"!=", L_COMPARE}, [AC_OP_LT] = {"<", L_COMPARE},
           [AC_OP_LE] = {"<=", L_COMPARE}, [AC_OP_GT] = {">", L_COMPARE},  [AC_OP_GE] = {">=", L_COMPARE}};

static int level(const ac_cexpr *e) {
  switch (e->kind) {
  case AC_CE_INT: return e->i < 0 ? L_UNARY : L_ATOM;
  case AC_CE_FLOAT: return signbit(e->f) && !isnan(e->f) ? L_UNARY : L_ATOM;
  case AC_CE_UNARY:
  case AC_CE_BINARY: return ops[e->op].level;
  case AC_CE_COND: return L_COND;
  default: return L_ATOM;
  }
}

static void put(ac_buf *b, const ac_cexpr *e, int min);

static void put_float(ac_buf *b, double f) {
  if (isnan(f))
    ac_puts(b, "float(\"nan\")");
  else if (isinf(f))
    ac_puts(b, f < 0 ? "-float(\"inf\")" : "float(\"inf\")");
  else
    ac_put_double(b, f);
}

static void put_string(ac_buf *b, const char *s) {
  ac_puts(b, "\"");
  for (; *s; s++) {
    unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\')
      ac_printf(b, "\\%c", c);
    else if (c == '\n')
      ac_puts(b, "\\n");
    else if (c < 32 || c == 127)
      ac_printf(b, "\\x%02x", c);
    else
      ac_putn(b, s, 1);
  }
  ac_puts(b, "\"");
}

static void put_arg(ac_buf *b, const ac_cexpr *call, int i) {
  if (call->kw && call->kw[i]) ac_printf(b, "%s=", call->kw[i]);
  put(b, call->args[i], 0);
}

/* After check, absent optional arguments are NULL: they are not printed. */
static void put_args(ac_buf *b, const ac_cexpr *e) {
  bool first = true;
  for (int i = 0; i < e->n_args; i++) {
    if (!e->args[i]) continue;
    if (!first) ac_puts(b, ", ");
    first = false;
    put_arg(b, e, i);
  }
}

static void put_slice(ac_buf *b, const ac_cexpr *e) {
  if (e->a) put(b, e->a, 0);
  ac_puts(b, ":");
  if (e->b) put(b, e->b, 0);
  if (e->c) {
    ac_puts(b, ":");
    put(b, e->c, 0);
  }
}

static void put_binary(ac_buf *b, const ac_cexpr *e) {
  int l = ops[e->op].level;
  bool power = l == L_POWER;
  put(b, e->a, power ? L_ATOM : l == L_COMPARE ? l + 1 : l);
  ac_printf(b, " %s ", ops[e->op].text);
  put(b, e->b, power ? L_UNARY : l + 1);
}

static void put(ac_buf *b, const ac_cexpr *e, int min) {
  bool brackets = level(e) < min;
  if (brackets) ac_puts(b, "(");
  switch (e->kind) {
  case AC_CE_INT: ac_printf(b, "%lld", (long long)e->i); break;
  case AC_CE_FLOAT: put_float(b, e->f); break;
  case AC_CE_BOOL: ac_puts(b, e->i ? "True" : "False"); break;
  case AC_CE_STR: put_string(b, e->s); break;
  case AC_CE_NONE: ac_puts(b, "None"); break;
  case AC_CE_NAME: ac_puts(b, e->s); break;
  case AC_CE_ATTR:
    /* (1).x: 1.x would be a number, 1.0.x is none */
    put(b, e->a, e->a->kind == AC_CE_INT || e->a->kind == AC_CE_FLOAT ? L_ATOM + 1 : L_ATOM);
    ac_printf(b, ".%s", e->s);
    break;
  case AC_CE_INDEX:
    put(b, e->a, L_ATOM);
    ac_puts(b, "[");
    put_args(b, e);
    ac_puts(b, "]");
    break;
  case AC_CE_SLICE: put_slice(b, e); break;
  case AC_CE_CALL:
    put(b, e->a, L_ATOM);
    ac_puts(b, "(");
    put_args(b, e);
    ac_puts(b, ")");
    break;
  case AC_CE_UNARY:
    ac_puts(b, ops[e->op].text);
    put(b, e->a, ops[e->op].level);
    break;
  case AC_CE_BINARY: put_binary(b, e); break;
  case AC_CE_COND:
    put(b, e->a, L_OR);
    ac_puts(b, " if ");
    put(b, e->c, L_OR);
    ac_puts(b, " else ");
    put(b, e->b, L_COND);
    break;
  case AC_CE_TUPLE:
    ac_puts(b, "(");
    put_args(b, e);
    ac_puts(b, e->n_args == 1 ? ",)" : ")");
    break;
  }
  if (brackets) ac_puts(b, ")");
}

char *ac_cexpr_text(ac_arena *a, const ac_cexpr *e) {
  ac_buf b;
  ac_buf_init(&b, a);
  put(&b, e, 0);
  return ac_strdup(a, ac_buf_str(&b));
}

/* ---- lines that are too long ---- */

static void spaces(ac_buf *b, int n) {
  ac_printf(b, "%*s", n, "");
}

static int columns(const char *s, size_t n) {
  int c = 0;
  for (size_t i = 0; i < n; i++) c += ((unsigned char)s[i] & 0xC0) != 0x80;
  return c;
}

/* Column of the end of the buffer. */
static int column(const ac_buf *b) {
  size_t n = b->len;
  while (n && b->data[n - 1] != '\n') n--;
  return columns(b->data + n, b->len - n);
}

/* Puts `piece` on this line or on a new one that is indented. */
static void fill(ac_buf *b, const char *piece, int indent, bool first, int reserve) {
  int need = columns(piece, strlen(piece)) + reserve;
  if (!first && column(b) + 1 + need > WIDTH) {
    ac_puts(b, "\n");
    spaces(b, indent);
  } else if (!first) {
    ac_puts(b, " ");
  }
  ac_puts(b, piece);
}

static void put_call_filled(ac_buf *b, const ac_cexpr *e, int indent) {
  put(b, e->a, L_ATOM);
  ac_puts(b, "(\n");
  spaces(b, indent);
  int last = -1;
  for (int i = 0; i < e->n_args; i++)
    if (e->args[i]) last = i;
  bool first = true;
  for (int i = 0; i <= last; i++) {
    if (!e->args[i]) continue;
    ac_buf piece;
    ac_buf_init(&piece, b->arena);
    put_arg(&piece, e, i);
    ac_puts(&piece, i < last ? "," : ")");
    fill(b, ac_buf_str(&piece), indent, first, 1);
    first = false;
  }
}

static void chain(ac_arena *a, const ac_cexpr *e, int l, ac_strvec *pieces) {
  if (e->kind == AC_CE_BINARY && ops[e->op].level == l && l != L_COMPARE && l != L_POWER) {
    chain(a, e->a, l, pieces);
    ac_buf b;
    ac_buf_init(&b, a);
    ac_printf(&b, "%s ", ops[e->op].text);
    put(&b, e->b, l + 1);
    ac_push(a, pieces, ac_buf_str(&b));
    return;
  }
  ac_buf b;
  ac_buf_init(&b, a);
  put(&b, e, l);
  ac_push(a, pieces, ac_buf_str(&b));
}

static void put_chain_filled(ac_buf *b, const ac_cexpr *e, int indent) {
  ac_strvec pieces = {0};
  chain(b->arena, e, ops[e->op].level, &pieces);
  ac_puts(b, "(\n");
  spaces(b, indent);
  for (size_t i = 0; i < pieces.len; i++) fill(b, pieces.data[i], indent, i == 0, 2);
  ac_puts(b, ")");
}

/* e with `suffix` behind it; broken inside brackets when the line would be too long. */
static void put_wrapped(ac_buf *b, const ac_cexpr *e, const char *suffix, int indent) {
  const char *text = ac_cexpr_text(b->arena, e);
  if (column(b) + columns(text, strlen(text)) + (int)strlen(suffix) <= WIDTH)
    ac_puts(b, text);
  else if (e->kind == AC_CE_CALL && e->n_args)
    put_call_filled(b, e, indent + STEP);
  else if (e->kind == AC_CE_BINARY && ops[e->op].level != L_COMPARE && ops[e->op].level != L_POWER)
    put_chain_filled(b, e, indent + STEP);
  else
    ac_puts(b, text);
  ac_puts(b, suffix);
}

/* ---- comments ---- */

ac_strvec ac_craft_tidy_comments(ac_arena *a, const ac_strvec *v) {
  ac_strvec out = {0};
  size_t end = v->len;
  while (end && !*v->data[end - 1]) end--;
  /* One blank line before the comments stays: it sets the statement apart. */
  bool blank = v->len && !*v->data[0];
  for (size_t i = 0; i < end; i++) {
    if (!*v->data[i]) {
      blank = true;
      continue;
    }
    if (blank) ac_push(a, &out, "");
    blank = false;
    ac_push(a, &out, v->data[i]);
  }
  if (v->len && end < v->len && (end || blank)) ac_push(a, &out, "");
  return out;
}

typedef struct {
  ac_buf *b;
  ac_arena *a;
} out;

static void put_comment(out *o, const char *text, int indent) {
  size_t n = strlen(text);
  while (n && (text[n - 1] == ' ' || text[n - 1] == '\t')) n--;
  spaces(o->b, indent);
  ac_puts(o->b, n ? "# " : "#");
  ac_putn(o->b, text, n);
}

/* `inside`: blank lines at the start are dropped; `closing`: those at the end too. */
static void put_comments(out *o, const ac_strvec *v, int indent, bool inside, bool closing) {
  ac_strvec t = ac_craft_tidy_comments(o->a, v);
  size_t i = inside && t.len && !*t.data[0], end = t.len;
  if (closing && end > i && !*t.data[end - 1]) end--;
  for (; i < end; i++) {
    if (*t.data[i]) put_comment(o, t.data[i], indent);
    ac_puts(o->b, "\n");
  }
}

static void end_line(out *o, const char *trailing) {
  if (trailing) {
    ac_puts(o->b, "  ");
    put_comment(o, trailing, 0);
  }
  ac_puts(o->b, "\n");
}

/* ---- statements ---- */

static void put_body(out *o, const ac_cstmt *s, const ac_strvec *tail, int indent);

static void put_target(out *o, const ac_cexpr *t) {
  if (t->kind != AC_CE_TUPLE) {
    put(o->b, t, 0);
    return;
  }
  put_args(o->b, t);
  if (t->n_args == 1) ac_puts(o->b, ",");
}

static void put_if(out *o, const ac_cstmt *s, int indent) {
  const char *word = "if ";
  for (;;) {
    ac_puts(o->b, word);
    put_wrapped(o->b, s->value, ":", indent + STEP);
    end_line(o, s->trailing);
    put_body(o, s->body, &s->tail_comments, indent + STEP);
    const ac_cstmt *e = s->orelse;
    if (!e || e->kind != AC_CS_IF || e->next) break;
    put_comments(o, &e->comments, indent, false, false);
    spaces(o->b, indent);
    word = "elif ";
    s = e;
  }
  if (!s->orelse) return;
  spaces(o->b, indent);
  ac_puts(o->b, "else:\n");
  put_body(o, s->orelse, &s->else_comments, indent + STEP);
}

static bool is_int(const ac_cexpr *e, int64_t v) {
  return e->kind == AC_CE_INT && e->i == v;
}

static void put_for(out *o, const ac_cstmt *s, int indent) {
  ac_buf *b = o->b;
  ac_cexpr *args[3] = {s->lo, s->hi, s->step};
  bool one = is_int(s->step, 1);
  ac_cexpr callee = {.kind = AC_CE_NAME, .s = "range"};
  ac_cexpr call = {.kind = AC_CE_CALL, .a = &callee, .args = args, .n_args = one ? 2 : 3};
  if (one && is_int(s->lo, 0)) {
    call.args = args + 1;
    call.n_args = 1;
  }
  ac_puts(b, "for ");
  put(b, s->target, 0);
  ac_puts(b, " in ");
  put_wrapped(b, &call, ":", indent + STEP);
  end_line(o, s->trailing);
  put_body(o, s->body, &s->tail_comments, indent + STEP);
}

static void put_stmt(out *o, const ac_cstmt *s, int indent) {
  static const char *const stages[] = {"none", "copyin", "compute", "copyout"};
  ac_buf *b = o->b;
  spaces(b, indent);
  switch (s->kind) {
  case AC_CS_ASSIGN:
    put_target(o, s->target);
    ac_printf(b, s->op == AC_OP_NOP ? " = " : " %s= ", ops[s->op].text);
    put_wrapped(b, s->value, "", indent);
    break;
  case AC_CS_EXPR:
    if (s->value->kind == AC_CE_STR) { /* without brackets it would be a docstring in the first place */
      ac_puts(b, "(");
      put(b, s->value, 0);
      ac_puts(b, ")");
      break;
    }
    put_wrapped(b, s->value, "", indent);
    break;
  case AC_CS_RETURN:
    ac_puts(b, s->value ? "return " : "return");
    if (s->value) put_wrapped(b, s->value, "", indent);
    break;
  case AC_CS_PASS: ac_puts(b, "pass"); break;
  case AC_CS_BREAK: ac_puts(b, "break"); break;
  case AC_CS_IF: put_if(o, s, indent); return;
  case AC_CS_FOR: put_for(o, s, indent); return;
  case AC_CS_WHILE:
    ac_puts(b, "while ");
    put_wrapped(b, s->value, ":", indent + STEP);
    end_line(o, s->trailing);
    put_body(o, s->body, &s->tail_comments, indent + STEP);
    return;
  case AC_CS_WITH:
    ac_printf(b, "with tl.%s():", stages[s->stage]);
    end_line(o, s->trailing);
    put_body(o, s->body, &s->tail_comments, indent + STEP);
    return;
  }
  end_line(o, s->trailing);
}

static void put_body(out *o, const ac_cstmt *s, const ac_strvec *tail, int indent) {
  if (!s) {
    spaces(o->b, indent);
    ac_puts(o->b, "pass\n");
  }
  for (bool first = true; s; s = s->next, first = false) {
    put_comments(o, &s->comments, indent, first, false);
    put_stmt(o, s, indent);
  }
  put_comments(o, tail, indent, false, true);
}

/* ---- functions and the file ---- */

static void put_doc(out *o, const char *doc) {
  ac_puts(o->b, "    \"\"\"");
  for (const char *s = doc; *s; s++) {
    unsigned char c = (unsigned char)*s;
    if (c == '\\' || (c == '"' && (!s[1] || s[1] == '"')))
      ac_printf(o->b, "\\%c", c);
    else if ((c < 32 && c != '\n') || c == 127)
      ac_printf(o->b, "\\x%02x", c);
    else
      ac_putn(o->b, s, 1);
  }
  ac_puts(o->b, "\"\"\"\n");
}

static const char *param_text(ac_arena *a, const ac_cparam *p) {
  ac_buf b;
  ac_buf_init(&b, a);
  ac_puts(&b, p->name);
  if (p->annotation) {
    ac_puts(&b, ": ");
    put(&b, p->annotation, 0);
  }
  if (p->init) {
    ac_puts(&b, p->annotation ? " = " : "=");
    put(&b, p->init, 0);
  }
  return ac_buf_str(&b);
}

static void put_params(out *o, const ac_cfunc *f) {
  ac_buf one;
  ac_buf_init(&one, o->a);
  for (int i = 0; i < f->n_params; i++) ac_printf(&one, "%s%s", i ? ", " : "", param_text(o->a, &f->params[i]));
  if (column(o->b) + columns(ac_buf_str(&one), one.len) + 2 <= WIDTH || !f->n_params) {
    ac_puts(o->b, ac_buf_str(&one));
    return;
  }
  ac_puts(o->b, "\n        ");
  for (int i = 0; i < f->n_params; i++)
    fill(o->b, ac_sprintf(o->a, "%s%s", param_text(o->a, &f->params[i]), i + 1 < f->n_params ? "," : ""), 2 * STEP,
         i == 0, 2);
}

static void put_func(out *o, const ac_cfunc *f) {
  put_comments(o, &f->comments, 0, true, true);
  if (f->kernel) ac_puts(o->b, "@ascend_kernel\n");
  ac_printf(o->b, "def %s(", f->name);
  put_params(o, f);
  ac_puts(o->b, "):\n");
  if (f->doc) put_doc(o, f->doc);
  if (f->doc && !f->body && !f->tail_comments.len) return;
  put_body(o, f->body, &f->tail_comments, STEP);
}

char *ac_craft_print(ac_arena *a, const ac_cmodule *m) {
  ac_buf b;
  ac_buf_init(&b, a);
  out o = {&b, a};
  put_comments(&o, &m->comments, 0, true, !m->imports.len); /* a blank line between it and the imports stays */
  for (size_t i = 0; i < m->imports.len; i++) ac_printf(&b, "%s\n", m->imports.data[i]);
  for (size_t i = 0; i < m->funcs.len; i++) {
    if (b.len) ac_puts(&b, "\n\n");
    put_func(&o, m->funcs.data[i]);
  }
  if (m->tail_comments.len && b.len) ac_puts(&b, "\n\n");
  put_comments(&o, &m->tail_comments, 0, true, true);
  return ac_strdup(a, ac_buf_str(&b));
}

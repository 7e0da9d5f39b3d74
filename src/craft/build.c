/* The builder: trees made by code (schedules) instead of text. */
#include "craft/internal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void ac_cb_init(ac_cbuild *b, ac_arena *a, const char *file) {
  *b = (ac_cbuild){.arena = a, .module = AC_NEW(a, ac_cmodule)};
  b->module->file = ac_strdup(a, file);
}

static ac_strvec take_pending(ac_cbuild *b) {
  ac_strvec v = b->pending;
  b->pending = (ac_strvec){0};
  return v;
}

ac_cfunc *ac_cb_func(ac_cbuild *b, const char *name, bool kernel) {
  assert(b->depth == 0 && "a function starts inside an open block");
  ac_cfunc *f = AC_NEW(b->arena, ac_cfunc);
  f->name = ac_strdup(b->arena, name);
  f->kernel = kernel;
  f->comments = take_pending(b);
  ac_push(b->arena, &b->module->funcs, f);
  b->func = f;
  b->tail[0] = &f->body;
  b->open[0] = NULL;
  return f;
}

void ac_cb_param(ac_cbuild *b, const char *name, ac_cexpr *annotation) {
  ac_cfunc *f = b->func;
  ac_cparam *grown = AC_NEW_N(b->arena, ac_cparam, f->n_params + 1);
  if (f->n_params) memcpy(grown, f->params, (size_t)f->n_params * sizeof *grown);
  grown[f->n_params] = (ac_cparam){.name = ac_strdup(b->arena, name), .annotation = annotation, .dtype = AC_NODTYPE};
  f->params = grown;
  f->n_params++;
}

void ac_cb_comment(ac_cbuild *b, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *text = ac_vsprintf(b->arena, fmt, ap);
  va_end(ap);
  for (char *line = text;;) {
    char *end = strchr(line, '\n');
    if (end) *end = 0;
    ac_push(b->arena, &b->pending, line);
    if (!end) return;
    line = end + 1;
  }
}

static ac_cstmt *append(ac_cbuild *b, ac_cskind kind) {
  assert(b->func && "a statement needs a function");
  ac_cstmt *s = AC_NEW(b->arena, ac_cstmt);
  s->kind = kind;
  s->comments = take_pending(b);
  *b->tail[b->depth] = s;
  b->tail[b->depth] = &s->next;
  return s;
}

static void open_block(ac_cbuild *b, ac_cstmt *s, ac_cstmt **where) {
  assert(b->depth + 1 < (int)AC_COUNT(b->tail) && "blocks nested too deeply");
  b->depth++;
  b->tail[b->depth] = where;
  b->open[b->depth] = s;
  b->in_else[b->depth] = false;
}

ac_cstmt *ac_cb_assign(ac_cbuild *b, const char *name, ac_cexpr *value) {
  ac_cstmt *s = append(b, AC_CS_ASSIGN);
  s->target = ac_ce_name(b, name);
  s->value = value;
  return s;
}

ac_cstmt *ac_cb_call(ac_cbuild *b, ac_cexpr *call) {
  ac_cstmt *s = append(b, AC_CS_EXPR);
  s->value = call;
  return s;
}

void ac_cb_if(ac_cbuild *b, ac_cexpr *cond) {
  ac_cstmt *s = append(b, AC_CS_IF);
  s->value = cond;
  open_block(b, s, &s->body);
}

/* Comments that wait when a branch ends belong to that branch. */
static void close_branch(ac_cbuild *b) {
  ac_cstmt *s = b->open[b->depth];
  if (b->pending.len) *(b->in_else[b->depth] ? &s->else_comments : &s->tail_comments) = take_pending(b);
}

void ac_cb_else(ac_cbuild *b) {
  ac_cstmt *s = b->open[b->depth];
  assert(s && s->kind == AC_CS_IF && !b->in_else[b->depth] && "else without if");
  close_branch(b);
  b->tail[b->depth] = &s->orelse;
  b->in_else[b->depth] = true;
}

void ac_cb_elif(ac_cbuild *b, ac_cexpr *cond) {
  ac_cb_else(b);
  ac_cstmt *s = append(b, AC_CS_IF);
  s->value = cond;
  b->tail[b->depth] = &s->body;
  b->open[b->depth] = s;
  b->in_else[b->depth] = false;
}

void ac_cb_for(ac_cbuild *b, const char *var, ac_cexpr *lo, ac_cexpr *hi, ac_cexpr *step) {
  ac_cstmt *s = append(b, AC_CS_FOR);
  s->target = ac_ce_name(b, var);
  s->lo = lo;
  s->hi = hi;
  s->step = step ? step : ac_ce_int(b, 1);
  open_block(b, s, &s->body);
}

void ac_cb_while(ac_cbuild *b, ac_cexpr *cond) {
  ac_cstmt *s = append(b, AC_CS_WHILE);
  s->value = cond;
  open_block(b, s, &s->body);
}

void ac_cb_with(ac_cbuild *b, ac_cstage stage) {
  ac_cstmt *s = append(b, AC_CS_WITH);
  s->stage = stage;
  open_block(b, s, &s->body);
}

void ac_cb_end(ac_cbuild *b) {
  assert(b->depth > 0 && "no block is open");
  close_branch(b);
  b->depth--;
}

/* ---- expressions ---- */

static ac_cexpr *node(ac_cbuild *b, ac_cekind kind) {
  ac_cexpr *e = AC_NEW(b->arena, ac_cexpr);
  e->kind = kind;
  e->prim = AC_P_NONE;
  e->inst = AC_INST_COUNT;
  e->dtype = AC_NODTYPE;
  return e;
}

ac_cexpr *ac_ce_int(ac_cbuild *b, int64_t v) {
  ac_cexpr *e = node(b, AC_CE_INT);
  e->i = v;
  return e;
}

ac_cexpr *ac_ce_float(ac_cbuild *b, double v) {
  ac_cexpr *e = node(b, AC_CE_FLOAT);
  e->f = v;
  return e;
}

ac_cexpr *ac_ce_str(ac_cbuild *b, const char *s) {
  ac_cexpr *e = node(b, AC_CE_STR);
  e->s = ac_strdup(b->arena, s);
  return e;
}

ac_cexpr *ac_ce_name(ac_cbuild *b, const char *name) {
  ac_cexpr *e = node(b, AC_CE_NAME);
  e->s = ac_strdup(b->arena, name);
  return e;
}

ac_cexpr *ac_ce_attr(ac_cbuild *b, ac_cexpr *a, const char *name) {
  ac_cexpr *e = node(b, AC_CE_ATTR);
  e->a = a;
  e->s = ac_strdup(b->arena, name);
  return e;
}

ac_cexpr *ac_ce_bin(ac_cbuild *b, ac_cop op, ac_cexpr *x, ac_cexpr *y) {
  ac_cexpr *e = node(b, AC_CE_BINARY);
  e->op = op;
  e->a = x;
  e->b = y;
  return e;
}

ac_cexpr *ac_ce_neg(ac_cbuild *b, ac_cexpr *x) {
  if (x->kind == AC_CE_INT && x->i > 0) return ac_ce_int(b, -x->i);
  if (x->kind == AC_CE_FLOAT && !signbit(x->f)) return ac_ce_float(b, -x->f);
  ac_cexpr *e = node(b, AC_CE_UNARY);
  e->op = AC_OP_NEG;
  e->a = x;
  return e;
}

ac_cexpr *ac_ce_index(ac_cbuild *b, ac_cexpr *a, int n, ac_cexpr **idx) {
  ac_cexpr *e = node(b, AC_CE_INDEX);
  e->a = a;
  e->n_args = n;
  e->args = AC_NEW_N(b->arena, ac_cexpr *, n);
  for (int i = 0; i < n; i++) e->args[i] = idx[i];
  return e;
}

static void add_arg(ac_cbuild *b, ac_cexpr *call, const char *kw, ac_cexpr *value) {
  int n = call->n_args;
  ac_cexpr **args = AC_NEW_N(b->arena, ac_cexpr *, n + 1);
  const char **kws = AC_NEW_N(b->arena, const char *, n + 1);
  for (int i = 0; i < n; i++) {
    args[i] = call->args[i];
    kws[i] = call->kw ? call->kw[i] : NULL;
  }
  args[n] = value;
  kws[n] = kw ? ac_strdup(b->arena, kw) : NULL;
  call->args = args;
  call->kw = kws;
  call->n_args = n + 1;
}

ac_cexpr *ac_ce_call(ac_cbuild *b, ac_cexpr *callee, int n, ac_cexpr **args) {
  ac_cexpr *e = node(b, AC_CE_CALL);
  e->a = callee;
  for (int i = 0; i < n; i++) add_arg(b, e, NULL, args[i]);
  return e;
}

ac_cexpr *ac_ce_tl(ac_cbuild *b, const char *name, int n, ...) {
  ac_cexpr *e = node(b, AC_CE_CALL);
  e->a = ac_ce_attr(b, ac_ce_name(b, "tl"), name);
  va_list ap;
  va_start(ap, n);
  for (int i = 0; i < n; i++) add_arg(b, e, NULL, va_arg(ap, ac_cexpr *));
  va_end(ap);
  return e;
}

ac_cexpr *ac_ce_kwarg(ac_cbuild *b, ac_cexpr *call, const char *kw, ac_cexpr *value) {
  add_arg(b, call, kw, value);
  return call;
}

ac_cexpr *ac_ce_parse(ac_cbuild *b, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *text = ac_vsprintf(b->arena, fmt, ap);
  va_end(ap);
  ac_diags d;
  ac_diags_init(&d, b->arena);
  ac_diags_source(&d, "<built expression>", text);
  ac_cexpr *e = ac_craft_parse_expr(b->arena, "<built expression>", text, &d);
  if (!e) {
    ac_diags_print(&d, stderr, false);
    abort();
  }
  return e;
}

ac_cstmt *ac_cb_launch(ac_cbuild *b, const char *kernel, ac_cexpr *cores, int n, ac_cexpr **args) {
  ac_cexpr *callee = ac_ce_index(b, ac_ce_name(b, kernel), 1, &cores);
  return ac_cb_call(b, ac_ce_call(b, callee, n, args));
}

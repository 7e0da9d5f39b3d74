/* Forms of the published style that are more than another name, rewritten before the check into what the language has:
 *
 *   tl.arange(a, b)             a + tl.arange(0, b - a)
 *   torch.empty(n, dtype=...)   tl.empty(n, ...), in the host function
 *   tl.set_scalar(buf, i, v)    tl.duplicate(buf[i], v, count=1), in a compute block of its own
 *   tl.set_scalar(tensor, i, v) the value by way of a buffer of one block, stored
 *   tl.sqrt(scalar) and others  by way of the same buffer: tl.duplicate, tl.vsqrt, tl.extract_scalar
 *   p = buf + k                 p = k, and buf + p wherever p stands: p keeps its offset, as a number
 *   name = None                 nothing, where the name is never read
 *
 * Source: the public expert examples that papers on the language cite (docs/craft.md, "The published style"). */
#include "craft/check.h"

#include <string.h>

enum { HELPER_LANES = 8 }; /* one block of 32 bytes */

typedef struct {
  ac_chk *c;
  ac_cfunc *f;
  const char *helper; /* the buffer of one block; NULL until needed */
  ac_loc helper_loc;
  AC_VEC(ac_cstmt *) hoisted; /* to put before the current statement */
  ac_map *buffers;            /* names that tl.alloc_ub declares */
  ac_map *parts;              /* other names of parts of them -> the buffer's name */
} rewrite;

/* ---- building ---- */

static ac_cexpr *binary(ac_chk *c, ac_cop op, ac_cexpr *x, ac_cexpr *y) {
  ac_cexpr *e = ac_chk_new(c, AC_CE_BINARY, x->loc);
  e->op = op;
  e->a = x;
  e->b = y;
  return e;
}

static ac_cexpr *tl(ac_chk *c, const char *what, ac_loc loc) {
  ac_cexpr *e = ac_chk_new(c, AC_CE_ATTR, loc);
  e->a = ac_chk_new_name(c, "tl", loc);
  e->s = what;
  return e;
}

/* tl.what(args..., count=1) */
static ac_cexpr *one_element(ac_chk *c, const char *what, ac_loc loc, ac_cexpr *x, ac_cexpr *y) {
  ac_cexpr *e = ac_chk_new(c, AC_CE_CALL, loc);
  e->a = tl(c, what, loc);
  e->args = AC_NEW_N(c->a, ac_cexpr *, 3);
  e->kw = AC_NEW_N(c->a, const char *, 3);
  e->args[0] = x;
  e->args[1] = y;
  e->args[2] = ac_chk_new_int(c, 1, loc);
  e->kw[2] = "count";
  e->n_args = 3;
  return e;
}

static ac_cstmt *statement(ac_chk *c, ac_cskind kind, ac_loc loc) {
  ac_cstmt *s = AC_NEW(c->a, ac_cstmt);
  s->kind = kind;
  s->loc = loc;
  return s;
}

static ac_cstmt *expression(ac_chk *c, ac_cexpr *e) {
  ac_cstmt *s = statement(c, AC_CS_EXPR, e->loc);
  s->value = e;
  return s;
}

static ac_cstmt *stage(ac_chk *c, ac_cstage g, ac_cstmt *body) {
  ac_cstmt *s = statement(c, AC_CS_WITH, body->loc);
  s->stage = g;
  s->body = body;
  return s;
}

static ac_cstmt *last_of(ac_cstmt *s) {
  while (s->next) s = s->next;
  return s;
}

/* ---- the helper buffer ---- */

static bool taken_in(const ac_cstmt *s, const char *n) {
  for (; s; s = s->next) {
    if (s->target && s->target->kind == AC_CE_NAME && !strcmp(s->target->s, n)) return true;
    if (taken_in(s->body, n) || taken_in(s->orelse, n)) return true;
  }
  return false;
}

static bool is_param(const ac_cfunc *f, const char *s) {
  for (int i = 0; i < f->n_params; i++)
    if (!strcmp(f->params[i].name, s)) return true;
  return false;
}

static const char *helper(rewrite *r, ac_loc loc) {
  if (r->helper) return r->helper;
  const char *n = "scalar_ub";
  for (int i = 2; is_param(r->f, n) || taken_in(r->f->body, n); i++) n = ac_sprintf(r->c->a, "scalar_ub%d", i);
  r->helper_loc = loc;
  return r->helper = n;
}

static void declare_helper(rewrite *r) {
  if (!r->helper) return;
  ac_chk *c = r->c;
  ac_cexpr *e = ac_chk_new(c, AC_CE_CALL, r->helper_loc);
  e->a = tl(c, "alloc_ub", r->helper_loc);
  e->args = AC_NEW_N(c->a, ac_cexpr *, 2);
  e->kw = AC_NEW_N(c->a, const char *, 2);
  e->args[0] = ac_chk_new_int(c, HELPER_LANES, r->helper_loc);
  e->args[1] = tl(c, "float32", r->helper_loc);
  e->n_args = 2;
  ac_cstmt *s = statement(c, AC_CS_ASSIGN, r->helper_loc);
  s->target = ac_chk_new_name(c, r->helper, r->helper_loc);
  s->value = e;
  s->next = r->f->body;
  r->f->body = s;
}

/* ---- second names of buffers ---- */

/* The buffer that e is a part of; *offset is where it begins, NULL: at 0. */
static const char *part_of(rewrite *r, ac_cexpr *e, ac_cexpr **offset) {
  ac_chk *c = r->c;
  *offset = NULL;
  if (e->kind == AC_CE_NAME && ac_map_has(r->buffers, e->s)) return e->s;
  if (e->kind == AC_CE_NAME && ac_map_has(r->parts, e->s)) {
    *offset = ac_chk_new_name(c, e->s, e->loc);
    return ac_map_get(r->parts, e->s);
  }
  if (e->kind == AC_CE_BINARY && e->op == AC_OP_ADD) {
    ac_cexpr *inner;
    const char *b = part_of(r, e->a, &inner);
    if (b) *offset = inner ? binary(c, AC_OP_ADD, inner, e->b) : e->b;
    return b;
  }
  if (e->kind == AC_CE_INDEX && e->n_args == 1 && e->a->kind == AC_CE_NAME && ac_map_has(r->buffers, e->a->s)) {
    ac_cexpr *i = e->args[0];
    if (i->kind == AC_CE_SLICE && (i->b || i->c)) return NULL;
    *offset = i->kind == AC_CE_SLICE ? i->a : i;
    return e->a->s;
  }
  return NULL;
}

static void find_buffers(rewrite *r, const ac_cstmt *s) {
  for (; s; s = s->next) {
    if (s->kind == AC_CS_ASSIGN && s->target->kind == AC_CE_NAME && ac_chk_is_alloc(s->value))
      ac_map_put(r->buffers, s->target->s, (void *)(uintptr_t)s->target->s);
    find_buffers(r, s->body);
    find_buffers(r, s->orelse);
  }
}

/* Names that only ever stand for parts of one buffer. `bad`: those that have other values, too. */
static void find_parts(rewrite *r, const ac_cstmt *s, ac_map *bad) {
  for (; s; s = s->next) {
    ac_cexpr *offset;
    if (s->kind == AC_CS_FOR) ac_map_put(bad, s->target->s, r);
    if (s->kind == AC_CS_ASSIGN && s->op == AC_OP_NOP && s->target->kind == AC_CE_NAME) {
      const char *n = s->target->s, *b = part_of(r, s->value, &offset), *was = ac_map_get(r->parts, n);
      if (!b || (was && strcmp(was, b) != 0) || ac_map_has(r->buffers, n))
        ac_map_put(bad, n, r);
      else
        ac_map_put(r->parts, n, (void *)(uintptr_t)b);
    }
    find_parts(r, s->body, bad);
    find_parts(r, s->orelse, bad);
  }
}

static void second_names(rewrite *r) {
  ac_map *bad = ac_map_new(r->c->a), *all;
  r->buffers = ac_map_new(r->c->a);
  r->parts = ac_map_new(r->c->a);
  find_buffers(r, r->f->body);
  find_parts(r, r->f->body, bad);
  all = r->parts;
  r->parts = ac_map_new(r->c->a);
  for (size_t i = 0; i < ac_map_len(all); i++)
    if (!ac_map_has(bad, ac_map_key(all, i))) ac_map_put(r->parts, ac_map_key(all, i), ac_map_value(all, i));
}

/* p = buf + k */
static bool assigns_part(rewrite *r, ac_cstmt *s) {
  if (s->kind != AC_CS_ASSIGN || s->target->kind != AC_CE_NAME || !ac_map_has(r->parts, s->target->s)) return false;
  ac_cexpr *offset;
  if (s->op == AC_OP_NOP) {
    (void)part_of(r, s->value, &offset);
    s->value = offset ? offset : ac_chk_new_int(r->c, 0, s->loc);
  }
  return true;
}

/* ---- names that hold nothing ---- */

static bool reads(const ac_cexpr *e, const char *n) {
  if (!e) return false;
  if (e->kind == AC_CE_NAME) return !strcmp(e->s, n);
  for (int i = 0; i < e->n_args; i++)
    if (reads(e->args[i], n)) return true;
  return reads(e->a, n) || reads(e->b, n) || reads(e->c, n);
}

static bool reads_in(const ac_cstmt *s, const char *n) {
  for (; s; s = s->next)
    if (reads(s->value, n) || reads(s->lo, n) || reads(s->hi, n) || reads(s->step, n) || reads_in(s->body, n) ||
        reads_in(s->orelse, n) || (s->op != AC_OP_NOP && reads(s->target, n)))
      return true;
  return false;
}

static void drop_nothing(const rewrite *r, ac_cstmt *s) {
  if (s->kind != AC_CS_ASSIGN || s->target->kind != AC_CE_NAME || s->value->kind != AC_CE_NONE) return;
  if (reads_in(r->f->body, s->target->s)) return;
  s->kind = AC_CS_PASS;
  s->target = s->value = NULL;
}

/* ---- expressions ---- */

/* The name behind `tl.` of a call; NULL if it is none. */
static const char *primitive(const ac_cexpr *e) {
  return e->kind == AC_CE_CALL && e->a->kind == AC_CE_ATTR && e->a->a->kind == AC_CE_NAME && !strcmp(e->a->a->s, "tl")
             ? e->a->s
             : NULL;
}

/* Of tl.arange(a, b) with a that is not 0: a, and the call becomes tl.arange(0, b - a). */
static ac_cexpr *take_start(ac_chk *c, ac_cexpr *e) {
  const char *p = primitive(e);
  if (!p || strcmp(p, "arange") != 0 || e->n_args != 2 || e->kw[0] || e->kw[1]) return NULL;
  ac_cexpr *a = e->args[0], *b = e->args[1];
  if (a->kind == AC_CE_INT && a->i == 0) return NULL;
  bool plus = b->kind == AC_CE_BINARY && b->op == AC_OP_ADD && ac_cexpr_equal(b->a, a); /* a + n: n of them */
  e->args[0] = ac_chk_new_int(c, 0, a->loc);
  e->args[1] = plus ? b->b : binary(c, AC_OP_SUB, b, a);
  return a;
}

static bool allocates(const ac_cstmt *s, const char *n) {
  for (; s; s = s->next)
    if (s->kind == AC_CS_ASSIGN && s->target->kind == AC_CE_NAME && !strcmp(s->target->s, n) &&
        ac_chk_is_alloc(s->value))
      return true;
  return false;
}

static bool is_scalar_function(const ac_cfunc *f, const ac_cexpr *e) {
  static const char *const names[] = {"sqrt", "exp", "log", "rsqrt", "abs", "tanh"};
  const char *p = primitive(e);
  if (!p || e->n_args != 1 || e->kw[0]) return false;
  if (e->args[0]->kind == AC_CE_NAME && allocates(f->body, e->args[0]->s)) return false;
  for (size_t i = 0; i < AC_COUNT(names); i++)
    if (!strcmp(p, names[i])) return true;
  return false;
}

static void visit(rewrite *r, ac_cexpr **at);

static void hoist(rewrite *r, ac_cstmt *s) {
  ac_push(r->c->a, &r->hoisted, s);
}

/* tl.sqrt(x) of a number: two instructions before the statement, and the element that they leave. */
static void scalar_function(rewrite *r, ac_cexpr **at) {
  ac_chk *c = r->c;
  ac_cexpr *e = *at;
  const char *h = helper(r, e->loc), *what = ac_sig_find(primitive(e)).name;
  hoist(r, expression(c, one_element(c, "duplicate", e->loc, ac_chk_new_name(c, h, e->loc), e->args[0])));
  hoist(r, expression(c, one_element(c, what, e->loc, ac_chk_new_name(c, h, e->loc), ac_chk_new_name(c, h, e->loc))));
  e->a->s = "extract_scalar";
  ac_cexpr *x = e->args[0];
  e->args = AC_NEW_N(c->a, ac_cexpr *, 2);
  e->kw = AC_NEW_N(c->a, const char *, 2);
  e->args[0] = ac_chk_new_name(c, h, x->loc);
  e->args[1] = ac_chk_new_int(c, 0, x->loc);
  e->n_args = 2;
}

static bool is_torch_empty(const ac_cexpr *e) {
  return e->kind == AC_CE_CALL && e->a->kind == AC_CE_ATTR && !strcmp(e->a->s, "empty") &&
         e->a->a->kind == AC_CE_NAME && !strcmp(e->a->a->s, "torch");
}

/* torch.empty(n, dtype=torch.float32, device=...): the device says nothing here. */
static void torch_empty(ac_cexpr *e) {
  e->a->a->s = "tl";
  int n = 0;
  for (int i = 0; i < e->n_args; i++) {
    if (e->kw[i] && !strcmp(e->kw[i], "device")) continue;
    ac_cexpr *x = e->args[i];
    if (x->kind == AC_CE_ATTR && x->a->kind == AC_CE_NAME && !strcmp(x->a->s, "torch")) x->a->s = "tl";
    if (x->kind == AC_CE_TUPLE && x->n_args == 1) x = x->args[0];
    e->kw[n] = e->kw[i];
    e->args[n++] = x;
  }
  e->n_args = n;
}

static void visit_parts(rewrite *r, ac_cexpr *e) {
  if (e->a) visit(r, &e->a);
  if (e->b) visit(r, &e->b);
  if (e->c) visit(r, &e->c);
  for (int i = 0; i < e->n_args; i++)
    if (e->args[i]) visit(r, &e->args[i]);
}

static void visit(rewrite *r, ac_cexpr **at) {
  ac_cexpr *e = *at, *of = e->kind == AC_CE_INDEX ? e->a : e;
  ac_cexpr *start = of ? take_start(r->c, of) : NULL;
  visit_parts(r, e);
  const char *base = e->kind == AC_CE_NAME ? ac_map_get(r->parts, e->s) : NULL;
  if (base) {
    *at = binary(r->c, AC_OP_ADD, ac_chk_new_name(r->c, base, e->loc), e);
  } else if (start) {
    visit(r, &start);
    *at = binary(r->c, AC_OP_ADD, start, e);
  } else if (is_torch_empty(e) && !r->f->kernel) {
    torch_empty(e);
  } else if (r->f->kernel && is_scalar_function(r->f, e)) {
    scalar_function(r, at);
  }
}

/* ---- statements ---- */

static bool is_set_scalar(const ac_cstmt *s) {
  const char *p = s->kind == AC_CS_EXPR ? primitive(s->value) : NULL;
  return p && !strcmp(p, "set_scalar") && s->value->n_args == 3 && !s->value->kw[0] && !s->value->kw[1] &&
         !s->value->kw[2];
}

static bool is_tensor(const ac_cfunc *f, const ac_cexpr *e) {
  return e->kind == AC_CE_NAME && is_param(f, e->s);
}

/* tl.duplicate(buf[i], v, count=1) of tl.set_scalar(buf, i, v) */
static void set_element(ac_chk *c, ac_cstmt *s) {
  ac_cexpr *e = s->value, *part = e->args[0], *i = e->args[1];
  if (i->kind != AC_CE_INT || i->i) {
    part = ac_chk_new(c, AC_CE_INDEX, e->loc);
    part->a = e->args[0];
    part->args = AC_NEW(c->a, ac_cexpr *);
    part->kw = AC_NEW(c->a, const char *);
    part->args[0] = i;
    part->n_args = 1;
  }
  s->value = one_element(c, "duplicate", e->loc, part, e->args[2]);
}

/* Behind w: `rest` in a block of its own, of stage g. */
static void add_block(rewrite *r, ac_cstmt *w, ac_cstage g, ac_cstmt *rest) {
  if (!rest) return;
  ac_cstmt *more = stage(r->c, g, rest);
  more->tail_comments = w->tail_comments;
  w->tail_comments = (ac_strvec){0};
  more->next = w->next;
  w->next = more;
}

/* A stage block whose body begins with tl.set_scalar: that becomes a compute block, and a block that stores; the rest follows. */
static void split_block(rewrite *r, ac_cstmt *w) {
  ac_chk *c = r->c;
  ac_cstmt *s = w->body;
  ac_cexpr *e = s->value, *to = e->args[0];
  add_block(r, w, w->stage, s->next);
  s->next = NULL;
  w->stage = AC_STAGE_COMPUTE;
  if (!is_tensor(r->f, to)) {
    set_element(c, s);
    return;
  }
  const char *h = helper(r, e->loc);
  s->value = one_element(c, "duplicate", e->loc, ac_chk_new_name(c, h, e->loc), e->args[2]);
  ac_cexpr *store =
      one_element(c, "store", e->loc, binary(c, AC_OP_ADD, to, e->args[1]), ac_chk_new_name(c, h, e->loc));
  add_block(r, w, AC_STAGE_COPYOUT, expression(c, store));
}

/* Of a stage block: tl.set_scalar gets blocks of its own where it cannot stay. */
static void set_scalars(rewrite *r, ac_cstmt *w) {
  for (ac_cstmt *s = w->body, *before = NULL; s; before = s, s = s->next) {
    if (!is_set_scalar(s)) continue;
    if (w->stage == AC_STAGE_COMPUTE && !is_tensor(r->f, s->value->args[0])) continue;
    if (!before) {
      split_block(r, w);
      return;
    }
    before->next = NULL; /* the blocks that follow are looked at in their turn */
    add_block(r, w, w->stage, s);
    return;
  }
}

/* What the statement's own expressions need before it, in a compute block if none is open. */
static void place_hoisted(rewrite *r, ac_cstmt **at, ac_cstage in) {
  if (!r->hoisted.len) return;
  ac_cstmt *s = *at, *first = r->hoisted.data[0];
  for (size_t i = 0; i + 1 < r->hoisted.len; i++) r->hoisted.data[i]->next = r->hoisted.data[i + 1];
  r->hoisted.len = 0;
  if (in != AC_STAGE_COMPUTE) first = stage(r->c, AC_STAGE_COMPUTE, first);
  first->comments = s->comments;
  s->comments = (ac_strvec){0};
  last_of(first)->next = s;
  *at = first;
}

static void visit_list(rewrite *r, ac_cstmt **at, ac_cstage in) {
  while (*at) {
    ac_cstmt *s = *at;
    if (r->f->kernel && s->kind == AC_CS_WITH) set_scalars(r, s);
    if (in == AC_STAGE_COMPUTE && is_set_scalar(s) && !is_tensor(r->f, s->value->args[0])) set_element(r->c, s);
    drop_nothing(r, s);
    bool number_of_part = assigns_part(r, s); /* its names stand for numbers already */
    if (s->value && s->kind != AC_CS_WHILE && !number_of_part) visit(r, &s->value);
    if (s->lo) visit(r, &s->lo);
    if (s->hi) visit(r, &s->hi);
    if (s->step) visit(r, &s->step);
    place_hoisted(r, at, in);
    visit_list(r, &s->body, s->kind == AC_CS_WITH ? s->stage : in);
    visit_list(r, &s->orelse, in);
    at = &s->next;
  }
}

void ac_chk_published(ac_chk *c) {
  for (size_t i = 0; i < c->m->funcs.len; i++) {
    rewrite r = {.c = c, .f = c->m->funcs.data[i]};
    if (r.f->kernel) second_names(&r);
    if (!r.parts) r.parts = ac_map_new(c->a);
    visit_list(&r, &r.f->body, AC_STAGE_NONE);
    declare_helper(&r);
  }
}

/* Names that the published style has and this language does not have yet; NULL: another. */
const char *ac_chk_cube_name(const char *s) {
  static const char *const names[] = {"alloc_l1", "alloc_l0a", "alloc_l0b", "alloc_l0c", "gemm_v0",
                                      "gemm",     "mmad",      "matmul",    "dot"};
  for (size_t i = 0; i < AC_COUNT(names); i++)
    if (!strcmp(names[i], s)) return names[i];
  return NULL;
}

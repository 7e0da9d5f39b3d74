/* Control flow of a function, after its walk: barriers that all blocks reach, loops that end, loops over single elements. */
#include "craft/check.h"

#include <string.h>

typedef struct {
  ac_chk *c;
  const ac_finfo *f;
  bool *varies; /* names whose value may differ from block to block */
  bool changed;
} look;

static bool is_prim(const ac_cexpr *e, ac_cprim p) {
  return e && e->kind == AC_CE_CALL && e->prim == p;
}

/* `name = ...`, or `name += ...` */
static bool sets(const ac_cstmt *s, const char *name) {
  return s->kind == AC_CS_ASSIGN && s->target->kind == AC_CE_NAME && !strcmp(s->target->s, name);
}

/* ---- what differs from block to block ---- */

static bool differs(const look *l, const ac_cexpr *e) {
  if (!e) return false;
  if (is_prim(e, AC_P_PROGRAM_ID) || is_prim(e, AC_P_EXTRACT_SCALAR)) return true;
  if (e->kind == AC_CE_NAME) {
    int i = ac_chk_var(l->f, e->s);
    return i >= 0 && l->varies[i];
  }
  for (int i = 0; i < e->n_args; i++)
    if (differs(l, e->args[i])) return true;
  return (e->kind != AC_CE_CALL && differs(l, e->a)) || differs(l, e->b) || differs(l, e->c);
}

static void mark(look *l, const ac_cexpr *target) {
  int i = target->kind == AC_CE_NAME ? ac_chk_var(l->f, target->s) : -1;
  if (i < 0 || l->varies[i]) return;
  l->varies[i] = l->changed = true;
}

static void spread(look *l, const ac_cstmt *s, bool apart) {
  for (; s; s = s->next) {
    bool inside = apart;
    if (s->kind == AC_CS_ASSIGN && s->target->kind == AC_CE_TUPLE) {
      for (int i = 0; i < s->target->n_args; i++)
        if (apart || differs(l, s->value)) mark(l, s->target->args[i]);
    } else if (s->kind == AC_CS_ASSIGN) {
      if (apart || differs(l, s->value)) mark(l, s->target);
    } else if (s->kind == AC_CS_FOR) {
      inside = apart || differs(l, s->lo) || differs(l, s->hi) || differs(l, s->step);
      if (inside) mark(l, s->target);
    } else if (s->kind == AC_CS_IF || s->kind == AC_CS_WHILE) {
      inside = apart || differs(l, s->value);
    }
    spread(l, s->body, inside);
    spread(l, s->orelse, inside);
  }
}

/* ---- barriers ---- */

static bool has_barrier(const ac_cstmt *s) {
  for (; s; s = s->next)
    if ((s->kind == AC_CS_EXPR && is_prim(s->value, AC_P_SYNC_ALL)) || has_barrier(s->body) || has_barrier(s->orelse))
      return true;
  return false;
}

/* Where some blocks may leave the kernel, or the loop (`breaks`), and others not. */
static const ac_cstmt *leaves(const look *l, const ac_cstmt *s, bool apart, bool breaks) {
  for (; s; s = s->next) {
    if (apart && (s->kind == AC_CS_RETURN || (breaks && s->kind == AC_CS_BREAK))) return s;
    bool inside = apart || ((s->kind == AC_CS_IF || s->kind == AC_CS_WHILE) && differs(l, s->value)) ||
                  (s->kind == AC_CS_FOR && (differs(l, s->lo) || differs(l, s->hi)));
    bool loop = s->kind == AC_CS_FOR || s->kind == AC_CS_WHILE;
    const ac_cstmt *x = leaves(l, s->body, inside, breaks && !loop);
    if (!x) x = leaves(l, s->orelse, inside, breaks && !loop);
    if (x) return x;
  }
  return NULL;
}

/* All launches of the kernel in these statements are of one block. */
static bool one_block(const ac_cmodule *m, const ac_cstmt *s, const ac_cfunc *k) {
  for (; s; s = s->next) {
    const ac_cexpr *cores = ac_craft_launch_kernel(m, s) == k ? ac_craft_launch_cores(s) : NULL;
    if (cores && !(cores->kind == AC_CE_INT && cores->i == 1)) return false;
    if (!one_block(m, s->body, k) || !one_block(m, s->orelse, k)) return false;
  }
  return true;
}

/* `tl.program_id(0) == n`, or a name that holds it: with two blocks or more, one at most goes there. */
static bool picks_one(const look *l, const ac_cexpr *e) {
  if (!e || e->kind != AC_CE_BINARY || (e->op != AC_OP_EQ && e->op != AC_OP_NE)) return false;
  for (int side = 0; side < 2; side++) {
    const ac_cexpr *x = side ? e->b : e->a, *y = side ? e->a : e->b;
    if (differs(l, y)) continue;
    if (is_prim(x, AC_P_PROGRAM_ID)) return true;
    int i = x->kind == AC_CE_NAME ? ac_chk_var(l->f, x->s) : -1, n = 0;
    bool holds = false;
    for (const ac_cstmt *s = l->f->f->body; i >= 0 && s; s = s->next)
      if (sets(s, x->s)) n++, holds = is_prim(s->value, AC_P_PROGRAM_ID);
    if (n == 1 && holds) return true;
  }
  return false;
}

static void barrier(const look *l, const ac_cstmt *s, const ac_cstmt *why) {
  bool certain = why->kind == AC_CS_IF && picks_one(l, why->value);
  ac_diag *g = certain
                   ? ac_error(l->c->diags, AC0561, s->loc,
                              "tl.sync_all() waits for all blocks, and only some of them get here: the device waits "
                              "for ever")
                   : ac_warn(l->c->diags, AC0561, s->loc,
                             "tl.sync_all() waits for all blocks: that all of them get here is not proved");
  if (why->kind == AC_CS_RETURN || why->kind == AC_CS_BREAK)
    ac_note(l->c->diags, g, why->loc, "some blocks may leave here");
  else
    ac_note(l->c->diags, g, why->loc, "this differs from block to block");
  ac_help(l->c->diags, g, "put tl.sync_all() outside of the branch, and the work of idle blocks under an `if`");
}

static void barriers(const look *l, const ac_cstmt *s, const ac_cstmt *why) {
  for (; s; s = s->next) {
    if (s->kind == AC_CS_EXPR && is_prim(s->value, AC_P_SYNC_ALL)) {
      if (why) barrier(l, s, why);
      continue;
    }
    const ac_cstmt *inside = why;
    bool loop = s->kind == AC_CS_FOR || s->kind == AC_CS_WHILE;
    if (!inside && ((s->kind == AC_CS_IF || s->kind == AC_CS_WHILE) ? differs(l, s->value)
                    : s->kind == AC_CS_FOR ? differs(l, s->lo) || differs(l, s->hi) || differs(l, s->step)
                                           : false))
      inside = s;
    if (!inside && loop) inside = leaves(l, s->body, false, true); /* others go on without those that left */
    barriers(l, s->body, inside);
    barriers(l, s->orelse, inside);
    if (!why) { /* what follows lacks the blocks that left here */
      ac_cstmt alone = *s;
      alone.next = NULL;
      why = leaves(l, &alone, false, false);
    }
  }
}

/* ---- loops that end ---- */

/* How often the statements assign the name. */
static int assignments(const ac_cstmt *s, const char *name) {
  int n = 0;
  for (; s; s = s->next) {
    bool here = sets(s, name) || (s->kind == AC_CS_FOR && !strcmp(s->target->s, name));
    for (int i = 0; s->kind == AC_CS_ASSIGN && s->target->kind == AC_CE_TUPLE && i < s->target->n_args; i++)
      here = here || !strcmp(s->target->args[i]->s, name);
    n += here + assignments(s->body, name) + assignments(s->orelse, name);
  }
  return n;
}

/* So often this statement does, with what is in it. */
static int assignments_of(const ac_cstmt *s, const char *name) {
  ac_cstmt alone = *s;
  alone.next = NULL;
  return assignments(&alone, name);
}

static bool constant_in(const ac_cstmt *body, const ac_cexpr *e) {
  if (!e) return true;
  if (is_prim(e, AC_P_EXTRACT_SCALAR)) return false;
  if (e->kind == AC_CE_NAME) return !assignments(body, e->s);
  for (int i = 0; i < e->n_args; i++)
    if (!constant_in(body, e->args[i])) return false;
  return (e->kind == AC_CE_CALL || constant_in(body, e->a)) && constant_in(body, e->b) && constant_in(body, e->c);
}

/* The value of a constant, or of a name that keeps its value through the function: a parameter, or set once at the function's top. */
static ac_sym *kept(const look *l, const ac_cexpr *e) {
  if (e->kind == AC_CE_INT) return ac_sy_int(&l->c->s, e->i);
  int i = e->kind == AC_CE_NAME && e->type == AC_CT_INT ? ac_chk_var(l->f, e->s) : -1;
  if (i < 0) return NULL;
  int n = assignments(l->f->f->body, e->s), param = l->f->v.data[i].param;
  if (param >= 0) return n ? NULL : l->f->param_syms[param];
  for (const ac_cstmt *s = l->f->f->body; n == 1 && s; s = s->next)
    if (sets(s, e->s)) return ac_chk_get(l->c->st, i)->set == AC_SET ? ac_chk_get(l->c->st, i)->v.sym : NULL;
  return NULL;
}

/* `i //= 2` (AC_OP_FLOORDIV) or `i *= 2` (AC_OP_MUL) at the top of the body, by 2 or more, and no other assignment there. */
static bool scales(const ac_cstmt *body, const char *name, ac_cop op) {
  bool found = false;
  for (const ac_cstmt *s = body; s; s = s->next) {
    if (!assignments_of(s, name)) continue;
    if (s->kind != AC_CS_ASSIGN || s->target->kind != AC_CE_NAME || found) return false;
    const ac_cexpr *v = s->value, *by = v;
    if (s->op == AC_OP_NOP) {
      if (v->kind != AC_CE_BINARY || v->op != op || v->a->kind != AC_CE_NAME || strcmp(v->a->s, name) != 0)
        return false;
      by = v->b;
    } else if (s->op != op) {
      return false;
    }
    if (by->kind != AC_CE_INT || by->i < 2) return false;
    found = true;
  }
  return found;
}

/* Set once outside of the loop, at the top of the function, to a positive constant. */
static bool starts_positive(const look *l, const ac_cexpr *i) {
  if (assignments(l->f->f->body, i->s) != 2) return false;
  for (const ac_cstmt *s = l->f->f->body; s; s = s->next)
    if (s->op == AC_OP_NOP && sets(s, i->s)) return s->value->kind == AC_CE_INT && s->value->i > 0;
  return false;
}

/* By how much each trip moves the name: one step at the top of the body, and no other assignment. 0: not known. A step by a
 * parameter is 1 or -1 here, and *by says that it must be positive. */
static int64_t step_of(const look *l, const ac_cstmt *body, const char *name, ac_sym **must) {
  int64_t step = 0;
  for (const ac_cstmt *s = body; s; s = s->next) {
    if (sets(s, name)) {
      const ac_cexpr *by = s->value;
      bool minus = s->op == AC_OP_SUB;
      if (s->op == AC_OP_NOP) { /* i = i + 1 */
        if (by->kind != AC_CE_BINARY || (by->op != AC_OP_ADD && by->op != AC_OP_SUB)) return 0;
        if (by->a->kind != AC_CE_NAME || strcmp(by->a->s, name) != 0) return 0;
        minus = by->op == AC_OP_SUB;
        by = by->b;
      } else if (s->op != AC_OP_ADD && s->op != AC_OP_SUB) {
        return 0;
      }
      ac_sym *p = kept(l, by);
      if (step || (by->kind == AC_CE_INT ? !by->i : !p)) return 0;
      step = by->kind == AC_CE_INT ? by->i : 1;
      step = minus ? -step : step;
      *must = by->kind == AC_CE_INT ? NULL : p;
    } else if (assignments_of(s, name)) {
      return 0;
    }
  }
  return step;
}

static ac_cop turned(ac_cop op, bool swap, bool negate) {
  static const ac_cop other[] = {
      [AC_OP_LT] = AC_OP_GT, [AC_OP_LE] = AC_OP_GE, [AC_OP_GT] = AC_OP_LT, [AC_OP_GE] = AC_OP_LE};
  static const ac_cop not_it[] = {
      [AC_OP_LT] = AC_OP_GE, [AC_OP_LE] = AC_OP_GT, [AC_OP_GT] = AC_OP_LE, [AC_OP_GE] = AC_OP_LT};
  if (op < AC_OP_LT || op > AC_OP_GE) return op;
  if (swap) op = other[op];
  return negate ? not_it[op] : op;
}

/* The loop goes on only while the condition holds (`negate`: fails), and a counter drives it to its end. */
static bool bounds(const look *l, const ac_cstmt *body, const ac_cexpr *e, bool negate, ac_sym **must) {
  if (e->kind == AC_CE_UNARY && e->op == AC_OP_NOT) return bounds(l, body, e->a, !negate, must);
  if (e->kind != AC_CE_BINARY) return false;
  if (e->op == (negate ? AC_OP_OR : AC_OP_AND)) {
    return bounds(l, body, e->a, negate, must) || bounds(l, body, e->b, negate, must);
  }
  if (e->op < AC_OP_LT || e->op > AC_OP_GE) return false;
  for (int side = 0; side < 2; side++) {
    const ac_cexpr *i = side ? e->b : e->a, *n = side ? e->a : e->b;
    if (i->kind != AC_CE_NAME || i->type != AC_CT_INT || !constant_in(body, n)) continue;
    int64_t step = step_of(l, body, i->s, must);
    ac_cop op = turned(e->op, side, negate);
    if (((op == AC_OP_LT || op == AC_OP_LE) && step > 0) || ((op == AC_OP_GT || op == AC_OP_GE) && step < 0))
      return true;
    ac_sym *end = kept(l, n), *least = ac_sy_int(&l->c->s, op == AC_OP_GE ? 1 : 0);
    if ((op == AC_OP_GT || op == AC_OP_GE) && scales(body, i->s, AC_OP_FLOORDIV) && end &&
        ac_sy_le(&l->c->s, least, end, NULL))
      return true;
    if ((op == AC_OP_LT || op == AC_OP_LE) && scales(body, i->s, AC_OP_MUL) && starts_positive(l, i)) return true;
  }
  return false;
}

/* An `if i >= n: break` at the top of the body. */
static bool left_by_counter(const look *l, const ac_cstmt *body, ac_sym **must) {
  for (const ac_cstmt *s = body; s; s = s->next) {
    if (s->kind != AC_CS_IF || s->orelse) continue;
    const ac_cstmt *x = s->body;
    while (x && x->next) x = x->next;
    if (x && (x->kind == AC_CS_BREAK || x->kind == AC_CS_RETURN) && bounds(l, body, s->value, true, must))
      return true;
  }
  return false;
}

static void loop_end(const look *l, const ac_cstmt *s) {
  ac_sym *must = NULL;
  if (bounds(l, s->body, s->value, false, &must) || left_by_counter(l, s->body, &must)) {
    if (!must) return;
    ac_oblig o = {.x = ac_sy_int(&l->c->s, 1), .y = must, .code = AC0562, .loc = s->loc};
    if (ac_chk_settled(l->c, &o)) return;
    o.refuted = ac_sprintf(l->c->a, "this loop never ends: it moves by %s, which is not positive",
                           ac_sy_text(&l->c->s, must));
    o.unknown =
        ac_sprintf(l->c->a, "this loop ends only where %s, by which it moves, is positive: that is not proved",
                   ac_sy_text(&l->c->s, must));
    o.help = "bound it in the host function: max(1, ...)";
    ac_chk_unsettled(l->c, o);
    return;
  }
  ac_diag *g = ac_warn(l->c->diags, AC0562, s->loc, "that this loop ends is not proved: `while %s`",
                       ac_cexpr_text(l->c->a, s->value));
  ac_help(l->c->diags, g,
          "bound it by a counter: `trip = 0`, `while trip < 100 and ...:`, and `trip += 1` in its body");
}

/* ---- loops over single elements ---- */

static const ac_cexpr *element_at(const ac_cexpr *e, const char *name) {
  if (!e) return NULL;
  if (is_prim(e, AC_P_EXTRACT_SCALAR) && e->n_args > 1 && e->args[0] && e->args[0]->type == AC_CT_BUFFER) {
    const ac_cexpr *at = e->args[1];
    if (at && at->kind == AC_CE_NAME && !strcmp(at->s, name)) return e;
    if (at && at->kind == AC_CE_BINARY && at->a->kind == AC_CE_NAME && !strcmp(at->a->s, name)) return e;
  }
  const ac_cexpr *r = e->kind == AC_CE_CALL ? NULL : element_at(e->a, name);
  if (!r) r = element_at(e->b, name);
  if (!r) r = element_at(e->c, name);
  for (int i = 0; !r && i < e->n_args; i++) r = element_at(e->args[i], name);
  return r;
}

/* Scalar statements only: a loop that computes on buffers goes by rows, and its scalars are one a row. */
static bool only_scalars(const ac_cstmt *s) {
  for (; s; s = s->next) {
    if (s->kind == AC_CS_EXPR && !is_prim(s->value, AC_P_EXTRACT_SCALAR)) return false;
    if (s->kind == AC_CS_FOR || s->kind == AC_CS_WHILE) return false;
    if (!only_scalars(s->body) || !only_scalars(s->orelse)) return false;
  }
  return true;
}

static const ac_cexpr *element_in(const ac_cstmt *s, const char *name) {
  for (; s; s = s->next) {
    const ac_cexpr *e = element_at(s->value, name);
    if (!e) e = element_in(s->body, name);
    if (!e) e = element_in(s->orelse, name);
    if (e) return e;
  }
  return NULL;
}

static void scalar_loop(const look *l, const ac_cstmt *s) {
  if (!s->step || s->step->kind != AC_CE_INT || s->step->i != 1 || !only_scalars(s->body)) return;
  const ac_cexpr *e = element_in(s->body, s->target->s);
  if (!e) return;
  const char *name = e->args[0]->buffer ? e->args[0]->buffer->name : "buffer";
  ac_diag *g = ac_warn(l->c->diags, AC0563, s->loc,
                       "one element of '%s' a trip: every trip waits for the vector unit, which would do all of them "
                       "at once",
                       name);
  ac_note(l->c->diags, g, e->loc, "here");
  ac_help(l->c->diags, g,
          "the vector form: tl.v...(dst, %s, ...) element by element, tl.reduce_sum(dst, %s, work), "
          "tl.reduce_max or tl.reduce_min for one result",
          name, name);
}

static void loops(const look *l, const ac_cstmt *s) {
  for (; s; s = s->next) {
    if (s->kind == AC_CS_WHILE) loop_end(l, s);
    if (s->kind == AC_CS_FOR && l->f->f->kernel) scalar_loop(l, s);
    loops(l, s->body);
    loops(l, s->orelse);
  }
}

void ac_chk_control(ac_chk *c, const ac_finfo *f) {
  if (c->diags->errors) return; /* the tree may lack what is looked for */
  ac_kstate end = *c->st;       /* what is known at the end need not hold inside */
  end.dead = false;
  end.facts = NULL;
  c->st = &end;
  look l = {.c = c, .f = f, .varies = AC_NEW_N(c->a, bool, f->v.len + 1)};
  loops(&l, f->f->body);
  c->st = NULL;
  if (!f->f->kernel || !has_barrier(f->f->body) || one_block(c->m, ac_craft_host(c->m)->body, f->f)) return;
  do {
    l.changed = false;
    spread(&l, f->f->body, false);
  } while (l.changed);
  barriers(&l, f->f->body, NULL);
}

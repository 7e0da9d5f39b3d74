/* Lives of buffers, and which of them may take the same bytes of UB.
 *
 * Statements are numbered as they stand. A buffer lives from its first access to its last; a loop that it lives across, or that
 * hands its value from one trip to the next, belongs to its life as a whole. A value is not handed on where the first access in the
 * loop is a write of the buffer from element 0, on every path, of nothing that reads it: what else the buffer holds is beyond its
 * extent then, and not to be read.
 *
 * Only buffers that no copy touches share: the vector unit and the scalar reads that wait for it take their turns in order, so a new
 * tenant needs no further synchronisation. Buffers of a group have sizes that are comparable for every shape; the largest is the
 * `home` of the others. */
#include "craft/check.h"

#include <string.h>

typedef struct {
  int first, last; /* -1: never touched */
} life;
typedef struct {
  int start, end;
  bool *carried; /* by buffer: its value goes from trip to trip */
} loop;
typedef struct {
  ac_chk *c;
  const ac_finfo *k;
  int now;
  life *b;
  AC_VEC(loop) loops;
  AC_VEC(const ac_cstmt *) at; /* the statement of each number */
} lives;

/* ---- accesses ---- */

static bool uses(const ac_cexpr *e, const ac_cbuffer *b) {
  if (!e) return false;
  if (e->buffer == b && e->type == AC_CT_BUFFER) return true;
  if (uses(e->a, b) || uses(e->b, b) || uses(e->c, b) || uses(e->offset, b)) return true;
  for (int i = 0; i < e->n_args; i++)
    if (uses(e->args[i], b)) return true;
  if (!e->tile) return false;
  for (int i = 0; i < e->tile->rank; i++)
    if (uses(e->tile->axis[i].extent, b) || uses(e->tile->axis[i].stride, b) || uses(e->tile->axis[i].index, b))
      return true;
  return uses(e->tile->base, b);
}
/* In its own expressions. */
static bool in_head(const ac_cstmt *s, const ac_cbuffer *b) {
  return uses(s->value, b) || uses(s->lo, b) || uses(s->hi, b) || uses(s->step, b);
}
static bool in_list(const ac_cstmt *first, const ac_cbuffer *b);
static bool in_statement(const ac_cstmt *s, const ac_cbuffer *b) {
  return in_head(s, b) || in_list(s->body, b) || in_list(s->orelse, b);
}
static bool in_list(const ac_cstmt *first, const ac_cbuffer *b) {
  for (const ac_cstmt *s = first; s; s = s->next)
    if (in_statement(s, b)) return true;
  return false;
}

/* The call writes the buffer from its start and does not read it. */
static bool defines(const ac_cexpr *e, const ac_cbuffer *b) {
  if (!e || e->kind != AC_CE_CALL || !e->n_args || !e->args[0]) return false;
  bool inst = e->prim == AC_P_INST;
  bool reduces = inst && ac_insts[e->inst].form == AC_FORM_REDUCE;
  int work = reduces ? 2 : -1; /* scratch: written before it is read */
  int to = work > 0 && e->args[work] && e->args[work]->buffer == b && e->args[0]->buffer != b ? work : 0;
  int second = ac_cprim_second(e->prim);
  if (second > 0 && e->args[second] && e->args[second]->buffer == b && e->args[0]->buffer != b) to = second;
  if (e->args[to]->kind != AC_CE_NAME || e->args[to]->buffer != b)
    return false;                                                              /* a part leaves the rest as it was */
  if (e->prim == AC_P_INSERT_SCALAR || e->prim == AC_P_COMPRESS) return false; /* the rest stays as it was */
  if (e->prim == AC_P_EXTRACT_SCALAR || (inst && (ac_insts[e->inst].flags & AC_INST_DST_IN))) return false;
  for (int i = 0; i < e->n_args; i++)
    if (i != to && i != work && uses(e->args[i], b)) return false;
  return true;
}

typedef enum { PASSED_BY, DEFINED, READ } opening;

/* How the paths through the list begin with the buffer: DEFINED on all of them, READ on one, else PASSED_BY on some. */
static opening begins(const ac_cstmt *first, const ac_cbuffer *b) {
  for (const ac_cstmt *s = first; s; s = s->next) {
    if (!in_statement(s, b)) continue;
    if (s->kind == AC_CS_EXPR) return defines(s->value, b) ? DEFINED : READ;
    if (in_head(s, b)) return READ;
    opening x = begins(s->body, b), y = begins(s->orelse, b);
    if (x == READ || y == READ) return READ;
    if (x == DEFINED && (s->kind == AC_CS_WITH || (s->kind == AC_CS_IF && y == DEFINED))) return DEFINED;
  }
  return PASSED_BY;
}

/* ---- the walk ---- */

static void touch(lives *l, const ac_cstmt *s) {
  for (size_t i = 0; i < l->k->f->buffers.len; i++) {
    if (!in_head(s, l->k->f->buffers.data[i])) continue;
    if (l->b[i].first < 0) l->b[i].first = l->now;
    l->b[i].last = l->now;
  }
}

static void list(lives *l, const ac_cstmt *first) {
  for (const ac_cstmt *s = first; s; s = s->next) {
    bool repeats = s->kind == AC_CS_FOR || s->kind == AC_CS_WHILE;
    int start = l->now;
    bool *carried = NULL;
    if (repeats) {
      carried = AC_NEW_N(l->c->a, bool, l->k->f->buffers.len + 1);
      for (size_t i = 0; i < l->k->f->buffers.len; i++) {
        const ac_cbuffer *b = l->k->f->buffers.data[i];
        carried[i] = (s->kind == AC_CS_WHILE && uses(s->value, b)) || begins(s->body, b) == READ;
      }
    }
    ac_push(l->c->a, &l->at, s);
    if (!s->value || !ac_chk_is_alloc(s->value)) touch(l, s);
    l->now++;
    list(l, s->body);
    list(l, s->orelse);
    if (!repeats) continue;
    loop x = {start, l->now - 1, carried};
    ac_push(l->c->a, &l->loops, x);
  }
}

/* Inner loops come first in the list; what they stretch may reach an outer one, which comes later. */
static void stretch(lives *l) {
  for (size_t i = 0; i < l->loops.len; i++)
    for (size_t j = 0; j < l->k->f->buffers.len; j++) {
      const loop *x = &l->loops.data[i];
      life *b = &l->b[j];
      if (b->first < 0 || b->last < x->start || b->first > x->end) continue;
      bool inside = b->first >= x->start && b->last <= x->end;
      if (inside && !x->carried[j]) continue;
      if (x->start < b->first) b->first = x->start;
      if (x->end > b->last) b->last = x->end;
    }
}

/* ---- sharing ---- */

/* a takes at least as many bytes as b, whatever the shape. */
static bool holds(const lives *l, size_t a, size_t b) {
  int64_t block_a, block_b;
  ac_sym *d = ac_sy_sub(&l->c->s, ac_chk_bytes(l->c, l->k, a, &block_a), ac_chk_bytes(l->c, l->k, b, &block_b));
  return ac_sy_nonneg(&l->c->s, d, NULL);
}

/* The lives meet in one instruction that may work in place: it reads the one for the last time while it makes the other. */
static bool in_place(const lives *l, size_t from, size_t to) {
  if (l->b[from].last != l->b[to].first) return false;
  const ac_cstmt *s = l->at.data[l->b[to].first];
  const ac_cbuffer *x = l->k->f->buffers.data[from], *y = l->k->f->buffers.data[to];
  const ac_cexpr *e = s->value;
  if (s->kind != AC_CS_EXPR || x->dtype != y->dtype || !defines(e, y) || e->prim != AC_P_INST) return false;
  if (!(ac_insts[e->inst].flags & AC_INST_INPLACE)) return false;
  for (int i = 1; i < e->n_args; i++)
    if (e->args[i] && uses(e->args[i], x) && e->args[i]->kind != AC_CE_NAME) return false;
  return true;
}

static bool meet(const lives *l, size_t i, size_t j) {
  if (l->b[j].first > l->b[i].last || l->b[i].first > l->b[j].last) return false;
  return !in_place(l, i, j) && !in_place(l, j, i);
}

/* Buffer i may join those that live at `home`. */
static bool may_join(const lives *l, size_t home, size_t i, bool *larger) {
  const ac_finfo *k = l->k;
  if ((k->f->buffers.data[home]->dtype == AC_MASK) != (k->f->buffers.data[i]->dtype == AC_MASK)) return false;
  for (size_t j = 0; j < k->f->buffers.len; j++) {
    const ac_cbuffer *b = k->f->buffers.data[j];
    if (j != home && b->home != k->f->buffers.data[home]) continue;
    if (meet(l, i, j)) return false;
  }
  *larger = !holds(l, home, i);
  return !*larger || holds(l, i, home);
}

static void move_in(const lives *l, size_t home, size_t i, bool larger) {
  const ac_finfo *k = l->k;
  if (!larger) {
    k->f->buffers.data[i]->home = k->f->buffers.data[home];
    return;
  }
  for (size_t j = 0; j < k->f->buffers.len; j++)
    if (j == home || k->f->buffers.data[j]->home == k->f->buffers.data[home])
      k->f->buffers.data[j]->home = k->f->buffers.data[i];
}

static void share(const lives *l, size_t i) {
  const ac_finfo *k = l->k;
  for (size_t h = 0; h < k->f->buffers.len; h++) {
    const ac_cbuffer *b = k->f->buffers.data[h];
    bool larger;
    if (h == i || !b->shares || b->home || l->b[h].first > l->b[i].first || !may_join(l, h, i, &larger)) continue;
    move_in(l, h, i, larger);
    return;
  }
}

void ac_chk_lives(ac_chk *c, const ac_finfo *k) {
  size_t n = k->f->buffers.len;
  lives l = {.c = c, .k = k, .b = AC_NEW_N(c->a, life, n + 1)};
  for (size_t i = 0; i < n; i++) l.b[i] = (life){-1, -1};
  list(&l, k->f->body);
  stretch(&l);
  for (size_t i = 0; i < n; i++) {
    ac_cbuffer *b = k->f->buffers.data[i];
    b->home = NULL;
    b->shares = b->computed && !b->loaded && !b->stored && !b->pinned && l.b[i].first >= 0;
    if (l.b[i].first < 0) continue;
    b->from = l.at.data[l.b[i].first]->loc;
    b->to = l.at.data[l.b[i].last]->loc;
  }
  for (int now = 0; now < l.now; now++) /* in the order in which they come to life */
    for (size_t i = 0; i < n; i++)
      if (k->f->buffers.data[i]->shares && l.b[i].first == now) share(&l, i);
}

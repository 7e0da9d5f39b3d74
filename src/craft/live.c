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
  size_t newest; /* of a home: who joined last; itself at first */
  size_t before; /* of a member: who joined before it; NOBODY: it is the first */
  int most;      /* of a member: the last statement of its life and of those before it */
} group;
#define NOBODY SIZE_MAX
typedef struct {
  ac_chk *c;
  const ac_finfo *k;
  int now;
  life *b;
  AC_VEC(loop) loops;
  AC_VEC(const ac_cstmt *) at; /* the statement of each number */
  struct openings *spare;
  group *g;             /* by buffer */
  AC_VEC(size_t) homes; /* buffers that have begun and live at no other's place, by number */
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
/* Calls f for every buffer that the expression uses, as often as it does. */
static void each_use(const ac_cexpr *e, void (*f)(void *, const ac_cbuffer *), void *user) {
  if (!e) return;
  if (e->buffer && e->type == AC_CT_BUFFER) f(user, e->buffer);
  each_use(e->a, f, user);
  each_use(e->b, f, user);
  each_use(e->c, f, user);
  each_use(e->offset, f, user);
  for (int i = 0; i < e->n_args; i++) each_use(e->args[i], f, user);
  if (!e->tile) return;
  for (int i = 0; i < e->tile->rank; i++) {
    each_use(e->tile->axis[i].extent, f, user);
    each_use(e->tile->axis[i].stride, f, user);
    each_use(e->tile->axis[i].index, f, user);
  }
  each_use(e->tile->base, f, user);
}
/* In its own expressions. */
static void each_head(const ac_cstmt *s, void (*f)(void *, const ac_cbuffer *), void *user) {
  each_use(s->value, f, user);
  each_use(s->lo, f, user);
  each_use(s->hi, f, user);
  each_use(s->step, f, user);
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

/* How the paths through a list begin with each buffer: DEFINED on all of them, READ on one, else PASSED_BY on some. */
typedef struct openings {
  unsigned char *how;    /* by buffer */
  AC_VEC(size_t) others; /* those that are not PASSED_BY */
  struct openings *next; /* of the unused ones */
} openings;

static openings *new_openings(lives *l) {
  openings *o = l->spare;
  if (o) {
    l->spare = o->next;
    return o;
  }
  o = AC_NEW(l->c->a, openings);
  o->how = AC_NEW_N(l->c->a, unsigned char, l->k->f->buffers.len + 1);
  return o;
}
static void drop_openings(lives *l, openings *o) {
  for (size_t i = 0; i < o->others.len; i++) o->how[o->others.data[i]] = PASSED_BY;
  o->others.len = 0;
  o->next = l->spare;
  l->spare = o;
}

typedef struct {
  lives *l;
  openings *o;
  const ac_cstmt *s;
} head_use;

static void open_with(lives *l, openings *o, size_t b, opening how) {
  if (how == PASSED_BY || o->how[b] != PASSED_BY) return;
  o->how[b] = (unsigned char)how;
  ac_push(l->c->a, &o->others, b);
}
static void head_begins(void *user, const ac_cbuffer *b) {
  head_use *h = user;
  open_with(h->l, h->o, b->index, h->s->kind == AC_CS_EXPR && defines(h->s->value, b) ? DEFINED : READ);
}

static void begins(lives *l, const ac_cstmt *first, openings *o) {
  for (const ac_cstmt *s = first; s; s = s->next) {
    head_use h = {l, o, s};
    each_head(s, head_begins, &h);
    if (s->kind == AC_CS_EXPR || (!s->body && !s->orelse)) continue;
    openings *x = new_openings(l), *y = new_openings(l);
    begins(l, s->body, x);
    begins(l, s->orelse, y);
    for (size_t i = 0; i < x->others.len; i++) {
      size_t b = x->others.data[i];
      bool sure = s->kind == AC_CS_WITH || (s->kind == AC_CS_IF && y->how[b] == DEFINED);
      open_with(l, o, b, x->how[b] == READ || y->how[b] == READ ? READ : sure ? DEFINED : PASSED_BY);
    }
    for (size_t i = 0; i < y->others.len; i++)
      if (y->how[y->others.data[i]] == READ) open_with(l, o, y->others.data[i], READ);
    drop_openings(l, x);
    drop_openings(l, y);
  }
}

/* ---- the walk ---- */

static void touch(void *user, const ac_cbuffer *b) {
  lives *l = user;
  if (l->b[b->index].first < 0) l->b[b->index].first = l->now;
  l->b[b->index].last = l->now;
}

static void set_flag(void *user, const ac_cbuffer *b) {
  ((bool *)user)[b->index] = true;
}

/* Buffers whose values go from trip to trip. */
static bool *carries(lives *l, const ac_cstmt *s) {
  bool *carried = AC_NEW_N(l->c->a, bool, l->k->f->buffers.len + 1);
  openings *o = new_openings(l);
  if (s->kind == AC_CS_WHILE) each_use(s->value, set_flag, carried);
  begins(l, s->body, o);
  for (size_t i = 0; i < o->others.len; i++)
    if (o->how[o->others.data[i]] == READ) carried[o->others.data[i]] = true;
  drop_openings(l, o);
  return carried;
}

static void list(lives *l, const ac_cstmt *first) {
  for (const ac_cstmt *s = first; s; s = s->next) {
    bool repeats = s->kind == AC_CS_FOR || s->kind == AC_CS_WHILE;
    int start = l->now;
    bool *carried = repeats ? carries(l, s) : NULL;
    ac_push(l->c->a, &l->at, s);
    if (!s->value || !ac_chk_is_alloc(s->value)) each_head(s, touch, l);
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
  for (size_t j = l->g[home].newest; j != NOBODY && l->g[j].most >= l->b[i].first; j = l->g[j].before)
    if (meet(l, i, j)) return false;
  *larger = !holds(l, home, i);
  return !*larger || holds(l, i, home);
}

static void remove_home(lives *l, size_t b) {
  size_t i = 0;
  while (i < l->homes.len && l->homes.data[i] != b) i++;
  if (i == l->homes.len) return;
  memmove(&l->homes.data[i], &l->homes.data[i + 1], (l->homes.len - i - 1) * sizeof(size_t));
  l->homes.len--;
}
static void add_home(lives *l, size_t b) {
  ac_push(l->c->a, &l->homes, b);
  size_t i = l->homes.len - 1;
  for (; i && l->homes.data[i - 1] > b; i--) l->homes.data[i] = l->homes.data[i - 1];
  l->homes.data[i] = b;
}

static void move_in(lives *l, size_t home, size_t i, bool larger) {
  ac_cbuffer *const *all = l->k->f->buffers.data;
  group *g = l->g;
  g[i].before = g[home].newest;
  g[i].most = l->b[i].last > g[g[home].newest].most ? l->b[i].last : g[g[home].newest].most;
  g[home].newest = g[i].newest = i;
  if (!larger) {
    all[i]->home = all[home];
    remove_home(l, i);
    return;
  }
  for (size_t j = g[i].before; j != NOBODY; j = g[j].before) all[j]->home = all[i];
  remove_home(l, home);
}

static void share(lives *l, size_t i) {
  for (size_t n = 0; n < l->homes.len; n++) {
    size_t h = l->homes.data[n];
    bool larger;
    if (h == i || !may_join(l, h, i, &larger)) continue;
    move_in(l, h, i, larger);
    return;
  }
}

/* In the order in which they come to life, and of those that begin together by number. */
static void share_all(lives *l) {
  size_t n = l->k->f->buffers.len;
  size_t *first = AC_NEW_N(l->c->a, size_t, l->now + 1), *next = AC_NEW_N(l->c->a, size_t, n + 1); /* numbers + 1 */
  l->g = AC_NEW_N(l->c->a, group, n + 1);
  for (size_t i = n; i-- > 0;) {
    l->g[i] = (group){i, NOBODY, l->b[i].last};
    if (!l->k->f->buffers.data[i]->shares) continue;
    next[i] = first[l->b[i].first];
    first[l->b[i].first] = i + 1;
  }
  for (int now = 0; now < l->now; now++) {
    for (size_t i = first[now]; i; i = next[i - 1]) add_home(l, i - 1);
    for (size_t i = first[now]; i; i = next[i - 1]) share(l, i - 1);
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
  share_all(&l);
}

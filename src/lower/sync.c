/* Pass "sync": flags for what queues do not order.
 *
 *   scalar read of UB        V_S before it. A queue's DeQue made the vector unit wait for the copy, so V_S covers that too.
 *   scalar write to UB       V_S before it: what the vector unit still reads there; S_V after
 *   element-wise copy        V_S before (the slot's last reader), S_V after; MTE3_S and S_MTE3 where the slot goes straight out
 *   TBuf touched by copies   V_MTE2 before a load, MTE2_V after; V_MTE3 before a store, MTE3_V after
 *   tensor loaded and stored MTE3_MTE2 before a load, MTE2_MTE3 before a store: a later load sees what an earlier store wrote;
 *                            not where every trip of the loop has a part of its own (apart.c)
 *   scalar read of a stored tensor   MTE3_S before it
 *   load over an earlier one MTE2_V and V_MTE2 before it, where no AllocTensor stands between the two: what is loaded twice and
 *                            not read between (a load in a loop whose value only the last trip, or nobody, uses)
 *   fill before a load       MTE2_V before it, where the slot was loaded before and no AllocTensor stands between; MTE3_V where the slot
 *   (its pad value)          goes straight out; V_MTE2 between the fill and the load
 *   sync_all                 PipeBarrier<PIPE_ALL> before it: all stores have left; the scalar unit's cache is emptied behind it, where
 *                            it reads what the kernel stores, and at the head of a later launch that reads what an earlier one stored
 *
 * A flag whose event has no free id, since queues may hold all 8, becomes a barrier of all units.
 *
 * Vector after vector needs no PipeBarrier<PIPE_V>: the vendor compiler inserts it (automatic synchronisation is on by default and
 * covers that pair; research: asc-devkit docs). Flags are set and awaited on the spot, so every path is right. */
#include "lower/internal.h"

typedef AC_VEC(const ac_atensor *) tensors;
typedef struct {
  ac_arena *a;
  ac_akernel *k;
  tensors
      fresh; /* queue tensors that were allocated in the list at work, or in one around it but for loops, and not loaded since */
  bool *apart; /* by tensor in global memory: every trip has a part of its own (apart.c) */
  int cached;  /* global memory that the scalar unit reads, or -1 */
} syncer;

static bool take(tensors *v, const ac_atensor *t) {
  for (size_t i = 0; i < v->len; i++) {
    if (v->data[i] != t) continue;
    v->data[i] = v->data[--v->len];
    return true;
  }
  return false;
}
static bool varies(const ac_aexpr *e) {
  return e && (e->kind == AC_AE_VAR || varies(e->a) || varies(e->b) || varies(e->c));
}

/* `t`: whose order it is, where pass "defer" has to know; NULL: nobody's in particular. */
static void flag_of(syncer *y, ac_ablock *out, ac_event e, ac_atensor *t, ac_loc loc) {
  ac_astmt *last = out->len ? out->data[out->len - 1] : NULL;
  if (last && last->kind == AC_AS_FLAG && last->event == e && last->tensor == t) return;
  ac_astmt *s = ac_as_new(y->a, AC_AS_FLAG, loc);
  s->event = e;
  s->tensor = t;
  ac_push(y->a, out, s);
}

static void flag(syncer *y, ac_ablock *out, ac_event e, ac_loc loc) {
  flag_of(y, out, e, NULL, loc);
}

static void copy(syncer *y, ac_astmt *s, ac_ablock *out) {
  ac_acopy *c = s->copy;
  bool both = y->k->gms.data[c->gm].in && y->k->gms.data[c->gm].out && !y->apart[c->gm];
  bool own = y->k->buffers.data[c->ub->buffer].sync;
  if (both) flag(y, out, c->to_ub ? AC_EV_MTE3_MTE2 : AC_EV_MTE2_MTE3, s->loc);
  if (c->by_element) {
    bool through =
        y->k->buffers.data[c->ub->buffer].mem == AC_MEM_BIND; /* no vector unit between scalar unit and MTE3 */
    if (!through || c->pad) flag(y, out, AC_EV_V_S, s->loc);
    bool stored = through || y->k->buffers.data[c->ub->buffer].mem == AC_MEM_UPDATE; /* the slot went out last */
    if (both || own || stored) flag(y, out, AC_EV_MTE3_S, s->loc);
    ac_push(y->a, out, s);
    flag(y, out, through ? AC_EV_S_MTE3 : AC_EV_S_V, s->loc);
    return;
  }
  /* parts of a buffer that a loop fills one after the other are apart */
  bool again = c->to_ub && !own && !take(&y->fresh, c->ub) && !varies(c->ub_offset);
  if (again && !c->pad) { /* a fill stands between: before_fill */
    flag(y, out, AC_EV_MTE2_V, s->loc);
    flag(y, out, AC_EV_V_MTE2, s->loc);
  }
  /* the vector unit stands between two copies of such a buffer: it awaits each, and the next awaits it */
  if (own) flag_of(y, out, c->to_ub ? AC_EV_V_MTE2 : AC_EV_V_MTE3, c->ub, s->loc);
  ac_push(y->a, out, s);
  if (own) flag_of(y, out, c->to_ub ? AC_EV_MTE2_V : AC_EV_MTE3_V, c->ub, s->loc);
}

/* The vector unit fills what a load will pad: behind an earlier load of the slot, and behind the store for which it went out last. */
static void before_fill(syncer *y, const ac_acopy *c, ac_ablock *out, ac_loc loc) {
  const ac_abuffer *b = &y->k->buffers.data[c->ub->buffer];
  bool fresh = b->sync; /* its copies are awaited on the spot */
  for (size_t i = 0; i < y->fresh.len; i++) fresh |= y->fresh.data[i] == c->ub;
  if (!fresh) flag(y, out, AC_EV_MTE2_V, loc);
  if (b->mem == AC_MEM_BIND || b->mem == AC_MEM_UPDATE) flag(y, out, AC_EV_MTE3_V, loc);
}

static void block(syncer *y, ac_ablock *b);

static bool loads(const ac_ablock *b, const ac_atensor *t) {
  for (size_t i = 0; i < b->len; i++) {
    const ac_astmt *s = b->data[i];
    if (s->kind == AC_AS_COPY && s->copy->to_ub && s->copy->ub == t) return true;
    if (loads(&s->body, t) || loads(&s->orelse, t)) return true;
  }
  return false;
}

/* The blocks of a statement. A loop comes back to its head with what it loaded; of branches, both begin with what was fresh before. */
static void inside(syncer *y, ac_astmt *s) {
  tensors before = {0}, after = {0};
  if (!s->body.len && !s->orelse.len) return;
  bool loop = s->kind == AC_AS_FOR || s->kind == AC_AS_WHILE;
  for (size_t i = 0; i < y->fresh.len; i++) ac_push(y->a, &before, y->fresh.data[i]);
  if (loop) y->fresh.len = 0;
  block(y, &s->body);
  after = y->fresh;
  y->fresh = before;
  if (!loop) block(y, &s->orelse);
  tensors both = {0};
  for (size_t i = 0; i < y->fresh.len; i++)
    if (loop ? !loads(&s->body, y->fresh.data[i]) : take(&after, y->fresh.data[i]))
      ac_push(y->a, &both, y->fresh.data[i]);
  y->fresh = both;
}

/* The scalar unit reads global memory through a cache that hardware does not keep equal to it (asc-devkit docs/zh,
 * DataCacheCleanAndInvalid): behind a barrier it must not answer with what it held before. */
static void clean(syncer *y, ac_ablock *out, ac_loc loc) {
  ac_astmt *s = ac_as_new(y->a, AC_AS_CLEAN, loc);
  s->gm = y->cached;
  ac_push(y->a, out, s);
}

/* A tensor of global memory that the scalar unit reads, one that the kernel stores to if there is any; -1: none. */
static void find_cached(void *user, ac_astmt *s) {
  syncer *y = user;
  int gm = s->kind == AC_AS_GETVALUE && !s->n_ops         ? s->gm
           : s->kind == AC_AS_COPY && s->copy->by_element ? s->copy->gm
                                                          : -1;
  if (gm >= 0 && (y->cached < 0 || y->k->gms.data[gm].out)) y->cached = gm;
}

/* A later launch of one path may read what an earlier one stored: the cache may hold it from before. */
static bool follows(const ac_program *p, const ac_akernel *k, int gm) {
  for (size_t i = 0; i < p->launches.len; i++) {
    const ac_alaunch *l = p->launches.data[i];
    int t = p->kernels.data[l->kernel] == k ? l->tensors[k->gms.data[gm].param] : 0;
    if (p->kernels.data[l->kernel] == k && l->phase > 0 && (t < 0 || p->tensors.data[t].dir != AC_TENSOR_IN))
      return true;
  }
  return false;
}

static void block(syncer *y, ac_ablock *b) {
  ac_ablock out = {0};
  for (size_t i = 0; i < b->len; i++) {
    ac_astmt *s = b->data[i];
    inside(y, s);
    if (s->kind == AC_AS_ALLOC) ac_push(y->a, &y->fresh, s->tensor);
    if (s->kind == AC_AS_COPY) {
      copy(y, s, &out);
      continue;
    }
    if (s->kind == AC_AS_FLAG && s->copy) {
      before_fill(y, s->copy, &out, s->loc);
      continue;
    }
    if (s->kind == AC_AS_GETVALUE && s->n_ops) flag_of(y, &out, AC_EV_V_S, s->ops[0].tensor, s->loc);
    if (s->kind == AC_AS_GETVALUE && !s->n_ops && y->k->gms.data[s->gm].out) flag(y, &out, AC_EV_MTE3_S, s->loc);
    if (s->kind == AC_AS_SYNC_ALL) {
      ac_astmt *n = ac_as_new(y->a, AC_AS_BARRIER, s->loc);
      ac_push(y->a, &out, n);
    }
    if (s->kind == AC_AS_SETVALUE) flag_of(y, &out, AC_EV_V_S, s->ops[0].tensor, s->loc);
    ac_push(y->a, &out, s);
    if (s->kind == AC_AS_SYNC_ALL && y->cached >= 0 && y->k->gms.data[y->cached].out) clean(y, &out, s->loc);
    if (s->kind == AC_AS_SETVALUE) flag_of(y, &out, AC_EV_S_V, s->ops[0].tensor, s->loc);
  }
  *b = out;
}

/* Queues may hold every id of an event: its flags have none, and FetchEventID would take one that is in use. A barrier of all units orders
 * what the flag would. */
static void without_id(void *user, ac_astmt *s) {
  const syncer *y = user;
  if (s->kind != AC_AS_FLAG || ac_lower_held(y->k, s->event) < AC_EVENT_IDS) return;
  s->kind = AC_AS_BARRIER;
}

/* One barrier behind another orders nothing more. */
static void join_barriers(ac_ablock *b) {
  size_t w = 0;
  for (size_t i = 0; i < b->len; i++) {
    ac_astmt *s = b->data[i];
    join_barriers(&s->body);
    join_barriers(&s->orelse);
    if (s->kind == AC_AS_BARRIER && w && b->data[w - 1]->kind == AC_AS_BARRIER) continue;
    b->data[w++] = s;
  }
  b->len = w;
}

bool ac_lower_sync(ac_lower_ctx *c) {
  for (size_t i = 0; i < c->p->kernels.len; i++) {
    syncer y = {.a = c->a, .k = c->p->kernels.data[i], .cached = -1};
    y.apart = AC_NEW_N(c->a, bool, y.k->gms.len + 1);
    for (size_t g = 0; g < y.k->gms.len; g++) y.apart[g] = ac_lower_apart(c->a, y.k, (int)g);
    for (size_t m = 0; m < y.k->methods.len; m++) ac_as_walk(&y.k->methods.data[m].body, find_cached, &y);
    for (size_t m = 0; m < y.k->methods.len; m++) {
      y.fresh.len = 0;
      block(&y, &y.k->methods.data[m].body);
      ac_as_walk(&y.k->methods.data[m].body, without_id, &y);
      join_barriers(&y.k->methods.data[m].body);
    }
    if (y.cached >= 0 && follows(c->p, y.k, y.cached)) {
      ac_ablock *process = &y.k->methods.data[0].body, all = {0};
      clean(&y, &all, y.k->loc);
      for (size_t s = 0; s < process->len; s++) ac_push(c->a, &all, process->data[s]);
      *process = all;
    }
  }
  return true;
}

/* The check of the flags of TBufs that copies touch, wherever they are set and awaited, and of those around what the vector unit fills of a
 * queue's slot before its load (passes "sync" and "defer").
 *
 * Every such buffer has a small automaton for each of its four orders, every id that the kernel holds one more:
 *
 *   behind a copy   clear -copy-> open -SetFlag-> set -WaitFlag-> clear; a flag on the spot or a barrier clears at once. Whoever
 *                   touches the buffer must find it clear.
 *   before a copy   stale -SetFlag-> set -WaitFlag-> fresh; on the spot: fresh at once. What touches the buffer, and what the
 *                   vector unit awaits for it, makes it stale. A copy must find it fresh.
 *   an id           down -SetFlag-> up -WaitFlag-> down. Set twice, or awaited while down: wrong. Down where the kernel ends.
 *   a fill          of a slot between AllocTensor and DeQue: it must find every earlier load over (MTE2_V), and, where the slot goes
 *                   straight out or is stored from, the store too for which it went out last (MTE3_V: AllocTensor makes only the next
 *                   load await that); the load must find the fill over (V_MTE2).
 *
 * They run over all paths at once: of a list of statements we keep, for each state that it may be entered in, the set of states that it
 * may be left in. A loop is the closure of its body, so each statement is looked at once. */
#include "lower/internal.h"

#include <string.h>

enum { STATES = 3 };
enum { AFTER_LOAD, AFTER_STORE, BEFORE_LOAD, BEFORE_STORE, ORDERS };
enum { CLEAR, OPEN, SET };     /* behind a copy */
enum { STALE, COMING, FRESH }; /* before a copy */
enum { DOWN, UP };             /* an id */
enum { LOADED, STORED, FILLED, SLOT_ORDERS };
enum {
  DONE,
  PENDING,
  IN_USE
}; /* of a slot: nothing to wait for; something; behind its DeQue, which orders what follows */

static const ac_event events[ORDERS] = {AC_EV_MTE2_V, AC_EV_MTE3_V, AC_EV_V_MTE2, AC_EV_V_MTE3};

typedef struct {
  uint8_t to[STATES];      /* sets of states, by state on entry */
  uint8_t out[STATES];     /* of those in which the loop around is left */
  const char *bad[STATES]; /* what goes wrong on some path, or NULL */
} machine;

typedef struct {
  ac_arena *a;
  const ac_akernel *k;
  int *buffers, n_buffers; /* those that flags order */
  int *slots, n_slots;     /* queues that copies with a pad value load */
  int n;                   /* machines: ORDERS a buffer, then one an id, then SLOT_ORDERS a slot */
} flags;

bool ac_lower_accesses(const ac_akernel *k, const ac_astmt *s, int buffer) {
  if (s->kind == AC_AS_COPY && s->copy->ub && s->copy->ub->buffer == buffer) return true;
  for (int i = 0; i < s->n_ops; i++) {
    if (!s->ops[i].tensor) continue;
    int at = s->ops[i].tensor->buffer;
    if (at == buffer || k->buffers.data[at].home == buffer + 1) return true;
  }
  return false;
}

/* A copy of MTE2 or MTE3; the scalar unit's, element by element, is an access like any other (check.c). */
static bool by_unit(const ac_astmt *s) {
  return s->kind == AC_AS_COPY && !s->copy->by_element;
}

static int behind(int state, int order, const ac_astmt *s, bool own, bool touched, const char **bad) {
  bool copied = by_unit(s) && touched && s->copy->to_ub == (order == AFTER_LOAD);
  if (touched && state != CLEAR) *bad = "it is touched before what a copy does with it is over";
  if (copied) return OPEN;
  if (s->kind == AC_AS_BARRIER || (s->kind == AC_AS_FLAG && s->event == events[order])) return CLEAR;
  if (!own || s->event != events[order]) return state;
  if (s->kind == AC_AS_SET) return SET;
  return s->kind == AC_AS_WAIT && state == SET ? CLEAR : state;
}

static int before(int state, int order, const ac_astmt *s, bool own, bool touched, const char **bad) {
  bool copied = by_unit(s) && touched && s->copy->to_ub == (order == BEFORE_LOAD);
  if (copied && state != FRESH) *bad = "a copy does not wait for the vector unit";
  if (copied || (touched && !by_unit(s))) return STALE;
  if (s->kind == AC_AS_BARRIER || (s->kind == AC_AS_FLAG && s->event == events[order])) return FRESH;
  if (!own) return state;
  if (s->event == events[order]) {
    if (s->kind == AC_AS_SET) return COMING;
    return s->kind == AC_AS_WAIT && state == COMING ? FRESH : state;
  }
  bool news = s->event == events[AFTER_LOAD] || s->event == events[AFTER_STORE];
  return news && s->kind != AC_AS_SET ? STALE : state;
}

static int id(int state, const ac_astmt *s, const char **bad) {
  if (s->kind == AC_AS_SET) {
    if (state == UP) *bad = "a flag is set that is set already";
    return UP;
  }
  if (s->kind == AC_AS_WAIT) {
    if (state == DOWN) *bad = "a flag is awaited that nobody set";
    return DOWN;
  }
  if (s->kind == AC_AS_RELEASE && state == UP) *bad = "an id is given back while its flag is set";
  return state;
}

static int slot(int state, int order, const ac_astmt *s, bool own, bool touched, bool stored, const char **bad) {
  static const ac_event over[SLOT_ORDERS] = {AC_EV_MTE2_V, AC_EV_MTE3_V, AC_EV_V_MTE2};
  if (own && s->kind == AC_AS_ALLOC) return order == STORED && stored ? PENDING : DONE;
  if (own && s->kind == AC_AS_DEQUE) return IN_USE;
  if (state == IN_USE) return state;
  if (s->kind == AC_AS_BARRIER || (s->kind == AC_AS_FLAG && s->event == over[order])) return DONE;
  bool load = by_unit(s) && s->copy->to_ub, fill = touched && s->kind != AC_AS_COPY;
  if (fill && order != FILLED && state == PENDING)
    *bad = order == LOADED ? "it is filled before an earlier load of it is over"
                           : "it is filled before the store of what it held is over";
  if (touched && load && order == FILLED && state == PENDING) *bad = "a load does not wait for what fills it before";
  return (order == LOADED && touched && load) || (order == FILLED && fill) ? PENDING : state;
}

static int step(const flags *f, int m, int state, const ac_astmt *s, const char **bad) {
  int ids = f->n_buffers * ORDERS, slots = ids + (int)f->k->held.len;
  if (m >= slots) {
    int at = f->slots[(m - slots) / SLOT_ORDERS];
    ac_amem mem = f->k->buffers.data[at].mem;
    return slot(state, (m - slots) % SLOT_ORDERS, s, s->tensor && s->tensor->buffer == at,
                ac_lower_accesses(f->k, s, at), mem == AC_MEM_BIND || mem == AC_MEM_UPDATE, bad);
  }
  if (m >= ids) return s->held - 1 == m - ids ? id(state, s, bad) : state;
  int b = f->buffers[m / ORDERS], order = m % ORDERS;
  bool flag = s->kind == AC_AS_FLAG || s->kind == AC_AS_SET || s->kind == AC_AS_WAIT;
  bool own = flag && s->tensor && s->tensor->buffer == b, touched = ac_lower_accesses(f->k, s, b);
  return (order < BEFORE_LOAD ? behind : before)(state, order, s, own, touched, bad);
}

static void one(const flags *f, machine *x, const ac_astmt *s) {
  for (int m = 0; m < f->n; m++)
    for (int from = 0; from < STATES; from++) {
      uint8_t now = 0;
      for (int t = 0; t < STATES; t++)
        if (x[m].to[from] & 1 << t) now |= (uint8_t)(1 << step(f, m, t, s, &x[m].bad[from]));
      x[m].to[from] = now;
    }
}

static void list(const flags *f, machine *x, const ac_ablock *b);

static machine *fresh(const flags *f, const machine *from) {
  machine *x = AC_NEW_N(f->a, machine, f->n + 1);
  for (int m = 0; m < f->n; m++) {
    if (from) x[m] = from[m];
    for (int s = 0; s < STATES && !from; s++) x[m].to[s] = (uint8_t)(1 << s);
  }
  return x;
}

static void branches(const flags *f, machine *x, const ac_astmt *s) {
  machine *other = fresh(f, x);
  list(f, x, &s->body);
  list(f, other, &s->orelse);
  for (int m = 0; m < f->n; m++)
    for (int t = 0; t < STATES; t++) {
      x[m].to[t] |= other[m].to[t];
      x[m].out[t] |= other[m].out[t];
      if (!x[m].bad[t]) x[m].bad[t] = other[m].bad[t];
    }
}

/* All states that the head of a loop with this body may be met in, from these. */
static uint8_t closure(const machine *body, uint8_t reach) {
  for (uint8_t was = 0; was != reach;) {
    was = reach;
    for (int t = 0; t < STATES; t++)
      if (reach & 1 << t) reach |= body->to[t];
  }
  return reach;
}

static void loop(const flags *f, machine *x, const ac_astmt *s) {
  machine *body = fresh(f, NULL);
  list(f, body, &s->body);
  for (int m = 0; m < f->n; m++)
    for (int from = 0; from < STATES; from++) {
      uint8_t reach = closure(&body[m], x[m].to[from]), after = reach;
      for (int t = 0; t < STATES; t++) {
        if (!(reach & 1 << t)) continue;
        after |= body[m].out[t];
        if (!x[m].bad[from]) x[m].bad[from] = body[m].bad[t];
      }
      x[m].to[from] = after;
    }
}

/* Here control leaves the list: nobody comes to what follows. */
static void leave(const flags *f, machine *x, bool out) {
  for (int m = 0; m < f->n; m++)
    for (int t = 0; t < STATES; t++) {
      if (out) x[m].out[t] |= x[m].to[t];
      x[m].to[t] = 0;
    }
}

static void list(const flags *f, machine *x, const ac_ablock *b) {
  for (size_t i = 0; i < b->len; i++) {
    const ac_astmt *s = b->data[i];
    if (!s) continue;
    switch (s->kind) {
    case AC_AS_CALL: list(f, x, &f->k->methods.data[s->method].body); break;
    case AC_AS_IF: branches(f, x, s); break;
    case AC_AS_FOR:
    case AC_AS_WHILE: loop(f, x, s); break;
    case AC_AS_BREAK: leave(f, x, true); break;
    case AC_AS_RETURN: leave(f, x, false); break;
    default: one(f, x, s); break;
    }
  }
}

/* A load into a queue's slot that takes a pad value. */
static void padded(void *user, ac_astmt *s) {
  flags *f = user;
  if (s->kind != AC_AS_COPY || !s->copy->to_ub || !s->copy->pad) return;
  int at = s->copy->ub->buffer;
  bool seen = f->k->buffers.data[at].sync;
  for (int i = 0; i < f->n_slots; i++) seen |= f->slots[i] == at;
  if (!seen) f->slots[f->n_slots++] = at;
}

const char *ac_lower_check_flags(ac_arena *a, const ac_akernel *k) {
  flags f = {
      .a = a, .k = k, .buffers = AC_NEW_N(a, int, k->buffers.len + 1), .slots = AC_NEW_N(a, int, k->buffers.len + 1)};
  for (size_t i = 0; i < k->buffers.len; i++)
    if (k->buffers.data[i].sync) f.buffers[f.n_buffers++] = (int)i;
  for (size_t i = 0; i < k->methods.len; i++)
    ac_as_walk(&((ac_akernel *)(uintptr_t)k)->methods.data[i].body, padded, &f);
  int ids = f.n_buffers * ORDERS, slots = ids + (int)k->held.len;
  f.n = slots + f.n_slots * SLOT_ORDERS;
  machine *x = fresh(&f, NULL);
  list(&f, x, &k->methods.data[0].body);
  for (int m = 0; m < f.n; m++) { /* clear, stale, down and done are what a kernel begins with: state 0 */
    bool of_id = m >= ids && m < slots;
    const char *name =
        of_id ? k->held.data[m - ids].name
              : k->buffers.data[m < ids ? f.buffers[m / ORDERS] : f.slots[(m - slots) / SLOT_ORDERS]].buffer;
    const char *bad = x[m].bad[0];
    if (!bad && of_id && x[m].to[0] & 1 << UP) bad = "a flag is set where the kernel ends";
    if (bad) return ac_sprintf(a, "flags of '%s': %s", name, bad);
  }
  return NULL;
}

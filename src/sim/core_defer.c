/* A WaitFlag whose SetFlag comes later in the program holds up its pipe, not the scalar unit: what the program gives that pipe in the
 * meantime is kept here and runs when the flag is set. If it never can be, the circle of pipes that wait for each other is reported.
 *
 * Vector instructions, copies and flags are kept; anything else that meets a pipe that waits ends the waiting (the flag counts as not
 * set, which is reported), and the run goes on in program order. */
#include "sim/core_defer.h"

#include <string.h>

/* What the scalar unit has set up, and an instruction takes along when it is issued. */
typedef struct {
  uint64_t mask[2], pad_value;
  bool mask_counter, pad_set;
  uint8_t mask_by;
  int atomic, atomic_type;
} setup;
static setup take(const acsim_block *b) {
  return (setup){
      {b->mask[0], b->mask[1]}, b->pad_value, b->mask_counter, b->pad_set, b->mask_by, b->atomic, b->atomic_type};
}
static void put(acsim_block *b, const setup *s) {
  b->mask[0] = s->mask[0];
  b->mask[1] = s->mask[1];
  b->pad_value = s->pad_value;
  b->mask_counter = s->mask_counter;
  b->pad_set = s->pad_set;
  b->mask_by = s->mask_by;
  b->atomic = s->atomic;
  b->atomic_type = s->atomic_type;
}

typedef enum { OP_WAIT, OP_SET, OP_BARRIER, OP_VECTOR, OP_IN, OP_OUT, OP_LOCAL } op_kind;
struct acsim_deferred {
  op_kind kind;
  ac_pipe pipe;
  uint64_t number; /* in the order of the program */
  acsim_at at;
  acsim_clock scalar; /* what the scalar unit had waited for when it gave the instruction away */
  setup setup;
  int event, id;
  acsim_vector v;
  acsim_repeat repeat;
  acsim_local local[4];
  acsim_global global;
  acsim_copy copy;
  acsim_deferred *next;
};

static acsim_deferred *keep(acsim_block *b, op_kind kind, ac_pipe pipe, acsim_at at) {
  acsim_deferred *o = AC_NEW(b->arena, acsim_deferred), **end = &b->deferred[pipe];
  o->kind = kind;
  o->pipe = pipe;
  o->number = ++b->n_deferred;
  o->at = at;
  o->setup = take(b);
  acsim_order_scalar(b, &o->scalar, false);
  while (*end) end = &(*end)->next;
  *end = o;
  b->stalled |= 1u << pipe;
  return o;
}
static bool waits(const acsim_block *b, ac_pipe pipe) {
  return b->stalled >> pipe & 1 && !b->replaying;
}

bool acsim_defer_vector(acsim_block *b, const acsim_vector *v, acsim_at at) {
  if (!waits(b, AC_PIPE_V) || v->op == ACSIM_OP_GatherMask) return false; /* that one answers at once */
  acsim_deferred *o = keep(b, OP_VECTOR, AC_PIPE_V, at);
  const acsim_local **from[] = {&o->v.dst, &o->v.a, &o->v.b, &o->v.c};
  o->v = *v;
  for (int i = 0; i < 4; i++)
    if (*from[i]) {
      o->local[i] = **from[i];
      *from[i] = &o->local[i];
    }
  if (v->repeat) {
    o->repeat = *v->repeat;
    o->v.repeat = &o->repeat;
  }
  return true;
}
bool acsim_defer_copy(acsim_block *b, ac_pipe pipe, const acsim_local *dst, const acsim_local *src,
                      const acsim_global *g, const acsim_copy *c, acsim_at at) {
  if (!waits(b, pipe)) return false;
  acsim_deferred *o = keep(b, pipe == AC_PIPE_MTE2 ? OP_IN : pipe == AC_PIPE_MTE3 ? OP_OUT : OP_LOCAL, pipe, at);
  if (dst) o->local[0] = *dst;
  if (src) o->local[1] = *src;
  if (g) o->global = *g;
  o->copy = *c;
  return true;
}
bool acsim_defer_set(acsim_block *b, ac_pipe from, int event, int id, acsim_at at) {
  if (!waits(b, from)) return false;
  acsim_deferred *o = keep(b, OP_SET, from, at);
  o->event = event;
  o->id = id;
  return true;
}
bool acsim_defer_wait(acsim_block *b, ac_pipe to, int event, int id, acsim_at at) {
  if (b->replaying || to == AC_PIPE_S || (!waits(b, to) && b->flag[event][id])) return false;
  acsim_deferred *o = keep(b, OP_WAIT, to, at);
  o->event = event;
  o->id = id;
  return true;
}
bool acsim_defer_barrier(acsim_block *b, ac_pipe pipe, acsim_at at) {
  if (!waits(b, pipe)) return false;
  keep(b, OP_BARRIER, pipe, at);
  return true;
}

/* ---- going on ---- */

static void run(acsim_block *b, acsim_deferred *o) {
  acsim_clock now = {0};
  setup here = take(b);
  acsim_order_scalar(b, &now, false);
  acsim_order_scalar(b, &o->scalar, true);
  put(b, &o->setup);
  switch (o->kind) {
  case OP_WAIT: acsim_flag_lower(b, o->event, o->id, o->at); break;
  case OP_SET: acsim_flag_raise(b, o->event, o->id, o->at); break;
  case OP_BARRIER:
    acsim_order_barrier(b, o->pipe);
    acsim_time_barrier(b, o->pipe, o->at);
    break;
  case OP_VECTOR: acsim_vec(&o->v, o->at.file, o->at.line); break;
  case OP_IN: acsim_copy_in(&o->local[0], &o->global, &o->copy, o->at.file, o->at.line); break;
  case OP_OUT: acsim_copy_out(&o->global, &o->local[1], &o->copy, o->at.file, o->at.line); break;
  case OP_LOCAL: acsim_copy_local(&o->local[0], &o->local[1], &o->copy, o->at.file, o->at.line); break;
  }
  acsim_order_scalar(b, &now, true);
  put(b, &here);
}

void acsim_defer_resume(acsim_block *b) {
  if (b->replaying) return;
  b->replaying = true;
  for (bool more = true; more;) {
    more = false;
    for (int p = 0; p < AC_PIPE_COUNT; p++)
      for (acsim_deferred *o; (o = b->deferred[p]) && (o->kind != OP_WAIT || b->flag[o->event][o->id]);) {
        b->deferred[p] = o->next;
        run(b, o);
        more = true;
      }
  }
  for (int p = 0; p < AC_PIPE_COUNT; p++)
    if (!b->deferred[p]) b->stalled &= ~(1u << p);
  b->replaying = false;
}

/* ---- never ---- */

/* The kept SetFlag of that flag: on which pipe does it stand? */
static const acsim_deferred *setter(const acsim_block *b, int event, int id) {
  for (int p = 0; p < AC_PIPE_COUNT; p++)
    for (const acsim_deferred *o = b->deferred[p]; o; o = o->next)
      if (o->kind == OP_SET && o->event == event && o->id == id) return o;
  return NULL;
}

static const char *name(acsim_at at) {
  return at.file ? ac_basename(at.file) : "?";
}

/* Who waits for what, from that wait on. False: it is only that nobody sets it. */
static bool chain(acsim_block *b, ac_buf *t, const char *who, int event, int id, acsim_at at) {
  bool circle = false;
  int start = at.line;
  const char *file = at.file;
  for (int hop = 0; hop < AC_PIPE_COUNT; hop++) {
    ac_printf(t, "%s%s waits at %s:%d for %s(%d), ", hop ? "; " : "", who, name(at), at.line, acsim_event_name(event),
              id);
    const acsim_deferred *s = setter(b, event, id);
    if (!s) {
      ac_printf(t, "which nothing has set before");
      break;
    }
    const acsim_deferred *w = b->deferred[s->pipe];
    circle = true;
    ac_printf(t, "whose SetFlag at %s:%d stands behind the WaitFlag at %s:%d", name(s->at), s->at.line, name(w->at),
              w->at.line);
    if (w->at.line == start && w->at.file == file) break;
    who = acsim_pipe_name(w->pipe);
    event = w->event;
    id = w->id;
    at = w->at;
  }
  return circle;
}

static void report(acsim_block *b, const char *who, int event, int id, acsim_at at) {
  ac_buf t;
  ac_buf_init(&t, b->arena);
  if (chain(b, &t, who, event, id, at))
    acsim_fault(b->s, b, "deadlock", at, "the device waits for ever: %s", ac_buf_str(&t));
  else
    acsim_fault(b->s, b, "flag-not-set", at, "WaitFlag<%s>(%d): no SetFlag came before it, or could",
                acsim_event_name(event), id);
}

void acsim_defer_settle(acsim_block *b, int event, int id, acsim_at at) {
  if (b->replaying) return;
  if (event >= 0) {
    report(b, "the scalar unit", event, id, at);
  } else {
    const acsim_deferred *first = NULL; /* the wait that the program has first */
    for (int p = 0; p < AC_PIPE_COUNT; p++)
      if (b->deferred[p] && (!first || b->deferred[p]->number < first->number)) first = b->deferred[p];
    if (first) report(b, acsim_pipe_name(first->pipe), first->event, first->id, first->at);
  }
  b->replaying = true;
  for (;;) { /* the rest in the order of the program */
    acsim_deferred *next = NULL;
    for (int p = 0; p < AC_PIPE_COUNT; p++)
      if (b->deferred[p] && (!next || b->deferred[p]->number < next->number)) next = b->deferred[p];
    if (!next) break;
    b->deferred[next->pipe] = next->next;
    if (next->kind == OP_WAIT && !b->flag[next->event][next->id])
      b->owed_flags[next->event] |= (uint8_t)(1u << next->id);
    run(b, next);
  }
  b->stalled = 0;
  b->replaying = false;
}

/* Pass "defer": flags of TBufs that copies touch are set where the producer is and awaited where the consumer is, where work of the
 * vector unit stands between the two.
 *
 * Pass "sync" sets and awaits such flags on the spot: the vector unit stands still until a store is over, though it would not touch the
 * buffer yet (MTE3_V behind the store), and a load waits for all work of the vector unit, though the buffer was used at its beginning
 * (V_MTE2 before the load). Here:
 *
 *   behind a copy   SetFlag directly behind it; WaitFlag before the next statement that touches the buffer
 *   before a copy   WaitFlag directly before it; SetFlag behind the last statement that touches the buffer
 *
 * The second is the first, read backwards. So there is one walk, in either direction, that knows whether the copy's half of a flag is
 * "owed" its other half. A loop whose trips hand that on to the next begins and ends owed: what is not owed before it is primed (the
 * copy's half once more: SetFlag before the loop; backwards WaitFlag behind it), and what is owed at the end of the kernel is settled
 * there. Branches agree in the same way. So flag and wait alternate on every path, which check_flags.c proves anew.
 *
 * A flag on the spot behind a copy goes where nobody touches the buffer afterwards.
 *
 * Each such flag holds an id (AllocEventID) while the kernel runs; one id stays free for flags on the spot and for queues. Where no id is
 * left, where a tensor is loaded and stored (there more hangs on the wait: apart.c), or nothing would be gained, flags stay on the spot. */
#include "lower/internal.h"

typedef struct {
  ac_ablock *at, now;
} change;
typedef struct {
  ac_arena *a;
  ac_akernel *k;
  int buffer;
  bool to_ub, back; /* the copies at work; their flags before them */
  ac_event event;
  const ac_atensor *tensor; /* of a copy */
  int held;
  const int *calls; /* by method */
  bool *seen;
  bool gains; /* work of the vector unit stands between the two halves */
  AC_VEC(change) changes;
} deferral;

/* ---- what a list does to the state, without changing it ---- */

typedef struct {
  bool owed[2]; /* at its end, by what was owed at its beginning */
} effect;

static bool is_copy(const deferral *d, const ac_astmt *s) {
  return s->kind == AC_AS_COPY && s->copy->ub->buffer == d->buffer && s->copy->to_ub == d->to_ub;
}
static bool is_flag(const deferral *d, const ac_astmt *s) {
  bool flag = s->kind == AC_AS_FLAG || s->kind == AC_AS_SET || s->kind == AC_AS_WAIT;
  return flag && s->tensor && s->tensor->buffer == d->buffer;
}
static bool is_own(const deferral *d, const ac_astmt *s) {
  return s->kind == AC_AS_FLAG && is_flag(d, s) && s->event == d->event;
}
static const ac_astmt *nth(const deferral *d, const ac_ablock *b, size_t i) {
  return b->data[d->back ? b->len - 1 - i : i];
}

/* The loop is left by a `break` of its own. */
static bool breaks(const ac_ablock *b) {
  for (size_t i = 0; i < b->len; i++) {
    const ac_astmt *s = b->data[i];
    if (s->kind == AC_AS_BREAK || (s->kind == AC_AS_IF && (breaks(&s->body) || breaks(&s->orelse)))) return true;
  }
  return false;
}
/* Nobody comes to the end of the list. */
static bool ends(const ac_ablock *b) {
  return b->len && (b->data[b->len - 1]->kind == AC_AS_RETURN || b->data[b->len - 1]->kind == AC_AS_BREAK);
}

static effect predict(const deferral *d, const ac_ablock *b);

/* What is owed at the head of each trip. */
static bool carried(const deferral *d, const ac_astmt *loop, bool owed) {
  if (breaks(&loop->body)) return false;
  effect e = predict(d, &loop->body);
  return e.owed[1] && (e.owed[0] || owed);
}

static bool after_branches(const deferral *d, const ac_astmt *s, bool body, bool orelse) {
  if (!d->back && ends(&s->body)) return orelse;
  if (!d->back && ends(&s->orelse)) return body;
  return body || orelse;
}

static effect predict(const deferral *d, const ac_ablock *b) {
  effect r = {{false, true}};
  for (size_t i = 0; i < b->len; i++) {
    const ac_astmt *s = nth(d, b, i);
    effect e = {{false, true}};
    if (is_own(d, s)) continue;
    if (s->kind == AC_AS_CALL) {
      if (d->calls[s->method] == 1)
        e = predict(d, &d->k->methods.data[s->method].body);
      else
        e.owed[1] = false;
    } else if (s->kind == AC_AS_IF) {
      effect x = predict(d, &s->body), y = predict(d, &s->orelse);
      for (int o = 0; o < 2; o++) e.owed[o] = after_branches(d, s, x.owed[o], y.owed[o]);
    } else if (s->kind == AC_AS_FOR || s->kind == AC_AS_WHILE) {
      for (int o = 0; o < 2; o++) e.owed[o] = carried(d, s, o);
    } else if (is_copy(d, s))
      e.owed[0] = e.owed[1] = true;
    else if (s->kind == AC_AS_RETURN || s->kind == AC_AS_BREAK || is_flag(d, s) ||
             ac_lower_accesses(d->k, s, d->buffer))
      e.owed[0] = e.owed[1] = false;
    for (int o = 0; o < 2; o++) r.owed[o] = e.owed[r.owed[o]];
  }
  return r;
}

/* ---- the change ---- */

/* `settle`: the other half of the flag; else the copy's. */
static void half(deferral *d, ac_ablock *out, bool settle, ac_loc loc) {
  ac_astmt *s = ac_as_new(d->a, settle == d->back ? AC_AS_SET : AC_AS_WAIT, loc);
  s->event = d->event;
  s->tensor = (ac_atensor *)(uintptr_t)d->tensor;
  s->held = d->held;
  ac_push(d->a, out, s);
}
static bool settle(deferral *d, ac_ablock *out, bool owed, ac_loc loc) {
  if (owed) half(d, out, true, loc);
  return false;
}

static bool rewrite(deferral *d, ac_ablock *b, bool owed, bool want);

static bool rewrite_loop(deferral *d, ac_ablock *out, ac_astmt *s, bool owed) {
  bool head = carried(d, s, owed);
  if (owed != head) half(d, out, owed, s->loc);
  rewrite(d, &s->body, head, head);
  ac_push(d->a, out, s);
  return head;
}

static bool rewrite_branches(deferral *d, ac_ablock *out, ac_astmt *s, bool owed) {
  bool x = predict(d, &s->body).owed[owed], y = predict(d, &s->orelse).owed[owed];
  bool after = after_branches(d, s, x, y), never = !d->back;
  rewrite(d, &s->body, owed, never && ends(&s->body) ? x : after);
  rewrite(d, &s->orelse, owed, never && ends(&s->orelse) ? y : after);
  ac_push(d->a, out, s);
  return after;
}

static bool rewrite_call(deferral *d, ac_ablock *out, ac_astmt *s, bool owed) {
  ac_ablock *body = &d->k->methods.data[s->method].body;
  bool once = d->calls[s->method] == 1, after = false;
  if (once)
    after = rewrite(d, body, owed, predict(d, body).owed[owed]);
  else {
    settle(d, out, owed, s->loc);
    if (!d->seen[s->method]) rewrite(d, body, false, false);
    d->seen[s->method] = true;
  }
  ac_push(d->a, out, s);
  return after;
}

static bool rewrite_one(deferral *d, ac_ablock *out, ac_astmt *s, bool owed) {
  if (s->kind == AC_AS_CALL) return rewrite_call(d, out, s, owed);
  if (s->kind == AC_AS_IF) return rewrite_branches(d, out, s, owed);
  if (s->kind == AC_AS_FOR || s->kind == AC_AS_WHILE) return rewrite_loop(d, out, s, owed);
  bool copies = is_copy(d, s), touches = is_flag(d, s) || ac_lower_accesses(d->k, s, d->buffer);
  bool leaves = s->kind == AC_AS_RETURN || s->kind == AC_AS_BREAK;
  if (owed && s->kind == AC_AS_INST && !touches) d->gains = true;
  if (copies || touches || (leaves && !d->back)) owed = settle(d, out, owed, s->loc);
  if (leaves) owed = false; /* backwards: nobody comes to what follows */
  ac_push(d->a, out, s);
  if (copies) half(d, out, false, s->loc);
  return copies || owed;
}

/* Behind the list there shall be owed what is wanted. */
static bool rewrite(deferral *d, ac_ablock *b, bool owed, bool want) {
  ac_ablock out = {0};
  ac_loc loc = {0};
  for (size_t i = 0; i < b->len; i++) {
    ac_astmt *s = (ac_astmt *)(uintptr_t)nth(d, b, i);
    loc = s->loc;
    if (!is_own(d, s)) owed = rewrite_one(d, &out, s, owed);
  }
  if (owed != want) half(d, &out, owed, loc);
  for (size_t i = 0; d->back && i < out.len / 2; i++) {
    ac_astmt *s = out.data[i];
    out.data[i] = out.data[out.len - 1 - i];
    out.data[out.len - 1 - i] = s;
  }
  change c = {.at = b, .now = out};
  ac_push(d->a, &d->changes, c);
  return want;
}

/* ---- which ---- */

typedef struct {
  ac_akernel *k;
  int *calls, *copies,
      *flags;  /* by method; by buffer and kind of copy: those there are, and their flags on the spot */
  bool *fixed; /* by buffer: they stay on the spot */
} counts;
enum { KINDS = 4 };
static const struct {
  ac_event event;
  bool to_ub, back;
} kinds[KINDS] = {{AC_EV_MTE3_V, false, false},
                  {AC_EV_MTE2_V, true, false},
                  {AC_EV_V_MTE2, true, true},
                  {AC_EV_V_MTE3, false, true}};

static void count(void *user, ac_astmt *s) {
  counts *c = user;
  if (s->kind == AC_AS_CALL) c->calls[s->method]++;
  if (s->kind == AC_AS_FLAG && s->tensor)
    for (int i = 0; i < KINDS; i++) c->flags[s->tensor->buffer * KINDS + i] += s->event == kinds[i].event;
  if (s->kind != AC_AS_COPY) return;
  const ac_agm *g = &c->k->gms.data[s->copy->gm];
  int b = s->copy->ub->buffer;
  for (int i = 0; i < KINDS; i++) c->copies[b * KINDS + i] += s->copy->to_ub == kinds[i].to_ub;
  if ((g->in && g->out) || s->copy->by_element) c->fixed[b] = true;
}

static const ac_atensor *handle(const ac_akernel *k, int buffer) {
  for (size_t i = 0; i < k->handles.len; i++)
    if (k->handles.data[i]->buffer == buffer) return k->handles.data[i];
  return NULL;
}

static void defer(ac_lower_ctx *c, const counts *n, int buffer, int kind) {
  ac_akernel *k = n->k;
  int copies = n->copies[buffer * KINDS + kind];
  if (!copies || copies != n->flags[buffer * KINDS + kind]) return;
  if (ac_lower_held(k, kinds[kind].event) + 1 >= AC_EVENT_IDS) return;
  deferral d = {.a = c->a,
                .k = k,
                .buffer = buffer,
                .to_ub = kinds[kind].to_ub,
                .back = kinds[kind].back,
                .event = kinds[kind].event,
                .tensor = handle(k, buffer),
                .held = (int)k->held.len + 1,
                .calls = n->calls,
                .seen = AC_NEW_N(c->a, bool, k->methods.len + 1)};
  if (!d.tensor) return;
  rewrite(&d, &k->methods.data[0].body, false, false);
  if (!d.gains) return;
  for (size_t i = 0; i < d.changes.len; i++) *d.changes.data[i].at = d.changes.data[i].now;
  ac_aheld h = {.name = ac_sprintf(c->a, "acFlag%zu", k->held.len),
                .event = d.event,
                .buffer = k->buffers.data[buffer].buffer,
                .loc = k->buffers.data[buffer].loc};
  ac_push(c->a, &k->held, h);
}

/* ---- flags behind copies whose buffer nobody touches again ---- */

typedef struct {
  const counts *n;
  int buffer;
} idle;

static bool touched_in(const idle *d, const ac_ablock *b) {
  for (size_t i = 0; i < b->len; i++) {
    const ac_astmt *s = b->data[i];
    const ac_akernel *k = d->n->k;
    if (ac_lower_accesses(k, s, d->buffer) || touched_in(d, &s->body) || touched_in(d, &s->orelse)) return true;
    if (s->kind == AC_AS_CALL && touched_in(d, &k->methods.data[s->method].body)) return true;
  }
  return false;
}

static bool is_idle(const idle *d, const ac_astmt *s, bool later) {
  bool behind = s->event == AC_EV_MTE3_V || s->event == AC_EV_MTE2_V;
  return !later && behind && s->kind == AC_AS_FLAG && s->tensor && s->tensor->buffer == d->buffer;
}

/* Takes them out of a list behind whose end the buffer is touched `later`, or is not; is it from the list's beginning on? */
static bool take_idle(const idle *d, ac_ablock *b, bool later) {
  size_t w = b->len;
  for (size_t i = b->len; i-- > 0;) {
    ac_astmt *s = b->data[i];
    if (is_idle(d, s, later)) continue;
    b->data[--w] = s;
    if (s->kind == AC_AS_CALL) {
      ac_ablock *body = &d->n->k->methods.data[s->method].body;
      later = d->n->calls[s->method] == 1 ? take_idle(d, body, later) : later || touched_in(d, body);
    } else if (s->kind == AC_AS_IF) {
      bool x = take_idle(d, &s->body, later), y = take_idle(d, &s->orelse, later);
      later = x || y;
    } else if (s->kind == AC_AS_FOR || s->kind == AC_AS_WHILE) {
      later = later || touched_in(d, &s->body); /* the next trip */
      take_idle(d, &s->body, later);
    } else if (s->kind == AC_AS_RETURN)
      later = false;
    else if (s->kind == AC_AS_BREAK || ac_lower_accesses(d->n->k, s, d->buffer))
      later = true;
  }
  for (size_t i = w; i < b->len; i++) b->data[i - w] = b->data[i];
  b->len -= w;
  return later;
}

/* ---- ids, and what has become a flag on the spot again ---- */

static bool meets(const ac_astmt *x, const ac_astmt *y) {
  return x->kind == AC_AS_SET && y->kind == AC_AS_WAIT && x->held == y->held;
}
static void join(ac_ablock *b) {
  size_t w = 0;
  for (size_t i = 0; i < b->len; i++) {
    ac_astmt *s = b->data[i];
    join(&s->body);
    join(&s->orelse);
    if (w && meets(b->data[w - 1], s)) {
      s = b->data[--w];
      s->kind = AC_AS_FLAG;
      s->held = 0;
    }
    bool again =
        w && s->kind == AC_AS_FLAG && b->data[w - 1]->kind == AC_AS_FLAG && b->data[w - 1]->event == s->event;
    if (!again) b->data[w++] = s;
  }
  b->len = w;
}

static void ids(ac_arena *a, const ac_akernel *k, ac_ablock *out, ac_askind kind, ac_loc loc) {
  for (size_t i = 0; i < k->held.len; i++) {
    ac_astmt *s = ac_as_new(a, kind, loc);
    s->event = k->held.data[i].event;
    s->held = (int)i + 1;
    ac_push(a, out, s);
  }
}
static void release(ac_arena *a, const ac_akernel *k, ac_ablock *b) {
  ac_ablock out = {0};
  for (size_t i = 0; i < b->len; i++) {
    ac_astmt *s = b->data[i];
    if (s->body.len) release(a, k, &s->body);
    if (s->orelse.len) release(a, k, &s->orelse);
    if (s->kind == AC_AS_RETURN) ids(a, k, &out, AC_AS_RELEASE, s->loc);
    ac_push(a, &out, s);
  }
  *b = out;
}

static void kernel(ac_lower_ctx *c, ac_akernel *k) {
  counts n = {.k = k,
              .calls = AC_NEW_N(c->a, int, k->methods.len + 1),
              .copies = AC_NEW_N(c->a, int, k->buffers.len *KINDS + 1),
              .flags = AC_NEW_N(c->a, int, k->buffers.len *KINDS + 1),
              .fixed = AC_NEW_N(c->a, bool, k->buffers.len + 1)};
  for (size_t m = 0; m < k->methods.len; m++) ac_as_walk(&k->methods.data[m].body, count, &n);
  for (int kind = 0; kind < KINDS; kind++)
    for (size_t b = 0; b < k->buffers.len; b++)
      if (k->buffers.data[b].sync && !n.fixed[b]) defer(c, &n, (int)b, kind);
  for (size_t b = 0; b < k->buffers.len; b++)
    if (k->buffers.data[b].sync) take_idle(&(idle){&n, (int)b}, &k->methods.data[0].body, false);
  for (size_t m = 0; m < k->methods.len; m++) join(&k->methods.data[m].body);
  if (!k->held.len) return;
  ac_ablock *process = &k->methods.data[0].body, all = {0};
  release(c->a, k, process);
  ids(c->a, k, &all, AC_AS_HOLD, k->loc);
  for (size_t i = 0; i < process->len; i++) ac_push(c->a, &all, process->data[i]);
  ids(c->a, k, &all, AC_AS_RELEASE, k->loc);
  *process = all;
}

bool ac_lower_defer(ac_lower_ctx *c) {
  for (size_t i = 0; i < c->p->kernels.len; i++) kernel(c, c->p->kernels.data[i]);
  return true;
}

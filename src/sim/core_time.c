/* A block's clock: units that run by themselves, started by the scalar unit, ordered by what the program says.
 *
 * The scalar unit is at `now` and hands instructions out. A unit takes them in order: each starts when the unit is free, the scalar
 * unit has come to it, and what the unit was told to wait for is over. */
#include "sim/core_time_internal.h"

#include <stdlib.h>
#include <string.h>

static int64_t ticks(double cycles) {
  return (int64_t)(cycles * ACSIM_TICKS + 0.5);
}
static int64_t later(int64_t a, int64_t b) {
  return a > b ? a : b;
}

acsim_time *acsim_time_new(acsim_block *b) {
  if (!b->s->times) return NULL;
  acsim_time *t = calloc(1, sizeof *t);
  if (!t) ac_no_memory("the model of time");
  t->c = b->s->times->c;
  t->now = ticks(t->c->block);
  for (int p = 0; p < AC_PIPE_COUNT; p++) t->free[p] = t->done[p] = t->now;
  t->traced = b->index < b->s->cfg.trace_blocks;
  return t;
}

void acsim_time_free(acsim_time *t) {
  if (!t) return;
  free(t->buffers);
  free(t->pages);
  free(t->stalls.data);
  free(t->spans.data);
  free(t);
}

const char *acsim_time_last(const acsim_block *b, acsim_at *at) {
  if (!b->time) return NULL;
  *at = b->time->p.at;
  return b->time->p.op;
}

/* ---- stalls ---- */

static bool same_edge(const time_stall *a, ac_pipe pipe, const time_edge *e) {
  return a->pipe == pipe && a->edge.at.line == e->at.line && a->edge.at.file == e->at.file &&
         a->edge.what == e->what && a->edge.event == e->event && a->edge.from.at.line == e->from.at.line &&
         a->edge.from.op == e->from.op;
}

void acsim_stall_add(time_stalls *v, ac_pipe pipe, const time_edge *e, int64_t t, int64_t count, size_t limit) {
  static const time_edge others = {.what = "others", .event = ""};
  uint32_t *hint = &v->hint[((unsigned)e->at.line * 7 + (unsigned)e->from.at.line * 3 + pipe) % 64];
  size_t i = *hint < v->len && same_edge(&v->data[*hint], pipe, e) ? *hint : v->len;
  for (size_t k = 0; i == v->len && k < v->len; k++)
    if (same_edge(&v->data[k], pipe, e)) i = k;
  if (i == v->len && limit && v->len >= limit && e != &others) {
    acsim_stall_add(v, pipe, &others, t, count, limit + AC_PIPE_COUNT);
    return;
  }
  if (i == v->cap) {
    v->cap = v->cap ? v->cap * 2 : 16;
    v->data = realloc(v->data, v->cap * sizeof *v->data);
    if (!v->data) ac_no_memory("the model of time");
  }
  if (i == v->len) v->data[v->len++] = (time_stall){pipe, *e, 0, 0};
  *hint = (uint32_t)i;
  v->data[i].ticks += t;
  v->data[i].count += count;
}

static void stall(acsim_block *b, ac_pipe pipe, int64_t t, const time_edge *e) {
  acsim_stall_add(&b->time->stalls, pipe, e, t, 1, TIME_STALLS);
}

/* ---- the trace, where one is asked for ---- */

/* 1 + its number. */
static uint32_t span(acsim_block *b, const time_span *x) {
  acsim_time *t = b->time;
  time_spans *v = &t->spans;
  if ((int64_t)v->len >= b->s->cfg.trace_spans) return t->spans_dropped++, 0;
  if (v->len == v->cap) {
    v->cap = v->cap ? v->cap * 2 : 256;
    v->data = realloc(v->data, v->cap * sizeof *v->data);
    if (!v->data) ac_no_memory("the model of time");
  }
  v->data[v->len++] = *x;
  return (uint32_t)v->len;
}

/* ---- the scalar unit ---- */

static void work(acsim_time *t, double cycles) {
  int64_t n = ticks(cycles);
  t->now += n;
  t->busy[AC_PIPE_S] += n;
}

static void scalar_wait(acsim_block *b, int64_t until, const time_edge *e) {
  acsim_time *t = b->time;
  if (until <= t->now) return;
  stall(b, AC_PIPE_S, until - t->now, e);
  if (t->traced) span(b, &(time_span){e->what, e->event, e->at, t->now, until, e->from.span, AC_PIPE_S, true});
  t->now = until;
  t->scalar_until = until;
  t->scalar_why = *e;
}

static bool auto_sync(const acsim_block *b) {
  return b->s->cfg.hazards != AC_HAZARDS_STRICT;
}

static time_buffer *buffer_of(acsim_time *t, uint16_t slot) {
  if (slot >= t->n_buffers) {
    size_t n = slot + 16u;
    t->buffers = realloc(t->buffers, n * sizeof *t->buffers);
    if (!t->buffers) ac_no_memory("the model of time");
    memset(&t->buffers[t->n_buffers], 0, (n - t->n_buffers) * sizeof *t->buffers);
    t->n_buffers = n;
  }
  return &t->buffers[slot];
}

/* GetValue and SetValue: the vendor compiler sets a flag behind the instruction whose buffer it is, and waits for it here. */
static void scalar_access(acsim_block *b, const char *op, acsim_at at, const acsim_access *x) {
  static const char *const events[AC_PIPE_COUNT] = {"", "V_S", "M_S", "MTE1_S", "MTE2_S", "MTE3_S", "FIX_S"};
  acsim_time *t = b->time;
  bool writes = x->how & ACSIM_WRITE;
  const time_buffer *f = buffer_of(t, x->t->buf);
  const acsim_stamp *until = writes && f->read.t > f->write.t ? &f->read : &f->write;
  if (auto_sync(b)) scalar_wait(b, until->t, &(time_edge){op, events[until->pipe], at, *until});
  work(t, writes ? t->c->scalar.set_local : t->c->scalar.get_local);
}

/* Through the data cache: lines of 64 bytes, one place for each. */
static void scalar_global(acsim_block *b, const acsim_gm *m, int64_t off, int64_t bytes, bool writes) {
  acsim_time *t = b->time;
  for (int64_t line = off / 64; line <= (off + bytes - 1) / 64; line++) {
    uint64_t tag = ((uint64_t)m->id << 48 | (uint64_t)line) + 1;
    uint64_t *place = &t->cache[((uint64_t)line + (uint64_t)m->id * 37) % TIME_CACHE];
    work(t, *place != tag ? t->c->scalar.gm_miss : writes ? t->c->scalar.set_gm : t->c->scalar.get_gm);
    *place = tag;
  }
}

void acsim_time_call(acsim_block *b, acsim_call what) {
  acsim_time *t = b->time;
  if (!t) return;
  acsim_time_begin(b);
  double cost[] = {t->c->scalar.queue, t->c->scalar.flag, t->c->scalar.init_buffer, t->c->scalar.mask,
                   t->c->scalar.call};
  work(t, cost[what]);
}

/* ---- an instruction on its unit ---- */

/* The unit's queue of instructions has so many places: the scalar unit waits for one. */
static void take_place(acsim_block *b, ac_pipe p, acsim_at at) {
  acsim_time *t = b->time;
  uint32_t places = (uint32_t)t->c->scalar.instruction_queue;
  if (places < 1) places = 1;
  if (places > TIME_QUEUE) places = TIME_QUEUE;
  if (t->n_starts[p] < places) return;
  int64_t freed = t->starts[p][(t->n_starts[p] - places) % TIME_QUEUE];
  scalar_wait(b, freed, &(time_edge){"issue", "queue full", at, t->last[p]});
}

/* Vector results that the instruction needs or replaces, and that are still on their way: the compiler puts PipeBarrier<PIPE_V> in
 * front of it. */
static int64_t results(const acsim_time *t, const time_pending *p, acsim_stamp *by) {
  int64_t until = 0;
  for (int r = 0; r < t->n_recent && r < TIME_RECENT; r++)
    for (int i = 0; i < p->n; i++) {
      if (t->recent[r].mem != p->x[i].mem || t->recent[r].until <= until || t->recent[r].lo >= p->x[i].hi ||
          p->x[i].lo >= t->recent[r].hi)
        continue;
      until = t->recent[r].until;
      *by = t->recent[r].by;
    }
  return until;
}

static void note_result(acsim_time *t, const time_pending *p, int64_t until) {
  for (int i = 0; i < p->n; i++) {
    if (!(p->x[i].how & ACSIM_WRITE)) continue;
    int r = t->n_recent++ % TIME_RECENT;
    t->recent[r].lo = p->x[i].lo;
    t->recent[r].hi = p->x[i].hi;
    t->recent[r].mem = p->x[i].mem;
    t->recent[r].until = until;
    t->recent[r].by = t->last[AC_PIPE_V];
    if (t->n_recent >= 2 * TIME_RECENT) t->n_recent -= TIME_RECENT;
  }
}

static void note_buffers(acsim_time *t, const time_pending *p, const acsim_stamp *by) {
  for (int i = 0; i < p->n; i++) {
    time_buffer *f = buffer_of(t, p->x[i].buf);
    acsim_stamp *s = p->x[i].how & ACSIM_WRITE ? &f->write : &f->read;
    if (s->t < by->t) *s = *by;
  }
}

/* How long the unit is taken, and how much later the result is there. */
typedef struct {
  int64_t head, body, after;
} spans;

/* The larger of the sources; of the destinations where there is none. Scratch tensors are written only. */
static int64_t largest_operand(const time_pending *p) {
  int64_t most[2] = {0, 0};
  for (int i = 0; i < p->n; i++) {
    int64_t *m = &most[p->x[i].how & ACSIM_READ ? 0 : 1];
    *m = later(*m, p->x[i].bytes);
  }
  return most[0] ? most[0] : most[1];
}

static spans vector_spans(const time_pending *p) {
  const ac_op_cost *row = p->row;
  int64_t repeats = (largest_operand(p) + 255) / 256;
  int64_t body = p->known ? p->ticks : ticks(ac_cost_vector(row, AC_NODTYPE, repeats, 0, false));
  return (spans){ticks(row->head), body, ticks(row->tail)};
}

static spans copy_spans(const acsim_time *t, const time_pending *p) {
  const ac_copy_cost *c = p->pipe == AC_PIPE_MTE3 ? &t->c->out : &t->c->in;
  int64_t bytes = p->gm_ticks;
  if (p->atomic) bytes = (int64_t)((double)bytes * t->c->atomic);
  return (spans){0, ticks(c->start) + bytes, ticks(c->latency)};
}

static const ac_op_cost *row_of(acsim_time *t, const char *op) {
  size_t h = ((uintptr_t)op >> 3) % AC_COUNT(t->rows);
  if (t->rows[h].op != op) {
    t->rows[h].op = op;
    t->rows[h].row = ac_cost_of(t->c, op);
  }
  return t->rows[h].row;
}

/* What the unit stood still for; valid until the next call. */
static const time_edge *reason(acsim_time *t, ac_pipe p, int64_t start, int64_t results_at, const acsim_stamp *by,
                               acsim_at at) {
  if (results_at == start && results_at > t->ready[p]) {
    t->edge.what = "dependent";
    t->edge.event = "PIPE_V";
    t->edge.from = *by;
  } else if (t->ready[p] == start) {
    return &t->why[p];
  } else if (t->scalar_until > t->free[p]) {
    return &t->scalar_why;
  } else {
    t->edge.what = "issue";
    t->edge.event = "";
    t->edge.from = (acsim_stamp){.pipe = AC_PIPE_S};
  }
  t->edge.at = at;
  return &t->edge;
}

static void schedule(acsim_block *b) {
  acsim_time *t = b->time;
  time_pending *p = &t->p;
  ac_pipe u = p->pipe;
  bool vector = u == AC_PIPE_V;
  work(t, vector ? t->c->scalar.issue_v : t->c->scalar.issue_copy);
  take_place(b, u, p->at);
  if (vector && !p->row) p->row = row_of(t, p->op);
  acsim_stamp by = {0};
  int64_t wait = vector && auto_sync(b) ? results(t, p, &by) : 0;
  int64_t start = later(later(t->free[u], t->now), later(t->ready[u], wait));
  bool idle = start > t->free[u];
  if (idle) stall(b, u, start - t->free[u], reason(t, u, start, wait, &by, p->at));
  spans s = vector ? vector_spans(p) : copy_spans(t, p);
  int64_t taken = s.body + (idle || !t->n_starts[u] ? s.head : 0);
  t->starts[u][t->n_starts[u]++ % TIME_QUEUE] = start;
  t->busy[u] += taken;
  t->free[u] = start + taken;
  int64_t end = t->free[u] + s.after;
  acsim_stamp now = {end, p->at, p->op, u, 0};
  if (t->traced) {
    if (wait == start && by.span) t->arrow[u] = by.span, t->arrow_edge[u] = "PIPE_V";
    const char *edge = t->arrow[u] ? t->arrow_edge[u] : "";
    now.span = span(b, &(time_span){p->op, edge, p->at, start, t->free[u], t->arrow[u], (uint8_t)u, false});
    t->arrow[u] = 0;
  }
  if (end >= t->done[u]) t->done[u] = end, t->last[u] = now;
  if (vector) note_result(t, p, end);
  note_buffers(t, p, &now);
}

void acsim_time_begin(acsim_block *b) {
  acsim_time *t = b->time;
  if (!t) return;
  if (t->p.open) schedule(b);
  t->p.open = t->p.known = t->p.atomic = false;
  t->p.row = NULL;
  t->p.n = 0;
  t->p.gm_ticks = 0;
}

int64_t acsim_time_counter(const acsim_block *b) {
  const acsim_time *t = b->time;
  return t ? (int64_t)((double)t->now / ACSIM_TICKS / b->s->chip->mhz * t->c->counter_mhz) : b->calls;
}

/* ---- what an instruction touches ---- */

static time_pending *pending(acsim_block *b, ac_pipe pipe, const char *op, acsim_at at) {
  time_pending *p = &b->time->p;
  if (p->open && (p->pipe != pipe || p->op != op || p->at.line != at.line || p->at.file != at.file))
    acsim_time_begin(b);
  p->open = true;
  p->pipe = pipe;
  p->op = op;
  p->at = at;
  return p;
}

static void operand(time_pending *p, const acsim_access *x) {
  int64_t lo = (int64_t)x->t->addr + x->off, hi = lo + x->bytes;
  for (int i = 0; i < p->n; i++) {
    if (p->x[i].name != x->name || p->x[i].buf != x->t->buf) continue;
    if (lo < p->x[i].lo) p->x[i].lo = lo;
    if (hi > p->x[i].hi) p->x[i].hi = hi;
    p->x[i].bytes += x->bytes;
    return;
  }
  if (p->n == TIME_OPERANDS) return;
  p->x[p->n].name = x->name;
  p->x[p->n].lo = lo;
  p->x[p->n].hi = hi;
  p->x[p->n].bytes = x->bytes;
  p->x[p->n].buf = x->t->buf;
  p->x[p->n].mem = x->t->mem;
  p->x[p->n++].how = (uint8_t)x->how;
}

void acsim_time_local(acsim_block *b, ac_pipe pipe, const char *op, acsim_at at, const acsim_access *x, int n) {
  if (!b->time) return;
  if (pipe == AC_PIPE_S) {
    acsim_time_begin(b);
    for (int i = 0; i < n; i++)
      if (!(x[i].how & ACSIM_ADDRESS)) scalar_access(b, op, at, &x[i]);
    return;
  }
  time_pending *p = pending(b, pipe, op, at);
  for (int i = 0; i < n; i++)
    if (x[i].bytes > 0) operand(p, &x[i]);
}

/* Blocks of one operand that lie in one bank group take turns (asc-devkit docs/zh, UB bank conflicts): turns that 8 blocks, `stride`
 * blocks apart, need. */
static int turns(int groups, int stride) {
  if (!stride || groups < 1) return 1;
  int most = 1;
  for (int i = 0; i < 8; i++) {
    int same = 0;
    for (int k = 0; k < 8; k++) same += (k * stride) % groups == (i * stride) % groups;
    if (same > most) most = same;
  }
  return most;
}

static double bank_turns(const ac_costs *c, const acsim_vector *v) {
  const acsim_repeat *r = v->repeat;
  if (!r || v->op == ACSIM_OP_Gather || v->op == ACSIM_OP_Scatter || v->op == ACSIM_OP_Brcb) return 0;
  int in = (v->a ? turns(c->bank_groups, r->a_block) : 0) + (v->b ? turns(c->bank_groups, r->b_block) : 0);
  int out = turns(c->bank_groups, r->dst_block);
  /* contiguous operands are what the cost of a repeat holds already */
  int plain = (v->a != NULL) + (v->b != NULL);
  if (in == plain && out == 1) return 0;
  return in > out ? in : out;
}

void acsim_time_vector(acsim_block *b, const acsim_vector *v, int64_t repeats) {
  acsim_time *t = b->time;
  if (!t) return;
  if (t->p.open) acsim_time_begin(b);
  bool count = !v->repeat;
  t->p.row = b->s->times->rows[v->op];
  t->p.ticks = ticks(ac_cost_vector(t->p.row, (ac_dtype)v->type, repeats, bank_turns(t->c, v), count));
  t->p.known = true;
  if (count) work(t, t->c->scalar.count_form);
}

/* ---- global memory ---- */

static time_page *page_of(acsim_time *t, uint64_t key) {
  if (t->n_pages * 2 >= t->cap_pages) {
    size_t old = t->cap_pages;
    time_page *was = t->pages;
    t->cap_pages = old ? old * 2 : 64;
    t->pages = calloc(t->cap_pages, sizeof *t->pages);
    if (!t->pages) ac_no_memory("the model of time");
    for (size_t i = 0; i < old; i++) {
      if (!was[i].key) continue;
      size_t h = was[i].key * 0x9e3779b97f4a7c15u >> 20;
      while (t->pages[h % t->cap_pages].key) h++;
      t->pages[h % t->cap_pages] = was[i];
    }
    free(was);
  }
  size_t h = key * 0x9e3779b97f4a7c15u >> 20;
  for (;; h++) {
    time_page *p = &t->pages[h % t->cap_pages];
    if (p->key == key) return p;
    if (p->key) continue;
    p->key = key;
    t->n_pages++;
    return p;
  }
}

/* How many of the lines [from, to] this block touches for the first time. */
static int64_t first_touches(acsim_time *t, const acsim_gm *m, int64_t from, int64_t to) {
  int64_t fresh = 0;
  for (int64_t line = from; line <= to;) {
    time_page *p = page_of(t, ((uint64_t)m->id << 44 | (uint64_t)line >> 9) + 1);
    for (int64_t end = (line | 511) < to ? line | 511 : to; line <= end; line++) {
      uint64_t bit = 1ull << (line & 63), *w = &p->bits[line >> 6 & 7];
      fresh += !(*w & bit);
      *w |= bit;
    }
  }
  return fresh;
}

/* Every line of the launch once: which block comes first makes no difference. */
// NOLINTNEXTLINE(readability-non-const-parameter): written to atomically
static void mark_lines(uint64_t *bits, int64_t from, int64_t to) {
  if (!bits) return;
  for (int64_t w = from / 64; w <= to / 64; w++) {
    uint64_t mask = ~0ull;
    if (w == from / 64) mask <<= from % 64;
    if (w == to / 64) mask &= ~0ull >> (63 - to % 64);
    if ((__atomic_load_n(&bits[w], __ATOMIC_RELAXED) & mask) != mask)
      __atomic_fetch_or(&bits[w], mask, __ATOMIC_RELAXED);
  }
}

void acsim_time_global(acsim_block *b, ac_pipe pipe, const char *op, acsim_at at, acsim_gm *m, const uint8_t *p,
                       int64_t bytes, acsim_gm_how how) {
  acsim_time *t = b->time;
  if (!t) return;
  bool writes = how != GM_READ;
  int64_t off = p - m->start;
  if (pipe == AC_PIPE_S) {
    acsim_time_begin(b);
    scalar_global(b, m, off, bytes, writes);
    return;
  }
  const acsim_times *s = b->s->times;
  time_pending *x = pending(b, pipe, op, at);
  int64_t req = t->c->request, asked = (off + bytes + req - 1) / req * req - off / req * req;
  int64_t from = off / t->c->line, to = (off + bytes - 1) / t->c->line;
  mark_lines(m->lines[writes], from, to);
  int64_t fresh = s->resident ? 0 : first_touches(t, m, from, to);
  double far = (writes ? s->spill : s->miss) * (double)fresh / (double)(to - from + 1);
  double each = far * (writes ? s->hbm_write : s->hbm_read) + (1 - far) * (writes ? s->l2_write : s->l2_read);
  double n = (double)asked * each;
  if (off % t->c->align) n /= t->c->unaligned;
  /* the first block's own is part of `start`: what single transfers take is published */
  x->gm_ticks += x->gm_ticks ? later((int64_t)n, ticks(writes ? t->c->out.burst : t->c->in.burst)) : (int64_t)n;
  x->atomic = x->atomic || how == GM_UPDATE;
  *(writes ? &t->bytes_out : &t->bytes_in) += bytes;
}

/* ---- order ---- */

void acsim_time_set(acsim_block *b, ac_pipe from, acsim_stamp *flag) {
  acsim_time *t = b->time;
  if (!t) return;
  acsim_time_begin(b);
  work(t, t->c->scalar.flag);
  *flag = from == AC_PIPE_S ? (acsim_stamp){.pipe = from} : t->last[from];
  flag->pipe = from;
  flag->t = from == AC_PIPE_S ? t->now : later(t->done[from], t->now);
}

static void unit_waits(acsim_time *t, ac_pipe p, int64_t until, const time_edge *e) {
  if (until <= t->ready[p]) return;
  t->ready[p] = until;
  t->why[p] = *e;
  t->arrow[p] = e->from.span;
  t->arrow_edge[p] = e->event;
}

void acsim_time_wait(acsim_block *b, ac_pipe to, const char *event, const char *what, acsim_at at,
                     const acsim_stamp *flag) {
  acsim_time *t = b->time;
  if (!t) return;
  acsim_time_begin(b);
  work(t, t->c->scalar.flag);
  time_edge e = {what, event, at, *flag};
  if (to == AC_PIPE_S)
    scalar_wait(b, flag->t, &e);
  else
    unit_waits(t, to, flag->t, &e);
}

void acsim_time_barrier(acsim_block *b, ac_pipe pipe, acsim_at at) {
  static const char *const names[] = {"PIPE_S",    "PIPE_V",    "PIPE_M",   "PIPE_MTE1",
                                      "PIPE_MTE2", "PIPE_MTE3", "PIPE_FIX", "PIPE_ALL"};
  acsim_time *t = b->time;
  if (!t) return;
  acsim_time_begin(b);
  work(t, t->c->scalar.barrier);
  time_edge e = {"PipeBarrier", names[pipe], at, {.pipe = AC_PIPE_S}};
  if (pipe < AC_PIPE_COUNT) {
    e.from = t->last[pipe];
    e.from.pipe = pipe;
    unit_waits(t, pipe, t->done[pipe], &e);
    return;
  }
  int64_t all = t->now;
  for (int p = 0; p < AC_PIPE_COUNT; p++)
    if (t->done[p] > all) all = t->done[p], e.from = t->last[p];
  scalar_wait(b, all, &e);
  for (int p = 0; p < AC_PIPE_COUNT; p++) unit_waits(t, (ac_pipe)p, all, &e);
}

void acsim_time_go_on(acsim_block *b, acsim_at at) {
  acsim_time *t = b->time;
  if (!t) return;
  time_edge e = {"SyncAll", "", at, {.pipe = AC_PIPE_S}};
  scalar_wait(b, b->s->times->joined, &e);
  for (int p = 0; p < AC_PIPE_COUNT; p++) unit_waits(t, (ac_pipe)p, t->now, &e);
}

/* Happens before, inside a block: vector clocks of the pipes, and who touched which byte last.
 *
 * A clock has one number a pipe: "up to this epoch of that pipe, everything is known to have finished". A pipe's epoch ends
 * whenever somebody may learn that the pipe has come so far (SetFlag, a barrier), so that all accesses of one epoch are alike.
 * An access (pipe A, epoch e) happens before an instruction on pipe P if P's clock has A at e or later. */
#include "sim/core_hazard.h"

#include <stdlib.h>
#include <string.h>

/* Pipes that vector kernels read with; the cube's get their places here. */
enum { READ_S, READ_V, READ_MTE2, READ_MTE3, READERS };
enum { LEAF = 64, PENDING = 24, SITES = 512, COMPACT_LEAVES = 1024 };

static const ac_pipe reader_pipe[READERS] = {AC_PIPE_S, AC_PIPE_V, AC_PIPE_MTE2, AC_PIPE_MTE3};
static const char *const pipe_names[AC_PIPE_COUNT] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX"};

/* Site 0 is nobody. */
typedef struct {
  uint32_t epoch, instr, site;
} access_note;
typedef struct {
  int64_t lo, hi;
  access_note write, read[READERS];
  uint8_t pipe;    /* of the write */
  uint16_t atomic; /* its acsim_atomic_kind */
} segment;

/* Segments in order of address, apart from each other, in leaves of at most LEAF: insertion costs no more than a leaf. */
typedef struct {
  int n;
  segment s[LEAF];
} leaf;
typedef struct {
  leaf **leaves;
  size_t n, cap;
  size_t compact_at;
} shadow;
typedef struct {
  size_t leaf;
  int i;
} cursor;

typedef struct {
  acsim_at at;
  const char *op;
} site;

/* What one instruction touches, ranges that meet joined into one. */
typedef struct {
  const char *name;
  int64_t lo, hi;
  int64_t base; /* of the buffer, for messages */
  const acsim_gm *gm;
  uint8_t mem, pos;
  bool write;
  uint16_t atomic; /* acsim_atomic_kind */
} range;

struct acsim_order {
  bool auto_sync;
  bool many_blocks;
  acsim_clock known[AC_PIPE_COUNT];
  uint32_t epoch[AC_PIPE_COUNT];
  shadow memory[ACSIM_MEMS]; /* [ACSIM_GM]: by host address */
  /* the instruction at work */
  ac_pipe pipe;
  const char *op;
  acsim_at at;
  uint32_t instr;
  int n_pending;
  range pending[PENDING];
  site *sites;
  uint32_t n_sites, cap_sites, site_hash[SITES];
  acsim_traces traces;
};

acsim_order *acsim_order_new(acsim_session *s) {
  if (s->cfg.hazards == AC_HAZARDS_OFF) return NULL;
  acsim_order *o = calloc(1, sizeof *o);
  if (!o) ac_no_memory("the record of accesses");
  o->auto_sync = s->cfg.hazards == AC_HAZARDS_ON;
  o->many_blocks = s->count > 1;
  o->n_sites = 1;
  for (int p = 0; p < AC_PIPE_COUNT; p++) o->epoch[p] = 1;
  for (int m = 0; m < ACSIM_MEMS; m++) o->memory[m].compact_at = COMPACT_LEAVES;
  return o;
}

void acsim_order_free(acsim_order *o) {
  if (!o) return;
  for (int m = 0; m < ACSIM_MEMS; m++) {
    for (size_t i = 0; i < o->memory[m].n; i++) free(o->memory[m].leaves[i]);
    free(o->memory[m].leaves);
  }
  free(o->sites);
  free(o->traces.data);
  free(o);
}

acsim_traces *acsim_order_traces(acsim_order *o) {
  return &o->traces;
}

/* ---- source places ---- */

static uint32_t site_of(acsim_order *o, const char *op, acsim_at at) {
  size_t h = ((uintptr_t)at.file >> 4 ^ (size_t)at.line * 31 ^ (uintptr_t)op >> 3) % SITES;
  uint32_t known = o->site_hash[h];
  if (known && o->sites[known].at.line == at.line && o->sites[known].at.file == at.file && o->sites[known].op == op)
    return known;
  if (o->n_sites >= o->cap_sites) {
    o->cap_sites = o->cap_sites ? o->cap_sites * 2 : 64;
    o->sites = realloc(o->sites, o->cap_sites * sizeof *o->sites);
    if (!o->sites) ac_no_memory("the record of accesses");
  }
  o->sites[o->n_sites] = (site){at, op}; /* one that was driven out of the table comes again: no harm */
  return o->site_hash[h] = o->n_sites++;
}

/* ---- clocks ---- */

static void join(acsim_clock *to, const acsim_clock *from) {
  for (int p = 0; p < AC_PIPE_COUNT; p++)
    if (to->k[p] < from->k[p]) to->k[p] = from->k[p];
}

/* The scalar unit hands an instruction to its pipe: what the scalar unit has waited for is over. That says nothing of its own loads
 * and stores, which are under way (S_V, S_MTE2, S_MTE3 are for them): known[S].k[S] counts only what others have waited for. */
static void issue(acsim_order *o, ac_pipe p) {
  if (p != AC_PIPE_S) join(&o->known[p], &o->known[AC_PIPE_S]);
}

static acsim_clock publish(acsim_order *o, ac_pipe from) {
  issue(o, from);
  acsim_clock c = o->known[from];
  c.k[from] = o->epoch[from]++;
  return c;
}

/* ---- the shadow's structure ---- */

static segment *at_cursor(const shadow *m, cursor c) {
  return c.leaf < m->n ? &m->leaves[c.leaf]->s[c.i] : NULL;
}

/* First segment that ends after lo. */
static cursor find(const shadow *m, int64_t lo) {
  size_t a = 0, b = m->n;
  while (a < b) {
    size_t mid = (a + b) / 2;
    const leaf *l = m->leaves[mid];
    if (l->s[l->n - 1].hi > lo)
      b = mid;
    else
      a = mid + 1;
  }
  cursor c = {a, 0};
  if (a == m->n) return c;
  int x = 0, y = m->leaves[a]->n;
  while (x < y) {
    int mid = (x + y) / 2;
    if (m->leaves[a]->s[mid].hi > lo)
      y = mid;
    else
      x = mid + 1;
  }
  c.i = x;
  return c;
}

static void step(const shadow *m, cursor *c) {
  if (++c->i < m->leaves[c->leaf]->n) return;
  c->leaf++;
  c->i = 0;
}

static void insert_leaf(shadow *m, size_t at) {
  if (m->n == m->cap) {
    m->cap = m->cap ? m->cap * 2 : 8;
    m->leaves = realloc(m->leaves, m->cap * sizeof *m->leaves);
    if (!m->leaves) ac_no_memory("the record of accesses");
  }
  leaf *l = malloc(sizeof *l);
  if (!l) ac_no_memory("the record of accesses");
  l->n = 0;
  memmove(&m->leaves[at + 1], &m->leaves[at], (m->n - at) * sizeof *m->leaves);
  m->leaves[at] = l;
  m->n++;
}

/* Before the cursor; the cursor then points to the new one. */
static void insert(shadow *m, cursor *c, const segment *s) {
  if (c->leaf == m->n) { /* at the end: behind the last of the last leaf */
    if (!m->n) insert_leaf(m, 0);
    c->leaf = m->n - 1;
    c->i = m->leaves[c->leaf]->n;
  }
  leaf *l = m->leaves[c->leaf];
  if (l->n == LEAF) {
    bool append = c->leaf == m->n - 1 && c->i == LEAF; /* streams fill their leaves */
    int keep = append ? LEAF : LEAF / 2;
    insert_leaf(m, c->leaf + 1);
    leaf *r = m->leaves[c->leaf + 1];
    memcpy(r->s, &l->s[keep], (size_t)(LEAF - keep) * sizeof *l->s);
    r->n = LEAF - keep;
    l->n = keep;
    if (append || c->i > keep) {
      c->leaf++;
      c->i -= keep;
      l = r;
    }
  }
  memmove(&l->s[c->i + 1], &l->s[c->i], (size_t)(l->n - c->i) * sizeof *l->s);
  l->s[c->i] = *s;
  l->n++;
}

/* The cursor then points to the one behind. */
static void erase(shadow *m, cursor *c) {
  leaf *l = m->leaves[c->leaf];
  memmove(&l->s[c->i], &l->s[c->i + 1], (size_t)(l->n - c->i - 1) * sizeof *l->s);
  if (--l->n == 0) {
    free(l);
    memmove(&m->leaves[c->leaf], &m->leaves[c->leaf + 1], (m->n - c->leaf - 1) * sizeof *m->leaves);
    m->n--;
    c->i = 0;
  } else if (c->i == l->n) {
    c->leaf++;
    c->i = 0;
  }
}

/* Cuts the segment at the cursor in two at `at`; the cursor points to the second part. */
static void cut(shadow *m, cursor *c, int64_t at) {
  segment first = *at_cursor(m, *c);
  at_cursor(m, *c)->lo = at;
  first.hi = at;
  insert(m, c, &first);
  step(m, c);
}

static segment *before(const shadow *m, cursor c) {
  if (c.leaf < m->n && c.i > 0) return &m->leaves[c.leaf]->s[c.i - 1];
  if (c.leaf > 0) return &m->leaves[c.leaf - 1]->s[m->leaves[c.leaf - 1]->n - 1];
  return NULL;
}

static bool same_note(const access_note *a, const access_note *b) {
  return a->epoch == b->epoch && a->site == b->site;
}
static bool alike(const segment *a, const segment *b) {
  if (a->pipe != b->pipe || a->atomic != b->atomic || !same_note(&a->write, &b->write)) return false;
  for (int r = 0; r < READERS; r++)
    if (!same_note(&a->read[r], &b->read[r])) return false;
  return true;
}

/* Inserts, or lengthens the one before that says the same: neighbours touched in one epoch are one segment. */
static void put(shadow *m, cursor *c, const segment *s) {
  segment *p = before(m, *c);
  if (!p || p->hi != s->lo || !alike(p, s)) {
    insert(m, c, s);
    step(m, c);
    return;
  }
  p->hi = s->hi;
  p->write.instr = s->write.instr;
}

/* ---- hazards ---- */

typedef enum { RAW, WAR, WAW } hazard_kind;

static void place(char *to, size_t n, const range *x, int64_t lo, int64_t hi) {
  if (x->gm)
    snprintf(to, n, "elements %lld..%lld of %s", (long long)((lo - x->base) / x->gm->b.elem),
             (long long)((hi - 1 - x->base) / x->gm->b.elem), x->gm->b.name);
  else
    snprintf(to, n, "bytes %lld..%lld of the %s buffer", (long long)(lo - x->base), (long long)(hi - x->base),
             acsim_pos_name(x->pos));
}

static void report(acsim_block *b, hazard_kind kind, const range *x, const segment *s, ac_pipe from,
                   const access_note *old) {
  static const char *const kinds[] = {"hazard-raw", "hazard-war", "hazard-waw"};
  static const char *const verbs[] = {"reads", "overwrites", "overwrites"};
  bool kinds_meet = kind == WAW && x->atomic && s->atomic;
  acsim_order *o = b->order;
  const site *was = &o->sites[old->site];
  int64_t lo = x->lo > s->lo ? x->lo : s->lo, hi = x->hi < s->hi ? x->hi : s->hi;
  char where[200], missing[60];
  place(where, sizeof where, x, lo, hi);
  if (from == o->pipe)
    snprintf(missing, sizeof missing, "PipeBarrier<PIPE_%s>", pipe_names[from]);
  else
    snprintf(missing, sizeof missing, "the event %s_%s", pipe_names[from], pipe_names[o->pipe]);
  acsim_fault_pair(b->s, b, kinds[kind], o->at, was->at,
                   "%s (PIPE_%s) %s %s, which %s (PIPE_%s) %s at %s:%d, and nothing orders them: %s is missing%s",
                   o->op, pipe_names[o->pipe],
                   kinds_meet ? "updates, by another atomic operation or type," : verbs[kind], where, was->op,
                   pipe_names[from],
                   kind == WAR  ? "reads"
                   : kinds_meet ? "updates"
                                : "writes",
                   was->at.file ? was->at.file : "?", was->at.line, missing,
                   x->gm && (from == AC_PIPE_S || o->pipe == AC_PIPE_S) ? " (and DataCacheCleanAndInvalid)" : "");
}

/* Does the vendor compiler order this pair by itself? (asc-devkit docs/zh, core-internal synchronisation, key features, table 3:
 * vector after vector, and the scalar unit's GetValue and SetValue against V, MTE2 and MTE3; GlobalTensor::SetValue is not in
 * its list.) */
static bool compiler_orders(const acsim_order *o, ac_pipe from, const range *x, bool scalar_writes) {
  if (!o->auto_sync) return false;
  if (from != AC_PIPE_S && o->pipe != AC_PIPE_S) return false;
  return !(x->gm && scalar_writes);
}

/* The instruction at work against an access of the past. True: a hazard. */
static bool check(acsim_block *b, hazard_kind kind, const range *x, const segment *s, ac_pipe from,
                  const access_note *old) {
  acsim_order *o = b->order;
  ac_pipe p = o->pipe;
  if (!old->site || o->known[p].k[from] >= old->epoch) return false;
  if (from == p) {
    /* The scalar unit is in order. The vector unit starts in order, and reads before the next one writes (assumed). */
    if (old->instr == o->instr || p == AC_PIPE_S || (p == AC_PIPE_V && (o->auto_sync || kind == WAR))) return false;
  }
  bool scalar_writes = from == AC_PIPE_S ? kind != WAR : kind != RAW;
  if (compiler_orders(o, from, x, scalar_writes)) { /* as if the flag stood before this instruction */
    acsim_clock c = publish(o, from);
    join(&o->known[p], &c);
    return false;
  }
  report(b, kind, x, s, from, old);
  /* go on as if it were ordered: one missing event is reported once */
  if (o->known[p].k[from] < old->epoch) o->known[p].k[from] = old->epoch;
  if (o->epoch[from] == old->epoch) o->epoch[from]++;
  return true;
}

static void check_write(acsim_block *b, const range *x, const segment *s) {
  bool hazard = false;
  for (int r = 0; r < READERS; r++) hazard = check(b, WAR, x, s, reader_pipe[r], &s->read[r]) || hazard;
  if (hazard || (x->atomic && x->atomic == s->atomic))
    return; /* what orders it after the readers would order it after their writer */
  check(b, WAW, x, s, (ac_pipe)s->pipe, &s->write);
}

/* ---- an instruction's ranges against the shadow ---- */

static access_note now(const acsim_order *o, uint32_t where) {
  return (access_note){o->epoch[o->pipe], o->instr, where};
}

static void apply_write(acsim_block *b, shadow *m, const range *x, uint32_t where) {
  acsim_order *o = b->order;
  cursor c = find(m, x->lo);
  segment *s = at_cursor(m, c);
  for (cursor k = c; s && s->lo < x->hi; step(m, &k), s = at_cursor(m, k)) check_write(b, x, s);
  segment fresh = {.lo = x->lo, .hi = x->hi, .write = now(o, where), .pipe = (uint8_t)o->pipe, .atomic = x->atomic};
  s = at_cursor(m, c);
  if (s && s->lo == x->lo && s->hi == x->hi) { /* as last time */
    *s = fresh;
    return;
  }
  if (s && s->lo < x->lo) cut(m, &c, x->lo);
  while ((s = at_cursor(m, c)) && s->lo < x->hi) {
    if (s->hi > x->hi)
      s->lo = x->hi;
    else
      erase(m, &c);
  }
  put(m, &c, &fresh);
}

static int reader_of(ac_pipe p) {
  for (int r = 0; r < READERS; r++)
    if (reader_pipe[r] == p) return r;
  return -1;
}

static void apply_read(acsim_block *b, shadow *m, const range *x, uint32_t where) {
  acsim_order *o = b->order;
  int who = reader_of(o->pipe);
  if (who < 0) return;
  int64_t at = x->lo;
  cursor c = find(m, at);
  while (at < x->hi) {
    segment *s = at_cursor(m, c);
    if (!s || s->lo > at) {
      segment gap = {.lo = at, .hi = s && s->lo < x->hi ? s->lo : x->hi};
      gap.read[who] = now(o, where);
      put(m, &c, &gap);
      at = gap.hi;
      continue;
    }
    check(b, RAW, x, s, (ac_pipe)s->pipe, &s->write);
    if (s->lo < at) cut(m, &c, at);
    s = at_cursor(m, c);
    if (s->hi > x->hi) {
      cut(m, &c, x->hi);
      s = before(m, c);
      s->read[who] = now(o, where);
      return;
    }
    s->read[who] = now(o, where);
    at = s->hi;
    step(m, &c);
  }
}

/* ---- forgetting ---- */

/* Could anybody still meet this access unordered? */
static bool over(const acsim_order *o, ac_pipe from, const access_note *n) {
  static const ac_pipe others[] = {AC_PIPE_S, AC_PIPE_MTE2, AC_PIPE_MTE3};
  if (!n->site) return true;
  for (size_t i = o->auto_sync; i < AC_COUNT(others); i++) /* the compiler orders the scalar unit */
    if (o->known[others[i]].k[from] < n->epoch) return false;
  return true;
}

/* Global memory of a long run: what is over is dropped once there is much of it. */
static void compact(acsim_order *o, shadow *m) {
  if (m->n < m->compact_at) return;
  for (cursor c = {0, 0}; c.leaf < m->n;) {
    segment *s = at_cursor(m, c);
    bool gone = over(o, (ac_pipe)s->pipe, &s->write);
    for (int r = 0; gone && r < READERS; r++) gone = over(o, reader_pipe[r], &s->read[r]);
    if (gone)
      erase(m, &c);
    else
      step(m, &c);
  }
  m->compact_at = m->n * 2 < COMPACT_LEAVES ? COMPACT_LEAVES : m->n * 2;
}

/* ---- collecting an instruction ---- */

static void flush(acsim_block *b) {
  acsim_order *o = b->order;
  if (!o->n_pending) return;
  issue(o, o->pipe);
  uint32_t where = site_of(o, o->op, o->at);
  for (int i = 0; i < o->n_pending; i++)
    if (!o->pending[i].write) apply_read(b, &o->memory[o->pending[i].mem], &o->pending[i], where);
  for (int i = 0; i < o->n_pending; i++)
    if (o->pending[i].write) apply_write(b, &o->memory[o->pending[i].mem], &o->pending[i], where);
  o->n_pending = 0;
  compact(o, &o->memory[ACSIM_GM]);
}

void acsim_order_begin(acsim_block *b) {
  acsim_time_begin(b);
  if (!b->order) return;
  flush(b);
  b->order->instr++;
}

static void note(acsim_block *b, ac_pipe pipe, const char *op, acsim_at at, const range *x) {
  acsim_order *o = b->order;
  if (o->n_pending && (pipe != o->pipe || op != o->op || at.line != o->at.line || at.file != o->at.file))
    acsim_order_begin(b);
  o->pipe = pipe;
  o->op = op;
  o->at = at;
  /* the blocks of a repeat and the rows of a copy usually follow each other, operand by operand */
  for (int i = o->n_pending; i-- > 0 && i >= o->n_pending - 4;) {
    range *p = &o->pending[i];
    if (p->mem != x->mem || p->write != x->write || p->hi != x->lo || p->base != x->base) continue;
    p->hi = x->hi;
    return;
  }
  if (o->n_pending == PENDING) flush(b); /* the same instruction goes on */
  o->pending[o->n_pending++] = *x;
}

void acsim_order_local(acsim_block *b, ac_pipe pipe, const char *op, acsim_at at, const acsim_access *x) {
  if (!b->order || x->bytes <= 0 || x->how & ACSIM_ADDRESS) return;
  int64_t lo = (int64_t)x->t->addr + x->off;
  range r = {x->name, lo, lo + x->bytes, x->t->base, NULL, x->t->mem, x->t->pos, false, 0};
  if (x->how & ACSIM_READ) note(b, pipe, op, at, &r);
  r.write = true;
  if (x->how & ACSIM_WRITE) note(b, pipe, op, at, &r);
}

void acsim_order_global(acsim_block *b, ac_pipe pipe, const char *op, acsim_at at, const acsim_gm *m,
                        const uint8_t *p, int64_t bytes, acsim_gm_how how) {
  acsim_order *o = b->order;
  if (!o) return;
  int64_t lo = (int64_t)(intptr_t)p;
  range r = {m->b.name, lo,           lo + bytes,     (int64_t)(intptr_t)m->start, m,
             ACSIM_GM,  ACSIM_POS_GM, how != GM_READ, acsim_atomic_kind(b, how)};
  note(b, pipe, op, at, &r);
  if (!o->many_blocks) return;
  acsim_trace_add(&o->traces, &(acsim_trace){.at = at,
                                             .op = op,
                                             .m = m,
                                             .start = (uint64_t)lo,
                                             .bytes = (uint64_t)bytes,
                                             .count = 1,
                                             .block = b->index,
                                             .how = how,
                                             .atomic = r.atomic,
                                             .scalar = pipe == AC_PIPE_S && !b->bypass,
                                             .pipe = pipe,
                                             .epoch = o->epoch[pipe],
                                             .rank = b->rank});
}

/* ---- what orders ---- */

void acsim_order_set(acsim_block *b, ac_pipe from, acsim_clock *flag) {
  if (!b->order) return;
  acsim_order_begin(b);
  *flag = publish(b->order, from);
}

void acsim_order_wait(acsim_block *b, ac_pipe to, const acsim_clock *flag) {
  if (!b->order) return;
  acsim_order_begin(b);
  issue(b->order, to);
  join(&b->order->known[to], flag);
}

void acsim_order_barrier(acsim_block *b, ac_pipe pipe) {
  acsim_order *o = b->order;
  if (b->stalled && pipe == AC_PIPE_COUNT) acsim_defer_settle(b, -1, 0, (acsim_at){0});
  if (!o) return;
  acsim_order_begin(b);
  if (pipe < AC_PIPE_COUNT) {
    acsim_clock c = publish(o, pipe);
    join(&o->known[pipe], &c);
    return;
  }
  acsim_clock all = {0};
  for (int p = 0; p < AC_PIPE_COUNT; p++) {
    acsim_clock c = publish(o, (ac_pipe)p);
    join(&all, &c);
  }
  for (int p = 0; p < AC_PIPE_COUNT; p++) o->known[p] = all;
}

void acsim_order_scalar(acsim_block *b, acsim_clock *c, bool set) {
  acsim_order *o = b->order;
  if (!o) return;
  acsim_order_begin(b);
  if (set)
    o->known[AC_PIPE_S] = *c;
  else
    *c = o->known[AC_PIPE_S];
}

const char *acsim_pipe_name(ac_pipe p) {
  static const char *const names[AC_PIPE_COUNT] = {"PIPE_S",    "PIPE_V",    "PIPE_M",  "PIPE_MTE1",
                                                   "PIPE_MTE2", "PIPE_MTE3", "PIPE_FIX"};
  return names[p];
}

acsim_clock acsim_order_publish(acsim_block *b, ac_pipe pipe) {
  acsim_order *o = b->order;
  if (!o) return (acsim_clock){0};
  acsim_order_begin(b);
  if (pipe < AC_PIPE_COUNT) return publish(o, pipe);
  acsim_order_barrier(b, AC_PIPE_COUNT);
  return o->known[AC_PIPE_S];
}

void acsim_order_learn(acsim_block *b, const acsim_clock *own) {
  acsim_order *o = b->order;
  if (!o) return;
  acsim_order_begin(b);
  for (int p = 0; p < AC_PIPE_COUNT; p++) join(&o->known[p], own);
}

void acsim_order_end(acsim_block *b) {
  if (b->order) flush(b);
}

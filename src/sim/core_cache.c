/* The scalar unit's data cache: which lines of global memory it holds, what of them it has changed, what others have changed since. The
 * values themselves are visible at once; what would be wrong on the device is a fault. (asc-devkit docs/zh, DataCacheCleanAndInvalid and
 * "scalar reads and writes": lines of 64 bytes, written back whole, not kept equal to global memory by the hardware) */
#include "sim/core_sync.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64, FIRST_SLOTS = 64 };

typedef struct {
  const acsim_gm *m; /* NULL: a free slot */
  uint64_t index;    /* of the line in the buffer, which starts on one */
  uint64_t dirty;    /* bytes that SetValue has changed */
  uint64_t stale;    /* bytes that somebody else has changed in global memory since the line came */
  acsim_at got, wrote, changed;
  const char *changed_op;
  int64_t changed_by; /* block; -1: this block's own MTE3 */
} line;
struct acsim_cache {
  line *slots;
  size_t n, cap;
};

void acsim_cache_free(acsim_cache *c) {
  if (c) free(c->slots);
  free(c);
}

/* ---- the table ---- */

static size_t hash(const acsim_gm *m, uint64_t index) {
  return (size_t)((((uintptr_t)m >> 4) + index) * 0x9e3779b97f4a7c15ull >> 20);
}
static line *slot_of(const acsim_cache *c, const acsim_gm *m, uint64_t index) {
  size_t i = hash(m, index) & (c->cap - 1);
  while (c->slots[i].m && (c->slots[i].m != m || c->slots[i].index != index)) i = (i + 1) & (c->cap - 1);
  return &c->slots[i];
}
static void grow(acsim_cache *c) {
  line *old = c->slots;
  size_t n = c->cap;
  c->cap = n ? n * 2 : FIRST_SLOTS;
  c->slots = calloc(c->cap, sizeof *c->slots);
  if (!c->slots) ac_no_memory(NULL);
  for (size_t i = 0; i < n; i++)
    if (old[i].m) *slot_of(c, old[i].m, old[i].index) = old[i];
  free(old);
}
static line *find(const acsim_cache *c, const acsim_gm *m, uint64_t index) {
  if (!c || !c->n) return NULL;
  line *l = slot_of(c, m, index);
  return l->m ? l : NULL;
}
static line *add(acsim_block *b, const acsim_gm *m, uint64_t index, acsim_at at) {
  if (!b->cache && !(b->cache = calloc(1, sizeof *b->cache))) ac_no_memory(NULL);
  acsim_cache *c = b->cache;
  if (c->n * 2 >= c->cap) grow(c);
  line *l = slot_of(c, m, index);
  c->n++;
  *l = (line){.m = m, .index = index, .got = at};
  return l;
}
static void drop(acsim_cache *c, line *l) {
  size_t hole = (size_t)(l - c->slots), i = hole;
  c->n--;
  for (;;) { /* what stands behind the hole and belongs before it moves up */
    c->slots[hole].m = NULL;
    do {
      i = (i + 1) & (c->cap - 1);
      if (!c->slots[i].m) return;
    } while (((i - hash(c->slots[i].m, c->slots[i].index)) & (c->cap - 1)) < ((i - hole) & (c->cap - 1)));
    c->slots[hole] = c->slots[i];
    hole = i;
  }
}

/* Bytes [lo, hi) of the buffer as bits of line `index`. */
static uint64_t bits_of(uint64_t index, uint64_t lo, uint64_t hi) {
  uint64_t from = lo > index * LINE ? lo - index * LINE : 0, to = hi - index * LINE;
  if (hi <= index * LINE || from >= LINE) return 0;
  if (to > LINE) to = LINE;
  return (~0ull << from) & (~0ull >> (LINE - to));
}

/* ---- faults ---- */

static const char *name(acsim_at at) {
  return at.file ? at.file : "?";
}
static long long first_elem(const line *l, uint64_t bits) {
  return (long long)((int64_t)(l->index * LINE + (uint64_t)__builtin_ctzll(bits)) / l->m->b.elem);
}
static long long last_elem(const line *l, uint64_t bits) {
  return (long long)((int64_t)(l->index * LINE + 63 - (uint64_t)__builtin_clzll(bits)) / l->m->b.elem);
}

static void report_stale(acsim_block *b, const line *l, uint64_t bits, const char *op, acsim_at at) {
  char who[40] = "";
  if (l->changed_by >= 0) snprintf(who, sizeof who, " in block %lld", (long long)l->changed_by);
  acsim_fault_pair(
      b->s, b, "cache-stale", at, l->changed,
      "%s reads elements %lld..%lld of %s from the data cache, which has held their line since %s:%d; %s%s "
      "at %s:%d has changed them in global memory: DataCacheCleanAndInvalid has to come before",
      op, first_elem(l, bits), last_elem(l, bits), l->m->b.name, name(l->got), l->got.line, l->changed_op, who,
      name(l->changed), l->changed.line);
}
static void report_not_cleaned(acsim_block *b, const line *l, uint64_t bits, const char *op, acsim_at at) {
  acsim_fault_pair(
      b->s, b, "cache-not-cleaned", at, l->wrote,
      "%s reads elements %lld..%lld of %s from global memory; what SetValue wrote at %s:%d is still in the "
      "data cache: DataCacheCleanAndInvalid is missing after it",
      op, first_elem(l, bits), last_elem(l, bits), l->m->b.name, name(l->wrote), l->wrote.line);
}
static void report_lost(acsim_block *b, const line *l, uint64_t bits, const char *op, acsim_at at, acsim_at other,
                        const char *other_op) {
  acsim_fault_pair(
      b->s, b, "cache-lost", at, other,
      "%s writes elements %lld..%lld of %s, in a 64-byte line that %s at %s:%d writes too, one of them "
      "through the data cache, which writes the whole line back later: DataCacheCleanAndInvalid is missing "
      "between them",
      op, first_elem(l, bits), last_elem(l, bits), l->m->b.name, other_op, name(other), other.line);
}

/* ---- accesses ---- */

static void scalar(acsim_block *b, const char *op, acsim_at at, const acsim_gm *m, uint64_t index, uint64_t bits,
                   bool writes) {
  line *l = find(b->cache, m, index);
  if (!l) l = add(b, m, index, at);
  if (!writes && (l->stale & bits)) {
    report_stale(b, l, l->stale & bits, op, at);
    l->stale = 0;
    l->got = at;
  }
  if (!writes) return;
  if (l->stale & ~bits) {
    report_lost(b, l, bits, op, at, l->changed, l->changed_op);
    l->stale = 0;
  }
  l->dirty |= bits;
  l->stale &= ~bits;
  l->wrote = at;
}

static void other(acsim_block *b, const char *op, acsim_at at, line *l, uint64_t bits, bool writes) {
  if (!bits) return;
  if (!writes) {
    if (!(l->dirty & bits)) return;
    report_not_cleaned(b, l, l->dirty & bits, op, at);
    l->dirty = 0;
  } else if (l->dirty) {
    report_lost(b, l, bits, op, at, l->wrote, "SetValue");
    l->dirty = 0;
  } else {
    l->stale |= bits;
    l->changed = at;
    l->changed_op = op;
    l->changed_by = -1;
  }
}

void acsim_cache_touch(acsim_block *b, ac_pipe pipe, const char *op, acsim_at at, const acsim_gm *m, const uint8_t *p,
                       int64_t bytes, acsim_gm_how how) {
  if (!b->order) return;
  uint64_t lo = (uint64_t)(p - m->start), hi = lo + (uint64_t)bytes;
  bool writes = how != GM_READ;
  if (pipe == AC_PIPE_S && !b->bypass) {
    for (uint64_t i = lo / LINE; i * LINE < hi; i++) scalar(b, op, at, m, i, bits_of(i, lo, hi), writes);
    return;
  }
  acsim_cache *c = b->cache;
  if (!c || !c->n) return;
  if ((hi - lo) / LINE > c->cap) { /* fewer lines in the cache than in the access */
    for (size_t i = 0; i < c->cap; i++)
      if (c->slots[i].m == m) other(b, op, at, &c->slots[i], bits_of(c->slots[i].index, lo, hi), writes);
    return;
  }
  for (uint64_t i = lo / LINE; i * LINE < hi; i++) {
    line *l = find(c, m, i);
    if (l) other(b, op, at, l, bits_of(i, lo, hi), writes);
  }
}

void acsim_cache_clean(const acsim_global *g, int32_t entire, const char *file, int32_t line_) {
  acsim_block *b = acsim_here("DataCacheCleanAndInvalid");
  (void)file;
  (void)line_;
  b->calls++;
  acsim_cache *c = b->cache;
  if (!c || !c->n) return;
  if (entire) {
    memset(c->slots, 0, c->cap * sizeof *c->slots);
    c->n = 0;
    return;
  }
  const acsim_gm *m = acsim_gm_home(b->s, g, g->ptr);
  if (!m || g->ptr < m->start || g->ptr >= m->end) return;
  uint64_t lo = (uint64_t)(g->ptr - m->start);
  line *l = find(c, m, lo / LINE);
  if (!l) return;
  uint64_t bits = bits_of(lo / LINE, lo, lo / LINE * LINE + LINE); /* to the end of the line only (docs/zh) */
  l->dirty &= ~bits;
  l->stale &= ~bits;
  if (!l->dirty && !l->stale) drop(c, l);
}

/* ---- between blocks: with the session's lock held ---- */

/* The block learns how far others are: what they have written is in global memory, and not in its lines. known NULL: all of it. */
void acsim_cache_learn(acsim_block *b, const acsim_clock *known) {
  acsim_cache *c = b->cache;
  const acsim_session *s = b->s;
  if (!c || !c->n || !s->traces) return;
  for (int64_t r = 0; r < s->count; r++) {
    const acsim_traces *t = &s->traces[r];
    for (size_t k = 0; k < t->len && r != b->rank; k++) {
      const acsim_trace *x = &t->data[k];
      if (x->how == GM_READ || x->how == GM_DIRTY) continue;
      if (b->peers && b->peers[r].k[x->pipe] >= x->epoch) continue; /* known when the line came */
      if (known && known[r].k[x->pipe] < x->epoch) continue;
      for (size_t i = 0; i < c->cap; i++) {
        line *l = &c->slots[i];
        if (!l->m || l->m != x->m) continue;
        uint64_t bits = 0, base = (uint64_t)(uintptr_t)l->m->start;
        for (uint64_t n = 0; n < x->count && !bits; n++) {
          uint64_t lo = x->start + n * x->stride - base;
          if (lo >= (l->index + 1) * LINE) break;
          bits = bits_of(l->index, lo, lo + x->bytes);
        }
        if (!bits) continue;
        l->stale |= bits;
        l->changed = x->at;
        l->changed_op = x->op;
        l->changed_by = x->block;
      }
    }
  }
}

/* The block tells others how far it is: what it has not written back is not in global memory for them. The traces say so, from the
 * epoch of that pipe on (0: in any case). */
void acsim_cache_tell(acsim_block *b, ac_pipe pipe, uint32_t epoch) {
  acsim_cache *c = b->cache;
  if (!c || !c->n || !b->s->traces) return;
  for (size_t i = 0; i < c->cap; i++) {
    const line *l = &c->slots[i];
    if (!l->m || !l->dirty) continue;
    uint64_t from = (uint64_t)__builtin_ctzll(l->dirty), to = 64 - (uint64_t)__builtin_clzll(l->dirty);
    acsim_trace t = {.at = l->wrote,
                     .op = "SetValue",
                     .m = l->m,
                     .start = (uint64_t)(uintptr_t)l->m->start + l->index * LINE + from,
                     .bytes = to - from,
                     .count = 1,
                     .block = b->index,
                     .how = GM_DIRTY,
                     .pipe = pipe,
                     .epoch = epoch,
                     .segment = b->segment,
                     .rank = b->rank};
    acsim_trace_add(&b->s->traces[b->rank], &t);
  }
}

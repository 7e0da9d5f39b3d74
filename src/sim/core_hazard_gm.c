/* Order between blocks. Between two SyncAlls nothing orders the blocks of a launch, so what they did to global memory in that time
 * is compared when all of them have come there. Whether it is a fault does not depend on which block ran first here. */
#include "sim/core_sync.h"

#include <stdlib.h>
#include <string.h>

enum { RECENT = 8, LINE = 64 /* bytes of a line of the scalar unit's data cache */ };
/* Comparisons of strides that differ are made range by range; a launch that needs more than this is not compared to the end. */
static const int64_t MAX_WORK = 50 * 1000 * 1000;

static bool joins(acsim_trace *t, const acsim_trace *x) {
  if (t->at.line != x->at.line || t->at.file != x->at.file || t->how != x->how || t->atomic != x->atomic ||
      t->m != x->m || t->op != x->op || t->pipe != x->pipe)
    return false;
  if (t->count == 1 && t->start + t->bytes == x->start) { /* goes on where the last one ended */
    t->bytes += x->bytes;
    return true;
  }
  if (t->count == 1 && t->start == x->start && t->bytes == x->bytes) return true; /* the same again */
  if (t->bytes != x->bytes || x->start < t->start + t->bytes) return false;
  if (t->count == 1) t->stride = x->start - t->start;
  if (x->start != t->start + t->count * t->stride) return false;
  t->count++;
  return true;
}

static void reserve(acsim_traces *t, size_t more) {
  if (t->len + more <= t->cap) return;
  while (t->cap < t->len + more) t->cap = t->cap ? t->cap * 2 : 32;
  t->data = realloc(t->data, t->cap * sizeof *t->data);
  if (!t->data) ac_no_memory("the record of accesses to global memory");
}

void acsim_trace_add(acsim_traces *t, const acsim_trace *x) {
  for (size_t i = 0; i < RECENT && i < t->len; i++) {
    acsim_trace *old = &t->data[t->len - 1 - i];
    if (!joins(old, x)) continue;
    old->epoch = x->epoch;
    return;
  }
  reserve(t, 1);
  t->data[t->len++] = *x;
}

void acsim_trace_hand_over(acsim_block *b) {
  acsim_session *s = b->s;
  if (!b->order || !s->traces) return;
  acsim_order_begin(b);
  acsim_traces *from = acsim_order_traces(b->order), *to = &s->traces[b->rank];
  for (size_t i = 0; i < from->len; i++) from->data[i].segment = b->segment;
  if (!to->len) {
    acsim_traces empty = *to;
    *to = *from;
    *from = empty;
    return;
  }
  if (from->len) {
    reserve(to, from->len);
    memcpy(&to->data[to->len], from->data, from->len * sizeof *from->data);
    to->len += from->len;
  }
  from->len = 0;
}

/* ---- comparing ---- */

typedef struct {
  uint64_t lo, hi;
} span;

static uint64_t end_of(const acsim_trace *t) {
  return t->start + (t->count - 1) * t->stride + t->bytes;
}
static uint64_t most(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}
static uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

/* Does [lo, hi) meet a range of t? The first common bytes. */
static bool meets(const acsim_trace *t, uint64_t lo, uint64_t hi, span *common) {
  uint64_t k = 0; /* the first range that ends after lo */
  if (t->count > 1 && lo >= t->start + t->bytes) k = (lo - t->start - t->bytes) / t->stride + 1;
  if (k >= t->count) return false;
  uint64_t a = t->start + k * t->stride;
  *common = (span){most(a, lo), least(a + t->bytes, hi)};
  return common->lo < common->hi;
}

static bool overlap(const acsim_trace *a, const acsim_trace *b, span *common, int64_t *work) {
  if (a->count > b->count) {
    const acsim_trace *t = a;
    a = b;
    b = t;
  }
  if (a->count > 1 && a->stride == b->stride) { /* columns of one matrix: apart in every row, or not */
    uint64_t d = b->start > a->start ? (b->start - a->start) % a->stride
                                     : (a->stride - (a->start - b->start) % a->stride) % a->stride;
    if (d >= a->bytes && d + b->bytes <= a->stride) return false;
  }
  for (uint64_t i = 0; i < a->count && *work < MAX_WORK; i++, ++*work)
    if (meets(b, a->start + i * a->stride, a->start + i * a->stride + a->bytes, common)) return true;
  return false;
}

/* Two scalar stores into one cache line: each core writes the whole line back. */
static bool share_line(const acsim_trace *a, const acsim_trace *b, span *common, int64_t *work) {
  if (!a->scalar || !b->scalar || a->how == GM_READ || b->how == GM_READ) return false;
  acsim_trace x = *a, y = *b;
  uint64_t base = (uint64_t)(uintptr_t)a->m->start; /* a tensor starts on a line */
  for (int k = 0; k < 2; k++) {
    acsim_trace *t = k ? &y : &x;
    uint64_t lo = (t->start - base) / LINE * LINE, hi = (end_of(t) - base + LINE - 1) / LINE * LINE;
    if (t->count > 1 && t->stride > 2 * LINE) continue; /* stays as it is: exact overlap only */
    t->start = base + lo;
    t->bytes = hi - lo;
    t->count = 1;
  }
  return overlap(&x, &y, common, work);
}

/* Has what a did ended before b began? (by flags between the cores) */
static bool before(const acsim_session *s, const acsim_trace *a, const acsim_trace *b) {
  if (!a->epoch) return true; /* from before the last SyncAll */
  const acsim_clock *known = acsim_sync_known(s, b->rank, b->segment);
  return known && known[a->rank].k[a->pipe] >= a->epoch;
}

static const char *verb(const acsim_trace *t) {
  return t->how == GM_READ                    ? "reads"
         : t->how != GM_UPDATE                ? "writes"
         : t->atomic >> 8 == ACSIM_ATOMIC_MAX ? "takes the maximum of"
         : t->atomic >> 8 == ACSIM_ATOMIC_MIN ? "takes the minimum of"
                                              : "adds to";
}

static void report(acsim_session *s, const acsim_trace *a, const acsim_trace *b, span c, bool line) {
  bool read = a->how == GM_READ || b->how == GM_READ;
  const acsim_gm *m = a->m;
  /* the reader, or the later block, is the place of the fault */
  if (read ? a->how == GM_READ : a->block > b->block) {
    const acsim_trace *t = a;
    a = b;
    b = t;
  }
  int64_t e = m->b.elem, base = (int64_t)(intptr_t)m->start;
  acsim_block who = {.s = s, .index = b->block, .rank = b->block};
  acsim_fault_cores(
      s, &who, read ? "hazard-raw" : "hazard-waw", b->at, a->at,
      line ? "%s in block %lld %s the 64-byte cache line of elements %lld..%lld of %s, which %s in block "
             "%lld %s too at %s:%d: each core writes the whole line back, and one loses its part; %s"
           : "%s in block %lld %s elements %lld..%lld of %s, which %s in block %lld %s at %s:%d, and no "
             "SyncAll is between them%s%s",
      b->op, (long long)b->block, verb(b), (long long)(((int64_t)c.lo - base) / e),
      (long long)(((int64_t)c.hi - 1 - base) / e), m->b.name, a->op, (long long)a->block, verb(a),
      a->at.file ? a->at.file : "?", a->at.line,
      line                    ? "give each block whole lines, or store with DataCopyPad"
      : acsim_sync_partial(s) ? ", nor do the flags between the cores order them"
                              : ", nor flags between the cores",
      !line && a->atomic && b->atomic ? ": atomic stores of one operation and type need no order, others do" : "");
}

/* What block a has in its data cache only, and block b, which comes after it, reads or writes over. */
static void check_dirty(acsim_session *s, const acsim_trace *a, const acsim_trace *b, int64_t *work) {
  acsim_trace x = *a;
  uint64_t base = (uint64_t)(uintptr_t)a->m->start;
  bool writes = b->how != GM_READ;
  if (b->how == GM_DIRTY || !before(s, a, b)) return;
  if (writes) { /* into the same line is enough */
    x.start = base + (a->start - base) / LINE * LINE;
    x.bytes = (a->start - base + a->bytes + LINE - 1) / LINE * LINE - (x.start - base);
  }
  span c;
  if (!overlap(&x, b, &c, work)) return;
  int64_t e = a->m->b.elem;
  acsim_block who = {.s = s, .index = b->block, .rank = b->block};
  acsim_fault_cores(
      s, &who, writes ? "cache-lost" : "cache-not-cleaned", b->at, a->at,
      writes ? "%s in block %lld writes elements %lld..%lld of %s, in a 64-byte line that block %lld has "
               "changed in its data cache by SetValue at %s:%d and writes back whole later: "
               "DataCacheCleanAndInvalid is missing there, before the blocks meet"
             : "%s in block %lld reads elements %lld..%lld of %s, of which block %lld has a newer state in "
               "its data cache, by SetValue at %s:%d: DataCacheCleanAndInvalid is missing there, before the "
               "blocks meet",
      b->op, (long long)b->block, (long long)(((int64_t)(c.lo - base)) / e),
      (long long)(((int64_t)(c.hi - 1 - base)) / e), a->m->b.name, (long long)a->block, a->at.file ? a->at.file : "?",
      a->at.line);
}

static bool harmless(const acsim_trace *a, const acsim_trace *b) {
  if (a->block == b->block || a->m != b->m) return true;
  return a->how == b->how && a->how != GM_WRITE && a->atomic == b->atomic; /* two reads, two atomic stores alike */
}

static int by_start(const void *x, const void *y) {
  const acsim_trace *a = x, *b = y;
  if (a->start != b->start) return a->start < b->start ? -1 : 1;
  if (a->block != b->block) return a->block < b->block ? -1 : 1;
  if (a->at.line != b->at.line) return a->at.line < b->at.line ? -1 : 1;
  return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

static void compare(acsim_session *s, acsim_trace *t, size_t n) {
  qsort(t, n, sizeof *t, by_start);
  size_t *open = malloc((n + 1) * sizeof *open), n_open = 0; /* those that reach the current start, or its line */
  if (!open) return;
  int64_t work = 0;
  for (size_t i = 0; i < n && work < MAX_WORK; i++) {
    size_t kept = 0;
    for (size_t k = 0; k < n_open; k++) {
      const acsim_trace *a = &t[open[k]];
      if (end_of(a) + LINE <= t[i].start) continue;
      open[kept++] = open[k];
      span c;
      work++;
      if (harmless(a, &t[i])) continue;
      if (a->how == GM_DIRTY || t[i].how == GM_DIRTY) {
        bool first = a->how == GM_DIRTY;
        check_dirty(s, first ? a : &t[i], first ? &t[i] : a, &work);
        continue;
      }
      bool same = overlap(a, &t[i], &c, &work), line = !same && share_line(a, &t[i], &c, &work);
      if (!same && !line) continue;
      if (before(s, a, &t[i]) || before(s, &t[i], a) || acsim_sync_owns(s, c.lo, c.hi)) continue;
      report(s, a, &t[i], c, line);
    }
    n_open = kept;
    open[n_open++] = i;
  }
  free(open);
}

void acsim_trace_compare(acsim_session *s) {
  size_t n = 0, writers = 0;
  if (!s->traces) return;
  for (int64_t r = 0; r < s->count; r++) n += s->traces[r].len;
  acsim_trace *all = n ? malloc(n * sizeof *all) : NULL;
  n = 0;
  for (int64_t r = 0; r < s->count; r++) {
    for (size_t i = 0; all && i < s->traces[r].len; i++) {
      all[n++] = s->traces[r].data[i];
      writers += s->traces[r].data[i].how != GM_READ;
    }
    free(s->traces[r].data);
    s->traces[r] = (acsim_traces){0};
  }
  if (writers && !acsim_sync_dropped(s)) compare(s, all, n);
  free(all);
}

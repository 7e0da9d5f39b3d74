/* The record of what was written to global memory: a bit an element, and for the elements that were not stored in one piece the bytes that
 * were. At the end: elements that were never written, or by two writes that are not atomic. */
#include "sim/core_sync.h"

#include <stdlib.h>
#include <string.h>

/* Elements of which some bytes were stored and others not, at least for a time. An element of which all bytes are there has its bit in
 * acsim_gm.written; what a fill put there may be written once more, so it is kept apart.
 * Changed with the collector's lock held; `some` is read without it. */
struct acsim_parts {
  uint64_t *some;           /* a bit an element: the two below say something of it */
  uint8_t *stored, *filled; /* a byte an element: the bits of its bytes */
};

/* Calls fn for each 64-bit word of the bit map that elements [from, to) touch. */
#define FOR_WORDS(from, to, w, mask)                                                            \
  for (int64_t w = (from) / 64; w <= ((to)-1) / 64; w++)                                        \
    for (uint64_t mask = (~0ull << (w == (from) / 64 ? (from) % 64 : 0)) &                      \
                         (w == ((to)-1) / 64 && (to) % 64 ? ~0ull >> (64 - (to) % 64) : ~0ull), \
                  once_ = 1;                                                                    \
         once_; once_ = 0)

static unsigned all_bytes(const acsim_gm *m) {
  return (1u << m->b.elem) - 1;
}
static bool bit_of(const uint64_t *map, int64_t i) {
  return map && __atomic_load_n(&map[i / 64], __ATOMIC_SEQ_CST) >> i % 64 & 1;
}
static void *zeros(int64_t n, size_t size) {
  void *p = calloc((size_t)n, size); /* not the arena: pages that are never touched cost nothing */
  if (!p) ac_no_memory("the record of writes to a tensor");
  return p;
}
static int64_t words(const acsim_gm *m) {
  return (m->elems + 63) / 64;
}
static acsim_parts *parts_of(acsim_gm *m) {
  if (m->parts) return m->parts;
  acsim_parts *p = zeros(1, sizeof *p);
  *p = (acsim_parts){zeros(words(m), 8), zeros(m->elems, 1), zeros(m->elems, 1)};
  __atomic_store_n(&m->parts, p, __ATOMIC_SEQ_CST);
  return p;
}
void acsim_written_free(acsim_gm *m) {
  free(m->written);
  free(m->twice);
  free(m->filled);
  if (m->parts) {
    free(m->parts->some);
    free(m->parts->stored);
    free(m->parts->filled);
  }
  free(m->parts);
}

/* Of elements whose bytes were stored one by one, all are written now. The bits of those that were so before, in part at least. */
static uint64_t over_parts(acsim_gm *m, int64_t w, uint64_t mask, acsim_gm_how how) {
  acsim_parts *p = m->parts;
  uint64_t before = 0;
  for (uint64_t left = p ? p->some[w] & mask : 0; left; left &= left - 1) {
    int64_t i = w * 64 + __builtin_ctzll(left);
    if (p->stored[i] || (how == GM_FILL && p->filled[i])) before |= left & -left;
    if (how == GM_WRITE) p->stored[i] = (uint8_t)all_bytes(m);
  }
  return before;
}

static void note_twice(acsim_gm *m, int64_t w, uint64_t bits) {
  if (!m->twice) m->twice = zeros(words(m), 8);
  m->twice[w] |= bits;
}

/* Elements of a fill may be written once more: their bits are taken out of what counts as written before. True: the rest of
 * them was. */
static bool count_write(acsim_block *b, acsim_gm *m, int64_t w, uint64_t old, uint64_t mask, acsim_gm_how how) {
  pthread_mutex_lock(&b->s->faults.lock);
  if (how == GM_FILL && !m->filled) m->filled = zeros(words(m), 8);
  uint64_t fills = m->filled ? m->filled[w] & mask : 0;
  if (how == GM_WRITE) old &= ~fills;
  old |= over_parts(m, w, mask, how);
  if (m->filled) m->filled[w] = how == GM_FILL ? m->filled[w] | (mask & ~old) : m->filled[w] & ~mask;
  if (old) note_twice(m, w, old);
  pthread_mutex_unlock(&b->s->faults.lock);
  return old != 0;
}

/* Some bytes of element i. True: some of them had been written before. */
static bool write_part(acsim_block *b, acsim_gm *m, int64_t i, unsigned bytes, acsim_gm_how how) {
  pthread_mutex_lock(&b->s->faults.lock);
  acsim_parts *p = parts_of(m);
  uint64_t bit = 1ull << i % 64;
  __atomic_fetch_or(
      &p->some[i / 64], bit,
      __ATOMIC_SEQ_CST); /* before the look at `written`: acsim_written has the two the other way round */
  bool whole = bit_of(m->written, i), by_fill = bit_of(m->filled, i);
  unsigned all = all_bytes(m), stored = whole && !by_fill ? all : p->stored[i];
  unsigned filled = (whole ? all : p->filled[i]) & ~stored;
  bool again = bytes & (how == GM_FILL ? stored | filled : how == GM_WRITE ? stored : 0);
  if (how == GM_FILL)
    filled |= bytes & ~stored;
  else /* what an atomic store adds to a fill is a fill still */
    stored |= how == GM_WRITE ? bytes : bytes & ~filled;
  p->stored[i] = (uint8_t)stored;
  p->filled[i] = (uint8_t)filled;
  if ((stored | filled) == all) __atomic_fetch_or(&m->written[i / 64], bit, __ATOMIC_SEQ_CST);
  if (stored == all && m->filled) m->filled[i / 64] &= ~bit;
  if (stored != all && (stored | filled) == all) {
    if (!m->filled) m->filled = zeros(words(m), 8);
    m->filled[i / 64] |= bit;
  }
  if (again) note_twice(m, i / 64, bit);
  pthread_mutex_unlock(&b->s->faults.lock);
  return again;
}

static void note_place(acsim_block *b, acsim_gm *m, acsim_at at) {
  pthread_mutex_lock(&b->s->faults.lock);
  if (!m->twice_at.file || (at.file && (strcmp(at.file, m->twice_at.file) < 0 ||
                                        (!strcmp(at.file, m->twice_at.file) && at.line < m->twice_at.line))))
    m->twice_at = at;
  pthread_mutex_unlock(&b->s->faults.lock);
}

/* The bits of element i's bytes that lie in bytes [from, to) of the tensor. */
static unsigned bytes_in(const acsim_gm *m, int64_t i, int64_t from, int64_t to) {
  int64_t at = i * m->b.elem;
  unsigned bytes = all_bytes(m);
  if (from > at) bytes &= all_bytes(m) << (from - at);
  if (to < at + m->b.elem) bytes &= (1u << (to - at)) - 1;
  return bytes;
}

/* The elements at both ends of [from, to) that are not in it as a whole. */
static bool write_ends(acsim_block *b, acsim_gm *m, int64_t from, int64_t to, acsim_gm_how how) {
  int64_t e = m->b.elem, first = from / e, last = (to - 1) / e;
  bool again = false;
  if (from % e && first < m->elems) again |= write_part(b, m, first, bytes_in(m, first, from, to), how);
  if (to % e && last < m->elems && (last != first || from % e == 0))
    again |= write_part(b, m, last, bytes_in(m, last, from, to), how);
  return again;
}

void acsim_written(acsim_block *b, acsim_at at, acsim_gm *m, int64_t from, int64_t to, acsim_gm_how how) {
  int64_t e = m->b.elem, first = from / e, last = to / e;
  bool once = (how == GM_WRITE || how == GM_FILL) && m->b.kind != ACSIM_WORKSPACE, again = false;
  if (first * e != from || last * e != to) {
    again = write_ends(b, m, from, to, how) && once;
    first += first * e != from;
  }
  if (first < last) FOR_WORDS(first, last, w, mask) {
      uint64_t old = __atomic_fetch_or(&m->written[w], mask, __ATOMIC_SEQ_CST) & mask;
      if (!once) continue;
      const acsim_parts *p = __atomic_load_n(&m->parts, __ATOMIC_SEQ_CST);
      bool parts = p && __atomic_load_n(&p->some[w], __ATOMIC_SEQ_CST) & mask;
      if (old || parts || how == GM_FILL) again |= count_write(b, m, w, old, mask, how);
    }
  if (again) note_place(b, m, at);
}

/* Of the elements `bad` of a word, those of which the bytes in [from, to) are not all there. */
static uint64_t not_there(acsim_block *b, const acsim_gm *m, int64_t w, uint64_t bad, int64_t from, int64_t to) {
  const acsim_parts *p = __atomic_load_n(&m->parts, __ATOMIC_SEQ_CST);
  if (!p) return bad;
  pthread_mutex_lock(&b->s->faults.lock);
  for (uint64_t left = p->some[w] & bad; left; left &= left - 1) {
    int64_t i = w * 64 + __builtin_ctzll(left);
    if (!(bytes_in(m, i, from, to) & ~(p->stored[i] | (unsigned)p->filled[i]))) bad &= ~(left & -left);
  }
  pthread_mutex_unlock(&b->s->faults.lock);
  return bad;
}

void acsim_written_before(acsim_block *b, const char *op, acsim_at at, acsim_gm *m, int64_t from, int64_t to,
                          bool atomic) {
  int64_t first = -1, count = 0, e = m->b.elem, end = (to - 1) / e + 1 < m->elems ? (to - 1) / e + 1 : m->elems;
  if (from / e >= end) return;
  FOR_WORDS(from / e, end, w, mask) {
    uint64_t bad = ~__atomic_load_n(&m->written[w], __ATOMIC_RELAXED) & mask;
    if (bad) bad = not_there(b, m, w, bad, from, to);
    if (!bad) continue;
    if (first < 0) first = w * 64 + __builtin_ctzll(bad);
    count += __builtin_popcountll(bad);
  }
  acsim_session *s = b->s;
  if (count && s->count < s->block_dim * s->ratio)
    acsim_fault(
        s, b, "sample-incomplete", at,
        "%s reads %lld elements of %s that none of the %lld blocks that ran had written (the first is element "
        "%lld): another block may do so, and what this one computes is not known; run all blocks",
        op, (long long)count, m->b.name, (long long)s->count, (long long)first);
  else if (count)
    acsim_fault(
        s, b, "read-poison", at, "%s reads %lld elements of %s that were never written (the first is element %lld)%s",
        op, (long long)count, m->b.name, (long long)first,
        atomic ? ": an atomic store combines with what is there. Write that first, or SetAtomicNone is missing" : "");
}

/* ---- at the end ---- */

typedef struct {
  int64_t count, first, last_of_first, runs;
} runs;

/* Runs of set bits among the first n (inverted: of clear bits). */
static runs find_runs(const uint64_t *bits, int64_t n, bool invert) {
  runs r = {0, -1, -1, 0};
  bool inside = false;
  for (int64_t w = 0; w * 64 < n; w++) {
    uint64_t v = invert ? ~bits[w] : bits[w];
    int left = n - w * 64 < 64 ? (int)(n - w * 64) : 64;
    if (left < 64) v &= ~0ull >> (64 - left);
    if (!v && !inside) continue;
    if (v == ~0ull && inside) {
      r.count += 64;
      if (r.runs == 1) r.last_of_first = w * 64 + 63;
      continue;
    }
    for (int k = 0; k < left; k++) {
      bool bit = v >> k & 1;
      if (bit && !inside && !r.runs++) r.first = w * 64 + k;
      if (bit && r.runs == 1) r.last_of_first = w * 64 + k;
      r.count += bit;
      inside = bit;
    }
  }
  return r;
}

/* The bits of element i's bytes that were written, where not all were. */
static unsigned part_there(const acsim_gm *m, int64_t i) {
  return m->parts ? m->parts->stored[i] | (unsigned)m->parts->filled[i] : 0;
}
/* Its other bytes hold what outputs are filled with. */
static bool untouched(const acsim_gm *m, int64_t i) {
  const uint8_t *p = m->start + i * m->b.elem;
  bool zero = !m->b.poisoned, filled = true;
  unsigned there = part_there(m, i);
  for (int k = 0; k < m->b.elem; k++) {
    if (there >> k & 1) continue;
    zero = zero && !p[k];
    filled = filled && p[k] == ACSIM_POISON;
  }
  return zero || filled;
}

/* Elements that no call has written and that do not hold what outputs are filled with: the kernel has a plain pointer to them. A short
 * element may come to hold just that: between two that were written it counts as written. */
static void find_raw_elements(acsim_session *s, acsim_gm *m) {
  int64_t n = 0;
  for (int64_t i = 0; i < m->elems; i++) {
    uint64_t *w = &m->written[i / 64];
    if (*w == ~0ull) {
      i |= 63;
      continue;
    }
    if (*w >> i % 64 & 1) continue;
    if (untouched(m, i)) {
      bool before = i && m->written[(i - 1) / 64] >> (i - 1) % 64 & 1;
      int left = m->b.elem - __builtin_popcount(part_there(m, i));
      if (left > 2 || !n || !before || i + 1 == m->elems || untouched(m, i + 1)) continue;
    }
    *w |= 1ull << i % 64;
    n++;
  }
  if (n)
    acsim_fault(
        s, NULL, "raw-pointer", (acsim_at){0},
        "%lld elements of %s were written through a plain __gm__ pointer: such writes are not checked for order, "
        "bounds, or being the only one",
        (long long)n, m->b.name);
}

static const char *elements(ac_arena *a, const runs *r) {
  const char *one = r->first == r->last_of_first
                        ? ac_sprintf(a, "element %lld", (long long)r->first)
                        : ac_sprintf(a, "elements %lld..%lld", (long long)r->first, (long long)r->last_of_first);
  return r->runs == 1 ? one
                      : ac_sprintf(a, "%lld elements in %lld runs, the first being %s,", (long long)r->count,
                                   (long long)r->runs, one);
}

void acsim_expect(acsim_session *s, const void *data, int64_t elements) {
  acsim_gm *m = acsim_gm_find(s, data);
  if (!m || m->start != data || elements > m->elems) return;
  m->expected = elements;
  m->partial = true;
}

/* Of the first n elements: those of which some bytes were written and others not. "": none. */
static const char *in_part(ac_arena *a, const acsim_gm *m, int64_t n) {
  int64_t count = 0, first = -1;
  for (int64_t w = 0; m->parts && w * 64 < n; w++)
    for (uint64_t left = m->parts->some[w] & ~m->written[w]; left; left &= left - 1) {
      int64_t i = w * 64 + __builtin_ctzll(left);
      if (i >= n) break;
      if (!count++) first = i;
    }
  if (!count) return "";
  ac_buf t;
  ac_buf_init(&t, a);
  ac_printf(&t, ". %lld of them %s written in part: of the %d bytes of element %lld,", (long long)count,
            count == 1 ? "is" : "are", m->b.elem, (long long)first);
  for (int k = 0; k < m->b.elem; k++)
    if (part_there(m, first) >> k & 1) ac_printf(&t, " %d", k);
  return ac_buf_str(&t);
}

void acsim_gm_report(acsim_session *s) {
  for (size_t i = 0; i < s->gms.len; i++) {
    acsim_gm *m = s->gms.data[i];
    if (!m->written || m->b.kind == ACSIM_WORKSPACE) continue;
    bool whole = !s->cfg.n_blocks && !s->cfg.sample && m->b.kind == ACSIM_OUTPUT && !m->b.zeroed;
    if (whole) find_raw_elements(s, m);
    int64_t expected = m->partial ? m->expected : m->elems;
    runs never = whole ? find_runs(m->written, expected, true) : (runs){0};
    if (never.count)
      acsim_fault(s, NULL, "never-written", (acsim_at){0}, "%s of %s %s never written (%lld of %lld)%s",
                  elements(s->arena, &never), m->b.name, never.count == 1 ? "is" : "are", (long long)never.count,
                  (long long)m->elems, in_part(s->arena, m, expected));
    if (!m->twice || acsim_fault_seen(s, "hazard-waw")) continue; /* that tells more of the same */
    runs twice = find_runs(m->twice, m->elems, false);
    acsim_fault(s, NULL, "written-twice", m->twice_at, "%s of %s %s written more than once (%lld of %lld)",
                elements(s->arena, &twice), m->b.name, twice.count == 1 ? "is" : "are", (long long)twice.count,
                (long long)m->elems);
  }
}

/* The sorting instructions. Records are 8 bytes, score in the low part and a 32-bit index in the high part; region proposals,
 * which only older chips have, are 8 elements with the score in the fifth. Equal scores keep their order. (asc-devkit docs/zh,
 * Sort32, MrgSort, RpSort16, Proposal*) */
#include "sim/core_hazard.h"

#include <stdlib.h>
#include <string.h>

enum { RECORD = 8, SORTED = 32, PROPOSALS = 16, PROPOSAL_ELEMS = 8, SCORE = 4, MAX_LIST = 4095 };
static const char *const names[] = {"Sort32", "RpSort16", "ProposalConcat", "ProposalExtract", "Extract"};

typedef struct {
  acsim_block *b;
  const char *name;
  acsim_at at;
  int es;
  int32_t type, mode;
  const acsim_local *dst, *dst1, *src0, *src1;
} sort_call;

static bool touch(const sort_call *c, const acsim_access *x, int n) {
  return acsim_touch(c->b, AC_PIPE_V, c->name, c->at, x, n);
}
static void written(const sort_call *c, const acsim_local *t, int64_t off, int64_t n) {
  memset(acsim_state(c->b, t, off), 0xff, (size_t)n);
}

/* Order of n scores, largest first; insertion keeps equal ones in their order. */
static void rank(const double *score, int n, int *order) {
  for (int i = 0; i < n; i++) {
    int k = i;
    for (; k > 0 && score[i] > score[order[k - 1]]; k--) order[k] = order[k - 1];
    order[k] = i;
  }
}

static bool sort32(const sort_call *c, int64_t k) {
  int64_t os = k * SORTED * c->es, oi = k * SORTED * 4, od = k * SORTED * RECORD;
  /* each operand of a repeat is aligned to its own size (docs/zh, Sort32, constraints) */
  acsim_access x[] = {{"dst", c->dst, od, SORTED * RECORD, SORTED * RECORD, ACSIM_WRITE},
                      {"src0", c->src0, os, SORTED * c->es, SORTED * c->es, ACSIM_READ},
                      {"src1", c->src1, oi, SORTED * 4, SORTED * 4, ACSIM_READ}};
  if (!touch(c, x, 3)) return false;
  double score[SORTED];
  int order[SORTED];
  uint8_t out[SORTED * RECORD] = {0};
  const uint8_t *s = acsim_data(c->b, c->src0, os), *index = acsim_data(c->b, c->src1, oi);
  for (int i = 0; i < SORTED; i++) score[i] = ac_load((ac_dtype)c->type, s, i);
  rank(score, SORTED, order);
  for (int i = 0; i < SORTED; i++) {
    memcpy(out + i * RECORD, s + order[i] * c->es, (size_t)c->es);
    memcpy(out + i * RECORD + 4, index + order[i] * 4, 4);
  }
  memcpy(acsim_data(c->b, c->dst, od), out, sizeof out);
  written(c, c->dst, od, sizeof out);
  return true;
}

static bool extract(const sort_call *c, int64_t k) {
  int64_t ov = k * SORTED * c->es, oi = k * SORTED * 4, os = k * SORTED * RECORD;
  acsim_access x[] = {{"dstValue", c->dst, ov, SORTED * c->es, 32, ACSIM_WRITE},
                      {"dstIndex", c->dst1, oi, SORTED * 4, 32, ACSIM_WRITE},
                      {"sorted", c->src0, os, SORTED * RECORD, 32, ACSIM_READ | ACSIM_SOFT}};
  if (!touch(c, x, 3)) return false;
  for (int i = 0; i < SORTED; i++) { /* score and index: between a half and its index lies nothing */
    acsim_access r = {"sorted", c->src0, os + i * RECORD, RECORD, 1, ACSIM_READ};
    const uint8_t *state = acsim_state(c->b, c->src0, r.off);
    if (acsim_all_written(state, c->es) && acsim_all_written(state + 4, 4)) continue;
    touch(c, &r, 1);
    break;
  }
  uint8_t in[SORTED * RECORD];
  memcpy(in, acsim_data(c->b, c->src0, os), sizeof in);
  for (int i = 0; i < SORTED; i++) {
    memcpy(acsim_data(c->b, c->dst, ov + i * c->es), in + i * RECORD, (size_t)c->es);
    memcpy(acsim_data(c->b, c->dst1, oi + i * 4), in + i * RECORD + 4, 4);
  }
  written(c, c->dst, ov, SORTED * c->es);
  written(c, c->dst1, oi, SORTED * 4);
  return true;
}

static bool proposals(const sort_call *c, int32_t op, int64_t k) {
  int record = PROPOSAL_ELEMS * c->es;
  bool sort = op == ACSIM_RP_SORT16, concat = op == ACSIM_PROPOSAL_CONCAT;
  int64_t rows = k * PROPOSALS * record, values = k * PROPOSALS * c->es;
  int64_t od = op == ACSIM_PROPOSAL_EXTRACT ? values : rows, os = concat ? values : rows;
  acsim_access x[] = {
      {"dst", c->dst, od, PROPOSALS * (op == ACSIM_PROPOSAL_EXTRACT ? c->es : record), 32, ACSIM_WRITE},
      {"src", c->src0, os, PROPOSALS * (concat ? c->es : record), 32, ACSIM_READ | ACSIM_SOFT}};
  if (!touch(c, x, 2)) return false;
  uint8_t in[PROPOSALS * PROPOSAL_ELEMS * 4], state[sizeof in];
  memcpy(in, acsim_data(c->b, c->src0, os), (size_t)x[1].bytes);
  memcpy(state, acsim_state(c->b, c->src0, os), (size_t)x[1].bytes);
  double score[PROPOSALS];
  int order[PROPOSALS];
  for (int i = 0; i < PROPOSALS; i++) {
    order[i] = i;
    if (sort) score[i] = ac_load((ac_dtype)c->type, in + i * record, SCORE);
  }
  if (sort) rank(score, PROPOSALS, order);
  for (int i = 0; i < PROPOSALS; i++) {
    int64_t to = od + (sort ? i * record : concat ? i * record + c->mode * c->es : i * c->es);
    int from = sort ? order[i] * record : concat ? i * c->es : i * record + c->mode * c->es;
    size_t n = (size_t)(sort ? record : c->es);
    memcpy(acsim_data(c->b, c->dst, to), in + from, n); /* fields that nobody has set stay so */
    memcpy(acsim_state(c->b, c->dst, to), state + from, n);
  }
  return true;
}

static bool meet(const acsim_local *x, int64_t x0, int64_t xn, const acsim_local *y, int64_t y0, int64_t yn) {
  return x->mem == y->mem && x->addr + x0 < y->addr + y0 + yn && y->addr + y0 < x->addr + x0 + xn;
}
static void report_overlap(const sort_call *c) {
  acsim_fault(c->b->s, c->b, "overlap", c->at, "%s: dst overlaps what is still to be read", c->name);
}
/* Sort32 reads a repeat before it writes it: earlier results must not lie where later repeats read. Extract takes no overlap. */
static void check_sort_overlap(const sort_call *c, int32_t op, int32_t n) {
  int64_t values = (int64_t)SORTED * c->es, index = SORTED * 4, records = SORTED * RECORD;
  if (n <= 0) return;
  if (op == ACSIM_EXTRACT) {
    if (meet(c->src0, 0, n * records, c->dst, 0, n * values) || meet(c->src0, 0, n * records, c->dst1, 0, n * index))
      report_overlap(c);
    return;
  }
  if (op != ACSIM_SORT32) return;
  for (int64_t k = 1; k < n; k++)
    if (meet(c->dst, 0, k * records, c->src0, k * values, values) ||
        meet(c->dst, 0, k * records, c->src1, k * index, index)) {
      report_overlap(c);
      return;
    }
}

void acsim_sort(int32_t op, int32_t type, const acsim_local *dst, const acsim_local *dst1, const acsim_local *src0,
                const acsim_local *src1, int32_t repeat, int32_t mode, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at(names[op], AT);
  acsim_order_begin(b);
  sort_call c = {b, names[op], AT, acsim_type_bytes(type), type, mode, dst, dst1, src0, src1};
  bool old = op != ACSIM_SORT32 && op != ACSIM_EXTRACT;
  if (old && b->s->chip->npu_arch == 2201) {
    acsim_fault(b->s, b, "not-on-chip", AT, "%s does not exist on %s; Sort32 and MrgSort take its place", c.name,
                b->s->chip->soc);
    return;
  }
  if (type != ACSIM_F32 && type != ACSIM_F16) {
    acsim_fault(b->s, b, "no-such-dtype", AT, "%s of %s does not exist", c.name, ac_dtypes[type].cpp);
    return;
  }
  if (repeat < 0 || repeat > 255 || mode < 0 || mode > 5) {
    acsim_fault(b->s, b, "field-limit", AT, "%s: repeatTime %d (0..255), modeNumber %d (0..5)", c.name, repeat, mode);
    return;
  }
  check_sort_overlap(&c, op, repeat);
  for (int64_t k = 0; k < repeat; k++) {
    bool ok = op == ACSIM_SORT32 ? sort32(&c, k) : op == ACSIM_EXTRACT ? extract(&c, k) : proposals(&c, op, k);
    if (!ok) return;
  }
}

/* ---- merging ---- */

typedef struct {
  const uint8_t *p;
  int64_t n, taken;
} list;

/* The list whose next record is largest; of equal ones the first. -1: all are used up. */
static int largest(const list l[4], const acsim_merge *m, int record) {
  int best = -1;
  double top = 0;
  for (int i = 0; i < 4; i++) {
    if (l[i].taken == l[i].n) continue;
    double s = ac_load((ac_dtype)m->type, l[i].p + l[i].taken * record, m->proposals ? SCORE : 0);
    if (best >= 0 && !(s > top)) continue;
    best = i;
    top = s;
  }
  return best;
}

static bool bad_merge(acsim_block *b, const acsim_merge *m, const acsim_local *const src[4], const char *name,
                      acsim_at at) {
  bool same = m->length[0] == m->length[1] && m->length[0] == m->length[2] && m->length[0] == m->length[3];
  for (int i = 0; i < 4; i++)
    if (m->length[i] > MAX_LIST) {
      acsim_fault(b->s, b, "field-limit", at, "%s: a list of %u records, the instruction takes at most %d", name,
                  m->length[i], MAX_LIST);
      return true;
    }
  if (m->valid != 3 && m->valid != 7 && m->valid != 15) {
    acsim_fault(b->s, b, "field-limit", at, "%s: validBit is %u; 3, 7 and 15 exist", name, m->valid);
    return true;
  }
  if (m->repeat > 1 && (!same || m->suspend || m->valid != 15)) {
    acsim_fault(b->s, b, "field-limit", at,
                "%s: repeatTimes %d needs four lists of one length, all valid, and no ifExhaustedSuspension", name,
                m->repeat);
    return true;
  }
  for (int i = 1; m->repeat > 1 && !m->proposals && i < 4; i++)
    if (src[i]->addr != src[0]->addr + (uint32_t)i * m->length[0] * RECORD) {
      acsim_fault(b->s, b, "field-limit", at, "%s: repeatTimes %d needs four lists one behind another", name,
                  m->repeat);
      return true;
    }
  return false;
}

static bool merge_once(acsim_block *b, const acsim_local *dst, const acsim_local *const src[4], const acsim_merge *m,
                       int64_t k, const char *name, acsim_at at) {
  int record = m->proposals ? PROPOSAL_ELEMS * acsim_type_bytes(m->type) : RECORD;
  int64_t total = 0, step = 0;
  list l[4] = {{0}};
  for (int i = 0; i < 4; i++) step += (int64_t)m->length[i] * record;
  for (int i = 0; i < 4; i++) {
    if (!(m->valid >> i & 1)) continue;
    acsim_access x = {"a source list", src[i], k * step, (int64_t)m->length[i] * record, 8, ACSIM_READ | ACSIM_SOFT};
    if (!acsim_touch(b, AC_PIPE_V, name, at, &x, 1)) return false;
    if (!m->length[i]) continue;
    l[i] = (list){acsim_data(b, src[i], k * step), m->length[i], 0};
    total += x.bytes;
  }
  acsim_access d = {"dst", dst, k * step, total, 32, ACSIM_WRITE};
  if (!acsim_touch(b, AC_PIPE_V, name, at, &d, 1)) return false;
  for (int i = 0; i < 4; i++) {
    int64_t from = src[i]->addr + k * step,
            all = m->repeat > 1 ? m->repeat * step : total; /* with repeats, the whole range */
    if (m->repeat > 1) from = src[0]->addr;
    int64_t bytes = m->repeat > 1 ? m->repeat * step : l[i].n * record, at_dst = m->repeat > 1 ? 0 : k * step;
    if (l[i].n && dst->mem == src[i]->mem && dst->addr + at_dst < from + bytes && from < dst->addr + at_dst + all) {
      acsim_fault(b->s, b, "overlap", at, "%s: dst and list %d overlap: the merge reads what it has just written",
                  name, i + 1);
      return false;
    }
  }
  uint8_t *to = acsim_data(b, dst, k * step);
  for (int64_t at_record = 0;; at_record++) {
    int i = largest(l, m, record);
    if (i < 0) break;
    int64_t from = k * step + l[i].taken * record;
    uint8_t *state = acsim_state(b, src[i], from);
    if (!m->proposals && (!acsim_all_written(state, acsim_type_bytes(m->type)) || !acsim_all_written(state + 4, 4))) {
      acsim_access x = {"a record", src[i],    from, record,
                        1,          ACSIM_READ}; /* score and index; between a half and its index lies nothing */
      acsim_touch(b, AC_PIPE_V, name, at, &x, 1);
    }
    memcpy(to + at_record * record, l[i].p + l[i].taken * record, (size_t)record);
    memcpy(acsim_state(b, dst, k * step + at_record * record), state, (size_t)record);
    if (++l[i].taken == l[i].n && m->suspend) break;
  }
  for (int i = 0; i < 4; i++) b->merged[i] = (uint16_t)l[i].taken;
  return true;
}

void acsim_merge_sort(const acsim_local *dst, const acsim_local *const src[4], const acsim_merge *m, const char *file,
                      int32_t line) {
  const char *name = m->proposals ? "MrgSort4" : "MrgSort";
  acsim_block *b = acsim_here_at(name, AT);
  acsim_order_begin(b);
  if (m->proposals && b->s->chip->npu_arch == 2201) {
    acsim_fault(b->s, b, "not-on-chip", AT, "MrgSort4 does not exist on %s; MrgSort takes its place",
                b->s->chip->soc);
    return;
  }
  if (bad_merge(b, m, src, name, AT)) return;
  for (int64_t k = 0; k < m->repeat; k++)
    if (!merge_once(b, dst, src, m, k, name, AT)) return;
}
void acsim_merged(uint16_t counts[4]) {
  memcpy(counts, acsim_here("GetMrgSortResult")->merged, 8);
}

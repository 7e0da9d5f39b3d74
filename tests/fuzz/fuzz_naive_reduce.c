/* Reductions: asc-devkit docs/zh, 归约计算: ReduceSum, ReduceMax, ReduceMin, ReduceRepeat (the WholeReduce of older names),
 * ReduceDataBlock (BlockReduce), ReducePairElem (PairReduce). */
#include "fuzz_naive_vec.h"

#include <string.h>

typedef struct {
  bool any;
  double v;
} number;

static bool is_sum(int op) {
  return op == ACSIM_OP_ReduceSum || op == ACSIM_OP_WholeReduceSum || op == ACSIM_OP_BlockReduceSum ||
         op == ACSIM_OP_PairReduceSum;
}
static bool is_max(int op) {
  return op == ACSIM_OP_ReduceMax || op == ACSIM_OP_WholeReduceMax || op == ACSIM_OP_BlockReduceMax;
}

static double rounded(const fz_machine *m, int type, long double x) {
  uint8_t t[8];
  fz_put(type, t, x, FZ_RINT, m->saturate);
  return fz_get(type, t);
}
/* A binary tree over neighbours (ReduceDataBlock, 关键特性说明); every sum is of the element type. n: a power of two. */
static number tree(const fz_machine *m, int type, const number *x, int64_t n) {
  if (n == 1) return *x;
  number lo = tree(m, type, x, n / 2), hi = tree(m, type, x + n / 2, n / 2);
  /* a lone number passes through the adder as well: in saturating mode that takes NaN and inf */
  if (!lo.any || !hi.any) return (number){lo.any || hi.any, rounded(m, type, lo.any ? lo.v : hi.v)};
  return (number){true, rounded(m, type, (long double)lo.v + (long double)hi.v)};
}

/* The best of n numbers; of equal ones the one with the smallest index. NaN wins (docs/simulator.md). -1: none. */
static int64_t best(int op, const number *x, int64_t n) {
  int64_t at = -1;
  for (int64_t i = 0; i < n; i++) {
    if (!x[i].any) continue;
    if (at < 0) {
      at = i;
      continue;
    }
    double a = x[at].v, b = x[i].v;
    if (a != a) continue;
    if (b != b || (is_max(op) ? b > a : b < a)) at = i;
  }
  return at;
}

/* What a repeat's extreme is where results saturate: a number (boundary values: ReduceMax). */
static double settled(const fz_machine *m, const fz_case *c, double v) {
  uint8_t p[8] = {0};
  if (!m->saturate || c->type != ACSIM_F16) return v;
  fz_put(c->type, p, v, FZ_RINT, true);
  return fz_get(c->type, p);
}

static void store(fz_machine *m, const fz_case *c, fz_view dst, int64_t off, double v) {
  int es = fz_bytes[c->type];
  fz_put(c->type, fz_at(m, dst, off), v, FZ_RINT, m->saturate && is_sum(c->op));
  memset(fz_st(m, dst, off), 0xff, (size_t)es);
}
static void store_index(fz_machine *m, fz_view dst, int64_t off, int bytes, int64_t index) {
  for (int j = 0; j < bytes; j++) *fz_at(m, dst, off + j) = (uint8_t)((uint64_t)index >> (8 * j));
  memset(fz_st(m, dst, off), 0xff, (size_t)bytes);
}

/* The lanes of repeat k into x. False: something was wrong. */
static bool load(fz_machine *m, const fz_case *c, const fz_lanes *l, int64_t k, number x[128]) {
  int es = fz_bytes[c->type];
  bool ok = true;
  memset(x, 0, 128 * sizeof *x);
  for (fz_lane at = {0}; fz_next(l, &at) && at.k <= k;) {
    if (at.k < k) continue;
    int64_t off = c->repeated ? fz_lane_at(at, es, c->r.a_block, c->r.a_repeat) : (at.k * l->lanes + at.i) * es;
    if (!fz_inside(m, c->a, off, es)) {
      ok = false;
      continue;
    }
    if (!fz_written(m, c->a, off, es)) fz_fault(m, "read-poison");
    x[at.i] = (number){true, fz_get(c->type, fz_at(m, c->a, off))};
  }
  return ok;
}

static int64_t repeats_of(const fz_lanes *l) {
  return l->counted ? (l->total + l->lanes - 1) / l->lanes : l->repeats;
}

/* Bytes of sharedTmpBuffer: pairs of value and index of every repeat, rounded up to 32 bytes; with the index the later rounds
 * keep theirs behind (ReduceMax, 关键特性说明). ReduceSum: one value a repeat, not used by count. */
static int64_t work_bytes(const fz_case *c, int64_t repeats) {
  int es = fz_bytes[c->type];
  int64_t per = 256 / es, block = 32 / es;
  if (c->op == ACSIM_OP_ReduceSum) return c->repeated ? (repeats + block - 1) / block * block * es : 0;
  int64_t out = 2 * repeats, all = 0;
  bool index = c->mode != 0;
  for (int round = 0; round < 3; round++) {
    all += (out + block - 1) / block * block;
    if (!index) break;
    if (round && out <= 2) break;
    out = (out + per - 1) / per * 2;
  }
  return all * es;
}

static void reduce_all(fz_machine *m, const fz_case *c) {
  static number part[1 << 16], x[128];
  fz_lanes l = fz_lanes_of(m, c);
  int es = fz_bytes[c->type];
  bool sum = is_sum(c->op), index = !sum && c->mode;
  fz_lane first = {0};
  if (m->n_faults || !fz_next(&l, &first)) return;
  int64_t repeats = repeats_of(&l), need = work_bytes(c, repeats), out = index ? 2 * es : es;
  fz_aligned(m, c->a, 32);
  fz_aligned(m, c->dst, out);
  if (need) fz_aligned(m, c->b, 32);
  bool ok = fz_inside(m, c->dst, 0, out);
  ok = fz_inside(m, c->b, 0, need) && ok;
  int64_t at = -1;
  number top = {false, 0};
  for (int64_t k = 0; k < repeats; k++) {
    if (!load(m, c, &l, k, x)) return;
    if (sum) {
      part[k] = tree(m, c->type, x, 128);
      continue;
    }
    int64_t i = best(c->op, x, 128);
    number pair[2] = {top, {true, i >= 0 ? settled(m, c, x[i].v) : 0}};
    if (i >= 0 && best(c->op, pair, 2) == 1) top = pair[1], at = k * l.lanes + i;
  }
  if (!ok) return;
  double v = top.v;
  if (sum && c->repeated) { /* 方式二: a tree over the repeats too */
    int64_t n = 1;
    while (n < repeats) n *= 2;
    memset(part + repeats, 0, (size_t)(n - repeats) * sizeof *part);
    v = tree(m, c->type, part, n).v;
  } else if (sum) { /* 方式一: one after another */
    v = part[0].v;
    for (int64_t k = 1; k < repeats; k++) v = rounded(m, c->type, (long double)v + (long double)part[k].v);
  }
  if (index && es == 2 && at > 65535) fz_fault(m, "index-limit");
  if (c->b.buf >= 0 && need) memset(fz_st(m, c->b, 0), 0, (size_t)need);
  m->any_nan = true;
  store(m, c, c->dst, 0, v);
  if (index) store_index(m, c->dst, es, es, at);
}

/* order: 0 value and index, 1 index and value, 2 value, 3 index */
static void reduce_repeat(fz_machine *m, const fz_case *c) {
  static number x[128];
  fz_lanes l = fz_lanes_of(m, c);
  int es = fz_bytes[c->type];
  bool sum = is_sum(c->op);
  int order = sum ? 2 : c->mode, out = order == 2 ? es : order == 3 ? 4 : 2 * es;
  fz_lane first = {0};
  if (m->n_faults || !fz_next(&l, &first)) return;
  fz_aligned(m, c->a, 32);
  fz_aligned(m, c->dst, out);
  m->any_nan = true;
  int64_t repeats = repeats_of(&l);
  fz_track_reset();
  number top = {false, 0};
  for (int64_t k = 0; k < repeats; k++) {
    int64_t od = k * c->r.dst_repeat * out;
    bool ok = load(m, c, &l, k, x);
    if (!fz_inside(m, c->dst, od, out) || !ok) return;
    for (fz_lane at = {0}; fz_next(&l, &at) && at.k <= k;)
      if (at.k == k) fz_track_read(m, fz_at(m, c->a, fz_lane_at(at, es, c->r.a_block, c->r.a_repeat)), es, k);
    fz_track_write(m, fz_at(m, c->dst, od), out, k);
    if (sum) {
      store(m, c, c->dst, od, tree(m, c->type, x, 128).v);
      continue;
    }
    int64_t i = best(c->op, x, 128);
    x[i].v = settled(m, c, x[i].v);
    if (order != 3) store(m, c, c->dst, od + (order == 1 ? es : 0), x[i].v);
    if (order != 2) store_index(m, c->dst, od + (order == 0 ? es : 0), order == 3 ? 4 : es, i);
    number pair[2] = {top, {true, x[i].v}};
    if (best(c->op, pair, 2) == 1) top = pair[1], m->peak = x[i].v, m->peak_index = k * l.lanes + i;
  }
  m->peak_set = !sum && c->r.a_block == 1 && c->r.a_repeat == 8 && !m->counter;
}

/* Groups of a block or of a pair; a group with no lane that takes part writes nothing (Atlas A2). */
static void reduce_part(fz_machine *m, const fz_case *c) {
  static number x[128];
  fz_lanes l = fz_lanes_of(m, c);
  int es = fz_bytes[c->type];
  bool pair = c->op == ACSIM_OP_PairReduceSum, sum = is_sum(c->op);
  int group = pair ? 2 : 32 / es, step = pair ? 128 : 8 * es;
  if (m->n_faults || !fz_runs(&l)) return;
  fz_aligned(m, c->a, 32);
  fz_aligned(m, c->dst, pair ? 32 : 8 * es);
  m->any_nan = true;
  fz_track_reset();
  for (int64_t k = 0; k < repeats_of(&l); k++) {
    if (!load(m, c, &l, k, x)) return;
    for (fz_lane at = {0}; fz_next(&l, &at) && at.k <= k;)
      if (at.k == k) fz_track_read(m, fz_at(m, c->a, fz_lane_at(at, es, c->r.a_block, c->r.a_repeat)), es, k);
    for (int g = 0; g < l.lanes / group; g++) {
      int64_t od = k * c->r.dst_repeat * step + (int64_t)g * es;
      int64_t i = best(c->op, x + (int64_t)g * group, group);
      if (i < 0) continue;
      if (!fz_inside(m, c->dst, od, es)) return;
      fz_track_write(m, fz_at(m, c->dst, od), es, k);
      store(m, c, c->dst, od,
            sum ? tree(m, c->type, x + (int64_t)g * group, group).v : settled(m, c, x[(int64_t)g * group + i].v));
    }
  }
}

void fz_naive_reduce(fz_machine *m, const fz_case *c) {
  switch (c->op) {
  case ACSIM_OP_ReduceSum:
  case ACSIM_OP_ReduceMax:
  case ACSIM_OP_ReduceMin: reduce_all(m, c); break;
  case ACSIM_OP_WholeReduceSum:
  case ACSIM_OP_WholeReduceMax:
  case ACSIM_OP_WholeReduceMin: reduce_repeat(m, c); break;
  default: reduce_part(m, c); break;
  }
}

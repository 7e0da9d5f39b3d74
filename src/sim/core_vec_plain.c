/* The repeat form as it is mostly written: the first lanes of every repeat are on, the blocks of a repeat follow each other. Then an operand of
 * a repeat is one range of bytes, and where the repeats follow each other too, the instruction is. What is checked and computed is what
 * core_vec.c does lane by lane, which also takes everything that is out of the ordinary: this is for speed only. */
#include "sim/core_vec.h"

#include <string.h>

/* How many lanes are on, if they are the first ones; else 0. */
static int first_lanes(const call *c) {
  const uint64_t *m = c->v->repeat->mask;
  if (m[0] != ~0ull) return m[1] || (m[0] & (m[0] + 1)) ? 0 : __builtin_popcountll(m[0]);
  int n = m[1] & (m[1] + 1) ? 0 : 64 + __builtin_popcountll(m[1]);
  return n > c->lanes ? c->lanes : n;
}

int64_t acsim_vec_range(const call *c, int bytes, int block_stride) {
  int n = first_lanes(c);
  bool one_block = (int64_t)n * bytes <= BLOCK_BYTES; /* the stride does not matter */
  return block_stride == 1 || one_block ? (int64_t)n * bytes : 0;
}

uint32_t acsim_vec_block_lanes(const call *c, int first, int per) {
  const uint64_t *m = c->v->repeat->mask;
  uint32_t bits = (uint32_t)(m[first / 64] >> (first % 64));
  if (first + per > c->lanes) per = c->lanes - first;
  return per >= 32 ? bits : bits & ((1u << per) - 1);
}

void acsim_vec_gather_repeat(const call *c, uint8_t *to, const acsim_local *t, int64_t off, int bytes,
                             int block_stride) {
  int per = BLOCK_BYTES / bytes;
  for (int first = 0; first < c->lanes; first += per) {
    int n = c->lanes - first < per ? c->lanes - first : per;
    uint32_t on = acsim_vec_block_lanes(c, first, n), all = n >= 32 ? ~0u : (1u << n) - 1;
    uint8_t *d = to + first * bytes;
    if (on != all) memset(d, 0, (size_t)n * (size_t)bytes);
    if (!on) continue;
    const uint8_t *s = acsim_data(c->b, t, off + lane_offset(first, bytes, block_stride));
    if (on == all)
      memcpy(d, s, (size_t)n * (size_t)bytes);
    else
      for (int k = 0; k < n; k++)
        if (on >> k & 1) memcpy(d + k * bytes, s + k * bytes, (size_t)bytes);
  }
}

/* An operand of many repeats: the bytes that they touch, as one range; how it is read. */
typedef struct {
  acsim_access x;
  bool follows;       /* lane after lane in memory; else gathered repeat by repeat */
  int stride, repeat; /* blocks */
} operand;

/* A source of n lanes a repeat. False: what it touches is not one range. */
static bool source(const call *c, operand *o, const char *name, const acsim_local *t, int stride, int step,
                   int64_t from, int64_t repeats, int64_t n) {
  int64_t range = stride ? acsim_vec_range(c, c->es, stride) : n * c->es < BLOCK_BYTES ? n * c->es : BLOCK_BYTES;
  int64_t by = (int64_t)step * BLOCK_BYTES;
  *o = (operand){{name, t, from * by, by ? range * repeats : range, 1, ACSIM_READ}, false, stride, step};
  o->follows = (stride == 1 || n * c->es <= BLOCK_BYTES) && (by == range || repeats == 1);
  return range && (!by || by == range || repeats == 1);
}

/* May d be written while s is read from its own memory? They are the same, element by element, or apart. */
static bool in_step(const acsim_access *d, const operand *s) {
  int64_t a = (int64_t)d->t->addr + d->off, b = (int64_t)s->x.t->addr + s->x.off;
  return d->t->mem != s->x.t->mem || a + d->bytes <= b || b + s->x.bytes <= a ||
         (s->follows && a == b && d->bytes == s->x.bytes);
}

enum { MANY = 16 };
static const uint8_t *lanes_of(const call *c, const operand *o, uint8_t *room, int64_t from, int64_t m, int64_t n) {
  if (o->follows) return acsim_data(c->b, o->x.t, o->x.off + from * n * c->es);
  for (int64_t k = 0; k < m; k++) {
    const uint8_t *s = acsim_data(c->b, o->x.t, o->x.off + (from + k) * o->repeat * BLOCK_BYTES);
    int64_t bytes = n * c->es;
    for (int64_t at = 0, block = 0; at < bytes; at += BLOCK_BYTES, block += o->stride)
      memcpy(room + k * bytes + at, s + block * BLOCK_BYTES,
             bytes - at < BLOCK_BYTES ? (size_t)(bytes - at) : BLOCK_BYTES);
  }
  return room;
}

bool acsim_vec_plain(const call *c, int64_t repeat, int64_t repeats, int how) {
  const acsim_vector *v = c->v;
  const acsim_repeat *r = v->repeat;
  int64_t n = first_lanes(c), nd = acsim_vec_range(c, c->ds, r->dst_block), od = r->dst_repeat * BLOCK_BYTES;
  operand a = {0}, b = {0};
  if (!n || !nd || (repeats > 1 && od != nd)) return false;
  if (v->a && !source(c, &a, "src0", v->a, r->a_block, r->a_repeat, repeat, repeats, n)) return false;
  if (v->b && !source(c, &b, "src1", v->b, r->b_block, r->b_repeat, repeat, repeats, n)) return false;
  acsim_access x[3] = {{"dst", v->dst, repeat * od, nd * repeats, 1, how}};
  int k = 1;
  if (v->a) x[k++] = a.x;
  if (v->b) x[k++] = b.x;
  if ((v->a && !in_step(x, &a)) || (v->b && !in_step(x, &b)) ||
      !acsim_touch_allowed(c->b, AC_PIPE_V, c->name, c->at, x, k))
    return false;
  int64_t many = (!v->a || a.follows) && (!v->b || b.follows) ? repeats : MANY;
  uint8_t ra[MANY * REPEAT_BYTES], rb[MANY * REPEAT_BYTES];
  for (int64_t at = 0; at < repeats; at += many) {
    int64_t m = repeats - at < many ? repeats - at : many;
    acsim_vec_compute(c, acsim_data(c->b, v->dst, x[0].off + at * nd), v->a ? lanes_of(c, &a, ra, at, m, n) : NULL,
                      v->b ? lanes_of(c, &b, rb, at, m, n) : NULL, n * m);
  }
  mark(c, v->dst, x[0].off, x[0].bytes);
  return true;
}

/* The first of the largest, or of the smallest; the first NaN before all. */
static float peak_of(const float *x, int n, bool largest) {
  float m = x[0];
  for (int i = 1; i < n; i++)
    if (m == m && (x[i] != x[i] || (largest ? x[i] > m : x[i] < m))) m = x[i];
  return m;
}

bool acsim_vec_groups(const call *c, const uint8_t *lanes, int64_t off, int group) {
  const acsim_vector *v = c->v;
  int n = c->lanes / group;
  acsim_access x = {"dst", v->dst, off, (int64_t)n * c->es, 1, ACSIM_WRITE};
  bool peak = v->op == ACSIM_OP_BlockReduceMax || v->op == ACSIM_OP_BlockReduceMin;
  if ((peak && c->saturate) || first_lanes(c) != c->lanes || (v->type != ACSIM_F32 && v->type != ACSIM_F16) ||
      !acsim_touch_allowed(c->b, AC_PIPE_V, c->name, c->at, &x, 1))
    return false;
  uint8_t *d = acsim_data(c->b, v->dst, off);
  if (peak) {
    float f[MAX_LANES];
    if (v->type == ACSIM_F32)
      memcpy(f, lanes, sizeof *f * (size_t)c->lanes);
    else
      acsim_math_cast(ACSIM_F32, v->type, AC_RN_NONE, f, lanes, c->lanes, false);
    for (int g = 0; g < n; g++)
      ac_store((ac_dtype)v->type, d, g, (double)peak_of(f + g * group, group, v->op == ACSIM_OP_BlockReduceMax));
  } else {
    acsim_math_sum_rows(v->type, d, lanes, n, group, c->saturate);
  }
  mark(c, v->dst, off, x.bytes);
  return true;
}

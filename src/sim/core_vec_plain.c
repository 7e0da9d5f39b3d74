/* The repeat form as it is mostly written: the first lanes of every repeat are on, the blocks of a repeat follow each other. Then an operand of
 * a repeat is one range of bytes, and where the repeats follow each other too, the instruction is. What is checked and computed is what
 * core_vec.c does lane by lane, which also takes everything that is out of the ordinary: this is for speed only. */
#include "sim/core_vec.h"

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

/* May d be written while s is read from its own memory? They are the same, element by element, or apart. */
static bool in_step(const acsim_local *d, int64_t od, int64_t nd, const acsim_local *s, int64_t os, int64_t ns) {
  int64_t a = (int64_t)d->addr + od, b = (int64_t)s->addr + os;
  return d->mem != s->mem || a + nd <= b || b + ns <= a || (a == b && nd == ns);
}

/* n lanes, from byte offsets of the three operands on. False: nothing is done. */
static bool whole(const call *c, int64_t od, int64_t oa, int64_t ob, int64_t n, int how) {
  const acsim_vector *v = c->v;
  acsim_access x[3];
  int k = 0;
  x[k++] = (acsim_access){"dst", v->dst, od, n * c->ds, 1, how};
  if (v->a) x[k++] = (acsim_access){"src0", v->a, oa, n * c->es, 1, ACSIM_READ};
  if (v->b) x[k++] = (acsim_access){"src1", v->b, ob, n * c->es, 1, ACSIM_READ};
  for (int i = 1; i < k; i++)
    if (!in_step(v->dst, od, x[0].bytes, x[i].t, x[i].off, x[i].bytes)) return false;
  if (!acsim_allowed(c->b, x, k)) return false;
  acsim_touch(c->b, AC_PIPE_V, c->name, c->at, x, k);
  acsim_vec_compute(c, acsim_data(c->b, v->dst, od), v->a ? acsim_data(c->b, v->a, oa) : NULL,
                    v->b ? acsim_data(c->b, v->b, ob) : NULL, n);
  mark(c, v->dst, od, n * c->ds);
  return true;
}

bool acsim_vec_plain(const call *c, int64_t repeat, int64_t repeats, int how) {
  const acsim_vector *v = c->v;
  const acsim_repeat *r = v->repeat;
  int64_t nd = acsim_vec_range(c, c->ds, r->dst_block);
  if (!nd || (v->a && !acsim_vec_range(c, c->es, r->a_block)) || (v->b && !acsim_vec_range(c, c->es, r->b_block)))
    return false;
  int64_t od = r->dst_repeat * BLOCK_BYTES, oa = r->a_repeat * BLOCK_BYTES, ob = r->b_repeat * BLOCK_BYTES;
  int64_t n = nd / c->ds;
  if (repeats > 1 && (od != nd || (v->a && oa != n * c->es) || (v->b && ob != n * c->es))) return false;
  return whole(c, repeat * od, repeat * oa, repeat * ob, n * repeats, how);
}

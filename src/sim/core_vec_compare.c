/* Compare and CompareScalar to memory: by count, and in repeats. */
#include "sim/core_vec.h"

static bool written(acsim_block *b, const acsim_local *t, int64_t off, int bytes) {
  return acsim_all_written(acsim_state(b, t, off), bytes);
}

/* n lanes from byte offsets of the sources to bits, and which of the bits are defined: those of lanes that are. */
static void compare_to(const call *c, int64_t a_off, int64_t b_off, uint8_t *bits, uint8_t *st, int64_t n) {
  const acsim_vector *v = c->v;
  acsim_block *b = c->b;
  acsim_math_compare_bits(v->mode, v->type, bits, acsim_data(b, v->a, a_off),
                          v->b ? acsim_data(b, v->b, b_off) : NULL, v->f, v->i, n);
  if (acsim_all_written(acsim_state(b, v->a, a_off), n * c->es) &&
      (!v->b || acsim_all_written(acsim_state(b, v->b, b_off), n * c->es))) {
    memset(st, 0xff, (size_t)n / 8);
    return;
  }
  memset(st, 0, (size_t)n / 8);
  for (int64_t i = 0; i < n; i++)
    if (written(b, v->a, a_off + i * c->es, c->es) && (!v->b || written(b, v->b, b_off + i * c->es, c->es)))
      st[i / 8] |= (uint8_t)(1u << i % 8);
}
static bool compare_in_place(const call *c, const acsim_local *src, int64_t off, int64_t to, int64_t n) {
  const acsim_local *dst = c->v->dst;
  return src && dst->mem == src->mem && dst->addr + to < src->addr + off + n * c->es &&
         src->addr + off < dst->addr + to + n / 8;
}
/* The same to byte `to` of dst; where that lies in a source, a repeat is read before it is written. */
static void compare_lanes(const call *c, int64_t a_off, int64_t b_off, int64_t to, int64_t n) {
  const acsim_vector *v = c->v;
  if (!compare_in_place(c, v->a, a_off, to, n) && !compare_in_place(c, v->b, b_off, to, n)) {
    compare_to(c, a_off, b_off, acsim_data(c->b, v->dst, to), acsim_state(c->b, v->dst, to), n);
    return;
  }
  uint8_t bits[MAX_LANES / 8], known[MAX_LANES / 8];
  for (int64_t at = 0; at < n; at += c->lanes) {
    compare_to(c, a_off + at * c->es, b_off + at * c->es, bits, known, c->lanes);
    memcpy(acsim_data(c->b, v->dst, to + at / 8), bits, (size_t)c->lanes / 8);
    memcpy(acsim_state(c->b, v->dst, to + at / 8), known, (size_t)c->lanes / 8);
  }
}

void acsim_vec_compare(const call *c) {
  const acsim_vector *v = c->v;
  int64_t n = v->count / c->lanes * c->lanes;
  if (n != v->count)
    acsim_fault(c->b->s, c->b, "count-not-256", c->at,
                "%s of %lld %s: only whole 256-byte repeats are compared (%lld elements), the other mask bits keep "
                "their old value",
                c->name, (long long)v->count, ac_dtypes[v->type].cpp, (long long)n);
  if (!n) return;
  acsim_access x[] = {{"dst", v->dst, 0, n / 8, BLOCK_BYTES, ACSIM_WRITE},
                      {"src0", v->a, 0, n * c->es, BLOCK_BYTES, ACSIM_READ | ACSIM_SOFT},
                      {"src1", v->b ? v->b : v->a, 0, n * c->es, BLOCK_BYTES, ACSIM_READ | ACSIM_SOFT}};
  if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, x, v->b ? 3 : 2)) return;
  acsim_vec_check_chain(c, "src0", v->a, 1, 8, c->lanes / 8, c->lanes / 8, 0, n / c->lanes);
  if (v->b) acsim_vec_check_chain(c, "src1", v->b, 1, 8, c->lanes / 8, c->lanes / 8, 0, n / c->lanes);
  compare_lanes(c, 0, 0, 0, n);
}

/* The same with blocks apart: a repeat is brought together first. */
static void compare_strided(const call *c) {
  const acsim_vector *v = c->v;
  const acsim_repeat *r = v->repeat;
  int per = BLOCK_BYTES / c->es;
  for (int k = c->from; k < c->from + r->repeat; k++) {
    uint8_t a[REPEAT_BYTES], b[REPEAT_BYTES], bits[MAX_LANES / 8], known[MAX_LANES / 8] = {0};
    int64_t oa = (int64_t)k * r->a_repeat * BLOCK_BYTES, ob = (int64_t)k * r->b_repeat * BLOCK_BYTES;
    acsim_access to = {"dst", v->dst, (int64_t)k * c->lanes / 8, c->lanes / 8, 1, ACSIM_WRITE};
    for (int i = 0; i < 8; i++) {
      int64_t pa = oa + (int64_t)i * r->a_block * BLOCK_BYTES, pb = ob + (int64_t)i * r->b_block * BLOCK_BYTES;
      acsim_access x[] = {{"src0", v->a, pa, BLOCK_BYTES, 1, ACSIM_READ | ACSIM_SOFT},
                          {"src1", v->b, pb, BLOCK_BYTES, 1, ACSIM_READ | ACSIM_SOFT}};
      if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, x, v->b ? 2 : 1)) return;
      memcpy(a + i * BLOCK_BYTES, acsim_data(c->b, v->a, pa), BLOCK_BYTES);
      if (v->b) memcpy(b + i * BLOCK_BYTES, acsim_data(c->b, v->b, pb), BLOCK_BYTES);
      for (int j = 0; j < per; j++)
        if (acsim_all_written(acsim_state(c->b, v->a, pa + j * c->es), c->es) &&
            (!v->b || acsim_all_written(acsim_state(c->b, v->b, pb + j * c->es), c->es)))
          known[(i * per + j) / 8] |= (uint8_t)(1u << (i * per + j) % 8);
    }
    if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, &to, 1)) return;
    acsim_math_compare_bits(v->mode, v->type, bits, a, v->b ? b : NULL, v->f, v->i, c->lanes);
    memcpy(acsim_data(c->b, v->dst, to.off), bits, (size_t)to.bytes);
    memcpy(acsim_state(c->b, v->dst, to.off), known, (size_t)to.bytes);
  }
}

void acsim_vec_compare_repeat(const call *c) {
  const acsim_vector *v = c->v;
  const acsim_repeat *r = v->repeat;
  if (!acsim_vec_check_starts(c)) return;
  acsim_vec_check_chain(c, "src0", v->a, r->a_block, r->a_repeat, c->lanes / 8, c->lanes / 8, 0, r->repeat);
  if (v->b) acsim_vec_check_chain(c, "src1", v->b, r->b_block, r->b_repeat, c->lanes / 8, c->lanes / 8, 0, r->repeat);
  if (r->a_block != 1 || (v->b && r->b_block != 1)) {
    compare_strided(c);
    return;
  }
  for (int k = c->from; k < c->from + r->repeat;
       k++) { /* the mask has no effect on Atlas A2 (asc-devkit docs/zh, Compare) */
    int64_t oa = (int64_t)k * r->a_repeat * BLOCK_BYTES, ob = (int64_t)k * r->b_repeat * BLOCK_BYTES,
            to = (int64_t)k * c->lanes / 8;
    acsim_access x[] = {{"dst", v->dst, to, c->lanes / 8, 1, ACSIM_WRITE},
                        {"src0", v->a, oa, REPEAT_BYTES, 1, ACSIM_READ | ACSIM_SOFT},
                        {"src1", v->b ? v->b : v->a, ob, REPEAT_BYTES, 1, ACSIM_READ | ACSIM_SOFT}};
    if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, x, v->b ? 3 : 2)) return;
    compare_lanes(c, oa, ob, to, c->lanes);
  }
}

/* Select, by count and by repeats: the mask in memory, or what CMPMASK holds. */
#include "sim/core_vec.h"

/* ---- CMPMASK ---- */

/* A Select with a mask of its own goes through CMPMASK: its first 16 bytes (mode 0), else a scalar or an address (CANN 8.1,
 * kernel_operator_vec_cmpsel_impl.h). */
static void compare_mask_lost(const call *c) {
  acsim_block *b = c->b;
  memset(b->cmp_state, 0, sizeof b->cmp_state);
  if (c->v->mode) return;
  int64_t n = (int64_t)acsim_memory_of(b, c->v->c->mem)->size - c->v->c->addr;
  n = n > 16 ? 16 : n;
  memcpy(b->cmp_mask, acsim_data(b, c->v->c, 0), (size_t)n);
  memcpy(b->cmp_state, acsim_state(b, c->v->c, 0), (size_t)n);
}
/* What CMPMASK says of a Select in mode 1 or 2, into its vector. An address is that of GetPhyAddr; 32 bits of it may be there. False: reported. */
static bool compare_mask(const call *c, acsim_vector *v, acsim_local *mask) {
  acsim_block *b = c->b;
  if (!acsim_all_written(b->cmp_state, v->mode == 1 ? c->es : 4)) {
    acsim_fault(b->s, b, "read-poison", c->at, "Select: nothing has set the %s in the compare mask register",
                v->mode == 1 ? "scalar" : "address of the mask");
    return false;
  }
  v->by_register = 1;
  if (v->mode == 1) {
    v->f = ac_load((ac_dtype)v->type, b->cmp_mask, 0);
    return true;
  }
  const acsim_memory *m = acsim_memory_of(b, ACSIM_UB);
  uint32_t low;
  memcpy(&low, b->cmp_mask, 4);
  uint32_t at = low - (uint32_t)(uintptr_t)m->data;
  acsim_local_of(at < m->size ? m->data + at : NULL, mask);
  v->c = mask;
  return true;
}

/* ---- lanes ---- */

/* Lane i of a 256-byte-per-repeat select: which mask bit it looks at. Mode 0 has one mask for every repeat. */
static int64_t mask_bit(const call *c, int64_t i) {
  return c->v->mode == 0 ? i % c->lanes : i;
}

static void select_lane(const call *c, int64_t bit, uint8_t *d, uint8_t *dst_state, const uint8_t *a,
                        const uint8_t *as, const uint8_t *b, const uint8_t *bs, int64_t *undefined) {
  const acsim_local *m = c->v->c;
  unsigned on = acsim_data(c->b, m, bit / 8)[0] >> bit % 8 & 1,
           known = acsim_state(c->b, m, bit / 8)[0] >> bit % 8 & 1;
  const uint8_t *from = on ? a : b, *state = on ? as : bs;
  if (!known || (state && !acsim_all_written(state, c->es))) (*undefined)++;
  memcpy(d, from, (size_t)c->es);
  memset(dst_state, 0xff, (size_t)c->es);
}

static void report_undefined(const call *c, int64_t undefined, int64_t n) {
  if (undefined)
    acsim_fault(c->b->s, c->b, "read-poison", c->at,
                "Select: %lld of %lld lanes use a mask bit or a value that was never written", (long long)undefined,
                (long long)n);
}

static void note_select(const call *c) {
  if (c->v->mode == 0 || c->b->select_used || c->v->by_register) return;
  c->b->select_used = true;
  c->b->select_at = c->at;
}

/* Is every bit and value that a select may look at defined? The usual case, and the fast one. */
static bool select_defined(const call *c, int64_t n, int64_t bits) {
  const acsim_vector *v = c->v;
  return acsim_all_written(acsim_state(c->b, v->c, 0), (bits + 7) / 8) &&
         acsim_all_written(acsim_state(c->b, v->a, 0), n * c->es) &&
         (!v->b || acsim_all_written(acsim_state(c->b, v->b, 0), n * c->es));
}

void acsim_vec_select_count(const call *c) {
  const acsim_vector *v = c->v;
  int64_t n = v->count, bits = v->mode == 0 && n > c->lanes ? c->lanes : n, undefined = 0;
  acsim_access x[] = {{"dst", v->dst, 0, n * c->es, BLOCK_BYTES, ACSIM_WRITE},
                      {"selMask", v->c, 0, (bits + 7) / 8, BLOCK_BYTES, ACSIM_READ | ACSIM_SOFT},
                      {"src0", v->a, 0, n * c->es, BLOCK_BYTES, ACSIM_READ | ACSIM_SOFT},
                      {"src1", v->b ? v->b : v->a, 0, n * c->es, BLOCK_BYTES, ACSIM_READ | ACSIM_SOFT}};
  if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, x, v->b ? 4 : 3)) return;
  note_select(c);
  compare_mask_lost(c);
  acsim_vec_check_contiguous(c, v->a, c->es, n, "src0");
  if (v->b) acsim_vec_check_contiguous(c, v->b, c->es, n, "src1");
  acsim_vec_check_mask(c, v->mode == 0 ? 0 : c->lanes / 8);
  uint8_t scalar[8] = {0};
  if (!v->b) acsim_math_fill(v->type, scalar, v->f, v->i, 1);
  if (select_defined(c, n, bits)) {
    acsim_math_select(c->es, acsim_data(c->b, v->dst, 0), acsim_data(c->b, v->c, 0), v->mode == 0 ? c->lanes : n,
                      acsim_data(c->b, v->a, 0), v->b ? acsim_data(c->b, v->b, 0) : NULL, scalar, n);
    mark(c, v->dst, 0, n * c->es);
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    int64_t o = i * c->es;
    select_lane(c, mask_bit(c, i), acsim_data(c->b, v->dst, o), acsim_state(c->b, v->dst, o),
                acsim_data(c->b, v->a, o), acsim_state(c->b, v->a, o), v->b ? acsim_data(c->b, v->b, o) : scalar,
                v->b ? acsim_state(c->b, v->b, o) : NULL, &undefined);
  }
  report_undefined(c, undefined, n);
}

/* ---- repeats ---- */

static void select_repeat(const call *c) {
  const acsim_vector *v = c->v;
  const acsim_repeat *r = v->repeat;
  int64_t undefined = 0, all = 0;
  uint8_t scalar[8] = {0};
  if (!acsim_vec_check_starts(c)) return;
  if (!v->b) acsim_math_fill(v->type, scalar, v->f, v->i, 1);
  note_select(c);
  int64_t mask_bytes = (v->mode == 0 ? c->lanes : (int64_t)(c->from + r->repeat) * c->lanes) / 8;
  acsim_access m = {"selMask", v->c, 0, mask_bytes, BLOCK_BYTES, ACSIM_READ | ACSIM_SOFT};
  if (r->repeat && !acsim_touch(c->b, AC_PIPE_V, c->name, c->at, &m, 1)) return;
  acsim_vec_check_mask(c, v->mode == 0 ? 0 : c->lanes / 8);
  for (int k = c->from; k < c->from + r->repeat; k++) {
    int64_t od = (int64_t)k * r->dst_repeat * BLOCK_BYTES, oa = (int64_t)k * r->a_repeat * BLOCK_BYTES,
            ob = (int64_t)k * r->b_repeat * BLOCK_BYTES;
    if (!acsim_vec_touch_repeat(c, "dst", v->dst, od, c->es, r->dst_block, ACSIM_WRITE)) return;
    if (!acsim_vec_touch_repeat(c, "src0", v->a, oa, c->es, r->a_block, ACSIM_READ | ACSIM_SOFT)) return;
    if (v->b && !acsim_vec_touch_repeat(c, "src1", v->b, ob, c->es, r->b_block, ACSIM_READ | ACSIM_SOFT)) return;
    for (int i = 0; i < c->lanes; i++) {
      if (!lane_on(r, i)) continue;
      int64_t d = od + lane_offset(i, c->es, r->dst_block), a = oa + lane_offset(i, c->es, r->a_block);
      int64_t b = ob + lane_offset(i, c->es, r->b_block);
      select_lane(c, mask_bit(c, (int64_t)k * c->lanes + i), acsim_data(c->b, v->dst, d),
                  acsim_state(c->b, v->dst, d), acsim_data(c->b, v->a, a), acsim_state(c->b, v->a, a),
                  v->b ? acsim_data(c->b, v->b, b) : scalar, v->b ? acsim_state(c->b, v->b, b) : NULL, &undefined);
      all++;
    }
  }
  report_undefined(c, undefined, all);
}

static void report_register(const call *c, int64_t undefined) {
  if (undefined)
    acsim_fault(c->b->s, c->b, "read-poison", c->at,
                "Select: %lld lanes use a bit of the compare mask register that nothing has set, or a value that was "
                "never written",
                (long long)undefined);
}
/* Every repeat uses the same register. */
static void select_register(const call *c) {
  const acsim_vector *v = c->v;
  const acsim_repeat *r = v->repeat;
  int64_t undefined = 0;
  if (!acsim_vec_check_starts(c)) return;
  for (int k = c->from; k < c->from + r->repeat; k++) {
    int64_t od = (int64_t)k * r->dst_repeat * BLOCK_BYTES, oa = (int64_t)k * r->a_repeat * BLOCK_BYTES,
            ob = (int64_t)k * r->b_repeat * BLOCK_BYTES;
    if (!acsim_vec_touch_repeat(c, "dst", v->dst, od, c->es, r->dst_block, ACSIM_WRITE) ||
        !acsim_vec_touch_repeat(c, "src0", v->a, oa, c->es, r->a_block, ACSIM_READ | ACSIM_SOFT) ||
        (v->b && !acsim_vec_touch_repeat(c, "src1", v->b, ob, c->es, r->b_block, ACSIM_READ | ACSIM_SOFT)))
      return;
    for (int i = 0; i < c->lanes; i++) {
      if (!lane_on(r, i)) continue;
      bool on = c->b->cmp_mask[i / 8] >> i % 8 & 1;
      int64_t d = od + lane_offset(i, c->es, r->dst_block);
      const acsim_local *src = on || !v->b ? v->a : v->b;
      int64_t from = on || !v->b ? oa + lane_offset(i, c->es, r->a_block) : ob + lane_offset(i, c->es, r->b_block);
      bool known = c->b->cmp_state[i / 8] >> i % 8 & 1; /* and of the values only the one that is taken */
      undefined += !known || !acsim_all_written(acsim_state(c->b, src, from), c->es);
      memmove(acsim_data(c->b, v->dst, d), acsim_data(c->b, src, from), (size_t)c->es);
      mark(c, v->dst, d, c->es);
    }
  }
  report_register(c, undefined);
}

/* Without a mask of the call's own: CMPMASK holds the mask (mode 0), the scalar (mode 1) or where the mask is (mode 2; docs/zh, SetCmpMask). */
void acsim_vec_select(const call *given) {
  call c = *given;
  acsim_vector v = *c.v;
  acsim_local mask;
  c.v = &v;
  if (v.mode == 0 && !v.c) {
    select_register(&c);
    return;
  }
  bool from_register = !v.c || v.by_register;
  if (from_register && !compare_mask(&c, &v, &mask)) return;
  select_repeat(&c);
  if (!from_register) compare_mask_lost(&c);
}

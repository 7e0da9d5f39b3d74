/* Conversions that scale: CastDeq, AddDeqRelu, Cast from int32 to half, and those of 4-bit integers. DEQSCALE's layout: asc-devkit
 * docs/zh, SetDeqScale. */
#include "../../sim/include/acsim/kernel_abi_basic.h"
#include "sim/core_vec.h"

#include <math.h>

/* DEQSCALE: bits 0..31 a float, 37..45 the offset, 46 the sign. */
static uint64_t deq_word(float scale, int32_t offset, bool sign) {
  uint32_t bits;
  memcpy(&bits, &scale, 4);
  return bits | (uint64_t)((uint32_t)offset & 0x1ff) << 37 | (uint64_t)sign << 46;
}
void acsim_set_deq_word(float scale, int32_t offset, int32_t sign) {
  acsim_block *b = acsim_here("SetDeqScale");
  b->deq_scale = deq_word(scale, offset, sign != 0);
  b->deq_form = ACSIM_DEQ_WORD;
}
void acsim_set_deq_vector(const acsim_local *t, const float scale[16], const int16_t offset[16],
                          const uint8_t sign[16], const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("SetDeqScale", AT);
  acsim_order_begin(b);
  acsim_access x = {"vdeq", t, 0, 128, BLOCK_BYTES, ACSIM_WRITE};
  if (!acsim_touch(b, AC_PIPE_S, "SetDeqScale", AT, &x, 1)) return;
  for (int i = 0; i < 16; i++) {
    uint64_t w = deq_word(scale[i], offset[i], sign[i]);
    memcpy(acsim_data(b, t, i * 8), &w, 8);
  }
  memset(acsim_state(b, t, 0), 0xff, 128);
  b->deq_vector = *t;
  b->deq_form = ACSIM_DEQ_VECTOR;
}

/* x * scale + offset, rounded to nearest even (assumed) and saturated. The unit sees the scale with 10 bits of fraction (docs/zh). */
static int deq_one(uint64_t word, int x, bool sign) {
  uint32_t bits = (uint32_t)word & 0xffffe000u;
  float scale;
  memcpy(&scale, &bits, 4);
  int offset = (int)(word >> 37 & 0x1ff);
  if (offset & 0x100) offset -= 0x200;
  double v = nearbyint((double)x * (double)scale + offset);
  double lo = sign ? -128 : 0, hi = sign ? 127 : 255;
  return v != v ? 0 : (int)(v < lo ? lo : v > hi ? hi : v);
}

/* The words in force: 16 of them, by the lane's place in its block. False: reported. */
static bool deq_words(const call *c, uint64_t words[16]) {
  acsim_block *b = c->b;
  bool vec = c->v->mode & 1, sign = c->v->dst_type == ACSIM_I8;
  if (b->deq_form != (vec ? ACSIM_DEQ_VECTOR : ACSIM_DEQ_WORD)) {
    acsim_fault(b->s, b, "deq-not-set", c->at, "%s without SetDeqScale(%s) as the last one before it", c->name,
                vec ? "tensor, VdeqInfo" : "scale, offset, signMode");
    return false;
  }
  if (vec) {
    acsim_access x = {"vdeq", &b->deq_vector, 0, 128, BLOCK_BYTES, ACSIM_READ};
    if (!acsim_touch(b, AC_PIPE_V, c->name, c->at, &x, 1)) return false;
    memcpy(words, acsim_data(b, &b->deq_vector, 0), 128);
  } else {
    for (int i = 0; i < 16; i++) words[i] = b->deq_scale;
  }
  for (int i = 0; i < 16; i++)
    if ((words[i] >> 46 & 1) != sign) {
      acsim_fault(b->s, b, "no-such-cast", c->at, "%s to %s with signMode %s", c->name, ac_dtypes[c->v->dst_type].cpp,
                  sign ? "false" : "true");
      return false;
    }
  return true;
}

/* Each block of 16 int16 gives 16 bytes, in the lower or the upper half of a block of dst. */
void acsim_vec_cast_deq(const call *c) {
  const acsim_vector *v = c->v;
  const acsim_repeat *r = v->repeat;
  uint64_t words[16];
  if (!acsim_vec_check_start(c, "dst", v->dst, BLOCK_BYTES) || !acsim_vec_check_start(c, "src", v->a, BLOCK_BYTES) ||
      !deq_words(c, words))
    return;
  int64_t half = v->mode & 2 ? 16 : 0, words_at = v->mode & 1 ? c->b->deq_vector.addr : INT64_MAX - 128;
  bool meets = false;
  for (int k = c->from; k < c->from + r->repeat; k++) {
    int64_t od = (int64_t)k * r->dst_repeat * BLOCK_BYTES, oa = (int64_t)k * r->a_repeat * BLOCK_BYTES;
    int16_t lanes[MAX_LANES]; /* read before anything is written */
    if (!acsim_vec_touch_repeat(c, "src", v->a, oa, 2, r->a_block, ACSIM_READ)) return;
    acsim_vec_gather_repeat(c, (uint8_t *)lanes, v->a, oa, 2, r->a_block);
    for (int i = 0; i < c->lanes; i++) {
      if (!lane_on(r, i)) continue;
      acsim_access x = {"dst", v->dst, od + (int64_t)(i / 16) * r->dst_block * BLOCK_BYTES + half + i % 16,
                        1,     1,      ACSIM_WRITE};
      if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, &x, 1)) return;
      meets = meets || (v->dst->addr + x.off >= words_at && v->dst->addr + x.off < words_at + 128);
      *acsim_data(c->b, v->dst, x.off) = (uint8_t)deq_one(words[i % 16], lanes[i], v->dst_type == ACSIM_I8);
      mark(c, v->dst, x.off, 1);
    }
  }
  if (meets)
    acsim_fault(c->b->s, c->b, "overlap", c->at, "%s: dst overlaps the 128 bytes of scales and offsets", c->name);
}

/* d = half(a * scale), or with b: relu of it for a + b (which wraps). */
void acsim_vec_deq_half(const call *c, void *d, const void *a, const void *b, int64_t n) {
  float scale = ac_f16_to_f32((uint16_t)c->b->deq_scale);
  for (int64_t i = 0; i < n; i++) {
    int32_t x = ((const int32_t *)a)[i];
    if (b) x = (int32_t)((uint32_t)x + (uint32_t)((const int32_t *)b)[i]);
    double y = (double)x * (double)scale;
    ((uint16_t *)d)[i] = ac_f64_to_f16(b && y <= 0 ? 0 : y, AC_RN_RINT);
  }
  if (c->saturate) acsim_math_scalar(ACSIM_OP_Muls, ACSIM_F16, d, d, 1, 0, n, true);
}
bool acsim_vec_deq_ready(const call *c) {
  if (c->b->deq_form == ACSIM_DEQ_HALF) return true;
  acsim_fault(c->b->s, c->b, "deq-not-set", c->at,
              "%s from int32 to half multiplies by what SetDeqScale(half) sets, and that did not set it last",
              c->name);
  return false;
}

/* ---- 4-bit integers ---- */

static double round_as(int mode, double x) {
  switch (mode) {
  case AC_RN_FLOOR: return floor(x);
  case AC_RN_CEIL: return ceil(x);
  case AC_RN_ROUND: return round(x);
  case AC_RN_TRUNC: return trunc(x);
  default: return nearbyint(x);
  }
}
static void cast_int4(bool to_int4, int round, uint8_t *d, const uint8_t *s, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (to_int4) {
      double v = round_as(round, ac_load(AC_F16, s, i));
      int q = v != v ? 0 : (int)(v < -8 ? -8 : v > 7 ? 7 : v);
      d[i / 2] = (uint8_t)(i % 2 ? (d[i / 2] & 0x0f) | (q & 15) << 4 : (d[i / 2] & 0xf0) | (q & 15));
    } else {
      int q = s[i / 2] >> (i % 2 ? 4 : 0) & 15;
      ac_store(AC_F16, d, i, q >= 8 ? q - 16 : q);
    }
}
/* Does a repeat read what an earlier one has written? */
static bool rereads(const acsim_local *dst, const acsim_local *src, int64_t written, int64_t read, bool to_int4) {
  int64_t d = dst->addr, s = src->addr, dk = to_int4 ? MAX_LANES / 2 : 2 * MAX_LANES,
          sk = to_int4 ? 2 * MAX_LANES : MAX_LANES / 2;
  if (dst->mem != src->mem || d + written <= s || s + read <= d) return false;
  for (int64_t k = 1; k * sk < read; k++)
    if (s + k * sk < d + k * dk && d < s + (k * sk + sk < read ? k * sk + sk : read)) return true;
  return false;
}
/* Packed signed integers, the first in the low bits: Cast from and to half, by count. */
void acsim_vec_int4(acsim_block *b, const acsim_vector *v, acsim_at at) {
  bool to_int4 = v->dst_type == ACSIM_I4;
  const acsim_local *dst = v->dst, *src = v->a;
  int64_t count = v->count;
  int round = v->mode;
  if (v->op != ACSIM_OP_Cast || (to_int4 ? v->type : v->dst_type) != ACSIM_F16) {
    acsim_fault(b->s, b, "no-such-dtype", at, "%s with int4b_t: only Cast from and to half exists",
                acsim_op_names[v->op]);
    return;
  }
  if (v->repeat) {
    acsim_fault(b->s, b, "not-modelled", at, "Cast of int4b_t with mask and repeat is not modelled");
    return;
  }
  if (count % 2) {
    acsim_fault(b->s, b, "bad-count", at, "Cast of %lld 4-bit integers: two share a byte, so the count must be even",
                (long long)count);
    return;
  }
  if (round > AC_RN_TRUNC || (!to_int4 && round != AC_RN_NONE)) {
    acsim_fault(b->s, b, "no-such-cast", at, "Cast %s int4b_t with rounding mode %d does not exist",
                to_int4 ? "to" : "from", round);
    return;
  }
  acsim_mask_reset(b, "Cast", at);
  if (count < 0) acsim_fault(b->s, b, "bad-count", at, "Cast of %lld elements", (long long)count);
  if (count <= 0) return;
  acsim_vector wider = *v; /* as long as with half on both sides */
  wider.type = wider.dst_type = ACSIM_F16;
  acsim_time_vector(b, &wider, (count + 127) / 128);
  b->vector_elements += count;
  int64_t packed = count / 2, wide = count * 2;
  acsim_access x[] = {{"dst", dst, 0, to_int4 ? packed : wide, BLOCK_BYTES, ACSIM_WRITE},
                      {"src", src, 0, to_int4 ? wide : packed, BLOCK_BYTES, ACSIM_READ}};
  if (!acsim_touch(b, AC_PIPE_V, "Cast", at, x, 2)) {
    acsim_settle(b, dst, 0, x[0].bytes);
    return;
  }
  uint8_t *d = acsim_data(b, dst, 0), *s = acsim_data(b, src, 0);
  if (rereads(dst, src, x[0].bytes, x[1].bytes, to_int4))
    acsim_fault(b->s, b, "overlap", at,
                "Cast: dst and src overlap, and the instruction reads what it has just written");
  for (int64_t k = 0; k < count; k += MAX_LANES) { /* a repeat is read before it is written */
    int64_t n = count - k < MAX_LANES ? count - k : MAX_LANES;
    uint8_t from[2 * MAX_LANES];
    memcpy(from, s + (to_int4 ? k * 2 : k / 2), (size_t)(to_int4 ? n * 2 : n / 2));
    cast_int4(to_int4, round, d + (to_int4 ? k / 2 : k * 2), from, n);
  }
  memset(acsim_state(b, dst, 0), 0xff, (size_t)x[0].bytes);
}

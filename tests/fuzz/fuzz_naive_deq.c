/* Conversions that scale (SetDeqScale, CastDequant) and those of 4-bit integers (Cast, int4b_t). */
#include "fuzz_naive_vec.h"

#include <string.h>

/* ---- DEQSCALE: one register of 64 bits, whose meaning depends on who set it last (SetDeqScale, table 1) ---- */

static uint64_t word_of(float scale, int offset, bool sign) {
  uint64_t w = 0;
  memcpy(&w, &scale, 4);
  for (int bit = 0; bit < 9; bit++) /* a signed number of 9 bits */
    if ((unsigned)offset >> bit & 1) w |= 1ull << (37 + bit);
  return sign ? w | 1ull << 46 : w;
}
void fz_deq_set(fz_machine *m, const fz_case *c) {
  m->deq = c->deq;
  m->deq_bits = c->deq_bits;
  m->deq_scale = c->deq_scale[0];
  m->deq_offset = c->deq_offset[0];
  m->deq_sign = c->deq_sign[0];
  m->deq_view = c->deq_view;
  if (c->deq != FZ_DEQ_VECTOR) return;
  for (int i = 0; i < 16; i++) { /* the interface fills the tensor */
    uint64_t w = word_of(c->deq_scale[i], c->deq_offset[i], c->deq_sign[i]);
    memcpy(fz_at(m, c->deq_view, 8 * i), &w, 8);
    memset(fz_st(m, c->deq_view, 8 * i), 0xff, 8);
  }
}
bool fz_deq_half_set(fz_machine *m) {
  if (m->deq != FZ_DEQ_HALF) fz_fault(m, "deq-not-set");
  return m->deq == FZ_DEQ_HALF;
}
double fz_deq_half(const fz_machine *m) {
  return fz_get(ACSIM_F16, (const uint8_t *)&m->deq_bits);
}

/* ---- int16 to 8 bits ---- */

/* Parameters of the element that is j-th in its block. */
typedef struct {
  double scale;
  int offset;
  bool sign;
} parameters;
static parameters at_place(fz_machine *m, const fz_case *c, int j) {
  uint64_t w = word_of(m->deq_scale, m->deq_offset, m->deq_sign);
  if (c->mode & 1) memcpy(&w, fz_at(m, m->deq_view, 8 * j), 8);
  parameters p = {0};
  uint32_t bits = (uint32_t)w;
  bits -= bits % 8192; /* (1, 8, 10): 10 bits of the mantissa's 23 */
  float f;
  memcpy(&f, &bits, 4);
  p.scale = (double)f;
  p.offset = (int)(w >> 37) % 512;
  if (p.offset >= 256) p.offset -= 512;
  p.sign = w >> 46 & 1;
  return p;
}
static uint8_t quantised(parameters p, int64_t x, bool to_signed) {
  long double v = fz_round_int((long double)x * (long double)p.scale + p.offset, FZ_RINT);
  if (v != v) return 0;
  if (to_signed) return (uint8_t)(int8_t)(v < -128 ? -128 : v > 127 ? 127 : v);
  return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}
/* Where the result of a lane goes: 16 of them in the lower or the upper half of a block (halfBlock). */
static int64_t result_at(const fz_case *c, fz_lane at) {
  int64_t block = c->repeated ? c->r.dst_block : 1, repeat = c->repeated ? c->r.dst_repeat : 8;
  return at.k * repeat * 32 + at.i / 16 * block * 32 + (c->mode & 2 ? 16 : 0) + at.i % 16;
}
static int64_t source_at(const fz_case *c, fz_lane at) {
  return fz_lane_at(at, 2, c->repeated ? c->r.a_block : 1, c->repeated ? c->r.a_repeat : 8);
}

static void ready(fz_machine *m, const fz_case *c) {
  bool vector = c->mode & 1;
  if (m->deq != (vector ? FZ_DEQ_VECTOR : FZ_DEQ_WORD)) {
    fz_fault(m, "deq-not-set");
    return;
  }
  if (vector && !fz_written(m, m->deq_view, 0, 128)) fz_fault(m, "read-poison");
  for (int j = 0; j < 16; j++)
    if (at_place(m, c, j).sign != (c->dst_type == ACSIM_I8)) {
      fz_fault(m, "no-such-cast");
      return;
    }
}

void fz_naive_cast_deq(fz_machine *m, const fz_case *c) {
  fz_lanes l = fz_lanes_of(m, c);
  if (m->n_faults || !fz_runs(&l)) return;
  fz_aligned(m, c->dst, 32);
  fz_aligned(m, c->a, 32);
  ready(m, c);
  fz_lane first = {0};
  bool inside = true;
  fz_next(&l, &first);
  for (fz_lane at = {0}; inside && fz_next(&l, &at);) {
    inside = fz_inside(m, c->dst, result_at(c, at), 1) && fz_inside(m, c->a, source_at(c, at), 2);
    if (c->repeated && !c->r.dst_block && at.i / 16 != first.i / 16) fz_fault(m, "field-limit");
  }
  if (!inside) return;
  fz_track_reset();
  for (fz_lane at = {0}; fz_next(&l, &at);) {
    fz_track_read(m, fz_at(m, c->a, source_at(c, at)), 2, at.k);
    fz_track_write(m, fz_at(m, c->dst, result_at(c, at)), 1, at.k);
    if (!fz_written(m, c->a, source_at(c, at), 2)) fz_fault(m, "read-poison");
    int64_t in_words = fz_at(m, c->dst, result_at(c, at)) - fz_at(m, m->deq_view, 0); /* a source, too */
    if (c->mode & 1 && in_words >= 0 && in_words < 128) fz_fault(m, "overlap");
  }
  if (m->n_faults) return;
  for (int64_t k = 0; k <= (l.counted ? l.total / l.lanes : l.repeats);
       k++) { /* a repeat is read before it is written */
    uint8_t result[128];
    for (fz_lane at = {0}; fz_next(&l, &at);)
      if (at.k == k)
        result[at.i] = quantised(at_place(m, c, (int)(at.i % 16)),
                                 fz_get_int(ACSIM_I16, fz_at(m, c->a, source_at(c, at))), c->dst_type == ACSIM_I8);
    for (fz_lane at = {0}; fz_next(&l, &at);)
      if (at.k == k) {
        *fz_at(m, c->dst, result_at(c, at)) = result[at.i];
        *fz_st(m, c->dst, result_at(c, at)) = 0xff;
      }
  }
}

/* ---- int4b_t: two to a byte, the first in the low bits ---- */

void fz_naive_int4(fz_machine *m, const fz_case *c) {
  bool narrows = c->dst_type == ACSIM_I4;
  if (c->op != ACSIM_OP_Cast || (narrows ? c->type : c->dst_type) != ACSIM_F16) {
    fz_fault(m, "no-such-dtype");
    return;
  }
  if (c->repeated) { /* docs/simulator.md: not modelled */
    fz_fault(m, "not-modelled");
    return;
  }
  if (c->count < 0 || c->count % 2) fz_fault(m, "bad-count");
  if (c->mode > FZ_TRUNC || (!narrows && c->mode != FZ_NONE)) fz_fault(m, "no-such-cast");
  if (m->n_faults) return;
  m->counter = false;
  m->mask[0] = m->mask[1] = ~0ull;
  if (!c->count) return;
  int64_t packed = c->count / 2, wide = c->count * 2, from = narrows ? wide : packed, to = narrows ? packed : wide;
  fz_aligned(m, c->dst, 32);
  fz_aligned(m, c->a, 32);
  if (!fz_inside(m, c->dst, 0, to) || !fz_inside(m, c->a, 0, from)) return;
  if (!fz_written(m, c->a, 0, from)) fz_fault(m, "read-poison");
  int64_t per_from = narrows ? 256 : 64, per_to = narrows ? 64 : 256; /* bytes of a repeat of 128 */
  fz_track_reset();
  for (int64_t i = 0; i < from; i++) {
    int64_t k = i / per_from;
    fz_track_read(m, fz_at(m, c->a, i), 1, k);
    if ((i + 1) % per_from && i + 1 < from) continue;
    int64_t end = (k + 1) * per_to < to ? (k + 1) * per_to : to;
    fz_track_write(m, fz_at(m, c->dst, k * per_to), end - k * per_to, k);
  }
  if (m->n_faults) return;
  static uint8_t source[FZ_UB];
  memcpy(source, fz_at(m, c->a, 0), (size_t)from); /* no repeat reads what an earlier one wrote */
  for (int64_t i = 0; i < c->count; i++) {
    uint8_t *p = fz_at(m, c->dst, narrows ? i / 2 : i * 2);
    if (narrows) {
      long double v = fz_round_int(fz_get(ACSIM_F16, source + i * 2), c->mode);
      int q = v != v ? 0 : v < -8 ? -8 : v > 7 ? 7 : (int)v;
      *p = i % 2 ? (uint8_t)((*p & 15) | (q & 15) << 4) : (uint8_t)(q & 15);
    } else {
      int q = i % 2 ? source[i / 2] / 16 : source[i / 2] % 16;
      fz_put(ACSIM_F16, p, q < 8 ? q : q - 16, FZ_RINT, false);
    }
  }
  memset(fz_st(m, c->dst, 0), 0xff, (size_t)to);
}

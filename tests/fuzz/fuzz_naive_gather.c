/* Instructions that fetch by address or spread: asc-devkit docs/zh, Gather, Gatherb, GatherMask, Brcb, CreateVecIndex. */
#include "fuzz_naive_vec.h"

#include <string.h>

static void copy_element(fz_machine *m, uint8_t *to, const uint8_t *from, int64_t n) {
  uint8_t t[32];
  memcpy(t, from, (size_t)n);
  memcpy(to, t, (size_t)n);
  memset(m->st + (to - m->ub), 0xff, (size_t)n);
}

/* Offset number n; its address in src. False: reported. */
static bool address(fz_machine *m, const fz_case *c, int64_t n, int64_t bytes, int64_t align, int64_t *off) {
  if (!fz_inside(m, c->b, n * 4, 4)) return false;
  if (!fz_written(m, c->b, n * 4, 4)) {
    fz_fault(m, "read-poison");
    fz_fault(m, "ub-out-of-bounds"); /* where it leads nobody knows */
    fz_fault(m, "misaligned");
    fz_fault(m, "overlap");
    return false;
  }
  fz_note(m, fz_at(m, c->b, n * 4), 4, 1);
  *off = (int64_t)(uint32_t)fz_get_int(ACSIM_U32, fz_at(m, c->b, n * 4)) + c->i;
  if (!fz_inside(m, c->a, *off, bytes)) return false;
  if ((m->buf[c->a.buf].base + c->a.off + *off) % align) {
    fz_fault(m, "misaligned");
    return false;
  }
  if (!fz_written(m, c->a, *off, bytes)) fz_fault(m, "read-poison");
  fz_note(m, fz_at(m, c->a, *off), bytes, 1);
  return true;
}

static void gather(fz_machine *m, const fz_case *c) {
  fz_lanes l = fz_lanes_of(m, c);
  int es = fz_bytes[c->type];
  if (m->n_faults || !fz_runs(&l)) return;
  fz_aligned(m, c->dst, 32);
  fz_aligned(m, c->a, 32);
  fz_aligned(m, c->b, 32);
  fz_note_reset();
  for (fz_lane at = {0}; fz_next(&l, &at);) {
    int64_t off, od = c->repeated ? at.k * c->r.dst_repeat * 32 + at.i * es : (at.k * l.lanes + at.i) * es;
    bool ok = fz_inside(m, c->dst, od, es);
    if (ok) fz_note(m, fz_at(m, c->dst, od), es, 2);
    if (!address(m, c, at.k * l.lanes + at.i, es, es, &off) || !ok) return;
    copy_element(m, fz_at(m, c->dst, od), fz_at(m, c->a, off), es);
  }
}

static bool repeat_field(fz_machine *m, const fz_case *c) {
  if (c->r.repeat >= 0 && c->r.repeat <= 255) return true;
  fz_fault(m, "field-limit");
  return false;
}

static void gatherb(fz_machine *m, const fz_case *c) {
  if (!repeat_field(m, c) || !c->r.repeat) return;
  fz_aligned(m, c->dst, 32);
  fz_aligned(m, c->a, 32);
  fz_aligned(m, c->b, 32);
  fz_note_reset();
  int64_t step = c->r.dst_block ? c->r.dst_block : 1; /* Gatherb: 0 counts as 1 on Atlas A2 */
  for (int64_t k = 0; k < c->r.repeat; k++)
    for (int64_t j = 0; j < 8; j++) {
      int64_t off, od = (k * c->r.dst_repeat + j * step) * 32;
      bool ok = fz_inside(m, c->dst, od, 32);
      if (ok) fz_note(m, fz_at(m, c->dst, od), 32, 2);
      if (!address(m, c, k * 8 + j, 32, 32, &off) || !ok) return;
      copy_element(m, fz_at(m, c->dst, od), fz_at(m, c->a, off), 32);
    }
}

static bool keeps(int pattern, int64_t i) {
  static const char *const of[] = {"", "1010", "0101", "1000", "0100", "0010", "0001", "1111"};
  return of[pattern][i % 4] == '1';
}

/* Leaves the normal mode (GatherMask, constraints) and the mask that was given (8.1, dav_c220 GatherMaskImpl). */
static void gather_mask(fz_machine *m, const fz_case *c) {
  int es = fz_bytes[c->type];
  int64_t per = c->count ? c->count : 256 / es;
  bool user = c->b.buf >= 0;
  m->counter = false;
  m->mask[0] = (uint64_t)c->count;
  m->mask[1] = 0;
  if (!c->r.repeat) return;
  if (c->r.repeat < 0 || (!user && (c->mode < 1 || c->mode > 7))) {
    fz_fault(m, "field-limit");
    return;
  }
  fz_aligned(m, c->dst, 32);
  fz_aligned(m, c->a, 32);
  if (user) fz_aligned(m, c->b, 32);
  fz_track_reset();
  int64_t kept = 0;
  for (int64_t k = 0; k < c->r.repeat; k++)
    for (int64_t i = 0; i < per; i++) {
      bool keep = user || keeps(c->mode, i);
      if (user) {
        int64_t at = k * c->r.b_repeat * 32 + i / 8;
        if (!fz_inside(m, c->b, at, 1)) return;
        if (!(*fz_st(m, c->b, at) >> i % 8 & 1)) fz_fault(m, "read-poison");
        fz_track_read(m, fz_at(m, c->b, at), 1, k);
        keep = *fz_at(m, c->b, at) >> i % 8 & 1;
      }
      if (!keep) continue;
      int64_t from = (k * c->r.a_repeat + i / (32 / es) * c->r.a_block) * 32 + i % (32 / es) * es;
      bool ok = fz_inside(m, c->dst, kept * es, es);
      if (!fz_inside(m, c->a, from, es) || !ok) return;
      if (!fz_written(m, c->a, from, es)) fz_fault(m, "read-poison");
      fz_track_read(m, fz_at(m, c->a, from), es, k);
      fz_track_write(m, fz_at(m, c->dst, kept * es), es, k);
      copy_element(m, fz_at(m, c->dst, kept * es), fz_at(m, c->a, from), es);
      kept++;
    }
  m->kept = (uint64_t)kept;
}

static void brcb(fz_machine *m, const fz_case *c) {
  int es = fz_bytes[c->type];
  if (!repeat_field(m, c) || !c->r.repeat) return;
  fz_aligned(m, c->dst, 32);
  fz_aligned(m, c->a, 32);
  if (!c->r.dst_block) fz_fault(m, "field-limit"); /* not supported (Brcb, constraints) */
  fz_note_reset();
  for (int64_t k = 0; k < c->r.repeat; k++)
    for (int64_t j = 0; j < 8; j++) {
      int64_t from = (k * 8 + j) * es, to = (k * c->r.dst_repeat + j * c->r.dst_block) * 32;
      bool ok = fz_inside(m, c->a, from, es);
      if (!fz_inside(m, c->dst, to, 32) || !ok) return;
      fz_note(m, fz_at(m, c->a, from), es, 1);
      fz_note(m, fz_at(m, c->dst, to), 32, 2);
      for (int n = 0; n < 32 / es; n++) { /* what is undefined is passed on */
        copy_element(m, fz_at(m, c->dst, to + n * es), fz_at(m, c->a, from), es);
        memcpy(fz_st(m, c->dst, to + n * es), fz_st(m, c->a, from), (size_t)es);
      }
    }
}

/* Lane n is first + n. */
static void iota(fz_machine *m, const fz_case *c) {
  fz_lanes l = fz_lanes_of(m, c);
  int es = fz_bytes[c->type];
  fz_lane first = {0};
  if (m->n_faults || !fz_runs(&l)) return;
  fz_aligned(m, c->dst, 32);
  if (!fz_next(&l, &first)) return;
  for (fz_lane at = {0}; fz_next(&l, &at);) {
    int64_t n = at.k * l.lanes + at.i;
    int64_t od = c->repeated ? fz_lane_at(at, es, c->r.dst_block, c->r.dst_repeat) : n * es;
    if (!fz_inside(m, c->dst, od, es)) return;
    if (c->repeated && c->r.dst_block == 0 && at.i / (32 / es) != first.i / (32 / es)) fz_fault(m, "field-limit");
    if (fz_is_float(c->type))
      fz_put(c->type, fz_at(m, c->dst, od), (long double)c->f + (long double)n, FZ_RINT, false);
    else
      fz_put_int(c->type, fz_at(m, c->dst, od), c->i + n);
    memset(fz_st(m, c->dst, od), 0xff, (size_t)es);
  }
}

void fz_naive_gather(fz_machine *m, const fz_case *c) {
  switch (c->op) {
  case ACSIM_OP_Gather: gather(m, c); break;
  case ACSIM_OP_Gatherb: gatherb(m, c); break;
  case ACSIM_OP_GatherMask: gather_mask(m, c); break;
  case ACSIM_OP_Brcb: brcb(m, c); break;
  default: iota(m, c); break;
  }
}

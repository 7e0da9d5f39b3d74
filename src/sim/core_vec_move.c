/* Vector instructions that move elements by fixed patterns: GatherMask, Brcb; and Copy in counter mode. */
#include "sim/core_vec.h"

/* Eight elements to eight blocks. */
static void spread_blocks(uint8_t *d, const uint8_t *eight, int bytes) {
  for (int j = 0; j < 8; j++, d += BLOCK_BYTES) {
    memcpy(d, eight + (ptrdiff_t)j * bytes, (size_t)bytes);
    for (int n = bytes; n < BLOCK_BYTES; n *= 2) memcpy(d + n, d, (size_t)n);
  }
}

/* Each of 8 elements a repeat fills one 32-byte block. */
void acsim_vec_brcb(const call *c) {
  const acsim_vector *v = c->v;
  const acsim_repeat *r = v->repeat;
  if (!acsim_vec_check_start(c, "dst", v->dst, BLOCK_BYTES) || !acsim_vec_check_start(c, "src", v->a, BLOCK_BYTES))
    return;
  if (!r->dst_block) /* not supported (docs/zh, Brcb) */
    acsim_fault(c->b->s, c->b, "field-limit", c->at, "Brcb: dstBlkStride is 0: all blocks of a repeat would be one");
  int64_t from = v->a->addr, to = v->dst->addr;
  int64_t end = to + ((int64_t)(r->repeat - 1) * r->dst_repeat + 7 * r->dst_block + 1) * BLOCK_BYTES;
  if (v->a->mem == v->dst->mem && to < from + (int64_t)r->repeat * 8 * c->es && from < end) acsim_vec_check_shared(c);
  for (int k = 0; k < r->repeat; k++) {
    acsim_access s = {"src", v->a, (int64_t)k * 8 * c->es, 8 * c->es, 1, ACSIM_READ | ACSIM_SOFT};
    if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, &s, 1)) return;
    uint8_t eight[64], known[64]; /* what is undefined is passed on, as by copies */
    memcpy(eight, acsim_data(c->b, v->a, s.off), 8 * (size_t)c->es);
    memcpy(known, acsim_state(c->b, v->a, s.off), 8 * (size_t)c->es);
    acsim_access all = {"dst", v->dst, (int64_t)k * r->dst_repeat * BLOCK_BYTES, 8 * BLOCK_BYTES, 1, ACSIM_WRITE};
    if (r->dst_block == 1 &&
        acsim_touch_allowed(c->b, AC_PIPE_V, c->name, c->at, &all, 1)) { /* the usual: in one piece */
      spread_blocks(acsim_data(c->b, v->dst, all.off), eight, c->es);
      spread_blocks(acsim_state(c->b, v->dst, all.off), known, c->es);
      continue;
    }
    for (int j = 0; j < 8; j++) {
      acsim_access d = {"dst",       v->dst, ((int64_t)k * r->dst_repeat + (int64_t)j * r->dst_block) * BLOCK_BYTES,
                        BLOCK_BYTES, 1,      ACSIM_WRITE};
      if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, &d, 1)) return;
      uint8_t *p = acsim_data(c->b, v->dst, d.off), *q = acsim_state(c->b, v->dst, d.off);
      for (int i = 0; i < BLOCK_BYTES; i++) p[i] = eight[j * c->es + i % c->es], q[i] = known[j * c->es + i % c->es];
    }
  }
}

/* Does pattern 1..7 keep lane i? (asc-devkit docs/zh, GatherMask: even, odd, then one of four, then all) */
static bool pattern_keeps(int pattern, int64_t i) {
  switch (pattern) {
  case 1: return i % 2 == 0;
  case 2: return i % 2 == 1;
  case 3:
  case 4:
  case 5:
  case 6: return i % 4 == pattern - 3;
  default: return true;
  }
}

/* mode: pattern, or 0 with the mask in v->b. count: lanes of a repeat to look at (counter mode), or 0: whole repeats.
 * repeat->b_repeat: blocks between the masks of two repeats. */
uint64_t acsim_vec_gather_mask(const call *c) {
  const acsim_vector *v = c->v;
  const acsim_repeat *r = v->repeat;
  int64_t per = v->count ? v->count : c->lanes;
  uint64_t kept = 0;
  if (!v->b && (v->mode < 1 || v->mode > 7)) {
    acsim_fault(c->b->s, c->b, "field-limit", c->at, "GatherMask: src1Pattern is %u, 1 to 7 exist", v->mode);
    return 0;
  }
  if (!acsim_vec_check_starts(c)) return 0;
  /* what is kept of a repeat lies at or before where it came from: usual, and free of overlap between repeats */
  bool packs = v->dst->addr <= v->a->addr && r->a_block >= 1 && r->a_repeat * BLOCK_BYTES >= per * c->es;
  bool tracked = r->repeat > 1 && ((v->dst->mem == v->a->mem && !packs) || (v->b && v->dst->mem == v->b->mem));
  acsim_vec_track_begin();
  for (int k = 0; k < r->repeat; k++)
    for (int64_t i = 0; i < per; i++) {
      int64_t block = i / (BLOCK_BYTES / c->es), in = i % (BLOCK_BYTES / c->es);
      int64_t off = ((int64_t)k * r->a_repeat + block * r->a_block) * BLOCK_BYTES + in * c->es;
      bool keep = v->b || pattern_keeps(v->mode, i);
      if (v->b) { /* whole bytes are read; of the last one only some bits may count */
        acsim_access m = {"src1", v->b, (int64_t)k * r->b_repeat * BLOCK_BYTES + i / 8,
                          1,      1,    ACSIM_READ | ACSIM_SOFT};
        if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, &m, 1)) return kept;
        if (!(acsim_state(c->b, v->b, m.off)[0] >> i % 8 & 1)) {
          m.how = ACSIM_READ;
          acsim_touch(c->b, AC_PIPE_V, c->name, c->at, &m, 1);
        }
        keep = acsim_data(c->b, v->b, m.off)[0] >> i % 8 & 1;
        if (tracked) acsim_vec_track(c, v->b->addr + m.off, 1, -1, 0, k, "src1");
      }
      if (!keep) continue;
      acsim_access x[] = {{"src0", v->a, off, c->es, 1, ACSIM_READ},
                          {"dst", v->dst, (int64_t)kept * c->es, c->es, 1, ACSIM_WRITE}};
      if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, x, 2)) return kept;
      if (tracked)
        acsim_vec_track(c, v->a->addr + off, c->es, v->dst->addr + (int64_t)kept * c->es, c->es, k, "src0");
      memmove(acsim_data(c->b, v->dst, (int64_t)kept * c->es), acsim_data(c->b, v->a, off), (size_t)c->es);
      mark(c, v->dst, (int64_t)kept * c->es, c->es);
      kept++;
    }
  return kept;
}

/* Copy in counter mode: so many elements of each repeat, and the repeat times count (docs/zh, Copy). */
uint64_t acsim_vec_copy_counted(const call *given) {
  call own = *given, *c = &own;
  const acsim_vector *v = c->v;
  const acsim_repeat *r = v->repeat;
  uint64_t n = c->b->mask[0];
  if (!n || !acsim_vec_check_start(c, "dst", v->dst, BLOCK_BYTES) ||
      !acsim_vec_check_start(c, "src", v->a, BLOCK_BYTES))
    return 0;
  c->lanes = n < 1 << 20 ? (int)n : 1 << 20; /* more than any memory holds */
  acsim_vec_check_overlap(c, (int64_t)c->lanes * r->repeat);
  for (int64_t k = 0; k < r->repeat; k++)
    for (int64_t i = 0, left = (int64_t)c->lanes * c->es; left > 0; i++, left -= BLOCK_BYTES) {
      int64_t bytes = left < BLOCK_BYTES ? left : BLOCK_BYTES;
      acsim_access x[] = {
          {"dst", v->dst, (k * r->dst_repeat + i * r->dst_block) * BLOCK_BYTES, bytes, 1, ACSIM_WRITE},
          {"src", v->a, (k * r->a_repeat + i * r->a_block) * BLOCK_BYTES, bytes, 1, ACSIM_READ | ACSIM_SOFT}};
      if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, x, 2)) return 0;
      memmove(acsim_data(c->b, v->dst, x[0].off), acsim_data(c->b, v->a, x[1].off), (size_t)bytes);
      memmove(acsim_state(c->b, v->dst, x[0].off), acsim_state(c->b, v->a, x[1].off), (size_t)bytes);
    }
  return 0;
}

/* Transposes, sorts, CMPMASK: asc-devkit docs/zh, 数据排布转换, 排序组合, SetCmpMask, GetCmpMask. */
#include "fuzz_naive_vec.h"

#include <string.h>

static void put(fz_machine *m, fz_view v, int64_t off, const uint8_t *from, int64_t n) {
  memcpy(fz_at(m, v, off), from, (size_t)n);
  memset(fz_st(m, v, off), 0xff, (size_t)n);
}

/* With which of it is defined (transposes, as copies inside UB). */
static void put_with(fz_machine *m, fz_view v, int64_t off, const uint8_t *from, const uint8_t *state, int64_t n) {
  memcpy(fz_at(m, v, off), from, (size_t)n);
  memcpy(fz_st(m, v, off), state, (size_t)n);
}

/* 16 x 16 of 2 bytes; src and dst may be the same (Transpose, constraints). */
static void transpose16(fz_machine *m, const fz_case *c) {
  uint8_t in[512], state[512];
  if (c->type != ACSIM_I16 && c->type != ACSIM_U16 && c->type != ACSIM_F16) {
    fz_fault(m, "no-such-dtype");
    return;
  }
  fz_aligned(m, c->dst, 32);
  fz_aligned(m, c->a, 32);
  bool ok = fz_inside(m, c->dst, 0, 512);
  if (!fz_inside(m, c->a, 0, 512) || !ok) return;
  if (fz_at(m, c->dst, 0) != fz_at(m, c->a, 0) && fz_meet(m, c->dst, 512, c->a, 512)) fz_fault(m, "overlap");
  memcpy(in, fz_at(m, c->a, 0), 512);
  memcpy(state, fz_st(m, c->a, 0), 512);
  for (int r = 0; r < 16; r++)
    for (int k = 0; k < 16; k++)
      put_with(m, c->dst, (k * 16 + r) * 2, in + (r * 16 + k) * 2, state + (r * 16 + k) * 2, 2);
}

enum { ND2ND_B16 = 10, NCHW2NHWC = 11, NHWC2NCHW = 12 };
static void transpose_shape(fz_machine *m, const fz_case *c) {
  if (c->mode == ND2ND_B16) {
    transpose16(m, c);
    if (c->type != ACSIM_U16) fz_fault(m, "no-such-dtype");
    return;
  }
  int64_t es = fz_bytes[c->type], n = c->shape[0], ch = c->shape[1], hw = c->shape[2] * c->shape[3];
  if (es > 4 || c->type == ACSIM_BF16 || c->type == ACSIM_BOOL) {
    fz_fault(m, "no-such-dtype");
    return;
  }
  if (ch > 4095 || hw > 4095 || hw * es % 32) fz_fault(m, "field-limit");
  if (!n || !ch || !hw) {
    m->n_faults = 0;
    return;
  }
  if (m->n_faults) return;
  int64_t h0 = es == 1 ? 32 : 16, w0 = 32 / es, bytes = n * ch * hw * es;
  int64_t tmp = (c->mode == NCHW2NHWC ? ch + 2 : ch * 2 + 1) * h0 * w0 * es;
  fz_aligned(m, c->dst, 32);
  fz_aligned(m, c->a, 32);
  fz_aligned(m, c->c, 32);
  bool ok = fz_inside(m, c->dst, 0, bytes);
  ok = fz_inside(m, c->a, 0, bytes) && ok;
  if (!fz_inside(m, c->c, 0, tmp) || !ok) return;
  if (fz_meet(m, c->dst, bytes, c->a, bytes) || fz_meet(m, c->dst, bytes, c->c, tmp) ||
      fz_meet(m, c->a, bytes, c->c, tmp)) {
    fz_fault(m, "overlap");
    return;
  }
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < ch; j++)
      for (int64_t k = 0; k < hw; k++) {
        int64_t chw = (i * ch + j) * hw + k, hwc = (i * hw + k) * ch + j;
        bool there = c->mode == NCHW2NHWC;
        int64_t from = (there ? chw : hwc) * es;
        put_with(m, c->dst, (there ? hwc : chw) * es, fz_at(m, c->a, from), fz_st(m, c->a, from), es);
      }
  memset(fz_st(m, c->c, 0), 0, (size_t)tmp);
}

/* 16 blocks to 16 blocks. 2 bytes: element k of block r becomes element r of block k. 4 bytes: 16 rows of 8 become 8 rows of 16
 * in two blocks each. 1 byte: a half of each block. (TransDataTo5HD) */
static void five_hd(fz_machine *m, const fz_case *c) {
  const acsim_5hd *p = &c->hd;
  int es = fz_bytes[p->type];
  if (es > 4 || p->type == ACSIM_BF16 || p->type == ACSIM_BOOL) {
    fz_fault(m, "no-such-dtype");
    return;
  }
  if (p->repeat < 0 || p->repeat > 255) fz_fault(m, "field-limit");
  if (m->n_faults || !p->repeat) return;
  for (int i = 0; i < 32; i++) fz_aligned(m, c->list[i], 32);
  fz_track_reset();
  int columns = es == 4 ? 8 : 16, src_half = es == 1 && p->src_high ? 16 : 0,
      dst_half = es == 1 && p->dst_high ? 16 : 0;
  int bytes = es == 1 ? 16 : 32;
  for (int64_t k = 0; k < p->repeat; k++) {
    int64_t n = p->repeat == 1 ? 1 : k, od = n * p->dst_step * 32, os = n * p->src_step * 32;
    uint8_t in[16][32], state[16][32];
    bool ok = true;
    for (int i = 0; i < 16; i++) {
      ok = fz_inside(m, c->list[16 + i], os + src_half, bytes) && ok;
      ok = fz_inside(m, c->list[i], od + dst_half, bytes) && ok;
    }
    if (!ok) return;
    for (int i = 0; i < 16; i++) {
      uint8_t *s = fz_at(m, c->list[16 + i], os + src_half);
      fz_track_read(m, s, bytes, k);
      memcpy(in[i], s, (size_t)bytes);
      memcpy(state[i], fz_st(m, c->list[16 + i], os + src_half), (size_t)bytes);
    }
    for (int r = 0; r < 16; r++)
      for (int x = 0; x < columns; x++) {
        int row = es == 4 ? 2 * x + r / 8 : x, place = es == 4 ? r % 8 : r;
        put_with(m, c->list[row], od + dst_half + place * es, in[r] + x * es, state[r] + x * es, es);
      }
    for (int i = 0; i < 16; i++) fz_track_write(m, fz_at(m, c->list[i], od + dst_half), bytes, k);
  }
}

/* ---- sorts ---- */

/* Is record x to come before y? Larger scores first; of equal ones the earlier. */
static bool before(double x, double y) {
  return x > y;
}

/* 32 scores a repeat, and their indices, as records of 8 bytes: score, index in the upper half. */
static void sort32(fz_machine *m, const fz_case *c) {
  int es = fz_bytes[c->type];
  fz_aligned(m, c->dst, 256); /* Sort32, constraints */
  fz_aligned(m, c->a, 32 * es);
  fz_aligned(m, c->b, 128);
  fz_track_reset();
  for (int64_t k = 0; k < c->sort_repeat; k++) {
    int64_t os = k * 32 * es, oi = k * 128, od = k * 256;
    bool ok = fz_inside(m, c->a, os, 32 * es);
    ok = fz_inside(m, c->b, oi, 128) && ok;
    if (!fz_inside(m, c->dst, od, 256) || !ok) return;
    if (!fz_written(m, c->a, os, 32 * es) || !fz_written(m, c->b, oi, 128)) fz_fault(m, "read-poison");
    uint8_t out[256] = {0};
    bool taken[32] = {false};
    fz_track_read(m, fz_at(m, c->a, os), 32 * es, k);
    fz_track_read(m, fz_at(m, c->b, oi), 128, k);
    for (int n = 0; n < 32; n++) {
      int at = -1;
      for (int i = 0; i < 32; i++) {
        if (taken[i]) continue;
        if (at < 0 ||
            before(fz_get(c->type, fz_at(m, c->a, os + i * es)), fz_get(c->type, fz_at(m, c->a, os + at * es))))
          at = i;
      }
      taken[at] = true;
      memcpy(out + n * 8, fz_at(m, c->a, os + at * es), (size_t)es);
      memcpy(out + n * 8 + 4, fz_at(m, c->b, oi + at * 4), 4);
    }
    put(m, c->dst, od, out, 256);
    fz_track_write(m, fz_at(m, c->dst, od), 256, k);
  }
}

static void extract(fz_machine *m, const fz_case *c) {
  int es = fz_bytes[c->type];
  fz_aligned(m, c->dst, 32);
  fz_aligned(m, c->b, 32);
  fz_aligned(m, c->a, 32);
  fz_note_reset();
  for (int64_t i = 0; i < c->sort_repeat * 32; i++) {
    bool ok = fz_inside(m, c->dst, i * es, es);
    ok = fz_inside(m, c->b, i * 4, 4) && ok;
    if (!fz_inside(m, c->a, i * 8, 8) || !ok) return;
    if (!fz_written(m, c->a, i * 8, es) || !fz_written(m, c->a, i * 8 + 4, 4)) fz_fault(m, "read-poison");
    fz_note(m, fz_at(m, c->a, i * 8), 8, 1);
    fz_note(m, fz_at(m, c->dst, i * es), es, 2);
    fz_note(m, fz_at(m, c->b, i * 4), 4, 2);
    if (m->n_faults) continue;
    put(m, c->dst, i * es, fz_at(m, c->a, i * 8), es);
    put(m, c->b, i * 4, fz_at(m, c->a, i * 8 + 4), 4);
  }
}

static void sorts(fz_machine *m, const fz_case *c) {
  if (c->sort_op != ACSIM_SORT32 && c->sort_op != ACSIM_EXTRACT) {
    fz_fault(m, "not-on-chip");
    return;
  }
  if (c->type != ACSIM_F32 && c->type != ACSIM_F16) fz_fault(m, "no-such-dtype");
  if (c->sort_repeat < 0 || c->sort_repeat > 255) fz_fault(m, "field-limit");
  if (m->n_faults || !c->sort_repeat) return;
  if (c->sort_op == ACSIM_SORT32)
    sort32(m, c);
  else
    extract(m, c);
}

static void merge(fz_machine *m, const fz_case *c) {
  const acsim_merge *p = &c->merge;
  int es = fz_bytes[p->type];
  bool same = true;
  int64_t step = 0;
  for (int i = 0; i < 4; i++) {
    if (p->length[i] > 4095) fz_fault(m, "field-limit");
    same = same && p->length[i] == p->length[0];
    step += 8 * (int64_t)p->length[i];
  }
  if (p->valid != 3 && p->valid != 7 && p->valid != 15) fz_fault(m, "field-limit");
  if (p->repeat > 1) {
    if (!same || p->suspend || p->valid != 15) fz_fault(m, "field-limit");
    for (int i = 1; i < 4 && same; i++) /* 4个队列连续存储 */
      if (fz_at(m, c->list[i], 0) - fz_at(m, c->list[0], 0) != 8 * (int64_t)p->length[0] * i)
        fz_fault(m, "field-limit");
  }
  int64_t total = 0;
  for (int i = 0; i < 4; i++)
    if (p->valid >> i & 1) total += p->length[i];
  if (m->n_faults || !p->repeat) return;
  if (!total) {
    memset(m->merged, 0, sizeof m->merged);
    return;
  }
  fz_aligned(m, c->dst, 32);
  for (int i = 0; i < 4; i++)
    if (p->valid >> i & 1 && p->length[i]) fz_aligned(m, c->list[i], 8);
  fz_note_reset();
  for (int64_t k = 0; k < p->repeat; k++) {
    bool ok = fz_inside(m, c->dst, k * step, 8 * total);
    for (int i = 0; i < 4; i++)
      if (p->valid >> i & 1) ok = fz_inside(m, c->list[i], k * step, 8 * (int64_t)p->length[i]) && ok;
    if (!ok) return;
    for (int i = 0; i < 4; i++)
      if (p->valid >> i & 1) fz_note(m, fz_at(m, c->list[i], k * step), 8 * (int64_t)p->length[i], 1);
    fz_note(m, fz_at(m, c->dst, k * step), 8 * total, 2);
  }
  if (m->n_faults) return;
  for (int64_t k = 0; k < p->repeat; k++) {
    int64_t taken[4] = {0};
    for (int64_t n = 0; n < total; n++) {
      int at = -1;
      for (int i = 0; i < 4; i++) {
        if (!(p->valid >> i & 1) || taken[i] == p->length[i]) continue;
        if (at < 0 || before(fz_get(p->type, fz_at(m, c->list[i], k * step + taken[i] * 8)),
                             fz_get(p->type, fz_at(m, c->list[at], k * step + taken[at] * 8))))
          at = i;
      }
      int64_t from = k * step + taken[at] * 8;
      if (!fz_written(m, c->list[at], from, es) || !fz_written(m, c->list[at], from + 4, 4))
        fz_fault(m, "read-poison");
      memcpy(fz_at(m, c->dst, k * step + n * 8), fz_at(m, c->list[at], from), 8);
      memcpy(fz_st(m, c->dst, k * step + n * 8), fz_st(m, c->list[at], from), 8);
      if (++taken[at] == p->length[at] && p->suspend) break;
    }
    for (int i = 0; i < 4; i++) m->merged[i] = (uint16_t)taken[i];
  }
}

static void cmp_mask(fz_machine *m, const fz_case *c) {
  fz_view v = c->kind == FZ_CMPMASK_GET ? c->dst : c->a;
  fz_aligned(m, v, 16);
  if (!fz_inside(m, v, 0, 16) || m->n_faults) return;
  uint8_t *p = fz_at(m, v, 0), *s = fz_st(m, v, 0);
  bool get = c->kind == FZ_CMPMASK_GET;
  memcpy(get ? p : m->cmp, get ? m->cmp : p, 16);
  memcpy(get ? s : m->cmp_st, get ? m->cmp_st : s, 16);
}

void fz_naive_move(fz_machine *m, const fz_case *c) {
  switch (c->kind) {
  case FZ_TRANSPOSE: transpose16(m, c); break;
  case FZ_TRANSPOSE_SHAPE: transpose_shape(m, c); break;
  case FZ_5HD: five_hd(m, c); break;
  case FZ_SORT: sorts(m, c); break;
  case FZ_MERGE: merge(m, c); break;
  default: cmp_mask(m, c); break;
  }
}

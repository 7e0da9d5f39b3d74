/* Copies: asc-devkit docs/zh, 数据搬运: DataCopy by count and by blocks, DataCopyPad in both directions, UB to UB, Nd2Nz, Nz2Nd;
 * 原子操作 for stores. Global memory is an input (mode 1) or a workspace (mode 0). */
#include "fuzz.h"

#include <math.h>
#include <string.h>

static bool in_gm(fz_machine *m, int64_t off, int64_t bytes) {
  if (bytes <= 0 || (off >= 0 && off + bytes <= FZ_GM)) return true;
  fz_fault(m, "gm-out-of-bounds");
  return false;
}

/* blockCount 0..4095; blockLen 0..2097151 bytes with DataCopyExtParams, 0..65535 bytes of DataCopyPad's or blocks of DataCopy's
 * DataCopyParams; pads of at most 32 bytes; blockLen a multiple of the element. False: nothing happens. */
static bool fields(fz_machine *m, const fz_case *c, int64_t *bytes) {
  const acsim_copy *p = &c->copy;
  int es = fz_bytes[p->type];
  *bytes = p->bytes;
  if (p->form == ACSIM_COPY_COUNT) {
    if (*bytes % 32) fz_fault(m, "copy-truncated");
    *bytes -= *bytes % 32;
    return *bytes > 0;
  }
  if (p->blocks > 4095) fz_fault(m, "field-limit");
  if (p->form == ACSIM_COPY_PAD) {
    if (p->bytes > (p->ext ? 2097151 : 65535) || p->bytes % es) fz_fault(m, "field-limit");
    if (p->left * (unsigned)es > 32 || p->right * (unsigned)es > 32) fz_fault(m, "field-limit");
    if (es == 8 && p->is_pad && p->pad_bits) fz_fault(m, "field-limit");
  }
  return !m->n_faults && p->blocks && p->bytes;
}

static void gm_aligned(fz_machine *m, const fz_case *c, int64_t off) {
  if (c->copy.form != ACSIM_COPY_PAD && off % fz_bytes[c->copy.type]) fz_fault(m, "misaligned");
}

static void copy_in(fz_machine *m, const fz_case *c) {
  const acsim_copy *p = &c->copy;
  int64_t bytes, es = fz_bytes[p->type];
  if (!fields(m, c, &bytes)) return;
  bool pads = p->form == ACSIM_COPY_PAD;
  int64_t left = pads ? p->left * es : 0, right = pads ? p->right * es : 0;
  int64_t row = pads ? (left + bytes + right + 31) / 32 * 32 : bytes;
  fz_aligned(m, c->dst, 32);
  gm_aligned(m, c, c->gm_off);
  for (int64_t r = 0; r < p->blocks; r++) {
    int64_t to = r * (row + p->dst_gap), from = c->gm_off + r * (bytes + p->src_gap);
    bool ok = fz_inside(m, c->dst, to, row);
    if (!in_gm(m, from, bytes) || !ok) return;
    const uint8_t *src = (c->mode ? m->in : m->gm) + from;
    for (int64_t i = 0; i < row; i++) {
      uint8_t v, known = 0xff;
      if (i >= left && i < left + bytes) {
        if (!c->mode && !m->gm_st[from + i - left]) fz_fault(m, "read-poison");
        v = src[i - left];
      } else if (!left && !right && (p->is_pad || !m->pad_set)) {
        v = src[(i - bytes) % es]; /* dummies: the block's first element */
      } else if (p->is_pad || m->pad_set) {
        v = (uint8_t)((p->is_pad ? p->pad_bits : m->pad_value) >> (8 * ((i < left ? i : i - left - bytes) % es)));
      } else {
        v = 0, known = 0; /* random */
      }
      *fz_at(m, c->dst, to + i) = v;
      *fz_st(m, c->dst, to + i) = known;
    }
  }
}

void fz_naive_atomic(const fz_machine *m, int type, uint8_t *to, const uint8_t *from) {
  int op = m->atomic;
  if (!fz_is_float(type)) {
    int64_t x = fz_get_int(type, to), y = fz_get_int(type, from);
    fz_put_int(type, to, op == ACSIM_ATOMIC_ADD ? x + y : op == ACSIM_ATOMIC_MAX ? (x > y ? x : y) : x < y ? x : y);
    return;
  }
  double x = fz_get(type, to), y = fz_get(type, from);
  long double v = op == ACSIM_ATOMIC_ADD   ? (long double)x + (long double)y
                  : x != x || y != y       ? (long double)NAN
                  : op == ACSIM_ATOMIC_MAX ? (x > y ? x : y)
                                           : (x < y ? x : y);
  fz_put(type, to, v, FZ_RINT, m->saturate);
}

static void copy_out(fz_machine *m, const fz_case *c) {
  const acsim_copy *p = &c->copy;
  int64_t bytes, es = fz_bytes[p->type];
  if (!fields(m, c, &bytes)) return;
  int64_t row = (bytes + 31) / 32 * 32;
  bool updates = m->atomic != ACSIM_ATOMIC_NONE;
  if (updates && m->atomic_type != p->type) fz_fault(m, "atomic-type");
  fz_aligned(m, c->a, 32);
  gm_aligned(m, c, c->gm_off);
  m->any_nan = updates;
  m->any_zero = updates && m->atomic != ACSIM_ATOMIC_ADD;
  m->out_type = p->type;
  if (c->mode) {
    fz_fault(m, "write-to-input");
    return;
  }
  for (int64_t r = 0; r < p->blocks; r++) {
    int64_t from = r * (row + p->src_gap), to = c->gm_off + r * (bytes + p->dst_gap);
    bool ok = fz_inside(m, c->a, from, bytes);
    if (!in_gm(m, to, bytes) || !ok) return;
    if (!fz_written(m, c->a, from, bytes)) fz_fault(m, "read-poison");
    for (int64_t i = 0; i < bytes; i += es) {
      for (int64_t j = 0; j < es; j++) {
        if (updates && !m->gm_st[to + i + j]) fz_fault(m, "read-poison");
        m->gm_st[to + i + j] = 1;
        if (updates) m->gm_in[to + i + j] = (uint8_t)(j + 1);
      }
      if (updates && m->n_faults) continue;
      if (updates)
        fz_naive_atomic(m, p->type, m->gm + to + i, fz_at(m, c->a, from + i));
      else
        memcpy(m->gm + to + i, fz_at(m, c->a, from + i), (size_t)es);
    }
  }
}

/* What was never written may be copied: it stays so. */
static void copy_local(fz_machine *m, const fz_case *c) {
  const acsim_copy *p = &c->copy;
  int64_t bytes;
  if (!fields(m, c, &bytes)) return;
  fz_aligned(m, c->dst, 32);
  fz_aligned(m, c->a, 32);
  static uint8_t reads[FZ_UB], writes[FZ_UB];
  memset(reads, 0, sizeof reads);
  memset(writes, 0, sizeof writes);
  for (int64_t r = 0; r < p->blocks; r++) {
    int64_t to = r * (bytes + p->dst_gap), from = r * (bytes + p->src_gap);
    bool ok = fz_inside(m, c->dst, to, bytes);
    if (!fz_inside(m, c->a, from, bytes) || !ok) return;
    uint8_t *d = fz_at(m, c->dst, to), *s = fz_at(m, c->a, from);
    memset(writes + (d - m->ub), 1, (size_t)bytes);
    memset(reads + (s - m->ub), 1, (size_t)bytes);
    memmove(d, s, (size_t)bytes);
    memmove(fz_st(m, c->dst, to), fz_st(m, c->a, from), (size_t)bytes);
  }
  /* no word on overlap on these pages: not supported (general constraints) */
  for (int i = 0; i < FZ_UB; i++)
    if (reads[i] && writes[i]) fz_fault(m, "overlap");
}

static bool nz_fields(const fz_machine *m, const acsim_nz *p) {
  return !m->n_faults && p->nd_num && p->n_value && p->d_value;
}
static void limit(fz_machine *m, int64_t v, int64_t lo, int64_t hi) {
  if (v < lo || v > hi) fz_fault(m, "field-limit");
}

/* Row i, column x of matrix n: block x / C0 of the row, C0 = 32 bytes; what is missing of the last block is 0. (ND2NZ) */
static void nd_to_nz(fz_machine *m, const fz_case *c) {
  const acsim_nz *p = &c->nz;
  int64_t es = fz_bytes[p->type], per = 32 / es;
  if (es == 8) {
    fz_fault(m, "no-such-dtype");
    return;
  }
  limit(m, p->nd_num, 0, 4095);
  limit(m, p->n_value, 0, 16384);
  limit(m, p->nd_row, 1, 65535);
  limit(m, p->nz_c0, 1, 16384);
  limit(m, p->nz_n, 1, 16384);
  if (p->nd_num > 1) limit(m, p->nz_matrix, 1, 65535); /* of one matrix it means nothing */
  if (!nz_fields(m, p)) return;
  fz_aligned(m, c->dst, 32);
  if (p->nd_num > 1 && p->nz_matrix * es % 32) fz_fault(m, "misaligned");
  for (int64_t n = 0; n < p->nd_num; n++)
    for (int64_t i = 0; i < p->n_value; i++)
      for (int64_t x = 0; x < (p->d_value + per - 1) / per * per; x++) {
        int64_t from = c->gm_off + (n * p->nd_matrix + i * p->nd_row + x) * es;
        int64_t to = n * p->nz_matrix * es + x / per * p->nz_c0 * 32 + i * p->nz_n * 32 + x % per * es;
        bool ok = fz_inside(m, c->dst, to, es), real = x < p->d_value;
        if ((real && !in_gm(m, from, es)) || !ok) return;
        for (int64_t j = 0; j < es; j++) {
          if (real && !c->mode && !m->gm_st[from + j]) fz_fault(m, "read-poison");
          *fz_at(m, c->dst, to + j) = !real ? 0 : c->mode ? m->in[from + j] : m->gm[from + j];
          *fz_st(m, c->dst, to + j) = 0xff;
        }
      }
}

/* Columns in groups of 16 elements, whatever the type: rows of a group lie one behind another, 16 elements each; groups are
 * srcNStride * 16 elements apart, matrices srcNdMatrixStride * 256. (NZ2ND, table 3 and its two figures) */
static void nz_to_nd(fz_machine *m, const fz_case *c) {
  const acsim_nz *p = &c->nz;
  int64_t es = fz_bytes[p->type];
  if (es != 2 && es != 4) {
    fz_fault(m, "no-such-dtype");
    return;
  }
  limit(m, p->nd_num, 0, 4095);
  limit(m, p->n_value, 1, 8192);
  limit(m, p->d_value, 1, 8192);
  if (p->nd_num > 1) limit(m, p->nz_matrix, 256, 512 * 256);
  limit(m, p->nz_c0, 0, 4096);
  limit(m, p->nd_row, 1, 65535);
  if (p->nd_num > 1) limit(m, p->nd_matrix, 1, 65535);
  if (p->d_value % 16) fz_fault(m, "field-limit");
  if (!nz_fields(m, p)) return;
  fz_aligned(m, c->a, 32);
  if (c->mode) {
    fz_fault(m, "write-to-input");
    return;
  }
  for (int64_t n = 0; n < p->nd_num; n++)
    for (int64_t i = 0; i < p->n_value; i++)
      for (int64_t x = 0; x < p->d_value; x++) {
        int64_t from = (n * p->nz_matrix + x / 16 * p->nz_c0 * 16 + i * 16 + x % 16) * es;
        int64_t to = c->gm_off + (n * p->nd_matrix + i * p->nd_row + x) * es;
        bool ok = fz_inside(m, c->a, from, es);
        if (!in_gm(m, to, es) || !ok) return;
        if (!fz_written(m, c->a, from, es)) fz_fault(m, "read-poison");
        memcpy(m->gm + to, fz_at(m, c->a, from), (size_t)es);
        memset(m->gm_st + to, 1, (size_t)es);
      }
}

void fz_naive_copy(fz_machine *m, const fz_case *c) {
  if (c->pad_value) m->pad_set = true, m->pad_value = c->pad_bits;
  m->atomic = c->atomic;
  m->atomic_type = c->atomic_type;
  switch (c->kind) {
  case FZ_COPY_IN: copy_in(m, c); break;
  case FZ_COPY_OUT: copy_out(m, c); break;
  case FZ_COPY_LOCAL: copy_local(m, c); break;
  case FZ_SLICE_IN:
  case FZ_SLICE_OUT: fz_naive_slice(m, c); break;
  case FZ_ND2NZ: nd_to_nz(m, c); break;
  default: nz_to_nd(m, c); break;
  }
  m->atomic = ACSIM_ATOMIC_NONE;
}

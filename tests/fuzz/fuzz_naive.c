/* What all instructions of the model share: faults, bounds, alignment, what is written. */
#include "fuzz.h"

#include <string.h>

void fz_fault(fz_machine *m, const char *kind) {
  for (int i = 0; i < m->n_faults; i++)
    if (!strcmp(m->fault[i], kind)) return;
  if (m->n_faults < FZ_MAX_FAULTS) m->fault[m->n_faults++] = kind;
}

bool fz_inside(fz_machine *m, fz_view v, int64_t off, int64_t bytes) {
  if (bytes <= 0 || (v.off + off >= 0 && v.off + off + bytes <= m->buf[v.buf].size)) return true;
  fz_fault(m, "ub-out-of-bounds");
  return false;
}
uint8_t *fz_at(fz_machine *m, fz_view v, int64_t off) {
  return m->ub + m->buf[v.buf].base + v.off + off;
}
uint8_t *fz_st(fz_machine *m, fz_view v, int64_t off) {
  return m->st + m->buf[v.buf].base + v.off + off;
}
bool fz_written(fz_machine *m, fz_view v, int64_t off, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i++)
    if (*fz_st(m, v, off + i) != 0xff) return false;
  return true;
}
/* docs/zh, general constraints: addresses in UB are multiples of 32 bytes unless the page says otherwise */
void fz_aligned(fz_machine *m, fz_view v, int64_t align) {
  if (v.buf >= 0 && (m->buf[v.buf].base + v.off) % align) fz_fault(m, "misaligned");
}
bool fz_meet(fz_machine *m, fz_view a, int64_t a_bytes, fz_view b, int64_t b_bytes) {
  int64_t x = m->buf[a.buf].base + a.off, y = m->buf[b.buf].base + b.off;
  return x < y + b_bytes && y < x + a_bytes;
}

void fz_naive(fz_machine *m, const fz_case *c) {
  m->n_faults = 0;
  if (c->deq) fz_deq_set(m, c);
  if (c->atomic) memset(m->gm_in, 0, sizeof m->gm_in);
  m->ulp = 0;
  m->any_nan = false;
  m->any_zero = false;
  m->out_type = c->dst_type;
  m->peak_set = false;
  m->counter = c->counter;
  memcpy(m->mask, c->reg, sizeof m->mask);
  switch (c->kind) {
  case FZ_VEC: fz_naive_vec(m, c); break;
  case FZ_COPY_IN:
  case FZ_COPY_OUT:
  case FZ_COPY_LOCAL:
  case FZ_SLICE_IN:
  case FZ_SLICE_OUT:
  case FZ_ND2NZ:
  case FZ_NZ2ND: fz_naive_copy(m, c); break;
  default: fz_naive_move(m, c); break;
  }
}

/* DataCopy with SliceInfo: asc-devkit docs/zh, 数据搬运, DataCopy（GM与UB切片数据搬运）. A side is a box of shapeValue elements in each
 * dimension, the first innermost. Of each dimension it walks from startIndex to endIndex: a slice, `stride` elements over, a slice; a slice is
 * burstLen blocks of the first dimension and one element of the others. What the walks meet, in order, is what moves. */
#include "fuzz.h"

#include <string.h>

enum { MOST = 1 << 16 };

typedef struct {
  int64_t n;      /* elements */
  int64_t slices; /* of the first dimension, in a row */
  int64_t at[MOST];
} walk;

/* The indices of one dimension. */
static int64_t indices(fz_machine *m, const acsim_slice *s, int64_t unit, int64_t *to, int64_t *slices) {
  int64_t n = 0, last = -1;
  *slices = 0;
  if (s->start >= s->end || (s->shape && s->end > s->shape)) fz_fault(m, "field-limit");
  for (int64_t i = s->start; unit > 0 && i + unit - 1 <= s->end && n + unit <= MOST; i += unit + s->stride) {
    for (int64_t j = 0; j < unit; j++) to[n++] = i + j;
    last = i + unit - 1;
    ++*slices;
  }
  if (last != (int64_t)s->end) fz_fault(m, "field-limit");
  return n;
}

static void walk_side(fz_machine *m, const acsim_slice *s, uint32_t dims, int64_t es, walk *w) {
  static int64_t list[MOST], had[MOST];
  int64_t size = 1;
  w->n = 1;
  w->at[0] = 0;
  for (uint32_t d = 0; d < dims; d++) {
    if (!s[d].shape && d + 1 < dims) fz_fault(m, "field-limit");
    if (d && s[d].burst != 1) fz_fault(m, "field-limit");
    int64_t slices, n = indices(m, &s[d], d ? 1 : s[d].burst * 32 / es, list, &slices), k = 0;
    if (!d) w->slices = slices;
    if (m->n_faults) return;
    if (n * w->n > MOST) {
      fz_fault(m, "field-limit"); /* nothing of that kind is drawn */
      return;
    }
    memcpy(had, w->at, (size_t)w->n * sizeof *had);
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < w->n; j++) w->at[k++] = had[j] + list[i] * size;
    w->n = k;
    size *= s[d].shape;
  }
}

void fz_naive_slice(fz_machine *m, const fz_case *c) {
  static walk to, from;
  int64_t es = fz_bytes[c->type];
  bool in = c->kind == FZ_SLICE_IN, updates = !in && m->atomic != ACSIM_ATOMIC_NONE;
  if (es == 8) fz_fault(m, "no-such-dtype");
  if (c->dims < 1 || c->dims > 8) fz_fault(m, "field-limit");
  if (m->n_faults) return;
  walk_side(m, c->to, c->dims, es, &to);
  walk_side(m, c->from, c->dims, es, &from);
  for (uint32_t d = 0; d < c->dims; d++)
    if (c->to[d].burst != c->from[d].burst) fz_fault(m, "field-limit");
  if (m->n_faults) return;
  if (to.n != from.n || to.slices != from.slices) {
    fz_fault(m, "field-limit");
    return;
  }
  int64_t unit = c->to[0].burst * 32 / es, gap = in ? c->from[0].stride * es : c->to[0].stride * es;
  if (to.n / unit / to.slices > 1536) fz_fault(m, "field-limit");
  if (to.slices > 1 && gap / (gap % 32 ? 1 : 32) > 65535) fz_fault(m, "field-limit");
  if (updates && m->atomic_type != c->type) fz_fault(m, "atomic-type");
  m->any_nan = updates;
  m->any_zero = updates && m->atomic != ACSIM_ATOMIC_ADD;
  m->out_type = c->type;
  if (!in && c->mode) {
    fz_fault(m, "write-to-input");
    return;
  }
  fz_view v = in ? c->dst : c->a;
  const walk *local = in ? &to : &from, *global = in ? &from : &to;
  for (int64_t i = 0; i < to.n; i++) {
    int64_t l = local->at[i] * es, g = c->gm_off + global->at[i] * es;
    if (i % unit == 0 && (m->buf[v.buf].base + v.off + l) % 32) fz_fault(m, "misaligned");
    bool ok = fz_inside(m, v, l, es);
    if (g < 0 || g + es > FZ_GM) fz_fault(m, "gm-out-of-bounds"), ok = false;
    if (!ok) return;
    if (!in && !fz_written(m, v, l, es)) fz_fault(m, "read-poison");
    for (int64_t j = 0; j < es; j++) {
      if (in && !c->mode && !m->gm_st[g + j]) fz_fault(m, "read-poison");
      if (updates && !m->gm_st[g + j]) fz_fault(m, "read-poison");
      if (in) {
        *fz_at(m, v, l + j) = (c->mode ? m->in : m->gm)[g + j];
        *fz_st(m, v, l + j) = 0xff;
      } else {
        m->gm_st[g + j] = 1;
        if (updates) m->gm_in[g + j] = (uint8_t)(j + 1);
        if (!updates) m->gm[g + j] = *fz_at(m, v, l + j);
      }
    }
    if (updates && !m->n_faults) fz_naive_atomic(m, c->type, m->gm + g, fz_at(m, v, l));
  }
}

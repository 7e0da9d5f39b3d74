/* DataCopy with SliceInfo (asc-devkit docs/zh, DataCopy, GM and UB, slices): for every combination of the outer dimensions' slices, which
 * are single elements of their dimension, one copy of the innermost dimension's slices, which are whole blocks. */
#include "sim/core_internal.h"

enum { MOST_DIMS = 8, MOST_ROWS = 6 * 256 /* (H, MAX_SLICE_SIZE) */, BLOCK = 32 };
static const int64_t FAR = (int64_t)1 << 40; /* beyond every memory */

static int64_t times(int64_t a, int64_t b) {
  return a && b > FAR / a ? FAR : a * b;
}

/* Elements of a slice. */
static int64_t unit_of(const acsim_slice *s, int i, int es) {
  return i ? 1 : (int64_t)s->burst * (BLOCK / es);
}
static int64_t count_of(const acsim_slice *s, int i, int es) {
  int64_t step = unit_of(s, i, es) + s->stride;
  return step && s->start <= s->end ? ((int64_t)s->end - s->start + 1 + s->stride) / step : 0;
}

/* What the page asks of one dimension. */
static void check_dim(acsim_block *b, const char *side, const acsim_slice *s, int i, bool last, int es, acsim_at at) {
  if (s->start >= s->end || (s->shape && s->end > s->shape))
    acsim_fault(b->s, b, "field-limit", at,
                "DataCopy with SliceInfo: %s, dimension %d: startIndex %u, endIndex %u, shapeValue %u: it must be "
                "startIndex < endIndex <= shapeValue",
                side, i, s->start, s->end, s->shape);
  if (!s->shape && !last)
    acsim_fault(b->s, b, "field-limit", at, "DataCopy with SliceInfo: %s, dimension %d: shapeValue is 0", side, i);
  if (i && s->burst != 1)
    acsim_fault(b->s, b, "field-limit", at,
                "DataCopy with SliceInfo: %s, dimension %d: burstLen is %u, it must be 1 beyond the first dimension",
                side, i, s->burst);
  int64_t n = count_of(s, i, es), unit = unit_of(s, i, es), length = (int64_t)s->end - s->start + 1;
  if (s->start <= s->end && (n < 1 || length != n * unit + (n - 1) * s->stride))
    acsim_fault(b->s, b, "field-limit", at,
                "DataCopy with SliceInfo: %s, dimension %d: %lld elements from startIndex to endIndex are no whole "
                "number of slices of %lld with %u between them",
                side, i, (long long)length, (long long)unit, s->stride);
}

/* What the instructions below it hold: strides in 16 bits, in blocks or, where the one in global memory is no multiple, in bytes; the
 * length in bytes, too, on its way to UB. (H) False: nothing is copied. */
static bool check_widths(acsim_block *b, const acsim_copy *c, bool in, acsim_at at) {
  int64_t gap = in ? c->src_gap : c->dst_gap, local = in ? c->dst_gap : c->src_gap;
  bool odd = gap % BLOCK != 0;
  if (c->blocks > 1 && (odd ? gap : gap / BLOCK) > UINT16_MAX) {
    acsim_fault(b->s, b, "field-limit", at,
                "DataCopy with SliceInfo: a stride of %lld bytes in global memory, the instruction takes 65535 %s",
                (long long)gap, odd ? "where it is no multiple of 32" : "blocks of 32");
    return false;
  }
  if (c->bytes / BLOCK > UINT16_MAX || (odd && in && c->bytes > UINT16_MAX)) {
    acsim_fault(b->s, b, "field-limit", at,
                "DataCopy with SliceInfo: burstLen is %lld bytes, the instruction takes less than %d",
                (long long)c->bytes, odd && in ? UINT16_MAX + 1 : (UINT16_MAX + 1) * BLOCK);
    return false;
  }
  if (b->s->chip->npu_arch != 2201 && odd && (c->blocks > 2 || (c->blocks > 1 && local)))
    acsim_fault(b->s, b, "not-on-chip", at,
                "DataCopy with SliceInfo on %s goes astray where the stride in global memory, %lld bytes, is no "
                "multiple of 32",
                b->s->chip->soc, (long long)gap);
  return true;
}

/* Where row `index` of the outer dimensions starts, in elements. */
static int64_t row_at(const acsim_slice *s, uint32_t dims, int es, int64_t index) {
  int64_t at = s[0].start, size = 1;
  for (uint32_t i = 1; i < dims; i++) {
    int64_t n = count_of(&s[i], (int)i, es), k = n ? index % n : 0;
    size = times(size, s[i - 1].shape);
    at += times(size, s[i].start + k * (1 + (int64_t)s[i].stride));
    index = n ? index / n : 0;
  }
  return at;
}

void acsim_copy_slices(const acsim_local *l, const acsim_global *g, int32_t in, int32_t type, const acsim_slice *dst,
                       const acsim_slice *src, uint32_t dims, const char *file, int32_t line) {
  acsim_block *b = acsim_here("DataCopy");
  int es = acsim_type_bytes(type);
  if (es > 4 || type >= ACSIM_BOOL || (type == ACSIM_BF16 && b->s->chip->npu_arch != 2201)) {
    acsim_fault(b->s, b, "no-such-dtype", AT, "DataCopy with SliceInfo of %s does not exist", ac_dtypes[type].cpp);
    return;
  }
  if (dims < 1 || dims > MOST_DIMS) {
    acsim_fault(b->s, b, "field-limit", AT, "DataCopy with SliceInfo: dimValue is %u, not 1 to %d", dims, MOST_DIMS);
    return;
  }
  int64_t rows = 1, to_rows = 1;
  for (uint32_t i = 0; i < dims; i++) {
    check_dim(b, "dst", &dst[i], (int)i, i + 1 == dims, es, AT);
    check_dim(b, "src", &src[i], (int)i, i + 1 == dims, es, AT);
    if (dst[i].burst != src[i].burst)
      acsim_fault(b->s, b, "field-limit", AT,
                  "DataCopy with SliceInfo: dimension %u: burstLen is %u in dst and %u in src", i, dst[i].burst,
                  src[i].burst);
    if (!i) continue;
    rows = times(rows, count_of(&src[i], (int)i, es));
    to_rows = times(to_rows, count_of(&dst[i], (int)i, es));
  }
  int64_t n = count_of(&src[0], 0, es), to_n = count_of(&dst[0], 0, es);
  if (rows != to_rows || n != to_n)
    acsim_fault(b->s, b, "field-limit", AT,
                "DataCopy with SliceInfo: %lld rows of %lld slices in src, %lld rows of %lld in dst", (long long)rows,
                (long long)n, (long long)to_rows, (long long)to_n);
  if (rows > MOST_ROWS || n > UINT32_MAX) {
    acsim_fault(b->s, b, "field-limit", AT, "DataCopy with SliceInfo: %lld rows, it takes %d at most",
                (long long)rows, MOST_ROWS);
    return;
  }
  if (rows > to_rows) rows = to_rows;
  acsim_copy c = {.form = ACSIM_COPY_SLICE,
                  .type = (uint8_t)type,
                  .blocks = (uint32_t)n,
                  .bytes = (int64_t)src[0].burst * BLOCK,
                  .src_gap = (int64_t)src[0].stride * es,
                  .dst_gap = (int64_t)dst[0].stride * es};
  if (!n || !check_widths(b, &c, in, AT)) return;
  for (int64_t i = 0; i < rows; i++) {
    c.dst_at = row_at(dst, dims, es, i) * es;
    c.src_at = row_at(src, dims, es, i) * es;
    if (in)
      acsim_copy_in(l, g, &c, file, line);
    else
      acsim_copy_out(g, l, &c, file, line);
  }
}

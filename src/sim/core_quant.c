/* Quantisation of the library (asc-devkit docs/zh, AscendQuant, AscendDequant, AscendAntiQuant; the forms that Atlas A2 has). The steps and
 * the types in between are those of the pages' figures: quantising works in half, the others in float32 or half. */
#include "sim/core_rows.h"

#include <math.h>

static float half_of(float v) {
  return ac_f16_to_f32(ac_f32_to_f16(v, AC_RN_RINT));
}

/* dst, src, scale or NULL, offset or NULL; n: elements, of a row of scales; f: scale, offset where there is no tensor */
static void quant(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t n = c->n[0], line = c->t[2] ? c->n[1] : 1;
  if (!rows_types(r, 1, ROWS_FLOATS) || !rows_types(r, 0, 1u << ACSIM_I8)) return;
  if (n < 0 || (c->t[2] && (line < 1 || line * rows_es(r, 2) % ROW_BLOCK || n % line))) {
    rows_bad_shape(r, "the number of scales must fill whole blocks of 32 bytes and divide the number of elements");
    return;
  }
  if (!rows_apart(r, 0, n, 1, n, "dst and src")) return;
  rows_use u[] = {{0, "dst", n, OUT},
                  {1, "src", n, IN},
                  {2, "scale", line, c->t[2] ? IN : 0},
                  {3, "offset", line, c->t[3] ? IN : 0}};
  if (!n || !rows_use_all(r, u, 4, acsim_tmp_quant())) return;
  for (int64_t i = 0; i < n; i++) {
    float scale = half_of(c->t[2] ? rows_get(r, 2, i % line) : (float)c->f[0]),
          offset = half_of(c->t[3] ? rows_get(r, 3, i % line) : (float)c->f[1]);
    float v = nearbyintf(half_of(half_of(half_of(rows_get(r, 1, i)) * scale) + offset));
    ((int8_t *)rows_data(r, 0))[i] = (int8_t)(v != v ? 0 : v < -128 ? -128 : v > 127 ? 127 : v);
  }
}

/* dst, src (int32), scale or NULL; n: m, n, elements of a row that count; f: the scale. Rows of dst are padded to whole blocks. */
static void dequant(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t m = c->n[0], n = c->n[1], few = c->n[2], ds = rows_es(r, 0);
  uint32_t to = 1u << ACSIM_F32 | 1u << ACSIM_F16 | 1u << ACSIM_BF16;
  if (!rows_types(r, 1, 1u << ACSIM_I32) || !rows_types(r, 0, to)) return;
  if (m < 1 || n < 1 || n * 4 % ROW_BLOCK || few < 1 || few > n) {
    rows_bad_shape(r, "n must fill whole blocks of 32 bytes, and 1 <= calCount <= n");
    return;
  }
  int64_t line = acsim_up(n * ds, ROW_BLOCK) / ds;
  rows_use u[] = {
      {0, "dst", m * line, OUT}, {1, "src", m * n, IN | ACSIM_SOFT}, {2, "deqScale", few, c->t[2] ? IN : 0}};
  if (!rows_use_all(r, u, 3, acsim_tmp_dequant(n))) return;
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < few; j++) {
      uint64_t bits = c->t[2] && c->type[2] == ACSIM_U64 ? ((const uint64_t *)(void *)rows_data(r, 2))[j] : 0;
      float scale = c->t[2] ? rows_get(r, 2, j) : (float)c->f[0];
      if (c->t[2] && c->type[2] == ACSIM_U64) { /* the low 32 bits are a float (docs/zh) */
        uint32_t low = (uint32_t)bits;
        memcpy(&scale, &low, 4);
      }
      rows_put(r, 0, i * line + j, (float)((const int32_t *)(void *)rows_data(r, 1))[i * n + j] * scale);
    }
    if (few < line) memset(acsim_state(r->b, c->t[0], (i * line + few) * ds), 0, (size_t)((line - few) * ds));
  }
}

/* dst, src (int8), offset or NULL, scale or NULL; n: rows and columns of src, scales; f: offset, scale where there is no tensor.
 * dst = (src + offset) * scale; scales along the columns, or transposed along the rows, a group of rows (columns) each. */
static void antiquant(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t m = c->n[0], n = c->n[1], scales = c->t[3] ? c->n[2] : 1;
  bool turned = c->flags & ACSIM_QUANT_TRANSPOSE, to_half = c->type[0] == ACSIM_F16;
  if (!rows_types(r, 1, 1u << ACSIM_I8) || !rows_types(r, 0, 1u << ACSIM_F16 | 1u << ACSIM_BF16)) return;
  int64_t side = turned ? m : n, other = turned ? n : m, groups = c->t[3] && side > 0 ? scales / side : 1;
  if (m < 1 || n < 1 || (c->t[3] && (scales % side || groups < 1 || other % groups)) || n % 32) {
    rows_bad_shape(
        r, "a row must fill whole blocks of 32 bytes, and the scales must be a row (transposed: a column) for each "
           "group of rows (columns)");
    return;
  }
  rows_use u[] = {{0, "dst", m * n, OUT},
                  {1, "src", m * n, IN},
                  {2, "offset", scales, c->t[2] ? IN : 0},
                  {3, "scale", scales, c->t[3] ? IN : 0}};
  if (!rows_use_all(r, u, 4, acsim_tmp_antiquant(turned ? n : m, scales, turned, to_half))) return;
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      int64_t at = turned ? i * groups + j / (n / groups) : i / (m / groups) * n + j;
      float v = (float)((const int8_t *)rows_data(r, 1))[i * n + j];
      v += c->t[2] ? rows_get(r, 2, at) : (float)c->f[0];
      if (to_half) v = half_of(v);
      rows_put(r, 0, i * n + j, v * (c->t[3] ? rows_get(r, 3, at) : (float)c->f[1]));
    }
}

int64_t acsim_rows_quant(const rows_call *r) {
  switch (r->c->op) {
  case ACSIM_ROWS_AscendQuant: quant(r); break;
  case ACSIM_ROWS_AscendDequant: dequant(r); break;
  default: antiquant(r); break;
  }
  return 0;
}

/* The least temporary memory of the library's functions over rows, in bytes: the core checks it, the host's Get...MaxMinTmpSize tell it.
 * es: bytes of an element; k: row length, padded to whole blocks. Source: asc-devkit impl/adv_api/tiling, arch 2201. C and C++. */
#ifndef ACSIM_LIBRARY_SIZES_H
#define ACSIM_LIBRARY_SIZES_H

#include <stdint.h>

static inline int64_t acsim_up(int64_t n, int64_t to) {
  return (n + to - 1) / to * to;
}
static inline int64_t acsim_least(int64_t a, int64_t b) {
  return a < b ? a : b;
}
static inline int64_t acsim_most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* ---- normalisations ---- */

/* LayerNorm and DeepNorm; with rows = all rows' elements in k, the most they use */
static inline int64_t acsim_tmp_layernorm(int64_t m, int64_t k, int64_t es, int reuse) {
  return (reuse && es == 4 ? 2 : 3) * acsim_up(k * 4, 32) + 2 * acsim_up(m * 4, 32);
}
static inline int64_t acsim_tmp_normalize(int64_t m, int64_t k, int64_t gamma_es) {
  return acsim_most(acsim_up(m * 4, 32), (gamma_es == 4 ? 2 : 4) * acsim_up(k * 4, 32));
}
static inline int64_t acsim_tmp_layernorm_rstd(int64_t m, int64_t k, int64_t es) {
  return acsim_up(m * 4, 32) + acsim_most(2 * acsim_up(k * 4, 32), acsim_tmp_normalize(m, k, es));
}
static inline int64_t acsim_tmp_rmsnorm(int64_t k, int64_t es) {
  return (k * (es == 2 ? 2 : 1) + 8) * 4;
}
static inline int64_t acsim_tmp_layernorm_grad(int64_t m, int64_t k, int64_t es, int reuse) {
  return acsim_least(m * k, k * k) * es * (es == 2 ? 9 : reuse ? 4 : 6);
}
static inline int64_t acsim_tmp_layernorm_grad_beta(int64_t k, int64_t es) {
  return (es == 2 ? 4 : 2) * k * 4;
}
static inline int64_t acsim_tmp_welford_update(int64_t es, int reuse) {
  return 256 * (es == 2 ? 3 : reuse ? 1 : 2);
}
static inline int64_t acsim_tmp_welford_finalize(void) {
  return 1024;
}
/* hw: elements of a channel as it is laid out */
static inline int64_t acsim_tmp_groupnorm(int64_t n, int64_t channels, int64_t hw, int64_t groups, int64_t es,
                                          int reuse) {
  return (reuse && es == 4 ? 2 : 3) * (channels / groups) * hw * 4 + 2 * acsim_up(n * groups * 4, 32);
}
static inline int64_t acsim_tmp_batchnorm(int64_t b, int64_t sh, int64_t es, int basic) {
  return 3 * b * (basic ? 256 : es == 2 ? 64 : 32) + 2 * acsim_up(sh * 4, 32);
}

/* ---- softmax: es of the source, ss of sum and max ---- */

static inline int64_t acsim_tmp_softmax_flash(int64_t k, int64_t es, int update) {
  return (update ? 32 / es * 4 + k * 2 : 32 / es + k + 64) * 4;
}
static inline int64_t acsim_tmp_softmax_flash2(int64_t k, int64_t es, int64_t ss, int basic) {
  int64_t per = 32 / ss;
  if (basic && k % 64 == 0) return 8 * (per + (es == 2 ? k : 0) + (k == 1024 ? 128 : 64)) * 4;
  return (es == 2 ? per * 2 + k + 64 : per + 64) * 4;
}
/* How many rows at a time fit into `bytes`; row: floats that one takes. Whole multiples of 8, and what divides the rows evenly where
 * rows are wide (AdjustToBasicBlockBaseM). */
static inline int64_t acsim_split_rows(int64_t m, int64_t k, int64_t row, int64_t bytes, int basic) {
  int64_t base = acsim_least(bytes / 4 / row, m);
  if (!basic && base < m && base > 8) base = base / 8 * 8;
  if (base > 8 && m % 8 == 0 && k % 64 == 0) {
    base = base / 8 * 8;
    while (base && m % base) base -= 8;
    while (base * k >= 64 * 256) base /= 2;
  }
  return base;
}
static inline int64_t acsim_split_flash2(int64_t m, int64_t k, int64_t es, int64_t ss, int64_t bytes, int basic,
                                         int brc) {
  int64_t per = 32 / ss, tile = brc && es == 2 ? 16 : 8, base;
  if (basic && k % 64 == 0 && m % 8 == 0)
    base = acsim_split_rows(m, k, per + (es == 2 ? k : 0) + (k == 1024 ? 128 : 64), bytes, 1);
  else
    base = bytes / 4 / (es == 2 ? per * 2 + k + 64 : per + 64);
  base = acsim_least(base, m);
  return base < m && base > tile ? base / tile * tile : base;
}
static inline int64_t acsim_tmp_softmax_flash3(int64_t k, int64_t ss) {
  return (32 / ss * 5 + 2 * k + 64) * 4;
}
static inline int64_t acsim_tmp_log_softmax(int64_t k, int64_t es) {
  return (32 / es + k + 64) * 4;
}

/* ---- sorting ---- */

static inline int64_t acsim_tmp_topk(int64_t outer, int64_t inner, int small, int with_index, int largest) {
  if (!small) return (with_index ? 16 : 20) * inner;
  return inner * outer * 8 + 64 + (largest ? 0 : inner * outer * 4) + (with_index ? 0 : inner * outer * 4);
}
/* Sort of all repeats merges back and forth: room for the sorted records */
static inline int64_t acsim_tmp_sort(int64_t n) {
  return n * 8;
}

/* ---- quantisation ---- */

static inline int64_t acsim_tmp_quant(void) {
  return 512;
}
static inline int64_t acsim_tmp_dequant(int64_t n) {
  return (64 + n + n + 8) * 4;
}
/* scales: 1 is one for the whole tensor */
static inline int64_t acsim_tmp_antiquant(int64_t rows, int64_t scales, int transpose, int to_half) {
  if (to_half) return 0;
  if (scales == 1) return 1024;
  return transpose ? 80 * scales * 4 : scales * 2 * 4 + 64 * rows * 4;
}

/* ---- the rest ---- */

static inline int64_t acsim_tmp_cumsum(int64_t outer, int64_t inner, int64_t es, int last_axis) {
  if (last_axis) return 16 * inner * es * 2 + (es == 2 ? inner * 16 * 2 : 0);
  return es == 2 ? outer * inner * 4 : 0;
}
static inline int64_t acsim_tmp_pad(void) {
  return 16 * 32 * 2;
}
static inline int64_t acsim_tmp_dropout(void) {
  return 512;
}
/* Half of the rows or columns that a tree folds: a power of two up to n; where it is n itself, half of it, if there is another row. */
static inline int64_t acsim_fold(int64_t n, int64_t first) {
  int64_t k = 1;
  while (k * 2 <= n) k *= 2;
  return k == n && first > 1 ? k / 2 : k;
}
/* Sum and mean; maximum, minimum, any, all; product; any and all of bytes. first, last: the shape; ar: the last axis goes. */
enum { ACSIM_REDUCE_ADD, ACSIM_REDUCE_PICK, ACSIM_REDUCE_MULTIPLY, ACSIM_REDUCE_LOGIC };
static inline int64_t acsim_tmp_reduce(int kind, int64_t first, int64_t last, int64_t es, int ar, int reuse) {
  int64_t per = 32 / es;
  if (kind == ACSIM_REDUCE_LOGIC && es == 1 && ar) return acsim_up(last, 32) * 2 + first * 32;
  if (kind == ACSIM_REDUCE_MULTIPLY && ar && reuse) return 256;
  if (reuse) return 0;
  if (!ar) return acsim_fold(first, first) * acsim_up(last * es, 32);
  if (kind == ACSIM_REDUCE_ADD) return last <= 64 ? 0 : first * acsim_fold(last, first) * 4;
  if (kind == ACSIM_REDUCE_MULTIPLY) return (acsim_most(per, acsim_fold(last, first)) + first * per) * 4 + 256;
  return last <= per ? 0 : first * (last < 256 / es ? per : 256 / es) * es;
}
static inline int64_t acsim_tmp_reduce_xor(int64_t n, int reuse) {
  return (reuse ? 2 : 3) * acsim_most(n * 2, 256);
}
/* what: 0 NCDHW to NDC1HWC0, 1 back, 2 NCDHW to FRACTAL_Z_3D, 3 back; two bytes an element */
static inline int64_t acsim_tmp_transdata(int what, int64_t n, int64_t c, int64_t d, int64_t hw) {
  int64_t row = acsim_up(hw, 16), pc = acsim_up(c, 16), pn = acsim_up(n, 16), plane = d * pc * row * 2;
  if (what == 0) return d * row * 2 + plane;
  if (what == 1) return plane + 512;
  if (what == 2) return acsim_most(c * d * row, d * hw * pn) * 2 + pn * plane;
  return pn * plane * (n == pn && c == pc ? 1 : 2);
}

#endif

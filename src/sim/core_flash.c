/* The flash forms of softmax, LogSoftMax and AdjustSoftMaxRes, ND. Formulas: asc-devkit docs/zh, each function. Exponentials are exact and
 * rounded to float32, sums are trees in float32. */
#include "sim/core_rows.h"

#include <math.h>

/* Operand k holds one value a row: in each element of a block, or alone. */
static int64_t stat_size(const rows_call *r, int k) {
  return r->c->flags & ACSIM_FLASH_NARROW ? r->c->n[0] : r->c->n[0] * (ROW_BLOCK / rows_es(r, k));
}
static void put_stat(const rows_call *r, int k, int64_t row, float v) {
  int64_t per = r->c->flags & ACSIM_FLASH_NARROW ? 1 : ROW_BLOCK / rows_es(r, k);
  for (int64_t i = 0; i < per; i++) rows_put(r, k, row * per + i, v);
}
static float get_stat(const rows_call *r, int k, int64_t row) {
  return rows_get(r, k, r->c->flags & ACSIM_FLASH_NARROW ? row : row * (ROW_BLOCK / rows_es(r, k)));
}

/* n: rows, row length, how much of both counts */
static bool shape_ok(const rows_call *r, int src) {
  const int64_t *n = r->c->n;
  if (n[0] > 0 && n[1] > 0 && n[1] * rows_es(r, src) % ROW_BLOCK == 0 && n[2] <= n[0] && n[3] > 0 && n[3] <= n[1])
    return true;
  acsim_fault(r->b->s, r->b, "lib-shape", r->at,
              "%s: %lld of %lld rows, %lld of %lld elements of %d bytes: a row must fill whole blocks of 32 bytes",
              r->name, (long long)n[2], (long long)n[0], (long long)n[3], (long long)n[1], rows_es(r, src));
  return false;
}
static float exp32(float x) {
  return (float)exp((double)x);
}
static float largest(const rows_call *r, int src, int64_t at, int64_t n) {
  float top = -INFINITY;
  for (int64_t j = 0; j < n; j++) {
    float x = rows_get(r, src, at + j);
    if (!(x <= top)) top = x;
  }
  return top;
}
/* What the columns that fill up a row hold is of no use. */
static void forget_padding(const rows_call *r, int dst, int64_t row) {
  int64_t es = rows_es(r, dst), k = r->c->n[1], valid = r->c->n[3];
  if (valid < k) memset(acsim_state(r->b, r->c->t[dst], (row * k + valid) * es), 0, (size_t)((k - valid) * es));
}

/* dst, sum, max, src, exp-max, sum before, max before, the row's own maximum or NULL. V1 divides by the sum, V2 leaves that to the end. */
static void flash(const rows_call *r) {
  const acsim_rows *c = r->c;
  bool v1 = c->op == ACSIM_ROWS_SoftmaxFlash, update = c->flags & ACSIM_FLASH_UPDATE;
  int64_t m = c->n[0], k = c->n[1], rows = c->n[2], valid = c->n[3];
  if (!rows_types(r, 3, ROWS_FLOATS) || !rows_types(r, 1, ROWS_FLOATS) || !shape_ok(r, 3)) return;
  int soft = rows < m || valid < k ? ACSIM_SOFT : 0;
  rows_use u[] = {{0, "dst", m * k, OUT},
                  {1, "sum", stat_size(r, 1), OUT},
                  {2, "max", stat_size(r, 2), OUT},
                  {3, "src", m * k, IN | soft},
                  {4, "expMax", c->t[4] ? stat_size(r, 4) : 0, update ? OUT : 0},
                  {5, "inSum", c->t[5] ? stat_size(r, 5) : 0, update ? IN | soft : 0},
                  {6, "inMax", c->t[6] ? stat_size(r, 6) : 0, update ? IN | soft : 0},
                  {7, "outReduceMax", c->t[7] ? stat_size(r, 7) : 0, update ? OUT : 0}};
  int64_t need = v1 ? acsim_tmp_softmax_flash(k, rows_es(r, 3), update)
                    : acsim_tmp_softmax_flash2(k, rows_es(r, 3), rows_es(r, 1), c->flags >> 8 & 1);
  if (!rows_use_all(r, u, c->t[7] ? 8 : 7, need)) return;
  float *e = rows_scratch(r, 0, k);
  for (int64_t i = 0; i < rows; i++) {
    float top = largest(r, 3, i * k, valid), own = top, before = 0, scale = 0;
    if (update) {
      before = get_stat(r, 6, i);
      if (!(top >= before)) top = before != before ? before : top != top ? top : before;
      scale = exp32(before - top);
    }
    for (int64_t j = 0; j < valid; j++) e[j] = exp32(rows_get(r, 3, i * k + j) - top);
    float sum = rows_sum(r, e, valid);
    if (update) {
      float old = scale * get_stat(r, 5, i);
      sum = old + sum;
      put_stat(r, 4, i, v1 ? old / sum : scale);
      if (c->t[7]) put_stat(r, 7, i, own);
    }
    for (int64_t j = 0; j < valid; j++) rows_put(r, 0, i * k + j, v1 ? e[j] / sum : e[j]);
    forget_padding(r, 0, i);
    put_stat(r, 1, i, sum);
    put_stat(r, 2, i, top);
  }
}

/* dst, mean, sum, max, src, exp-max, mean before, sum before, max before; n[4]: parts of a row with a mean each, n[5]: which call; f: alpha */
static void flash3(const rows_call *r) {
  const acsim_rows *c = r->c;
  bool update = c->flags & ACSIM_FLASH_UPDATE;
  int64_t m = c->n[0], k = c->n[1], rows = c->n[2], valid = c->n[3], parts = c->n[4], loop = c->n[5];
  if (!rows_types(r, 4, 1u << ACSIM_F16) || !rows_types(r, 1, 1u << ACSIM_F32) || !shape_ok(r, 4)) return;
  if (parts != 8 || k % 64 || k < 512 || valid != k || loop < 1) {
    rows_bad_shape(r, "splitMeanCnt must be 8, a row a multiple of 64 elements, 512 at least, without padding, and "
                      "loopCnt count from 1");
    return;
  }
  rows_use u[] = {{0, "dst", m * k, OUT},
                  {1, "mean", stat_size(r, 1), OUT},
                  {2, "sum", stat_size(r, 2), OUT},
                  {3, "max", stat_size(r, 3), OUT},
                  {4, "src", m * k, IN},
                  {5, "expMax", c->t[5] ? stat_size(r, 5) : 0, update ? OUT : 0},
                  {6, "inMean", c->t[6] ? stat_size(r, 6) : 0, update ? IN : 0},
                  {7, "inSum", c->t[7] ? stat_size(r, 7) : 0, update ? IN : 0},
                  {8, "inMax", c->t[8] ? stat_size(r, 8) : 0, update ? IN : 0}};
  if (!rows_use_all(r, u, 9, acsim_tmp_softmax_flash3(k, rows_es(r, 1)))) return;
  int64_t part = k / parts;
  float *x = rows_scratch(r, 0, k), scalar = (float)(c->f[0] / (1 - c->f[0])), base = (float)part;
  for (int64_t i = 0; i < rows; i++) {
    /* The sums as docs/zh's code takes them: 8 neighbours each of the first 512 elements, what follows added lane by lane to those 64,
     * and 8 neighbours again. With more than 512 elements they are not the sums of the parts that they are subtracted from. */
    float local[8];
    for (int p = 0; p < 8; p++) {
      float *v = rows_scratch(r, 1, k);
      int64_t n = 0;
      for (int64_t j = 0; j < k; j++)
        if (j < 512 ? j / 64 == p : j % 64 / 8 == p) v[n++] = rows_get(r, 4, i * k + j);
      local[p] = rows_sum(r, v, n) / base;
    }
    for (int64_t j = 0; j < k; j++) x[j] = rows_get(r, 4, i * k + j);
    float global = rows_sum(r, x, k) / (float)k, mean = global, before = 0, prev = 0;
    for (int64_t j = 0; j < k; j++) x[j] -= (global - local[j / (k / 8)]) * scalar;
    float top = -INFINITY;
    for (int64_t j = 0; j < k; j++)
      if (!(x[j] <= top)) top = x[j];
    if (update) {
      before = get_stat(r, 6, i);
      mean = (global + before * (float)(loop - 1)) / (float)loop;
      prev = (before - mean) * scalar;
    }
    float shift = (global - mean) * scalar, max = shift + top;
    if (update && !(max >= prev + get_stat(r, 8, i))) max = prev + get_stat(r, 8, i);
    for (int64_t j = 0; j < k; j++) x[j] = exp32(x[j] - (max - shift));
    float sum = rows_sum(r, x, k);
    if (update) {
      float scale = exp32(get_stat(r, 8, i) - max + prev);
      sum = scale * get_stat(r, 7, i) + sum;
      put_stat(r, 5, i, scale);
    }
    for (int64_t j = 0; j < k; j++) rows_put(r, 0, i * k + j, x[j]);
    put_stat(r, 1, i, mean);
    put_stat(r, 2, i, sum);
    put_stat(r, 3, i, max);
  }
}

/* dst, sum, max, src. The logarithm is the one to base 10 (docs/zh, LogSoftMax). */
static void log_softmax(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t m = c->n[0], k = c->n[1], rows = c->n[2], valid = c->n[3];
  if (!rows_types(r, 3, ROWS_FLOATS) || !shape_ok(r, 3) || !rows_apart(r, 0, m * k, 3, m * k, "dst and src")) return;
  rows_use u[] = {{0, "dst", m * k, OUT},
                  {1, "sum", stat_size(r, 1), OUT},
                  {2, "max", stat_size(r, 2), OUT},
                  {3, "src", m * k, IN | (rows < m || valid < k ? ACSIM_SOFT : 0)}};
  if (!rows_use_all(r, u, 4, acsim_tmp_log_softmax(k, rows_es(r, 3)))) return;
  float *e = rows_scratch(r, 0, k);
  for (int64_t i = 0; i < rows; i++) {
    float top = largest(r, 3, i * k, valid);
    for (int64_t j = 0; j < valid; j++) e[j] = exp32(rows_get(r, 3, i * k + j) - top);
    float sum = rows_sum(r, e, valid);
    for (int64_t j = 0; j < valid; j++) rows_put(r, 0, i * k + j, (float)log10((double)(e[j] / sum)));
    forget_padding(r, 0, i);
    put_stat(r, 1, i, sum);
    put_stat(r, 2, i, top);
  }
}

/* res, max; n[4]: elements of max from row to row, n[5]: the bits to look for; f: what to put. Tells whether any row had them. */
static int64_t adjust(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t m = c->n[0], k = c->n[1], found = 0, step = c->n[4];
  if (!rows_types(r, 0, ROWS_FLOATS) || !shape_ok(r, 0)) return 0;
  acsim_access x = {"max", c->t[1], 0, ((m - 1) * step + 1) * rows_es(r, 1), ROW_BLOCK, IN | ACSIM_SOFT};
  if (!acsim_touch(r->b, AC_PIPE_V, r->name, r->at, &x, 1)) return 0;
  x = (acsim_access){"softMaxRes", c->t[0], 0, m * k * rows_es(r, 0), ROW_BLOCK, IN | OUT | ACSIM_SOFT};
  if (!acsim_touch(r->b, AC_PIPE_V, r->name, r->at, &x, 1)) return 0;
  for (int64_t i = 0; i < m; i++) {
    uint32_t bits = 0;
    memcpy(&bits, rows_data(r, 1) + i * step * rows_es(r, 1), (size_t)rows_es(r, 1));
    if (bits != ((uint32_t)c->n[5] & (rows_es(r, 1) == 2 ? 0xffffu : ~0u))) continue;
    found = 1;
    for (int64_t j = 0; j < k; j++) rows_put(r, 0, i * k + j, (float)c->f[0]);
    memset(acsim_state(r->b, c->t[0], i * k * rows_es(r, 0)), 0xff, (size_t)(k * rows_es(r, 0)));
  }
  return found;
}

int64_t acsim_rows_flash(const rows_call *r) {
  switch (r->c->op) {
  case ACSIM_ROWS_SoftmaxFlashV3: flash3(r); break;
  case ACSIM_ROWS_LogSoftMax: log_softmax(r); break;
  case ACSIM_ROWS_AdjustSoftMaxRes: return adjust(r);
  default: flash(r); break;
  }
  return 0;
}

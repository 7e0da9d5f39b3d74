/* Sort and TopK of the library on chips with Sort32 (asc-devkit docs/zh, both functions): descending, equal values in the order of the
 * source, NaN before everything. */
#include "sim/core_rows.h"

#include <stdlib.h>

typedef struct {
  float v;
  uint32_t index;
  int64_t at;
} item;
static int descending(const void *pa, const void *pb) {
  const item *a = pa, *b = pb;
  bool na = a->v != a->v, nb = b->v != b->v;
  if (na != nb) return na ? -1 : 1;
  if (!na && a->v != b->v) return a->v > b->v ? -1 : 1;
  return a->at < b->at ? -1 : a->at > b->at;
}

/* dst, concat, index, tmp as an operand of T; n: repeats of 32. Records of 8 bytes: the value, then the index in the upper four. */
static void sort_all(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t n = c->n[0] * 32, es = rows_es(r, 1);
  bool full = c->flags & ACSIM_SORT_FULL;
  if (!rows_types(r, 1, ROWS_FLOATS)) return;
  if (r->b->s->chip->npu_arch != 2201) {
    acsim_fault(r->b->s, r->b, "not-modelled", r->at, "Sort on %s, which sorts region proposals, is not modelled",
                r->b->s->chip->soc);
    return;
  }
  if (c->n[0] < 0 || c->n[0] > 255) {
    rows_bad_shape(r, "repeatTime is 0..255");
    return;
  }
  rows_use u[] = {{0, "dst", n * 8 / es, OUT},
                  {1, "concat", n, IN},
                  {2, "index", n, IN},
                  {3, "tmp", n * 8 / es, full && n > 32 ? OUT : 0}};
  if (!n || !rows_use_all(r, u, 4, 0)) return;
  item *x = (item *)(void *)rows_scratch(r, 0, n * (int64_t)(sizeof(item) / 4));
  for (int64_t i = 0; i < n; i++) x[i] = (item){rows_get(r, 1, i), ((const uint32_t *)(void *)rows_data(r, 2))[i], i};
  for (int64_t i = 0; i < n; i += full ? n : 32) qsort(x + i, (size_t)(full ? n : 32), sizeof *x, descending);
  uint8_t *d = rows_data(r, 0);
  for (int64_t i = 0; i < n; i++) {
    memset(d + i * 8, 0, 8);
    ac_store((ac_dtype)c->type[0], d + i * 8, 0, (double)x[i].v);
    memcpy(d + i * 8 + 4, &x[i].index, 4);
  }
  if (full && n > 32) memset(acsim_state(r->b, c->t[3], 0), 0, (size_t)(n * 8));
}

static bool topk_shape(const rows_call *r, int64_t outer, int64_t inner, int64_t n, int64_t k) {
  bool small = r->c->flags & ACSIM_TOPK_SMALL;
  if (outer > 0 && inner % 32 == 0 && n > 0 && n <= inner && k > 0 && k <= n && (small ? inner == 32 : inner <= 4096))
    return true;
  acsim_fault(r->b->s, r->b, "lib-shape", r->at,
              "TopK of %lld rows, inner %lld, n %lld, k %lld: 1 <= k <= n <= inner, inner is a multiple of 32, %s",
              (long long)outer, (long long)inner, (long long)n, (long long)k,
              small ? "and 32 in the small mode" : "4096 at most");
  return false;
}
/* values, indices, src, src indices, finished; n: outer, inner, n, k */
static void topk(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t outer = c->n[0], inner = c->n[1], n = c->n[2], k = c->n[3], es = rows_es(r, 2);
  bool small = c->flags & ACSIM_TOPK_SMALL, index = c->flags & ACSIM_TOPK_INDEX,
       largest = c->flags & ACSIM_TOPK_LARGEST, finish = c->flags & ACSIM_TOPK_FINISH;
  if (!rows_types(r, 2, ROWS_FLOATS) || !topk_shape(r, outer, inner, n, k)) return;
  int64_t pad_v = small ? k : acsim_up(k, ROW_BLOCK / es), pad_i = small ? k : acsim_up(k, 8);
  rows_use u[] = {{0, "dstValueLocal", outer * pad_v, OUT},
                  {1, "dstIndexLocal", outer * pad_i, OUT},
                  {2, "srcLocal", outer * inner, IN},
                  {3, "srcIndexLocal", small ? outer * inner : inner, index ? IN : 0},
                  {4, "finishLocal", outer, finish ? IN : 0}};
  if (!rows_apart(r, 0, outer * pad_v, 2, outer * inner, "dst and src") ||
      !rows_use_all(r, u, 5, acsim_tmp_topk(outer, inner, small, index, largest)))
    return;
  item *x = (item *)(void *)rows_scratch(r, 0, inner * (int64_t)(sizeof(item) / 4));
  for (int64_t i = 0; i < outer; i++) {
    for (int64_t j = 0; j < inner; j++) {
      float v = rows_get(r, 2, i * inner + j);
      uint32_t own = index ? ((const uint32_t *)(void *)rows_data(r, 3))[small ? i * inner + j : j] : (uint32_t)j;
      x[j] = (item){largest ? v : -v, own, j};
    }
    qsort(x, (size_t)inner, sizeof *x, descending);
    bool off = finish && rows_data(r, 4)[i];
    for (int64_t j = 0; j < k; j++) {
      rows_put(r, 0, i * pad_v + j, largest ? x[j].v : -x[j].v);
      ((int32_t *)(void *)rows_data(r, 1))[i * pad_i + j] = off ? (int32_t)n : (int32_t)x[j].index;
    }
    if (pad_v > k) memset(acsim_state(r->b, c->t[0], (i * pad_v + k) * es), 0, (size_t)((pad_v - k) * es));
    if (pad_i > k) memset(acsim_state(r->b, c->t[1], (i * pad_i + k) * 4), 0, (size_t)((pad_i - k) * 4));
  }
}

int64_t acsim_rows_sort(const rows_call *r) {
  if (r->c->op == ACSIM_ROWS_Sort)
    sort_all(r);
  else
    topk(r);
  return 0;
}

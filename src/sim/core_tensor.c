/* The library's functions over whole tensors: running sums, padding, dropout, reductions by pattern, changes of layout (asc-devkit docs/zh,
 * each function). Sums are in float32, one after the other in a running sum, a tree in a reduction. */
#include "sim/core_rows.h"

#include <math.h>

/* dst, last row, src; n: outer, inner */
static void cumsum(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t outer = c->n[0], inner = c->n[1];
  bool last_axis = c->flags & ACSIM_CUMSUM_LAST_AXIS, last_row = c->flags & ACSIM_CUMSUM_LAST_ROW;
  if (!rows_types(r, 2, ROWS_FLOATS)) return;
  if (outer < 1 || inner < 1 || inner * rows_es(r, 2) % ROW_BLOCK) {
    rows_bad_shape(r, "outter and inner must be more than 0, and a row must fill whole blocks of 32 bytes");
    return;
  }
  rows_use u[] = {
      {0, "dst", outer * inner, OUT}, {1, "lastRow", inner, last_row ? OUT : 0}, {2, "src", outer * inner, IN}};
  if (!rows_use_all(r, u, 3, acsim_tmp_cumsum(outer, inner, rows_es(r, 2), last_axis))) return;
  int64_t lines = last_axis ? outer : inner, n = last_axis ? inner : outer;
  for (int64_t i = 0; i < lines; i++) {
    float sum = 0;
    for (int64_t j = 0; j < n; j++) {
      int64_t at = last_axis ? i * inner + j : j * inner + i;
      sum = j ? sum + rows_get(r, 2, at) : rows_get(r, 2, at);
      rows_put(r, 0, at, sum);
    }
  }
  if (last_row)
    for (int64_t j = 0; j < inner; j++) rows_put(r, 1, j, rows_get(r, 0, (outer - 1) * inner + j));
}

enum {
  PAD_TYPES =
      1u << ACSIM_I16 | 1u << ACSIM_U16 | 1u << ACSIM_F16 | 1u << ACSIM_I32 | 1u << ACSIM_U32 | 1u << ACSIM_F32
};

/* dst, src; n: height, width, width that counts, left, right; f: the value. A row that does not fill its blocks is filled up with left and
 * right values; one that does has its last `right` values replaced. */
static void pad(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t h = c->n[0], w = c->n[1], own = c->n[2], left = c->n[3], right = c->n[4], es = rows_es(r, 1);
  if (!rows_types(r, 1, PAD_TYPES)) return;
  bool full = w * es % ROW_BLOCK == 0;
  int64_t to = acsim_up(w * es, ROW_BLOCK) / es;
  if (h < 1 || w < 1 || left < 0 || right < 0 ||
      (full ? left || own + right > w || own < 1 : left + w + right > to)) {
    acsim_fault(
        r->b->s, r->b, "lib-shape", r->at,
        "Pad of rows of %lld elements (%lld of them count) by %lld and %lld: at most up to %lld elements, and a row "
        "that fills its blocks only on the right",
        (long long)w, (long long)own, (long long)left, (long long)right, (long long)to);
    return;
  }
  rows_use u[] = {{0, "dst", h * to, OUT}, {1, "src", h * w, IN | (full ? ACSIM_SOFT : 0)}};
  if (!rows_apart(r, 0, h * to, 1, h * w, "dst and src") || !rows_use_all(r, u, 2, full ? 0 : acsim_tmp_pad()))
    return;
  bool whole = c->type[1] != ACSIM_F16 && c->type[1] != ACSIM_F32;
  for (int64_t i = 0; i < h; i++)
    for (int64_t j = 0; j < to; j++) {
      int64_t from = j - left;
      uint8_t *d = rows_data(r, 0) + (i * to + j) * es;
      if (from >= 0 && from < (full ? own : w))
        memcpy(d, rows_data(r, 1) + (i * w + from) * es, (size_t)es);
      else if (whole)
        ac_store_int((ac_dtype)c->type[0], d, 0, (int64_t)c->f[0]);
      else
        ac_store((ac_dtype)c->type[0], d, 0, c->f[0]);
    }
}
/* dst, src; n: height, width, right */
static void unpad(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t h = c->n[0], w = c->n[1], right = c->n[2], es = rows_es(r, 1), to = w - right;
  if (!rows_types(r, 1, PAD_TYPES)) return;
  if (h < 1 || w < 1 || w * es % ROW_BLOCK || right < 1 || right * es >= ROW_BLOCK) {
    rows_bad_shape(r, "a row must fill whole blocks of 32 bytes, and 0 < rightPad < 32 bytes");
    return;
  }
  rows_use u[] = {{0, "dst", h * to, OUT}, {1, "src", h * w, IN | ACSIM_SOFT}};
  if (!rows_use_all(r, u, 2, 0)) return;
  for (int64_t i = 0; i < h; i++)
    memmove(rows_data(r, 0) + i * to * es, rows_data(r, 1) + i * w * es, (size_t)(to * es));
}

/* dst, src, mask; n: rows, row length, row length of the mask (bytes), mode 1..4; f: the probability of keeping */
static void dropout(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t m = c->n[0], k = c->n[1], mk = c->n[2], mode = c->n[3];
  bool bits = mode >= 3, dirty = mode == 1 || mode == 4;
  if (!rows_types(r, 1, ROWS_FLOATS)) return;
  int64_t need = bits ? (k + 7) / 8 : k;
  if (m < 1 || k < 1 || mode < 1 || mode > 4 || (dirty ? mk < need : mk != need) || (dirty && mk % ROW_BLOCK) ||
      (dirty && k * rows_es(r, 1) % ROW_BLOCK) || (bits && k % 8)) {
    acsim_fault(r->b->s, r->b, "lib-shape", r->at,
                "DropOut in mode %lld of %lld rows of %lld elements with masks of %lld bytes: a clean mask has %lld, "
                "one with "
                "padding is longer and fills whole blocks of 32 bytes",
                (long long)mode, (long long)m, (long long)k, (long long)mk, (long long)need);
    return;
  }
  rows_use u[] = {{0, "dst", m * k, OUT}, {1, "src", m * k, IN}, {2, "mask", m * mk, IN | (dirty ? ACSIM_SOFT : 0)}};
  if (!rows_use_all(r, u, 3, acsim_tmp_dropout())) return;
  float back = 1.0f / (float)c->f[0];
  const uint8_t *mask = rows_data(r, 2);
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < k; j++) {
      bool keep = bits ? mask[i * mk + j / 8] >> j % 8 & 1 : mask[i * mk + j] != 0;
      rows_put(r, 0, i * k + j, keep ? rows_get(r, 1, i * k + j) * back : 0.0f * back);
    }
}

/* ---- reductions ---- */

static float reduce_line(const rows_call *r, int what, const float *x, int64_t n) {
  float v = x[0];
  if (what == ACSIM_RED_SUM || what == ACSIM_RED_MEAN) {
    v = rows_sum(r, x, n);
    return what == ACSIM_RED_MEAN ? v * (1.0f / (float)n) : v;
  }
  for (int64_t i = 1; i < n; i++) switch (what) {
    case ACSIM_RED_PROD: v *= x[i]; break;
    case ACSIM_RED_MAX:
    case ACSIM_RED_ANY: v = x[i] > v || x[i] != x[i] ? x[i] : v; break;
    default: v = x[i] < v || x[i] != x[i] ? x[i] : v; break;
    }
  return v;
}
/* dst, src; n: first, last, what, the last axis goes. Rows of src are padded to whole blocks. */
static void reduce(const rows_call *r) {
  static const uint8_t kinds[] = {ACSIM_REDUCE_ADD,      ACSIM_REDUCE_ADD,   ACSIM_REDUCE_PICK, ACSIM_REDUCE_PICK,
                                  ACSIM_REDUCE_MULTIPLY, ACSIM_REDUCE_LOGIC, ACSIM_REDUCE_LOGIC};
  const acsim_rows *c = r->c;
  int64_t first = c->n[0], last = c->n[1], es = rows_es(r, 1);
  int what = (int)c->n[2];
  bool ar = c->n[3] != 0, logic = what == ACSIM_RED_ANY || what == ACSIM_RED_ALL,
       pick = what == ACSIM_RED_MAX || what == ACSIM_RED_MIN;
  uint32_t types = 1u << ACSIM_F32 | (logic ? 1u << ACSIM_U8 : 0) | (pick ? 1u << ACSIM_F16 : 0);
  if (!rows_types(r, 1, types)) return;
  if (first < 1 || last < 1) {
    rows_bad_shape(r, "both axes must be more than 0");
    return;
  }
  int64_t line = acsim_up(last * es, ROW_BLOCK) / es, out = ar ? first : last;
  rows_use u[] = {{0, "dst", out, OUT}, {1, "src", (first - 1) * line + last, IN | (line > last ? ACSIM_SOFT : 0)}};
  if (!rows_apart(r, 0, out, 1, first * line, "dst and src") ||
      !rows_use_all(r, u, 2, acsim_tmp_reduce(kinds[what], first, last, es, ar, c->reuse)))
    return;
  int64_t n = ar ? last : first;
  float *x = rows_scratch(r, 0, n);
  for (int64_t i = 0; i < out; i++) {
    for (int64_t j = 0; j < n; j++) {
      int64_t at = ar ? i * line + j : j * line + i;
      x[j] = c->type[1] == ACSIM_U8 ? (float)rows_data(r, 1)[at] : rows_get(r, 1, at);
    }
    float v = reduce_line(r, what, x, n);
    if (c->type[0] == ACSIM_U8)
      rows_data(r, 0)[i] = (uint8_t)v;
    else
      rows_put(r, 0, i, v);
  }
  if (c->reuse) memset(acsim_state(r->b, c->t[1], 0), 0, (size_t)(u[1].n * es));
}
/* dst, src0, src1; n: elements. The sum saturates (docs/zh). */
static void reduce_xor(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t n = c->n[0], sum = 0;
  if (!rows_types(r, 1, 1u << ACSIM_I16)) return;
  if (n < 1) {
    rows_bad_shape(r, "there must be an element");
    return;
  }
  rows_use u[] = {{0, "dst", 1, OUT}, {1, "src0", n, IN}, {2, "src1", n, IN}};
  if (!rows_apart(r, 0, 16, 1, n, "dst and src0") || !rows_apart(r, 0, 16, 2, n, "dst and src1") ||
      !rows_use_all(r, u, 3, acsim_tmp_reduce_xor(n, c->reuse)))
    return;
  const int16_t *a = (const int16_t *)(void *)rows_data(r, 1), *b = (const int16_t *)(void *)rows_data(r, 2);
  for (int64_t i = 0; i < n; i++) sum += (int16_t)(a[i] ^ b[i]);
  *(int16_t *)(void *)rows_data(r, 0) = (int16_t)(sum < -32768 ? -32768 : sum > 32767 ? 32767 : sum);
}

/* ---- layouts ---- */

/* dst = src with its axes in another order: the sizes of the axes of dst, outermost first, and their strides in src. */
static void permute(const rows_call *r, const int64_t *size, const int64_t *stride, int axes, int64_t need) {
  int64_t es = rows_es(r, 1), all = 1;
  for (int a = 0; a < axes; a++) all *= size[a];
  rows_use u[] = {{0, "dst", all, OUT}, {1, "src", all, IN}};
  if (all < 1 || !rows_apart(r, 0, all, 1, all, "dst and src") || !rows_use_all(r, u, 2, need)) return;
  int64_t index[8] = {0}, from = 0;
  uint8_t *d = rows_data(r, 0);
  const uint8_t *s = rows_data(r, 1);
  for (int64_t i = 0; i < all; i++) {
    memcpy(d + i * es, s + from * es, (size_t)es);
    for (int a = axes - 1; a >= 0; a--) {
      from += stride[a];
      if (++index[a] < size[a]) break;
      from -= stride[a] * size[a];
      index[a] = 0;
    }
  }
}

/* dst, src; n: B, N, S, D = H / N, what. NZ is [.., columns / 16, rows / 16, 16, 16]: blocks of columns, then rows. */
enum { NZ2ND_0213 = 1, NZ2NZ_0213, NZ2NZ_012_SPLIT, NZ2ND_012_SPLIT, NZ2ND_012, NZ2NZ_012, ND2ND_ONLY };

/* The 012 forms: H columns in NZ or ND on one side, N heads of D columns on the other, where NZ pads D to 16. */
static int64_t at_heads(const acsim_rows *c, bool nz, int64_t b, int64_t n, int64_t s, int64_t d) {
  int64_t N = c->n[1], S = c->n[2], D = c->n[3];
  if (!nz) return ((b * N + n) * S + s) * D + d;
  return (((b * N + n) * ((D + 15) / 16) + d / 16) * S + s) * 16 + d % 16;
}
static int64_t at_whole(const acsim_rows *c, bool nz, int64_t b, int64_t n, int64_t s, int64_t d) {
  int64_t H = c->n[1] * c->n[3], S = c->n[2], h = n * c->n[3] + d;
  if (!nz) return (b * S + s) * H + h;
  return ((b * (H / 16) + h / 16) * S + s) * 16 + h % 16;
}
static void transpose_012(const rows_call *r, int64_t es) {
  const acsim_rows *c = r->c;
  int64_t B = c->n[0], N = c->n[1], S = c->n[2], D = c->n[3];
  int kind = (int)c->n[4];
  bool split = kind == NZ2NZ_012_SPLIT || kind == NZ2ND_012_SPLIT, nz = kind == NZ2NZ_012_SPLIT || kind == NZ2NZ_012;
  int64_t whole = B * S * N * D, heads = nz || !split ? B * N * S * acsim_up(D, 16) : whole;
  if (S % 16 || N * D % 16) {
    rows_bad_shape(r, "S and H must be multiples of 16");
    return;
  }
  rows_use u[] = {{0, "dst", split ? heads : whole, OUT},
                  {1, "src", split ? whole : heads, IN | (split || D % 16 == 0 ? 0 : ACSIM_SOFT)}};
  if (!rows_apart(r, 0, u[0].n, 1, u[1].n, "dst and src") || !rows_use_all(r, u, 2, 512 * es)) return;
  uint8_t *to = rows_data(r, 0);
  const uint8_t *from = rows_data(r, 1);
  for (int64_t b = 0; b < B; b++)
    for (int64_t n = 0; n < N; n++)
      for (int64_t s = 0; s < S; s++)
        for (int64_t d = 0; d < D; d++) {
          int64_t i = split ? at_heads(c, nz, b, n, s, d) : at_whole(c, nz, b, n, s, d);
          int64_t k = split ? at_whole(c, true, b, n, s, d) : at_heads(c, true, b, n, s, d);
          memcpy(to + i * es, from + k * es, (size_t)es);
        }
}

static void transpose_lib(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t B = c->n[0], N = c->n[1], S = c->n[2], D = c->n[3];
  int kind = (int)c->n[4];
  if (kind < NZ2ND_0213 || kind > ND2ND_ONLY) {
    acsim_fault(r->b->s, r->b, "not-modelled", r->at, "Transpose: transposeType %d is not modelled", kind);
    return;
  }
  int64_t es = rows_es(r, 1), need = kind == ND2ND_ONLY ? 0 : 16 * 16 * es;
  if (es != 2 && es != 4) {
    rows_types(r, 1, 0);
    return;
  }
  if (B < 1 || N < 1 || S < 1 || D < 1) {
    rows_bad_shape(r, "every axis must have an element");
    return;
  }
  if (kind >= NZ2NZ_012_SPLIT && kind <= NZ2NZ_012) {
    transpose_012(r, es);
    return;
  }
  if (S % 16 || D % 16 || (kind == NZ2NZ_0213 && N % 16)) {
    rows_bad_shape(r, "the axes of the squares must be multiples of 16");
    return;
  }
  if (kind == ND2ND_ONLY) { /* [S, D] to [D, S] */
    int64_t size[] = {D, S}, stride[] = {1, D};
    permute(r, size, stride, 2, 0);
    return;
  }
  /* src [B, N, D / 16, S / 16, 16 of S, 16 of D] */
  int64_t column = 16 * S, all = D * S;
  if (kind == NZ2ND_0213) { /* dst [B, S, N, D] */
    int64_t size[] = {B, S, N, D / 16, 16}, stride[] = {N * all, 16, all, column, 1};
    permute(r, size, stride, 5, need);
  } else { /* dst [B, S, D / 16, N / 16, 16 of N, 16 of D] */
    int64_t size[] = {B, S, D / 16, N, 16}, stride[] = {N * all, 16, column, all, 1};
    permute(r, size, stride, 5, need);
  }
}

/* dst, src; n: N, C, D, H, W, what: 0 NCDHW to NDC1HWC0, 1 back, 2 NCDHW to FRACTAL_Z_3D, 3 back; whether the two shapes agree.
 * H * W is padded to whole blocks on the plain side. On the other, C (for FRACTAL_Z_3D also N) is padded to 16, with zeros. */
static void transdata(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t N = c->n[0], C = c->n[1], D = c->n[2], H = c->n[3], W = c->n[4], hw = H * W;
  int what = (int)c->n[5], back = what & 1, plain = back ? 0 : 1, blocked = 1 - plain;
  if (!rows_types(r, 1, 1u << ACSIM_I16 | 1u << ACSIM_U16 | 1u << ACSIM_F16 | 1u << ACSIM_BF16)) return;
  if (N < 1 || C < 1 || D < 1 || H < 1 || W < 1 || !c->n[6]) {
    rows_bad_shape(r, "the two layouts must say the same N, C, D, H and W, C and N in blocks of 16");
    return;
  }
  int64_t row = acsim_up(hw, 16), pc = acsim_up(C, 16), pn = what >= 2 ? acsim_up(N, 16) : N, size[2];
  size[plain] = N * C * D * row;
  size[blocked] = pn * pc * D * hw;
  rows_use u[] = {{0, "dst", size[0], OUT}, {1, "src", size[1], IN}};
  if (!rows_apart(r, 0, size[0], 1, size[1], "dst and src") ||
      !rows_use_all(r, u, 2, acsim_tmp_transdata(what, N, C, D, hw)))
    return;
  uint16_t *p = (uint16_t *)(void *)rows_data(r, plain), *q = (uint16_t *)(void *)rows_data(r, blocked);
  for (int64_t n = 0; n < pn; n++)
    for (int64_t k = 0; k < pc; k++)
      for (int64_t d = 0; d < D; d++)
        for (int64_t i = 0; i < hw; i++) {
          uint16_t *x = n < N && k < C ? p + ((n * C + k) * D + d) * row + i : NULL, *y;
          if (what < 2)
            y = q + (((n * D + d) * (pc / 16) + k / 16) * hw + i) * 16 + k % 16;
          else
            y = q + (((d * (pc / 16) + k / 16) * hw + i) * pn + n) * 16 + k % 16;
          if (!back) *y = x ? *x : 0;
          if (back && x) *x = *y;
        }
}

int64_t acsim_rows_tensor(const rows_call *r) {
  switch (r->c->op) {
  case ACSIM_ROWS_CumSum: cumsum(r); break;
  case ACSIM_ROWS_Pad: pad(r); break;
  case ACSIM_ROWS_UnPad: unpad(r); break;
  case ACSIM_ROWS_DropOut: dropout(r); break;
  case ACSIM_ROWS_ReduceLib: reduce(r); break;
  case ACSIM_ROWS_ReduceXorSum: reduce_xor(r); break;
  case ACSIM_ROWS_TransData: transdata(r); break;
  default: transpose_lib(r); break;
  }
  return 0;
}

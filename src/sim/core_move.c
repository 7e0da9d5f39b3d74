/* Instructions that move elements about: transposes, blocked copies, filling of global memory. */
#include "sim/core_vec.h"

#include <string.h>

enum { BLOCK = 32 };

static void written(acsim_block *b, const acsim_local *t, int64_t off, int64_t n) {
  memset(acsim_state(b, t, off), 0xff, (size_t)n);
}

/* Transposes move what is undefined, as copies inside UB do: a fault only when somebody uses it. What the memory holds and which of it is
 * defined are moved alike, so each goes through the same function. */
typedef uint8_t *(*plane_fn)(acsim_block *b, const acsim_local *t, int64_t off);
static const plane_fn PLANES[] = {acsim_data, acsim_state};

/* dst and another operand must not share memory. */
static void check_apart(acsim_block *b, const char *op, acsim_at at, const acsim_local *x, int64_t xn,
                        const acsim_local *y, int64_t yn) {
  if (x->mem != y->mem || x->addr + xn <= y->addr || y->addr + yn <= x->addr) return;
  int64_t x_end = x->addr + xn, y_end = y->addr + yn;
  acsim_fault(b->s, b, "overlap", at, "%s: bytes %u..%lld and %u..%lld of the memory overlap", op, x->addr,
              (long long)x_end, y->addr, (long long)y_end);
}

/* ---- transposes ---- */

/* 16 x 16 elements of 2 bytes (asc-devkit docs/zh, Transpose). */
void acsim_transpose16(int32_t type, const acsim_local *dst, const acsim_local *src, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("Transpose", AT);
  acsim_order_begin(b);
  if (type != ACSIM_I16 && type != ACSIM_U16 && type != ACSIM_F16) {
    acsim_fault(b->s, b, "no-such-dtype", AT, "Transpose takes 16 x 16 int16_t, uint16_t or half, not %s",
                ac_dtypes[type].cpp);
    return;
  }
  acsim_access x[] = {{"dst", dst, 0, 512, BLOCK, ACSIM_WRITE}, {"src", src, 0, 512, BLOCK, ACSIM_READ | ACSIM_SOFT}};
  if (!acsim_touch(b, AC_PIPE_V, "Transpose", AT, x, 2)) return;
  if (dst->addr != src->addr) check_apart(b, "Transpose", AT, dst, 512, src, 512);
  for (size_t p = 0; p < AC_COUNT(PLANES); p++) {
    uint16_t in[256], out[256];
    memcpy(in, PLANES[p](b, src, 0), sizeof in);
    for (int r = 0; r < 16; r++)
      for (int c = 0; c < 16; c++) out[c * 16 + r] = in[r * 16 + c];
    memcpy(PLANES[p](b, dst, 0), out, sizeof out);
  }
}

/* 16 rows of one block each to 16 blocks. 2 bytes: the transpose. 4 bytes: 16 x 8 to 8 x 16, a row of the result in two
 * neighbours of the list. 1 byte: one half of each block, 16 x 16. (asc-devkit docs/zh, TransDataTo5HD) */
typedef struct {
  const acsim_local *dst, *src;
  const acsim_5hd *c;
  int es;
} five;
static void transpose_blocks(const five *f, uint8_t in[16][BLOCK], uint8_t out[16][BLOCK]) {
  int columns = f->es == 4 ? 8 : 16, from = f->c->src_high && f->es == 1 ? 16 : 0,
      to = f->c->dst_high && f->es == 1 ? 16 : 0;
  for (int r = 0; r < 16; r++)
    for (int k = 0; k < columns; k++) {
      int row = f->es == 4 ? 2 * k + r / 8 : k, at = f->es == 4 ? r % 8 : to + r;
      memcpy(out[row] + at * f->es, in[r] + (from + k) * f->es, (size_t)f->es);
    }
}
/* No repeat may read what an earlier one wrote (docs/zh, general constraints). */
static void check_5hd_overlap(acsim_block *b, const acsim_local dst[16], const acsim_local src[16],
                              const acsim_5hd *c, bool half, acsim_at at) {
  int64_t bytes = half ? 16 : BLOCK, d0 = half && c->dst_high ? 16 : 0, s0 = half && c->src_high ? 16 : 0;
  if (c->repeat < 2) return;
  acsim_vec_track_begin();
  for (int64_t k = 0; k < c->repeat; k++) {
    for (int i = 0; i < 16; i++)
      if (acsim_track_read(src[i].addr + k * c->src_step * BLOCK + s0, bytes)) {
        acsim_fault(b->s, b, "overlap", at, "TransDataTo5HD: repeat %lld reads what an earlier one wrote",
                    (long long)k);
        return;
      }
    for (int i = 0; i < 16; i++) acsim_vec_note_write(dst[i].addr + k * c->dst_step * BLOCK + d0, bytes);
  }
}

void acsim_trans_5hd(const acsim_local dst[16], const acsim_local src[16], const acsim_5hd *c, const char *file,
                     int32_t line) {
  acsim_block *b = acsim_here_at("TransDataTo5HD", AT);
  acsim_order_begin(b);
  five f = {dst, src, c, acsim_type_bytes(c->type)};
  if (f.es > 4 || c->type == ACSIM_BF16 || c->type == ACSIM_BOOL) {
    acsim_fault(b->s, b, "no-such-dtype", AT, "TransDataTo5HD of %s does not exist on %s", ac_dtypes[c->type].cpp,
                b->s->chip->soc);
    return;
  }
  if (c->repeat > 255) {
    acsim_fault(b->s, b, "field-limit", AT, "TransDataTo5HD: repeatTimes is %d, the instruction takes 0..255",
                c->repeat);
    return;
  }
  bool half = f.es == 1;
  check_5hd_overlap(b, dst, src, c, half, AT);
  for (int k = 0; k < c->repeat; k++) {
    /* a single repeat starts at the lists' addresses only if its steps are 0 */
    int64_t n = c->repeat == 1 ? 1 : k, od = n * c->dst_step * BLOCK, os = n * c->src_step * BLOCK;
    acsim_access x[32];
    for (int i = 0; i < 16; i++) {
      x[i] = (acsim_access){
          "src", &src[i], os + (half && c->src_high ? 16 : 0), half ? 16 : BLOCK, 1, ACSIM_READ | ACSIM_SOFT};
      x[16 + i] =
          (acsim_access){"dst", &dst[i], od + (half && c->dst_high ? 16 : 0), half ? 16 : BLOCK, 1, ACSIM_WRITE};
      if (src[i].addr % BLOCK || dst[i].addr % BLOCK) {
        acsim_fault(b->s, b, "misaligned", AT, "TransDataTo5HD: address %d of %s is no multiple of 32 bytes", i,
                    src[i].addr % BLOCK ? "src" : "dst");
        return;
      }
    }
    if (!acsim_touch(b, AC_PIPE_V, "TransDataTo5HD", AT, x, 32)) return;
    for (size_t p = 0; p < AC_COUNT(PLANES); p++) {
      uint8_t in[16][BLOCK], out[16][BLOCK];
      for (int i = 0; i < 16; i++) {
        memcpy(in[i], PLANES[p](b, &src[i], os), BLOCK);
        memcpy(out[i], PLANES[p](b, &dst[i], od), BLOCK);
      }
      transpose_blocks(&f, in, out);
      for (int i = 0; i < 16; i++) memcpy(PLANES[p](b, &dst[i], od), out[i], BLOCK);
    }
  }
}

void acsim_address_register(int32_t reg, const uint64_t addresses[8]) {
  memcpy(acsim_here("set_va_reg_sb")->address[reg & 7], addresses, 64);
}
uint64_t acsim_address(int32_t reg, int32_t i) {
  return acsim_here("scatter_vnchwconv")->address[reg & 7][i & 7];
}

enum { ND2ND_B16 = 10, NCHW2NHWC = 11, NHWC2NCHW = 12 };
void acsim_transpose_shape(int32_t kind, int32_t type, const acsim_local *dst, const acsim_local *src,
                           const acsim_local *tmp, const int64_t nchw[4], const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("Transpose", AT);
  acsim_order_begin(b);
  if (kind == ND2ND_B16 && type != ACSIM_U16) {
    acsim_fault(b->s, b, "no-such-dtype", AT, "Transpose with TRANSPOSE_ND2ND_B16 takes uint16_t, not %s",
                ac_dtypes[type].cpp);
    return;
  }
  if (kind == ND2ND_B16) {
    acsim_transpose16(type, dst, src, file, line);
    return;
  }
  if (kind != NCHW2NHWC && kind != NHWC2NCHW) {
    acsim_fault(b->s, b, "not-modelled", AT, "Transpose: transposeType %d is not modelled", kind);
    return;
  }
  int es = acsim_type_bytes(type);
  int64_t n = nchw[0], c = nchw[1], hw = nchw[2] * nchw[3], bytes = n * c * hw * es;
  if (es > 4 || type == ACSIM_BF16 || type == ACSIM_BOOL) {
    acsim_fault(b->s, b, "no-such-dtype", AT, "Transpose of %s does not exist on %s", ac_dtypes[type].cpp,
                b->s->chip->soc);
    return;
  }
  if (!bytes) return;
  if (c > 4095 || hw > 4095 || hw * es % BLOCK) {
    acsim_fault(
        b->s, b, "field-limit", AT,
        "Transpose: cSize %lld (at most 4095), hSize * wSize %lld elements (at most 4095, a multiple of 32 bytes)",
        (long long)c, (long long)hw);
    return;
  }
  /* docs/zh, Transpose, table of temporary memory: planes of h0 x w0 elements, one block wide */
  int64_t planes = kind == NCHW2NHWC ? c + 2 : 2 * c + 1, temporary = planes * (es == 1 ? 32 : 16) * BLOCK;
  acsim_access x[] = {{"dst", dst, 0, bytes, BLOCK, ACSIM_WRITE},
                      {"src", src, 0, bytes, BLOCK, ACSIM_READ | ACSIM_SOFT},
                      {"the temporary memory", tmp, 0, temporary, BLOCK, ACSIM_WRITE}};
  if (!acsim_touch(b, AC_PIPE_V, "Transpose", AT, x, 3)) return;
  check_apart(b, "Transpose", AT, dst, bytes, src, bytes);
  check_apart(b, "Transpose", AT, dst, bytes, tmp, temporary);
  check_apart(b, "Transpose", AT, src, bytes, tmp, temporary);
  int64_t rows = kind == NCHW2NHWC ? c : hw, columns = kind == NCHW2NHWC ? hw : c;
  for (size_t p = 0; p < AC_COUNT(PLANES); p++) {
    uint8_t *d = PLANES[p](b, dst, 0), *s = PLANES[p](b, src, 0);
    for (int64_t k = 0; k < n; k++)
      for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
          memcpy(d + ((k * columns + j) * rows + i) * es, s + ((k * rows + i) * columns + j) * es, (size_t)es);
  }
  memset(acsim_state(b, tmp, 0), 0, (size_t)x[2].bytes);
}

/* ---- blocked copies ---- */

/* Where row i, first element of block j, of matrix m lies in the blocked tensor: bytes. */
static int64_t nz_at(const acsim_nz *c, int es, int64_t m, int64_t i, int64_t j) {
  return m * c->nz_matrix * es + (j * c->nz_c0 + i * c->nz_n) * BLOCK;
}

/* A field of Nd2NzParams or Nz2NdParamsFull beyond its range (docs/zh, DataCopy, table 4). */
static bool nz_field(acsim_block *b, acsim_at at, const char *name, int64_t v, int64_t lo, int64_t hi) {
  if (v >= lo && v <= hi) return true;
  acsim_fault(b->s, b, "field-limit", at, "DataCopy: %s is %lld, %lld to %lld are allowed", name, (long long)v,
              (long long)lo, (long long)hi);
  return false;
}

/* ND to NZ: columns in blocks of 32 bytes, the last one filled with zeros (asc-devkit docs/zh, DataCopy, Nd2NzParams). The source
 * is g (MTE2) or l. */
void acsim_copy_nd_to_nz(const acsim_local *dst, const acsim_global *g, const acsim_local *l, const acsim_nz *c,
                         const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("DataCopy", AT);
  acsim_order_begin(b);
  int es = acsim_type_bytes(c->type);
  if (es > 4) {
    acsim_fault(b->s, b, "no-such-dtype", AT, "DataCopy with Nd2NzParams of %s does not exist",
                ac_dtypes[c->type].cpp);
    return;
  }
  if (!nz_field(b, AT, "ndNum", c->nd_num, 0, 4095) || !nz_field(b, AT, "nValue", c->n_value, 0, 16384) ||
      !nz_field(b, AT, "srcDValue", c->nd_row, 1, 65535) || !nz_field(b, AT, "dstNzC0Stride", c->nz_c0, 1, 16384) ||
      !nz_field(b, AT, "dstNzNStride", c->nz_n, 1, 16384) ||
      (c->nd_num > 1 && !nz_field(b, AT, "dstNzMatrixStride", c->nz_matrix, 1, 65535)))
    return;
  int64_t per = BLOCK / es, blocks = (c->d_value + per - 1) / per;
  ac_pipe pipe = g ? AC_PIPE_MTE2 : AC_PIPE_MTE3;
  for (int64_t m = 0; m < c->nd_num; m++)
    for (int64_t i = 0; i < c->n_value; i++) {
      int64_t from = (m * c->nd_matrix + i * c->nd_row) * es, bytes = (int64_t)c->d_value * es;
      if (g && !acsim_gm_touch(b, pipe, "DataCopy", AT, g, from, bytes, GM_READ)) return;
      acsim_access s = {"src", l, from, bytes, 1, ACSIM_READ};
      if (l && !acsim_touch(b, pipe, "DataCopy", AT, &s, 1)) return;
      const uint8_t *p = g ? g->ptr + from : acsim_data(b, l, from);
      for (int64_t j = 0; j < blocks; j++) {
        acsim_access d = {"dst", dst, nz_at(c, es, m, i, j), BLOCK, BLOCK, ACSIM_WRITE};
        if (!acsim_touch(b, pipe, "DataCopy", AT, &d, 1)) return;
        int64_t n = bytes - j * BLOCK < BLOCK ? bytes - j * BLOCK : BLOCK;
        memset(acsim_data(b, dst, d.off), 0, BLOCK);
        memcpy(acsim_data(b, dst, d.off), p + j * BLOCK, (size_t)n);
        written(b, dst, d.off, BLOCK);
      }
    }
}

/* NZ to ND: columns in groups of 16 elements of any size, rows of a group one behind another, groups nz_c0 * 16 elements apart.
 * (docs/zh, DataCopy, Nz2NdParamsFull, both figures; H DataCopyUB2GMNZ2NDImplBase) */
enum { GROUP = 16 };
void acsim_copy_nz_to_nd(const acsim_global *dst, const acsim_local *src, const acsim_nz *c, const char *file,
                         int32_t line) {
  acsim_block *b = acsim_here_at("DataCopy", AT);
  acsim_order_begin(b);
  int64_t es = acsim_type_bytes(c->type);
  if (es != 2 && es != 4) {
    acsim_fault(b->s, b, "no-such-dtype", AT, "DataCopy with Nz2NdParamsFull of %s does not exist",
                ac_dtypes[c->type].cpp);
    return;
  }
  if (!nz_field(b, AT, "ndNum", c->nd_num, 0, 4095) || !nz_field(b, AT, "nValue", c->n_value, 1, 8192) ||
      !nz_field(b, AT, "dValue", c->d_value, 1, 8192) || !nz_field(b, AT, "srcNStride", c->nz_c0, 0, 4096) ||
      (c->nd_num > 1 && !nz_field(b, AT, "srcNdMatrixStride", c->nz_matrix / 256, 1, 512)) ||
      !nz_field(b, AT, "dstDStride", c->nd_row, 1, 65535) ||
      (c->nd_num > 1 && !nz_field(b, AT, "dstNdMatrixStride", c->nd_matrix, 1, 65535)))
    return;
  if (c->d_value % GROUP) {
    acsim_fault(b->s, b, "field-limit", AT, "DataCopy: dValue is %u, no multiple of 16", c->d_value);
    return;
  }
  for (int64_t m = 0; m < c->nd_num; m++)
    for (int64_t i = 0; i < c->n_value; i++)
      for (int64_t j = 0; j < c->d_value / GROUP; j++) {
        int64_t from = (m * c->nz_matrix + (j * c->nz_c0 + i) * GROUP) * es, bytes = GROUP * es;
        int64_t to = (m * c->nd_matrix + i * c->nd_row + j * GROUP) * es;
        acsim_access s = {"src", src, from, bytes, BLOCK, ACSIM_READ};
        if (!acsim_touch(b, AC_PIPE_MTE3, "DataCopy", AT, &s, 1) ||
            !acsim_gm_touch(b, AC_PIPE_MTE3, "DataCopy", AT, dst, to, bytes, GM_WRITE))
          return;
        memcpy(dst->ptr + to, acsim_data(b, src, from), (size_t)bytes);
      }
}

/* ---- filling global memory ---- */

/* The device's version duplicates the value in UB and stores it from there: V, then MTE3. What is filled may be written once more. */
void acsim_fill_gm(const acsim_global *dst, int32_t type, const void *value, int64_t n, const char *what,
                   const char *file, int32_t line) {
  acsim_block *b = acsim_here_at(what, AT);
  acsim_order_begin(b);
  int es = acsim_type_bytes(type);
  if (n <= 0) return;
  if (b->atomic != ACSIM_ATOMIC_NONE)
    acsim_fault(b->s, b, "atomic-fill", AT, "%s while atomic stores are on adds the value instead of setting it",
                what);
  if (!acsim_gm_touch(b, AC_PIPE_MTE3, what, AT, dst, 0, n * es, GM_FILL)) return;
  for (int64_t i = 0; i < n; i++) memcpy(dst->ptr + i * es, value, (size_t)es);
  /* CANN 8.1 highlevel_api, init_global_memory_v220_impl.h, ends with a barrier of MTE3; the others: assumed to do as it does */
  acsim_pipe_barrier(AC_PIPE_MTE3, file, line);
}

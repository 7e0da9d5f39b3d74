/* Instructions that move elements about: transposes, blocked copies, filling of global memory. */
#include "sim/core_hazard.h"

#include <string.h>

enum { BLOCK = 32 };

static void written(acsim_block *b, const acsim_local *t, int64_t off, int64_t n) {
  memset(acsim_state(b, t, off), 0xff, (size_t)n);
}

/* ---- transposes ---- */

/* 16 x 16 elements of 2 bytes (asc-devkit docs/zh, Transpose). */
void acsim_transpose16(int32_t type, const acsim_local *dst, const acsim_local *src, const char *file, int32_t line) {
  acsim_block *b = acsim_here("Transpose");
  acsim_order_begin(b);
  if (acsim_type_bytes(type) != 2) {
    acsim_fault(b->s, b, "no-such-dtype", AT, "Transpose takes 16 x 16 elements of 2 bytes; %s has %d",
                ac_dtypes[type].cpp, acsim_type_bytes(type));
    return;
  }
  acsim_access x[] = {{"dst", dst, 0, 512, BLOCK, ACSIM_WRITE}, {"src", src, 0, 512, BLOCK, ACSIM_READ}};
  if (!acsim_touch(b, AC_PIPE_V, "Transpose", AT, x, 2)) return;
  uint16_t in[256], out[256];
  memcpy(in, acsim_data(b, src, 0), sizeof in);
  for (int r = 0; r < 16; r++)
    for (int c = 0; c < 16; c++) out[c * 16 + r] = in[r * 16 + c];
  memcpy(acsim_data(b, dst, 0), out, sizeof out);
  written(b, dst, 0, 512);
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
void acsim_trans_5hd(const acsim_local dst[16], const acsim_local src[16], const acsim_5hd *c, const char *file,
                     int32_t line) {
  acsim_block *b = acsim_here("TransDataTo5HD");
  acsim_order_begin(b);
  five f = {dst, src, c, acsim_type_bytes(c->type)};
  if (f.es > 4) {
    acsim_fault(b->s, b, "no-such-dtype", AT, "TransDataTo5HD takes elements of 1, 2 or 4 bytes; %s has %d",
                ac_dtypes[c->type].cpp, f.es);
    return;
  }
  bool half = f.es == 1;
  for (int k = 0; k < c->repeat; k++) {
    /* a single repeat starts at the lists' addresses only if its steps are 0 */
    int64_t n = c->repeat == 1 ? 1 : k, od = n * c->dst_step * BLOCK, os = n * c->src_step * BLOCK;
    uint8_t in[16][BLOCK], out[16][BLOCK];
    acsim_access x[32];
    for (int i = 0; i < 16; i++) {
      x[i] = (acsim_access){"src", &src[i], os + (half && c->src_high ? 16 : 0), half ? 16 : BLOCK, 1, ACSIM_READ};
      x[16 + i] =
          (acsim_access){"dst", &dst[i], od + (half && c->dst_high ? 16 : 0), half ? 16 : BLOCK, 1, ACSIM_WRITE};
      if (src[i].addr % BLOCK || dst[i].addr % BLOCK) x[i].align = x[16 + i].align = BLOCK; /* reported by touch */
    }
    if (!acsim_touch(b, AC_PIPE_V, "TransDataTo5HD", AT, x, 32)) return;
    for (int i = 0; i < 16; i++) {
      memcpy(in[i], acsim_data(b, &src[i], os), BLOCK);
      memcpy(out[i], acsim_data(b, &dst[i], od), BLOCK);
    }
    transpose_blocks(&f, in, out);
    for (int i = 0; i < 16; i++) {
      memcpy(acsim_data(b, &dst[i], od), out[i], BLOCK);
      written(b, &dst[i], x[16 + i].off, x[16 + i].bytes);
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
  acsim_block *b = acsim_here("Transpose");
  acsim_order_begin(b);
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
  /* each plane is padded to whole 16 x 16 squares in the temporary memory (docs: h * w a multiple of 16 elements) */
  acsim_access x[] = {{"dst", dst, 0, bytes, BLOCK, ACSIM_WRITE},
                      {"src", src, 0, bytes, BLOCK, ACSIM_READ},
                      {"the temporary memory", tmp, 0, 2 * 16 * 16 * es, BLOCK, ACSIM_WRITE}};
  if (!acsim_touch(b, AC_PIPE_V, "Transpose", AT, x, 3)) return;
  uint8_t *d = acsim_data(b, dst, 0), *s = acsim_data(b, src, 0);
  int64_t rows = kind == NCHW2NHWC ? c : hw, columns = kind == NCHW2NHWC ? hw : c;
  for (int64_t k = 0; k < n; k++)
    for (int64_t i = 0; i < rows; i++)
      for (int64_t j = 0; j < columns; j++)
        memcpy(d + ((k * columns + j) * rows + i) * es, s + ((k * rows + i) * columns + j) * es, (size_t)es);
  written(b, dst, 0, bytes);
  memset(acsim_state(b, tmp, 0), 0, (size_t)x[2].bytes);
}

/* ---- blocked copies ---- */

/* Where row i, first element of block j, of matrix m lies in the blocked tensor: bytes. */
static int64_t nz_at(const acsim_nz *c, int es, int64_t m, int64_t i, int64_t j) {
  return m * c->nz_matrix * es + (j * c->nz_c0 + i * c->nz_n) * BLOCK;
}

/* ND to NZ: columns in blocks of 32 bytes, the last one filled with zeros (asc-devkit docs/zh, DataCopy, Nd2NzParams). The source
 * is g (MTE2) or l. */
void acsim_copy_nd_to_nz(const acsim_local *dst, const acsim_global *g, const acsim_local *l, const acsim_nz *c,
                         const char *file, int32_t line) {
  acsim_block *b = acsim_here("DataCopy");
  acsim_order_begin(b);
  int es = acsim_type_bytes(c->type);
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

void acsim_copy_nz_to_nd(const acsim_global *dst, const acsim_local *src, const acsim_nz *c, const char *file,
                         int32_t line) {
  acsim_block *b = acsim_here("DataCopy");
  acsim_order_begin(b);
  int es = acsim_type_bytes(c->type);
  int64_t per = BLOCK / es, blocks = (c->d_value + per - 1) / per;
  for (int64_t m = 0; m < c->nd_num; m++)
    for (int64_t i = 0; i < c->n_value; i++)
      for (int64_t j = 0; j < blocks; j++) {
        int64_t n = c->d_value - j * per < per ? c->d_value - j * per : per;
        int64_t to = (m * c->nd_matrix + i * c->nd_row + j * per) * es;
        acsim_access s = {"src", src, nz_at(c, es, m, i, j), n * es, 1, ACSIM_READ};
        if (!acsim_touch(b, AC_PIPE_MTE3, "DataCopy", AT, &s, 1) ||
            !acsim_gm_touch(b, AC_PIPE_MTE3, "DataCopy", AT, dst, to, n * es, GM_WRITE))
          return;
        memcpy(dst->ptr + to, acsim_data(b, src, s.off), (size_t)(n * es));
      }
}

/* ---- filling global memory ---- */

/* The device's version duplicates the value in UB and stores it from there: V, then MTE3. What is filled may be written once more. */
void acsim_fill_gm(const acsim_global *dst, int32_t type, const void *value, int64_t n, const char *what,
                   const char *file, int32_t line) {
  acsim_block *b = acsim_here(what);
  acsim_order_begin(b);
  int es = acsim_type_bytes(type);
  if (n <= 0) return;
  if (b->atomic != ACSIM_ATOMIC_NONE)
    acsim_fault(b->s, b, "atomic-fill", AT, "%s while atomic stores are on adds the value instead of setting it",
                what);
  if (!acsim_gm_touch(b, AC_PIPE_MTE3, what, AT, dst, 0, n * es, GM_FILL)) return;
  for (int64_t i = 0; i < n; i++) memcpy(dst->ptr + i * es, value, (size_t)es);
}

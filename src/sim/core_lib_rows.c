/* The high-level library: functions over rows. Sum, Mean, BroadCast, selection by bytes, softmax and its gradient. */
#include "sim/core_lib.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 32, REPEAT = 256 };

static int64_t up(int64_t n, int64_t to) {
  return (n + to - 1) / to * to;
}
static bool is_float(int type) {
  return type == ACSIM_F32 || type == ACSIM_F16;
}
static bool no_type(acsim_block *b, const char *name, int type, acsim_at at) {
  acsim_fault(b->s, b, "no-such-dtype", at, "%s of %s does not exist on %s", name, ac_dtypes[type].cpp,
              b->s->chip->soc);
  return false;
}
/* Scratch memory of the host, used again by the next row: 0 and 1 are apart. */
void *acsim_lib_scratch(acsim_block *b, int which, int64_t bytes) {
  if (b->scratch_bytes[which] < bytes) {
    b->scratch_bytes[which] = 2 * bytes;
    b->scratch[which] = ac_alloc_n(b->arena, (size_t)bytes, 2);
  }
  return b->scratch[which];
}
static void marked(acsim_block *b, const acsim_local *t, int64_t off, int64_t n) {
  if (n > 0) memset(acsim_state(b, t, off), 0xff, (size_t)n);
}

/* ---- Sum and Mean ---- */

/* Tree inside a repeat, then a tree over the repeats' results, in the type `acc`. */
double acsim_lib_tree(acsim_block *b, int acc, const uint8_t *row, int64_t n) {
  int es = acsim_type_bytes(acc), lanes = REPEAT / es;
  uint8_t *part = acsim_lib_scratch(b, 0, (n / lanes + 2) * 4);
  int64_t count = n;
  const uint8_t *from = row;
  do {
    int64_t out = 0;
    for (int64_t k = 0; k < count; k += lanes, out++) {
      int few = count - k < lanes ? (int)(count - k) : lanes;
      uint64_t m[2] = {few >= 64 ? ~0ull : ~0ull >> (64 - few), few >= 128 ? ~0ull
                                                                : few > 64 ? ~0ull >> (128 - few)
                                                                           : 0};
      uint8_t sum[4];
      acsim_math_tree_sum(acc, sum, from + k * es, m, few, acsim_saturates(b));
      memcpy(part + out * es, sum, (size_t)es);
    }
    from = part;
    count = out;
  } while (count > 1);
  return ac_load((ac_dtype)acc, part, 0);
}

/* asc-devkit impl/adv_api/tiling/reduce/{sum,mean}_tiling.cpp */
static int64_t sum_bytes(bool mean, int type, int acc, int64_t n) {
  int64_t es = acsim_type_bytes(type), lanes = REPEAT / es, repeats = (n + lanes - 1) / lanes;
  if (!mean) return up(repeats, BLOCK / es) * es;
  if (type == acc) return up(repeats, BLOCK);
  repeats = (n + 63) / 64;
  return up(repeats, BLOCK) + up(n * es, BLOCK) / es * 4;
}

void acsim_lib_sum(int32_t mean, int32_t type, int32_t acc, const acsim_local *dst, const acsim_local *src,
                   const acsim_local *tmp, int64_t outer, int64_t inner, int64_t n, const char *file, int32_t line) {
  const char *name = mean ? "Mean" : "Sum";
  acsim_block *b = acsim_here_at(name, AT);
  acsim_order_begin(b);
  int es = acsim_type_bytes(type);
  if (!is_float(type) || !is_float(acc)) {
    no_type(b, name, type, AT);
    return;
  }
  if (n < 1 || n > inner || inner * es % BLOCK) {
    acsim_fault(
        b->s, b, "lib-shape", AT,
        "%s: n is %lld and inner %lld elements of %d bytes: 1 <= n <= inner, and a row must fill whole blocks "
        "of 32 bytes",
        name, (long long)n, (long long)inner, es);
    return;
  }
  acsim_lib_tmp(b, name, AT, tmp, sum_bytes(mean, type, acc, n));
  for (int64_t r = 0; r < outer; r++) {
    acsim_access x[] = {{"dst", dst, r * es, es, es, ACSIM_WRITE},
                        {"src", src, r * inner * es, n * es, BLOCK, ACSIM_READ}};
    if (!acsim_touch(b, AC_PIPE_V, name, AT, x, 2)) return;
    const uint8_t *row = acsim_data(b, src, r * inner * es);
    if (acc != type) {
      uint8_t *wide = acsim_lib_scratch(b, 1, n * 4);
      acsim_math_cast(acc, type, AC_RN_NONE, wide, row, n, acsim_saturates(b));
      row = wide;
    }
    uint8_t v[4];
    ac_store((ac_dtype)acc, v, 0, acsim_lib_tree(b, acc, row, n));
    if (mean) acsim_math_scalar(ACSIM_OP_Muls, acc, v, v, (double)(1.0f / (float)n), 0, 1, acsim_saturates(b));
    ac_store((ac_dtype)type, acsim_data(b, dst, 0), r, ac_load((ac_dtype)acc, v, 0));
    acsim_saturate(b, type, acsim_data(b, dst, r * es), 1);
    acsim_perturb(b, name, type, acsim_data(b, dst, r * es), 1);
    marked(b, dst, r * es, es);
  }
}

/* ---- BroadCast ---- */

/* asc-devkit impl/adv_api/tiling/pad/broadcast_tiling.cpp, arch 2201 */
static int64_t broadcast_bytes(int es, int axis, int64_t src_n, int64_t dst_n, int64_t columns) {
  int64_t cast = 0, per = BLOCK / es;
  if (es == 1) {
    cast = (up(src_n, 16) + up(dst_n, 16)) * 2;
    es = 2;
    per = 16;
  }
  if (src_n == dst_n || src_n == 1) return cast ? cast + BLOCK : 0;
  if (axis == 0) return BLOCK + cast;
  int64_t least = per * per * es;
  if (columns % per) least += per * up(columns, per) * es;
  return least + cast;
}

void acsim_lib_broadcast(int32_t type, int32_t dim, int32_t axis, const acsim_local *dst, const acsim_local *src,
                         const acsim_local *tmp, const uint32_t *dst_shape, const uint32_t *src_shape,
                         const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("BroadCast", AT);
  acsim_order_begin(b);
  int es = acsim_type_bytes(type);
  if (type != ACSIM_F32 && type != ACSIM_F16 && type != ACSIM_I8 && type != ACSIM_U8) {
    no_type(b, "BroadCast", type, AT);
    return;
  }
  if (dim < 1 || dim > 2) {
    acsim_fault(b->s, b, "lib-shape", AT, "BroadCast: %d dimensions; 1 and 2 exist", dim);
    return;
  }
  int64_t ds[2] = {1, 1}, ss[2] = {1, 1};
  for (int i = 0; i < dim; i++) ds[2 - dim + i] = dst_shape[i], ss[2 - dim + i] = src_shape[i];
  for (int i = 0; i < 2; i++)
    if (ss[i] != ds[i] && ss[i] != 1) {
      acsim_fault(b->s, b, "lib-shape", AT, "BroadCast from (%lld, %lld) to (%lld, %lld)", (long long)ss[0],
                  (long long)ss[1], (long long)ds[0], (long long)ds[1]);
      return;
    }
  int64_t src_n = ss[0] * ss[1], dst_n = ds[0] * ds[1];
  if (src_n != 1 && src_n != dst_n && ss[0] == 1 && ds[1] * es % BLOCK) {
    acsim_fault(b->s, b, "lib-shape", AT,
                "BroadCast along the first axis: a row of %lld elements of %d bytes does not fill whole blocks of 32",
                (long long)ds[1], es);
    return;
  }
  acsim_access x[] = {{"dst", dst, 0, dst_n * es, BLOCK, ACSIM_WRITE},
                      {"src", src, 0, src_n * es, BLOCK, ACSIM_READ | ACSIM_SOFT}};
  if (!acsim_touch(b, AC_PIPE_V, "BroadCast", AT, x, 2)) return;
  acsim_lib_tmp(b, "BroadCast", AT, tmp, broadcast_bytes(es, axis, src_n, dst_n, ds[1]));
  bool apart = acsim_lib_apart(b, "BroadCast", AT, dst, dst_n * es, src, src_n * es, "dst and src");
  const uint8_t *s = acsim_lib_source(b, src, src_n * es, apart, 0);
  uint8_t *d = acsim_data(b, dst, 0);
  uint8_t *old = memcpy(acsim_lib_scratch(b, 5, src_n * es), acsim_state(b, src, 0), (size_t)(src_n * es));
  uint8_t *state = acsim_state(b, dst, 0);
  for (int64_t i = 0; i < ds[0]; i++)
    for (int64_t j = 0; j < ds[1]; j++) { /* undefined columns, as rows are padded with, stay so */
      int64_t to = (i * ds[1] + j) * es, from = ((ss[0] > 1 ? i : 0) * ss[1] + (ss[1] > 1 ? j : 0)) * es;
      memcpy(d + to, s + from, (size_t)es);
      memcpy(state + to, old + from, (size_t)es);
    }
}

/* ---- selection by bytes ---- */

void acsim_lib_select(int32_t type, int32_t mask_type, int32_t scalar_first, const acsim_local *dst,
                      const acsim_local *src, double scalar, const acsim_local *mask, const acsim_local *tmp,
                      int64_t rows, int64_t columns, int64_t mask_columns, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("SelectWithBytesMask", AT);
  acsim_order_begin(b);
  int es = acsim_type_bytes(type), ms = acsim_type_bytes(mask_type);
  if (!is_float(type)) {
    no_type(b, "SelectWithBytesMask", type, AT);
    return;
  }
  if (mask_columns < columns || columns * es % BLOCK || mask_columns * ms % BLOCK || mask_columns % 16) {
    acsim_fault(b->s, b, "lib-shape", AT,
                "SelectWithBytesMask: rows of %lld elements and masks of %lld: both must fill whole blocks of 32 "
                "bytes, and the mask's number must be a multiple of 16 and no less",
                (long long)columns, (long long)mask_columns);
    return;
  }
  /* asc-devkit impl/adv_api/tiling/select/selectwithbytesmask_tiling_impl.cpp */
  int64_t n = rows * columns, part = n > 4096 ? 4096 : n, need = up(part, 32) * 2 + 512;
  acsim_access x[] = {{"dst", dst, 0, n * es, BLOCK, ACSIM_WRITE},
                      {"src", src, 0, n * es, BLOCK, ACSIM_READ},
                      {"mask", mask, 0, rows * mask_columns * ms, BLOCK, ACSIM_READ | ACSIM_SOFT}};
  if (!acsim_touch(b, AC_PIPE_V, "SelectWithBytesMask", AT, x, 3)) return;
  acsim_lib_tmp(b, "SelectWithBytesMask", AT, tmp, need < 1024 ? 1024 : need);
  uint8_t *d = acsim_data(b, dst, 0), *s = acsim_data(b, src, 0), *m = acsim_data(b, mask, 0);
  for (int64_t i = 0; i < n; i++) {
    int64_t at = i / columns * mask_columns + i % columns;
    bool on = false;
    for (int k = 0; k < ms; k++) on = on || m[at * ms + k];
    double v = on == !scalar_first ? scalar : ac_load((ac_dtype)type, s, i);
    ac_store((ac_dtype)type, d, i, v);
  }
  marked(b, dst, 0, n * es);
}

/* ---- softmax ---- */

/* A row's sum or maximum fills one block. */
static void put_row(acsim_block *b, const acsim_local *t, int type, int64_t row, double v) {
  int64_t per = BLOCK / acsim_type_bytes(type);
  for (int64_t i = 0; i < per; i++) ac_store((ac_dtype)type, acsim_data(b, t, row * BLOCK), i, v);
  acsim_saturate(b, type, acsim_data(b, t, row * BLOCK), per);
  marked(b, t, row * BLOCK, BLOCK);
}

static void softmax_row(acsim_block *b, const acsim_softmax *c, int64_t row) {
  int es = acsim_type_bytes(c->type);
  int64_t off = row * c->k * es;
  const uint8_t *s = acsim_data(b, c->src, off);
  float top = -INFINITY, sum = 0;
  if (c->kind == ACSIM_SOFTMAX_SIMPLE) {
    top = (float)ac_load((ac_dtype)c->sum_type, acsim_data(b, c->max, row * BLOCK), 0);
    sum = (float)ac_load((ac_dtype)c->sum_type, acsim_data(b, c->sum, row * BLOCK), 0);
  } else {
    for (int64_t i = 0; i < c->valid_k; i++) {
      float x = (float)ac_load((ac_dtype)c->type, s, i);
      if (!(x <= top)) top = x;
    }
  }
  float *e = acsim_lib_scratch(b, 1, c->valid_k * 4);
  for (int64_t i = 0; i < c->valid_k; i++) e[i] = (float)exp((double)((float)ac_load((ac_dtype)c->type, s, i) - top));
  if (c->kind != ACSIM_SOFTMAX_SIMPLE) sum = (float)acsim_lib_tree(b, ACSIM_F32, (const uint8_t *)e, c->valid_k);
  uint8_t *d = acsim_data(b, c->dst, off);
  for (int64_t i = 0; i < c->valid_k; i++) ac_store((ac_dtype)c->type, d, i, (double)(e[i] / sum));
  acsim_saturate(b, c->type, d, c->valid_k);
  acsim_perturb(b, c->kind == ACSIM_SOFTMAX_SIMPLE ? "SimpleSoftMax" : "SoftMax", c->type, d, c->valid_k);
  marked(b, c->dst, off, c->valid_k * es);
  if (c->valid_k < c->k) /* the columns that only fill the row up hold nothing of use */
    memset(acsim_state(b, c->dst, off + c->valid_k * es), 0, (size_t)((c->k - c->valid_k) * es));
  if (c->kind == ACSIM_SOFTMAX && c->sum) put_row(b, c->sum, c->sum_type, row, sum);
  if (c->kind == ACSIM_SOFTMAX && c->max) put_row(b, c->max, c->sum_type, row, top);
}

static void gradient_row(acsim_block *b, const acsim_softmax *c, int64_t row) {
  int es = acsim_type_bytes(c->type);
  int64_t off = row * c->k * es;
  const uint8_t *y = acsim_data(b, c->src, off), *g = acsim_data(b, c->sum, off);
  float *p = acsim_lib_scratch(b, 1, c->valid_k * 4);
  for (int64_t i = 0; i < c->valid_k; i++)
    p[i] = (float)ac_load((ac_dtype)c->type, y, i) * (float)ac_load((ac_dtype)c->type, g, i);
  float sum = (float)acsim_lib_tree(b, ACSIM_F32, (const uint8_t *)p, c->valid_k);
  if (c->kind == ACSIM_SOFTMAX_GRAD_FRONT) {
    put_row(b, c->dst, c->type, row, sum);
    return;
  }
  uint8_t *d = acsim_data(b, c->dst, off);
  for (int64_t i = 0; i < c->valid_k; i++)
    ac_store((ac_dtype)c->type, d, i,
             (double)(((float)ac_load((ac_dtype)c->type, g, i) - sum) * (float)ac_load((ac_dtype)c->type, y, i)));
  acsim_saturate(b, c->type, d, c->valid_k);
  acsim_perturb(b, "SoftmaxGrad", c->type, d, c->valid_k);
  marked(b, c->dst, off, c->valid_k * es);
}

/* asc-devkit impl/adv_api/tiling/activation/softmax_tiling.cpp, the least of each */
static int64_t softmax_bytes(const acsim_softmax *c) {
  int64_t per = BLOCK / acsim_type_bytes(c->type);
  if (c->kind == ACSIM_SOFTMAX || c->kind == ACSIM_SOFTMAX_SIMPLE) return (per + c->k + 64) * 4;
  if (c->type == ACSIM_F16) return (2 * per + 3 * c->k + 64) * 4;
  return (per * (c->kind == ACSIM_SOFTMAX_GRAD ? 2 : 1) + c->k + 64) * 4;
}

void acsim_lib_softmax(const acsim_softmax *c, const char *file, int32_t line) {
  bool grad = c->kind == ACSIM_SOFTMAX_GRAD || c->kind == ACSIM_SOFTMAX_GRAD_FRONT;
  bool simple = c->kind == ACSIM_SOFTMAX_SIMPLE;
  const char *name = grad ? "SoftmaxGrad" : simple ? "SimpleSoftMax" : "SoftMax";
  acsim_block *b = acsim_here_at(name, AT);
  acsim_order_begin(b);
  int es = acsim_type_bytes(c->type);
  if (!is_float(c->type) || !is_float(c->sum_type)) {
    no_type(b, name, c->type, AT);
    return;
  }
  if (c->k * es % BLOCK || c->valid_k > c->k || c->valid_m > c->m || c->valid_k < 1) {
    acsim_fault(b->s, b, "lib-shape", AT,
                "%s: %lld of %lld rows, %lld of %lld elements of %d bytes: a row must fill whole blocks of 32 bytes",
                name, (long long)c->valid_m, (long long)c->m, (long long)c->valid_k, (long long)c->k, es);
    return;
  }
  acsim_lib_tmp(b, name, AT, c->tmp, softmax_bytes(c));
  int64_t small = grad ? c->k * es : BLOCK;
  for (int64_t r = 0; r < c->valid_m; r++) {
    int64_t off = r * c->k * es, out = c->kind == ACSIM_SOFTMAX_GRAD_FRONT ? BLOCK : c->k * es;
    acsim_access x[] = {{"dst", c->dst, r * out, out, BLOCK, ACSIM_WRITE},
                        {"src", c->src, off, c->valid_k * es, BLOCK, ACSIM_READ},
                        {grad ? "grad" : "sum", c->sum, r * small, grad ? c->valid_k * es : BLOCK, BLOCK,
                         grad || simple ? ACSIM_READ : ACSIM_WRITE},
                        {"max", c->max, r * BLOCK, BLOCK, BLOCK, simple ? ACSIM_READ : ACSIM_WRITE}};
    if (!acsim_touch(b, AC_PIPE_V, name, AT, x, grad ? 3 : c->sum ? 4 : 2)) return;
    if (grad)
      gradient_row(b, c, r);
    else
      softmax_row(b, c, r);
  }
}

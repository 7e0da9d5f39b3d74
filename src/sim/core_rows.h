/* What the files of the library's functions over rows share. */
#ifndef AC_SIM_CORE_ROWS_H
#define AC_SIM_CORE_ROWS_H

#include "../../sim/include/acsim/kernel_abi_lib.h"
#include "../../sim/include/acsim/library_sizes.h"
#include "sim/core_lib.h"

#include <string.h>

enum { ROW_BLOCK = 32 };

typedef struct {
  acsim_block *b;
  const acsim_rows *c;
  const char *name;
  acsim_at at;
  int bound; /* row of ac_error_bounds; -1: its results are exact */
} rows_call;

static inline int rows_es(const rows_call *r, int k) {
  return acsim_type_bytes(r->c->type[k]);
}
static inline uint8_t *rows_data(const rows_call *r, int k) {
  return acsim_data(r->b, r->c->t[k], 0);
}
static inline float rows_get(const rows_call *r, int k, int64_t i) {
  return (float)ac_load((ac_dtype)r->c->type[k], rows_data(r, k), i);
}
static inline void rows_put(const rows_call *r, int k, int64_t i, float v) {
  int type = r->c->type[k];
  ac_store((ac_dtype)type, rows_data(r, k), i, (double)v);
  acsim_saturate(r->b, type, rows_data(r, k) + i * acsim_type_bytes(type), 1);
  if (r->bound >= 0) acsim_perturb_row(r->b, r->bound, type, rows_data(r, k) + i * acsim_type_bytes(type), 1);
}
enum { IN = ACSIM_READ, OUT = ACSIM_WRITE };
/* Operand k: `n` elements from the start. how 0: absent. */
typedef struct {
  int k;
  const char *name;
  int64_t n;
  int how;
} rows_use;
/* Touches operands and checks the temporary memory; what is written counts as written then. */
bool rows_use_all(const rows_call *r, const rows_use *u, int count, int64_t tmp_bytes);
bool rows_types(const rows_call *r, int k, uint32_t set);
bool rows_bad_shape(const rows_call *r, const char *what);
bool rows_apart(const rows_call *r, int a, int64_t na, int b, int64_t nb, const char *what);
/* The sum of n floats: a tree inside a repeat, then over the repeats. */
float rows_sum(const rows_call *r, const float *x, int64_t n);
/* Room for n floats; `which` 0..3 are apart. */
float *rows_scratch(const rows_call *r, int which, int64_t n);

enum { ROWS_FLOATS = 1u << ACSIM_F32 | 1u << ACSIM_F16 };

int64_t acsim_rows_norm(const rows_call *r);
int64_t acsim_rows_flash(const rows_call *r);
int64_t acsim_rows_sort(const rows_call *r);
int64_t acsim_rows_quant(const rows_call *r);
int64_t acsim_rows_tensor(const rows_call *r);

#endif

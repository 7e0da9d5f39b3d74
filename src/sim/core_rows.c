/* The library's functions over rows: the entry, and the checks that all of them make. */
#include "sim/core_rows.h"

static const char *const names[ACSIM_ROWS] = {
#define X(name, passes, source) #name,
    ACSIM_ROW_FUNCTIONS(X)
#undef X
};

bool rows_types(const rows_call *r, int k, uint32_t set) {
  if (set >> r->c->type[k] & 1) return true;
  acsim_fault(r->b->s, r->b, "no-such-dtype", r->at, "%s of %s does not exist on %s", r->name,
              ac_dtypes[r->c->type[k]].cpp, r->b->s->chip->soc);
  return false;
}
bool rows_bad_shape(const rows_call *r, const char *what) {
  acsim_fault(r->b->s, r->b, "lib-shape", r->at, "%s: %s", r->name, what);
  return false;
}
bool rows_apart(const rows_call *r, int a, int64_t na, int b, int64_t nb, const char *what) {
  return acsim_lib_apart(r->b, r->name, r->at, r->c->t[a], na * rows_es(r, a), r->c->t[b], nb * rows_es(r, b), what);
}

bool rows_use_all(const rows_call *r, const rows_use *u, int count, int64_t tmp_bytes) {
  acsim_access x[10] = {{0}};
  int n = 0;
  for (int i = 0; i < count; i++)
    if (u[i].how && u[i].n > 0)
      x[n++] = (acsim_access){u[i].name, r->c->t[u[i].k], 0, u[i].n * rows_es(r, u[i].k), ROW_BLOCK, u[i].how};
  if (!acsim_touch(r->b, AC_PIPE_V, r->name, r->at, x, n)) {
    for (int i = 0; i < n; i++)
      if (x[i].how & ACSIM_WRITE) acsim_settle(r->b, x[i].t, x[i].off, x[i].bytes);
    return false;
  }
  for (int i = 0; i < n; i++)
    if (r->c->tmp && tmp_bytes > 0 &&
        !acsim_lib_apart(r->b, r->name, r->at, r->c->tmp, tmp_bytes, x[i].t, x[i].bytes,
                         "the temporary memory and an operand"))
      return false;
  bool ok = acsim_lib_tmp(r->b, r->name, r->at, r->c->tmp, tmp_bytes);
  for (int i = 0; i < n; i++)
    if (x[i].how & ACSIM_WRITE) memset(acsim_state(r->b, x[i].t, 0), 0xff, (size_t)x[i].bytes);
  return ok;
}

float rows_sum(const rows_call *r, const float *x, int64_t n) {
  return n > 0 ? (float)acsim_lib_tree(r->b, ACSIM_F32, (const uint8_t *)x, n) : 0;
}
float *rows_scratch(const rows_call *r, int which, int64_t n) {
  return acsim_lib_scratch(r->b, 2 + which, (n > 0 ? n : 1) * 4);
}

int64_t acsim_lib_rows(const acsim_rows *c, const char *file, int32_t line) {
  rows_call r = {acsim_here_at(names[c->op], AT), c, c->name ? c->name : names[c->op], AT,
                 acsim_loose_bound(names[c->op])};
  acsim_order_begin(r.b);
  r.b->mask_counter = false;
  r.b->mask[0] = r.b->mask[1] = ~0ull;
  switch (c->op) {
  case ACSIM_ROWS_SoftmaxFlash:
  case ACSIM_ROWS_SoftmaxFlashV2:
  case ACSIM_ROWS_SoftmaxFlashV3:
  case ACSIM_ROWS_LogSoftMax:
  case ACSIM_ROWS_AdjustSoftMaxRes: return acsim_rows_flash(&r);
  case ACSIM_ROWS_Sort:
  case ACSIM_ROWS_TopK: return acsim_rows_sort(&r);
  case ACSIM_ROWS_AscendQuant:
  case ACSIM_ROWS_AscendDequant:
  case ACSIM_ROWS_AscendAntiQuant: return acsim_rows_quant(&r);
  case ACSIM_ROWS_CumSum:
  case ACSIM_ROWS_Pad:
  case ACSIM_ROWS_UnPad:
  case ACSIM_ROWS_DropOut:
  case ACSIM_ROWS_ReduceLib:
  case ACSIM_ROWS_ReduceXorSum:
  case ACSIM_ROWS_TransposeLib:
  case ACSIM_ROWS_TransData: return acsim_rows_tensor(&r);
  default: return acsim_rows_norm(&r);
  }
}

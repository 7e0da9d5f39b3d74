/* The high-level library: element-wise functions. The device runs sequences of vector instructions whose last bits are not published;
 * here every element is the exact value of the function for the element's value, rounded once to its type. Checked are the types, the
 * overlaps that the documents forbid, and the temporary memory (library_table.h). */
#include "sim/core_lib.h"

#include <math.h>
#include <string.h>

typedef struct {
  const char *name;
  uint8_t half, single, reuse; /* least temporary memory, units of 256 bytes */
} row;
static const row rows[ACSIM_LIBS] = {
#define X(name, half, single, reuse) {#name, half, single, reuse},
    ACSIM_LIBRARY_UNARY(X) ACSIM_LIBRARY_OTHER(X)
#undef X
};

/* ---- temporary memory ---- */

/* What TPipe's buffers leave at the end of UB: the library's stack. */
static int64_t stack_bytes(acsim_block *b) {
  int64_t usable = b->s->chip->ub - (b->s->chip->npu_arch == 2201 ? 256 : 0);
  return usable > b->used[ACSIM_UB] ? usable - b->used[ACSIM_UB] : 0;
}

bool acsim_lib_tmp(acsim_block *b, const char *name, acsim_at at, const acsim_local *tmp, int64_t need) {
  if (need <= 0) return true;
  if (!tmp) {
    if (stack_bytes(b) >= need) return true;
    acsim_fault(b->s, b, "lib-temporary-memory", at,
                "%s needs %lld bytes of temporary memory, and TPipe's buffers leave %lld bytes of UB", name,
                (long long)need, (long long)stack_bytes(b));
    return false;
  }
  if (tmp->len < need) {
    acsim_fault(b->s, b, "lib-temporary-memory", at,
                "%s needs %lld bytes of temporary memory at least; the tensor given has %u", name, (long long)need,
                tmp->len);
    return false;
  }
  acsim_access x = {"the temporary memory", tmp, 0, tmp->len, 32, ACSIM_WRITE};
  if (!acsim_touch(b, AC_PIPE_V, name, at, &x, 1)) return false;
  memset(acsim_state(b, tmp, 0), 0, tmp->len); /* holds nothing of use afterwards */
  return true;
}

int32_t acsim_stack_buffer(acsim_local *t, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("PopStackBuffer", AT);
  int64_t n = stack_bytes(b);
  uint32_t from = b->used[ACSIM_UB];
  (void)file;
  (void)line;
  if (n < 32) return 0;
  acsim_slot s = {.base = from,
                  .size = (uint32_t)n / 32 * 32,
                  .mem = ACSIM_UB,
                  .pos = ACSIM_POS_VECCALC,
                  .state = SLOT_TBUF,
                  .gen = ++b->generation,
                  .at = AT,
                  .free_event = -1,
                  .queue_event = -1};
  ac_push(b->arena, &b->slots, s);
  *t = (acsim_local){s.base, s.size, s.base, s.size, (uint16_t)(b->slots.len - 1), s.gen, ACSIM_UB, s.pos};
  return 1;
}

bool acsim_lib_apart(acsim_block *b, const char *name, acsim_at at, const acsim_local *x, int64_t nx,
                     const acsim_local *y, int64_t ny, const char *what) {
  if (!x || !y || x->mem != y->mem || x->addr + nx <= y->addr || y->addr + ny <= x->addr) return true;
  acsim_fault(b->s, b, "overlap", at, "%s: %s overlap, which the function does not allow", name, what);
  return false;
}

/* ---- values ---- */

static double digamma(double x) {
  double r = 0;
  if (x <= 0 && x == floor(x)) return NAN;
  if (x < 0) return digamma(1 - x) - M_PI / tan(M_PI * x);
  while (x < 10) {
    r -= 1 / x;
    x += 1;
  }
  double q = 1 / (x * x);
  return r + log(x) - 0.5 / x -
         q * (1.0 / 12 - q * (1.0 / 120 - q * (1.0 / 252 - q * (1.0 / 240 - q * (1.0 / 132)))));
}
static double log_gamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}
static double sigmoid(double x) {
  return 1 / (1 + exp(-x));
}
static double power(double x, double y) {
  return pow(x, y);
}

static double value_of(int op, double x, double y) {
  switch (op) {
  case ACSIM_LIB_Sin: return sin(x);
  case ACSIM_LIB_Cos: return cos(x);
  case ACSIM_LIB_Tan: return tan(x);
  case ACSIM_LIB_Asin: return asin(x);
  case ACSIM_LIB_Acos: return acos(x);
  case ACSIM_LIB_Atan: return atan(x);
  case ACSIM_LIB_Sinh: return sinh(x);
  case ACSIM_LIB_Cosh: return cosh(x);
  case ACSIM_LIB_Asinh: return asinh(x);
  case ACSIM_LIB_Acosh: return acosh(x);
  case ACSIM_LIB_Atanh: return atanh(x);
  case ACSIM_LIB_Tanh: return tanh(x);
  case ACSIM_LIB_Erf: return erf(x);
  case ACSIM_LIB_Erfc: return erfc(x);
  case ACSIM_LIB_Log: return log(x);
  case ACSIM_LIB_Log2: return log2(x);
  case ACSIM_LIB_Log10: return log10(x);
  case ACSIM_LIB_Sigmoid: return sigmoid(x);
  case ACSIM_LIB_Gelu: return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
  case ACSIM_LIB_FasterGelu:
  case ACSIM_LIB_FasterGeluV2: return isinf(x) ? (x > 0 ? x : -0.0) : x * sigmoid(1.702 * x);
  case ACSIM_LIB_Silu: return isinf(x) ? (x > 0 ? x : -0.0) : x * sigmoid(x);
  case ACSIM_LIB_Swish: return isinf(x) && x < 0 && y > 0 ? -0.0 : x * sigmoid(y * x);
  case ACSIM_LIB_Floor: return floor(x);
  case ACSIM_LIB_Ceil: return ceil(x);
  case ACSIM_LIB_Trunc: return trunc(x);
  case ACSIM_LIB_Round: return rint(x);
  case ACSIM_LIB_Frac: return x - trunc(x);
  case ACSIM_LIB_Sign: return x > 0 ? 1 : x < 0 ? -1 : x;
  case ACSIM_LIB_Lgamma: return log_gamma(x);
  case ACSIM_LIB_Digamma: return digamma(x);
  case ACSIM_LIB_ClampMax: return x > y ? y : x;
  case ACSIM_LIB_ClampMin: return x < y ? y : x;
  case ACSIM_LIB_Fmod: return fmod(x, y);
  case ACSIM_LIB_ExpTaylor: return exp(x);
  case ACSIM_LIB_Power: return power(x, y);
  case ACSIM_LIB_GeGLU: return x * value_of(ACSIM_LIB_Gelu, y, 0);
  case ACSIM_LIB_ReGlu: return x * (y > 0 ? y : y != y ? y : 0);
  default: return NAN;
  }
}

/* Integer powers wrap; a negative exponent gives the rounded-down inverse: 0 but for a base of 1 or -1. */
static int64_t int_power(int64_t x, int64_t y) {
  uint64_t r = 1, b = (uint64_t)x;
  if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
  for (; y; y >>= 1, b *= b)
    if (y & 1) r *= b;
  return (int64_t)r;
}

static bool floating(int type) {
  return type == ACSIM_F32 || type == ACSIM_F16 || type == ACSIM_BF16;
}

static bool types_ok(acsim_block *b, const acsim_library *c, acsim_at at) {
  bool ok = c->type == ACSIM_F32 || c->type == ACSIM_F16;
  if (c->op == ACSIM_LIB_ReGlu) ok = ok || c->type == ACSIM_BF16;
  if (c->op == ACSIM_LIB_Xor) ok = c->type == ACSIM_I16 || c->type == ACSIM_U16;
  if (c->op == ACSIM_LIB_Power) ok = ok || c->type == ACSIM_I32;
  if (c->op == ACSIM_LIB_LibAxpy) ok = ok && (c->dst_type == c->type || c->dst_type == ACSIM_F32);
  if (!ok)
    acsim_fault(b->s, b, "no-such-dtype", at, "%s of %s does not exist on %s", rows[c->op].name,
                ac_dtypes[c->type].cpp, b->s->chip->soc);
  return ok;
}

/* asc-devkit impl/adv_api/tiling/math/power_tiling_impl.cpp, arch 2201 */
static int64_t power_bytes(const acsim_library *c) {
  bool tensors = c->b != NULL;
  if (!floating(c->type)) return 256 * (tensors ? 6 : 7);
  if (c->type == ACSIM_F32) return 256 * (tensors ? 4 : 5) + 256;
  return 256 * 14 / 2 + 256;
}
static int64_t tmp_bytes(const acsim_library *c) {
  const row *r = &rows[c->op];
  if (c->op == ACSIM_LIB_Power) return power_bytes(c);
  if (acsim_type_bytes(c->type) == 2) return 256 * r->half;
  return 256 * (c->reuse ? r->reuse : r->single);
}

/* The functions read their source into the temporary memory before they write: one that overlaps dst is read as it was. */
const uint8_t *acsim_lib_source(acsim_block *b, const acsim_local *t, int64_t bytes, bool apart, int which) {
  uint8_t *from = acsim_data(b, t, 0);
  return apart ? from : memcpy(acsim_lib_scratch(b, which, bytes), from, (size_t)bytes);
}

static void compute_all(acsim_block *b, const acsim_library *c, const uint8_t *x, const uint8_t *y) {
  uint8_t *d = acsim_data(b, c->dst, 0);
  for (int64_t i = 0; i < c->count; i++) {
    if (!floating(c->type)) {
      int64_t p = (int64_t)ac_load_int((ac_dtype)c->type, x, i);
      int64_t q = y ? (int64_t)ac_load_int((ac_dtype)c->type, y, i) : c->i;
      int64_t v = c->op == ACSIM_LIB_Xor ? p ^ q : c->scalar_first ? int_power(q, p) : int_power(p, q);
      ac_store_int((ac_dtype)c->type, d, i, v);
      continue;
    }
    double p = ac_load((ac_dtype)c->type, x, i), q = y ? ac_load((ac_dtype)c->type, y, i) : c->f;
    double v = c->op == ACSIM_LIB_SwiGLU    ? p * value_of(ACSIM_LIB_Swish, q, c->f)
               : c->op == ACSIM_LIB_LibAxpy ? ac_load((ac_dtype)c->dst_type, d, i) + p * c->f
               : c->scalar_first            ? value_of(c->op, q, p)
                                            : value_of(c->op, p, q);
    ac_store((ac_dtype)c->dst_type, d, i, v);
  }
  acsim_saturate(b, c->dst_type, d, c->count);
  acsim_perturb(b, rows[c->op].name, c->dst_type, d, c->count);
}

void acsim_lib(const acsim_library *c, const char *file, int32_t line) {
  const row *r = &rows[c->op];
  const char *name = c->op == ACSIM_LIB_LibAxpy ? "Axpy" : c->op == ACSIM_LIB_ExpTaylor ? "Exp" : r->name;
  acsim_block *b = acsim_here_at(name, AT);
  acsim_order_begin(b);
  int es = acsim_type_bytes(c->type), ds = acsim_type_bytes(c->dst_type);
  int64_t n = c->count * es, need = tmp_bytes(c);
  acsim_mask_reset(b, name, AT);
  if (c->count < 0) {
    acsim_fault(b->s, b, "bad-count", AT, "%s of %lld elements", name, (long long)c->count);
    return;
  }
  if (!c->count || !types_ok(b, c, AT)) return;
  int how = ACSIM_WRITE | (c->op == ACSIM_LIB_LibAxpy ? ACSIM_READ : 0);
  acsim_access x[] = {{"dst", c->dst, 0, c->count * ds, 32, how},
                      {"src", c->a, 0, n, 32, ACSIM_READ},
                      {"src1", c->b, 0, n, 32, ACSIM_READ}};
  if (!acsim_touch(b, AC_PIPE_V, name, AT, x, c->b ? 3 : 2)) {
    acsim_settle(b, c->dst, 0, c->count * ds);
    return;
  }
  /* the functions that are one instruction may work in place; the others may not (asc-devkit docs/zh, each function) */
  bool gated = c->op == ACSIM_LIB_SwiGLU || c->op == ACSIM_LIB_GeGLU || c->op == ACSIM_LIB_ReGlu;
  bool one = (need == 0 && !gated) || c->op == ACSIM_LIB_ClampMax || c->op == ACSIM_LIB_ClampMin;
  bool apart_a = one || acsim_lib_apart(b, name, AT, c->dst, c->count * ds, c->a, n, "dst and src");
  bool apart_b = one || !c->b || acsim_lib_apart(b, name, AT, c->dst, c->count * ds, c->b, n, "dst and src1");
  compute_all(b, c, acsim_lib_source(b, c->a, n, apart_a, 0), c->b ? acsim_lib_source(b, c->b, n, apart_b, 1) : NULL);
  memset(acsim_state(b, c->dst, 0), 0xff, (size_t)(c->count * ds));
  if (need && c->tmp) {
    if (!acsim_lib_apart(b, name, AT, c->tmp, need, c->dst, n, "the temporary memory and dst") ||
        !acsim_lib_apart(b, name, AT, c->tmp, need, c->a, n, "the temporary memory and src"))
      return;
  }
  acsim_lib_tmp(b, name, AT, c->tmp, need);
  if (c->reuse && es == 4 && !one) memset(acsim_state(b, c->a, 0), 0, (size_t)n); /* isReuseSource: it is lost */
}

void acsim_lib_progression(int32_t type, const acsim_local *dst, double f, int64_t i, double df, int64_t di,
                           int64_t count, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("ArithProgression", AT);
  acsim_order_begin(b);
  int es = acsim_type_bytes(type);
  acsim_access x = {"dst", dst, 0, count * es, 32, ACSIM_WRITE};
  if (type != ACSIM_F32 && type != ACSIM_F16 && type != ACSIM_I16 && type != ACSIM_I32) {
    acsim_fault(b->s, b, "no-such-dtype", AT, "ArithProgression of %s does not exist", ac_dtypes[type].cpp);
    return;
  }
  if (!acsim_touch(b, AC_PIPE_V, "ArithProgression", AT, &x, 1)) return;
  uint8_t *d = acsim_data(b, dst, 0);
  for (int64_t k = 0; k < count; k++) {
    if (floating(type))
      ac_store((ac_dtype)type, d, k, f + (double)k * df);
    else
      ac_store_int((ac_dtype)type, d, k, (int64_t)((uint64_t)i + (uint64_t)k * (uint64_t)di));
  }
  if (count > 0) memset(acsim_state(b, dst, 0), 0xff, (size_t)(count * es));
}

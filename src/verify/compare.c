/* Comparison of one output with its reference. Two questions an element: is its class right (NaN, infinity and its sign, finite),
 * and if finite, is it near enough. */
#include "verify/internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const struct {
  ac_dtype d;
  ac_error_class c;
  double rtol, floor;
  const char *why;
} table[] = {
#define T(d, c, rtol, floor, why) {d, c, rtol, floor, why},
#include "verify/tolerance.def"
#undef T
};

/* Smallest normal number: hardware may flush what is below. */
static double smallest_normal(ac_dtype d) {
  switch (d) {
  case AC_F16: return 0x1p-14;
  case AC_F64: return DBL_MIN;
  default: return FLT_MIN; /* bfloat16 has float32's exponents */
  }
}

/* Smallest step of the format at all. float16's subnormals are coarse (6e-8) and the vector unit keeps them. */
static double smallest_step(ac_dtype d) {
  switch (d) {
  case AC_F16: return 0x1p-24;
  case AC_BF16: return 0x1p-133;
  case AC_F64: return 0;
  default: return 0x1p-149;
  }
}

ac_tolerance ac_tolerance_of(ac_dtype d, ac_error_class c) {
  for (size_t i = 0; i < AC_COUNT(table); i++)
    if (table[i].d == d && table[i].c == c) {
      double tiniest = c == AC_ERR_EXACT ? 0 : d == AC_F16 ? smallest_step(d) : smallest_normal(d);
      return (ac_tolerance){table[i].rtol, table[i].floor, tiniest, table[i].why};
    }
  return (ac_tolerance){0, 0, 0, "integers and bool are exact"};
}

/* What a graph's operation does to accuracy. Composite rows never occur in a graph; what is not listed goes by its class. */
ac_error_class ac_op_error_class(ac_op op) {
  switch (op) {
  case AC_G_NEG:
  case AC_G_ABS:
  case AC_G_SIGN:
  case AC_G_FLOOR:
  case AC_G_CEIL:
  case AC_G_ROUND:
  case AC_G_TRUNC:
  case AC_G_LOGICAL_NOT:
  case AC_G_BITWISE_NOT:
  case AC_G_ISNAN:
  case AC_G_ISINF:
  case AC_G_ISFINITE:
  case AC_G_CAST:
  case AC_G_CLONE:
  case AC_G_NAN_TO_NUM:
  case AC_G_RELU:
  case AC_G_RELU6:
  case AC_G_HARDSHRINK:
  case AC_G_HARDTANH:
  case AC_G_THRESHOLD:
  case AC_G_MAXIMUM:
  case AC_G_MINIMUM:
  case AC_G_FMAX:
  case AC_G_FMIN:
  case AC_G_COPYSIGN:
  case AC_G_EQ:
  case AC_G_NE:
  case AC_G_LT:
  case AC_G_LE:
  case AC_G_GT:
  case AC_G_GE:
  case AC_G_LOGICAL_AND:
  case AC_G_LOGICAL_OR:
  case AC_G_LOGICAL_XOR:
  case AC_G_BITWISE_AND:
  case AC_G_BITWISE_OR:
  case AC_G_BITWISE_XOR:
  case AC_G_LSHIFT:
  case AC_G_RSHIFT:
  case AC_G_WHERE:
  case AC_G_AMAX:
  case AC_G_AMIN:
  case AC_G_ALL:
  case AC_G_ANY:
  case AC_G_ARGMAX:
  case AC_G_ARGMIN:
  case AC_G_COUNT_NONZERO:
  case AC_G_CUMMAX:
  case AC_G_CUMMIN: return AC_ERR_EXACT;
  case AC_G_ADD:
  case AC_G_SUB:
  case AC_G_MUL:
  case AC_G_DIV:
  case AC_G_SQUARE:
  case AC_G_RECIPROCAL:
  case AC_G_SQRT:
  case AC_G_FRAC:
  case AC_G_LEAKY_RELU:
  case AC_G_SOFTSHRINK:
  case AC_G_HARDSIGMOID:
  case AC_G_HARDSWISH:
  case AC_G_SOFTSIGN: return AC_ERR_ARITHMETIC;
  case AC_G_SCATTER:
  case AC_G_SCATTER_ADD:
  case AC_G_INDEX_ADD: return AC_ERR_FUNCTION; /* they may add */
  default: break;
  }
  switch (ac_op_info(op)->cls) {
  case C_LEAF:
  case C_VIEW:
  case C_JOIN:
  case C_NEW:
  case C_SORT:
  case C_INDEX: return AC_ERR_EXACT;
  default: return AC_ERR_FUNCTION;
  }
}

ac_error_class ac_graph_error_class(const ac_graph *g) {
  ac_error_class worst = AC_ERR_EXACT;
  for (size_t i = 0; i < g->nodes.len; i++) {
    ac_error_class c = ac_op_error_class(g->nodes.data[i]->op);
    if (c > worst) worst = c;
  }
  return worst;
}

static double rounded(ac_dtype d, double v) {
  uint64_t cell = 0;
  ac_store(d, &cell, 0, v);
  return ac_load(d, &cell, 0);
}

typedef struct {
  bool ok;
  double allowed; /* of finite elements */
} judged;

/* An infinity of the sign of v, for one that is near the end of the format's range. */
static bool may_be_inf(ac_dtype d, double ref, double rtol) {
  return isinf(rounded(d, ref + ref * rtol));
}

static judged judge(ac_dtype d, const ac_tolerance *t, double base, double ref, double got) {
  double e = rounded(d, ref);
  if (isnan(ref) || isnan(got)) return (judged){isnan(ref) && isnan(got), 0};
  double allowed = t->rtol * fabs(ref) + base;
  if (isinf(got)) return (judged){signbit(got) == signbit(ref) && (isinf(e) || may_be_inf(d, ref, t->rtol)), allowed};
  if (isinf(ref)) return (judged){false, 0};
  if (t->rtol == 0) return (judged){got == e, 0};
  return (judged){fabs(got - ref) <= allowed, allowed};
}

/* The second chance: evaluations that round every operation to its dtype, as an eager framework would. */
static bool excused(ac_dtype d, const ac_tolerance *t, double base, double ref, const ac_excuse *x, int64_t k,
                    double got) {
  double honest = x->honest[k];
  if (t->rtol == 0) return false;
  if (x->torn && x->torn[k]) return true;
  if (isnan(got)) return isnan(honest);
  if (isinf(got)) return !isnan(honest) && signbit(got) == signbit(honest) && isinf(rounded(d, honest));
  if (isnan(ref)) /* a root of what cancels to just below zero, say: rounding on the way decides whether it is one */
    return isfinite(honest) && fabs(got - honest) <= t->rtol * fabs(honest) + base;
  if (isinf(ref)) return isfinite(honest) && judge(d, t, base, honest, got).ok;
  return fabs(got - ref) <= t->rtol * fabs(ref) + base + 4 * x->slack[k];
}

static void record_bad(ac_comparison *c, int64_t i, double expected, double got, double allowed) {
  if (!c->bad++) {
    c->first_bad = i;
    c->expected = expected;
    c->got = got;
    c->allowed = allowed;
  }
  c->last_bad = i;
}

/* Largest error in units of what is allowed; kept in the comparison as its element. */
static void record_error(ac_comparison *c, int64_t i, double ref, double got, double tiny) {
  double abs_err = fabs(got - ref), rel = abs_err / fmax(fabs(ref), tiny);
  if (abs_err > c->max_abs) c->max_abs = abs_err;
  if (abs_err > 0 && (c->worst < 0 || rel > c->max_rel)) {
    c->max_rel = rel;
    c->worst = i;
  }
}

/* Where a half-size result lies beside its reference. Correct rounding has no side and is never far. */
static void note_narrowed(ac_comparison *c, ac_dtype d, double ref, double got) {
  int bits = d == AC_F16 ? 10 : 7, e;
  if ((d != AC_F16 && d != AC_BF16) || !isfinite(ref) || !isfinite(got) || fabs(ref) < smallest_normal(d)) return;
  frexp(ref, &e);
  double off = (got - ref) / ldexp(1, e - 1 - bits), size = fabs(off);
  if (size == 0 || size > 1.05 || rounded(d, ref) == ref) return;
  c->narrowed.changes += got != c->narrowed.last;
  c->narrowed.last = got;
  c->narrowed.n++;
  c->narrowed.below += off < 0;
  c->narrowed.toward_zero += (off < 0) == (ref > 0);
  c->narrowed.near += size < 0.25;
  c->narrowed.far += size > 0.75;
}

const char *ac_one_sided(const ac_comparison *c) {
  enum { ENOUGH = 200, DISTINCT = 100 };
  int64_t n = c->narrowed.n, most = n - n / 50;
  /* Truncation spreads errors evenly over a whole step; a few repeated values may lie on one side by chance. */
  if (n < ENOUGH || c->narrowed.changes < DISTINCT || c->narrowed.near < n / 20 || c->narrowed.far < n / 20)
    return NULL;
  if (c->narrowed.toward_zero >= most) return "toward zero";
  if (c->narrowed.toward_zero <= n - most) return "away from zero";
  return c->narrowed.below >= most ? "down" : c->narrowed.below <= n - most ? "up" : NULL;
}

static void compare_each(ac_dtype d, const ac_tolerance *t, double base, double tiny, const double *ref,
                         const ac_excuse *excuse, const void *got, int64_t start, int64_t n, ac_comparison *c) {
  for (int64_t k = 0; k < n; k++) {
    int64_t i = start + k;
    double g = ac_load(d, got, i);
    judged j = judge(d, t, base, ref[k], g);
    if (!j.ok && excuse) j.ok = excused(d, t, base, ref[k], excuse, k, g);
    if (!j.ok) record_bad(c, i, ref[k], g, j.allowed);
    if (t->rtol > 0) note_narrowed(c, d, ref[k], g);
    if (isfinite(ref[k]) && isfinite(g)) record_error(c, i, t->rtol == 0 ? rounded(d, ref[k]) : ref[k], g, tiny);
  }
}

/* The usual floats: finite, near enough, and none with a larger relative error than was seen before. Then only max_abs may change, and the
 * result is compare_each's. False: nothing is done. */
static bool all_near(const ac_tolerance *t, double base, double tiny, const double *ref, const float *got, int64_t n,
                     ac_comparison *c) {
  if (c->worst < 0 || t->rtol == 0) return false;
  int odd = 0;
  double most = c->max_abs, top = c->max_rel, rtol = t->rtol;
  for (int64_t k = 0; k < n; k++) {
    double size = fabs(ref[k]), err = fabs((double)got[k] - ref[k]), least = size > tiny ? size : tiny;
    odd |= !(err <= rtol * size + base) | !(size <= DBL_MAX) | (err / least > top);
    most = err > most ? err : most;
  }
  if (odd) return false;
  c->max_abs = most;
  return true;
}

void ac_compare_float(ac_dtype d, const ac_tolerance *t, double scale, const double *ref, const ac_excuse *excuse,
                      const void *got, int64_t start, int64_t n, ac_comparison *c) {
  enum { FEW = 256 };
  double base = t->floor * scale + t->tiniest;
  double tiny = fmax(smallest_normal(d), fmax(t->floor, 0x1p-24) * scale); /* errors beside a zero are not relative */
  for (int64_t k = 0; k < n; k += FEW) {
    int64_t m = n - k < FEW ? n - k : FEW;
    if (d == AC_F32 && all_near(t, base, tiny, ref + k, (const float *)got + start + k, m, c)) continue;
    ac_excuse e = {0};
    if (excuse) e = (ac_excuse){excuse->honest + k, excuse->slack + k, excuse->torn ? excuse->torn + k : NULL};
    compare_each(d, t, base, tiny, ref + k, excuse ? &e : NULL, got, start + k, m, c);
  }
  c->n += n;
}

void ac_compare_int(ac_dtype d, const int64_t *ref, const void *got, int64_t start, int64_t n, ac_comparison *c) {
  for (int64_t k = 0; k < n; k++) {
    int64_t i = start + k, g = ac_load_int(d, got, i);
    if (d == AC_BOOL && ((const uint8_t *)got)[i] > 1) g = ((const uint8_t *)got)[i]; /* only 0 and 1 are bools */
    if (g == ref[k]) continue;
    record_bad(c, i, (double)ref[k], (double)g, 0);
    double err = fabs((double)g - (double)ref[k]);
    if (err > c->max_abs) c->max_abs = err;
    if (c->worst < 0) c->worst = i;
  }
  c->n += n;
}

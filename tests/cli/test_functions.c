/* The functions of element-wise primitives in float32, float16 and bfloat16: against the C library in double, over wide ranges and
 * special values, nominal and perturbed. Bounds are those that src/craft/meanings.def states, in units of the last place; what the
 * instructions under a formula may miss by themselves (insts.def) is in them. */
#include "elements.h"

/* ---- references ---- */

static double one(double x) {
  return x;
}
static double sigmoid_(double x) {
  return 1 / (1 + exp(-x));
}
static double sign_(double x) {
  return isnan(x) ? x : (x > 0) - (x < 0);
}
static double square_(double x) {
  return x * x;
}
static double relu_(double x) {
  return isnan(x) || x > 0 ? x : 0;
}
static double neg_(double x) {
  return -x;
}
static double recip_(double x) {
  return 1 / x;
}
static double rsqrt_(double x) {
  return 1 / sqrt(x);
}

static double floor_mod(double x, double y) {
  double r = fmod(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

/* lo, hi: the range that counts. floor: differences below `ulp` units of this number do not count (0: none). */
typedef struct {
  const char *name;
  double (*f)(double);
  double (*g)(double, double);
  double lo, hi, ulp, floor;
} function;
static const function functions[] = {
    {"vexp", exp, NULL, -200, 200, 2, 0},
    {"vln", log, NULL, -1, 3e38, 2, 0},
    {"vsqrt", sqrt, NULL, -1, 3e38, 1, 0},
    {"vrsqrt", rsqrt_, NULL, 1e-30, 1e30, 4096, 0},
    {"vreciprocal", recip_, NULL, -1e30, 1e30, 4096, 0},
    {"vrelu", relu_, NULL, -3e38, 3e38, 0, 0},
    {"vneg", neg_, NULL, -3e38, 3e38, 0, 0},
    {"vabs", fabs, NULL, -3e38, 3e38, 0, 0},
    {"vexpm1", expm1, NULL, -200, 200, 12, 0},
    {"vlog1p", log1p, NULL, -2, 3e38, 5, 0},
    {"vtanh", tanh, NULL, -100, 100, 9, 0},
    {"verf", erf, NULL, -100, 100, 9, 0},
    {"vsigmoid", sigmoid_, NULL, -200, 200, 6, 0},
    {"vsin", sin, NULL, -1e4, 1e4, 3, 1e-3},
    {"vcos", cos, NULL, -1e4, 1e4, 3, 1e-3},
    {"vtan", tan, NULL, -1.5, 1.5, 10, 1e-3},
    {"vexp2", exp2, NULL, -300, 300, 5, 0},
    {"vlog2", log2, NULL, -1, 3e38, 5, 0},
    {"vlog10", log10, NULL, -1, 3e38, 5, 0},
    {"vasin", asin, NULL, -1.5, 1.5, 12, 0},
    {"vacos", acos, NULL, -1.5, 1.5, 12, 0},
    {"vatan", atan, NULL, -3e38, 3e38, 6, 0},
    {"vsinh", sinh, NULL, -120, 120, 24, 0},
    {"vcosh", cosh, NULL, -120, 120, 24, 0},
    {"vasinh", asinh, NULL, -3e38, 3e38, 12, 0},
    {"vacosh", acosh, NULL, -3, 3e38, 12, 0},
    {"vatanh", atanh, NULL, -1.5, 1.5, 12, 0},
    {"vfloor", floor, NULL, -3e38, 3e38, 0, 0},
    {"vceil", ceil, NULL, -3e38, 3e38, 0, 0},
    {"vround", round, NULL, -3e38, 3e38, 0, 0},
    {"vrint", rint, NULL, -3e38, 3e38, 0, 0},
    {"vtrunc", trunc, NULL, -3e38, 3e38, 0, 0},
    {"vsign", sign_, NULL, -3e38, 3e38, 0, 0},
    {"vsquare", square_, NULL, -1e18, 1e18, 0, 0},
    {"vcopy", one, NULL, -3e38, 3e38, 0, 0},
    {"vpow", NULL, pow, -40, 40, 0, 0}, /* the bound depends on the result */
    {"vfmod", NULL, fmod, -1e5, 1e5, 0, 0},
    {"vmod", NULL, floor_mod, -1e5, 1e5, 0, 0},
};

static double unit_of(ac_dtype d, double x) {
  int digits = d == AC_F32 ? 24 : d == AC_F16 ? 11 : 8, least = d == AC_F16 ? -24 : d == AC_F32 ? -149 : -133, e = 0;
  if (x == 0 || !isfinite(x)) return ldexp(1, least);
  frexp(x, &e);
  return ldexp(1, e - digits < least ? least : e - digits);
}
static double largest(ac_dtype d) {
  return d == AC_F32 ? 3.4028234663852886e38 : d == AC_F16 ? 65504 : 3.3895313892515355e38;
}

/* Specials first, then both signs and all sizes of numbers in the range. */
static double value_of(const function *f, int64_t i, uint64_t seed) {
  static const double special[] = {0,        -0.0,      1,       -1,     0.5,   -0.5,     1.5,       -1.5,  2.5, -2.5,
                                   3,        -3,        1e-40,   -1e-40, 1e-30, -1e-30,   88.5,      -88.5, 104, -104,
                                   16777216, 8388607.5, 1048576, 4,      -4,    INFINITY, -INFINITY, NAN};
  if (i < (int64_t)AC_COUNT(special)) return special[i];
  uint64_t z = ((uint64_t)i + seed * 7919) * 0x9e3779b97f4a7c15ull;
  z ^= z >> 31, z *= 0xbf58476d1ce4e5b9ull, z ^= z >> 29;
  double u = (double)(z >> 11) * 0x1p-53, most = fmax(fabs(f->lo), fabs(f->hi));
  if (i % 2) return f->lo + u * (f->hi - f->lo);
  double x = exp(log(1e-8) + u * (log(most) - log(1e-8))); /* every size counts as much */
  return z & 1 && f->lo < 0 ? -x : x;
}
static bool in_range(const function *f, double x) {
  return !isfinite(x) || (x >= f->lo && x <= f->hi);
}

typedef struct {
  double worst, at, at2, got, want;
} error;

static void compare(const function *f, ac_dtype d, double x, double y, double got, error *e) {
  double want = f->f ? f->f(x) : f->g(x, y), big = largest(d), off;
  bool arcs = !strcmp(f->name, "vsin") || !strcmp(f->name, "vcos") || !strcmp(f->name, "vtan");
  if (strstr(f->name, "mod") && y != 0 && isfinite(y) && fabs(x / y) >= 4194304) return;
  if (!in_range(f, x) || (arcs && !isfinite(x) && !isnan(x))) return;
  if (d != AC_F32 && (isinf(want) || isnan(want) || fabs(want) > big || isinf(x) || isnan(x) || isinf(y) || isnan(y)))
    return; /* half types saturate or not, as the host of the chip sets it */
  if (isnan(want) || isnan(got))
    off = isnan(want) && isnan(got) ? 0 : INFINITY;
  else if (fabs(want) > big)
    off = got * want > 0 && fabs(got) >= big * 0.999 ? 0 : INFINITY;
  else if (isinf(got))
    off = fabs(want) > big * 0.99999 ? 0 : INFINITY;
  else {
    double unit = unit_of(d, fmax(fmax(fabs(want), fabs(got)), f->floor)); /* the larger, at a power of two */
    if (d != AC_F16 && fabs(want) < 1.2e-38) unit = 1.2e-38;               /* subnormal numbers may be flushed */
    off = fabs(got - want) / unit;
    off = off > 0.5 ? off - 0.5 : 0; /* the result's own rounding */
  }
  if (!strcmp(f->name, "vpow") && isfinite(off) && want != 0 && isfinite(want))
    off /= d == AC_F32 ? 10 + 5 * fabs(log(fabs(want))) : 1;
  if (!(off > e->worst)) return;
  *e = (error){off, x, y, got, want};
}

static double run_function(const function *f, ac_dtype d, ac_perturb perturb, int64_t n, error *e) {
  element el = {.name = f->name, .d = d, .to = d};
  const ac_program *p = lowered(&b, "one.craft", el_program(b.a, &el, 0));
  args x = {0};
  ac_shape s = {.rank = 1, .dim = {n}};
  add_tensor(&x, "a", d, &s, false);
  add_tensor(&x, "b", d, &s, false);
  add_tensor(&x, "m", AC_F32, &s, false);
  add_tensor(&x, "y", d, &s, true);
  for (int64_t i = 0; i < n; i++) {
    ac_store(d, x.t[0].data, i, value_of(f, f->g ? i / 37 : i, 1));
    ac_store(d, x.t[1].data, i, value_of(f, f->g ? i % 37 : i, 2));
    ac_store(AC_F32, x.t[2].data, i, 1);
  }
  ac_sim_result r = {0};
  ac_sim_opts o = {.threads = 1, .in_process = true, .no_time = true, .perturb = perturb, .perturb_seed = 5};
  ac_diags diags;
  ac_diags_init(&diags, b.a);
  bool ok = ac_sim_run_program(b.a, p, p->chip, x.t, x.n, NULL, 0, &o, &r, &diags);
  if (!ok || r.faults.len) fail_msg("tl.%s does not run: %s", f->name, r.faults.len ? r.faults.data[0].message : "?");
  for (int64_t i = 0; i < n; i++)
    compare(f, d, ac_load(d, x.t[0].data, i), ac_load(d, x.t[1].data, i), ac_load(d, x.t[3].data, i), e);
  free_args(&x);
  return e->worst;
}

static void accuracy(void **s) {
  (void)s;
  static const ac_dtype some[] = {AC_F32, AC_F16, AC_BF16};
  static const ac_perturb ways[] = {AC_PERTURB_NONE, AC_PERTURB_UP, AC_PERTURB_DOWN, AC_PERTURB_MIXED};
  bool print = getenv("AC_PRINT_ULP") != NULL, bad = false;
  for (size_t i = 0; i < AC_COUNT(functions); i++)
    for (size_t d = 0; d < AC_COUNT(some); d++) {
      const function *f = &functions[i];
      double worst[2] = {0, 0};
      error e[2];
      memset(e, 0, sizeof e);
      for (size_t w = 0; w < AC_COUNT(ways); w++)
        worst[w > 0] = fmax(worst[w > 0], run_function(f, some[d], ways[w], 1003 * 3, &e[w > 0]));
      bool pow_ = !strcmp(f->name, "vpow");
      /* half types are rounded once more, of a result that is good to much less than their unit; what the chip computes in half itself has its row */
      double limit = pow_ ? 1 : some[d] == AC_F32 ? f->ulp : f->ulp > 1000 ? 8 : f->ulp > 0 ? 2.01 : 0;
      if (print)
        printf("%-12s %-9s nominal %.3g perturbed %.3g of %.3g (at %.9g, %.9g: %.9g, not %.9g)\n", f->name,
               ac_dtypes[some[d]].name, worst[0], worst[1], limit, e[1].at, e[1].at2, e[1].got, e[1].want);
      if (worst[0] <= limit && worst[1] <= limit) continue;
      fprintf(stderr, "tl.%s of %s: %.3g units off, perturbed %.3g, limit %.3g (at %.9g, %.9g: %.9g, not %.9g)\n",
              f->name, ac_dtypes[some[d]].name, worst[0], worst[1], limit, e[worst[0] <= limit].at,
              e[worst[0] <= limit].at2, e[worst[0] <= limit].got, e[worst[0] <= limit].want);
      bad = true;
    }
  assert_false(bad);
}

/* A view by tl.bitcast: the sign bit flipped by integers gives the negated float, and the exponent moved doubles it. */
static void bitcasts(void **s) {
  (void)s;
  const char *text = "@ascend_kernel\ndef k(x, y, n, tile):\n    a = tl.alloc_ub(tile, tl.float32)\n    c = "
                     "tl.alloc_ub(tile, tl.float32)\n"
                     "    bits = tl.bitcast(a, tl.int32)\n    for i in range(0, n, tile):\n        off = i + "
                     "tl.arange(0, min(tile, n - i))\n"
                     "        with tl.copyin():\n            tl.load(x + off, a)\n        with tl.compute():\n"
                     "            tl.vadd(bits, bits, 8388608)\n            tl.vxor(tl.bitcast(c, tl.int32), bits, "
                     "bits)\n            tl.vsub(c, c, a)\n"
                     "        with tl.copyout():\n            tl.store(y + off, c)\n\n\ndef host(x, y):\n    k[1](x, "
                     "y, x.numel(), 512)\n";
  const ac_program *p = lowered(&b, "bits.craft", text);
  args x = {0};
  ac_shape sh = {.rank = 1, .dim = {1003}};
  add_tensor(&x, "x", AC_F32, &sh, false);
  add_tensor(&x, "y", AC_F32, &sh, true);
  for (int64_t i = 0; i < 1003; i++)
    ac_store(AC_F32, x.t[0].data, i, ldexp((double)(i % 37) - 18.5, (int)(i % 60) - 30));
  ac_sim_result r = {0};
  ac_sim_opts o = {.threads = 1, .in_process = true, .no_time = true};
  assert_true(ac_sim_run_program(b.a, p, p->chip, x.t, x.n, NULL, 0, &o, &r, &b.d));
  assert_int_equal(r.faults.len, 0);
  for (int64_t i = 0; i < 1003; i++)
    assert_true(ac_load(AC_F32, x.t[1].data, i) == -2 * ac_load(AC_F32, x.t[0].data, i));
  free_args(&x);
}

/* Compiled and interpreted are the same bytes and the same time. */
static void both_ways(void **s) {
  (void)s;
  static const struct {
    const char *name;
    ac_dtype d, to;
    const char *mode;
  } t[] = {
      {"vpow", AC_BF16, AC_BF16, NULL},      {"vexp2", AC_F32, AC_F32, NULL},     {"vmul", AC_I64, AC_I64, NULL},
      {"vxor", AC_U8, AC_U8, NULL},          {"vcompare", AC_U32, AC_U32, "lt"},  {"vselect", AC_I8, AC_I8, NULL},
      {"cast", AC_F32, AC_U32, "round"},     {"iota", AC_I64, AC_I64, NULL},      {"mask_xor", AC_U8, AC_U8, NULL},
      {"vshr_scalar", AC_I64, AC_I64, NULL}, {"vfloordiv", AC_I32, AC_I32, NULL}, {"vmod", AC_F32, AC_F32, NULL}};
  for (size_t i = 0; i < (getenv("AC_DIRECT_FULL") ? AC_COUNT(t) : 4); i++) {
    element e = {.name = t[i].name, .d = t[i].d, .to = t[i].to, .mode = t[i].mode, .s = 5, .s2 = 3};
    const ac_program *p = lowered(&b, "one.craft", el_program(b.a, &e, i % 2 ? 600 : 0));
    ac_sim_lib *l = compiled(&b, p, NULL);
    args x = {0};
    ac_shape sh = {.rank = 1, .dim = {1003}};
    add_tensor(&x, "a", e.d, &sh, false);
    add_tensor(&x, "b", e.d, &sh, false);
    add_tensor(&x, "m", AC_F32, &sh, false);
    add_tensor(&x, "y", el_compare(e.name) || el_mask_logic(e.name) ? AC_U8 : e.to, &sh, true);
    for (int k = 0; k < 3; k++) fill_tensor(&x.t[k], AC_VALUES_SPECIAL, (uint64_t)k + 1);
    run_both(&b, e.name, p, l, &x, AC_ORDER_FORWARD, 1);
    free_args(&x);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(accuracy), cmocka_unit_test(bitcasts),
                                     cmocka_unit_test(both_ways)};
  return cmocka_run_group_tests(tests, setup, teardown);
}

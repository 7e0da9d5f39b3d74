/* The examples of data/examples/{activation,math,cast,mask} that are written by hand: their values, at sizes that fit nothing. */
#include "direct_support.h"

#include <math.h>

/* in[k]: element i of input k as a double, whole[k] as an int; n: the element's number. */
typedef struct {
  double in[4];
  int64_t whole[4], i;
} at;

static double mish(const at *x) {
  return x->in[0] * tanh(log1p(exp(x->in[0])));
}
static double hardswish(const at *x) {
  return x->in[0] * fmin(fmax(x->in[0] + 3, 0), 6) / 6;
}
static double celu(const at *x) {
  return x->in[0] > 0 ? x->in[0] : expm1(x->in[0]);
}
static double gamma_(const at *x) {
  return round(255 * pow(x->in[0] / 255, 2.2));
}
static double logaddexp(const at *x) {
  double m = fmax(x->in[0], x->in[1]);
  return m + log1p(exp(-fabs(x->in[0] - x->in[1])));
}
static double polar_x(const at *x) {
  return x->in[0] * cos(x->in[1]);
}
static double polar_y(const at *x) {
  return x->in[0] * sin(x->in[1]);
}
static double copysign_(const at *x) {
  return copysign(x->in[0], x->in[1]);
}
static double lcg(const at *x) {
  uint64_t v = (uint64_t)x->whole[0] * 6364136223846793005ull + 1442695040888963407ull;
  int64_t top = (int64_t)v >> 33;
  return (double)(top < 0 ? -top : top);
}
static double clock_(const at *x) {
  int64_t t = x->whole[0] % 86400, day = t < 0 ? t + 86400 : t;
  return (double)(day / 3600 * 100 + day / 60 % 60);
}
static double quantize(const at *x) {
  return fmin(fmax(rint((double)((float)x->in[0] / 0.05f)), -128), 127);
}
static double dequantize(const at *x) {
  return (x->in[0] - 128) * (double)0.1f;
}
static double first(const at *x) {
  return x->in[0];
}
static double numbers(const at *x) {
  return (double)x->i;
}
static double filled(const at *x) {
  return x->whole[1] ? 0 : x->in[0];
}
static double close_(const at *x) {
  return fabs(x->in[0] - x->in[1]) <= 1e-8 + 1e-5 * fabs(x->in[1]);
}
static double where(const at *x) {
  return x->whole[0] > 0 ? x->in[1] : x->in[2];
}

typedef double (*reference)(const at *);
/* rel, abs: what the result may be off */
static const struct {
  const char *path;
  int n_in, n_out;
  reference out[2];
  double rel, abs;
  struct {
    const char *name;
    double value;
    bool whole;
  } attrs[2];
} examples[] = {
    {"activation/mish", 1, 1, {mish}, 1e-5, 1e-6, {{0}}},
    {"activation/hardswish_bf16", 1, 1, {hardswish}, 0.02, 0.01, {{0}}},
    {"activation/celu_half", 1, 1, {celu}, 2e-3, 1e-3, {{"alpha", 1, false}}},
    {"math/gamma_uint8", 1, 1, {gamma_}, 0, 1, {{"gamma", 2.2, false}}},
    {"math/logaddexp", 2, 1, {logaddexp}, 1e-5, 1e-6, {{0}}},
    {"math/polar", 2, 2, {polar_x, polar_y}, 1e-5, 1e-5, {{0}}},
    {"math/copysign_bits", 2, 1, {copysign_}, 0, 0, {{0}}},
    {"math/lcg_int64", 1, 1, {lcg}, 0, 0, {{0}}},
    {"math/clock_int32", 1, 1, {clock_}, 0, 0, {{0}}},
    {"cast/quantize_int8", 1, 1, {quantize}, 0, 1, {{"scale", 0.05, false}}},
    {"cast/dequantize_uint8", 1, 1, {dequantize}, 1e-3, 1e-3, {{"scale", 0.1, false}, {"zero", 128, false}}},
    {"cast/bf16_to_half", 1, 1, {first}, 1e-3, 1e-7, {{0}}},
    {"cast/row_numbers", 0, 1, {numbers}, 0, 0, {{"start_at", 0, true}, {"step_by", 1, true}}},
    {"mask/masked_fill", 2, 1, {filled}, 0, 0, {{"value", 0, false}}},
    {"mask/is_close", 2, 1, {close_}, 0, 0, {{"rtol", 1e-5, false}, {"atol", 1e-8, false}}},
    {"mask/where_int32", 3, 1, {where}, 0, 0, {{0}}},
};

static void fill(ac_sim_tensor *t, int64_t n, int k) {
  for (int64_t i = 0; i < n; i++) {
    uint64_t z = ((uint64_t)i * 31 + (uint64_t)k * 17 + 1) * 0x9e3779b97f4a7c15ull;
    double u = (double)(z >> 11) * 0x1p-53;
    if (t->dtype == AC_BOOL)
      ac_store_int(t->dtype, t->data, i, (int64_t)(z >> 60) < 6);
    else if (ac_dtypes[t->dtype].cls == AC_FLOATING)
      ac_store(t->dtype, t->data, i, i % 5 == 0 ? 1.25 : 12 * u - 6); /* both the same now and then */
    else
      ac_store_int(t->dtype, t->data, i, (int64_t)z);
  }
}

static void run_example(size_t e, const ac_program *p, int64_t n) {
  args x = {0};
  ac_shape s = {.rank = 1, .dim = {n}};
  int n_in = examples[e].n_in, n_out = examples[e].n_out;
  assert_int_equal(p->tensors.len, n_in + n_out);
  for (int k = 0; k < n_in + n_out; k++) {
    add_tensor(&x, p->tensors.data[k].name, p->tensors.data[k].dtype, &s, k >= n_in);
    if (k < n_in) fill(&x.t[k], n, k);
  }
  for (int k = 0; k < 2 && examples[e].attrs[k].name; k++) {
    double v = examples[e].attrs[k].value;
    x.attrs[x.n_attrs++] = (ac_sim_attr){.name = examples[e].attrs[k].name,
                                         .kind = examples[e].attrs[k].whole ? AC_ATTR_I : AC_ATTR_F,
                                         .f = v,
                                         .i = (int64_t)v};
  }
  ac_sim_result r = {0};
  ac_sim_opts o = {.threads = 1, .in_process = true, .no_time = true};
  ac_diags d;
  ac_diags_init(&d, b.a);
  bool ok = ac_sim_run_program(b.a, p, p->chip, x.t, x.n, x.attrs, x.n_attrs, &o, &r, &d);
  if (!ok) ac_diags_print(&d, stderr, false);
  if (!ok || r.refused || r.faults.len)
    fail_msg("%s, %lld elements: %s", examples[e].path, (long long)n,
             r.refused      ? r.refused
             : r.faults.len ? r.faults.data[0].message
                            : "does not run");
  for (int64_t i = 0; i < n; i++) {
    at a = {.i = i};
    for (int k = 0; k < n_in; k++) {
      a.in[k] = ac_load(x.t[k].dtype, x.t[k].data, i);
      a.whole[k] = ac_dtypes[x.t[k].dtype].cls == AC_FLOATING ? 0 : ac_load_int(x.t[k].dtype, x.t[k].data, i);
    }
    for (int k = 0; k < n_out; k++) {
      double want = examples[e].out[k](&a), got = ac_load(x.t[n_in + k].dtype, x.t[n_in + k].data, i);
      if (!(fabs(got - want) <= examples[e].abs + examples[e].rel * fabs(want)))
        fail_msg("%s, %lld elements: element %lld of output %d is %.9g, not %.9g (inputs %.9g, %.9g)",
                 examples[e].path, (long long)n, (long long)i, k, got, want, a.in[0], a.in[1]);
    }
  }
  free_args(&x);
}

static void values(void **s) {
  (void)s;
  static const int64_t sizes[] = {1, 7, 13, 513, 1003, 13243, 65537};
  for (size_t e = 0; e < AC_COUNT(examples); e++) {
    char *text = ac_read_file(b.a, ac_sprintf(b.a, "%s/data/examples/%s.craft", AC_SOURCE_DIR, examples[e].path), 0,
                              NULL, &b.d);
    assert_non_null(text);
    const ac_program *p = lowered(&b, examples[e].path, text);
    for (size_t i = 0; i < AC_COUNT(sizes); i++) run_example(e, p, sizes[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(values)};
  return cmocka_run_group_tests(tests, setup, teardown);
}

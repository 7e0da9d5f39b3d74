/* What planned programs compute, against the float64 reference: every operation of the table on ordinary and special values, broadcasting
 * in every arrangement, softmax in all of its forms, at sizes around every boundary. */
#include "interp.h"

enum { MAX_T = 8 };
typedef struct {
  ac_shape shapes[MAX_T]; /* of the graph's inputs */
} sizes;

static uint64_t rng = 88172645463325252u;
static double rnd(void) {
  rng ^= rng << 13;
  rng ^= rng >> 7;
  rng ^= rng << 17;
  return (double)(rng >> 11) / 9007199254740992.0;
}

static const double special[] = {0,     -0.0, 1,    -1,    INFINITY, -INFINITY, NAN,  1e-30, -1e-30, 1e-6,
                                 -1e-6, 1e4,  -1e4, 3,     -3,       0.5,       -0.5, 20.5,  -20.5,  88,
                                 -88,   6,    1e30, -1e30, 2,        -2,        100,  -100};

/* Rows of -inf alone, with a NaN, with +inf, with -inf among numbers; `outer` elements between two of a row. */
static int64_t row_length, row_stride;
static double row_value(int64_t i) {
  int64_t row = row_stride == 1 ? i / row_length : i % row_stride,
          at_ = row_stride == 1 ? i % row_length : i / row_stride;
  if (row % 5 == 0) return -INFINITY;
  if (row % 5 == 1 && at_ == row_length - 1) return NAN;
  if (row % 5 == 2 && at_ == row_length / 2) return INFINITY;
  if (row % 5 == 3 && at_ % 2) return -INFINITY;
  return rnd() * 10 - 5;
}

/* kind 0: around 0; 1: large; 2: special values; 3: positive; 4: rows of special values */
static double value_of(int kind, int64_t i) {
  if (kind == 4) return row_value(i);
  if (kind == 2) return special[(uint64_t)(i * 7 + i / 28) % AC_COUNT(special)];
  double x = (rnd() + rnd() + rnd() - 1.5) * 2;
  return kind == 1 ? x * 30 : kind == 3 ? fabs(x) + 0.01 : x;
}

static const char *show(ac_arena *a, const ac_shape *s) {
  ac_buf b;
  ac_buf_init(&b, a);
  for (int i = 0; i < s->rank; i++) ac_printf(&b, "%s%lld", i ? "," : "", (long long)s->dim[i]);
  return ac_buf_str(&b);
}

/* Error in units of `tol`, relative to 1 and to the value. */
static bool near(double got, double want, double tol, ac_dtype d) {
  if (isnan(want)) return isnan(got);
  double lim = d == AC_F16 ? 65504 : INFINITY;
  if (fabs(want) > lim * (1 - 1e-3) || isinf(want) || fabs(want) > 3.3e38)
    return (isinf(got) || fabs(got) > lim * 0.99 || fabs(got) > 3.2e38) && (got > 0) == (want > 0);
  return fabs(got - want) <= tol * fabs(want) + tol * 1e-3 + 1e-37;
}

static int64_t checked;

static const ac_cmodule *planned(world *w) {
  if (w->m) return w->m;
  ac_craft_check_opts o = {.chip = w->chip};
  w->m = ac_plan(w->a, w->g, w->chip, &w->d);
  if (w->m && ac_craft_check(w->a, w->m, &o, &w->d)) return w->m;
  ac_diags_print(&w->d, stderr, false);
  fail_msg("%s: not planned", w->g->name);
  return NULL;
}

/* Runs the program of `w` at these shapes and compares. */
static void compare_at(world *w, const ac_shape *shapes, int kind, double tol) {
  const ac_cmodule *m = planned(w);
  ac_arena *a = ac_arena_new();
  ac_diags d;
  ac_diags_init(&d, a);
  ac_graph *g = ac_graph_respecialise(a, w->g, shapes, &d);
  if (!g) {
    ac_diags_print(&d, stderr, false);
    fail_msg("%s: shapes refused", w->g->name);
    return;
  }
  gm_tensor t[MAX_T * 2] = {{0}};
  const void *data[MAX_T];
  double scalars[MAX_T];
  int n = 0, n_scalars = 0;
  for (size_t i = 0; i < g->inputs.len; i++) {
    const ac_value *v = g->inputs.data[i].value;
    if (g->inputs.data[i].role == AC_IN_SCALAR) {
      scalars[n_scalars] = g->inputs.data[i].scalar;
      data[i] = &scalars[n_scalars++];
      continue;
    }
    t[n] = (gm_tensor){.dtype = v->dtype, .shape = ac_value_example(v)};
    t[n].n = ac_shape_numel(&t[n].shape);
    t[n].data = AC_NEW_N(a, double, t[n].n + 1);
    void *raw = ac_alloc(a, (size_t)(t[n].n + 1) * 8);
    for (int64_t k = 0; k < t[n].n; k++) {
      double x = value_of(kind, k + (int64_t)i * 13);
      if (v->dtype == AC_BOOL)
        x = x > 0.2;
      else if (ac_dtypes[v->dtype].cls != AC_FLOATING)
        x = isfinite(x) ? rint(fmod(x * 3, 100)) : 1;
      ac_store(v->dtype, raw, k, x);
      t[n].data[k] = ac_load(v->dtype, raw, k);
    }
    data[i] = raw;
    n++;
  }
  int first_out = n;
  for (size_t i = 0; i < g->outputs.len; i++, n++) {
    const ac_value *v = g->outputs.data[i].value;
    t[n] = (gm_tensor){.dtype = v->dtype, .shape = ac_value_example(v)};
    t[n].n = ac_shape_numel(&t[n].shape);
    t[n].data = AC_NEW_N(a, double, t[n].n + 1);
    t[n].written = AC_NEW_N(a, int, t[n].n + 1);
  }
  if (!interpret(a, m, 48, t, n, scalars, n_scalars))
    fail_msg("%s (%s): the program refuses", w->g->name, show(a, &shapes[0]));
  ac_ref_opts ro = {.inputs = data, .threads = 1};
  ac_ref *r = ac_ref_new(a, g, &ro, &d);
  assert_non_null(r);
  for (int k = first_out; k < n; k++) {
    double *want = AC_NEW_N(a, double, t[k].n + 1);
    assert_true(ac_ref_read(r, k - first_out, 0, t[k].n, want));
    double eps = t[k].dtype == AC_F16 ? 6e-4 : t[k].dtype == AC_BF16 ? 5e-3 : tol;
    for (int64_t i = 0; i < t[k].n; i++) {
      if (t[k].written[i] != 1)
        fail_msg("%s (%s) output %d: element %lld written %d times", w->g->name, show(a, &t[k].shape), k - first_out,
                 (long long)i, t[k].written[i]);
      if (!near(t[k].data[i], want[i], eps, t[k].dtype)) {
        ac_buf b;
        ac_buf_init(&b, a);
        for (int q = 0; q < first_out; q++)
          if (t[q].n == t[k].n) ac_printf(&b, " %.9g", t[q].data[i]);
        fail_msg("%s (%s) output %d: element %lld is %.9g, not %.9g; inputs%s", w->g->name, show(a, &t[k].shape),
                 k - first_out, (long long)i, t[k].data[i], want[i], ac_buf_str(&b));
      }
      checked++;
    }
  }
  ac_ref_free(r);
  ac_arena_free(a);
}

static ac_shape sh(int rank, ...) {
  ac_shape s = {.rank = rank};
  va_list ap;
  va_start(ap, rank);
  for (int i = 0; i < rank; i++) s.dim[i] = va_arg(ap, int);
  va_end(ap);
  return s;
}

/* Units in the last place that the operation as such may lose: conditioning of its formula, as in PyTorch's own float32. */
static double tolerance_of(const char *op) {
  static const struct {
    const char *op;
    double tol;
  } t[] = {{"pow", 2e-5},  {"exp2", 1e-6},  {"gelu", 2e-3},  {"tanhshrink", 1e-2},
           {"sinh", 4e-6}, {"asinh", 2e-6}, {"atanh", 4e-6}, {"acosh", 4e-6},
           {"cosh", 4e-6}, {"log2", 1e-6},  {"log10", 1e-6}, {"logaddexp", 1e-4}};
  for (size_t i = 0; i < AC_COUNT(t); i++)
    if (!strcmp(t[i].op, op)) return t[i].tol;
  return 1e-6;
}

static void every_operation(void **state) {
  (void)state;
  ac_arena *a = ac_arena_new();
  ac_strvec names = ac_plan_covered(a);
  static const ac_dtype dtypes[] = {AC_F32, AC_F16, AC_BF16};
  for (size_t i = 0; i < names.len; i++) {
    ac_op op = ac_op_of(names.data[i]);
    const ac_opinfo *info = ac_op_info(op);
    bool logical = !strncmp(names.data[i], "bitwise_", 8);
    if (info->cls != C_ELT || integers_only(op)) continue;
    for (size_t d = 0; d < AC_COUNT(dtypes); d++) {
      world *w = world_new(names.data[i]);
      ac_arg args[8];
      int n = 0;
      for (int k = 0; k < info->n_params; k++) {
        const ac_opparam *p = &info->params[k];
        if (p->kind == AC_K_TENSOR) {
          bool mask = logical || (op == AC_G_WHERE && k == 0);
          args[n++] = at(tensor(w, p->name, mask ? AC_BOOL : dtypes[d], 1, DIMS(1003)));
        } else if (p->kind == AC_K_DTYPE)
          args[n++] = (ac_arg){.kind = AC_K_DTYPE, .d = AC_F16};
        else if (!p->has_default)
          args[n++] = anum(0.5);
        else
          break;
      }
      out(w, "y", apply(w, op, n, args));
      bool poles = op == AC_G_TAN;
      for (int kind = 0; kind < 4; kind++) {
        if ((poles && kind) || (d && kind % 2)) continue;
        int64_t len = kind == 2 ? 28 * 28 : 1003;
        ac_shape s[3] = {{1, {len}}, {1, {len}}, {1, {len}}};
        compare_at(w, s, kind, tolerance_of(names.data[i]));
      }
      world_free(w);
    }
  }
  ac_arena_free(a);
}

static void flat_sizes(void **state) {
  (void)state;
  world *w = ex_adam();
  static const int sizes[] = {0, 1, 2, 7, 63, 64, 127, 128, 129, 513, 6143, 6144, 6145, 50000, 160001};
  for (size_t i = 0; i < AC_COUNT(sizes); i++) {
    ac_shape s = sh(2, 1, sizes[i]), all[] = {s, s, s, s};
    compare_at(w, all, 3, 2e-6);
  }
  world_free(w);
  w = ex_relu();
  ac_shape shapes[] = {sh(0), sh(1, 513), sh(4, 3, 5, 7, 11), sh(2, 0, 8), sh(2, 7, 1003), sh(2, 1, 13243)};
  for (size_t i = 0; i < AC_COUNT(shapes); i++) compare_at(w, &shapes[i], 0, 1e-7);
  world_free(w);
}

static void broadcasting(void **state) {
  (void)state;
  world *w = ex_broadcast();
  static const int rc[][2] = {{1, 1}, {7, 1003}, {1, 13243}, {300, 5}, {0, 8}, {8, 0}, {49, 129}, {3, 40000}};
  for (size_t i = 0; i < AC_COUNT(rc); i++) {
    ac_shape s[] = {sh(2, rc[i][0], rc[i][1]), sh(2, rc[i][0], 1), sh(1, rc[i][1])};
    compare_at(w, s, 0, 1e-3);
  }
  world_free(w);
  w = ex_channel();
  ac_shape s4[] = {sh(4, 3, 5, 7, 11), sh(4, 1, 5, 1, 1)};
  compare_at(w, s4, 0, 1e-6);
  world_free(w);
}

/* Two tensors of rank 3, each dimension of each full or 1: all 64 arrangements. */
static void all_arrangements(void **state) {
  (void)state;
  static const int64_t dims[] = {2, 3, 5};
  for (int p = 0; p < 8; p++)
    for (int q = 0; q < 8; q++) {
      world *w = world_new("two");
      int64_t a[3], b[3];
      ac_shape s[2] = {{.rank = 3}, {.rank = 3}};
      for (int i = 0; i < 3; i++) {
        a[i] = s[0].dim[i] = p >> i & 1 ? dims[i] : 1;
        b[i] = s[1].dim[i] = q >> i & 1 ? dims[i] : 1;
      }
      ac_value *x = tensor(w, "x", AC_F32, 3, a), *y = tensor(w, "y", AC_F32, 3, b);
      out(w, "z", bin(w, AC_G_SUB, x, y));
      compare_at(w, s, 0, 1e-6);
      world_free(w);
    }
}

static void three_ways(void **state) {
  (void)state;
  for (int seed = 0; seed < 60; seed++) {
    world *w = world_new("three");
    ac_shape s[3];
    ac_value *v[3];
    int64_t dims[4] = {1 + seed % 3, 2 + seed % 5, 3, 1 + seed % 7};
    for (int k = 0; k < 3; k++) {
      int rank = (int)(rnd() * 5);
      s[k].rank = rank;
      for (int i = 0; i < rank; i++) s[k].dim[i] = rnd() < 0.5 ? 1 : dims[4 - rank + i];
      v[k] = tensor(w, (const char *[]){"a", "b", "c"}[k], (ac_dtype[]){AC_F32, AC_F16, AC_BF16}[(seed + k) % 3],
                    rank, s[k].dim);
    }
    out(w, "z", bin(w, AC_G_ADD, bin(w, AC_G_MUL, v[0], v[1]), v[2]));
    compare_at(w, s, 0, 1e-3);
    world_free(w);
  }
}

static void softmax_everywhere(void **state) {
  (void)state;
  static const struct {
    int dim;
    ac_shape s;
  } cases[] = {
      {-1, {2, {16, 16384}}},
      {-1, {2, {7, 1003}}},
      {-1, {2, {1, 1}}},
      {-1, {2, {1, 13243}}},
      {-1, {1, {513}}},
      {-1, {4, {3, 5, 7, 11}}},
      {-1, {2, {0, 8}}},
      {-1, {2, {8, 0}}},
      {-1, {2, {2, 30001}}},
      {0, {2, {7, 1003}}},
      {0, {1, {513}}},
      {0, {2, {0, 8}}},
      {0, {2, {5, 0}}},
      {0, {2, {3, 13243}}},
      {1, {4, {3, 5, 7, 11}}},
      {1, {3, {4, 100, 30}}},
      {-2, {4, {3, 5, 7, 11}}},
      {1, {2, {3, 24000}}},
      {1, {3, {2, 0, 5}}},
      {2, {4, {2, 3, 4, 1}}},
      {0, {2, {2, 300000}}},
      {-1, {2, {900, 3}}},
      {-1, {0}},
      {0, {0}},
  };
  for (size_t i = 0; i < AC_COUNT(cases); i++)
    for (int log = 0; log < 2; log++)
      for (int d = 0; d < (i % 3 ? 1 : 3); d++) {
        world *w = world_new(log ? "log_softmax" : "softmax");
        ac_value *x = tensor(w, "x", (ac_dtype[]){AC_F32, AC_F16, AC_BF16}[d], cases[i].s.rank, cases[i].s.dim);
        out(w, "y", APPLY(w, log ? AC_G_LOG_SOFTMAX : AC_G_SOFTMAX, at(x), aint(w, cases[i].dim)));
        for (int kind = 0; kind < 3; kind++)
          if (ac_shape_numel(&cases[i].s) < 50000 || (kind == 0 && d == 0))
            compare_at(w, &cases[i].s, kind, log ? 2e-4 : 5e-6);
        world_free(w);
      }
}

static void softmax_special_rows(void **state) {
  (void)state;
  static const struct {
    int dim;
    ac_shape s;
  } cases[] = {
      {-1, {2, {10, 1003}}}, {-1, {2, {10, 20000}}}, {-1, {2, {10, 30001}}}, {0, {2, {1003, 10}}}, {0, {2, {1, 10}}}};
  for (size_t i = 0; i < AC_COUNT(cases); i++)
    for (int log = 0; log < 2; log++) {
      world *w = world_new(log ? "log_softmax" : "softmax");
      ac_value *x = tensor(w, "x", AC_F32, 2, cases[i].s.dim);
      out(w, "y", APPLY(w, log ? AC_G_LOG_SOFTMAX : AC_G_SOFTMAX, at(x), aint(w, cases[i].dim)));
      row_length = cases[i].s.dim[cases[i].dim ? 1 : 0];
      row_stride = cases[i].dim ? 1 : 10;
      compare_at(w, &cases[i].s, 4, 1e-4);
      world_free(w);
    }
}

/* Masks, integers, scalars and sizes in the arithmetic, results of several shapes. */
static void the_rest(void **state) {
  (void)state;
  world *w = world_new("masked");
  ac_value *x = tensor(w, "x", AC_F16, 2, DIMS(7, 9)), *m = tensor(w, "mask", AC_BOOL, 1, DIMS(9));
  out(w, "y", apply(w, AC_G_MASKED_FILL, 3, (ac_arg[]){at(x), at(m), at(c(w, -1e4))}));
  out(w, "inverse", un(w, AC_G_LOGICAL_NOT, m));
  ac_shape s[] = {sh(2, 7, 1009), sh(1, 1009)};
  compare_at(w, s, 0, 1e-6);
  world_free(w);

  w = world_new("ints");
  ac_value *i = tensor(w, "i", AC_I32, 2, DIMS(7, 9)), *k = tensor(w, "k", AC_I64, 2, DIMS(7, 1));
  ac_value *u = tensor(w, "u", AC_U8, 1, DIMS(9)), *f = tensor(w, "f", AC_F32, 2, DIMS(7, 9));
  out(w, "sum", bin(w, AC_G_SUB, bin(w, AC_G_MUL, i, i), ac_graph_integer(w->g, ac_sym_int(w->g, 3))));
  out(w, "mixed", bin(w, AC_G_ADD, bin(w, AC_G_MUL, f, k), u));
  out(w, "label", bin(w, AC_G_EQ, k, ac_graph_integer(w->g, ac_sym_int(w->g, 2))));
  out(w, "whole", apply(w, AC_G_CAST, 2, (ac_arg[]){at(f), {.kind = AC_K_DTYPE, .d = AC_I64}}));
  ac_shape si[] = {sh(2, 5, 300), sh(2, 5, 1), sh(1, 300), sh(2, 5, 300)};
  compare_at(w, si, 0, 1e-5);
  world_free(w);

  w = world_new("scalars");
  x = tensor(w, "x", AC_F32, 2, DIMS(7, 9));
  ac_value *alpha = ac_graph_input(w->g, "alpha", AC_IN_SCALAR, AC_F32, 0, NULL, NULL);
  w->g->inputs.data[1].scalar = 0.75;
  ac_value *z =
      bin(w, AC_G_SUB, bin(w, AC_G_MUL, alpha, c(w, 2)), bin(w, AC_G_DIV, x, ac_graph_integer(w->g, x->shape[1])));
  out(w, "z", bin(w, AC_G_ADD, z, un(w, AC_G_EXP, alpha)));
  ac_shape ss[] = {sh(2, 7, 1009), sh(0)};
  compare_at(w, ss, 0, 1e-5);
  world_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flat_sizes), cmocka_unit_test(broadcasting),       cmocka_unit_test(all_arrangements),
      cmocka_unit_test(three_ways), cmocka_unit_test(softmax_everywhere), cmocka_unit_test(softmax_special_rows),
      cmocka_unit_test(the_rest),   cmocka_unit_test(every_operation),
  };
  int r = cmocka_run_group_tests(tests, NULL, NULL);
  printf("%lld elements compared\n", (long long)checked);
  return r;
}

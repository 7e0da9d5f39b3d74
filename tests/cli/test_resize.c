/* Resizing one axis and all: planned, run in the simulator without a compiler, compared with the float64 reference, at sizes up and down, by
 * size and by scale factor, in three dtypes. What PyTorch says of the same is in tests/crosscheck/wide/resize.py. */
#include "graph_support.h"

typedef struct {
  const char *mode;
  int64_t shape[4];
  int axis;
  int64_t size; /* 0: by scale */
  double scale;
  bool align, antialias;
} rcase;

static const rcase cases[] = {
    {"nearest", {2, 3, 5, 7}, 3, 0, 4, false, false},     {"nearest", {2, 3, 9, 16}, 2, 4, 0, false, false},
    {"nearest", {1, 1, 3, 513}, 3, 0, 1.5, false, false}, {"nearest-exact", {2, 3, 5, 33}, 3, 20, 0, false, false},
    {"bilinear", {2, 3, 5, 7}, 3, 0, 2, false, false},    {"bilinear", {2, 3, 31, 40}, 2, 7, 0, false, false},
    {"bilinear", {1, 2, 4, 100}, 3, 33, 0, true, false},  {"bilinear", {1, 2, 4, 9}, 3, 1, 0, true, false},
    {"bilinear", {1, 2, 1, 1}, 3, 5, 0, false, false},    {"bilinear", {1, 2, 3, 1003}, 3, 0, 0.3, false, false},
    {"bicubic", {1, 2, 6, 9}, 3, 16, 0, true, false},     {"bicubic", {2, 2, 12, 9}, 2, 5, 0, false, false},
    {"bilinear", {1, 3, 6, 40}, 3, 13, 0, false, true},   {"bicubic", {1, 2, 18, 16}, 2, 6, 0, false, true},
    {"bicubic", {1, 2, 3, 16}, 3, 24, 0, false, true},
};

static double tolerance(ac_dtype d) {
  return d == AC_F32 ? 2e-5 : graph_tolerance(d);
}

static void one(const rcase *t, ac_dtype d) {
  world *w = world_new("resize");
  ac_value *x = tensor(w, "x", d, 4, t->shape);
  const ac_arg none = {.absent = true}, size = t->size ? aint(w, t->size) : none,
               scale = t->size ? none : (ac_arg){.kind = AC_K_FLOAT, .f = t->scale};
  ac_value *y = APPLY(w, AC_G_RESIZE_AXIS, at(x), aint(w, t->axis), size, scale, astr(t->mode),
                      ((ac_arg){.kind = AC_K_BOOL, .b = t->align}), ((ac_arg){.kind = AC_K_BOOL, .b = t->antialias}));
  out(w, "y", ac_graph_cast(w->g, y, d, line(90)));
  ac_cmodule *m = ac_plan(w->a, w->g, w->chip, &w->d);
  if (!m) ac_diags_print(&w->d, stderr, false);
  assert_non_null(m);
  args g = {0};
  graph_args(w->g, AC_VALUES_NORMAL, &g);
  const char *name = ac_sprintf(w->a, "%s of %s along %d", t->mode, ac_dtypes[d].name, t->axis);
  graph_run(w, name, ac_craft_print(w->a, m), &g);
  graph_compare(w->g, &g, name, tolerance);
  free_args(&g);
  world_free(w);
}

static void axes(void **state) {
  (void)state;
  static const ac_dtype dtypes[] = {AC_F32, AC_F16, AC_BF16};
  for (size_t i = 0; i < AC_COUNT(cases); i++)
    for (size_t k = 0; k < AC_COUNT(dtypes); k++) one(&cases[i], dtypes[k]);
}

/* What is costly and the same in many rows is computed once, in a stage of its own, and shared by what is made of it. */
static void once(void **state) {
  (void)state;
  static const struct {
    int64_t rows;
    bool costly;
    int kernels;
  } t[] = {{64, true, 2}, {64, false, 1}, {4, true, 1}};
  for (size_t i = 0; i < AC_COUNT(t); i++) {
    world *w = world_new("once");
    ac_value *x = tensor(w, "x", AC_F32, 2, DIMS(t[i].rows, 300)), *k = tensor(w, "k", AC_I32, 1, DIMS(300));
    ac_value *v = t[i].costly ? bin(w, AC_G_REMAINDER, k, ac_graph_integer(w->g, ac_sym_int(w->g, 7))) : k;
    v = bin(w, AC_G_DIV, ac_graph_cast(w->g, v, AC_F32, line(5)), c(w, 7));
    ac_value *left = bin(w, AC_G_MUL, x, bin(w, AC_G_SUB, c(w, 1), v));
    out(w, "y", bin(w, AC_G_ADD, left, v));
    ac_cmodule *m = ac_plan(w->a, w->g, w->chip, &w->d);
    assert_non_null(m);
    const char *text = ac_craft_print(w->a, m);
    int n = 0;
    for (const char *p = text; (p = strstr(p, "@ascend_kernel")); p++) n++;
    if (n != t[i].kernels) fail_msg("%d kernels, not %d:\n%s", n, t[i].kernels, text);
    args g = {0};
    graph_args(w->g, AC_VALUES_NORMAL, &g);
    graph_run(w, "once", text, &g);
    graph_compare(w->g, &g, "once", tolerance);
    free_args(&g);
    world_free(w);
  }
}

/* Refused: nothing to resize, results of no size, odd factors, and what is no number. */
static void refused(void **state) {
  (void)state;
  static const struct {
    int64_t in, size;
    double scale;
    ac_dtype d;
    ac_code code;
  } t[] = {{0, 4, 0, AC_F32, AC0304},
           {4, 0, 0.1, AC_F32, AC0304},
           {4, 0, 1.2345678, AC_F32, AC0304},
           {4, 8, 0, AC_I32, AC0303},
           {1 << 20, 1 << 20, 0, AC_F32, AC0304}};
  for (size_t i = 0; i < AC_COUNT(t); i++) {
    world *w = world_new("resize");
    int n = 0;
    const ac_arg none = {.absent = true}, size = t[i].size ? aint(w, t[i].size) : none,
                 scale = t[i].size ? none : (ac_arg){.kind = AC_K_FLOAT, .f = t[i].scale};
    const ac_arg a[] = {at(tensor(w, "x", t[i].d, 3, DIMS(1, 1, t[i].in))),
                        aint(w, 2),
                        size,
                        scale,
                        astr("linear"),
                        {.kind = AC_K_BOOL},
                        {.kind = AC_K_BOOL}};
    assert_null(ac_graph_apply(w->g, AC_G_RESIZE_AXIS, a, (int)AC_COUNT(a), line(10), &n));
    assert_int_equal(w->d.list.data[0]->code, t[i].code);
    world_free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(axes, setup, teardown),
                                     cmocka_unit_test_setup_teardown(once, setup, teardown),
                                     cmocka_unit_test_setup_teardown(refused, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

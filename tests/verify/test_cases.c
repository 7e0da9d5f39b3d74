/* Which cases are made: the own shape first, every kind of value, a ladder within the guards and the budget. */
#include "verify/internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static ac_arena *a;
static ac_diags d;

static int setup(void **s) {
  (void)s;
  a = ac_arena_new();
  ac_diags_init(&d, a);
  return 0;
}
static int teardown(void **s) {
  (void)s;
  ac_arena_free(a);
  return 0;
}

static ac_graph *relu(int64_t rows, int64_t cols) {
  ac_graph *g = ac_graph_new(a, &d);
  g->name = "relu";
  int64_t sizes[2] = {rows, cols};
  ac_value *x = ac_graph_input(g, "x", AC_IN_TENSOR, AC_F32, 2, sizes, NULL);
  ac_graph_output(g, "y", ac_graph_op1(g, AC_G_RELU, x, AC_NOLOC), -1);
  return g;
}

/* x (n, m) + b (m,): two tensors that share a size. */
static ac_graph *bias(void) {
  ac_graph *g = ac_graph_new(a, &d);
  g->name = "bias";
  int64_t x_sizes[2] = {12, 34}, b_sizes[1] = {34};
  ac_value *x = ac_graph_input(g, "x", AC_IN_TENSOR, AC_F32, 2, x_sizes, NULL);
  ac_value *b = ac_graph_input(g, "b", AC_IN_TENSOR, AC_F32, 1, b_sizes, NULL);
  ac_graph_output(g, "y", ac_graph_op2(g, AC_G_ADD, x, b, AC_NOLOC), -1);
  return g;
}

static ac_cases make(const ac_graph *g, ac_case_opts o) {
  ac_cases c = {0};
  o.cores = 48;
  bool ok = ac_make_cases(a, g, &o, &c, &d);
  if (!ok) ac_diags_print(&d, stderr, false);
  assert_true(ok);
  return c;
}
static bool has(const ac_cases *c, int rank, int64_t d0, int64_t d1) {
  for (size_t i = 0; i < c->len; i++) {
    const ac_shape *s = &c->data[i].inputs[0];
    if (s->rank == rank && (rank < 1 || s->dim[0] == d0) && (rank < 2 || s->dim[1] == d1)) return true;
  }
  return false;
}
static bool has_size(const ac_cases *c, int dim, int64_t n) {
  for (size_t i = 0; i < c->len; i++)
    if (c->data[i].inputs[0].rank == 2 && c->data[i].inputs[0].dim[dim] == n) return true;
  return false;
}

static void own_shape_comes_first_then_all_kinds(void **s) {
  (void)s;
  ac_cases c = make(relu(16, 1024), (ac_case_opts){0});
  assert_true(c.data[0].asked && c.data[0].values == AC_VALUES_OWN && !c.data[0].sampled);
  assert_true(c.data[0].inputs[0].dim[0] == 16 && c.data[0].inputs[0].dim[1] == 1024);
  unsigned kinds = 0;
  for (size_t i = 0; i < c.len; i++) kinds |= 1u << c.data[i].values;
  assert_int_equal(kinds, (1u << AC_VALUES_COUNT) - 1);
}

static void the_ladder_reaches_the_corners(void **s) {
  (void)s;
  ac_cases c = make(relu(16, 1024), (ac_case_opts){0});
  static const int64_t sizes[] = {0, 1, 7, 13, 513, 47, 48, 49, 13243};
  for (size_t i = 0; i < AC_COUNT(sizes); i++) assert_true(has_size(&c, 0, sizes[i]) && has_size(&c, 1, sizes[i]));
  assert_true(has(&c, 0, 0, 0) && has(&c, 1, 513, 0) && has(&c, 4, 3, 5)); /* an element-wise graph takes any rank */
}

static void budget_and_sampling(void **s) {
  (void)s;
  ac_cases c = make(relu(4096, 393216), (ac_case_opts){.max_elements = 20000});
  assert_true(c.data[0].sampled);
  for (size_t i = 1; i < c.len; i++) {
    assert_false(c.data[i].sampled);
    assert_true(c.data[i].elements <= 20000);
  }
  assert_true(c.len > 15);
}

static void shared_sizes_stay_equal(void **s) {
  (void)s;
  ac_cases c = make(bias(), (ac_case_opts){0});
  size_t ladder = 0;
  for (size_t i = 0; i < c.len; i++) {
    const ac_shape *x = &c.data[i].inputs[0], *b = &c.data[i].inputs[1];
    assert_true(b->rank == 1 && x->rank == 2);
    assert_true(b->dim[0] == x->dim[1]);
    ladder += !strncmp(c.data[i].name, "ladder", 6);
  }
  assert_true(ladder >= 5);
}

static void asked_shapes_replace_the_own(void **s) {
  (void)s;
  ac_shape_arg arg = {.input = "x", .rank = 2, .dim = {7, 1003}};
  ac_cases c = make(relu(16, 1024), (ac_case_opts){.shapes = &arg, .n_shapes = 1});
  assert_true(c.data[0].asked && c.data[0].inputs[0].dim[1] == 1003);
  ac_shape_arg wrong = {.input = "b", .rank = 1, .dim = {35}};
  ac_case_opts o = {.shapes = &wrong, .n_shapes = 1};
  ac_cases none = {0};
  ac_diags e;
  ac_diags_init(&e, a);
  assert_false(ac_make_cases(a, bias(), &o, &none, &e)); /* 34 columns against 35 */
  assert_int_equal(e.list.data[0]->code, AC0904);
}

static void deterministic(void **s) {
  (void)s;
  ac_cases x = make(relu(100, 200), (ac_case_opts){0}), y = make(relu(100, 200), (ac_case_opts){0});
  assert_int_equal(x.len, y.len);
  for (size_t i = 0; i < x.len; i++) {
    assert_string_equal(x.data[i].name, y.data[i].name);
    assert_memory_equal(x.data[i].inputs, y.data[i].inputs, sizeof(ac_shape));
  }
}

static void error_classes(void **s) {
  (void)s;
  assert_int_equal(ac_graph_error_class(relu(3, 4)), AC_ERR_EXACT);
  assert_int_equal(ac_graph_error_class(bias()), AC_ERR_ARITHMETIC);
  ac_graph *g = relu(3, 4);
  ac_graph_output(g, "z", ac_graph_op1(g, AC_G_EXP, g->inputs.data[0].value, AC_NOLOC), -1);
  assert_int_equal(ac_graph_error_class(g), AC_ERR_FUNCTION);
}

/* (x + 1e8) - 1e8 loses x in float32: the honest evaluation says so, operation by operation. */
static void eager_rounds_every_operation(void **s) {
  (void)s;
  ac_graph *g = ac_graph_new(a, &d);
  int64_t sizes[1] = {3};
  bool fixed[1] = {true};
  ac_value *x = ac_graph_input(g, "x", AC_IN_TENSOR, AC_F32, 1, sizes, fixed), *big = ac_graph_number(g, 1e8);
  ac_value *sum = ac_graph_op2(g, AC_G_ADD, x, big, AC_NOLOC);
  ac_graph_output(g, "y", ac_graph_op2(g, AC_G_SUB, sum, big, AC_NOLOC), -1);
  ac_value *square = ac_graph_op1(g, AC_G_SQUARE, x, AC_NOLOC);
  ac_graph_output(g, "z", ac_graph_op1(g, AC_G_SQRT, square, AC_NOLOC), -1);
  float data[3] = {1, 5, 1e30f};
  const void *inputs[] = {data};
  double *y = ac_eager_output(a, g, inputs, 0, 0), *z = ac_eager_output(a, g, inputs, 1, 0);
  assert_non_null(y);
  assert_non_null(z);
  assert_true(y[0] == 0 && y[1] == 8); /* steps of 8 at 1e8 */
  double *beside = ac_eager_output(a, g, inputs, 0, 1);
  assert_non_null(beside);
  assert_true(beside[0] != 0 && fabs(beside[0]) < 20); /* one step of 8 up or down, then a last bit */
  assert_true(z[0] == 1 && z[2] == __builtin_inf());   /* the square overflows float32 */
}

static ac_graph *softmax(int64_t dim) {
  ac_graph *g = ac_graph_new(a, &d);
  int64_t sizes[2] = {6, 5};
  ac_value *x = ac_graph_input(g, "x", AC_IN_TENSOR, AC_F32, 2, sizes, NULL);
  ac_arg args[2] = {{.kind = AC_K_TENSOR, .t = x}, {.kind = AC_K_INT, .i = ac_sym_int(g, dim)}};
  int n;
  ac_value **y = ac_graph_apply(g, AC_G_SOFTMAX, args, 2, AC_NOLOC, &n);
  assert_non_null(y);
  ac_graph_output(g, "y", y[0], -1);
  return g;
}

/* Rows may be cut out of the reference only where no operation looks across them. */
static void rows_are_cut_only_where_they_are_apart(void **s) {
  (void)s;
  assert_true(ac_rows_apart(softmax(-1)) && ac_rows_apart(softmax(1)));
  assert_false(ac_rows_apart(softmax(0)) || ac_rows_apart(softmax(-2)));
  assert_true(ac_rows_apart(relu(16, 1024)) && ac_rows_apart(bias()));
  ac_graph *all = relu(4, 6);
  ac_arg arg = {.kind = AC_K_TENSOR, .t = all->inputs.data[0].value};
  int n;
  ac_value **mean = ac_graph_apply(all, AC_G_MEAN, &arg, 1, AC_NOLOC, &n);
  assert_non_null(mean);
  ac_graph_output(all, "z", ac_graph_op2(all, AC_G_SUB, all->inputs.data[0].value, mean[0], AC_NOLOC), -1);
  assert_false(ac_rows_apart(all));
}

static void cut_rows_have_the_values_of_the_whole(void **s) {
  (void)s;
  ac_graph *g = softmax(1);
  float x[30];
  for (int i = 0; i < 30; i++) x[i] = (float)(i * 7 % 11);
  const void *inputs[] = {x};
  ac_shape shape = {2, {6, 5}};
  ac_graph *whole = ac_graph_respecialise(a, g, &shape, &d);
  ac_rows cut = ac_rows_cut(a, g, whole, inputs, 2, 5);
  assert_non_null(cut.graph);
  ac_ref *r = ac_ref_new(a, whole, &(ac_ref_opts){.inputs = inputs}, &d);
  ac_ref *part = ac_ref_new(a, cut.graph, &(ac_ref_opts){.inputs = cut.inputs}, &d);
  double want[15], got[15];
  assert_true(ac_ref_read(r, 0, 10, 15, want) && ac_ref_read(part, 0, 0, 15, got));
  assert_memory_equal(want, got, sizeof want);
  ac_ref_free(r);
  ac_ref_free(part);
}

/* Where the tiling code changes its way, both sides are tried. */
static void edges_of_the_tiling_code(void **s) {
  (void)s;
  int64_t e[4];
  const char *host = "    if (axis <= 11264) {\n    if (rank == 2) {\n    Checked tile = Min(8192, n);\n    if (x > "
                     "11264 && y < 300) {\n    if (k < 8) {\n";
  assert_int_equal(ac_tiling_edges(host, e, 4), 3);
  assert_int_equal(e[0], 11264);
  assert_int_equal(e[1], 300);
  assert_int_equal(e[2], 8192);
  assert_int_equal(ac_tiling_edges(host, e, 1), 1);
  ac_cases c = make(relu(16, 1024), (ac_case_opts){.edges = e, .n_edges = 1});
  bool last = false, next = false;
  for (size_t i = 0; i < c.len; i++) {
    last |= c.data[i].inputs[0].dim[1] == 11264;
    next |= c.data[i].inputs[0].dim[1] == 11265;
  }
  assert_true(last && next);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(edges_of_the_tiling_code),
      cmocka_unit_test(own_shape_comes_first_then_all_kinds),
      cmocka_unit_test(the_ladder_reaches_the_corners),
      cmocka_unit_test(budget_and_sampling),
      cmocka_unit_test(shared_sizes_stay_equal),
      cmocka_unit_test(asked_shapes_replace_the_own),
      cmocka_unit_test(deterministic),
      cmocka_unit_test(error_classes),
      cmocka_unit_test(eager_rounds_every_operation),
      cmocka_unit_test(rows_are_cut_only_where_they_are_apart),
      cmocka_unit_test(cut_rows_have_the_values_of_the_whole),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}

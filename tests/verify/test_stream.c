/* Comparison by slices finds what the comparison of the whole finds, and comparison of a sample what was written. The graph: y = max(x, x / 4). */
#include "verify/internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

enum { ROWS = 4101, COLS = 517 };
static const int64_t N = (int64_t)ROWS * COLS;

static ac_vcase *make_sized(ac_arena *a, int64_t rows, bool sampled) {
  ac_diags d;
  ac_diags_init(&d, a);
  ac_graph *g = ac_graph_new(a, &d);
  int64_t sizes[2] = {37, 211};
  ac_value *x = ac_graph_input(g, "x", AC_IN_TENSOR, AC_F32, 2, sizes, NULL);
  ac_value *k = ac_graph_input(g, "k", AC_IN_SCALAR, AC_F32, 0, NULL, NULL);
  for (size_t i = 0; i < g->inputs.len; i++)
    if (g->inputs.data[i].role == AC_IN_SCALAR) g->inputs.data[i].scalar = 0.25;
  ac_graph_output(g, "y", ac_graph_op2(g, AC_G_MAXIMUM, x, ac_graph_op2(g, AC_G_MUL, x, k, AC_NOLOC), AC_NOLOC), -1);
  ac_shape *shapes = AC_NEW_N(a, ac_shape, g->inputs.len + 1);
  for (size_t i = 0; i < g->inputs.len; i++)
    if (g->inputs.data[i].role != AC_IN_SCALAR) shapes[i] = (ac_shape){.rank = 2, .dim = {rows, COLS}};
  ac_case *c = AC_NEW(a, ac_case);
  *c = (ac_case){
      .name = "c", .values = AC_VALUES_NORMAL, .inputs = shapes, .elements = rows * COLS, .sampled = sampled};
  ac_vproject *p = AC_NEW(a, ac_vproject);
  p->graph = g;
  const char *why = NULL;
  ac_vcase *v = ac_vcase_new(a, p, c, 1, 2, &why);
  assert_non_null(v);
  assert_true(v->graph->outputs.len == 1 && !v->streamed); /* small enough to be kept */
  return v;
}
static ac_vcase *make(ac_arena *a) {
  return make_sized(a, ROWS, false);
}

/* Right results, but for a few elements that the test spoils. */
static float *right(ac_vcase *v) {
  float *x = v->tensors[0].data, *y = v->tensors[1].data;
  for (int64_t i = 0; i < N; i++) {
    double r = x[i] > 0 ? (double)x[i] : (double)x[i] * 0.25;
    y[i] = (float)r;
    v->ref[0][i] = r;
  }
  v->scale[0] = ac_largest_finite(v->ref[0], N);
  return y;
}

static void same(ac_vcase *v, int64_t bad, int64_t first, int64_t last) {
  ac_tolerance t = ac_tolerance_of(AC_F32, ac_graph_error_class(v->graph));
  ac_comparison c[2];
  for (int streamed = 0; streamed < 2; streamed++) {
    v->streamed = streamed;
    c[streamed] = ac_vcase_compare(v, 0, v->tensors[1].data, &t, true);
    assert_int_equal(c[streamed].n, N);
    assert_int_equal(c[streamed].bad, bad);
    assert_int_equal(c[streamed].first_bad, first);
    assert_int_equal(c[streamed].last_bad, last);
  }
  assert_true(c[0].max_abs == c[1].max_abs && c[0].expected == c[1].expected && c[0].got == c[1].got);
}

static void slices_and_whole_agree(void **state) {
  (void)state;
  ac_arena *a = ac_arena_new();
  ac_vcase *v = make(a);
  float *y = right(v);
  same(v, 0, -1, -1);
  same(v, 0, -1, -1); /* from what was kept of the first time */
  y[0] += 1;
  y[N / 2 + 3] = NAN;
  y[N - 1] = -y[N - 1] + 1;
  same(v, 3, 0, N - 1);
  y = right(v);
  y[N - COLS - 7] *= 1.001f;
  same(v, 1, N - COLS - 7, N - COLS - 7);
  ac_vcase_free(v);
  ac_arena_free(a);
}

/* An error that only the largest element of another slice makes small, and one that nothing does. */
static void scale_of_the_whole(void **state) {
  (void)state;
  ac_arena *a = ac_arena_new();
  ac_vcase *v = make(a);
  ((float *)v->tensors[0].data)[5] = 1e9f;
  float *y = right(v);
  y[N - 9] += 1;
  same(v, 0, -1, -1);
  y[N - 10] += 1e6f;
  same(v, 1, N - 10, N - 10);
  ac_vcase_free(v);
  ac_arena_free(a);
}

/* Other memory than the run's results: a decoy need only be found out. */
static void decoys_are_found_out(void **state) {
  (void)state;
  ac_arena *a = ac_arena_new();
  ac_vcase *v = make(a);
  ac_tolerance t = ac_tolerance_of(AC_F32, ac_graph_error_class(v->graph));
  right(v);
  v->streamed = true;
  assert_true(ac_vcase_compare(v, 0, v->tensors[0].data, &t, false).bad > 0);
  same(v, 0, -1, -1);
  ac_vcase_free(v);
  ac_arena_free(a);
}

static void large_ones_are_streamed(void **state) {
  (void)state;
  ac_arena *a = ac_arena_new();
  ac_vcase *v = make(a);
  assert_false(ac_stream_wanted(v));
  v->elements = 1 << 30;
  assert_true(ac_stream_wanted(v));
  v->sampled = true;
  assert_false(ac_stream_wanted(v));
  ac_vcase_free(v);
  ac_arena_free(a);
}

/* Some blocks ran, and the output is small: each element that was written is compared, none that was not. */
static void written_elements_of_a_sample(void **state) {
  (void)state;
  enum { FEW = 19 };
  ac_arena *a = ac_arena_new();
  ac_vcase *v = make_sized(a, FEW, true);
  ac_tolerance t = ac_tolerance_of(AC_F32, ac_graph_error_class(v->graph));
  assert_true(v->sampled);
  assert_int_equal(ac_vcase_compare_sampled(v, 0, &t, 2).n, 0);
  const float *x = v->tensors[0].data;
  float *y = v->tensors[1].data;
  int64_t n = 0;
  for (int64_t i = 0; i < FEW * COLS; i++)
    if (i % 100 < 3 || i > 9000) {
      y[i] = x[i] > 0 ? x[i] : x[i] * 0.25f;
      n++;
    }
  ac_comparison c = ac_vcase_compare_sampled(v, 0, &t, 2);
  assert_int_equal(c.n, n);
  assert_int_equal(c.bad, 0);
  y[701] += 1;
  y[9700] = 0;
  c = ac_vcase_compare_sampled(v, 0, &t, 2);
  assert_int_equal(c.n, n);
  assert_int_equal(c.bad, 2);
  assert_int_equal(c.first_bad, 701);
  assert_int_equal(c.last_bad, 9700);
  ac_vcase_free(v);
  ac_arena_free(a);
}

int main(void) {
  const struct CMUnitTest t[] = {cmocka_unit_test(slices_and_whole_agree), cmocka_unit_test(scale_of_the_whole),
                                 cmocka_unit_test(decoys_are_found_out), cmocka_unit_test(large_ones_are_streamed),
                                 cmocka_unit_test(written_elements_of_a_sample)};
  return cmocka_run_group_tests(t, NULL, NULL);
}

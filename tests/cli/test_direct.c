/* Compiled against direct, for real modules: the same bytes, faults, blocks, tiling key and UB peak. AC_DIRECT_FULL=1: every example,
 * end-to-end module and activation in three dtypes; else a sample. */
#include "direct_support.h"

static ac_graph *traced(const char *path, ac_dtype dtype) {
  ac_trace_opts t = AC_TRACE_DEFAULTS;
  ac_module_info info = {0};
  t.dtype = dtype;
  t.info = &info;
  ac_graph *g = ac_trace(b.a, ac_sprintf(b.a, "%s/%s", AC_SOURCE_DIR, path), &t, &b.d);
  if (!g) ac_diags_print(&b.d, stderr, false);
  assert_non_null(g);
  return g;
}

/* "x=7,1003 bias=1003": sizes of inputs; an input without one keeps its own. "*=7,3": of all of them. */
static bool sizes(const char *spec, const ac_graph *g, ac_shape *s) {
  for (size_t i = 0; i < g->inputs.len; i++) s[i] = ac_value_example(g->inputs.data[i].value);
  char *save = NULL, *copy = ac_strdup(b.a, spec);
  for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
    ac_shape_override x;
    bool all = *w == '*';
    if (all) *w = 'x';
    assert_true(ac_parse_shape(b.a, w, &x, &b.d));
    for (size_t i = 0; i < g->inputs.len; i++) {
      if (!all && strcmp(x.input, g->inputs.data[i].name) != 0) continue;
      s[i] = (ac_shape){.rank = x.rank};
      for (int k = 0; k < x.rank; k++) s[i].dim[k] = x.dims[k];
    }
  }
  for (size_t i = 0; i < g->inputs.len; i++)
    if (ac_shape_numel(&s[i]) > 1 << 20) return false; /* a benchmark's own sizes */
  return true;
}

static const char *const plain_shapes[] = {"",      "*=16,1000",  "*=7,1003", "*=1,1", "*=1,13243",
                                           "*=513", "*=3,5,7,11", "*=0,8",    "*="};
static const char *const chain_shapes[] = {"", "x=7,1003 bias=1003 scale=7,1", "x=1,5 bias=5 scale=1,1"};

/* Number of shapes that ran. */
static int module_at(const char *path, ac_dtype dtype, const char *const *specs, size_t n_specs) {
  static const ac_values kinds[] = {AC_VALUES_OWN, AC_VALUES_SPECIAL};
  ac_graph *g = traced(path, dtype);
  ac_cmodule *m = ac_plan(b.a, g, ac_chip_load(b.a, "ascend910b2", &b.d), &b.d);
  assert_non_null(m);
  ac_program *p = lowered(&b, "both.craft", ac_craft_print(b.a, m));
  ac_sim_lib *l = compiled(&b, p, g);
  ac_shape *s = AC_NEW_N(b.a, ac_shape, g->inputs.len + 1);
  int ran = 0;
  for (size_t i = 0; i < n_specs; i++) {
    ac_diags quiet;
    ac_diags_init(&quiet, b.a);
    ac_graph *at = sizes(specs[i], g, s) ? ac_graph_respecialise(b.a, g, s, &quiet) : NULL;
    if (!at) continue; /* the module does not take this rank or size */
    for (size_t k = 0; k < AC_COUNT(kinds); k++) {
      args x;
      graph_args(at, kinds[k], &x);
      char *what =
          ac_sprintf(b.a, "%s %s at (%s), %s", path, ac_dtypes[dtype].name, specs[i], ac_values_name(kinds[k]));
      run_both(&b, what, p, l, &x, k ? AC_ORDER_REVERSE : AC_ORDER_FORWARD, 2);
      free_args(&x);
    }
    ran++;
  }
  return ran;
}

static const struct {
  const char *path;
  ac_dtype dtype; /* of the sample; AC_NODTYPE: not in it */
} modules[] = {
    {"data/examples/adam.py", AC_NODTYPE},
    {"data/examples/channel_bias.py", AC_F32},
    {"data/examples/gelu.py", AC_NODTYPE},
    {"data/examples/log_softmax.py", AC_NODTYPE},
    {"data/examples/relu.py", AC_NODTYPE},
    {"data/examples/scaled_silu.py", AC_NODTYPE},
    {"data/examples/softmax.py", AC_NODTYPE},
    {"data/examples/softplus.py", AC_NODTYPE},
    {"tests/e2e/modules/adam_step.py", AC_F32},
    {"tests/e2e/modules/fused_chain.py", AC_BF16},
    {"tests/e2e/modules/gelu_tanh.py", AC_NODTYPE},
    {"tests/e2e/modules/log_softmax_first.py", AC_NODTYPE},
    {"tests/e2e/modules/log_softmax_last.py", AC_NODTYPE},
    {"tests/e2e/modules/log_softmax_middle.py", AC_NODTYPE},
    {"tests/e2e/modules/softmax_first.py", AC_NODTYPE},
    {"tests/e2e/modules/softmax_last.py", AC_NODTYPE},
    {"tests/e2e/modules/softmax_middle.py", AC_F32},
    {"tests/operators/activation/elu.py", AC_F16},
    {"tests/operators/activation/hardtanh.py", AC_NODTYPE},
    {"tests/operators/activation/leaky_relu.py", AC_NODTYPE},
    {"tests/operators/activation/selu.py", AC_NODTYPE},
    {"tests/operators/activation/softplus.py", AC_NODTYPE},
    {"tests/operators/activation/softsign.py", AC_NODTYPE},
    {"tests/operators/activation/swish.py", AC_NODTYPE},
    {"tests/operators/activation/tanh.py", AC_NODTYPE},
};

static void modules_agree(void **s) {
  (void)s;
  static const ac_dtype all[] = {AC_F32, AC_F16, AC_BF16};
  bool full = getenv("AC_DIRECT_FULL") != NULL;
  int shapes = 0;
  for (size_t i = 0; i < AC_COUNT(modules); i++)
    for (size_t k = 0; k < AC_COUNT(all); k++) {
      if (!full && all[k] != modules[i].dtype) continue;
      bool chain = strstr(modules[i].path, "fused_chain") || strstr(modules[i].path, "channel_bias") ||
                   strstr(modules[i].path, "scaled_silu");
      int n = module_at(modules[i].path, all[k], chain ? chain_shapes : plain_shapes,
                        chain ? AC_COUNT(chain_shapes) : AC_COUNT(plain_shapes));
      if (!n) fail_msg("%s ran at no shape", modules[i].path);
      shapes += n;
    }
  print_message("%d modules, %d shapes, %d runs, %d refused, %d with faults\n", b.projects, shapes, b.runs, b.refused,
                b.faulty);
  assert_int_equal(b.faulty, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(modules_agree, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

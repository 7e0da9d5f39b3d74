/* The plain C form against the simulator: every example program, and the modules that plans are made of, in each dtype. Same bytes;
 * where a program has instructions that are only good to a bound, within what that bound becomes. AC_PLAINC_FULL=1: more modules and shapes. */
#include "plainc_support.h"

#include <glob.h>

/* Of all tensors, then of those that have other sizes; an example takes the rows that name its tensors, and refuses what does not fit. */
static const char *const shapes[] = {"7,1003",
                                     "513",
                                     "64,96",
                                     "1",
                                     "2,3,40",
                                     "0",
                                     "2,8,5,16",
                                     "3,13243",
                                     "2,3,5,7 bias=3,1,1",
                                     "7,1003 y=1",
                                     "70000 y=1",
                                     "64,96 index=64",
                                     "64,96 mean=96 var=96 weight=96 bias=96"};

/* An output may be the product of sizes that are small alone. */
static bool small(const ac_program *p, const ac_shape *of) {
  for (size_t i = 0; i < p->tensors.len; i++)
    if (ac_shape_numel(&of[i]) < 0 || ac_shape_numel(&of[i]) > 4000000) return false;
  return true;
}

static void examples_agree(void **s) {
  (void)s;
  glob_t g;
  assert_int_equal(glob(AC_SOURCE_DIR "/data/examples/*/*.craft", 0, NULL, &g), 0);
  plain_program *list = AC_NEW_N(b.a, plain_program, g.gl_pathc);
  for (size_t i = 0; i < g.gl_pathc; i++) {
    list[i].name = g.gl_pathv[i];
    assert_non_null(list[i].text = ac_read_file(b.a, list[i].name, 0, NULL, &b.d));
    bool ok = plain_lower(b.a, &list[i], (int)i, &b.d);
    if (!ok) ac_diags_print(&b.d, stderr, false);
    assert_true(ok);
  }
  const char *broken = plain_build(&b, list, g.gl_pathc, "-O1");
  if (broken) failed("the C form of the examples", "%s", broken);
  int runs = 0, idle = 0;
  for (size_t i = 0; i < g.gl_pathc; i++) {
    int clean = 0;
    for (size_t k = 0; k < AC_COUNT(shapes); k++) {
      args x;
      char *message;
      ac_shape of[16];
      if (!plain_shapes(b.a, list[i].p, shapes[k], of) || !small(list[i].p, of)) continue;
      plain_args(list[i].p, of, k + 1, &x);
      plain_verdict v = plain_compare(&b, &list[i], &x, 1e-6, &message);
      if (v == PLAIN_DIFFERENT) failed(list[i].name, "sizes %s: %s", shapes[k], message);
      if (v == PLAIN_FAULTY && getenv("AC_PLAINC_SHOW"))
        print_message("%s at %s: %s\n", list[i].name, shapes[k], message);
      clean += v == PLAIN_SAME;
      free_args(&x);
    }
    if (!clean) {
      print_message("%s ran cleanly at no shape\n",
                    list[i].name); /* one that takes other ranks needs a shape above */
      idle++;
    }
    runs += clean;
  }
  print_message("%zu examples, %d runs\n", g.gl_pathc, runs);
  assert_int_equal(idle, 0);
  globfree(&g);
}

/* ---- modules, in each dtype ---- */

static const char *const modules[] = {"data/examples/softmax.py",      "data/examples/adam.py",
                                      "data/examples/channel_bias.py", "data/examples/gelu.py",
                                      "data/examples/log_softmax.py",  "data/examples/relu.py",
                                      "data/examples/scaled_silu.py",  "data/examples/softplus.py"};

/* Every tensor's last dimension becomes `last`, the others 3: what broadcasts (1) stays. */
static ac_graph *resized(const ac_graph *g, int64_t last) {
  ac_shape *s = AC_NEW_N(b.a, ac_shape, g->inputs.len + 1);
  ac_diags quiet;
  ac_diags_init(&quiet, b.a);
  for (size_t i = 0; i < g->inputs.len; i++) {
    s[i] = ac_value_example(g->inputs.data[i].value);
    for (int k = 0; k < s[i].rank; k++)
      if (s[i].dim[k] != 1) s[i].dim[k] = k + 1 == s[i].rank ? last : 3;
  }
  return ac_graph_respecialise(b.a, g, s, &quiet);
}

static void modules_agree(void **state) {
  (void)state;
  static const ac_dtype dtypes[] = {AC_F32, AC_F16, AC_BF16};
  static const int64_t lasts[] = {1, 13, 1003, 13243};
  enum { MODULES = AC_COUNT(modules), ALL = MODULES * 3 };
  plain_program list[ALL] = {{0}};
  ac_graph *graphs[ALL] = {0};
  bool full = getenv("AC_PLAINC_FULL") != NULL;
  for (size_t i = 0; i < ALL; i++) {
    if (!full && i / 3 >= 4 && i % 3 != i / 3 % 3) continue; /* all of the first four, one dtype of the others */
    ac_trace_opts t = AC_TRACE_DEFAULTS;
    t.dtype = dtypes[i % 3];
    list[i].name = ac_sprintf(b.a, "%s in %s", modules[i / 3], ac_dtypes[t.dtype].name);
    graphs[i] = ac_trace(b.a, ac_sprintf(b.a, "%s/%s", AC_SOURCE_DIR, modules[i / 3]), &t, &b.d);
    ac_cmodule *m = graphs[i] ? ac_plan(b.a, graphs[i], ac_chip_load(b.a, "ascend910b2", &b.d), &b.d) : NULL;
    if (m) list[i].text = ac_craft_print(b.a, m);
    bool ok = m && plain_lower(b.a, &list[i], (int)i, &b.d);
    if (!ok) ac_diags_print(&b.d, stderr, false);
    assert_true(ok);
  }
  const char *broken = plain_build(&b, list, ALL, "-O1");
  if (broken) failed("the C form of modules", "%s", broken);
  int runs = 0;
  for (size_t i = 0; i < ALL; i++) {
    if (!graphs[i]) continue;
    int clean = 0;
    for (size_t k = 0; k < 2 * AC_COUNT(lasts); k++) {
      ac_graph *at = resized(graphs[i], lasts[k / 2]);
      args x;
      char *message;
      if (!at) continue;
      graph_args(at, k % 2 ? AC_VALUES_SPECIAL : AC_VALUES_NORMAL, &x);
      plain_verdict v = plain_compare(&b, &list[i], &x, 1e-6, &message);
      if (v != PLAIN_SAME) failed(list[i].name, "last dimension %lld: %s", (long long)lasts[k / 2], message);
      clean++;
      free_args(&x);
    }
    if (!clean) fail_msg("%s ran at no shape", list[i].name);
    runs += clean;
  }
  print_message("%d runs\n", runs);
}

/* ---- what is not there is refused by name ---- */

static void unknown_instructions_are_named(void **s) {
  (void)s;
  static const char text[] = "@ascend_kernel\ndef k(x, y, n):\n    a = tl.alloc_ub(64, tl.float32)\n"
                             "    with tl.copyin():\n        tl.load(x + tl.arange(0, 64), a)\n"
                             "    with tl.compute():\n        tl.vexp(a, a)\n"
                             "    with tl.copyout():\n        tl.store(y + tl.arange(0, 64), a)\n\n\n"
                             "def h(x: tl.tensor[tl.float32], y: tl.tensor[tl.float32]):\n    k[1](x, y, 64)\n";
  plain_program x = {.name = "unknown.craft", .text = text};
  assert_true(plain_lower(b.a, &x, 1, &b.d));
  ac_akernel *k = x.p->kernels.data[0];
  bool done = false;
  for (size_t m = 0; m < k->methods.len; m++)
    for (size_t i = 0; i < k->methods.data[m].body.len; i++)
      if (k->methods.data[m].body.data[i]->kind == AC_AS_INST && k->methods.data[m].body.data[i]->inst == AC_I_EXP) {
        k->methods.data[m].body.data[i]->inst = AC_I_NOT; /* which no float has */
        done = true;
      }
  assert_true(done);
  ac_plainc_text t;
  ac_diags d;
  ac_diags_init(&d, b.a);
  assert_false(ac_plainc(b.a, x.p, &t, &d));
  assert_int_equal(d.list.data[0]->code, AC0690);
  assert_non_null(strstr(d.list.data[0]->message, "Not of float32"));
  assert_int_equal(ac_diags_exit(&d), AC_UNSUPPORTED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(examples_agree, setup, teardown),
      cmocka_unit_test_setup_teardown(modules_agree, setup, teardown),
      cmocka_unit_test_setup_teardown(unknown_instructions_are_named, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

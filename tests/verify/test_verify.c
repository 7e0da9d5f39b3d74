/* The whole verification on a hand-written project: it passes as it is, and each way of breaking its kernel is found and named.
 *
 * The project: y = max(x, slope * x), slope a scalar attribute. tests/sim/fixtures/relu_tail holds its sources. */
#include "verify/verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static ac_arena *a;
static const char *root;

static int setup(void **s) {
  (void)s;
  a = ac_arena_new();
  ac_diags d;
  ac_diags_init(&d, a);
  root = ac_temp_dir(a, &d);
  setenv("XDG_CACHE_HOME", root, 1);
  return root ? 0 : -1;
}
static int teardown(void **s) {
  (void)s;
  ac_remove_tree(root);
  ac_arena_free(a);
  return 0;
}

static ac_graph *make_graph(ac_diags *d) {
  ac_graph *g = ac_graph_new(a, d);
  g->name = "relu_tail";
  int64_t sizes[2] = {37, 211};
  ac_value *x = ac_graph_input(g, "x", AC_IN_TENSOR, AC_F32, 2, sizes, NULL);
  ac_value *slope = ac_graph_input(g, "slope", AC_IN_SCALAR, AC_F32, 0, NULL, NULL);
  for (size_t i = 0; i < g->inputs.len; i++)
    if (g->inputs.data[i].role == AC_IN_SCALAR) g->inputs.data[i].scalar = 0.25;
  ac_value *scaled = ac_graph_op2(g, AC_G_MUL, x, slope, AC_NOLOC);
  ac_graph_output(g, "y", ac_graph_op2(g, AC_G_MAXIMUM, x, scaled, AC_NOLOC), -1);
  return g;
}

static char *copy_text(const char *from, const char *to, const char *what, const char *with) {
  ac_diags d;
  ac_diags_init(&d, a);
  char *text = ac_read_file(a, from, 0, NULL, &d);
  assert_non_null(text);
  if (what) {
    char *at = strstr(text, what);
    assert_non_null(at);
    text = ac_sprintf(a, "%.*s%s%s", (int)(at - text), text, with, at + strlen(what));
  }
  assert_true(ac_write_file(to, text, strlen(text), &d));
  return text;
}

/* A project folder; in the kernel's file `what` is replaced by `with`. */
static const char *project(const char *name, bool direct, const char *what, const char *with) {
  ac_diags d;
  ac_diags_init(&d, a);
  char *dir = ac_path_join(a, root, name), *from = ac_sprintf(a, "%s/tests/sim/fixtures/relu_tail", AC_SOURCE_DIR);
  static const char *const files[] = {"op_host/relu_tail.cpp", "op_host/relu_tail_tiling.h",
                                      "op_kernel/relu_tail.cpp", "direct/relu_tail.cpp"};
  static const char *const folders[] = {"op_host", "op_kernel", "direct"};
  for (size_t i = 0; i < AC_COUNT(folders); i++) assert_true(ac_mkdirs(ac_path_join(a, dir, folders[i]), &d));
  for (size_t i = 0; i < AC_COUNT(files); i++) {
    bool edited = what && (direct ? i == 3 : i == 2);
    copy_text(ac_path_join(a, from, files[i]), ac_path_join(a, dir, files[i]), edited ? what : NULL, with);
  }
  json_t *m =
      json_pack("{s:s, s:s, s:s, s:s, s:i, s:o, s:{s:{s:s, s:s}, s:{s:s}}}", "version", AC_VERSION, "op", "relu_tail",
                "op_type", "ReluTail", "chip", "ascend910b2", "seed", 7, "graph", ac_graph_to_json(make_graph(&d)),
                "formats", "msopgen", "kernel", files[2], "host", files[0], "direct", "kernel", files[3]);
  assert_non_null(m);
  char *text = ac_json_text(a, m);
  json_decref(m);
  assert_true(ac_write_file(ac_path_join(a, dir, "manifest.json"), text, strlen(text), &d));
  return dir;
}

static ac_verify_report verify(const char *dir, unsigned forms, int64_t max_elements) {
  ac_diags d;
  ac_diags_init(&d, a);
  ac_verify_report r;
  ac_verify_opts o = {.dir = dir, .forms = forms, .max_failures = 3, .cases = {.max_elements = max_elements}};
  bool done = ac_verify(a, &o, &r, &d);
  if (!done) ac_diags_print(&d, stderr, false);
  assert_true(done);
  return r;
}
static const ac_verify_case *first_failure(const ac_verify_report *r) {
  for (size_t i = 0; i < r->cases.len; i++)
    if (r->cases.data[i].verdict == AC_V_FAIL) return &r->cases.data[i];
  return NULL;
}
static bool has_fault(const ac_verify_report *r, const char *kind) {
  for (size_t i = 0; i < r->cases.len; i++)
    for (size_t k = 0; k < r->cases.data[i].faults.len; k++)
      if (!strcmp(r->cases.data[i].faults.data[k].kind, kind)) return true;
  return false;
}
static bool has_hint(const ac_verify_report *r, const char *part) {
  for (size_t i = 0; i < r->cases.len; i++)
    for (size_t k = 0; k < r->cases.data[i].hints.len; k++)
      if (strstr(r->cases.data[i].hints.data[k], part)) return true;
  return false;
}

static void as_it_is(void **s) {
  (void)s;
  ac_verify_report r = verify(project("good", false, NULL, NULL), 0, 0);
  if (!r.ok) ac_verify_print(&r, stderr, true, false);
  assert_true(r.ok);
  assert_int_equal(r.failed, 0);
  assert_int_equal(r.skipped, 0);
  assert_int_equal(r.blind.len, 0); /* zeros and copies were told apart */
  assert_true(r.passed > 25);
  assert_true(r.refused >= 2); /* rank 0 and rank 5, which its host code refuses */
  int direct = 0;
  for (size_t i = 0; i < r.cases.len; i++) direct += !strcmp(r.cases.data[i].form, "direct");
  assert_true(direct >= 4);
}

static void broken(const char *name, const char *what, const char *with, int64_t max_elements, const char *fault,
                   const char *hint) {
  for (int direct = 0; direct < 2; direct++) {
    ac_verify_report r = verify(project(ac_sprintf(a, "%s%d", name, direct), direct, what, with),
                                direct ? 1u << AC_SIM_DIRECT : 1u << AC_SIM_MSOPGEN, max_elements);
    const ac_verify_case *c = first_failure(&r);
    if (!c || (fault && !has_fault(&r, fault)) || (hint && !has_hint(&r, hint)))
      ac_verify_print(&r, stderr, true, false);
    assert_false(r.ok);
    assert_non_null(c);
    if (fault) assert_true(has_fault(&r, fault));
    if (hint) assert_true(has_hint(&r, hint));
  }
}

static void dropped_tail(void **s) {
  (void)s;
  broken("tail", "at < count_; at += tile_", "at + 8 <= count_; at += tile_", 20000, "never-written", NULL);
}
static void skipped_store(void **s) {
  (void)s;
  broken("store", "AscendC::DataCopyPad(y_[at], y, params);", "if (at != 0) AscendC::DataCopyPad(y_[at], y, params);",
         20000, "never-written", NULL);
}
static void offset_by_one(void **s) {
  (void)s;
  broken("offset", "DataCopyPad(x, x_[at], params, pad);",
         "DataCopyPad(x, x_[at + (count_ > n + 1 ? 1 : at > 0 ? -1 : 0)], params, pad);", 0, NULL, NULL);
  broken("offset_all", "x_.SetGlobalBuffer((__gm__ float *)x + first, count_);",
         "x_.SetGlobalBuffer((__gm__ float *)x + first + 1, count_);", 20000, "gm-out-of-bounds", "one element off");
}
static void ub_overrun(void **s) {
  (void)s;
  broken("ub", "pipe_.InitBuffer(in_, BUFFER_NUM, tile * sizeof(float));", "pipe_.InitBuffer(in_, BUFFER_NUM, 256);",
         20000, "ub-out-of-bounds", NULL);
}

/* Right for the simulator's own last bits of Reciprocal, wrong for those that a device may have. */
static void lucky(void **s) {
  (void)s;
  broken("lucky", "AscendC::Muls(y, x, slope_, n);",
         "AscendC::Duplicate(y, 1.0f / slope_, n); AscendC::Reciprocal(y, y, n); AscendC::Mul(y, x, y, n);", 20000,
         NULL, "the results of Reciprocal at the edge of their bounds, above the nominal ones");
  ac_verify_report r =
      verify(project("lucky2", false, "AscendC::Muls(y, x, slope_, n);",
                     "AscendC::Duplicate(y, slope_ * slope_, n); AscendC::Sqrt(y, y, n); AscendC::Mul(y, x, y, n);"),
             1u << AC_SIM_MSOPGEN, 20000);
  if (!r.ok) ac_verify_print(&r, stderr, true, false);
  assert_true(r.ok); /* off by one unit: within tolerance, and said */
  assert_true(r.perturbed >= 2);
  assert_int_equal(r.inexact.len, 1);
  assert_string_equal(r.inexact.data[0], "Sqrt");
}

/* A kernel that hangs costs one time limit, not one a case. */
static void endless_loop(void **s) {
  (void)s;
  const char *dir = project("endless", false, "at += tile_", "at += 0");
  ac_diags d;
  ac_diags_init(&d, a);
  ac_verify_opts o = {.dir = dir, .forms = 1u << AC_SIM_MSOPGEN, .case_seconds = 1, .cases = {.max_elements = 20000}};
  ac_verify_report r;
  assert_true(ac_verify(a, &o, &r, &d));
  assert_false(r.ok);
  assert_int_equal(r.failed, 1);
  assert_true(r.skipped > 5);
}

/* An asked shape above the limit: tiling in full, three blocks, and only what they wrote is compared. */
static void large_shapes_are_sampled(void **s) {
  (void)s;
  ac_shape_arg arg = {.input = "x", .rank = 2, .dim = {4096, 3001}};
  for (int broken = 0; broken < 2; broken++) {
    ac_diags d;
    ac_diags_init(&d, a);
    ac_verify_report r;
    const char *dir = project(broken ? "sampled1" : "sampled0", false, broken ? "Muls(y, x, slope_, n)" : NULL,
                              "Muls(y, x, slope_ * 1.001f, n)");
    ac_verify_opts o = {.dir = dir,
                        .forms = 1u << AC_SIM_MSOPGEN,
                        .cases = {.shapes = &arg, .n_shapes = 1, .own_elements = 1 << 20, .max_elements = 1}};
    assert_true(ac_verify(a, &o, &r, &d));
    const ac_verify_case *c = &r.cases.data[0];
    assert_true(c->sampled);
    assert_int_equal(c->block_dim, 48);
    if (broken) {
      assert_int_equal(c->verdict, AC_V_FAIL);
      assert_true(c->bad > 100000);
    } else {
      if (c->verdict != AC_V_PASS) ac_verify_print(&r, stderr, true, false);
      assert_int_equal(c->verdict, AC_V_PASS);
      assert_int_equal(c->blocks_run, 3);
      assert_non_null(strstr(c->why, "blocks 0, 47, ") && strstr(c->why, " of 48, "));
    }
  }
}

/* As many blocks as were asked for, chosen by the seed, in one launch. */
static void asked_number_of_blocks(void **s) {
  (void)s;
  ac_diags d;
  ac_diags_init(&d, a);
  ac_shape_arg arg = {.input = "x", .rank = 2, .dim = {4096, 3001}};
  ac_verify_opts o = {
      .dir = project("sampled2", false, NULL, NULL),
      .forms = 1u << AC_SIM_MSOPGEN,
      .sample_blocks = 4,
      .cases = {.shapes = &arg, .n_shapes = 1, .own_elements = 1 << 20, .max_elements = 1, .seed = 3}};
  ac_verify_report r;
  assert_true(ac_verify(a, &o, &r, &d));
  const ac_verify_case *c = &r.cases.data[0];
  int64_t pick[4];
  assert_int_equal(ac_sim_sample(4, 3, 48, pick), 4);
  assert_true(c->sampled && c->verdict == AC_V_PASS);
  assert_int_equal(c->blocks_run, 4);
  assert_int_equal(c->blocks.len, 4);
  assert_memory_equal(c->blocks.data, pick, sizeof pick);
}

static void bad_projects(void **s) {
  (void)s;
  ac_diags d;
  ac_verify_report r;
  const char *empty = ac_path_join(a, root, "empty");
  ac_diags_init(&d, a);
  assert_true(ac_mkdirs(empty, &d));
  ac_verify_opts o = {.dir = empty};
  assert_false(ac_verify(a, &o, &r, &d));
  assert_int_equal(d.list.data[0]->code, AC0901);
  assert_int_equal(ac_diags_exit(&d), AC_BAD_INPUT);
  o.dir = project("shape", false, NULL, NULL);
  ac_shape_arg arg = {.input = "xx", .rank = 1, .dim = {4}};
  o.cases.shapes = &arg;
  o.cases.n_shapes = 1;
  ac_diags_init(&d, a);
  assert_false(ac_verify(a, &o, &r, &d));
  assert_int_equal(d.list.data[0]->code, AC0904);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_it_is),
      cmocka_unit_test(dropped_tail),
      cmocka_unit_test(skipped_store),
      cmocka_unit_test(offset_by_one),
      cmocka_unit_test(ub_overrun),
      cmocka_unit_test(lucky),
      cmocka_unit_test(large_shapes_are_sampled),
      cmocka_unit_test(asked_number_of_blocks),
      cmocka_unit_test(endless_loop),
      cmocka_unit_test(bad_projects),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}

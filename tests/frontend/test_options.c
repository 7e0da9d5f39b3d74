/* Options of ac_trace, what it says of the module, and which Python runs it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/frontend.h"

#define FOLDER AC_SOURCE_DIR "/tests/frontend/modules/"

typedef struct {
  ac_arena *a;
  ac_diags d;
  ac_module_info info;
  ac_trace_opts o;
} fixture;

static int setup(void **state) {
  ac_arena *a = ac_arena_new();
  fixture *f = AC_NEW(a, fixture);
  f->a = a;
  ac_diags_init(&f->d, a);
  f->o = AC_TRACE_DEFAULTS;
  f->o.info = &f->info;
  *state = f;
  return 0;
}

static int teardown(void **state) {
  ac_arena_free(((fixture *)*state)->a);
  return 0;
}

static ac_graph *trace(fixture *f, const char *name) {
  return ac_trace(f->a, ac_sprintf(f->a, FOLDER "%s", name), &f->o, &f->d);
}

static ac_graph *traced(fixture *f, const char *name) {
  ac_graph *g = trace(f, name);
  if (!g) ac_diags_print(&f->d, stderr, false);
  assert_non_null(g);
  assert_null(ac_graph_verify(g));
  return g;
}

/* A file of our own: deleted with the temporary folder. */
static const char *file_with(fixture *f, const char *text) {
  const char *path = ac_path_join(f->a, ac_temp_dir(f->a, &f->d), "op.py");
  assert_true(ac_write_file(path, text, strlen(text), &f->d));
  return path;
}

static const ac_diag *error_of(fixture *f) {
  for (size_t i = 0; i < f->d.list.len; i++)
    if (f->d.list.data[i]->severity == AC_ERROR) return f->d.list.data[i];
  fail_msg("no error was reported");
  return NULL;
}

static void add_shape(fixture *f, const char *text) {
  ac_shape_override s;
  assert_true(ac_parse_shape(f->a, text, &s, &f->d));
  ac_push(f->a, &f->o.shapes, s);
}

static void shapes_are_replaced(void **state) {
  fixture *f = *state;
  add_shape(f, "x=7,1003");
  ac_graph *g = traced(f, "softmax.py");
  const ac_value *x = g->inputs.data[0].value;
  assert_int_equal(x->rank, 2);
  assert_int_equal(x->shape[0]->example, 7);
  assert_int_equal(x->shape[1]->example, 1003);
  assert_int_equal(x->shape[0]->kind, AC_SYM_VAR);
  assert_int_equal(g->outputs.data[0].value->shape[1]->example, 1003);
  assert_non_null(g->inputs.data[0].gen);
}

static void a_rank_may_be_replaced_too(void **state) {
  fixture *f = *state;
  add_shape(f, "0=3,5,7,11:float16");
  ac_graph *g = traced(f, "new_gelu.py");
  assert_int_equal(g->outputs.data[0].value->rank, 4);
  assert_int_equal(g->outputs.data[0].value->dtype, AC_F16);
  assert_int_equal(g->inputs.data[0].gen->rank, 4);
}

static void an_unknown_input_is_named(void **state) {
  fixture *f = *state;
  add_shape(f, "y=7");
  assert_null(trace(f, "softmax.py"));
  assert_int_equal(error_of(f)->code, AC0215);
  assert_non_null(strstr(error_of(f)->message, "y"));
  assert_non_null(strstr(error_of(f)->help.data[0], "x"));
}

static void bad_shapes_are_refused(void **state) {
  fixture *f = *state;
  ac_shape_override s;
  static const char *const bad[] = {"",
                                    "x",
                                    "=3",
                                    "x=a",
                                    "x=3,,4",
                                    "x=-1",
                                    "x=3:float7",
                                    "x=3 4",
                                    "x=99999999999999999999",
                                    "x=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"};
  for (size_t i = 0; i < AC_COUNT(bad); i++) assert_false(ac_parse_shape(f->a, bad[i], &s, &f->d));
  assert_true(ac_parse_shape(f->a, "x=", &s, &f->d));
  assert_int_equal(s.rank, 0);
}

static void dtype_changes_floating_inputs_and_parameters(void **state) {
  fixture *f = *state;
  f->o.dtype = AC_BF16;
  ac_graph *g = traced(f, "linear_stack.py");
  assert_int_equal(g->inputs.data[0].value->dtype, AC_I64);
  for (size_t i = 1; i < g->inputs.len; i++) assert_int_equal(g->inputs.data[i].value->dtype, AC_BF16);
  assert_int_equal(g->outputs.data[0].value->dtype, AC_BF16);
}

static void the_module_is_described(void **state) {
  fixture *f = *state;
  traced(f, "nested_inputs.py");
  const ac_module_info *m = &f->info;
  assert_string_equal(m->class_name, "Model");
  assert_int_equal(m->class_first, 16);
  assert_int_equal(m->class_last, 26);
  assert_string_equal(m->result, "Output(value=out[0], extra=(out[1], None))");
  static const char *const paths[] = {"xs[0]",   "xs[1]",   "cfg['weight']", "cfg['mode']",
                                      "pair[0]", "pair[1]", "scale",         "rest[0]"};
  assert_int_equal(m->args.len, AC_COUNT(paths));
  for (size_t i = 0; i < AC_COUNT(paths); i++) assert_string_equal(m->args.data[i].path, paths[i]);
  assert_string_equal(m->args.data[3].literal, "'neg'");
  assert_int_equal(m->args.data[3].input, -1);
  assert_int_equal(m->args.data[6].input, 5);
  assert_non_null(strstr(m->text, "class Model(nn.Module):"));
}

static void parameters_and_buffers_follow_in_order(void **state) {
  fixture *f = *state;
  ac_graph *g = traced(f, "batch_norm.py");
  static const struct {
    const char *name;
    ac_inrole role;
  } want[] = {{"x", AC_IN_TENSOR},
              {"bn.weight", AC_IN_PARAM},
              {"bn.bias", AC_IN_PARAM},
              {"bn.running_mean", AC_IN_BUFFER},
              {"bn.running_var", AC_IN_BUFFER},
              {"bn.num_batches_tracked", AC_IN_BUFFER}};
  assert_int_equal(g->inputs.len, AC_COUNT(want));
  for (size_t i = 0; i < AC_COUNT(want); i++) {
    assert_string_equal(g->inputs.data[i].name, want[i].name);
    assert_int_equal(g->inputs.data[i].role, want[i].role);
  }
  assert_int_equal(g->outputs.len, 4);
  assert_int_equal(g->outputs.data[0].updates, -1);
  for (int i = 1; i < 4; i++) assert_int_equal(g->outputs.data[i].updates, i + 2);
}

static void a_class_is_chosen(void **state) {
  fixture *f = *state;
  f->o.class_name = "B";
  const char *path = file_with(f, "import torch\nclass A(torch.nn.Module):\n  def forward(self, x):\n    return x\n"
                                  "class B(torch.nn.Module):\n  def forward(self, x):\n    return x + 1\n");
  add_shape(f, "x=3");
  assert_non_null(ac_trace(f->a, path, &f->o, &f->d));
  assert_string_equal(f->info.class_name, "B");
  f->o.class_name = "C";
  assert_null(ac_trace(f->a, path, &f->o, &f->d));
  assert_int_equal(error_of(f)->code, AC0201);
}

/* Any module plus example shapes and constructor arguments: no convention needed. */
static void no_convention_is_needed(void **state) {
  fixture *f = *state;
  const char *path =
      file_with(f, "import torch\nfrom torch import nn\nclass Scale(nn.Module):\n  def __init__(self, n, k):\n"
                   "    super().__init__()\n    self.w = nn.Parameter(torch.randn(n))\n    self.k = k\n"
                   "  def forward(self, x, y):\n    return x * self.w + y * self.k\n");
  f->o.init = "[8, 0.5]";
  add_shape(f, "x=4,8");
  add_shape(f, "y=8:int32");
  ac_graph *g = ac_trace(f->a, path, &f->o, &f->d);
  if (!g) ac_diags_print(&f->d, stderr, false);
  assert_non_null(g);
  assert_int_equal(g->inputs.len, 3);
  assert_int_equal(g->inputs.data[1].value->dtype, AC_I32);
}

#define TWO "import torch\nclass M(torch.nn.Module):\n  def forward(self, x, y):\n    return x + y\n"

static void a_shape_given_twice_is_said(void **state) {
  fixture *f = *state;
  const char *path = file_with(f, TWO "def get_inputs():\n  return [torch.rand(3), torch.rand(3)]\n");
  add_shape(f, "x=4");
  add_shape(f, "x=5");
  assert_null(ac_trace(f->a, path, &f->o, &f->d));
  assert_int_equal(error_of(f)->code, AC0103);
}

static void a_shape_given_by_name_and_place_is_said(void **state) {
  fixture *f = *state;
  const char *path = file_with(f, TWO "def get_inputs():\n  return [torch.rand(3), torch.rand(3)]\n");
  add_shape(f, "x=4");
  add_shape(f, "0=5");
  assert_null(ac_trace(f->a, path, &f->o, &f->d));
  assert_int_equal(error_of(f)->code, AC0103);
}

/* nn.Module takes no arguments where a class has no __init__, as in PyTorch. */
static void arguments_without_init_are_refused(void **state) {
  fixture *f = *state;
  const char *path = file_with(f, TWO "def get_inputs():\n  return [torch.rand(3), torch.rand(3)]\n");
  f->o.init = "[8]";
  assert_null(ac_trace(f->a, path, &f->o, &f->d));
  assert_non_null(strstr(error_of(f)->message, "takes no arguments"));
}

static void inputs_may_be_generated(void **state) {
  fixture *f = *state;
  const char *path = file_with(f, TWO "def get_inputs():\n  yield torch.rand(3)\n  yield torch.rand(3)\n");
  ac_graph *g = ac_trace(f->a, path, &f->o, &f->d);
  assert_non_null(g);
  assert_int_equal(g->inputs.len, 2);
}

static void a_missing_file_is_said(void **state) {
  fixture *f = *state;
  assert_null(ac_trace(f->a, "/nowhere/op.py", &f->o, &f->d));
  assert_int_equal(error_of(f)->code, AC0101);
}

static void a_bad_libpython_is_said(void **state) {
  fixture *f = *state;
  f->o.libpython = "/nowhere/libpython3.so";
  assert_null(trace(f, "softmax.py"));
  assert_int_equal(error_of(f)->code, AC0213);
}

/* Nothing that a caught refusal leaves behind: the graph is that of the fallback. */
static void caught_errors_are_no_errors(void **state) {
  fixture *f = *state;
  const char *path = file_with(
      f, "import torch\nclass Model(torch.nn.Module):\n  def forward(self, x):\n    try:\n"
         "      y = torch.not_there(x)\n    except AttributeError:\n      y = torch.exp(x)\n"
         "    try:\n      y = y + torch.ones(3, 3, 3)[0, 0, :2]\n    except RuntimeError:\n      pass\n"
         "    return y if not hasattr(torch, 'nope') else x\ndef get_inputs():\n  return [torch.rand(4, 7)]\n");
  ac_graph *g = ac_trace(f->a, path, &f->o, &f->d);
  assert_non_null(g);
  assert_int_equal(f->d.errors, 0);
  assert_int_equal(g->outputs.data[0].value->def->op, AC_G_EXP);
}

static void two_runs_give_the_same_bytes(void **state) {
  fixture *f = *state;
  ac_graph *g = traced(f, "views.py"), *h = traced(f, "views.py");
  json_t *x = ac_graph_to_json(g), *y = ac_graph_to_json(h);
  assert_string_equal(ac_json_text(f->a, x), ac_json_text(f->a, y));
  json_decref(x);
  json_decref(y);
}

/* Every libpython that can be found: the answer must not depend on it. */
static void every_python_gives_the_same_graph(void **state) {
  fixture *f = *state;
  static const char *const patterns[] = {"/usr/lib/*-linux-gnu/libpython3.*.so.1.0",
                                         "/usr/local/lib/libpython3.*.so.1.0",
                                         "~/.pyenv/versions/*/lib/libpython3.*.so.1.0"};
  const char *root = getenv("PYENV_ROOT");
  AC_VEC(const char *) all = {0};
  for (size_t i = 0; i < AC_COUNT(patterns) + (root != NULL); i++) {
    glob_t g = {0};
    const char *p =
        i < AC_COUNT(patterns) ? patterns[i] : ac_sprintf(f->a, "%s/versions/*/lib/libpython3.*.so.1.0", root);
    if (!glob(p, GLOB_TILDE, NULL, &g))
      for (size_t k = 0; k < g.gl_pathc; k++) ac_push(f->a, &all, ac_strdup(f->a, g.gl_pathv[k]));
    globfree(&g);
  }
  const char *first = NULL;
  int usable = 0;
  for (size_t i = 0; i < all.len; i++) {
    f->o.libpython = all.data[i];
    int minor = 0;
    assert_int_equal(sscanf(strstr(ac_basename(all.data[i]), "python3."), "python3.%d", &minor), 1);
    ac_diags_init(&f->d, f->a);
    ac_graph *g = trace(f, "linear_stack.py");
    if (minor < 9) {
      assert_null(g);
      assert_int_equal(error_of(f)->code, AC0213);
      continue;
    }
    if (!g) ac_diags_print(&f->d, stderr, false);
    assert_non_null(g);
    assert_int_equal(atoi(strchr(f->info.python, '.') + 1), minor);
    json_t *j = ac_graph_to_json(g);
    const char *text = ac_json_text(f->a, j);
    json_decref(j);
    if (!first) first = text;
    assert_string_equal(text, first);
    usable++;
  }
  print_message("traced with %d Python libraries\n", usable);
  if (usable < 2) {
    print_message("skipped: fewer than two shared Python libraries of 3.9 or later on this host\n");
    skip();
  }
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void) {
  const struct CMUnitTest tests[] = {T(shapes_are_replaced),
                                     T(a_rank_may_be_replaced_too),
                                     T(an_unknown_input_is_named),
                                     T(bad_shapes_are_refused),
                                     T(dtype_changes_floating_inputs_and_parameters),
                                     T(the_module_is_described),
                                     T(parameters_and_buffers_follow_in_order),
                                     T(a_class_is_chosen),
                                     T(no_convention_is_needed),
                                     T(a_shape_given_twice_is_said),
                                     T(a_shape_given_by_name_and_place_is_said),
                                     T(arguments_without_init_are_refused),
                                     T(inputs_may_be_generated),
                                     T(a_missing_file_is_said),
                                     T(a_bad_libpython_is_said),
                                     T(caught_errors_are_no_errors),
                                     T(two_runs_give_the_same_bytes),
                                     T(every_python_gives_the_same_graph)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

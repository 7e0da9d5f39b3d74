/* The planner on many graphs: what it writes prints, parses back to the same text and passes the checker without a word; what it does
 * not cover it refuses by name and line. */
#include "graphs.h"

static char *plan_with_warnings(world *w, int warnings) {
  ac_cmodule *m = ac_plan(w->a, w->g, w->chip, &w->d);
  if (!m) ac_diags_print(&w->d, stderr, false);
  assert_non_null(m);
  char *text = ac_craft_print(w->a, m);
  ac_diags_source(&w->d, "printed.craft", text);
  ac_cmodule *again = ac_craft_parse(w->a, "printed.craft", text, &w->d);
  if (!again) ac_diags_print(&w->d, stderr, false);
  assert_non_null(again);
  assert_string_equal(ac_craft_print(w->a, again), text);
  ac_craft_check_opts o = {.chip = w->chip};
  bool ok = ac_craft_check(w->a, again, &o, &w->d);
  if (!ok || w->d.warnings != warnings) {
    ac_diags_print(&w->d, stderr, false);
    if (getenv("AC_SHOW")) fprintf(stderr, "%s\n", text);
  }
  assert_true(ok);
  assert_int_equal(w->d.warnings, warnings);
  return text;
}

static char *plan_text(world *w) {
  return plan_with_warnings(w, 0);
}

static void has(const char *text, const char *part) {
  if (!strstr(text, part)) fprintf(stderr, "not found: %s\nin:\n%s\n", part, text);
  assert_non_null(strstr(text, part));
}
static void has_not(const char *text, const char *part) {
  assert_null(strstr(text, part));
}

static void refused(world *w, const char *op, const char *reason, int at_line) {
  int before = w->d.errors;
  assert_null(ac_plan(w->a, w->g, w->chip, &w->d));
  assert_int_equal(w->d.errors, before + 1);
  const ac_diag *x = w->d.list.data[w->d.list.len - 1];
  has(x->message, op);
  has(x->message, reason);
  if (at_line) assert_int_equal(x->loc.line, at_line);
  assert_int_equal(ac_code_exit(x->code), AC_UNSUPPORTED);
  assert_true(x->help.len >= 1);
}

static void examples_check(void **state) {
  (void)state;
  for (size_t i = 0; i < AC_COUNT(examples); i++) {
    world *w = examples[i].make();
    plan_text(w);
    world_free(w);
  }
}

/* Every operation of the expansion table in every floating dtype. */
static void every_operation(void **state) {
  (void)state;
  ac_arena *a = ac_arena_new();
  ac_strvec names = ac_plan_covered(a);
  static const ac_dtype dtypes[] = {AC_F32, AC_BF16};
  int planned = 0;
  for (size_t i = 0; i < names.len; i++) {
    ac_op op = ac_op_of(names.data[i]);
    const ac_opinfo *info = ac_op_info(op);
    bool logical = !strncmp(names.data[i], "bitwise_", 8);
    if (info->cls != C_ELT || integers_only(op)) continue;
    for (size_t d = 0; d < 2; d++) {
      world *w = world_new(names.data[i]);
      ac_arg args[8];
      int n = 0;
      for (int k = 0; k < info->n_params; k++) {
        const ac_opparam *p = &info->params[k];
        if (p->kind == AC_K_TENSOR) {
          bool mask = logical || (op == AC_G_WHERE && k == 0);
          args[n++] = at(tensor(w, p->name, mask ? AC_BOOL : dtypes[d], 2, DIMS(37, 1003)));
        } else if (p->kind == AC_K_DTYPE)
          args[n++] = (ac_arg){.kind = AC_K_DTYPE, .d = AC_F16};
        else if (!p->has_default)
          args[n++] = anum(0.5);
        else
          break;
      }
      out(w, "y", apply(w, op, n, args));
      plan_text(w);
      planned++;
      world_free(w);
    }
  }
  assert_true(planned > 140);
  ac_arena_free(a);
}

static void softmax_forms(void **state) {
  (void)state;
  static const ac_dtype dtypes[] = {AC_F32, AC_F16, AC_BF16};
  for (int rank = 0; rank <= 4; rank++)
    for (int dim = -rank; dim < rank || (rank == 0 && dim == 0); dim++)
      for (size_t d = 0; d < AC_COUNT(dtypes); d++)
        for (int log = 0; log < 2; log++) {
          if (rank != 2 && (int)(rank + dim + 8 + log) % 3 != (int)d) continue; /* checking takes its time */
          world *w = world_new(log ? "log_softmax" : "softmax");
          ac_op op = log ? AC_G_LOG_SOFTMAX : AC_G_SOFTMAX;
          out(w, "y", APPLY(w, op, at(tensor(w, "x", dtypes[d], rank, DIMS(3, 5, 7, 11))), aint(w, dim)));
          char *text = plan_text(w);
          if (dim && dim != -1) has(text, ac_sprintf(w->a, "axis = x.shape[%d]", dim));
          if (dim == -1) has_not(text, "inner");
          world_free(w);
        }
}

static void rank_does_not_matter(void **state) {
  (void)state;
  for (int rank = 0; rank < 5; rank++) {
    world *w = world_new("relu");
    out(w, "y", un(w, AC_G_RELU, tensor(w, "x", AC_F32, rank, DIMS(3, 5, 7, 11, 2))));
    char *text = plan_text(w);
    has(text, "n = x.numel()");
    has_not(text, "shape");
    world_free(w);
  }
}

static void broadcasting(void **state) {
  (void)state;
  world *w = ex_broadcast();
  char *text = plan_text(w);
  has(text, "rows = tl.prod(x.shape[:-1])");
  has(text, "cols = x.shape[-1]");
  has(text, "tl.extract_scalar(scale_ptr, row)");
  has(text, "tl.load(bias_ptr + col + tl.arange(0, count), bias)");
  world_free(w);

  w = ex_channel();
  text = plan_text(w);
  has(text, "tl.extract_scalar(bias_ptr, row % d1)");
  has(text, "cols = tl.prod(x.shape[-2:])");
  world_free(w);

  /* x[M, 1] * y[1, N]: nobody has the whole shape */
  w = world_new("outer");
  ac_value *x = tensor(w, "x", AC_F32, 2, DIMS(100, 1)), *y = tensor(w, "y", AC_F16, 2, DIMS(1, 77));
  out(w, "z", bin(w, AC_G_MUL, x, y));
  text = plan_text(w);
  has(text, "rows = tl.prod(x.shape[:-1])");
  has(text, "cols = y.shape[-1]");
  world_free(w);

  /* alternating groups */
  w = world_new("alternating");
  x = tensor(w, "x", AC_F32, 4, DIMS(2, 3, 4, 5));
  y = tensor(w, "y", AC_F32, 4, DIMS(2, 1, 4, 1));
  out(w, "z", bin(w, AC_G_ADD, x, y));
  text = plan_text(w);
  has(text, "row // (d1 * d2)");
  has(text, "row % d2");
  world_free(w);

  /* a tensor of one element */
  w = world_new("one");
  x = tensor(w, "x", AC_F32, 2, DIMS(7, 9));
  y = ac_graph_input(w->g, "s", AC_IN_TENSOR, AC_F32, 1, DIMS(1), (bool[]){true});
  out(w, "z", bin(w, AC_G_MUL, x, y));
  text = plan_text(w);
  has(text, "tl.extract_scalar(s_ptr, 0)");
  has(text, "s.numel() != 1");
  world_free(w);
}

static void scalars_and_constants(void **state) {
  (void)state;
  world *w = world_new("axpy");
  ac_value *x = tensor(w, "x", AC_F32, 2, DIMS(7, 9)), *y = tensor(w, "y", AC_F32, 2, DIMS(7, 9));
  ac_value *alpha = ac_graph_input(w->g, "alpha", AC_IN_SCALAR, AC_F32, 0, NULL, NULL);
  w->g->inputs.data[2].scalar = 0.5;
  out(w, "z", bin(w, AC_G_ADD, bin(w, AC_G_MUL, x, bin(w, AC_G_MUL, alpha, c(w, 2))), y));
  char *text = plan_text(w);
  has(text, "alpha: float");
  has(text, "alpha * 2.0");
  world_free(w);

  /* a size in the arithmetic */
  w = world_new("by_size");
  x = tensor(w, "x", AC_F32, 2, DIMS(7, 9));
  out(w, "z", bin(w, AC_G_DIV, x, ac_graph_integer(w->g, x->shape[1])));
  text = plan_text(w);
  has(text, "x.shape[1]");
  world_free(w);

  /* a result without any tensor */
  w = world_new("ones");
  x = tensor(w, "x", AC_F32, 2, DIMS(7, 9));
  out(w, "z", apply(w, AC_G_ONES_LIKE, 1, (ac_arg[]){at(x)}));
  text = plan_with_warnings(w, 1); /* x is not used */
  has(text, "tl.duplicate(z, 1.0, count=count)");
  world_free(w);
}

static void several_outputs(void **state) {
  (void)state;
  /* the same value twice, an input passed on, and an input both passed on and used */
  world *w = world_new("many");
  ac_value *x = tensor(w, "x", AC_F32, 2, DIMS(7, 9)), *k = tensor(w, "k", AC_I64, 2, DIMS(7, 9));
  ac_value *y = un(w, AC_G_EXP, x);
  out(w, "a", y);
  out(w, "b", y);
  out(w, "c", x);
  out(w, "d", k);
  plan_text(w);
  world_free(w);

  /* two shapes: two launches */
  w = world_new("two_shapes");
  x = tensor(w, "x", AC_F32, 2, DIMS(7, 9));
  ac_value *v = tensor(w, "v", AC_F32, 1, DIMS(9));
  out(w, "a", bin(w, AC_G_ADD, x, v));
  out(w, "b", un(w, AC_G_EXP, v));
  char *text = plan_text(w);
  has(text, "two_shapes_kernel[max(n_cores, n_cores_2)]");
  world_free(w);

  /* a buffer that is updated: input and output parameter of its own */
  w = world_new("update");
  x = tensor(w, "x", AC_F32, 1, DIMS(9));
  ac_value *b = ac_graph_input(w->g, "state", AC_IN_BUFFER, AC_F32, 1, DIMS(9), (bool[]){true});
  ac_graph_output(w->g, "state_out", bin(w, AC_G_ADD, b, x), 1);
  text = plan_text(w);
  has(text, "state_out: tl.tensor[tl.float32]");
  world_free(w);
}

static void masks_and_integers(void **state) {
  (void)state;
  world *w = world_new("masked");
  ac_value *x = tensor(w, "x", AC_F16, 2, DIMS(7, 9)), *m = tensor(w, "mask", AC_BOOL, 2, DIMS(7, 9));
  out(w, "y", apply(w, AC_G_MASKED_FILL, 3, (ac_arg[]){at(x), at(m), at(c(w, -1e4))}));
  plan_text(w);
  world_free(w);

  w = world_new("compare");
  x = tensor(w, "x", AC_F32, 2, DIMS(7, 9));
  ac_value *y = tensor(w, "y", AC_F32, 1, DIMS(9));
  out(w, "less", bin(w, AC_G_LT, x, y));
  out(w, "not_equal", bin(w, AC_G_NE, x, y));
  out(w, "both", bin(w, AC_G_LOGICAL_AND, bin(w, AC_G_GT, x, c(w, 0)), bin(w, AC_G_LT, x, y)));
  plan_text(w);
  world_free(w);

  w = world_new("ints");
  x = tensor(w, "x", AC_I32, 2, DIMS(7, 9));
  y = tensor(w, "y", AC_I32, 2, DIMS(7, 9));
  out(w, "sum", bin(w, AC_G_ADD, x, bin(w, AC_G_MUL, y, ac_graph_integer(w->g, ac_sym_int(w->g, 3)))));
  out(w, "is_label", bin(w, AC_G_EQ, x, ac_graph_integer(w->g, ac_sym_int(w->g, 7))));
  plan_text(w);
  world_free(w);

  w = world_new("quotients");
  x = tensor(w, "x", AC_I64, 2, DIMS(7, 9));
  y = tensor(w, "y", AC_I64, 2, DIMS(7, 9));
  out(w, "quotient", bin(w, AC_G_FLOOR_DIVIDE, x, y));
  out(w, "rest", bin(w, AC_G_REMAINDER, x, y));
  has(plan_text(w), "tl.vfloordiv(");
  world_free(w);

  w = world_new("clamped");
  x = tensor(w, "x", AC_F32, 2, DIMS(7, 9));
  out(w, "y", apply(w, AC_G_CLAMP, 3, (ac_arg[]){at(x), at(c(w, -1)), at(c(w, 1))}));
  plan_text(w);
  world_free(w);
}

static void views(void **state) {
  (void)state;
  /* reshapes of inputs and of results are free; so is one between operations that do not broadcast */
  world *w = world_new("reshaped");
  ac_value *x = tensor(w, "x", AC_F32, 2, DIMS(6, 8));
  const ac_sym *s[] = {ac_sym_int(w->g, 48)};
  ac_arg shape = {.kind = AC_K_INTS, .is = s, .n = 1};
  ac_value *flat = apply(w, AC_G_RESHAPE, 2, (ac_arg[]){at(un(w, AC_G_EXP, x)), shape});
  out(w, "y", un(w, AC_G_RELU, flat));
  plan_text(w);
  world_free(w);

  w = world_new("unsqueezed");
  x = tensor(w, "x", AC_F32, 2, DIMS(6, 8));
  ac_value *v = tensor(w, "v", AC_F32, 1, DIMS(6));
  out(w, "y", bin(w, AC_G_MUL, x, apply(w, AC_G_UNSQUEEZE, 2, (ac_arg[]){at(v), aint(w, 1)})));
  char *text = plan_text(w);
  has(text, "tl.extract_scalar(v_ptr, row)");
  world_free(w);
}

/* What the user's code asked about a size, the tiling code asks too. */
static void guards(void **state) {
  (void)state;
  world *w = world_new("guarded");
  ac_value *x = tensor(w, "x", AC_F32, 2, DIMS(6, 8));
  assert_true(ac_sym_guard(w->g, AC_GUARD_LT, x->shape[1], ac_sym_int(w->g, 100), line(5), "if on a size"));
  out(w, "y", un(w, AC_G_EXP, x));
  char *text = plan_text(w);
  has(text, "if x.shape[1] >= 100:\n        tl.refuse(\"traced for x.shape[1] < 100 (if on a size)\")");
  world_free(w);
}

static void names_that_clash(void **state) {
  (void)state;
  world *w = world_new("clash");
  ac_value *x = tensor(w, "n", AC_F32, 2, DIMS(6, 8)), *y = tensor(w, "tile", AC_F32, 1, DIMS(8));
  ac_value *z = tensor(w, "cols", AC_F32, 2, DIMS(6, 1)), *u = tensor(w, "lambda", AC_F32, 2, DIMS(6, 8));
  out(w, "n", bin(w, AC_G_ADD, bin(w, AC_G_ADD, x, y), bin(w, AC_G_ADD, z, u)));
  plan_text(w);
  world_free(w);
}

static void refusals(void **state) {
  (void)state;
  world *w = world_new("m");
  ac_value *x = tensor(w, "x", AC_F32, 2, DIMS(6, 8)), *y = tensor(w, "y", AC_F32, 2, DIMS(8, 6));
  out(w, "z", bin(w, AC_G_MATMUL, x, y));
  refused(w, "matmul", "element-wise", 12);
  world_free(w);

  w = world_new("m");
  x = tensor(w, "x", AC_F32, 2, DIMS(6, 8));
  out(w, "z", un(w, AC_G_ERFC, x));
  refused(w, "erfc", "element-wise", 0);
  world_free(w);

  /* wrong for large arguments, so not covered at all */
  w = world_new("m");
  x = tensor(w, "x", AC_F32, 2, DIMS(6, 8));
  out(w, "z", un(w, AC_G_SIN, x));
  refused(w, "sin", "1e4", 0);
  world_free(w);

  w = world_new("m");
  x = tensor(w, "x", AC_F64, 2, DIMS(6, 8));
  out(w, "z", un(w, AC_G_EXP, x));
  refused(w, "x", "float64", 0);
  world_free(w);

  w = world_new("m");
  x = tensor(w, "x", AC_F32, 2, DIMS(6, 8));
  out(w, "z", bin(w, AC_G_REMAINDER, x, x));
  refused(w, "remainder", "2^22", 0);
  world_free(w);
}

/* What a schedule cannot take in stands in workspace between two stages; outputs that are there already are read, not computed again. */
static void stages(void **state) {
  (void)state;
  world *w = world_new("m");
  ac_value *x = tensor(w, "x", AC_F32, 2, DIMS(6, 1003)), *b = tensor(w, "b", AC_F32, 1, DIMS(1003));
  ac_value *y = APPLY(w, AC_G_SOFTMAX, at(un(w, AC_G_EXP, x)), aint(w, -1));
  out(w, "z", APPLY(w, AC_G_SUM, at(bin(w, AC_G_MUL, y, b)), aint(w, 0)));
  char *text = plan_with_warnings(w, 0);
  has(text, "softmax = tl.empty(x.shape[0] * x.shape[1], tl.float32)");
  has(text, "m_softmax_kernel[max(1, tl.cdiv(units, per_core))](");
  has(text, "        b, softmax, z, units_2, cols_2, rows_2, ");
  has(text, "\"\"\"2 stages, one after the other.\"\"\"");
  world_free(w);
}

/* A second stage's sizes must fit before the first stage runs. */
static void guards_before_launches(void **state) {
  (void)state;
  world *w = world_new("m");
  ac_value *g = tensor(w, "g", AC_F32, 3, DIMS(6, 4, 72)), *y = tensor(w, "y", AC_F32, 2, DIMS(6, 72)),
           *h = tensor(w, "h", AC_F32, 2, DIMS(6, 4));
  out(w, "a", APPLY(w, AC_G_SUM, at(bin(w, AC_G_MUL, g, APPLY(w, AC_G_UNSQUEEZE, at(h), aint(w, 2)))), aint(w, 1)));
  out(w, "b", APPLY(w, AC_G_SUM, at(bin(w, AC_G_MUL, g, APPLY(w, AC_G_UNSQUEEZE, at(y), aint(w, 1)))), aint(w, 2)));
  ac_cmodule *m = ac_plan(w->a, w->g, w->chip, &w->d);
  assert_non_null(m);
  char *text = ac_craft_print(w->a, m), *launch = strstr(strstr(text, "def m_host"), "_kernel[");
  assert_non_null(launch);
  has(strstr(text, "def m_host"), "y.shape");
  for (const char *at = strstr(text, "broadcast of dimension"); at; at = strstr(at + 1, "broadcast of dimension"))
    assert_true(at < launch);
  assert_non_null(strstr(text, "broadcast of dimension"));
  assert_true(ac_craft_check(w->a, m, &(ac_craft_check_opts){.chip = w->chip}, &w->d));
  ac_verdicts v;
  assert_true(ac_craft_prove(w->a, m, &(ac_craft_check_opts){.chip = w->chip}, &v, &w->d));
  world_free(w);
}

static char *argmax_of_rows(world *w, int64_t cols) {
  ac_value *x = tensor(w, "x", AC_F32, 1, DIMS(6 * cols));
  const ac_sym *s[] = {ac_sym_int(w->g, 6), ac_sym_int(w->g, cols)};
  ac_arg shape = {.kind = AC_K_INTS, .is = s, .n = 2};
  out(w, "y", APPLY(w, AC_G_ARGMAX, at(apply(w, AC_G_RESHAPE, 2, (ac_arg[]){at(x), shape})), aint(w, 1)));
  return plan_with_warnings(w, 0);
}

/* A size that the graph fixes decides between the forms of a schedule: the others are not there. */
static void fixed_sizes(void **state) {
  (void)state;
  world *w = world_new("m");
  char *text = argmax_of_rows(w, 2046);
  has(text, "axis = 2046");
  has(text, "m_rows_kernel[");
  has(text, "m_join_kernel[");
  has_not(text, "if axis <= 128");
  has_not(text, "if axis > ");
  world_free(w);

  w = world_new("m");
  text = argmax_of_rows(w, 100);
  has(text, "    # Short rows: several at a time");
  has(text, "m_rows_kernel[");
  has_not(text, "m_long");
  has_not(text, "m_join");
  world_free(w);
}

/* Two plans of one graph are the same bytes. */
static void deterministic(void **state) {
  (void)state;
  for (size_t i = 0; i < AC_COUNT(examples); i++) {
    world *w = examples[i].make(), *v = examples[i].make();
    assert_string_equal(ac_craft_print(w->a, ac_plan(w->a, w->g, w->chip, &w->d)),
                        ac_craft_print(v->a, ac_plan(v->a, v->g, v->chip, &v->d)));
    world_free(w);
    world_free(v);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(examples_check),  cmocka_unit_test(every_operation),
      cmocka_unit_test(softmax_forms),   cmocka_unit_test(rank_does_not_matter),
      cmocka_unit_test(broadcasting),    cmocka_unit_test(scalars_and_constants),
      cmocka_unit_test(several_outputs), cmocka_unit_test(masks_and_integers),
      cmocka_unit_test(views),           cmocka_unit_test(names_that_clash),
      cmocka_unit_test(guards),          cmocka_unit_test(refusals),
      cmocka_unit_test(stages),          cmocka_unit_test(guards_before_launches),
      cmocka_unit_test(fixed_sizes),     cmocka_unit_test(deterministic),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Symbolic sizes, guards, messages, pruning, JSON, replay at other shapes, overflow. */
#include "graph/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

typedef struct {
  ac_arena *a;
  ac_diags d;
  ac_graph *g;
} fx;

static int setup(void **state) {
  ac_arena *a = ac_arena_new();
  fx *f = AC_NEW(a, fx);
  f->a = a;
  ac_diags_init(&f->d, a);
  f->g = ac_graph_new(a, &f->d);
  *state = f;
  return 0;
}

static int teardown(void **state) {
  ac_arena_free(((fx *)*state)->a);
  return 0;
}

static const ac_loc here = {"model.py", 12, 3, 0};

static ac_value *in(fx *f, ac_dtype d, int rank, const int64_t *sizes) {
  return ac_graph_input(f->g, ac_sprintf(f->a, "x%zu", f->g->inputs.len), AC_IN_TENSOR, d, rank, sizes, NULL);
}
#define IN(f, d, ...) in(f, d, (int)AC_COUNT(((int64_t[]){__VA_ARGS__})), (int64_t[]){__VA_ARGS__})
#define SHAPE(...) ((ac_shape){(int)AC_COUNT(((int64_t[]){__VA_ARGS__})), {__VA_ARGS__}})
#define T(v) ((ac_arg){.kind = AC_K_TENSOR, .t = (v)})
#define I(f, v) ((ac_arg){.kind = AC_K_INT, .i = ac_sym_int((f)->g, (v))})
#define S(s) ((ac_arg){.kind = AC_K_INT, .i = (s)})
#define NONE ((ac_arg){.absent = true})
#define LIST(...)                                  \
  ((ac_arg){.kind = AC_K_INTS,                     \
            .is = (const ac_sym *[]){__VA_ARGS__}, \
            .n = (int)AC_COUNT(((const ac_sym *[]){__VA_ARGS__}))})
#define APPLY(f, op, ...) apply(f, op, (ac_arg[]){__VA_ARGS__}, (int)AC_COUNT(((ac_arg[]){__VA_ARGS__})))

static ac_value *apply(fx *f, ac_op op, const ac_arg *args, int n) {
  ac_value **o = ac_graph_apply(f->g, op, args, n, here, NULL);
  return o ? o[0] : NULL;
}

static const ac_sym *num(fx *f, int64_t v) {
  return ac_sym_int(f->g, v);
}
static const ac_sym *op(fx *f, ac_symkind k, const ac_sym *a, const ac_sym *b) {
  return ac_sym_op(f->g, k, a, b);
}
static const ac_sym *add(fx *f, const ac_sym *a, const ac_sym *b) {
  return op(f, AC_SYM_ADD, a, b);
}
static const ac_sym *mul(fx *f, const ac_sym *a, const ac_sym *b) {
  return op(f, AC_SYM_MUL, a, b);
}
static const ac_sym *divide(fx *f, const ac_sym *a, const ac_sym *b) {
  return op(f, AC_SYM_FLOORDIV, a, b);
}

static void assert_text(fx *f, const ac_sym *s, const char *text) {
  assert_string_equal(ac_sym_text(f->a, f->g, s), text);
}

static void assert_message(fx *f, const char *part) {
  assert_true(f->d.list.len > 0);
  const ac_diag *x = f->d.list.data[f->d.list.len - 1];
  if (!strstr(x->message, part)) fail_msg("'%s' does not say '%s'", x->message, part);
}

/* ---- sizes ---- */

static void canonical(void **state) {
  fx *f = *state;
  const ac_sym *a = ac_sym_fresh(f->g, 6, -1, 0), *b = ac_sym_fresh(f->g, 4, -1, 1), *two = num(f, 2);
  assert_ptr_equal(add(f, a, b), add(f, b, a));
  assert_ptr_equal(mul(f, a, mul(f, b, two)), mul(f, mul(f, two, a), b));
  assert_ptr_equal(ac_sym_sub(f->g, add(f, a, b), b), a);
  assert_ptr_equal(ac_sym_sub(f->g, a, a), num(f, 0));
  assert_ptr_equal(divide(f, mul(f, a, b), b), a);
  assert_ptr_equal(divide(f, mul(f, a, num(f, 12)), num(f, 4)), mul(f, a, num(f, 3)));
  assert_ptr_equal(divide(f, divide(f, a, two), num(f, 3)), divide(f, a, num(f, 6)));
  assert_ptr_equal(mul(f, add(f, a, b), add(f, a, b)),
                   add(f, add(f, mul(f, a, a), mul(f, mul(f, a, b), two)), mul(f, b, b)));
  assert_ptr_equal(op(f, AC_SYM_MOD, add(f, mul(f, a, num(f, 4)), num(f, 7)), num(f, 4)), num(f, 3));
  assert_ptr_equal(divide(f, add(f, mul(f, a, num(f, 4)), num(f, 7)), num(f, 4)), add(f, a, num(f, 1)));
  assert_ptr_equal(op(f, AC_SYM_MIN, a, add(f, a, b)), a); /* sizes are not negative */
  assert_ptr_equal(op(f, AC_SYM_MAX, a, b), op(f, AC_SYM_MAX, b, a));
  assert_ptr_equal(op(f, AC_SYM_MIN, divide(f, a, two), a)->a, a);
  assert_text(f, add(f, mul(f, a, b), num(f, 1)), "s0*s1 + 1");
  assert_text(f, ac_sym_sub(f->g, num(f, 5), mul(f, a, two)), "-2*s0 + 5");
  assert_text(f, mul(f, two, divide(f, ac_sym_sub(f->g, a, num(f, 1)), num(f, 3))), "2*((s0 + 2) // 3) - 2");
  assert_int_equal(divide(f, ac_sym_sub(f->g, a, num(f, 1)), num(f, 4))->example, 1);
  assert_int_equal(f->d.errors, 0);
}

/* Every rewriting keeps the value, also where it is not the example's. */
static void rewriting_keeps_values(void **state) {
  fx *f = *state;
  const ac_sym *v[3];
  for (int i = 0; i < 3; i++) v[i] = ac_sym_fresh(f->g, 5 + i, -1, i);
  uint64_t seed = 12345;
  for (int round = 0; round < 3000; round++) {
    const ac_sym *s[9] = {v[0], v[1], v[2], num(f, 1), num(f, -2), num(f, 3)};
    int64_t x[3], val[9];
    for (int i = 0; i < 3; i++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      val[i] = x[i] = 1 + (int64_t)(seed >> 40) % 11;
    }
    val[3] = 1, val[4] = -2, val[5] = 3;
    for (int n = 6; n < 9; n++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      int p = (int)(seed >> 33) % n, q = (int)(seed >> 43) % n;
      ac_symkind k = AC_SYM_ADD + (seed >> 53) % 6;
      bool by_zero = (k == AC_SYM_FLOORDIV || k == AC_SYM_MOD) && (!val[q] || !s[q]->example);
      if (by_zero) k = AC_SYM_ADD;
      s[n] = op(f, k, s[p], s[q]);
      int64_t a = val[p], b = val[q], fl = b ? a / b - (a % b != 0 && (a < 0) != (b < 0)) : 0;
      val[n] = k == AC_SYM_ADD        ? a + b
               : k == AC_SYM_MUL      ? a * b
               : k == AC_SYM_FLOORDIV ? fl
               : k == AC_SYM_MOD      ? a - b * fl
               : k == AC_SYM_MIN      ? (a < b ? a : b)
                                      : (a > b ? a : b);
      int64_t got;
      /* a divisor inside may be 0 here though it is not at the example: then there is no value */
      if (!ac_sym_eval(s[n], x, &got)) break;
      if (got != val[n])
        fail_msg("%s is %lld, not %lld", ac_sym_text(f->a, f->g, s[n]), (long long)got, (long long)val[n]);
    }
  }
  assert_int_equal(f->d.errors, 0);
}

static void overflow(void **state) {
  fx *f = *state;
  const ac_sym *a = ac_sym_fresh(f->g, INT64_C(1) << 40, -1, 0);
  assert_ptr_equal(mul(f, a, a), num(f, 0));
  assert_int_equal(f->d.errors, 1);
  assert_message(f, "overflows 64 bits");
  assert_int_equal(ac_diags_exit(&f->d), AC_LIMIT);
  divide(f, a, num(f, 0));
  assert_message(f, "divides by zero");
}

/* ---- guards ---- */

static void guards(void **state) {
  fx *f = *state;
  const ac_sym *a = ac_sym_fresh(f->g, 6, 0, 0), *b = ac_sym_fresh(f->g, 6, 0, 1), *c = ac_sym_fresh(f->g, 9, 0, 2);
  assert_false(ac_sym_equal(f->g, a, b));
  assert_true(ac_sym_guard(f->g, AC_GUARD_EQ, a, b, here, "test"));
  assert_true(ac_sym_equal(f->g, a, b));
  assert_true(ac_sym_equal(f->g, mul(f, a, c), mul(f, c, b)));
  assert_int_equal(f->g->guards.len, 1);
  assert_true(ac_sym_guard(f->g, AC_GUARD_EQ, b, a, here, "again"));
  assert_false(ac_sym_guard(f->g, AC_GUARD_NE, b, a, here, "again"));
  assert_int_equal(f->g->guards.len, 1);
  /* a false branch records its negation */
  assert_false(ac_sym_guard(f->g, AC_GUARD_LT, c, a, here, "if on a size"));
  assert_int_equal(f->g->guards.data[1].kind, AC_GUARD_LE);
  assert_false(f->g->guards.data[1].rule);
  assert_true(ac_sym_guard(f->g, AC_GUARD_LE, b, add(f, c, num(f, 3)), here, "implied"));
  assert_true(ac_sym_guard(f->g, AC_GUARD_NE, c, num(f, 0), here, "size"));
  assert_true(ac_sym_guard(f->g, AC_GUARD_NE, c, num(f, 1), here, "size"));
  size_t n = f->g->guards.len;
  assert_true(ac_sym_guard(f->g, AC_GUARD_LE, num(f, 2), c, here, "follows from the two"));
  assert_true(ac_sym_guard(f->g, AC_GUARD_LE, num(f, -1), a, here, "sizes are not negative"));
  assert_int_equal(f->g->guards.len, n);
  /* an int of the caller's may be negative */
  const ac_sym *i = ac_sym_fresh(f->g, 6, 0, -1);
  assert_true(ac_sym_guard(f->g, AC_GUARD_LE, num(f, 0), i, here, "sign"));
  assert_int_equal(f->g->guards.len, n + 1);
  /* pinned to a number, and through a sum */
  assert_true(ac_sym_guard(f->g, AC_GUARD_EQ, add(f, a, c), num(f, 15), here, "sum"));
  assert_true(ac_sym_guard(f->g, AC_GUARD_EQ, a, num(f, 6), here, "pin"));
  assert_ptr_equal(ac_sym_resolve(f->g, c), num(f, 9));
}

static void broadcasting(void **state) {
  fx *f = *state;
  ac_value *x = IN(f, AC_F32, 16, 128), *y = IN(f, AC_F32, 16, 128), *one = IN(f, AC_F32, 16, 1), *z;
  z = ac_graph_op2(f->g, AC_G_ADD, x, y, here);
  assert_int_equal(f->g->guards.len, 2);
  assert_true(f->g->guards.data[0].rule);
  assert_string_equal(f->g->guards.data[0].loc.file, "model.py");
  z = ac_graph_op2(f->g, AC_G_MUL, z, y, here); /* nothing new */
  assert_int_equal(f->g->guards.len, 2);
  z = ac_graph_op2(f->g, AC_G_MUL, z, one, here); /* == rows, and the column is 1 */
  assert_int_equal(f->g->guards.len, 4);
  assert_ptr_equal(ac_sym_resolve(f->g, one->shape[1]), num(f, 1));
  assert_ptr_equal(z->shape[1], x->shape[1]);
  assert_null(ac_graph_op2(f->g, AC_G_ADD, x, IN(f, AC_F32, 16, 100), here));
  assert_message(f, "dimension -1 is 128 against 100");
  assert_message(f, "[16, 128]");
  assert_true(f->d.list.data[0]->help.len == 1);
}

static void reshape_stays_symbolic(void **state) {
  fx *f = *state;
  ac_value *x = IN(f, AC_F32, 8, 12, 5, 7);
  const ac_sym **s = x->shape;
  ac_value *flat = APPLY(f, AC_G_FLATTEN, T(x), I(f, 1));
  assert_text(f, flat->shape[1], "s1*s2*s3");
  ac_value *back = APPLY(f, AC_G_RESHAPE, T(flat), LIST(s[0], s[1], s[2], s[3]));
  assert_ptr_equal(back->shape[2], s[2]);
  ac_value *hole = APPLY(f, AC_G_RESHAPE, T(flat), LIST(num(f, -1), s[2], s[3]));
  assert_text(f, hole->shape[0], "s0*s1");
  assert_int_equal(f->g->guards.len, 1); /* what stands beside -1 is not 0 */
  /* channels in groups: the guard is about the remainder, and the groups multiply back */
  const ac_sym *per = divide(f, s[1], num(f, 4));
  ac_value *g = APPLY(f, AC_G_RESHAPE, T(x), LIST(s[0], num(f, 4), per, s[2], s[3]));
  assert_non_null(g);
  assert_true(ac_sym_equal(f->g, mul(f, per, num(f, 4)), s[1]));
  ac_value *again = APPLY(f, AC_G_RESHAPE, T(g), LIST(s[0], s[1], s[2], s[3]));
  assert_non_null(again);
  assert_int_equal(f->g->guards.len, 2);
  assert_null(APPLY(f, AC_G_RESHAPE, T(x), LIST(num(f, 11), num(f, -1))));
  assert_message(f, "[8, 12, 5, 7] does not fit shape [11, -1]");
}

static void slices(void **state) {
  fx *f = *state;
  ac_value *x = IN(f, AC_F32, 8, 12);
  ac_value *head = APPLY(f, AC_G_SLICE, T(x), I(f, 1), NONE, I(f, -1));
  assert_text(f, head->shape[1], "s1 - 1");
  ac_value *first = APPLY(f, AC_G_SLICE, T(x), I(f, -1), NONE, I(f, 5));
  assert_text(f, first->shape[1], "5");
  ac_value *all = APPLY(f, AC_G_SLICE, T(x), I(f, 1), I(f, 0), I(f, INT64_MAX));
  assert_ptr_equal(all->shape[1], x->shape[1]);
  ac_value *odd = APPLY(f, AC_G_SLICE, T(x), I(f, 0), I(f, 1), NONE, I(f, 2));
  assert_text(f, odd->shape[0], "s0 // 2");
  ac_graph_output(f->g, "a", head, -1);
  ac_graph_output(f->g, "b", first, -1);
  ac_shape s = SHAPE(8, 4);
  assert_null(ac_graph_respecialise(f->a, f->g, &s, &f->d)); /* [:5] of 4 was not traced */
  assert_message(f, "guard 5 <= s1");
  s = SHAPE(3, 5);
  assert_non_null(ac_graph_respecialise(f->a, f->g, &s, &f->d));
}

/* ---- the table ---- */

static void names(void **state) {
  (void)state;
  bool swapped, inplace;
  assert_int_equal(ac_op_by_name('m', "__radd__", &swapped, &inplace), AC_G_ADD);
  assert_true(swapped && !inplace);
  assert_int_equal(ac_op_by_name('m', "__iadd__", &swapped, &inplace), AC_G_ADD);
  assert_true(!swapped && inplace);
  assert_int_equal(ac_op_by_name('m', "__invert__", &swapped, &inplace), AC_G_BITWISE_NOT);
  assert_false(inplace);
  assert_int_equal(ac_op_by_name('m', "clamp_", &swapped, &inplace), AC_G_CLAMP);
  assert_true(inplace);
  assert_int_equal(ac_op_by_name('f', "gelu", NULL, NULL), AC_G_GELU);
  assert_int_equal(ac_op_by_name('t', "gelu", NULL, NULL), AC_OP_COUNT);
  assert_string_equal(ac_op_nearest('f', "softmx"), "softmax");
  assert_null(ac_op_nearest('f', "zzzzzzzzzzzz"));
  for (int i = 0; i < AC_OP_COUNT; i++) assert_int_equal(ac_op_of(ac_op_info((ac_op)i)->id), i);
  const ac_opinfo *o = ac_op_info(AC_G_ADD);
  assert_int_equal(o->n_params, 3);
  assert_int_equal(o->n_positional, 2);
  assert_string_equal(o->params[2].default_text, "1");
}

/* Every operation of the table is in cases.txt, save those that Python does not call. */
static void every_operation_is_tested(void **state) {
  fx *f = *state;
  static const ac_op internal[] = {AC_G_INPUT, AC_G_CONST, AC_G_SIZE, AC_G_TENSOR, AC_G_UNIFORM, AC_G_NORMAL};
  char *text = ac_read_file(f->a, AC_SOURCE_DIR "/tests/graph/cases.txt", 0, NULL, NULL);
  for (int i = 0; i < AC_OP_COUNT; i++) {
    bool skip = false;
    for (size_t k = 0; k < AC_COUNT(internal); k++) skip |= (int)internal[k] == i;
    if (!skip && !strstr(text, ac_sprintf(f->a, "\n%s ", ac_op_info((ac_op)i)->id)))
      fail_msg("%s has no case", ac_op_info((ac_op)i)->id);
  }
}

static void messages(void **state) {
  fx *f = *state;
  ac_value *x = IN(f, AC_F32, 4, 6), *i = IN(f, AC_I64, 4, 6);
  assert_null(APPLY(f, AC_G_SUM, T(x), LIST(num(f, 2))));
  assert_message(f, "sum: dimension 2 is out of range: the tensor has 2 dimensions");
  assert_null(APPLY(f, AC_G_GELU, T(i)));
  assert_message(f, "gelu: does not take int64 tensors");
  assert_null(APPLY(f, AC_G_CROSS_ENTROPY, T(x), T(i)));
  assert_message(f, "cross_entropy: ");
  assert_null(apply(f, AC_G_RELU, NULL, 0));
  assert_message(f, "argument `input` is missing");
  assert_null(APPLY(f, AC_G_ONE_HOT, T(i)));
  assert_message(f, "depends on the data");
  for (size_t k = 0; k < f->d.list.len; k++) {
    assert_int_equal(f->d.list.data[k]->loc.line, 12);
    assert_true(f->d.list.data[k]->help.len == 1);
  }
}

/* ---- numbers ---- */

static void weak_numbers(void **state) {
  fx *f = *state;
  ac_value *h = IN(f, AC_F16, 4), *i = IN(f, AC_I32, 4), *b = IN(f, AC_BOOL, 4);
  assert_int_equal(ac_graph_op2(f->g, AC_G_MUL, h, ac_graph_number(f->g, 2.5), here)->dtype, AC_F16);
  assert_int_equal(ac_graph_op2(f->g, AC_G_MUL, i, ac_graph_number(f->g, 2.5), here)->dtype, AC_F32);
  assert_int_equal(ac_graph_op2(f->g, AC_G_MUL, i, ac_graph_integer(f->g, num(f, 2)), here)->dtype, AC_I32);
  assert_int_equal(ac_graph_op2(f->g, AC_G_MUL, b, ac_graph_integer(f->g, h->shape[0]), here)->dtype, AC_I64);
  ac_value *w =
      ac_graph_op2(f->g, AC_G_DIV, ac_graph_integer(f->g, h->shape[0]), ac_graph_integer(f->g, num(f, 2)), here);
  assert_true(w->weak);
  assert_int_equal(ac_graph_op2(f->g, AC_G_MUL, h, w, here)->dtype, AC_F16);
  ac_value *u = in(f, AC_U32, 1, (int64_t[]){4});
  assert_null(ac_graph_op2(f->g, AC_G_ADD, u, i, here));
  assert_message(f, "do not promote");
  ac_value *rate = ac_graph_input(f->g, "rate", AC_IN_SCALAR, AC_F32, 0, NULL, NULL);
  assert_int_equal(ac_graph_op2(f->g, AC_G_MUL, h, rate, here)->dtype, AC_F16);
}

/* ---- pruning ---- */

static void pruning(void **state) {
  fx *f = *state;
  ac_value *x = IN(f, AC_F32, 4, 6), *y = IN(f, AC_F32, 4, 6);
  ac_graph_op1(f->g, AC_G_EXP, x, here); /* unused */
  ac_value *c = ac_graph_op1(f->g, AC_G_CLONE, x, here);
  ac_value *z = ac_graph_op2(f->g, AC_G_ADD, c, y, here);
  ac_value *r = APPLY(f, AC_G_RESHAPE, T(z), LIST(y->shape[0], y->shape[1])); /* the same shape by the guards */
  ac_graph_output(f->g, "out", ac_graph_op1(f->g, AC_G_CLONE, r, here), -1);
  ac_graph_output(f->g, "copy", ac_graph_op1(f->g, AC_G_CLONE, y, here), -1);
  ac_graph_prune(f->g);
  assert_null(ac_graph_verify(f->g));
  assert_int_equal(f->g->nodes.len, 4); /* two inputs, the sum, and the copy of an input */
  assert_int_equal(f->g->outputs.data[0].value->def->op, AC_G_ADD);
  assert_int_equal(f->g->outputs.data[1].value->def->op, AC_G_CLONE);
  assert_ptr_equal(y->shape[0], x->shape[0]); /* resolved by the guards */
}

static void verifier(void **state) {
  fx *f = *state;
  ac_value *x = IN(f, AC_F32, 4, 6), *y = IN(f, AC_F32, 4, 6);
  ac_value *z = ac_graph_op2(f->g, AC_G_ADD, x, y, here), *s = APPLY(f, AC_G_SUM, T(z), LIST(num(f, 1)));
  ac_graph_output(f->g, "out", s, -1);
  assert_null(ac_graph_verify(f->g));
  s->dtype = AC_F16;
  assert_non_null(strstr(ac_graph_verify(f->g), "the rule gives float32"));
  s->dtype = AC_F32;
  s->shape[0] = x->shape[1];
  assert_non_null(strstr(ac_graph_verify(f->g), "dimension 0 of"));
  s->shape[0] = y->shape[0]; /* equal by a guard */
  assert_null(ac_graph_verify(f->g));
  ac_node *n = f->g->nodes.data[2];
  f->g->nodes.data[2] = f->g->nodes.data[3];
  f->g->nodes.data[3] = n;
  assert_non_null(strstr(ac_graph_verify(f->g), "used before it is made"));
}

static void dump(void **state) {
  fx *f = *state;
  f->g->name = "model";
  ac_value *x = IN(f, AC_F32, 4, 6), *i = IN(f, AC_I64, 4);
  ac_value *w = ac_graph_input(f->g, "w", AC_IN_PARAM, AC_F32, 1, (int64_t[]){6}, (bool[]){true});
  ac_value *y = ac_graph_op2(f->g, AC_G_MUL, x, w, here);
  y = APPLY(f, AC_G_GATHER, T(y), I(f, 1), T(APPLY(f, AC_G_UNSQUEEZE, T(i), I(f, -1))));
  y = ac_graph_op2(f->g, AC_G_DIV, y, ac_graph_integer(f->g, x->shape[0]), here);
  ac_graph_output(f->g, "out", y, -1);
  ac_graph_prune(f->g);
  assert_string_equal(ac_graph_text(f->a, f->g),
                      "graph model\n"
                      "  size s0 = x0.shape[0]  # 4\n"
                      "  size s1 = x0.shape[1]  # 6\n"
                      "  size s2 = x1.shape[0]  # 4\n"
                      "  guard s1 == 6  # mul: broadcast of dimension -1 (line 12)\n"
                      "  guard s2 <= s0  # gather: the index is no larger than input (line 12)\n"
                      "  input %0: float32[s0, 6]  # x0\n"
                      "  input %1: int64[s2]  # x1\n"
                      "  parameter %2: float32[6]  # w\n"
                      "  %3: float32[s0, 6] = mul(%0, %2)  # line 12\n"
                      "  %4: int64[s2, 1] = unsqueeze(%1, dim=-1)  # line 12\n"
                      "  %5: float32[s2, 1] = gather(%3, dim=1, %4)  # line 12\n"
                      "  %7: float32[s2, 1] = div(%5, s0)  # line 12\n"
                      "  output %7  # out\n");
}

/* ---- JSON ---- */

static ac_graph *from_text(fx *f, const char *text) {
  ac_diags d;
  ac_diags_init(&d, f->a);
  json_t *j = ac_json_parse("graph.json", text, strlen(text), &d);
  ac_graph *g = j ? ac_graph_from_json(f->a, j, &d) : NULL;
  json_decref(j);
  if (!g) assert_true(d.errors > 0);
  return g;
}

static char *replaced(fx *f, const char *text, const char *from, const char *to) {
  const char *at = strstr(text, from);
  if (!at) fail_msg("no '%s' in the text", from);
  return ac_sprintf(f->a, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static void json(void **state) {
  fx *f = *state;
  ac_value *x = IN(f, AC_F16, 4, 6), *y = IN(f, AC_F32, 4, 1);
  f->g->name = "model";
  f->g->seed = UINT64_MAX;
  ac_value *n = ac_graph_op2(f->g, AC_G_MUL, x, ac_graph_number(f->g, -1.0 / 0.0), here);
  ac_value *z = ac_graph_op2(f->g, AC_G_ADD, n, y, here);
  z = ac_graph_op2(f->g, AC_G_DIV, z, ac_graph_integer(f->g, mul(f, x->shape[0], add(f, x->shape[1], num(f, 1)))),
                   here);
  ac_graph_output(f->g, "out", z, 0);
  ac_graph_prune(f->g);
  json_t *j = ac_graph_to_json(f->g);
  char *text = ac_json_text(f->a, j);
  json_decref(j);
  ac_graph *g = from_text(f, text);
  assert_non_null(g);
  assert_null(ac_graph_verify(g));
  assert_string_equal(ac_graph_text(f->a, g), ac_graph_text(f->a, f->g));
  assert_true(g->seed == UINT64_MAX && g->outputs.data[0].updates == 0);
  assert_int_equal(g->guards.data[0].loc.line, 12);
  /* what was tampered with is refused, with a message */
  assert_null(from_text(f, replaced(f, text, "\"version\": 1", "\"version\": 2")));
  assert_null(from_text(f, replaced(f, text, "\"op\": \"add\"", "\"op\": \"mse_loss\"")));
  assert_null(from_text(f, replaced(f, text, "\"op\": \"add\"", "\"op\": \"nonsense\"")));
  assert_null(from_text(f, replaced(f, text, "\"kind\": \"==\"", "\"kind\": \"!=\"")));
  assert_null(from_text(f, replaced(f, text, "\"dtype\": \"float32\"", "\"dtype\": \"float64\"")));
  assert_null(from_text(f, replaced(f, text, "\"example\": 6", "\"example\": -6")));
  assert_null(from_text(f, replaced(f, text, "\"updates\": 0", "\"updates\": 7")));
  assert_null(from_text(f, replaced(f, text, "\"input\": 1", "\"input\": 9")));
  assert_null(from_text(f, replaced(f, text, "\"other\": ", "\"other\": 99, \"x\": ")));
  assert_null(from_text(f, "[]"));
  assert_null(from_text(f, "{\"version\": 1}"));
}

/* ---- replay ---- */

static void other_ranks(void **state) {
  fx *f = *state;
  ac_value *x = IN(f, AC_F32, 16, 128), *y = IN(f, AC_F32, 16, 128);
  ac_value *z = ac_graph_op2(f->g, AC_G_ADD, x, y, here);
  z = APPLY(f, AC_G_SOFTMAX, T(z), I(f, -1));
  ac_graph_output(f->g, "out", z, -1);
  ac_graph_prune(f->g);
  static const ac_shape shapes[] = {{2, {7, 1003}}, {1, {513}},  {4, {3, 5, 7, 11}}, {2, {0, 8}},
                                    {0, {0}},       {2, {1, 1}}, {2, {1, 13243}}};
  for (size_t i = 0; i < AC_COUNT(shapes); i++) {
    ac_shape s[2] = {shapes[i], shapes[i]};
    ac_graph *g = ac_graph_respecialise(f->a, f->g, s, &f->d);
    assert_non_null(g);
    assert_null(ac_graph_verify(g));
    ac_shape o = ac_value_example(g->outputs.data[0].value);
    assert_int_equal(o.rank, shapes[i].rank);
    assert_memory_equal(o.dim, shapes[i].dim, (size_t)o.rank * sizeof o.dim[0]);
  }
  ac_shape bad[2] = {SHAPE(7, 1003), SHAPE(7, 1)};
  assert_null(ac_graph_respecialise(f->a, f->g, bad, &f->d));
  assert_message(f, "break the guard s1 == s3 (1003 against 1)");
  assert_int_equal(f->d.list.data[0]->loc.line, 12);
  /* another rank must not broadcast where the traced graph did not */
  ac_shape wide[2] = {SHAPE(2, 3, 4), SHAPE(2, 1, 4)};
  assert_null(ac_graph_respecialise(f->a, f->g, wide, &f->d));
  assert_message(f, "broadcasts in another way");
}

static void first_axis_at_other_ranks(void **state) {
  fx *f = *state;
  ac_value *x = IN(f, AC_F32, 16, 128),
           *b = ac_graph_input(f->g, "bias", AC_IN_PARAM, AC_F32, 1, (int64_t[]){128}, (bool[]){true});
  ac_value *z = APPLY(f, AC_G_SOFTMAX, T(ac_graph_op2(f->g, AC_G_ADD, x, b, here)), I(f, 1));
  ac_graph_output(f->g, "out", z, -1);
  ac_graph_prune(f->g);
  ac_shape ok[2] = {SHAPE(2, 3, 128), SHAPE(128)}, short_rank[2] = {SHAPE(128), SHAPE(128)},
           param[2] = {SHAPE(3, 64), SHAPE(64)};
  assert_non_null(ac_graph_respecialise(f->a, f->g, ok, &f->d));
  assert_int_equal(f->d.errors, 0);
  assert_null(ac_graph_respecialise(f->a, f->g, short_rank, &f->d));
  assert_message(f, "dimension 1 is out of range");
  assert_null(ac_graph_respecialise(f->a, f->g, param, &f->d));
  assert_message(f, "s1"); /* the guard comes first: x.shape[1] == 128 */
}

static void rank_change_refused(void **state) {
  fx *f = *state;
  ac_value *x = IN(f, AC_F32, 16, 128);
  ac_value *z = ac_graph_op2(f->g, AC_G_DIV, x, ac_graph_integer(f->g, x->shape[1]), here); /* x / x.shape[-1] */
  ac_graph_output(f->g, "out", z, -1);
  ac_graph_prune(f->g);
  ac_shape s = SHAPE(4, 6);
  ac_graph *g = ac_graph_respecialise(f->a, f->g, &s, &f->d);
  assert_non_null(g);
  s = SHAPE(4, 5, 6);
  assert_null(ac_graph_respecialise(f->a, f->g, &s, &f->d));
  assert_message(f, "another rank");
  /* a decision of the program */
  assert_true(ac_sym_guard(f->g, AC_GUARD_LT, num(f, 1), x->shape[0], here, "if on a size"));
  s = SHAPE(6);
  assert_null(ac_graph_respecialise(f->a, f->g, &s, &f->d));
  assert_message(f, "decision of the program (if on a size)");
  s = SHAPE(1, 6);
  assert_null(ac_graph_respecialise(f->a, f->g, &s, &f->d));
  assert_message(f, "if on a size");
}

static void generators(void **state) {
  fx *f = *state;
  ac_value *x = IN(f, AC_F32, 16, 128), *t = IN(f, AC_I64, 16), *c = IN(f, AC_F32, 2);
  ac_graph *main = f->g, *gen = ac_graph_new(f->a, &f->d);
  f->g = gen;
  const ac_sym *n = ac_sym_fresh(gen, 16, -1, 0), *m = ac_sym_fresh(gen, 128, -1, 1),
               *k = ac_sym_fresh(gen, 16, -1, 0);
  ac_value *r = APPLY(f, AC_G_RAND, LIST(n, m));
  main->inputs.data[0].gen = ac_graph_op2(gen, AC_G_SUB, r, ac_graph_number(gen, 0.5), here);
  main->inputs.data[1].gen = APPLY(f, AC_G_RANDINT, I(f, 0), I(f, 10), LIST(k));
  ac_arg literal[3] = {{.kind = AC_K_STR, .s = "1.0 2.0"}, LIST(num(f, 2)), {.kind = AC_K_DTYPE, .d = AC_F32}};
  main->inputs.data[2].gen = apply(f, AC_G_TENSOR, literal, 3);
  f->g = main;
  main->gen = gen;
  ac_graph_output(main, "out", ac_graph_op1(main, AC_G_EXP, x, here), -1);
  ac_graph_output(main, "t", ac_graph_op1(main, AC_G_ABS, t, here), -1);
  ac_graph_output(main, "c", ac_graph_op1(main, AC_G_EXP, c, here), -1);
  ac_shape s[3] = {SHAPE(7, 1003), SHAPE(7), SHAPE(2)};
  ac_graph *g = ac_graph_respecialise(f->a, main, s, &f->d);
  assert_int_equal(f->d.warnings, 0);
  assert_int_equal(g->inputs.data[0].gen->shape[1]->example, 1003);
  assert_int_equal(g->inputs.data[0].gen->def->op, AC_G_SUB);
  assert_int_equal(g->inputs.data[1].gen->shape[0]->example, 7);
  json_t *j = ac_graph_to_json(g);
  ac_graph *again = ac_graph_from_json(f->a, j, &f->d);
  json_decref(j);
  assert_non_null(again);
  assert_int_equal(again->inputs.data[0].gen->shape[1]->example, 1003);
  s[0] = SHAPE(3, 5, 7); /* another rank follows too; the literal cannot grow */
  s[2] = SHAPE(3);
  g = ac_graph_respecialise(f->a, main, s, &f->d);
  assert_int_equal(g->inputs.data[0].gen->rank, 3);
  assert_int_equal(f->d.warnings, 1);
  assert_null(g->inputs.data[2].gen);
  assert_message(f, "x2 cannot be generated at shape [3]");
}

/* ---- large ---- */

static void large(void **state) {
  fx *f = *state;
  ac_value *x = IN(f, AC_F32, 4096, 393216);
  ac_value *flat = APPLY(f, AC_G_FLATTEN, T(x));
  assert_int_equal(flat->shape[0]->example, INT64_C(1610612736));
  ac_graph_output(f->g, "out", APPLY(f, AC_G_SOFTMAX, T(x), I(f, 1)), -1);
  ac_shape s = SHAPE(INT64_C(1) << 20, INT64_C(1) << 20);
  assert_non_null(ac_graph_respecialise(f->a, f->g, &s, &f->d));
  assert_int_equal(ac_shape_numel(&s), INT64_C(1) << 40);
  assert_int_equal(f->d.errors, 0);
  ac_value *e = APPLY(f, AC_G_EXPAND, T(x), LIST(num(f, INT64_C(1) << 40), num(f, -1), num(f, -1)));
  assert_null(e);
  assert_message(f, "more than 2^63 elements");
  s = SHAPE(INT64_C(1) << 32, INT64_C(1) << 32);
  assert_int_equal(ac_shape_numel(&s), -1);
  assert_null(ac_graph_respecialise(f->a, f->g, &s, &f->d));
  assert_message(f, "overflows 64 bits");
  s = SHAPE(INT64_C(1) << 40, 0, INT64_C(1) << 40);
  assert_int_equal(ac_shape_numel(&s), 0);
  int before = f->d.errors;
  IN(f, AC_F32, INT64_C(1) << 40, INT64_C(1) << 40);
  assert_int_equal(f->d.errors, before + 1);
}

static void pool_sizes_symbolic(void **state) {
  fx *f = *state;
  ac_value *x = IN(f, AC_F32, 2, 3, 17);
  ac_arg yes = {.kind = AC_K_BOOL, .b = true};
  ac_value *y =
      APPLY(f, AC_G_MAX_POOL1D, T(x), LIST(num(f, 3)), LIST(num(f, 2)), LIST(num(f, 1)), LIST(num(f, 1)), yes);
  ac_graph_output(f->g, "out", y, -1);
  for (int64_t n = 1; n < 40; n++) { /* the rule as PyTorch writes it */
    int64_t out = (n + 2 - 3 + 1) / 2 + 1;
    if ((out - 1) * 2 >= n + 1) out--;
    ac_shape s = SHAPE(2, 3, n);
    ac_graph *g = ac_graph_respecialise(f->a, f->g, &s, &f->d);
    assert_non_null(g);
    assert_int_equal(g->outputs.data[0].value->shape[2]->example, out);
  }
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {TEST(canonical),
                                     TEST(rewriting_keeps_values),
                                     TEST(overflow),
                                     TEST(guards),
                                     TEST(broadcasting),
                                     TEST(reshape_stays_symbolic),
                                     TEST(slices),
                                     TEST(names),
                                     TEST(every_operation_is_tested),
                                     TEST(messages),
                                     TEST(weak_numbers),
                                     TEST(pruning),
                                     TEST(dump),
                                     TEST(verifier),
                                     TEST(json),
                                     TEST(other_ranks),
                                     TEST(first_axis_at_other_ranks),
                                     TEST(rank_change_refused),
                                     TEST(generators),
                                     TEST(large),
                                     TEST(pool_sizes_symbolic)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Loads with a pad value, into whole buffers and into parts: what is filled and what around it stays, in the simulator (without hazard),
 * in plain C and, one program, compiled. And stores of parts of rows. */
#include "plainc_support.h"

/* Element (i, j) of the 2-D result of the 1000 r + c counted input; r, c: the input's sizes. */
typedef double (*wanted)(int64_t i, int64_t j, int64_t r, int64_t c);
typedef struct {
  const char *name, *buffer, *body; /* body: the stage blocks; b is the buffer, y's tile follows */
  const char *out;                  /* rows, columns of y */
  const char *store;
  wanted want;
} pcase;

static double fill = 2; /* 64-bit elements can be padded with 0 only */
static double in(int64_t i, int64_t j) {
  return (double)(32 * i + j);
}
static double box(int64_t i, int64_t j, int64_t r, int64_t c) {
  return i < r && j < c ? in(i, j) : fill;
}
static double third_row(int64_t i, int64_t j, int64_t r, int64_t c) {
  (void)r;
  return i != 2 ? 7 : j < c ? in(0, j) : fill;
}
static double every_other(int64_t i, int64_t j, int64_t r, int64_t c) {
  return i % 2 ? 7 : box(i / 2, j, r, c);
}
static double behind(int64_t i, int64_t j, int64_t r, int64_t c) {
  (void)r;
  return j < 16 ? 7 : j < 16 + c ? in(i, j - 16) : fill;
}
static double between(int64_t i, int64_t j, int64_t r, int64_t c) {
  return j < 48 ? behind(i, j, r, c) : 7;
}
static double spread(int64_t i, int64_t j, int64_t r, int64_t c) {
  (void)r;
  return i != 2 ? 7 : j < (c + 1) / 2 ? in(0, 2 * j) : fill;
}
static double last_trip(int64_t i, int64_t j, int64_t r, int64_t c) {
  (void)i;
  return j < c ? in(r - 1, j) : fill;
}

#define WHOLE "tl.arange(0, rows)[:, None] * cols + tl.arange(0, cols)[None, :]"
#define SEVEN "    with tl.compute():\n        tl.duplicate(b, 7)\n"
static const pcase cases[] = {
    {"a box of rows", "(4, 48)",
     SEVEN "    with tl.copyin():\n        tl.load(x + " WHOLE ", b[0:4, 0:36], pad=%P)\n", "4, 36", "b[0:4, 0:36]",
     box},
    {"all of a buffer with rows", "(4, 40)", "    with tl.copyin():\n        tl.load(x + " WHOLE ", b, pad=%P)\n",
     "4, 40", "b", box},
    {"a row", "(4, 32)", SEVEN "    with tl.copyin():\n        tl.load(x + tl.arange(0, cols), b[2], pad=%P)\n",
     "4, 32", "b", third_row},
    {"every other row", "(8, 32)", SEVEN "    with tl.copyin():\n        tl.load(x + " WHOLE ", b[0:8:2], pad=%P)\n",
     "8, 32", "b", every_other},
    {"elements that are apart", "(4, 32)",
     SEVEN "    with tl.copyin():\n        tl.load(x + tl.arange(0, tl.cdiv(cols, 2)) * 2, b[2], pad=%P)\n", "4, 32",
     "b", spread},
    {"from an element on", "64",
     SEVEN "    with tl.copyin():\n        tl.load(x + tl.arange(0, cols), b + 16, pad=%P)\n", "1, 64", "b", behind},
    {"a range of elements", "64",
     SEVEN "    with tl.copyin():\n        tl.load(x + tl.arange(0, cols), b[16:48], pad=%P)\n", "1, 64", "b",
     between},
    {"a load over a load", "64",
     "    with tl.copyin():\n        tl.load(x + tl.arange(0, rows * cols), b)\n"
     "        tl.load(x + (rows - 1) * cols + tl.arange(0, cols), b, pad=%P)\n",
     "1, 64", "b", last_trip},
};

static double pad_of(ac_dtype d) {
  return ac_dtypes[d].bytes == 8 ? 0 : 2;
}

static const char *program_of(const pcase *t, ac_dtype d) {
  const char *cols = strchr(t->out, ' ') + 1;
  char *body = ac_strdup(b.a, t->body);
  for (char *p; (p = strstr(body, "%P"));)
    body = ac_sprintf(b.a, "%.*s%d%s", (int)(p - body), body, (int)pad_of(d), p + 2);
  return ac_sprintf(
      b.a,
      "@ascend_kernel\ndef k(x, y, rows, cols):\n    b = tl.alloc_ub(%s, tl.%s)\n%s"
      "    with tl.compute():\n        tl.vadd(%s, %s, 0)\n"
      "    with tl.copyout():\n        tl.store(y + %s, %s)\n\n\n"
      "def host(x, y: tl.out[%s]):\n    rows, cols = x.shape\n    if rows > 4 or cols > 32 or rows * cols > 64:\n"
      "        tl.refuse(\"too large\")\n    k[1](x, y, rows, cols)\n",
      t->buffer, ac_dtypes[d].name, body, t->store, t->store,
      strchr(t->buffer, '(')
          ? ac_sprintf(b.a, "tl.arange(0, %d)[:, None] * %s + tl.arange(0, %s)[None, :]", atoi(t->out), cols, cols)
          : ac_sprintf(b.a, "tl.arange(0, %s)", cols),
      t->store, t->out);
}

static void put(ac_sim_tensor *t, int64_t i, double v) {
  if (ac_dtypes[t->dtype].cls == AC_FLOATING)
    ac_store(t->dtype, t->data, i, v);
  else
    ac_store_int(t->dtype, t->data, i, (int64_t)v);
}
static double at(const ac_sim_tensor *t, int64_t i) {
  return ac_dtypes[t->dtype].cls == AC_FLOATING ? ac_load(t->dtype, t->data, i)
                                                : (double)ac_load_int(t->dtype, t->data, i);
}

static void one(const pcase *t, const plain_program *p, ac_dtype d, int64_t r, int64_t c, bool compile) {
  args x = {0};
  char *message;
  fill = pad_of(d);
  const char *cols = strchr(t->out, ' ');
  ac_shape s = {.rank = 2, .dim = {r, c}}, o = {.rank = 2, .dim = {atoi(t->out), atoi(cols)}};
  add_tensor(&x, "x", d, &s, false);
  add_tensor(&x, "y", d, &o, true);
  for (int64_t i = 0; i < r * c; i++) put(&x.t[0], i, in(i / c, i % c));
  plain_verdict v = plain_compare(&b, p, &x, 0, &message); /* leaves the C form's result */
  if (v != PLAIN_SAME)
    failed(p->text, "%s of %s at %d x %d: %s", t->name, ac_dtypes[d].name, (int)r, (int)c, message);
  for (int64_t i = 0; i < ac_shape_numel(&o); i++) {
    double want = t->want(i / o.dim[1], i % o.dim[1], r, c), got = at(&x.t[1], i);
    if (got != want)
      failed(p->text, "%s of %s at %d x %d: element %d is %g, not %g", t->name, ac_dtypes[d].name, (int)r, (int)c,
             (int)i, got, want);
  }
  if (compile) run_both(&b, p->text, p->p, compiled(&b, p->p, NULL), &x, AC_ORDER_FORWARD, 1);
  free_args(&x);
}

static void parts(void **state) {
  (void)state;
  static const ac_dtype dtypes[] = {AC_F32, AC_F16, AC_I32, AC_I16, AC_I8, AC_I64};
  static const int64_t sizes[][2] = {{4, 9}, {1, 1}, {2, 32}, {3, 8}, {4, 16}, {1, 31}};
  enum { N = AC_COUNT(cases) * AC_COUNT(dtypes) };
  plain_program list[N] = {0};
  const pcase *of[N];
  ac_dtype type[N];
  int n = 0;
  for (size_t i = 0; i < N; i++) {
    const pcase *t = &cases[i / AC_COUNT(dtypes)];
    ac_dtype d = dtypes[i % AC_COUNT(dtypes)];
    if (ac_dtypes[d].bytes == 1 && (t->want == behind || t->want == between)) continue; /* 16 bytes into a block */
    of[n] = t;
    type[n] = d;
    list[n].name = t->name;
    list[n].text = program_of(t, d);
    if (!plain_lower(b.a, &list[n], n, &b.d)) {
      ac_diags_print(&b.d, stderr, false);
      failed(list[n].text, "%s is refused", list[n].name);
    }
    n++;
  }
  const char *broken = plain_build(&b, list, n, "-O1");
  if (broken) failed("the C form", "%s", broken);
  for (int i = 0; i < n; i++)
    for (size_t k = 0; k < AC_COUNT(sizes); k++)
      one(of[i], &list[i], type[i], sizes[k][0], sizes[k][1],
          !k && of[i] == &cases[0] && (type[i] == AC_F16 || type[i] == AC_I8));
}

/* In place, tile after tile: the fill waits for the store that the slot went out with. */
static void in_place(void **state) {
  (void)state;
  plain_program p = {.name = "tiles",
                     .text =
                         "@ascend_kernel\ndef k(x, y, n):\n    b = tl.alloc_ub(256, tl.float32)\n"
                         "    for i in range(0, n, 256):\n        m = min(256, n - i)\n"
                         "        with tl.copyin():\n            tl.load(x + i + tl.arange(0, m), b, pad=2)\n"
                         "        with tl.compute():\n            tl.vmul(b, b, 3)\n"
                         "        with tl.copyout():\n            tl.store(y + i + tl.arange(0, m), b, count=m)\n\n\n"
                         "def host(x, y):\n    k[1](x, y, x.numel())\n"};
  args x = {0};
  char *message;
  ac_shape s = {.rank = 1, .dim = {1003}};
  assert_true(plain_lower(b.a, &p, 0, &b.d));
  assert_null(plain_build(&b, &p, 1, "-O1"));
  add_tensor(&x, "x", AC_F32, &s, false);
  add_tensor(&x, "y", AC_F32, &s, true);
  for (int64_t i = 0; i < 1003; i++) put(&x.t[0], i, (double)i);
  if (plain_compare(&b, &p, &x, 0, &message) != PLAIN_SAME) failed(p.text, "%s", message);
  for (int64_t i = 0; i < 1003; i++) assert_true(at(&x.t[1], i) == 3.0 * (double)i);
  free_args(&x);
}

/* The rows that are stored are shorter than those that were loaded: in UB there is a gap between them, though none in global memory. */
static void narrower(void **state) {
  (void)state;
  plain_program p = {.name = "narrower",
                     .text = "@ascend_kernel\ndef k(x, y, rows, cols):\n    b = tl.alloc_ub((4, 16), tl.float32)\n"
                             "    o = tl.alloc_ub((4, 16), tl.float32)\n"
                             "    with tl.copyin():\n        tl.load(x + " WHOLE ", b)\n"
                             "    with tl.compute():\n        tl.vmul(o, b, 3)\n    with tl.copyout():\n"
                             "        tl.store(y + tl.arange(0, rows)[:, None] * (cols - 1) + "
                             "tl.arange(0, cols - 1)[None, :], o)\n\n\n"
                             "def host(x, y: tl.out[x.shape[0], x.shape[1] - 1]):\n    rows, cols = x.shape\n"
                             "    if rows > 4 or cols < 2 or cols > 16:\n        tl.refuse(\"too large\")\n"
                             "    k[1](x, y, rows, cols)\n"};
  args x = {0};
  char *message;
  ac_shape s = {.rank = 2, .dim = {4, 9}}, o = {.rank = 2, .dim = {4, 8}};
  assert_true(plain_lower(b.a, &p, 0, &b.d));
  assert_null(plain_build(&b, &p, 1, "-O1"));
  add_tensor(&x, "x", AC_F32, &s, false);
  add_tensor(&x, "y", AC_F32, &o, true);
  for (int64_t i = 0; i < 36; i++) put(&x.t[0], i, (double)i);
  if (plain_compare(&b, &p, &x, 0, &message) != PLAIN_SAME) failed(p.text, "%s", message);
  for (int64_t i = 0; i < 32; i++) assert_true(at(&x.t[1], i) == 3.0 * (double)(i / 8 * 9 + i % 8));
  free_args(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(parts, setup, teardown),
                                     cmocka_unit_test_setup_teardown(in_place, setup, teardown),
                                     cmocka_unit_test_setup_teardown(narrower, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

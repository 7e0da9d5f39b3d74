/* The direct way in by itself: what comes back of refusals, misfits, faults with DSL lines, endless loops, sampled blocks. That it
 * does what compiled code does is shown elsewhere. */
#include "lower/lower.h"
#include "sim/sim.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static ac_arena *a;
static ac_diags d;
static ac_sim_tensor t[2];
static ac_sim_result r;

static int setup(void **s) {
  (void)s;
  a = ac_arena_new();
  ac_diags_init(&d, a);
  return 0;
}
static int teardown(void **s) {
  (void)s;
  for (int i = 0; i < 2; i++) ac_sim_dealloc(t[i].data, t[i].bytes);
  memset(t, 0, sizeof t);
  ac_arena_free(a);
  return 0;
}

static ac_program *program(const char *text) {
  const ac_chip *chip = ac_chip_load(a, "ascend910b2", &d);
  ac_cmodule *m = ac_craft_parse(a, "t.craft", text, &d);
  ac_program *p = NULL;
  if (m && ac_craft_check(a, m, &(ac_craft_check_opts){.chip = chip}, &d))
    p = ac_lower(a, m, &(ac_lower_opts){.op = "t_custom", .op_type = "TCustom", .chip = chip}, &d);
  if (!p) ac_diags_print(&d, stderr, false);
  assert_non_null(p);
  return p;
}

static void tensors(int64_t n) {
  for (int i = 0; i < 2; i++) {
    t[i] = (ac_sim_tensor){
        .name = i ? "y" : "x", .dtype = AC_F32, .rank = 1, .shape = {n}, .output = i == 1, .bytes = 4 * n};
    t[i].data = ac_sim_alloc(t[i].bytes);
    assert_non_null(t[i].data);
  }
  for (int64_t i = 0; i < n; i++) ((float *)t[0].data)[i] = (float)i;
}
static bool run(const ac_program *p, const ac_sim_attr *at, int n, ac_sim_opts o) {
  return ac_sim_run_program(a, p, p->chip, t, 2, at, n, &o, &r, &d);
}
static const char *said(void) {
  return d.list.len ? d.list.data[d.list.len - 1]->message : "";
}

/* One block a thousand elements; `body` stands in the compute stage, `before` in front of the loop. */
static ac_program *simple(const char *before, const char *body) {
  return program(
      ac_sprintf(a,
                 "@ascend_kernel\n"
                 "def k(x, y, n, f: float, z: int):\n"
                 "    b = tl.alloc_ub(1000, tl.float32)\n"
                 "    o = tl.alloc_ub(1000, tl.float32)\n"
                 "%s"
                 "    for i in range(tl.program_id(0) * 1000, min(n, (tl.program_id(0) + 1) * 1000), 1000):\n"
                 "        c = min(1000, n - i)\n"
                 "        with tl.copyin():\n"
                 "            tl.load(x + i + tl.arange(0, c), b)\n"
                 "        with tl.compute():\n"
                 "            %s\n"
                 "        with tl.copyout():\n"
                 "            tl.store(y + i + tl.arange(0, c), o)\n"
                 "\n\n"
                 "def h(x, y, factor=2.5, zero=0):\n"
                 "    n = x.numel()\n"
                 "    if n > 5000:\n"
                 "        tl.refuse(\"more than 5000\")\n"
                 "    k[max(1, tl.cdiv(n, 1000))](x, y, n, factor, zero)\n",
                 before, body));
}

static void values_and_figures(void **s) {
  (void)s;
  ac_program *p = simple("", "tl.vmul_scalar(o, b, f)");
  for (int here = 0; here < 2; here++) {
    tensors(2500);
    assert_true(run(p, NULL, 0, (ac_sim_opts){.in_process = here}));
    assert_true(r.ran);
    assert_int_equal(r.faults.len, 0);
    assert_int_equal(r.block_dim, 3);
    assert_int_equal(r.tiling_key, 1);
    assert_int_equal(r.workspace, 16 << 20);
    assert_int_equal(r.ub_peak, 4 * 4000);
    for (int64_t i = 0; i < 2500; i++) assert_true(((float *)t[1].data)[i] == (float)i * 2.5f);
    for (int i = 0; i < 2; i++) ac_sim_dealloc(t[i].data, t[i].bytes);
  }
}

static void attributes(void **s) {
  (void)s;
  ac_program *p = simple("", "tl.vmul_scalar(o, b, f)");
  tensors(8);
  ac_sim_attr at = {.name = "factor", .kind = AC_ATTR_F, .f = 0.1};
  assert_true(run(p, &at, 1, (ac_sim_opts){.in_process = true}));
  assert_true(((float *)t[1].data)[3] == 3 * 0.1f);
  at.name = "facto";
  assert_false(run(p, &at, 1, (ac_sim_opts){.in_process = true}));
  assert_non_null(strstr(said(), "no attribute facto"));
  p->attrs.data[0].has_default = false;
  assert_false(run(p, NULL, 0, (ac_sim_opts){.in_process = true}));
  assert_non_null(strstr(said(), "attribute factor is required"));
}

static void refusals(void **s) {
  (void)s;
  ac_program *p = simple("", "tl.vabs(o, b)");
  tensors(5001);
  for (int here = 0; here < 2; here++) {
    assert_true(run(p, NULL, 0, (ac_sim_opts){.in_process = here}));
    assert_false(r.ran);
    assert_string_equal(r.refused, "t_custom: more than 5000");
  }
  p = program("@ascend_kernel\ndef k(x, y, n, m):\n    b = tl.alloc_ub(8, tl.float32)\n    with tl.copyin():\n"
              "        tl.load(x + tl.arange(0, 8), b)\n    with tl.copyout():\n        tl.store(y + tl.arange(0, "
              "8), b)\n\n\n"
              "def h(x, y, big=1):\n    n = x.numel()\n    for i in range(0, 9):\n        n = n * n * 7\n    k[1](x, "
              "y, n, x.shape[2])\n");
  assert_true(run(p, NULL, 0, (ac_sim_opts){.in_process = true}));
  assert_string_equal(r.refused, "t_custom: a size does not fit 64 bits");
}

static void misfits(void **s) {
  (void)s;
  ac_program *p = simple("", "tl.vabs(o, b)");
  tensors(8);
  t[0].dtype = AC_F16;
  assert_false(run(p, NULL, 0, (ac_sim_opts){0}));
  assert_non_null(strstr(said(), "x is float32, the tensor given for it float16"));
  t[0].dtype = AC_F32;
  t[1].output = false;
  assert_false(run(p, NULL, 0, (ac_sim_opts){0}));
  assert_non_null(strstr(said(), "y is an output"));
  assert_false(ac_sim_run_program(a, p, p->chip, t, 1, NULL, 0, NULL, &r, &d));
  assert_non_null(strstr(said(), "takes 2 tensors, 1 were given"));
}

/* The last row of x is left out: found, and where a store went wrong the line of the DSL is named. */
static void faults_name_dsl_lines(void **s) {
  (void)s;
  ac_program *p = program("@ascend_kernel\n"
                          "def k(x, y, n):\n"
                          "    b = tl.alloc_ub(1000, tl.float32)\n"
                          "    with tl.copyin():\n"
                          "        tl.load(x + 8 + tl.arange(0, n), b)\n"
                          "    with tl.copyout():\n"
                          "        tl.store(y + tl.arange(0, n), b)\n"
                          "\n\n"
                          "def h(x, y):\n"
                          "    k[1](x, y, min(1000, x.numel()))\n");
  tensors(100);
  assert_true(run(p, NULL, 0, (ac_sim_opts){0}));
  const ac_sim_fault *f = NULL;
  for (size_t i = 0; i < r.faults.len; i++)
    if (!strcmp(r.faults.data[i].kind, "gm-out-of-bounds")) f = &r.faults.data[i];
  assert_non_null(f);
  assert_string_equal(f->file, "t.craft");
  assert_int_equal(f->line, 5);
}

static void a_division_by_zero_is_a_fault(void **s) {
  (void)s;
  ac_program *p = simple("    q = n // z\n", "tl.vadd_scalar(o, b, float(q))");
  tensors(10);
  for (int here = 0; here < 2; here++) {
    assert_true(run(p, NULL, 0, (ac_sim_opts){.in_process = here}));
    assert_true(r.faults.len > 0);
    bool found = false;
    for (size_t i = 0; i < r.faults.len; i++) {
      if (strcmp(r.faults.data[i].kind, "division") != 0) continue;
      found = true;
      assert_int_equal(r.faults.data[i].line, 5);
    }
    assert_true(found);
  }
  ac_sim_attr at = {.name = "zero", .kind = AC_ATTR_I, .i = -4};
  assert_true(run(p, &at, 1, (ac_sim_opts){.in_process = true}));
  assert_int_equal(r.faults.len, 0);
  assert_true(((float *)t[1].data)[1] == 1 + -3); /* 10 // -4 */
}

static void endless_loops_end(void **s) {
  (void)s;
  ac_program *p = simple("    while n > 0 and n < 100000000:\n        n = n + z\n", "tl.vabs(o, b)");
  tensors(3000);
  for (int here = 0; here < 2; here++) {
    double start = ac_now();
    assert_false(run(p, NULL, 0, (ac_sim_opts){.in_process = here, .timeout = 0.2}));
    assert_true(ac_now() - start < 10);
    assert_int_equal(d.list.data[d.list.len - 1]->code, AC0804);
    assert_non_null(strstr(said(), "in the kernel"));
  }
}

static void some_blocks_only(void **s) {
  (void)s;
  ac_program *p = simple("", "tl.vmul_scalar(o, b, f)");
  tensors(5000);
  assert_true(run(p, NULL, 0, (ac_sim_opts){.in_process = true, .first_block = 2, .n_blocks = 1}));
  assert_int_equal(r.faults.len, 0);
  assert_true(((float *)t[1].data)[2000] == 5000.0f);
  assert_true(((float *)t[1].data)[1999] == 0);
  assert_true(run(p, NULL, 0, (ac_sim_opts){.in_process = true, .tiling_only = true}));
  assert_int_equal(r.block_dim, 5);
  assert_true(((float *)t[1].data)[3000] == 0);
}

/* Runs in several threads of one process do not meet. */
typedef struct {
  const ac_program *p;
  int n, wrong;
} lane;
static void *many(void *user) {
  lane *x = user;
  for (int i = 0; i < 30; i++) {
    ac_arena *own = ac_arena_new();
    ac_diags quiet;
    ac_diags_init(&quiet, own);
    float in[3000], out[3000] = {0};
    ac_sim_tensor two[2];
    ac_sim_result got;
    for (int k = 0; k < x->n; k++) in[k] = (float)(k + i);
    for (int k = 0; k < 2; k++)
      two[k] = (ac_sim_tensor){.name = k ? "y" : "x",
                               .dtype = AC_F32,
                               .rank = 1,
                               .shape = {x->n},
                               .output = k == 1,
                               .bytes = 4L * x->n,
                               .data = k ? out : in};
    ac_sim_opts o = {.in_process = true, .threads = 2};
    if (!ac_sim_run_program(own, x->p, x->p->chip, two, 2, NULL, 0, &o, &got, &quiet) || got.faults.len) x->wrong++;
    for (int k = 0; k < x->n; k++) x->wrong += out[k] != (float)(k + i) * 2.5f;
    ac_arena_free(own);
  }
  return NULL;
}
static void threads_do_not_meet(void **s) {
  (void)s;
  ac_program *p = simple("", "tl.vmul_scalar(o, b, f)");
  lane lanes[3] = {{p, 1000, 0}, {p, 2001, 0}, {p, 2999, 0}};
  pthread_t t3[3];
  for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&t3[i], NULL, many, &lanes[i]), 0);
  for (int i = 0; i < 3; i++) pthread_join(t3[i], NULL);
  for (int i = 0; i < 3; i++) assert_int_equal(lanes[i].wrong, 0);
}

static void an_unlowered_program_is_our_fault(void **s) {
  (void)s;
  ac_program *p = simple("", "tl.vabs(o, b)");
  ac_amethod *compute = NULL;
  for (size_t i = 0; i < p->kernels.data[0]->methods.len; i++)
    if (p->kernels.data[0]->methods.data[i].kind == AC_AM_COMPUTE) compute = &p->kernels.data[0]->methods.data[i];
  assert_non_null(compute);
  for (size_t i = 0; i < compute->body.len; i++)
    if (compute->body.data[i]->kind == AC_AS_INST) compute->body.data[i]->kind = AC_AS_PRIM;
  tensors(8);
  assert_false(run(p, NULL, 0, (ac_sim_opts){.in_process = true}));
  assert_int_equal(d.list.data[d.list.len - 1]->code, AC0600);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void) {
  const struct CMUnitTest tests[] = {T(values_and_figures),
                                     T(attributes),
                                     T(refusals),
                                     T(misfits),
                                     T(faults_name_dsl_lines),
                                     T(a_division_by_zero_is_a_fault),
                                     T(endless_loops_end),
                                     T(some_blocks_only),
                                     T(threads_do_not_meet),
                                     T(an_unlowered_program_is_our_fault)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Results at the edge of their error bounds: how far, which way, of which functions; the tables name all that computes, and the documents
 * list every bound that leaves room. */
#include "../../sim/include/acsim/kernel_abi_lib.h"
#include "sim/core_internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HERE __FILE__, __LINE__
enum { N = 128 };

static ac_arena *arena;
static const ac_chip *chip;
static int setup(void **s) {
  (void)s;
  ac_diags d;
  arena = ac_arena_new();
  ac_diags_init(&d, arena);
  chip = ac_chip_load(arena, "ascend910b2", &d);
  return chip ? 0 : -1;
}
static int teardown(void **s) {
  (void)s;
  ac_arena_free(arena);
  return 0;
}

typedef struct {
  uint32_t x[N], y[N]; /* bits; of halves the first half of each */
  int op, type;
  bool repeat, library;
} data;

/* y = op(x), on one block. */
static void one_function(void *user) {
  data *d = user;
  char pipe;
  int es = acsim_type_bytes(d->type), bytes = N * es;
  acsim_pipe_open(&pipe, HERE);
  uint16_t in = acsim_queue_init(&pipe, ACSIM_POS_VECIN, ACSIM_POS_VECIN, 1, 1, (uint32_t)bytes, HERE);
  uint16_t out = acsim_queue_init(&pipe, ACSIM_POS_VECOUT, ACSIM_POS_VECOUT, 1, 1, (uint32_t)bytes, HERE);
  acsim_local a, t;
  acsim_global from = {(uint8_t *)d->x, (uint8_t *)d->x, (int64_t)bytes},
               to = {(uint8_t *)d->y, (uint8_t *)d->y, (int64_t)bytes};
  acsim_copy c = {.form = ACSIM_COPY_COUNT, .type = (uint8_t)d->type, .blocks = 1, .bytes = bytes};
  acsim_queue_alloc(in, &a, HERE);
  acsim_copy_in(&a, &from, &c, HERE);
  acsim_queue_push(in, &a, HERE);
  acsim_queue_pop(in, &a, HERE);
  acsim_queue_alloc(out, &t, HERE);
  uint16_t per = (uint16_t)(256 / 32);
  acsim_repeat r = {.mask = {~0ull, es == 2 ? ~0ull : 0},
                    .repeat = bytes / 256,
                    .dst_block = 1,
                    .a_block = 1,
                    .b_block = 1,
                    .dst_repeat = per,
                    .a_repeat = per,
                    .b_repeat = per};
  acsim_vector v = {.op = (uint8_t)d->op,
                    .type = (uint8_t)d->type,
                    .dst_type = (uint8_t)d->type,
                    .dst = &t,
                    .a = &a,
                    .b = d->op == ACSIM_OP_Div ? &a : NULL,
                    .count = N,
                    .repeat = d->repeat ? &r : NULL};
  acsim_library l = {
      .op = (uint8_t)d->op, .type = (uint8_t)d->type, .dst_type = (uint8_t)d->type, .dst = &t, .a = &a, .count = N};
  if (d->library)
    acsim_lib(&l, HERE);
  else
    acsim_vec(&v, HERE);
  acsim_queue_push(out, &t, HERE);
  acsim_queue_pop(out, &t, HERE);
  acsim_copy_out(&to, &t, &c, HERE);
  acsim_queue_free(out, &t, HERE);
  acsim_queue_free(in, &a, HERE);
  acsim_pipe_close(&pipe);
}

/* Runs it; returns the name of the inexact function that ran, or NULL. */
static const char *run(data *d, ac_perturb how, uint64_t seed, const char *only) {
  int64_t bytes = (int64_t)N * acsim_type_bytes(d->type);
  acsim_buffer b[] = {
      {.name = "x", .data = d->x, .bytes = bytes, .elem = acsim_type_bytes(d->type), .kind = ACSIM_INPUT},
      {.name = "y", .data = d->y, .bytes = bytes, .elem = acsim_type_bytes(d->type), .kind = ACSIM_OUTPUT}};
  acsim_config c = {
      .chip = chip, .buffers = b, .n_buffers = 2, .perturb = how, .perturb_seed = seed, .perturb_only = only};
  acsim_session *s = acsim_open(&c);
  acsim_launch(s, 1, 0, one_function, d);
  acsim_finish(s);
  size_t n;
  const ac_sim_fault *f = acsim_faults(s, &n, NULL);
  for (size_t i = 0; i < n; i++) fail_msg("%s: %s", f[i].kind, f[i].message);
  const char *name = NULL;
  for (int i = 0; i < ac_n_error_bounds; i++)
    if (acsim_bounded(s, i)) name = acsim_bounded(s, i);
  acsim_close(s);
  return name;
}

static uint32_t bits(float f) {
  uint32_t u;
  memcpy(&u, &f, 4);
  return u;
}

static void fill(data *d) {
  static const float special[] = {0, -0.0f, 1, -1, INFINITY, -INFINITY, NAN, 88.7f, 1000, -1000, 1e-30f, 3e38f, -90};
  for (int i = 0; i < N; i++) d->x[i] = bits(i < (int)AC_COUNT(special) ? special[i] : sinf((float)i) * 7);
}

/* Units that y moved up (towards plus infinity); 1000 where that means nothing. */
static int moved(uint32_t from, uint32_t to, uint32_t sign) {
  int a = (int)(from & ~sign), b = (int)(to & ~sign);
  return (from ^ to) & sign ? 1000 : from & sign ? a - b : b - a;
}

/* x / x is 1 at every edge: a sigmoid or a softmax never exceeds it. */
static void one_stays(void **s) {
  (void)s;
  data d = {.op = ACSIM_OP_Div, .type = ACSIM_F32};
  fill(&d);
  for (int how = AC_PERTURB_UP; how <= AC_PERTURB_MIXED; how++) {
    assert_non_null(run(&d, (ac_perturb)how, 7, NULL));
    for (int i = 0; i < N; i++) {
      float x, y;
      memcpy(&x, &d.x[i], 4);
      memcpy(&y, &d.y[i], 4);
      if (isfinite(x) && x != 0) assert_true(y == 1);
    }
  }
}

static void steps(void **s) {
  (void)s;
  static const struct {
    int op, units;
    bool library;
  } all[] = {{ACSIM_OP_Exp, 2, false},           {ACSIM_OP_Ln, 2, false},   {ACSIM_OP_Sqrt, 1, false},
             {ACSIM_OP_Reciprocal, 4096, false}, {ACSIM_OP_Relu, 0, false}, {ACSIM_LIB_Tanh, 16, true},
             {ACSIM_LIB_Floor, 0, true}};
  for (size_t k = 0; k < AC_COUNT(all); k++) {
    data d = {.op = all[k].op, .type = ACSIM_F32, .library = all[k].library}, e;
    fill(&d);
    const char *ran = run(&d, AC_PERTURB_NONE, 0, NULL);
    assert_true(!ran == !all[k].units);
    for (int how = AC_PERTURB_UP; how <= AC_PERTURB_MIXED; how++) {
      int ups = 0, downs = 0;
      for (int repeat = 0; repeat < 2 - all[k].library; repeat++) {
        data first = e;
        e = d;
        e.repeat = repeat;
        run(&e, (ac_perturb)how, 7, NULL);
        if (repeat) assert_memory_equal(first.y, e.y, sizeof e.y); /* the same, whatever way it took */
      }
      for (int i = 0; i < N; i++) {
        float y;
        memcpy(&y, &d.y[i], 4);
        if (!isfinite(y) || y == 0 || (d.op == ACSIM_OP_Exp && !d.library && y == 1)) {
          assert_true(d.y[i] == e.y[i]);
          continue;
        }
        int m = moved(d.y[i], e.y[i], 0x80000000u);
        ups += m > 0;
        downs += m < 0;
        bool whole = (d.y[i] & 0x7fffffff) > 0x00001000 && (d.y[i] & 0x7fffffff) < 0x7f7fe000;
        if (whole) assert_int_equal(abs(m), all[k].units);
      }
      if (all[k].units)
        assert_true(how == AC_PERTURB_MIXED ? ups > 10 && downs > 10 : how == AC_PERTURB_UP ? !downs : !ups);
    }
    e = d;
    run(&e, AC_PERTURB_UP, 0, "Power"); /* which does not run here */
    assert_memory_equal(e.y, d.y, sizeof d.y);
    if (!ran) continue;
    run(&e, AC_PERTURB_UP, 0, ran);
    assert_memory_not_equal(e.y, d.y, sizeof d.y);
    data other = d;
    run(&e, AC_PERTURB_MIXED, 1, NULL);
    run(&other, AC_PERTURB_MIXED, 2, NULL);
    assert_memory_not_equal(e.y, other.y, sizeof d.y); /* the seed counts */
  }
}

static void halves(void **s) {
  (void)s;
  data d = {.op = ACSIM_OP_Reciprocal, .type = ACSIM_F16}, e;
  uint16_t *x = (uint16_t *)d.x;
  for (int i = 0; i < N; i++) x[i] = ac_f32_to_f16(0.37f * (float)(i - 60), AC_RN_RINT);
  assert_string_equal(run(&d, AC_PERTURB_NONE, 0, NULL), "Reciprocal");
  e = d;
  run(&e, AC_PERTURB_DOWN, 0, NULL);
  for (int i = 0; i < N; i++)
    if (i != 60) assert_int_equal(moved(((uint16_t *)d.y)[i], ((uint16_t *)e.y)[i], 0x8000), -4);
}

static const char *const functions[] = {
#define X(name) #name,
    ACSIM_VECTOR_OPS(X)
#undef X
#define X(name, half, single, reuse) #name,
        ACSIM_LIBRARY_UNARY(X) ACSIM_LIBRARY_OTHER(X)
#undef X
#define X(name, passes, source) #name,
            ACSIM_ROW_FUNCTIONS(X)
#undef X
                "Sum",
    "Mean", "SoftMax", "SimpleSoftMax", "SoftmaxGrad"};

static void everything_has_a_bound(void **s) {
  (void)s;
  for (size_t i = 0; i < AC_COUNT(functions); i++)
    if (ac_error_bound_of(functions[i]) < 0)
      fail_msg(
          "%s has no error bound: give it a row in src/isa/bounds.def (source: where it is from, or \"assumed\")",
          functions[i]);
  for (int i = 0; i < ac_n_error_bounds; i++) {
    const ac_error_bound *b = &ac_error_bounds[i];
    assert_true(b->ulp >= 0 && b->half >= 0 && *b->source);
    bool used = false;
    for (size_t k = 0; k < AC_COUNT(functions); k++) used |= !strcmp(functions[k], b->name);
    used |= ac_inst_by_asc(b->name) < AC_INST_COUNT && b->ulp == 0 && b->half == 0; /* it moves: no arithmetic */
    if (!used) fail_msg("%s has an error bound and does not exist", b->name);
  }
}

/* docs/simulator.md has a line for each group of equal bounds: "- 2, 2 (assumed): `Exp`, `Ln`" */
static void the_documents_list_them(void **s) {
  (void)s;
  ac_diags d;
  ac_diags_init(&d, arena);
  char *page = ac_read_file(arena, AC_SOURCE_DIR "/docs/simulator.md", 0, NULL, &d);
  assert_non_null(page);
  int missing = 0;
  for (int i = 0; i < ac_n_error_bounds; i++) {
    const ac_error_bound *b = &ac_error_bounds[i];
    bool first = b->ulp > 0.5 || b->half > 0.5;
    ac_buf line;
    ac_buf_init(&line, arena);
    ac_printf(&line, "- %g, %g (%s):", b->ulp, b->half, b->source);
    for (int k = 0; k < ac_n_error_bounds; k++) {
      const ac_error_bound *c = &ac_error_bounds[k];
      if (c->ulp != b->ulp || c->half != b->half || strcmp(c->source, b->source) != 0) continue;
      first &= k >= i;
      ac_printf(&line, "%s `%s`", line.data[line.len - 1] == ':' ? "" : ",", c->name);
    }
    if (!first || strstr(page, ac_buf_str(&line))) continue;
    fprintf(stderr, "docs/simulator.md lacks the line:\n%s\n", ac_buf_str(&line));
    missing++;
  }
  assert_int_equal(missing, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_stays), cmocka_unit_test(steps), cmocka_unit_test(halves),
                                     cmocka_unit_test(everything_has_a_bound),
                                     cmocka_unit_test(the_documents_list_them)};
  return cmocka_run_group_tests(tests, setup, teardown);
}

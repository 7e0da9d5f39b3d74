/* Random valid programs: each that passes the checks runs without a hazard or fault in the simulator and agrees with its plain C form;
 * a sample is also emitted, compiled and run that way. A failure is shrunk to a small program.
 *
 * AC_RANDOM_SECONDS=n: for n seconds; AC_RANDOM_PROGRAMS=n: at most n, or a few more; AC_RANDOM_SEED=n: from that seed on;
 * AC_RANDOM_SHOW=1: every program. */
#include "random_program.h"

#include <limits.h>

static const char *const sizes[] = {"37,129", "1", "5,1003", "64,64", "2,3,8", "513", "0", "2,2048", "3,17,16"};

typedef enum { R_FINE, R_REFUSED, R_BAD } outcome; /* REFUSED: the checker or the lowering does not take it */

typedef struct {
  choices c;
  plain_program x;
  outcome got;
  const char *why;
  int runs, shapes_refused;
} trial;

static void make(ac_arena *a, trial *t, const random_ops *ops, uint64_t seed, const uint32_t *replay, size_t n,
                 int number) {
  *t = (trial){.c = {.a = a, .state = seed * 2654435761u + 12345, .replay = replay, .n = n}};
  ac_diags d;
  ac_diags_init(&d, a);
  t->x.name = ac_sprintf(a, "random-%llu.craft", (unsigned long long)seed);
  t->x.text = random_program(&t->c, ops);
  if (plain_lower(a, &t->x, number, &d)) return;
  t->got = R_REFUSED;
  const ac_diag *first = NULL;
  for (size_t i = 0; i < d.list.len && !first; i++)
    if (d.list.data[i]->severity == AC_ERROR) first = d.list.data[i];
  t->why = first ? ac_sprintf(a, "%s line %d: %s", ac_code_name(first->code), first->loc.line, first->message) : "?";
  if (first && ac_diags_exit(&d) == AC_INTERNAL) t->got = R_BAD;
}

static void run(bench *at, trial *t, uint64_t seed) {
  for (size_t k = 0; k < AC_COUNT(sizes) && t->got == R_FINE; k++) {
    if (k > 2 && (k + seed) % 3) continue; /* the first three and a third of the others */
    ac_shape of[16];
    args x;
    char *message;
    plain_shapes(at->a, t->x.p, sizes[k], of);
    plain_args(t->x.p, of, seed + k, &x);
    plain_verdict v = plain_compare(at, &t->x, &x, 1e-5, &message);
    free_args(&x);
    t->runs++;
    t->shapes_refused += v == PLAIN_REFUSED;
    if (v != PLAIN_FAULTY && v != PLAIN_DIFFERENT) continue;
    t->got = R_BAD;
    t->why = ac_sprintf(at->a, "sizes %s: %s", sizes[k], message);
  }
}

/* A bench for one attempt: what it allocates goes with it. */
static bench attempt(void) {
  bench x = b;
  x.a = ac_arena_new();
  ac_diags_init(&x.d, x.a);
  return x;
}

/* The same kind of failure: what stands before the first digit or quote. */
static bool alike(const char *p, const char *q) {
  const char *const cuts = "0123456789'";
  const char *x = strchr(p, ':'), *y = strchr(q, ':');
  x = x ? x + 1 : p, y = y ? y + 1 : q;
  x += strcspn(x, ":"), y += strcspn(y, ":");
  size_t n = strcspn(x, cuts), m = strcspn(y, cuts);
  return n == m && !strncmp(x, y, n);
}

static bool still_fails(const random_ops *ops, uint64_t seed, const uint32_t *v, size_t n, const char *why) {
  bench x = attempt();
  trial t;
  make(x.a, &t, ops, seed, v, n, 0);
  const char *broken = t.got == R_FINE ? plain_build(&x, &t.x, 1, "-O0") : NULL;
  if (broken) t.got = R_BAD, t.why = broken;
  if (t.got == R_FINE) run(&x, &t, seed);
  bool same = t.got == R_BAD && alike(t.why, why);
  ac_arena_free(x.a);
  return same;
}

/* Shorter sequences first, then smaller numbers, as long as it fails alike. */
static size_t shrink(const random_ops *ops, uint64_t seed, uint32_t *v, size_t n, const char *why) {
  enum { MOST = 400 };
  uint32_t *w = AC_NEW_N(b.a, uint32_t, n + 1);
  int tried = 0;
  for (size_t chunk = n / 2 ? n / 2 : 1; chunk && tried < MOST; chunk /= 2)
    for (size_t at = 0; at + chunk <= n && tried < MOST;) {
      memcpy(w, v, at * sizeof *v);
      memcpy(w + at, v + at + chunk, (n - at - chunk) * sizeof *v);
      tried++;
      if (still_fails(ops, seed, w, n - chunk, why))
        memcpy(v, w, (n -= chunk) * sizeof *v);
      else
        at += chunk;
    }
  for (size_t at = 0; at < n && tried < 2 * MOST; at++)
    for (uint32_t to = 0; to < v[at]; to = to ? v[at] : v[at] / 2 ? v[at] / 2 : v[at]) {
      memcpy(w, v, n * sizeof *v);
      w[at] = to;
      tried++;
      if (!still_fails(ops, seed, w, n, why)) continue;
      v[at] = to;
      break;
    }
  return n;
}

static void report(const random_ops *ops, uint64_t seed, trial *t) {
  fprintf(stderr, "seed %llu: %s\n%s\n", (unsigned long long)seed, t->why, t->x.text);
  size_t n = t->c.made.len;
  uint32_t *v = AC_NEW_N(b.a, uint32_t, n + 1);
  memcpy(v, t->c.made.data, n * sizeof *v);
  n = shrink(ops, seed, v, n, t->why);
  trial small;
  make(b.a, &small, ops, seed, v, n, 0);
  if (small.got == R_FINE && !plain_build(&b, &small.x, 1, "-O0")) run(&b, &small, seed);
  fprintf(stderr, "shrunk from %zu to %zu choices: %s\n%s\n", t->c.made.len, n, small.why ? small.why : "?",
          small.x.text);
}

/* The same faults and values compiled; that times agree is test_direct_random's business. */
static void also_compiled(bench *at, const plain_program *p, const ac_sim_lib *l, args *g) {
  ac_sim_result r[2];
  uint8_t **before = copies_of(at, g), **after[2];
  for (int w = 0; w < 2; w++) {
    ac_sim_opts o = {.threads = 2, .in_process = w == 1};
    reset(g, before);
    bool ok = w ? ac_sim_run_program(at->a, p->p, p->p->chip, g->t, g->n, g->attrs, g->n_attrs, &o, &r[w], &at->d)
                : ac_sim_run(at->a, l, g->t, g->n, g->attrs, g->n_attrs, &o, &r[w], &at->d);
    if (!ok) failed(p->text, "could not be run %s", w ? "directly" : "compiled");
    after[w] = copies_of(at, g);
  }
  same_faults(p->text, &r[0], &r[1]);
  for (int i = 0; i < g->n; i++)
    if (g->t[i].output && memcmp(after[0][i], after[1][i], (size_t)g->t[i].bytes) != 0)
      failed(p->text, "%s differs between compiled and direct", g->t[i].name);
  free_copies(g, before);
  free_copies(g, after[0]);
  free_copies(g, after[1]);
}

/* tcc compiles a program in a millisecond; without it the usual compiler does. AC_TEST_CC names another. */
static void quick_compiler(void) {
  ac_proc r;
  const char *const argv[] = {"tcc", "-v", NULL};
  ac_proc_run(b.a, &(ac_proc_spec){.argv = argv, .timeout = 10}, &r);
  if (r.started && !r.status) setenv("AC_TEST_CC", "tcc", 0);
}

static void programs_agree(void **state) {
  (void)state;
  const char *seconds = getenv("AC_RANDOM_SECONDS"), *first = getenv("AC_RANDOM_SEED");
  const char *programs = getenv("AC_RANDOM_PROGRAMS");
  double until = ac_now() + (seconds ? atof(seconds) : 3);
  int most = programs ? atoi(programs) : INT_MAX;
  uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
  enum { BATCH = 24 };
  ac_strvec left_out = {0};
  random_ops ops = find_ops(b.a, &left_out);
  quick_compiler();
  int made = 0, refused = 0, runs = 0, bad = 0, shapes_refused = 0, compiled_too = 0;
  do {
    bench at = attempt();
    trial list[BATCH];
    plain_program progs[BATCH];
    for (int i = 0; i < BATCH; i++) {
      make(at.a, &list[i], &ops, seed + (uint64_t)i, NULL, 0, i);
      progs[i] = list[i].x;
      if (getenv("AC_RANDOM_SHOW")) fprintf(stderr, "%s%s\n", list[i].x.text, list[i].why ? list[i].why : "");
    }
    const char *broken = plain_build(&at, progs, BATCH, "-O0");
    if (broken) failed("the C form of a random program", "%s", broken);
    for (int i = 0; i < BATCH; i++) {
      list[i].x = progs[i];
      made++;
      if (list[i].got == R_REFUSED) refused++;
      if (list[i].got == R_FINE) run(&at, &list[i], seed + (uint64_t)i);
      runs += list[i].runs;
      shapes_refused += list[i].shapes_refused;
      if (list[i].got != R_BAD) continue;
      bad++;
      if (bad <= 3) report(&ops, seed + (uint64_t)i, &list[i]);
    }
    if (seconds && (seed / BATCH) % 20 == 0 && list[0].x.p) { /* one in some hundreds through the C++ compiler too */
      args x;
      ac_shape of[16];
      plain_shapes(at.a, list[0].x.p, "5,1003", of);
      ac_sim_lib *l = compiled(&at, list[0].x.p, NULL);
      plain_args(list[0].x.p, of, seed, &x);
      also_compiled(&at, &list[0].x, l, &x);
      free_args(&x);
      compiled_too++;
    }
    seed += BATCH;
    ac_arena_free(at.a);
  } while (ac_now() < until && made < most && bad < 3);
  print_message("%d programs of %zu primitives and dtypes: %d not taken by the checker or the lowering, %d runs, %d "
                "of them refused by "
                "tiling code, %d compiled too, %d bad\n",
                made, ops.len, refused, runs, shapes_refused, compiled_too, bad);
  for (size_t i = 0; i < left_out.len && seconds; i++)
    print_message("not drawn from the tables: %s\n", left_out.data[i]);
  assert_int_equal(bad, 0);
  assert_true(refused * 4 < made); /* the generator knows the language */
  assert_true(shapes_refused * 2 < runs);
}

/* ---- what random programs found, kept small ---- */

#define BODY(text)                                                                                                  \
  "@ascend_kernel\ndef k(x: tl.tensor[tl.float32], z: tl.tensor[tl.float32], y: tl.tensor[tl.float32], n, tile):\n" \
  "    pid = tl.program_id(0)\n    a = tl.alloc_ub(tile, tl.float32)\n    b = tl.alloc_ub(tile, tl.float32)\n" text \
  "\n\ndef h(x: tl.tensor[tl.float32], z: tl.tensor[tl.float32], y: tl.tensor[tl.float32]):\n"                      \
  "    k[1](x, z, y, y.numel(), 64)\n"
static const char *const found[] = {
    /* loaded in every trip of a loop that does not use it: copy after copy into one slot */
    BODY("    for i in range(0, n, tile):\n        with tl.copyin():\n"
         "            tl.load(x + i + tl.arange(0, min(tile, n - i)), a)\n"
         "    for i in range(0, n, tile):\n        c = min(tile, n - i)\n        with tl.copyin():\n"
         "            tl.load(x + i + tl.arange(0, c), a)\n        with tl.compute():\n            tl.vexp(b, a)\n"
         "        with tl.copyout():\n            tl.store(y + i + tl.arange(0, c), b)\n"),
    /* the second load of a trip overwrites the first */
    BODY("    for i in range(0, n, tile):\n        c = min(tile, n - i)\n        with tl.copyin():\n"
         "            tl.load(x + i + tl.arange(0, c), a)\n            tl.load(z + i + tl.arange(0, c), a)\n"
         "        with tl.compute():\n            tl.vexp(b, a)\n        with tl.copyout():\n"
         "            tl.store(y + i + tl.arange(0, c), b)\n"),
    /* a NaN is unequal to itself, which the instruction does not say */
    BODY("    m = tl.alloc_ub(tile, tl.mask)\n    for i in range(0, n, tile):\n        c = min(tile, n - i)\n"
         "        with tl.copyin():\n            tl.load(x + i + tl.arange(0, c), a)\n        with tl.compute():\n"
         "            tl.vcompare(m, a, a, \"ne\")\n            tl.vselect_scalar(b, m, a, 0.5)\n        with "
         "tl.copyout():\n"
         "            tl.store(y + i + tl.arange(0, c), b)\n"),
    /* a conversion that is composed, over rows that are apart: not in the repeat form */
    "@ascend_kernel\ndef k(x: tl.tensor[tl.float32], y: tl.tensor[tl.uint16], z: tl.tensor[tl.float32], rows, "
    "cols):\n"
    "    a = tl.alloc_ub((4, 40), tl.float32)\n    b = tl.alloc_ub((4, 40), tl.uint16)\n"
    "    for c in range(0, cols, 40):\n        w = min(40, cols - c)\n        for r in range(0, rows, 4):\n"
    "            h = min(4, rows - r)\n"
    "            off = r * cols + c + tl.arange(0, h)[:, None] * cols + tl.arange(0, w)[None, :]\n"
    "            with tl.copyin():\n                tl.load(x + off, a)\n            with tl.compute():\n"
    "                tl.vabs(a, a)\n                tl.cast(b, a)\n            with tl.copyout():\n"
    "                tl.store(y + off, b)\n                tl.store(z + off, a)\n\n\n"
    "def h(x: tl.tensor[tl.float32], y: tl.tensor[tl.uint16], z: tl.tensor[tl.float32]):\n    cols = y.shape[-1]\n"
    "    k[1](x, y, z, tl.prod(y.shape[:-1]), cols)\n",
    /* a compare from inside of a buffer reads a whole repeat, beyond the buffer's end */
    "@ascend_kernel\ndef k(x: tl.tensor[tl.float32], y: tl.tensor[tl.float32], rows, cols):\n"
    "    a = tl.alloc_ub((2, 8), tl.float32)\n    b = tl.alloc_ub((2, 8), tl.float32)\n"
    "    for c in range(0, cols, 8):\n        w = min(8, cols - c)\n        for r in range(0, rows, 2):\n"
    "            h = min(2, rows - r)\n"
    "            off = r * cols + c + tl.arange(0, h)[:, None] * cols + tl.arange(0, w)[None, :]\n"
    "            with tl.copyin():\n                tl.load(x + off, a)\n            with tl.compute():\n"
    "                tl.vpow(b, a, a)\n            with tl.copyout():\n                tl.store(y + off, b)\n\n\n"
    "def h(x: tl.tensor[tl.float32], y: tl.tensor[tl.float32]):\n    cols = y.shape[-1]\n"
    "    k[1](x, y, tl.prod(y.shape[:-1]), cols)\n",
    /* loaded in a loop, and again behind it */
    BODY("    for r in range(0, n, tile):\n        c = min(tile, n - r)\n        for i in range(0, 3):\n"
         "            with tl.copyin():\n                tl.load(x + r + tl.arange(0, c), a)\n"
         "        with tl.copyin():\n            tl.load(z + r + tl.arange(0, c), a)\n"
         "        with tl.compute():\n            tl.vexp(b, a)\n        with tl.copyout():\n"
         "            tl.store(y + r + tl.arange(0, c), b)\n"),
};

static void found_before(void **state) {
  (void)state;
  plain_program list[AC_COUNT(found)] = {{0}};
  for (size_t i = 0; i < AC_COUNT(found); i++) {
    list[i] = (plain_program){.name = ac_sprintf(b.a, "found-%zu.craft", i), .text = found[i]};
    bool ok = plain_lower(b.a, &list[i], (int)i, &b.d);
    if (!ok) ac_diags_print(&b.d, stderr, false);
    assert_true(ok);
  }
  quick_compiler();
  const char *broken = plain_build(&b, list, AC_COUNT(found), "-O0");
  if (broken) failed("the C form", "%s", broken);
  for (size_t i = 0; i < AC_COUNT(found); i++)
    for (size_t k = 0; k < 3; k++) {
      ac_shape of[16];
      args x;
      char *message;
      plain_shapes(b.a, list[i].p, sizes[k], of);
      plain_args(list[i].p, of, k, &x);
      plain_verdict v = plain_compare(&b, &list[i], &x, 1e-6, &message);
      if (v != PLAIN_SAME)
        failed(ac_sprintf(b.a, "%s\n%s", list[i].name, found[i]), "sizes %s: %s", sizes[k], message);
      free_args(&x);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(found_before, setup, teardown),
                                     cmocka_unit_test_setup_teardown(programs_agree, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

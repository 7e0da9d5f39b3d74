/* Programs with several launches, atomic stores, barriers and loops: run directly in a child and in this process, compiled as one
 * operator and compiled as kernels that are launched one by one. All give the same bytes, and the values are right.
 * AC_LAUNCHES_FULL=1 compiles every program; else a sample is compiled and the others run directly. */
#include "direct_support.h"

#include <math.h>

static const char *example(const char *path) {
  char *t = ac_read_file(b.a, ac_sprintf(b.a, "%s/data/examples/%s", AC_SOURCE_DIR, path), 0, NULL, &b.d);
  assert_non_null(t);
  return t;
}

/* ---- arguments: "7x1003 1x5": shapes in the order of the program's tensors; small whole numbers, so that sums are exact ---- */

static ac_shape parse_shape(const char **p) {
  ac_shape s = {0};
  while (**p == ' ') ++*p;
  if (**p == '.') { /* rank 0 */
    ++*p;
    return s;
  }
  for (;;) {
    char *end;
    s.dim[s.rank++] = strtoll(*p, &end, 10);
    *p = end;
    if (**p != 'x') return s;
    ++*p;
  }
}

static void put(ac_sim_tensor *t, int64_t i, double v) {
  if (ac_dtypes[t->dtype].cls == AC_FLOATING)
    ac_store(t->dtype, t->data, i, v);
  else
    ac_store_int(t->dtype, t->data, i, (int64_t)v);
}
static double get(const ac_sim_tensor *t, int64_t i) {
  return ac_dtypes[t->dtype].cls == AC_FLOATING ? ac_load(t->dtype, t->data, i)
                                                : (double)ac_load_int(t->dtype, t->data, i);
}
static int64_t numel(const ac_sim_tensor *t) {
  return t->bytes / ac_dtypes[t->dtype].bytes;
}

static args arguments(const ac_program *p, const char *shapes) {
  args x = {0};
  for (size_t i = 0; i < p->tensors.len; i++) {
    const ac_aparam *w = &p->tensors.data[i];
    ac_shape s = parse_shape(&shapes);
    add_tensor(&x, w->name, w->dtype, &s, w->dir != AC_TENSOR_IN);
    ac_sim_tensor *t = &x.t[x.n - 1];
    t->also_input = w->dir == AC_TENSOR_INOUT;
    for (int64_t k = 0; k < numel(t); k++) put(t, k, (double)((k * 7 + (int64_t)i * 5) % 13 - 4));
  }
  for (size_t i = 0; i < p->attrs.len; i++) /* kernels launched one by one get every attribute */
    x.attrs[x.n_attrs++] = (ac_sim_attr){.name = p->attrs.data[i].name,
                                         .kind = p->attrs.data[i].type == AC_AT_FLOAT ? AC_ATTR_F : AC_ATTR_I,
                                         .f = p->attrs.data[i].value,
                                         .i = (int64_t)p->attrs.data[i].value};
  return x;
}

/* ---- the four ways ---- */

typedef struct {
  const char *what;
  ac_program *p;
  ac_sim_lib *one, *each; /* NULL: not compiled */
} program;

static program open_program(const char *name, const char *text, bool compile) {
  program r = {.what = name, .p = lowered(&b, name, text)};
  if (compile || getenv("AC_LAUNCHES_FULL")) {
    r.one = compiled_as(&b, AC_SIM_MSOPGEN, r.p, NULL);
    r.each = compiled_as(&b, AC_SIM_DIRECT, r.p, NULL);
  }
  return r;
}

static void no_faults(const char *what, const ac_sim_result *r) {
  if (r->refused) failed(what, "refused: %s", r->refused);
  for (size_t i = 0; i < r->faults.len; i++)
    failed(what, "%s: %s (%s:%d)", r->faults.data[i].kind, r->faults.data[i].message,
           r->faults.data[i].file ? r->faults.data[i].file : "?", r->faults.data[i].line);
}

/* Runs it in every way and in both orders of blocks; what is left in x is the direct result. */
static ac_sim_result run_ways(const program *q, args *x) {
  ac_sim_result r = {0};
  uint8_t **before = copies_of(&b, x);
  if (q->one) run_both(&b, q->what, q->p, q->one, x, AC_ORDER_FORWARD, 2);
  for (int order = 0; order < 2; order++) {
    ac_sim_opts o = {.order = order ? AC_ORDER_FORWARD : AC_ORDER_REVERSE, .threads = 2, .in_process = true};
    if (q->each) {
      reset(x, before);
      assert_true(ac_sim_run(b.a, q->each, x->t, x->n, x->attrs, x->n_attrs, &o, &r, &b.d));
      no_faults(ac_sprintf(b.a, "%s, launched one by one", q->what), &r);
    }
    uint8_t **each = copies_of(&b, x);
    reset(x, before);
    assert_true(ac_sim_run_program(b.a, q->p, q->p->chip, x->t, x->n, x->attrs, x->n_attrs, &o, &r, &b.d));
    no_faults(q->what, &r);
    for (int i = 0; q->each && i < x->n; i++)
      if (x->t[i].output && memcmp(each[i], x->t[i].data, (size_t)x->t[i].bytes) != 0)
        failed(q->what, "%s differs between the launches and the phases", x->t[i].name);
    free_copies(x, each);
  }
  free_copies(x, before);
  return r;
}

/* What the caller gave: as `arguments` fills it. */
static double given(const args *x, int tensor, int64_t k) {
  (void)x;
  return (double)((k * 7 + (int64_t)tensor * 5) % 13 - 4);
}

/* ---- sums ---- */

static const char *const sizes[] = {"1 1", "513 1", "13243 1", "65537 1"};

static void check_sum(const char *path, bool compile) {
  program q = open_program(path, example(path), compile);
  for (size_t i = 0; i < AC_COUNT(sizes); i++) {
    args x = arguments(q.p, sizes[i]);
    ac_sim_result r = run_ways(&q, &x);
    double want = 0;
    for (int64_t k = 0; k < numel(&x.t[0]); k++) want += given(&x, 0, k);
    if (get(&x.t[1], 0) != want) failed(path, "the sum of %s is %f, not %f", sizes[i], get(&x.t[1], 0), want);
    assert_true(r.block_dim <= q.p->chip->vector_cores);
    free_args(&x);
  }
}

static void sum_two_launches(void **s) {
  (void)s;
  check_sum("reduce/sum_two_launches.craft", false);
}
static void sum_barrier(void **s) {
  (void)s;
  check_sum("reduce/sum_barrier.craft", false);
}
static void sum_atomic(void **s) {
  (void)s;
  check_sum("reduce/sum_atomic.craft", false);
}

/* Another tiling key, the same sum; and the bits do not depend on the order of blocks. */
static void sum_deterministic(void **s) {
  (void)s;
  program q = open_program("reduce/sum_atomic.craft", example("reduce/sum_atomic.craft"), true);
  int64_t keys[2] = {0};
  uint32_t bits[2][2] = {{0}};
  ac_sim_lib *libs[] = {q.one, q.each, NULL};
  args x = arguments(q.p, "100003 1");
  for (int64_t k = 0; k < 100003; k++) ((float *)x.t[0].data)[k] = (float)(k * 7919 % 10007) / 7.0f;
  for (int det = 0; det < 2; det++)
    for (int way = 0; way < 3; way++)
      for (int order = 0; order < 2; order++) {
        ac_sim_opts o = {.order = order ? AC_ORDER_REVERSE : AC_ORDER_FORWARD, .threads = 2, .deterministic = det};
        ac_sim_result r;
        bool ran = libs[way] ? ac_sim_run(b.a, libs[way], x.t, x.n, NULL, 0, &o, &r, &b.d)
                             : ac_sim_run_program(b.a, q.p, q.p->chip, x.t, x.n, NULL, 0, &o, &r, &b.d);
        assert_true(ran);
        no_faults(q.what, &r);
        uint32_t now;
        memcpy(&now, x.t[1].data, 4);
        if (way != 1) { /* kernels that are launched one by one have no key */
          if (!keys[det]) keys[det] = r.tiling_key;
          assert_int_equal(r.tiling_key, keys[det]);
        }
        if (!bits[det][order]) bits[det][order] = now;
        assert_int_equal(now, bits[det][order]);
      }
  assert_int_not_equal(keys[0], keys[1]);
  assert_int_not_equal(bits[0][0], bits[0][1]); /* atomic: the order shows */
  assert_int_equal(bits[1][0], bits[1][1]);
  free_args(&x);
}

/* What follows a branch that launches assigns names anew that the branch's halves have assigned before. */
static void names_after_branches(void **s) {
  (void)s;
  static const char text[] = "@ascend_kernel\n"
                             "def one_kernel(x, y, n, tile):\n"
                             "    buf = tl.alloc_ub(tile, tl.float32)\n"
                             "    for i in range(tl.program_id(0) * tile, n, tl.num_programs(0) * tile):\n"
                             "        with tl.copyin():\n"
                             "            tl.load(x + i + tl.arange(0, min(tile, n - i)), buf)\n"
                             "        with tl.compute():\n"
                             "            tl.vadd_scalar(buf, buf, 1.0)\n"
                             "        with tl.copyout():\n"
                             "            tl.store(y + i + tl.arange(0, min(tile, n - i)), buf)\n\n\n"
                             "def tail(x, y):\n"
                             "    n = x.numel()\n"
                             "    mid = tl.empty(n, tl.float32)\n"
                             "    if n > 1000:\n"
                             "        tile = 512\n"
                             "        one_kernel[8](x, mid, n, tile)\n"
                             "    else:\n"
                             "        tile = 128\n"
                             "        one_kernel[4](x, mid, n, tile)\n"
                             "    tile = 256\n"
                             "    one_kernel[2](mid, y, n, tile)\n";
  program q = open_program("names_after_branches", text, true);
  static const char *const at[] = {"7 7", "1003 1003"};
  for (size_t i = 0; i < AC_COUNT(at); i++) {
    args x = arguments(q.p, at[i]);
    run_ways(&q, &x);
    for (int64_t k = 0; k < numel(&x.t[0]); k++) assert_true(get(&x.t[1], k) == given(&x, 0, k) + 2);
    free_args(&x);
  }
}

/* ---- the other examples ---- */

static void histogram(void **s) {
  (void)s;
  program q = open_program("multicore/histogram.craft", example("multicore/histogram.craft"), false);
  static const char *const at[] = {"1 16", "1003 16", "65537 16", "0 16"};
  for (size_t i = 0; i < AC_COUNT(at); i++) {
    args x = arguments(q.p, at[i]);
    int64_t want[16] = {0};
    for (int64_t k = 0; k < numel(&x.t[0]); k++)
      if (get(&x.t[0], k) >= 0) want[(int)get(&x.t[0], k)]++;
    run_ways(&q, &x);
    for (int k = 0; k < 16; k++) assert_int_equal(ac_load_int(AC_I32, x.t[1].data, k), want[k]);
    free_args(&x);
  }
}

static void idle_cores(void **s) {
  (void)s;
  program q = open_program("multicore/idle_cores.craft", example("multicore/idle_cores.craft"), false);
  static const char *const at[] = {"1 1", "7x1003 7x1003", "49x40 49x40", "2x13243 2x13243", "0x5 0x5"};
  for (size_t i = 0; i < AC_COUNT(at); i++) {
    args x = arguments(q.p, at[i]);
    run_ways(&q, &x);
    for (int64_t k = 0; k < numel(&x.t[0]); k++) assert_true(get(&x.t[1], k) == fabs(get(&x.t[0], k)));
    free_args(&x);
  }
}

static void two_strategies(void **s) {
  (void)s;
  program q = open_program("host/two_strategies.craft", example("host/two_strategies.craft"), false);
  static const struct {
    const char *shapes;
    int key;
  } at[] = {{"7x1003 7", 1}, {"3x13243 3", 2}, {"2x3x40 2x3", 1}, {"5 .", 1}, {"97x8192 97", 1}};
  for (size_t i = 0; i < AC_COUNT(at); i++) {
    args x = arguments(q.p, at[i].shapes);
    ac_sim_result r = run_ways(&q, &x);
    assert_int_equal(r.tiling_key, at[i].key);
    int64_t rows = numel(&x.t[1]), cols = numel(&x.t[0]) / rows;
    for (int64_t k = 0; k < rows; k++) {
      double want = 0;
      for (int64_t c = 0; c < cols; c++) want += get(&x.t[0], k * cols + c);
      assert_true(get(&x.t[1], k) == want);
    }
    free_args(&x);
  }
  args x = arguments(q.p, "7x1003 8"); /* another shape than the program says */
  ac_sim_result r;
  assert_true(ac_sim_run_program(b.a, q.p, q.p->chip, x.t, x.n, NULL, 0, &(ac_sim_opts){0}, &r, &b.d));
  assert_string_equal(r.refused, "both_custom: the shape of y does not follow from the inputs");
  free_args(&x);
}

static void newton(void **s) {
  (void)s;
  program q = open_program("host/newton_root.craft", example("host/newton_root.craft"), false);
  args x = arguments(q.p, "13243 13243");
  for (int64_t k = 0; k < numel(&x.t[0]); k++) put(&x.t[0], k, (double)(k % 1000) * 0.37 + 0.01);
  run_ways(&q, &x);
  for (int64_t k = 0; k < numel(&x.t[0]); k++) {
    double want = sqrt(get(&x.t[0], k));
    assert_true(fabs(get(&x.t[1], k) - want) <= want * 1e-6 + 1e-6);
  }
  free_args(&x);
}

static void sgd_momentum(void **s) {
  (void)s;
  program q = open_program("optimizer/sgd_momentum.craft", example("optimizer/sgd_momentum.craft"), true);
  static const char *const at[] = {"1003 1003 1003 1", "65537 65537 65537 1"};
  for (size_t i = 0; i < AC_COUNT(at); i++) {
    args x = arguments(q.p, at[i]); /* grad, weight, velocity, energy */
    double energy = 0;
    run_ways(&q, &x);
    for (int64_t k = 0; k < numel(&x.t[0]); k++) {
      double v = given(&x, 2, k) * 0.25 + given(&x, 0, k);
      assert_true(get(&x.t[2], k) == v && get(&x.t[1], k) == given(&x, 1, k) - v * 0.5);
      energy += v * v * 0.25;
    }
    assert_true(fabs(get(&x.t[3], 0) - energy) <= energy * 1e-5);
    free_args(&x);
  }
}

/* ---- atomic stores, by dtype and operation ---- */

static void atomics(void **s) {
  (void)s;
  static const ac_dtype dtypes[] = {AC_F32, AC_F16, AC_BF16, AC_I32, AC_I16, AC_I8};
  for (size_t d = 0; d < AC_COUNT(dtypes); d++)
    for (int op = AC_ATOMIC_ADD; op <= AC_ATOMIC_MIN; op++) {
      char *name = ac_sprintf(b.a, "atomic %s of %s", ac_atomic_names[op], ac_dtypes[dtypes[d]].name);
      const char *text =
          ac_sprintf(b.a,
                     "@ascend_kernel\ndef k(x, y, n):\n    b = tl.alloc_ub(n, tl.%s)\n    pid = tl.program_id(0)\n"
                     "    with tl.copyin():\n        tl.load(x + pid * n + tl.arange(0, n), b)\n"
                     "    with tl.copyout():\n        tl.store(y + tl.arange(0, n), b, atomic=\"%s\")\n\n\n"
                     "def h(x, y: tl.inout):\n    k[x.shape[0]](x, y, x.shape[1])\n",
                     ac_dtypes[dtypes[d]].name, ac_atomic_names[op]);
      program q = open_program(name, text, d == 0 && op == AC_ATOMIC_MAX);
      args x = arguments(q.p, "5x77 77");
      run_ways(&q, &x);
      for (int64_t k = 0; k < 77; k++) {
        double want = given(&x, 1, k);
        for (int64_t r = 0; r < 5; r++) {
          double v = given(&x, 0, r * 77 + k);
          want = op == AC_ATOMIC_ADD ? want + v : op == AC_ATOMIC_MAX ? fmax(want, v) : fmin(want, v);
        }
        if (get(&x.t[1], k) != want) failed(name, "element %d is %f, not %f", (int)k, get(&x.t[1], k), want);
      }
      free_args(&x);
    }
}

/* ---- what the scalar unit reads of global memory, again and again ---- */

/* Its cache is not kept equal to memory: it is emptied behind a barrier, and where a later launch begins. */
static void scalar_reads(void **s) {
  (void)s;
  static const char put_get[] =
      "@ascend_kernel\ndef put(w, v: float):\n    z = tl.alloc_ub(8, tl.float32)\n    with tl.compute():\n"
      "        tl.duplicate(z, v, count=8)\n    if tl.program_id(0) == 1:\n        with tl.copyout():\n"
      "            tl.store(w + tl.arange(0, 8), z)\n\n\n"
      "@ascend_kernel\ndef get(w, y, at):\n    z = tl.alloc_ub(8, tl.float32)\n    pid = tl.program_id(0)\n"
      "    v = tl.extract_scalar(w, 3)\n    with tl.compute():\n        tl.duplicate(z, v, count=1)\n"
      "    with tl.copyout():\n        tl.store(y + at + pid, z, count=1)\n\n\n"
      "def host(x: tl.float32, y: tl.out[4]):\n    if x.numel() < 1:\n        tl.refuse(\"empty\")\n"
      "    w = tl.empty(8, tl.float32)\n    put[2](w, 1.0)\n    get[2](w, y, 0)\n    put[2](w, 5.0)\n"
      "    get[2](w, y, 2)\n";
  static const char barrier[] =
      "@ascend_kernel\ndef k(w, y):\n    z = tl.alloc_ub(8, tl.float32)\n    pid = tl.program_id(0)\n"
      "    total = 0.0\n    for trip in range(3):\n        with tl.compute():\n"
      "            tl.duplicate(z, float(trip), count=8)\n        if pid == 1:\n            with tl.copyout():\n"
      "                tl.store(w + tl.arange(0, 8), z)\n        tl.sync_all()\n"
      "        total = total + tl.extract_scalar(w, 3)\n        tl.sync_all()\n    with tl.compute():\n"
      "        tl.duplicate(z, total, count=1)\n    with tl.copyout():\n        tl.store(y + pid, z, count=1)\n\n\n"
      "def host(x: tl.float32, y: tl.out[2]):\n    if x.numel() < 1:\n        tl.refuse(\"empty\")\n"
      "    w = tl.empty(8, tl.float32)\n    k[2](w, y)\n";
  program q = open_program("scalar reads of launches", put_get, false);
  args x = arguments(q.p, "3 4");
  run_ways(&q, &x);
  for (int i = 0; i < 4; i++) assert_true(get(&x.t[1], i) == (i < 2 ? 1 : 5));
  free_args(&x);
  q = open_program("scalar reads behind a barrier", barrier, true);
  x = arguments(q.p, "3 2");
  run_ways(&q, &x);
  for (int i = 0; i < 2; i++) assert_true(get(&x.t[1], i) == 0 + 1 + 2);
  free_args(&x);
}

/* ---- paths ---- */

/* One kernel, launched again and again with other numbers; between two launches a branch, after the second a return. */
static const char paths_text[] = "@ascend_kernel\n"
                                 "def add_kernel(x, y, n, what: float):\n"
                                 "    b = tl.alloc_ub(64, tl.float32)\n"
                                 "    for i in range(tl.program_id(0) * 64, n, tl.num_programs(0) * 64):\n"
                                 "        c = min(64, n - i)\n"
                                 "        with tl.copyin():\n"
                                 "            tl.load(x + i + tl.arange(0, c), b)\n"
                                 "        with tl.compute():\n"
                                 "            tl.vadd_scalar(b, b, what)\n"
                                 "        with tl.copyout():\n"
                                 "            tl.store(y + i + tl.arange(0, c), b)\n"
                                 "\n\n"
                                 "def host(x, y, deep=0):\n"
                                 "    n = x.numel()\n"
                                 "    if deep == 9:\n"
                                 "        return\n"
                                 "    a = tl.empty(n + n // 2, tl.float32)\n"
                                 "    c = tl.empty(n, tl.float32)\n"
                                 "    if deep == 0:\n"
                                 "        add_kernel[min(3, n)](x, y, n, 1.0)\n"
                                 "        return\n"
                                 "    add_kernel[min(5, n)](x, a, n, 10.0)\n"
                                 "    n = n + deep - deep\n"
                                 "    if deep == 1:\n"
                                 "        add_kernel[min(2, n)](a, c, n, 100.0)\n"
                                 "    else:\n"
                                 "        add_kernel[min(7, n)](a, c, n, 200.0)\n"
                                 "        if deep == 3:\n"
                                 "            add_kernel[1](c, y, n, 4000.0)\n"
                                 "            return\n"
                                 "    add_kernel[min(4, n)](c, y, n, 1000.0)\n"
                                 "    if n > 100000:\n"
                                 "        tl.refuse(\"more than 100000\")\n";

static void every_path(void **s) {
  (void)s;
  static const struct {
    int64_t deep;
    double adds;
    int64_t blocks;
  } t[] = {{0, 1, 3}, {1, 1110, 5}, {2, 1210, 7}, {3, 4210, 7}};
  program q = open_program("paths.craft", paths_text, true);
  assert_int_equal(q.p->paths.len, AC_COUNT(t));
  bool keys[8] = {0};
  for (size_t i = 0; i < AC_COUNT(t); i++) {
    args x = arguments(q.p, "1003 1003");
    x.attrs[0].i = t[i].deep;
    ac_sim_result r = run_ways(&q, &x);
    assert_int_equal(r.block_dim, t[i].blocks);
    assert_true(r.tiling_key > 0 && !keys[r.tiling_key]);
    keys[r.tiling_key] = true;
    for (int64_t k = 0; k < 1003; k++) assert_true(get(&x.t[1], k) == given(&x, 0, k) + t[i].adds);
    free_args(&x);
  }
}

static void nothing_to_do(void **s) {
  (void)s;
  program q = open_program("paths.craft", paths_text, false);
  static const int64_t deep[] = {0, 1, 3};
  for (size_t i = 0; i < AC_COUNT(deep); i++) {
    args x = arguments(q.p, "0 0");
    x.attrs[0].i = deep[i];
    ac_sim_result r = run_ways(&q, &x);
    assert_int_equal(r.tiling_key, deep[i] == 3 ? r.tiling_key : 0);
    free_args(&x);
  }
  args x = arguments(q.p, "100001 100001");
  x.attrs[0].i = 2;
  ac_sim_result r;
  assert_true(ac_sim_run_program(b.a, q.p, q.p->chip, x.t, x.n, x.attrs, x.n_attrs, &(ac_sim_opts){0}, &r, &b.d));
  assert_string_equal(r.refused, "both_custom: more than 100000"); /* said after two launches, and all the same */
  free_args(&x);
}

/* A launch of a path with several is never wider than the chip; one that waits inside has all blocks of the call. */
static void widths(void **s) {
  (void)s;
  static const struct {
    const char *blocks, *says;
  } t[] = {{"49", "both_custom: 49 blocks are wanted, a launch has 48 at most here"},
           {"5", "both_custom: w waits for all blocks (tl.sync_all): every launch of this path must have as many"},
           {"6", NULL}};
  for (size_t i = 0; i < AC_COUNT(t); i++) {
    ac_program *p = lowered(&b, "widths.craft",
                            ac_sprintf(b.a,
                                       "@ascend_kernel\ndef w(x, y, n):\n    b = tl.alloc_ub(64, tl.float32)\n"
                                       "    tl.sync_all()\n    if tl.program_id(0) == 0:\n        with tl.copyin():\n"
                                       "            tl.load(x + tl.arange(0, n), b)\n        with tl.copyout():\n"
                                       "            tl.store(y + tl.arange(0, n), b)\n\n\n"
                                       "@ascend_kernel\ndef v(x, y, n):\n    b = tl.alloc_ub(64, tl.float32)\n"
                                       "    if tl.program_id(0) == 0:\n        with tl.copyin():\n"
                                       "            tl.load(x + tl.arange(0, n), b)\n        with tl.copyout():\n"
                                       "            tl.store(y + tl.arange(0, n), b)\n\n\n"
                                       "def host(x, y):\n    n = min(64, x.numel())\n    a = tl.empty(64, "
                                       "tl.float32)\n    v[6](x, a, n)\n    w[%s](a, y, n)\n",
                                       t[i].blocks));
    args x = arguments(p, "64 64");
    ac_sim_result r;
    assert_true(ac_sim_run_program(b.a, p, p->chip, x.t, x.n, NULL, 0, &(ac_sim_opts){0}, &r, &b.d));
    if (t[i].says)
      assert_string_equal(r.refused, t[i].says);
    else
      no_faults("widths.craft", &r);
    free_args(&x);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sum_two_launches),
      cmocka_unit_test(sum_barrier),
      cmocka_unit_test(sum_atomic),
      cmocka_unit_test(sum_deterministic),
      cmocka_unit_test(names_after_branches),
      cmocka_unit_test(histogram),
      cmocka_unit_test(idle_cores),
      cmocka_unit_test(two_strategies),
      cmocka_unit_test(newton),
      cmocka_unit_test(sgd_momentum),
      cmocka_unit_test(atomics),
      cmocka_unit_test(scalar_reads),
      cmocka_unit_test(every_path),
      cmocka_unit_test(nothing_to_do),
      cmocka_unit_test(widths),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}

/* Compiled against direct, for seeded random programs: element-wise chains, row reductions and two-dimensional tiles; and for
 * lowered programs that were broken on purpose, where both ways must report the same faults. AC_DIRECT_ROUNDS=n: n of each; AC_DIRECT_SHOW=1: what faults they had;
 * AC_DIRECT_TEST='broken*': only that; AC_DIRECT_FROM=i: from round i on. */
#include "direct_support.h"

static uint64_t state;

static uint32_t next(uint32_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return below ? (uint32_t)(state >> 33) % below : 0;
}
static const char *pick(const char *const *list, size_t n) {
  return list[next((uint32_t)n)];
}
#define PICK(list) pick(list, AC_COUNT(list))

static int rounds(int usual) {
  const char *n = getenv("AC_DIRECT_ROUNDS");
  return n ? atoi(n) : usual;
}

/* ---- programs ---- */

typedef struct {
  ac_buf text;
  int inputs;
  bool ints, reduces;
  const char *type; /* of loads and stores */
} program;

/* One step over the buffers v0 .. v<n-1>, all valid; the result goes to `to`, which may be one of them. */
static void step(program *g, const char *indent, const char *to, int n, bool scalar) {
  static const char *const unary[] = {"vexp", "vabs", "vrelu", "vneg", "vtanh", "vsigmoid", "vsqrt", "vreciprocal"};
  static const char *const unary_int[] = {"vrelu", "vneg"};
  static const char *const binary[] = {"vadd", "vsub", "vmul", "vmax", "vmin", "vdiv"};
  static const char *const by[] = {"vadd_scalar", "vsub_scalar", "vmul_scalar", "vmax_scalar", "vmin_scalar"};
  static const char *const numbers[] = {"0.5", "-1.25", "3.0", "1e-3", "-0.0"};
  static const char *const ints[] = {"2", "-3", "7", "1000003"};
  static const char *const modes[] = {"lt", "gt", "eq", "le", "ge", "ne"};
  uint32_t a = next((uint32_t)n), c = next((uint32_t)n);
  switch (next(g->ints ? 3 : 5)) {
  case 0: ac_printf(&g->text, "%stl.%s(%s, v%u)\n", indent, g->ints ? PICK(unary_int) : PICK(unary), to, a); return;
  case 1: ac_printf(&g->text, "%stl.%s(%s, v%u, v%u)\n", indent, pick(binary, g->ints ? 5 : 6), to, a, c); return;
  case 2:
    ac_printf(&g->text, "%stl.%s(%s, v%u, %s)\n", indent, PICK(by), to, a,
              scalar && next(2) ? "s"
              : g->ints         ? PICK(ints)
                                : PICK(numbers));
    return;
  case 3:
    ac_printf(&g->text, "%stl.vcompare(mask, v%u, v%u, \"%s\")\n%stl.vselect(%s, mask, v%u, v%u)\n", indent, a, c,
              PICK(modes), indent, to, c, a);
    return;
  default:
    ac_printf(&g->text, "%stl.vcompare_scalar(mask, v%u, %s, \"%s\")\n%stl.vselect_scalar(%s, mask, v%u, %s)\n",
              indent, a, PICK(numbers), PICK(modes), indent, to, c, PICK(numbers));
  }
}

static void head(program *g, const char *more) {
  ac_puts(&g->text, "@ascend_kernel\ndef k(");
  for (int i = 0; i < g->inputs; i++) ac_printf(&g->text, "x%d: tl.tensor[tl.%s], ", i, g->type);
  ac_printf(&g->text, "y: tl.tensor[tl.%s], %s):\n    pid = tl.program_id(0)\n", g->type, more);
}
static void host_head(program *g) {
  ac_puts(&g->text, "\n\ndef h(");
  for (int i = 0; i < g->inputs; i++) ac_printf(&g->text, "x%d: tl.tensor[tl.%s], ", i, g->type);
  ac_printf(&g->text, "y: tl.tensor[tl.%s], alpha=1.5):\n", g->type);
}
static void launch(program *g, const char *blocks, const char *numbers) {
  ac_printf(&g->text, "    k[%s](", blocks);
  for (int i = 0; i < g->inputs; i++) ac_printf(&g->text, "x%d, ", i);
  ac_printf(&g->text, "y, %s)\n", numbers);
}
/* Buffers v0.. of `size`: one an input, then `more`; for narrow loads the computation is in float32 all the same. */
static void buffers(program *g, const char *size, int more, bool narrow) {
  for (int i = 0; i < g->inputs + more; i++)
    ac_printf(&g->text, "    v%d = tl.alloc_ub(%s, dtype=tl.%s)\n", i, size, g->ints ? "int32" : "float32");
  for (int i = 0; narrow && i < g->inputs; i++)
    ac_printf(&g->text, "    n%d = tl.alloc_ub(%s, dtype=tl.%s)\n", i, size, g->type);
  ac_printf(&g->text, "    o = tl.alloc_ub(%s, dtype=tl.%s)\n", size, g->type);
}
static void copies(program *g, const char *indent, const char *offset, bool narrow) {
  ac_printf(&g->text, "%swith tl.copyin():\n", indent);
  for (int i = 0; i < g->inputs; i++)
    ac_printf(&g->text, "%s    tl.load(x%d + %s, %c%d)\n", indent, i, offset, narrow ? 'n' : 'v', i);
}
/* A stage that makes o of the inputs. */
static void compute(program *g, const char *indent, int more, bool narrow, bool scalar) {
  char *deeper = ac_sprintf(b.a, "%s    ", indent);
  ac_printf(&g->text, "%swith tl.compute():\n", indent);
  for (int i = 0; narrow && i < g->inputs; i++) ac_printf(&g->text, "%stl.cast(v%d, n%d)\n", deeper, i, i);
  int valid = g->inputs;
  for (int i = 0; i < more; i++, valid++) step(g, deeper, ac_sprintf(b.a, "v%d", valid), valid, scalar);
  for (uint32_t i = next(3); i > 0; i--)
    step(g, deeper, ac_sprintf(b.a, "v%u", g->inputs + next((uint32_t)more)), valid, scalar);
  if (narrow)
    ac_printf(&g->text, "%stl.cast(o, v%d)\n", deeper, valid - 1);
  else
    step(g, deeper, "o", valid, scalar);
}

static void elementwise(program *g) {
  static const char *const tiles[] = {"256", "1000", "2048", "min(4096, per_core)"};
  static const char *const aligned[] = {"8", "64", "256"};
  bool narrow = !g->ints && strcmp(g->type, "float32") != 0, scalar = !g->ints && next(2);
  int more = 1 + (int)next(2);
  head(g, scalar ? "n, per_core, tile, s" : "n, per_core, tile");
  ac_puts(&g->text, "    start = pid * per_core\n    end = min(start + per_core, n)\n");
  buffers(g, "tile", more, narrow);
  if (!g->ints) ac_puts(&g->text, "    mask = tl.alloc_ub(tile, dtype=tl.mask)\n");
  if (scalar && next(2))
    ac_puts(&g->text,
            "    if pid % 2 == 1 and s > 0.25:\n        s = s * 0.5 - 1.0\n    else:\n        s = s / 3.0\n");
  ac_puts(&g->text, "    for i in range(start, end, tile):\n        count = min(tile, end - i)\n        off = i + "
                    "tl.arange(0, count)\n");
  copies(g, "        ", "off", narrow);
  compute(g, "        ", more, narrow, scalar);
  ac_puts(&g->text, "        with tl.copyout():\n            tl.store(y + off, o)\n");
  host_head(g);
  const char *align = PICK(aligned);
  ac_printf(&g->text,
            "    n = y.numel()\n    per_core = max(%s, tl.align_up(tl.cdiv(n, tl.num_cores()), %s))\n    tile = %s\n",
            align, align, PICK(tiles));
  launch(g, "max(1, tl.cdiv(n, per_core))", scalar ? "n, per_core, tile, alpha * 2 - n % 7" : "n, per_core, tile");
}

static void rows(program *g) {
  static const char *const reductions[] = {"reduce_sum", "reduce_max", "reduce_min"};
  int more = 1 + (int)next(2);
  head(g, "rows, per_core, cols, s");
  buffers(g, "cols", more, false);
  ac_puts(
      &g->text,
      "    mask = tl.alloc_ub(cols, dtype=tl.mask)\n    w = tl.alloc_ub(cols, dtype=tl.float32)\n    t = s * 2.0\n"
      "    for r in range(pid * per_core, min((pid + 1) * per_core, rows)):\n        off = r * cols + tl.arange(0, "
      "cols)\n");
  copies(g, "        ", "off", false);
  ac_printf(&g->text,
            "        with tl.compute():\n            tl.%s(w, v0, w)\n            s = tl.extract_scalar(w, 0)\n",
            PICK(reductions));
  if (next(2))
    ac_puts(&g->text,
            "            if s < t:\n                s = min(s, 4.0) + 1.0\n            t = max(s, t) - 0.125\n");
  if (next(2)) ac_puts(&g->text, "            s = s / cols if cols > 3 else s\n");
  int valid = g->inputs;
  for (int i = 0; i < more; i++, valid++) step(g, "            ", ac_sprintf(b.a, "v%d", valid), valid, true);
  step(g, "            ", "o", valid, true);
  ac_puts(&g->text, "        with tl.copyout():\n            tl.store(y + off, o)\n");
  host_head(g);
  ac_puts(&g->text,
          "    cols = y.shape[-1]\n    rows = tl.prod(y.shape[:-1])\n    if rows == 0 or cols == 0:\n        return\n"
          "    if cols > 9000:\n        tl.refuse(\"rows are too long\")\n    per_core = tl.cdiv(rows, "
          "tl.num_cores())\n");
  launch(g, "tl.cdiv(rows, per_core)", "rows, per_core, cols, alpha");
}

static void tiles(program *g) {
  int more = 1 + (int)next(2);
  head(g, "rows, cols, s");
  char *height = ac_sprintf(b.a, "%u", 1 + next(9)), *width = ac_sprintf(b.a, "%u", 8 * (1 + next(12)));
  buffers(g, ac_sprintf(b.a, "(%s, %s)", height, width), more, false);
  ac_printf(&g->text,
            "    for c in range(pid * %s, cols, %s * tl.num_programs(0)):\n        w = min(%s, cols - c)\n"
            "        for r in range(0, rows, %s):\n            h = min(%s, rows - r)\n"
            "            off = r * cols + c + tl.arange(0, h)[:, None] * cols + tl.arange(0, w)[None, :]\n",
            width, width, width, height, height);
  copies(g, "            ", "off", false);
  ac_puts(&g->text, "            with tl.compute():\n");
  static const char *const unary[] = {"vexp", "vabs", "vrelu"};
  static const char *const binary[] = {"vadd", "vsub", "vmul", "vmax"};
  int valid = g->inputs;
  for (int i = 0; i < more; i++, valid++)
    ac_printf(&g->text, "                tl.%s(v%d, v%u)\n", PICK(unary), valid, next((uint32_t)valid));
  ac_printf(&g->text, "                tl.%s(o, v%u, v%d)\n                tl.vmul_scalar(o, o, s)\n", PICK(binary),
            next((uint32_t)valid), valid - 1);
  ac_puts(&g->text, "            with tl.copyout():\n                tl.store(y + off, o)\n");
  host_head(g);
  ac_puts(&g->text, "    cols = y.shape[-1]\n    rows = tl.prod(y.shape[:-1])\n");
  launch(g, "max(1, min(tl.num_cores(), cols // 16))", "rows, cols, alpha");
}

typedef enum { ELEMENTS, ROWS, TILES, KINDS } kind;
static const char *make(kind k, uint64_t seed) {
  static const char *const types[] = {"float32", "float32", "float16", "int32"};
  state = seed * 2654435761u + 12345;
  program g = {.inputs = 1 + (int)next(2), .type = "float32"};
  ac_buf_init(&g.text, b.a);
  if (k == ELEMENTS) {
    g.type = PICK(types);
    g.ints = !strcmp(g.type, "int32");
    elementwise(&g);
  } else if (k == ROWS) {
    rows(&g);
  } else {
    tiles(&g);
  }
  return ac_strdup(b.a, ac_buf_str(&g.text));
}

static void program_args(const ac_program *p, const ac_shape *s, uint64_t seed, args *x) {
  memset(x, 0, sizeof *x);
  for (size_t i = 0; i < p->tensors.len; i++) {
    bool out = p->tensors.data[i].dir == AC_TENSOR_OUT;
    add_tensor(x, p->tensors.data[i].name, p->tensors.data[i].dtype, s, out);
    if (!out) fill_tensor(&x->t[x->n - 1], seed % 3 ? AC_VALUES_NORMAL : AC_VALUES_SPECIAL, seed + i);
  }
  for (size_t i = 0; i < p->attrs.len; i++)
    x->attrs[x->n_attrs++] = (ac_sim_attr){.name = p->attrs.data[i].name,
                                           .kind = p->attrs.data[i].type == AC_AT_FLOAT ? AC_ATTR_F : AC_ATTR_I,
                                           .f = 0.7,
                                           .i = 3};
}

static const ac_shape shapes[] = {{.rank = 2, .dim = {37, 129}}, {.rank = 2, .dim = {5, 1003}},
                                  {.rank = 2, .dim = {64, 64}},  {.rank = 1, .dim = {1}},
                                  {.rank = 3, .dim = {2, 3, 8}}, {.rank = 1, .dim = {0}},
                                  {.rank = 2, .dim = {3, 9001}}};

static void random_programs_agree(void **s) {
  (void)s;
  for (int i = 0; i < rounds(1) * KINDS; i++) {
    uint64_t seed = (uint64_t)i / KINDS + 1;
    const char *text = make((kind)(i % KINDS), seed);
    char *name = ac_sprintf(b.a, "random-%d-%llu.craft", i % KINDS, (unsigned long long)seed);
    ac_program *p = lowered(&b, name, text);
    ac_sim_lib *l = compiled(&b, p, NULL);
    for (size_t k = 0; k < AC_COUNT(shapes); k++) {
      args x;
      program_args(p, &shapes[k], seed + k, &x);
      run_both(&b, ac_sprintf(b.a, "%s, shape %zu:\n%s", name, k, text), p, l, &x,
               k % 2 ? AC_ORDER_REVERSE : AC_ORDER_FORWARD, 2);
      free_args(&x);
    }
  }
  print_message("%d programs, %d runs, %d refused, %d with faults\n", b.projects, b.runs, b.refused, b.faulty);
  assert_true(b.runs > b.refused);
}

/* ---- written programs: what the random ones lack ---- */

/* Two phases over global scratch, a barrier, scalars from global memory, loops and branches on scalars, a flag and an int as attributes. */
static const char phases[] = "@ascend_kernel\n"
                             "def k(x, part, y, n, per_core, blocks, deep: bool, shift: int):\n"
                             "    pid = tl.program_id(0)\n"
                             "    b = tl.alloc_ub(512, tl.float32)\n"
                             "    w = tl.alloc_ub(512, tl.float32)\n"
                             "    s = tl.alloc_ub(8, tl.float32)\n"
                             "    o = tl.alloc_ub(512, tl.float32)\n"
                             "    total = 0.0\n"
                             "    for i in range(pid * per_core, min(n, (pid + 1) * per_core), 512):\n"
                             "        c = min(512, min(n, (pid + 1) * per_core) - i)\n"
                             "        with tl.copyin():\n"
                             "            tl.load(x + i + tl.arange(0, c), b)\n"
                             "        with tl.compute():\n"
                             "            tl.reduce_sum(w, b, w)\n"
                             "            total = total + tl.extract_scalar(w, 0)\n"
                             "    with tl.compute():\n"
                             "        tl.duplicate(s, total, count=8)\n"
                             "    with tl.copyout():\n"
                             "        tl.store(part + pid * 8 + tl.arange(0, 8), s)\n"
                             "    tl.sync_all()\n"
                             "    everything = 0.0\n"
                             "    for j in range(blocks - 1, -1, -1):\n"
                             "        everything = everything + tl.extract_scalar(part, j * 8)\n"
                             "    if deep and everything > 0.0:\n"
                             "        while everything > 1.0:\n"
                             "            everything = everything * 0.5\n"
                             "    else:\n"
                             "        everything = everything - float((int(everything) + shift) // 4 % 3)\n"
                             "        g = int(everything) - 50\n"
                             "        everything = everything - float(tl.align_down(g, 8) + tl.align_up(g, 5) + "
                             "tl.cdiv(g, 4) + g // 6 + g % 9)\n"
                             "    for i in range(pid * per_core, min(n, (pid + 1) * per_core), 512):\n"
                             "        c = min(512, min(n, (pid + 1) * per_core) - i)\n"
                             "        with tl.copyin():\n"
                             "            tl.load(x + i + tl.arange(0, c), b)\n"
                             "        with tl.compute():\n"
                             "            tl.vadd_scalar(o, b, everything)\n"
                             "        with tl.copyout():\n"
                             "            tl.store(y + i + tl.arange(0, c), o)\n"
                             "\n\n"
                             "def h(x, y, deep: bool, shift: int):\n"
                             "    n = x.numel()\n"
                             "    per_core = max(64, tl.align_up(tl.cdiv(n, tl.num_cores()), 64))\n"
                             "    blocks = max(1, tl.cdiv(n, per_core))\n"
                             "    part = tl.empty(blocks * 8, tl.float32)\n"
                             "    k[blocks](x, part, y, n, per_core, blocks, deep, shift)\n";

static void written(const char *name, const char *text) {
  ac_program *p = lowered(&b, name, text);
  ac_sim_lib *l = compiled(&b, p, NULL);
  for (size_t k = 0; k < AC_COUNT(shapes); k++) {
    args x;
    program_args(p, &shapes[k], k, &x);
    run_both(&b, ac_sprintf(b.a, "%s, shape %zu", name, k), p, l, &x, k % 2 ? AC_ORDER_REVERSE : AC_ORDER_FORWARD, 2);
    free_args(&x);
  }
}

static void written_programs_agree(void **s) {
  static const char *const cases[] = {"strided", "branches",    "accumulate", "carried", "l2rows",
                                      "relu",    "softmax_row", "tile2d",     "turned"};
  (void)s;
  written("phases.craft", phases);
  assert_int_equal(b.faulty, 0);
  for (size_t i = 0; i < AC_COUNT(cases) && i < (size_t)rounds(1); i++) {
    char *path = ac_sprintf(b.a, "%s/tests/lower/cases/%s.craft", AC_SOURCE_DIR, cases[i]);
    written(cases[i], ac_read_file(b.a, path, 0, NULL, &b.d));
  }
}

/* ---- broken programs ---- */

typedef AC_VEC(ac_ablock *) blocks;
static void collect(blocks *out, ac_ablock *x) {
  ac_push(b.a, out, x);
  for (size_t i = 0; i < x->len; i++) {
    if (x->data[i]->body.len) collect(out, &x->data[i]->body);
    if (x->data[i]->orelse.len) collect(out, &x->data[i]->orelse);
  }
}
static ac_aexpr *plus(ac_aexpr *e, int64_t n) {
  ac_aexpr *k = AC_NEW(b.a, ac_aexpr), *r = AC_NEW(b.a, ac_aexpr);
  k->kind = AC_AE_INT;
  k->type = r->type = AC_AT_INT;
  k->i = n;
  if (!e) return k;
  r->kind = AC_AE_ADD;
  r->a = e;
  r->b = k;
  return r;
}
static void drop(ac_ablock *x, size_t at) {
  for (size_t i = at; i + 1 < x->len; i++) x->data[i] = x->data[i + 1];
  x->len--;
}

/* What an author, or a pass, could have got wrong. A note of what was done, or NULL: not here. */
static const char *damage(ac_ablock *x, size_t at) {
  static const int64_t by[] = {1, -1, 3, 64, -8, 4096};
  ac_astmt *s = x->data[at];
  int64_t n = by[next(AC_COUNT(by))];
  switch (s->kind) {
  case AC_AS_FREE:
  case AC_AS_SET:
  case AC_AS_WAIT:
  case AC_AS_FLAG: drop(x, at); return "dropped a free or a flag";
  case AC_AS_ENQUE:
    if (next(2)) return drop(x, at), "dropped an enqueue";
    s->kind = AC_AS_FREE;
    return "freed in place of enqueueing";
  case AC_AS_INST:
    if (next(3) == 0) return drop(x, at), "dropped an instruction";
    if (next(2)) return s->ops[0].offset = plus(s->ops[0].offset, n), "moved a destination";
    s->count = plus(s->count, n);
    return "changed a count";
  case AC_AS_COPY:
    switch (next(4)) {
    case 0: drop(x, at); return "dropped a copy";
    case 1: s->copy->gm_offset = plus(s->copy->gm_offset, n); return "moved a copy";
    case 2: s->copy->ub_offset = plus(s->copy->ub_offset, n); return "moved a copy in UB";
    default: s->copy->cols = plus(s->copy->cols, n); return "changed a copy's length";
    }
  default: return NULL;
  }
}

static const char *break_somewhere(ac_program *p) {
  blocks all = {0};
  ac_akernel *k = p->kernels.data[0];
  for (size_t i = 0; i < k->methods.len; i++) collect(&all, &k->methods.data[i].body);
  for (int tries = 0; tries < 1000; tries++) {
    ac_ablock *x = all.data[next((uint32_t)all.len)];
    const char *what = x->len ? damage(x, next((uint32_t)x->len)) : NULL;
    if (what) return what;
  }
  return NULL;
}

static void broken_programs_agree(void **s) {
  (void)s;
  const char *from = getenv("AC_DIRECT_FROM"); /* to come back to one */
  for (int i = from ? atoi(from) : 0; i < rounds(3); i++) {
    kind k = (kind)(i % KINDS);
    const char *text = make(k, (uint64_t)i + 100);
    char *name = ac_sprintf(b.a, "broken-%d.craft", i);
    ac_program *p = lowered(&b, name, text);
    const char *what = break_somewhere(p);
    assert_non_null(what);
    ac_sim_lib *l = compiled(&b, p, NULL);
    for (size_t n = 0; n < 4; n++) {
      args x;
      program_args(p, &shapes[n], (uint64_t)i, &x);
      run_both(&b, ac_sprintf(b.a, "%s (%s), shape %zu:\n%s", name, what, n, text), p, l, &x, AC_ORDER_FORWARD, 1);
      free_args(&x);
    }
  }
  print_message("%d broken programs, %d runs, %d with faults\n", b.projects, b.runs, b.faulty);
  assert_true(b.faulty > 0);
}

int main(void) {
  cmocka_set_test_filter(getenv("AC_DIRECT_TEST")); /* NULL: all */
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(written_programs_agree, setup, teardown),
                                     cmocka_unit_test_setup_teardown(random_programs_agree, setup, teardown),
                                     cmocka_unit_test_setup_teardown(broken_programs_agree, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

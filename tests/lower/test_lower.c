/* The passes: golden programs, invariants tripped on purpose, refusals. AC_UPDATE_GOLDEN=1 rewrites the goldens. */
#include "lower/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct {
  ac_arena *a;
  ac_diags d;
  ac_cmodule *m;
  ac_program *p;
} work;

static const char *cases[] = {"relu",     "l2rows", "softmax_row",  "accumulate", "carried",
                              "deferred", "unused", "shared",       "branches",   "tile2d",
                              "strided",  "turned", "two_launches", "last_store", "padded"};

static void begin(work *w) {
  w->a = ac_arena_new();
  ac_diags_init(&w->d, w->a);
}

static ac_program *lower(work *w, const char *name, const char *text, const char *dump, FILE *to) {
  ac_diags_source(&w->d, name, text);
  w->m = ac_craft_parse(w->a, name, text, &w->d);
  const ac_chip *chip = ac_chip_load(w->a, "ascend910b2", &w->d);
  assert_non_null(chip);
  if (!w->m || !ac_craft_check(w->a, w->m, &(ac_craft_check_opts){.chip = chip}, &w->d)) {
    ac_diags_print(&w->d, stderr, false);
    fail_msg("%s does not check", name);
  }
  ac_lower_opts o = {.op = "test_custom", .op_type = "TestCustom", .chip = chip, .dump_after = dump, .dump = to};
  return w->p = ac_lower(w->a, w->m, &o, &w->d);
}

static char *case_text(work *w, const char *name, const char *ext, bool must) {
  ac_diags quiet;
  ac_diags_init(&quiet, w->a);
  char *t =
      ac_read_file(w->a, ac_sprintf(w->a, "%s/tests/lower/cases/%s%s", AC_SOURCE_DIR, name, ext), 0, NULL, &quiet);
  if (must) assert_non_null(t);
  return t;
}

static ac_program *lower_case(work *w, const char *name) {
  ac_program *p = lower(w, name, case_text(w, name, ".craft", true), NULL, NULL);
  if (!p) ac_diags_print(&w->d, stderr, false);
  assert_non_null(p);
  return p;
}

static void golden(void **state) {
  (void)state;
  for (size_t i = 0; i < AC_COUNT(cases); i++) {
    work w;
    begin(&w);
    char *got = ac_air_text(w.a, lower_case(&w, cases[i]));
    if (getenv("AC_UPDATE_GOLDEN"))
      assert_true(ac_write_file(ac_sprintf(w.a, "%s/tests/lower/cases/%s.air", AC_SOURCE_DIR, cases[i]), got,
                                strlen(got), &w.d));
    char *want = case_text(&w, cases[i], ".air", true);
    if (strcmp(got, want) != 0) fprintf(stderr, "%s: got\n%s", cases[i], got);
    assert_string_equal(got, want);
    ac_arena_free(w.a);
  }
}

static void deterministic(void **state) {
  (void)state;
  for (size_t i = 0; i < AC_COUNT(cases); i++) {
    work x, y;
    begin(&x);
    begin(&y);
    assert_string_equal(ac_air_text(x.a, lower_case(&x, cases[i])), ac_air_text(y.a, lower_case(&y, cases[i])));
    ac_arena_free(x.a);
    ac_arena_free(y.a);
  }
}

/* ---- broken programs ---- */

static ac_amethod *method(ac_program *p, const char *name) {
  ac_akernel *k = p->kernels.data[0];
  for (size_t i = 0; i < k->methods.len; i++)
    if (!strcmp(k->methods.data[i].name, name)) return &k->methods.data[i];
  fail_msg("no method %s", name);
  return NULL;
}
static void drop(ac_ablock *b, ac_askind k) {
  for (size_t i = 0; i < b->len; i++)
    if (b->data[i]->kind == k) {
      memmove(b->data + i, b->data + i + 1, (b->len - i - 1) * sizeof *b->data);
      b->len--;
      return;
    }
  fail_msg("nothing to drop");
}
static ac_astmt *find(ac_ablock *b, ac_askind k) {
  for (size_t i = 0; i < b->len; i++)
    if (b->data[i]->kind == k) return b->data[i];
  fail_msg("no such statement");
  return NULL;
}

static void break_enque(work *w, ac_program *p) {
  (void)w, drop(&method(p, "CopyIn1")->body, AC_AS_ENQUE);
}
static void break_free(work *w, ac_program *p) {
  (void)w, drop(&method(p, "CopyOut1")->body, AC_AS_FREE);
}
static void break_deque(work *w, ac_program *p) {
  (void)w, drop(&method(p, "Compute1")->body, AC_AS_DEQUE);
}
/* an EnQue in a loop that may run zero times, its DeQue outside */
static void break_loop(work *w, ac_program *p) {
  ac_ablock *b = &method(p, "Process")->body;
  ac_astmt *loop = find(b, AC_AS_FOR), *call = NULL;
  size_t at = 0;
  for (size_t i = 0; i < loop->body.len; i++)
    if (loop->body.data[i]->kind == AC_AS_CALL) at = i, call = loop->body.data[i];
  assert_non_null(call); /* the last: CopyOut1 */
  drop(&(ac_ablock){loop->body.data + at, loop->body.len - at, loop->body.len - at}, AC_AS_CALL);
  loop->body.len--;
  ac_push(w->a, b, call);
}
static void break_flag(work *w, ac_program *p) {
  (void)w, drop(&method(p, "Compute1")->body, AC_AS_FLAG);
}
static void break_work(work *w, ac_program *p) {
  (void)w;
  ac_ablock *b = &method(p, "Compute1")->body;
  for (size_t i = 0; i < b->len; i++)
    if (b->data[i]->kind == AC_AS_INST && b->data[i]->inst == AC_I_RSUM) b->data[i]->ops[2] = b->data[i]->ops[1];
}
static void break_dtype(work *w, ac_program *p) {
  (void)w;
  find(&method(p, "Compute1")->body, AC_AS_INST)->ops[0].view = AC_I64;
}
/* the vector unit does not hand on to MTE3 */
static void break_outward(work *w, ac_program *p) {
  (void)w;
  method(p, "Compute1")->body.len--;
  ac_ablock *out = &method(p, "CopyOut1")->body;
  memmove(out->data, out->data + 1, --out->len * sizeof *out->data);
}
static void break_leg(work *w, ac_program *p) {
  (void)w;
  find(&method(p, "CopyIn1")->body, AC_AS_ENQUE)->outward = true;
}
static void break_leave(work *w, ac_program *p) {
  (void)w;
  ac_ablock *out = &method(p, "CopyOut1")->body;
  memmove(out->data, out->data + 2, (out->len -= 2) * sizeof *out->data);
}
static void break_copy(work *w, ac_program *p) {
  (void)w;
  find(&method(p, "CopyIn1")->body, AC_AS_COPY)->copy->cols = NULL;
}
static void break_exact(work *w, ac_program *p) {
  (void)w;
  find(&method(p, "CopyIn1")->body, AC_AS_COPY)->copy->exact = true;
}
static void break_key(work *w, ac_program *p) {
  (void)w, p->launches.data[0]->key = 7;
}
static void break_field(work *w, ac_program *p) {
  (void)w, p->launches.data[0]->values[0] = NULL;
}
static void break_path(work *w, ac_program *p) {
  (void)w, p->host.len--;
}
static void break_depth(work *w, ac_program *p) {
  (void)w, p->kernels.data[0]->buffers.data[0].depth = 9;
}
static void break_names(work *w, ac_program *p) {
  (void)w, p->kernels.data[0]->buffers.data[1].name = p->kernels.data[0]->buffers.data[0].name;
}

static void break_phase(work *w, ac_program *p) {
  (void)w, p->launches.data[0]->phase = 1;
}
/* both launches of the path read and fill one field */
static void break_shared(work *w, ac_program *p) {
  (void)w, p->launches.data[2]->fields[0] = p->launches.data[1]->fields[0];
}
static void break_end(work *w, ac_program *p) {
  (void)w, p->host.data[p->host.len - 1]->kind = AC_AS_LAUNCH;
}

/* two buffers that live at the same time in the same bytes */
static void break_home(work *w, ac_program *p) {
  (void)w;
  ac_akernel *k = p->kernels.data[0];
  int at[2] = {0};
  for (size_t i = 0; i < k->buffers.len; i++)
    for (int j = 0; j < 2; j++)
      if (!strcmp(k->buffers.data[i].buffer, j ? "sum" : "b")) at[j] = (int)i;
  k->buffers.data[at[1]].home = at[0] + 1;
}
static void break_round(work *w, ac_program *p) {
  break_home(w, p);
  for (size_t i = 0; i < p->kernels.data[0]->buffers.len; i++)
    if (p->kernels.data[0]->buffers.data[i].home) p->kernels.data[0]->buffers.data[i].round_to = 256;
}
static void drop_flag(ac_program *p, const char *name, ac_event e) {
  ac_ablock *b = &method(p, name)->body;
  for (size_t i = 0; i < b->len; i++)
    if (b->data[i]->kind == AC_AS_FLAG && b->data[i]->event == e) {
      memmove(b->data + i, b->data + i + 1, (b->len - i - 1) * sizeof *b->data);
      b->len--;
      return;
    }
  fail_msg("no such flag in %s", name);
}
static void break_fill_stored(work *w, ac_program *p) {
  (void)w, drop_flag(p, "CopyIn1", AC_EV_MTE3_V);
}
static void break_fill_loaded(work *w, ac_program *p) {
  (void)w, drop_flag(p, "CopyIn2", AC_EV_MTE2_V);
}
static void break_fill_over(work *w, ac_program *p) {
  (void)w, drop_flag(p, "CopyIn2", AC_EV_V_MTE2);
}
static void break_copied(work *w, ac_program *p) {
  break_home(w, p);
  for (size_t i = 0; i < p->kernels.data[0]->buffers.len; i++)
    if (!strcmp(p->kernels.data[0]->buffers.data[i].buffer, "b")) p->kernels.data[0]->buffers.data[i].sync = true;
}

static void invariants(void **state) {
  (void)state;
  static const struct {
    const char *program, *pass;
    void (*break_it)(work *, ac_program *);
    const char *says;
  } t[] = {
      {"relu", "process", break_enque, "DeQue of 'x' out of step"},
      {"relu", "process", break_free, "a loop that may run zero times changes the state of a queue"},
      {"relu", "process", break_deque, "a use of 'x'"},
      {"relu", "process", break_loop, "a loop that may run zero times"},
      {"l2rows", "sync", break_flag, "does not wait for the vector unit"},
      {"padded", "sync", break_fill_stored, "'straight': it is filled before the store of what it held is over"},
      {"padded", "sync", break_fill_loaded, "'last': it is filled before an earlier load of it is over"},
      {"padded", "sync", break_fill_over, "'last': a load does not wait for what fills it before"},
      {"l2rows", "legalise", break_work, "no work tensor of its own"},
      {"tile2d", "process", break_outward, "a store of 'b' while its queue slot is not at hand"},
      {"tile2d", "process", break_leg, "EnQue of 'b' out of step: it is being filled"},
      {"tile2d", "process", break_leave, "FreeTensor of 'b' out of step: it is queued to leave"},
      {"relu", "legalise", break_dtype, "Relu of int64 does not exist"},
      {"relu", "align", break_copy, "still a tile"},
      {"relu", "align", break_exact, "not proved to be whole blocks"},
      {"relu", "host", break_key, "tiling key 7"},
      {"relu", "host", break_field, "leaves field 'n' unset"},
      {"relu", "host", break_path, "ends without a launch"},
      {"relu", "place", break_depth, "there are 8 events"},
      {"relu", "place", break_names, "two buffers are named"},
      {"shared", "process", break_home, "is read where its bytes hold another buffer"},
      {"shared", "process", break_round, "is rounded to 256 bytes, its home"},
      {"shared", "process", break_copied, "copies touch one of them"},
      {"two_launches", "host", break_phase, "counts as phase 1"},
      {"two_launches", "host", break_shared, "share the field 'n'"},
      {"two_launches", "host", break_end, "ends without a launch"},
  };
  for (size_t i = 0; i < AC_COUNT(t); i++) {
    work w;
    begin(&w);
    ac_program *p = lower_case(&w, t[i].program);
    assert_null(ac_program_check(w.a, p, "sync"));
    t[i].break_it(&w, p);
    const char *said = ac_program_check(w.a, p, t[i].pass);
    if (!said || !strstr(said, t[i].says))
      fail_msg("case %zu: got \"%s\", want \"%s\"", i, said ? said : "nothing", t[i].says);
    ac_arena_free(w.a);
  }
}

/* ---- what the passes decide ---- */

/* A tensor that is updated in place: flags between the copies of different trips stand only where these may meet. */
static void updates(void **state) {
  (void)state;
  static const struct {
    const char *loop, *load, *store; /* of elements of x */
    bool flags;
  } t[] = {
      {"range(0, n, 64)", "i + tl.arange(0, min(64, n - i))", "i + tl.arange(0, min(64, n - i))", false},
      {"range(0, n, 64)", "tl.arange(0, min(64, n - i)) + i", "i + tl.arange(0, min(64, n - i))", false},
      /* what a trip loads was stored by the one before */
      {"range(0, n, 32)", "i + tl.arange(0, min(64, n - i))", "i + tl.arange(0, min(64, n - i))", true},
      {"range(64, n, 64)", "i - 64 + tl.arange(0, 64)", "i + tl.arange(0, min(64, n - i))", true},
      {"range(0, n, 64)", "i * 2 + tl.arange(0, 1)", "i * 2 + tl.arange(0, 1)", true}, /* apart, and not seen */
      {"range(0, n)", "tl.arange(0, 64)", "tl.arange(0, 64)", true},
  };
  for (size_t i = 0; i < AC_COUNT(t); i++) {
    work w;
    begin(&w);
    const char *text =
        ac_sprintf(w.a,
                   "@ascend_kernel\ndef k(x, n):\n    b = tl.alloc_ub(64, tl.float32)\n    c = tl.alloc_ub(64, "
                   "tl.float32)\n    for i in %s:\n        with tl.copyin():\n            tl.load(x + %s, b)\n"
                   "        with tl.compute():\n            tl.vabs(c, b)\n        with tl.copyout():\n"
                   "            tl.store(x + %s, c)\n\n\ndef host(x):\n    k[1](x, x.numel())\n",
                   t[i].loop, t[i].load, t[i].store);
    char *air = ac_air_text(w.a, lower(&w, "update.craft", text, NULL, NULL));
    if (!strstr(air, "MTE3_MTE2") == t[i].flags || !strstr(air, "MTE2_MTE3") == t[i].flags)
      fail_msg("case %zu: %s\n%s", i, t[i].flags ? "flags are missing" : "flags that nothing needs", air);
    ac_arena_free(w.a);
  }
}

static const char head[] = "@ascend_kernel\ndef k(x, y, n, m):\n";
static const char tail[] = "\n\ndef host(x, y):\n    k[1](x, y, x.numel(), 4)\n";

static const ac_abuffer *buffer(const ac_program *p, const char *dsl) {
  const ac_akernel *k = p->kernels.data[0];
  for (size_t i = 0; i < k->buffers.len; i++)
    if (!strcmp(k->buffers.data[i].buffer, dsl)) return &k->buffers.data[i];
  return NULL;
}

static ac_program *lower_body(work *w, const char *body) {
  return lower(w, "body.craft", ac_sprintf(w->a, "%s%s%s", head, body, tail), NULL, NULL);
}

static void placement(void **state) {
  (void)state;
  static const struct {
    const char *body, *buffer;
    ac_amem mem;
    int depth;
    bool sync;
  } t[] = {
      /* outside a loop one slot is enough */
      {"    a = tl.alloc_ub(64, tl.float32)\n    b = tl.alloc_ub(64, tl.float32)\n    with tl.copyin():\n        "
       "tl.load(x + tl.arange(0, 64), a)\n"
       "    with tl.compute():\n        tl.vexp(b, a)\n    with tl.copyout():\n        tl.store(y + tl.arange(0, "
       "64), b)\n",
       "a", AC_MEM_VECIN, 1, false},
      /* a buffer in a loop gets two, a pinned depth stays */
      {"    a = tl.alloc_ub(64, tl.float32, buffers=1)\n    b = tl.alloc_ub(64, tl.float32)\n    for i in range(0, "
       "n, 64):\n        with tl.copyin():\n"
       "            tl.load(x + i + tl.arange(0, 64), a)\n        with tl.compute():\n            tl.vexp(b, a)\n    "
       "    with tl.copyout():\n"
       "            tl.store(y + i + tl.arange(0, 64), b)\n",
       "a", AC_MEM_VECIN, 1, false},
      /* loaded under a condition inside a loop: the value of the trip before may be used, so no queue */
      {"    a = tl.alloc_ub(64, tl.float32)\n    b = tl.alloc_ub(64, tl.float32)\n    with tl.copyin():\n        "
       "tl.load(x + tl.arange(0, 64), a)\n"
       "    for i in range(0, n, 64):\n        if i > m:\n            with tl.copyin():\n                tl.load(x + "
       "i + tl.arange(0, 64), a)\n"
       "        with tl.compute():\n            tl.vexp(b, a)\n        with tl.copyout():\n            tl.store(y + "
       "i + tl.arange(0, 64), b)\n",
       "a", AC_MEM_VECCALC, 1, true},
      /* stored, then used again without being set: no queue */
      {"    a = tl.alloc_ub(64, tl.float32)\n    with tl.compute():\n        tl.duplicate(a, 1.0)\n    for i in "
       "range(0, n, 64):\n        with tl.compute():\n"
       "            tl.vadd(a, a, a)\n        with tl.copyout():\n            tl.store(y + i + tl.arange(0, 64), "
       "a)\n",
       "a", AC_MEM_VECCALC, 1, true},
      /* a break between load and use */
      {"    a = tl.alloc_ub(64, tl.float32)\n    b = tl.alloc_ub(64, tl.float32)\n    for i in range(0, n, 64):\n    "
       "    with tl.copyin():\n"
       "            tl.load(x + i + tl.arange(0, 64), a)\n        if i > m:\n            break\n        with "
       "tl.compute():\n            tl.vexp(b, a)\n"
       "        with tl.copyout():\n            tl.store(y + i + tl.arange(0, 64), b)\n",
       "a", AC_MEM_VECCALC, 1, true},
      /* a break after all uses does no harm */
      {"    a = tl.alloc_ub(64, tl.float32)\n    b = tl.alloc_ub(64, tl.float32)\n    for i in range(0, n, 64):\n    "
       "    with tl.copyin():\n"
       "            tl.load(x + i + tl.arange(0, 64), a)\n        with tl.compute():\n            tl.vexp(b, a)\n    "
       "    with tl.copyout():\n"
       "            tl.store(y + i + tl.arange(0, 64), b)\n        if i > m:\n            break\n",
       "a", AC_MEM_VECIN, 2, false},
      /* scratch of a reduction before it takes the result: still a queue */
      {"    a = tl.alloc_ub(64, tl.float32)\n    b = tl.alloc_ub(64, tl.float32)\n    r = tl.alloc_ub(8, "
       "tl.float32)\n    for i in range(0, n, 64):\n        with tl.copyin():\n"
       "            tl.load(x + i + tl.arange(0, 64), a)\n        with tl.compute():\n            tl.reduce_max(r, "
       "a, b)\n            t = tl.extract_scalar(r, 0)\n"
       "            tl.vsub_scalar(b, a, t)\n        with tl.copyout():\n            tl.store(y + i + tl.arange(0, "
       "64), b)\n",
       "b", AC_MEM_VECOUT, 2, false},
      /* computed in place between load and store: one slot for all of it, and three of them for three trips */
      {"    a = tl.alloc_ub(64, tl.float32)\n    for i in range(0, n, 64):\n        with tl.copyin():\n            "
       "tl.load(x + i + tl.arange(0, 64), a)\n"
       "        with tl.compute():\n            tl.vexp(a, a)\n        with tl.copyout():\n            tl.store(y + "
       "i + tl.arange(0, 64), a)\n",
       "a", AC_MEM_UPDATE, 3, false},
      /* computed on after a store too: a copy goes out */
      {"    a = tl.alloc_ub(64, tl.float32)\n    for i in range(0, n, 64):\n        with tl.copyin():\n            "
       "tl.load(x + i + tl.arange(0, 64), a)\n"
       "        with tl.copyout():\n            tl.store(y + i + tl.arange(0, 64), a)\n"
       "        with tl.compute():\n            tl.vexp(a, a)\n        with tl.copyout():\n            tl.store(y + "
       "i + tl.arange(0, 64), a)\n",
       "a", AC_MEM_VECIN, 2, false},
      /* three, two and two: a slot holds an event from MTE3 to MTE2, and there are eight, one of them for flags */
      {"    a = tl.alloc_ub(64, tl.float32)\n    b = tl.alloc_ub(64, tl.float32)\n    c = tl.alloc_ub(64, "
       "tl.float32)\n    for i in range(0, n, 64):\n        with tl.copyin():\n"
       "            tl.load(x + i + tl.arange(0, 64), a)\n            tl.load(x + i + tl.arange(0, 64), b)\n"
       "            tl.load(x + i + tl.arange(0, 64), c)\n        with tl.compute():\n            tl.vexp(a, a)\n"
       "            tl.vadd(b, b, a)\n            tl.vadd(c, c, b)\n        with tl.copyout():\n"
       "            tl.store(y + i + tl.arange(0, 64), a)\n            tl.store(y + i + tl.arange(0, 64), b)\n"
       "            tl.store(y + i + tl.arange(0, 64), c)\n",
       "b", AC_MEM_UPDATE, 2, false},
  };
  for (size_t i = 0; i < AC_COUNT(t); i++) {
    work w;
    begin(&w);
    ac_program *p = lower_body(&w, t[i].body);
    if (!p) ac_diags_print(&w.d, stderr, false);
    assert_non_null(p);
    const ac_abuffer *b = buffer(p, t[i].buffer);
    assert_non_null(b);
    if (b->mem != t[i].mem || b->depth != t[i].depth || b->sync != t[i].sync)
      fail_msg("case %zu: mem %d depth %d sync %d", i, (int)b->mem, b->depth, b->sync);
    ac_arena_free(w.a);
  }
}

static void count_held(void *user, ac_astmt *s) {
  int *n = user;
  n[0] += s->kind == AC_AS_HOLD;
  n[1] += s->kind == AC_AS_RELEASE;
  n[2] += s->kind == AC_AS_FLAG && s->event == AC_EV_MTE3_V;
}

/* Ten buffers that keep their values and are stored in each trip: as many flags stand apart as there are ids but one, the others on the
 * spot. With a `return` on the way, ids go back before it too. */
static void ids_of_flags(void **state) {
  (void)state;
  work w;
  begin(&w);
  ac_buf t;
  ac_buf_init(&t, w.a);
  for (int i = 0; i < 10; i++) ac_printf(&t, "    b%d = tl.alloc_ub(64, tl.float32)\n", i);
  ac_puts(&t, "    with tl.compute():\n");
  for (int i = 0; i < 10; i++) ac_printf(&t, "        tl.duplicate(b%d, 0.0)\n", i);
  ac_puts(&t, "    if n < 10:\n        return\n    for i in range(0, n, 640):\n        with tl.compute():\n");
  for (int i = 0; i < 10; i++) ac_printf(&t, "            tl.vadd_scalar(b%d, b%d, 1.0)\n", i, i);
  ac_puts(&t, "        with tl.copyout():\n");
  for (int i = 0; i < 10; i++) ac_printf(&t, "            tl.store(y + i + %d + tl.arange(0, 64), b%d)\n", i * 64, i);
  ac_program *p = lower_body(&w, ac_buf_str(&t));
  if (!p) ac_diags_print(&w.d, stderr, false);
  assert_non_null(p);
  const ac_akernel *k = p->kernels.data[0];
  int n[3] = {0}, of[AC_EV_COUNT] = {0};
  for (size_t i = 0; i < k->held.len; i++) of[k->held.data[i].event]++;
  assert_int_equal(of[AC_EV_MTE3_V], 7);
  assert_true(of[AC_EV_V_MTE3] <= 7);
  for (size_t m = 0; m < k->methods.len; m++)
    ac_as_walk(&((ac_akernel *)(uintptr_t)k)->methods.data[m].body, count_held, n);
  assert_int_equal(n[0], k->held.len);
  assert_int_equal(n[1], 2 * k->held.len);
  assert_int_equal(n[2], 3);
  ac_arena_free(w.a);
}

/* What one instruction reads lies in different bank groups, at every size; not where UB has no room for it, or nobody knows the size. */
static void bank_groups(void **state) {
  (void)state;
  static const struct {
    const char *tile, *says;
    bool gap;
  } t[] = {{"1000", "of 2 pairs of buffers that one instruction reads, 2 lie in different bank groups", true},
           {"24", "of 2 pairs of buffers that one instruction reads, 2 lie in different bank groups", true},
           {"8176", "of 2 pairs of buffers that one instruction reads, 0 lie in different bank groups", false},
           {"n", "of 2 pairs of buffers that one instruction reads, 0 lie in different bank groups", false}};
  for (size_t i = 0; i < AC_COUNT(t); i++) {
    work w;
    begin(&w);
    const char *s = t[i].tile;
    char *body = ac_sprintf(
        w.a,
        "    a = tl.alloc_ub(%s, tl.float32)\n    b = tl.alloc_ub(%s, tl.float32)\n    c = tl.alloc_ub(%s, "
        "tl.float32)\n"
        "    for i in range(0, n, %s):\n        k = min(%s, n - i)\n        with tl.copyin():\n"
        "            tl.load(x + i + tl.arange(0, k), a)\n            tl.load(x + i + tl.arange(0, k), b)\n"
        "        with tl.compute():\n            tl.vadd(c, a, b)\n            tl.vmul(c, c, b)\n"
        "        with tl.copyout():\n            tl.store(y + i + tl.arange(0, k), c)\n",
        s, s, s, s, s);
    ac_program *p = lower_body(&w, body);
    if (!p) ac_diags_print(&w.d, stderr, false);
    assert_non_null(p);
    const char *map = ac_air_memory(w.a, p);
    bool gap = false;
    for (size_t b = 0; b < p->kernels.data[0]->buffers.len; b++)
      gap |= !strncmp(p->kernels.data[0]->buffers.data[b].name, "acGap", 5);
    if (!strstr(map, t[i].says) || gap != t[i].gap) fail_msg("case %zu: %s", i, map);
    ac_arena_free(w.a);
  }
}

/* Scalars: a block's result used later is a member; two loops may reuse a name; a value from two branches is declared before them. */
static void scalars(void **state) {
  (void)state;
  work w;
  begin(&w);
  ac_program *p = lower_body(&w, "    a = tl.alloc_ub(64, tl.float32)\n    b = tl.alloc_ub(64, tl.float32)\n    with "
                                 "tl.copyin():\n        tl.load(x + tl.arange(0, 64), a)\n"
                                 "    with tl.compute():\n        s = tl.extract_scalar(a, 0)\n    if n > 5:\n       "
                                 " t = 1\n    else:\n        t = 2\n"
                                 "    for i in range(0, n, 64):\n        c = min(64, n - i) + t\n        with "
                                 "tl.compute():\n            tl.duplicate(b, s, min(c, 64))\n"
                                 "        with tl.copyout():\n            tl.store(y + i + tl.arange(0, 64), b)\n");
  if (!p) ac_diags_print(&w.d, stderr, false);
  assert_non_null(p);
  const ac_akernel *k = p->kernels.data[0];
  assert_int_equal(k->members.len, 1);
  assert_string_equal(k->members.data[0].name, "s");
  assert_int_equal(k->members.data[0].type, AC_AT_FLOAT);
  const ac_astmt *first = k->methods.data[0].body.data[0];
  assert_int_equal(first->kind, AC_AS_DECL); /* t, before the if */
  assert_string_equal(first->var.name, "t");
  ac_arena_free(w.a);
}

/* `kernel[n]` runs n blocks: none when n is 0, and no fewer than n because the chip has fewer cores. */
static void block_counts(void **state) {
  (void)state;
  static const char kernel[] = "@ascend_kernel\ndef k(x, y, n):\n    a = tl.alloc_ub(64, tl.float32)\n    off = "
                               "tl.program_id(0) * 64 + tl.arange(0, 64)\n    with tl.copyin():\n        "
                               "tl.load(x + off, a)\n"
                               "    with tl.copyout():\n        tl.store(y + off, a)\n\n\n";
  static const struct {
    const char *host;
    bool maybe_none;
  } t[] = {{"def host(x, y):\n    k[x.shape[0]](x, y, 1)\n", true},
           {"def host(x, y):\n    k[max(1, x.shape[0])](x, y, 1)\n", false},
           {"def host(x, y):\n    n = max(1, x.shape[0])\n    k[n](x, y, 1)\n", false},
           {"def host(x, y):\n    k[7](x, y, 1)\n", false},
           /* set on both sides of a branch, as the planner's programs do */
           {"def host(x, y):\n    if x.shape[0] > 9:\n        n = max(1, x.shape[0])\n    else:\n        n = 1\n    "
            "k[n](x, y, 1)\n",
            true},
           {"def host(x, y):\n    n = max(1, x.shape[0])\n    if n > 9:\n        n = 9\n    k[n](x, y, 1)\n", false}};
  for (size_t i = 0; i < AC_COUNT(t); i++) {
    work w;
    begin(&w);
    ac_program *p = lower(&w, "t.craft", ac_sprintf(w.a, "%s%s", kernel, t[i].host), NULL, NULL);
    assert_non_null(p);
    const ac_astmt *s = p->host.data[p->host.len - 1];
    assert_int_equal(s->kind, t[i].maybe_none ? AC_AS_IF : AC_AS_LAUNCH);
    if (t[i].maybe_none) {
      assert_int_equal(s->body.data[0]->kind, AC_AS_NOTHING);
      assert_int_equal(s->orelse.data[0]->kind, AC_AS_LAUNCH);
    }
    ac_arena_free(w.a);
  }
}

/* Conditions that a path has decided are not asked again: in terms of sizes, through variables, until one of these changes. */
static void decided(void **state) {
  (void)state;
  static const char kernel[] =
      "@ascend_kernel\ndef k(x, y, n, v):\n    a = tl.alloc_ub(64, tl.float32)\n"
      "    for i in range(0, n, 64):\n        c = min(64, n - i)\n        with tl.copyin():\n"
      "            tl.load(x + i + tl.arange(0, c), a)\n        with tl.compute():\n"
      "            tl.vadd(a, a, v)\n        with tl.copyout():\n"
      "            tl.store(y + i + tl.arange(0, c), a)\n\n\n"
      "def host(x, y):\n    w = tl.empty(x.numel(), tl.float32)\n    n = x.numel()\n";
#define EITHER(cond, from, to)                                                                              \
  "    if " cond ":\n        k[1](" from ", " to ", x.numel(), 1.0)\n    else:\n        k[1](" from ", " to \
  ", x.numel(), 2.0)\n"
  static const struct {
    const char *host;
    size_t paths;
  } t[] = {
      {EITHER("n > 100", "x", "w") EITHER("n > 100", "w", "y"), 2},
      {EITHER("n > 100", "x", "w") "    m = x.numel()\n" EITHER("m > 100", "w", "y"), 2},
      {EITHER("n > 100", "x", "w") EITHER("n > 200", "w", "y"), 4},
      {EITHER("n > 100", "x", "w") "    n = n // 2\n" EITHER("n > 100", "w", "y"), 4},
      {EITHER("n > 100", "x", "w") "    if n > 7:\n        n = 3\n" EITHER("n > 100", "w", "y"), 4},
      {EITHER("n > 100", "x", "w") "    for j in range(n):\n        n = n + 1\n" EITHER("n > 100", "w", "y"), 4},
      {"    if n > 100:\n        tl.refuse(\"large\")\n    k[1](x, w, n, 1.0)\n" EITHER("n > 100", "w", "y"), 1}};
  for (size_t i = 0; i < AC_COUNT(t); i++) {
    work w;
    begin(&w);
    ac_program *p = lower(&w, "t.craft", ac_sprintf(w.a, "%s%s", kernel, t[i].host), NULL, NULL);
    assert_non_null(p);
    if (p->paths.len != t[i].paths) fail_msg("%zu ways, not %zu:\n%s", p->paths.len, t[i].paths, t[i].host);
    ac_arena_free(w.a);
  }
}

static void refusals(void **state) {
  (void)state;
  static const struct {
    const char *text;
    ac_code code;
  } t[] = {
      /* a power that only the running kernel knows */
      {"@ascend_kernel\ndef k(x, y, n):\n    a = tl.alloc_ub(64, tl.float32)\n    with "
       "tl.copyin():\n        tl.load(x + tl.arange(0, 64), a)\n    with tl.compute():\n        tl.vmul(a, a, 0.5 ** "
       "n)\n"
       "    with tl.copyout():\n        tl.store(y + tl.arange(0, 64), a)\n\n\ndef host(x, y):\n    k[1](x, y, 64)\n",
       AC0601},
      /* nothing that is written */
      {"@ascend_kernel\ndef k(x):\n    a = tl.alloc_ub(64, tl.float32)\n    with tl.copyin():\n"
       "        tl.load(x + tl.arange(0, 64), a)\n\n\ndef host(x):\n    if x.numel() < 64:\n        "
       "tl.refuse(\"short\")\n"
       "    k[1](x)\n",
       AC0611},
      /* nothing to read, nothing to write */
      {"@ascend_kernel\ndef k(x):\n    pass\n\n\ndef host(x):\n    k[1](x)\n", AC0611},
  };
  for (size_t i = 0; i < AC_COUNT(t); i++) {
    work w;
    begin(&w);
    ac_diags_source(&w.d, "t.craft", t[i].text);
    const ac_chip *chip = ac_chip_load(w.a, "ascend910b2", &w.d);
    ac_cmodule *m = ac_craft_parse(w.a, "t.craft", t[i].text, &w.d);
    assert_non_null(m);
    if (ac_craft_check(w.a, m, &(ac_craft_check_opts){.chip = chip}, &w.d)) {
      assert_null(ac_lower(w.a, m, &(ac_lower_opts){.op = "t", .op_type = "T", .chip = chip}, &w.d));
      assert_int_equal(w.d.errors, 1);
      for (size_t j = 0; j < w.d.list.len; j++)
        if (w.d.list.data[j]->severity == AC_ERROR) {
          assert_int_equal(w.d.list.data[j]->code, t[i].code);
          assert_true(w.d.list.data[j]->help.len > 0);
        }
    } else
      assert_true(w.d.errors > 0); /* the checker may be the first to refuse */
    ac_arena_free(w.a);
  }
}

/* The program of a page of the error book; NULL: it has none. */
static char *program_of(ac_arena *a, const char *page, const char *which) {
  const char *from = strstr(page, ac_sprintf(a, "```python %s\n", which)), *to;
  if (!from) return NULL;
  from = strchr(from, '\n') + 1;
  return (to = strstr(from, "```")) ? ac_strndup(a, from, (size_t)(to - from)) : NULL;
}
static bool lowers(work *w, const char *text) {
  const ac_chip *chip = ac_chip_load(w->a, "ascend910b2", &w->d);
  ac_diags_source(&w->d, "t.craft", text);
  ac_cmodule *m = ac_craft_parse(w->a, "t.craft", text, &w->d);
  return m && ac_craft_check(w->a, m, &(ac_craft_check_opts){.chip = chip}, &w->d) &&
         ac_lower(w->a, m, &(ac_lower_opts){.op = "t", .op_type = "T", .chip = chip}, &w->d);
}

/* Every code of the lowering that a program can get has a page, whose good program lowers without a word. The bad ones are run by
 * tests/cli/error_book.sh, with their options. */
static void error_book(void **state) {
  (void)state;
  for (int code = 0; code < AC_DIAG_COUNT; code++) {
    const char *name = ac_code_name((ac_code)code);
    if (strncmp(name, "AC06", 4) != 0 || ac_code_exit((ac_code)code) == AC_INTERNAL) continue;
    work w;
    begin(&w);
    char *page = ac_read_file(w.a, ac_sprintf(w.a, "%s/docs/errors/%s.md", AC_SOURCE_DIR, name), 0, NULL, &w.d);
    if (!page) fail_msg("%s has no page", name);
    char *head = ac_sprintf(w.a, "# %s: %s\n", name, ac_code_title((ac_code)code));
    if (strncmp(page, head, strlen(head)) != 0) fail_msg("the page of %s should begin with %s", name, head);
    char *good = program_of(w.a, page, "good");
    if (!good || !lowers(&w, good) || w.d.list.len) fail_msg("%s: the good program does not lower", name);
    ac_arena_free(w.a);
  }
}

static void dumps(void **state) {
  (void)state;
  work w;
  begin(&w);
  char *text = NULL;
  size_t n = 0;
  FILE *f = open_memstream(&text, &n);
  assert_non_null(lower(&w, "relu", case_text(&w, "relu", ".craft", true), "place", f));
  fclose(f);
  assert_non_null(strstr(text, "==== after place"));
  assert_null(strstr(text, "==== after host"));
  free(text);
  ac_strvec names = ac_lower_passes(w.a);
  assert_string_equal(names.data[0], "host");
  assert_string_equal(names.data[names.len - 1], "defer");
  ac_arena_free(w.a);
}

static void bad_names(void **state) {
  (void)state;
  work w;
  begin(&w);
  const char *text = case_text(&w, "relu", ".craft", true);
  const ac_chip *chip = ac_chip_load(w.a, "910b2", &w.d);
  ac_cmodule *m = ac_craft_parse(w.a, "relu", text, &w.d);
  assert_true(ac_craft_check(w.a, m, &(ac_craft_check_opts){.chip = chip}, &w.d));
  assert_null(ac_lower(w.a, m, &(ac_lower_opts){.op = "1d pool", .op_type = "Pool", .chip = chip}, &w.d));
  assert_int_equal(ac_diags_exit(&w.d), AC_INTERNAL);
  ac_arena_free(w.a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(golden),      cmocka_unit_test(deterministic), cmocka_unit_test(invariants),
      cmocka_unit_test(updates),     cmocka_unit_test(placement),     cmocka_unit_test(ids_of_flags),
      cmocka_unit_test(bank_groups), cmocka_unit_test(scalars),       cmocka_unit_test(block_counts),
      cmocka_unit_test(decided),     cmocka_unit_test(refusals),      cmocka_unit_test(error_book),
      cmocka_unit_test(dumps),       cmocka_unit_test(bad_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

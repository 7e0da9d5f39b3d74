/* What a broken pass would leave behind: at least three breakages a pass, and the check after it must name what is wrong.
 * tests/lower/test_lower.c has more of the same for the passes that place and join. */
#include "lower/lower.h"

#include "craft/craft.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* One program that has everything: queues, a TBuf that flags order, rows on a pitch, compares and selects, a reduction, a cast, composed
 * functions, a scalar read and write, a barrier, a tensor that is loaded and stored, a scalar from global memory. */
static const char everything[] =
    "@ascend_kernel\n"
    "def k(x, parts, trail, y, rows, cols):\n"
    "    pid = tl.program_id(0)\n"
    "    a = tl.alloc_ub((4, 40), tl.float32)\n"
    "    b = tl.alloc_ub((4, 40), tl.float32)\n"
    "    row = tl.alloc_ub(64, tl.float32)\n"
    "    half = tl.alloc_ub(64, tl.float16)\n"
    "    out = tl.alloc_ub(64, tl.float32)\n"
    "    keep = tl.alloc_ub(64, tl.float32)\n"
    "    work = tl.alloc_ub(64, tl.float32)\n"
    "    red = tl.alloc_ub(8, tl.float32)\n"
    "    late = tl.alloc_ub(64, tl.float32)\n"
    "    mask = tl.alloc_ub(64, tl.mask)\n"
    "    with tl.compute():\n"
    "        tl.duplicate(keep, 0.0)\n"
    "        tl.duplicate(late, 0.0)\n"
    "    for r in range(pid * 4, rows, 4 * tl.num_programs(0)):\n"
    "        h = min(4, rows - r)\n"
    "        for c in range(0, cols, 40):\n"
    "            w = min(40, cols - c)\n"
    "            off = r * cols + c + tl.arange(0, h)[:, None] * cols + tl.arange(0, w)[None, :]\n"
    "            with tl.copyin():\n"
    "                tl.load(x + off, a)\n"
    "            with tl.compute():\n"
    "                tl.vexp(b, a)\n"
    "            with tl.copyout():\n"
    "                tl.store(y + off, b)\n"
    "    for i in range(0, rows):\n"
    "        n = min(64, cols)\n"
    "        with tl.copyin():\n"
    "            tl.load(x + i * cols + tl.arange(0, n), row)\n"
    "        with tl.compute():\n"
    "            tl.vcompare_scalar(mask, row, 0.5, \"lt\")\n"
    "            tl.vselect_scalar(row, mask, row, 1.0)\n"
    "            tl.cast(half, row, mode=\"rint\")\n"
    "            tl.vtanh(out, row)\n"
    "            tl.vadd(keep, keep, out, count=n)\n"
    "            tl.reduce_sum(red, out, work)\n"
    "            s = tl.extract_scalar(red, 0)\n"
    "            if s > 0.5:\n"
    "                tl.vmul_scalar(keep, keep, 0.5)\n"
    "            tl.vadd(late, late, out, count=n)\n"
    "        with tl.copyout():\n"
    "            tl.store(trail + (pid * rows + i) * 64 + tl.arange(0, 64), late)\n"
    "    with tl.copyout():\n"
    "        tl.store(parts + pid * 64 + tl.arange(0, 64), keep)\n"
    "    tl.sync_all()\n"
    "    t = tl.extract_scalar(parts, 0)\n"
    "    if t > 3.0:\n"
    "        with tl.copyin():\n"
    "            tl.load(parts + tl.arange(0, 64), keep)\n"
    "        with tl.copyout():\n"
    "            tl.store(parts + 64 + tl.arange(0, 64), keep)\n"
    "\n\n"
    "def h(x: tl.tensor[tl.float32], y: tl.tensor[tl.float32]):\n"
    "    cols = x.shape[-1]\n"
    "    rows = tl.prod(x.shape[:-1])\n"
    "    if rows * cols == 0:\n"
    "        return\n"
    "    parts = tl.empty(tl.num_cores() * 64 + 64, tl.float32)\n"
    "    trail = tl.empty(tl.num_cores() * rows * 64, tl.float32)\n"
    "    k[tl.num_cores()](x, parts, trail, y, rows, cols)\n";

typedef struct {
  ac_arena *a;
  ac_program *p;
} work;

static void begin(work *w) {
  ac_diags d;
  w->a = ac_arena_new();
  ac_diags_init(&d, w->a);
  ac_diags_source(&d, "everything.craft", everything);
  const ac_chip *chip = ac_chip_load(w->a, "ascend910b2", &d);
  ac_cmodule *m = ac_craft_parse(w->a, "everything.craft", everything, &d);
  bool ok = m && ac_craft_check(w->a, m, &(ac_craft_check_opts){.chip = chip}, &d);
  w->p = ok ? ac_lower(w->a, m, &(ac_lower_opts){.op = "all", .op_type = "All", .chip = chip}, &d) : NULL;
  if (!w->p) ac_diags_print(&d, stderr, false);
  assert_non_null(w->p);
}

/* ---- finding things ---- */

typedef bool finder(const work *w, const ac_astmt *s);

static ac_astmt *find_in(const work *w, ac_ablock *b, finder *f, ac_ablock **list, size_t *at) {
  for (size_t i = 0; i < b->len; i++) {
    ac_astmt *s = b->data[i];
    if (f(w, s)) {
      *list = b;
      *at = i;
      return s;
    }
    ac_astmt *inner = find_in(w, &s->body, f, list, at);
    if (!inner) inner = find_in(w, &s->orelse, f, list, at);
    if (inner) return inner;
  }
  return NULL;
}
static ac_astmt *find(work *w, finder *f, ac_ablock **list, size_t *at) {
  ac_ablock *l;
  size_t i;
  ac_akernel *k = w->p->kernels.data[0];
  for (size_t m = 0; m < k->methods.len; m++) {
    ac_astmt *s = find_in(w, &k->methods.data[m].body, f, list ? list : &l, at ? at : &i);
    if (s) return s;
  }
  fail_msg("the program lacks what is to be broken");
  return NULL;
}
static void drop(ac_ablock *b, size_t i) {
  memmove(b->data + i, b->data + i + 1, (b->len - i - 1) * sizeof *b->data);
  b->len--;
}
static void drop_before(work *w, finder *f, ac_event e) {
  ac_ablock *b;
  size_t at;
  find(w, f, &b, &at);
  while (at-- > 0 && b->data[at]->kind == AC_AS_FLAG)
    if (b->data[at]->event == e) {
      drop(b, at);
      return;
    }
  fail_msg("there is no flag %s before it", ac_event_names[e]);
}

static const ac_abuffer *buffer_of(const work *w, const ac_atensor *t) {
  return &w->p->kernels.data[0]->buffers.data[t->buffer];
}
static ac_abuffer *buffer(work *w, const char *dsl) {
  ac_akernel *k = w->p->kernels.data[0];
  for (size_t i = 0; i < k->buffers.len; i++)
    if (!strcmp(k->buffers.data[i].buffer, dsl)) return &k->buffers.data[i];
  fail_msg("no buffer %s", dsl);
  return NULL;
}

static bool is_enque(const work *w, const ac_astmt *s) {
  (void)w;
  return s->kind == AC_AS_ENQUE;
}
static bool is_alloc(const work *w, const ac_astmt *s) {
  (void)w;
  return s->kind == AC_AS_ALLOC;
}
static bool is_free(const work *w, const ac_astmt *s) {
  (void)w;
  return s->kind == AC_AS_FREE;
}
static bool is_lanes(const work *w, const ac_astmt *s) {
  (void)w;
  return s->kind == AC_AS_INST && ac_insts[s->inst].form == AC_FORM_UNARY && s->count;
}
static bool is_rep(const work *w, const ac_astmt *s) {
  (void)w;
  return s->kind == AC_AS_INST && s->rep;
}
static bool is_cast(const work *w, const ac_astmt *s) {
  return s->kind == AC_AS_INST && s->inst == AC_I_CAST && buffer_of(w, s->ops[0].tensor)->dtype == AC_F16;
}
static bool is_sum(const work *w, const ac_astmt *s) {
  (void)w;
  return s->kind == AC_AS_INST && s->inst == AC_I_RSUM;
}
static bool is_compare(const work *w, const ac_astmt *s) {
  (void)w;
  return s->kind == AC_AS_INST && s->inst == AC_I_CMPS;
}
static bool is_rows(const work *w, const ac_astmt *s) {
  (void)w;
  return s->kind == AC_AS_COPY && s->copy->rows;
}
static bool is_row(const work *w, const ac_astmt *s) {
  (void)w;
  return s->kind == AC_AS_COPY && !s->copy->rows && !s->copy->exact;
}
static bool is_flagged(const work *w, const ac_astmt *s) {
  return s->kind == AC_AS_COPY && buffer_of(w, s->copy->ub)->sync && !s->copy->to_ub;
}
static bool is_reload(const work *w, const ac_astmt *s) {
  const ac_akernel *k = w->p->kernels.data[0];
  return s->kind == AC_AS_COPY && s->copy->to_ub && k->gms.data[s->copy->gm].in && k->gms.data[s->copy->gm].out;
}
static bool is_read(const work *w, const ac_astmt *s) {
  (void)w;
  return s->kind == AC_AS_GETVALUE && s->n_ops;
}
static bool is_global_read(const work *w, const ac_astmt *s) {
  (void)w;
  return s->kind == AC_AS_GETVALUE && !s->n_ops;
}
static bool is_barrier(const work *w, const ac_astmt *s) {
  (void)w;
  return s->kind == AC_AS_BARRIER;
}

/* ---- breakages ---- */

static void host_blocks(work *w) {
  w->p->launches.data[0]->blocks = NULL;
}
static void host_kernel(work *w) {
  w->p->launches.data[0]->kernel = 7;
}
static void host_tensor(work *w) {
  w->p->launches.data[0]->tensors[0] = 9;
}
static void host_field(work *w) {
  w->p->launches.data[0]->fields[0] = -1;
}
static void host_names(work *w) {
  w->p->fields.data[1].name = w->p->fields.data[0].name;
}
static void place_size(work *w) {
  buffer(w, "row")->elements = NULL;
}
static void place_rounding(work *w) {
  buffer(w, "row")->round_to = 48;
}
static void place_both(work *w) {
  buffer(w, "row")->sync = true;
}
static void place_depth(work *w) {
  buffer(w, "work")->depth = 2;
}
static void process_alloc(work *w) {
  ac_ablock *b;
  size_t at;
  find(w, is_alloc, &b, &at);
  drop(b, at);
}
static void process_twice(work *w) {
  ac_ablock *b;
  size_t at;
  ac_astmt *s = find(w, is_enque, &b, &at);
  ac_push(w->a, b, s);
}
static void process_early(work *w) {
  ac_ablock *b;
  size_t at;
  ac_astmt *s = find(w, is_enque, &b, &at);
  assert_true(at > 0);
  b->data[at] = b->data[at - 1];
  b->data[at - 1] = s;
}
static void process_free(work *w) {
  ac_ablock *b;
  size_t at;
  find(w, is_free, &b, &at);
  drop(b, at);
}
static void rows_primitive(work *w) {
  ac_astmt *s = find(w, is_sum, NULL, NULL);
  s->kind = AC_AS_PRIM;
  s->prim = AC_P_REDUCE_SUM;
}
static void rows_axes(work *w) {
  find(w, is_lanes, NULL, NULL)->ops[0].nd = AC_NEW(w->a, ac_aview);
}
static void rows_both(work *w) {
  ac_astmt *s = find(w, is_rep, NULL, NULL);
  s->count = s->rep->mask;
}
static void legalise_primitive(work *w) {
  ac_astmt *s = find(w, is_lanes, NULL, NULL);
  s->kind = AC_AS_PRIM;
  s->prim = AC_P_VTANH;
}
static void legalise_cast(work *w) {
  find(w, is_cast, NULL, NULL)->ops[1].view = AC_U8;
}
static void legalise_select(work *w) {
  w->p->kernels.data[0]->select = false;
}
static void legalise_work(work *w) {
  ac_astmt *s = find(w, is_sum, NULL, NULL);
  s->ops[2] = s->ops[1];
}
static void legalise_dtype(work *w) {
  find(w, is_lanes, NULL, NULL)->ops[0].view = AC_I64;
}
static void align_tile(work *w) {
  find(w, is_row, NULL, NULL)->copy->rank = 2;
}
static void align_strides(work *w) {
  find(w, is_rows, NULL, NULL)->copy->gm_stride = NULL;
}
static void align_pitch(work *w) {
  ac_acopy *c = find(w, is_rows, NULL, NULL)->copy;
  ac_aexpr *e = AC_NEW(w->a, ac_aexpr);
  *e = (ac_aexpr){.kind = AC_AE_INT, .i = 41};
  c->ub_pitch = e;
}
static void align_exact(work *w) {
  find(w, is_row, NULL, NULL)->copy->exact = true;
}
static void align_compare(work *w) {
  ac_aexpr *e = AC_NEW(w->a, ac_aexpr);
  *e = (ac_aexpr){.kind = AC_AE_INT, .i = 40};
  find(w, is_compare, NULL, NULL)->count = e;
}
static void align_room(work *w) {
  buffer(w, "row")->round_to = 32;
}
static void sync_scalar(work *w) {
  drop_before(w, is_read, AC_EV_V_S);
}
static void sync_copy(work *w) {
  drop_before(w, is_flagged, AC_EV_V_MTE3);
}
static void sync_reload(work *w) {
  drop_before(w, is_reload, AC_EV_MTE3_MTE2);
}
static void sync_global(work *w) {
  drop_before(w, is_global_read, AC_EV_MTE3_S);
}
static void sync_join(work *w) {
  ac_ablock *b;
  size_t at;
  find(w, is_barrier, &b, &at);
  drop(b, at);
}

/* The flag behind the stores of `late`: primed before the loop, awaited in it before what overwrites, set behind the store, drained. */
static void drop_nth(work *w, ac_askind kind, int n) {
  ac_akernel *k = w->p->kernels.data[0];
  for (size_t m = 0; m < k->methods.len; m++) {
    ac_ablock *b = &k->methods.data[m].body;
    for (size_t i = 0; i < b->len; i++) {
      if (b->data[i]->kind != kind || b->data[i]->event != AC_EV_MTE3_V || n--) continue;
      drop(b, i);
      return;
    }
  }
  fail_msg("the program lacks what is to be broken");
}
static void defer_prime(work *w) {
  drop_nth(w, AC_AS_SET, 0);
}
static void defer_set(work *w) {
  drop_nth(w, AC_AS_SET, 1);
}
static void defer_drain(work *w) {
  drop_nth(w, AC_AS_WAIT, 0);
}
static void defer_wait(work *w) {
  drop_nth(w, AC_AS_WAIT, 1);
}
static bool is_awaited(const work *w, const ac_astmt *s) {
  (void)w;
  return s->kind == AC_AS_WAIT && s->event == AC_EV_MTE3_V;
}
static void defer_moved(work *w) {
  ac_akernel *k = w->p->kernels.data[0];
  ac_ablock *b = NULL;
  size_t at = 0;
  ac_astmt *s = NULL;
  for (size_t m = 1; m < k->methods.len && !s; m++) s = find_in(w, &k->methods.data[m].body, is_awaited, &b, &at);
  assert_non_null(s);
  assert_true(at + 1 < b->len);
  b->data[at] = b->data[at + 1];
  b->data[at + 1] = s;
}

static void each_breakage_is_named(void **state) {
  (void)state;
  static const struct {
    const char *pass;
    void (*break_it)(work *);
    const char *says;
  } t[] = {
      {"host", host_blocks, "has no block count"},
      {"host", host_kernel, "launches no kernel"},
      {"host", host_tensor, "to no tensor"},
      {"host", host_field, "fills no field"},
      {"host", host_names, "two tiling fields are named"},
      {"place", place_size, "has no size"},
      {"place", place_rounding, "is rounded to 48 bytes"},
      {"place", place_both, "by a queue and by flags"},
      {"place", place_depth, "has depth 2"},
      {"process", process_alloc, "while its queue slot is not at hand"},
      {"process", process_twice, "EnQue of 'a' out of step"},
      {"process", process_early, "while its queue slot is not at hand"},
      {"process", process_free, "changes the state of a queue"},
      {"rows", rows_primitive, "a primitive along axes is left"},
      {"rows", rows_axes, "still has axes"},
      {"rows", rows_both, "both a count and repeats"},
      {"legalise", legalise_primitive, "a composed primitive is left"},
      {"legalise", legalise_cast, "there is no cast from uint8 to float16"},
      {"legalise", legalise_select, "Select without its reserved bytes"},
      {"legalise", legalise_work, "no work tensor of its own"},
      {"legalise", legalise_dtype, "of int64 does not exist"},
      {"align", align_tile, "still a tile"},
      {"align", align_strides, "has no strides"},
      {"align", align_pitch, "do not start on 32 bytes"},
      {"align", align_exact, "not proved to be whole blocks"},
      {"align", align_compare, "does not count whole repeats"},
      {"align", align_room, "reads whole repeats of 'row'"},
      {"sync", sync_scalar, "does not wait for the vector unit"},
      {"sync", sync_copy, "a copy does not wait for the vector unit"},
      {"sync", sync_reload, "does not wait for the copies of 'partsGm' the other way"},
      {"sync", sync_global, "does not wait for the stores to it"},
      {"sync", sync_join, "blocks join before their stores have left"},
      {"defer", defer_wait, "flags of 'late': it is touched before what a copy does with it is over"},
      {"defer", defer_set, "flags of 'late': it is touched before what a copy does with it is over"},
      {"defer", defer_prime, "flags of 'acFlag0': a flag is awaited that nobody set"},
      {"defer", defer_drain, "flags of 'acFlag0': an id is given back while its flag is set"},
      {"defer", defer_moved, "flags of 'late': it is touched before what a copy does with it is over"},
  };
  work w;
  begin(&w);
  ac_strvec passes = ac_lower_passes(w.a);
  for (size_t p = 0; p < passes.len; p++) {
    int n = 0;
    for (size_t i = 0; i < AC_COUNT(t); i++) n += !strcmp(t[i].pass, passes.data[p]);
    if (n < 3) fail_msg("pass %s is broken in %d ways only", passes.data[p], n);
  }
  ac_arena_free(w.a);
  for (size_t i = 0; i < AC_COUNT(t); i++) {
    begin(&w);
    assert_null(ac_program_check(w.a, w.p, "defer"));
    t[i].break_it(&w);
    const char *said = ac_program_check(w.a, w.p, t[i].pass);
    if (!said || !strstr(said, t[i].says))
      fail_msg("%s, case %zu: got \"%s\", want \"%s\"", t[i].pass, i, said ? said : "nothing", t[i].says);
    ac_arena_free(w.a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_breakage_is_named)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

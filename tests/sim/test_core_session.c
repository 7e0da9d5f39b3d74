/* Sessions, launches and blocks, driven through the C functions alone. */
#include "sim/core_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static ac_arena *arena;
static const ac_chip *chip;
#define HERE __FILE__, __LINE__

typedef struct {
  float x[64], y[64];
  uint16_t h[16];
  uint8_t w[256];
  int seen[64];
} data;

static acsim_session *open_with(data *d, acsim_config cfg, bool zeroed) {
  acsim_buffer b[] = {
      {.name = "x", .data = d->x, .bytes = sizeof d->x, .elem = 4, .kind = ACSIM_INPUT},
      {.name = "y", .data = d->y, .bytes = sizeof d->y, .elem = 4, .kind = ACSIM_OUTPUT, .zeroed = zeroed},
  };
  cfg.chip = chip;
  cfg.buffers = b;
  cfg.n_buffers = 2;
  return acsim_open(&cfg);
}

/* Block b copies elements 8b .. 8b+7 from x to y. */
static void copy_eight(void *user) {
  data *d = user;
  char pipe;
  acsim_pipe_open(&pipe, HERE);
  uint16_t q = acsim_queue_init(&pipe, ACSIM_POS_VECIN, ACSIM_POS_VECOUT, 1, 1, 32, HERE);
  acsim_local t;
  int64_t b = acsim_block_index();
  acsim_global from = {(uint8_t *)(d->x + 8 * b), (uint8_t *)d->x, sizeof d->x},
               to = {(uint8_t *)(d->y + 8 * b), (uint8_t *)d->y, sizeof d->y};
  acsim_copy c = {.form = ACSIM_COPY_COUNT, .type = ACSIM_F32, .blocks = 1, .bytes = 32};
  acsim_queue_alloc(q, &t, HERE);
  acsim_copy_in(&t, &from, &c, HERE);
  acsim_queue_push(q, &t, HERE);
  acsim_queue_pop(q, &t, HERE);
  acsim_copy_out(&to, &t, &c, HERE);
  acsim_queue_free(q, &t, HERE);
  acsim_pipe_close(&pipe);
  d->seen[b]++;
}

static size_t faults(acsim_session *s, const char *kind, const char *text) {
  size_t n, hits = 0;
  acsim_finish(s);
  const ac_sim_fault_kind *k = ac_sim_fault_kind_of(kind);
  const ac_sim_fault *f = k && k->warning ? acsim_warnings(s, &n) : acsim_faults(s, &n, NULL);
  for (size_t i = 0; i < n; i++) hits += !strcmp(f[i].kind, kind) && (!text || strstr(f[i].message, text));
  assert_int_equal(hits, n);
  return n;
}

static void all_blocks(void **state) {
  (void)state;
  data d = {.x = {1, 2, 3}};
  for (int i = 0; i < 64; i++) d.x[i] = (float)i;
  acsim_session *s = open_with(&d, (acsim_config){.threads = 3}, false);
  acsim_launch(s, 8, 0, copy_eight, &d);
  assert_int_equal(faults(s, "", NULL), 0);
  assert_memory_equal(d.x, d.y, sizeof d.x);
  for (int i = 0; i < 8; i++) assert_int_equal(d.seen[i], 1);
  assert_int_equal(acsim_blocks_run(s), 8);
  assert_int_equal(acsim_last_block_dim(s), 8);
  assert_int_equal(acsim_ub_peak(s), 32);
  acsim_close(s);
}

static void some_blocks(void **state) {
  (void)state;
  data d = {.x = {0}};
  acsim_session *s = open_with(&d, (acsim_config){.first_block = 2, .n_blocks = 3}, false);
  acsim_launch(s, 8, 0, copy_eight, &d);
  assert_int_equal(faults(s, "", NULL), 0); /* what the other blocks would write is not missed */
  for (int i = 0; i < 8; i++) assert_int_equal(d.seen[i], i >= 2 && i < 5);
  acsim_close(s);
  s = open_with(&d, (acsim_config){.first_block = 7, .n_blocks = 3}, false);
  acsim_launch(s, 8, 0, copy_eight, &d);
  assert_int_equal(acsim_blocks_run(s), 1);
  acsim_close(s);
}

/* Every block reads what block 0 wrote. */
static void read_the_first(void *user) {
  data *d = user;
  acsim_global y = {(uint8_t *)d->y, (uint8_t *)d->y, sizeof d->y};
  float v = 1;
  if (acsim_block_index() == 0) acsim_global_set(&y, 0, 4, &v, HERE);
  acsim_global_get(&y, 0, 4, &v, HERE);
}
static void a_sample_may_need_the_others(void **state) {
  (void)state;
  data d = {0};
  for (int first = 0; first < 2; first++) {
    acsim_session *s =
        open_with(&d, (acsim_config){.first_block = first, .n_blocks = 1, .hazards = AC_HAZARDS_OFF}, false);
    acsim_launch(s, 2, 0, read_the_first, &d);
    assert_int_equal(faults(s, "sample-incomplete", "none of the 1 blocks that ran"), first);
    acsim_close(s);
  }
}

static void a_sample_of_blocks(void **state) {
  (void)state;
  int times[8] = {0};
  for (uint64_t seed = 0; seed < 400; seed++) {
    int64_t pick[8], again[8];
    assert_int_equal(ac_sim_sample(3, seed, 8, pick), 3);
    assert_int_equal(ac_sim_sample(3, seed, 8, again), 3);
    assert_memory_equal(pick, again, 3 * sizeof *pick);
    for (int i = 0; i < 3; i++) {
      assert_true(pick[i] >= 0 && pick[i] < 8 && (!i || pick[i - 1] < pick[i]));
      times[pick[i]]++;
    }
  }
  for (int i = 0; i < 8; i++) assert_true(times[i] > 100 && times[i] < 200); /* 150 each, on the average */
  int64_t all[2];
  assert_int_equal(ac_sim_sample(5, 1, 2, all), 2);
  for (int order = AC_ORDER_FORWARD; order <= AC_ORDER_REVERSE; order++) {
    data d = {.x = {0}};
    int64_t pick[3];
    ac_sim_sample(3, 11, 8, pick);
    acsim_session *s =
        open_with(&d, (acsim_config){.sample = 3, .sample_seed = 11, .order = (ac_block_order)order}, false);
    acsim_launch(s, 8, 0, copy_eight, &d);
    acsim_launch(s, 2, 0, copy_eight, &d); /* fewer than asked for: all of them */
    for (int i = 0; i < 8; i++)
      assert_int_equal(d.seen[i], (i == pick[0]) + (i == pick[1]) + (i == pick[2]) + (i < 2));
    assert_int_equal(acsim_blocks_run(s), 5);
    acsim_close(s);
  }
}

static void launches_add_up(void **state) {
  (void)state;
  data d = {.x = {0}};
  acsim_session *s = open_with(&d, (acsim_config){0}, false);
  acsim_launch(s, 8, 0, copy_eight, &d);
  acsim_launch(s, 2, 0, copy_eight, &d);
  assert_int_equal(faults(s, "written-twice", "elements 0..15 of y are written more than once (16 of 64)"), 1);
  /* found after the launches: of no block, not of the first one */
  size_t n;
  const ac_sim_fault *f = acsim_warnings(s, &n);
  assert_int_equal(n, 1);
  assert_int_equal(f->block, -1);
  assert_non_null(f->file);
  acsim_close(s);
  s = open_with(&d, (acsim_config){0}, false);
  acsim_launch(s, 0, 0, copy_eight, &d);
  assert_int_equal(faults(s, "never-written", "elements 0..63 of y are never written (64 of 64)"), 1);
  acsim_close(s);
}

/* y += 2^(24 * block), where the sum depends on the order: 2^0 + 2^24 - 2^24 ... */
static const float parts[] = {1.0f, 16777216.0f, -16777216.0f};
static void add_part(void *user) {
  data *d = user;
  char pipe;
  acsim_pipe_open(&pipe, HERE);
  uint16_t q = acsim_tbuf_init(&pipe, ACSIM_POS_VECCALC, 32, HERE);
  acsim_local t;
  acsim_tbuf_get(q, 0, 32, &t, HERE);
  acsim_vector v = {.op = ACSIM_OP_Duplicate,
                    .type = ACSIM_F32,
                    .dst_type = ACSIM_F32,
                    .dst = &t,
                    .f = (double)parts[acsim_block_index()],
                    .count = 8};
  acsim_vec(&v, HERE);
  acsim_global to = {(uint8_t *)d->y, (uint8_t *)d->y, sizeof d->y};
  acsim_copy c = {.form = ACSIM_COPY_COUNT, .type = ACSIM_F32, .blocks = 1, .bytes = 32};
  acsim_pipe_barrier(6, HERE); /* of all pipes */
  acsim_atomic(ACSIM_ATOMIC_ADD, ACSIM_F32, __FILE__, __LINE__);
  acsim_copy_out(&to, &t, &c, HERE);
  acsim_atomic(ACSIM_ATOMIC_NONE, -1, __FILE__, __LINE__);
  acsim_pipe_close(&pipe);
}
static void atomics_in_order(void **state) {
  (void)state;
  for (int round = 0; round < 20; round++) {
    data d = {.x = {0}};
    acsim_session *s =
        open_with(&d, (acsim_config){.threads = 3, .order = round % 2 ? AC_ORDER_REVERSE : AC_ORDER_FORWARD}, true);
    acsim_launch(s, 3, 0, add_part, &d);
    assert_int_equal(faults(s, "", NULL), 0);
    /* forward: 1 + 2^24 = 2^24 (tie to even), then 0; reverse: -2^24 + 2^24 = 0, then 1 */
    assert_true(d.y[0] == (round % 2 ? 1.0f : 0.0f));
    acsim_close(s);
  }
}

static void to_half_overflow(void *user) {
  data *d = user;
  char pipe;
  acsim_pipe_open(&pipe, HERE);
  uint16_t q = acsim_tbuf_init(&pipe, ACSIM_POS_VECCALC, 64, HERE);
  acsim_local t;
  acsim_tbuf_get(q, 0, 32, &t, HERE);
  acsim_vector v = {
      .op = ACSIM_OP_Duplicate, .type = ACSIM_F16, .dst_type = ACSIM_F16, .dst = &t, .f = 60000, .count = 16};
  acsim_vec(&v, HERE);
  v = (acsim_vector){
      .op = ACSIM_OP_Add, .type = ACSIM_F16, .dst_type = ACSIM_F16, .dst = &t, .a = &t, .b = &t, .count = 16};
  acsim_vec(&v, HERE);
  acsim_local_get(&t, 3, 2, &d->h[0], HERE);
  acsim_pipe_close(&pipe);
}
static void saturation(void **state) {
  (void)state;
  for (int on = 0; on < 2; on++) {
    data d = {.x = {0}};
    acsim_session *s = acsim_open(&(acsim_config){.chip = chip, .saturate = on});
    acsim_launch(s, 1, 0, to_half_overflow, &d);
    assert_int_equal(faults(s, "", NULL), 0);
    assert_int_equal(d.h[0], on ? 0x7bff : 0x7c00);
    acsim_close(s);
  }
}

/* Every block faults at one place: one entry, its count, the lowest block. */
static void fault_here(void *user) {
  (void)user;
  acsim_flag_wait(4, 1, HERE);
}
static void faults_are_merged(void **state) {
  (void)state;
  acsim_session *s = acsim_open(&(acsim_config){.chip = chip, .threads = 4});
  acsim_launch(s, 40, 0, fault_here, NULL);
  size_t n;
  const ac_sim_fault *f = acsim_faults(s, &n, NULL);
  assert_int_equal(n, 1);
  assert_string_equal(f[0].kind, "flag-not-set");
  assert_int_equal(f[0].count, 40);
  assert_int_equal(f[0].block, 0);
  assert_true(f[0].line > 0 && strstr(f[0].file, "test_core_session.c"));
  acsim_close(s);
}

/* A hazard between blocks is another than that of one block at the same two places, and stands before it, wherever its own place is. */
static void between_blocks(void *user) {
  (void)user;
  acsim_block *b = acsim_self;
  const acsim_at one = {"k.cpp", 10}, two = {"k.cpp", 20}, three = {"k.cpp", 5};
  acsim_fault_pair(b->s, b, "hazard-war", one, two, "own");
  acsim_fault_pair(b->s, b, "hazard-raw", two, one, "own too");
  acsim_fault_cores(b->s, b, "hazard-raw", two, one, "cores");
  acsim_fault_pair(b->s, b, "hazard-raw", three, one, "elsewhere");
}
static void blocks_come_first(void **state) {
  (void)state;
  static const char *const order[] = {"elsewhere", "cores", "own", "own too"};
  acsim_session *s = acsim_open(&(acsim_config){.chip = chip, .threads = 4});
  acsim_launch(s, 8, 0, between_blocks, NULL);
  size_t n;
  const ac_sim_fault *f = acsim_faults(s, &n, NULL);
  assert_int_equal(n, AC_COUNT(order));
  for (size_t i = 0; i < n; i++) {
    assert_string_equal(f[i].message, order[i]);
    assert_int_equal(f[i].count, 8);
  }
  acsim_close(s);
}

/* 48 blocks meet in many barriers on two threads. */
static void meet(void *user) {
  data *d = user;
  int b = (int)acsim_block_index();
  for (int i = 1; i <= 20; i++) {
    d->seen[b] = i;
    acsim_sync_all(1, HERE);
    for (int k = 0; k < 48; k++)
      if (d->seen[k] != i) acsim_kernel_assert("everybody is here", HERE);
    acsim_sync_all(1, HERE);
  }
}
static void barriers(void **state) {
  (void)state;
  data d = {.x = {0}};
  acsim_session *s = acsim_open(&(acsim_config){.chip = chip, .threads = 2});
  acsim_launch(s, 48, 0, meet, &d);
  assert_int_equal(faults(s, "", NULL), 0);
  acsim_close(s);
}

int main(void) {
  arena = ac_arena_new();
  ac_diags diags;
  ac_diags_init(&diags, arena);
  chip = ac_chip_load(arena, "ascend910b2", &diags);
  const struct CMUnitTest t[] = {cmocka_unit_test(all_blocks),         cmocka_unit_test(some_blocks),
                                 cmocka_unit_test(a_sample_of_blocks), cmocka_unit_test(a_sample_may_need_the_others),
                                 cmocka_unit_test(launches_add_up),    cmocka_unit_test(atomics_in_order),
                                 cmocka_unit_test(saturation),         cmocka_unit_test(faults_are_merged),
                                 cmocka_unit_test(blocks_come_first),  cmocka_unit_test(barriers)};
  int rc = chip ? cmocka_run_group_tests(t, NULL, NULL) : 1;
  ac_arena_free(arena);
  return rc;
}

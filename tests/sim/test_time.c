/* Modelled time, through the C functions alone: what must be faster than what, and whom a stall blames. */
#include "isa/cost.h"
#include "sim/core.h"
#include "sim/core_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static ac_arena *arena;
static const ac_chip *chip;
static const char *const file = "kernel.cpp";

/* A kernel that streams x through UB to y: one line number for each call. */
enum {
  L_PIPE = 10,
  L_IN,
  L_OUT,
  L_ALLOC_IN,
  L_COPY_IN,
  L_PUSH_IN,
  L_POP_IN,
  L_ALLOC_OUT,
  L_VEC,
  L_PUSH_OUT,
  L_FREE_IN,
  L_POP_OUT,
  L_COPY_OUT,
  L_FREE_OUT,
  L_SYNC,
  L_GET
};
typedef struct {
  int64_t bytes;  /* of x, and of y */
  int64_t tile;   /* bytes */
  int buffers;    /* of each queue */
  int passes;     /* vector instructions a tile */
  int64_t row;    /* bytes of a block of a strided copy; 0: one piece */
  int64_t offset; /* bytes that every tile of x is shifted by */
  bool sync, get; /* a SyncAll, a GetValue after each tile */
  bool uneven;    /* block 0 has all the work */
  float *x, *y;
} stream;

static acsim_copy copy_of(const stream *k) {
  acsim_copy c = {.form = ACSIM_COPY_COUNT, .type = ACSIM_F32, .blocks = 1, .bytes = k->tile};
  if (!k->row) return c;
  c.form = ACSIM_COPY_BLOCKS;
  c.blocks = (uint32_t)(k->tile / k->row);
  c.bytes = k->row;
  return c;
}

static void tile(stream *k, uint16_t in, uint16_t out, int64_t at) {
  acsim_local a, b;
  acsim_global x = {(uint8_t *)k->x + at + k->offset, (uint8_t *)k->x, 0},
               y = {(uint8_t *)k->y + at, (uint8_t *)k->y, 0};
  acsim_copy cin = copy_of(k), cout = {.form = ACSIM_COPY_COUNT, .type = ACSIM_F32, .blocks = 1, .bytes = k->tile};
  acsim_queue_alloc(in, &a, file, L_ALLOC_IN);
  acsim_copy_in(&a, &x, &cin, file, L_COPY_IN);
  acsim_queue_push(in, &a, file, L_PUSH_IN);
  acsim_queue_pop(in, &a, file, L_POP_IN);
  acsim_queue_alloc(out, &b, file, L_ALLOC_OUT);
  for (int i = 0; i < k->passes; i++) {
    acsim_vector v = {.op = ACSIM_OP_Exp,
                      .type = ACSIM_F32,
                      .dst_type = ACSIM_F32,
                      .dst = &b,
                      .a = i ? &b : &a,
                      .count = k->tile / 4};
    acsim_vec(&v, file, L_VEC);
  }
  float f;
  if (k->get) acsim_local_get(&b, 0, 4, &f, file, L_GET);
  acsim_queue_push(out, &b, file, L_PUSH_OUT);
  acsim_queue_free(in, &a, file, L_FREE_IN);
  acsim_queue_pop(out, &b, file, L_POP_OUT);
  acsim_copy_out(&y, &b, &cout, file, L_COPY_OUT);
  acsim_queue_free(out, &b, file, L_FREE_OUT);
}

static void stream_block(void *user) {
  stream *k = user;
  char pipe;
  int64_t n = k->uneven ? 1 : acsim_block_count(), me = acsim_block_index();
  acsim_pipe_open(&pipe, file, L_PIPE);
  uint16_t in = acsim_queue_init(&pipe, ACSIM_POS_VECIN, ACSIM_POS_VECIN, 1, (uint32_t)k->buffers, (uint32_t)k->tile,
                                 file, L_IN);
  uint16_t out = acsim_queue_init(&pipe, ACSIM_POS_VECOUT, ACSIM_POS_VECOUT, 1, (uint32_t)k->buffers,
                                  (uint32_t)k->tile, file, L_OUT);
  int64_t tiles = k->bytes / k->tile;
  for (int64_t t = me; me < n && t < tiles; t += n) tile(k, in, out, t * k->tile);
  if (k->sync) acsim_sync_all(1, file, L_SYNC);
  acsim_pipe_close(&pipe);
}

/* Runs it; the tensors are made anew. */
static ac_sim_time timed(stream k, int64_t blocks, acsim_config cfg, const ac_chip *on) {
  int64_t room = k.bytes + 4096;
  k.x = calloc(1, (size_t)room);
  k.y = calloc(1, (size_t)room);
  assert_non_null(k.x);
  assert_non_null(k.y);
  acsim_buffer b[] = {{.name = "x", .data = k.x, .bytes = room, .elem = 4, .kind = ACSIM_INPUT},
                      {.name = "y", .data = k.y, .bytes = k.bytes, .elem = 4, .kind = ACSIM_OUTPUT}};
  cfg.chip = on ? on : chip;
  cfg.buffers = b;
  cfg.n_buffers = 2;
  acsim_session *s = acsim_open(&cfg);
  acsim_launch(s, blocks, 0, stream_block, &k);
  acsim_finish(s);
  size_t n;
  const ac_sim_fault *f = acsim_faults(s, &n, NULL);
  for (size_t i = 0; i < n; i++) print_message("%s: %s\n", f[i].kind, f[i].message);
  assert_int_equal(n, 0);
  ac_sim_time r;
  acsim_time_result(s, arena, &r);
  acsim_close(s);
  free(k.x);
  free(k.y);
  return r;
}
static ac_sim_time plain(stream k, int64_t blocks) {
  return timed(k, blocks, (acsim_config){0}, NULL);
}

/* Figures of the tests' own for all that calibration may change: what is tested is the model. Vector instructions keep those of the
 * file, by which the tests compute. */
static void settle(ac_costs *c) {
  c->in = (ac_copy_cost){.start = 60, .latency = 240, .bytes_per_cycle = 100, .burst = 8};
  c->out = (ac_copy_cost){.start = 60, .latency = 100, .bytes_per_cycle = 60, .burst = 8};
  c->unaligned = 0.7;
  c->hbm = 1600;
  c->l2_read = 4700;
  c->l2_write = 3700;
  c->l2 = 7000;
  c->resident = 0.9;
  c->carry = c->dirty = 0;
  c->share = 1;
#define S(name) c->scalar.name = 4;
  AC_SCALAR_COSTS(S)
#undef S
  c->scalar.gm_miss = 240;
  c->scalar.instruction_queue = 32;
  c->sync_all = 1000;
  c->launch_us = 3;
  c->core_us = 0;
  c->block = 500;
}

static const stream usual = {.bytes = 1 << 20, .tile = 16384, .buffers = 2, .passes = 4};

/* The longest stall of a unit; NULL: none. */
static const ac_sim_stall *longest(const ac_sim_time *t, ac_pipe p) {
  for (size_t i = 0; i < t->stalls.len; i++)
    if (t->stalls.data[i].pipe == p) return &t->stalls.data[i];
  return NULL;
}
static bool blames(const ac_sim_time *t, ac_pipe p, const char *what, const char *event, int line) {
  const ac_sim_stall *s = longest(t, p);
  if (s && !strcmp(s->what, what) && !strcmp(s->event, event) && s->line == line) return true;
  if (s) print_message("blamed: %s %s at line %d for %s\n", s->what, s->event, s->line, s->from_op);
  return false;
}

static void double_buffering(void **state) {
  (void)state;
  stream k = usual;
  ac_sim_time two = plain(k, 8);
  k.buffers = 1;
  ac_sim_time one = plain(k, 8);
  assert_true(two.cycles < 0.85 * one.cycles);
  /* the same work all the same */
  for (int p = 0; p < AC_PIPE_COUNT; p++)
    if (p != AC_PIPE_V && p != AC_PIPE_S) assert_true(one.cores.data[0].busy[p] == two.cores.data[0].busy[p]);
  assert_int_equal(one.bytes_in, 1 << 20);
  assert_int_equal(one.bytes_out, 1 << 20);
  assert_int_equal(one.must_in, 1 << 20);
  assert_int_equal(one.must_out, 1 << 20);
}

/* With one buffer, loads wait for the vector unit to let the buffer go, and say so. */
static void missing_overlap(void **state) {
  (void)state;
  stream k = usual;
  k.buffers = 1;
  ac_sim_time t = plain(k, 8);
  assert_true(blames(&t, AC_PIPE_MTE2, "AllocTensor", "V_MTE2", L_ALLOC_IN));
  assert_true(blames(&t, AC_PIPE_V, "DeQue", "MTE2_V", L_POP_IN));
  const ac_sim_stall *s = longest(&t, AC_PIPE_MTE2);
  assert_string_equal(s->from_op, "Exp");
  assert_int_equal(s->from, AC_PIPE_V);
  assert_int_equal(s->from_line, L_VEC);
  assert_string_equal(s->file, file);
  assert_int_equal(s->count, 64 - 8); /* every tile but each block's first */
}

static void more_cores(void **state) {
  (void)state;
  stream k = usual;
  k.bytes = 6 << 20;
  k.passes = 1;
  double last = 0;
  for (int n = 1; n <= 48; n *= 2) {
    ac_sim_time t = plain(k, n);
    if (last) assert_true(t.cycles < last);
    last = t.cycles;
  }
  /* memory binds: twice the cores are not worth twice the memory */
  ac_chip slow = *chip;
  ac_costs c = *chip->costs;
  c.hbm = 100;
  slow.costs = &c;
  slow.l2 = 0; /* nothing stays in L2 */
  ac_sim_time a = timed(k, 12, (acsim_config){0}, &slow), b = timed(k, 24, (acsim_config){0}, &slow);
  double bound = 2.0 * (6 << 20) / 100e9 * 1e6;
  assert_false(a.resident);
  assert_int_equal(a.hbm_bytes, 2 * (6 << 20));
  assert_true(a.us - a.launch_us >= 0.999 * bound && a.memory_us >= 0.99 * bound && a.memory_us <= 1.01 * bound);
  assert_true(b.us > 0.9 * a.us);
  c.carry = c.dirty = 1; /* L2 keeps half of what they take */
  slow.l2 = 6 << 20;
  ac_sim_time kept = timed(k, 12, (acsim_config){0}, &slow);
  assert_false(kept.resident);
  assert_true(kept.memory_us > 0.49 * bound && kept.memory_us < 0.51 * bound);
  c.carry = 0; /* all is read from memory, half of what is written stays in L2 */
  ac_sim_time stays = timed(k, 12, (acsim_config){0}, &slow);
  assert_in_range(stays.hbm_bytes, 9 << 20,
                  (9 << 20) + 2048); /* L2 holds not quite half of both, which are a little longer */
  assert_true(stays.memory_us > 0.74 * bound && stays.memory_us < 0.76 * bound);
  c.share = 2; /* alone in using the memory at the moment: a core is faster, all of them are not */
  ac_sim_time more = timed(k, 12, (acsim_config){0}, &slow);
  assert_true(more.core_cycles < 0.6 * stays.core_cycles && more.memory_us == stays.memory_us);
}

static void short_bursts(void **state) {
  (void)state;
  stream k = usual;
  k.passes = 1;
  double whole = plain(k, 1).cores.data[0].busy[AC_PIPE_MTE2];
  k.row = 1024;
  double rows = plain(k, 1).cores.data[0].busy[AC_PIPE_MTE2];
  k.row = 64;
  double bits = plain(k, 1).cores.data[0].busy[AC_PIPE_MTE2];
  assert_true(rows >= 0.999 * whole);
  assert_true(bits > 1.5 * rows);
  k.row = 0;
  k.offset = 32;
  assert_true(plain(k, 1).cores.data[0].busy[AC_PIPE_MTE2] > 1.2 * whole);
}

static bool same_stalls(const ac_sim_time *a, const ac_sim_time *b) {
  if (a->stalls.len != b->stalls.len) return false;
  for (size_t i = 0; i < a->stalls.len; i++) {
    const ac_sim_stall *x = &a->stalls.data[i], *y = &b->stalls.data[i];
    if (x->pipe != y->pipe || x->line != y->line || x->cycles != y->cycles || x->count != y->count ||
        x->from_line != y->from_line || strcmp(x->what, y->what) != 0)
      return false;
  }
  return true;
}

/* Threads, the order of blocks and the search for hazards make no difference. */
static void same_whoever_runs(void **state) {
  (void)state;
  stream k = usual;
  k.sync = k.get = true;
  ac_sim_time first = timed(k, 12, (acsim_config){.threads = 1}, NULL);
  for (int i = 0; i < 8; i++) {
    acsim_config cfg = {.threads = 1 + i % 4, .order = i & 4 ? AC_ORDER_REVERSE : AC_ORDER_FORWARD};
    if (i % 2) cfg.hazards = AC_HAZARDS_OFF;
    ac_sim_time t = timed(k, 12, cfg, NULL);
    assert_true(t.us == first.us && t.cycles == first.cycles && same_stalls(&t, &first));
    for (size_t c = 0; c < first.cores.len; c++)
      assert_memory_equal(&t.cores.data[c], &first.cores.data[c], sizeof first.cores.data[c]);
  }
  assert_false(timed(k, 12, (acsim_config){.no_time = true}, NULL).modelled);
}

static void waves(void **state) {
  (void)state;
  stream k = usual;
  k.bytes = 48 * 2 * 16384;
  double one = plain(k, 48).cycles;
  ac_sim_time two = plain(k, 96); /* half the work a block, twice the blocks */
  assert_true(two.cycles > one);
  assert_int_equal(two.cores.len, 48);
  for (size_t i = 0; i < 48; i++) assert_int_equal(two.cores.data[i].blocks, 2);
  /* 49 equal blocks take as long as 96 */
  k.bytes = 49 * 16384;
  assert_true(plain(k, 49).cycles == two.cycles);
}

static void synchronised(void **state) {
  (void)state;
  stream k = usual;
  k.uneven = k.sync = true;
  ac_sim_time t = plain(k, 4);
  for (size_t i = 1; i < 4; i++) assert_true(t.cores.data[i].cycles == t.cores.data[0].cycles);
  assert_true(blames(&t, AC_PIPE_S, "SyncAll", "", L_SYNC));
  k.sync = false;
  ac_sim_time free = plain(k, 4);
  assert_true(free.cores.data[1].cycles < 0.5 * free.cores.data[0].cycles);
}

/* GetValue makes the scalar unit wait for the vector unit, and everything that it would have handed out meanwhile. */
static void get_value(void **state) {
  (void)state;
  stream k = usual;
  k.passes = 16;
  ac_sim_time without = plain(k, 1);
  k.get = true;
  ac_sim_time with = plain(k, 1);
  assert_true(with.cycles > without.cycles);
  assert_true(blames(&with, AC_PIPE_S, "GetValue", "V_S", L_GET));
  assert_true(blames(&with, AC_PIPE_MTE2, "GetValue", "V_S", L_GET));
}

/* ---- vector instructions alone ---- */

typedef struct {
  int op, dtype, n;    /* n instructions */
  bool chain, barrier; /* each reads what the one before wrote; PipeBarrier<PIPE_V> after each */
  int64_t count;
  int stride; /* of blocks; 0: the count form */
} vectors;
static void vector_block(void *user) {
  const vectors *k = user;
  char pipe;
  acsim_pipe_open(&pipe, file, L_PIPE);
  acsim_local t[4];
  for (int i = 0; i < 4; i++) {
    uint16_t q = acsim_tbuf_init(&pipe, ACSIM_POS_VECCALC, 40960, file, L_IN);
    acsim_tbuf_get(q, 0, 0, &t[i], file, L_ALLOC_IN);
    acsim_vector d = {.op = ACSIM_OP_Duplicate,
                      .type = (uint8_t)k->dtype,
                      .dst_type = (uint8_t)k->dtype,
                      .dst = &t[i],
                      .f = 1,
                      .count = 40960 / acsim_type_bytes(k->dtype)};
    acsim_vec(&d, file, L_IN);
  }
  acsim_pipe_barrier(6, file, L_SYNC);
  acsim_repeat r = {.mask = {~0ull, 0}, .repeat = (int32_t)(k->count / 64), .form = ACSIM_MASK_BITS};
  r.dst_block = r.a_block = r.b_block = (uint16_t)k->stride;
  r.dst_repeat = r.a_repeat = r.b_repeat = 8;
  for (int i = 0; i < k->n; i++) {
    acsim_vector v = {.op = (uint8_t)k->op,
                      .type = (uint8_t)k->dtype,
                      .dst_type = (uint8_t)k->dtype,
                      .dst = &t[k->chain ? 0 : i % 4],
                      .a = &t[k->chain ? 0 : i % 4],
                      .count = k->count};
    if (k->stride) v.repeat = &r;
    acsim_vec(&v, file, L_VEC);
    if (k->barrier) acsim_pipe_barrier(1, file, L_SYNC);
  }
  acsim_pipe_close(&pipe);
}
static ac_sim_time vector_time(vectors k, ac_hazards hazards) {
  acsim_session *s = acsim_open(&(acsim_config){.chip = chip, .hazards = hazards});
  acsim_launch(s, 1, 0, vector_block, &k);
  ac_sim_time t;
  acsim_time_result(s, arena, &t);
  acsim_close(s);
  return t;
}
/* Cycles of one more instruction, many being under way. */
static double each(vectors k, ac_hazards hazards) {
  k.n = 40;
  double few = vector_time(k, hazards).cycles;
  k.n = 104;
  return (vector_time(k, hazards).cycles - few) / 64;
}

static void vector_costs(void **state) {
  (void)state;
  const ac_op_cost *o = ac_cost_of(chip->costs, "Exp");
  vectors k = {.op = ACSIM_OP_Exp, .dtype = ACSIM_F32, .count = 64 * 64};
  double body = 64 * o->repeat[AC_F32];
  assert_float_equal(each(k, AC_HAZARDS_ON), body, 0.01); /* back to back */
  k.chain = true;                                         /* the compiler's barrier: drain, then start */
  assert_float_equal(each(k, AC_HAZARDS_ON), body + o->head + o->tail, 0.01);
  assert_float_equal(each(k, AC_HAZARDS_STRICT), body, 0.01); /* nobody inserts it */
  k.barrier = true;
  assert_float_equal(each(k, AC_HAZARDS_STRICT), body + o->head + o->tail, 0.01);
  ac_sim_time t = vector_time(
      (vectors){.op = ACSIM_OP_Exp, .dtype = ACSIM_F32, .count = 4096, .n = 40, .chain = true}, AC_HAZARDS_ON);
  assert_true(blames(&t, AC_PIPE_V, "dependent", "PIPE_V", L_VEC));
  k = (vectors){.op = ACSIM_OP_Exp, .dtype = ACSIM_F16, .count = 128 * 64};
  assert_float_equal(each(k, AC_HAZARDS_ON), 64 * o->repeat[AC_F16], 0.01);
}

/* Blocks of an operand that share a bank group take turns. */
static void bank_groups(void **state) {
  (void)state;
  vectors k = {.op = ACSIM_OP_Abs, .dtype = ACSIM_F32, .count = 64 * 100, .stride = 1};
  double apart = each(k, AC_HAZARDS_ON);
  k.stride = 8;
  assert_float_equal(each(k, AC_HAZARDS_ON), 4 * apart, 0.01);
  k.stride = 16;
  assert_float_equal(each(k, AC_HAZARDS_ON), 8 * apart, 0.01);
  k.stride = 3;
  assert_float_equal(each(k, AC_HAZARDS_ON), apart, 0.01);
}

/* GetSystemCycle counts modelled time, at a frequency of its own. */
static void counter_block(void *user) {
  int64_t *ticks = user;
  char pipe;
  acsim_local t;
  acsim_pipe_open(&pipe, file, L_PIPE);
  uint16_t q = acsim_tbuf_init(&pipe, ACSIM_POS_VECCALC, 65536, file, L_IN);
  acsim_tbuf_get(q, 0, 0, &t, file, L_ALLOC_IN);
  for (int i = 0; i < 2; i++) {
    for (int k = 0; k < 100; k++) {
      acsim_vector v = {
          .op = ACSIM_OP_Duplicate, .type = ACSIM_F32, .dst_type = ACSIM_F32, .dst = &t, .count = 16384};
      acsim_vec(&v, file, L_VEC);
    }
    acsim_pipe_barrier(6, file, L_SYNC);
    ticks[i] = acsim_cycles();
  }
  acsim_pipe_close(&pipe);
}
static void counter(void **state) {
  (void)state;
  int64_t ticks[2];
  acsim_session *s = acsim_open(&(acsim_config){.chip = chip});
  acsim_launch(s, 1, 0, counter_block, ticks);
  acsim_close(s);
  double cycles = 100 * 256 * ac_cost_of(chip->costs, "Duplicate")->repeat[AC_F32];
  double want = cycles / chip->mhz * chip->costs->counter_mhz, got = (double)(ticks[1] - ticks[0]);
  assert_true(got > want && got < 1.2 * want); /* and the drains between them */
}

/* One transfer alone, against the published measurements that stand in the chip's file: points of KiB and GB/s. */
typedef struct {
  bool out;
  int64_t bytes;
  float *gm;
} transfer;
static void transfer_block(void *user) {
  const transfer *k = user;
  char pipe;
  acsim_local t;
  acsim_pipe_open(&pipe, file, L_PIPE);
  uint16_t q = acsim_tbuf_init(&pipe, ACSIM_POS_VECCALC, 196608, file, L_IN);
  acsim_tbuf_get(q, 0, 0, &t, file, L_ALLOC_IN);
  acsim_vector v = {.op = ACSIM_OP_Duplicate, .type = ACSIM_F32, .dst_type = ACSIM_F32, .dst = &t, .count = 49152};
  acsim_vec(&v, file, L_VEC);
  acsim_pipe_barrier(6, file, L_SYNC);
  acsim_global g = {(uint8_t *)k->gm, (uint8_t *)k->gm, 0};
  acsim_copy c = {.form = ACSIM_COPY_COUNT, .type = ACSIM_F32, .blocks = 1, .bytes = k->bytes};
  if (k->bytes && k->out) acsim_copy_out(&g, &t, &c, file, L_COPY_OUT);
  if (k->bytes && !k->out) acsim_copy_in(&t, &g, &c, file, L_COPY_IN);
  acsim_pipe_close(&pipe);
}
static double transfer_cycles(const ac_chip *on, bool out, int64_t bytes) {
  transfer k = {out, bytes, calloc(1, 1 << 18)};
  assert_non_null(k.gm);
  acsim_buffer b = {.name = "x", .data = k.gm, .bytes = 1 << 18, .elem = 4, .kind = ACSIM_INOUT};
  acsim_session *s = acsim_open(&(acsim_config){.chip = on, .buffers = &b, .n_buffers = 1});
  acsim_launch(s, 1, 0, transfer_block, &k);
  ac_sim_time t;
  acsim_time_result(s, arena, &t);
  acsim_close(s);
  free(k.gm);
  return t.cycles;
}
static void published_transfers(void **state) {
  (void)state;
  static const struct {
    const char *chip, *table;
    bool out;
  } rows[] = {{"ascend910b3", "GM_TO_UB_910b3", false}, {"ascend910b1", "UB_TO_GM_910b1", true}};
  ac_diags d;
  ac_diags_init(&d, arena);
  for (size_t r = 0; r < AC_COUNT(rows); r++) {
    const ac_chip *on = ac_chip_load(arena, rows[r].chip, &d);
    assert_non_null(on);
    const json_t *points = json_object_get(json_object_get(on->json, "bandwidth"), rows[r].table);
    size_t i;
    json_t *point;
    double sum = 0, idle = transfer_cycles(on, rows[r].out, 0);
    json_array_foreach((json_t *)points, i, point) {
      double bytes = json_number_value(json_array_get(point, 0)) * 1024;
      double want = bytes / json_number_value(json_array_get(point, 1)) * on->mhz / 1e3; /* cycles */
      double got = transfer_cycles(on, rows[r].out, (int64_t)bytes) - idle;
      sum += got > want ? got / want - 1 : want / got - 1;
    }
    assert_true(i >= 8 && sum / (double)i < 0.1);
  }
}

/* A sample of blocks says what all would take. */
static void sampled(void **state) {
  (void)state;
  stream k = usual;
  k.bytes = 3 << 20;
  ac_sim_time all = plain(k, 96), some = timed(k, 96, (acsim_config){.first_block = 4, .n_blocks = 6}, NULL);
  assert_int_equal(some.blocks_run, 6);
  assert_int_equal(some.blocks_all, 96);
  assert_true(some.cycles == all.cycles);
}

/* A chip's file by its path; what is missing in it is named. */
static void chip_file(void **state) {
  (void)state;
  ac_diags d;
  ac_diags_init(&d, arena);
  char *path = ac_home_path(arena, "data/chips/ascend910b2.json");
  const ac_chip *c = ac_chip_load(arena, path, &d);
  assert_non_null(c);
  assert_string_equal(c->soc, "Ascend910B2");
  json_t *j = json_deep_copy(c->json);
  json_object_set_new(json_object_get(json_object_get(j, "costs"), "gm"), "hbm_gb_s", json_integer(-1));
  const char *bad = NULL;
  assert_null(ac_costs_read(arena, j, ".", &bad, &d));
  assert_string_equal(bad, "costs.gm.hbm_gb_s");
  json_decref(j);
}

int main(void) {
  arena = ac_arena_new();
  ac_diags d;
  ac_diags_init(&d, arena);
  const ac_chip *b2 = ac_chip_load(arena, "ascend910b2", &d);
  if (!b2) return 1;
  ac_chip still = *b2;
  ac_costs figures = *b2->costs;
  settle(&figures);
  still.costs = &figures;
  chip = &still;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(double_buffering),    cmocka_unit_test(missing_overlap),   cmocka_unit_test(more_cores),
      cmocka_unit_test(short_bursts),        cmocka_unit_test(same_whoever_runs), cmocka_unit_test(waves),
      cmocka_unit_test(synchronised),        cmocka_unit_test(get_value),         cmocka_unit_test(vector_costs),
      cmocka_unit_test(bank_groups),         cmocka_unit_test(sampled),           cmocka_unit_test(counter),
      cmocka_unit_test(published_transfers), cmocka_unit_test(chip_file)};
  int rc = cmocka_run_group_tests(tests, NULL, NULL);
  ac_arena_free(arena);
  return rc;
}

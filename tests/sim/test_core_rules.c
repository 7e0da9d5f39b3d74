/* Rules of the documents that fuzzing (tests/fuzz) found broken, one case each, through the C functions alone. */
#include "../../sim/include/acsim/kernel_abi_basic.h"
#include "sim/core_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define HERE "rules", 1
enum { UB = 16384, GM = 4096 };
static ac_arena *arena;
static const ac_chip *chip;
static uint8_t input[GM], workspace[GM];
static acsim_local ub; /* one buffer of UB bytes, all written: byte i is i * 7 */

typedef void (*rule_fn)(void);
static void block(void *user) {
  char pipe;
  acsim_pipe_open(&pipe, HERE);
  uint16_t q = acsim_tbuf_init(&pipe, ACSIM_POS_VECCALC, UB, HERE);
  acsim_tbuf_get(q, 0, UB, &ub, HERE);
  acsim_block *b = acsim_here("the test");
  for (int i = 0; i < UB; i++) acsim_data(b, &ub, 0)[i] = (uint8_t)(i * 7);
  memset(acsim_state(b, &ub, 0), 0xff, UB);
  (*(rule_fn *)user)();
  acsim_pipe_close(&pipe);
}
/* Runs fn in a block. kind NULL: no fault; else that one and no other. */
static void run(rule_fn fn, const char *kind) {
  acsim_buffer bufs[] = {{.name = "input", .data = input, .bytes = GM, .elem = 1, .kind = ACSIM_INPUT},
                         {.name = "workspace", .data = workspace, .bytes = GM, .elem = 1, .kind = ACSIM_WORKSPACE}};
  acsim_session *s = acsim_open(
      &(acsim_config){.chip = chip, .buffers = bufs, .n_buffers = 2, .threads = 1, .hazards = AC_HAZARDS_OFF});
  acsim_launch(s, 1, 0, block, &fn);
  acsim_finish(s);
  size_t n;
  const ac_sim_fault *f = acsim_faults(s, &n, NULL);
  if (!kind && n) fail_msg("%s: %s", f[0].kind, f[0].message);
  if (kind && !n) fail_msg("%s was not noticed", kind);
  for (size_t i = 0; kind && i < n; i++)
    if (strcmp(f[i].kind, kind)) fail_msg("%s instead of %s: %s", f[i].kind, kind, f[i].message);
  acsim_close(s);
}

static acsim_local at(uint32_t byte) {
  acsim_local t = ub;
  t.addr += byte;
  t.len -= byte;
  return t;
}
static void *data(uint32_t byte) {
  return acsim_data(acsim_here("the test"), &ub, byte);
}
static uint8_t *state(uint32_t byte) {
  return acsim_state(acsim_here("the test"), &ub, byte);
}
static acsim_repeat first(uint64_t lanes, int repeats) {
  return (acsim_repeat){.mask = {lanes >= 64 ? ~0ull : (1ull << lanes) - 1, lanes >= 128 ? ~0ull : 0},
                        .repeat = repeats,
                        .dst_block = 1,
                        .a_block = 1,
                        .b_block = 1,
                        .dst_repeat = 8,
                        .a_repeat = 8,
                        .b_repeat = 8,
                        .form = ACSIM_MASK_FIRST,
                        .first = lanes};
}
static uint64_t vec(int op, int type, int dst_type, const acsim_repeat *r, int64_t count, uint32_t d, uint32_t a,
                    int64_t b, int mode, int64_t i) {
  acsim_local dst = at(d), x = at(a), y = b < 0 ? ub : at((uint32_t)b);
  acsim_vector v = {.op = (uint8_t)op,
                    .type = (uint8_t)type,
                    .dst_type = (uint8_t)dst_type,
                    .mode = (uint8_t)mode,
                    .dst = &dst,
                    .a = &x,
                    .b = b < 0 ? NULL : &y,
                    .i = i,
                    .f = (double)i,
                    .count = count,
                    .repeat = r};
  return acsim_vec(&v, HERE);
}

/* ---- values ---- */

/* docs/zh, ShiftLeft: of a signed number the sign stays; ShiftRight: 16 bits of uint16_t leave nothing. */
static void shifts(void) {
  for (int i = 0; i < 16; i++) ((uint16_t *)data(0))[i] = 0xaaaa;
  vec(ACSIM_OP_ShiftLeft, ACSIM_I16, ACSIM_I16, NULL, 16, 512, 0, -1, 0, 3);
  assert_int_equal(((uint16_t *)data(512))[0], 0xd550);
  vec(ACSIM_OP_ShiftLeft, ACSIM_U16, ACSIM_U16, NULL, 16, 512, 0, -1, 0, 3);
  assert_int_equal(((uint16_t *)data(512))[0], 0x5550);
  vec(ACSIM_OP_ShiftRight, ACSIM_U16, ACSIM_U16, NULL, 16, 512, 0, -1, 0, 16);
  assert_int_equal(((uint16_t *)data(512))[0], 0);
}
static void shift_too_far(void) {
  vec(ACSIM_OP_ShiftLeft, ACSIM_I16, ACSIM_I16, NULL, 16, 512, 0, -1, 0, 17);
}
static void leaky_zero(void) { /* x >= 0 stays, but -0 takes the slope (docs/zh, boundary values) */
  float x[8] = {0.0f, -0.0f, 1, -1};
  memcpy(data(0), x, sizeof x);
  vec(ACSIM_OP_LeakyRelu, ACSIM_F32, ACSIM_F32, NULL, 8, 512, 0, -1, 0, -2);
  x[1] = 0.0f;
  assert_memory_equal(data(512), x, 12);
  assert_true(((float *)data(512))[3] == 2);
}
static void relu_of_int16(void) {
  int16_t a[16] = {5, -5, 32767}, b[16] = {1, 1, 1};
  memcpy(data(0), a, sizeof a);
  memcpy(data(32), b, sizeof b);
  vec(ACSIM_OP_SubRelu, ACSIM_I16, ACSIM_I16, NULL, 16, 512, 0, 32, 0, 0);
  assert_int_equal(((int16_t *)data(512))[0], 4);
  assert_int_equal(((int16_t *)data(512))[1], 0);
  vec(ACSIM_OP_AddRelu, ACSIM_I16, ACSIM_I16, NULL, 16, 512, 0, 32, 0, 0);
  assert_int_equal(((int16_t *)data(512))[0], 6);
  assert_int_equal(((int16_t *)data(512))[1], 0);
}
/* docs/zh, Copy: in counter mode the mask is the number of elements of each repeat. */
static void copy_counter(void) {
  acsim_repeat r = first(10, 3);
  acsim_mask_counter(1, HERE);
  memset(data(4096), 0, 1024);
  vec(ACSIM_OP_Copy, ACSIM_F32, ACSIM_F32, &r, 0, 4096, 0, -1, 0, 0);
  acsim_mask_counter(0, HERE);
  for (int k = 0; k < 3; k++) assert_memory_equal(data(4096 + 256 * (uint32_t)k), data(256 * (uint32_t)k), 40);
  assert_int_equal(*(uint8_t *)data(4096 + 40), 0);
}
/* docs/zh, GatherMask: ends in normal mode. */
static void gather_mask_mode(void) {
  acsim_repeat r = first(64, 1);
  r.form = ACSIM_MASK_BITS;
  acsim_mask_counter(1, HERE);
  assert_int_equal(vec(ACSIM_OP_GatherMask, ACSIM_F32, ACSIM_F32, &r, 0, 4096, 0, -1, 1, 0), 32);
  assert_false(acsim_here("the test")->mask_counter);
}
static void gather_mask_pattern(void) {
  acsim_repeat r = first(64, 1);
  vec(ACSIM_OP_GatherMask, ACSIM_F32, ACSIM_F32, &r, 0, 4096, 0, -1, 0, 0);
}
/* Whether an operand has any defined lane is asked of the whole call, also where counter mode runs its last repeat apart. */
static void counter_undefined_tail(void) {
  acsim_repeat r = first(67, 1);
  acsim_mask_counter(1, HERE);
  memset(state(8192 + 256), 0, 12);
  vec(ACSIM_OP_Min, ACSIM_F32, ACSIM_F32, &r, 0, 4096, 0, 8192, 0, 0);
  acsim_mask_counter(0, HERE);
  assert_int_equal(*state(4096 + 255), 0xff);
  for (uint32_t i = 0; i < 12; i++) assert_int_equal(*state(4096 + 256 + i), 0);
}
static void counter_undefined_all(void) {
  acsim_repeat r = first(67, 1);
  acsim_mask_counter(1, HERE);
  memset(state(8192), 0, 268);
  vec(ACSIM_OP_Min, ACSIM_F32, ACSIM_F32, &r, 0, 4096, 0, 8192, 0, 0);
  acsim_mask_counter(0, HERE);
}
/* 67 elements are two repeats of one instruction: the second, partial one goes on where the first ended. */
static void counted(int op, int mode, const acsim_repeat *r) {
  for (int i = 0; i < 67; i++) ((float *)data(0))[i] = (float)i;
  acsim_mask_counter(1, HERE);
  vec(op, ACSIM_F32, op == ACSIM_OP_Compare ? ACSIM_U8 : ACSIM_F32, r, 0, 4096, 0, 2048, mode, 0);
  acsim_mask_counter(0, HERE);
}
static void counter_reduce(void) {
  acsim_repeat r = first(67, 1);
  counted(ACSIM_OP_ReduceSum, 0, &r);
  assert_true(*(float *)data(4096) == 67 * 33);
  counted(ACSIM_OP_ReduceMax, 1, &r);
  assert_true(*(float *)data(4096) == 66);
  assert_int_equal(*(int32_t *)data(4096 + 4), 66);
  counted(ACSIM_OP_ReduceMin, 1, &r);
  assert_true(*(float *)data(4096) == 0);
  assert_int_equal(*(int32_t *)data(4096 + 4), 0);
}
static void counter_accumulate(void) {
  acsim_repeat r = first(67, 1);
  counted(ACSIM_OP_AccumulateSum, 0, &r);
  assert_true(acsim_accumulated() == 67 * 33);
}
static void counter_compare(void) {
  acsim_repeat r = first(67, 1);
  r.a_block = 2;
  r.a_repeat = 16;
  for (int i = 0; i < 128; i++) ((float *)data(512))[i] = -1, ((float *)data(2048))[i] = 0;
  memset(data(4096), 0, 16);
  counted(ACSIM_OP_Compare, 0, &r);
  for (uint32_t i = 8; i < 16; i++) assert_int_equal(*(uint8_t *)data(4096 + i), 0xff);
}
/* A PipeBarrier that its pipe keeps, waiting for a flag, takes its time like any other. */
static void kept_barriers(void) {
  enum { MTE2_V = 4, PIPE_V = 1 }; /* as HardEvent and pipe_t count */
  acsim_block *b = acsim_here("the test");
  int64_t took[2];
  for (int n = 0; n < 2; n++) {
    int64_t start = acsim_time_counter(b);
    acsim_flag_wait(MTE2_V, 0, HERE);
    for (int i = 0; i < 1000 * n; i++) acsim_pipe_barrier(PIPE_V, HERE);
    acsim_flag_set(MTE2_V, 0, HERE);
    took[n] = acsim_time_counter(b) - start;
  }
  assert_true(took[1] > took[0]);
}
/* docs/zh, Gatherb: a block stride of 0 counts as 1. */
static void gatherb_stride(void) {
  acsim_repeat r = first(64, 1);
  r.dst_block = 0;
  for (int i = 0; i < 8; i++) ((uint32_t *)data(8192))[i] = (uint32_t)(7 - i) * 32;
  vec(ACSIM_OP_Gatherb, ACSIM_U32, ACSIM_U32, &r, 0, 4096, 0, 8192, 0, 0);
  for (uint32_t i = 0; i < 8; i++) assert_memory_equal(data(4096 + 32 * i), data(32 * (7 - i)), 32);
}
static void gatherb_float(void) {
  acsim_repeat r = first(64, 1);
  vec(ACSIM_OP_Gatherb, ACSIM_F32, ACSIM_F32, &r, 0, 4096, 0, 8192, 0, 0);
}
/* docs/zh, Compare: block strides of the repeat form. */
static void compare_blocks_apart(void) {
  acsim_repeat r = first(64, 1);
  r.a_block = 2;
  for (int i = 0; i < 256; i++) ((float *)data(0))[i] = (float)i, ((float *)data(2048))[i] = 20;
  vec(ACSIM_OP_Compare, ACSIM_F32, ACSIM_U8, &r, 0, 4096, 0, 2048, 0, 0); /* LT: block 0 and lanes 16..19 of memory */
  assert_int_equal(*(uint8_t *)data(4096), 0xff);
  assert_int_equal(*(uint8_t *)data(4097), 0x0f);
}
/* In place, what is undefined is so by lane. */
static void compare_in_place(void) {
  *state(0) = 0;
  vec(ACSIM_OP_Compare, ACSIM_F32, ACSIM_U8, NULL, 64, 0, 0, 2048, 0, 0);
  assert_int_equal(*state(0), 0xfe);
  assert_int_equal(*state(1), 0xff);
}
/* float to half with directed modes, saturating */
static void saturating_cast(void) {
  uint16_t d[2];
  float x[2] = {1e9f, -1e9f};
  acsim_math_cast(ACSIM_F16, ACSIM_F32, AC_RN_ROUND, d, x, 2, true);
  assert_int_equal(d[0], 0x7bff);
  assert_int_equal(d[1], 0xfbff);
}
/* docs/zh, DataCopy with Nz2NdParamsFull: groups of 16 elements for 4 bytes, too. */
static void nz_to_nd_float(void) {
  acsim_nz c = {.type = ACSIM_F32,
                .nd_num = 1,
                .n_value = 2,
                .d_value = 32,
                .nd_matrix = 1,
                .nd_row = 32,
                .nz_c0 = 2,
                .nz_n = 1,
                .nz_matrix = 256};
  acsim_global g = {workspace, workspace, GM};
  for (int i = 0; i < 64; i++) ((float *)data(0))[i] = (float)i;
  acsim_copy_nz_to_nd(&g, &ub, &c, HERE);
  const float *y = (const float *)workspace;
  for (int i = 0; i < 16; i++) {
    assert_true(y[i] == (float)i && y[16 + i] == (float)(32 + i));
    assert_true(y[32 + i] == (float)(16 + i) && y[48 + i] == (float)(48 + i));
  }
}
/* GetReduceMaxMinCount and GetAccVal after the forms by count */
static void reduce_registers(void) {
  float x[64], got, index;
  for (int i = 0; i < 64; i++) x[i] = (float)i;
  memcpy(data(0), x, sizeof x);
  vec(ACSIM_OP_ReduceMax, ACSIM_F32, ACSIM_F32, NULL, 64, 4096, 0, 8192, 0, 0);
  acsim_reduce_peak(ACSIM_F32, &got, &index);
  assert_true(got == 63);
  vec(ACSIM_OP_ReduceSum, ACSIM_F32, ACSIM_F32, NULL, 64, 4096, 0, 8192, 0, 0);
  assert_true(acsim_accumulated() == 63 * 32);
}

/* ---- poison ---- */

static void poison_behind_gaps(void) { /* a mask with gaps does not hide an unwritten lane */
  acsim_repeat r = first(64, 1);
  r.form = ACSIM_MASK_BITS;
  r.mask[0] = 5;
  *state(8) = 0;
  vec(ACSIM_OP_Adds, ACSIM_F32, ACSIM_F32, &r, 0, 4096, 0, -1, 0, 1);
  assert_int_equal(*state(4096 + 8), 0);
  assert_int_equal(*state(4096), 0xff);
}
static void poison_in_a_gap(void) {
  acsim_repeat r = first(64, 1);
  r.form = ACSIM_MASK_BITS;
  r.mask[0] = 5;
  *state(4) = 0;
  vec(ACSIM_OP_Adds, ACSIM_F32, ACSIM_F32, &r, 0, 4096, 0, -1, 0, 1);
}
static void poison_passes(void) { /* And and Copy with repeats pass undefined bits on, as the count forms do */
  acsim_repeat r = first(128, 1);
  *state(3) = 0x0f;
  *(uint8_t *)data(2048 + 3) = 0xff; /* decides nothing */
  vec(ACSIM_OP_And, ACSIM_U16, ACSIM_U16, &r, 0, 4096, 0, 2048, 0, 0);
  assert_int_equal(*state(4099), 0x0f);
  vec(ACSIM_OP_Copy, ACSIM_U16, ACSIM_U16, &r, 0, 8192, 0, -1, 0, 0);
  assert_int_equal(*state(8195), 0x0f);
}
/* 0 and anything is 0, 1 or anything is 1; what is undefined decides nothing, whatever it holds. With repeats and by count. */
static void poison_decided(void) {
  acsim_repeat r = first(128, 1);
  for (int by_count = 0; by_count < 2; by_count++) {
    *(uint8_t *)data(3) = 0, *state(3) = 0x0f;
    *(uint8_t *)data(2048 + 3) = 0xcc, *state(2048 + 3) = 0xff;
    vec(ACSIM_OP_And, ACSIM_U16, ACSIM_U16, by_count ? NULL : &r, by_count ? 128 : 0, 4096, 0, 2048, 0, 0);
    assert_int_equal(*state(4099), 0x3f);
    vec(ACSIM_OP_Or, ACSIM_U16, ACSIM_U16, by_count ? NULL : &r, by_count ? 128 : 0, 8192, 0, 2048, 0, 0);
    assert_int_equal(*state(8195), 0xcf);
  }
}
/* Transposes and Brcb move what is undefined, as copies inside UB do. */
static void poison_transposed(void) {
  acsim_repeat r = {.repeat = 2, .dst_block = 1, .dst_repeat = 8};
  *state(4 * 9) = 0;
  vec(ACSIM_OP_Brcb, ACSIM_F32, ACSIM_F32, &r, 0, 12288, 0, -1, 0, 0);
  assert_int_equal(*state(12288 + 8 * 32), 0xff);
  assert_int_equal(*state(12288 + 9 * 32), 0);
  assert_int_equal(*state(12288 + 9 * 32 + 28), 0);
  assert_int_equal(*state(12288 + 10 * 32), 0xff);
  acsim_local to = at(4096), wide[16], high[16];
  *state(2 * (16 * 3 + 5)) = 0;
  acsim_transpose16(ACSIM_U16, &to, &ub, HERE);
  assert_int_equal(*state(4096 + 2 * (16 * 5 + 3)), 0);
  assert_int_equal(*state(4096 + 2 * (16 * 3 + 5)), 0xff);
  for (uint32_t i = 0; i < 16; i++) wide[i] = at(i * 32), high[i] = at(8192 + i * 32);
  acsim_trans_5hd(high, wide, &(acsim_5hd){.type = ACSIM_U16, .repeat = 1}, HERE);
  assert_int_equal(*state(8192 + 2 * (16 * 5 + 3)), 0);
  assert_int_equal(*state(8192 + 2 * (16 * 3 + 5)), 0xff);
}
static void merge_poison(void) {
  acsim_local lists[4] = {at(0), at(64), ub, ub}, dst = at(4096);
  const acsim_local *src[4] = {&lists[0], &lists[1], &lists[2], &lists[3]};
  acsim_merge m = {.type = ACSIM_F32, .valid = 3, .repeat = 1, .length = {8, 8, 0, 0}};
  *state(64 + 4) = 0;
  acsim_merge_sort(&dst, src, &m, HERE);
}

/* ---- refusals ---- */

static void repeats_overlap(void) { /* the second repeat reads what the first wrote */
  acsim_repeat r = first(64, 2);
  vec(ACSIM_OP_Adds, ACSIM_F32, ACSIM_F32, &r, 0, 256, 0, -1, 0, 1);
}
static void repeat_partly(void) {
  acsim_repeat r = first(64, 1);
  vec(ACSIM_OP_Adds, ACSIM_F32, ACSIM_F32, &r, 0, 32, 0, -1, 0, 1);
}
static void sum_in_src0(void) {
  acsim_repeat r = first(64, 3);
  r.dst_repeat = r.a_repeat = 0;
  vec(ACSIM_OP_Add, ACSIM_F32, ACSIM_F32, &r, 0, 0, 0, 4096, 0, 0);
}
static void sum_in_src1(void) { /* the one place where it works (docs/zh, general constraints) */
  acsim_repeat r = first(64, 3);
  r.dst_repeat = r.b_repeat = 0;
  vec(ACSIM_OP_Add, ACSIM_F32, ACSIM_F32, &r, 0, 0, 4096, 0, 0, 0);
}
static void gather_in_place(void) {
  memset(data(8192), 0, 256);
  vec(ACSIM_OP_Gather, ACSIM_F32, ACSIM_F32, NULL, 64, 0, 0, 8192, 0, 0);
}
static void brcb_in_place(void) {
  acsim_repeat r = first(64, 1);
  vec(ACSIM_OP_Brcb, ACSIM_F32, ACSIM_F32, &r, 0, 0, 0, -1, 0, 0);
}
static void copy_in_place(void) {
  acsim_local dst = at(32);
  acsim_copy c = {.form = ACSIM_COPY_COUNT, .type = ACSIM_F32, .blocks = 1, .bytes = 256};
  acsim_copy_local(&dst, &ub, &c, HERE);
}
static void half_mask_too_long(void) {
  acsim_repeat r = first(129, 1);
  vec(ACSIM_OP_Adds, ACSIM_F16, ACSIM_F16, &r, 0, 4096, 0, -1, 0, 1);
}
static void dst_stride_0(void) {
  acsim_repeat r = first(64, 1);
  r.dst_block = 0;
  vec(ACSIM_OP_Adds, ACSIM_F32, ACSIM_F32, &r, 0, 4096, 0, -1, 0, 1);
}
static void axpy_narrows(void) {
  vec(ACSIM_OP_Axpy, ACSIM_F32, ACSIM_F16, NULL, 64, 4096, 0, -1, 0, 1);
}
static void index_work(void) { /* ReduceMax with index needs room for the later rounds as well */
  vec(ACSIM_OP_ReduceMax, ACSIM_F32, ACSIM_F32, NULL, 1024, 4096, 0, UB - 128, 1, 0);
}
static void global_address(void) {
  acsim_global g = {input + 2, input, GM};
  acsim_copy c = {.form = ACSIM_COPY_COUNT, .type = ACSIM_F32, .blocks = 1, .bytes = 256};
  acsim_copy_in(&ub, &g, &c, HERE);
}
static void transpose_memory(void) {
  int64_t nchw[4] = {1, 4, 4, 8};
  acsim_local dst = at(2048), tmp = at(UB - 2048);
  acsim_transpose_shape(11, ACSIM_F32, &dst, &ub, &tmp, nchw, HERE); /* (4 + 2) * 16 * 32 bytes */
}
static void merge_apart(void) { /* repeats need lists one behind another */
  acsim_local lists[4] = {at(0), at(64), at(128), at(256)}, dst = at(4096);
  const acsim_local *src[4] = {&lists[0], &lists[1], &lists[2], &lists[3]};
  acsim_merge m = {.type = ACSIM_F32, .valid = 15, .repeat = 2, .length = {8, 8, 8, 8}};
  acsim_merge_sort(&dst, src, &m, HERE);
}
static void half_block_misaligned(void) {
  acsim_local list[32];
  for (uint32_t i = 0; i < 32; i++) list[i] = at(i * 32 + (i == 3 ? 16 : 0));
  acsim_5hd c = {.type = ACSIM_I8, .dst_high = 1, .src_high = 1, .repeat = 1};
  acsim_trans_5hd(list, list + 16, &c, HERE);
}
static void select_misaligned(void) {
  acsim_repeat r = first(64, 1);
  acsim_local dst = at(4100), a = at(0), m = at(8192);
  acsim_vector v = {.op = ACSIM_OP_Select,
                    .type = ACSIM_F32,
                    .dst_type = ACSIM_F32,
                    .mode = 1,
                    .dst = &dst,
                    .a = &a,
                    .c = &m,
                    .repeat = &r};
  acsim_vec(&v, HERE);
}

/* CastDeq of int16: a repeat is read before it is written, in either half of the blocks. mode: 1 words from memory, 2 the upper halves. */
static void cast_deq_in_place(void) {
  int16_t x[128];
  for (int i = 0; i < 128; i++) x[i] = (int16_t)(i - 64);
  acsim_repeat r = first(128, 1);
  for (int upper = 0; upper < 2; upper++) {
    memcpy(data(0), x, sizeof x);
    acsim_set_deq_word(1, 3, 1);
    vec(ACSIM_OP_CastDeq, ACSIM_I16, ACSIM_I8, &r, 0, 0, 0, -1, upper ? 2 : 0, 0);
    for (int i = 0; i < 128; i++)
      assert_int_equal(((int8_t *)data(0))[i / 16 * 32 + i % 16 + 16 * upper], i - 64 + 3);
  }
}
static void cast_deq_stride_0(void) { /* 16 results are a block */
  acsim_repeat r = first(32, 1);
  r.dst_block = 0;
  acsim_set_deq_word(1, 0, 1);
  vec(ACSIM_OP_CastDeq, ACSIM_I16, ACSIM_I8, &r, 0, 1024, 0, -1, 0, 0);
}
static void cast_deq_on_words(void) {
  acsim_local words = at(1024);
  acsim_set_deq_vector(&words, (float[16]){1}, (int16_t[16]){0}, (uint8_t[16]){0}, HERE);
  vec(ACSIM_OP_CastDeq, ACSIM_I16, ACSIM_U8, NULL, 128, 1024, 0, -1, 1, 0);
}
static void int4_in_place(void) { /* the second repeat's source is gone */
  vec(ACSIM_OP_Cast, ACSIM_I4, ACSIM_F16, NULL, 256, 0, 0, -1, 0, 0);
}
static void int4_narrows_in_place(void) {
  uint16_t one = 0x3c00, minus = 0xc000; /* 1, -2 */
  for (int i = 0; i < 256; i++) memcpy(data((uint32_t)i * 2), i % 2 ? &minus : &one, 2);
  vec(ACSIM_OP_Cast, ACSIM_F16, ACSIM_I4, NULL, 256, 0, 0, -1, 1, 0);
  for (int i = 0; i < 128; i++) assert_int_equal(((uint8_t *)data(0))[i], 0xe1);
}
/* AddDeqRelu in place of its sources: a repeat is read before it is written; and no -0 */
static void add_deq_relu_in_place(void) {
  int32_t x[128];
  for (int i = 0; i < 128; i++) x[i] = 64 - i;
  memcpy(data(0), x, sizeof x);
  acsim_set_deq_scale(0xbc00); /* -1 */
  vec(ACSIM_OP_AddDeqRelu, ACSIM_I32, ACSIM_F16, NULL, 128, 0, 0, 0, 0, 0);
  for (int i = 0; i < 128; i++)
    assert_true(ac_f16_to_f32(((uint16_t *)data(0))[i]) == (float)(i > 64 ? 2 * (i - 64) : 0));
  assert_int_equal(((uint16_t *)data(0))[64], 0);
}

static const struct {
  const char *name;
  rule_fn fn;
  const char *kind;
} rules[] = {
#define GOOD(fn) \
  { #fn, fn, NULL }
    GOOD(shifts),
    GOOD(leaky_zero),
    GOOD(relu_of_int16),
    GOOD(copy_counter),
    GOOD(gather_mask_mode),
    GOOD(counter_undefined_tail),
    {"counter_undefined_all", counter_undefined_all, "read-poison"},
    GOOD(counter_reduce),
    GOOD(counter_accumulate),
    GOOD(counter_compare),
    GOOD(kept_barriers),
    GOOD(gatherb_stride),
    GOOD(compare_blocks_apart),
    GOOD(compare_in_place),
    GOOD(saturating_cast),
    GOOD(nz_to_nd_float),
    GOOD(reduce_registers),
    GOOD(poison_in_a_gap),
    GOOD(poison_passes),
    GOOD(poison_decided),
    GOOD(poison_transposed),
    GOOD(sum_in_src1),
    GOOD(cast_deq_in_place),
    {"cast_deq_stride_0", cast_deq_stride_0, "field-limit"},
    {"cast_deq_on_words", cast_deq_on_words, "overlap"},
    {"int4_in_place", int4_in_place, "overlap"},
    GOOD(int4_narrows_in_place),
    GOOD(add_deq_relu_in_place),
    {"shift_too_far", shift_too_far, "field-limit"},
    {"gather_mask_pattern", gather_mask_pattern, "field-limit"},
    {"gatherb_float", gatherb_float, "no-such-dtype"},
    GOOD(poison_behind_gaps),
    {"merge_poison", merge_poison, "read-poison"},
    {"repeats_overlap", repeats_overlap, "overlap"},
    {"repeat_partly", repeat_partly, "overlap"},
    {"sum_in_src0", sum_in_src0, "overlap"},
    {"gather_in_place", gather_in_place, "overlap"},
    {"brcb_in_place", brcb_in_place, "overlap"},
    {"copy_in_place", copy_in_place, "overlap"},
    GOOD(half_mask_too_long),
    {"dst_stride_0", dst_stride_0, "field-limit"},
    {"axpy_narrows", axpy_narrows, "no-such-dtype"},
    {"index_work", index_work, "ub-out-of-bounds"},
    {"global_address", global_address, "misaligned"},
    {"transpose_memory", transpose_memory, "ub-out-of-bounds"},
    {"merge_apart", merge_apart, "field-limit"},
    {"half_block_misaligned", half_block_misaligned, "misaligned"},
    {"select_misaligned", select_misaligned, "misaligned"},
};
static void every_rule(void **unused) {
  (void)unused;
  for (size_t i = 0; i < AC_COUNT(rules); i++) {
    print_message("%s\n", rules[i].name);
    run(rules[i].fn, rules[i].kind);
  }
}

int main(void) {
  arena = ac_arena_new();
  ac_diags d;
  ac_diags_init(&d, arena);
  chip = ac_chip_load(arena, "ascend910b2", &d);
  if (!chip) return 1;
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_rule)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

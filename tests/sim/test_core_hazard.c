/* The happens-before engine against a plain one: random programs of copies, vector and scalar instructions, flags and barriers;
 * the plain one keeps every access of every byte and, for each instruction, the set of those that have surely finished. The first
 * unordered access must be the same in both. (After it the engine goes on as if it were ordered: later ones may differ.) */
#include "sim/core_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { BYTES = 512, STEPS = 60, FIRST_LINE = 1000, PROGRAMS = 4000 };
static const struct {
  int event;
  ac_pipe from, to;
} events[] = {{4, AC_PIPE_MTE2, AC_PIPE_V},  {5, AC_PIPE_V, AC_PIPE_MTE2},     {6, AC_PIPE_MTE3, AC_PIPE_V},
              {7, AC_PIPE_V, AC_PIPE_MTE3},  {19, AC_PIPE_MTE3, AC_PIPE_MTE2}, {20, AC_PIPE_MTE2, AC_PIPE_MTE3},
              {21, AC_PIPE_S, AC_PIPE_V},    {22, AC_PIPE_V, AC_PIPE_S},       {23, AC_PIPE_S, AC_PIPE_MTE2},
              {24, AC_PIPE_MTE2, AC_PIPE_S}, {25, AC_PIPE_S, AC_PIPE_MTE3},    {26, AC_PIPE_MTE3, AC_PIPE_S}};

/* ---- programs ---- */

typedef enum {
  DO_COPY_IN,
  DO_COPY_OUT,
  DO_FILL,
  DO_ADD,
  DO_GET,
  DO_SET,
  DO_FLAG_SET,
  DO_FLAG_WAIT,
  DO_BARRIER
} action;
typedef struct {
  action what;
  int to, from, bytes; /* of the buffer */
  int event, pipe;
} instr;
typedef struct {
  instr i[STEPS];
  int n;
  bool strict;
} program;

static uint64_t seed;
static int pick(int n) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (int)((seed >> 33) % (uint64_t)n);
}

/* Flags are set and waited for in pairs; sets whose wait is still to come are in `open`. */
static program make_program(void) {
  program p = {.strict = pick(2) != 0};
  bool open[AC_COUNT(events)] = {false};
  while (p.n < STEPS) {
    instr *i = &p.i[p.n];
    *i = (instr){.bytes = 32 * (1 + pick(4)), .to = 32 * pick(12), .from = 32 * pick(12)};
    int r = pick(10);
    if (r < 5) {
      i->what = (action)(p.strict ? pick(6) : pick(4)); /* the compiler's own flags would blur the comparison */
      if (i->what == DO_ADD && i->from != i->to && abs(i->from - i->to) < i->bytes) i->from = i->to;
    } else if (r < 9) {
      int e = pick(p.strict ? (int)AC_COUNT(events) : 6);
      i->what = open[e] ? DO_FLAG_WAIT : DO_FLAG_SET;
      i->event = e;
      open[e] = !open[e];
    } else {
      static const int pipes[] = {1, 4, 5, 6}; /* V, MTE2, MTE3, ALL */
      i->what = DO_BARRIER;
      i->pipe = pipes[pick(pick(4) ? 3 : 4)];
    }
    p.n++;
  }
  return p;
}

/* ---- the plain engine ---- */

typedef struct {
  bool done[STEPS]; /* surely finished */
} knowledge;
typedef struct {
  ac_pipe pipe;
  bool read[BYTES / 4], write[BYTES / 4];
} footprint;

static void learn(knowledge *k, const knowledge *from) {
  for (int i = 0; i < STEPS; i++) k->done[i] = k->done[i] || from->done[i];
}
static void mark(bool *words, int at, int bytes) {
  for (int k = at / 4; k < (at + bytes) / 4; k++) words[k] = true;
}
static footprint touches(const instr *i) {
  footprint f = {.pipe = AC_PIPE_COUNT};
  switch (i->what) {
  case DO_COPY_IN: f.pipe = AC_PIPE_MTE2, mark(f.write, i->to, i->bytes); break;
  case DO_COPY_OUT: f.pipe = AC_PIPE_MTE3, mark(f.read, i->from, i->bytes); break;
  case DO_FILL: f.pipe = AC_PIPE_V, mark(f.write, i->to, i->bytes); break;
  case DO_ADD: f.pipe = AC_PIPE_V, mark(f.write, i->to, i->bytes), mark(f.read, i->from, i->bytes); break;
  case DO_GET: f.pipe = AC_PIPE_S, mark(f.read, i->from, 4); break;
  case DO_SET: f.pipe = AC_PIPE_S, mark(f.write, i->to, 4); break;
  default: break;
  }
  return f;
}
static bool conflict(const footprint *old, const footprint *new, bool strict) {
  bool raw = false, war = false, waw = false;
  for (int k = 0; k < BYTES / 4; k++) {
    raw = raw || (old->write[k] && new->read[k]);
    war = war || (old->read[k] && new->write[k]);
    waw = waw || (old->write[k] && new->write[k]);
  }
  if (old->pipe != new->pipe) return raw || war || waw;
  if (old->pipe == AC_PIPE_S || (old->pipe == AC_PIPE_V && !strict)) return false;
  return raw || waw;
}

/* Index of the first instruction that meets an access that may not have finished; -1: none. */
static int first_hazard(const program *p) {
  static footprint f[STEPS];
  static knowledge known[AC_PIPE_COUNT], flag[AC_COUNT(events)];
  memset(known, 0, sizeof known);
  memset(flag, 0, sizeof flag);
  for (int i = 0; i < p->n; i++) {
    const instr *in = &p->i[i];
    f[i] = touches(in);
    ac_pipe at = in->what == DO_FLAG_SET    ? events[in->event].from
                 : in->what == DO_FLAG_WAIT ? events[in->event].to
                                            : f[i].pipe;
    /* issued by the scalar unit: what that has waited for is over */
    if (at != AC_PIPE_COUNT) learn(&known[at], &known[AC_PIPE_S]);
    if (in->what == DO_FLAG_SET) {
      flag[in->event] = known[at];
      for (int j = 0; j < i; j++)
        if (f[j].pipe == at) flag[in->event].done[j] = true;
    } else if (in->what == DO_FLAG_WAIT) {
      learn(&known[at], &flag[in->event]);
    } else if (in->what == DO_BARRIER) {
      for (int q = 0; q < AC_PIPE_COUNT; q++)
        for (int j = 0; j < i; j++)
          if (in->pipe == 6 || (q == in->pipe && (int)f[j].pipe == q)) known[q].done[j] = true;
    } else {
      for (int j = 0; j < i; j++)
        if (f[j].pipe != AC_PIPE_COUNT && !known[at].done[j] && conflict(&f[j], &f[i], p->strict)) return i;
    }
  }
  return -1;
}

/* ---- the same program on the machine ---- */

typedef struct {
  const program *p;
  uint8_t *x, *y;
} job;

static void run_program(void *user) {
  const job *j = user;
  static int pipe;
  acsim_local t;
  acsim_pipe_open(&pipe, "p", 1);
  uint16_t q = acsim_tbuf_init(&pipe, ACSIM_POS_VECCALC, BYTES, "p", 2);
  acsim_tbuf_get(q, 0, 0, &t, "p", 3);
  acsim_vector all = {
      .op = ACSIM_OP_Duplicate, .type = ACSIM_F32, .dst_type = ACSIM_F32, .dst = &t, .count = BYTES / 4};
  acsim_vec(&all, "p", 4);
  acsim_pipe_barrier(6, "p", 5);
  for (int i = 0; i < j->p->n; i++) {
    const instr *in = &j->p->i[i];
    int line = FIRST_LINE + i;
    acsim_local to = t, from = t;
    to.addr += (uint32_t)in->to;
    from.addr += (uint32_t)in->from;
    acsim_copy c = {.form = ACSIM_COPY_COUNT, .type = ACSIM_F32, .blocks = 1, .bytes = in->bytes};
    acsim_global gx = {j->x, NULL, 0}, gy = {j->y + (size_t)i * BYTES, NULL, 0};
    float v = 0;
    acsim_vector add = {.op = ACSIM_OP_Adds,
                        .type = ACSIM_F32,
                        .dst_type = ACSIM_F32,
                        .dst = &to,
                        .a = &from,
                        .count = in->bytes / 4};
    if (in->what == DO_FILL) add.op = ACSIM_OP_Duplicate, add.a = NULL;
    switch (in->what) {
    case DO_COPY_IN: acsim_copy_in(&to, &gx, &c, "p", line); break;
    case DO_COPY_OUT: acsim_copy_out(&gy, &from, &c, "p", line); break;
    case DO_FILL:
    case DO_ADD: acsim_vec(&add, "p", line); break;
    case DO_GET: acsim_local_get(&from, 0, 4, &v, "p", line); break;
    case DO_SET: acsim_local_set(&to, 0, 4, &v, "p", line); break;
    case DO_FLAG_SET: acsim_flag_set(events[in->event].event, 0, "p", line); break;
    case DO_FLAG_WAIT: acsim_flag_wait(events[in->event].event, 0, "p", line); break;
    case DO_BARRIER: acsim_pipe_barrier(in->pipe, "p", line); break;
    }
  }
}

static int first_reported(acsim_session *s) {
  size_t n;
  int first = -1;
  const ac_sim_fault *f = acsim_faults(s, &n, NULL);
  for (size_t i = 0; i < n; i++) {
    if (!strcmp(f[i].kind, "flag-left-set")) continue; /* the program ended before its wait */
    if (strncmp(f[i].kind, "hazard-", 7))
      fail_msg("seed %llu: %s: %s", (unsigned long long)seed, f[i].kind, f[i].message);
    if (first < 0 || f[i].line - FIRST_LINE < first) first = f[i].line - FIRST_LINE;
  }
  return first;
}

static void random_programs(void **state) {
  (void)state;
  ac_arena *a = ac_arena_new();
  ac_diags d;
  ac_diags_init(&d, a);
  const ac_chip *chip = ac_chip_load(a, "ascend910b2", &d);
  assert_non_null(chip);
  static uint8_t x[BYTES], y[STEPS * BYTES];
  acsim_buffer b[] = {{.name = "x", .data = x, .bytes = sizeof x, .elem = 4, .kind = ACSIM_INPUT},
                      {.name = "y", .data = y, .bytes = sizeof y, .elem = 4, .kind = ACSIM_OUTPUT, .zeroed = true}};
  int with = 0, without = 0;
  seed = 20240601;
  for (int k = 0; k < PROGRAMS; k++) {
    uint64_t start = seed;
    program p = make_program();
    p.n = 4 + pick(STEPS - 4);
    int want = first_hazard(&p);
    /* what comes before the first hazard must be silent: half of the programs end there */
    if (want >= 0 && pick(2)) p.n = want, want = -1;
    acsim_session *s = acsim_open(&(acsim_config){.chip = chip,
                                                  .buffers = b,
                                                  .n_buffers = 2,
                                                  .threads = 1,
                                                  .hazards = p.strict ? AC_HAZARDS_STRICT : AC_HAZARDS_ON});
    acsim_launch(s, 1, 0, run_program, &(job){&p, x, y});
    int got = first_reported(s);
    acsim_close(s);
    if (got != want)
      fail_msg("program of seed %llu (%s): the first hazard is instruction %d, reported is %d",
               (unsigned long long)start, p.strict ? "strict" : "on", want, got);
    with += want >= 0;
    without += want < 0;
  }
  assert_true(with > PROGRAMS / 5 && without > PROGRAMS / 5);
  ac_arena_free(a);
}

/* ---- blocks: every pair of instructions of two blocks that share bytes, of which one stores ---- */

enum { BLOCKS = 3, PER_BLOCK = 5, SPACE = 4096 };
typedef struct {
  bool store;
  int at, bytes, step, times; /* `times` copies in a loop, `step` bytes apart: one source line */
} sweep;
typedef struct {
  sweep s[BLOCKS][PER_BLOCK];
  uint8_t *w;
} sweeps;

static int line_of(int block, int k) {
  return 100 * (block + 1) + k;
}

static void run_sweeps(void *user) {
  const sweeps *j = user;
  static _Thread_local char pipe;
  acsim_local t;
  int64_t b = acsim_block_index();
  acsim_pipe_open(&pipe, "p", 1);
  uint16_t q = acsim_tbuf_init(&pipe, ACSIM_POS_VECCALC, 256, "p", 2);
  acsim_tbuf_get(q, 0, 0, &t, "p", 3);
  acsim_vector all = {.op = ACSIM_OP_Duplicate, .type = ACSIM_F32, .dst_type = ACSIM_F32, .dst = &t, .count = 64};
  acsim_vec(&all, "p", 4);
  for (int k = 0; k < PER_BLOCK; k++) {
    const sweep *s = &j->s[b][k];
    acsim_copy c = {.form = ACSIM_COPY_COUNT, .type = ACSIM_F32, .blocks = 1, .bytes = s->bytes};
    for (int i = 0; i < s->times; i++) {
      acsim_global g = {j->w + s->at + (size_t)i * (size_t)s->step, NULL, 0};
      acsim_pipe_barrier(6, "p", 5);
      if (s->store)
        acsim_copy_out(&g, &t, &c, "p", line_of((int)b, k));
      else
        acsim_copy_in(&t, &g, &c, "p", line_of((int)b, k));
    }
  }
}

static bool sweeps_meet(const sweep *a, const sweep *b) {
  for (int i = 0; i < a->times; i++)
    for (int k = 0; k < b->times; k++) {
      int x = a->at + i * a->step, y = b->at + k * b->step;
      if (x < y + b->bytes && y < x + a->bytes) return true;
    }
  return false;
}

static bool reported(const ac_sim_fault *f, size_t n, int line, int other) {
  ac_arena *a = ac_arena_new();
  const char *text = ac_sprintf(a, " at p:%d,", other);
  bool found = false;
  for (size_t i = 0; i < n && !found; i++) found = f[i].line == line && strstr(f[i].message, text);
  ac_arena_free(a);
  return found;
}

static void check_sweeps(const sweeps *j, const ac_sim_fault *f, size_t n) {
  size_t want = 0;
  for (int a = 0; a < BLOCKS * PER_BLOCK; a++)
    for (int b = 0; b < a; b++) { /* b is of an earlier block */
      int ba = a / PER_BLOCK, bb = b / PER_BLOCK, ka = a % PER_BLOCK, kb = b % PER_BLOCK;
      const sweep *x = &j->s[ba][ka], *y = &j->s[bb][kb];
      if (ba == bb || (!x->store && !y->store) || !sweeps_meet(x, y)) continue;
      bool late_is_x = x->store == y->store || !x->store; /* the reader, else the later block */
      int late = late_is_x ? line_of(ba, ka) : line_of(bb, kb), early = late_is_x ? line_of(bb, kb) : line_of(ba, ka);
      if (!reported(f, n, late, early)) fail_msg("lines %d and %d meet, and are not reported", late, early);
      want++;
    }
  assert_int_equal(n, want);
}

static void random_blocks(void **state) {
  (void)state;
  ac_arena *a = ac_arena_new();
  ac_diags d;
  ac_diags_init(&d, a);
  const ac_chip *chip = ac_chip_load(a, "ascend910b2", &d);
  assert_non_null(chip);
  static uint8_t w[SPACE];
  size_t all = 0, silent = 0;
  seed = 77;
  for (int round = 0; round < 400; round++) {
    sweeps j = {.w = w};
    int strides[] = {32 * (1 + pick(8)), 32 * (1 + pick(8))};
    for (int b = 0; b < BLOCKS; b++)
      for (int k = 0; k < PER_BLOCK; k++) {
        sweep *s = &j.s[b][k];
        *s = (sweep){
            .store = pick(3) == 0, .bytes = 32 * (1 + pick(2)), .step = strides[pick(2)], .times = 1 + pick(6)};
        s->at = 32 * pick((SPACE - s->times * s->step - s->bytes) / 32);
      }
    acsim_buffer buf = {.name = "w", .data = w, .bytes = SPACE, .elem = 1, .kind = ACSIM_WORKSPACE, .zeroed = true};
    acsim_session *s =
        acsim_open(&(acsim_config){.chip = chip, .buffers = &buf, .n_buffers = 1, .threads = 1 + round % 3});
    acsim_launch(s, BLOCKS, 0, run_sweeps, &j);
    size_t n;
    const ac_sim_fault *f = acsim_faults(s, &n, NULL);
    check_sweeps(&j, f, n);
    all += n;
    silent += n == 0;
    acsim_close(s);
  }
  assert_true(all > 400 && silent > 5);
  ac_arena_free(a);
}

int main(void) {
  const struct CMUnitTest t[] = {cmocka_unit_test(random_programs), cmocka_unit_test(random_blocks)};
  return cmocka_run_group_tests(t, NULL, NULL);
}

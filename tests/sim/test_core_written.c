/* Which elements of an output count as written, and as written more than once: byte by byte, whatever pieces the stores come in. */
#include "sim/core_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define HERE __FILE__, __LINE__
enum { BYTES = 1600 };
static ac_arena *arena;
static const ac_chip *chip;

/* `blocks` rows of `bytes` bytes at byte `at` of the output, `gap` bytes apart. */
typedef struct {
  int at, bytes, blocks, gap;
  enum { STORE, FILL, ATOMIC, LOAD } what;
} piece;
typedef struct {
  uint8_t y[BYTES];
  const piece *pieces;
  int n;
} job;

static void run_piece(const job *j, const piece *p, const acsim_local *t) {
  acsim_global g = {(uint8_t *)(uintptr_t)(j->y + p->at), (uint8_t *)(uintptr_t)j->y, BYTES};
  acsim_copy c = {.form = ACSIM_COPY_PAD,
                  .type = ACSIM_U8,
                  .blocks = p->blocks,
                  .bytes = p->bytes,
                  .src_gap = 0,
                  .dst_gap = p->gap};
  if (p->what == FILL) {
    acsim_fill_gm(&g, ACSIM_U8, "\1", p->bytes, "Fill", HERE);
  } else if (p->what == LOAD) {
    c.src_gap = p->gap, c.dst_gap = 0;
    acsim_copy_in(t, &g, &c, HERE);
  } else {
    c.type = p->what == ATOMIC ? ACSIM_I8 : ACSIM_U8;
    if (p->what == ATOMIC) acsim_atomic(ACSIM_ATOMIC_ADD, ACSIM_I8, HERE);
    acsim_copy_out(&g, t, &c, HERE);
    if (p->what == ATOMIC) acsim_atomic(ACSIM_ATOMIC_NONE, -1, HERE);
  }
  acsim_pipe_barrier(6, HERE);
}
/* Block b runs the pieces b, b + blocks ... */
static void block(void *user) {
  job *j = user;
  char pipe;
  acsim_pipe_open(&pipe, HERE);
  uint16_t q = acsim_tbuf_init(&pipe, ACSIM_POS_VECCALC, 64 << 10, HERE);
  acsim_local t;
  acsim_tbuf_get(q, 0, 64 << 10, &t, HERE);
  acsim_block *b = acsim_here("the test");
  memset(acsim_data(b, &t, 0), 1, 64 << 10);
  memset(acsim_state(b, &t, 0), 0xff, 64 << 10);
  for (int i = (int)acsim_block_index(); i < j->n; i += (int)b->s->block_dim) run_piece(j, &j->pieces[i], &t);
  acsim_pipe_close(&pipe);
}
static acsim_session *run(job *j, int elem, int blocks, bool whole) {
  memset(j->y, ACSIM_POISON, BYTES);
  acsim_buffer b = {.name = "y", .data = j->y, .bytes = BYTES, .elem = elem, .kind = ACSIM_OUTPUT, .poisoned = whole};
  acsim_session *s = acsim_open(
      &(acsim_config){.chip = chip, .buffers = &b, .n_buffers = 1, .threads = blocks, .hazards = AC_HAZARDS_OFF});
  acsim_launch(s, blocks, 0, block, j);
  acsim_finish(s);
  return s;
}
static const char *message(acsim_session *s, const char *kind) {
  size_t n;
  const ac_sim_fault *f = acsim_faults(s, &n, NULL);
  for (size_t i = 0; i < n; i++)
    if (!strcmp(f[i].kind, kind)) return f[i].message;
  f = acsim_warnings(s, &n);
  for (size_t i = 0; i < n; i++)
    if (!strcmp(f[i].kind, kind)) return f[i].message;
  return NULL;
}

static const struct {
  const char *what;
  int elem;
  piece pieces[4];
  const char *never, *twice; /* NULL: none */
} cases[] = {
    {"every second byte",
     4,
     {{0, 1, BYTES / 2, 1, STORE}},
     "elements 0..399 of y are never written (400 of 400). 400 of them are written in part: of the 4 bytes of "
     "element "
     "0, 0 2",
     NULL},
    {"the other bytes, too", 4, {{0, 1, BYTES / 2, 1, STORE}, {1, 1, BYTES / 2, 1, STORE}}, NULL, NULL},
    {"high halves",
     4,
     {{2, 2, BYTES / 4, 2, STORE}},
     "400 of them are written in part: of the 4 bytes of element 0, 2 3",
     NULL},
    {"low halves, then high halves", 4, {{0, 2, BYTES / 4, 2, STORE}, {2, 2, BYTES / 4, 2, STORE}}, NULL, NULL},
    {"high halves of half", 2, {{1, 1, BYTES / 2, 1, STORE}}, "elements 0..799 of y", NULL},
    {"low words of int64",
     8,
     {{0, 4, BYTES / 8, 4, STORE}},
     "elements 0..199 of y are never written (200 of 200). 200 of them are written in part: of the 8 bytes of "
     "element "
     "0, 0 1 2 3",
     NULL},
    {"all words of int64", 8, {{0, 4, BYTES / 8, 4, STORE}, {4, 4, BYTES / 8, 4, STORE}}, NULL, NULL},
    {"stores that meet in an element", 8, {{0, 801, 1, 0, STORE}, {801, 799, 1, 0, STORE}}, NULL, NULL},
    {"stores that miss a byte",
     8,
     {{0, 801, 1, 0, STORE}, {802, 798, 1, 0, STORE}},
     "element 100 of y is never written (1 of 200). 1 of them is written in part: of the 8 bytes of element 100, 0 2 "
     "3 4 5 6 7",
     NULL},
    {"stores that share a byte", 8, {{0, 802, 1, 0, STORE}, {801, 799, 1, 0, STORE}}, NULL, "element 100 of y"},
    {"a byte again", 4, {{0, BYTES, 1, 0, STORE}, {6, 1, 1, 0, STORE}}, NULL, "element 1 of y"},
    {"a byte, then all", 4, {{6, 1, 1, 0, STORE}, {0, BYTES, 1, 0, STORE}}, NULL, "element 1 of y"},
    {"a fill, then halves", 4, {{0, BYTES, 1, 0, FILL}, {0, 2, 400, 2, STORE}, {2, 2, 400, 2, STORE}}, NULL, NULL},
    {"a fill, then half of it twice",
     4,
     {{0, BYTES, 1, 0, FILL}, {0, 2, 400, 2, STORE}, {0, 2, 1, 0, STORE}},
     NULL,
     "element 0 of y"},
    {"fills that meet in an element",
     4,
     {{0, 402, 1, 0, FILL}, {402, 1198, 1, 0, FILL}, {0, BYTES, 1, 0, STORE}},
     NULL,
     NULL},
    {"a fill over a stored byte", 4, {{5, 1, 1, 0, STORE}, {0, BYTES, 1, 0, FILL}}, NULL, "element 1 of y"},
    {"loads of what is there", 4, {{0, 2, 400, 2, STORE}, {0, 2, 400, 2, LOAD}, {2, 2, 400, 2, STORE}}, NULL, NULL},
};

/* Do two blocks come to the same whichever is first? A store over a fill is none of a fill over a store, and a load wants what it reads. */
static bool any_order(const job *j) {
  for (int i = 0; i < j->n; i++)
    if (j->pieces[i].what == FILL || j->pieces[i].what == LOAD) return false;
  return j->n > 1;
}

static void pieces(void **state) {
  (void)state;
  for (size_t i = 0; i < AC_COUNT(cases); i++)
    for (int blocks = 1; blocks <= 2; blocks++) {
      job j = {.pieces = cases[i].pieces};
      while (j.n < 4 && cases[i].pieces[j.n].bytes) j.n++;
      if (blocks == 2 && !any_order(&j)) continue;
      acsim_session *s = run(&j, cases[i].elem, blocks, true);
      const char *never = message(s, "never-written"), *twice = message(s, "written-twice");
      if (!never != !cases[i].never || (never && !strstr(never, cases[i].never)))
        fail_msg("%s, %d blocks: %s", cases[i].what, blocks, never ? never : "never-written is missing");
      if (!twice != !cases[i].twice || (twice && !strstr(twice, cases[i].twice)))
        fail_msg("%s, %d blocks: %s", cases[i].what, blocks, twice ? twice : "written-twice is missing");
      if (message(s, "read-poison")) fail_msg("%s: %s", cases[i].what, message(s, "read-poison"));
      acsim_close(s);
    }
}

/* The bytes of an element that are not there are not read, though others are. */
static void reads(void **state) {
  (void)state;
  const piece p[] = {{0, 2, 400, 2, STORE}, {1, 2, 400, 2, LOAD}};
  job j = {.pieces = p, .n = 2};
  acsim_session *s = run(&j, 4, 1, true);
  assert_non_null(message(s, "read-poison"));
  acsim_close(s);
}

/* ---- against a model that knows every byte ---- */

static uint64_t seed;
static int below(int n) {
  seed = seed * 6364136223846793005ull + 1442695040888963407ull;
  return (int)((seed >> 33) % (uint64_t)n);
}
typedef struct {
  bool there, stored, filled;
} byte_state;
static bool model(const piece *p, byte_state *y, int elem, bool *twice) {
  bool poison = false;
  for (int b = 0; b < p->blocks; b++)
    for (int k = 0; k < p->bytes; k++) {
      int i = p->at + b * (p->bytes + p->gap) + k;
      byte_state *s = &y[i];
      if (p->what == LOAD || p->what == ATOMIC) poison |= !s->there;
      if (p->what == LOAD) continue;
      if (p->what != ATOMIC && (s->stored || (p->what == FILL && s->filled))) twice[i / elem] = true;
      s->there = true;
      if (p->what == STORE || (p->what == ATOMIC && !s->filled)) s->stored = true, s->filled = false;
      if (p->what == FILL && !s->stored) s->filled = true;
    }
  return poison;
}
static piece any_piece(int elem) {
  piece p = {.what = below(10) < 7 ? STORE : (int)(below(3) + FILL), .blocks = 1};
  bool aligned = below(2);
  p.at = below(BYTES);
  p.bytes = 1 + below(below(2) ? 12 : BYTES);
  if (aligned) p.at -= p.at % elem, p.bytes += elem - p.bytes % elem;
  if (p.at + p.bytes > BYTES) p.bytes = BYTES - p.at;
  if (p.what == FILL) return p;
  p.gap = below(12);
  int most = (BYTES - p.at + p.gap) / (p.bytes + p.gap);
  p.blocks = 1 + below(most < 40 ? most : 40);
  return p;
}
static int count(const char *text) { /* "(n of m)" */
  const char *p = text ? strrchr(text, '(') : NULL;
  return p ? atoi(p + 1) : 0;
}
static void random_pieces(void **state) {
  (void)state;
  for (int round = 0; round < 1500; round++) {
    seed = (uint64_t)round + 1;
    int elem = 1 << below(4), n = 1 + below(12);
    piece p[12];
    byte_state y[BYTES] = {0};
    bool twice[BYTES] = {false}, poison = false;
    for (int i = 0; i < n; i++) {
      p[i] = any_piece(elem);
      poison |= model(&p[i], y, elem, twice);
    }
    int never = 0, again = 0;
    for (int i = 0; i < BYTES / elem; i++) {
      bool all = true;
      for (int k = 0; k < elem; k++) all = all && y[i * elem + k].there;
      never += !all;
      again += twice[i];
    }
    job j = {.pieces = p, .n = n};
    acsim_session *s = run(&j, elem, 1, true);
    const char *m = message(s, "never-written"), *t = message(s, "written-twice");
    if (count(m) != never || count(t) != again || !message(s, "read-poison") != !poison)
      fail_msg("round %d: %d never written, %d twice, poison %d; the simulator: %s, %s, %s", round, never, again,
               poison, m ? m : "-", t ? t : "-", message(s, "read-poison"));
    acsim_close(s);
  }
}

static int setup(void **state) {
  (void)state;
  arena = ac_arena_new();
  ac_diags d;
  ac_diags_init(&d, arena);
  chip = ac_chip_load(arena, "ascend910b2", &d);
  return chip ? 0 : -1;
}
static int teardown(void **state) {
  (void)state;
  ac_arena_free(arena);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pieces), cmocka_unit_test(reads),
                                     cmocka_unit_test(random_pieces)};
  return cmocka_run_group_tests(tests, setup, teardown);
}

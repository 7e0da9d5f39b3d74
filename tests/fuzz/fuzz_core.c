/* The only file that knows the simulator: a session of one block, whose UB and global memory are given the model's content; then
 * one call after another, on the simulator and on the model, and a comparison after each. */
#include "fuzz.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../../sim/include/acsim/kernel_abi_basic.h"
#include "isa/isa.h"
#include "sim/core_internal.h"

static acsim_local view_of(const acsim_local *bufs, fz_view v) {
  acsim_local t = bufs[v.buf];
  t.addr = (uint32_t)((int64_t)t.addr + v.off);
  t.len = v.off < t.size ? (uint32_t)(t.size - v.off) : 0;
  return t;
}

typedef struct {
  acsim_session *s;
  fz_machine *m;
  const acsim_local *bufs;
  uint8_t *gm, *in;
  int line;
} core;

uint64_t fz_headers_calls; /* calls */
/* What SetCmpMask is given for modes 1 and 2: the scalar, or the low half of the mask's address. */
static void put_cmpmask(const fz_case *c, const acsim_local *mask) {
  acsim_block *b = acsim_here("the set-up");
  uint32_t low = (uint32_t)(uintptr_t)acsim_data(b, mask, 0);
  memset(b->cmp_state, 0xff, sizeof b->cmp_state);
  if (c->mode == 2) memcpy(b->cmp_mask, &low, 4);
  if (c->mode == 1) fz_put(c->type, b->cmp_mask, c->f, FZ_RINT, false);
}
static void call_vector(core *k, const fz_case *c) {
  acsim_local dst, a, b, m;
  acsim_vector v = {.op = (uint8_t)c->op,
                    .type = (uint8_t)c->type,
                    .dst_type = (uint8_t)c->dst_type,
                    .mode = (uint8_t)c->mode,
                    .f = c->f,
                    .i = c->i,
                    .count = c->count};
  if (c->dst.buf >= 0) dst = view_of(k->bufs, c->dst), v.dst = &dst;
  if (c->a.buf >= 0) a = view_of(k->bufs, c->a), v.a = &a;
  if (c->b.buf >= 0) b = view_of(k->bufs, c->b), v.b = &b;
  if (c->c.buf >= 0) m = view_of(k->bufs, c->c), v.c = &m;
  if (c->repeated) v.repeat = &c->r;
  v.by_register = c->by_register || (c->by_cmpmask && c->mode == 1);
  if (c->by_cmpmask) {
    put_cmpmask(c, &m);
    if (c->mode == 2) v.c = NULL;
  }
  if (c->headers && fz_through_headers(c, v.dst, v.a, v.b, v.c, k->line))
    __atomic_add_fetch(&fz_headers_calls, 1, __ATOMIC_RELAXED);
  else
    acsim_vec(&v, "case", k->line);
  if (c->by_cmpmask) memset(acsim_here("the set-up")->cmp_state, 0, 16); /* addresses are not the model's affair */
}

static void call_move(core *k, const fz_case *c) {
  acsim_local dst, a, b, t, list[32];
  if (c->dst.buf >= 0) dst = view_of(k->bufs, c->dst);
  if (c->a.buf >= 0) a = view_of(k->bufs, c->a);
  if (c->b.buf >= 0) b = view_of(k->bufs, c->b);
  if (c->c.buf >= 0) t = view_of(k->bufs, c->c);
  for (int i = 0; i < 32; i++)
    if (c->list[i].buf >= 0) list[i] = view_of(k->bufs, c->list[i]);
  const acsim_local *lists[4] = {&list[0], &list[1], &list[2], &list[3]};
  switch (c->kind) {
  case FZ_TRANSPOSE: acsim_transpose16(c->type, &dst, &a, "case", k->line); break;
  case FZ_TRANSPOSE_SHAPE: acsim_transpose_shape(c->mode, c->type, &dst, &a, &t, c->shape, "case", k->line); break;
  case FZ_5HD: acsim_trans_5hd(list, list + 16, &c->hd, "case", k->line); break;
  case FZ_SORT:
    acsim_sort(c->sort_op, c->type, &dst, c->sort_op == ACSIM_EXTRACT ? &b : NULL, &a,
               c->sort_op == ACSIM_SORT32 ? &b : NULL, c->sort_repeat, 0, "case", k->line);
    break;
  case FZ_MERGE: acsim_merge_sort(&dst, lists, &c->merge, "case", k->line); break;
  case FZ_CMPMASK_GET: acsim_cmp_mask_get(&dst, "case", k->line); break;
  default: acsim_cmp_mask_set(&a, "case", k->line); break;
  }
}

static void call_copy(core *k, const fz_case *c) {
  uint8_t *base = c->mode ? k->in : k->gm;
  acsim_global g = {base + c->gm_off, base, FZ_GM};
  acsim_local dst, a;
  if (c->dst.buf >= 0) dst = view_of(k->bufs, c->dst);
  if (c->a.buf >= 0) a = view_of(k->bufs, c->a);
  if (c->pad_value) acsim_set_pad_value(c->pad_bits);
  if (c->atomic) acsim_atomic(c->atomic, c->atomic_type, __FILE__, __LINE__);
  bool copies = c->kind == FZ_COPY_IN || c->kind == FZ_COPY_OUT || c->kind == FZ_COPY_LOCAL ||
                c->kind == FZ_SLICE_IN || c->kind == FZ_SLICE_OUT;
  if (c->headers && copies &&
      fz_copy_through_headers(c, c->dst.buf >= 0 ? &dst : NULL, c->a.buf >= 0 ? &a : NULL, &g, k->line)) {
    __atomic_add_fetch(&fz_headers_calls, 1, __ATOMIC_RELAXED);
    if (c->atomic) acsim_atomic(ACSIM_ATOMIC_NONE, -1, __FILE__, __LINE__);
    return;
  }
  switch (c->kind) {
  case FZ_COPY_IN: acsim_copy_in(&dst, &g, &c->copy, "case", k->line); break;
  case FZ_COPY_OUT: acsim_copy_out(&g, &a, &c->copy, "case", k->line); break;
  case FZ_COPY_LOCAL: acsim_copy_local(&dst, &a, &c->copy, "case", k->line); break;
  case FZ_SLICE_IN: acsim_copy_slices(&dst, &g, true, c->type, c->to, c->from, c->dims, "case", k->line); break;
  case FZ_SLICE_OUT: acsim_copy_slices(&a, &g, false, c->type, c->to, c->from, c->dims, "case", k->line); break;
  case FZ_ND2NZ: acsim_copy_nd_to_nz(&dst, &g, NULL, &c->nz, "case", k->line); break;
  default: acsim_copy_nz_to_nd(&g, &a, &c->nz, "case", k->line); break;
  }
  if (c->atomic) acsim_atomic(ACSIM_ATOMIC_NONE, -1, __FILE__, __LINE__);
}

static void call(core *k, const fz_case *c) {
  if (c->deq == FZ_DEQ_HALF) acsim_set_deq_scale(c->deq_bits);
  if (c->deq == FZ_DEQ_WORD) acsim_set_deq_word(c->deq_scale[0], c->deq_offset[0], c->deq_sign[0]);
  if (c->deq == FZ_DEQ_VECTOR) {
    acsim_local words = view_of(k->bufs, c->deq_view);
    acsim_set_deq_vector(&words, c->deq_scale, c->deq_offset, c->deq_sign, "case", k->line);
  }
  acsim_mask_counter(c->counter, "case", k->line);
  acsim_mask_set(c->reg[1], c->reg[0], ACSIM_MASK_AS_MODE, "case", k->line);
  switch (c->kind) {
  case FZ_VEC: call_vector(k, c); break;
  case FZ_COPY_IN:
  case FZ_COPY_OUT:
  case FZ_COPY_LOCAL:
  case FZ_SLICE_IN:
  case FZ_SLICE_OUT:
  case FZ_ND2NZ:
  case FZ_NZ2ND: call_copy(k, c); break;
  default: call_move(k, c); break;
  }
}

/* ---- comparison ---- */

/* Distance in units of the last place: numbers of one format in the order of their bits. */
static int64_t ordered(int type, const uint8_t *p) {
  int bits = 8 * fz_bytes[type];
  uint64_t u = 0;
  memcpy(&u, p, (size_t)fz_bytes[type]);
  uint64_t top = 1ull << (bits - 1);
  return u & top ? -(int64_t)(u & (top - 1)) : (int64_t)u;
}
static bool close_enough(const fz_machine *m, const uint8_t *got, const uint8_t *want) {
  double x = fz_get(m->out_type, got), y = fz_get(m->out_type, want);
  if (x != x && y != y) return m->any_nan;
  if (x != x || y != y) return false;
  if (x == 0 && y == 0) return m->any_zero || signbit(x) == signbit(y);
  int64_t d = ordered(m->out_type, got) - ordered(m->out_type, want);
  return d <= m->ulp && d >= -m->ulp;
}
/* First byte that differs; -1: none. state NULL: all of it counts. place: of a byte in its element, where
 * addresses are no multiples. What is tolerated is taken over into the model. */
static int64_t differs(const fz_machine *m, const uint8_t *got, uint8_t *want, const uint8_t *state,
                       const uint8_t *place, int64_t n) {
  if (!memcmp(got, want, (size_t)n)) return -1;
  int es = fz_bytes[m->out_type];
  for (int64_t i = 0; i < n; i++) {
    if (got[i] == want[i]) continue;
    if (state && !((got[i] ^ want[i]) & state[i])) {
      want[i] = got[i];
      continue;
    }
    int64_t at = place && place[i] ? i - place[i] + 1 : i / es * es;
    if (!fz_is_float(m->out_type) || at + es > n || !close_enough(m, got + at, want + at)) return i;
    memcpy(want + at, got + at, (size_t)es);
  }
  return -1;
}

static bool check_registers(core *k, const fz_case *c, fz_result *out) {
  acsim_block *b = acsim_here("the comparison");
  if (b->mask_counter != k->m->counter || memcmp(b->mask, k->m->mask, sizeof b->mask)) {
    snprintf(out->text, sizeof out->text, "mask register: simulator %s %016llx %016llx, model %s %016llx %016llx",
             b->mask_counter ? "counter" : "normal", (unsigned long long)b->mask[1], (unsigned long long)b->mask[0],
             k->m->counter ? "counter" : "normal", (unsigned long long)k->m->mask[1],
             (unsigned long long)k->m->mask[0]);
    return false;
  }
  if (c->kind == FZ_VEC && c->op == ACSIM_OP_GatherMask && b->gather_count != (int64_t)k->m->kept) {
    snprintf(out->text, sizeof out->text, "GatherMask counts %lld in the simulator, %llu in the model",
             (long long)b->gather_count, (unsigned long long)k->m->kept);
    return false;
  }
  if (k->m->peak_set &&
      (b->peak_index != k->m->peak_index || (b->peak_value != k->m->peak && k->m->peak == k->m->peak))) {
    snprintf(out->text, sizeof out->text, "the extreme is %g at %lld in the simulator, %g at %lld in the model",
             b->peak_value, (long long)b->peak_index, k->m->peak, (long long)k->m->peak_index);
    return false;
  }
  if (c->kind == FZ_MERGE && memcmp(b->merged, k->m->merged, sizeof b->merged)) {
    snprintf(out->text, sizeof out->text, "MrgSort took other numbers of records");
    return false;
  }
  if (memcmp(b->cmp_state, k->m->cmp_st, 16)) {
    snprintf(out->text, sizeof out->text, "which bits of CMPMASK are defined differs");
    return false;
  }
  for (int i = 0; i < 16; i++)
    if ((b->cmp_mask[i] ^ k->m->cmp[i]) & k->m->cmp_st[i]) {
      snprintf(out->text, sizeof out->text, "CMPMASK differs in byte %d", i);
      return false;
    }
  return true;
}

static acsim_local whole_ub(void) {
  return (acsim_local){.size = FZ_UB, .len = FZ_UB, .mem = ACSIM_UB};
}
static void describe(const fz_machine *m, fz_result *out, const char *what, int64_t at, uint8_t got, uint8_t want) {
  int buf = -1;
  for (int i = 0; i < FZ_BUFS; i++)
    if (at >= m->buf[i].base && at < m->buf[i].base + m->buf[i].size) buf = i;
  snprintf(out->text, sizeof out->text, "%s byte %lld (buffer %d, byte %lld): simulator %02x, model %02x", what,
           (long long)at, buf, (long long)(buf < 0 ? 0 : at - m->buf[buf].base), got, want);
}

/* After a call without a fault: is everything the same? */
static bool same(core *k, const fz_case *c, fz_result *out) {
  acsim_block *b = acsim_here("the comparison");
  acsim_local ub = whole_ub();
  const uint8_t *data = acsim_data(b, &ub, 0), *state = acsim_state(b, &ub, 0);
  fz_machine *m = k->m;
  if (memcmp(state, m->st, FZ_UB)) {
    int64_t i = 0;
    while (state[i] == m->st[i]) i++;
    describe(m, out, "written state of UB,", i, state[i], m->st[i]);
    return false;
  }
  int64_t at = differs(m, data, m->ub, m->st, NULL, FZ_UB);
  if (at >= 0) {
    describe(m, out, "UB,", at, data[at], m->ub[at]);
    return false;
  }
  at = differs(m, k->gm, m->gm, NULL, m->gm_in, FZ_GM);
  if (at >= 0) {
    describe(m, out, "global memory,", at, k->gm[at], m->gm[at]);
    return false;
  }
  if (memcmp(k->in, m->in, FZ_GM)) {
    snprintf(out->text, sizeof out->text, "the input has changed");
    return false;
  }
  return check_registers(k, c, out);
}

/* The model takes over what the simulator holds, after faults; the other way round for content. */
static void take_over(core *k, bool gm) {
  acsim_block *b = acsim_here("the comparison");
  acsim_local ub = whole_ub();
  memcpy(k->m->ub, acsim_data(b, &ub, 0), FZ_UB);
  memcpy(k->m->st, acsim_state(b, &ub, 0), FZ_UB);
  memcpy(k->m->cmp, b->cmp_mask, 16);
  memcpy(k->m->cmp_st, b->cmp_state, 16);
  k->m->kept = (uint64_t)b->gather_count;
  memcpy(k->m->merged, b->merged, 8);
  if (!gm) return;
  memcpy(k->m->gm, k->gm, FZ_GM);
  const acsim_gm *g = acsim_gm_find(k->s, k->gm);
  for (int i = 0; i < FZ_GM; i++) k->m->gm_st[i] = g->written[i / 64] >> i % 64 & 1;
}
static void give(core *k) {
  acsim_block *b = acsim_here("the comparison");
  acsim_local ub = whole_ub();
  memcpy(acsim_data(b, &ub, 0), k->m->ub, FZ_UB);
  memcpy(acsim_state(b, &ub, 0), k->m->st, FZ_UB);
}

/* ---- a launch ---- */

enum { BLOCKS = 2 }; /* at most; with two they run at the same time, and take the cases in turn */
typedef struct {
  uint8_t *gm, *in;
  fz_machine m;
  fz_result out;
} seat;
typedef struct {
  uint64_t seed;
  int n, blocks;
  pthread_mutex_t lock; /* of everything but the simulator's calls */
  fz_case_fn draw;
  void *user;
  void (*seen)(void *user, const fz_case *c, const fz_machine *m);
  acsim_session *s;
  seat seats[BLOCKS];
  fz_case *cases;
  struct {
    const char *fault[FZ_MAX_FAULTS];
    int n;
  } * wanted;
  bool *ran;
  fz_result out;
} job;

static void set_up(uint64_t seed, seat *j, core *k, acsim_local bufs[FZ_BUFS], void *pipe) {
  fz_rng r = {seed};
  fz_machine *m = &j->m;
  int64_t left = FZ_UB;
  memset(m->st, 0, sizeof m->st);
  for (int i = 0; i < FZ_BUFS; i++) {
    int64_t size = fz_one_in(&r, 4) ? fz_in(&r, 1, 16) * 32 : fz_in(&r, 1, (left - 32 * FZ_BUFS) / 64) * 32;
    if (size < 32) size = 32;
    uint16_t q = acsim_tbuf_init(pipe, ACSIM_POS_VECCALC, (uint32_t)size, "set-up", 1);
    acsim_tbuf_get(q, 0, (uint32_t)size, &bufs[i], "set-up", 1);
    m->buf[i] = (fz_buf){bufs[i].addr, size};
    memset(m->st + bufs[i].addr, 0xff, (size_t)size);
    left -= size;
  }
  for (int i = 0; i < FZ_UB; i += 8) {
    uint64_t u = fz_u64(&r);
    memcpy(m->ub + i, &u, 8);
  }
  for (int i = 0; i < FZ_GM; i += 8) {
    uint64_t u = fz_u64(&r);
    memcpy(m->in + i, &u, 8);
    u = fz_u64(&r);
    memcpy(m->gm + i, &u, 8);
  }
  /* three quarters of the workspace are written */
  uint8_t zero = 0;
  acsim_global g = {j->gm, j->gm, FZ_GM};
  acsim_fill_gm(&g, ACSIM_U8, &zero, FZ_GM / 4 * 3, "set-up", "set-up", 1);
  memset(m->gm_st, 0, FZ_GM);
  memset(m->gm_st, 1, FZ_GM / 4 * 3);
  memcpy(j->gm, m->gm, FZ_GM);
  memcpy(j->in, m->in, FZ_GM);
  m->pad_set = false;
  m->deq = FZ_DEQ_NONE;
  m->atomic = 0;
  m->kept = 0;
  memset(m->merged, 0, sizeof m->merged);
  memset(m->cmp_st, 0, 16);
  give(k);
}

static void block(void *user) {
  job *j = user;
  char pipe;
  int number = (int)acsim_here("the set-up")->index;
  seat *own = &j->seats[number];
  acsim_pipe_open(&pipe, "set-up", 1);
  acsim_local bufs[FZ_BUFS];
  core k = {j->s, &own->m, bufs, own->gm, own->in, 0};
  pthread_mutex_lock(&j->lock);
  set_up(fz_mix(j->seed, number ? 4 : 1), own, &k, bufs, &pipe);
  for (int i = number; i < j->n && own->out.difference < 0; i += j->blocks) {
    fz_case *c = &j->cases[i];
    j->draw(j->user, i, &own->m, c);
    fz_fill(&own->m, c);
    give(&k);
    k.line = i + 1;
    pthread_mutex_unlock(&j->lock);
    call(&k, c);
    pthread_mutex_lock(&j->lock);
    fz_naive(&own->m, c);
    memcpy(j->wanted[i].fault, own->m.fault, sizeof own->m.fault);
    j->wanted[i].n = own->m.n_faults;
    j->ran[i] = true;
    j->seen(j->user, c, &own->m);
    if (!own->m.n_faults && !same(&k, c, &own->out)) own->out.difference = i;
    if (own->m.n_faults) take_over(&k, c->kind == FZ_COPY_OUT || c->kind == FZ_SLICE_OUT || c->kind == FZ_NZ2ND);
  }
  pthread_mutex_unlock(&j->lock);
  acsim_pipe_close(&pipe);
}

/* The simulator reports something if the model does, and nothing that the model does not know of; but what an address out of bounds or
 * a conversion that does not exist leads to is its own affair. */
static bool may_lead_on(const char *kind) {
  return strstr(kind, "out-of-bounds") || !strcmp(kind, "no-such-cast") || !strcmp(kind, "misaligned") ||
         !strcmp(kind, "field-limit") || !strcmp(kind, "mask-mode") || !strcmp(kind, "overlap") ||
         !strcmp(kind, "write-to-input");
}
static void check_faults(job *j, const ac_sim_fault *f, size_t n) {
  for (int i = 0; i < j->n && (j->out.difference < 0 || i <= j->out.difference); i++) {
    if (!j->ran[i]) continue;
    char got[256] = "", want[256] = "";
    bool bad = false, more = false;
    int hits = 0;
    for (int w = 0; w < j->wanted[i].n; w++) more = more || may_lead_on(j->wanted[i].fault[w]);
    for (int w = 0; w < j->wanted[i].n; w++)
      snprintf(want + strlen(want), sizeof want - strlen(want), " %s", j->wanted[i].fault[w]);
    for (size_t x = 0; x < n; x++) {
      if (f[x].line != i + 1 || !f[x].file || strcmp(f[x].file, "case") != 0) continue;
      bool known = false;
      for (int w = 0; w < j->wanted[i].n; w++) known = known || !strcmp(f[x].kind, j->wanted[i].fault[w]);
      bad = bad || (!known && !more);
      hits += known || more;
      snprintf(got + strlen(got), sizeof got - strlen(got), " %s (%.120s)", f[x].kind, f[x].message);
    }
    if (!bad && !hits == !j->wanted[i].n) continue;
    j->out.difference = i;
    snprintf(j->out.text, sizeof j->out.text, "faults: simulator%s; model%s", *got ? got : " none",
             *want ? want : " none");
    return;
  }
}

fz_result fz_launch(uint64_t seed, int n, fz_case_fn draw, void *user,
                    void (*seen)(void *user, const fz_case *c, const fz_machine *m)) {
  static ac_arena *arena;
  static const ac_chip *chip;
  static job j;
  if (!arena) {
    arena = ac_arena_new();
    ac_diags d;
    ac_diags_init(&d, arena);
    chip = ac_chip_load(arena, "ascend910b2", &d);
    if (!chip) fprintf(stderr, "no chip file\n"), exit(2);
    for (int i = 0; i < BLOCKS; i++)
      if (!(j.seats[i].gm = malloc(FZ_GM)) || !(j.seats[i].in = malloc(FZ_GM))) exit(2);
    pthread_mutex_init(&j.lock, NULL);
  }
  j.cases = calloc((size_t)n, sizeof *j.cases);
  j.wanted = calloc((size_t)n, sizeof *j.wanted);
  j.ran = calloc((size_t)n, sizeof *j.ran);
  if (!j.cases || !j.wanted || !j.ran) exit(2);
  j.seed = seed, j.n = n, j.draw = draw, j.user = user, j.seen = seen;
  j.out = (fz_result){.difference = -1};
  j.blocks = n > 1 && fz_mix(seed, 3) % 3 == 0 ? BLOCKS : 1;
  acsim_buffer b[2 * BLOCKS];
  bool saturate = fz_mix(seed, 2) % 4 == 0;
  for (int i = 0; i < j.blocks; i++) {
    seat *x = &j.seats[i];
    x->m.saturate = saturate;
    x->out = (fz_result){.difference = -1};
    b[2 * i] = (acsim_buffer){.name = "input", .data = x->in, .bytes = FZ_GM, .elem = 1, .kind = ACSIM_INPUT};
    b[2 * i + 1] =
        (acsim_buffer){.name = "workspace", .data = x->gm, .bytes = FZ_GM, .elem = 1, .kind = ACSIM_WORKSPACE};
  }
  acsim_config cfg = {.chip = chip,
                      .buffers = b,
                      .n_buffers = 2 * j.blocks,
                      .threads = j.blocks,
                      .hazards = AC_HAZARDS_OFF,
                      .saturate = saturate};
  j.s = acsim_open(&cfg);
  acsim_launch(j.s, j.blocks, 0, block, &j);
  acsim_finish(j.s);
  size_t faults;
  int64_t dropped;
  const ac_sim_fault *f = acsim_faults(j.s, &faults, &dropped);
  if (dropped) fprintf(stderr, "faults were dropped: fewer cases a launch\n"), exit(2);
  for (int i = 0; i < j.blocks; i++)
    if (j.seats[i].out.difference >= 0 && (j.out.difference < 0 || j.seats[i].out.difference < j.out.difference))
      j.out = j.seats[i].out;
  check_faults(&j, f, faults);
  acsim_close(j.s);
  free(j.cases);
  free(j.wanted);
  free(j.ran);
  return j.out;
}

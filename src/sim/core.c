/* The session, the launch, the blocks on their threads; what they wait for is core_sync.c's. */
#include "sim/core_sync.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Thread_local acsim_block *acsim_self;
_Thread_local acsim_session *acsim_current; /* of the thread that opened it: several may run side by side */

/* A thread's own copy of the on-chip memories, used by one block after another. */
struct acsim_worker {
  acsim_memory mem[ACSIM_MEMS];
};

acsim_at acsim_outside;

static acsim_block *here(const char *what, acsim_at at) {
  if (acsim_self) return acsim_self;
  fprintf(stderr,
          "simulator: %s was called outside of a kernel: what AscendC has is made and used in the kernel's function "
          "and what that calls, "
          "not by variables of the file nor by host code\n",
          what);
  acsim_outside = at;
  abort();
}

acsim_block *acsim_here(const char *what) {
  return here(what, (acsim_at){0});
}

acsim_block *acsim_here_at(const char *what, acsim_at at) {
  acsim_block *b = here(what, at);
  b->seat->file = at.file;
  b->seat->line = at.line;
  return b;
}

/* ---- session ---- */

static int by_address(const void *a, const void *b) {
  const acsim_gm *x = *(acsim_gm *const *)a, *y = *(acsim_gm *const *)b;
  return x->start < y->start ? -1 : x->start > y->start;
}

void acsim_add_buffer(acsim_session *s, const acsim_buffer *b) {
  acsim_gm *g = AC_NEW(s->arena, acsim_gm);
  g->b = *b;
  if (g->b.elem < 1) g->b.elem = 1;
  g->start = b->data;
  g->end = g->start + b->bytes;
  g->elems = b->bytes / g->b.elem;
  bool tracked = b->kind == ACSIM_OUTPUT || b->kind == ACSIM_INOUT || b->kind == ACSIM_WORKSPACE;
  /* calloc, not the arena: pages that are never touched cost nothing */
  if (tracked && g->elems && !(g->written = calloc((size_t)(g->elems + 63) / 64, 8)))
    ac_no_memory("the record of writes to a tensor");
  acsim_time_buffer(s, g);
  ac_push(s->arena, &s->gms, g);
  qsort(s->gms.data, s->gms.len, sizeof *s->gms.data, by_address);
}

acsim_session *acsim_open(const acsim_config *c) {
  ac_arena *a = ac_arena_new();
  acsim_session *s = AC_NEW(a, acsim_session);
  s->arena = a;
  s->cfg = *c;
  s->chip = c->chip;
  s->faults.arena = a;
  s->schedule_mode = -1;
  pthread_mutex_init(&s->faults.lock, NULL);
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->changed, NULL);
  acsim_time_open(s);
  acsim_perturb_open(s);
  for (int i = 0; i < c->n_buffers; i++) acsim_add_buffer(s, &c->buffers[i]);
  acsim_current = s;
  return s;
}

void acsim_close(acsim_session *s) {
  if (acsim_current == s) acsim_current = NULL;
  acsim_time_close(s);
  for (size_t i = 0; i < s->gms.len; i++) {
    acsim_written_free(s->gms.data[i]);
    free(s->gms.data[i]->before);
  }
  free(s->pick);
  pthread_mutex_destroy(&s->faults.lock);
  pthread_mutex_destroy(&s->lock);
  pthread_cond_destroy(&s->changed);
  ac_arena_free(s->arena);
}

void acsim_set_tiling_key(acsim_session *s, uint64_t key) {
  s->key = key;
}
void acsim_set_schedule_mode(acsim_session *s, int mode) {
  s->schedule_mode = mode;
}
int64_t acsim_ub_peak(const acsim_session *s) {
  return s->ub_peak;
}
int64_t acsim_blocks_run(const acsim_session *s) {
  return s->blocks_run;
}
int64_t acsim_last_block_dim(const acsim_session *s) {
  return s->block_dim;
}
void acsim_work(const acsim_session *s, int64_t *vector, int64_t *copied) {
  *vector = s->vector_elements;
  *copied = s->copied_elements;
}

void acsim_finish(acsim_session *s) {
  if (s->finished) return;
  s->finished = true;
  acsim_gm_report(s);
}

/* ---- one block ---- */

static uint32_t memory_size(const ac_chip *c, int mem) {
  switch (mem) {
  case ACSIM_UB: return (uint32_t)c->ub;
  case ACSIM_L1: return (uint32_t)c->l1;
  case ACSIM_L0A: return (uint32_t)c->l0a;
  case ACSIM_L0B: return (uint32_t)c->l0b;
  case ACSIM_L0C: return (uint32_t)c->l0c;
  default: return 0;
  }
}

/* With pages around it that nobody may touch: a plain pointer that runs out of the memory ends the process, instead of the heap. */
enum { PAGE = 4096 };
static size_t page_up(size_t n) {
  return (n + PAGE - 1) / PAGE * PAGE;
}
static size_t guard_of(int mem) {
  return mem == ACSIM_UB ? ACSIM_GUARD : PAGE;
}
static uint8_t *guarded(int mem, size_t n) {
  size_t guard = guard_of(mem);
  uint8_t *p = mmap(NULL, page_up(n) + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED || mprotect(p + guard, page_up(n), PROT_READ | PROT_WRITE)) return NULL;
  return p + guard;
}
static void guarded_free(int mem, uint8_t *p, size_t n) {
  if (p) munmap(p - guard_of(mem), page_up(n) + 2 * guard_of(mem));
}

/* Memories are made when a block first asks for them; nothing in them counts as written then. */
acsim_memory *acsim_memory_of(acsim_block *b, int mem) {
  acsim_memory *m = &b->mem[mem];
  if (m->data) return m;
  acsim_memory *own = &b->worker->mem[mem];
  if (!own->data) {
    own->size = memory_size(b->s->chip, mem);
    own->data = guarded(mem, own->size);
    own->state = malloc((size_t)own->size + 64);
    if (!own->data || !own->state) ac_no_memory("the memories of a block");
    memset(own->data, 0xa5, own->size);
  }
  memset(own->state, 0, own->size);
  *m = *own;
  return m;
}

static void finish_block(acsim_session *s, acsim_block *b);

static void run_block(acsim_session *s, acsim_worker *w, int64_t rank) {
  acsim_block *b = calloc(1, sizeof *b);
  if (!b) ac_no_memory(NULL);
  b->s = s;
  b->worker = w;
  b->rank = rank;
  b->index = acsim_index_at(s, s->cfg.order == AC_ORDER_REVERSE ? s->count - 1 - rank : rank);
  b->seat = s->cfg.seats ? &s->cfg.seats[rank % ACSIM_SEATS] : &b->own_seat;
  *b->seat = (acsim_seat){.block = b->index + 1};
  b->arena = ac_arena_new();
  b->order = acsim_order_new(s);
  b->time = acsim_time_new(b);
  b->kernel_type = -1;
  acsim_block_begin(b);
  acsim_self = b;
  if (!setjmp(b->leave)) {
    s->call(s->user);
    acsim_block_end(b);
  }
  acsim_self = NULL;
  b->seat->block = 0;
  acsim_order_end(b);
  finish_block(s, b);
  acsim_order_free(b->order);
  acsim_cache_free(b->cache);
  acsim_time_free(b->time);
  ac_arena_free(b->arena);
  free(b);
}

void acsim_leave(acsim_block *b) {
  longjmp(b->leave, 1);
}

/* ---- threads: blocks start in rank order; a thread that waits in SyncAll is replaced, so that every block gets there ---- */

static void *work(void *arg);

/* With the lock held. */
static void start_worker(acsim_session *s) {
  if (s->n_handles == s->cap_handles) {
    s->cap_handles = s->cap_handles ? s->cap_handles * 2 : 64;
    s->handles = realloc(s->handles, (size_t)s->cap_handles * sizeof *s->handles);
    if (!s->handles) ac_no_memory(NULL);
  }
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, 4u << 20);
  int rc = pthread_create(&s->handles[s->n_handles], &attr, work, s);
  pthread_attr_destroy(&attr);
  if (!rc) {
    s->n_handles++;
    s->running++;
  } else if (!s->running) {
    fprintf(stderr, "simulator: no thread for a block: %s\n", strerror(rc));
    ac_no_memory("a thread");
  }
}

enum { SIGNAL_STACK = 64 << 10 };
static void *work(void *arg) {
  acsim_session *s = arg;
  acsim_worker w = {0};
  stack_t old, spare = {.ss_sp = s->cfg.seats ? malloc(SIGNAL_STACK) : NULL, .ss_size = SIGNAL_STACK};
  if (spare.ss_sp) sigaltstack(&spare, &old); /* for handlers, should the block's own stack be used up */
  pthread_mutex_lock(&s->lock);
  while (s->next < s->count && s->running <= s->threads && !s->restart) {
    int64_t rank = s->next++;
    s->state[rank] = BLOCK_RUNS;
    pthread_mutex_unlock(&s->lock);
    run_block(s, &w, rank);
    pthread_mutex_lock(&s->lock);
  }
  s->running--;
  pthread_mutex_unlock(&s->lock);
  for (int i = 0; i < ACSIM_MEMS; i++) {
    guarded_free(i, w.mem[i].data, w.mem[i].size);
    free(w.mem[i].state);
  }
  if (spare.ss_sp) sigaltstack(&old, NULL);
  free(spare.ss_sp);
  return NULL;
}

/* With the lock held: everybody has come to SyncAll, or ended. */
static void release(acsim_session *s) {
  for (int64_t r = 0; r < s->count; r++)
    if (s->waits[r]) acsim_cache_learn(s->waits[r]->block, NULL);
  acsim_trace_compare(s);
  for (int64_t r = 0; r < s->count; r++)
    if (s->waits[r]) acsim_cache_tell(s->waits[r]->block, AC_PIPE_S, 0);
  acsim_time_join(s);
  acsim_sync_forget(s);
  s->missing = s->done; /* on the device the others would wait for these for ever */
  s->arrived = 0;
  s->phase++;
  pthread_cond_broadcast(&s->changed);
}

void acsim_progress(acsim_session *s) {
  if (s->stuck) return;
  if (s->arrived && s->arrived + s->done == s->count) release(s);
  if (s->waiting && s->waiting + s->done == s->count) {
    bool any = false;
    for (int64_t r = 0; r < s->count && !any; r++) any = s->waits[r] && s->waits[r]->ready(s->waits[r]);
    if (!any) {
      acsim_report_deadlock(s);
      s->stuck = true;
    }
  }
  pthread_cond_broadcast(&s->changed); /* a wait may be over, a gate may open */
}

bool acsim_wait_for(acsim_block *b, acsim_wait *w) {
  acsim_session *s = b->s;
  if (!w->ready(w)) {
    s->waits[b->rank] = w;
    s->state[b->rank] = BLOCK_ARRIVED;
    s->waiting++;
    s->running--;
    b->seat->waits = true;
    acsim_progress(s);
    if (s->next < s->count && s->running < s->threads) start_worker(s);
    while (!s->stuck && !w->ready(w)) pthread_cond_wait(&s->changed, &s->lock);
    b->seat->waits = false;
    s->running++;
    s->waiting--;
    s->state[b->rank] = BLOCK_RUNS;
    s->waits[b->rank] = NULL;
  }
  return !s->stuck;
}

static void finish_block(acsim_session *s, acsim_block *b) {
  pthread_mutex_lock(&s->lock);
  acsim_trace_hand_over(b);
  acsim_time_hand_over(b);
  s->state[b->rank] = BLOCK_DONE;
  s->done++;
  if (s->cfg.live) __atomic_store_n(&s->cfg.live[0], s->done, __ATOMIC_RELAXED);
  s->vector_elements += b->vector_elements;
  s->copied_elements += b->copied_elements;
  if (!s->restart) s->blocks_run++;
  if (b->ub_peak > s->ub_peak) s->ub_peak = b->ub_peak;
  acsim_progress(s);
  pthread_mutex_unlock(&s->lock);
}

/* A block that waits lets later ones pass: they may be what it waits for. */
void acsim_gate(acsim_block *b) {
  acsim_session *s = b->s;
  pthread_mutex_lock(&s->lock);
  for (;;) {
    bool open = true;
    for (int64_t r = s->cleared; r < b->rank && open; r++) {
      if (s->state[r] == BLOCK_DONE)
        s->cleared += r == s->cleared;
      else
        open = s->state[r] == BLOCK_ARRIVED && !s->waits[r]->ready(s->waits[r]);
    }
    if (open || s->stuck) break;
    pthread_cond_wait(&s->changed, &s->lock);
  }
  pthread_mutex_unlock(&s->lock);
}

static int host_threads(const acsim_session *s) {
  long n = s->cfg.threads > 0 ? s->cfg.threads : sysconf(_SC_NPROCESSORS_ONLN);
  if (n < 1) n = 1;
  return (int)(n > s->count ? (s->count ? s->count : 1) : n);
}

int64_t acsim_index_at(const acsim_session *s, int64_t position) {
  return s->pick ? s->pick[position] : s->first + position;
}
int64_t acsim_position_of(const acsim_session *s, int64_t index) {
  if (!s->pick) return index - s->first;
  for (int64_t lo = 0, hi = s->count; lo < hi;) {
    int64_t mid = lo + (hi - lo) / 2;
    if (s->pick[mid] == index) return mid;
    if (s->pick[mid] < index)
      lo = mid + 1;
    else
      hi = mid;
  }
  return -1;
}

int64_t ac_sim_sample(int64_t n, uint64_t seed, int64_t blocks, int64_t *to) {
  int64_t k = 0;
  for (int64_t i = 0; i < blocks && k < n; i++) {
    seed += 0x9E3779B97F4A7C15u; /* splitmix64 */
    uint64_t r = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9u;
    r = (r ^ r >> 27) * 0x94D049BB133111EBu;
    r ^= r >> 31;
    if ((int64_t)(r % (uint64_t)(blocks - i)) < n - k) to[k++] = i; /* every set of n is as likely as any other */
  }
  return k;
}

/* Which cores run: all, a range, or a sample of the blocks with all cores of each. */
static void choose_blocks(acsim_session *s) {
  int64_t all = s->block_dim * s->ratio, n = s->cfg.sample;
  s->first = s->cfg.n_blocks ? s->cfg.first_block : 0;
  s->count = s->cfg.n_blocks ? s->cfg.n_blocks : all;
  if (s->first > all) s->first = all;
  if (s->count > all - s->first) s->count = all - s->first;
  free(s->pick);
  s->pick = NULL;
  if (n <= 0 || n >= s->block_dim) return;
  if (!(s->pick = calloc((size_t)(n * s->ratio), sizeof *s->pick))) ac_no_memory(NULL);
  ac_sim_sample(n, s->cfg.sample_seed, s->block_dim, s->pick);
  for (int64_t i = n * s->ratio - 1; i >= 0; i--) s->pick[i] = s->pick[i / s->ratio] * s->ratio + i % s->ratio;
  s->first = 0;
  s->count = n * s->ratio;
}

/* Runs the blocks of the launch once. */
static void run_blocks(acsim_session *s) {
  choose_blocks(s);
  if (s->cfg.live) s->cfg.live[0] = 0, s->cfg.live[1] = s->count;
  s->next = s->done = s->arrived = s->cleared = s->missing = s->waiting = 0;
  s->phase = 0;
  s->stuck = s->restart = false;
  s->threads = host_threads(s);
  s->state = calloc((size_t)s->count + 1, 1);
  s->waits = calloc((size_t)s->count + 1, sizeof *s->waits);
  s->traces = calloc((size_t)s->count + 1, sizeof *s->traces);
  if (!s->state || !s->waits || !s->traces) ac_no_memory(NULL);
  acsim_sync_open(s);
  s->n_handles = s->running = 0;
  acsim_time_launch(s);
  pthread_mutex_lock(&s->lock);
  for (int i = 0; i < s->threads && i < s->count; i++) start_worker(s);
  pthread_mutex_unlock(&s->lock);
  /* a worker may start others, which append to handles: join by index until none is left */
  for (int i = 0;; i++) {
    pthread_mutex_lock(&s->lock);
    bool more = i < s->n_handles;
    pthread_t t = more ? s->handles[i] : (pthread_t)0;
    pthread_mutex_unlock(&s->lock);
    if (!more) break;
    pthread_join(t, NULL);
  }
  acsim_trace_compare(s);
  acsim_time_launched(s);
  acsim_sync_close(s);
  free(s->state);
  free(s->waits);
  free(s->traces);
  free(s->handles);
  s->traces = NULL;
  s->state = NULL;
  s->waits = NULL;
  s->handles = NULL;
  s->cap_handles = 0;
}

static void keep_tiling(acsim_session *s) {
  for (size_t i = 0; i < s->gms.len; i++) {
    acsim_gm *m = s->gms.data[i];
    if (m->b.kind != ACSIM_TILING || m->b.bytes <= 0) continue;
    if (!m->before && !(m->before = malloc((size_t)m->b.bytes))) ac_no_memory(NULL);
    memcpy(m->before, m->start, (size_t)m->b.bytes);
  }
}
static void compare_tiling(acsim_session *s) {
  for (size_t i = 0; i < s->gms.len; i++) {
    const acsim_gm *m = s->gms.data[i];
    if (!m->before || !memcmp(m->before, m->start, (size_t)m->b.bytes)) continue;
    int64_t k = 0;
    while (m->before[k] == m->start[k]) k++;
    acsim_fault_pair(s, NULL, "write-to-input", (acsim_at){0}, (acsim_at){NULL, -m->id - 1} /* each by itself */,
                     "byte %lld of %s was written through a plain pointer: it is an input", (long long)k, m->b.name);
  }
}

void acsim_launch(acsim_session *s, int64_t block_dim, uint64_t key, void (*call)(void *), void *user) {
  s->block_dim = block_dim;
  s->key = key;
  s->call = call;
  s->user = user;
  s->ratio = 1;
  s->restarted = false;
  keep_tiling(s);
  run_blocks(s);
  if (s->restart) run_blocks(s); /* the kernel said that there are two vector cores to a block */
  compare_tiling(s);
}

void acsim_icpu_run(const char *name, uint32_t blocks, void (*call)(void *), void *user) {
  if (!acsim_current) {
    fprintf(stderr, "simulator: ICPU_RUN_KF(%s) without a session\n", name);
    abort();
  }
  acsim_launch(acsim_current, blocks, acsim_current->key, call, user);
}
void acsim_icpu_kernel(const void *kernel) {
  acsim_session *s = acsim_current;
  for (int i = 0; s && i < s->n_kernels; i++)
    if (s->kernels[i] == kernel) return;
  if (s && s->n_kernels < SESSION_KERNELS) s->kernels[s->n_kernels++] = kernel;
}
void acsim_icpu_tiling_key(uint64_t key) {
  if (acsim_current) acsim_current->key = key;
}

/* ---- what a block may ask ---- */

int64_t acsim_block_index(void) {
  return acsim_here("GetBlockIdx")->index;
}
int64_t acsim_block_count(void) {
  return acsim_here("GetBlockNum")->s->block_dim;
}
uint64_t acsim_tiling_key(void) {
  return acsim_here("TILING_KEY_IS")->s->key;
}
int64_t acsim_cycles(void) {
  acsim_block *b = acsim_here("GetSystemCycle");
  acsim_time_begin(b);
  return acsim_time_counter(b);
}

void acsim_kernel_assert(const char *text, const char *file, int32_t line) {
  acsim_block *b = acsim_here("ASSERT");
  acsim_fault(b->s, b, "assert", AT, "the kernel's own check failed: %s", text);
  acsim_leave(b);
}
void acsim_kernel_trap(const char *file, int32_t line) {
  acsim_block *b = acsim_here("Trap");
  acsim_fault(b->s, b, "trap", AT, "the kernel called Trap()");
  acsim_leave(b);
}
void acsim_kernel_printf(const char *format, ...) {
  acsim_block *b = acsim_here("PRINTF");
  va_list ap;
  va_start(ap, format);
  flockfile(stderr);
  fprintf(stderr, "[block %lld] ", (long long)b->index);
  vfprintf(stderr, format, ap);
  funlockfile(stderr);
  va_end(ap);
}

float acsim_half_to_float(uint16_t h) {
  return ac_f16_to_f32(h);
}
uint16_t acsim_float_to_half(float f) {
  return ac_f32_to_f16(f, AC_RN_RINT);
}
float acsim_bf16_to_float(uint16_t b) {
  return ac_bf16_to_f32(b);
}
uint16_t acsim_float_to_bf16(float f) {
  return ac_f32_to_bf16(f, AC_RN_RINT);
}
uint16_t acsim_double_to_half(double d) {
  return ac_f64_to_f16(d, AC_RN_RINT);
}
uint16_t acsim_double_to_bf16(double d) {
  return ac_f64_to_bf16(d, AC_RN_RINT);
}

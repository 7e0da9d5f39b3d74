/* Between blocks: SyncAll, flags between cores (CrossCoreSetFlag), IBSet and IBWait, the turn of WaitPreBlock; what they order, and
 * the deadlocks they can make. (asc-devkit docs/zh, synchronisation between cores; CANN 8.1, kernel_operator_sync_impl.h)
 *
 * All of them are channels: so many cores arrive, each saying how far its pipes are, and whoever has waited for them all knows that
 * much of each. Blocks that wait give their thread away (core.c). */
#include "sim/core_sync.h"

#include <stdlib.h>
#include <string.h>

enum { SYNC_FIRST = 11, SYNC_LAST = 14 /* flags that SyncAll uses itself */, COUNTER_MAX = 15, MAX_HOPS = 6 };
static const size_t MAX_KNOWLEDGE = (size_t)512 << 20; /* unless the session says another */

/* KernelMetaType */
enum { AIV_ONLY, AIC_ONLY, MIX_AIV_1_0, MIX_AIC_1_0, MIX_AIC_1_1, MIX_AIC_1_2 };

typedef enum { CH_CROSS, CH_SOFT, CH_FLAG, CH_TURN } channel_kind;
typedef struct {
  int64_t arrived;
  acsim_clock *known; /* by rank, of all that have arrived */
  uint8_t *who;       /* by rank */
  acsim_stamp latest; /* when the last one came */
} round_;
typedef struct channel {
  channel_kind kind;
  uint64_t id; /* flag and group, or the address in global memory */
  int64_t need;
  uint64_t bytes;          /* of global memory from `id` on */
  AC_VEC(round_ *) rounds; /* CROSS, SOFT: by number */
  bool full;               /* FLAG */
  int64_t turn, holder;    /* TURN: how many have gone; rank + 1 of the one that goes */
  round_ last;             /* FLAG, TURN: what the last one said */
} channel;
/* A block's place in a channel. */
struct acsim_pending {
  channel *c;
  int64_t number;
  acsim_pending *next;
};
typedef struct {
  channel *c;
  int64_t rank, times;
} visit;

struct acsim_sync {
  ac_arena *arena;
  AC_VEC(channel *) channels;
  AC_VEC(visit) visits; /* how often a block has been to a channel */
  struct {
    acsim_clock **data;
    size_t len, cap;
  } * known; /* by rank: what it knew in each segment */
  size_t bytes;
  bool partial;
  bool dropped; /* what blocks knew of each other became too much to keep */
};

void acsim_sync_open(acsim_session *s) {
  ac_arena *a = ac_arena_new();
  s->sync = AC_NEW(a, acsim_sync);
  s->sync->arena = a;
  s->sync->known = calloc((size_t)s->count + 1, sizeof *s->sync->known);
  if (!s->sync->known) ac_no_memory(NULL);
}

static void forget(acsim_session *s) {
  for (int64_t r = 0; r < s->count; r++) {
    for (size_t i = 0; i < s->sync->known[r].len; i++) {
      free(s->sync->known[r].data[i]);
      s->sync->known[r].data[i] = NULL;
    }
  }
  s->sync->bytes = 0;
  s->sync->dropped = false;
}
void acsim_sync_forget(acsim_session *s) {
  forget(s);
}
void acsim_sync_close(acsim_session *s) {
  forget(s);
  for (int64_t r = 0; r < s->count; r++) free(s->sync->known[r].data);
  free(s->sync->known);
  ac_arena_free(s->sync->arena);
  s->sync = NULL;
}

bool acsim_sync_dropped(const acsim_session *s) {
  return s->sync->dropped;
}
bool acsim_sync_partial(const acsim_session *s) {
  return s->sync->partial;
}
const acsim_clock *acsim_sync_known(const acsim_session *s, int64_t rank, uint32_t segment) {
  return segment < s->sync->known[rank].len ? s->sync->known[rank].data[segment] : NULL;
}

bool acsim_sync_owns(const acsim_session *s, uint64_t lo, uint64_t hi) {
  for (size_t i = 0; i < s->sync->channels.len; i++) {
    const channel *c = s->sync->channels.data[i];
    if (c->bytes && lo >= c->id && hi <= c->id + c->bytes) return true;
  }
  return false;
}

/* ---- channels ---- */

static channel *channel_of(acsim_session *s, channel_kind kind, uint64_t id, int64_t need, uint64_t bytes) {
  acsim_sync *y = s->sync;
  for (size_t i = 0; i < y->channels.len; i++)
    if (y->channels.data[i]->kind == kind && y->channels.data[i]->id == id) return y->channels.data[i];
  channel *c = AC_NEW(y->arena, channel);
  c->kind = kind;
  c->id = id;
  c->need = need;
  c->bytes = bytes;
  ac_push(y->arena, &y->channels, c);
  y->partial = true;
  return c;
}

/* How often has the block been there before? Counts this time. */
static int64_t times_there(acsim_session *s, channel *c, int64_t rank) {
  acsim_sync *y = s->sync;
  for (size_t i = 0; i < y->visits.len; i++)
    if (y->visits.data[i].c == c && y->visits.data[i].rank == rank) return y->visits.data[i].times++;
  ac_push(y->arena, &y->visits, ((visit){c, rank, 1}));
  return 0;
}

static void join(acsim_clock *to, const acsim_clock *from) {
  for (int p = 0; p < AC_PIPE_COUNT; p++)
    if (to->k[p] < from->k[p]) to->k[p] = from->k[p];
}

static acsim_clock *clocks(acsim_session *s) {
  acsim_clock *c = calloc((size_t)s->count, sizeof *c);
  if (!c) ac_no_memory(NULL);
  s->sync->bytes += (size_t)s->count * sizeof *c;
  return c;
}

/* What others may rely on once that pipe (AC_PIPE_COUNT: all of them) has come so far. */
static acsim_clock publish(acsim_block *b, ac_pipe p, acsim_at at) {
  acsim_clock own = acsim_order_publish(b, p);
  if (p == AC_PIPE_COUNT) acsim_time_barrier(b, AC_PIPE_COUNT, at);
  acsim_time_set(b, p == AC_PIPE_COUNT ? AC_PIPE_S : p, &own.stamp);
  return own;
}

/* With the lock held: the block says how far it is. */
static void tell(acsim_block *b, round_ *r, const acsim_clock *own, ac_pipe pipe) {
  acsim_session *s = b->s;
  if (own->stamp.t >= r->latest.t) r->latest = own->stamp;
  if (!r->known) {
    r->known = AC_NEW_N(s->sync->arena, acsim_clock, s->count);
    r->who = AC_NEW_N(s->sync->arena, uint8_t, s->count);
  }
  acsim_trace_hand_over(b);
  acsim_cache_tell(b, pipe == AC_PIPE_COUNT ? AC_PIPE_S : pipe, own->k[pipe == AC_PIPE_COUNT ? AC_PIPE_S : pipe]);
  for (int64_t i = 0; b->peers && i < s->count; i++) join(&r->known[i], &b->peers[i]);
  join(&r->known[b->rank], own);
  if (!r->who[b->rank]) r->arrived++;
  r->who[b->rank] = 1;
}

/* With the lock held: the block has waited for them. */
static void learn(acsim_block *b, const round_ *r, const acsim_wait *w) {
  acsim_session *s = b->s;
  acsim_stamp latest = r->latest;
  latest.span = 0; /* another block's trace */
  acsim_time_wait(b, AC_PIPE_S, "", w->what, w->at, &latest);
  acsim_trace_hand_over(b);
  if (!b->order || !r->known) return;
  acsim_cache_learn(b, r->known);
  if (!b->peers) b->peers = AC_NEW_N(b->arena, acsim_clock, s->count);
  for (int64_t i = 0; i < s->count; i++) join(&b->peers[i], &r->known[i]);
  acsim_order_learn(b, &r->known[b->rank]);
  b->segment++;
  size_t need = b->segment + 1;
  if (s->sync->known[b->rank].cap < need) {
    size_t cap = need * 2;
    acsim_clock **d = realloc(s->sync->known[b->rank].data, cap * sizeof *d);
    if (!d) ac_no_memory(NULL);
    s->sync->known[b->rank].data = d;
    s->sync->known[b->rank].cap = cap;
  }
  while (s->sync->known[b->rank].len < need) s->sync->known[b->rank].data[s->sync->known[b->rank].len++] = NULL;
  s->sync->dropped |= s->sync->bytes > (s->cfg.knowledge ? s->cfg.knowledge : MAX_KNOWLEDGE);
  if (s->sync->dropped) return;
  acsim_clock *copy = clocks(s);
  memcpy(copy, b->peers, (size_t)s->count * sizeof *copy);
  s->sync->known[b->rank].data[b->segment] = copy;
}

/* Rounds of a channel where a certain number of cores meets. */
static round_ *round_of(acsim_session *s, channel *c, int64_t number) {
  while ((int64_t)c->rounds.len <= number) {
    round_ *r = AC_NEW(s->sync->arena, round_);
    ac_push(s->sync->arena, &c->rounds, r);
  }
  return c->rounds.data[number];
}
static bool round_full(const acsim_wait *w) {
  const channel *c = w->channel;
  return w->number < (int64_t)c->rounds.len && c->rounds.data[w->number]->arrived >= c->need;
}
/* From rank to number among the blocks that run, and back. */
static int64_t turned(const acsim_session *s, int64_t i) {
  return s->cfg.order == AC_ORDER_REVERSE ? s->count - 1 - i : i;
}
static int64_t index_of(const acsim_session *s, int64_t rank) {
  return acsim_index_at(s, turned(s, rank));
}
/* The first block that has not come. */
static int64_t round_lacks(const acsim_wait *w) {
  const channel *c = w->channel;
  const acsim_session *s = w->block->s;
  const round_ *r = c->rounds.data[w->number];
  int64_t group = c->kind == CH_CROSS ? (int64_t)(c->id >> 8) - 1 : -1;
  for (int64_t i = 0; i < s->count; i++) { /* by index, so that the message does not depend on the order */
    int64_t rank = turned(s, i);
    bool member = group < 0 ? i < c->need : acsim_index_at(s, i) / s->ratio == group;
    if (member && (!r->who || !r->who[rank])) return rank;
  }
  return -1;
}

/* ---- deadlocks ---- */

static const char *place(ac_arena *a, acsim_at at) {
  return ac_sprintf(a, "%s:%d", at.file ? ac_basename(at.file) : "?", at.line);
}

void acsim_report_deadlock(acsim_session *s) {
  ac_arena *a = s->sync->arena;
  int64_t n = 0;
  while (n < s->count && !s->waits[turned(s, n)]) n++;
  if (n == s->count) return;
  int64_t first = turned(s, n);
  ac_buf t;
  ac_buf_init(&t, a);
  int64_t at = first;
  for (int hop = 0; hop < MAX_HOPS; hop++) {
    const acsim_wait *w = s->waits[at];
    int64_t to = w->needs(w);
    ac_printf(&t, "%sblock %lld waits in %s at %s for ", hop ? "; " : "", (long long)w->block->index, w->what,
              place(a, w->at));
    if (to < 0) {
      ac_printf(&t, "what no block does");
      break;
    }
    ac_printf(&t, "block %lld", (long long)index_of(s, to));
    if (!s->waits[to]) {
      ac_printf(&t, ", which has ended");
      break;
    }
    if (to == first || to == at) break;
    at = to;
  }
  acsim_fault(s, s->waits[first]->block, "deadlock", s->waits[first]->at, "the device waits for ever: %s",
              ac_buf_str(&t));
}

/* ---- SyncAll ---- */

static bool too_many_blocks(acsim_block *b, const char *what, acsim_at at) {
  acsim_session *s = b->s;
  int64_t all = s->block_dim * s->ratio;
  if (all <= s->chip->vector_cores) return false;
  acsim_fault(s, b, "sync-too-many-blocks", at,
              "%s in a launch of %lld blocks: %s has %d vector cores, so the blocks are never all at work and "
              "the device waits for ever",
              what, (long long)all, s->chip->soc, s->chip->vector_cores);
  return true;
}

/* Only with the scheduler that a MIX kernel type brings do cores hear of each other (asc-devkit docs/zh, CrossCoreSetFlag). */
static void check_type(acsim_block *b, const char *what, acsim_at at) {
  if (b->kernel_type == AIV_ONLY)
    acsim_fault(b->s, b, "kernel-type", at,
                "%s in a kernel of type KERNEL_TYPE_AIV_ONLY: no scheduler is started for it, and the cores never "
                "hear of each other; KERNEL_TYPE_MIX_AIV_1_0 has one",
                what);
  if (b->s->chip->npu_arch != 2201)
    acsim_fault(b->s, b, "not-on-chip", at, "%s between cores by hardware does not exist on %s%s", what,
                b->s->chip->soc,
                strcmp(what, "SyncAll") != 0 ? "" : ": SyncAll with workspaces (gmWorkspace, ubWorkspace) does");
}

static bool phase_over(const acsim_wait *w) {
  return w->block->s->phase != (uint64_t)w->number;
}
static int64_t not_in_sync_all(const acsim_wait *w) {
  const acsim_session *s = w->block->s;
  for (int64_t i = 0; i < s->count; i++) {
    const acsim_wait *x = s->waits[turned(s, i)];
    if (!x || x->ready != phase_over) return turned(s, i);
  }
  return -1;
}

void acsim_sync_all(int32_t vector_only, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("SyncAll", AT);
  acsim_session *s = b->s;
  b->calls++;
  if (too_many_blocks(b, "SyncAll", AT)) acsim_leave(b);
  check_type(b, "SyncAll", AT);
  if (!vector_only && b->kernel_type != MIX_AIC_1_1 &&
      b->kernel_type != MIX_AIC_1_2) { /* docs/zh, SyncAll, constraints */
    acsim_fault(
        s, b, "deadlock", AT,
        "SyncAll<false> waits for the cube cores, and a kernel for vector cores alone has none: the device waits "
        "for ever; SyncAll() is the barrier of the vector cores");
    acsim_leave(b);
  }
  if (s->schedule_mode == 0)
    acsim_fault(
        s, b, "schedule-mode", AT,
        "SyncAll without SetScheduleMode(1) in the tiling code: beside another operator that does the same, each "
        "may get a part of the cores and wait for ever");
  acsim_order_barrier(b, AC_PIPE_COUNT); /* as the library's SyncAll begins (CANN 8.1, kernel_operator_sync_impl.h) */
  acsim_time_barrier(b, AC_PIPE_COUNT, AT);
  pthread_mutex_lock(&s->lock);
  acsim_trace_hand_over(b);
  acsim_time_arrive(b);
  s->arrived++;
  acsim_wait w = {"SyncAll", AT, b, phase_over, not_in_sync_all, NULL, (int64_t)s->phase};
  bool on = acsim_wait_for(b, &w);
  acsim_time_go_on(b, AT);
  int64_t missing = s->missing;
  pthread_mutex_unlock(&s->lock);
  if (!on) acsim_leave(b);
  if (missing)
    acsim_fault(s, b, "sync-mismatch", AT,
                "block %lld waits in SyncAll for %lld blocks that ended without it: the device waits for ever",
                (long long)b->index, (long long)missing);
}

/* Global memory that the library's own loops read and write: bounds only, since they are what orders. */
static bool check_workspace(acsim_block *b, const char *what, const acsim_global *gm, int64_t off, int64_t bytes,
                            bool zero, acsim_at at) {
  acsim_order *o = b->order;
  b->order = NULL;
  bool ok = acsim_gm_touch(b, AC_PIPE_MTE2, what, at, gm, off, bytes, GM_READ);
  b->order = o;
  for (int64_t i = off; ok && zero && i < off + bytes; i++)
    if (gm->ptr[i]) {
      acsim_fault(b->s, b, "sync-workspace", at,
                  "%s: its workspace in global memory must be zero before the first use, and byte %lld of it is not",
                  what, (long long)i);
      return true;
    }
  return ok;
}
static bool check_local(acsim_block *b, const char *what, const acsim_local *ub, int64_t bytes, acsim_at at) {
  acsim_order_begin(b);
  acsim_access x = {"ubWorkspace", ub, 0, bytes, 32, ACSIM_WRITE};
  return acsim_touch(b, AC_PIPE_MTE2, what, at, &x, 1);
}

void acsim_sync_soft(const acsim_global *gm, const acsim_local *ub, int32_t cores, const char *file, int32_t line) {
  static const char what[] = "SyncAll with workspaces";
  acsim_block *b = acsim_here_at(what, AT);
  acsim_session *s = b->s;
  b->calls++;
  int64_t all = s->count, need = cores ? cores : all;
  if (too_many_blocks(b, what, AT)) acsim_leave(b);
  if (need > all || acsim_position_of(s, b->index) >= need) {
    acsim_fault(s, b, "deadlock", AT,
                need > all
                    ? "%s of %lld cores, and the launch has %lld: the device waits for ever"
                    : "%s of %lld cores in a block beyond them (the launch has %lld): only the first take part",
                what, (long long)need, (long long)all);
    acsim_leave(b);
  }
  acsim_order_barrier(b, AC_PIPE_COUNT);
  if (!check_local(b, what, ub, need * 32, AT) || !check_workspace(b, what, gm, 0, need * 32, false, AT))
    acsim_leave(b);
  acsim_clock own = publish(b, AC_PIPE_COUNT, AT);
  pthread_mutex_lock(&s->lock);
  channel *c = channel_of(s, CH_SOFT, (uint64_t)(uintptr_t)gm->ptr, need, (uint64_t)need * 32);
  acsim_wait w = {what, AT, b, round_full, round_lacks, c, times_there(s, c, b->rank)};
  tell(b, round_of(s, c, w.number), &own, AC_PIPE_COUNT);
  acsim_progress(s);
  bool on = acsim_wait_for(b, &w);
  if (on) learn(b, round_of(s, c, w.number), &w);
  pthread_mutex_unlock(&s->lock);
  if (!on) acsim_leave(b);
}

/* ---- flags between cores ---- */

static ac_pipe pipe_of(int32_t pipe) { /* pipe_t: PIPE_FIX is 10 */
  return pipe == 10 ? AC_PIPE_FIX : pipe > 0 && pipe <= AC_PIPE_MTE3 ? (ac_pipe)pipe : AC_PIPE_COUNT;
}

/* Of a flag's number the message to the other cores has room for the low 4 bits (CANN 8.1, kernel_operator_sync_impl.h, GetffstMsg). */
static int32_t flag_bits(acsim_block *b, const char *what, int32_t id, acsim_at at) {
  if (id >= 0 && id < CROSS_FLAGS) return id;
  acsim_fault(b->s, b, "bad-event", at, "%s: flag %d: 0..%d exist; of %d the low 4 bits count: it is flag %d", what,
              id, CROSS_FLAGS - 1, id, id & (CROSS_FLAGS - 1));
  return id & (CROSS_FLAGS - 1);
}

static bool check_flag(acsim_block *b, const char *what, int32_t mode, int32_t id, acsim_at at) {
  check_type(b, what, at);
  if (id >= SYNC_FIRST && id <= SYNC_LAST)
    acsim_fault(b->s, b, "cross-flag-reserved", at, "%s: flag %d: SyncAll uses %d to %d itself; take another one",
                what, id, SYNC_FIRST, SYNC_LAST);
  if (mode == 1 && b->kernel_type != MIX_AIC_1_1 && b->kernel_type != MIX_AIC_1_2) {
    acsim_fault(b->s, b, "kernel-type", at,
                "%s in mode 1 joins the vector cores of one AI core: that needs KERNEL_TYPE_MIX_AIC_1_1 or _1_2",
                what);
    return false;
  }
  if (mode == 2) {
    acsim_fault(b->s, b, "not-modelled", at,
                "%s in mode 2 works between cube and vector cores, which is not modelled", what);
    return false;
  }
  if (mode > 2) {
    acsim_fault(b->s, b, "not-on-chip", at, "%s in mode %d does not exist on %s", what, mode, b->s->chip->soc);
    return false;
  }
  return true;
}

void acsim_cross_set(int32_t mode, int32_t pipe, int32_t id, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("CrossCoreSetFlag", AT);
  acsim_session *s = b->s;
  b->calls++;
  id = flag_bits(b, "CrossCoreSetFlag", id, AT);
  if (!check_flag(b, "CrossCoreSetFlag", mode, id, AT)) return;
  if (mode == 0 && too_many_blocks(b, "CrossCoreSetFlag in mode 0", AT)) acsim_leave(b);
  ac_pipe p = pipe_of(pipe);
  if (p == AC_PIPE_COUNT)
    acsim_fault(s, b, "bad-event", AT, "CrossCoreSetFlag in %s: it takes V, M, MTE1, MTE2, MTE3 or FIX",
                pipe == 0 ? "PIPE_S" : "PIPE_ALL");
  int n = 0;
  for (acsim_pending *x = b->pending[id]; x; x = x->next) n++;
  if (n == COUNTER_MAX) {
    acsim_fault(s, b, "flag-overflow", AT, "CrossCoreSetFlag: flag %d has been set %d times without a wait", id,
                COUNTER_MAX);
    return;
  }
  acsim_clock own = publish(b, p, AT);
  pthread_mutex_lock(&s->lock);
  uint64_t group = mode ? (uint64_t)(b->index / s->ratio) + 1 : 0;
  channel *c = channel_of(s, CH_CROSS, group << 8 | (uint64_t)id, mode ? s->ratio : s->count, 0);
  acsim_pending *x = AC_NEW(s->sync->arena, acsim_pending), **end = &b->pending[id];
  x->c = c;
  x->number = times_there(s, c, b->rank);
  while (*end) end = &(*end)->next;
  *end = x;
  tell(b, round_of(s, c, x->number), &own, p);
  acsim_progress(s);
  pthread_mutex_unlock(&s->lock);
}

void acsim_cross_wait(int32_t mode, int32_t pipe, int32_t id, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("CrossCoreWaitFlag", AT);
  acsim_session *s = b->s;
  b->calls++;
  (void)mode; /* Atlas A2 ignores both: the wait holds up all pipes (asc-devkit docs/zh, CrossCoreWaitFlag) */
  (void)pipe;
  id = flag_bits(b, "CrossCoreWaitFlag", id, AT);
  if (!check_flag(b, "CrossCoreWaitFlag", 0, id, AT)) acsim_leave(b);
  acsim_pending *x = b->pending[id];
  if (!x) {
    bool mix = b->kernel_type == MIX_AIC_1_1 || b->kernel_type == MIX_AIC_1_2;
    acsim_fault(
        s, b, mix ? "not-modelled" : "deadlock", AT,
        mix ? "CrossCoreWaitFlag: flag %d waits for the cube core, which is not modelled"
            : "CrossCoreWaitFlag: flag %d was not set by this core before, and in modes 0 and 1 each core that "
              "waits has to set it: the device waits for ever",
        id);
    acsim_leave(b);
  }
  pthread_mutex_lock(&s->lock);
  acsim_wait w = {"CrossCoreWaitFlag", AT, b, round_full, round_lacks, x->c, x->number};
  bool on = acsim_wait_for(b, &w);
  if (on) learn(b, round_of(s, x->c, x->number), &w);
  pthread_mutex_unlock(&s->lock);
  b->pending[id] = x->next;
  if (!on) acsim_leave(b);
}

/* ---- IBSet and IBWait: one core tells another through a word of global memory ---- */

static bool flag_empty(const acsim_wait *w) {
  return !((const channel *)w->channel)->full;
}
static bool flag_full(const acsim_wait *w) {
  return ((const channel *)w->channel)->full;
}
static int64_t nobody(const acsim_wait *w) {
  (void)w;
  return -1;
}

/* set: waits until the last one has been taken, as the library does (asc-devkit, IBSet). */
void acsim_ib(int32_t set, const acsim_global *gm, const acsim_local *ub, int32_t block, int32_t event, int32_t cores,
              const char *file, int32_t line) {
  const char *what = set ? "IBSet" : "IBWait";
  acsim_block *b = acsim_here_at(what, AT);
  acsim_session *s = b->s;
  b->calls++;
  int64_t off = ((int64_t)cores * event + block) * 32;
  if (too_many_blocks(b, what, AT)) acsim_leave(b);
  if (block < 0 || block >= cores || event < 0) {
    acsim_fault(s, b, "bad-event", AT, "%s: blockIdx %d and eventID %d, where there are %d cores", what, block, event,
                cores);
    acsim_leave(b);
  }
  acsim_clock own = publish(b, AC_PIPE_COUNT, AT);
  if (!check_local(b, what, ub, 32, AT)) acsim_leave(b);
  pthread_mutex_lock(&s->lock);
  channel *c = channel_of(s, CH_FLAG, (uint64_t)(uintptr_t)(gm->ptr + off), 1, 32);
  bool first = !c->last.known;
  pthread_mutex_unlock(&s->lock);
  if (set && !check_workspace(b, what, gm, off, 32, first, AT)) acsim_leave(b);
  pthread_mutex_lock(&s->lock);
  acsim_wait w = {what, AT, b, set ? flag_empty : flag_full, nobody, c, 0};
  bool on = acsim_wait_for(b, &w);
  if (on && set) tell(b, &c->last, &own, AC_PIPE_COUNT);
  if (on) c->full = set;
  if (on && !set) learn(b, &c->last, &w);
  acsim_progress(s);
  pthread_mutex_unlock(&s->lock);
  if (!on) acsim_leave(b);
  acsim_order_barrier(b, AC_PIPE_COUNT);
}

/* ---- blocks in turn: WaitPreBlock and NotifyNextBlock ---- */

static bool my_turn(const acsim_wait *w) {
  return ((const channel *)w->channel)->turn == w->number;
}
static int64_t whose_turn(const acsim_wait *w) {
  const acsim_session *s = w->block->s;
  return turned(s, ((const channel *)w->channel)->turn % s->count);
}

void acsim_turn(int32_t step, const acsim_global *gm, const acsim_local *ub, const char *file, int32_t line) {
  static const char *const names[] = {"InitDetermineComputeWorkspace", "WaitPreBlock", "NotifyNextBlock"};
  const char *what = names[step];
  acsim_block *b = acsim_here_at(what, AT);
  acsim_session *s = b->s;
  b->calls++;
  if (too_many_blocks(b, what, AT)) acsim_leave(b);
  acsim_clock own = publish(b, AC_PIPE_COUNT, AT);
  int64_t bytes = s->block_dim * s->ratio * 32;
  if (!check_local(b, what, ub, bytes + 32, AT)) acsim_leave(b);
  acsim_order *o = b->order;
  b->order = NULL;
  bool there = acsim_gm_touch(b, AC_PIPE_MTE3, what, AT, gm, 0, bytes, GM_WRITE);
  b->order = o;
  if (!there) acsim_leave(b);
  acsim_order_barrier(b, AC_PIPE_COUNT);
  if (!step) return;
  pthread_mutex_lock(&s->lock);
  channel *c = channel_of(s, CH_TURN, (uint64_t)(uintptr_t)gm->ptr, 1, (uint64_t)bytes);
  bool on = true, taken = c->holder == b->rank + 1;
  if (step == 1 || !taken) { /* without its wait: reported, and then as if it had been there */
    acsim_wait w = {
        what, AT, b, my_turn, whose_turn, c, times_there(s, c, b->rank) * s->count + acsim_position_of(s, b->index)};
    on = acsim_wait_for(b, &w);
    if (on) c->holder = b->rank + 1;
    if (on) learn(b, &c->last, &w);
  }
  if (on && step == 2) {
    tell(b, &c->last, &own, AC_PIPE_COUNT);
    c->holder = 0;
    c->turn++;
    acsim_progress(s);
  }
  pthread_mutex_unlock(&s->lock);
  if (step == 2 && !taken)
    acsim_fault(s, b, "turn-not-taken", AT,
                "NotifyNextBlock without WaitPreBlock before it: the blocks before this one may still be at work");
  if (!on) acsim_leave(b);
}

/* ---- the kernel's type ---- */

int32_t acsim_kernel_type(int32_t type, int64_t key, const char *file, int32_t line) {
  acsim_block *b = acsim_self; /* the macro may stand outside of a function: then nobody runs yet */
  if (!b || (key >= 0 && (uint64_t)key != b->s->key)) return type;
  acsim_session *s = b->s;
  b->kernel_type = type;
  if (type == AIC_ONLY || type == MIX_AIC_1_0) {
    acsim_fault(s, b, "not-modelled", AT, "a kernel for the cube cores alone: no vector core runs it");
    acsim_leave(b);
  }
  int ratio = type == MIX_AIC_1_2 ? 2 : 1;
  pthread_mutex_lock(&s->lock);
  bool again = ratio != s->ratio && !s->restarted;
  if (again) {
    s->ratio = ratio;
    s->restart = s->restarted = true;
  }
  bool leave = s->restart;
  pthread_mutex_unlock(&s->lock);
  if (leave) acsim_leave(b);
  return type;
}

int64_t acsim_sub_block(void) {
  const acsim_block *b = acsim_here("GetSubBlockIdx");
  return b->index % b->s->ratio;
}
int64_t acsim_sub_blocks(void) {
  return acsim_here("GetSubBlockNum")->s->ratio;
}

/* TPipe, TQue, TBuf: buffers in on-chip memory and the life of the tensors in them; flags and event ids. */
#include "../../sim/include/acsim/kernel_abi_basic.h"
#include "sim/core_defer.h"

#include <string.h>

/* AscendC's HardEvent, in order: which pipe tells which (CANN 8.1.RC1 kernel_event.h). */
#define EVENTS(X) \
  X(MTE2, MTE1)   \
  X(MTE1, MTE2)   \
  X(MTE1, M)      \
  X(M, MTE1)      \
  X(MTE2, V)      \
  X(V, MTE2)      \
  X(MTE3, V)      \
  X(V, MTE3)      \
  X(M, V)         \
  X(V, M)         \
  X(V, V)         \
  X(MTE3, MTE1)   \
  X(MTE1, MTE3)   \
  X(MTE1, V)      \
  X(MTE2, M)      \
  X(M, MTE2)      \
  X(V, MTE1)      \
  X(M, FIX)       \
  X(FIX, M)       \
  X(MTE3, MTE2)   \
  X(MTE2, MTE3)   \
  X(S, V)         \
  X(V, S)         \
  X(S, MTE2)      \
  X(MTE2, S)      \
  X(S, MTE3) X(MTE3, S) X(MTE2, FIX) X(FIX, MTE2) X(FIX, S) X(M, S) X(FIX, MTE3) X(MTE1, FIX) X(FIX, MTE1) X(FIX, FIX)
static const char *const event_names[EVENT_KINDS] = {
#define X(from, to) #from "_" #to,
    EVENTS(X)
#undef X
};
static const struct {
  uint8_t from, to;
} event_pipes[EVENT_KINDS] = {
#define X(from, to) {AC_PIPE_##from, AC_PIPE_##to},
    EVENTS(X)
#undef X
};
enum {
#define X(from, to) EV_##from##_##to,
  EVENTS(X)
#undef X
      EV_NONE = -1
};

static void event_set(acsim_block *b, int event, acsim_clock *flag) {
  if (event < 0) return;
  if (b->stalled >> event_pipes[event].from & 1) acsim_defer_settle(b, -1, 0, (acsim_at){0});
  acsim_order_set(b, (ac_pipe)event_pipes[event].from, flag);
  acsim_time_set(b, (ac_pipe)event_pipes[event].from, &flag->stamp);
}
static void event_wait(acsim_block *b, int event, const acsim_clock *flag, const char *what, acsim_at at) {
  if (event < 0) return;
  if (b->stalled >> event_pipes[event].to & 1) acsim_defer_settle(b, -1, 0, (acsim_at){0});
  acsim_order_wait(b, (ac_pipe)event_pipes[event].to, flag);
  acsim_time_wait(b, (ac_pipe)event_pipes[event].to, event_names[event], what, at, &flag->stamp);
}

int acsim_mem_of_pos(int pos) {
  switch (pos) {
  case ACSIM_POS_A1:
  case ACSIM_POS_B1:
  case ACSIM_POS_C1:
  case ACSIM_POS_TSCM: return ACSIM_L1;
  case ACSIM_POS_A2: return ACSIM_L0A;
  case ACSIM_POS_B2: return ACSIM_L0B;
  case ACSIM_POS_CO1: return ACSIM_L0C;
  case ACSIM_POS_C2: return ACSIM_BT;
  case ACSIM_POS_C2PIPE2GM: return ACSIM_FB;
  default: return ACSIM_UB;
  }
}

/* A queue's buffers lie where its consumer reads, unless that is global memory. (kernel_event.h, GetPosition) */
static int queue_mem(int src, int dst) {
  return acsim_mem_of_pos(dst == ACSIM_POS_GM || dst == ACSIM_POS_CO2 ? src : dst);
}

/* Which event goes from a producer at one position to a consumer at another, and back (CANN 8.1.RC1 kernel_event.h, GetQueEvt).
 * Only global memory and UB matter here. */
static void events_between(int src, int dst, int *forth, int *back) {
  *forth = *back = EV_NONE;
  bool from = src != ACSIM_POS_GM, to = dst != ACSIM_POS_GM;
  if ((from && acsim_mem_of_pos(src) != ACSIM_UB) || (to && acsim_mem_of_pos(dst) != ACSIM_UB)) return;
  if (!from && to) *forth = EV_MTE2_V, *back = EV_V_MTE2;
  if (from && !to) *forth = EV_V_MTE3, *back = EV_MTE3_V;
  if (from && to) *forth = EV_MTE2_MTE3, *back = EV_MTE3_MTE2;
}

/* A TQue of VECIN lies between global memory and VECIN, one of VECOUT between VECOUT and global memory (kernel_event.h,
 * GetBufferLogicPos); one of VECCALC has no event. */
static void queue_events(const acsim_queue *q, int *forth, int *back) {
  int src = q->src, dst = q->dst;
  if (src == dst && src == ACSIM_POS_VECIN) src = ACSIM_POS_GM;
  if (src == dst && src == ACSIM_POS_VECOUT) dst = ACSIM_POS_GM;
  if (src == dst)
    *forth = *back = EV_NONE;
  else
    events_between(src, dst, forth, back);
}

void acsim_block_begin(acsim_block *b) {
  ac_push(b->arena, &b->slots, (acsim_slot){0});
  ac_push(b->arena, &b->queues, (acsim_queue){0});
  b->mask[0] = b->mask[1] = ~0ull;
}

/* ---- event ids ---- */

const char *acsim_event_name(int event) {
  return event_names[event];
}

static int take_event(acsim_block *b, int event, acsim_at at, uint8_t *owners) {
  for (int i = 0; i < EVENT_IDS; i++)
    if (!b->held[event][i]) {
      b->held[event][i] = true;
      b->held_at[event][i] = at;
      owners[event] |= (uint8_t)(1u << i);
      return i;
    }
  acsim_fault(b->s, b, "event-ids-exhausted", at,
              "all %d event ids of %s are in use: every tensor between EnQue and DeQue (or freed and not allocated "
              "again), and every AllocEventID without its ReleaseEventID, holds one",
              EVENT_IDS, event_names[event]);
  return -1;
}
static void drop_event(acsim_block *b, int event, int8_t *id) {
  if (*id >= 0 && event >= 0) {
    b->held[event][*id] = false;
    b->queue_ids[event] &= (uint8_t) ~(1u << *id);
  }
  *id = -1;
}

static bool check_event(acsim_block *b, const char *what, int event, int id, acsim_at at) {
  if (event >= 0 && event < EVENT_KINDS && id >= 0 && id < EVENT_IDS) return true;
  acsim_fault(b->s, b, "bad-event", at, "%s: event id %d of %s: ids are 0..%d", what, id,
              event >= 0 && event < EVENT_KINDS ? event_names[event] : "an unknown event", EVENT_IDS - 1);
  return false;
}

void acsim_flag_raise(acsim_block *b, int event, int id, acsim_at at) {
  unsigned bit = 1u << id;
  if (b->owed_flags[event] & bit) {
    b->owed_flags[event] &= (uint8_t)~bit;
    return;
  }
  if (b->flag[event][id])
    acsim_fault_pair(b->s, b, "flag-set-twice", at, b->flag_at[event][id],
                     "SetFlag<%s>(%d): the flag is set already (%s:%d) and nothing has waited for it",
                     event_names[event], id, b->flag_at[event][id].file, b->flag_at[event][id].line);
  b->flag[event][id] = true;
  b->flag_at[event][id] = at;
  event_set(b, event, &b->flag_clock[event][id]);
}
void acsim_flag_lower(acsim_block *b, int event, int id, acsim_at at) {
  b->flag[event][id] = false;
  event_wait(b, event, &b->flag_clock[event][id], "WaitFlag", at);
}

/* A flag by hand, with an id that a tensor's own flag has: the two are one on the device. Ids 6 and 7 are the system's and those of
 * automatic synchronisation (asc-devkit docs/zh, SetFlag/WaitFlag). */
static void check_owner(acsim_block *b, int event, int id, acsim_at at) {
  unsigned bit = 1u << id;
  if (b->queue_ids[event] & bit)
    acsim_fault_pair(
        b->s, b, "event-id-clash", at, b->held_at[event][id],
        "SetFlag<%s>(%d): the queue that enqueued or freed a tensor at %s:%d has set the flag with this id: "
        "AllocEventID gives an id that nobody else takes",
        event_names[event], id, b->held_at[event][id].file ? b->held_at[event][id].file : "?",
        b->held_at[event][id].line);
  else if (id >= 6 && !((b->alloc_ids[event] | b->fetched_ids[event]) & bit))
    acsim_fault(b->s, b, "event-id-reserved", at,
                "SetFlag<%s>(%d): ids 6 and 7 are kept for the system; take 0 to 5, or AllocEventID",
                event_names[event], id);
}

void acsim_flag_set(int32_t event, int32_t id, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("SetFlag", AT);
  b->calls++;
  if (!check_event(b, "SetFlag", event, id, AT)) return;
  check_owner(b, event, id, AT);
  if (b->stalled && acsim_defer_set(b, (ac_pipe)event_pipes[event].from, event, id, AT)) return;
  acsim_flag_raise(b, event, id, AT);
  if (b->stalled) acsim_defer_resume(b);
}
void acsim_flag_wait(int32_t event, int32_t id, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("WaitFlag", AT);
  b->calls++;
  if (!check_event(b, "WaitFlag", event, id, AT)) return;
  if (acsim_defer_wait(b, (ac_pipe)event_pipes[event].to, event, id, AT)) return;
  if (!b->flag[event][id]) acsim_defer_settle(b, event, id, AT); /* the scalar unit waits itself */
  acsim_flag_lower(b, event, id, AT);
}
int32_t acsim_event_fetch(int32_t event, int32_t keep, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("FetchEventID", AT);
  b->calls++;
  if (!check_event(b, "FetchEventID", event, 0, AT)) return 0;
  int id = take_event(b, event, AT, keep ? b->alloc_ids : b->fetched_ids);
  if (id < 0) return 0;
  if (!keep) b->held[event][id] = false;
  return id;
}
void acsim_event_release(int32_t event, int32_t id, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("ReleaseEventID", AT);
  b->calls++;
  if (!check_event(b, "ReleaseEventID", event, id, AT)) return;
  if (!b->held[event][id])
    acsim_fault(b->s, b, "event-not-held", AT, "ReleaseEventID<%s>(%d): the id is not allocated", event_names[event],
                id);
  b->held[event][id] = false;
  b->alloc_ids[event] &= (uint8_t) ~(1u << id);
}
/* Of pipe_t (CANN's numbers: PIPE_ALL is 6, PIPE_FIX 10); what has no pipe here stands for all of them. */
static ac_pipe pipe_of(int32_t pipe) {
  if (pipe == 10) return AC_PIPE_FIX;
  return pipe >= 0 && pipe <= AC_PIPE_MTE3 ? (ac_pipe)pipe : AC_PIPE_COUNT;
}
void acsim_pipe_barrier(int32_t pipe, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("PipeBarrier", AT);
  b->calls++;
  if (pipe == 0) /* PIPE_S */
    acsim_fault(b->s, b, "bad-barrier", AT,
                "PipeBarrier<PIPE_S> does not exist: the scalar unit is in order by itself");
  else if (pipe_of(pipe) == AC_PIPE_COUNT || !b->stalled || !acsim_defer_barrier(b, pipe_of(pipe), AT))
    acsim_order_barrier(b, pipe_of(pipe)), acsim_time_barrier(b, pipe_of(pipe), AT);
}

/* ---- TPipe ---- */

/* What the buffers that lived together with a Select took. */
static void report_select(acsim_block *b) {
  uint32_t ub = (uint32_t)b->s->chip->ub, keep = (uint32_t)b->s->chip->ub_reserved;
  if (b->select_used && b->ub_at_once > (int64_t)ub - keep)
    acsim_fault(
        b->s, b, "ub-reserved", b->select_at,
        "Select in mode 1 or 2 overwrites the last %u bytes of UB, and the kernel's buffers take %lld of %u bytes",
        keep, (long long)b->ub_at_once, ub);
  b->select_used = false;
  b->ub_at_once = 0;
}

void acsim_ub_taken(acsim_block *b, int64_t bytes) {
  if (bytes > b->ub_at_once) b->ub_at_once = bytes;
  if (bytes > b->ub_peak) b->ub_peak = bytes;
}

static void give_up_buffers(acsim_block *b, acsim_at at) {
  report_select(b);
  for (size_t i = 1; i < b->queues.len; i++) {
    acsim_queue *q = &b->queues.data[i];
    int forth, back;
    queue_events(q, &forth, &back);
    for (int k = 0; k < q->num; k++) {
      acsim_slot *s = &b->slots.data[q->first + k];
      if (s->state == SLOT_GONE) continue;
      event_wait(b, back, &s->freed, "TPipe", at); /* TPipe waits for the free flags (kernel_tpipe_impl.h) */
      drop_event(b, s->queued_as, &s->queue_event);
      drop_event(b, back, &s->free_event);
      s->state = SLOT_GONE;
      s->at = at;
    }
  }
  memset(b->used, 0, sizeof b->used);
}

void acsim_queue_settle(acsim_block *b, int mem, uint32_t from, uint32_t to) {
  for (size_t i = 1; i < b->queues.len; i++) {
    const acsim_queue *q = &b->queues.data[i];
    int forth, back;
    queue_events(q, &forth, &back);
    for (int k = 0; k < q->num; k++) {
      acsim_slot *s = &b->slots.data[q->first + k];
      if (s->mem != mem || s->base < from || s->base >= to || s->free_event < 0) continue;
      event_wait(b, back, &s->freed, "TBufPool", s->at);
      drop_event(b, back, &s->free_event);
    }
  }
}

static void report_unfreed(acsim_block *b) {
  for (size_t i = 1; i < b->queues.len; i++) {
    acsim_queue *q = &b->queues.data[i];
    for (int k = 0; k < q->num; k++) {
      acsim_slot *s = &b->slots.data[q->first + k];
      if (s->state == SLOT_QUEUED)
        acsim_fault(b->s, b, "never-dequeued", s->at,
                    "a tensor of the %s queue of %s:%d was enqueued and never dequeued", acsim_pos_name(s->pos),
                    q->at.file, q->at.line);
      else if (s->state == SLOT_ALLOCATED || s->state == SLOT_DEQUEUED)
        acsim_fault(b->s, b, "never-freed", s->at, "a tensor of the %s queue of %s:%d was never freed",
                    acsim_pos_name(s->pos), q->at.file, q->at.line);
    }
  }
}

void acsim_pipe_open(void *pipe, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("TPipe", AT);
  b->calls++;
  if (b->pipe && b->pipe != pipe && b->used[ACSIM_UB])
    acsim_fault(b->s, b, "two-pipes", AT,
                "a second TPipe is made while that of %s:%d holds %u bytes of UB: their buffers overlap",
                b->pipe_at.file, b->pipe_at.line, b->used[ACSIM_UB]);
  if (b->used[ACSIM_UB]) give_up_buffers(b, AT);
  b->pipe = pipe;
  b->pipe_at = AT;
  b->atomic = ACSIM_ATOMIC_NONE; /* InitSocState (CANN 8.1, kernel_tpipe_impl.h) */
  acsim_mask_reset(b, "TPipe", AT);
  b->mask_lost = NULL;
}
void acsim_pipe_close(void *pipe) {
  acsim_block *b = acsim_self; /* a TPipe that outlives its block does nothing */
  if (!b || b->pipe != pipe) return;
  report_unfreed(b);
  give_up_buffers(b, b->pipe_at);
  acsim_order_barrier(b, AC_PIPE_COUNT);
  acsim_time_barrier(b, AC_PIPE_COUNT, b->pipe_at);
  b->pipe = NULL;
}
void acsim_pipe_reset(void *pipe, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("TPipe::Reset", AT);
  b->calls++;
  if (b->pipe != pipe) return;
  report_unfreed(b);
  give_up_buffers(b, AT);
}
void *acsim_pipe_current(void) {
  return acsim_here("GetTPipePtr")->pipe;
}

/* The device does not look: the buffer exists as far as the memory does, and kernels with little data never get beyond that. */
static void overflow(acsim_block *b, int mem, int pos, uint32_t num, uint32_t bytes, acsim_at at) {
  ac_buf t;
  ac_buf_init(&t, b->arena);
  for (size_t i = 1; i < b->queues.len; i++) {
    acsim_queue *q = &b->queues.data[i];
    if (q->mem != mem || b->slots.data[q->first].state == SLOT_GONE) continue;
    ac_printf(&t, "%s%s %s of line %d: %u x %u bytes", t.len ? "; " : "", acsim_pos_name(q->src),
              q->tbuf ? "buffer" : "queue", q->at.line, (unsigned)q->num, q->bytes);
  }
  acsim_fault(b->s, b, "ub-overflow", at,
              "InitBuffer wants %u x %u bytes in %s (%s), where %u of %u bytes are taken: %s", num, bytes,
              acsim_mem_name(mem), acsim_pos_name(pos), b->used[mem], acsim_memory_of(b, mem)->size,
              t.len ? ac_buf_str(&t) : "no other buffer");
}

enum { MAX_BUFFERS = 64 }; /* (asc-devkit docs/zh, InitBuffer) */

/* A queue that has buffers already: they stay taken, and nobody has them any more. */
void acsim_queue_again(uint16_t id, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("InitBuffer", AT);
  if (!id || id >= b->queues.len) return;
  const acsim_queue *q = &b->queues.data[id];
  if (!q->num || b->slots.data[q->first].state == SLOT_GONE) return;
  acsim_fault_pair(
      b->s, b, "initialised-twice", AT, q->at,
      "InitBuffer of a queue or buffer that has its memory since %s:%d: that stays taken until TPipe::Reset",
      q->at.file ? q->at.file : "?", q->at.line);
}

static uint16_t init(acsim_block *b, void *pipe, int src, int dst, int depth, uint32_t num, uint32_t bytes, bool tbuf,
                     acsim_at at) {
  b->calls++;
  acsim_time_call(b, ACSIM_CALL_INIT);
  int mem = queue_mem(src, dst);
  uint64_t each = ((uint64_t)bytes + 31) / 32 * 32, all = each * num;
  acsim_memory *m = acsim_memory_of(b, mem);
  uint64_t left = m->size - b->used[mem];
  if (!b->pipe) b->pipe = pipe, b->pipe_at = at;
  uint32_t live = num;
  for (size_t i = 1; i < b->slots.len; i++) live += b->slots.data[i].state != SLOT_GONE;
  if (live > MAX_BUFFERS)
    acsim_fault(b->s, b, "too-many-buffers", at, "InitBuffer makes %u buffers of all together: a TPipe has %d", live,
                MAX_BUFFERS);
  if (all > left) {
    overflow(b, mem, src, num, (uint32_t)each, at);
    all = left;
  }
  acsim_queue q = {.first = (uint16_t)b->slots.len,
                   .num = (uint16_t)num,
                   .depth = depth < 1 ? 1 : depth,
                   .src = (uint8_t)src,
                   .dst = (uint8_t)dst,
                   .mem = (uint8_t)mem,
                   .bytes = (uint32_t)each,
                   .tbuf = tbuf,
                   .at = at};
  if (q.depth > MAX_FIFO) q.depth = MAX_FIFO;
  for (uint32_t i = 0; i < num; i++) {
    uint64_t from = i * each < all ? i * each : all;
    acsim_slot s = {.base = b->used[mem] + (uint32_t)from,
                    .size = (uint32_t)(all - from < each ? all - from : each),
                    .queue = (uint16_t)b->queues.len,
                    .gen = ++b->generation,
                    .mem = (uint8_t)mem,
                    .pos = (uint8_t)src,
                    .state = tbuf ? SLOT_TBUF : SLOT_FREE,
                    .at = at,
                    .free_event = -1,
                    .queue_event = -1};
    ac_push(b->arena, &b->slots, s);
  }
  if (m->state) memset(m->state + b->used[mem], 0, all);
  b->used[mem] += (uint32_t)all;
  if (mem == ACSIM_UB) acsim_ub_taken(b, b->used[mem]);
  ac_push(b->arena, &b->queues, q);
  return (uint16_t)(b->queues.len - 1);
}

uint16_t acsim_queue_init(void *pipe, int32_t src, int32_t dst, int32_t depth, uint32_t num, uint32_t bytes,
                          const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("InitBuffer", AT);
  if (!num) {
    acsim_fault(b->s, b, "bad-buffer", AT, "InitBuffer with 0 buffers");
    acsim_leave(b);
  }
  return init(b, pipe, src, dst, depth, num, bytes, false, AT);
}
uint16_t acsim_tbuf_init(void *pipe, int32_t pos, uint32_t bytes, const char *file, int32_t line) {
  return init(acsim_here_at("InitBuffer", AT), pipe, pos, pos, 0, 1, bytes, true, AT);
}

/* ---- queues whose memory a pool of the kernel's own hands out ---- */

uint16_t acsim_queue_shell(int32_t src, int32_t dst, int32_t depth, int32_t tbuf, uint32_t num, uint32_t bytes,
                           const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("InitStartBufHandle", AT);
  uint32_t used = b->used[queue_mem(src, dst)];
  if (!num || (tbuf && num != 1)) {
    acsim_fault(b->s, b, "bad-buffer", AT, "InitStartBufHandle with %u buffers", num);
    acsim_leave(b);
  }
  /* made as usual, then given their places one by one by InitBufHandle */
  uint16_t id = init(b, b->pipe, src, dst, depth, num, 0, tbuf, AT);
  b->queues.data[id].bytes = (bytes + 31) / 32 * 32;
  b->used[b->queues.data[id].mem] = used;
  return id;
}
void acsim_queue_place(uint16_t id, uint32_t index, const acsim_pool *p, uint32_t addr, uint32_t bytes,
                       const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("InitBufHandle", AT);
  uint64_t end = (uint64_t)addr + (bytes + 31) / 32 * 32;
  acsim_queue *q = id < b->queues.len ? &b->queues.data[id] : &b->queues.data[0];
  if (index >= q->num || !p->ready || addr % 32 || addr < p->base || end > (uint64_t)p->base + p->size) {
    acsim_fault(
        b->s, b, "bad-buffer", AT,
        "InitBufHandle: buffer %u of %u at bytes %u..%llu, in a pool of bytes %u..%u: it must lie in the pool, "
        "from a multiple of 32 on",
        index, q->num, addr, (unsigned long long)end, p->base, p->base + p->size);
    acsim_leave(b);
  }
  acsim_slot *s = &b->slots.data[q->first + index];
  s->base = addr;
  s->size = (bytes + 31) / 32 * 32;
  memset(acsim_memory_of(b, s->mem)->state + addr, 0, s->size);
  if (s->mem == ACSIM_UB) acsim_ub_taken(b, (int64_t)end);
}

/* ---- queues ---- */

static acsim_queue *queue_of(acsim_block *b, uint16_t id, const char *what, acsim_at at) {
  b->calls++;
  acsim_time_call(b, ACSIM_CALL_QUEUE);
  acsim_queue *q = id < b->queues.len ? &b->queues.data[id] : &b->queues.data[0];
  if (q->num > 0 && b->slots.data[q->first].state != SLOT_GONE) return q; /* queue 0 has no slots */
  acsim_fault(b->s, b, "queue-not-initialised", at,
              "%s on a queue or buffer without InitBuffer (or after TPipe::Reset)", what);
  acsim_leave(b);
}

static void view(const acsim_block *b, uint16_t slot, acsim_local *t) {
  const acsim_slot *s = &b->slots.data[slot];
  *t = (acsim_local){.addr = s->base,
                     .len = b->queues.data[s->queue].bytes,
                     .base = s->base,
                     .size = s->size,
                     .buf = slot,
                     .gen = s->gen,
                     .mem = s->mem,
                     .pos = s->pos};
}

void acsim_queue_alloc(uint16_t id, acsim_local *t, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("AllocTensor", AT);
  acsim_queue *q = queue_of(b, id, "AllocTensor", AT);
  int k = 0;
  while (k < q->num && b->slots.data[q->first + (q->cursor + k) % q->num].state != SLOT_FREE) k++;
  if (k == q->num) {
    acsim_slot *s = &b->slots.data[q->first + q->cursor % q->num];
    acsim_fault(b->s, b, "queue-deadlock", AT,
                "AllocTensor: all %d buffers of the %s queue of line %d are in use (one since line %d): the device "
                "waits for ever",
                q->num, acsim_pos_name(q->src), q->at.line, s->at.line);
    acsim_leave(b);
  }
  uint16_t slot = (uint16_t)(q->first + (q->cursor + k) % q->num);
  q->cursor = (q->cursor + k + 1) % q->num;
  acsim_slot *s = &b->slots.data[slot];
  int forth, back;
  queue_events(q, &forth, &back);
  event_wait(b, back, &s->freed, "AllocTensor", AT);
  drop_event(b, back, &s->free_event);
  s->state = SLOT_ALLOCATED;
  s->raw = false;
  s->gen = ++b->generation;
  s->at = AT;
  acsim_memory *m = acsim_memory_of(b, s->mem);
  memset(m->state + s->base, 0, s->size); /* what an earlier tensor left there is nobody's to read */
  view(b, slot, t);
}

/* The slot of a tensor that belongs to this queue, or 0 with a fault. */
static uint16_t own_slot(acsim_block *b, const acsim_queue *q, const acsim_local *t, const char *what, acsim_at at) {
  if (t->buf < q->first || t->buf >= q->first + q->num) {
    acsim_fault(b->s, b, "foreign-tensor", at, "%s: the tensor %s, not from this %s queue (of line %d)", what,
                t->buf && t->buf < b->slots.len ? "comes from another queue or buffer" : "was never allocated",
                acsim_pos_name(q->src), q->at.line);
    return 0;
  }
  return t->buf;
}

/* src, dst: the positions of EnQue<src, dst>, which choose the event in the queue's stead; -1: the queue's own. */
static int forth_event(const acsim_queue *q, int src, int dst) {
  int forth, back;
  if (src < 0)
    queue_events(q, &forth, &back);
  else
    events_between(src, dst, &forth, &back);
  return forth;
}

void acsim_queue_push(uint16_t id, const acsim_local *t, const char *file, int32_t line) {
  acsim_queue_push_as(id, t, -1, -1, file, line);
}
void acsim_queue_push_as(uint16_t id, const acsim_local *t, int32_t src, int32_t dst, const char *file,
                         int32_t line) {
  acsim_block *b = acsim_here_at("EnQue", AT);
  acsim_queue *q = queue_of(b, id, "EnQue", AT);
  uint16_t slot = own_slot(b, q, t, "EnQue", AT);
  if (!slot) return;
  acsim_slot *s = &b->slots.data[slot];
  if (s->state == SLOT_QUEUED || s->state == SLOT_FREE || s->gen != t->gen) {
    acsim_fault(b->s, b, s->state == SLOT_QUEUED && s->gen == t->gen ? "enqueued-twice" : "use-after-free", AT,
                "EnQue: the tensor was %s at line %d",
                s->state == SLOT_QUEUED && s->gen == t->gen ? "enqueued already" : "freed", s->at.line);
    return;
  }
  if (q->len == q->depth) {
    acsim_fault(b->s, b, "queue-full", AT, "EnQue: the %s queue of line %d has depth %d and holds %d tensors already",
                acsim_pos_name(q->src), q->at.line, q->depth, q->len);
    acsim_leave(b);
  }
  int forth = forth_event(q, src, dst);
  if (forth >= 0) s->queue_event = (int8_t)take_event(b, forth, AT, b->queue_ids);
  s->queued_as = (int8_t)forth;
  event_set(b, forth, &s->queued);
  q->fifo[(q->head + q->len++) % MAX_FIFO] = slot;
  s->state = SLOT_QUEUED;
  s->at = AT;
}

void acsim_queue_pop(uint16_t id, acsim_local *t, const char *file, int32_t line) {
  acsim_queue_pop_as(id, t, -1, -1, file, line);
}
void acsim_queue_pop_as(uint16_t id, acsim_local *t, int32_t src, int32_t dst, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("DeQue", AT);
  acsim_queue *q = queue_of(b, id, "DeQue", AT);
  if (!q->len) {
    acsim_fault(b->s, b, "queue-empty", AT,
                "DeQue: nothing was enqueued in the %s queue of line %d: the device waits for ever",
                acsim_pos_name(q->src), q->at.line);
    acsim_leave(b);
  }
  uint16_t slot = q->fifo[q->head];
  q->head = (q->head + 1) % MAX_FIFO;
  q->len--;
  acsim_slot *s = &b->slots.data[slot];
  int forth = forth_event(q, src, dst);
  if (forth != s->queued_as)
    acsim_fault(b->s, b, "event-mismatch", AT,
                "DeQue waits for %s, but EnQue at %s:%d set %s: the device waits for ever",
                forth < 0 ? "no event" : event_names[forth], s->at.file ? s->at.file : "?", s->at.line,
                s->queued_as < 0 ? "no event" : event_names[s->queued_as]);
  else
    event_wait(b, forth, &s->queued, "DeQue", AT);
  drop_event(b, s->queued_as, &s->queue_event);
  s->state = SLOT_DEQUEUED;
  s->at = AT;
  view(b, slot, t);
}

void acsim_queue_free(uint16_t id, const acsim_local *t, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("FreeTensor", AT);
  acsim_queue *q = queue_of(b, id, "FreeTensor", AT);
  uint16_t slot = own_slot(b, q, t, "FreeTensor", AT);
  if (!slot) return;
  acsim_slot *s = &b->slots.data[slot];
  if (s->state == SLOT_FREE || s->gen != t->gen) {
    acsim_fault(b->s, b, "double-free", AT, "FreeTensor: the tensor was freed already (line %d)", s->at.line);
    return;
  }
  if (s->state == SLOT_QUEUED) {
    acsim_fault(b->s, b, "use-while-queued", AT,
                "FreeTensor: the tensor was enqueued at line %d and not dequeued yet", s->at.line);
    return;
  }
  int forth, back;
  queue_events(q, &forth, &back);
  if (back >= 0) s->free_event = (int8_t)take_event(b, back, AT, b->queue_ids);
  event_set(b, back, &s->freed);
  s->state = SLOT_FREE;
  s->at = AT;
}

int32_t acsim_queue_count(uint16_t id) {
  acsim_block *b = acsim_here("GetTensorCountInQue");
  return queue_of(b, id, "GetTensorCountInQue", (acsim_at){0})->len;
}
int32_t acsim_queue_vacant(uint16_t id) {
  acsim_block *b = acsim_here("VacantInQue");
  acsim_queue *q = queue_of(b, id, "VacantInQue", (acsim_at){0});
  return q->len < q->depth;
}
int32_t acsim_queue_idle(uint16_t id) {
  acsim_block *b = acsim_here("HasIdleBuffer");
  acsim_queue *q = queue_of(b, id, "HasIdleBuffer", (acsim_at){0});
  for (int i = 0; i < q->num; i++)
    if (b->slots.data[q->first + i].state == SLOT_FREE) return 1;
  return 0;
}

void acsim_tbuf_get(uint16_t id, uint32_t offset, uint32_t bytes, acsim_local *t, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("TBuf::Get", AT);
  acsim_queue *q = queue_of(b, id, "TBuf::Get", AT);
  view(b, q->first, t);
  if (!bytes) bytes = offset <= q->bytes ? q->bytes - offset : 0;
  if ((uint64_t)offset + bytes > q->bytes)
    acsim_fault(b->s, b, "ub-out-of-bounds", AT, "TBuf::Get wants bytes %u..%llu of a %s buffer of %u bytes", offset,
                (unsigned long long)offset + bytes, acsim_pos_name(q->src), q->bytes);
  t->addr += offset;
  t->len = bytes;
}

/* What the chip has: data/chips, atomic_stores. */
void acsim_atomic_check(acsim_block *b, const char *what, int op, int type, acsim_at at) {
  const ac_chip *chip = b->s->chip;
  if (ac_chip_atomic(chip, (ac_atomic)op, (ac_dtype)type)) return; /* the kinds have one order */
  const char *have = ac_chip_atomic_dtypes(b->arena, chip, (ac_atomic)op);
  if (!*have)
    acsim_fault(b->s, b, "not-on-chip", at, "%s does not exist on %s", what, chip->soc);
  else
    acsim_fault(b->s, b, "no-such-dtype", at, "%s of %s does not exist on %s: atomic stores are of %s", what,
                ac_dtypes[type].cpp, chip->soc, have);
}

void acsim_atomic(int32_t op, int32_t type, const char *file, int32_t line) {
  static const char *const names[] = {"SetAtomicNone", "SetAtomicAdd", "SetAtomicMax", "SetAtomicMin"};
  acsim_block *b = acsim_here("SetAtomic");
  b->calls++;
  if (op != ACSIM_ATOMIC_NONE && type >= 0) acsim_atomic_check(b, names[op], op, type, AT);
  b->atomic = op;
  if (type >= 0) b->atomic_type = type;
}

/* ---- the end of a block ---- */

void acsim_block_end(acsim_block *b) {
  if (b->stalled) acsim_defer_settle(b, -1, 0, (acsim_at){0});
  for (int e = 0; e < EVENT_KINDS; e++)
    for (int i = 0; i < EVENT_IDS; i++)
      if (b->flag[e][i])
        acsim_fault(b->s, b, "flag-left-set", b->flag_at[e][i], "the flag %s, id %d, is set and nothing waits for it",
                    event_names[e], i);
  for (int e = 0; e < EVENT_KINDS; e++)
    for (int i = 0; i < EVENT_IDS; i++)
      if (b->alloc_ids[e] >> i & 1)
        acsim_fault(b->s, b, "event-never-released", b->held_at[e][i],
                    "AllocEventID<%s> took id %d, and ReleaseEventID never gave it back", event_names[e], i);
  if (b->pipe) report_unfreed(b);
  report_select(b);
  acsim_mask_end(b);
  if (b->atomic != ACSIM_ATOMIC_NONE)
    acsim_fault(b->s, b, "atomic-left-on", (acsim_at){0},
                "the kernel ends with atomic stores on: SetAtomicNone is missing");
}

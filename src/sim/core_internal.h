/* What the files of the core share. */
#ifndef AC_SIM_CORE_INTERNAL_H
#define AC_SIM_CORE_INTERNAL_H

#include <pthread.h>
#include <setjmp.h>

#include "../../sim/include/acsim/kernel_abi.h"
#include "sim/core.h"

typedef struct {
  const char *file;
  int line;
} acsim_at;
#define AT ((acsim_at){file, line})

/* ---- faults ---- */

typedef struct {
  ac_sim_fault f;
  acsim_at other; /* a hazard's earlier access */
  int64_t rank;   /* order position of the block whose message is kept */
  bool cores;     /* between two blocks: another fault than that of one block at the same two places */
} acsim_entry;
typedef struct {
  pthread_mutex_t lock;
  ac_arena *arena;
  AC_VEC(acsim_entry) list;
  int64_t dropped;
} acsim_collector;

/* ---- global memory ---- */

typedef struct acsim_parts acsim_parts;
typedef struct {
  acsim_buffer b;
  uint8_t *start, *end;
  int64_t elems;
  uint64_t *written; /* a bit an element: all its bytes were; NULL for inputs */
  uint64_t *filled;  /* elements that only a fill has written; NULL: none */
  uint64_t *twice;   /* allocated by the first double write */
  acsim_at twice_at; /* lowest source place that wrote an element again */
  uint8_t *before;   /* tiling data as the launch finds it */
  int id;            /* in the order of acsim_add_buffer */
  uint64_t *lines[2],
      *seen[2];     /* L2 lines read, written: in this launch, in earlier ones; NULL: time is not modelled */
  int64_t expected; /* partial: only so many elements have to be written */
  bool partial;
  acsim_parts *parts; /* elements that were not written in one piece; NULL: none (core_written.c) */
} acsim_gm;

/* ---- order ---- */

/* When something was over, in ticks, and the instruction that it waited for (core_time.c). */
typedef struct {
  int64_t t;
  acsim_at at;
  const char *op;
  ac_pipe pipe;
  uint32_t span; /* 1 + its number in the block's trace; 0: none */
} acsim_stamp;
/* Of every pipe: up to which of its epochs all is known to have finished (core_hazard.c); and when that was. */
typedef struct {
  uint32_t k[AC_PIPE_COUNT];
  acsim_stamp stamp;
} acsim_clock;
typedef struct acsim_time acsim_time;
typedef struct acsim_times acsim_times;
typedef struct acsim_order acsim_order;

/* ---- on-chip memory ---- */

/* state: one bit a bit of data, set once written; 0xff is a whole written byte. Masks need bits: a Compare over a partly filled
 * repeat leaves the bits of its undefined lanes undefined. */
typedef struct {
  uint8_t *data, *state;
  uint32_t size;
} acsim_memory;

typedef enum { SLOT_FREE, SLOT_ALLOCATED, SLOT_QUEUED, SLOT_DEQUEUED, SLOT_TBUF, SLOT_GONE } acsim_slot_state;
typedef struct {
  uint32_t base, size;
  uint16_t queue, gen;
  uint8_t mem, pos;
  acsim_slot_state state;
  acsim_at at;               /* last change of state */
  int8_t free_event;         /* event id that FreeTensor took; -1: none */
  int8_t queue_event;        /* event id that EnQue took; -1: none */
  int8_t queued_as;          /* the event of EnQue */
  acsim_clock queued, freed; /* what those two say */
  bool raw;                  /* a plain pointer to it has been handed out: its unwritten bytes hold ACSIM_UNWRITTEN */
} acsim_slot;
enum { MAX_FIFO = 64 };
typedef struct {
  uint16_t first, num; /* slots */
  uint16_t fifo[MAX_FIFO];
  int head, len, depth, cursor;
  uint8_t src, dst, mem;
  uint32_t bytes; /* of one slot, rounded up */
  bool tbuf;
  acsim_at at;
} acsim_queue;

/* ---- a block ---- */

enum { EVENT_KINDS = 35, EVENT_IDS = 8, CROSS_FLAGS = 16, SESSION_KERNELS = 64 };
typedef struct acsim_worker acsim_worker;
typedef struct acsim_wait acsim_wait;
typedef struct acsim_sync acsim_sync;
typedef struct acsim_pending acsim_pending;
typedef struct acsim_cache acsim_cache;
typedef struct acsim_deferred acsim_deferred;
typedef struct acsim_block {
  acsim_session *s;
  acsim_worker *worker;
  int64_t index, rank; /* block number; position in the starting order */
  acsim_seat *seat, own_seat;
  acsim_memory mem[ACSIM_MEMS];
  AC_VEC(acsim_slot) slots;   /* [0] unused */
  AC_VEC(acsim_queue) queues; /* [0] unused */
  uint32_t used[ACSIM_MEMS];
  void *pipe;
  acsim_at pipe_at;
  bool select_used; /* a Select that writes the reserved bytes */
  acsim_at select_at;
  bool flag[EVENT_KINDS][EVENT_IDS], held[EVENT_KINDS][EVENT_IDS];
  acsim_at flag_at[EVENT_KINDS][EVENT_IDS];
  acsim_clock flag_clock[EVENT_KINDS][EVENT_IDS];
  acsim_order *order; /* NULL: hazards are not looked for */
  acsim_time *time;   /* NULL: time is not modelled */
  int atomic, atomic_type;
  uint64_t pad_value;
  bool pad_set;
  int64_t ub_peak, calls;
  int64_t ub_at_once; /* as ub_peak, since buffers were given up last */
  uint64_t mask[2];  /* the mask register, lanes 0..63 and 64..127; in counter mode mask[0] is a number of elements */
  bool mask_counter; /* SetMaskCount */
  uint8_t cmp_mask[16],
      cmp_state[16];                /* CMPMASK: what Compare without dst leaves, and which bits of it are defined */
  double acc;                       /* accumulation register: GetAccVal */
  double peak_value;                /* GetReduceMaxMinCount */
  int64_t peak_index, gather_count; /* ...; GetGatherMaskRemainCount */
  uint16_t merged[4];               /* GetMrgSortResult */
  uint64_t deq_scale;               /* SetDeqScale: one register, whichever form it holds */
  uint64_t address[8][8];           /* VA0 .. VA7 */
  uint16_t generation;
  void *scratch[6]; /* of the library's functions */
  int64_t scratch_bytes[6];
  uint8_t *undefined; /* core_undefined.c: one byte a lane */
  int64_t undefined_n;
  ac_arena *arena;
  jmp_buf leave;
  uint8_t deq_form;                         /* the last SetDeqScale: ACSIM_DEQ_... */
  acsim_local deq_vector;                   /* the 16 words of the vector form */
  int8_t saturation;                        /* CTRL bit 48: 0 the session's setting, 1 saturate, 2 do not */
  bool bypass;                              /* a scalar access past the data cache is under way */
  uint32_t pool_used;                       /* of a memory, while a pool makes its buffers */
  int64_t vector_elements, copied_elements; /* of instructions: see acsim_work */
  uint32_t stalled; /* a bit a pipe that waits for a flag which is not set yet (core_defer.c) */
  bool replaying, any_raw;
  acsim_deferred *deferred[AC_PIPE_COUNT];
  uint64_t n_deferred;
  uint8_t queue_ids[EVENT_KINDS], alloc_ids[EVENT_KINDS], fetched_ids[EVENT_KINDS]; /* bits: who has the event ids */
  uint8_t owed_flags[EVENT_KINDS]; /* bits: waits that were given up; the set that comes for them is theirs */
  acsim_at held_at[EVENT_KINDS][EVENT_IDS];
  acsim_at precision_at;        /* the last warning of that kind */
  uint8_t mask_by;              /* who set the mask register: ACSIM_MASK_FULL ... */
  acsim_at mask_at, counter_at; /* where; SetMaskCount or SetMaskNorm */
  const char *mask_lost;        /* the count form that made an end of a mask; NULL: none */
  acsim_at mask_lost_at, mask_was_at;
  acsim_cache *cache; /* lines of global memory that the scalar unit holds; NULL: none yet */
  /* between blocks: core_sync.c */
  int kernel_type;                     /* KERNEL_TASK_TYPE; -1: not said */
  acsim_pending *pending[CROSS_FLAGS]; /* flags between cores that this block has set and not waited for */
  acsim_clock *peers;                  /* by rank: up to where it knows the other blocks to be; NULL: nothing yet */
  uint32_t segment;                    /* counts the times that it learned something of them */
} acsim_block;

/* ---- a session ---- */

/* Steps of one stride in global memory; see core_hazard.h. */
typedef struct acsim_trace acsim_trace;
typedef struct acsim_traces {
  acsim_trace *data;
  size_t len, cap;
} acsim_traces;

typedef enum { BLOCK_WAITS_TO_START, BLOCK_RUNS, BLOCK_ARRIVED, BLOCK_DONE } acsim_block_state;
struct acsim_session {
  ac_arena *arena;
  const ac_chip *chip;
  acsim_config cfg;
  AC_VEC(acsim_gm *) gms; /* sorted by address */
  acsim_collector faults;
  int64_t ub_peak, blocks_run, block_dim;
  uint64_t key;
  const void *kernels[SESSION_KERNELS]; /* that host code of a file launched by <<<>>>, each once */
  int n_kernels;
  bool finished;
  /* the running launch */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  void (*call)(void *);
  void *user;
  int64_t first, count, next, done, arrived, cleared, missing;
  bool *bounded;               /* by row of ac_error_bounds: it ran, and its results may be off */
  int16_t op_bound[ACSIM_OPS]; /* row of ac_error_bounds of an instruction; -1: exact */
  int64_t *pick;               /* the blocks that run, ascending; NULL: [first, first + count) */
  uint64_t phase;
  uint8_t *state;       /* acsim_block_state by rank */
  acsim_traces *traces; /* what the blocks did to global memory since the last SyncAll, by rank */
  int running, threads;
  pthread_t *handles;
  acsim_times *times;                       /* NULL: time is not modelled */
  int64_t vector_elements, copied_elements; /* of the blocks that have ended */
  int n_handles, cap_handles;
  acsim_wait **waits; /* by rank; NULL: does not wait */
  int64_t waiting;
  bool stuck, restart, restarted;
  int ratio;         /* vector cores to a block of the launch: 2 for KERNEL_TYPE_MIX_AIC_1_2 */
  int schedule_mode; /* SetScheduleMode of the tiling code; -1: not known */
  acsim_sync *sync;
};

extern _Thread_local acsim_block *acsim_self;
extern _Thread_local acsim_session *acsim_current;

/* The block that runs on this thread. An API call outside of a launch ends the program with a message. */
acsim_block *acsim_here(const char *what);
extern acsim_at
    acsim_outside; /* of the call that ended the process because no kernel was running; no file: none did */
acsim_block *acsim_here_at(const char *what, acsim_at at);

/* core_perturb.c: n results of a function of the library, or of an instruction, when they are computed. */
void acsim_perturb_open(acsim_session *s);
/* TPipe's buffers, or tensors made without one, reach up to this byte of UB. */
void acsim_ub_taken(acsim_block *b, int64_t bytes);
void acsim_perturb(acsim_block *b, const char *name, int type, void *d, int64_t n);
int acsim_loose_bound(const char *name); /* row of ac_error_bounds with a bound above half a unit; -1: none */
void acsim_perturb_row(acsim_block *b, int id, int type, void *d, int64_t n);
void acsim_perturb_op(acsim_block *b, int op, int type, void *d, int64_t n);

/* Number of the block at a position among those that run, and back (outside of [0, count): it does not run). */
int64_t acsim_index_at(const acsim_session *s, int64_t position);
int64_t acsim_position_of(const acsim_session *s, int64_t index);

/* Records a fault; b may be NULL (of no block). */
void acsim_fault(acsim_session *s, const acsim_block *b, const char *kind, acsim_at at, const char *fmt, ...)
    AC_PRINTF(5, 6);
/* Has a fault or warning of that kind been reported? Between launches only. */
bool acsim_fault_seen(const acsim_session *s, const char *kind);
/* As acsim_fault, of a pair of accesses: merged by both places. */
void acsim_fault_pair(acsim_session *s, const acsim_block *b, const char *kind, acsim_at at, acsim_at other,
                      const char *fmt, ...) AC_PRINTF(6, 7);
/* The same of accesses of two blocks: what is missing is an order between cores. Reported before what one block has at those places. */
void acsim_fault_cores(acsim_session *s, const acsim_block *b, const char *kind, acsim_at at, acsim_at other,
                       const char *fmt, ...) AC_PRINTF(6, 7);
/* Ends the block: it could not go on (a deadlock on the device). */
AC_NORETURN void acsim_leave(acsim_block *b);
/* Waits until every block before this one has finished, or waits in SyncAll: atomics take effect in block order. */
void acsim_gate(acsim_block *b);

/* ---- the one way to memory -------------------------------------------------------------------------------------------
 * Every instruction names its pipe and what it touches here, before it computes. Bounds, alignment, lifetime and poison are
 * checked; order between pipes and time have their place here too. */

typedef enum {
  ACSIM_READ = 1,
  ACSIM_WRITE = 2,
  ACSIM_SOFT = 4,   /* undefined bytes are no fault here */
  ACSIM_ADDRESS = 8 /* only the address is taken: no access, as for order */
} acsim_how;
typedef struct {
  const char *name; /* "dst", "src0" ... */
  const acsim_local *t;
  int64_t off, bytes; /* from t->addr */
  int align;          /* of the address, bytes */
  int how;
} acsim_access;
bool acsim_touch(acsim_block *b, ac_pipe pipe, const char *op, acsim_at at, const acsim_access *x, int n);
/* The same where acsim_touch would report nothing, order apart; else false, and nothing is done. */
bool acsim_touch_allowed(acsim_block *b, ac_pipe pipe, const char *op, acsim_at at, const acsim_access *x, int n);
/* Host address of byte `off` of the view (checked before by acsim_touch). */
uint8_t *acsim_data(acsim_block *b, const acsim_local *t, int64_t off);
uint8_t *acsim_state(acsim_block *b, const acsim_local *t, int64_t off);
/* After a fault: what the instruction would have written counts as written, so that one mistake is reported once. */
void acsim_settle(acsim_block *b, const acsim_local *t, int64_t off, int64_t bytes);
acsim_memory *acsim_memory_of(acsim_block *b, int mem);
bool acsim_all_written(const uint8_t *state, int64_t n);
const char *acsim_pos_name(int pos);
const char *acsim_mem_name(int mem);

enum { ACSIM_UNWRITTEN = 0xa5 }; /* what an unwritten byte holds then */
/* A plain pointer into the view's buffer goes to the kernel: what is written through it can be told from what is not. */
void acsim_raw_pointer(acsim_block *b, const acsim_local *t);

/* Global memory: [at p, p + bytes). */
typedef enum {
  GM_READ,
  GM_WRITE,
  GM_UPDATE /* atomic */,
  GM_FILL, /* a write that one more may follow */
  GM_DIRTY /* no access: bytes that are in the data cache only (core_cache.c) */
} acsim_gm_how;
bool acsim_gm_touch(acsim_block *b, ac_pipe pipe, const char *op, acsim_at at, const acsim_global *g, int64_t off,
                    int64_t bytes, acsim_gm_how how);
/* After a fault: how many bytes from the start on may be touched all the same. */
int64_t acsim_gm_clip(acsim_block *b, const acsim_global *g, int64_t off, int64_t bytes, bool write);
acsim_gm *acsim_gm_find(acsim_session *s, const uint8_t *p);
/* The tensor that an access at p through g belongs to: the one with g's base, wherever p is; without one, the one at p. */
acsim_gm *acsim_gm_home(acsim_session *s, const acsim_global *g, const uint8_t *p);
void acsim_gm_report(acsim_session *s);
/* core_written.c: bytes [from, to) of the tensor are written; are read, and must have been written before. */
void acsim_written(acsim_block *b, acsim_at at, acsim_gm *m, int64_t from, int64_t to, acsim_gm_how how);
void acsim_written_before(acsim_block *b, const char *op, acsim_at at, acsim_gm *m, int64_t from, int64_t to,
                          bool atomic);
void acsim_written_free(acsim_gm *m);

enum { ACSIM_DEQ_NONE, ACSIM_DEQ_HALF, ACSIM_DEQ_WORD, ACSIM_DEQ_VECTOR };

/* Do half and bfloat16 results saturate now? */
static inline bool acsim_saturates(const acsim_block *b) {
  return b->saturation ? b->saturation == 1 : b->s->cfg.saturate;
}
/* Results that the library has computed, n elements at d: they saturate as an instruction's. */
void acsim_math_saturate(int type, void *d, int64_t n);
static inline void acsim_saturate(const acsim_block *b, int type, void *d, int64_t n) {
  if (acsim_saturates(b)) acsim_math_saturate(type, d, n);
}

/* Do atomic stores of that kind exist? (core_queue.c) */
void acsim_atomic_check(acsim_block *b, const char *what, int op, int type, acsim_at at);

/* ---- queues ---- */
int acsim_mem_of_pos(int pos);
/* Waits for the free flags of the slots in [from, to) of a memory. */
void acsim_queue_settle(acsim_block *b, int mem, uint32_t from, uint32_t to);
/* A flag inside the core, its conditions having been seen to. */
void acsim_flag_raise(acsim_block *b, int event, int id, acsim_at at);
void acsim_flag_lower(acsim_block *b, int event, int id, acsim_at at);
const char *acsim_event_name(int event);
const char *acsim_pipe_name(ac_pipe p);
/* Pipes wait for flags that can never be set now: because the scalar unit waits for this one (event -1: for all pipes, or at the end).
 * Reported; then what was kept runs in the order of the program. */
void acsim_defer_settle(acsim_block *b, int event, int id, acsim_at at);
/* A count form or the library: normal mode, full mask (core_mask.c). */
void acsim_mask_reset(acsim_block *b, const char *op, acsim_at at);
void acsim_mask_end(acsim_block *b);
void acsim_block_begin(acsim_block *b);
void acsim_block_end(acsim_block *b);

/* ---- values (core_math.c): n elements, dst may equal a source ---- */
void acsim_math_unary(int op, int type, void *d, const void *a, int64_t n, bool saturate);
void acsim_math_binary(int op, int type, void *d, const void *a, const void *b, int64_t n, bool saturate);
void acsim_math_scalar(int op, int type, void *d, const void *a, double f, int64_t i, int64_t n, bool saturate);
/* int16 and int32, right by bits > 0, rounded by the last bit that leaves. */
void acsim_math_shift_round(int type, void *d, const void *a, int bits, int64_t n);
/* d += a * f, each in its own type */
void acsim_math_axpy(int dtype, int type, void *d, const void *a, double f, int64_t n, bool saturate);
void acsim_math_muladd(int dtype, int type, void *d, const void *a, const void *b, int64_t n, bool saturate);
void acsim_math_fill(int type, void *d, double f, int64_t i, int64_t n);
void acsim_math_iota(int type, void *d, double f, int64_t i, int64_t n);
void acsim_math_cast(int dtype, int type, int round, void *d, const void *a, int64_t n, bool saturate);
void acsim_math_atomic(int op, int type, void *d, const void *a, int64_t n, bool saturate);
/* Lanes [0, n) to bits of `bits`, from bit 0 of byte 0 on; b NULL: the scalar. n a multiple of 8. */
void acsim_math_compare_bits(int mode, int type, uint8_t *bits, const void *a, const void *b, double f, int64_t i,
                             int64_t n);
/* d[i] = bit i % period ? a[i] : b[i], or the scalar when b is NULL; elements of 2 or 4 bytes. */
void acsim_math_select(int bytes, void *d, const uint8_t *bits, int64_t period, const void *a, const void *b,
                       const void *scalar, int64_t n);
/* Binary tree over neighbours; lanes outside the mask are absent. The result is in `type`. */
void acsim_math_tree_sum(int type, void *d, const void *a, const uint64_t mask[2], int lanes, bool saturate);
/* The same for `rows` rows of `lanes` (a power of two, at most 128) after one another, a result each. */
void acsim_math_sum_rows(int type, void *d, const void *a, int64_t rows, int lanes, bool saturate);
/* Where the largest or smallest of n > 0 elements is, the first one among equals. False: a NaN is among them, or the type is neither float nor
 * half. */
bool acsim_math_peak(int type, const void *a, int64_t n, bool largest, int64_t *index);

extern const char *const acsim_op_names[ACSIM_OPS];
int acsim_type_bytes(int type);

#endif

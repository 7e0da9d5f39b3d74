/* The C functions of the simulated machine that the AscendC-compatible headers call. C and C++; nothing but <stdint.h>.
 *
 * Every call carries the source place that asked for it (file, line), for fault messages.
 */
#ifndef ACSIM_KERNEL_ABI_H
#define ACSIM_KERNEL_ABI_H

#include <stddef.h>
#include <stdint.h>

#include "library_table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Element types, in the order of the simulator's dtype table. */
enum {
  ACSIM_F32,
  ACSIM_F16,
  ACSIM_BF16,
  ACSIM_F64,
  ACSIM_I8,
  ACSIM_U8,
  ACSIM_I16,
  ACSIM_U16,
  ACSIM_I32,
  ACSIM_U32,
  ACSIM_I64,
  ACSIM_U64,
  ACSIM_BOOL,
  ACSIM_I4 /* packed 4-bit integers: in Cast only, elsewhere they are the bytes they lie in */
};
/* Memories, in the order of AscendC's Hardware. */
enum { ACSIM_GM, ACSIM_UB, ACSIM_L1, ACSIM_L0A, ACSIM_L0B, ACSIM_L0C, ACSIM_BT, ACSIM_FB, ACSIM_MEMS };
/* Positions, in the order of AscendC's TPosition. */
enum {
  ACSIM_POS_GM,
  ACSIM_POS_A1,
  ACSIM_POS_A2,
  ACSIM_POS_B1,
  ACSIM_POS_B2,
  ACSIM_POS_C1,
  ACSIM_POS_C2,
  ACSIM_POS_CO1,
  ACSIM_POS_CO2,
  ACSIM_POS_VECIN,
  ACSIM_POS_VECOUT,
  ACSIM_POS_VECCALC,
  ACSIM_POS_SPM,
  ACSIM_POS_TSCM,
  ACSIM_POS_C2PIPE2GM,
  ACSIM_POS_C2PIPE2LOCAL,
  ACSIM_POS_MAX
};

/* A view of an on-chip buffer. Byte addresses count from the start of the memory. */
typedef struct {
  uint32_t addr;       /* first byte of this view */
  uint32_t len;        /* bytes from addr on, as GetSize tells */
  uint32_t base, size; /* the buffer: no access may leave [base, base + size) */
  uint16_t buf, gen;   /* slot and its generation: an old view of a slot that was freed is noticed */
  uint8_t mem, pos;
} acsim_local;

/* A view of global memory. */
typedef struct {
  uint8_t *ptr;   /* first byte of this view */
  uint8_t *base;  /* what SetGlobalBuffer named */
  uint64_t bytes; /* from base on; 0: no size was given */
} acsim_global;

/* Vector instructions by their AscendC names. */
#define ACSIM_VECTOR_OPS(X) \
  X(Exp)                    \
  X(Ln)                     \
  X(Abs)                    \
  X(Reciprocal)             \
  X(Sqrt)                   \
  X(Rsqrt)                  \
  X(Relu)                   \
  X(Not)                    \
  X(Add)                    \
  X(Sub)                    \
  X(Mul)                    \
  X(Div)                    \
  X(Max)                    \
  X(Min)                    \
  X(And)                    \
  X(Or)                     \
  X(AddRelu)                \
  X(SubRelu)                \
  X(MulAddDst)              \
  X(FusedMulAdd)            \
  X(FusedMulAddRelu)        \
  X(Adds)                   \
  X(Muls)                   \
  X(Maxs)                   \
  X(Mins)                   \
  X(LeakyRelu)              \
  X(ShiftLeft)              \
  X(ShiftRight)             \
  X(Axpy)                   \
  X(Duplicate)              \
  X(Cast)                   \
  X(Compare)                \
  X(CompareScalar)          \
  X(Select)                 \
  X(ReduceSum)              \
  X(ReduceMax)              \
  X(ReduceMin)              \
  X(WholeReduceSum)         \
  X(WholeReduceMax)         \
  X(WholeReduceMin)         \
  X(BlockReduceSum)         \
  X(BlockReduceMax)         \
  X(BlockReduceMin)         \
  X(PairReduceSum)          \
  X(Brcb)                   \
  X(CreateVecIndex)         \
  X(Gather)                 \
  X(GatherMask)             \
  X(Copy) X(MulCast) X(AddReluCast) X(SubReluCast) X(Scatter) X(Gatherb) X(AccumulateSum) X(CastDeq) X(AddDeqRelu)
enum {
#define X(name) ACSIM_OP_##name,
  ACSIM_VECTOR_OPS(X)
#undef X
      ACSIM_OPS
};

/* Strides of the repeat form. Block strides and repeat strides count 32-byte blocks, unless the instruction says otherwise. */
typedef struct {
  uint64_t mask[2]; /* lanes 0..63, 64..127 */
  int32_t repeat;
  uint16_t dst_block, a_block, b_block;
  uint16_t dst_repeat, a_repeat, b_repeat;
  uint8_t form;   /* where the mask comes from: ACSIM_MASK_... */
  uint64_t first; /* ACSIM_MASK_FIRST: how many lanes; in counter mode, how many elements */
} acsim_repeat;
enum { ACSIM_MASK_BITS, ACSIM_MASK_FIRST, ACSIM_MASK_REGISTER /* isSetMask = false */ };
/* The mask register: SetVectorMask, SetMaskCount and SetMaskNorm. In counter mode bits[0] is a number of elements. */
enum { ACSIM_MASK_FULL, ACSIM_MASK_LANES, ACSIM_MASK_ELEMENTS, ACSIM_MASK_OF_CALL, ACSIM_MASK_AS_MODE };
void acsim_mask_set(uint64_t high, uint64_t low, int32_t how, const char *file, int32_t line);
void acsim_mask_counter(int32_t on, const char *file, int32_t line);
void acsim_mask_lanes(int32_t n, int32_t lanes, const char *what, const char *file, int32_t line);
/* Registers that vector instructions leave: of the last WholeReduceMax/Min, GatherMask, MrgSort; vcadd's accumulator. */
void acsim_reduce_peak(int32_t type, void *value, void *index);
int64_t acsim_gather_count(void);
void acsim_merged(uint16_t counts[4]);
double acsim_accumulated(void);
/* Which view a UB address belongs to, for intrinsics that take plain pointers. NULL stays a view of nothing. */
void acsim_local_of(const void *p, acsim_local *t);
void acsim_set_deq_scale(uint64_t bits);
/* CMPMASK (128 bits): to and from UB. */
void acsim_cmp_mask_get(const acsim_local *dst, const char *file, int32_t line);
void acsim_cmp_mask_set(const acsim_local *src, const char *file, int32_t line);

typedef struct {
  uint8_t op;             /* ACSIM_OP_... */
  uint8_t type, dst_type; /* of the sources, of the destination */
  uint8_t mode;           /* rounding, comparison, select mode, order of results */
  const acsim_local *dst, *a, *b, *c;
  double f;                   /* scalar operand of a floating type */
  int64_t i;                  /* scalar operand of an integer type */
  int64_t count;              /* elements; the repeat form ignores it */
  const acsim_repeat *repeat; /* NULL: the count form */
  uint8_t
      by_register; /* the count form with isSetMask = false: the mask register says how many, and the count nothing; Select: CMPMASK has the scalar */
} acsim_vector;

/* One vector instruction. Returns what GatherMask counts, else 0. */
uint64_t acsim_vec(const acsim_vector *v, const char *file, int32_t line);

/* Copies. */
enum { ACSIM_COPY_COUNT, ACSIM_COPY_BLOCKS, ACSIM_COPY_PAD, ACSIM_COPY_SLICE };
typedef struct {
  uint8_t form; /* COUNT: DataCopy(.., count); BLOCKS: with DataCopyParams; PAD: DataCopyPad; SLICE: see below */
  uint8_t type;
  uint8_t is_pad;           /* pad value given */
  uint8_t ext;              /* DataCopyExtParams: wider fields */
  uint32_t blocks;          /* how many */
  int64_t bytes;            /* of a block */
  int64_t src_gap, dst_gap; /* bytes from the end of a block to the start of the next */
  uint32_t left, right;     /* padding, elements */
  uint64_t pad_bits;        /* the pad value's bits */
  int64_t src_at, dst_at;   /* bytes from the view's start to the first block */
} acsim_copy;
void acsim_copy_in(const acsim_local *dst, const acsim_global *src, const acsim_copy *c, const char *file,
                   int32_t line);
void acsim_copy_out(const acsim_global *dst, const acsim_local *src, const acsim_copy *c, const char *file,
                    int32_t line);
void acsim_copy_local(const acsim_local *dst, const acsim_local *src, const acsim_copy *c, const char *file,
                      int32_t line);
void acsim_set_pad_value(uint64_t bits);
/* DataCopy with SliceInfo: one array for each side, an entry a dimension, the innermost first. in: from global memory. */
typedef struct {
  uint32_t start, end, stride, burst, shape;
} acsim_slice;
void acsim_copy_slices(const acsim_local *l, const acsim_global *g, int32_t in, int32_t type, const acsim_slice *dst,
                       const acsim_slice *src, uint32_t dims, const char *file, int32_t line);
/* DataCopy with Nd2NzParams and Nz2NdParamsFull. Sizes and strides in elements; C0 and N strides of the blocked side in
 * 32-byte blocks. */
typedef struct {
  uint8_t type;
  uint32_t nd_num, n_value, d_value;
  int64_t nd_matrix, nd_row;      /* strides of the plain side, elements */
  int64_t nz_c0, nz_n, nz_matrix; /* strides of the blocked side: blocks, blocks, elements */
} acsim_nz;
void acsim_copy_nd_to_nz(const acsim_local *dst, const acsim_global *g, const acsim_local *l, const acsim_nz *c,
                         const char *file, int32_t line);
void acsim_copy_nz_to_nd(const acsim_global *dst, const acsim_local *src, const acsim_nz *c, const char *file,
                         int32_t line);
/* Fills n elements of global memory with a value. pipe: of the instruction (InitGlobalMemory: MTE3 after V). */
void acsim_fill_gm(const acsim_global *dst, int32_t type, const void *value, int64_t n, const char *what,
                   const char *file, int32_t line);

/* Transposes. */
void acsim_transpose16(int32_t type, const acsim_local *dst, const acsim_local *src, const char *file, int32_t line);
typedef struct {
  uint8_t type, dst_high, src_high;
  int32_t repeat;
  uint32_t dst_step, src_step; /* 32-byte blocks between repeats */
} acsim_5hd;
void acsim_trans_5hd(const acsim_local dst[16], const acsim_local src[16], const acsim_5hd *c, const char *file,
                     int32_t line);
/* The transposes by shape: kind as AscendC's TransposeType. */
void acsim_transpose_shape(int32_t kind, int32_t type, const acsim_local *dst, const acsim_local *src,
                           const acsim_local *tmp, const int64_t nchw[4], const char *file, int32_t line);

void acsim_address_register(int32_t reg, const uint64_t addresses[8]);
uint64_t acsim_address(int32_t reg, int32_t i);

/* Sorting. */
enum { ACSIM_SORT32, ACSIM_RP_SORT16, ACSIM_PROPOSAL_CONCAT, ACSIM_PROPOSAL_EXTRACT, ACSIM_EXTRACT };
void acsim_sort(int32_t op, int32_t type, const acsim_local *dst, const acsim_local *dst1, const acsim_local *src0,
                const acsim_local *src1, int32_t repeat, int32_t mode, const char *file, int32_t line);
typedef struct {
  uint8_t type, proposals; /* records of 8 elements (MrgSort4) instead of 8 bytes */
  uint8_t suspend;         /* stop when a list is used up */
  uint16_t valid;          /* bits of the lists that count */
  int32_t repeat;
  uint32_t length[4];
} acsim_merge;
void acsim_merge_sort(const acsim_local *dst, const acsim_local *const src[4], const acsim_merge *m, const char *file,
                      int32_t line);

/* The high-level library (library_table.h). tmp NULL: the function takes what TPipe's buffers leave of UB. */
typedef struct {
  uint8_t op, type, dst_type;
  uint8_t reuse;                        /* isReuseSource */
  uint8_t scalar_first;                 /* the scalar is the first operand */
  const acsim_local *dst, *a, *b, *tmp; /* b NULL: the scalar */
  double f;
  int64_t i;
  int64_t count;
} acsim_library;
void acsim_lib(const acsim_library *c, const char *file, int32_t line);
int32_t acsim_stack_buffer(acsim_local *t, const char *file, int32_t line);
/* dst[i] = first + i * step, in the element type */
void acsim_lib_progression(int32_t type, const acsim_local *dst, double f, int64_t i, double df, int64_t di,
                           int64_t count, const char *file, int32_t line);
/* Sum and Mean over the first n of every row of `inner` elements. acc: the type sums are kept in. */
void acsim_lib_sum(int32_t mean, int32_t type, int32_t acc, const acsim_local *dst, const acsim_local *src,
                   const acsim_local *tmp, int64_t outer, int64_t inner, int64_t n, const char *file, int32_t line);
void acsim_lib_broadcast(int32_t type, int32_t dim, int32_t axis, const acsim_local *dst, const acsim_local *src,
                         const acsim_local *tmp, const uint32_t *dst_shape, const uint32_t *src_shape,
                         const char *file, int32_t line);
/* dst = mask ? scalar : src (scalar_first: the other way round); a mask of one byte or more an element. */
void acsim_lib_select(int32_t type, int32_t mask_type, int32_t scalar_first, const acsim_local *dst,
                      const acsim_local *src, double scalar, const acsim_local *mask, const acsim_local *tmp,
                      int64_t rows, int64_t src_columns, int64_t mask_columns, const char *file, int32_t line);
enum { ACSIM_SOFTMAX, ACSIM_SOFTMAX_SIMPLE, ACSIM_SOFTMAX_GRAD, ACSIM_SOFTMAX_GRAD_FRONT };
typedef struct {
  uint8_t kind, type, sum_type;
  const acsim_local *dst, *sum, *max, *src, *tmp; /* gradient: sum is the gradient that comes in */
  int64_t m, k, valid_m, valid_k;                 /* rows, row length, and how much of both counts */
} acsim_softmax;
void acsim_lib_softmax(const acsim_softmax *c, const char *file, int32_t line);

/* Scalar access; `index` in elements of `bytes`. */
void acsim_local_get(const acsim_local *t, int64_t index, uint32_t bytes, void *out, const char *file, int32_t line);
void acsim_local_set(const acsim_local *t, int64_t index, uint32_t bytes, const void *v, const char *file,
                     int32_t line);
void *acsim_local_ptr(const acsim_local *t, int64_t byte_offset, const char *file, int32_t line);
void acsim_global_get(const acsim_global *t, int64_t index, uint32_t bytes, void *out, const char *file,
                      int32_t line);
void acsim_global_set(const acsim_global *t, int64_t index, uint32_t bytes, const void *v, const char *file,
                      int32_t line);
/* Tiling data or anything else that the scalar unit reads in one piece. */
void acsim_read_gm(void *to, const void *from, uint64_t bytes, const char *file, int32_t line);

/* TPipe, TQue, TBuf. A queue's id is 0 until InitBuffer. */
void acsim_pipe_open(void *pipe, const char *file, int32_t line);
void acsim_pipe_close(void *pipe);
void acsim_pipe_reset(void *pipe, const char *file, int32_t line);
void *acsim_pipe_current(void);
uint16_t acsim_queue_init(void *pipe, int32_t src, int32_t dst, int32_t depth, uint32_t num, uint32_t bytes,
                          const char *file, int32_t line);
uint16_t acsim_tbuf_init(void *pipe, int32_t pos, uint32_t bytes, const char *file, int32_t line);
/* InitBuffer again of a queue or TBuf with that id; 0: it had none. */
void acsim_queue_again(uint16_t id, const char *file, int32_t line);
void acsim_queue_alloc(uint16_t queue, acsim_local *t, const char *file, int32_t line);
void acsim_queue_push(uint16_t queue, const acsim_local *t, const char *file, int32_t line);
void acsim_queue_pop(uint16_t queue, acsim_local *t, const char *file, int32_t line);
/* EnQue<src, dst> and DeQue<src, dst>: the positions choose the event. */
void acsim_queue_push_as(uint16_t queue, const acsim_local *t, int32_t src, int32_t dst, const char *file,
                         int32_t line);
void acsim_queue_pop_as(uint16_t queue, acsim_local *t, int32_t src, int32_t dst, const char *file, int32_t line);
void acsim_queue_free(uint16_t queue, const acsim_local *t, const char *file, int32_t line);
int32_t acsim_queue_count(uint16_t queue);  /* tensors enqueued */
int32_t acsim_queue_vacant(uint16_t queue); /* may one more be enqueued? */
int32_t acsim_queue_idle(uint16_t queue);   /* may one more be allocated? */
/* bytes 0: to the end of the buffer. */
void acsim_tbuf_get(uint16_t queue, uint32_t offset, uint32_t bytes, acsim_local *t, const char *file, int32_t line);

/* Order. Events in the order of AscendC's HardEvent, pipes in that of its pipe_t. */
void acsim_flag_set(int32_t event, int32_t id, const char *file, int32_t line);
void acsim_flag_wait(int32_t event, int32_t id, const char *file, int32_t line);
int32_t acsim_event_fetch(int32_t event, int32_t keep, const char *file, int32_t line);
void acsim_event_release(int32_t event, int32_t id, const char *file, int32_t line);
void acsim_pipe_barrier(int32_t pipe, const char *file, int32_t line);
void acsim_sync_all(int32_t vector_only, const char *file, int32_t line);
enum { ACSIM_ATOMIC_NONE, ACSIM_ATOMIC_ADD, ACSIM_ATOMIC_MAX, ACSIM_ATOMIC_MIN };
void acsim_atomic(int32_t op, int32_t type, const char *file, int32_t line); /* type -1: keep */
void acsim_atomic_type(int32_t type, const char *file, int32_t line);        /* SetAtomicType */

/* Flags between cores: a counter each, mode 0 all vector cores, 1 and 2 the cores of one group. */
void acsim_cross_set(int32_t mode, int32_t pipe, int32_t id, const char *file, int32_t line);
void acsim_cross_wait(int32_t mode, int32_t pipe, int32_t id, const char *file, int32_t line);
/* SyncAll through memory; cores 0: all. */
void acsim_sync_soft(const acsim_global *gm, const acsim_local *ub, int32_t cores, const char *file, int32_t line);
/* IBSet (set) and IBWait. cores: how many rows an event has in the workspace. */
void acsim_ib(int32_t set, const acsim_global *gm, const acsim_local *ub, int32_t block, int32_t event, int32_t cores,
              const char *file, int32_t line);
/* Blocks in turn: step 0 InitDetermineComputeWorkspace, 1 WaitPreBlock, 2 NotifyNextBlock. */
void acsim_turn(int32_t step, const acsim_global *gm, const acsim_local *ub, const char *file, int32_t line);
/* DataCacheCleanAndInvalid: from the tensor's first byte to the end of its line, or everything. */
void acsim_cache_clean(const acsim_global *g, int32_t entire, const char *file, int32_t line);
/* KERNEL_TASK_TYPE; key -1: the default. Gives the type back. */
int32_t acsim_kernel_type(int32_t type, int64_t key, const char *file, int32_t line);
int64_t acsim_sub_block(void); /* number of the vector core in its AI core */
int64_t acsim_sub_blocks(void);

/* The block. */
/* What is done on the device by instructions of the scalar unit, and by compilers for the host with calls of their library. */
float acsim_scalar_sqrt(float x);
double acsim_scalar_round(double x, int32_t mode); /* RoundMode */
int64_t acsim_block_index(void);
int64_t acsim_block_count(void);
uint64_t acsim_tiling_key(void);
/* GetUserWorkspace: the user's part of the workspace buffer that starts at p; any other p comes back. */
uint8_t *acsim_user_workspace(uint8_t *p);
uint8_t *acsim_system_workspace(void); /* the start of the workspace; NULL: the launch has none */
int64_t acsim_cycles(void);            /* GetSystemCycle: counts API calls, not time */
/* A check that the kernel's own source makes (ASSERT). */
void acsim_kernel_assert(const char *text, const char *file, int32_t line);
void acsim_kernel_trap(const char *file, int32_t line);
/* PRINTF: to stderr, each line led by the block. */
#ifdef __GNUC__
__attribute__((format(printf, 1, 2)))
#endif
void acsim_kernel_printf(const char *format, ...);

/* Number formats: round 0 is to nearest even. */
float acsim_half_to_float(uint16_t h);
uint16_t acsim_float_to_half(float f);
float acsim_bf16_to_float(uint16_t b);
uint16_t acsim_float_to_bf16(float f);
uint16_t acsim_double_to_half(double d);
uint16_t acsim_double_to_bf16(double d);

/* ICPU_RUN_KF: runs call(user) for every block on the current session. */
void acsim_icpu_run(const char *name, uint32_t blocks, void (*call)(void *), void *user);
void acsim_icpu_tiling_key(uint64_t key);
/* The function that the next launch runs, where the source names it. */
void acsim_icpu_kernel(const void *kernel);

#ifdef __cplusplus
}
#endif
#endif

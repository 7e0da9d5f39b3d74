/* The C functions of the simulated machine that the AscendC-compatible headers call. C and C++; nothing but <stdint.h>.
 *
 * Every call carries the source place that asked for it (file, line), for fault messages.
 */
#ifndef ACSIM_KERNEL_ABI_H
#define ACSIM_KERNEL_ABI_H

#include <stddef.h>
#include <stdint.h>

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
  ACSIM_BOOL
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
#define ACSIM_VECTOR_OPS(X)                                                                                         \
  X(Exp)                                                                                                            \
  X(Ln)                                                                                                             \
  X(Abs)                                                                                                            \
  X(Reciprocal)                                                                                                     \
  X(Sqrt)                                                                                                           \
  X(Rsqrt)                                                                                                          \
  X(Relu) X(Not) X(Add) X(Sub) X(Mul) X(Div) X(Max) X(Min) X(And) X(Or) X(AddRelu) X(SubRelu) X(MulAddDst)          \
      X(FusedMulAdd) X(FusedMulAddRelu) X(Adds) X(Muls) X(Maxs) X(Mins) X(LeakyRelu) X(ShiftLeft) X(ShiftRight)     \
          X(Axpy) X(Duplicate) X(Cast) X(Compare) X(CompareScalar) X(Select) X(ReduceSum) X(ReduceMax) X(ReduceMin) \
              X(WholeReduceSum) X(WholeReduceMax) X(WholeReduceMin) X(BlockReduceSum) X(BlockReduceMax)             \
                  X(BlockReduceMin) X(PairReduceSum) X(Brcb) X(CreateVecIndex) X(Gather) X(GatherMask) X(Copy)
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
} acsim_repeat;

typedef struct {
  uint8_t op;             /* ACSIM_OP_... */
  uint8_t type, dst_type; /* of the sources, of the destination */
  uint8_t mode;           /* rounding, comparison, select mode, order of results */
  const acsim_local *dst, *a, *b, *c;
  double f;                   /* scalar operand of a floating type */
  int64_t i;                  /* scalar operand of an integer type */
  int64_t count;              /* elements; the repeat form ignores it */
  const acsim_repeat *repeat; /* NULL: the count form */
} acsim_vector;

/* One vector instruction. Returns what GatherMask counts, else 0. */
uint64_t acsim_vec(const acsim_vector *v, const char *file, int32_t line);

/* Copies. */
enum { ACSIM_COPY_COUNT, ACSIM_COPY_BLOCKS, ACSIM_COPY_PAD };
typedef struct {
  uint8_t form; /* COUNT: DataCopy(.., count); BLOCKS: with DataCopyParams; PAD: DataCopyPad */
  uint8_t type;
  uint8_t is_pad;           /* pad value given */
  uint8_t ext;              /* DataCopyExtParams: wider fields */
  uint32_t blocks;          /* how many */
  int64_t bytes;            /* of a block */
  int64_t src_gap, dst_gap; /* bytes from the end of a block to the start of the next */
  uint32_t left, right;     /* padding, elements */
  uint64_t pad_bits;        /* the pad value's bits */
} acsim_copy;
void acsim_copy_in(const acsim_local *dst, const acsim_global *src, const acsim_copy *c, const char *file,
                   int32_t line);
void acsim_copy_out(const acsim_global *dst, const acsim_local *src, const acsim_copy *c, const char *file,
                    int32_t line);
void acsim_copy_local(const acsim_local *dst, const acsim_local *src, const acsim_copy *c, const char *file,
                      int32_t line);
void acsim_set_pad_value(uint64_t bits);

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
void acsim_sync_all(const char *file, int32_t line);
enum { ACSIM_ATOMIC_NONE, ACSIM_ATOMIC_ADD, ACSIM_ATOMIC_MAX, ACSIM_ATOMIC_MIN };
void acsim_atomic(int32_t op, int32_t type); /* type -1: keep */

/* The block. */
int64_t acsim_block_index(void);
int64_t acsim_block_count(void);
uint64_t acsim_tiling_key(void);
/* GetUserWorkspace: the user's part of the workspace buffer that starts at p; any other p comes back. */
uint8_t *acsim_user_workspace(uint8_t *p);
int64_t acsim_cycles(void); /* GetSystemCycle: counts API calls, not time */
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

#ifdef __cplusplus
}
#endif
#endif

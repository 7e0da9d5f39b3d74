/* The simulated machine's C functions behind kernel_basic.h: fixed addresses, buffer pools, the control register, printing of tensors,
 * quantising conversions. C and C++. */
#ifndef ACSIM_KERNEL_ABI_BASIC_H
#define ACSIM_KERNEL_ABI_BASIC_H

#include "kernel_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A view of `bytes` bytes at a fixed address, as the LocalTensor constructor and LocalMemAllocator make them. The same place asked for
 * again is the same buffer. */
void acsim_static_local(int32_t pos, uint32_t addr, uint64_t bytes, acsim_local *t, const char *file, int32_t line);
uint32_t acsim_memory_bytes(int32_t mem);

/* TBufPool: a part of a memory in which queues and buffers are made. */
typedef struct {
  uint32_t base, size, head; /* bytes of the memory; head: where the next buffer starts */
  uint8_t mem, pos, ready;
} acsim_pool;
/* parent NULL: out of what TPipe has left. share: the pool whose place is taken, or NULL. */
void acsim_pool_init(acsim_pool *p, acsim_pool *parent, const acsim_pool *share, int32_t pos, uint32_t bytes,
                     const char *file, int32_t line);
/* Between enter and leave InitBuffer takes its memory from the pool. */
void acsim_pool_enter(acsim_pool *p, uint32_t num, uint64_t bytes, const char *file, int32_t line);
void acsim_pool_leave(acsim_pool *p);
void acsim_pool_reset(acsim_pool *p, const char *file, int32_t line);
/* A custom pool makes the slots of a queue one by one: InitStartBufHandle, then InitBufHandle. */
uint16_t acsim_queue_shell(int32_t src, int32_t dst, int32_t depth, int32_t tbuf, uint32_t num, uint32_t bytes,
                           const char *file, int32_t line);
void acsim_queue_place(uint16_t queue, uint32_t index, const acsim_pool *p, uint32_t addr, uint32_t bytes,
                       const char *file, int32_t line);

/* The CTRL register. On Atlas A2 only bit 48 counts: 0 saturates, 1 keeps inf and NaN. */
void acsim_ctrl_set(int32_t first, int32_t last, int64_t value, const char *file, int32_t line);
int64_t acsim_ctrl_get(int32_t first, int32_t last, const char *file, int32_t line);
void acsim_ctrl_set_all(uint64_t value, const char *file, int32_t line);
uint64_t acsim_ctrl_all(void);
void acsim_ctrl_integers(int32_t conversions, int32_t saturate, const char *file, int32_t line);
int32_t acsim_atomic_state(int32_t *op); /* the element type, -1: off */

/* Scalar access to global memory past the data cache. */
void acsim_bypass_get(const void *p, uint32_t bytes, void *out, const char *file, int32_t line);
void acsim_bypass_set(void *p, uint32_t bytes, const void *v, const char *file, int32_t line);

/* Tensors printed to stderr, 32 bytes a line. */
void acsim_dump_local(const acsim_local *t, int32_t type, int64_t first, int64_t n, int64_t tag, const char *what,
                      const char *file, int32_t line);
void acsim_dump_global(const acsim_global *t, int32_t type, int64_t first, int64_t n, int64_t tag, const char *file,
                       int32_t line);
int32_t acsim_local_to_file(const acsim_local *t, const char *name, const char *file, int32_t line);

/* DEQSCALE of the vector form: 16 words in UB. */
void acsim_set_deq_vector(const acsim_local *t, const float scale[16], const int16_t offset[16],
                          const uint8_t sign[16], const char *file, int32_t line);
void acsim_set_deq_word(float scale, int32_t offset, int32_t sign);
uint32_t acsim_arch_version(void);

#ifdef __cplusplus
}
#endif
#endif

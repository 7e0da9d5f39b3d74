/* One call for the library's functions over rows and tensors (kernel_norm.h, kernel_flash.h, kernel_rows.h). C and C++. */
#ifndef ACSIM_KERNEL_ABI_LIB_H
#define ACSIM_KERNEL_ABI_LIB_H

#include "kernel_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The functions, and how many vector instructions over the whole tile the device's version issues: counted from the steps that
 * asc-devkit's documents give (D), or assumed (A). */
#define ACSIM_ROW_FUNCTIONS(X) \
  X(LayerNorm, 13, D)          \
  X(LayerNormRstd, 10, D)      \
  X(RmsNorm, 7, A)             \
  X(DeepNorm, 14, A)           \
  X(LayerNormGrad, 18, A)      \
  X(LayerNormGradBeta, 3, A)   \
  X(Normalize, 8, A)           \
  X(WelfordUpdate, 7, A)       \
  X(WelfordFinalize, 12, A)    \
  X(GroupNorm, 13, A)          \
  X(BatchNorm, 12, A)          \
  X(SoftmaxFlash, 9, D)        \
  X(SoftmaxFlashV2, 10, D)     \
  X(SoftmaxFlashV3, 20, A)     \
  X(LogSoftMax, 9, D)          \
  X(AdjustSoftMaxRes, 1, A)    \
  X(Sort, 4, A)                \
  X(TopK, 7, D)                \
  X(AscendQuant, 4, D)         \
  X(AscendDequant, 3, D)       \
  X(AscendAntiQuant, 3, D)     \
  X(CumSum, 4, A)              \
  X(Pad, 3, A)                 \
  X(UnPad, 1, A)               \
  X(DropOut, 3, D)             \
  X(ReduceLib, 3, A)           \
  X(ReduceXorSum, 5, A)        \
  X(TransposeLib, 3, A)        \
  X(TransData, 3, A)
enum {
#define X(name, passes, source) ACSIM_ROWS_##name,
  ACSIM_ROW_FUNCTIONS(X)
#undef X
      ACSIM_ROWS
};

/* Operands in the order of the function's documented parameters, the temporary memory in tmp (NULL: the library's own). An absent operand
 * is NULL. What n, f and flags mean is said where each function is called. */
typedef struct {
  uint8_t op, reuse;
  uint8_t type[10];
  const acsim_local *t[10], *tmp;
  int64_t n[10];
  double f[4];
  uint32_t flags;
  const char *name; /* as the kernel wrote it; NULL: the table's */
} acsim_rows;
/* Returns what AdjustSoftMaxRes tells, else 0. */
int64_t acsim_lib_rows(const acsim_rows *c, const char *file, int32_t line);

/* Flags. */
enum {
  ACSIM_NORM_RSTD = 1, /* LayerNormRstd: the third operand is 1 / standard deviation, not the variance */
  ACSIM_NORM_NO_GAMMA = 2,
  ACSIM_NORM_NO_BETA = 4,
  ACSIM_NORM_NO_STATS = 8, /* Normalize: outputRstd is not written */
  ACSIM_FLASH_UPDATE = 1,
  ACSIM_FLASH_NARROW = 2, /* sum, max and exp-max hold one value a row, not a block of it */
  ACSIM_SORT_FULL = 1,
  ACSIM_TOPK_INDEX = 1,
  ACSIM_TOPK_FINISH = 2,
  ACSIM_TOPK_SMALL = 4,
  ACSIM_TOPK_LARGEST = 8,
  ACSIM_QUANT_TRANSPOSE = 1,
  ACSIM_CUMSUM_LAST_AXIS = 1,
  ACSIM_CUMSUM_LAST_ROW = 2
};
enum { ACSIM_RED_SUM, ACSIM_RED_MEAN, ACSIM_RED_MAX, ACSIM_RED_MIN, ACSIM_RED_PROD, ACSIM_RED_ANY, ACSIM_RED_ALL };

#ifdef __cplusplus
}
#endif
#endif

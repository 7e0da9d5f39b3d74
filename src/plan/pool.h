/* The pooling schedule, between its files. */
#ifndef AC_PLAN_POOL_H
#define AC_PLAN_POOL_H

#include "plan/internal.h"

enum {
  POOL_LANES = 8, /* float32 in 32 bytes: parts of a row begin at multiples of it */
  POOL_ROW = 16,  /* the same for half types, too: rows of results begin at multiples of it */
  POOL_TILES = 3
};

/* Sizes of the buffers of one host branch. */
typedef struct {
  int64_t width;   /* lanes of a row of the input, edges included */
  int64_t cols;    /* results of a row at once */
  int64_t in_rows; /* rows of the input at once */
  int64_t rows;    /* rows of the output at once */
  int64_t taps;    /* of the window's height at once */
} pool_tile;

typedef struct {
  pl_ctx *p_;
  const ac_value *x, *y;
  ac_dtype in;
  int nd;
  bool max, adaptive, include, ceil, indices;
  bool uneven_rows;               /* adaptive along the height */
  int64_t k[3], s[3], p[3], d[3]; /* window, stride, padding, dilation; depth, height, width */
  double divisor;                 /* of all windows; 0: they differ */
  double shrink;                  /* what the input of an average is multiplied by */
  int64_t edge;                   /* lanes to the left of a row */
  int tensor[2];                  /* values, indices; -1 */
  pool_tile tile[POOL_TILES];
  int n_tiles;
  bool turns; /* rows side by side, so that a step along the width is a whole block of lanes */
  bool parts; /* windows may be taken in parts of their height */
  const char *kernel;
  const char *planes, *size[3], *out[3], *rows, *row_blocks, *col_blocks, *units; /* host locals */
} pool;

/* From the first to behind the last tap along an axis. */
int64_t pool_reach(const pool *q, int axis);
/* Lanes behind the last row, where gathers of lanes that no result uses read. */
int64_t pool_tail(const pool *q);
/* Writes the kernel. */
void pool_kernel(pool *q);
/* The part of the kernel's loop that differs when indices are wanted: one tap after the other. */
void pool_index_buffers(pool *q);
void pool_index_first(pool *q); /* the first tap of each window stands for none */
void pool_index_taps(pool *q);  /* of one row of the window's, on rows a to b of the unit */
void pool_index_store(pool *q);

/* The lanes of tap `i` along the width: the index vector of its gather. */
void pool_tap_index(pool *q);
/* A statement tl.<...>. */
void pool_do(pool *q, const char *fmt, ...) AC_PRINTF(2, 3);

#endif

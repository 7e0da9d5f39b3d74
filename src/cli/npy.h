/* NumPy's .npy files (format versions 1 to 3): little-endian, C order. Source of the layout: numpy/lib/format.py's description. */
#ifndef AC_CLI_NPY_H
#define AC_CLI_NPY_H

#include "isa/isa.h"

enum { AC_NPY_RANK = 16, AC_NPY_HEADER = 64 << 10 };
typedef struct {
  /* AC_NODTYPE: two raw bytes ('V2', as bfloat16 is often saved): the reader must be told what they are */
  ac_dtype dtype;
  int item; /* bytes of an element */
  int rank;
  int64_t shape[AC_NPY_RANK];
  int64_t offset, bytes; /* of the data */
} ac_npy;

/* Reads a header from the first n bytes of a file that has `size`; the data must fill the rest of the file exactly. `file` is for
 * messages only. Never reads beyond p + n, whatever is there. */
bool ac_npy_header(ac_arena *a, const char *file, const void *p, size_t n, int64_t size, ac_npy *h, ac_diags *d);
/* Of the file at `path`; `dtype` (AC_NODTYPE: the file's own) says what its elements are, and must be as wide. */
bool ac_npy_open(ac_arena *a, const char *path, ac_dtype dtype, ac_npy *h, ac_diags *d);
/* h->bytes of data to `to`. */
bool ac_npy_load(const char *path, const ac_npy *h, void *to, ac_diags *d);
/* Writes version 1 (2 where the header needs it) beside `path` and renames. bfloat16 is written as uint16. */
bool ac_npy_save(ac_arena *a, const char *path, ac_dtype dtype, int rank, const int64_t *shape, const void *data,
                 ac_diags *d);

#endif

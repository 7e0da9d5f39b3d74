/* What the files of vector instructions share. */
#ifndef AC_SIM_CORE_VEC_H
#define AC_SIM_CORE_VEC_H

#include "sim/core_hazard.h"

#include <string.h>

enum { REPEAT_BYTES = 256, BLOCK_BYTES = 32, MAX_LANES = 128, MAX_REPEAT = 255 };

/* Undefined lanes of an instruction that runs repeat by repeat (core_undefined.c). */
typedef struct {
  uint8_t lanes[MAX_LANES];
  bool any;
  int64_t defined[3], seen[3];
} acsim_undefined;

typedef struct {
  acsim_block *b;
  const acsim_vector *v;
  const char *name;
  acsim_at at;
  int es, ds, lanes; /* bytes of a source and of a destination element; lanes of a repeat */
  bool saturate;
  int from;              /* number of the first repeat: counter mode runs the last, partial one apart */
  bool counted;          /* counter mode: no limit on repeats */
  bool shared;           /* gathers: dst and a source may meet */
  acsim_undefined *both; /* counter mode: of both parts, reported after the second */
} call;

/* Offset of a lane from the start of its repeat; is it on? */
static inline int64_t lane_offset(int lane, int bytes, int block_stride) {
  int per_block = BLOCK_BYTES / bytes;
  return (int64_t)(lane / per_block) * block_stride * BLOCK_BYTES + (int64_t)(lane % per_block) * bytes;
}
static inline bool lane_on(const acsim_repeat *r, int lane) {
  return r->mask[lane / 64] >> (lane % 64) & 1;
}
static inline void mark(const call *c, const acsim_local *t, int64_t off, int64_t bytes) {
  memset(acsim_state(c->b, t, off), 0xff, (size_t)bytes);
}
bool acsim_vec_touch_repeat(const call *c, const char *name, const acsim_local *t, int64_t off, int bytes,
                            int block_stride, int how);
/* May operands of a count form overlap as dst and this source do? Else a fault. */
void acsim_vec_check_contiguous(const call *c, const acsim_local *src, int es, int64_t n, const char *what);
bool acsim_vec_check_start(const call *c, const char *name, const acsim_local *t, int align);
/* The lanes of a repeat that are on, from an operand and, marked as written, to one. */
void acsim_vec_gather_repeat(const call *c, uint8_t *to, const acsim_local *t, int64_t off, int bytes,
                             int block_stride);
void acsim_vec_scatter_repeat(const call *c, const uint8_t *from, const acsim_local *t, int64_t off, int bytes,
                              int block_stride);
/* Do dst and the sources begin at whole blocks? Else a fault. */
bool acsim_vec_check_starts(const call *c);

/* n lanes at d from a, b and the scalar: all the element-wise instructions. */
void acsim_vec_compute(const call *c, void *d, const void *a, const void *b, int64_t n);
/* ---- core_vec_plain.c ---- */
/* The lanes of a block that are on: `per` lanes from `first` on, at most 32. */
uint32_t acsim_vec_block_lanes(const call *c, int first, int per);
/* Bytes of an operand that a repeat touches when they are one range; else 0. */
int64_t acsim_vec_range(const call *c, int bytes, int block_stride);
/* Repeats [repeat, repeat + repeats) of an element-wise instruction at once. False: nothing is done, they are not so simple. */
bool acsim_vec_plain(const call *c, int64_t repeat, int64_t repeats, int how);
/* A repeat of BlockReduce... and PairReduceSum with all lanes on, which are at `lanes`: a result for each group of them to byte `off` of dst.
 * False: nothing is done. */
bool acsim_vec_groups(const call *c, const uint8_t *lanes, int64_t off, int group);

/* core_mask.c: does the mask mean what the instruction takes it for? Then it is what the register holds. And precision. */
void acsim_mask_check(const call *c);
void acsim_vec_check_precision(const call *c);
/* core_undefined.c: which of n lanes read undefined bytes, before the instruction overwrites them; NULL: none, or reported. Then the
 * same lanes of the result become undefined. */
const uint8_t *acsim_undefined_lanes(const call *c, bool reads_dst, int64_t n);
void acsim_undefined_mark(const call *c, const uint8_t *lanes, int64_t n);
/* The same repeat by repeat: each source (0: a, 1: b, 2: dst), the result, and at the end what is a fault. */
void acsim_undefined_repeat(const call *c, acsim_undefined *u, int which, const acsim_local *t, int64_t off,
                            int bytes, int block_stride);
void acsim_undefined_scatter(const call *c, acsim_undefined *u, int64_t off);
void acsim_undefined_report(const call *c, const acsim_undefined *u);

/* core_vec_more.c: by address, and through registers */
void acsim_vec_gather(const call *c);
void acsim_vec_scatter(const call *c);
void acsim_vec_gatherb(const call *c);
void acsim_vec_iota_repeat(const call *c);
void acsim_vec_compare_register(const call *c);
void acsim_vec_accumulate(const call *c);

/* core_vec_select.c */
void acsim_vec_select(const call *c);
void acsim_vec_select_count(const call *c);
/* core_vec_compare.c */
void acsim_vec_compare(const call *c);
void acsim_vec_compare_repeat(const call *c);
/* core_vec_move.c */
void acsim_vec_brcb(const call *c);
uint64_t acsim_vec_gather_mask(const call *c);
uint64_t acsim_vec_copy_counted(const call *c);

/* core_vec_check.c: pairs of types, overlap */
bool acsim_vec_check_pair(const call *c);
void acsim_vec_check_overlap(const call *c, int64_t total);
void acsim_vec_check_chain(const call *c, const char *name, const acsim_local *src, int64_t a_block, int64_t a_repeat,
                           int64_t step, int64_t bytes, int group, int64_t repeats);

void acsim_vec_check_mask(const call *c, int64_t step);
void acsim_vec_track_begin(void);
void acsim_vec_track(const call *c, int64_t from, int64_t n, int64_t to, int64_t m, int64_t k, const char *name);
bool acsim_vec_may_share(const acsim_local *dst, int64_t bytes, const acsim_local *src);
void acsim_vec_note_write(int64_t at, int64_t n);
bool acsim_vec_note_read(const call *c, int64_t at, int64_t n);
bool acsim_track_read(int64_t at, int64_t n); /* has acsim_vec_note_write noted one of these bytes? */
void acsim_vec_check_shared(const call *c);

/* core_deq.c: conversions that scale */
void acsim_vec_cast_deq(const call *c);
void acsim_vec_deq_half(const call *c, void *d, const void *a, const void *b, int64_t n);
bool acsim_vec_deq_ready(const call *c);
void acsim_vec_int4(acsim_block *b, const acsim_vector *v, acsim_at at);

#endif

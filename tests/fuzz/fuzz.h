/* Fuzzing of the simulated machine's instructions against a naive re-implementation.
 *
 * fuzz_naive*.c know the documentation (asc-devkit docs/zh, Atlas A2) and nothing of src/sim: every lane by itself, every byte
 * by itself, values in double or in integers of 128 bits, formats of 16 bits by their definition. fuzz_core.c is the only file
 * that calls the simulator. A case is one call with all its parameters; fuzz_draw.c draws it, shrink in fuzz_main.c makes it smaller.
 */
#ifndef AC_FUZZ_H
#define AC_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../../sim/include/acsim/kernel_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- random numbers ---- */
typedef struct {
  uint64_t s;
} fz_rng;
uint64_t fz_mix(uint64_t a, uint64_t b);
uint64_t fz_u64(fz_rng *r);
int64_t fz_in(fz_rng *r, int64_t lo, int64_t hi); /* lo..hi */
bool fz_one_in(fz_rng *r, int n);

/* ---- numbers (fuzz_number.c) ---- */
extern const int fz_bytes[];
extern const char *const fz_type_names[];
enum { FZ_TYPES = ACSIM_I4 + 1 };
bool fz_is_float(int type);
bool fz_is_signed(int type);
/* Any element as a double; exact but for 64-bit integers. */
double fz_get(int type, const uint8_t *p);
int64_t fz_get_int(int type, const uint8_t *p); /* integers; uint64 wraps */
void fz_put_int(int type, uint8_t *p, int64_t v);
enum { FZ_NONE, FZ_RINT, FZ_FLOOR, FZ_CEIL, FZ_ROUND, FZ_TRUNC, FZ_ODD };
/* x rounded once to the format. Overflow: nearest modes give inf, the others what IEEE 754
 * says of a directed mode; with saturate the largest number, and 0 for NaN. */
void fz_put(int type, uint8_t *p, long double x, int round, bool saturate);
long double fz_round_int(long double x, int round);

/* ---- a case ---- */
enum { FZ_DEQ_NONE, FZ_DEQ_HALF, FZ_DEQ_WORD, FZ_DEQ_VECTOR };
enum { FZ_BUFS = 6, FZ_UB = 64 << 10, FZ_GM = 64 << 10, FZ_MAX_FAULTS = 8 };
typedef enum {
  FZ_VEC,
  FZ_COPY_IN,
  FZ_COPY_OUT,
  FZ_COPY_LOCAL,
  FZ_SLICE_IN,
  FZ_SLICE_OUT,
  FZ_ND2NZ,
  FZ_NZ2ND,
  FZ_TRANSPOSE,
  FZ_TRANSPOSE_SHAPE,
  FZ_5HD,
  FZ_SORT,
  FZ_MERGE,
  FZ_CMPMASK_GET,
  FZ_CMPMASK_SET,
  FZ_KINDS
} fz_kind;
typedef struct {
  int buf;     /* -1: no operand */
  int64_t off; /* bytes from the buffer's start */
} fz_view;
typedef struct {
  fz_kind kind;
  int op, type, dst_type, mode;
  fz_view dst, a, b, c, list[32]; /* list: 16 of dst, 16 of src (TransDataTo5HD), 4 of MrgSort */
  double f;
  int64_t i, count;
  bool repeated;
  bool by_register; /* the count form with isSetMask = false */
  bool headers;     /* called through the C++ headers, where they have the call */
  acsim_repeat r;
  /* state before the call */
  bool counter;    /* SetMaskCount */
  uint64_t reg[2]; /* SetVectorMask */
  bool pad_value;  /* SetPadValue */
  uint64_t pad_bits;
  int deq;             /* SetDeqScale: FZ_DEQ_... */
  uint16_t deq_bits;   /* a half */
  float deq_scale[16]; /* or words: one, or 16 at deq_view */
  int16_t deq_offset[16];
  uint8_t deq_sign[16];
  fz_view deq_view;
  bool by_cmpmask; /* Select: the scalar, or the mask's address, is in CMPMASK */
  int atomic, atomic_type;
  /* copies */
  acsim_copy copy;
  int64_t gm_off;
  acsim_slice to[8], from[8]; /* SliceInfo */
  uint32_t dims;
  acsim_nz nz;
  acsim_5hd hd;
  acsim_merge merge;
  int64_t shape[4];
  int sort_op, sort_repeat;
  /* content of the operands: seeds, see fz_fill */
  uint64_t fill;
  int poison; /* 0: none; 1: ranges of bytes; 2: single bits */
} fz_case;

/* ---- the model's machine ---- */
typedef struct {
  int64_t base, size;
} fz_buf;
typedef struct {
  uint8_t ub[FZ_UB], st[FZ_UB]; /* st: a bit for each bit: 1 is written */
  fz_buf buf[FZ_BUFS];
  uint8_t gm[FZ_GM], gm_st[FZ_GM]; /* the workspace: 1 is written */
  uint8_t gm_in[FZ_GM]; /* place of a byte in the element that an atomic store wrote, plus 1; 0: other bytes */
  uint8_t in[FZ_GM];    /* the input */
  uint64_t mask[2];
  bool counter;
  bool pad_set;
  uint64_t pad_value;
  int deq; /* what the register holds */
  uint16_t deq_bits;
  float deq_scale;
  int deq_offset;
  bool deq_sign;
  fz_view deq_view;
  uint8_t cmp[16], cmp_st[16];
  int atomic, atomic_type;
  bool saturate;
  /* what the last call did */
  const char *fault[FZ_MAX_FAULTS];
  int n_faults;
  uint64_t kept; /* GatherMask */
  double peak;   /* GetReduceMaxMinCount */
  int64_t peak_index;
  bool peak_set;
  uint16_t merged[4];
  int ulp;       /* results may differ by so many units of the last place */
  bool any_zero; /* the sign of a zero is not compared */
  bool any_nan;  /* one NaN is as good as another: the documents say nothing of payloads */
  int out_type;  /* type of the elements that ulp and any_nan speak of */
} fz_machine;

unsigned fz_types_of(int op); /* element types of a vector instruction: 1 << ACSIM_... */
void fz_fault(fz_machine *m, const char *kind);
/* One call on the model. */
void fz_naive(fz_machine *m, const fz_case *c);
void fz_naive_vec(fz_machine *m, const fz_case *c);
void fz_deq_set(fz_machine *m, const fz_case *c);
void fz_naive_move(fz_machine *m, const fz_case *c);
void fz_naive_copy(fz_machine *m, const fz_case *c);
void fz_naive_slice(fz_machine *m, const fz_case *c);
void fz_naive_atomic(const fz_machine *m, int type, uint8_t *to, const uint8_t *from);
/* Shared by the parts of the model. */
bool fz_inside(fz_machine *m, fz_view v, int64_t off, int64_t bytes); /* else ub-out-of-bounds */
uint8_t *fz_at(fz_machine *m, fz_view v, int64_t off);
uint8_t *fz_st(fz_machine *m, fz_view v, int64_t off);
bool fz_written(fz_machine *m, fz_view v, int64_t off, int64_t bytes);
void fz_aligned(fz_machine *m, fz_view v, int64_t align); /* else misaligned */
bool fz_meet(fz_machine *m, fz_view a, int64_t a_bytes, fz_view b, int64_t b_bytes);

/* ---- drawing (fuzz_draw.c) ---- */
typedef struct {
  const char *only; /* instruction name; NULL: all */
} fz_options;
void fz_draw(fz_rng *r, const fz_machine *m, const fz_options *o, fz_case *c);
const char *fz_name(const fz_case *c);
void fz_print(FILE *f, const fz_case *c);
void fz_settle(fz_case *c); /* the mask bits that the headers make of a number of lanes */
/* Content for the operands of a case, written to the model. */
void fz_fill(fz_machine *m, const fz_case *c);

/* ---- the headers (fuzz_headers.cpp): false if they have no such call ---- */
bool fz_through_headers(const fz_case *c, const acsim_local *dst, const acsim_local *a, const acsim_local *b,
                        const acsim_local *m, int32_t line);
bool fz_copy_through_headers(const fz_case *c, const acsim_local *dst, const acsim_local *src, const acsim_global *g,
                             int32_t line);

/* ---- the simulator (fuzz_core.c) ---- */
extern uint64_t fz_headers_calls; /* how many calls went through the C++ headers */
typedef struct {
  int difference;  /* number of the first case that differs; -1: none */
  char text[1024]; /* what differs */
} fz_result;
typedef void (*fz_case_fn)(void *user, int i, const fz_machine *m, fz_case *c);
/* Runs n cases, drawn one after another by fn, in one launch. seen(user, case, model's faults) is called for each. */
fz_result fz_launch(uint64_t seed, int n, fz_case_fn draw, void *user,
                    void (*seen)(void *user, const fz_case *c, const fz_machine *m));

#ifdef __cplusplus
}
#endif
#endif

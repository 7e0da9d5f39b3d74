/* What the model's files of vector instructions share. */
#ifndef AC_FUZZ_NAIVE_VEC_H
#define AC_FUZZ_NAIVE_VEC_H

#include "fuzz.h"

/* Which lanes of which repeats take part (掩码). */
typedef struct {
  int lanes;    /* of a repeat */
  bool counted; /* the first `total` lanes, whatever the repeats */
  int64_t total;
  int64_t repeats, per_repeat; /* per_repeat: the first lanes of each repeat (Copy in counter mode); 0: bits */
  uint64_t bits[2];
} fz_lanes;
typedef struct {
  bool started;
  int64_t k, i; /* repeat, lane */
} fz_lane;
fz_lanes fz_lanes_of(fz_machine *m, const fz_case *c);
bool fz_runs(const fz_lanes *l); /* is there a repeat at all? Then addresses count, even if the mask is empty */
bool fz_next(const fz_lanes *l, fz_lane *at);
int64_t fz_lane_at(fz_lane at, int bytes, int64_t block, int64_t repeat);
/* Overlap between repeats: reads of a repeat before its writes. */
void fz_track_reset(void);
void fz_track_write(const fz_machine *m, const uint8_t *p, int64_t n, int64_t k);
void fz_track_read(fz_machine *m, const uint8_t *p, int64_t n, int64_t k);
/* Where nothing may be shared at all: bytes that are read (bit 1) and written (bit 2). */
void fz_note_reset(void);
void fz_note(fz_machine *m, const uint8_t *p, int64_t n, int bit);
void fz_naive_reduce(fz_machine *m, const fz_case *c);
/* fuzz_naive_deq.c: conversions that scale, and those of 4-bit integers */
bool fz_deq_half_set(fz_machine *m); /* else deq-not-set */
double fz_deq_half(const fz_machine *m);
void fz_naive_cast_deq(fz_machine *m, const fz_case *c);
void fz_naive_int4(fz_machine *m, const fz_case *c);
void fz_naive_gather(fz_machine *m, const fz_case *c);

#endif

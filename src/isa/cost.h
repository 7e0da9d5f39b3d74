/* Costs: what the timing model knows of a chip. Every figure is read from the chip's file (data/chips/<chip>.json, "costs", over its
 * base in data/chips/costs/), which says where it is from; there is none in the code.
 *
 * Units: cycles of the core, bytes, GB/s (10^9) of the whole chip, microseconds. docs/simulator.md, "Time".
 */
#ifndef AC_ISA_COST_H
#define AC_ISA_COST_H

#include "isa/isa.h"

/* One vector instruction, or a function of the high-level library. */
typedef struct {
  const char *name;              /* as AscendC calls it */
  double repeat[AC_DTYPE_COUNT]; /* a repeat of 256 bytes, by dtype of the source */
  double any;                    /* ... where the dtype is not known */
  double head;                   /* more when the unit had nothing to do */
  double tail;                   /* more until a waiting consumer may start */
  double fixed;                  /* more for every call */
  double count_extra;            /* more for a call of the count form */
} ac_op_cost;

typedef struct {
  double start;           /* the unit is taken so long beside the bytes */
  double latency;         /* from then until the data are there; later copies go on meanwhile */
  double bytes_per_cycle; /* of one core */
  double burst;           /* least of each block of a strided copy */
} ac_copy_cost;

/* Rows of scalar costs: S(field, key). */
#define AC_SCALAR_COSTS(S) \
  S(issue_v)               \
  S(issue_copy)            \
  S(count_form)            \
  S(queue)                 \
  S(flag)                  \
  S(barrier)               \
  S(init_buffer) S(mask) S(get_local) S(set_local) S(get_gm) S(set_gm) S(gm_miss) S(call) S(instruction_queue)

/* How far the modelled time is off on kernels that were not fitted, in percent; kernels 0: nobody knows. */
typedef struct {
  double median, p90;
  int kernels, rows;
} ac_cost_error;
typedef struct ac_costs {
  const ac_op_cost *ops; /* sorted by name */
  size_t n_ops;
  const ac_op_cost *other; /* an instruction without a row */
  int bank_groups;         /* of UB: blocks of one operand in one group take turns */
  ac_copy_cost in, out;    /* GM to UB, UB to GM */
  int64_t request, align;  /* global memory is asked for in pieces of `request`; off `align` the rate falls */
  double unaligned;        /* ... to this part */
  double atomic;           /* an atomic store takes so many times a store's cycles */
  double hbm, l2_read, l2_write, l2; /* GB/s; l2: reading and writing together */
  int64_t line;                      /* bytes of an L2 line */
  double resident;                   /* part of L2 that tensors may take and still be found there */
  double carry;                      /* ... whose contents are still of use when they take more */
  double dirty;                      /* part of L2 in which what a launch writes may stay until after it */
  double share;                      /* how many times its even part of the memory a core may draw */
  struct {
#define S(name) double name;
    AC_SCALAR_COSTS(S)
#undef S
  } scalar;
  double sync_all;
  double launch_us, core_us,
      block;          /* once a launch; for each core at work; cycles before a block's first instruction */
  double counter_mhz; /* of GetSystemCycle */
  ac_cost_error error;
} ac_costs;

/* From a chip's file; `dir` is the file's folder. NULL, with a message, when something is missing: *bad names it. */
const ac_costs *ac_costs_read(ac_arena *a, const json_t *chip, const char *dir, const char **bad, ac_diags *d);
/* Never NULL. */
const ac_op_cost *ac_cost_of(const ac_costs *c, const char *name);
/* Cycles that `repeats` repeats keep the vector unit, beside its start. AC_NODTYPE: the general figure. */
double ac_cost_vector(const ac_op_cost *o, ac_dtype d, int64_t repeats, double least_repeat, bool count_form);

#endif

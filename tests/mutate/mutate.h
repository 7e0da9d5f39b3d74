/* Seeded faults: one small mistake planted in a program, in the DSL or after the lowering. Each row is a kind of mistake; a program
 * has so many places for it. */
#ifndef MUTATE_H
#define MUTATE_H

#include "ascendcraft.h"

/* F(id, name, what is done) */
#define DSL_FAULTS(F)                                                                                            \
  F(TAIL_DROP, "tail dropped", "min(tile, end - i) becomes tile")                                                \
  F(TAIL_OVER, "tail overrun", "min(a, b) in a kernel becomes min(a, b) + 1")                                    \
  F(OFFSET, "offset off by one", "the address of a load or store moves by one element")                          \
  F(SHRINK, "buffer shrunk", "tl.alloc_ub(n, ...) becomes tl.alloc_ub(n // 2, ...), or less where less is used") \
  F(DTYPE, "dtype swapped", "a buffer of float32 becomes float16, and the like")                                 \
  F(NO_STORE, "store dropped", "an output, or a part of it, is never written")                                   \
  F(NO_LOAD, "load dropped", "a buffer is used that nothing filled")                                             \
  F(FEWER, "fewer blocks", "a launch with one block less")                                                       \
  F(LATE, "late start", "pid * part becomes pid * part + 1")                                                     \
  F(TWICE, "written twice", "pid * part becomes pid * (part - 1): ranges overlap")                               \
  F(NO_SYNC, "barrier dropped", "a tl.sync_all() goes")                                                          \
  F(STEP, "step doubled", "range(a, b, tile) becomes range(a, b, tile * 2)")                                     \
  F(STRIDE, "wrong stride", "row * cols becomes row * (cols + 1) in an address")                                 \
  F(COUNT, "count too large", "count=n becomes count=n + 1")
/* After the lowering. */
#define AIR_FAULTS(F)                                                                                          \
  F(A_FLAG, "flag dropped", "a SetFlag with its WaitFlag goes, or one of them")                                \
  F(A_WRONG, "flag turned round", "a flag orders the same two units the other way")                            \
  F(A_BARRIER, "PipeBarrier dropped", "the barrier before a SyncAll goes")                                     \
  F(A_SYNC, "SyncAll dropped", "the join of all blocks goes")                                                  \
  F(A_ALLOC, "AllocTensor dropped", "")                                                                        \
  F(A_ENQUE, "EnQue dropped", "")                                                                              \
  F(A_DEQUE, "DeQue dropped", "")                                                                              \
  F(A_FREE, "FreeTensor dropped", "")                                                                          \
  F(A_EARLY, "EnQue too early", "before the statement that fills the slot")                                    \
  F(A_SHRINK, "buffer shrunk", "a queue or TBuf of the program has half its size, or less where less is used") \
  F(A_SCRATCH, "hidden scratch shrunk", "a buffer that the compiler added, the same way")                      \
  F(A_OVERLAP, "live buffers overlap", "two tensors of a kernel share one TBuf")                               \
  F(A_FROM, "copy off by one", "a copy starts one element later in global memory")                             \
  F(A_LONG, "copy too long", "one element more in each row")                                                   \
  F(A_SHORT, "copy too short", "one element less in each row")                                                 \
  F(A_UNALIGNED, "transfer unaligned", "a copy starts one element later in UB")                                \
  F(A_PITCH, "wrong pitch", "rows in UB lie one element further apart")                                        \
  F(A_STRIDE, "wrong stride", "rows in global memory lie one element further apart")                           \
  F(A_EXACT, "DataCopy for a tail", "a plain DataCopy where whole blocks are not proved")                      \
  F(A_LESS, "instruction too short", "an instruction leaves its last lane out")
typedef enum {
#define F(id, name, what) id,
  DSL_FAULTS(F) AIR_FAULTS(F)
#undef F
      FAULTS
} fault;
static inline bool fault_of_dsl(fault f) {
  return f < A_FLAG;
}

/* Places for the fault in the program. */
int mutate_dsl_sites(ac_arena *a, ac_cmodule *m, fault f);
int mutate_air_sites(ac_arena *a, ac_program *p, fault f);
/* Plants it at a place; `where` says which, for a person. `by` is how much: a buffer is divided by it, an instruction loses by - 1 lanes
 * (0: it gets far too many, which shows whether it is reached at all). */
void mutate_dsl(ac_arena *a, ac_cmodule *m, fault f, int site, int by, char **where);
void mutate_air(ac_arena *a, ac_program *p, fault f, int site, int by, char **where);
/* A buffer larger than is used loses nothing by half: these faults are planted with by = 2, 4, ... MOST_SHRUNK until somebody notices. */
static inline bool fault_shrinks(fault f) {
  return f == SHRINK || f == A_SHRINK || f == A_SCRATCH;
}
enum { MOST_SHRUNK = 256 };
/* Is a fault that changes nothing none at all? `said` gets the reason. */
/* Not decided from the program, but likely: why nothing was noticed, or NULL. */
const char *mutate_likely(ac_program *p, fault f, int site);
bool mutate_is_none(ac_arena *a, ac_program *p, fault f, int site, const char *where, const char **said);

/* ---- mutate_sizes.c: what a program is run on ---- */

/* What the inputs hold: noise; rows that rise from -100 to 100; rows that fall; small whole numbers; infinities,
 * NaN, zeros and limits. The last lane is the largest or the smallest there. */
typedef enum { NOISE, RISE, FALL, WHOLE, SPECIAL, VALUES } values;
enum { MOST_TENSORS = 16 };

typedef struct {
  const char *text; /* "7,1003 bias=1003", for messages */
  ac_sim_tensor t[MOST_TENSORS];
  bool odd;                           /* the second set of attributes, and the deterministic switch */
  int filled;                         /* what the inputs hold: 1 + values */
  bool runs[VALUES];                  /* without fault and refusal */
  uint8_t *out[VALUES][MOST_TENSORS]; /* what it computes then */
} sizes;

typedef struct {
  const char *path, *text;
  const ac_chip *chip;
  int n; /* tensors */
  ac_sim_attr attrs[2][MOST_TENSORS];
  int n_attrs;
  AC_VEC(sizes *) sizes; /* those that it takes */
} example;

/* Finds the sizes that the program takes, the largest of each axis among them, and what it computes there. False: it takes none. */
bool mutate_sizes(ac_arena *a, const ac_program *p, example *x);
/* Runs the program, or one with a fault, on inputs of that kind. False as ac_sim_run_program. */
bool mutate_run(ac_arena *a, const ac_program *p, const example *x, sizes *s, values v, ac_sim_result *r,
                ac_diags *d);
void mutate_sizes_free(example *x);

#endif

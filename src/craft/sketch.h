/* The sketch of a program: what is left of a checked tree when only the integers that steer it are kept - host arithmetic, branches, loops,
 * launches, and the addresses of every access to global memory. Computation on buffers is gone. trial.c runs it on shapes, prove.c reasons
 * about all of them. Private to craft; docs/checks.md. */
#ifndef AC_CRAFT_SKETCH_H
#define AC_CRAFT_SKETCH_H

#include "craft/craft.h"

typedef enum {
  AC_SK_INT,
  AC_SK_VAR,    /* i: slot */
  AC_SK_PID,    /* this block */
  AC_SK_BLOCKS, /* blocks of the launch */
  AC_SK_CORES,
  AC_SK_UB,
  AC_SK_SIZE, /* i: tensor; product of its dimensions from..to-1, Python's slice rules */
  AC_SK_RANK, /* i: tensor */
  AC_SK_ADD,
  AC_SK_SUB,
  AC_SK_MUL,
  AC_SK_FLOORDIV,
  AC_SK_MOD,
  AC_SK_CDIV,
  AC_SK_MIN,
  AC_SK_MAX,
  AC_SK_EQ,
  AC_SK_NE,
  AC_SK_LT,
  AC_SK_LE,
  AC_SK_GT,
  AC_SK_GE,
  AC_SK_AND,
  AC_SK_OR,
  AC_SK_NOT,
  AC_SK_COND, /* a if c else b */
  AC_SK_FLAG, /* true or false by the caller's will */
  AC_SK_DATA /* depends on values (i = 1: an integer of a kernel, at least a and at most b if these are known), or is no integer */
} ac_skop;

enum { AC_SK_END = 1 << 20 }; /* of SIZE: to the last dimension */

typedef struct ac_sknode {
  ac_skop op;
  int64_t i;
  int from, to;
  struct ac_sknode *a, *b, *c;
} ac_sknode;

typedef struct {
  int param; /* of the kernel */
  bool store, atomic;
  ac_sknode *base;
  int rank;
  ac_sknode *extent[4], *stride[4]; /* outermost first */
  bool within;                      /* offsets from memory: some of this is touched, and nothing else */
} ac_skaccess;

typedef struct ac_skstmt ac_skstmt;
struct ac_skstmt {
  enum {
    AC_SKS_SET,
    AC_SKS_IF,
    AC_SKS_FOR,
    AC_SKS_WHILE,
    AC_SKS_RETURN,
    AC_SKS_BREAK,
    AC_SKS_ACCESS,
    AC_SKS_SYNC,
    AC_SKS_LAUNCH,
    AC_SKS_REFUSE,
    AC_SKS_EMPTY, /* slot: tensor; value: elements */
    AC_SKS_MUST   /* value: holds, or the shape is refused; only in a sketch for the tiling code */
  } kind;
  ac_loc loc;
  int slot;         /* SET, FOR */
  ac_sknode *value; /* SET; IF, WHILE: the condition; LAUNCH: blocks */
  ac_sknode *lo, *hi, *step;
  ac_skstmt *body, *orelse, *next;
  ac_skaccess *access;
  int kernel;       /* LAUNCH: index of the function */
  ac_sknode **args; /* LAUNCH: per parameter; NULL: a tensor */
  int *tensors;     /* LAUNCH: per parameter, -1: a number */
  int n_args;
  const ac_cmust *must;
  ac_cstmt *of; /* LAUNCH: in the tree */
};

typedef struct {
  const ac_cfunc *f;
  ac_map *index; /* name -> slot + 1 */
  int n_slots;
  bool *needed;
  ac_skstmt *body;
} ac_skfunc;

typedef struct {
  int from, to;
} ac_skpiece;

typedef struct {
  const char *name;
  bool in, out; /* as the host's parameter */
  bool workspace;
  int rank; /* that the host's questions suggest; 0: it asks nothing */
  bool asked, first, last,
      ranked; /* the host asks for a size; of the first dimension, of the last; for the number of dimensions */
  AC_VEC(ac_skpiece) pieces; /* dimensions that the host asks for */
  ac_sknode *declared;       /* elements of an output, as its parameter says */
  int twin;                  /* the input that is loaded from the very addresses that it is stored to; -1: none */
  int like;                  /* an output of which nothing is said has the shape of the first input; -1: no such */
  ac_loc loc;
  const ac_cexpr *elements; /* of a workspace */
} ac_sktensor;

typedef struct {
  ac_arena *a;
  const ac_cmodule *m;
  const ac_chip *chip;
  AC_VEC(ac_skfunc *) funcs; /* the module's, in order */
  ac_skfunc *host;
  AC_VEC(ac_sktensor) tensors; /* the host's tensor parameters at their own index (others unused), then workspaces */
  AC_VEC(int64_t) consts;      /* in the host function, greater than 8 */
  const char *opaque;          /* why nothing can be said; NULL: all was understood */
} ac_sketch;

ac_sketch *ac_sketch_of(ac_arena *a, const ac_cmodule *m, const ac_chip *chip);
/* The same for guards: with what statements ask of the tiling code, with accesses or without. */
ac_sketch *ac_sketch_asking(ac_arena *a, const ac_cmodule *m, bool accesses);
/* How many elements it has is known from what the host asks; else perhaps only a guess about its rank. */
static inline bool ac_sk_sized(const ac_sktensor *t) {
  return t->ranked || (t->first && t->last);
}

/* ---- what is found ---- */

/* Runs the sketch on shapes; reports what is wrong on one of them. Sets verdicts to REFUTED where it is. */
void ac_sk_trials(ac_sketch *s, ac_verdicts *v, ac_diags *d);
/* Reasons about all shapes: verdicts that are not REFUTED become PROVED or stay UNKNOWN with a reason. */
void ac_sk_prove(ac_sketch *s, ac_verdicts *v);

/* ---- what the tiling code asks ---- */

/* Statements before each launch that refuse the shapes for which something that is not proved does not hold. */
/* Sets the claims that a code speaks of (claims.def). */
void ac_sk_claims_of(ac_code code, bool set[AC_CLAIM_COUNT]);
void ac_sk_guard(ac_arena *a, ac_cmodule *m, ac_verdicts *v);

#endif

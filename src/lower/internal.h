/* What the passes share. Not for other modules. */
#ifndef AC_LOWER_INTERNAL_H
#define AC_LOWER_INTERNAL_H

#include "lower/lower.h"

/* Where a queue operation stands: before or after a statement of the DSL kernel. For a stage block "before" is the top of its
 * method and "after" its bottom. */
typedef enum {
  AC_LV_ALLOC,
  AC_LV_ENQUE,
  AC_LV_DEQUE,
  AC_LV_FREE,
  AC_LV_ENQUE_OUT,
  AC_LV_DEQUE_OUT, /* the second leg of what is loaded, updated and stored in one slot */
} ac_lop;
typedef struct {
  const ac_cstmt *at;
  bool after;
  ac_lop op;
  int info; /* index into ac_lkernel.infos */
  size_t order;
} ac_levent;

/* What `place` decided for one DSL buffer. */
typedef struct {
  ac_cbuffer *b;
  int buffer;     /* index into ac_akernel.buffers */
  int out_buffer; /* loaded, computed on and stored, and not in this order: the VECOUT queue that the stored copy goes through; else -1 */
  ac_atensor *handle; /* of buffer */
  bool queued;        /* its queue operations are among the events; false: TBuf, got where used */
  bool whole_repeats; /* a compare reads whole 256-byte repeats of it */
  int got;            /* number of the last list of statements that gets its tensor at its head */
} ac_linfo;

/* A scalar of a DSL function (scope.c). Python scopes by function, C++ by block: `hoist` says that the block of the first
 * assignment does not hold every use. */
typedef struct {
  const char *name; /* as emitted */
  ac_atype type;
  bool param;  /* of the function */
  bool member; /* assigned in a stage block and used outside of it: a class member */
  bool hoist;
  bool declared; /* while emitting */
  int uses, assigns;
  const ac_cstmt *home;  /* first statement of the block of the first assignment */
  const ac_cstmt *stage; /* stage block of the first occurrence, NULL: none */
  bool in_stage;         /* assigned in a stage block */
  bool many_stages;      /* occurs in more than one stage block, or in one and outside */
  bool loop;             /* assigned by a `for` */
  const ac_cexpr *value; /* of the only assignment at the top level of the function */
  bool many_homes;       /* assigned afresh in blocks of which none holds the other */
} ac_lvar;
typedef struct { /* a vector, and where each name is in it (scope.c) */
  ac_lvar *data;
  size_t len, cap;
  ac_map *index;
} ac_lvars;

typedef struct {
  ac_cfunc *fn;
  ac_akernel *k;
  AC_VEC(ac_linfo) infos;
  AC_VEC(ac_levent) events;
  ac_lvars vars;
  bool pitched; /* some tile of a two-dimensional buffer has gaps: all of them get rows on 32-byte pitches */
  const char *
      blocks; /* the field with its number of blocks, where the launch at hand may have more; NULL: GetBlockNum says it */
  ac_map *names; /* ac_lower_unique: what is taken, and how far that has been looked at */
  size_t seen_vars, seen_buffers, seen_gms;
} ac_lkernel;

typedef struct {
  ac_arena *a;
  const ac_cmodule *m;
  const ac_lower_opts *o;
  ac_diags *d;
  ac_program *p;
  AC_VEC(ac_lkernel *) kernels; /* parallel to p->kernels */
} ac_lower_ctx;

/* passes.def: the list. Each returns false after a diagnostic. */
#define P(id, name, what) bool ac_lower_##id(ac_lower_ctx *c);
#include "lower/passes.def"
#undef P

/* ---- expressions (expr.c); constants are folded where nothing is lost ---- */
ac_aexpr *ac_ae(ac_arena *a, ac_aekind k, ac_atype t, ac_aexpr *x, ac_aexpr *y);
ac_aexpr *ac_ae_int(ac_arena *a, int64_t v);
ac_aexpr *ac_ae_float(ac_arena *a, double v);
ac_aexpr *ac_ae_var(ac_arena *a, const char *name, ac_atype t);
ac_aexpr *ac_ae_bin(ac_arena *a, ac_aekind k, ac_aexpr *x,
                    ac_aexpr *y);                   /* result type from the kind and the operands */
ac_aexpr *ac_ae_to_float(ac_arena *a, ac_aexpr *x); /* x itself when it is a float */
ac_aexpr *ac_ae_to_bool(ac_arena *a, ac_aexpr *x);  /* != 0 */
bool ac_ae_const(const ac_aexpr *e, int64_t *v);    /* an integer constant (NULL counts as 0) */
bool ac_ae_equal(const ac_aexpr *x, const ac_aexpr *y);
/* The expression is proved to be a multiple of n for all values of its variables. */
bool ac_ae_multiple(const ac_aexpr *e, int64_t n);
/* Replaces variables: `look` returns the replacement or NULL to keep it. */
ac_aexpr *ac_ae_subst(ac_arena *a, const ac_aexpr *e, ac_aexpr *(*look)(void *user, const char *name), void *user);
bool ac_ae_mentions(const ac_aexpr *e, const char *name);

/* Names that C++ or the AscendC text takes for itself get a trailing underscore. */
const char *ac_lower_name(ac_arena *a, const char *dsl);
char *ac_lower_pascal(ac_arena *a, const char *snake);

/* ---- statements ---- */
ac_astmt *ac_as_new(ac_arena *a, ac_askind k, ac_loc loc);
ac_astmt *ac_as_comment(ac_arena *a, const char *text, ac_loc loc);
/* A TBuf that the compiler adds to the kernel, and its tensor. */
ac_atensor *ac_lower_scratch(ac_arena *a, ac_akernel *k, const char *name, ac_aexpr *elements, ac_dtype d,
                             int round_to);
/* At the head of the method these tensors are got; NULL ones are left out. */
void ac_lower_get(ac_arena *a, ac_amethod *m, ac_atensor *const *get, size_t n, ac_loc loc);

/* ---- converting DSL expressions (convert.c) ---- */
typedef struct {
  ac_lower_ctx *c;
  ac_lkernel *k;  /* NULL: host code */
  ac_ablock *pre; /* scalar extractions land here, before the statement */
  int *temps;     /* counter of temporaries */
} ac_lconv;
/* NULL after a diagnostic. */
ac_aexpr *ac_lower_expr(ac_lconv *v, const ac_cexpr *e);
ac_atype ac_lower_type(const ac_cexpr *e);

/* `name`, with underscores until neither a scalar, a buffer, a tensor nor a queue of the kernel has it. */
const char *ac_lower_unique(ac_arena *a, ac_lkernel *k, const char *name);
/* What was decided for a buffer of the kernel; NULL: it has no such buffer. */
ac_linfo *ac_lower_info(ac_lkernel *k, const ac_cbuffer *b);

/* Drops axes of one element and merges axes that follow each other without a gap; true if at most one is left. */
bool ac_lower_merge(ac_arena *a, ac_acopy *c, bool merge);
/* widths.c: tiles of several axes that share a buffer, or buffers that calls join, have inner lengths that are not proved alike. */
bool ac_lower_widths_differ(ac_lower_ctx *c, ac_lkernel *k);

/* phases.c: several launches on one path. `late`: something launches or refuses after a launch. */
bool ac_lower_phased(ac_lower_ctx *c, const ac_cfunc *host);
bool ac_lower_paths(ac_lower_ctx *c, ac_loc loc);
/* Deals out tiling fields: to the launches in order, phase by phase. */
void ac_lower_fields(ac_lower_ctx *c);

/* Scalars of a function, in order of first occurrence. */
void ac_lower_scope(ac_arena *a, const ac_cfunc *f, ac_lvars *out);
ac_lvar *ac_lvar_find(ac_lvars *v, const char *name);
/* Declared and visible C++ names, the innermost last. */
typedef struct {
  ac_strvec names;
  ac_map *times; /* how often each is among them */
} ac_lscope;
bool ac_scope_has(const ac_lscope *s, const char *name);
void ac_scope_add(ac_arena *a, ac_lscope *s, const char *name);
void ac_scope_cut(ac_lscope *s, size_t len); /* only the first `len` stay */
bool ac_is_scalar(const ac_cexpr *e);
/* Calls f on every expression that a statement itself evaluates at run time (not its sub-statements). */
void ac_each_expr(const ac_cstmt *s, void (*f)(void *user, const ac_cexpr *e), void *user);

/* The chip has the instruction for elements of dtype d (a cast: from dtype `from`); else pass "legalise" composes it. */
bool ac_lower_has(const ac_astmt *s, ac_dtype d, ac_dtype from);

/* Calls f on each statement of the block and of the blocks inside it. */
void ac_as_walk(ac_ablock *b, void (*f)(void *user, ac_astmt *s), void *user);
bool ac_is_tensor_expr(const ac_cexpr *e); /* tensor or workspace name of the host */

/* Events of a kind that the slots of a queue hold at most, and how many there are for queues. VECIN: those between MTE2 and the vector
 * unit; VECOUT: between that and MTE3; UPDATE: between MTE2 and MTE3 (check.c). */
int ac_lower_events(const ac_abuffer *b, ac_amem kind);
int ac_lower_event_limit(ac_amem kind);
/* Ids of an event that the queues of a kernel may hold at once (check.c). */
int ac_lower_held(const ac_akernel *k, ac_event e);

/* banks.c: buffers that some instructions read side by side, and how often (the deeper in loops the more). */
typedef struct {
  int a, b;
  int64_t weight;
} ac_bank_pair;
typedef AC_VEC(ac_bank_pair) ac_bank_pairs;
ac_bank_pairs ac_lower_bank_pairs(ac_arena *a, const ac_akernel *k);
/* Eight rows at each of these addresses lie in different bank groups. */
bool ac_lower_bank_apart(int64_t x, int64_t y, int64_t period);
void ac_lower_banks(ac_lower_ctx *c, ac_akernel *k);
/* memory.c: bytes of one tensor of the buffer at this rounding, in that launch, at most; false: the shape does not bound
 * them. */
bool ac_launch_bytes(ac_arena *a, const ac_program *p, const ac_alaunch *l, int buffer, int round_to, int64_t *bytes);

/* check_flags.c: what is wrong with the flags of TBufs that copies touch, and with the ids that the kernel holds; NULL: nothing. */
const char *ac_lower_check_flags(ac_arena *a, const ac_akernel *k);
/* The statement by itself touches the bytes of a TBuf that shares with nobody, or of its tenants. */
bool ac_lower_accesses(const ac_akernel *k, const ac_astmt *s, int buffer);

/* apart.c: the kernel loads and stores this tensor, and no trip of its loop touches what another one does. */
bool ac_lower_apart(ac_arena *a, const ac_akernel *k, int gm);

#endif

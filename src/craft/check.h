/* The checker's parts. Private to craft.
 *
 * Three steps: infer.c finds the kind of every name; flow.c walks kernels, then the host function, with a state of symbolic
 * values and buffer extents (eval.c: expressions, call.c: primitives), annotating the tree; ub.c looks at each launch with the
 * kernel's parameters bound to what the host passes.
 */
#ifndef AC_CRAFT_CHECK_H
#define AC_CRAFT_CHECK_H

#include "craft/internal.h"
#include "craft/sym.h"

/* ---- signatures ---- */

enum { AC_MAX_OPERANDS = 7 };
typedef struct {
  const char *name; /* canonical, without `tl.` */
  ac_cprim prim;    /* AC_P_NONE: no such primitive */
  ac_inst inst;
  const char *where; /* "hkico" */
  int n;
  struct {
    char name[12], kinds[4];
    bool optional;
  } op[AC_MAX_OPERANDS];
} ac_sig;
/* By canonical name or alias. */
ac_sig ac_sig_find(const char *name);
ac_sig ac_sig_inst(ac_inst i);          /* of an instruction, whatever primitive has its name */
ac_sig ac_sig_scalar(const char *name); /* the form of `name` with a scalar for its last source; AC_P_NONE if none */
const char *ac_sig_keyword(const ac_sig *s, const char *kw); /* canonical keyword */
const char *ac_sig_nearest(const char *name);
bool ac_sig_known_bare(const char *name); /* may be written without `tl.` */

/* ---- values ---- */

typedef struct {
  bool axis;
  ac_sym *extent, *stride;
  ac_cexpr *extent_e, *stride_e; /* as the program has them */
  const ac_cexpr *index;         /* a buffer whose elements are the offsets; NULL: 0, 1, ... */
  int index_buf;
  ac_sym *index_off; /* the part of it begins there; NULL: 0 */
  ac_loc index_set;  /* what had written it */
} ac_kdim;
typedef struct {
  int param; /* -1: offsets without a pointer */
  ac_sym *base;
  ac_cexpr *base_e;
  int rank;
  ac_kdim dim[4];
} ac_ktile;
/* A part of a buffer with several dimensions, one entry a dimension of the buffer. */
typedef struct {
  int rank; /* axes that are kept */
  struct {
    bool kept;
    ac_sym *lo, *len;       /* len: elements of a kept axis */
    ac_cexpr *lo_e, *len_e; /* NULL: as the symbol writes itself */
    int64_t step;
  } dim[4];
} ac_kview;
typedef struct {
  ac_ctkind kind;    /* AC_CT_NONE: an error was reported */
  int buf;           /* AC_CT_BUFFER: index */
  ac_sym *sym;       /* AC_CT_INT */
  ac_ktile *tile;    /* AC_CT_TILE, AC_CT_POINTER; NULL: not known here */
  ac_sym *off, *len; /* of a buffer's part; NULL: 0, to the end */
  ac_cexpr *off_e;
  ac_dtype dtype;
  const ac_kview *nd; /* of a part of a buffer with several dimensions; then off and len are not set */
} ac_kval;
static const ac_kval none = {.kind = AC_CT_NONE, .buf = -1, .dtype = AC_NODTYPE};

/* A value of a kind without more to say of it; an int with its symbolic value. */
static inline ac_kval plain(ac_ctkind k) {
  return (ac_kval){.kind = k, .buf = -1, .dtype = AC_NODTYPE};
}

static inline ac_kval int_value(ac_sym *x) {
  ac_kval v = plain(AC_CT_INT);
  v.sym = x;
  return v;
}

enum { AC_UNSET, AC_MAYBE, AC_SET };
typedef struct {
  int set;
  ac_kval v;
} ac_kvar;
/* Between which numbers the integers in a buffer lie (range.c); it holds if every pair of if_ is in order. */
typedef struct {
  ac_sym *lo, *hi;      /* NULL: not known */
  ac_sym *first, *step; /* element k is first + k * step; NULL: not known */
  ac_sym *if_[8][2];
  int n_if;
} ac_kspan;
typedef struct {
  int set;
  bool clobbered; /* last used as work space */
  bool wrong;     /* an error was reported about what is in it: no others follow */
  int rank;
  ac_sym *ext[4];       /* NULL: not known */
  ac_loc loc;           /* of what set it */
  const ac_kspan *span; /* of its valid elements; NULL: not known */
} ac_kbuf;
/* States share pages of variables until one of them changes a page: a state is copied at every branch and every loop, and hardly differs. */
enum { AC_KPAGE = 16 };
typedef struct ac_kpage {
  int users;             /* states that have it */
  struct ac_kpage *next; /* of the unused ones */
  ac_kvar v[AC_KPAGE];
} ac_kpage;
typedef struct ac_kstate {
  bool dead;
  ac_kpage **pages;
  ac_kbuf *bufs;
  const ac_fact *facts;
  struct ac_kstate *next; /* of the unused ones */
} ac_kstate;
static inline const ac_kvar *ac_chk_get(const ac_kstate *s, int i) {
  return &s->pages[i / AC_KPAGE]->v[i % AC_KPAGE];
}

/* ---- functions ---- */

typedef struct {
  const char *name;
  ac_ctkind kind;
  bool want_ptr, want_int, hint_float, used;
  bool plain; /* workspaces: some launch so far stores to it plainly */
  int param;  /* -1: a local name */
  int buf;    /* -1: no buffer */
  ac_dtype dtype;
  ac_loc loc;
} ac_vinfo;
typedef struct ac_finfo {
  ac_cfunc *f;
  ac_map *index; /* name -> position + 1 */
  AC_VEC(ac_vinfo) v;
  size_t n_bufs; /* declarations in the text: room for buffers */
  ac_sym **caps; /* of each buffer: product of its shape */
  ac_sym *(*dims)[4];
  ac_sym **param_syms; /* kernels: of each int parameter, else NULL */
  bool *whole_bufs;
  int64_t scratch; /* bytes that element-wise primitives take for a while, at most */
  bool select;
  ac_sym **out_numel;  /* the host: elements of each declared output, else NULL */
  ac_sym ***out_sizes; /* its sizes, where none is a part of another shape */
  ac_map *said;        /* names and primitives that are not there: each is said once */
} ac_finfo;

/* x <= y must hold; looked at again for each launch of fn. */
typedef struct {
  ac_finfo *fn;
  ac_sym *x, *y;
  const ac_fact *facts;
  ac_code code;
  ac_loc loc, other;
  const char *refuted, *unknown, *help;
  ac_cmust *must; /* the same at its statement, or NULL */
  bool sure;      /* said only where it is certain that it does not hold */
  bool open; /* where it does not hold nothing need be wrong: it is proved or not, never refuted, and not asked */
} ac_oblig;
typedef struct {
  ac_cstmt *s;
  ac_finfo *kernel;
  ac_kval *args;
  const ac_fact *facts;
  bool dead;
} ac_klaunch;

typedef struct ac_kloop {
  AC_VEC(ac_kstate *) breaks;
  struct ac_kloop *outer;
} ac_kloop;

typedef struct {
  ac_arena *a;
  ac_cmodule *m;
  const ac_chip *chip;
  ac_diags *diags;
  int quiet; /* > 0: a trial walk; nothing is reported and no count filled in */
  ac_syms s;
  AC_VEC(ac_finfo *) fns;
  ac_finfo *fn;
  ac_kstate *st, *spare;
  ac_cstage stage;
  int loop_depth;
  ac_kloop *loop;
  AC_VEC(ac_oblig) obligs;
  AC_VEC(ac_klaunch) launches;
  ac_kpage *spare_page;
  const ac_cexpr *statement; /* the call that is a statement of its own: it may have no value */
  const char *const *tunes;  /* ac_craft_check_opts */
  int n_tunes;
  bool *tune_used;
  bool changed;    /* infer: another round */
  bool view;       /* the value at work is a bitcast: a name may keep it */
  ac_cstmt *at;    /* the statement at work; NULL: none whose values are those of the state */
  bool bad_launch; /* a launch has an error: what would follow from its absence is not said */
} ac_chk;

static inline ac_diags *ac_chk_d(ac_chk *c) {
  return c->quiet ? NULL : c->diags;
}

static inline const char *text(ac_chk *c, const ac_cexpr *e) {
  return ac_cexpr_text(c->a, e);
}

/* Of an operand that is a buffer or a part of one. */
static inline ac_dtype buf_dtype(ac_chk *c, const ac_kval *v) {
  return v->dtype != AC_NODTYPE ? v->dtype : c->fn->f->buffers.data[v->buf]->dtype; /* a bitcast has its own */
}
static inline int rank_of(ac_chk *c, const ac_kval *v) {
  return v->nd ? v->nd->rank : c->fn->f->buffers.data[v->buf]->rank;
}

/* infer.c */
void ac_chk_infer(ac_chk *c);
ac_finfo *ac_chk_fn(ac_chk *c, const ac_cfunc *f);
int ac_chk_var(const ac_finfo *f, const char *name); /* -1: none */
ac_dtype ac_chk_dtype_of(const ac_cexpr *e);         /* tl.float32 */
const char *ac_chk_kind_name(ac_ctkind k);

/* eval.c */
ac_kval ac_chk_eval(ac_chk *c, ac_cexpr *e);
ac_kval ac_chk_int(ac_chk *c, ac_cexpr *e, const char *what);                   /* must be an int */
ac_cexpr *ac_chk_write(ac_chk *c, ac_sym *x, ac_cexpr *orig, bool params_only); /* NULL: cannot be written here */
ac_cexpr *ac_chk_new(ac_chk *c, ac_cekind kind, ac_loc loc);
ac_cexpr *ac_chk_new_int(ac_chk *c, int64_t v, ac_loc loc);
ac_cexpr *ac_chk_new_name(ac_chk *c, const char *name, ac_loc loc);
const ac_fact *ac_chk_assume(ac_chk *c, const ac_fact *f, ac_cexpr *cond, bool holds);
/* True: cond == holds contradicts f. */
bool ac_chk_never(ac_chk *c, const ac_fact *f, ac_cexpr *cond, bool holds);
void ac_chk_choice(ac_chk *c, ac_sym *r, ac_sym *x, const ac_fact *fx, ac_sym *y, const ac_fact *fy);

/* flow.c: a variable of a state, to be changed */
ac_kvar *ac_chk_set(ac_chk *c, ac_kstate *s, int i);

/* call.c */
ac_kval ac_chk_call(ac_chk *c, ac_cexpr *e);
void ac_chk_alloc(ac_chk *c, ac_cstmt *s);
bool ac_chk_is_alloc(const ac_cexpr *e);
/* x <= y has to hold, in two steps, so that texts are made only where they are needed: nothing is to be said of it; else it is noted. */
bool ac_chk_settled(ac_chk *c, const ac_oblig *o);
void ac_chk_unsettled(ac_chk *c, ac_oblig o);
ac_kval ac_chk_failed(ac_chk *c, const ac_cexpr *e); /* what an erroneous call leaves behind */

/* compute.c: operands are in the order of the signature */
ac_kval ac_chk_compute(ac_chk *c, ac_cexpr *e, const ac_sig *s, ac_kval *v);

/* move.c: load, store and the extents of buffers */
ac_kval ac_chk_load(ac_chk *c, ac_cexpr *e, ac_kval *v);
ac_kval ac_chk_store(ac_chk *c, ac_cexpr *e, ac_kval *v);
ac_sym *ac_chk_extent(ac_chk *c, const ac_kval *b);            /* valid elements of an operand; NULL: not known */
bool ac_chk_readable(ac_chk *c, const ac_kval *b, ac_loc loc); /* reports reads of unwritten buffers */
void ac_chk_written(ac_chk *c, const ac_kval *b, ac_sym *count, const ac_kbuf *shape, bool keep, ac_loc loc);
/* An instruction or a copy begins at 32-byte blocks of UB: an error when the part certainly does not, a warning when that is not known. */
void ac_chk_aligned(ac_chk *c, const ac_kval *b, const ac_cexpr *e);
/* False once this was said of the function at work: a name that is not there is one mistake, however often it is used. */
bool ac_chk_first(ac_chk *c, const char *name);
const char *ac_chk_buf_name(ac_chk *c, int buf);

/* shape.c: parts of buffers with several dimensions, and the primitives that work along axes */
ac_kval ac_chk_part(ac_chk *c, ac_cexpr *e, ac_kval b);        /* b[i], b[a:c, d:e] */
int ac_chk_shape(ac_chk *c, const ac_kval *v, ac_sym *ext[4]); /* axes of an operand; ext NULL: not known */
/* Elements that an operand takes of dimension d: of its part, from there to the end, or all. */
ac_sym *ac_chk_room(ac_chk *c, const ac_kval *v, int d);
/* A buffer begins at its element 0. */
void ac_chk_from_zero(ac_chk *c, const ac_cexpr *e, int buf, ac_sym *at);
/* What a part of extent `ext` reads must be valid; what is written to it is valid from here on. */
void ac_chk_part_read(ac_chk *c, const ac_kval *v, ac_sym *const ext[4], ac_loc loc);
void ac_chk_part_written(ac_chk *c, const ac_kval *v, ac_sym *const ext[4], ac_loc loc);
bool ac_chk_part_same(ac_chk *c, const ac_kval *x, const ac_kval *y);
bool ac_chk_view(ac_chk *c, ac_cexpr *e, const ac_kval *v, ac_sym *const ext[4]); /* writes e->view */
bool ac_chk_is_shape_prim(ac_cprim p);
ac_kval ac_chk_shape_prim(ac_chk *c, ac_cexpr *e, const ac_sig *s, ac_kval *v);

/* range.c: between which numbers the integers in buffers lie */
/* Of the first n elements of an operand, NULL: of all that are valid. False: nothing is known. */
bool ac_chk_span(ac_chk *c, const ac_kval *v, ac_sym *n, ac_kspan *s);
bool ac_chk_same_span(const ac_kspan *x, const ac_kspan *y);
/* What a call writes to its first operand, by the spans of its sources as they are before it; NULL: not known. */
const ac_kspan *ac_chk_made(ac_chk *c, const ac_cexpr *e, const ac_sig *s, const ac_kval *v, ac_sym *count);
const ac_kspan *ac_chk_span_below(ac_chk *c, ac_sym *n); /* 0 to n - 1 */
/* Behind a write of `made` to v, which was in the state `was`; keep: what lay beside stays. */
void ac_chk_spans(ac_chk *c, const ac_kval *v, const ac_kbuf *was, bool keep, const ac_kspan *made);
ac_sym *ac_chk_element(ac_chk *c, ac_cexpr *e, const ac_kval *v); /* the value of one element, read by e */
/* What a span rests on: nothing it was computed from wraps. */
void ac_chk_unwrapped(ac_chk *c, const ac_kval *v, const ac_kspan *s, ac_loc loc);
/* The first `count` numbers in `index` are 0 to n - 1. */
void ac_chk_inside(ac_chk *c, const ac_kval *index, ac_sym *count, const char *source, ac_sym *n, ac_loc loc);

/* ub.c */
/* live.c: lives of a kernel's buffers, and which of them share bytes (ac_cbuffer.home). */
void ac_chk_lives(ac_chk *c, const ac_finfo *k);
/* ub.c: bytes of one tensor of buffer i before rounding, and what they are rounded up to (its home's, if it shares). */
ac_sym *ac_chk_bytes(ac_chk *c, const ac_finfo *k, size_t i, int64_t *block);
void ac_chk_launches(ac_chk *c);

/* control.c */
ac_kval ac_chk_split(ac_chk *c, ac_cexpr *e, const ac_kval *v);
ac_kval ac_chk_tune(ac_chk *c, ac_cexpr *e);
void ac_chk_tunes_used(ac_chk *c);
void ac_chk_outputs(ac_chk *c);                                   /* the host's annotations, at its head */
ac_sym *ac_chk_declared_numel(ac_chk *c, const ac_cexpr *tensor); /* of a declared output; NULL: not declared */
ac_sym *ac_chk_declared_size(ac_chk *c, const ac_cexpr *tensor, const ac_sym *axis);
bool ac_chk_atomic(ac_chk *c, ac_cexpr *e, ac_cparam *p); /* the `atomic=` of a store, or none */
bool ac_chk_launched(ac_chk *c, ac_cexpr *tensor,
                     const ac_cparam *p); /* does the launch need what the caller passes? */
void ac_chk_directions(ac_chk *c);        /* declared against what launches do */

/* loops.c: after the walk over a function */
void ac_chk_control(ac_chk *c, const ac_finfo *f);

/* published.c */
void ac_chk_published(ac_chk *c);            /* forms of the published style, rewritten in the tree */
const char *ac_chk_cube_name(const char *s); /* a name of the published style for the cube unit; NULL: none */

#endif

/* craft: the DSL - syntax tree, lexer, parser, printer, types and static checks (docs/craft.md).
 *
 * A module is one host function and one or more kernels in Python syntax. Pipeline: ac_craft_parse (or a tree built by `plan`) ->
 * ac_craft_check, which resolves names, keyword arguments, counts and tiles *in the tree* -> lower reads the annotated tree.
 * Knows nothing of C++.
 */
#ifndef AC_CRAFT_H
#define AC_CRAFT_H

#include "isa/isa.h"

typedef struct ac_cexpr ac_cexpr;
typedef struct ac_cstmt ac_cstmt;
typedef struct ac_cfunc ac_cfunc;
typedef struct ac_cbuffer ac_cbuffer;
typedef struct ac_ctile ac_ctile;
typedef struct ac_cview ac_cview;

typedef enum {
#define P(id, name, sig, where) id,
#include "craft/prims.def"
#undef P
  AC_P_INST, /* an instruction of isa/insts.def; see ac_cexpr.inst */
  AC_P_NONE
} ac_cprim;
/* Element-wise primitives work in pieces of lanes where they need scratch, so that it does not grow with the tile: as many as
 * AC_SCRATCH_BYTES hold, a power of two, at most AC_SCRATCH_LANES. */
enum { AC_SCRATCH_LANES = 2048, AC_SCRATCH_BYTES = 32768 };
int64_t ac_scratch_lanes(int bytes_per_lane);
/* Scratch bytes of a lane of an element-wise primitive (elems.def); -1: it has no form in this dtype, or is none of these. */
int ac_elem_scratch(const char *name, ac_dtype d);
/* Bytes of UB that a primitive takes for a while, for a tile of any size; 0: none. */
int64_t ac_scratch_bytes(int bytes_per_lane);
uint32_t ac_elem_dtypes(const char *name); /* set of AC_BIT; 0: none of elems.def */
/* Bytes for a lane that a cast between the dtypes takes; -1: no such cast. */
int ac_cast_scratch(ac_dtype dst, ac_dtype src);
/* Roundings that tl.cast has between the dtypes (bit set of 1u << ac_round), composed casts included; 0: no such cast. */
unsigned ac_craft_cast_rounds(ac_dtype dst, ac_dtype src);
const char *ac_cprim_name(ac_cprim prim);
/* What the operands of a primitive are, without count and mode: d destination, a source, m mask, M mask among masks only, s scalar, w work. */
void ac_cprim_roles(const char *name, char out[8]);
/* Operand that a primitive writes besides its first one: argmax, argmin, sort, topk, split_records; -1: none. It may be absent. */
int ac_cprim_second(ac_cprim prim);
/* Position of an operand in a primitive's signature, or -1. */
int ac_cprim_operand(ac_cprim prim, const char *name);

typedef enum {
  AC_OP_NOP,
  AC_OP_ADD,
  AC_OP_SUB,
  AC_OP_MUL,
  AC_OP_DIV,
  AC_OP_FLOORDIV,
  AC_OP_MOD,
  AC_OP_POW,
  AC_OP_NEG,
  AC_OP_NOT,
  AC_OP_AND,
  AC_OP_OR,
  AC_OP_EQ,
  AC_OP_NE,
  AC_OP_LT,
  AC_OP_LE,
  AC_OP_GT,
  AC_OP_GE
} ac_cop;

typedef enum {
  AC_CE_INT,   /* i */
  AC_CE_FLOAT, /* f; also float("inf") and -float("inf") after parsing: printed back in that form */
  AC_CE_BOOL,  /* i */
  AC_CE_STR,   /* s */
  AC_CE_NONE,
  AC_CE_NAME,   /* s */
  AC_CE_ATTR,   /* a . s */
  AC_CE_INDEX,  /* a [ args ] */
  AC_CE_SLICE,  /* a : b : c, each may be NULL; only inside an index */
  AC_CE_CALL,   /* a ( args ), keywords in kw[i] (NULL: positional) */
  AC_CE_UNARY,  /* op a */
  AC_CE_BINARY, /* a op b, arithmetic, comparison or and/or (chained comparisons are parsed into `and`) */
  AC_CE_COND,   /* a if c else b */
  AC_CE_TUPLE,  /* args */
} ac_cekind;

typedef enum {
  AC_CT_NONE,
  AC_CT_INT,
  AC_CT_FLOAT,
  AC_CT_BOOL,
  AC_CT_BUFFER,
  AC_CT_POINTER,
  AC_CT_TILE,
  AC_CT_DTYPE,
  AC_CT_STR,
  AC_CT_SHAPE,
  AC_CT_KERNEL,
  AC_CT_MODULE
} ac_ctkind;

struct ac_cexpr {
  ac_cekind kind;
  ac_cop op;
  ac_loc loc;
  int64_t i;
  double f;
  const char *s;
  ac_cexpr *a, *b, *c;
  ac_cexpr **args;
  const char **kw; /* AC_CE_CALL: keyword of each argument or NULL */
  int n_args;
  /* filled by ac_craft_check: */
  ac_ctkind type;
  ac_cprim
      prim; /* AC_CE_CALL of a primitive; then args are in signature order, absent optional ones NULL, counts filled in */
  ac_inst
      inst; /* prim == AC_P_INST: args = operands in the order of its form (isa.h), the count last and never NULL */
  ac_round round;     /* prim == AC_P_INST with AC_FORM_CAST */
  ac_dtype dtype;     /* AC_CT_DTYPE, AC_CT_BUFFER, AC_CT_POINTER, AC_CT_TILE */
  ac_cbuffer *buffer; /* AC_CT_BUFFER */
  ac_cexpr *offset;   /* AC_CT_BUFFER: element offset of `ub + k`, `ub[k]`, `ub[a:b]`; NULL: 0 */
  ac_ctile *tile; /* address of a load, store or extract_scalar; an ASSIGN of type TILE or POINTER makes no code */
  ac_cview *view; /* AC_CT_BUFFER: the part that an operand is, by dimensions; NULL: `offset` says all */
  ac_cexpr *
      *between; /* AC_P_EXTRACT_SCALAR of a buffer: the least and the greatest that it can be; NULL: not known */
};

/* A part of a buffer: one entry a dimension of the buffer. */
struct ac_cview {
  int rank; /* of the buffer */
  struct {
    bool kept;               /* an axis of the part; else one index */
    ac_cexpr *from, *extent; /* from NULL: 0. extent of a kept axis: how many elements */
    int64_t step;            /* distance of neighbours, in elements of that dimension */
    ac_cexpr *room;          /* of a kept axis of a part that a load pads: how many elements that fills; else NULL */
  } dim[4];
};

/* An affine set of GM addresses: param[base + sum_i axis[i].stride * k_i], 0 <= k_i < axis[i].extent. */
struct ac_ctile {
  int param;      /* index into the kernel's parameters */
  ac_cexpr *base; /* int expression, elements */
  int rank;       /* 0: one element */
  struct {
    ac_cexpr *extent, *stride;
    ac_cexpr *index;        /* NULL, or a buffer of int32: element k of it stands in place of k */
    ac_cexpr *lo, *hi;      /* of an index: its elements lie between; NULL: not known */
    ac_cexpr *first, *step; /* of an index: element k is first + k * step; NULL: not known */
  } axis[4];                /* outermost first */
};

typedef enum {
  AC_CS_ASSIGN,
  AC_CS_EXPR,
  AC_CS_IF,
  AC_CS_FOR,
  AC_CS_WHILE,
  AC_CS_WITH,
  AC_CS_RETURN,
  AC_CS_PASS,
  AC_CS_BREAK
} ac_cskind;
/* Do the buffers of a launch fit into UB (single buffering, or what the program pinned; with the scratch of element-wise primitives)?
 * UNKNOWN: the tiling code must check. */
typedef enum { AC_FIT_UNKNOWN, AC_FIT_PROVED, AC_FIT_REFUTED } ac_cfit;
typedef enum { AC_STAGE_NONE, AC_STAGE_COPYIN, AC_STAGE_COMPUTE, AC_STAGE_COPYOUT } ac_cstage;

/* x <= y has to hold where a statement runs, and is not proved of all shapes. */
typedef struct ac_cmust {
  ac_cexpr *x, *y;  /* over the names that the statement sees */
  const char *text; /* what is wrong where it does not hold */
  ac_code code;
  ac_loc loc;
  bool asked; /* left open by the check: the tiling code asks it (guard.c) */
  struct ac_cmust *next;
} ac_cmust;

struct ac_cstmt {
  ac_cskind kind;
  ac_loc loc;
  ac_cstmt *next;
  ac_strvec comments;   /* full comment lines before the statement, without "# "; an empty string is a blank line */
  const char *trailing; /* comment at the end of its line, or NULL */
  ac_cexpr *target;     /* ASSIGN: name or tuple; FOR: name */
  ac_cop op;            /* ASSIGN: AC_OP_NOP for =, else the operator of += ... */
  ac_cexpr *value;      /* ASSIGN, EXPR, RETURN; IF and WHILE: the condition */
  ac_cexpr *lo, *hi, *step; /* FOR over range(lo, hi, step); filled even when range had one argument */
  ac_cstmt *body, *orelse;  /* IF, FOR, WHILE, WITH; elif is an IF in orelse */
  ac_cstage stage;          /* WITH */
  ac_strvec tail_comments;  /* comment lines after the last statement of body */
  ac_strvec else_comments;  /* the same of orelse */
  ac_cfit fit;              /* filled by check: of a launch */
  bool again;               /* BREAK, in the parser only: it is a `continue` (continue.c) */
  ac_cmust *musts;          /* filled by check: ASSIGN, EXPR, IF of kernels */
  ac_cstmt *
      guards; /* filled by ac_craft_prove: statements of the tiling code before a launch, which refuse what is not proved; their
                       `tl.refuse` has a `{}` in its text for each further argument */
};

typedef struct {
  const char *name;
  ac_cexpr *annotation, *init; /* `x: tl.float32`, `n=4`; may be NULL */
  ac_loc loc;
  /* filled by check: */
  ac_ctkind type;     /* AC_CT_POINTER for tensors, AC_CT_INT, AC_CT_FLOAT, AC_CT_BOOL */
  ac_dtype dtype;     /* of a tensor's elements */
  bool in, out;       /* loaded from / stored to (through launches for host parameters) */
  bool plain, atomic; /* stored to plainly, by atomic stores */
  /* Annotations of host parameters: `y: tl.out`, `y: tl.out[d0, d1]`, `y: tl.inout`. */
  bool declared_out, declared_inout;
  ac_cexpr **dims; /* sizes of a declared output, or parts of shapes (`x.shape[:-1]`); NULL: not said */
  int n_dims;
} ac_cparam;

struct ac_cbuffer {
  const char *name;
  ac_dtype dtype;
  int rank;
  ac_cexpr *shape[4];  /* capacity per dimension */
  int pinned;          /* buffers= pins the depth; 0: the compiler decides */
  bool loaded, stored; /* used in copyin / copyout */
  bool computed;       /* used in compute */
  ac_loc loc;
  bool shares;      /* no copy touches it: its bytes may hold another such buffer before and after its life */
  ac_cbuffer *home; /* the buffer whose bytes it takes (at least as many, for every shape); NULL: it has its own */
  ac_loc from, to;  /* first and last statement of its life, loops counted as a whole; line 0: never touched */
  size_t index;     /* among the kernel's buffers */
};

struct ac_cfunc {
  const char *name;
  bool kernel;
  ac_loc loc;
  ac_strvec comments; /* above the function */
  const char *doc;    /* docstring or NULL */
  ac_cparam *params;
  int n_params;
  ac_cstmt *body;
  ac_strvec tail_comments;
  /* filled by check: */
  AC_VEC(ac_cbuffer *) buffers; /* kernels, in order of declaration */
  AC_VEC(ac_cstmt *) launches;  /* host: the EXPR statements `kernel[n](...)`, in order */
};

/* `tl.tune("tile", 4096, (2048, 4096))` */
typedef struct {
  const char *name;
  int64_t value, preset; /* as chosen; the program's own */
  int64_t *choices;
  int n_choices;
  ac_loc loc;
} ac_ctune;

typedef struct {
  const char *file;   /* for locations */
  ac_strvec comments; /* at the head of the file */
  AC_VEC(ac_cfunc *) funcs;
  ac_strvec imports; /* import lines, kept for printing */
  ac_strvec tail_comments;
  AC_VEC(ac_ctune) tunes; /* filled by check: in order of the text */
} ac_cmodule;

/* Is the text that was read from a file as long as its string, without NUL? Else AC0405 at the first one: what is behind it would be
 * lost. */
bool ac_craft_whole(const char *file, const char *text, size_t len, ac_diags *d);
/* Parses; reports up to d->max_errors syntax errors (AC04xx), recovering at statement ends. NULL if there was any. */
ac_cmodule *ac_craft_parse(ac_arena *a, const char *file, const char *text, ac_diags *d);
/* Prints in canonical form (4 spaces, 100 columns where possible); parse(print(m)) prints the same. */
char *ac_craft_print(ac_arena *a, const ac_cmodule *m);
/* NULL if `after`, which was printed, says what `before` says, with all of its comments, and would be printed the same again; else why
 * not. What the formatter asks itself before it writes. */
const char *ac_craft_unlike(ac_arena *a, const char *before, const char *after);

typedef struct {
  const ac_chip *chip;
  const char *const *tunes; /* "name=value" for a tl.tune of that name; n_tunes of them */
  int n_tunes;
} ac_craft_check_opts;
/* Resolves and checks (AC05xx); annotates the tree. False on errors. A launch binds kernel parameters to host expressions. */
bool ac_craft_check(ac_arena *a, ac_cmodule *m, const ac_craft_check_opts *o, ac_diags *d);
ac_cfunc *ac_craft_host(const ac_cmodule *m);                     /* the only non-kernel function */
ac_cfunc *ac_craft_kernel(const ac_cmodule *m, const char *name); /* NULL if none */
/* Of a launch statement: kernel, block count, i-th argument. */
ac_cfunc *ac_craft_launch_kernel(const ac_cmodule *m, const ac_cstmt *s);
ac_cexpr *ac_craft_launch_cores(const ac_cstmt *s);
/* Structural equality of annotated or bare expressions. */
bool ac_cexpr_equal(const ac_cexpr *a, const ac_cexpr *b);
char *ac_cexpr_text(ac_arena *a, const ac_cexpr *e);

/* ---- builder: what `plan` writes trees with ------------------------------------------------------------------------------- */

typedef struct {
  ac_arena *arena;
  ac_cmodule *module;
  ac_cfunc *func;      /* current */
  ac_cstmt **tail[32]; /* where the next statement goes; a stack of open blocks */
  int depth;
  ac_strvec pending;  /* comment lines for the next statement */
  ac_cstmt *open[32]; /* the statement of each open block */
  bool in_else[32];
} ac_cbuild;
void ac_cb_init(ac_cbuild *b, ac_arena *a, const char *file);
ac_cfunc *ac_cb_func(ac_cbuild *b, const char *name, bool kernel);
void ac_cb_param(ac_cbuild *b, const char *name, ac_cexpr *annotation);
void ac_cb_comment(ac_cbuild *b, const char *fmt, ...) AC_PRINTF(2, 3);
ac_cstmt *ac_cb_assign(ac_cbuild *b, const char *name, ac_cexpr *value);
ac_cstmt *ac_cb_call(ac_cbuild *b, ac_cexpr *call);
void ac_cb_if(ac_cbuild *b, ac_cexpr *cond);
void ac_cb_else(ac_cbuild *b);
void ac_cb_elif(ac_cbuild *b, ac_cexpr *cond);
void ac_cb_for(ac_cbuild *b, const char *var, ac_cexpr *lo, ac_cexpr *hi, ac_cexpr *step); /* step NULL: 1 */
void ac_cb_while(ac_cbuild *b, ac_cexpr *cond);
void ac_cb_with(ac_cbuild *b, ac_cstage stage);
void ac_cb_end(ac_cbuild *b); /* closes the innermost block; elif/else chains close with one end */
ac_cexpr *ac_ce_int(ac_cbuild *b, int64_t v);
ac_cexpr *ac_ce_float(ac_cbuild *b, double v);
ac_cexpr *ac_ce_str(ac_cbuild *b, const char *s);
ac_cexpr *ac_ce_name(ac_cbuild *b, const char *name);
ac_cexpr *ac_ce_attr(ac_cbuild *b, ac_cexpr *a, const char *name);
ac_cexpr *ac_ce_bin(ac_cbuild *b, ac_cop op, ac_cexpr *x, ac_cexpr *y);
ac_cexpr *ac_ce_neg(ac_cbuild *b, ac_cexpr *x);
ac_cexpr *ac_ce_index(ac_cbuild *b, ac_cexpr *a, int n, ac_cexpr **idx);
ac_cexpr *ac_ce_call(ac_cbuild *b, ac_cexpr *callee, int n, ac_cexpr **args);
/* tl.<name>(args...); n arguments, each ac_cexpr *. */
ac_cexpr *ac_ce_tl(ac_cbuild *b, const char *name, int n, ...);
ac_cexpr *ac_ce_kwarg(ac_cbuild *b, ac_cexpr *call, const char *kw,
                      ac_cexpr *value); /* appends to a call, returns it */
/* Parses an expression written in the DSL: "min(tile, n - i)", with %s/%d formatting. Our own text only: a syntax error aborts. */
ac_cexpr *ac_ce_parse(ac_cbuild *b, const char *fmt, ...) AC_PRINTF(2, 3);
/* A launch: kernel[cores](args...) */
ac_cstmt *ac_cb_launch(ac_cbuild *b, const char *kernel, ac_cexpr *cores, int n, ac_cexpr **args);

/* ---- claims: what is proved of a program, what is refuted, what stays open (docs/checks.md) ---------------------------------- */

typedef enum {
#define Q(id, name, text, codes) id,
#include "craft/claims.def"
#undef Q
  AC_CLAIM_COUNT
} ac_claim;
typedef enum { AC_VERDICT_UNKNOWN, AC_VERDICT_PROVED, AC_VERDICT_REFUTED } ac_cverdict;
typedef struct {
  ac_cverdict of[AC_CLAIM_COUNT];
  const char *why[AC_CLAIM_COUNT]; /* UNKNOWN: what could not be shown; else NULL */
  int shapes;                      /* on so many it was tried */
  bool asked
      [AC_CLAIM_COUNT]; /* UNKNOWN: the tiling code asks it of the shape at hand, as far as it does not depend on data */
  bool data[AC_CLAIM_COUNT]; /* UNKNOWN: some of it depends on what is in memory; only the simulator looks at that */
  const char *given
      [AC_CLAIM_COUNT]; /* what it is taken to hold under, besides what the host function refuses; NULL: nothing */
  bool clash;           /* a claim is proved and refuted: a fault of the checker, for its tests */
} ac_verdicts;
extern const char *const ac_claim_names[AC_CLAIM_COUNT], *const ac_claim_texts[AC_CLAIM_COUNT];
/* Of a program that ac_craft_check accepted, with the diagnostics of that check in d; adds its own (AC054x). False: something is refuted. */
bool ac_craft_prove(ac_arena *a, ac_cmodule *m, const ac_craft_check_opts *o, ac_verdicts *v, ac_diags *d);

#endif

/* air: the AscendC program as a structure - what `lower` makes, `ascendc` prints and `sim` can execute.
 *
 * One operator: tensors, scalar attributes, the tiling struct, host code that fills it and picks a tiling key, and one kernel
 * class per DSL kernel. Integers are int64, floats float32, everywhere. Offsets and counts are in elements unless named bytes.
 * Everything lives in the arena given to ac_lower.
 */
#ifndef AC_AIR_H
#define AC_AIR_H

#include "isa/isa.h"

typedef struct ac_aexpr ac_aexpr;
typedef struct ac_astmt ac_astmt;
typedef struct ac_atensor ac_atensor;
typedef AC_VEC(ac_astmt *) ac_ablock;

/* ---- expressions: no side effects --------------------------------------------------------------------------------- */

typedef enum { AC_AT_INT, AC_AT_FLOAT, AC_AT_BOOL } ac_atype; /* int64_t, float, bool */
typedef enum {
  AC_AE_INT,   /* i */
  AC_AE_FLOAT, /* f; inf and NaN included */
  AC_AE_BOOL,  /* i */
  AC_AE_VAR,   /* name: local, parameter, class member, attribute or tiling field, unique in its scope */
  AC_AE_NEG,   /* -a */
  AC_AE_NOT,   /* !a */
  AC_AE_ADD,
  AC_AE_SUB,
  AC_AE_MUL,
  AC_AE_DIV,      /* float division */
  AC_AE_FLOORDIV, /* toward minus infinity, as in Python; host: division by 0 refuses */
  AC_AE_MOD,      /* sign of the divisor, as in Python */
  AC_AE_MIN,
  AC_AE_MAX,
  AC_AE_POW,  /* host only; integers with b >= 0, or floats */
  AC_AE_CDIV, /* ceil(a / b) */
  AC_AE_ALIGN_UP,
  AC_AE_ALIGN_DOWN, /* a to a multiple of b > 0 */
  AC_AE_EQ,
  AC_AE_NE,
  AC_AE_LT,
  AC_AE_LE,
  AC_AE_GT,
  AC_AE_GE,
  AC_AE_AND,
  AC_AE_OR,
  AC_AE_COND, /* c ? a : b */
  AC_AE_TO_FLOAT,
  AC_AE_TO_INT, /* conversion; to int truncates */
  AC_AE_BLOCK_IDX,
  AC_AE_BLOCK_NUM, /* kernel: AscendC::GetBlockIdx / GetBlockNum */
  /* host only */
  AC_AE_DETERMINISTIC, /* the caller wants equal bits from equal inputs (BOOL) */
  AC_AE_CORES,         /* vector cores available */
  AC_AE_UB,            /* bytes of UB that a program may use */
  AC_AE_DIM,           /* size `i` of tensor `tensor`; negative i counts from the end; outside the rank: refusal */
  AC_AE_RANK,          /* of tensor */
  AC_AE_NUMEL,         /* of tensor */
  AC_AE_DIMPROD,       /* product of tensor's sizes [a:b] with Python's slice rules; a or b may be NULL */
} ac_aekind;
struct ac_aexpr {
  ac_aekind kind;
  ac_atype type;
  int64_t i;
  double f;
  const char *name;
  int tensor; /* index into ac_program.tensors */
  ac_aexpr *a, *b, *c;
};

/* ---- tensors, attributes, tiling fields ------------------------------------------------------------------------------ */

typedef enum { AC_TENSOR_IN, AC_TENSOR_OUT, AC_TENSOR_INOUT } ac_tensor_dir;
typedef struct {
  const char *name; /* the host function's parameter */
  ac_dtype dtype;
  ac_tensor_dir dir; /* INOUT: read and updated in place */
  ac_loc loc;
  struct ac_aoutdim *dims; /* of an output whose shape the program says: n_dims entries; NULL: it does not */
  int n_dims;
} ac_aparam;
/* A size, or a part of an input's shape by Python's rules for slices: both host expressions over inputs and attributes. */
typedef struct ac_aoutdim {
  ac_aexpr *size; /* NULL: sizes [from, to) of tensor */
  int tensor;
  ac_aexpr *from, *to; /* NULL: from the first, to the last */
} ac_aoutdim;
typedef struct {
  const char *name;
  ac_atype type;
  bool has_default;
  double value; /* default */
} ac_aattr;
typedef struct {
  const char *name; /* of the tiling struct's member */
  ac_atype type;    /* INT: int64_t, FLOAT: float; BOOL is kept as int64_t 0 or 1 */
} ac_afield;
/* Global scratch: `tl.empty` in the host function. Offsets into the user workspace are tiling fields. */
typedef struct {
  const char *name;
  ac_dtype dtype;
  ac_aexpr *elements; /* host expression */
  int field;          /* byte offset in the workspace, index into fields */
} ac_aworkspace;

/* ---- kernels --------------------------------------------------------------------------------------------------------- */

/* BIND: TQueBind<VECIN, VECOUT>, whose tensors go from load to store. UPDATE: the same, and the vector unit works on them between: two
 * legs, EnQue<GM, VECIN> and then EnQue<VECOUT, GM> (asc-devkit docs/zh, EnQue). */
typedef enum { AC_MEM_VECIN, AC_MEM_VECOUT, AC_MEM_BIND, AC_MEM_VECCALC, AC_MEM_UPDATE } ac_amem;
/* A queue (with tensors that pass through it) or, for VECCALC, a TBuf. */
typedef struct {
  const char *name;   /* member name, e.g. "xQueue", "sumBuf" */
  const char *buffer; /* the DSL buffer it serves, or what the compiler uses it for */
  ac_amem mem;
  ac_dtype dtype; /* element type of tensors of it */
  int depth; /* queues: 1, or 2: then the tiling field `bufferNum` (2, or 1 where two do not fit) decides at run time; UPDATE: or 3, one
                more than that, so that load, computing and store of three trips overlap */
  bool pinned;        /* the program fixed the depth: no fall-back */
  ac_aexpr *elements; /* of one tensor, before rounding; over the kernel's fields */
  ac_aexpr *pitch;    /* rows of a two-dimensional buffer start so many elements apart; NULL: packed */
  int round_to;       /* bytes are rounded up to this: 32 or 256 */
  bool sync;          /* TBuf touched by copies: ordered by flags instead of a queue */
  ac_loc loc;
  bool
      first; /* made before those that are not: all that are have sizes of 256 bytes, so each starts at a multiple of that */
  int rank; /* of the DSL's buffer, with `dims` its capacity by dimension; 0: not one of the DSL's */
  ac_aexpr *dims[4];
  int home; /* 1 + index of the TBuf whose bytes it takes, since their lives do not meet; 0: bytes of its own */
  ac_loc from, to; /* TBufs: first and last statement of the life; line 0: all of the kernel */
  bool
      beyond; /* has a repeat less a block behind what the program asked for: compares from inside of it read there */
} ac_abuffer;
/* A LocalTensor variable. */
struct ac_atensor {
  const char *name;
  int buffer;  /* index into ac_akernel.buffers */
  bool member; /* lives across methods: a class member; else declared where it is got */
};
typedef struct {
  const char *name; /* member name, e.g. "xGm" */
  ac_dtype dtype;
  int param;    /* position in the kernel's tensor parameters */
  bool in, out; /* loaded from / stored to by this kernel */
} ac_agm;
typedef struct {
  const char *name;
  ac_atype type;
  int field; /* index into ac_program.fields that fills it */
} ac_akfield;

typedef struct {
  const char *name;
  ac_atype type;
} ac_avar;
typedef enum { AC_AM_PROCESS, AC_AM_COPYIN, AC_AM_COMPUTE, AC_AM_COPYOUT } ac_amkind;
typedef struct {
  const char *name; /* "Process", "CopyIn1", "Compute1", "CopyOut1" */
  ac_amkind kind;
  AC_VEC(ac_avar) params;
  ac_ablock body;
  ac_strvec comments;
} ac_amethod;

/* Where the elements of an operand with axes lie, outermost axis first; strides in elements of its buffer. Gone after `rows`. */
typedef struct ac_aview {
  int rank;
  ac_aexpr *extent[4], *stride[4];
} ac_aview;

/* An operand of an instruction. */
typedef struct {
  ac_atensor *tensor; /* NULL: a scalar */
  ac_aexpr *offset;   /* elements, or NULL for 0 */
  ac_aexpr *scalar;
  ac_dtype view; /* ReinterpretCast to this dtype, or AC_NODTYPE; the offset counts its elements */
  ac_aview *nd;  /* NULL: as many elements as the instruction counts, one behind another */
} ac_aoperand;

/* The repeat form of a vector instruction: the first `mask` lanes of each of `repeat` repeats. Distances from repeat to repeat in
 * 32-byte blocks unless isa.h says otherwise for the form. */
typedef struct {
  ac_aexpr *mask, *repeat; /* mask NULL: the form has none */
  ac_aexpr *dst, *a, *b;   /* distances; NULL: 0 */
  int a_block; /* blocks from block to block of the first source: 1, or 0 to read one block again and again */
  int mode;    /* of the form: see isa.h */
} ac_arep;

typedef enum { AC_CMP_LT, AC_CMP_GT, AC_CMP_EQ, AC_CMP_LE, AC_CMP_GE, AC_CMP_NE } ac_cmp;
typedef enum {
  AC_EV_V_S,
  AC_EV_S_V,
  AC_EV_MTE2_V,
  AC_EV_V_MTE2,
  AC_EV_V_MTE3,
  AC_EV_MTE3_V,
  AC_EV_MTE2_S,
  AC_EV_S_MTE2,
  AC_EV_MTE3_S,
  AC_EV_S_MTE3,
  AC_EV_MTE2_MTE3,
  AC_EV_MTE3_MTE2,
  AC_EV_COUNT
} ac_event;
extern const char *const ac_event_names[AC_EV_COUNT]; /* "V_S", ... */

/* A copy between global memory and UB: `rows` rows of `cols` elements; outer axes have become loops. */
typedef struct {
  bool to_ub;
  int gm; /* index into ac_akernel.gms */
  ac_aexpr *gm_offset;
  ac_atensor *ub;
  ac_aexpr *ub_offset;   /* NULL: 0 */
  ac_aexpr *rows, *cols; /* rows NULL: one row. A zero skips the copy */
  ac_aexpr *gm_stride;   /* from row to row, elements; NULL with rows NULL */
  ac_aexpr *ub_pitch;    /* from row to row, elements; a multiple of 32 bytes */
  ac_aexpr *pad;         /* to_ub: value of the lanes from cols to the next 32-byte boundary; NULL: undefined lanes */
  bool exact;            /* proved: cols * size is a multiple of 32, one row: plain DataCopy does */
  ac_atomic atomic;      /* a store that combines with what global memory holds */
  bool by_element; /* `cols` elements, each gm_stride from the last: scalar copy, element by element, to_ub only */
  /* Until `align`: the tile as the DSL has it, outermost axis first; rows, cols, gm_stride and ub_pitch are unset. */
  int rank;
  struct {
    ac_aexpr *extent, *stride;
    ac_aexpr *ub;      /* distance of neighbours in UB; NULL: packed, or the buffer's pitch */
    ac_atensor *index; /* int32: element k of it stands in place of k; from element index_at on */
    ac_aexpr *index_at;
  } axis[4];
  struct ac_aview *fills; /* with pad: the part from ub_offset on that it fills; NULL: the whole buffer */
} ac_acopy;

typedef enum {
  AC_AS_COMMENT, /* text; "" is a blank line */
  AC_AS_DECL,    /* a scalar: var, value */
  AC_AS_ASSIGN,  /* var = value */
  AC_AS_FOR,     /* for (var = lo; var < hi; var += step) body; step < 0 counts down while var > hi */
  AC_AS_WHILE,   /* cond, body */
  AC_AS_IF,      /* cond, body, orelse */
  AC_AS_BREAK,
  AC_AS_RETURN, /* leaves Process */
  AC_AS_CALL,   /* method, args */
  AC_AS_ALLOC,  /* tensor = buffer.AllocTensor */
  AC_AS_ENQUE,
  AC_AS_DEQUE,
  AC_AS_FREE,          /* tensor through its buffer's queue */
  AC_AS_GET,           /* tensor = TBuf.Get */
  AC_AS_COPY,          /* copy */
  AC_AS_INST,          /* inst, ops, count, round, cmp */
  AC_AS_PRIM,          /* prim, ops, count: a composed primitive; gone after `legalise` */
  AC_AS_GETVALUE,      /* var = ops[0][offset] (UB) or gm[offset] (gm >= 0), converted to var.type */
  AC_AS_SETVALUE,      /* ops[0][offset] = value */
  AC_AS_FLAG,          /* event: FetchEventID, SetFlag, WaitFlag in one */
  AC_AS_BARRIER,       /* PipeBarrier<PIPE_ALL> */
  AC_AS_STORE_BARRIER, /* PipeBarrier<PIPE_MTE3>: a store that may go where the one before went */
  AC_AS_SYNC_ALL,
  AC_AS_CLEAN, /* gm: the scalar unit's data cache is emptied; what it reads next comes from global memory */
  /* flags whose halves stand apart (pass "defer"); `held` says which id, `tensor` whose order it is */
  AC_AS_HOLD, /* AllocEventID */
  AC_AS_SET,
  AC_AS_WAIT,
  AC_AS_RELEASE, /* ReleaseEventID */
  /* host code only */
  AC_AS_REFUSE,  /* text: this shape is not served; args: the numbers for each `{}` in it, if there are any */
  AC_AS_LAUNCH,  /* launch; ends its path, unless the program has several launches on one path (ac_program.phased) */
  AC_AS_NOTHING, /* no work for this shape: tiling key 0, one block that does nothing; ends its path */
  AC_AS_END,     /* path: ends a path that has launched; only where the program is phased */
} ac_askind;

typedef struct {
  int kernel;        /* index into ac_program.kernels */
  int key;           /* tiling key, 1..n */
  ac_aexpr *blocks;  /* at least 1 where control gets here; more than a launch can have: refused */
  ac_aexpr **values; /* one a kernel field: ac_akernel.fields order */
  int *tensors;      /* one a kernel tensor parameter: index into ac_program.tensors, or -1 - i for workspaces[i] */
  int index;         /* into ac_program.launches */
  int *fields;       /* one a kernel field: the tiling field that this launch fills */
  int buffer_num;    /* tiling field that says how many slots its queues have */
  int phase;         /* which launch of its path it is, from 0 */
  int blocks_field;  /* phased programs: the tiling field with its blocks; else -1 */
  bool *places;      /* one a workspace: no launch before it on its path uses that */
} ac_alaunch;

/* One way through the host function: its launches in order. The one-operator forms join them as phases of one call. */
typedef struct {
  int key; /* tiling key, 1..n */
  AC_VEC(ac_alaunch *) phases;
} ac_apath;

struct ac_astmt {
  ac_askind kind;
  ac_loc loc; /* in the DSL source */
  const char *text;
  const char *trailing; /* the DSL's comment at the end of the line, or NULL */
  ac_avar var;
  ac_aexpr *value, *lo, *hi, *step, *cond;
  ac_ablock body, orelse;
  int method; /* CALL: index into ac_akernel.methods */
  ac_aexpr **args;
  int n_args;
  ac_atensor *tensor;
  ac_acopy *copy;
  ac_inst inst;
  int prim; /* ac_cprim (craft.h) */
  ac_aoperand
      ops[5]; /* destination first, then sources in the order of the AscendC call, without count, mode, rounding */
  int n_ops;
  ac_aexpr *count; /* elements */
  ac_round round;
  ac_cmp cmp;
  int gm; /* GETVALUE of global memory; -1: UB */
  ac_event event;
  ac_alaunch *launch;
  int path;     /* END: index into ac_program.paths */
  ac_arep *rep; /* INST: the repeat form; then count is NULL */
  int axis;     /* PRIM along an axis; -1: all of them */
  unsigned how; /* PRIM: AC_HOW_... */
  bool outward; /* ENQUE, DEQUE of UPDATE: the second leg, from the vector unit to the store */
  int held;     /* HOLD, SET, WAIT, RELEASE: 1 + index into ac_akernel.held */
};
enum { AC_HOW_REVERSE = 1, AC_HOW_EXCLUSIVE = 2, AC_HOW_DESCENDING = 4 };

/* The id of an event that a kernel holds from its beginning to its end. */
typedef struct {
  const char *name; /* the member that has the id */
  ac_event event;
  const char *buffer; /* of the DSL, whose copies the flag orders */
  ac_loc loc;
} ac_aheld;

typedef struct {
  const char *name; /* the DSL kernel */
  const char *cls;  /* C++ class, e.g. "KernelRelu" */
  ac_strvec comments;
  const char *doc;
  int n_tensors;        /* tensor parameters, in order */
  const char **tensors; /* their names */
  AC_VEC(ac_agm) gms;
  AC_VEC(ac_abuffer) buffers;
  AC_VEC(ac_atensor *) handles;
  AC_VEC(ac_akfield) fields;
  AC_VEC(ac_avar) members;    /* scalars that live across methods */
  AC_VEC(ac_amethod) methods; /* [0] is Process */
  bool sync_all;
  bool select; /* uses Select modes that take the last 8 KB of UB */
  ac_loc loc;
  int buffer_num; /* tiling field of its slots, where the launch does not say another */
  AC_VEC(ac_aheld) held;
} ac_akernel;

typedef struct {
  const char *op, *op_type; /* "softmax_custom", "SoftmaxCustom" */
  const ac_chip *chip;
  ac_strvec comments; /* head of the DSL file */
  AC_VEC(ac_aparam) tensors;
  AC_VEC(ac_aattr) attrs;
  AC_VEC(ac_afield) fields;
  AC_VEC(ac_aworkspace) workspaces;
  ac_ablock host; /* ends in a launch or a refusal on every path */
  const char *host_doc;
  AC_VEC(ac_akernel *) kernels;
  AC_VEC(ac_alaunch *) launches; /* not phased: launches.data[k - 1] has key k */
  AC_VEC(ac_apath *) paths;      /* paths.data[k - 1] has key k */
  bool phased;                   /* some path has several launches, or refuses after one */
  bool deterministic;            /* the tiling code asks for it (AC_AE_DETERMINISTIC) */
} ac_program;

/* Element type of a tensor operand: its view, else its buffer's. */
static inline ac_dtype ac_operand_dtype(const ac_akernel *k, const ac_aoperand *o) {
  return o->view != AC_NODTYPE ? o->view : k->buffers.data[o->tensor->buffer].dtype;
}
/* A gap between buffers (bank groups): nobody gets a tensor of it. */
static inline bool ac_unused(const ac_akernel *k, int buffer) {
  for (size_t i = 0; i < k->handles.len; i++)
    if (k->handles.data[i]->buffer == buffer) return false;
  return true;
}
/* A queue of two slots, or one where two do not fit: the tiling code decides. It may have further ones. */
static inline bool ac_two_slots(const ac_abuffer *b) {
  return b->depth >= 2 && !b->pinned && b->mem != AC_MEM_VECCALC;
}
/* Slots but for those two. */
static inline int ac_fixed_slots(const ac_abuffer *b) {
  return ac_two_slots(b) ? b->depth - 2 : b->depth;
}
/* Tensors that a queue holds between EnQue and DeQue at most, its `depth` in C++. */
static inline int ac_queue_depth(const ac_abuffer *b) {
  return b->mem == AC_MEM_UPDATE ? 1 : b->depth;
}

/* C-like text of the whole program, for --dump and golden files. */
char *ac_air_text(ac_arena *a, const ac_program *p);
/* The map of UB of each launch: offsets, bytes, slots, who holds them when (memory.c). */
const char *ac_air_memory(ac_arena *a, const ac_program *p);
char *ac_aexpr_text(ac_arena *a, const ac_aexpr *e);
/* The text of a refusal with numbers as a format of printf: `%lld` for each `{}`. */
char *ac_refusal_format(ac_arena *a, const char *text);

#endif

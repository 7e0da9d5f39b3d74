/* isa: the machine as tables - dtypes, number formats, chips, memories, instructions.
 *
 * Knows nothing of the DSL and nothing of files but its own data (data/chips/<name>.json).
 */
#ifndef AC_ISA_H
#define AC_ISA_H

#include "base/base.h"

/* The most dimensions of a tensor, everywhere. */
enum { AC_MAX_RANK = 16 };

/* ---- dtypes ---------------------------------------------------------------------------------------------- */

typedef enum { AC_FLOATING, AC_SIGNED, AC_UNSIGNED, AC_BOOLEAN } ac_dclass;
typedef enum {
#define T(id, name, cpp, bytes, cls, ge, aten) id,
#include "isa/dtypes.def"
#undef T
  AC_DTYPE_COUNT,
  AC_NODTYPE = AC_DTYPE_COUNT
} ac_dtype;
typedef struct {
  const char *name, *cpp;
  int bytes;
  ac_dclass cls;
  const char *ge, *aten;
} ac_dtype_info;
extern const ac_dtype_info ac_dtypes[AC_DTYPE_COUNT];
/* By name ("float32"; also "float", "half", "double", "int", "long", "short"); AC_NODTYPE if unknown. */
ac_dtype ac_dtype_of(const char *name);
#define AC_BIT(d) (1u << (d))
#define AC_DTYPES_FLOAT (AC_BIT(AC_F32) | AC_BIT(AC_F16))

/* ---- number formats: exact conversions, round to nearest even unless named ------------------------------------ */

/* Rounding modes as AscendC's RoundMode names them. */
typedef enum { AC_RN_NONE, AC_RN_RINT, AC_RN_FLOOR, AC_RN_CEIL, AC_RN_ROUND, AC_RN_TRUNC, AC_RN_ODD } ac_round;
float ac_f16_to_f32(uint16_t h);
float ac_bf16_to_f32(uint16_t b);
uint16_t ac_f32_to_f16(float f, ac_round r); /* overflow becomes inf */
uint16_t ac_f32_to_bf16(float f, ac_round r);
uint16_t ac_f64_to_f16(double d, ac_round r); /* one rounding, no double rounding through float */
uint16_t ac_f64_to_bf16(double d, ac_round r);
/* Element i of a typed buffer as a double (int64 beyond 2^53 loses bits: use ac_load_int). */
double ac_load(ac_dtype d, const void *p, int64_t i);
int64_t ac_load_int(ac_dtype d, const void *p, int64_t i);
/* Stores with round to nearest even; integers truncate toward zero and saturate; bool is != 0. */
void ac_store(ac_dtype d, void *p, int64_t i, double v);
void ac_store_int(ac_dtype d, void *p, int64_t i, int64_t v); /* integers wrap */

/* ---- chips -------------------------------------------------------------------------------------------------------- */

typedef struct {
  const char *name;   /* "ascend910b2" */
  const char *soc;    /* "Ascend910B2", as CANN spells it */
  const char *config; /* "ascend910b": the op_def AddConfig and build-unit name */
  int npu_arch;       /* 2201 ... */
  bool split;         /* cube and vector cores apart */
  bool copy_pad;      /* DataCopyPad exists: copies of any number of bytes */
  bool
      half_saturates; /* half (and bfloat16) overflow where neither host nor kernel says otherwise: the largest number, and 0 for NaN */
  bool overflow_register; /* a kernel may choose that by CTRL bit 48 */
  int vector_cores, cube_cores;
  int64_t ub, l1, l0a, l0b, l0c; /* bytes */
  int64_t ub_reserved;           /* not for programs: what the library or the system keeps, bytes */
  int64_t l2, memory;            /* bytes */
  double mhz;
  int block;                    /* 32: bytes of a UB block */
  int repeat;                   /* 256: bytes of a vector repeat */
  json_t *json;                 /* the whole file */
  const struct ac_costs *costs; /* isa/cost.h: what the timing model knows of it */
  const char *also
      [4]; /* other configs that the same op_host and kernel serve: memories, dtypes and instructions are alike; NULL ends it */
} ac_chip;
/* `name` case-insensitive, with or without "ascend", or the path of a chip file (it ends in .json). NULL and AC0109 naming the known
 * ones. */
const ac_chip *ac_chip_load(ac_arena *a, const char *name, ac_diags *d);
/* Bytes of UB that the buffers of a kernel may take. `select`: it uses the Select modes that keep a part of UB for themselves. */
int64_t ac_chip_ub(const ac_chip *c, bool select);
ac_strvec ac_chip_names(ac_arena *a); /* sorted */
/* Stores that combine with what global memory holds (SetAtomicAdd and its kin). */
typedef enum { AC_ATOMIC_NONE, AC_ATOMIC_ADD, AC_ATOMIC_MAX, AC_ATOMIC_MIN } ac_atomic;
extern const char *const ac_atomic_names[]; /* "none", "add", "max", "min" */
bool ac_atomic_of(const char *name, ac_atomic *a);
/* Has the chip that store for elements of dtype d? */
bool ac_chip_atomic(const ac_chip *c, ac_atomic op, ac_dtype d);
/* The dtypes that it has it for, "int32, float32"; "" where it has no such store. */
char *ac_chip_atomic_dtypes(ac_arena *a, const ac_chip *c, ac_atomic op);

/* ---- instructions: one row each in insts.def --------------------------------------------------------------------------
 * I(id, DSL primitive, AscendC function, form, dtypes, unit, cost class, flags, error bound, the same in half, source of the bound)
 * The DSL checker, the lowering, the printer and the simulator all read this table. */

typedef enum {
  AC_FORM_UNARY,      /* (dst, src, count) */
  AC_FORM_BINARY,     /* (dst, a, b, count) */
  AC_FORM_SCALAR,     /* (dst, src, scalar, count) */
  AC_FORM_FMA_SCALAR, /* (dst, src, scalar, count): dst += src * scalar (Axpy) */
  AC_FORM_FILL,       /* (dst, scalar, count) */
  AC_FORM_CAST,       /* (dst, src, rounding, count) */
  AC_FORM_COMPARE,    /* (mask, a, b, mode, count): mask is one bit a lane */
  AC_FORM_COMPARE_S,  /* (mask, a, scalar, mode, count) */
  AC_FORM_SELECT,     /* (dst, mask, a, b, count) */
  AC_FORM_SELECT_S,   /* (dst, mask, a, scalar, count) */
  AC_FORM_REDUCE,     /* (dst, src, work, count): one value to dst[0] */
  AC_FORM_COPY,       /* (dst, src, count): UB to UB */
  AC_FORM_FMA,        /* (dst, a, b, count): dst += a * b (MulAddDst) */
  /* Forms of the lowering's own (lower/air.h, ac_arep); distances from repeat to repeat in 32-byte blocks. */
  AC_FORM_INDEX,  /* (dst, first, count): first, first + 1, ... */
  AC_FORM_GATHER, /* (dst, src, offsets, base, count): dst[i] = src at byte base + offsets[i]; offsets are uint32 */
  AC_FORM_ROWS,   /* (dst, src) mask, repeat, dst, a, a_block */
  AC_FORM_BLOCKS, /* (dst, src) repeat: element i of src fills block i of dst, 8 a repeat */
  AC_FORM_WHOLE,  /* (dst, src) mask, repeat, dst in elements, a; mode 2: of a maximum the value alone */
  AC_FORM_TILE,   /* (dst, src): 16 x 16 elements of 2 bytes, transposed */
  AC_FORM_TURN, /* (dst, src, spare) mask, repeat, dst, a, b: `mask` rows of a block's width, b of their columns, transposed; rows of src
                   * are `a` blocks apart, those of dst `dst`. mode 0: the next repeat takes the 16 rows below, 1: the next block of columns.
                   * What columns beyond b become goes to `spare`: 2 blocks, with mode 0 2 a repeat. */
  AC_FORM_SORT, /* (dst, src, numbers) repeat: 32 elements and their numbers to 32 records of 8 bytes, the largest first */
  AC_FORM_MERGE, /* (dst, src, run, count): up to four sorted lists of `run` records, one behind another, `count` in all */
  AC_FORM_PICK, /* (dst, src, pattern or mask tensor, count): the elements it picks out of `count`; var: how many, when named */
} ac_form;
typedef enum {
  AC_PIPE_S,
  AC_PIPE_V,
  AC_PIPE_M,
  AC_PIPE_MTE1,
  AC_PIPE_MTE2,
  AC_PIPE_MTE3,
  AC_PIPE_FIX,
  AC_PIPE_COUNT
} ac_pipe;
/* What a kernel's pipe has: ids of one kind of event that may be live at once (ids 0 to 7: asc-devkit docs/zh, SetFlag and
 * AllocEventID), and buffers that InitBuffer may make, each slot of a queue counting (CANN 8.1 basic_api, kernel_macros.h,
 * QBUF_MAX_LEN; asc-devkit docs/zh, InitBuffer). */
enum { AC_EVENT_IDS = 8, AC_PIPE_BUFFERS = 64 };

/* Cycles a 256-byte repeat, by class (research: msKPP, pto-isa); values live in the chip file. */
typedef enum { AC_COST_ONE, AC_COST_TWO, AC_COST_FUNC, AC_COST_DIV, AC_COST_REDUCE, AC_COST_SELECT } ac_cost;
enum {
  AC_INST_INPLACE = 1,  /* dst may be exactly a source */
  AC_INST_WORK = 2,     /* needs a work tensor */
  AC_INST_DST_IN = 4,   /* dst is read too */
  AC_INST_MASK_PAD = 8, /* count is rounded up to whole 256-byte repeats: buffers must cover it */
  AC_INST_LIBRARY = 16, /* a high-level routine, not one instruction */
};
typedef enum {
#define I(id, dsl, asc, form, dtypes, pipe, cost, flags, ulp, half, src) id,
#include "isa/insts.def"
#undef I
  AC_INST_COUNT
} ac_inst;
typedef struct {
  const char *dsl; /* "vadd", or NULL when only lowering uses it */
  const char *asc; /* "Add" */
  ac_form form;
  uint32_t dtypes; /* AC_BIT set of the element type (of the destination for casts) */
  ac_pipe pipe;
  ac_cost cost;
  unsigned flags;
  double ulp, half; /* error bound in units of the last place, in float and in half; 0: exact or correctly rounded */
  const char *source; /* where the bound is from, or "assumed" */
} ac_inst_info;
extern const ac_inst_info ac_insts[AC_INST_COUNT];
/* By DSL name ("vadd"), NULL-safe; AC_INST_COUNT if unknown. */
ac_inst ac_inst_by_dsl(const char *dsl);
ac_inst ac_inst_by_asc(const char *asc);
/* Error bounds: those of insts.def, then of bounds.def, which has what is no row there (instructions that only kernels use, the library).
 * Units of the last place of the result in float32, and in float16 and bfloat16; the device's result is no farther from the exact one. */
typedef struct {
  const char *name; /* of the AscendC function */
  double ulp, half;
  const char *source; /* begins with "assumed" where nobody says so */
} ac_error_bound;
extern const ac_error_bound ac_error_bounds[];
extern const int ac_n_error_bounds;
int ac_error_bound_of(const char *name); /* index of the first row; -1: none */
/* Does the cast exist on the chip (arch 2201), and with which roundings (bit set of 1u << ac_round)? 0: no such cast.
 * Source: asc-devkit docs/zh, Cast. */
unsigned ac_cast_rounds(ac_dtype dst, ac_dtype src);
/* Bytes of scratch that a reduction of `count` elements needs (rule of the work tensor). Source: asc-devkit docs, ReduceSum... */
int64_t ac_reduce_work_bytes(ac_inst i, ac_dtype d, int64_t count);

#endif

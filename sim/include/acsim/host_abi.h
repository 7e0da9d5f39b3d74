/* What the runner (C) and an op_host library built from these headers (C++) tell each other. Plain C.
 *
 * The library exports three functions; nothing else crosses the border. Nothing here throws or keeps pointers after the call.
 */
#ifndef ACSIM_HOST_ABI_H
#define ACSIM_HOST_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ACSIM_HOST_RANK = 25, ACSIM_HOST_TENSORS = 64, ACSIM_HOST_ATTRS = 64, ACSIM_HOST_WORKSPACES = 32 };

typedef struct {
  const char *name; /* as in the graph; matched with the OpDef by position */
  int32_t dtype;    /* ge::DataType */
  int32_t rank;
  int64_t shape[ACSIM_HOST_RANK];
  const void *data; /* for inputs that the OpDef declares ValueDepend; NULL otherwise */
  int32_t list;     /* neighbours with the same number above 0 are one DYNAMIC parameter; 0: a parameter of its own */
  int32_t absent;   /* 1: an OPTIONAL parameter that is not given; the rest does not count */
} acsim_host_tensor;

enum {
  ACSIM_ATTR_FLOAT,
  ACSIM_ATTR_INT,
  ACSIM_ATTR_BOOL,
  ACSIM_ATTR_STRING,
  ACSIM_ATTR_LIST_FLOAT,
  ACSIM_ATTR_LIST_INT
};
typedef struct {
  const char *name; /* matched with the OpDef by name */
  int32_t kind;
  double f;
  int64_t i;
  const char *s;
  const double *lf;  /* n */
  const int64_t *li; /* n */
  int32_t n;
} acsim_host_attr;

typedef struct {
  const char *soc;  /* "Ascend910B2" */
  int32_t npu_arch; /* 2201 */
  uint32_t split;   /* 1: cube and vector cores apart */
  uint32_t vector_cores, cube_cores;
  uint64_t ub, l1, l0a, l0b, l0c, l2, hbm;
} acsim_host_chip;

/* Why a call ended: 0 done; otherwise the phase that stopped it. Message says the rest. */
enum {
  ACSIM_HOST_OK = 0,
  ACSIM_HOST_REFUSED = 1,      /* the tiling function returned a failure: the shape is refused */
  ACSIM_HOST_NO_OP = 2,        /* no OP_ADD or no SetTiling for the operator */
  ACSIM_HOST_BAD_CALL = 3,     /* tensors or attributes do not fit the OpDef */
  ACSIM_HOST_SHAPE_FAILED = 4, /* InferShape or InferDataType returned a failure */
};

typedef struct {
  /* in */
  const char *op_type; /* NULL: the only operator of the library */
  acsim_host_chip chip;
  int32_t n_inputs, n_outputs, n_attrs;
  acsim_host_tensor inputs[ACSIM_HOST_TENSORS], outputs[ACSIM_HOST_TENSORS];
  acsim_host_attr attrs[ACSIM_HOST_ATTRS];
  uint8_t *tiling; /* capacity bytes, zeroed by the caller */
  uint64_t tiling_capacity;
  int32_t deterministic; /* what GetDeterministic says */
  /* out */
  int32_t status;
  char message[512];
  uint64_t tiling_size, tiling_key;
  uint32_t block_dim, schedule_mode;
  uint32_t block_dim_set, need_atomic;
  uint64_t workspaces[ACSIM_HOST_WORKSPACES];
  int32_t n_workspaces;
  uint8_t output_filled
      [ACSIM_HOST_TENSORS]; /* 1: InitValue together with SetNeedAtomic(true): filled before the launch */
  uint64_t output_fill[ACSIM_HOST_TENSORS];
  uint8_t output_computed[ACSIM_HOST_TENSORS]; /* OutputShapeDependOnCompute: the kernel says the shape */
  uint64_t library_workspace;                  /* GetLibApiWorkSpaceSize of this chip */
  int32_t dtype_column;                        /* which column of the OpDef's DataType lists fits the tensors */
  /* out of acsim_host_infer: what InferShape and InferDataType say of the outputs; rank -1: no such function given */
  acsim_host_tensor inferred[ACSIM_HOST_TENSORS];
} acsim_host_call;

/* The chip of the run at work, for the host code in a file that launches its kernels itself; NULL outside. The runner has it. */
#ifdef __cplusplus
__attribute__((weak))
#endif
const acsim_host_chip *
acsim_chip_of_run(void);

/* Runs SetTiling's function. */
typedef int32_t (*acsim_host_tiling_fn)(acsim_host_call *call);
/* Runs InferShape and InferDataType, where the OpDef has them. */
typedef int32_t (*acsim_host_infer_fn)(acsim_host_call *call);
/* Writes the kernel-side tiling structs as C++ text, then a line "//@ struct <Name>" for the operator's own, and
 * "//@ column <C++ type of tensor 0> ..." lines (DTYPE_<NAME>=type pairs, one line a column), NUL-ended, at most n bytes;
 * returns the length wanted, without the NUL. */
typedef int64_t (*acsim_host_describe_fn)(const char *op_type, const char *soc, char *text, int64_t n);

#ifdef __cplusplus
}
#endif
#endif

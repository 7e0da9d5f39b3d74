/* Between the runner and the wrapper that it compiles around one kernel (acsim/kernel_entry.h): C and C++. */
#ifndef ACSIM_ENTRY_ABI_H
#define ACSIM_ENTRY_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { ACSIM_PARAM_POINTER, ACSIM_PARAM_INTEGER, ACSIM_PARAM_FLOAT, ACSIM_PARAM_STRUCT } acsim_param_kind;
typedef struct {
  int32_t kind;
  int32_t is_signed;
  uint64_t bytes;
  char type[96]; /* as the compiler spells it */
} acsim_param;

/* One argument: what of it counts follows from the parameter's kind. */
typedef struct {
  void *p; /* address; of a struct's bytes */
  int64_t i;
  double f;
} acsim_arg;

/* A number as the user wrote it. */
typedef struct {
  int32_t whole; /* it is an integer: i (bits of a uint64_t when beyond INT64_MAX and not negative); else f */
  int32_t negative;
  int64_t i;
  double f;
} acsim_number;

typedef enum {
  ACSIM_SET_OK,
  ACSIM_SET_NO_FIELD, /* or it is private */
  ACSIM_SET_RANGE,    /* the value does not fit the field's type; `value` says which */
  ACSIM_SET_LENGTH,   /* more values than elements */
  ACSIM_SET_STRUCT,   /* the field is a struct itself */
  ACSIM_SET_TYPE,     /* a pointer or the like */
} acsim_set_status;
typedef struct {
  int32_t status;
  int32_t value;        /* index of the one that does not fit */
  int64_t length;       /* elements of the field */
  char type[96];        /* of an element */
  void *at;             /* the field */
  int64_t bytes, align; /* of all of it */
} acsim_set_result;

/* The number of parameters; fills at most `most` of them. */
typedef int32_t (*acsim_kernel_params_fn)(acsim_param *to, int32_t most);
typedef void (*acsim_kernel_run_fn)(const acsim_arg *args);
/* sizeof the tiling struct; 0 when there is none. */
typedef int64_t (*acsim_tiling_bytes_fn)(void);
/* The struct as its default initialisers leave it. */
typedef void (*acsim_tiling_init_fn)(void *to);
/* Sets one field, or all that a path like "cube.m" or "sizes[2]" names. */
typedef void (*acsim_tiling_set_fn)(void *to, const char *path, const acsim_number *v, int32_t n,
                                    acsim_set_result *r);

#ifdef __cplusplus
}
#endif
#endif

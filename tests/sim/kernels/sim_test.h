/* What a file of test kernels exports: its cases, and how to fill inputs and judge outputs. Shared by the kernels (C++) and
 * the driver (test_core_kernels.c). */
#ifndef SIM_TEST_H
#define SIM_TEST_H

#include <stdint.h>

/* Fields that most tables leave out. */
#ifdef __cplusplus
#define SIM_DEFAULT(x) = x
#else
#define SIM_DEFAULT(x)
#endif

typedef struct sim_case {
  const char *name;
  void (*kernel)(uint8_t *x, uint8_t *y, uint8_t *workspace);
  int blocks;
  int elem;                         /* bytes of an element of x and y */
  int64_t nx, ny, nw;               /* elements; nw: bytes of workspace */
  const char *fault;                /* the only kind of fault there must be; NULL: none at all */
  const char *text;                 /* what its message must contain; NULL: anything */
  void (*fill)(void *x, int64_t n); /* NULL: zeros */
  int64_t (*check)(const void *x,
                   const void *y); /* -1 if right, else the first wrong index; NULL: no values to check */
  int zeroed;                      /* y is filled with zeros by the framework, as for atomics */
  int chip310;                     /* run on a 310P3 */
  int64_t system;                  /* bytes of the workspace that are the system's */
  int hazards SIM_DEFAULT(0);      /* as ac_hazards: 0 on, 1 strict, 2 off */
  int marked SIM_DEFAULT(0);       /* every place of the report is marked in the source */
  int cores SIM_DEFAULT(0);        /* how many blocks run, where that is not `blocks` */
  int schedule SIM_DEFAULT(0);     /* what the tiling code said: 1 no schedule mode, 2 schedule mode 1 */
} sim_case;

#ifdef __cplusplus
#define SIM_CASES(table)                      \
  extern "C" const sim_case *const sim_table; \
  const sim_case *const sim_table = table;    \
  extern "C" const int sim_count;             \
  const int sim_count = sizeof(table) / sizeof(table[0])
#endif
#endif

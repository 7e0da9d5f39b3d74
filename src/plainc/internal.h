/* What the files of plainc share. Not for other modules. */
#ifndef AC_PLAINC_INTERNAL_H
#define AC_PLAINC_INTERNAL_H

#include "plainc/plainc.h"

typedef struct {
  const char *name, *text;
} ac_pcfunc;

typedef struct {
  ac_buf b;
  ac_arena *a;
  const ac_program *p;
  ac_diags *d;
  int indent;
  bool host;
  bool failed;
  const ac_akernel *k;    /* NULL: host code */
  bool kept;              /* Process of a kernel that waits for other blocks: what it declares lives in the block */
  ac_strvec read;         /* names that the method at work reads */
  AC_VEC(ac_pcfunc) uses; /* functions of instructions, in order of their first use */
} ac_pc;

void ac_pc_line(ac_pc *t, const char *fmt, ...) AC_PRINTF(2, 3);
void ac_pc_open(ac_pc *t, const char *fmt, ...) AC_PRINTF(2, 3); /* the line, " {", deeper */
void ac_pc_close(ac_pc *t, const char *tail);
void ac_pc_comment(ac_pc *t, const char *text);
char *ac_pc_trailing(ac_pc *t, const char *text); /* a space and the comment, or "" */
void ac_pc_fail(ac_pc *t, ac_loc loc, const char *fmt, ...) AC_PRINTF(3, 4);

/* A name that plain C leaves free. */
const char *ac_pc_name(ac_arena *a, const char *name);
char *ac_pc_expr(ac_pc *t, const ac_aexpr *e);
char *ac_pc_float(ac_arena *a, double v, bool host);
char *ac_pc_quoted(ac_arena *a, const char *s);
const char *ac_pc_type(ac_atype t, bool host);
const char *ac_pc_dtype(ac_dtype d);  /* C type of elements: half is uint16_t */
const char *ac_pc_suffix(ac_dtype d); /* "f32" */

/* ---- kernels (kernel.c) ---- */
void ac_pc_kernel(ac_pc *t, const ac_akernel *k);

/* ---- tiling code (host.c) ---- */
void ac_pc_host(ac_pc *t);
char *ac_pc_signature(ac_arena *a, const ac_program *p); /* of the operator's function, without a semicolon */

/* ---- what an instruction means (runtime.c) ---- */
/* Name of the function that does it; NULL: none, after a diagnostic. `from` is the source's dtype of a cast. */
const char *ac_pc_inst(ac_pc *t, const ac_astmt *s, ac_dtype d, ac_dtype from);
/* The same of the forms that only pass "rows" emits (rows.c); NULL: not one of them. */
const char *ac_pc_rows(ac_pc *t, const ac_astmt *s, ac_dtype d);
/* Notes a function of that name for ac_pc.uses, if it is not there. Returns the name. */
const char *ac_pc_use(ac_pc *t, const char *name, const char *text);
/* The functions of ac_pc.uses and the helpers that `text` and they call. */
char *ac_pc_runtime(ac_pc *t, const char *text);

#endif

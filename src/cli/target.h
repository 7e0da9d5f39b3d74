/* What a command runs on the simulator: a project's folder, a lowered program, or one kernel's source with its arguments. Made from
 * options once, for `run` and for whatever else looks at a run. */
#ifndef AC_CLI_TARGET_H
#define AC_CLI_TARGET_H

#include "cli/cli.h"
#include "sim/sim.h"
#include "sim/source.h"

typedef struct {
  const char *name; /* of the operator or the entry */
  const ac_chip *chip;
  ac_sim_lib *lib;           /* compiled: a project or a kernel; or NULL and */
  const ac_program *program; /* run without a compiler */
  const ac_graph *graph;     /* with the sizes of this run; NULL: none is known */
  ac_sim_tensor *tensors;    /* n of them; data from ac_sim_alloc, inputs filled */
  int n;
  ac_sim_attr *attrs;
  int n_attrs;
  bool is_kernel; /* then: */
  ac_sim_launch launch;
  const char *tiling_struct; /* "" : none */
  ac_strvec tiling_zero;     /* its fields that nobody set */
  const char **save;         /* one a tensor: the .npy that it goes to after the run, or NULL */
} ac_target;

/* Each reads inputs, makes the tensors and builds what there is to build. False with diagnostics; ac_target_close all the same. */
bool ac_target_project(ac_arena *a, const ac_run_options *o, ac_target *t, ac_diags *d);
/* Inputs are those of `traced`, or (NULL: a DSL program) made for the shapes of o->source.shapes. */
bool ac_target_program(ac_arena *a, const ac_program *p, const ac_graph *traced, const ac_run_options *o,
                       ac_target *t, ac_diags *d);
bool ac_target_kernel(ac_arena *a, const ac_run_options *o, ac_target *t, ac_diags *d);
/* Somebody's msopgen project, without a manifest: its host code does the tiling; --arg NAME=VALUE are its attributes. */
bool ac_target_msopgen(ac_arena *a, const ac_run_options *o, ac_target *t, ac_diags *d);
bool ac_target_is_msopgen(ac_arena *a, const char *dir);
/* The chip of --target; NULL: the one that stands in where none is named. */
const ac_chip *ac_target_chip(ac_arena *a, const char *name, ac_diags *d);
/* The options that every kind of run takes. */
ac_sim_opts ac_target_opts(const ac_run_options *o);
ac_hazards ac_hazards_of(ac_hazard_check c);
/* One run; as ac_sim_run. */
bool ac_target_run(ac_arena *a, const ac_target *t, const ac_sim_opts *opts, ac_sim_result *r, ac_diags *d);
/* Writes the outputs that have a file. */
bool ac_target_save(ac_arena *a, const ac_target *t, ac_diags *d);
void ac_target_close(ac_target *t);
/* run.c: one run, its report as text and as keys of `result`, its outputs to their files. Returns an exit code. */
int ac_run_target(ac_arena *a, const ac_target *t, const ac_run_options *o, FILE *progress, ac_buf *text,
                  json_t *result, ac_diags *d);
/* Not a pipe, which could keep whoever opens it waiting; else a message. */
bool ac_target_no_pipe(const char *path, ac_diags *d);
/* The same, but for a pipe that has no name in a folder, as the shell's <(...) makes: somebody writes to it, so it can be read to its end. */
bool ac_target_no_named_pipe(const char *path, ac_diags *d);
/* Is it the source of a kernel, by its name? */
bool ac_target_is_kernel(const char *path);

/* ---- shared by the files target*.c ---- */

/* Adds a tensor with memory of its own (none: false and a diagnostic). */
bool ac_target_tensor(ac_target *t, ac_sim_tensor x, const char *save, ac_diags *d);
/* "FILE.npy[:DTYPE]" into a new input; "FILE.npy[:DTYPE][:OUT.npy]" with `inout`. */
bool ac_target_read(ac_arena *a, ac_target *t, const char *text, bool inout, const char *name, ac_diags *d);
/* "FILE.npy:DTYPE:16x500" into a new output. */
bool ac_target_output(ac_arena *a, ac_target *t, const char *text, const char *name, ac_diags *d);
/* The .npy files of --in in place of the tensors' own values, those of --out as where outputs go: for what knows its tensors itself. */
bool ac_target_files(ac_arena *a, const ac_run_options *o, ac_target *t, ac_diags *d);
/* NULL-ended copy. */
const char *const *ac_target_list(ac_arena *a, const char *const *v, int n);

/* target_tiling.c: "key=value,key=[1,2]" */
typedef AC_VEC(ac_sim_field) ac_tiling_fields;
bool ac_tiling_parse(ac_arena *a, const char *text, ac_tiling_fields *to, ac_diags *d);
/* "7", "-3", "0x10", "0.5", "1e-3": the whole text; false: it is no number. */
bool ac_number_parse(const char *text, ac_sim_number *v);

#endif

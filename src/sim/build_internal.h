/* Shared by the files that compile: build.c (projects), build_cache.c (what of it still holds), build_kernel.c (one kernel by itself),
 * build_header.c (the headers, once), build_launch.c (launches by <<<>>>). */
#ifndef AC_SIM_BUILD_INTERNAL_H
#define AC_SIM_BUILD_INTERNAL_H

#include "sim/run_internal.h"
#include "sim/source.h"

#include <time.h>

typedef struct {
  ac_arena *a;
  ac_diags *d;
  const ac_sim_spec *s;
  const char *root;    /* names in messages are relative to it */
  const char *headers; /* sim/include */
  const char *cache;
  const char *scratch;  /* TMPDIR of the compiler, and where the wrapper is written */
  const char *compiler; /* path or name */
  const char *version;
  unsigned missing;
  const char *tree;  /* hash of the headers, once known */
  ac_strvec folders; /* further ones that sources are read from */
  bool host_code;    /* see ac_sim_lib */
} ac_builder;

/* Arguments that shape the result. Paths are left out: they differ from machine to machine, the result does not. */
void ac_build_args(const ac_builder *b, ac_strvec *v, bool std);
void ac_build_chip_args(const ac_builder *b, ac_strvec *v);
void ac_build_reach_args(const ac_builder *b, ac_strvec *v);
/* Of everything that the result depends on: sources, headers, compiler, arguments, `extra`. */
char *ac_build_key(ac_builder *b, const ac_sources *c, const ac_strvec *args, const char *extra);
/* Runs the compiler in the sandbox on `source`; the library lands at `final` at once or not at all. `shown`: its name in messages. */
bool ac_build_compile(ac_builder *b, const ac_strvec *args, const char *source, const char *const *more,
                      const char *shown, const char *final);
/* What the preprocessor makes of `source`, with the same arguments; NULL with a diagnostic. */
char *ac_build_preprocess(ac_builder *b, const ac_strvec *args, const char *source, const char *shown);
/* build_template.c. Whether the project's kernel is a template. */
bool ac_build_is_template(const ac_builder *b, const ac_sources *c);
/* C++ text that runs the instance of such a kernel which the tiling key names, for each that ASCENDC_TPL_SEL declares. `column`: the
 * dtypes that are built for, or NULL. NULL with a diagnostic. */
char *ac_build_template(ac_builder *b, const ac_strvec *args, const char *source, const char *column);
/* Relative to b->root where it is below it: what is cached serves a copy of the project, too. */
const char *ac_build_relative(const ac_builder *b, const char *path);
/* build_cache.c. The stamp of a cached file, from what the compiler read (rules of make); a file that has changed since `start` leaves it
 * without one. */
void ac_build_stamp(ac_builder *b, const char *file, const char *rules, const struct timespec *start);
/* ... and what else is as it is now. */
void ac_build_stamp_add(ac_builder *b, const char *file, const char *more);
/* Whether the file is there, whole, and what the compiler would make again; marks it as used now. */
bool ac_build_cached(ac_builder *b, const char *file);
/* The kernel's file, or where it launches by <<<>>> a copy that a plain C++ compiler reads, with the arguments it needs. */
const char *ac_build_launch_source(ac_builder *b, const ac_sources *c, ac_strvec *args);
/* build_launch.c. The text to compile instead of `path`, one of the sources, where it launches kernels by <<<>>>; NULL where nothing
 * does. `folders` gets where the quoted #includes of the files that were put together are looked for. */
char *ac_launch_unit(ac_arena *a, const char *path, const ac_sources *c, ac_strvec *folders);
/* Whether the file, or one that it includes, has launches. */
bool ac_launches_in(const ac_sources *c, const char *path);
/* Absolute folder of a file or folder. */
const char *ac_build_folder(ac_arena *a, const char *path);
bool ac_build_is_clang(const ac_builder *b);
/* The simulator's headers, compiled once for these arguments and kept in the cache: a file to -include. NULL where that is not to be had;
 * nothing depends on it but time. */
const char *ac_build_header(ac_builder *b, const ac_strvec *args);
/* The library of one kernel by itself; NULL with a diagnostic. */
const char *ac_build_kernel(ac_builder *b);

#endif

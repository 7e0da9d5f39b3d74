/* What can be read from a kernel's source text without compiling it: which files it is made of, its entries, its tiling structs. The
 * compiler has the last word on types; names for messages and choices come from here. Part of sim. */
#ifndef AC_SIM_SOURCE_H
#define AC_SIM_SOURCE_H

#include "sim/sim.h"

/* ---- the files: the closure over #include "..." ---- */

typedef struct {
  ac_map *seen; /* absolute path -> text, in the order of inclusion */
  bool std;     /* some text mentions std:: */
  ac_arena *a;
  const char *const *include_dirs;
} ac_sources;
/* Of `path` and the files `more`; both lists NULL-ended, or NULL. Files that cannot be read are left out: the compiler will say so, with
 * the place. */
ac_sources ac_sources_of(ac_arena *a, const char *path, const char *const *more, const char *const *include_dirs);
/* Absolute path of the file whose #include "name" in the file `from` begins with the '#' at `hash`; NULL where it is something else, or
 * the file is not there. */
const char *ac_source_include(const ac_sources *c, const char *from, const char *hash);

/* ---- one text ---- */

/* A copy of the same length in which comments, the insides of strings and preprocessor lines are blanks; lines stay lines. */
char *ac_source_blank(ac_arena *a, const char *text);

typedef struct {
  const char *name;        /* as C++ reaches it from outside: "ns::add_kernel" */
  ac_strvec params, types; /* name and type of each parameter, as written */
  const char *file;
  int line;
  bool is_template; /* wants arguments: name<float> */
  bool launcher;    /* a host function that launches kernels: <<<>>> or ICPU_RUN_KF in its body */
} ac_source_entry;
typedef struct {
  const char *name; /* "optiling::AddTilingData" */
  ac_strvec fields; /* names */
  bool macro;       /* by BEGIN_TILING_DATA_DEF */
} ac_source_struct;
typedef struct {
  AC_VEC(ac_source_entry) entries;
  AC_VEC(ac_source_struct) structs;
  ac_strvec asked; /* structs that GET_TILING_DATA_WITH_STRUCT and its kin name, or that are registered; each once */
  bool reads_tiling; /* GET_TILING_DATA(name, arg), whose struct is said elsewhere */
} ac_source_facts;
/* Adds what `text` of `file` defines at namespace scope. */
void ac_source_scan(ac_arena *a, const char *file, const char *text, ac_source_facts *f);

#endif

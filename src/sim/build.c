/* Building: the emitted sources, unmodified, become shared objects, in a sandbox and cached by content.
 *
 * Order matters: the host library comes first, because the tiling-data macros in it are what tells the kernel's struct
 * (CANN's build system does the same with a generated header).
 */
#include "sim/build_internal.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  COMPILE_SECONDS = 120,      /* of processor time, for each file */
  COMPILE_WALL_SECONDS = 900, /* a busy machine is no hanging compiler */
  MAX_SOURCE = 4 << 20,
  MAX_EXPANDED = 64 << 20,
  CACHE_FILES = 800, /* a library and its stamp are two */
  IN_USE_SECONDS =
      3600, /* a library that ran so recently may run again: another process may be in the middle of it */
  DESCRIBE_BYTES = 1 << 20
};
static const uint64_t COMPILE_MEMORY = 3ull << 30;

const char *ac_build_folder(ac_arena *a, const char *path) {
  return ac_dirname(a, ac_absolute(a, path));
}

/* ---- keys: everything that the result depends on ---- */

const char *ac_build_relative(const ac_builder *b, const char *path) {
  size_t n = strlen(b->root);
  return !strncmp(path, b->root, n) && path[n] == '/' ? path + n + 1 : path;
}

static int by_name(const void *x, const void *y) {
  return strcmp(*(char *const *)x, *(char *const *)y);
}

/* Names and texts of a folder of headers, in order. */
static void hash_tree(ac_builder *b, const char *dir, ac_buf *out) {
  AC_VEC(char *) names = {0};
  DIR *d = opendir(dir);
  for (struct dirent *e; d && (e = readdir(d));)
    if (e->d_name[0] != '.') ac_push(b->a, &names, ac_strdup(b->a, e->d_name));
  if (d) closedir(d);
  if (names.len) qsort(names.data, names.len, sizeof *names.data, by_name);
  for (size_t i = 0; i < names.len; i++) {
    char *path = ac_path_join(b->a, dir, names.data[i]);
    if (ac_is_dir(path)) {
      hash_tree(b, path, out);
      continue;
    }
    size_t len = 0;
    char *text = ac_read_file(b->a, path, MAX_SOURCE, &len, b->d);
    if (text) ac_printf(out, "%s %s\n", names.data[i], ac_sha256(b->a, text, len));
  }
}

/* What the compiler makes calls of, such as a population count or the division of 128-bit numbers; after the objects. */
static const char *const COMPILER_LIBRARY = "-lgcc";

char *ac_build_key(ac_builder *b, const ac_sources *c, const ac_strvec *args, const char *extra) {
  ac_buf k;
  ac_buf_init(&k, b->a);
  ac_printf(&k, "%s\n%s\n%s\n", b->version, COMPILER_LIBRARY, extra);
  for (size_t i = 0; i < args->len; i++) ac_printf(&k, "%s\n", args->data[i]);
  for (size_t i = 0; b->s->include_dirs && b->s->include_dirs[i]; i++)
    ac_printf(&k, "-I%s\n", ac_build_relative(b, ac_absolute(b->a, b->s->include_dirs[i])));
  if (!b->tree) {
    ac_buf t;
    ac_buf_init(&t, b->a);
    hash_tree(b, b->headers, &t);
    b->tree = ac_sha256(b->a, ac_buf_str(&t), t.len);
  }
  ac_printf(&k, "%s\n", b->tree);
  for (size_t i = 0; i < ac_map_len(c->seen); i++) {
    const char *text = ac_map_value(c->seen, i);
    ac_printf(&k, "%s %s\n", ac_build_relative(b, ac_map_key(c->seen, i)), ac_sha256(b->a, text, strlen(text)));
  }
  return ac_sha256(b->a, ac_buf_str(&k), k.len);
}

/* ---- the cache ---- */

static char *cache_dir(ac_arena *a) {
  const char *x = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  char *base = x && *x == '/' ? ac_strdup(a, x) : home && *home == '/' ? ac_path_join(a, home, ".cache") : NULL;
  if (!base) return NULL;
  char *dir = ac_path_join(a, base, "ascendcraft");
  if (!ac_mkdirs(dir, NULL)) return NULL;
  struct stat st; /* libraries are loaded from there: nobody else may write into it */
  if (stat(dir, &st) || st.st_uid != geteuid() || (st.st_mode & 022) || access(dir, W_OK | X_OK)) return NULL;
  return dir;
}

typedef struct {
  char *path;
  time_t used;
} cached;
static int older_first(const void *x, const void *y) {
  time_t a = ((const cached *)x)->used, b = ((const cached *)y)->used;
  return a < b ? -1 : a > b;
}

/* Keeps the folder from growing without end: the least recently used half goes, as far as nobody is using it. */
static void prune(ac_builder *b) {
  AC_VEC(cached) v = {0};
  DIR *d = opendir(b->cache);
  for (struct dirent *e; d && (e = readdir(d));) {
    struct stat st;
    char *p = ac_path_join(b->a, b->cache, e->d_name);
    if (stat(p, &st) || !S_ISREG(st.st_mode)) continue;
    if (e->d_name[0] != '.') {
      ac_push(b->a, &v, ((cached){p, st.st_mtime}));
    } else if (time(NULL) - st.st_mtime > 24 * 3600) {
      unlink(p); /* left by a compile that was killed */
    }
  }
  if (d) closedir(d);
  if (v.len < CACHE_FILES) return;
  qsort(v.data, v.len, sizeof *v.data, older_first);
  for (size_t i = 0; i < v.len / 2 && time(NULL) - v.data[i].used > IN_USE_SECONDS; i++) unlink(v.data[i].path);
}

/* ---- the compiler ---- */

static bool find_compiler(ac_builder *b) {
  const char *own = getenv("ASCENDCRAFT_CXX");
  const char *const names[] = {own && *own ? own : "g++", "clang++", NULL};
  for (size_t i = 0; names[i]; i++) {
    const char *argv[] = {names[i], "--version", NULL};
    ac_proc p;
    ac_proc_run(b->a, &(ac_proc_spec){.argv = argv, .timeout = 20}, &p);
    if (!p.started || p.status) continue;
    b->compiler = names[i];
    b->version = p.out;
    return true;
  }
  ac_diag *x = ac_error(b->d, AC0802, AC_NOLOC,
                        "the simulator compiles the emitted code, and neither g++ nor clang++ can be run");
  ac_help(b->d, x, "install a C++ compiler (Debian: apt-get install g++), or name one in ASCENDCRAFT_CXX");
  return false;
}

bool ac_build_is_clang(const ac_builder *b) {
  return strstr(b->version, "clang") != NULL;
}

/* Arguments that shape the result. Paths are left out here: they differ from machine to machine, the result does not. */
void ac_build_args(const ac_builder *b, ac_strvec *v, bool std) {
  ac_arena *a = b->a;
  const char *const fixed[] = {"-std=c++17",
                               "-fPIC",
                               "-shared",
                               "-fno-exceptions",
                               "-fno-rtti",
                               "-fvisibility=hidden",
                               "-w",
                               "-fno-strict-aliasing",
                               "-fno-threadsafe-statics",
                               "-Wl,-Bsymbolic", /* a kernel called sqrt is not the C library's function */
                               "-ffp-contract=off",
                               "-DASCENDC_CPU_DEBUG=1"};
  for (size_t i = 0; i < AC_COUNT(fixed); i++) ac_push(a, v, fixed[i]);
  ac_push(a, v, b->s->opt ? "-O1" : "-O0");
  if (!ac_build_is_clang(b)) ac_push(a, v, "-fno-gnu-unique");
  if (!std) ac_push(a, v, "-nodefaultlibs"); /* the C library is in the process already */
}

static const char **compile_roots(ac_builder *b) {
  ac_strvec v = {0};
  const char *const fixed[] = {"/usr",     "/lib", "/lib64", "/bin", "/opt", "/etc/alternatives", "/etc/ld.so.cache",
                               b->headers, b->root};
  for (size_t i = 0; i < AC_COUNT(fixed); i++) ac_push(b->a, &v, fixed[i]);
  for (size_t i = 0; b->s->include_dirs && b->s->include_dirs[i]; i++) ac_push(b->a, &v, b->s->include_dirs[i]);
  const char *const sources[] = {b->s->kernel_src, b->s->host_src};
  for (size_t i = 0; i < AC_COUNT(sources); i++)
    if (sources[i]) ac_push(b->a, &v, ac_build_folder(b->a, sources[i]));
  for (size_t i = 0; i < b->folders.len; i++) ac_push(b->a, &v, b->folders.data[i]);
  for (size_t i = 0; b->s->host_more && b->s->host_more[i]; i++)
    ac_push(b->a, &v, ac_build_folder(b->a, b->s->host_more[i]));
  ac_push(b->a, &v, NULL);
  return v.data;
}

/* Is one of the compiler's errors about the wrapper's use of the entry? That it was included from there stands above every error. */
static bool about_entry(ac_arena *a, const char *err, const char *op) {
  const char *name = ac_strndup(a, op, strcspn(op, "<")), *last = strrchr(name, ':');
  if (last) name = last + 1;
  for (const char *p = err, *end; *p; p = *end ? end + 1 : end) {
    end = p + strcspn(p, "\n");
    const char *line = ac_strndup(a, p, (size_t)(end - p)), *at = strstr(line, "acsim_entry:");
    bool ours = (at && at[12] >= '0' && at[12] <= '9') || strstr(line, "acsim/kernel_entry.h:");
    bool entry = strstr(line, name) || strstr(line, "call to 'params") || strstr(line, "call to 'count");
    if (ours && entry && strstr(line, "error:")) return true;
  }
  return false;
}

static void report_compile(ac_builder *b, const char *what, const ac_proc *p) {
  ac_loc at = {.file = what};
  if (p->timed_out) {
    ac_diag *x = ac_error(b->d, AC0801, at, "the compiler did not finish within %d seconds", COMPILE_WALL_SECONDS);
    ac_help(b->d, x, "run %s on the file by hand to see where it hangs", b->compiler);
    return;
  }
  size_t n = strlen(p->err);
  const size_t most = 4000;
  ac_diag *x = ac_error(b->d, AC0801, at, "%s refuses it:\n%.*s%s", b->compiler, (int)(n > most ? most : n),
                        n           ? p->err
                        : p->signal ? "(the compiler was killed)"
                                    : "(no message)",
                        n > most ? "\n..." : "");
  if (strstr(p->err, "No space left on device"))
    ac_help(b->d, x, "make room: the compiler writes to %s (elsewhere by TMPDIR), its results go to %s",
            ac_dirname(b->a, b->scratch), b->cache);
  if (about_entry(b->a, p->err, b->s->op))
    ac_help(b->d, x, "the kernel file must define extern \"C\" __global__ __aicore__ void %s(...)", b->s->op);
}

/* On the device ASSERT is nothing, so it may stand where no statement can. */
static const char *const WITHOUT_ASSERT = "-DACSIM_NO_ASSERT=1";
static bool assert_in_the_way(const ac_strvec *args, const ac_proc *p) {
  return p->started && !p->timed_out && strstr(p->err, "macro 'ASSERT'") &&
         (!args->len || args->data[args->len - 1] != WITHOUT_ASSERT);
}

/* What the compiler says it has read, as rules of make; NULL where it says nothing. `several`: how it was run on several sources, which
 * write over each other's rules; it is asked again. */
static const char *compiler_read(ac_builder *b, const char *rules, const ac_proc_spec *several, size_t common) {
  if (!several) return ac_read_file(b->a, rules, 0, NULL, NULL);
  ac_strvec v = {0};
  for (size_t i = 0; i < common; i++) ac_push(b->a, &v, several->argv[i]);
  ac_push(b->a, &v, "-M");
  ac_push(b->a, &v, NULL);
  ac_proc_spec spec = *several;
  spec.argv = v.data;
  ac_proc p;
  ac_proc_run(b->a, &spec, &p);
  return p.started && !p.status && !p.signal && !p.timed_out && !p.out_cut ? p.out : NULL;
}

/* The compiler with what shapes the result, where it looks, and the sources. */
static ac_strvec command(ac_builder *b, const ac_strvec *args, const char *source, const char *const *more) {
  ac_arena *a = b->a;
  ac_strvec v = {0};
  ac_push(a, &v, b->compiler);
  for (size_t i = 0; i < args->len; i++) ac_push(a, &v, args->data[i]);
  ac_push(a, &v, ac_sprintf(a, "-fmacro-prefix-map=%s/=", b->root));
  ac_push(a, &v, ac_sprintf(a, "-I%s", b->headers));
  for (size_t i = 0; b->s->include_dirs && b->s->include_dirs[i]; i++)
    ac_push(a, &v, ac_sprintf(a, "-I%s", b->s->include_dirs[i]));
  ac_push(a, &v, source);
  for (size_t i = 0; more && more[i]; i++) ac_push(a, &v, ac_absolute(a, more[i]));
  return v;
}

static ac_proc_spec sandboxed(ac_builder *b, const char *const *argv) {
  const char **env = AC_NEW_N(b->a, const char *, 3), **writable = AC_NEW_N(b->a, const char *, 3);
  env[0] = ac_sprintf(b->a, "TMPDIR=%s", b->scratch);
  env[1] = "LC_ALL=C";
  writable[0] = b->scratch;
  writable[1] = b->cache;
  ac_proc_spec spec = {.argv = argv, .env = env, .timeout = COMPILE_WALL_SECONDS};
  spec.sandbox = (ac_sandbox){.on = true,
                              .memory = COMPILE_MEMORY,
                              .cpu_seconds = COMPILE_SECONDS,
                              .file_size = 256 << 20,
                              .read_only = compile_roots(b),
                              .writable = writable,
                              .exec = true};
  return spec;
}

static bool went_well(const ac_proc *p) {
  return p->started && !p->status && !p->signal && !p->timed_out;
}

char *ac_build_preprocess(ac_builder *b, const ac_strvec *args, const char *source, const char *shown) {
  ac_strvec v = command(b, args, source, NULL);
  char *to = ac_path_join(b->a, b->scratch, "acsim_expanded.cpp");
  const char *const last[] = {"-E", "-P", "-o", to, NULL};
  for (size_t i = 0; i < AC_COUNT(last); i++) ac_push(b->a, &v, last[i]);
  ac_proc_spec spec = sandboxed(b, v.data);
  ac_proc p;
  ac_proc_run(b->a, &spec, &p);
  b->missing |= p.sandbox_missing;
  if (went_well(&p)) return ac_read_file(b->a, to, MAX_EXPANDED, NULL, b->d);
  report_compile(b, shown, &p);
  return NULL;
}

/* The object lands at `final` at once or not at all. */
bool ac_build_compile(ac_builder *b, const ac_strvec *args, const char *source, const char *const *more,
                      const char *shown, const char *final) {
  ac_arena *a = b->a;
  static unsigned serial;
  char *part = ac_sprintf(a, "%s/.part-%d-%u", b->cache, (int)getpid(), serial++);
  ac_strvec v = command(b, args, source, more);
  char *rules = ac_sprintf(a, "%s/acsim.d", b->scratch);
  size_t common = v.len;
  ac_push(a, &v, "-MD"); /* with several sources: only of the last one; see compiler_read */
  ac_push(a, &v, "-MF");
  ac_push(a, &v, rules);
  for (size_t i = 0; i < args->len; i++)
    if (!strcmp(args->data[i], "-shared")) ac_push(a, &v, COMPILER_LIBRARY);
  ac_push(a, &v, "-o");
  ac_push(a, &v, part);
  ac_push(a, &v, NULL);
  struct timespec start;
  clock_gettime(CLOCK_REALTIME_COARSE, &start); /* the clock of file times */
  ac_proc_spec spec = sandboxed(b, v.data);
  ac_proc p;
  ac_proc_run(a, &spec, &p);
  b->missing |= p.sandbox_missing;
  if (!went_well(&p)) {
    unlink(part);
    if (assert_in_the_way(args, &p)) {
      ac_strvec again = {0};
      for (size_t i = 0; i < args->len; i++) ac_push(a, &again, args->data[i]);
      ac_push(a, &again, WITHOUT_ASSERT);
      return ac_build_compile(b, &again, source, more, shown, final);
    }
    report_compile(b, shown, &p);
    return false;
  }
  const char *read = compiler_read(b, rules, more && more[0] ? &spec : NULL, common);
  if (rename(part, final)) {
    ac_error(b->d, AC0102, (ac_loc){.file = final}, "cannot put the compiled library there: %s", strerror(errno));
    unlink(part);
    return false;
  }
  if (read && b->cache != b->scratch) ac_build_stamp(b, final, read, &start);
  return true;
}

/* ---- the host library, and what it says of the tiling data ---- */

typedef struct {
  const char *so, *op_type, *soc;
  char *text; /* shared memory */
} describe_job;

static int describe_child(void *user) {
  describe_job *j = user;
  void *h = dlopen(j->so, RTLD_NOW | RTLD_LOCAL);
  if (!h) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  acsim_host_describe_fn f = (acsim_host_describe_fn)ac_run_symbol(h, "acsim_host_describe");
  if (!f) return 2;
  return f(j->op_type, j->soc, j->text, DESCRIBE_BYTES) < DESCRIBE_BYTES ? 0 : 3;
}

static const char *describe(ac_builder *b, ac_sim_lib *lib) {
  describe_job j = {lib->host_so, b->s->op_type, b->s->chip->soc, ac_sim_alloc(DESCRIBE_BYTES)};
  if (!j.text) {
    ac_error(b->d, AC0805, AC_NOLOC, "no memory to look into the host library");
    return NULL;
  }
  ac_proc_spec spec = {.call = describe_child, .user = &j, .timeout = 20};
  spec.sandbox = ac_run_sandbox(b->a, lib, 512ull << 20);
  ac_proc p;
  ac_proc_run(b->a, &spec, &p);
  b->missing |= p.sandbox_missing;
  const char *text =
      p.status == 0 && !p.signal ? ac_strndup(b->a, j.text, strnlen(j.text, DESCRIBE_BYTES - 1)) : NULL;
  ac_sim_dealloc(j.text, DESCRIBE_BYTES);
  if (!text) {
    ac_diag *x = ac_error(b->d, AC0807, (ac_loc){.file = b->s->host_src}, "the host library does not start: %s",
                          p.status == 2 ? "it registers no operator"
                          : p.timed_out ? "its static initialisers do not end"
                          : p.signal    ? strsignal(p.signal)
                          : *p.err      ? p.err
                                        : "no reason given");
    if (p.status == 2)
      ac_help(b->d, x, "include register/op_def_registry.h and end the file with OP_ADD(%s)", b->s->op_type);
  }
  return text;
}

static bool build_host(ac_builder *b, ac_sim_lib *lib, const char **described) {
  ac_sources c = ac_sources_of(b->a, b->s->host_src, b->s->host_more, b->s->include_dirs);
  ac_strvec args = {0};
  ac_build_args(b, &args, c.std);
  if (c.std) ac_push(b->a, &args, "-DACSIM_HOST_STL=1");
  if (c.std) ac_push(b->a, &args, "-fexceptions"); /* host code may throw; nothing catches it but itself */
  /* CANN links the parts of op_host into several libraries, so that their headers may hold functions that are not inline. */
  if (b->s->host_more) ac_push(b->a, &args, "-Wl,-z,muldefs");
  char *key = ac_build_key(b, &c, &args, ac_sprintf(b->a, "host %s", b->s->chip->soc)); /* describe() asks for it */
  char *so = ac_sprintf(b->a, "%s/%s.so", b->cache, key), *txt = ac_sprintf(b->a, "%s/%s.txt", b->cache, key);
  lib->host_so = so;
  if (ac_build_cached(b, so) && ac_exists(txt)) {
    *described = ac_read_file(b->a, txt, DESCRIBE_BYTES, NULL, b->d);
    return *described != NULL;
  }
  if (!ac_build_compile(b, &args, ac_absolute(b->a, b->s->host_src), b->s->host_more, b->s->host_src, so))
    return false;
  *described = describe(b, lib);
  if (!*described) {
    unlink(so);
    return false;
  }
  if (!ac_write_file(txt, *described, strlen(*described), b->d)) return false;
  ac_build_stamp_add(b, so, txt);
  return true;
}

/* ---- the kernel library ---- */

/* A wrapper that includes the kernel's file as it is: it exports the entry under a fixed name and passes any number of
 * pointer arguments. `choice`: of a kernel that is a template (build_template.c). */
static char *entry_text(ac_builder *b, const char *kernel, const char *choice) {
  if (!choice)
    choice = ac_sprintf(b->a,
                        "#define ACSIM_ENTRY_FIRST ::%s\n"
                        "static void acsim_entry_choose(void *const *p) { acsim_entry::run(&::%s, p); }\n",
                        b->s->op, b->s->op);
  return ac_sprintf(b->a,
                    "#include \"%s\"\n"
                    "#line 1 \"acsim_entry\"\n"
                    "namespace acsim_entry {\n"
                    "template <unsigned long... I> struct seq {};\n"
                    "template <unsigned long N, unsigned long... I> struct make : make<N - 1, N - 1, I...> {};\n"
                    "template <unsigned long... I> struct make<0, I...> { using type = seq<I...>; };\n"
                    "template <class... A, unsigned long... I> void call(void (*f)(A...), void *const *p, seq<I...>) "
                    "{ f((A)p[I]...); }\n"
                    "template <class... A> void run(void (*f)(A...), void *const *p) { call(f, p, typename "
                    "make<sizeof...(A)>::type()); }\n"
                    "template <class... A> constexpr int count(void (*)(A...)) { return sizeof...(A); }\n"
                    "}\n%s"
                    "extern \"C\" __attribute__((visibility(\"default\"))) int acsim_entry_args() { return "
                    "acsim_entry::count(&ACSIM_ENTRY_FIRST); }\n"
                    "extern \"C\" __attribute__((visibility(\"default\"))) void acsim_entry_run(void *const *p) { "
                    "acsim_entry_choose(p); }\n",
                    kernel, choice);
}

const char *ac_build_launch_source(ac_builder *b, const ac_sources *c, ac_strvec *args) {
  ac_arena *a = b->a;
  const char *source = ac_absolute(a, b->s->kernel_src);
  ac_strvec folders = {0};
  char *text = ac_launch_unit(a, source, c, &folders);
  if (!text) return source;
  for (size_t i = 0; i < folders.len; i++) {
    ac_push(a, args, "-iquote");
    ac_push(a, args, folders.data[i]);
  }
  char *copy = ac_path_join(a, b->scratch, "acsim_launch.cpp");
  return ac_write_file(copy, text, strlen(text), b->d) ? copy : NULL;
}

/* Which functions of a library with host code are the kernels': run_reach.c. */
void ac_build_reach_args(const ac_builder *b, ac_strvec *v) {
  if (!b->host_code) return;
  ac_push(b->a, v, "-ffunction-sections");
  ac_push(b->a, v, "-Wl,--emit-relocs");
}

void ac_build_chip_args(const ac_builder *b, ac_strvec *v) {
  const ac_chip *c = b->s->chip;
  ac_push(b->a, v, ac_sprintf(b->a, "-D__NPU_ARCH__=%d", c->npu_arch));
  ac_push(b->a, v, ac_sprintf(b->a, "-D__CCE_AICORE__=%d", c->npu_arch == 2201 ? 220 : 200));
}

/* One line "//@ column A=b C=d" as -DA=b -DC=d. */
static void column_args(const ac_builder *b, const char *line, ac_strvec *v) {
  size_t end = strcspn(line, "\n");
  for (size_t i = 0; i < end;) {
    i += strspn(line + i, " ");
    size_t n = strcspn(line + i, " \n");
    if (i < end && n) ac_push(b->a, v, ac_sprintf(b->a, "-D%.*s", (int)n, line + i));
    i += n ? n : 1;
  }
}

static const char *compile_kernel(ac_builder *b, const ac_sources *c, const char *described, const char *column) {
  ac_arena *a = b->a;
  ac_strvec args = {0};
  ac_build_args(b, &args, c->std);
  if (c->std) ac_push(a, &args, "-DACSIM_KERNEL_STL=1");
  if (c->std) ac_push(a, &args, "-DACSIM_HOST_STL=1"); /* a file that launches its kernels has host code in it */
  if (b->s->form == AC_SIM_MSOPGEN) ac_push(a, &args, "-DACSIM_TPL_KERNEL=1"); /* its host code is elsewhere */
  if (b->s->form == AC_SIM_DIRECT) /* its exported functions carry no visibility of their own */
    ac_push(a, &args, "-fvisibility=default");
  ac_build_chip_args(b, &args);
  ac_build_reach_args(b, &args);
  const char *own = described ? strstr(described, "//@ struct ") : NULL;
  if (own) {
    own += strlen("//@ struct ");
    ac_push(a, &args, ac_sprintf(a, "-DACSIM_TILING_STRUCT=%.*s", (int)strcspn(own, "\n"), own));
  }
  if (column) column_args(b, column, &args);
  char *key = ac_build_key(b, c, &args, ac_sprintf(a, "kernel %s\n%s", b->s->op, described ? described : ""));
  char *so = ac_sprintf(a, "%s/%s.so", b->cache, key);
  if (ac_build_cached(b, so)) return so;
  const char *source = ac_build_launch_source(b, c, &args);
  if (!source) return NULL;
  if (described) { /* named as CANN's build names it, since messages may show it */
    char *h = ac_sprintf(a, "%s/%s_tiling_struct.h", b->scratch, b->s->op);
    char *guarded = ac_sprintf(a, "#pragma once\n%s", described);
    if (!ac_write_file(h, guarded, strlen(guarded), b->d)) return NULL;
    ac_push(a, &args, "-include");
    ac_push(a, &args, h);
  }
  if (b->s->form == AC_SIM_MSOPGEN) {
    const char *choice = NULL;
    if (ac_build_is_template(b, c) && !(choice = ac_build_template(b, &args, source, column))) return NULL;
    char *entry = entry_text(b, source, choice), *w = ac_path_join(a, b->scratch, "acsim_entry.cpp");
    if (!ac_write_file(w, entry, strlen(entry), b->d)) return NULL;
    source = w;
  }
  return ac_build_compile(b, &args, source, NULL, b->s->kernel_src, so) ? so : NULL;
}

/* Does a column "DTYPE_X=half ORIG_DTYPE_X=... DTYPE_Y=..." fit the dtypes that the caller is going to run? */
static bool column_wanted(const ac_builder *b, const char *column) {
  int i = 0;
  size_t end = strcspn(column, "\n");
  for (const char *p = column; b->s->dtypes && i < b->s->n_dtypes; i++) {
    p = strstr(p, " DTYPE_");
    if (!p || p >= column + end) return true;
    p += strcspn(p, "=") + 1;
    const char *want = ac_run_cpp(b->s->dtypes[i]);
    size_t n = strcspn(p, " \n");
    if (want && (strlen(want) != n || strncmp(want, p, n))) return false;
  }
  return true;
}

static bool build_kernels(ac_builder *b, ac_sim_lib *lib, const char *described) {
  ac_sources c = ac_sources_of(b->a, b->s->kernel_src, NULL, b->s->include_dirs);
  b->host_code = b->s->form == AC_SIM_MSOPGEN && ac_launches_in(&c, ac_absolute(b->a, b->s->kernel_src));
  bool per_column = false;
  for (size_t i = 0; i < ac_map_len(c.seen); i++)
    per_column = per_column || strstr(ac_map_value(c.seen, i), "DTYPE_");
  ac_strvec columns = {0};
  for (const char *p = described; p && (p = strstr(p, "//@ column")); p++)
    ac_push(b->a, &columns, p + strlen("//@ column"));
  size_t n = per_column && columns.len ? columns.len : 1;
  lib->kernel_so = AC_NEW_N(b->a, const char *, n);
  lib->n_kernels = (int)n;
  for (size_t i = 0; i < n; i++) {
    if (n > 1 && !column_wanted(b, columns.data[i])) continue;
    lib->kernel_so[i] = compile_kernel(b, &c, described, i < columns.len ? columns.data[i] : NULL);
    if (!lib->kernel_so[i]) return false;
  }
  return true;
}

/* ---- */

static bool readable(ac_builder *b, const char *path) {
  errno = 0;
  if (path && !access(path, R_OK) && !ac_is_dir(path)) return true;
  ac_error(b->d, AC0101, (ac_loc){.file = path}, "%s", path ? strerror(errno ? errno : EISDIR) : "no path given");
  return false;
}

/* The folder above the file's folder, when host and kernel share it; else the file's own. */
static const char *root_of(ac_arena *a, const ac_sim_spec *s) {
  const char *k = ac_build_folder(a, s->kernel_src);
  if (s->form != AC_SIM_MSOPGEN) return k;
  const char *up = ac_build_folder(a, k);
  return !strcmp(up, ac_build_folder(a, ac_build_folder(a, s->host_src))) && up[1] ? up : k;
}

static ac_sim_spec own_spec(ac_arena *a, const ac_sim_spec *s) {
  ac_sim_spec o = *s;
  o.op = ac_strdup(a, s->op);
  o.op_type = s->op_type ? ac_strdup(a, s->op_type) : NULL;
  o.kernel_src = ac_strdup(a, s->kernel_src);
  o.host_src = s->host_src ? ac_strdup(a, s->host_src) : NULL;
  return o;
}

static ac_sim_lib *build_all(ac_builder *b) {
  if (!find_compiler(b)) return NULL;
  b->root = root_of(b->a, b->s);
  b->cache = cache_dir(b->a);
  if (b->cache) prune(b);
  if (!b->cache) b->cache = b->scratch; /* no home, or a read-only one: compile every time */
  ac_sim_lib *lib = AC_NEW(b->a, ac_sim_lib);
  lib->spec = own_spec(b->a, b->s);
  lib->root = b->root;
  if (b->s->form == AC_SIM_KERNEL) {
    lib->kernel_so = AC_NEW(b->a, const char *);
    lib->n_kernels = 1;
    if (!(lib->kernel_so[0] = ac_build_kernel(b))) return NULL;
    lib->host_code = b->host_code;
    lib->sandbox_missing = b->missing;
    return lib;
  }
  const char *described = NULL;
  if (b->s->form == AC_SIM_MSOPGEN && !build_host(b, lib, &described)) return NULL;
  if (!build_kernels(b, lib, described)) return NULL;
  lib->host_code = b->host_code;
  lib->sandbox_missing = b->missing;
  return lib;
}

ac_sim_lib *ac_sim_build(ac_arena *a, const ac_sim_spec *s, ac_diags *d) {
  ac_builder b = {.a = a, .d = d, .s = s};
  if (!readable(&b, s->kernel_src)) return NULL;
  if (s->form == AC_SIM_MSOPGEN && !readable(&b, s->host_src)) return NULL;
  b.headers = ac_home_path(a, "sim/include");
  if (!b.headers) {
    ac_diag *x = ac_error(d, AC0108, AC_NOLOC, "the simulator's headers (sim/include) are not installed");
    ac_help(d, x, "set ASCENDCRAFT_HOME to the source folder or reinstall");
    return NULL;
  }
  if (!(b.scratch = ac_temp_dir(a, d))) return NULL;
  ac_sim_lib *lib = build_all(&b);
  if (b.cache != b.scratch) ac_staging_abandon(b.scratch); /* or 64 builds would be all that a process can make */
  return lib;
}

/* ascendcraft-trace: loads the host's libpython (3.9 or later), whichever it is, and runs the tracer in it.
 *
 * Nothing here is linked to Python. The plugin actrace.so is built on the stable ABI; its undefined Py* symbols bind to the libpython
 * that was loaded before it. Everything it says goes to standard output as one JSON object. */
#include "base/base.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

enum { OLDEST = 9, NEWEST = 14 };

typedef struct {
  ac_arena *arena;
  ac_diags diags;
  ac_buf tried;
} finder;

/* The answer when Python did not get to give one. */
static int fail(finder *f) {
  json_t *all = json_object();
  json_object_set_new(all, "diags", ac_diags_json(&f->diags));
  fputs(ac_json_text(f->arena, all), stdout);
  json_decref(all);
  return ac_diags_exit(&f->diags);
}

/* "3.11.2" of a loaded libpython; false if it is too old. May be asked before Python starts. */
static bool usable(void *lib, char version[32]) {
  const char *(*get)(void) = NULL;
  *(void **)&get = dlsym(lib, "Py_GetVersion");
  if (!get) return false;
  snprintf(version, 32, "%s", get());
  version[strcspn(version, " +")] = 0;
  int major = 0, minor = 0;
  return sscanf(version, "%d.%d", &major, &minor) == 2 && major == 3 && minor >= OLDEST;
}

static void *try_library(finder *f, const char *path) {
  char version[32] = "";
  void *lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (!lib) {
    const char *e = dlerror();
    if (strchr(path, '/')) ac_printf(&f->tried, "%s%s", f->tried.len ? "; " : "", e ? e : path);
    return NULL;
  }
  if (usable(lib, version)) return lib;
  ac_printf(&f->tried, "%s%s is Python %s", f->tried.len ? "; " : "", path,
            *version ? version : "of an unknown version");
  dlclose(lib);
  return NULL;
}

/* Libraries that match, newest Python first as far as the name tells. */
static void *try_pattern(finder *f, const char *pattern) {
  glob_t g = {0};
  void *lib = NULL;
  if (!glob(pattern, GLOB_TILDE, NULL, &g))
    for (size_t i = g.gl_pathc; i > 0 && !lib; i--) lib = try_library(f, g.gl_pathv[i - 1]);
  globfree(&g);
  return lib;
}

static void *try_folders(finder *f, int minor) {
  static const char *const folders[] = {"/usr/lib",         "/usr/lib64", "/usr/lib/*-linux-gnu",   "/usr/local/lib",
                                        "/usr/local/lib64", "/opt/*/lib", "~/.pyenv/versions/*/lib"};
  static const char *const roots[][2] = {{"PYENV_ROOT", "versions/*/lib"}, {"CONDA_PREFIX", "lib"}};
  void *lib = NULL;
  for (size_t i = 0; i < AC_COUNT(folders) && !lib; i++)
    lib = try_pattern(f, ac_sprintf(f->arena, "%s/libpython3.%d.so*", folders[i], minor));
  for (size_t i = 0; i < AC_COUNT(roots) && !lib; i++) {
    const char *root = getenv(roots[i][0]);
    if (root && *root)
      lib = try_pattern(f, ac_sprintf(f->arena, "%s/%s/libpython3.%d.so*", root, roots[i][1], minor));
  }
  return lib;
}

static void *search(finder *f) {
  void *lib = NULL;
  for (int minor = NEWEST; minor >= OLDEST && !lib; minor--)
    lib = try_library(f, ac_sprintf(f->arena, "libpython3.%d.so.1.0", minor));
  for (int minor = NEWEST; minor >= OLDEST && !lib; minor--) lib = try_folders(f, minor);
  return lib;
}

static void *named(finder *f, const char *path) {
  if (!ac_is_dir(path)) return try_library(f, path);
  void *lib = NULL;
  for (int minor = NEWEST; minor >= OLDEST && !lib; minor--) {
    lib = try_pattern(f, ac_sprintf(f->arena, "%s/libpython3.%d.so*", path, minor));
    if (!lib) lib = try_pattern(f, ac_sprintf(f->arena, "%s/lib/libpython3.%d.so*", path, minor));
  }
  return lib;
}

static void *find_python(finder *f, const char *option) {
  const char *env = getenv("ASCENDCRAFT_LIBPYTHON");
  const char *wish = option ? option : env && *env ? env : NULL;
  void *lib = wish ? named(f, wish) : search(f);
  if (lib) return lib;
  ac_diag *e;
  if (wish)
    e = ac_error(&f->diags, AC0213, AC_NOLOC, "%s is not a usable Python library: %s", wish, ac_buf_str(&f->tried));
  else
    e = ac_error(&f->diags, AC0213, AC_NOLOC, "no shared library of Python 3.%d or later on this host%s%s", OLDEST,
                 f->tried.len ? ": " : "", ac_buf_str(&f->tried));
  ac_help(&f->diags, e,
          "install one (Debian, Ubuntu: apt install libpython3.11), or name one with --libpython=FILE or "
          "$ASCENDCRAFT_LIBPYTHON (built with --enable-shared)");
  return NULL;
}

/* The program name from which Python finds its library: in isolated mode it looks at nothing else of the host. A libpython in an odd
 * place has its own standard library some folders up; without one, what was compiled in decides. */
static char *program_name(finder *f, void *lib) {
  char version[32];
  int minor = 0;
  Dl_info info;
  usable(lib, version);
  if (sscanf(version, "3.%d", &minor) != 1 || !dladdr(dlsym(lib, "Py_GetVersion"), &info)) return "python3";
  char *at = ac_absolute(f->arena, info.dli_fname);
  for (char *slash; (slash = strrchr(at, '/')) && slash != at;) {
    *slash = 0;
    if (ac_exists(ac_sprintf(f->arena, "%s/lib/python3.%d/os.py", at, minor)))
      return ac_sprintf(f->arena, "%s/bin/python3", at);
  }
  return "python3";
}

typedef int (*append_fn)(const char *, void *(*)(void));
typedef int (*main_fn)(int, char **);

static int run_python(finder *f, void *lib, int argc, char **argv) {
  const char *env = getenv("ASCENDCRAFT_TRACE_PLUGIN");
  const char *plugin_path = env && *env ? env : ac_home_path(f->arena, "actrace.so");
  char *script = ac_home_path(f->arena, "data/tracer/main.py");
  void *plugin = plugin_path ? dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!plugin || !script) {
    ac_error(&f->diags, AC0108, AC_NOLOC, "ascendcraft-trace cannot find %s%s%s",
             plugin ? "data/tracer/main.py (see $ASCENDCRAFT_HOME)" : "its plugin actrace.so",
             plugin || !plugin_path ? "" : ": ", plugin || !plugin_path ? "" : dlerror());
    return fail(f);
  }
  append_fn append = NULL;
  main_fn python_main = NULL;
  void *(*init)(void) = NULL;
  *(void **)&append = dlsym(lib, "PyImport_AppendInittab");
  *(void **)&python_main = dlsym(lib, "Py_BytesMain");
  *(void **)&init = dlsym(plugin, "PyInit__ascendcraft");
  if (!append || !python_main || !init || append("_ascendcraft", init)) {
    ac_error(&f->diags, AC0214, AC_NOLOC, "this libpython lacks what an embedded Python needs");
    return fail(f);
  }
  char **args = AC_NEW_N(f->arena, char *, argc + 8);
  int n = 0;
  args[n++] = program_name(f, lib);
  args[n++] = "-I"; /* no environment, no user site, not the script's folder */
  args[n++] = "-S"; /* no site-packages */
  args[n++] = "-B"; /* writes no .pyc */
  args[n++] = script;
  for (int i = 0; i < argc; i++) args[n++] = argv[i];
  return python_main(n, args);
}

static const char usage[] =
    "usage: ascendcraft-trace [--libpython=FILE] [--class=NAME] [--shape=INPUT=SIZES[:DTYPE]]... [--dtype=DTYPE] "
    "[--init=LITERAL]\n"
    "                         [--timeout=SECONDS] [--memory=BYTES] FILE.py\n"
    "Traces the PyTorch module in FILE.py and prints its graph, or what is wrong, as JSON.\n"
    "       ascendcraft-trace --print-python      the version of the Python library that would be used\n";

static bool option(const char *arg, const char *name, const char **value) {
  size_t n = strlen(name);
  if (strncmp(arg, name, n) != 0 || arg[n] != '=') return false;
  *value = arg + n + 1;
  return true;
}

int main(int argc, char **argv) {
  finder f = {.arena = ac_arena_new()};
  ac_diags_init(&f.diags, f.arena);
  ac_buf_init(&f.tried, f.arena);
  const char *lib_path = NULL;
  bool print = false;
  int at = 1;
  for (; at < argc; at++) {
    if (!strcmp(argv[at], "--help")) return fputs(usage, stdout) < 0;
    if (!strcmp(argv[at], "--version")) return puts("ascendcraft-trace " AC_VERSION) < 0;
    if (!strcmp(argv[at], "--print-python"))
      print = true;
    else if (!option(argv[at], "--libpython", &lib_path))
      break;
  }
  if (at == argc && !print) {
    fputs(usage, stderr);
    return AC_BAD_INPUT;
  }
  void *lib = find_python(&f, lib_path);
  if (!lib) return fail(&f);
  if (print) {
    char version[32];
    usable(lib, version);
    puts(version);
    return AC_OK;
  }
  return run_python(&f, lib, argc - at, argv + at);
}

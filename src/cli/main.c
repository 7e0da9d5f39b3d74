/* The command `ascendcraft`: options in, the public API called, messages and results out. */
#include "ascendcraft/ascendcraft.h"
#include "base/base.h"
#include "cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  OPT_FIRST = 1000,
#define OPT(id, name, letter, arg, cmds, help) id,
#include "cli/options.def"
#undef OPT
  OPT_END
};
typedef struct {
  int id;
  const char *name;
  char letter;
  const char *arg, *commands, *help;
} option_row;
static const option_row option_table[] = {
#define OPT(id, name, letter, arg, cmds, help) {id, name, letter, arg, cmds, help},
#include "cli/options.def"
#undef OPT
};
typedef struct {
  char letter;
  const char *name, *argument, *summary, *more;
} command_row;
static const command_row command_table[] = {
#define CMD(letter, name, arg, summary, more) {letter, name, arg, summary, more},
#include "cli/commands.def"
#undef CMD
};

enum { MAX_LIST = 64 };
typedef enum { AUTO, ALWAYS, NEVER } when;
typedef struct {
  const char *values[MAX_LIST];
  int n;
} list;
typedef struct {
  ac_gen_options gen;
  ac_verify_options verify;
  ac_run_options run;
  ac_profile_options profile;
  ac_format_options format;
  ac_run_argument given[MAX_LIST];
  list shapes, formats, tunes, tiling, tiling_headers, includes, defines;
  bool json, quiet;
  when colour;
} arguments;

static void usage(FILE *f) {
  fprintf(f, "usage: ascendcraft COMMAND [OPTIONS] ARGUMENT\n\n");
  for (size_t i = 0; i < AC_COUNT(command_table); i++)
    fprintf(f, "  %-8s %s\n", command_table[i].name, command_table[i].summary);
  fprintf(f, "\n`ascendcraft COMMAND --help` lists a command's options.\n"
             "exit: 0 ok, 1 verification or check failed, 2 bad input or usage, 3 unsupported, 4 a limit was hit, 5 "
             "our own fault\n");
}

static void command_help(const command_row *c) {
  printf("usage: ascendcraft %s [OPTIONS] %s\n\n%s\n\noptions:\n", c->name, c->argument, c->more);
  for (size_t i = 0; i < AC_COUNT(option_table); i++) {
    const option_row *o = &option_table[i];
    char left[64];
    if (!strchr(o->commands, c->letter)) continue;
    snprintf(left, sizeof left, "--%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
    printf("  %c%c%c %-26s %s\n", o->letter ? '-' : ' ', o->letter ? o->letter : ' ', o->letter ? ',' : ' ', left,
           o->help);
  }
  printf("\nexit: 0 ok, 1 verification or check failed, 2 bad input or usage, 3 unsupported, 4 a limit was hit, 5 "
         "our own fault\n");
}

/* What is wrong with the command line: to standard error, and kept for the object of --json. */
static char complaint[400];
static bool complain(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(complaint, sizeof complaint, fmt, ap);
  va_end(ap);
  fprintf(stderr, "ascendcraft: %s\n", complaint);
  return false;
}

static bool number(const char *name, const char *text, double *v) {
  char *end;
  errno = 0;
  *v = strtod(text, &end);
  if (end != text && !*end && !errno && *v >= 0 && *v < 9e15) return true;
  return complain("--%s: '%s' is not a number from 0 on", name, text);
}
/* All 64 bits: tiling keys are written like 10000000000000001101. */
static bool whole(const char *name, const char *text, uint64_t *v) {
  char *end;
  errno = 0;
  *v = strtoull(text, &end, 0);
  if (*text >= '0' && *text <= '9' && !*end && !errno) return true;
  return complain("--%s: '%s' is not a whole number from 0 to 2^64 - 1", name, text);
}
static bool add(list *l, const char *v) {
  if (l->n == MAX_LIST) return complain("an option was given more than %d times", MAX_LIST);
  l->values[l->n++] = v;
  return true;
}

static bool choice(const char *name, const char *text, const char *const *words, int n, int *v) {
  for (*v = 0; *v < n; ++*v)
    if (!strcmp(text, words[*v])) return true;
  char all[120] = "";
  for (int i = 0; i < n; i++)
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? (i + 1 == n ? " or " : ", ") : "", words[i]);
  return complain("--%s is %s, not '%s'", name, all, text);
}
static bool give(arguments *a, ac_give kind, const char *v) {
  if (a->run.n_args == MAX_LIST) return complain("more than %d arguments for the kernel", MAX_LIST);
  a->given[a->run.n_args++] = (ac_run_argument){kind, v};
  return true;
}

/* Options of a run, for `run`, `profile` and, a few, `verify`; as take. */
static bool take_run(arguments *a, int id, const char *v) {
  static const char *const hazards[] = {"on", "strict", "off"}, *const orders[] = {"forward", "reverse"},
                           *const results[] = {"up", "down", "mixed"}, *const overflows[] = {"inf", "saturate"};
  double x = 0;
  int k = 0;
  switch (id) {
  case OPT_ENTRY: a->run.entry = v; break;
  case OPT_IN: return give(a, AC_GIVE_IN, v);
  case OPT_OUT: return give(a, AC_GIVE_OUT, v);
  case OPT_INOUT: return give(a, AC_GIVE_INOUT, v);
  case OPT_WORKSPACE: return give(a, AC_GIVE_WORKSPACE, v);
  case OPT_ARG: return give(a, AC_GIVE_SCALAR, v);
  case OPT_BLOCKS:
    if (!number("blocks", v, &x)) return false;
    a->run.blocks = (int64_t)x;
    break;
  case OPT_TILING: return add(&a->tiling, v);
  case OPT_TILING_KEY: return whole("tiling-key", v, &a->run.tiling_key);
  case OPT_TILING_STRUCT: a->run.tiling_struct = v; break;
  case OPT_TILING_HEADER: return add(&a->tiling_headers, v);
  case OPT_INCLUDE: return add(&a->includes, v);
  case OPT_DEFINE: return add(&a->defines, v);
  case OPT_OPTIMISE: a->run.optimise = true; break;
  case OPT_HAZARDS:
    if (!choice("hazards", v, hazards, 3, &k)) return false;
    a->run.hazards = (ac_hazard_check)k;
    a->verify.hazards = k;
    break;
  case OPT_PERTURB:
    if (!choice("perturb", v, results, 3, &k)) return false;
    a->run.perturb = (ac_results)(k + 1);
    break;
  case OPT_HALF_OVERFLOW:
    if (!choice("half-overflow", v, overflows, 2, &k)) return false;
    a->run.half_overflow = (ac_half_overflow)(k + 1);
    break;
  case OPT_SAMPLE:
    if (!number("sample-blocks", v, &x)) return false;
    a->run.sample_blocks = a->verify.sample_blocks = (int64_t)x;
    break;
  case OPT_ORDER:
    if (!choice("order", v, orders, 2, &k)) return false;
    a->run.reverse = k == 1;
    break;
  case OPT_THREADS:
    if (!number("threads", v, &x)) return false;
    a->run.threads = (int)x;
    break;
  case OPT_DETERMINISTIC: a->run.deterministic = true; break;
  case OPT_RUN_TIMEOUT: return number("timeout", v, &a->run.timeout);
  case OPT_TRACE: a->profile.trace = v; break;
  case OPT_PLOT: a->profile.plot = v; break;
  case OPT_TRACE_BLOCKS:
    if (!number("trace-blocks", v, &x)) return false;
    a->profile.trace_blocks = (int64_t)x;
    break;
  case OPT_TRACE_SPANS:
    if (!number("trace-spans", v, &x)) return false;
    a->profile.trace_spans = (int64_t)x;
    break;
  default: break;
  }
  return true;
}

/* Takes one option; false: the message is out. */
static bool take(arguments *a, int id, const char *v) {
  static const char *const colours[] = {[AUTO] = "auto", [ALWAYS] = "always", [NEVER] = "never"};
  double x = 0;
  int k = 0;
  switch (id) {
  case OPT_OUTPUT: a->gen.output = v; break;
  case OPT_FORCE: a->gen.force = true; break;
  case OPT_TARGET: a->gen.target = v; break;
  case OPT_SHAPE: return add(&a->shapes, v);
  case OPT_DTYPE: a->gen.dtype = v; break;
  case OPT_FORMAT: return add(&a->formats, v);
  case OPT_TUNE: return add(&a->tunes, v);
  case OPT_NAME: a->gen.name = v; break;
  case OPT_CLASS: a->gen.class_name = v; break;
  case OPT_INIT: a->gen.init = v; break;
  case OPT_NO_VERIFY: a->gen.no_verify = true; break;
  case OPT_DUMP: a->gen.dump = v; break;
  case OPT_LIBPYTHON: a->gen.libpython = v; break;
  case OPT_TIMEOUT: return number("trace-timeout", v, &a->gen.trace_timeout);
  case OPT_MAX_ELEMENTS:
    if (!number("max-elements", v, &x)) return false;
    a->gen.max_elements = a->verify.max_elements = (int64_t)x;
    break;
  case OPT_SEED:
    if (!number("seed", v, &x)) return false;
    a->gen.seed = a->verify.seed = (uint64_t)x;
    break;
  case OPT_ONLY: a->verify.only = true; break;
  case OPT_ALL: a->verify.all = true; break;
  case OPT_CHECK: a->format.check = true; break;
  case OPT_JSON: a->json = true; break;
  case OPT_QUIET: a->quiet = true; break;
  case OPT_VERBOSE: a->gen.verbose = true; break;
  case OPT_COLOUR:
    if (!choice("color", v, colours, 3, &k)) return false;
    a->colour = (when)k;
    break;
  default: return take_run(a, id, v);
  }
  return true;
}

/* Options of one command for getopt_long; `shorts` has room for two characters an option. */
static void getopt_rows(const command_row *c, struct option *rows, char *shorts) {
  size_t n = 0;
  *shorts++ = ':'; /* a missing value is told apart */
  for (size_t i = 0; i < AC_COUNT(option_table); i++) {
    const option_row *o = &option_table[i];
    if (!strchr(o->commands, c->letter)) continue;
    rows[n++] = (struct option){o->name, o->arg ? required_argument : no_argument, NULL, o->id};
    if (o->letter) *shorts++ = o->letter;
    if (o->letter && o->arg) *shorts++ = ':';
  }
  rows[n] = (struct option){0};
  *shorts = 0;
}
static int option_id(int got) {
  for (size_t i = 0; i < AC_COUNT(option_table); i++)
    if (option_table[i].letter && option_table[i].letter == got) return option_table[i].id;
  return got;
}

/* What getopt_long refuses: an option without its value, one with a value too many, or none that the command has. */
static void refuse_option(int k, const struct option *rows, const char *given) {
  size_t n = strcspn(given, "=");
  const char *names[AC_COUNT(option_table)];
  size_t count = 0;
  bool known = false;
  for (; rows[count].name; count++) {
    names[count] = rows[count].name;
    known = known ||
            (!strncmp(given, "--", 2) && strlen(names[count]) == n - 2 && !memcmp(names[count], given + 2, n - 2));
  }
  const char *near = !strncmp(given, "--", 2) ? ac_nearest(given + 2, names, count) : NULL;
  if (k == ':')
    complain("option %s needs a value", given);
  else if (known)
    complain("option %.*s takes no value", (int)n, given);
  else if (near)
    complain("there is no option %.*s; did you mean --%s?", (int)n, given, near);
  else
    complain("there is no option %.*s", (int)n, given);
}

/* -1: go on; otherwise the exit code. */
static int parse(const command_row *c, int argc, char **argv, arguments *a) {
  struct option rows[AC_COUNT(option_table) + 1];
  char shorts[2 * AC_COUNT(option_table) + 2];
  getopt_rows(c, rows, shorts);
  opterr = 0;
  for (int k; (k = getopt_long(argc, argv, shorts, rows, NULL)) != -1;) {
    int id = option_id(k);
    if (k == '?' || k == ':') {
      refuse_option(k, rows, argv[optind - 1]);
      fprintf(stderr, "`ascendcraft %s --help` lists the options\n", c->name);
      return AC_EXIT_BAD_INPUT;
    }
    if (id == OPT_HELP) {
      command_help(c);
      return AC_EXIT_OK;
    }
    if (id == OPT_VERSION) {
      printf("ascendcraft %s\n", ac_version());
      return AC_EXIT_OK;
    }
    if (!take(a, id, optarg)) return AC_EXIT_BAD_INPUT;
  }
  int n = argc - optind; /* "X...": one or more, "[X]": one or none */
  if (n != 1 && !(n > 1 && strstr(c->argument, "...")) && !(n == 0 && c->argument[0] == '[')) {
    complain(n ? "one %s at a time" : "no %s is given", c->argument);
    fprintf(stderr, "usage: ascendcraft %s [OPTIONS] %s\n", c->name, c->argument);
    return AC_EXIT_BAD_INPUT;
  }
  a->format.files = (const char *const *)argv + optind;
  a->format.n_files = n;
  a->gen.input = a->verify.project = argv[optind];
  a->gen.shapes = a->verify.shapes = a->shapes.values;
  a->gen.n_shapes = a->verify.n_shapes = a->shapes.n;
  a->gen.formats = a->verify.formats = a->formats.values;
  a->gen.n_formats = a->verify.n_formats = a->formats.n;
  a->gen.tunes = a->tunes.values;
  a->gen.n_tunes = a->tunes.n;
  a->run.input = argv[optind];
  a->run.source = a->gen;
  a->run.formats = a->formats.values;
  a->run.n_formats = a->formats.n;
  a->run.args = a->given;
  a->run.tiling = a->tiling.values;
  a->run.n_tiling = a->tiling.n;
  a->run.tiling_headers = a->tiling_headers.values;
  a->run.n_tiling_headers = a->tiling_headers.n;
  a->run.include_dirs = a->includes.values;
  a->run.n_include_dirs = a->includes.n;
  a->run.defines = a->defines.values;
  a->run.n_defines = a->defines.n;
  return -1;
}

static bool colour_for(const arguments *a, FILE *f) {
  if (a->colour != AUTO) return a->colour == ALWAYS;
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  return isatty(fileno(f)) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

static int dispatch(ac_context *x, const command_row *c, const arguments *a) {
  switch (c->letter) {
  case 'G': return ac_generate(x, &a->gen);
  case 'T': return ac_trace_file(x, &a->gen);
  case 'C': return ac_check_file(x, &a->gen);
  case 'L': return ac_lower_file(x, &a->gen);
  case 'V': return ac_verify_project(x, &a->verify);
  case 'F': return ac_format_files(x, &a->format);
  case 'E': return ac_explain(x, a->gen.input);
  case 'P': return ac_profile_run(x, &a->run, &a->profile);
  default: return ac_run(x, &a->run);
  }
}

/* Whoever asked for an object gets one, even of a command line that is wrong. Found before getopt_long changes the order of argv. */
static bool wants_json(int argc, char **argv) {
  for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
    if (!strcmp(argv[i], "--json")) return true;
  return false;
}
static int usage_error(const command_row *c, int rc, bool json) {
  ac_context *x = json && rc != AC_EXIT_OK ? ac_context_new() : NULL;
  if (!x) return rc;
  ac_cli_fresh(x, c->name);
  ac_diag *e = ac_error(&x->diags, AC0103, AC_NOLOC, "%s", complaint);
  ac_help(&x->diags, e, "`ascendcraft %s --help` lists the options", c->name);
  x->exit = rc;
  fputs(ac_context_json(x), stdout);
  ac_context_free(x);
  return rc;
}

static int command(const command_row *c, int argc, char **argv) {
  arguments a = {0};
  bool json = wants_json(argc, argv);
  int rc = parse(c, argc, argv, &a);
  if (rc >= 0) return usage_error(c, rc, json);
  ac_signals_install();
  ac_context *x = ac_context_new();
  if (!x) {
    fprintf(stderr, "ascendcraft: out of memory\n");
    return AC_EXIT_LIMIT;
  }
  if (a.json) a.gen.dump_to = stderr; /* standard output holds one JSON object */
  a.verify.colour = colour_for(&a, stdout) && !a.json;
  if (!a.json && !a.quiet && isatty(STDERR_FILENO)) ac_context_progress(x, stderr);
  rc = dispatch(x, c, &a);
  int err = 0; /* of the write that failed: what follows has its own */
  if (a.json) {
    if (fputs(ac_context_json(x), stdout) == EOF || fflush(stdout)) err = errno;
  } else {
    if ((!a.quiet && fputs(ac_context_text(x), stdout) == EOF) || fflush(stdout)) err = errno;
    if (!a.quiet || rc)
      ac_context_print(x, stderr, colour_for(&a, stderr)); /* quiet: no warnings of what went well */
  }
  if (err || ferror(stdout)) {
    fprintf(stderr, "ascendcraft: cannot write to standard output%s%s\n", err ? ": " : "", err ? strerror(err) : "");
    rc = rc ? rc : AC_EXIT_BAD_INPUT;
  }
  ac_context_free(x);
  return rc;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    usage(stderr);
    return AC_EXIT_BAD_INPUT;
  }
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
    usage(stdout);
    return AC_EXIT_OK;
  }
  if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version")) {
    printf("ascendcraft %s\n", ac_version());
    return AC_EXIT_OK;
  }
  const char *names[AC_COUNT(command_table)];
  for (size_t i = 0; i < AC_COUNT(command_table); i++) {
    names[i] = command_table[i].name;
    if (!strcmp(argv[1], names[i])) return command(&command_table[i], argc - 1, argv + 1);
  }
  const char *near = ac_nearest(argv[1], names, AC_COUNT(names));
  fprintf(stderr, "ascendcraft: no command '%s'", argv[1]);
  if (near) fprintf(stderr, "; did you mean '%s'?", near);
  fprintf(stderr, "\n\n");
  usage(stderr);
  return AC_EXIT_BAD_INPUT;
}

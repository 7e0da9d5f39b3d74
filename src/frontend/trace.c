/* ac_trace: starts ascendcraft-trace in a sandbox and reads its answer. */
#include "frontend/frontend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_TIMEOUT 20.0
#define DEFAULT_MEMORY (2ull << 30)
#define GRACE 3.0 /* seconds for the child to say by itself where it was */

/* ---- shapes on the command line ---- */

bool ac_parse_shape(ac_arena *a, const char *text, ac_shape_override *s, ac_diags *d) {
  const char *eq = strchr(text, '='), *colon = eq ? strchr(eq, ':') : NULL;
  AC_VEC(int64_t) dims = {0};
  bool ok = eq && eq > text;
  *s = (ac_shape_override){.dtype = AC_NODTYPE};
  for (const char *p = ok ? eq + 1 : ""; ok && *p && p != colon;) {
    char *end;
    errno = 0;
    long long n = strtoll(p, &end, 10);
    ok = end != p && n >= 0 && !errno && (*end == ',' || *end == 0 || end == colon) && dims.len < AC_MAX_RANK;
    ac_push(a, &dims, n);
    p = *end == ',' ? end + 1 : end;
  }
  if (ok && colon) ok = (s->dtype = ac_dtype_of(colon + 1)) != AC_NODTYPE;
  if (!ok) {
    ac_diag *e = ac_error(d, AC0103, AC_NOLOC, "bad shape '%s'", text);
    ac_help(
        d, e,
        "write NAME=7,1003, or NAME=7,1003:float16; NAME= is a single number (rank 0); at most %d sizes of 64 bits",
        AC_MAX_RANK);
    return false;
  }
  s->input = ac_strndup(a, text, (size_t)(eq - text));
  s->rank = (int)dims.len;
  s->dims = dims.data;
  return true;
}

static const char *shape_option(ac_arena *a, const ac_shape_override *s) {
  ac_buf b;
  ac_buf_init(&b, a);
  ac_printf(&b, "--shape=%s=", s->input);
  for (int i = 0; i < s->rank; i++) ac_printf(&b, "%s%lld", i ? "," : "", (long long)s->dims[i]);
  if (s->dtype != AC_NODTYPE) ac_printf(&b, ":%s", ac_dtypes[s->dtype].name);
  return ac_buf_str(&b);
}

/* ---- the child ---- */

/* $ASCENDCRAFT_TRACE, else where the installation or the build has it, else what PATH has. */
static const char *find_tracer(ac_arena *a) {
  const char *env = getenv("ASCENDCRAFT_TRACE");
  if (env && *env) return env;
  char *home = ac_home_path(a, "ascendcraft-trace");
  return home && !access(home, X_OK) ? home : "ascendcraft-trace";
}

static ac_strvec arguments(ac_arena *a, const char *file, const ac_trace_opts *o, double timeout, uint64_t memory) {
  ac_strvec v = {0};
  ac_push(a, &v, find_tracer(a));
  if (o->libpython) ac_push(a, &v, ac_sprintf(a, "--libpython=%s", o->libpython));
  if (o->class_name) ac_push(a, &v, ac_sprintf(a, "--class=%s", o->class_name));
  if (o->dtype != AC_NODTYPE) ac_push(a, &v, ac_sprintf(a, "--dtype=%s", ac_dtypes[o->dtype].name));
  if (o->init) ac_push(a, &v, ac_sprintf(a, "--init=%s", o->init));
  for (size_t i = 0; i < o->shapes.len; i++) ac_push(a, &v, shape_option(a, &o->shapes.data[i]));
  ac_push(a, &v, ac_sprintf(a, "--timeout=%g", timeout));
  ac_push(a, &v, ac_sprintf(a, "--memory=%llu", (unsigned long long)memory));
  ac_push(a, &v, file);
  ac_push(a, &v, NULL);
  return v;
}

/* ---- its diagnostics ---- */

static const char *text_of(const json_t *j, const char *key) {
  return json_string_value(json_object_get(j, key));
}

static ac_loc loc_of(ac_arena *a, const json_t *j) {
  const char *file = text_of(j, "file");
  if (!file) return AC_NOLOC;
  return (ac_loc){.file = ac_strdup(a, file),
                  .line = (int)json_integer_value(json_object_get(j, "line")),
                  .col = (int)json_integer_value(json_object_get(j, "column")),
                  .end_col = (int)json_integer_value(json_object_get(j, "end_column"))};
}

static ac_code code_of(const char *name) {
  for (int c = 0; name && c < AC_DIAG_COUNT; c++)
    if (!strcmp(ac_code_name((ac_code)c), name)) return (ac_code)c;
  return AC0214;
}

static void take_diag(const json_t *j, ac_diags *d) {
  const char *severity = text_of(j, "severity"), *message = text_of(j, "message");
  ac_loc loc = loc_of(d->arena, j);
  bool warning = severity && !strcmp(severity, "warning");
  ac_code code = code_of(text_of(j, "code"));
  ac_diag *x = warning ? ac_warn(d, code, loc, "%s", message ? message : "")
                       : ac_error(d, code, loc, "%s", message ? message : "");
  size_t i;
  json_t *e;
  json_array_foreach(json_object_get(j, "notes"), i, e)
      ac_note(d, x, loc_of(d->arena, e), "%s", text_of(e, "message"));
  json_array_foreach(json_object_get(j, "help"), i, e) ac_help(d, x, "%s", json_string_value(e));
}

/* ---- when it died without an answer ---- */

/* faulthandler's innermost line of the user's file: `  File "/a/op.py", line 7 in forward`. */
static ac_loc last_line(ac_arena *a, const char *err, const char *file) {
  char *mark = ac_sprintf(a, "File \"%s\", line ", file);
  const char *at = strstr(err, mark);
  if (!at) return (ac_loc){.file = file};
  return (ac_loc){.file = file, .line = atoi(at + strlen(mark))};
}

/* What the tracer wrote to its error stream beside notes on missing layers of the sandbox; "" when that is all. */
static const char *beside_sandbox(const char *err) {
  while (!strncmp(err, "sandbox:", 8)) {
    const char *end = strchr(err, '\n');
    if (!end) return "";
    err = end + 1;
  }
  return err;
}

static void no_answer(ac_arena *a, const ac_proc *p, const char *file, double timeout, uint64_t memory, ac_diags *d) {
  ac_loc loc = last_line(a, p->err, file);
  ac_diag *e;
  bool late = p->timed_out || p->signal == 24 /* SIGXCPU */ || strstr(p->err, "Timeout (");
  if (!p->started) {
    e = ac_error(d, AC0108, AC_NOLOC, "%s", p->err);
    ac_help(d, e, "ascendcraft-trace belongs beside the command; $ASCENDCRAFT_TRACE names another place");
  } else if (late) {
    e = ac_error(d, AC0207, loc, "still running after %g s", timeout);
    ac_help(d, e, "does this line end? --trace-timeout raises the limit");
  } else if (p->signal == 9 || p->status == AC_LIMIT || strstr(p->err, "MemoryError") ||
             strstr(p->err, "out of memory")) {
    e = ac_error(d, AC0208, loc, "the file needs more than %llu MiB", (unsigned long long)(memory >> 20));
    ac_help(d, e, "tensors cost nothing while tracing; Python lists and bytes do");
  } else if (p->signal) {
    e = ac_error(d, AC0214, loc, "Python was killed by signal %d (%s)", p->signal, strsignal(p->signal));
    ac_help(d, e,
            "try another Python library with --libpython; if it happens again, please report it with this file");
  } else if (!*beside_sandbox(p->err)) { /* a fault of ours leaves a traceback */
    e = ac_error(d, AC0209, loc, "the file ended Python (status %d) or closed the tracer's files", p->status);
    ac_help(d, e, "tracing only needs the module: leave out os._exit(), os.close() and writing to file descriptors");
  } else {
    e = ac_error(d, AC0214, loc, "the tracer ended with status %d and no answer: %.400s", p->status,
                 beside_sandbox(p->err));
    ac_help(d, e, "please report this with the file");
  }
}

/* ---- its graph ---- */

static void take_info(ac_arena *a, const json_t *j, ac_module_info *m) {
  *m = (ac_module_info){.file = ac_strdup(a, text_of(j, "file")),
                        .text = ac_strdup(a, text_of(j, "text")),
                        .class_name = ac_strdup(a, text_of(j, "class")),
                        .class_first = (int)json_integer_value(json_object_get(j, "first")),
                        .class_last = (int)json_integer_value(json_object_get(j, "last")),
                        .result = ac_strdup(a, text_of(j, "result")),
                        .python = ac_strdup(a, text_of(j, "python"))};
  size_t i;
  json_t *e;
  json_array_foreach(json_object_get(j, "args"), i, e) {
    const char *literal = text_of(e, "literal");
    ac_forward_arg arg = {.name = ac_strdup(a, text_of(e, "name")),
                          .path = ac_strdup(a, text_of(e, "path")),
                          .input = (int)json_integer_value(json_object_get(e, "input")),
                          .literal = literal ? ac_strdup(a, literal) : NULL};
    ac_push(a, &m->args, arg);
  }
}

static bool info_is_whole(const json_t *j) {
  static const char *const keys[] = {"file", "text", "class", "result", "python"};
  for (size_t i = 0; i < AC_COUNT(keys); i++)
    if (!text_of(j, keys[i])) return false;
  size_t i;
  json_t *e;
  json_array_foreach(json_object_get(j, "args"), i, e) if (!text_of(e, "name") || !text_of(e, "path")) return false;
  return true;
}

static ac_graph *take_answer(ac_arena *a, const json_t *j, const ac_trace_opts *o, ac_diags *d) {
  size_t i;
  int before = d->errors;
  json_t *e;
  json_array_foreach(json_object_get(j, "diags"), i, e) take_diag(e, d);
  const json_t *graph = json_object_get(j, "graph"), *info = json_object_get(j, "info");
  if (!graph || d->errors > before) return NULL;
  if (!info_is_whole(info)) {
    ac_error(d, AC0214, AC_NOLOC, "the tracer's answer lacks what it says of the module");
    return NULL;
  }
  if (o->info) take_info(a, info, o->info);
  return ac_graph_from_json(a, graph, d);
}

ac_graph *ac_trace(ac_arena *a, const char *py_file, const ac_trace_opts *options, ac_diags *d) {
  ac_trace_opts o = options ? *options : AC_TRACE_DEFAULTS;
  double timeout = o.timeout > 0 ? o.timeout : DEFAULT_TIMEOUT;
  uint64_t memory = o.memory ? o.memory : DEFAULT_MEMORY;
  size_t len = 0;
  char *text = ac_read_file(a, py_file, 0, &len, d);
  if (!text) return NULL;
  const char *file = ac_absolute(a, py_file);
  ac_diags_source(d, file, text);
  ac_strvec argv = arguments(a, file, &o, timeout, memory);
  static const char *const nothing[] = {NULL};
  ac_proc_spec spec = {
      .argv = argv.data,
      .timeout = timeout + GRACE,
      .max_output = 1u << 30,
      .sandbox = {.on = true,
                  .memory = memory,
                  .cpu_seconds = (int)timeout + (int)GRACE,
                  .processes = 1,
                  .writable = nothing}}; /* what may be read, the child limits once it knows its Python */
  ac_proc p;
  ac_proc_run(a, &spec, &p);
  if (p.sandbox_missing) ac_warn(d, AC0216, AC_NOLOC, "%s", ac_sandbox_missing(a, p.sandbox_missing));
  json_t *j = p.out_len ? json_loadb(p.out, p.out_len, 0, NULL) : NULL;
  ac_graph *g = NULL;
  if (!j)
    no_answer(a, &p, file, timeout, memory, d);
  else
    g = take_answer(a, j, &o, d);
  json_decref(j);
  return g;
}

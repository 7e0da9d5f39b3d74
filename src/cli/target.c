/* Targets that know their tensors themselves: projects and programs; and what every target does. */
#include "cli/target.h"
#include "ascendcraft.h"
#include "cli/npy.h"
#include "verify/project.h"

#include <ctype.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

const ac_chip *ac_target_chip(ac_arena *a, const char *name, ac_diags *d) {
  return ac_chip_load(a, name ? name : "ascend910b2", d);
}

const char *const *ac_target_list(ac_arena *a, const char *const *v, int n) {
  const char **to = AC_NEW_N(a, const char *, n + 1);
  for (int i = 0; i < n; i++) to[i] = v[i];
  return to;
}

bool ac_target_is_kernel(const char *path) {
  static const char *const tails[] = {".cpp", ".cc", ".cxx", ".asc", ".cce"};
  const char *dot = path ? strrchr(path, '.') : NULL;
  for (size_t i = 0; dot && i < AC_COUNT(tails); i++)
    if (!strcmp(dot, tails[i])) return true;
  return false;
}

static bool is_pipe(const char *path) {
  struct stat st;
  return !stat(path, &st) && S_ISFIFO(st.st_mode);
}
bool ac_target_no_named_pipe(const char *path, ac_diags *d) {
  struct statfs fs;
  return (is_pipe(path) && !statfs(path, &fs) && fs.f_type == PIPEFS_MAGIC) || ac_target_no_pipe(path, d);
}
bool ac_target_no_pipe(const char *path, ac_diags *d) {
  if (!is_pipe(path)) return true;
  ac_diag *x = ac_error(d, AC0101, (ac_loc){.file = path}, "it is a pipe, a file is due");
  ac_help(d, x, "write what comes from it into a file first");
  return false;
}

/* ---- tensors ---- */

/* All of a tensor is touched in the end, if only to be written to its file: more than the host has would take others down with it. */
static bool has_room(const ac_target *t, const ac_sim_tensor *x, ac_diags *d) {
  int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE), host, all = x->bytes;
  if (pages <= 0 || page <= 0 || __builtin_mul_overflow(pages, page, &host)) return true;
  bool fits = true;
  for (int i = 0; i < t->n && fits; i++) fits = !__builtin_add_overflow(all, t->tensors[i].bytes, &all);
  if (fits && all <= host) return true;
  ac_diag *e = ac_error(d, AC0805, AC_NOLOC, "%s needs %lld bytes%s; this host has %lld bytes of memory", x->name,
                        (long long)x->bytes, t->n ? ", besides the tensors before it" : "", (long long)host);
  ac_help(d, e, "run a smaller shape");
  return false;
}

bool ac_target_tensor(ac_target *t, ac_sim_tensor x, const char *save, ac_diags *d) {
  int64_t n = 1;
  bool none = false, fits = true;
  for (int i = 0; i < x.rank; i++) none |= x.shape[i] == 0;
  for (int i = 0; i < x.rank && !none && fits; i++) fits = !__builtin_mul_overflow(n, x.shape[i], &n);
  if (none) n = 0;
  if (!fits) {
    ac_error(d, AC0103, AC_NOLOC, "the shape of %s has more elements than 64 bits can count", x.name);
    return false;
  }
  fits = !__builtin_mul_overflow(n, (int64_t)ac_dtypes[x.dtype].bytes, &x.bytes);
  if (fits && !has_room(t, &x, d)) return false;
  if (!fits || !(x.data = ac_sim_alloc(x.bytes))) {
    ac_diag *e = ac_error(d, AC0805, AC_NOLOC, "no memory for the %lld elements of %s", (long long)n, x.name);
    ac_help(d, e, "run a smaller shape");
    return false;
  }
  t->save[t->n] = save;
  t->tensors[t->n++] = x;
  return true;
}

static void room(ac_arena *a, ac_target *t, size_t tensors, size_t attrs) {
  t->tensors = AC_NEW_N(a, ac_sim_tensor, tensors + 1);
  t->save = AC_NEW_N(a, const char *, tensors + 1);
  t->attrs = AC_NEW_N(a, ac_sim_attr, attrs + 1);
}

static ac_sim_tensor of_value(ac_arena *a, const char *name, const ac_value *v) {
  ac_shape s = ac_value_example(v);
  ac_sim_tensor t = {.name = name ? name : ac_sprintf(a, "v%d", v->id), .dtype = v->dtype, .rank = s.rank};
  memcpy(t.shape, s.dim, sizeof(int64_t) * (size_t)s.rank);
  return t;
}

static void scalar(ac_target *t, const ac_input *in) {
  ac_dclass cls = ac_dtypes[in->value->dtype].cls;
  t->attrs[t->n_attrs++] = (ac_sim_attr){.name = in->name,
                                         .kind = cls == AC_FLOATING ? AC_ATTR_F : AC_ATTR_I,
                                         .f = in->scalar,
                                         .i = (int64_t)in->scalar};
}

/* Of a graph with its sizes settled. */
static bool graph_tensors(ac_arena *a, const ac_graph *g, uint64_t seed, ac_target *t, ac_diags *d) {
  t->graph = g;
  room(a, t, g->inputs.len + g->outputs.len, g->inputs.len);
  for (size_t i = 0; i < g->inputs.len; i++) {
    const ac_input *in = &g->inputs.data[i];
    if (in->role == AC_IN_SCALAR) {
      scalar(t, in);
      continue;
    }
    if (!ac_target_tensor(t, of_value(a, in->name, in->value), NULL, d)) return false;
    if (!ac_gen_input(g, (int)i, seed, t->tensors[t->n - 1].data, d)) return false;
  }
  for (size_t i = 0; i < g->outputs.len; i++) {
    ac_sim_tensor x = of_value(a, g->outputs.data[i].name, g->outputs.data[i].value);
    x.output = true;
    if (!ac_target_tensor(t, x, NULL, d)) return false;
  }
  return true;
}

/* "FILE[:DTYPE]": the path, and the dtype or AC_NODTYPE. A file that is there under the whole name is meant. */
static const char *split_dtype(ac_arena *a, const char *text, ac_dtype *as) {
  const char *colon = strrchr(text, ':');
  *as = colon && !ac_exists(text) ? ac_dtype_of(colon + 1) : AC_NODTYPE;
  return *as == AC_NODTYPE ? text : ac_strndup(a, text, (size_t)(colon - text));
}

/* ---- a project ---- */

/* Shapes of the module's own example, or those of --shape, or of the files of --in. */
static const ac_graph *with_shapes(ac_arena *a, const ac_graph *g, const ac_run_options *o, ac_diags *d) {
  ac_shape *s = AC_NEW_N(a, ac_shape, g->inputs.len + 1);
  for (size_t i = 0; i < g->inputs.len; i++) s[i] = ac_value_example(g->inputs.data[i].value);
  int file = 0;
  for (size_t i = 0; i < g->inputs.len; i++) {
    if (g->inputs.data[i].role == AC_IN_SCALAR) continue;
    while (file < o->n_args && o->args[file].kind != AC_GIVE_IN) file++;
    if (file == o->n_args) break;
    ac_npy h;
    ac_dtype as;
    const char *path = split_dtype(a, o->args[file++].text, &as);
    if (!ac_npy_open(a, path, as, &h, d)) return NULL;
    s[i] = (ac_shape){.rank = h.rank};
    memcpy(s[i].dim, h.shape, sizeof(int64_t) * (size_t)h.rank);
  }
  for (int k = 0; k < o->source.n_shapes; k++) {
    ac_shape_override x;
    bool found = false;
    if (!ac_parse_shape(a, o->source.shapes[k], &x, d)) return NULL;
    for (size_t i = 0; i < g->inputs.len && !found; i++) {
      char at[24];
      snprintf(at, sizeof at, "%zu", i);
      if (strcmp(x.input, g->inputs.data[i].name) != 0 && strcmp(x.input, at) != 0) continue;
      s[i] = (ac_shape){.rank = x.rank};
      for (int j = 0; j < x.rank && j < AC_MAX_RANK; j++) s[i].dim[j] = x.dims[j];
      found = true;
    }
    if (!found) {
      ac_error(d, AC0103, AC_NOLOC, "--shape: no input '%s'", x.input);
      return NULL;
    }
  }
  return ac_graph_respecialise(a, g, s, d);
}

static bool project_form(const ac_run_options *o, const ac_vproject *p, ac_sim_form *form, ac_diags *d) {
  const char *want = o->n_formats ? o->formats[0] : NULL;
  *form = want ? (strcmp(want, "direct") ? AC_SIM_MSOPGEN : AC_SIM_DIRECT)
               : (p->has[AC_SIM_MSOPGEN] ? AC_SIM_MSOPGEN : AC_SIM_DIRECT);
  if (want && strcmp(want, "direct") != 0 && strcmp(want, "msopgen") != 0) {
    ac_error(d, AC0103, AC_NOLOC,
             "'%s' cannot be run by itself: msopgen and direct can, the others hold the same text", want);
    return false;
  }
  if (p->has[*form]) return true;
  ac_error(d, AC0901, (ac_loc){.file = o->input}, "the project does not hold the format %s",
           *form == AC_SIM_DIRECT ? "direct" : "msopgen");
  return false;
}

bool ac_target_project(ac_arena *a, const ac_run_options *o, ac_target *t, ac_diags *d) {
  ac_vproject p;
  ac_sim_form form;
  *t = (ac_target){0};
  if (!ac_vproject_read(a, o->input, &p, d) || !project_form(o, &p, &form, d)) return false;
  /* the same generic project on another chip: its tiling code asks for the chip's cores and memories */
  if (o->source.target && !(p.chip = ac_chip_load(a, o->source.target, d))) return false;
  ac_sim_spec spec = {.form = form,
                      .op = p.op,
                      .op_type = p.op_type,
                      .kernel_src = p.kernel[form],
                      .host_src = p.host[form],
                      .chip = p.chip,
                      .opt = 1};
  t->name = p.op;
  t->chip = p.chip;
  const ac_graph *g = with_shapes(a, p.graph, o, d);
  if (!g || !graph_tensors(a, g, o->source.seed, t, d) || !ac_target_files(a, o, t, d)) return false;
  t->lib = ac_sim_build(a, &spec, d);
  return t->lib != NULL;
}

/* ---- a program, without a compiler ---- */

/* Does the user's name mean the tensor? What C++ takes for itself has an underscore more. */
static bool names(const char *said, const char *tensor) {
  size_t n = strlen(said);
  return !strncmp(said, tensor, n) && (!tensor[n] || !strcmp(tensor + n, "_"));
}

static bool shape_for(ac_arena *a, const ac_gen_options *o, const char *name, ac_sim_tensor *t, ac_diags *d) {
  for (int k = 0; k < o->n_shapes; k++) {
    ac_shape_override x;
    if (!ac_parse_shape(a, o->shapes[k], &x, d)) return false;
    if (!names(x.input, name)) continue;
    t->rank = x.rank;
    for (int i = 0; i < x.rank && i < AC_MAX_RANK; i++) t->shape[i] = x.dims[i];
    return true;
  }
  return false;
}

static bool all_shapes_used(ac_arena *a, const ac_program *p, const ac_gen_options *o, ac_diags *d) {
  for (int k = 0; k < o->n_shapes; k++) {
    ac_shape_override x;
    bool found = false;
    if (!ac_parse_shape(a, o->shapes[k], &x, d)) return false;
    for (size_t i = 0; i < p->tensors.len; i++) found |= names(x.input, p->tensors.data[i].name);
    if (found) continue;
    ac_error(d, AC0103, AC_NOLOC, "--shape: no tensor '%s'", x.input);
    return false;
  }
  return true;
}

static void fill(ac_sim_tensor *t, uint64_t seed) {
  int64_t n = t->bytes / ac_dtypes[t->dtype].bytes, inner = t->rank ? t->shape[t->rank - 1] : 1;
  if (ac_values_fill(AC_VALUES_NORMAL, t->dtype, seed, inner, t->data, n)) return;
  for (int64_t i = 0; i < n; i++) ac_store_int(t->dtype, t->data, i, (int64_t)((uint64_t)i * 7 + seed) % 11);
}

/* `y: tl.out[...]`: inputs come before outputs, so what it follows from is known. */
static bool said_shape(ac_arena *a, const ac_program *p, const ac_sim_compiled *c, const ac_target *t,
                       ac_sim_tensor *x, int at, ac_diags *d) {
  ac_sim_tensor *all = AC_NEW_N(a, ac_sim_tensor, p->tensors.len + 1);
  for (int k = 0; k < at; k++) all[k] = t->tensors[k];
  ac_sim_attr none = {0};
  if (!ac_sim_output_shapes(a, c, all, (int)p->tensors.len, &none, 0, d)) return false;
  x->rank = all[at].rank;
  memcpy(x->shape, all[at].shape, sizeof x->shape);
  return true;
}

/* A DSL program has no graph: --shape says the shapes; a tensor without one has what the program says, or is shaped like the first. */
static bool plain_tensors(ac_arena *a, const ac_program *p, const ac_gen_options *o, ac_target *t, ac_diags *d) {
  room(a, t, p->tensors.len, 0);
  ac_sim_compiled *c = NULL; /* for shapes that the program says; once */
  if (!all_shapes_used(a, p, o, d)) return false;
  for (size_t i = 0; i < p->tensors.len; i++) {
    const ac_aparam *w = &p->tensors.data[i];
    ac_sim_tensor x = {.name = w->name,
                       .dtype = w->dtype,
                       .output = w->dir != AC_TENSOR_IN,
                       .also_input = w->dir == AC_TENSOR_INOUT};
    bool given = shape_for(a, o, w->name, &x, d);
    if (!given && w->dims) {
      if (!c) c = ac_sim_compile(a, p, d);
      if (!c || !said_shape(a, p, c, t, &x, (int)i, d)) return false;
    } else if (!given) {
      if (!i) {
        ac_diag *e = ac_error(d, AC0103, w->loc, "a DSL program does not say how large its tensors are");
        ac_help(d, e, "give the shape of %s, and of every tensor that has another: --shape %s=7,1003", w->name,
                w->name);
        return false;
      }
      x.rank = t->tensors[0].rank;
      memcpy(x.shape, t->tensors[0].shape, sizeof x.shape);
    }
    if (!ac_target_tensor(t, x, NULL, d)) return false;
    if (w->dir != AC_TENSOR_OUT) fill(&t->tensors[t->n - 1], o->seed + i);
  }
  return true;
}

bool ac_target_program(ac_arena *a, const ac_program *p, const ac_graph *traced, const ac_run_options *o,
                       ac_target *t, ac_diags *d) {
  *t = (ac_target){.program = p, .chip = p->chip, .name = p->op};
  if (!traced) return plain_tensors(a, p, &o->source, t, d) && ac_target_files(a, o, t, d);
  ac_run_options files = *o;
  files.source.n_shapes = 0; /* the trace has taken those of --shape */
  const ac_graph *g = with_shapes(a, traced, &files, d);
  return g && graph_tensors(a, g, o->source.seed, t, d) && ac_target_files(a, o, t, d);
}

/* ---- files ---- */

bool ac_target_read(ac_arena *a, ac_target *t, const char *text, bool inout, const char *name, ac_diags *d) {
  ac_dtype as;
  const char *path = split_dtype(a, text, &as), *save = NULL, *colon = strrchr(path, ':');
  if (inout && as == AC_NODTYPE && colon && !ac_exists(path)) {
    save = colon + 1;
    path = split_dtype(a, ac_strndup(a, path, (size_t)(colon - path)), &as);
  }
  ac_npy h;
  if (!ac_npy_open(a, path, as, &h, d)) return false;
  ac_sim_tensor x = {.name = name ? name : ac_basename(path),
                     .dtype = h.dtype,
                     .rank = h.rank,
                     .output = inout,
                     .also_input = inout};
  memcpy(x.shape, h.shape, sizeof(int64_t) * (size_t)h.rank);
  if (!ac_target_tensor(t, x, !inout ? NULL : save ? save : path, d)) return false;
  return ac_npy_load(path, &h, t->tensors[t->n - 1].data, d);
}

/* "FILE:DTYPE:8000" or ":16x500" */
bool ac_target_output(ac_arena *a, ac_target *t, const char *text, const char *name, ac_diags *d) {
  const char *last = strrchr(text, ':'), *dtype = last;
  while (dtype && dtype > text && dtype[-1] != ':') dtype--;
  ac_sim_tensor x = {.output = true, .dtype = AC_NODTYPE};
  if (last && dtype > text) x.dtype = ac_dtype_of(ac_strndup(a, dtype, (size_t)(last - dtype)));
  const char *p = last ? last + 1 : "";
  bool ok = x.dtype != AC_NODTYPE;
  while (ok && *p && x.rank < AC_MAX_RANK) {
    char *end;
    ok = isdigit((unsigned char)*p);
    long long v = strtoll(p, &end, 10);
    ok = ok && v >= 0 && (!*end || ((*end == 'x' || *end == ',') && end[1]));
    x.shape[x.rank++] = v;
    p = *end ? end + 1 : end;
  }
  if (!ok || *p) {
    ac_diag *e = ac_error(d, AC0103, AC_NOLOC, "--out %s: a file, a dtype and a shape are due", text);
    ac_help(d, e, "such as --out y.npy:float32:16x500 (dtypes: float32, float16, bfloat16, int32, ...)");
    return false;
  }
  char *path = ac_strndup(a, text, (size_t)(dtype - 1 - text));
  for (int i = 0; i < t->n; i++)
    if (t->save[i] && !strcmp(t->save[i], path)) {
      ac_error(d, AC0103, AC_NOLOC, "--out %s: another output goes to that file", text);
      return false;
    }
  x.name = name ? name : ac_basename(path);
  return ac_target_tensor(t, x, path, d);
}

static bool same_shape(const ac_sim_tensor *x, const ac_npy *h) {
  return x->rank == h->rank && !memcmp(x->shape, h->shape, sizeof(int64_t) * (size_t)h->rank);
}

/* The file's values for a tensor that is there already. */
static bool replace(ac_arena *a, ac_sim_tensor *x, const char *text, ac_diags *d) {
  ac_dtype as;
  const char *path = split_dtype(a, text, &as);
  ac_npy h;
  if (!ac_npy_open(a, path, as, &h, d)) return false;
  if (h.dtype != x->dtype) {
    ac_diag *e = ac_error(d, AC0103, (ac_loc){.file = path}, "%s is %s, the file holds %s", x->name,
                          ac_dtypes[x->dtype].name, ac_dtypes[h.dtype].name);
    if (ac_dtypes[h.dtype].bytes == ac_dtypes[x->dtype].bytes)
      ac_help(d, e, "if that is what its bits mean: --in %s:%s", path, ac_dtypes[x->dtype].name);
    return false;
  }
  if (!same_shape(x, &h)) {
    ac_error(d, AC0103, (ac_loc){.file = path}, "the file's shape is not that of %s", x->name);
    return false;
  }
  return ac_npy_load(path, &h, x->data, d);
}

bool ac_target_files(ac_arena *a, const ac_run_options *o, ac_target *t, ac_diags *d) {
  int in = 0, out = 0;
  for (int i = 0; i < o->n_args; i++) {
    const ac_run_argument *x = &o->args[i];
    if (x->kind == AC_GIVE_IN) {
      while (in < t->n && t->tensors[in].output && !t->tensors[in].also_input) in++;
      if (in == t->n) break;
      if (!replace(a, &t->tensors[in++], x->text, d)) return false;
    } else if (x->kind == AC_GIVE_OUT) {
      while (out < t->n && !t->tensors[out].output) out++;
      if (out == t->n) break;
      t->save[out++] = x->text;
    } else {
      ac_error(d, AC0103, AC_NOLOC,
               "--inout, --workspace and --arg are for a kernel's source: %s knows what it takes", o->input);
      return false;
    }
  }
  int n_in = 0, n_out = 0, g_in = 0, g_out = 0;
  for (int i = 0; i < t->n; i++)
    n_in += !t->tensors[i].output || t->tensors[i].also_input, n_out += t->tensors[i].output;
  for (int i = 0; i < o->n_args; i++) g_in += o->args[i].kind == AC_GIVE_IN, g_out += o->args[i].kind == AC_GIVE_OUT;
  if (g_in <= n_in && g_out <= n_out) return true;
  ac_error(d, AC0103, AC_NOLOC, "%s has %d inputs and %d outputs; --in was given %d times, --out %d", t->name, n_in,
           n_out, g_in, g_out);
  return false;
}

/* ---- every target ---- */

ac_hazards ac_hazards_of(ac_hazard_check c) {
  return c == AC_CHECK_OFF ? AC_HAZARDS_OFF : c == AC_CHECK_STRICT ? AC_HAZARDS_STRICT : AC_HAZARDS_ON;
}

ac_sim_opts ac_target_opts(const ac_run_options *o) {
  return (ac_sim_opts){.order = o->reverse ? AC_ORDER_REVERSE : AC_ORDER_FORWARD,
                       .threads = o->threads,
                       .deterministic = o->deterministic,
                       .timeout = o->timeout,
                       .hazards = ac_hazards_of(o->hazards),
                       .sample = o->sample_blocks,
                       .sample_seed = o->source.seed,
                       .perturb = (ac_perturb)o->perturb,
                       .perturb_seed = o->source.seed,
                       .overflow = (ac_overflow)o->half_overflow};
}

bool ac_target_run(ac_arena *a, const ac_target *t, const ac_sim_opts *opts, ac_sim_result *r, ac_diags *d) {
  if (t->program)
    return ac_sim_run_program(a, t->program, t->chip, t->tensors, t->n, t->attrs, t->n_attrs, opts, r, d);
  if (t->is_kernel) return ac_sim_run_kernel(a, t->lib, t->tensors, t->n, &t->launch, opts, r, d);
  return ac_sim_run(a, t->lib, t->tensors, t->n, t->attrs, t->n_attrs, opts, r, d);
}

bool ac_target_save(ac_arena *a, const ac_target *t, ac_diags *d) {
  for (int i = 0; i < t->n; i++) {
    const ac_sim_tensor *x = &t->tensors[i];
    if (t->save[i] && !ac_npy_save(a, t->save[i], x->dtype, x->rank, x->shape, x->data, d)) return false;
  }
  return true;
}

void ac_target_close(ac_target *t) {
  for (int i = 0; i < t->n; i++) ac_sim_dealloc(t->tensors[i].data, t->tensors[i].bytes);
  t->n = 0;
}

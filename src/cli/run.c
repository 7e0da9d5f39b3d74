/* `ascendcraft run`: one launch of a project, or of a program without a compiler, with what it did and what came out. */
#include "ascendcraft.h"
#include "cli/cli.h"

#include <math.h>
#include <string.h>

typedef struct {
  ac_graph *graph; /* concrete */
  const ac_chip *chip;
  ac_sim_spec spec;
} run_project;

static const char *text_of(const json_t *j, const char *key) {
  return json_string_value(json_object_get(j, key));
}

static char *inside(ac_arena *a, const char *dir, const json_t *form, const char *key) {
  const char *p = text_of(form, key);
  return p ? ac_path_join(a, dir, p) : NULL;
}

static bool load(ac_arena *a, const ac_verify_options *o, run_project *p, ac_diags *d) {
  size_t n;
  char *path = ac_path_join(a, o->project, "manifest.json");
  char *text = ac_read_file(a, path, 0, &n, d);
  json_t *m = text ? ac_json_parse(path, text, n, d) : NULL;
  if (!m) return false;
  const json_t *forms = json_object_get(m, "formats");
  bool direct = o->n_formats ? !strcmp(o->formats[0], "direct") : !json_object_get(forms, "msopgen");
  const json_t *form = json_object_get(forms, direct ? "direct" : "msopgen");
  const char *chip = text_of(m, "chip"), *op = text_of(m, "op"), *type = text_of(m, "op_type");
  if (json_is_object(m) && form && !json_object_get(m, "graph")) {
    ac_diag *x =
        ac_error(d, AC0901, (ac_loc){.file = path},
                 "the project was made from a DSL program: nothing says on which shapes and values to run it");
    ac_help(d, x, "generate it from a PyTorch module to have it run");
    json_decref(m);
    return false;
  }
  ac_graph *g = ac_graph_from_json(a, json_object_get(m, "graph"), d);
  if (!g || !form || !chip || !op || !type) {
    ac_diag *x = ac_error(d, AC0901, (ac_loc){.file = path}, "the manifest lacks %s",
                          !g      ? "a graph"
                          : !form ? "that format"
                                  : "the operator's names");
    ac_help(d, x, "write the project again with `ascendcraft gen`");
    json_decref(m);
    return false;
  }
  p->chip = ac_chip_load(a, chip, d);
  p->spec = (ac_sim_spec){.form = direct ? AC_SIM_DIRECT : AC_SIM_MSOPGEN,
                          .op = ac_strdup(a, op),
                          .op_type = ac_strdup(a, type),
                          .kernel_src = inside(a, o->project, form, "kernel"),
                          .host_src = inside(a, o->project, form, "host"),
                          .chip = p->chip,
                          .opt = 1};
  p->graph = g;
  json_decref(m);
  return p->chip != NULL;
}

/* Input shapes: the module's own, or those of --shape. */
static bool shapes(ac_arena *a, const ac_verify_options *o, run_project *p, ac_diags *d) {
  const ac_graph *g = p->graph;
  ac_shape *s = AC_NEW_N(a, ac_shape, g->inputs.len + 1);
  for (size_t i = 0; i < g->inputs.len; i++) s[i] = ac_value_example(g->inputs.data[i].value);
  for (int k = 0; k < o->n_shapes; k++) {
    ac_shape_override x;
    bool found = false;
    if (!ac_parse_shape(a, o->shapes[k], &x, d)) return false;
    for (size_t i = 0; i < g->inputs.len && !found; i++) {
      char at[24];
      snprintf(at, sizeof at, "%zu", i);
      if (strcmp(x.input, g->inputs.data[i].name) != 0 && strcmp(x.input, at) != 0) continue;
      s[i] = (ac_shape){.rank = x.rank};
      for (int j = 0; j < x.rank; j++) s[i].dim[j] = x.dims[j];
      found = true;
    }
    if (!found) {
      ac_error(d, AC0103, AC_NOLOC, "--shape: no input '%s'", x.input);
      return false;
    }
  }
  p->graph = ac_graph_respecialise(a, g, s, d);
  return p->graph != NULL;
}

/* Without data (and with a message) where the host cannot hold it. */
static ac_sim_tensor tensor(ac_arena *a, const char *name, const ac_value *v, ac_diags *d) {
  ac_shape s = ac_value_example(v);
  ac_sim_tensor t = {.name = name ? name : ac_sprintf(a, "v%d", v->id), .dtype = v->dtype, .rank = s.rank};
  memcpy(t.shape, s.dim, sizeof(int64_t) * (size_t)s.rank);
  int64_t n = ac_shape_numel(&s);
  if (!__builtin_mul_overflow(n, (int64_t)ac_dtypes[v->dtype].bytes, &t.bytes)) t.data = ac_sim_alloc(t.bytes);
  if (!t.data) {
    ac_diag *x = ac_error(d, AC0805, AC_NOLOC, "no memory for the %lld elements of %s", (long long)n, t.name);
    ac_help(d, x, "run another shape: --shape NAME=DIMS");
  }
  return t;
}

static void describe(ac_buf *b, const ac_sim_tensor *t) {
  int64_t n = t->bytes / ac_dtypes[t->dtype].bytes, odd = 0;
  double lo = INFINITY, hi = -INFINITY, sum = 0;
  for (int64_t i = 0; i < n; i++) {
    double x = ac_load(t->dtype, t->data, i);
    if (!isfinite(x))
      odd++;
    else
      lo = fmin(lo, x), hi = fmax(hi, x), sum += x;
  }
  ac_printf(b, "  %s: %s, %lld elements", t->name, ac_dtypes[t->dtype].name, (long long)n);
  if (n > odd) ac_printf(b, ", from %g to %g, mean %g", lo, hi, sum / (double)(n - odd));
  if (odd) ac_printf(b, ", %lld not finite", (long long)odd);
  ac_puts(b, "\n");
}

static void report(ac_buf *b, const ac_sim_result *r, const ac_sim_tensor *t, int n) {
  if (r->refused) {
    ac_printf(b, "refused by the tiling code: %s\n", r->refused);
    return;
  }
  ac_printf(b,
            "launch (simulated): %lld blocks, tiling key %lld, %lld bytes of workspace, UB peak %lld bytes, %.3f s "
            "on this host\n",
            (long long)r->block_dim, (long long)r->tiling_key, (long long)r->workspace, (long long)r->ub_peak,
            r->wall);
  ac_time_line(b, &r->time);
  for (int i = 0; i < n; i++)
    if (t[i].output) describe(b, &t[i]);
  for (size_t i = 0; i < r->faults.len + r->warnings.len; i++) {
    bool fault = i < r->faults.len;
    const ac_sim_fault *f = fault ? &r->faults.data[i] : &r->warnings.data[i - r->faults.len];
    ac_printf(b, "%s %s: %s", fault ? "fault" : "warning", f->kind, f->message);
    if (f->file)
      ac_printf(b, " (%s:%d, block %lld, %lld times)", f->file, f->line, (long long)f->block, (long long)f->count);
    ac_puts(b, "\n");
  }
}

/* What a run gets: tensors in kernel order, scalars. */
typedef struct {
  ac_sim_tensor *t;
  int n;
  ac_sim_attr *attrs;
  int n_attrs;
} launch_args;

static void scalar(launch_args *x, const ac_input *in) {
  ac_dclass cls = ac_dtypes[in->value->dtype].cls;
  x->attrs[x->n_attrs++] = (ac_sim_attr){.name = in->name,
                                         .kind = cls == AC_FLOATING ? AC_ATTR_F : AC_ATTR_I,
                                         .f = in->scalar,
                                         .i = (int64_t)in->scalar};
}

/* Of a graph with its sizes settled. */
static bool graph_args(ac_arena *a, const ac_graph *g, uint64_t seed, launch_args *x, ac_diags *d) {
  x->t = AC_NEW_N(a, ac_sim_tensor, g->inputs.len + g->outputs.len + 1);
  x->attrs = AC_NEW_N(a, ac_sim_attr, g->inputs.len + 1);
  for (size_t i = 0; i < g->inputs.len; i++) {
    const ac_input *in = &g->inputs.data[i];
    if (in->role == AC_IN_SCALAR) {
      scalar(x, in);
      continue;
    }
    ac_sim_tensor *t = &x->t[x->n];
    *t = tensor(a, in->name, in->value, d);
    if (!t->data) return false;
    x->n++;
    if (!ac_gen_input(g, (int)i, seed, t->data, d)) return false;
  }
  for (size_t i = 0; i < g->outputs.len; i++) {
    ac_sim_tensor *t = &x->t[x->n];
    *t = tensor(a, g->outputs.data[i].name, g->outputs.data[i].value, d);
    if (!t->data) return false;
    t->output = true;
    x->n++;
  }
  return true;
}

/* Says what happened and lets the tensors go. */
static int finish(bool ok, const ac_sim_result *r, launch_args *x, ac_buf *text, json_t *result) {
  if (ok) {
    report(text, r, x->t, x->n);
    json_object_set_new(result, "run",
                        json_pack("{s:I, s:I, s:I, s:I, s:I, s:s?}", "blocks", (json_int_t)r->block_dim, "tiling_key",
                                  (json_int_t)r->tiling_key, "workspace", (json_int_t)r->workspace, "ub_peak",
                                  (json_int_t)r->ub_peak, "faults", (json_int_t)r->faults.len, "refused",
                                  r->refused));
    json_object_set_new(json_object_get(result, "run"), "time", ac_time_json(&r->time));
  }
  for (int i = 0; i < x->n; i++) ac_sim_dealloc(x->t[i].data, x->t[i].bytes);
  return !ok || r->faults.len ? AC_EXIT_FAILED : r->refused ? AC_EXIT_BAD_INPUT : AC_EXIT_OK;
}

int ac_run_once(ac_arena *a, const ac_verify_options *o, ac_buf *text, json_t *result, ac_diags *d) {
  run_project p = {0};
  launch_args x = {0};
  ac_sim_result r = {0};
  if (!load(a, o, &p, d) || !shapes(a, o, &p, d)) return AC_EXIT_BAD_INPUT;
  if (!graph_args(a, p.graph, o->seed, &x, d)) return finish(false, &r, &x, text, result), AC_EXIT_LIMIT;
  ac_sim_lib *lib = ac_sim_build(a, &p.spec, d);
  bool ok = lib && ac_sim_run(a, lib, x.t, x.n, x.attrs, x.n_attrs, &(ac_sim_opts){0}, &r, d);
  return finish(ok, &r, &x, text, result);
}

/* ---- a program, without a compiler ---- */

static bool shape_for(ac_arena *a, const ac_gen_options *o, const char *name, ac_sim_tensor *t, ac_diags *d) {
  for (int k = 0; k < o->n_shapes; k++) {
    ac_shape_override x;
    if (!ac_parse_shape(a, o->shapes[k], &x, d)) return false;
    if (strcmp(x.input, name) != 0) continue;
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
    for (size_t i = 0; i < p->tensors.len; i++) found |= !strcmp(x.input, p->tensors.data[i].name);
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

/* A DSL program has no graph: --shape says the shapes; a tensor without one is shaped like the first. */
static bool plain_args(ac_arena *a, const ac_program *p, const ac_gen_options *o, launch_args *x, ac_diags *d) {
  x->t = AC_NEW_N(a, ac_sim_tensor, p->tensors.len + 1);
  if (!all_shapes_used(a, p, o, d)) return false;
  for (size_t i = 0; i < p->tensors.len; i++) {
    const ac_aparam *w = &p->tensors.data[i];
    ac_sim_tensor t = {.name = w->name,
                       .dtype = w->dtype,
                       .output = w->dir != AC_TENSOR_IN,
                       .also_input = w->dir == AC_TENSOR_INOUT,
                       .bytes = ac_dtypes[w->dtype].bytes};
    if (!shape_for(a, o, w->name, &t, d)) {
      if (!i) {
        ac_diag *e = ac_error(d, AC0103, w->loc, "a DSL program does not say how large its tensors are");
        ac_help(d, e, "give the shape of %s, and of every tensor that has another: --shape %s=7,1003", w->name,
                w->name);
        return false;
      }
      t.rank = x->t[0].rank;
      memcpy(t.shape, x->t[0].shape, sizeof t.shape);
    }
    for (int k = 0; k < t.rank; k++)
      if (__builtin_mul_overflow(t.bytes, t.shape[k], &t.bytes)) t.bytes = -1;
    if (!(t.data = ac_sim_alloc(t.bytes))) {
      ac_error(d, AC0106, w->loc, "no memory for %s", w->name);
      return false;
    }
    x->t[x->n++] = t;
    if (w->dir != AC_TENSOR_OUT) fill(&t, o->seed + i);
  }
  return true;
}

int ac_run_program(ac_arena *a, const ac_program *p, const ac_graph *traced, const ac_gen_options *o, ac_buf *text,
                   json_t *result, ac_diags *d) {
  launch_args x = {0};
  ac_sim_result r = {0};
  const ac_graph *g = NULL;
  if (traced) {
    ac_shape *s = AC_NEW_N(a, ac_shape, traced->inputs.len + 1);
    for (size_t i = 0; i < traced->inputs.len; i++) s[i] = ac_value_example(traced->inputs.data[i].value);
    if (!(g = ac_graph_respecialise(a, traced, s, d))) return AC_EXIT_BAD_INPUT;
  }
  if (!(g ? graph_args(a, g, o->seed, &x, d) : plain_args(a, p, o, &x, d))) {
    finish(false, &r, &x, text, result);
    return d->errors ? AC_EXIT_BAD_INPUT : AC_EXIT_LIMIT;
  }
  bool ok = ac_sim_run_program(a, p, p->chip, x.t, x.n, x.attrs, x.n_attrs, NULL, &r, d);
  return finish(ok, &r, &x, text, result);
}

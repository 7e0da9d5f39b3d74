/* The public C API: the way through the program, module by module, as it is drawn in ascendcraft.h. */
#include "ascendcraft.h"
#include "cli/cli.h"
#include "cli/profile.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *ac_version(void) {
  return AC_VERSION;
}

void ac_cli_fresh(ac_context *c, const char *command) {
  if (c->result) json_decref(c->result);
  ac_arena_free(c->arena);
  c->arena = ac_arena_new();
  ac_diags_init(&c->diags, c->arena);
  ac_buf_init(&c->text, c->arena);
  c->messages = c->json_text = NULL;
  c->command = command;
  c->result = json_object();
  c->exit = AC_EXIT_OK;
}

ac_context *ac_context_new(void) {
  ac_context *c = calloc(1, sizeof *c);
  if (c) ac_cli_fresh(c, "");
  return c;
}
void ac_context_free(ac_context *c) {
  if (!c) return;
  json_decref(c->result);
  ac_arena_free(c->arena);
  free(c);
}
void ac_context_progress(ac_context *c, FILE *terminal) {
  c->progress = terminal;
}
void ac_context_print(ac_context *c, FILE *out, bool colour) {
  ac_diags_print(&c->diags, out, colour);
  const char *code = ac_cli_explained(c);
  if (code) fprintf(out, "`ascendcraft explain %s` says more\n", code);
}
const char *ac_context_text(ac_context *c) {
  return ac_buf_str(&c->text);
}

const char *ac_context_messages(ac_context *c) {
  if (c->messages) return c->messages;
  char *p = NULL;
  size_t n = 0;
  FILE *f = open_memstream(&p, &n);
  if (!f) return "";
  ac_diags_print(&c->diags, f, false);
  fclose(f);
  c->messages = ac_strdup(c->arena, p ? p : "");
  free(p);
  return c->messages;
}

const char *ac_context_json(ac_context *c) {
  if (c->json_text) return c->json_text;
  json_t *j = json_pack("{s:s, s:s, s:i, s:o}", "command", c->command, "version", AC_VERSION, "exit", c->exit,
                        "diagnostics", ac_diags_json(&c->diags));
  json_object_update(j, c->result);
  c->json_text = ac_json_text(c->arena, j);
  json_decref(j);
  return c->json_text;
}

int ac_cli_done(ac_context *c, int code) {
  int e = (int)ac_diags_exit(&c->diags);
  return c->exit = e ? e : code;
}

/* ---- names ---------------------------------------------------------------------------------------------- */

/* "my-op 2.py" -> "my_op_2": letters, digits and underscores, not beginning with a digit. */
static char *snake(ac_arena *a, const char *s, size_t n) {
  ac_buf b;
  ac_buf_init(&b, a);
  for (size_t i = 0; i < n; i++) {
    char ch = s[i];
    bool upper = isupper((unsigned char)ch);
    if (upper && i && islower((unsigned char)s[i - 1])) ac_puts(&b, "_");
    if (b.len == 0 && isdigit((unsigned char)ch)) ac_puts(&b, "op_");
    if (isalnum((unsigned char)ch))
      ac_printf(&b, "%c", tolower((unsigned char)ch));
    else if (b.len && b.data[b.len - 1] != '_')
      ac_puts(&b, "_");
  }
  while (b.len && b.data[b.len - 1] == '_') b.data[--b.len] = 0;
  return b.len ? ac_strdup(a, ac_buf_str(&b)) : ac_strdup(a, "op");
}
/* "max_pooling_2d_custom" -> "MaxPooling2dCustom", as msopgen spells types. */
static char *pascal(ac_arena *a, const char *s) {
  ac_buf b;
  ac_buf_init(&b, a);
  for (bool up = true; *s; s++) {
    if (*s == '_') {
      up = true;
      continue;
    }
    ac_printf(&b, "%c", up ? toupper((unsigned char)*s) : *s);
    up = false;
  }
  return ac_strdup(a, ac_buf_str(&b));
}
static bool ends_with(const char *s, const char *tail) {
  size_t n = strlen(s), m = strlen(tail);
  return n >= m && !strcmp(s + n - m, tail);
}

/* ---- the way through the program ------------------------------------------------------------------------------ */

typedef struct {
  const ac_gen_options *o;
  const ac_chip *chip;
  const char *op, *op_type;
  unsigned formats;
  bool plain_c;    /* --format c */
  ac_graph *graph; /* NULL: the input was a DSL program */
  ac_module_info info;
  const char *craft_text, *craft_name;
  ac_cmodule *module;
  ac_verdicts verdicts;
  ac_program *program;
} job;

static bool job_formats(ac_context *c, job *j) {
  for (int i = 0; i < j->o->n_formats; i++) {
    ac_format f;
    if (!strcmp(j->o->formats[i], "c")) {
      j->plain_c = true;
    } else if (!strcmp(j->o->formats[i], "all")) {
      j->formats = AC_FMT_ALL;
    } else if (ac_format_of(j->o->formats[i], &f)) {
      j->formats |= 1u << f;
    } else {
      ac_diag *x = ac_error(&c->diags, AC0103, AC_NOLOC, "unknown format '%s'", j->o->formats[i]);
      ac_help(&c->diags, x, "formats: msopgen, direct, six-string, direct-json, c, all (of AscendC)");
      return false;
    }
  }
  if (!j->formats && !j->plain_c) j->formats = AC_FMT_ALL;
  return true;
}

static bool job_start(ac_context *c, job *j, const ac_gen_options *o) {
  *j = (job){.o = o};
  const char *base;
  if (!o->input) {
    ac_error(&c->diags, AC0103, AC_NOLOC, "no input file");
    return false;
  }
  base = ac_basename(o->input);
  if (!ends_with(base, ".py") && !ends_with(base, ".craft")) {
    ac_diag *x = ac_error(&c->diags, AC0103, AC_NOLOC,
                          "'%s' is neither a PyTorch source (.py) nor a DSL program (.craft)", o->input);
    if (ends_with(base, ".onnx"))
      ac_help(&c->diags, x, "ONNX files are not read yet: write the module as PyTorch source");
    return false;
  }
  if (!job_formats(c, j)) return false;
  if (!(j->chip = ac_target_chip(c->arena, o->target, &c->diags))) return false;
  const char *name = o->name ? snake(c->arena, o->name, strlen(o->name))
                             : snake(c->arena, base, (size_t)(strrchr(base, '.') - base));
  j->op = ends_with(name, "_custom") ? name : ac_sprintf(c->arena, "%s_custom", name);
  j->op_type = pascal(c->arena, j->op);
  j->craft_name = ac_sprintf(c->arena, "%s.craft", j->op);
  return true;
}

static bool job_trace(ac_context *c, job *j) {
  const ac_gen_options *o = j->o;
  ac_trace_opts t = AC_TRACE_DEFAULTS;
  t.class_name = o->class_name;
  t.init = o->init;
  t.libpython = o->libpython;
  t.timeout = o->trace_timeout;
  t.info = &j->info;
  if (o->dtype && ((t.dtype = ac_dtype_of(o->dtype)) == AC_NODTYPE || ac_dtypes[t.dtype].cls != AC_FLOATING)) {
    ac_diag *x = ac_error(&c->diags, AC0103, AC_NOLOC, "--dtype: '%s' is not a floating dtype", o->dtype);
    ac_help(&c->diags, x, "kernels exist in float32, float16 and bfloat16");
    return false;
  }
  for (int i = 0; i < o->n_shapes; i++) {
    ac_shape_override s;
    if (!ac_parse_shape(c->arena, o->shapes[i], &s, &c->diags)) return false;
    ac_push(c->arena, &t.shapes, s);
  }
  j->graph = ac_trace(c->arena, o->input, &t, &c->diags);
  if (!j->graph) return false;
  json_object_set_new(c->result, "graph", ac_graph_to_json(j->graph));
  return true;
}

/* "tunables" of the result: what a tuner may choose. */
static void list_tunes(ac_context *c, const ac_cmodule *m) {
  if (!m->tunes.len) return;
  json_t *all = json_array();
  for (size_t i = 0; i < m->tunes.len; i++) {
    const ac_ctune *t = &m->tunes.data[i];
    json_t *choices = json_array();
    for (int k = 0; k < t->n_choices; k++) json_array_append_new(choices, json_integer(t->choices[k]));
    json_array_append_new(all, json_pack("{s:s, s:I, s:I, s:o, s:i}", "name", t->name, "value", (json_int_t)t->value,
                                         "default", (json_int_t)t->preset, "choices", choices, "line", t->loc.line));
  }
  json_object_set_new(c->result, "tunables", all);
}

/* What the planner built is printed and read back, so that messages cite the program that the user gets. */
static bool job_program(ac_context *c, job *j) {
  if (ends_with(j->o->input, ".craft")) {
    j->craft_name = j->o->input;
    size_t n;
    j->craft_text = ac_read_file(c->arena, j->o->input, 0, &n, &c->diags);
    if (!j->craft_text || !ac_craft_whole(j->craft_name, j->craft_text, n, &c->diags)) return false;
  } else {
    if (!job_trace(c, j)) return false;
    ac_cmodule *m = ac_plan(c->arena, j->graph, j->chip, &c->diags);
    if (!m) return false;
    j->craft_text = ac_craft_print(c->arena, m);
  }
  ac_diags_source(&c->diags, j->craft_name, j->craft_text);
  j->module = ac_craft_parse(c->arena, j->craft_name, j->craft_text, &c->diags);
  if (!j->module) return false;
  ac_craft_check_opts o = {.chip = j->chip, .tunes = j->o->tunes, .n_tunes = j->o->n_tunes};
  bool ok = ac_craft_check(c->arena, j->module, &o, &c->diags) &&
            ac_craft_prove(c->arena, j->module, &o, &j->verdicts, &c->diags);
  list_tunes(c, j->module);
  return ok;
}

static bool job_lower(ac_context *c, job *j) {
  ac_lower_opts l = {.op = j->op,
                     .op_type = j->op_type,
                     .chip = j->chip,
                     .dump_after = j->o->dump,
                     .dump = j->o->dump_to ? j->o->dump_to : stdout};
  j->program = ac_lower(c->arena, j->module, &l, &c->diags);
  return j->program != NULL;
}

/* How ModelNew reaches each input of the kernel: "xs[0]", "cfg['scale']". */
static const char *const *job_paths(ac_context *c, const job *j) {
  const char **paths = AC_NEW_N(c->arena, const char *, j->graph->inputs.len + 1);
  for (size_t i = 0; i < j->info.args.len; i++) {
    const ac_forward_arg *x = &j->info.args.data[i];
    if (x->input >= 0) paths[x->input] = x->path;
  }
  return paths;
}

/* The C form as files of the project, below c/. */
static bool job_plain_c(ac_context *c, job *j, ac_emit_opts *e) {
  ac_plainc_text t;
  if (!ac_plainc(c->arena, j->program, &t, &c->diags)) return false;
  const struct {
    const char *name, *text;
  } files[] = {{"%s.c", t.source}, {"%s.h", t.header}, {"%s_main.c", t.driver}, {"README.md", t.readme}};
  ac_file *f = AC_NEW_N(c->arena, ac_file, AC_COUNT(files));
  for (size_t i = 0; i < AC_COUNT(files); i++) {
    const char *tail =
        strncmp(files[i].name, "%s", 2) ? files[i].name : ac_sprintf(c->arena, "%s%s", j->op, files[i].name + 2);
    f[i] = (ac_file){.path = ac_sprintf(c->arena, "c/%s", tail), .text = files[i].text, .len = strlen(files[i].text)};
  }
  e->extra = f;
  e->n_extra = (int)AC_COUNT(files);
  e->extra_note =
      "- `c/`: the same program as one file of portable C99, without an NPU; its README says how to run it\n";
  return true;
}

static bool job_emit(ac_context *c, job *j, ac_project *p) {
  ac_emit_opts e = {
      .formats = j->formats, .graph = j->graph, .craft_text = j->craft_text, .command = "ascendcraft gen"};
  if (j->plain_c && !job_plain_c(c, j, &e)) return false;
  if (j->graph) {
    e.source = j->info.text;
    e.source_name = ac_basename(j->o->input);
    e.class_name = j->info.class_name;
    e.result = j->info.result;
    e.paths = job_paths(c, j);
  }
  return ac_emit(c->arena, j->program, &e, p, &c->diags);
}

/* ---- commands ----------------------------------------------------------------------------------------------------- */

int ac_trace_file(ac_context *c, const ac_gen_options *o) {
  job j;
  ac_cli_fresh(c, "trace");
  if (!job_start(c, &j, o)) return ac_cli_done(c, AC_EXIT_BAD_INPUT);
  if (!ends_with(o->input, ".py")) {
    ac_error(&c->diags, AC0103, AC_NOLOC, "trace reads PyTorch source (.py), not '%s'", o->input);
    return ac_cli_done(c, AC_EXIT_BAD_INPUT);
  }
  if (job_trace(c, &j)) ac_puts(&c->text, ac_graph_text(c->arena, j.graph));
  return ac_cli_done(c, AC_EXIT_OK);
}

static void tell_verdicts(ac_context *c, const job *j, bool text) {
  static const char *const words[] = {"not proved", "proved", "refuted"};
  json_t *all = json_object();
  for (int q = 0; q < AC_CLAIM_COUNT; q++) {
    const char *word = words[j->verdicts.of[q]], *why = j->verdicts.why[q];
    json_t *one = json_pack("{s:s, s:s}", "verdict", word, "claim", ac_claim_texts[q]);
    if (why) json_object_set_new(one, "why", json_string(why));
    bool open = j->verdicts.of[q] == AC_VERDICT_UNKNOWN, asked = open && j->verdicts.asked[q],
         data = open && j->verdicts.data[q];
    const char *asks = asked
                           ? data ? "; the tiling code asks, but for what depends on data or on loops without a bound"
                                  : "; the tiling code asks"
                       : data ? "; data or a loop without a bound decides: only a run says"
                              : "";
    const char *given = j->verdicts.of[q] == AC_VERDICT_REFUTED ? NULL : j->verdicts.given[q];
    if (given) json_object_set_new(one, "given", json_string(given));
    if (asked) json_object_set_new(one, "asked_by_tiling", json_true());
    if (data) json_object_set_new(one, "left_to_runs", json_true());
    json_object_set_new(all, ac_claim_names[q], one);
    if (text)
      ac_printf(&c->text, "  %-10s %-8s %s%s%s%s%s%s\n", word, ac_claim_names[q], ac_claim_texts[q], why ? ": " : "",
                why ? why : "", asks, given ? "; " : "", given ? given : "");
  }
  json_object_set_new(c->result, "claims", all);
  json_object_set_new(c->result, "shapes_tried", json_integer(j->verdicts.shapes));
}

int ac_check_file(ac_context *c, const ac_gen_options *o) {
  job j;
  ac_cli_fresh(c, "check");
  if (!job_start(c, &j, o)) return ac_cli_done(c, AC_EXIT_BAD_INPUT);
  if (job_program(c, &j)) ac_printf(&c->text, "%s: no errors\n", o->input);
  if (j.module) tell_verdicts(c, &j, o->verbose);
  return ac_cli_done(c, AC_EXIT_OK);
}

static const char *project_text(const ac_project *p, const char *tail) {
  for (size_t i = 0; i < p->files.len; i++)
    if (ends_with(p->files.data[i].path, tail)) return p->files.data[i].text;
  return "";
}

/* --dump names a pass, or all, or memory. */
static bool known_dump(ac_context *c, const char *dump) {
  ac_strvec passes = ac_lower_passes(c->arena);
  ac_push(c->arena, &passes, "all");
  ac_push(c->arena, &passes, "memory");
  ac_buf names;
  ac_buf_init(&names, c->arena);
  for (size_t i = 0; i < passes.len; i++) {
    if (!dump || !strcmp(dump, passes.data[i])) return true;
    ac_printf(&names, "%s%s", i ? ", " : "", passes.data[i]);
  }
  ac_diag *x = ac_error(&c->diags, AC0103, AC_NOLOC, "there is no pass '%s' to show", dump);
  ac_help(&c->diags, x, "--dump takes one of %s", ac_buf_str(&names));
  return false;
}

int ac_lower_file(ac_context *c, const ac_gen_options *o) {
  job j;
  ac_project p = {0};
  ac_cli_fresh(c, "lower");
  if (!known_dump(c, o->dump)) return ac_cli_done(c, AC_EXIT_BAD_INPUT);
  if (!job_start(c, &j, o)) return ac_cli_done(c, AC_EXIT_BAD_INPUT);
  if (!job_program(c, &j) || !job_lower(c, &j) || !job_emit(c, &j, &p)) return ac_cli_done(c, AC_EXIT_FAILED);
  if (j.plain_c)
    ac_puts(&c->text, project_text(&p, ac_sprintf(c->arena, "c/%s.c", j.op)));
  else if (ends_with(o->input, ".py"))
    ac_puts(&c->text, j.craft_text);
  else if (!o->dump)
    ac_puts(&c->text, project_text(&p, ac_sprintf(c->arena, "op_kernel/%s.cpp", j.op)));
  return ac_cli_done(c, AC_EXIT_OK);
}

static int verify_into(ac_context *c, const ac_verify_opts *v, bool all, bool colour) {
  ac_verify_report r = {0};
  if (!ac_verify(c->arena, v, &r, &c->diags)) return AC_EXIT_FAILED;
  char *p = NULL;
  size_t n = 0;
  FILE *f = open_memstream(&p, &n);
  if (f) {
    ac_verify_print(&r, f, all, colour);
    fclose(f);
    ac_puts(&c->text, p);
    free(p);
  }
  json_object_set_new(c->result, "verify", ac_verify_json(&r));
  return r.ok ? AC_EXIT_OK : AC_EXIT_FAILED;
}

static void list_files(ac_context *c, const ac_project *p, const char *dir) {
  json_t *files = json_array();
  ac_printf(&c->text, "%s\n", dir);
  for (size_t i = 0; i < p->files.len; i++) {
    ac_printf(&c->text, "  %s\n", p->files.data[i].path);
    json_array_append_new(files, json_string(p->files.data[i].path));
  }
  json_object_set_new(c->result, "project", json_pack("{s:s, s:o}", "folder", dir, "files", files));
}

int ac_generate(ac_context *c, const ac_gen_options *o) {
  job j;
  ac_project p = {0};
  ac_cli_fresh(c, "gen");
  if (!job_start(c, &j, o)) return ac_cli_done(c, AC_EXIT_BAD_INPUT);
  if (!job_program(c, &j) || !job_lower(c, &j) || !job_emit(c, &j, &p)) return ac_cli_done(c, AC_EXIT_FAILED);
  const char *dir = o->output ? o->output : j.op;
  if (!ac_project_write(c->arena, &p, dir, o->force, &c->diags)) return ac_cli_done(c, AC_EXIT_BAD_INPUT);
  list_files(c, &p, dir);
  if (o->no_verify || !j.graph || !(j.formats & (1u << AC_FMT_MSOPGEN | 1u << AC_FMT_DIRECT))) {
    if (j.graph && !o->no_verify && !j.formats)
      ac_puts(&c->text, "not verified: the simulator runs the AscendC forms; add --format msopgen\n");
    if (!j.graph)
      ac_puts(&c->text,
              "not verified: a DSL program has no reference; `ascendcraft gen` of PyTorch source has one\n");
    return ac_cli_done(c, AC_EXIT_OK);
  }
  ac_verify_opts v = {.dir = dir, .progress = c->progress};
  v.cases.max_elements = o->max_elements;
  v.cases.seed = o->seed;
  return ac_cli_done(c, verify_into(c, &v, false, false));
}

static bool verify_options(ac_context *c, const ac_verify_options *o, ac_verify_opts *v) {
  *v = (ac_verify_opts){.dir = o->project, .progress = c->progress};
  v->cases.max_elements = o->max_elements;
  v->cases.seed = o->seed;
  v->hazards = ac_hazards_of((ac_hazard_check)o->hazards);
  v->sample_blocks = o->sample_blocks;
  ac_shape_arg *s = AC_NEW_N(c->arena, ac_shape_arg, o->n_shapes + 1);
  for (int i = 0; i < o->n_shapes; i++) {
    ac_shape_override x;
    if (!ac_parse_shape(c->arena, o->shapes[i], &x, &c->diags)) return false;
    s[i].input = x.input;
    s[i].rank = x.rank;
    for (int k = 0; k < x.rank; k++) s[i].dim[k] = x.dims[k];
  }
  v->cases.shapes = s;
  v->cases.n_shapes = o->n_shapes;
  v->cases.only = o->only;
  for (int i = 0; i < o->n_formats; i++) {
    if (!strcmp(o->formats[i], "msopgen"))
      v->forms |= 1u << AC_SIM_MSOPGEN;
    else if (!strcmp(o->formats[i], "direct"))
      v->forms |= 1u << AC_SIM_DIRECT;
    else {
      ac_error(&c->diags, AC0103, AC_NOLOC,
               "'%s' cannot be verified by itself: msopgen and direct can, the others hold the same text",
               o->formats[i]);
      return false;
    }
  }
  return true;
}

int ac_verify_project(ac_context *c, const ac_verify_options *o) {
  ac_verify_opts v;
  ac_cli_fresh(c, "verify");
  if (!verify_options(c, o, &v)) return ac_cli_done(c, AC_EXIT_BAD_INPUT);
  return ac_cli_done(c, verify_into(c, &v, o->all, o->colour));
}

/* Where tiling code decides, what the caller says of the launch would be ignored: it is refused. */
static bool tiles_itself(ac_context *c, const ac_run_options *o) {
  const char *what = o->blocks ? "--blocks" : o->n_tiling ? "--tiling" : o->tiling_key ? "--tiling-key" : NULL;
  if (!what) return true;
  ac_diag *x = ac_error(&c->diags, AC0103, AC_NOLOC,
                        "%s is for a kernel's source: the tiling code of %s decides that", what, o->input);
  ac_help(&c->diags, x, "leave it out, or run the kernel's source (.cpp) by itself");
  return false;
}

/* What a command is to run, whatever kind it is. False: diagnostics say why. */
static bool open_target(ac_context *c, const ac_run_options *o, job *j, ac_target *t) {
  *t = (ac_target){0};
  if (!o->input) {
    ac_error(&c->diags, AC0103, AC_NOLOC, "nothing to run");
    return false;
  }
  if (!ac_target_is_kernel(o->input) && !tiles_itself(c, o)) return false;
  if (ac_is_dir(o->input) && ac_target_is_msopgen(c->arena, o->input))
    return ac_target_msopgen(c->arena, o, t, &c->diags);
  if (ac_is_dir(o->input)) return ac_target_project(c->arena, o, t, &c->diags);
  if (ac_target_is_kernel(o->input)) return ac_target_kernel(c->arena, o, t, &c->diags);
  ac_gen_options g = o->source;
  g.input = o->input;
  if (!job_start(c, j, &g)) return false;
  if (o->n_formats) {
    ac_error(&c->diags, AC0103, AC_NOLOC, "--format is of a project: a file is run as its lowered program");
    return false;
  }
  j->o = &g;
  bool ok =
      job_program(c, j) && job_lower(c, j) && ac_target_program(c->arena, j->program, j->graph, o, t, &c->diags);
  j->o = NULL;
  return ok;
}

int ac_run(ac_context *c, const ac_run_options *o) {
  job j;
  ac_target t;
  ac_cli_fresh(c, "run");
  int code = AC_EXIT_BAD_INPUT;
  if (open_target(c, o, &j, &t)) code = ac_run_target(c->arena, &t, o, c->progress, &c->text, c->result, &c->diags);
  ac_target_close(&t);
  return ac_cli_done(c, code);
}

int ac_profile_run(ac_context *c, const ac_run_options *o, const ac_profile_options *p) {
  job j;
  ac_target t;
  ac_cli_fresh(c, "profile");
  int code = AC_EXIT_BAD_INPUT;
  if (open_target(c, o, &j, &t)) code = ac_profile_target(c->arena, &t, o, p, &c->text, c->result, &c->diags);
  ac_target_close(&t);
  return ac_cli_done(c, code);
}

int ac_run_project(ac_context *c, const ac_verify_options *o) {
  ac_run_options r = AC_RUN_OPTIONS_INIT;
  r.input = o->project;
  r.source.shapes = o->shapes;
  r.source.n_shapes = o->n_shapes;
  r.source.seed = o->seed;
  r.formats = o->formats;
  r.n_formats = o->n_formats;
  return ac_run(c, &r);
}

int ac_run_file(ac_context *c, const ac_gen_options *o) {
  ac_run_options r = AC_RUN_OPTIONS_INIT;
  r.input = o->input;
  r.source = *o;
  r.formats = o->formats;
  r.n_formats = o->n_formats;
  return ac_run(c, &r);
}

/* Somebody's msopgen project: op_host and op_kernel, no manifest of ours. Its own tiling code runs; the files of the command line are the
 * operator's inputs and outputs, in the order of its definition. */
#include "cli/target.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  ac_arena *a;
  ac_diags *d;
  const ac_run_options *o;
  ac_target *t;
  const char *host_dir, *kernel_dir;
  const char *type, *op, *host, *kernel;
  ac_strvec more;
} job;

bool ac_target_is_msopgen(ac_arena *a, const char *dir) {
  return !ac_exists(ac_path_join(a, dir, "manifest.json")) && ac_is_dir(ac_path_join(a, dir, "op_host")) &&
         ac_is_dir(ac_path_join(a, dir, "op_kernel"));
}

/* "AddLayerNormV2" is add_layer_norm_v2, as CANN's build names files and entries. */
static char *snake(ac_arena *a, const char *type) {
  ac_buf b;
  ac_buf_init(&b, a);
  for (size_t i = 0; type[i]; i++) {
    bool up = isupper((unsigned char)type[i]);
    bool start = i && up && (!isupper((unsigned char)type[i - 1]) || islower((unsigned char)type[i + 1]));
    ac_printf(&b, "%s%c", start ? "_" : "", tolower((unsigned char)type[i]));
  }
  return (char *)ac_buf_str(&b);
}

static int by_name(const void *x, const void *y) {
  return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static ac_strvec sources_in(ac_arena *a, const char *dir) {
  ac_strvec v = {0};
  DIR *d = opendir(dir);
  for (struct dirent *e; d && (e = readdir(d));)
    if (ac_target_is_kernel(e->d_name)) ac_push(a, &v, ac_path_join(a, dir, e->d_name));
  if (d) closedir(d);
  if (v.len) qsort(v.data, v.len, sizeof *v.data, by_name);
  return v;
}

/* The operator types that a host file registers. */
static void registered(job *j, const char *path, ac_strvec *types) {
  char *text = ac_read_file(j->a, path, 0, NULL, NULL);
  const char *p = text ? ac_source_blank(j->a, text) : "";
  while ((p = strstr(p, "OP_ADD"))) {
    p += strlen("OP_ADD");
    p += strspn(p, " \t(");
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_') n++;
    if (n) ac_push(j->a, types, ac_strndup(j->a, p, n));
  }
}

static bool wanted(const job *j, const char *type) {
  return !j->o->entry || !strcmp(j->o->entry, type) || !strcmp(j->o->entry, snake(j->a, type));
}

static bool find_operator(job *j) {
  ac_strvec files = sources_in(j->a, j->host_dir), all = {0};
  int hits = 0;
  for (size_t i = 0; i < files.len; i++) {
    ac_strvec types = {0};
    registered(j, files.data[i], &types);
    for (size_t k = 0; k < types.len; k++) {
      ac_push(j->a, &all, types.data[k]);
      if (!wanted(j, types.data[k])) continue;
      hits++;
      j->type = types.data[k];
      j->host = files.data[i];
    }
  }
  if (hits != 1) {
    ac_diag *x = ac_error(j->d, AC0809, (ac_loc){.file = j->host_dir}, "%s",
                          !all.len      ? "no file in it registers an operator: OP_ADD(Type)"
                          : j->o->entry ? "it registers no such operator"
                                        : "it registers several operators: which one is to run?");
    for (size_t i = 0; i < all.len; i++) ac_help(j->d, x, "--entry %s", all.data[i]);
    return false;
  }
  for (size_t i = 0; i < files.len; i++)
    if (strcmp(files.data[i], j->host) != 0) ac_push(j->a, &j->more, files.data[i]);
  ac_push(j->a, &j->more, NULL);
  j->op = snake(j->a, j->type);
  j->kernel = ac_path_join(j->a, j->kernel_dir, ac_sprintf(j->a, "%s.cpp", j->op));
  if (ac_exists(j->kernel)) return true;
  ac_error(j->d, AC0101, (ac_loc){.file = j->kernel}, "the kernel of %s is not there", j->type);
  return false;
}

/* Names of the kernel's parameters, for messages. */
static ac_strvec parameter_names(const job *j) {
  ac_source_facts f = {0};
  char *text = ac_read_file(j->a, j->kernel, 0, NULL, NULL);
  if (text) ac_source_scan(j->a, j->kernel, text, &f);
  for (size_t i = 0; i < f.entries.len; i++)
    if (!strcmp(f.entries.data[i].name, j->op)) return f.entries.data[i].params;
  return (ac_strvec){0};
}

/* NAME=VALUE: a number, true, false, a list of numbers, or a string. */
static bool attribute(job *j, const char *text) {
  const char *eq = strchr(text, '=');
  if (!eq || eq == text) {
    ac_diag *x = ac_error(j->d, AC0103, AC_NOLOC, "--arg %s: a project has attributes, by name", text);
    ac_help(j->d, x, "such as --arg epsilon=1e-5, --arg axes=[0,2], --arg mode=none");
    return false;
  }
  ac_sim_attr x = {.name = ac_strndup(j->a, text, (size_t)(eq - text)), .kind = AC_ATTR_S, .s = eq + 1};
  ac_sim_number v;
  ac_tiling_fields list = {0};
  if (ac_number_parse(eq + 1, &v)) {
    bool word = eq[1] == 't' || eq[1] == 'f';
    x.kind = word ? AC_ATTR_B : v.whole ? AC_ATTR_I : AC_ATTR_F;
    x.i = v.i;
    x.f = v.whole ? (double)v.i : v.f;
  } else if (eq[1] == '[' && ac_tiling_parse(j->a, ac_sprintf(j->a, "v%s", eq), &list, NULL)) {
    const ac_sim_field *f = &list.data[0];
    double *lf = AC_NEW_N(j->a, double, f->n + 1);
    int64_t *li = AC_NEW_N(j->a, int64_t, f->n + 1);
    bool whole = true;
    for (int i = 0; i < f->n; i++) {
      whole = whole && f->values[i].whole;
      li[i] = f->values[i].i;
      lf[i] = f->values[i].whole ? (double)f->values[i].i : f->values[i].f;
    }
    x.kind = whole ? AC_ATTR_LIST_I : AC_ATTR_LIST_F;
    x.li = li;
    x.lf = lf;
    x.n = f->n;
  }
  j->t->attrs[j->t->n_attrs++] = x;
  return true;
}

/* Inputs, then outputs, each in the order given. */
static bool tensors(job *j) {
  const ac_run_options *o = j->o;
  ac_strvec names = parameter_names(j);
  j->t->tensors = AC_NEW_N(j->a, ac_sim_tensor, o->n_args + 1);
  j->t->save = AC_NEW_N(j->a, const char *, o->n_args + 1);
  j->t->attrs = AC_NEW_N(j->a, ac_sim_attr, o->n_args + 1);
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < o->n_args; i++) {
      const ac_run_argument *x = &o->args[i];
      const char *name = names.data && (size_t)j->t->n < names.len ? names.data[j->t->n] : NULL;
      bool ok = true;
      if (!pass && x->kind == AC_GIVE_IN) ok = ac_target_read(j->a, j->t, x->text, false, name, j->d);
      if (!pass && x->kind == AC_GIVE_INOUT) ok = ac_target_read(j->a, j->t, x->text, true, name, j->d);
      if (!pass && x->kind == AC_GIVE_SCALAR) ok = attribute(j, x->text);
      if (pass && x->kind == AC_GIVE_OUT) ok = ac_target_output(j->a, j->t, x->text, name, j->d);
      if (x->kind == AC_GIVE_WORKSPACE) {
        ac_error(j->d, AC0103, AC_NOLOC, "--workspace: the project's tiling code says how much it needs");
        ok = false;
      }
      if (!ok) return false;
    }
  return true;
}

bool ac_target_msopgen(ac_arena *a, const ac_run_options *o, ac_target *t, ac_diags *d) {
  *t = (ac_target){0};
  job j = {.a = a, .d = d, .o = o, .t = t};
  j.host_dir = ac_path_join(a, o->input, "op_host");
  j.kernel_dir = ac_path_join(a, o->input, "op_kernel");
  if (!(t->chip = ac_target_chip(a, o->source.target, d))) return false;
  if (!find_operator(&j) || !tensors(&j)) return false;
  ac_sim_spec spec = {.form = AC_SIM_MSOPGEN,
                      .op = j.op,
                      .op_type = j.type,
                      .kernel_src = j.kernel,
                      .host_src = j.host,
                      .host_more = j.more.data,
                      .include_dirs = ac_target_list(a, o->include_dirs, o->n_include_dirs),
                      .chip = t->chip,
                      .opt = 1};
  t->name = j.op;
  t->lib = ac_sim_build(a, &spec, d);
  return t->lib != NULL;
}

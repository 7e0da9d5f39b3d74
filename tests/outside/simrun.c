/* Runs one launch that a JSON file describes: the driver behind the scripts of this folder, which run other people's kernels.
 *
 *   simrun SPEC.json        the result, as JSON, on standard output
 *
 * SPEC: {"form": "msopgen"|"direct", "op": entry, "op_type": ..., "kernel": path, "host": path, "host_more": [path, ...], "include": [folder, ...], "chip": name,
 *        "timeout": seconds, "hazards": "on"|"strict"|"off", "order": "forward"|"reverse", "build_only": bool, "only_dtypes": bool (compile the kernel for these tensors only), "threads": n,
 *        "blocks": [first, n] (run only these), "chips": [name or file, ...] (the same launch on each of them, for its modelled time),
 *        "tensors": [{"name", "dtype", "shape", "role": "in"|"out"|"inout"|"updated"|"filled", "list": n, "absent": bool, "output_at": n, "file": raw data}, ...],
 *        "attrs": [{"name", "kind": "f"|"i"|"b"|"s"|"lf"|"li", "value"}, ...]}
 * Outputs are written to their files. RESULT: {"built", "ran", "refused", "block_dim", "tiling_key", "workspace", "ub_peak", "wall",
 *        "columns": [text, ...] (the OpDef's dtypes, one text a column: DTYPE_<NAME>=type ...),
 *        "faults": [{"kind", "message", "file", "line", "count"}, ...], "diagnostics": text}
 */
#include "sim/run_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ac_arena *a;
static ac_diags d;

static const char *text(const json_t *o, const char *key) {
  const char *s = json_string_value(json_object_get(o, key));
  return s ? ac_strdup(a, s) : NULL;
}
static int64_t whole(const json_t *o, const char *key) {
  return json_integer_value(json_object_get(o, key));
}
static bool flag(const json_t *o, const char *key) {
  return json_is_true(json_object_get(o, key));
}
static bool is(const char *s, const char *word) {
  return s && !strcmp(s, word);
}

static const char *const *strings(const json_t *list) {
  ac_strvec v = {0};
  size_t i;
  json_t *x;
  json_array_foreach(list, i, x) ac_push(a, &v, ac_strdup(a, json_string_value(x)));
  ac_push(a, &v, NULL);
  return v.data;
}

static ac_sim_spec read_spec(const json_t *j) {
  const char *chip = text(j, "chip");
  return (ac_sim_spec){.form = is(text(j, "form"), "direct") ? AC_SIM_DIRECT : AC_SIM_MSOPGEN,
                       .op = text(j, "op"),
                       .op_type = text(j, "op_type"),
                       .kernel_src = text(j, "kernel"),
                       .host_src = text(j, "host"),
                       .host_more = strings(json_object_get(j, "host_more")),
                       .include_dirs = strings(json_object_get(j, "include")),
                       .chip = ac_chip_load(a, chip ? chip : "ascend910b2", &d)};
}

static bool fill(const ac_sim_tensor *t, const char *path) {
  FILE *f = fopen(path, "rbe");
  bool ok = f && fread(t->data, 1, (size_t)t->bytes, f) == (size_t)t->bytes;
  if (f) fclose(f);
  if (!ok)
    ac_error(&d, AC0101, (ac_loc){.file = path}, "it has not the %lld bytes of %s", (long long)t->bytes, t->name);
  return ok;
}

static bool read_tensor(const json_t *j, ac_sim_tensor *t) {
  const char *role = text(j, "role");
  *t = (ac_sim_tensor){.name = text(j, "name"),
                       .output = is(role, "out") || is(role, "inout") || is(role, "filled"),
                       .updated = is(role, "updated") || is(role, "filled"),
                       .also_input = is(role, "inout"),
                       .list = (int)whole(j, "list"),
                       .output_at = (int)whole(j, "output_at"),
                       .absent = flag(j, "absent"),
                       .host_type = (int)whole(j, "host_type")};
  if (t->absent) return true;
  t->dtype = ac_dtype_of(text(j, "dtype"));
  if (t->dtype == AC_NODTYPE) return ac_error(&d, AC0101, AC_NOLOC, "no dtype %s", text(j, "dtype")), false;
  t->bytes = ac_dtypes[t->dtype].bytes;
  const json_t *shape = json_object_get(j, "shape");
  for (size_t i = 0; i < json_array_size(shape) && i < AC_MAX_RANK; i++) {
    t->shape[t->rank] = json_integer_value(json_array_get(shape, i));
    t->bytes *= t->shape[t->rank++];
  }
  t->data = ac_sim_alloc(t->bytes);
  /* no file: zeros */
  return t->data && ((t->output && !t->also_input && !t->updated) || !text(j, "file") || fill(t, text(j, "file")));
}

/* Only the kernel of these dtypes is compiled: inputs before outputs, a list once. */
static void only_dtypes(const json_t *list, ac_sim_spec *s) {
  size_t n = json_array_size(list);
  ac_dtype *v = AC_NEW_N(a, ac_dtype, 2 * n + 1);
  for (int out = 0; out < 2; out++) {
    int64_t before = 0;
    for (size_t i = 0; i < n; i++) {
      const json_t *t = json_array_get(list, i);
      const char *role = text(t, "role");
      if (out ? is(role, "in") : is(role, "out")) continue;
      int64_t number = whole(t, "list");
      if (!number || number != before)
        v[s->n_dtypes++] = flag(t, "absent") ? AC_NODTYPE : ac_dtype_of(text(t, "dtype"));
      before = number;
    }
  }
  s->dtypes = v;
}

static ac_sim_attr read_attr(const json_t *j) {
  const json_t *v = json_object_get(j, "value");
  const char *kind = text(j, "kind");
  ac_sim_attr x = {.name = text(j, "name"), .f = json_number_value(v), .i = json_integer_value(v)};
  if (is(kind, "s"))
    x.kind = AC_ATTR_S, x.s = text(j, "value");
  else if (is(kind, "f"))
    x.kind = AC_ATTR_F;
  else if (is(kind, "b"))
    x.kind = AC_ATTR_B, x.i = json_is_true(v);
  else if (is(kind, "i"))
    x.kind = AC_ATTR_I;
  if (!json_is_array(v)) return x;
  x.kind = is(kind, "lf") ? AC_ATTR_LIST_F : AC_ATTR_LIST_I;
  x.n = (int)json_array_size(v);
  double *f = AC_NEW_N(a, double, (size_t)x.n + 1);
  int64_t *i = AC_NEW_N(a, int64_t, (size_t)x.n + 1);
  for (int k = 0; k < x.n; k++) {
    const json_t *e = json_array_get(v, (size_t)k);
    f[k] = json_number_value(e);
    i[k] = json_is_boolean(e) ? json_is_true(e) : (int64_t)json_number_value(e);
  }
  x.lf = f;
  x.li = i;
  return x;
}

static json_t *faults_json(const ac_sim_result *r) {
  json_t *list = json_array();
  for (size_t i = 0; i < r->faults.len; i++) {
    const ac_sim_fault *f = &r->faults.data[i];
    json_array_append_new(list, json_pack("{s:s, s:s, s:s?, s:i, s:I}", "kind", f->kind, "message", f->message,
                                          "file", f->file, "line", f->line, "count", (json_int_t)f->count));
  }
  return list;
}

static json_t *time_json(const ac_sim_time *t) {
  return json_pack("{s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:b}", "us", t->us, "cycles", t->cycles,
                   "core_cycles", t->core_cycles, "memory_us", t->memory_us, "launch_us", t->launch_us, "bytes_in",
                   (json_int_t)t->bytes_in, "bytes_out", (json_int_t)t->bytes_out, "hbm_bytes",
                   (json_int_t)t->hbm_bytes, "blocks_run", (json_int_t)t->blocks_run, "blocks_all",
                   (json_int_t)t->blocks_all, "resident", (int)t->resident);
}

static void set_run(json_t *out, const ac_sim_result *r) {
  json_object_set_new(out, "ran", json_boolean(r->ran));
  if (r->refused) json_object_set_new(out, "refused", json_string(r->refused));
  json_object_set_new(out, "block_dim", json_integer(r->block_dim));
  json_object_set_new(out, "tiling_key", json_integer(r->tiling_key));
  json_object_set_new(out, "workspace", json_integer(r->workspace));
  json_object_set_new(out, "ub_peak", json_integer(r->ub_peak));
  json_object_set_new(out, "wall", json_real(r->wall));
  json_object_set_new(out, "faults", faults_json(r));
  if (r->time.modelled) json_object_set_new(out, "time", time_json(&r->time));
}

static bool write_outputs(const json_t *list, const ac_sim_tensor *t, int n) {
  bool ok = true;
  for (int i = 0; i < n; i++)
    if ((t[i].output || t[i].updated) && !t[i].absent)
      ok = ac_write_file(text(json_array_get(list, (size_t)i), "file"), t[i].data, (size_t)t[i].bytes, &d) && ok;
  return ok;
}

/* The same launch with the costs of other chip files; what the tiling code sees of a chip must not differ. */
static bool on_chips(const json_t *chips, const ac_sim_lib *lib, ac_sim_tensor *t, int n, const ac_sim_attr *at,
                     int m, const ac_sim_opts *opts, json_t *out) {
  json_t *times = json_array();
  json_object_set_new(out, "times", times);
  size_t i;
  json_t *name;
  json_array_foreach(chips, i, name) {
    ac_sim_lib other = *lib;
    other.spec.chip = ac_chip_load(a, json_string_value(name), &d);
    ac_sim_result r;
    if (!other.spec.chip || !ac_sim_run(a, &other, t, n, at, m, opts, &r, &d) || !r.ran) return false;
    json_array_append_new(times, json_real(r.time.us));
  }
  return true;
}

static bool launch(const json_t *j, const ac_sim_lib *lib, json_t *out) {
  const json_t *tensors = json_object_get(j, "tensors"), *attrs = json_object_get(j, "attrs");
  int n = (int)json_array_size(tensors), m = (int)json_array_size(attrs);
  ac_sim_tensor *t = AC_NEW_N(a, ac_sim_tensor, (size_t)n + 1);
  ac_sim_attr *at = AC_NEW_N(a, ac_sim_attr, (size_t)m + 1);
  for (int i = 0; i < n; i++)
    if (!read_tensor(json_array_get(tensors, (size_t)i), &t[i])) return false;
  for (int i = 0; i < m; i++) at[i] = read_attr(json_array_get(attrs, (size_t)i));
  const char *hazards = text(j, "hazards");
  const ac_sim_opts opts = {.timeout = json_number_value(json_object_get(j, "timeout")),
                            .threads = whole(j, "threads") ? (int)whole(j, "threads") : 2,
                            .first_block = json_integer_value(json_array_get(json_object_get(j, "blocks"), 0)),
                            .n_blocks = json_integer_value(json_array_get(json_object_get(j, "blocks"), 1)),
                            .order = is(text(j, "order"), "reverse") ? AC_ORDER_REVERSE : AC_ORDER_FORWARD,
                            .hazards = is(hazards, "strict") ? AC_HAZARDS_STRICT
                                       : is(hazards, "off")  ? AC_HAZARDS_OFF
                                                             : AC_HAZARDS_ON};
  ac_sim_result r;
  const json_t *chips = json_object_get(j, "chips");
  if (chips) return on_chips(chips, lib, t, n, at, m, &opts, out);
  bool ok = ac_sim_run(a, lib, t, n, at, m, &opts, &r, &d);
  set_run(out, &r);
  return ok && r.ran && write_outputs(tensors, t, n);
}

/* What the host library says of the operator's dtypes lies beside it. */
static json_t *columns_of(const ac_sim_lib *lib) {
  json_t *list = json_array();
  ac_diags quiet;
  ac_diags_init(&quiet, a);
  size_t n = lib->host_so ? strlen(lib->host_so) : 0;
  char *path = n > 3 ? ac_sprintf(a, "%.*s.txt", (int)(n - 3), lib->host_so) : NULL;
  char *said = path ? ac_read_file(a, path, 0, NULL, &quiet) : NULL;
  for (char *p = said; p && (p = strstr(p, "//@ column")); p++) {
    char *from = p + strlen("//@ column");
    json_array_append_new(list, json_string(ac_strndup(a, from, strcspn(from, "\n"))));
  }
  return list;
}

static char *diagnostics(void) {
  char *p = NULL;
  size_t n = 0;
  FILE *f = open_memstream(&p, &n);
  if (!f) return NULL;
  ac_diags_print(&d, f, false);
  fclose(f);
  return p;
}

int main(int argc, char **argv) {
  a = ac_arena_new();
  ac_diags_init(&d, a);
  size_t len = 0;
  char *spec = argc == 2 ? ac_read_file(a, argv[1], 0, &len, &d) : NULL;
  json_t *j = spec ? ac_json_parse(argv[1], spec, len, &d) : NULL, *out = json_object();
  bool ok = false;
  if (j) {
    ac_sim_spec s = read_spec(j);
    if (flag(j, "only_dtypes")) only_dtypes(json_object_get(j, "tensors"), &s);
    ac_sim_lib *lib = s.chip ? ac_sim_build(a, &s, &d) : NULL;
    json_object_set_new(out, "built", json_boolean(lib != NULL));
    if (lib) json_object_set_new(out, "columns", columns_of(lib));
    ok = lib && (flag(j, "build_only") || launch(j, lib, out));
  }
  char *said = diagnostics();
  json_object_set_new(out, "diagnostics", json_string(said ? said : ""));
  free(said);
  fputs(ac_json_text(a, out), stdout);
  json_decref(out);
  json_decref(j);
  ac_arena_free(a);
  return ok ? 0 : 1;
}

/* Reading a project: manifest.json and the files that it names. */
#include "verify/internal.h"

#include <string.h>

static const char *text_of(ac_arena *a, const json_t *j, const char *key) {
  const char *s = json_string_value(json_object_get(j, key));
  return s ? ac_strdup(a, s) : NULL;
}

static bool missing(ac_diags *d, const char *path, const char *key) {
  ac_diag *x = ac_error(d, AC0901, (ac_loc){.file = path}, "the manifest has no \"%s\"", key);
  ac_help(d, x, "generate the project again; the manifest is not meant to be edited");
  return false;
}

/* The paths of one format; false when the project does not hold it. */
static bool form_paths(ac_arena *a, const char *dir, const json_t *formats, const char *name, const char **kernel,
                       const char **host) {
  const json_t *f = json_object_get(formats, name);
  const char *k = json_string_value(json_object_get(f, "kernel")), *h = json_string_value(json_object_get(f, "host"));
  if (!k) return false;
  *kernel = ac_path_join(a, dir, k);
  *host = h ? ac_path_join(a, dir, h) : NULL;
  return true;
}

/* Files that differ from what was generated: worth a note, not an error (whoever edits a kernel wants it verified). */
static void check_hashes(ac_arena *a, const char *dir, const json_t *files, ac_strvec *edited) {
  size_t i;
  json_t *f;
  json_array_foreach(files, i, f) {
    const char *path = json_string_value(json_object_get(f, "path")),
               *want = json_string_value(json_object_get(f, "sha256"));
    if (!path || !want) continue;
    size_t len = 0;
    char *text = ac_read_file(a, ac_path_join(a, dir, path), 0, &len, NULL);
    if (!text)
      ac_push(a, edited, ac_sprintf(a, "%s is missing or unreadable", path));
    else if (strcmp(ac_sha256(a, text, len), want))
      ac_push(a, edited, ac_sprintf(a, "%s was changed after it was generated", path));
  }
}

static bool fill(ac_arena *a, const char *dir, const char *path, const json_t *j, ac_vproject *p, ac_diags *d) {
  p->op = text_of(a, j, "op");
  p->op_type = text_of(a, j, "op_type");
  if (!p->op) return missing(d, path, "op");
  if (!p->op_type) return missing(d, path, "op_type");
  const char *chip = text_of(a, j, "chip");
  if (!chip) return missing(d, path, "chip");
  p->chip = ac_chip_load(a, chip, d);
  if (!p->chip) return false;
  p->seed = (uint64_t)json_integer_value(json_object_get(j, "seed"));
  const json_t *graph = json_object_get(j, "graph");
  if (!json_is_object(graph)) {
    ac_diag *x = ac_error(d, AC0901, (ac_loc){.file = path},
                          "the project was made from a DSL program: there is no graph to compare with");
    ac_help(d, x, "generate it from a PyTorch module to have it verified");
    return false;
  }
  p->graph = ac_graph_from_json(a, graph, d);
  if (!p->graph) return false;
  const json_t *formats = json_object_get(j, "formats");
  if (!formats) return missing(d, path, "formats");
  p->has[AC_SIM_MSOPGEN] =
      form_paths(a, dir, formats, "msopgen", &p->kernel[AC_SIM_MSOPGEN], &p->host[AC_SIM_MSOPGEN]) &&
      p->host[AC_SIM_MSOPGEN];
  p->has[AC_SIM_DIRECT] = form_paths(a, dir, formats, "direct", &p->kernel[AC_SIM_DIRECT], &p->host[AC_SIM_DIRECT]);
  check_hashes(a, dir, json_object_get(j, "files"), &p->edited);
  return true;
}

bool ac_vproject_read(ac_arena *a, const char *dir, ac_vproject *p, ac_diags *d) {
  *p = (ac_vproject){0};
  const char *path = ac_path_join(a, dir, "manifest.json");
  if (!ac_is_dir(dir) || !ac_exists(path)) {
    ac_diag *x = ac_error(d, AC0901, (ac_loc){.file = dir},
                          ac_is_dir(dir) ? "there is no manifest.json in it" : "it is not a folder");
    ac_help(d, x, "name the folder that `ascendcraft gen -o DIR` wrote");
    return false;
  }
  size_t len = 0;
  char *text = ac_read_file(a, path, 0, &len, d);
  json_t *j = text ? ac_json_parse(path, text, len, d) : NULL;
  if (!j) return false;
  bool ok = fill(a, dir, path, j, p, d);
  json_decref(j);
  return ok;
}

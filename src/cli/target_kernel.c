/* One kernel's source with the arguments of the command line: which entry, which tiling struct, which memory. What types they have is
 * left to the compiler. */
#include "cli/target.h"
#include "cli/npy.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BLOCKS = 65535 }; /* asc-devkit docs/zh, kernel launch: blockDim is in [1, 65535] */

typedef struct {
  ac_arena *a;
  ac_diags *d;
  const ac_run_options *o;
  ac_target *t;
  const char *path;
  const char *const *dirs;
  ac_sources sources;
  ac_source_facts facts;
  const ac_source_entry *entry; /* NULL: what the options name is not seen in the text (a macro made it) */
  const char *expression;       /* for the compiler */
  const ac_source_struct *tiling;
  ac_strvec headers, fields;
  ac_tiling_fields set;
  AC_VEC(ac_sim_karg) args;
  bool wants_std;
} job;

/* ---- the entry ---- */

static const char *signature(ac_arena *a, const ac_source_entry *e) {
  ac_buf b;
  ac_buf_init(&b, a);
  ac_printf(&b, "%s%s(", e->name, e->is_template ? "<...>" : "");
  for (size_t i = 0; i < e->params.len; i++)
    ac_printf(&b, "%s%s%s%s", i ? ", " : "", e->types.data[i], *e->params.data[i] ? " " : "", e->params.data[i]);
  ac_puts(&b, ")");
  return ac_buf_str(&b);
}

static void list_entries(const job *j, ac_diag *x) {
  for (size_t i = 0; i < j->facts.entries.len; i++) {
    const ac_source_entry *e = &j->facts.entries.data[i];
    ac_help(j->d, x, "%s%s:%d: %s", e->launcher ? "(launches kernels) " : "", ac_basename(e->file), e->line,
            signature(j->a, e));
  }
}

static bool same_entry(const char *want, const ac_source_entry *e) {
  size_t n = strcspn(want, "<");
  if (!strncmp(want, "::", 2)) want += 2, n -= 2;
  const char *tail = strrchr(e->name, ':');
  return (strlen(e->name) == n && !memcmp(e->name, want, n)) ||
         (tail && strlen(tail + 1) == n && !memcmp(tail + 1, want, n));
}

/* The name stands in the source as a word: a macro may make a kernel of it, which only the compiler knows. */
static bool in_text(const job *j, const char *want) {
  size_t n = strcspn(want, "<");
  const char *name = ac_strndup(j->a, want, n), *last = strrchr(name, ':');
  if (last) name = last + 1;
  n = strlen(name);
  for (size_t i = 0; n && i < ac_map_len(j->sources.seen); i++) {
    const char *t = ac_source_blank(j->a, ac_map_value(j->sources.seen, i));
    for (const char *p = t; (p = strstr(p, name)); p += n)
      if ((p == t || !(isalnum((unsigned char)p[-1]) || p[-1] == '_')) &&
          !(isalnum((unsigned char)p[n]) || p[n] == '_'))
        return true;
  }
  return false;
}

static bool named_entry(job *j) {
  const char *want = j->o->entry;
  for (size_t i = 0; i < j->facts.entries.len && !j->entry; i++)
    if (same_entry(want, &j->facts.entries.data[i])) j->entry = &j->facts.entries.data[i];
  if (!j->entry && j->facts.entries.len && !in_text(j, want)) {
    ac_diag *x = ac_error(j->d, AC0809, (ac_loc){.file = j->path}, "there is no kernel '%s' in it; there are:", want);
    list_entries(j, x);
    return false;
  }
  const char *args = strchr(want, '<');
  if (j->entry && j->entry->is_template && !args) {
    ac_diag *x = ac_error(j->d, AC0809, (ac_loc){.file = j->path}, "%s is a template", want);
    ac_help(j->d, x, "give its arguments, too: --entry '%s<float>'", want);
    return false;
  }
  j->expression = j->entry ? ac_sprintf(j->a, "%s%s", j->entry->name, args ? args : "") : want;
  return true;
}

static bool only_entry(job *j) {
  int kernels = 0;
  for (size_t i = 0; i < j->facts.entries.len; i++) {
    const ac_source_entry *e = &j->facts.entries.data[i];
    if (e->launcher) continue;
    if (kernels++ && !strcmp(j->entry->name, e->name)) kernels--; /* twice, under #if */
    j->entry = e;
  }
  if (kernels == 1 && !j->entry->is_template) {
    j->expression = j->entry->name;
    return true;
  }
  ac_diag *x =
      !j->facts.entries.len ? ac_error(j->d, AC0809, (ac_loc){.file = j->path}, "no __global__ function is in it")
      : kernels == 1
          ? ac_error(j->d, AC0809, (ac_loc){.file = j->path}, "its kernel is a template: which one is to run?")
          : ac_error(j->d, AC0809, (ac_loc){.file = j->path}, "it holds several kernels: which one is to run?");
  if (!j->facts.entries.len) {
    ac_help(j->d, x, "a kernel looks like this: extern \"C\" __global__ __aicore__ void name(GM_ADDR x, ...)");
    ac_help(j->d, x, "one that a macro makes is not seen here: name it, --entry NAME");
    return false;
  }
  ac_help(j->d, x, "say --entry NAME%s:", kernels == 1 ? "<...>" : "");
  list_entries(j, x);
  return false;
}

static bool find_entry(job *j) {
  j->sources = ac_sources_of(j->a, j->path, NULL, j->dirs);
  for (size_t i = 0; i < ac_map_len(j->sources.seen); i++) {
    bool own = j->facts.entries.len > 0; /* kernels of included files count where the file itself has none */
    size_t n = j->facts.entries.len;
    ac_source_scan(j->a, ac_map_key(j->sources.seen, i), ac_map_value(j->sources.seen, i), &j->facts);
    if (own) j->facts.entries.len = n;
  }
  return j->o->entry ? named_entry(j) : only_entry(j);
}

/* ---- the tiling struct ---- */

static const char *last_part(const char *name) {
  const char *c = strrchr(name, ':');
  return c ? c + 1 : name;
}

static const ac_source_struct *struct_named(const job *j, const char *name) {
  for (size_t i = 0; i < j->facts.structs.len; i++)
    if (!strcmp(j->facts.structs.data[i].name, name)) return &j->facts.structs.data[i];
  for (size_t i = 0; i < j->facts.structs.len; i++)
    if (!strcmp(last_part(j->facts.structs.data[i].name), last_part(name))) return &j->facts.structs.data[i];
  return NULL;
}

/* The type's own word: "const __gm__ AddTiling *" is AddTiling. */
static const char *type_word(ac_arena *a, const char *type) {
  const char *end = type + strlen(type);
  while (end > type && (isspace((unsigned char)end[-1]) || end[-1] == '*' || end[-1] == '&')) end--;
  const char *s = end;
  while (s > type && (isalnum((unsigned char)s[-1]) || s[-1] == '_' || s[-1] == ':')) s--;
  return ac_strndup(a, s, (size_t)(end - s));
}

/* A parameter of a struct's type. */
static int struct_param(const job *j, const ac_source_struct **s) {
  for (size_t i = 0; j->entry && i < j->entry->types.len; i++)
    if ((*s = struct_named(j, type_word(j->a, j->entry->types.data[i])))) return (int)i;
  return -1;
}

static bool has_fields(const ac_source_struct *s, const ac_tiling_fields *f) {
  for (size_t i = 0; i < f->len; i++) {
    size_t n = strcspn(f->data[i].path, ".[");
    bool found = false;
    for (size_t k = 0; k < s->fields.len; k++)
      found |= strlen(s->fields.data[k]) == n && !memcmp(s->fields.data[k], f->data[i].path, n);
    if (!found) return false;
  }
  return true;
}

typedef AC_VEC(const ac_source_struct *) candidates;

/* The struct that the source itself points to: asked for by name; else made by CANN's macros; else called ...Tiling... */
static candidates possible(const job *j) {
  candidates v = {0};
  for (size_t i = 0; i < j->facts.asked.len; i++) {
    const ac_source_struct *s = struct_named(j, j->facts.asked.data[i]);
    if (s) ac_push(j->a, &v, s);
  }
  for (size_t i = 0; i < j->facts.structs.len && !v.len; i++) {
    bool nested = false; /* a part of another one */
    for (size_t k = 0; k < j->facts.structs.len; k++) nested |= k > i && j->facts.structs.data[k].macro;
    if (j->facts.structs.data[i].macro && !nested) ac_push(j->a, &v, &j->facts.structs.data[i]);
  }
  for (size_t i = 0; i < j->facts.structs.len && v.len == 0; i++)
    for (size_t k = i; k < j->facts.structs.len; k++)
      if (strstr(j->facts.structs.data[k].name, "iling")) ac_push(j->a, &v, &j->facts.structs.data[k]);
  return v;
}

static bool choose_struct(job *j) {
  if (j->o->tiling_struct) {
    j->tiling = struct_named(j, j->o->tiling_struct);
    return true;
  }
  if (struct_param(j, &j->tiling) >= 0) return true;
  candidates v = possible(j);
  if (v.len == 1) j->tiling = v.data[0];
  int fitting = 0;
  for (size_t i = 0; v.len > 1 && i < v.len; i++)
    if (j->set.len && has_fields(v.data[i], &j->set)) j->tiling = v.data[i], fitting++;
  if (v.len < 2 || fitting == 1) return true;
  j->tiling = NULL;
  if (!j->set.len && !j->facts.reads_tiling) return true; /* nobody needs to know */
  ac_diag *x = ac_error(j->d, AC0103, (ac_loc){.file = j->path}, "its tiling data may be one of several structs");
  for (size_t i = 0; i < v.len; i++) ac_help(j->d, x, "--tiling-struct %s", v.data[i]->name);
  return false;
}

/* ---- a tiling header beside the kernel, as msopgen lays projects out ---- */

static bool is_header(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot && (!strcmp(dot, ".h") || !strcmp(dot, ".hpp"));
}

static void headers_in(job *j, const char *dir, ac_strvec *found) {
  DIR *d = opendir(dir);
  for (struct dirent *e; d && (e = readdir(d));) {
    if (!is_header(e->d_name)) continue;
    char *path = ac_path_join(j->a, dir, e->d_name);
    char *text = ac_read_file(j->a, path, 1 << 20, NULL, NULL);
    if (text && strstr(text, "BEGIN_TILING_DATA_DEF")) ac_push(j->a, found, path);
  }
  if (d) closedir(d);
}

static void add_header(job *j, const char *path) {
  ac_push(j->a, &j->headers, path);
  ac_sources s = ac_sources_of(j->a, path, NULL, j->dirs);
  size_t entries = j->facts.entries.len;
  for (size_t i = 0; i < ac_map_len(s.seen); i++)
    ac_source_scan(j->a, ac_map_key(s.seen, i), ac_map_value(s.seen, i), &j->facts);
  j->facts.entries.len = entries;
}

static bool find_headers(job *j) {
  for (int i = 0; i < j->o->n_tiling_headers; i++) {
    if (!ac_exists(j->o->tiling_headers[i])) {
      ac_error(j->d, AC0101, (ac_loc){.file = j->o->tiling_headers[i]}, "there is no such file");
      return false;
    }
    if (!ac_target_no_pipe(j->o->tiling_headers[i], j->d)) return false;
    add_header(j, j->o->tiling_headers[i]);
  }
  if (j->headers.len || !j->facts.reads_tiling || possible(j).len || j->o->tiling_struct) return true;
  ac_strvec found = {0};
  const char *full = ac_absolute(j->a, j->path), *dir = ac_dirname(j->a, full), *name = ac_basename(full);
  headers_in(j, ac_path_join(j->a, dir, "../op_host"), &found);
  if (!found.len) headers_in(j, dir, &found);
  const char *own = ac_sprintf(j->a, "%.*s_tiling.h", (int)strcspn(name, "."), name);
  for (size_t i = 0; i < found.len; i++)
    if (found.len == 1 || !strcmp(ac_basename(found.data[i]), own)) {
      add_header(j, found.data[i]);
      return true;
    }
  return true;
}

/* ---- arguments ---- */

static const char *param(const job *j, size_t i) {
  return j->entry && i < j->entry->params.len && *j->entry->params.data[i] ? j->entry->params.data[i] : NULL;
}

static bool has_word(const char *name, const char *word) {
  size_t n = strlen(word);
  for (; name && *name; name++)
    if (!strncasecmp(name, word, n)) return true;
  return false;
}

static bool scratch(job *j, const char *text, ac_sim_karg *x) {
  ac_sim_number v;
  if (!ac_number_parse(text, &v) || !v.whole || v.negative) {
    ac_diag *e = ac_error(j->d, AC0103, AC_NOLOC, "--workspace %s: a number of bytes is due", text);
    ac_help(j->d, e, "a whole number, as 1048576 or 0x100000");
    return false;
  }
  x->kind = AC_KARG_WORKSPACE;
  x->bytes = v.i;
  return true;
}

static bool is_type(const char *text, size_t n) {
  static const char *const more[] = {"int8_t",   "uint8_t", "int16_t",  "uint16_t", "int32_t",
                                     "uint32_t", "int64_t", "uint64_t", "unsigned", "bfloat16_t",
                                     "bool",     "size_t",  "char"};
  char word[20];
  if (n >= sizeof word) return false;
  memcpy(word, text, n);
  word[n] = 0;
  if (ac_dtype_of(word) != AC_NODTYPE) return true;
  for (size_t i = 0; i < AC_COUNT(more); i++)
    if (!strcmp(word, more[i])) return true;
  return false;
}

static bool scalar(job *j, const char *text, ac_sim_karg *x) {
  if (!strcmp(text, "null") || !strcmp(text, "nullptr")) {
    x->kind = AC_KARG_NULL;
    return true;
  }
  const char *colon = strchr(text, ':'), *value = colon ? colon + 1 : text;
  bool typed = !colon || is_type(text, (size_t)(colon - text));
  x->kind = AC_KARG_NUMBER;
  bool number = typed && ac_number_parse(value, &x->number);
  bool whole_type = colon && *text != 'f' && *text != 'b' && *text != 'h' && *text != 'd';
  if (number && (!whole_type || x->number.whole)) return true;
  if (number) {
    ac_diag *e = ac_error(j->d, AC0103, AC_NOLOC, "--arg %s: a whole number is due", text);
    ac_help(j->d, e, "as 1000, -7, 0x3e8 or true: without a fraction or an exponent");
    return false;
  }
  ac_diag *e = ac_error(j->d, AC0103, AC_NOLOC, "--arg %s: a number is due", text);
  ac_help(j->d, e, "such as --arg int32:7, --arg float:0.5, --arg 7, or --arg null for an address that is not given");
  return false;
}

/* No instruction computes with doubles, and numpy makes them unless told otherwise: one that nobody asked for is a mistake. */
static bool is_double_meant(job *j, const ac_run_argument *g, size_t place) {
  const ac_sim_tensor *t = &j->t->tensors[j->t->n - 1];
  const char *type = j->entry && place < j->entry->types.len ? j->entry->types.data[place] : "";
  if (t->dtype != AC_F64 || strstr(g->text, ":float64") || strstr(type, "double")) return true;
  const char *file = ac_strndup(j->a, g->text, strcspn(g->text, ":"));
  ac_diag *x =
      ac_error(j->d, AC0808, (ac_loc){.file = file},
               "%s would get float64, which no vector instruction of %s computes with", t->name, j->t->chip->soc);
  ac_help(
      j->d, x,
      "save it as np.save(path, array.astype('float32')); a kernel that does take doubles gets them by %s %s:float64",
      g->kind == AC_GIVE_IN ? "--in" : "--inout", file);
  return false;
}

static bool take_argument(job *j, const ac_run_argument *g, size_t place) {
  const char *name = param(j, place);
  static const char *const options[] = {"--in", "--out", "--inout", "--workspace", "--arg"};
  ac_sim_karg x = {.tensor = j->t->n, .written = ac_sprintf(j->a, "%s %s", options[g->kind], g->text)};
  bool ok;
  switch (g->kind) {
  case AC_GIVE_IN:
  case AC_GIVE_INOUT:
    ok = ac_target_read(j->a, j->t, g->text, g->kind == AC_GIVE_INOUT, name, j->d) && is_double_meant(j, g, place);
    break;
  case AC_GIVE_OUT: ok = ac_target_output(j->a, j->t, g->text, name, j->d); break;
  case AC_GIVE_WORKSPACE: ok = scratch(j, g->text, &x); break;
  default: ok = scalar(j, g->text, &x); break;
  }
  ac_push(j->a, &j->args, x);
  return ok;
}

/* Where the tiling data goes: the parameter of its type, else the one so called, else the last. -1: nowhere. */
static int tiling_place(const job *j) {
  const ac_source_struct *s;
  int at = struct_param(j, &s);
  for (size_t i = 0; at < 0 && j->entry && i < j->entry->params.len; i++)
    if (has_word(j->entry->params.data[i], "tiling")) at = (int)i;
  return at;
}

static void insert(job *j, size_t at, ac_sim_karg x) {
  ac_push(j->a, &j->args, x);
  for (size_t i = j->args.len - 1; i > at; i--) j->args.data[i] = j->args.data[i - 1];
  j->args.data[at] = x;
}

/* What may be left out because nothing depends on it: an empty workspace, tiling data that nobody reads, a launcher's stream. */
static bool may_lack(const job *j, size_t i, ac_sim_karg *x) {
  const char *name = param(j, i);
  *x = (ac_sim_karg){.kind = AC_KARG_NULL, .written = "nothing"};
  if (has_word(name, "workspace")) return true;
  if (has_word(name, "stream")) return j->entry->launcher;
  return has_word(name, "tiling") && !j->facts.reads_tiling && !j->facts.asked.len && !j->tiling;
}

static void complete(job *j) {
  size_t n = j->entry ? j->entry->params.len : 0;
  for (size_t i = 0; i < n && j->args.len < n; i++) {
    ac_sim_karg x;
    if (may_lack(j, i, &x)) insert(j, i < j->args.len ? i : j->args.len, x);
  }
}

/* The parameter of the i-th argument, where `missing` of those that may lack are left out: as complete() puts them in. */
static size_t place_of(const job *j, size_t i, size_t missing) {
  size_t n = j->entry ? j->entry->params.len : 0;
  for (size_t at = 0; at < n; at++) {
    ac_sim_karg x;
    if (missing && may_lack(j, at, &x))
      missing--;
    else if (!i--)
      return at;
  }
  return n;
}

static bool arguments(job *j) {
  const ac_run_options *o = j->o;
  size_t n = j->entry ? j->entry->params.len : 0, given = (size_t)o->n_args + (o->n_tiling > 0);
  size_t missing = given < n ? n - given : 0;
  int tiling = o->n_tiling ? tiling_place(j) : -1;
  j->t->tensors = AC_NEW_N(j->a, ac_sim_tensor, o->n_args + 1);
  j->t->save = AC_NEW_N(j->a, const char *, o->n_args + 1);
  bool exact = given == n;
  for (int i = 0; i < o->n_args; i++) {
    size_t place = exact ? (size_t)i + (tiling >= 0 && i >= tiling) : place_of(j, (size_t)i, missing);
    if (!take_argument(j, &o->args[i], place)) return false;
  }
  if (o->n_tiling) {
    ac_sim_karg x = {.kind = AC_KARG_TILING, .written = "--tiling"};
    size_t at = exact && tiling >= 0 ? (size_t)tiling : j->args.len;
    insert(j, at < j->args.len ? at : j->args.len, x);
  }
  complete(j);
  if (!j->entry || j->args.len == n) return true;
  ac_diag *x = ac_error(j->d, AC0808, (ac_loc){.file = j->entry->file, .line = j->entry->line},
                        "%s takes %zu arguments, %zu were given", signature(j->a, j->entry), n, given);
  for (size_t i = 0; i < n; i++)
    if (has_word(param(j, i), "tiling") && !o->n_tiling)
      ac_help(j->d, x, "%s is not given: --tiling FILE, or --tiling key=value,... with the fields of its struct",
              param(j, i));
  ac_help(j->d, x,
          "in the kernel's order: --in FILE.npy, --out FILE.npy:DTYPE:SHAPE, --inout, --workspace BYTES, --arg "
          "TYPE:VALUE; "
          "--tiling goes where its parameter is");
  return false;
}

/* ---- tiling options ---- */

static bool tiling_options(job *j) {
  for (int i = 0; i < j->o->n_tiling; i++) {
    const char *text = j->o->tiling[i];
    bool folder = ac_is_dir(text), file = ac_exists(text) && !folder;
    if (!file && !strchr(text, '=')) {
      ac_diag *x =
          ac_error(j->d, AC0101, (ac_loc){.file = text}, folder ? "it is a folder" : "there is no such file");
      ac_help(j->d, x, "--tiling takes the tiling data as a file, or key=value,... for the fields of its struct");
      return false;
    }
    if (!file) {
      if (!ac_tiling_parse(j->a, text, &j->set, j->d)) return false;
      continue;
    }
    size_t n;
    if (!ac_target_no_named_pipe(text, j->d)) return false;
    if (j->o->n_tiling > 1) {
      ac_error(j->d, AC0103, AC_NOLOC, "--tiling is either one file or fields, not both");
      return false;
    }
    if (!(j->t->launch.tiling = ac_read_file(j->a, text, 1 << 20, &n, j->d))) return false;
    j->t->launch.tiling_bytes = (int64_t)n;
  }
  return true;
}

static bool list_fields(job *j) {
  const ac_source_struct *s = j->tiling;
  for (size_t i = 0; s && i < s->fields.len; i++) {
    bool set = false;
    ac_push(j->a, &j->fields, s->fields.data[i]);
    size_t n = strlen(s->fields.data[i]);
    for (size_t k = 0; k < j->set.len; k++)
      set |= !strncmp(j->set.data[k].path, s->fields.data[i], n) &&
             (!j->set.data[k].path[n] || strchr(".[", j->set.data[k].path[n]));
    if (!set && !j->t->launch.tiling) ac_push(j->a, &j->t->tiling_zero, s->fields.data[i]);
  }
  if (j->set.len && !s && !j->o->tiling_struct) {
    ac_diag *x =
        ac_error(j->d, AC0103, (ac_loc){.file = j->path}, "its tiling struct is not in the files that it includes");
    ac_help(j->d, x, "name the header: --tiling-header FILE.h, or give the data ready-made: --tiling FILE");
    return false;
  }
  return true;
}

/* Fields for the compiler: those of the struct, and the paths of the options. */
static const char *const *all_paths(const job *j) {
  ac_strvec v = {0};
  for (size_t i = 0; i < j->fields.len; i++) ac_push(j->a, &v, j->fields.data[i]);
  for (size_t k = 0; k < j->set.len; k++) {
    bool known = false;
    for (size_t i = 0; i < v.len; i++) known |= !strcmp(v.data[i], j->set.data[k].path);
    if (!known) ac_push(j->a, &v, j->set.data[k].path);
  }
  ac_push(j->a, &v, NULL);
  return v.data;
}

/* ---- DTYPE_X: what CANN's build defines for a parameter called x ---- */

static bool mentions(const job *j, const char *word) {
  for (size_t i = 0; i < ac_map_len(j->sources.seen); i++)
    if (strstr(ac_map_value(j->sources.seen, i), word)) return true;
  return false;
}

static const char *const *defines(const job *j) {
  ac_strvec v = {0};
  for (int i = 0; i < j->o->n_defines; i++) ac_push(j->a, &v, j->o->defines[i]);
  bool wanted = mentions(j, "DTYPE_");
  for (size_t i = 0; wanted && i < j->args.len; i++) {
    const char *name = param(j, i);
    if (!name || j->args.data[i].kind != AC_KARG_TENSOR) continue;
    char *upper = ac_strdup(j->a, name);
    for (char *p = upper; *p; p++) *p = (char)toupper((unsigned char)*p);
    bool own = false;
    const char *key = ac_sprintf(j->a, "DTYPE_%s=", upper);
    for (int k = 0; k < j->o->n_defines; k++) own |= !strncmp(j->o->defines[k], key, strlen(key));
    const ac_dtype_info *t = &ac_dtypes[j->t->tensors[j->args.data[i].tensor].dtype];
    if (own) continue;
    ac_push(j->a, &v, ac_sprintf(j->a, "%s%s", key, t->cpp));
    ac_push(j->a, &v, ac_sprintf(j->a, "ORIG_%s%s", key, t->ge));
  }
  ac_push(j->a, &v, NULL);
  return v.data;
}

/* ---- */

static bool check_options(job *j) {
  const ac_run_options *o = j->o;
  if (o->n_formats || o->source.n_shapes) {
    ac_error(j->d, AC0103, AC_NOLOC, "--format and --shape are not for a kernel's source: its files say the shapes");
    return false;
  }
  bool launcher = j->entry && j->entry->launcher;
  if (launcher || (o->blocks >= 1 && o->blocks <= MAX_BLOCKS)) return true;
  ac_diag *x = o->blocks
                   ? ac_error(j->d, AC0103, AC_NOLOC, "--blocks %lld: 1 to %d", (long long)o->blocks, MAX_BLOCKS)
                   : ac_error(j->d, AC0103, AC_NOLOC, "how many blocks are to run it?");
  ac_help(j->d, x, "--blocks N; %s has %d vector cores", j->t->chip->soc, j->t->chip->vector_cores);
  return false;
}

static bool build(job *j) {
  ac_target *t = j->t;
  const char *name = j->o->tiling_struct ? j->o->tiling_struct : j->tiling ? j->tiling->name : NULL;
  ac_push(j->a, &j->headers, NULL);
  ac_sim_spec spec = {.form = AC_SIM_KERNEL,
                      .op = j->expression,
                      .kernel_src = j->path,
                      .include_dirs = j->dirs,
                      .chip = t->chip,
                      .opt = j->o->optimise,
                      .defines = defines(j),
                      .headers = j->headers.data,
                      .tiling_struct = name && strncmp(name, "::", 2) != 0 ? ac_sprintf(j->a, "::%s", name) : name,
                      .tiling_fields = all_paths(j)};
  ac_push(j->a, &j->fields, NULL);
  t->name = j->expression;
  t->tiling_struct = name ? name : "";
  t->launch.args = j->args.data;
  t->launch.n_args = (int)j->args.len;
  t->launch.launcher = j->entry && j->entry->launcher;
  t->launch.blocks = j->o->blocks;
  t->launch.tiling_key = j->o->tiling_key;
  t->launch.fields = j->set.data;
  t->launch.n_fields = (int)j->set.len;
  t->launch.params = j->entry ? j->entry->params.data : NULL;
  t->launch.n_params = j->entry ? (int)j->entry->params.len : 0;
  t->launch.known_fields = j->fields.data;
  t->lib = ac_sim_build(j->a, &spec, j->d);
  return t->lib != NULL;
}

bool ac_target_kernel(ac_arena *a, const ac_run_options *o, ac_target *t, ac_diags *d) {
  *t = (ac_target){.is_kernel = true, .tiling_struct = ""};
  job j = {.a = a, .d = d, .o = o, .t = t, .path = o->input};
  j.dirs = ac_target_list(a, o->include_dirs, o->n_include_dirs);
  if (!(t->chip = ac_target_chip(a, o->source.target, d))) return false;
  if (!ac_exists(o->input) || ac_is_dir(o->input)) {
    ac_error(d, AC0101, (ac_loc){.file = o->input}, "there is no such file");
    return false;
  }
  return ac_target_no_pipe(o->input, d) && find_entry(&j) && check_options(&j) && tiling_options(&j) &&
         find_headers(&j) && choose_struct(&j) && list_fields(&j) && arguments(&j) && build(&j);
}

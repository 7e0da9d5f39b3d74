/* Chips are data: data/chips/<name>.json. */
#include "isa/cost.h"

#include <ctype.h>
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

ac_strvec ac_chip_names(ac_arena *a) {
  ac_strvec names = {0};
  char *dir = ac_home_path(a, "data/chips");
  DIR *d = dir ? opendir(dir) : NULL;
  if (!d) return names;
  for (struct dirent *e; (e = readdir(d));) {
    size_t n = strlen(e->d_name);
    if (n > 5 && !strcmp(e->d_name + n - 5, ".json")) ac_push(a, &names, ac_strndup(a, e->d_name, n - 5));
  }
  closedir(d);
  if (names.len) qsort(names.data, names.len, sizeof *names.data, by_text);
  return names;
}

/* "Ascend910B2", "910b2" -> "ascend910b2" */
static char *canonical(ac_arena *a, const char *name) {
  char *low = ac_strdup(a, name);
  for (char *p = low; *p; p++) *p = (char)tolower((unsigned char)*p);
  return strncmp(low, "ascend", 6) ? ac_sprintf(a, "ascend%s", low) : low;
}

static const ac_chip *unknown(ac_arena *a, const char *name, const ac_strvec *known, ac_diags *d) {
  ac_diag *x = ac_error(d, AC0109, AC_NOLOC, "the chip '%s' is not known", name);
  ac_buf b;
  ac_buf_init(&b, a);
  for (size_t i = 0; i < known->len; i++) ac_printf(&b, "%s%s", i ? ", " : "", known->data[i]);
  const char *near = ac_nearest(canonical(a, name), known->data, known->len);
  if (near) ac_help(d, x, "did you mean '%s'?", near);
  ac_help(d, x, "known chips: %s", ac_buf_str(&b));
  return NULL;
}

typedef struct {
  json_t *j;
  const char *bad; /* first key that is missing or of the wrong type */
} reader;

static int64_t integer(reader *r, const json_t *in, const char *key) {
  const json_t *v = json_object_get(in, key);
  if (!json_is_integer(v) && !r->bad) r->bad = key;
  return json_integer_value(v);
}
static const char *text(reader *r, const json_t *in, const char *key) {
  const json_t *v = json_object_get(in, key);
  if (!json_is_string(v) && !r->bad) r->bad = key;
  return json_is_string(v) ? json_string_value(v) : "";
}

/* Every reserved region lies at the end of UB, so they overlap and the largest one counts. */
static int64_t reserved_bytes(const json_t *regions) {
  int64_t most = 0;
  const char *key;
  json_t *v;
  json_object_foreach((json_t *)regions, key, v) {
    int64_t n = json_integer_value(json_object_get(v, "bytes"));
    if (n > most) most = n;
  }
  return most;
}

static ac_chip *decode(ac_arena *a, json_t *j, reader *r) {
  ac_chip *c = AC_NEW(a, ac_chip);
  const json_t *mem = json_object_get(j, "memories");
  c->name = text(r, j, "name");
  c->soc = text(r, j, "soc");
  c->config = text(r, j, "config");
  c->npu_arch = (int)integer(r, j, "npu_arch");
  c->split = json_is_true(json_object_get(j, "split"));
  c->copy_pad = json_is_true(json_object_get(json_object_get(j, "data_copy_pad"), "has"));
  const json_t *overflow = json_object_get(j, "half_overflow");
  const char *usual = text(r, overflow, "default");
  c->half_saturates = usual && !strcmp(usual, "saturate");
  if (usual && !c->half_saturates && strcmp(usual, "inf") != 0) r->bad = "half_overflow";
  c->overflow_register = json_is_true(json_object_get(overflow, "register"));
  c->vector_cores = (int)integer(r, j, "vector_cores");
  c->cube_cores = (int)integer(r, j, "cube_cores");
  c->ub = integer(r, mem, "ub");
  c->l1 = integer(r, mem, "l1");
  c->l0a = integer(r, mem, "l0a");
  c->l0b = integer(r, mem, "l0b");
  c->l0c = integer(r, mem, "l0c");
  c->l2 = integer(r, mem, "l2");
  c->memory = json_integer_value(json_object_get(mem, "memory")); /* not public for every chip: 0 */
  c->ub_reserved = reserved_bytes(json_object_get(j, "ub_reserved"));
  c->mhz = json_number_value(json_object_get(j, "mhz"));
  c->block = (int)integer(r, j, "block");
  c->repeat = (int)integer(r, j, "repeat");
  const json_t *also = json_object_get(j, "also");
  for (size_t i = 0; i < json_array_size(also) && i + 1 < AC_COUNT(c->also); i++) {
    c->also[i] = json_string_value(json_array_get(also, i));
    if (!c->also[i]) r->bad = "also";
  }
  c->json = j;
  return c;
}

/* A chip's JSON outlives every arena (strings of ac_chip point into it): one copy a file and process. */
static json_t *cached(ac_arena *a, const char *path, ac_diags *d) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static struct entry {
    struct entry *next;
    json_t *j;
    char path[];
  } * all;
  pthread_mutex_lock(&lock);
  struct entry *e = all;
  while (e && strcmp(e->path, path) != 0) e = e->next;
  if (!e) {
    size_t len = 0;
    char *src = ac_read_file(a, path, 0, &len, d);
    json_t *j = src ? ac_json_parse(path, src, len, d) : NULL;
    if (j && (e = malloc(sizeof *e + strlen(path) + 1))) {
      *e = (struct entry){all, j};
      memcpy(e->path, path, strlen(path) + 1);
      all = e;
    }
  }
  pthread_mutex_unlock(&lock);
  return e ? e->j : NULL;
}

/* A path, not a name: calibration runs with a copy of a chip's file. */
static bool is_path(const char *name) {
  size_t n = strlen(name);
  return n > 5 && !strcmp(name + n - 5, ".json");
}

static const ac_chip *load(ac_arena *a, const char *path, ac_diags *d) {
  json_t *j = cached(a, path, d);
  if (!j) return NULL;
  reader r = {j, NULL};
  const char *bad = NULL;
  ac_chip *c = decode(a, j, &r);
  c->costs = ac_costs_read(a, j, ac_dirname(a, path), &bad, d);
  if (!r.bad && c->costs) return c;
  ac_error(d, AC0108, (ac_loc){.file = path}, "the chip file has no usable '%s'", r.bad ? r.bad : bad);
  return NULL;
}

const ac_chip *ac_chip_load(ac_arena *a, const char *name, ac_diags *d) {
  if (is_path(name)) return load(a, ac_strdup(a, name), d);
  ac_strvec known = ac_chip_names(a);
  if (!known.len) {
    ac_error(d, AC0108, AC_NOLOC, "no chip files: data/chips was not found");
    return NULL;
  }
  const char *want = canonical(a, name);
  size_t i = 0;
  while (i < known.len && strcmp(known.data[i], want) != 0) i++;
  if (i == known.len) return unknown(a, name, &known, d);
  char *path = ac_home_path(a, ac_sprintf(a, "data/chips/%s.json", want));
  return path ? load(a, path, d) : NULL;
}

/* ---- atomic stores ---- */

const char *const ac_atomic_names[] = {
    [AC_ATOMIC_NONE] = "none", [AC_ATOMIC_ADD] = "add", [AC_ATOMIC_MAX] = "max", [AC_ATOMIC_MIN] = "min"};

bool ac_atomic_of(const char *name, ac_atomic *a) {
  for (int i = AC_ATOMIC_ADD; i <= AC_ATOMIC_MIN; i++)
    if (!strcmp(ac_atomic_names[i], name)) return *a = (ac_atomic)i, true;
  return false;
}

static const json_t *atomic_list(const ac_chip *c, ac_atomic op) {
  return json_object_get(json_object_get(c->json, "atomic_stores"), ac_atomic_names[op]);
}

bool ac_chip_atomic(const ac_chip *c, ac_atomic op, ac_dtype d) {
  const json_t *all = atomic_list(c, op);
  for (size_t i = 0; i < json_array_size(all); i++)
    if (!strcmp(json_string_value(json_array_get(all, i)), ac_dtypes[d].name)) return true;
  return false;
}

char *ac_chip_atomic_dtypes(ac_arena *a, const ac_chip *c, ac_atomic op) {
  ac_buf b;
  ac_buf_init(&b, a);
  const json_t *all = atomic_list(c, op);
  for (size_t i = 0; i < json_array_size(all); i++)
    ac_printf(&b, "%s%s", i ? ", " : "", json_string_value(json_array_get(all, i)));
  return ac_strdup(a, ac_buf_str(&b));
}

int64_t ac_chip_ub(const ac_chip *c, bool select) {
  const json_t *system = json_object_get(json_object_get(json_object_get(c->json, "ub_reserved"), "system"), "bytes");
  return c->ub - (select ? c->ub_reserved : json_integer_value(system));
}

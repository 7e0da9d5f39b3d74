/* One kernel by itself: in the child, its arguments are matched with the types that the compiler found, the tiling struct is filled by
 * name, and the blocks run. */
#include "sim/core_internal.h"
#include "sim/run_internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_PARAMS = 256 };
#define WHOLE_FORMS ", without a fraction or an exponent, as 1000, -7, 0x3e8 or true"

typedef struct {
  const ac_run_job *j;
  const ac_sim_launch *l;
  ac_run_shared *o;
  acsim_session *s;
  acsim_kernel_run_fn run;
  acsim_param param[MAX_PARAMS];
  acsim_arg arg[MAX_PARAMS];
  int n;
} kernel;

static const char *param_name(const kernel *k, int i) {
  return i < k->l->n_params && *k->l->params[i] ? k->l->params[i] : "?";
}

/* "x, y, tiling" */
static void param_names(const kernel *k, char *to, size_t n) {
  size_t at = 0;
  to[0] = 0;
  for (int i = 0; i < k->n && at < n; i++)
    at += (size_t)snprintf(to + at, n - at, "%s%s %s", i ? ", " : "", k->param[i].type, param_name(k, i));
}

static bool misfit(const kernel *k, int i, const char *wants) {
  ac_run_problem_note(k->o, AC_RUN_ARGUMENTS, "argument %d of %s, %s %s, wants %s, not %s", i + 1, k->j->lib->spec.op,
                      k->param[i].type, param_name(k, i), wants, k->l->args[i].written);
  return false;
}

/* ---- tiling data ---- */

static void known_fields(const kernel *k, char *to, size_t n) {
  size_t at = 0;
  to[0] = 0;
  for (const char *const *f = k->l->known_fields; f && *f && at < n; f++)
    at += (size_t)snprintf(to + at, n - at, "%s%s", at ? ", " : "", *f);
}

static void field_problem(const kernel *k, const ac_sim_field *f, const acsim_set_result *r) {
  const char *name = k->j->lib->spec.tiling_struct;
  char fields[500];
  switch (r->status) {
  case ACSIM_SET_RANGE: {
    const ac_sim_number *v = &f->values[r->value];
    char text[40];
    if (!v->whole)
      snprintf(text, sizeof text, "%g", v->f);
    else
      snprintf(text, sizeof text, v->negative ? "%lld" : "%llu", (long long)v->i);
    ac_run_problem_note(k->o, AC_RUN_ARGUMENTS, "tiling: %s does not fit field %s of %s, which is %s%s", text,
                        f->path, name, r->type, v->whole ? "" : ": give a whole number" WHOLE_FORMS);
    break;
  }
  case ACSIM_SET_LENGTH:
    ac_run_problem_note(k->o, AC_RUN_ARGUMENTS, "tiling: %d values for field %s of %s, which holds %lld of %s", f->n,
                        f->path, name, (long long)r->length, r->type);
    break;
  case ACSIM_SET_STRUCT:
    ac_run_problem_note(k->o, AC_RUN_ARGUMENTS,
                        "tiling: field %s of %s is a struct (%s): set its members, as %s.member=1", f->path, name,
                        r->type, f->path);
    break;
  case ACSIM_SET_TYPE:
    ac_run_problem_note(k->o, AC_RUN_ARGUMENTS, "tiling: field %s of %s is %s, which no number can fill", f->path,
                        name, r->type);
    break;
  default:
    known_fields(k, fields, sizeof fields);
    size_t n = 0;
    while (k->l->known_fields && k->l->known_fields[n]) n++;
    const char *near = n ? ac_nearest(f->path, k->l->known_fields, n) : NULL;
    ac_run_problem_note(k->o, AC_RUN_ARGUMENTS, "tiling: %s has no field '%s'%s%s%s; its fields are %s", name,
                        f->path, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "",
                        *fields ? fields : "not known");
  }
}

static bool set_fields(const kernel *k, acsim_tiling_set_fn set) {
  for (int i = 0; i < k->l->n_fields; i++) {
    const ac_sim_field *f = &k->l->fields[i];
    acsim_number v[4096];
    if (f->n > (int)AC_COUNT(v)) {
      ac_run_problem_note(k->o, AC_RUN_ARGUMENTS, "tiling: more than %d values for %s", (int)AC_COUNT(v), f->path);
      return false;
    }
    for (int q = 0; q < f->n; q++) {
      const ac_sim_number *x = &f->values[q];
      v[q] = (acsim_number){.whole = x->whole, .negative = x->negative, .i = x->i, .f = x->f};
    }
    acsim_set_result r = {.status = ACSIM_SET_NO_FIELD};
    set(k->o->tiling, f->path, v, f->n, &r);
    if (r.status == ACSIM_SET_OK) continue;
    field_problem(k, f, &r);
    return false;
  }
  return true;
}

/* ---- fields that were given in part ---- */

/* A list of what nobody gave. */
typedef struct {
  char *to;
  size_t n, at;
} text;
static AC_PRINTF(2, 3) void say(text *t, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int n = t->at < t->n ? vsnprintf(t->to + t->at, t->n - t->at, fmt, ap) : 0;
  va_end(ap);
  t->at += n > 0 ? (size_t)n : 0;
}

/* What is left of [from, from + n) that no option has set: 0 nothing, 1 a part, 2 all. Gaps narrower than `align` may be padding. */
static int left_of(const uint8_t *is_set, int64_t from, int64_t n, int64_t align) {
  int64_t gap = 0, widest = 0;
  for (int64_t i = from; i < from + n; i++) {
    gap = is_set[i] ? 0 : gap + 1;
    if (gap > widest) widest = gap;
  }
  return widest == n ? 2 : widest >= align;
}

/* "a but for a.m, a.n": of a struct, whose members the options name. */
static void left_of_struct(const kernel *k, const char *name, text *t) {
  const char *between = " but for ";
  size_t n = strlen(name);
  say(t, "%s%s", t->at ? ", " : "", name);
  for (int i = 0; i < k->l->n_fields; i++) {
    const char *path = k->l->fields[i].path;
    if (strncmp(path, name, n) != 0 || path[n] != '.') continue;
    say(t, "%s%s", between, path);
    between = ", ";
  }
}

/* "a[2], a[4..7]" */
static void left_of_array(const uint8_t *is_set, int64_t from, const acsim_set_result *r, const char *name, text *t) {
  int64_t each = r->bytes / r->length, first = -1;
  for (int64_t i = 0; i <= r->length; i++) {
    int left = i < r->length ? left_of(is_set, from + i * each, each, r->align) : 0;
    if (left == 2 && first < 0) first = i;
    if (left == 2 || (first < 0 && !left)) continue;
    if (first == i - 1) say(t, "%s%s[%lld]", t->at ? ", " : "", name, (long long)first);
    if (first >= 0 && first < i - 1)
      say(t, "%s%s[%lld..%lld]", t->at ? ", " : "", name, (long long)first, (long long)i - 1);
    if (left == 1) say(t, "%s%s[%lld] in part", t->at ? ", " : "", name, (long long)i);
    first = -1;
  }
}

/* The options set two copies that differ in every byte: what is equal then is set. */
static bool note_partial(const kernel *k, acsim_tiling_set_fn set, int64_t size) {
  uint8_t *zeros = calloc(2, (size_t)size), *ones = zeros ? zeros + size : NULL;
  if (!zeros) return true;
  memset(ones, 0xff, (size_t)size);
  ac_run_shared *o = k->o;
  bool fits = true;
  for (int copy = 0; copy < 2 && fits; copy++) {
    memcpy(o->tiling, copy ? ones : zeros, (size_t)size);
    fits = set_fields(k, set);
    memcpy(copy ? ones : zeros, o->tiling, (size_t)size);
  }
  for (int64_t i = 0; i < size; i++) zeros[i] = zeros[i] == ones[i]; /* from here on: is it set? */
  text t = {o->tiling_partial, sizeof o->tiling_partial, 0};
  for (const char *const *f = k->l->known_fields; fits && f && *f; f++) {
    acsim_set_result r = {.status = ACSIM_SET_NO_FIELD};
    set(o->tiling, *f, NULL, 0, &r);
    if (!r.at || r.bytes <= 0 || r.length <= 0) continue;
    int64_t from = (uint8_t *)r.at - o->tiling;
    if (from < 0 || from + r.bytes > size || left_of(zeros, from, r.bytes, r.align) != 1) continue;
    if (r.status == ACSIM_SET_STRUCT)
      left_of_struct(k, *f, &t);
    else
      left_of_array(zeros, from, &r, *f, &t);
  }
  if (t.at >= t.n) memcpy(t.to + t.n - 4, "...", 4);
  free(zeros);
  return fits;
}

/* Leaves the tiling data in the shared result. */
static bool make_tiling(kernel *k, void *h) {
  ac_run_shared *o = k->o;
  acsim_tiling_bytes_fn bytes = (acsim_tiling_bytes_fn)ac_run_need(o, h, "acsim_tiling_bytes");
  acsim_tiling_init_fn init = (acsim_tiling_init_fn)ac_run_need(o, h, "acsim_tiling_init");
  acsim_tiling_set_fn set = (acsim_tiling_set_fn)ac_run_need(o, h, "acsim_tiling_set");
  if (!bytes || !init || !set) return false;
  int64_t size = bytes();
  o->tiling_bytes = k->l->tiling ? k->l->tiling_bytes : size;
  if (o->tiling_bytes > (int64_t)sizeof o->tiling) {
    ac_run_problem_note(o, AC_RUN_ARGUMENTS, "tiling data of %lld bytes: the simulator takes %lld",
                        (long long)o->tiling_bytes, (long long)sizeof o->tiling);
    return false;
  }
  if (!k->l->tiling) {
    if (size && k->l->n_fields && !note_partial(k, set, size)) return false;
    if (size) init(o->tiling);
    return set_fields(k, set);
  }
  if (k->l->tiling_bytes < size) {
    ac_run_problem_note(o, AC_RUN_ARGUMENTS, "the tiling file has %lld bytes, %s has %lld",
                        (long long)k->l->tiling_bytes, k->j->lib->spec.tiling_struct, (long long)size);
    return false;
  }
  memcpy(o->tiling, k->l->tiling, (size_t)k->l->tiling_bytes);
  return true;
}

/* ---- arguments ---- */

static bool whole_fits(const acsim_param *p, const ac_sim_number *v) {
  if (!v->whole) return false;
  if (p->bytes >= 8) return p->is_signed ? v->negative || v->i >= 0 : !v->negative;
  int bits = (int)p->bytes * 8;
  if (p->bytes == 1 && !strcmp(p->type, "bool")) return v->i == 0 || v->i == 1;
  int64_t least = p->is_signed ? -((int64_t)1 << (bits - 1)) : 0,
          most = p->is_signed ? ((int64_t)1 << (bits - 1)) - 1 : ((int64_t)1 << bits) - 1;
  return (v->negative || v->i >= 0) && v->i >= least && v->i <= most;
}

static bool scalar(kernel *k, int i) {
  const acsim_param *p = &k->param[i];
  const ac_sim_karg *x = &k->l->args[i];
  char wants[220];
  if (x->kind != AC_KARG_NUMBER) {
    snprintf(wants, sizeof wants, "a number (--arg %s:VALUE)", p->type);
    return misfit(k, i, wants);
  }
  if (p->kind == ACSIM_PARAM_INTEGER && !whole_fits(p, &x->number)) {
    snprintf(wants, sizeof wants, "an integer that fits %s%s", p->type, x->number.whole ? "" : WHOLE_FORMS);
    return misfit(k, i, wants);
  }
  k->arg[i].i = x->number.i;
  k->arg[i].f = !x->number.whole     ? x->number.f
                : x->number.negative ? (double)x->number.i
                                     : (double)(uint64_t)x->number.i;
  return true;
}

static bool workspace(kernel *k, int i) {
  int64_t bytes = k->l->args[i].bytes;
  if (!bytes) return true;
  void *p = ac_run_map(k->o, bytes);
  if (!p) return false;
  k->o->workspace += bytes;
  acsim_add_buffer(
      k->s, &(acsim_buffer){.name = "workspace", .data = p, .bytes = bytes, .elem = 1, .kind = ACSIM_WORKSPACE});
  k->arg[i].p = p;
  return true;
}

static bool pointer(kernel *k, int i) {
  const ac_sim_karg *x = &k->l->args[i];
  switch (x->kind) {
  case AC_KARG_TENSOR: k->arg[i].p = k->j->tensors[x->tensor].data; return true;
  case AC_KARG_WORKSPACE: return workspace(k, i);
  case AC_KARG_NULL: return true;
  case AC_KARG_TILING:
    k->arg[i].p = k->o->tiling_bytes ? k->o->tiling : NULL;
    if (k->o->tiling_bytes)
      acsim_add_buffer(
          k->s,
          &(acsim_buffer){
              .name = "tiling", .data = k->o->tiling, .bytes = k->o->tiling_bytes, .elem = 1, .kind = ACSIM_TILING});
    return true;
  default: return misfit(k, i, "an address (--in, --out, --inout, --workspace or --arg null)");
  }
}

static bool match(kernel *k) {
  if (k->n != k->l->n_args) {
    char names[700];
    param_names(k, names, sizeof names);
    ac_run_problem_note(k->o, AC_RUN_ARGUMENTS, "%s takes %d arguments (%s), %d were given", k->j->lib->spec.op, k->n,
                        names, k->l->n_args);
    return false;
  }
  for (int i = 0; i < k->n; i++) {
    bool ok;
    switch (k->param[i].kind) {
    case ACSIM_PARAM_POINTER: ok = pointer(k, i); break;
    case ACSIM_PARAM_STRUCT:
      ok = k->l->args[i].kind == AC_KARG_TILING || misfit(k, i, "tiling data (--tiling)");
      if (ok && (uint64_t)k->o->tiling_bytes < k->param[i].bytes) {
        ac_run_problem_note(k->o, AC_RUN_ARGUMENTS, "the tiling data has %lld bytes, %s has %llu",
                            (long long)k->o->tiling_bytes, k->param[i].type, (unsigned long long)k->param[i].bytes);
        ok = false;
      }
      k->arg[i].p = k->o->tiling;
      break;
    default: ok = scalar(k, i);
    }
    if (!ok) return false;
  }
  return true;
}

static void one_block(void *user) {
  const kernel *k = user;
  k->run(k->arg);
}

int ac_run_kernel_child(const ac_run_job *j) {
  ac_run_shared *o = j->out;
  kernel k = {.j = j, .l = j->launch, .o = o};
  void *h = ac_run_load(o, j->lib->kernel_so[0]);
  acsim_kernel_params_fn params = (acsim_kernel_params_fn)ac_run_need(o, h, "acsim_kernel_params");
  k.run = (acsim_kernel_run_fn)ac_run_need(o, h, "acsim_kernel_run");
  if (!params || !k.run) return 0;
  k.n = params(k.param, MAX_PARAMS);
  if (k.n > MAX_PARAMS)
    return ac_run_problem_note(o, AC_RUN_ARGUMENTS, "%s takes %d arguments, the simulator %d", j->lib->spec.op, k.n,
                               (int)MAX_PARAMS);
  o->stage = AC_STAGE_TILING;
  if (!make_tiling(&k, h)) return 0;
  o->tiling_key = (int64_t)j->launch->tiling_key;
  k.s = ac_run_session_open(j);
  ac_run_add_constants(k.s, h);
  if (!match(&k)) return 0;
  o->stage = AC_STAGE_BLOCKS;
  bool launcher = j->launch->launcher;
  ac_run_globals *globals = ac_run_globals_open(h, !j->lib->host_code && !launcher, launcher);
  acsim_set_tiling_key(k.s, j->launch->tiling_key);
  if (launcher)
    k.run(k.arg);
  else
    acsim_launch(k.s, j->launch->blocks, j->launch->tiling_key, one_block, &k);
  o->block_dim = acsim_last_block_dim(k.s);
  ac_run_globals_close(globals, k.s, launcher ? NULL : (const void *)(uintptr_t)k.run);
  ac_run_session_close(j, k.s);
  return 0;
}

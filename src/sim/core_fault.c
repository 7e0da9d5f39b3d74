/* Faults: the same place (of a hazard: the same pair of places) once, with a count; the message of the first block (in starting order) that met it. */
#include "sim/core_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PLACES = 200, MAX_WARNINGS = 100 /* of them: faults always find room */ };

const ac_sim_fault_kind ac_sim_fault_kinds[] = {
#define FAULT(kind, what) {kind, false, what},
#define WARN(kind, what) {kind, true, what},
#include "sim/fault_kinds.def"
#undef FAULT
#undef WARN
};
const size_t ac_sim_n_fault_kinds = AC_COUNT(ac_sim_fault_kinds);

const ac_sim_fault_kind *ac_sim_fault_kind_of(const char *kind) {
  for (size_t i = 0; i < ac_sim_n_fault_kinds; i++)
    if (!strcmp(ac_sim_fault_kinds[i].kind, kind)) return &ac_sim_fault_kinds[i];
  return NULL;
}

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && !strcmp(a, b));
}

static acsim_entry *find(acsim_collector *c, const char *kind, acsim_at at, acsim_at other, bool cores) {
  for (size_t i = 0; i < c->list.len; i++) {
    acsim_entry *e = &c->list.data[i];
    if (e->cores == cores && e->f.line == at.line && e->other.line == other.line && !strcmp(e->f.kind, kind) &&
        same_text(e->f.file, at.file) && same_text(e->other.file, other.file))
      return e;
  }
  return NULL;
}

static void fill(acsim_collector *c, acsim_entry *e, const acsim_block *b, const char *fmt, va_list ap) {
  e->f.message = ac_vsprintf(c->arena, fmt, ap);
  e->f.block = b ? b->index : -1;
  e->rank = b ? b->rank : -1;
}

static void add(acsim_session *s, const acsim_block *b, const char *kind, acsim_at at, acsim_at other, bool cores,
                const char *fmt, va_list ap) {
  acsim_collector *c = &s->faults;
  const ac_sim_fault_kind *known = ac_sim_fault_kind_of(kind);
  if (!known) {
    fprintf(stderr, "simulator: the kind of fault \"%s\" is not in fault_kinds.def\n", kind);
    abort();
  }
  pthread_mutex_lock(&c->lock);
  acsim_entry *e = find(c, kind, at, other, cores);
  if (e) {
    e->f.count++;
    if (b && b->rank < e->rank) fill(c, e, b, fmt, ap);
  } else if (c->list.len == MAX_PLACES || (known->warning && c->list.len >= MAX_WARNINGS)) {
    c->dropped += !known->warning;
  } else {
    acsim_entry fresh = {.f = {.kind = kind, .line = at.line, .count = 1}, .cores = cores};
    fresh.f.file = at.file ? ac_strdup(c->arena, at.file) : NULL;
    fresh.other = (acsim_at){other.file ? ac_strdup(c->arena, other.file) : NULL, other.line};
    fill(c, &fresh, b, fmt, ap);
    ac_push(c->arena, &c->list, fresh);
  }
  pthread_mutex_unlock(&c->lock);
}

void acsim_fault(acsim_session *s, const acsim_block *b, const char *kind, acsim_at at, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  add(s, b, kind, at, (acsim_at){0}, false, fmt, ap);
  va_end(ap);
}
void acsim_fault_pair(acsim_session *s, const acsim_block *b, const char *kind, acsim_at at, acsim_at other,
                      const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  add(s, b, kind, at, other, false, fmt, ap);
  va_end(ap);
}
void acsim_fault_cores(acsim_session *s, const acsim_block *b, const char *kind, acsim_at at, acsim_at other,
                       const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  add(s, b, kind, at, other, true, fmt, ap);
  va_end(ap);
}

bool acsim_fault_seen(const acsim_session *s, const char *kind) {
  for (size_t i = 0; i < s->faults.list.len; i++)
    if (!strcmp(s->faults.list.data[i].f.kind, kind)) return true;
  return false;
}

static int by_place(const void *x, const void *y) {
  const acsim_entry *p = x, *q = y;
  const ac_sim_fault *a = &p->f, *b = &q->f;
  if (!a->file != !b->file) return a->file ? -1 : 1; /* faults without a place come last */
  int r = a->file ? strcmp(a->file, b->file) : 0;
  if (!r) r = a->line < b->line ? -1 : a->line > b->line;
  if (!r) r = strcmp(a->kind, b->kind);
  if (!r) r = q->cores - p->cores;
  return r ? r : strcmp(a->message, b->message);
}

static bool same_place(const acsim_at *a, const char *file, int line) {
  return a->line == line && same_text(a->file, file);
}
/* One order between the cores is missing; that a block's own accesses at these places are unordered, too, follows from it. */
static bool follows(const acsim_entry *own, const acsim_entry *cores) {
  if (own->cores || !cores->cores) return false;
  acsim_at place = {own->f.file, own->f.line};
  return (same_place(&place, cores->f.file, cores->f.line) &&
          same_place(&own->other, cores->other.file, cores->other.line)) ||
         (same_place(&own->other, cores->f.file, cores->f.line) &&
          same_place(&place, cores->other.file, cores->other.line));
}
static void cores_first(acsim_entry *e, size_t n) {
  for (size_t i = 0; i < n; i++)
    for (size_t k = i + 1; k < n; k++) {
      if (!follows(&e[i], &e[k])) continue;
      acsim_entry x = e[k];
      memmove(&e[i + 1], &e[i], (k - i) * sizeof *e);
      e[i] = x;
      break;
    }
}

static const ac_sim_fault *sorted(const acsim_session *s, bool warnings, size_t *n) {
  const acsim_collector *c = &s->faults;
  acsim_entry *e = AC_NEW_N(c->arena, acsim_entry, c->list.len + 1);
  size_t k = 0;
  for (size_t i = 0; i < c->list.len; i++)
    if (ac_sim_fault_kind_of(c->list.data[i].f.kind)->warning == warnings) e[k++] = c->list.data[i];
  if (k) qsort(e, k, sizeof *e, by_place);
  cores_first(e, k);
  ac_sim_fault *out = AC_NEW_N(c->arena, ac_sim_fault, k + 1);
  for (size_t i = 0; i < k; i++) out[i] = e[i].f;
  *n = k;
  return out;
}
const ac_sim_fault *acsim_faults(const acsim_session *s, size_t *n, int64_t *dropped) {
  if (dropped) *dropped = s->faults.dropped;
  return sorted(s, false, n);
}
const ac_sim_fault *acsim_warnings(const acsim_session *s, size_t *n) {
  return sorted(s, true, n);
}

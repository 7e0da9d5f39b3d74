/* Interned strings, the ordered map, and edit distance. */
#include "base/base.h"
#include "base/internal.h"

#include <assert.h>
#include <ctype.h>
#include <pthread.h>
#include <string.h>

uint64_t ac_hash(const char *s, size_t n) {
  uint64_t h = 1469598103934665603u;
  for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)s[i]) * 1099511628211u;
  return h ^ h >> 32;
}

/* Both containers are a growing list of entries plus an open-addressing index into it (slot = entry number + 1), so a
 * walk in insertion order needs nothing more. */
typedef struct {
  const char *key;
  size_t len;
  uint64_t hash;
  void *value;
} entry;

typedef struct {
  ac_arena *arena;
  AC_VEC(entry) list;
  uint32_t *slots;
  size_t nslots; /* a power of two, or 0 */
} table;

static void table_index(table *t, size_t i) {
  size_t k = t->list.data[i].hash & (t->nslots - 1);
  while (t->slots[k]) k = (k + 1) & (t->nslots - 1);
  t->slots[k] = (uint32_t)(i + 1);
}

static void table_grow(table *t) {
  if (t->list.len * 2 < t->nslots) return;
  size_t n = t->nslots ? t->nslots * 2 : 16;
  t->slots = AC_NEW_N(t->arena, uint32_t, n);
  t->nslots = n;
  for (size_t i = 0; i < t->list.len; i++) table_index(t, i);
}

static entry *table_find(const table *t, const char *key, size_t len, uint64_t hash) {
  if (!t->nslots) return NULL;
  for (size_t k = hash & (t->nslots - 1); t->slots[k]; k = (k + 1) & (t->nslots - 1)) {
    entry *e = &t->list.data[t->slots[k] - 1];
    if (e->hash == hash && e->len == len && !memcmp(e->key, key, len)) return e;
  }
  return NULL;
}

/* The entry of the key, added with a copy of it when absent. */
static entry *table_put(table *t, const char *key, size_t len) {
  uint64_t hash = ac_hash(key, len);
  entry *e = table_find(t, key, len, hash);
  if (e) return e;
  entry fresh = {.key = ac_strndup(t->arena, key, len), .len = len, .hash = hash};
  ac_push(t->arena, &t->list, fresh);
  size_t slots_before = t->nslots;
  table_grow(t);
  if (t->nslots == slots_before) table_index(t, t->list.len - 1);
  return &t->list.data[t->list.len - 1];
}

struct ac_strings {
  table t;
};

ac_strings *ac_strings_new(ac_arena *a) {
  ac_strings *s = AC_NEW(a, ac_strings);
  s->t.arena = a;
  return s;
}

const char *ac_intern_n(ac_strings *t, const char *s, size_t n) {
  return table_put(&t->t, s, n)->key;
}
const char *ac_intern(ac_strings *t, const char *s) {
  return ac_intern_n(t, s, strlen(s));
}

struct ac_map {
  table t;
};

ac_map *ac_map_new(ac_arena *a) {
  ac_map *m = AC_NEW(a, ac_map);
  m->t.arena = a;
  return m;
}

void ac_map_put(ac_map *m, const char *key, void *value) {
  table_put(&m->t, key, strlen(key))->value = value;
}

static entry *map_find(const ac_map *m, const char *key) {
  size_t n = strlen(key);
  return table_find(&m->t, key, n, ac_hash(key, n));
}

void *ac_map_get(const ac_map *m, const char *key) {
  entry *e = map_find(m, key);
  return e ? e->value : NULL;
}

bool ac_map_has(const ac_map *m, const char *key) {
  return map_find(m, key) != NULL;
}
size_t ac_map_len(const ac_map *m) {
  return m->t.list.len;
}
const char *ac_map_key(const ac_map *m, size_t i) {
  return m->t.list.data[i].key;
}
void *ac_map_value(const ac_map *m, size_t i) {
  return m->t.list.data[i].value;
}

static size_t min3(size_t a, size_t b, size_t c) {
  size_t m = a < b ? a : b;
  return m < c ? m : c;
}

enum { LONGEST_WORD = 64 };

/* Optimal string alignment (insert, delete, replace, swap neighbours), upper and lower case being equal.
 * Words longer than LONGEST_WORD are never close. */
static size_t distance(const char *a, const char *b) {
  size_t la = strlen(a), lb = strlen(b);
  if (la > LONGEST_WORD || lb > LONGEST_WORD) return SIZE_MAX;
  size_t rows[3][LONGEST_WORD + 1];
  size_t *two = rows[0], *one = rows[1], *now = rows[2];
  for (size_t j = 0; j <= lb; j++) one[j] = j;
  for (size_t i = 1; i <= la; i++) {
    now[0] = i;
    for (size_t j = 1; j <= lb; j++) {
      int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
      now[j] = min3(one[j] + 1, now[j - 1] + 1, one[j - 1] + (x != y));
      bool swapped = i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) && y == tolower((unsigned char)a[i - 2]);
      if (swapped && two[j - 2] + 1 < now[j]) now[j] = two[j - 2] + 1;
    }
    size_t *t = two;
    two = one;
    one = now;
    now = t;
  }
  return one[lb];
}

const char *ac_nearest(const char *word, const char *const *names, size_t n) {
  size_t len = strlen(word), limit = len / 3 < 1 ? 1 : len / 3, best = limit + 1;
  const char *found = NULL;
  for (size_t i = 0; i < n; i++) {
    size_t d = distance(word, names[i]);
    if (d < best && d < len) {
      best = d;
      found = names[i];
    }
  }
  return found;
}

/* ---- fixed lists of names ---- */

static const char *name_at(const ac_names *t, size_t i) {
  const char *s;
  memcpy(&s, (const char *)t->first + i * t->stride, sizeof s);
  return s;
}

/* Where a name is, or would be. */
static uint16_t *name_slot(ac_names *t, const char *name) {
  uint64_t k = 5381; /* short names: a step a letter */
  for (const char *p = name; *p; p++) k = k * 33 + (unsigned char)*p;
  for (;; k++) {
    uint16_t *at = &t->slots[k & (AC_NAMES_ROOM - 1)];
    if (!*at || !strcmp(name_at(t, *at - 1u), name)) return at;
  }
}

int ac_names_find(ac_names *t, const char *name) {
  static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
  if (!__atomic_load_n(&t->ready, __ATOMIC_ACQUIRE)) {
    pthread_mutex_lock(&making);
    assert(t->n <= AC_NAMES_ROOM / 2);
    for (size_t i = 0; !t->ready && i < t->n; i++) {
      uint16_t *at = name_at(t, i) ? name_slot(t, name_at(t, i)) : NULL;
      if (at && !*at) *at = (uint16_t)(i + 1);
    }
    __atomic_store_n(&t->ready, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&making);
  }
  return (int)*name_slot(t, name) - 1;
}

/* Chunked bump allocator. Objects are cleared one by one when they are handed out: nearer to their use than a chunk at once would be, and
 * texts need not be. A large object has a chunk of its own from calloc, so a gigabyte asked for in one piece costs nothing until it is used. */
#include "base/base.h"
#include "base/internal.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if AC_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
enum { REDZONE = 16 };            /* a gap that stays poisoned, so that an overrun of one object is seen */
#define LARGEST ((size_t)1 << 39) /* its calloc aborts above 2^40 instead of returning NULL */
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
enum { REDZONE = 0 };
#define LARGEST (SIZE_MAX / 4)
#endif

enum { ALIGN = 16, FIRST_CHUNK = 64 << 10, MAX_CHUNK = 4 << 20 };

typedef struct chunk {
  struct chunk *next;
  size_t size, used; /* of the bytes after the header */
  _Alignas(ALIGN) char bytes[];
} chunk;

struct ac_arena {
  chunk *head;   /* the one being filled */
  size_t next;   /* size of the next ordinary chunk */
  char *last;    /* newest object, which may still grow in place */
  size_t last_n; /* its bytes */
};

static ac_oom_fn oom_fn;
static void *oom_user;
static _Atomic uint64_t fail_at; /* 0: never */

void ac_on_oom(ac_oom_fn fn, void *user) {
  oom_fn = fn;
  oom_user = user;
}

void ac_fail_alloc_at(uint64_t n) {
  atomic_store(&fail_at, n);
}

static _Atomic bool ran_out;

bool ac_memory_ran_out(void) {
  return atomic_load(&ran_out);
}
void ac_no_memory(const char *what) {
  atomic_store(&ran_out, true);
  fprintf(stderr, "out of memory%s%s\n", what ? " for " : "", what ? what : "");
  exit(AC_LIMIT);
}

AC_NORETURN static void out_of_memory(size_t wanted) {
  if (oom_fn) oom_fn(wanted, oom_user);
  atomic_store(&ran_out, true);
  fprintf(stderr,
          "error[AC0106]: out of memory (%zu bytes more were needed)\n"
          "  help: use a smaller --shape, or run on a host with more memory\n",
          wanted);
  exit(AC_LIMIT);
}

static bool injected_failure(void) {
  if (atomic_load_explicit(&fail_at, memory_order_relaxed) == 0) return false;
  return atomic_fetch_sub(&fail_at, 1) == 1;
}

/* One chunk of each ordinary size stays with the process when its arena goes (8 MiB in all), for the next arena: the system would have to
 * clear its pages anew. Not under the address sanitizer, which shall see what is used after that. */
enum { KEPT = 7 };
_Static_assert(FIRST_CHUNK << (KEPT - 1) == MAX_CHUNK, "a place for each size");
static _Atomic(chunk *) kept[KEPT];

/* Its place, or NULL: not of an ordinary size. */
static _Atomic(chunk *) *place_of(size_t size) {
  if (REDZONE > 0 || size < FIRST_CHUNK || size > MAX_CHUNK || (size & (size - 1))) return NULL;
  return &kept[__builtin_ctzll(size / FIRST_CHUNK)];
}

static void give_back(chunk *c) {
  _Atomic(chunk *) *at = place_of(c->size);
  chunk *none = NULL;
  if (!at || !atomic_compare_exchange_strong(at, &none, c)) free(c);
}

static chunk *kept_chunk(size_t size) {
  _Atomic(chunk *) *at = place_of(size);
  return at ? atomic_exchange(at, NULL) : NULL;
}

ac_arena *ac_arena_new(void) {
  ac_arena *a = injected_failure() ? NULL : calloc(1, sizeof *a);
  if (!a) out_of_memory(sizeof *a);
  a->next = FIRST_CHUNK;
  return a;
}

void ac_arena_free(ac_arena *a) {
  if (!a) return;
  for (chunk *c = a->head, *next; c; c = next) {
    next = c->next;
    UNPOISON(c->bytes, c->size);
    give_back(c);
  }
  free(a);
}

size_t ac_arena_bytes(const ac_arena *a) {
  size_t n = sizeof *a;
  for (const chunk *c = a->head; c; c = c->next) n += sizeof *c + c->size;
  return n;
}

/* Bytes that an object of n bytes takes in a chunk; 0 when no host has that many. */
static size_t footprint(size_t n) {
  if (n > LARGEST) return 0;
  size_t r = (n + ALIGN - 1) / ALIGN * ALIGN;
  return (r ? r : ALIGN) + REDZONE;
}

/* A chunk of its own for a large object comes zeroed if that is asked for, others as they are. */
static chunk *new_chunk(ac_arena *a, size_t need, bool own, bool zero) {
  size_t size = own ? need : a->next;
  chunk *c = own ? NULL : kept_chunk(size);
  if (!c) c = own && zero ? calloc(1, sizeof *c + size) : malloc(sizeof *c + size);
  if (!c) out_of_memory(need);
  *c = (chunk){.size = size};
  POISON(c->bytes, size);
  if (own && a->head) { /* behind the head, whose rest stays in use */
    c->next = a->head->next;
    a->head->next = c;
  } else {
    c->next = a->head;
    a->head = c;
    if (!own && a->next < MAX_CHUNK) a->next *= 2;
  }
  return c;
}

/* Most objects are small: no call for those. */
static void clear(char *p, size_t n) {
  size_t whole = (n + ALIGN - 1) / ALIGN * ALIGN; /* all of it is the object's */
  if (REDZONE > 0 || whole > 4 * ALIGN) {
    memset(p, 0, n);
    return;
  }
  if (whole > 2 * ALIGN) {
    memset(p + ALIGN, 0, ALIGN);
    memset(p + whole - 2 * ALIGN, 0, ALIGN);
  }
  memset(p, 0, ALIGN);
  if (whole) memset(p + whole - ALIGN, 0, ALIGN);
}

static void *take(ac_arena *a, size_t n, bool zero) {
  size_t need = footprint(n);
  if (!need || injected_failure()) out_of_memory(n);
  chunk *c = a->head;
  bool fresh = !c || c->size - c->used < need, own = fresh && need > a->next / 2;
  if (fresh) c = new_chunk(a, need, own, zero);
  char *p = c->bytes + c->used;
  c->used += need;
  UNPOISON(p, n);
  if (c == a->head) {
    a->last = p;
    a->last_n = n;
  }
  if (zero && !own) clear(p, n);
  return p;
}

void *ac_alloc(ac_arena *a, size_t n) {
  return take(a, n, true);
}

void *ac_alloc_n(ac_arena *a, size_t count, size_t size) {
  size_t n;
  if (__builtin_mul_overflow(count, size, &n)) out_of_memory(SIZE_MAX);
  return ac_alloc(a, n);
}

/* Grows an object: in place when it is the newest one and its chunk has room, else by copying. */
void *ac_regrow(ac_arena *a, void *p, size_t old, size_t n) {
  chunk *c = a->head;
  if (p && p == a->last && old == a->last_n && c) {
    size_t at = (size_t)(a->last - c->bytes), need = footprint(n);
    if (need && at + need <= c->size) {
      if (injected_failure()) out_of_memory(n);
      c->used = at + need;
      UNPOISON(p, n);
      a->last_n = n;
      return p;
    }
  }
  void *q = take(a, n, false);
  if (p && old) memcpy(q, p, old);
  return q;
}

void *ac_vec_grow(ac_arena *a, void *data, size_t len, size_t *cap, size_t elem) {
  size_t old = *cap, ncap = old ? old * 2 : 8, bytes;
  (void)len;
  if (ncap < old || __builtin_mul_overflow(ncap, elem, &bytes)) out_of_memory(SIZE_MAX);
  char *p = ac_regrow(a, data, old * elem, bytes);
  memset(p + old * elem, 0, bytes - old * elem);
  *cap = ncap;
  return p;
}

char *ac_strndup(ac_arena *a, const char *s, size_t n) {
  char *p = take(a, n + 1, false);
  if (n) memcpy(p, s, n);
  p[n] = 0;
  return p;
}

char *ac_strdup(ac_arena *a, const char *s) {
  return ac_strndup(a, s, strlen(s));
}

char *ac_vsprintf(ac_arena *a, const char *fmt, va_list ap) {
  char some[240];
  va_list again;
  va_copy(again, ap);
  int n = ac_format(some, sizeof some, fmt, ap);
  char *p = take(a, n < 0 ? 1 : (size_t)n + 1, false);
  *p = 0;
  if (n > 0 && (size_t)n < sizeof some)
    memcpy(p, some, (size_t)n + 1);
  else if (n > 0)
    ac_format(p, (size_t)n + 1, fmt, again);
  va_end(again);
  return p;
}

char *ac_sprintf(ac_arena *a, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *p = ac_vsprintf(a, fmt, ap);
  va_end(ap);
  return p;
}

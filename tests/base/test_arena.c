#include "support.h"

#include <pthread.h>

static void zeroed_and_aligned(void **state) {
  ac_arena *a = *state;
  for (size_t n = 0; n < 70000; n = n * 2 + 1) {
    unsigned char *p = ac_alloc(a, n);
    assert_int_equal((uintptr_t)p % 16, 0);
    for (size_t i = 0; i < n; i++) assert_int_equal(p[i], 0);
    memset(p, 0xAB, n); /* the next one must not see it */
  }
}

/* What one arena wrote is not in the next one's objects, though it has the same memory, perhaps; and from several threads. */
static void *arena_after_arena(void *user) {
  for (int round = 0; round < 200; round++) {
    ac_arena *a = ac_arena_new();
    for (size_t n = 1; n < 300000; n = n * 3 + 1) {
      unsigned char *p = ac_alloc(a, n);
      for (size_t i = 0; i < n; i += 1 + n / 1000)
        if (p[i]) *(bool *)user = true;
      memset(p, 0xAB, n);
    }
    ac_arena_free(a);
  }
  return NULL;
}
static void arenas_after_each_other_are_clean(void **state) {
  (void)state;
  pthread_t t[3];
  bool dirty[3] = {0};
  for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&t[i], NULL, arena_after_arena, &dirty[i]), 0);
  for (int i = 0; i < 3; i++) assert_int_equal(pthread_join(t[i], NULL), 0);
  for (int i = 0; i < 3; i++) assert_false(dirty[i]);
}

static void empty_objects_are_distinct(void **state) {
  void *p = ac_alloc(*state, 0), *q = ac_alloc(*state, 0);
  assert_non_null(p);
  assert_ptr_not_equal(p, q);
}

static void objects_do_not_overlap(void **state) {
  enum { N = 3000 };
  static unsigned char *p[N];
  static size_t len[N];
  for (size_t i = 0; i < N; i++) {
    len[i] = i * 7919 % 5000;
    p[i] = ac_alloc(*state, len[i]);
    memset(p[i], (int)(i & 0xFF), len[i]);
  }
  for (size_t i = 0; i < N; i++)
    for (size_t k = 0; k < len[i]; k++) assert_int_equal(p[i][k], i & 0xFF);
}

static void large_objects_cost_nothing_until_used(void **state) {
  char *p = ac_alloc(*state, (size_t)1 << 32);
  p[((size_t)1 << 32) - 1] = 1;
  assert_int_equal(p[12345], 0);
}

static void small_objects_go_on_beside_a_large_one(void **state) {
  char *before = ac_alloc(*state, 16);
  ac_alloc(*state, 1 << 20);
  char *after = ac_alloc(*state, 16);
  assert_in_range((uintptr_t)after - (uintptr_t)before, 16, 64); /* the head chunk is still being filled */
}

static void strings(void **state) {
  assert_string_equal(ac_strdup(*state, "abc"), "abc");
  assert_string_equal(ac_strndup(*state, "abcdef", 3), "abc");
  assert_string_equal(ac_strndup(*state, NULL, 0), "");
  assert_string_equal(ac_sprintf(*state, "%d-%s", 7, "x"), "7-x");
  assert_int_equal(strlen(ac_sprintf(*state, "%*d", 100000, 1)), 100000);
}

static jmp_buf escape;
static size_t wanted;
static void on_oom(size_t n, void *user) {
  *(int *)user += 1;
  wanted = n;
  longjmp(escape, 1);
}

static void injected_failure_reaches_the_handler(void **state) {
  ac_arena *a = *state;
  int hits = 0;
  volatile int done = 0;
  ac_on_oom(on_oom, &hits);
  ac_fail_alloc_at(3);
  if (!setjmp(escape)) {
    for (; done < 10; done++) ac_alloc(a, 100 + (size_t)done);
  }
  ac_fail_alloc_at(0);
  ac_on_oom(NULL, NULL);
  assert_int_equal(hits, 1);
  assert_int_equal(done, 2);
  assert_int_equal(wanted, 102);
  assert_non_null(ac_alloc(a, 8)); /* the arena is usable afterwards */
}

static void overflow_is_out_of_memory(void **state) {
  int hits = 0;
  ac_on_oom(on_oom, &hits);
  if (!setjmp(escape)) ac_alloc_n(*state, SIZE_MAX / 2, 3);
  if (!setjmp(escape)) ac_alloc(*state, SIZE_MAX);
  if (!setjmp(escape)) ac_alloc(*state, SIZE_MAX / 2); /* no host has that */
  ac_on_oom(NULL, NULL);
  assert_int_equal(hits, 3);
}

static void every_failing_allocation_is_survived(void **state) {
  /* Work that uses each container, failing at its 1st, 2nd, ... allocation until it gets through. */
  (void)state;
  volatile int failures = 0;
  ac_arena *volatile a = NULL;
  for (volatile uint64_t n = 1;; n++) {
    int hits = 0;
    ac_on_oom(on_oom, &hits);
    ac_fail_alloc_at(n);
    if (!setjmp(escape)) {
      a = ac_arena_new();
      ac_map *m = ac_map_new(a);
      ac_strings *s = ac_strings_new(a);
      ac_strvec v = {0};
      ac_buf b;
      ac_buf_init(&b, a);
      for (int i = 0; i < 100; i++) {
        const char *k = ac_intern(s, ac_sprintf(a, "k%d", i));
        ac_map_put(m, k, (void *)(uintptr_t)k);
        ac_push(a, &v, k);
        ac_printf(&b, "%s,", k);
      }
    }
    ac_fail_alloc_at(0);
    ac_on_oom(NULL, NULL);
    ac_arena_free(a);
    a = NULL;
    if (!hits) break;
    failures++;
  }
  assert_true(failures > 300);
}

static bool no_memory(void *user) {
  (void)user;
  if (!freopen("/dev/null", "w", stderr)) return false;
  ac_arena *a = ac_arena_new();
  ac_fail_alloc_at(1);
  ac_alloc(a, 1);
  return false;
}

static void default_handler_exits_with_limit(void **state) {
  (void)state;
  assert_int_equal(as_nobody(no_memory, NULL), AC_LIMIT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(zeroed_and_aligned),
      TEST(arenas_after_each_other_are_clean),
      TEST(empty_objects_are_distinct),
      TEST(objects_do_not_overlap),
      TEST(large_objects_cost_nothing_until_used),
      TEST(small_objects_go_on_beside_a_large_one),
      TEST(strings),
      TEST(injected_failure_reaches_the_handler),
      TEST(overflow_is_out_of_memory),
      TEST(every_failing_allocation_is_survived),
      TEST(default_handler_exits_with_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

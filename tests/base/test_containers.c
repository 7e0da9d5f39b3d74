#include "base/internal.h"
#include "support.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static void vectors(void **state) {
  AC_VEC(int) v = {0};
  for (int i = 0; i < 10000; i++) ac_push(*state, &v, i * 3);
  assert_int_equal(v.len, 10000);
  for (int i = 0; i < 10000; i++) assert_int_equal(v.data[i], i * 3);
}

static void two_vectors_grow_in_turns(void **state) {
  AC_VEC(int64_t) v = {0}, w = {0};
  for (int i = 0; i < 1000; i++) {
    ac_push(*state, &v, i);
    ac_push(*state, &w, -i);
  }
  for (int i = 0; i < 1000; i++) assert_int_equal(v.data[i] + w.data[i], 0);
}

static void vectors_of_structures(void **state) {
  struct pair {
    char c;
    double d;
  };
  AC_VEC(struct pair) v = {0};
  for (int i = 0; i < 100; i++) ac_push(*state, &v, ((struct pair){'x', i}));
  assert_true(v.data[99].d == 99.0);
}

static void interning(void **state) {
  ac_strings *s = ac_strings_new(*state);
  const char *x = ac_intern(s, "alpha");
  assert_string_equal(x, "alpha");
  assert_ptr_equal(x, ac_intern_n(s, "alphabet", 5));
  assert_ptr_not_equal(x, ac_intern(s, "alphabet"));
  assert_ptr_equal(ac_intern(s, ""), ac_intern_n(s, "zzz", 0));
  for (int i = 0; i < 5000; i++) ac_intern(s, ac_sprintf(*state, "name%d", i));
  assert_ptr_equal(x, ac_intern(s, "alpha"));
  assert_ptr_equal(ac_intern(s, "name77"), ac_intern(s, "name77"));
}

static void maps_keep_insertion_order(void **state) {
  ac_map *m = ac_map_new(*state);
  int values[1000];
  for (int i = 0; i < 1000; i++) {
    char key[32];
    snprintf(key, sizeof key, "k%d", (i * 7919) % 1000); /* copied by the map */
    ac_map_put(m, key, &values[i]);
  }
  assert_int_equal(ac_map_len(m), 1000);
  for (size_t i = 0; i < 1000; i++) {
    assert_string_equal(ac_map_key(m, i), ac_sprintf(*state, "k%d", ((int)i * 7919) % 1000));
    assert_ptr_equal(ac_map_value(m, i), &values[i]);
    assert_ptr_equal(ac_map_get(m, ac_map_key(m, i)), &values[i]);
  }
}

static void maps_replace_and_tell_null_from_absent(void **state) {
  ac_map *m = ac_map_new(*state);
  int x;
  assert_null(ac_map_get(m, "a"));
  assert_false(ac_map_has(m, "a"));
  ac_map_put(m, "a", &x);
  ac_map_put(m, "b", &x);
  ac_map_put(m, "a", NULL);
  assert_int_equal(ac_map_len(m), 2);
  assert_true(ac_map_has(m, "a"));
  assert_null(ac_map_get(m, "a"));
  assert_string_equal(ac_map_key(m, 0), "a"); /* its place stays */
}

static void buffers(void **state) {
  ac_buf b;
  ac_buf_init(&b, *state);
  assert_string_equal(ac_buf_str(&b), "");
  for (int i = 0; i < 1000; i++) ac_printf(&b, "%03d", i);
  assert_int_equal(b.len, 3000);
  assert_memory_equal(b.data + 2997, "999", 4);
  ac_putn(&b, "a\0b", 3);
  assert_int_equal(b.len, 3003);
  ac_puts(&b, "");
  assert_int_equal(b.len, 3003);
}

static const char *text_of(ac_arena *a, double v) {
  ac_buf b;
  ac_buf_init(&b, a);
  ac_put_double(&b, v);
  return ac_buf_str(&b);
}

static void same_text(const char *fmt, ...) {
  char x[64], y[64];
  for (size_t room = 0; room <= sizeof x; room++) {
    va_list ap;
    memset(x, 'x', sizeof x);
    memset(y, 'x', sizeof y);
    va_start(ap, fmt);
    int n = vsnprintf(x, room, fmt, ap);
    va_end(ap);
    va_start(ap, fmt);
    assert_int_equal(ac_format(y, room, fmt, ap), n);
    va_end(ap);
    assert_memory_equal(x, y, sizeof x);
  }
}

static void formats_are_those_of_printf(void **state) {
  (void)state;
  same_text("%s", "");
  same_text("plain, 100%%");
  same_text("%s and %.*s|%c", "text", 3, "abcdef", 'z');
  same_text("%d %d %d", 0, INT32_MIN, INT32_MAX);
  same_text("%lld %ld %zu", INT64_MIN + 0LL, -7L, (size_t)SIZE_MAX);
  same_text("%5d|%-6s|%08x|%g", 7, "ab", 255u, 1.5); /* the C library's */
  same_text("%s%%%d", "a\xc3\xa9", -1);
}

static void doubles_are_shortest_and_exact(void **state) {
  ac_arena *a = *state;
  assert_string_equal(text_of(a, 0.1), "0.1");
  assert_string_equal(text_of(a, 1), "1.0");
  assert_string_equal(text_of(a, -0.0), "-0.0");
  assert_string_equal(text_of(a, 1e300), "1e+300");
  assert_string_equal(text_of(a, 100), "100.0");
  assert_string_equal(text_of(a, 4096.5), "4096.5");
  assert_string_equal(text_of(a, 1e15), "1000000000000000.0");
  assert_string_equal(text_of(a, 1e16), "1e+16");
  assert_string_equal(text_of(a, 9007199254740993.0), "9007199254740992.0");
  assert_string_equal(text_of(a, 1e-4), "0.0001");
  assert_string_equal(text_of(a, 1.5e-5), "1.5e-05");
  assert_string_equal(text_of(a, 0.044715), "0.044715");
  assert_string_equal(text_of(a, 5e-324), "5e-324");
  assert_string_equal(text_of(a, INFINITY), "inf");
  assert_string_equal(text_of(a, -INFINITY), "-inf");
  assert_string_equal(text_of(a, NAN), "nan");
  uint64_t seed = 1;
  for (int i = 0; i < 20000; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    double v;
    memcpy(&v, &seed, sizeof v);
    if (!isfinite(v)) continue;
    assert_true(strtod(text_of(a, v), NULL) == v);
  }
}

static void fixed_lists_of_names(void **state) {
  static const struct {
    int number;
    const char *name;
  } list[] = {{0, "alpha"}, {1, NULL}, {2, "beta"}, {3, "alpha"}, {4, ""}, {5, "ba"}, {6, "ab"}};
  static ac_names index = AC_NAMES(list, name);
  (void)state;
  assert_int_equal(ac_names_find(&index, "alpha"), 0); /* the first of two */
  assert_int_equal(ac_names_find(&index, "beta"), 2);
  assert_int_equal(ac_names_find(&index, ""), 4);
  assert_int_equal(ac_names_find(&index, "ba"), 5);
  assert_int_equal(ac_names_find(&index, "ab"), 6);
  assert_int_equal(ac_names_find(&index, "bet"), -1);
  assert_int_equal(ac_names_find(&index, "betas"), -1);
}

static void nearest_word(void **state) {
  (void)state;
  static const char *const names[] = {"softmax", "softmin", "relu", "gelu", "log_softmax", "x"};
  assert_string_equal(ac_nearest("sofmax", names, AC_COUNT(names)), "softmax");
  assert_string_equal(ac_nearest("softmxa", names, AC_COUNT(names)), "softmax");
  assert_string_equal(ac_nearest("GELU", names, AC_COUNT(names)), "gelu");
  assert_null(ac_nearest("convolution", names, AC_COUNT(names)));
  assert_null(ac_nearest("y", names, AC_COUNT(names)));
  assert_null(ac_nearest("", names, AC_COUNT(names)));
  assert_null(ac_nearest("relu", names, 0));
  char word[1000];
  memset(word, 'a', sizeof word);
  word[sizeof word - 1] = 0;
  assert_null(ac_nearest(word, names, AC_COUNT(names)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(vectors),      TEST(two_vectors_grow_in_turns),   TEST(vectors_of_structures),
      TEST(interning),    TEST(maps_keep_insertion_order),   TEST(maps_replace_and_tell_null_from_absent),
      TEST(buffers),      TEST(formats_are_those_of_printf), TEST(doubles_are_shortest_and_exact),
      TEST(nearest_word), TEST(fixed_lists_of_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

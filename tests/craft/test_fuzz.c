/* Mutations of good programs: nothing crashes, whatever is accepted prints and parses back to the same text, and is Python.
 * AC_FUZZ=n: n rounds (default 400). */
#include "craft/craft.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t state;

static uint32_t next(uint32_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return below ? (uint32_t)(state >> 33) % below : 0;
}

static const char *const programs[] = {"l2rows", "chain", "tile2d", "comments", "flow"};
static const char *const pieces[] = {"(",
                                     ")",
                                     "[",
                                     "]",
                                     ":",
                                     ",",
                                     "\n",
                                     "    ",
                                     "\t",
                                     "\"",
                                     "'",
                                     "\"\"\"",
                                     "#",
                                     "\\\n",
                                     "\\",
                                     "-",
                                     "**",
                                     "//",
                                     "0",
                                     "1",
                                     "-1",
                                     "9223372036854775808",
                                     "1e999",
                                     "0x",
                                     "1_0",
                                     "tl.",
                                     "tile",
                                     "count=",
                                     "if True:\n",
                                     "else:\n",
                                     "elif x:\n",
                                     "for i in range(3):\n",
                                     "while True:\n",
                                     "break\n",
                                     "return\n",
                                     "pass\n",
                                     "def f():\n",
                                     "@ascend_kernel\n",
                                     "with tl.compute():\n",
                                     "tl.arange(0, n)",
                                     "[:, None]",
                                     "None",
                                     "not ",
                                     " and ",
                                     " if ",
                                     " else ",
                                     "float(\"inf\")",
                                     "lambda",
                                     "\xc3\xa9",
                                     "\xff",
                                     "\r\n",
                                     "x.shape[0]",
                                     "tl.extract_scalar(x, 0)",
                                     " = ",
                                     " += ",
                                     "a, b = ",
                                     "tl.float16",
                                     ";"};

static char *load(ac_arena *a, const char *name) {
  size_t n;
  char *t = ac_read_file(a, ac_sprintf(a, "%s/tests/craft/cases/%s.craft", AC_SOURCE_DIR, name), 0, &n, NULL);
  assert_non_null(t);
  return t;
}

/* One mutation: a piece put in, cut out, repeated, or moved. */
static char *mutate(ac_arena *a, const char *t) {
  size_t n = strlen(t), at = next((uint32_t)n + 1), len = next(24), end = at + len > n ? n : at + len;
  ac_buf b;
  ac_buf_init(&b, a);
  ac_putn(&b, t, at);
  switch (next(4)) {
  case 0:
    ac_puts(&b, pieces[next(AC_COUNT(pieces))]);
    ac_puts(&b, t + at);
    break;
  case 1: ac_puts(&b, t + end); break;
  case 2:
    ac_putn(&b, t + at, end - at);
    ac_puts(&b, t + at);
    break;
  default:
    ac_puts(&b, pieces[next(AC_COUNT(pieces))]);
    ac_puts(&b, t + end);
    break;
  }
  return ac_strdup(a, ac_buf_str(&b));
}

/* A name or number swapped for another one of the program: most results parse, so that the checker is reached. */
static char *swap_words(ac_arena *a, const char *t) {
  typedef struct {
    size_t at, len;
  } word;
  AC_VEC(word) words = {0};
  static const char set[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
  for (size_t i = 0; t[i];) {
    size_t k = strspn(t + i, set);
    if (k) {
      word w = {i, k};
      ac_push(a, &words, w);
    }
    i += k ? k : 1;
  }
  if (!words.len) return ac_strdup(a, t);
  word x = words.data[next((uint32_t)words.len)], y = words.data[next((uint32_t)words.len)];
  return ac_sprintf(a, "%.*s%.*s%s", (int)x.at, t, (int)y.len, t + y.at, t + x.at + x.len);
}

static bool try_one(ac_arena *a, const ac_chip *chip, const char *text) {
  ac_diags d;
  ac_diags_init(&d, a);
  ac_diags_source(&d, "fuzz", text);
  ac_cmodule *m = ac_craft_parse(a, "fuzz", text, &d);
  assert_true((m == NULL) == (d.errors > 0));
  if (!m) {
    json_decref(ac_diags_json(&d));
    return false;
  }
  char *once = ac_craft_print(a, m);
  ac_cmodule *again = ac_craft_parse(a, "again", once, &d);
  if (!again) {
    fprintf(stderr, "---- this\n%s\n---- printed\n%s\n", text, once);
    ac_diags_print(&d, stderr, false);
  }
  assert_non_null(again);
  assert_string_equal(once, ac_craft_print(a, again));
  const char *why = ac_craft_unlike(a, text, once);
  if (why) fail_msg("%s\n---- of this\n%s\n---- printed\n%s", why, text, once);
  ac_craft_check_opts o = {.chip = chip};
  bool ok = ac_craft_check(a, m, &o, &d);
  assert_true(ok == (d.errors == 0));
  json_decref(ac_diags_json(&d));
  if (ok) { /* the annotated tree is a program too, and means the same */
    char *checked = ac_craft_print(a, m);
    ac_diags e;
    ac_diags_init(&e, a);
    ac_diags_source(&e, "checked", checked);
    ac_cmodule *n = ac_craft_parse(a, "checked", checked, &e);
    assert_non_null(n);
    if (!ac_craft_check(a, n, &o, &e)) {
      fprintf(stderr, "---- this\n%s\n---- printed after the check\n%s\n", text, checked);
      ac_diags_print(&e, stderr, false);
      fail();
    }
    assert_string_equal(checked, ac_craft_print(a, n));
  }
  return true;
}

static void mutations(void **unused) {
  (void)unused;
  const char *env = getenv("AC_FUZZ"), *seed = getenv("AC_FUZZ_SEED");
  int rounds = env ? atoi(env) : 400, parsed = 0;
  state = seed ? strtoull(seed, NULL, 10) : 1;
  ac_arena *keep = ac_arena_new();
  ac_diags d;
  ac_diags_init(&d, keep);
  const ac_chip *chip = ac_chip_load(keep, "ascend910b2", &d);
  assert_non_null(chip);
  char *texts[AC_COUNT(programs)];
  for (size_t i = 0; i < AC_COUNT(programs); i++) texts[i] = load(keep, programs[i]);
  ac_buf accepted;
  ac_buf_init(&accepted, keep);
  for (int i = 0; i < rounds; i++) {
    ac_arena *a = ac_arena_new();
    char *t = texts[next(AC_COUNT(programs))];
    int n = 1 + (int)next(3);
    for (int k = 0; k < n; k++) t = next(2) ? mutate(a, t) : swap_words(a, t);
    if (try_one(a, chip, t)) {
      parsed++;
      ac_printf(&accepted, "%zu\n%s", strlen(t), t);
    }
    ac_arena_free(a);
  }
  assert_true(parsed > rounds / 20);
  /* Everything accepted is real Python. */
  const char *const argv[] = {"/usr/bin/python3", "-c",
                              "import ast, sys, warnings\n"
                              "warnings.simplefilter('ignore')\n"
                              "data = sys.stdin.buffer\n"
                              "while line := data.readline():\n"
                              "    text = data.read(int(line))\n"
                              "    try: ast.parse(text)\n"
                              "    except SyntaxError as e: sys.exit(f'{e}\\n{text.decode()}')\n",
                              NULL};
  if (ac_exists(argv[0])) {
    ac_proc_spec spec = {.argv = argv, .in = ac_buf_str(&accepted), .in_len = accepted.len, .timeout = 120};
    ac_proc r;
    ac_proc_run(keep, &spec, &r);
    if (r.status) fprintf(stderr, "%s\n", r.err ? r.err : "?");
    assert_int_equal(r.status, 0);
  }
  ac_arena_free(keep);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(mutations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

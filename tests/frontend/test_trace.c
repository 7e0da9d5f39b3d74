/* Every module under modules/ is traced. `bad_*.py` say in their first line what must come of it:
 *   # expect: CODE LINE TEXT        (CODE may be a prefix; LINE 0: no line is claimed; TEXT in the message or the help)
 * The others are compared with the text dump beside them; AC_UPDATE_GOLDEN=1 writes the dumps anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/frontend.h"

/* An AddressSanitizer build cannot limit the address space: the parent kills, and nobody knows the line. */
#if defined __SANITIZE_ADDRESS__
enum { MEMORY_IS_LIMITED = 0 };
#elif defined __has_feature
#if __has_feature(address_sanitizer)
enum { MEMORY_IS_LIMITED = 0 };
#else
enum { MEMORY_IS_LIMITED = 1 };
#endif
#else
enum { MEMORY_IS_LIMITED = 1 };
#endif

#define FOLDER AC_SOURCE_DIR "/tests/frontend/modules"

static int by_name(const struct dirent **x, const struct dirent **y) {
  return strcmp((*x)->d_name, (*y)->d_name);
}
static int is_python(const struct dirent *e) {
  size_t n = strlen(e->d_name);
  return n > 3 && !strcmp(e->d_name + n - 3, ".py") && e->d_name[0] != '_';
}

static bool says(const ac_diag *x, const char *text) {
  if (strstr(x->message, text)) return true;
  for (size_t i = 0; i < x->help.len; i++)
    if (strstr(x->help.data[i], text)) return true;
  return false;
}

/* What an error must be, from the file's first line. */
static int check_bad(const char *path) {
  ac_arena *a = ac_arena_new();
  ac_diags d;
  ac_diags_init(&d, a);
  char *text = ac_read_file(a, path, 0, NULL, &d), code[16], want[200] = "";
  int line = 0;
  text[strcspn(text, "\n")] = 0;
  assert_true(sscanf(text, "# expect: %15s %d %199[^\n]", code, &line, want) >= 2);
  if (!MEMORY_IS_LIMITED && !strcmp(code, "AC0208")) line = 0;
  bool slow = strstr(path, "bad_loop") != NULL;
  ac_trace_opts o = AC_TRACE_DEFAULTS;
  o.timeout = slow ? 0.7 : 10;
  o.memory = 800u << 20;
  ac_graph *g = ac_trace(a, path, &o, &d);
  const ac_diag *first = NULL;
  for (size_t i = 0; i < d.list.len && !first; i++)
    if (d.list.data[i]->severity == AC_ERROR) first = d.list.data[i];
  bool ok = !g && first && !strncmp(ac_code_name(first->code), code, strlen(code)) &&
            (line == 0 || first->loc.line == line) && says(first, want);
  if (!ok) {
    print_error("%s: expected %s at line %d saying '%s', got:\n", path, code, line, want);
    ac_diags_print(&d, stderr, false);
  }
  ac_arena_free(a);
  return !ok;
}

static char *dump(ac_arena *a, const ac_graph *g, const ac_module_info *m) {
  ac_buf b;
  ac_buf_init(&b, a);
  ac_printf(&b, "# class %s, lines %d to %d, Python result: %s\n", m->class_name, m->class_first, m->class_last,
            m->result);
  for (size_t i = 0; i < m->args.len; i++)
    ac_printf(&b, "# %s: %s%s\n", m->args.data[i].path, m->args.data[i].input < 0 ? "constant " : "input",
              m->args.data[i].input < 0 ? m->args.data[i].literal : "");
  ac_puts(&b, ac_graph_text(a, g));
  if (g->gen) ac_printf(&b, "# generators\n%s", ac_graph_text(a, g->gen));
  return (char *)ac_buf_str(&b);
}

static int check_golden(const char *path) {
  ac_arena *a = ac_arena_new();
  ac_diags d;
  ac_diags_init(&d, a);
  ac_module_info info;
  ac_trace_opts o = AC_TRACE_DEFAULTS;
  o.info = &info;
  ac_graph *g = ac_trace(a, path, &o, &d);
  int failed = !g;
  if (!g) {
    print_error("%s does not trace:\n", path);
    ac_diags_print(&d, stderr, false);
  } else {
    const char *text = dump(a, g, &info), *wrong = ac_graph_verify(g);
    char *golden = ac_sprintf(a, "%.*s.txt", (int)strlen(path) - 3, path);
    if (getenv("AC_UPDATE_GOLDEN")) assert_true(ac_write_file(golden, text, strlen(text), &d));
    char *want = ac_exists(golden) ? ac_read_file(a, golden, 0, NULL, &d) : "(no golden file)\n";
    failed = wrong || strcmp(text, want) != 0;
    if (failed) print_error("%s: %s\n---- got\n%s---- want\n%s", path, wrong ? wrong : "dump differs", text, want);
  }
  ac_arena_free(a);
  return failed;
}

static void every_module(bool bad) {
  struct dirent **list;
  int n = scandir(FOLDER, &list, is_python, by_name), failed = 0, done = 0;
  assert_true(n > 0);
  const char *only = getenv("AC_ONLY");
  for (int i = 0; i < n; i++) {
    bool is_bad = !strncmp(list[i]->d_name, "bad_", 4);
    if (is_bad == bad && (!only || strstr(list[i]->d_name, only))) {
      ac_arena *a = ac_arena_new();
      const char *path = ac_path_join(a, FOLDER, list[i]->d_name);
      failed += bad ? check_bad(path) : check_golden(path);
      done++;
      ac_arena_free(a);
    }
    free(list[i]);
  }
  free(list);
  assert_true(done > 0 || only);
  assert_int_equal(failed, 0);
}

static void bad_modules(void **state) {
  (void)state;
  every_module(true);
}

static void good_modules(void **state) {
  (void)state;
  every_module(false);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(good_modules), cmocka_unit_test(bad_modules)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* data/examples/ holds what the schedules write, to the byte. After a change on purpose: AC_UPDATE=1 makes them anew. */
#include "graphs.h"

static void equal(void **state) {
  (void)state;
  for (size_t i = 0; i < AC_COUNT(examples); i++) {
    world *w = examples[i].make();
    ac_cmodule *m = ac_plan(w->a, w->g, w->chip, &w->d);
    if (!m) ac_diags_print(&w->d, stderr, false);
    assert_non_null(m);
    char *text = ac_craft_print(w->a, m);
    char *path = ac_sprintf(w->a, "%s/data/examples/%s.craft", AC_SOURCE_DIR, examples[i].file);
    if (getenv("AC_UPDATE")) {
      char *dir = ac_strdup(w->a, path);
      *strrchr(dir, '/') = 0;
      assert_true(ac_mkdirs(dir, &w->d));
      assert_true(ac_write_file(path, text, strlen(text), &w->d));
    }
    size_t len;
    char *want = ac_read_file(w->a, path, 0, &len, &w->d);
    if (!want) ac_diags_print(&w->d, stderr, false);
    assert_non_null(want);
    assert_string_equal(text, want);
    world_free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(equal)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

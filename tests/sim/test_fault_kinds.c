/* The table of kinds (src/sim/fault_kinds.def), docs/hazards.md and the tests know the same kinds: each is documented, and some test
 * expects each. That a kind which is produced is in the table, acsim_fault asks. */
#include "sim/sim.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static ac_arena *arena;
static ac_diags diags;

static const char *text_of(const char *path) {
  size_t n;
  const char *s = ac_read_file(arena, path, 1u << 20, &n, &diags);
  if (!s) fail_msg("%s cannot be read", path);
  return s;
}

/* All sources in a folder of the tests but this one, one after the other. */
static void gather(ac_buf *to, const char *folder) {
  DIR *d = opendir(folder);
  if (!d) fail_msg("%s cannot be read", folder);
  for (struct dirent *e; (e = readdir(d));) {
    const char *dot = strrchr(e->d_name, '.');
    if (!dot || (strcmp(dot, ".c") && strcmp(dot, ".cpp") && strcmp(dot, ".h")) ||
        !strcmp(e->d_name, "test_fault_kinds.c"))
      continue;
    ac_puts(to, text_of(ac_sprintf(arena, "%s/%s", folder, e->d_name)));
  }
  closedir(d);
}

static void documented(void **state) {
  (void)state;
  const char *doc = text_of(AC_SOURCE_DIR "/docs/hazards.md");
  for (size_t i = 0; i < ac_sim_n_fault_kinds; i++) {
    const ac_sim_fault_kind *k = &ac_sim_fault_kinds[i];
    if (!strstr(doc, ac_sprintf(arena, "| `%s` | %s |", k->kind, k->warning ? "warning" : "fault")))
      fail_msg("docs/hazards.md has no row for the %s %s", k->warning ? "warning" : "fault", k->kind);
  }
  for (const char *p = doc; (p = strstr(p, "\n| `"));) { /* rows of its table of kinds */
    p += 4;
    const char *end = strchr(p, '`');
    assert_non_null(end);
    bool kind_row = !strncmp(end, "` | fault |", 11) || !strncmp(end, "` | warning |", 13);
    const char *word = ac_sprintf(arena, "%.*s", (int)(end - p), p);
    if (kind_row && !ac_sim_fault_kind_of(word)) fail_msg("docs/hazards.md speaks of %s, which is no kind", word);
  }
}

static void tested(void **state) {
  (void)state;
  ac_buf b;
  ac_buf_init(&b, arena);
  gather(&b, AC_SOURCE_DIR "/tests/sim/kernels");
  gather(&b, AC_SOURCE_DIR "/tests/sim");
  gather(&b, AC_SOURCE_DIR "/tests/verify");
  gather(&b, AC_SOURCE_DIR "/tests/cli");
  const char *all = ac_buf_str(&b);
  for (size_t i = 0; i < ac_sim_n_fault_kinds; i++)
    if (!strstr(all, ac_sprintf(arena, "\"%s\"", ac_sim_fault_kinds[i].kind)))
      fail_msg("no test expects %s", ac_sim_fault_kinds[i].kind);
}

static void no_kind_twice(void **state) {
  (void)state;
  for (size_t i = 0; i < ac_sim_n_fault_kinds; i++)
    assert_ptr_equal(ac_sim_fault_kind_of(ac_sim_fault_kinds[i].kind), &ac_sim_fault_kinds[i]);
  assert_null(ac_sim_fault_kind_of("no-such-kind"));
}

int main(void) {
  arena = ac_arena_new();
  ac_diags_init(&diags, arena);
  const struct CMUnitTest t[] = {cmocka_unit_test(documented), cmocka_unit_test(tested),
                                 cmocka_unit_test(no_kind_twice)};
  int rc = cmocka_run_group_tests(t, NULL, NULL);
  ac_arena_free(arena);
  return rc;
}

/* Long programs take memory in proportion to their length: twice the lines, about twice the bytes, and less than a bound a line. What
 * copies a table for every statement, or makes a text of everything so far, fails here; bench/run.sh counts instructions a line. */
#include "lines.h"

#include "ascendc/ascendc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Bytes from text to the text of every file. */
static size_t bytes_of(const char *name, void (*make)(ac_buf *, int), int lines) {
  ac_arena *texts = ac_arena_new(), *a = ac_arena_new();
  ac_diags d;
  ac_buf b;
  ac_diags_init(&d, a);
  ac_buf_init(&b, texts);
  make(&b, lines);
  const ac_chip *chip = ac_chip_load(texts, "ascend910b2", &d);
  ac_lower_opts l = {.op = "lines_custom", .op_type = "LinesCustom", .chip = chip};
  ac_emit_opts e = {.formats = AC_FMT_ALL, .craft_text = ac_buf_str(&b), .command = "test"};
  ac_project out = {0};
  ac_cmodule *m = ac_craft_parse(a, name, ac_buf_str(&b), &d);
  bool ok = m && ac_craft_check(a, m, &(ac_craft_check_opts){.chip = chip}, &d);
  ac_program *p = ok ? ac_lower(a, m, &l, &d) : NULL;
  if (!p || !ac_emit(a, p, &e, &out, &d)) {
    ac_diags_print(&d, stderr, false);
    fail_msg("%s: %d lines do not compile", name, lines);
  }
  size_t n = ac_arena_bytes(a);
  ac_arena_free(a);
  ac_arena_free(texts);
  return n;
}

static void memory_is_linear(void **state) {
  (void)state;
  for (size_t i = 0; i < AC_COUNT(kinds); i++) {
    size_t some = bytes_of(kinds[i].name, kinds[i].make, 3000), twice = bytes_of(kinds[i].name, kinds[i].make, 6000);
    if (twice > some * 5 / 2)
      fail_msg("%s: 3000 lines take %zu KiB, 6000 lines %zu KiB", kinds[i].name, some >> 10, twice >> 10);
    if (twice / 6000 > 32 << 10) fail_msg("%s: %zu bytes a line", kinds[i].name, twice / 6000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(memory_is_linear)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

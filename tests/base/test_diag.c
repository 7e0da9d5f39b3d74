#include "support.h"

static ac_diags fresh(void **state) {
  ac_diags d;
  ac_diags_init(&d, *state);
  return d;
}

static void caret_under_the_words(void **state) {
  ac_diags d = fresh(state);
  ac_diags_source(&d, "op.craft", "one\ntwo = tl.lod(x)\nthree\n");
  ac_diag *x = ac_error(&d, AC0103, (ac_loc){"op.craft", 2, 7, 13}, "no primitive is called '%s'", "tl.lod");
  ac_note(&d, x, (ac_loc){"op.craft", 1, 1, 0}, "first mentioned here");
  ac_note(&d, x, AC_NOLOC, "there are 12 primitives");
  ac_help(&d, x, "did you mean '%s'?", "tl.load");
  ac_warn(&d, AC0103, (ac_loc){"op.craft", 3, 0, 0}, "the whole line");
  assert_string_equal(printed(*state, &d), "op.craft:2:7: error[AC0103]: no primitive is called 'tl.lod'\n"
                                           " 2 | two = tl.lod(x)\n"
                                           "   |       ^~~~~~\n"
                                           "op.craft:1:1: note: first mentioned here\n"
                                           " 1 | one\n"
                                           "   | ^\n"
                                           "note: there are 12 primitives\n"
                                           "  help: did you mean 'tl.load'?\n"
                                           "op.craft:3: warning[AC0103]: the whole line\n"
                                           " 3 | three\n");
  assert_int_equal(d.errors, 1);
  assert_int_equal(d.warnings, 1);
}

static void tabs_and_wide_characters(void **state) {
  ac_diags d = fresh(state);
  /* a tab; e-acute in two bytes; a two-column character in three; a combining accent */
  ac_diags_source(&d, "t",
                  "\tx = \xC3\xA9\xE6\xBC\xA2"
                  "a\xCC\x81 + bad\r\nlast");
  const char *line = "\tx = \xC3\xA9\xE6\xBC\xA2"
                     "a\xCC\x81 + ";
  ac_error(&d, AC0103, (ac_loc){"t", 1, (int)strlen(line) + 1, (int)strlen(line) + 4}, "m");
  ac_error(&d, AC0103, (ac_loc){"t", 2, 5, 0}, "past the end");
  assert_string_equal(printed(*state, &d), "t:1:17: error[AC0103]: m\n"
                                           " 1 |     x = \xC3\xA9\xE6\xBC\xA2"
                                           "a\xCC\x81 + bad\n"
                                           "   |                ^~~\n"
                                           "t:2:5: error[AC0103]: past the end\n"
                                           " 2 | last\n"
                                           "   |     ^\n");
}

static void bytes_that_are_not_text(void **state) {
  ac_diags d = fresh(state);
  ac_diags_source(&d, "t", "a\xFF\x1B[31mb");
  ac_error(&d, AC0103, (ac_loc){"t", 1, 2, 3}, "odd byte \x1B[2J and\nsecond line");
  assert_string_equal(printed(*state, &d), "t:1:2: error[AC0103]: odd byte \\x1b[2J and\n  second line\n"
                                           " 1 | a??[31mb\n"
                                           "   |  ^\n");
}

static void very_long_lines_are_cut_around_the_caret(void **state) {
  ac_diags d = fresh(state);
  char *text = ac_alloc(*state, 5001);
  memset(text, 'x', 5000);
  memcpy(text + 3000, "HERE", 4);
  ac_diags_source(&d, "t", text);
  ac_error(&d, AC0103, (ac_loc){"t", 1, 3001, 3005}, "m");
  char *out = printed(*state, &d);
  assert_true(strlen(out) < 450);
  const char *line = strstr(out, " 1 | ...x"), *here = strstr(out, "HERE");
  assert_non_null(line);
  assert_non_null(here);
  const char *carets = strstr(out, "^~~~");
  assert_int_equal(here - line, carets - (strchr(line, '\n') + 1));
}

static void source_from_disk_and_missing_source(void **state) {
  ac_diags d = fresh(state);
  char *path = ac_path_join(*state, ac_temp_dir(*state, &d), "f.txt");
  assert_true(ac_write_file(path, "hello\n", 6, &d));
  ac_error(&d, AC0103, (ac_loc){path, 1, 1, 6}, "m");
  ac_error(&d, AC0103, (ac_loc){path, 9, 1, 6}, "no such line");
  ac_error(&d, AC0103, (ac_loc){"/nowhere/at/all", 1, 1, 0}, "no such file");
  ac_error(&d, AC0103, (ac_loc){"/dev/zero", 1, 1, 0}, "not a file to read from");
  assert_string_equal(printed(*state, &d), ac_sprintf(*state,
                                                      "%s:1:1: error[AC0103]: m\n 1 | hello\n   | ^~~~~\n"
                                                      "%s:9:1: error[AC0103]: no such line\n"
                                                      "/nowhere/at/all:1:1: error[AC0103]: no such file\n"
                                                      "/dev/zero:1:1: error[AC0103]: not a file to read from\n",
                                                      path, path));
}

static void errors_over_the_limit_are_counted(void **state) {
  ac_diags d = fresh(state);
  d.max_errors = 2;
  for (int i = 0; i < 5; i++) {
    ac_diag *x = ac_error(&d, AC0103, AC_NOLOC, "number %d", i);
    assert_non_null(x);
    ac_help(&d, x, "never shown for the last three");
  }
  ac_error(&d, AC0100, AC_NOLOC, "worse, and not kept");
  ac_warn(&d, AC0103, AC_NOLOC, "warnings still are");
  assert_int_equal(d.errors, 6);
  assert_int_equal(d.list.len, 3);
  assert_non_null(strstr(printed(*state, &d), "\n4 more errors not shown\n"));
  assert_int_equal(ac_diags_exit(&d), AC_INTERNAL);
}

static void exit_codes(void **state) {
  ac_diags d = fresh(state);
  assert_int_equal(ac_diags_exit(&d), AC_OK);
  ac_warn(&d, AC0100, AC_NOLOC, "only a warning");
  assert_int_equal(ac_diags_exit(&d), AC_OK);
  ac_error(&d, AC0106, AC_NOLOC, "limit");
  ac_error(&d, AC0103, AC_NOLOC, "usage");
  assert_int_equal(ac_diags_exit(&d), AC_LIMIT);
  assert_string_equal(ac_code_name(AC0105), "AC0105");
  assert_string_equal(ac_code_title(AC0105), "not valid JSON");
  assert_int_equal(ac_code_exit(AC0105), AC_BAD_INPUT);
}

static void colour_only_when_asked(void **state) {
  ac_diags d = fresh(state);
  ac_diags_source(&d, "t", "abc");
  ac_error(&d, AC0103, (ac_loc){"t", 1, 1, 0}, "m");
  assert_null(strchr(printed(*state, &d), '\033'));
  char *text = NULL;
  size_t n = 0;
  FILE *f = open_memstream(&text, &n);
  ac_diags_print(&d, f, true);
  fclose(f);
  assert_non_null(strstr(text, "\033[1;31merror[AC0103]:\033[0m"));
  free(text);
}

static void as_json(void **state) {
  ac_diags d = fresh(state);
  ac_diag *x = ac_error(&d, AC0103, (ac_loc){"a\xFF", 3, 4, 6}, "quote \" and \xC3\xA9");
  ac_help(&d, x, "do this");
  ac_note(&d, x, (ac_loc){"b", 1, 0, 0}, "see here");
  json_t *j = ac_diags_json(&d);
  assert_string_equal(ac_json_text(*state, j), "[\n"
                                               " {\n"
                                               "  \"severity\": \"error\",\n"
                                               "  \"code\": \"AC0103\",\n"
                                               "  \"title\": \"bad command line\",\n"
                                               "  \"file\": \"a\xEF\xBF\xBD\",\n"
                                               "  \"line\": 3,\n"
                                               "  \"column\": 4,\n"
                                               "  \"end_column\": 6,\n"
                                               "  \"message\": \"quote \\\" and \xC3\xA9\",\n"
                                               "  \"notes\": [\n"
                                               "   {\n"
                                               "    \"file\": \"b\",\n"
                                               "    \"line\": 1,\n"
                                               "    \"message\": \"see here\"\n"
                                               "   }\n"
                                               "  ],\n"
                                               "  \"help\": [\"do this\"]\n"
                                               " }\n"
                                               "]\n");
  json_decref(j);
}

static void no_collector(void **state) {
  (void)state;
  ac_diag *x = ac_error(NULL, AC0103, AC_NOLOC, "m");
  assert_non_null(x);
  ac_help(NULL, x, "h");
  ac_note(NULL, x, AC_NOLOC, "n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(caret_under_the_words),
      TEST(tabs_and_wide_characters),
      TEST(bytes_that_are_not_text),
      TEST(very_long_lines_are_cut_around_the_caret),
      TEST(source_from_disk_and_missing_source),
      TEST(errors_over_the_limit_are_counted),
      TEST(exit_codes),
      TEST(colour_only_when_asked),
      TEST(as_json),
      TEST(no_collector),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/internal.h"
#include "support.h"

static json_t *parse(ac_diags *d, const char *text) {
  return ac_json_parse("f.json", text, strlen(text), d);
}

static void refused(void **state, const char *text, int line, int col, const char *word) {
  ac_diags d;
  ac_diags_init(&d, *state);
  assert_null(parse(&d, text));
  assert_int_equal(d.errors, 1);
  const ac_diag *x = d.list.data[0];
  assert_int_equal(x->code, AC0105);
  assert_int_equal(x->loc.line, line);
  assert_int_equal(x->loc.col, col);
  if (!strstr(x->message, word)) fail_msg("'%s' is not in '%s'", word, x->message);
}

static void strictness(void **state) {
  refused(state, "{\n \"a\": 1,\n \"b\": 2,\n \"a\": 3\n}", 4, 4, "duplicate");
  refused(state, "{\"a\": 1,}", 1, 9, "string or '}' expected");
  refused(state, "[1, 2", 1, 5, "']' expected");
  refused(state, "[1] x", 1, 5, "end of file");
  refused(state, "[1e400]", 1, 6, "real number overflow");
  refused(state, "[99999999999999999999]", 1, 21, "integer");
  refused(state, "[\"\xFF\"]", 1, 2, "unable to decode byte 0xff");
  refused(state, "7", 1, 1, "'[' or '{'");
  refused(state, "", 1, 1, "'[' or '{'");
  refused(state, "[\"\xC3\xA9\xC3\xA9\", !]", 1, 10, "!"); /* columns are bytes */
}

static void the_offending_line_is_shown(void **state) {
  ac_diags d;
  ac_diags_init(&d, *state);
  char text[] = "{\n \"a\": nope\n}";
  assert_null(ac_json_parse("f.json", text, sizeof text - 1, &d));
  memset(text, 'z', sizeof text); /* the collector has its own copy */
  assert_non_null(strstr(printed(*state, &d), " 2 |  \"a\": nope\n"));
}

static void text_is_canonical(void **state) {
  static const char text[] = "{\n"
                             " \"z\": 1,\n"
                             " \"a\": [1, 2.5, 0.1, \"x\", true, false, null],\n"
                             " \"e\": {},\n"
                             " \"f\": [],\n"
                             " \"n\": [\n"
                             "  [1],\n"
                             "  {\n"
                             "   \"big\": 9223372036854775807,\n"
                             "   \"text\": \"q\\\" b\\\\ n\\n t\\t r\\r c\\u0001 \xC3\xA9\"\n"
                             "  }\n"
                             " ]\n"
                             "}\n";
  ac_diags d;
  ac_diags_init(&d, *state);
  json_t *j = parse(&d, text);
  assert_non_null(j);
  assert_string_equal(ac_json_text(*state, j), text);
  json_decref(j);
}

/* Every byte at every place of texts of every length up to 20, between plain letters; what no parser would take becomes U+FFFD. */
static void every_byte_is_written_so_that_it_reads_back(void **state) {
  ac_arena *a = *state;
  for (size_t n = 1; n <= 20; n++)
    for (size_t at = 0; at < n; at++)
      for (int c = 1; c < 256; c++) {
        ac_jw w;
        ac_jw_init(&w, a);
        char *s = ac_alloc(a, n + 1);
        memset(s, 'x', n);
        s[at] = (char)c;
        ac_jw_open(&w, NULL, AC_JW_LINE);
        ac_jw_str(&w, NULL, s);
        ac_jw_close(&w, AC_JW_LINE);
        json_t *j = parse(NULL, ac_jw_text(&w));
        const char *back = json_string_value(json_array_get(j, 0));
        assert_non_null(back);
        if (c < 0x80)
          assert_string_equal(back, s);
        else
          assert_string_equal(back, ac_sprintf(a, "%.*s\xEF\xBF\xBD%s", (int)at, s, s + at + 1));
        json_decref(j);
      }
}

static void characters_of_several_bytes_stay(void **state) {
  static const char *const good[] = {"\xC2\x80",     "\xDF\xBF",         "\xE0\xA0\x80",    "\xED\x9F\xBF",
                                     "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"};
  static const char *const bad[] = {"\xC1\xBF",         "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                                    "\xF4\x90\x80\x80", "\xE2\x82",     "\x80",         "\xF5\x80\x80\x80"};
  for (size_t i = 0; i < AC_COUNT(good) + AC_COUNT(bad); i++) {
    bool fine = i < AC_COUNT(good);
    const char *s = fine ? good[i] : bad[i - AC_COUNT(good)];
    ac_jw w;
    ac_jw_init(&w, *state);
    ac_jw_str(&w, NULL, s);
    char *text = ac_jw_text(&w);
    if (fine)
      assert_string_equal(text, ac_sprintf(*state, "\"%s\"\n", s));
    else
      assert_non_null(strstr(text, "\\ufffd"));
  }
}

static void sha256_vectors(void **state) { /* FIPS 180-4 examples, and NIST's million letters */
  ac_arena *a = *state;
  assert_string_equal(ac_sha256(a, "", 0), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  assert_string_equal(ac_sha256(a, NULL, 0), ac_sha256(a, "", 0));
  assert_string_equal(ac_sha256(a, "abc", 3), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assert_string_equal(ac_sha256(a, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56),
                      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  char *million = ac_alloc(a, 1000000);
  memset(million, 'a', 1000000);
  assert_string_equal(ac_sha256(a, million, 1000000),
                      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  for (size_t n = 0; n < 300; n++) { /* with and without the processor's instructions */
    million[n] = (char)(n * 37);
    char *portable;
    ac_sha256_by(a, 1, &(ac_bytes){million, n}, &portable, true);
    assert_string_equal(portable, ac_sha256(a, million, n));
  }
}

/* Several texts at once, of lengths in every order, give what each gives alone. */
static void sha256_of_several(void **state) {
  enum { N = 40 };
  ac_arena *a = *state;
  ac_bytes texts[N];
  char *out[N], *portable[N];
  for (unsigned round = 0; round < 50; round++) {
    size_t n = round % N;
    for (size_t i = 0; i < n; i++) {
      size_t len = (i * 7919 + round * 104729) % (round % 3 ? 700 : 130);
      char *s = ac_alloc(a, len);
      for (size_t k = 0; k < len; k++) s[k] = (char)(k * 31 + i + round);
      texts[i] = (ac_bytes){s, len};
    }
    ac_sha256_all(a, n, texts, out);
    ac_sha256_by(a, n, texts, portable, true);
    for (size_t i = 0; i < n; i++) {
      assert_string_equal(out[i], ac_sha256(a, texts[i].data, texts[i].len));
      assert_string_equal(out[i], portable[i]);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(strictness),
      TEST(the_offending_line_is_shown),
      TEST(text_is_canonical),
      TEST(every_byte_is_written_so_that_it_reads_back),
      TEST(characters_of_several_bytes_stay),
      TEST(sha256_vectors),
      TEST(sha256_of_several),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

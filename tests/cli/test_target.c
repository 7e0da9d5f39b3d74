/* What is read from a kernel's text and from the command line: entries, tiling structs, fields, numbers. */
#include "cli/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static ac_arena *a;
static ac_diags d;
static int setup(void **s) {
  (void)s;
  a = ac_arena_new();
  ac_diags_init(&d, a);
  return 0;
}
static int teardown(void **s) {
  (void)s;
  ac_arena_free(a);
  return 0;
}

static ac_source_facts scan(const char *text) {
  ac_source_facts f = {0};
  ac_source_scan(a, "k.cpp", text, &f);
  return f;
}
static const char *joined(const ac_strvec *v) {
  ac_buf b;
  ac_buf_init(&b, a);
  for (size_t i = 0; i < v->len; i++) ac_printf(&b, "%s%s", i ? "," : "", v->data[i]);
  return ac_buf_str(&b);
}

static void finds_entries(void **s) {
  (void)s;
  ac_source_facts f =
      scan("#include \"kernel_operator.h\"\n"
           "// extern \"C\" __global__ __aicore__ void no_comment(GM_ADDR x) {}\n"
           "#define M __global__ __aicore__ void no_macro(GM_ADDR x) {}\n"
           "REGISTER_SOMETHING(A, B)\n"
           "namespace ops { namespace {\n"
           "class K { public: __aicore__ inline void Init(GM_ADDR x) {} };\n"
           "}\n"
           "template <typename T, int N = (3 > 2)>\n"
           "__global__ __aicore__ void add(__gm__ T *x, GM_ADDR y, const Tiling tiling, uint32_t n = 3)\n"
           "{ if (n) { } }\n"
           "}\n"
           "__global__ __aicore__ void declared(GM_ADDR x);\n"
           "extern \"C\" {\n"
           "__vector__ __global__ __aicore__ void plain(GM_ADDR x, GM_ADDR y) { const char *s = \"}{\"; }\n"
           "void launch(void *stream) { plain<<<8, nullptr, stream>>>(nullptr, nullptr); }\n"
           "int helper() { return 1 << 3; }\n"
           "}\n");
  assert_int_equal(f.entries.len, 3);
  const ac_source_entry *e = f.entries.data;
  assert_string_equal(e[0].name, "ops::add");
  assert_true(e[0].is_template && !e[0].launcher);
  assert_int_equal(e[0].line, 9);
  assert_string_equal(joined(&e[0].params), "x,y,tiling,n");
  assert_string_equal(joined(&e[0].types), "__gm__ T *,GM_ADDR,const Tiling,uint32_t");
  assert_string_equal(e[1].name, "plain");
  assert_string_equal(joined(&e[1].params), "x,y");
  assert_string_equal(e[2].name, "launch");
  assert_true(e[2].launcher && !e[1].launcher && !e[1].is_template);
}

static void finds_structs(void **s) {
  (void)s;
  ac_source_facts f = scan("struct alignas(8) Plain : Base { uint32_t a, b = 2; int64_t c[4] = {0};\n"
                           "  float d; Plain() {} void f(int x) { int y; } half e{1}; };\n"
                           "namespace optiling {\n"
                           "BEGIN_TILING_DATA_DEF(ByMacro)\n"
                           "  TILING_DATA_FIELD_DEF(uint32_t, n);\n"
                           "  TILING_DATA_FIELD_DEF_ARR(int64_t, 8, sizes);\n"
                           "  TILING_DATA_FIELD_DEF_STRUCT(SoftMaxTiling, soft);\n"
                           "END_TILING_DATA_DEF;\n"
                           "REGISTER_TILING_DATA_CLASS(Op, ByMacro)\n"
                           "}\n"
                           "void f() { GET_TILING_DATA_WITH_STRUCT(Plain, t, arg); GET_TILING_DATA(u, arg); }\n"
                           "struct Forward;\n");
  assert_int_equal(f.structs.len, 2);
  assert_string_equal(f.structs.data[0].name, "Plain");
  assert_string_equal(joined(&f.structs.data[0].fields), "a,b,c,d,e");
  assert_string_equal(f.structs.data[1].name, "optiling::ByMacro");
  assert_true(f.structs.data[1].macro);
  assert_string_equal(joined(&f.structs.data[1].fields), "n,sizes,soft");
  assert_string_equal(joined(&f.asked), "ByMacro,Plain");
  assert_true(f.reads_tiling);
}

/* Nothing in a source may lead the walk astray for ever, or out of the text. */
static void survives_any_text(void **s) {
  (void)s;
  static const char *const parts[] = {"namespace",  "{",
                                      "}",          "(",
                                      ")",          "\"",
                                      "'",          "R\"x(",
                                      "/*",         "*/",
                                      "//",         "<",
                                      ">",          "template",
                                      "__global__", "struct",
                                      "class",      "using",
                                      ";",          "alignas",
                                      ",",          "a::b",
                                      "\n",         "#if",
                                      "\\\n",       "=",
                                      "operator",   "BEGIN_TILING_DATA_DEF",
                                      "1'000",      "[",
                                      "]",          "<<<",
                                      ">>>",        "GET_TILING_DATA_WITH_STRUCT"};
  uint64_t r = 42;
  for (int i = 0; i < 3000; i++) {
    ac_buf b;
    ac_buf_init(&b, a);
    for (int k = 0; k < 1 + i % 40; k++) {
      r = r * 6364136223846793005ull + 1442695040888963407ull;
      ac_printf(&b, "%s%s", parts[(r >> 33) % AC_COUNT(parts)], r >> 63 ? " " : "");
    }
    scan(ac_buf_str(&b));
    if (i % 100 == 99) ac_arena_free(a), a = ac_arena_new();
  }
}

static void reads_fields(void **s) {
  (void)s;
  ac_tiling_fields f = {0};
  assert_true(ac_tiling_parse(a, "n=16384, cube.m=-3,sizes=[1, 0x10,3],eps=1e-5,b[2]=true", &f, &d));
  assert_int_equal(f.len, 5);
  assert_string_equal(f.data[1].path, "cube.m");
  assert_true(f.data[1].values[0].negative && f.data[1].values[0].i == -3);
  assert_int_equal(f.data[2].n, 3);
  assert_int_equal(f.data[2].values[1].i, 16);
  assert_false(f.data[3].values[0].whole);
  assert_true(f.data[3].values[0].f == 1e-5);
  assert_string_equal(f.data[4].path, "b[2]");
  static const char *const bad[] = {"",     "n",    "n=",      "n=x",     "n=1,",  "=1",    "n=[1",
                                    "n=[]", "1n=2", "n=1,n=2", "n=1;m=2", "n m=1", "n=1 2", "n=(int)1"};
  for (size_t i = 0; i < AC_COUNT(bad); i++) {
    ac_tiling_fields g = {0};
    if (ac_tiling_parse(a, bad[i], &g, &d)) fail_msg("'%s' was taken", bad[i]);
  }
  ac_sim_number v;
  assert_true(ac_number_parse("18446744073709551615", &v) && v.whole && !v.negative && (uint64_t)v.i == UINT64_MAX);
  assert_true(ac_number_parse("-9223372036854775808", &v) && v.negative && v.i == INT64_MIN);
  assert_true(ac_number_parse("18446744073709551616", &v) && !v.whole && v.f == 0x1p64);
  assert_true(ac_number_parse("inf", &v) && !v.whole);
  assert_false(ac_number_parse("", &v) || ac_number_parse("1f", &v) || ac_number_parse(" 1", &v));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(finds_entries, setup, teardown),
      cmocka_unit_test_setup_teardown(finds_structs, setup, teardown),
      cmocka_unit_test_setup_teardown(survives_any_text, setup, teardown),
      cmocka_unit_test_setup_teardown(reads_fields, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

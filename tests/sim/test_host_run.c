/* The runner without a kernel's help: host tiling, refusals, misfits, crashes, time, and the compiler's errors. The kernels here
 * use no AscendC interface on purpose. */
#include "host_support.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <time.h>

static const char *put(const char *name, const char *text) {
  char *path = ac_path_join(a, root, name);
  assert_true(ac_write_file(path, text, strlen(text), &d));
  return path;
}
static char *fixture(const char *rel) {
  return ac_sprintf(a, "%s/tests/sim/fixtures/relu_tail/%s", AC_SOURCE_DIR, rel);
}

static ac_sim_lib *build(const char *host, const char *kernel) {
  const ac_chip *chip = ac_chip_load(a, "ascend910b2", &d);
  ac_sim_spec s = {.form = AC_SIM_MSOPGEN,
                   .op = "relu_tail",
                   .op_type = "ReluTail",
                   .kernel_src = kernel,
                   .host_src = host,
                   .chip = chip};
  return ac_sim_build(a, &s, &d);
}
#define ENTRY "extern \"C\" void relu_tail(unsigned char *x, unsigned char *y, unsigned char *w, unsigned char *t) "

static ac_sim_tensor t[2];
static void tensors(int rank, int64_t n0, int64_t n1) {
  for (int i = 0; i < 2; i++) {
    t[i] = (ac_sim_tensor){.name = i ? "y" : "x", .dtype = AC_F32, .rank = rank, .shape = {n0, n1}, .output = i == 1};
    t[i].bytes = 4 * (rank > 0 ? n0 : 1) * (rank > 1 ? n1 : 1);
    t[i].data = ac_sim_alloc(t[i].bytes);
    assert_non_null(t[i].data);
  }
}
static void drop(void) {
  for (int i = 0; i < 2; i++) ac_sim_dealloc(t[i].data, t[i].bytes);
}
static const ac_diag *last(void) {
  return d.list.len ? d.list.data[d.list.len - 1] : NULL;
}

static void tiling_runs_unmodified(void **s) {
  (void)s;
  ac_sim_lib *l =
      build(fixture("op_host/relu_tail.cpp"), put("k.cpp", ENTRY "{ (void)x; (void)y; (void)w; (void)t; }"));
  if (!l) ac_diags_print(&d, stderr, false);
  assert_non_null(l);
  tensors(2, 1000, 7);
  ac_sim_attr at = {.name = "slope", .kind = AC_ATTR_F, .f = 0.25};
  ac_sim_result r;
  assert_true(ac_sim_run(a, l, t, 2, &at, 1, &(ac_sim_opts){.tiling_only = true}, &r, &d));
  assert_true(r.ran);
  assert_int_equal(r.tiling_key, 1);
  assert_int_equal(r.tiling_bytes, 24); /* int64, int64, uint32, float */
  assert_int_equal(r.workspace, 16 << 20);
  assert_int_equal(r.block_dim, (7000 + 151) / 152); /* 7000 / 48 rounded up to 8 */
  assert_int_equal(r.faults.len, 0);
  drop();
}

static void a_process_may_build_often(void **s) {
  (void)s;
  const char *k = put("k.cpp", ENTRY "{ (void)x; (void)y; (void)w; (void)t; }");
  for (int i = 0; i < 70; i++) assert_non_null(build(fixture("op_host/relu_tail.cpp"), k));
}

static void refusals_keep_their_text(void **s) {
  (void)s;
  ac_sim_lib *l =
      build(fixture("op_host/relu_tail.cpp"), put("k.cpp", ENTRY "{ (void)x; (void)y; (void)w; (void)t; }"));
  assert_non_null(l);
  tensors(0, 1, 1);
  ac_sim_result r;
  assert_true(ac_sim_run(a, l, t, 2, NULL, 0, NULL, &r, &d));
  assert_false(r.ran);
  assert_string_equal(r.refused, "relu_tail: the rank must be 1 to 4 (0)");
  drop();
}

static void misfits_are_named(void **s) {
  (void)s;
  ac_sim_lib *l =
      build(fixture("op_host/relu_tail.cpp"), put("k.cpp", ENTRY "{ (void)x; (void)y; (void)w; (void)t; }"));
  tensors(1, 8, 1);
  ac_sim_result r;
  t[0].dtype = AC_F16;
  assert_false(ac_sim_run(a, l, t, 2, NULL, 0, NULL, &r, &d));
  assert_int_equal(last()->code, AC0806);
  assert_non_null(strstr(last()->message, "DT_FLOAT16"));
  t[0].dtype = AC_F32;
  ac_sim_attr at = {.name = "slop", .kind = AC_ATTR_F};
  assert_false(ac_sim_run(a, l, t, 2, &at, 1, NULL, &r, &d));
  assert_non_null(strstr(last()->message, "no attribute slop"));
  l = build(fixture("op_host/relu_tail.cpp"),
            put("k3.cpp", "extern \"C\" void relu_tail(unsigned char *, unsigned char *, unsigned char *) {}"));
  assert_non_null(l);
  assert_false(ac_sim_run(a, l, t, 2, NULL, 0, NULL, &r, &d));
  assert_non_null(strstr(last()->message, "takes 3 arguments"));
  drop();
}

/* The host code with one statement put in the place of another gives one fault of that kind. */
static void host_mistake(const char *from, const char *to, const char *kind, const char *text) {
  size_t len;
  char *host = ac_read_file(a, fixture("op_host/relu_tail.cpp"), 0, &len, &d), *cut = strstr(host, from);
  assert_non_null(cut);
  put("relu_tail_tiling.h", ac_read_file(a, fixture("op_host/relu_tail_tiling.h"), 0, &len, &d));
  const char *edited = ac_sprintf(a, "%.*s%s //%s", (int)(cut - host), host, to, cut);
  ac_sim_lib *l = build(put("wrong.cpp", edited), put("k.cpp", ENTRY "{ (void)x; (void)y; (void)w; (void)t; }"));
  if (!l) ac_diags_print(&d, stderr, false);
  assert_non_null(l);
  tensors(1, 8, 1);
  ac_sim_result r;
  assert_true(ac_sim_run(a, l, t, 2, NULL, 0, &(ac_sim_opts){.tiling_only = true}, &r, &d));
  assert_int_equal(r.faults.len, 1);
  assert_string_equal(r.faults.data[0].kind, kind);
  assert_non_null(strstr(r.faults.data[0].message, text));
  drop();
}
static void mistakes_of_the_host_code_are_faults(void **s) {
  (void)s;
  host_mistake("*context->GetOutputShape(0) = ", "context->GetOutputShape(0)->AppendDim(3);", "infer-shape", "(3)");
  host_mistake("context->SetOutputDataType(0, ", "context->SetOutputDataType(0, ge::DT_INT32);", "infer-dtype", "3");
  host_mistake("context->SetBlockDim(", "(void)blocks;", "no-blocks", "no block dim");
}

static void a_pointer_by(const char *by) {
  ac_sim_lib *l = build(
      fixture("op_host/relu_tail.cpp"),
      put("past.cpp",
          ac_sprintf(
              a,
              "#include \"kernel_operator.h\"\n" ENTRY "{ (void)x; (void)y; (void)w; (void)t; AscendC::TPipe p; "
              "AscendC::TBuf<AscendC::TPosition::VECCALC> b; p.InitBuffer(b, 192 * 1024); "
              "volatile char *q = b.Get<int8_t>().GetPhyAddr() ? (volatile char *)b.Get<int8_t>().GetPhyAddr() "
              ": nullptr; q[%s] = 1; }",
              by)));
  if (!l) ac_diags_print(&d, stderr, false);
  assert_non_null(l);
  tensors(1, 100, 1);
  ac_sim_result r;
  assert_false(ac_sim_run(a, l, t, 2, NULL, 0, NULL, &r, &d));
  assert_int_equal(last()->code, AC0803);
  assert_non_null(strstr(last()->message, "in the kernel, block "));
  assert_non_null(strstr(last()->message, "after the AscendC call at "));
  assert_non_null(strstr(last()->message, "past.cpp:2"));
  drop();
}

static void a_pointer_past_the_memory_is_a_crash(void **s) {
  const char *const by[] = {"192 * 1024", "192 * 1024 + 16777216", "-16777216"};
  for (size_t i = 0; i < AC_COUNT(by); i++) a_pointer_by(by[i]);
  (void)s;
}

static void crashes_say_where(void **s) {
  (void)s;
  ac_sim_lib *l = build(fixture("op_host/relu_tail.cpp"),
                        put("crash.cpp", ENTRY "{ (void)x; (void)y; (void)w; (void)t; *(volatile int *)8 = 1; }"));
  tensors(1, 100, 1);
  ac_sim_result r;
  assert_false(ac_sim_run(a, l, t, 2, NULL, 0, NULL, &r, &d));
  assert_int_equal(last()->code, AC0803);
  assert_non_null(strstr(last()->message, "in the kernel, block "));
  assert_non_null(strstr(last()->message, "float32(100)"));
  drop();
}

static void endless_loops_end(void **s) {
  (void)s;
  ac_sim_lib *l = build(fixture("op_host/relu_tail.cpp"),
                        put("loop.cpp", "#include \"kernel_operator.h\"\n\n" ENTRY
                                        "{ (void)x; (void)y; (void)w; (void)t; AscendC::PipeBarrier<PIPE_ALL>();\n"
                                        "for (volatile int i = 0;; i++) {} }"));
  tensors(1, 100, 1);
  ac_sim_result r;
  assert_false(ac_sim_run(a, l, t, 2, NULL, 0,
                          &(ac_sim_opts){.timeout = 1.5} /* enough to get there on a busy machine */, &r, &d));
  assert_int_equal(last()->code, AC0804);
  assert_non_null(strstr(last()->message, "in the kernel, block 0, after the AscendC call at "));
  assert_non_null(strstr(last()->message, "loop.cpp:3"));
  drop();
}

static void the_child_has_no_network_and_writes_nothing(void **s) {
  (void)s;
  const char *code =
      "#include <stdio.h>\n#include <stdlib.h>\n#include <sys/socket.h>\n" ENTRY
      "{ (void)x; (void)w; (void)t; float *o = (float *)y; FILE *f = fopen(\"/tmp/acsim_should_not_exist\", \"w\");"
      " o[0] = socket(AF_INET, SOCK_STREAM, 0) >= 0; o[1] = f != 0; o[2] = system(\"true\") == 0; }";
  ac_sim_lib *l = build(fixture("op_host/relu_tail.cpp"), put("net.cpp", code));
  if (!l) ac_diags_print(&d, stderr, false);
  tensors(1, 8, 1);
  memset(t[1].data, 0xFF, 32);
  ac_sim_result r;
  assert_true(ac_sim_run(a, l, t, 2, NULL, 0, NULL, &r, &d));
  const float *o = t[1].data;
  assert_true(o[0] == 0);
  if (!(r.sandbox_missing & AC_SB_LANDLOCK)) assert_true(o[1] == 0);
  assert_true(o[2] == 0);
  drop();
}

static void compile_errors_keep_line_and_text(void **s) {
  (void)s;
  assert_null(build(fixture("op_host/relu_tail.cpp"), put("bad.cpp", "\n\nint broken(;\n" ENTRY "{}")));
  assert_int_equal(last()->code, AC0801);
  assert_non_null(strstr(last()->message, "bad.cpp:3:"));
  assert_null(build(fixture("op_host/relu_tail.cpp"), put("none.cpp", "int other;\n")));
  assert_int_equal(last()->code, AC0801);
  assert_true(last()->help.len > 0 && strstr(last()->help.data[0], "relu_tail"));
  assert_null(build(ac_path_join(a, root, "missing.cpp"), put("k.cpp", "")));
  assert_int_equal(last()->code, AC0101);
}

/* The sum of the cache's inodes: a compile puts a new file there. */
static uint64_t cache_state(void) {
  uint64_t sum = 0;
  glob_t g;
  if (glob(ac_sprintf(a, "%s/ascendcraft/*.so", root), 0, NULL, &g)) return 0;
  for (size_t i = 0; i < g.gl_pathc; i++) {
    struct stat st;
    if (!stat(g.gl_pathv[i], &st)) sum += (uint64_t)st.st_ino;
  }
  globfree(&g);
  return sum;
}

static void unchanged_text_compiles_once(void **s) {
  (void)s;
  const char *k = put("once.cpp", ENTRY "{ (void)x; (void)y; (void)w; (void)t; }");
  uint64_t before = cache_state();
  assert_non_null(build(fixture("op_host/relu_tail.cpp"), k));
  uint64_t after = cache_state();
  assert_int_not_equal(before, after);
  assert_non_null(build(fixture("op_host/relu_tail.cpp"), k));
  assert_int_equal(cache_state(), after);
}

/* Files of the cache that were last used `seconds` ago. */
static void fill_cache(const char *stem, int n, int seconds) {
  struct timespec t2[2];
  for (int i = 0; i < n; i++) {
    const char *p = put(ac_sprintf(a, "ascendcraft/%s%d.so", stem, i), "");
    clock_gettime(CLOCK_REALTIME, &t2[0]);
    t2[0].tv_sec -= seconds;
    t2[1] = t2[0];
    assert_false(utimensat(AT_FDCWD, p, t2, 0));
  }
}
static bool cached(const char *name) {
  return ac_exists(ac_sprintf(a, "%s/ascendcraft/%s", root, name));
}

/* Another process builds much while ours is between two runs: what was used lately stays. */
static void a_full_cache_spares_what_is_in_use(void **s) {
  (void)s;
  fill_cache("old", 200, 7200);
  fill_cache("busy", 600, 600);
  const char *k = put("full.cpp", ENTRY "{ (void)x; (void)y; (void)w; (void)t; (void)0; }");
  assert_non_null(build(fixture("op_host/relu_tail.cpp"), k));
  assert_false(cached("old0.so"));
  fill_cache("old", 10, 7200);
  assert_non_null(build(fixture("op_host/relu_tail.cpp"), k));
  assert_true(cached("busy0.so") && cached("busy599.so"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tiling_runs_unmodified),
      cmocka_unit_test(a_process_may_build_often),
      cmocka_unit_test(refusals_keep_their_text),
      cmocka_unit_test(misfits_are_named),
      cmocka_unit_test(mistakes_of_the_host_code_are_faults),
      cmocka_unit_test(a_pointer_past_the_memory_is_a_crash),
      cmocka_unit_test(crashes_say_where),
      cmocka_unit_test(endless_loops_end),
      cmocka_unit_test(the_child_has_no_network_and_writes_nothing),
      cmocka_unit_test(compile_errors_keep_line_and_text),
      cmocka_unit_test(unchanged_text_compiles_once),
      cmocka_unit_test(a_full_cache_spares_what_is_in_use),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}

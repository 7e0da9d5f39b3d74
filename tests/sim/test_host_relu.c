/* A complete hand-written operator on the simulator, in both forms: right as it is, and each way of breaking it is reported with
 * the place. The comparison here is by hand; verify has its own. */
#include "host_support.h"

static int serial;

/* The library of one form; in the kernel's file `what` becomes `with`. */
static ac_sim_lib *build(ac_sim_form form, const char *what, const char *with) {
  const char *from = ac_sprintf(a, "%s/tests/sim/fixtures/relu_tail", AC_SOURCE_DIR);
  const char *rel = form == AC_SIM_DIRECT ? "direct/relu_tail.cpp" : "op_kernel/relu_tail.cpp";
  char *text = ac_read_file(a, ac_path_join(a, from, rel), 0, NULL, &d);
  assert_non_null(text);
  if (what) {
    char *at = strstr(text, what);
    assert_non_null(at);
    text = ac_sprintf(a, "%.*s%s%s", (int)(at - text), text, with, at + strlen(what));
  }
  char *dir = ac_sprintf(a, "%s/p%d/op_kernel", root, serial++), *kernel = ac_path_join(a, dir, "relu_tail.cpp");
  assert_true(ac_mkdirs(dir, &d) && ac_write_file(kernel, text, strlen(text), &d));
  ac_sim_spec s = {.form = form,
                   .op = "relu_tail",
                   .op_type = "ReluTail",
                   .kernel_src = kernel,
                   .host_src = form == AC_SIM_DIRECT ? NULL : ac_path_join(a, from, "op_host/relu_tail.cpp"),
                   .chip = ac_chip_load(a, "ascend910b2", &d)};
  ac_sim_lib *l = ac_sim_build(a, &s, &d);
  if (!l) ac_diags_print(&d, stderr, false);
  assert_non_null(l);
  return l;
}

typedef struct {
  ac_sim_result r;
  int64_t wrong, first_wrong;
} outcome;

static outcome run(const ac_sim_lib *l, int64_t n, ac_block_order order) {
  outcome o = {.first_wrong = -1};
  ac_sim_tensor t[2];
  for (int i = 0; i < 2; i++) {
    t[i] = (ac_sim_tensor){.name = i ? "y" : "x",
                           .dtype = AC_F32,
                           .rank = 1,
                           .shape = {n},
                           .bytes = 4 * n,
                           .output = i == 1,
                           .data = ac_sim_alloc(4 * n)};
    assert_non_null(t[i].data);
  }
  float *x = t[0].data, *y = t[1].data;
  for (int64_t i = 0; i < n; i++) x[i] = (float)((i * 7919) % 2003 - 1001) / 64;
  ac_sim_attr at = {.name = "slope", .kind = AC_ATTR_F, .f = 0.25};
  bool ok = ac_sim_run(a, l, t, 2, &at, 1, &(ac_sim_opts){.order = order}, &o.r, &d);
  if (!ok) ac_diags_print(&d, stderr, false);
  assert_true(ok);
  for (int64_t i = 0; i < n; i++)
    if (y[i] != (x[i] > 0 ? x[i] : x[i] * 0.25f) && !o.wrong++) o.first_wrong = i;
  for (int i = 0; i < 2; i++) ac_sim_dealloc(t[i].data, t[i].bytes);
  return o;
}

static const ac_sim_fault *fault(const outcome *o, const char *kind) {
  for (size_t i = 0; i < o->r.faults.len; i++)
    if (!strcmp(o->r.faults.data[i].kind, kind)) return &o->r.faults.data[i];
  for (size_t i = 0; i < o->r.faults.len; i++)
    fprintf(stderr, "%s: %s (%s:%d)\n", o->r.faults.data[i].kind, o->r.faults.data[i].message,
            o->r.faults.data[i].file, o->r.faults.data[i].line);
  return NULL;
}

static void right_at_every_size(void **s) {
  (void)s;
  static const int64_t sizes[] = {0, 1, 7, 8, 13, 383, 384, 385, 4096 * 48, 4096 * 48 + 1, 400009};
  for (int form = 0; form < 2; form++) {
    ac_sim_lib *l = build((ac_sim_form)form, NULL, NULL);
    for (size_t i = 0; i < AC_COUNT(sizes); i++)
      for (int order = 0; order < 2; order++) {
        outcome o = run(l, sizes[i], (ac_block_order)order);
        if (o.r.faults.len) fault(&o, "");
        assert_true(o.r.ran);
        assert_int_equal(o.r.faults.len, 0);
        assert_int_equal(o.wrong, 0);
        assert_int_equal(o.r.block_dim, sizes[i] == 0 ? 1
                                                      : (sizes[i] + ((sizes[i] + 47) / 48 + 7) / 8 * 8 - 1) /
                                                            (((sizes[i] + 47) / 48 + 7) / 8 * 8));
      }
  }
}

static void breaks(const char *what, const char *with, int64_t n, const char *kind, int line_of) {
  for (int form = 0; form < 2; form++) {
    outcome o = run(build((ac_sim_form)form, what, with), n, AC_ORDER_FORWARD);
    const ac_sim_fault *f = fault(&o, kind);
    assert_non_null(f);
    if (line_of) {
      assert_non_null(f->file);
      assert_true(f->line > 0);
      assert_string_equal(ac_basename(f->file), "relu_tail.cpp");
    }
  }
}

static void dropped_tail(void **s) {
  (void)s;
  breaks("at < count_; at += tile_", "at + 8 <= count_; at += tile_", 13, "never-written", 0);
}
static void skipped_store(void **s) {
  (void)s;
  breaks("AscendC::DataCopyPad(y_[at], y, params);", "if (at != 0) AscendC::DataCopyPad(y_[at], y, params);", 5000,
         "never-written", 0);
}
static void offset_by_one(void **s) {
  (void)s;
  breaks("y_.SetGlobalBuffer((__gm__ float *)y + first, count_);",
         "y_.SetGlobalBuffer((__gm__ float *)y + first + 1, count_);", 1000, "gm-out-of-bounds", 1);
  outcome o = run(build(AC_SIM_MSOPGEN, "AscendC::DataCopyPad(x, x_[at], params, pad);",
                        "AscendC::DataCopyPad(x, x_[n > 1 ? at + 1 : at], AscendC::DataCopyExtParams{1, "
                        "static_cast<uint32_t>((n > 1 ? n - 1 : n) * sizeof(float)), 0, 0, 0}, pad);"),
                  1000, AC_ORDER_FORWARD);
  assert_true(o.wrong > 0 || o.r.faults.len > 0);
}
static void ub_overrun(void **s) {
  (void)s;
  breaks("pipe_.InitBuffer(in_, BUFFER_NUM, tile * sizeof(float));", "pipe_.InitBuffer(in_, BUFFER_NUM, 256);",
         48 * 1000, "ub-out-of-bounds", 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(right_at_every_size), cmocka_unit_test(dropped_tail), cmocka_unit_test(skipped_store),
      cmocka_unit_test(offset_by_one),       cmocka_unit_test(ub_overrun),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}

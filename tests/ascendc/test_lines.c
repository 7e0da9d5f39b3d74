/* Long programs take memory in proportion to their length: twice the lines, about twice the bytes, and less than a bound a line. What
 * copies a table for every statement, or makes a text of everything so far, fails here; bench/run.sh counts instructions a line. */
#include "ascendc/ascendc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const char head[] =
    "@ascend_kernel\n"
    "def k_kernel(x_ptr: tl.tensor[tl.float32], y_ptr: tl.tensor[tl.float32], n, per_core, tile):\n"
    "    start = tl.program_id(0) * per_core\n"
    "    end = min(start + per_core, n)\n"
    "    x = tl.alloc_ub(tile, dtype=tl.float32)\n"
    "    y = tl.alloc_ub(tile, dtype=tl.float32)\n";
static const char loop[] = "    for i in range(start, end, tile):\n"
                           "        count = min(tile, end - i)\n"
                           "        offs = i + tl.arange(0, count)\n";
static const char load[] = "        with tl.copyin():\n            tl.load(x_ptr + offs, x)\n";
static const char store[] = "        with tl.copyout():\n            tl.store(y_ptr + offs, y)\n";
static const char relu[] = "        with tl.compute():\n            tl.vrelu(y, x)\n";
static const char host[] = "\n\ndef op_host(x: tl.tensor[tl.float32], y: tl.tensor[tl.float32]):\n"
                           "    n = x.numel()\n"
                           "    per_core = max(128, tl.align_up(tl.cdiv(n, tl.num_cores()), 128))\n"
                           "    n_cores = max(1, tl.cdiv(n, per_core))\n";
static const char launch[] = "    k_kernel[n_cores](x, y, n, per_core, 2048)\n";

static void statements(ac_buf *b, int n) {
  ac_printf(b, "%s%s%s%s", head, loop, load, relu);
  for (int i = 0; i < n; i++) ac_printf(b, "            tl.vadd_scalar(y, y, %d.5)\n", i);
  ac_printf(b, "%s%s%s", store, host, launch);
}
static void stages(ac_buf *b, int n) {
  ac_printf(b, "%s%s", head, loop);
  for (int i = 0; i < n / 6; i++) ac_printf(b, "%s%s%s", load, relu, store);
  ac_printf(b, "%s%s", host, launch);
}
static void loops(ac_buf *b, int n) {
  ac_puts(b, head);
  for (int i = 0; i < n / 9; i++) ac_printf(b, "%s%s%s%s", loop, load, relu, store);
  ac_printf(b, "%s%s", host, launch);
}
static void buffers(ac_buf *b, int n) {
  ac_puts(b, head);
  for (int i = 0; i < n / 2; i++) ac_printf(b, "    b%d = tl.alloc_ub(64, dtype=tl.float32)\n", i);
  ac_printf(b, "%s%s%s", loop, load, relu);
  for (int i = 0; i < n / 2; i++) ac_printf(b, "            tl.duplicate(b%d, %d.0, count=64)\n", i, i);
  ac_printf(b, "%s%s%s", store, host, launch);
}
static void scalars(ac_buf *b, int n) {
  ac_printf(b, "%s    v0 = start\n", head);
  for (int i = 0; i < n; i++) ac_printf(b, "    v%d = v%d + %d\n", i + 1, i, i);
  ac_printf(b, "%s%s%s%s%s%s", loop, load, relu, store, host, launch);
}
static void host_scalars(ac_buf *b, int n) {
  ac_printf(b, "%s%s%s%s%s%s    v0 = n\n", head, loop, load, relu, store, host);
  for (int i = 0; i < n; i++) ac_printf(b, "    v%d = v%d + %d\n", i + 1, i, i);
  ac_puts(b, launch);
}
static void comments(ac_buf *b, int n) {
  ac_printf(b, "%s%s%s        with tl.compute():\n", head, loop, load);
  for (int i = 0; i < n; i++) ac_printf(b, "            # line %d says nothing about what follows\n", i);
  ac_printf(b, "            tl.vrelu(y, x)\n%s%s%s", store, host, launch);
}

static const struct {
  const char *name;
  void (*make)(ac_buf *, int);
} kinds[] = {{"statements", statements}, {"stages", stages},   {"loops", loops},
             {"buffers", buffers},       {"scalars", scalars}, {"scalars of the host", host_scalars},
             {"comments", comments}};

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

/* Programs of one kind and of any length, for what looks at time and memory a line: test_lines.c and bench/lines.c. */
#ifndef AC_TEST_LINES_H
#define AC_TEST_LINES_H

#include "base/base.h"

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

/* Names of their own in every loop and every branch: what copies all names at each of them, or joins all, takes the square of time. */
static void own_names(ac_buf *b, int n) {
  ac_printf(b, "%s%s%s%s%s", head, loop, load, relu, store);
  for (int i = 0; i < n / 4; i++)
    ac_printf(b,
              "    for i%d in range(0, n, 64):\n"
              "        a%d = i%d + %d\n"
              "        if a%d > 100:\n"
              "            b%d = a%d - 100\n",
              i, i, i, i, i, i, i);
  ac_printf(b, "%s%s", host, launch);
}
static void host_branches(ac_buf *b, int n) {
  ac_printf(b, "%s%s%s%s%s%s", head, loop, load, relu, store, host);
  for (int i = 0; i < n / 4; i++)
    ac_printf(b, "    if n > %d:\n        v%d = %d\n    else:\n        v%d = n\n", 1000 + i, i, i, i);
  ac_puts(b, launch);
}
static void kernels(ac_buf *b, int n) {
  enum { STAGES = 8 };
  int k = n / (10 + 6 * STAGES) < 1 ? 1 : n / (10 + 6 * STAGES); /* a program has 256 launches at most */
  for (int i = 0; i < k; i++) {
    const char *rest = head + sizeof "@ascend_kernel\ndef k" - 1;
    ac_printf(b, "%s@ascend_kernel\ndef k%d%s%s", i ? "\n\n" : "", i, rest, loop);
    for (int j = 0; j < STAGES; j++) ac_printf(b, "%s%s%s", load, relu, store);
  }
  ac_puts(b, host);
  for (int i = 0; i < k; i++) ac_printf(b, "    k%d_kernel[n_cores](x, y, n, per_core, 2048)\n", i);
}
static void least(ac_buf *b, int n) {
  ac_printf(b, "%s%s%s%s%s%s    v0 = n\n", head, loop, load, relu, store, host);
  for (int i = 0; i < n; i++) ac_printf(b, "    v%d = min(v%d + %d, n * %d)\n", i + 1, i, i + 1, i + 2);
  ac_puts(b, launch);
}
static void nests(ac_buf *b, int n) {
  static const char nest[] = "    for j0 in range(0, n, 7):\n"
                             "        if j0 > 3:\n"
                             "            for j1 in range(0, 7):\n"
                             "                j2 = j0 + j1\n"
                             "        else:\n"
                             "            j2 = j0\n";
  ac_printf(b, "%s%s%s%s%s", head, loop, load, relu, store);
  for (int i = 0; i < n / 6; i++) ac_puts(b, nest);
  ac_printf(b, "%s%s", host, launch);
}

static const struct {
  const char *name;
  void (*make)(ac_buf *, int);
} kinds[] = {{"statements", statements}, {"stages", stages},       {"loops", loops},
             {"buffers", buffers},       {"scalars", scalars},     {"scalars of the host", host_scalars},
             {"comments", comments},     {"own names", own_names}, {"branches of the host", host_branches},
             {"kernels", kernels},       {"least", least},         {"nests", nests}};

#endif

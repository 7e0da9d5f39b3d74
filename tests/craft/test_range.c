/* What is claimed of indices and of addresses that data makes: proved where it holds for every shape and all data, refuted where an index is
 * certainly outside, open else. The lines of each case take the place of one program's. */
#include "world.h"

#include <string.h>

/* The kernel has n of `n_max` elements in src, m of `room` numbers in at, an extent and an index of data. */
static const char program[] = "@ascend_kernel\n"
                              "def pick_kernel(x, index, y, n, m, tile):\n"
                              "    src = tl.alloc_ub(tile, tl.float32)\n"
                              "    dst = tl.alloc_ub(256, tl.float32)\n"
                              "    at = tl.alloc_ub(256, tl.int32)\n"
                              "    to = tl.alloc_ub(256, tl.int32)\n"
                              "    mask = tl.alloc_ub(256, tl.mask)\n"
                              "    with tl.copyin():\n"
                              "        tl.load(x + tl.arange(0, n), src)\n"
                              "        tl.load(index + tl.arange(0, m), at)\n"
                              "%s"
                              "    with tl.copyout():\n"
                              "        tl.store(y + tl.arange(0, m), dst)\n"
                              "\n\n"
                              "def pick(x, index, y: tl.out[index.numel()]):\n"
                              "    n = x.numel()\n"
                              "    m = index.numel()\n"
                              "    if n > 1024 or n < 1 or m > 256 or m < 1:\n"
                              "        tl.refuse(\"sizes\")\n"
                              "%s"
                              "    pick_kernel[1](x, index, y, n, m, 1024)\n";

typedef struct {
  const char *lines; /* in a compute block */
  ac_cverdict verdict;
} index_case;

#define NO AC_VERDICT_REFUTED
#define YES AC_VERDICT_PROVED
#define OPEN AC_VERDICT_UNKNOWN

static const index_case gathers[] = {
    {"", OPEN}, /* data */
    {"tl.vclamp(at, at, 0, n - 1)", YES},
    {"tl.vclamp(at, at, 0, n)", OPEN},
    {"tl.vclamp(at, at, -1, n - 1)", OPEN},
    {"tl.vclamp(at, at, n, n + 5)", NO},
    {"tl.vclamp(at, at, -5, -1)", NO},
    {"tl.vmax(at, at, 0); tl.vmin(at, at, n - 1)", YES},
    {"tl.vmax(at, at, 0)", OPEN},
    {"tl.vmod(at, at, n)", YES},
    {"tl.vfmod(at, at, n)", OPEN}, /* negative ones stay negative */
    {"tl.vmax(at, at, 0); tl.vfmod(at, at, n)", YES},
    {"tl.vclamp(at, at, 0, n - 1); tl.vneg(at, at); tl.vadd(at, at, n - 1)", YES},
    {"tl.vclamp(at, at, 0, n - 1); tl.vadd(at, at, 1)", OPEN},
    {"tl.vclamp(at, at, 0, n - 1); tl.vrsub_scalar(at, at, n - 1)", YES},
    {"tl.vclamp(at, at, 0, 2 * n - 2); tl.vfloordiv(at, at, 2)", YES},
    {"tl.vclamp(at, at, 0, 2 * n); tl.vfloordiv(at, at, 2)", OPEN},
    {"tl.vclamp(at, at, 0, n - 1); tl.vshr_scalar(at, at, 3)", YES},
    {"tl.vclamp(at, at, 0, n - 1); tl.vshl_scalar(at, at, 1)", OPEN},
    {"tl.vclamp(to, at, 0, n - 1); tl.vand(at, at, to)", YES},
    {"tl.vclamp(to, at, 0, n - 1); tl.vor(at, at, to)", OPEN},
    {"tl.vclamp(to, at, 0, n - 1); tl.vcopy(at, to)", YES},
    {"tl.vclamp(at, at, 0, n - 1, count=1)", OPEN}, /* the others stay */
    {"tl.vclamp(at, at, 0, n - 1); tl.insert_scalar(at, 0, 0)", YES},
    {"tl.vclamp(at, at, 0, n - 1); tl.insert_scalar(at, 0, n)", OPEN},
    {"tl.vclamp(to, at, 0, n - 1); tl.vcompare(mask, at, to, \"lt\"); tl.vselect(at, mask, to, 0)", YES},
    {"tl.vclamp(to, at, 0, n - 1); tl.vcompare(mask, at, to, \"lt\"); tl.vselect(at, mask, at, 0)", OPEN},
    {"tl.vclamp(at, at, 0, n - 1); tl.cumsum(to, at); tl.vcopy(at, to)", OPEN},
    {"tl.vclamp(at, at, 0, n - 1); tl.cummax(to, at); tl.vcopy(at, to)", YES},
    {"tl.iota(at, 0, count=m); tl.vmin(at, at, n - 1)", YES},
    {"tl.iota(at, n, count=m)", NO},
    {"tl.iota(at, -1, count=m)", NO},
    {"tl.iota(at, n - 1, step=-1, count=m)", OPEN}, /* sizes decide: the tiling code asks */
    {"tl.vclamp(at, at, 0, n - 1); tl.vmul(at, at, 65536); tl.vmod(at, at, n)", YES},
};

/* Addresses from the numbers in `at`, and from one of them. */
static const index_case addresses[] = {
    {"", OPEN},
    {"tl.vclamp(at, at, 0, n - 1)", YES},
    {"tl.vclamp(at, at, 0, n)", OPEN},
    {"tl.vmod(at, at, n)", YES},
    {"tl.vmin(at, at, n - 1)", OPEN},
};
static const index_case scalars[] = {
    {"k = tl.extract_scalar(at, 0)", OPEN},
    {"k = min(max(tl.extract_scalar(at, 0), 0), n - 1)", YES},
    {"k = min(tl.extract_scalar(at, 0), n - 1)", OPEN},
    {"k = tl.extract_scalar(at, 0) % n", YES},
    {"k = tl.extract_scalar(at, 0) // n", OPEN},
};

static ac_cverdict verdict(const char *lines, const char *host, ac_claim q, bool *asked) {
  world w;
  open_world(&w);
  char *text = ac_sprintf(w.a, program, lines, host);
  ac_cmodule *m = ac_craft_parse(w.a, "case.craft", text, &w.d);
  if (!m) ac_diags_print(&w.d, stderr, false);
  assert_non_null(m);
  ac_craft_check_opts o = {.chip = w.chip};
  ac_verdicts v = {0};
  bool ok = ac_craft_check(w.a, m, &o, &w.d);
  for (size_t i = 0; !ok && i < w.d.list.len; i++) { /* refuted, if that is what it says */
    const ac_diag *x = w.d.list.data[i];
    if (x->severity == AC_ERROR && x->code != AC0546) ac_diags_print(&w.d, stderr, false);
    assert_true(x->severity != AC_ERROR || x->code == AC0546);
  }
  if (ok) (void)ac_craft_prove(w.a, m, &o, &v, &w.d);
  ac_cverdict r = ok ? v.of[q] : AC_VERDICT_REFUTED;
  if (asked) *asked = v.asked[q];
  ac_arena_free(w.a);
  return r;
}

static void expect(const index_case *all, size_t n, ac_claim q, const char *before, const char *after) {
  int wrong = 0;
  ac_arena *a = ac_arena_new();
  for (size_t i = 0; i < n; i++) {
    const char *lines = ac_sprintf(a, before, *all[i].lines ? all[i].lines : "pass");
    ac_cverdict got = verdict(ac_sprintf(a, "%s%s", lines, after), "", q, NULL);
    if (got == all[i].verdict) continue;
    fprintf(stderr, "`%s`: %d, not %d\n", all[i].lines, (int)got, (int)all[i].verdict);
    wrong++;
  }
  ac_arena_free(a);
  assert_int_equal(wrong, 0);
}

static void indices(void **s) {
  (void)s;
  expect(gathers, AC_COUNT(gathers), AC_CLAIM_INDICES, "    with tl.compute():\n        %s\n",
         "    with tl.compute():\n        tl.gather(dst, src, at, count=m)\n");
}

static void offsets(void **s) {
  (void)s;
  expect(addresses, AC_COUNT(addresses), AC_CLAIM_BOUNDS, "    with tl.compute():\n        %s\n",
         "    with tl.copyin():\n        tl.load(x + at, dst)\n");
}

static void numbers(void **s) {
  (void)s;
  static const char load[] = "    with tl.copyin():\n        tl.load(x + k + tl.arange(0, 1), dst)\n";
  expect(scalars, AC_COUNT(scalars), AC_CLAIM_BOUNDS, "    %s\n", load);
  /* asked in the program: what the branch says holds in it, and not behind it */
  static const char asks[] = "    k = tl.extract_scalar(at, 0)\n    if k >= 0 and k < n:\n        with tl.copyin():\n"
                             "            tl.load(x + k + tl.arange(0, 1), dst)\n";
  assert_int_equal(verdict(asks, "", AC_CLAIM_BOUNDS, NULL), AC_VERDICT_PROVED);
  static const char half[] = "    k = tl.extract_scalar(at, 0)\n    if k < n:\n        with tl.copyin():\n"
                             "            tl.load(x + k + tl.arange(0, 1), dst)\n";
  assert_int_equal(verdict(half, "", AC_CLAIM_BOUNDS, NULL), AC_VERDICT_UNKNOWN);
}

/* Another trip's numbers are other numbers. */
static void loops(void **s) {
  (void)s;
  static const char carried[] = "    with tl.compute():\n        tl.iota(to, 0, count=m)\n"
                                "    for i in range(n):\n        with tl.compute():\n"
                                "            tl.gather(dst, src, to, count=m)\n"
                                "            tl.duplicate(to, i + 1, count=m)\n";
  assert_int_equal(verdict(carried, "    if m > n:\n        tl.refuse(\"m\")\n", AC_CLAIM_INDICES, NULL),
                   AC_VERDICT_UNKNOWN);
  static const char mine[] =
      "    for i in range(n):\n        with tl.compute():\n"
      "            tl.duplicate(to, i, count=m)\n            tl.gather(dst, src, to, count=m)\n";
  assert_int_equal(verdict(mine, "", AC_CLAIM_INDICES, NULL), AC_VERDICT_PROVED);
  static const char branch[] = "    with tl.compute():\n        tl.iota(to, 0, count=m)\n        if n > 5:\n"
                               "            tl.duplicate(to, n, count=m)\n        tl.gather(dst, src, to, count=m)\n";
  assert_int_equal(verdict(branch, "    if m > n:\n        tl.refuse(\"m\")\n", AC_CLAIM_INDICES, NULL),
                   AC_VERDICT_UNKNOWN);
}

/* Stores whose places are data cover nothing; what sizes decide the tiling code asks, what data decides it does not. */
static void others(void **s) {
  (void)s;
  bool asked = false;
  static const char far[] = "    with tl.compute():\n        tl.iota(at, n - 1, step=-1, count=m)\n"
                            "        tl.gather(dst, src, at, count=m)\n";
  assert_int_equal(verdict(far, "", AC_CLAIM_INDICES, &asked), AC_VERDICT_UNKNOWN);
  assert_true(asked);
  static const char data[] = "    with tl.compute():\n        tl.gather(dst, src, at, count=m)\n";
  assert_int_equal(verdict(data, "", AC_CLAIM_INDICES, &asked), AC_VERDICT_UNKNOWN);
  assert_false(asked);
  static const char scatter[] =
      "    with tl.compute():\n        tl.vclamp(at, at, 0, m - 1)\n        tl.duplicate(dst, 0.0)\n"
      "    with tl.copyout():\n        tl.store(y + at, dst[0:m])\n    return\n";
  assert_int_equal(verdict(scatter, "", AC_CLAIM_BOUNDS, NULL), AC_VERDICT_PROVED);
  assert_int_equal(verdict(scatter, "", AC_CLAIM_OUTPUTS, NULL), AC_VERDICT_UNKNOWN);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(indices), cmocka_unit_test(offsets), cmocka_unit_test(numbers),
                                     cmocka_unit_test(loops), cmocka_unit_test(others)};
  return cmocka_run_group_tests_name("range", tests, NULL, NULL);
}

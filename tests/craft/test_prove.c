/* Proofs and trials: at least 95 of 100 examples have all claims proved; and of programs with a planted fault none is both proved and refuted.
 * A fault that is proved harmless is one of these claims: another number of blocks for the same parts, or an input that is read twice or not at
 * all, of which they do not speak. AC_FAULTS_FULL=1 plants all faults, else every fourth; AC_VERBOSE=1 lists the harmless. */
#include "world.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

typedef enum { NO_PROGRAM, REFUTED, OPEN, PROVED } outcome;

/* The worst verdict of the claims, or that of one (only; -1: all). */
static outcome judge(const char *name, const char *text, int only, const char **why) {
  world w;
  open_world(&w);
  outcome r = NO_PROGRAM;
  ac_cmodule *m = ac_craft_parse(w.a, name, text, &w.d);
  ac_craft_check_opts o = {.chip = w.chip};
  ac_verdicts v;
  if (m && ac_craft_check(w.a, m, &o, &w.d)) {
    r = PROVED;
    bool ok = ac_craft_prove(w.a, m, &o, &v, &w.d);
    if (v.clash) {
      ac_diags_print(&w.d, stderr, false);
      fail_msg("%s is proved and refuted:\n%s", name, text);
    }
    for (int q = 0; q < AC_CLAIM_COUNT; q++)
      if (v.of[q] == AC_VERDICT_UNKNOWN && (only < 0 || only == q)) {
        r = OPEN;
        if (why) *why = ac_claim_names[q];
      }
    if (!ok) r = REFUTED;
  }
  ac_arena_free(w.a);
  return r;
}

/* ---- examples ---- */

typedef void (*with_example)(const char *name, const char *text, void *data);

static int by_name(const void *x, const void *y) {
  return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static void each_example(with_example f, void *data) {
  ac_arena *a = ac_arena_new();
  const char *top = AC_SOURCE_DIR "/data/examples";
  ac_strvec files = {0};
  DIR *d = opendir(top);
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d));) {
    DIR *sub = *e->d_name == '.' ? NULL : opendir(ac_sprintf(a, "%s/%s", top, e->d_name));
    for (struct dirent *g; sub && (g = readdir(sub));)
      if (strstr(g->d_name, ".craft")) ac_push(a, &files, ac_sprintf(a, "%s/%s/%s", top, e->d_name, g->d_name));
    if (sub) closedir(sub);
  }
  closedir(d);
  if (files.len) qsort(files.data, files.len, sizeof *files.data, by_name);
  for (size_t i = 0; i < files.len; i++) f(files.data[i], ac_read_file(a, files.data[i], 0, NULL, NULL), data);
  ac_arena_free(a);
}

typedef struct {
  int n, proved;
} tally;

static void count_proved(const char *name, const char *text, void *data) {
  tally *t = data;
  const char *why = "";
  outcome r = judge(name, text, -1, &why);
  t->n++;
  t->proved += r == PROVED;
  if (r != OPEN && r != PROVED) fail_msg("%s is refuted", name);
  if (r == OPEN) fprintf(stderr, "%s: %s is not proved\n", name + sizeof AC_SOURCE_DIR "/data/examples", why);
}

static void examples(void **s) {
  (void)s;
  tally t = {0};
  each_example(count_proved, &t);
  fprintf(stderr, "%d of %d examples are proved\n", t.proved, t.n);
  assert_true(t.n >= 8);
  assert_true(t.proved * 100 >= t.n * 95);
}

/* ---- single programs ---- */

/* A box of three axes, none of which joins another, is all of what it covers. */
static void boxes(void **s) {
  (void)s;
  assert_true(
      judge("box",
            "@ascend_kernel\ndef box_kernel(x, y, b, a, c):\n    t = tl.alloc_ub((4, 16, 32), tl.float32)\n"
            "    for j in range(0, b, 4):\n        nj = min(4, b - j)\n        for i in range(0, a, 16):\n"
            "            ni = min(16, a - i)\n            for k in range(0, c, 32):\n"
            "                nk = min(32, c - k)\n"
            "                off = (j * a * c + i * c + k + tl.arange(0, nj)[:, None, None] * (a * c)\n"
            "                       + tl.arange(0, ni)[None, :, None] * c + tl.arange(0, nk)[None, None, :])\n"
            "                with tl.copyin():\n                    tl.load(x + off, t)\n"
            "                with tl.copyout():\n                    tl.store(y + off, t)\n\n\n"
            "def box(x, y):\n    b, a, c = x.shape\n    box_kernel[1](x, y, b, a, c)\n",
            -1, NULL) != REFUTED);
}

static void too_many_blocks(void **s) {
  (void)s;
  const char *kernel =
      "@ascend_kernel\ndef k(x, y):\n    b = tl.alloc_ub(64, tl.float32)\n    i = tl.program_id(0) * 64\n"
      "    with tl.copyin():\n        tl.load(x + i + tl.arange(0, 64), b)\n"
      "    with tl.copyout():\n        tl.store(y + i + tl.arange(0, 64), b)\n\n\n";
  ac_arena *a = ac_arena_new();
  assert_int_equal(
      judge("blocks", ac_sprintf(a, "%sdef host(x, y: tl.out[4480000]):\n    k[70000](x, y)\n", kernel), -1, NULL),
      REFUTED);
  ac_arena_free(a);
}

static void steps(void **s) {
  (void)s;
  static const struct {
    const char *tile;
    bool wrong;
  } t[] = {{"0", true}, {"8 - 16", true}, {"min(64, n) - n", true}, {"64", false}, {"max(1, n // 40)", false}};
  ac_arena *a = ac_arena_new();
  for (size_t i = 0; i < AC_COUNT(t); i++) {
    const char *text = ac_sprintf(a,
                                  "@ascend_kernel\ndef k(x, y, n, tile):\n    b = tl.alloc_ub(4096, tl.float32)\n    "
                                  "for i in range(0, n, tile):\n"
                                  "        off = i + tl.arange(0, min(tile, n - i))\n        with tl.copyin():\n     "
                                  "       tl.load(x + off, b)\n"
                                  "        with tl.copyout():\n            tl.store(y + off, b)\n\n\n"
                                  "def host(x, y):\n    n = x.numel()\n    if n > 100000:\n        "
                                  "tl.refuse(\"large\")\n    k[1](x, y, n, %s)\n",
                                  t[i].tile);
    world w;
    open_world(&w);
    ac_cmodule *m = ac_craft_parse(w.a, "t.craft", text, &w.d);
    ac_craft_check_opts o = {.chip = w.chip};
    ac_verdicts v;
    assert_non_null(m);
    bool ok = ac_craft_check(w.a, m, &o, &w.d) && ac_craft_prove(w.a, m, &o, &v, &w.d), found = false;
    for (size_t k = 0; k < w.d.list.len; k++) found |= w.d.list.data[k]->code == AC0524;
    if (ok == t[i].wrong || found != t[i].wrong) {
      ac_diags_print(&w.d, stderr, false);
      fail_msg("a tile of %s", t[i].tile);
    }
    ac_arena_free(w.a);
  }
  ac_arena_free(a);
}

/* ---- planted faults ---- */

/* What is replaced by what; each occurrence in turn. */
static const struct {
  const char *from, *to;
} faults[] = {
    {"tl.arange(0, count)", "tl.arange(0, tile)"}, /* the last tile runs over */
    {"min(tile, ", "max(tile, "},
    {"tl.cdiv(", "tl.align_down("},
    {"- i)", "- i - 1)"},       /* an element is left out */
    {" + i + ", " + i + 1 + "}, /* off by one */
    {"last = min(first + ", "last = max(first + "},
    {"end = min(start + ", "end = (start - 1 + "},
    {"pid + 1, ", "pid + 2, "}, /* overlapping parts */
    {"pid * ", "(pid + 1) * "}, /* the first part is nobody's */
    {", last, tile)", ", last - 1, tile)"},
    {"range(first, last", "range(first + 1, last"},
    {"tl.sync_all()", "pass"},
    {" * cols + ", " * (cols + 1) + "},
    {", 64)\n", ", 65)\n"},
};

typedef struct {
  int tried, planted, refuted, open, proved;
} sown;

static void plant(const char *name, const char *text, void *data) {
  sown *t = data;
  ac_arena *a = ac_arena_new();
  for (size_t k = 0; k < AC_COUNT(faults); k++) {
    size_t n = strlen(faults[k].from);
    const char *kernel = strstr(text, "@ascend_kernel");
    for (const char *at = kernel; (at = strstr(at, faults[k].from)); at += n) {
      if (t->tried++ % 4 && !getenv("AC_FAULTS_FULL")) continue;
      char *mutant = ac_sprintf(a, "%.*s%s%s", (int)(at - text), text, faults[k].to, at + n);
      outcome r = judge(name, mutant, -1, NULL);
      t->planted += r != NO_PROGRAM;
      t->refuted += r == REFUTED;
      t->open += r == OPEN;
      t->proved += r == PROVED;
      if (r == PROVED && getenv("AC_VERBOSE"))
        fprintf(stderr, "%s: '%s' for '%s' at '%.40s' is proved\n", name, faults[k].to, faults[k].from, at);
    }
  }
  ac_arena_free(a);
}

static void planted_faults(void **s) {
  (void)s;
  sown t = {0};
  each_example(plant, &t);
  fprintf(stderr, "%d faults: %d refuted, %d left open, %d proved harmless\n", t.planted, t.refuted, t.open,
          t.proved);
  assert_true(t.planted >= 30);
  assert_true((t.refuted + t.open) * 10 >= t.planted * 6);
}

/* ---- branches inside of loops ---- */

/* Whether all of y is written, once, by a kernel whose blocks share the tiles of all rows, tile `p` of row `r` being one unit, and what
 * it does with a unit. S(n) is the store of n elements; m and k are numbers of the caller. */
static const struct {
  const char *what, *unit;
  outcome is;
} branches[] = {
    {"a branch in front of the store",
     "            if p == 0:\n"
     "                with tl.compute():\n                    tl.vmul(buf, buf, 2.0)\n"
     "            S(count)\n",
     PROVED},
    {"stores in both arms",
     "            if r + p > 3:\n                S(count)\n            else:\n                S(count)\n", PROVED},
    {"the whole tile in one arm, the tail in the other",
     "            if p * tile + tile <= cols:\n                S(tile)\n            else:\n                S(cols - "
     "p * tile)\n",
     PROVED},
    {"the number of elements from a branch",
     "            size = tile\n            if p * tile + tile > cols:\n"
     "                size = cols - p * tile\n            S(size)\n",
     PROVED},
    {"stores in all arms, one inside of another",
     "            if p > m:\n                S(count)\n            else:\n"
     "                if r > k:\n                    S(count)\n                else:\n"
     "                    S(count)\n",
     PROVED},
    {"a condition with alternatives",
     "            if p > 3 or r > 5:\n                S(count)\n            else:\n                S(count)\n",
     PROVED},
    {"values from memory decide",
     "            first = tl.extract_scalar(buf, 0)\n            if first > 0.0:\n"
     "                S(count)\n            else:\n                S(count)\n",
     PROVED},
    {"one arm stores nothing", "            if r + p > 3:\n                S(count)\n", REFUTED},
    {"one arm of an inner branch stores nothing",
     "            first = tl.extract_scalar(buf, 0)\n            if first > 0.0:\n"
     "                if first > 2.0:\n                    S(count)\n            else:\n"
     "                S(count)\n",
     OPEN},
    {"one arm stores one element less",
     "            if r > 3:\n                S(count)\n            else:\n                S(count - 1)\n", REFUTED},
    {"the shorter one is in the wrong arm",
     "            if p * tile + tile > cols:\n                S(tile)\n            else:\n                S(cols - p "
     "* tile)\n",
     REFUTED},
    {"stores in an arm and behind it", "            if r > 3:\n                S(count)\n            S(count)\n",
     OPEN},
    {"a number of the caller's decides as well", "            if p < cols and m > 3:\n                S(count)\n",
     OPEN},
    {"a number of the caller's alone, among alternatives",
     "            if p > cols or m > 3:\n                S(count)\n", OPEN},
    {"more alternatives than are followed",
     "            if p > cols or r > rows or p + r > cols + rows or p > cols + 1 or m > 3 or r > rows + 1:\n         "
     "       pass\n"
     "            else:\n                S(count)\n",
     OPEN},
};

static const char *unit_program(ac_arena *a, const char *unit) {
  ac_buf s;
  ac_buf_init(&s, a);
  ac_puts(&s,
          "@ascend_kernel\ndef unit_kernel(x, y, rows, cols, tile, m, k):\n    buf = tl.alloc_ub(tile, tl.float32)\n"
          "    parts = tl.cdiv(cols, tile)\n    for u in range(tl.program_id(0), rows * parts, tl.num_programs(0)):\n"
          "            r = u // parts\n            p = u % parts\n            count = min(tile, cols - p * tile)\n"
          "            with tl.copyin():\n"
          "                tl.load(x + r * cols + p * tile + tl.arange(0, count), buf)\n");
  for (const char *at = unit, *end; *at; at = end + 1) {
    end = strchr(at, '\n');
    const char *store = strstr(at, "S(");
    if (!store || store > end) {
      ac_puts(&s, ac_sprintf(a, "%.*s\n", (int)(end - at), at));
      continue;
    }
    int in = (int)(store - at), n = (int)(end - store) - 3;
    ac_puts(&s,
            ac_sprintf(a, "%*swith tl.copyout():\n%*stl.store(y + r * cols + p * tile + tl.arange(0, %.*s), buf)\n",
                       in, "", in + 4, "", n, store + 2));
  }
  ac_puts(&s, "\n\ndef unit(x, y, m: tl.int32, k: tl.int32):\n    rows, cols = x.shape\n"
              "    unit_kernel[tl.num_cores()](x, y, rows, cols, 512, m, k)\n");
  return ac_buf_str(&s);
}

static void branches_in_loops(void **s) {
  (void)s;
  static const char *const names[] = {"no program", "refuted", "open", "proved"};
  ac_arena *a = ac_arena_new();
  int wrong = 0;
  for (size_t i = 0; i < AC_COUNT(branches); i++) {
    const char *text = unit_program(a, branches[i].unit);
    outcome r = judge(branches[i].what, text, AC_CLAIM_OUTPUTS, NULL);
    if (r == branches[i].is) continue;
    fprintf(stderr, "%s: %s, not %s\n%s", branches[i].what, names[r], names[branches[i].is], text);
    wrong++;
  }
  assert_int_equal(wrong, 0);
  ac_arena_free(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(examples),       cmocka_unit_test(boxes),
                                     cmocka_unit_test(steps),          cmocka_unit_test(too_many_blocks),
                                     cmocka_unit_test(planted_faults), cmocka_unit_test(branches_in_loops)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What users of other tools for this chip complained of in public: tests/complaints/NAME.craft, named after the report's repository and number.
 * Each program either runs on the simulator, in both orders of blocks, without a fault and with the right values, on the shapes given; or is
 * refused with a text that names what is wrong; or the tiling code refuses the shape. */
#include "direct_support.h"

#include <math.h>

/* ---- right values: element k of the output, from the inputs ---- */

typedef double (*value_fn)(const args *x, int64_t k);

static double in(const args *x, int t, int64_t k) {
  const ac_sim_tensor *v = &x->t[t];
  return ac_dtypes[v->dtype].cls == AC_FLOATING ? ac_load(v->dtype, v->data, k)
                                                : (double)ac_load_int(v->dtype, v->data, k);
}
static int64_t count(const args *x, int t) {
  return x->t[t].bytes / ac_dtypes[x->t[t].dtype].bytes;
}
static double same(const args *x, int64_t k) {
  return in(x, 0, k);
}
static double twice(const args *x, int64_t k) {
  return 2 * in(x, 0, k);
}
static double sixteen(const args *x, int64_t k) {
  return 16 * in(x, 0, k);
}
static double half(const args *x, int64_t k) {
  return in(x, 0, k) / 2;
}
static double square(const args *x, int64_t k) {
  return in(x, 0, k) * in(x, 0, k);
}
static double inverted(const args *x, int64_t k) {
  return -1 - in(x, 0, k);
}
static double added(const args *x, int64_t k) {
  return in(x, 0, k) + in(x, 1, k);
}
static double later_twice(const args *x, int64_t k) {
  return k / 1024 > 1 ? 2 * in(x, 0, k) : in(x, 0, k);
}
static double second_half(const args *x, int64_t k) {
  return in(x, 0, k) + (k >= 1024 ? 100 : 0);
}
static double turned(const args *x, int64_t k) {
  return in(x, 0, (7 - k / 64) * 64 + k % 64);
}
static double column(const args *x, int64_t k) {
  return in(x, 0, k * x->t[0].shape[1] + 2);
}
static double outer(const args *x, int64_t k) {
  int64_t n = count(x, 1);
  return in(x, 0, k / n) + in(x, 1, k % n);
}
static double sum_all(const args *x, int64_t k) {
  double s = 0;
  for (int64_t i = 0; i < count(x, 0); i++) s += in(x, 0, i);
  return s + 0 * (double)k;
}
static double sum_tiles(const args *x, int64_t k) {
  double s = 0;
  for (int64_t i = k; i < count(x, 0); i += 1024) s += 2 * in(x, 0, i);
  return s;
}
static double row_sum_added(const args *x, int64_t k) {
  double s = 0;
  for (int64_t i = 0; i < 64; i++) s += in(x, 0, k / 64 * 64 + i);
  return s + in(x, 0, k);
}
static double normalised(const args *x, int64_t k) {
  int64_t cols = x->t[0].shape[1], row = k / cols * cols;
  double s = 0;
  for (int64_t i = 0; i < cols; i++) s += in(x, 0, row + i) * in(x, 0, row + i);
  return in(x, 0, k) / sqrt(s / (double)cols + 1);
}
static double to_half(const args *x, int64_t k) {
  return ac_f16_to_f32(ac_f64_to_f16(in(x, 0, k), AC_RN_RINT));
}

/* ---- the reports ---- */

typedef struct {
  const char *name;
  const char *says;   /* NULL: it runs; else part of the diagnostics or of the tiling's refusal */
  const char *shapes; /* of each run: "13243 13243;1 1" */
  value_fn value;     /* exact but for `error`, relative */
  double error;
} report;

static const report reports[] = {
    {"sglang-25330", "take at least 262144 bytes of UB; ascend910b2 has 196352", NULL, NULL, 0},
    {"tl-159", "'buf': 262144 bytes", NULL, NULL, 0},
    {"tl-1646", "take at least 204800 bytes of UB", NULL, NULL, 0},
    {"tm-80", "'acc': 131072 bytes", NULL, NULL, 0},
    {"ta-302", "'t': 192000 bytes", NULL, NULL, 0},
    {"ta-1640", NULL, "64x64 64x64", row_sum_added, 0},
    {"tl-1286", NULL, "14000 14000;7 7", sixteen, 0},
    {"tl-1641", NULL, "2x1 2x1;513x1 513x1", twice, 0},
    {"tl-1717", NULL, "1024x100 1024x100;3x1 3x1", inverted, 0},
    {"pto-745", NULL, "16x2 16x2;4x4 4x4;1x3 1x3", square, 0},
    {"tl-1453", NULL, "2x9 2x9;13x9 13x9", twice, 0},
    {"tl-995", NULL, "5 3 5x3;7 16 7x16;4 1 4x1", outer, 0},
    {"tl-1195", NULL, "300x5 300;1x3 1", column, 0},
    {"tl-807", NULL, "13243 13243 13243", added, 0},
    {"ta-984", NULL, "0 0 0;0x7 0x7 0x7", added, 0},
    {"tl-1059", NULL, "1 1 1;7 7 7;513 513 513;3x1003 3x1003 3x1003;65537 65537 65537", added, 0},
    {"tl-890", NULL, "5x513 5x513;3x512 3x512;1x1 1x1;50x7 50x7", normalised, 1e-6},
    {"tl-1523", NULL, "8192 1;1 1;513 1", sum_all, 0},
    {"pypto-2082", "needs 1024 bytes of work space; 'work' has 32", NULL, NULL, 0},
    {"tl-1139", NULL, "2048 2048;1025 1025;1400 1400", second_half, 0},
    {"ta-1611", NULL, "13x64 13x64;13x13 13x13", twice, 0},
    {"tl-1824", NULL, "5000 5000", later_twice, 0},
    {"pto-730", "which block 0 stores in the same launch with no barrier between", NULL, NULL, 0},
    {"pto-730-barrier", NULL, "512 512", turned, 0},
    {"tl-1765", NULL, "5120 1024;1024 1024", sum_tiles, 0},
    {"flagtree-1245", NULL, "1 1;2 2;6 6;13 13;101 101", same, 0},
    {"tl-1637", NULL, "513 513", to_half, 0},
    {"tl-1762", NULL, "1003 1003", half, 0},
    {"tl-666", "65536 blocks", "524288 524288", same, 0},
    {"tl-666", NULL, "520 520", same, 0},
};

static ac_shape parse_shape(const char **p) {
  ac_shape s = {0};
  char *end;
  while (**p == ' ') ++*p;
  for (;; ++*p) {
    s.dim[s.rank++] = strtoll(*p, &end, 10);
    *p = end;
    if (**p != 'x') return s;
  }
}

static args arguments(const ac_program *p, const char **shapes) {
  args x = {0};
  for (size_t i = 0; i < p->tensors.len; i++) {
    const ac_aparam *w = &p->tensors.data[i];
    ac_shape s = parse_shape(shapes);
    add_tensor(&x, w->name, w->dtype, &s, w->dir != AC_TENSOR_IN);
    ac_sim_tensor *t = &x.t[x.n - 1];
    for (int64_t k = 0; k < count(&x, x.n - 1); k++) {
      double v = (double)((k * 7 + (int64_t)i * 5) % 13 - 4);
      if (ac_dtypes[t->dtype].cls == AC_FLOATING)
        ac_store(t->dtype, t->data, k, v);
      else
        ac_store_int(t->dtype, t->data, k, (int64_t)v);
    }
  }
  return x;
}

static char *text_of(const ac_diags *d) {
  char *p = NULL;
  size_t n = 0;
  FILE *f = open_memstream(&p, &n);
  ac_diags_print(d, f, false);
  fclose(f);
  char *copy = ac_strdup(b.a, p);
  free(p);
  return copy;
}

/* The checker's verdict; NULL: the diagnostics hold what they should. */
static ac_program *accepted(const report *r) {
  ac_diags d;
  ac_diags_init(&d, b.a);
  const ac_chip *chip = ac_chip_load(b.a, "ascend910b2", &d);
  const char *path = ac_sprintf(b.a, "%s/tests/complaints/%s.craft", AC_SOURCE_DIR, r->name);
  char *text = ac_read_file(b.a, path, 0, NULL, &d);
  assert_non_null(text);
  ac_diags_source(&d, path, text);
  ac_cmodule *m = ac_craft_parse(b.a, path, text, &d);
  ac_craft_check_opts o = {.chip = chip};
  ac_verdicts v;
  bool ok = m && ac_craft_check(b.a, m, &o, &d) && ac_craft_prove(b.a, m, &o, &v, &d);
  if (ok) {
    assert_false(v.clash);
    ac_program *p = ac_lower(b.a, m, &(ac_lower_opts){.op = "c_custom", .op_type = "CCustom", .chip = chip}, &d);
    if (p) return p;
  }
  if (!r->says || !strstr(text_of(&d), r->says)) failed(r->name, "expected %s, got\n%s", r->says, text_of(&d));
  return NULL;
}

static void one_run(const report *r, const ac_program *p, args *x, bool reverse) {
  ac_sim_result got = {0};
  ac_sim_opts o = {.order = reverse ? AC_ORDER_REVERSE : AC_ORDER_FORWARD, .threads = 2, .in_process = true};
  ac_diags d;
  ac_diags_init(&d, b.a);
  bool ran = ac_sim_run_program(b.a, p, p->chip, x->t, x->n, x->attrs, x->n_attrs, &o, &got, &d);
  if (r->says) {
    const char *why = got.refused ? got.refused : text_of(&d);
    if (!strstr(why, r->says)) failed(r->name, "expected a refusal with '%s', got '%s'", r->says, why);
    return;
  }
  if (!ran || got.refused || got.faults.len)
    failed(r->name, "%s", got.refused ? got.refused : got.faults.len ? got.faults.data[0].message : text_of(&d));
  const ac_sim_tensor *y = &x->t[x->n - 1];
  for (int64_t k = 0; k < count(x, x->n - 1); k++) {
    double is = in(x, x->n - 1, k), want = r->value(x, k);
    if (fabs(is - want) <= r->error * fabs(want)) continue;
    failed(r->name, "element %lld of %s is %.9g, not %.9g", (long long)k, y->name, is, want);
  }
}

static void complaints(void **s) {
  (void)s;
  for (size_t i = 0; i < AC_COUNT(reports); i++) {
    const report *r = &reports[i];
    ac_program *p = accepted(r);
    if (!p && !r->says) fail_msg("%s", r->name);
    for (const char *at = r->shapes; p && at && *at; at += *at == ';') {
      for (int order = 0; order < 2; order++) {
        const char *shapes = at;
        args x = arguments(p, &shapes);
        one_run(r, p, &x, order > 0);
        free_args(&x);
        if (order) at = shapes;
      }
    }
    if (p && !r->shapes) failed(r->name, "was accepted; expected '%s'", r->says);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(complaints)};
  return cmocka_run_group_tests(tests, setup, teardown);
}

/* Every program of data/examples: in canonical form, what the checker says, lowered, run directly at seven sizes (six here) in every form that its
 * rank allows, without a fault, and compared with a formula (example_refs.h). AC_EXAMPLES_FULL=1: also compiled as an operator project (one size
 * that the form takes: the same bytes, faults and modelled time) and as plain C (every size). AC_EXAMPLES_TABLE=FILE writes the table. */
#include "example_refs.h"
#include "plainc_support.h"

#include <glob.h>

static const int64_t sizes[] = {1, 7, 13, 513, 1003, 13243, 65537};
enum { SIZES = AC_COUNT(sizes) };

/* ---- a run's tensors ---- */

/* "n", "n/2", "n*2", "n+2", "12"; from left to right */
static int64_t size_of(const char **p, int64_t n) {
  int64_t v = n;
  char *end;
  if (**p == 'n')
    ++*p;
  else {
    v = strtoll(*p, &end, 10);
    assert_true(end != *p);
    *p = end;
  }
  while (**p == '/' || **p == '*' || **p == '+') {
    char op = *(*p)++;
    int64_t by = strtoll(*p, &end, 10);
    *p = end;
    v = op == '/' ? v / by : op == '*' ? v * by : v + by;
  }
  return v;
}
static ac_shape next_shape(const char **p, int64_t n) {
  ac_shape s = {0};
  while (**p == ' ') ++*p;
  for (;;) {
    s.dim[s.rank++] = size_of(p, n);
    if (**p != 'x') return s;
    ++*p;
  }
}

static void put(ac_sim_tensor *t, int64_t i, double v) {
  if (ac_dtypes[t->dtype].cls == AC_FLOATING)
    ac_store(t->dtype, t->data, i, v);
  else
    ac_store_int(t->dtype, t->data, i, (int64_t)v);
}
static double get(const ac_sim_tensor *t, int64_t i) {
  return ac_dtypes[t->dtype].cls == AC_FLOATING ? ac_load(t->dtype, t->data, i)
                                                : (double)ac_load_int(t->dtype, t->data, i);
}
static int64_t numel(const ac_sim_tensor *t) {
  return t->bytes / ac_dtypes[t->dtype].bytes;
}

static void fill(const args *x, ac_sim_tensor *t, int k, char kind) {
  const ac_sim_tensor *first = &x->t[0];
  int64_t n = numel(t), last = first->rank ? first->shape[first->rank - 1] : 1;
  for (int64_t i = 0; i < n; i++) {
    uint64_t z = ((uint64_t)i * 31 + (uint64_t)k * 17 + 1) * 0x9e3779b97f4a7c15ull;
    z ^= z >> 29;
    double u = (double)(z >> 11) * 0x1p-53;
    switch (kind) {
    case 'r': put(t, i, i % 5 == 0 ? 1.25 : 12 * u - 6); break; /* several are equal */
    case 'u': put(t, i, 2 * u - 1); break;
    case 'p': put(t, i, 0.01 + 6 * u); break;
    case 's': put(t, i, (double)((i * 7 + k * 5) % 13 - 4)); break;
    case 'i': put(t, i, (double)((int64_t)(u * (double)(first->shape[0] + 2)) - 1)); break;
    case 'j': put(t, i, (double)((int64_t)(u * (double)(last + 2)) - 1)); break;
    case 'k': put(t, i, (double)(int64_t)(u * (double)last)); break;
    case 'b': put(t, i, u < 0.4); break;
    case 'w': ac_store_int(t->dtype, t->data, i, (int64_t)z); break;
    default: fail_msg("no values of the kind '%c'", kind);
    }
  }
}

static args arguments(const ac_program *p, const char *shapes, const char *values, int64_t n) {
  args x = {0};
  for (size_t i = 0; i < p->tensors.len; i++) {
    const ac_aparam *w = &p->tensors.data[i];
    ac_shape s = next_shape(&shapes, n);
    add_tensor(&x, w->name, w->dtype, &s, w->dir != AC_TENSOR_IN);
    ac_sim_tensor *t = &x.t[x.n - 1];
    t->also_input = w->dir == AC_TENSOR_INOUT;
    if (w->dir != AC_TENSOR_OUT) fill(&x, t, (int)i, *values++);
  }
  for (size_t i = 0; i < p->attrs.len; i++)
    x.attrs[x.n_attrs++] = (ac_sim_attr){.name = p->attrs.data[i].name,
                                         .kind = p->attrs.data[i].type == AC_AT_FLOAT ? AC_ATTR_F : AC_ATTR_I,
                                         .f = p->attrs.data[i].value,
                                         .i = (int64_t)p->attrs.data[i].value};
  return x;
}

static void open_view(view *v, const ac_program *p, const args *x) {
  *v = (view){.t = x->t, .n = x->n};
  for (int k = 0; k < x->n; k++) {
    v->len[k] = numel(&x->t[k]);
    v->x[k] = malloc(sizeof(double) * (size_t)(v->len[k] + 1));
    v->want[k] = calloc((size_t)v->len[k] + 1, sizeof(double));
    assert_true(v->x[k] && v->want[k]);
    for (int64_t i = 0; i < v->len[k]; i++) v->x[k][i] = get(&x->t[k], i);
  }
  for (size_t i = 0; i < p->attrs.len && i < MAX_ATTRS; i++) v->attr[i] = p->attrs.data[i].value;
}
static void close_view(view *v) {
  for (int k = 0; k < v->n; k++) {
    free(v->x[k]);
    free(v->want[k]);
  }
}

/* ---- one program ---- */

typedef struct {
  const example *e;
  const char *path, *text;
  bool canonical;
  int proved, refuted, open;
  plain_program plain;
  bool done[SIZES];           /* verified, in some form */
  const char *refused[SIZES]; /* why not, in the last form that did not take it */
  int runs, compiled, in_c;
} row;

static void compare(const row *r, const view *v, const args *x, const char *form, int64_t n) {
  for (int k = 0; k < x->n; k++) {
    if (!x->t[k].output) continue;
    for (int64_t i = 0; i < v->len[k]; i++) {
      double got = get(&x->t[k], i), want = v->want[k][i];
      if (got == want || (isnan(got) && isnan(want)) || fabs(got - want) <= r->e->abs + r->e->rel * fabs(want))
        continue;
      fail_msg("%s at %s, n = %lld: %s[%lld] is %.9g, not %.9g", r->e->path, form, (long long)n, x->t[k].name,
               (long long)i, got, want);
    }
  }
}

/* The interpreter's result against the formula. NULL, or why the host function refuses the size. */
static const char *direct(row *r, args *x, const char *form, int64_t n) {
  ac_sim_result res = {0};
  ac_sim_opts o = {.in_process = true, .threads = 2, .no_time = true};
  uint8_t **before = copies_of(&b, x);
  view v;
  open_view(&v, r->plain.p, x);
  reset(x, before);
  bool ok = ac_sim_run_program(b.a, r->plain.p, r->plain.p->chip, x->t, x->n, x->attrs, x->n_attrs, &o, &res, &b.d);
  if (!ok) ac_diags_print(&b.d, stderr, false);
  if (!ok) fail_msg("%s at %s, n = %lld does not run", r->e->path, form, (long long)n);
  if (!res.refused) {
    if (res.faults.len)
      fail_msg("%s at %s, n = %lld: line %d: %s: %s", r->e->path, form, (long long)n, res.faults.data[0].line,
               res.faults.data[0].kind, res.faults.data[0].message);
    r->e->f(&v);
    compare(r, &v, x, form, n);
  }
  close_view(&v);
  reset(x, before);
  free_copies(x, before);
  const char *colon = res.refused ? strstr(res.refused, ": ") : NULL;
  if (res.refused && strstr(res.refused, "does not follow"))
    fail_msg("%s at %s, n = %lld: %s", r->e->path, form, (long long)n, res.refused);
  return res.refused ? colon ? colon + 2 : res.refused : NULL;
}

static void in_plain_c(row *r, args *x, const char *form, int64_t n) {
  char *message;
  if (plain_compare(&b, &r->plain, x, 1e-6, &message) != PLAIN_SAME)
    fail_msg("%s at %s, n = %lld: %s", r->e->path, form, (long long)n, message);
  r->in_c++;
}

static void run_row(row *r, bool full) {
  char *save = NULL, *forms = ac_strdup(b.a, r->e->forms);
  ac_sim_lib *lib = full ? compiled(&b, r->plain.p, NULL) : NULL;
  for (char *form = strtok_r(forms, "|", &save); form; form = strtok_r(NULL, "|", &save)) {
    bool compiled_here = false, taken = false;
    /* the largest only in full; compiled at the largest up to 1003 that the form takes */
    for (int k = full ? SIZES - 1 : SIZES - 2; k >= 0; k--) {
      args x = arguments(r->plain.p, form, r->e->values, sizes[k]);
      const char *why = direct(r, &x, form, sizes[k]);
      if (why)
        r->refused[k] = why;
      else {
        r->done[k] = taken = true;
        r->runs++;
        if (full) in_plain_c(r, &x, form, sizes[k]);
        if (lib && !compiled_here && (sizes[k] <= 1003 || k == 0)) {
          run_both(&b, r->e->path, r->plain.p, lib, &x, AC_ORDER_FORWARD, 2);
          compiled_here = true;
          r->compiled++;
        }
      }
      free_args(&x);
    }
    if (lib && taken && !compiled_here && !r->compiled) fail_msg("%s at %s is compiled at no size", r->e->path, form);
  }
  int n = 0;
  for (int k = 0; k < SIZES; k++) n += r->done[k];
  if (full ? n != r->e->sizes : n < r->e->sizes - 1)
    fail_msg("%s is verified at %d of the sizes, its row says %d", r->e->path, n, r->e->sizes);
}

/* ---- all of them ---- */

static void judge(row *r) {
  const ac_chip *chip = ac_chip_load(b.a, "ascend910b2", &b.d);
  ac_craft_check_opts o = {.chip = chip};
  ac_verdicts v = {0};
  ac_diags d; /* of this program only: what the check said decides the verdicts */
  ac_diags_init(&d, b.a);
  ac_diags_source(&d, r->path, r->text);
  ac_cmodule *m = ac_craft_parse(b.a, r->path, r->text, &d);
  if (!m) fail_msg("%s does not parse", r->e->path);
  r->canonical = !strcmp(ac_craft_print(b.a, m), r->text);
  if (!ac_craft_check(b.a, m, &o, &d)) fail_msg("%s does not pass the check", r->e->path);
  (void)ac_craft_prove(b.a, m, &o, &v, &d);
  for (int q = 0; q < AC_CLAIM_COUNT; q++) {
    r->proved += v.of[q] == AC_VERDICT_PROVED;
    r->refuted += v.of[q] == AC_VERDICT_REFUTED;
    r->open += v.of[q] == AC_VERDICT_UNKNOWN;
  }
  if (!r->canonical) fail_msg("%s is not in canonical form", r->e->path);
  if (r->refuted) fail_msg("%s is refuted", r->e->path);
}

static const example *row_of(const char *path) {
  for (size_t i = 0; i < AC_COUNT(examples); i++)
    if (strstr(path, ac_sprintf(b.a, "/data/examples/%s.craft", examples[i].path))) return &examples[i];
  fail_msg("%s has no row in example_refs.h", path);
  return NULL;
}

static char *listed(const row *r, bool done) {
  ac_buf o;
  ac_buf_init(&o, b.a);
  for (int k = 0; k < SIZES; k++)
    if (r->done[k] == done && (done || r->refused[k])) {
      ac_printf(&o, "%s%lld", o.len ? " " : "", (long long)sizes[k]);
      if (!done) ac_printf(&o, " (%s)", r->refused[k]);
    }
  return ac_strdup(b.a, ac_buf_str(&o));
}

static void write_table(const char *path, const row *rows, size_t n, int proved) {
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fprintf(f, "| program | fmt | check | lowers | shapes of its tensors | sizes n verified (left out) | runs "
             "directly, against the formula "
             "| runs in plain C, the same | compiled, the same |\n|---|---|---|---|---|---|---|---|---|\n");
  for (size_t i = 0; i < n; i++) {
    const row *r = &rows[i];
    char *out = listed(r, false), *forms = ac_strdup(b.a, r->e->forms);
    for (char *c = forms; *c; c++)
      if (*c == '|') *c = ';';
    fprintf(f, "| %s | ok | %d proved%s | yes | %s | %s%s%s%s | %d | %d | %d |\n", r->e->path, r->proved,
            r->open ? ac_sprintf(b.a, ", %d open", r->open) : "", forms, listed(r, true), *out ? " (" : "", out,
            *out ? ")" : "", r->runs, r->in_c, r->compiled);
  }
  fprintf(f, "\n%zu programs, %d of them proved in full (%.1f%%).\n", n, proved, 100.0 * proved / (double)n);
  fclose(f);
}

static void every_example(void **s) {
  (void)s;
  bool full = getenv("AC_EXAMPLES_FULL") != NULL;
  const char *only = getenv("AC_EXAMPLES_ONLY");
  glob_t g;
  assert_int_equal(glob(AC_SOURCE_DIR "/data/examples/*/*.craft", 0, NULL, &g), 0);
  row *rows = AC_NEW_N(b.a, row, g.gl_pathc);
  plain_program *plain = AC_NEW_N(b.a, plain_program, g.gl_pathc);
  size_t n = 0;
  int proved = 0;
  for (size_t i = 0; i < g.gl_pathc; i++) {
    row *r = &rows[n];
    if (only && !strstr(g.gl_pathv[i], only)) continue;
    r->path = g.gl_pathv[i];
    r->e = row_of(r->path);
    assert_non_null(r->text = ac_read_file(b.a, r->path, 0, NULL, &b.d));
    judge(r);
    proved += !r->open;
    plain[n] = (plain_program){.name = r->path, .text = r->text};
    if (!plain_lower(b.a, &plain[n], (int)n, &b.d)) fail_msg("%s does not lower", r->e->path);
    n++;
  }
  if (!only) assert_int_equal(n, AC_COUNT(examples));
  const char *broken = full ? plain_build(&b, plain, n, "-O1") : NULL;
  if (broken) failed("the C form of the examples", "%s", broken);
  int runs = 0;
  for (size_t i = 0; i < n; i++) {
    rows[i].plain = plain[i];
    run_row(&rows[i], full);
    runs += rows[i].runs;
  }
  if (!only && 100 * proved < 95 * (int)n) fail_msg("%d of %zu examples are proved in full: under 95%%", proved, n);
  print_message("%zu examples, %d proved in full, %d runs\n", n, proved, runs);
  const char *table = getenv("AC_EXAMPLES_TABLE");
  if (table && *table) write_table(table, rows, n, proved);
  globfree(&g);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_example)};
  return cmocka_run_group_tests(tests, setup, teardown);
}

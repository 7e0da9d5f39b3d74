/* Every line of cases.txt (PyTorch's own results): shapes, dtypes, refusals; values through the float64 reference; and for each graph
 * the verifier, the round trip through JSON, and the replay at its own shapes. */
#include "graph/graph.h"

#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef struct {
  ac_arena *a;
  ac_diags d;
  ac_graph *g;
  AC_VEC(void *) data; /* of each input */
} fixture;

static const struct {
  const char *name;
  ac_dtype d;
} short_names[] = {{"f32", AC_F32}, {"f64", AC_F64}, {"f16", AC_F16}, {"bf16", AC_BF16}, {"i8", AC_I8},
                   {"u8", AC_U8},   {"i16", AC_I16}, {"i32", AC_I32}, {"i64", AC_I64},   {"bool", AC_BOOL}};

static ac_dtype dtype_at(const char **p) {
  for (size_t i = 0; i < AC_COUNT(short_names); i++)
    if (strncmp(*p, short_names[i].name, strlen(short_names[i].name)) == 0) {
      *p += strlen(short_names[i].name);
      return short_names[i].d;
    }
  return AC_NODTYPE;
}

/* [2,3] */
static int shape_at(const char **p, int64_t dims[16]) {
  int n = 0;
  ++*p;
  while (**p != ']') {
    dims[n++] = strtoll(*p, (char **)(uintptr_t)p, 10);
    if (**p == ',') ++*p;
  }
  ++*p;
  return n;
}

/* The values of make_cases.py's fill(). */
static double fill_value(const char *kind, ac_dtype d, int64_t i, int k) {
  int64_t raw = (i * 7 + k * 13 + 3) % 19;
  if (*kind == '+') return (double)raw / 4 + 0.25;
  if (*kind == 'p') return (double)(raw + 1) / 32;
  if (*kind == '<') return (double)(raw % atoi(kind + 1));
  if (*kind == '=') return atoi(kind + 1);
  if (d == AC_BOOL) return raw % 3 == 0;
  if (ac_dtypes[d].cls == AC_FLOATING) return (double)(raw - 9) / 4;
  return d == AC_U8 ? (double)raw : (double)(raw - 9);
}

/* f64+[2,3]: a new input with data; *p behind it. */
static ac_value *tensor_at(fixture *f, const char **p) {
  int64_t dims[16], n = 1;
  ac_dtype d = dtype_at(p);
  const char *kind = *p;
  while (**p != '[') ++*p;
  int rank = shape_at(p, dims), k = (int)f->g->inputs.len;
  for (int i = 0; i < rank; i++) n *= dims[i];
  void *data = ac_alloc(f->a, (size_t)n * (size_t)ac_dtypes[d].bytes);
  for (int64_t i = 0; i < n; i++) ac_store(d, data, i, fill_value(kind, d, i, k));
  ac_push(f->a, &f->data, data);
  return ac_graph_input(f->g, ac_sprintf(f->a, "x%d", k), AC_IN_TENSOR, d, rank, dims, NULL);
}

static bool is_tensor(const char *p) {
  const char *q = p;
  if (dtype_at(&q) == AC_NODTYPE) return false;
  while (*q && *q != '[' && *q != ' ' && *q != ')') q++;
  return *q == '[';
}

static ac_arg number_arg(fixture *f, const char *word) {
  ac_arg a = {.kind = AC_K_SCALAR};
  if (strcmp(word, "True") == 0 || strcmp(word, "False") == 0)
    return (ac_arg){.kind = AC_K_BOOL, .b = word[0] == 'T'};
  a.is_int = !strpbrk(word, ".ein");
  a.f = strtod(word, NULL);
  if (a.is_int) a.i = ac_sym_int(f->g, strtoll(word, NULL, 10));
  return a;
}

/* (1,2) or (f64[2],f64[3]) */
static ac_arg list_arg(fixture *f, const char *p) {
  ac_arg a = {.kind = is_tensor(p + 1) ? AC_K_TENSORS : AC_K_INTS};
  a.is = AC_NEW_N(f->a, const ac_sym *, 16);
  a.ts = AC_NEW_N(f->a, ac_value *, 16);
  for (p++; *p != ')';) {
    if (a.kind == AC_K_TENSORS)
      a.ts[a.n++] = tensor_at(f, &p);
    else
      a.is[a.n++] = ac_sym_int(f->g, strtoll(p, (char **)(uintptr_t)&p, 10));
    if (*p == ',') p++;
  }
  return a;
}

static ac_arg parse_arg(fixture *f, const ac_opparam *p, const char *word) {
  if (strcmp(word, "None") == 0) return (ac_arg){.absent = true};
  if (*word == '(') return list_arg(f, word);
  if (is_tensor(word)) return (ac_arg){.kind = AC_K_TENSOR, .t = tensor_at(f, &word)};
  if (p->kind == AC_K_STR) return (ac_arg){.kind = AC_K_STR, .s = word};
  if (p->kind == AC_K_DTYPE) return (ac_arg){.kind = AC_K_DTYPE, .d = dtype_at(&word)};
  if (p->kind == AC_K_SCALAR && isalpha((unsigned char)*word) && *word != 'i' && *word != 'n' && *word != 'T')
    return (ac_arg){.kind = AC_K_STR, .s = word};
  return number_arg(f, word);
}

/* What the parameter is when the line does not name it: as ops.def says. */
static ac_arg default_of(fixture *f, const ac_opparam *p) {
  const char *t = p->default_text;
  if (!t || strcmp(t, "None") == 0) return (ac_arg){.absent = true};
  if (*t == '\'') return (ac_arg){.kind = AC_K_STR, .s = ac_strndup(f->a, t + 1, strlen(t) - 2)};
  return number_arg(f, t);
}

static char *next_word(char **p) {
  char *w = *p, *e = strchr(w, ' ');
  if (e) *e = 0;
  *p = e ? e + 1 : w + strlen(w);
  return w;
}

/* The call before " -> ". Fills args in the order of the signature. */
static ac_op parse_call(fixture *f, char *call, ac_arg *args) {
  ac_op op = ac_op_of(next_word(&call));
  assert_true(op < AC_OP_COUNT);
  const ac_opinfo *o = ac_op_info(op);
  bool set[16] = {0};
  while (*call) {
    char *w = next_word(&call), *eq = strchr(w, '=');
    int i = 0;
    *eq = 0;
    while (i < o->n_params && strcmp(o->params[i].name, w) != 0) i++;
    if (i == o->n_params) fail_msg("%s has no parameter %s", o->id, w);
    args[i] = parse_arg(f, &o->params[i], eq + 1);
    set[i] = true;
  }
  for (int i = 0; i < o->n_params; i++)
    if (!set[i]) args[i] = default_of(f, &o->params[i]);
  return op;
}

static bool close_enough(double want, double got) {
  if (isnan(want) || isnan(got)) return isnan(want) && isnan(got);
  if (isinf(want) || isinf(got)) return want == got;
  return fabs(want - got) <= 1e-12 * fmax(1, fabs(want));
}

/* "f64[2,3]=1.0,..." against output k; the number of mistakes. */
static int check_output(fixture *f, const char *line, const char *want, int k, ac_ref *ref) {
  const ac_value *v = f->g->outputs.data[k].value;
  int64_t dims[16], n = 1;
  ac_dtype d = dtype_at(&want);
  int rank = shape_at(&want, dims);
  bool same = d == v->dtype && rank == v->rank;
  for (int i = 0; same && i < rank; i++) same = dims[i] == v->shape[i]->example;
  if (!same) {
    print_error("%s\n  output %d is %s with %d dimensions\n", line, k, ac_dtypes[v->dtype].name, v->rank);
    return 1;
  }
  for (int i = 0; i < rank; i++) n *= dims[i];
  if (*want != '=' || !ref || !n) return 0;
  double *got = AC_NEW_N(f->a, double, n);
  bool ok = true;
  if (ac_dtypes[d].cls == AC_FLOATING) {
    ok = ac_ref_read(ref, k, 0, n, got);
  } else {
    int64_t *ints = AC_NEW_N(f->a, int64_t, n);
    ok = ac_ref_read_int(ref, k, 0, n, ints);
    for (int64_t i = 0; i < n; i++) got[i] = (double)ints[i];
  }
  for (int64_t i = 0; ok && i < n; i++) {
    double w = strtod(want + 1, (char **)(uintptr_t)&want);
    if (close_enough(w, got[i])) continue;
    print_error("%s\n  output %d element %lld is %.17g, not %.17g\n", line, k, (long long)i, got[i], w);
    return 1;
  }
  if (!ok) print_error("%s\n  the reference refuses\n", line);
  return !ok;
}

static int check_graph(fixture *f, const char *line) {
  const char *broken = ac_graph_verify(f->g);
  if (broken) {
    print_error("%s\n  verifier: %s\n", line, broken);
    return 1;
  }
  json_t *j = ac_graph_to_json(f->g);
  char *text = ac_json_text(f->a, j);
  ac_diags d;
  ac_diags_init(&d, f->a);
  ac_graph *again = ac_graph_from_json(f->a, j, &d);
  json_decref(j);
  if (!again) {
    print_error("%s\n  JSON: %s\n", line, d.list.data[0]->message);
    return 1;
  }
  j = ac_graph_to_json(again);
  bool same =
      strcmp(text, ac_json_text(f->a, j)) == 0 && strcmp(ac_graph_text(f->a, f->g), ac_graph_text(f->a, again)) == 0;
  json_decref(j);
  if (!same)
    print_error("%s\n  JSON differs after a round trip:\n%s%s\n", line, ac_graph_text(f->a, f->g),
                ac_graph_text(f->a, again));
  return !same;
}

static ac_graph *replay(fixture *f, const char *line) {
  ac_shape *s = AC_NEW_N(f->a, ac_shape, f->g->inputs.len);
  for (size_t i = 0; i < f->g->inputs.len; i++) s[i] = ac_value_example(f->g->inputs.data[i].value);
  ac_diags d;
  ac_diags_init(&d, f->a);
  ac_graph *g = ac_graph_respecialise(f->a, f->g, s, &d);
  if (!g) print_error("%s\n  respecialise: %s\n", line, d.list.data[0]->message);
  return g;
}

/* Other shapes, equal sizes staying equal: a replay may be refused, but never disagrees with the traced expressions: then a guard is
 * missing. */
static int other_shapes(fixture *f, const char *line) {
  static const int64_t times[] = {2, 1, 6, 1, 0, 3}, plus[] = {0, 1, 0, 4, 1, 1};
  for (size_t m = 0; m < AC_COUNT(times); m++) {
    ac_shape *s = AC_NEW_N(f->a, ac_shape, f->g->inputs.len);
    for (size_t i = 0; i < f->g->inputs.len; i++) {
      s[i] = ac_value_example(f->g->inputs.data[i].value);
      for (int k = 0; k < s[i].rank; k++) s[i].dim[k] = s[i].dim[k] * times[m] + plus[m];
    }
    ac_diags d;
    ac_diags_init(&d, f->a);
    if (!ac_graph_respecialise(f->a, f->g, s, &d) &&
        strstr(d.list.data[0]->message, "is not what the traced graph says")) {
      print_error("%s\n  sizes * %lld + %lld: %s\n%s", line, (long long)times[m], (long long)plus[m],
                  d.list.data[0]->message, ac_graph_text(f->a, f->g));
      return 1;
    }
  }
  return 0;
}

static int check_results(fixture *f, const char *line, ac_value **outs, int n, char *want) {
  for (int k = 0; k < n; k++) ac_graph_output(f->g, "y", outs[k], -1);
  ac_graph_prune(f->g);
  if (check_graph(f, line) || other_shapes(f, line)) return 1;
  ac_graph *c = replay(f, line);
  if (!c) return 1;
  bool values = strstr(want, "]=") != NULL;
  ac_ref_opts opts = {.inputs = (const void *const *)f->data.data, .threads = 1};
  ac_ref *ref = values ? ac_ref_new(f->a, c, &opts, &f->d) : NULL;
  int bad = 0, k = 0;
  if (values && !ref) {
    print_error("%s\n  no reference: %s\n", line, f->d.list.len ? f->d.list.data[0]->message : "?");
    bad = 1;
  }
  for (; *want; k++) {
    char *w = next_word(&want);
    if (k < n) bad += check_output(f, line, w, k, ref);
  }
  if (k != n) {
    print_error("%s\n  %d outputs instead of %d\n", line, n, k);
    bad++;
  }
  if (ref) ac_ref_free(ref);
  return bad;
}

static int run_line(const char *line) {
  fixture f = {.a = ac_arena_new()};
  ac_diags_init(&f.d, f.a);
  f.g = ac_graph_new(f.a, &f.d);
  char *call = ac_strdup(f.a, line), *want = strstr(call, " -> ");
  *want = 0;
  want += 4;
  ac_arg args[16] = {{0}};
  ac_op op = parse_call(&f, call, args);
  int n, bad = 0;
  ac_value **outs = ac_graph_apply(f.g, op, args, ac_op_info(op)->n_params, AC_NOLOC, &n);
  bool refused = strcmp(want, "refused") == 0;
  if (refused != (outs == NULL)) {
    bad = 1;
    print_error("%s\n  %s\n", line, outs ? "accepted" : f.d.list.data[0]->message);
  } else if (!outs) {
    bad = f.d.errors == 0;
    if (bad) print_error("%s\n  refused without a message\n", line);
  } else {
    bad = check_results(&f, line, outs, n, want);
  }
  ac_arena_free(f.a);
  return bad;
}

static void pytorch(void **state) {
  (void)state;
  ac_arena *a = ac_arena_new();
  char *text = ac_read_file(a, AC_SOURCE_DIR "/tests/graph/cases.txt", 0, NULL, NULL), *save = NULL;
  int lines = 0, bad = 0;
  assert_non_null(text);
  for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
    if (*l == '#') continue;
    lines++;
    bad += run_line(l) > 0;
  }
  ac_arena_free(a);
  if (bad) fail_msg("%d of %d cases differ from PyTorch", bad, lines);
  assert_true(lines > 3000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pytorch)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

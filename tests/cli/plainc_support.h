/* Plain C against the simulator: many lowered programs, compiled into one shared object, and the same tensors through both. */
#ifndef PLAINC_SUPPORT_H
#define PLAINC_SUPPORT_H

#include "direct_support.h"

#include <dlfcn.h>
#include <math.h>
#include <signal.h>

typedef struct {
  const int64_t *dims;
  int rank;
} plain_shape;
typedef int (*plain_call)(const void *const *in, void *const *out, const plain_shape *shapes, const double *f,
                          const int64_t *i, char *why);
typedef struct {
  const char *name; /* for messages */
  const char *text; /* the DSL program */
  ac_program *p;    /* lowered under an operator name of its own; NULL: it was refused, and the diagnostics say why */
  plain_call call;
  bool inexact; /* has instructions that are not correctly rounded */
} plain_program;

/* As far as the lowering; false with diagnostics. */
static inline bool plain_lower(ac_arena *a, plain_program *x, int number, ac_diags *d) {
  const ac_chip *chip = ac_chip_load(a, "ascend910b2", d);
  ac_lower_opts o = {
      .op = ac_sprintf(a, "p%d_custom", number), .op_type = ac_sprintf(a, "P%dCustom", number), .chip = chip};
  ac_diags_source(d, x->name, x->text);
  ac_cmodule *m = ac_craft_parse(a, x->name, x->text, d);
  x->p = m && ac_craft_check(a, m, &(ac_craft_check_opts){.chip = chip}, d) ? ac_lower(a, m, &o, d) : NULL;
  return x->p != NULL;
}

static inline bool inexact_block(const ac_ablock *b) {
  for (size_t i = 0; i < b->len; i++) {
    const ac_astmt *s = b->data[i];
    if (s->kind == AC_AS_INST && ac_insts[s->inst].ulp > 0) return true;
    if (inexact_block(&s->body) || inexact_block(&s->orelse)) return true;
  }
  return false;
}

/* Attributes come as arrays, whatever the operator's own list is. */
static inline char *plain_wrapper(ac_arena *a, const ac_program *p) {
  ac_buf b;
  ac_buf_init(&b, a);
  ac_printf(
      &b,
      "\nint %s_call(const void *const *in, void *const *out, const %s_shape *shapes, const double *f, const int64_t "
      "*i, char *why);\n"
      "int %s_call(const void *const *in, void *const *out, const %s_shape *shapes, const double *f, const int64_t "
      "*i, char *why) {\n  (void)f, (void)i;\n  return %s(in, out, shapes",
      p->op, p->op, p->op, p->op, p->op);
  for (size_t i = 0; i < p->attrs.len; i++)
    ac_printf(&b, ", %s[%zu]", p->attrs.data[i].type == AC_AT_FLOAT ? "f" : "i", i);
  ac_puts(&b, ", why);\n}\n");
  return ac_strdup(a, ac_buf_str(&b));
}

static inline const char *c_compiler(void) {
  const char *c = getenv("AC_TEST_CC");
  return c && *c ? c : "cc";
}

/* Emits and compiles those that were lowered, with warnings as errors. NULL, or the compiler's words. */
static inline const char *plain_build(bench *b, plain_program *list, size_t n, const char *optimise) {
  static int built;
  char *dir = ac_sprintf(b->a, "%s/c%d", b->dir, built++), *so = ac_sprintf(b->a, "%s/all.so", dir);
  AC_VEC(const char *) argv = {0};
  const char *const fixed[] = {c_compiler(), "-std=c99", "-Wall",   "-Wextra", "-pedantic", "-Werror",
                               optimise,     "-fPIC",    "-shared", "-o",      so};
  for (size_t i = 0; i < AC_COUNT(fixed); i++) ac_push(b->a, &argv, fixed[i]);
  assert_true(ac_mkdirs(dir, &b->d));
  bool any = false;
  for (size_t i = 0; i < n; i++) {
    ac_plainc_text t;
    if (!list[i].p) continue;
    if (!ac_plainc(b->a, list[i].p, &t, &b->d)) {
      ac_diags_print(&b->d, stderr, false);
      return ac_sprintf(b->a, "%s has no form in plain C\n%s", list[i].name, list[i].text);
    }
    const char *op = list[i].p->op, *path = ac_sprintf(b->a, "%s/%s.c", dir, op),
               *whole = ac_sprintf(b->a, "%s%s", t.source, plain_wrapper(b->a, list[i].p));
    assert_true(ac_write_file(path, whole, strlen(whole), &b->d));
    assert_true(ac_write_file(ac_sprintf(b->a, "%s/%s.h", dir, op), t.header, strlen(t.header), &b->d));
    ac_push(b->a, &argv, path);
    any = true;
  }
  if (!any) return NULL;
  ac_push(b->a, &argv, "-lm");
  ac_push(b->a, &argv, NULL);
  ac_proc r;
  ac_proc_run(b->a, &(ac_proc_spec){.argv = argv.data, .timeout = 300}, &r);
  if (r.status) return ac_sprintf(b->a, "%s", r.err ? r.err : "no compiler");
  void *lib = dlopen(so, RTLD_NOW | RTLD_LOCAL);
  if (!lib) return ac_strdup(b->a, dlerror());
  for (size_t i = 0; i < n; i++) {
    if (!list[i].p) continue;
    void *f = dlsym(lib, ac_sprintf(b->a, "%s_call", list[i].p->op));
    assert_non_null(f);
    memcpy(&list[i].call, &f, sizeof f);
    for (size_t k = 0; k < list[i].p->kernels.len; k++)
      for (size_t m = 0; m < list[i].p->kernels.data[k]->methods.len; m++)
        list[i].inexact |= inexact_block(&list[i].p->kernels.data[k]->methods.data[m].body);
  }
  return NULL;
}

/* Runs the C form on the tensors; outputs are written in place. As the operator's function returns. */
static inline int plain_run(const plain_program *x, args *g, char why[256]) {
  const void *in[17];
  void *out[17];
  plain_shape shapes[17];
  double f[17] = {0};
  int64_t w[17] = {0};
  int n_in = 0, n_out = 0;
  for (int i = 0; i < g->n; i++) {
    shapes[i] = (plain_shape){g->t[i].shape, g->t[i].rank};
    if (g->t[i].output)
      out[n_out++] = g->t[i].data;
    else
      in[n_in++] = g->t[i].data;
  }
  for (size_t i = 0; i < x->p->attrs.len; i++) {
    const ac_aattr *a = &x->p->attrs.data[i];
    f[i] = a->value;
    w[i] = (int64_t)a->value;
    for (int k = 0; k < g->n_attrs; k++) {
      if (strcmp(g->attrs[k].name, a->name) != 0) continue;
      f[i] = g->attrs[k].kind == AC_ATTR_F ? g->attrs[k].f : (double)g->attrs[k].i;
      w[i] = g->attrs[k].kind == AC_ATTR_F ? (int64_t)g->attrs[k].f : g->attrs[k].i;
    }
  }
  why[0] = 0;
  return x->call(in, out, shapes, f, w, why);
}

/* The first element that differs, or -1. NaN is NaN whatever its bits. With `slack` floats may differ by it, relatively, or by the
 * smallest normal number. */
static inline int64_t differs(ac_dtype d, const void *p, const void *q, int64_t n, double slack) {
  for (int64_t i = 0; i < n; i++) {
    size_t size = (size_t)ac_dtypes[d].bytes;
    if (!memcmp((const char *)p + (size_t)i * size, (const char *)q + (size_t)i * size, size)) continue;
    if (ac_dtypes[d].cls != AC_FLOATING) return i;
    double x = ac_load(d, p, i), y = ac_load(d, q, i);
    if (isnan(x) && isnan(y)) continue;
    if (slack > 0 && fabs(x - y) <= slack * fmax(fabs(x), fabs(y)) + 1e-38) continue;
    return i;
  }
  return -1;
}

typedef enum { PLAIN_SAME, PLAIN_REFUSED, PLAIN_FAULTY, PLAIN_DIFFERENT } plain_verdict;

/* Both ways at one set of tensors. DIFFERENT leaves the reason in `message`; FAULTY is the simulator's complaint. */
static inline plain_verdict plain_compare(bench *b, const plain_program *x, args *g, double slack, char **message) {
  uint8_t **before = copies_of(b, g), **sim;
  ac_sim_result r;
  char why[256];
  plain_verdict v = PLAIN_SAME;
  *message = "";
  ac_sim_opts o = {.in_process = true, .threads = 2, .timeout = 20};
  reset(g, before);
  bool ok = ac_sim_run_program(b->a, x->p, x->p->chip, g->t, g->n, g->attrs, g->n_attrs, &o, &r, &b->d);
  sim = copies_of(b, g);
  reset(g, before);
  if (!ok) {
    *message = "it could not be run in the simulator";
    v = PLAIN_FAULTY;
  } else if (r.faults.len) {
    *message =
        ac_sprintf(b->a, "line %d: %s: %s", r.faults.data[0].line, r.faults.data[0].kind, r.faults.data[0].message);
    v = PLAIN_FAULTY;
  } else {
    int code = plain_run(x, g, why);
    if (r.refused) {
      const char *reason = strstr(r.refused, ": "); /* the simulator puts the operator's name before it */
      bool same = code == 1 && reason && !strcmp(reason + 2, why);
      v = same ? PLAIN_REFUSED : PLAIN_DIFFERENT;
      if (!same)
        *message = ac_sprintf(b->a, "refused with '%s' in the simulator, %d '%s' in C", r.refused, code, why);
    } else if (code) {
      *message = ac_sprintf(b->a, "the C form returns %d '%s'", code, why);
      v = PLAIN_DIFFERENT;
    }
    for (int i = 0; v == PLAIN_SAME && i < g->n; i++) {
      const ac_sim_tensor *t = &g->t[i];
      if (!t->output) continue;
      int64_t n = t->bytes / ac_dtypes[t->dtype].bytes,
              at = differs(t->dtype, sim[i], t->data, n, x->inexact ? slack : 0);
      if (at < 0) continue;
      *message = ac_sprintf(b->a, "%s[%lld] is %.9g in the simulator, %.9g in C", t->name, (long long)at,
                            ac_load(t->dtype, sim[i], at), ac_load(t->dtype, t->data, at));
      v = PLAIN_DIFFERENT;
    }
  }
  free_copies(g, before);
  free_copies(g, sim);
  return v;
}

/* Outputs whose shape the program says have that one. */
static inline bool plain_declared(ac_arena *a, const ac_program *p, ac_shape *to) {
  ac_sim_tensor t[16] = {0};
  ac_sim_attr attrs[16];
  int n = 0;
  ac_diags quiet;
  ac_diags_init(&quiet, a);
  for (size_t i = 0; i < p->tensors.len; i++) {
    t[i].rank = to[i].rank;
    memcpy(t[i].shape, to[i].dim, sizeof t[i].shape);
  }
  for (size_t i = 0; i < p->attrs.len; i++) /* as plain_args gives them */
    attrs[n++] = (ac_sim_attr){.name = p->attrs.data[i].name,
                               .kind = p->attrs.data[i].type == AC_AT_FLOAT ? AC_ATTR_F : AC_ATTR_I,
                               .f = 0.7,
                               .i = 3};
  const ac_sim_compiled *x = ac_sim_compile(a, p, &quiet);
  if (!x || !ac_sim_output_shapes(a, x, t, (int)p->tensors.len, attrs, n, &quiet)) return false;
  for (size_t i = 0; i < p->tensors.len; i++) {
    to[i].rank = t[i].rank;
    memcpy(to[i].dim, t[i].shape, sizeof t[i].shape);
  }
  return true;
}
/* "7,1003 bias=1003": sizes of every tensor, then of some. False: the program has no tensor of that name. */
static inline bool plain_shapes(ac_arena *a, const ac_program *p, const char *spec, ac_shape *to) {
  char *save = NULL, *copy = ac_strdup(a, spec);
  for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
    char *eq = strchr(w, '='), *at = eq ? eq + 1 : w;
    ac_shape s = {0};
    bool known = !eq;
    if (eq) *eq = 0;
    for (; *at && s.rank < AC_MAX_RANK; at += *at == ',') s.dim[s.rank++] = strtoll(at, &at, 10);
    for (size_t i = 0; i < p->tensors.len; i++) {
      if (eq && strcmp(p->tensors.data[i].name, w) != 0) continue;
      to[i] = s;
      known = true;
    }
    if (!known) return false;
  }
  return plain_declared(a, p, to);
}

/* Tensors by those sizes. */
static inline void plain_args(const ac_program *p, const ac_shape *shapes, uint64_t seed, args *x) {
  static const ac_values kinds[] = {AC_VALUES_NORMAL, AC_VALUES_NORMAL, AC_VALUES_SPECIAL};
  memset(x, 0, sizeof *x);
  for (size_t i = 0; i < p->tensors.len; i++) {
    const ac_aparam *t = &p->tensors.data[i];
    add_tensor(x, t->name, t->dtype, &shapes[i], t->dir != AC_TENSOR_IN);
    x->t[x->n - 1].also_input = t->dir == AC_TENSOR_INOUT;
    if (t->dir != AC_TENSOR_OUT) fill_tensor(&x->t[x->n - 1], kinds[seed % 3], seed + i);
  }
  for (size_t i = 0; i < p->attrs.len; i++)
    x->attrs[x->n_attrs++] = (ac_sim_attr){.name = p->attrs.data[i].name,
                                           .kind = p->attrs.data[i].type == AC_AT_FLOAT ? AC_ATTR_F : AC_ATTR_I,
                                           .f = 0.7,
                                           .i = 3};
}

#endif

/* Golden tests: tests/craft/cases/NAME.craft is parsed, printed (NAME.out), checked for ascend910b2 and printed again
 * (NAME.checked), with its diagnostics in NAME.err. Empty results have no file. AC_UPDATE=1 writes them anew.
 * Also every program of docs/errors, and that accepted programs are Python. */
#include "world.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int by_name(const void *x, const void *y) {
  return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* Sorted names in a folder that end in `suffix`. */
static ac_strvec list(ac_arena *a, const char *dir, const char *suffix) {
  ac_strvec v = {0};
  DIR *d = opendir(dir);
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d));) {
    size_t n = strlen(e->d_name), k = strlen(suffix);
    if (n > k && !strcmp(e->d_name + n - k, suffix)) ac_push(a, &v, ac_strndup(a, e->d_name, n - k));
  }
  closedir(d);
  if (v.len) qsort(v.data, v.len, sizeof *v.data, by_name);
  return v;
}

static char *read_text(ac_arena *a, const char *path) {
  size_t n;
  return ac_exists(path) ? ac_read_file(a, path, 0, &n, NULL) : ac_strdup(a, "");
}

static char *diags_text(ac_arena *a, const ac_diags *d) {
  char *text = NULL;
  size_t n = 0;
  FILE *f = open_memstream(&text, &n);
  assert_non_null(f);
  ac_diags_print(d, f, false);
  fclose(f);
  char *copy = ac_strndup(a, text, n);
  free(text);
  return copy;
}

static int golden(ac_arena *a, const char *base, const char *suffix, const char *text) {
  char *path = ac_sprintf(a, "%s/tests/craft/cases/%s.%s", AC_SOURCE_DIR, base, suffix);
  if (getenv("AC_UPDATE")) {
    if (*text)
      assert_true(ac_write_file(path, text, strlen(text), NULL));
    else
      unlink(path);
  }
  const char *want = read_text(a, path);
  if (!strcmp(want, text)) return 0;
  fprintf(stderr, "---- %s.%s should be\n%s---- but is\n%s", base, suffix, want, text);
  return 1;
}

static int one_case(const char *name) {
  world w;
  open_world(&w);
  char *text = read_text(w.a, ac_sprintf(w.a, "%s/tests/craft/cases/%s.craft", AC_SOURCE_DIR, name));
  const char *file = ac_sprintf(w.a, "%s.craft", name);
  ac_diags_source(&w.d, file, text);
  int bad = 0;
  const char *out = "", *checked = "";
  ac_cmodule *m = ac_craft_parse(w.a, file, text, &w.d);
  if (m) {
    out = ac_craft_print(w.a, m);
    ac_diags d;
    ac_diags_init(&d, w.a);
    ac_cmodule *again = ac_craft_parse(w.a, file, out, &d);
    const char *why = ac_craft_unlike(w.a, text, out);
    if (!again || strcmp(out, ac_craft_print(w.a, again)) || why) {
      fprintf(stderr, "---- %s: print and parse disagree: %s\n%s", name, why ? why : "", out);
      bad++;
    }
    ac_craft_check_opts o = {.chip = w.chip};
    if (ac_craft_check(w.a, m, &o, &w.d)) checked = ac_craft_print(w.a, m);
  }
  bad += golden(w.a, name, "out", out);
  bad += golden(w.a, name, "checked", checked);
  bad += golden(w.a, name, "err", diags_text(w.a, &w.d));
  ac_arena_free(w.a);
  return bad;
}

static void cases(void **unused) {
  (void)unused;
  ac_arena *a = ac_arena_new();
  ac_strvec names = list(a, AC_SOURCE_DIR "/tests/craft/cases", ".craft");
  int bad = 0;
  for (size_t i = 0; i < names.len; i++) bad += one_case(names.data[i]);
  assert_true(names.len > 10);
  ac_arena_free(a);
  assert_int_equal(bad, 0);
}

/* ---- the error book ---- */

/* The block that begins with "```python WORD"; <ff> in it stands for the byte 0xff. */
static char *program(ac_arena *a, const char *page, const char *word) {
  const char *at = strstr(page, ac_sprintf(a, "```python %s\n", word));
  if (!at) return NULL;
  at = strchr(at, '\n') + 1;
  const char *end = strstr(at, "```\n");
  if (!end) return NULL;
  char *text = ac_strndup(a, at, (size_t)(end - at)), *ff = strstr(text, "<ff>");
  if (ff) {
    *ff = '\xff';
    memmove(ff + 1, ff + 4, strlen(ff + 4) + 1);
  }
  return text;
}

static void compile(world *w, const char *name, const char *text) {
  w->d.errors = w->d.warnings = 0;
  w->d.list.len = 0;
  ac_diags_source(&w->d, name, text);
  ac_cmodule *m = ac_craft_parse(w->a, name, text, &w->d);
  ac_craft_check_opts o = {.chip = w->chip};
  ac_verdicts v;
  if (m && ac_craft_check(w->a, m, &o, &w->d)) {
    (void)ac_craft_prove(w->a, m, &o, &v, &w->d);
    assert_false(v.clash);
  }
}

static bool reported(const ac_diags *d, const char *code) {
  for (size_t i = 0; i < d->list.len; i++)
    if (!strcmp(ac_code_name(d->list.data[i]->code), code)) return true;
  return false;
}

/* Every code of ours has a page; its bad program gets that code and no other error, its good program none at all. */
static void error_book(void **unused) {
  (void)unused;
  int bad = 0;
  for (int code = 0; code < AC_DIAG_COUNT; code++) {
    const char *name = ac_code_name((ac_code)code);
    if (strncmp(name, "AC04", 4) && strncmp(name, "AC05", 4)) continue;
    world w;
    open_world(&w);
    char *page = read_text(w.a, ac_sprintf(w.a, "%s/docs/errors/%s.md", AC_SOURCE_DIR, name));
    char *wrong = program(w.a, page, "bad"), *right = program(w.a, page, "good");
    if (!wrong || !right) {
      fprintf(stderr, "docs/errors/%s.md has no bad and good program\n", name);
      bad++;
      continue;
    }
    char *head = ac_sprintf(w.a, "# %s: %s\n", name, ac_code_title((ac_code)code));
    if (strncmp(page, head, strlen(head))) {
      fprintf(stderr, "docs/errors/%s.md should begin with\n%s", name, head);
      bad++;
    }
    compile(&w, name, wrong);
    bool only = reported(&w.d, name);
    for (size_t i = 0; i < w.d.list.len; i++)
      if (w.d.list.data[i]->severity == AC_ERROR && strcmp(ac_code_name(w.d.list.data[i]->code), name)) only = false;
    if (!only) {
      fprintf(stderr, "%s: the bad program gives\n%s", name, diags_text(w.a, &w.d));
      bad++;
    }
    compile(&w, name, right);
    if (w.d.list.len) {
      fprintf(stderr, "%s: the good program gives\n%s", name, diags_text(w.a, &w.d));
      bad++;
    }
    ac_arena_free(w.a);
  }
  assert_int_equal(bad, 0);
}

/* ---- the builder ---- */

static void builder(void **unused) {
  (void)unused;
  world w;
  open_world(&w);
  ac_cbuild b;
  ac_cb_init(&b, w.a, "built");
  ac_cb_comment(&b, "Doubles.\nTwice.");
  ac_cb_func(&b, "double_kernel", true);
  ac_cb_param(&b, "x", ac_ce_parse(&b, "tl.tensor[tl.%s]", "float16"));
  ac_cb_param(&b, "y", NULL);
  ac_cb_param(&b, "n", NULL);
  ac_cb_assign(
      &b, "buf",
      ac_ce_kwarg(&b, ac_ce_tl(&b, "alloc_ub", 1, ac_ce_int(&b, 64)), "dtype", ac_ce_parse(&b, "tl.float16")));
  ac_cb_for(&b, "i", ac_ce_int(&b, 0), ac_ce_name(&b, "n"), ac_ce_int(&b, 64));
  ac_cb_assign(&b, "off", ac_ce_parse(&b, "i + tl.arange(0, min(%d, n - i))", 64));
  ac_cb_with(&b, AC_STAGE_COPYIN);
  ac_cb_call(&b, ac_ce_tl(&b, "load", 2, ac_ce_bin(&b, AC_OP_ADD, ac_ce_name(&b, "x"), ac_ce_name(&b, "off")),
                          ac_ce_name(&b, "buf")));
  ac_cb_end(&b);
  ac_cb_with(&b, AC_STAGE_COMPUTE);
  ac_cb_if(&b, ac_ce_parse(&b, "i > 0"));
  ac_cb_call(
      &b, ac_ce_tl(&b, "vmul", 3, ac_ce_name(&b, "buf"), ac_ce_name(&b, "buf"), ac_ce_neg(&b, ac_ce_float(&b, 2))));
  ac_cb_elif(&b, ac_ce_parse(&b, "i == 0 and n > 1"));
  ac_cb_comment(&b, "the first");
  ac_cb_call(&b, ac_ce_tl(&b, "vmul", 3, ac_ce_name(&b, "buf"), ac_ce_name(&b, "buf"), ac_ce_float(&b, 2)));
  ac_cb_else(&b);
  ac_cb_call(&b, ac_ce_tl(&b, "vadd", 3, ac_ce_name(&b, "buf"), ac_ce_name(&b, "buf"), ac_ce_name(&b, "buf")));
  ac_cb_comment(&b, "the end");
  ac_cb_end(&b);
  ac_cb_end(&b);
  ac_cb_with(&b, AC_STAGE_COPYOUT);
  ac_cb_call(&b, ac_ce_tl(&b, "store", 2, ac_ce_parse(&b, "y + off"), ac_ce_name(&b, "buf")));
  ac_cb_end(&b);
  ac_cb_end(&b);
  ac_cb_func(&b, "double", false);
  ac_cb_param(&b, "x", NULL);
  ac_cb_param(&b, "y", NULL);
  ac_cexpr *args[] = {ac_ce_name(&b, "x"), ac_ce_name(&b, "y"), ac_ce_parse(&b, "x.numel()")};
  ac_cb_launch(&b, "double_kernel", ac_ce_int(&b, 1), 3, args);

  char *text = ac_craft_print(w.a, b.module);
  ac_cmodule *m = ac_craft_parse(w.a, "again", text, &w.d);
  assert_non_null(m);
  assert_string_equal(text, ac_craft_print(w.a, m));
  assert_non_null(strstr(
      text,
      "            elif i == 0 and n > 1:\n                # the first\n                tl.vmul(buf, buf, 2.0)\n"));
  assert_non_null(strstr(text, "tl.vmul(buf, buf, -2.0)"));
  ac_craft_check_opts o = {.chip = w.chip};
  assert_true(ac_craft_check(w.a, b.module, &o, &w.d)); /* trees without locations are checked as well */
  assert_int_equal(w.d.warnings, 0);
  ac_cfunc *host = ac_craft_host(b.module), *kernel = ac_craft_kernel(b.module, "double_kernel");
  assert_int_equal(host->launches.len, 1);
  assert_ptr_equal(ac_craft_launch_kernel(b.module, host->launches.data[0]), kernel);
  assert_int_equal(ac_craft_launch_cores(host->launches.data[0])->i, 1);
  assert_int_equal(host->launches.data[0]->fit, AC_FIT_PROVED);
  assert_true(host->params[0].in && !host->params[0].out && !host->params[1].in && host->params[1].out);
  assert_int_equal(host->params[0].dtype, AC_F16);
  assert_int_equal(host->params[1].dtype, AC_F16);
  assert_int_equal(kernel->params[2].type, AC_CT_INT);
  ac_arena_free(w.a);
}

/* What lowering relies on: see craft.h. */
static void annotations(void **unused) {
  (void)unused;
  world w;
  open_world(&w);
  char *text = read_text(w.a, AC_SOURCE_DIR "/tests/craft/cases/chain.craft");
  ac_cmodule *m = ac_craft_parse(w.a, "chain", text, &w.d);
  assert_non_null(m);
  ac_craft_check_opts o = {.chip = w.chip};
  assert_true(ac_craft_check(w.a, m, &o, &w.d));
  ac_cfunc *k = m->funcs.data[0];
  assert_int_equal(k->buffers.len, 5);
  assert_true(k->buffers.data[0]->loaded && !k->buffers.data[0]->stored && k->buffers.data[4]->stored);
  ac_cstmt *s = k->body;
  while (s->kind != AC_CS_FOR) s = s->next;
  ac_cstmt *copyin = s->body->next->next, *compute = copyin->next;
  ac_cexpr *load = copyin->body->value, *cast = compute->body->value, *cmp = compute->body->next->next->value;
  assert_int_equal(load->prim, AC_P_LOAD);
  assert_int_equal(load->n_args, 4);
  assert_null(load->args[3]);
  assert_string_equal(ac_cexpr_text(w.a, load->args[2]), "count");
  const ac_ctile *t = load->args[0]->tile;
  assert_int_equal(t->rank, 1);
  assert_int_equal(t->param, 0);
  assert_string_equal(ac_cexpr_text(w.a, t->base), "i");
  assert_string_equal(ac_cexpr_text(w.a, t->axis[0].extent), "count");
  assert_string_equal(ac_cexpr_text(w.a, t->axis[0].stride), "1");
  assert_int_equal(cast->prim, AC_P_INST);
  assert_int_equal(cast->inst, AC_I_CAST);
  assert_int_equal(cast->round, AC_RN_NONE);
  assert_int_equal(cmp->inst, AC_I_CMPS); /* a scalar third operand picks the scalar form */
  assert_int_equal(cmp->args[0]->buffer->dtype, AC_MASK);
  assert_non_null(cmp->args[cmp->n_args - 1]);
  ac_arena_free(w.a);
}

/* The language reference names every primitive of the tables, and its example is right. */
static void reference(void **unused) {
  (void)unused;
  world w;
  open_world(&w);
  char *page = read_text(w.a, AC_SOURCE_DIR "/docs/craft.md");
  static const char *const names[] = {
#define P(id, name, sig, where) name,
#include "craft/prims.def"
#undef P
#define I(id, dsl, asc, form, dtypes, pipe, cost, flags, ulp, half, src) dsl,
#include "isa/insts.def"
#undef I
  };
  int missing = 0;
  for (size_t i = 0; i < AC_COUNT(names); i++) {
    if (!names[i]) continue;
    if (strstr(page, ac_sprintf(w.a, "tl.%s(", names[i])) || strstr(page, ac_sprintf(w.a, "tl.%s`", names[i])) ||
        strstr(page, ac_sprintf(w.a, "`%s(", names[i])))
      continue;
    fprintf(stderr, "docs/craft.md does not explain tl.%s\n", names[i]);
    missing++;
  }
  assert_int_equal(missing, 0);
  const char *at = strstr(page, "```python\n");
  assert_non_null(at);
  at += strlen("```python\n");
  char *example = ac_strndup(w.a, at, (size_t)(strstr(at, "```\n") - at));
  compile(&w, "docs/craft.md", example);
  if (w.d.list.len) ac_diags_print(&w.d, stderr, false);
  assert_int_equal(w.d.list.len, 0);
  ac_arena_free(w.a);
}

/* Every program that we accept is Python. */
static void python(void **unused) {
  (void)unused;
  ac_arena *a = ac_arena_new();
  const char *argv[] = {
      "/usr/bin/python3",
      "-c",
      "import ast, sys, pathlib\n"
      "n = 0\n"
      "for folder in sys.argv[1:]:\n"
      "    for p in sorted(pathlib.Path(folder).rglob('*.craft')):\n"
      "        if p.with_suffix('.out').exists() or folder.endswith('examples'):\n"
      "            ast.parse(p.read_text()); n += 1\n"
      "    for p in sorted(pathlib.Path(folder).rglob('*.out')) + sorted(pathlib.Path(folder).rglob('*.checked')):\n"
      "        ast.parse(p.read_text()); n += 1\n"
      "sys.exit(n < 10)\n",
      AC_SOURCE_DIR "/tests/craft/cases",
      AC_SOURCE_DIR "/data/examples",
      NULL};
  if (!ac_exists(argv[0])) skip();
  ac_proc_spec spec = {.argv = argv, .timeout = 60};
  ac_proc r;
  ac_proc_run(a, &spec, &r);
  if (r.status) fprintf(stderr, "%s\n", r.err ? r.err : "?");
  assert_int_equal(r.status, 0);
  ac_arena_free(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(cases),     cmocka_unit_test(error_book),
                                     cmocka_unit_test(builder),   cmocka_unit_test(annotations),
                                     cmocka_unit_test(reference), cmocka_unit_test(python)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Compiles the files of tests/sim/kernels against sim/include, as a user's kernel would be, and runs their cases on the core. */
#include "sim/core.h"
#include "kernels/sim_test.h"

#include <dirent.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static ac_arena *arena;
static ac_diags diags;
static const ac_chip *b2, *p3;

static const sim_case *compile(const char *cpp, int *n) {
  char *so = ac_sprintf(arena, "%s/sim_kernels_%d_%s.so", AC_BINARY_DIR, (int)getpid(), ac_basename(cpp));
  const char *cxx = getenv("CXX") ? getenv("CXX") : "g++";
  const char *argv[] = {cxx,
                        "-std=c++17",
                        "-O0",
                        "-g",
                        "-fPIC",
                        "-shared",
                        "-Wall",
                        "-Wextra",
                        "-Werror",
                        "-I",
                        AC_SOURCE_DIR "/sim/include",
                        "-I",
                        AC_SOURCE_DIR "/tests/sim/kernels",
                        cpp,
                        "-o",
                        so,
                        NULL};
  ac_proc p;
  ac_proc_run(arena, &(ac_proc_spec){.argv = argv, .timeout = 120}, &p);
  if (p.status) fail_msg("%s does not compile:\n%s", cpp, p.err);
  void *h = dlopen(so, RTLD_NOW | RTLD_LOCAL);
  if (!h) fail_msg("%s", dlerror());
  unlink(so);
  *n = *(const int *)dlsym(h, "sim_count");
  return *(const sim_case *const *)dlsym(h, "sim_table");
}

typedef struct {
  const sim_case *c;
  uint8_t *x, *y, *w;
} run;
static void call(void *user) {
  run *r = user;
  r->c->kernel(r->x, r->y, r->w);
}

/* The text of every fault, for the message of a failed test; also the record that must not depend on threads and order. */
static const char *faults_text(const ac_sim_fault *f, size_t n) {
  ac_buf b;
  ac_buf_init(&b, arena);
  for (size_t i = 0; i < n; i++)
    ac_printf(&b, "  %s:%d: block %lld: %s: %s (%lld times)\n", f[i].file ? ac_basename(f[i].file) : "-", f[i].line,
              (long long)f[i].block, f[i].kind, f[i].message, (long long)f[i].count);
  return ac_buf_str(&b);
}

/* A hazard names two places; the source marks them with "early" and "late" in a comment. */
static bool marked(const char *source, int line, const char *mark) {
  const char *p = source;
  for (int i = 1; p && i < line; i++) p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL;
  const char *end = p ? strchr(p, '\n') : NULL, *comment = p ? strstr(p, "/*") : NULL;
  const char *at = comment ? strstr(comment, mark) : NULL;
  return at && end && at < end;
}
static void check_places(const char *file, const sim_case *c, const ac_sim_fault *f) {
  bool hazard = !strncmp(f->kind, "hazard-", 7);
  if (!hazard && !c->marked) return;
  if (!f->file) fail_msg("%s, %s: %s has no place", file, c->name, f->kind);
  size_t n;
  char *source = ac_read_file(arena, f->file, 1u << 20, &n, &diags);
  int others = 0;
  bool good = source && marked(source, f->line, "late");
  for (const char *p = f->message; (p = strstr(p, ".cpp:")); p += 5) {
    int line = atoi(p + 5);
    others++;
    good = good && (marked(source, line, "early") || line == f->line);
  }
  if (!good || (hazard && !others))
    fail_msg("%s, %s: line %d is reported, not the places that are marked: %s", file, c->name, f->line, f->message);
}

static char *run_once(const char *file, const sim_case *c, int threads, ac_block_order order, run *r) {
  acsim_buffer bufs[] = {
      {.name = "x", .data = r->x, .bytes = c->nx * c->elem, .elem = c->elem, .kind = ACSIM_INPUT},
      {.name = "y",
       .data = r->y,
       .bytes = c->ny * c->elem,
       .elem = c->elem,
       .kind = ACSIM_OUTPUT,
       .zeroed = c->zeroed != 0},
      {.name = "workspace", .data = r->w, .bytes = c->nw, .elem = 1, .kind = ACSIM_WORKSPACE, .system = c->system},
  };
  memset(r->y, c->zeroed ? 0 : 0xa5, (size_t)(c->ny * c->elem));
  acsim_config cfg = {
      .chip = c->chip310 ? p3 : b2,
      .buffers = bufs,
      .n_buffers = c->nw ? 3 : 2,
      .threads = threads,
      .order = order,
      .hazards = (ac_hazards)c->hazards,
      .saturate = c->chip310 ? p3->half_saturates : b2->half_saturates,
      /* blocks that know too much of each other are not compared: no reason to report a good kernel */
      .knowledge = !c->fault && threads == 2};
  acsim_session *s = acsim_open(&cfg);
  if (c->schedule) acsim_set_schedule_mode(s, c->schedule - 1);
  acsim_launch(s, c->blocks, 1, call, r);
  acsim_finish(s);
  size_t n;
  const ac_sim_fault *f = acsim_faults(s, &n, NULL);
  size_t n_warnings;
  const ac_sim_fault *w = acsim_warnings(s, &n_warnings);
  ac_sim_fault *both = AC_NEW_N(arena, ac_sim_fault, n + n_warnings + 1);
  if (n) memcpy(both, f, n * sizeof *f);
  f = both;
  for (size_t i = 0; i < n_warnings; i++) /* tests of values may use the coarse instructions */
    if (strcmp(w[i].kind, "low-precision") || c->marked) both[n++] = w[i];
  char *text = ac_strdup(arena, faults_text(f, n));
  bool text_found = !c->text, others = false;
  for (size_t i = 0; i < n; i++) {
    others = others || !c->fault || strcmp(f[i].kind, c->fault);
    bool asked = !i || strncmp(f[i].kind, "hazard-", 7) != 0; /* of hazards the first that a reader meets */
    text_found = text_found || (asked && strstr(f[i].message, c->text));
    if (c->fault && !strcmp(f[i].kind, c->fault)) check_places(file, c, &f[i]);
  }
  if (!c->fault && n) fail_msg("%s, %s: faults where there should be none:\n%s", file, c->name, text);
  if (c->fault && !n) fail_msg("%s, %s: the fault %s was not noticed", file, c->name, c->fault);
  if (others) fail_msg("%s, %s: other faults than %s:\n%s", file, c->name, c->fault, text);
  if (!text_found)
    fail_msg("%s, %s: no message (of hazards the first one) says \"%s\":\n%s", file, c->name, c->text, text);
  assert_int_equal(acsim_blocks_run(s), c->cores ? c->cores : c->blocks);
  acsim_close(s);
  int64_t wrong = c->check ? c->check(r->x, r->y) : -1;
  if (wrong >= 0) fail_msg("%s, %s: element %lld is wrong", file, c->name, (long long)wrong);
  return text;
}

static void run_case(const char *file, const sim_case *c) {
  run r = {c, malloc((size_t)(c->nx * c->elem) + 64), malloc((size_t)(c->ny * c->elem) + 64),
           malloc((size_t)c->nw + 64)};
  memset(r.x, 0, (size_t)(c->nx * c->elem));
  if (c->fill) c->fill(r.x, c->nx);
  char *one = run_once(file, c, 1, AC_ORDER_FORWARD, &r);
  char *four = run_once(file, c, 4, AC_ORDER_FORWARD, &r);
  run_once(file, c, 2, AC_ORDER_REVERSE, &r);
  assert_string_equal(one, four); /* faults do not depend on the number of threads */
  free(r.x);
  free(r.y);
  free(r.w);
}

static void kernels(void **state) {
  (void)state;
  ac_strvec files = {0};
  DIR *d = opendir(AC_SOURCE_DIR "/tests/sim/kernels");
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d));)
    if (strstr(e->d_name, ".cpp"))
      ac_push(arena, &files, ac_sprintf(arena, "%s/tests/sim/kernels/%s", AC_SOURCE_DIR, e->d_name));
  closedir(d);
  assert_true(files.len >= 3);
  const char *only = getenv("SIM_KERNELS"); /* part of a file's name, while writing one */
  for (size_t i = 0; i < files.len; i++) {
    if (only && !strstr(ac_basename(files.data[i]), only)) continue;
    int n;
    const sim_case *cases = compile(files.data[i], &n);
    for (int k = 0; k < n; k++) run_case(ac_basename(files.data[i]), &cases[k]);
    print_message("%s: %d cases\n", ac_basename(files.data[i]), n);
  }
}

int main(void) {
  arena = ac_arena_new();
  ac_diags_init(&diags, arena);
  b2 = ac_chip_load(arena, "ascend910b2", &diags);
  p3 = ac_chip_load(arena, "ascend310p3", &diags);
  const struct CMUnitTest t[] = {cmocka_unit_test(kernels)};
  int rc = b2 && p3 ? cmocka_run_group_tests(t, NULL, NULL) : 1;
  ac_arena_free(arena);
  return rc;
}

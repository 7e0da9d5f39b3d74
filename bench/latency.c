/* Latency of one small simulated launch on this host (measured): compiled with everything in the cache, direct in a child, direct in
 * this process. usage: bench_latency FILE.craft ROWS COLS [ROUNDS]; the program's tensors all have the shape (ROWS, COLS). */
#include "ascendcraft.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };
typedef struct {
  ac_arena *a;
  ac_diags d;
  const ac_chip *chip;
  ac_program *p;
  ac_sim_spec spec;
  ac_sim_tensor t[MOST];
  int n;
} bench;

static int fail(bench *b, const char *what) {
  fprintf(stderr, "%s\n", what);
  ac_diags_print(&b->d, stderr, false);
  return AC_FAILED;
}

static bool lower(bench *b, const char *path) {
  const char *text = ac_read_file(b->a, path, 0, NULL, &b->d);
  ac_cmodule *m = text && b->chip ? ac_craft_parse(b->a, path, text, &b->d) : NULL;
  if (!m || !ac_craft_check(b->a, m, &(ac_craft_check_opts){.chip = b->chip}, &b->d)) return false;
  b->p = ac_lower(b->a, m, &(ac_lower_opts){.op = "bench_custom", .op_type = "BenchCustom", .chip = b->chip}, &b->d);
  return b->p && b->p->tensors.len <= MOST;
}

static bool emit(bench *b) {
  ac_project files = {0};
  const char *dir = ac_temp_dir(b->a, &b->d);
  ac_emit_opts o = {.formats = 1u << AC_FMT_MSOPGEN, .craft_text = "", .command = "bench"};
  if (!dir || !ac_emit(b->a, b->p, &o, &files, &b->d)) return false;
  const char *to = ac_path_join(b->a, dir, "p");
  if (!ac_project_write(b->a, &files, to, false, &b->d)) return false;
  b->spec = (ac_sim_spec){.form = AC_SIM_MSOPGEN,
                          .op = b->p->op,
                          .op_type = b->p->op_type,
                          .kernel_src = ac_sprintf(b->a, "%s/msopgen/op_kernel/%s.cpp", to, b->p->op),
                          .host_src = ac_sprintf(b->a, "%s/msopgen/op_host/%s.cpp", to, b->p->op),
                          .chip = b->chip,
                          .opt = 1};
  return ac_sim_build(b->a, &b->spec, &b->d) != NULL;
}

static bool tensors(bench *b, int64_t rows, int64_t cols) {
  for (size_t i = 0; i < b->p->tensors.len; i++) {
    const ac_aparam *w = &b->p->tensors.data[i];
    ac_sim_tensor *t = &b->t[b->n++];
    *t = (ac_sim_tensor){.name = w->name, .dtype = w->dtype, .rank = 2, .shape = {rows, cols}};
    t->output = w->dir != AC_TENSOR_IN;
    t->also_input = w->dir == AC_TENSOR_INOUT;
    t->bytes = rows * cols * ac_dtypes[w->dtype].bytes;
    if (!(t->data = ac_sim_alloc(t->bytes))) return false;
    if (w->dir != AC_TENSOR_OUT) ac_values_fill(AC_VALUES_NORMAL, w->dtype, i, cols, t->data, rows * cols);
  }
  return true;
}

typedef enum { COMPILED, CHILD, HERE, WAYS } way;
static bool once(bench *b, way w) {
  ac_arena *a = ac_arena_new();
  ac_sim_result r = {0};
  ac_sim_opts o = {.in_process = w == HERE};
  const ac_sim_lib *lib = w == COMPILED ? ac_sim_build(a, &b->spec, &b->d) : NULL;
  bool ok = w == COMPILED ? lib && ac_sim_run(a, lib, b->t, b->n, NULL, 0, &o, &r, &b->d)
                          : ac_sim_run_program(a, b->p, b->chip, b->t, b->n, NULL, 0, &o, &r, &b->d);
  ok = ok && r.ran && !r.faults.len;
  ac_arena_free(a);
  return ok;
}

static int by_size(const void *x, const void *y) {
  double a = *(const double *)x, b = *(const double *)y;
  return a < b ? -1 : a > b;
}

int main(int argc, char **argv) {
  static const char *const names[WAYS] = {"compiled, all cached", "direct, in a child", "direct, in process"};
  if (argc < 4) {
    fprintf(stderr, "usage: bench_latency FILE.craft ROWS COLS [ROUNDS]\n");
    return AC_BAD_INPUT;
  }
  bench b = {.a = ac_arena_new()};
  ac_diags_init(&b.d, b.a);
  b.chip = ac_chip_load(b.a, "ascend910b2", &b.d);
  int rounds = argc > 4 ? atoi(argv[4]) : 50;
  if (rounds < 1) rounds = 1;
  if (!lower(&b, argv[1]) || !emit(&b) || !tensors(&b, atoll(argv[2]), atoll(argv[3]))) return fail(&b, "no kernel");
  double *ms = AC_NEW_N(b.a, double, rounds);
  for (int w = 0; w < WAYS; w++) {
    for (int i = 0; i < rounds; i++) {
      double start = ac_now();
      if (!once(&b, (way)w)) return fail(&b, "the launch failed");
      ms[i] = (ac_now() - start) * 1000;
    }
    qsort(ms, (size_t)rounds, sizeof *ms, by_size);
    char what[100];
    snprintf(what, sizeof what, "launch of %s (%s, %s), %s", ac_basename(argv[1]), argv[2], argv[3], names[w]);
    printf("%-64s %7.2f %7.2f\n", what, ms[0], ms[rounds / 2]);
  }
  ac_arena_free(b.a);
  return AC_OK;
}

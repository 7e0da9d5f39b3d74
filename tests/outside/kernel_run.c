/* Runs one operator of somebody's sources in the simulator, as a text file says, and prints the result; vendor.py writes the
 * file and compares. Not part of the build: vendor.py compiles it against the libraries of a build folder.
 *
 *   op NAME | op_type NAME | kernel PATH | host PATH | inc DIR | chip NAME | threads N | timeout S | blocks FIRST N
 *   tensor NAME DTYPE in|out|inout|noin|noout[:LIST] FILE RANK D...
 *   attr NAME f|i|b|s VALUE      attr NAME l N V...
 */
#include "sim/sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 64 };
typedef struct {
  ac_sim_spec spec;
  ac_sim_opts opts;
  const char *chip, *inc[32], *host[64];
  ac_sim_tensor t[MAX];
  char *file[MAX];
  ac_sim_attr attr[64];
  int n_inc, n_host, n, n_attr;
} job;

static char *word(ac_arena *a) {
  char *w = strtok(NULL, " \n");
  return w ? ac_strdup(a, w) : (char *)"";
}

static void add_tensor(ac_arena *a, job *j) {
  if (j->n >= MAX) exit(9);
  ac_sim_tensor *t = &j->t[j->n];
  t->name = word(a);
  const char *dtype = word(a);
  for (int q = 0; q < AC_DTYPE_COUNT; q++)
    if (!strcmp(ac_dtypes[q].name, dtype)) t->dtype = (ac_dtype)q;
  char *io = word(a), *colon = strchr(io, ':');
  if (colon) t->list = atoi(colon + 1), *colon = 0;
  t->absent = !strncmp(io, "no", 2); /* noin, noout: optional, and not there */
  if (t->absent) io += 2;
  t->output = strcmp(io, "in") != 0;
  t->also_input = !strcmp(io, "inout");
  j->file[j->n++] = word(a);
  t->rank = atoi(word(a));
  t->bytes = ac_dtypes[t->dtype].bytes;
  for (int i = 0; i < t->rank; i++) t->bytes *= t->shape[i] = atoll(word(a));
  if (t->absent) {
    t->bytes = 0;
    return;
  }
  t->data = ac_sim_alloc(t->bytes);
  if (t->output && !t->also_input) return;
  FILE *f = fopen(j->file[j->n - 1], "rb");
  if (!f || fread(t->data, 1, (size_t)t->bytes, f) != (size_t)t->bytes) {
    printf("STATUS cannot read %s\n", j->file[j->n - 1]);
    exit(9);
  }
  fclose(f);
}

static void add_attr(ac_arena *a, job *j) {
  ac_sim_attr *x = &j->attr[j->n_attr++];
  x->name = word(a);
  char kind = *word(a), *value = word(a);
  x->kind = kind == 'f'   ? AC_ATTR_F
            : kind == 'b' ? AC_ATTR_B
            : kind == 's' ? AC_ATTR_S
            : kind == 'l' ? AC_ATTR_LIST_I
                          : AC_ATTR_I;
  x->s = value;
  x->f = atof(value);
  x->i = atoll(value);
  if (kind != 'l') return;
  x->n = (int)x->i;
  int64_t *v = AC_NEW_N(a, int64_t, x->n ? x->n : 1);
  for (int i = 0; i < x->n; i++) v[i] = atoll(word(a));
  x->li = v;
}

static void read_job(ac_arena *a, job *j, FILE *f) {
  static char line[1 << 16];
  while (fgets(line, sizeof line, f)) {
    const char *k = strtok(line, " \n");
    if (!k) continue;
    if (!strcmp(k, "op")) j->spec.op = word(a);
    if (!strcmp(k, "op_type")) j->spec.op_type = word(a);
    if (!strcmp(k, "kernel")) j->spec.kernel_src = word(a);
    if (!strcmp(k, "host")) j->host[j->n_host++] = word(a);
    if (!strcmp(k, "inc")) j->inc[j->n_inc++] = word(a);
    if (!strcmp(k, "chip")) j->chip = word(a);
    if (!strcmp(k, "threads")) j->opts.threads = atoi(word(a));
    if (!strcmp(k, "timeout")) j->opts.timeout = atof(word(a));
    if (!strcmp(k, "blocks")) j->opts.first_block = atoll(word(a)), j->opts.n_blocks = atoll(word(a));
    if (!strcmp(k, "tensor")) add_tensor(a, j);
    if (!strcmp(k, "attr")) add_attr(a, j);
  }
  fclose(f);
}

static int report(job *j, const ac_sim_result *r) {
  if (r->refused) {
    printf("STATUS refused %s\n", r->refused);
    return 1;
  }
  printf("STATUS ran blocks %lld key %lld wall %.2f\n", (long long)r->block_dim, (long long)r->tiling_key, r->wall);
  for (size_t i = 0; i < r->faults.len; i++) {
    const ac_sim_fault *q = &r->faults.data[i];
    printf("FAULT %s %s:%d x%lld: %s\n", q->kind, q->file ? q->file : "-", q->line, (long long)q->count, q->message);
  }
  for (int i = 0; i < j->n; i++) {
    if (!j->t[i].output) continue;
    FILE *f = fopen(j->file[i], "wb");
    if (!f) return 9;
    fwrite(j->t[i].data, 1, (size_t)j->t[i].bytes, f);
    fclose(f);
  }
  return 0;
}

int main(int argc, char **argv) {
  ac_arena *a = ac_arena_new();
  ac_diags d;
  ac_diags_init(&d, a);
  FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
  if (!f) return 9;
  static job j = {.chip = "ascend910b2", .opts = {.threads = 2, .timeout = 100}};
  read_job(a, &j, f);
  j.spec.form = AC_SIM_MSOPGEN;
  j.spec.include_dirs = j.inc;
  j.spec.host_src = j.host[0];
  j.spec.host_more = j.host + 1;
  j.spec.chip = ac_chip_load(a, j.chip, &d);
  ac_sim_lib *lib = j.spec.chip ? ac_sim_build(a, &j.spec, &d) : NULL;
  ac_sim_result r;
  if (!lib || !ac_sim_run(a, lib, j.t, j.n, j.attr, j.n_attr, &j.opts, &r, &d)) {
    printf("STATUS %s\n", lib ? "did not run" : "did not build");
    ac_diags_print(&d, stdout, false);
    return 1;
  }
  return report(&j, &r);
}

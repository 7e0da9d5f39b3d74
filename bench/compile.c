/* Throughput of the compiler on this host (measured), on one core: DSL programs from text to the text of every file of the project, in every
 * format: parse, check, lower, print. Nothing is written to disk.
 * usage: bench_compile FILE.craft... [-r ROUNDS] [-f FORMAT] (all of them) [-p]: a row a program and the whole: milliseconds, programs a
 * second, and KiB of memory for one program, all that its compilation takes from the system. With -r 0 each once, for a tool that counts
 * instructions. -p: with the claims that the commands prove and try on sizes (ac_craft_prove), in the column of the check. */
#include "ascendc/ascendc.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
  double seconds[4]; /* parse, check, lower, print */
  size_t bytes;
} cost;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static unsigned formats = AC_FMT_ALL;
static bool prove;

static bool compile(const char *file, const char *text, const ac_chip *chip, cost *c) {
  ac_arena *a = ac_arena_new();
  ac_diags d;
  ac_diags_init(&d, a);
  ac_diags_source(&d, file, text);
  ac_lower_opts l = {.op = "bench_custom", .op_type = "BenchCustom", .chip = chip};
  ac_emit_opts e = {.formats = formats, .craft_text = text, .command = "bench"};
  ac_project out = {0};
  double t[5] = {now()};
  ac_cmodule *m = ac_craft_parse(a, file, text, &d);
  t[1] = now();
  const ac_craft_check_opts o = {.chip = chip};
  ac_verdicts v;
  bool ok = m && ac_craft_check(a, m, &o, &d) && (!prove || ac_craft_prove(a, m, &o, &v, &d));
  t[2] = now();
  ac_program *p = ok ? ac_lower(a, m, &l, &d) : NULL;
  t[3] = now();
  ok = p && ac_emit(a, p, &e, &out, &d);
  t[4] = now();
  for (int i = 0; i < 4; i++) c->seconds[i] += t[i + 1] - t[i];
  c->bytes = ac_arena_bytes(a);
  if (!ok) ac_diags_print(&d, stderr, false);
  ac_arena_free(a);
  return ok;
}

static double sum(const cost *c) {
  return c->seconds[0] + c->seconds[1] + c->seconds[2] + c->seconds[3];
}

static void row(const char *name, const cost *c, double n) {
  printf("%-28.28s %8.3f %8.3f %8.3f %8.3f %8.3f %9.0f %8zu\n", name, c->seconds[0] / n * 1e3,
         c->seconds[1] / n * 1e3, c->seconds[2] / n * 1e3, c->seconds[3] / n * 1e3, sum(c) / n * 1e3, n / sum(c),
         c->bytes >> 10);
}

int main(int argc, char **argv) {
  ac_arena *a = ac_arena_new();
  ac_diags d;
  ac_diags_init(&d, a);
  const ac_chip *chip = ac_chip_load(a, "ascend910b2", &d);
  int rounds = 100, files = 0;
  cost all = {0};
  bool ok = chip != NULL;
  for (int i = 1; ok && i < argc; i++) {
    ac_format f;
    if (!strcmp(argv[i], "-r") && i + 1 < argc) rounds = atoi(argv[++i]);
    prove |= !strcmp(argv[i], "-p");
    if (!strcmp(argv[i], "-f") && i + 1 < argc && ac_format_of(argv[++i], &f)) formats = 1u << f;
  }
  printf("%-28s %8s %8s %8s %8s %8s %9s %8s\n", "ms a program (measured)", "parse", "check", "lower", "print", "all",
         "a second", "KiB");
  for (int i = 1; ok && i < argc; i++) {
    cost c = {0};
    if (argv[i][0] == '-') {
      i += strcmp(argv[i], "-p") != 0;
      continue;
    }
    const char *text = ac_read_file(a, argv[i], 0, NULL, &d);
    ok = text != NULL;
    if (!ok) break;
    if (!compile(argv[i], text, chip, &c)) { /* say, an output whose shape only a traced module tells */
      printf("%-28.28s refused\n", ac_basename(argv[i]));
      continue;
    }
    if (rounds) c = (cost){0};
    for (int k = 0; ok && k < rounds; k++) ok = compile(argv[i], text, chip, &c);
    files++;
    row(ac_basename(argv[i]), &c, rounds ? rounds : 1);
    for (int k = 0; k < 4; k++) all.seconds[k] += c.seconds[k];
    if (c.bytes > all.bytes) all.bytes = c.bytes;
  }
  if (ok && files) row("all (memory: the largest)", &all, files * (rounds ? rounds : 1));
  ac_diags_print(&d, stderr, false);
  ac_arena_free(a);
  return ok && files ? AC_OK : AC_FAILED;
}

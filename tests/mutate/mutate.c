/* Plants faults in the example programs and asks who notices: the checker, the lowering, the passes' invariants, the simulator's hazard
 * engine and its other rules, or a comparison with what the program computed before.
 *
 *   seeded_faults [--most N] [--seed S] [--list] [--reasons FILE] [--markdown FILE] PROGRAM.craft...
 *
 * --most: places of a kind in a program that are tried (default 3; 0: all), drawn by the seed. --reasons: why what is not noticed is not,
 * "program | fault | part of the place | reason" a line. Exit 1 when less than 98% are noticed, one is not and has
 * no reason, or a program runs at none of the sizes. */
#include "mutate.h"

#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name, *what;
} faults[] = {
#define F(id, name, what) {name, what},
    DSL_FAULTS(F) AIR_FAULTS(F)
#undef F
};

typedef enum {
  BY_CHECKER,
  BY_LOWERING,
  BY_INVARIANT,
  BY_HAZARD,
  BY_RULE,
  BY_TILING,
  BY_VALUES,
  EQUAL,
  MISSED,
  WAYS
} way;
static const char *const ways[] = {"checker",     "lowering", "invariant", "hazards", "other rules",
                                   "tiling code", "values",   "no change", "missed"};

static const ac_chip *chip;

static ac_program *lower(ac_arena *a, ac_cmodule *m, ac_diags *d) {
  return ac_lower(a, m, &(ac_lower_opts){.op = "seeded_custom", .op_type = "SeededCustom", .chip = chip}, d);
}
static ac_program *whole(ac_arena *a, const char *path, const char *text, ac_diags *d, way *w) {
  ac_cmodule *m = ac_craft_parse(a, path, text, d);
  *w = BY_CHECKER;
  if (!m || !ac_craft_check(a, m, &(ac_craft_check_opts){.chip = chip}, d)) return NULL;
  *w = BY_LOWERING;
  return lower(a, m, d);
}

/* As it is: the sizes that it takes, and what comes out. */
static bool open_example(ac_arena *a, example *x) {
  ac_diags d;
  way w;
  ac_diags_init(&d, a);
  ac_diags_source(&d, x->path, x->text);
  ac_program *p = whole(a, x->path, x->text, &d, &w);
  if (p && mutate_sizes(a, p, x)) return true;
  ac_diags_print(&d, stderr, false);
  return false;
}

/* ---- one fault ---- */

static way at_sizes(ac_arena *a, const ac_program *p, example *x, const char **said, ac_diags *d) {
  for (size_t at = 0; at < VALUES * x->sizes.len; at++) {
    ac_sim_result r;
    sizes *s = x->sizes.data[at % x->sizes.len];
    values v = (values)(at / x->sizes.len);
    if (!s->runs[v]) continue;
    if (!mutate_run(a, p, x, s, v, &r, d)) {
      *said = ac_sprintf(a, "sizes %s: it cannot be run", s->text);
      return BY_RULE;
    }
    if (r.refused) {
      *said = ac_sprintf(a, "sizes %s: %s", s->text, r.refused);
      return BY_TILING;
    }
    for (size_t i = 0; i < r.faults.len; i++) {
      const ac_sim_fault *f = &r.faults.data[i];
      *said = ac_sprintf(a, "sizes %s: %s: %s", s->text, f->kind, f->message);
      return strncmp(f->kind, "hazard", 6) ? BY_RULE : BY_HAZARD;
    }
    for (int i = 0; i < x->n; i++) {
      const ac_sim_tensor *t = &s->t[i];
      if (!t->output || !memcmp(t->data, s->out[v][i], (size_t)t->bytes)) continue;
      *said = ac_sprintf(a, "sizes %s: %s has other values", s->text, t->name);
      return BY_VALUES;
    }
  }
  return MISSED;
}

/* One fault, so large. */
static way plant_by(ac_arena *a, example *x, fault f, int site, int by, char **where, const char **said) {
  ac_diags d;
  way w;
  ac_diags_init(&d, a);
  const char *text = x->text;
  if (fault_of_dsl(f)) {
    ac_cmodule *m = ac_craft_parse(a, x->path, text, &d);
    mutate_dsl(a, m, f, site, by, where);
    text = ac_craft_print(a, m);
  }
  ac_program *p = whole(a, x->path, text, &d, &w);
  if (!p) {
    *said = d.list.len ? ac_sprintf(a, "%s: %s", ac_code_name(d.list.data[0]->code), d.list.data[0]->message) : "";
    return w;
  }
  if (!fault_of_dsl(f)) {
    mutate_air(a, p, f, site, by, where);
    *said = ac_program_check(a, p, "sync");
    if (*said) return BY_INVARIANT;
  } else {
    ac_program *q = whole(a, x->path, x->text, &d, &w);
    if (q && !strcmp(ac_air_text(a, q), ac_air_text(a, p))) {
      *said = "lowers to the same program";
      return EQUAL;
    }
  }
  w = at_sizes(a, p, x, said, &d);
  if (w != MISSED) return w;
  *said = "";
  for (size_t i = 0; i < d.list.len; i++) /* the checker could not decide and said so */
    if (d.list.data[i]->severity == AC_WARNING) *said = ac_sprintf(a, "only a warning: %s", d.list.data[i]->message);
  return MISSED;
}

/* Why nothing was noticed, if it can be said without a person: `why` of a miss. */
static way look_closer(ac_arena *a, example *x, fault f, int site, char **where, const char **said,
                       const char **why) {
  ac_diags d;
  way w;
  ac_diags_init(&d, a);
  ac_program *q = whole(a, x->path, x->text, &d, &w);
  if (q && mutate_is_none(a, q, f, site, *where, said)) return EQUAL;
  *why = q ? mutate_likely(q, f, site) : NULL;
  const char *unused;
  if (fault_shrinks(f)) *why = "with the least bytes that a buffer has, too, no size puts more into it than it holds";
  if (f == A_LESS && plant_by(a, x, f, site, 0, where, &unused) == MISSED)
    *why = "nothing reaches it, at the largest sizes that the program takes either: a way that the lowering keeps "
           "for longer or "
           "narrower rows than these";
  return MISSED;
}

static way plant(ac_arena *a, example *x, fault f, int site, char **where, const char **said, const char **why) {
  way got = MISSED;
  for (int by = 2; got == MISSED || (got == EQUAL && fault_shrinks(f)); by *= 2) {
    if (by > (fault_shrinks(f) ? MOST_SHRUNK : 2)) break;
    got = plant_by(a, x, f, site, by, where, said);
    if (got != MISSED && by > 2) *said = ac_sprintf(a, "by %d: %s", by, *said);
  }
  return got == MISSED ? look_closer(a, x, f, site, where, said, why) : got;
}

/* ---- the run ---- */

typedef struct {
  int counts[FAULTS][WAYS];
  int total[WAYS];
  ac_strvec misses;
  const char *reasons;
  int unexplained;
} table;

/* ---- reasons: "program | fault | part of the place | why it is not noticed" ---- */

static const char *reason_of(ac_arena *a, const char *reasons, const char *program, const char *name,
                             const char *where) {
  char *save = NULL, *copy = ac_strdup(a, reasons ? reasons : "");
  for (char *l = strtok_r(copy, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
    char *part[4] = {l};
    int n = 1;
    for (char *bar; n < 4 && (bar = strstr(part[n - 1], " | ")); n++) {
      *bar = 0;
      part[n] = bar + 3;
    }
    if (*l != '#' && n == 4 && (!strcmp(part[0], program) || !strcmp(part[0], "*")) && !strcmp(part[1], name) &&
        strstr(where, part[2]))
      return part[3];
  }
  return NULL;
}

static uint64_t state, seed = 1;
static uint32_t next(uint32_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % below;
}

static void faults_of(ac_arena *keep, example *x, int most, bool list, table *t) {
  ac_arena *a = ac_arena_new();
  ac_diags d;
  way w;
  ac_diags_init(&d, a);
  state = seed; /* the places of a program do not depend on the others */
  for (const char *c = ac_basename(x->path); *c; c++) state = (state ^ (uint8_t)*c) * 1099511628211u;
  ac_cmodule *m = ac_craft_parse(a, x->path, x->text, &d);
  ac_program *p = whole(a, x->path, x->text, &d, &w);
  for (int f = 0; f < FAULTS; f++) {
    int sites = fault_of_dsl((fault)f) ? mutate_dsl_sites(a, m, (fault)f) : mutate_air_sites(a, p, (fault)f);
    bool rare = f == NO_SYNC || f == A_BARRIER || f == A_SYNC; /* few programs have them: all places */
    int n = most && sites > most && !rare ? most : sites;
    for (int i = 0; i < n; i++) {
      int site = n == sites ? i : (int)next((uint32_t)sites);
      ac_arena *one = ac_arena_new();
      char *where = "";
      const char *said = "", *likely = NULL;
      way got = plant(one, x, (fault)f, site, &where, &said, &likely);
      t->counts[f][got]++;
      t->total[got]++;
      if (list || got == MISSED || got == EQUAL) {
        char *text = ac_sprintf(keep, "%s, %s: %s%s%s", ac_basename(x->path), faults[f].name, where,
                                said && *said ? ": " : "", said ? said : "");
        const char *why =
            got == MISSED ? reason_of(keep, t->reasons, ac_basename(x->path), faults[f].name, where) : NULL;
        if (!why && likely) why = ac_strdup(keep, likely);
        if (got == MISSED && !why) t->unexplained++;
        if (got == MISSED) text = ac_sprintf(keep, "%s: **%s**", text, why ? why : "NOT EXPLAINED");
        if (got == MISSED || got == EQUAL) ac_push(keep, &t->misses, ac_sprintf(keep, "%s (%s)", text, ways[got]));
        if (list) printf("%-11s %s\n", ways[got], text);
      }
      ac_arena_free(one);
    }
  }
  ac_arena_free(a);
}

static void row(FILE *out, const char *name, const char *what, const int *c) {
  int n = 0;
  for (int w = 0; w < WAYS; w++) n += c[w];
  fprintf(out, "| %s%s%s | %d |", name, *what ? ": " : "", what, n);
  for (int w = 0; w < WAYS; w++) fprintf(out, c[w] ? " %d |" : " |", c[w]);
  fprintf(out, "\n");
}
static void print(FILE *out, const table *t) {
  fprintf(out, "| fault | planted |");
  for (int w = 0; w < WAYS; w++) fprintf(out, " %s |", ways[w]);
  fprintf(out, "\n| --- | --- |");
  for (int w = 0; w < WAYS; w++) fprintf(out, " --- |");
  fprintf(out, "\n");
  for (int f = 0; f < FAULTS; f++) row(out, faults[f].name, faults[f].what, t->counts[f]);
  row(out, "all", "", t->total);
}

static int usage(void) {
  fprintf(
      stderr,
      "usage: seeded_faults [--most N] [--seed S] [--list] [--reasons FILE] [--markdown FILE] PROGRAM.craft...\n");
  return 2;
}

int main(int argc, char **argv) {
  ac_arena *a = ac_arena_new();
  ac_diags d;
  table t = {0};
  int most = 3, examples = 0, left_out = 0, i = 1;
  bool list = false;
  const char *markdown = NULL, *reasons = NULL;
  for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
    bool more = i + 1 < argc;
    if (!strcmp(argv[i], "--list"))
      list = true;
    else if (!strcmp(argv[i], "--most") && more)
      most = atoi(argv[++i]);
    else if (!strcmp(argv[i], "--seed") && more)
      seed = strtoull(argv[++i], NULL, 10) * 2654435761u + 1;
    else if (!strcmp(argv[i], "--markdown") && more)
      markdown = argv[++i];
    else if (!strcmp(argv[i], "--reasons") && more)
      reasons = argv[++i];
    else
      return usage();
  }
  if (i == argc) return usage();
  ac_diags_init(&d, a);
  chip = ac_chip_load(a, "ascend910b2", &d);
  if (reasons && !(t.reasons = ac_read_file(a, reasons, 0, NULL, &d))) return usage();
  for (; i < argc; i++) {
    example *x = AC_NEW(a, example);
    x->chip = chip;
    x->path = argv[i];
    x->text = ac_read_file(a, argv[i], 0, NULL, &d);
    if (!x->text || !open_example(a, x)) {
      ac_diags_print(&d, stderr, false);
      fprintf(stderr, "%s: runs at none of the sizes: mutate_sizes.c has them\n", argv[i]);
      left_out++;
      continue;
    }
    examples++;
    faults_of(a, x, most, list, &t);
    mutate_sizes_free(x);
  }
  int planted = 0;
  for (int w = 0; w < WAYS; w++) planted += t.total[w];
  int real = planted - t.total[EQUAL], noticed = real - t.total[MISSED];
  double share = real ? 100.0 * noticed / real : 0;
  FILE *out = markdown ? fopen(markdown, "w") : stdout;
  if (!out) return 2;
  if (markdown)
    fprintf(out, "# Seeded faults\n\nWritten by `./dev step seeded_faults docs/results/seeded-faults.md` "
                 "(`tests/mutate`); class of evidence: "
                 "simulated, and static where the checker\nor a pass's invariants notice. One mistake at a time is "
                 "planted in a program, in the DSL "
                 "or in the lowered program; columns say who\nnotices first: the checker, the lowering, the "
                 "invariants, the hazard engine, another rule "
                 "of the simulator (bounds, unwritten\nmemory, outputs never written or written twice, alignment, "
                 "queues), a refusal of the tiling code, "
                 "or other values than before. A fault\nthat changes nothing is none: the program lowers to the same "
                 "text, or its liveness says so.\n\n");
  print(out, &t);
  fprintf(out, "\n%d faults in %d programs; %d change nothing; of the other %d, %d (%.2f%%) are noticed.\n", planted,
          examples, t.total[EQUAL], real, noticed, share);
  if (t.misses.len) fprintf(out, "\nNot noticed, or nothing to notice:\n\n");
  for (size_t k = 0; k < t.misses.len; k++) fprintf(out, "- %s\n", t.misses.data[k]);
  if (markdown) fclose(out);
  ac_arena_free(a);
  return share < 98.0 || t.unexplained || left_out;
}

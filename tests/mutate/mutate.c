/* Plants faults in the example programs and asks who notices: the checker, the lowering, the passes' invariants, the simulator's hazard
 * engine and its other rules, or a comparison with what the program computed before.
 *
 *   seeded_faults [--most N] [--seed S] [--list] [--reasons FILE] [--markdown FILE] PROGRAM.craft...
 *
 * --most: places of a kind in a program that are tried (default 3; 0: all), drawn by the seed. --reasons: why what is not noticed is not,
 * "program | fault | part of the place | reason" a line. Exit 1 when less than 98% are noticed, or one is not and has no reason. */
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

/* ---- shapes: every program at those that it takes; large enough that loops come round ---- */

static const char *const shapes[] = {"7,1003",
                                     "1",
                                     "513",
                                     "64,96",
                                     "3,13243",
                                     "2,30011",
                                     "300,257",
                                     "2,8,5,16",
                                     "2,11264",
                                     "2,14848",
                                     "2,22528",
                                     "100,2048",
                                     "1600000",
                                     "1,3,300000",
                                     "2,3,50,70 bias=3,1,1",
                                     "9,130",
                                     "7,1003 y=1",
                                     "1600000 y=1",
                                     "1000000 y=1",
                                     "2,3,500,700 bias=3,1,1",
                                     "7,1003 bias=1003 scale=7,1",
                                     "3,600001 bias=600001 scale=3,1"};

/* What the inputs hold: noise; rows that rise from -100 to 100; rows that fall. The last lane is the largest or the smallest there. */
typedef enum { NOISE, RISE, FALL, VALUES } values;
enum { SMALL = 60000 }; /* elements: larger shapes have noise only */

typedef struct {
  const char *path, *text;
  ac_sim_tensor t[AC_COUNT(shapes)][16];
  int n;                                      /* tensors; 0: the shape names tensors that the program lacks */
  int filled[AC_COUNT(shapes)];               /* what its inputs hold: 1 + values */
  bool runs[VALUES][AC_COUNT(shapes)];        /* without fault and refusal */
  uint8_t *out[VALUES][AC_COUNT(shapes)][16]; /* what it computes then */
  ac_sim_attr attrs[2][16];                   /* every other shape has the second */
  int n_attrs;
} example;

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

static bool sizes(ac_arena *a, const ac_program *p, const char *spec, ac_sim_tensor *t) {
  char *save = NULL, *copy = ac_strdup(a, spec);
  for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
    char *eq = strchr(w, '='), *at = eq ? eq + 1 : w;
    int64_t dims[AC_MAX_RANK];
    int rank = 0;
    bool known = !eq;
    if (eq) *eq = 0;
    for (; *at && rank < AC_MAX_RANK; at += *at == ',') dims[rank++] = strtoll(at, &at, 10);
    for (size_t i = 0; i < p->tensors.len; i++) {
      if (eq && strcmp(p->tensors.data[i].name, w) != 0) continue;
      t[i].rank = rank;
      memcpy(t[i].shape, dims, sizeof *dims * (size_t)rank);
      known = true;
    }
    if (!known) return false;
  }
  return true;
}

static void tensors(ac_arena *a, const ac_program *p, example *x, size_t s) {
  for (size_t i = 0; i < p->tensors.len; i++) {
    const ac_aparam *q = &p->tensors.data[i];
    ac_sim_tensor *t = &x->t[s][i];
    t->name = ac_strdup(a, q->name);
    t->dtype = q->dtype;
    t->output = q->dir != AC_TENSOR_IN;
    t->also_input = q->dir == AC_TENSOR_INOUT;
    int64_t n = 1;
    for (int k = 0; k < t->rank; k++) n *= t->shape[k];
    t->bytes = n * ac_dtypes[q->dtype].bytes;
    t->data = ac_sim_alloc(t->bytes);
  }
}

static void fill(example *x, size_t s, values v) {
  if (x->filled[s] == 1 + (int)v) return;
  x->filled[s] = 1 + (int)v;
  for (int i = 0; i < x->n; i++) {
    ac_sim_tensor *t = &x->t[s][i];
    if (t->output) continue;
    int64_t n = t->bytes / ac_dtypes[t->dtype].bytes,
            inner = t->rank && t->shape[t->rank - 1] ? t->shape[t->rank - 1] : 1;
    bool floats = ac_dtypes[t->dtype].cls == AC_FLOATING;
    if (v == NOISE && ac_values_fill(AC_VALUES_NORMAL, t->dtype, (uint64_t)i + 1, inner, t->data, n)) continue;
    for (int64_t k = 0; k < n; k++) {
      double ramp = (double)(k % inner + 1) / (double)inner * 200 - 100;
      if (floats)
        ac_store(t->dtype, t->data, k, v == FALL ? -ramp : ramp);
      else
        ac_store_int(t->dtype, t->data, k, (k * 7 + i) % 23 - 11);
    }
  }
}

static bool run(ac_arena *a, const ac_program *p, example *x, size_t s, values v, ac_sim_result *r, ac_diags *d) {
  fill(x, s, v);
  ac_sim_opts o = {.in_process = true, .threads = 1, .timeout = 10, .deterministic = s % 2};
  for (int i = 0; i < x->n; i++)
    if (x->t[s][i].output && !x->t[s][i].also_input) memset(x->t[s][i].data, 0xa5, (size_t)x->t[s][i].bytes);
  return ac_sim_run_program(a, p, chip, x->t[s], x->n, x->attrs[s % 2], x->n_attrs, &o, r, d);
}

/* As it is: the shapes that it takes, and what comes out. */
static bool open_example(ac_arena *a, example *x) {
  ac_diags d;
  way w;
  ac_diags_init(&d, a);
  ac_diags_source(&d, x->path, x->text);
  ac_program *p = whole(a, x->path, x->text, &d, &w);
  if (!p || p->tensors.len > 16 || p->attrs.len > 16) {
    ac_diags_print(&d, stderr, false);
    return false;
  }
  x->n_attrs = (int)p->attrs.len;
  for (size_t i = 0; i < p->attrs.len; i++)
    for (int k = 0; k < 2; k++)
      x->attrs[k][i] = (ac_sim_attr){.name = ac_strdup(a, p->attrs.data[i].name),
                                     .kind = p->attrs.data[i].type == AC_AT_FLOAT ? AC_ATTR_F : AC_ATTR_I,
                                     .f = k ? 3e30 : 0.7,
                                     .i = k ? 0 : 3};
  x->n = (int)p->tensors.len;
  bool any = false;
  for (size_t s = 0; s < AC_COUNT(shapes); s++) {
    ac_sim_result r;
    if (!sizes(a, p, shapes[s], x->t[s])) continue;
    tensors(a, p, x, s);
    bool inplace = false;
    for (int i = 0; i < x->n; i++) inplace |= x->t[s][i].also_input;
    for (int v = 0; v < VALUES; v++) {
      if (inplace || (v && x->t[s][0].bytes > SMALL * 4)) continue;
      x->runs[v][s] = run(a, p, x, s, (values)v, &r, &d) && !r.faults.len && !r.refused;
      any |= x->runs[v][s];
      for (int i = 0; x->runs[v][s] && i < x->n; i++) {
        if (!x->t[s][i].output) continue;
        x->out[v][s][i] = malloc((size_t)x->t[s][i].bytes + 1);
        if (x->out[v][s][i]) memcpy(x->out[v][s][i], x->t[s][i].data, (size_t)x->t[s][i].bytes);
      }
    }
  }
  return any;
}

/* ---- one fault ---- */

static way at_shapes(ac_arena *a, const ac_program *p, example *x, const char **said, ac_diags *d) {
  for (size_t at = 0; at < VALUES * AC_COUNT(shapes); at++) {
    ac_sim_result r;
    size_t s = at % AC_COUNT(shapes);
    values v = (values)(at / AC_COUNT(shapes));
    if (!x->runs[v][s]) continue;
    if (!run(a, p, x, s, v, &r, d)) {
      *said = ac_sprintf(a, "sizes %s: it cannot be run", shapes[s]);
      return BY_RULE;
    }
    if (r.refused) {
      *said = ac_sprintf(a, "sizes %s: %s", shapes[s], r.refused);
      return BY_TILING;
    }
    for (size_t i = 0; i < r.faults.len; i++) {
      const ac_sim_fault *f = &r.faults.data[i];
      *said = ac_sprintf(a, "sizes %s: %s: %s", shapes[s], f->kind, f->message);
      return strncmp(f->kind, "hazard", 6) ? BY_RULE : BY_HAZARD;
    }
    for (int i = 0; i < x->n; i++) {
      const ac_sim_tensor *t = &x->t[s][i];
      if (!t->output || !memcmp(t->data, x->out[v][s][i], (size_t)t->bytes)) continue;
      *said = ac_sprintf(a, "sizes %s: %s has other values", shapes[s], t->name);
      return BY_VALUES;
    }
  }
  return MISSED;
}

static way plant(ac_arena *a, example *x, fault f, int site, char **where, const char **said) {
  ac_diags d;
  way w;
  ac_diags_init(&d, a);
  const char *text = x->text;
  if (fault_of_dsl(f)) {
    ac_cmodule *m = ac_craft_parse(a, x->path, text, &d);
    mutate_dsl(a, m, f, site, where);
    text = ac_craft_print(a, m);
  }
  ac_program *p = whole(a, x->path, text, &d, &w);
  if (!p) {
    *said = d.list.len ? ac_sprintf(a, "%s: %s", ac_code_name(d.list.data[0]->code), d.list.data[0]->message) : "";
    return w;
  }
  if (!fault_of_dsl(f)) {
    mutate_air(a, p, f, site, where);
    *said = ac_program_check(a, p, "sync");
    if (*said) return BY_INVARIANT;
  }
  char *before = NULL;
  if (fault_of_dsl(f)) {
    ac_program *q = whole(a, x->path, x->text, &d, &w);
    before = q ? ac_air_text(a, q) : NULL;
    if (before && !strcmp(before, ac_air_text(a, p))) {
      *said = "lowers to the same program";
      return EQUAL;
    }
  }
  w = at_shapes(a, p, x, said, &d);
  if (w != MISSED) return w;
  ac_program *q = whole(a, x->path, x->text, &d, &w);
  if (q && mutate_is_none(a, q, f, site, *where, said)) return EQUAL;
  *said = "";
  if (d.warnings) { /* the checker could not decide and said so */
    for (size_t i = 0; i < d.list.len; i++)
      if (d.list.data[i]->severity == AC_WARNING)
        *said = ac_sprintf(a, "only a warning: %s", d.list.data[i]->message);
  }
  return MISSED;
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

static uint64_t state;
static uint32_t next(uint32_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % below;
}

static void faults_of(ac_arena *keep, example *x, int most, bool list, table *t) {
  ac_arena *a = ac_arena_new();
  ac_diags d;
  way w;
  ac_diags_init(&d, a);
  ac_cmodule *m = ac_craft_parse(a, x->path, x->text, &d);
  ac_program *p = whole(a, x->path, x->text, &d, &w);
  for (int f = 0; f < FAULTS; f++) {
    int sites = fault_of_dsl((fault)f) ? mutate_dsl_sites(a, m, (fault)f) : mutate_air_sites(a, p, (fault)f);
    int n = most && sites > most ? most : sites;
    for (int i = 0; i < n; i++) {
      int site = n == sites ? i : (int)next((uint32_t)sites);
      ac_arena *one = ac_arena_new();
      char *where = "";
      const char *said = "";
      way got = plant(one, x, (fault)f, site, &where, &said);
      t->counts[f][got]++;
      t->total[got]++;
      if (list || got == MISSED || got == EQUAL) {
        char *text = ac_sprintf(keep, "%s, %s: %s%s%s", ac_basename(x->path), faults[f].name, where,
                                said && *said ? ": " : "", said ? said : "");
        const char *why =
            got == MISSED ? reason_of(keep, t->reasons, ac_basename(x->path), faults[f].name, where) : NULL;
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
  int most = 3, examples = 0, i = 1;
  bool list = false;
  const char *markdown = NULL, *reasons = NULL;
  state = 1;
  for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
    bool more = i + 1 < argc;
    if (!strcmp(argv[i], "--list"))
      list = true;
    else if (!strcmp(argv[i], "--most") && more)
      most = atoi(argv[++i]);
    else if (!strcmp(argv[i], "--seed") && more)
      state = strtoull(argv[++i], NULL, 10) * 2654435761u + 1;
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
    x->path = argv[i];
    x->text = ac_read_file(a, argv[i], 0, NULL, &d);
    if (!x->text || !open_example(a, x)) {
      ac_diags_print(&d, stderr, false);
      fprintf(stderr, "%s: runs at none of the shapes, left out\n", argv[i]);
      continue;
    }
    examples++;
    faults_of(a, x, most, list, &t);
    for (size_t s = 0; s < AC_COUNT(shapes); s++)
      for (int k = 0; k < x->n; k++) {
        if (x->t[s][k].data) ac_sim_dealloc(x->t[s][k].data, x->t[s][k].bytes);
        for (int v = 0; v < VALUES; v++) free(x->out[v][s][k]);
      }
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
  return share < 98.0 || t.unexplained;
}

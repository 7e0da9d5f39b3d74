/* fuzz [--seed N] [--seconds N] [--launches N] [--only INSTRUCTION] [--launch N] [--keep-going] [--quiet]
 *
 * Draws calls, runs them on the simulator and on the naive model, and stops at the first difference with the smallest call that
 * still shows it. --launch N: only that launch of the seed. Exit status 0: no difference. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CASES = 48, MAX_NAMES = 96, MAX_KINDS = 64 };

typedef struct {
  char name[24];
  uint64_t draws, clean, by_type[FZ_TYPES], counted, masked, counter;
} tally;
typedef struct {
  const char *kind;
  uint64_t n;
} fault_tally;
typedef struct {
  fz_options o;
  uint64_t launch_seed;
  fz_case cases[CASES];
  const fz_case *given; /* one case, instead of drawing */
  bool count;
  tally names[MAX_NAMES];
  int n_names;
  fault_tally faults[MAX_KINDS];
  int n_faults;
  uint64_t draws, clean;
} state;

static void draw(void *user, int i, const fz_machine *m, fz_case *c) {
  state *s = user;
  if (s->given) {
    *c = *s->given;
    return;
  }
  fz_rng r = {fz_mix(s->launch_seed, (uint64_t)i + 10)};
  fz_draw(&r, m, &s->o, c);
  s->cases[i] = *c;
}

static void seen(void *user, const fz_case *c, const fz_machine *m) {
  state *s = user;
  if (!s->count) return;
  int k = 0;
  while (k < s->n_names && strcmp(s->names[k].name, fz_name(c)) != 0) k++;
  if (k == s->n_names && k < MAX_NAMES)
    snprintf(s->names[s->n_names++].name, sizeof s->names[k].name, "%s", fz_name(c));
  tally *t = &s->names[k];
  t->draws++;
  t->by_type[c->type]++;
  if (c->kind == FZ_VEC)
    t->counted += !c->repeated, t->masked += c->repeated, t->counter += c->repeated && c->counter;
  s->draws++;
  if (!m->n_faults) t->clean++, s->clean++;
  for (int i = 0; i < m->n_faults; i++) {
    int n = 0;
    while (n < s->n_faults && strcmp(s->faults[n].kind, m->fault[i]) != 0) n++;
    if (n == s->n_faults && n < MAX_KINDS) s->faults[s->n_faults++].kind = m->fault[i];
    s->faults[n].n++;
  }
}

static void report(const state *s) {
  printf("%llu calls, %llu of them without a fault, %llu through the C++ headers\n", (unsigned long long)s->draws,
         (unsigned long long)s->clean, (unsigned long long)fz_headers_calls);
  printf("%-18s %10s %10s %10s %10s %10s  by type\n", "instruction", "calls", "clean", "by count", "by mask",
         "counter");
  for (int i = 0; i < s->n_names; i++) {
    const tally *t = &s->names[i];
    printf("%-18s %10llu %10llu %10llu %10llu %10llu ", t->name, (unsigned long long)t->draws,
           (unsigned long long)t->clean, (unsigned long long)t->counted, (unsigned long long)t->masked,
           (unsigned long long)t->counter);
    for (int k = 0; k < FZ_TYPES; k++)
      if (t->by_type[k]) printf(" %s %llu", fz_type_names[k], (unsigned long long)t->by_type[k]);
    printf("\n");
  }
  printf("faults:");
  for (int i = 0; i < s->n_faults; i++) printf(" %s %llu", s->faults[i].kind, (unsigned long long)s->faults[i].n);
  printf("\n");
}

/* ---- making a case smaller ---- */

/* Does the call differ in the way that *out tells (the first word)? */
static bool still_differs(state *s, const fz_case *c, fz_result *out) {
  s->given = c;
  fz_result r = fz_launch(s->launch_seed, 1, draw, s, seen);
  s->given = NULL;
  if (r.difference < 0 || strncmp(r.text, out->text, strcspn(out->text, " ,:")) != 0) return false;
  *out = r;
  return true;
}
static bool try_int(state *s, fz_case *c, void *field, size_t size, int64_t to, fz_result *out) {
  fz_case t = *c;
  uint8_t *p = (uint8_t *)&t + ((uint8_t *)field - (uint8_t *)c);
  int64_t old = 0;
  memcpy(&old, p, size); /* little-endian */
  if (old == to || to < 0) return false;
  memcpy(p, &to, size);
  fz_settle(&t);
  if (!still_differs(s, &t, out)) return false;
  *c = t;
  return true;
}
#define TRY(field, to) again = try_int(s, c, &c->field, sizeof c->field, (int64_t)(to), out) || again
static void shrink(state *s, fz_case *c, fz_result *out) {
  bool again = true;
  for (int round = 0; round < 40 && again; round++) {
    again = false;
    TRY(poison, 0);
    TRY(counter, 0);
    TRY(headers, 0);
    TRY(by_register, 0);
    TRY(r.repeat, 1);
    TRY(r.repeat, c->r.repeat / 2);
    TRY(r.repeat, c->r.repeat - 1);
    TRY(r.dst_block, 1);
    TRY(r.a_block, 1);
    TRY(r.b_block, 1);
    TRY(r.dst_repeat, 8);
    TRY(r.a_repeat, 8);
    TRY(r.b_repeat, 8);
    TRY(r.mask[1], 0);
    TRY(r.mask[0], c->r.mask[0] & (c->r.mask[0] - 1));
    TRY(r.mask[0], c->r.mask[0] & 0xffffffff);
    TRY(r.first, c->r.first / 2);
    TRY(count, c->count / 2);
    TRY(count, c->count - 1);
    TRY(i, 0);
    TRY(dst.off, 0);
    TRY(a.off, 0);
    TRY(b.off, 0);
    TRY(c.off, 0);
    TRY(copy.blocks, 1);
    TRY(copy.left, 0);
    TRY(copy.right, 0);
    TRY(copy.src_gap, 0);
    TRY(copy.dst_gap, 0);
    TRY(copy.bytes, c->copy.bytes / 64 * 32);
    TRY(copy.is_pad, 0);
    TRY(atomic, 0);
    TRY(gm_off, 0);
    TRY(dims, c->dims - 1);
    TRY(nz.nd_num, 1);
    TRY(nz.n_value, 1);
    TRY(nz.d_value, 16);
    TRY(sort_repeat, 1);
    TRY(merge.repeat, 1);
    TRY(merge.valid, 3);
    TRY(hd.repeat, 1);
  }
}

static void show(state *s, uint64_t seed, uint64_t launch, const fz_result *r) {
  printf("DIFFERENCE in case %d of launch %llu: --seed %llu --launch %llu\n  %s\n", r->difference,
         (unsigned long long)launch, (unsigned long long)seed, (unsigned long long)launch, r->text);
  fz_case c = s->cases[r->difference];
  fz_print(stdout, &c);
  fz_result small = *r;
  s->count = false;
  if (still_differs(s, &c, &small)) {
    shrink(s, &c, &small);
    printf("smallest call that differs:\n  %s\n", small.text);
    fz_print(stdout, &c);
  } else {
    printf("alone the call shows no difference: it needs what the calls before it left\n");
  }
  s->count = true;
  fflush(stdout);
}

static double now(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  static state s;
  uint64_t seed = 1, first = 0, launches = ~0ull;
  double seconds = 5;
  bool keep_going = false, quiet = false;
  for (int i = 1; i < argc; i++) {
    const char *a = argv[i], *v = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(a, "--seed"))
      seed = strtoull(v, NULL, 0), i++;
    else if (!strcmp(a, "--seconds"))
      seconds = strtod(v, NULL), i++;
    else if (!strcmp(a, "--launches"))
      launches = strtoull(v, NULL, 0), i++;
    else if (!strcmp(a, "--launch"))
      first = strtoull(v, NULL, 0), launches = 1, seconds = 1e9, i++;
    else if (!strcmp(a, "--only"))
      s.o.only = v, i++;
    else if (!strcmp(a, "--keep-going"))
      keep_going = true;
    else if (!strcmp(a, "--quiet"))
      quiet = true;
    else
      return fprintf(stderr,
                     "usage: %s [--seed N] [--seconds N] [--launches N] [--launch N] [--only INSTRUCTION] "
                     "[--keep-going] [--quiet]\n",
                     argv[0]),
             2;
  }
  s.count = true;
  double start = now(CLOCK_MONOTONIC);
  int differences = 0;
  uint64_t n = 0;
  for (; n < launches && now(CLOCK_MONOTONIC) - start < seconds && (!differences || (keep_going && differences < 20));
       n++) {
    s.launch_seed = fz_mix(seed, first + n);
    fz_result r = fz_launch(s.launch_seed, CASES, draw, &s, seen);
    if (r.difference < 0) continue;
    differences++;
    show(&s, seed, first + n, &r);
  }
  if (!quiet) report(&s);
  printf("seed %llu, %llu launches, %.1f s, %.1f s of processor time: %d difference%s\n", (unsigned long long)seed,
         (unsigned long long)n, now(CLOCK_MONOTONIC) - start, now(CLOCK_PROCESS_CPUTIME_ID), differences,
         differences == 1 ? "" : "s");
  return differences != 0;
}

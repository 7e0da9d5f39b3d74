/* The verification: build every shipped form, run every case on it in both block orders, compare, and try the decoys. */
#include "verify/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLED_BLOCKS = 3, MOST_EDGES = 6, SAMPLE_SECONDS = 120, MOST_NUMBERS = 12 };
static const int64_t SAMPLE_ELEMENTS = 48 << 20; /* of one block: more is not simulated */

typedef struct {
  ac_arena *a;
  const ac_verify_opts *o;
  ac_verify_report *r;
  ac_diags *d;
  ac_vproject p;
  ac_sim_lib *lib[AC_FORMS];
  ac_cases cases;
  double start;
  bool hung; /* a case ran into its time limit */
  unsigned sandbox_missing;
  ac_strvec bounded;    /* of the last run */
  AC_VEC(int64_t) keys; /* tiling keys that some case reached */
  bool *zero_seen;      /* one an output */
  bool **copy_seen;     /* one an output and tensor input; true: told apart, or never alike in shape */
  bool *copy_alike;
} run;

static const char *const form_names[AC_FORMS] = {[AC_SIM_MSOPGEN] = "msopgen", [AC_SIM_DIRECT] = "direct"};
static const char *const class_names[] = {
    [AC_ERR_EXACT] = "exact", [AC_ERR_ARITHMETIC] = "arithmetic", [AC_ERR_FUNCTION] = "function"};

static void progress(const run *x, size_t i, const char *what) {
  if (!x->o->progress || ac_now() - x->start < 2) return;
  fprintf(x->o->progress, "\r\033[Kverifying %zu/%zu: %s", i + 1, x->cases.len, what);
  fflush(x->o->progress);
}
static void progress_end(const run *x) {
  if (!x->o->progress || ac_now() - x->start < 2) return;
  fputs("\r\033[K", x->o->progress);
  fflush(x->o->progress);
}

/* ---- building ---- */

static bool build(run *x, int form) {
  ac_sim_spec s = {.form = (ac_sim_form)form,
                   .op = x->p.op,
                   .op_type = x->p.op_type,
                   .kernel_src = x->p.kernel[form],
                   .host_src = form == AC_SIM_MSOPGEN ? x->p.host[form] : NULL,
                   .chip = x->p.chip,
                   .opt = 1};
  x->lib[form] = ac_sim_build(x->a, &s, x->d);
  if (x->lib[form]) return true;
  const char *why = x->d->list.len ? x->d->list.data[x->d->list.len - 1]->message : "it does not compile";
  ac_push(x->a, &x->r->cases,
          ((ac_verify_case){.name = "build",
                            .form = form_names[form],
                            .shapes = "",
                            .verdict = AC_V_FAIL,
                            .why = why,
                            .worst_index = -1}));
  return false;
}

/* ---- decoys: answers that must not pass ---- */

static void decoys_init(run *x) {
  size_t outs = x->p.graph->outputs.len, ins = x->p.graph->inputs.len;
  x->zero_seen = AC_NEW_N(x->a, bool, outs + 1);
  x->copy_seen = AC_NEW_N(x->a, bool *, outs + 1);
  x->copy_alike = AC_NEW_N(x->a, bool, outs *(ins + 1) + 1);
  for (size_t i = 0; i < outs; i++) x->copy_seen[i] = AC_NEW_N(x->a, bool, ins + 1);
}

static void try_decoys(run *x, ac_vcase *v) {
  for (int o = 0; o < v->n_outputs; o++) {
    const ac_sim_tensor *t = &v->tensors[v->n_in + o];
    ac_tolerance tol = ac_tolerance_of(t->dtype, ac_graph_error_class(v->graph));
    if (!t->bytes) continue;
    if (!x->zero_seen[o]) {
      void *zeros = calloc(1, (size_t)t->bytes);
      if (zeros && ac_vcase_compare(v, o, zeros, &tol, false).bad) x->zero_seen[o] = true;
      free(zeros);
    }
    for (int i = 0; i < v->n_in; i++) {
      const ac_sim_tensor *in = &v->tensors[i];
      if (in->bytes != t->bytes || in->dtype != t->dtype || x->copy_seen[o][i]) continue;
      x->copy_alike[(size_t)o * (x->p.graph->inputs.len + 1) + (size_t)i] = true;
      if (ac_vcase_compare(v, o, in->data, &tol, false).bad) x->copy_seen[o][i] = true;
    }
  }
}

static void report_decoys(run *x) {
  const ac_graph *g = x->p.graph;
  for (size_t o = 0; o < g->outputs.len; o++) {
    if (!x->zero_seen[o])
      ac_push(x->a, &x->r->blind,
              ac_sprintf(x->a, "an output %s of nothing but zeros would pass every case", g->outputs.data[o].name));
    size_t t = 0;
    for (size_t i = 0; i < g->inputs.len; i++) {
      if (g->inputs.data[i].role == AC_IN_SCALAR) continue;
      if (x->copy_alike[o * (g->inputs.len + 1) + t] && !x->copy_seen[o][t])
        ac_push(x->a, &x->r->blind,
                ac_sprintf(x->a, "a copy of the input %s would pass every case as %s", g->inputs.data[i].name,
                           g->outputs.data[o].name));
      t++;
    }
  }
}

/* ---- one case on one form ---- */

static void fail(run *x, ac_verify_case *c, const char *why) {
  c->verdict = AC_V_FAIL;
  if (!c->why) c->why = ac_strdup(x->a, why);
}

static void note_error(ac_verify_case *c, const char *name, const ac_comparison *k) {
  if (k->max_abs > c->max_abs) c->max_abs = k->max_abs;
  if (k->worst >= 0 && (c->worst_index < 0 || k->max_rel >= c->max_rel)) {
    c->max_rel = k->max_rel;
    c->worst_index = k->worst;
    c->worst_output = name;
  }
}

static void note_bad(run *x, ac_vcase *v, ac_verify_case *c, int out, const ac_comparison *k,
                     const ac_tolerance *tol) {
  const ac_sim_tensor *t = &v->tensors[v->n_in + out];
  if (!k->bad) return;
  if (!c->bad) {
    c->bad_output = x->p.graph->outputs.data[out].name;
    c->bad_index = ac_index_text(x->a, v->graph->outputs.data[out].value, k->first_bad);
    c->expected = k->expected;
    c->got = k->got;
    c->allowed = k->allowed;
    c->unwritten = !v->sampled && ac_untouched(t, k->first_bad);
  }
  c->bad += k->bad;
  ac_hints(x->a, v, out, t->data, k, tol, &c->hints);
  fail(x, c, ac_sprintf(x->a, "%lld of %lld elements of %s are wrong", (long long)k->bad, (long long)k->n, t->name));
}

/* "blocks 0, 17, 40" */
static const char *block_numbers(ac_arena *a, const ac_verify_case *c) {
  ac_buf b;
  ac_buf_init(&b, a);
  ac_puts(&b, c->blocks_run == 1 ? "block " : "blocks ");
  for (size_t i = 0; i < c->blocks.len && i < MOST_NUMBERS; i++)
    ac_printf(&b, i ? ", %lld" : "%lld", (long long)c->blocks.data[i]);
  if (c->blocks.len > MOST_NUMBERS) ac_printf(&b, " and %zu more", c->blocks.len - MOST_NUMBERS);
  return ac_buf_str(&b);
}

static void compare_outputs(run *x, ac_vcase *v, ac_verify_case *c, bool nominal) {
  int64_t compared = 0;
  for (int o = 0; o < v->n_outputs; o++) {
    const ac_sim_tensor *t = &v->tensors[v->n_in + o];
    ac_tolerance tol = ac_tolerance_of(t->dtype, ac_graph_error_class(v->graph));
    ac_comparison k = v->sampled ? ac_vcase_compare_sampled(v, o, &tol, x->o->threads)
                                 : ac_vcase_compare(v, o, t->data, &tol, true);
    compared += k.n;
    note_error(c, x->p.graph->outputs.data[o].name, &k);
    note_bad(x, v, c, o, &k, &tol);
    const char *side = ac_one_sided(&k);
    if (!side || !nominal) continue;
    fail(x, c, ac_sprintf(x->a, "the results in %s are rounded %s, not to the nearest number", t->name, side));
    ac_push(x->a, &c->hints, "look at the rounding mode of the last Cast");
  }
  if (v->sampled && c->verdict == AC_V_PASS)
    c->why = compared ? ac_sprintf(x->a, "%s of %lld, %lld elements compared", block_numbers(x->a, c),
                                   (long long)c->block_dim, (long long)compared)
                      : "the blocks that ran wrote less than a page: nothing was compared";
  if (v->sampled && !compared && c->verdict == AC_V_PASS) c->verdict = AC_V_SKIPPED;
}

/* ---- tiling branches ---- */

static bool was_reached(const run *x, int64_t key) {
  for (size_t i = 0; i < x->keys.len; i++)
    if (x->keys.data[i] == key) return true;
  return false;
}
static void reached(run *x, int64_t key) {
  if (!was_reached(x, key)) ac_push(x->a, &x->keys, key);
}

/* Branches of the kernel that no case chose: what is in them is not verified. */
static void report_branches(run *x) {
  if (!x->lib[AC_SIM_MSOPGEN]) return;
  const char *text = ac_read_file(x->a, x->p.kernel[AC_SIM_MSOPGEN], 0, NULL, NULL);
  for (const char *p = text; p && (p = strstr(p, "TILING_KEY_IS(")); p++) {
    char *end;
    long long key = strtoll(p + strlen("TILING_KEY_IS("), &end, 0);
    if (end == p + strlen("TILING_KEY_IS(") || was_reached(x, key)) continue;
    reached(x, key); /* say it once */
    ac_push(x->a, &x->r->blind, ac_sprintf(x->a, "no case reaches the kernel's branch for tiling key %lld", key));
  }
}

/* False when there is nothing to compare. */
static bool simulate(run *x, int form, ac_vcase *v, const ac_sim_opts *o, ac_verify_case *c) {
  ac_diags d;
  ac_diags_init(&d, x->a);
  ac_sim_result s;
  bool ok = ac_sim_run(x->a, x->lib[form], v->tensors, v->n_tensors, v->attrs, v->n_attrs, o, &s, &d);
  x->sandbox_missing |= s.sandbox_missing;
  c->block_dim = s.block_dim;
  x->bounded = s.bounded;
  if (form == AC_SIM_MSOPGEN && ok && !s.refused) reached(x, s.tiling_key);
  for (size_t i = 0; i < s.faults.len; i++) ac_push(x->a, &c->faults, s.faults.data[i]);
  for (size_t i = 0; i < s.warnings.len; i++) ac_push(x->a, &c->warnings, s.warnings.data[i]);
  if (!ok) {
    const ac_diag *first = d.list.len ? d.list.data[0] : NULL;
    x->hung |= first && first->code == AC0804;
    fail(x, c, first ? first->message : "it could not be run");
    for (size_t i = 0; first && i < first->help.len; i++) ac_push(x->a, &c->hints, first->help.data[i]);
    return false;
  }
  if (s.refused) {
    c->why = ac_sprintf(x->a, "refused: %s", s.refused);
    c->verdict = v->c->other_rank ? AC_V_REFUSED : AC_V_FAIL;
    return false;
  }
  if (s.faults.len) fail(x, c, s.faults.data[0].message);
  return s.ran;
}

/* Unwritten memory must not look like yesterday's right answer. */
static void poison_outputs(ac_vcase *v) {
  for (int i = v->n_in; i < v->n_tensors; i++)
    if (v->tensors[i].bytes) memset(v->tensors[i].data, AC_POISON, (size_t)v->tensors[i].bytes);
}

/* One run with its results off; what is found goes to *c. */
static bool fails_perturbed(run *x, int form, ac_vcase *v, ac_perturb how, const char *only, ac_verify_case *c) {
  ac_sim_opts o = {.threads = x->o->threads,
                   .timeout = x->o->case_seconds,
                   .hazards = x->o->hazards,
                   .perturb = how,
                   .perturb_seed = x->o->cases.seed,
                   .perturb_only = only};
  poison_outputs(v);
  if (simulate(x, form, v, &o, c)) compare_outputs(x, v, c, false);
  return c->verdict == AC_V_FAIL;
}

/* Which of them it takes for the case to fail: by themselves, or all together. */
static const char *culprits(run *x, int form, ac_vcase *v, ac_perturb how, const ac_strvec *names) {
  ac_buf alone;
  ac_buf_init(&alone, x->a);
  for (size_t i = 0; names->len > 1 && i < names->len; i++) {
    ac_verify_case one = {.verdict = AC_V_PASS, .worst_index = -1};
    if (fails_perturbed(x, form, v, how, names->data[i], &one))
      ac_printf(&alone, "%s%s", alone.len ? ", or of " : "", names->data[i]);
  }
  for (size_t i = 0, all = alone.len; !all && i < names->len; i++)
    ac_printf(&alone, "%s%s", i ? " and " : "", names->data[i]);
  return ac_buf_str(&alone);
}

static void note_inexact(run *x, const ac_strvec *names) {
  for (size_t i = 0; i < names->len; i++) {
    bool known = false;
    for (size_t k = 0; k < x->r->inexact.len; k++) known |= !strcmp(x->r->inexact.data[k], names->data[i]);
    if (!known) ac_push(x->a, &x->r->inexact, names->data[i]);
  }
  x->r->perturbed++;
}

static void say_perturbed(run *x, ac_verify_case *c, const ac_strvec *names, const char *culprit, const char *edge) {
  c->why = ac_sprintf(x->a, "right as computed here, but not for every result within its error bound: %s",
                      c->why ? c->why : "it fails");
  ac_push(
      x->a, &c->hints,
      ac_sprintf(x->a, "it takes the results of %s at the edge of their bounds, %s the nominal ones", culprit, edge));
  for (size_t k = 0; k < names->len; k++) {
    const ac_error_bound *b = &ac_error_bounds[ac_error_bound_of(names->data[k])];
    ac_push(x->a, &c->hints,
            ac_sprintf(x->a, "%s: within %g units in the last place of float32, %g of float16 (%s)", b->name, b->ulp,
                       b->half, b->source));
  }
}

/* What the device's last bits are is not known for every function. A kernel that is right only for the nominal ones is not right: the
 * key cases run once more for each edge of the error bounds. */
static void run_perturbed(run *x, int form, ac_vcase *v, ac_verify_case *c) {
  static const struct {
    ac_perturb how;
    const char *name;
  } edges[] = {{AC_PERTURB_UP, "above"}, {AC_PERTURB_DOWN, "below"}, {AC_PERTURB_MIXED, "above and below"}};
  ac_strvec names = x->bounded;
  if (c->verdict != AC_V_PASS || !v->c->key || !names.len) return;
  note_inexact(x, &names);
  for (size_t i = 0; i < AC_COUNT(edges); i++) {
    ac_verify_case t = *c;
    memset(&t.faults, 0, sizeof t.faults);
    memset(&t.warnings, 0, sizeof t.warnings);
    memset(&t.hints, 0, sizeof t.hints);
    t.perturbed = ++c->perturbed;
    if (!fails_perturbed(x, form, v, edges[i].how, NULL, &t)) continue;
    *c = t;
    say_perturbed(x, c, &names, culprits(x, form, v, edges[i].how, &names), edges[i].name);
    return;
  }
}

static void run_full(run *x, int form, ac_vcase *v, ac_verify_case *c) {
  for (int order = AC_ORDER_FORWARD; order <= AC_ORDER_REVERSE && c->verdict == AC_V_PASS; order++) {
    ac_sim_opts o = {.no_time = true,
                     .order = (ac_block_order)order,
                     .threads = x->o->threads,
                     .timeout = x->o->case_seconds,
                     .hazards = x->o->hazards};
    poison_outputs(v);
    if (!simulate(x, form, v, &o, c)) return;
    c->blocks_run = c->block_dim;
    compare_outputs(x, v, c, true);
    if (c->verdict == AC_V_FAIL && order == AC_ORDER_REVERSE)
      ac_push(x->a, &c->hints, "it fails only when the blocks run in reverse: one block relies on another's result");
    if (c->block_dim <= 1) return; /* one block has one order */
  }
}

/* As many blocks as were asked for, in one launch. */
static void run_sample(run *x, int form, ac_vcase *v, ac_verify_case *c, int64_t blocks) {
  ac_sim_opts o = {.sample = x->o->sample_blocks,
                   .sample_seed = x->o->cases.seed,
                   .threads = x->o->threads,
                   .timeout = x->o->case_seconds > 0 ? x->o->case_seconds : SAMPLE_SECONDS,
                   .hazards = x->o->hazards};
  int64_t most = o.sample < blocks ? o.sample : blocks, *pick = AC_NEW_N(x->a, int64_t, most + 1);
  if (!simulate(x, form, v, &o, c)) return;
  c->blocks_run = ac_sim_sample(most, o.sample_seed, blocks, pick);
  for (int64_t i = 0; i < c->blocks_run; i++) ac_push(x->a, &c->blocks, pick[i]);
  c->block_dim = blocks;
  if (c->verdict == AC_V_PASS) compare_outputs(x, v, c, true);
}

/* Tiling at full size, then the first, the last and a random block. */
static void run_sampled(run *x, int form, ac_vcase *v, ac_verify_case *c) {
  ac_sim_opts o = {.tiling_only = true};
  if (!simulate(x, form, v, &o, c)) return;
  int64_t blocks = c->block_dim;
  if (form == AC_SIM_DIRECT || blocks < 1 || v->elements / blocks > SAMPLE_ELEMENTS) {
    c->verdict = AC_V_SKIPPED;
    c->why = "only the tiling code ran (it accepts the shape): a block is too large to simulate";
    return;
  }
  if (x->o->sample_blocks) {
    run_sample(x, form, v, c, blocks);
    return;
  }
  int64_t pick[SAMPLED_BLOCKS] = {0, blocks - 1, blocks / 2 + (int64_t)(x->o->cases.seed % 7)};
  int64_t most = v->elements / blocks > SAMPLE_ELEMENTS / 4 ? 2 : SAMPLED_BLOCKS;
  for (int64_t k = 0; k < most && c->verdict == AC_V_PASS; k++) {
    bool again = pick[k] >= blocks;
    for (int64_t j = 0; j < k; j++) again = again || pick[j] == pick[k];
    if (again) continue;
    o = (ac_sim_opts){.no_time = true,
                      .first_block = pick[k],
                      .n_blocks = 1,
                      .threads = 1,
                      .timeout = 120,
                      .hazards = x->o->hazards};
    if (!simulate(x, form, v, &o, c)) return;
    c->blocks_run++;
    ac_push(x->a, &c->blocks, pick[k]);
  }
  c->block_dim = blocks;
  if (c->verdict == AC_V_PASS) compare_outputs(x, v, c, true);
}

/* Blocks that hand each other partial results cannot be judged a few at a time: that says nothing against the kernel. */
static void incomplete(run *x, const ac_vcase *v, ac_verify_case *c) {
  for (size_t i = 0; i < c->faults.len; i++)
    if (strcmp(c->faults.data[i].kind, "sample-incomplete") != 0) return;
  if (!c->faults.len) return;
  c->faults.len = 0;
  c->verdict = AC_V_SKIPPED;
  c->why = ac_sprintf(x->a,
                      "its blocks read what others of them have computed, so that some blocks alone show nothing: "
                      "run all of them with "
                      "--max-elements %lld",
                      (long long)v->elements);
}

static void judge_case(run *x, int form, ac_vcase *v, bool primary) {
  ac_verify_case c = {.name = v->c->name,
                      .form = form_names[form],
                      .shapes = ac_strdup(x->a, v->shapes),
                      .verdict = AC_V_PASS,
                      .worst_index = -1,
                      .sampled = v->sampled,
                      .elements = v->elements};
  double start = ac_now();
  if (v->sampled) {
    run_sampled(x, form, v, &c);
    incomplete(x, v, &c);
  } else
    run_full(x, form, v, &c);
  if (primary && !v->sampled) run_perturbed(x, form, v, &c);
  c.wall = ac_now() - start;
  ac_push(x->a, &x->r->cases, c);
}

static void skip_case(run *x, const ac_case *k, const char *form, const char *why) {
  ac_push(x->a, &x->r->cases,
          ((ac_verify_case){.name = k->name,
                            .form = form,
                            .shapes = "",
                            .verdict = AC_V_SKIPPED,
                            .why = why,
                            .worst_index = -1,
                            .elements = k->elements}));
}

/* Why no further case should run, or NULL. */
static const char *enough(const run *x) {
  if (x->hung) return "an earlier case did not end"; /* each would take its whole time limit */
  if (x->o->seconds > 0 && ac_now() - x->start > x->o->seconds) return "the time for the verification is used up";
  int failed = 0;
  for (size_t i = 0; i < x->r->cases.len; i++) failed += x->r->cases.data[i].verdict == AC_V_FAIL;
  return x->o->max_failures > 0 && failed >= x->o->max_failures ? "enough cases failed before it" : NULL;
}

static void run_case(run *x, size_t i, int primary) {
  const ac_case *k = &x->cases.data[i];
  progress(x, i, k->name);
  const char *over = enough(x);
  if (over) {
    skip_case(x, k, form_names[primary], over);
    return;
  }
  const char *why = NULL;
  ac_arena *mine = ac_arena_new(); /* references take megabytes: they go with the case */
  ac_vcase *v = ac_vcase_new(mine, &x->p, k, x->p.seed ^ x->o->cases.seed ^ (uint64_t)i * 0x2545F4914F6CDD1Du,
                             x->o->threads, &why);
  if (!v) {
    skip_case(x, k, form_names[primary], ac_strdup(x->a, why));
    ac_arena_free(mine);
    return;
  }
  for (int form = 0; form < AC_FORMS; form++)
    if (x->lib[form] && (form == primary || k->key)) judge_case(x, form, v, form == primary);
  if (!v->sampled) try_decoys(x, v);
  ac_vcase_free(v);
  ac_arena_free(mine);
}

/* ---- the whole ---- */

static void count(ac_verify_report *r) {
  for (size_t i = 0; i < r->cases.len; i++) {
    switch (r->cases.data[i].verdict) {
    case AC_V_PASS: r->passed++; break;
    case AC_V_FAIL: r->failed++; break;
    case AC_V_REFUSED: r->refused++; break;
    default: r->skipped++; break;
    }
  }
  r->ok = r->failed == 0 && r->passed > 0;
}

static void notes(run *x, int primary) {
  ac_verify_report *r = x->r;
  for (size_t i = 0; i < x->p.edited.len; i++) ac_push(x->a, &r->notes, x->p.edited.data[i]);
  if (primary < AC_FORMS)
    for (int f = 0; f < AC_FORMS; f++)
      if (x->lib[f] && f != primary) {
        ac_push(x->a, &r->notes,
                ac_sprintf(x->a, "%s: all cases; %s: the key cases only (same schedule, other host code)",
                           form_names[primary], form_names[f]));
      }
  for (size_t i = 0; i < r->cases.len; i++)
    if (r->cases.data[i].sampled) {
      ac_push(x->a, &r->notes,
              "the shape asked for is simulated in part: its inputs are signed normal values, some blocks ran, whole "
              "pages of their results were compared");
      break;
    }
  if (r->perturbed) {
    ac_buf b;
    ac_buf_init(&b, x->a);
    for (size_t i = 0; i < r->inexact.len; i++) ac_printf(&b, "%s%s", i ? ", " : "", r->inexact.data[i]);
    ac_push(x->a, &r->notes,
            ac_sprintf(x->a, "%d key case%s also ran with the results of %s at either edge of their error bounds",
                       r->perturbed, r->perturbed == 1 ? "" : "s", ac_buf_str(&b)));
  }
  const char *missing = ac_sandbox_missing(x->a, x->sandbox_missing);
  if (missing) ac_push(x->a, &r->notes, missing);
}

bool ac_verify(ac_arena *a, const ac_verify_opts *o, ac_verify_report *r, ac_diags *d) {
  *r = (ac_verify_report){0};
  run x = {.a = a, .o = o, .r = r, .d = d, .start = ac_now()};
  if (!ac_vproject_read(a, o->dir, &x.p, d)) return false;
  r->op = x.p.op;
  r->chip = x.p.chip->name;
  r->error_class = class_names[ac_graph_error_class(x.p.graph)];
  ac_case_opts co = o->cases;
  if (!co.cores) co.cores = x.p.chip->vector_cores;
  int64_t edges[MOST_EDGES];
  const char *host = x.p.host[AC_SIM_MSOPGEN] ? ac_read_file(a, x.p.host[AC_SIM_MSOPGEN], 0, NULL, NULL) : NULL;
  if (host) co.n_edges = ac_tiling_edges(host, edges, MOST_EDGES);
  co.edges = edges;
  if (!ac_make_cases(a, x.p.graph, &co, &x.cases, d)) return false;
  decoys_init(&x);
  int primary = AC_FORMS, tried = 0;
  for (int f = 0; f < AC_FORMS; f++) {
    if (!x.p.has[f] || (o->forms && !(o->forms & (1u << f)))) continue;
    tried++;
    if (build(&x, f) && primary == AC_FORMS) primary = f;
  }
  if (!tried) {
    ac_diag *e = ac_error(d, AC0901, (ac_loc){.file = o->dir},
                          "the project holds no form that can be simulated (msopgen or direct)");
    ac_help(d, e, "generate it with --format msopgen or --format direct");
    return false;
  }
  for (size_t i = 0; primary < AC_FORMS && i < x.cases.len; i++) run_case(&x, i, primary);
  progress_end(&x);
  if (primary < AC_FORMS) {
    report_decoys(&x);
    report_branches(&x);
  }
  notes(&x, primary);
  count(r);
  r->wall = ac_now() - x.start;
  return true;
}

/* The report: for people and as JSON. Every figure is labelled "simulated". */
#include "verify/verify.h"

#include <math.h>
#include <string.h>

static const char *const words[] = {
    [AC_V_PASS] = "pass", [AC_V_FAIL] = "FAIL", [AC_V_REFUSED] = "refused", [AC_V_SKIPPED] = "skipped"};
static const char *const colours[] = {
    [AC_V_PASS] = "\033[32m", [AC_V_FAIL] = "\033[1;31m", [AC_V_REFUSED] = "\033[33m", [AC_V_SKIPPED] = "\033[33m"};
enum { MOST_WARNINGS = 20, MOST_FAULTS = 5, MOST_FAILED = 6, MOST_SKIPPED = 2 };

/* printf tells NaNs by their sign, which means nothing. */
static double plain(double v) {
  return isnan(v) ? NAN : v;
}

static void print_bad(const ac_verify_case *c, FILE *out) {
  if (c->bad && c->unwritten)
    fprintf(out, "          first: %s%s was never written, expected %.9g\n", c->bad_output, c->bad_index,
            plain(c->expected));
  else if (c->bad)
    fprintf(out, "          first: %s%s is %.9g, expected %.9g (allowed error %.3g)\n", c->bad_output, c->bad_index,
            plain(c->got), plain(c->expected), c->allowed);
  for (size_t i = 0; i < c->faults.len && i < MOST_FAULTS; i++) {
    const ac_sim_fault *f = &c->faults.data[i];
    fprintf(out, "          ");
    if (f->file) fprintf(out, "%s:%d: ", f->file, f->line);
    fprintf(out, "%s: %s", f->kind, f->message);
    if (f->block >= 0) fprintf(out, " (block %lld)", (long long)f->block);
    if (f->count > 1) fprintf(out, " (%lld times)", (long long)f->count);
    fputc('\n', out);
  }
  if (c->faults.len > MOST_FAULTS) fprintf(out, "          and %zu faults more\n", c->faults.len - MOST_FAULTS);
  for (size_t i = 0; i < c->hints.len; i++) fprintf(out, "          hint: %s\n", c->hints.data[i]);
}

static void print_case(const ac_verify_case *c, FILE *out, bool colour) {
  fprintf(out, "  %s%-7s%s %-8s %-38s %s", colour ? colours[c->verdict] : "", words[c->verdict],
          colour ? "\033[0m" : "", c->form, c->name, c->shapes);
  if (c->worst_index >= 0)
    fprintf(out, "  max abs %.3g rel %.3g at %s(%lld)", c->max_abs, c->max_rel, c->worst_output,
            (long long)c->worst_index);
  if (c->why) fprintf(out, "  %s", c->why);
  fputc('\n', out);
  if (c->verdict == AC_V_FAIL) print_bad(c, out);
}

/* Each place once, whatever the case. */
static void print_warnings(const ac_verify_report *r, FILE *out) {
  const ac_sim_fault *shown[MOST_WARNINGS];
  int n = 0;
  for (size_t i = 0; i < r->cases.len; i++)
    for (size_t k = 0; k < r->cases.data[i].warnings.len && n < MOST_WARNINGS; k++) {
      const ac_sim_fault *f = &r->cases.data[i].warnings.data[k];
      bool known = false;
      for (int j = 0; j < n; j++)
        known = known || (!strcmp(shown[j]->kind, f->kind) && shown[j]->line == f->line &&
                          !shown[j]->file == !f->file && (!f->file || !strcmp(shown[j]->file, f->file)));
      if (known) continue;
      shown[n++] = f;
      fprintf(out, "  warning: ");
      if (f->file) fprintf(out, "%s:%d: ", f->file, f->line);
      fprintf(out, "%s: %s\n", f->kind, f->message);
    }
}

void ac_verify_print(const ac_verify_report *r, FILE *out, bool all, bool colour) {
  fprintf(out, "%s on %s (simulated; float64 reference; tolerance class: %s)\n", r->op, r->chip, r->error_class);
  double rel_most = 0;
  int shown[4] = {0};
  for (size_t i = 0; i < r->cases.len; i++) {
    const ac_verify_case *c = &r->cases.data[i];
    if (c->max_rel > rel_most) rel_most = c->max_rel;
    bool worth = c->verdict == AC_V_FAIL      ? shown[AC_V_FAIL]++ < MOST_FAILED
                 : c->verdict == AC_V_SKIPPED ? shown[AC_V_SKIPPED]++ < MOST_SKIPPED
                                              : i == 0;
    if (all || worth) print_case(c, out, colour);
  }
  if (!all && r->failed > MOST_FAILED)
    fprintf(out, "  and %d failing cases more (--all lists them)\n", r->failed - MOST_FAILED);
  if (!all && r->skipped > MOST_SKIPPED) fprintf(out, "  and %d skipped cases more\n", r->skipped - MOST_SKIPPED);
  for (size_t i = 0; i < r->blind.len; i++) fprintf(out, "  blind: %s\n", r->blind.data[i]);
  print_warnings(r, out);
  for (size_t i = 0; i < r->notes.len; i++) fprintf(out, "  note: %s\n", r->notes.data[i]);
  fprintf(out,
          "%s%s%s: %d passed, %d failed, %d refused, %d skipped; largest relative error %.3g (simulated, %.1f s on "
          "this host)\n",
          colour ? colours[r->ok ? AC_V_PASS : AC_V_FAIL] : "", r->ok ? "verified" : "NOT VERIFIED",
          colour ? "\033[0m" : "", r->passed, r->failed, r->refused, r->skipped, rel_most, r->wall);
}

/* JSON has no infinity and no NaN: they are written as strings. */
static json_t *number(double v) {
  if (isnan(v)) return json_string("nan");
  if (isinf(v)) return json_string(v > 0 ? "inf" : "-inf");
  return json_real(v);
}

static json_t *strings(const ac_strvec *v) {
  json_t *j = json_array();
  for (size_t i = 0; i < v->len; i++) json_array_append_new(j, json_string(v->data[i]));
  return j;
}

static json_t *fault_json(const ac_sim_fault *f) {
  json_t *j = json_object();
  json_object_set_new(j, "kind", json_string(f->kind));
  json_object_set_new(j, "message", json_string(f->message));
  if (f->file) {
    json_object_set_new(j, "file", json_string(f->file));
    json_object_set_new(j, "line", json_integer(f->line));
  }
  if (f->block >= 0) json_object_set_new(j, "block", json_integer(f->block));
  json_object_set_new(j, "count", json_integer(f->count));
  return j;
}

static json_t *case_json(const ac_verify_case *c) {
  json_t *j = json_object();
  json_object_set_new(j, "name", json_string(c->name));
  json_object_set_new(j, "form", json_string(c->form));
  json_object_set_new(j, "shapes", json_string(c->shapes));
  json_object_set_new(j, "verdict", json_string(c->verdict == AC_V_FAIL ? "fail" : words[c->verdict]));
  if (c->why) json_object_set_new(j, "why", json_string(c->why));
  json_object_set_new(j, "max_abs", number(c->max_abs));
  json_object_set_new(j, "max_rel", number(c->max_rel));
  if (c->worst_index >= 0) json_object_set_new(j, "worst_index", json_integer(c->worst_index));
  if (c->bad) {
    json_t *b = json_object();
    json_object_set_new(b, "count", json_integer(c->bad));
    json_object_set_new(b, "output", json_string(c->bad_output));
    json_object_set_new(b, "index", json_string(c->bad_index));
    json_object_set_new(b, "expected", number(c->expected));
    json_object_set_new(b, "got", c->unwritten ? json_null() : number(c->got));
    json_object_set_new(b, "allowed", number(c->allowed));
    json_object_set_new(j, "first_bad", b);
  }
  json_t *faults = json_array();
  for (size_t i = 0; i < c->faults.len; i++) json_array_append_new(faults, fault_json(&c->faults.data[i]));
  json_object_set_new(j, "faults", faults);
  json_t *warnings = json_array();
  for (size_t i = 0; i < c->warnings.len; i++) json_array_append_new(warnings, fault_json(&c->warnings.data[i]));
  json_object_set_new(j, "warnings", warnings);
  json_object_set_new(j, "hints", strings(&c->hints));
  json_object_set_new(j, "sampled", json_boolean(c->sampled));
  json_object_set_new(j, "perturbed_runs", json_integer(c->perturbed));
  json_object_set_new(j, "block_dim", json_integer(c->block_dim));
  json_object_set_new(j, "blocks_run", json_integer(c->blocks_run));
  json_t *blocks = c->sampled ? json_array() : NULL;
  for (size_t i = 0; i < c->blocks.len; i++) json_array_append_new(blocks, json_integer(c->blocks.data[i]));
  if (blocks) json_object_set_new(j, "blocks", blocks);
  json_object_set_new(j, "host_seconds", number(c->wall));
  return j;
}

json_t *ac_verify_json(const ac_verify_report *r) {
  json_t *j = json_object(), *cases = json_array();
  json_object_set_new(j, "op", json_string(r->op));
  json_object_set_new(j, "chip", json_string(r->chip));
  json_object_set_new(j, "evidence", json_string("simulated"));
  json_object_set_new(j, "reference", json_string("float64"));
  json_object_set_new(j, "tolerance_class", json_string(r->error_class));
  json_object_set_new(j, "ok", json_boolean(r->ok));
  json_object_set_new(j, "passed", json_integer(r->passed));
  json_object_set_new(j, "failed", json_integer(r->failed));
  json_object_set_new(j, "refused", json_integer(r->refused));
  json_object_set_new(j, "skipped", json_integer(r->skipped));
  json_object_set_new(j, "host_seconds", number(r->wall));
  json_object_set_new(j, "notes", strings(&r->notes));
  json_object_set_new(j, "blind", strings(&r->blind));
  for (size_t i = 0; i < r->cases.len; i++) json_array_append_new(cases, case_json(&r->cases.data[i]));
  json_object_set_new(j, "cases", cases);
  return j;
}

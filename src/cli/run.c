/* `ascendcraft run`: one launch, with what it did and what came out. */
#include "ascendcraft.h"
#include "cli/target.h"

#include <math.h>
#include <string.h>

enum { MOST_NUMBERS = 16 };

static void describe(ac_buf *b, const ac_sim_tensor *t) {
  int64_t n = t->bytes / ac_dtypes[t->dtype].bytes, odd = 0;
  double lo = INFINITY, hi = -INFINITY, sum = 0;
  for (int64_t i = 0; i < n; i++) {
    double x = ac_load(t->dtype, t->data, i);
    if (!isfinite(x))
      odd++;
    else
      lo = fmin(lo, x), hi = fmax(hi, x), sum += x;
  }
  ac_printf(b, "  %s: %s, %lld elements", t->name, ac_dtypes[t->dtype].name, (long long)n);
  if (n > odd) ac_printf(b, ", from %g to %g, mean %g", lo, hi, sum / (double)(n - odd));
  if (odd) ac_printf(b, ", %lld not finite", (long long)odd);
  ac_puts(b, "\n");
}

static void report_tiling(ac_buf *b, const ac_target *t, const ac_sim_result *r) {
  if (!t->is_kernel || !r->tiling_bytes) return;
  ac_printf(b, "tiling data: %lld bytes%s%s", (long long)r->tiling_bytes, *t->tiling_struct ? ", " : "",
            t->tiling_struct);
  const char *before = "; not given, so as they begin: ";
  for (size_t i = 0; i < t->tiling_zero.len + (r->tiling_partial != NULL); i++) {
    ac_printf(b, "%s%s", before, i < t->tiling_zero.len ? t->tiling_zero.data[i] : r->tiling_partial);
    before = ", ";
  }
  ac_puts(b, "\n");
}

/* Which blocks a sampled run took; NULL: all. */
static json_t *sample(ac_arena *a, const ac_run_options *o, const ac_sim_result *r) {
  if (!o->sample_blocks || o->sample_blocks >= r->block_dim) return NULL;
  int64_t *pick = AC_NEW_N(a, int64_t, o->sample_blocks + 1);
  int64_t n = ac_sim_sample(o->sample_blocks, o->source.seed, r->block_dim, pick);
  json_t *j = json_array();
  for (int64_t i = 0; i < n; i++) json_array_append_new(j, json_integer(pick[i]));
  return j;
}

static void report_sample(ac_buf *b, const ac_run_options *o, const json_t *blocks, const ac_sim_result *r) {
  size_t n = json_array_size(blocks);
  if (o->sample_blocks > r->block_dim && r->block_dim)
    ac_printf(b, "sample: all %lld blocks ran; --sample-blocks %lld is more than there are\n",
              (long long)r->block_dim, (long long)o->sample_blocks);
  if (!n) return;
  ac_puts(b, n == 1 ? "sample: only block " : "sample: only blocks ");
  for (size_t i = 0; i < n && i < MOST_NUMBERS; i++)
    ac_printf(b, "%s%lld", i ? ", " : "", (long long)json_integer_value(json_array_get(blocks, i)));
  if (n > MOST_NUMBERS) ac_printf(b, " and %zu more", n - MOST_NUMBERS);
  ac_printf(b, " of %lld ran; what the others would write is not missed\n", (long long)r->block_dim);
}

static const char *const results[] = {
    [AC_RESULTS_UP] = "up", [AC_RESULTS_DOWN] = "down", [AC_RESULTS_MIXED] = "mixed"};

static void report_perturbed(ac_buf *b, const ac_run_options *o, const ac_sim_result *r) {
  if (!o->perturb) return;
  ac_printf(b, "perturbed (%s): ", results[o->perturb]);
  for (size_t i = 0; i < r->bounded.len; i++) ac_printf(b, "%s%s", i ? ", " : "", r->bounded.data[i]);
  ac_puts(b, r->bounded.len ? ": results at the edge of their error bounds\n"
                            : "nothing whose results may be off ran\n");
}

static void report_said(ac_buf *b, const ac_sim_result *r) {
  if (r->said) ac_printf(b, "printed:\n%s%s", r->said, r->said[strlen(r->said) - 1] == '\n' ? "" : "\n");
}

static void report(ac_buf *b, const ac_run_options *o, const ac_target *t, const ac_sim_result *r,
                   const json_t *blocks) {
  if (r->refused) {
    ac_printf(b, "refused by the tiling code: %s\n", r->refused);
    return;
  }
  ac_printf(b,
            "launch (simulated): %lld blocks, tiling key %llu, %lld bytes of workspace, UB peak %lld bytes, %.3f s "
            "on this host\n",
            (long long)r->block_dim, (unsigned long long)r->tiling_key, (long long)r->workspace,
            (long long)r->ub_peak, r->wall);
  ac_time_line(b, &r->time);
  report_tiling(b, t, r);
  report_sample(b, o, blocks, r);
  for (int i = 0; i < t->n; i++)
    if (t->tensors[i].output) describe(b, &t->tensors[i]);
  report_said(b, r);
  for (size_t i = 0; i < r->faults.len + r->warnings.len; i++) {
    bool fault = i < r->faults.len;
    const ac_sim_fault *f = fault ? &r->faults.data[i] : &r->warnings.data[i - r->faults.len];
    ac_printf(b, "%s %s: %s", fault ? "fault" : "warning", f->kind, f->message);
    if (f->file && f->block >= 0)
      ac_printf(b, " (%s:%d, block %lld, %lld times)", f->file, f->line, (long long)f->block, (long long)f->count);
    else if (f->file) /* found after the launch */
      ac_printf(b, " (%s:%d)", f->file, f->line);
    ac_puts(b, "\n");
  }
}

static json_t *faults_json(const ac_sim_result *r) {
  json_t *all = json_array();
  for (size_t i = 0; i < r->faults.len; i++) {
    const ac_sim_fault *f = &r->faults.data[i];
    json_t *j = json_pack("{s:s, s:s}", "kind", f->kind, "message", f->message);
    if (f->file)
      json_object_update_new(
          j, json_pack("{s:s, s:i, s:I}", "file", f->file, "line", f->line, "count", (json_int_t)f->count));
    if (f->file && f->block >= 0) json_object_set_new(j, "block", json_integer(f->block));
    json_array_append_new(all, j);
  }
  return all;
}

static json_t *outputs_json(const ac_target *t) {
  json_t *all = json_array();
  for (int i = 0; i < t->n; i++) {
    const ac_sim_tensor *x = &t->tensors[i];
    if (!x->output) continue;
    json_t *shape = json_array();
    for (int k = 0; k < x->rank; k++) json_array_append_new(shape, json_integer(x->shape[k]));
    json_array_append_new(all, json_pack("{s:s, s:s, s:o, s:s?}", "name", x->name, "dtype", ac_dtypes[x->dtype].name,
                                         "shape", shape, "file", t->save[i]));
  }
  return all;
}

static json_t *run_json(const ac_sim_result *r) {
  json_t *j = json_pack("{s:I, s:I, s:I, s:I, s:I, s:s?}", "blocks", (json_int_t)r->block_dim, "tiling_key",
                        (json_int_t)r->tiling_key, "workspace", (json_int_t)r->workspace, "ub_peak",
                        (json_int_t)r->ub_peak, "faults", (json_int_t)r->faults.len, "refused", r->refused);
  json_object_set_new(j, "time", ac_time_json(&r->time));
  return j;
}

/* JSON is UTF-8; what a kernel prints need not be. */
static json_t *said_json(ac_arena *a, const char *said) {
  json_t *j = json_string(said);
  if (j) return j;
  char *plain = ac_strdup(a, said);
  for (char *p = plain; *p; p++)
    if ((unsigned char)*p >= 0x80) *p = '?';
  return json_string(plain);
}

int ac_run_target(ac_arena *a, const ac_target *t, const ac_run_options *o, FILE *progress, ac_buf *text,
                  json_t *result, ac_diags *d) {
  ac_sim_result r = {0};
  ac_sim_opts opts = ac_target_opts(o);
  opts.progress = progress;
  bool ran = ac_target_run(a, t, &opts, &r, d);
  if (r.said) json_object_set_new(result, "printed", said_json(a, r.said));
  if (!ran) {
    if (t->tiling_zero.len || r.tiling_partial) report_tiling(text, t, &r);
    report_said(text, &r);
    return AC_EXIT_FAILED;
  }
  json_t *blocks = sample(a, o, &r);
  report(text, o, t, &r, blocks);
  report_perturbed(text, o, &r);
  if (o->perturb) {
    json_t *names = json_array();
    for (size_t i = 0; i < r.bounded.len; i++) json_array_append_new(names, json_string(r.bounded.data[i]));
    json_object_set_new(result, "perturbed",
                        json_pack("{s:s, s:o}", "results", results[o->perturb], "functions", names));
  }
  json_object_set_new(result, "run", run_json(&r));
  if (blocks) json_object_set_new(result, "sampled_blocks", blocks);
  if (r.faults.len) json_object_set_new(result, "faults", faults_json(&r));
  json_object_set_new(result, "outputs", outputs_json(t));
  if (r.refused) return AC_EXIT_BAD_INPUT;
  if (!ac_target_save(a, t, d)) return AC_EXIT_BAD_INPUT;
  return r.faults.len ? AC_EXIT_FAILED : AC_EXIT_OK;
}

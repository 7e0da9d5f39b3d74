/* `ascendcraft profile`: where the modelled time of a run goes. */
#include "ascendcraft.h"
#include "cli/profile.h"
#include "isa/cost.h"

#include <string.h>

/* A unit that has work for this part of the time is what holds a run up. */
static const double BUSY = 0.7;
enum { DEFAULT_BLOCKS = 2, DEFAULT_SPANS = 100000, SHOWN_STALLS = 8 };

static double us_at(double bytes, double gb_s) {
  return gb_s > 0 ? bytes / gb_s / 1e3 : 0;
}

ac_profile ac_profile_of(const ac_sim_time *t) {
  ac_profile p = {.unit = AC_PIPE_S, .fastest = 1e300};
  double sum[AC_PIPE_COUNT] = {0}, all = 0;
  bool sample = t->blocks_run < t->blocks_all;
  for (size_t i = 0; i < t->cores.len; i++) {
    const ac_sim_core_time *c = &t->cores.data[i];
    if (sample && !c->blocks) continue;
    all +=
        sample ? c->cycles : t->core_cycles; /* of a sample it is not known how long a core would wait for others */
    if (c->cycles < p.fastest) p.fastest = c->cycles;
    if (c->cycles > p.slowest) p.slowest = c->cycles;
    for (int u = 0; u < AC_PIPE_COUNT; u++) {
      sum[u] += c->busy[u];
      double of = sample ? c->cycles : t->core_cycles, part = of > 0 ? c->busy[u] / of : 0;
      if (part > p.most[u]) p.most[u] = part;
    }
  }
  for (int u = 0; u < AC_PIPE_COUNT; u++) {
    p.share[u] = all > 0 ? sum[u] / all : 0;
    if (p.share[u] > p.share[p.unit]) p.unit = (ac_pipe)u;
  }
  p.busy = p.share[p.unit];
  double core_us = t->mhz > 0 ? t->core_cycles / t->mhz : 0;
  bool memory = t->memory_us >= core_us, launch = t->launch_us >= (memory ? t->memory_us : core_us);
  p.bound = launch ? AC_BOUND_LAUNCH : memory ? AC_BOUND_MEMORY : p.busy >= BUSY ? AC_BOUND_UNIT : AC_BOUND_LATENCY;
  double whole = sample && t->blocks_run ? (double)t->blocks_all / (double)t->blocks_run : 1;
  double near = us_at((double)(t->must_in + t->must_out) * whole, t->l2_gb_s),
         far = us_at(t->must_far * whole, t->hbm_gb_s);
  p.roof_us = near > far ? near : far;
  p.roof_far = far >= near;
  p.roof_share = t->us > 0 ? p.roof_us / t->us : 0;
  return p;
}

/* ---- what would help ---- */

static const struct {
  const char *what, *event, *hint;
} hints[] = {
    {"AllocTensor", "V_MTE2", "one more buffer in that queue (InitBuffer) lets loads run further ahead"},
    {"AllocTensor", "MTE3_V",
     "one more buffer in that queue (InitBuffer) lets the vector unit go on while the store runs"},
    {"AllocTensor", "MTE3_MTE2",
     "one more buffer in that queue (InitBuffer) lets the next load run while the store does"},
    {"DeQue", "MTE2_V", "loads are late: fewer bytes, larger pieces, or one more buffer so that they start earlier"},
    {"DeQue", "V_MTE3", "stores wait for results: less vector work a byte, or smaller tiles at the end"},
    {"DeQue", "MTE2_MTE3", "stores wait for loads: one more buffer so that loads start earlier"},
    {"WaitFlag", "", "set the flag earlier, or give the two sides buffers of their own"},
    {"PipeBarrier", "PIPE_ALL", "wait for the one unit that is needed (an event) in place of all"},
    {"PipeBarrier", "PIPE_V",
     "put instructions that do not depend on each other between the two, or work on more elements a call"},
    {"dependent", "",
     "put instructions that do not depend on each other between the two, or work on more elements a call"},
    {"GetValue", "",
     "keep the value in a tensor (Brcb, Duplicate of a tensor's element) in place of reading it back"},
    {"SetValue", "", "write the value with a vector instruction (Duplicate, CreateVecIndex)"},
    {"SyncAll", "", "even out the work of the blocks, or join them less often"},
    {"issue", "queue full", NULL}, /* the scalar unit is ahead: no loss */
    {"issue", "", "the scalar unit is the slow one: fewer calls that do more each"},
};
const char *ac_stall_hint(const ac_sim_stall *s) {
  for (size_t i = 0; i < AC_COUNT(hints); i++)
    if (!strcmp(s->what, hints[i].what) && (!*hints[i].event || !strcmp(s->event, hints[i].event)))
      return hints[i].hint;
  return NULL;
}

/* Which stalls cost time? The scalar unit waits for others all the while; where that matters, another unit waits for it. Where one unit
 * holds the run up, what counts is what keeps that one waiting: the others wait for it by nature. */
static bool shown(const ac_profile *p, const ac_sim_stall *s) {
  if (s->pipe == AC_PIPE_S) return false;
  return p->bound != AC_BOUND_UNIT || p->unit == AC_PIPE_S || s->pipe == p->unit;
}

/* ---- as text ---- */

static const char *const unit_work[AC_PIPE_COUNT] = {
    "handing out instructions", "vector instructions", "cube",   "L1 to L0",
    "global memory to UB",      "UB to global memory", "L0C out"};

static void bytes_text(ac_buf *b, int64_t n) {
  if (n < 10000)
    ac_printf(b, "%lld bytes", (long long)n);
  else if (n < 10000000)
    ac_printf(b, "%.4g KB", (double)n / 1e3);
  else
    ac_printf(b, "%.4g MB", (double)n / 1e6);
}

static void bound_text(ac_buf *b, const ac_profile *p, const ac_sim_time *t) {
  switch (p->bound) {
  case AC_BOUND_LAUNCH:
    ac_printf(b, "the launch: its overhead of %.3g us is more than the work\n", t->launch_us);
    return;
  case AC_BOUND_MEMORY:
    ac_printf(b, "the memory that the cores share: %.3g us at %.0f GB/s (%s), where the cores alone take %.3g us\n",
              t->memory_us, t->resident ? t->l2_gb_s : t->hbm_gb_s, t->resident ? "L2" : "memory",
              t->core_cycles / t->mhz);
    return;
  case AC_BOUND_UNIT: {
    bool copy = p->unit == AC_PIPE_MTE2 || p->unit == AC_PIPE_MTE3;
    ac_printf(b, "%s (%s), which is busy %.0f%% of the time%s\n", ac_unit_name(p->unit), unit_work[p->unit],
              100 * p->busy, copy ? " at its share of the memory's bandwidth" : "");
    return;
  }
  case AC_BOUND_LATENCY:
    ac_printf(b,
              "latency: no unit is busy more than %.0f%% of the time (%s is the busiest); they wait for each other\n",
              100 * p->busy, ac_unit_name(p->unit));
    return;
  }
}

static void units_text(ac_buf *b, const ac_profile *p) {
  ac_puts(b, "unit     busy (mean of cores)     busiest core   work\n");
  for (int u = 0; u < AC_PIPE_COUNT; u++) {
    if (p->most[u] <= 0) continue;
    char bar[21];
    int n = (int)(p->share[u] * 20 + 0.5);
    if (n > 20) n = 20;
    memset(bar, '#', (size_t)n);
    memset(bar + n, '.', (size_t)(20 - n));
    bar[20] = 0;
    ac_printf(b, "%-8s %4.0f%% %s %4.0f%%          %s\n", ac_unit_name((ac_pipe)u), 100 * p->share[u], bar,
              100 * p->most[u], unit_work[u]);
  }
}

static void place_text(ac_buf *b, const char *file, int line) {
  if (file) ac_printf(b, " (%s:%d)", ac_basename(file), line);
}

static void stall_text(ac_buf *b, const ac_sim_stall *s, double all) {
  ac_printf(b, "%5.1f%%  %s stands %.0f cycles, %lld times: ", all > 0 ? 100 * s->cycles / all : 0,
            ac_unit_name(s->pipe), s->cycles, (long long)s->count);
  if (!strcmp(s->what, "issue"))
    ac_puts(b, "the scalar unit has not come to its next instruction");
  else if (!strcmp(s->what, "dependent"))
    ac_puts(b, "its next instruction needs a result");
  else
    ac_printf(b, "%s%s%s%s", s->what, *s->event ? " <" : "", s->event, *s->event ? ">" : "");
  place_text(b, s->file, s->line);
  if (*s->from_op) {
    ac_printf(b, " waits for %s on %s", s->from_op, ac_unit_name(s->from));
    place_text(b, s->from_file, s->from_line);
  }
  const char *hint = ac_stall_hint(s);
  ac_puts(b, "\n");
  if (hint) ac_printf(b, "        %s\n", hint);
}

static void stalls_text(ac_buf *b, const ac_profile *p, const ac_sim_time *t) {
  double all = t->core_cycles * (double)t->cores.len;
  int n = 0;
  for (size_t i = 0; i < t->stalls.len && n < SHOWN_STALLS; i++) {
    if (!shown(p, &t->stalls.data[i])) continue;
    if (!n++)
      ac_printf(b, "longest stalls%s%s (share of the cores' time; summed over the cores):\n",
                p->bound == AC_BOUND_UNIT ? " of the busiest unit, " : "",
                p->bound == AC_BOUND_UNIT ? ac_unit_name(p->unit) : "");
    stall_text(b, &t->stalls.data[i], all);
  }
}

static void profile_text(ac_buf *b, const ac_target *x, const ac_sim_time *t) {
  ac_profile p = ac_profile_of(t);
  ac_printf(b, "profile of %s on %s: MODELLED from data/chips, not measured on a device\n\n", x->name, x->chip->name);
  ac_printf(
      b,
      "time     %.4g us modelled: %.4g us of work (%.0f cycles at %.0f MHz), %.3g us of overhead for %d launch%s\n",
      t->us, t->us - t->launch_us, t->cycles, t->mhz, t->launch_us, t->launches, t->launches == 1 ? "" : "es");
  const ac_cost_error *e = &x->chip->costs->error;
  if (e->kernels)
    ac_printf(b,
              "         model error on kernels that were not fitted: median %.0f%%, 90th percentile %.0f%%, on %d "
              "vendor kernels (%d launches)\n",
              e->median, e->p90, e->kernels, e->rows);
  ac_printf(b, "cores    %zu of %d; the slowest takes %.0f cycles, the fastest %.0f; %lld blocks", t->cores.len,
            x->chip->vector_cores, p.slowest, p.fastest, (long long)t->blocks_all);
  if (t->blocks_run < t->blocks_all) ac_printf(b, ", of which %lld ran and stand for all", (long long)t->blocks_run);
  ac_puts(b, "\nbound    ");
  bound_text(b, &p, t);
  if (t->cores.len < (size_t)x->chip->vector_cores)
    ac_printf(b, "         %d cores have nothing to do: more blocks would share the work\n",
              x->chip->vector_cores - (int)t->cores.len);
  ac_printf(b, "bytes    %s", t->blocks_run < t->blocks_all ? "of the blocks that ran: " : "");
  bytes_text(b, t->bytes_in);
  ac_puts(b, " loaded, ");
  bytes_text(b, t->bytes_out);
  ac_puts(b, " stored; must move once: ");
  bytes_text(b, t->must_in);
  ac_puts(b, " in, ");
  bytes_text(b, t->must_out);
  ac_puts(b, " out\n");
  ac_printf(b, "roofline %.0f%%: what must move takes %.4g us at %.0f GB/s (%s)\n\n", 100 * p.roof_share, p.roof_us,
            p.roof_far ? t->hbm_gb_s : t->l2_gb_s, p.roof_far ? "memory" : "L2");
  units_text(b, &p);
  ac_puts(b, "\n");
  stalls_text(b, &p, t);
}

/* ---- as JSON ---- */

static json_t *profile_json(const ac_target *x, const ac_sim_time *t) {
  static const char *const bounds[] = {"launch", "memory", "unit", "latency"};
  ac_profile p = ac_profile_of(t);
  json_t *j = ac_time_json(t), *units = json_object();
  for (int u = 0; u < AC_PIPE_COUNT; u++)
    if (p.most[u] > 0)
      json_object_set_new(units, ac_unit_name((ac_pipe)u),
                          json_pack("{s:f, s:f}", "busy", p.share[u], "busiest_core", p.most[u]));
  json_object_update_new(j, json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:o}", "operator", x->name, "chip",
                                      x->chip->name, "bound", bounds[p.bound], "busiest_unit", ac_unit_name(p.unit),
                                      "roofline_us", p.roof_us, "roofline_share", p.roof_share, "units", units));
  const ac_cost_error *e = &x->chip->costs->error;
  if (e->kernels)
    json_object_set_new(j, "model_error",
                        json_pack("{s:f, s:f, s:i, s:i}", "median_percent", e->median, "p90_percent", e->p90,
                                  "kernels", e->kernels, "rows", e->rows));
  json_t *stalls = json_object_get(j, "stalls");
  for (size_t i = 0; i < t->stalls.len; i++) {
    const char *hint = ac_stall_hint(&t->stalls.data[i]);
    if (hint) json_object_set_new(json_array_get(stalls, i), "hint", json_string(hint));
  }
  return j;
}

/* ---- the run ---- */

static bool files(const ac_profile_options *p, const char *name, const ac_sim_time *t, ac_buf *text, ac_diags *d) {
  if (p->trace && !ac_profile_trace(p->trace, name, t, d)) return false;
  if (p->plot && !ac_profile_plot(p->plot, name, t, d)) return false;
  if (p->trace)
    ac_printf(text, "\n%s: %zu instructions and waits%s; open it in ui.perfetto.dev or chrome://tracing\n", p->trace,
              t->spans.len, t->spans_dropped ? " (there were more: --trace-blocks, --trace-spans)" : "");
  if (p->plot) ac_printf(text, "%s%s: the first cores' units over time\n", p->trace ? "" : "\n", p->plot);
  return true;
}

int ac_profile_target(ac_arena *a, const ac_target *t, const ac_run_options *o, const ac_profile_options *p,
                      ac_buf *text, json_t *result, ac_diags *d) {
  ac_sim_result r = {0};
  ac_sim_opts opts = ac_target_opts(o);
  if (p->trace || p->plot) {
    opts.trace_blocks = p->trace_blocks ? p->trace_blocks : DEFAULT_BLOCKS;
    opts.trace_spans = p->trace_spans ? p->trace_spans : DEFAULT_SPANS;
  }
  if (!ac_target_run(a, t, &opts, &r, d)) return AC_EXIT_FAILED;
  if (r.refused) {
    ac_printf(text, "refused by the tiling code: %s\n", r.refused);
    return AC_EXIT_BAD_INPUT;
  }
  if (!r.time.modelled) {
    ac_puts(text, "nothing ran: no time to model\n");
    return r.faults.len ? AC_EXIT_FAILED : AC_EXIT_OK;
  }
  profile_text(text, t, &r.time);
  json_object_set_new(result, "profile", profile_json(t, &r.time));
  if (!files(p, t->name, &r.time, text, d)) return AC_EXIT_BAD_INPUT;
  if (r.faults.len) /* times of a kernel that a device would not run say little */
    ac_printf(text, "\n%zu faults: `ascendcraft run` shows them\n", r.faults.len);
  return r.faults.len ? AC_EXIT_FAILED : AC_EXIT_OK;
}

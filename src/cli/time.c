/* Modelled time of a run as JSON, and in one line. */
#include "cli/cli.h"
#include "sim/sim.h"

#include <string.h>

const char *ac_unit_name(ac_pipe p) {
  static const char *const names[AC_PIPE_COUNT] = {"scalar", "vector", "cube", "MTE1", "MTE2", "MTE3", "fix"};
  return (unsigned)p < AC_PIPE_COUNT ? names[p] : "?";
}

/* Two figures are enough for what is modelled. */
void ac_time_line(ac_buf *b, const ac_sim_time *t) {
  if (!t->modelled) return;
  ac_printf(b, "time (modelled, not measured): %.3g us (%.0f cycles at %.0f MHz, and %.3g us for %d launch%s)\n",
            t->us, t->cycles, t->mhz, t->launch_us, t->launches, t->launches == 1 ? "" : "es");
}

static json_t *stalls_json(const ac_sim_time *t) {
  json_t *all = json_array();
  for (size_t i = 0; i < t->stalls.len; i++) {
    const ac_sim_stall *s = &t->stalls.data[i];
    json_t *x = json_pack("{s:s, s:s, s:s, s:s?, s:i, s:s, s:s, s:s?, s:i, s:f, s:I}", "unit", ac_unit_name(s->pipe),
                          "at", s->what, "edge", s->event, "file", s->file, "line", s->line, "for",
                          ac_unit_name(s->from), "for_op", s->from_op, "for_file", s->from_file, "for_line",
                          s->from_line, "cycles", s->cycles, "count", (json_int_t)s->count);
    json_array_append_new(all, x);
  }
  return all;
}

static json_t *cores_json(const ac_sim_time *t) {
  json_t *all = json_array();
  for (size_t i = 0; i < t->cores.len; i++) {
    const ac_sim_core_time *c = &t->cores.data[i];
    json_t *busy = json_object();
    for (int p = 0; p < AC_PIPE_COUNT; p++)
      if (c->busy[p] > 0) json_object_set_new(busy, ac_unit_name((ac_pipe)p), json_real(c->busy[p]));
    json_array_append_new(
        all, json_pack("{s:f, s:I, s:o}", "cycles", c->cycles, "blocks", (json_int_t)c->blocks, "busy", busy));
  }
  return all;
}

json_t *ac_time_json(const ac_sim_time *t) {
  if (!t->modelled) return json_null();
  return json_pack(
      "{s:s, s:f, s:f, s:f, s:f, s:i, s:f, s:f, s:b, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:I, s:I, s:o, s:o}", "class",
      "modelled", "us", t->us, "cycles", t->cycles, "mhz", t->mhz, "launch_us", t->launch_us, "launches", t->launches,
      "core_cycles", t->core_cycles, "memory_us", t->memory_us, "in_l2", (int)t->resident, "bytes_in",
      (json_int_t)t->bytes_in, "bytes_out", (json_int_t)t->bytes_out, "must_in", (json_int_t)t->must_in, "must_out",
      (json_int_t)t->must_out, "hbm_bytes", (json_int_t)t->hbm_bytes, "hbm_gb_s", t->hbm_gb_s, "l2_gb_s", t->l2_gb_s,
      "blocks_run", (json_int_t)t->blocks_run, "blocks", (json_int_t)t->blocks_all, "cores", cores_json(t), "stalls",
      stalls_json(t));
}

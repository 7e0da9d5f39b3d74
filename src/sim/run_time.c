/* Modelled time on its way from the child to the caller. */
#include "sim/run_internal.h"

#include <stdio.h>
#include <string.h>

#define COPY(to, from) snprintf(to, sizeof(to), "%s", (from) ? (from) : "")

/* ---- a trace ---- */

static size_t trace_bytes(int64_t cap) {
  return sizeof(ac_run_trace) + (size_t)cap * sizeof(ac_run_span);
}

ac_run_trace *ac_run_trace_new(const ac_sim_opts *o) {
  enum { MOST = 4 << 20 };
  int64_t cap = o->trace_spans < MOST ? o->trace_spans : MOST;
  if (o->trace_blocks <= 0 || cap <= 0) return NULL;
  ac_run_trace *t = ac_sim_alloc((int64_t)trace_bytes(cap));
  if (!t) return NULL;
  t->cap = cap;
  t->n_text = 1;
  return t;
}
void ac_run_trace_free(ac_run_trace *t) {
  if (t) ac_sim_dealloc(t, (int64_t)trace_bytes(t->cap));
}

/* The same pointer is the same text: names of instructions and files are literals. */
typedef struct {
  const char *p;
  uint32_t at;
} known_text;
static uint32_t put_text(ac_run_trace *t, known_text *known, size_t n, const char *s) {
  if (!s || !*s) return 0;
  known_text *k = &known[((uintptr_t)s >> 2) % n];
  if (k->p == s) return k->at;
  size_t len = strlen(s) + 1;
  if (len > AC_RUN_TEXT - t->n_text) return 0;
  memcpy(t->text + t->n_text, s, len);
  *k = (known_text){s, t->n_text};
  t->n_text += (uint32_t)len;
  return k->at;
}

static void put_trace(ac_run_trace *t, const ac_sim_time *from) {
  known_text known[256] = {{0}};
  for (size_t i = 0; i < from->spans.len && t->n < t->cap; i++) {
    const ac_sim_span *x = &from->spans.data[i];
    t->spans[t->n++] = (ac_run_span){.start = x->start,
                                     .end = x->end,
                                     .from = x->from,
                                     .block = x->block,
                                     .op = put_text(t, known, 256, x->op),
                                     .file = put_text(t, known, 256, x->file),
                                     .edge = put_text(t, known, 256, x->edge),
                                     .line = x->line,
                                     .core = x->core,
                                     .pipe = (uint8_t)x->pipe,
                                     .wait = x->wait};
  }
}

void ac_run_time_put(ac_run_time *to, ac_run_trace *trace, const acsim_session *s) {
  ac_arena *a = ac_arena_new();
  ac_sim_time t;
  acsim_time_result(s, a, &t);
  to->sum = t;
  to->n_cores = (int32_t)(t.cores.len < AC_RUN_CORES ? t.cores.len : AC_RUN_CORES);
  if (to->n_cores) memcpy(to->cores, t.cores.data, (size_t)to->n_cores * sizeof *to->cores);
  to->n_stalls = (int32_t)(t.stalls.len < AC_RUN_STALLS ? t.stalls.len : AC_RUN_STALLS);
  for (int i = 0; i < to->n_stalls; i++) {
    const ac_sim_stall *x = &t.stalls.data[i];
    ac_run_stall *y = &to->stalls[i];
    y->s = *x;
    COPY(y->what, x->what);
    COPY(y->event, x->event);
    COPY(y->file, x->file);
    COPY(y->from_op, x->from_op);
    COPY(y->from_file, x->from_file);
  }
  if (trace) put_trace(trace, &t);
  ac_arena_free(a);
}

static const char *text(ac_arena *a, const char *s, size_t n) {
  return ac_strndup(a, s, strnlen(s, n));
}

static ac_pipe pipe_of(ac_pipe p) {
  return (unsigned)p < AC_PIPE_COUNT ? p : AC_PIPE_S;
}

static const char *trace_text(ac_arena *a, const ac_run_trace *t, uint32_t at) {
  return at < AC_RUN_TEXT ? text(a, t->text + at, AC_RUN_TEXT - at) : "";
}

/* The child runs foreign code, which may have written anything there. */
static bool number(double x) {
  return x >= 0 && x < 1e18;
}
static bool flag(const bool *b) {
  uint8_t v;
  memcpy(&v, b, 1);
  return v != 0;
}
static bool sane(const ac_sim_time *t) {
  const double all[] = {t->us,        t->cycles,   t->launch_us, t->core_cycles,
                        t->memory_us, t->must_far, t->hbm_gb_s,  t->l2_gb_s};
  for (size_t i = 0; i < AC_COUNT(all); i++)
    if (!number(all[i])) return false;
  return t->mhz > 1 && t->mhz < 1e6;
}

static void take_trace(ac_arena *a, const ac_run_job *j, ac_run_place_fn place, ac_sim_time *to) {
  const ac_run_trace *t = j->trace;
  const char **texts = AC_NEW_N(a, const char *, AC_RUN_TEXT), **files = AC_NEW_N(a, const char *, AC_RUN_TEXT);
  for (int64_t i = 0; i < t->n && i < t->cap; i++) {
    const ac_run_span *x = &t->spans[i];
    if (!number(x->start) || !number(x->end)) return;
    uint32_t at[] = {x->op % AC_RUN_TEXT, x->edge % AC_RUN_TEXT, x->file % AC_RUN_TEXT};
    for (int k = 0; k < 2; k++)
      if (!texts[at[k]]) texts[at[k]] = trace_text(a, t, at[k]);
    if (!files[at[2]] && at[2]) files[at[2]] = place(a, j->lib, trace_text(a, t, at[2]));
    ac_push(a, &to->spans,
            ((ac_sim_span){.op = texts[at[0]],
                           .file = files[at[2]],
                           .line = x->line,
                           .pipe = pipe_of((ac_pipe)x->pipe),
                           .wait = x->wait != 0,
                           .core = x->core,
                           .block = x->block,
                           .start = x->start,
                           .end = x->end,
                           .from = x->from >= 0 && x->from < t->n ? x->from : -1,
                           .edge = texts[at[1]]}));
  }
}

void ac_run_time_take(ac_arena *a, const ac_run_job *j, ac_run_place_fn place, ac_sim_time *t) {
  const ac_run_time *o = &j->out->time;
  memset(t, 0, sizeof *t);
  if (!flag(&o->sum.modelled) || !sane(&o->sum)) return;
  bool resident = flag(&o->sum.resident);
  memcpy(t, &o->sum, sizeof *t);
  t->modelled = true;
  t->resident = resident;
  memset(&t->cores, 0, sizeof t->cores);
  memset(&t->stalls, 0, sizeof t->stalls);
  memset(&t->spans, 0, sizeof t->spans);
  for (int32_t i = 0; i < o->n_cores && i < AC_RUN_CORES; i++) ac_push(a, &t->cores, o->cores[i]);
  for (int32_t i = 0; i < o->n_stalls && i < AC_RUN_STALLS; i++) {
    const ac_run_stall *y = &o->stalls[i];
    ac_sim_stall x = y->s;
    x.pipe = pipe_of(x.pipe);
    x.from = pipe_of(x.from);
    x.what = text(a, y->what, sizeof y->what);
    x.event = text(a, y->event, sizeof y->event);
    x.file = place(a, j->lib, text(a, y->file, sizeof y->file));
    x.from_op = text(a, y->from_op, sizeof y->from_op);
    x.from_file = place(a, j->lib, text(a, y->from_file, sizeof y->from_file));
    ac_push(a, &t->stalls, x);
  }
  if (j->trace) take_trace(a, j, place, t);
}

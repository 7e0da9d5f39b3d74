/* Modelled time on its way from the child to the caller. */
#include "sim/run_internal.h"

#include <stdio.h>
#include <string.h>

#define COPY(to, from) snprintf(to, sizeof(to), "%s", (from) ? (from) : "")

void ac_run_time_put(ac_run_time *to, const acsim_session *s) {
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
  ac_arena_free(a);
}

static const char *text(ac_arena *a, const char *s, size_t n) {
  return ac_strndup(a, s, strnlen(s, n));
}

static ac_pipe pipe_of(ac_pipe p) {
  return (unsigned)p < AC_PIPE_COUNT ? p : AC_PIPE_S;
}

void ac_run_time_take(ac_arena *a, const ac_run_job *j, ac_run_place_fn place, ac_sim_time *t) {
  const ac_run_time *o = &j->out->time;
  *t = o->sum;
  memset(&t->cores, 0, sizeof t->cores);
  memset(&t->stalls, 0, sizeof t->stalls);
  if (!t->modelled) return;
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
}

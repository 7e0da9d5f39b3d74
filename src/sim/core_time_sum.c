/* From blocks to a launch: blocks on cores, the memory that cores share, and what all launches of a session took. */
#include "sim/core_time_internal.h"

#include <stdlib.h>
#include <string.h>

void acsim_time_open(acsim_session *s) {
  if (s->cfg.no_time || !s->chip || !s->chip->costs || !(s->chip->mhz > 0)) return;
  acsim_times *t = AC_NEW(s->arena, acsim_times);
  t->c = s->chip->costs;
  t->mhz = s->chip->mhz;
  t->all_resident = true;
  for (int op = 0; op < ACSIM_OPS; op++) t->rows[op] = ac_cost_of(t->c, acsim_op_names[op]);
  size_t cores = (size_t)s->chip->vector_cores;
  t->of_core = AC_NEW_N(s->arena, time_block, cores);
  t->blocks_of_core = AC_NEW_N(s->arena, int64_t, cores);
  s->times = t;
}

void acsim_time_close(acsim_session *s) {
  if (!s->times) return;
  for (size_t i = 0; i < s->gms.len; i++)
    for (int w = 0; w < 2; w++) {
      free(s->gms.data[i]->lines[w]);
      free(s->gms.data[i]->seen[w]);
    }
  free(s->times->stalls.data);
}

static int64_t words_of(const acsim_session *s, const acsim_gm *g) {
  int64_t line = s->times->c->line;
  return ((g->b.bytes + line - 1) / line + 63) / 64;
}

void acsim_time_buffer(acsim_session *s, acsim_gm *g) {
  g->id = (int)s->gms.len;
  if (!s->times || !g->b.bytes) return;
  for (int w = 0; w < 2; w++) {
    g->lines[w] = calloc((size_t)words_of(s, g), 8);
    g->seen[w] = calloc((size_t)words_of(s, g), 8);
    if (!g->lines[w] || !g->seen[w]) ac_no_memory("the model of time");
  }
}

/* ---- before the blocks ---- */

/* Ticks a byte for one of `cores` that share `gb` GB/s, and that alone moves `own` bytes a cycle. */
static double rate(const acsim_times *t, double gb, double own) {
  double part = gb * 1e3 / t->mhz / t->cores * t->c->share;
  return ACSIM_TICKS / (part < own ? part : own);
}

void acsim_time_launch(acsim_session *s) {
  acsim_times *t = s->times;
  if (!t) return;
  int64_t bytes = 0;
  for (size_t i = 0; i < s->gms.len; i++) bytes += s->gms.data[i]->b.bytes - s->gms.data[i]->b.system;
  double l2 = (double)s->chip->l2;
  t->resident = (double)bytes <= t->c->resident * l2;
  double kept = t->c->carry * l2 / (double)(bytes ? bytes : 1);
  t->miss = t->resident || kept >= 1 ? 0 : 1 - kept;
  double stays = t->c->dirty * l2 / (double)(bytes ? bytes : 1);
  t->spill = t->resident || stays >= 1 ? 0 : 1 - stays;
  int64_t all = s->block_dim * s->ratio;
  t->cores = all < s->chip->vector_cores ? (int)all : s->chip->vector_cores;
  if (t->cores < 1) t->cores = 1;
  t->l2_read = rate(t, t->c->l2_read, t->c->in.bytes_per_cycle);
  t->l2_write = rate(t, t->c->l2_write, t->c->out.bytes_per_cycle);
  t->hbm_read = rate(t, t->c->hbm < t->c->l2_read ? t->c->hbm : t->c->l2_read, t->c->in.bytes_per_cycle);
  t->hbm_write = rate(t, t->c->hbm < t->c->l2_write ? t->c->hbm : t->c->l2_write, t->c->out.bytes_per_cycle);
  t->arrived = t->joined = t->in = t->out = 0;
  t->blocks = calloc((size_t)s->count + 1, sizeof *t->blocks);
  if (!t->blocks) ac_no_memory("the model of time");
}

/* ---- SyncAll ---- */

void acsim_time_arrive(acsim_block *b) {
  acsim_times *t = b->s->times;
  if (b->time && b->time->now > t->arrived) t->arrived = b->time->now;
}
void acsim_time_join(acsim_session *s) {
  acsim_times *t = s->times;
  if (!t) return;
  t->joined = t->arrived + (int64_t)(t->c->sync_all * ACSIM_TICKS);
  t->arrived = 0;
}

/* ---- a block has ended ---- */

void acsim_time_hand_over(acsim_block *b) {
  acsim_time *t = b->time;
  acsim_times *s = b->s->times;
  if (!t) return;
  acsim_time_begin(b);
  time_block *o = &s->blocks[b->rank];
  o->ticks = t->now;
  for (int p = 0; p < AC_PIPE_COUNT; p++) {
    if (t->done[p] > o->ticks) o->ticks = t->done[p];
    o->busy[p] = t->busy[p];
  }
  o->spans = t->spans;
  t->spans = (time_spans){0};
  s->spans_dropped += t->spans_dropped;
  s->in += t->bytes_in;
  s->out += t->bytes_out;
  for (size_t i = 0; i < t->stalls.len; i++) {
    const time_stall *x = &t->stalls.data[i];
    acsim_stall_add(&s->stalls, x->pipe, &x->edge, x->ticks, x->count, 0);
  }
}

/* ---- after the blocks ---- */

/* A block's instructions, from the time on that its core took it. */
static void keep_spans(acsim_session *s, time_block *b, int core, int64_t block, int64_t begin) {
  acsim_times *t = s->times;
  int64_t before = (int64_t)t->spans.len;
  for (size_t i = 0; i < b->spans.len; i++) {
    const time_span *x = &b->spans.data[i];
    if ((int64_t)t->spans.len >= s->cfg.trace_spans) {
      t->spans_dropped += (int64_t)(b->spans.len - i);
      break;
    }
    ac_push(s->arena, &t->spans,
            ((ac_sim_span){.op = x->op,
                           .file = x->at.file,
                           .line = x->at.line,
                           .pipe = (ac_pipe)x->pipe,
                           .wait = x->wait,
                           .core = core,
                           .block = block,
                           .start = (double)(begin + x->start) / ACSIM_TICKS,
                           .end = (double)(begin + x->end) / ACSIM_TICKS,
                           .from = x->from ? before + x->from - 1 : -1,
                           .edge = x->edge}));
  }
  free(b->spans.data);
  b->spans = (time_spans){0};
}

/* Blocks go, in the order of their numbers, to the core that is free first. Blocks that did not run (a sample) are like the mean of
 * those that did. */
static int64_t place_blocks(acsim_session *s) {
  acsim_times *t = s->times;
  int64_t *end = calloc((size_t)t->cores, sizeof *end), last = 0, mean = 0;
  if (!end) ac_no_memory("the model of time");
  for (int64_t i = 0; i < s->count; i++) mean += t->blocks[i].ticks;
  if (s->count) mean /= s->count;
  bool reverse = s->cfg.order == AC_ORDER_REVERSE;
  for (int64_t k = 0; k < s->block_dim * s->ratio; k++) {
    int c = 0;
    for (int i = 1; i < t->cores; i++)
      if (end[i] < end[c]) c = i;
    int64_t index = acsim_position_of(s, k);
    time_block *b = index >= 0 && index < s->count ? &t->blocks[reverse ? s->count - 1 - index : index] : NULL;
    if (b) keep_spans(s, b, c, k, end[c] + (int64_t)(t->us * t->mhz * ACSIM_TICKS));
    end[c] += b ? b->ticks : mean;
    if (end[c] > last) last = end[c];
    if (!b) continue;
    t->of_core[c].ticks += b->ticks;
    t->blocks_of_core[c]++;
    for (int p = 0; p < AC_PIPE_COUNT; p++) t->of_core[c].busy[p] += b->busy[p];
  }
  free(end);
  return last;
}

/* Bytes of the lines that only `a` has (b NULL: all of a); what the last line has beyond the buffer does not count. */
static int64_t line_bytes(const acsim_session *s, const acsim_gm *g, const uint64_t *a, const uint64_t *b) {
  int64_t line = s->times->c->line, n = 0, words = words_of(s, g), last = (g->b.bytes - 1) / line;
  for (int64_t w = 0; w < words; w++) n += __builtin_popcountll(b ? a[w] & ~b[w] : a[w]);
  uint64_t tail = (b ? a[last / 64] & ~b[last / 64] : a[last / 64]) >> last % 64 & 1;
  return n * line - (tail ? (last + 1) * line - g->b.bytes : 0);
}

/* Between L2 and memory: what is read and was not written before, and what is written and does not stay in L2, each line once. */
static double far_bytes(acsim_session *s) {
  int64_t in = 0, out = 0;
  for (size_t i = 0; i < s->gms.len; i++) {
    acsim_gm *g = s->gms.data[i];
    if (!g->lines[0]) continue;
    bool scratch = g->b.kind == ACSIM_WORKSPACE;
    in += line_bytes(s, g, g->lines[0], scratch ? g->lines[1] : NULL);
    out += line_bytes(s, g, g->lines[1], NULL);
    for (int w = 0; w < 2; w++)
      for (int64_t k = 0; k < words_of(s, g); k++) {
        g->seen[w][k] |= g->lines[w][k];
        g->lines[w][k] = 0;
      }
  }
  return (double)in * s->times->miss + (double)out * s->times->spill;
}

static double most(double a, double b) {
  return a > b ? a : b;
}

void acsim_time_launched(acsim_session *s) {
  acsim_times *t = s->times;
  if (!t) return;
  int64_t ticks = place_blocks(s);
  double far = far_bytes(s);
  free(t->blocks);
  t->blocks = NULL;
  double whole = s->count ? (double)(s->block_dim * s->ratio) / (double)s->count : 1; /* of a sample to all */
  double memory = far * whole / t->c->hbm / 1e3;
  memory = most(memory, (double)(t->in + t->out) * whole / t->c->l2 / 1e3);
  memory = most(memory, (double)t->in * whole / t->c->l2_read / 1e3);
  memory = most(memory, (double)t->out * whole / t->c->l2_write / 1e3);
  double core = (double)ticks / ACSIM_TICKS / t->mhz;
  t->launches++;
  t->ticks += ticks;
  t->memory_us += memory;
  double overhead = t->c->launch_us + t->c->core_us * t->cores;
  t->launch_us += overhead;
  t->us += overhead + most(memory, core);
  t->bytes_in += t->in;
  t->bytes_out += t->out;
  t->hbm_bytes += (int64_t)far;
  t->all_resident = t->all_resident && t->resident;
  t->blocks_run += s->count;
  t->blocks_all += s->block_dim * s->ratio;
  if (t->cores > t->n_cores) t->n_cores = t->cores;
}

/* ---- the result ---- */

static int text_order(const char *a, const char *b) {
  return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}
static int by_length(const void *a, const void *b) {
  const ac_sim_stall *x = a, *y = b;
  if (x->cycles != y->cycles) return x->cycles < y->cycles ? 1 : -1;
  int k = text_order(x->file, y->file);
  if (!k) k = (x->line > y->line) - (x->line < y->line);
  if (!k) k = (x->pipe > y->pipe) - (x->pipe < y->pipe);
  if (!k) k = text_order(x->event, y->event);
  return k ? k : (x->from_line > y->from_line) - (x->from_line < y->from_line);
}

static void stalls(const acsim_times *t, ac_arena *a, ac_sim_time *r) {
  for (size_t i = 0; i < t->stalls.len; i++) {
    const time_stall *s = &t->stalls.data[i];
    const acsim_stamp *f = &s->edge.from;
    ac_sim_stall x = {.pipe = s->pipe,
                      .what = s->edge.what,
                      .event = s->edge.event,
                      .file = s->edge.at.file ? ac_strdup(a, s->edge.at.file) : NULL,
                      .line = s->edge.at.line,
                      .from = f->pipe,
                      .from_op = f->op ? f->op : "",
                      .from_file = f->at.file ? ac_strdup(a, f->at.file) : NULL,
                      .from_line = f->at.line,
                      .cycles = (double)s->ticks / ACSIM_TICKS,
                      .count = s->count};
    ac_push(a, &r->stalls, x);
  }
  if (r->stalls.len) qsort(r->stalls.data, r->stalls.len, sizeof *r->stalls.data, by_length);
}

void acsim_time_result(const acsim_session *s, ac_arena *a, ac_sim_time *r) {
  const acsim_times *t = s->times;
  *r = (ac_sim_time){0};
  if (!t || !t->launches) return;
  r->modelled = true;
  r->launches = t->launches;
  r->mhz = t->mhz;
  r->us = t->us;
  r->launch_us = t->launch_us;
  r->cycles = (t->us - r->launch_us) * t->mhz;
  r->core_cycles = (double)t->ticks / ACSIM_TICKS;
  r->memory_us = t->memory_us;
  r->resident = t->all_resident;
  r->bytes_in = t->bytes_in;
  r->bytes_out = t->bytes_out;
  r->hbm_bytes = t->hbm_bytes;
  r->hbm_gb_s = t->c->hbm;
  r->l2_gb_s = t->c->l2;
  r->blocks_run = t->blocks_run;
  r->blocks_all = t->blocks_all;
  for (size_t i = 0; i < s->gms.len; i++) {
    const acsim_gm *g = s->gms.data[i];
    if (!g->seen[0]) continue;
    bool in = g->b.kind == ACSIM_INPUT || g->b.kind == ACSIM_INOUT;
    bool out = g->b.kind == ACSIM_OUTPUT || g->b.kind == ACSIM_INOUT;
    if (in) r->must_in += line_bytes(s, g, g->seen[0], NULL);
    if (out) r->must_out += line_bytes(s, g, g->seen[1], NULL);
  }
  r->must_far = t->all_resident ? 0 : (double)r->must_in + (double)r->must_out * t->spill;
  for (int c = 0; c < t->n_cores; c++) {
    ac_sim_core_time x = {.cycles = (double)t->of_core[c].ticks / ACSIM_TICKS, .blocks = t->blocks_of_core[c]};
    for (int p = 0; p < AC_PIPE_COUNT; p++) x.busy[p] = (double)t->of_core[c].busy[p] / ACSIM_TICKS;
    ac_push(a, &r->cores, x);
  }
  stalls(t, a, r);
  for (size_t i = 0; i < t->spans.len; i++) ac_push(a, &r->spans, t->spans.data[i]);
  r->spans_dropped = t->spans_dropped;
}

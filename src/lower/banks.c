/* The last step of pass "align": the order of buffers in UB, so that the two sources of an instruction lie in different bank groups.
 *
 * UB of NPU architecture 2201 has 16 groups of three banks, in rows of 32 bytes one group behind another. A repeat reads eight rows of
 * each source; a group gives one row a cycle, so two sources whose rows fall into the same groups take turns (asc-devkit docs/zh, "UB bank
 * conflicts"; its Add sample halves its vector time by moving one source on by 256 bytes). They do not meet where their addresses
 * differ by 256 bytes modulo 512. A source and a destination meet in one bank only, and a destination in place meets its source whatever
 * the order is: that is left as it comes.
 *
 * TPipe hands out UB in the order of InitBuffer. So buffers that are read together are coloured with two colours; those of one colour
 * stand together, those of the other behind a gap of 256 bytes; their sizes are rounded to 512 bytes, so that every slot lies alike whatever
 * the shape makes of the size. Only where the sizes have bounds and UB has room for all of it, two slots a queue included, and where more is
 * apart than before: it changes no decision of the tiling code. */
#include "isa/cost.h"
#include "lower/internal.h"

#include <string.h>

enum { MAX_LOOPS = 4, MOST_BUFFERS = 64 }; /* a pipe's buffers: CANN 8.1 kernel_macros.h, QBUF_MAX_LEN */

typedef struct {
  ac_arena *a;
  const ac_akernel *k;
  ac_bank_pairs pairs;
} collector;

static int root(const ac_akernel *k, const ac_atensor *t) {
  int home = k->buffers.data[t->buffer].home;
  return home ? home - 1 : t->buffer;
}

static void pair(collector *c, const ac_aoperand *x, const ac_aoperand *y, int64_t weight) {
  if (!x->tensor || !y->tensor) return;
  int a = root(c->k, x->tensor), b = root(c->k, y->tensor);
  if (a == b || !(ac_ae_equal(x->offset, y->offset) || (!x->offset && !y->offset))) return;
  if (ac_operand_dtype(c->k, x) != ac_operand_dtype(c->k, y)) return;
  for (size_t i = 0; i < c->pairs.len; i++) {
    ac_bank_pair *p = &c->pairs.data[i];
    if ((p->a != a || p->b != b) && (p->a != b || p->b != a)) continue;
    p->weight += weight;
    return;
  }
  ac_bank_pair p = {a, b, weight};
  ac_push(c->a, &c->pairs, p);
}

static void collect(collector *c, const ac_ablock *b, int loops, int calls) {
  for (size_t i = 0; i < b->len; i++) {
    const ac_astmt *s = b->data[i];
    ac_form f = s->kind == AC_AS_INST ? ac_insts[s->inst].form : AC_FORM_FILL;
    int at = f == AC_FORM_BINARY || f == AC_FORM_COMPARE || f == AC_FORM_FMA ? 1 : f == AC_FORM_SELECT ? 2 : 0;
    if (at && at + 1 < s->n_ops) pair(c, &s->ops[at], &s->ops[at + 1], (int64_t)1 << 3 * loops);
    if (s->kind == AC_AS_CALL && calls < 8) collect(c, &c->k->methods.data[s->method].body, loops, calls + 1);
    bool loop = s->kind == AC_AS_FOR || s->kind == AC_AS_WHILE;
    collect(c, &s->body, loops + (loop && loops < MAX_LOOPS), calls);
    collect(c, &s->orelse, loops, calls);
  }
}

ac_bank_pairs ac_lower_bank_pairs(ac_arena *a, const ac_akernel *k) {
  collector c = {.a = a, .k = k};
  collect(&c, &k->methods.data[0].body, 0, 0);
  return c.pairs;
}

/* ---- a layout, of one launch ---- */

typedef struct {
  ac_arena *a;
  const ac_program *p;
  const ac_akernel *k;
  int64_t period; /* bytes from a row of a group to its next */
  int n;
  int *order, n_order; /* buffers in the order of InitBuffer; -1: a gap */
  int *round;          /* by buffer */
  int64_t *at, *bytes; /* of the launch at hand, by buffer: address, bytes of a slot */
  int64_t total;
} layout;

static int slots_of(const layout *y, int b) {
  const ac_abuffer *x = &y->k->buffers.data[b];
  return ac_fixed_slots(x) + (ac_two_slots(x) ? 2 : 0);
}

static void addresses(layout *y) {
  y->total = 0;
  for (int i = 0; i < y->n_order; i++) {
    int b = y->order[i];
    if (b < 0) {
      y->total += y->period / 2;
      continue;
    }
    y->at[b] = y->total;
    y->total += y->bytes[b] * slots_of(y, b);
  }
}

/* At the largest sizes; false: some have no bound, or they do not fit with two slots a queue. */
static bool lay_out(layout *y, const ac_alaunch *l) {
  for (int b = 0; b < y->n; b++)
    if (!y->k->buffers.data[b].home && !ac_launch_bytes(y->a, y->p, l, b, y->round[b], &y->bytes[b])) return false;
  addresses(y);
  return y->total <= ac_chip_ub(y->p->chip, y->k->select);
}

bool ac_lower_bank_apart(int64_t x, int64_t y, int64_t period) {
  int64_t d = (x - y) % period;
  return (d < 0 ? d + period : d) == period / 2;
}

/* What meets: sums of weights, over the slots that are used together. */
static int64_t meetings(const layout *y, const ac_bank_pairs *pairs) {
  int64_t sum = 0;
  for (size_t i = 0; i < pairs->len; i++) {
    int a = pairs->data[i].a, b = pairs->data[i].b;
    for (int s = 0; s < 2; s++) {
      int64_t x = y->at[a] + s % slots_of(y, a) * y->bytes[a], z = y->at[b] + s % slots_of(y, b) * y->bytes[b];
      if (!ac_lower_bank_apart(x, z, y->period)) sum += pairs->data[i].weight;
    }
  }
  return sum;
}

/* ---- a better one ---- */

static void as_they_come(layout *y) {
  y->n_order = 0;
  for (int turn = 0; turn < 2 * y->n; turn++) {
    int b = turn < y->n ? turn : turn - y->n;
    if (!y->k->buffers.data[b].home && y->k->buffers.data[b].first == (turn < y->n)) y->order[y->n_order++] = b;
  }
  for (int b = 0; b < y->n; b++) y->round[b] = y->k->buffers.data[b].round_to;
}

/* 0 or 1, whichever leaves less weight with those that have one; 2: read with nobody. Heaviest pairs first. */
static uint8_t *colours(ac_arena *a, const ac_bank_pairs *pairs, int n) {
  uint8_t *of = AC_NEW_N(a, uint8_t, n + 1);
  bool *done = AC_NEW_N(a, bool, pairs->len + 1);
  memset(of, 2, (size_t)n);
  for (size_t turn = 0; turn < pairs->len; turn++) {
    size_t best = pairs->len;
    for (size_t i = 0; i < pairs->len; i++)
      if (!done[i] && (best == pairs->len || pairs->data[i].weight > pairs->data[best].weight)) best = i;
    done[best] = true;
    int ends[2] = {pairs->data[best].a, pairs->data[best].b};
    for (int e = 0; e < 2; e++) {
      if (of[ends[e]] != 2) continue;
      int64_t with[3] = {0};
      for (size_t i = 0; i < pairs->len; i++) {
        const ac_bank_pair *p = &pairs->data[i];
        if (p->a == ends[e] || p->b == ends[e]) with[of[p->a == ends[e] ? p->b : p->a]] += p->weight;
      }
      of[ends[e]] = with[0] > with[1];
    }
  }
  return of;
}

static bool coloured_order(layout *y, const uint8_t *colour, const ac_alaunch *l) {
  bool *placed = AC_NEW_N(y->a, bool, y->n + 1);
  int left = 0, n = 0;
  int64_t at = 0;
  for (int b = 0; b < y->n; b++) {
    const ac_abuffer *x = &y->k->buffers.data[b];
    bool free = colour[b] < 2 && !x->home && !x->first;
    if (free) y->round[b] = (int)y->period;
    if (!x->home && !ac_launch_bytes(y->a, y->p, l, b, y->round[b], &y->bytes[b])) return false;
    if (x->first && !x->home) y->order[n++] = b, at += y->bytes[b];
    placed[b] = !free;
    left += free;
  }
  int64_t start = at;
  for (int first = -1; left; left--) {
    int next = -1;
    for (int b = 0; b < y->n && next < 0; b++)
      if (!placed[b] && (first < 0 || (at - start) % y->period == (colour[b] ^ first) * (y->period / 2))) next = b;
    if (next < 0) {
      y->order[n++] = -1;
      at += y->period / 2;
      left++;
      continue;
    }
    if (first < 0) first = colour[next];
    placed[next] = true;
    y->order[n++] = next;
    at += y->bytes[next] * slots_of(y, next);
  }
  for (int b = 0; b < y->n; b++) {
    const ac_abuffer *x = &y->k->buffers.data[b];
    if (!x->home && !x->first && colour[b] == 2) y->order[n++] = b;
  }
  y->n_order = n;
  return true;
}

static bool better(layout *was, layout *now, const ac_bank_pairs *pairs) {
  bool gains = false;
  for (size_t i = 0; i < was->p->launches.len; i++) {
    const ac_alaunch *l = was->p->launches.data[i];
    if (was->p->kernels.data[l->kernel] != was->k) continue;
    if (!lay_out(was, l) || !lay_out(now, l)) return false;
    int64_t x = meetings(was, pairs), y = meetings(now, pairs);
    if (y > x) return false;
    gains |= y < x;
  }
  return gains;
}

static layout new_layout(ac_arena *a, const ac_program *p, const ac_akernel *k) {
  int n = (int)k->buffers.len;
  layout y = {.a = a, .p = p, .k = k, .period = (int64_t)p->chip->costs->bank_groups * p->chip->block, .n = n};
  y.order = AC_NEW_N(a, int, 3 * n + 1);
  y.round = AC_NEW_N(a, int, n + 1);
  y.at = AC_NEW_N(a, int64_t, n + 1);
  y.bytes = AC_NEW_N(a, int64_t, n + 1);
  as_they_come(&y);
  return y;
}

/* Buffers in the new order; tenants behind them. Whoever names one by its index gets the new one. */
static void apply(ac_arena *a, ac_akernel *k, const layout *y) {
  int *to = AC_NEW_N(a, int, y->n + 1), gaps = 0;
  ac_akernel now = {0};
  for (int b = 0; b < y->n; b++) to[b] = -1;
  for (int i = 0; i < y->n_order + y->n; i++) {
    int b = i < y->n_order ? y->order[i] : i - y->n_order;
    if (b >= 0 && to[b] >= 0) continue;
    ac_abuffer x = {.name = ac_sprintf(a, "acGap%d", gaps),
                    .buffer = "nothing: the next is 256 bytes on, in other bank groups",
                    .mem = AC_MEM_VECCALC,
                    .dtype = AC_U8,
                    .depth = 1,
                    .elements = ac_ae_int(a, y->period / 2),
                    .round_to = (int)y->period / 2,
                    .loc = k->loc};
    if (b >= 0) {
      x = k->buffers.data[b];
      x.round_to = y->round[b];
      to[b] = (int)now.buffers.len;
    } else
      gaps++;
    ac_push(a, &now.buffers, x);
  }
  for (size_t i = 0; i < now.buffers.len; i++)
    if (now.buffers.data[i].home) now.buffers.data[i].home = to[now.buffers.data[i].home - 1] + 1;
  for (size_t i = 0; i < k->handles.len; i++) k->handles.data[i]->buffer = to[k->handles.data[i]->buffer];
  k->buffers = now.buffers;
}

static const ac_alaunch *launch_of(const ac_program *p, const ac_akernel *k) {
  for (size_t i = 0; i < p->launches.len; i++)
    if (p->kernels.data[p->launches.data[i]->kernel] == k) return p->launches.data[i];
  return NULL;
}

void ac_lower_banks(ac_lower_ctx *c, ac_akernel *k) {
  ac_bank_pairs pairs = ac_lower_bank_pairs(c->a, k);
  const ac_alaunch *l = launch_of(c->p, k);
  if (!pairs.len || pairs.len > MOST_BUFFERS || k->buffers.len > MOST_BUFFERS || !l || !c->p->chip->costs) return;
  layout was = new_layout(c->a, c->p, k), now = new_layout(c->a, c->p, k);
  if (!lay_out(&was, l)) return;
  int slots = 0, gaps = 0;
  if (!coloured_order(&now, colours(c->a, &pairs, now.n), l)) return;
  for (int i = 0; i < now.n_order; i++) {
    gaps += now.order[i] < 0;
    slots += now.order[i] < 0 ? 1 : k->buffers.data[now.order[i]].depth;
  }
  if (gaps > now.n || slots > MOST_BUFFERS || !better(&was, &now, &pairs)) return;
  apply(c->a, k, &now);
}

/* Pass "sync": flags for what queues do not order.
 *
 *   scalar read of UB        V_S before it. A queue's DeQue made the vector unit wait for the copy, so V_S covers that too.
 *   element-wise copy        V_S before (the slot's last reader), S_V after; MTE3_S and S_MTE3 where the slot goes straight out
 *   TBuf touched by copies   V_MTE2 before a load, MTE2_V after; V_MTE3 before a store, MTE3_V after
 *   tensor loaded and stored MTE3_MTE2 before a load, MTE2_MTE3 before a store: a later load sees what an earlier store wrote
 *   scalar read of a stored tensor   MTE3_S before it
 *   sync_all                 PipeBarrier<PIPE_ALL> before it: all stores have left
 *
 * Vector after vector needs no PipeBarrier<PIPE_V>: the vendor compiler inserts it (automatic synchronisation is on by default and
 * covers that pair; research: asc-devkit docs). Flags are set and awaited on the spot, so every path is right. */
#include "lower/internal.h"

typedef struct {
  ac_arena *a;
  ac_akernel *k;
} syncer;

static void flag(syncer *y, ac_ablock *out, ac_event e, ac_loc loc) {
  ac_astmt *last = out->len ? out->data[out->len - 1] : NULL;
  if (last && last->kind == AC_AS_FLAG && last->event == e) return;
  ac_astmt *s = ac_as_new(y->a, AC_AS_FLAG, loc);
  s->event = e;
  ac_push(y->a, out, s);
}

static void copy(syncer *y, ac_astmt *s, ac_ablock *out) {
  ac_acopy *c = s->copy;
  bool both = y->k->gms.data[c->gm].in && y->k->gms.data[c->gm].out;
  bool own = y->k->buffers.data[c->ub->buffer].sync;
  if (both) flag(y, out, c->to_ub ? AC_EV_MTE3_MTE2 : AC_EV_MTE2_MTE3, s->loc);
  if (c->by_element) {
    bool through =
        y->k->buffers.data[c->ub->buffer].mem == AC_MEM_BIND; /* no vector unit between scalar unit and MTE3 */
    if (!through) flag(y, out, AC_EV_V_S, s->loc);
    if (both || own || through) flag(y, out, AC_EV_MTE3_S, s->loc);
    ac_push(y->a, out, s);
    flag(y, out, through ? AC_EV_S_MTE3 : AC_EV_S_V, s->loc);
    return;
  }
  /* the vector unit stands between two copies of such a buffer: it awaits each, and the next awaits it */
  if (own) flag(y, out, c->to_ub ? AC_EV_V_MTE2 : AC_EV_V_MTE3, s->loc);
  ac_push(y->a, out, s);
  if (own) flag(y, out, c->to_ub ? AC_EV_MTE2_V : AC_EV_MTE3_V, s->loc);
}

static void block(syncer *y, ac_ablock *b) {
  ac_ablock out = {0};
  for (size_t i = 0; i < b->len; i++) {
    ac_astmt *s = b->data[i];
    block(y, &s->body);
    block(y, &s->orelse);
    if (s->kind == AC_AS_COPY) {
      copy(y, s, &out);
      continue;
    }
    if (s->kind == AC_AS_GETVALUE && s->n_ops) flag(y, &out, AC_EV_V_S, s->loc);
    if (s->kind == AC_AS_GETVALUE && !s->n_ops && y->k->gms.data[s->gm].out) flag(y, &out, AC_EV_MTE3_S, s->loc);
    if (s->kind == AC_AS_SYNC_ALL) {
      ac_astmt *n = ac_as_new(y->a, AC_AS_BARRIER, s->loc);
      ac_push(y->a, &out, n);
    }
    ac_push(y->a, &out, s);
  }
  *b = out;
}

bool ac_lower_sync(ac_lower_ctx *c) {
  for (size_t i = 0; i < c->p->kernels.len; i++) {
    syncer y = {.a = c->a, .k = c->p->kernels.data[i]};
    for (size_t m = 0; m < y.k->methods.len; m++) block(&y, &y.k->methods.data[m].body);
  }
  return true;
}

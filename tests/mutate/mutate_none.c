/* Which faults are none: what is said here is decided from the program, not from the run that noticed nothing. */
#include "mutate.h"

#include <string.h>

/* ---- two buffers in one place: do their lives meet? ---- */

typedef struct {
  const ac_akernel *k;
  int a, b;    /* buffers */
  bool has[3]; /* who may have written last: a, b, somebody or nobody */
  bool meet;
  bool once; /* every loop has a trip */
} lives;
enum { NOBODY = 2 };

static void reads(lives *l, const ac_atensor *t) {
  if (!t || (t->buffer != l->a && t->buffer != l->b)) return;
  if (l->has[t->buffer == l->a ? 1 : 0]) l->meet = true; /* the other one's bytes may lie here */
}
static void writes(lives *l, const ac_atensor *t) {
  if (!t || (t->buffer != l->a && t->buffer != l->b)) return;
  memset(l->has, 0, sizeof l->has);
  l->has[t->buffer == l->a ? 0 : 1] = true;
}

static void walk(lives *l, const ac_ablock *b, int depth);

static void join(bool *to, const bool *from) {
  for (int i = 0; i < 3; i++) to[i] |= from[i];
}

static void walk_statement(lives *l, const ac_astmt *s, int depth) {
  bool before[3];
  memcpy(before, l->has, sizeof before);
  switch (s->kind) {
  case AC_AS_INST: {
    bool reduce = ac_insts[s->inst].form == AC_FORM_REDUCE,
         idle = s->inst == AC_I_RSUM; /* its work tensor is not touched */
    for (int i = 1; i < s->n_ops; i++)
      if (!(reduce && i == 2)) reads(l, s->ops[i].tensor);
    if (ac_insts[s->inst].flags & AC_INST_DST_IN) reads(l, s->ops[0].tensor);
    /* a reduction writes its work tensor while it reads its source */
    if (reduce && !idle && s->ops[1].tensor && s->ops[2].tensor) {
      int x = s->ops[1].tensor->buffer, y = s->ops[2].tensor->buffer;
      l->meet |= (x == l->a && y == l->b) || (x == l->b && y == l->a);
    }
    if (reduce && !idle && s->n_ops > 2) writes(l, s->ops[2].tensor);
    /* two operands in one place */
    for (int i = 0; i < s->n_ops; i++)
      for (int j = 0; j < i; j++)
        if (s->ops[i].tensor && s->ops[j].tensor && s->ops[i].tensor->buffer != s->ops[j].tensor->buffer &&
            (s->ops[i].tensor->buffer == l->a || s->ops[i].tensor->buffer == l->b) &&
            (s->ops[j].tensor->buffer == l->a || s->ops[j].tensor->buffer == l->b) && i && j &&
            !(reduce && (i == 2 || j == 2)))
          l->meet = true;
    writes(l, s->ops[0].tensor);
    return;
  }
  case AC_AS_COPY:
    if (s->copy->to_ub)
      writes(l, s->copy->ub);
    else
      reads(l, s->copy->ub);
    return;
  case AC_AS_GETVALUE: reads(l, s->n_ops ? s->ops[0].tensor : NULL); return;
  case AC_AS_CALL:
    if (depth < 8) walk(l, &l->k->methods.data[s->method].body, depth + 1);
    return;
  case AC_AS_FOR:
  case AC_AS_WHILE:
    for (int i = 0; i < 2; i++) {
      walk(l, &s->body, depth);
      if (!l->once) join(l->has, before);
    }
    return;
  case AC_AS_IF: {
    bool side[3];
    walk(l, &s->body, depth);
    memcpy(side, l->has, sizeof side);
    memcpy(l->has, before, sizeof before);
    walk(l, &s->orelse, depth);
    join(l->has, side);
    return;
  }
  default: return;
  }
}
static void walk(lives *l, const ac_ablock *b, int depth) {
  for (size_t i = 0; i < b->len; i++) walk_statement(l, b->data[i], depth);
}

static bool lives_meet(const ac_akernel *k, int a, int b, bool once) {
  lives l = {.k = k, .a = a, .b = b, .once = once};
  l.has[NOBODY] = true;
  walk(&l, &k->methods.data[0].body, 0);
  return l.meet;
}

/* ---- half a buffer: does anything need more? ---- */

typedef struct {
  int buffer;
  bool more;    /* something may reach beyond the first block */
  bool touched; /* something else than a sum, which leaves its work tensor alone on the chip */
} need;
static void needs(void *user, const ac_astmt *s) {
  need *n = user;
  for (int i = 0; i < s->n_ops; i++) {
    if (!s->ops[i].tensor || s->ops[i].tensor->buffer != n->buffer) continue;
    bool reduce = s->kind == AC_AS_INST && ac_insts[s->inst].form == AC_FORM_REDUCE;
    bool one = (reduce && i == 0) || s->kind == AC_AS_GETVALUE ||
               (s->count && s->count->kind == AC_AE_INT && s->count->i <= 8);
    if (!one) n->more = true;
    if (!(reduce && i == 2 && s->inst == AC_I_RSUM)) n->touched = true;
  }
  if (s->copy && s->copy->ub->buffer == n->buffer &&
      !(s->copy->cols && s->copy->cols->kind == AC_AE_INT && s->copy->cols->i <= 8))
    n->more = n->touched = true;
}
static void each(const ac_ablock *b, void (*f)(void *, const ac_astmt *), void *user) {
  for (size_t i = 0; i < b->len; i++) {
    f(user, b->data[i]);
    each(&b->data[i]->body, f, user);
    each(&b->data[i]->orelse, f, user);
  }
}
static need need_of(const ac_akernel *k, int buffer) {
  need n = {.buffer = buffer};
  for (size_t i = 0; i < k->methods.len; i++) each(&k->methods.data[i].body, needs, &n);
  return n;
}

/* Bytes of a buffer are rounded up (AcBytes): half of a small one may be as large. */
static bool same_bytes(const ac_abuffer *b) {
  if (!b->elements || b->elements->kind != AC_AE_INT || b->rank > 1) return false;
  int64_t to = b->round_to ? b->round_to : 32, size = ac_dtypes[b->dtype].bytes, n = b->elements->i;
  int64_t whole = (n * size + to - 1) / to, half = (n / MOST_SHRUNK * size + to - 1) / to;
  return whole == (half ? half : 1);
}

bool mutate_is_none(ac_arena *a, ac_program *p, fault f, int site, const char *where, const char **said) {
  int at = 0;
  (void)a;
  for (size_t x = 0; x < p->kernels.len; x++) {
    const ac_akernel *k = p->kernels.data[x];
    for (size_t i = 0; i < k->buffers.len; i++) {
      const ac_abuffer *b = &k->buffers.data[i];
      bool hidden = !strncmp(b->name, "ac", 2);
      int line = 0;
      bool dsl = f == SHRINK && sscanf(where, "line %d:", &line) == 1 && b->loc.line == line;
      if (dsl || (f == (hidden ? A_SCRATCH : A_SHRINK) && at++ == site)) {
        need n = need_of(k, (int)i);
        if (!n.more) *said = "it only ever holds one value, and half of it has room for that";
        if (!n.touched) *said = "ReduceSum by count leaves its work tensor alone on this chip";
        if (same_bytes(b)) *said = "it has the least bytes that a buffer has, whatever its elements";
        return !n.more || !n.touched || same_bytes(b);
      }
      for (size_t j = 0; f == A_OVERLAP && j < i; j++) {
        const ac_abuffer *c = &k->buffers.data[j];
        if (b->mem != AC_MEM_VECCALC || c->mem != AC_MEM_VECCALC || b->dtype != c->dtype || at++ != site) continue;
        if (lives_meet(k, (int)i, (int)j, false)) return false;
        *said = "their lives do not meet: neither is read after the other was written";
        return true;
      }
    }
  }
  return false;
}

const char *mutate_likely(ac_program *p, fault f, int site) {
  int at = 0;
  for (size_t x = 0; f == A_OVERLAP && x < p->kernels.len; x++) {
    const ac_akernel *k = p->kernels.data[x];
    for (size_t i = 0; i < k->buffers.len; i++)
      for (size_t j = 0; j < i; j++) {
        const ac_abuffer *b = &k->buffers.data[i], *c = &k->buffers.data[j];
        if (b->mem != AC_MEM_VECCALC || c->mem != AC_MEM_VECCALC || b->dtype != c->dtype || at++ != site) continue;
        if (lives_meet(k, (int)i, (int)j, true)) return NULL;
        return "their lives meet only where a loop that fills one of them has no trip, and what reads it runs in "
               "that loop or "
               "behind as many trips: at no size does it";
      }
  }
  return NULL;
}

/* Faults in the lowered program: what a broken pass would leave. */
#include "mutate.h"

#include <string.h>

typedef struct {
  ac_arena *a;
  ac_akernel *k;
  fault f;
  int by; /* how much */
  int at, want;
  char **where;
} mutator;

static bool here(mutator *m, ac_loc loc, const char *fmt, ...) AC_PRINTF(3, 4);
static bool here(mutator *m, ac_loc loc, const char *fmt, ...) {
  va_list ap;
  if (m->at++ != m->want) return false;
  va_start(ap, fmt);
  if (m->where) *m->where = ac_sprintf(m->a, "%s, line %d: %s", m->k->name, loc.line, ac_vsprintf(m->a, fmt, ap));
  va_end(ap);
  return true;
}

/* ---- expressions ---- */

static ac_aexpr *with(mutator *m, ac_aekind k, ac_aexpr *x, int64_t v) {
  ac_aexpr *n = AC_NEW(m->a, ac_aexpr), *e = AC_NEW(m->a, ac_aexpr);
  n->kind = AC_AE_INT;
  n->type = AC_AT_INT;
  n->i = v;
  if (!x) return n; /* an offset of 0 */
  e->kind = k;
  e->type = AC_AT_INT;
  e->a = x;
  e->b = n;
  return e;
}

/* ---- statements ---- */

static void drop(ac_ablock *b, size_t i) {
  memmove(b->data + i, b->data + i + 1, (b->len - i - 1) * sizeof *b->data);
  b->len--;
}

static ac_event turned(ac_event e) {
  static const ac_event other[AC_EV_COUNT] = {[AC_EV_V_S] = AC_EV_S_V,
                                              [AC_EV_S_V] = AC_EV_V_S,
                                              [AC_EV_MTE2_V] = AC_EV_V_MTE2,
                                              [AC_EV_V_MTE2] = AC_EV_MTE2_V,
                                              [AC_EV_V_MTE3] = AC_EV_MTE3_V,
                                              [AC_EV_MTE3_V] = AC_EV_V_MTE3,
                                              [AC_EV_MTE2_S] = AC_EV_S_MTE2,
                                              [AC_EV_S_MTE2] = AC_EV_MTE2_S,
                                              [AC_EV_MTE3_S] = AC_EV_S_MTE3,
                                              [AC_EV_S_MTE3] = AC_EV_MTE3_S,
                                              [AC_EV_MTE2_MTE3] = AC_EV_MTE3_MTE2,
                                              [AC_EV_MTE3_MTE2] = AC_EV_MTE2_MTE3};
  return other[e];
}

static bool writes(const ac_astmt *s, const ac_atensor *t) {
  if (s->kind == AC_AS_COPY) return s->copy->to_ub && s->copy->ub == t;
  return s->kind == AC_AS_INST && s->ops[0].tensor == t;
}

static void copy(mutator *m, ac_astmt *s) {
  ac_acopy *c = s->copy;
  const char *name = c->ub->name;
  if (m->f == A_FROM && here(m, s->loc, "copy of %s", name)) c->gm_offset = with(m, AC_AE_ADD, c->gm_offset, 1);
  if (m->f == A_LONG && here(m, s->loc, "copy of %s", name)) c->cols = with(m, AC_AE_ADD, c->cols, 1);
  if (m->f == A_SHORT && here(m, s->loc, "copy of %s", name)) c->cols = with(m, AC_AE_SUB, c->cols, 1);
  if (m->f == A_UNALIGNED && !c->by_element && here(m, s->loc, "copy of %s", name))
    c->ub_offset = with(m, AC_AE_ADD, c->ub_offset, 1);
  if (m->f == A_PITCH && c->rows && here(m, s->loc, "copy of %s", name))
    c->ub_pitch = with(m, AC_AE_ADD, c->ub_pitch, 1);
  if (m->f == A_STRIDE && c->gm_stride && here(m, s->loc, "copy of %s", name))
    c->gm_stride = with(m, AC_AE_ADD, c->gm_stride, 1);
  if (m->f == A_EXACT && !c->exact && !c->rows && !c->by_element && here(m, s->loc, "copy of %s", name))
    c->exact = true;
}

static void block(mutator *m, ac_ablock *b) {
  static const struct {
    fault f;
    ac_askind kind;
  } drops[] = {{A_FLAG, AC_AS_FLAG},       {A_FLAG, AC_AS_SET},      {A_FLAG, AC_AS_WAIT},
               {A_BARRIER, AC_AS_BARRIER}, {A_SYNC, AC_AS_SYNC_ALL}, {A_ALLOC, AC_AS_ALLOC},
               {A_ENQUE, AC_AS_ENQUE},     {A_DEQUE, AC_AS_DEQUE},   {A_FREE, AC_AS_FREE}};
  for (size_t i = 0; i < b->len; i++) {
    ac_astmt *s = b->data[i];
    bool gone = false;
    for (size_t d = 0; d < AC_COUNT(drops) && !gone; d++)
      gone = m->f == drops[d].f && s->kind == drops[d].kind &&
             here(m, s->loc, "%s",
                  s->kind == AC_AS_FLAG ? ac_event_names[s->event]
                  : s->tensor           ? s->tensor->name
                                        : "join of the blocks");
    if (gone) {
      drop(b, i);
      return;
    }
    if (m->f == A_WRONG && s->kind == AC_AS_FLAG && here(m, s->loc, "%s", ac_event_names[s->event]))
      s->event = turned(s->event);
    if (m->f == A_EARLY && s->kind == AC_AS_ENQUE && i && writes(b->data[i - 1], s->tensor) &&
        here(m, s->loc, "%s", s->tensor->name)) {
      b->data[i] = b->data[i - 1];
      b->data[i - 1] = s;
      return;
    }
    if (s->kind == AC_AS_COPY) copy(m, s);
    if (m->f == A_LESS && s->kind == AC_AS_INST && s->ops[0].tensor &&
        here(m, s->loc, "%s of %s", ac_insts[s->inst].asc, s->ops[0].tensor->name))
      s->count = with(m, AC_AE_SUB, s->count, m->by ? m->by - 1 : -1000000);
    block(m, &s->body);
    block(m, &s->orelse);
  }
}

/* ---- buffers ---- */

static void buffers(mutator *m) {
  ac_akernel *k = m->k;
  for (size_t i = 0; i < k->buffers.len; i++) {
    ac_abuffer *b = &k->buffers.data[i];
    bool hidden = !strncmp(b->name, "ac", 2);
    if (ac_unused(k, (int)i)) continue; /* a gap: no size of it is too small */
    if (m->f == (hidden ? A_SCRATCH : A_SHRINK) && here(m, b->loc, "%s", b->name))
      b->elements = with(m, AC_AE_FLOORDIV, b->elements, m->by);
    for (size_t j = 0; m->f == A_OVERLAP && j < i; j++) {
      const ac_abuffer *c = &k->buffers.data[j];
      if (b->mem != AC_MEM_VECCALC || c->mem != AC_MEM_VECCALC || b->dtype != c->dtype) continue;
      if (!here(m, b->loc, "%s in %s", b->name, c->name)) continue;
      for (size_t h = 0; h < k->handles.len; h++)
        if (k->handles.data[h]->buffer == (int)i) k->handles.data[h]->buffer = (int)j;
    }
  }
}

static int everything(mutator *m, ac_program *p) {
  for (size_t i = 0; i < p->kernels.len; i++) {
    m->k = p->kernels.data[i];
    buffers(m);
    for (size_t j = 0; j < m->k->methods.len; j++) block(m, &m->k->methods.data[j].body);
  }
  return m->at;
}
int mutate_air_sites(ac_arena *a, ac_program *p, fault f) {
  mutator m = {.a = a, .f = f, .want = -1};
  return everything(&m, p);
}
void mutate_air(ac_arena *a, ac_program *p, fault f, int site, int by, char **where) {
  mutator m = {.a = a, .f = f, .by = by, .want = site, .where = where};
  everything(&m, p);
}

/* `--dump=memory`: the map of UB of each launch, in the order in which the kernel's Init takes it.
 *
 * Sizes are those of the launch. One that depends on the tensors' shape is shown at its largest ("<="), where the tiling code bounds
 * it, else as an expression; then nothing behind it has an offset. */
#include "isa/cost.h"
#include "lower/internal.h"

#include <string.h>

typedef struct {
  ac_arena *a;
  const ac_program *p;
  const ac_alaunch *l;
  const ac_akernel *k;
  int depth;
} map;
typedef struct {
  int64_t most; /* -1: not bounded */
  bool exact;
} size;

/* What the name was given last on the way to the launch; NULL where that depends on a branch or a loop. True when the launch is in here. */
static bool given(const ac_ablock *b, const ac_alaunch *l, const char *name, const ac_aexpr **v) {
  for (size_t i = 0; i < b->len; i++) {
    const ac_astmt *s = b->data[i];
    const ac_aexpr *before = *v;
    if (s->kind == AC_AS_LAUNCH && s->launch == l) return true;
    if ((s->kind == AC_AS_DECL || s->kind == AC_AS_ASSIGN) && !strcmp(s->var.name, name)) *v = s->value;
    if (given(&s->body, l, name, v)) return true;
    const ac_aexpr *x = *v;
    *v = before;
    if (given(&s->orelse, l, name, v)) return true;
    bool set = s->kind == AC_AS_DECL || s->kind == AC_AS_ASSIGN;
    if (set)
      *v = x;
    else if (x != before || *v != before || (s->kind == AC_AS_FOR && !strcmp(s->var.name, name)))
      *v = NULL;
  }
  return false;
}

static size bound(map *m, const ac_aexpr *e);

static size bound_name(map *m, const char *name) {
  for (size_t i = 0; i < m->k->fields.len && m->depth == 0; i++) {
    if (strcmp(m->k->fields.data[i].name, name)) continue;
    m->depth++;
    size s = bound(m, m->l->values[i]);
    m->depth--;
    return s;
  }
  const ac_aexpr *v = NULL;
  if (!m->depth || m->depth > 20 || !given(&m->p->host, m->l, name, &v) || !v) return (size){-1, false};
  m->depth++;
  size s = bound(m, v);
  m->depth--;
  return s;
}

static size binary(ac_aekind k, size x, size y) {
  size r = {-1, x.exact && y.exact};
  bool known = x.most >= 0 && y.most >= 0;
  switch (k) {
  case AC_AE_MIN:
    if (known) return (size){x.most < y.most ? x.most : y.most, r.exact};
    return (size){x.most >= 0 ? x.most : y.most, false};
  case AC_AE_MAX:
    if (known) r.most = x.most > y.most ? x.most : y.most;
    break;
  case AC_AE_ADD:
    if (known && __builtin_add_overflow(x.most, y.most, &r.most)) r.most = -1;
    break;
  case AC_AE_MUL:
    if (known && __builtin_mul_overflow(x.most, y.most, &r.most)) r.most = -1;
    break;
  case AC_AE_SUB:
    if (known && r.exact && x.most >= y.most) r.most = x.most - y.most;
    if (!r.exact) r.most = x.most; /* sizes are not negative */
    break;
  case AC_AE_FLOORDIV:
  case AC_AE_CDIV:
  case AC_AE_ALIGN_UP:
  case AC_AE_ALIGN_DOWN:
    if (!known || !y.exact || y.most < 1 || x.most > INT64_MAX - y.most) break;
    r.most = k == AC_AE_FLOORDIV || k == AC_AE_ALIGN_DOWN ? x.most / y.most : (x.most + y.most - 1) / y.most;
    if (k == AC_AE_ALIGN_UP || k == AC_AE_ALIGN_DOWN) r.most *= y.most;
    break;
  default: break;
  }
  if (r.most < 0) r.exact = false;
  return r;
}

/* Largest value of a size, which is not negative. */
static size bound(map *m, const ac_aexpr *e) {
  if (!e) return (size){-1, false};
  if (e->kind == AC_AE_INT) return (size){e->i < 0 ? -1 : e->i, e->i >= 0};
  if (e->kind == AC_AE_VAR) return bound_name(m, e->name);
  if (e->kind == AC_AE_COND) {
    size x = bound(m, e->a), y = bound(m, e->b);
    return (size){x.most < 0 || y.most < 0 ? -1 : x.most > y.most ? x.most : y.most, false};
  }
  return binary(e->kind, bound(m, e->a), bound(m, e->b));
}

static size bytes_of(map *m, const ac_abuffer *b, int round_to) {
  ac_aexpr *n = ac_ae_bin(m->a, AC_AE_MUL, b->elements, ac_ae_int(m->a, ac_dtypes[b->dtype].bytes));
  size s = bound(m, ac_ae_bin(m->a, AC_AE_ALIGN_UP, n, ac_ae_int(m->a, round_to)));
  if (s.most >= 0 && s.most < round_to) s.most = round_to;
  return s;
}

bool ac_launch_bytes(ac_arena *a, const ac_program *p, const ac_alaunch *l, int buffer, int round_to,
                     int64_t *bytes) {
  map m = {.a = a, .p = p, .l = l, .k = p->kernels.data[l->kernel]};
  size s = bytes_of(&m, &m.k->buffers.data[buffer], round_to);
  *bytes = s.most;
  return s.most > 0;
}

static const char *number(map *m, size s) {
  return s.most < 0 ? "?" : ac_sprintf(m->a, "%s%lld", s.exact ? "" : "<=", (long long)s.most);
}

static const char *holds(map *m, int at) {
  const ac_abuffer *b = &m->k->buffers.data[at];
  ac_buf t;
  ac_buf_init(&t, m->a);
  for (int i = 0; i < (int)m->k->buffers.len; i++) {
    const ac_abuffer *x = &m->k->buffers.data[i];
    if (i != at && x->home != at + 1) continue;
    ac_printf(&t, "%s%s %s", ac_buf_str(&t)[0] ? "; " : "", x->buffer, ac_dtypes[x->dtype].name);
    if (x->from.line && x->from.line == x->to.line) ac_printf(&t, " (line %d)", x->from.line);
    if (x->from.line && x->from.line != x->to.line) ac_printf(&t, " (lines %d to %d)", x->from.line, x->to.line);
  }
  if (bytes_of(m, b, b->round_to).most < 0) ac_printf(&t, ", elements: %s", ac_aexpr_text(m->a, b->elements));
  return ac_buf_str(&t);
}

/* Of the pairs of buffers that one instruction reads, those whose first slots lie in different bank groups (banks.c). */
static void bank_line(map *m, ac_buf *t, const int64_t *at) {
  ac_bank_pairs pairs = ac_lower_bank_pairs(m->a, m->k);
  size_t apart = 0;
  if (!pairs.len || !m->p->chip->costs) return;
  int64_t period = (int64_t)m->p->chip->costs->bank_groups * m->p->chip->block;
  for (size_t i = 0; i < pairs.len; i++) {
    int64_t x = at[pairs.data[i].a], y = at[pairs.data[i].b];
    apart += x >= 0 && y >= 0 && ac_lower_bank_apart(x, y, period);
  }
  ac_printf(
      t, "  %10s             of %zu pair%s of buffers that one instruction reads, %zu lie in different bank groups\n",
      "", pairs.len, pairs.len == 1 ? "" : "s", apart);
}

static void launch_map(map *m, ac_buf *t) {
  static const char *const where[] = {[AC_MEM_VECIN] = "VECIN",
                                      [AC_MEM_VECOUT] = "VECOUT",
                                      [AC_MEM_BIND] = "BIND",
                                      [AC_MEM_VECCALC] = "VECCALC",
                                      [AC_MEM_UPDATE] = "UPDATE"};
  int64_t have = ac_chip_ub(m->p->chip, m->k->select);
  ac_printf(t, "memory of %s (tiling key %d): UB of %s, %lld bytes for programs\n", m->k->name, m->l->key,
            m->p->chip->name, (long long)have);
  ac_printf(t, "  %10s %10s %5s  %-8s %s\n", "offset", "bytes", "slots", "position", "buffers");
  size at = {0, true};
  int n = (int)m->k->buffers.len;
  int64_t *places = AC_NEW_N(m->a, int64_t, n + 1);
  for (int turn = 0; turn < 2 * n; turn++) { /* those that come first, then the others */
    int i = turn < n ? turn : turn - n;
    const ac_abuffer *b = &m->k->buffers.data[i];
    if (b->home || b->first != (turn < n)) continue;
    size s = bytes_of(m, b, b->round_to);
    places[i] = at.most;
    ac_printf(t, "  %10s %10s %5s  %-8s %s\n", number(m, at), number(m, s),
              ac_two_slots(b) ? ac_sprintf(m->a, "%d|%d", b->depth - 1, b->depth) : ac_sprintf(m->a, "%d", b->depth),
              where[b->mem], holds(m, i));
    at = binary(AC_AE_ADD, at, binary(AC_AE_MUL, s, (size){b->depth, true}));
  }
  ac_printf(t, "  %10s             total", number(m, at));
  if (at.most >= 0 && at.most > have) ac_printf(t, " with two slots; the tiling code takes one where two do not fit");
  if (at.most >= 0 && at.most <= have) ac_printf(t, ", %lld left", (long long)(have - at.most));
  ac_puts(t, "\n");
  bank_line(m, t, places);
}

const char *ac_air_memory(ac_arena *a, const ac_program *p) {
  ac_buf t;
  ac_buf_init(&t, a);
  for (size_t i = 0; i < p->launches.len; i++) {
    map m = {.a = a, .p = p, .l = p->launches.data[i]};
    m.k = p->kernels.data[m.l->kernel];
    launch_map(&m, &t);
  }
  return ac_buf_str(&t);
}

/* Lanes that hold no defined value. An element-wise instruction may compute them (kernels round the last tile up to whole repeats): the
 * lane of the result is as undefined as the lane it came from, and whoever stores it to global memory, reduces it or reads it as a
 * scalar gets the fault. A source with no defined lane at all is a fault at once. */
#include "sim/core_vec.h"

enum { OPERANDS = 3 };
typedef struct {
  const acsim_local *t;
  const char *name;
  int64_t off;
  int bytes;
} operand;

static int sources(const call *c, bool reads_dst, operand *x) {
  const acsim_vector *v = c->v;
  int n = 0;
  if (v->a) x[n++] = (operand){v->a, v->b ? "src0" : "src", 0, c->es};
  if (v->b) x[n++] = (operand){v->b, "src1", 0, c->es};
  if (reads_dst) x[n++] = (operand){v->dst, "dst", 0, c->ds};
  return n;
}

static bool lane_defined(const uint8_t *state, int bytes) {
  for (int i = 0; i < bytes; i++)
    if (state[i] != 0xff) return false;
  return true;
}

static uint8_t *lanes_for(acsim_block *b, int64_t n) {
  if (b->undefined_n < n) {
    b->undefined_n = 2 * n;
    b->undefined = ac_alloc_n(b->arena, (size_t)n, 2);
  }
  return b->undefined;
}

static void undefined_fault(const call *c, const char *name, const acsim_local *t, int64_t lanes) {
  acsim_fault(c->b->s, c->b, "read-poison", c->at,
              "%s: none of the %lld elements of %s was ever written (from byte %lld of the %s buffer)", c->name,
              (long long)lanes, name, (long long)t->addr - t->base, acsim_pos_name(t->pos));
}

const uint8_t *acsim_undefined_lanes(const call *c, bool reads_dst, int64_t n) {
  operand x[OPERANDS];
  int k = sources(c, reads_dst, x);
  uint8_t *lanes = NULL;
  for (int i = 0; i < k; i++) {
    const uint8_t *state = acsim_state(c->b, x[i].t, 0);
    if (acsim_all_written(state, n * x[i].bytes)) continue;
    if (!lanes) lanes = memset(lanes_for(c->b, n), 0, (size_t)n);
    int64_t defined = 0;
    for (int64_t j = 0; j < n; j++) {
      bool fine = lane_defined(state + j * x[i].bytes, x[i].bytes);
      defined += fine;
      lanes[j] |= !fine;
    }
    if (defined) continue;
    undefined_fault(c, x[i].name, x[i].t, n);
    return NULL; /* reported: the run goes on as if they were defined */
  }
  return lanes;
}

void acsim_undefined_mark(const call *c, const uint8_t *lanes, int64_t n) {
  if (!lanes) return;
  uint8_t *state = acsim_state(c->b, c->v->dst, 0);
  for (int64_t j = 0; j < n; j++)
    if (lanes[j]) memset(state + j * c->ds, 0, (size_t)c->ds);
}

/* ---- one repeat ---- */

void acsim_undefined_repeat(const call *c, acsim_undefined *u, int which, const acsim_local *t, int64_t off,
                            int bytes, int block_stride) {
  for (int k = 0; k < c->lanes; k++) {
    if (!lane_on(c->v->repeat, k)) continue;
    bool fine = lane_defined(acsim_state(c->b, t, off + lane_offset(k, bytes, block_stride)), bytes);
    u->lanes[k] |= !fine;
    u->any |= !fine;
    u->defined[which] += fine;
    u->seen[which]++;
  }
}

void acsim_undefined_scatter(const call *c, acsim_undefined *u, int64_t off) {
  if (!u->any) return;
  for (int k = 0; k < c->lanes; k++) {
    if (!u->lanes[k]) continue;
    memset(acsim_state(c->b, c->v->dst, off + lane_offset(k, c->ds, c->v->repeat->dst_block)), 0, (size_t)c->ds);
    u->lanes[k] = 0;
  }
  u->any = false;
}

void acsim_undefined_report(const call *c, const acsim_undefined *u) {
  const acsim_vector *v = c->v;
  const acsim_local *t[OPERANDS] = {v->a, v->b, v->dst};
  const char *const names[OPERANDS] = {v->b ? "src0" : "src", "src1", "dst"};
  for (int i = 0; i < OPERANDS; i++)
    if (t[i] && u->seen[i] && !u->defined[i]) undefined_fault(c, names[i], t[i], u->seen[i]);
}

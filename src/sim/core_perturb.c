/* Results at the edge of their error bounds (isa's ac_error_bounds). What the device's last bits are is not public for every function; a kernel
 * that is right must be right for every result within the bounds.
 *
 * Which way a result goes depends on the function, the seed and the result itself, as on a device, where the same operands give the same
 * result: not on threads, on the order of blocks, or on the way a call took to the core. */
#include "sim/core_internal.h"

#include <string.h>

static bool wanted(const acsim_session *s, int id) {
  return s->cfg.perturb != AC_PERTURB_NONE && (!s->cfg.perturb_only || ac_error_bound_of(s->cfg.perturb_only) == id);
}

/* Away from minus infinity? */
static bool upward(const acsim_session *s, int id, uint32_t bits) {
  if (s->cfg.perturb != AC_PERTURB_MIXED) return s->cfg.perturb == AC_PERTURB_UP;
  uint64_t x = (s->cfg.perturb_seed + (uint64_t)id) * 0x9E3779B97F4A7C15u + bits;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x >> 63;
}

/* k steps from a finite number other than 0; stops before infinity, and at 0. */
static uint32_t step(uint32_t u, uint32_t sign, uint32_t inf, uint32_t k, bool up) {
  uint32_t m = u & ~sign;
  if (!m || m >= inf) return u;
  bool grow = up == !(u & sign);
  m = !grow ? (m > k ? m - k : 0) : m + k < inf ? m + k : inf - 1;
  return (u & sign) | m;
}

/* e^0 and x / x are 1 on every device (assumed): or a sum that is rescaled by e^(m - m) at every step would drift away with them, and a
 * sigmoid would exceed 1. */
static uint32_t exact(const acsim_session *s, int id, uint32_t one) {
  return id == s->op_bound[ACSIM_OP_Exp] || id == s->op_bound[ACSIM_OP_Div] ? one : 0;
}

static void move(const acsim_session *s, int id, int type, void *d, uint32_t k, int64_t n) {
  if (type == ACSIM_F32) {
    uint32_t *p = d, keep = exact(s, id, 0x3f800000u);
    for (int64_t i = 0; i < n; i++)
      if (p[i] != keep) p[i] = step(p[i], 0x80000000u, 0x7f800000u, k, upward(s, id, p[i]));
    return;
  }
  uint16_t *p = d;
  uint32_t inf = type == ACSIM_F16 ? 0x7c00 : 0x7f80, keep = exact(s, id, type == ACSIM_F16 ? 0x3c00 : 0x3f80);
  for (int64_t i = 0; i < n; i++)
    if (p[i] != keep) p[i] = (uint16_t)step(p[i], 0x8000, inf, k, upward(s, id, p[i]));
}

void acsim_perturb_row(acsim_block *b, int id, int type, void *d, int64_t n) {
  if (id < 0 || (type != ACSIM_F32 && type != ACSIM_F16 && type != ACSIM_BF16)) return;
  double bound = type == ACSIM_F32 ? ac_error_bounds[id].ulp : ac_error_bounds[id].half;
  if (!(bound > 0.5)) return;
  acsim_session *s = b->s;
  __atomic_store_n(&s->bounded[id], true, __ATOMIC_RELAXED);
  if (wanted(s, id)) move(s, id, type, d, bound < 1 ? 1 : (uint32_t)bound, n);
}

void acsim_perturb(acsim_block *b, const char *name, int type, void *d, int64_t n) {
  acsim_perturb_row(b, ac_error_bound_of(name), type, d, n);
}

void acsim_perturb_op(acsim_block *b, int op, int type, void *d, int64_t n) {
  acsim_perturb_row(b, b->s->op_bound[op], type, d, n);
}

int acsim_loose_bound(const char *name) {
  int id = ac_error_bound_of(name);
  return id >= 0 && (ac_error_bounds[id].ulp > 0.5 || ac_error_bounds[id].half > 0.5) ? id : -1;
}

void acsim_perturb_open(acsim_session *s) {
  for (int op = 0; op < ACSIM_OPS; op++) s->op_bound[op] = (int16_t)acsim_loose_bound(acsim_op_names[op]);
  s->bounded = AC_NEW_N(s->arena, bool, ac_n_error_bounds);
}

const char *acsim_bounded(const acsim_session *s, int i) {
  return i >= 0 && i < ac_n_error_bounds && s->bounded[i] ? ac_error_bounds[i].name : NULL;
}

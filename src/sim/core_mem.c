/* Memory checks: on-chip views and global memory. Every access of every instruction passes through acsim_touch (or
 * acsim_touch_allowed) or acsim_gm_touch. */
#include "sim/core_sync.h"
#include "sim/core_simd.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)ACSIM_F32 == (int)AC_F32 && (int)ACSIM_F16 == (int)AC_F16 && (int)ACSIM_BF16 == (int)AC_BF16 &&
                   (int)ACSIM_I8 == (int)AC_I8 && (int)ACSIM_U8 == (int)AC_U8 && (int)ACSIM_I16 == (int)AC_I16 &&
                   (int)ACSIM_U16 == (int)AC_U16 && (int)ACSIM_I32 == (int)AC_I32 && (int)ACSIM_U32 == (int)AC_U32 &&
                   (int)ACSIM_I64 == (int)AC_I64 && (int)ACSIM_U64 == (int)AC_U64 &&
                   (int)ACSIM_BOOL == (int)AC_BOOL && (int)ACSIM_F64 == (int)AC_F64,
               "kernel_abi.h and dtypes.def list the dtypes in the same order");

const char *const acsim_op_names[ACSIM_OPS] = {
#define X(name) #name,
    ACSIM_VECTOR_OPS(X)
#undef X
};
int acsim_type_bytes(int type) {
  return ac_dtypes[type].bytes;
}

const char *acsim_pos_name(int pos) {
  static const char *const names[] = {"GM",  "A1",   "A2",        "B1",          "B2",     "C1",
                                      "C2",  "CO1",  "CO2",       "VECIN",       "VECOUT", "VECCALC",
                                      "SPM", "TSCM", "C2PIPE2GM", "C2PIPE2LOCAL"};
  return pos >= 0 && pos < (int)AC_COUNT(names) ? names[pos] : "?";
}
const char *acsim_mem_name(int mem) {
  static const char *const names[] = {"GM", "UB", "L1", "L0A", "L0B", "L0C", "BT", "FB"};
  return mem >= 0 && mem < (int)AC_COUNT(names) ? names[mem] : "?";
}

uint8_t *acsim_data(acsim_block *b, const acsim_local *t, int64_t off) {
  return acsim_memory_of(b, t->mem)->data + t->addr + off;
}
uint8_t *acsim_state(acsim_block *b, const acsim_local *t, int64_t off) {
  return acsim_memory_of(b, t->mem)->state + t->addr + off;
}

bool acsim_all_written(const uint8_t *state, int64_t n) {
  uint64_t w = 0;
  if (n >= 64) return acsim_simd_now()->all_ff(state, n);
  for (; n >= 8; n -= 8, state += 8) {
    memcpy(&w, state, 8);
    if (w != ~0ull) return false;
  }
  for (; n > 0; n--)
    if (*state++ != 0xff) return false;
  return true;
}

/* The view's slot is in the hands of whoever uses the view. */
static bool held(const acsim_block *b, const acsim_local *t) {
  const acsim_slot *slot = &b->slots.data[t->buf];
  return slot->gen == t->gen && slot->state != SLOT_GONE && slot->state != SLOT_FREE && slot->state != SLOT_QUEUED;
}

/* Queues are the library's bookkeeping; a tensor that is no longer held is still a place in memory, which the device uses. */
static bool check_life(acsim_block *b, const char *op, acsim_at at, const acsim_access *x) {
  const acsim_local *t = x->t;
  if (b->replaying && t->buf) return true; /* its life is that of the time when it was issued */
  if (!t->buf || t->buf >= b->slots.len) {
    acsim_fault(b->s, b, "no-tensor", at, "%s: %s is a LocalTensor that was never allocated", op, x->name);
    return false;
  }
  if (held(b, t)) return true;
  const acsim_slot *slot = &b->slots.data[t->buf];
  if (slot->state == SLOT_GONE || slot->gen != t->gen || slot->state == SLOT_FREE) {
    acsim_fault(b->s, b, "use-after-free", at,
                slot->state == SLOT_GONE ? "%s: %s lies in a buffer that the TPipe has given up (%s:%d)"
                : slot->gen != t->gen    ? "%s: %s was freed, and its buffer allocated anew at %s:%d"
                                         : "%s: %s was freed at %s:%d",
                op, x->name, slot->at.file ? slot->at.file : "?", slot->at.line);
  } else {
    acsim_fault(b->s, b, "use-while-queued", at,
                "%s: %s was handed to its queue by EnQue at %s:%d; it must not be touched before DeQue", op, x->name,
                slot->at.file ? slot->at.file : "?", slot->at.line);
  }
  return true;
}

static bool in_buffer(const acsim_access *x) {
  int64_t from = (int64_t)x->t->addr + x->off - x->t->base;
  return from >= 0 && from + x->bytes <= x->t->size;
}

/* The device knows no buffers: beyond one it goes on as far as the memory reaches, into whatever lies there, and so do we. */
static bool check_bounds(acsim_block *b, const char *op, acsim_at at, const acsim_access *x) {
  const acsim_local *t = x->t;
  int64_t from = (int64_t)t->addr + x->off - t->base, to = from + x->bytes;
  if (!in_buffer(x)) {
    acsim_fault(b->s, b, "ub-out-of-bounds", at, "%s: %s %s bytes %lld..%lld of a %s buffer of %u bytes in %s", op,
                x->name, x->how & ACSIM_WRITE ? "writes" : "reads", (long long)from, (long long)to,
                acsim_pos_name(t->pos), t->size, acsim_mem_name(t->mem));
    if (t->base + from < 0 || t->base + to > acsim_memory_of(b, t->mem)->size) return false;
  }
  if (x->align > 1 && (t->addr + x->off) % x->align) {
    acsim_fault(b->s, b, "misaligned", at,
                "%s: %s starts at byte %lld of its buffer: the address must be a multiple of %d bytes", op, x->name,
                (long long)from, x->align);
    return false;
  }
  return true;
}

void acsim_raw_pointer(acsim_block *b, const acsim_local *t) {
  acsim_slot *slot = &b->slots.data[t->buf];
  if (slot->raw) return;
  slot->raw = b->any_raw = true;
  acsim_memory *m = acsim_memory_of(b, slot->mem);
  for (uint32_t i = slot->base; i < slot->base + slot->size; i++)
    if (!m->state[i]) m->data[i] = ACSIM_UNWRITTEN;
}

/* Bytes that no instruction has written and that are not what they were: through a plain pointer. */
static void find_raw(acsim_block *b, const char *op, acsim_at at, const acsim_access *x) {
  uint8_t *s = acsim_state(b, x->t, x->off);
  const uint8_t *d = acsim_data(b, x->t, x->off);
  int64_t n = 0;
  for (int64_t i = 0; i < x->bytes; i++)
    if (!s[i] && d[i] != ACSIM_UNWRITTEN) s[i] = 0xff, n++;
  if (n)
    acsim_fault(b->s, b, "raw-pointer", at,
                "%s: %s holds %lld bytes that were written through a pointer from GetPhyAddr: such writes are not "
                "checked for order or bounds",
                op, x->name, (long long)n);
}

static void check_poison(acsim_block *b, const char *op, acsim_at at, const acsim_access *x) {
  const uint8_t *s = acsim_state(b, x->t, x->off);
  if (acsim_all_written(s, x->bytes)) return;
  int64_t first = 0, count = 0;
  for (int64_t i = x->bytes; i-- > 0;)
    if (s[i] != 0xff) first = i, count++;
  int64_t at_byte = (int64_t)x->t->addr + x->off + first - x->t->base;
  acsim_fault(b->s, b, "read-poison", at,
              "%s: %s reads %lld bytes, of which %lld were never written (the first at byte %lld of the %s buffer)",
              op, x->name, (long long)x->bytes, (long long)count, (long long)at_byte, acsim_pos_name(x->t->pos));
}

static bool sound(const acsim_block *b, const acsim_access *x) {
  return held(b, x->t) && in_buffer(x);
}

/* Would acsim_touch report nothing, order apart? */
static bool allowed(acsim_block *b, const acsim_access *x, int n) {
  for (int i = 0; i < n; i++) {
    const acsim_local *t = x[i].t;
    if (!t->buf || t->buf >= b->slots.len || !sound(b, &x[i])) return false;
    if (x[i].align > 1 && (t->addr + x[i].off) % x[i].align) return false;
    if ((x[i].how & ACSIM_READ) && !(x[i].how & ACSIM_SOFT) &&
        !acsim_all_written(acsim_state(b, t, x[i].off), x[i].bytes))
      return false;
  }
  return true;
}

/* What the pipe waits for can never come: this instruction is not among those that are kept. */
static void settle_pipe(acsim_block *b, ac_pipe pipe, acsim_at at) {
  if (b->stalled >> pipe & 1 && !b->replaying) acsim_defer_settle(b, -1, 0, at);
}
static void look_for_raw(acsim_block *b, const char *op, acsim_at at, const acsim_access *x, int n) {
  for (int i = 0; i < n; i++) {
    bool reads = x[i].bytes > 0 && x[i].how & ACSIM_READ && b->slots.data[x[i].t->buf].raw;
    if (reads && !acsim_all_written(acsim_state(b, x[i].t, x[i].off), x[i].bytes)) find_raw(b, op, at, &x[i]);
  }
}

bool acsim_touch_allowed(acsim_block *b, ac_pipe pipe, const char *op, acsim_at at, const acsim_access *x, int n) {
  settle_pipe(b, pipe, at);
  if (!allowed(b, x, n)) return false;
  b->calls++;
  if (b->any_raw) look_for_raw(b, op, at, x, n);
  for (int i = 0; i < n; i++) acsim_order_local(b, pipe, op, at, &x[i]);
  acsim_time_local(b, pipe, op, at, x, n);
  return true;
}

bool acsim_touch(acsim_block *b, ac_pipe pipe, const char *op, acsim_at at, const acsim_access *x, int n) {
  b->calls++;
  settle_pipe(b, pipe, at);
  bool ok = true;
  for (int i = 0; i < n; i++)
    if (x[i].bytes > 0) ok = check_life(b, op, at, &x[i]) && check_bounds(b, op, at, &x[i]) && ok;
  if (!ok) return false;
  if (b->any_raw) look_for_raw(b, op, at, x, n);
  for (int i = 0; i < n; i++) {
    /* what has been reported is not reported again as unwritten or unordered */
    if (x[i].bytes > 0 && !sound(b, &x[i])) continue;
    if (x[i].bytes > 0 && (x[i].how & ACSIM_READ) && !(x[i].how & ACSIM_SOFT)) check_poison(b, op, at, &x[i]);
    acsim_order_local(b, pipe, op, at, &x[i]);
  }
  acsim_time_local(b, pipe, op, at, x, n);
  return true;
}

void acsim_settle(acsim_block *b, const acsim_local *t, int64_t off, int64_t bytes) {
  int64_t from = (int64_t)t->addr + off - t->base;
  bool mine = t->buf && t->buf < b->slots.len && b->slots.data[t->buf].gen == t->gen;
  if (mine && t->base + from >= 0 && bytes > 0 && t->base + from + bytes <= acsim_memory_of(b, t->mem)->size)
    memset(acsim_state(b, t, off), 0xff, (size_t)bytes);
}

/* ---- global memory ---- */

acsim_gm *acsim_gm_find(acsim_session *s, const uint8_t *p) {
  size_t lo = 0, hi = s->gms.len; /* last buffer that starts at or before p */
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (s->gms.data[mid]->start <= p)
      lo = mid + 1;
    else
      hi = mid;
  }
  /* what lies behind the binary's constants is not near them: they are no place to count from */
  while (lo && s->gms.data[lo - 1]->b.kind == ACSIM_CONSTANT && p >= s->gms.data[lo - 1]->end) lo--;
  return lo ? s->gms.data[lo - 1] : NULL;
}

static bool read_only(const acsim_gm *m) {
  return m->b.kind == ACSIM_INPUT || m->b.kind == ACSIM_TILING || m->b.kind == ACSIM_CONSTANT;
}

acsim_gm *acsim_gm_home(acsim_session *s, const acsim_global *g, const uint8_t *p) {
  acsim_gm *m = g->base ? acsim_gm_find(s, g->base) : NULL;
  return m && g->base <= m->end ? m : acsim_gm_find(s, p);
}

static int64_t floor_div(int64_t n, int64_t by) {
  return n / by - (n % by < 0);
}

static bool gm_bounds(acsim_block *b, const char *op, acsim_at at, const acsim_global *g, const uint8_t *p,
                      int64_t bytes, acsim_gm *m, bool write) {
  const char *verb = write ? "writes" : "reads";
  if (!m || p < m->start || p + bytes > m->end) {
    acsim_gm *home = m; /* which says where a view belongs even when the access has left it */
    if (home && home->b.system && home->b.system >= home->b.bytes)
      acsim_fault(
          b->s, b, "no-system-workspace", at,
          "%s %s byte %lld of the user's workspace, and the %lld bytes of the whole are less than the system's "
          "part: the tiling code has to ask for GetLibApiWorkSpaceSize() and its own on top",
          op, verb, (long long)(p - home->end), (long long)home->b.bytes);
    else if (home)
      acsim_fault(b->s, b, "gm-out-of-bounds", at, "%s %s elements %lld..%lld of %s, which has %lld", op, verb,
                  (long long)floor_div(p - home->start, home->b.elem),
                  (long long)floor_div(p + bytes - 1 - home->start, home->b.elem), home->b.name,
                  (long long)home->elems);
    else
      acsim_fault(b->s, b, "gm-out-of-bounds", at,
                  "%s %s %lld bytes at an address that belongs to no tensor of the launch", op, verb,
                  (long long)bytes);
    return false;
  }
  if (g && g->bytes && (p < g->base || p + bytes > g->base + g->bytes)) {
    acsim_fault(b->s, b, "gm-out-of-bounds", at,
                "%s %s bytes %lld..%lld of a GlobalTensor on %s that SetGlobalBuffer gave %lld bytes", op, verb,
                (long long)(p - g->base), (long long)(p + bytes - g->base), m->b.name, (long long)g->bytes);
  }
  return true; /* the device does not know what SetGlobalBuffer named */
}

uint8_t *acsim_user_workspace(uint8_t *p) {
  acsim_block *b = acsim_here("GetUserWorkspace");
  acsim_gm *m = acsim_gm_find(b->s, p);
  return m && m->start == p && m->b.kind == ACSIM_WORKSPACE ? p + m->b.system : p;
}

uint8_t *acsim_system_workspace(void) {
  acsim_block *b = acsim_here("GetSysWorkSpacePtr");
  for (size_t i = 0; i < b->s->gms.len; i++)
    if (b->s->gms.data[i]->b.kind == ACSIM_WORKSPACE) return b->s->gms.data[i]->start;
  return NULL;
}

bool acsim_gm_touch(acsim_block *b, ac_pipe pipe, const char *op, acsim_at at, const acsim_global *g, int64_t off,
                    int64_t bytes, acsim_gm_how how) {
  if (bytes <= 0) return true;
  const uint8_t *p = g->ptr + off;
  acsim_gm *m = acsim_gm_home(b->s, g, p);
  settle_pipe(b, pipe, at);
  if (!gm_bounds(b, op, at, g, p, bytes, m, how != GM_READ)) return false;
  if (how != GM_READ && read_only(m)) {
    acsim_fault(b->s, b, "write-to-input", at, "%s writes to %s, which is an input", op, m->b.name);
    return false;
  }
  if (m->b.system && p < m->start + m->b.system) {
    acsim_fault(
        b->s, b, "system-workspace", at,
        "%s touches byte %lld of %s, whose first %lld bytes are the system's: GetUserWorkspace gives the user's part",
        op, (long long)(p - m->start), m->b.name, (long long)m->b.system);
    return false;
  }
  acsim_time_global(b, pipe, op, at, m, p, bytes, how);
  if (!m->written) return true;
  int64_t from = p - m->start;
  bool filled = m->b.kind == ACSIM_INOUT || m->b.zeroed;
  if ((how == GM_READ || how == GM_UPDATE) && !filled)
    acsim_written_before(b, op, at, m, from, from + bytes, how == GM_UPDATE);
  if (how != GM_READ) acsim_written(b, at, m, from, from + bytes, how);
  acsim_order_global(b, pipe, op, at, m, p, bytes, how == GM_FILL ? GM_WRITE : how);
  if (b->cache || pipe == AC_PIPE_S) acsim_cache_touch(b, pipe, op, at, m, p, bytes, how);
  return true;
}

int64_t acsim_gm_clip(acsim_block *b, const acsim_global *g, int64_t off, int64_t bytes, bool write) {
  const uint8_t *p = g->ptr + off;
  acsim_gm *m = acsim_gm_home(b->s, g, p);
  if (!m || p >= m->end || p < m->start + m->b.system) return 0;
  if (write && read_only(m)) return 0;
  return m->end - p < bytes ? m->end - p : bytes;
}

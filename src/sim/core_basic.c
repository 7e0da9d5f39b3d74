/* Tensors at fixed addresses, buffer pools, the control register, access past the data cache, printing (kernel_abi_basic.h). */
#include "../../sim/include/acsim/kernel_abi_basic.h"
#include "sim/core_hazard.h"

#include <inttypes.h>
#include <string.h>

enum { BLOCK = 32, MAX_SLOTS = 60000 };

static uint64_t up(uint64_t n) {
  return (n + BLOCK - 1) / BLOCK * BLOCK;
}

/* ---- fixed addresses ---- */

static uint16_t static_slot(acsim_block *b, int mem, int pos, uint32_t addr, uint32_t bytes, acsim_at at) {
  for (size_t i = b->slots.len; i-- > 1;) {
    const acsim_slot *s = &b->slots.data[i];
    if (s->state == SLOT_TBUF && !s->queue && s->mem == mem && s->base == addr && s->size == bytes)
      return (uint16_t)i;
  }
  if (b->slots.len >= MAX_SLOTS) {
    acsim_fault(b->s, b, "not-modelled", at, "more than %d different tensors at fixed addresses", MAX_SLOTS);
    acsim_leave(b);
  }
  acsim_slot s = {.base = addr,
                  .size = bytes,
                  .mem = (uint8_t)mem,
                  .pos = (uint8_t)pos,
                  .state = SLOT_TBUF,
                  .gen = ++b->generation,
                  .at = at,
                  .free_event = -1,
                  .queue_event = -1};
  ac_push(b->arena, &b->slots, s);
  return (uint16_t)(b->slots.len - 1);
}

void acsim_static_local(int32_t pos, uint32_t addr, uint64_t bytes, acsim_local *t, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("LocalTensor", AT);
  int mem = acsim_mem_of_pos(pos);
  const acsim_memory *m = acsim_memory_of(b, mem);
  *t = (acsim_local){.mem = (uint8_t)mem, .pos = (uint8_t)pos};
  if (addr % BLOCK) {
    acsim_fault(b->s, b, "misaligned", AT, "a LocalTensor at byte %u of %s: the address must be a multiple of 32",
                addr, acsim_mem_name(mem));
    return;
  }
  if (addr > m->size || bytes > m->size - addr) {
    acsim_fault(b->s, b, "ub-overflow", AT, "a LocalTensor of %llu bytes at byte %u of %s, which has %u bytes",
                (unsigned long long)bytes, addr, acsim_mem_name(mem), m->size);
    acsim_leave(b);
  }
  uint32_t size = (uint32_t)bytes, end = (uint32_t)up(addr + bytes);
  uint16_t k = static_slot(b, mem, pos, addr, size, AT);
  const acsim_slot *s = &b->slots.data[k];
  *t = (acsim_local){addr, size, addr, size, k, s->gen, (uint8_t)mem, (uint8_t)pos};
  if (b->pipe) return; /* TPipe does its own accounts */
  if (end > b->used[mem]) b->used[mem] = end > m->size ? m->size : end;
  if (mem == ACSIM_UB) acsim_ub_taken(b, b->used[mem]);
}

/* ---- pools ---- */

void acsim_pool_init(acsim_pool *p, acsim_pool *parent, const acsim_pool *share, int32_t pos, uint32_t bytes,
                     const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("InitBufPool", AT);
  int mem = acsim_mem_of_pos(pos);
  uint32_t size = (uint32_t)up(bytes), from, room;
  if (share) {
    if (!share->ready || share->mem != mem || size > share->size) {
      acsim_fault(
          b->s, b, "bad-buffer", AT,
          "InitBufPool of %u bytes in the place of a pool of %u bytes: it must be made before, lie in the same "
          "memory and be no smaller",
          size, share->ready ? share->size : 0);
      acsim_leave(b);
    }
    from = share->base;
  } else {
    from = parent ? parent->head : b->used[mem];
    room = parent ? parent->base + parent->size - parent->head : acsim_memory_of(b, mem)->size - from;
    if (size > room) {
      acsim_fault(b->s, b, "ub-overflow", AT, "InitBufPool wants %u bytes, where %u are left", size, room);
      acsim_leave(b);
    }
    if (parent)
      parent->head += size;
    else
      b->used[mem] += size;
  }
  *p = (acsim_pool){from, size, from, (uint8_t)mem, (uint8_t)pos, 1};
}

void acsim_pool_enter(acsim_pool *p, uint32_t num, uint64_t bytes, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("TBufPool::InitBuffer", AT);
  uint64_t all = up(bytes) * num;
  if (!p->ready || all > p->base + p->size - p->head) {
    acsim_fault(b->s, b, p->ready ? "ub-overflow" : "queue-not-initialised", AT,
                "TBufPool::InitBuffer wants %u x %llu bytes in a pool %s", num, (unsigned long long)up(bytes),
                p->ready ? "with less left" : "without InitBufPool");
    acsim_leave(b);
  }
  b->pool_used = b->used[p->mem];
  b->used[p->mem] = p->head;
}
void acsim_pool_leave(acsim_pool *p) {
  acsim_block *b = acsim_here("TBufPool::InitBuffer");
  p->head = b->used[p->mem];
  b->used[p->mem] = b->pool_used;
}
/* Waits for the free flags of the pool's buffers (CANN 8.1, kernel_tpipe_impl.h). */
void acsim_pool_reset(acsim_pool *p, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("TBufPool::Reset", AT);
  (void)file;
  (void)line;
  if (p->ready) acsim_queue_settle(b, p->mem, p->base, p->base + p->size);
}

/* ---- registers ---- */

enum { CTRL_SATURATION = 48 };
static const uint64_t SATURATION = 1ull << CTRL_SATURATION;
static bool bad_register(const acsim_block *b, const char *name, int32_t first, int32_t last, acsim_at at) {
  if (b->s->chip->overflow_register && first == CTRL_SATURATION && last == CTRL_SATURATION) return false;
  acsim_fault(b->s, b, "not-on-chip", at, "%sCtrlSpr<%d, %d>: %s has %s", name, first, last, b->s->chip->soc,
              b->s->chip->overflow_register ? "bit 48 only" : "no such register");
  return true;
}
void acsim_ctrl_set(int32_t first, int32_t last, int64_t value, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("SetCtrlSpr", AT);
  if (bad_register(b, "Set", first, last, AT)) return;
  if (value != 0 && value != 1) {
    acsim_fault(b->s, b, "field-limit", AT, "SetCtrlSpr<48, 48>(%lld): one bit takes 0 or 1", (long long)value);
    return;
  }
  b->saturation = value ? 2 : 1;
}
int64_t acsim_ctrl_get(int32_t first, int32_t last, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("GetCtrlSpr", AT);
  return !bad_register(b, "Get", first, last, AT) && !acsim_saturates(b);
}
/* set_ctrl, get_ctrl: all of it. Of the bits only 48 has a meaning here. */
void acsim_ctrl_set_all(uint64_t value, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("set_ctrl", AT);
  if (value & ~SATURATION)
    acsim_fault(b->s, b, "not-modelled", AT, "set_ctrl(0x%llx): of CTRL only bit 48 is modelled",
                (unsigned long long)value);
  else if (!b->s->chip->overflow_register)
    acsim_fault(b->s, b, "not-on-chip", AT, "set_ctrl: %s has no CTRL bit 48", b->s->chip->soc);
  else
    b->saturation = value ? 2 : 1;
}
uint64_t acsim_ctrl_all(void) {
  const acsim_block *b = acsim_here("get_ctrl");
  return b->s->chip->overflow_register && !acsim_saturates(b) ? SATURATION : 0;
}
/* The integers' own bits (53 and 59 on Atlas A2; asc-devkit impl/basic_api/kernel_operator_common_intf_impl.h): what they are at first. */
void acsim_ctrl_integers(int32_t conversions, int32_t saturate, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("SetSaturationFlag", AT);
  if (!saturate == !conversions) return;
  acsim_fault(b->s, b, "not-modelled", AT, "SetSaturationFlag<%s>(%s): %s", conversions ? "CAST" : "INT",
              saturate ? "true" : "false",
              conversions ? "conversions to integers that keep the low bits are not modelled, they saturate"
                          : "integer arithmetic that saturates is not modelled, it wraps");
}
void acsim_atomic_type(int32_t type, const char *file, int32_t line) {
  acsim_block *b = acsim_here("SetAtomicType");
  acsim_atomic_check(b, "SetAtomicType", ACSIM_ATOMIC_ADD, type, AT);
  b->atomic_type = type;
}
int32_t acsim_atomic_state(int32_t *op) {
  const acsim_block *b = acsim_here("GetStoreAtomicConfig");
  *op = b->atomic;
  return b->atomic == ACSIM_ATOMIC_NONE ? -1 : b->atomic_type;
}
/* AscendC's 12 bits for the vector core of an architecture: 220 for 2201, 200 for 2002 (assumed: the register is not documented) */
uint32_t acsim_arch_version(void) {
  return (uint32_t)acsim_here("GetArchVersion")->s->chip->npu_arch / 10;
}

/* ---- scalar access past the data cache ---- */

void acsim_bypass_get(const void *p, uint32_t bytes, void *out, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("ReadGmByPassDCache", AT);
  acsim_order_begin(b);
  acsim_global g = {.ptr = (uint8_t *)(uintptr_t)p, .base = (uint8_t *)(uintptr_t)p};
  memset(out, 0, bytes);
  b->bypass = true;
  if (acsim_gm_touch(b, AC_PIPE_S, "ReadGmByPassDCache", AT, &g, 0, bytes, GM_READ)) memcpy(out, p, bytes);
  b->bypass = false;
}
/* Whole lines are not written back, so neighbours in a line are safe (asc-devkit docs/zh, WriteGmByPassDCache). */
void acsim_bypass_set(void *p, uint32_t bytes, const void *v, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("WriteGmByPassDCache", AT);
  acsim_order_begin(b);
  acsim_global g = {.ptr = p, .base = p};
  b->bypass = true;
  if (acsim_gm_touch(b, AC_PIPE_S, "WriteGmByPassDCache", AT, &g, 0, bytes, GM_WRITE)) memcpy(p, v, bytes);
  b->bypass = false;
}

/* ---- printing ---- */

static void print_value(FILE *to, int type, const void *p, int64_t i) {
  switch (type) {
  case ACSIM_F32:
  case ACSIM_F16:
  case ACSIM_BF16:
  case ACSIM_F64: fprintf(to, " %f", ac_load((ac_dtype)type, p, i)); break;
  case ACSIM_U64: fprintf(to, " %" PRIu64, ((const uint64_t *)p)[i]); break;
  default: fprintf(to, " %lld", (long long)ac_load_int((ac_dtype)type, p, i)); break;
  }
}
static void print_values(const acsim_block *b, const char *head, int type, const uint8_t *p, int64_t n) {
  int64_t per = BLOCK / acsim_type_bytes(type);
  flockfile(stderr);
  fprintf(stderr, "[block %lld] %s\n", (long long)b->index, head);
  for (int64_t i = 0; i < n; i += per) {
    fprintf(stderr, "%04lld:", (long long)i);
    for (int64_t k = i; k < n && k < i + per; k++) print_value(stderr, type, p, k);
    fputc('\n', stderr);
  }
  funlockfile(stderr);
}

void acsim_dump_local(const acsim_local *t, int32_t type, int64_t first, int64_t n, int64_t tag, const char *what,
                      const char *file, int32_t line) {
  acsim_block *b = acsim_here_at(what, AT);
  int es = acsim_type_bytes(type);
  acsim_order_begin(b);
  acsim_access x = {"tensor", t, first * es, n * es, es, ACSIM_READ | ACSIM_SOFT};
  if (!acsim_touch(b, AC_PIPE_S, what, AT, &x, 1)) return;
  char head[160];
  snprintf(head, sizeof head, "%s: desc=%lld, addr=0x%x, data_type=%s, position=%s, dump_size=%lld", what,
           (long long)tag, t->addr, ac_dtypes[type].cpp, acsim_mem_name(t->mem), (long long)n);
  print_values(b, head, type, acsim_data(b, t, x.off), n);
}
void acsim_dump_global(const acsim_global *t, int32_t type, int64_t first, int64_t n, int64_t tag, const char *file,
                       int32_t line) {
  acsim_block *b = acsim_here_at("DumpTensor", AT);
  int es = acsim_type_bytes(type);
  acsim_order_begin(b);
  if (!acsim_gm_touch(b, AC_PIPE_S, "DumpTensor", AT, t, first * es, n * es, GM_READ)) return;
  char head[160];
  snprintf(head, sizeof head, "DumpTensor: desc=%lld, data_type=%s, position=GM, dump_size=%lld", (long long)tag,
           ac_dtypes[type].cpp, (long long)n);
  print_values(b, head, type, t->ptr + first * es, n);
}
int32_t acsim_local_to_file(const acsim_local *t, const char *name, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("ToFile", AT);
  acsim_order_begin(b);
  acsim_access x = {"tensor", t, 0, t->len, 1, ACSIM_READ | ACSIM_SOFT};
  if (!acsim_touch(b, AC_PIPE_S, "ToFile", AT, &x, 1)) return 1;
  FILE *to = fopen(name, "wb");
  if (!to) return 1;
  bool ok = fwrite(acsim_data(b, t, 0), 1, t->len, to) == t->len;
  return fclose(to) || !ok;
}

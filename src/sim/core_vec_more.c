/* Vector instructions whose operands are found by address or in registers: gathers, scatters, compare and select through CMPMASK,
 * the accumulating sum. */
#include "sim/core_vec.h"

/* Element k of the instruction and where it lies in dst: by count, or in the lanes of the repeats. */
typedef struct {
  int64_t number; /* of the element: which offset it uses */
  int64_t at;     /* byte in the contiguous operand */
} element;

/* Calls fn for every element that is on. Offsets are consecutive, whether their lanes are on or not (asc-devkit docs/zh, Gather). */
typedef bool (*element_fn)(const call *c, element e);
static void each_element(const call *c, element_fn fn) {
  const acsim_repeat *r = c->v->repeat;
  if (!r) {
    for (int64_t i = 0; i < c->v->count; i++)
      if (!fn(c, (element){i, i * c->es})) return;
    return;
  }
  for (int k = c->from; k < c->from + r->repeat; k++)
    for (int i = 0; i < c->lanes; i++) {
      element e = {(int64_t)k * c->lanes + i, (int64_t)k * r->dst_repeat * BLOCK_BYTES + (int64_t)i * c->es};
      if (lane_on(r, i) && !fn(c, e)) return;
    }
}

/* Byte offset number i of the offset tensor, from the base address on. False: reported. */
static bool offset_of(const call *c, int64_t i, int64_t *off) {
  acsim_access x = {"the offsets", c->v->b, i * 4, 4, 4, ACSIM_READ};
  if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, &x, 1)) return false;
  *off = (int64_t)ac_load_int(AC_U32, acsim_data(c->b, c->v->b, 0), i) + c->v->i;
  return true;
}

/* How messages name the side that is addressed: an offset in elements is the usual mistake, and lands out of bounds or between elements. */
#define BY_OFFSETS(operand) operand " (at offsets, which count bytes)"

static bool gather_one(const call *c, element e) {
  const acsim_vector *v = c->v;
  int64_t off;
  if (!offset_of(c, e.number, &off)) return false;
  if (c->shared && !acsim_vec_note_read(c, v->b->addr + e.number * 4, 4))
    acsim_vec_note_read(c, v->a->addr + off, c->es); /* reported; the device goes on, lane by lane (assumed) */
  acsim_access x[] = {{BY_OFFSETS("src"), v->a, off, c->es, c->es, ACSIM_READ},
                      {"dst", v->dst, e.at, c->es, 1, ACSIM_WRITE}};
  if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, x, 2)) return false;
  memcpy(acsim_data(c->b, v->dst, e.at), acsim_data(c->b, v->a, off), (size_t)c->es);
  mark(c, v->dst, e.at, c->es);
  return true;
}
static bool starts_ok(const call *c, const acsim_local *linear, const char *name) {
  return acsim_vec_check_start(c, name, linear, BLOCK_BYTES) &&
         acsim_vec_check_start(c, "the offsets", c->v->b, BLOCK_BYTES);
}
static bool note_element(const call *c, element e) {
  acsim_vec_note_write(c->v->dst->addr + e.at, c->es);
  return true;
}
/* Sources that may share memory with dst are looked at byte by byte: gathers do not work in place (docs/zh, Gather). */
static bool may_share(const call *c, int64_t dst_bytes) {
  return acsim_vec_may_share(c->v->dst, dst_bytes, c->v->a) || acsim_vec_may_share(c->v->dst, dst_bytes, c->v->b);
}
/* dst[i] = src at byte offset b[i] + v->i */
void acsim_vec_gather(const call *given) {
  call own = *given, *c = &own;
  const acsim_vector *v = c->v;
  if (!starts_ok(c, v->dst, "dst") || !acsim_vec_check_start(c, "src", v->a, BLOCK_BYTES)) return;
  int64_t last = v->repeat ? (int64_t)(c->from + v->repeat->repeat) : 0;
  int64_t bytes = v->repeat ? last * (v->repeat->dst_repeat * BLOCK_BYTES) + REPEAT_BYTES : v->count * c->es;
  c->shared = may_share(c, bytes);
  if (c->shared) {
    acsim_vec_track_begin();
    if (c->counted && v->repeat) /* counter mode: of both parts */
      for (int64_t n = 0; n < (int64_t)c->b->mask[0]; n++)
        note_element(c, (element){n, n / c->lanes * v->repeat->dst_repeat * BLOCK_BYTES + n % c->lanes * c->es});
    else
      each_element(c, note_element);
  }
  if (v->repeat || c->shared) {
    each_element(c, gather_one);
    return;
  }
  /* by count: the contiguous operands in one piece */
  acsim_access x[] = {{"dst", v->dst, 0, v->count * c->es, BLOCK_BYTES, ACSIM_WRITE},
                      {"the offsets", v->b, 0, v->count * 4, BLOCK_BYTES, ACSIM_READ}};
  if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, x, 2)) return;
  for (int64_t i = 0; i < v->count; i++) {
    int64_t off = (int64_t)ac_load_int(AC_U32, acsim_data(c->b, v->b, 0), i) + v->i;
    acsim_access s = {BY_OFFSETS("src"), v->a, off, c->es, c->es, ACSIM_READ};
    if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, &s, 1)) return;
    memcpy(acsim_data(c->b, v->dst, i * c->es), acsim_data(c->b, v->a, off), (size_t)c->es);
    mark(c, v->dst, i * c->es, c->es);
  }
}

static bool scatter_one(const call *c, element e) {
  const acsim_vector *v = c->v;
  int64_t off;
  if (!offset_of(c, e.number, &off)) return false;
  acsim_access x[] = {{"src", v->a, e.at, c->es, 1, ACSIM_READ},
                      {BY_OFFSETS("dst"), v->dst, off, c->es, c->es, ACSIM_WRITE}};
  if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, x, 2)) return false;
  memcpy(acsim_data(c->b, v->dst, off), acsim_data(c->b, v->a, e.at), (size_t)c->es);
  mark(c, v->dst, off, c->es);
  return true;
}
/* dst at byte offset b[i] + v->i = src[i]. Not on Atlas A2, whose vector unit cannot scatter. */
void acsim_vec_scatter(const call *c) {
  if (c->b->s->chip->npu_arch == 2201) {
    acsim_fault(c->b->s, c->b, "not-on-chip", c->at, "Scatter does not exist on %s", c->b->s->chip->soc);
    return;
  }
  if (starts_ok(c, c->v->a, "src")) each_element(c, scatter_one);
}

/* Eight 32-byte blocks a repeat, each from its own byte offset. */
void acsim_vec_gatherb(const call *c) {
  const acsim_vector *v = c->v;
  const acsim_repeat *r = v->repeat;
  if (!starts_ok(c, v->dst, "dst") || !acsim_vec_check_start(c, "src0", v->a, BLOCK_BYTES)) return;
  int64_t step = r->dst_block ? r->dst_block : 1; /* 0 counts as 1 (docs/zh, Gatherb) */
  bool shared = may_share(c, ((int64_t)(r->repeat - 1) * r->dst_repeat + 7 * step + 1) * BLOCK_BYTES);
  acsim_vec_track_begin();
  for (int64_t k = 0; shared && k < r->repeat; k++)
    for (int64_t j = 0; j < 8; j++)
      acsim_vec_note_write(v->dst->addr + (k * r->dst_repeat + j * step) * BLOCK_BYTES, BLOCK_BYTES);
  for (int64_t k = 0; k < r->repeat; k++)
    for (int64_t j = 0; j < 8; j++) {
      int64_t off, to = (k * r->dst_repeat + j * step) * BLOCK_BYTES;
      if (!offset_of(c, k * 8 + j, &off)) return;
      if (shared && !acsim_vec_note_read(c, v->b->addr + (k * 8 + j) * 4, 4))
        acsim_vec_note_read(c, v->a->addr + off, BLOCK_BYTES);
      acsim_access x[] = {{"src0", v->a, off, BLOCK_BYTES, BLOCK_BYTES, ACSIM_READ},
                          {"dst", v->dst, to, BLOCK_BYTES, 1, ACSIM_WRITE}};
      if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, x, 2)) return;
      memcpy(acsim_data(c->b, v->dst, to), acsim_data(c->b, v->a, off), BLOCK_BYTES);
      mark(c, v->dst, to, BLOCK_BYTES);
    }
}

/* Lane i of repeat k is first + k * lanes + i. */
void acsim_vec_iota_repeat(const call *c) {
  const acsim_vector *v = c->v;
  const acsim_repeat *r = v->repeat;
  if (!acsim_vec_check_start(c, "dst", v->dst, BLOCK_BYTES)) return;
  for (int k = c->from; k < c->from + r->repeat; k++) {
    int64_t base = (int64_t)k * r->dst_repeat * BLOCK_BYTES, n = (int64_t)k * c->lanes;
    uint8_t lanes[REPEAT_BYTES];
    if (!acsim_vec_touch_repeat(c, "dst", v->dst, base, c->es, r->dst_block, ACSIM_WRITE)) return;
    acsim_math_iota(v->type, lanes, v->f + (double)n, v->i + n, c->lanes);
    acsim_vec_scatter_repeat(c, lanes, v->dst, base, c->es, r->dst_block);
  }
}

/* ---- CMPMASK ---- */

/* One repeat to the register; lanes that are off keep their bits. */
void acsim_vec_compare_register(const call *c) {
  const acsim_vector *v = c->v;
  const acsim_repeat *r = v->repeat;
  uint8_t a[REPEAT_BYTES] = {0}, b[REPEAT_BYTES] = {0}, bits[16] = {0};
  if (!acsim_vec_check_start(c, "src0", v->a, BLOCK_BYTES) || !acsim_vec_check_start(c, "src1", v->b, BLOCK_BYTES))
    return;
  if (!acsim_vec_touch_repeat(c, "src0", v->a, 0, c->es, r->a_block, ACSIM_READ) ||
      !acsim_vec_touch_repeat(c, "src1", v->b, 0, c->es, r->b_block, ACSIM_READ))
    return;
  acsim_vec_gather_repeat(c, a, v->a, 0, c->es, r->a_block);
  acsim_vec_gather_repeat(c, b, v->b, 0, c->es, r->b_block);
  acsim_math_compare_bits(v->mode, v->type, bits, a, b, v->f, v->i, c->lanes);
  for (int i = 0; i < c->lanes; i++) {
    uint8_t bit = (uint8_t)(1u << i % 8);
    if (!lane_on(r, i)) continue;
    c->b->cmp_mask[i / 8] = (uint8_t)((c->b->cmp_mask[i / 8] & ~bit) | (bits[i / 8] & bit));
    c->b->cmp_state[i / 8] |= bit;
  }
}

void acsim_cmp_mask_get(const acsim_local *dst, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("GetCmpMask", AT);
  acsim_order_begin(b);
  acsim_access x = {"dst", dst, 0, 16, 16, ACSIM_WRITE};
  if (!acsim_touch(b, AC_PIPE_V, "GetCmpMask", AT, &x, 1)) return;
  memcpy(acsim_data(b, dst, 0), b->cmp_mask, 16);
  memcpy(acsim_state(b, dst, 0), b->cmp_state, 16);
}
void acsim_cmp_mask_set(const acsim_local *src, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("SetCmpMask", AT);
  acsim_access x = {"src", src, 0, 16, 16, ACSIM_READ | ACSIM_SOFT};
  if (!acsim_touch(b, AC_PIPE_V, "SetCmpMask", AT, &x, 1)) return;
  memcpy(b->cmp_mask, acsim_data(b, src, 0), 16);
  memcpy(b->cmp_state, acsim_state(b, src, 0), 16);
}

/* vcadd into the accumulation register: the repeats' tree sums, added one after another. */
void acsim_vec_accumulate(const call *c) {
  const acsim_vector *v = c->v;
  const acsim_repeat *r = v->repeat;
  float total = c->from ? (float)c->b->acc : 0;
  for (int k = c->from; k < c->from + r->repeat; k++) {
    uint8_t lanes[REPEAT_BYTES] = {0}, sum[4] = {0};
    int64_t o = (int64_t)k * r->a_repeat * BLOCK_BYTES;
    if (!acsim_vec_touch_repeat(c, "src", v->a, o, c->es, r->a_block, ACSIM_READ)) return;
    acsim_vec_gather_repeat(c, lanes, v->a, o, c->es, r->a_block);
    acsim_math_tree_sum(v->type, sum, lanes, r->mask, c->lanes, c->saturate);
    total = k ? total + (float)ac_load((ac_dtype)v->type, sum, 0) : (float)ac_load((ac_dtype)v->type, sum, 0);
  }
  c->b->acc = total;
}

/* ---- registers ---- */

void acsim_reduce_peak(int32_t type, void *value, void *index) {
  acsim_block *b = acsim_here("GetReduceMaxMinCount");
  uint32_t i = (uint32_t)b->peak_index;
  ac_store((ac_dtype)type, value, 0, b->peak_value);
  memcpy(index, &i, (size_t)acsim_type_bytes(type));
}
int64_t acsim_gather_count(void) {
  return acsim_here("GetGatherMaskRemainCount")->gather_count;
}
double acsim_accumulated(void) {
  return acsim_here("GetAccVal")->acc;
}
void acsim_set_deq_scale(uint64_t bits) {
  acsim_block *b = acsim_here("SetDeqScale");
  b->deq_scale = bits;
  b->deq_form = ACSIM_DEQ_HALF;
}

/* The buffer that an address in UB belongs to: of those that cover it the one that was made last. */
void acsim_local_of(const void *p, acsim_local *t) {
  acsim_block *b = acsim_here("an intrinsic on a pointer");
  *t = (acsim_local){.mem = ACSIM_UB};
  const acsim_memory *m = acsim_memory_of(b, ACSIM_UB);
  const uint8_t *q = p;
  if (!q || q < m->data || q >= m->data + m->size) return; /* the access reports "no-tensor" */
  uint32_t addr = (uint32_t)(q - m->data);
  for (size_t i = b->slots.len; i-- > 1;) {
    const acsim_slot *s = &b->slots.data[i];
    if (s->mem != ACSIM_UB || s->state == SLOT_GONE || addr < s->base || addr >= s->base + s->size) continue;
    *t = (acsim_local){addr, s->base + s->size - addr, s->base, s->size, (uint16_t)i, s->gen, s->mem, s->pos};
    return;
  }
}

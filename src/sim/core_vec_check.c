/* What vector instructions refuse apart from addresses: pairs of types, and operands that overlap. asc-devkit docs/zh: each
 * instruction's table of types; general constraints, overlap of addresses. */
#include "sim/core_vec.h"

/* ---- the type of dst where it is not that of the sources ---- */

static bool pair_ok(const acsim_vector *v) {
  int s = v->type, d = v->dst_type;
  switch (v->op) {
  case ACSIM_OP_Axpy:
  case ACSIM_OP_MulAddDst: return d == s || (s == ACSIM_F16 && d == ACSIM_F32);
  case ACSIM_OP_MulCast: return s == ACSIM_F16 && (d == ACSIM_I8 || d == ACSIM_U8);
  case ACSIM_OP_AddReluCast:
  case ACSIM_OP_SubReluCast: return s == ACSIM_F32 ? d == ACSIM_F16 : d == ACSIM_I8;
  case ACSIM_OP_Compare: return !v->dst || d == ACSIM_U8 || d == ACSIM_I8;
  case ACSIM_OP_CompareScalar: return d == ACSIM_U8;
  default: return true;
  }
}
bool acsim_vec_check_pair(const call *c) {
  const acsim_vector *v = c->v;
  if ((v->op == ACSIM_OP_ShiftLeft || v->op == ACSIM_OP_ShiftRight) && (v->i < 0 || v->i > 8 * c->es)) {
    acsim_fault(c->b->s, c->b, "field-limit", c->at, "%s by %lld bits: 0 to %d are allowed for %s", c->name,
                (long long)v->i, 8 * c->es, ac_dtypes[v->type].cpp);
    return false;
  }
  if (pair_ok(v)) return true;
  acsim_fault(c->b->s, c->b, "no-such-dtype", c->at, "%s of %s to %s does not exist on %s", c->name,
              ac_dtypes[v->type].cpp, ac_dtypes[v->dst_type].cpp, c->b->s->chip->soc);
  return false;
}

/* ---- overlap ---- */

/* For every byte of UB: the first repeat that writes it and the last one, both plus 1; 0: none. Only [low, high) is in use. */
enum { TRACKED = 256 << 10 };
static _Thread_local uint32_t first_write[TRACKED], last_write[TRACKED];
static _Thread_local int64_t low = TRACKED, high;

static void track_begin(void) {
  if (low < high) {
    memset(first_write + low, 0, (size_t)(high - low) * sizeof *first_write);
    memset(last_write + low, 0, (size_t)(high - low) * sizeof *last_write);
  }
  low = TRACKED;
  high = 0;
}
static void track_write(int64_t at, int64_t n, int64_t k) {
  for (int64_t i = at < 0 ? 0 : at; i < at + n && i < TRACKED; i++) {
    if (!first_write[i]) first_write[i] = (uint32_t)k + 1;
    last_write[i] = (uint32_t)k + 1;
  }
  if (at < low) low = at < 0 ? 0 : at;
  if (at + n > high) high = at + n < TRACKED ? at + n : TRACKED;
}
/* Does repeat k read a byte that an earlier one has written? */
static bool reads_earlier(int64_t at, int64_t n, int64_t k) {
  for (int64_t i = at < 0 ? 0 : at; i < at + n && i < TRACKED; i++)
    if (first_write[i] && first_write[i] <= k) return true;
  return false;
}
static bool reads_own(int64_t at, int64_t n, int64_t k) {
  for (int64_t i = at < 0 ? 0 : at; i < at + n && i < TRACKED; i++)
    if (last_write[i] == (uint32_t)k + 1) return true;
  return false;
}

typedef struct {
  const char *name;
  const acsim_local *t;
  int bytes;
  int64_t block, repeat; /* bytes between blocks, between repeats */
  int half;              /* of CastDeq's dst: 16 bytes of each block from here on, plus 1; 0: whole blocks */
} operand;
static int64_t at_of(const operand *o, int64_t k, int lane) {
  int per = o->half ? BLOCK_BYTES / 2 : BLOCK_BYTES / o->bytes, skip = o->half ? o->half - 1 : 0;
  return o->t->addr + k * o->repeat + lane / per * o->block + skip + (int64_t)(lane % per) * o->bytes;
}
static int half_of(const acsim_vector *v) {
  return v->op != ACSIM_OP_CastDeq || v->type != ACSIM_I16 ? 0 : v->mode & 2 ? 17 : 1;
}
static int64_t last_of(const operand *o, const call *c, int64_t repeats) {
  return at_of(o, repeats - 1, c->lanes - 1) + o->bytes; /* blocks follow each other, or lie on each other */
}
static bool apart(const call *c, const operand *x, const operand *y, int64_t repeats) {
  return x->t->mem != y->t->mem || last_of(x, c, repeats) <= y->t->addr || last_of(y, c, repeats) <= x->t->addr;
}

/* The one case in which a later repeat may read what an earlier one wrote (general constraints). */
static bool may_chain(const call *c, bool is_b) {
  const acsim_vector *v = c->v;
  switch (v->op) {
  case ACSIM_OP_Add:
  case ACSIM_OP_Sub:
  case ACSIM_OP_Mul:
  case ACSIM_OP_Max:
  case ACSIM_OP_Min:
  case ACSIM_OP_AddRelu:
  case ACSIM_OP_SubRelu: break;
  default: return false;
  }
  bool type = v->type == ACSIM_F16 || v->type == ACSIM_F32 || v->type == ACSIM_I32;
  return is_b && type && (!v->repeat->b_repeat || !v->repeat->dst_repeat);
}

static bool lane_counts(const call *c, int64_t total, int64_t k, int lane) {
  return total >= 0 ? k * c->lanes + lane < total : !c->v->repeat || lane_on(c->v->repeat, lane);
}

/* total: elements in counter mode; -1: the mask's lanes of every repeat. */
static bool meets(const call *c, const operand *d, const operand *s, int64_t repeats, int64_t total, bool chain) {
  bool alike = d->t->addr == s->t->addr && d->bytes == s->bytes && d->block == s->block && d->repeat == s->repeat;
  int64_t one = at_of(d, 0, c->lanes - 1) + d->bytes - d->t->addr; /* bytes of one repeat */
  if (alike && (chain || repeats == 1 || d->repeat >= one)) return false;
  /* conversions to another size read a repeat before they write it */
  bool resizes = c->v->op == ACSIM_OP_Cast || c->v->op == ACSIM_OP_CastDeq || c->v->op == ACSIM_OP_AddDeqRelu;
  bool inside = !resizes || s->bytes == d->bytes;
  track_begin();
  for (int64_t k = 0; k < repeats; k++) {
    for (int i = 0; i < c->lanes; i++)
      if (lane_counts(c, total, k, i)) track_write(at_of(d, k, i), d->bytes, k);
    for (int i = 0; i < c->lanes; i++) {
      if (!lane_counts(c, total, k, i)) continue;
      int64_t from = at_of(s, k, i), to = at_of(d, k, i);
      if (!chain && reads_earlier(from, s->bytes, k)) return true;
      if (inside && (from != to || s->bytes != d->bytes) && reads_own(from, s->bytes, k)) return true;
    }
  }
  return false;
}

static void report(const call *c, const operand *d, const operand *s) {
  acsim_fault(
      c->b->s, c->b, "overlap", c->at,
      "%s: dst (byte %u of its memory) and %s (byte %u) overlap, but are not the same: the instruction reads what "
      "it has just written",
      c->name, d->t->addr, s->name, s->t->addr);
}

static bool lane_by_lane(int op) {
  switch (op) {
  case ACSIM_OP_Compare:
  case ACSIM_OP_CompareScalar:
  case ACSIM_OP_Gather:
  case ACSIM_OP_Gatherb:
  case ACSIM_OP_GatherMask:
  case ACSIM_OP_Scatter:
  case ACSIM_OP_Brcb:
  case ACSIM_OP_CreateVecIndex:
  case ACSIM_OP_AccumulateSum: return false;
  default: return true;
  }
}
static bool reduces(int op) {
  switch (op) {
  case ACSIM_OP_ReduceSum:
  case ACSIM_OP_ReduceMax:
  case ACSIM_OP_ReduceMin:
  case ACSIM_OP_WholeReduceSum:
  case ACSIM_OP_WholeReduceMax:
  case ACSIM_OP_WholeReduceMin:
  case ACSIM_OP_BlockReduceSum:
  case ACSIM_OP_BlockReduceMax:
  case ACSIM_OP_BlockReduceMin:
  case ACSIM_OP_PairReduceSum: return true;
  default: return false;
  }
}

/* A block stride of 0 is not supported for dst (docs/zh, high-dimensional slicing): the blocks of a repeat would meet. */
static void check_block_stride(const call *c, int64_t total) {
  int per = half_of(c->v) ? BLOCK_BYTES / 2 : BLOCK_BYTES / c->ds, first = -1;
  for (int i = 0; i < c->lanes; i++) {
    if (!lane_counts(c, total, 0, i)) continue;
    if (first >= 0 && i / per != first) {
      acsim_fault(c->b->s, c->b, "field-limit", c->at,
                  "%s: the block stride of dst is 0, and the mask has lanes of more than one block", c->name);
      return;
    }
    first = i / per;
  }
}

/* Before an instruction with repeats. total: elements in counter mode; -1: the mask's lanes of every repeat. */
void acsim_vec_check_overlap(const call *c, int64_t total) {
  const acsim_vector *v = c->v;
  const acsim_repeat *r = v->repeat;
  int64_t repeats = total >= 0 ? (total + c->lanes - 1) / c->lanes : r->repeat;
  bool strided = (lane_by_lane(v->op) || v->op == ACSIM_OP_CreateVecIndex) && !reduces(v->op);
  if (v->dst && strided && repeats > 0 && !r->dst_block) check_block_stride(c, total);
  if (!v->dst || !v->a || repeats <= 0 || !lane_by_lane(v->op) || reduces(v->op)) return;
  operand d = {"dst",     v->dst, c->ds, (int64_t)r->dst_block * BLOCK_BYTES, (int64_t)r->dst_repeat * BLOCK_BYTES,
               half_of(v)};
  operand a = {
      v->b ? "src0" : "src", v->a, c->es, (int64_t)r->a_block * BLOCK_BYTES, (int64_t)r->a_repeat * BLOCK_BYTES, 0};
  operand b = {"src1", v->b, c->es, (int64_t)r->b_block * BLOCK_BYTES, (int64_t)r->b_repeat * BLOCK_BYTES, 0};
  if (!apart(c, &d, &a, repeats) && meets(c, &d, &a, repeats, total, may_chain(c, false))) report(c, &d, &a);
  if (v->b && !apart(c, &d, &b, repeats) && meets(c, &d, &b, repeats, total, may_chain(c, true))) report(c, &d, &b);
}

/* Instructions that read a repeat before they write it: between repeats the rule holds for them too. Results lie `step` bytes from repeat
 * to repeat, `bytes` each: one a repeat (group 0), or one for every group of lanes that has a lane. */
static void write_results(const call *c, int64_t at, int64_t bytes, int group, int64_t total, int64_t k) {
  if (!group) {
    track_write(at, bytes, k);
    return;
  }
  for (int i = 0; i < c->lanes; i++)
    if (lane_counts(c, total, k, i)) track_write(at + i / group * bytes, bytes, k);
}
void acsim_vec_check_chain(const call *c, const char *name, const acsim_local *src, int64_t a_block, int64_t a_repeat,
                           int64_t step, int64_t bytes, int group, int64_t repeats) {
  const acsim_local *dst = c->v->dst;
  operand s = {name, src, c->es, a_block * BLOCK_BYTES, a_repeat * BLOCK_BYTES, 0}, d = {"dst", dst, 1, 0, 0, 0};
  int64_t total = c->counted ? (int64_t)c->b->mask[0] : -1; /* counter mode comes in two parts: all with the first */
  if (c->counted && c->from) return;
  if (c->counted) repeats = (total + c->lanes - 1) / c->lanes;
  if (repeats < 2 || dst->mem != src->mem) return;
  int64_t end = dst->addr + (repeats - 1) * step + bytes * (group ? c->lanes / group : 1);
  if (end <= src->addr || last_of(&s, c, repeats) <= dst->addr) return;
  bool lanes = c->v->repeat && reduces(c->v->op);
  track_begin();
  for (int64_t k = 0; k < repeats; k++) {
    for (int i = 0; i < c->lanes; i++)
      if ((!lanes || lane_counts(c, total, k, i)) && reads_earlier(at_of(&s, k, i), c->es, k)) {
        report(c, &d, &s);
        return;
      }
    write_results(c, dst->addr + k * step, bytes, group, total, k);
  }
}

/* ---- for instructions that go element by element ---- */

void acsim_vec_track_begin(void) {
  track_begin();
}
/* Repeat k reads n bytes and then writes m (to -1: nothing): has an earlier repeat written what is read? */
void acsim_vec_track(const call *c, int64_t from, int64_t n, int64_t to, int64_t m, int64_t k, const char *name) {
  if (reads_earlier(from, n, k))
    acsim_fault(c->b->s, c->b, "overlap", c->at,
                "%s: %s (byte %lld of its memory) was overwritten by an earlier repeat of the same instruction",
                c->name, name, (long long)from);
  if (to >= 0) track_write(to, m, k);
}

/* Gather, Gatherb and Brcb do not work in place (docs/zh): `write` and `read` note bytes, and report where they meet. */
static void shared(const call *c, int64_t at) {
  acsim_fault(c->b->s, c->b, "overlap", c->at, "%s: a source and dst share byte %lld of their memory", c->name,
              (long long)at);
}
void acsim_vec_note_write(int64_t at, int64_t n) {
  track_write(at, n, 0);
}
/* Can they meet at all? bytes: of dst. */
bool acsim_vec_may_share(const acsim_local *dst, int64_t bytes, const acsim_local *src) {
  return dst->mem == src->mem && dst->addr < (int64_t)src->base + src->size && src->base < dst->addr + bytes;
}
bool acsim_vec_note_read(const call *c, int64_t at, int64_t n) {
  if (!reads_own(at, n, 0)) return false;
  shared(c, at);
  return true;
}
bool acsim_track_read(int64_t at, int64_t n) {
  return reads_own(at, n, 0);
}
/* Brcb: contiguous sources, dst in blocks. */
void acsim_vec_check_shared(const call *c) {
  const acsim_vector *v = c->v;
  const acsim_repeat *r = v->repeat;
  track_begin();
  for (int64_t k = 0; k < r->repeat; k++)
    for (int64_t j = 0; j < 8; j++)
      track_write(v->dst->addr + (k * r->dst_repeat + j * r->dst_block) * BLOCK_BYTES, BLOCK_BYTES, 0);
  acsim_vec_note_read(c, v->a->addr, (int64_t)r->repeat * 8 * c->es);
}

/* Select: no repeat may find in selMask what it or an earlier one has written there. step: bytes of the mask from repeat to repeat. */
void acsim_vec_check_mask(const call *c, int64_t step) {
  const acsim_vector *v = c->v;
  const acsim_repeat *r = v->repeat;
  int64_t repeats = r ? c->from + r->repeat : (v->count + c->lanes - 1) / c->lanes, bits = c->lanes / 8;
  int64_t pitch = r ? r->dst_repeat * BLOCK_BYTES : REPEAT_BYTES,
          block = r ? r->dst_block * BLOCK_BYTES : BLOCK_BYTES;
  operand d = {"dst", v->dst, c->ds, block, pitch, 0};
  if (repeats < 1 || v->dst->mem != v->c->mem || last_of(&d, c, repeats) <= v->c->addr ||
      v->c->addr + (repeats - 1) * step + bits <= v->dst->addr)
    return;
  track_begin();
  for (int64_t k = 0; k < repeats; k++) {
    int64_t n = r && !c->counted ? -1 : r ? (int64_t)c->b->mask[0] : v->count;
    for (int i = 0; i < c->lanes; i++)
      if (lane_counts(c, n, k, i)) track_write(at_of(&d, k, i), c->ds, k);
    for (int i = 0; i < c->lanes; i++) {
      if (!lane_counts(c, n, k, i) || !reads_earlier(v->c->addr + k * step + i / 8, 1, k + 1)) continue;
      operand m = {"selMask", v->c, 1, 0, 0, 0};
      report(c, &d, &m);
      return;
    }
  }
}

/* Vector instructions: operands, lanes, masks and repeats. The values are core_math.c's. */
#include "sim/core_defer.h"
#include "sim/core_vec.h"

#include <string.h>

/* ---- which types an instruction takes: insts.def where it has a row, else here ---- */

enum {
  F = AC_DTYPES_FLOAT,
  B16 = AC_BIT(AC_I16) | AC_BIT(AC_U16),
  B32 = AC_BIT(AC_I32) | AC_BIT(AC_U32),
};
static uint32_t types_of(int op) {
  switch (op) {
  case ACSIM_OP_AddRelu:
  case ACSIM_OP_SubRelu: return F | AC_BIT(AC_I16);
  case ACSIM_OP_AddReluCast:
  case ACSIM_OP_SubReluCast: return F | AC_BIT(AC_I16);
  case ACSIM_OP_MulCast: return AC_BIT(AC_F16);
  case ACSIM_OP_CastDeq: return AC_BIT(AC_I16) | AC_BIT(AC_I32);
  case ACSIM_OP_AddDeqRelu: return AC_BIT(AC_I32);
  case ACSIM_OP_AccumulateSum: return F;
  case ACSIM_OP_Brcb:
  case ACSIM_OP_Scatter:
  case ACSIM_OP_Copy:
  case ACSIM_OP_GatherMask: return F | B16 | B32 | AC_BIT(AC_BF16);
  case ACSIM_OP_Gatherb: return AC_BIT(AC_U16) | AC_BIT(AC_U32);
  case ACSIM_OP_FusedMulAdd:
  case ACSIM_OP_FusedMulAddRelu: return F;
  default: break;
  }
  ac_inst i = ac_inst_by_asc(acsim_op_names[op]);
  return i < AC_INST_COUNT ? ac_insts[i].dtypes : (uint32_t)F;
}

static bool check_types(const call *c) {
  static uint32_t known[ACSIM_OPS]; /* the same value whoever writes it */
  const acsim_vector *v = c->v;
  uint32_t set = __atomic_load_n(&known[v->op], __ATOMIC_RELAXED);
  if (!set) __atomic_store_n(&known[v->op], set = types_of(v->op), __ATOMIC_RELAXED);
  const ac_chip *chip = c->b->s->chip;
  bool ok = set >> v->type & 1;
  bool deq = v->type == ACSIM_I32 && v->dst_type == ACSIM_F16;
  if (v->op == ACSIM_OP_AddDeqRelu && ok && deq) return acsim_vec_deq_ready(c);
  if (v->op == ACSIM_OP_Cast && deq)
    return acsim_vec_deq_ready(c); /* the rounding mode has no effect (docs/zh, Cast) */
  if (v->op == ACSIM_OP_Cast) {
    unsigned rounds = ac_cast_rounds((ac_dtype)v->dst_type, (ac_dtype)v->type);
    /* CAST_NONE included: the 8.1 library issues no instruction for a pair that has it not (kernel_operator_vec_vconv_impl.h: an assert
     * of debug builds), although the page of RoundMode says that it means CAST_RINT where bits are lost */
    if (rounds >> v->mode & 1) return true;
    static const char *const modes[] = {"CAST_NONE",  "CAST_RINT",  "CAST_FLOOR", "CAST_CEIL",
                                        "CAST_ROUND", "CAST_TRUNC", "CAST_ODD"};
    acsim_fault(c->b->s, c->b, "no-such-cast", c->at, "Cast from %s to %s with %s does not exist on %s",
                ac_dtypes[v->type].cpp, ac_dtypes[v->dst_type].cpp,
                v->mode < AC_COUNT(modes) ? modes[v->mode] : "an unknown mode", chip->soc);
    return rounds != 0;
  }
  if (v->op == ACSIM_OP_CastDeq && ok && deq) return acsim_vec_deq_ready(c);
  if (v->op == ACSIM_OP_CastDeq && v->type == ACSIM_I16)
    ok = v->dst_type == ACSIM_I8 || v->dst_type == ACSIM_U8;
  else if (v->op == ACSIM_OP_CastDeq || v->op == ACSIM_OP_AddDeqRelu)
    ok = false;
  if ((v->op == ACSIM_OP_Compare || v->op == ACSIM_OP_CompareScalar) && v->type == ACSIM_I32 && v->mode != 2)
    ok = false;
  if (ok) return acsim_vec_check_pair(c);
  acsim_fault(c->b->s, c->b, "no-such-dtype", c->at, "%s of %s does not exist on %s", c->name, ac_dtypes[v->type].cpp,
              chip->soc);
  return false;
}

/* ---- helpers ---- */

static uint32_t start(const acsim_local *t) {
  return t->addr;
}
static bool same_memory(const acsim_local *a, const acsim_local *b) {
  return a->mem == b->mem;
}

/* Conversions to another size read a repeat before they write it. */
static bool converts(int op) {
  return op == ACSIM_OP_Cast || op == ACSIM_OP_CastDeq || op == ACSIM_OP_AddDeqRelu;
}

/* May dst and src of a contiguous instruction overlap like this? Within a repeat they must be the same or apart (a Cast to another size may
 * overlap: it reads a repeat before it writes it), and no repeat may read what an earlier one wrote. (asc-devkit docs/zh,
 * general constraints.) */
static bool overlap_ok(const call *c, const acsim_local *src, int es, int64_t n) {
  const acsim_local *dst = c->v->dst;
  int64_t d = start(dst), s = start(src), ds = c->ds, L = c->lanes;
  if (!same_memory(dst, src) || d + n * ds <= s || s + n * es <= d) return true;
  if (d == s && ds == es) return true;
  bool strict = !converts(c->v->op) || ds == es;
  for (int64_t at = 0; at < n; at += L) {
    int64_t m = n - at < L ? n - at : L;
    int64_t s0 = s + at * es, s1 = s0 + m * es, d0 = d + at * ds, d1 = d0 + m * ds;
    if (at && s0 < d0 && s1 > d) return false;
    if (strict && s0 < d1 && d0 < s1) return false;
  }
  return true;
}
void acsim_vec_check_contiguous(const call *c, const acsim_local *src, int es, int64_t n, const char *what) {
  if (overlap_ok(c, src, es, n)) return;
  acsim_fault(c->b->s, c->b, "overlap", c->at,
              "%s: dst (byte %u of its memory) and %s (byte %u) overlap, but are not the same: the instruction reads "
              "what it has "
              "just written",
              c->name, start(c->v->dst), what, start(src));
}

static bool bad_count(const call *c) {
  if (c->v->count >= 0) return c->v->count == 0;
  acsim_fault(c->b->s, c->b, "bad-count", c->at, "%s of %lld elements", c->name, (long long)c->v->count);
  return true;
}

static bool bitwise(int op) {
  return op == ACSIM_OP_And || op == ACSIM_OP_Or || op == ACSIM_OP_Not;
}
static bool reads_dst(int op) {
  return op == ACSIM_OP_Axpy || op == ACSIM_OP_MulAddDst || op == ACSIM_OP_FusedMulAdd ||
         op == ACSIM_OP_FusedMulAddRelu;
}

static void compute(const call *c, void *d, const void *a, const void *b, int64_t n) {
  const acsim_vector *v = c->v;
  switch (v->op) {
  case ACSIM_OP_Exp:
  case ACSIM_OP_Ln:
  case ACSIM_OP_Abs:
  case ACSIM_OP_Reciprocal:
  case ACSIM_OP_Sqrt:
  case ACSIM_OP_Rsqrt:
  case ACSIM_OP_Relu:
  case ACSIM_OP_Not: acsim_math_unary(v->op, v->type, d, a, n, c->saturate); break;
  case ACSIM_OP_Add:
  case ACSIM_OP_Sub:
  case ACSIM_OP_Mul:
  case ACSIM_OP_Div:
  case ACSIM_OP_Max:
  case ACSIM_OP_Min:
  case ACSIM_OP_And:
  case ACSIM_OP_Or:
  case ACSIM_OP_AddRelu:
  case ACSIM_OP_SubRelu: acsim_math_binary(v->op, v->type, d, a, b, n, c->saturate); break;
  case ACSIM_OP_Adds:
  case ACSIM_OP_Muls:
  case ACSIM_OP_Maxs:
  case ACSIM_OP_Mins:
  case ACSIM_OP_LeakyRelu:
  case ACSIM_OP_ShiftLeft: acsim_math_scalar(v->op, v->type, d, a, v->f, v->i, n, c->saturate); break;
  case ACSIM_OP_ShiftRight:
    if (v->mode && v->i > 0 && (v->type == ACSIM_I16 || v->type == ACSIM_I32)) /* others are not rounded (docs/zh) */
      acsim_math_shift_round(v->type, d, a, (int)v->i, n);
    else
      acsim_math_scalar(v->op, v->type, d, a, v->f, v->i, n, c->saturate);
    break;
  case ACSIM_OP_Axpy: acsim_math_axpy(v->dst_type, v->type, d, a, v->f, n, c->saturate); break;
  case ACSIM_OP_MulAddDst: acsim_math_muladd(v->dst_type, v->type, d, a, b, n, c->saturate); break;
  case ACSIM_OP_FusedMulAdd:
  case ACSIM_OP_FusedMulAddRelu: { /* d = d * a + b */
    float t[MAX_LANES];
    for (int64_t k = 0; b && k < n; k += MAX_LANES) {
      int64_t m = n - k < MAX_LANES ? n - k : MAX_LANES;
      uint8_t *dk = (uint8_t *)d + k * c->ds;
      memcpy(t, (const uint8_t *)b + k * c->es, (size_t)(m * c->es));
      acsim_math_muladd(v->type, v->type, t, dk, (const uint8_t *)a + k * c->es, m, c->saturate);
      memcpy(dk, t, (size_t)(m * c->es));
    }
    if (v->op == ACSIM_OP_FusedMulAddRelu) acsim_math_unary(ACSIM_OP_Relu, v->type, d, d, n, c->saturate);
    break;
  }
  case ACSIM_OP_MulCast:
  case ACSIM_OP_AddReluCast:
  case ACSIM_OP_SubReluCast: { /* the inner result is rounded to the source type first (assumed) */
    int op = v->op == ACSIM_OP_MulCast       ? ACSIM_OP_Mul
             : v->op == ACSIM_OP_AddReluCast ? ACSIM_OP_AddRelu
                                             : ACSIM_OP_SubRelu;
    float t[MAX_LANES];
    for (int64_t k = 0; k < n; k += MAX_LANES) {
      int64_t m = n - k < MAX_LANES ? n - k : MAX_LANES;
      acsim_math_binary(op, v->type, t, (const uint8_t *)a + k * c->es, (const uint8_t *)b + k * c->es, m,
                        c->saturate);
      acsim_math_cast(v->dst_type, v->type, AC_RN_NONE, (uint8_t *)d + k * c->ds, t, m, c->saturate);
    }
    break;
  }
  case ACSIM_OP_Duplicate: acsim_math_fill(v->dst_type, d, v->f, v->i, n); break;
  case ACSIM_OP_CastDeq: acsim_vec_deq_half(c, d, a, NULL, n); break; /* int16: acsim_vec_cast_deq */
  case ACSIM_OP_AddDeqRelu: acsim_vec_deq_half(c, d, a, b, n); break;
  case ACSIM_OP_Cast:
    if (v->type == ACSIM_I32 && v->dst_type == ACSIM_F16) {
      acsim_vec_deq_half(c, d, a, NULL, n);
      break;
    }
    acsim_math_cast(v->dst_type, v->type, v->mode, d, a, n, c->saturate);
    break;
  case ACSIM_OP_Copy:
    if (a) memmove(d, a, (size_t)(n * c->ds));
    break;
  default: break;
  }
}

void acsim_vec_compute(const call *c, void *d, const void *a, const void *b, int64_t n) {
  compute(c, d, a, b, n);
  if (c->b->s->op_bound[c->v->op] >= 0) acsim_perturb_op(c->b, c->v->op, c->v->dst_type, d, n);
}

/* ---- the count form of element-wise instructions ---- */

/* Bits of the result are defined where those of both sources are, and where one source decides alone: a defined 0 of And, a defined 1 of
 * Or. sa, sb: which bits of a and b are defined. */
static void bitwise_state(int op, uint8_t *d, const uint8_t *sa, const uint8_t *sb, const uint8_t *a,
                          const uint8_t *b, int64_t bytes) {
  uint8_t zero = op == ACSIM_OP_And ? 0xff : 0; /* the value that decides, inverted */
  for (int64_t i = 0; i < bytes; i++)
    d[i] = (uint8_t)((sa[i] & sb[i]) | (sa[i] & (a[i] ^ zero)) | (sb[i] & (b[i] ^ zero)));
}
static void known_bits(const call *c, int64_t bytes) {
  const acsim_vector *v = c->v;
  uint8_t *d = acsim_state(c->b, v->dst, 0);
  const uint8_t *sa = acsim_state(c->b, v->a, 0);
  if (v->b)
    bitwise_state(v->op, d, sa, acsim_state(c->b, v->b, 0), acsim_data(c->b, v->a, 0), acsim_data(c->b, v->b, 0),
                  bytes);
  else
    memmove(d, sa, (size_t)bytes);
}

/* A conversion that overlaps itself works repeat by repeat, as the unit does. */
static void cast_in_place(const call *c, int64_t n) {
  uint8_t tmp[REPEAT_BYTES];
  for (int64_t at = 0; at < n; at += c->lanes) {
    int64_t m = n - at < c->lanes ? n - at : c->lanes;
    const uint8_t *from = acsim_data(c->b, c->v->a, at * c->es),
                  *more = c->v->b ? acsim_data(c->b, c->v->b, at * c->es) : from;
    acsim_vec_compute(c, tmp, from, more, m);
    memcpy(acsim_data(c->b, c->v->dst, at * c->ds), tmp, (size_t)(m * c->ds));
  }
}

static bool meet(const call *c, const acsim_local *src, int64_t n) {
  const acsim_local *dst = c->v->dst;
  return src && same_memory(dst, src) && start(dst) < start(src) + n * c->es && start(src) < start(dst) + n * c->ds;
}

static void elementwise(const call *c) {
  const acsim_vector *v = c->v;
  int64_t n = v->count;
  int soft = ACSIM_READ | ACSIM_SOFT;
  acsim_access x[4];
  int k = 0;
  x[k++] = (acsim_access){"dst", v->dst, 0, n * c->ds, BLOCK_BYTES, ACSIM_WRITE | (reads_dst(v->op) ? soft : 0)};
  if (v->a) x[k++] = (acsim_access){v->b ? "src0" : "src", v->a, 0, n * c->es, BLOCK_BYTES, soft};
  if (v->b) x[k++] = (acsim_access){"src1", v->b, 0, n * c->es, BLOCK_BYTES, soft};
  if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, x, k)) {
    acsim_settle(c->b, v->dst, 0, n * c->ds);
    return;
  }
  if (v->a) acsim_vec_check_contiguous(c, v->a, c->es, n, v->b ? "src0" : "src");
  if (v->b) acsim_vec_check_contiguous(c, v->b, c->es, n, "src1");
  const uint8_t *lanes = bitwise(v->op) ? NULL : acsim_undefined_lanes(c, reads_dst(v->op), n);
  uint8_t *d = acsim_data(c->b, v->dst, 0);
  if (bitwise(v->op)) known_bits(c, n * c->ds); /* before it writes over its sources */
  if (converts(v->op) && (meet(c, v->a, n) || meet(c, v->b, n)) && c->ds != c->es)
    cast_in_place(c, n);
  else
    acsim_vec_compute(c, d, v->a ? acsim_data(c->b, v->a, 0) : NULL, v->b ? acsim_data(c->b, v->b, 0) : NULL, n);
  if (!bitwise(v->op)) mark(c, v->dst, 0, n * c->ds);
  acsim_undefined_mark(c, lanes, n);
}

/* ---- the repeat form ---- */

/* The bytes of one repeat that the mask lets through, block by block. */
bool acsim_vec_touch_repeat(const call *c, const char *name, const acsim_local *t, int64_t off, int bytes,
                            int block_stride, int how) {
  const acsim_repeat *r = c->v->repeat;
  int per_block = BLOCK_BYTES / bytes;
  acsim_access all = {name, t, off, acsim_vec_range(c, bytes, block_stride), 1, how};
  if (all.bytes && acsim_touch_allowed(c->b, AC_PIPE_V, c->name, c->at, &all, 1)) return true;
  for (int first = 0; first < c->lanes; first += per_block) {
    uint32_t on = acsim_vec_block_lanes(c, first, per_block);
    if (!on) continue;
    int lo = first + __builtin_ctz(on), hi = first + 31 - __builtin_clz(on);
    bool gaps = hi - lo + 1 != __builtin_popcount(on);
    acsim_access x = {name,
                      t,
                      off + lane_offset(lo, bytes, block_stride),
                      (int64_t)(hi - lo + 1) * bytes,
                      1,
                      gaps ? how | ACSIM_SOFT : how};
    if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, &x, 1)) return false;
    if (!gaps || !(how & ACSIM_READ) || how & ACSIM_SOFT || acsim_all_written(acsim_state(c->b, t, x.off), x.bytes))
      continue;
    for (int k = lo; k <= hi; k++) { /* only the lanes that are on have to be written */
      acsim_access one = {name, t, off + lane_offset(k, bytes, block_stride), bytes, 1, how};
      if (lane_on(r, k) && !acsim_all_written(acsim_state(c->b, t, one.off), bytes)) {
        acsim_touch(c->b, AC_PIPE_V, c->name, c->at, &one, 1);
        break;
      }
    }
  }
  return true;
}
void acsim_vec_scatter_repeat(const call *c, const uint8_t *from, const acsim_local *t, int64_t off, int bytes,
                              int block_stride) {
  int64_t range = acsim_vec_range(c, bytes, block_stride);
  if (range) {
    memcpy(acsim_data(c->b, t, off), from, (size_t)range);
    mark(c, t, off, range);
    return;
  }
  for (int k = 0; k < c->lanes; k++) {
    if (!lane_on(c->v->repeat, k)) continue;
    int64_t o = off + lane_offset(k, bytes, block_stride);
    memcpy(acsim_data(c->b, t, o), from + k * bytes, (size_t)bytes);
    mark(c, t, o, bytes);
  }
}
bool acsim_vec_check_start(const call *c, const char *name, const acsim_local *t, int align) {
  if (!t || t->addr % (uint32_t)align == 0) return true;
  acsim_fault(c->b->s, c->b, "misaligned", c->at,
              "%s: %s starts at byte %u of its buffer: the address must be a multiple of %d bytes", c->name, name,
              t->addr - t->base, align);
  return false;
}
bool acsim_vec_check_starts(const call *c) {
  const acsim_vector *v = c->v;
  return acsim_vec_check_start(c, "dst", v->dst, BLOCK_BYTES) &&
         acsim_vec_check_start(c, v->b ? "src0" : "src", v->a, BLOCK_BYTES) &&
         acsim_vec_check_start(c, "src1", v->b, BLOCK_BYTES);
}

/* Instructions that pass on what is undefined, bit by bit. */
static bool passes_on(int op) {
  return bitwise(op) || op == ACSIM_OP_Copy;
}
static void gather_state(const call *c, uint8_t *to, const acsim_local *t, int64_t off, int block_stride) {
  for (int k = 0; t && k < c->lanes; k++)
    if (lane_on(c->v->repeat, k))
      memcpy(to + k * c->es, acsim_state(c->b, t, off + lane_offset(k, c->es, block_stride)), (size_t)c->es);
}
static void scatter_state(const call *c, const uint8_t *a, int64_t off) {
  for (int k = 0; k < c->lanes; k++) {
    if (!lane_on(c->v->repeat, k)) continue;
    uint8_t *d = acsim_state(c->b, c->v->dst, off + lane_offset(k, c->es, c->v->repeat->dst_block));
    memcpy(d, a + k * c->es, (size_t)c->es);
  }
}

/* A repeat that is not simple: false when it cannot be carried out. */
static bool one_repeat(const call *c, int k, acsim_undefined *u) {
  const acsim_vector *v = c->v;
  const acsim_repeat *r = v->repeat;
  bool bits = passes_on(v->op), old = reads_dst(v->op);
  int soft = ACSIM_READ | ACSIM_SOFT;
  uint8_t sa[REPEAT_BYTES] = {0}, sb[REPEAT_BYTES] = {0};
  uint8_t a[REPEAT_BYTES] = {0}, b[REPEAT_BYTES] = {0}, d[REPEAT_BYTES] = {0};
  int64_t od = (int64_t)k * r->dst_repeat * BLOCK_BYTES, oa = (int64_t)k * r->a_repeat * BLOCK_BYTES,
          ob = (int64_t)k * r->b_repeat * BLOCK_BYTES;
  if (!acsim_vec_touch_repeat(c, "dst", v->dst, od, c->ds, r->dst_block, old ? ACSIM_WRITE | soft : ACSIM_WRITE) ||
      (v->a && !acsim_vec_touch_repeat(c, "src0", v->a, oa, c->es, r->a_block, soft)) ||
      (v->b && !acsim_vec_touch_repeat(c, "src1", v->b, ob, c->es, r->b_block, soft)))
    return false;
  if (v->a && !bits) acsim_undefined_repeat(c, u, 0, v->a, oa, c->es, r->a_block);
  if (v->b && !bits) acsim_undefined_repeat(c, u, 1, v->b, ob, c->es, r->b_block);
  if (old) acsim_undefined_repeat(c, u, 2, v->dst, od, c->ds, r->dst_block);
  if (v->a) acsim_vec_gather_repeat(c, a, v->a, oa, c->es, r->a_block);
  if (v->b) acsim_vec_gather_repeat(c, b, v->b, ob, c->es, r->b_block);
  if (old) acsim_vec_gather_repeat(c, d, v->dst, od, c->ds, r->dst_block);
  if (bits) gather_state(c, sa, v->a, oa, r->a_block), gather_state(c, sb, v->b, ob, r->b_block);
  if (bits && v->b) bitwise_state(v->op, sa, sa, sb, a, b, (int64_t)c->lanes * c->es);
  acsim_vec_compute(c, d, a, b, c->lanes);
  acsim_vec_scatter_repeat(c, d, v->dst, od, c->ds, r->dst_block);
  if (bits) scatter_state(c, sa, od);
  acsim_undefined_scatter(c, u, od);
  return true;
}

static void elementwise_repeat(const call *c) {
  const acsim_vector *v = c->v;
  if (!acsim_vec_check_starts(c)) return;
  int how = ACSIM_WRITE | (reads_dst(v->op) ? ACSIM_READ : 0);
  acsim_undefined own = {0}, *u = c->both ? c->both : &own;
  if (v->repeat->repeat > 1 && acsim_vec_plain(c, c->from, v->repeat->repeat, how)) {
    for (int i = 0; i < 3; i++) u->defined[i]++; /* all of them were */
    return;
  }
  for (int k = c->from; k < c->from + v->repeat->repeat; k++) {
    if (acsim_vec_plain(c, k, 1, how)) {
      for (int i = 0; i < 3; i++) u->defined[i]++;
    } else if (!one_repeat(c, k, u)) {
      return;
    }
  }
  if (!c->both) acsim_undefined_report(c, u);
}

/* ---- reductions ---- */

typedef struct {
  double value;
  int64_t index;
  bool any;
} best;

static bool better(int op, double x, double than) {
  if (x != x) return than == than; /* the first NaN wins (assumed) */
  return op == ACSIM_OP_ReduceMax || op == ACSIM_OP_WholeReduceMax || op == ACSIM_OP_BlockReduceMax ? x > than
                                                                                                    : x < than;
}
static void take(const call *c, best *m, const void *data, int64_t i, int64_t index) {
  double x = ac_load((ac_dtype)c->v->type, data, i);
  if (m->any && !better(c->v->op, x, m->value)) return;
  *m = (best){x, index, true};
}
/* With saturation the result of a repeat is a number: 0 for NaN, an end of the range for infinity (docs/zh, boundary values: ReduceMax). */
static void limit(const call *c, best *m) {
  if (!c->saturate || c->v->type != ACSIM_F16 || !m->any) return;
  m->value = m->value != m->value ? 0 : m->value > 65504 ? 65504 : m->value < -65504 ? -65504 : m->value;
}
/* The best of n elements at `data`, as n times `take`. */
static void take_all(const call *c, best *m, const void *data, int64_t n) {
  int op = c->v->op;
  bool largest = op == ACSIM_OP_ReduceMax || op == ACSIM_OP_WholeReduceMax || op == ACSIM_OP_BlockReduceMax;
  int64_t at;
  if (n > 0 && !m->any && acsim_math_peak(c->v->type, data, n, largest, &at))
    take(c, m, data, at, at);
  else
    for (int64_t i = 0; i < n; i++) take(c, m, data, i, i);
}
static bool whole_mask(const call *c) {
  const uint64_t *m = c->v->repeat->mask;
  return m[0] == ~0ull && (c->lanes <= 64 || m[1] == ~0ull);
}
static bool is_sum(int op) {
  return op == ACSIM_OP_ReduceSum || op == ACSIM_OP_WholeReduceSum || op == ACSIM_OP_BlockReduceSum ||
         op == ACSIM_OP_PairReduceSum;
}

/* An index is stored as an integer in the bits of the element type. */
static void put_index(uint8_t *to, int bytes, int64_t index) {
  memcpy(to, &(uint32_t){(uint32_t)index}, (size_t)bytes);
}

static void masks(uint64_t m[2], int64_t lanes) {
  m[0] = lanes >= 64 ? ~0ull : lanes > 0 ? ~0ull >> (64 - lanes) : 0;
  m[1] = lanes >= 128 ? ~0ull : lanes > 64 ? ~0ull >> (128 - lanes) : 0;
}

/* ReduceSum by count: a tree inside a repeat, the repeats' results one after another, all in the element type. */
static void sum_count(const call *c) {
  enum { ROWS = 64 };
  const acsim_vector *v = c->v;
  uint8_t acc[4] = {0}, part[4 * ROWS] = {0};
  for (int64_t at = 0; at < v->count;) {
    int64_t rows = (v->count - at) / c->lanes, few = v->count - at < c->lanes ? v->count - at : c->lanes;
    const uint8_t *src = acsim_data(c->b, v->a, at * c->es);
    rows = rows > ROWS ? ROWS : rows;
    if (rows) {
      acsim_math_sum_rows(v->type, part, src, rows, c->lanes, c->saturate);
    } else {
      uint64_t m[2];
      masks(m, few);
      acsim_math_tree_sum(v->type, part, src, m, (int)few, c->saturate);
    }
    for (int64_t k = 0; k < (rows ? rows : 1); k++) {
      if (at || k)
        acsim_math_binary(ACSIM_OP_Add, v->type, acc, acc, part + k * c->es, 1, c->saturate);
      else
        memcpy(acc, part, sizeof acc);
    }
    at += rows ? rows * c->lanes : few;
  }
  memcpy(acsim_data(c->b, v->dst, 0), acc, (size_t)c->es);
  c->b->acc = ac_load((ac_dtype)v->type, acc, 0); /* GetAccVal (docs/zh, GetReduceRepeatSumSpr) */
}

/* Bytes of the work tensor of `repeats` repeats. With the index every round of pairs keeps its place behind the one before; without,
 * and for sums, the first is all (asc-devkit docs/zh, ReduceMax, ReduceSum). */
static int64_t work_bytes(const call *c, int64_t repeats) {
  int64_t block = BLOCK_BYTES / c->es, out = repeats * (is_sum(c->v->op) ? 1 : 2), all = 0;
  bool index = !is_sum(c->v->op) && c->v->mode;
  for (int round = 0; round == 0 || (index && round < 3 && (round == 1 || out > 2)); round++) {
    if (round) out = (out + c->lanes - 1) / c->lanes * 2;
    all += (out + block - 1) / block * block;
    if (round && out <= 2) break;
  }
  return all * c->es;
}

/* mode: 1 when the index is wanted too. v->b is the work tensor. */
static void reduce_count(const call *c) {
  const acsim_vector *v = c->v;
  bool sum = v->op == ACSIM_OP_ReduceSum, index = !sum && v->mode;
  int64_t need = sum ? 0 : work_bytes(c, (v->count + c->lanes - 1) / c->lanes);
  acsim_access x[] = {{"dst", v->dst, 0, index ? 2 * c->es : c->es, index ? 2 * c->es : c->es, ACSIM_WRITE},
                      {"src", v->a, 0, v->count * c->es, BLOCK_BYTES, ACSIM_READ},
                      {"the work tensor", v->b, 0, need, BLOCK_BYTES, ACSIM_WRITE}};
  if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, x, 3)) return;
  if (sum) {
    sum_count(c);
    mark(c, v->dst, 0, c->es);
    return;
  }
  best m = {0};
  const uint8_t *src = acsim_data(c->b, v->a, 0);
  if (c->saturate)
    for (int64_t at = 0; at < v->count; at += c->lanes) {
      best one = {0};
      take_all(c, &one, src + at * c->es, v->count - at < c->lanes ? v->count - at : c->lanes);
      limit(c, &one);
      if (!m.any || better(v->op, one.value, m.value)) m = (best){one.value, at + one.index, true};
    }
  else
    take_all(c, &m, src, v->count);
  if (index && c->es == 2 && m.index > UINT16_MAX)
    acsim_fault(c->b->s, c->b, "index-limit", c->at, "%s: index %lld does not fit in 16 bits", c->name,
                (long long)m.index);
  c->b->peak_value = m.value; /* GetReduceMaxMinCount; of the index it says nothing (docs/zh) */
  memset(acsim_state(c->b, v->b, 0), 0, (size_t)need); /* the work tensor holds nothing of use afterwards */
  uint8_t *d = acsim_data(c->b, v->dst, 0);
  ac_store((ac_dtype)v->type, d, 0, m.value);
  if (index) put_index(d + c->es, c->es, m.index);
  mark(c, v->dst, 0, index ? 2 * c->es : c->es);
}

/* One repeat of a reduction to data at `out`: sum, or value and index. */
static void reduce_one(const call *c, const uint8_t *lanes, best *m, uint8_t *sum) {
  const acsim_repeat *r = c->v->repeat;
  if (is_sum(c->v->op)) {
    acsim_math_tree_sum(c->v->type, sum, lanes, r->mask, c->lanes, c->saturate);
    return;
  }
  if (whole_mask(c))
    take_all(c, m, lanes, c->lanes);
  else
    for (int i = 0; i < c->lanes; i++)
      if (lane_on(r, i)) take(c, m, lanes, i, i);
  limit(c, m);
}

/* Order of WholeReduceMax/Min results: 0 value and index, 1 index and value, 2 value, 3 index (as uint32). */
static int result_bytes(const call *c) {
  if (is_sum(c->v->op) || c->v->mode == 2) return c->es;
  return c->v->mode == 3 ? 4 : 2 * c->es;
}
static void put_result(const call *c, int64_t off, const best *m, const uint8_t *sum) {
  uint8_t *d = acsim_data(c->b, c->v->dst, off);
  int bytes = result_bytes(c);
  if (is_sum(c->v->op)) {
    memcpy(d, sum, (size_t)c->es);
  } else if (c->v->mode == 3) {
    put_index(d, 4, m->index);
  } else {
    ac_store((ac_dtype)c->v->type, d + (c->v->mode == 1 ? c->es : 0), 0, m->value);
    if (c->v->mode != 2) put_index(d + (c->v->mode == 1 ? 0 : c->es), c->es, m->index);
  }
  mark(c, c->v->dst, off, bytes);
}

static bool mask_empty(const call *c) {
  return !c->v->repeat->mask[0] && (c->lanes == 64 || !c->v->repeat->mask[1]);
}

static void whole_reduce(const call *c) {
  const acsim_vector *v = c->v;
  const acsim_repeat *r = v->repeat;
  int bytes = result_bytes(c);
  if (mask_empty(c) || !acsim_vec_check_start(c, "src", v->a, BLOCK_BYTES) ||
      !acsim_vec_check_start(c, "dst", v->dst, bytes))
    return;
  acsim_vec_check_chain(c, "src", v->a, r->a_block, r->a_repeat, r->dst_repeat * bytes, bytes, 0, r->repeat);
  for (int k = c->from; k < c->from + r->repeat; k++) {
    int64_t oa = (int64_t)k * r->a_repeat * BLOCK_BYTES, od = (int64_t)k * r->dst_repeat * bytes;
    acsim_access x = {"dst", v->dst, od, bytes, 1, ACSIM_WRITE};
    if (!acsim_vec_touch_repeat(c, "src", v->a, oa, c->es, r->a_block, ACSIM_READ)) return;
    if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, &x, 1)) return;
    uint8_t lanes[REPEAT_BYTES], sum[4] = {0};
    best m = {0};
    acsim_vec_gather_repeat(c, lanes, v->a, oa, c->es, r->a_block);
    reduce_one(c, lanes, &m, sum);
    put_result(c, od, &m, sum);
    if (!is_sum(v->op) && (k == 0 || better(v->op, m.value, c->b->peak_value))) {
      c->b->peak_value = m.value;
      c->b->peak_index = (int64_t)k * c->lanes + m.index;
    }
  }
}

/* ReduceSum/Max/Min with mask and repeat: results of the repeats, then a tree over those too. Counter mode comes in two parts: all with the
 * first. */
static void reduce_repeat(const call *c) {
  const acsim_vector *v = c->v;
  const acsim_repeat *r = v->repeat;
  bool sum = v->op == ACSIM_OP_ReduceSum, index = !sum && v->mode;
  if (mask_empty(c) || r->repeat <= 0 || c->from) return;
  int64_t total = c->counted ? (int64_t)c->b->mask[0] : -1;
  int64_t n = total >= 0 ? (total + c->lanes - 1) / c->lanes : r->repeat, tail = total >= 0 ? total % c->lanes : 0;
  int64_t need = work_bytes(c, n);
  acsim_access x[] = {{"dst", v->dst, 0, index ? 2 * c->es : c->es, index ? 2 * c->es : c->es, ACSIM_WRITE},
                      {"the work tensor", v->b, 0, need, BLOCK_BYTES, ACSIM_WRITE}};
  if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, x, 2) || !acsim_vec_check_start(c, "src", v->a, BLOCK_BYTES))
    return;
  uint8_t *part = ac_alloc_n(c->b->arena, (size_t)n, (size_t)c->es), lanes[REPEAT_BYTES];
  best all = {0};
  acsim_repeat few = *r;
  acsim_vector end = *v;
  call last = *c;
  masks(few.mask, tail);
  end.repeat = &few;
  last.v = &end;
  for (int64_t k = 0; k < n; k++) {
    const call *one = tail && k == n - 1 ? &last : c;
    int64_t oa = k * r->a_repeat * BLOCK_BYTES;
    best m = {0};
    if (!acsim_vec_touch_repeat(one, "src", v->a, oa, c->es, r->a_block, ACSIM_READ)) return;
    acsim_vec_gather_repeat(one, lanes, v->a, oa, c->es, r->a_block);
    reduce_one(one, lanes, &m, part + k * c->es);
    if (!sum && (!all.any || better(v->op, m.value, all.value))) all = (best){m.value, k * c->lanes + m.index, true};
  }
  for (; sum && n > 1; n = (n + c->lanes - 1) / c->lanes)
    for (int64_t k = 0; k < n; k += c->lanes) {
      uint64_t m[2];
      int few = n - k < c->lanes ? (int)(n - k) : c->lanes;
      masks(m, few);
      acsim_math_tree_sum(v->type, part + k / c->lanes * c->es, part + k * c->es, m, few, c->saturate);
    }
  if (index && c->es == 2 && all.index > UINT16_MAX)
    acsim_fault(c->b->s, c->b, "index-limit", c->at, "%s: index %lld does not fit in 16 bits", c->name,
                (long long)all.index);
  memset(acsim_state(c->b, v->b, 0), 0, (size_t)need);
  uint8_t *d = acsim_data(c->b, v->dst, 0);
  if (sum)
    memcpy(d, part, (size_t)c->es);
  else
    ac_store((ac_dtype)v->type, d, 0, all.value);
  if (index) put_index(d + c->es, c->es, all.index);
  mark(c, v->dst, 0, index ? 2 * c->es : c->es);
}

/* Block: eight results a repeat, one a 32-byte block. Pair: half a repeat of results. Strides of dst: 8 elements, 128 bytes. */
static void part_reduce(const call *c) {
  const acsim_vector *v = c->v;
  const acsim_repeat *r = v->repeat;
  bool pair = v->op == ACSIM_OP_PairReduceSum;
  int group = pair ? 2 : BLOCK_BYTES / c->es, step = pair ? 128 : 8 * c->es;
  if (!acsim_vec_check_start(c, "src", v->a, BLOCK_BYTES) ||
      !acsim_vec_check_start(c, "dst", v->dst, pair ? BLOCK_BYTES : 8 * c->es))
    return;
  acsim_vec_check_chain(c, "src", v->a, r->a_block, r->a_repeat, (int64_t)r->dst_repeat * step, c->es, group,
                        r->repeat);
  for (int k = c->from; k < c->from + r->repeat; k++) {
    int64_t oa = (int64_t)k * r->a_repeat * BLOCK_BYTES, od = (int64_t)k * r->dst_repeat * step;
    uint8_t lanes[REPEAT_BYTES];
    if (!acsim_vec_touch_repeat(c, "src", v->a, oa, c->es, r->a_block, ACSIM_READ)) return;
    acsim_vec_gather_repeat(c, lanes, v->a, oa, c->es, r->a_block);
    if (acsim_vec_groups(c, lanes, od, group)) continue;
    for (int g = 0; g < c->lanes / group; g++) {
      uint64_t m[2] = {0, 0};
      best top = {0};
      for (int i = 0; i < group; i++)
        if (lane_on(r, g * group + i))
          m[0] |= 1ull << i, is_sum(v->op) ? (void)0 : take(c, &top, lanes, g * group + i, i);
      if (!m[0]) continue; /* a group without lanes writes nothing (Atlas A2) */
      acsim_access x = {"dst", v->dst, od + (int64_t)g * c->es, c->es, 1, ACSIM_WRITE};
      if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, &x, 1)) return;
      uint8_t *d = acsim_data(c->b, v->dst, x.off);
      limit(c, &top);
      if (is_sum(v->op))
        acsim_math_tree_sum(v->type, d, lanes + g * group * c->es, m, group, c->saturate);
      else
        ac_store((ac_dtype)v->type, d, 0, top.value);
      mark(c, v->dst, x.off, c->es);
    }
  }
}

/* ---- moving elements about ---- */

static void iota(const call *c) {
  const acsim_vector *v = c->v;
  acsim_access x = {"dst", v->dst, 0, v->count * c->es, BLOCK_BYTES, ACSIM_WRITE};
  if (!acsim_touch(c->b, AC_PIPE_V, c->name, c->at, &x, 1)) return;
  acsim_math_iota(v->type, acsim_data(c->b, v->dst, 0), v->f, v->i, v->count);
  mark(c, v->dst, 0, v->count * c->es);
}

/* ---- entry ---- */

static bool bad_repeat(const call *c) {
  const acsim_repeat *r = c->v->repeat;
  bool large = c->v->op == ACSIM_OP_ReduceSum || c->v->op == ACSIM_OP_ReduceMax || c->v->op == ACSIM_OP_ReduceMin ||
               c->v->op == ACSIM_OP_GatherMask;
  if (r->repeat < 0 || (!large && !c->counted && r->repeat > MAX_REPEAT)) {
    acsim_fault(c->b->s, c->b, "field-limit", c->at, "%s: repeatTimes is %d, the instruction takes 0..%d", c->name,
                r->repeat, MAX_REPEAT);
    return true;
  }
  bool beyond = (c->lanes <= 64 && r->mask[1]) || (c->lanes < 64 && r->mask[0] >> c->lanes);
  if (beyond && !c->b->mask_counter && c->v->op != ACSIM_OP_GatherMask && c->v->op != ACSIM_OP_Brcb &&
      c->v->op != ACSIM_OP_Gatherb && r->form != ACSIM_MASK_REGISTER) {
    acsim_fault(c->b->s, c->b, "field-limit", c->at, "%s: the mask has lanes beyond the %d of a repeat", c->name,
                c->lanes);
    return true;
  }
  return r->repeat == 0;
}

static uint64_t one_repeat_call(const call *c) {
  if (bad_repeat(c)) return 0;
  const uint64_t *m = c->v->repeat->mask;
  c->b->vector_elements += (int64_t)c->v->repeat->repeat * (__builtin_popcountll(m[0]) + __builtin_popcountll(m[1]));
  switch (c->v->op) {
  case ACSIM_OP_Compare:
    if (!c->v->dst) {
      acsim_vec_compare_register(c);
      break;
    } /* FALLTHROUGH */
  case ACSIM_OP_CompareScalar: acsim_vec_compare_repeat(c); break;
  case ACSIM_OP_Select: acsim_vec_select(c); break;
  case ACSIM_OP_Gather: acsim_vec_gather(c); break;
  case ACSIM_OP_Scatter: acsim_vec_scatter(c); break;
  case ACSIM_OP_Gatherb: acsim_vec_gatherb(c); break;
  case ACSIM_OP_CreateVecIndex: acsim_vec_iota_repeat(c); break;
  case ACSIM_OP_AccumulateSum: acsim_vec_accumulate(c); break;
  case ACSIM_OP_CastDeq:
    if (c->v->type == ACSIM_I16)
      acsim_vec_cast_deq(c);
    else
      elementwise_repeat(c);
    break;
  case ACSIM_OP_WholeReduceSum:
  case ACSIM_OP_WholeReduceMax:
  case ACSIM_OP_WholeReduceMin: whole_reduce(c); break;
  case ACSIM_OP_BlockReduceSum:
  case ACSIM_OP_BlockReduceMax:
  case ACSIM_OP_BlockReduceMin:
  case ACSIM_OP_PairReduceSum: part_reduce(c); break;
  case ACSIM_OP_ReduceSum:
  case ACSIM_OP_ReduceMax:
  case ACSIM_OP_ReduceMin: reduce_repeat(c); break;
  case ACSIM_OP_Brcb: acsim_vec_brcb(c); break;
  case ACSIM_OP_GatherMask: return (uint64_t)(c->b->gather_count = (int64_t)acsim_vec_gather_mask(c));
  default: elementwise_repeat(c); break;
  }
  return 0;
}

/* Fetches the mask from where the call says, and in counter mode turns the number of elements into repeats: the instruction's own
 * repeat times do nothing then (asc-devkit docs/zh, mask operations). */
static uint64_t with_repeat(const call *given) {
  call own = *given, *c = &own;
  acsim_vector v = *c->v;
  acsim_repeat r = *c->v->repeat;
  acsim_block *b = c->b;
  v.repeat = &r;
  c->v = &v;
  bool masked = v.op != ACSIM_OP_GatherMask && v.op != ACSIM_OP_Brcb && v.op != ACSIM_OP_Gatherb;
  if (v.op == ACSIM_OP_GatherMask) { /* ends in normal mode, with the mask it was given (H, GatherMaskImpl) */
    acsim_time_vector(b, &v, r.repeat);
    uint64_t kept = one_repeat_call(c);
    if (b->mask_counter) acsim_mask_reset(b, c->name, c->at);
    b->mask[0] = (uint64_t)v.count;
    b->mask[1] = 0;
    b->mask_by = ACSIM_MASK_OF_CALL;
    b->mask_at = c->at;
    return kept;
  }
  if (masked) acsim_mask_check(c);
  if (masked && r.form != ACSIM_MASK_REGISTER) {
    bool elements = b->mask_counter && r.form == ACSIM_MASK_FIRST;
    b->mask[0] = elements ? r.first : r.mask[0];
    b->mask[1] = elements ? 0 : r.mask[1];
  }
  acsim_time_vector(b, &v, masked && b->mask_counter ? ((int64_t)b->mask[0] + c->lanes - 1) / c->lanes : r.repeat);
  if (masked && !b->mask_counter && r.form == ACSIM_MASK_FIRST && r.first > (uint64_t)c->lanes) {
    masks(r.mask, c->lanes); /* more than a repeat has is all of it (docs/zh, mask) */
    acsim_fault(b->s, b, "mask-too-long", c->at,
                "%s: a mask of %llu lanes: a repeat has %d, the others are not computed", c->name,
                (unsigned long long)r.first, c->lanes);
  }
  if (!masked || !b->mask_counter) {
    if (r.form == ACSIM_MASK_REGISTER) memcpy(r.mask, b->mask, sizeof r.mask);
    if (c->lanes <= 64 && r.form == ACSIM_MASK_REGISTER) r.mask[1] = 0; /* a 32-bit instruction looks at 64 lanes */
    if (r.repeat <= MAX_REPEAT) acsim_vec_check_overlap(c, -1);
    return one_repeat_call(c);
  }
  if (v.op == ACSIM_OP_Copy) return bad_repeat(c) ? 0 : acsim_vec_copy_counted(c);
  int64_t n = (int64_t)b->mask[0], tail = n % c->lanes;
  if (n / c->lanes > INT32_MAX - 1) n = tail = 0;
  acsim_vec_check_overlap(c, n);
  masks(r.mask, c->lanes);
  r.repeat = (int32_t)(n / c->lanes);
  acsim_undefined u = {0};
  c->counted = true;
  c->both = &u;
  if (r.repeat) one_repeat_call(c);
  c->from = r.repeat;
  masks(r.mask, tail);
  r.repeat = 1;
  uint64_t left = tail ? one_repeat_call(c) : 0;
  acsim_undefined_report(c, &u);
  return left;
}

/* An instruction that has no contiguous form: by count it runs in counter mode, with the default strides. */
static void counted_repeats(const call *given) {
  call c = *given;
  acsim_vector v = *c.v;
  acsim_repeat r = {.repeat = 1,
                    .dst_block = 1,
                    .a_block = 1,
                    .b_block = 1,
                    .dst_repeat = 8,
                    .a_repeat = 8,
                    .b_repeat = 8,
                    .form = ACSIM_MASK_FIRST,
                    .first = (uint64_t)v.count};
  v.repeat = &r;
  c.v = &v;
  c.b->mask_counter = true;
  const char *lost = c.b->mask_lost; /* by the caller: what this one sets is its own */
  with_repeat(&c);
  c.b->mask_by = ACSIM_MASK_FULL;
  c.b->mask_counter = false;
  c.b->mask[0] = c.b->mask[1] = ~0ull;
  c.b->mask_lost = lost;
}

/* The count form with isSetMask = false: one repeat of the contiguous form, with the mask register as it is (docs/zh, mask operations; H
 * AddsImpl, level 2). */
static void one_contiguous(const call *given) {
  call c = *given;
  acsim_vector v = *c.v;
  acsim_repeat r = {.repeat = 1, .dst_block = 1, .a_block = 1, .b_block = 1, .form = ACSIM_MASK_REGISTER};
  r.dst_repeat = (uint16_t)(c.lanes * c.ds / BLOCK_BYTES);
  r.a_repeat = r.b_repeat = (uint16_t)(c.lanes * c.es / BLOCK_BYTES);
  v.repeat = &r;
  c.v = &v;
  with_repeat(&c);
}

uint64_t acsim_vec(const acsim_vector *v, const char *file, int32_t line) {
  if (acsim_self && acsim_self->stalled && acsim_defer_vector(acsim_self, v, AT)) return 0;
  if (v->type >= ACSIM_I4 || v->dst_type >= ACSIM_I4) {
    acsim_block *b = acsim_here_at("Cast", AT);
    acsim_order_begin(b);
    acsim_vec_int4(b, v, AT);
    return 0;
  }
  call c = {acsim_here_at("a vector instruction", AT),
            v,
            acsim_op_names[v->op],
            AT,
            acsim_type_bytes(v->type),
            acsim_type_bytes(v->dst_type),
            0,
            false,
            0,
            false,
            false,
            NULL};
  acsim_order_begin(c.b);
  c.saturate = acsim_saturates(c.b);
  c.lanes = REPEAT_BYTES / (c.es > c.ds ? c.es : c.ds);
  if (v->op == ACSIM_OP_Compare || v->op == ACSIM_OP_CompareScalar) c.lanes = REPEAT_BYTES / c.es;
  if (c.lanes > MAX_LANES) c.lanes = MAX_LANES; /* 8-bit sources work in half's lanes */
  if (!check_types(&c)) return 0;
  if (v->op == ACSIM_OP_Rsqrt || v->op == ACSIM_OP_Reciprocal) acsim_vec_check_precision(&c);
  if (v->repeat) return with_repeat(&c);
  if (v->by_register && v->op != ACSIM_OP_Compare && v->op != ACSIM_OP_CompareScalar && v->op != ACSIM_OP_Select) {
    one_contiguous(&c);
    return 0;
  }
  /* the count form works in counter mode, and leaves normal mode with a full mask behind */
  acsim_mask_reset(c.b, c.name, c.at);
  if (bad_count(&c)) return 0;
  acsim_time_vector(c.b, v, (v->count + c.lanes - 1) / c.lanes);
  c.b->vector_elements += v->count;
  switch (v->op) {
  case ACSIM_OP_CastDeq:
    if (v->type == ACSIM_I16)
      counted_repeats(&c);
    else
      elementwise(&c);
    break;
  case ACSIM_OP_Compare:
  case ACSIM_OP_CompareScalar: acsim_vec_compare(&c); break;
  case ACSIM_OP_Select: acsim_vec_select_count(&c); break;
  case ACSIM_OP_ReduceSum:
  case ACSIM_OP_ReduceMax:
  case ACSIM_OP_ReduceMin: reduce_count(&c); break;
  case ACSIM_OP_CreateVecIndex: iota(&c); break;
  case ACSIM_OP_Gather: acsim_vec_gather(&c); break;
  case ACSIM_OP_Scatter: acsim_vec_scatter(&c); break;
  default: elementwise(&c); break;
  }
  return 0;
}

/* The vector instructions of the model: asc-devkit docs/zh, api/SIMD-API, "Memory矢量计算". A call is a list of lanes (repeat k,
 * lane i); each lane finds its own addresses (高维切分), is checked by itself and computed by itself. */
#include "fuzz_naive_vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- which types (each page's table for Atlas A2) ---- */

#define B(t) (1u << (t))
enum {
  T_FLOAT = B(ACSIM_F32) | B(ACSIM_F16),
  T_16 = B(ACSIM_I16) | B(ACSIM_U16),
  T_32 = B(ACSIM_I32) | B(ACSIM_U32),
  T_ARITH = T_FLOAT | B(ACSIM_I16) | B(ACSIM_I32),
  T_MOVED = T_FLOAT | T_16 | T_32 | B(ACSIM_BF16)
};
unsigned fz_types_of(int op) {
  switch (op) {
  case ACSIM_OP_Relu: return T_FLOAT | B(ACSIM_I32);
  case ACSIM_OP_Not:
  case ACSIM_OP_And:
  case ACSIM_OP_Or: return T_16;
  case ACSIM_OP_Add:
  case ACSIM_OP_Sub:
  case ACSIM_OP_Mul:
  case ACSIM_OP_Max:
  case ACSIM_OP_Min:
  case ACSIM_OP_Adds:
  case ACSIM_OP_Muls:
  case ACSIM_OP_Maxs:
  case ACSIM_OP_Mins: return T_ARITH;
  case ACSIM_OP_AddRelu:
  case ACSIM_OP_SubRelu: return T_FLOAT | B(ACSIM_I16);
  case ACSIM_OP_ShiftLeft:
  case ACSIM_OP_ShiftRight: return T_16 | T_32;
  case ACSIM_OP_Duplicate:
  case ACSIM_OP_Brcb:
  case ACSIM_OP_Gather:
  case ACSIM_OP_Copy:
  case ACSIM_OP_GatherMask: return T_MOVED;
  case ACSIM_OP_Gatherb: return B(ACSIM_U16) | B(ACSIM_U32);
  case ACSIM_OP_CreateVecIndex: return T_ARITH;
  case ACSIM_OP_Compare:
  case ACSIM_OP_CompareScalar: return T_FLOAT | B(ACSIM_I32);
  case ACSIM_OP_CastDeq: return B(ACSIM_I16) | B(ACSIM_I32);
  case ACSIM_OP_AddDeqRelu: return B(ACSIM_I32);
  default: return T_FLOAT;
  }
}
/* Cast, table for Atlas A2. Bits: rounding modes. */
static unsigned cast_modes(int dst, int src) {
  enum { N = 1, R5 = 0x3e, ODD = 0x40 };
  switch (src * 16 + dst) {
  case ACSIM_I8 * 16 + ACSIM_F16:
  case ACSIM_U8 * 16 + ACSIM_F16:
  case ACSIM_I16 * 16 + ACSIM_F32:
  case ACSIM_F16 * 16 + ACSIM_F32:
  case ACSIM_BF16 * 16 + ACSIM_F32:
  case ACSIM_I32 * 16 + ACSIM_I16:
  case ACSIM_I32 * 16 + ACSIM_I64:
  case ACSIM_I64 * 16 + ACSIM_I32: return N;
  case ACSIM_I16 * 16 + ACSIM_F16:
  case ACSIM_F16 * 16 + ACSIM_I8:
  case ACSIM_F16 * 16 + ACSIM_U8:
  case ACSIM_I32 * 16 + ACSIM_F32: return N | R5;
  case ACSIM_F32 * 16 + ACSIM_F16: return N | R5 | ODD;
  case ACSIM_F16 * 16 + ACSIM_I16:
  case ACSIM_F16 * 16 + ACSIM_I32:
  case ACSIM_BF16 * 16 + ACSIM_I32:
  case ACSIM_F32 * 16 + ACSIM_I16:
  case ACSIM_F32 * 16 + ACSIM_BF16:
  case ACSIM_F32 * 16 + ACSIM_I32:
  case ACSIM_F32 * 16 + ACSIM_F32:
  case ACSIM_F32 * 16 + ACSIM_I64:
  case ACSIM_I64 * 16 + ACSIM_F32: return R5;
  default: return 0;
  }
}

static bool dst_type_ok(const fz_case *c) {
  int t = c->type, d = c->dst_type;
  switch (c->op) {
  case ACSIM_OP_Axpy:
  case ACSIM_OP_MulAddDst: return d == t || (t == ACSIM_F16 && d == ACSIM_F32);
  case ACSIM_OP_AddDeqRelu: return d == ACSIM_F16;
  case ACSIM_OP_CastDeq: return t == ACSIM_I32 ? d == ACSIM_F16 : d == ACSIM_I8 || d == ACSIM_U8;
  case ACSIM_OP_MulCast: return t == ACSIM_F16 && (d == ACSIM_I8 || d == ACSIM_U8);
  case ACSIM_OP_AddReluCast:
  case ACSIM_OP_SubReluCast:
    return (t == ACSIM_F16 && d == ACSIM_I8) || (t == ACSIM_I16 && d == ACSIM_I8) ||
           (t == ACSIM_F32 && d == ACSIM_F16);
  case ACSIM_OP_Compare:
    if (c->dst.buf < 0) return true; /* fallthrough */
  case ACSIM_OP_CompareScalar: return d == ACSIM_U8 || (d == ACSIM_I8 && c->op == ACSIM_OP_Compare);
  default: return true;
  }
}

static bool check_types(fz_machine *m, const fz_case *c) {
  bool scales = c->op == ACSIM_OP_Cast || c->op == ACSIM_OP_CastDeq || c->op == ACSIM_OP_AddDeqRelu;
  if (scales && c->type == ACSIM_I32 && c->dst_type == ACSIM_F16) return fz_deq_half_set(m);
  if (c->op == ACSIM_OP_Cast) {
    unsigned modes = cast_modes(c->dst_type, c->type);
    if (modes >> c->mode & 1) return true;
    fz_fault(m, "no-such-cast");
    return false;
  }
  bool fused = c->op == ACSIM_OP_MulCast || c->op == ACSIM_OP_AddReluCast || c->op == ACSIM_OP_SubReluCast;
  bool ok = fused || fz_types_of(c->op) >> c->type & 1;
  if ((c->op == ACSIM_OP_Compare || c->op == ACSIM_OP_CompareScalar) && c->type == ACSIM_I32) ok = ok && c->mode == 2;
  if (ok && dst_type_ok(c)) return true;
  fz_fault(m, "no-such-dtype");
  return false;
}

/* ---- values of one lane ---- */

static int inner(int op) {
  return op == ACSIM_OP_MulCast       ? ACSIM_OP_Mul
         : op == ACSIM_OP_AddReluCast ? ACSIM_OP_AddRelu
         : op == ACSIM_OP_SubReluCast ? ACSIM_OP_SubRelu
                                      : op;
}

static long double float_value(int op, double x, double y) {
  switch (op) {
  case ACSIM_OP_Exp: return (long double)(float)exp(x);
  case ACSIM_OP_Ln: return (long double)(float)log(x);
  case ACSIM_OP_Abs: return fabs(x);
  case ACSIM_OP_Reciprocal: return 1.0L / (long double)x;
  case ACSIM_OP_Sqrt: return sqrtl((long double)x);
  case ACSIM_OP_Rsqrt: return 1.0L / sqrtl((long double)x);
  case ACSIM_OP_Relu: return x != x ? x : x > 0 ? x : 0.0;
  case ACSIM_OP_Add:
  case ACSIM_OP_Adds: return (long double)x + (long double)y;
  case ACSIM_OP_Sub: return (long double)x - (long double)y;
  case ACSIM_OP_Mul:
  case ACSIM_OP_Muls: return (long double)x * (long double)y;
  case ACSIM_OP_Div: return (long double)x / (long double)y;
  case ACSIM_OP_Max: /* NaN and the signs of zeros: boundary values (边界值汇总) */
  case ACSIM_OP_Maxs: return x != x || y != y ? (double)NAN : x > y || (x == y && !signbit(x)) ? x : y;
  case ACSIM_OP_Min:
  case ACSIM_OP_Mins: return x != x || y != y ? (double)NAN : x < y || (x == y && signbit(x)) ? x : y;
  case ACSIM_OP_LeakyRelu: return x >= 0 && !signbit(x) ? (long double)x : (long double)x * (long double)y;
  default: return 0;
  }
}

static int64_t int_value(int op, int type, int64_t x, int64_t y) {
  int bits = 8 * fz_bytes[type];
  uint64_t ux = (uint64_t)x, uy = (uint64_t)y;
  switch (op) {
  case ACSIM_OP_Relu: return x > 0 ? x : 0;
  case ACSIM_OP_Not: return ~x;
  case ACSIM_OP_And: return x & y;
  case ACSIM_OP_Or: return x | y;
  case ACSIM_OP_Add:
  case ACSIM_OP_Adds: return (int64_t)(ux + uy);
  case ACSIM_OP_Sub: return (int64_t)(ux - uy);
  case ACSIM_OP_Mul:
  case ACSIM_OP_Muls: return (int64_t)(ux * uy);
  case ACSIM_OP_Max:
  case ACSIM_OP_Maxs: return x > y ? x : y;
  case ACSIM_OP_Min:
  case ACSIM_OP_Mins: return x < y ? x : y;
  case ACSIM_OP_ShiftLeft: { /* of a signed number the sign stays (ShiftLeft: arithmetic shift) */
    uint64_t all = bits == 64 ? ~0ull : (1ull << bits) - 1, u = y >= bits ? 0 : ux << y & all,
             top = 1ull << (bits - 1);
    return (int64_t)(fz_is_signed(type) ? (u & (top - 1)) | (ux & top) : u);
  }
  case ACSIM_OP_ShiftRight:
    for (int64_t k = 0; k < y; k++)
      x = x < 0 ? -((1 - x) / 2) : x / 2; /* x: the value, unsigned ones are not negative */
    return x;
  default: return 0;
  }
}

/* out of type t = a op b, rounded once */
static void arith(const fz_machine *m, int op, int t, uint8_t *out, const uint8_t *a, const uint8_t *b, double f,
                  int64_t i) {
  bool relu = op == ACSIM_OP_AddRelu || op == ACSIM_OP_SubRelu;
  int plain = op == ACSIM_OP_AddRelu ? ACSIM_OP_Add : op == ACSIM_OP_SubRelu ? ACSIM_OP_Sub : op;
  if (fz_is_float(t)) {
    long double v = float_value(plain, fz_get(t, a), b ? fz_get(t, b) : f);
    if (relu && v == v && !(v > 0)) v = 0;
    fz_put(t, out, v, FZ_RINT, m->saturate);
    return;
  }
  fz_put_int(t, out, int_value(plain, t, fz_get_int(t, a), b ? fz_get_int(t, b) : i));
  if (relu && fz_get_int(t, out) < 0) fz_put_int(t, out, 0);
}

static void int_limits(int t, long double *lo, long double *hi) {
  int bits = 8 * fz_bytes[t];
  *lo = fz_is_signed(t) ? -ldexpl(1, bits - 1) : 0;
  *hi = ldexpl(1, fz_is_signed(t) ? bits - 1 : bits) - 1;
}
static void cast(const fz_machine *m, int dt, int st, int mode, uint8_t *out, const uint8_t *a) {
  long double x = fz_is_float(st) ? (long double)fz_get(st, a) : (long double)fz_get_int(st, a);
  if (st == ACSIM_I32 && dt == ACSIM_F16) { /* the product, rounded once (Cast, SetDeqScale) */
    fz_put(dt, out, x * (long double)fz_deq_half(m), FZ_RINT, m->saturate);
    return;
  }
  if (fz_is_float(dt)) {
    if (dt == st)
      x = fz_round_int(x, mode); /* float to float: to an integral value, never -0 (boundary values: Cast) */
    if (dt == st && x == 0) x = 0;
    fz_put(dt, out, x, mode, m->saturate);
    return;
  }
  long double lo, hi, r = fz_round_int(x, mode);
  int_limits(dt, &lo, &hi);
  int64_t v = x != x ? 0 : r <= lo ? (int64_t)lo : r >= hi ? (int64_t)(uint64_t)hi : (int64_t)r;
  fz_put_int(dt, out, v);
}

static void fused(const fz_case *c, uint8_t *out, const uint8_t *d, const uint8_t *a, const uint8_t *b,
                  const fz_machine *m) {
  long double x = fz_get(c->type, a), y = b ? (long double)fz_get(c->type, b) : (long double)c->f;
  long double z = fz_get(c->dst_type, d), v;
  long double by = y, plus = z;
  if (c->op != ACSIM_OP_Axpy && c->op != ACSIM_OP_MulAddDst) by = z, plus = y; /* FusedMulAdd: src0 * dst + src1 */
  /* a product beyond the format is infinite before the sum; where halves saturate it is a number (boundary values: Axpy) */
  bool limited = m->saturate && c->type == ACSIM_F16 && c->dst_type == ACSIM_F16;
  uint8_t rounded[8] = {0};
  fz_put(c->dst_type, rounded, x * by, FZ_RINT, false);
  double product = fz_get(c->dst_type, rounded);
  if (limited) fz_put(c->dst_type, rounded, product, FZ_RINT, true);
  v = isfinite(product) ? fmal(x, by, plus) : (long double)fz_get(c->dst_type, rounded) + plus;
  if (c->op == ACSIM_OP_FusedMulAddRelu && v == v && !(v > 0)) v = 0;
  fz_put(c->dst_type, out, v, FZ_RINT, m->saturate);
}

static bool reads_dst(int op) {
  return op == ACSIM_OP_Axpy || op == ACSIM_OP_MulAddDst || op == ACSIM_OP_FusedMulAdd ||
         op == ACSIM_OP_FusedMulAddRelu;
}
static bool bitwise(int op) {
  return op == ACSIM_OP_And || op == ACSIM_OP_Or || op == ACSIM_OP_Not || op == ACSIM_OP_Copy;
}
/* Of one byte: 0 and anything is 0, 1 or anything is 1, whatever the other bit would be (docs/simulator.md, Poison). */
static uint8_t known_bits(fz_machine *m, const fz_case *c, int64_t oa, bool has_b, int64_t ob) {
  uint8_t sa = *fz_st(m, c->a, oa), known = 0;
  if (!has_b) return sa;
  uint8_t sb = *fz_st(m, c->b, ob), a = *fz_at(m, c->a, oa), b = *fz_at(m, c->b, ob);
  for (int i = 0; i < 8; i++) {
    bool ka = sa >> i & 1, kb = sb >> i & 1, decides = c->op == ACSIM_OP_Or;
    bool one = (ka && (a >> i & 1) == decides) || (kb && (b >> i & 1) == decides);
    if ((ka && kb) || one) known |= (uint8_t)(1 << i);
  }
  return known;
}

static void value(const fz_machine *m, const fz_case *c, uint8_t *out, const uint8_t *d, const uint8_t *a,
                  const uint8_t *b) {
  switch (c->op) {
  case ACSIM_OP_Duplicate:
    if (fz_is_float(c->type))
      fz_put(c->type, out, c->f, FZ_RINT, false);
    else
      fz_put_int(c->type, out, c->i);
    return;
  case ACSIM_OP_Copy: memcpy(out, a, (size_t)fz_bytes[c->type]); return;
  case ACSIM_OP_CastDeq:
  case ACSIM_OP_Cast: cast(m, c->dst_type, c->type, c->mode, out, a); return;
  case ACSIM_OP_AddDeqRelu: { /* Relu(Deq(src0 + src1)) */
    int32_t sum = (int32_t)(uint32_t)(fz_get_int(c->type, a) + fz_get_int(c->type, b));
    long double v = sum * (long double)fz_deq_half(m);
    fz_put(c->dst_type, out, v == v && !(v > 0) ? 0 : v, FZ_RINT, m->saturate);
    return;
  }
  case ACSIM_OP_Axpy:
  case ACSIM_OP_MulAddDst:
  case ACSIM_OP_FusedMulAdd:
  case ACSIM_OP_FusedMulAddRelu: fused(c, out, d, a, b, m); return;
  case ACSIM_OP_MulCast:
  case ACSIM_OP_AddReluCast:
  case ACSIM_OP_SubReluCast: {
    uint8_t t[8];
    arith(m, inner(c->op), c->type, t, a, b, 0, 0); /* docs/simulator.md: rounded to the source type first */
    cast(m, c->dst_type, c->type, FZ_NONE, out, t);
    return;
  }
  default: arith(m, c->op, c->type, out, a, b, c->f, c->i);
  }
}

/* ---- which lanes ---- */

static int lanes_of(const fz_case *c) {
  int es = fz_bytes[c->type], ds = fz_bytes[c->dst_type];
  bool compares = c->op == ACSIM_OP_Compare || c->op == ACSIM_OP_CompareScalar;
  return 256 / (compares || es > ds ? es : ds);
}

fz_lanes fz_lanes_of(fz_machine *m, const fz_case *c) {
  fz_lanes l = {.lanes = lanes_of(c)};
  if (!c->repeated &&
      c->by_register) { /* isSetMask = false: the register says which lanes, of one repeat (掩码, 接口外设置) */
    l.counted = m->counter;
    l.total = (int64_t)m->mask[0];
    memcpy(l.bits, m->mask, sizeof l.bits);
    l.repeats = 1;
    return l;
  }
  if (!c->repeated) {
    if (c->count < 0) fz_fault(m, "bad-count");
    l.total = c->count > 0 ? c->count : 0;
    l.counted = true;
    m->counter = false;
    m->mask[0] = m->mask[1] = ~0ull;
    return l;
  }
  const acsim_repeat *r = &c->r;
  if (r->form == ACSIM_MASK_BITS) memcpy(m->mask, r->mask, sizeof m->mask);
  if (r->form == ACSIM_MASK_FIRST && m->counter) m->mask[0] = r->first, m->mask[1] = 0;
  if (r->form == ACSIM_MASK_FIRST && !m->counter) {
    m->mask[0] = m->mask[1] = 0;
    for (uint64_t i = 0; i < r->first && i < 128; i++) m->mask[i / 64] |= 1ull << i % 64;
  }
  if (r->form == ACSIM_MASK_BITS && !m->counter && l.lanes <= 64 &&
      (r->mask[1] || (l.lanes < 64 && r->mask[0] >> l.lanes)))
    fz_fault(m, "field-limit");
  /* repeats that do nothing are a mistake where the number of elements could be a mask of one repeat: docs/hazards.md */
  bool few = r->form == ACSIM_MASK_FIRST && c->op != ACSIM_OP_Copy && r->repeat > 1 && r->first <= (uint64_t)l.lanes;
  if (m->counter && (few || (r->form == ACSIM_MASK_BITS && r->mask[1]))) fz_fault(m, "mask-mode");
  if (m->counter && c->op == ACSIM_OP_Copy) { /* elements of each repeat; the repeat times count (Copy) */
    l.per_repeat = (int64_t)m->mask[0];
    l.repeats = r->repeat;
  } else if (m->counter) {
    l.total = (int64_t)m->mask[0];
    l.counted = true;
  } else {
    memcpy(l.bits, m->mask, sizeof l.bits);
    if (r->form == ACSIM_MASK_FIRST && r->first > (uint64_t)l.lanes) { /* the most that there is (mask) */
      l.bits[0] = l.lanes >= 64 ? ~0ull : (1ull << l.lanes) - 1;
      l.bits[1] = l.lanes >= 128 ? ~0ull : 0;
    }
    l.repeats = r->repeat;
  }
  /* ReduceSum, ReduceMax and ReduceMin take any number (ReduceSum, repeatTime) */
  bool any = c->op == ACSIM_OP_ReduceSum || c->op == ACSIM_OP_ReduceMax || c->op == ACSIM_OP_ReduceMin;
  if (!l.counted && (r->repeat < 0 || (r->repeat > 255 && !any))) fz_fault(m, "field-limit");
  return l;
}
bool fz_runs(const fz_lanes *l) {
  return l->counted ? l->total > 0 : l->repeats > 0;
}
/* The next lane that is on. */
bool fz_next(const fz_lanes *l, fz_lane *at) {
  for (;;) {
    if (!at->started)
      *at = (fz_lane){.started = true};
    else
      at->i++;
    int64_t width = l->per_repeat ? l->per_repeat : l->lanes;
    if (at->i >= width) at->i = 0, at->k++;
    if (l->counted) return at->k * l->lanes + at->i < l->total;
    if (at->k >= l->repeats) return false;
    if (l->per_repeat) return true;
    if (l->bits[at->i / 64] >> at->i % 64 & 1) return true;
  }
}

/* Byte offset of a lane in an operand: 8 blocks of 32 bytes, block stride between them, repeat stride between repeats. */
int64_t fz_lane_at(fz_lane at, int bytes, int64_t block, int64_t repeat) {
  int64_t per = 32 / bytes;
  return at.k * repeat * 32 + at.i / per * block * 32 + at.i % per * bytes;
}

typedef struct {
  int bytes;
  int64_t block, repeat;
} strides;
static strides strides_of(const fz_case *c, int operand) {
  int bytes = fz_bytes[operand ? c->type : c->dst_type];
  if (!c->repeated) return (strides){bytes, 1, (int64_t)lanes_of(c) * bytes / 32};
  const acsim_repeat *r = &c->r;
  return operand == 0   ? (strides){bytes, r->dst_block, r->dst_repeat}
         : operand == 1 ? (strides){bytes, r->a_block, r->a_repeat}
                        : (strides){bytes, r->b_block, r->b_repeat};
}
static int64_t at_of(fz_lane at, strides s) {
  return fz_lane_at(at, s.bytes, s.block, s.repeat);
}

/* ---- overlap (general constraints, 通用地址重叠约束) ---- */

/* Which repeat has written a byte first. */
static int32_t stamp_rep[FZ_UB];
static uint8_t noted[FZ_UB];
void fz_note_reset(void) {
  memset(noted, 0, sizeof noted);
}
void fz_note(fz_machine *m, const uint8_t *p, int64_t n, int bit) {
  for (int64_t j = p - m->ub; j < p - m->ub + n; j++) {
    noted[j] |= (uint8_t)bit;
    if (noted[j] == 3) fz_fault(m, "overlap");
  }
}

void fz_track_reset(void) {
  memset(stamp_rep, 0xff, sizeof stamp_rep);
}
void fz_track_write(const fz_machine *m, const uint8_t *p, int64_t n, int64_t k) {
  for (int64_t j = p - m->ub; j < p - m->ub + n; j++)
    if (stamp_rep[j] < 0) stamp_rep[j] = (int32_t)k;
}
/* No repeat may read what an earlier one wrote. */
void fz_track_read(fz_machine *m, const uint8_t *p, int64_t n, int64_t k) {
  for (int64_t j = p - m->ub; j < p - m->ub + n; j++)
    if (stamp_rep[j] >= 0 && stamp_rep[j] < k) fz_fault(m, "overlap");
}

/* May a later repeat read what an earlier one wrote? Only src1 of some instructions, with a repeat stride of 0. */
static bool may_chain(const fz_case *c, int operand) {
  static const int ops[] = {ACSIM_OP_Add, ACSIM_OP_Sub,     ACSIM_OP_Mul,    ACSIM_OP_Max,
                            ACSIM_OP_Min, ACSIM_OP_AddRelu, ACSIM_OP_SubRelu};
  bool op = false;
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) op = op || ops[i] == c->op;
  bool type = c->type == ACSIM_F16 || c->type == ACSIM_F32 || c->type == ACSIM_I32;
  return op && type && operand == 2 && c->repeated && (c->r.b_repeat == 0 || c->r.dst_repeat == 0);
}
/* Between repeats, and, but for Cast to another size (which reads a repeat before it writes it: docs/simulator.md), inside of each: there the
 * operands must be the same, lane by lane, or apart. */
static void check_overlap(fz_machine *m, const fz_case *c, const fz_lanes *l, fz_view src, int operand) {
  strides d = strides_of(c, 0), s = strides_of(c, operand);
  fz_track_reset();
  for (fz_lane at = {0}; fz_next(l, &at);) {
    if (!may_chain(c, operand)) fz_track_read(m, fz_at(m, src, at_of(at, s)), s.bytes, at.k);
    fz_track_write(m, fz_at(m, c->dst, at_of(at, d)), d.bytes, at.k);
  }
  bool converts = c->op == ACSIM_OP_Cast || c->op == ACSIM_OP_CastDeq || c->op == ACSIM_OP_AddDeqRelu;
  if (converts && s.bytes != d.bytes) return; /* docs/simulator.md: a repeat is read before it is written */
  /* the last repeat that writes a byte; earlier ones that do have been looked at in their turn */
  int64_t k = -1;
  for (fz_lane at = {0}; fz_next(l, &at);) {
    if (at.k != k) { /* a new repeat: its writes, then its reads */
      k = at.k;
      fz_track_reset();
      for (fz_lane w = at; w.k == k;) {
        uint8_t *to = fz_at(m, c->dst, at_of(w, d));
        fz_track_write(m, to, d.bytes, k);
        if (!fz_next(l, &w)) break;
      }
    }
    uint8_t *from = fz_at(m, src, at_of(at, s)), *to = fz_at(m, c->dst, at_of(at, d));
    if (from == to && s.bytes == d.bytes) continue;
    for (int j = 0; j < s.bytes; j++)
      if (stamp_rep[from - m->ub + j] == k) fz_fault(m, "overlap");
  }
}

/* Does a later repeat read in dst what an earlier one wrote? Then one unit of the last place grows to any number of them. */
static bool revisits(fz_machine *m, const fz_case *c, const fz_lanes *l) {
  strides d = strides_of(c, 0);
  fz_track_reset();
  bool twice = false;
  for (fz_lane at = {0}; fz_next(l, &at);) {
    uint8_t *p = fz_at(m, c->dst, at_of(at, d));
    twice = twice || stamp_rep[p - m->ub] >= 0;
    fz_track_write(m, p, d.bytes, at.k);
  }
  return twice;
}

/* ---- element-wise ---- */

/* A source of which no lane is defined is a fault at once. */
static void check_defined(fz_machine *m, const fz_case *c, const bool some_defined[3]) {
  if (!bitwise(c->op) && !(some_defined[0] && some_defined[1] && some_defined[2])) fz_fault(m, "read-poison");
}
static void elementwise(fz_machine *m, const fz_case *c) {
  static uint8_t result[FZ_UB * 4];
  fz_lanes l = fz_lanes_of(m, c);
  bool has_a = c->a.buf >= 0, has_b = c->b.buf >= 0;
  if (c->op == ACSIM_OP_ShiftLeft || c->op == ACSIM_OP_ShiftRight)
    if (c->i < 0 || c->i > 8 * fz_bytes[c->type]) fz_fault(m, "field-limit");
  fz_lane first = {0};
  if (m->n_faults || !fz_runs(&l)) return; /* no operation */
  bool some = fz_next(&l, &first);
  if (!some && m->counter && c->op == ACSIM_OP_Copy) return;
  fz_aligned(m, c->dst, 32);
  if (has_a) fz_aligned(m, c->a, 32);
  if (has_b) fz_aligned(m, c->b, 32);
  strides sd = strides_of(c, 0), sa = strides_of(c, 1), sb = strides_of(c, 2);
  bool bad = false;
  for (fz_lane at = {0}; fz_next(&l, &at) && !bad;) {
    bad = !fz_inside(m, c->dst, at_of(at, sd), sd.bytes) || bad;
    bad = (has_a && !fz_inside(m, c->a, at_of(at, sa), sa.bytes)) || bad;
    bad = (has_b && !fz_inside(m, c->b, at_of(at, sb), sb.bytes)) || bad;
    if (sd.block == 0 && at.i / (32 / sd.bytes) != first.i / (32 / sd.bytes))
      fz_fault(m, "field-limit"); /* a dst block stride of 0 is not supported (高维切分) */
  }
  if (bad) return;
  if (has_a) check_overlap(m, c, &l, c->a, 1);
  if (has_b) check_overlap(m, c, &l, c->b, 2);
  m->any_nan = fz_is_float(c->dst_type) && c->op != ACSIM_OP_Copy && c->op != ACSIM_OP_Duplicate;
  if (c->op == ACSIM_OP_Exp || c->op == ACSIM_OP_Ln || c->op == ACSIM_OP_Rsqrt || reads_dst(c->op)) m->ulp = 1;
  if (reads_dst(c->op) && c->repeated && revisits(m, c, &l)) m->ulp = 1 << 30;
  /* a repeat reads all its lanes, then writes them */
  bool some_defined[3] = {false};
  for (fz_lane at = {0}, end = {0}; fz_next(&l, &at);) {
    int64_t k = at.k;
    int n = 0;
    for (end = at;; n++) {
      int64_t oa = at_of(end, sa), ob = at_of(end, sb), od = at_of(end, sd);
      uint8_t *o = result + (size_t)n * 16;
      bool defined[3] = {!has_a || fz_written(m, c->a, oa, sa.bytes), !has_b || fz_written(m, c->b, ob, sb.bytes),
                         !reads_dst(c->op) || fz_written(m, c->dst, od, sd.bytes)};
      bool lane = defined[0] && defined[1] && defined[2];
      for (int i = 0; i < 3; i++) some_defined[i] = some_defined[i] || defined[i];
      value(m, c, o, fz_at(m, c->dst, od), has_a ? fz_at(m, c->a, oa) : NULL, has_b ? fz_at(m, c->b, ob) : NULL);
      for (int j = 0; j < sd.bytes; j++) {
        uint8_t known = lane ? 0xff : 0; /* what comes of undefined lanes is undefined (docs/simulator.md, Poison) */
        if (bitwise(c->op)) known = known_bits(m, c, oa + j, has_b, ob + j);
        o[8 + j] = known;
      }
      fz_lane next = end;
      if (!fz_next(&l, &next) || next.k != k) break;
      end = next;
    }
    fz_lane w = at;
    for (int j = 0; j <= n; j++) {
      int64_t od = at_of(w, sd);
      memcpy(fz_at(m, c->dst, od), result + (size_t)j * 16, (size_t)sd.bytes);
      memcpy(fz_st(m, c->dst, od), result + (size_t)j * 16 + 8, (size_t)sd.bytes);
      at = w;
      if (j < n) fz_next(&l, &w);
    }
  }
  if (some) check_defined(m, c, some_defined);
}

/* ---- compare and select ---- */

static bool compare_values(int mode, double x, double y) {
  switch (mode) {
  case 0: return x < y;
  case 1: return x > y;
  case 2: return x == y;
  case 3: return x <= y;
  case 4: return x >= y;
  default: return x < y || x > y; /* not of NaN (boundary values: Compare) */
  }
}

static void put_bit(uint8_t *p, int64_t bit, bool on) {
  p[bit / 8] = (uint8_t)((p[bit / 8] & ~(1u << bit % 8)) | (unsigned)on << bit % 8);
}

/* To memory: whole repeats, the mask has no effect (Compare, mask parameter on Atlas A2). */
static void compare(fz_machine *m, const fz_case *c) {
  bool has_b = c->b.buf >= 0;
  int es = fz_bytes[c->type];
  fz_lanes l = fz_lanes_of(m, c);
  if (m->n_faults) return;
  int64_t repeats = c->repeated ? c->r.repeat : c->count / l.lanes;
  if (!c->repeated && c->count % l.lanes) fz_fault(m, "count-not-256");
  if (repeats <= 0) return;
  fz_aligned(m, c->dst, 32);
  fz_aligned(m, c->a, 32);
  if (has_b) fz_aligned(m, c->b, 32);
  fz_lanes all = {.lanes = l.lanes, .repeats = repeats, .bits = {~0ull, l.lanes > 64 ? ~0ull : 0}};
  if (l.lanes < 64) all.bits[0] = (1ull << l.lanes) - 1;
  strides sa = strides_of(c, 1), sb = strides_of(c, 2);
  bool ok = fz_inside(m, c->dst, 0, repeats * l.lanes / 8);
  for (fz_lane at = {0}; ok && fz_next(&all, &at);) {
    ok = fz_inside(m, c->a, at_of(at, sa), es) && ok;
    ok = (!has_b || fz_inside(m, c->b, at_of(at, sb), es)) && ok;
  }
  if (!ok) return;
  fz_track_reset();
  static uint8_t bits[FZ_UB], known[FZ_UB];
  for (fz_lane at = {0}; fz_next(&all, &at);) {
    int64_t oa = at_of(at, sa), ob = at_of(at, sb), n = at.k * l.lanes + at.i;
    const uint8_t *a = fz_at(m, c->a, oa), *b = has_b ? fz_at(m, c->b, ob) : NULL;
    double y = b ? fz_get(c->type, b) : fz_is_float(c->type) ? c->f : (double)c->i;
    put_bit(bits, n, compare_values(c->mode, fz_get(c->type, a), y));
    put_bit(known, n, fz_written(m, c->a, oa, es) && (!has_b || fz_written(m, c->b, ob, es)));
    fz_track_read(m, a, es, at.k);
    if (b) fz_track_read(m, b, es, at.k);
    if (at.i == l.lanes - 1) fz_track_write(m, fz_at(m, c->dst, at.k * l.lanes / 8), l.lanes / 8, at.k);
  }
  memcpy(fz_at(m, c->dst, 0), bits, (size_t)(repeats * l.lanes / 8));
  memcpy(fz_st(m, c->dst, 0), known, (size_t)(repeats * l.lanes / 8));
}

static void compare_register(fz_machine *m, const fz_case *c) {
  fz_lanes l = fz_lanes_of(m, c);
  if (m->n_faults || !fz_runs(&l)) return;
  int es = fz_bytes[c->type];
  strides sa = strides_of(c, 1), sb = strides_of(c, 2);
  fz_aligned(m, c->a, 32);
  fz_aligned(m, c->b, 32);
  for (fz_lane at = {0}; fz_next(&l, &at);) {
    int64_t oa = at_of(at, sa), ob = at_of(at, sb);
    if (!fz_inside(m, c->a, oa, es) || !fz_inside(m, c->b, ob, es)) return;
    if (!fz_written(m, c->a, oa, es) || !fz_written(m, c->b, ob, es)) fz_fault(m, "read-poison");
    put_bit(m->cmp, at.i,
            compare_values(c->mode, fz_get(c->type, fz_at(m, c->a, oa)), fz_get(c->type, fz_at(m, c->b, ob))));
    put_bit(m->cmp_st, at.i, true);
  }
}

/* A selMask goes through CMPMASK: 16 bytes of it in mode 0, else a scalar or an address that is the interface's own affair. */
static void leave_cmpmask(fz_machine *m, const fz_case *c) {
  memset(m->cmp_st, 0, sizeof m->cmp_st);
  int64_t left = FZ_UB - m->buf[c->c.buf].base - c->c.off;
  for (int64_t i = 0; c->mode == 0 && i < 16 && i < left; i++) {
    m->cmp[i] = *fz_at(m, c->c, i);
    m->cmp_st[i] = *fz_st(m, c->c, i);
  }
}

/* mask: bit n of selMask, or of CMPMASK when there is none */
static void select_lanes(fz_machine *m, const fz_case *c) {
  fz_lanes l = fz_lanes_of(m, c);
  bool has_b = c->b.buf >= 0, has_mask = c->c.buf >= 0;
  int es = fz_bytes[c->type];
  fz_lane first = {0};
  if (m->n_faults || !fz_runs(&l)) return;
  fz_next(&l, &first);
  strides sd = strides_of(c, 0), sa = strides_of(c, 1), sb = strides_of(c, 2);
  fz_aligned(m, c->dst, 32);
  fz_aligned(m, c->a, 32);
  if (has_b) fz_aligned(m, c->b, 32);
  if (has_mask) fz_aligned(m, c->c, 32);
  int64_t repeats = l.counted ? (l.total + l.lanes - 1) / l.lanes : l.repeats;
  int64_t bits = c->mode == 0 ? (l.counted && l.total < l.lanes ? l.total : l.lanes)
                 : l.counted  ? l.total
                              : repeats * l.lanes;
  bool ok = !has_mask || fz_inside(m, c->c, 0, (bits + 7) / 8);
  for (fz_lane at = {0}; ok && fz_next(&l, &at);) {
    ok = fz_inside(m, c->dst, at_of(at, sd), es) && ok;
    ok = fz_inside(m, c->a, at_of(at, sa), es) && ok;
    ok = (!has_b || fz_inside(m, c->b, at_of(at, sb), es)) && ok;
    if (sd.block == 0 && at.i / (32 / es) != first.i / (32 / es)) fz_fault(m, "field-limit");
  }
  if (!ok) return;
  check_overlap(m, c, &l, c->a, 1);
  if (has_b) check_overlap(m, c, &l, c->b, 2);
  if (has_mask) { /* selMask is a source, too, and never the same as dst: nothing of it may be written before it is used up */
    fz_track_reset();
    for (fz_lane at = {0}; fz_next(&l, &at);) fz_track_write(m, fz_at(m, c->dst, at_of(at, sd)), es, at.k);
    for (fz_lane at = {0}; fz_next(&l, &at);)
      fz_track_read(m, fz_at(m, c->c, (c->mode == 0 ? at.i : at.k * l.lanes + at.i) / 8), 1, at.k + 1);
  }
  if (m->n_faults) return;
  for (fz_lane at = {0}; fz_next(&l, &at);) {
    int64_t n = c->mode == 0 || !has_mask ? at.i : at.k * l.lanes + at.i;
    const uint8_t *mask = has_mask ? fz_at(m, c->c, 0) : m->cmp, *known = has_mask ? fz_st(m, c->c, 0) : m->cmp_st;
    if (!(known[n / 8] >> n % 8 & 1)) fz_fault(m, "read-poison");
    bool on = mask[n / 8] >> n % 8 & 1;
    uint8_t v[8];
    if (on || has_b) {
      fz_view from = on ? c->a : c->b;
      int64_t off = at_of(at, on ? sa : sb);
      if (!fz_written(m, from, off, es)) fz_fault(m, "read-poison");
      memcpy(v, fz_at(m, from, off), (size_t)es);
    } else {
      fz_put(c->type, v, c->f, FZ_RINT, false);
    }
    memcpy(fz_at(m, c->dst, at_of(at, sd)), v, (size_t)es);
    memset(fz_st(m, c->dst, at_of(at, sd)), 0xff, (size_t)es);
  }
  if (has_mask) leave_cmpmask(m, c);
}

void fz_naive_vec(fz_machine *m, const fz_case *c) {
  if (c->type == ACSIM_I4 || c->dst_type == ACSIM_I4) {
    fz_naive_int4(m, c);
    return;
  }
  if (!check_types(m, c)) return;
  if (c->op == ACSIM_OP_CastDeq && c->type == ACSIM_I16) {
    fz_naive_cast_deq(m, c);
    return;
  }
  switch (c->op) {
  case ACSIM_OP_Compare:
    if (c->dst.buf < 0) {
      compare_register(m, c);
      return;
    }
    compare(m, c);
    return;
  case ACSIM_OP_CompareScalar: compare(m, c); return;
  case ACSIM_OP_Select:
    select_lanes(m, c);
    if (c->by_cmpmask) memset(m->cmp_st, 0, sizeof m->cmp_st); /* as fuzz_core.c leaves it */
    return;
  case ACSIM_OP_ReduceSum:
  case ACSIM_OP_ReduceMax:
  case ACSIM_OP_ReduceMin:
  case ACSIM_OP_WholeReduceSum:
  case ACSIM_OP_WholeReduceMax:
  case ACSIM_OP_WholeReduceMin:
  case ACSIM_OP_BlockReduceSum:
  case ACSIM_OP_BlockReduceMax:
  case ACSIM_OP_BlockReduceMin:
  case ACSIM_OP_PairReduceSum: fz_naive_reduce(m, c); return;
  case ACSIM_OP_Brcb:
  case ACSIM_OP_Gather:
  case ACSIM_OP_Gatherb:
  case ACSIM_OP_GatherMask:
  case ACSIM_OP_CreateVecIndex: fz_naive_gather(m, c); return;
  default: elementwise(m, c);
  }
}

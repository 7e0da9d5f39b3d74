/* Random calls: mostly such as a kernel would make, some of them wrong in one way or another. */
#include "fuzz.h"

#include <math.h>
#include <string.h>

/* ---- content of operands ---- */

static double special(fz_rng *r) {
  static const double v[] = {0.0,           -0.0,         1.0,
                             -1.0,          0.5,          1.5,
                             2.5,           -0.5,         -1.5,
                             -2.5,          65504.0,      65519.0,
                             65520.0,       -65536.,      32767.5,
                             32768.0,       -32768.5,     127.5,
                             128.0,         -128.5,       255.5,
                             256.0,         2048.5,       2049.0,
                             4097.0,        1e-7,         5.96e-8,
                             2.98e-8,       6.1e-5,       6.0975e-5,
                             1e-40,         1e-45,        3.4e38,
                             -3.4e38,       1e30,         2147483647.0,
                             -2147483648.0, 2147483520.0, 9.2233720368547e18,
                             1e20,          33554435.0,   16777217.0,
                             88.7,          -87.3};
  int64_t i = fz_in(r, 0, (int64_t)(sizeof v / sizeof *v) + 3);
  if (i < (int64_t)(sizeof v / sizeof *v)) return v[i];
  i -= (int64_t)(sizeof v / sizeof *v);
  return i == 0 ? (double)NAN : i == 1 ? HUGE_VAL : i == 2 ? -HUGE_VAL : 1e-30;
}
static int64_t special_int(fz_rng *r) {
  static const int64_t v[] = {0,
                              1,
                              -1,
                              2,
                              127,
                              -128,
                              128,
                              255,
                              32767,
                              -32768,
                              32768,
                              65535,
                              INT32_MAX,
                              INT32_MIN,
                              16777217,
                              33554435,
                              INT64_MAX,
                              INT64_MIN,
                              (int64_t)1 << 53,
                              ((int64_t)1 << 53) + 1,
                              ((int64_t)1 << 35) + 6144,
                              4098,
                              4102};
  return v[fz_in(r, 0, (int64_t)(sizeof v / sizeof *v) - 1)];
}
/* style 0: random bits; 1: small numbers; 2: special ones; 3: halves of integers; 4: a mixture without NaN */
static void element(fz_rng *r, int type, int style, uint8_t *p) {
  uint64_t u = fz_u64(r);
  if (style == 0 && type != ACSIM_BOOL) {
    memcpy(p, &u, (size_t)fz_bytes[type]);
    return;
  }
  if (fz_is_float(type)) {
    double x = style == 1   ? (double)(int64_t)(u % 2001) / 100.0 - 10.0
               : style == 2 ? special(r)
               : style == 3 ? (double)(int64_t)(u % 1025) / 2 - 256
                            : ldexp((double)(int64_t)(u % 2048) - 1024, (int)(u >> 32) % 16 - 12);
    fz_put(type, p, x, FZ_RINT, style == 4);
  } else {
    fz_put_int(type, p, style == 2 ? special_int(r) : (int64_t)(u % 201) - 100);
  }
}

static void fill_view(fz_machine *m, fz_rng *r, fz_view v, int type, int style) {
  int es = fz_bytes[type];
  int64_t start = m->buf[v.buf].base + (v.off < 0 ? 0 : v.off), end = m->buf[v.buf].base + m->buf[v.buf].size;
  if (end > start + 8192) end = start + 8192;
  /* random bits are cheap; of the others a few kinds, anywhere */
  enum { KINDS = 64 };
  uint8_t kinds[KINDS][8];
  for (int i = 0; i < KINDS; i++) element(r, type, style, kinds[i]);
  for (int64_t at = start; at + es <= end; at += es) {
    uint64_t u = fz_u64(r);
    memcpy(m->ub + at, style == 0 && type != ACSIM_BOOL ? (uint8_t *)&u : kinds[u % KINDS], (size_t)es);
  }
}
static void poison_view(fz_machine *m, fz_rng *r, fz_view v, int how) {
  int64_t size = m->buf[v.buf].size, at = v.off + fz_in(r, 0, 300), n = fz_in(r, 1, 64);
  if (at < 0 || at >= size) return;
  if (at + n > size) n = size - at;
  for (int64_t j = 0; j < n; j++) m->st[m->buf[v.buf].base + at + j] = how == 1 ? 0 : (uint8_t)fz_u64(r);
}

static int style_of(fz_rng *r) {
  static const int s[] = {0, 1, 1, 2, 2, 3, 4};
  return s[fz_in(r, 0, 6)];
}

void fz_fill(fz_machine *m, const fz_case *c) {
  fz_rng r = {c->fill};
  for (int i = 0; i < FZ_BUFS; i++) memset(m->st + m->buf[i].base, 0xff, (size_t)m->buf[i].size);
  bool sorts = c->kind == FZ_SORT || c->kind == FZ_MERGE; /* NaN has no place in an order */
  int style = sorts ? (fz_one_in(&r, 2) ? 1 : 4) : style_of(&r);
  if (!fz_one_in(&r, 3)) { /* else what is there stays */
    if (c->dst.buf >= 0) fill_view(m, &r, c->dst, c->dst_type, style);
    if (c->a.buf >= 0) fill_view(m, &r, c->a, c->type, style);
    if (c->b.buf >= 0) fill_view(m, &r, c->b, c->type, sorts ? 1 : style_of(&r));
  }
  if (c->kind == FZ_SORT) fill_view(m, &r, c->a, c->type, style);
  for (int i = 0; i < 32; i++)
    if (c->list[i].buf >= 0) fill_view(m, &r, c->list[i], c->kind == FZ_MERGE ? ACSIM_F32 : c->type, sorts ? 1 : 0);
  if (c->kind == FZ_MERGE && c->merge.type == ACSIM_F16)
    for (int i = 0; i < 4; i++) {
      fz_view v = c->list[i];
      for (int64_t at = 0; v.off + at + 2 <= m->buf[v.buf].size && at < 8192; at += 8)
        element(&r, ACSIM_F16, 4, m->ub + m->buf[v.buf].base + v.off + at);
    }
  if (c->kind == FZ_VEC && (c->op == ACSIM_OP_Gather || c->op == ACSIM_OP_Gatherb)) {
    /* offsets that lead into src, now and then a wrong one */
    int64_t step = c->op == ACSIM_OP_Gatherb ? 32 : fz_bytes[c->type];
    int64_t room = (m->buf[c->a.buf].size - c->a.off - c->i) / step;
    int64_t size = m->buf[c->b.buf].size;
    for (int64_t at = c->b.off; at + 4 <= size && at < c->b.off + 8192; at += 4) {
      int64_t v = fz_in(&r, 0, room > 0 ? room - 1 : 0) * step;
      if (fz_one_in(&r, 4000)) v = fz_in(&r, 0, 70000);
      if (at >= 0) fz_put_int(ACSIM_U32, m->ub + m->buf[c->b.buf].base + at, v);
    }
  }
  if (c->kind == FZ_VEC && c->op == ACSIM_OP_CreateVecIndex) return;
  if (!c->poison) return;
  fz_view v = c->a.buf >= 0 && fz_one_in(&r, 2) ? c->a : c->b.buf >= 0 ? c->b : c->c.buf >= 0 ? c->c : c->a;
  if (c->kind == FZ_VEC && c->c.buf >= 0 && fz_one_in(&r, 2)) v = c->c;
  if (c->list[0].buf >= 0) v = c->list[fz_in(&r, 0, 3)];
  if (v.buf >= 0) poison_view(m, &r, v, c->poison);
}

/* ---- operands ---- */

typedef struct {
  fz_rng *r;
  const fz_machine *m;
} where;

/* A view with room for `bytes`, if any buffer has it; now and then a wrong one. */
static fz_view place(where w, int64_t bytes, int64_t align) {
  fz_view v = {(int)fz_in(w.r, 0, FZ_BUFS - 1), 0};
  for (int i = 0; i < FZ_BUFS && w.m->buf[v.buf].size < bytes; i++) v.buf = (v.buf + 1) % FZ_BUFS;
  int64_t room = w.m->buf[v.buf].size - bytes;
  if (room > 0 && !fz_one_in(w.r, 3))
    v.off = fz_one_in(w.r, 4) ? room / align * align : fz_in(w.r, 0, room / align) * align;
  if (fz_one_in(w.r, 60)) v.off += fz_in(w.r, 1, 40);
  if (fz_one_in(w.r, 120)) v.off += 32 * fz_in(w.r, -3, 30);
  return v;
}
static const fz_view nowhere = {-1, 0};

static int pick(fz_rng *r, const int *of, int n) {
  return of[fz_in(r, 0, n - 1)];
}
#define PICK(r, ...) pick(r, (const int[]){__VA_ARGS__}, (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)))

static void random_scalar(fz_rng *r, fz_case *c) {
  uint8_t p[8] = {0};
  element(r, c->type, style_of(r), p);
  c->f = fz_is_float(c->type) ? fz_get(c->type, p) : 0;
  c->i = fz_is_float(c->type) ? 0 : fz_get_int(c->type, p);
}

static int64_t span(int64_t repeats, int64_t block, int64_t repeat) {
  return repeats > 0 ? ((repeats - 1) * repeat + 7 * block + 1) * 32 : 32;
}
static int64_t stride_block(fz_rng *r) {
  return fz_one_in(r, 4) ? PICK(r, 0, 1, 2, 3, 4, 8, 16, 200) : 1;
}
static int64_t stride_repeat(fz_rng *r, int64_t usual) {
  return fz_one_in(r, 3) ? PICK(r, 0, 0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 255) : usual;
}
static int64_t count_of(fz_rng *r, int64_t most) {
  if (fz_one_in(r, 60)) return PICK(r, 0, -1, -5);
  if (fz_one_in(r, 3)) return fz_in(r, 1, 300);
  if (most < 1) most = 1;
  if (most > 4096 && !fz_one_in(r, 10)) most = 4096;
  return fz_one_in(r, 3) ? (fz_in(r, 1, most) + 63) / 64 * 64 : fz_in(r, 1, most);
}

void fz_settle(fz_case *c) {
  acsim_repeat *p = &c->r;
  if (p->form != ACSIM_MASK_FIRST || c->counter) return;
  p->mask[0] = p->first >= 64 ? ~0ull : (1ull << p->first) - 1;
  p->mask[1] = p->first >= 128 ? ~0ull : p->first > 64 ? (1ull << (p->first - 64)) - 1 : 0;
}

static void random_mask(fz_rng *r, fz_case *c, int lanes) {
  acsim_repeat *p = &c->r;
  p->form = (uint8_t)PICK(r, ACSIM_MASK_BITS, ACSIM_MASK_FIRST, ACSIM_MASK_FIRST, ACSIM_MASK_REGISTER);
  p->mask[0] = fz_one_in(r, 3) ? ~0ull : fz_u64(r) & (fz_one_in(r, 2) ? fz_u64(r) : ~0ull);
  p->mask[1] = fz_one_in(r, 3) ? ~0ull : fz_u64(r);
  if (lanes <= 64 && !fz_one_in(r, 40)) p->mask[1] = 0;
  if (lanes < 64 && !fz_one_in(r, 40)) p->mask[0] &= (1ull << lanes) - 1;
  if (fz_one_in(r, 30)) p->mask[0] = p->mask[1] = 0;
  p->first = fz_one_in(r, 2) ? (uint64_t)lanes : (uint64_t)fz_in(r, 0, lanes);
  if (fz_one_in(r, 60)) p->first = (uint64_t)fz_in(r, lanes, 200);
  fz_settle(c);
  if (c->counter) {
    uint64_t n = (uint64_t)fz_in(r, 0, fz_one_in(r, 3) ? 100 : 900);
    p->first = p->mask[0] = n;
    p->mask[1] = fz_one_in(r, 60);
  }
}
static void random_register(fz_rng *r, fz_case *c) {
  c->reg[0] = fz_one_in(r, 2) ? ~0ull : fz_u64(r);
  c->reg[1] = fz_one_in(r, 2) ? ~0ull : fz_u64(r);
  if (c->counter) c->reg[0] = (uint64_t)fz_in(r, 0, 600), c->reg[1] = 0;
}

/* ---- one kind after the other ---- */

static const int element_ops[] = {ACSIM_OP_Exp,         ACSIM_OP_Ln,          ACSIM_OP_Abs,
                                  ACSIM_OP_Reciprocal,  ACSIM_OP_Sqrt,        ACSIM_OP_Rsqrt,
                                  ACSIM_OP_Relu,        ACSIM_OP_Not,         ACSIM_OP_Add,
                                  ACSIM_OP_Sub,         ACSIM_OP_Mul,         ACSIM_OP_Div,
                                  ACSIM_OP_Max,         ACSIM_OP_Min,         ACSIM_OP_And,
                                  ACSIM_OP_Or,          ACSIM_OP_AddRelu,     ACSIM_OP_SubRelu,
                                  ACSIM_OP_MulAddDst,   ACSIM_OP_FusedMulAdd, ACSIM_OP_FusedMulAddRelu,
                                  ACSIM_OP_Adds,        ACSIM_OP_Muls,        ACSIM_OP_Maxs,
                                  ACSIM_OP_Mins,        ACSIM_OP_LeakyRelu,   ACSIM_OP_ShiftLeft,
                                  ACSIM_OP_ShiftRight,  ACSIM_OP_Axpy,        ACSIM_OP_Duplicate,
                                  ACSIM_OP_Cast,        ACSIM_OP_Cast,        ACSIM_OP_Cast,
                                  ACSIM_OP_Copy,        ACSIM_OP_MulCast,     ACSIM_OP_AddReluCast,
                                  ACSIM_OP_SubReluCast, ACSIM_OP_CastDeq,     ACSIM_OP_CastDeq,
                                  ACSIM_OP_AddDeqRelu};
static const int other_ops[] = {
    ACSIM_OP_Compare,        ACSIM_OP_Compare,        ACSIM_OP_CompareScalar,  ACSIM_OP_Select,
    ACSIM_OP_Select,         ACSIM_OP_ReduceSum,      ACSIM_OP_ReduceMax,      ACSIM_OP_ReduceMin,
    ACSIM_OP_WholeReduceSum, ACSIM_OP_WholeReduceMax, ACSIM_OP_WholeReduceMin, ACSIM_OP_BlockReduceSum,
    ACSIM_OP_BlockReduceMax, ACSIM_OP_BlockReduceMin, ACSIM_OP_PairReduceSum,  ACSIM_OP_Brcb,
    ACSIM_OP_CreateVecIndex, ACSIM_OP_Gather,         ACSIM_OP_Gatherb,        ACSIM_OP_GatherMask};

static bool is_binary(int op) {
  switch (op) {
  case ACSIM_OP_Add:
  case ACSIM_OP_Sub:
  case ACSIM_OP_Mul:
  case ACSIM_OP_Div:
  case ACSIM_OP_Max:
  case ACSIM_OP_Min:
  case ACSIM_OP_And:
  case ACSIM_OP_Or:
  case ACSIM_OP_AddRelu:
  case ACSIM_OP_SubRelu:
  case ACSIM_OP_MulAddDst:
  case ACSIM_OP_FusedMulAdd:
  case ACSIM_OP_FusedMulAddRelu:
  case ACSIM_OP_MulCast:
  case ACSIM_OP_AddReluCast:
  case ACSIM_OP_SubReluCast:
  case ACSIM_OP_AddDeqRelu:
  case ACSIM_OP_Compare: return true;
  default: return false;
  }
}

/* What SetDeqScale is given. */
static void draw_deq(fz_rng *r, where w, fz_case *c) {
  static const double scales[] = {1, 0.5, 2, 0.25, 0.1, 1e-3, -1, 3.7, 1.0009765625, 1.00048828125, 1e10, 0, 1e-30};
  element(r, ACSIM_F16, style_of(r), (uint8_t *)&c->deq_bits);
  bool sign = c->dst_type == ACSIM_I8;
  for (int i = 0; i < 16; i++) {
    c->deq_scale[i] = (float)scales[fz_in(r, 0, (int64_t)(sizeof scales / sizeof *scales) - 1)];
    if (fz_one_in(r, 3)) element(r, ACSIM_F32, style_of(r), (uint8_t *)&c->deq_scale[i]);
    c->deq_offset[i] = (int16_t)(fz_one_in(r, 3) ? fz_in(r, -300, 300) : fz_in(r, -3, 3));
    c->deq_sign[i] = fz_one_in(r, 400) ? !sign : sign;
  }
  c->deq_view.buf = (int)fz_in(r, 0, FZ_BUFS - 1);
  for (int i = 0; i < FZ_BUFS && w.m->buf[c->deq_view.buf].size < 128; i++)
    c->deq_view.buf = (c->deq_view.buf + 1) % FZ_BUFS;
  c->deq_view.off = 32 * fz_in(r, 0, (w.m->buf[c->deq_view.buf].size - 128) / 32);
  if (w.m->buf[c->deq_view.buf].size < 128) c->deq = FZ_DEQ_NONE;
}

static void draw_types(fz_rng *r, fz_case *c) {
  unsigned set = fz_types_of(c->op);
  do c->type = (int)fz_in(r, 0, FZ_TYPES - 1);
  while (!(set >> c->type & 1) && !fz_one_in(r, 400)); /* now and then a type that the instruction does not have */
  c->dst_type = c->type;
  switch (c->op) {
  case ACSIM_OP_Axpy:
  case ACSIM_OP_MulAddDst:
    c->type = PICK(r, ACSIM_F16, ACSIM_F32);
    c->dst_type = fz_one_in(r, 3) ? PICK(r, ACSIM_F16, ACSIM_F32) : c->type;
    break;
  case ACSIM_OP_MulCast:
  case ACSIM_OP_AddReluCast:
  case ACSIM_OP_SubReluCast:
    c->type = PICK(r, ACSIM_F16, ACSIM_F16, ACSIM_I16, ACSIM_F32);
    c->dst_type = c->type == ACSIM_F32 ? ACSIM_F16 : PICK(r, ACSIM_I8, ACSIM_I8, ACSIM_U8);
    if (c->op == ACSIM_OP_MulCast && !fz_one_in(r, 10))
      c->type = ACSIM_F16, c->dst_type = PICK(r, ACSIM_I8, ACSIM_U8);
    break;
  case ACSIM_OP_Cast: {
    static const uint8_t pairs[][2] = {
        {ACSIM_I8, ACSIM_F16},   {ACSIM_U8, ACSIM_F16},   {ACSIM_I16, ACSIM_F16},  {ACSIM_I16, ACSIM_F32},
        {ACSIM_F16, ACSIM_I8},   {ACSIM_F16, ACSIM_U8},   {ACSIM_F16, ACSIM_I16},  {ACSIM_F16, ACSIM_I32},
        {ACSIM_F16, ACSIM_F32},  {ACSIM_BF16, ACSIM_I32}, {ACSIM_BF16, ACSIM_F32}, {ACSIM_I32, ACSIM_I16},
        {ACSIM_I32, ACSIM_F32},  {ACSIM_I32, ACSIM_I64},  {ACSIM_F32, ACSIM_I16},  {ACSIM_F32, ACSIM_F16},
        {ACSIM_F32, ACSIM_BF16}, {ACSIM_F32, ACSIM_I32},  {ACSIM_F32, ACSIM_F32},  {ACSIM_F32, ACSIM_I64},
        {ACSIM_I64, ACSIM_I32},  {ACSIM_I64, ACSIM_F32},  {ACSIM_I32, ACSIM_F16}};
    int64_t i = fz_in(r, 0, (int64_t)(sizeof pairs / sizeof *pairs) - 1);
    c->type = pairs[i][0];
    c->dst_type = pairs[i][1];
    if (fz_one_in(r, 40)) c->dst_type = (int)fz_in(r, 0, FZ_TYPES - 1);
    c->mode = (int)fz_in(r, 0, 6);
    if (c->type == ACSIM_I32 && c->dst_type == ACSIM_F16) {
      c->mode = 0;
      c->deq = fz_one_in(r, 4) ? FZ_DEQ_NONE : FZ_DEQ_HALF;
    }
    if (fz_one_in(r, 12)) { /* 4-bit integers */
      bool narrows = fz_one_in(r, 2);
      c->type = narrows ? ACSIM_F16 : ACSIM_I4;
      c->dst_type = narrows ? ACSIM_I4 : ACSIM_F16;
      if (!narrows && !fz_one_in(r, 20)) c->mode = 0;
    }
    break;
  }
  case ACSIM_OP_AddDeqRelu:
    c->dst_type = fz_one_in(r, 40) ? c->type : ACSIM_F16;
    c->deq = fz_one_in(r, 6) ? FZ_DEQ_NONE : FZ_DEQ_HALF;
    break;
  case ACSIM_OP_CastDeq:
    c->type = PICK(r, ACSIM_I16, ACSIM_I16, ACSIM_I16, ACSIM_I32);
    c->dst_type = c->type == ACSIM_I32 ? ACSIM_F16 : PICK(r, ACSIM_I8, ACSIM_U8);
    if (fz_one_in(r, 40)) c->dst_type = PICK(r, ACSIM_I8, ACSIM_F16, ACSIM_I32);
    c->mode = (int)fz_in(r, 0, 3);
    c->deq = fz_one_in(r, 20)       ? (int)fz_in(r, FZ_DEQ_NONE, FZ_DEQ_VECTOR)
             : c->type == ACSIM_I32 ? FZ_DEQ_HALF
             : c->mode & 1          ? FZ_DEQ_VECTOR
                                    : FZ_DEQ_WORD;
    break;
  case ACSIM_OP_Gatherb:
    if (!fz_one_in(r, 20)) c->type = PICK(r, ACSIM_U16, ACSIM_U32);
    c->dst_type = c->type;
    break;
  case ACSIM_OP_Compare:
  case ACSIM_OP_CompareScalar:
    c->type = PICK(r, ACSIM_F32, ACSIM_F16, ACSIM_F32, ACSIM_F16, ACSIM_I32);
    if (fz_one_in(r, 50)) c->type = (int)fz_in(r, 0, FZ_TYPES - 1);
    c->mode = c->type == ACSIM_I32 && !fz_one_in(r, 10) ? 2 : (int)fz_in(r, 0, 5);
    c->dst_type = fz_one_in(r, 40) ? PICK(r, ACSIM_I8, ACSIM_U16, ACSIM_U32) : ACSIM_U8;
    break;
  case ACSIM_OP_Select:
  case ACSIM_OP_ReduceSum:
  case ACSIM_OP_ReduceMax:
  case ACSIM_OP_ReduceMin:
  case ACSIM_OP_WholeReduceSum:
  case ACSIM_OP_WholeReduceMax:
  case ACSIM_OP_WholeReduceMin:
  case ACSIM_OP_BlockReduceSum:
  case ACSIM_OP_BlockReduceMax:
  case ACSIM_OP_BlockReduceMin:
  case ACSIM_OP_PairReduceSum:
    if (!fz_one_in(r, 50)) c->type = PICK(r, ACSIM_F16, ACSIM_F32);
    c->dst_type = c->type;
    break;
  default: break;
  }
}

/* Operands that are the same, or that meet. */
static void share(fz_rng *r, fz_case *c) {
  if (fz_one_in(r, 6) && c->a.buf >= 0) c->dst = c->a;
  if (fz_one_in(r, 8) && c->b.buf >= 0) c->dst = c->b;
  if (fz_one_in(r, 12) && c->b.buf >= 0) c->a = c->b;
  if (fz_one_in(r, 14) && c->a.buf >= 0) c->dst = c->a, c->dst.off += 32 * fz_in(r, -9, 9);
  if (fz_one_in(r, 20) && c->b.buf >= 0) c->dst = c->b, c->dst.off += 32 * fz_in(r, -9, 9);
  if (c->dst.off < 0 && !fz_one_in(r, 20)) c->dst.off = 0;
}

/* Which count forms have isSetMask. */
static bool takes_register(int op) {
  switch (op) {
  case ACSIM_OP_Duplicate:
  case ACSIM_OP_CreateVecIndex:
  case ACSIM_OP_Copy:
  case ACSIM_OP_Select:
  case ACSIM_OP_MulCast:
  case ACSIM_OP_AddReluCast:
  case ACSIM_OP_CastDeq:
  case ACSIM_OP_AddDeqRelu:
  case ACSIM_OP_SubReluCast: return false;
  default: return true;
  }
}

static void draw_element(fz_rng *r, where w, fz_case *c) {
  int64_t es = fz_bytes[c->type], ds = fz_bytes[c->dst_type], wide = es > ds ? es : ds, lanes = 256 / wide;
  if (c->op == ACSIM_OP_CastDeq && c->type == ACSIM_I16) ds = 2; /* half of every block */
  bool two = is_binary(c->op), none = c->op == ACSIM_OP_Duplicate || c->op == ACSIM_OP_CreateVecIndex;
  random_scalar(r, c);
  if (c->op == ACSIM_OP_ShiftLeft || c->op == ACSIM_OP_ShiftRight)
    c->i = fz_one_in(r, 20) ? fz_in(r, -2, 40) : fz_in(r, 0, 8 * es);
  c->repeated = c->op == ACSIM_OP_Copy || fz_one_in(r, 2);
  c->dst = c->a = c->b = c->c = nowhere;
  if (c->type == ACSIM_I4 || c->dst_type == ACSIM_I4) c->repeated = fz_one_in(r, 20);
  bool int4 = c->type == ACSIM_I4 || c->dst_type == ACSIM_I4;
  c->by_register = !c->repeated && !int4 && takes_register(c->op) && fz_one_in(r, 12);
  if (!c->repeated) {
    int buf = (int)fz_in(r, 0, FZ_BUFS - 1);
    c->count = count_of(r, w.m->buf[buf].size / wide);
    if (int4 && !fz_one_in(r, 20)) c->count &= ~1ll;
    int64_t n = c->count > 0 ? c->count : 1;
    c->dst = place(w, n * ds, 32);
    if (!none) c->a = place(w, n * es, 32);
    if (two) c->b = place(w, n * es, 32);
  } else {
    acsim_repeat *p = &c->r;
    random_mask(r, c, (int)(lanes > 128 ? 128 : lanes));
    p->repeat = (int32_t)(fz_one_in(r, 40)  ? PICK(r, 0, 255, 256, 300, -1)
                          : fz_one_in(r, 8) ? fz_in(r, 1, 60)
                                            : fz_in(r, 1, 6));
    p->dst_block = (uint16_t)stride_block(r);
    if (!p->dst_block && !fz_one_in(r, 5)) p->dst_block = 1;
    p->a_block = (uint16_t)stride_block(r);
    p->b_block = (uint16_t)stride_block(r);
    p->dst_repeat = (uint16_t)stride_repeat(r, lanes * ds / 32);
    p->a_repeat = (uint16_t)stride_repeat(r, lanes * es / 32);
    p->b_repeat = (uint16_t)stride_repeat(r, lanes * es / 32);
    int64_t n = c->counter ? (int64_t)(p->form == ACSIM_MASK_REGISTER ? c->reg[0] : p->first) / lanes + 1 : p->repeat;
    if (c->op == ACSIM_OP_Copy) n = p->repeat;
    c->dst = place(w, span(n, p->dst_block, p->dst_repeat), 32);
    if (!none) c->a = place(w, span(n, p->a_block, p->a_repeat), 32);
    if (two) c->b = place(w, span(n, p->b_block, p->b_repeat), 32);
  }
  if (c->counter && c->op != ACSIM_OP_Copy && !fz_one_in(r, 20)) c->r.repeat = 1;
  share(r, c);
}

static void draw_compare(fz_rng *r, where w, fz_case *c) {
  bool scalar = c->op == ACSIM_OP_CompareScalar, reg = !scalar && fz_one_in(r, 4);
  if (reg) c->dst_type = c->type;
  if (reg && !fz_one_in(r, 20)) c->type = c->dst_type = PICK(r, ACSIM_F16, ACSIM_F32);
  int64_t es = fz_bytes[c->type], lanes = 256 / es;
  random_scalar(r, c);
  c->repeated = reg || fz_one_in(r, 2);
  c->counter = false;
  random_register(r, c);
  c->b = c->c = nowhere;
  if (!c->repeated) {
    c->count = fz_one_in(r, 8) ? fz_in(r, 0, 300) : fz_in(r, 1, 20) * lanes;
    c->dst = place(w, c->count / 8 + 1, 32);
    c->a = place(w, c->count * es, 32);
    if (!scalar) c->b = place(w, c->count * es, 32);
  } else {
    acsim_repeat *p = &c->r;
    random_mask(r, c, (int)lanes);
    p->repeat = reg ? 1 : (int32_t)(fz_one_in(r, 30) ? PICK(r, 0, 255, 256) : fz_in(r, 1, 12));
    p->dst_block = 1;
    p->dst_repeat = 8;
    p->a_block = (uint16_t)stride_block(r);
    p->b_block = (uint16_t)stride_block(r);
    p->a_repeat = (uint16_t)stride_repeat(r, 8);
    p->b_repeat = (uint16_t)stride_repeat(r, 8);
    c->dst = place(w, p->repeat * lanes / 8, 32);
    c->a = place(w, span(p->repeat, p->a_block, p->a_repeat), 32);
    if (!scalar) c->b = place(w, span(p->repeat, p->b_block, p->b_repeat), 32);
  }
  if (fz_one_in(r, 20)) c->dst = c->a;
  if (reg) c->dst = nowhere;
}

static void draw_select(fz_rng *r, where w, fz_case *c) {
  draw_element(r, w, c);
  c->mode = (int)fz_in(r, 0, 2);
  bool reg = c->repeated && c->mode == 0 && fz_one_in(r, 3);
  int64_t lanes = 256 / fz_bytes[c->type];
  c->b = nowhere;
  int64_t n = c->repeated ? (c->counter ? 20 : c->r.repeat) * lanes : c->count;
  if (c->mode != 1)
    c->b = c->repeated ? place(w, span(n / lanes, c->r.b_block, c->r.b_repeat), 32)
                       : place(w, n * fz_bytes[c->type], 32);
  if (!reg) c->c = place(w, n / 8 + 8, 32);
  c->by_cmpmask = c->repeated && c->mode && fz_one_in(r, 4) && c->c.off >= 0 && c->c.off < w.m->buf[c->c.buf].size;
  if (reg || c->by_cmpmask) c->r.form = ACSIM_MASK_REGISTER;
}

static void draw_reduce(fz_rng *r, where w, fz_case *c) {
  int64_t es = fz_bytes[c->type], lanes = 256 / es;
  bool all = c->op == ACSIM_OP_ReduceSum || c->op == ACSIM_OP_ReduceMax || c->op == ACSIM_OP_ReduceMin;
  bool whole =
      c->op == ACSIM_OP_WholeReduceSum || c->op == ACSIM_OP_WholeReduceMax || c->op == ACSIM_OP_WholeReduceMin;
  c->b = c->c = nowhere;
  c->repeated = !all || fz_one_in(r, 2);
  if (all) c->mode = c->op == ACSIM_OP_ReduceSum ? 0 : (int)fz_in(r, 0, 1);
  if (whole) c->mode = c->op == ACSIM_OP_WholeReduceSum ? 0 : (int)fz_in(r, 0, 3);
  acsim_repeat *p = &c->r;
  int64_t n = 1;
  if (c->repeated) {
    random_register(r, c);
    random_mask(r, c, (int)lanes);
    if (all && p->form == ACSIM_MASK_REGISTER) p->form = ACSIM_MASK_BITS;
    p->repeat = (int32_t)(fz_one_in(r, 30)  ? PICK(r, 0, 255, 256, 600)
                          : fz_one_in(r, 6) ? fz_in(r, 1, 100)
                                            : fz_in(r, 1, 8));
    p->a_block = all ? 1 : (uint16_t)stride_block(r);
    p->a_repeat = (uint16_t)stride_repeat(r, 8);
    p->dst_repeat = (uint16_t)stride_repeat(r, 1);
    if (c->counter && !fz_one_in(r, 20)) p->repeat = 1;
    n = c->counter ? 20 : p->repeat;
    c->a = place(w, span(n, p->a_block, p->a_repeat), 32);
  } else {
    c->count = count_of(r, 8192 / es);
    n = c->count / lanes + 1;
    c->a = place(w, c->count * es, 32);
  }
  int64_t out = whole ? 8 : 128;
  c->dst = place(w, c->repeated && !all ? n * p->dst_repeat * out + 128 : 8, whole || all ? 8 : 32);
  if (all) c->b = fz_one_in(r, 6) ? c->a : place(w, n * 2 * es + 64 + 2 * es * (n / 32 + 2), 32);
  if (fz_one_in(r, 8)) c->dst = c->a;
  if (all && fz_one_in(r, 10)) c->dst = c->b;
}

static void draw_gather(fz_rng *r, where w, fz_case *c) {
  int64_t es = fz_bytes[c->type], lanes = 256 / es;
  acsim_repeat *p = &c->r;
  c->c = nowhere;
  c->repeated = c->op != ACSIM_OP_Gather || fz_one_in(r, 2);
  random_register(r, c);
  random_mask(r, c, (int)lanes);
  p->repeat = (int32_t)(fz_one_in(r, 30) ? PICK(r, 0, 255, 256) : fz_in(r, 1, 6));
  p->dst_block = (uint16_t)(fz_one_in(r, 4) ? PICK(r, 0, 2, 3) : 1);
  p->dst_repeat = (uint16_t)stride_repeat(r, 8);
  if (c->op != ACSIM_OP_Gather) p->form = ACSIM_MASK_BITS;
  if (c->op == ACSIM_OP_Gather && c->counter && !fz_one_in(r, 20)) p->repeat = 1;
  c->count = c->repeated ? 0 : count_of(r, 2048);
  int64_t n = c->repeated ? (c->counter && c->op == ACSIM_OP_Gather ? 16 : p->repeat) *
                                (c->op == ACSIM_OP_Gatherb ? 8 : lanes)
                          : c->count;
  c->dst = c->repeated ? place(w, span(n / (c->op == ACSIM_OP_Gatherb ? 8 : lanes), p->dst_block, p->dst_repeat), 32)
                       : place(w, n * es, 32);
  c->a = place(w, 64, 32);
  c->b = place(w, n * 4, 32);
  c->i = c->op == ACSIM_OP_Gather && fz_one_in(r, 3) ? fz_in(r, 0, 20) * es : 0;
  if (c->op == ACSIM_OP_Gather && fz_one_in(r, 50)) c->i++;
}

static void draw_gather_mask(fz_rng *r, where w, fz_case *c) {
  int64_t es = fz_bytes[c->type];
  acsim_repeat *p = &c->r;
  c->repeated = true;
  c->c = nowhere;
  memset(p->mask, 0xff, sizeof p->mask);
  p->form = ACSIM_MASK_BITS;
  p->repeat = (int32_t)(fz_one_in(r, 30) ? PICK(r, 0, 255, 300) : fz_in(r, 1, 8));
  p->a_block = (uint16_t)(fz_one_in(r, 4) ? PICK(r, 0, 2, 3) : 1);
  p->a_repeat = (uint16_t)stride_repeat(r, 8);
  p->b_repeat = (uint16_t)stride_repeat(r, 1);
  c->count = fz_one_in(r, 2) ? 0 : fz_in(r, 1, 300);
  bool user = fz_one_in(r, 2);
  c->mode = user ? 0 : fz_one_in(r, 40) ? PICK(r, 0, 8, 200) : (int)fz_in(r, 1, 7);
  int64_t per = c->count ? c->count : 256 / es;
  c->dst = place(w, p->repeat * per * es, 32);
  c->a = place(w, ((p->repeat - 1) * p->a_repeat + per * es / 32 * p->a_block + 1) * 32, 32);
  c->b = user ? place(w, (p->repeat - 1) * p->b_repeat * 32 + per / 8 + 1, 32) : nowhere;
  if (fz_one_in(r, 5)) c->dst = c->a;
}

static void draw_brcb(fz_rng *r, where w, fz_case *c) {
  draw_gather(r, w, c);
  c->b = nowhere;
  c->count = 0;
  c->i = 0;
  if (!c->r.dst_block && !fz_one_in(r, 4)) c->r.dst_block = 1;
  c->a = place(w, c->r.repeat * 8 * fz_bytes[c->type], 32);
  c->dst = place(w, span(c->r.repeat, c->r.dst_block, c->r.dst_repeat), 32);
}

static void draw_vec(fz_rng *r, where w, fz_case *c) {
  draw_types(r, c);
  if (c->deq) draw_deq(r, w, c);
  c->counter = fz_one_in(r, 6);
  random_register(r, c);
  switch (c->op) {
  case ACSIM_OP_Compare:
  case ACSIM_OP_CompareScalar: draw_compare(r, w, c); break;
  case ACSIM_OP_Select: draw_select(r, w, c); break;
  case ACSIM_OP_ReduceSum:
  case ACSIM_OP_ReduceMax:
  case ACSIM_OP_ReduceMin:
  case ACSIM_OP_WholeReduceSum:
  case ACSIM_OP_WholeReduceMax:
  case ACSIM_OP_WholeReduceMin:
  case ACSIM_OP_BlockReduceSum:
  case ACSIM_OP_BlockReduceMax:
  case ACSIM_OP_BlockReduceMin:
  case ACSIM_OP_PairReduceSum: draw_reduce(r, w, c); break;
  case ACSIM_OP_Gather:
  case ACSIM_OP_Gatherb: draw_gather(r, w, c); break;
  case ACSIM_OP_GatherMask: draw_gather_mask(r, w, c); break;
  case ACSIM_OP_Brcb: draw_brcb(r, w, c); break;
  default: draw_element(r, w, c); break;
  }
}

/* ---- copies ---- */

static void draw_copy(fz_rng *r, where w, fz_case *c) {
  acsim_copy *p = &c->copy;
  static const int types[] = {ACSIM_F32, ACSIM_F16, ACSIM_BF16, ACSIM_I8,  ACSIM_U8,  ACSIM_I16,
                              ACSIM_U16, ACSIM_I32, ACSIM_U32,  ACSIM_I64, ACSIM_U64, ACSIM_F64};
  p->type = (uint8_t)pick(r, types, 12);
  c->type = c->dst_type = p->type;
  int64_t es = fz_bytes[p->type];
  bool in = c->kind == FZ_COPY_IN, local = c->kind == FZ_COPY_LOCAL;
  p->form = (uint8_t)(local ? PICK(r, ACSIM_COPY_COUNT, ACSIM_COPY_BLOCKS)
                            : PICK(r, ACSIM_COPY_COUNT, ACSIM_COPY_BLOCKS, ACSIM_COPY_PAD, ACSIM_COPY_PAD));
  int64_t row;
  if (p->form == ACSIM_COPY_COUNT) {
    p->blocks = 1;
    p->bytes = fz_one_in(r, 8) ? fz_in(r, 0, 500) * es : fz_in(r, 1, 200) * 32;
    row = p->bytes;
  } else if (p->form == ACSIM_COPY_BLOCKS) {
    p->blocks = (uint32_t)(fz_one_in(r, 40) ? PICK(r, 0, 4095, 4096, 65535) : fz_in(r, 1, 12));
    p->bytes = 32 * (fz_one_in(r, 30) ? PICK(r, 0, 65535) : fz_in(r, 1, fz_one_in(r, 2) ? 4 : 40));
    p->src_gap = 32 * (fz_one_in(r, 2) ? 0 : fz_in(r, 1, 12));
    p->dst_gap = 32 * (fz_one_in(r, 2) ? 0 : fz_in(r, 1, 12));
    row = p->bytes;
  } else {
    p->ext = fz_one_in(r, 2);
    p->blocks = (uint32_t)(fz_one_in(r, 40) ? PICK(r, 0, 4095, 4096) : fz_in(r, 1, 20));
    p->bytes = es * (fz_one_in(r, 2) ? fz_in(r, 1, 40) : fz_in(r, 1, 400));
    if (fz_one_in(r, 60)) p->bytes = PICK(r, 0, 65535, 65536, 2097151, 2097152, 47);
    int64_t gm_gap = fz_one_in(r, 2) ? 0 : fz_in(r, 0, 100), ub_gap = 32 * (fz_one_in(r, 2) ? 0 : fz_in(r, 0, 5));
    p->src_gap = in ? gm_gap : ub_gap;
    p->dst_gap = in ? ub_gap : gm_gap;
    if (in) {
      p->is_pad = fz_one_in(r, 2);
      if (fz_one_in(r, 2)) p->left = (uint32_t)fz_in(r, 0, 32 / es), p->right = (uint32_t)fz_in(r, 0, 32 / es);
      if (fz_one_in(r, 50)) p->left = (uint32_t)fz_in(r, 0, 255);
      if (p->is_pad) p->pad_bits = fz_u64(r);
      if (es < 8) p->pad_bits &= (1ull << (8 * es)) - 1;
      if (es == 8 && !fz_one_in(r, 6)) p->pad_bits = 0;
    }
    row = (((int64_t)p->left + p->right) * es + p->bytes + 31) / 32 * 32;
  }
  int64_t ub = (int64_t)p->blocks * (row + (in ? p->dst_gap : p->src_gap)),
          gm = (int64_t)p->blocks * (p->bytes + (in ? p->src_gap : p->dst_gap));
  if (local) ub = (int64_t)p->blocks * (row + p->dst_gap);
  c->dst = c->a = c->b = c->c = nowhere;
  if (in || local) c->dst = place(w, ub, 32);
  if (!in) c->a = place(w, local ? (int64_t)p->blocks * (row + p->src_gap) : ub, 32);
  c->mode = in ? (int)fz_in(r, 0, 1) : fz_one_in(r, 60);
  if (local) c->mode = 0;
  int64_t room = FZ_GM - gm;
  c->gm_off = fz_in(r, 0, room > 0 ? room : 0);
  if (p->form != ACSIM_COPY_PAD && !fz_one_in(r, 30)) c->gm_off -= c->gm_off % es;
  if (fz_one_in(r, 60)) c->gm_off = fz_in(r, -40, FZ_GM + 40);
  if (in && fz_one_in(r, 200))
    c->pad_value = true, c->pad_bits = fz_u64(r) & (es < 8 ? (1ull << (8 * es)) - 1 : ~0ull);
  if (c->kind == FZ_COPY_OUT && fz_one_in(r, 3)) {
    static const int atomics[] = {ACSIM_I8, ACSIM_I16, ACSIM_F16, ACSIM_BF16, ACSIM_I32, ACSIM_F32};
    c->atomic = (int)fz_in(r, 1, 3);
    p->type = (uint8_t)pick(r, atomics, 6);
    int64_t old = es;
    es = fz_bytes[p->type];
    if (p->form == ACSIM_COPY_PAD && old != es) p->bytes -= p->bytes % es;
    if (p->form == ACSIM_COPY_COUNT && p->bytes % es) p->bytes -= p->bytes % es;
    if (p->form != ACSIM_COPY_PAD && !fz_one_in(r, 30)) c->gm_off -= c->gm_off % es;
    c->type = c->dst_type = p->type;
    c->atomic_type = fz_one_in(r, 30) ? pick(r, atomics, 6) : p->type;
  }
}

/* One side of a copy of slices: n[i] slices a dimension. Where the elements end, from the view's start. */
static int64_t draw_side(fz_rng *r, acsim_slice *s, uint32_t dims, const int64_t *n, int64_t burst, int64_t es,
                         bool local) {
  int64_t end = 0, size = 1, per = 32 / es;
  for (uint32_t i = 0; i < dims; i++) {
    int64_t unit = i ? 1 : burst * per, step = !i && local ? per : 1;
    s[i].burst = (uint32_t)(i ? 1 : burst);
    s[i].stride = (uint32_t)(fz_one_in(r, 2) ? 0 : fz_in(r, 1, i ? 2 : 12) * step);
    s[i].start = (uint32_t)(fz_one_in(r, 2) ? 0 : fz_in(r, 0, i ? 2 : 9) * step);
    s[i].end = (uint32_t)(s[i].start + n[i] * unit + (n[i] - 1) * s[i].stride - 1);
    s[i].shape = (uint32_t)(s[i].end + 1 + (fz_one_in(r, 2) ? 0 : fz_in(r, 0, 9) * step));
    if (!i && local) s[i].shape = (uint32_t)((s[i].shape + per - 1) / per * per);
    if (fz_one_in(r, 60)) s[i].shape--;
    end += s[i].end * size;
    size *= s[i].shape;
  }
  return (end + 1) * es;
}
static void draw_slice(fz_rng *r, where w, fz_case *c) {
  static const int types[] = {ACSIM_F32, ACSIM_F16, ACSIM_BF16, ACSIM_I8,  ACSIM_U8,
                              ACSIM_I16, ACSIM_U16, ACSIM_I32,  ACSIM_U32, ACSIM_I64};
  static const int atomics[] = {ACSIM_I8, ACSIM_I16, ACSIM_F16, ACSIM_BF16, ACSIM_I32, ACSIM_F32};
  bool in = c->kind == FZ_SLICE_IN;
  c->type = pick(r, types, fz_one_in(r, 60) ? 10 : 9);
  if (!in && fz_one_in(r, 4)) {
    c->atomic = (int)fz_in(r, 1, 3);
    c->type = pick(r, atomics, 6);
    c->atomic_type = fz_one_in(r, 30) ? pick(r, atomics, 6) : c->type;
  }
  c->dst_type = c->type;
  int64_t es = fz_bytes[c->type], burst = fz_in(r, 1, fz_one_in(r, 4) ? 8 : 3), n[8];
  c->dims = (uint32_t)fz_in(r, 1, fz_one_in(r, 6) ? 8 : 3);
  for (uint32_t i = 0; i < c->dims; i++)
    n[i] = i ? (c->dims > 4 ? fz_in(r, fz_one_in(r, 40) ? 1 : 2, 2) : fz_in(r, 2, 4)) : fz_in(r, 1, 4);
  if (c->dims > 4) burst = n[0] = 1;
  int64_t from = draw_side(r, c->from, c->dims, n, burst, es, !in);
  if (c->dims > 2 && fz_one_in(r, 6)) { /* as many rows in another order */
    int64_t t = n[1];
    n[1] = n[2], n[2] = t;
  }
  int64_t to = draw_side(r, c->to, c->dims, n, burst, es, in);
  acsim_slice *any = &(fz_one_in(r, 2) ? c->to : c->from)[fz_in(r, 0, c->dims - 1)];
  if (fz_one_in(r, 60)) any->end++;
  if (fz_one_in(r, 60)) any->stride++;
  if (fz_one_in(r, 60)) any->start += (uint32_t)fz_in(r, 1, 40);
  if (fz_one_in(r, 60)) any->burst = (uint32_t)fz_in(r, 0, 4);
  if (fz_one_in(r, 60)) any->shape = (uint32_t)PICK(r, 0, 1, 1000, -1);
  if (fz_one_in(r, 200)) c->dims = (uint32_t)PICK(r, 0, 9);
  int64_t ub = in ? to : from, room = FZ_GM - (in ? from : to);
  if (in) c->dst = place(w, ub, 32);
  if (!in) c->a = place(w, ub, 32);
  c->mode = in ? (int)fz_in(r, 0, 1) : fz_one_in(r, 60);
  c->gm_off = fz_in(r, 0, room > 0 ? room : 0);
  if (in && fz_one_in(r, 2)) c->gm_off = fz_in(r, 0, room > 0 ? room / 4 * 3 : 0);
  if (fz_one_in(r, 60)) c->gm_off = fz_in(r, -40, FZ_GM + 40);
}

static void draw_nz(fz_rng *r, where w, fz_case *c) {
  acsim_nz *p = &c->nz;
  static const int types[] = {ACSIM_F32, ACSIM_F16, ACSIM_BF16, ACSIM_I16, ACSIM_U16,
                              ACSIM_I32, ACSIM_U32, ACSIM_I8,   ACSIM_U8};
  bool nd2nz = c->kind == FZ_ND2NZ;
  p->type = (uint8_t)pick(r, types, fz_one_in(r, 10) || nd2nz ? 9 : 7);
  c->type = c->dst_type = p->type;
  int64_t es = fz_bytes[p->type];
  p->nd_num = (uint32_t)fz_in(r, fz_one_in(r, 30) ? 0 : 1, 3);
  p->n_value = (uint32_t)fz_in(r, fz_one_in(r, 30) ? 0 : 1, 20);
  p->d_value = (uint32_t)(nd2nz ? fz_in(r, fz_one_in(r, 30) ? 0 : 1, 60) : 16 * fz_in(r, 1, 4));
  if (!nd2nz && fz_one_in(r, 20)) p->d_value += (uint32_t)fz_in(r, 1, 15);
  c->dst = c->a = c->b = c->c = nowhere;
  p->nd_row = (int64_t)p->d_value + (fz_one_in(r, 2) ? 0 : fz_in(r, 0, 20));
  p->nd_matrix = (int64_t)p->n_value * p->nd_row + (fz_one_in(r, 2) ? 0 : fz_in(r, 0, 30));
  int64_t columns = (p->d_value * es + 31) / 32;
  if (nd2nz) {
    p->nz_n = fz_one_in(r, 2) ? 1 : fz_in(r, 1, 4);
    p->nz_c0 = p->n_value * p->nz_n + (fz_one_in(r, 2) ? 0 : fz_in(r, 0, 9));
    p->nz_matrix = (columns * p->nz_c0 * 32 + (fz_one_in(r, 2) ? 0 : 32 * fz_in(r, 0, 9))) / es;
    c->dst = place(w, p->nd_num * p->nz_matrix * es + 32, 32);
  } else {
    p->nz_n = 1;
    p->nz_c0 = p->n_value + (fz_one_in(r, 2) ? 0 : fz_in(r, 0, 5));
    p->nz_matrix = 256 * ((columns * p->nz_c0 * 32 / es + 255) / 256);
    c->a = place(w, p->nd_num * p->nz_matrix * es, 32);
  }
  if (fz_one_in(r, 60)) p->nz_c0 = PICK(r, 0, 16384, 16385, 4097);
  c->mode = nd2nz ? (int)fz_in(r, 0, 1) : fz_one_in(r, 60);
  int64_t room = (FZ_GM - p->nd_num * p->nd_matrix * es) / es;
  c->gm_off = fz_in(r, 0, room > 0 ? room : 0) * es;
  if (fz_one_in(r, 60)) c->gm_off = fz_in(r, -40, FZ_GM + 40);
}

/* ---- moves and sorts ---- */

static void draw_move(fz_rng *r, where w, fz_case *c) {
  c->dst = c->a = c->b = c->c = nowhere;
  static const int types[] = {ACSIM_F16, ACSIM_U16, ACSIM_I16, ACSIM_F32,  ACSIM_I32,
                              ACSIM_U32, ACSIM_I8,  ACSIM_U8,  ACSIM_BF16, ACSIM_I64};
  c->type = pick(r, types, fz_one_in(r, 20) ? 10 : 8);
  if (c->kind == FZ_TRANSPOSE) {
    if (!fz_one_in(r, 10)) c->type = PICK(r, ACSIM_F16, ACSIM_U16, ACSIM_I16);
    c->dst = place(w, 512, 32);
    c->a = place(w, 512, 32);
    if (fz_one_in(r, 5)) c->dst = c->a;
    if (fz_one_in(r, 20)) c->dst = c->a, c->dst.off += 32 * fz_in(r, -4, 4);
  } else if (c->kind == FZ_TRANSPOSE_SHAPE) {
    int64_t es = fz_bytes[c->type];
    c->mode = PICK(r, 11, 12, 11, 12, 10);
    if (c->mode == 10 && !fz_one_in(r, 8)) c->type = ACSIM_U16, es = 2;
    c->shape[0] = fz_in(r, fz_one_in(r, 20) ? 0 : 1, 3);
    c->shape[1] = fz_in(r, fz_one_in(r, 20) ? 0 : 1, 12);
    c->shape[2] = fz_in(r, 1, 4);
    c->shape[3] = (32 / es) * fz_in(r, 1, 3);
    if (fz_one_in(r, 20)) c->shape[3]++;
    int64_t bytes = c->shape[0] * c->shape[1] * c->shape[2] * c->shape[3] * es;
    c->dst = place(w, c->mode == 10 ? 512 : bytes, 32);
    c->a = place(w, c->mode == 10 ? 512 : bytes, 32);
    c->c = place(w, (c->shape[1] * 2 + 2) * 32 * 32, 32);
  } else if (c->kind == FZ_5HD) {
    acsim_5hd *p = &c->hd;
    p->type = (uint8_t)c->type;
    p->dst_high = fz_one_in(r, 2);
    p->src_high = fz_one_in(r, 2);
    p->repeat = (int32_t)(fz_one_in(r, 20) ? PICK(r, 0, 255, 256) : fz_in(r, 1, 5));
    p->dst_step = (uint32_t)(p->repeat == 1 && !fz_one_in(r, 3) ? 0 : fz_one_in(r, 2) ? 16 : fz_in(r, 0, 20));
    p->src_step = (uint32_t)(p->repeat == 1 && !fz_one_in(r, 3) ? 0 : fz_one_in(r, 2) ? 1 : fz_in(r, 0, 20));
    fz_view d = place(w, 512 + p->repeat * (int64_t)p->dst_step * 32, 32),
            s = place(w, 512 + p->repeat * (int64_t)p->src_step * 32, 32);
    int64_t gap_d = 32 * fz_in(r, 1, 2), gap_s = 32 * fz_in(r, 1, 6);
    for (int i = 0; i < 16; i++) {
      c->list[i] = d, c->list[i].off += gap_d * i;
      c->list[16 + i] = s, c->list[16 + i].off += gap_s * i;
    }
    if (fz_one_in(r, 40)) c->list[fz_in(r, 0, 31)].off += 16;
  } else {
    c->dst = c->kind == FZ_CMPMASK_GET ? place(w, 128, 16) : nowhere;
    c->a = c->kind == FZ_CMPMASK_SET ? place(w, 16, 16) : nowhere;
  }
  c->dst_type = c->type;
}

static void align_view(where w, fz_view *v, int64_t align) {
  if (v->buf < 0 || fz_one_in(w.r, 40)) return;
  v->off -= (w.m->buf[v->buf].base + v->off) % align;
  if (v->off < 0) v->off += align;
}
static void draw_sort(fz_rng *r, where w, fz_case *c) {
  c->dst = c->a = c->b = c->c = nowhere;
  c->type = c->dst_type = fz_one_in(r, 40) ? (int)fz_in(r, 0, FZ_TYPES - 1) : PICK(r, ACSIM_F16, ACSIM_F32);
  int64_t es = fz_bytes[c->type];
  if (c->kind == FZ_SORT) {
    c->sort_op = fz_one_in(r, 40) ? (int)fz_in(r, 0, 4) : PICK(r, ACSIM_SORT32, ACSIM_EXTRACT);
    c->sort_repeat = (int)(fz_one_in(r, 30) ? PICK(r, 0, 255, 256) : fz_in(r, 1, 8));
    int64_t n = c->sort_repeat * 32;
    bool sort = c->sort_op != ACSIM_EXTRACT;
    c->dst = place(w, n * (sort ? 8 : es), 32);
    c->a = place(w, n * (sort ? es : 8), 32);
    c->b = place(w, n * 4, 32);
    if (sort) { /* mostly where Sort32 wants them */
      align_view(w, &c->dst, 256);
      align_view(w, &c->a, 32 * es);
      align_view(w, &c->b, 128);
    }
    return;
  }
  acsim_merge *p = &c->merge;
  p->type = (uint8_t)PICK(r, ACSIM_F16, ACSIM_F32);
  c->type = c->dst_type = p->type;
  p->valid = (uint16_t)(fz_one_in(r, 30) ? fz_in(r, 0, 20) : PICK(r, 3, 7, 15, 15));
  p->suspend = fz_one_in(r, 3);
  p->repeat = fz_one_in(r, 3) ? (int32_t)fz_in(r, 0, 4) : 1;
  uint32_t n = (uint32_t)fz_in(r, 0, 40);
  int64_t total = 0;
  for (int i = 0; i < 4; i++)
    total +=
        8 * (p->length[i] = p->repeat > 1 && !fz_one_in(r, 30) ? n : (uint32_t)fz_in(r, fz_one_in(r, 8) ? 0 : 1, 60));
  if (p->repeat > 1 && !fz_one_in(r, 20)) p->valid = 15, p->suspend = false;
  if (fz_one_in(r, 60)) p->length[0] = 4096;
  fz_view first = place(w, total * p->repeat, 32);
  for (int i = 0; i < 4; i++) {
    c->list[i] = first;
    first.off += 8 * (int64_t)p->length[i];
    if (p->repeat == 1 && fz_one_in(r, 2)) first = place(w, 8 * 60, 8);
  }
  c->dst = place(w, total * p->repeat, 32);
}

/* ---- a case ---- */

void fz_draw(fz_rng *r, const fz_machine *m, const fz_options *o, fz_case *c) {
  for (;;) {
    memset(c, 0, sizeof *c);
    for (int i = 0; i < 32; i++) c->list[i] = nowhere;
    c->dst = c->a = c->b = c->c = nowhere;
    where w = {r, m};
    int64_t k = fz_in(r, 0, 99);
    c->kind = k < 64   ? FZ_VEC
              : k < 70 ? FZ_COPY_IN
              : k < 72 ? FZ_SLICE_IN
              : k < 78 ? FZ_COPY_OUT
              : k < 80 ? FZ_SLICE_OUT
              : k < 83 ? FZ_COPY_LOCAL
              : k < 86 ? FZ_ND2NZ
              : k < 88 ? FZ_NZ2ND
              : k < 90 ? FZ_TRANSPOSE
              : k < 92 ? FZ_TRANSPOSE_SHAPE
              : k < 94 ? FZ_5HD
              : k < 96 ? FZ_SORT
              : k < 98 ? FZ_MERGE
              : k < 99 ? FZ_CMPMASK_GET
                       : FZ_CMPMASK_SET;
    if (c->kind == FZ_VEC)
      c->op = k < 40 ? pick(r, element_ops, (int)(sizeof element_ops / sizeof *element_ops))
                     : pick(r, other_ops, (int)(sizeof other_ops / sizeof *other_ops));
    if (o->only && strcmp(o->only, fz_name(c)) != 0) continue;
    c->fill = fz_u64(r);
    c->headers = fz_one_in(r, 2);
    c->poison = fz_one_in(r, 8) ? (int)fz_in(r, 1, 2) : 0;
    switch (c->kind) {
    case FZ_VEC: draw_vec(r, w, c); break;
    case FZ_COPY_IN:
    case FZ_COPY_OUT:
    case FZ_COPY_LOCAL: draw_copy(r, w, c); break;
    case FZ_SLICE_IN:
    case FZ_SLICE_OUT: draw_slice(r, w, c); break;
    case FZ_ND2NZ:
    case FZ_NZ2ND: draw_nz(r, w, c); break;
    case FZ_SORT:
    case FZ_MERGE: draw_sort(r, w, c); break;
    default: draw_move(r, w, c); break;
    }
    for (int g = 0; g < 32; g += 16) { /* nothing lies before UB; a list keeps its distances */
      int64_t low = 0;
      for (int i = g; i < g + 16; i++)
        if (c->list[i].buf >= 0 && m->buf[c->list[i].buf].base + c->list[i].off < low)
          low = m->buf[c->list[i].buf].base + c->list[i].off;
      for (int i = g; i < g + 16; i++) c->list[i].off += (31 - low) / 32 * 32;
    }
    for (int i = 0; i < 4; i++) {
      fz_view *v = i == 0 ? &c->dst : i == 1 ? &c->a : i == 2 ? &c->b : &c->c;
      if (v->buf >= 0 && m->buf[v->buf].base + v->off < 0) v->off = 0;
    }
    return;
  }
}

const char *fz_name(const fz_case *c) {
  static const char *const ops[] = {
#define X(name) #name,
      ACSIM_VECTOR_OPS(X)
#undef X
  };
  static const char *const kinds[] = {
      "",          "CopyIn",         "CopyOut",        "CopyLocal", "SliceIn", "SliceOut",   "Nd2Nz",     "Nz2Nd",
      "Transpose", "TransposeShape", "TransDataTo5HD", "Sort",      "MrgSort", "GetCmpMask", "SetCmpMask"};
  return c->kind == FZ_VEC ? ops[c->op] : kinds[c->kind];
}

static void print_view(FILE *f, const char *name, fz_view v) {
  if (v.buf >= 0) fprintf(f, " %s={%d, %lld}", name, v.buf, (long long)v.off);
}
void fz_print(FILE *f, const fz_case *c) {
  fprintf(f, "%s type=%s dst_type=%s mode=%d", fz_name(c), fz_type_names[c->type], fz_type_names[c->dst_type],
          c->mode);
  print_view(f, "dst", c->dst);
  print_view(f, "a", c->a);
  print_view(f, "b", c->b);
  print_view(f, "c", c->c);
  for (int i = 0; i < 32; i++)
    if (c->list[i].buf >= 0) fprintf(f, " list[%d]={%d, %lld}", i, c->list[i].buf, (long long)c->list[i].off);
  if (c->kind == FZ_VEC) {
    fprintf(f, "\n  f=%a i=%lld count=%lld counter=%d reg=%#llx,%#llx", c->f, (long long)c->i, (long long)c->count,
            c->counter, (unsigned long long)c->reg[0], (unsigned long long)c->reg[1]);
    const acsim_repeat *r = &c->r;
    if (c->repeated)
      fprintf(f, "\n  repeat=%d form=%d first=%llu mask=%#llx,%#llx blocks=%u,%u,%u repeats=%u,%u,%u", r->repeat,
              r->form, (unsigned long long)r->first, (unsigned long long)r->mask[0], (unsigned long long)r->mask[1],
              r->dst_block, r->a_block, r->b_block, r->dst_repeat, r->a_repeat, r->b_repeat);
  }
  const acsim_copy *p = &c->copy;
  if (c->kind == FZ_COPY_IN || c->kind == FZ_COPY_OUT || c->kind == FZ_COPY_LOCAL)
    fprintf(f,
            "\n  gm=%lld form=%d ext=%d blocks=%u bytes=%lld gaps=%lld,%lld pad=%d left=%u right=%u bits=%#llx "
            "set=%d:%#llx atomic=%d:%d",
            (long long)c->gm_off, p->form, p->ext, p->blocks, (long long)p->bytes, (long long)p->src_gap,
            (long long)p->dst_gap, p->is_pad, p->left, p->right, (unsigned long long)p->pad_bits, c->pad_value,
            (unsigned long long)c->pad_bits, c->atomic, c->atomic_type);
  if (c->kind == FZ_SLICE_IN || c->kind == FZ_SLICE_OUT) {
    fprintf(f, "\n  gm=%lld dims=%u atomic=%d:%d", (long long)c->gm_off, c->dims, c->atomic, c->atomic_type);
    for (uint32_t i = 0; i < c->dims && i < 8; i++)
      fprintf(f, "\n  to {%u, %u, %u, %u, %u} from {%u, %u, %u, %u, %u}", c->to[i].start, c->to[i].end,
              c->to[i].stride, c->to[i].burst, c->to[i].shape, c->from[i].start, c->from[i].end, c->from[i].stride,
              c->from[i].burst, c->from[i].shape);
  }
  const acsim_nz *z = &c->nz;
  if (c->kind == FZ_ND2NZ || c->kind == FZ_NZ2ND)
    fprintf(f, "\n  gm=%lld nd=%u n=%u d=%u nd_matrix=%lld row=%lld c0=%lld n=%lld matrix=%lld", (long long)c->gm_off,
            z->nd_num, z->n_value, z->d_value, (long long)z->nd_matrix, (long long)z->nd_row, (long long)z->nz_c0,
            (long long)z->nz_n, (long long)z->nz_matrix);
  if (c->kind == FZ_5HD)
    fprintf(f, "\n  repeat=%d high=%d,%d steps=%u,%u", c->hd.repeat, c->hd.dst_high, c->hd.src_high, c->hd.dst_step,
            c->hd.src_step);
  if (c->kind == FZ_SORT) fprintf(f, "\n  op=%d repeat=%d", c->sort_op, c->sort_repeat);
  if (c->kind == FZ_MERGE)
    fprintf(f, "\n  valid=%u suspend=%d repeat=%d lengths=%u,%u,%u,%u", c->merge.valid, c->merge.suspend,
            c->merge.repeat, c->merge.length[0], c->merge.length[1], c->merge.length[2], c->merge.length[3]);
  if (c->kind == FZ_TRANSPOSE_SHAPE)
    fprintf(f, "\n  shape=%lld,%lld,%lld,%lld", (long long)c->shape[0], (long long)c->shape[1],
            (long long)c->shape[2], (long long)c->shape[3]);
  fprintf(f, "\n  fill=%#llx poison=%d headers=%d by_register=%d deq=%d:%#x\n", (unsigned long long)c->fill,
          c->poison, c->headers, c->by_register, c->deq, c->deq_bits);
  for (int i = 0; i < (c->deq == FZ_DEQ_VECTOR ? 16 : c->deq == FZ_DEQ_WORD); i++)
    fprintf(f, "  deq %a %d %d\n", (double)c->deq_scale[i], c->deq_offset[i], c->deq_sign[i]);
  if (c->deq == FZ_DEQ_VECTOR) print_view(f, "  at", c->deq_view), fprintf(f, "\n");
}

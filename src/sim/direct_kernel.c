/* The blocks of a direct run: each statement makes the core's calls that its C++ text makes. */
#include "sim/core_internal.h"
#include "sim/direct.h"

#include <string.h>

typedef struct {
  ac_dcall *call;
  const ac_dkernel *k;
  ac_dvalue *v;
  acsim_local *t;
  acsim_global *g;
  uint16_t *q;
  int32_t *held;      /* ids of events */
  const ac_dstmt *at; /* the statement at work */
  unsigned trips;
} frame;
typedef enum { GO, BREAK, RETURN } flow;

/* ---- expressions: integers wrap, as they do where they are computed ---- */

static int64_t whole(frame *f, const ac_dexpr *e);

static float number(frame *f, const ac_dexpr *e) {
  switch (e->op) {
  case AC_AE_FLOAT: return (float)e->f;
  case AC_AE_VAR: return f->v[e->slot].f;
  case AC_AE_NEG: return -number(f, e->a);
  case AC_AE_ADD: return number(f, e->a) + number(f, e->b);
  case AC_AE_SUB: return number(f, e->a) - number(f, e->b);
  case AC_AE_MUL: return number(f, e->a) * number(f, e->b);
  case AC_AE_DIV: return number(f, e->a) / number(f, e->b);
  case AC_AE_MIN: {
    float a = number(f, e->a), b = number(f, e->b);
    return a < b ? a : b;
  }
  case AC_AE_MAX: {
    float a = number(f, e->a), b = number(f, e->b);
    return a > b ? a : b;
  }
  case AC_AE_COND: return whole(f, e->c) ? number(f, e->a) : number(f, e->b);
  default: return (float)whole(f, e->a); /* AC_AE_TO_FLOAT */
  }
}

/* Out of range: the "indefinite" integer of the conversion instruction, which is what compiled code gets. */
static int64_t float_to_64(float x) {
  return x >= -0x1p63f && x < 0x1p63f ? (int64_t)x : INT64_MIN;
}
static int32_t float_to_32(float x) {
  return x > -2147483904.0f && x < 0x1p31f ? (int32_t)x : INT32_MIN;
}

static bool compare(frame *f, const ac_dexpr *e) {
  if (e->of == AC_AT_FLOAT) {
    float a = number(f, e->a), b = number(f, e->b);
    switch (e->op) {
    case AC_AE_EQ: return a == b;
    case AC_AE_NE: return a != b;
    case AC_AE_LT: return a < b;
    case AC_AE_LE: return a <= b;
    case AC_AE_GT: return a > b;
    default: return a >= b;
    }
  }
  int64_t a = whole(f, e->a), b = whole(f, e->b);
  switch (e->op) {
  case AC_AE_EQ: return a == b;
  case AC_AE_NE: return a != b;
  case AC_AE_LT: return a < b;
  case AC_AE_LE: return a <= b;
  case AC_AE_GT: return a > b;
  default: return a >= b;
  }
}

static int64_t wrap_add(int64_t a, int64_t b) {
  return (int64_t)((uint64_t)a + (uint64_t)b);
}
static int64_t wrap_sub(int64_t a, int64_t b) {
  return (int64_t)((uint64_t)a - (uint64_t)b);
}
static int64_t wrap_mul(int64_t a, int64_t b) {
  return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* Truncates. Compiled code dies where there is no quotient; here it is a fault that ends the block. */
static int64_t quotient(frame *f, int64_t a, int64_t b) {
  if (b != 0 && !(b == -1 && a == INT64_MIN)) return a / b;
  acsim_block *x = acsim_here("division");
  acsim_fault(x->s, x, "division", (acsim_at){f->at->file, f->at->line},
              "%lld / %lld: the scalar unit has no such quotient", (long long)a, (long long)b);
  acsim_leave(x);
}

/* As the emitted helpers compute them. */
static int64_t divide(frame *f, const ac_dexpr *e) {
  int64_t a = whole(f, e->a), b = whole(f, e->b);
  switch (e->op) {
  case AC_AE_DIV: return quotient(f, a, b);
  case AC_AE_CDIV: return a <= 0 ? wrap_sub(0, quotient(f, wrap_sub(0, a), b)) : wrap_add(quotient(f, a - 1, b), 1);
  case AC_AE_ALIGN_UP:
    return wrap_mul(a > 0 ? quotient(f, wrap_sub(wrap_add(a, b), 1), b) : wrap_sub(0, quotient(f, wrap_sub(0, a), b)),
                    b);
  case AC_AE_ALIGN_DOWN:
    return wrap_mul(a >= 0 ? quotient(f, a, b) : wrap_sub(0, quotient(f, wrap_sub(wrap_sub(b, 1), a), b)), b);
  default: break;
  }
  int64_t q = quotient(f, a, b), r = a % b;
  bool apart = r != 0 && (a < 0) != (b < 0);
  if (e->op == AC_AE_FLOORDIV) return apart ? q - 1 : q;
  return apart ? r + b : r; /* AC_AE_MOD */
}

/* Integers and bools. */
static int64_t whole(frame *f, const ac_dexpr *e) {
  switch (e->op) {
  case AC_AE_INT: return e->i;
  case AC_AE_VAR: return f->v[e->slot].i;
  case AC_AE_ADD: return wrap_add(whole(f, e->a), whole(f, e->b));
  case AC_AE_SUB: return wrap_sub(whole(f, e->a), whole(f, e->b));
  case AC_AE_MUL: return wrap_mul(whole(f, e->a), whole(f, e->b));
  case AC_AE_DIV:
  case AC_AE_FLOORDIV:
  case AC_AE_MOD:
  case AC_AE_CDIV:
  case AC_AE_ALIGN_UP:
  case AC_AE_ALIGN_DOWN: return divide(f, e);
  case AC_AE_MIN: {
    int64_t a = whole(f, e->a), b = whole(f, e->b);
    return a < b ? a : b;
  }
  case AC_AE_MAX: {
    int64_t a = whole(f, e->a), b = whole(f, e->b);
    return a > b ? a : b;
  }
  case AC_AE_NEG: return wrap_sub(0, whole(f, e->a));
  case AC_AE_NOT: return !whole(f, e->a);
  case AC_AE_AND: return whole(f, e->a) && whole(f, e->b);
  case AC_AE_OR: return whole(f, e->a) || whole(f, e->b);
  case AC_AE_COND: return whole(f, e->c) ? whole(f, e->a) : whole(f, e->b);
  case AC_AE_TO_INT: return float_to_64(number(f, e->a));
  case AC_DX_TRUTH: return e->of == AC_AT_FLOAT ? number(f, e->a) != 0 : whole(f, e->a) != 0;
  case AC_AE_BLOCK_IDX: return acsim_block_index();
  case AC_AE_BLOCK_NUM: return acsim_block_count();
  default: return compare(f, e);
  }
}

/* ---- scalars as elements ---- */

typedef struct {
  double f;
  int64_t i;
  uint64_t bits;
} element;

static element of_float(float x, ac_dtype d) {
  element e = {0};
  uint16_t h;
  float y;
  switch (d) {
  case AC_F32:
    e.f = (double)x;
    memcpy(&e.bits, &x, 4);
    return e;
  case AC_F64:
    e.f = (double)x;
    memcpy(&e.bits, &e.f, 8);
    return e;
  case AC_F16:
  case AC_BF16:
    h = d == AC_F16 ? acsim_float_to_half(x) : acsim_float_to_bf16(x);
    y = d == AC_F16 ? acsim_half_to_float(h) : acsim_bf16_to_float(h);
    e.f = (double)y;
    e.bits = h;
    return e;
  default: break;
  }
  int64_t i = ac_dtypes[d].bytes == 8 || d == AC_U32 ? float_to_64(x) : float_to_32(x);
  ac_store_int(d, &e.bits, 0, i);
  e.i = ac_load_int(d, &e.bits, 0);
  return e;
}

static element convert(frame *f, const ac_dexpr *x, ac_dtype d) {
  if (x->type == AC_AT_FLOAT) return of_float(number(f, x), d);
  int64_t i = whole(f, x);
  if (ac_dtypes[d].cls == AC_FLOATING && d != AC_F64) return of_float((float)i, d);
  element e = {0};
  if (d == AC_F64) {
    e.f = (double)i;
    memcpy(&e.bits, &e.f, 8);
    return e;
  }
  ac_store_int(d, &e.bits, 0, i);
  e.i = ac_load_int(d, &e.bits, 0);
  return e;
}

/* ---- operands: as LocalTensor::operator[] and GlobalTensor::operator[] move them ---- */

static acsim_local moved(const acsim_local *t, int64_t offset, int32_t size) {
  acsim_local r = *t;
  uint32_t bytes = (uint32_t)offset * (uint32_t)size;
  r.addr += bytes;
  r.len = bytes < r.len ? r.len - bytes : 0;
  return r;
}
static const acsim_local *local(frame *f, const ac_doperand *o, acsim_local *room) {
  if (o->tensor < 0) return NULL;
  if (!o->offset) return &f->t[o->tensor];
  *room = moved(&f->t[o->tensor], whole(f, o->offset), o->size);
  return room;
}
static acsim_global global(const acsim_global *g, int64_t offset, int64_t size) {
  acsim_global r = *g;
  r.ptr += wrap_mul(offset, size);
  return r;
}

/* ---- instructions and copies ---- */

static int64_t count_of(frame *f, const ac_dinst *i) {
  int64_t n = whole(f, i->count);
  return i->how == AC_DC_INT32 ? (int32_t)n : i->how == AC_DC_UINT32 ? (int64_t)(uint32_t)n : n;
}

/* The emitted AcMerge. */
static void merge(frame *f, const ac_dstmt *s, const acsim_local *dst, const acsim_local *src) {
  int64_t run = whole(f, s->inst->scalar), n = whole(f, s->inst->count);
  acsim_merge m = {.type = ACSIM_F32, .repeat = 1};
  acsim_local list[4];
  const acsim_local *lists[4];
  for (int i = 0; i < 4; i++) {
    bool there = (int64_t)i * run < n;
    if (there) m.length[i] = (uint16_t)(n - i * run < run ? n - i * run : run);
    if (there) m.valid = (uint16_t)(m.valid * 2 + 1);
    list[i] = there ? moved(src, i * run * 2, 4) : *src;
    lists[i] = &list[i];
  }
  acsim_merge_sort(dst, lists, &m, s->file, s->line);
}

/* The emitted AcTurn. */
static void turn(frame *f, const ac_dstmt *s, const acsim_local *dst, const acsim_local *src,
                 const acsim_local *spare) {
  const ac_dinst *i = s->inst;
  int32_t size = acsim_type_bytes(i->v.type), block = 32 / size;
  int64_t rows = whole(f, i->mask), cols = whole(f, i->b_rep), to = whole(f, i->dst_rep), from = whole(f, i->a_rep);
  acsim_local d[16], a[16];
  for (int k = 0; k < 16; k++) {
    int64_t row = size == 4 && rows <= block ? k % block : k, half = size == 4 && rows > block ? k % 2 * block : 0;
    int64_t col = size == 4 ? k / 2 : k;
    a[k] = moved(src, (row < rows ? row : rows - 1) * from * block, size);
    d[k] = col < cols ? moved(dst, col * to * block + half, size) : moved(spare, half, size);
  }
  acsim_5hd c = {.type = i->v.type, .repeat = (uint8_t)whole(f, i->repeat)};
  bool across = i->v.mode;
  if (c.repeat > 1) {
    c.dst_step = (uint16_t)(across ? to * block : 16 / block);
    c.src_step = (uint16_t)(across ? 1 : 16 * from);
  }
  acsim_trans_5hd(d, a, &c, s->file, s->line);
}

/* What is no call of acsim_vec by count. False: it is. */
static bool other_form(frame *f, const ac_dstmt *s) {
  const ac_dinst *i = s->inst;
  acsim_local room[3];
  const acsim_local *dst = local(f, &i->dst, &room[0]), *a = local(f, &i->a, &room[1]);
  if (i->form == AC_FORM_TILE)
    acsim_transpose16(i->v.type, dst, a, s->file, s->line);
  else if (i->form == AC_FORM_TURN)
    turn(f, s, dst, a, local(f, &i->b, &room[2]));
  else if (i->form == AC_FORM_SORT)
    acsim_sort(ACSIM_SORT32, i->v.type, dst, NULL, a, local(f, &i->b, &room[2]), (int32_t)whole(f, i->repeat), 0,
               s->file, s->line);
  else if (i->form == AC_FORM_MERGE)
    merge(f, s, dst, a);
  else if (i->form == AC_FORM_PICK) { /* the emitted AcPick */
    acsim_vector v = i->v;
    acsim_repeat r = {.mask = {~0ull, ~0ull}, .repeat = 1, .a_block = 1, .a_repeat = 8, .b_repeat = 8};
    v.dst = dst;
    v.a = a;
    v.b = local(f, &i->b, &room[2]);
    v.mode = i->scalar ? (uint8_t)whole(f, i->scalar) : 0;
    v.count = (int64_t)(uint32_t)whole(f, i->count);
    v.repeat = &r;
    uint64_t kept = whole(f, i->count) > 0 ? acsim_vec(&v, s->file, s->line) : 0;
    if (s->slot >= 0) f->v[s->slot].i = (int64_t)kept;
  } else
    return false;
  return true;
}

static int64_t number_or(frame *f, const ac_dexpr *e) {
  return e ? whole(f, e) : 0;
}

/* Lanes by count, as the headers make the mask of a repeat. */
static acsim_repeat repeats(frame *f, const ac_dinst *i) {
  acsim_repeat r = {.dst_block = 1, .a_block = (uint16_t)i->a_block, .b_block = 1};
  bool rows = i->form == AC_FORM_ROWS || i->form == AC_FORM_BLOCKS, whole_reduce = i->form == AC_FORM_WHOLE;
  uint16_t cut = rows || whole_reduce ? UINT16_MAX : UINT8_MAX;
  uint64_t n = (uint64_t)number_or(f, i->mask);
  if (whole_reduce) n = (uint64_t)(int64_t)(int32_t)n;
  r.repeat = whole_reduce ? (int32_t)number_or(f, i->repeat) : (uint8_t)number_or(f, i->repeat);
  r.dst_repeat = (uint16_t)number_or(f, i->dst_rep) & cut;
  r.a_repeat = (uint16_t)number_or(f, i->a_rep) & cut;
  r.b_repeat = (uint16_t)number_or(f, i->b_rep) & cut;
  if (i->form == AC_FORM_BLOCKS) {
    r.a_block = r.b_block = 0;
    return r;
  }
  if (i->form == AC_FORM_FILL) r.a_block = 0;
  if (whole_reduce) r.dst_block = 0;
  if (i->form != AC_FORM_BINARY) r.b_block = 0;
  r.mask[0] = n >= 64 ? ~0ull : (1ull << n) - 1;
  r.mask[1] = n >= 128 ? ~0ull : n > 64 ? (1ull << (n - 64)) - 1 : 0;
  r.form = ACSIM_MASK_FIRST;
  r.first = n;
  return r;
}

static void instruction(frame *f, const ac_dstmt *s) {
  const ac_dinst *i = s->inst;
  if (other_form(f, s)) return;
  acsim_local room[4];
  if (i->copy) {
    const acsim_local *to = local(f, &i->dst, &room[0]), *from = local(f, &i->a, &room[1]);
    acsim_copy c = {.form = ACSIM_COPY_COUNT, .type = i->v.type, .blocks = 1};
    c.bytes = count_of(f, i) * acsim_type_bytes(c.type);
    acsim_copy_local(to, from, &c, s->file, s->line);
    return;
  }
  acsim_vector v = i->v;
  v.dst = local(f, &i->dst, &room[0]);
  v.a = local(f, &i->a, &room[1]);
  v.b = local(f, &i->b, &room[2]);
  v.c = local(f, &i->c, &room[3]);
  if (i->form == AC_FORM_GATHER) {
    v.i = (int64_t)(uint32_t)whole(f, i->scalar);
  } else if (i->scalar) {
    element e = convert(f, i->scalar, i->scalar_type);
    v.f = e.f;
    v.i = e.i;
  }
  acsim_repeat r;
  if (i->repeats) {
    r = repeats(f, i);
    v.repeat = &r;
  } else
    v.count = count_of(f, i);
  acsim_vec(&v, s->file, s->line);
}

/* The emitted AcLoadRows, AcPadRows and AcStoreRows. */
static void copy_rows(frame *f, const ac_dstmt *s, const acsim_local *ub, const acsim_global *gm) {
  const ac_dcopy *c = s->copy;
  int64_t rows = whole(f, c->rows), cols = whole(f, c->cols), stride = whole(f, c->gm_stride),
          pitch = whole(f, c->ub_pitch), size = ac_dtypes[c->type].bytes;
  if (rows <= 0 || cols <= 0) return;
  if (stride == cols && pitch == cols) { /* without gaps: one block */
    stride = pitch = cols = wrap_mul(cols, rows);
    rows = 1;
  }
  int64_t gap = wrap_mul(wrap_sub(stride, cols), size), bytes = wrap_mul(cols, size),
          skip = wrap_sub(wrap_mul(pitch, size), wrap_add(bytes, 31) / 32 * 32) / 32,
          most = gap >= 0 && gap <= UINT32_MAX ? 4095 : 1;
  acsim_copy x = {.form = ACSIM_COPY_PAD, .type = (uint8_t)c->type, .ext = 1, .bytes = (uint32_t)bytes};
  if (c->to_ub && c->pad) {
    x.is_pad = 1;
    x.right = (uint8_t)((32 - bytes % 32) % 32 / size);
    x.pad_bits = convert(f, c->pad, c->type).bits;
  }
  if (most > 1) {
    x.src_gap = c->to_ub ? gap : (int64_t)(uint32_t)skip * 32;
    x.dst_gap = c->to_ub ? (int64_t)(uint32_t)skip * 32 : gap;
  }
  for (int64_t row = 0; row < rows; row += most) {
    x.blocks = (uint16_t)(rows - row < most ? rows - row : most);
    acsim_local here = moved(ub, wrap_mul(row, pitch), (int32_t)size);
    acsim_global there = global(gm, wrap_mul(row, stride), size);
    if (c->to_ub)
      acsim_copy_in(&here, &there, &x, s->file, s->line);
    else
      acsim_copy_out(&there, &here, &x, s->file, s->line);
  }
}

static void copy_elements(frame *f, const ac_dstmt *s) {
  const ac_dcopy *c = s->copy;
  uint32_t size = (uint32_t)ac_dtypes[c->type].bytes;
  for (int64_t i = 0; i < whole(f, c->cols); i++) {
    int64_t to = wrap_add(c->ub.offset ? whole(f, c->ub.offset) : 0, i);
    int64_t from = wrap_add(whole(f, c->gm_offset), wrap_mul(i, whole(f, c->gm_stride)));
    uint64_t cell = 0;
    acsim_global_get(&f->g[c->gm], from, size, &cell, s->file, s->line);
    acsim_local_set(&f->t[c->ub.tensor], (uint32_t)to, size, &cell, s->file, s->line);
  }
}

static void move(frame *f, const ac_dstmt *s) {
  const ac_dcopy *c = s->copy;
  int64_t cols = c->rows ? 1 : whole(f, c->cols), size = ac_dtypes[c->type].bytes;
  if (cols <= 0) return;
  acsim_local room;
  const acsim_local *ub = local(f, &c->ub, &room);
  acsim_global gm = global(&f->g[c->gm], whole(f, c->gm_offset), size);
  if (c->rows) {
    copy_rows(f, s, ub, &gm);
    return;
  }
  acsim_copy x = {.form = c->exact ? ACSIM_COPY_COUNT : ACSIM_COPY_PAD, .type = (uint8_t)c->type, .blocks = 1};
  x.bytes = c->exact ? (int64_t)(uint32_t)cols * size : (int64_t)(uint32_t)wrap_mul(cols, size);
  x.ext = !c->exact;
  if (c->to_ub && !c->exact && c->pad) {
    int64_t per = 32 / size;
    x.is_pad = 1;
    x.right = (uint8_t)((per - cols % per) % per);
    x.pad_bits = convert(f, c->pad, c->type).bits;
  }
  if (c->to_ub)
    acsim_copy_in(ub, &gm, &x, s->file, s->line);
  else
    acsim_copy_out(&gm, ub, &x, s->file, s->line);
}

static void copy(frame *f, const ac_dstmt *s) {
  const ac_dcopy *c = s->copy;
  if (c->by_element) {
    copy_elements(f, s);
    return;
  }
  if (c->atomic == AC_ATOMIC_NONE) {
    move(f, s);
    return;
  }
  /* ACSIM_ATOMIC_ADD and its kin have the order of ac_atomic */
  bool some = c->rows || whole(f, c->cols) > 0; /* the emitted text switches inside of its test */
  if (some) acsim_atomic(c->atomic, c->type, s->file, s->line);
  move(f, s);
  if (some) acsim_atomic(ACSIM_ATOMIC_NONE, -1, s->file, s->line);
}

/* ---- single elements ---- */

static void get_value(frame *f, const ac_dstmt *s) {
  uint32_t size = (uint32_t)ac_dtypes[s->dtype].bytes;
  int64_t at = s->value ? whole(f, s->value) : 0;
  uint64_t cell = 0;
  if (s->op.tensor < 0)
    acsim_global_get(&f->g[s->gm], at, size, &cell, s->file, s->line);
  else
    acsim_local_get(&f->t[s->op.tensor], (uint32_t)at, size, &cell, s->file, s->line);
  ac_dvalue *to = &f->v[s->slot];
  if (ac_dtypes[s->dtype].cls == AC_FLOATING) {
    float x = (float)ac_load(s->dtype, &cell, 0);
    if (s->type == AC_AT_FLOAT)
      to->f = x;
    else
      to->i = s->type == AC_AT_BOOL ? x != 0 : float_to_64(x);
  } else {
    int64_t x = ac_load_int(s->dtype, &cell, 0);
    if (s->type == AC_AT_FLOAT)
      to->f = (float)x;
    else
      to->i = s->type == AC_AT_BOOL ? x != 0 : x;
  }
}
static void set_value(frame *f, const ac_dstmt *s) {
  element e = convert(f, s->value, s->dtype);
  int64_t at = s->lo ? whole(f, s->lo) : 0;
  acsim_local_set(&f->t[s->op.tensor], (uint32_t)at, (uint32_t)ac_dtypes[s->dtype].bytes, &e.bits, s->file, s->line);
}

/* ---- statements ---- */

static flow run(frame *f, const ac_dblock *b);

static void store(frame *f, int32_t slot, ac_atype type, const ac_dexpr *e) {
  if (type == AC_AT_FLOAT)
    f->v[slot].f = number(f, e);
  else
    f->v[slot].i = whole(f, e);
}

/* In the caller's own process nobody else ends an endless loop. */
static void watch(frame *f) {
  enum { EVERY = 4096 };
  ac_dcall *c = f->call;
  if (!(c->deadline > 0) || ++f->trips % EVERY) return;
  if (!__atomic_load_n(&c->late, __ATOMIC_RELAXED) && ac_now() < c->deadline) return;
  __atomic_store_n(&c->late, 1, __ATOMIC_RELAXED);
  acsim_leave(acsim_here("a loop"));
}

static flow loop(frame *f, const ac_dstmt *s) {
  int64_t *i = &f->v[s->slot].i;
  *i = whole(f, s->lo);
  for (;;) {
    int64_t step = whole(f, s->step), hi = whole(f, s->hi);
    if (!(step > 0 ? *i < hi : *i > hi)) return GO;
    flow r = run(f, &s->body);
    if (r == RETURN) return r;
    if (r == BREAK) return GO;
    watch(f);
    *i = wrap_add(*i, whole(f, s->step));
  }
}
static flow while_loop(frame *f, const ac_dstmt *s) {
  while (whole(f, s->value)) {
    flow r = run(f, &s->body);
    if (r == RETURN) return r;
    if (r == BREAK) break;
    watch(f);
  }
  return GO;
}

static void call(frame *f, const ac_dstmt *s) {
  const ac_dmethod *m = &f->k->methods[s->method];
  for (int i = 0; i < s->n_args; i++) store(f, m->params[i].slot, (ac_atype)m->params[i].type, s->args[i]);
  run(f, &m->body);
}

/* The emitted AcOrder. */
static void order(const ac_dstmt *s) {
  int32_t id = acsim_event_fetch(s->method, 0, s->file, s->line);
  acsim_flag_set(s->method, id, s->file, s->line);
  acsim_flag_wait(s->method, id, s->file, s->line);
}

/* A flag whose halves stand apart. */
static void held_flag(frame *f, const ac_dstmt *s) {
  int32_t *id = &f->held[s->slot];
  if (s->kind == AC_AS_HOLD) *id = acsim_event_fetch(s->method, 1, s->file, s->line);
  if (s->kind == AC_AS_SET) acsim_flag_set(s->method, *id, s->file, s->line);
  if (s->kind == AC_AS_WAIT) acsim_flag_wait(s->method, *id, s->file, s->line);
  if (s->kind == AC_AS_RELEASE) acsim_event_release(s->method, *id, s->file, s->line);
}

/* EnQue<from, to> of tensors that the vector unit works on between load and store; -1: the queue's own positions. */
static int32_t leg_from(const frame *f, const ac_dstmt *s) {
  if (f->k->buffers[s->queue].b->mem != AC_MEM_UPDATE) return -1;
  return s->outward ? ACSIM_POS_VECOUT : ACSIM_POS_GM;
}
static int32_t leg_to(int32_t from) {
  return from < 0 ? -1 : from == ACSIM_POS_GM ? ACSIM_POS_VECIN : ACSIM_POS_GM;
}

static flow statement(frame *f, const ac_dstmt *s) {
  enum { PIPE_ALL = 6 };
  switch (s->kind) {
  case AC_AS_DECL:
  case AC_AS_ASSIGN: store(f, s->slot, (ac_atype)s->type, s->value); return GO;
  case AC_AS_FOR: return loop(f, s);
  case AC_AS_WHILE: return while_loop(f, s);
  case AC_AS_IF: return run(f, whole(f, s->value) ? &s->body : &s->orelse);
  case AC_AS_BREAK: return BREAK;
  case AC_AS_RETURN: return RETURN;
  case AC_AS_CALL: call(f, s); return GO;
  case AC_AS_ALLOC:
    f->t[s->slot] = (acsim_local){0};
    acsim_queue_alloc(f->q[s->queue], &f->t[s->slot], s->file, s->line);
    return GO;
  case AC_AS_DEQUE: {
    int32_t from = leg_from(f, s);
    f->t[s->slot] = (acsim_local){0};
    acsim_queue_pop_as(f->q[s->queue], &f->t[s->slot], from, leg_to(from), s->file, s->line);
    return GO;
  }
  case AC_AS_GET:
    f->t[s->slot] = (acsim_local){0};
    acsim_tbuf_get(f->q[s->queue], 0, 0, &f->t[s->slot], s->file, s->line);
    return GO;
  case AC_AS_ENQUE: {
    int32_t from = leg_from(f, s);
    acsim_queue_push_as(f->q[s->queue], &f->t[s->slot], from, leg_to(from), s->file, s->line);
    return GO;
  }
  case AC_AS_FREE: acsim_queue_free(f->q[s->queue], &f->t[s->slot], s->file, s->line); return GO;
  case AC_AS_COPY: copy(f, s); return GO;
  case AC_AS_INST: instruction(f, s); return GO;
  case AC_AS_GETVALUE: get_value(f, s); return GO;
  case AC_AS_SETVALUE: set_value(f, s); return GO;
  case AC_AS_FLAG: order(s); return GO;
  case AC_AS_HOLD:
  case AC_AS_SET:
  case AC_AS_WAIT:
  case AC_AS_RELEASE: held_flag(f, s); return GO;
  case AC_AS_BARRIER: acsim_pipe_barrier(PIPE_ALL, s->file, s->line); return GO;
  case AC_AS_STORE_BARRIER: acsim_pipe_barrier(AC_PIPE_MTE3, s->file, s->line); return GO;
  case AC_AS_SYNC_ALL: acsim_sync_all(1, s->file, s->line); return GO;
  case AC_AS_CLEAN: acsim_cache_clean(&f->g[s->gm], 1, s->file, s->line); return GO;
  default: return GO;
  }
}
static flow run(frame *f, const ac_dblock *b) {
  for (const ac_dstmt *s = b->at, *end = s + b->n; s < end; s++) {
    f->at = s;
    flow r = statement(f, s);
    if (r != GO) return r;
  }
  return GO;
}

/* ---- Init ---- */

static uint32_t buffer_bytes(frame *f, const ac_dbuffer *b) {
  int64_t to = b->b->round_to, n = wrap_mul(whole(f, b->elements), ac_dtypes[b->b->dtype].bytes);
  n = wrap_mul(wrap_sub(wrap_add(n, to), 1) / to, to);
  uint32_t bytes = (uint32_t)(n < to ? to : n);
  return bytes > 0xffffffe0u ? 0xffffffe0u : bytes;
}

static void init_buffers(frame *f, const ac_alaunch *l, void *pipe) {
  uint32_t twice = (uint8_t)f->call->plan->fields[l->buffer_num].i;
  for (int n = 0; n < 2 * f->k->n_buffers; n++) {
    int i = n % f->k->n_buffers;
    const ac_abuffer *b = f->k->buffers[i].b;
    if (b->home || b->first != (n < f->k->n_buffers)) continue;
    int line = b->loc.line ? b->loc.line : f->k->k->loc.line;
    const char *file = b->loc.line ? b->loc.file : f->k->k->loc.file;
    uint32_t bytes = buffer_bytes(f, &f->k->buffers[i]);
    int32_t src = b->mem == AC_MEM_VECOUT ? ACSIM_POS_VECOUT : ACSIM_POS_VECIN,
            dst = b->mem == AC_MEM_VECIN ? ACSIM_POS_VECIN : ACSIM_POS_VECOUT;
    uint32_t slots = (ac_two_slots(b) ? twice : 0) + (uint32_t)ac_fixed_slots(b);
    f->q[i] = b->mem == AC_MEM_VECCALC
                  ? acsim_tbuf_init(pipe, ACSIM_POS_VECCALC, bytes, file, line)
                  : acsim_queue_init(pipe, src, dst, ac_queue_depth(b), slots, bytes, file, line);
  }
  for (int i = 0; i < f->k->n_buffers; i++)
    if (f->k->buffers[i].b->home) f->q[i] = f->q[f->k->buffers[i].b->home - 1];
}

static void init(frame *f, const ac_dlaunch *l, uint8_t *workspace, void *pipe) {
  const ac_akernel *k = f->k->k;
  const ac_program *p = f->call->p->p;
  const ac_dvalue *fields = f->call->plan->fields;
  for (int i = 0; i < f->k->n_fields; i++) {
    ac_dvalue x = fields[l->l->fields[i]], *to = &f->v[f->k->fields[i].slot];
    if (f->k->fields[i].type == AC_AT_FLOAT)
      to->f = x.f;
    else
      to->i = f->k->fields[i].type == AC_AT_BOOL ? x.i != 0 : x.i;
  }
  for (int i = 0; i < f->k->n_gms; i++) {
    int n = l->l->tensors[k->gms.data[i].param];
    uint8_t *at = n >= 0 ? f->call->tensors[n].data : workspace + fields[p->workspaces.data[-1 - n].field].i;
    f->g[i] = (acsim_global){.ptr = at, .base = at};
  }
  init_buffers(f, l->l, pipe);
}

/* ---- the entry ---- */

static void run_launch(ac_dcall *c, const ac_dlaunch *l, uint8_t *workspace, void *pipe) {
  const ac_dkernel *k = &c->p->kernels[l->l->kernel];
  ac_arena *a = acsim_here("a kernel")->arena; /* ends with the block, however it ends */
  frame f = {.call = c, .k = k};
  f.v = AC_NEW_N(a, ac_dvalue, k->n_values + 1);
  f.t = AC_NEW_N(a, acsim_local, k->n_tensors + 1);
  f.g = AC_NEW_N(a, acsim_global, k->n_gms + 1);
  f.q = AC_NEW_N(a, uint16_t, k->n_buffers + 1);
  f.held = AC_NEW_N(a, int32_t, k->k->held.len + 1);
  init(&f, l, workspace, pipe);
  run(&f, &k->methods[0].body);
}

/* The emitted phases: each with its own number of blocks, joined by SyncAll. */
static void run_path(ac_dcall *c, const ac_apath *x, uint8_t *workspace, void *pipe) {
  for (size_t i = 0; i < x->phases.len; i++) {
    const ac_alaunch *l = x->phases.data[i];
    const ac_loc at = c->p->p->kernels.data[l->kernel]->loc;
    if (i) {
      acsim_pipe_reset(pipe, at.file, at.line);
      acsim_sync_all(1, at.file, at.line);
    }
    if (l->blocks_field < 0 || acsim_block_index() < c->plan->fields[l->blocks_field].i)
      run_launch(c, &c->p->launches[l->index], workspace, pipe);
  }
}

void ac_direct_block(void *user) {
  ac_dcall *c = user;
  const ac_program *p = c->p->p;
  ac_loc at = p->kernels.len ? p->kernels.data[0]->loc : AC_NOLOC;
  ac_arena *a = acsim_here("a kernel")->arena;
  void *data = ac_alloc(a, (size_t)c->p->tiling_bytes), *pipe = ac_alloc(a, 1);
  acsim_read_gm(data, c->tiling, (uint64_t)c->p->tiling_bytes, at.file, at.line);
  uint8_t *workspace = p->workspaces.len ? acsim_user_workspace(c->workspace) : NULL;
  acsim_pipe_open(pipe, at.file, at.line);
  for (size_t i = 0; i < p->paths.len; i++) {
    if (acsim_tiling_key() != i + 1) continue;
    run_path(c, p->paths.data[i], workspace, pipe);
    break;
  }
  acsim_pipe_close(pipe);
}

/* Pairs of kernels: the mask register, its modes, and other state that an instruction leaves to the next. */
#include "pairs.h"

/* A = 1, B = 2 in the whole buffer. */
static void prepare(Bufs &f) {
  Duplicate(f.A, 1.0f, N);
  Duplicate(f.B, 2.0f, N);
  Duplicate(f.C, 0.0f, N);
}
static const BinaryRepeatParams rows{1, 1, 1, 8, 8, 8};

KERNEL(counter_left_on) { /* four repeats of 64 lanes, and counter mode makes one of them */
  FRAME;
  prepare(f);
  SetMaskCount(); /* early */
  SetVectorMask<float, MaskMode::COUNTER>(0, 100);
  Add<float, false>(f.C, f.A, f.B, MASK_PLACEHOLDER, 1, rows);
  if (mended) SetMaskNorm();
  ResetMask();
  Mul(f.C, f.A, f.B, 64, 4, rows); /* late */
  SetMaskNorm();
}
KERNEL(lanes_as_count) {
  FRAME;
  prepare(f);
  if (mended)
    SetVectorMask<float, MaskMode::NORMAL>(64);
  else
    SetVectorMask<float, MaskMode::COUNTER>(64);               /* early */
  Add<float, false>(f.C, f.A, f.B, MASK_PLACEHOLDER, 4, rows); /* late */
  ResetMask();
}
KERNEL(count_as_lanes) {
  FRAME;
  prepare(f);
  SetMaskCount(); /* early */
  if (mended)
    SetVectorMask<float, MaskMode::COUNTER>(64);
  else
    SetVectorMask<float, MaskMode::NORMAL>(8);
  Add<float, false>(f.C, f.A, f.B, MASK_PLACEHOLDER, 1, rows); /* late */
  SetMaskNorm();
  ResetMask();
}
KERNEL(mask_gone) { /* the count form between the two sets the register back */
  FRAME;
  prepare(f);
  SetVectorMask<float, MaskMode::NORMAL>(8);                   /* early */
  if (!mended) Adds(f.A, f.A, 1.0f, N);                        /* early */
  Add<float, false>(f.C, f.A, f.B, MASK_PLACEHOLDER, 1, rows); /* late */
  ResetMask();
}
KERNEL(stale_mask) { /* the mask of the instruction before */
  FRAME;
  prepare(f);
  Add(f.C, f.A, f.B, 37, 1, rows); /* early */
  if (mended) ResetMask();
  Mul<float, false>(f.C, f.A, f.B, MASK_PLACEHOLDER, 1, rows); /* late */
}
KERNEL(full_mask_taken) { /* the same, and by luck the mask is full */
  FRAME;
  prepare(f);
  Add(f.C, f.A, f.B, 64, 1, rows); /* early */
  if (mended) ResetMask();
  Mul<float, false>(f.C, f.A, f.B, MASK_PLACEHOLDER, 1, rows); /* late */
}
KERNEL(stale_mask_halves) { /* a full mask for 32-bit lanes is half of one for 16-bit lanes */
  FRAME;
  prepare(f);
  Add(f.C, f.A, f.B, 64, 1, rows); /* early */
  if (mended) ResetMask();
  auto a = f.A.ReinterpretCast<half>(), c = f.C.ReinterpretCast<half>();
  Mul<half, false>(c, a, a, MASK_PLACEHOLDER, 1, rows); /* late */
}
KERNEL(mask_too_long) {
  FRAME;
  prepare(f);
  Add(f.C, f.A, f.B, mended ? 64 : 128, 1, rows); /* late */
}
KERNEL(ends_in_counter_mode) {
  FRAME;
  prepare(f);
  SetMaskCount(); /* late */
  SetVectorMask<float, MaskMode::COUNTER>(0, 100);
  Add<float, false>(f.C, f.A, f.B, MASK_PLACEHOLDER, 1, rows);
  if (mended) SetMaskNorm();
}
KERNEL(ends_with_mask) {
  FRAME;
  prepare(f);
  SetVectorMask<float>(0, 0xff); /* late */
  Add<float, false>(f.C, f.A, f.B, MASK_PLACEHOLDER, 1, rows);
  if (mended) ResetMask();
}
KERNEL(too_many_lanes) {
  FRAME;
  prepare(f);
  SetVectorMask<float>(mended ? 64 : 128); /* late */
  Add<float, false>(f.C, f.A, f.B, MASK_PLACEHOLDER, 1, rows);
  ResetMask();
}
KERNEL(mask_beyond) { /* lanes 64 and up of a 32-bit type */
  FRAME;
  prepare(f);
  uint64_t mask[2] = {~0ull, mended ? 0ull : 1ull};
  Add(f.C, f.A, f.B, mask, 1, rows); /* late */
}
KERNEL(many_repeats) {
  FRAME;
  prepare(f);
  Adds(f.C, f.A, 1.0f, (uint64_t)64, mended ? 4 : 256, {1, 1, 0, 0}); /* late */
}
KERNEL(atomic_left) { /* every later store of this core adds */
  FRAME;
  prepare(f);
  order<HardEvent::V_MTE3>(true);
  SetAtomicAdd<float>();
  DataCopy(f.y, f.A, N);
  if (mended) SetAtomicNone();
}
KERNEL(atomic_other_type) {
  FRAME;
  prepare(f);
  order<HardEvent::V_MTE3>(true);
  if (mended)
    SetAtomicAdd<float>();
  else
    SetAtomicAdd<half>();
  DataCopy(f.y, f.A, N); /* late */
  SetAtomicNone();
}
template <bool mended, typename Bad> static void atomic_types(Bad set) {
  SetAtomicAdd<int8_t>();
  SetAtomicMax<int16_t>();
  SetAtomicMin<half>();
  SetAtomicAdd<bfloat16_t>();
  SetAtomicMax<int32_t>();
  SetAtomicMin<float>();
  if (!mended) set();
  SetAtomicNone();
}
KERNEL(atomic_add_u8) {
  atomic_types<mended>([] { SetAtomicAdd<uint8_t>(); }); /* late */
}
KERNEL(atomic_max_u16) {
  atomic_types<mended>([] { SetAtomicMax<uint16_t>(); }); /* late */
}
KERNEL(atomic_min_u32) {
  atomic_types<mended>([] { SetAtomicMin<uint32_t>(); }); /* late */
}
KERNEL(atomic_type_i64) {
  atomic_types<mended>([] { SetAtomicType<int64_t>(); }); /* late */
}
KERNEL(atomic_on_310p) {
  SetAtomicAdd<half>();
  SetAtomicAdd<int16_t>();
  if (!mended) SetAtomicAdd<int32_t>(); /* late */
  SetAtomicNone();
}
KERNEL(atomic_max_on_310p) {
  SetAtomicAdd<float>();
  if (!mended) SetAtomicMax<float>(); /* late */
  SetAtomicNone();
}
KERNEL(atomic_fill) {
  FRAME;
  if (!mended) SetAtomicAdd<float>();
  InitOutput<float>(f.w, 64, 0.0f); /* late */
  SetAtomicNone();
}

#define UNPLACED(fn, is_mended, suffix, fault, text) \
  { #fn suffix, fn < is_mended>, 1, 4, 4 * N, 4 * N, 16 * N, fault, text, nullptr, nullptr, 1, 0, 0, ON }
#define P310(fn, fault, text)                                                                                       \
  {#fn, fn<false>, 1, 4, 4 * N, 4 * N, 16 * N, fault, text, nullptr, nullptr, 1, 1, 0, ON, 1, 0, 0}, {              \
#fn " mended", fn < true>, 1, 4, 4 * N, 4 * N, 16 * N, nullptr, nullptr, nullptr, nullptr, 1, 1, 0, ON, 1, 0, 0 \
  }
static const sim_case table[] = {
    MPAIR(counter_left_on, 1, "mask-mode", "SetMaskNorm is missing", 0, 0),
    MPAIR(lanes_as_count, 1, "mask-mode", "SetMaskCount is missing", 0, 0),
    MARKED(count_as_lanes, false, "", 1, "mask-mode", "MaskMode::COUNTER> is missing", 0, 0),
    MARKED(count_as_lanes, true, " mended", 1, nullptr, nullptr, 0, 0),
    MPAIR(mask_gone, 1, "mask-mode", "Adds at", 0, 0),
    MPAIR(stale_mask, 1, "stale-mask", "only 37 of its 64 lanes", 0, 0),
    MPAIR(stale_mask_halves, 1, "stale-mask", "only 64 of its 128 lanes", 0, 0),
    MPAIR(full_mask_taken, 1, "mask-inherited", "left in the register", 0, 0),
    MPAIR(mask_too_long, 1, "mask-too-long", "a repeat has 64", 0, 0),
    MPAIR(ends_in_counter_mode, 1, "mask-left", "SetMaskNorm is missing", 0, 0),
    MPAIR(ends_with_mask, 1, "mask-left", "ResetMask is missing", 0, 0),
    MPAIR(too_many_lanes, 1, "field-limit", "SetVectorMask of 128 lanes", 0, 0),
    MPAIR(mask_beyond, 1, "field-limit", "lanes beyond the 64", 0, 0),
    MPAIR(many_repeats, 1, "field-limit", "repeatTimes is 256", 0, 0),
    UNPLACED(atomic_left, false, "", "atomic-left-on", "SetAtomicNone is missing"),
    UNPLACED(atomic_left, true, " mended", nullptr, nullptr),
    MPAIR(atomic_other_type, 1, "atomic-type", "float16", 0, 0),
    MPAIR(atomic_add_u8, 1, "no-such-dtype", "SetAtomicAdd of uint8_t", 0, 0),
    MPAIR(atomic_max_u16, 1, "no-such-dtype", "SetAtomicMax of uint16_t", 0, 0),
    MPAIR(atomic_min_u32, 1, "no-such-dtype", "SetAtomicMin of uint32_t", 0, 0),
    MPAIR(atomic_type_i64, 1, "no-such-dtype", "SetAtomicType of int64_t", 0, 0),
    P310(atomic_on_310p, "no-such-dtype", "SetAtomicAdd of int32_t"),
    P310(atomic_max_on_310p, "not-on-chip", "SetAtomicMax"),
    MPAIR(atomic_fill, 1, "atomic-fill", "InitOutput", 0, 0),
};
SIM_CASES(table);

/* Pairs of kernels: memory, the life of tensors, what instructions take. */
#include "pairs.h"

static void all() {
  PipeBarrier<PIPE_ALL>();
}
struct Ques {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 2> out;
  GlobalTensor<float> x, y;
  Ques(GM_ADDR gx, GM_ADDR gy) {
    x.SetGlobalBuffer((__gm__ float *)gx, 4 * N);
    y.SetGlobalBuffer((__gm__ float *)gy, 4 * N);
    pipe.InitBuffer(in, 2, N * 4);
    pipe.InitBuffer(out, 2, N * 4); /* early */
  }
  LocalTensor<float> load() {
    auto t = in.AllocTensor<float>();
    DataCopy(t, x, N);
    in.EnQue(t);
    return in.DeQue<float>();
  }
};
#define QUES Ques q(gx, gy)

/* ---- where ---- */

KERNEL(gm_past) {
  FRAME;
  DataCopyPad(f.A, f.x[4 * N - 8], {1, mended ? 32u : 36u, 0, 0, 0}, {false, 0, 0, 0.0f}); /* late */
}
KERNEL(gm_past_view) {
  FRAME;
  GlobalTensor<float> part;
  part.SetGlobalBuffer((__gm__ float *)gx, 64);
  DataCopy(f.A, part[mended ? 56 : 64], 8); /* late */
}
KERNEL(ub_past) {
  FRAME;
  Duplicate(f.A[N - 8], 1.0f, mended ? 8 : 16); /* late */
}
KERNEL(gather_past) { /* offsets are bytes, not elements */
  FRAME;
  auto ids = f.B.ReinterpretCast<uint32_t>();
  Duplicate(f.A, 1.0f, N);
  Duplicate(ids, (uint32_t)(mended ? (N - 1) * 4 : N * 4), 64);
  Gather(f.C, f.A, ids, 0u, 64); /* late */
}
KERNEL(half_aligned) {
  FRAME;
  Duplicate(f.A, 1.0f, N);
  Adds(f.B, f.A[mended ? 8 : 4], 1.0f, 64); /* late */
}
KERNEL(overlapping) {
  FRAME;
  Duplicate(f.A, 1.0f, N);
  Adds(f.A[mended ? 0 : 8], f.A, 1.0f, 64); /* late */
}
KERNEL(too_large) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> a, b;
  pipe.InitBuffer(a, 160 * 1024);
  pipe.InitBuffer(b, (mended ? 32 : 33) * 1024); /* late */
}
KERNEL(reserved) { /* Select has its constants in the last 8 KB */
  TPipe pipe;
  TBuf<TPosition::VECCALC> a, b;
  pipe.InitBuffer(a, 4096);
  pipe.InitBuffer(b, (mended ? 180 : 188) * 1024);
  auto t = a.Get<float>(), v = b.Get<float>();
  auto m = t.ReinterpretCast<uint8_t>();
  Duplicate(t.ReinterpretCast<uint16_t>(), (uint16_t)0xffff, 64);
  Duplicate(v, 1.0f, 64);
  Select(v, m, v, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 64); /* late */
}
KERNEL(reserved_later) { /* buffers that are given up before the Select are not in its way */
  TPipe pipe;
  TBuf<TPosition::VECCALC> large, a, b;
  pipe.InitBuffer(large, 180 * 1024);
  if (mended) pipe.Reset();
  pipe.InitBuffer(a, 4096);
  pipe.InitBuffer(b, 8192);
  auto t = a.Get<float>(), v = b.Get<float>();
  auto m = t.ReinterpretCast<uint8_t>();
  Duplicate(t.ReinterpretCast<uint16_t>(), (uint16_t)0xffff, 64);
  Duplicate(v, 1.0f, 64);
  Select(v, m, v, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 64); /* late */
}
KERNEL(to_input) {
  FRAME;
  Duplicate(f.A, 1.0f, N);
  all();
  DataCopy(mended ? f.y : f.x, f.A, 8); /* late */
}
KERNEL(never_written_lanes) { /* the tile is rounded up; what is stored of it is not */
  FRAME;
  Duplicate(f.A, 1.0f, 56);
  Adds(f.B, f.A, 1.0f, 64);
  all();
  DataCopy(f.y, f.B, mended ? 56 : 64); /* late */
}
KERNEL(stale_slot) { /* what an earlier tensor left is not the new one's */
  QUES;
  auto t = q.load();
  q.in.FreeTensor(t);
  t = q.in.AllocTensor<float>();
  q.in.FreeTensor(t);
  t = q.in.AllocTensor<float>();
  if (mended) DataCopy(t, q.x, N);
  q.in.EnQue(t);
  t = q.in.DeQue<float>();
  Adds(t, t, 1.0f, N); /* late */
  q.in.FreeTensor(t);
}
KERNEL(twice) {
  FRAME;
  Duplicate(f.A, 1.0f, N);
  all();
  DataCopy(f.y, f.A, 64);
  all();
  DataCopy(f.y[mended ? 64 : 56], f.A, 64); /* late */
}
KERNEL(ub_pointer) { /* a write through a plain pointer is not seen */
  FRAME;
  Duplicate(f.A, 1.0f, 56);
  all();
  __ubuf__ float *p = f.A.GetPhyAddr();
  for (int i = 56; i < 64; i++)
    if (mended)
      f.A.SetValue(i, 2.0f);
    else
      p[i] = 2.0f;
  Adds(f.B, f.A, 1.0f, 64); /* late */
}
KERNEL(gm_pointer) {
  __gm__ float *p = (__gm__ float *)gy;
  GlobalTensor<float> y;
  y.SetGlobalBuffer(p, 4 * N);
  for (int i = 0; i < 4 * N; i++)
    if (mended)
      y.SetValue(i, 2.0f);
    else
      p[i] = 2.0f;
}
KERNEL(never_written) {
  FRAME;
  Duplicate(f.A, 1.0f, N);
  all();
  for (int i = 0; i < (mended ? 4 : 3); i++) DataCopy(f.y[i * N], f.A, N);
}
KERNEL(half_of_each) { /* one copy for the low halves, of the last quarter; one for the high halves */
  FRAME;
  Duplicate(f.A, 1.0f, N);
  all();
  for (int i = 0; i < 3; i++) DataCopy(f.y[i * N], f.A, N);
  GlobalTensor<uint16_t> halves;
  halves.SetGlobalBuffer((__gm__ uint16_t *)gy, 8 * N);
  auto a = f.A.ReinterpretCast<uint16_t>();
  for (int i = 0; i < (mended ? 2 : 1); i++)
    for (int k = 0; k < 8; k++) DataCopyPad(halves[6 * N + k * N / 4 + i], a, {N / 8, 2, 0, 2, 0});
}
KERNEL(system_part) {
  FRAME;
  Duplicate(f.A, 1.0f, N);
  all();
  f.w.SetGlobalBuffer((__gm__ float *)(mended ? GetUserWorkspace(gw) : gw), N);
  DataCopy(f.w, f.A, 8); /* late */
}
KERNEL(no_system_part) {
  FRAME;
  Duplicate(f.A, 1.0f, N);
  all();
  f.w.SetGlobalBuffer((__gm__ float *)GetUserWorkspace(gw));
  DataCopy(f.w, f.A, 8); /* late */
}

/* ---- tensors and queues ---- */

KERNEL(never_allocated) {
  FRAME;
  LocalTensor<float> t;
  Duplicate(mended ? f.A : t, 1.0f, N); /* late */
}
KERNEL(freed) {
  QUES;
  auto t = q.load();
  if (!mended) q.in.FreeTensor(t); /* early */
  Adds(t, t, 1.0f, N);             /* late */
  if (mended) q.in.FreeTensor(t);
}
KERNEL(queued) {
  QUES;
  auto t = q.in.AllocTensor<float>();
  DataCopy(t, q.x, N);
  all();
  if (mended) DataCopy(t, q.x, 8);
  q.in.EnQue(t);                    /* early */
  if (!mended) DataCopy(t, q.x, 8); /* late */
  t = q.in.DeQue<float>();
  q.in.FreeTensor(t);
}
KERNEL(freed_twice) {
  QUES;
  auto t = q.load();
  q.in.FreeTensor(t);
  if (!mended) q.in.FreeTensor(t); /* late */
}
KERNEL(other_queue) {
  QUES;
  auto t = q.out.AllocTensor<float>();
  if (!mended) q.in.EnQue(t); /* late */
  q.out.FreeTensor(t);
}
KERNEL(scratch_queued) { /* a scratch tensor is not the output queue's */
  QUES;
  TBuf<TPosition::VECCALC> buf;
  q.pipe.InitBuffer(buf, N * 4);
  auto t = mended ? q.out.AllocTensor<float>() : buf.Get<float>();
  Duplicate(t, 1.0f, N);
  q.out.EnQue(t); /* late */
  if (!mended) return;
  t = q.out.DeQue<float>();
  q.out.FreeTensor(t);
}
KERNEL(queued_twice) {
  QUES;
  auto t = q.out.AllocTensor<float>();
  q.out.EnQue(t);
  if (!mended) q.out.EnQue(t); /* late */
  t = q.out.DeQue<float>();
  q.out.FreeTensor(t);
}
KERNEL(too_deep) {
  QUES;
  auto t = q.in.AllocTensor<float>(), u = q.in.AllocTensor<float>();
  q.in.EnQue(t);
  if (mended) t = q.in.DeQue<float>();
  q.in.EnQue(u); /* late */
  if (!mended) t = q.in.DeQue<float>();
  u = q.in.DeQue<float>();
  q.in.FreeTensor(t);
  q.in.FreeTensor(u);
}
KERNEL(nothing_queued) {
  QUES;
  if (mended) q.in.EnQue(q.in.AllocTensor<float>());
  auto t = q.in.DeQue<float>(); /* late */
  q.in.FreeTensor(t);
}
KERNEL(all_in_use) {
  QUES;
  for (int i = 0; i < 3; i++) {
    auto t = q.in.AllocTensor<float>(); /* late */
    if (mended) q.in.FreeTensor(t);
  }
}
KERNEL(not_initialised) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  if (mended) pipe.InitBuffer(in, 1, 32);
  auto t = in.AllocTensor<float>(); /* late */
  in.FreeTensor(t);
}
KERNEL(left_queued) {
  QUES;
  q.out.EnQue(q.out.AllocTensor<float>()); /* late */
  if (mended) q.out.FreeTensor(q.out.DeQue<float>());
}
KERNEL(left_allocated) {
  QUES;
  auto t = q.out.AllocTensor<float>(); /* late */
  if (mended) q.out.FreeTensor(t);
}
KERNEL(no_buffers) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  pipe.InitBuffer(in, mended ? 1 : 0, 32); /* late */
}
KERNEL(many_buffers) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TBuf<TPosition::VECCALC> more;
  pipe.InitBuffer(in, 64, 32);
  if (!mended) pipe.InitBuffer(more, 32); /* late */
}
KERNEL(initialised_in_loop) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buf;
  for (int i = 0; i < 3; i++) {
    if (mended) pipe.Reset();
    pipe.InitBuffer(buf, 1024); /* early, late */
  }
}
KERNEL(pipes) {
  TPipe first; /* early */
  TBuf<TPosition::VECCALC> a;
  first.InitBuffer(a, 1024);
  if (mended) first.Reset();
  TPipe second; /* late */
}

/* ---- what instructions take ---- */

KERNEL(truncated) {
  FRAME;
  if (mended)
    DataCopyPad(f.A, f.x, {1, 13 * 4, 0, 0, 0}, {false, 0, 0, 0.0f});
  else
    DataCopy(f.A, f.x, 13); /* late */
}
KERNEL(many_rows) {
  FRAME;
  DataCopyPad(f.y, f.A, {(uint16_t)(mended ? 0 : 4096), 4, 0, 0, 0}); /* late */
}
KERNEL(negative) {
  FRAME;
  Duplicate(f.A, 1.0f, mended ? 0 : -1); /* late */
}
KERNEL(compare_part) { /* the rest of the mask stays what it was */
  FRAME;
  Duplicate(f.A, 1.0f, N);
  CompareScalar(f.B.ReinterpretCast<uint8_t>(), f.A, 0.0f, CMPMODE::GT, mended ? 64 : 70); /* late */
}
KERNEL(no_type) {
  FRAME;
  Duplicate(f.A, 1.0f, N);
  auto b = f.A.ReinterpretCast<bfloat16_t>();
  if (mended)
    Adds(f.A, f.A, 1.0f, 64);
  else
    Add(b, b, b, 64); /* late */
}
KERNEL(no_rounding) {
  FRAME;
  Duplicate(f.A, 1.0f, N);
  Cast(f.B.ReinterpretCast<bfloat16_t>(), f.A, mended ? RoundMode::CAST_RINT : RoundMode::CAST_ODD, 64); /* late */
}
KERNEL(coarse) {
  FRAME;
  Duplicate(f.A, 4.0f, N);
  Duplicate(f.B, 1.0f, N);
  if (mended)
    Div(f.C, f.B, f.A, N);
  else
    Reciprocal(f.C, f.A, N); /* late */
}
KERNEL(far_index) { /* indices of half results have 16 bits */
  TPipe pipe;
  TBuf<TPosition::VECCALC> a, b, c;
  constexpr int n = 65536 + 256;
  pipe.InitBuffer(a, n * 2);
  pipe.InitBuffer(b, 4096);
  pipe.InitBuffer(c, 32);
  auto src = a.Get<half>(), dst = c.Get<half>();
  Duplicate(src, (half)1.0f, n);
  src.SetValue(mended ? 300 : 65600, (half)2.0f);
  ReduceMax(dst, src, b.Get<half>(), n, true); /* late */
}
KERNEL(trapped) {
  if (!mended) Trap(); /* late */
}
KERNEL(asserted) {
  ASSERT(GetBlockNum() == (mended ? 1 : 2)); /* late */
}
KERNEL(pad_on_310) {
  FRAME;
  Duplicate(f.A, 1.0f, N);
  all();
  if (mended)
    DataCopy(f.y, f.A, N);
  else
    DataCopyPad(f.y, f.A, {1, N * 4, 0, 0, 0}); /* late */
}

#define ROW(fn, is_mended, suffix, fault, text, zeroed, chip310, system, nw, marked)                                 \
  {                                                                                                                  \
#fn suffix, fn < is_mended>, 1, 4, 4 * N, 4 * N, nw, fault, text, nullptr, nullptr, zeroed, chip310, system, ON, \
        marked                                                                                                       \
  }
static const sim_case table[] = {
    MPAIR(gm_past, 1, "gm-out-of-bounds", "elements 1016..1024 of x, which has 1024", 0, 0),
    MPAIR(gm_past_view, 1, "gm-out-of-bounds", "that SetGlobalBuffer gave 256 bytes", 0, 0),
    MPAIR(ub_past, 1, "ub-out-of-bounds", "bytes 992..1056 of a VECCALC buffer", 0, 0),
    MPAIR(gather_past, 1, "ub-out-of-bounds", "src (at offsets, which count bytes) reads", 0, 0),
    MPAIR(half_aligned, 1, "misaligned", "src starts at byte 16", 0, 0),
    MPAIR(overlapping, 1, "overlap", "dst", 0, 0),
    MPAIR(too_large, 1, "ub-overflow", "163840 of 196608 bytes are taken", 0, 0),
    MPAIR(reserved, 1, "ub-reserved", "last 8192 bytes", 0, 0),
    MPAIR(reserved_later, 1, "ub-reserved", "last 8192 bytes", 0, 0),
    MPAIR(to_input, 1, "write-to-input", "x", 0, 0),
    MPAIR(never_written_lanes, 1, "read-poison", "the first at byte 224", 0, 0),
    MPAIR(stale_slot, 1, "read-poison", "VECIN", 0, 0),
    MPAIR(twice, 1, "written-twice", "elements 56..63 of y", 0, 0),
    MPAIR(ub_pointer, 1, "raw-pointer", "32 bytes", 0, 0),
    ROW(gm_pointer, false, "", "raw-pointer", "1024 elements of y", 0, 0, 0, 16 * N, 0),
    ROW(gm_pointer, true, " mended", nullptr, nullptr, 0, 0, 0, 16 * N, 0),
    ROW(never_written, false, "", "never-written", "elements 768..1023 of y", 0, 0, 0, 16 * N, 0),
    ROW(never_written, true, " mended", nullptr, nullptr, 0, 0, 0, 16 * N, 0),
    ROW(half_of_each, false, "", "never-written", "written in part: of the 4 bytes of element 768, 0 1", 0, 0, 0,
        16 * N, 0),
    ROW(half_of_each, true, " mended", nullptr, nullptr, 0, 0, 0, 16 * N, 0),
    ROW(system_part, false, "", "system-workspace", "GetUserWorkspace", 1, 0, 512, 16 * N, 1),
    ROW(system_part, true, " mended", nullptr, nullptr, 1, 0, 512, 16 * N, 1),
    ROW(no_system_part, false, "", "no-system-workspace", "GetLibApiWorkSpaceSize", 1, 0, 512, 512, 1),
    ROW(no_system_part, true, " mended", nullptr, nullptr, 1, 0, 512, 1024, 1),
    MPAIR(never_allocated, 1, "no-tensor", "never allocated", 0, 0),
    MPAIR(freed, 1, "use-after-free", "was freed", 0, 0),
    MPAIR(queued, 1, "use-while-queued", "EnQue", 0, 0),
    MPAIR(freed_twice, 1, "double-free", "freed already", 0, 0),
    MPAIR(other_queue, 1, "foreign-tensor", "another queue", 0, 0),
    MPAIR(scratch_queued, 1, "foreign-tensor", "another queue or buffer", 0, 0),
    MPAIR(queued_twice, 1, "enqueued-twice", "enqueued already", 0, 0),
    MPAIR(too_deep, 1, "queue-full", "depth 1", 0, 0),
    MPAIR(nothing_queued, 1, "queue-empty", "waits for ever", 0, 0),
    MPAIR(all_in_use, 1, "queue-deadlock", "all 2 buffers", 0, 0),
    MPAIR(not_initialised, 1, "queue-not-initialised", "InitBuffer", 0, 0),
    MPAIR(left_queued, 1, "never-dequeued", "VECOUT", 0, 0),
    MPAIR(left_allocated, 1, "never-freed", "VECOUT", 0, 0),
    MPAIR(no_buffers, 1, "bad-buffer", "0 buffers", 0, 0),
    MPAIR(many_buffers, 1, "too-many-buffers", "has 64", 0, 0),
    MPAIR(initialised_in_loop, 1, "initialised-twice", "TPipe::Reset", 0, 0),
    MPAIR(pipes, 1, "two-pipes", "overlap", 0, 0),
    MPAIR(truncated, 1, "copy-truncated", "moves only 32", 0, 0),
    MPAIR(many_rows, 1, "field-limit", "blockCount is 4096", 0, 0),
    MPAIR(negative, 1, "bad-count", "-1 elements", 0, 0),
    MPAIR(compare_part, 1, "count-not-256", "(64 elements)", 0, 0),
    MPAIR(no_type, 1, "no-such-dtype", "bfloat16_t", 0, 0),
    MPAIR(no_rounding, 1, "no-such-cast", "CAST_ODD", 0, 0),
    MPAIR(coarse, 1, "low-precision", "Div are exact", 0, 0),
    MPAIR(far_index, 1, "index-limit", "65600", 0, 0),
    MPAIR(trapped, 1, "trap", "", 0, 0),
    MPAIR(asserted, 1, "assert", "", 0, 0),
    ROW(pad_on_310, false, "", "not-on-chip", "DataCopyPad", 1, 1, 0, 16 * N, 1),
    ROW(pad_on_310, true, " mended", nullptr, nullptr, 1, 1, 0, 16 * N, 1),
};
SIM_CASES(table);

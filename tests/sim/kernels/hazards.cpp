/* Pairs of kernels: one that leaves an access unordered, and the same one mended. The first must be reported with the two lines
 * that are marked early and late, whatever the values; the second must be silent. */
#include "pairs.h"

/* ---- between two pipes ---- */

KERNEL(mte2_v) {
  FRAME;
  DataCopy(f.A, f.x, N); /* early */
  order<HardEvent::MTE2_V>(mended);
  Adds(f.B, f.A, 1.0f, N); /* late */
}
KERNEL(mte2_v_waw) {
  FRAME;
  DataCopy(f.A, f.x, N); /* early */
  order<HardEvent::MTE2_V>(mended);
  Duplicate(f.A, 1.0f, N); /* late */
}
KERNEL(v_mte3) {
  FRAME;
  Duplicate(f.A, 1.0f, N); /* early */
  order<HardEvent::V_MTE3>(mended);
  DataCopy(f.y, f.A, N); /* late */
}
KERNEL(v_mte2_war) {
  FRAME;
  DataCopy(f.A, f.x, N);
  order<HardEvent::MTE2_V>(true);
  Adds(f.B, f.A, 1.0f, N); /* early */
  order<HardEvent::V_MTE2>(mended);
  DataCopy(f.A, f.x, N); /* late */
}
KERNEL(v_mte2_waw) {
  FRAME;
  Duplicate(f.A, 0.0f, N); /* early: the pad value of a tail, say */
  order<HardEvent::V_MTE2>(mended);
  DataCopyPad(f.A, f.x, {1, 40, 0, 0, 0}, {false, 0, 0, 0.0f}); /* late */
}
KERNEL(mte3_v_war) {
  FRAME;
  Duplicate(f.A, 1.0f, N);
  order<HardEvent::V_MTE3>(true);
  DataCopy(f.y, f.A, N); /* early */
  order<HardEvent::MTE3_V>(mended);
  Duplicate(f.A, 2.0f, N); /* late */
}
KERNEL(mte2_mte3) {
  FRAME;
  DataCopy(f.A, f.x, N); /* early */
  order<HardEvent::MTE2_MTE3>(mended);
  DataCopy(f.y, f.A, N); /* late */
}
KERNEL(mte3_mte2_war) {
  FRAME;
  DataCopy(f.A, f.x, N);
  order<HardEvent::MTE2_MTE3>(true);
  DataCopy(f.y, f.A, N); /* early */
  order<HardEvent::MTE3_MTE2>(mended);
  DataCopy(f.A, f.x, N); /* late */
}
KERNEL(local_copy) { /* from UB to UB the vector unit copies */
  FRAME;
  Duplicate(f.A, 1.0f, N);
  DataCopy(f.B, f.A, N); /* early */
  order<HardEvent::V_MTE3>(mended);
  DataCopy(f.y, f.B, N); /* late */
}
KERNEL(gather_table) {
  FRAME;
  auto table = f.B.ReinterpretCast<uint32_t>();
  GlobalTensor<uint32_t> ids;
  ids.SetGlobalBuffer((__gm__ uint32_t *)gx, N);
  Duplicate(f.A, 1.0f, N);
  DataCopy(table, ids, N); /* early */
  order<HardEvent::MTE2_V>(mended);
  Gather(f.C, f.A, table, 0u, 64); /* late */
}
KERNEL(work_tensor) { /* scratch of a reduction that is still being stored */
  FRAME;
  Duplicate(f.A, 1.0f, N);
  order<HardEvent::V_MTE3>(true);
  DataCopy(f.y, f.A, N); /* early */
  order<HardEvent::MTE3_V>(mended);
  Duplicate(f.B, 1.0f, N);
  ReduceMax(f.C, f.B, f.A, N); /* late */
}
KERNEL(other_type) { /* the bytes count, not the tensor */
  FRAME;
  auto half_view = f.A.ReinterpretCast<half>();
  Duplicate(half_view, (half)1.0f, 2 * N); /* early */
  order<HardEvent::V_MTE3>(mended);
  DataCopy(f.y, f.A, N); /* late */
}
KERNEL(rows) { /* a row is loaded while the vector unit works on another: right, unless they share bytes */
  FRAME;
  DataCopy(f.A, f.x, 64);
  order<HardEvent::MTE2_V>(true);
  Adds(f.B, f.A, 1.0f, 64);                     /* early */
  DataCopy(f.A[mended ? 64 : 56], f.x[64], 64); /* late */
}
KERNEL(repeat_blocks) { /* every other block of a repeat: the bytes between them are free */
  FRAME;
  Duplicate(f.A, 1.0f, N);
  PipeBarrier<PIPE_ALL>();
  DataCopy(f.A[mended ? 8 : 16], f.x, 8);               /* early */
  Adds(f.B, f.A, 1.0f, (uint64_t)64, 1, {1, 2, 8, 16}); /* late */
}

/* ---- flags and barriers that are there, and wrong ---- */

KERNEL(wrong_direction) {
  FRAME;
  DataCopy(f.A, f.x, N); /* early */
  if (mended)
    order<HardEvent::MTE2_V>(true);
  else
    order<HardEvent::V_MTE2>(true);
  Adds(f.B, f.A, 1.0f, N); /* late */
}
KERNEL(set_too_early) {
  FRAME;
  if (!mended) SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  DataCopy(f.A, f.x, N); /* early */
  if (mended) SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  Adds(f.B, f.A, 1.0f, N); /* late */
}
KERNEL(wait_too_late) {
  FRAME;
  DataCopy(f.A, f.x, N); /* early */
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  if (mended) WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  Adds(f.B, f.A, 1.0f, N); /* late */
  if (!mended) WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
}
KERNEL(wrong_barrier) {
  FRAME;
  DataCopy(f.A, f.x, N); /* early */
  if (mended)
    PipeBarrier<PIPE_ALL>();
  else
    PipeBarrier<PIPE_V>();
  Adds(f.B, f.A, 1.0f, N); /* late */
}
KERNEL(barrier_in_branch) { /* on the path without the branch nothing orders */
  FRAME;
  int n = mended ? 1 : 0;
  DataCopy(f.A, f.x, N); /* early */
  if (n > 0) PipeBarrier<PIPE_ALL>();
  Adds(f.B, f.A, 1.0f, N); /* late */
}
KERNEL(through_scalar) { /* the store is issued after the scalar unit has waited for the vector unit */
  FRAME;
  Duplicate(f.A, 1.0f, N); /* early */
  order<HardEvent::V_S>(mended);
  DataCopy(f.y, f.A, N); /* late */
}
KERNEL(through_vector) { /* MTE2 to V, V to MTE3: that orders MTE2 and MTE3, if the set follows the wait */
  FRAME;
  DataCopy(f.A, f.x, N); /* early */
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  if (!mended) SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  if (mended) SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(f.y, f.A, N); /* late */
}
KERNEL(flag_loop) { /* set in a loop, waited for once */
  FRAME;
  for (int i = 0; i < 3; i++) {
    Duplicate(f.A, 1.0f, N);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    if (mended) WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  }
  if (!mended) WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
}
KERNEL(flag_never_set) {
  FRAME;
  if (mended) SetFlag<HardEvent::V_S>(EVENT_ID3);
  WaitFlag<HardEvent::V_S>(EVENT_ID3);
}
KERNEL(flag_other_id) { /* the wait is for another id */
  FRAME;
  SetFlag<HardEvent::V_S>(EVENT_ID1);
  WaitFlag<HardEvent::V_S>(mended ? EVENT_ID1 : EVENT_ID2);
  if (!mended) WaitFlag<HardEvent::V_S>(EVENT_ID1);
}

/* ---- loops ---- */

KERNEL(loop_carried) { /* one trip is right; the next load overwrites what the vector unit reads */
  FRAME;
  for (int i = 0; i < 4; i++) {
    DataCopy(f.A, f.x[i * N], N); /* late */
    order<HardEvent::MTE2_V>(true);
    Adds(f.B, f.A, 1.0f, N); /* early */
    order<HardEvent::V_MTE2>(mended);
  }
}
KERNEL(stored_in_loop) {
  FRAME;
  for (int i = 0; i < 4; i++) {
    Duplicate(f.A, 1.0f, N); /* late */
    order<HardEvent::V_MTE3>(true);
    DataCopy(f.y[i * N], f.A, N); /* early */
    order<HardEvent::MTE3_V>(mended);
  }
}
KERNEL(ping_pong) { /* two buffers, and only the first is guarded */
  FRAME;
  LocalTensor<float> slot[2] = {f.A, f.B};
  for (int i = 0; i < 4; i++) {
    int k = i & 1;
    bool guarded = mended || k == 0;
    if (i >= 2 && guarded) WaitFlag<HardEvent::V_MTE2>(k);
    DataCopy(slot[k], f.x[i * N], N); /* late */
    order<HardEvent::MTE2_V>(true, k);
    Adds(f.C, slot[k], 1.0f, N); /* early */
    if (i < 2 && guarded) SetFlag<HardEvent::V_MTE2>(k);
  }
}
KERNEL(one_event_for_two) { /* the wait is one trip too old: it belongs to the other buffer */
  FRAME;
  LocalTensor<float> slot[2] = {f.A, f.B};
  for (int i = 0; i < 4; i++) {
    DataCopy(slot[i & 1], f.x[i * N], N); /* early */
    SetFlag<HardEvent::MTE2_V>(i & 1);
    if (!mended && i > 0) WaitFlag<HardEvent::MTE2_V>((i - 1) & 1);
    if (mended) WaitFlag<HardEvent::MTE2_V>(i & 1);
    Adds(f.C, slot[i & 1], 1.0f, N); /* late */
    order<HardEvent::V_MTE2>(true);
  }
  if (!mended) WaitFlag<HardEvent::MTE2_V>(1);
}

/* ---- queues ---- */

KERNEL(no_deque) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  FRAME_GM;
  pipe.InitBuffer(in, 1, N * 4);
  auto t = in.AllocTensor<float>();
  DataCopy(t, x, N); /* early */
  if (mended) {
    in.EnQue(t);
    t = in.DeQue<float>();
  }
  Adds(t, t, 1.0f, N); /* late */
  in.FreeTensor(t);
}
KERNEL(vecin_stored) { /* a VECIN queue orders MTE2 before V, and nobody else */
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> bind;
  FRAME_GM;
  pipe.InitBuffer(in, 1, N * 4);
  pipe.InitBuffer(bind, 1, N * 4);
  auto t = mended ? bind.AllocTensor<float>() : in.AllocTensor<float>();
  DataCopy(t, x, N); /* early */
  if (mended)
    bind.EnQue(t);
  else
    in.EnQue(t);
  t = mended ? bind.DeQue<float>() : in.DeQue<float>();
  DataCopy(y, t, N); /* late */
  if (mended)
    bind.FreeTensor(t);
  else
    in.FreeTensor(t);
}
KERNEL(vecout_loaded) { /* a VECOUT queue orders V before MTE3 */
  TPipe pipe;
  TQue<TPosition::VECOUT, 1> out;
  FRAME_GM;
  pipe.InitBuffer(out, 1, N * 4);
  auto t = out.AllocTensor<float>();
  DataCopy(t, x, N); /* early */
  order<HardEvent::MTE2_V>(mended);
  out.EnQue(t);
  t = out.DeQue<float>();
  DataCopy(y, t, N); /* late */
  out.FreeTensor(t);
}
KERNEL(freed_while_stored) { /* FreeTensor of a VECIN queue waits for the vector unit only */
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  FRAME_GM;
  pipe.InitBuffer(in, 1, N * 4);
  for (int i = 0; i < 2; i++) {
    auto t = in.AllocTensor<float>();
    DataCopy(t, x, N); /* late */
    in.EnQue(t);
    t = in.DeQue<float>();
    order<HardEvent::MTE2_MTE3>(true);
    DataCopy(y[i * N], t, N); /* early */
    order<HardEvent::MTE3_MTE2>(mended);
    in.FreeTensor(t);
  }
}
KERNEL(used_after_store) { /* the output tensor is computed again before it is given back */
  TPipe pipe;
  TQue<TPosition::VECOUT, 1> out;
  FRAME_GM;
  pipe.InitBuffer(out, 2, N * 4);
  auto t = out.AllocTensor<float>();
  Duplicate(t, 1.0f, N);
  out.EnQue(t);
  t = out.DeQue<float>();
  DataCopy(y, t, N); /* early */
  if (mended) {
    out.FreeTensor(t);
    t = out.AllocTensor<float>();
  }
  Duplicate(t, 2.0f, N); /* late */
  out.FreeTensor(t);
}
KERNEL(
    bind_computes) { /* TQueBind<VECIN, VECOUT> orders MTE2 and MTE3 by itself; EnQue<GM, VECIN> lets V in between */
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> q;
  FRAME_GM;
  pipe.InitBuffer(q, 1, N * 4);
  auto t = q.AllocTensor<float>();
  DataCopy(t, x, N); /* early */
  if (mended) {
    q.EnQue<TPosition::GM, TPosition::VECIN, float>(t);
    t = q.DeQue<TPosition::GM, TPosition::VECIN, float>();
  } else {
    q.EnQue(t);
    t = q.DeQue<float>();
  }
  Adds(t, t, 1.0f, N); /* late */
  q.EnQue<TPosition::VECOUT, TPosition::GM, float>(t);
  t = q.DeQue<TPosition::VECOUT, TPosition::GM, float>();
  DataCopy(y, t, N);
  q.FreeTensor(t);
}
KERNEL(other_event) { /* EnQue sets one event, DeQue waits for another */
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> q;
  FRAME_GM;
  pipe.InitBuffer(q, 1, N * 4);
  auto t = q.AllocTensor<float>();
  DataCopy(t, x, N);
  q.EnQue<TPosition::GM, TPosition::VECIN, float>(t);
  t = mended ? q.DeQue<TPosition::GM, TPosition::VECIN, float>() : q.DeQue<float>();
  q.FreeTensor(t);
}
KERNEL(old_view) { /* a second view of the slot that is not in the queue's hands */
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  FRAME_GM;
  pipe.InitBuffer(in, 2, N * 4);
  pipe.InitBuffer(out, 1, N * 4);
  auto p = in.AllocTensor<float>(), q = in.AllocTensor<float>();
  DataCopy(p, x, N);
  in.EnQue(p);
  p = in.DeQue<float>();
  DataCopy(q, x[N], N); /* early */
  if (mended) {
    in.EnQue(q);
    q = in.DeQue<float>();
  }
  auto o = out.AllocTensor<float>();
  Add(o, p, q, N); /* late */
  in.FreeTensor(p);
  in.FreeTensor(q);
  out.FreeTensor(o);
}
KERNEL(reset_in_flight) { /* the buffers after Reset lie where a store still reads */
  TPipe pipe;
  TBuf<TPosition::VECCALC> one, two;
  FRAME_GM;
  pipe.InitBuffer(one, N * 4);
  auto t = one.Get<float>();
  Duplicate(t, 1.0f, N);
  order<HardEvent::V_MTE3>(true);
  DataCopy(y, t, N); /* early */
  if (mended) PipeBarrier<PIPE_ALL>();
  pipe.Reset();
  pipe.InitBuffer(two, N * 4);
  t = two.Get<float>();
  Duplicate(t, 2.0f, N); /* late */
}

/* ---- one pipe ---- */

KERNEL(mte2_twice) {
  FRAME;
  DataCopy(f.A, f.x, N); /* early */
  if (mended) PipeBarrier<PIPE_MTE2>();
  DataCopy(f.A[64], f.x[N], 64); /* late */
}
KERNEL(mte3_twice) {
  FRAME;
  Duplicate(f.A, 1.0f, N);
  order<HardEvent::V_MTE3>(true);
  DataCopy(f.w, f.A, N); /* early */
  if (mended) PipeBarrier<PIPE_MTE3>();
  DataCopy(f.w[N - 8], f.A, N); /* late: the tail moved back */
}
KERNEL(store_then_atomic) {
  FRAME;
  Duplicate(f.A, 1.0f, N);
  order<HardEvent::V_MTE3>(true);
  DataCopy(f.w, f.A, N); /* early */
  if (mended) PipeBarrier<PIPE_MTE3>();
  SetAtomicAdd<float>();
  DataCopy(f.w, f.A, N); /* late */
  DataCopy(f.w, f.A, N); /* atomic after atomic needs no order */
  SetAtomicNone();
}
KERNEL(atomic_kinds) { /* a sum and a maximum of the same bytes do not commute */
  FRAME;
  Duplicate(f.A, 1.0f, N);
  order<HardEvent::V_MTE3>(true);
  SetAtomicAdd<float>();
  DataCopy(f.y, f.A, 64);
  DataCopy(f.y, f.A, 64); /* early */
  if (mended) PipeBarrier<PIPE_MTE3>();
  SetAtomicMax<float>();
  DataCopy(f.y, f.A, 64); /* late */
  DataCopy(f.y[64], f.A, 64);
  SetAtomicNone();
}
KERNEL(atomic_types) {
  FRAME;
  Duplicate(f.A, 1.0f, N);
  order<HardEvent::V_MTE3>(true);
  GlobalTensor<int32_t> bits;
  bits.SetGlobalBuffer((__gm__ int32_t *)gy, 64);
  SetAtomicAdd<float>();
  DataCopy(f.y, f.A, 64); /* early */
  if (mended) PipeBarrier<PIPE_MTE3>();
  SetAtomicAdd<int32_t>();
  DataCopy(bits, f.A.ReinterpretCast<int32_t>(), 64); /* late */
  SetAtomicNone();
}
KERNEL(vector_raw) { /* without the compiler's own barriers */
  FRAME;
  Duplicate(f.A, 1.0f, N); /* early */
  if (mended) PipeBarrier<PIPE_V>();
  Adds(f.B, f.A, 1.0f, N); /* late */
}
KERNEL(vector_waw) {
  FRAME;
  Duplicate(f.A, 1.0f, N); /* early */
  if (mended) PipeBarrier<PIPE_V>();
  Duplicate(f.A[64], 2.0f, 64); /* late */
}

/* ---- the scalar unit, without the compiler's own flags ---- */

KERNEL(v_s) {
  FRAME;
  Duplicate(f.A, 1.0f, N); /* early */
  order<HardEvent::V_S>(mended);
  f.A.GetValue(3); /* late */
}
KERNEL(v_s_waw) {
  FRAME;
  Duplicate(f.A, 1.0f, N); /* early */
  order<HardEvent::V_S>(mended);
  f.A.SetValue(3, 2.0f); /* late */
}
KERNEL(s_v) {
  FRAME;
  for (int i = 0; i < 8; i++) f.A.SetValue(i, 1.0f); /* early */
  order<HardEvent::S_V>(mended);
  Adds(f.B, f.A, 1.0f, 8); /* late */
}
KERNEL(s_v_war) {
  FRAME;
  Duplicate(f.A, 1.0f, N);
  order<HardEvent::V_S>(true);
  f.A.GetValue(3); /* early */
  order<HardEvent::S_V>(mended);
  Duplicate(f.A, 2.0f, N); /* late */
}
KERNEL(s_mte3) {
  FRAME;
  for (int i = 0; i < 8; i++) f.A.SetValue(i, 1.0f); /* early */
  order<HardEvent::S_MTE3>(mended);
  DataCopy(f.y, f.A, 8); /* late */
}
KERNEL(mte3_s_war) {
  FRAME;
  Duplicate(f.A, 1.0f, N);
  order<HardEvent::V_MTE3>(true);
  DataCopy(f.y, f.A, N); /* early */
  order<HardEvent::MTE3_S>(mended);
  f.A.SetValue(0, 2.0f); /* late */
}
KERNEL(mte2_s) {
  FRAME;
  DataCopy(f.A, f.x, N); /* early */
  order<HardEvent::MTE2_S>(mended);
  f.A.GetValue(3); /* late */
}
KERNEL(s_mte2_waw) {
  FRAME;
  f.A.SetValue(3, 1.0f); /* early */
  order<HardEvent::S_MTE2>(mended);
  DataCopy(f.A, f.x, N); /* late */
}
KERNEL(deque_then_scalar) { /* the queue made the vector unit wait, not the scalar unit */
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  FRAME_GM;
  pipe.InitBuffer(in, 1, N * 4);
  auto t = in.AllocTensor<float>();
  DataCopy(t, x, N); /* early */
  in.EnQue(t);
  t = in.DeQue<float>();
  order<HardEvent::V_S>(mended);
  t.GetValue(3); /* late */
  in.FreeTensor(t);
}
KERNEL(gm_mte3_s) {
  FRAME;
  Duplicate(f.A, 1.0f, N);
  order<HardEvent::V_MTE3>(true);
  DataCopy(f.w, f.A, N); /* early */
  order<HardEvent::MTE3_S>(mended);
  f.w.GetValue(3); /* late */
}

/* ---- global memory ---- */

KERNEL(gm_raw) {
  FRAME;
  Duplicate(f.A, 1.0f, N);
  order<HardEvent::V_MTE3>(true);
  DataCopy(f.w, f.A, N); /* early */
  order<HardEvent::MTE3_MTE2>(mended);
  DataCopy(f.B, f.w, N); /* late */
}
KERNEL(gm_war) {
  FRAME;
  Duplicate(f.A, 1.0f, N);
  order<HardEvent::V_MTE3>(true);
  DataCopy(f.w, f.A, N);
  order<HardEvent::MTE3_MTE2>(true);
  DataCopy(f.B, f.w, N); /* early */
  order<HardEvent::MTE2_MTE3>(mended);
  DataCopy(f.w, f.A, N); /* late */
}
KERNEL(gm_rows) { /* rows that are stored, and a column that is read back: one row is met */
  FRAME;
  Duplicate(f.A, 1.0f, N);
  order<HardEvent::V_MTE3>(true);
  DataCopy(f.w, f.A, N);
  order<HardEvent::MTE3_MTE2>(true);
  DataCopy(f.w[N], f.A, {4, 2, 0, 2}); /* early: 4 rows of 16 floats, 32 apart */
  order<HardEvent::MTE3_MTE2>(false);
  DataCopy(f.B, mended ? f.w[N - 16] : f.w[N + 32], 8); /* late */
}
KERNEL(gm_scalar) { /* GlobalTensor::SetValue is not among what the compiler orders */
  FRAME;
  for (int i = 0; i < 8; i++) f.w.SetValue(i, 1.0f); /* early */
  DataCacheCleanAndInvalid(f.w);
  order<HardEvent::S_MTE2>(mended);
  DataCopy(f.A, f.w, 8); /* late */
}

/* ---- blocks ---- */

KERNEL(blocks_raw) { /* each reads what its neighbour stores */
  FRAME;
  int64_t me = GetBlockIdx(), next = (me + 1) % GetBlockNum();
  Duplicate(f.A, 1.0f, 64);
  order<HardEvent::V_MTE3>(true);
  DataCopy(f.y[64 * me], f.A, 64); /* early */
  if (mended)
    SyncAll();
  else
    PipeBarrier<PIPE_ALL>();
  DataCopy(f.B, f.y[64 * next], 64); /* late */
}
KERNEL(blocks_sums) { /* each reads what all store, itself too: an event would order its own only */
  FRAME;
  Duplicate(f.A, 1.0f, 8);
  order<HardEvent::V_MTE3>(true);
  DataCopy(f.y[8 * GetBlockIdx()], f.A, 8); /* early */
  if (mended) SyncAll();
  DataCopy(f.B, f.y, 8 * (int)GetBlockNum()); /* late */
}
KERNEL(blocks_second_sync) { /* the sums are read, and the next round's stored: a second SyncAll is needed */
  FRAME;
  int64_t me = GetBlockIdx();
  Duplicate(f.A, 1.0f, 8);
  order<HardEvent::V_MTE3>(true);
  DataCopy(f.w[8 * me], f.A, 8);
  SyncAll();
  DataCopy(f.B, f.w, 8 * (int)GetBlockNum()); /* late */
  if (mended)
    SyncAll();
  else
    order<HardEvent::MTE2_MTE3>(true);
  DataCopy(f.w[8 * me], f.A, 8); /* early */
}
KERNEL(blocks_waw) {
  FRAME;
  Duplicate(f.A, 1.0f, N);
  order<HardEvent::V_MTE3>(true);
  DataCopy(mended ? f.w[64 * GetBlockIdx()] : f.w, f.A, 64); /* early, late */
}
KERNEL(blocks_tail) { /* a store rounded up to 32 bytes runs into the next block's part */
  FRAME;
  Duplicate(f.A, 1.0f, N);
  order<HardEvent::V_MTE3>(true);
  if (mended)
    DataCopyPad(f.w[13 * GetBlockIdx()], f.A, {1, 13 * 4, 0, 0, 0});
  else
    DataCopy(f.w[13 * GetBlockIdx()], f.A, 16); /* early, late */
}
KERNEL(blocks_columns) { /* columns of one matrix, 4 blocks of 8: the faulty ones are 9 wide */
  FRAME;
  Duplicate(f.A, 1.0f, N);
  order<HardEvent::V_MTE3>(true);
  DataCopyPad(f.w[8 * GetBlockIdx()], f.A, {8, mended ? 32u : 36u, 0, mended ? 96u : 92u, 0}); /* early, late */
}
KERNEL(blocks_line) { /* two cores store scalars into one 64-byte line: each writes the whole line back */
  FRAME;
  f.y.SetValue(GetBlockIdx() * (mended ? 16 : 1), 1.0f); /* early, late */
}
KERNEL(blocks_atomic) { /* atomic adds of all blocks need no order; whoever reads the sum does */
  FRAME;
  Duplicate(f.A, 1.0f, N);
  order<HardEvent::V_MTE3>(true);
  SetAtomicAdd<float>();
  DataCopy(f.y, f.A, 64); /* early */
  SetAtomicNone();
  PipeBarrier<PIPE_ALL>();
  if (mended) SyncAll();
  DataCopy(f.B, f.y, 64); /* late */
}
KERNEL(blocks_atomic_kinds) {
  FRAME;
  Duplicate(f.A, 1.0f, N);
  order<HardEvent::V_MTE3>(true);
  if (mended || GetBlockIdx() % 2)
    SetAtomicAdd<float>();
  else
    SetAtomicMax<float>();
  DataCopy(f.y, f.A, 64); /* early, late */
  SetAtomicNone();
}
KERNEL(blocks_atomic_types) {
  FRAME;
  Duplicate(f.A, 1.0f, N);
  order<HardEvent::V_MTE3>(true);
  GlobalTensor<int32_t> bits;
  bits.SetGlobalBuffer((__gm__ int32_t *)gy, 64);
  if (GetBlockIdx() == 1) {
    SetAtomicMin<int32_t>();
    DataCopy(bits, f.A.ReinterpretCast<int32_t>(), 64); /* early, late */
  }
  if (mended) SyncAll();
  if (GetBlockIdx() != 1) {
    SetAtomicMin<float>();
    DataCopy(f.y, f.A, 64); /* early, late */
  }
  SetAtomicNone();
}

static const sim_case table[] = {
    PAIR(mte2_v, 1, RAW, "the event MTE2_V", ON),
    PAIR(mte2_v_waw, 1, WAW, "the event MTE2_V", ON),
    PAIR(v_mte3, 1, RAW, "the event V_MTE3", ON),
    PAIR(v_mte2_war, 1, WAR, "the event V_MTE2", ON),
    PAIR(v_mte2_waw, 1, WAW, "the event V_MTE2", ON),
    PAIR(mte3_v_war, 1, WAR, "the event MTE3_V", ON),
    PAIR(mte2_mte3, 1, RAW, "the event MTE2_MTE3", ON),
    PAIR(mte3_mte2_war, 1, WAR, "the event MTE3_MTE2", ON),
    PAIR(local_copy, 1, RAW, "the event V_MTE3", ON),
    PAIR(gather_table, 1, RAW, "the event MTE2_V", ON),
    PAIR(work_tensor, 1, WAR, "the event MTE3_V", ON),
    PAIR(other_type, 1, RAW, "bytes 0..1024 of the VECCALC buffer", ON),
    PAIR(rows, 1, WAR, "bytes 224..256", ON),
    PAIR(repeat_blocks, 1, RAW, "bytes 64..96", ON),
    PAIR(wrong_direction, 1, RAW, "the event MTE2_V", ON),
    PAIR(set_too_early, 1, RAW, "the event MTE2_V", ON),
    PAIR(wait_too_late, 1, RAW, "the event MTE2_V", ON),
    PAIR(wrong_barrier, 1, RAW, "the event MTE2_V", ON),
    PAIR(barrier_in_branch, 1, RAW, "the event MTE2_V", ON),
    PAIR(through_scalar, 1, RAW, "the event V_MTE3", ON),
    PAIR(through_vector, 1, RAW, "the event MTE2_MTE3", ON),
    PAIR(flag_loop, 1, "flag-set-twice", "V_MTE3", ON),
    PAIR(flag_never_set, 1, "flag-not-set", "V_S", ON),
    PAIR(flag_other_id, 1, "flag-not-set", "V_S>(2)", ON),
    PAIR(loop_carried, 1, WAR, "the event V_MTE2", ON),
    PAIR(stored_in_loop, 1, WAR, "the event MTE3_V", ON),
    PAIR(ping_pong, 1, WAR, "the event V_MTE2", ON),
    PAIR(one_event_for_two, 1, RAW, "the event MTE2_V", ON),
    PAIR(no_deque, 1, RAW, "the event MTE2_V", ON),
    PAIR(vecin_stored, 1, RAW, "the event MTE2_MTE3", ON),
    PAIR(vecout_loaded, 1, RAW, "the event MTE2_MTE3", ON),
    PAIR(freed_while_stored, 1, WAR, "the event MTE3_MTE2", ON),
    PAIR(used_after_store, 1, WAR, "the event MTE3_V", ON),
    PAIR(bind_computes, 1, RAW, "the event MTE2_V", ON),
    PAIR(other_event, 1, "event-mismatch", "waits for MTE2_MTE3", ON),
    PAIR(old_view, 1, RAW, "the event MTE2_V", ON),
    PAIR(reset_in_flight, 1, WAR, "the event MTE3_V", ON),
    PAIR(mte2_twice, 1, WAW, "PipeBarrier<PIPE_MTE2>", ON),
    PAIR(mte3_twice, 1, WAW, "PipeBarrier<PIPE_MTE3>", ON),
    PAIR(store_then_atomic, 1, WAW, "PipeBarrier<PIPE_MTE3>", ON),
    PAIR(vector_raw, 1, RAW, "PipeBarrier<PIPE_V>", STRICT),
    PAIR(vector_waw, 1, WAW, "PipeBarrier<PIPE_V>", STRICT),
    PAIR(v_s, 1, RAW, "the event V_S", STRICT),
    PAIR(v_s_waw, 1, WAW, "the event V_S", STRICT),
    PAIR(s_v, 1, RAW, "the event S_V", STRICT),
    PAIR(s_v_war, 1, WAR, "the event S_V", STRICT),
    PAIR(s_mte3, 1, RAW, "the event S_MTE3", STRICT),
    PAIR(mte3_s_war, 1, WAR, "the event MTE3_S", STRICT),
    PAIR(mte2_s, 1, RAW, "the event MTE2_S", STRICT),
    PAIR(s_mte2_waw, 1, WAW, "the event S_MTE2", STRICT),
    PAIR(deque_then_scalar, 1, RAW, "the event MTE2_S", STRICT),
    PAIR(gm_mte3_s, 1, RAW, "the event MTE3_S", STRICT),
    PAIR(gm_raw, 1, RAW, "the event MTE3_MTE2", ON),
    PAIR(gm_war, 1, WAR, "the event MTE2_MTE3", ON),
    PAIR(gm_rows, 1, RAW, "elements 1152..1183 of workspace", ON),
    PAIR(gm_scalar, 1, RAW, "the event S_MTE2", ON),
    PAIR(blocks_raw, 4, RAW, "no SyncAll is between them", ON),
    PAIR(blocks_sums, 4, RAW, "in block 1 writes at", ON),
    PAIR(blocks_second_sync, 4, RAW, "of workspace", ON),
    PAIR(blocks_waw, 4, WAW, "in block 0", ON),
    PAIR(blocks_tail, 4, WAW, "of workspace", ON),
    PAIR(blocks_columns, 4, WAW, "of workspace", ON),
    PAIR(blocks_line, 4, WAW, "64-byte cache line of elements 0..15 of y", ON),
    PAIR(blocks_atomic, 4, RAW, "adds to at", ON),
    PAIR(atomic_kinds, 1, WAW, "by another atomic operation or type", ON),
    PAIR(atomic_types, 1, WAW, "by another atomic operation or type", ON),
    PAIR(blocks_atomic_kinds, 4, WAW, "takes the maximum of at", ON),
    PAIR(blocks_atomic_types, 4, WAW, "of one operation and type need no order", ON),
    /* the compiler's own flags and barriers, which are on by default */
    ONE(vector_raw, false, " by default", 1, nullptr, nullptr, ON),
    ONE(v_s, false, " by default", 1, nullptr, nullptr, ON),
    ONE(s_v_war, false, " by default", 1, nullptr, nullptr, ON),
    ONE(s_mte3, false, " by default", 1, nullptr, nullptr, ON),
    ONE(deque_then_scalar, false, " by default", 1, nullptr, nullptr, ON),
    ONE(gm_mte3_s, false, " by default", 1, nullptr, nullptr, ON),
};
SIM_CASES(table);

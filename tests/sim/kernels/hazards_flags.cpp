/* Pairs of kernels: flags, event ids, pipes that wait for each other. */
#include "pairs.h"

static void all() {
  PipeBarrier<PIPE_ALL>();
}

/* ---- a wait that the program has before its set ---- */

KERNEL(wait_first) { /* V waits for MTE2, which the program starts later: right, unless MTE2 waits for V in turn */
  FRAME;
  Duplicate(f.A, 5.0f, N);
  all();
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0); /* late */
  Adds(f.B, f.A, 1.0f, N);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID1);
  SetFlag<HardEvent::V_MTE2>(EVENT_ID2);               /* early */
  if (!mended) WaitFlag<HardEvent::V_MTE2>(EVENT_ID2); /* early */
  DataCopy(f.A, f.x, N);
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0); /* early */
  if (mended) WaitFlag<HardEvent::V_MTE2>(EVENT_ID2);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID1);
  DataCopy(f.y, f.B, N);
}
static void fill(void *p, int64_t n) {
  for (int64_t i = 0; i < n; i++) static_cast<float *>(p)[i] = static_cast<float>(i % 97);
}
static int64_t one_more(const void *x,
                        const void *y) { /* the vector unit worked on what was loaded after it was told to wait */
  for (int i = 0; i < N; i++)
    if (static_cast<const float *>(y)[i] != static_cast<const float *>(x)[i] + 1) return i;
  return -1;
}
KERNEL(scalar_waits) { /* the scalar unit waits for V, V for a load that the scalar unit would have to start */
  FRAME;
  Duplicate(f.A, 5.0f, N);
  all();
  if (mended) SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0); /* early */
  Adds(f.B, f.A, 1.0f, N);
  SetFlag<HardEvent::V_S>(EVENT_ID0);  /* early */
  WaitFlag<HardEvent::V_S>(EVENT_ID0); /* late */
  if (!mended) SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
}
KERNEL(three_pipes) { /* V for MTE2, MTE2 for MTE3, MTE3 for V */
  FRAME;
  Duplicate(f.A, 5.0f, N);
  all();
  if (mended) SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);             /* late */
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);              /* early */
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);             /* early */
  SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);           /* early */
  WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);          /* early */
  if (!mended) SetFlag<HardEvent::MTE2_V>(EVENT_ID0); /* early */
}
KERNEL(never_set) {
  FRAME;
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0); /* late */
  if (mended) SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
}
KERNEL(not_kept) { /* an instruction that answers at once cannot wait */
  FRAME;
  Duplicate(f.A, 5.0f, N);
  Duplicate(f.B, 0.0f, N);
  all();
  uint64_t n = 0;
  if (mended) SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0); /* late */
  GatherMask(f.C, f.A, 1, false, 0, {1, 4, 8, 8}, n);
  if (!mended) SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
}

/* ---- event ids ---- */

KERNEL(id_of_a_queue) { /* EnQue has set MTE2_V with id 0 */
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TBuf<TPosition::VECCALC> buf;
  FRAME_GM;
  pipe.InitBuffer(in, 1, N * 4);
  pipe.InitBuffer(buf, N * 4);
  auto t = in.AllocTensor<float>();
  auto u = buf.Get<float>();
  DataCopy(t, x, N);
  in.EnQue(t); /* early */
  TEventID id = mended ? pipe.AllocEventID<HardEvent::MTE2_V>() : static_cast<TEventID>(EVENT_ID0);
  DataCopy(u, x, N);
  SetFlag<HardEvent::MTE2_V>(id); /* late */
  WaitFlag<HardEvent::MTE2_V>(id);
  if (mended) pipe.ReleaseEventID<HardEvent::MTE2_V>(id);
  Adds(u, u, 1.0f, N);
  t = in.DeQue<float>();
  in.FreeTensor(t);
}
KERNEL(id_of_a_freed_tensor) { /* the flag of FreeTensor waits for the next AllocTensor */
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  FRAME_GM;
  pipe.InitBuffer(in, 1, N * 4);
  auto t = in.AllocTensor<float>();
  in.FreeTensor(t); /* early */
  TEventID id = mended ? pipe.FetchEventID<HardEvent::V_MTE2>() : static_cast<TEventID>(EVENT_ID0);
  SetFlag<HardEvent::V_MTE2>(id); /* late */
  WaitFlag<HardEvent::V_MTE2>(id);
}
KERNEL(high_id) {
  SetFlag<HardEvent::V_S>(mended ? EVENT_ID5 : EVENT_ID6); /* late */
  WaitFlag<HardEvent::V_S>(mended ? EVENT_ID5 : EVENT_ID6);
}
KERNEL(id_too_high) {
  if (!mended) SetFlag<HardEvent::V_S>(8); /* late */
}
KERNEL(fetched_twice) { /* FetchEventID reserves nothing: both have the same id */
  TPipe pipe;
  TEventID a = mended ? pipe.AllocEventID<HardEvent::V_S>() : pipe.FetchEventID<HardEvent::V_S>();
  TEventID b = mended ? pipe.AllocEventID<HardEvent::V_S>() : pipe.FetchEventID<HardEvent::V_S>();
  SetFlag<HardEvent::V_S>(a); /* early */
  SetFlag<HardEvent::V_S>(b); /* late */
  WaitFlag<HardEvent::V_S>(a);
  if (mended) WaitFlag<HardEvent::V_S>(b);
  if (mended) pipe.ReleaseEventID<HardEvent::V_S>(a);
  if (mended) pipe.ReleaseEventID<HardEvent::V_S>(b);
}
KERNEL(ids_gone) {
  TPipe pipe;
  for (int i = 0; i < 9; i++) {
    TEventID id = pipe.AllocEventID<HardEvent::V_S>(); /* late */
    if (mended || i == 8) pipe.ReleaseEventID<HardEvent::V_S>(id);
  }
  for (int i = 1; i < 8 && !mended; i++) pipe.ReleaseEventID<HardEvent::V_S>(static_cast<TEventID>(i));
}
KERNEL(id_never_released) {
  TPipe pipe;
  TEventID id = pipe.AllocEventID<HardEvent::V_S>(); /* late */
  if (mended) pipe.ReleaseEventID<HardEvent::V_S>(id);
}
KERNEL(id_released_twice) {
  TPipe pipe;
  TEventID id = pipe.AllocEventID<HardEvent::V_S>();
  pipe.ReleaseEventID<HardEvent::V_S>(id);
  if (!mended) pipe.ReleaseEventID<HardEvent::V_S>(id); /* late */
}
KERNEL(left_set) {
  SetFlag<HardEvent::V_S>(EVENT_ID0); /* late */
  if (mended) WaitFlag<HardEvent::V_S>(EVENT_ID0);
}
KERNEL(scalar_barrier) {
  if (mended)
    PipeBarrier<PIPE_V>();
  else
    PipeBarrier<PIPE_S>(); /* late */
}

static const sim_case table[] = {
    MARKED(wait_first, false, "", 1, "deadlock", "PIPE_V waits at", 0, 0),
    {"wait_first mended", wait_first<true>, 1, 4, 4 * N, 4 * N, 16 * N, nullptr, nullptr, fill, one_more, 1, 0, 0,
     ON},
    MPAIR(scalar_waits, 1, "deadlock", "which nothing has set before", 0, 0),
    MPAIR(three_pipes, 1, "deadlock", "PIPE_MTE3 waits at", 0, 0),
    MPAIR(never_set, 1, "flag-not-set", "MTE2_V>(0)", 0, 0),
    MPAIR(not_kept, 1, "flag-not-set", "MTE2_V>(0)", 0, 0),
    MPAIR(id_of_a_queue, 1, "event-id-clash", "AllocEventID", 0, 0),
    MPAIR(id_of_a_freed_tensor, 1, "event-id-clash", "V_MTE2>(0)", 0, 0),
    MPAIR(high_id, 1, "event-id-reserved", "V_S>(6)", 0, 0),
    MPAIR(id_too_high, 1, "bad-event", "ids are 0..7", 0, 0),
    MPAIR(fetched_twice, 1, "flag-set-twice", "V_S>(0)", 0, 0),
    MPAIR(ids_gone, 1, "event-ids-exhausted", "AllocEventID", 0, 0),
    MPAIR(id_never_released, 1, "event-never-released", "V_S", 0, 0),
    MPAIR(id_released_twice, 1, "event-not-held", "V_S", 0, 0),
    MPAIR(left_set, 1, "flag-left-set", "V_S, id 0", 0, 0),
    MPAIR(scalar_barrier, 1, "bad-barrier", "PIPE_S", 0, 0),
};
SIM_CASES(table);

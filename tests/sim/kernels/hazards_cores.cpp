/* Pairs of kernels whose blocks wait for each other: flags between cores, IBSet and IBWait, SyncAll through memory, blocks in turn. The
 * places that a report names are marked. */
#include "pairs.h"

static int me() {
  return static_cast<int>(GetBlockIdx());
}
/* Something is there already, so that a read that comes too early is no more than that. */
static void prepare(Bufs &f) {
  Duplicate(f.A, 0.0f, N);
  order<HardEvent::V_MTE3>(true);
  DataCopy(f.w[64 * me()], f.A, 64);
  SyncAll();
  Duplicate(f.A, 1.0f, N);
  order<HardEvent::V_MTE3>(true);
}
/* Each core stores its part, and another one reads it. */
#define STORE DataCopy(f.w[64 * me()], f.A, 64)

KERNEL(cross0) {
  FRAME;
  prepare(f);
  STORE; /* early */
  if (mended) {
    CrossCoreSetFlag<0, PIPE_MTE3>(0);
    CrossCoreWaitFlag(0);
  }
  DataCopy(f.B, f.w[64 * (me() ^ 1)], 64); /* late */
}
KERNEL(cross0_wrong_pipe) { /* the flag says that the vector unit is through; the store is not */
  FRAME;
  prepare(f);
  STORE; /* early */
  CrossCoreSetFlag<0, mended ? PIPE_MTE3 : PIPE_V>(0);
  CrossCoreWaitFlag(0);
  DataCopy(f.B, f.w[64 * (me() ^ 1)], 64); /* late */
}
KERNEL(cross0_too_early) { /* set before the store */
  FRAME;
  prepare(f);
  if (!mended) CrossCoreSetFlag<0, PIPE_MTE3>(0);
  STORE; /* early */
  if (mended) CrossCoreSetFlag<0, PIPE_MTE3>(0);
  CrossCoreWaitFlag(0);
  DataCopy(f.B, f.w[64 * (me() ^ 1)], 64); /* late */
}
KERNEL(cross0_second_round) { /* the next round's stores meet the reads of this one */
  FRAME;
  prepare(f);
  for (int i = 0; i < 3; i++) {
    STORE; /* early */
    CrossCoreSetFlag<0, PIPE_MTE3>(1);
    CrossCoreWaitFlag(1);
    DataCopy(f.B, f.w[64 * (me() ^ 1)], 64); /* late */
    PipeBarrier<PIPE_ALL>();
    if (mended) {
      CrossCoreSetFlag<0, PIPE_MTE2>(2);
      CrossCoreWaitFlag(2);
    }
  }
}
KERNEL(cross1) { /* the two vector cores of one AI core; the others are not in it */
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  FRAME;
  prepare(f);
  STORE; /* early */
  CrossCoreSetFlag<1, PIPE_MTE3>(0);
  CrossCoreWaitFlag(0);
  DataCopy(f.B, f.w[64 * (mended ? me() ^ 1 : me() ^ 2)], 64); /* late */
}
KERNEL(cross1_type) {
  KERNEL_TASK_TYPE_DEFAULT(mended ? KERNEL_TYPE_MIX_AIC_1_2 : KERNEL_TYPE_MIX_AIV_1_0);
  CrossCoreSetFlag<1, PIPE_MTE3>(0); /* late */
  if (mended) CrossCoreWaitFlag(0);
}
KERNEL(own_pipes) { /* the wait for all holds up this core's own pipes, too */
  FRAME;
  DataCopy(f.A, f.x, N); /* early */
  if (mended) {
    CrossCoreSetFlag<0, PIPE_MTE2>(3);
    CrossCoreWaitFlag(3);
  }
  Adds(f.B, f.A, 1.0f, N); /* late */
}

/* ---- waiting for ever ---- */

KERNEL(cross_one_missing) {
  if (mended || me() != 2) {
    CrossCoreSetFlag<0, PIPE_MTE3>(0);
    CrossCoreWaitFlag(0); /* late */
  }
}
KERNEL(cross_wait_first) {
  if (mended) CrossCoreSetFlag<0, PIPE_V>(0);
  CrossCoreWaitFlag(0); /* late */
}
KERNEL(cross_cycle) {                  /* 0 is in SyncAll, the others wait for its flag */
  if (me() == 0 && !mended) SyncAll(); /* late */
  CrossCoreSetFlag<0, PIPE_MTE3>(0);
  CrossCoreWaitFlag(0); /* early */
  if (me() != 0 || mended) SyncAll();
}
KERNEL(ib_cycle) { /* 0 waits for 1, and 1 for 0 */
  FRAME;
  GlobalTensor<int32_t> flags;
  flags.SetGlobalBuffer((__gm__ int32_t *)gy, 64);
  auto ub = f.A.ReinterpretCast<int32_t>();
  if (me() == 0) {
    if (mended) IBSet(flags, ub, 0, 0);
    IBWait(flags, ub, 1, 0); /* late */
    if (!mended) IBSet(flags, ub, 0, 0);
  } else {
    IBWait(flags, ub, 0, 0); /* early */
    IBSet(flags, ub, 1, 0);
  }
}
KERNEL(ib_other_event) {
  FRAME;
  GlobalTensor<int32_t> flags;
  flags.SetGlobalBuffer((__gm__ int32_t *)gy, 64);
  auto ub = f.A.ReinterpretCast<int32_t>();
  if (me() == 0)
    IBSet(flags, ub, 0, 1);
  else
    IBWait(flags, ub, 0, mended ? 1 : 0); /* late */
}
KERNEL(sync_cubes) { /* a vector kernel has none */
  SyncAll<mended>(); /* late */
}
KERNEL(sync_mixed) { /* here there are */
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  SyncAll<false>();
}
KERNEL(sync_ended) {                  /* a block ends without it */
  if (mended || me() != 1) SyncAll(); /* late */
}
KERNEL(soft_cores) { /* three cores are to meet, and only two come */
  FRAME;
  GlobalTensor<int32_t> flags;
  flags.SetGlobalBuffer((__gm__ int32_t *)gy, 64);
  if (me() < 2) SyncAll(flags, f.A.ReinterpretCast<int32_t>(), mended ? 2 : 3); /* late */
}
KERNEL(notify_alone) {
  FRAME;
  GlobalTensor<int32_t> flags;
  flags.SetGlobalBuffer((__gm__ int32_t *)gw, 64);
  auto ub = f.A.ReinterpretCast<int32_t>();
  InitDetermineComputeWorkspace(flags, ub);
  if (mended || me() != 1) WaitPreBlock(flags, ub);
  NotifyNextBlock(flags, ub); /* late */
}
KERNEL(too_many_flags) {
  for (int i = 0; i < 32; i++) {
    CrossCoreSetFlag<0, PIPE_V>(0); /* late */
    if (mended) CrossCoreWaitFlag(0);
  }
  for (int i = 0; i < 15 && !mended; i++) CrossCoreWaitFlag(0);
}
KERNEL(too_wide) { /* 25 blocks of two vector cores are more than there are */
  KERNEL_TASK_TYPE_DEFAULT(mended ? KERNEL_TYPE_MIX_AIV_1_0 : KERNEL_TYPE_MIX_AIC_1_2);
  SyncAll(); /* late */
}

/* ---- order through memory ---- */

KERNEL(ib_order) {
  FRAME;
  prepare(f);
  GlobalTensor<int32_t> flags;
  flags.SetGlobalBuffer((__gm__ int32_t *)gy, 64);
  auto ub = f.C.ReinterpretCast<int32_t>();
  if (me() == 0) {
    STORE; /* early */
    IBSet(flags, ub, 0, 0);
  } else {
    if (mended) IBWait(flags, ub, 0, 0);
    DataCopy(f.B, f.w, 64); /* late */
  }
}
KERNEL(soft_order) {
  FRAME;
  prepare(f);
  GlobalTensor<int32_t> flags;
  flags.SetGlobalBuffer((__gm__ int32_t *)gy, 64);
  auto ub = f.C.ReinterpretCast<int32_t>();
  STORE; /* early */
  if (mended || me() < 2) SyncAll(flags, ub, mended ? 0 : 2);
  DataCopy(f.B, f.w[64 * (me() ^ 3)], 64); /* late */
}
KERNEL(soft_not_zero) { /* the workspace must be zero before */
  FRAME;
  GlobalTensor<int32_t> flags;
  flags.SetGlobalBuffer((__gm__ int32_t *)gw, 64);
  auto ub = f.C.ReinterpretCast<int32_t>();
  if (mended) InitOutput<int32_t>(flags, 32, 0);
  SyncAll(flags, ub); /* late */
}
KERNEL(ib_not_zero) {
  FRAME;
  GlobalTensor<int32_t> flags;
  flags.SetGlobalBuffer((__gm__ int32_t *)gw, 64);
  auto ub = f.C.ReinterpretCast<int32_t>();
  InitOutput<int32_t>(flags, 64, mended ? 0 : 1);
  IBSet(flags, ub, 0, 0); /* late */
}
KERNEL(in_turn) {
  FRAME;
  GlobalTensor<int32_t> flags;
  flags.SetGlobalBuffer((__gm__ int32_t *)gw, 64);
  auto ub = f.C.ReinterpretCast<int32_t>();
  InitDetermineComputeWorkspace(flags, ub);
  for (int i = 0; i < 2; i++) {
    Duplicate(f.A, 1.0f, N);
    order<HardEvent::V_MTE3>(true);
    if (mended) WaitPreBlock(flags, ub);
    DataCopy(f.w[64], f.A, 64); /* early, late */
    if (mended) NotifyNextBlock(flags, ub);
    PipeBarrier<PIPE_ALL>();
  }
}

/* ---- what a kernel must be for it ---- */

KERNEL(vector_only) {
  KERNEL_TASK_TYPE_DEFAULT(mended ? KERNEL_TYPE_MIX_AIV_1_0 : KERNEL_TYPE_AIV_ONLY);
  SyncAll(); /* late */
}
KERNEL(reserved_flag) {
  CrossCoreSetFlag<0, PIPE_MTE3>(mended ? 8 : 11); /* late */
  CrossCoreWaitFlag(mended ? 8 : 11);              /* late */
}
KERNEL(flag_of_all_pipes) {
  CrossCoreSetFlag<0, mended ? PIPE_MTE3 : PIPE_ALL>(0); /* late */
  CrossCoreWaitFlag(0);
}
KERNEL(flag_of_four_bits) {                        /* set as 17, which is 1 for whoever waits */
  CrossCoreSetFlag<0, PIPE_MTE3>(mended ? 1 : 17); /* late */
  CrossCoreWaitFlag(1);
}
KERNEL(no_schedule) {
  SyncAll(); /* late */
}
KERNEL(cube_partner) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
  if (!mended) CrossCoreSetFlag<2, PIPE_MTE3>(0); /* late */
}
KERNEL(mode4) {
  if (!mended) CrossCoreSetFlag<4, PIPE_MTE3>(0); /* late */
}
KERNEL(sub_blocks) { /* two vector cores to a block */
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  ASSERT(GetBlockNum() == 2 && GetSubBlockNum() == 2 && GetTaskRation() == 2 && GetBlockIdx() < 4);
  ASSERT(GetSubBlockIdx() == GetBlockIdx() % 2);
  if ASCEND_IS_AIC
    Trap();
  if (!mended) Trap(); /* late */
}
KERNEL(joint_core) { /* a 310P has no cores for vectors alone, and no flags between cores */
  FRAME;
  GlobalTensor<int32_t> flags;
  flags.SetGlobalBuffer((__gm__ int32_t *)gy, 64);
  if (mended)
    SyncAll(flags, f.A.ReinterpretCast<int32_t>());
  else
    SyncAll(); /* late */
}

#define RAW "hazard-raw"
#define WAW "hazard-waw"
#define P310(fn, is_mended, suffix, fault, text) \
  { #fn suffix, fn < is_mended>, 4, 4, 4 * N, 4 * N, 16 * N, fault, text, nullptr, nullptr, 1, 1, 0, ON, 1, 0, 0 }
static const sim_case table[] = {
    MPAIR(cross0, 4, RAW, "no SyncAll is between them", 0, 0),
    MPAIR(cross0_wrong_pipe, 4, RAW, "nor do the flags between the cores", 0, 0),
    MPAIR(cross0_too_early, 4, RAW, "nor do the flags", 0, 0),
    MPAIR(cross0_second_round, 4, RAW, "nor do the flags", 0, 0),
    MPAIR(cross1, 2, RAW, "nor do the flags", 4, 0),
    MARKED(cross1_type, false, "", 2, "kernel-type", "KERNEL_TYPE_MIX_AIC_1_1 or _1_2", 2, 0),
    MARKED(cross1_type, true, " mended", 2, nullptr, nullptr, 4, 0),
    MPAIR(own_pipes, 2, RAW, "the event MTE2_V", 0, 0),
    MPAIR(cross_one_missing, 4, "deadlock", "block 0 waits in CrossCoreWaitFlag at ", 0, 0),
    MPAIR(cross_wait_first, 2, "deadlock", "not set by this core before", 0, 0),
    MPAIR(cross_cycle, 4, "deadlock", "for block 1; block 1 waits in CrossCoreWaitFlag at", 0, 0),
    MPAIR(ib_cycle, 2, "deadlock", "block 0 waits in IBWait at", 0, 0),
    MPAIR(ib_other_event, 2, "deadlock", "block 1 waits in IBWait", 0, 0),
    MPAIR(sync_ended, 4, "sync-mismatch", "1 blocks that ended without it", 0, 0),
    MPAIR(sync_cubes, 4, "deadlock", "SyncAll() is the barrier", 0, 0),
    MARKED(sync_mixed, true, "", 2, nullptr, nullptr, 4, 0),
    MPAIR(soft_cores, 4, "deadlock", "for block 2, which has ended", 0, 0),
    MPAIR(notify_alone, 4, "turn-not-taken", "WaitPreBlock", 0, 0),
    MPAIR(too_many_flags, 1, "flag-overflow", "15 times", 0, 0),
    MARKED(too_wide, false, "", 25, "sync-too-many-blocks", "50 blocks", 50, 0),
    MARKED(too_wide, true, " mended", 25, nullptr, nullptr, 0, 0),
    MPAIR(ib_order, 2, RAW, "nor do the flags", 0, 0),
    MPAIR(soft_order, 4, RAW, "", 0, 0),
    MPAIR(soft_not_zero, 4, "read-poison", "SyncAll with workspaces", 0, 0),
    MPAIR(ib_not_zero, 1, "sync-workspace", "must be zero", 0, 0),
    MPAIR(in_turn, 4, WAW, "", 0, 0),
    MPAIR(vector_only, 4, "kernel-type", "KERNEL_TYPE_MIX_AIV_1_0", 0, 0),
    MPAIR(reserved_flag, 2, "cross-flag-reserved", "SyncAll uses 11 to 14", 0, 0),
    MPAIR(flag_of_all_pipes, 2, "bad-event", "PIPE_ALL", 0, 0),
    MPAIR(flag_of_four_bits, 2, "bad-event", "it is flag 1", 0, 0),
    MARKED(no_schedule, false, "", 2, "schedule-mode", "SetScheduleMode(1)", 0, 1),
    MARKED(no_schedule, true, " mended", 2, nullptr, nullptr, 0, 2),
    MPAIR(cube_partner, 2, "not-modelled", "mode 2", 0, 0),
    MPAIR(mode4, 2, "not-on-chip", "mode 4", 0, 0),
    MPAIR(sub_blocks, 2, "trap", "", 4, 0),
    P310(joint_core, false, "", "not-on-chip", "with workspaces"),
    P310(joint_core, true, " mended", nullptr, nullptr),
};
SIM_CASES(table);

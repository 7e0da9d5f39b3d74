/* Pairs of kernels: the scalar unit's data cache against the copies and against other cores. */
#include "pairs.h"

static int me() {
  return static_cast<int>(GetBlockIdx());
}
static void clean(const GlobalTensor<float> &g, bool on = true) {
  if (on) DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(g);
}
static void all() {
  PipeBarrier<PIPE_ALL>();
}
/* w is written, and nobody caches it. */
static void prepare(Bufs &f) {
  Duplicate(f.A, 0.0f, N);
  all();
  if (me() == 0) DataCopy(f.w, f.A, N);
  SyncAll();
}

KERNEL(not_cleaned) {
  FRAME;
  for (int i = 0; i < 8; i++) f.w.SetValue(i, 1.0f); /* early */
  clean(f.w, mended);
  all();
  DataCopy(f.A, f.w, 8); /* late */
}
KERNEL(cleaned_in_part) { /* the call works from its address to the end of the line */
  FRAME;
  for (int i = 0; i < 16; i++) f.w.SetValue(i, 1.0f); /* early */
  clean(f.w[mended ? 0 : 8]);
  all();
  DataCopy(f.A, f.w, 16); /* late */
}
KERNEL(cleaned_whole) { /* two lines, and one is cleaned */
  FRAME;
  for (int i = 0; i < 32; i++) f.w.SetValue(i, 1.0f); /* early */
  if (mended)
    DataCacheCleanAndInvalid<float, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(f.w);
  else
    clean(f.w);
  all();
  DataCopy(f.A, f.w, 32); /* late */
}
KERNEL(stale) { /* read, stored by MTE3, read again */
  FRAME;
  prepare(f);
  float a = f.w.GetValue(0); /* early */
  Duplicate(f.A, a + 1.0f, N);
  all();
  DataCopy(f.w, f.A, 8); /* early */
  all();
  clean(f.w, mended);
  f.A.SetValue(0, f.w.GetValue(3)); /* late */
}
KERNEL(stale_line_written) { /* a line that is old is changed, and goes back with its old part */
  FRAME;
  prepare(f);
  f.A.SetValue(0, f.w.GetValue(0));
  all();
  DataCopy(f.w, f.A, 8); /* early */
  all();
  clean(f.w, mended);
  f.w.SetValue(12, 2.0f); /* late */
}
KERNEL(lost) { /* a store beside what the scalar unit has written, in the same line */
  FRAME;
  Duplicate(f.A, 1.0f, N);
  all();
  f.w.SetValue(0, 2.0f); /* early */
  clean(f.w, mended);
  all();
  DataCopy(f.w[8], f.A, 8); /* late */
}
KERNEL(stale_block) { /* block 1 stores; block 0 has read before */
  FRAME;
  prepare(f);
  if (me() == 0) f.A.SetValue(0, f.w.GetValue(16)); /* early */
  SyncAll();
  if (me() == 1) DataCopy(f.w[16], f.A, 8); /* early */
  SyncAll();
  if (me() == 0) clean(f.w[16], mended);
  if (me() == 0) f.A.SetValue(0, f.w.GetValue(17)); /* late */
}
KERNEL(stale_flag) { /* the same by a flag between the cores */
  FRAME;
  prepare(f);
  if (me() == 0) f.A.SetValue(0, f.w.GetValue(16)); /* early */
  SyncAll();
  if (me() == 1) DataCopy(f.w[16], f.A, 8); /* early */
  CrossCoreSetFlag<0, PIPE_MTE3>(0);
  CrossCoreWaitFlag(0);
  if (me() == 0) clean(f.w[16], mended);
  if (me() == 0) f.A.SetValue(0, f.w.GetValue(17)); /* late */
}
KERNEL(not_cleaned_block) {
  FRAME;
  prepare(f);
  if (me() == 0) f.w.SetValue(5, 1.0f); /* early */
  clean(f.w, mended);
  SyncAll();
  if (me() == 1) DataCopy(f.A, f.w, 8); /* late */
}
KERNEL(not_cleaned_long_ago) { /* one SyncAll more does not bring it out */
  FRAME;
  prepare(f);
  if (me() == 0) f.w.SetValue(5, 1.0f); /* early */
  SyncAll();
  if (me() == 0) clean(f.w, mended);
  SyncAll();
  if (me() == 1) f.A.SetValue(0, f.w.GetValue(5)); /* late */
}
KERNEL(not_cleaned_flag) {
  FRAME;
  prepare(f);
  if (me() == 0) f.w.SetValue(5, 1.0f); /* early */
  clean(f.w, mended);
  order<HardEvent::S_MTE3>(true);
  CrossCoreSetFlag<0, PIPE_MTE3>(0);
  CrossCoreWaitFlag(0);
  if (me() == 1) DataCopy(f.A, f.w, 8); /* late */
}
KERNEL(lost_block) { /* another core stores into the line before it is written back */
  FRAME;
  prepare(f);
  if (me() == 0) f.w.SetValue(0, 1.0f); /* early */
  clean(f.w, mended);
  SyncAll();
  if (me() == 1) DataCopy(f.w[8], f.A, 8); /* late */
}
KERNEL(lost_scalar) { /* first one core, then the other, each a word of the line */
  FRAME;
  prepare(f);
  if (me() == 0) f.w.SetValue(0, 1.0f); /* early */
  clean(f.w, mended);
  SyncAll();
  if (me() == 1) f.w.SetValue(1, 1.0f); /* late */
}
KERNEL(past_the_cache) { /* each core a word of one line: past the cache that is right */
  FRAME;
  if (mended)
    WriteGmByPassDCache<uint32_t>((__gm__ uint32_t *)gy + me(), 1u);
  else
    f.y.SetValue(me(), 1.0f); /* early, late */
}

static const sim_case table[] = {
    MPAIR(not_cleaned, 1, "cache-not-cleaned", "elements 0..31 of workspace", 0, 0),
    MPAIR(cleaned_in_part, 1, "cache-not-cleaned", "elements 0..31 of workspace", 0, 0),
    MPAIR(cleaned_whole, 1, "cache-not-cleaned", "elements 64..127 of workspace", 0, 0),
    MPAIR(stale, 1, "cache-stale", "elements 12..15 of workspace", 0, 0),
    MPAIR(stale_line_written, 1, "cache-lost", "DataCopy at", 0, 0),
    MPAIR(lost, 1, "cache-lost", "SetValue at", 0, 0),
    MPAIR(stale_block, 4, "cache-stale", "DataCopy in block 1", 0, 0),
    MPAIR(stale_flag, 4, "cache-stale", "DataCopy in block 1", 0, 0),
    MPAIR(not_cleaned_block, 4, "cache-not-cleaned", "block 0 has a newer state", 0, 0),
    MPAIR(not_cleaned_long_ago, 4, "cache-not-cleaned", "before the blocks meet", 0, 0),
    MPAIR(not_cleaned_flag, 4, "cache-not-cleaned", "before the blocks meet", 0, 0),
    MPAIR(lost_block, 4, "cache-lost", "writes back whole", 0, 0),
    MPAIR(lost_scalar, 4, "cache-lost", "writes back whole", 0, 0),
    MPAIR(past_the_cache, 4, "hazard-waw", "64-byte cache line", 0, 0),
};
SIM_CASES(table);

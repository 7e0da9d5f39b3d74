/* Kernel side, part 8: synchronisation between cores. */
#ifndef ACSIM_KERNEL_SYNC_H
#define ACSIM_KERNEL_SYNC_H

#include "acsim/kernel_more.h"

namespace AscendC {
template <uint8_t modeId, pipe_t pipe> void CrossCoreSetFlag(uint16_t flagId, ACSIM_AT) {
  acsim_cross_set(modeId, pipe, flagId, file, line);
}
template <uint8_t modeId = 0, pipe_t pipe = PIPE_S> void CrossCoreWaitFlag(uint16_t flagId, ACSIM_AT) {
  acsim_cross_wait(modeId, pipe, flagId, file, line);
}

/* The software form: a word a core in global memory. */
template <bool isAIVOnly = true>
void SyncAll(const GlobalTensor<int32_t> &gmWorkspace, const LocalTensor<int32_t> &ubWorkspace,
             const int32_t usedCores = 0, ACSIM_AT) {
  acsim_sync_soft(&gmWorkspace.view_, &ubWorkspace.view_, usedCores, file, line);
}

/* An event has a row for each core; MIX kernels count two to a block (docs/zh, IBSet). */
template <bool isAIVOnly = true>
void IBSet(const GlobalTensor<int32_t> &gmWorkspace, const LocalTensor<int32_t> &ubWorkspace, int32_t blockIdx,
           int32_t eventID, ACSIM_AT) {
  int32_t cores = static_cast<int32_t>(acsim_block_count()) * (isAIVOnly ? 1 : 2);
  acsim_ib(1, &gmWorkspace.view_, &ubWorkspace.view_, blockIdx, eventID, cores, file, line);
}
template <bool isAIVOnly = true>
void IBWait(const GlobalTensor<int32_t> &gmWorkspace, const LocalTensor<int32_t> &ubWorkspace, int32_t blockIdx,
            int32_t eventID, ACSIM_AT) {
  int32_t cores = static_cast<int32_t>(acsim_block_count()) * (isAIVOnly ? 1 : 2);
  acsim_ib(0, &gmWorkspace.view_, &ubWorkspace.view_, blockIdx, eventID, cores, file, line);
}

inline void InitDetermineComputeWorkspace(GlobalTensor<int32_t> &gmWorkspace, LocalTensor<int32_t> &ubWorkspace,
                                          ACSIM_AT) {
  acsim_turn(0, &gmWorkspace.view_, &ubWorkspace.view_, file, line);
}
inline void WaitPreBlock(GlobalTensor<int32_t> &gmWorkspace, LocalTensor<int32_t> &ubWorkspace, ACSIM_AT) {
  acsim_turn(1, &gmWorkspace.view_, &ubWorkspace.view_, file, line);
}
inline void NotifyNextBlock(GlobalTensor<int32_t> &gmWorkspace, LocalTensor<int32_t> &ubWorkspace, ACSIM_AT) {
  acsim_turn(2, &gmWorkspace.view_, &ubWorkspace.view_, file, line);
}
} // namespace AscendC
#endif

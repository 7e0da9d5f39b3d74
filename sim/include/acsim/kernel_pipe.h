/* Kernel side, part 3: TPipe, TQue, TQueBind, TBuf; flags, barriers, the block's own numbers. */
#ifndef ACSIM_KERNEL_PIPE_H
#define ACSIM_KERNEL_PIPE_H

#include "acsim/kernel_tensor.h"

namespace AscendC {
/* Options of a queue: a mask, or a pointer to a TQueConfig. Only on-chip formats depend on them. */
template <TPosition src, TPosition dst, int32_t depth, auto mask = 0> class TQueBind {
public:
  TQueBind() {}
  template <typename T> LocalTensor<T> AllocTensor(ACSIM_AT) {
    LocalTensor<T> t;
    acsim_queue_alloc(id_, &t.view_, file, line);
    return t;
  }
  template <typename T> void AllocTensor(LocalTensor<T> &t, ACSIM_AT) {
    acsim_queue_alloc(id_, &t.view_, file, line);
  }
  template <typename T> void FreeTensor(const LocalTensor<T> &t, ACSIM_AT) {
    acsim_queue_free(id_, &t.view_, file, line);
  }
  template <typename T> bool EnQue(const LocalTensor<T> &t, ACSIM_AT) {
    acsim_queue_push(id_, &t.view_, file, line);
    return true;
  }
  template <TPosition from, TPosition to, typename T> bool EnQue(const LocalTensor<T> &t, ACSIM_AT) {
    acsim_queue_push_as(id_, &t.view_, static_cast<int32_t>(from), static_cast<int32_t>(to), file, line);
    return true;
  }
  template <typename T> LocalTensor<T> DeQue(ACSIM_AT) {
    LocalTensor<T> t;
    acsim_queue_pop(id_, &t.view_, file, line);
    return t;
  }
  template <typename T> void DeQue(LocalTensor<T> &t, ACSIM_AT) { acsim_queue_pop(id_, &t.view_, file, line); }
  template <TPosition from, TPosition to, typename T> LocalTensor<T> DeQue(ACSIM_AT) {
    LocalTensor<T> t;
    acsim_queue_pop_as(id_, &t.view_, static_cast<int32_t>(from), static_cast<int32_t>(to), file, line);
    return t;
  }
  TBufHandle AllocBuffer(ACSIM_AT) {
    TBufHandle t;
    acsim_queue_alloc(id_, &t.view_, file, line);
    return t;
  }
  bool EnQue(TBufHandle t, ACSIM_AT) {
    acsim_queue_push(id_, &t.view_, file, line);
    return true;
  }
  TBufHandle DeQue(ACSIM_AT) {
    TBufHandle t;
    acsim_queue_pop(id_, &t.view_, file, line);
    return t;
  }
  void FreeBuffer(TBufHandle t, ACSIM_AT) { acsim_queue_free(id_, &t.view_, file, line); }
  TBuffAddr GetBufferAddr(TBufHandle t) { return {t.view_.len, t.view_.addr, t, static_cast<uint8_t>(t.view_.pos)}; }
  bool VacantInQue() { return acsim_queue_vacant(id_) != 0; }
  bool HasTensorInQue() { return acsim_queue_count(id_) != 0; }
  int32_t GetTensorCountInQue() { return acsim_queue_count(id_); }
  bool HasIdleBuffer() { return acsim_queue_idle(id_) != 0; }
  void FreeAllEvent() {}
  /* For pools of the kernel's own (EXTERN_IMPL_BUFPOOL). */
  void InitStartBufHandle(TBufHandle, uint8_t num, uint32_t len, ACSIM_AT) {
    id_ = acsim_queue_shell(static_cast<int32_t>(src), static_cast<int32_t>(dst), depth, 0, num, len, file, line);
  }
  template <typename P>
  void InitBufHandle(P *bufPool, uint32_t index, TBufHandle, uint32_t curPoolAddr, uint32_t len, ACSIM_AT) {
    acsim_queue_place(id_, index, &bufPool->pool_, curPoolAddr, len, file, line);
  }

  void acsim_init(void *pipe, uint32_t num, uint32_t bytes, const char *file, int32_t line) {
    acsim_queue_again(id_, file, line);
    id_ = acsim_queue_init(pipe, static_cast<int32_t>(src), static_cast<int32_t>(dst), depth, num, bytes, file, line);
  }

protected:
  uint16_t id_ = 0;
};

template <TPosition pos, int32_t depth, auto mask = 0> class TQue : public TQueBind<pos, pos, depth, mask> {};
template <TPosition pos, int32_t depth = 1, auto mask = 0> using TSCM = TQueBind<pos, TPosition::TSCM, depth, mask>;

template <TPosition pos = TPosition::LCM> class TBuf {
public:
  /* Not const char *: Get<T>(0) means a length of 0. */
  struct place {
    place(const char *n) : name(n) {}
    const char *name;
  };
  template <typename T> LocalTensor<T> Get(place file = __builtin_FILE(), int32_t line = __builtin_LINE()) {
    LocalTensor<T> t;
    acsim_tbuf_get(id_, 0, 0, &t.view_, file.name, line);
    return t;
  }
  template <typename T> LocalTensor<T> Get(uint32_t len, ACSIM_AT) { return GetWithOffset<T>(len, 0, file, line); }
  /* size in elements, the offset in bytes */
  template <typename T> LocalTensor<T> GetWithOffset(uint32_t size, uint32_t bufOffset, ACSIM_AT) {
    LocalTensor<T> t;
    acsim_tbuf_get(id_, bufOffset, size * static_cast<uint32_t>(sizeof(T)), &t.view_, file, line);
    return t;
  }
  /* A TBuf has one tensor, which nothing has to give back: these exist because the real one is a queue underneath. */
  template <typename T> LocalTensor<T> AllocTensor(ACSIM_AT) { return Get<T>(file, line); }
  template <typename T> void FreeTensor(const LocalTensor<T> &) {}

  void InitStartBufHandle(TBufHandle, uint8_t num, uint32_t len, ACSIM_AT) {
    id_ = acsim_queue_shell(static_cast<int32_t>(pos), static_cast<int32_t>(pos), 0, 1, num, len, file, line);
  }
  template <typename P>
  void InitBufHandle(P *bufPool, uint32_t index, TBufHandle, uint32_t curPoolAddr, uint32_t len, ACSIM_AT) {
    acsim_queue_place(id_, index, &bufPool->pool_, curPoolAddr, len, file, line);
  }

  void acsim_init(void *pipe, uint32_t bytes, const char *file, int32_t line) {
    acsim_queue_again(id_, file, line);
    id_ = acsim_tbuf_init(pipe, static_cast<int32_t>(pos), bytes, file, line);
  }

private:
  uint16_t id_ = 0;
};

class TPipe {
public:
  TPipe(ACSIM_AT) { acsim_pipe_open(this, file, line); }
  ~TPipe() { acsim_pipe_close(this); }
  TPipe(const TPipe &) = delete;
  TPipe &operator=(const TPipe &) = delete;
  void Init(ACSIM_AT) { acsim_pipe_open(this, file, line); }
  void Reset(ACSIM_AT) { acsim_pipe_reset(this, file, line); }
  void Destroy() { acsim_pipe_close(this); }
  void DestroyWithoutPipeAll() { acsim_pipe_close(this); }
  /* kernel_basic.h */
  template <class P> bool InitBufPool(P &pool, uint32_t len, ACSIM_AT);
  template <class P, class U> bool InitBufPool(P &pool, uint32_t len, U &share, ACSIM_AT);
  template <class Q> bool InitBuffer(Q &que, uint32_t num, uint64_t len, ACSIM_AT) {
    que.acsim_init(this, num, clamp(len), file, line);
    return true;
  }
  template <TPosition pos> bool InitBuffer(TBuf<pos> &buf, uint64_t len, ACSIM_AT) {
    buf.acsim_init(this, clamp(len), file, line);
    return true;
  }
  template <HardEvent evt> TEventID AllocEventID(ACSIM_AT) {
    return static_cast<TEventID>(acsim_event_fetch(static_cast<int32_t>(evt), 1, file, line));
  }
  template <HardEvent evt> void ReleaseEventID(TEventID id, ACSIM_AT) {
    acsim_event_release(static_cast<int32_t>(evt), id, file, line);
  }
  template <HardEvent evt> TEventID FetchEventID(ACSIM_AT) {
    return static_cast<TEventID>(acsim_event_fetch(static_cast<int32_t>(evt), 0, file, line));
  }
  TEventID FetchEventID(HardEvent evt, ACSIM_AT) {
    return static_cast<TEventID>(acsim_event_fetch(static_cast<int32_t>(evt), 0, file, line));
  }

private:
  /* A length beyond 32 bits stays too large: the core reports it. */
  static uint32_t clamp(uint64_t len) { return len > 0xffffffe0u ? 0xffffffe0u : static_cast<uint32_t>(len); }
};
} // namespace AscendC

/* Outside the namespace, as CANN declares it (8.1, basic_api/interface/kernel_common.h). */
inline AscendC::TPipe *GetTPipePtr() {
  return static_cast<AscendC::TPipe *>(acsim_pipe_current());
}

namespace AscendC {

template <HardEvent evt> void SetFlag(int32_t id, ACSIM_AT) {
  acsim_flag_set(static_cast<int32_t>(evt), id, file, line);
}
template <HardEvent evt> void WaitFlag(int32_t id, ACSIM_AT) {
  acsim_flag_wait(static_cast<int32_t>(evt), id, file, line);
}
template <pipe_t pipe> void PipeBarrier(ACSIM_AT) {
  acsim_pipe_barrier(pipe, file, line);
}

/* The flag between two pipes, for TQueSync and the built-in set_flag. -1: no such event. */
constexpr int32_t acsim_event_between(pipe_t from, pipe_t to) {
  using E = HardEvent;
  struct row {
    pipe_t a, b;
    E e;
  };
  constexpr row rows[] = {
      {PIPE_MTE2, PIPE_V, E::MTE2_V},
      {PIPE_V, PIPE_MTE2, E::V_MTE2},
      {PIPE_MTE3, PIPE_V, E::MTE3_V},
      {PIPE_V, PIPE_MTE3, E::V_MTE3},
      {PIPE_MTE3, PIPE_MTE2, E::MTE3_MTE2},
      {PIPE_MTE2, PIPE_MTE3, E::MTE2_MTE3},
      {PIPE_S, PIPE_V, E::S_V},
      {PIPE_V, PIPE_S, E::V_S},
      {PIPE_S, PIPE_MTE2, E::S_MTE2},
      {PIPE_MTE2, PIPE_S, E::MTE2_S},
      {PIPE_S, PIPE_MTE3, E::S_MTE3},
      {PIPE_MTE3, PIPE_S, E::MTE3_S},
      {PIPE_MTE2, PIPE_MTE1, E::MTE2_MTE1},
      {PIPE_MTE1, PIPE_MTE2, E::MTE1_MTE2},
      {PIPE_MTE1, PIPE_M, E::MTE1_M},
      {PIPE_M, PIPE_MTE1, E::M_MTE1},
      {PIPE_M, PIPE_FIX, E::M_FIX},
      {PIPE_FIX, PIPE_M, E::FIX_M},
  };
  for (const row &r : rows)
    if (r.a == from && r.b == to) return static_cast<int32_t>(r.e);
  return -1;
}
template <pipe_t src, pipe_t dst> class TQueSync {
public:
  void SetFlag(TEventID id, ACSIM_AT) { acsim_flag_set(acsim_event_between(src, dst), id, file, line); }
  void WaitFlag(TEventID id, ACSIM_AT) { acsim_flag_wait(acsim_event_between(src, dst), id, file, line); }
};

template <bool isAIVOnly = true> void SyncAll(ACSIM_AT) {
  acsim_sync_all(isAIVOnly, file, line);
}

inline int64_t GetBlockIdx() {
  return acsim_block_index();
}
inline int64_t GetBlockNum() {
  return acsim_block_count();
}
inline int64_t GetSubBlockIdx() {
  return acsim_sub_block();
}
inline int64_t GetSubBlockNum() {
  return acsim_sub_blocks();
}
inline int64_t GetTaskRation() {
  return acsim_sub_blocks();
}
inline int64_t GetSystemCycle() {
  return acsim_cycles();
}
inline void Trap(ACSIM_AT) {
  acsim_kernel_trap(file, line);
}
inline GM_ADDR GetUserWorkspace(GM_ADDR workspace) {
  return acsim_user_workspace(workspace);
}
inline void SetSysWorkspace(GM_ADDR) {}
inline __gm__ uint8_t *GetSysWorkSpacePtr() {
  return acsim_system_workspace();
}

inline void SetSysWorkspaceForce(GM_ADDR) {}
inline void InitSocState(ACSIM_AT) {
  acsim_atomic(ACSIM_ATOMIC_NONE, -1, file, line);
  acsim_mask_counter(0, file, line);
  acsim_mask_set(~0ull, ~0ull, ACSIM_MASK_FULL, file, line);
}
template <typename T, CacheLine line_kind = CacheLine::SINGLE_CACHE_LINE, DcciDst dst = DcciDst::CACHELINE_OUT>
void DataCacheCleanAndInvalid(const GlobalTensor<T> &t, ACSIM_AT) {
  acsim_cache_clean(&t.view_, line_kind == CacheLine::ENTIRE_DATA_CACHE, file, line);
}
/* Of UB nothing is cached. */
template <typename T, CacheLine line_kind = CacheLine::SINGLE_CACHE_LINE, DcciDst dst = DcciDst::CACHELINE_OUT>
void DataCacheCleanAndInvalid(const LocalTensor<T> &) {}

template <typename T> void SetAtomicAdd(ACSIM_AT) {
  acsim_atomic(ACSIM_ATOMIC_ADD, acsim::type_of<T>::id, file, line);
}
template <typename T> void SetAtomicMax(ACSIM_AT) {
  acsim_atomic(ACSIM_ATOMIC_MAX, acsim::type_of<T>::id, file, line);
}
template <typename T> void SetAtomicMin(ACSIM_AT) {
  acsim_atomic(ACSIM_ATOMIC_MIN, acsim::type_of<T>::id, file, line);
}
inline void SetAtomicNone(ACSIM_AT) {
  acsim_atomic(ACSIM_ATOMIC_NONE, -1, file, line);
}
} // namespace AscendC

inline void set_flag(pipe_t from, pipe_t to, int32_t id, ACSIM_AT) {
  acsim_flag_set(AscendC::acsim_event_between(from, to), id, file, line);
}
inline void wait_flag(pipe_t from, pipe_t to, int32_t id, ACSIM_AT) {
  acsim_flag_wait(AscendC::acsim_event_between(from, to), id, file, line);
}
inline void pipe_barrier(pipe_t pipe, ACSIM_AT) {
  acsim_pipe_barrier(pipe, file, line);
}
#define block_idx (acsim_block_index())
/* The compiler for the device finds it without its namespace in an ASSERT, which is empty there. */
using AscendC::GetBlockNum;
inline int64_t get_block_num() {
  return acsim_block_count();
}
inline int64_t get_block_idx() {
  return acsim_block_index();
}
#endif

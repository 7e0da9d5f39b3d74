// Kernels that are not content to compute: they start a process, end the process, or never end.
#include "kernel_operator.h"
#include <stdlib.h>
#include <unistd.h>

extern "C" __global__ __aicore__ void forks(GM_ADDR x) {
  pid_t pid = fork();
  if (pid == 0) {
    setsid();
    for (;;) pause();
  }
  AscendC::printf("fork: %d\n", static_cast<int>(pid));
}

extern "C" __global__ __aicore__ void exits(GM_ADDR x) {
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buf;
  pipe.InitBuffer(buf, 256);
  AscendC::printf("about to\n");
  AscendC::Duplicate(buf.Get<float>(), 1.0f, 64);
  exit(0);
}

extern "C" __global__ __aicore__ void exits_with_4(GM_ADDR x) {
  exit(4);
}

extern "C" __global__ __aicore__ void exits_at_once(GM_ADDR x) {
  _exit(0);
}

// The first block comes last to its words.
extern "C" __global__ __aicore__ void says_twice(GM_ADDR x) {
  for (volatile int i = AscendC::GetBlockIdx() ? 0 : 20000000; i > 0; i = i - 1) {
  }
  AscendC::printf("first\n");
  AscendC::printf("second\n");
}

extern "C" __global__ __aicore__ void says_and_hangs(GM_ADDR x) {
  AscendC::printf("says %d\n", static_cast<int>(AscendC::GetBlockIdx()));
  for (volatile int i = 1; i;) {
  }
}

struct PartsTilingData {
  uint32_t total;
  uint32_t parts;
};
extern "C" __global__ __aicore__ void divides(GM_ADDR x, GM_ADDR tiling) {
  auto *t = (__gm__ PartsTilingData *)tiling;
  volatile uint32_t total = t->total, parts = t->parts;
  AscendC::printf("each %u\n", total / parts);
}

extern "C" __global__ __aicore__ void traps(GM_ADDR x) {
  __builtin_trap();
}

/* AscendC's kernel-side header for the simulator: a kernel source compiles against it with a plain C++17 compiler, unmodified, and
 * its API calls land in the simulated machine (src/sim/core.h). Written from AscendC's documentation.
 *
 * -DACSIM_TILING_STRUCT=Name with -include of its definition makes GET_TILING_DATA know the operator's tiling data, as the
 * operator build of CANN does. -DDTYPE_X=half and the like are passed by whoever compiles. */
#ifndef ACSIM_KERNEL_OPERATOR_H
#define ACSIM_KERNEL_OPERATOR_H

#ifndef ASCENDC_CPU_DEBUG
#define ASCENDC_CPU_DEBUG 1
#endif
#ifndef __CCE_AICORE__
#define __CCE_AICORE__ 220
#endif
#ifndef __NPU_ARCH__
#define __NPU_ARCH__ 2201
#endif

#include "acsim/kernel_rows.h"
#include "acsim/kernel_std.h"
#include "acsim/kernel_sync.h"

/* ---- tiling ---- */

#define TILING_KEY_IS(k) (acsim_tiling_key() == static_cast<uint64_t>(k))
#define GET_TILING_DATA_WITH_STRUCT(Struct, name, arg) \
  Struct name;                                         \
  acsim_read_gm(&name, (arg), sizeof(Struct), __FILE__, __LINE__)
#ifdef ACSIM_TILING_STRUCT
#define GET_TILING_DATA(name, arg) GET_TILING_DATA_WITH_STRUCT(ACSIM_TILING_STRUCT, name, arg)
#endif
#define GET_TILING_DATA_MEMBER(Struct, member, name, arg)                                                         \
  decltype(Struct::member) name;                                                                                  \
  acsim_read_gm(&name, reinterpret_cast<const uint8_t *>(arg) + offsetof(Struct, member), sizeof(name), __FILE__, \
                __LINE__)
#define REGISTER_TILING_DEFAULT(Struct) static_assert(sizeof(Struct) > 0, "")
#define REGISTER_TILING_FOR_TILINGKEY(expression, Struct) static_assert(sizeof(Struct) > 0, "")
/* A definition, so that it may stand outside of a function too. */
#define ACSIM_PASTE_(a, b) a##b
#define ACSIM_PASTE(a, b) ACSIM_PASTE_(a, b)
#define KERNEL_TASK_TYPE(key, value)                                          \
  [[maybe_unused]] const int32_t ACSIM_PASTE(acsim_task_type_, __COUNTER__) = \
      acsim_kernel_type((value), static_cast<int64_t>(key), __FILE__, __LINE__)
#define KERNEL_TASK_TYPE_DEFAULT(value)                                       \
  [[maybe_unused]] const int32_t ACSIM_PASTE(acsim_task_type_, __COUNTER__) = \
      acsim_kernel_type((value), -1, __FILE__, __LINE__)
#define ENABLE_DETERMINISTIC() static_assert(true, "")
#define ENABLE_PRINTF() static_assert(true, "")
#define ENABLE_ASSERT() static_assert(true, "")

/* The device's square root and absolute value of a scalar. Templates, and not global, so that nothing clashes with the C library's, or with
 * a kernel called sqrt. */
namespace AscendC {
template <typename T, typename acsim::only_if<!__is_class(T) && !__is_enum(T)>::type = 0> inline T abs(T x) {
  return x < static_cast<T>(0) ? static_cast<T>(-x) : x;
}
template <typename T, typename acsim::only_if<AscendC::IsSameType<T, float>::value>::type = 0>
inline float sqrt(T x) {
  return acsim_scalar_sqrt(x);
}
} // namespace AscendC

/* ---- which core this is: vector cores only, so far; one core for both on a 310P (CANN 8.1, kernel_utils_macros.h) ---- */

#define ASCEND_IS_AIV (g_coreType == AscendC::AIV)
#define ASCEND_IS_AIC (g_coreType == AscendC::AIC)
#define ASCEND_IS_NOT_AIV (g_coreType != AscendC::AIV)
#define ASCEND_IS_NOT_AIC (g_coreType != AscendC::AIC)

/* ---- debugging ---- */

#undef ASSERT
/* A statement of its own, since on the device it is nothing at all and some kernels leave out the semicolon behind it. Kernels with an
 * ASSERT where no statement can stand compile on the device, too: the builder tries those again without assertions. */
#ifdef ACSIM_NO_ASSERT
#define ASSERT(x)
#else
#define ASSERT(x)                                          \
  {                                                        \
    if (!(x)) acsim_kernel_assert(#x, __FILE__, __LINE__); \
  }
#endif
#define ASCENDC_ASSERT(x, ...) ASSERT(x)
#include "acsim/kernel_assert.h"
namespace AscendC {
/* A function, as in CANN 8.1 (kernel_operator_dump_tensor_intf.h). */
template <typename... A> void PRINTF(const char *format, A... a) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
  acsim_kernel_printf(format, a...);
#pragma GCC diagnostic pop
}
template <typename... A> void printf(const char *format, A... a) {
  AscendC::PRINTF(format, a...);
}
} // namespace AscendC
using AscendC::PRINTF;

/* ---- running blocks from the host part of a direct-launch file ---- */

namespace acsim {
template <typename F> void call_block(void *f) {
  (*static_cast<F *>(f))();
}
template <typename F> void run_blocks(const char *name, uint32_t blocks, F f) {
  acsim_icpu_run(name, blocks, call_block<F>, &f);
}

/* kernel<<<blocks, l2, stream>>>(arguments) reaches the compiler as kernel % acsim::grid(blocks, l2, stream)(arguments). */
template <typename F> struct launch_call {
  uint32_t blocks;
  F with;
};
struct launch_grid {
  uint32_t blocks;
  template <typename... A> auto operator()(const A &...a) const {
    auto with = [&](auto kernel) { kernel(a...); };
    return launch_call<decltype(with)>{blocks, with};
  }
};
template <typename N, typename... R> launch_grid grid(N blocks, const R &...) {
  return {static_cast<uint32_t>(blocks)};
}
template <typename F, typename... P> void operator%(void (*kernel)(P...), launch_call<F> call) {
  acsim_icpu_kernel(reinterpret_cast<const void *>(kernel));
  run_blocks("<<<>>>", call.blocks, [&]() { call.with(kernel); });
}
} // namespace acsim
#define ICPU_RUN_KF(func, blkdim, ...) \
  acsim::run_blocks(#func, static_cast<uint32_t>(blkdim), [&]() { func(__VA_ARGS__); })
#define ICPU_SET_TILING_KEY(key) acsim_icpu_tiling_key(key)

#endif

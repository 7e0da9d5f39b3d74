/* assert and ascendc_assert: an expression, and a message in printf's form behind it, if one likes (asc-devkit docs/zh, assert and
 * ascendc_assert; CANN 8.1, kernel_operator_dump_tensor_intf.h). Without a guard around the macros: C's <assert.h>, which has another assert,
 * may have come in between. A failure is the fault `assert`. */
#ifndef ACSIM_KERNEL_ASSERT_H
#define ACSIM_KERNEL_ASSERT_H
#include "acsim/kernel_abi.h"
namespace acsim {
inline void assert_failed(const char *text, const char *file, int32_t line) {
  acsim_kernel_assert(text, file, line);
}
template <typename... A>
inline void assert_failed(const char *text, const char *file, int32_t line, const char *format, A... a) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
  acsim_kernel_printf(format, a...);
#pragma GCC diagnostic pop
  acsim_kernel_assert(text, file, line);
}
} // namespace acsim
#endif
#undef assert
#undef ascendc_assert
/* As on the device, NDEBUG and ASCENDC_DUMP=0 take them away. */
#if defined(NDEBUG) || (defined(ASCENDC_DUMP) && ASCENDC_DUMP == 0)
#define assert(...) static_cast<void>(0)
#define ascendc_assert(...) static_cast<void>(0)
#else
#define assert(x, ...) \
  (static_cast<bool>(x) ? static_cast<void>(0) : acsim::assert_failed(#x, __FILE__, __LINE__, ##__VA_ARGS__))
#define ascendc_assert(x, ...) \
  (static_cast<bool>(x) ? static_cast<void>(0) : acsim::assert_failed(#x, __FILE__, __LINE__, ##__VA_ARGS__))
#endif

/* Host side: the log and error functions that op_host sources (and the log headers of the operator repositories) call. What is
 * reported as an error while the tiling code refuses a shape becomes the reason that the refusal gives. Interfaces: CANN's
 * base/err_msg.h, base/dlog_pub.h. Less than an error is dropped: CheckLogLevel says that nobody asked for it. */
#ifndef ACSIM_HOST_LOG_H
#define ACSIM_HOST_LOG_H

#include "acsim/host_types.h"

#include <stdarg.h>

#ifndef DLOG_ERROR
#define DLOG_DEBUG 0
#define DLOG_INFO 1
#define DLOG_WARN 2
#define DLOG_ERROR 3
#endif

extern "C" {
__attribute__((weak)) int32_t CheckLogLevel(int32_t, int32_t level) {
  return level >= DLOG_ERROR;
}
__attribute__((weak, format(printf, 3, 4))) void DlogRecord(int32_t, int32_t level, const char *format, ...) {
  if (level < DLOG_ERROR) return;
  va_list v;
  va_start(v, format);
  ::vfprintf(stderr, format, v);
  va_end(v);
  ::fputc('\n', stderr);
}
}

namespace ge {
/* The same text as the log's, for the caller of the framework: the log has it already. */
inline int32_t ReportInnerErrMsg(const char *, const char *, uint32_t, const char *, const char *, ...) {
  return 0;
}
inline int32_t ReportUserDefinedErrMsg(const char *, const char *, ...) {
  return 0;
}
#ifdef ACSIM_HOST_STL
inline int32_t ReportPredefinedErrMsg(const char *, const std::vector<const char *> &,
                                      const std::vector<const char *> &) {
  return 0;
}
inline int32_t ReportPredefinedErrMsg(const char *) {
  return 0;
}
#endif
} // namespace ge
/* A table of message texts for the framework; nobody reads it here. */
#define REG_FORMAT_ERROR_MSG(text, length) static_assert(sizeof(length) > 0, "")
#define REPORT_INNER_ERR_MSG(code, format, ...) \
  (void)ge::ReportInnerErrMsg(__FILE__, __FUNCTION__, __LINE__, (code), (format), ##__VA_ARGS__)
#define REPORT_USER_ERR_MSG(code, format, ...) (void)ge::ReportUserDefinedErrMsg((code), (format), ##__VA_ARGS__)
#define REPORT_PREDEFINED_ERR_MSG(code, ...) (void)ge::ReportPredefinedErrMsg((code), ##__VA_ARGS__)
#endif

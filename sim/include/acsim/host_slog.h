/* Host side: the older names of logs and errors (CANN 8.1: toolchain/slog.h, error_manager.h, aclnn/opdev/op_log.h), on top of host_log.h. */
#ifndef ACSIM_HOST_SLOG_H
#define ACSIM_HOST_SLOG_H

#include "acsim/host_log.h"

#define DLOG_NULL 4
#define DLOG_EVENT 16
#define MSG_LENGTH 1024
enum { SLOG = 0, GE = 45, OP = 63, TBE = 43 }; /* modules: toolchain/log_types.h */

#define Dlog(module, level, format, ...)                                                  \
  do {                                                                                    \
    if (CheckLogLevel((module), (level)) == 1)                                            \
      DlogRecord((module), (level), "[%s:%d]" format, __FILE__, __LINE__, ##__VA_ARGS__); \
  } while (0)
#define DlogSub(module, part, level, format, ...)                                                     \
  do {                                                                                                \
    if (CheckLogLevel((module), (level)) == 1)                                                        \
      DlogRecord((module), (level), "[%s:%d][%s]" format, __FILE__, __LINE__, (part), ##__VA_ARGS__); \
  } while (0)
#define dlog_error(module, format, ...) Dlog(module, DLOG_ERROR, format, ##__VA_ARGS__)
#define dlog_warn(module, format, ...) Dlog(module, DLOG_WARN, format, ##__VA_ARGS__)
#define dlog_info(module, format, ...) Dlog(module, DLOG_INFO, format, ##__VA_ARGS__)
#define dlog_debug(module, format, ...) Dlog(module, DLOG_DEBUG, format, ##__VA_ARGS__)
#define dlog_event(module, format, ...) Dlog(module, DLOG_EVENT, format, ##__VA_ARGS__)

/* Reports for the framework's caller. Here the caller reads the log. */
#define REPORT_INNER_ERROR(code, format, ...) \
  DlogRecord(GE, DLOG_ERROR, "%s: " format, static_cast<const char *>(code), ##__VA_ARGS__)
#define REPORT_CALL_ERROR REPORT_INNER_ERROR
#ifdef ACSIM_HOST_STL
class ErrorManager {
public:
  static ErrorManager &GetInstance() {
    static ErrorManager one;
    return one;
  }
  void ATCReportErrMessage(const std::string &code, const std::vector<std::string> &keys = {},
                           const std::vector<std::string> &values = {}) {
    std::string text = code;
    for (size_t i = 0; i < keys.size() && i < values.size(); i++) text += " " + keys[i] + "=" + values[i];
    DlogRecord(GE, DLOG_ERROR, "%s", text.c_str());
  }
  int32_t ReportInterErrMessage(const std::string &code, const std::string &text) {
    DlogRecord(GE, DLOG_ERROR, "%s: %s", code.c_str(), text.c_str());
    return 0;
  }
};
#define REPORT_INPUT_ERROR(code, keys, values) ErrorManager::GetInstance().ATCReportErrMessage(code, keys, values)
#define REPORT_ENV_ERROR(code, keys, values) ErrorManager::GetInstance().ATCReportErrMessage(code, keys, values)
#endif
#endif

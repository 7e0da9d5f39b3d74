/* CANN has this header here; ours is one of the parts under acsim/. The macros take a text first, OP_LOGE a status code before it. */
#pragma once
#include "acsim/host_slog.h"
#define OP_LOGD(format, ...) dlog_debug(OP, format, ##__VA_ARGS__)
#define OP_LOGI(format, ...) dlog_info(OP, format, ##__VA_ARGS__)
#define OP_LOGW(format, ...) dlog_warn(OP, format, ##__VA_ARGS__)
#define OP_LOGE(code, format, ...) dlog_error(OP, "%d: " format, static_cast<int>(code), ##__VA_ARGS__)
#define OP_LOGE_WITHOUT_REPORT(code, format, ...) \
  DlogRecord(OP, DLOG_ERROR, "[%s:%d] " format, __FILE__, __LINE__, ##__VA_ARGS__)

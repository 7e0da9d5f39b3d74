/* Host side, part 1: a vector that needs no library, and namespace ge (dtypes, formats, status codes, strings).
 * The numbers are those of CANN's graph/types.h and graph/ge_error_codes.h: they are part of its binary interface. */
#ifndef ACSIM_HOST_TYPES_H
#define ACSIM_HOST_TYPES_H

#include <initializer_list>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Set by the builder when the sources use std::; without it nothing of the C++ library is needed, and a compile takes a fifth
 * of the time. The list is what CANN's own headers pull in, since op_host files lean on that. */
#ifdef ACSIM_HOST_STL
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>
using std::map; /* CANN's graph headers say so, and op_host files lean on it */
using std::string;
using std::vector;
#endif

namespace acsim_host {
/* Grows by doubling; elements are plain or have cheap copies. */
template <class T> class list {
public:
  list() = default;
  list(const list &o) {
    for (size_t i = 0; i < o.n_; i++) add(o.p_[i]);
  }
  list &operator=(const list &o) {
    if (this != &o) {
      n_ = 0;
      for (size_t i = 0; i < o.n_; i++) add(o.p_[i]);
    }
    return *this;
  }
  ~list() { drop(); }
  T &add(const T &v) {
    if (n_ == cap_) {
      size_t cap = cap_ ? 2 * cap_ : 8;
      T *q = static_cast<T *>(::calloc(cap, sizeof(T)));
      if (!q) ::abort();
      for (size_t i = 0; i < n_; i++) q[i] = p_[i];
      drop();
      p_ = q;
      cap_ = cap;
    }
    p_[n_] = v;
    return p_[n_++];
  }
  template <class C> void assign(const C &c) {
    n_ = 0;
    for (const auto &v : c) add(static_cast<T>(v));
  }
  size_t size() const { return n_; }
  T &operator[](size_t i) { return p_[i]; }
  const T &operator[](size_t i) const { return p_[i]; }
  T *data() { return p_; }
  const T *data() const { return p_; }

private:
  void drop() {
    for (size_t i = 0; i < n_; i++) p_[i].~T();
    ::free(static_cast<void *>(p_));
  }
  T *p_ = nullptr; /* zeroed memory is a valid empty T for every T used here */
  size_t n_ = 0, cap_ = 0;
};
} // namespace acsim_host

namespace ge {
using char_t = char;
using float32_t = float;
using float64_t = double;
using graphStatus = uint32_t;
using Status = uint32_t;
constexpr graphStatus GRAPH_SUCCESS = 0;
constexpr graphStatus GRAPH_FAILED = 0xFFFFFFFFu;
constexpr graphStatus GRAPH_PARAM_INVALID = 50331649u;
constexpr graphStatus GRAPH_NOT_CHANGED = 1343242304u;
constexpr Status SUCCESS = 0;
constexpr Status FAILED = 0xFFFFFFFFu;
constexpr int64_t UNKNOWN_DIM = -1;
constexpr int64_t UNKNOWN_DIM_NUM = -2;

/* G(name, value, bytes, C++ type on the kernel side or "") */
#define ACSIM_GE_DTYPES(G)               \
  G(DT_FLOAT, 0, 4, "float")             \
  G(DT_FLOAT16, 1, 2, "half")            \
  G(DT_INT8, 2, 1, "int8_t")             \
  G(DT_INT32, 3, 4, "int32_t")           \
  G(DT_UINT8, 4, 1, "uint8_t")           \
  G(DT_INT16, 6, 2, "int16_t")           \
  G(DT_UINT16, 7, 2, "uint16_t")         \
  G(DT_UINT32, 8, 4, "uint32_t")         \
  G(DT_INT64, 9, 8, "int64_t")           \
  G(DT_UINT64, 10, 8, "uint64_t")        \
  G(DT_DOUBLE, 11, 8, "double")          \
  G(DT_BOOL, 12, 1, "bool")              \
  G(DT_STRING, 13, -1, "")               \
  G(DT_DUAL_SUB_INT8, 14, 1, "")         \
  G(DT_DUAL_SUB_UINT8, 15, 1, "")        \
  G(DT_COMPLEX64, 16, 8, "complex64")    \
  G(DT_COMPLEX128, 17, 16, "complex128") \
  G(DT_QINT8, 18, 1, "")                 \
  G(DT_QINT16, 19, 2, "")                \
  G(DT_QINT32, 20, 4, "")                \
  G(DT_QUINT8, 21, 1, "")                \
  G(DT_QUINT16, 22, 2, "")               \
  G(DT_RESOURCE, 23, 8, "")              \
  G(DT_STRING_REF, 24, -1, "")           \
  G(DT_DUAL, 25, 5, "")                  \
  G(DT_VARIANT, 26, 8, "")               \
  G(DT_BF16, 27, 2, "bfloat16_t")        \
  G(DT_UNDEFINED, 28, -1, "")            \
  G(DT_INT4, 29, 1004, "int4b_t")        \
  G(DT_UINT1, 30, 1001, "")              \
  G(DT_INT2, 31, 1002, "")               \
  G(DT_UINT2, 32, 1002, "")              \
  G(DT_COMPLEX32, 33, 4, "")             \
  G(DT_HIFLOAT8, 34, 1, "")              \
  G(DT_FLOAT8_E5M2, 35, 1, "")           \
  G(DT_FLOAT8_E4M3FN, 36, 1, "")         \
  G(DT_FLOAT8_E8M0, 37, 1, "")           \
  G(DT_FLOAT6_E3M2, 38, 1006, "")        \
  G(DT_FLOAT6_E2M3, 39, 1006, "") G(DT_FLOAT4_E2M1, 40, 1004, "") G(DT_FLOAT4_E1M2, 41, 1004, "")

enum DataType {
#define G(name, value, bytes, cpp) name = value,
  ACSIM_GE_DTYPES(G)
#undef G
      DT_MAX
};
/* Bytes of an element; 1000 + bits for the types below a byte; -1 where it has no size. */
inline int GetSizeByDataType(DataType t) {
  switch (t) {
#define G(name, value, bytes, cpp) \
  case name: return bytes;
    ACSIM_GE_DTYPES(G)
#undef G
  default: return -1;
  }
}
inline int64_t GetSizeInBytes(int64_t count, DataType t) {
  int s = GetSizeByDataType(t);
  if (count < 0 || s < 0) return -1;
  return s > 1000 ? (count * (s - 1000) + 7) / 8 : count * s;
}
inline const char *acsim_cpp_type(int32_t t) {
  switch (t) {
#define G(name, value, bytes, cpp) \
  case value: return cpp;
    ACSIM_GE_DTYPES(G)
#undef G
  default: return "";
  }
}
inline const char *acsim_dtype_name(int32_t t) {
  switch (t) {
#define G(name, value, bytes, cpp) \
  case value: return #name;
    ACSIM_GE_DTYPES(G)
#undef G
  default: return "DT_UNDEFINED";
  }
}

enum Format {
  FORMAT_NCHW = 0,
  FORMAT_NHWC,
  FORMAT_ND,
  FORMAT_NC1HWC0,
  FORMAT_FRACTAL_Z,
  FORMAT_NC1C0HWPAD,
  FORMAT_NHWC1C0,
  FORMAT_FSR_NCHW,
  FORMAT_FRACTAL_DECONV,
  FORMAT_C1HWNC0,
  FORMAT_FRACTAL_DECONV_TRANSPOSE,
  FORMAT_FRACTAL_DECONV_SP_STRIDE_TRANS,
  FORMAT_NC1HWC0_C04,
  FORMAT_FRACTAL_Z_C04,
  FORMAT_CHWN,
  FORMAT_FRACTAL_DECONV_SP_STRIDE8_TRANS,
  FORMAT_HWCN,
  FORMAT_NC1KHKWHWC0,
  FORMAT_BN_WEIGHT,
  FORMAT_FILTER_HWCK,
  FORMAT_HASHTABLE_LOOKUP_LOOKUPS,
  FORMAT_HASHTABLE_LOOKUP_KEYS,
  FORMAT_HASHTABLE_LOOKUP_VALUE,
  FORMAT_HASHTABLE_LOOKUP_OUTPUT,
  FORMAT_HASHTABLE_LOOKUP_HITS,
  FORMAT_C1HWNCoC0,
  FORMAT_MD,
  FORMAT_NDHWC,
  FORMAT_FRACTAL_ZZ,
  FORMAT_FRACTAL_NZ,
  FORMAT_NCDHW,
  FORMAT_DHWCN,
  FORMAT_NDC1HWC0,
  FORMAT_FRACTAL_Z_3D,
  FORMAT_CN,
  FORMAT_NC,
  FORMAT_DHWNC,
  FORMAT_FRACTAL_Z_3D_TRANSPOSE,
  FORMAT_FRACTAL_ZN_LSTM,
  FORMAT_FRACTAL_Z_G,
  FORMAT_RESERVED,
  FORMAT_ALL,
  FORMAT_NULL,
  FORMAT_ND_RNN_BIAS,
  FORMAT_FRACTAL_ZN_RNN,
  FORMAT_NYUV,
  FORMAT_NYUV_A,
  FORMAT_NCL,
  FORMAT_FRACTAL_Z_WINO,
  FORMAT_C1HWC0,
  FORMAT_MAX
};

/* A format may carry sub-format bits above its number (graph/types.h). */
inline int32_t GetPrimaryFormat(int32_t format) {
  return format & 0xff;
}

class AscendString {
public:
  AscendString() = default;
  AscendString(const char *s) : s_(s ? ::strdup(s) : nullptr) {}
  AscendString(const AscendString &o) : AscendString(o.s_) {}
  AscendString &operator=(const AscendString &o) {
    if (this != &o) {
      ::free(s_);
      s_ = o.s_ ? ::strdup(o.s_) : nullptr;
    }
    return *this;
  }
  ~AscendString() { ::free(s_); }
  const char *GetString() const { return s_ ? s_ : ""; }
  size_t GetLength() const { return s_ ? ::strlen(s_) : 0; }
  bool operator==(const AscendString &o) const { return ::strcmp(GetString(), o.GetString()) == 0; }
  bool operator!=(const AscendString &o) const { return !(*this == o); }
  bool operator<(const AscendString &o) const { return ::strcmp(GetString(), o.GetString()) < 0; }

private:
  char *s_ = nullptr;
};
class TypeUtils {
public:
  static bool GetDataTypeLength(DataType t, uint32_t &length) {
    int n = GetSizeByDataType(t);
    if (n <= 0 || n > 1000) return false;
    length = static_cast<uint32_t>(n);
    return true;
  }
#ifdef ACSIM_HOST_STL
  static std::string DataTypeToSerialString(DataType t) {
    return acsim_dtype_name(t);
  }
  static AscendString DataTypeToAscendString(DataType t) {
    return acsim_dtype_name(t);
  }
  static std::string FormatToSerialString(Format f) {
    return f == FORMAT_ND ? "ND" : "format " + std::to_string(static_cast<int>(f));
  }
#endif
};
class Operator; /* graph mode only: pointers to functions that take it are stored, never called */
} // namespace ge
#endif

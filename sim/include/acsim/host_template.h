/* Host side: tiling keys of kernels that are templates (tiling/template_argument.h). A key is the parameters' bits one behind the
 * other, the first in the lowest: the value itself, or, for UINT, its number in the declared list; a UINT list starts with how it is
 * written (asc-devkit impl/utils/tiling/template_argument.cpp). Kernels that are templates are not instantiated here: a single
 * entry is. In a kernel the macros are empty. */
#ifndef ACSIM_HOST_TEMPLATE_H
#define ACSIM_HOST_TEMPLATE_H

#define ASCENDC_TPL_1_BW 1
#define ASCENDC_TPL_2_BW 2
#define ASCENDC_TPL_4_BW 4
#define ASCENDC_TPL_8_BW 8
#define ASCENDC_TPL_DTYPE 0
#define ASCENDC_TPL_FORMAT 1
#define ASCENDC_TPL_UINT 2
#define ASCENDC_TPL_BOOL 3
#define ASCENDC_TPL_UI_RANGE 0 /* n, then n pairs of first and last */
#define ASCENDC_TPL_UI_LIST 1
#define ASCENDC_TPL_UI_MIX 2 /* ranges, then values */

#ifdef ACSIM_HOST_STL
#include "acsim/host_types.h"

struct ParamStruct {
  const char *name;
  uint32_t paramType;
  uint8_t bitWidth;
  std::vector<uint64_t> vals;
};
using TilingDeclareParams = std::vector<ParamStruct>;
using TilingSelectParams = std::vector<std::vector<ParamStruct>>;

namespace AscendC {
constexpr uint64_t INVALID_TILING_KEY = ~0ull;
inline std::vector<uint64_t> acsim_uint_values(const std::vector<uint64_t> &v) {
  if (v.size() < 2) return {};
  if (v[0] == ASCENDC_TPL_UI_LIST) return std::vector<uint64_t>(v.begin() + 1, v.end());
  std::vector<uint64_t> out;
  size_t at = 2, ranges = v[1];
  for (; ranges && at + 1 < v.size(); ranges--, at += 2)
    for (uint64_t x = v[at]; x <= v[at + 1]; x++) out.push_back(x);
  if (v[0] == ASCENDC_TPL_UI_MIX) out.insert(out.end(), v.begin() + static_cast<long>(at), v.end());
  return out;
}
inline uint64_t EncodeTilingKey(const TilingDeclareParams &declared, const TilingSelectParams &selected,
                                const std::vector<uint64_t> &values) {
  uint64_t key = 0;
  unsigned bits = 0;
  if (selected.empty() || values.size() != declared.size()) return INVALID_TILING_KEY;
  for (size_t i = 0; i < declared.size(); bits += declared[i++].bitWidth) {
    bool number = declared[i].paramType == ASCENDC_TPL_UINT;
    std::vector<uint64_t> known = number ? acsim_uint_values(declared[i].vals) : declared[i].vals;
    auto found = std::find(known.begin(), known.end(), values[i]);
    if (found == known.end() || bits + declared[i].bitWidth > 64) return INVALID_TILING_KEY;
    key |= (number ? static_cast<uint64_t>(found - known.begin()) : values[i]) << bits;
  }
  return key;
}
} // namespace AscendC

#define ASCENDC_TPL_DTYPE_DECL(x, ...)         \
  ParamStruct {                                \
#x, ASCENDC_TPL_DTYPE, ASCENDC_TPL_8_BW, { \
      __VA_ARGS__                              \
    }                                          \
  }
#define ASCENDC_TPL_FORMAT_DECL(x, ...)         \
  ParamStruct {                                 \
#x, ASCENDC_TPL_FORMAT, ASCENDC_TPL_8_BW, { \
      __VA_ARGS__                               \
    }                                           \
  }
#define ASCENDC_TPL_UINT_DECL(x, bits, ...) \
  ParamStruct {                             \
#x, ASCENDC_TPL_UINT, bits, {           \
      __VA_ARGS__                           \
    }                                       \
  }
#define ASCENDC_TPL_BOOL_DECL(x, ...)         \
  ParamStruct {                               \
#x, ASCENDC_TPL_BOOL, ASCENDC_TPL_1_BW, { \
      __VA_ARGS__                             \
    }                                         \
  }
#define ASCENDC_TPL_DTYPE_SEL ASCENDC_TPL_DTYPE_DECL
#define ASCENDC_TPL_FORMAT_SEL ASCENDC_TPL_FORMAT_DECL
#define ASCENDC_TPL_UINT_SEL(x, ...) \
  ParamStruct {                      \
#x, ASCENDC_TPL_UINT, 0, {       \
      __VA_ARGS__                    \
    }                                \
  }
#define ASCENDC_TPL_BOOL_SEL ASCENDC_TPL_BOOL_DECL
#define ASCENDC_TPL_TILING_STRUCT_SEL(x, ...)
#define ASCENDC_TPL_ARGS_DECL(x, ...)                \
  static TilingDeclareParams g_tilingDeclareParams { \
    __VA_ARGS__                                      \
  }
#define ASCENDC_TPL_ARGS_SEL(...) \
  { __VA_ARGS__ }
#define ASCENDC_TPL_SEL(...)                       \
  static TilingSelectParams g_tilingSelectParams { \
    __VA_ARGS__                                    \
  }
#define GET_TPL_TILING_KEY(...) \
  AscendC::EncodeTilingKey(g_tilingDeclareParams, g_tilingSelectParams, std::vector<uint64_t>{__VA_ARGS__})
#define ASCENDC_TPL_SEL_PARAM(context, ...) (context)->SetTilingKey(GET_TPL_TILING_KEY(__VA_ARGS__))
#else
#define ASCENDC_TPL_ARGS_DECL(...)
#define ASCENDC_TPL_SEL(...)
#endif
#endif

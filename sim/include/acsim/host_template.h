/* Host side: tiling keys of kernels that are templates (tiling/template_argument.h). A key is the parameters' bits one behind the
 * other, the first in the lowest: the value itself, or, for UINT, its number in the declared list; a UINT list starts with how it is
 * written (asc-devkit impl/utils/tiling/template_argument.cpp). In a kernel the macros are empty; with ACSIM_TPL_PRE they are marks
 * for the builder, which reads them off the preprocessor's output to know the instances of a kernel that is a template. */
#ifndef ACSIM_HOST_TEMPLATE_H
#define ACSIM_HOST_TEMPLATE_H

#define ASCENDC_TPL_1_BW 1
#define ASCENDC_TPL_2_BW 2
#define ASCENDC_TPL_4_BW 4
#define ASCENDC_TPL_8_BW 8
#define ASCENDC_TPL_UI_RANGE 0 /* n, then n pairs of first and last */
#define ASCENDC_TPL_UI_LIST 1
#define ASCENDC_TPL_UI_MIX 2 /* ranges, then values */

#ifdef ACSIM_TPL_PRE
#define ASCENDC_TPL_INPUT(x) acsim_tpl_input(x)
#define ASCENDC_TPL_OUTPUT(x) acsim_tpl_output(x)
#define ASCENDC_TPL_DTYPE_DECL(x, ...) acsim_tpl_param #x 0 8 : __VA_ARGS__ acsim_tpl_end
#define ASCENDC_TPL_FORMAT_DECL(x, ...) acsim_tpl_param #x 1 8 : __VA_ARGS__ acsim_tpl_end
#define ASCENDC_TPL_UINT_DECL(x, bits, ...) acsim_tpl_param #x 2 bits : __VA_ARGS__ acsim_tpl_end
#define ASCENDC_TPL_BOOL_DECL(x, ...) acsim_tpl_param #x 3 1 : __VA_ARGS__ acsim_tpl_end
#define ASCENDC_TPL_KERNEL_TYPE_DECL(x, ...) acsim_tpl_param #x 4 8 : __VA_ARGS__ acsim_tpl_end
#define ASCENDC_TPL_DTYPE_SEL ASCENDC_TPL_DTYPE_DECL
#define ASCENDC_TPL_FORMAT_SEL ASCENDC_TPL_FORMAT_DECL
#define ASCENDC_TPL_UINT_SEL(x, ...) acsim_tpl_param #x 2 0 : __VA_ARGS__ acsim_tpl_end
#define ASCENDC_TPL_BOOL_SEL ASCENDC_TPL_BOOL_DECL
#define ASCENDC_TPL_KERNEL_TYPE_SEL(...) acsim_tpl_param "kernel_type" 4 8 : __VA_ARGS__ acsim_tpl_end
#define ASCENDC_TPL_SHARED_KERNEL_TYPE_SEL ASCENDC_TPL_KERNEL_TYPE_DECL
#define ASCENDC_TPL_DETERMINISTIC_SEL(...)
#define ASCENDC_TPL_TILING_STRUCT_SEL(...)
#define ASCENDC_TPL_DATATYPE_DECL ASCENDC_TPL_DTYPE_DECL
#define ASCENDC_TPL_DATATYPE_SEL ASCENDC_TPL_DTYPE_SEL
#define ASCENDC_TPL_ARGS_DECL(x, ...) acsim_tpl_declare __VA_ARGS__ acsim_tpl_close
#define ASCENDC_TPL_ARGS_SEL(...) acsim_tpl_select __VA_ARGS__ acsim_tpl_close
#define ASCENDC_TPL_SEL(...) __VA_ARGS__
#else
#define ASCENDC_TPL_DTYPE 0
#define ASCENDC_TPL_FORMAT 1
#define ASCENDC_TPL_UINT 2
#define ASCENDC_TPL_BOOL 3
#define ASCENDC_TPL_KERNEL_TYPE 4
#define ASCENDC_TPL_DETERMINISTIC 5
#define ASCENDC_TPL_SHARED_KERNEL_TYPE 6
#define ASCENDC_TPL_INPUT_BIAS 100000000
#define ASCENDC_TPL_OUTPUT_BIAS 900000000
#define ASCENDC_TPL_INPUT(x) (ASCENDC_TPL_INPUT_BIAS + (x))
#define ASCENDC_TPL_OUTPUT(x) (ASCENDC_TPL_OUTPUT_BIAS + (x))
/* kernel types that an instance may have */
#define ASCENDC_TPL_AIV_ONLY 0
#define ASCENDC_TPL_AIC_ONLY 1
#define ASCENDC_TPL_MIX_AIV_1_0 4
#define ASCENDC_TPL_MIX_AIC_1_0 5
#define ASCENDC_TPL_MIX_AIC_1_1 6
#define ASCENDC_TPL_MIX_AIC_1_2 7
#define ASCENDC_TPL_AICORE 8
#define ASCENDC_TPL_VECTORCORE 9
#define ASCENDC_TPL_MIX_AICORE 10
#define ASCENDC_TPL_MIX_VECTOR_CORE 11

#if defined(ACSIM_HOST_STL) && !defined(ACSIM_TPL_KERNEL)
#include "acsim/host_types.h"

enum : uint64_t { /* the native data types and formats, as the declarations name them */
#define G(name, value, bytes, cpp) C_##name = value,
                  ACSIM_GE_DTYPES(G)
#undef G
                      C_FORMAT_NCHW = ge::FORMAT_NCHW,
                  C_FORMAT_NHWC = ge::FORMAT_NHWC,
                  C_FORMAT_ND = ge::FORMAT_ND,
                  C_FORMAT_NC1HWC0 = ge::FORMAT_NC1HWC0,
                  C_FORMAT_FRACTAL_Z = ge::FORMAT_FRACTAL_Z,
                  C_FORMAT_FRACTAL_NZ = ge::FORMAT_FRACTAL_NZ
};

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
    bool any = !known.empty() && known[0] >= ASCENDC_TPL_INPUT_BIAS; /* that of an input or output */
    if ((found == known.end() && !any) || bits + declared[i].bitWidth > 64) return INVALID_TILING_KEY;
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
#define ASCENDC_TPL_DATATYPE_DECL ASCENDC_TPL_DTYPE_DECL
#define ASCENDC_TPL_DATATYPE_SEL ASCENDC_TPL_DTYPE_SEL
#define ASCENDC_TPL_KERNEL_TYPE_DECL(x, ...)                \
  ParamStruct {                                             \
#x, ASCENDC_TPL_SHARED_KERNEL_TYPE, ASCENDC_TPL_8_BW, { \
      __VA_ARGS__                                           \
    }                                                       \
  }
#define ASCENDC_TPL_SHARED_KERNEL_TYPE_SEL ASCENDC_TPL_KERNEL_TYPE_DECL
#define ASCENDC_TPL_KERNEL_TYPE_SEL(...)                        \
  ParamStruct {                                                 \
    "kernel_type", ASCENDC_TPL_KERNEL_TYPE, ASCENDC_TPL_8_BW, { \
      __VA_ARGS__                                               \
    }                                                           \
  }
#define ASCENDC_TPL_DETERMINISTIC_SEL(...)                          \
  ParamStruct {                                                     \
    "deterministic", ASCENDC_TPL_DETERMINISTIC, ASCENDC_TPL_1_BW, { \
      __VA_ARGS__                                                   \
    }                                                               \
  }
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
#endif

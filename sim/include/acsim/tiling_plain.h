/* The tiling-data macros on the kernel's side: plain structs with the layout that host_tiling.h gives. For kernels that are run by
 * themselves, whose tiling struct stands in a header of the host code. */
#ifndef ACSIM_TILING_PLAIN_H
#define ACSIM_TILING_PLAIN_H

#include "acsim/kernel_params.h"

namespace optiling {
using ::LogSoftMaxTiling; /* the library's own structs, by the names that the host has */
using ::SoftMaxTiling;
} // namespace optiling

#define BEGIN_TILING_DATA_DEF(class_name) struct alignas(8) class_name {
#define TILING_DATA_FIELD_DEF(data_type, field_name) data_type field_name
#define TILING_DATA_FIELD_DEF_ARR(arr_type, arr_size, field_name) arr_type field_name[arr_size]
#define TILING_DATA_FIELD_DEF_STRUCT(struct_type, field_name) alignas(8) struct_type field_name
#define END_TILING_DATA_DEF \
  }                         \
  ;
#define REGISTER_TILING_DATA_CLASS(op_type, class_name)
#endif

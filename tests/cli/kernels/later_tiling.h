#include "register/tilingdata_base.h"
namespace optiling {
BEGIN_TILING_DATA_DEF(LaterTilingData)
TILING_DATA_FIELD_DEF(int32_t, n);
TILING_DATA_FIELD_DEF_ARR(uint8_t, 3, few);
TILING_DATA_FIELD_DEF(float, by);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Later, LaterTilingData)
} // namespace optiling

/* Host side, part 2: the chip as op_host code asks for it (namespaces fe and platform_ascendc).
 * Facts of the numbers: asc-devkit impl/utils/tiling/platform/platform_ascendc.cpp (256 bytes of UB and L1 are kept back on 910B;
 * 16 MiB of library workspace on arch 2201, 2 MiB before it). */
#ifndef ACSIM_HOST_PLATFORM_H
#define ACSIM_HOST_PLATFORM_H

#include "acsim/host_abi.h"
#include "acsim/host_types.h"

namespace fe {
enum class LocalMemType { L0_A = 0, L0_B, L0_C, L1, L2, UB, HBM, RESERVED };
inline const acsim_host_chip *&acsim_chip() { /* of the call at work */
  static const acsim_host_chip *chip = nullptr;
  return chip;
}
class PlatFormInfos {
public:
  explicit PlatFormInfos(const acsim_host_chip *c = nullptr) : chip(c) {}
  uint32_t GetCoreNum() const { return chip ? (chip->split ? chip->cube_cores : chip->vector_cores) : 0; }
  void GetLocalMemSize(const LocalMemType &type, uint64_t &size) const {
    size = 0;
    if (!chip) return;
    switch (type) {
    case LocalMemType::L0_A: size = chip->l0a; break;
    case LocalMemType::L0_B: size = chip->l0b; break;
    case LocalMemType::L0_C: size = chip->l0c; break;
    case LocalMemType::L1: size = chip->l1; break;
    case LocalMemType::L2: size = chip->l2; break;
    case LocalMemType::UB: size = chip->ub; break;
    case LocalMemType::HBM: size = chip->hbm; break;
    default: break;
    }
  }
#ifdef ACSIM_HOST_STL
  bool GetPlatformResWithLock(const std::string &label, const std::string &key, std::string &value) const {
    if (!chip) return false;
    if (label == "version" && key == "Short_SoC_version") return value = acsim_short_soc(), true;
    if (label == "version" && key == "NpuArch") return value = std::to_string(chip->npu_arch), true;
    if (label == "SoCInfo" && key == "core_type_list")
      return value = chip->split ? "CubeCore,VectorCore" : "AICore", true;
    if (label == "SoCInfo" && key == "ai_core_cnt") return value = std::to_string(GetCoreNum()), true;
    if (label == "SoCInfo" && key == "cube_core_cnt") return value = std::to_string(chip->cube_cores), true;
    if (label == "SoCInfo" && key == "vector_core_cnt") return value = std::to_string(chip->vector_cores), true;
    if (label == "AICoreSpec" && key == "ub_size") return value = std::to_string(chip->ub), true;
    return false;
  }
  bool GetPlatformRes(const std::string &label, const std::string &key, std::string &value) const {
    return GetPlatformResWithLock(label, key, value);
  }
  std::string acsim_short_soc() const {
    std::string s = chip->soc;
    if (s.rfind("Ascend910_93", 0) == 0) return "Ascend910_93";
    if (s.rfind("Ascend910B", 0) == 0) return "Ascend910B";
    if (s.rfind("Ascend310P", 0) == 0) return "Ascend310P";
    return s;
  }
#endif
  const acsim_host_chip *chip;
};
#ifdef ACSIM_HOST_STL
/* The older way to ask (platform/platform_info.h): plain structures, filled from the chip. */
struct StrInfo {
  std::string short_soc_version;
};
struct SoCInfo {
  uint32_t ai_core_cnt = 0, vector_core_cnt = 0;
  uint64_t memory_size = 0, l2_size = 0;
};
struct AiCoreSpec {
  uint64_t ub_size = 0, l1_size = 0, l0_a_size = 0, l0_b_size = 0, l0_c_size = 0;
};
struct PlatformInfo {
  StrInfo str_info;
  SoCInfo soc_info;
  AiCoreSpec ai_core_spec;
};
struct OptionalInfo {
  std::string soc_version;
};
class PlatformInfoManager {
public:
  static PlatformInfoManager &Instance() {
    static PlatformInfoManager m;
    return m;
  }
  static PlatformInfoManager &GeInstance() { return Instance(); }
  uint32_t GetPlatformInfoWithOutSocVersion(PlatformInfo &p, OptionalInfo &o) {
    const acsim_host_chip *c = acsim_chip();
    if (!c) return ge::GRAPH_FAILED;
    p.str_info.short_soc_version = PlatFormInfos(c).acsim_short_soc();
    p.soc_info = {PlatFormInfos(c).GetCoreNum(), c->vector_cores, c->hbm, c->l2};
    p.ai_core_spec = {c->ub, c->l1, c->l0a, c->l0b, c->l0c};
    o.soc_version = c->soc;
    return ge::GRAPH_SUCCESS;
  }
};
#endif
} // namespace fe

/* platform/soc_spec.h: the number is the one in __NPU_ARCH__. */
enum class NpuArch : uint32_t {
  DAV_RESV = 0,
  DAV_1001 = 1001,
  DAV_2002 = 2002,
  DAV_2201 = 2201,
  DAV_3002 = 3002,
  DAV_3003 = 3003,
  DAV_3102 = 3102,
  DAV_3113 = 3113,
  DAV_3510 = 3510,
  DAV_5102 = 5102
};

namespace platform_ascendc {
enum class CoreMemType { L0_A = 0, L0_B, L0_C, L1, L2, UB, HBM, FB, BT, RESERVED };
/* The names that sources compare with, numbered as in asc-devkit's include/utils/tiling/platform/platform_ascendc.h. */
enum class SocVersion {
  ASCEND910 = 0,
  ASCEND910B,
  ASCEND310P,
  ASCEND310B,
  ASCEND950,
  ASCEND910_55,
  ASCEND910_95 = ASCEND950,
  AS31XM1,
  ASCEND031,
  ASCEND035,
  ASCEND310,
  ASCEND610,
  ASCEND610Lite,
  ASCEND910_93,
  BS9SX1A,
  BS9SX2A,
  HI3796CV300CS,
  HI3796CV300ES,
  MC61AM21A,
  MC62,
  SD3403,
  KIRINX90,
  KIRIN9030,
  MC32DM11A,
  ASCEND350,
  RESERVED_VERSION = 99999
};
using ::NpuArch;

class PlatformAscendC {
public:
  PlatformAscendC() = delete;
  explicit PlatformAscendC(fe::PlatFormInfos *info) : chip_(info ? info->chip : nullptr) {}
  explicit PlatformAscendC(const acsim_host_chip *chip) : chip_(chip) {}
  uint32_t GetCoreNum() const { return chip_ ? (chip_->split ? chip_->cube_cores : chip_->vector_cores) : 0; }
  uint32_t GetCoreNumAic() const { return GetCoreNum(); }
  uint32_t GetCoreNumAiv() const { return chip_ ? (chip_->split ? chip_->vector_cores : GetCoreNum()) : 0; }
  uint32_t GetCoreNumVector() const { return 0; }
  uint32_t CalcTschBlockDim(uint32_t slices, uint32_t aic, uint32_t aiv) const {
    if (!aic || !aiv || aic > aiv) return slices;
    uint32_t ratio = aiv / aic, n = (slices + ratio - 1) / ratio;
    return ratio == 2 && n > aic ? 0 : n;
  }
  uint32_t CalcTschNumBlocks(uint32_t slices, uint32_t aic, uint32_t aiv) const {
    return CalcTschBlockDim(slices, aic, aiv);
  }
  uint32_t GetLibApiWorkSpaceSize() const { return chip_ && chip_->npu_arch == 2201 ? 16u << 20 : 2u << 20; }
  void GetCoreMemSize(const CoreMemType &type, uint64_t &size) const {
    fe::PlatFormInfos info(chip_);
    info.GetLocalMemSize(static_cast<fe::LocalMemType>(type), size);
    if ((type == CoreMemType::UB || type == CoreMemType::L1) && size && GetSocVersion() == SocVersion::ASCEND910B)
      size -= 256;
  }
  SocVersion GetSocVersion() const {
    if (!chip_) return SocVersion::RESERVED_VERSION;
    if (!::strncmp(chip_->soc, "Ascend910B", 10) || !::strncmp(chip_->soc, "Ascend910_93", 12))
      return SocVersion::ASCEND910B;
    if (!::strncmp(chip_->soc, "Ascend310P", 10)) return SocVersion::ASCEND310P;
    if (!::strncmp(chip_->soc, "Ascend310B", 10)) return SocVersion::ASCEND310B;
    return SocVersion::ASCEND910;
  }
  NpuArch GetCurNpuArch() const { return chip_ ? static_cast<NpuArch>(chip_->npu_arch) : NpuArch::DAV_RESV; }

private:
  const acsim_host_chip *chip_;
};

inline const acsim_host_chip *acsim_chip = nullptr; /* of the call at work */
class PlatformAscendCManager {
public:
  static PlatformAscendC *GetInstance() {
    const acsim_host_chip *chip = acsim_chip ? acsim_chip : acsim_chip_of_run ? acsim_chip_of_run() : nullptr;
    if (!chip) return nullptr;
    static PlatformAscendC platform(chip);
    return &platform;
  }
  static PlatformAscendC *GetInstance(const char *) { return GetInstance(); }
};
} // namespace platform_ascendc
#endif

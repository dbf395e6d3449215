// SPDX-License-Identifier: Apache-2.0
#include "runtime/device.h"

#include <cstdlib>
#include <string>

#include "base/log.h"

namespace rk::runtime {
namespace {

constexpr uint32_t kAllCores = 0xffff;

std::string environment(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

bool switched_on(const char* name) {
  const std::string text = environment(name);
  return !text.empty() && text != "0";
}

}  // namespace

Result<Device> device_from_environment() {
  Device device;
  if (const std::string name = environment("RKNN_TARGET"); !name.empty()) {
    const auto chip = target::find_target(name);
    if (!chip.ok()) return chip.status().with_context("environment variable RKNN_TARGET");
    device.chip = chip.value();
  }
  device.strict = switched_on("RKNN_STRICT");
  device.validate = switched_on("RKNN_VALIDATE");
  return device;
}

Result<const target::Target*> chip_for_model(const Device& device, std::string_view model_target) {
  RK_ASSIGN(const target::Target* const own, target::find_target(model_target));
  if (device.chip == nullptr || device.chip == own) return own;
  if (target::runs_on(model_target, device.chip->name)) return device.chip;
  return Status(
      Code::kTargetMismatch,
      str("the model is built for ", model_target, ", RKNN_TARGET says ", device.chip->name,
          ". Convert it with target_platform='", device.chip->name, "' or change RKNN_TARGET"));
}

Status check_core_mask(const target::Target& chip, uint32_t mask, bool single_core) {
  if (chip.npu_cores < 2) {
    return Status(Code::kTargetMismatch,
                  str(chip.name, " has one NPU core: there is no core mask to set"));
  }
  const uint32_t every_core = (1u << chip.npu_cores) - 1;
  const bool one_core = mask == 1 || mask == 2 || mask == 4;
  const bool known = mask == 0 || one_core || mask == 3 || mask == 7 || mask == kAllCores;
  if (!known || (mask != kAllCores && (mask & ~every_core) != 0)) {
    return unsupported(str("core mask ", mask, " does not exist on ", chip.name, ", which has ",
                           chip.npu_cores, " cores: use 0 (auto), one core, cores 0+1",
                           chip.npu_cores > 2 ? ", cores 0+1+2" : "", " or 0xffff (all)"));
  }
  if (single_core && mask != 0 && !one_core) {
    log(LogLevel::kWarning,
        str("Not support core mask: ", mask, ", fallback to single core auto mode"));
  }
  return ok_status();
}

}  // namespace rk::runtime

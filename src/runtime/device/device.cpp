// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/device.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/file.h"
#include "base/log.h"
#include "runtime/device/library_name.h"

namespace rk::runtime {
namespace {

constexpr uint32_t kAllCores = 0xffff;

std::string environment(const char* name) {
  const char* const text = secure_getenv(name);
  return text == nullptr ? "" : text;
}

bool switched_on(const char* name) {
  const std::string text = environment(name);
  return !text.empty() && text != "0";
}

}  // namespace

const target::Target* chip_of_board(std::string_view compatible) {
  constexpr std::string_view kVendor = "rockchip,";
  while (!compatible.empty()) {
    const size_t end = compatible.find('\0');
    const std::string_view entry = compatible.substr(0, end);
    if (entry.starts_with(kVendor)) {
      const auto chip = target::find_target(entry.substr(kVendor.size()));
      if (chip.ok()) return chip.value();
    }
    if (end == std::string_view::npos) break;
    compatible.remove_prefix(end + 1);
  }
  return nullptr;
}

Result<Device> device_from_environment() {
  Device device;
  if (const std::string name = environment("RKNN_TARGET"); !name.empty()) {
    const auto chip = target::find_target(name);
    if (!chip.ok()) return chip.status().with_context("environment variable RKNN_TARGET");
    device.chip = chip.value();
  } else if (const auto compatible = read_file("/proc/device-tree/compatible"); compatible.ok()) {
    device.chip =
        chip_of_board({reinterpret_cast<const char*>(compatible->data()), compatible->size()});
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

bool Device::small_chip_rules(const target::Target& model_chip) const {
  const bool small =
      model_chip.family == target::Family::kB || model_chip.family == target::Family::kC;
  return this_library().micro || (strict && small);
}

int shared_cores(const target::Target& chip, uint32_t mask, bool single_core) {
  if (single_core) return 1;
  if (mask == kAllCores) return chip.npu_cores;
  return mask == 7 ? std::min(3, chip.npu_cores) : mask == 3 ? std::min(2, chip.npu_cores) : 1;
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

// SPDX-License-Identifier: Apache-2.0
// The simulated board: which chip the process pretends to be and how strictly it behaves. Read from the environment
// whenever a model is loaded, so that a test can change it; nothing is cached.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "target/target.h"

namespace rk::runtime {

struct Device {
  const target::Target* chip = nullptr;  // RKNN_TARGET; null: whatever a model was built for
  bool strict = false;                   // RKNN_STRICT=1: refuse what the board refuses
  bool validate = false;                 // RKNN_VALIDATE=1: explain mistakes (validate.h)
};

// An unknown name in RKNN_TARGET is kInvalidArgument and lists the known ones.
Result<Device> device_from_environment();

// The chip a model runs on; kTargetMismatch when the device is another one.
Result<const target::Target*> chip_for_model(const Device& device, std::string_view model_target);

// Which masks exist depends on the chip. `single_core` models fall back to one core with a warning, as on the board.
Status check_core_mask(const target::Target& chip, uint32_t mask, bool single_core);

}  // namespace rk::runtime

// SPDX-License-Identifier: Apache-2.0
// The simulated board: which chip the process pretends to be and how strictly it behaves. Read from the environment
// whenever a model is loaded, so that a test can change it; nothing is cached.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"
#include "target/target.h"

namespace rk::runtime {

struct Device {
  const target::Target* chip = nullptr;  // RKNN_TARGET; null: whatever a model was built for
  bool strict = false;                   // RKNN_STRICT=1: refuse what the board refuses
  bool validate = false;                 // RKNN_VALIDATE=1: explain mistakes (validate.h)

  // The calls and queries that small chips lack (families B and C) are refused.
  bool small_chip_rules(const target::Target& model_chip) const;
};

// The Rockchip chip that a board's /proc/device-tree/compatible names (texts that end with a zero each); null for any
// other board.
const target::Target* chip_of_board(std::string_view compatible);

// RKNN_TARGET, else the chip of the board this runs on. An unknown name in RKNN_TARGET is kInvalidArgument and lists the known ones.
Result<Device> device_from_environment();

// The chip a model runs on; kTargetMismatch when the device is another one.
Result<const target::Target*> chip_for_model(const Device& device, std::string_view model_target);

// Cores that a mask lets share steps; 1 for one core, for AUTO and for models built for one core.
int shared_cores(const target::Target& chip, uint32_t mask, bool single_core);

// Which masks exist depends on the chip. `single_core` models fall back to one core with a warning, as on the board.
Status check_core_mask(const target::Target& chip, uint32_t mask, bool single_core);

}  // namespace rk::runtime

// SPDX-License-Identifier: Apache-2.0
// The chip's memory plan as log level 3 shows it: every tensor a step uses, where it lies, and what of it is in SRAM.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/session/loaded_model.h"

namespace rk::runtime {

// `sram_bytes` of the arena's start are taken to lie in SRAM.
std::string memory_table(const LoadedModel& model, uint64_t sram_bytes);

}  // namespace rk::runtime

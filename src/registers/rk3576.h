// SPDX-License-Identifier: Apache-2.0
// Lists in the form of RK3576 and RV1126B: those of RK3562 with the numbers and in the order of
// these chips, and the numbers of stages that they keep in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "registers/chip.h"
#include "registers/task.h"

namespace rk::registers {

struct Rk3576List {
  RegisterTask task;
  std::vector<uint8_t> bias_numbers, norm_numbers;  // what Operand::kBiasNumbers, kNormNumbers name
};

// `core` runs the list alone. kUnsupported for what no list of these chips shows.
Result<Rk3576List> for_rk3576(const Chip& chip, const RegisterTask& task, uint32_t core = 0);

}  // namespace rk::registers

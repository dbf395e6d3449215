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

// What the cores of RK3576 have of the buffer while a list runs.
enum class CoreUse : uint8_t {
  kAlone,     // the other core has nothing to do
  kApart,     // each core its own banks
  kTogether,  // 16 banks, weights for both
};

// `core` runs the list. kUnsupported for what no list of these chips shows.
Result<Rk3576List> for_rk3576(const Chip& chip, const RegisterTask& task, uint32_t core = 0,
                              CoreUse use = CoreUse::kAlone);

// What two cores have computed apart ends with a convolution of one pixel whose result nobody reads.
struct Rk3576Fence {
  RegisterTask task;  // with the registers of RK3588
  Rk3576List list;
};
Result<Rk3576Fence> fence_of_rk3576(const Chip& chip);
inline constexpr const char* kFenceInput = "fenceConv_input";
inline constexpr const char* kFenceWeight = "fenceConv_weight";
inline constexpr const char* kFenceOutput = "fenceConv_output";
inline constexpr int64_t kFenceChannels = 16;

}  // namespace rk::registers

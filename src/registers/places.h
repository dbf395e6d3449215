// SPDX-License-Identifier: Apache-2.0
// Where features lie in the memory of a board.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "format/vendor_model.h"
#include "program/program.h"

namespace rk::registers {

// A tensor of the file that only one step sees.
struct StepScratch {
  size_t tensor = 0;
  size_t step = 0;
};

// Plans the file's arena for steps that run in the Program's order, each at its end before the next begins. Tensors that a
// step reads or writes share no byte.
// Note: the Program's own places are the vendor's, for steps in the vendor's order (compiler/memory_plan.h).
Status place_features(const program::Variant& variant, const std::vector<StepScratch>& scratch,
                      format::FileModel& model);

}  // namespace rk::registers

// SPDX-License-Identifier: Apache-2.0
// Float16 weights in the chip's blocks, as vendor files for RK3588 have them.
#pragma once

#include <cstdint>
#include <functional>

#include "program/native_layout.h"
#include "registers/layer_tasks.h"

namespace rk::registers {

// `half_of` gives the bits of an element of the plain weight, by its place in `shape` (OIHW; 1 C H W of a depthwise one).
Result<HelperConstant> half_blocks(const Shape& shape, program::WeightUse use,
                                   const std::function<uint16_t(int64_t)>& half_of);

}  // namespace rk::registers

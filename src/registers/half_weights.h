// SPDX-License-Identifier: Apache-2.0
// Weights in the chip's blocks, as vendor files have them: float16 and int8.
#pragma once

#include <cstdint>
#include <functional>

#include "program/native_layout.h"
#include "registers/layer_tasks.h"
#include "target/target.h"

namespace rk::registers {

// `half_of` gives the bits of an element of the plain weight, by its place in `shape` (OIHW; 1 C H
// W of a depthwise one).
Result<HelperConstant> half_blocks(const Chip& chip, const Shape& shape, program::WeightUse use,
                                   const std::function<uint16_t(int64_t)>& half_of);

// Blocks of int8 weights on a chip. Those of RK3566 have an eighth, half or all of a block for what
// is left of the input.
target::WeightLayout int8_layout(const target::Target& target, const Shape& shape);

}  // namespace rk::registers

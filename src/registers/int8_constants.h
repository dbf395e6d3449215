// SPDX-License-Identifier: Apache-2.0
// Weights and constants of each channel of int8 convolutions in the form that a chip reads.
#pragma once

#include <cstdint>
#include <span>

#include "program/native_layout.h"
#include "registers/chip.h"
#include "registers/layer_tasks.h"
#include "target/target.h"

namespace rk::registers {

// Weights of `shape` (OIHW; 1 C H W of a depthwise layer) in the chip's blocks. Offsets of a
// depthwise layer lie between its weights on RK3562: w0 w1 o0 o1.
HelperConstant int8_weights(const target::Target& target, const Chip& chip, const Shape& shape,
                            program::WeightUse use, std::span<const int8_t> plain,
                            std::span<const int16_t> offset);

// RK3576: weights of a picture by rows of the kernel (has_weights_in_rows()).
HelperConstant int8_picture_rows(const target::Target& target, const Shape& shape,
                                 std::span<const int8_t> plain, std::span<const int16_t> offset);

// Biases, offsets and multipliers in groups; on RK3562 without the offsets of a depthwise layer.
HelperConstant int8_bias(const target::Target& target, const Chip& chip,
                         const program::BiasBlock& block, bool is_depthwise);

}  // namespace rk::registers

// SPDX-License-Identifier: Apache-2.0
// Operands of a step by name. Other kinds of step have data operands only, in the operator's order.
#pragma once

#include "program/program.h"

namespace rk::program::conv {

// Positions in Step::inputs of a convolution. kScales belongs to weights of 8 or 4 bits in a float
// convolution (narrow_weights.h).
inline constexpr size_t kData = 0, kWeight = 1, kBias = 2, kAddend = 3, kScales = 4;

// A tensor index, kNone where the step has no such operand.
inline int32_t operand(const Step& step, size_t position) {
  return position < step.inputs.size() ? step.inputs[position] : kNone;
}
inline int32_t data(const Step& step) { return operand(step, kData); }
inline int32_t weight(const Step& step) { return operand(step, kWeight); }
inline int32_t bias(const Step& step) { return operand(step, kBias); }
inline int32_t addend(const Step& step) { return operand(step, kAddend); }
inline int32_t scales(const Step& step) { return operand(step, kScales); }

}  // namespace rk::program::conv

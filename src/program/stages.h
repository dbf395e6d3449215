// SPDX-License-Identifier: Apache-2.0
// The integer stages whose constants follow from scales (docs/fidelity.md, "Requantization"): sums, averages,
// concatenations and linear resizes are computed in a unit finer than the output's scale. The compiler builds its steps
// with them, and the reader of vendor files those whose constants are not in the registers.
#pragma once

#include "program/program.h"

namespace rk::program {

// Per-tensor quantization, as activations have it.
struct Affine {
  float scale = 0;
  int32_t zero_point = 0;
  bool operator==(const Affine&) const = default;
};
inline Affine affine_of(const ProgramTensor& tensor) { return {tensor.scale, tensor.zero_point}; }

// The unit is this much finer than the output's scale.
inline constexpr int kFinerUnit = 1024;

// The two stages from `from` to `to` through that unit; `factor` goes into the first. Errors do not name the node.
inline Result<InputStage> input_stage(const Affine& from, const Affine& to, double factor = 1) {
  const double scale = static_cast<double>(from.scale) * kFinerUnit * factor / to.scale;
  RK_ASSIGN(const ScaleShift normalized, to_scale_shift(scale));
  return InputStage{-from.zero_point, normalized};
}
inline OutputStage output_stage(const Affine& to) {
  return {*to_scale_shift(1.0 / kFinerUnit), to.zero_point};
}

}  // namespace rk::program
